#!/usr/bin/env bash
# C files of `ode`: rhs, jacobian, event with parameters of [parameters], [sweep] and [sample] in that order give the
# bits of the expressions they write out, also compiled around the steps; changed ones are another problem.
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
complain() { echo "$*"; cat out err; bad=1; }
cat >f.c <<'C'
#include <math.h>
#include "halosweep_functions.h"
/* p: a ([parameters]), w ([sweep]), b ([sample]) */
void rhs(double t, const double *y, const double *p, double *dy) {
  dy[0] = y[1];
  dy[1] = fma(-p[2], y[1], fma(p[0], cos(t), -(p[1] * y[0])));
}
void jacobian(double t, const double *y, const double *p, double *j) {
  (void)t, (void)y;
  j[0] = 0, j[1] = 1, j[2] = -p[1], j[3] = -p[2];
}
double event(double t, const double *y, const double *p) { (void)t; return y[0] + p[2]; }
C
run() { "$HALOSWEEP" ode "$@" --parameters.a 0.5 --sweep.w "1, 2, 3" --sample.b "uniform(0.1, 0.2)" --trajectories 5 --t_end 3 --initial 1,0 \
  --save_at 1 --progress off >out 2>err; }
print() { sed -n 's/^fingerprint  //p' out; }
text=(--equations.dy1 y2 --equations.dy2 "a*cos(t) - w*y1 - b*y2")
run f.c --dry_run
[ $? = 7 ] && { echo "skipped: no compiler"; exit 77; }
while read -r method jacobian; do
  run "${text[@]}" --event "y1 + b" --method "$method" || complain "$method: expressions"
  first=$(print)
  # shellcheck disable=SC2086
  run f.c --event f.c --method "$method" $jacobian || complain "$method: C files"
  [ -n "$first" ] && [ "$(print)" = "$first" ] || complain "$method: $(print), expressions $first"
done <<'E'
tsit5
tr-bdf2 --jacobian f.c
E
run f.c --event f.c --method tr-bdf2 || complain "differences"
[ "$(print)" != "$first" ] || complain "the jacobian of a C file is not used"
run "${text[@]}" --method rodas4 || complain "rodas4: expressions" # f by t too is differentiated
first=$(print)
run "${text[@]}" --method rodas4 --jacobian f.c || complain "rodas4: jacobian"
[ -n "$first" ] && [ "$(print)" = "$first" ] || complain "rodas4: $(print), expressions $first"
run f.c --event f.c --method tsit5 --checkpoint ck.h5 || complain "checkpoint"
sed -i 's/-(p\[1\]/-(2 * p[1]/' f.c
run f.c --event f.c --method tsit5 --checkpoint ck.h5 --restart latest
[ $? = 2 ] && grep -q "content.functions" err || complain "another C file goes on from the checkpoint"

# enough of it that steps are compiled around the system
many=(--trajectories 500 --t_end 4 --method rk4 --dt 1e-4 --threads 1 --progress off --sweep.r "linspace(0.1, 0.3, 3)")
# a parameter that nobody gave is no number
"$HALOSWEEP" ode f.c --parameters.a 0.5 --initial 1,0 --t_end 3 --progress off >out 2>err
[ $? = 4 ] && grep -q "the derivative of y2 is NaN" err || complain "parameters that were not given"
cat >g.c <<'C'
void rhs(double t, const double *y, const double *p, double *dy) { (void)t; dy[0] = -(p[0] * y[0]); }
C
"$HALOSWEEP" ode g.c --initial 1 "${many[@]}" >out 2>err || complain "compiled: C file"
first=$(print)
"$HALOSWEEP" ode --equations.dx "-(r*x)" --initial 1 "${many[@]}" --exact "exp(-r*t)" --report r.json >out 2>err || complain "compiled: expressions"
[ -n "$first" ] && [ "$(print)" = "$first" ] || complain "compiled: $(print), C file $first"
grep -q '"error_max": [0-9.]*e-1[2-9]' r.json || complain "$(grep error_max r.json)"
exit $bad
