#!/usr/bin/env bash
# Mixed precision against double: time to solution of 2-D Poisson N x N, CG + Jacobi to 1e-8, on a GPU
# (or whatever BACKEND says), with plain values (format sell) and with the format that auto takes:
#
#   bench/gpu_mixed.sh HALOSWEEP FILE.json [N [BACKEND]]
#
# Times are `compute` and `communicate` of the report (iterations and corrections, not the set-up), the
# smallest of three runs. The goal is 1.4 times as fast as double with plain values at 2048.
set -u
halosweep=${1:?usage: bench/gpu_mixed.sh HALOSWEEP FILE.json [N [BACKEND]]}
file=${2:?a file for the numbers}
n=${3:-2048}
backend=${4:-cuda}
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
value() { sed -n "s/^ *\"$1\": \"\\{0,1\\}\\([^\",]*\\)\"\\{0,1\\},\\{0,1\\}\$/\\1/p" "$work/r.json" | head -1; }
# the seconds of a run's phases, not the spread over ranks
phase() { sed -n '/"seconds": {/,/}/p' "$work/r.json" | sed -n "s/^ *\"$1\": \\([^,]*\\),\\{0,1\\}\$/\\1/p" | head -1; }

measure() { # precision format; sets best, iterations, residual, corrections
  best=
  for _ in 1 2 3; do
    "$halosweep" solve --problem poisson2d --n "$n" --method cg --rtol 1e-8 --max-iterations 100000 --precision "$1" \
      --format "$2" --backend "$backend" --quiet --progress off --report "$work/r.json" > "$work/log" 2>&1 ||
      { cat "$work/log" >&2; exit 1; }
    best=$(awk -v a="$(phase compute)" -v b="$(phase communicate)" -v c="$best" \
      'BEGIN {t = a + b; print c == "" || t < c ? t : c}')
  done
  iterations=$(value iterations)
  residual=$(value relative_residual)
  corrections=$(value corrections)
}

measure double sell && plain=$best plain_iterations=$iterations
measure double auto && auto=$best
measure mixed sell && mixed=$best
ratio=$(awk -v a="$plain" -v b="$mixed" 'BEGIN {printf "%.2f", a / b}')
printf '{"n": %d, "backend": "%s", "double_sell_seconds": %s, "double_auto_seconds": %s, "mixed_seconds": %s,\n' \
  "$n" "$backend" "$plain" "$auto" "$mixed" > "$file"
printf ' "times_as_fast": %s, "double_iterations": %d, "mixed_iterations": %d, "corrections": %d, "relative_residual": %s}\n' \
  "$ratio" "$plain_iterations" "$iterations" "$corrections" "$residual" >> "$file"
echo "cg + jacobi, poisson2d $n x $n to 1e-8, $backend: double $plain s (sell), $auto s (auto); mixed $mixed s:" \
  "$ratio times as fast as sell; $plain_iterations and $iterations iterations, $corrections corrections"
