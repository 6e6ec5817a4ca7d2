#!/usr/bin/env bash
# The collected bug reports about integrals (../shared/cases 109-134), by the adaptive rule: the right
# value within the bound of values.tsv, or a status that is not success; never a wrong value that says
# `converged`; bounded time.
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export HALOSWEEP_CC=/none # interpreted: the same bits, without a compiler started for each
bad=0
complain() { echo "$*"; bad=1; }
report() { sed -n "s/^  \"$1\": \"\\{0,1\\}\\([^\",]*\\)\"\\{0,1\\},\\{0,1\\}\$/\\1/p" r.json; }
near() { awk -v x="$1" -v y="$2" -v e="$3" 'BEGIN {d = x - y; exit !(x != "" && x != "null" && d <= e && -d <= e)}'; }

quad() { # the words of quad
  rm -f r.json
  timeout 20 "$HALOSWEEP" quad "$@" --report r.json --progress off > out 2> err
  rc=$?
}

is() { # case, value, bound, then the words: exit 0 and the value, within its own estimate
  local what=$1 value=$2 bound=$3
  shift 3
  quad "$@"
  [ $rc = 0 ] || complain "$what: exit $rc: $(cat err)"
  near "$(report value)" "$value" "$bound" || complain "$what: $(report value), expected $value"
  near "$(report value)" "$value" "$(report error_estimate | awk '{print $1 + 2e-15}')" ||
    complain "$what: $(report value), off by more than the estimate $(report error_estimate)"
}

fails() { # case, codes it may end with, words of the message, then the words of quad
  local what=$1 codes=$2 words=$3
  shift 3
  quad "$@"
  case " $codes " in *" $rc "*) ;; *) complain "$what: exit $rc, expected one of $codes; value $(report value)" ;; esac
  grep -q -- "$words" err || complain "$what: no '$words' in: $(cat err)"
}

is 109 0.25249253754692291 1e-9 "exp(-(x-0.7)^2/(2*0.15^2))/(0.15*sqrt(2*pi))" --lower -2000 --upper 0.6
is 110 1 1e-8 "exp(-(x-100)^2/(2*4^2))/(4*sqrt(2*pi))" --lower 0 --upper inf
is 112 1 1e-6 "x <= 0 ? 1 : 0" --lower -1 --upper 5000
is 113 1.7724538509055161 1e-9 "exp(-x^2)" --lower -inf --upper 40
is 115 5 1e-4 "x^(-1.2)" --lower 1 --upper inf --rtol 1e-6
is 116 1.5707963267948966 1e-6 "1/sqrt(1-x^2)" --lower 0 --upper 1 --rtol 1e-6
fails 116 4 "round_off.* a larger rtol would accept it" "1/sqrt(1-x^2)" --lower 0 --upper 1 --rtol 1e-14
near "$(report value)" 1.5707963267948966 "$(report error_estimate)" || complain "116 at 1e-14: $(report value)"
for f in x "1/sqrt(x)"; do
  quad "$f" --lower 0 --upper 0
  [ "$rc $(report value) $(report evaluations)" = "0 0.0 0" ] || complain "118: exit $rc, $(report value), $(report evaluations)"
done
is 119 -0.63212055882855767 1e-12 "exp(-x)" --lower 1 --upper 0
is 119 -1 1e-8 "exp(-x)" --lower inf --upper 0
is "119 in 3-D" -0.63212055882855767 1e-7 "exp(-x)+0*y*z" --lower 1,0,0 --upper 0,1,1 --rtol 1e-7
fails 121 "4 5" "not" "1/x^2" --lower -1 --upper 1
fails 121 "4 5" "not" "1/x" --lower -1 --upper 1
fails "1/x" 4 "the integral may not exist" "1/x" --lower 0 --upper 1
for limits in "-1.5 1.5" "-1.49 1.5" "-1.5 1.49"; do
  fails 122 5 "not finite at x = -1\.[0-9]" "x < -1 ? sqrt(-1) : 0" --lower ${limits% *} --upper ${limits#* }
done
is 124 14.019652273125697 1e-8 "x < 1 ? exp(x) : 3*exp(x)" --lower 0.9973 --upper 2
is 125 3.1415926535897931 1e-9 "sin(x)^2" --lower 0 --upper "2*pi"
is 125 1.5707963267948966 1e-9 "cos(8*x)^2" --lower 0 --upper pi
is 130 -0.34255274804357863 1e-7 "cos(1/x)/x" --lower 0.01 --upper 1 --rtol 1e-8
fails "130 from 0" "4 5" "not" "cos(1/x)/x" --lower 0 --upper 1 --max_evaluations 1e6
quad "x == 0 ? 1 : (sin(pi*x)/(pi*x))^2" --lower -inf --upper inf --rtol 1e-8 --max_evaluations 1e6
case $rc in
0) near "$(report value)" 1 1e-7 || complain "131: $(report value) says converged" ;;
4) near "$(report value)" 1 "$(report error_estimate)" || complain "131: $(report value) +- $(report error_estimate)" ;;
*) complain "131: exit $rc" ;;
esac
total=0 error=0
for limits in "-0.5 0.9" "0.9 1"; do
  quad "sign(x-0.1)" --lower ${limits% *} --upper ${limits#* } --rtol 1e-7
  [ $rc = 0 ] || complain "133: exit $rc"
  total="$total + $(report value)" error="$error + $(report error_estimate)"
done
near "$(awk "BEGIN {printf \"%.17g\", $total}")" 0.3 "$(awk "BEGIN {printf \"%.17g\", $error}")" ||
  complain "133: $total, with the errors $error"
is 134 3.1415726535897939 1e-7 "1e-5/(x^2+1e-10)" --lower -1 --upper 1

# what else must be said
quad "exp(-((x-0.3)^2+(y-0.6)^2)*1e6)" --lower 0,0 --upper 1,1 --rtol 1e-6
near "$(report value)" 3.1415926535897931e-6 3e-11 || complain "a peak in a box: $(report value)"
is "the feet of a peak" 3.1415926535897931e-5 3e-10 "exp(-((x-0.3)^2+(y-0.6)^2)*1e5)" --lower 0,0 --upper 1,1 --rtol 1e-7
fails "a tail of the logarithm" 4 round_off "1/(x*(1+log(x)^2))" --lower 1 --upper inf --rtol 1e-4
near "$(report value)" 1.5707963267948966 "$(report error_estimate)" || complain "a tail: $(report value) +- $(report error_estimate)"
fails "a bad end" 5 "x = 1\.9[0-9]" "x < 1.9 ? 1 : sqrt(1-x)" --lower 0 --upper 2
fails "nothing to see" 4 "says nothing" "max(0, x - 2)" --lower 0,0 --upper 1,1
is "a peak in a wide box" 3.1415926535897931e-2 3e-7 "exp(-100*(x*x+y*y))" --lower -10,-10 --upper 10,10 --rtol 1e-7
is "a peak on a plane" 1.0000560499121639 1e-9 "1+exp(-((x-0.3)^2)*1e9)" --lower 0 --upper 1
fails "a first look" 2 "max_evaluations = 100" x --lower 0 --upper 1 --max_evaluations 100
fails "points of a rule without" 2 "chooses its points" x --lower 0 --upper 1 --n 100 --rule adaptive
quad "x*y" --lower 0,0 --upper 1,1
[ "$(report rule)" = genz-malik ] || complain "auto in 2-D: $(report rule)"
quad x --lower 0 --upper 1
[ "$(report rule)" = adaptive ] || complain "auto in 1-D: $(report rule)"
exit $bad
