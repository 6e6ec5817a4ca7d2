#!/bin/bash
# run.backend and run.transport: what is chosen, what is refused, and what is said about it.
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
complain() { echo "$*"; bad=1; }

# expect CODE WORDS -- COMMAND...
expect() {
  local code=$1 words=$2
  shift 3
  "$@" > out 2>&1
  local rc=$?
  [ $rc = "$code" ] || complain "$*: exit $rc, expected $code: $(cat out)"
  grep -qF -- "$words" out || complain "$*: '$words' was not said: $(cat out)"
}

small="$HALOSWEEP solve --problem poisson2d --n 5"
# shellcheck disable=SC2086 # the words are meant to be split
{
  expect 0 "rows are too few for a GPU" -- $small
  expect 0 "backend ref" -- $small --backend ref
  expect 0 '"transport": "none"' -- $small --quiet --report -
  expect 0 '"transport": "host"' -- mpirun -n 2 $small --quiet --report -
  expect 7 "transport nccl: this halosweep has no NCCL" -- $small --transport nccl
  expect 7 "transport ipc: this halosweep has no" -- mpirun -n 2 $small --transport ipc
  expect 2 "auto|host|mpi|nccl|ipc" -- $small --transport pigeon
}
exit $bad
