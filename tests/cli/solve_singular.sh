#!/usr/bin/env bash
# Constants as the null space (pure Neumann problems): compatible and incompatible right-hand sides, every method
# that applies, any ranks; and symmetric scaling, whose tests stay in the given system's norm.
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
complain() { echo "$*"; bad=1; }
value() { sed -n "s/^ *\"$1\": \"\\{0,1\\}\\([^\",]*\\)\"\\{0,1\\},\\{0,1\\}\$/\\1/p" r.json | head -1; }
solve() {
  rm -f r.json x.txt
  timeout 60 "$HALOSWEEP" solve "$@" --quiet --progress off --report r.json > out 2> err
  rc=$?
}
expect() { # code, words of the messages
  local code=$1
  shift
  [ $rc = "$code" ] || complain "$what: exit $rc, expected $code: $(cat err)"
  for word in "$@"; do grep -qF -- "$word" err || complain "$what: no '$word' in: $(cat err)"; done
}
holds() { awk "BEGIN {exit !($1)}" || complain "$what: not so: $1"; }

# the graph Laplacian of an n x n grid with weights 1 and 0.1 (sums of rows are zero within rounding only)
awk 'BEGIN {m = 20; n = m * m; k = 0
  for (j = 0; j < m; j++) for (i = 0; i < m; i++) {d = 0; r = j * m + i + 1
    if (i > 0) {line[k++] = r " " r - 1 " -0.1"; d += 0.1} if (i < m - 1) {line[k++] = r " " r + 1 " -0.1"; d += 0.1}
    if (j > 0) {line[k++] = r " " r - m " -1"; d += 1} if (j < m - 1) {line[k++] = r " " r + m " -1"; d += 1}
    line[k++] = r " " r " " d}
  print "%%MatrixMarket matrix coordinate real general"; print n, n, k; for (e = 0; e < k; e++) print line[e]}' > neumann.mtx
vector() { # a rule in i = 1 .. 400
  awk "BEGIN {print \"%%MatrixMarket matrix array real general\"; print 400, 1; for (i = 1; i <= 400; i++) printf \"%.17g\\n\", $1}"
}
vector '(i - 200.5) / 200 + (i % 4 == 0) - (i % 4 == 2)' > compatible.mtx # not its own mirror image, or the mean of x is 0 anyway
vector '(i - 200.5) / 200 + 1' > incompatible.mtx
vector 3 > constant.mtx
# |mean| sqrt(n) / |b| of the second
least=$(awk 'BEGIN {for (i = 1; i <= 400; i++) s += ((i - 200.5) / 200 + 1)^2; printf "%.17g", sqrt(400 / s)}')

for method in auto cg minres bicgstab gmres "jor --omega 0.9 --max_iterations 30000"; do
  what="compatible, $method"; solve neumann.mtx --rhs compatible.mtx --method $method --output x.txt; expect 0
  holds "$(value relative_residual) <= 1e-8"
  [ "$(grep -A5 '"nullspace"' r.json | grep -c '"incompatible": false')" = 1 ] || complain "$what: not in the report"
  grep -v '^[%#]' x.txt | awk '{s += $1; a += $1 < 0 ? -$1 : $1} END {s = s < 0 ? -s : s; exit !(NR == 400 && s < 1e-12 * a)}' || complain "$what: the mean is not 0"
done
for method in cg minres gmres; do
  what="incompatible, $method"; solve neumann.mtx --rhs incompatible.mtx --method $method --output x.txt; expect 4 incompatible "least-squares"
  [ "$(value reason) $(value converged)" = "incompatible false" ] || complain "$what: $(value reason) $(value converged)"
  holds "$(value relative_residual) - $least < 1e-12 && $least - $(value relative_residual) < 1e-12"
done
cp r.json first.json
mpirun -n 3 "$HALOSWEEP" solve neumann.mtx --rhs incompatible.mtx --method gmres --quiet --progress off --report r.json > out 2> err
for key in fingerprint relative_residual right_side_mean iterations; do
  [ "$(grep "\"$key\"" r.json)" = "$(grep "\"$key\"" first.json)" ] || complain "3 ranks: another $key"
done

what="a constant"; solve neumann.mtx --rhs constant.mtx; expect 4 "below 1"
[ "$(value iterations)" = 0 ] || complain "$what: $(value iterations) iterations"
# the mean within the tolerance: solved to what is left of it
what="nearly compatible"; vector '(i - 200.5) / 200 + 5e-9' > nearly.mtx; solve neumann.mtx --rhs nearly.mtx; expect 0
holds "$(value relative_residual) <= 1e-8 && $(value relative_residual) > $(value least_relative_residual)"
what="atol accepts"; solve neumann.mtx --rhs incompatible.mtx --atol 21; expect 0
holds "$(value relative_residual) >= $least - 1e-12"

