/* Which kind a stored file is, and its arrays whatever the kind (stored.h). */
#include "stored.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "file_name.h"

static const unsigned char hdf5_signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

static void split(const char *path, stored_file *f) {
  const char *name = "";
  const size_t length = file_name_data(path, &name);
  snprintf(f->path, sizeof f->path, "%.*s", (int)(length == 0 ? strlen(path) : length), path);
  snprintf(f->name, sizeof f->name, "%s", name);
}

/* The class number a PETSc file starts with, in 4 or 8 bytes. */
static int is_petsc(const unsigned char *head) {
  static const unsigned char zero[4] = {0};
  const unsigned char *word = memcmp(head, zero, 4) == 0 ? head + 4 : head;
  const uint32_t number =
      (uint32_t)word[0] << 24 | (uint32_t)word[1] << 16 | (uint32_t)word[2] << 8 | word[3];
  return number == PETSC_MAT || number == PETSC_VEC;
}

/* HDF5 may have a user block of 512, 1024, ... bytes in front. */
static stored_kind recognise(byte_source *s) {
  unsigned char head[8] = {0};
  int64_t got;
  if (byte_source_read(s, 0, head, sizeof head, &got) != STATUS_OK || got < 8) return STORED_NOT;
  if (is_petsc(head)) return STORED_PETSC;
  for (int64_t at = 0; at + 8 <= s->size; at = at == 0 ? 512 : 2 * at) {
    if (byte_source_read(s, at, head, sizeof head, &got) != STATUS_OK) break;
    if (memcmp(head, hdf5_signature, sizeof head) == 0) return STORED_HDF5;
  }
  return STORED_NOT;
}

/* Rank 0. */
static stored_kind look(const char *path) {
  stored_kind kind = STORED_NOT;
  stored_file f;
  byte_source source;
  split(path, &f);
  if (byte_source_open(f.path, &source) == STATUS_OK) {
    kind = recognise(&source);
    byte_source_close(&source);
  }
  fail_clear();
  return kind;
}

status stored_recognise(comm *c, const char *path, stored_kind *out) {
  int64_t kind = comm_rank(c) == 0 ? look(path) : STORED_NOT;
  status rc = comm_broadcast(c, &kind, sizeof kind, 0);
  *out = (stored_kind)kind;
  return rc;
}

status stored_open(const char *path, stored_file *f) {
  memset(f, 0, sizeof *f);
  f->source.descriptor = -1;
  f->file = f->set[0] = f->set[1] = f->set[2] = -1;
  split(path, f);
  status rc = byte_source_open(f->path, &f->source);
  if (rc != STATUS_OK) return rc;
  f->kind = recognise(&f->source);
  return f->kind == STORED_PETSC ? petsc_open(f) : csr_group_open(f);
}

void stored_close(stored_file *f) {
  if (f->kind == STORED_HDF5) csr_group_close(f);
  byte_source_close(&f->source);
}

status stored_lengths(stored_file *f, gidx first, int64_t count, int64_t *out) {
  return f->kind == STORED_PETSC ? petsc_lengths(f, first, count, out)
                                 : csr_group_lengths(f, first, count, out);
}

static status check_columns(const stored_file *f, int64_t first, int64_t count,
                            const gidx *column) {
  for (int64_t i = 0; i < count; i++) {
    if (column[i] >= 0 && column[i] < f->columns) continue;
    return fail(STATUS_INPUT,
                "%s%s%s: column indices: entry %" PRId64 " (counted from 0) has column %" PRId64
                ", expected 0..%" PRId64,
                f->path, f->name[0] == '\0' ? "" : ":", f->name, first + i, column[i],
                f->columns - 1);
  }
  return STATUS_OK;
}

static status check_values(const stored_file *f, int64_t first, int64_t count,
                           const double *value) {
  for (int64_t i = 0; i < count; i++) {
    if (value[i] - value[i] == 0.0) continue;
    return fail(STATUS_INPUT, "%s: value number %" PRId64 " (counted from 0) is not finite",
                f->path, first + i);
  }
  return STATUS_OK;
}

status stored_entries(stored_file *f, int64_t first, int64_t count, gidx *column, double *value) {
  status rc = STATUS_OK;
  if (f->kind == STORED_PETSC) {
    TRY(petsc_columns(f, first, count, column));
    TRY(petsc_values(f, f->values_at, first, count, value));
  } else {
    TRY(csr_group_columns(f, first, count, column));
    TRY(csr_group_values(f, first, count, value));
  }
  TRY(check_columns(f, first, count, column));
  TRY(check_values(f, first, count, value));
done:
  return rc;
}

status stored_numbers(stored_file *f, int64_t first, int64_t count, double *out) {
  status rc = f->kind == STORED_PETSC
                  ? petsc_values(f, f->entries < 0 ? f->values_at : f->rhs_at, first, count, out)
                  : csr_group_values(f, first, count, out);
  return rc == STATUS_OK ? check_values(f, first, count, out) : rc;
}
