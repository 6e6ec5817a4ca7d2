/* The spectral part of a report, the same for solve and inspect. */
#ifndef SPECTRUM_REPORT_H
#define SPECTRUM_REPORT_H

#include "report.h"
#include "spectrum.h"

/* The nested object "spectrum". Local. */
void spectrum_report(const spectrum *p, report *r);

#endif
