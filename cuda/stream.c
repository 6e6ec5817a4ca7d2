/* Matrices larger than the GPU's memory. Values and columns of the tiles in slices, and those of
 * long rows, stay in pinned host memory and come in chunks (stream_plan.h) with every pass;
 * vectors, the heads of slices and shapes stay on the device. There are two buffers for the whole
 * device: copies run on a stream of their own, chunk after chunk and pass after pass, each as soon
 * as its buffer's last reader is done (`used`); a kernel waits for its chunk (`arrived`). The
 * kernels are those of matrices in memory, with pointers moved so that a chunk's entries are found
 * where they would have been; sums are exact and may come in any order, so the bits are the same.
 *
 * A matrix begins so when it is larger than what is free; and when later some other allocation
 * finds no room, the largest matrix in device memory moves out (spill): nobody needs to know in
 * advance what a method will want.
 *
 * Cost of a pass: its bytes over the bandwidth between host and device, from which the kernels
 * (75 times as fast on an H200) take nothing. */
#include "stream.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "team.h"

enum { STREAM_TRIES = 8 };

/* ---- the device's side: buffers ---- */

status stream_open(device *d) {
  status rc = STATUS_OK;
  device_stream *s = &d->stream;
  const int64_t memory = d->limit > 0 ? d->limit : d->facts.memory_bytes;
  if (s->copies != NULL) goto done;
  s->room = d->small_chunks ? STREAM_LEAST : stream_buffer_bytes(memory);
  for (int i = 0; i < STREAM_BUFFERS; i++) {
    if (s->buffer[i] == NULL) {
      TRY(device_alloc(d, s->room, "a buffer for parts of the matrix", &s->buffer[i]));
    }
    if (s->arrived[i] != NULL) continue;
    TRY(device_check(d, cudaEventCreateWithFlags(&s->arrived[i], cudaEventDisableTiming),
                     "cudaEventCreate"));
    TRY(device_check(d, cudaEventCreateWithFlags(&s->used[i], cudaEventDisableTiming),
                     "cudaEventCreate"));
  }
  TRY(device_check(d, cudaStreamCreateWithFlags(&s->copies, cudaStreamNonBlocking),
                   "cudaStreamCreate"));
done:
  return rc;
}

void stream_close(device *d) {
  device_stream *s = &d->stream;
  if (s->copies != NULL) cudaStreamSynchronize(s->copies);
  for (int i = 0; i < STREAM_BUFFERS; i++) {
    if (s->buffer[i] != NULL) device_free(d, s->buffer[i]);
    if (s->arrived[i] != NULL) cudaEventDestroy(s->arrived[i]);
    if (s->used[i] != NULL) cudaEventDestroy(s->used[i]);
  }
  if (s->copies != NULL) cudaStreamDestroy(s->copies);
  memset(s, 0, sizeof *s);
}

/* ---- the matrix's side ---- */

static status pinned(device *d, int64_t bytes, void *out) {
  void *p = NULL;
  const cudaError_t error = cudaHostAlloc(&p, bytes > 0 ? (size_t)bytes : 1, cudaHostAllocDefault);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError(); /* not sticky */
    return fail(STATUS_UNAVAILABLE,
                "not enough pinned host memory for a matrix that GPU %d (%s) cannot hold: %lld "
                "bytes (%.2f GiB); use more ranks",
                d->facts.index, d->facts.name, (long long)bytes, (double)bytes / 1073741824.0);
  }
  memcpy(out, &p, sizeof p);
  return device_check(d, error, "cudaHostAlloc");
}

/* Parts of long rows lie in memory in the order of their begin. */
static int by_begin(const void *x, const void *y) {
  const long_item *a = x, *b = y;
  return a->begin < b->begin ? -1 : a->begin > b->begin;
}

static void sort_items(const matrix *m, long_item *item) {
  const lidx first = m->interior_items, all = m->view.items;
  if (all == 0) return;
  qsort(item, (size_t)first, sizeof *item, by_begin);
  qsort(item + first, (size_t)(all - first), sizeof *item, by_begin);
}

