#!/usr/bin/env bash
# minres, bicgstab, gmres, direct on the real matrices against their index (counts at most 1.5 times the
# collected ones; true residuals), on the collected cases, refusals, breakdowns. What is slow is in
# tests/long/krylov.sh; cg and jacobi are in solve_matrices.sh and solve_cases.sh.
set -u
index=$HALOSWEEP_SHARED/matrices/index.tsv
cases=$HALOSWEEP_SHARED/cases
[ -f "$index" ] && [ -f "$cases/expected.tsv" ] || { echo "no $HALOSWEEP_SHARED"; exit 77; }
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
longest=${LONGEST:-2e6} # rows x steps: more is left to the long test
complain() { echo "$*"; bad=1; }
value() { sed -n "s/^  \"$1\": \"\\{0,1\\}\\([^\",]*\\)\"\\{0,1\\},\\{0,1\\}\$/\\1/p" r.json; }
below() { awk -v x="$1" -v y="$2" 'BEGIN {exit !(x != "" && x <= y)}'; }
solve() {
  rm -f r.json
  timeout "${PATIENCE:-20}" "$HALOSWEEP" solve "$@" --quiet --progress off --report r.json > out 2> err
  rc=$?
}
expect() { # code, then words that the messages must hold
  local code=$1
  shift
  [ $rc = "$code" ] || complain "$what: exit $rc, expected $code: $(cat err)"
  for word in "$@"; do grep -q -- "$word" err || complain "$what: no '$word' in: $(cat err)"; done
}
direct=1
solve --problem poisson1d --n 3 --method direct
[ $rc = 7 ] && { direct=0; grep -q libmumps err || complain "absent MUMPS: no package named: $(cat err)"; }

# ---- counts of the index ----
# name file rows symmetric definite diagonal-missing bicgstab gmres cg ("-": none or not converged)
awk -F'\t' '/^#/ {next} /^name\t/ {for (i = 1; i <= NF; i++) at[$i] = i; next}
  function count(k) {return $at[k] ~ /^[0-9]+$/ ? $at[k] : "-"}
  $at["rows"] == $at["cols"] && $at["field"] != "complex" {
    print $at["file"], $at["rows"], $at["numerically_symmetric"], $at["diag_missing"] + $at["diag_zero_stored"],
      count("bicgstab_iters"), count("gmres30_iters"), count("cg_iters"), $at["direct_maxerr"] + 0}' "$index" > list

count=0
judge() { # method file expected
  what="$1 $2"
  solve "$HALOSWEEP_SHARED/matrices/$2" --method "$1" --max-iterations 30000
  count=$((count + 1))
  expect 0
  [ "$(value reproducible)" = all ] || complain "$what: reproducible $(value reproducible)"
  below "$(value relative_residual)" 1e-8 || complain "$what: residual $(value relative_residual)"
  awk -v g="$(value iterations)" -v e="$3" 'BEGIN {exit !(g <= 1.5 * e + 1)}' ||
    complain "$what: $(value iterations) iterations, the index says $3"
  [ -z "${SHOW:-}" ] || echo "$what: $(value iterations) iterations, the index says $3"
}
affordable() { # rows count
  [ "$2" != - ] && awk -v r="$1" -v c="$2" -v l="$longest" 'BEGIN {exit !(r * c < l)}'
}
while read -r file rows symmetric zero bicgstab gmres cg error; do
  [ "$zero" = 0 ] || continue # the index puts 1 in place of zero diagonal entries: another preconditioner
  affordable "$rows" "$bicgstab" && judge bicgstab "$file" "$bicgstab"
  affordable "$rows" "$gmres" && judge gmres "$file" "$gmres"
  [ "$symmetric" = yes ] && affordable "$rows" "$cg" && judge minres "$file" "$cg"
  if [ $direct = 1 ] && [ "$error" != 0 ] && affordable "$rows" 400 && [ "$rows" -lt 20000 ]; then
    what="direct $file"
    solve "$HALOSWEEP_SHARED/matrices/$file" --method direct --rtol 1e-10
    expect 0
    [ "$(value reproducible)" = none ] || complain "$what: reproducible $(value reproducible)"
    below "$(value relative_residual)" 1e-10 || complain "$what: residual $(value relative_residual)"
    below "$(value iterations)" 3 || complain "$what: $(value iterations) refinements"
  fi
done < list
[ $count -ge 14 ] || complain "only $count solves were made: the index was not understood"

# ---- the collected cases ----
count=0
while IFS=$'\t' read -r number file kind outcome _ _ _ _ _ _ _ expectations _ bound _; do
  [ "$kind" = matrix ] && [ "$outcome" = ok ] || continue
  # gmres on all, bicgstab on those about solving
  for method in gmres $([ "$number" -ge 53 ] && echo bicgstab); do
    what="$method $file"
    case " $expectations " in
    *" $method=ok "*)
      count=$((count + 1))
      solve "$cases/$file" --method $method --rtol 1e-10
      expect 0
      below "$(value relative_residual)" 1e-10 || complain "$what: residual $(value relative_residual)"
      below "$(value error_max)" "$bound" || complain "$what: error $(value error_max), bound $bound" ;;
    *" $method=refuse "* | *" $method=either "*)
      solve "$cases/$file" --method $method --rtol 1e-10
      case $rc in 0 | 3 | 4 | 5) ;; *) complain "$what: exit $rc" ;; esac
      [ $rc != 0 ] || below "$(value relative_residual)" 1e-10 || complain "$what: claims convergence" ;;
    esac
    grep -qi '[^a-z]nan' out && complain "$what: NaN in the output"
  done
done < <(tail -n +2 "$cases/expected.tsv")
[ $count -ge 25 ] || complain "only $count cases seen"

