#!/usr/bin/env bash
# One report whatever the ranks: that of 3 ranks is that of 1, but for clocks, places and memory.
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
# (warnings: that 3 ranks share fewer cores) the keys that tell where, how fast and in what storage it ran go, with the objects they open (levels are indented by 2)
elsewhere='config|ranks|threads|warnings|devices|transport|transport_tried|memory|seconds|phases|traffic|bytes_per_row'
same_part() { # FILE
  awk -v skip="^  \"($elsewhere|evaluations_per_second)\":" '
    $0 ~ skip {gone = $0 ~ /[[{]$/; next}
    gone {if ($0 ~ /^  []}]/) gone = 0; next}
    {print}' "$1"
}
try() { # words of a command
  "$HALOSWEEP" "$@" --report one.json --quiet >out 2>err
  local one=$?
  mpirun -n 3 "$HALOSWEEP" "$@" --report three.json --quiet >out 2>err
  local three=$?
  [ $one = $three ] || { echo "$*: exit $one and $three"; cat err; bad=1; }
  same_part one.json >one && same_part three.json >three
  grep -q '"fingerprint"' one && [ "$(wc -l <one)" -ge 12 ] || { echo "$*: too little left"; cat one; bad=1; }
  cmp -s one three || { echo "$*: the reports differ"; diff one three; bad=1; }
}
try solve --problem poisson2d --n 40 --method cg
try solve --problem random-dominant --n 900 --rhs random --method jacobi --max-iterations 5
try solve --problem poisson2d --n 12 --method jor --omega 3 # diverges
try quad "exp(-x^2 - y*y)" --lower "0, 0" --upper "1, 2" --rule simpson --n 33
exit $bad
