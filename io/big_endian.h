/* Numbers of PETSc's files: big endian, integers of 4 or 8 bytes, binary64. */
#ifndef BIG_ENDIAN_H
#define BIG_ENDIAN_H

#include <stdint.h>
#include <string.h>

static inline uint64_t big_endian_get(const unsigned char *from, int width) {
  uint64_t word = 0;
  for (int i = 0; i < width; i++) word = word << 8 | from[i];
  return word;
}

static inline int64_t big_endian_signed(const unsigned char *from, int width) {
  const uint64_t word = big_endian_get(from, width);
  return width == 4 ? (int32_t)(uint32_t)word : (int64_t)word;
}

static inline void big_endian_put(const int64_t *words, int64_t count, int width, void *to) {
  unsigned char *out = to;
  for (int64_t k = 0; k < count; k++) {
    for (int i = 0; i < width; i++) {
      *out++ = (unsigned char)((uint64_t)words[k] >> 8 * (width - 1 - i));
    }
  }
}

static inline void big_endian_put_reals(const double *values, int64_t count, void *to) {
  for (int64_t k = 0; k < count; k++) {
    int64_t bits;
    memcpy(&bits, values + k, sizeof bits);
    big_endian_put(&bits, 1, 8, (unsigned char *)to + 8 * k);
  }
}

#endif
