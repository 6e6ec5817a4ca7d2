/* Transport `mpi` on a GPU with an MPI that knows nothing of GPUs: the plan's buffers lie in memory
 * that both the device and MPI reach by one address (pinned and mapped). So the device side of this
 * transport (gathering into the send buffer, waiting for it, copying ghosts on the device) runs as
 * it does with an MPI that takes device memory: it is proved, and solves have the reference's bits.
 * ranks: 1 2 3 */
#include "gpu.h"
#include "trial.h"

/* Of the CUDA runtime, which is linked where the backend is. */
__attribute__((weak)) int cudaHostAlloc(void **out, size_t bytes, unsigned flags);
__attribute__((weak)) int cudaFreeHost(void *p);

enum { MAPPED = 2 };

static void *shared[2];

static status alloc_shared(device *d, int64_t bytes, const char *what, dptr *out) {
  if (strcmp(what, "halo") != 0) return BACKEND_cuda.alloc(d, bytes, what, out);
  const int at = shared[0] == NULL ? 0 : 1;
  assert_null(shared[at]);
  assert_int_equal(cudaHostAlloc(&shared[at], (size_t)bytes + 8, MAPPED), 0);
  out->at = shared[at];
  return STATUS_OK;
}

static void release_shared(device *d, dptr *p) {
  for (int i = 0; i < 2; i++) {
    if (p->at == NULL || p->at != shared[i]) continue;
    cudaFreeHost(shared[i]);
    shared[i] = p->at = NULL;
    return;
  }
  BACKEND_cuda.release(d, p);
}

static const trial plane = {
    .problem = "poisson2d",
    .n = 70,
    .omega = 1.0,
    .preconditioned = 1,
    .rhs_scale = 1.0,
    .limits = {.rtol = 1e-6, .divergence = 1e5, .max_iterations = 300, .check_every = 50}};

static void solves_have_the_same_bits(void **state) {
  (void)state;
  static outcome want, have;
  backend b = BACKEND_cuda;
  b.alloc = alloc_shared;
  b.release = release_shared;
  for (int i = 0; method_at(i) != NULL; i++) {
    trial t = plane;
    t.method = method_at(i);
    run_trial(&t, &BACKEND_ref, 1, &want);
    t.transport = "mpi";
    run_trial(&t, &b, 1, &have);
    same_outcome(&want, &have, "transport mpi");
    alloc_free(&want.x);
    alloc_free(&have.x);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(solves_have_the_same_bits)};
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  int rc = gpu_skip(world);
  if (rc == 0) rc = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return rc;
}
