#!/usr/bin/env bash
# The real matrices against their index: iteration counts (made by other programs), the error bound
# cond * relative_residual * sqrt(n), and a second right-hand side whose solution is not constant. What takes
# long is in tests/long/matrices.sh.
set -u
longest=${LONGEST:-1e7} most=${MOST_ROWS:-20000}
index=$HALOSWEEP_SHARED/matrices/index.tsv
[ -f "$index" ] || exit 77
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
complain() { echo "$*"; bad=1; }

# name file rows cond cond_how spd jacobi_iters cg_iters cg_iters_rhs2; the slow ones left out
awk -F'\t' '/^#/ {next} /^name\t/ {for (i = 1; i <= NF; i++) at[$i] = i; next}
  {print $at["name"], $at["file"], $at["rows"], $at["cond"], substr($at["cond_how"] "-", 1, 6), $at["spd"],
         $at["jacobi_iters"] + 0, $at["cg_iters"] + 0, $at["cg_iters_rhs2"] + 0,
         ($at["jacobi_iters"] ~ /^[0-9]+$/), ($at["cg_iters"] ~ /^[0-9]+$/)}' "$index" > list

value() { sed -n "s/^  \"$1\": \"\\{0,1\\}\\([^\",]*\\)\"\\{0,1\\},\\{0,1\\}\$/\\1/p" "$2"; }

# b = A x with x_i = 1 + (i mod 10)/10, as an array file
second_rhs() {
  case $1 in *.gz) zcat "$1" ;; *) cat "$1" ;; esac | awk '
    NR == 1 {symmetric = ($5 == "symmetric"); pattern = ($4 == "pattern"); next}
    /^%/ || NF == 0 {next}
    !rows {rows = $1; next}
    {v = pattern ? 1 : $3; b[$1] += v * (1 + ($2 - 1) % 10 / 10)
     if (symmetric && $1 != $2) b[$2] += v * (1 + ($1 - 1) % 10 / 10)}
    END {print "%%MatrixMarket matrix array real general"; print rows, 1
         for (i = 1; i <= rows; i++) printf "%.17g\n", b[i]}'
}

# method count-expected slack-below slack-above file cond how rows
judge() {
  local got residual error
  got=$(value iterations r.json) residual=$(value relative_residual r.json)
  awk -v g="$got" -v e="$2" -v lo="$3" -v hi="$4" 'BEGIN {exit !(g >= e - lo && g <= e + hi)}' ||
    complain "$1 $5: $got iterations, the index says $2"
  awk -v r="$residual" 'BEGIN {exit !(r <= 1e-8)}' || complain "$1 $5: residual $residual"
  if [ "$7" = 2-norm ]; then
    error=${9:-$(value error_max r.json)}
    awk -v x="$error" -v c="$6" -v r="$residual" -v n="$8" \
      'BEGIN {exit !(x <= c * (r + 2e-16) * sqrt(n))}' ||
      complain "$1 $5: error $error is above cond * residual * sqrt(n)"
  fi
}

slack() { awk -v e="$1" -v c="$2" 'BEGIN {s = c < 1e5 ? .1 * e : .5 * e; print s < 1 ? 1 : s}'; }

affordable() { awk -v k="$1" -v r="$2" -v l="$longest" -v m="$most" 'BEGIN {exit !(k * r < l && r <= m)}'; }

count=0
while read -r _ file rows cond how spd jacobi cg cg2 has_jacobi has_cg; do
  path=$HALOSWEEP_SHARED/matrices/$file
  if [ "$has_jacobi" = 1 ] && affordable "$jacobi" "$rows"; then
    "$HALOSWEEP" solve "$path" --method jacobi --quiet --report r.json > out 2>&1 || complain "jacobi $file: exit $?"
    judge jacobi "$jacobi" 1 1 "$file" "$cond" "$how" "$rows"
    count=$((count + 1))
  fi
  if [ "$spd" = yes ] && [ "$has_cg" = 1 ] && affordable "$cg" "$rows"; then
    above=$(slack "$cg" "$cond")
    "$HALOSWEEP" solve "$path" --quiet --report r.json > out 2>&1 || complain "auto $file: exit $?"
    [ "$(value method r.json)" = cg ] || complain "auto $file: $(value method r.json) was chosen"
    # few iterations more or less are rounding; on ill-conditioned matrices fewer is no fault
    judge cg "$cg" "$above" "$above" "$file" "$cond" "$how" "$rows"
    second_rhs "$path" > b.mtx
    above=$(slack "$cg2" "$cond")
    rm -f x.txt
    "$HALOSWEEP" solve "$path" --method cg --rhs b.mtx --quiet --report r.json --output x.txt > out 2>&1 ||
      complain "cg $file rhs2: exit $?"
    error=$(grep -v '^[%#]' x.txt | awk '{e = $1 - (1 + (NR - 1) % 10 / 10); if (e < 0) e = -e; if (e > m) m = e} END {printf "%.17g", m}')
    judge "cg, second rhs," "$cg2" "$above" "$above" "$file" "$cond" "$how" "$rows" "$error"
    count=$((count + 1))
  fi
done < list

[ $count -ge 14 ] || complain "only $count solves were made: the index was not understood"
exit $bad
