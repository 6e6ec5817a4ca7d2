#!/usr/bin/env bash
# What quad must not do: take numbers that overflow or names that mean nothing, ignore a key, call 0 +- 0 an
# answer. Errors in options come before MPI starts.
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export HALOSWEEP_CC=/none # interpreted: the same bits, without a compiler started for each
bad=0
U="--lower 0 --upper 1"
refused() { # CODE 'text' words...
  local code=$1 text=$2 rc
  shift 2
  timeout 60 "$HALOSWEEP" quad "$@" >out 2>err
  rc=$?
  [ $rc = "$code" ] && cat out err | grep -qF -- "$text" || { echo "exit $rc, expected $code and '$text': $*"; cat out err; bad=1; }
}
# shellcheck disable=SC2086
{
  # numbers
  refused 2 "are more than 2^53" "x" $U --rule gauss-legendre --n 10000 --panels 9007199254740992
  refused 2 "are more than 2^53" "x" $U --rule tanh-sinh --n 1e7 --panels 1e15
  refused 2 "are more than 2^53" "x" $U --rule trapezoid --intervals 9007199254740992
  refused 2 "is wider than" "1e-300" --lower -1.7e308 --upper 1.7e308 --rule gauss-legendre
  refused 2 "is wider than" "1e-300" --lower -1.7e308 --upper 1.7e308 --rule sobol
  refused 0 "340000000" "1e-300" --lower -1.7e308 --upper 1.7e308 --rule trapezoid
  # more parameters than there is room for
  many=()
  for i in $(seq 1 74); do many+=("--parameters.p$i" 1); done
  refused 2 "more than 73 parameters" "x*p1" $U "${many[@]}"
  refused 0 "0.5" "x*p73" $U "${many[@]:0:146}" --quiet
  # keys without a use
  refused 2 "'quad' makes no use of it" "x" $U --history h.csv
  refused 2 "'quad' makes no use of it" "x" $U --transport mpi
  refused 2 "nothing to save" --data d.txt --checkpoint c.h5
  [ -e h.csv ] && echo "a history was made" && bad=1
  # errors in the text need no MPI
  refused 2 "--exact: " "x" $U --exact "1 +"
  refused 2 "column 4" "x +" $U
  grep -q "rank" err && echo "MPI was started for an error in the text" && bad=1
  # a plan is no run
  refused 0 "would integrate x by simpson in 1 direction" "x" $U --rule simpson --n 11 --dry-run --output x.h5
  grep -q "11 points" out && ! grep -q value out && [ ! -e x.h5 ] || { echo "dry run: $(cat out)"; bad=1; }
  refused 0 "a (5): 5 members" "a*x" $U --sweep.a "linspace(1, 2, 5)" --dry-run
  refused 2 "are more than 2^53" "x" $U --dims 3 --rule trapezoid --n 1e6 --dry-run
  # 0 +- 0
  for rule in adaptive trapezoid sobol; do refused 4 "says nothing" "max(0, x - 2)" $U --rule $rule --report r.json; done
  grep -q '"reason": "nothing_seen"' r.json && grep -q '"error_estimate": null' r.json || { cat r.json; bad=1; }
  refused 4 "says nothing" "exp(-1e10*((x - 0.37)^2 + (y - 0.61)^2))" $U --dims 2
  refused 0 "value        0" "0*x" $U
  refused 0 "a = 0: 0" "a*sin(x) + 0*x^2" $U --sweep.a "0, 1"
  refused 4 "1 of 2 members failed" "max(0, x - a)" $U --sweep.a "0, 2"
  # data as other programs write it
  printf '\xef\xbb\xbf0 0\r\n1 1\r\n' >d.txt
  refused 0 "0.5" --data d.txt --quiet
  printf '0 1\n' >d.txt
  refused 3 "d.txt: 1 sample; expected" --data d.txt
}
exit $bad
