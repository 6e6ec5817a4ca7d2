/* Solves by colours (triangles.h). In memory L and U take what A takes, once more; a solve with
 * both reads what a product with A reads, and 8 bytes per row for r, 32 each for weight and z,
 * whose entries of one colour lie apart. A colour has a pass and an exchange of its own: few
 * colours are better than many, and matrices with dense rows have many.
 *
 * Orders by colours couple unknowns over shorter ways than the natural order does: incomplete
 * factors take more iterations, the price of doing rows side by side. Source: Saad (2003), 12.4. */
#include "triangles.h"

#include <string.h>

#include "alloc.h"

enum { BEFORE = -1, AFTER = 1 };

/* Whether an entry of a row of colour `own` belongs to the part. */
static int belongs(int which, int32_t own, int32_t other) {
  return which == BEFORE ? other < own : other > own;
}

static void row_sets_release(linear_system *s, row_sets *r) {
  for (int32_t c = 0; c < r->colours; c++) {
    if (r->a != NULL && r->a[c] != NULL) s->kernels->solve->matrix_release(s->place, &r->a[c]);
    if (r->entry != NULL && r->entry[c].at != NULL) s->kernels->release(s->place, &r->entry[c]);
  }
  alloc_free(&r->a);
  alloc_free(&r->entry);
  memset(r, 0, sizeof *r);
}

/* Own rows, colour by colour: first[c] .. first[c + 1] of the list, ascending. */
static void sort_by_colour(const csr_block *a, const colouring *k, lidx *first, lidx *list) {
  memset(first, 0, ((size_t)k->colours + 1) * sizeof *first);
  for (lidx i = 0; i < a->rows; i++) first[k->colour[i]]++;
  for (int32_t c = 1; c <= k->colours; c++) first[c] += first[c - 1];
  for (lidx i = a->rows - 1; i >= 0; i--) list[--first[k->colour[i]]] = i;
}

/* The rows list[0 .. count) of colour c with the entries of a part. `some` has room for them. */
static void pick_rows(const csr_block *a, const double *value, const colouring *k, int which,
                      const lidx *list, lidx count, csr_block *some) {
  eidx at = 0;
  some->rows = count;
  for (lidx j = 0; j < count; j++) {
    const lidx i = list[j];
    some->offset[j] = at;
    for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
      if (!belongs(which, k->colour[i], k->colour[a->column[e]])) continue;
      some->column[at] = a->column[e];
      some->value[at++] = value[e];
    }
  }
  some->offset[count] = at;
}

static status store_rows(linear_system *s, const csr_block *some, lidx *list, row_sets *out,
                         int32_t c) {
  status rc = STATUS_OK;
  const int64_t bytes = some->rows * (int64_t)sizeof *list;
  TRY(s->kernels->solve->matrix_create(s->place, some, &out->a[c]));
  if (bytes == 0) goto done;
  TRY(s->kernels->alloc(s->place, bytes, "rows of a colour", &out->entry[c]));
  TRY(s->kernels->copy_in(s->place, out->entry[c], (hptr){list}, bytes));
done:
  return rc;
}

static status row_sets_open(linear_system *s, const csr_block *a, const double *value,
                            const colouring *k, int which, row_sets *out) {
  status rc = STATUS_OK;
  csr_block some = {.first_row = a->first_row, .columns = a->columns, .ghosts = a->ghosts};
  lidx *first = NULL, *list = NULL;
  eidx entries = 0;
  for (lidx i = 0; i < a->rows; i++) {
    for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
      entries += belongs(which, k->colour[i], k->colour[a->column[e]]);
    }
  }
  TRY(alloc_zeroed(&out->a, k->colours, sizeof(matrix *), "colours"));
  TRY(alloc_zeroed(&out->entry, k->colours, sizeof *out->entry, "colours"));
  out->colours = k->colours;
  TRY(alloc_array(&first, (int64_t)k->colours + 1, sizeof *first, "colours"));
  TRY(alloc_array(&list, a->rows, sizeof *list, "colours"));
  TRY(alloc_array(&some.offset, (int64_t)a->rows + 1, sizeof *some.offset, "rows of a colour"));
  TRY(alloc_array(&some.column, entries, sizeof *some.column, "rows of a colour"));
  TRY(alloc_array(&some.value, entries, sizeof *some.value, "rows of a colour"));
  sort_by_colour(a, k, first, list);
  for (int32_t c = 0; c < k->colours; c++) {
    lidx *rows = list + first[c];
    pick_rows(a, value, k, which, rows, first[c + 1] - first[c], &some);
    TRY(store_rows(s, &some, rows, out, c));
  }
done:
  csr_block_release(&some);
  alloc_free(&first);
  alloc_free(&list);
  return rc;
}

status triangles_open(linear_system *s, const csr_block *a, const double *value, const colouring *k,
                      int upper, triangles *out) {
  status rc = STATUS_OK;
  memset(out, 0, sizeof *out);
  TRY(row_sets_open(s, a, value, k, BEFORE, &out->lower));
  if (upper) TRY(row_sets_open(s, a, value, k, AFTER, &out->upper));
done:
  if (rc != STATUS_OK) triangles_release(s, out);
  return rc;
}

void triangles_release(linear_system *s, triangles *t) {
  row_sets_release(s, &t->lower);
  row_sets_release(s, &t->upper);
}

typedef struct colour_work {
  linear_system *s;
  const row_sets *sets;
  int32_t colour;
  vec weight, b, x;
  int keep;
} colour_work;

static status colour_part(void *context, part p) {
  const colour_work *w = context;
  return w->s->kernels->solve->relax_set(w->s->place, w->sets->a[w->colour], p,
                                         w->sets->entry[w->colour], w->weight, w->b, w->keep, w->x);
}

/* One colour; the first of a solve refers to no other. */
static status relax_colour(colour_work *w, int first) {
  if (!first) return linear_apply(w->s, w->x, colour_part, w);
  ATTEMPT(w->s, colour_part(w, PART_ALL));
  return STATUS_OK;
}

status triangles_lower(linear_system *s, const triangles *t, vec r, vec z) {
  status rc = STATUS_OK;
  colour_work w = {.s = s, .sets = &t->lower, .weight = t->weight, .b = r, .x = z};
  for (int32_t c = 0; c < t->lower.colours; c++) {
    w.colour = c;
    TRY(relax_colour(&w, c == 0));
  }
done:
  return rc;
}

status triangles_upper(linear_system *s, const triangles *t, vec z) {
  status rc = STATUS_OK;
  const vec zero = {.rows = z.rows};
  colour_work w = {.s = s, .sets = &t->upper, .weight = t->weight, .b = zero, .x = z, .keep = 1};
  /* the last colour stays as it is: there are no later ones */
  for (int32_t c = t->upper.colours - 2; c >= 0; c--) {
    w.colour = c;
    TRY(relax_colour(&w, 0));
  }
done:
  return rc;
}
