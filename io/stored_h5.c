/* CSR groups and vectors in HDF5 files (stored.h), as scipy, h5py, anndata and halosweep write
 * them:
 *   GROUP/indptr [rows + 1], GROUP/indices [entries], GROUP/data [entries]
 * with the shape in an attribute or dataset `shape` (h5sparse: h5sparse_shape), square where there
 * is none. Without a name the group is /matrix, the root, or the only group of the root that has an
 * indptr; a vector is /solve/x, or the only dataset of the root. Numbers of any type that HDF5
 * converts. Each rank opens the file for itself and reads its own ranges. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "h5.h"
#include "stored.h"

enum { OFFSETS, INDICES, DATA };
static const char *const members[STORED_SETS] = {"indptr", "indices", "data"};

static int has(hid_t file, const char *name) {
  return strcmp(name, "/") == 0 || H5Lexists(file, name, H5P_DEFAULT) > 0;
}

static int is_group(hid_t file, const char *name) {
  char path[STORED_PATH + 16];
  if (!has(file, name)) return 0;
  H5O_info_t info;
  if (H5Oget_info_by_name2(file, name, &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0) return 0;
  if (info.type != H5O_TYPE_GROUP) return 0;
  snprintf(path, sizeof path, "%s/%s", strcmp(name, "/") == 0 ? "" : name, members[OFFSETS]);
  return has(file, path);
}

/* The children of the root that are groups with an indptr, or datasets. */
typedef struct candidates {
  char group[STORED_PATH], vector[STORED_PATH];
  int groups, vectors;
} candidates;

