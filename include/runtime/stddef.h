/* <stddef.h> for NVRTC, which has none: 64-bit Linux. */
#ifndef RUNTIME_STDDEF_H
#define RUNTIME_STDDEF_H

typedef unsigned long size_t;
typedef long ptrdiff_t;

#define NULL 0

#endif
