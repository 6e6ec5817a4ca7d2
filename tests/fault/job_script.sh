#!/usr/bin/env bash
# jobs/solve-cpu.sbatch under a made-up batch system that signals its shell only: saved, put back, gone on with
# by the same command; never put back without progress, nor too often, nor when the job is being ended (cases
# 184, 185, 187). Under a real one: tests/slurm/jobs.sh.
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir bin
cat >bin/srun <<'SRUN'
#!/usr/bin/env bash
while [[ $1 == --* ]]; do shift; done
exec "$@"
SRUN
cat >bin/scontrol <<'SCONTROL'
#!/usr/bin/env bash
if [[ $1 == show ]]; then echo "JobId=$3 JobState=$(cat state) Reason=None"; else echo "$*" >>requeued; fi
SCONTROL
printf '#!/usr/bin/env bash\ncat left\n' >bin/squeue
chmod +x bin/*
export PATH=$work/bin:$PATH SLURM_CPUS_PER_TASK=1 SLURM_NTASKS=1 SLURM_JOB_ID=17
bad=0
complain() { echo "$*"; cat log; bad=1; }
words=(--problem poisson2d --n 250 --method jacobi --iterations 20000 --progress off --checkpoint.every 500)
script=$HALOSWEEP_SOURCE/jobs/solve-cpu.sbatch
stopped() { # SIGNAL: started, at work, asked to stop
  local signal=$1 seen i p code
  seen=$(echo ck-*.h5)
  bash "$script" "${words[@]}" >>out 2>>log &
  p=$!
  for ((i = 0; i < 400; i++)); do [ "$(echo ck-*.h5)" != "$seen" ] && break; sleep 0.05; done
  if [ "$signal" = KILL ]; then
    kill -KILL "$(pgrep -P $p)" # the launcher
  else
    kill -"$signal" $p
    sleep 0.02
    kill -USR1 $p 2>/dev/null # and again: it is patient
  fi
  wait $p
  code=$?
  [ "$signal $code" = "KILL 137" ] || [ $code = 75 ] || complain "$signal: exit $code, expected 75"
}
requeued() { # how often so far
  [ "$(cat requeued 2>/dev/null | wc -l)" = "$1" ] || complain "put back $(wc -l <requeued) times, expected $1"
}
"$HALOSWEEP" solve "${words[@]}" --threads 1 --checkpoint whole.h5 >whole 2>log || complain "the whole run"
echo RUNNING >state
echo 1-02:00:00 >left
stopped USR1
grep -qF -- "--time_limit 1-02:00:00" log || complain "the time that is left is not passed on"
echo UNLIMITED >left
: >log
stopped TERM
grep -qF -- "--time_limit" log && complain "a limit of UNLIMITED"
requeued 2
[ "$(sort -u requeued)" = "requeue 17" ] || complain "put back: $(cat requeued)"

# a start of the user's own is the first leg's; later ones go on from this job's
printf '[checkpoint]\nrestart = whole.020000.h5\n' >own.ini
SLURM_JOB_ID=18 bash "$script" own.ini "${words[@]}" >>out 2>>log || complain "own start"
grep -q "going on from whole.020000.h5" log || grep -q "whole.020000.h5" out || complain "not from the INI's checkpoint"
: >log
SLURM_RESTART_COUNT=1 bash "$script" "${words[@]}" --restart whole.020000.h5 --time_limit 0.001s >>out 2>>log
grep -q "leg 2, .* --restart latest" log || complain "a second leg from the first one's start"

# 20 times is enough, a job that is cancelled stays so, a leg without a step forward is the last
SLURM_RESTART_COUNT=20 stopped USR1
echo COMPLETING >state
stopped TERM
echo RUNNING >state
bash "$script" "${words[@]}" --time_limit 0.001s >>out 2>>log
[ $? = 75 ] && grep -q "without getting further than checkpoint [1-9]" log || complain "no progress, and no end"
requeued 2
# a launcher that is killed: put back only if it was a preemption
stopped KILL
requeued 2
echo "RUNNING PreemptTime=2026-01-01T00:00:00" >state
stopped KILL
requeued 3
echo "RUNNING PreemptTime=None" >state
SLURM_ARRAY_JOB_ID=16 SLURM_ARRAY_TASK_ID=3 stopped USR1 # it has its own checkpoints
grep -qx "requeue 16_3" requeued || complain "a task of an array is put back as $(tail -n 1 requeued)"

SLURM_RESTART_COUNT=2 bash "$script" "${words[@]}" >>out 2>>log || complain "not finished"
[ "$(sed -n 's/^fingerprint  //p' out | tail -1)" = "$(sed -n 's/^fingerprint  //p' whole)" ] || complain "another answer"
grep -q "going on from ck-17" log || complain "not gone on with"
exit $bad
