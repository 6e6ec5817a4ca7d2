#!/usr/bin/env bash
# Method direct by cuDSS: true residuals of built-in problems, matrices that are and are not symmetric, in any
# units, singular, with a zero diagonal; on one and two ranks. Where there is no cuDSS that is said, and MUMPS
# stands in (or exit 7 names both).
set -u
. "$HALOSWEEP_SOURCE/tests/support/needs_gpu.sh"
complain() { echo "$*"; bad=1; }
value() { sed -n "s/^  \"$1\": \"\\{0,1\\}\\([^\",]*\\)\"\\{0,1\\},\\{0,1\\}\$/\\1/p" r.json; }
below() { awk -v x="$1" -v y="$2" 'BEGIN {exit !(x != "" && x <= y)}'; }
solve() { # ranks, words
  what=$*
  rm -f r.json
  timeout 120 mpirun -n "$1" "$HALOSWEEP" solve "${@:2}" --method direct --backend cuda --progress off \
    --report r.json > out 2> err
  rc=$?
}

solve 1 --problem poisson1d --n 3
if ! grep -q 'cuDSS factorises' err; then
  why=$(grep -m1 -o 'cuDSS.*' err)
  case $rc in 0 | 7) ;; *) complain "without cuDSS: exit $rc: $(cat err)" ;; esac
  [ -n "$why" ] || complain "without cuDSS: nothing names it: $(cat err)"
  [ $bad = 0 ] || exit 1
  echo "skipped: $why"
  exit 77
fi

good() { # words
  for ranks in 1 2; do
    solve "$ranks" "$@" --rtol 1e-10
    [ $rc = 0 ] || { complain "$what: exit $rc: $(cat err)"; continue; }
    grep -q 'cuDSS factorises' err || complain "$what: not by cuDSS: $(cat err)"
    below "$(value relative_residual)" 1e-10 || complain "$what: residual $(value relative_residual)"
    below "$(value iterations)" 3 || complain "$what: $(value iterations) refinements"
    [ "$(value reproducible)" = none ] || complain "$what: reproducible $(value reproducible)"
  done
}

good --problem poisson2d --n 100
good --problem poisson3d --n 20
good --problem convdiff2d --n 60
good --problem random-dominant --n 2000 --entries-per-row 9 --rhs random
good --problem poisson1d --n 1

# tridiagonal, n = 400; entries as functions of i: above, diagonal, below the diagonal
made() { # file, three awk expressions in i
  awk "BEGIN {n = 400; print \"%%MatrixMarket matrix coordinate real general\"; print n, n, 3 * n - 2
    for (i = 1; i <= n; i++) {if (i > 1) printf \"%d %d %.17g\n\", i, i - 1, $4
      printf \"%d %d %.17g\n\", i, i, $3; if (i < n) printf \"%d %d %.17g\n\", i, i + 1, $2}}" > "$1"
}
made skew.mtx 1 1e-30 -1                                       # only off the diagonal
made units.mtx '-exp(i % 300)' '3 * exp(i % 300)' 'exp(i % 300)' # rows in units of their own
made small.mtx 1e-200 3e-200 1e-200
good skew.mtx
good units.mtx
good small.mtx
for f in "$HALOSWEEP_SHARED"/matrices/{west0067.mtx,494_bus.mtx,jpwh_991.mtx.gz,sherman3.mtx.gz}; do
  [ ! -f "$f" ] || good "$f"
done

made pair.mtx 'i == 199 || i == 201 ? 0 : 1' 'i == 200 || i == 201 ? 1 : 3' 'i == 200 || i == 202 ? 0 : 1'
made zero.mtx 'i == 200 ? 0 : 1' 'i == 200 ? 0 : 3' 'i == 200 ? 0 : 2'
for ranks in 1 2; do
  for f in pair zero; do
    solve "$ranks" $f.mtx --rhs random
    [ $rc = 5 ] || complain "$what: exit $rc, expected 5: $(cat err)"
    grep -q singular err || complain "$what: it is not said to be singular: $(cat err)"
    [ "$(value reason)" = breakdown ] || complain "$what: reason $(value reason)"
  done
done

solve 1 --problem poisson2d --n 300 --device-memory 20000000
[ $rc = 7 ] || complain "$what: exit $rc, expected 7: $(cat err)"
grep -qE 'bytes|memory' err || complain "$what: nothing about memory: $(cat err)"

# implicit steps of a coupled system
timeout 120 "$HALOSWEEP" ode reaction-diffusion --n 32,32 --t_end 0.1 --method tr-bdf2 --linear direct --backend cuda \
  --progress off > out 2> err || complain "coupled: exit $?: $(cat err)"
grep -q 'cuDSS factorises' err || complain "coupled: not by cuDSS: $(cat err)"
exit $bad
