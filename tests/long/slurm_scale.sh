#!/usr/bin/env bash
# `halosweep scale --slurm` under a real Slurm of one node: strong and weak; killed between two submissions, and gone
# on with without a second job for any point; cancelled, waiting, refused and failed points told apart; done points
# not run again; the table is what the reports say (check_study.py). Less than a minute on idle cores.
set -u
# shellcheck source=../support/slurm_node.sh
. "$HALOSWEEP_SOURCE/tests/support/slurm_node.sh"
. "$HALOSWEEP_SOURCE/tests/support/needs_python.sh"
slurm_needed
needs_python numpy h5py matplotlib
work=$(mktemp -d)
trap 'slurm_stop; rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
complain() { echo "$*"; cat out; bad=1; }
expect() { # CODE TEXT COMMAND...
  local code=$1 text=$2 found
  shift 2
  "$@" >out 2>&1
  found=$?
  [ $found = "$code" ] && grep -qF -- "$text" out || complain "expected exit $code and '$text', found exit $found of: $*"
}
jobs() { squeue --noheader --states=all --format=%j --sort=i | tr '\n' ' '; } # of all studies, ended ones too
sound() { # FOLDER MODE COMMAND POINTS: files, figure, numbers
  "$python" "$HALOSWEEP_SOURCE/tests/long/check_study.py" "$@" >out 2>&1 || complain "the files of $1"
}
printf '[solve]\nproblem = poisson2d\nn = 300\nmethod = jacobi\n' >plate.ini
printf '[heat]\nn = 120, 100\ninitial = sin(x)\nscheme = ftcs\ndt = auto\n' >heat.ini
slurm_start || { echo "no Slurm"; exit 1; }
strong=("$HALOSWEEP" scale plate.ini --strong --backend ref --ranks "1,2" --repeat 2 --iterations 1000 --folder strong --slurm)

# killed after its first submission; again: that job is found, the other point is submitted; again: nothing
mkdir slow
printf '#!/bin/sh\n%s "$@" && touch "%s/asked" && exec sleep 60\n' "$(command -v sbatch)" "$work" >slow/sbatch
chmod +x slow/sbatch
PATH=$work/slow:$PATH "${strong[@]}" --sbatch=--hold >out 2>&1 &
study=$!
for ((i = 0; i < 200; i++)); do [ -e asked ] && break; sleep 0.1; done
children=$(pgrep -P $study)
kill -9 $study
kill -9 $children
wait $study 2>/dev/null
[ "$(jobs)" = "r1-t1-ref " ] || complain "killed after: $(jobs)"
expect 0 "in the queue: job 1 (pending: JobHeldUser)" "${strong[@]}" --sbatch=--hold
[ "$(jobs)" = "r1-t1-ref r2-t1-ref " ] || complain "submitted: $(jobs)"
expect 0 "in the queue: 2 points" "${strong[@]}" --sbatch=--hold
expect 2 "jobs of it are in the queue: scancel 2 1 first" "${strong[@]}" --force
[ "$(jobs)" = "r1-t1-ref r2-t1-ref " ] || complain "submitted twice: $(jobs)"

# one is cancelled: told, and submitted again; to the end
scancel 1
expect 4 "job 1 cancelled" "${strong[@]}" --collect
scontrol release 2
expect 0 "Amdahl, ref, 1 thread" "${strong[@]}" --wait
[ "$(jobs)" = "r1-t1-ref r2-t1-ref r1-t1-ref " ] || complain "in all: $(jobs)"
sound strong strong solve 2
# done points are not run again; another repeat is; a point that Slurm refuses, or never starts, is marked: exit 4
cp -a strong/r1-t1-ref-1.json kept
expect 4 "sbatch refused it: sbatch: error: invalid partition specified: none" \
  "${strong[@]}" --ranks 1,2,3 --wait --sbatch=--partition=none
expect 4 "(pending: PartitionConfig)" "${strong[@]}" --ranks 1,2,64 --repeat 3 --wait
cmp kept strong/r1-t1-ref-1.json && [ ! kept -ot strong/r1-t1-ref-1.json ] || complain "a done point was run again"
[ "$(jobs)" = "r1-t1-ref r2-t1-ref r1-t1-ref r1-t1-ref r2-t1-ref r64-t1-ref " ] || complain "one more repeat: $(jobs)"

# a rank that is killed, a backend that is not there: marked with the reason, the others go on; then tried again
weak=("$HALOSWEEP" scale heat.ini --weak --ranks "1,2" --repeat 2 --folder weak --slurm)
"${weak[@]}" --backend ref --steps 5000 >out 2>&1
job=$(squeue --noheader --name=r1-t1-ref --states=RUNNING,PENDING --format=%i)
for ((i = 0; i < 300; i++)); do rank=$(pgrep -o -f "^$HALOSWEEP heat r1.ini .*r1-t1-ref-1.json"); [ -n "$rank" ] && break; sleep 0.1; done
kill -9 "$rank"
slurm_wait "$job" 300 || complain "job $job does not end"
[ "$(slurm_field "$job" JobState) $(slurm_field "$job" ExitCode)" = "FAILED 137:0" ] || complain "job $job: $(slurm_field "$job" JobState)"
expect 4 "1 repeat only" "${weak[@]}" --backend ref --steps 5000 --collect
grep -qi "job $job failed: .*killed" out || complain "not told why"
expect 0 "Gustafson, ref, 1 thread" "${weak[@]}" --backend ref --steps 5000 --wait
sound weak weak heat 2
grep -q "^n = 120, 200$" weak/r2.ini || complain "$(cat weak/r2.ini)"
if [ ! -e /dev/nvidia0 ]; then
  expect 4 "backend cuda" "${weak[@]}" --backend ref,cuda --steps 5000 --wait
  grep -qF "without all results: 2 of 4 points" out || complain "which points"
fi
exit $bad
