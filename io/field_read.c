/* A field out of an HDF5 dataset (field_io.h). Rank 0 looks at the file first, so that a wrong one
 * is one rank's error; then every rank opens it for itself and reads its planes. Any layout and
 * compression that HDF5 reads. Cost: each rank reads its own part. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "field_internal.h"
#include "file_name.h"
#include "h5.h"

enum { PATH = 4096, SHAPE = 200 };

struct field_source {
  char path[PATH], name[PATH];
  heat_grid grid;
  int64_t wanted; /* the time asked for; -1: the last */
  int table;      /* rows of numbers: no times unless one is asked for */
  hid_t file, set;
  int dims;       /* of the dataset */
  int directions; /* of them; the one more is time */
  hsize_t time;
};

int field_is_file(const char *text) {
  const char *rest = "";
  return file_name_data(text, &rest) > 0;
}

/* "/name[K]" -> name, K. */
static status take_name(field_source *s, const char *text, const char *rest) {
  const char *open = strrchr(rest, '[');
  s->wanted = -1;
  if (open == NULL || rest[strlen(rest) - 1] != ']') {
    snprintf(s->name, sizeof s->name, "%s", rest[0] == '\0' ? FIELD_DATASET : rest);
    return STATUS_OK;
  }
  char *end;
  s->wanted = strtoll(open + 1, &end, 10);
  if (end == open + 1 || strcmp(end, "]") != 0 || s->wanted < 0) {
    return fail(STATUS_INPUT, "%s: expected FILE:/DATASET[K], K a time counted from 0", text);
  }
  snprintf(s->name, sizeof s->name, "%.*s", (int)(open - rest), rest);
  return STATUS_OK;
}

static void write_shape(const hsize_t *extent, int dims, char out[SHAPE]) {
  int used = snprintf(out, SHAPE, "(");
  for (int d = 0; d < dims && used < SHAPE; d++) {
    used += snprintf(out + used, (size_t)(SHAPE - used), "%s%llu", d == 0 ? "" : ", ",
                     (unsigned long long)extent[d]);
  }
  if (used < SHAPE - 1) snprintf(out + used, (size_t)(SHAPE - used), ")");
}

/* The grid's directions, slowest first. */
static int fits(const heat_grid *g, int directions, const hsize_t *extent) {
  for (int d = 0; d < directions; d++) {
    if (extent[d] != (hsize_t)g->n[directions - 1 - d]) return 0;
  }
  return 1;
}

/* How many of the dataset's dimensions are directions, with time in front of them or not; 0:
 * another shape. Slowest directions of one point may be there or not. */
static int match(const field_source *s, const hsize_t *extent) {
  const heat_grid *g = &s->grid;
  for (int d = field_directions(g); d <= HEAT_DIMS && !(s->table && s->wanted < 0); d++) {
    if (s->dims == d + 1 && fits(g, d, extent + 1)) return d;
  }
  return s->dims <= HEAT_DIMS && s->dims >= field_directions(g) && fits(g, s->dims, extent)
             ? s->dims
             : 0;
}

static status check_shape(field_source *s) {
  enum { MOST = 32 };
  const heat_grid *g = &s->grid;
  hsize_t extent[MOST] = {0}, expected[HEAT_DIMS] = {0};
  char found[SHAPE], wanted[SHAPE];
  hid_t space = H5Dget_space(s->set);
  s->dims = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
  if (s->dims > 0) H5Sget_simple_extent_dims(space, extent, NULL);
  if (space >= 0) H5Sclose(space);
  s->directions = s->dims > 0 ? match(s, extent) : 0;
  const int timed = s->dims > s->directions;
  for (int d = 0; d < g->dims; d++) expected[d] = (hsize_t)g->n[g->dims - 1 - d];
  write_shape(expected, g->dims, wanted);
  if (s->directions == 0) {
    write_shape(extent, s->dims < 0 ? 0 : s->dims, found);
    return fail(STATUS_INPUT, "%s: dataset %s has shape %s, expected %s, %s", s->path, s->name,
                found, s->table ? "a row a trajectory" : "that of the grid", wanted);
  }
  if (!timed && s->wanted >= 0) {
    return fail(STATUS_INPUT, "%s: dataset %s has no times, and [%lld] asks for one", s->path,
                s->name, (long long)s->wanted);
  }
  if (timed && (extent[0] == 0 || s->wanted >= (int64_t)extent[0])) {
    return fail(STATUS_INPUT, "%s: dataset %s has %llu times, expected one numbered %lld", s->path,
                s->name, (unsigned long long)extent[0], (long long)(s->wanted < 0 ? 0 : s->wanted));
  }
  s->time = timed ? (s->wanted < 0 ? extent[0] - 1 : (hsize_t)s->wanted) : 0;
  return STATUS_OK;
}

static status check_type(const field_source *s) {
  hid_t type = H5Dget_type(s->set);
  const H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
  if (type >= 0) H5Tclose(type);
  if (class == H5T_FLOAT || class == H5T_INTEGER) return STATUS_OK;
  return fail(STATUS_INPUT, "%s: dataset %s holds no numbers", s->path, s->name);
}

static int read_three(hid_t file, const char *name, double out[HEAT_DIMS]) {
  hid_t at = H5Aopen_by_name(file, "/VTKHDF", name, H5P_DEFAULT, H5P_DEFAULT);
  hid_t space = at < 0 ? -1 : H5Aget_space(at);
  const int good = space >= 0 && H5Sget_simple_extent_npoints(space) == HEAT_DIMS &&
                   H5Aread(at, H5T_NATIVE_DOUBLE, out) >= 0;
  if (space >= 0) H5Sclose(space);
  if (at >= 0) H5Aclose(at);
  return good;
}

