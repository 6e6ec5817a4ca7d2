#!/usr/bin/env bash
# One answer on CPU and GPU: equal exit codes, fingerprints, steps and verdicts from `--backend cuda` on one and
# two ranks (which may share a GPU), from omp and from ref; every kind of method, events, saved states, sweeps,
# samples, C files, failures, a checkpoint that goes on on the other backend.
set -u
. "$HALOSWEEP_SOURCE/tests/support/needs_gpu.sh"
command=ode ways=("1 ref" "2 omp" "1 cuda" "2 cuda") keys="fingerprint|steps|rejected|failed|reason"
. "$HALOSWEEP_SOURCE/tests/support/same_answer.sh"

cat > c.c << 'END'
#include <math.h>
#include "halosweep_functions.h"
static double pull(double x, const double *p) { return -p[0]*sin(x); }
void rhs(double t, const double *y, const double *p, double *dy) { dy[0] = y[1]; dy[1] = pull(y[0], p) - 0.1*y[1] + cos(t); }
double event(double t, const double *y, const double *p) { return y[0] + pull(t, p) - 3.0; }
END
try rk4 lorenz --method rk4 --dt 0.001 --t_end 3 --sweep.rho 'linspace(10, 40, 300)'
try tsit5 lorenz --t_end 3 --rtol 1e-8 --save_at '1, 2.5' --trajectories 300 --sample.x 'uniform(-1, 1)'
try dopri5 kepler --method dopri5 --t_end 7 --sweep.e '0, 0.3, 0.6' --event 'y'
try verlet kepler --method verlet --dt 0.01 --t_end 7 --sweep.e 'linspace(0, 0.6, 50)'
try rodas4 robertson --t_end 1e5 --sweep.k1 'geomspace(0.004, 0.4, 300)'
try tr-bdf2 van-der-pol --method tr-bdf2 --parameters.mu 100 --t_end 50 --save_at 20
try backward-euler oregonator --method backward-euler --rtol 1e-3 --t_end 10
try noise --equations.dx 'mu*x' --noise 'sigma*x' --parameters.mu 0.05 --parameters.sigma 0.2 --initial 1 \
  --t_end 1 --dt 0.001 --trajectories 700
try c-file c.c --parameters.g 9.81 --initial '0.5, 0' --t_end 10 --event c.c
try failures --equations.dx 'x^2' --initial 1 --sweep.x '0.1, 0.9, 2' --t_end 1.5 --trajectories 100
try limit lorenz --t_end 10 --max_steps 50

# begun here, ended there
words=(lorenz --rtol 1e-8 --t_end 20 --sweep.rho 'linspace(10, 40, 300)')
go 1 ref "${words[@]}"
want=$(answer)
for pair in "cuda omp" "omp cuda" "cuda cuda"; do
  rm -f ck.*.h5
  go 1 "${pair% *}" "${words[@]}" --checkpoint ck.h5 --max_steps 100
  go 2 "${pair#* }" "${words[@]}" --checkpoint ck.h5 --restart latest
  if [ "$(answer)" != "$want" ] || grep -q '"restarted_from": null' r.json; then
    echo "restart, $pair: $(answer), in one go: $want"
    cat err
    bad=1
  fi
done
exit $bad
