#!/usr/bin/env bash
# device_memory where no GPU is: what is refused, and that `auto` goes on without one.
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
complain() { echo "$*"; bad=1; }
solve() { "$HALOSWEEP" solve --problem poisson2d --n 20 --quiet "$@" > out 2> err; rc=$?; }
refused() { # words the message must hold, then those of solve
  solve "${@:2}"
  [ $rc = 2 ] && grep -q -- "$1" err || complain "${*:2}: exit $rc, expected 2 and '$1': $(cat err)"
}
refused "backend = cuda or auto" --device-memory 1G --backend omp
refused "backend = cuda or auto" --device_memory 1G --backend ref
refused "a size" --device-memory much
refused "expected a size" --device-memory 0
refused "expected a size" --device-memory -1K
solve
plain=$(sed -n 's/^fingerprint  //p' out)
solve --device-memory 64M --report r.json
[ $rc = 0 ] && [ "$(sed -n 's/^fingerprint  //p' out)" = "$plain" ] || complain "auto: exit $rc, $(cat err)"
grep -q '"streamed_bytes": 0' r.json || complain "auto: bytes came from nowhere: $(grep streamed r.json)"
exit $bad
