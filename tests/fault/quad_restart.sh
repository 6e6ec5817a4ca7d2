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

# A sweep: every member once, whoever computes it, from any of the checkpoints.
on() { if [ "$1" = 1 ]; then "${@:2}"; else mpirun -n "$@"; fi; }
sweep() { on "$1" "$HALOSWEEP" quad "exp(a*x)*cos(b*x)" --lower 0 --upper 1 --sweep.a "linspace(-1, 1, 500)" --sweep.b "1, 2, 3" \
  --rule adaptive --threads 1 "${@:2}" >out 2>err; }
sweep 1 --output whole.h5 || complain "sweep: whole run"
cp out whole
sweep 2 --checkpoint sw.h5 --checkpoint.every 400 --checkpoint.keep 9 || complain "sweep: with checkpoints"
[ "$(ls sw.*.h5 | tr '\n' ' ')" = "sw.000400.h5 sw.000800.h5 sw.001200.h5 sw.001500.h5 " ] || complain "sweep: $(ls sw.*)"
[ "$(print out)" = "$(print whole)" ] || complain "sweep with checkpoints: $(print out), whole: $(print whole)"
for ranks in 1 3; do
  sweep $ranks --restart sw.000800.h5 --output again.h5 --report r.json || complain "sweep: going on with $ranks ranks"
  [ "$(print out)" = "$(print whole)" ] || complain "sweep on $ranks ranks: $(print out), whole: $(print whole)"
  grep -q '"members": 1500' r.json && grep -q '"iteration": 800' r.json || complain "sweep: $(cat r.json)"
  cmp <("$HALOSWEEP" inspect whole.h5 --quiet | grep members) <("$HALOSWEEP" inspect again.h5 --quiet | grep members) || complain "tables"
  rm again.h5
done
sweep 1 --restart sw.001500.h5 --rtol 1e-15 --atol 0
[ $? = 4 ] && grep -q "round_off" err || complain "sweep: members saved under 1e-10 are taken for 1e-15"
sweep 1 --sweep.c "1, 2" --restart sw.000800.h5
[ $? = 2 ] && grep -q "sweep.c" err || complain "another sweep: not exit 2"

# Adaptive rules: between generations.
for rule in "adaptive --upper 1" "genz-malik --upper 1,1"; do
  adapt() { on "$1" "$HALOSWEEP" quad "sqrt(abs(x - 0.3))$y" --lower 0 --rule $rule --rtol 1e-8 --threads 1 "${@:2}" >out 2>err; }
  rm -f ad.*
  y=$([ "${rule%% *}" = adaptive ] || echo "*exp(-y*x)")
  [ -z "$y" ] || rule="$rule --dims 2"
  adapt 1 || complain "$rule: whole run"
  cp out whole
  adapt 2 --checkpoint ad.h5 --checkpoint.every 1 --checkpoint.keep 999 || complain "$rule: with checkpoints"
  [ "$(print out)" = "$(print whole)" ] || complain "$rule with checkpoints: $(print out), whole: $(print whole)"
  adapt 3 --restart "$(ls ad.*.h5 | sed -n 3p)" || complain "$rule: going on"
  [ "$(print out)" = "$(print whole)" ] || complain "$rule gone on: $(print out), whole: $(print whole)"
  [ "$(grep "^ended" out)" = "$(grep "^ended" whole)" ] || complain "$rule gone on: other evaluations"
  adapt 1 --checkpoint ad.h5 --restart latest || complain "$rule: finished"
  [ "$(print out)" = "$(print whole)" ] || complain "$rule finished: another fingerprint"
done
endless="genz-continuous --dims 6 --rtol 1e-15 --atol 0 --max_evaluations 1e12"
"$HALOSWEEP" quad --integrand $endless --time-limit 1s --checkpoint en.h5 >out 2>err
[ $? = 75 ] && grep -q "regions; en" err || complain "adaptive stopped: not exit 75"
"$HALOSWEEP" quad --integrand $endless --time-limit 1s --report r.json >out 2>err
[ $? = 4 ] && grep -q "with an estimated error of" err && grep -q '"reason": "time_limit"' r.json || complain "adaptive stopped: not exit 4"
exit $bad
