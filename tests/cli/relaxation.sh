#!/usr/bin/env bash
# Gauss-Seidel, SOR, SSOR, block-Jacobi and what is made of colours and blocks as preconditioners: the same
# bits on any ranks, threads, backends; what they refuse, naming rows; what they say.
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
complain() { echo "$*"; bad=1; }
value() { sed -n "s/^  \"$1\": \"\\{0,1\\}\\([^\",]*\\)\"\\{0,1\\},\\{0,1\\}\$/\\1/p" r.json; }
solve() {
  rm -f r.json
  timeout 60 "${launcher[@]+"${launcher[@]}"}" "$HALOSWEEP" solve "$@" --quiet --report r.json > out 2> err
  rc=$?
}
launcher=()

# Five diagonals: three colours; blocks of 7 rows are split over ranks.
band() { # rows, diagonal, below, above, second
  echo "%%MatrixMarket matrix coordinate real general"
  awk -v n="$1" -v d="$2" -v b="$3" -v a="$4" -v s="$5" 'BEGIN {
    print n, n, 5 * n - 6
    for (i = 1; i <= n; i++) {
      print i, i, d + (i % 7) / 8
      if (i > 1) print i, i - 1, b
      if (i < n) print i, i + 1, a
      if (i > 2) print i, i - 2, s
      if (i < n - 1) print i, i + 2, s
    }
  }'
}
band 200 4 -1 -1 -0.75 > symmetric.mtx
band 200 4 -1.5 -0.5 -0.75 > general.mtx

same_bits() { # FILE, words
  local first
  solve "$@" --threads 2
  [ $rc = 0 ] || complain "$*: exit $rc: $(cat err)"
  first="$(value iterations) $(value fingerprint)"
  solve "$@" --backend ref
  [ "$(value iterations) $(value fingerprint)" = "$first" ] || complain "$*, ref: other bits than $first: $(cat err)"
  launcher=(mpirun -n 3)
  solve "$@" --threads 1
  [ "$(value iterations) $(value fingerprint)" = "$first" ] || complain "$*, 3 ranks: other bits than $first: $(cat err)"
  launcher=()
}
same_bits general.mtx --method sor
same_bits general.mtx --method block-jacobi --block-size 7
same_bits general.mtx --method gmres --preconditioner ilu0
same_bits symmetric.mtx --method cg --preconditioner ic0

refused() { # code, words in the message, words of solve
  local code=$1 text=$2
  shift 2
  solve "$@"
  [ $rc = "$code" ] || complain "$*: exit $rc, not $code: $(cat err)"
  grep -q -- "$text" err || complain "$*: no '$text' in: $(cat err)"
}
printf '%%%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 2\n2 1 1\n3 3 1\n3 2 1\n' > hole.mtx
printf '%%%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 2\n2 2 -2\n3 3 1\n3 2 1\n' > minus.mtx
for method in gauss-seidel sor ssor; do refused 3 "row 2 has no diagonal entry" hole.mtx --method $method; done
for words in "minres ssor" "gmres ilu0" "minres ic0"; do
  refused 3 "row 2 has no diagonal entry" hole.mtx --method "${words% *}" --preconditioner "${words#* }"
done
refused 3 "not symmetric" general.mtx --method gmres --preconditioner ic0
refused 3 "positive diagonal; in row 2 it is -2" minus.mtx --method gmres --preconditioner ic0
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 5\n1 1 1\n1 2 2\n2 1 2\n2 2 4\n3 3 1\n' > twice.mtx
refused 3 "block of rows 1 to 2 is singular" twice.mtx --method block-jacobi --block-size 2
refused 2 "0 < omega < 2" general.mtx --method sor --omega 2
refused 2 "0 < omega < 2" symmetric.mtx --method cg --preconditioner ssor --omega 2.5
refused 2 "omega is for methods" general.mtx --method gauss-seidel --omega 1.2
refused 2 "block_size is for block-jacobi" general.mtx --method sor --block-size 4
refused 2 "takes no preconditioner" general.mtx --method sor --preconditioner jacobi
refused 2 "symmetric positive definite preconditioner; ilu0 is not" symmetric.mtx --method cg --preconditioner ilu0

# A breakdown is cured by a shift, which is said.
band 60 0.9 1 1 1 > hard.mtx
timeout 60 "$HALOSWEEP" solve hard.mtx --method gmres --preconditioner ic0 --max-iterations 2000 > out 2> err
grep -q "ic0: the pivot of row .* is not positive; factored with the diagonal times" err ||
  complain "no word of the shift: $(cat err)"

# omega of sor is reported: what was found, or what was given.
solve --problem poisson2d --n 30 --method sor
awk -v w="$(value omega)" 'BEGIN {exit !(w > 1.80 && w < 1.84)}' || complain "sor found omega $(value omega), best is 1.816"
solve --problem poisson2d --n 30 --method sor --omega 1.5
[ "$(value omega)" = 1.5 ] || complain "omega 1.5 is reported as $(value omega)"
exit $bad
