#!/usr/bin/env bash
# One answer on real matrices of the shared collection, as solve_same_bits.sh on made ones.
set -u
[ -d "$HALOSWEEP_SHARED/matrices" ] || { echo "no $HALOSWEEP_SHARED/matrices"; exit 77; }
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
m=$HALOSWEEP_SHARED/matrices
print() { sed -n 's/^fingerprint  //p' "$1"; }

try() { # name, then the words of solve
  local name=$1 first="" print
  shift
  for how in "1 ref 1" "1 omp 1" "1 omp 2" "2 omp 1" "3 omp 2" "4 ref 1" "7 omp 2"; do
    set -- $how "$@" # every backend and thread count alone and on several ranks; not every product
    rm -f h.csv
    mpirun -n "$1" "$HALOSWEEP" solve "${@:4}" --backend "$2" --threads "$3" --history h.csv --progress off --quiet > out 2> err
    rc=$?
    shift 3
    print="$rc $(print out) $(cksum < h.csv)"
    if [ -z "$first" ]; then
      first=$print
      [ $rc = 0 ] && [ -n "$(print out)" ] || { echo "$name: exit $rc"; cat err; bad=1; }
    elif [ "$print" != "$first" ]; then
      echo "$name: ranks, backend, threads $how: $print, first: $first"
      cat err
      bad=1
    fi
  done
}

try gr_30_30 "$m/gr_30_30.mtx.gz" --method cg
try pde900 "$m/pde900.mtx.gz" --method jacobi --rtol 1e-4
exit $bad
