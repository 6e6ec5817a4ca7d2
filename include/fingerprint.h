/* Fingerprint of a distributed vector: the sum, modulo 2^64, of a mix of each element's global
 * index and bits. Ranks add their own elements in any order and the sums once more; two vectors
 * have equal bits exactly when their fingerprints agree (but for chance, 2^-64). Every NaN counts
 * as the same one: its payload differs between processors. +0.0 and -0.0 differ.
 * The mix is the finaliser of SplitMix64 (Steele, Lea, Flood 2014), applied twice. */
#ifndef FINGERPRINT_H
#define FINGERPRINT_H

#include "portable.h"

enum { FINGERPRINT_TEXT = 17 }; /* 16 digits and the end of the string */

PORTABLE uint64_t fingerprint_mix(uint64_t z) {
  z += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

/* The part of one element. */
PORTABLE uint64_t fingerprint_element(int64_t global_index, double x) {
  uint64_t bits = x != x ? UINT64_C(0x7ff8) << 48 : bits_of(x);
  return fingerprint_mix(bits ^ fingerprint_mix((uint64_t)global_index));
}

/* The part of elements [first, first + count) held at x. */
PORTABLE uint64_t fingerprint_of(const double *x, int64_t first, int64_t count) {
  uint64_t sum = 0;
  for (int64_t i = 0; i < count; i++) sum += fingerprint_element(first + i, x[i]);
  return sum;
}

/* FNV-1a of bytes, to tell apart a few texts or structures of one run; starts from
 * FINGERPRINT_BASIS, or goes on from what came before. */
#define FINGERPRINT_BASIS UINT64_C(14695981039346656037)
PORTABLE uint64_t fingerprint_bytes(uint64_t hash, const void *bytes, int64_t count) {
  const unsigned char *p = (const unsigned char *)bytes;
  for (int64_t i = 0; i < count; i++) hash = (hash ^ p[i]) * UINT64_C(1099511628211);
  return hash;
}

/* 16 lower-case hexadecimal digits. */
PORTABLE void fingerprint_text(uint64_t fingerprint, char text[FINGERPRINT_TEXT]) {
  for (int i = 0; i < 16; i++) {
    int digit = (int)(fingerprint >> (60 - 4 * i) & 15);
    text[i] = (char)(digit < 10 ? '0' + digit : 'a' + digit - 10);
  }
  text[16] = '\0';
}

#endif
