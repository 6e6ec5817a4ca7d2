#!/usr/bin/env bash
# One answer of `heat` on CPU and GPU: equal exit codes and fingerprints from the reference backend and
# from `--backend cuda` on one and two ranks (which may share a GPU): faces, conductivities, sources,
# schemes, explicit and implicit; and a run stopped on one and gone on with on the other.
set -u
. "$HALOSWEEP_SOURCE/tests/support/needs_gpu.sh"
command=heat ways=("1 ref" "1 cuda" "2 cuda") keys=fingerprint must=0
. "$HALOSWEEP_SOURCE/tests/support/same_answer.sh"

try held --n 300,211 --length 2,1 --initial "sin(3*pi*x)*y" --boundary "dirichlet(initial)" --scheme ftcs --steps 203
try line --n 5000 --initial "exp(-100*(x-0.3)^2)" --boundary periodic --scheme ftcs --steps 307
try box --dims 3 --n 71,40,33 --initial "x*y+z" --boundary "neumann(0)" --boundary_zmax "robin(2, 1)" --scheme ftcs --steps 61
try odd --n 99,57 --initial "x" --alpha "1+x*y" --boundary "dirichlet(x)" --source 3 --scheme ftcs --steps 77
try fields --dims 3 --n 20,31,29 --initial "x" --alpha "1+x*y" --source "x*z" --scheme ftcs --steps 40
try in_time --n 40,19 --scheme rk4 --initial "x*y" --boundary_xmin "neumann(sin(9*t))" --boundary_xmax "robin(2, t)" \
  --boundary_ymin "dirichlet(x*cos(t))" --boundary_ymax "neumann(0)" --source "x*t" --dt 7e-5 --t_end 0.0041
try stages --n 130,66 --scheme rkl2 --initial "x*y" --boundary periodic --dt 0.002 --steps 20

try euler --n 130,121 --scheme backward-euler --initial "x*y" --alpha "x<0.4?100:1+y" --boundary "neumann(0)" \
  --boundary_xmin "robin(2, y)" --boundary_ymax "dirichlet(x)" --source "x-y" --dt 1e-3 --steps 5
try nicolson --dims 3 --n 30,27,35 --scheme crank-nicolson --initial "x*y+z" --boundary periodic \
  --boundary_xmin "dirichlet(1)" --boundary_xmax "neumann(cos(t))" --dt 2e-3 --steps 4
try line_implicit --n 4000 --scheme crank-nicolson --initial "sin(3*x)" --boundary "dirichlet(initial)" --dt 1e-4 --steps 6
try bdf2 --n 140,97 --scheme tr-bdf2 --initial "sin(pi*x)*y" --alpha "1+x*y" --boundary_ymax "neumann(0)" --t_end 0.02
try conserved --n 90,140 --scheme tr-bdf2 --initial "x*y" --boundary "neumann(0)" --dt 1e-2 --steps 3
try steady --n 150,121 --scheme steady --initial "x" --alpha "1+9*x" --source "sin(7*x*y)" --boundary_xmin "robin(1, y)"

gone_on() { # steps first and in all, words of heat
  local first=$1 all=$2 whole
  shift 2
  go 1 ref "$@" --steps "$all"
  whole="$rc $(answer)"
  [ "${whole#0 ?}" != "$whole" ] || { echo "$whole: $*"; cat err; bad=1; }
  for how in "ref cuda" "cuda ref" "omp cuda"; do
    rm -f ck.*.h5
    go 1 "${how% *}" "$@" --steps "$first" --checkpoint ck.h5
    [ "$rc" = 0 ] || { cat err; bad=1; }
    go 1 "${how#* }" "$@" --steps "$all" --checkpoint ck.h5 --restart latest
    if [ "$rc $(answer)" != "$whole" ]; then
      echo "gone on ${how/ / to }: $rc $(answer), whole: $whole: $*"
      cat err
      bad=1
    fi
  done
}

gone_on 37 100 --n 123,118 --initial "sin(pi*x)*y" --scheme ftcs --dt 1e-5
gone_on 3 7 --n 70,118 --initial "sin(pi*x)*y" --alpha "1+x" --scheme tr-bdf2 --dt auto --rtol 1e-3
exit $bad
