/* Where the items of an existing checkpoint lie (checkpoint_internal.h). */
#include <errno.h>
#include <hdf5.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "checkpoint_internal.h"
#include "h5.h"

void checkpoint_sums_name(const char *item, char out[CHECKPOINT_NAME]) {
  snprintf(out, CHECKPOINT_NAME, "/checksums%.150s", item);
}

static status find_item(hid_t file, const char *path, checkpoint_item *item, int64_t bytes,
                        checkpoint_place *place) {
  char name[CHECKPOINT_NAME];
  int64_t blocks = 0;
  if (!layout_find(file, item->name, (dataset_type)item->type, bytes, &place->length,
                   &place->data)) {
    return fail(STATUS_IO, "%s: %s is missing or damaged", path, item->name);
  }
  if (!item->replicated && item->resize == NULL && place->length != item->length) {
    return fail(STATUS_IO, "%s: %s has %lld numbers, expected %lld", path, item->name,
                (long long)place->length, (long long)item->length);
  }
  checkpoint_sums_name(item->name, name);
  if (!layout_find(file, name, DATASET_I64, bytes, &blocks, &place->sums) ||
      blocks != block_sums_count(place->length)) {
    return fail(STATUS_IO, "%s: the checksums of %s are missing or damaged", path, item->name);
  }
  return STATUS_OK;
}

status checkpoint_find(const char *path, checkpoint_item *items, int count,
                       checkpoint_place *places) {
  status rc = STATUS_OK;
  struct stat found;
  hid_t file = -1;
  if (stat(path, &found) != 0) return fail(STATUS_IO, "%s: %s", path, strerror(errno));
  TRY(h5_start());
  TRY(h5_open_alone(path, H5F_ACC_RDONLY, STATUS_IO, &file));
  for (int i = 0; i < count; i++) {
    TRY(find_item(file, path, &items[i], (int64_t)found.st_size, &places[i]));
  }
done:
  if (file >= 0) H5Fclose(file);
  return rc;
}
