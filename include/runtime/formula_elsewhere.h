/* A chunk again, by the formula_batch that `context` points to (formula_host.h). */
static FORMULA_ALONE void formula_again(const void *context, int64_t n, const double *const *v,
                                        double *const *o) {
  formula_input in[FORMULA_PLACES + 1];
  for (int j = 0; j < FORMULA_PLACES; j++) {
    in[j].at = v[j];
    in[j].step = 1;
  }
  (*(const formula_batch *)context)(context, n, in, o);
}
