/* The CUDA backend of a build without CUDA: its open() says how to get one. */
#include "cuda_plain.h"
#include "rtc_check.h"

static status open_device(const device_request *request, device **out) {
  (void)request;
  *out = 0;
  return fail(STATUS_UNAVAILABLE, "backend cuda: this halosweep was built without CUDA; "
                                  "configure with cmake --preset cuda");
}

const backend BACKEND_cuda = {
    .name = "cuda", .help = "one NVIDIA GPU per rank (not in this build)", .open = open_device};
const backend BACKEND_cuda_plain = {
    .name = "cuda", .help = "one NVIDIA GPU per rank (not in this build)", .open = open_device};
const backend BACKEND_cuda_streamed = {
    .name = "cuda", .help = "one NVIDIA GPU per rank (not in this build)", .open = open_device};

status cuda_stream_rate(device *d, int64_t bytes, double *rate) {
  (void)d, (void)bytes;
  *rate = 0.0;
  return fail(STATUS_UNAVAILABLE, "this halosweep was built without CUDA");
}

status rtc_check(const char *kernel, const formula *f, int points, const rtc_check_define *defines,
                 int64_t *bytes) {
  (void)f, (void)points, (void)defines;
  *bytes = 0;
  return fail(STATUS_UNAVAILABLE, "%s: this halosweep was built without CUDA", kernel);
}

status ode_kernel_check(const struct ode_functions *f, const struct ode_plan *plan,
                        int64_t *bytes) {
  (void)f, (void)plan;
  *bytes = 0;
  return fail(STATUS_UNAVAILABLE, "trajectories: this halosweep was built without CUDA");
}

status coupled_kernel_check(const struct coupled_layout *l, const struct coupled_functions *f,
                            int which, int64_t *bytes) {
  (void)l, (void)f, (void)which;
  *bytes = 0;
  return fail(STATUS_UNAVAILABLE, "coupled systems: this halosweep was built without CUDA");
}