static status cut_tiles(const device *d, matrix *m) {
  status rc = STATUS_OK;
  const tile_counts *l = &m->slices;
  matrix_stream *s = &m->stream;
  TRY(stream_cut(s->tile, l->interior, d->stream.room, &s->chunk[STREAM_TILES][0],
                 &s->chunks[STREAM_TILES][0]));
  TRY(stream_cut(s->tile + l->interior, l->boundary, d->stream.room, &s->chunk[STREAM_TILES][1],
                 &s->chunks[STREAM_TILES][1]));
done:
  return rc;
}

static status cut_items(const device *d, matrix *m, const long_item *item) {
  status rc = STATUS_OK;
  matrix_stream *s = &m->stream;
  stream_extent *of = NULL;
  const lidx first = m->interior_items, all = m->view.items;
  TRY(alloc_array(&of, all, sizeof *of, "long rows"));
  for (lidx i = 0; i < all; i++) {
    of[i] = (stream_extent){item[i].begin, item[i].begin, item[i].count, item[i].count};
  }
  TRY(stream_cut(of, first, d->stream.room, &s->chunk[STREAM_LONG][0], &s->chunks[STREAM_LONG][0]));
  TRY(stream_cut(of + first, all - first, d->stream.room, &s->chunk[STREAM_LONG][1],
                 &s->chunks[STREAM_LONG][1]));
done:
  alloc_free(&of);
  return rc;
}

/* What a pass over all rows copies. */
static int64_t pass_bytes(const matrix_stream *s) {
  int64_t bytes = 0;
  for (int kind = 0; kind < STREAM_KINDS; kind++) {
    for (int side = 0; side < 2; side++) {
      for (lidx i = 0; i < s->chunks[kind][side]; i++) {
        const stream_chunk *c = &s->chunk[kind][side][i];
        bytes += c->values * s->value_bytes + c->columns * 4;
      }
    }
  }
  return bytes;
}

status stream_note(const sell *s, int value_bytes, const lidx *list, lidx count, matrix *m) {
  status rc = alloc_array(&m->stream.tile, count, sizeof *m->stream.tile, "tiles");
  if (rc != STATUS_OK) return rc;
  for (lidx i = 0; i < count; i++) {
    const lidx begin = sell_slice_begin(s, list[i]), end = sell_slice_end(s, list[i]);
    m->stream.tile[i] = (stream_extent){s->value_at[begin], s->column_at[begin],
                                        (lidx)(s->value_at[end] - s->value_at[begin]),
                                        (lidx)(s->column_at[end] - s->column_at[begin])};
  }
  m->stream.value_bytes = value_bytes;
  m->stream.values[STREAM_TILES] = s->value_at[s->slices];
  m->stream.columns[STREAM_TILES] = s->column_at[s->slices];
  m->stream.values[STREAM_LONG] = m->stream.columns[STREAM_LONG] = s->long_offset[s->long_rows];
  return STATUS_OK;
}

int64_t stream_bytes(const matrix *m) {
  const matrix_stream *s = &m->stream;
  return (s->values[STREAM_TILES] + s->values[STREAM_LONG]) * s->value_bytes +
         (s->columns[STREAM_TILES] + s->columns[STREAM_LONG]) * 4;
}

/* Host memory for all, and the chunks. */
static status make_room(device *d, matrix *m, long_item *item) {
  status rc = STATUS_OK;
  matrix_stream *s = &m->stream;
  for (int kind = 0; kind < STREAM_KINDS; kind++) {
    if (s->values[kind] == 0) continue;
    TRY(pinned(d, s->values[kind] * s->value_bytes, &s->value[kind]));
    TRY(pinned(d, s->columns[kind] * 4, &s->column[kind]));
  }
  sort_items(m, item);
done:
  return rc;
}

