/* Writing checkpoints (checkpoint_io.h): a result file with other datasets and another mark. Per
 * item: gather its bytes (from a device where it lies there), checksums, data, checksum table; then
 * the seal, the sum over ranks, blocks and items of mixed checksums, goes into the mark that is
 * written last. One pass for the checksums, one for the data. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "checkpoint_internal.h"
#include "crc32c.h"
#include "fingerprint.h"
#include "result_internal.h"

size_t checkpoint_size(checkpoint_type type) { return type == CHECKPOINT_BYTES ? 1 : 8; }

h5_type checkpoint_h5_type(checkpoint_type type) {
  return type == CHECKPOINT_F64 ? H5_F64 : type == CHECKPOINT_I64 ? H5_I64 : H5_BYTES;
}

void checkpoint_sums_name(const char *item, char out[CHECKPOINT_NAME]) {
  snprintf(out, CHECKPOINT_NAME, "/checksums%.150s", item);
}

uint64_t checkpoint_seal_item(const checkpoint_item *item) {
  const uint64_t name = crc32c(item->name, strlen(item->name));
  return fingerprint_mix(fingerprint_mix(name << 8 | (uint64_t)item->type) ^
                         (uint64_t)item->length);
}

status checkpoint_span(comm *c, const checkpoint_item *item, h5_span *out) {
  *out = (h5_span){.length = item->length, .first = item->first, .count = item->count};
  if (item->replicated) {
    out->first = 0;
    out->count = comm_rank(c) == 0 ? item->length : 0;
  }
  out->most = out->count;
  return comm_max_i64(c, &out->most, 1);
}

static status write_item(comm *c, result_file *f, const checkpoint_item *item, void *buffer,
                         uint64_t *seal) {
  status rc = STATUS_OK;
  char sums_name[CHECKPOINT_NAME];
  block_sums sums = {.sum = NULL};
  h5_span span;
  const void *data = item->data;
  TRY(checkpoint_span(c, item, &span));
  if (item->move != NULL) {
    data = buffer;
    TRY(comm_agree(c, item->move(item->context, buffer, 1)));
  }
  TRY(block_sums_make(c, &span, checkpoint_size(item->type), data, &sums));
  TRY(result_span(f, item->name, checkpoint_h5_type(item->type), &span, data));
  checkpoint_sums_name(item->name, sums_name);
  TRY(result_span(f, sums_name, H5_I64, &sums.span, sums.sum));
  *seal += block_sums_seal(&sums, checkpoint_seal_item(item));
done:
  block_sums_release(&sums);
  return rc;
}

status checkpoint_write(comm *c, const char *path, const checkpoint_item *items, int count,
                        void *buffer) {
  status rc = STATUS_OK;
  result_file *f = NULL;
  uint64_t seal = 0;
  char mark[RESULT_MARK_MAX];
  TRY(result_create(c, path, &f));
  for (int i = 0; i < count; i++) TRY(write_item(c, f, &items[i], buffer, &seal));
  int64_t sum = (int64_t)seal;
  TRY(comm_sum_i64(c, &sum, 1));
  snprintf(mark, sizeof mark, CHECKPOINT_MARK "%016" PRIx64, (uint64_t)sum);
  result_set_mark(f, mark);
  rc = result_close(&f, 1);
done:
  if (f != NULL) result_close(&f, 0);
  return rc;
}
