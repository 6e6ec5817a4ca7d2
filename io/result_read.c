/* Reading result files (result_io.h). Texts are read by rank 0 and broadcast; vectors by every
 * rank for itself after rank 0 has looked at the file, so that a wrong file is one rank's error. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "alloc.h"
#include "h5.h"
#include "result_internal.h"

/* Rank 0: opens the file alone and makes sure it is ours. */
static status open_ours(const char *path, hid_t *file) {
  struct stat found;
  int ours = 0;
  status rc = STATUS_OK;
  *file = -1;
  if (stat(path, &found) != 0) return fail(STATUS_INPUT, "%s: %s", path, strerror(errno));
  if (S_ISDIR(found.st_mode)) {
    return fail(STATUS_INPUT, "%s: is a folder, expected a halosweep result", path);
  }
  TRY(h5_start());
  TRY(h5_open_alone(path, H5F_ACC_RDONLY, STATUS_INPUT, file));
  TRY(result_recognise(path, &ours));
  if (!ours) rc = fail(STATUS_INPUT, "%s: is HDF5, but not a halosweep result", path);
done:
  if (rc != STATUS_OK && *file >= 0) {
    H5Fclose(*file);
    *file = -1;
  }
  return rc;
}

/* Rank 0's text to all; on the others *text is allocated here. */
static status share_text(comm *c, char **text) {
  status rc = STATUS_OK;
  int64_t bytes = comm_rank(c) == 0 ? (int64_t)strlen(*text) + 1 : 0;
  TRY(comm_broadcast(c, &bytes, sizeof bytes, 0));
  if (comm_rank(c) != 0) rc = alloc_array(text, bytes, 1, "text");
  TRY(comm_agree(c, rc));
  TRY(comm_broadcast(c, *text, bytes, 0));
done:
  return rc;
}

typedef status reader(hid_t file, const char *path, const char *name, char **text);

static status read_text(comm *c, const char *path, const char *name, reader *read, char **text) {
  status rc = STATUS_OK;
  hid_t file = -1;
  *text = NULL;
  if (comm_rank(c) == 0) {
    rc = open_ours(path, &file);
    if (rc == STATUS_OK) rc = read(file, path, name, text);
    if (file >= 0) H5Fclose(file);
  }
  TRY(comm_agree(c, rc));
  TRY(share_text(c, text));
done:
  if (rc != STATUS_OK) alloc_free(text);
  return rc;
}

status result_read_text(comm *c, const char *path, const char *name, char **text) {
  return read_text(c, path, name, h5_read_text, text);
}

/* The list grows by a line per dataset. */
typedef struct listing {
  char *text;
  int64_t length, room;
  status rc;
} listing;

static herr_t list_dataset(hid_t file, const char *name, const H5O_info_t *info, void *into) {
  listing *l = into;
  char line[400];
  if (info->type != H5O_TYPE_DATASET) return 0;
  hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
  hid_t space = set < 0 ? -1 : H5Dget_space(set);
  long long count = space < 0 ? -1 : (long long)H5Sget_simple_extent_npoints(space);
  if (space >= 0) H5Sclose(space);
  if (set >= 0) H5Dclose(set);
  int64_t bytes = snprintf(line, sizeof line, "/%.300s %lld\n", name, count);
  if (l->length + bytes + 1 > l->room) {
    int64_t room = 2 * (l->length + bytes + 1);
    l->rc = alloc_grow(&l->text, l->room, room, 1, "list of datasets");
    if (l->rc != STATUS_OK) return -1;
    l->room = room;
  }
  memcpy(l->text + l->length, line, (size_t)bytes + 1);
  l->length += bytes;
  return 0;
}

static status list_datasets(hid_t file, const char *path, const char *name, char **text) {
  (void)name;
  listing l = {.text = NULL, .rc = STATUS_OK};
  if (alloc_zeroed(&l.text, 1, 1, "list of datasets") != STATUS_OK) return STATUS_UNAVAILABLE;
  l.room = 1;
  if (H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, list_dataset, &l, H5O_INFO_BASIC) < 0) {
    if (l.rc == STATUS_OK) l.rc = h5_fail(STATUS_INPUT, path, "list the datasets");
    alloc_free(&l.text);
  }
  *text = l.text;
  return l.rc;
}

status result_list(comm *c, const char *path, char **text) {
  return read_text(c, path, "", list_datasets, text);
}

status result_is_result(comm *c, const char *path, int *yes) {
  int64_t found = 0;
  status rc = STATUS_OK;
  *yes = 0;
  if (comm_rank(c) == 0) {
    hid_t file;
    struct stat facts;
    if (stat(path, &facts) == 0 && S_ISREG(facts.st_mode)) {
      found = open_ours(path, &file) == STATUS_OK;
      if (found) H5Fclose(file);
      fail_clear();
    }
  }
  TRY(comm_broadcast(c, &found, sizeof found, 0));
  *yes = (int)found;
done:
  return rc;
}

/* This rank's part. Local. */
static status read_part(const char *path, const char *name, const ownership *owned,
                        double *values) {
  hid_t file;
  status rc = h5_open_alone(path, H5F_ACC_RDONLY, STATUS_INPUT, &file);
  if (rc == STATUS_OK) rc = h5_read_vector(file, path, name, owned, values);
  if (file >= 0) H5Fclose(file);
  return rc;
}

status result_read_vector(comm *c, const char *path, const char *name, const ownership *owned,
                          double **values) {
  status rc = STATUS_OK;
  hid_t file = -1;
  *values = NULL;
  rc = comm_rank(c) == 0 ? open_ours(path, &file) : h5_start();
  if (file >= 0) H5Fclose(file);
  TRY(comm_agree(c, rc));
  TRY(comm_agree(c, alloc_array(values, ownership_end(owned) - ownership_begin(owned),
                                sizeof **values, "vector")));
  TRY(comm_agree(c, read_part(path, name, owned, *values)));
done:
  if (rc != STATUS_OK) alloc_free(values);
  return rc;
}
