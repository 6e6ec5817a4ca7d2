#!/usr/bin/env bash
# A limit on device memory: matrices come from the host in parts, with the bits, histories and exit codes of the
# reference backend. The limits follow from what a run without one needs: one byte less makes the matrix move out
# on the last allocation, much less keeps it on the host from the start, too little is exit 7 with numbers.
set -u
. "$HALOSWEEP_SOURCE/tests/support/needs_gpu.sh"
complain() { echo "$*"; bad=1; }
value() { sed -n "s/^ *\"$2\": \([0-9]*\).*/\1/p" "$1"; }

# symmetric, positive definite, 12000 rows of 30 entries in scattered columns, one row of 3000
awk 'BEGIN {n = 12000; print "%%MatrixMarket matrix coordinate real symmetric"
  for (i = 1; i <= n; i++) {
    if (i == 9000) for (j = 1; j <= 3000; j++) a[i, j] = 1 / (j + 3)
    else for (k = 1; k <= 30; k++) {j = (i * 31 + k * k * 577) % n + 1; if (j < i && j != 9000) a[i, j] = (k + 1) / (7 + i % 13)}
  }
  for (e in a) m++
  print n, n, m + n
  for (i = 1; i <= n; i++) print i, i, 80
  for (e in a) {split(e, at, SUBSEP); print at[1], at[2], a[e]}}' > spd.mtx

solve() { # ranks, words
  local launch=
  [ "$1" = 1 ] || launch="mpirun -n $1"
  rm -f h.csv r.json
  $launch "$HALOSWEEP" solve "${@:2}" --threads 1 --history h.csv --report r.json --progress off --quiet > out 2> err
  rc=$?
  print="$rc $(sed -n 's/^fingerprint  //p' out) $(cksum < h.csv)"
}

limited() { # what, ranks, bytes, products that have to come from the host at least
  local what="$name, $1 ($3 bytes)"
  solve "$2" "${words[@]}" --backend cuda --device-memory "$3"
  [ "$print" = "$first" ] || { complain "$what: $print, reference: $first"; cat err; return; }
  local peak each all
  peak=$(value r.json device_peak_bytes)
  each=$(value r.json streamed_bytes_per_product)
  all=$(value r.json streamed_bytes)
  [ "$peak" -le "$3" ] || complain "$what: device_peak_bytes $peak"
  if [ "$4" = 0 ]; then
    [ "$each $all" = "0 0" ] || complain "$what: $all bytes came, expected none"
  else
    [ "$each" -gt 3000000 ] && [ "$all" -ge $((each * $4)) ] || complain "$what: $all bytes for $4 products of $each"
  fi
}

try() { # name, iterations, words
  name=$1 words=("${@:3}")
  solve 1 "${words[@]}" --backend ref
  first=$print
  solve 1 "${words[@]}" --backend cuda
  [ "$print" = "$first" ] || { complain "$name, no limit: $print, reference: $first"; cat err; return; }
  local whole
  whole=$(value r.json device_peak_bytes)
  limited "all it needs" 1 "$whole" 0
  limited "a byte less" 1 $((whole - 1)) "$2"
  limited "from the start" 1 $((whole * 2 / 3)) "$2"
  [ -z "${ranks:-}" ] || limited "two ranks" "$ranks" $((whole / 3)) "$2"
}

ranks=2 try jacobi 40 spd.mtx --method jacobi --iterations 40
try cg 30 spd.mtx --method cg --iterations 30
try gmres 20 spd.mtx --method gmres --gmres-restart 10 --iterations 20
solve 1 spd.mtx --backend cuda --device-memory 300000
[ $rc = 7 ] && grep -q 'device_memory = 300000' err || complain "too little: exit $rc, $(cat err)"
exit $bad
