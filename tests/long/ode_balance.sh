#!/usr/bin/env bash
# Blocks lent from rank to rank keep the ranks' work even where costs differ a hundredfold (bench/ode_balance.sh):
# on 2 and on 3 ranks the longest takes at most 1.1 times the mean, and states have the bits of one rank.
set -u
bad=0
for ranks in 2 3; do
  line=$(bash "$HALOSWEEP_SOURCE/bench/ode_balance.sh" "$HALOSWEEP" $ranks) || bad=1
  echo "$line"
  grep -q '"same_bits": true' <<<"$line" || { echo "other bits on $ranks ranks"; bad=1; }
  sed 's/.*"imbalance": \([0-9.]*\),.*"imbalance_without_loans": \([0-9.]*\),.*/\1 \2/' <<<"$line" |
    awk '{ exit !($1 >= 1 && $1 <= 1.1 && $2 > 1.5) }' || { echo "$ranks ranks: not even"; bad=1; }
done
exit $bad
