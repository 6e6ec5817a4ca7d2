/* CRC-32C (Castagnoli), the checksum of checkpoints: by the processor's instruction, three streams
 * at a time, and pieces that can be put together: the checksum of a block is found from parts that
 * lie on different ranks. */
#ifndef CRC32C_H
#define CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The register after `bytes` bytes, started from `from`; nothing is inverted, so it is linear:
 * crc32c_run(a ^ b, ...) = crc32c_run(a, ...) ^ (b moved on). Local. */
uint32_t crc32c_run(uint32_t from, const void *data, size_t bytes);

/* The register after `bytes` zero bytes: a piece followed by that much of something else. */
uint32_t crc32c_shift(uint32_t crc, uint64_t bytes);

/* The usual checksum, of pieces already put together: ones in front, inverted at the end. */
uint32_t crc32c_close(uint32_t pieces, uint64_t bytes);

/* The usual checksum of one array. */
uint32_t crc32c(const void *data, size_t bytes);

#endif
