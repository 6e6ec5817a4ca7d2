#!/usr/bin/env bash
# `halosweep plot` on what halosweep writes, and how it ends: figures where they were asked for, text on stdout, exit codes.
set -u
. "$HALOSWEEP_SOURCE/tests/support/needs_python.sh"
needs_python numpy h5py matplotlib
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0

expect() { # CODE TEXT COMMAND...
  local code=$1 text=$2 found
  shift 2
  "$@" >out 2>err
  found=$?
  if [ $found != "$code" ] || ! cat out err | grep -qF -- "$text"; then
    echo "expected exit $code and '$text', found exit $found of: $*"
    cat out err
    bad=1
  fi
}
begins() { # FILE BYTES
  [ "$(head -c ${#2} "$1" 2>/dev/null)" = "$2" ] || { echo "$1 does not begin with $2"; bad=1; }
}

"$HALOSWEEP" solve --problem poisson2d --n 12 --method cg --history cg.csv --output x.h5 --quiet >/dev/null
"$HALOSWEEP" solve --problem poisson2d --n 12 --method cg --threads 2 --output y.h5 --quiet >/dev/null
"$HALOSWEEP" heat --n 7,5 --initial "x*y" --steps 4 --save_every 2 --output run.vtkhdf --quiet >/dev/null
"$HALOSWEEP" ode kepler --t_end 3 --save_at "1, 2, 3" --output ode.h5 --quiet >/dev/null
"$HALOSWEEP" quad "sin(a*x)" --lower 0 --upper 1 --rule gauss-legendre --n 8 --sweep.a "1, 2, 3" --output q.h5 --quiet >/dev/null

expect 0 "cg: converging: " "$HALOSWEEP" plot history cg.csv
grep -q "drawn: history.png" err || { echo "the name of the figure is not said"; bad=1; }
begins history.png $'\x89PNG'
expect 0 "drawn: h.gif, 3 times" "$HALOSWEEP" plot heat run.vtkhdf --output h.gif
begins h.gif GIF89a
expect 0 "drawn: run.svg" "$HALOSWEEP" plot heat run.vtkhdf --max_over x --output run.svg
begins run.svg '<?xml'
expect 0 "drawn: ode.pdf" "$HALOSWEEP" plot ode ode.h5 --kind=phase --output=ode.pdf
begins ode.pdf %PDF
expect 0 "drawn: q.png" "$HALOSWEEP" plot quad q.h5
expect 0 "equal: 1 data sets, 144 elements, in every bit" "$HALOSWEEP" plot compare x.h5 y.h5
for rtol in 1e-6 1e-3; do # one large system, of points on a line and on a grid
  "$HALOSWEEP" ode lorenz96 --n 40 --t_end 1 --save_at 0.5 --rtol $rtol --output line-$rtol.h5 --quiet >/dev/null
  "$HALOSWEEP" ode reaction-diffusion --n 6,5 --t_end 0.002 --method rk4 --dt $rtol --output grid-$rtol.h5 --quiet >/dev/null
done
expect 0 "equal: 7 data sets, 85 elements" "$HALOSWEEP" plot compare line-1e-6.h5 line-1e-6.h5
expect 0 "first at [0, 0] (t = 0.5 s, i = 0, x)" "$HALOSWEEP" plot compare line-1e-6.h5 line-1e-3.h5 --output c.png
expect 0 "(i = 0, j = 0, v)" "$HALOSWEEP" plot compare grid-1e-6.h5 grid-1e-3.h5 --output c.png
expect 0 "drawn: line.png" "$HALOSWEEP" plot ode line-1e-6.h5 --output line.png
expect 0 "drawn: grid.png" "$HALOSWEEP" plot ode grid-1e-6.h5 --components v --output grid.png
expect 2 "one coupled system; expected field" "$HALOSWEEP" plot ode line-1e-6.h5 --kind fan

# usage
expect 2 "invalid choice: 'pie'" "$HALOSWEEP" plot pie
expect 2 "required" "$HALOSWEEP" plot history
expect 2 "ends in .png" "$HALOSWEEP" plot history cg.csv --output cg.txt
expect 2 ".gif is for" "$HALOSWEEP" plot history cg.csv --output cg.gif
expect 2 "--axis z" "$HALOSWEEP" plot heat run.vtkhdf --axis z
cp q.h5 q2.png
expect 2 "is an input" "$HALOSWEEP" plot quad q2.png --output q2.png --force
expect 2 "no figure of halosweep" "$HALOSWEEP" plot quad q.h5 --output q2.png
cmp q.h5 q2.png || bad=1
# inputs
expect 3 "cannot be read" "$HALOSWEEP" plot history none.csv
expect 3 "not a history" "$HALOSWEEP" plot history x.h5
expect 3 "not an HDF5 file" "$HALOSWEEP" plot ode cg.csv
expect 3 "is a result of \`solve\`; expected one of \`heat\`" "$HALOSWEEP" plot heat x.h5
expect 3 "nothing to compare" "$HALOSWEEP" plot compare x.h5 ode.h5
expect 3 "no scaling study" "$HALOSWEEP" plot scale x.h5
# outputs, and a Python without what is needed
expect 6 "the folder none cannot be written to" "$HALOSWEEP" plot history cg.csv --output none/a.png
printf '#!/bin/sh\nshift\nexec "%s" -S "-m" "$@"\n' "$python" >bare && chmod +x bare # -S: no packages
expect 7 "has no numpy: install it" env HALOSWEEP_PYTHON="$PWD/bare" "$HALOSWEEP" plot history cg.csv
expect 7 "is not here" env HALOSWEEP_PYTHON="$PWD/none" "$HALOSWEEP" plot history cg.csv
exit $bad
