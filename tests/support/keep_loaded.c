/* Sanitizer builds only: plugins that MPI unloads would leave leak reports without a module name,
 * which no suppression (lsan.supp) can match. So nothing is unloaded. */
int dlclose(void *handle);

int dlclose(void *handle) {
  (void)handle;
  return 0;
}
