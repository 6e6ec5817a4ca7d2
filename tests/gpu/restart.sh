#!/usr/bin/env bash
# A run continued on another kind of device is the uninterrupted one: cuda to cuda, cuda to omp, omp to cuda,
# on one and two ranks (which may share a GPU): the same fingerprint and history, and only the iterations
# that were left are made.
set -u
. "$HALOSWEEP_SOURCE/tests/support/needs_gpu.sh"
complain() { echo "$name: $*: $(cat err)"; bad=1; }
print() { sed -n 's/^fingerprint  //p' "$1"; }
field() { sed -n "s/^ *\"$1\": \([0-9]*\),\{0,1\}\$/\1/p" r.json | tail -1; }
solve() { mpirun -n "$ranks" "$HALOSWEEP" solve "$@" --threads 1 --progress off --quiet > out 2> err; }

try() { # name, k, words of solve
  local method=$1 k=$2 total
  shift 2
  "$HALOSWEEP" solve "$@" --backend ref --history whole.csv --report r.json --progress off > whole.out 2> err || complain "whole run"
  total=$(field iterations)
  [ "$total" -gt "$k" ] || complain "it ends before $k"
  for ranks in 1 2; do
    for pair in "cuda cuda" "cuda omp" "omp cuda"; do
      name="$method, $ranks ranks, $pair"
      rm -f ck.*.h5 r.json h.csv
      solve "$@" --backend "${pair% *}" --checkpoint ck.h5 --max-iterations "$k"
      [ $? = 4 ] || complain "first part: not exit 4"
      solve "$@" --backend "${pair#* }" --checkpoint ck.h5 --restart latest --history h.csv --report r.json ||
        complain "second part"
      [ -n "$(print out)" ] && [ "$(print out)" = "$(print whole.out)" ] || complain "other fingerprint"
      cmp -s whole.csv h.csv || complain "other history"
      [ "$(field iterations) $(field iterations_this_run)" = "$total $((total - k))" ] ||
        complain "$(field iterations) iterations, $(field iterations_this_run) in this run, expected $total, $((total - k))"
    done
  done
}

try cg 37 --problem poisson2d --n 60 --method cg --rtol 1e-10
try jacobi 50 --problem convdiff2d --n 30 --peclet 3 --method jacobi --rtol 1e-8
exit $bad
