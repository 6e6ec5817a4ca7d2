#!/usr/bin/env bash
# Builds with CUDA, tests and measures on a GPU host in one go, under 9 minutes on 16 cores:
#
#   bench/gpu-host.sh RESULTS [BUILD [sanitize] [gpu-only] [brief]]
#
# RESULTS receives gpu-host.json (date, hardware, driver, commit, command, test counts, kernel times
# against the copy bandwidth of the same run), gpu-host.txt (the same as tables) and logs. BUILD (default:
# build-gpu beside this file's folder) is kept between runs. `sanitize` adds compute-sanitizer's memcheck,
# racecheck, initcheck and synccheck over kernels and iterations (minutes more);
# `gpu-only` leaves out the tests that need no GPU, `brief` the benchmarks of halos, implicit heat and quad. HALOSWEEP_COMMIT names the commit where there
# is no git repository; HALOSWEEP_CUDA_LIBRARY a libhalosweep_cuda.a of that commit that nvcc made before
# (with the architectures wanted): it takes minutes. Exit code: 0 only if everything built, passed and was measured.
set -uo pipefail
results=${1:?usage: bench/gpu-host.sh RESULTS [BUILD]}
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${2:-$source/build-gpu}
words=" ${*:3} "
mkdir -p "$results" && results=$(cd "$results" && pwd)
rm -f "$results"/*.json
command="bench/gpu-host.sh $(basename -a -- "$@" | paste -sd " ")"
commit=${HALOSWEEP_COMMIT:-$(git -C "$source" describe --always --dirty 2> /dev/null || echo unknown)}
cores=$(nproc)
failed=0
brief() { [[ $words == *" brief "* ]]; }

query() { nvidia-smi --query-gpu="$1" --format=csv,noheader | head -1; }
gpu=$(query name) || { echo "no GPU: nvidia-smi does not answer" >&2; exit 7; }
capability=$(query compute_cap | tr -d .)

with=(-DHALOSWEEP_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES="$capability")
if [[ -n ${HALOSWEEP_CUDA_LIBRARY:-} ]]; then with=(-DHALOSWEEP_CUDA_LIBRARY="$HALOSWEEP_CUDA_LIBRARY"); fi
if ! { cmake -S "$source" -B "$build" -G Ninja -DHALOSWEEP_BENCH=ON "${with[@]}" && cmake --build "$build" -j "$cores"; } > "$results/build.log" 2>&1; then
  tail -30 "$results/build.log" >&2
  exit 1
fi

# runs tests; prints {"passed": .., "failed": .., "skipped": ..}; fails where one did, none was found or time was up
tests() { # name, seconds, ctest's words
  local log=$results/tests-$1.log code=0
  (cd "$build" && timeout "$2" ctest --output-on-failure --no-tests=error "${@:3}") > "$log" 2>&1 || code=1
  printf '{"passed": %d, "failed": %d, "skipped": %d}' "$(grep -c ' Passed ' "$log")" \
    "$(grep -cE '\*\*\*(Failed|Timeout|Exception)' "$log")" "$(grep -c '\*\*\*Skipped' "$log")"
  return $code
}
timeout 120 "$build/bench/bench_gpu_kernels" "$results/kernels.json" > "$results/gpu-host.txt" 2>&1 || failed=1

# The times of the exchange, by its parts; the machine is quiet still.
launch=(mpirun --allow-run-as-root --oversubscribe --bind-to none)
brief || timeout 60 "${launch[@]}" -n 2 "$build/bench/bench_gpu_halo" "$results/halo.json" >> "$results/gpu-host.txt" 2>&1 || failed=1

# Steps of the heat equation.
timeout 60 "$build/bench/bench_gpu_heat" "$results/heat.json" >> "$results/gpu-host.txt" 2>&1 || failed=1

brief || timeout 90 "$build/bench/bench_gpu_heat_implicit" "$results/heat-implicit.json" "$cores" >> "$results/gpu-host.txt" 2>&1 || failed=1

# A matrix larger than device_memory, against the copies of the same run.
timeout 60 "$build/bench/bench_gpu_stream" "$results/stream.json" >> "$results/gpu-host.txt" 2>&1 || failed=1
timeout 60 "$source/bench/gpu_mixed.sh" "$build/src/app/halosweep" "$results/mixed.json" >> "$results/gpu-host.txt" 2>&1 || failed=1

# parity, probe, failures, transports, restart pairs; the house's scripts and solvers with --backend cuda
gpu_tests=$(tests gpu 300 -L gpu -j $((cores > 4 ? cores / 2 : 2))) || failed=1 # more at once, and opening the GPU may fail
# here a test that skips has not run; but cuDSS need not be there
if grep '\*\*\*Skipped' "$results/tests-gpu.log" | grep -qv ' gpu/direct '; then failed=1; fi
suite=null
if [[ $words != *" gpu-only "* ]]; then
  suite=$(tests suite 200 -LE gpu -j $((cores > 3 ? cores / 3 : 1))) || failed=1
fi
tried=$("${launch[@]}" -n 2 "$build/src/app/halosweep" solve --problem poisson2d --n 50 --backend cuda --quiet --report - 2> /dev/null |
  tr -d '\n' | sed -n 's/.*"transport_tried": \(\[[^]]*\]\).*/\1/p')

