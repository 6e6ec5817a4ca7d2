#!/usr/bin/env bash
# Stopping on request: SIGUSR1, SIGTERM, SIGINT, the time limit, the end of the allocation; with and
# without a checkpoint; at any moment of the run; under mpirun; and the run continued is the whole one
# (cases 181, 182, 184, 185).
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
long=(--problem poisson2d --n 250 --method jacobi --iterations 100000000 --threads 1 --progress off)
fixed=(--problem poisson2d --n 250 --method jacobi --iterations 20000 --format csr --threads 1 --progress off) # seconds
complain() { echo "$*"; cat err; bad=1; }
print() { sed -n 's/^fingerprint  //p' "$1"; }
stop() { # stop SIGNAL CODE 'text' command...
  local signal=$1 code=$2 text=$3
  shift 3
  rm -f err # else the last one is read, until this one is there
  "$@" >out 2>err &
  local p=$! i
  # it is at work (on a busy machine starting takes a while)
  for ((i = 0; i < 200; i++)); do grep -qs "no rhs given" err && break; sleep 0.1; done
  sleep 0.5
  kill -"$signal" $p
  wait $p
  local got=$?
  [ $got = "$code" ] || complain "SIG$signal: exit $got, expected $code: $*"
  grep -qF -- "$text" err || complain "SIG$signal: no '$text'"
}
for s in USR1 TERM INT; do
  rm -f ck.*.h5
  stop $s $((128 + $(kill -l $s))) "stopped by SIG$s" "$HALOSWEEP" solve "${long[@]}"
  stop $s 75 "is written: go on with --restart latest" "$HALOSWEEP" solve "${long[@]}" --checkpoint ck.h5 --report r.json
  grep -q '"reason": "signal"' r.json && grep -q '"exit_code": 75' r.json || complain "report of $s"
  compgen -G 'ck.*.h5' >/dev/null || complain "no checkpoint after $s"
done

# through mpirun SIGUSR1 reaches the ranks, and 75 comes back; the continued run is the whole one
rm -f ck.*.h5
"$HALOSWEEP" solve "${fixed[@]}" --history whole.csv >whole.out 2>err || complain "the whole run"
stop USR1 75 "is written" mpirun -n 2 "$HALOSWEEP" solve "${fixed[@]}" --checkpoint ck.h5
mpirun -n 3 "$HALOSWEEP" solve "${fixed[@]}" --checkpoint ck.h5 --restart latest --history h.csv >out 2>err ||
  complain "the continued run"
grep -q "going on from" err || complain "did not go on"
[ "$(print out)" = "$(print whole.out)" ] && cmp whole.csv h.csv || complain "another answer"

# a second SIGINT ends at once, whatever is going on (unless the first was quick enough)
: >err
"$HALOSWEEP" solve "${long[@]}" --checkpoint ck.h5 --checkpoint.every 1 >out 2>err &
p=$!
for ((i = 0; i < 200; i++)); do grep -q "no rhs given" err && break; sleep 0.1; done
sleep 0.2
kill -INT $p
kill -INT $p
wait $p
code=$?
[ $code = 130 ] || [ $code = 75 ] || complain "two SIGINT: exit $code"

# the time limit, and the end of the allocation
rm -f ck.*.h5
SECONDS=0
"$HALOSWEEP" solve "${long[@]}" --time-limit 2s --report r.json >out 2>err
[ $? = 4 ] && grep -q '"reason": "time_limit"' r.json || complain "time limit without a checkpoint"
mpirun -n 2 "$HALOSWEEP" solve "${long[@]}" --time-limit 2s --checkpoint ck.h5 >out 2>err
[ $? = 75 ] && grep -q "stopped by the time limit" err || complain "time limit with a checkpoint"
SLURM_JOB_END_TIME=$(($(date +%s) + 4)) "$HALOSWEEP" solve "${long[@]}" --checkpoint ck.h5 --restart latest >out 2>err
[ $? = 75 ] && grep -q "stopped by the time limit (SLURM_JOB_END_TIME, the end of the allocation) after" err || complain "end of the allocation"
[ $SECONDS -lt 30 ] || complain "the limits took $SECONDS s"

# during the set-up, where there is nothing to save yet: not first after the work has begun
rm -f ck.*.h5
setup=(--problem random-dominant --n 600000 --entries-per-row 20 --method jacobi --iterations 100000000 --progress off)
in_setup() { # in_setup CODE words...
  local want=$1 i p code
  shift
  rm -f err
  "$HALOSWEEP" solve "${setup[@]}" "$@" >out 2>err &
  p=$!
  for ((i = 0; i < 400; i++)); do grep -qs "1 rank" err && break; sleep 0.02; done
  kill -USR1 $p
  wait $p
  code=$?
  [ $code = "$want" ] && grep -qE "stopped by SIGUSR1 during the set-up, after (checking the options|making the matrix)" err ||
    complain "SIGUSR1 in the set-up: exit $code, expected $want"
}
in_setup 138
in_setup 75 --checkpoint ck.h5
"$HALOSWEEP" solve "${long[@]}" --time-limit 0.001s >out 2>err
[ $? = 4 ] && grep -q "stopped by the time limit during the set-up" err || complain "time limit in the set-up"
mpirun -n 2 "$HALOSWEEP" solve "${long[@]}" --time-limit 0.001s --checkpoint ck.h5 >out 2>err
[ $? = 75 ] && grep -q "during the set-up, after .*: nothing was computed yet; run again" err || complain "time limit in the set-up, 2 ranks"

# at odd moments: while starting and reading, while writing (every iteration saves), after the last step
awk 'BEGIN {n = 150000; print "%%MatrixMarket matrix coordinate real general"; print n, n, 2 * n
  for (i = 1; i <= n; i++) {print i, i, 4; print i, i % n + 1, -1}}' >a.mtx
for delay in 0.05 0.15 0.3 0.5; do
  rm -f ck.*.h5 x.h5
  "$HALOSWEEP" solve a.mtx --method jacobi --iterations 60 --checkpoint ck.h5 --checkpoint.every 1 \
    --output x.h5 --progress off >out 2>err &
  p=$!
  sleep $delay
  kill -TERM $p
  wait $p
  code=$?
  case $code in
    75) "$HALOSWEEP" solve a.mtx --method jacobi --iterations 60 --checkpoint ck.h5 --restart latest >out 2>err ||
      complain "after $delay s: not continued" ;;
    0 | 143) ;; # finished, or not yet ready to be asked
    *) complain "after $delay s: exit $code" ;;
  esac
  compgen -G '.*.part' >/dev/null && [ $code != 143 ] && complain "after $delay s: a temporary was left"
done
exit $bad
