#!/usr/bin/env bash
# Threads that cannot be had are said, with the code of CLI.md; the OpenMP library would end the
# program, and of a parallel run one rank. A number in the environment that is none is said as well.
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
complain() { echo "$*"; bad=1; }
solve() { timeout 30 "$@" --problem poisson2d --n 40 --quiet > out 2> err; rc=$?; }
expect() {
  local code=$1
  shift
  [ $rc = "$code" ] || complain "$what: exit $rc, expected $code: $(cat err)"
  for word in "$@"; do grep -qF -- "$word" err || complain "$what: '$word' was not said: $(cat err)"; done
}
what="too many"; solve "$HALOSWEEP" solve --threads 65536; expect 2 "at most 4096"
what="too many, environment"; solve env OMP_NUM_THREADS=65536 "$HALOSWEEP" solve; expect 2 "at most 4096" OMP_NUM_THREADS
for value in abc 0 -1 2x 1.5 ,2 " "; do
  what="OMP_NUM_THREADS=$value"
  solve env OMP_NUM_THREADS="$value" "$HALOSWEEP" solve; expect 2 "OMP_NUM_THREADS='$value'" "expected a whole number"
done
what="Slurm's"; solve env -u OMP_NUM_THREADS SLURM_CPUS_PER_TASK=x "$HALOSWEEP" solve; expect 2 "SLURM_CPUS_PER_TASK='x'"
what="not used"; solve env OMP_NUM_THREADS=abc "$HALOSWEEP" solve --threads 1; expect 0
solve env OMP_NUM_THREADS=1 SLURM_CPUS_PER_TASK=x "$HALOSWEEP" solve; expect 0
what="a list"; solve env OMP_NUM_THREADS=2,4 "$HALOSWEEP" solve --report r.json; expect 0
grep -q '"threads": 2' r.json || complain "OMP_NUM_THREADS=2,4: $(grep '"threads"' r.json)"
what="ranks"; solve mpirun -n 2 -x OMP_NUM_THREADS=abc "$HALOSWEEP" solve; expect 2 "OMP_NUM_THREADS='abc'"
what="many"; solve "$HALOSWEEP" solve --threads 100; expect 0

# No room for the stacks, on one rank of two.
cat > limited << 'END'
#!/bin/sh
[ "$OMPI_COMM_WORLD_RANK" = 0 ] || ulimit -v 4000000
exec "$@"
END
chmod +x limited
what="limited"; solve mpirun -n 2 ./limited "$HALOSWEEP" solve --threads 1
if [ $rc = 0 ]; then # sanitizers need more room than that
  what="no room"; solve mpirun -n 2 ./limited "$HALOSWEEP" solve --threads 1500; expect 7 "rank 1" "1500 threads" "can be started"
fi
exit $bad
