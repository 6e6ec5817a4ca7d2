#!/usr/bin/env bash
# What does not fit is exit 7 with both numbers, before it is asked for: under a limit of the process, so
# that no machine suffers.
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
complain() { echo "$*"; cat out err; bad=1; }
ulimit -v 6000000 || exit 77
"$HALOSWEEP" info --bandwidth=off >out 2>err || { echo "cannot run under ulimit -v (a sanitizer's shadow memory?)"; exit 77; }

expect() { # CODE 'pattern' words...
  local code=$1 text=$2 rc
  shift 2
  timeout 60 "$@" >out 2>err
  rc=$?
  [ $rc = "$code" ] && grep -qE -- "$text" err || complain "exit $rc, expected $code and '$text': $*"
}
both='not enough memory: .* needs about [0-9.]+ [GTP]B on this rank, and [0-9.]+ [MG]B are left \(the process'

# three lines that promise two thousand million rows
printf '%%%%MatrixMarket matrix coordinate real general\n2000000000 2000000000 1\n1 1 1\n' >tall.mtx
expect 7 "$both" "$HALOSWEEP" solve tall.mtx
expect 7 "$both" "$HALOSWEEP" solve tall.mtx --dry-run
expect 7 "$both" "$HALOSWEEP" inspect tall.mtx
expect 7 "$both" mpirun -n 2 "$HALOSWEEP" solve tall.mtx
# a problem
expect 7 "$both" "$HALOSWEEP" solve --problem poisson3d --n 700
expect 7 "$both" "$HALOSWEEP" solve --problem poisson3d --n 700 --dry-run
expect 7 "$both" "$HALOSWEEP" solve --problem random-dominant --n 1e6 --entries-per-row 1e4
# a promise of entries that the file has no room for is the file's error, as before
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 9000000000000\n1 1 1\n' >few.mtx
expect 3 "few.mtx" "$HALOSWEEP" solve few.mtx
# what fits goes on
expect 0 "" "$HALOSWEEP" solve --problem poisson3d --n 20
exit $bad
