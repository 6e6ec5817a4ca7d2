#!/usr/bin/env bash
# Adaptive integrals: equal values, errors and counts on ranks x threads x backends.
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
line() { sed -n 's/^\(ended\|value\|error\|fingerprint\) //p' out | tr -d '\n'; }

try() { # exit code, then the words of quad
  local code=$1 first="" rc
  shift
  while read -r ranks backend threads; do
    mpirun -n "$ranks" "$HALOSWEEP" quad "$@" --backend "$backend" --threads "$threads" --progress off > out 2> err < /dev/null
    rc=$?
    if [ -z "$first" ]; then
      first=$(line)
      [ $rc = "$code" ] && [ -n "$first" ] || { echo "$*: exit $rc, expected $code"; cat err; bad=1; }
    elif [ $rc != "$code" ] || [ "$(line)" != "$first" ]; then
      echo "$*: $backend with $threads threads on $ranks ranks: exit $rc, $(line); first: $first"
      cat err
      bad=1
    fi
  done <<< '1 ref 1
2 omp 1
3 ref 1
5 omp 2'
}

try 0 "exp(-x/4)*cos(x)/sqrt(x)" --lower 0 --upper inf
try 0 "exp(-y*y)*(1+abs(z-x))" --lower 0,-inf,-1 --upper 1,inf,1 --rtol 1e-3
try 5 "x < 1.9 ? sqrt(x) : sqrt(1-x)" --lower 0 --upper 2
exit $bad
