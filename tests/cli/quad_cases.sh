#!/usr/bin/env bash
# The cases of shared/cases that fixed rules answer (113-136), from the command line: exit codes, what is
# said, and equal fingerprints on ranks x threads x backends.
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export HALOSWEEP_CC=/none # interpreted: the same bits, without a compiler started for each
bad=0
complain() { echo "$what: $*"; cat out err; bad=1; }
field() { sed -n "s/^ *\"$1\": \(.*[^,]\),\{0,1\}\$/\1/p" r.json | tail -1; }

run() { # what, exit code, words
  what="$1: ${*:3}"
  local code=$2
  shift 2
  "$HALOSWEEP" quad "$@" --report r.json --threads 1 >out 2>err
  local rc=$?
  [ $rc = "$code" ] || complain "exit $rc, not $code"
}
value() { # expected, absolute tolerance
  awk -v v="$(field value)" -v e="$1" -v t="$2" 'BEGIN {d = v - e; exit !(v != "" && v != "null" && d <= t && -d <= t)}' ||
    complain "value $(field value), expected $1"
}
says() { cat out err | grep -q -- "$1" || complain "does not say '$1'"; }

for rule in trapezoid simpson gauss-legendre tanh-sinh; do
  run 118 0 "1/sqrt(x)" --lower 0 --upper 0 --rule $rule
  value 0 0
  [ "$(field evaluations)" = 0 ] && [ "$(field reason)" = '"empty_range"' ] || complain "evaluated"
  run 119 0 "exp(-x)" --lower inf --upper 0 --rule $rule
  value -1 1e-8
  run 125 0 "sin(x)^2" --lower 0 --upper 2*pi --rule $rule
  value 3.14159265358979324 1e-9
done

run 113 0 "exp(-x^2)" --lower -inf --upper 40 --rule trapezoid
value 1.77245385090551603 1e-9
run 119 0 "exp(-x)" --lower 1 --upper 0 --rule simpson
value -0.632120558828557678 1e-10
run 125 0 "cos(8*x)^2" --lower 0 --upper pi --rule trapezoid
value 1.57079632679489662 1e-9
run 115 0 "x^(-1.2)" --lower 1 --upper inf --rule tanh-sinh --rtol 1e-6
value 5 1e-4
run 116 0 "1/sqrt(1-x^2)" --lower 0 --upper 1 --rule tanh-sinh --rtol 1e-6
value 1.57079632679489662 1e-6
run 116 4 "1/sqrt(1-x^2)" --lower 0 --upper 1 --rule tanh-sinh --rtol 1e-14
value 1.57079632679489662 1e-6
run 121 5 "1/x^2" --lower -1 --upper 1 --rule trapezoid
says "not finite at x = 0: f = inf"
run 121 5 "1/x" --lower -1 --upper 1 --rule simpson
run 121 4 "1/x" --lower -1 --upper 1 --rule gauss-legendre --max-evaluations 4e6
run 122 5 "x < -1 ? log(-1) : 0" --lower -1.5 --upper 1.49 --rule trapezoid
says "not finite at x = -1.5"
run end 5 "1/sqrt(x)" --lower 0 --upper 1 --rule trapezoid
says tanh-sinh
run overflow 5 1e308 --lower 0 --upper 10 --n 101
says "beyond the largest double"

run 127 0 1 --lower -1 --upper 1 --rule gauss-legendre --n 1
value 2 0
says "takes more than one point"
for n in 12 1080 2000; do
  run 127 0 "exp(x)" --lower -1 --upper 1 --rule gauss-legendre --n $n
  value 2.35040238728760292 1e-13
done
run 127 2 "exp(x)" --lower -1 --upper 1 --rule gauss-legendre --n 10001

run 128 0 "x^3" --lower 1 --upper 4 --rule simpson --intervals 9
value 63.75 1e-12
says "3/8 rule"
run 133 0 "x > 0.1 ? 1 : -1" --lower -0.5 --upper 1 --breaks 0.9 --rtol 1e-5 --rule trapezoid
value 0.3 1e-5
run breaks 2 "x" --lower 0 --upper 1 --breaks 1.5 --rule trapezoid
run breaks 2 "x" --lower 0 --upper 1 --breaks 0.5 --rule sobol
run breaks 2 "x" --lower 0 --upper 1 --breaks 0.5,0.2 --rule trapezoid
run 136 0 "x^2" --lower 0 --upper 1 --intervals 10
value 0.335 1e-14
[ "$(field evaluations)" = 11 ] || complain "$(field evaluations) evaluations"
run 136 0 "x^2" --lower 0 --upper 1 --rule simpson --intervals 10
value 0.333333333333333333 1e-15
run 136 0 "x^2" --lower 0 --upper 1 --rule gauss-legendre --n 10
value 0.333333333333333333 1e-15
[ "$(field evaluations)" = 10 ] || complain "$(field evaluations) evaluations"
run 136 2 "x^2" --lower 0 --upper 1 --rule gauss-legendre --intervals 10

# with n, a tolerance matters only when it is given
run count 0 "sqrt(x)" --lower 0 --upper 1 --n 11
[ "$(field reason)" = '"fixed_count"' ] || complain "$(field reason)"
run count 4 "sqrt(x)" --lower 0 --upper 1 --n 11 --rtol 1e-6
run count 0 "sqrt(x)" --lower 0 --upper 1 --n 11 --rtol 0.1
run limit 4 "sqrt(x)" --lower 0 --upper 1 --max-evaluations 1000 --rule trapezoid
says max_evaluations
run one 2 "x" --lower 0 --upper 1 --n 1

run float 0 "exp(x)" --lower 0 --upper 1 --precision float --rule simpson
value 1.71828182845904524 2e-5
run float 2 "exp(x)" --lower 0 --upper 1 --precision float --rule sobol
run float 2 "exp(-a*x)" --lower 0 --upper 1 --precision float --n 11 --sweep.a "linspace(0, 1, 3)"

# samples from a file
awk 'BEGIN {for (i = 0; i <= 10; i++) print i * i / 100, i * i * i * i / 10000}' >d.txt
run data 0 --data d.txt --rule simpson
value 0.333333333333333333 1e-15
awk 'BEGIN {for (i = 10; i >= 0; i--) print i * i / 100 ", " i * i / 100}' >d.txt
run data 0 --data d.txt
value -0.5 1e-15
printf '# head\n1 2\n2 3\n2 4\n' >d.txt
run data 3 --data d.txt
says "d.txt:4: x = 2 after 2; expected strictly ascending"
printf '1 2\n2 three\n' >d.txt
run data 3 --data d.txt
says "d.txt:2: found 'three'"
run data 2 --data d.txt --n 5

# one answer
unset HALOSWEEP_CC
first="" print=""
for how in "1 ref 1" "2 omp 2" "3 omp 1"; do
  set -- $how
  what="one answer: $how"
  for words in "sin(x)*exp(-0.05*x) --lower 0 --upper pi --n 100001" "exp(-x*y) --lower 0 --upper 1 --dims 2 --rule gauss-legendre"; do
    mpirun -n "$1" "$HALOSWEEP" quad $words --backend "$2" --threads "$3" >out 2>err || complain "exit $?"
    print="$print $(sed -n 's/^fingerprint  //p' out)"
  done
  [ -n "$first" ] || first=$print
  [ "$print" = "$first" ] && [ ${#print} -gt 30 ] || complain "$print, first: $first"
  print=""
done
exit $bad
