#!/usr/bin/env bash
# A continued run is the uninterrupted one: same fingerprint, same history, total - k iterations, for
# every method, on other ranks and backends, whatever k; asking for checkpoints changes no bit; a finished
# run returns at once; limits may change (cases 82, 95, 97).
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
complain() { echo "$name: $*"; cat err; bad=1; }
print() { sed -n 's/^fingerprint  //p' "$1"; }
field() { sed -n "s/^ *\"$1\": \([0-9]*\),\{0,1\}\$/\1/p" "$2" | tail -1; }
same() { # OUT CSV: as the whole run?
  [ -n "$(print "$1")" ] && [ "$(print "$1")" = "$(print whole.out)" ] || complain "other fingerprint"
  cmp whole.csv "$2" >&2 || complain "other history"
}

try() { # name, code, cuts (k at which a run ends), words of solve
  name=$1 code=$2
  local cuts=$3 k from=0 total how=()
  shift 3
  rm -f ck.*.h5
  "$HALOSWEEP" solve "$@" --history whole.csv --report whole.json --progress off >whole.out 2>err
  [ $? = "$code" ] || complain "whole run: not exit $code"
  total=$(field iterations whole.json)
  # checkpoints change nothing
  "$HALOSWEEP" solve "$@" --checkpoint ck.h5 --checkpoint.every 13 --history h.csv \
    --progress off >out 2>err
  [ $? = "$code" ] || complain "with checkpoints: not exit $code"
  same out h.csv
  rm -f ck.*.h5
  # in pieces, each on other ranks and another backend
  for k in $cuts; do
    "${how[@]+"${how[@]}"}" "$HALOSWEEP" solve "$@" --checkpoint ck.h5 --restart latest --progress off \
      --checkpoint.every 17 --max-iterations "$k" >out 2>err
    from=$k
    [ -f "ck.$(printf %06d "$k").h5" ] || complain "no checkpoint at $k"
    how=(mpirun -n 3)
  done
  mpirun -n 4 "$HALOSWEEP" solve "$@" --checkpoint ck.h5 --restart latest --backend ref --history h.csv \
    --report r.json --progress off >out 2>err
  [ $? = "$code" ] || complain "continued: not exit $code"
  same out h.csv
  [ "$(field iterations r.json)" = "$total" ] || complain "iterations not $total"
  [ "$(field iterations_this_run r.json)" = $((total - from)) ] ||
    complain "$(field iterations_this_run r.json) iterations in this run, expected $((total - from))"
  # finished: at once
  "$HALOSWEEP" solve "$@" --checkpoint ck.h5 --restart latest --history h.csv --report r.json \
    --progress off >out 2>err
  [ $? = "$code" ] || complain "finished: not exit $code"
  same out h.csv
  [ "$(field iterations_this_run r.json)" = 0 ] || complain "a finished run iterates again"
}

poisson="--problem poisson2d --n 30"
try cg 0 "20 49" $poisson --rtol 1e-12 --method cg --check-every 10
try cg_plain 0 "33" $poisson --rtol 1e-12 --method cg --preconditioner none
try jacobi 0 "1 50 101" --problem convdiff2d --n 20 --peclet 3 --method jacobi --rtol 1e-9
try jor 0 "9" --problem random-dominant --n 500 --method jor --omega 0.8 --rhs random --rtol 1e-12
try sor 0 "31 70" $poisson --method sor
try block_jacobi 0 "11" --problem random-dominant --n 500 --method block-jacobi --block-size 7 --rhs random --rtol 1e-12
try update 0 "49 100" --problem convdiff2d --n 20 --peclet 3 --monitor update --method jacobi --rtol 1e-7
try stagnated 4 "20" --problem random-dominant --n 400 --method jacobi --rtol 0
try cg_stagnated 4 "20" $poisson --rtol 0 --method cg
try tiny 0 "1" --problem poisson1d --n 3 --rtol 1e-12 --method cg # ranks without rows
try chebyshev 0 "20 49" $poisson --rtol 1e-11 --method chebyshev --check-every 10
try chebyshev_precondition 0 "7" $poisson --rtol 1e-11 --method cg --preconditioner chebyshev --degree 3
try scaled 0 "9" $poisson --rtol 1e-11 --rhs random --method minres --preconditioner none --scaling symmetric
try minres 0 "20 49" $poisson --rtol 1e-11 --method minres --check-every 10
try bicgstab 0 "1 20 33" --problem convdiff2d --n 20 --peclet 3 --method bicgstab --rtol 1e-10
try gmres 0 "20 40" --problem convdiff2d --n 20 --method gmres --gmres-restart 10 --rtol 1e-10
try gmres_stagnated 4 "20" --problem random-dominant --n 400 --method gmres --gmres-restart 5 --rtol 0

