/* One slice of a sell while it is built: how its entries can be kept, and keeping them so. */
#ifndef SELL_SLICE_H
#define SELL_SLICE_H

#include "sell.h"

/* kind and base of a slice, whose lengths and places are known. */
void slice_measure(sell *s, const csr_block *a, lidx slice, lidx tile);

/* Its entries. Padding is zero, so that hashes of storage are reproducible. */
void slice_fill(sell *s, const csr_block *a, lidx slice, lidx tile);

#endif
