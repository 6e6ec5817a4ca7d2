#include "index.h"

status index_narrow(gidx value, const char *what, lidx *out) {
  if (value < 0 || value > LIDX_MAX) {
    return fail(STATUS_UNAVAILABLE, "%lld %s on one rank, at most %d fit: use more ranks",
                (long long)value, what, LIDX_MAX);
  }
  *out = (lidx)value;
  return STATUS_OK;
}
