/* HDF5, kept quiet (h5.h).
 *
 * A vector is one contiguous dataset of little-endian doubles, allocated when created and never
 * filled, so that every byte is written once. All ranks make the same number of collective calls:
 * as many as the rank with most elements needs; a rank with nothing (left) takes part with an empty
 * selection. Object times are not stored: the same result gives the same bytes. */
#include "h5.h"

#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "comm_native.h"

status h5_start(void) {
  if (H5open() < 0 || H5Eset_auto2(H5E_DEFAULT, NULL, NULL) < 0 || H5PLset_loading_state(0) < 0) {
    return fail(STATUS_UNAVAILABLE, "HDF5 does not start");
  }
  return STATUS_OK;
}

enum { MESSAGE = 600, GROUP_NAME = 256 };

static herr_t keep_first(unsigned n, const H5E_error2_t *error, void *message) {
  if (n == 0 && error->desc != NULL) snprintf(message, MESSAGE, "%s", error->desc);
  return 0;
}

status h5_fail(status code, const char *path, const char *what) {
  char message[MESSAGE] = "no reason given by HDF5";
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, message);
  return fail(code, "%s: cannot %s: %s", path, what, message);
}

static void close_all(hid_t *ids, int count) {
  for (int i = 0; i < count; i++) {
    if (ids[i] >= 0) H5Idec_ref(ids[i]);
  }
}

static hid_t parallel_access(comm *c) {
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  if (access < 0) return access;
  if (H5Pset_fapl_mpio(access, comm_native(c), MPI_INFO_NULL) < 0 ||
      H5Pset_coll_metadata_write(access, 1) < 0 || H5Pset_all_coll_metadata_ops(access, 1) < 0 ||
      H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V110) < 0) {
    H5Pclose(access);
    return -1;
  }
  return access;
}

/* MPI-IO waits for ever when one rank cannot open what the others can (measured with Open MPI 4.1):
 * every rank tries alone first, and all agree. */
static status all_can_open(comm *c, const char *path, int flags, status code) {
  int descriptor = open(path, flags | O_NOCTTY | O_CLOEXEC);
  status rc = STATUS_OK;
  if (descriptor < 0) {
    rc = fail(code, "%s: cannot be opened here: %s (is the folder one that all nodes share?)", path,
              strerror(errno));
  } else {
    close(descriptor);
  }
  return comm_agree(c, rc);
}

status h5_create(comm *c, const char *path, hid_t *file) {
  *file = -1;
  status rc = all_can_open(c, path, O_RDWR | O_NOFOLLOW, STATUS_IO);
  if (rc != STATUS_OK) return rc;
  hid_t ids[2] = {parallel_access(c), H5Pcreate(H5P_FILE_CREATE)};
  if (ids[0] >= 0 && ids[1] >= 0 && H5Pset_obj_track_times(ids[1], 0) >= 0) {
    *file = H5Fcreate(path, H5F_ACC_TRUNC, ids[1], ids[0]);
  }
  if (*file < 0) rc = h5_fail(STATUS_IO, path, "create");
  close_all(ids, 2);
  return rc;
}

status h5_open(comm *c, const char *path, hid_t *file) {
  *file = -1;
  status rc = all_can_open(c, path, O_RDONLY, STATUS_INPUT);
  if (rc != STATUS_OK) return rc;
  hid_t access = parallel_access(c);
  *file = access < 0 ? -1 : H5Fopen(path, H5F_ACC_RDONLY, access);
  if (*file < 0) rc = h5_fail(STATUS_INPUT, path, "open as HDF5");
  if (access >= 0) H5Pclose(access);
  return rc;
}

status h5_open_alone(const char *path, unsigned flags, status code, hid_t *file) {
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  *file = -1;
  if (access >= 0 && H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V110) >= 0) {
    *file = H5Fopen(path, flags, access);
  }
  status rc = *file < 0 ? h5_fail(code, path, "open as HDF5") : STATUS_OK;
  if (access >= 0) H5Pclose(access);
  return rc;
}

/* The groups of "/a/b/x" that are not there yet. */
static status create_groups(hid_t file, const char *path, const char *name) {
  char group[GROUP_NAME];
  status rc = STATUS_OK;
  hid_t create = H5Pcreate(H5P_GROUP_CREATE);
  if (create < 0 || H5Pset_obj_track_times(create, 0) < 0) {
    return h5_fail(STATUS_IO, path, "create a group");
  }
  for (const char *slash = strchr(name + 1, '/'); slash != NULL && rc == STATUS_OK;
       slash = strchr(slash + 1, '/')) {
    snprintf(group, sizeof group, "%.*s", (int)(slash - name), name);
    htri_t there = H5Lexists(file, group, H5P_DEFAULT);
    hid_t made = there == 0 ? H5Gcreate2(file, group, H5P_DEFAULT, create, H5P_DEFAULT) : -1;
    int failed = there < 0 || (there == 0 && made < 0);
    if (failed) rc = h5_fail(STATUS_IO, path, "create a group");
    if (made >= 0) H5Gclose(made);
  }
  H5Pclose(create);
  return rc;
}

