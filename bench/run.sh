#!/usr/bin/env bash
# Builds the benchmarks and measures: one file per benchmark under bench/results/ (or DIR), with date,
# commit, machine, load and commands in it. Comparisons are interleaved and medians taken, the others are
# run ROUNDS times one after the other, because machines are shared; use a quiet one all the same.
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

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
on_ranks() { mpirun -n "$1" --bind-to none --oversubscribe "${@:2}"; }

provenance() {
  date -u '+date: %Y-%m-%dT%H:%M:%SZ'
  echo "commit: $(git describe --always --dirty 2>/dev/null || echo unknown)"
  awk -F': ' '/^model name/ { print "cpu: " $2; exit }' /proc/cpuinfo
  echo "cores: $(nproc)"
  echo "compiler: $("${CC:-cc}" --version | head -n 1)"
}

# Each command once a round, so that a neighbour's load does not fall on one of them alone.
record() { # NAME COMMAND [-- COMMAND]...
  local name=$1 round word command=()
  shift
  echo "== $name"
  {
    provenance
    for ((round = 1; round <= rounds; round++)); do
      command=()
      for word in "$@" --; do
        if [[ $word != -- ]]; then
          command+=("$word")
          continue
        fi
        printf '\n$ %s   # round %d, load %s\n' "${command[*]}" "$round" "$(cut -d' ' -f1 /proc/loadavg)"
        "${command[@]}"
        command=()
      done
    done
  } 2>&1 | tee "$out/$name.txt"
}

record reductions "$build/bench/bench_reductions" 1 -- "$build/bench/bench_reductions" 2
record kernels "$build/bench/bench_kernels" 1 -- "$build/bench/bench_kernels" 2
record driver "$build/bench/bench_driver" 1 -- "$build/bench/bench_driver" 2
record judge "$build/bench/bench_judge"
record reading on_ranks 1 "$build/bench/bench_reading" -- on_ranks 2 "$build/bench/bench_reading" \
  -- on_ranks 1 "$build/bench/bench_reading" -k short
# One matrix as text and as stored arrays, read in turns.
stored=$(mktemp -d)
"$build/bench/bench_reading" -o "$stored/m.mtx"
for kind in h5 petsc; do
  "$build/src/app/halosweep" convert "$stored/m.mtx" --output "$stored/m.$kind" --quiet
done
record reading-stored "$build/bench/bench_reading" -t 1 "$stored"/m.{mtx,h5,petsc} \
  -- "$build/bench/bench_reading" -t "$(nproc)" "$stored"/m.{mtx,h5,petsc}
rm -r "$stored"
echo "== threads"
{
  provenance
  OMP_WAIT_POLICY=passive "$build/bench/bench_threads" "$(nproc)" "$rounds"
} 2>&1 | tee "$out/threads.txt"
record elementary "$build/bench/bench_elementary"
record noise "$build/bench/bench_noise"
# JSON with provenance: what the commands print, each a value, in a list.
record_json() { # NAME COMMAND [-- COMMAND]...
  local name=$1 word comma='' command=()
  shift
  {
    printf '{"date": "%s", "commit": "%s", "cpu": "%s", "load": %s, "result": [\n' "$(date -u +%FT%TZ)" \
      "$(git describe --always --dirty 2>/dev/null || echo unknown)" \
      "$(awk -F': ' '/^model name/ { print $2; exit }' /proc/cpuinfo)" "$(cut -d' ' -f1 /proc/loadavg)"
    for word in "$@" --; do
      if [[ $word != -- ]]; then
        command+=("$word")
        continue
      fi
      printf '%s' "$comma"
      "${command[@]}"
      comma=, command=()
    done
    echo ']}'
  } | tee "$out/$name.json"
}
record_json formula "$build/bench/bench_formula" 101
record_json heat-implicit "$build/bench/bench_heat_implicit" 1
record_json quad "$build/bench/bench_quad" 1e8 "$rounds" "$build/src/app/halosweep" \
  -- on_ranks 2 "$build/bench/bench_quad" 1e8 "$rounds"
record_json ode "$build/bench/bench_ode" 4096 1000 "$rounds"
OMPI_MCA_rmaps_base_oversubscribe=1 record_json ode_balance bench/ode_balance.sh "$build/src/app/halosweep" 2 \
  -- bench/ode_balance.sh "$build/src/app/halosweep" 4
if [[ -x $build/bench/bench_ode_cvode ]]; then
  record_json ode_cvode "$build/bench/bench_ode_cvode" 20000 "$(nproc)" "$rounds"
else
  echo "SUNDIALS 6 is not here (Debian: apt-get install libsundials-dev): the comparison with CVODE is left out" >&2
fi
record quad_sums "$build/bench/bench_quad_sums"
python3 bench/setup.py --build "$build" --rounds "$rounds" --out "$out/setup.json"
OMP_WAIT_POLICY=passive "$build/bench/bench_heat" 2 9 | tee "$out/heat.json"
if [[ -x $build/bench/bench_petsc_compare ]]; then
  python3 bench/petsc_compare.py --build "$build" --rounds "$rounds" --out "$out/petsc.json"
else
  echo "PETSc is not here (Debian: apt-get install petsc-dev): the comparison with it is left out" >&2
fi
