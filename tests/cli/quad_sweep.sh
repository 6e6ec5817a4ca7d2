#!/usr/bin/env bash
# Sweeps from the command line: order and number of members, members that fail alone, the same bits
# for any ranks and threads, tables, and what is said when [sweep] is wrong.
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

what="order"; quad "a + 10*b" $U --n 3 --rule simpson --sweep.a "1, 2" --sweep.b "linspace(0, 2, 3)"
expect 0 "sweep: a (2) x b (3): 6 members" "a = 1, b = 0: 1," "a = 2, b = 2: 22,"
same "$(sed -n 's/^  a = .*: \([0-9]*\),.*/\1/p' out | tr '\n' ' ')" "1 11 21 2 12 22 "
what="quiet"; quad "a + 10*b" $U --n 3 --rule simpson --sweep.a "1, 2" --sweep.b "linspace(0, 2, 3)" --quiet
same "$(tr '\n' ' ' < out)$(cat err)" "1 11 21 2 12 22 "
what="one member is the single integral"; quad "exp(-a*x)" $U --rule adaptive --sweep.a 0.7 --quiet; cp out one
quad "exp(-a*x)" $U --rule adaptive --parameters.a 0.7 --quiet; same "$(cat out)" "$(cat one)"
what="fixed points"; quad "exp(-a*x)" $U --rule gauss-legendre --n 12 --sweep.a 0.7 --quiet; near "$(cat out)" "$(cat one)" 1e-14
what="parameters and sweep"; quad "c*exp(-a*x)" $U --rule gauss-legendre --n 12 --sweep.a "geomspace(0.1, 10, 3)" --parameters.c 2 --quiet
near "$(sed -n 2p out)" 1.2642411176571153 1e-14

what="report"; quad "cos(a*x)" $U --rule gauss-legendre --n 20 --sweep.a "linspace(1, 9, 1000)" --exact "sin(a)/a" --report r.json
expect 0 "members not kept: add --output x.h5" "(the largest)"
same "$(value members) $(value failures) $(value evaluations) $(value reason)" "1000 0 20000 fixed_count"
awk -v e="$(value error_max)" 'BEGIN {exit !(e >= 0 && e < 1e-14)}' || complain "error_max $(value error_max)"
for key in members_per_second evaluations_per_second ended fingerprint; do grep -q "\"$key\"" r.json || complain "no $key"; done

what="a wrong exact value shows"; quad "cos(a*x)" $U --rule gauss-legendre --n 20 --sweep.a "1, 2" --exact "sin(a)/a + (a > 1.5)" --report r.json
near "$(value error_max)" 1 1e-12

what="failures"; quad "1/(a - x)" $U --n 11 --rule trapezoid --sweep.a "2, 0, -1, 0.5, 3" --report r.json --output x.h5
expect 4 "2 of 5 members failed, the first is member 1 (a = 0): not_finite" "2 failed" "a = -1: -0.69" "a = 3: 0.40"
same "$(value failures) $(value reason) $(value exit_code)" "2 members_failed 4"
[ -f x.h5 ] || complain "$what: the others were not kept"
what="limits of members"; quad "abs(x - a)^0.1" $U --rule trapezoid --max_evaluations 20000 --sweep.a "0.3, 5" --report r.json
expect 4 "1 of 2 members failed, the first is member 0 (a = 0.3): max_evaluations" "a = 5: "
what="demanded"; quad "exp(a*x)" $U --rule trapezoid --n 9 --rtol 1e-3 --sweep.a "0, 0.1, 9"
expect 4 "1 of 3 members failed, the first is member 2"
what="reversed and empty"; quad "a + 0*x" --lower 1 --upper 0 --n 3 --rule simpson --sweep.a "1, 2" --quiet; same "$(tr '\n' ' ' < out)" "-1 -2 "
quad "a + 0*x" --lower 1 --upper 1 --n 3 --rule simpson --sweep.a "1, 2" --quiet; same "$(tr '\n' ' ' < out)" "0 0 "

