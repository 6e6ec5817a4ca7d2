#!/usr/bin/env bash
# The scripts of jobs/ under a real Slurm of one node: each command, both launchers, an array; asked to stop, put
# back into the queue and gone on with to the bits of the whole run; cancelled; a rank killed; a scaling study; no GPU (cases 164,
# 170, 181, 184, 185, 188). The long forms, with Slurm's own limit, are in tests/long/slurm.sh.
set -u
# shellcheck source=../support/slurm_node.sh
. "$HALOSWEEP_SOURCE/tests/support/slurm_node.sh"
slurm_needed
work=$(mktemp -d)
trap 'slurm_stop; rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
complain() { echo "$*"; bad=1; }
jobs=$HALOSWEEP_SOURCE/jobs
fixed=(--problem poisson2d --n 250 --method jacobi --iterations 10000 --format csr --progress off --checkpoint.every 500)
endless=(--problem poisson2d --n 250 --method jacobi --iterations 100000000 --format csr --progress off --checkpoint.every 500)
submit() { # name ranks threads script words...: the job's number
  local name=$1 ranks=$2 threads=$3 script=$4
  shift 4
  sbatch --parsable --nodes=1 --ntasks-per-node="$ranks" --cpus-per-task="$threads" --time=5 \
    --output="$name.log" "$jobs/$script" "$@"
}
ended() { # job name state exit
  slurm_wait "$1" 60 || complain "$2 does not end"
  [ "$(slurm_field "$1" JobState) $(slurm_field "$1" ExitCode)" = "$3 $4" ] ||
    { complain "$2: $(slurm_field "$1" JobState) $(slurm_field "$1" ExitCode), expected $3 $4"; cat "$2.log"; }
}
says() { grep -qF -- "$2" "$1" || { complain "$1 does not say: $2"; cat "$1"; }; }
print() { sed -n 's/^fingerprint  //p' "$1"; }
slurm_start || { complain "no Slurm"; exit 1; }

# asked to stop, through both launchers: saved, put back, gone on with
stopped=$(submit stopped 1 1 solve-cpu.sbatch "${fixed[@]}")
array=$(LAUNCHER=mpirun KEY=solve.check_every VALUES="50 60" sbatch --parsable --array=0-1 --ntasks-per-node=1 \
  --cpus-per-task=1 --time=5 --output=array-%a.log "$jobs/array.sbatch" solve "${fixed[@]}" --report r-%a.json)
slurm_checkpoint "$stopped" 20 || complain "the first job does not start"
scancel --batch --signal=USR1 "$stopped"
slurm_checkpoint "${array}_1" 40 || complain "the array does not start"
scancel --batch --signal=TERM "${array}_1" # its number is that of the array: the other task is to stay alone
"$HALOSWEEP" solve "${fixed[@]}" --threads 1 --checkpoint whole.h5 >whole 2>err || complain "the whole run"

