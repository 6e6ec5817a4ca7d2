#!/usr/bin/env bash
# One answer on CPU and GPU: equal exit codes, fingerprints and evaluations from `--backend cuda` on one and
# two ranks (which may share a GPU), from omp and from ref; every kind of rule, a sweep, a C file, failures.
set -u
. "$HALOSWEEP_SOURCE/tests/support/needs_gpu.sh"
command=quad ways=("1 ref" "2 omp" "1 cuda" "2 cuda") keys="fingerprint|evaluations|reason|value|error_estimate"
. "$HALOSWEEP_SOURCE/tests/support/same_answer.sh"

cat > f.c << 'END'
#include <math.h>
#include "halosweep_functions.h"
double integrand(const double *x, const double *p) { return sin(p[0]*x[0])*exp(-p[1]*x[0]) + log(2.0 + x[0]); }
END
try trapezoid --f 'sin(x)*exp(-0.05*x)' --lower 0 --upper pi --rule trapezoid --n 1000001
try refined --f 'sin(x)*exp(-0.05*x)' --lower 0 --upper pi --rule simpson
try gauss --f 'exp(x*y)*cos(x)' --lower 0,0 --upper 1,2 --rule gauss-legendre --n 40
try tanh-sinh --f 'log(x)/sqrt(x)' --lower 0 --upper 1 --rule tanh-sinh
try adaptive --f 'exp(-x^2)' --lower -inf --upper inf --rule adaptive
try malik --f 'cos(x + 2*y)*exp(-z^2)' --lower 0 --upper 1 --dims 3 --rule genz-malik
try sobol --f 'exp(-x*y)*z' --lower 0 --upper 1 --dims 3 --rule sobol --rtol 1e-4
try float --f 'sin(x)*exp(-0.05*x)' --lower 0 --upper pi --rule trapezoid --n 300000 --precision float
try c-file --integrand f.c --parameters.a 3 --parameters.b 0.1 --lower 0 --upper 2 --rule simpson --n 70001
try sweep --f 'sin(a*x)*exp(-b*x)' --lower 0 --upper 3 --parameters.b 0.05 --sweep.a 'linspace(0, 1, 1000)' \
  --rule gauss-legendre --n 20
try sweep-refined --f 'sin(a*x)' --lower 0 --upper 3 --sweep.a '1, 2, 3' --rule trapezoid --rtol 1e-6
try nan --f 'log(x - 0.5)' --lower 0 --upper 1 --rule trapezoid --n 100001
echo 'double integrand(const double *x, const double *p) { return x[0]' > g.c
"$HALOSWEEP" quad --integrand g.c --lower 0 --upper 1 --rule trapezoid --n 3 --backend cuda --quiet > out 2> err
rc=$?
if [ $rc != 3 ] || ! grep -q 'g.c' err; then
  echo "a file that does not compile: exit $rc"
  cat err
  bad=1
fi
exit $bad
