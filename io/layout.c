/* HDF5's part of a file: where things lie (layout.h). One process, no disk.
 *
 * HDF5 1.10 does not survive failing writes: a close that fails ends in a segmentation fault at
 * exit, and a rank that fails in a collective write leaves the others waiting (both measured,
 * tests/fault/failing_calls.sh). So HDF5 writes its structures into a file in memory, where nothing
 * fails; data sets are contiguous and allocated at once, so their places are known, and the bytes
 * are moved to and from the disk by plain calls whose errors are plain. What results is an ordinary
 * HDF5 file. The file in memory has holes where the data go: it costs its structures alone. Object
 * times are not stored: equal content, equal bytes. */
#define _GNU_SOURCE /* SEEK_DATA */
#include "layout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "h5.h"

enum { COPY = 1 << 16, NAME = 200 };

typedef struct byte_range {
  int64_t begin, end;
} byte_range;

struct layout {
  const char *path;
  hid_t file;
  int memory;       /* its descriptor */
  byte_range *data; /* where data lie */
  int64_t count, room;
};

static hid_t stored_type(dataset_type type) {
  return type == DATASET_F64 ? H5T_IEEE_F64LE : type == DATASET_I64 ? H5T_STD_I64LE : H5T_STD_U8LE;
}

size_t dataset_width(dataset_type type) { return type == DATASET_BYTES ? 1 : 8; }

int64_t dataset_count(const dataset *set) {
  int64_t count = 1;
  for (int d = 0; d < set->dims; d++) count *= set->extent[d];
  return count;
}

/* The groups of "/a/b/x" that are not there yet. */
static int create_groups(hid_t file, const char *name) {
  char group[NAME];
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

/* place NULL: storage comes with the first write. */
static int create_set(hid_t file, const dataset *wanted, int64_t *place) {
  enum { SPACE, CREATE, SET, IDS };
  hsize_t size[DATASET_DIMS];
  for (int d = 0; d < wanted->dims; d++) size[d] = (hsize_t)wanted->extent[d];
  hid_t ids[IDS] = {H5Screate_simple(wanted->dims, size, NULL), H5Pcreate(H5P_DATASET_CREATE), -1};
  if (ids[SPACE] >= 0 && ids[CREATE] >= 0 && create_groups(file, wanted->name) == 0 &&
      H5Pset_layout(ids[CREATE], H5D_CONTIGUOUS) >= 0 &&
      H5Pset_alloc_time(ids[CREATE], place == NULL ? H5D_ALLOC_TIME_LATE : H5D_ALLOC_TIME_EARLY) >=
          0 &&
      H5Pset_fill_time(ids[CREATE], H5D_FILL_TIME_NEVER) >= 0 &&
      H5Pset_obj_track_times(ids[CREATE], 0) >= 0) {
    ids[SET] = H5Dcreate2(file, wanted->name, stored_type(wanted->type), ids[SPACE], H5P_DEFAULT,
                          ids[CREATE], H5P_DEFAULT);
  }
  const int failed =
      ids[SET] < 0 || (place != NULL && place_of(ids[SET], dataset_count(wanted), place) != 0);
  h5_close_all(ids, IDS);
  return failed ? -1 : 0;
}

/* Closes the file in memory and opens it again; what is allocated then lies at multiples of
 * `alignment` (1: anywhere). */
static int reopen(const char *name, int64_t alignment, hid_t *file) {
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  const int failed = H5Fclose(*file) < 0;
  *file = -1;
  if (!failed && access >= 0 && H5Pset_alignment(access, 1, (hsize_t)alignment) >= 0 &&
      H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V110) >= 0) {
    *file = H5Fopen(name, H5F_ACC_RDWR, access);
  }
  if (access >= 0) H5Pclose(access);
  return *file >= 0 ? 0 : -1;
}

