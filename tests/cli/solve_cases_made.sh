#!/usr/bin/env bash
# Cases that are made here: an indefinite matrix, the classroom's dense text with its right-hand side, and
# what is not there, on several ranks too.
set -u
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
expect() { # code, then words that the messages must hold
  local code=$1
  shift
  [ $rc = "$code" ] || complain "$what: exit $rc, expected $code: $(cat err)"
  for word in "$@"; do grep -q -- "$word" err || complain "$what: no '$word' in: $(cat err)"; done
}

printf '%%%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 2\n2 2 -1\n3 3 1\n' > indefinite.mtx
what=indefinite; solve indefinite.mtx --method cg --preconditioner none; expect 5 'p.Ap' 'iteration'

# ---- the classroom: dense text with its own right-hand side ----
printf '10 -1 2 0 6\n-1 11 -1 3 25\n2 -1 10 -1 -11\n0 3 -1 8 15\n' > class.txt
what=class; solve class.txt --method jacobi; expect 0
grep '^x =' out | awk '{if (($3-1)^2 + ($4-2)^2 + ($5+1)^2 + ($6-1)^2 > 1e-12) exit 1}' || complain "class: $(grep '^x' out)"
solve class.txt --method jacobi --output class.h5; expect 0; mark=$(value fingerprint)
"$HALOSWEEP" inspect class.h5 --config --quiet > class.ini; rm class.h5
solve class.ini; expect 0
[ "$(value fingerprint)" = "$mark" ] || complain "class: its config gives $(value fingerprint), not $mark"

# ---- what is not there, or no file ----
what=folder; solve .; expect 3 directory
what=missing; solve no-such-file.mtx; expect 3 no-such-file.mtx
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 1\n2 2 1\n' > empty_row.mtx
for words in "no-such-file:3" "empty_row.mtx:3" "indefinite.mtx:5"; do
  timeout 20 mpirun -n 4 "$HALOSWEEP" solve "${words%:*}" --method cg --preconditioner none --quiet > out 2> err
  rc=$?
  [ $rc = "${words#*:}" ] || complain "${words%:*} on 4 ranks: exit $rc"
done
exit $bad
