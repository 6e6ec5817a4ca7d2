/* Rows of other ranks, and entries for them (row_exchange.h). Each rank finds the owners of what it
 * wants or sends by one pass, tells every owner how much (comm_transpose), and the bytes travel by
 * comm_exchange: for rows the indices one way, then lengths, columns and values the other.
 *
 * What arrives of entries is sorted by row (counting, stable), then each row by column (merging
 * runs, stable): O(n log longest row). Memory beside the results: eight words per rank and, once,
 * what is sent. */
#include "row_exchange.h"

#include <string.h>

#include "alloc.h"

/* Counts and offsets per rank of what goes out and what comes in, in elements. */
typedef struct traffic {
  int size;
  int64_t *word; /* all of the below, and as much scratch */
  int64_t *out, *out_at, *in, *in_at;
  int64_t outs, ins; /* sums */
} traffic;

static status traffic_open(comm *c, traffic *t) {
  const int64_t size = comm_size(c);
  memset(t, 0, sizeof *t);
  t->size = (int)size;
  status rc = alloc_zeroed(&t->word, 8 * size, sizeof *t->word, "row exchange");
  if (rc != STATUS_OK) return rc;
  t->out = t->word;
  t->out_at = t->word + size;
  t->in = t->word + 2 * size;
  t->in_at = t->word + 3 * size;
  return rc;
}

/* out[] is set: the rest, from everybody's. */
static status traffic_meet(comm *c, traffic *t) {
  status rc = comm_transpose(c, t->out, t->in);
  t->outs = t->ins = 0;
  for (int r = 0; r < t->size; r++) {
    t->out_at[r] = t->outs;
    t->in_at[r] = t->ins;
    t->outs += t->out[r];
    t->ins += t->in[r];
  }
  return rc;
}

/* Moves elements of 8 bytes along (`back`: against) the traffic. */
static status traffic_move(comm *c, traffic *t, const void *send, void *receive, int back) {
  int64_t *bytes = t->word + 4 * (int64_t)t->size;
  for (int64_t i = 0; i < 4 * (int64_t)t->size; i++) bytes[i] = 8 * t->word[i];
  int64_t *out = bytes, *out_at = out + t->size, *in = out_at + t->size, *in_at = in + t->size;
  return back ? comm_exchange(c, send, in, in_at, receive, out, out_at)
              : comm_exchange(c, send, out, out_at, receive, in, in_at);
}

static void traffic_release(traffic *t) { alloc_free(&t->word); }

/* ---- rows ---- */

static status count_rows(const ownership *o, const gidx *wanted, lidx count, traffic *t) {
  int owner = 0;
  for (lidx i = 0; i < count; i++) {
    const gidx row = wanted[i];
    const int bad = row < 0 || row >= o->rows || (i > 0 && row <= wanted[i - 1]);
    if (!bad && row >= o->first[owner + 1]) owner = ownership_owner(o, row);
    if (bad || owner == o->rank) {
      return fail(STATUS_BUG, "row %lld of %lld is out of order, out of range or owned here",
                  (long long)row, (long long)o->rows);
    }
    t->out[owner]++;
  }
  return STATUS_OK;
}

/* What the owners send: lengths of the rows asked for, then their entries, by asking rank. */
typedef struct reply {
  traffic entries; /* out: to us, in: from us */
  gidx *row;       /* [asked] */
  int64_t *length; /* [asked] */
  gidx *column;
  double *value;
} reply;

static void reply_release(reply *p) {
  traffic_release(&p->entries);
  alloc_free(&p->row);
  alloc_free(&p->length);
  alloc_free(&p->column);
  alloc_free(&p->value);
}

/* Entries of the rows asked of us, one after the other. */
static status fill_reply(const csr_rows *mine, int64_t asked, reply *p) {
  status rc = STATUS_OK;
  int64_t entries = 0;
  for (int64_t i = 0; i < asked; i++) entries += p->length[i];
  TRY(alloc_array(&p->column, entries, sizeof *p->column, "columns of rows asked for"));
  TRY(alloc_array(&p->value, entries, sizeof *p->value, "values of rows asked for"));
  entries = 0;
  for (int64_t i = 0; i < asked; i++) {
    const size_t length = (size_t)p->length[i];
    if (length == 0) continue;
    const eidx from = mine->offset[p->row[i] - mine->first_row];
    memcpy(p->column + entries, mine->column + from, length * sizeof *p->column);
    memcpy(p->value + entries, mine->value + from, length * sizeof *p->value);
    entries += p->length[i];
  }
done:
  return rc;
}