/* A field of VTKHDF lies on a grid of its own, which must be this one. */
static status check_grid(const field_source *s) {
  const heat_grid *g = &s->grid;
  double origin[HEAT_DIMS], spacing[HEAT_DIMS];
  if (strncmp(s->name, "/VTKHDF/", strlen("/VTKHDF/")) != 0 ||
      !read_three(s->file, "Origin", origin) || !read_three(s->file, "Spacing", spacing)) {
    return STATUS_OK;
  }
  for (int d = 0; d < g->dims; d++) {
    if (origin[d] == g->origin[d] && spacing[d] == g->spacing[d]) continue;
    return fail(STATUS_INPUT,
                "%s: its grid starts at %c = %.17g with spacing %.17g, expected that of this run, "
                "%.17g and %.17g",
                s->path, "xyz"[d], origin[d], spacing[d], g -> origin[d], g -> spacing[d]);
  }
  return STATUS_OK;
}

static status open_set(field_source *s) {
  status rc = STATUS_OK;
  TRY(h5_start());
  TRY(h5_open_alone(s->path, H5F_ACC_RDONLY, STATUS_INPUT, &s->file));
  s->set = H5Dopen2(s->file, s->name, H5P_DEFAULT);
  if (s->set < 0) {
    rc = fail(STATUS_INPUT, "%s: has no dataset %s; expected FILE:/DATASET", s->path, s->name);
    goto done;
  }
  TRY(check_type(s));
  TRY(check_shape(s));
  TRY(check_grid(s));
done:
  return rc;
}

static status prepare_source(const char *text, const heat_grid *g, field_source **out) {
  const char *rest = "";
  const size_t length = file_name_data(text, &rest);
  if (length >= PATH || strlen(rest) >= PATH) {
    return fail(STATUS_INPUT, "the file name is too long: %.60s", text);
  }
  status rc = alloc_zeroed(out, 1, sizeof **out, "field source");
  if (rc != STATUS_OK) return rc;
  field_source *s = *out;
  s->file = s->set = -1;
  s->grid = *g;
  snprintf(s->path, sizeof s->path, "%.*s", (int)length, text);
  return take_name(s, text, rest);
}

static status open_source(comm *c, const char *text, const heat_grid *g, int table,
                          field_source **out) {
  status rc = STATUS_OK;
  const int leads = comm_rank(c) == 0;
  *out = NULL;
  rc = prepare_source(text, g, out);
  if (rc == STATUS_OK) (*out)->table = table;
  if (rc == STATUS_OK && leads) rc = open_set(*out);
  TRY(comm_agree(c, rc));
  TRY(comm_agree(c, leads ? STATUS_OK : open_set(*out)));
done:
  if (rc != STATUS_OK) field_source_close(out);
  return rc;
}

status field_open(comm *c, const char *text, const heat_grid *g, field_source **out) {
  return open_source(c, text, g, 0, out);
}

status field_open_rows(comm *c, const char *text, int64_t rows, int64_t width, field_source **out) {
  const heat_grid line = {.dims = 1, .n = {rows, 1, 1}}, g = {.dims = 2, .n = {width, rows, 1}};
  if (width > 1) return open_source(c, text, &g, 1, out);
  const status rc = open_source(c, text, &g, 1, out); /* (rows, 1), as results have it */
  if (rc != STATUS_INPUT) return rc;
  fail_clear();
  return open_source(c, text, &line, 1, out);
}

/* The file's space with these planes selected: they are those of the last direction that has any,
 * which comes first among those of the dataset. */
static hid_t select_planes(const field_source *s, int64_t first, int64_t planes) {
  hsize_t start[HEAT_DIMS + 1] = {0}, count[HEAT_DIMS + 1];
  const heat_grid *g = &s->grid;
  for (int i = 0; i < s->dims; i++) {
    const int d = s->dims - 1 - i; /* direction */
    const int is_time = d == s->directions;
    start[i] = is_time ? s->time : 0;
    count[i] = is_time ? 1 : (hsize_t)g->n[d];
    if (is_time || d != g->dims - 1) continue;
    start[i] = (hsize_t)first;
    count[i] = (hsize_t)planes;
  }
  hid_t space = H5Dget_space(s->set);
  if (space < 0) return space;
  if (H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0) return space;
  H5Sclose(space);
  return -1;
}

status field_planes(field_source *s, int64_t first, int64_t planes, double *values) {
  if (planes == 0) return STATUS_OK;
  const hsize_t points = (hsize_t)(planes * field_plane(&s->grid));
  hid_t ids[2] = {select_planes(s, first, planes), H5Screate_simple(1, &points, NULL)};
  status rc = STATUS_OK;
  if (ids[0] < 0 || ids[1] < 0 ||
      H5Dread(s->set, H5T_NATIVE_DOUBLE, ids[1], ids[0], H5P_DEFAULT, values) < 0) {
    rc = h5_fail(STATUS_INPUT, s->path, "read");
  }
  h5_close_all(ids, 2);
  return rc;
}

void field_source_close(field_source **s) {
  if (*s == NULL) return;
  if ((*s)->set >= 0) H5Dclose((*s)->set);
  if ((*s)->file >= 0) H5Fclose((*s)->file);
  alloc_free(s);
}
