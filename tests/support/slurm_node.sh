# A Slurm cluster that is this machine alone, as one node or several, for the tests of jobs/: source it, then
# slurm_start [NODES]. munged, slurmctld
# and slurmd run in a folder of their own, listen on loopback only, at ports that are free, and end with the
# test, even if that is killed. Packages: slurmctld slurmd slurm-client munge (slurm-wlm brings the first three).
# Accounting is jobcomp/filetxt, a line per leg, which `sacct -c` reads: slurmdbd would want a database server.
# shellcheck shell=bash

# Skips the test where there is no Slurm, or no right to be it.
slurm_needed() {
  local program
  for program in munged slurmctld slurmd sbatch srun mpirun; do
    PATH=$PATH:/usr/sbin:/sbin command -v $program >/dev/null && continue
    echo "skipped: $program was not found (Debian: slurmctld slurmd slurm-client munge)"
    exit 77
  done
  [ "$(env -u OMP_NUM_THREADS nproc)" -ge 2 ] || { echo "skipped: two CPUs are needed"; exit 77; }
  [ "$(id -u)" = 0 ] || { echo "skipped: daemons of Slurm that start jobs run as root"; exit 77; }
}

# Processes of this cluster that are there, but for this shell.
slurm_processes() {
  local file pid
  for file in $(grep -lsF "SLURM_CONF=$slurm_folder/" /proc/[0-9]*/environ); do
    pid=${file#/proc/}
    pid=${pid%/environ}
    [ "$pid" = $$ ] || [ "$pid" = "$BASHPID" ] || ! kill -0 "$pid" 2>/dev/null || echo "$pid" # grep itself is gone
  done
}

slurm_port() { # a free one
  local port
  while port=$((20000 + RANDOM % 20000)); (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do :; done
  echo "$port"
}

slurm_conf() { # nodes: what Slurm is to be
  local node cpus=2 f=$slurm_folder
  cat >"$f/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$(slurm_port)
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
AuthType=auth/munge
AuthInfo=socket=$f/munge.socket,cred_expire=5
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$f/state
SlurmdSpoolDir=$f/%n
TmpFS=$f/%n/tmp
SlurmctldPidFile=$f/slurmctld.pid
SlurmdPidFile=$f/slurmd.%n.pid
SlurmctldLogFile=$f/slurmctld.log
SlurmdLogFile=$f/slurmd.%n.log
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobCompType=jobcomp/filetxt
JobCompLoc=$f/legs
KillWait=5
SchedulerParameters=sched_interval=1,batch_sched_delay=0
ReturnToService=2
GresTypes=gpu
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
PartitionName=main Nodes=n[1-$1] Default=YES MaxTime=INFINITE State=UP PriorityTier=1 GraceTime=20
PartitionName=urgent Nodes=n[1-$1] MaxTime=INFINITE State=UP PriorityTier=10
CONF
  for ((node = 1; node <= $1; node++)); do
    mkdir -p "$f/n$node/tmp"
    printf 'NodeName=n%d NodeHostname=%s NodeAddr=127.0.0.1 Port=%d CPUs=%d Gres=gpu:1 State=UNKNOWN\n' \
      $node "$(hostname -s)" "$(slurm_port)" "$cpus" >>"$f/slurm.conf"
  done
  echo "Name=gpu File=/dev/null" >"$f/gres.conf" # one to ask for; it is not there
}

# Daemons by their own files, then whatever still has this cluster in its environment; the folder goes.
slurm_stop() {
  local pid file i
  [ -d "${slurm_folder:-}" ] || return 0
  SLURM_CONF=$slurm_folder/slurm.conf timeout 5 scancel --user=root 2>/dev/null
  sleep 0.3
  for file in "$slurm_folder"/slurmd.*.pid "$slurm_folder"/{slurmctld,munge}.pid; do
    pid=$(cat "$file" 2>/dev/null) && kill "$pid" 2>/dev/null
  done
  for ((i = 0; i < 20; i++)); do [ -e "$slurm_folder/slurmctld.pid" ] || break; sleep 0.1; done
  for pid in $(slurm_processes); do kill -9 "$pid" 2>/dev/null; done
  rm -rf "$slurm_folder"
}

slurm_start() { # [nodes]
  local i f
  PATH=$PATH:/usr/sbin:/sbin
  f=$(mktemp -d /tmp/slurm.XXXXXX) || return 1 # a short name: it holds sockets
  slurm_folder=$f
  chmod 711 "$f" && mkdir "$f/state" || return 1
  slurm_conf "${1:-1}"
  head -c 128 /dev/urandom >"$f/key" && chmod 600 "$f/key"
  # a test that is killed leaves no daemons
  (trap '' INT TERM; while kill -0 $$ 2>/dev/null; do sleep 1; done; slurm_stop) >/dev/null 2>&1 &
  export SLURM_CONF=$f/slurm.conf
  munged --key-file="$f/key" --socket="$f/munge.socket" --pid-file="$f/munge.pid" --log-file="$f/munge.log" \
    --seed-file="$f/munge.seed" --num-threads=1 || return 1
  slurmctld -c || return 1
  for ((i = 1; i <= ${1:-1}; i++)); do slurmd -N n$i || return 1; done
  srun --mpi=list 2>&1 | grep -q pmix || { echo "skipped: this Slurm has no pmix"; exit 77; }
  for ((i = 0; i < 150; i++)); do
    [ "$(sinfo --noheader --partition=main --format=%T 2>/dev/null)" = idle ] && return 0
    sleep 0.1
  done
  tail -n 20 "$f"/*.log
  return 1
}

slurm_field() { # job field: of scontrol show job
  scontrol --oneliner show job "$1" 2>/dev/null | tr ' ' '\n' | sed -n "s/^$2=//p" | head -n 1
}

slurm_wait() { # job seconds: until it has ended; 1 if it has not
  local i
  for ((i = 0; i < $2 * 5; i++)); do
    case $(slurm_field "$1" JobState) in COMPLETED | FAILED | CANCELLED | TIMEOUT | NODE_FAIL) return 0 ;; esac
    sleep 0.2
  done
  return 1
}

slurm_see() { # file text seconds: until the text is there
  local i
  for ((i = 0; i < $3 * 10; i++)); do
    grep -qsF -- "$2" "$1" && return 0
    sleep 0.1
  done
  return 1
}

slurm_checkpoint() { # job seconds: until it has written one, in this folder
  local i
  for ((i = 0; i < $2 * 20; i++)); do
    compgen -G "ck-$1.*.h5" >/dev/null && return 0
    sleep 0.05
  done
  return 1
}

slurm_legs() { # job: the legs that Slurm has on record
  sacct --completion --file="$slurm_folder/legs" --jobs="$1" --noheader --parsable2 --format=JobID,State 2>/dev/null
}