/* The traffic of entries, from that of rows and their lengths on both sides. */
static void count_entries(const traffic *t, const reply *p, const int64_t *length, traffic *e) {
  for (int r = 0; r < t->size; r++) {
    e->out_at[r] = e->outs;
    e->in_at[r] = e->ins;
    e->out[r] = e->in[r] = 0;
    for (int64_t i = 0; i < t->out[r]; i++) e->out[r] += length[t->out_at[r] + i];
    for (int64_t i = 0; i < t->in[r]; i++) e->in[r] += p->length[t->in_at[r] + i];
    e->outs += e->out[r];
    e->ins += e->in[r];
  }
}

static status fetch_lengths(comm *c, const csr_rows *mine, const gidx *wanted, traffic *t, reply *p,
                            csr_rows *out) {
  status rc = STATUS_OK;
  rc = traffic_open(c, &p->entries);
  if (rc == STATUS_OK) rc = alloc_array(&p->row, t->ins, sizeof *p->row, "rows asked for");
  if (rc == STATUS_OK) rc = alloc_array(&p->length, t->ins, sizeof *p->length, "rows asked for");
  if (rc == STATUS_OK) {
    rc = alloc_array(&out->offset, t->outs + 1, sizeof *out->offset, "fetched rows");
  }
  TRY(comm_agree(c, rc));
  TRY(traffic_move(c, t, wanted, p->row, 0));
  for (int64_t i = 0; i < t->ins; i++) {
    const gidx at = p->row[i] - mine->first_row;
    if (at < 0 || at >= mine->rows) {
      rc = fail(STATUS_BUG, "row %lld was asked of a rank that does not own it",
                (long long)p->row[i]);
      break;
    }
    p->length[i] = mine->offset[at + 1] - mine->offset[at];
  }
  TRY(comm_agree(c, rc));
  TRY(traffic_move(c, t, p->length, out->offset + 1, 1));
  out->offset[0] = 0;
  count_entries(t, p, out->offset + 1, &p->entries);
  for (int64_t i = 0; i < t->outs; i++) out->offset[i + 1] += out->offset[i];
done:
  return rc;
}

status rows_fetch(comm *c, const ownership *owned, const csr_rows *mine, const gidx *wanted,
                  lidx count, csr_rows *out) {
  status rc = STATUS_OK;
  traffic t;
  reply p;
  memset(&p, 0, sizeof p);
  memset(out, 0, sizeof *out);
  rc = traffic_open(c, &t);
  if (rc == STATUS_OK) rc = count_rows(owned, wanted, count, &t);
  TRY(comm_agree(c, rc));
  TRY(traffic_meet(c, &t));
  TRY(fetch_lengths(c, mine, wanted, &t, &p, out));
  rc = fill_reply(mine, t.ins, &p);
  const int64_t entries = p.entries.outs;
  if (rc == STATUS_OK) rc = alloc_array(&out->column, entries, sizeof(gidx), "fetched columns");
  if (rc == STATUS_OK) rc = alloc_array(&out->value, entries, sizeof(double), "fetched values");
  TRY(comm_agree(c, rc));
  TRY(traffic_move(c, &p.entries, p.column, out->column, 1));
  TRY(traffic_move(c, &p.entries, p.value, out->value, 1));
  out->global_rows = mine->global_rows;
  out->global_columns = mine->global_columns;
  out->first_row = -1;
  out->rows = count;
done:
  reply_release(&p);
  traffic_release(&t);
  if (rc != STATUS_OK) csr_rows_release(out);
  return rc;
}

/* ---- entries ---- */

void entry_list_release(entry_list *l) {
  alloc_free(&l->row);
  alloc_free(&l->column);
  alloc_free(&l->value);
  memset(l, 0, sizeof *l);
}

static status list_open(int64_t count, entry_list *l) {
  status rc = STATUS_OK;
  l->count = count;
  TRY(alloc_array(&l->row, count, sizeof *l->row, "entries to deliver"));
  TRY(alloc_array(&l->column, count, sizeof *l->column, "entries to deliver"));
  TRY(alloc_array(&l->value, count, sizeof *l->value, "entries to deliver"));
done:
  return rc;
}

static void list_put(entry_list *to, int64_t at, const entry_list *from, int64_t i) {
  to->row[at] = from->row[i];
  to->column[at] = from->column[i];
  to->value[at] = from->value[i];
}