static status create_dataset(hid_t file, const char *path, const char *name, hsize_t length,
                             hid_t *set) {
  enum { SPACE, CREATE, IDS };
  hid_t ids[IDS] = {H5Screate_simple(1, &length, NULL), H5Pcreate(H5P_DATASET_CREATE)};
  *set = -1;
  if (ids[SPACE] >= 0 && create_groups(file, path, name) == STATUS_OK &&
      H5Pset_layout(ids[CREATE], H5D_CONTIGUOUS) >= 0 &&
      H5Pset_alloc_time(ids[CREATE], H5D_ALLOC_TIME_EARLY) >= 0 &&
      H5Pset_fill_time(ids[CREATE], H5D_FILL_TIME_NEVER) >= 0 &&
      H5Pset_obj_track_times(ids[CREATE], 0) >= 0) {
    *set =
        H5Dcreate2(file, name, H5T_IEEE_F64LE, ids[SPACE], H5P_DEFAULT, ids[CREATE], H5P_DEFAULT);
  }
  status rc = *set < 0 ? h5_fail(STATUS_IO, path, "create a dataset") : STATUS_OK;
  close_all(ids, IDS);
  return rc;
}

/* Selects elements [begin, begin + count) of `length`, in a space the caller closes. */
static hid_t select_run(hsize_t length, hsize_t begin, hsize_t count) {
  hid_t space = H5Screate_simple(1, &length, NULL);
  if (space < 0) return space;
  herr_t code = count == 0 ? H5Sselect_none(space)
                           : H5Sselect_hyperslab(space, H5S_SELECT_SET, &begin, NULL, &count, NULL);
  if (code >= 0) return space;
  H5Sclose(space);
  return -1;
}

/* What is moved: one of the two pointers is set. */
typedef struct cargo {
  const char *path;
  const ownership *owned;
  const double *from;
  double *to;
  int64_t round;
} cargo;

/* One collective transfer: elements [begin, begin + count) of this rank's part. */
static status move_run(hid_t set, const cargo *load, int64_t begin, int64_t count) {
  enum { FILE_SPACE, MEMORY, TRANSFER, IDS };
  const hsize_t length = (hsize_t)load->owned->rows, n = (hsize_t)count;
  const hsize_t at = (hsize_t)(ownership_begin(load->owned) + begin);
  double nothing = 0.0; /* an empty selection still wants an address */
  hid_t ids[IDS] = {select_run(length, at, n), select_run(n, 0, n), H5Pcreate(H5P_DATASET_XFER)};
  status rc = STATUS_OK;
  int failed = ids[FILE_SPACE] < 0 || ids[MEMORY] < 0 ||
               H5Pset_dxpl_mpio(ids[TRANSFER], H5FD_MPIO_COLLECTIVE) < 0;
  if (!failed && load->to == NULL) {
    failed = H5Dwrite(set, H5T_NATIVE_DOUBLE, ids[MEMORY], ids[FILE_SPACE], ids[TRANSFER],
                      count == 0 ? &nothing : load->from + begin) < 0;
  } else if (!failed) {
    failed = H5Dread(set, H5T_NATIVE_DOUBLE, ids[MEMORY], ids[FILE_SPACE], ids[TRANSFER],
                     count == 0 ? &nothing : load->to + begin) < 0;
  }
  if (failed) {
    rc = load->to == NULL ? h5_fail(STATUS_IO, load->path, "write")
                          : h5_fail(STATUS_INPUT, load->path, "read");
  }
  close_all(ids, IDS);
  return rc;
}

/* Makes every round's call even after a failure: the other ranks are in it too. */
static status move_vector(hid_t set, const cargo *load) {
  const ownership *owned = load->owned;
  const int64_t rows = ownership_end(owned) - ownership_begin(owned);
  int64_t most = 0; /* rows of the rank that has most */
  status rc = STATUS_OK;
  for (int r = 0; r < owned->size; r++) {
    int64_t theirs = owned->first[r + 1] - owned->first[r];
    if (theirs > most) most = theirs;
  }
  for (int64_t done = 0; done < most; done += load->round) {
    int64_t begin = done < rows ? done : rows;
    int64_t count = rows - begin < load->round ? rows - begin : load->round;
    status moved = move_run(set, load, begin, count);
    if (rc == STATUS_OK) rc = moved;
  }
  return rc;
}

