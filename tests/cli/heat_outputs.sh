#!/usr/bin/env bash
# What heat records: saved times, totals, probes, history, run.vtkhdf; that asking changes no bit of the run, nor
# ranks of what is recorded; fields out of files; what is refused.
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
complain() { echo "$what: $*"; bad=1; }
heat() { "$HALOSWEEP" heat "$@" --progress off > out 2> err; rc=$?; }
expect() {
  local code=$1
  shift
  [ $rc = "$code" ] || complain "exit $rc, expected $code: $(cat err)"
  for word in "$@"; do cat out err | grep -qF -- "$word" || complain "'$word' was not said: $(cat out err)"; done
}
same() { [ "$1" = "$2" ] || complain "'$1' and '$2' should be equal"; }
print() { sed -n 's/^fingerprint  //p' out; }
column() { cut -d, -f"$2" "$1" | tail -n +2 | tr '\n' ' '; }
B="--n 9,7,5 --initial x+10*y+100*z --boundary neumann(0) --dt 1e-3"
asked="--save_every 6 --save_at 0.0035,0.012 --probe (0.5,0.5,0.5),(0.125,1,0.75),(0.3,0.1,0.9)"

what="asking changes no bit"
heat $B --steps 20; expect 0 "solution not kept"
plain=$(print)
heat $B --steps 20 $asked --output run.vtkhdf --history h.csv --report r.json; expect 0
same "$(print)" "$plain"
grep -q '"saved_times": 6' r.json || complain "saved_times: $(grep saved r.json)"
same "$(ls -A | tr '\n' ' ')" "err h.csv out r.json run.vtkhdf "

what="history"
same "$(head -1 h.csv)" "step,time,total_heat,minimum,maximum,mean,probe_1,probe_2,probe_3"
same "$(column h.csv 1)" "0 4 6 12 18 20 "
same "$(column h.csv 2)" "0 0.0040000000000000001 0.0060000000000000001 0.012 0.018000000000000002 0.02 "
same "$(column h.csv 3)" "55.5 55.5 55.5 55.5 55.5 55.5 " # no flux: kept; on a unit box the mean, too
same "$(column h.csv 6)" "$(column h.csv 3)"
# probes on a grid point, and between: the field is linear at the start
same "$(sed -n 2p h.csv)" "0,0,55.5,0,111,55.5,55.5,85.125,91.299999999999997"

what="ranks"
mpirun -n 7 "$HALOSWEEP" heat $B --steps 20 $asked --output r7.vtkhdf --history h7.csv --quiet > out 2> err ||
  complain "exit $?: $(cat err)"
cmp h.csv h7.csv || complain "another history"
cmp -i 4096 -n $((6 * 315 * 8)) run.vtkhdf r7.vtkhdf || complain "other fields"

what="the config makes it again"
"$HALOSWEEP" inspect run.vtkhdf > out 2> err || complain "inspect: $(cat err)"
for word in "scheme             ftcs" "/VTKHDF/PointData/u 1890" "/heat/probes 18" "/heat/total_heat 6"; do
  grep -qF "$word" out || complain "inspect does not say '$word': $(cat out)"
done
"$HALOSWEEP" inspect run.vtkhdf --config --quiet > again.ini
cp run.vtkhdf first.vtkhdf
heat again.ini; expect 0
same "$(print)" "$plain"
cmp -i 4096 -n $((6 * 315 * 8)) run.vtkhdf first.vtkhdf || complain "other fields"

what="only the last"; heat $B --steps 3 --output last.vtkhdf --history l.csv; expect 0
same "$(column l.csv 1)" "3 "
what="t_end"; heat $B --t_end 0.0105 --save_at 0,0.0105,0.01 --history t.csv; expect 0
same "$(column t.csv 1)" "0 10 11 "
same "$(column t.csv 2)" "0 0.01 0.010500000000000001 "

what="periodic"
heat --n 8 --initial "cos(2*pi*x)" --boundary periodic --dt 1e-3 --steps 1 --save_every 1 --probe "(0.9375),(1),(0)" \
  --history p.csv; expect 0
same "$(sed -n 2p p.csv | cut -d, -f8,9)" "1,1"
awk -F, 'NR == 2 {d = $7 - (1 + sqrt(0.5)) / 2; exit !(d < 1e-15 && d > -1e-15)}' p.csv || complain "$(cat p.csv)"

what="initial from a run"
heat $B --steps 25; goal=$(print)
heat --n 9,7,5 --initial run.vtkhdf --boundary "neumann(0)" --dt 1e-3 --steps 5; expect 0
same "$(print)" "$goal"
heat --n 9,7,5 --initial "run.vtkhdf:/VTKHDF/PointData/u[3]" --boundary "neumann(0)" --dt 1e-3 --steps 13
same "$(print)" "$goal"
mkdir -p sub && printf '[heat]\nn = 9, 7, 5\ninitial = ../run.vtkhdf\nboundary = neumann(0)\ndt = 1e-3\nsteps = 5\n' > sub/i.ini
heat sub/i.ini; expect 0
same "$(print)" "$goal"