# The same bits: by members (fixed points), one by one (others).
what="same bits"
for rule in "gauss-legendre --n 7" adaptive "sobol --rtol 1e-2"; do
  marks=""
  for how in "1 1 omp" "1 3 omp" "1 1 ref" "3 2 omp"; do
    set -- $how
    launch=""
    [ "$1" = 1 ] || launch="mpirun -n $1"
    # shellcheck disable=SC2086
    $launch "$HALOSWEEP" quad "exp(a*x)*cos(b*x)" $U --rule $rule --sweep.a "linspace(-1, 1, 9)" --sweep.b "1, 2" \
      --threads "$2" --backend "$3" --report r.json > out 2> err || complain "$what: $rule $how: $(cat err)"
    marks="$marks$(value fingerprint) "
  done
  same "$(echo "$marks" | tr ' ' '\n' | sort -u | grep -c .)" 1
done

what="a table"; mpirun -n 2 "$HALOSWEEP" quad "x^a" $U --rule gauss-legendre --n 30 --sweep.a "linspace(1, 5, 700)" --sweep.b "1, 2" --output x.h5 --report r.json > out 2> err || complain "$what: $(cat err)"
"$HALOSWEEP" inspect x.h5 > out 2>&1
for line in "/quad/members/value 1400" "/quad/members/error 1400" "/quad/members/evaluations 1400" "/quad/members/status 1400" \
  "/quad/members/parameters/a 1400" "/quad/members/parameters/b 1400"; do grep -qF "$line" out || complain "$what: no $line: $(cat out)"; done
cp r.json first.json
"$HALOSWEEP" inspect x.h5 --config --quiet > again.ini
rm x.h5
quad again.ini --quiet --report r.json; expect 0
same "$(value fingerprint)" "$(value fingerprint first.json)"
if /usr/bin/python3 -c "import h5py" 2> /dev/null; then
  /usr/bin/python3 - << 'PY' || complain "$what: the table is wrong"
import h5py
f = h5py.File("x.h5")["quad/members"]
a, v = f["parameters/a"][:], f["value"][:]
assert len(v) == 1400 and max(abs(v - 1/(a + 1))) < 1e-6 and f["evaluations"][7] == 30, v
PY
fi

what="a large sweep takes no memory"; quad "a + b" $U --rule trapezoid --n 2 --sweep.a "linspace(0, 1, 1e6)" --sweep.b "1, 2" --report r.json; expect 0
same "$(value members)" 2000000
awk -v b="$(sed -n 's/.*"host_peak_bytes": \([0-9]*\).*/\1/p' r.json)" 'BEGIN {exit !(b > 0 && b < 300e6)}' || complain "$what: $(grep host_peak r.json)"

what="stopped"; quad "cos(a*x)" $U --rule adaptive --sweep.a "linspace(0, 2, 1e6)" --threads 1 --time-limit 1s --output s.h5 --report r.json; expect 4 "time limit"
same "$(value reason) $(value members)" "time_limit 1000000"

what="what will not fit"
if (ulimit -v 6000000 && "$HALOSWEEP" info --bandwidth=off > out 2>&1); then
  (ulimit -v 6000000; "$HALOSWEEP" quad "a*x" $U --n 3 --rule simpson --sweep.a "linspace(0, 1, 1e10)" --output big.h5 > out 2> err); rc=$?
  expect 7 "10000000000 members needs about"
fi

printf '[quad]\nf = x^a\nlower = 0\nupper = 1\n[sweep]\na = linspace(0, 1)\n' > w.ini
what="wrong"; quad w.ini; expect 2 "w.ini:6: a = linspace(0, 1): three numbers"
quad "x^a" $U --sweep.a "linspace(0, 1, 3)" --parameters.a 2; expect 2 "is in [sweep], and in [parameters] too"
quad "x^a" $U --sweep.x "1, 2"; expect 2 "x is a coordinate"
quad "x^a" $U --sweep.b "1, 2"; expect 2 "'a'"
exit $bad
