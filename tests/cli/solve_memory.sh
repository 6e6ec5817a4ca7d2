#!/usr/bin/env bash
# A rank holds its share and no more: on poisson3d 128^3 the growth of host_peak_bytes over a solve with
# one unknown falls to at most 0.6 of itself when the ranks double.
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# peak RANKS PROBLEM...: the largest host_peak_bytes of the ranks
peak() {
  mpirun -n "$1" "$HALOSWEEP" solve "${@:2}" --quiet --backend omp --threads 1 --method jacobi --iterations 2 --report r.json > out 2>&1 ||
    { cat out; exit 1; }
  sed -n 's/.*"host_peak_bytes": \([0-9]*\).*/\1/p' r.json
}

growth() { echo $(($(peak "$1" --problem poisson3d --n 128) - $(peak "$1" --problem poisson1d --n 1))); }

before=$(growth 1)
[ "$before" -gt 100000000 ] || { echo "growth on 1 rank: $before bytes, expected more than the matrix"; exit 1; }
for ranks in 2 4; do
  now=$(growth $ranks)
  echo "$ranks ranks: growth $now bytes, half as many: $before"
  awk "BEGIN {exit !($now > 0 && $now <= 0.6 * $before)}" || { echo "more than 0.6 of it"; exit 1; }
  before=$now
done