status stream_take(device *d, matrix *m, const sell *s, long_item *item) {
  status rc = STATUS_OK;
  matrix_stream *to = &m->stream;
  const double *value[] = {s->value, s->long_value};
  const lidx *column[] = {s->column, s->long_column};
  TRY(stream_open(d));
  TRY(make_room(d, m, item));
  for (int kind = 0; kind < STREAM_KINDS; kind++) {
    if (to->values[kind] == 0) continue;
    team_copy(d->threads, to->value[kind], value[kind], to->values[kind] * to->value_bytes);
    team_copy(d->threads, to->column[kind], column[kind], to->columns[kind] * 4);
  }
  TRY(cut_tiles(d, m));
  TRY(cut_items(d, m, item));
  m->facts.bytes += stream_bytes(m);
  m->facts.streamed_bytes = pass_bytes(to);
  m->streamed = 1;
done:
  return rc;
}

/* ---- moving out ---- */

/* The largest matrix in device memory whose going makes room; NULL: none. */
static matrix *largest(const device *d) {
  const int64_t memory = d->limit > 0 ? d->limit : d->facts.memory_bytes;
  const int64_t cost = d->stream.copies != NULL ? 0 : STREAM_BUFFERS * stream_buffer_bytes(memory);
  matrix *best = NULL;
  for (matrix *m = d->first; m != NULL; m = m->next) {
    if (m->streamed || stream_bytes(m) <= cost) continue;
    if (best == NULL || stream_bytes(m) > stream_bytes(best)) best = m;
  }
  return best;
}

static status fetch(device *d, void *to, const void *from, int64_t bytes) {
  return cuda_copy_out(d, (hptr){to}, (dptr){(void *)(uintptr_t)from}, bytes);
}

static void forget(device *d, matrix *m, const void *at) {
  for (int i = 0; i < m->rooms; i++) {
    if (m->room[i] != at) continue;
    device_free(d, m->room[i]);
    m->room[i] = m->room[--m->rooms];
    return;
  }
}

static status fetch_all(device *d, matrix *m, long_item *item) {
  status rc = STATUS_OK;
  const matrix_view *v = &m->view;
  const matrix_stream *s = &m->stream;
  const void *value[] = {v->value, v->long_value};
  const lidx *column[] = {v->column, v->long_column};
  TRY(fetch(d, item, v->item, (int64_t)v->items * (int64_t)sizeof *item));
  TRY(make_room(d, m, item));
  TRY(device_upload(d, (void *)(uintptr_t)v->item, item,
                    (int64_t)v->items * (int64_t)sizeof *item));
  for (int kind = 0; kind < STREAM_KINDS; kind++) {
    if (s->values[kind] == 0) continue;
    TRY(fetch(d, s->value[kind], value[kind], s->values[kind] * s->value_bytes));
    TRY(fetch(d, s->column[kind], column[kind], s->columns[kind] * 4));
  }
done:
  return rc;
}

static status move_out(device *d, matrix *m) {
  status rc = STATUS_OK;
  long_item *item = NULL;
  matrix_view *v = &m->view;
  TRY(alloc_array(&item, v->items, sizeof *item, "long rows"));
  TRY(device_ready(d));
  TRY(device_check(d, cudaStreamSynchronize(d->main), "kernel before a matrix moves out"));
  TRY(fetch_all(d, m, item));
  m->streamed = 1; /* from here on it has no values on the device */
  forget(d, m, v->value);
  forget(d, m, v->column);
  forget(d, m, v->long_value);
  forget(d, m, v->long_column);
  v->value = v->long_value = NULL;
  v->column = v->long_column = NULL;
  TRY(stream_open(d));
  TRY(cut_tiles(d, m));
  TRY(cut_items(d, m, item));
  m->facts.streamed_bytes = pass_bytes(&m->stream);
done:
  alloc_free(&item);
  return rc;
}

status stream_spill(device *d, int *moved) {
  matrix *m = largest(d);
  *moved = m != NULL;
  return m != NULL ? move_out(d, m) : STATUS_OK;
}