for method in minres bicgstab gmres; do
  what="55 $method"
  for rtol in 0 1e-30; do
    solve "$cases/055_two_eigenvalues.mtx" --method $method --preconditioner none --rtol $rtol --max-iterations 50
    case $rc in 0 | 4 | 5) ;; *) complain "$what: exit $rc" ;; esac
    below "$(value iterations)" 12 || complain "$what: $(value iterations) iterations"
    below "$(value error_max)" 1e-14 || complain "$what: error $(value error_max)"
  done
  what="58 $method"; solve "$cases/058_A_singular.mtx" --rhs "$cases/058_b_inconsistent.mtx" --method $method
  case $rc in 4 | 5) ;; *) complain "$what: exit $rc" ;; esac
  # (x of bicgstab runs off along the null vector)
  [ $method = bicgstab ] || below "$(value relative_residual)" 0.2673 || complain "$what: residual $(value relative_residual), 0.26726 can be had"
  below "$(value iterations)" 60 || complain "$what: $(value iterations) iterations"
  what="59 $method"; solve "$cases/059_neumann_laplacian.mtx" --rhs "$cases/059_b_compatible.mtx" --method $method
  case $rc in 0) below "$(value relative_residual)" 1e-8 || complain "$what" ;; 4 | 5) ;; *) complain "$what: exit $rc" ;; esac
  what="61 $method"; solve "$cases/061_hilbert10.mtx" --method $method --rtol 1e-14 --max-iterations 1000
  [ "$(value converged)" = false ] || below "$(value relative_residual)" 1e-14 || complain "$what: claims convergence"
  what="62 $method"; solve "$cases/062_poisson10x10.mtx" --method $method --rtol 1e-30 --max-iterations 2000; expect 4 stagnated
  what="65 $method"
  solve "$cases/065_A.mtx" --method $method; k=$(value iterations)
  for s in 18 170; do
    rm -f x.txt
    solve "$cases/065_A.mtx" --method $method --rhs "$cases/065_b_1em$s.mtx" --output x.txt; expect 0
    [ "$(value iterations)" = "$k" ] || complain "$what: $(value iterations) iterations for 1e-$s, $k for 1"
    grep -v '^[%#]' x.txt | awk -v s=1e-$s '{d = $1 / s - 1; if (d > 1e-7 || d < -1e-7) exit 1}' || complain "$what: x is wrong for 1e-$s"
  done
done
what=58-direct
[ $direct = 0 ] || { solve "$cases/058_A_singular.mtx" --method direct; expect 5 singular; }
[ $direct = 0 ] || [ "$(value reason)" = breakdown ] || complain "$what: reason $(value reason)"

# ---- refusals and breakdowns ----
what="53 minres"; solve "$cases/053_nonsymmetric_for_cg.mtx" --method minres; expect 3 symmetric 'a(1,2)'
what="43 none"; solve "$cases/043_missing_diagonal.mtx" --method gmres; expect 0
case "$(value preconditioner) $(value why)" in "none "*"missing") ;; *) complain "$what: $(value why)" ;; esac
what="43 jacobi"; solve "$cases/043_missing_diagonal.mtx" --method gmres --preconditioner jacobi; expect 3 'row' 'preconditioner none'
for method in cg minres; do
  what="ilu0 $method"; solve --problem poisson2d --n 5 --method $method --preconditioner ilu0; expect 2 ilu0 'symmetric' jacobi
done
what="gmres_restart"; solve --problem poisson1d --n 5 --method bicgstab --gmres-restart 5; expect 2 gmres_restart
what="jpwh_991"; solve "$HALOSWEEP_SHARED/matrices/jpwh_991.mtx.gz" --method bicgstab; expect 0 # r1 is orthogonal to r~
below "$(value iterations)" 46 || complain "$what: $(value iterations) iterations, 31 with another right-hand side"
what="32 bicgstab"; solve "$cases/032_skew_symmetric.mtx" --method bicgstab; expect 5 'r~' gmres
[ "$(value reason)" = breakdown ] || complain "$what: $(value reason)"
printf '%%%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 2\n2 2 -3\n3 3 4\n2 1 1\n' > minus.mtx
what="negative diagonal"; solve minus.mtx --method minres; expect 0
case "$(value preconditioner) $(value why)" in "none "*"negative") ;; *) complain "$what: $(value why)" ;; esac
solve minus.mtx --method minres --preconditioner jacobi; expect 3 'row 2' 'positive definite'
ldd "$HALOSWEEP" | grep -qi mumps && complain "the program is linked with MUMPS"

# ---- ranks without rows, without neighbours: the same (parity/registries has every pair) ----
for file in 067_three_rows 068_no_halo_ranks; do
  for words in "cg --preconditioner amg" "gmres --preconditioner ilu0"; do
    what="$file, $words"
    # shellcheck disable=SC2086
    solve "$cases/$file.mtx" --method $words
    expect 0
    alone="$(value iterations) $(value fingerprint)"
    rm -f r.json
    # shellcheck disable=SC2086
    timeout 20 mpirun -n 4 "$HALOSWEEP" solve "$cases/$file.mtx" --method $words --quiet --report r.json > out 2> err ||
      complain "$what on 4 ranks: exit $?: $(cat err)"
    [ "$(value iterations) $(value fingerprint)" = "$alone" ] || complain "$what on 4 ranks: not $alone"
  done
done
[ $direct = 0 ] || timeout 20 mpirun -n 4 "$HALOSWEEP" solve "$cases/067_three_rows.mtx" --method direct --quiet > out 2> err ||
  complain "067 on 4 ranks, direct: exit $?: $(cat err)"
exit $bad
