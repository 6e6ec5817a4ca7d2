#!/usr/bin/env bash
# kill -9 of one rank, of all ranks, of mpirun, at random moments of runs that save all the time; then
# a restart. It must work every time, from an iteration > 0 when a checkpoint existed, and the run that
# gets through has the fingerprint and the history of the undisturbed one (cases 85, 188).
# KILLS: how many (tests/long runs 200); SEED: of the moments.
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
KILLS=${KILLS:-3} SEED=${SEED:-1}
RANDOM=$SEED
bad=0 from_zero=0 inside=0 finished=0
solve=("$HALOSWEEP" solve --problem poisson2d --n 300 --method jacobi --iterations 1500 --threads 1 --progress off)
complain() { echo "kill $round ($how): $*"; bad=1; }
print() { sed -n 's/^fingerprint  //p' "$1"; }

"${solve[@]}" --history whole.csv >whole.out 2>err || { cat err; exit 1; }
saving=(--checkpoint ck.h5 --restart latest --checkpoint.every 7 --history part.csv --report r.json)

# the pids of the ranks under a launcher
ranks_of() { pgrep -P "$1" 2>/dev/null; }

for ((round = 1; round <= KILLS; round++)); do
  case $((round % 3)) in 0) how=mpirun ;; 1) how=one ;; *) how=all ;; esac
  had=$(ls ck.*.h5 2>/dev/null | tail -1)
  rm -f r.json
  mpirun -n 2 "${solve[@]}" "${saving[@]}" >out 2>err &
  launcher=$!
  sleep "0.$((RANDOM % 6 + 2))$((RANDOM % 1000))"
  ranks=$(ranks_of $launcher)
  # half of the kills wait for a temporary: they land inside writing or renaming
  if ((round % 2)); then
    for ((i = 0; i < 300; i++)); do compgen -G '.ck.*.part' >/dev/null && break; sleep 0.002; done
  fi
  case $how in
    one) for p in $ranks; do kill -9 "$p" 2>/dev/null; break; done ;;
    all) for p in $ranks; do kill -9 "$p" 2>/dev/null; done ;;
    mpirun) kill -9 $launcher 2>/dev/null ;;
  esac
  compgen -G '.ck.*.part' >/dev/null && inside=$((inside + 1))
  wait $launcher 2>/dev/null
  code=$?
  for p in $ranks; do # orphans notice that their launcher is gone
    for ((i = 0; i < 200; i++)); do kill -0 "$p" 2>/dev/null || break; sleep 0.05; done
    kill -0 "$p" 2>/dev/null && complain "rank $p still runs 10 s after"
  done
  if [ -f r.json ] && [ $code = 0 ]; then # got through before the kill: start over
    [ "$(print out)" = "$(print whole.out)" ] || complain "other fingerprint"
    cmp -s whole.csv part.csv || complain "other history"
    finished=$((finished + 1))
    rm -f ck.*.h5
  elif [ -n "$had" ] && ! grep -q "going on from" err && grep -q "starting afresh" err; then
    complain "started afresh although $had was there"
    from_zero=$((from_zero + 1))
  fi
  grep -q "passed over" err && { complain "a checkpoint was damaged"; cat err; }
done

round=last how=none
had=$(ls ck.*.h5 2>/dev/null | tail -1)
rm -f r.json part.csv
mpirun -n 3 "${solve[@]}" "${saving[@]}" >out 2>err || { complain "the last restart failed"; cat err; }
[ "$(print out)" = "$(print whole.out)" ] || complain "other fingerprint"
cmp whole.csv part.csv || complain "other history"
if [ -n "$had" ]; then
  from=$(sed -n '/"restarted_from": {/,/}/s/.*"iteration": //p' r.json)
  [ "${from:-0}" -gt 0 ] || complain "restarted from ${from:-nothing} although $had was there"
fi
compgen -G '.ck.*.part' >/dev/null && complain "a temporary was left"
[ "$(ls ck.*.h5 | wc -l)" -le 2 ] || complain "more than 2 checkpoints kept"
echo "$KILLS kills, $inside inside writing, $finished runs finished first, last restart from ${from:-0}"
exit $bad
