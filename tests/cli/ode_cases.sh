#!/usr/bin/env bash
# `ode` from its command line, by the numbers of ../shared/cases: 137 (blow-up), 139 (NaN in start, right-hand
# side, event, times), 140 and 143 (trial steps outside the domain), 145 (steps that do not divide the span), 146
# (a last step below dt_min), 148 and 149 (events), 151 (Lorenz), 152 (members that overflow), 154 (a first step
# longer than the span).
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export HALOSWEEP_CC=/none # interpreted: the same bits, without a compiler started for each
bad=0 name=
complain() { echo "$name: $*"; cat out err; bad=1; }
number() { sed -n "s/^ *\"$1\": \(-\{0,1\}[0-9.e+-]*\),\{0,1\}\$/\1/p" r.json | tail -1; }
word() { sed -n "s/^ *\"$1\": \"\(.*\)\",\{0,1\}\$/\1/p" r.json | tail -1; }
final() { tr -d '\n ' <r.json | sed -n "s/.*\"final\":\[\([^]]*\)\].*/\1/p" | cut -d, -f "${1:-1}"; }
close() { awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { d = a - b; exit !(a != "" && a != "null" && d <= t && -d <= t) }' || complain "$1 is not $2"; }
run() { # code, text, words of ode
  local code=$1 text=$2 rc
  shift 2
  rm -f r.json
  timeout 20 "$HALOSWEEP" ode "$@" --report r.json --progress off >out 2>err
  rc=$?
  [ $rc = "$code" ] || complain "exit $rc, expected $code: $*"
  cat out err | grep -qF -- "$text" || complain "does not say '$text': $*"
}
saved() { # the saved states of x.h5: a line per instant of trajectory 0
  /usr/bin/python3 -c 'import h5py; [print(*row) for row in h5py.File("x.h5")["ode/saved"][0]]' 2>/dev/null
}

name=137
blow=(--equations.dy "y^2" --initial 1 --t_end 2)
run 4 "at t = 1.0000" "${blow[@]}" --rtol 1e-8
close "$(number time)" 1 1e-3
[ "$(number failed) $(word reason)" = "1 trajectories_failed" ] || complain "$(number failed) failed, $(word reason)"
grep -q '"mean": \[ *null' <(tr '\n' ' ' <r.json) || complain "a mean of nothing"
run 0 "done" --equations.dy "y^2" --initial 1 --t_end 0.9 --rtol 1e-8
close "$(final)" 10 1e-5
run 4 "at t = 1.0" "${blow[@]}" --method rk4 --dt 0.01
grep -q "(not_finite)" out || complain "states at a failure are not called so"

name=139
run 4 "x is NaN at t = 0" lorenz --t_end 1 --initial "0/0, 1, 1"
run 4 "the derivative of x is NaN right after t = 0.5" --equations.dx "t > 0.5 ? 0/0 : 1" --initial 1 --t_end 1
run 4 "the derivative of x is NaN right after t = 0.5" --equations.dx "t > 0.5 ? 0/0 : 1" --initial 1 --t_end 1 --method rk4 --dt 0.01
run 4 "the event is NaN right after t = 0.5" --equations.dx 1 --initial 1 --t_end 1 --event "1 + sqrt(0.5 - t)"
run 4 "the event is NaN in the step from t = 0.4799" --equations.dx 1 --initial 1 --t_end 1 --event "1 + sqrt(0.5 - t)" --method rk4 --dt 0.12
run 4 "the derivative of omega is -inf at t = 0" pendulum --t_end 1 --parameters.l 0
run 2 "NaN" lorenz --t_end nan
run 2 "NaN" lorenz --t_end 1 --t_start nan

name="components that are 0, atol 0"
still=(--equations.dx "-x" --equations.dz 0 --initial "1, 0" --t_end 1 --atol 0)
for method in tsit5 rodas4 tr-bdf2 backward-euler; do
  run 0 "done" "${still[@]}" --method $method
  close "$(final)" 0.36787944117144233 1e-3
done
run 0 "done" robertson --t_end 1 --atol 0
run 0 "done" --equations.dx 1 --initial 0 --t_start 1 --t_end 2 --atol 0
close "$(final)" 1 1e-12

name=140
run 0 "done" --equations.dy "y + 0*sqrt(20 - y)" --initial 1 --t_end 2.9704144655697009 --dt 2.9 --rtol 1e-8
close "$(final)" 19.5 1e-6
[ "$(number rejected)" -gt 0 ] || complain "no trial step left the domain"

name=143
root=(--equations.du "-sqrt(u)" --initial 1)
run 0 "done" "${root[@]}" --t_end 1 --rtol 1e-8
close "$(final)" 0.25 1e-6
run 4 "t = 2.00" "${root[@]}" --t_end 3
close "$(final)" 0 1e-6
run 4 "t = 1.99" "${root[@]}" --t_end 3 --method rk4 --dt 0.01
grep -qi "nan" out && complain "NaN is presented"

name=145
growth=(--equations.dy y --initial 1 --t_end 1 --method rk4)
while read -r dt steps value; do
  run 0 "done" "${growth[@]}" --dt "$dt"
  [ "$(number steps) $(number time)" = "$steps 1.0" ] || complain "dt $dt: $(number steps) steps to $(number time)"
  close "$(final)" "$value" 1e-14
done <<<'0.3 4 2.7181528975017692
0.1 10 2.7182797441351627
5 1 2.7083333333333335'
grep -q "dt = 5 is longer than the whole run: one step of 1" err || complain "a long dt is shortened silently"

name=146
run 0 "done" --equations.dy "-y" --initial 1 --t_end 0.100001 --dt 0.1 --dt_min 1e-5 --rtol 1e-2 --save_at 0.1 --output x.h5
close "$(final)" 0.90483651 1e-3
run 0 "done" --equations.dy 1 --initial 0 --t_end 1e-6 --dt_min 1e-5
run 4 "ever smaller steps" "${blow[@]}" --dt_min 1e-5
close "$(number time)" 1 0.01

run 4 "ever smaller steps" lorenz --t_end 1 --rtol 1e-12 --dt_min 0.1 # not by steps that begin small and are all taken
run 0 "done" --equations.dy "-y" --initial 1 --t_start 1.05 --t_end 0 --dt 1e-5 --dt_min 0.1 --rtol 1e-3
[ "$(number steps)" -le 11 ] || complain "$(number steps) steps of 0.1 at least"

name=148
line=(--equations.dy=-1 --method rk4 --dt 0.25 --t_end 2)
run 0 "(event)" "${line[@]}" --initial 1 --event y
[ "$(number time) $(number steps) $(number failed)" = "1.0 4 0" ] || complain "event at $(number time) after $(number steps) steps"
run 0 "(done)" "${line[@]}" --initial 0 --event y
[ "$(number time)" = 2.0 ] || complain "a zero at the start is no crossing"
run 0 "(event)" "${line[@]}" --initial 0.3 --event "y*(y + 1)" # behind a zero at a start in motion
close "$(number time)" 0.3 1e-14
run 0 "(event)" --equations.dy "-y" --initial 0 --sweep.y "0" --event "t - 0.7" --t_end 2 --rtol 1e-2
close "$(number time)" 0.7 1e-15

name=149
fall=(--equations.dy v --equations.dv=-10 --initial "1000,0" --t_end 100 --event y)
run 0 "(event)" "${fall[@]}" --output x.h5 --save_at "$(seq -s, 0 20)"
close "$(number time)" 14.142135623730951 1e-12
close "$(final 1)" 0 1e-8
if [ -n "$(saved)" ]; then
  [ "$(saved | grep -vc nan)" = 15 ] || complain "$(saved | grep -vc nan) of 15 instants are saved"
  saved | awk '{ d = $1 - (1000 - 5*(NR - 1)^2) } $1 != "nan" && (d > 1e-9 || d < -1e-9) { exit 1 }' || complain "saved: $(saved)"
fi

name=151
run 0 "done" lorenz --t_end 1 --rtol 1e-12 --atol 1e-12
first=$(word fingerprint)
close "$(final 1)" -9.3785700109250616 1e-9
close "$(final 2)" -8.3570337884266443 1e-9
close "$(final 3)" 29.36232533736343 1e-9
run 0 "done" lorenz --t_end 1 --rtol 1e-12 --atol 1e-12 --backend ref
[ -n "$first" ] && [ "$(word fingerprint)" = "$first" ] || complain "other bits"
run 0 "done" lorenz --t_end 5 --rtol 1e-12 --atol 1e-12
close "$(final 1)" -6.5121136994195989 1e-8
run 0 "done" lorenz --t_end 10 --rtol 1e-12 --atol 1e-12
close "$(final 1)" -4.9026875411346458 1e-6
close "$(final 2)" -3.7438729218029194 1e-6
close "$(final 3)" 24.690858102790557 1e-6

name=152
run 4 "8 of 20 trajectories failed" --equations.dy "y^2" --sweep.y "linspace(0.1, 2, 20)" --initial 0 --t_end 0.8 --rtol 1e-8
[ "$(number failed) $(number first_failed)" = "8 12" ] || complain "$(number failed) failed, the first $(number first_failed)"
close "$(grep "(done)" out | sed 's/.*y = \([^ ]*\) .*/\1/' | awk '{ s += $1 } END { printf "%.9f", s }')" 54.511026207755393 1e-4
mean=$(tr -d '\n ' <r.json | sed 's/.*"mean":\[\([^]]*\)\].*/\1/')
close "$mean" 4.5425855173129 1e-5
grep -q "19: y = .* at t = 0.500[0-9]* (step_too_small)" out || complain "the last member's time"

name="slopes beyond any scale" # the first step is not estimated as 0
run 0 "done" --equations.dx "1e300*x" --initial 1 --t_end 1e-300 --rtol 1e-8
close "$(final)" 2.718281828459045 1e-7
run 4 "not finite in the step from" --equations.dx "1e300*x" --initial 1 --t_end 1 --max_steps 1e5

name=154
run 0 "done" --equations.dy y --initial 1 --t_end 0.01 --dt 0.1 --rtol 1e-8
close "$(final)" 1.0100501670841679 1e-8
[ "$(number time)" = 0.01 ] || complain "time $(number time)"
exit $bad