static herr_t look_at(hid_t file, const char *name, const H5L_info_t *link, void *into) {
  candidates *found = into;
  char path[STORED_PATH];
  H5O_info_t info;
  (void)link;
  snprintf(path, sizeof path, "/%s", name);
  if (H5Oget_info_by_name2(file, path, &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0) return 0;
  if (info.type == H5O_TYPE_DATASET && found->vectors++ == 0) strcpy(found->vector, path);
  if (info.type == H5O_TYPE_GROUP && is_group(file, path) && found->groups++ == 0) {
    strcpy(found->group, path);
  }
  return 0;
}

static status choose_name(stored_file *f) {
  candidates found = {.groups = 0};
  if (f->name[0] != '\0') return STATUS_OK;
  H5Literate(f->file, H5_INDEX_NAME, H5_ITER_INC, NULL, look_at, &found);
  const char *name = is_group(f->file, "/matrix") ? "/matrix"
                     : is_group(f->file, "/")     ? "/"
                     : found.groups == 1          ? found.group
                     : found.groups == 0 && has(f->file, "/solve") && has(f->file, "/solve/x")
                         ? "/solve/x"
                     : found.groups == 0 && found.vectors == 1 ? found.vector
                                                               : NULL;
  if (name == NULL) {
    return fail(STATUS_INPUT,
                "%s: which matrix or vector? found %d groups with indptr, indices, data and %d "
                "datasets in its root; expected %s:/NAME",
                f->path, found.groups, found.vectors, f->path);
  }
  snprintf(f->name, sizeof f->name, "%s", name);
  return STATUS_OK;
}

/* The length of an open one-dimensional (or n x 1) dataset of numbers. */
static status length_of(const stored_file *f, hid_t set, const char *what, int reals,
                        int64_t *out) {
  hsize_t extent[2] = {0, 1};
  hid_t space = H5Dget_space(set), type = H5Dget_type(set);
  const int dims = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
  const H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
  status rc = STATUS_OK;
  if (class != H5T_INTEGER && !(reals && class == H5T_FLOAT)) {
    rc = fail(STATUS_INPUT, "%s:%s: %s holds no %s", f->path, f->name, what,
              reals ? "numbers" : "integers");
  } else if (dims < 1 || dims > 2 || H5Sget_simple_extent_dims(space, extent, NULL) < 0 ||
             extent[1] != 1) {
    rc =
        fail(STATUS_INPUT, "%s:%s: %s has %d dimensions, expected 1", f->path, f->name, what, dims);
  }
  *out = (int64_t)extent[0];
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  return rc;
}

/* Numbers [first, first + count) of a dataset, n or n x 1. */
static status read_run(const stored_file *f, hid_t set, hid_t type, int64_t first, int64_t count,
                       void *out) {
  hsize_t start[2] = {(hsize_t)first, 0}, length[2] = {(hsize_t)count, 1};
  if (count == 0) return STATUS_OK;
  hid_t ids[2] = {H5Dget_space(set), H5Screate_simple(1, length, NULL)};
  const int failed = ids[0] < 0 || ids[1] < 0 ||
                     H5Sselect_hyperslab(ids[0], H5S_SELECT_SET, start, NULL, length, NULL) < 0 ||
                     H5Dread(set, type, ids[1], ids[0], H5P_DEFAULT, out) < 0;
  status rc = failed ? h5_fail(STATUS_INPUT, f->path, "read") : STATUS_OK;
  h5_close_all(ids, 2);
  return rc;
}

/* The two numbers of a shape: an attribute of the group, or a dataset in it; 0: there is none; -1:
 * there is something else. */
static int read_shape(const stored_file *f, int64_t shape[2]) {
  static const char *const attributes[] = {"shape", "h5sparse_shape"};
  int found = 0;
  hid_t group = H5Oopen(f->file, f->name, H5P_DEFAULT), object = -1, space = -1;
  for (int i = 0; i < 2 && group >= 0 && object < 0; i++) {
    if (H5Aexists(group, attributes[i]) > 0) object = H5Aopen(group, attributes[i], H5P_DEFAULT);
  }
  if (object >= 0) {
    space = H5Aget_space(object);
    found =
        H5Sget_simple_extent_npoints(space) == 2 && H5Aread(object, H5T_NATIVE_INT64, shape) >= 0;
    H5Aclose(object);
  } else if (group >= 0 && H5Lexists(group, "shape", H5P_DEFAULT) > 0) {
    object = H5Dopen2(group, "shape", H5P_DEFAULT);
    space = object < 0 ? -1 : H5Dget_space(object);
    found = space >= 0 && H5Sget_simple_extent_npoints(space) == 2 &&
            H5Dread(object, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, shape) >= 0;
    if (object >= 0) H5Dclose(object);
  }
  if (object >= 0 && !found) found = -1;
  if (space >= 0) H5Sclose(space);
  if (group >= 0) H5Oclose(group);
  return found;
}

/* Whether an attribute says that the group is stored by columns. */
static int says_csc(const stored_file *f) {
  static const char *const names[] = {"encoding-type", "h5sparse_format", "format"};
  char text[64] = "";
  hid_t group = H5Oopen(f->file, f->name, H5P_DEFAULT);
  for (int i = 0; i < 3 && group >= 0; i++) {
    if (H5Aexists(group, names[i]) <= 0) continue;
    hid_t ids[2] = {H5Aopen(group, names[i], H5P_DEFAULT), -1};
    ids[1] = ids[0] < 0 ? -1 : H5Aget_type(ids[0]);
    if (ids[1] >= 0 && H5Tget_class(ids[1]) == H5T_STRING) {
      char *held = NULL;
      if (H5Tis_variable_str(ids[1]) > 0) {
        if (H5Aread(ids[0], ids[1], &held) >= 0 && held != NULL) {
          snprintf(text, sizeof text, "%s", held);
          H5free_memory(held);
        }
      } else if (H5Tget_size(ids[1]) < sizeof text) {
        H5Aread(ids[0], ids[1], text);
      }
    }
    h5_close_all(ids, 2);
  }
  if (group >= 0) H5Oclose(group);
  return strncmp(text, "csc", 3) == 0;
}

static status open_members(stored_file *f) {
  status rc = STATUS_OK;
  int64_t length[STORED_SETS], shape[2];
  char path[STORED_PATH + 16];
  if (says_csc(f)) {
    return fail(STATUS_INPUT, "%s:%s: stored by columns (CSC); expected CSR (scipy: tocsr())",
                f->path, f->name);
  }
  for (int i = 0; i < STORED_SETS; i++) {
    snprintf(path, sizeof path, "%s/%s", strcmp(f->name, "/") == 0 ? "" : f->name, members[i]);
    if (has(f->file, path)) f->set[i] = H5Dopen2(f->file, path, H5P_DEFAULT);
    if (f->set[i] < 0) {
      rc = fail(STATUS_INPUT, "%s:%s: has no dataset %s; expected indptr, indices and data",
                f->path, f->name, members[i]);
      goto done;
    }
    TRY(length_of(f, f->set[i], members[i], i == DATA, &length[i]));
  }
  f->entries = length[DATA];
  f->rows = f->columns = length[OFFSETS] - 1;
  const int shaped = read_shape(f, shape);
  if (shaped < 0) {
    rc = fail(STATUS_INPUT, "%s:%s: its shape is not two numbers: expected rows and columns",
              f->path, f->name);
    goto done;
  }
  if (shaped)
    f->columns = shape[1];
  else
    shape[0] = f->rows;
  if (length[OFFSETS] < 1 || f->rows != shape[0] || f->columns < 0) {
    rc = fail(STATUS_INPUT,
              "%s:%s: indptr has %" PRId64 " numbers and the shape is %" PRId64 " x %" PRId64
              ": expected rows + 1",
              f->path, f->name, length[OFFSETS], shape[0], f->columns);
  } else if (length[INDICES] != length[DATA]) {
    rc = fail(STATUS_INPUT, "%s:%s: %" PRId64 " indices but %" PRId64 " data: expected as many",
              f->path, f->name, length[INDICES], length[DATA]);
  }
done:
  return rc;
}

/* Where a dataset's numbers lie in the file, if they are plain bytes of this type; else 0. */
static int64_t plain_at(hid_t set, hid_t type) {
  hid_t ids[2] = {H5Dget_create_plist(set), H5Dget_type(set)};
  const int plain = ids[0] >= 0 && ids[1] >= 0 && H5Pget_layout(ids[0]) == H5D_CONTIGUOUS &&
                    H5Pget_external_count(ids[0]) == 0 && H5Tequal(ids[1], type) > 0;
  const haddr_t at = plain ? H5Dget_offset(set) : HADDR_UNDEF;
  h5_close_all(ids, 2);
  return at == HADDR_UNDEF ? 0 : (int64_t)at;
}

/* A user block in front would move all places. */
static void find_places(stored_file *f) {
  hsize_t block = 1;
  hid_t made = H5Fget_create_plist(f->file);
  if (made >= 0) H5Pget_userblock(made, &block);
  h5_close_all(&made, 1);
  if (block != 0) return;
  f->width = 8;
  f->columns_at = plain_at(f->set[INDICES], H5T_NATIVE_INT64);
  f->values_at = plain_at(f->set[DATA], H5T_NATIVE_DOUBLE);
}

/* indptr begins with 0 and ends with the number of entries. */
static status check_ends(const stored_file *f) {
  status rc = STATUS_OK;
  int64_t first, last;
  TRY(read_run(f, f->set[OFFSETS], H5T_NATIVE_INT64, 0, 1, &first));
  TRY(read_run(f, f->set[OFFSETS], H5T_NATIVE_INT64, f->rows, 1, &last));
  if (first != 0) {
    rc = fail(STATUS_INPUT, "%s:%s: indptr begins with %" PRId64 ", expected 0", f->path, f->name,
              first);
  } else if (last != f->entries) {
    rc = fail(STATUS_INPUT,
              "%s:%s: indptr ends with %" PRId64 ", expected the number of entries, %" PRId64,
              f->path, f->name, last, f->entries);
  }
done:
  return rc;
}

status csr_group_open(stored_file *f) {
  status rc = STATUS_OK;
  TRY(h5_start());
  TRY(h5_open_alone(f->path, H5F_ACC_RDONLY, STATUS_INPUT, &f->file));
  TRY(choose_name(f));
  if (is_group(f->file, f->name)) {
    TRY(open_members(f));
    TRY(check_ends(f));
    find_places(f);
    goto done;
  }
  f->set[DATA] = H5Dopen2(f->file, f->name, H5P_DEFAULT);
  if (f->set[DATA] < 0) {
    rc = fail(STATUS_INPUT,
              "%s: has no vector and no group with indptr, indices, data named %s; expected "
              "FILE:/NAME",
              f->path, f->name);
    goto done;
  }
  f->entries = -1;
  f->columns = 1;
  TRY(length_of(f, f->set[DATA], "the dataset", 1, &f->rows));
done:
  return rc;
}

void csr_group_close(stored_file *f) {
  h5_close_all(f->set, STORED_SETS);
  if (f->file >= 0) H5Fclose(f->file);
  f->file = f->set[OFFSETS] = f->set[INDICES] = f->set[DATA] = -1;
}

enum { PIECE = 1 << 16 };

status csr_group_lengths(stored_file *f, gidx first, int64_t count, int64_t *out) {
  status rc = STATUS_OK;
  int64_t *offset = NULL;
  TRY(alloc_array(&offset, PIECE + 1, sizeof *offset, "row offsets"));
  for (int64_t i = 0; i < count;) {
    const int64_t some = count - i < PIECE ? count - i : PIECE;
    TRY(read_run(f, f->set[OFFSETS], H5T_NATIVE_INT64, first + i, some + 1, offset));
    for (int64_t k = 0; k < some; k++, i++) {
      out[i] = offset[k + 1] - offset[k];
      if (out[i] >= 0 && offset[k] >= 0 && offset[k + 1] <= f->entries) continue;
      rc = fail(STATUS_INPUT,
                "%s:%s: indptr[%" PRId64 "] = %" PRId64 " follows %" PRId64
                ": expected numbers from 0 to %" PRId64 " that do not fall",
                f->path, f->name, first + i + 1, offset[k + 1], offset[k], f->entries);
      goto done;
    }
  }
done:
  alloc_free(&offset);
  return rc;
}

status csr_group_columns(stored_file *f, int64_t first, int64_t count, gidx *out) {
  return read_run(f, f->set[INDICES], H5T_NATIVE_INT64, first, count, out);
}

status csr_group_values(stored_file *f, int64_t first, int64_t count, double *out) {
  return read_run(f, f->set[DATA], H5T_NATIVE_DOUBLE, first, count, out);
}
