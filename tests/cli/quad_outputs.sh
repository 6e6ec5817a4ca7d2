#!/usr/bin/env bash
# What quad writes and says: the summary, quiet, the report's keys, HDF5, the config that reproduces
# a run, built-in integrands, sampling, and the configs that are shipped.
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
complain() { echo "$*"; bad=1; }
value() { sed -n "s/^  \"$1\": \"\\{0,1\\}\\([^\",]*\\)\"\\{0,1\\},\\{0,1\\}\$/\\1/p" "${2:-r.json}"; }
quad() { "$HALOSWEEP" quad "$@" > out 2> err; rc=$?; }
expect() {
  local code=$1
  shift
  [ $rc = "$code" ] || complain "$what: exit $rc, expected $code: $(cat err)"
  for word in "$@"; do cat out err | grep -qF -- "$word" || complain "$what: '$word' was not said: $(cat out err)"; done
}
same() { [ "$1" = "$2" ] || complain "$what: '$1' and '$2' should be equal"; }
near() { awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN {d = a - b; exit !(d <= t && d >= -t)}' || complain "$what: $1 is not near $2"; }
U="--lower 0 --upper 1"

what="quiet prints the value only"; quad "2*x" $U --rule simpson --n 3 --quiet; same "$(cat out)$(cat err)" 1
what="seventeen digits"; quad --integrand demo --rule gauss-legendre --quiet; near "$(cat out)" 1.850010971723924 1e-14
what="summary"; quad --integrand demo --rule gauss-legendre
expect 0 "converged" "value        1.8500109717239" "(estimated)" "true error" "fingerprint"
grep -q "not kept" out && complain "$what: a printed value is kept"
same "$(ls | tr '\n' ' ')" "err out "
what="no estimate"; quad "x" $U --rule gauss-legendre --n 1; expect 0 "error        not estimated"
what="exact as an expression"; quad "exp(-k*x)" $U --rule gauss-legendre --n 20 --parameters.k 2 --exact "(1 - exp(-k))/k" --report r.json
awk -v e="$(value error)" 'BEGIN {exit !(e < 1e-15)}' || complain "$what: $(value error)"
quad "exp(-x)" $U --exact "1 - exp(-y)"; expect 2 "--exact: " "y"

what="report"; quad --integrand demo --rule gauss-legendre --quiet --report -; expect 0
cp out r.json
for key in command version config exit_code reason fingerprint reproducible ranks threads backend devices transport \
  memory seconds phases restarted_from warnings rule dims value error_estimate converged evaluations evaluations_per_second error; do
  grep -q "\"$key\":" r.json || complain "the report lacks $key"
done
same "$(value command) $(value reason) $(value exit_code)" "quad converged 0"

what="files"
for args in "--integrand demo --rule gauss-legendre" "--integrand genz-gaussian --dims 3 --rule sobol --n 5000 --seed 7" \
  "--integrand runge --rule adaptive --parameters.c 100"; do
  # shellcheck disable=SC2086
  quad $args --quiet --output x.h5 --report r.json; expect 0
  "$HALOSWEEP" inspect x.h5 > out 2> /dev/null || complain "$what: inspect"
  for line in "/quad/value 1" "/quad/error 1" "/quad/evaluations 1"; do grep -qF "$line" out || complain "$what: no $line: $(cat out)"; done
  "$HALOSWEEP" inspect x.h5 --config --quiet > again.ini || complain "$what: inspect --config"
  rm x.h5
  quad again.ini --quiet --report s.json; expect 0
  same "$(value fingerprint s.json) $(value reason s.json)" "$(value fingerprint) $(value reason)"
  rm x.h5
done
what="nothing to keep"; quad "1/x" $U --rule trapezoid --n 11 --output x.h5; expect 5 "x.h5 not written"
[ -e x.h5 ] && complain "$what: written"
what="not converged"; quad "abs(x - 0.3)^0.1" $U --rule trapezoid --max_evaluations 3000 --output x.h5 --report r.json; expect 4 "not converged" "raise max_evaluations or rtol"
same "$(value converged) $([ -f x.h5 ] && echo kept)" "false kept"

what="sobol"; quad "x*y" $U --dims 2 --rule sobol --n 5000 --report r.json; expect 0 "rounded up to 8192 = 16 replicates x 512 points" "8192 in 16 replicates"
same "$(value evaluations)" 8192
near "$(value value)" 0.25 1e-4
first=$(value fingerprint)
quad "x*y" $U --dims 2 --rule sobol --n 8192 --report r.json; same "$(value fingerprint)" "$first"
quad "x*y" $U --dims 2 --rule sobol --n 8192 --seed 2 --report r.json
[ "$(value fingerprint)" = "$first" ] && complain "$what: another seed, the same bits"
quad "x*y" $U --dims 2 --rule sobol --n 8192 --rtol 1e-12; expect 4
quad "x*y" $U --dims 2 --rule sobol; expect 0 "converged"
quad "1/(x < 0.5)" $U --rule sobol; expect 5 "not finite at x = 0."
marks=""
for how in "1 1 omp" "1 3 omp" "1 1 ref" "3 2 omp"; do
  set -- $how
  launch=""
  [ "$1" = 1 ] || launch="mpirun -n $1"
  # shellcheck disable=SC2086
  $launch "$HALOSWEEP" quad "exp(-x[0]*x[1])*cos(x[2]+x[3])" $U --dims 4 --rule sobol --rtol 1e-5 --threads "$2" --backend "$3" \
    --report r.json > out 2> err || complain "$what: $how: $(cat err)"
  marks="$marks$(value fingerprint) "
done
same "$(echo "$marks" | tr ' ' '\n' | sort -u | grep -c .)" 1

what="built-in"; quad --integrand genz; expect 2 "no such integrand" "genz-gaussian"
quad --integrand demoo; expect 2 "did you mean 'demo'"
quad --integrand demo --parameters.q 1; expect 2 "demo has no parameter q" "sin(x[0])*exp(-k*x[0])"
quad --integrand demo --dims 2 --rule genz-malik; expect 2 "demo is for 1 to 1 dimensions"
quad "x" $U --integrand demo; expect 2 "exactly one"
quad --integrand demo --upper 1 --rule gauss-legendre; expect 0
grep -q "true error" out && complain "$what: the exact value is for its own limits"
what="the expression has the same bits"; quad --integrand demo --rule gauss-legendre --n 30 --report r.json; first=$(value fingerprint)
quad "sin(x)*exp(-0.05*x)" --lower 0 --upper pi --rule gauss-legendre --n 30 --report r.json; same "$(value fingerprint)" "$first"
"$HALOSWEEP" quad --help | grep -q genz-corner-peak || complain "help lists no integrands"

what="configs"; C=$HALOSWEEP_SOURCE/configs
quad "$C/quad-demo.ini"; expect 0 "true error"
quad "$C/quad-sweep.ini" --sweep.k "linspace(0, 1, 100)"; expect 0 "100 members, 0 failed"
quad "$C/quad-genz.ini" --report r.json; expect 0 "10 directions"
awk -v e="$(value error)" -v v="$(value value)" 'BEGIN {exit !(e < 3e-3*v)}' || complain "$what: error $(value error) of $(value value)"
quad "$C/integrand-3x3.ini" --quiet
if [ $rc = 7 ]; then
  echo "no compiler for C files here"
else
  expect 0
  cp out first
  # Cramer: D = 4(3(2+x) - 1) - x^2 (2+x)
  quad "(12 - x^2 - 4*x + x^3 + 4*x*(2 + x) - 4 - x^3*(2 + x) + x^2*(3*(2 + x) - 1) - x^2*(2 + x) + x)/(4*(3*(2 + x) - 1) - x^2*(2 + x))" \
    --lower 0 --upper 3 --rule gauss-legendre --quiet
  near "$(cat out)" "$(cat first)" 1e-12
fi
exit $bad
