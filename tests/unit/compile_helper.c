/* The helper process: it serves, survives requests to stop, and ends with its channel, which is to
 * say with its parent, however that ends. */
#include "compiler.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "compile_wire.h"

/* Whether the process is gone (or waits to be reaped by somebody) within ten seconds. */
static int ends(int pid) {
  for (int i = 0; i < 1000; i++) {
    const struct timespec moment = {0, 10000000};
    char path[64], text[512] = "", name[64];
    char state = 'X';
    int number;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "r");
    if (file == NULL) return 1;
    if (fgets(text, sizeof text, file) == NULL) text[0] = '\0';
    fclose(file);
    if (sscanf(text, "%d %60s %c", &number, name, &state) == 3 && (state == 'Z' || state == 'X')) {
      return 1;
    }
    nanosleep(&moment, NULL);
  }
  return 0;
}

static compile_outcome asked(int end, const char *path, const char *source, char **product) {
  wire_reply reply;
  const wire_request is = {WIRE_COMPILE, (int64_t)strlen(path), 0, (int64_t)strlen(source)};
  assert_true(wire_send(end, &is, sizeof is) && wire_send(end, path, is.compiler_bytes) &&
              wire_send(end, source, is.source_bytes));
  assert_true(wire_receive(end, &reply, sizeof reply));
  *product = malloc((size_t)reply.product_bytes + 1);
  assert_true(wire_receive(end, *product, reply.product_bytes));
  return (compile_outcome)reply.outcome;
}

static void serves_and_ends_with_its_channel(void **state) {
  (void)state;
  int pid;
  char *product;
  const int end = test_helper(&pid);
  compiler *w;
  assert_ok(compiler_open(end, pid, &w));
  assert_int_equal(asked(end, "/nonexistent", "", &product), COMPILE_MISSING);
  free(product);
  kill(pid, SIGINT);
  kill(pid, SIGTERM);
  kill(pid, SIGUSR1);
  assert_int_equal(asked(end, compiler_name(w), "int f(void) { return 1; }\n", &product),
                   COMPILE_DONE);
  assert_memory_equal(product, "\177ELF", 4);
  free(product);
  assert_int_equal(asked(end, compiler_name(w), "int f(void) { return }\n", &product),
                   COMPILE_REFUSED);
  free(product);
  compiler_close(&w);
  assert_true(ends(pid));
}

/* Nothing of it is left in TMPDIR. */
static void leaves_nothing(void **state) {
  (void)state;
  int pid;
  char *product, path[4096];
  if (getcwd(path, sizeof path - 10) == NULL) abort();
  strcat(path, "/tmp");
  mkdir(path, 0700);
  setenv("TMPDIR", path, 1);
  const int end = test_helper(&pid);
  compiler *w;
  assert_ok(compiler_open(end, pid, &w));
  assert_int_equal(asked(end, compiler_name(w), "int f;\n", &product), COMPILE_DONE);
  free(product);
  compiler_close(&w);
  assert_int_equal(rmdir(path), 0);    /* empty */
  const int other = test_helper(&pid); /* and now there is no such folder */
  assert_ok(compiler_open(other, pid, &w));
  assert_int_equal(asked(other, compiler_name(w), "int f;\n", &product), COMPILE_MISSING);
  free(product);
  compiler_close(&w);
  unsetenv("TMPDIR");
}

static void ends_with_a_killed_parent(void **state) {
  (void)state;
  int line[2], helper = -1;
  assert_int_equal(pipe(line), 0);
  const int parent = fork();
  if (parent == 0) {
    int pid;
    (void)test_helper(&pid);
    if (write(line[1], &pid, sizeof pid) == sizeof pid) pause();
    _exit(1);
  }
  assert_int_equal(read(line[0], &helper, sizeof helper), sizeof helper);
  kill(parent, SIGKILL);
  while (waitpid(parent, NULL, 0) < 0) continue;
  assert_true(ends(helper));
  close(line[0]);
  close(line[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(serves_and_ends_with_its_channel),
      cmocka_unit_test(leaves_nothing),
      cmocka_unit_test(ends_with_a_killed_parent),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
