/* Matrices that travel (stream.c), for the other files of the backend. */
#ifndef CUDA_STREAM_H
#define CUDA_STREAM_H

#include "device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The two buffers and the stream of copies, once a device; stream_close accepts what was never
 * opened. */
status stream_open(device *d);
void stream_close(device *d);

/* Where the tiles of the list lie, remembered for the day the matrix has to move; and the bytes
 * that would. */
status stream_note(const sell *s, int value_bytes, const lidx *list, lidx count, matrix *m);
int64_t stream_bytes(const matrix *m);

/* Keeps the entries of `s` on the host; sorts `item`, which is uploaded afterwards. */
status stream_take(device *d, matrix *m, const sell *s, long_item *item);

/* Moves the largest matrix out of device memory; *moved 0: there is none that would make room. */
status stream_spill(device *d, int *moved);

/* Unlinks and frees the host's side; also of a matrix that never travelled. */
void stream_release(device *d, matrix *m);

/* A pass over the part's tiles in slices and its long rows, launched on `stream`. With `leave` the
 * last launch is left to the caller, in *args; stream_event() is to be recorded after it. A pass of
 * a state that has its verdict copies nothing (args->m.list_count is 0 then). */
status stream_rows(device *d, const matrix *a, part p, row_pass pass, rows_args *args,
                   cudaStream_t stream, int leave);
cudaEvent_t stream_event(const device *d);

#ifdef __cplusplus
}
#endif

#endif
