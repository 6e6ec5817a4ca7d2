#!/usr/bin/env bash
# The collected bug reports, from the command line: outcomes, exit codes, errors within bounds. Cases that
# need no file of the collection are in solve_cases_made.sh.
set -u
cases=$HALOSWEEP_SHARED/cases
[ -f "$cases/expected.tsv" ] || { echo "no $cases"; exit 77; }
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
complain() { echo "$*"; bad=1; }
value() { sed -n "s/^  \"$1\": \"\\{0,1\\}\\([^\",]*\\)\"\\{0,1\\},\\{0,1\\}\$/\\1/p" r.json; }
solve() {
  rm -f r.json
  timeout 20 "$HALOSWEEP" solve "$@" --quiet --progress off --report r.json > out 2> err
  rc=$?
}
below() { awk -v x="$1" -v y="$2" 'BEGIN {exit !(x != "" && x <= y)}'; }

# ---- the table ----
count=0
while IFS=$'\t' read -r _ file kind outcome alt _ _ _ _ _ _ expectations _ bound _; do
  [ "$kind" = matrix ] || continue
  count=$((count + 1))
  methods="jacobi cg" # what is refused while it is read has not come to a method: one of them, in turns
  [ "$outcome" = ok ] || methods=$([ $((count % 2)) = 0 ] && echo jacobi || echo cg)
  for method in $methods; do
    solve "$cases/$file" --method $method --rtol 1e-10
    if [ "$outcome" = error ]; then
      [ $rc = 3 ] || { [ "$alt" = ok ] && [ $rc = 0 ]; } || complain "$file $method: exit $rc, expected 3"
      [ -s err ] || complain "$file: no message"
      [ -s out ] && complain "$file: printed results"
      continue
    fi
    case " $expectations " in
    *" $method=ok "*)
      [ $rc = 0 ] || complain "$file $method: exit $rc, expected 0: $(cat err)"
      below "$(value relative_residual)" 1e-10 || complain "$file $method: residual $(value relative_residual)"
      below "$(value error_max)" "$bound" || complain "$file $method: error $(value error_max), bound $bound" ;;
    *" $method=refuse "*)
      case $rc in 3 | 4 | 5) ;; *) complain "$file $method: exit $rc, expected a refusal" ;; esac
      [ -s err ] || complain "$file $method: no message" ;;
    *" $method=either "*)
      case $rc in 0 | 3 | 4 | 5) ;; *) complain "$file $method: exit $rc" ;; esac
      [ $rc != 0 ] || below "$(value relative_residual)" 1e-10 || complain "$file $method: claims convergence" ;;
    *) complain "$file: expectations '$expectations' not understood" ;;
    esac
    grep -qi '[^a-z]nan' out && complain "$file $method: NaN in the output"
  done
done < <(tail -n +2 "$cases/expected.tsv")
[ $count -ge 60 ] || complain "only $count cases seen"

expect() { # code, then words that the messages must hold
  local code=$1
  shift
  [ $rc = "$code" ] || complain "$what: exit $rc, expected $code: $(cat err)"
  for word in "$@"; do grep -q -- "$word" err || complain "$what: no '$word' in: $(cat err)"; done
}

# ---- what the table cannot say ----
what=53; solve "$cases/053_nonsymmetric_for_cg.mtx" --method cg; expect 3 symmetric 'a(1,2)'
what=55
for rtol in 0 1e-30; do
  solve "$cases/055_two_eigenvalues.mtx" --method cg --preconditioner none --rtol $rtol --max_iterations 50
  case $rc in 0 | 4) ;; *) complain "55: exit $rc" ;; esac
  below "$(value iterations)" 4 || complain "55: $(value iterations) iterations"
  below "$(value error_max)" 1e-15 || complain "55: error $(value error_max)"
done
what=56
methods=$("$HALOSWEEP" solve --help | sed -n 's/^ *--method \([^ ]*|[^ ]*\).*/\1/p' | tr '|' ' ')
[ "$(wc -w <<< "$methods")" -ge 13 ] || complain "the help was not understood: $methods"
for method in $methods; do
  what="56 $method"
  solve "$cases/056_A.mtx" --rhs "$cases/056_b_zero.mtx" --method $method; expect 0
  [ "$(value iterations) $(value relative_residual)" = "0 0.0" ] || complain "56: $(value iterations) $(value relative_residual)"
  grep -q '^x = 0 0 0 0 0$' out || complain "56: $(grep ^x out)"
done
what=58; solve "$cases/058_A_singular.mtx" --rhs "$cases/058_b_inconsistent.mtx"; expect 5 singular
[ "$(value method)" = minres ] || complain "58: $(value method)"
best=$(awk '$1 == 58 && $2 == "best_relative_residual" {print $3}' "$cases/values.tsv")
awk -v r="$(value relative_residual)" -v b="$best" 'BEGIN {exit !(b != "" && r - b < 1e-6 && b - r < 1e-6)}' ||
  complain "58: residual $(value relative_residual), the best is $best"
