#!/usr/bin/env bash
# Jobs of jobs/ on two nodes (two slurmd of this machine), by both launchers: asked to stop, or preempted, put back,
# gone on with, and the answer of one rank. (A preemption ends mpirun's daemons: the last checkpoint counts.) About
# two minutes.
set -u
# shellcheck source=../support/slurm_node.sh
. "$HALOSWEEP_SOURCE/tests/support/slurm_node.sh"
slurm_needed
work=$(mktemp -d)
trap 'slurm_stop; rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
complain() { echo "$*"; bad=1; }
words=(--problem poisson2d --n 250 --method jacobi --iterations 10000 --format csr --progress off --checkpoint.every 500)
print() { sed -n 's/^fingerprint  //p' "$1" | tail -n 1; }
"$HALOSWEEP" solve "${words[@]}" --threads 1 --checkpoint whole.h5 >whole 2>err || complain "the whole run"
slurm_start 2 || { complain "no Slurm"; exit 1; }
for run in srun-asked mpirun-asked srun-preempted mpirun-preempted; do
  launcher=${run%-*}
  job=$(LAUNCHER=$launcher sbatch --parsable --nodes=2 --ntasks-per-node=1 --cpus-per-task=1 --time=5 \
    --output=$run.log "$HALOSWEEP_SOURCE/jobs/solve-cpu.sbatch" "${words[@]}")
  slurm_checkpoint "$job" 30 || complain "$launcher: no start"
  case $run in
    *-asked) scancel --batch --signal=USR1 "$job" ;;
    *) sbatch --partition=urgent --nodes=2 --ntasks=4 --time=1 --output=urgent.log --wrap "sleep 1" >/dev/null ;;
  esac
  slurm_wait "$job" 120 || complain "$run: no end"
  [ "$(slurm_field "$job" JobState) $(slurm_field "$job" Restarts)" = "COMPLETED 1" ] || complain "$run: $(slurm_field "$job" JobState)"
  [ "$(slurm_field "$job" NodeList)" = "n[1-2]" ] || complain "$run: on $(slurm_field "$job" NodeList)"
  [ "$(print $run.log)" = "$(print whole)" ] || { complain "$run: another answer"; cat $run.log; }
  grep -q "^going on from .*, at [1-9]" $run.log || complain "$run: not gone on with"
done
exit $bad
