#!/usr/bin/env bash
# A long sum that is stopped goes on where it was, on other ranks, to the same bits; a finished one returns
# at once; another integrand does not fit; the clock stops it too.
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
complain() { echo "$*"; cat out err; bad=1; }
print() { sed -n 's/^fingerprint  //p' "$1"; }
words="--lower 0 --upper pi --n 6e7 --progress off"
f="sin(x)*exp(-0.05*x)"

"$HALOSWEEP" quad "$f" $words >whole 2>err || complain "whole run"
"$HALOSWEEP" quad "$f" $words --threads 1 --time-limit 1s --checkpoint ck.h5 --checkpoint.every 65536 >out 2>err
rc=$?
if [ $rc = 0 ]; then
  # a fast machine: take the first of its checkpoints
  first=$(ls ck.*.h5 | head -1) && for c in ck.*.h5; do [ "$c" = "$first" ] || rm "$c"; done
else
  [ $rc = 75 ] || complain "stopped: exit $rc, not 75"
fi
ls ck.*.h5 >/dev/null || complain "no checkpoint"
mpirun -n 3 "$HALOSWEEP" quad "$f" $words --threads 1 --checkpoint ck.h5 --restart latest --report r.json >out 2>err ||
  complain "going on: exit $?"
[ -n "$(print whole)" ] && [ "$(print out)" = "$(print whole)" ] || complain "$(print out), whole: $(print whole)"
grep -q '"restarted_from": {' r.json || complain "it did not go on from the checkpoint"
"$HALOSWEEP" quad "$f" $words --checkpoint ck.h5 --restart latest >out 2>err || complain "finished: exit $?"
[ "$(print out)" = "$(print whole)" ] || complain "finished: another fingerprint"
"$HALOSWEEP" quad "cos(x)" $words --checkpoint ck.h5 --restart latest >out 2>err
[ $? = 2 ] || complain "another integrand: not exit 2"
"$HALOSWEEP" quad "$f" --lower 0 --upper pi --n 1e12 --time-limit 1s >out 2>err
[ $? = 4 ] || complain "time limit without a checkpoint: not exit 4"
exit $bad
