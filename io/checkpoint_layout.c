/* HDF5's part of a checkpoint: where things lie. One process, no disk.
 *
 * HDF5 1.10 does not survive failing writes: a close that fails ends in a segmentation fault at
 * exit, and a rank that fails in a collective metadata write leaves the others waiting (both
 * measured, tests/fault/failing_calls.sh). So HDF5 writes its structures into a file in memory,
 * where nothing fails; data sets are contiguous and allocated at once, so their places are known,
 * and the bytes are moved to and from the disk by plain calls whose errors are plain. What results
 * is an ordinary HDF5 file. */
#include <errno.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint_internal.h"
#include "h5.h"

static hid_t stored_type(checkpoint_type type) {
  return type == CHECKPOINT_F64   ? H5T_IEEE_F64LE
         : type == CHECKPOINT_I64 ? H5T_STD_I64LE
                                  : H5T_STD_U8LE;
}

static void sums_name(const char *item, char out[CHECKPOINT_NAME]) {
  snprintf(out, CHECKPOINT_NAME, "/checksums%.150s", item);
}

static void close_all(hid_t *ids, int count) {
  for (int i = 0; i < count; i++) {
    if (ids[i] >= 0) H5Idec_ref(ids[i]);
  }
}

/* The groups of "/a/b/x" that are not there yet; no times are stored: equal content, equal bytes.
 */
static int create_groups(hid_t file, const char *name) {
  char group[CHECKPOINT_NAME];
  hid_t create = H5Pcreate(H5P_GROUP_CREATE);
  int failed = create < 0 || H5Pset_obj_track_times(create, 0) < 0;
  for (const char *slash = strchr(name + 1, '/'); slash != NULL && !failed;
       slash = strchr(slash + 1, '/')) {
    snprintf(group, sizeof group, "%.*s", (int)(slash - name), name);
    if (H5Lexists(file, group, H5P_DEFAULT) > 0) continue;
    hid_t made = H5Gcreate2(file, group, H5P_DEFAULT, create, H5P_DEFAULT);
    failed = made < 0;
    if (made >= 0) H5Gclose(made);
  }
  if (create >= 0) H5Pclose(create);
  return failed ? -1 : 0;
}

/* An empty data set has no place. */
static int place_of(hid_t set, int64_t length, int64_t *place) {
  *place = 0;
  if (length == 0) return 0;
  const haddr_t at = H5Dget_offset(set);
  if (at == HADDR_UNDEF) return -1;
  *place = (int64_t)at;
  return 0;
}

static int create_set(hid_t file, const char *name, hid_t type, int64_t length, int64_t *place) {
  enum { SPACE, CREATE, SET, IDS };
  const hsize_t extent = (hsize_t)length;
  hid_t ids[IDS] = {H5Screate_simple(1, &extent, NULL), H5Pcreate(H5P_DATASET_CREATE), -1};
  if (ids[SPACE] >= 0 && ids[CREATE] >= 0 && create_groups(file, name) == 0 &&
      H5Pset_layout(ids[CREATE], H5D_CONTIGUOUS) >= 0 &&
      H5Pset_alloc_time(ids[CREATE], H5D_ALLOC_TIME_EARLY) >= 0 &&
      H5Pset_fill_time(ids[CREATE], H5D_FILL_TIME_NEVER) >= 0 &&
      H5Pset_obj_track_times(ids[CREATE], 0) >= 0) {
    ids[SET] = H5Dcreate2(file, name, type, ids[SPACE], H5P_DEFAULT, ids[CREATE], H5P_DEFAULT);
  }
  const int failed = ids[SET] < 0 || place_of(ids[SET], length, place) != 0;
  close_all(ids, IDS);
  return failed ? -1 : 0;
}

/* A file in memory (or, without /dev/shm, in /tmp) for the structures; it has no name any more when
 * this returns. HDF5 opens by name only, so a memfd will not do. */
