#!/usr/bin/env bash
# solve --preconditioner amg: equal bits and histories on ranks x threads x backends x formats; a restart on
# other ranks; fewer iterations on real matrices; what it says where it cannot help.
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
print() { sed -n 's/^fingerprint  //p' "$1"; }
number() { sed -n "s/^  \"$2\": \([-0-9.e]*\),*\$/\1/p" "$1"; }
fault() { echo "$*" && bad=1; }

same() { # name, then the words of solve
  local name=$1 first="" now
  shift
  for how in "${hows[@]}"; do
    set -- $how "$@"
    rm -f h.csv
    mpirun -n "$1" "$HALOSWEEP" solve "${@:5}" --preconditioner amg --backend "$2" --threads "$3" --format "$4" \
      --history h.csv --progress off --quiet > out 2> err
    now="$? $(print out) $(cksum < h.csv)"
    shift 4
    [ -n "$first" ] || { first=$now && [ "${first%% *}" = 0 ] || { fault "$name: $now"; cat err; }; }
    [ "$now" = "$first" ] || { fault "$name: ranks, backend, threads, format $how: $now, first: $first"; cat err; }
  done
}
hows=("1 ref 1 auto" "2 omp 1 sell" "5 ref 1 auto")
same plane --problem poisson2d --n 60 --method cg --rhs random
hows=("1 ref 1 auto" "3 omp 2 sell")
same wind --problem convdiff2d --n 30 --method gmres --rhs random

# stopped after 4 iterations on one rank, gone on with on three
words=(solve --problem poisson2d --n 40 --method cg --preconditioner amg --rhs random --progress off --quiet)
"$HALOSWEEP" "${words[@]}" --history whole.csv > whole 2> err || fault "whole: $? $(cat err)"
"$HALOSWEEP" "${words[@]}" --max-iterations 4 --checkpoint ck.h5 > half 2> err
[ $? = 4 ] || fault "half: expected exit 4: $(cat err)"
mpirun -n 3 "$HALOSWEEP" "${words[@]}" --restart ck.000004.h5 --history rest.csv > rest 2> err || fault "rest: $? $(cat err)"
[ -n "$(print whole)" ] && [ "$(print whole)" = "$(print rest)" ] || fault "restart: $(print rest), whole: $(print whole)"
cmp whole.csv rest.csv || fault "restart: another history"

# nothing to coarsen, and a diagonal that will not do
awk 'BEGIN {print "%%MatrixMarket matrix coordinate real general"; print 2000, 2000, 2000
  for (i = 1; i <= 2000; i++) print i, i, 1 + i % 7}' > diagonal.mtx
"$HALOSWEEP" solve diagonal.mtx --method cg --preconditioner amg > out 2> err || fault "diagonal: $?"
grep -q 'amg: level 0, of 2000 rows, has too few strong connections' err || fault "diagonal: $(cat err)"
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 4\n1 2 1\n2 1 1\n' > hole.mtx
"$HALOSWEEP" solve hole.mtx --method gmres --preconditioner amg > out 2> err
[ $? = 3 ] && grep -q 'row 2 has no diagonal entry' err || fault "hole: $(cat err)"

[ $bad = 0 ] || exit 1
[ -d "$HALOSWEEP_SHARED/matrices" ] || { echo "skipped: no shared matrices"; exit 77; }
index=$HALOSWEEP_SHARED/matrices/index.tsv
fewer() { # method, matrix, factor: iterations with amg times the factor are fewer than the index has with jacobi
  local there here column=$1_iters
  [ "$1" = cg ] || column=gmres30_iters
  there=$(grep -v '^#' "$index" | awk -F '\t' -v c="$column" -v f="$2" \
    'NR == 1 {for (i = 1; i <= NF; i++) at[$i] = i} $2 == f {print $at[c]}')
  "$HALOSWEEP" solve "$HALOSWEEP_SHARED/matrices/$2" --method "$1" --preconditioner amg --report r.json \
    --progress off --quiet > out 2> err || fault "$2: $? $(cat err)"
  here=$(number r.json iterations)
  [[ $there =~ ^[0-9]+$ ]] || { fault "$2: the index says '$there'" && return; }
  ((here * $3 < there)) || fault "$2: $here iterations with amg, $there with jacobi"
}
fewer cg 494_bus.mtx 10
fewer cg 1138_bus.mtx 20
fewer cg gr_30_30.mtx.gz 5
fewer cg lap2D_5pt_n100.mtx.gz 15
fewer gmres orsirr_1.mtx.gz 10
fewer gmres pde900.mtx.gz 8
fewer gmres sherman3.mtx.gz 50
exit $bad
