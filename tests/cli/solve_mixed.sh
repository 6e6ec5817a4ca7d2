#!/usr/bin/env bash
# precision = mixed from the command line: what it reports, the same bits on ranks x threads x backends, restarts bit
# for bit, what is refused and why, where float is not enough, and true residuals on real matrices.
set -u
cases=$HALOSWEEP_SHARED/cases
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
expect() { # code, then words that the messages must hold
  local code=$1
  shift
  [ $rc = "$code" ] || complain "$what: exit $rc, expected $code: $(cat err)"
  for word in "$@"; do grep -q -- "$word" err || complain "$what: no '$word' in: $(cat err)"; done
}

# ---- the report ----
what=report
solve --problem poisson2d --n 30 --method cg --precision mixed --history h.csv
expect 0
[ "$(value precision)" = mixed ] && [ "$(value inner_iterations)" = "$(value iterations)" ] &&
  [ "$(value corrections)" -ge 8 ] && [ "$(value left_for_double)" = false ] || complain "$what: $(cat r.json)"
value format | grep -q . || complain "$what: no format"
grep -q 'in float' r.json || complain "$what: the matrix in float is not described"
[ "$(grep -c '^[0-9]' h.csv)" = $(($(value corrections) + 1)) ] || complain "$what: history: $(cat h.csv)"
grep -q 'corrections in double' out || complain "$what: nothing said to people: $(cat out)"
solve --problem poisson2d --n 30 --method cg
[ "$(value precision)" = double ] && [ -z "$(value corrections)" ] || complain "double: $(cat r.json)"

# ---- one answer ----
for words in "--method cg --problem poisson2d --n 30" "--method jor --omega 0.9 --problem poisson2d --n 9"; do
  first=
  for how in "1 ref 1" "1 omp 2" "3 omp 1"; do
    set -- $how
    what="$words on $how"
    # shellcheck disable=SC2086 # the words are meant to be split
    print=$(mpirun -n "$1" "$HALOSWEEP" solve $words --precision mixed --backend "$2" --threads "$3" --quiet --progress off \
      --history h.csv 2> err | sed -n 's/^fingerprint  //p') || complain "$what: $(cat err)"
    print="$print $(cksum < h.csv)"
    [ -n "$first" ] || first=$print
    [ "$print" = "$first" ] || complain "$what: $print, first: $first"
  done
done

# ---- restarts: from what was saved in between, and from a run that a limit ended between corrections ----
for words in "--method cg --problem poisson2d --n 40" "--method jacobi --problem poisson2d --n 8 --correct-every 20"; do
  what="restart $words"
  # shellcheck disable=SC2086
  solve $words --precision mixed
  whole="$(value fingerprint) $(value iterations) $(value corrections)"
  # shellcheck disable=SC2086
  solve $words --precision mixed --max-iterations 47 --checkpoint ck.h5 --checkpoint.every 10
  expect 4
  # shellcheck disable=SC2086
  solve $words --precision mixed --checkpoint ck.h5 --checkpoint.every 1000 --restart latest
  expect 0
  [ "$(value fingerprint) $(value iterations) $(value corrections)" = "$whole" ] ||
    complain "$what: $(value fingerprint) $(value iterations) $(value corrections), whole: $whole"
  grep -q '"restarted_from": {' r.json || complain "$what: not restarted"
  rm -f ck.*
done

# ---- refused ----
what=gmres; solve --problem poisson2d --n 5 --method gmres --precision mixed; expect 2 'gmres has no version in float' 'jacobi, jor or cg'
what=amg; solve --problem poisson2d --n 5 --method cg --preconditioner amg --precision mixed; expect 2 'amg has no version in float'
what=update; solve --problem poisson2d --n 5 --method jacobi --monitor update --precision mixed; expect 2 'monitor = update is for double'
what=correct; solve --problem poisson2d --n 5 --correct-every 7; expect 2 'correct_every is for precision = mixed'
what=auto; solve --problem convdiff2d --n 9 --peclet 30 --precision mixed --method auto
[ $rc = 2 ] && grep -q 'precision = mixed is for' err || [ $rc = 0 ] || complain "$what: $rc $(cat err)"
printf '%%%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 1e30\n2 2 1e-20\n3 3 1\n' > apart.mtx
what=apart; solve apart.mtx --method cg --precision mixed; expect 3 'row 2: its diagonal entry is 1.000e-50 of the largest'
for scale in 1e-170 1e200; do # a power of two away: no trouble
  what="scaled by $scale"
  printf '%%%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 4%s\n2 1 -1%s\n2 2 4%s\n3 3 2%s\n' \
    "${scale#1}" "${scale#1}" "${scale#1}" "${scale#1}" > scaled.mtx
  solve scaled.mtx --method cg --precision mixed --rtol 1e-13; expect 0
  solve scaled.mtx --method jacobi --precision mixed --rtol 1e-13; expect 0
done

# ---- a start so far off that the residual falls through all of float's range ----
{ printf '%%%%MatrixMarket matrix array real general\n25 1\n'; for _ in $(seq 25); do echo 1e60; done; } > far.mtx
for method in cg jacobi; do
  what="far $method"
  solve --problem poisson2d --n 5 --method $method --x0 far.mtx --precision mixed --divergence inf
  expect 0
  [ "$(value left_for_double)" = false ] || complain "$what: $(cat r.json)"
done

# ---- where float is not enough, double goes on; and real matrices ----
[ -f "$cases/061_hilbert10.mtx" ] || { echo "no $cases"; exit $((bad == 0 ? 77 : 1)); }
what=hilbert
solve "$cases/061_hilbert10.mtx" --method cg --precision mixed --rtol 1e-14
expect 0 'float is not enough'
[ "$(value left_for_double)" = true ] && awk -v r="$(value relative_residual)" 'BEGIN {exit !(r <= 1e-14)}' || complain "$what: $(cat r.json)"
for name in 494_bus bcsstk01; do
  what=$name
  solve "$HALOSWEEP_SHARED/matrices/$name.mtx" --method cg --precision mixed --rtol 1e-11
  expect 0
  [ "$(value left_for_double)" = false ] && awk -v r="$(value relative_residual)" 'BEGIN {exit !(r <= 1e-11)}' || complain "$what: $(cat r.json)"
done
exit $bad
