#!/usr/bin/env bash
# `heat` from its command line, by the numbers of ../shared/cases: 76 and d5 (too large a dt is refused with
# the largest stable one), 77, 79, 80 (decay on uneven grids, more ranks than planes), 83 (17 digits), 94
# (NaN and overflow); and what is refused, with file and line.
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0 name=
complain() { echo "$name: $*"; cat err 2>/dev/null; bad=1; }
number() { sed -n "s/^ *\"$1\": \(-\{0,1\}[0-9.e+-]*\),\{0,1\}\$/\1/p" "$2" | tail -1; }
word() { sed -n "s/^ *\"$1\": \"\(.*\)\",\{0,1\}\$/\1/p" "$2" | tail -1; }
close() { # A B TOLERANCE
  awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { d = a - b; exit !(a != "" && d <= t && -d <= t) }'
}

run() { # code, words of heat
  local code=$1
  shift
  "${launch[@]+"${launch[@]}"}" "$HALOSWEEP" heat "$@" --report r.json --progress off >out 2>err
  [ $? = "$code" ] || complain "not exit $code: $*"
}
refused() { # code, text, words of heat
  local code=$1 text=$2
  shift 2
  rm -f r.json
  run "$code" "$@"
  grep -qF -- "$text" err || complain "does not say '$text'"
}
launch=()

name=76
grid="--dims 2 --n 50 --length 49 --scheme ftcs --initial x*y"
refused 2 "the largest stable dt is 0.25 " $grid --dt 10 --steps 200 --checkpoint ck.h5
refused 2 "the largest stable dt is 0.25 " $grid --dt 0.2500001 --steps 200
ls ck.*.h5 >/dev/null 2>&1 && complain "a checkpoint of a refused run"
run 0 $grid --dt 0.25 --steps 20
name=d5
refused 2 "the largest stable dt is 0.0001220703125 " --n 65 --initial "sin(63*pi*x)" --dt 0.00013427734375 \
  --steps 200 --scheme ftcs
run 0 --n 65 --initial "sin(63*pi*x)" --dt 0.0001220703125 --steps 2 --scheme ftcs

name=77
run 0 --n 33,17 --length 1,2 --initial "sin(3*pi*x)*sin(pi*y/2)" --dt 2e-4 --steps 300 --scheme ftcs \
  --exact "0.00413344331523927*sin(3*pi*x)*sin(pi*y/2)"
close "$(number error_max r.json)" 0 1e-13 || complain "error $(number error_max r.json)"
name=79
ranks=8
launch=(mpirun -n "$ranks")
run 0 --n 9,9,7 --initial "sin(pi*x)*sin(pi*y)*sin(pi*z)" --dt 1e-3 --steps 100 --scheme ftcs --threads 1
close "$(number maximum r.json)" 0.051996424681886179 1e-14 || complain "$ranks ranks: $(number maximum r.json)"
name=80
marks=
for ranks in 3 5; do
  launch=(mpirun -n "$ranks")
  run 0 --n 21,15 --initial "sin(pi*x)*sin(pi*y)" --dt 5e-4 --steps 200 --scheme ftcs --threads 1 \
    --exact "0.138414462136612*sin(pi*x)*sin(pi*y)"
  close "$(number error_max r.json)" 0 1e-13 || complain "$ranks ranks: error $(number error_max r.json)"
  marks="$marks$(word fingerprint r.json)
"
done
[ "$(printf %s "$marks" | sort -u | wc -l)" = 1 ] || complain "bits differ: $marks"
launch=()

name=83
run 0 --n 5 --initial x --boundary "dirichlet(initial)" --dt 0.002 --steps 7 --scheme ftcs
[ "$(number dt r.json)" = 0.002 ] || complain "dt $(number dt r.json)"
[ "$(number time r.json)" = 0.014 ] || complain "time $(number time r.json)"
name="times"
run 0 --n 5 --initial x --boundary "dirichlet(initial)" --dt 0.002 --t_end 0.0151 --scheme ftcs
[ "$(number steps r.json) $(number time r.json)" = "8 0.015100000000000001" ] || complain "the last step: $(number time r.json)"

name=94
run 5 --n 65 --initial "x == 0.5 ? log(-1) : 0" --steps 1000 --checkpoint nan.h5
grep -q "at step 0, .*nan at x = 0.5 (rank 0)" err || complain "does not say where"
ls nan.*.h5 >/dev/null 2>&1 && complain "a checkpoint of NaN"
launch=(mpirun -n 2)
run 5 --n 600 --initial "0" --source "x > 0.9 ? 1e308 : 0" --dt 1e-3 --steps 10000000 --scheme ftcs --checkpoint big.h5 \
  --checkpoint.every 500 --alpha 1e-3
