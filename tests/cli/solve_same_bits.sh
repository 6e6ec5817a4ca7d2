#!/usr/bin/env bash
# One answer: equal fingerprints and histories on ranks x threads x backends, empty ranks included.
# (Every method and preconditioner: parity/registries.)
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
print() { sed -n 's/^fingerprint  //p' "$1"; }

# a dense row, a dense column, a diagonal; with jacobi a matrix of 300 rows that converges
awk 'BEGIN {n = 300; print "%%MatrixMarket matrix coordinate real general"; print n, n, 3 * n - 2
  for (j = 1; j <= n; j++) print 7, j, j == 7 ? 400 : 1
  for (i = 1; i <= n; i++) if (i != 7) {print i, i, 3 + i % 4; print i, 7, 1}}' > arrow.mtx

ways=("1 ref 1" "1 omp 2" "2 omp 1" "3 omp 2" "4 ref 1" "7 omp 2") # ranks, backend, threads: not every product
try() { # name, then the words of solve
  local name=$1 first="" print
  shift
  for how in "${ways[@]}"; do
    set -- $how "$@"
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

printf '%%%%MatrixMarket matrix coordinate real general\n3 3 5\n1 1 4\n2 2 4\n3 3 4\n1 2 -1\n3 1 1\n' > three.mtx
try three_rows three.mtx
try arrow arrow.mtx --method jacobi --iterations 20
try random --problem random-dominant --n 3000 --entries-per-row 20 --rhs random --method jor --omega 0.9
try gmres arrow.mtx --method gmres --gmres-restart 7 --rtol 1e-12
all=("${ways[@]}") # ranks without rows in each way of starting: three_rows
ways=("1 ref 1" "3 omp 2")
try one_row --problem poisson1d --n 1
ways=("${all[@]}")
[ -d "$HALOSWEEP_SHARED/matrices" ] || { [ $bad = 0 ] && echo "the rest is skipped: no $HALOSWEEP_SHARED/matrices" && exit 77; exit $bad; }
try gr_30_30 "$HALOSWEEP_SHARED/matrices/gr_30_30.mtx.gz" --method cg
try pde900 "$HALOSWEEP_SHARED/matrices/pde900.mtx.gz" --method jacobi --rtol 1e-2
exit $bad
