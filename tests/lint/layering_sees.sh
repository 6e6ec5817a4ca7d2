#!/usr/bin/env bash
# Every rule of layering.sh bites: a small tree in order passes, and each violation planted in it is
# refused with its file, line and reason.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
seen=0
planted=()

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

plant() { # FILE LINE-OF-CODE WHAT-IS-SAID
  printf '%s\n' "$2" >>"$1"
  planted+=("$1:$(wc -l <"$1"): $3")
}

# Judges the tree as planted: each violation must be among what is said.
harvest() {
  local expected
  if judge; then
    echo "a tree full of violations passes" >&2
    failures=$((failures + 1))
  fi
  for expected in "${planted[@]}"; do
    if ! grep -qF -e "$expected" "$work/said"; then
      printf 'not said: %s\n' "$expected" >&2
      failures=$((failures + 1))
    fi
  done
  seen=$((seen + ${#planted[@]}))
  planted=()
}

fresh_tree
if ! judge; then
  echo "a tree in order is refused:" >&2
  cat "$work/said" >&2
  exit 1
fi

plant include/a.h '#include <mpi.h>' 'include/ may not include <mpi.h>'
plant include/a.h '#include <omp.h>' 'include/ may not include <omp.h>'
plant include/a.h '#include <unistd.h>' 'include/ may not include <unistd.h>'
plant include/a.h '#include "core.h"' 'include/ may not include "core.h"'
plant include/a.h 'int a_count(void);' "declares 'int a_count' outside"
plant include/a.h 'extern const int A_TABLE;' "declares 'extern const int A_TABLE;' outside"
plant src/core/core.c '#include <mpi.h>' 'src/core/ may not include <mpi.h>'
plant src/core/core.c '#include <omp.h>' 'src/core/ may not include <omp.h>'
plant src/solve/solve.c '#include <hdf5.h>' 'src/solve/ may not include <hdf5.h>'
plant src/solve/solve.c '# include "comm_native.h"' 'src/solve/ may not include "comm_native.h"'
plant src/solve/solve.c '#include "../core/core.h"' 'includes "../core/core.h": headers are found by name'
plant src/cpu/omp.c '#include <cuda_runtime.h>' 'src/cpu/ may not include <cuda_runtime.h>'
plant mpi/comm.c '#include <hdf5.h>' 'mpi/ may not include <hdf5.h>'
plant mpi/comm.c '#include "core.h"' 'mpi/ may not include "core.h"'
plant io/file.c '#include <cuda.h>' 'io/ may not include <cuda.h>'
plant io/file.c '#include "core.h"' 'io/ may not include "core.h"'
plant cuda/device.cu '#include <hdf5.h>' 'cuda/ may not include <hdf5.h>'
plant cuda/device.cu '#include <mpi.h>' 'cuda/ may not include <mpi.h>'
plant src/core/core.c '#ifdef HAVE_CUDA' 'feature condition'
plant src/core/core.c '#if defined(_OPENMP)' 'feature condition'
plant include/a.h '#ifdef __CUDACC__' 'feature condition'
plant io/file.c '#ifndef H5_HAVE_PARALLEL' 'feature condition'
plant src/solve/solve.c 'void f(void) { printf("x"); }' 'writes to the terminal'
plant src/cpu/omp.c 'void f(void) { fprintf(stderr, "x"); }' 'writes to the terminal'
plant io/file.c 'void f(void) { exit(1); }' 'ends the program'
plant src/core/core.c 'void f(void) { MPI_Abort(0, 1); }' 'ends the job'
plant src/core/core.c 'int f(void) { return rand(); }' 'rand()'
plant src/core/core.c 'void *f(void) { return alloca(8); }' 'rand() and alloca()'
harvest

# what compilers say names the header's first line
fresh_tree
printf 'static inline int f(int n) { return undeclared + n; }\n' >>include/a.h
planted=('include/a.h:1: does not compile alone as C11')
harvest
fresh_tree
printf 'static inline int *f(void *p) { return p; }\n' >>include/a.h
planted=('include/a.h:1: does not compile alone as C++17')
harvest

if ((failures > 0)); then exit 1; fi
echo "$seen violations seen"