launch=()
[ "$(word reason r.json)" = not_finite ] || complain "reason $(word reason r.json)"
grep -q "at step [0-9]*, .*not finite: u = inf at x = 0.[0-9]* (rank [01])" err || complain "does not say where"
step=$(number steps r.json)
last=$(ls big.*.h5 | tail -1 | sed 's/big\.0*\([0-9]*\)\.h5/\1/')
[ "$last" -lt "$step" ] && [ "$last" -ge $((step - 500)) ] || complain "checkpoint $last at step $step"
"$HALOSWEEP" inspect "$(ls big.*.h5 | tail -1)" >out 2>&1 || complain "the last good checkpoint is damaged"

name=refused
box="--n 9 --initial x --steps 1"
refused 2 "heat needs n" --initial x --steps 1
refused 2 "heat needs initial" --n 9 --steps 1
refused 2 "heat needs steps or t_end" --n 9 --initial x
refused 2 "both given" $box --t_end 1
refused 2 "--initial: expression, column 1: found 'y'" --n 9 --initial y --steps 1
refused 2 "--boundary = adiabatic: expected dirichlet(EXPR)" $box --boundary adiabatic
refused 2 "expected robin(h, EXPR)" $box --boundary "robin(3)"
refused 2 "h = -1; expected" $box --boundary "robin(-1, 0)"
refused 2 "the face across is not" $box --boundary_xmin periodic
refused 2 "the grid has 1 direction" $box --boundary_zmax "dirichlet(1)"
refused 2 "3 numbers; expected 1 or 2" --dims 2 --n 5 --length 1,2,3 --initial x --steps 1
refused 2 "alpha = 0: 0; expected a positive number" $box --alpha 0
refused 3 "expected a positive number" $box --alpha "x-0.5"
refused 2 "t is the time" $box --parameters.t 3
refused 2 "found the C file" $box --exact f.c
refused 3 "cannot be opened" --n 9 --initial nothere.c --steps 1
refused 2 "--length: points 1.25e-201 apart in x; expected 1e-150 to 1e+150" $box --length 1e-200
refused 2 "--length: points 1.25e+199 apart in x" $box --length 1e200
refused 2 "--origin = 1.0000000000000001e+300: points 0.125 apart in x have the same coordinate" $box --origin 1e300
refused 2 "the fastest decay on this grid has a rate of" $box --alpha 1e300
refused 2 "--alpha and heat.length: the fastest decay" $box --alpha 1e-310
refused 2 "takes 1e+302 steps" --n 9 --initial x --t_end 1e300 --dt 0.01 --scheme backward-euler
refused 2 "steps of 1e+300 leave nothing of what decays" --n 9 --initial x --t_end 1e300 --scheme crank-nicolson --dt 1e300
refused 2 "scheme steady" --n 9 --initial x --t_end 1e300
printf '[heat]\nn = 9\ninitial = x\nsteps = 1\nboundary = neumann(1 +)\n' >bad.ini
refused 2 "bad.ini:5" bad.ini

name=auto
run 0 --n 9 --initial "sin(pi*x)" --t_end 0.1
[ "$(word scheme r.json)" = ftcs ] || complain "small: $(word scheme r.json)"
run 0 --n 400 --initial "sin(pi*x)" --t_end 0.1
[ "$(word scheme r.json)" = rkl2 ] || complain "large: $(word scheme r.json)"
grep -q "scheme rkl2: to t_end ftcs needs [0-9]* stages, rkl2 [0-9]*" err || complain "does not say why"
close "$(number maximum r.json)" 0.37270787885 1e-4 || complain "far from exact: $(number maximum r.json)"

name="C files"
cat >f.c <<'C'
#include <math.h>
#include "halosweep_functions.h"
double initial(const double *x, const double *p) { return sin(p[0] * x[0]) * x[1]; }
double alpha(const double *x, const double *p) { return fma(x[0], x[0], p[1]); }
double source(const double *x, double t, const double *p) { return p[1] * t * x[1]; }
C
faces="--boundary neumann(0) --boundary_xmin dirichlet(t*y) --dims 2 --n 13,9 --steps 20 --scheme rk4"
run 0 $faces --initial f.c --alpha f.c --source f.c --parameters.a 2.5 --parameters.b 0.3
mark=$(word fingerprint r.json)
run 0 $faces --initial "sin(a*x)*y" --alpha "x*x+b" --source "b*t*y" --parameters.a 2.5 --parameters.b 0.3
[ -n "$mark" ] && [ "$mark" = "$(word fingerprint r.json)" ] || complain "other bits than expressions"
exit $bad