sanitized='{}'
sanitize() { # tool, a test and which of its parts
  local log=$results/$1-${2%% *}.log
  # shellcheck disable=SC2086 # the words are meant to be split
  (set -f; timeout 150 compute-sanitizer --tool "$1" --error-exitcode 9 "$build/tests/"$2) > "$log" 2>&1 || echo "FAILED: $2" >> "$log"
}
if [[ $words == *" sanitize "* ]]; then
  sanitized=
  for tool in memcheck racecheck initcheck synccheck; do
    for part in "test_gpu_parity *sizes_around*" "test_gpu_iterate" "test_gpu_ode_parity some_ways" "test_gpu_coupled_parity"; do
      sanitize "$tool" "$part" &
    done
    wait
    cat "$results/$tool"-*.log > "$results/$tool.log"
    rm "$results/$tool"-*.log
    grep -q '^FAILED' "$results/$tool.log" && failed=1
    sanitized+="${sanitized:+, }\"$tool\": $(grep -q '^FAILED' "$results/$tool.log" && echo '"failed"' || echo '"clean"')"
  done
  sanitized="{$sanitized}"
fi

brief || timeout 120 "$build/bench/bench_gpu_quad" "$results/quad.json" >> "$results/gpu-host.txt" 2>&1 || failed=1

# Trajectories: fixed, adaptive and stiff steps, against what the arithmetic allows.
timeout 90 "$build/bench/bench_gpu_ode" "$results/ode.json" "$cores" >> "$results/gpu-host.txt" 2>&1 || failed=1

# The same stiff trajectories by CVODE, on all cores, where the build found it.
if [[ -x $build/bench/bench_ode_cvode ]]; then
  timeout 120 "$build/bench/bench_ode_cvode" 20000 "$cores" 3 > "$results/cvode.json" 2>> "$results/gpu-host.txt" ||
    { failed=1; echo null > "$results/cvode.json"; }
  cat "$results/cvode.json" >> "$results/gpu-host.txt"
fi

# Large coupled systems, against a copy and by pairs.
timeout 60 "$build/bench/bench_gpu_coupled" "$results/coupled.json" "$cores" >> "$results/gpu-host.txt" 2>&1 || failed=1

# from the start of the program to its answer, its kernel compiled and kept before
small() {
  local start=$EPOCHREALTIME
  "$build/src/app/halosweep" quad --f 'sin(x)*exp(-0.05*x)' --lower 0 --upper pi --rule trapezoid --n 100001 \
    --backend cuda --quiet > "$results/small.log" 2>&1 || failed=1
  echo "($EPOCHREALTIME - $start)" | tr -d '()' | awk '{printf "%.3f\n", $1 - $3}'
}
small > "$results/small.log.first"
answer=$(for _ in 1 2 3 4 5; do small; done | sort -n | sed -n 3p)
echo "a small quad job, kernel kept, start to answer: $answer s (first: $(cat "$results/small.log.first") s)" \
  >> "$results/gpu-host.txt"

# what a benchmark wrote; null where it wrote nothing
result() { if [[ -s $results/$1.json ]]; then cat "$results/$1.json"; else echo null; fi; }
cat > "$results/gpu-host.json" << END
{"date": "$(date -u +%Y-%m-%dT%H:%M:%SZ)",
 "gpu": "$gpu", "gpu_memory": "$(query memory.total)", "driver": "$(query driver_version)",
 "cuda": "$(nvcc --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')",
 "cpu": "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)", "cores": $cores,
 "commit": "$commit", "command": "$command",
 "tests_gpu": $gpu_tests, "tests_suite": $suite,
 "transport_tried": ${tried:-null}, "sanitizers": $sanitized,
 "halo": $(result halo),
 "heat": $(result heat),
 "heat_implicit": $(result heat-implicit),
 "mixed": $(result mixed),
 "kernels": $(result kernels),
 "stream": $(result stream),
 "ode": $(result ode),
 "cvode": $(result cvode),
 "coupled": $(result coupled),
 "quad": $(result quad), "quad_small_job_seconds": $answer}
END
cat "$results/gpu-host.txt"
echo "gpu tests $gpu_tests, suite $suite"
exit $failed
