#!/usr/bin/env bash
# `heat` in pieces is `heat` in one go: the same bits, step and time, on other ranks, threads and backends,
# for every scheme and kind of face (cases 82, 83, 95, 97); another problem is refused, naming what differs
# (case 89); asking for checkpoints changes no bit; a finished run returns at once; a signal and the time
# limit stop in order.
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0 name=
complain() { echo "$name: $*"; cat err; bad=1; }
print() { sed -n 's/^fingerprint  //p' "$1"; }
field() { sed -n "s/^ *\"$1\": \([0-9.e-]*\),\{0,1\}\$/\1/p" "$2" | tail -1; }

try() { # name, cut, ranks of the second piece, words of heat, the last of them --steps N or --t_end T
  name=$1 cut=$2
  local ranks=$3
  shift 3
  local head=("${@:1:$#-2}") end=("${@: -2}")
  rm -f ck.*.h5
  "$HALOSWEEP" heat "$@" --report whole.json --progress off >whole.out 2>err || complain "whole run: exit $?"
  "$HALOSWEEP" heat "${head[@]}" --steps "$cut" --checkpoint ck.h5 --checkpoint.every 7 --progress off \
    --backend ref >out 2>err || complain "first piece: exit $?"
  [ -f "ck.$(printf %06d "$cut").h5" ] || complain "no checkpoint at $cut"
  mpirun -n "$ranks" "$HALOSWEEP" heat "$@" --checkpoint ck.h5 --restart latest --threads 2 --report r.json \
    --checkpoint.every 50 --progress off >out 2>err || complain "second piece: exit $?"
  [ -n "$(print whole.out)" ] && [ "$(print out)" = "$(print whole.out)" ] || complain "other bits"
  for key in steps time dt minimum maximum total_heat; do
    [ "$(field $key r.json)" = "$(field $key whole.json)" ] || complain "$key: $(field $key r.json)"
  done
  [ "$(field steps_this_run r.json)" = $(($(field steps whole.json) - cut)) ] ||
    complain "$(field steps_this_run r.json) steps in this run"
}

plate="--n 23,18 --length 1,2 --dt 0.002"
try dirichlet 67 3 $plate --scheme rkl2 --initial "sin(pi*x)*y" --boundary "dirichlet(initial)" --steps 200
# finished: at once; and on, with more steps
"$HALOSWEEP" heat $plate --scheme rkl2 --initial "sin(pi*x)*y" --boundary "dirichlet(initial)" --steps 200 \
  --checkpoint ck.h5 --restart latest --report r.json --progress off >out 2>err || complain "exit $?"
[ "$(print out) $(field steps_this_run r.json)" = "$(print whole.out) 0" ] || complain "not at once"
name="another problem"
printf '[heat]\nn = 23, 18\nlength = 1, 2\ndt = 0.002\nscheme = rkl2\ninitial = sin(pi*x)*y\nsteps = 200
boundary = dirichlet(initial)\n[checkpoint]\nfile = ck.h5\nrestart = latest\n' >plate.ini
for change in "n 22,18" "alpha 1.5" "dt 0.001" "length 1,1.9" "boundary dirichlet(1)"; do
  "$HALOSWEEP" heat plate.ini --${change% *} "${change#* }" --progress off >out 2>err
  [ $? = 2 ] || complain "$change: not exit 2"
  grep -q "heat.${change% *}: .* in the checkpoint, .* in this run" err || complain "$change: does not name it"
done
try flux_in_time 100 5 --n 40,9 --scheme rk4 --initial "x*y" --boundary_xmin "neumann(sin(9*t))" \
  --boundary_xmax "robin(2, t)" --boundary_ymin "dirichlet(x*cos(t))" --boundary_ymax "neumann(0)" \
  --alpha "1+x*y" --source "x*t" --dt 7e-5 --t_end 0.0141
try box_around 30 2 --dims 3 --n 7,6,5 --scheme ftcs --initial "sin(2*pi*x)+y" --boundary periodic --steps 61
try line_around 9 3 --n 1100 --scheme rkl2 --initial "exp(-100*(x-0.3)^2)" --boundary periodic --dt 1e-4 \
  --steps 30
try one_plane 3 4 --n 300,1 --scheme ftcs --initial "x" --boundary "neumann(0)" --steps 12

try implicit 3 2 --n 40,33 --scheme crank-nicolson --initial "x*y" --boundary_xmin "neumann(sin(9*t))" \
  --boundary_xmax "robin(2, t)" --boundary_ymin periodic --boundary_ymax periodic --alpha "x<0.3?100:1+x" --dt 0.01 --t_end 0.095
try own_steps 9 3 --dims 2 --n 30 --scheme tr-bdf2 --initial "x>0.5" --boundary "neumann(sin(9*t))" --steps 25

