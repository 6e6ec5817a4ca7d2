/* Finding a GPU (cases 173 and 176): hidden or missing ones are told in a sentence and exit code 7,
 * ranks take devices in turn, what does not fit is refused with the sizes. Each look at the GPUs is
 * a child process: a process sees them as they were at its first call. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu.h"
#include "test.h"

/* Runs `work` in a child; its exit code. */
static int child(int (*work)(void)) {
  int code = 0;
  fflush(NULL);
  const pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) _exit(work());
  assert_int_equal(waitpid(pid, &code, 0), pid);
  return WIFEXITED(code) ? WEXITSTATUS(code) : -1;
}

static int opens_nothing(void) {
  device *d = NULL;
  const device_request request = {.node_rank = 0};
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  if (BACKEND_cuda.open(&request, &d) != STATUS_UNAVAILABLE || d != NULL) return 1;
  const char *const expected[] = {"no NVIDIA driver", "no GPU to this process", "too old",
                                  "built without CUDA"};
  for (int i = 0; i < 4; i++) {
    if (strstr(fail_text(), expected[i]) != NULL) return 0;
  }
  printf("not a reason: %s\n", fail_text());
  return 2;
}

static void hidden_devices_are_said_to_be(void **state) {
  (void)state;
  assert_int_equal(child(opens_nothing), 0);
}

static int present(void) {
  device *d = NULL;
  const device_request request = {.node_rank = 0};
  if (BACKEND_cuda.open(&request, &d) == STATUS_OK) return 0;
  printf("skipped: %s\n", fail_text());
  return GPU_SKIP;
}

static int takes_turns(void) {
  for (int rank = 0; rank < 9; rank++) {
    device *d = NULL;
    device_facts facts;
    const device_request request = {.node_rank = rank};
    if (BACKEND_cuda.open(&request, &d) != STATUS_OK) return 1;
    BACKEND_cuda.describe(d, &facts);
    if (facts.index != rank % facts.visible) return 2;
    if (strncmp(facts.uuid, "GPU-", 4) != 0 || strlen(facts.uuid) != 40) return 3;
    if (facts.name[0] == '\0' || facts.memory_bytes < 1 || facts.peak_bytes < 1) return 4;
    BACKEND_cuda.close(&d);
  }
  return 0;
}

static void ranks_take_devices_in_turn(void **state) {
  (void)state;
  if (child(present) == GPU_SKIP) skip();
  assert_int_equal(child(takes_turns), 0);
}

static int refuses(void) {
  device *d = NULL;
  dptr p = {NULL}, small = {NULL};
  device_facts before, after;
  double x = 1.5, y = 0.0;
  const device_request request = {.node_rank = 0};
  if (BACKEND_cuda.open(&request, &d) != STATUS_OK) return 1;
  BACKEND_cuda.describe(d, &before);
  if (BACKEND_cuda.alloc(d, INT64_C(1) << 50, "a petabyte", &p) != STATUS_UNAVAILABLE) return 2;
  if (p.at != NULL || strstr(fail_text(), "a petabyte: 1125899906842624 bytes") == NULL) return 3;
  BACKEND_cuda.describe(d, &after);
  if (after.peak_bytes != before.peak_bytes) return 4;
  if (BACKEND_cuda.alloc(d, 8, "a double", &small) != STATUS_OK) return 5;
  if (BACKEND_cuda.copy_in(d, small, (hptr){&x}, 8) != STATUS_OK) return 6;
  if (BACKEND_cuda.copy_out(d, (hptr){&y}, small, 8) != STATUS_OK || y != x) return 7;
  BACKEND_cuda.release(d, &small);
  BACKEND_cuda.close(&d);
  return 0;
}

static void what_cannot_fit_is_refused(void **state) {
  (void)state;
  if (child(present) == GPU_SKIP) skip();
  assert_int_equal(child(refuses), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hidden_devices_are_said_to_be),
      cmocka_unit_test(ranks_take_devices_in_turn),
      cmocka_unit_test(what_cannot_fit_is_refused),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  return failed != 0 ? failed : child(present);
}
