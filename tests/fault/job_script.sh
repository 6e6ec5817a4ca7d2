#!/usr/bin/env bash
# jobs/solve-restart.sbatch under a made-up batch system that signals its shell only: saved, put back, gone
# on with by the same command (cases 184, 185, 187).
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir bin
cat >bin/srun <<'SRUN'
#!/usr/bin/env bash
while [[ $1 == --* ]]; do shift; done
exec "$@"
SRUN
printf '#!/usr/bin/env bash\necho "$*" >>requeued\n' >bin/scontrol
chmod +x bin/*
export PATH=$work/bin:$PATH SLURM_CPUS_PER_TASK=1 SLURM_NTASKS=1 SLURM_JOB_ID=17
bad=0 seen=1 # runs that are at work, so far
complain() { echo "$*"; cat log; bad=1; }
words=(--problem poisson2d --n 250 --method jacobi --iterations 30000 --progress off)
"$HALOSWEEP" solve "${words[@]}" --threads 1 >whole 2>log || complain "the whole run"
for signal in USR1 TERM; do
  bash "$HALOSWEEP_SOURCE/jobs/solve-restart.sbatch" "${words[@]}" >>out 2>>log &
  job=$!
  for ((i = 0; i < 200; i++)); do [ "$(grep -c "no rhs given" log)" = $((++seen)) ] && break; seen=$((seen - 1)); sleep 0.1; done
  sleep 0.4
  kill -$signal $job
  wait $job
  [ $? = 75 ] || complain "$signal: not 75"
done
[ "$(grep -c 'requeue 17' requeued)" = 2 ] || complain "not requeued twice"
SLURM_RESTART_COUNT=2 bash "$HALOSWEEP_SOURCE/jobs/solve-restart.sbatch" "${words[@]}" >>out 2>>log || complain "not finished"
grep -q "starting afresh" log && [ "$(grep -c 'going on from' log)" = 2 ] || complain "not continued twice"
[ "$(sed -n 's/^fingerprint  //p' out | tail -1)" = "$(sed -n 's/^fingerprint  //p' whole)" ] || complain "another answer"
exit $bad
