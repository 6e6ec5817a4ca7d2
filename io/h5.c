/* HDF5, kept quiet (h5.h). Files are opened by one process at a time, each for itself. */
#include "h5.h"

#include <hdf5.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "result_io.h"

status h5_start(void) {
  if (H5open() < 0 || H5Eset_auto2(H5E_DEFAULT, NULL, NULL) < 0 || H5PLset_loading_state(0) < 0) {
    return fail(STATUS_UNAVAILABLE, "HDF5 does not start");
  }
  return STATUS_OK;
}

void result_library(char out[32]) {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  snprintf(out, 32, "%u.%u.%u", major, minor, release);
}

enum { MESSAGE = 600 };

static herr_t keep_first(unsigned n, const H5E_error2_t *error, void *message) {
  if (n == 0 && error->desc != NULL) snprintf(message, MESSAGE, "%s", error->desc);
  return 0;
}

status h5_fail(status code, const char *path, const char *what) {
  char message[MESSAGE] = "no reason given by HDF5";
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, message);
  return fail(code, "%s: cannot %s: %s%s", path, what, message,
              strstr(message, "unable to lock") == NULL
                  ? ""
                  : "; another program has it open for writing, or the file system has no locks "
                    "(then HDF5_USE_FILE_LOCKING=FALSE)");
}

void h5_close_all(hid_t *ids, int count) {
  for (int i = 0; i < count; i++) {
    if (ids[i] >= 0) H5Idec_ref(ids[i]);
  }
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

/* The file's space with elements [first, first + count) selected; the caller closes it. */
static hid_t select_run(hid_t set, hsize_t first, hsize_t count) {
  hid_t space = H5Dget_space(set);
  if (space < 0) return space;
  if (H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &count, NULL) >= 0) return space;
  H5Sclose(space);
  return -1;
}

status h5_read_vector(hid_t file, const char *path, const char *name, const ownership *owned,
                      double *values) {
  enum { SET, SPACE, MEMORY, IDS };
  const hsize_t first = (hsize_t)ownership_begin(owned);
  const hsize_t count = (hsize_t)ownership_end(owned) - first;
  hid_t ids[IDS] = {H5Dopen2(file, name, H5P_DEFAULT), -1, -1};
  if (ids[SET] < 0) return h5_fail(STATUS_INPUT, path, "open a dataset");
  status rc = check_vector(ids[SET], path, name, owned->rows);
  if (rc == STATUS_OK && count > 0) {
    ids[SPACE] = select_run(ids[SET], first, count);
    ids[MEMORY] = H5Screate_simple(1, &count, NULL);
    if (ids[SPACE] < 0 || ids[MEMORY] < 0 ||
        H5Dread(ids[SET], H5T_NATIVE_DOUBLE, ids[MEMORY], ids[SPACE], H5P_DEFAULT, values) < 0) {
      rc = h5_fail(STATUS_INPUT, path, "read");
    }
  }
  h5_close_all(ids, IDS);
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
  h5_close_all(ids, IDS);
  return rc;
}

/* HDF5 hands out memory of its own: copied, then given back. */
static status read_attribute(hid_t attribute, hid_t type, const char *path, char **text) {
  char *held = NULL;
  if (H5Aread(attribute, type, &held) < 0) return h5_fail(STATUS_INPUT, path, "read an attribute");
  status rc = alloc_text(text, held == NULL ? "" : held, "attribute text");
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
  h5_close_all(ids, 2);
  return rc;
}
