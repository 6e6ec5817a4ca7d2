#include "spectrum_report.h"

void spectrum_report(const spectrum *p, report *r) {
  static const char *const how[] = {"not looked at", "lanczos", "arnoldi"};
  report_open(r, "spectrum"); /* of D^-1 A */
  report_word(r, "by", how[p->how]);
  report_integer(r, "steps", p->steps);
  if (p->how == SPECTRUM_LANCZOS) {
    report_real(r, "lambda_min", p->ends.low);
    report_real(r, "lambda_min_error", p->ends.low_error);
    report_real(r, "lambda_max", p->ends.high);
    report_real(r, "lambda_max_error", p->ends.high_error);
    report_flag(r, "indefinite", p->ends.indefinite);
  }
  if (p->how != SPECTRUM_UNKNOWN) {
    report_real(r, "jacobi_rho", p->rho);
    report_real(r, "jacobi_rho_low", p->rho_low);
    report_real(r, "jacobi_rho_high", p->rho_high);
    report_real(r, "one_minus_rho_low", 1.0 - p->rho_high);
    report_real(r, "one_minus_rho_high", 1.0 - p->rho_low);
    report_flag(r, "one_minus_rho_resolved", p->resolved);
  }
  report_close(r);
}