/* Writes a number to a data set, which is given its storage by that; -1: not at `at`. */
static int allocate(hid_t file, const dataset *wanted, int64_t at) {
  enum { SET, SPACE, ONE, IDS };
  hsize_t start[DATASET_DIMS] = {0}, count[DATASET_DIMS];
  const hsize_t one = 1;
  const double nothing = 0.0;
  int64_t place = -1;
  for (int d = 0; d < DATASET_DIMS; d++) count[d] = 1;
  hid_t ids[IDS] = {H5Dopen2(file, wanted->name, H5P_DEFAULT), -1, H5Screate_simple(1, &one, NULL)};
  if (ids[SET] >= 0) ids[SPACE] = H5Dget_space(ids[SET]);
  if (ids[SPACE] >= 0 && ids[ONE] >= 0 &&
      H5Sselect_hyperslab(ids[SPACE], H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
      H5Dwrite(ids[SET], H5T_NATIVE_DOUBLE, ids[ONE], ids[SPACE], H5P_DEFAULT, &nothing) >= 0) {
    if (place_of(ids[SET], 1, &place) != 0) place = -1;
  }
  h5_close_all(ids, IDS);
  return place == at ? 0 : -1;
}

/* Its header and the groups around it come first, and fit below LAYOUT_FRONT; then storage is the
 * only thing that is allocated, aligned. */
static int place_first(const char *name, const dataset *first, int64_t at, hid_t *file) {
  return *file >= 0 && create_set(*file, first, NULL) == 0 && reopen(name, at, file) == 0 &&
                 allocate(*file, first, at) == 0 && reopen(name, 1, file) == 0
             ? 0
             : -1;
}

/* A file in memory (or, without /dev/shm, in /tmp); it has no name any more when this returns. HDF5
 * opens by name only, so a memfd will not do. */
static hid_t create_file(int64_t user_block, const dataset *first, int64_t at, int *memory) {
  static const char *const names[] = {"/dev/shm/halosweep-XXXXXX", "/tmp/halosweep-XXXXXX"};
  char name[64];
  hid_t file = -1;
  hid_t ids[2] = {H5Pcreate(H5P_FILE_ACCESS), H5Pcreate(H5P_FILE_CREATE)};
  for (int i = 0; i < 2 && *memory < 0; i++) {
    snprintf(name, sizeof name, "%s", names[i]);
    *memory = mkstemp(name);
  }
  if (*memory >= 0 && ids[0] >= 0 && ids[1] >= 0 &&
      H5Pset_userblock(ids[1], (hsize_t)user_block) >= 0 &&
      H5Pset_obj_track_times(ids[1], 0) >= 0 &&
      H5Pset_libver_bounds(ids[0], H5F_LIBVER_V18, H5F_LIBVER_V110) >= 0) {
    file = H5Fcreate(name, H5F_ACC_TRUNC, ids[1], ids[0]);
  }
  if (first != NULL && place_first(name, first, at, &file) != 0 && file >= 0) {
    H5Fclose(file);
    file = -1;
  }
  if (*memory >= 0) unlink(name);
  h5_close_all(ids, 2);
  return file;
}

/* Room in the list for one more. */
static status prepare(layout *l, const dataset *set) {
  status rc = STATUS_OK;
  if (strlen(set->name) >= NAME || set->dims < 1 || set->dims > DATASET_DIMS) {
    return fail(STATUS_BUG, "%s: data set %s cannot be", l->path, set->name);
  }
  if (l->count == l->room) {
    TRY(alloc_grow(&l->data, l->count, 2 * l->count + 16, sizeof *l->data, "file layout"));
    l->room = 2 * l->count + 16;
  }
done:
  return rc;
}

static void note_data(layout *l, const dataset *set, int64_t place) {
  const int64_t bytes = dataset_count(set) * (int64_t)dataset_width(set->type);
  l->data[l->count++] = (byte_range){place, place + bytes};
}

static status open_layout(const char *path, int64_t user_block, const dataset *first, int64_t at,
                          layout **out) {
  status rc = STATUS_OK;
  *out = NULL;
  TRY(h5_start());
  TRY(alloc_zeroed(out, 1, sizeof **out, "file layout"));
  **out = (layout){.path = path, .file = -1, .memory = -1};
  (*out)->file = create_file(user_block, first, at, &(*out)->memory);
  if ((*out)->file < 0) rc = h5_fail(STATUS_IO, path, "lay out");
  if (rc == STATUS_OK && first != NULL) {
    TRY(prepare(*out, first));
    note_data(*out, first, at);
  }
done:
  if (rc != STATUS_OK) layout_release(out);
  return rc;
}

status layout_open(const char *path, int64_t user_block, layout **out) {
  return open_layout(path, user_block, NULL, 0, out);
}

status layout_open_at(const char *path, const dataset *first, int64_t at, layout **out) {
  return open_layout(path, 0, first, at, out);
}

status layout_add(layout *l, const dataset *set, int64_t *place) {
  status rc = prepare(l, set);
  if (rc != STATUS_OK) return rc;
  if (create_set(l->file, set, place) != 0) return h5_fail(STATUS_IO, l->path, "lay out");
  note_data(l, set, *place);
  return rc;
}

status layout_text(layout *l, const char *name, const char *text) {
  return h5_write_text(l->file, l->path, name, text);
}

static hid_t word_type(size_t length) {
  hid_t type = H5Tcopy(H5T_C_S1);
  if (type >= 0 && H5Tset_size(type, length) >= 0 && H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0) {
    return type;
  }
  if (type >= 0) H5Tclose(type);
  return -1;
}

status layout_attribute(layout *l, const attribute *a) {
  enum { GROUP, SPACE, TYPE, ATTRIBUTE, IDS };
  char inside[NAME];
  const hsize_t count = (hsize_t)a->count;
  const int numbers = a->numbers != NULL;
  hid_t ids[IDS] = {-1, -1, -1, -1};
  snprintf(inside, sizeof inside, "%s/", a->group);
  if (create_groups(l->file, inside) == 0) ids[GROUP] = H5Gopen2(l->file, a->group, H5P_DEFAULT);
  ids[SPACE] = a->count == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, NULL);
  ids[TYPE] = numbers ? H5Tcopy(stored_type(a->type)) : word_type(strlen(a->word));
  if (ids[GROUP] >= 0 && ids[SPACE] >= 0 && ids[TYPE] >= 0) {
    ids[ATTRIBUTE] =
        H5Acreate2(ids[GROUP], a->name, ids[TYPE], ids[SPACE], H5P_DEFAULT, H5P_DEFAULT);
  }
  const void *data = numbers ? a->numbers : a->word;
  const int failed = ids[ATTRIBUTE] < 0 || H5Awrite(ids[ATTRIBUTE], ids[TYPE], data) < 0;
  status rc = failed ? h5_fail(STATUS_IO, l->path, "lay out") : STATUS_OK;
  h5_close_all(ids, IDS);
  return rc;
}

