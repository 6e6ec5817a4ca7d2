#!/usr/bin/env bash
# What `ode` must not do: take words that mean nothing, ignore a key or a name, run what does not fit. Each text
# says what was found and what was expected; errors in options come before MPI starts.
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
refused() { # CODE 'text' words...
  local code=$1 text=$2 rc
  shift 2
  timeout 20 "$HALOSWEEP" ode "$@" --progress off >out 2>err
  rc=$?
  [ $rc = "$code" ] && cat out err | grep -qF -- "$text" || { echo "exit $rc, expected $code and '$text': $*"; cat out err; bad=1; }
}
early() { # the same, before MPI starts
  refused "$@"
  grep -q "rank" err && echo "MPI was started for: ${*:3}" && bad=1
}
L=(lorenz --t_end 1)
E=(--equations.dx "-x" --t_end 1)
E2=(--equations.dx v --equations.dv "-x" --t_end 1)
export HALOSWEEP_CC=/none # interpreted: without a compiler started for each

# systems and equations
early 2 "did you mean 'lorenz'?" lorens --t_end 1
early 2 "no such system; expected FILE.c or one of lorenz|" nothing --t_end 1
early 2 "no system: expected a name" --t_end 1
early 2 "both given: expected one" lorenz "${E[@]}" --initial 1
early 2 "expected dNAME = EXPRESSION" --equations.x y --t_end 1
early 2 "expected dNAME = EXPRESSION" --equations.d "1" --t_end 1
early 2 "expected dNAME = EXPRESSION" --equations.d2x "1" --t_end 1 --initial 1
early 2 "'dx' is given again" "${E[@]}" --equations.dx 1 --initial 1
early 2 "the name t is taken: it is the time" --equations.dt 1 --t_end 1 --initial 1
early 2 "the name x is taken: it is a component" "${E[@]}" --initial 1 --parameters.x 2
early 2 "the name t is taken" "${E[@]}" --initial 1 --sweep.t "1, 2"
refused 2 "--equations.dx: expression, column 4: found 'y'" --equations.dx "-x+y" --t_end 1 --initial 1
refused 2 "column 3" --equations.dx "x+" --t_end 1 --initial 1
printf '[ode]\nt_end = 1\ninitial = 1\n[equations]\ndx = -x +\n' >bad.ini
refused 2 "bad.ini:5" bad.ini
printf '[ode]\nt_end = 1\ninitial = 1\nsystem = lorenz\n[equation]\ndx = -x\n' >bad.ini
early 2 "bad.ini:5" bad.ini

# initial states
early 2 "ode needs initial" "${E[@]}"
early 2 "2 values; expected 3, one per component (x, ...)" "${L[@]}" --initial 1,1
early 2 "4 values; expected 3" "${L[@]}" --initial 1,1,1,1
early 2 "2 values; expected 3" "${L[@]}" --initial "(1, 1), (2, 2)"
early 2 "state 2 has 3 values, state 1 has 2" "${E2[@]}" --initial "(1, 1), (2, 2, 2)"
many=$(printf '1, %.0s' $(seq 128))1
early 2 "too many values, at '1'" "${E2[@]}" --initial "($many)"
early 2 "129 values; expected 2" "${E2[@]}" --initial "$many"
early 2 "129 values; a C file has 128 components at most" f.c --t_end 1 --initial "$many"
refused 0 "200 trajectories" "${E2[@]}" --initial "$(seq -s, 200 | sed 's/[0-9]*/(&, 0)/g')"
early 2 "found '3' beside tuples" "${E2[@]}" --initial "(1, 1), 3"
early 2 "NaN is not a number" "${E2[@]}" --initial "(1, 1), (2, nan)"
early 2 "trajectories = 3, and initial has 2 states" "${E2[@]}" --initial "(1, 1), (2, 2)" --trajectories 3
early 2 "an item of the list is empty" "${E2[@]}" --initial "1, "
refused 2 "found 'nan'" "${L[@]}" --initial nan,1,1
refused 2 "found 'x'" "${E[@]}" --initial x
refused 3 "nothere.h5" "${E[@]}" --initial nothere.h5:/d --trajectories 2
early 2 "say with trajectories how many rows" "${E[@]}" --initial nothere.h5:/d
refused 0 "2 trajectories" "${E[@]}" --initial "(1), (2)"
refused 0 "x = 0.73" --equations.dx "-x" --equations.dv "-v" --t_end 1 --initial "(max(1, 2)), (3)"

# times and steps
early 2 "ode needs t_end" lorenz
early 2 "that is t_start" lorenz --t_start 1 --t_end 1
early 2 "overflows" lorenz --t_start -1e308 --t_end 1e308
early 2 "inf makes no sense here" lorenz --t_end inf
early 2 "--save_at: 2 is not between t_start = 0 and t_end = 1" "${L[@]}" --save_at 0.5,2
early 2 "is not between" lorenz --t_end -1 --save_at 0.5
refused 2 "--save_at: 0.5 twice" "${L[@]}" --save_at 0.5,0.1,0.5
early 2 "--dt = 0: too small" "${L[@]}" --dt 0
early 2 "--dt = -1: too small" "${L[@]}" --dt -1
early 2 "--method = rk4 takes fixed steps: it needs dt" "${L[@]}" --method rk4
refused 2 "more than 2^52 steps" "${L[@]}" --method rk4 --dt 1e-300
refused 2 "makes 10000000 steps, and max_steps is 1000000" "${L[@]}" --method rk4 --dt 1e-7
refused 0 "is longer than the whole run: one step of 1" "${L[@]}" --method rk4 --dt 1e300
early 2 "max_steps = 0: too small" "${L[@]}" --max_steps 0
refused 4 "max_steps = 10 steps led to t = 0.1" "${L[@]}" --max_steps 10
refused 2 "rtol and atol are both 0" "${L[@]}" --rtol 0 --atol 0
early 2 "rtol = 2: too large" "${L[@]}" --rtol 2

