/* Checks of options that more than one command makes. Local. */
#ifndef OPTION_CHECKS_H
#define OPTION_CHECKS_H

#include "options.h"

/* A key that would have no effect is refused with `what`, unless it says what holds anyway:
 * effective configs write defaults out. */
status check_needs(const options *o, const char *key, int met, const char *what);

/* run.output ends in one of `endings` (".h5|.mtx"), named to people as `said`; NULL passes. */
status check_output_kind(const char *path, const char *endings, const char *said);

#endif
