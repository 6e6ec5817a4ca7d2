#!/usr/bin/env bash
# Several stages in one pass over memory, from the command line: on 1, 2, 3 and 5 ranks (slabs so thick that
# passes stay long, and so thin that they do not) the field has the bits of single stages on ref; and the
# loop is launched about once per pass, not once per stage; what does not depend on time is not copied in it.
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
print() { sed -n 's/^fingerprint  //p' "$1"; }
field() { sed -n "s/^ *\"$1\": \([0-9]*\),\{0,1\}\$/\1/p" "$2" | tail -1; }

try() { # words of heat
  "$HALOSWEEP" heat "$@" --backend ref --progress off >ref.out 2>err || { cat err; bad=1; }
  for ranks in 1 2 3 5; do
    mpirun -n "$ranks" "$HALOSWEEP" heat "$@" --backend omp --threads 2 --progress off --report r.json >out 2>err ||
      { echo "$ranks ranks: exit $?"; cat err; bad=1; }
    [ "$(print out)" = "$(print ref.out)" ] || { echo "$ranks ranks: $* differ from ref"; bad=1; }
    if [ "$ranks" = 1 ] && [ "$(($(field launches r.json) * 2))" -gt "$(field stages r.json)" ]; then
      echo "$(field launches r.json) launches of $(field stages r.json) stages: $*"
      bad=1
    fi
    [ "$ranks" != 1 ] || [ "$(field host_copies r.json)" = 0 ] || { echo "$(field host_copies r.json) copies: $*"; bad=1; }
  done
}

try --n 40,300 --initial 'sin(3*x)*y+x' --alpha '1+x*y' --source 'x-y' --boundary 'robin(2, x)' \
  --boundary_ymin 'dirichlet(x)' --scheme ftcs --steps 256
try --n 12,9,50 --initial 'x*y+z' --boundary periodic --boundary_xmin 'neumann(1)' --boundary_xmax dirichlet \
  --scheme rkl2 --dt 1e-2 --steps 20
exit $bad