/* Where the entries go; neighbours in a list mostly have the same owner. */
static status count_owners(const ownership *o, const entry_list *l, traffic *t) {
  int owner = 0;
  for (int64_t i = 0; i < l->count; i++) {
    const gidx row = l->row[i];
    if (row < 0 || row >= o->rows) {
      return fail(STATUS_BUG, "an entry of row %lld, of %lld rows", (long long)row,
                  (long long)o->rows);
    }
    if (row < o->first[owner] || row >= o->first[owner + 1]) owner = ownership_owner(o, row);
    t->out[owner]++;
  }
  return STATUS_OK;
}

/* By owner, in the list's order. */
static void group(const ownership *o, const entry_list *l, traffic *t, entry_list *to) {
  int owner = 0;
  int64_t *next = t->word + 4 * (int64_t)t->size;
  memcpy(next, t->out_at, (size_t)t->size * sizeof *next);
  for (int64_t i = 0; i < l->count; i++) {
    const gidx row = l->row[i];
    if (row < o->first[owner] || row >= o->first[owner + 1]) owner = ownership_owner(o, row);
    list_put(to, next[owner]++, l, i);
  }
}

/* One row's places by column: runs of 1, 2, 4 ... are merged from one array into the other. */
static void sort_row(const gidx *column, int64_t *place, int64_t *spare, int64_t count) {
  int64_t *from = place, *to = spare;
  for (int64_t run = 1; run < count; run *= 2) {
    for (int64_t begin = 0; begin < count; begin += 2 * run) {
      const int64_t middle = begin + run < count ? begin + run : count;
      const int64_t end = middle + run < count ? middle + run : count;
      int64_t i = begin, j = middle;
      for (int64_t k = begin; k < end; k++) {
        const int left = i < middle && (j == end || column[from[i]] <= column[from[j]]);
        to[k] = left ? from[i++] : from[j++];
      }
    }
    int64_t *other = from;
    from = to;
    to = other;
  }
  if (from != place) memcpy(place, from, (size_t)count * sizeof *place);
}

/* The arrived entries by row and column, stable. */
static status sort_list(const ownership *o, const entry_list *l, entry_list *out) {
  status rc = STATUS_OK;
  const gidx first = ownership_begin(o), rows = ownership_end(o) - first;
  int64_t *end = NULL, *place = NULL, *spare = NULL;
  TRY(alloc_zeroed(&end, rows + 1, sizeof *end, "entries by row"));
  TRY(alloc_array(&place, l->count, sizeof *place, "entries by row"));
  TRY(alloc_array(&spare, l->count, sizeof *spare, "entries by row"));
  TRY(list_open(l->count, out));
  for (int64_t i = 0; i < l->count; i++) end[l->row[i] - first + 1]++;
  for (gidx i = 0; i < rows; i++) end[i + 1] += end[i];
  for (int64_t i = 0; i < l->count; i++) place[end[l->row[i] - first]++] = i;
  for (gidx i = 0; i < rows; i++) {
    const int64_t begin = i == 0 ? 0 : end[i - 1];
    sort_row(l->column, place + begin, spare + begin, end[i] - begin);
  }
  for (int64_t i = 0; i < l->count; i++) list_put(out, i, l, place[i]);
done:
  alloc_free(&end);
  alloc_free(&place);
  alloc_free(&spare);
  return rc;
}

status entries_deliver(comm *c, const ownership *owned, const entry_list *mine, entry_list *out) {
  status rc = STATUS_OK;
  traffic t;
  entry_list grouped, arrived;
  memset(&grouped, 0, sizeof grouped);
  memset(&arrived, 0, sizeof arrived);
  memset(out, 0, sizeof *out);
  rc = traffic_open(c, &t);
  if (rc == STATUS_OK) rc = count_owners(owned, mine, &t);
  TRY(comm_agree(c, rc));
  TRY(traffic_meet(c, &t));
  rc = list_open(t.outs, &grouped);
  if (rc == STATUS_OK) rc = list_open(t.ins, &arrived);
  TRY(comm_agree(c, rc));
  group(owned, mine, &t, &grouped);
  TRY(traffic_move(c, &t, grouped.row, arrived.row, 0));
  TRY(traffic_move(c, &t, grouped.column, arrived.column, 0));
  TRY(traffic_move(c, &t, grouped.value, arrived.value, 0));
  entry_list_release(&grouped);
  TRY(comm_agree(c, sort_list(owned, &arrived, out)));
done:
  traffic_release(&t);
  entry_list_release(&grouped);
  entry_list_release(&arrived);
  if (rc != STATUS_OK) entry_list_release(out);
  return rc;
}