what="none"; solve neumann.mtx --rhs incompatible.mtx --nullspace none --method minres --max_iterations 300
case $rc in 4 | 5) ;; *) complain "none: exit $rc" ;; esac
grep -q '"nullspace"' r.json && complain "none: it is looked at"
what="constant insists"; solve --problem poisson1d --n 9 --nullspace constant; expect 3 "2 of 9 rows do not sum to zero"
# rows sum to zero, columns do not: a cycle with different weights
awk 'BEGIN {n = 12; print "%%MatrixMarket matrix coordinate real general"; print n, n, 2 * n
  for (i = 1; i <= n; i++) {print i, i, i; print i, i % n + 1, -i}}' > cycle.mtx
what="left"; solve cycle.mtx --nullspace constant --rhs random; expect 3 "columns do not"
awk 'BEGIN {n = 12; print "%%MatrixMarket matrix coordinate real general"; print n, n, 2 * n
  for (i = 1; i <= n; i++) {print i, i, 1; print i, i % n + 1, -1}}' > ring.mtx
what="ring"; solve ring.mtx --nullspace constant --rhs random --method gmres; expect 4 incompatible
awk 'BEGIN {n = 12; for (i = 1; i <= n; i++) {for (j = 1; j <= n; j++) printf "%d ", j == i % n + 1; print i == 1}}' > shift.txt
what="stuck"; solve shift.txt --method gmres --gmres_restart 5; expect 4 stagnated "raise gmres_restart"
what="huge"; vector '1e160 * (i - 200.5)' > huge.mtx; solve neumann.mtx --rhs huge.mtx --method cg; expect 0
what="bad word"; solve neumann.mtx --nullspace linear; expect 2 nullspace

# ---- scaling: D A D with d from 1 to 100, in no order ----
awk 'BEGIN {n = 400; m = 20; print "%%MatrixMarket matrix coordinate real general"; print n, n, 5 * n - 4 * m
  for (i = 1; i <= n; i++) d[i] = exp(log(10) * (i * 131 % 401) / 200)
  for (i = 1; i <= n; i++) {c = (i - 1) % m
    if (i > m) printf "%d %d %.17g\n", i, i - m, -d[i] * d[i - m]; if (c > 0) printf "%d %d %.17g\n", i, i - 1, -d[i] * d[i - 1]
    printf "%d %d %.17g\n", i, i, 4 * d[i] * d[i]
    if (c < m - 1) printf "%d %d %.17g\n", i, i + 1, -d[i] * d[i + 1]; if (i <= n - m) printf "%d %d %.17g\n", i, i + m, -d[i] * d[i + m]}}' > wide.mtx
what="scaled"; solve wide.mtx --method cg --preconditioner none --scaling symmetric --output x.txt; expect 0
holds "$(value relative_residual) <= 1e-8 && $(value iterations) < 100"
[ "$(value scaling)" = symmetric ] || complain "scaled: not in the report"
# the residual once more from the written x
{ grep -v '^[%#]' x.txt; tail -n +3 wide.mtx; } | awk 'NR <= 400 {x[NR] = $1; next} {r[$1] += $3 * (1 - x[$2]); b[$1] += $3}
  END {for (i = 1; i <= 400; i++) {rr += r[i]^2; bb += b[i]^2} printf "%.17g\n", sqrt(rr / bb)}' > again
holds "$(cat again) <= 1.001e-8 && $(cat again) < 1.001 * $(value relative_residual) && $(cat again) > 0.999 * $(value relative_residual)"
mark=$(value fingerprint) count=$(value iterations)
mpirun -n 3 "$HALOSWEEP" solve wide.mtx --method cg --preconditioner none --scaling symmetric --quiet --progress off --report r.json > out 2> err
[ "$(value fingerprint)" = "$mark" ] || complain "scaled: 3 ranks differ"
# the given norm is the harder one: b lives where d is small, the residual where it is large
vector '(i * 131 % 401 <= 4 ? 1 : 0)' > few.mtx
what="tightened"; solve wide.mtx --method cg --preconditioner none --scaling symmetric --rhs few.mtx; expect 0
holds "$(value relative_residual) <= 1e-8 && $(value residual_restarts) > 0"
holds "$(value recursive_residual) < $(value relative_residual)"
what="not scaled"; solve wide.mtx --method cg --preconditioner none; expect 0
[ "$(value iterations)" -gt $((3 * count)) ] || complain "not scaled: $(value iterations), scaled $count iterations"
what="powers of two"; solve --problem poisson2d --n 12 --rhs random --method cg --scaling symmetric; expect 0
scaled=$(value fingerprint)
solve --problem poisson2d --n 12 --rhs random --method cg; expect 0
[ "$(value fingerprint)" = "$scaled" ] || complain "powers of two: equal scales change the bits"
what="jacobi"; solve wide.mtx --method jacobi --scaling symmetric; expect 2 "scaling changes nothing"
what="both"; solve neumann.mtx --nullspace constant --scaling symmetric; expect 2 "both given"
what="auto"; solve --problem random-dominant --n 500 --scaling symmetric; expect 0
[ "$(value method)" = bicgstab ] || complain "auto: $(value method)"
exit $bad
