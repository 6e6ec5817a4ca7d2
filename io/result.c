/* Writing result files (result_io.h).
 *
 * All ranks write the datasets together into a temporary file that rank 0 made; before each one
 * rank 0 reserves its room in the file system, so that a full disk is found by one rank in a call
 * of its own and not by some ranks in the middle of a collective. Texts wait in rank 0's memory and
 * are written by it alone after the parallel file is closed. Then fsync, rename. After a failure
 * every later call does nothing but fail, and result_close throws the temporary away. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "alloc.h"
#include "h5.h"
#include "result_internal.h"
#include "swap_file.h"

/* Room for HDF5's own structures. */
enum { SLACK = 1 << 16 };

typedef struct note {
  char *name, *text;
} note;

struct result_file {
  comm *c;
  hid_t file;
  status failed;    /* of an earlier call, the same on all ranks */
  swap_file swap;   /* rank 0 */
  char *temporary;  /* every rank */
  int64_t reserved; /* bytes, rank 0 */
  int64_t round;    /* elements per rank and transfer */
  note *notes;      /* rank 0 */
  int64_t note_count;
};

void result_set_round(result_file *f, int64_t elements) { f->round = elements; }

/* Rank 0's name of the temporary, to all. */
static status share_name(comm *c, result_file *f) {
  int64_t bytes = comm_rank(c) == 0 ? (int64_t)strlen(f->swap.temporary) + 1 : 0;
  status rc = STATUS_OK;
  TRY(comm_broadcast(c, &bytes, sizeof bytes, 0));
  TRY(comm_agree(c, alloc_array(&f->temporary, bytes, 1, "file name")));
  if (comm_rank(c) == 0) memcpy(f->temporary, f->swap.temporary, (size_t)bytes);
  TRY(comm_broadcast(c, f->temporary, bytes, 0));
done:
  return rc;
}

static void release(result_file **f) {
  result_file *r = *f;
  if (r == NULL) return;
  for (int64_t i = 0; i < r->note_count; i++) {
    alloc_free(&r->notes[i].name);
    alloc_free(&r->notes[i].text);
  }
  alloc_free(&r->notes);
  alloc_free(&r->temporary);
  if (comm_rank(r->c) == 0) swap_discard(&r->swap);
  alloc_free(f);
}

status result_create(comm *c, const char *path, result_file **out) {
  status rc = STATUS_OK;
  result_file *f = NULL;
  *out = NULL;
  rc = alloc_zeroed(&f, 1, sizeof *f, "result file");
  if (rc == STATUS_OK) {
    *f = (result_file){.c = c, .file = -1, .round = H5_ROUND, .swap = {.descriptor = -1}};
    rc = h5_start();
  }
  if (rc == STATUS_OK && comm_rank(c) == 0) rc = swap_open(path, &f->swap);
  TRY(comm_agree(c, rc));
  TRY(share_name(c, f));
  TRY(comm_agree(c, h5_create(c, f->temporary, &f->file)));
  *out = f;
  f = NULL;
done:
  if (f != NULL && f->file >= 0) H5Fclose(f->file);
  release(&f);
  return rc;
}

/* Makes room for `bytes` more. */
static status reserve(result_file *f, int64_t bytes) {
  if (comm_rank(f->c) != 0) return STATUS_OK;
  f->reserved += bytes + SLACK;
  return swap_reserve(&f->swap, f->reserved);
}

status result_vector(result_file *f, const char *name, const ownership *owned,
                     const double *values) {
  status rc = f->failed;
  TRY(rc);
  TRY(comm_agree(f->c, reserve(f, owned->rows * (int64_t)sizeof(double))));
  TRY(comm_agree(f->c, h5_write_vector(f->file, f->temporary, name, owned, values, f->round)));
done:
  f->failed = rc;
  return rc;
}

static status keep_copy(const char *text, char **out) {
  int64_t bytes = (int64_t)strlen(text) + 1;
  status rc = alloc_array(out, bytes, 1, "result text");
  if (rc == STATUS_OK) memcpy(*out, text, (size_t)bytes);
  return rc;
}

static status keep_note(result_file *f, const char *name, const char *text) {
  status rc = alloc_grow(&f->notes, f->note_count, f->note_count + 1, sizeof *f->notes, "texts");
  if (rc != STATUS_OK) return rc;
  note *fresh = &f->notes[f->note_count++];
  *fresh = (note){NULL, NULL};
  rc = keep_copy(name, &fresh->name);
  return rc == STATUS_OK ? keep_copy(text, &fresh->text) : rc;
}

status result_text(result_file *f, const char *name, const char *text) {
  status rc = f->failed;
  TRY(rc);
  TRY(comm_agree(f->c, comm_rank(f->c) == 0 ? keep_note(f, name, text) : STATUS_OK));
done:
  f->failed = rc;
  return rc;
}

/* Rank 0, after the parallel file is closed. */
static status write_notes(result_file *f) {
  status rc = STATUS_OK;
  hid_t file = -1;
  struct stat now;
  if (fstat(f->swap.descriptor, &now) == 0) f->reserved = (int64_t)now.st_size;
  for (int64_t i = 0; i < f->note_count; i++) {
    TRY(reserve(f, (int64_t)strlen(f->notes[i].text)));
  }
  TRY(reserve(f, SLACK));
  TRY(h5_open_alone(f->temporary, H5F_ACC_RDWR, STATUS_IO, &file));
  for (int64_t i = 0; i < f->note_count; i++) {
    TRY(h5_write_text(file, f->temporary, f->notes[i].name, f->notes[i].text));
  }
  TRY(h5_write_text(file, f->temporary, RESULT_MARK, RESULT_MARK_TEXT)); /* last: it is ours */
done:
  if (file >= 0 && H5Fclose(file) < 0 && rc == STATUS_OK) {
    rc = h5_fail(STATUS_IO, f->temporary, "close");
  }
  return rc;
}

/* The work took long: what stands there now may no longer be what result_check saw. */
static status may_replace(const char *path) {
  struct stat found;
  int ours = 0;
  if (lstat(path, &found) != 0) return STATUS_OK;
  status rc = result_recognise(path, &ours);
  if (rc != STATUS_OK || ours) return rc;
  return fail(STATUS_IO, "%s: a file that halosweep did not write has appeared there", path);
}

static status finish(result_file *f) {
  status rc = write_notes(f);
  if (rc == STATUS_OK) rc = may_replace(f->swap.path);
  return rc == STATUS_OK ? swap_commit(&f->swap) : rc;
}

status result_close(result_file **file, int keep) {
  result_file *f = *file;
  status rc = STATUS_OK;
  if (f == NULL) return STATUS_OK;
  *file = NULL;
  if (f->file >= 0) {
    /* the flush makes every rank's writes durable, not rank 0's alone */
    if (keep && f->failed == STATUS_OK && H5Fflush(f->file, H5F_SCOPE_GLOBAL) < 0) {
      rc = h5_fail(STATUS_IO, f->temporary, "flush");
    }
    if (H5Fclose(f->file) < 0 && rc == STATUS_OK) rc = h5_fail(STATUS_IO, f->temporary, "close");
  }
  if (!keep) {
    fail_clear();
    rc = STATUS_OK;
  } else if (f->failed != STATUS_OK) {
    rc = f->failed;
  }
  rc = comm_agree(f->c, rc);
  if (rc == STATUS_OK && keep) rc = comm_agree(f->c, comm_rank(f->c) == 0 ? finish(f) : STATUS_OK);
  release(&f);
  return rc;
}