status layout_finish(layout *l, int64_t *size) {
  struct stat made;
  const herr_t code = H5Fclose(l->file);
  l->file = -1;
  if (code < 0) return h5_fail(STATUS_IO, l->path, "lay out");
  if (fstat(l->memory, &made) != 0) return fail(STATUS_IO, "%s: %s", l->path, strerror(errno));
  *size = (int64_t)made.st_size;
  return STATUS_OK;
}

/* Where data end that cover `at` (else `at`), and in *stop where the next begin, if before it. */
static int64_t skip_data(const layout *l, int64_t at, int64_t *stop) {
  for (int64_t i = 0; i < l->count; i++) {
    const byte_range e = l->data[i];
    if (e.begin <= at && at < e.end) return e.end;
    if (e.begin > at && e.begin < e.end && e.begin < *stop) *stop = e.begin;
  }
  return at;
}

static int copy_run(const layout *l, int descriptor, int64_t at, int64_t end) {
  char buffer[COPY];
  while (at < end) {
    int64_t stop = end - at < COPY ? end : at + COPY;
    const int64_t past = skip_data(l, at, &stop);
    if (past > at) {
      at = past;
      continue;
    }
    int why = bytes_read(l->memory, buffer, stop - at, at);
    if (why == 0) why = bytes_write(descriptor, buffer, stop - at, at);
    if (why != 0) return why;
    at = stop;
  }
  return 0;
}

status layout_copy(const layout *l, int descriptor) {
  int why = 0;
  off_t at = lseek(l->memory, 0, SEEK_DATA);
  while (at >= 0 && why == 0) {
    const off_t end = lseek(l->memory, at, SEEK_HOLE);
    why = copy_run(l, descriptor, at, end);
    at = lseek(l->memory, end, SEEK_DATA);
  }
  if (why == 0 && errno != ENXIO) why = errno; /* ENXIO: no data beyond */
  return why == 0 ? STATUS_OK : fail(STATUS_IO, "%s: cannot write: %s", l->path, strerror(why));
}

void layout_release(layout **l) {
  if (*l == NULL) return;
  if ((*l)->file >= 0) H5Fclose((*l)->file);
  if ((*l)->memory >= 0) close((*l)->memory);
  alloc_free(&(*l)->data);
  alloc_free(l);
}

int layout_find(hid_t file, const char *name, dataset_type type, int64_t bytes, int64_t *length,
                int64_t *place) {
  enum { SET, SPACE, TYPE, CREATE, IDS };
  hid_t ids[IDS] = {H5Dopen2(file, name, H5P_DEFAULT), -1, -1, -1};
  hsize_t extent = 0;
  int ok = 0;
  if (ids[SET] >= 0) {
    ids[SPACE] = H5Dget_space(ids[SET]);
    ids[TYPE] = H5Dget_type(ids[SET]);
    ids[CREATE] = H5Dget_create_plist(ids[SET]);
    ok = ids[SPACE] >= 0 && ids[TYPE] >= 0 && ids[CREATE] >= 0 &&
         H5Tequal(ids[TYPE], stored_type(type)) > 0 &&
         H5Sget_simple_extent_ndims(ids[SPACE]) == 1 &&
         H5Sget_simple_extent_dims(ids[SPACE], &extent, NULL) >= 0 &&
         H5Pget_layout(ids[CREATE]) == H5D_CONTIGUOUS && extent < (hsize_t)(INT64_MAX / 8) &&
         place_of(ids[SET], (int64_t)extent, place) == 0;
  }
  h5_close_all(ids, IDS);
  *length = (int64_t)extent;
  const int64_t width = (int64_t)dataset_width(type);
  return ok && *place >= 0 && *place <= bytes && *length <= (bytes - *place) / width;
}
