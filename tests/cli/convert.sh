#!/usr/bin/env bash
# convert: every format into every other and back, on 1 and 3 ranks, bit for bit (the fingerprint of a few
# iterations tells); what is written counts from 1 and has 17 digits; reordered, it is the same system.
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
complain() { echo "$*"; bad=1; }
run() { mpirun -n "$1" "$HALOSWEEP" "${@:2}" >out 2>err || { echo "exit $?: ${*:2}"; cat err; bad=1; }; }
mark() { # of 4 iterations on a matrix file
  "$HALOSWEEP" solve "$1" --method jacobi --iterations 4 --report r.json >/dev/null 2>&1
  grep -o '"fingerprint": "[0-9a-f]*"' r.json
}
refused() { # CODE 'text' words...
  local code=$1 text=$2 rc
  shift 2
  "$HALOSWEEP" convert "$@" >out 2>err
  rc=$?
  [ $rc = "$code" ] && grep -qF -- "$text" err || { echo "exit $rc, expected $code and '$text': $*"; cat err; bad=1; }
}

cat > a.mtx <<'MTX'
%%MatrixMarket matrix coordinate real general
4 4 8
1 1 4
2 2 0.1
3 3 1e-300
4 4 -3.3333333333333335
1 4 0.30000000000000004
4 1 1
2 3 -0
3 1 7
MTX
first=$(mark a.mtx)
[ -n "$first" ] || complain "a.mtx has no fingerprint"
from=a.mtx ranks=1
for to in b.h5 c.petsc d.mtx e.petsc f.h5 g.mtx; do
  run $ranks convert $from --output $to
  [ "$(mark $to)" = "$first" ] || complain "$from -> $to on $ranks ranks: another matrix"
  from=$to ranks=$((4 - ranks))
done
cmp d.mtx g.mtx || complain "d.mtx and g.mtx hold the same and differ"
grep -qE '^1 4 +0\.30000000000000004$' d.mtx || complain "not one-based, or not 17 digits"

# case 17: what good files hold is exported counting from 1, with all digits
cases=$HALOSWEEP_SHARED/cases
probe() { "$HALOSWEEP" solve "$1" --method gmres --preconditioner none --nullspace none --rhs random --iterations 2 --quiet 2> err | grep '^fingerprint'; }
for name in 001_blank_lines_freeform 023_integer_large 032_skew_symmetric 037_b_pattern_symmetric 040_duplicates 041_explicit_zeros; do
  [ -f "$cases/$name.mtx" ] || continue
  run 1 convert "$cases/$name.mtx" --output back.mtx
  first=$(probe "$cases/$name.mtx")
  [ -n "$first" ] && [ "$(probe back.mtx)" = "$first" ] || complain "$name: read back: $(probe back.mtx), not $first"
done

# vectors
printf '1\n-0\n2.5\n3e-320\n' > v.txt
run 3 convert v.txt --output v.petsc
run 1 convert v.petsc --output v.h5
run 3 convert v.h5:/vector --output w.mtx
run 1 convert w.mtx --output w.txt
tail -n +2 w.txt | tr -d ' ' | tr '\n' ' ' | grep -qF "1 -0 2.5 2.9999" || complain "a vector changed: $(cat w.txt)"

# reordered: a path graph in a bad order has bandwidth 1 afterwards, and the solution is the old one's
"$HALOSWEEP" inspect b.h5 | grep -qF "size            4 x 4" || complain "inspect does not see the matrix in b.h5"
cat > path.mtx <<'MTX'
%%MatrixMarket matrix coordinate real symmetric
6 6 11
1 1 4
2 2 4
3 3 4
4 4 4
5 5 4
6 6 5
5 1 1
5 3 2
6 3 -1
6 2 1
4 2 1
MTX
printf '1\n2\n3\n4\n5\n6\n' > rhs.txt
for ranks in 1 3; do
  run $ranks convert path.mtx --order rcm --output p$ranks.h5 --permutation order$ranks.txt --rhs rhs.txt --rhs_output b$ranks.txt
  grep -qF "bandwidth 4 -> 1" out || complain "no path found: $(cat out)"
done
cmp order1.txt order3.txt && cmp b1.txt b3.txt || complain "another order on 3 ranks"
[ "$(mark p1.h5)" = "$(mark p3.h5)" ] || complain "another matrix on 3 ranks"
"$HALOSWEEP" solve path.mtx --rhs rhs.txt --output x.txt --quiet 2>/dev/null >/dev/null
"$HALOSWEEP" solve p1.h5 --rhs b1.txt --output y.txt --quiet 2>/dev/null >/dev/null
paste <(tail -n +2 order1.txt) <(tail -n +2 y.txt) | sort -n | awk '{print $2}' > back.txt
tail -n +2 x.txt | awk '{print $1}' | paste - back.txt |
  awk '{d = $1 - $2; if (d < -1e-7 || d > 1e-7) exit 1} END {if (NR != 6) exit 1}' || complain "the reordered system has another solution"

refused 2 "no output" a.mtx
refused 2 "expected a name that ends in" a.mtx --output a.xyz
refused 2 ".txt is for vectors" a.mtx --output z.txt
refused 2 "also an input" b.h5 --output b.h5
refused 2 "also an input" b.h5:/matrix --output b.h5
refused 2 "was not written by halosweep" a.mtx --output e.petsc
refused 2 "needs order = rcm" a.mtx --output z.h5 --permutation p.txt
refused 3 "only square matrices" v.txt --output z.h5 --order rcm
exit $bad