void stream_release(device *d, matrix *m) {
  matrix_stream *s = &m->stream;
  for (matrix **p = &d->first; *p != NULL; p = &(*p)->next) {
    if (*p != m) continue;
    *p = m->next;
    break;
  }
  if (m->streamed && d->stream.copies != NULL) cudaStreamSynchronize(d->stream.copies);
  for (int kind = 0; kind < STREAM_KINDS; kind++) {
    if (s->value[kind] != NULL) cudaFreeHost(s->value[kind]);
    if (s->column[kind] != NULL) cudaFreeHost(s->column[kind]);
    for (int side = 0; side < 2; side++) alloc_free(&s->chunk[kind][side]);
  }
  alloc_free(&s->tile);
}

/* ---- passes ---- */

/* Whether the state is known to have a verdict: then a pass would do nothing. Waits for the step
 * before the last one, so that copies nobody needs are few. */
static status known_verdict(device *d, const solve_state *state, int *over) {
  status rc = STATUS_OK;
  solve_state seen;
  *over = 0;
  if (state == NULL || d->state_at != state || d->sequence - d->base < 2) goto done;
  TRY(cuda_look(d, (dptr){d->state_at}, (int64_t)(d->sequence - d->base) - 1, &seen));
  *over = seen.verdict != VERDICT_NONE;
done:
  return rc;
}

/* `p` moved back by `count` elements: where element `count` is, p is. */
static const void *before(const void *p, int64_t count, size_t size) {
  return (const void *)((uintptr_t)p - (uintptr_t)count * size);
}

/* Sends a chunk into the next buffer, and makes `stream` wait for it. */
static status send(device *d, const matrix *a, int kind, const stream_chunk *c, cudaStream_t stream,
                   const void **value, const lidx **column) {
  status rc = STATUS_OK;
  device_stream *s = &d->stream;
  const matrix_stream *m = &a->stream;
  s->turn = (s->turn + 1) % STREAM_BUFFERS;
  char *to = s->buffer[s->turn], *columns = to + stream_columns_at(c);
  TRY(device_check(d, cudaStreamWaitEvent(s->copies, s->used[s->turn], 0), "cudaStreamWaitEvent"));
  if (c->values > 0) {
    TRY(device_copied(
        d,
        cudaMemcpyAsync(to, (const char *)m->value[kind] + c->value_at * m->value_bytes,
                        (size_t)(c->values * m->value_bytes), cudaMemcpyHostToDevice, s->copies),
        "copy of matrix values to the GPU"));
    TRY(device_copied(d,
                      cudaMemcpyAsync(columns, m->column[kind] + c->column_at,
                                      (size_t)c->columns * 4, cudaMemcpyHostToDevice, s->copies),
                      "copy of matrix columns to the GPU"));
  }
  d->facts.streamed_bytes += c->values * m->value_bytes + c->columns * 4;
  TRY(device_check(d, cudaEventRecord(s->arrived[s->turn], s->copies), "cudaEventRecord"));
  TRY(device_check(d, cudaStreamWaitEvent(stream, s->arrived[s->turn], 0), "cudaStreamWaitEvent"));
  *value = before(to, c->value_at, (size_t)m->value_bytes);
  *column = before(columns, c->column_at, sizeof **column);
done:
  return rc;
}

static status note_used(device *d, cudaStream_t stream) {
  return device_check(d, cudaEventRecord(d->stream.used[d->stream.turn], stream),
                      "cudaEventRecord");
}

/* Sums of the long rows of one side (0 interior, 1 boundary). */
static status long_chunks(device *d, const matrix *a, int side, row_pass pass,
                          const rows_args *args, cudaStream_t stream) {
  status rc = STATUS_OK;
  rows_args some = *args;
  for (lidx i = 0; i < a->stream.chunks[STREAM_LONG][side]; i++) {
    const stream_chunk *c = &a->stream.chunk[STREAM_LONG][side][i];
    TRY(send(d, a, STREAM_LONG, c, stream, &some.m.long_value, &some.m.long_column));
    some.m.item = a->view.item + (side ? a->interior_items : 0) + c->first;
    some.m.item_count = c->count;
    TRY(device_launched(d, kernel_long_rows(stream, &some, pass, d->long_blocks),
                        "kernel long rows"));
    TRY(note_used(d, stream));
  }
done:
  return rc;
}

