#!/usr/bin/env bash
# The house rules a compiler does not check (CONTRIBUTING.md), over the sources of one tree:
#   - which folder may include what; no include goes through "../"
#   - no feature #if: a difference between builds is a source file, chosen by CMake
#   - only the log, the report and the commands write to the terminal; only the commands end the program
#   - no rand(), no alloca; headers of include/ compile alone, as C11 and as C++17 (and as CUDA C++ where
#     nvcc is), with no include path but include/: so with no MPI, HDF5 or CUDA header; what they declare
#     is extern "C" in C++
# Files above 500 lines are named, not refused. Usage: layering.sh [TREE]; layering_sees.sh shows that
# every rule bites.
set -euo pipefail
tree=${1:-${HALOSWEEP_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}}
cd "$tree"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
CC=${CC:-cc} CXX=${CXX:-c++}
found=0

complain() { # FILE:LINE RULE
  printf '%s: %s\n' "$1" "$2" >&2
  found=$((found + 1))
}

# Headers any folder may use: C11's, and the few of POSIX and glibc that the program needs.
standard=' assert.h complex.h ctype.h errno.h fenv.h float.h inttypes.h iso646.h limits.h locale.h math.h
 setjmp.h signal.h stdalign.h stdarg.h stdatomic.h stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h
 tgmath.h threads.h time.h uchar.h wchar.h wctype.h '
posix=' cpuid.h dirent.h dlfcn.h fcntl.h libgen.h malloc.h poll.h pthread.h sched.h spawn.h strings.h unistd.h
 sys/file.h sys/mman.h sys/resource.h sys/socket.h sys/stat.h sys/statvfs.h sys/syscall.h sys/time.h sys/types.h sys/utsname.h
 sys/wait.h immintrin.h xmmintrin.h pmmintrin.h '
standard=${standard//$'\n'/}
posix=${posix//$'\n'/}

angle_allowed() { # FOLDER HEADER
  case " $standard " in *" $2 "*) return 0 ;; esac
  if [[ $1 == include* ]]; then return 1; fi
  case " $posix " in *" $2 "*) return 0 ;; esac
  case $1:$2 in
    mpi:mpi.h | mpi:dmumps_c.h | io:mpi.h | io:hdf5.h | io:zlib.h | src/core:jansson.h | src/cpu:omp.h) return 0 ;;
    cuda:cuda*.h | cuda:nv/target | cuda:library_types.h | cuda:nvrtc.h | cuda:nccl.h | cuda:cooperative_groups.h | cuda:cub/*) return 0 ;;
    *) return 1 ;;
  esac
}

declare -A in_src # names of files in src/
while read -r name; do in_src[${name##*/}]=1; done < <(find src -type f)

