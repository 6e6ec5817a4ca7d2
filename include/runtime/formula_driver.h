/* A formula_batch around formula_chunk() (formula_host.h). Inputs that are arrays are read in
 * place; shared values are spread once, records gathered chunk by chunk. */
FORMULA_EXPORT void formula_batch_main(const void *context, int64_t n, const formula_input *in,
                                       double *const *out) {
  double kept[FORMULA_PLACES + 1][FORMULA_CHUNK];
  const double *v[FORMULA_PLACES + 1];
  double *o[FORMULA_OUTPUTS];
  for (int j = 0; j < FORMULA_PLACES; j++) {
    const formula_input f = in[formula_input_at[j]];
    for (int64_t i = 0; i < FORMULA_CHUNK && i < n && f.step == 0; i++) kept[j][i] = *f.at;
  }
  for (int64_t begin = 0; begin < n; begin += FORMULA_CHUNK) {
    const int64_t count = n - begin < FORMULA_CHUNK ? n - begin : FORMULA_CHUNK;
    for (int j = 0; j < FORMULA_PLACES; j++) {
      const formula_input f = in[formula_input_at[j]];
      v[j] = f.step == 1 ? f.at + begin : kept[j];
      if (f.step == 0 || f.step == 1) continue;
      for (int64_t i = 0; i < count; i++) kept[j][i] = f.at[(begin + i) * f.step];
    }
    for (int k = 0; k < FORMULA_OUTPUTS; k++) o[k] = out[k] + begin;
    if (formula_chunk(count, v, o) != 0) formula_again(context, count, v, o);
  }
}
