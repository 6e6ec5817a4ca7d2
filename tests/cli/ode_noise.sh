#!/usr/bin/env bash
# `ode` with noise: the same fingerprint for any ranks, threads, backends and pieces (case 157), tables of noise
# and C files, what is refused (case 163).
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
say() { echo "$*"; bad=1; }
cat >gbm.ini <<'END'
[ode]
initial = 1, 0.5
t_end = 1
dt = 1/64
trajectories = 1000
[run]
seed = 7
[equations]
dx = 0.05*x
dy = -0.1*y
END
finger() { sed -n 's/^fingerprint *//p' out; }
run() { timeout 60 "$HALOSWEEP" ode gbm.ini "$@" >out 2>err || say "exit $?: $* $(cat err)"; }
same() { [ "$(finger)" = "$1" ] && [ -n "$1" ] || say "$2: fingerprint $(finger), expected $1"; }
other() { [ "$(finger)" != "$1" ] && [ -n "$(finger)" ] || say "$2: the same as without it"; }
refused() { # 'text' words...
  local text=$1 rc
  shift
  timeout 60 "$HALOSWEEP" ode gbm.ini "$@" >out 2>err
  rc=$?
  [ $rc = 2 ] && grep -qF -- "$text" err || { say "exit $rc, expected 2 and '$text': $*"; cat out err; }
}
D='0.2*x, 0.3*y'
run --noise "$D" --threads 1
base=$(finger)
run --noise "$D" --threads 3 && same "$base" "3 threads"
run --noise "$D" --backend ref && same "$base" "ref"
mpirun -n 3 --oversubscribe "$HALOSWEEP" ode gbm.ini --noise "$D" >out 2>err || say "3 ranks: $(cat err)"
same "$base" "3 ranks"
run --noise "(0.2*x, 0), (0, 0.3*y)" && same "$base" "the same as a table"
run --noise "$D" --antithetic && other "$base" "antithetic"
run --noise "$D" --method milstein && other "$base" "milstein"
run --noise "$D" --interpretation stratonovich && other "$base" "stratonovich"
run --noise "(0.2*x + max(0, 0)), (0.3*y)" && same "$base" "parentheses that make no tuple"
cat >noise.c <<'END'
#include "halosweep_functions.h"
void noise(double t, const double *y, const double *p, double *g) {
  g[0] = 0.2*y[0];
  g[1] = 0.3*y[1];
}
END
run --noise noise.c && same "$base" "C file"
run --noise noise.c --method milstein
refused "does not commute" --noise "0.3*y, 0.3*x" --method milstein
refused "in dx, D_2 g_1 is" --noise "0.3*y, 0.3*x" --method milstein
refused "expected a whole number" --noise "$D" --dt 0.3
refused "time runs forwards" --noise "$D" --t_end -1
refused "1 values; expected 2" --noise "0.3*y"
refused "rows of 2 and of 1" --noise "(x, y), y"
refused "rows of 2 and of 3" --noise "(x, y), (y, x, y)"
refused "not for systems with noise" --noise "$D" --method rk4
# to another t_end the paths are others: no checkpoint goes on there
walk=(--equations.dx 0 --noise 1 --initial 0 --dt 0.25 --checkpoint walk.h5)
"$HALOSWEEP" ode "${walk[@]}" --t_end 1 >out 2>err || { echo "no checkpoint"; cat err; bad=1; }
"$HALOSWEEP" ode "${walk[@]}" --t_end 2 --restart latest >out 2>err
[ $? = 2 ] && grep -q "paths_to_t_end: 1 in the checkpoint, 2" err || { echo "goes on to another t_end"; cat err; bad=1; }
exit $bad