# gmres stopped inside a cycle goes on from the start of it
name=gmres_inside
rm -f ck.*.h5
g="--problem convdiff2d --n 20 --method gmres --gmres-restart 12 --rtol 1e-10"
"$HALOSWEEP" solve $g --history whole.csv >whole.out 2>err || complain "not exit 0"
"$HALOSWEEP" solve $g --checkpoint ck.h5 --checkpoint.every 7 --max-iterations 31 >out 2>err
[ -f ck.000024.h5 ] || complain "no checkpoint at 24: $(ls)"
mpirun -n 2 "$HALOSWEEP" solve $g --checkpoint ck.h5 --restart latest --history h.csv --report r.json >out 2>err
same out h.csv

# a fixed count, also past the exact solution
name=fixed
rm -f ck.*.h5
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 2\n2 2 4\n' >d.mtx
for a in "d.mtx --method jacobi" "$poisson --method cg"; do
  rm -f ck.*.h5
  "$HALOSWEEP" solve $a --iterations 40 --history whole.csv >whole.out 2>err || complain "not exit 0"
  mpirun -n 2 "$HALOSWEEP" solve $a --iterations 21 --checkpoint ck.h5 --checkpoint.every 4 >out 2>err
  [ -f ck.000020.h5 ] && [ -f ck.000021.h5 ] || complain "checkpoints at 20 and 21 expected: $(ls)"
  "$HALOSWEEP" solve $a --iterations 40 --restart ck.000021.h5 --history h.csv --report r.json >out 2>err
  same out h.csv
  [ "$(field iterations_this_run r.json)" = 19 ] || complain "not 19 iterations in this run"
done

# another tolerance, the folder moved, read-only source, another output
name=tolerance
for m in bicgstab minres; do
  rm -f ck.*.h5
  "$HALOSWEEP" solve $poisson --method $m --rtol 1e-11 --history whole.csv >whole.out 2>err
  "$HALOSWEEP" solve $poisson --method $m --rtol 1e-3 --checkpoint ck.h5 >out 2>err
  "$HALOSWEEP" solve $poisson --method $m --rtol 1e-11 --restart latest --checkpoint ck.h5 --history h.csv >out 2>err
  same out h.csv
done
mkdir a && rm -f ck.*.h5
"$HALOSWEEP" solve $poisson --method cg --rtol 1e-11 --history whole.csv >whole.out 2>err
"$HALOSWEEP" solve $poisson --method cg --rtol 1e-3 --checkpoint a/ck.h5 >out 2>err
mv a b && chmod a-w b/ck.*.h5
sum=$(cat b/ck.*.h5 | cksum)
"$HALOSWEEP" solve $poisson --method cg --rtol 1e-11 --restart "$(ls "$PWD"/b/ck.*.h5)" --history h.csv >out 2>err
same out h.csv
[ "$(cat b/ck.*.h5 | cksum)" = "$sum" ] || complain "the source was changed"

# the config of a continued run makes its result again when the checkpoint is gone
name=config
"$HALOSWEEP" solve $poisson --method cg --rtol 1e-11 --restart "$(ls b/ck.*.h5)" --output x.h5 >out 2>err
"$HALOSWEEP" inspect x.h5 --config --quiet >again.ini && rm -rf b x.h5
"$HALOSWEEP" solve again.ini --history h.csv >out 2>err || complain "not exit 0"
same out h.csv
exit $bad
