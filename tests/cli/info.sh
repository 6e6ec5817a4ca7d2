#!/usr/bin/env bash
# `info`: what is here, how ranks sit, what is missing, whether a problem is worth a GPU (cases 170, 173, 176, 179).
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
complain() { echo "$*"; cat out err; bad=1; }
info() { # code, words...
  local code=$1
  shift
  "$HALOSWEEP" info "$@" >out 2>err
  local got=$?
  [ $got = "$code" ] || complain "info $*: exit $got, expected $code"
}
has() { grep -qE -- "$1" out || complain "no '$1'"; }

# a measurement is a number above 0, and the passes that it took
info 0 --threads 2
has "^version: [0-9]+\.[0-9]+"
has "^MPI: .*[0-9]"
has "^HDF5: 1\.[0-9]+\.[0-9]+$"
has "^MPI takes GPU memory, by its own words: (yes|no|it does not say)$"
has "^memory bandwidth: [0-9.]*[1-9][0-9.]* GB/s \(triad on 1 rank x 2 threads, best of ([3-9]|[1-9][0-9]+) passes"
has "^ranks with a GPU: [01] of 1$"

# the report says the same; ranks with their CPUs, the same number as the kernel's
mpirun -n 2 --bind-to none "$HALOSWEEP" info --threads 1 --bandwidth=off --report r.json >out 2>err || complain "two ranks"
cpus=$(sed -n 's/^Cpus_allowed_list:\t//p' /proc/self/status)
[ "$(grep -c "\"cpus\": \"$cpus\"" r.json)" = 2 ] || { complain "CPUs, expected $cpus twice"; cat r.json; }
grep -q '"ranks": 2' r.json && grep -q '"bandwidth": null' r.json || { complain "report"; cat r.json; }
has "^rank 1: on $(hostname | cut -c1-60), CPUs $cpus, 1 thread on "
[ "$(grep -c '^rank ' out)" = 2 ] || complain "not a line a rank"
one=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
taskset -c "$one" "$HALOSWEEP" info --bandwidth=off >out 2>err
has "^rank 0: .*, CPUs $one, 1 thread on 1 core$"
"$HALOSWEEP" info --bandwidth=off --report - >out 2>err
has '"command": "info"'
grep -q "^version:" out && complain "text beside the report"

# what is missing, with a way to get it
HALOSWEEP_CC=/no/such/cc info 0 --bandwidth=off
has "^missing: C files .*/no/such/cc is not there; install"
info 0 --bandwidth=off
grep -q "^missing: C files" out && command -v cc >/dev/null && complain "there is a compiler"
if grep -q "^ranks with a GPU: 0" out; then has "^missing: backend cuda: "; fi
info 0 --bandwidth=off --report - && grep -q '"what": "GPU"' out || grep -q '"gpu": "' out || complain "GPU neither there nor missing"

# problems: as large as those that auto compares with
info 0 --bandwidth=off --problem poisson2d --n 999
has "^problem poisson2d: 998001 rows: too small for a GPU \(auto takes one from 1000000 on\)$"
info 0 --bandwidth=off --problem poisson2d --n 1000,1001
has "^problem poisson2d: 1001000 rows: large enough"
info 2 --bandwidth=off --problem poisson2d --n 1,2,3
info 2 --bandwidth=off --n 3
info 3 --bandwidth=off no.mtx
printf '%%%%MatrixMarket matrix coordinate real general\n2000000 2000000 1\n1 1 1\n' >a.mtx
info 0 --bandwidth=off a.mtx
has "^problem a.mtx: 2000000 rows: large enough"
cat >all.ini <<'INI'
[solve]
matrix = a.mtx
[heat]
n = 501, 500
initial = 0
t_end = 1
scheme = backward-euler
[quad]
f = a*x
lower = 0
upper = 1
rule = gauss-legendre
n = 64
[ode]
system = lorenz
method = rk4
dt = 0.001
t_end = 1
trajectories = 10000
[sweep]
a = linspace(0, 1, 62500001)
[run]
report = kept.json
INI
info 0 --bandwidth=off all.ini
has "^problem solve: 2000000 rows: large enough"
has "^problem heat: 250500 points: large enough for a GPU \(auto takes one from 250000 on\)"
has "^problem quad: 4000000064 evaluations: large enough for a GPU \(auto takes one from 4000000000 on\)"
has "^problem ode: "
[ -e kept.json ] && complain "the report of the run that the INI describes was written"
sed 's/^scheme.*//; s/^n = 64/n = 32/; s/, 62500001/, 3/; /^\[sweep/,/^a =/d; s/a\*x/x/; s/^f =.*/f = x/' all.ini >less.ini
info 0 --bandwidth=off less.ini
has "^problem heat: 250500 points: too small for a GPU \(auto takes one from 1000000 on\)"
has "^problem quad: 32 evaluations: too small"
has "^problem ode: 10000000 steps: too small for a GPU \(auto takes one from 10000000000 on\)"
printf '[quad]\nf = x\nlower = 0\nupper = 1\n[heat]\nwhatever = 3\n' >odd.ini
info 0 --bandwidth=off odd.ini
has "^problem quad: the number of evaluations is not known in advance"
has "^problem heat: odd.ini:6: unknown key 'whatever' in \[heat\]"
printf '[ode]\nsystem = lorenz96\nn = 40\nt_end = 1\n' >coupled.ini
info 0 --bandwidth=off coupled.ini
has "^problem ode: 40 points: too small for a GPU"
exit $bad