# Slurm takes what every script asks for, but for its size
for script in "$jobs"/*.sbatch; do
  case $script in *-gpu.sbatch) size=(--ntasks-per-node=1 --gpus-per-node=1) ;; *) size=(--nodes=1 --ntasks-per-node=1) ;; esac
  sbatch --test-only "${size[@]}" --cpus-per-task=1 "$script" A.mtx >out 2>&1 || { complain "$script is refused"; cat out; }
done

# a scaling study: submitted; its table is asked for at the end (a Python without packages will do for that)
printf '[solve]\nproblem = poisson2d\nn = 40\nmethod = jacobi\n' >plate.ini
printf '#!/bin/sh\nshift\nexec /usr/bin/python3 -S -m "$@"\n' >bare && chmod +x bare
study() {
  HALOSWEEP_PYTHON=$PWD/bare "$HALOSWEEP" scale plate.ini --strong --backend ref --ranks 1,2 --repeat 1 \
    --iterations 50 --slurm --sbatch --time=5 "$@" >study.out 2>&1
}
[ ! -x /usr/bin/python3 ] || study || { complain "scale does not submit"; cat study.out; }

# each command; both kinds of binding
heat=$(submit heat 2 1 heat-cpu.sbatch --dims 2 --n 33 --initial "sin(x)" --t_end 0.01)
quad=$(LAUNCHER=mpirun submit quad 1 2 quad-cpu.sbatch "exp(-x^2)" --lower 0 --upper 1)
ode=$(LAUNCHER=mpirun submit ode 2 1 ode-cpu.sbatch lorenz --t_end 1 --trajectories 100)
gpu=$(sbatch --parsable --ntasks-per-node=1 --gpus-per-node=1 --cpus-per-task=1 --time=5 --output=gpu.log \
  "$jobs/heat-gpu.sbatch" "$HALOSWEEP_SOURCE/configs/heat3d.ini" --t_end 1)
ended "$heat" heat COMPLETED 0:0
ended "$quad" quad COMPLETED 0:0
ended "$ode" ode COMPLETED 0:0
says heat.log "2 ranks, 1 thread each (--threads), 1 allowed core per rank"
says quad.log "1 rank, 2 threads each (--threads), 2 allowed cores per rank"
says ode.log "2 ranks, 1 thread each (--threads), 1 allowed core per rank"
[ -e /dev/nvidia0 ] || { ended "$gpu" gpu FAILED 7:0 && says gpu.log "backend cuda"; }

# what was put back has ended by now
for name in stopped array-0 array-1; do
  case $name in stopped) job=$stopped ;; *) job=${array}_${name#array-} ;; esac
  ended "$job" $name COMPLETED 0:0
  [ "$(print $name.log | tail -n 1)" = "$(print whole)" ] || complain "$name: another answer"
  case $name in array-0) legs=0 ;; *) legs=1 ;; esac
  [ "$(slurm_field "$job" Restarts)" = $legs ] || complain "$name: $(slurm_field "$job" Restarts) restarts, expected $legs"
  [ "$(grep -c "^going on from .*, at [1-9]" $name.log)" = $legs ] || { complain "$name: not gone on with"; cat $name.log; }
done
[ "$(slurm_legs "$stopped" | tr '\n' ' ')" = "$stopped|PENDING $stopped|COMPLETED " ] || complain "sacct: $(slurm_legs "$stopped")"
grep -q "check_every = 60" r-1.json || complain "the array's second value"

# cancelled: saved, and not put back
cancelled=$(submit cancelled 1 1 solve-cpu.sbatch "${endless[@]}")
killed=$(LAUNCHER=mpirun submit killed 1 1 solve-cpu.sbatch "${endless[@]}")
slurm_checkpoint "$cancelled" 20 && slurm_checkpoint "$killed" 20 || complain "no start"
scancel "$cancelled"
slurm_wait "$cancelled" 20
[ "$(slurm_field "$cancelled" JobState)" = CANCELLED ] || complain "cancelled: $(slurm_field "$cancelled" JobState)"
says cancelled.log "stopped by SIG"
says cancelled.log "is being ended: not put back"

# a rank that dies ends the job, and the last checkpoint serves the next one
rank=$(pgrep -f "^$HALOSWEEP solve .*ck-$killed.h5" | tail -n 1)
kill -9 "$rank"
ended "$killed" killed FAILED 137:0
again=$(CHECKPOINT=ck-$killed.h5 submit again 1 1 solve-cpu.sbatch "${endless[@]/100000000/1}")
ended "$again" again COMPLETED 0:0
says again.log "going on from ck-$killed."

if [ -x /usr/bin/python3 ]; then
  study --wait || complain "scale --wait"
  says study.out "Amdahl, ref, 1 thread"
  [ "$(squeue --noheader --states=all --name=r1-t1-ref,r2-t1-ref --format=%T | tr '\n' ' ')" = "COMPLETED COMPLETED " ] ||
    complain "scale: other jobs than two"
fi

slurm_stop
for ((i = 0; i < 30; i++)); do left=$(slurm_processes); [ -z "$left" ] && break; sleep 0.1; done
[ -z "$left" ] || complain "left behind: $(ps -o pid=,args= -p "${left//$'\n'/,}")"
exit $bad
