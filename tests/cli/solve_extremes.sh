#!/usr/bin/env bash
# Values near the ends of the double range: nothing is claimed that the returned x does not hold.
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
complain() { echo "$*"; bad=1; }
value() { sed -n "s/^  \"$1\": \"\\{0,1\\}\\([^\",]*\\)\"\\{0,1\\},\\{0,1\\}\$/\\1/p" r.json; }
solve() {
  rm -f r.json
  timeout 60 "$HALOSWEEP" solve "$@" --quiet --report r.json > out 2> err
  rc=$?
}
below() { awk -v x="$1" -v y="$2" 'BEGIN {exit !(x != "" && x <= y)}'; }
numbers() { for _ in 1 2 3 4 5 6; do echo "$1"; done; }
tridiagonal() { # diagonal, beside it
  echo "%%MatrixMarket matrix coordinate real symmetric"
  echo "6 6 11"
  for i in 1 2 3 4 5 6; do echo "$i $i $1"; done
  for i in 2 3 4 5 6; do echo "$i $((i - 1)) $2"; done
}

# A start so far away that the residual falls through the whole range of squares: at a multiple of
# check_every the true residual must not be lost to underflow.
tridiagonal 4 -1 > a.mtx
numbers 1e300 > far.txt
for options in "--method jacobi" "--method jacobi --monitor update --check_every 3"; do
  # shellcheck disable=SC2086
  solve a.mtx --x0 far.txt $options
  if [ $rc = 0 ]; then
    below "$(value relative_residual)" 1e-8 || complain "$options: claims convergence at $(value relative_residual)"
  fi
  [ $rc = 0 ] || complain "$options: exit $rc: $(cat err)"
done

# Growth is told by its size as long as it is a number.
tridiagonal 1 0.9 > grows.mtx
solve grows.mtx --method jacobi --divergence inf
[ $rc = 5 ] || complain "divergence inf: exit $rc"
below 1e300 "$(value relative_residual)" || [ "$(value relative_residual)" = null ] ||
  complain "divergence inf: stopped as not finite at $(value relative_residual)"
# Matrices of any size are solved alike: the iterates differ by no bit, the verdicts not at all.
tridiagonal 4 -1 > a.mtx
solve a.mtx --method cg
iterations=$(value iterations)
print=$(value fingerprint)
for power in -1070 -1040 -1000 -532 532 1000 1020; do
  tridiagonal "$(awk -v p=$power 'BEGIN {printf "%.17g", 2 ^ (p + 2)}')" "-$(awk -v p=$power 'BEGIN {printf "%.17g", 2 ^ p}')" > s.mtx
  for method in "cg" "cg --preconditioner none" "jacobi"; do
    # shellcheck disable=SC2086
    solve s.mtx --method $method --atol 0
    [ $rc = 0 ] || complain "2^$power, $method: exit $rc: $(cat err)"
    below "$(value relative_residual)" 1e-8 || complain "2^$power, $method: residual $(value relative_residual)"
    [ "$method" != cg ] || [ "$(value iterations) $(value fingerprint)" = "$iterations $print" ] ||
      complain "2^$power, $method: $(value iterations) $(value fingerprint), not $iterations $print"
  done
done
# an absolute tolerance is of the residual as given
tridiagonal 4e200 -1e200 > s.mtx
solve s.mtx --method cg --rtol 0 --atol 1e199
[ $rc = 0 ] || complain "atol: exit $rc: $(cat err)"
solve s.mtx --method jacobi --rtol 0 --atol 1e100 --max_iterations 100
[ $rc = 4 ] || complain "atol: exit $rc, expected 4: $(cat err)"
# too far apart to scale: no claim about definiteness
printf '%%%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 1e300\n2 2 1e-300\n3 3 1\n' > spread.mtx
solve spread.mtx --method cg
[ $rc = 0 ] || grep -q "too far apart" err || complain "spread: $(cat err)"
# A right-hand side of subnormal numbers, whose reciprocals are beyond the range: what may converge
# does.
tridiagonal 4 -1 > a.mtx
numbers 1e-310 > small.txt
for method in jacobi jor gauss-seidel sor ssor block-jacobi chebyshev cg minres bicgstab gmres; do
  solve a.mtx --rhs small.txt --method $method
  [ $rc = 0 ] || complain "1e-310, $method: exit $rc: $(cat err)"
  below "$(value relative_residual)" 1e-8 || complain "1e-310, $method: residual $(value relative_residual)"
done
# Overflow is no fault of cg where cg was not asked.
numbers 1.7e308 > large.txt
tridiagonal 1 -0.5 > b.mtx
solve b.mtx --rhs large.txt --method chebyshev
[ $rc = 5 ] || complain "1.7e308: exit $rc: $(cat err)"
grep -q "cg needs" err && complain "1.7e308: $(cat err)"
exit $bad