status h5_write_vector(hid_t file, const char *path, const char *name, const ownership *owned,
                       const double *values, int64_t round) {
  const cargo load = {.path = path, .owned = owned, .from = values, .round = round};
  hid_t set;
  status rc = create_dataset(file, path, name, (hsize_t)owned->rows, &set);
  if (rc != STATUS_OK) return rc;
  rc = move_vector(set, &load);
  if (H5Dclose(set) < 0 && rc == STATUS_OK) rc = h5_fail(STATUS_IO, path, "close a dataset");
  return rc;
}

static status check_vector(hid_t set, const char *path, const char *name, gidx rows) {
  hid_t space = H5Dget_space(set), type = H5Dget_type(set);
  hsize_t length = 0;
  int dims = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
  status rc = STATUS_OK;
  if (type < 0 || H5Tget_class(type) != H5T_FLOAT) {
    rc = fail(STATUS_INPUT, "%s: dataset %s holds no real numbers", path, name);
  } else if (dims != 1) {
    rc = fail(STATUS_INPUT, "%s: dataset %s has %d dimensions, expected 1", path, name, dims);
  } else if (H5Sget_simple_extent_dims(space, &length, NULL) < 0 || length != (hsize_t)rows) {
    rc = fail(STATUS_INPUT, "%s: dataset %s has %llu numbers, expected %lld", path, name,
              (unsigned long long)length, (long long)rows);
  }
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  return rc;
}

status h5_read_vector(hid_t file, const char *path, const char *name, const ownership *owned,
                      double *values, int64_t round) {
  const cargo load = {.path = path, .owned = owned, .to = values, .round = round};
  hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
  if (set < 0) return h5_fail(STATUS_INPUT, path, "open a dataset");
  status rc = check_vector(set, path, name, owned->rows);
  if (rc == STATUS_OK) rc = move_vector(set, &load);
  H5Dclose(set);
  return rc;
}

static hid_t text_type(void) {
  hid_t type = H5Tcopy(H5T_C_S1);
  if (type >= 0 && H5Tset_size(type, H5T_VARIABLE) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0) {
    return type;
  }
  if (type >= 0) H5Tclose(type);
  return -1;
}

status h5_write_text(hid_t file, const char *path, const char *name, const char *text) {
  enum { TYPE, SPACE, ATTRIBUTE, IDS };
  hid_t ids[IDS] = {text_type(), H5Screate(H5S_SCALAR), -1};
  if (ids[TYPE] >= 0 && ids[SPACE] >= 0) {
    ids[ATTRIBUTE] = H5Acreate2(file, name, ids[TYPE], ids[SPACE], H5P_DEFAULT, H5P_DEFAULT);
  }
  int failed = ids[ATTRIBUTE] < 0 || H5Awrite(ids[ATTRIBUTE], ids[TYPE], &text) < 0;
  status rc = failed ? h5_fail(STATUS_IO, path, "write an attribute") : STATUS_OK;
  close_all(ids, IDS);
  return rc;
}

/* HDF5 hands out memory of its own: copied, then given back. */
static status read_attribute(hid_t attribute, hid_t type, const char *path, char **text) {
  char *held = NULL;
  if (H5Aread(attribute, type, &held) < 0) return h5_fail(STATUS_INPUT, path, "read an attribute");
  size_t bytes = held == NULL ? 1 : strlen(held) + 1;
  status rc = alloc_array(text, (int64_t)bytes, 1, "attribute text");
  if (rc == STATUS_OK) memcpy(*text, held == NULL ? "" : held, bytes);
  H5free_memory(held);
  return rc;
}

/* One string of variable length, as we write it: anything else could not be held. */
static int holds_one_text(hid_t attribute, hid_t type) {
  hid_t space = H5Aget_space(attribute);
  int yes = type >= 0 && space >= 0 && H5Tget_class(type) == H5T_STRING &&
            H5Tis_variable_str(type) > 0 && H5Sget_simple_extent_npoints(space) == 1;
  if (space >= 0) H5Sclose(space);
  return yes;
}

status h5_read_text(hid_t file, const char *path, const char *name, char **text) {
  hid_t ids[2] = {H5Aopen(file, name, H5P_DEFAULT), -1};
  *text = NULL;
  if (ids[0] < 0) return h5_fail(STATUS_INPUT, path, "open an attribute");
  ids[1] = H5Aget_type(ids[0]);
  status rc = STATUS_OK;
  if (!holds_one_text(ids[0], ids[1])) {
    rc = fail(STATUS_INPUT, "%s: attribute %s is not the text that halosweep writes", path, name);
  } else {
    rc = read_attribute(ids[0], ids[1], path, text);
  }
  close_all(ids, 2);
  return rc;
}
