/* A chunk again, point by point, where the text defines formula_value() (formula_host.h). */
static FORMULA_ALONE void formula_again(const void *context, int64_t n, const double *const *v,
                                        double *const *o) {
  double in[FORMULA_INPUTS + 1], out[FORMULA_OUTPUTS];
  (void)context;
  for (int64_t i = 0; i < n; i++) {
    for (int j = 0; j < FORMULA_PLACES; j++) in[formula_input_at[j]] = v[j][i];
    formula_value(in, out);
    for (int k = 0; k < FORMULA_OUTPUTS; k++) o[k][i] = out[k];
  }
}
