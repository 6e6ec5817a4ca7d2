#!/usr/bin/env bash
# Jobs of jobs/ on two nodes (two slurmd of this machine), by both launchers: asked to stop, put back, gone on with,
# and the answer of one rank. About a minute.
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
for launcher in srun mpirun; do
  job=$(LAUNCHER=$launcher sbatch --parsable --nodes=2 --ntasks-per-node=1 --cpus-per-task=1 --time=5 \
    --output=$launcher.log "$HALOSWEEP_SOURCE/jobs/solve-cpu.sbatch" "${words[@]}")
  slurm_checkpoint "$job" 30 || complain "$launcher: no start"
  scancel --batch --signal=USR1 "$job"
  slurm_wait "$job" 120 || complain "$launcher: no end"
  [ "$(slurm_field "$job" JobState) $(slurm_field "$job" Restarts)" = "COMPLETED 1" ] || complain "$launcher: $(slurm_field "$job" JobState)"
  [ "$(slurm_field "$job" NodeList)" = "n[1-2]" ] || complain "$launcher: on $(slurm_field "$job" NodeList)"
  [ "$(print $launcher.log)" = "$(print whole)" ] || { complain "$launcher: another answer"; cat $launcher.log; }
  grep -q "^going on from .*, at [1-9]" $launcher.log || complain "$launcher: not gone on with"
done
exit $bad
