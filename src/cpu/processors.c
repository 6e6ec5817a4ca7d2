#include "processors.h"

#include <omp.h>

int processors_at_start(void) { return omp_get_num_procs(); }
