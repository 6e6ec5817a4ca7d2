#!/usr/bin/env bash
# Formulas from the command line: compiled, interpreted, from a C file, on several ranks - one
# fingerprint; and what is said when they cannot be had.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export XDG_CACHE_HOME=$work/cache
mkdir -m 700 cache
failures=0

wrong() {
  printf '%s\n' "$1" >&2
  cat said >&2
  failures=$((failures + 1))
}

# EXIT COMMAND...: the fingerprint into $print
try() {
  local expected=$1 got=0
  shift
  "$@" >out 2>said || got=$?
  [[ $got -eq $expected ]] || wrong "exit $got, expected $expected: $*"
  print=$(awk '$1 == "fingerprint" { print $2 }' out)
}

# shellcheck disable=SC2317 # called by try
quad() { "$HALOSWEEP" quad "$@" --lower 0 --upper 3 --rule trapezoid --n 10001 --threads 1; }
says() { grep -qF -e "$1" said || wrong "not said: $1"; }

mkdir inputs
cat >inputs/f.c <<'END'
#include <math.h>
#include "halosweep_functions.h"
double integrand(const double *x, const double *p) {
  const double s = sin(1e9*x[0]), e = exp(-p[0]*x[0]);
  return fma(s, e, -(s*e));
}
END
printf '[quad]\nintegrand = f.c\n[parameters]\ndamping = 0.05\n' >inputs/f.ini
# Only the rounding errors of a product are left, so every bit counts; arguments above 2^30 among them.
expression="sin(1e9*x)*exp(-damping*x) - sin(1e9*x)*exp(-damping*x)"

try 0 quad "$expression" --parameters.damping 0.05
compiled=$print
[[ -n $compiled ]] || wrong "no fingerprint"
[[ -n $(ls cache/halosweep/*.kernel) ]] || wrong "nothing was kept"
try 0 quad "$expression" --parameters.damping 0.05 --backend ref
[[ $print == "$compiled" ]] || wrong "ref: $print, compiled $compiled"
try 0 quad inputs/f.ini
[[ $print == "$compiled" ]] || wrong "C file: $print, expression $compiled"
try 0 quad inputs/f.ini --backend ref
[[ $print == "$compiled" ]] || wrong "C file on ref: $print, expression $compiled"

HALOSWEEP_CC=/nonexistent/cc try 0 quad "$expression" --parameters.damping 0.05
[[ $print == "$compiled" ]] || wrong "interpreted: $print, compiled $compiled"
says 'formulas are interpreted'
says '/nonexistent/cc: No such file'
HALOSWEEP_CC=/nonexistent/cc try 7 quad inputs/f.ini
says 'no compiler for the C file'

chmod 755 cache/halosweep
try 0 quad inputs/f.ini
[[ $print == "$compiled" ]] || wrong "without a cache: $print, expression $compiled"
says 'compiled formulas are not kept'
chmod 700 cache/halosweep

try 2 quad "sin(x) + foo"
says "column 10: found 'foo'"
printf 'double integrand(const double *x, const double *p) {\n  return x[0] + y;\n}\n' >bad.c
try 3 mpirun -n 2 "$HALOSWEEP" quad --integrand bad.c --lower 0 --upper 1 --rule trapezoid --n 11
says 'bad.c:2:'
[[ $(grep -c 'does not compile' said) -eq 1 ]] || wrong "said by several ranks"
try 0 mpirun -n 3 "$HALOSWEEP" quad inputs/f.ini --lower 0 --upper 3 --rule trapezoid --n 10001 --threads 1
[[ $print == "$compiled" ]] || wrong "3 ranks: $print, one $compiled"

exit $((failures > 0))
