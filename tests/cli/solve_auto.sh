#!/usr/bin/env bash
# method = auto on five classes of matrices, with the facts it names, the same on any ranks, threads and backend;
# a switch after a breakdown; omega = auto of jor.
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
complain() { echo "$*"; bad=1; }
value() { sed -n "s/^ *\"$1\": \"\\{0,1\\}\\([^\",]*\\)\"\\{0,1\\},\\{0,1\\}\$/\\1/p" r.json | head -1; }
solve() {
  rm -f r.json
  timeout 60 "$HALOSWEEP" solve "$@" --quiet --progress off --report r.json > out 2> err
  rc=$?
}
expect() { # code, words of the messages
  local code=$1
  shift
  [ $rc = "$code" ] || complain "$what: exit $rc, expected $code: $(cat err)"
  for word in "$@"; do grep -qF -- "$word" err || complain "$what: no '$word' in: $(cat err)"; done
}
why() { for word in "$@"; do grep '"why"' r.json | grep -qF -- "$word" || complain "$what: no '$word' in $(grep '"why"' r.json)"; done; }

# tridiagonal (low, diagonal, high) of n rows
tridiagonal() {
  awk -v n="$1" -v l="$2" -v d="$3" -v u="$4" 'BEGIN {
    print "%%MatrixMarket matrix coordinate real general"; print n, n, 3 * n - 2
    for (i = 1; i <= n; i++) {if (i > 1) print i, i - 1, l; print i, i, d; if (i < n) print i, i + 1, u}}'
}
tridiagonal 300 -1 1.5 -1 > indefinite.mtx    # eigenvalues from -0.5 to 3.5
tridiagonal 300 -1.9 2 -0.1 > upwind.mtx      # not symmetric, rows sum to zero but at the ends
awk 'BEGIN {n = 80; print "%%MatrixMarket matrix coordinate real general"; print n, n, 2 * n - 1
  for (i = 1; i <= n; i++) {if (i > 1) print i, i - 1, 0.3; print i, i % n + 1, 1}}' > hollow.mtx # no diagonal

class() { # what, method, preconditioner, a fact, then the words of solve
  local first
  what=$1
  solve "${@:5}" --rhs random; expect 0
  [ "$(value method) $(value preconditioner)" = "$2 $3" ] || complain "$what: $(value method) + $(value preconditioner)"
  why "$4"
  first=$(facts)
  mpirun -n 3 "$HALOSWEEP" solve "${@:5}" --rhs random --backend ref --threads 1 --progress off --quiet --report r.json > out 2> err
  [ "$(facts)" = "$first" ] || { complain "$what: 3 ranks differ"; facts; echo "$first"; }
}
facts() { echo "$(value method) $(grep '"why"' r.json) $(grep '_rho' r.json | tr -d '\n') $(value fingerprint)"; }
class spd cg jacobi "symmetric (a_ij = a_ji exactly); positive diagonal" --problem poisson2d --n 40
class indefinite minres jacobi "indefinite for certain" indefinite.mtx
class fast jacobi none "every row strictly dominant" --problem random-dominant --n 2000
class convection bicgstab jacobi "not resolved" --problem convdiff2d --n 40 --peclet 0.5
class hollow gmres none "80 diagonal entries zero or missing" hollow.mtx --gmres_restart 80

# a preconditioner that the choice cannot take
what=asked; solve --problem random-dominant --n 500 --preconditioner jacobi; expect 0
[ "$(value method)" = bicgstab ] || complain "asked: $(value method)"
why "for the sake of jacobi"

# one negative eigenvalue that eight Lanczos steps do not see: cg finds it, minres goes on
tridiagonal 200 -1 1.9995 -1 > barely.mtx
what=switch; solve barely.mtx --rhs random --history h.csv; expect 0 "cg ended with indefinite" minres
[ "$(value method)" = minres ] || complain "switch: $(value method)"
grep -q '"switched_from"' r.json && [ "$(grep -A1 switched_from r.json | tail -1 | tr -dc a-z)" = methodcg ] || complain "switch: not in the report"
grep -q '^switched  ' out || [ ! -s out ] || complain "switch: not in the summary"
[ "$(tail -1 h.csv | cut -d, -f1)" = "$(value iterations)" ] || complain "switch: the history is of another run"
mark=$(value fingerprint)
grep -q "from the start again" err || complain "switch: not from the start: $(cat err)"
what=again; solve barely.mtx --rhs random --method minres; expect 0
[ "$(value fingerprint)" = "$mark" ] || complain "switch: not the bits of minres from the start"
what=named; solve barely.mtx --rhs random --method cg; expect 5 "not positive definite"
what=saved; solve barely.mtx --rhs random --checkpoint ck.h5; expect 5 "not positive definite"

# jor: the spectrum of D^-1 A lies in [1/4, 9/4]: 9-point mass matrix, Jacobi diverges
awk 'BEGIN {m = 24; n = m * m; split("1 4 1", w); k = 0
  for (j = 0; j < m; j++) for (i = 0; i < m; i++) for (q = -1; q <= 1; q++) for (p = -1; p <= 1; p++)
    if (i + p >= 0 && i + p < m && j + q >= 0 && j + q < m) line[k++] = (j * m + i + 1) " " ((j + q) * m + i + p + 1) " " w[p + 2] * w[q + 2]
  print "%%MatrixMarket matrix coordinate real general"; print n, n, k; for (e = 0; e < k; e++) print line[e]}' > mass.mtx
what=jacobi; solve mass.mtx --method jacobi; expect 5 "jacobi diverges" "positive definite" "2/lambda_max" "--omega auto" "cg"
what=jor; solve mass.mtx --method jor --rhs random; expect 0
best=$(value omega) count=$(value iterations)
awk -v o="$best" 'BEGIN {exit !(o > .78 && o < .82)}' || complain "jor: omega $best, expected just below 2/(1/4 + 9/4)"
for factor in 0.9 1.06; do # the second is still below 2/lambda_max
  solve mass.mtx --method jor --rhs random --omega "$(awk -v o="$best" -v f=$factor 'BEGIN {print o * f}')"; expect 0
  [ "$(value iterations)" -gt "$count" ] || complain "jor: $(value iterations) at $factor of the best omega, $count at it"
done
# the rate of theory: the error falls by (9/4 - 1/4) / (9/4 + 1/4) a sweep
awk -v k="$count" 'BEGIN {t = log(1e8) / log(1.25); exit !(k <= t * 1.1 && k >= t * .7)}' || complain "jor: $count sweeps"
what=jor_auto_word; solve mass.mtx --method jor --omega auto --rhs random; expect 0
[ "$(value omega) $(value iterations)" = "$best $count" ] || complain "omega = auto is not what absent is"
what=jor_indefinite; solve indefinite.mtx --method jor; expect 3 "not positive definite" "converges for no omega"
what=jor_unsymmetric; solve upwind.mtx --method jor; expect 3 "omega = auto" "symmetric"
what=jor_given; solve upwind.mtx --method jor --omega 0.9 --iterations 5; expect 0
exit $bad
