#!/usr/bin/env bash
# A library built with -ffast-math switches denormals off for the whole process: refused, exit 7.
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
echo 'int nothing;' > fast.c
cc -shared -fPIC -ffast-math fast.c -o fast.so || { echo "skipped: no compiler"; exit 77; }
"$HALOSWEEP" solve --problem poisson1d --n 3 --quiet > out 2>&1 || { cat out; exit 1; }
env ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0 LD_PRELOAD="$work/fast.so" "$HALOSWEEP" solve --problem poisson1d --n 3 > out 2>&1
rc=$?
[ $rc = 7 ] && grep -q "ffast-math" out || { echo "exit $rc, expected 7 naming -ffast-math:"; cat out; exit 1; }
