#!/usr/bin/env bash
# Solve on one machine under mpirun, with threads bound sensibly. Set the parameters here or in the
# environment; arguments go to `halosweep solve`:
#
#   RANKS=4 THREADS=2 jobs/solve-mpirun.sh A.mtx --method cg --output x.h5 --report r.json
#   RANKS=8 jobs/solve-mpirun.sh --oversubscribe A.mtx      more ranks than cores
#   HALOSWEEP=build/src/app/halosweep jobs/solve-mpirun.sh A.mtx      not installed
set -euo pipefail

HALOSWEEP=${HALOSWEEP:-halosweep}
RANKS=${RANKS:-2}
THREADS=${THREADS:-1}

# Each rank gets THREADS cores of its own. Too many for the machine: mpirun says so and ends with an error;
# --oversubscribe lets ranks share cores, then unbound and yielding when idle.
placement=(--map-by "slot:PE=$THREADS" --bind-to core)
if [[ ${1:-} == --oversubscribe ]]; then
  shift
  placement=(--oversubscribe --bind-to none --mca mpi_yield_when_idle 1)
  export OMP_WAIT_POLICY=passive
fi
if (($# == 0)); then
  sed -n '2,7s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi

exec mpirun -n "$RANKS" "${placement[@]}" "$HALOSWEEP" solve "$@" --threads "$THREADS" --ranks "$RANKS"