# what auto chose is that of the problem, the end time and the tolerance: other ranks and backends go on with it
for to in "0.003 ftcs 50" "0.1 rkl2 30"; do
  read -r end scheme every <<<"$to"
  name="auto, $scheme"
  auto="--n 100 --initial sin(pi*x) --alpha 1+x --t_end $end --progress off"
  rm -f ck.*.h5
  "$HALOSWEEP" heat $auto --checkpoint ck.h5 --checkpoint.every "$every" --report whole.json >whole.out 2>err ||
    complain "whole run: exit $?"
  rm "$(ls ck.*.h5 | tail -1)" # the end
  mpirun -n 3 "$HALOSWEEP" heat $auto --checkpoint ck.h5 --restart latest --backend ref --report r.json \
    >out 2>err || complain "exit $?"
  grep -q "\"scheme\": \"$scheme\"" r.json || complain "another scheme"
  [ -n "$(print out)" ] && [ "$(print out)" = "$(print whole.out)" ] || complain "other bits"
  [ "$(field steps_this_run r.json)" -lt "$(field steps r.json)" ] || complain "a fresh start"
done
"$HALOSWEEP" heat --n 100 --initial "sin(pi*x)" --alpha 1+x --t_end 0.003 --checkpoint ck.h5 --restart latest >out 2>err
[ $? = 2 ] || complain "auto for another end time: not exit 2"
grep -q "heat.scheme: rkl2 in the checkpoint, ftcs in this run" err || complain "does not say what auto chose"

name="saved times of steps of its own"
own="--dims 2 --n 30 --scheme tr-bdf2 --initial x>0.5 --boundary neumann(sin(9*t)) --t_end 0.03 --save_at 0.001,0.02 --progress off"
rm -f ck.*.h5
"$HALOSWEEP" heat $own --history whole.csv --checkpoint ck.h5 --checkpoint.every 10 >whole.out 2>err ||
  complain "whole run: exit $?"
printf "%s\n" ck.*.h5 | tail -2 | xargs rm --
mpirun -n 2 "$HALOSWEEP" heat $own --history h.csv --checkpoint ck.h5 --restart latest >out 2>err || complain "exit $?"
[ "$(print out)" = "$(print whole.out)" ] && cmp h.csv whole.csv || complain "another history: $(cat h.csv whole.csv)"

name="on past a shortened step"
rm -f ck.*.h5
short="--n 7 --initial x*x --alpha 0.1 --scheme rk4 --dt 0.002 --checkpoint ck.h5 --restart latest --progress off"
for end in "t_end 0.0105" "t_end 0.0205"; do
  "$HALOSWEEP" heat $short --$end --report r.json >out 2>err || complain "$end: exit $?"
done
[ "$(field steps r.json) $(field time r.json)" = "11 0.020500000000000001" ] ||
  complain "step $(field steps r.json), time $(field time r.json)"
"$HALOSWEEP" heat $short --t_end 0.01 --report r.json >out2 2>err || complain "before: exit $?"
[ "$(field steps_this_run r.json) $(field time r.json)" = "0 0.020500000000000001" ] ||
  complain "an end that is past: step $(field steps r.json), time $(field time r.json)"
rm -f ck.*.h5
for end in "t_end 0.0105" "steps 8" "t_end 0.0205"; do
  "$HALOSWEEP" heat $short --$end --report r.json >again 2>err || complain "$end: exit $?"
done
[ "$(print out)" = "$(print again)" ] || complain "other bits in three pieces"

name=signal
slow="--dims 2 --n 400 --scheme ftcs --initial x*y --steps 100000000"
rm -f ck.*.h5
"$HALOSWEEP" heat $slow --checkpoint ck.h5 --report r.json --progress off >out 2>err &
pid=$!
sleep 0.7
kill -USR1 $pid
wait $pid
[ $? = 75 ] || complain "not exit 75"
grep -q "SIGUSR1 after [0-9]* steps; .*go on with --restart latest" err || complain "does not say so"
at=$(field steps r.json)
name="time limit"
"$HALOSWEEP" heat $slow --checkpoint ck.h5 --restart latest --time_limit 0.5s --report r.json --progress off \
  >out 2>err
[ $? = 75 ] || complain "not exit 75"
[ "$(field steps r.json)" -gt "$at" ] && [ "$(field steps_this_run r.json)" = $(($(field steps r.json) - at)) ] ||
  complain "went on from $at to $(field steps r.json)"
"$HALOSWEEP" heat $slow --time_limit 0.2s --progress off >out 2>err
[ $? = 4 ] || complain "without a checkpoint: not exit 4"
exit $bad
