#!/usr/bin/env bash
# What `heat` asks of a GPU, from its report, on one rank: explicit Euler steps are launched at most once per k
# steps, k those of one pass over memory (docs/performance.md), and nothing is copied between host and device
# in them; where the loop stops to look at the field (every 128 steps, and about every 0.2 s) a pass may be cut
# in two. An implicit step copies its coarsest grid only.
set -u
. "$HALOSWEEP_SOURCE/tests/support/needs_gpu.sh"
field() { sed -n "s/^ *\"$1\": \([0-9]*\),\{0,1\}\$/\1/p" r.json | tail -1; }
heat() { "$HALOSWEEP" heat "$@" --backend cuda --progress off --report r.json > out 2> err || { echo "$*: exit $?"; cat err; bad=1; }; }

try() { # k, steps, then the words of heat
  local k=$1 steps=$2 most
  shift 2
  heat "$@" --scheme ftcs --steps "$steps"
  most=$(((steps + k - 1) / k + 2 * (steps / 128 + 4)))
  if [ "$(field launches)" -gt "$most" ]; then
    echo "$(field launches) launches for $steps steps, expected at most $most: $*"
    bad=1
  fi
  [ "$(field host_copies)" = 0 ] || { echo "$(field host_copies) copies: $*"; bad=1; }
}

try 48 3840 --n 100000 --initial 'sin(3*x)'
try 8 1024 --n 600,500 --initial 'sin(3*x)*y' --boundary 'dirichlet(initial)'
try 4 1024 --n 300,200 --initial 'sin(3*x)*y' --alpha '1+x*y' --source 'x-y' --boundary 'neumann(x)'
try 4 512 --n 90,80,70 --initial 'x*y+z'

heat --n 120,110 --initial 'x*y' --alpha '1+x' --scheme backward-euler --dt 1e-3 --steps 3
iterations=$(field solver_iterations)
[ "$(field host_copies)" = $((2 * iterations)) ] ||
  { echo "$(field host_copies) copies in $iterations iterations, expected twice as many"; bad=1; }
exit $bad
