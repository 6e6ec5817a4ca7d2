#!/usr/bin/env bash
# Jobs of jobs/ longer than Slurm's limit of a minute (the shortest there is), until they are done: ended by what
# squeue says is left, by Slurm's warning, by the limit itself; and preempted. Each leg goes on from an
# iteration above the last one's, and the answer is the whole run's (cases 181, 184, 185, 187). About 6 minutes on idle cores.
set -u
# shellcheck source=../support/slurm_node.sh
. "$HALOSWEEP_SOURCE/tests/support/slurm_node.sh"
slurm_needed
work=$(mktemp -d)
trap 'slurm_stop; rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
complain() { echo "$*"; bad=1; }
words=(--problem poisson2d --n 250 --method jacobi --format csr --progress off)
print() { sed -n 's/^fingerprint  //p' "$1" | tail -n 1; }

# as many iterations as take 110 s of a core: more than a leg, however busy the machine is
TIMEFORMAT=%U
{ time "$HALOSWEEP" solve "${words[@]}" --iterations 20000 --threads 1 --history probe.csv >whole 2>err; } 2>seconds
count=$((20000 * 110000 / 10#$(tr -d . <seconds)))
words+=(--iterations "$count")
"$HALOSWEEP" solve "${words[@]}" --threads 1 --history whole.csv >whole 2>err || complain "the whole run"
slurm_start || { complain "no Slurm"; exit 1; }

submit() { # name options of sbatch..., script, words...
  local name=$1
  shift
  sbatch --parsable --nodes=1 --ntasks-per-node=1 --cpus-per-task=1 --output="$name.log" "$@"
}
export MAX_RESTARTS=200 # a busy machine needs more legs than the 20 of a user
script=$HALOSWEEP_SOURCE/jobs/solve-cpu.sbatch
ended() { # job name legs: at least so many
  slurm_wait "$1" 900 || complain "$2 does not end"
  local starts legs state
  state=$(slurm_field "$1" JobState)
  legs=$(grep -c "^halosweep job: $1, leg [0-9]*," "$2.log")
  starts=$(sed -n 's/^going on from .*, at //p' "$2.log" | tr '\n' ' ')
  echo "$2: $legs legs, gone on with at $starts"
  # a job that is done before Slurm has noticed that it is over its limit is recorded as TIMEOUT
  [ "$state" = COMPLETED ] || [ "$state $2" = "TIMEOUT limit" ] || { complain "$2: $state"; cat "$2.log"; }
  [ "$(print "$2.log")" = "$(print whole)" ] || complain "$2: another answer"
  cmp whole.csv "$2.csv" || complain "$2: another history"
  [ "$legs" -ge "$3" ] && [ "$(slurm_field "$1" Restarts)" = $((legs - 1)) ] || complain "$2: $legs legs, $(slurm_field "$1" Restarts) restarts"
  [ "$(slurm_legs "$1" | wc -l)" -ge "$legs" ] || complain "$2: sacct lacks legs: $(slurm_legs "$1")"
  [ "$(wc -w <<<"$starts")" = $((legs - 1)) ] || complain "$2: a leg that started afresh"
  sed -n 's/^going on from .*, at //p' "$2.log" | sed '1i 0' | sort -n -u -c || complain "$2: a leg without a step forward"
}
left=$(submit left --time=1 --signal=B:USR1@0 "$script" "${words[@]}" --history left.csv)
warned=$(LAUNCHER=mpirun submit warned --time=1 --signal=B:USR1@30 "$script" "${words[@]}" --history warned.csv --time_limit 2h)
ended "$left" left 2
ended "$warned" warned 2
grep -q "stopped by the time limit" left.log || complain "left: not by the time limit"
grep -q "stopped by SIGUSR1" warned.log || complain "warned: not by SIGUSR1"

# Slurm's own end, without a warning; a job that is preempted twice
limit=$(submit limit --time=1 --signal=B:USR1@0 "$script" "${words[@]}" --history limit.csv --time_limit 2h)
preempted=$(LAUNCHER=mpirun submit preempted --time=10 "$script" "${words[@]}" --history preempted.csv --checkpoint.every 2000)
for ((i = 0; i < 2; i++)); do
  slurm_see preempted.log "leg $((i + 1))," 60
  sleep 15
  urgent=$(sbatch --parsable --partition=urgent --ntasks=2 --time=1 --output=urgent.log --wrap "sleep 1")
  slurm_wait "$urgent" 90 || complain "the urgent job does not come"
done
ended "$limit" limit 2
ended "$preempted" preempted 3
exit $bad
