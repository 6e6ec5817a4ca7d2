#!/usr/bin/env bash
# An ensemble is the same on ranks x threads x backends, also with more ranks than blocks, in any company: states,
# statuses and counts, statistics. And while blocks are lent from rank to rank because costs differ a hundredfold.
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export HALOSWEEP_CC=/none # interpreted: the same bits, without a compiler started for each
bad=0
line() { grep -vE "^(time|ran on) " out; }
try() { # exit code, counts of ranks with backends and threads, then the words of ode
  local code=$1 first="" rc way ranks backend threads
  for way in $2; do
    IFS=: read -r ranks backend threads <<<"$way"
    mpirun -n "$ranks" "$HALOSWEEP" ode "${@:3}" --backend "$backend" --threads "$threads" --progress off --output x.h5 >out 2>err </dev/null
    rc=$?
    "$HALOSWEEP" inspect x.h5 2>/dev/null | grep "^/ode" >>out
    [ -n "$first" ] || first=$(line)
    [ $rc = "$code" ] && grep -q "^fingerprint" out && [ "$(line)" = "$first" ] && continue
    echo "${*:3}: $way: exit $rc, expected $code"
    diff <(line) <(echo "$first")
    cat err
    bad=1
  done
}
try 4 "1:ref:1 2:omp:3 5:omp:1" --equations.dy "k*y^2 + 0*sqrt(9 - y)" --sweep.k "linspace(-1, 1, 60)" --sample.y "normal(1, 0.2)" --trajectories 9 \
  --initial 0 --t_end 0.9 --event "y - 4" --save_at 0.3,0.9 --max_steps 8
try 0 "1:omp:3 3:ref:2" kepler --sweep.e "0, 0.5, 0.9" --method verlet --dt 0.01 --t_end 3
try 0 "1:ref:2 2:omp:1" van-der-pol --sample.mu "uniform(1, 100)" --trajectories 300 --method rodas4 --t_end 5

# more than the backend takes at once
try 0 "1:omp:2 3:omp:1" lorenz --sample.x "uniform(1, 2)" --trajectories 40000 --t_end 0.2
# blocks of the last tenth take a hundred times as many steps as the others
try 0 "1:omp:1 3:omp:1" --equations.dx v --equations.dv "-(i < 27 ? 1 : 1e4)*x" --initial 1,0 --sweep.i "linspace(0, 29, 30)" --trajectories 256 \
  --t_end 30 --rtol 1e-7 --sample.v "uniform(0, 1)"
exit $bad
