#!/usr/bin/env bash
# One answer in every storage: fingerprints and histories are equal over formats, ranks and threads; the report
# says what was chosen; a checkpoint written in one format goes on in another.
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
complain() { echo "$*"; bad=1; }
print() { sed -n 's/^fingerprint  //p' "$1"; }

# 700 rows of few values in scattered columns, a row of 90 entries, and one row without neighbours
awk 'BEGIN {n = 700; print "%%MatrixMarket matrix coordinate real general"
  for (i = 1; i <= n; i++) if (i != 33) for (k = 1; k <= (i == 300 ? 89 : 6); k++) {
    j = (i * 31 + k * k * 57) % n + 1; if (j != i && !((i, j) in a)) a[i, j] = (k % 4 + 1) / 7}
  for (e in a) m++
  print n, n, m + n
  for (i = 1; i <= n; i++) print i, i, 20
  for (e in a) {split(e, at, SUBSEP); print at[1], at[2], a[e]}}' > scattered.mtx

try() { # name, then the words of solve
  local name=$1 first="" print
  shift
  for how in "1 ref 1 auto" "1 omp 1 csr" "1 omp 2 sell" "1 omp 3 packed" "1 omp 2 pattern" "2 omp 1 packed" "3 omp 2 auto"; do
    set -- $how "$@" # every format alone, some on several ranks; not every product
    rm -f h.csv
    local launch=
    [ "$1" = 1 ] || launch="mpirun -n $1"
    $launch "$HALOSWEEP" solve "${@:5}" --backend "$2" --threads "$3" --format "$4" --history h.csv \
      --progress off --quiet --report "$name.$4.$1.json" > out 2> err
    rc=$?
    shift 4
    print="$rc $(print out) $(cksum < h.csv)"
    if [ -z "$first" ]; then
      first=$print
      [ $rc = 0 ] && [ -n "$(print out)" ] || { complain "$name: exit $rc"; cat err; }
    elif [ "$print" != "$first" ]; then
      complain "$name: ranks, backend, threads, format $how: $print, first: $first"
      cat err
    fi
  done
}
said() { # FILE FORMAT
  grep -qF "\"format\": \"$2\"" "$1" || complain "$1: expected $2: $(grep '"format"' "$1")"
}

try cg --problem poisson3d --n "20, 9, 11"
try jacobi --problem convdiff2d --n 40 --method jacobi --iterations 150
try scattered scattered.mtx --method jacobi
said cg.csr.1.json csr
said cg.sell.1.json sell-8
said cg.packed.1.json packed-8
said cg.pattern.1.json pattern
said cg.auto.3.json pattern
said scattered.packed.1.json packed-8

"$HALOSWEEP" solve --problem poisson2d --n 60 --iterations 30 --format csr --checkpoint ck.h5 --checkpoint.every 20 \
  --quiet > out 2> err || complain "writing a checkpoint: $(cat err)"
"$HALOSWEEP" solve --problem poisson2d --n 60 --iterations 50 --format sell --quiet > whole 2>&1
"$HALOSWEEP" solve --problem poisson2d --n 60 --iterations 50 --format pattern --threads 2 --restart ck.000020.h5 \
  --quiet > out 2> err || complain "going on in another format: $(cat err)"
[ -n "$(print whole)" ] && [ "$(print out)" = "$(print whole)" ] || complain "restart: $(print out), not $(print whole)"
"$HALOSWEEP" solve --problem poisson2d --n 6 --format dense > out 2>&1; [ $? = 2 ] || complain "an unknown format"
exit $bad