static hid_t create_file(int *memory) {
  static const char *const names[] = {"/dev/shm/halosweep-XXXXXX", "/tmp/halosweep-XXXXXX"};
  char name[64];
  hid_t file = -1;
  hid_t ids[2] = {H5Pcreate(H5P_FILE_ACCESS), H5Pcreate(H5P_FILE_CREATE)};
  for (int i = 0; i < 2 && *memory < 0; i++) {
    snprintf(name, sizeof name, "%s", names[i]);
    *memory = mkstemp(name);
  }
  if (*memory >= 0 && ids[0] >= 0 && ids[1] >= 0 &&
      H5Pset_userblock(ids[1], CHECKPOINT_USER_BLOCK) >= 0 &&
      H5Pset_obj_track_times(ids[1], 0) >= 0 &&
      H5Pset_libver_bounds(ids[0], H5F_LIBVER_V18, H5F_LIBVER_V110) >= 0) {
    file = H5Fcreate(name, H5F_ACC_TRUNC, ids[1], ids[0]);
  }
  if (*memory >= 0) unlink(name);
  close_all(ids, 2);
  return file;
}

status layout_make(const char *path, const checkpoint_item *items, int count,
                   checkpoint_place *places, int *memory, int64_t *size) {
  status rc = STATUS_OK;
  hid_t file = -1;
  char name[CHECKPOINT_NAME];
  struct stat made;
  *memory = -1;
  TRY(h5_start());
  file = create_file(memory);
  int failed = file < 0;
  for (int i = 0; i < count && !failed; i++) {
    const int64_t length = items[i].length, blocks = block_sums_count(length);
    places[i].length = length;
    sums_name(items[i].name, name);
    failed =
        create_set(file, items[i].name, stored_type(items[i].type), length, &places[i].data) != 0 ||
        create_set(file, name, H5T_STD_I64LE, blocks, &places[i].sums) != 0;
  }
  if (failed) rc = h5_fail(STATUS_IO, path, "lay out");
  if (file >= 0 && H5Fclose(file) < 0 && rc == STATUS_OK) rc = h5_fail(STATUS_IO, path, "lay out");
  if (rc == STATUS_OK && fstat(*memory, &made) != 0) {
    rc = fail(STATUS_IO, "%s: %s", path, strerror(errno));
  }
  if (rc == STATUS_OK) *size = (int64_t)made.st_size;
done:
  return rc;
}

/* A contiguous data set of this type: its length and place, inside the file. */
static int find_set(hid_t file, const char *name, hid_t wanted, int64_t bytes, int64_t *length,
                    int64_t *place) {
  enum { SET, SPACE, TYPE, CREATE, IDS };
  hid_t ids[IDS] = {H5Dopen2(file, name, H5P_DEFAULT), -1, -1, -1};
  hsize_t extent = 0;
  int ok = 0;
  if (ids[SET] >= 0) {
    ids[SPACE] = H5Dget_space(ids[SET]);
    ids[TYPE] = H5Dget_type(ids[SET]);
    ids[CREATE] = H5Dget_create_plist(ids[SET]);
    ok = ids[SPACE] >= 0 && ids[TYPE] >= 0 && ids[CREATE] >= 0 && H5Tequal(ids[TYPE], wanted) > 0 &&
         H5Sget_simple_extent_ndims(ids[SPACE]) == 1 &&
         H5Sget_simple_extent_dims(ids[SPACE], &extent, NULL) >= 0 &&
         H5Pget_layout(ids[CREATE]) == H5D_CONTIGUOUS && extent < (hsize_t)(INT64_MAX / 8) &&
         place_of(ids[SET], (int64_t)extent, place) == 0;
  }
  close_all(ids, IDS);
  *length = (int64_t)extent;
  const int64_t width = (int64_t)H5Tget_size(wanted);
  return ok && *place >= 0 && *place <= bytes && *length <= (bytes - *place) / width;
}

static status find_item(hid_t file, const char *path, checkpoint_item *item, int64_t bytes,
                        checkpoint_place *place) {
  char name[CHECKPOINT_NAME];
  int64_t blocks = 0;
  if (!find_set(file, item->name, stored_type(item->type), bytes, &place->length, &place->data)) {
    return fail(STATUS_IO, "%s: %s is missing or damaged", path, item->name);
  }
  if (!item->replicated && place->length != item->length) {
    return fail(STATUS_IO, "%s: %s has %lld numbers, expected %lld", path, item->name,
                (long long)place->length, (long long)item->length);
  }
  sums_name(item->name, name);
  if (!find_set(file, name, H5T_STD_I64LE, bytes, &blocks, &place->sums) ||
      blocks != block_sums_count(place->length)) {
    return fail(STATUS_IO, "%s: the checksums of %s are missing or damaged", path, item->name);
  }
  return STATUS_OK;
}

status layout_find(const char *path, checkpoint_item *items, int count, checkpoint_place *places) {
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
