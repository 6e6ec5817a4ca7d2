#!/usr/bin/env bash
# How even the work of an ensemble is over ranks, when costs differ a hundredfold: 96 blocks, of which the last
# ninth takes a hundred times as many steps as the others, so that without loans the last rank has nearly all of it.
#
#   bench/ode_balance.sh HALOSWEEP [RANKS]       (2 by default; no more than there are cores)
#
# JSON: the longest of the ranks' seconds of work over their mean (the goal is at most 1.1), what it would be
# without loans, seconds of the run, and whether states have the bits of one rank.
set -u
halosweep=${1:?usage: bench/ode_balance.sh HALOSWEEP [RANKS]}
ranks=${2:-2}
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
value() { sed -n "s/^ *\"$1\": \"\\{0,1\\}\\([^\",]*\\)\"\\{0,1\\},\\{0,1\\}\$/\\1/p" "$work/r.json" | tail -1; }
run() { # ranks
  mpirun -n "$1" "$halosweep" ode --equations.dx v --equations.dv "-(i < 85 ? 1 : 1e4)*x" --initial 1,0 --sample.v "uniform(0, 1)" --sweep.i "linspace(0, 95, 96)" \
    --trajectories 256 --t_end 100 --rtol 1e-7 --threads 1 --quiet --progress off --report "$work/r.json" >/dev/null 2>"$work/log" ||
    { cat "$work/log" >&2; exit 1; }
}
run 1
first=$(value fingerprint)
run "$ranks"
same=$([ "$(value fingerprint)" = "$first" ] && echo true || echo false)
# blocks [96 r / ranks, 96 (r + 1) / ranks) of each rank, at 1 or 100 a block
without=$(awk -v p="$ranks" 'BEGIN { for (b = 0; b < 96; b++) { c = b < 85 ? 1 : 100; w[int((b * p) / 96)] += c; all += c }
  for (r in w) if (w[r] > most) most = w[r]; printf "%.2f", most * p / all }')
printf '{"ranks": %d, "imbalance": %s, "imbalance_without_loans": %s, "seconds": %s, "same_bits": %s}\n' "$ranks" "$(value imbalance)" "$without" \
  "$(value total)" "$same"