/* The tiles of one side; the last chunk is left in *args, sent but not launched, where `leave`. */
static status tile_chunks(device *d, const matrix *a, int side, row_pass pass, rows_args *args,
                          cudaStream_t stream, int leave) {
  status rc = STATUS_OK;
  const lidx chunks = a->stream.chunks[STREAM_TILES][side];
  for (lidx i = 0; i < chunks; i++) {
    const stream_chunk *c = &a->stream.chunk[STREAM_TILES][side][i];
    TRY(send(d, a, STREAM_TILES, c, stream, &args->m.value, &args->m.column));
    args->m.list = a->slice_tiles + (side ? a->slices.interior : 0) + c->first;
    args->m.list_count = c->count;
    if (leave && i + 1 == chunks) break;
    TRY(device_launched(d, kernel_rows(stream, pass, args, d->row_blocks[pass]),
                        "kernel over a part of the matrix"));
    TRY(note_used(d, stream));
  }
done:
  return rc;
}

status stream_rows(device *d, const matrix *a, part p, row_pass pass, rows_args *args,
                   cudaStream_t stream, int leave) {
  status rc = STATUS_OK;
  const int from = p == PART_BOUNDARY, to = p == PART_INTERIOR ? 0 : 1;
  int over;
  TRY(known_verdict(d, args->state, &over));
  args->early = 0; /* what a kernel waits for is a copy, not the kernel before it */
  if (over) {
    args->m.list_count = args->m.item_count = 0;
    goto done;
  }
  for (int side = from; side <= to; side++) {
    TRY(long_chunks(d, a, side, pass, args, stream));
  }
  for (int side = from; side <= to; side++) {
    const int last = side == to || a->slices.boundary == 0;
    TRY(tile_chunks(d, a, side, pass, args, stream, leave && last));
    if (last) break;
  }
done:
  return rc;
}

cudaEvent_t stream_event(const device *d) { return d->stream.used[d->stream.turn]; }

/* ---- for benchmarks ---- */

status cuda_stream_rate(device *d, int64_t bytes, double *rate) {
  status rc = STATUS_OK;
  char *from = NULL;
  cudaEvent_t start = NULL, end = NULL;
  float milliseconds = 0.0f;
  TRY(stream_open(d));
  const int64_t room = d->stream.room, pieces = bytes / room > 0 ? bytes / room : 1;
  TRY(pinned(d, pieces * room, &from));
  memset(from, 1, (size_t)(pieces * room));
  TRY(device_check(d, cudaEventCreate(&start), "cudaEventCreate"));
  TRY(device_check(d, cudaEventCreate(&end), "cudaEventCreate"));
  *rate = 0.0;
  for (int t = 0; t < STREAM_TRIES; t++) {
    TRY(device_check(d, cudaEventRecord(start, d->stream.copies), "cudaEventRecord"));
    for (int64_t i = 0; i < pieces; i++) {
      TRY(device_check(d,
                       cudaMemcpyAsync(d->stream.buffer[i % STREAM_BUFFERS], from + i * room,
                                       (size_t)room, cudaMemcpyHostToDevice, d->stream.copies),
                       "copy to the GPU"));
    }
    TRY(device_check(d, cudaEventRecord(end, d->stream.copies), "cudaEventRecord"));
    TRY(device_check(d, cudaEventSynchronize(end), "copy to the GPU"));
    TRY(device_check(d, cudaEventElapsedTime(&milliseconds, start, end), "cudaEventElapsedTime"));
    const double now = (double)(pieces * room) / ((double)milliseconds * 1e-3);
    if (now > *rate) *rate = now;
  }
done:
  if (start != NULL) cudaEventDestroy(start);
  if (end != NULL) cudaEventDestroy(end);
  if (from != NULL) cudaFreeHost(from);
  return rc;
}