what="alpha from a file"
heat --n 9,7,5 --initial "1+x*y*z" --boundary "neumann(0)" --steps 0 --output alpha.vtkhdf; expect 0
A="--n 9,7,5 --initial x*y*z --boundary neumann(0) --dt 5e-4 --steps 9"
heat $A --alpha "1+x*y*z"; goal=$(print)
heat $A --alpha alpha.vtkhdf; same "$(print)" "$goal"
mpirun -n 6 "$HALOSWEEP" heat $A --alpha alpha.vtkhdf > out 2> err
same "6 ranks: $(print)" "6 ranks: $goal"
heat --n 9,7,5 --initial "1+(x+y+z)*(x<1)" --boundary periodic --steps 0 --output around.vtkhdf; expect 0
A="--n 9,7,5 --initial sin(2*pi*x)*y --boundary periodic --dt 5e-4 --steps 9"
heat $A --alpha "1+(x+y+z)*(x<1)"; goal=$(print)
mpirun -n 3 "$HALOSWEEP" heat $A --alpha around.vtkhdf > out 2> err
same "$(print)" "$goal"

what="vectors"; heat --n 3,2 --initial "x+y" --boundary "dirichlet(initial)" --steps 1 --output v.txt; expect 0
same "$(grep -v '^#' v.txt | tr -d ' ' | tr '\n' ' ')" "0 0.5 1 1 1.5 2 "

what="other shapes"
heat --n 9,7,6 --initial run.vtkhdf --steps 1; expect 3 "(6, 5, 7, 9)" "(6, 7, 9)" run.vtkhdf
heat --n 9,7,5 --length 2 --initial run.vtkhdf --steps 1; expect 3 "spacing 0.125" "0.25"
heat --n 9,7,5 --initial none.vtkhdf --steps 1; expect 3 none.vtkhdf
heat --n 9,7,5 --initial run.vtkhdf:/u --steps 1; expect 3 "no dataset /u"
heat --n 9,7,5 --initial x --boundary "neumann(0)" --steps 0 --output zero.vtkhdf; expect 0
heat --n 9,7,5 --initial x --alpha zero.vtkhdf --steps 1; expect 3 "expected a positive number"
heat --n 9,7,5 --initial x --source run.vtkhdf --steps 1; expect 2 "expected an expression"
what="an output that is an input"; heat --n 9,7,5 --initial run.vtkhdf --steps 1 --output run.vtkhdf; expect 2 "also an input"
what="nowhere to record"
for key in "save_every 2" "save_at 0.1" "probe (0.5)"; do
  heat --n 9 --initial x --steps 4 --${key% *} "${key#* }"; expect 2 "${key% *}" "--output run.vtkhdf"
done
what="outside"; heat --n 9 --initial x --steps 4 --probe "(0.5),(1.5)" --history x.csv; expect 2 "number 2" outside
what="too many coordinates"; heat --n 9 --initial x --steps 4 --probe "(0.5,0.5)" --history x.csv; expect 2 "expected 1"
what="behind the end"; heat --n 9 --initial x --t_end 1 --save_at 0.5,2 --history x.csv; expect 2 save_at "t_end = 1"
what="an odd ending"; heat --n 9 --initial x --steps 4 --output x.png; expect 2 .vtkhdf
what="not ours"; echo mine > x.vtkhdf; heat --n 9 --initial x --steps 4 --output x.vtkhdf; expect 2 "not written by halosweep"
same "$(cat x.vtkhdf)" mine
what="no folder"; heat --n 9 --initial x --steps 4 --output no/x.vtkhdf; expect 6 no/x.vtkhdf
rm -f x.vtkhdf

# Steps that a scheme chooses are not shortened for saved times: the first step at or past each is saved.
what="saved times of steps of its own"
own="--n 65 --initial x>0.5 --t_end 0.2 --scheme tr-bdf2"
heat $own; expect 0; goal=$(print)
heat $own --save_at 0.01,0.05,0.1001,0.1002 --history own.csv; expect 0
same "$(print)" "$goal"
heat $own --save_every 1 --history all.csv; expect 0
same "$(column own.csv 2)" "$(awk -F, 'BEGIN { split("0.01 0.05 0.1001 0.2", at, " "); k = 1 }
  NR > 1 && $2 >= at[k] { printf "%s ", $2; k++ }' all.csv)"
what="times behind the last step"
heat --n 9 --initial x --steps 4 --save_at 3,4 --history late.csv; expect 0 "2 of the times lie behind the last step"

# Case 94: the last good times stay, the field that is not finite is not written.
what="not finite"
heat --n 9 --initial "x" --source "step(t-0.02)*1e308*1e308" --dt 1e-3 --steps 60 --save_every 10 --output nan.vtkhdf --history n.csv
expect 5 "not finite"
same "$(column n.csv 1)" "0 10 20 "
"$HALOSWEEP" inspect nan.vtkhdf 2> err | grep -q "/VTKHDF/PointData/u 27" || complain "$(cat err)"
exit $bad