solve "$cases/058_A_singular.mtx" --rhs "$cases/058_b_inconsistent.mtx" --method jacobi; expect 3 'row 2'
solve "$cases/058_A_singular.mtx" --rhs "$cases/058_b_inconsistent.mtx" --method cg --preconditioner none
case $rc in 4 | 5) ;; *) complain "58: exit $rc" ;; esac
what=59
solve "$cases/059_neumann_laplacian.mtx" --rhs "$cases/059_b_compatible.mtx" --method cg --rtol 1e-12 --output x.txt; expect 0
grep -v '^[%#]' x.txt | awk 'NR > 1 {d = $1 - last - 1; if (d > 1e-9 || d < -1e-9) exit 1} {last = $1}' || complain "59: differences are not 1"
for method in auto minres gmres bicgstab; do
  rm -f x.txt
  solve "$cases/059_neumann_laplacian.mtx" --rhs "$cases/059_b_compatible.mtx" --method $method --rtol 1e-12 --output x.txt; expect 0
  grep -v '^[%#]' x.txt | awk '{d = $1 - (NR - 4.5); if (d > 1e-9 || d < -1e-9) exit 1}' || complain "59: $method: not the solution of mean 0"
done
awk 'BEGIN {print "%%MatrixMarket matrix array real general"; print 8, 1; for (i = 1; i <= 8; i++) print i}' > b59.mtx
solve "$cases/059_neumann_laplacian.mtx" --rhs b59.mtx; expect 4 incompatible mean
solve "$cases/059_neumann_laplacian.mtx" --rhs "$cases/059_b_compatible.mtx" --method jacobi; expect 4 max_iterations
for method in cg gmres; do # (bicgstab diverges, and says so)
what=61
rm -f x.txt
solve "$cases/061_hilbert10.mtx" --method $method --rtol 1e-14 --max_iterations 1000 --output x.txt
[ "$(value converged)" = false ] || below "$(value relative_residual)" 1e-14 || complain "61: claims convergence"
# the residual once more from the written x
{ grep -v '^[%#]' x.txt; grep -v '^%' "$cases/061_hilbert10.mtx"; } | awk '
  NR <= 10 {x[NR] = $1; next} NR == 11 {next} {r[$1] += $3 * (1 - x[$2]); b[$1] += $3
    if (symmetric && $1 != $2) {r[$2] += $3 * (1 - x[$1]); b[$2] += $3}}
  END {for (i = 1; i <= 10; i++) {rr += r[i]^2; bb += b[i]^2} printf "%.17g\n", sqrt(rr / bb)}' \
  symmetric="$(head -1 "$cases/061_hilbert10.mtx" | grep -c symmetric)" > again
awk -v a="$(cat again)" -v b="$(value relative_residual)" 'BEGIN {exit !(a <= 2 * b + 1e-15 && b <= 2 * a + 1e-15)}' ||
  complain "61 $method: recomputed $(cat again), reported $(value relative_residual)"
done
what=62; solve "$cases/062_poisson10x10.mtx" --rtol 1e-30 --max_iterations 2000; expect 4 stagnated
[ "$(value converged)" = false ] || complain "62: converged"
what=64; solve "$cases/064_jacobi_diverges.mtx" --method jacobi; expect 5 diverges cg jor '2/lambda_max = 0.769'
below "$(value iterations)" 30 || complain "64: $(value iterations) sweeps"
what=65
solve "$cases/065_A.mtx" --method cg; k=$(value iterations)
for s in 18 170; do
  rm -f x.txt
  solve "$cases/065_A.mtx" --method cg --rhs "$cases/065_b_1em$s.mtx" --output x.txt; expect 0
  [ "$(value iterations)" = "$k" ] || complain "65: $(value iterations) iterations for 1e-$s, $k for 1"
  grep -v '^[%#]' x.txt | awk -v s=1e-$s '{d = $1 / s - 1; if (d > 1e-9 || d < -1e-9) exit 1}' || complain "65: x is wrong for 1e-$s"
done
what=70; solve "$cases/070_empty_row.mtx"; expect 3 'row 3' empty
what="indefinite"; solve "$cases/037_b_pattern_symmetric.mtx" --method cg --preconditioner none --rhs random
case $rc in 0) below "$(value relative_residual)" 1e-8 || complain "37b" ;; 5) expect 5 'p.Ap' iteration ;; *) complain "37b: exit $rc" ;; esac
what=73; solve "$cases/073_power_law_shuffled.mtx" --method bicgstab; expect 0; mark=$(value fingerprint)
for ranks in 3 7; do
  timeout 20 mpirun -n $ranks "$HALOSWEEP" solve "$cases/073_power_law_shuffled.mtx" --method bicgstab --quiet > out 2> err
  [ "$(sed -n 's/^fingerprint  //p' out)" = "$mark" ] || complain "73 on $ranks ranks: not $mark: $(cat out err)"
done
# ---- on several ranks: the same exit, within the time limit ----
for words in "067_three_rows.mtx:0" "068_no_halo_ranks.mtx:0" "025_a_nan.mtx:3" "071_a_zero_bytes.mtx:3" \
  "064_jacobi_diverges.mtx:5"; do
  timeout 20 mpirun -n 4 "$HALOSWEEP" solve "$cases/${words%:*}" --method jacobi --quiet > out 2> err
  rc=$?
  [ $rc = "${words#*:}" ] || complain "${words%:*} on 4 ranks: exit $rc"
done
exit $bad
