#!/usr/bin/env bash
# Every rule of layering.sh bites: a small tree in order passes, and each violation put into it, one at a
# time, is refused with its file, line and reason.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fresh_tree() {
  rm -rf "${work:?}/tree"
  mkdir -p "$work"/tree/{include,src/app,src/core,src/cpu,src/solve,mpi,io,cuda}
  cd "$work/tree"
  printf '#ifndef A_H\n#define A_H\n#include <stdint.h>\ntypedef int32_t a_type;\n#endif\n' >include/a.h
  printf '#ifndef CORE_H\n#define CORE_H\n#include "a.h"\n#endif\n' >src/core/core.h
  printf '#include "core.h"\n/* printf("no") */\nconst char *core_text = "stderr";\n' >src/core/core.c
  printf '#include <omp.h>\n#include "a.h"\n' >src/cpu/omp.c
  printf '#include "core.h"\n' >src/solve/solve.c
  printf '#include <mpi.h>\n' >mpi/comm_native.h
  printf '#include "a.h"\n#include "comm_native.h"\n' >mpi/comm.c
  printf '#include <hdf5.h>\n#include "comm_native.h"\n' >io/file.c
  printf '#include <cuda_runtime.h>\n#include "a.h"\n' >cuda/device.cu
  printf '#include <stdio.h>\n#include "core.h"\nint main(void) {\n  puts("answer");\n}\n' >src/app/main.c
}

# nvcc is kept out of sight: the CUDA pass over the headers is not what is tried here
judge() { env -u HALOSWEEP_SOURCE PATH=/usr/bin:/bin bash "$here/layering.sh" "$work/tree" >"$work/said" 2>&1; }

refuses() { # FILE LINE-OF-CODE WHAT-IS-SAID
  fresh_tree
  printf '%s\n' "$2" >>"$1"
  if judge; then
    printf 'not refused: %s in %s\n' "$2" "$1" >&2
    failures=$((failures + 1))
  elif ! grep -qF -e "$3" "$work/said"; then
    printf 'refused without saying "%s": %s in %s\n' "$3" "$2" "$1" >&2
    cat "$work/said" >&2
    failures=$((failures + 1))
  fi
}

fresh_tree
if ! judge; then
  echo "a tree in order is refused:" >&2
  cat "$work/said" >&2
  exit 1
fi

refuses include/a.h '#include <mpi.h>' 'include/a.h:6: include/ may not include <mpi.h>'
refuses include/a.h '#include <omp.h>' 'include/ may not include <omp.h>'
refuses include/a.h '#include <unistd.h>' 'include/ may not include <unistd.h>'
refuses include/a.h '#include "core.h"' 'include/ may not include "core.h"'
refuses src/core/core.c '#include <mpi.h>' 'src/core/core.c:4: src/core/ may not include <mpi.h>'
refuses src/core/core.c '#include <omp.h>' 'src/core/ may not include <omp.h>'
refuses src/solve/solve.c '#include <hdf5.h>' 'may not include <hdf5.h>'
refuses src/solve/solve.c '# include "comm_native.h"' 'may not include "comm_native.h"'
refuses src/solve/solve.c '#include "../core/core.h"' 'never through ../'
refuses src/cpu/omp.c '#include <cuda_runtime.h>' 'may not include <cuda_runtime.h>'
refuses mpi/comm.c '#include <hdf5.h>' 'mpi/ may not include <hdf5.h>'
refuses mpi/comm.c '#include "core.h"' 'mpi/ may not include "core.h"'
refuses io/file.c '#include <cuda.h>' 'io/ may not include <cuda.h>'
refuses io/file.c '#include "core.h"' 'io/ may not include "core.h"'
refuses cuda/device.cu '#include <hdf5.h>' 'cuda/ may not include <hdf5.h>'
refuses cuda/device.cu '#include <mpi.h>' 'cuda/ may not include <mpi.h>'
refuses src/core/core.c '#ifdef HAVE_CUDA' 'feature condition'
refuses src/core/core.c '#if defined(_OPENMP)' 'feature condition'
refuses include/a.h '#ifdef __CUDACC__' 'feature condition'
refuses io/file.c '#ifndef H5_HAVE_PARALLEL' 'feature condition'
refuses src/solve/solve.c 'void f(void) { printf("x"); }' 'src/solve/solve.c:2: writes to the terminal'
refuses src/cpu/omp.c 'void f(void) { fprintf(stderr, "x"); }' 'writes to the terminal'
refuses io/file.c 'void f(void) { exit(1); }' 'ends the program'
refuses src/core/core.c 'void f(void) { MPI_Abort(0, 1); }' 'ends the job'
refuses src/core/core.c 'int f(void) { return rand(); }' 'rand()'
refuses src/core/core.c 'void *f(void) { return alloca(8); }' 'alloca()'
refuses include/a.h 'static inline int f(int n) { return undeclared + n; }' 'does not compile alone as C11'
refuses include/a.h 'static inline int *f(void *p) { return p; }' 'does not compile alone as C++17'

if ((failures > 0)); then exit 1; fi
echo "28 violations seen"
