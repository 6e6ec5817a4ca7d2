#!/usr/bin/env bash
# A script of the house on a backend and a number of ranks, and once more on `omp` and one rank: it passes on
# both, and its solves end with the same exit codes and fingerprints, one by one. Exit 77 where the backend
# cannot be had.
#
#   house_on.sh BACKEND RANKS SCRIPT         HALOSWEEP: the program
set -u
here=$(cd "$(dirname "$0")" && pwd)
export HALOSWEEP_PROGRAM=$HALOSWEEP HALOSWEEP_TEST_BACKEND=$1 HALOSWEEP_TEST_RANKS=$2
script=$3
"$HALOSWEEP_PROGRAM" solve --problem poisson1d --n 3 --quiet --backend "$1" > why.txt 2>&1
if [ $? = 7 ]; then
  cat why.txt
  exit 77
fi
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
export HALOSWEEP=$here/on_backend.sh
HALOSWEEP_TEST_LOG=$work/there bash "$script" > "$work/said" 2>&1 &
HALOSWEEP_TEST_BACKEND=omp HALOSWEEP_TEST_RANKS=1 HALOSWEEP_TEST_LOG=$work/here bash "$script" > "$work/plain" 2>&1
plain=$?
wait $!
code=$?
cat "$work/said"
[ $code = 77 ] && exit 77
[ $plain = $code ] || echo "exit $plain with backend omp: $(cat "$work/plain")"
[ $code = 0 ] || exit 1
solves=$(grep -c . "$work/there")
[ "$solves" -ge 5 ] || { echo "only $solves solves were seen"; exit 1; }
cmp "$work/there" "$work/here" || { diff "$work/there" "$work/here"; exit 1; }
echo "$solves solves, $(grep -cE ' [0-9a-f]{16}$' "$work/there") fingerprints, the same with $1 on $2 ranks and with omp"