quote_allowed() { # FOLDER HEADER
  if [[ -f include/$2 ]]; then return 0; fi
  case $1 in
    src/*) [[ -n ${in_src[$2]:-} ]] ;;
    io) [[ -f io/$2 || $2 == comm_native.h ]] ;;
    *) [[ -f $1/$2 ]] ;;
  esac
}

# The code alone: comments and the text of strings blanked, line numbers kept.
strip() { # FILE
  perl -0pe 's{(^[ \t]*\#[ \t]*include[ \t]*[<"][^>"\n]*[>"])|(/\*.*?\*/|//[^\n]*)|("(?:\\.|[^"\\\n])*")|(\x27(?:\\.|[^\x27\\\n])*\x27)}
                {defined $1 ? $1 : defined $2 ? $2 =~ tr/\n//cdr : defined $3 ? "\"\"" : "0"}gmsex' "$1"
}

check_includes() { # FILE FOLDER; these read the stripped code, $work/code
  local line header number
  while IFS=: read -r number line; do
    header=${line#*[<\"]}
    header=${header%%[>\"]*}
    if [[ $header == *../* ]]; then
      complain "$1:$number" "includes \"$header\": headers are found by name, never through ../"
    elif [[ $line == *\"* ]]; then
      quote_allowed "$2" "$header" || complain "$1:$number" "$2/ may not include \"$header\""
    else
      angle_allowed "$2" "$header" || complain "$1:$number" "$2/ may not include <$header>"
    fi
  done < <(grep -nE '^[[:space:]]*#[[:space:]]*include' "$work/code" || true)
}

# What a condition may mention: the include guard, the language, the compiler, the memory poison of debug
# builds. CUDA's own macro belongs to portable.h and include/runtime/, which exist to hold it.
check_conditions() { # FILE
  local number line rest
  while IFS=: read -r number line; do
    if [[ $line =~ ^[[:space:]]*#[[:space:]]*ifndef[[:space:]]+[A-Z0-9_]+_(CU)?H$ ]]; then continue; fi # a guard
    rest=$(sed -E 's/^[[:space:]]*#[[:space:]]*(ifdef|ifndef|if|elif)//; s/\bdefined\b//g
      s/\b(__cplusplus|__GNUC__|__clang__|__SIZEOF_INT128__|__x86_64__|ALLOC_POISON|[A-Z0-9_]+_(CU)?H)\b//g' <<<"$line")
    if [[ $1 == include/portable.h || $1 == include/runtime/* ]]; then rest=${rest//__CUDACC__/}; fi
    if [[ $rest =~ [A-Za-z_] ]]; then
      complain "$1:$number" "feature condition '${line#"${line%%[![:space:]]*}"}': choose a source file in CMake instead"
    fi
  done < <(grep -nE '^[[:space:]]*#[[:space:]]*(if|ifdef|ifndef|elif)\b' "$work/code" || true)
}

check_calls() { # FILE
  local number line
  case $1 in
    src/app/* | src/core/log.c | src/core/report*.c | src/core/progress.c) ;;
    *)
      while IFS=: read -r number line; do
        complain "$1:$number" "writes to the terminal: that is for the log, the report and the commands"
      done < <(grep -nE '\b(printf|vprintf|puts|putchar|perror)[[:space:]]*\(|\b(stdout|stderr)\b' "$work/code" || true)
      ;;
  esac
  case $1 in
    src/app/*) ;;
    *)
      while IFS=: read -r number line; do
        complain "$1:$number" "ends the program: pass a status up, only main may"
      done < <(grep -nE '\b(exit|_exit|_Exit|quick_exit)[[:space:]]*\(' "$work/code" || true)
      ;;
  esac
  case $1 in
    mpi/*) ;; # before there is a communicator to agree with
    *)
      while IFS=: read -r number line; do
        complain "$1:$number" "ends the job: that is for mpi/ alone, before there is a communicator"
      done < <(grep -nE '\bMPI_Abort\b' "$work/code" || true)
      ;;
  esac
  while IFS=: read -r number line; do
    complain "$1:$number" "rand() and alloca() are not used here"
  done < <(grep -nE '\b(rand|srand|random|srandom|drand48|alloca)[[:space:]]*\(' "$work/code" || true)
}

check_sources() {
  local file folder lines
  while read -r file; do
    folder=$(dirname "$file")
    strip "$file" >"$work/code"
    check_includes "$file" "$folder"
    check_conditions "$file"
    check_calls "$file"
    lines=$(wc -l <"$file")
    if ((lines > 500)); then printf 'note: %s has %d lines: a room one can no longer hold in the head\n' "$file" "$lines"; fi
  done < <(find include src mpi io cuda -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' | sort)
}

# What a header declares must have C's names in C++ too.
check_linkage() {
  local header number line
  for header in include/*.h; do
    strip "$header" >"$work/code"
    if grep -q 'extern ""' "$work/code"; then continue; fi
    while IFS=: read -r number line; do
      complain "$header:$number" "declares '${line%%(*}' outside extern \"C\": C++ would look for another name"
    done < <(grep -nE '^(extern [a-z]|(const )?[a-z_0-9]+ \*?[a-z_0-9]+\()[^{]*$' "$work/code" | grep -vE ':(static|typedef|PORTABLE)' || true)
  done
}

# Each header alone, twice in a row (the guard), in both languages; nvcc once for all of them: it is slow.
check_headers() {
  local header name c=("$CC" -std=c11 -pedantic -Wall -Wextra -Werror -Wno-unused-function -fsyntax-only -I include)
  local cxx=("$CXX" -x c++ -std=c++17 -Wall -Werror -Wno-unused-function -fsyntax-only -I include)
  mkdir "$work/alone"
  for header in include/*.h; do
    name=${header#include/}
    printf '#include "%s"\n#include "%s"\n' "$name" "$name" >"$work/alone/${name%.h}.c"
  done
  # all at once; one by one where that fails, for the names
  if ! { "${c[@]}" "$work"/alone/*.c && "${cxx[@]}" "$work"/alone/*.c; } 2>"$work/said"; then
    for header in include/*.h; do
      name=$work/alone/$(basename "$header" .h).c
      "${c[@]}" "$name" 2>"$work/said" ||
        complain "$header:1" "does not compile alone as C11: $(grep -m1 -E 'error' "$work/said")"
      "${cxx[@]}" "$name" 2>"$work/said" ||
        complain "$header:1" "does not compile alone as C++17: $(grep -m1 -E 'error' "$work/said")"
    done
  fi
  if command -v nvcc >/dev/null; then
    for header in include/*.h; do printf '#include "%s"\n' "${header#include/}"; done >"$work/all.cu"
    nvcc -std=c++17 -fmad=false -I include -c -o "$work/all.o" "$work/all.cu" 2>"$work/said" ||
      complain "include/:1" "does not compile as CUDA C++: $(grep -m1 -E 'error' "$work/said")"
  else
    echo "note: no nvcc here, headers not tried as CUDA C++"
  fi
}

command -v perl >/dev/null || { echo "no perl to read the sources with"; exit 77; }
check_sources
check_linkage
check_headers
if ((found > 0)); then
  printf '%d violations\n' "$found" >&2
  exit 1
fi
echo "the house is in order"
