#!/usr/bin/env bash
# Builds the benchmarks and measures: one JSON file per benchmark under bench/results/ (or DIR), with date,
# commit, machine and commands in it. Repeats are interleaved and medians taken, because machines are
# shared; run it on a quiet one all the same.
#
#   bench/run.sh [--build DIR] [--out DIR] [--rounds N]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=build out=bench/results rounds=7
while (($# > 0)); do
  case $1 in
    --build) build=${2:?--build needs a folder} && shift ;;
    --out) out=${2:?--out needs a folder} && shift ;;
    --rounds) rounds=${2:?--rounds needs a number} && shift ;;
    *)
      sed -n '2,6s/^# \{0,1\}//p' "$0" >&2
      exit 2
      ;;
  esac
  shift
done

cmake --preset release -B "$build" -DHALOSWEEP_BENCH=ON >/dev/null
cmake --build "$build" --parallel "$(nproc)"
mkdir -p "$out"
if [[ -x $build/bench/bench_petsc_compare ]]; then
  python3 bench/petsc_compare.py --build "$build" --rounds "$rounds" --out "$out/petsc.json"
else
  echo "PETSc is not here (Debian: apt-get install petsc-dev): the comparison with it is left out" >&2
fi