# methods
early 2 "did you mean 'rk4'?" "${L[@]}" --method rk5
early 2 "is not for systems with noise" "${L[@]}" --noise 1,1,1 --dt 0.1 --method rk4
early 2 "systems with noise need dt" "${L[@]}" --noise 1,1,1
early 2 "antithetic is for systems with noise" "${L[@]}" --antithetic
early 2 "interpretation is for systems with noise" "${L[@]}" --interpretation stratonovich
early 2 "jacobian is a C file, for implicit methods" "${L[@]}" --jacobian x
refused 2 "3 components; expected positions, then as many velocities" "${L[@]}" --method verlet --dt 0.1
for no in "van-der-pol dv/dt depends on v" "lotka-volterra dx/dt depends on x" "arenstorf dvx/dt depends on vy" "brusselator dx/dt depends on x"; do
  refused 2 "here ${no#* }" "${no%% *}" --t_end 1 --method verlet --dt 0.1
done
refused 2 "here dx/dt depends on y" --equations.dx "v + 0*y" --equations.dy w --equations.dv "-x" --equations.dw "-y" --t_end 1 --initial 1,1,0,0 \
  --method verlet --dt 0.1
refused 2 "here dv/dt depends on v" --equations.dx v --equations.dv "-x - 0.1*v" --t_end 1 --initial 1,0 --method verlet --dt 0.1
for yes in kepler pendulum; do refused 0 "10 steps" $yes --t_end 1 --method verlet --dt 0.1; done
refused 0 "10 steps" --equations.dx "t*v" --equations.dv "-x*cos(t)" --t_end 1 --initial 1,0 --method verlet --dt 0.1

mpirun -n 3 "$HALOSWEEP" ode van-der-pol --t_end 1 --method verlet --dt 0.1 >out 2>err && echo "not refused on three ranks" && bad=1
[ "$(grep -c "dv/dt depends on v" err)" = 1 ] || { echo "not said once:"; cat err; bad=1; }

# names nobody has a use for
early 2 "lorenz has no parameter q; it has sigma|rho|beta" "${L[@]}" --parameters.q 1
early 2 "did you mean 'rho'?" "${L[@]}" --sweep.rhoo "1, 2"
early 2 "lorenz has no parameter q" "${L[@]}" --sample.q "uniform(0, 1)"
early 2 "hires has no parameter k" hires --t_end 1 --parameters.k 1
early 2 "in [parameters] too" "${L[@]}" --sweep.rho "1, 2" --parameters.rho 3
early 2 "is in [sample], and elsewhere too" "${L[@]}" --sweep.x "1, 2" --sample.x "uniform(0, 1)"
early 2 "expected linspace(lo, hi, n)" "${L[@]}" --sweep.x "linspace(0, 1)"
early 2 "lo is not above hi" "${L[@]}" --sample.x "uniform(1, 0)"
early 2 "sigma is not negative" "${L[@]}" --sample.x "normal(1, -2)"
early 2 "expected uniform(lo, hi)" "${L[@]}" --sample.x "gamma(1, 2)"
early 2 "two numbers go in parentheses" "${L[@]}" --sample.x "sobol(1)"

# functions
refused 2 "--event: expression, column 4: found the end" "${L[@]}" --event "x +"
refused 2 "--event: expression, column 1: found 'q'" "${L[@]}" --event q
refused 2 "--exact: 2 values; expected 3, one per component" "${L[@]}" --exact 1,2
refused 2 "--exact: expression, column 1: found 'x'" "${L[@]}" --exact x,2,3

# the rest
early 2 "only says what a restart goes on with" "${L[@]}" --only failed
early 2 "trajectories = 0: too small" "${L[@]}" --trajectories 0
refused 7 "not enough memory: the ensemble needs" "${L[@]}" --trajectories 1e12
early 2 "more than 2^40" "${L[@]}" --trajectories 1e12 --sweep.rho "linspace(1, 2, 1000)"
early 2 "expected a name that ends in .h5" "${L[@]}" --output x.txt
early 2 "bins = 0: too small" "${L[@]}" --bins 0
early 2 "quantiles = 2: too large" "${L[@]}" --quantiles 2
early 2 "'ode' makes no use of it" "${L[@]}" --history h.csv
[ -e h.csv ] && echo "a history was made" && bad=1

# C files
unset HALOSWEEP_CC
early 2 "which a file of states does not say" f.c --t_end 1 --initial s.h5:/d --trajectories 5
refused 3 "nothere.c" nothere.c --t_end 1 --initial 1
echo 'void rhs(double t, const double *y, const double *p, double *dy) { dy[0] = y[1]; dy[1] = -y[0] }' >broken.c
refused 3 "broken.c" broken.c --t_end 1 --initial 1,0
echo 'void other(double t) { (void)t; }' >other.c
refused 3 "rhs" other.c --t_end 1 --initial 1,0
echo 'void rhs(double t, const double *y, const double *p, double *dy) { dy[0] = y[1]; dy[1] = -y[0]; }' >f.c
refused 0 "warning: verlet: nobody can see into f.c" f.c --t_end 1 --initial 1,0 --method verlet --dt 0.1
HALOSWEEP_CC=/none refused 7 "compiler" f.c --t_end 1 --initial 1,0
exit $bad
