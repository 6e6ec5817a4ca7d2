#!/usr/bin/env bash
# Every method with every preconditioner (as `solve --help` lists them) on real matrices, judged by their index:
# what must be refused is, what theory promises converges, by the true residual; counts of Jacobi +-1, of cg
# +-10 % where cond < 1e5, every other one at most 1.5 times the index's; nothing ends in another way than by a
# documented reason. Two matrices here; tests/long/solve_suite.sh takes all.
set -u
index=$HALOSWEEP_SHARED/matrices/index.tsv
[ -f "$index" ] || { echo "no $index"; exit 77; }
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
suite=${SUITE:-bcsstk01.mtx jpwh_991.mtx.gz}
table=${TABLE:-table}
words() { "$HALOSWEEP" solve --help | sed -n "s/^ *--$1 \([^ ]*|[^ ]*\).*/\1/p" | tr '|' ' '; }
value() { sed -n "s/^  \"$1\": \"\\{0,1\\}\\([^\",]*\\)\"\\{0,1\\},\\{0,1\\}\$/\\1/p" r.json 2> none; }

# ---- the runs: file, method, preconditioner, exit code, reason, iterations, true residual ----
run() { # file method preconditioner
  local options=(--method "$2")
  [ "$3" = - ] || options+=(--preconditioner "$3")
  rm -f r.json
  timeout 300 "$HALOSWEEP" solve "$HALOSWEEP_SHARED/matrices/$1" "${options[@]}" --max-iterations 20000 \
    --time-limit "${LIMIT:-20s}" --threads 1 --quiet --progress off --report r.json > out 2> err
  printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" $? "$(value reason)" "$(value iterations)" \
    "$(value relative_residual)" >> "$table"
  grep -qi '[^a-z]nan' out && printf '%s\t%s\t%s\tNaN\t\t\t\n' "$1" "$2" "$3" >> "$table"
}
methods=$(words method) preconditioners=$(words preconditioner)
[ "$(wc -w <<< "$methods $preconditioners")" -ge 21 ] || { echo "the help was not understood: $methods, $preconditioners"; exit 1; }
"$HALOSWEEP" solve --problem poisson1d --n 3 --method direct > out 2>&1
[ $? = 7 ] && methods=${methods/direct/} # MUMPS is not here
[ "$suite" != all ] || suite=$(awk -F'\t' '!/^#/ && $1 != "name" && $9 < 100000 {print $2}' "$index")
: >> "$table"
for file in $suite; do
  grep -q "^$file" "$table" && continue # a table that was given and goes on
  for method in $methods; do
    if [ "$method" != auto ] && ! "$HALOSWEEP" solve --problem poisson1d --n 3 --method "$method" \
      --preconditioner jacobi --dry-run 2>&1 | grep -q 'takes no preconditioner'; then
      for preconditioner in $preconditioners; do run "$file" "$method" "$preconditioner"; done
    else
      run "$file" "$method" -
    fi
  done
done

# ---- the judge ----
awk -F'\t' -v runs="$(wc -l < "$table")" '
  FNR == NR && /^#/ {next}
  FNR == NR && /^name\t/ {for (i = 1; i <= NF; i++) at[$i] = i; next}
  FNR == NR {
    f = $at["file"]
    known[f] = 1
    able[f] = $at["rows"] == $at["cols"] && $at["field"] != "complex"
    symmetric[f] = $at["numerically_symmetric"] == "yes"
    definite[f] = $at["spd"] == "yes"
    holes[f] = $at["diag_missing"] + $at["diag_zero_stored"] > 0
    jacobi[f] = $at["jacobi_iters"]
    count[f, "cg"] = count[f, "minres"] = $at["cg_iters"]
    count[f, "bicgstab"] = $at["bicgstab_iters"]
    count[f, "gmres"] = $at["gmres30_iters"]
    most[f] = $at["cg_iters"] + 0 # A*ones may be in few eigenvectors with jacobi, not so with others
    if ($at["cg_iters_rhs2"] + 0 > most[f]) most[f] = $at["cg_iters_rhs2"] + 0
    good[f] = $at["cond"] + 0 < 1e5
    regular[f] = $at["direct_maxerr"] ~ /^[0-9]/
    next
  }
  function wrong(text) {
    printf "%s, %s + %s: exit %s, %s after %s, residual %s: %s\n", f, m, p, rc, reason, k, residual, text
    bad++
  }
  function number(text) {return text ~ /^[0-9]+$/}
  function krylov(m) {return m == "cg" || m == "minres" || m == "bicgstab" || m == "gmres"}
  function refused() { # by what the matrix is and the method needs
    if (!able[f]) return 1
    if ((m == "cg" || m == "minres" || m == "chebyshev" || m == "jor" || p == "ic0" || p == "chebyshev") && !symmetric[f]) return 1
    if ((m == "cg" || m == "minres") && p == "ilu0") return 1
    return holes[f] && (m ~ /^(jacobi|jor|gauss-seidel|sor|ssor|chebyshev)$/ || p ~ /^(jacobi|ssor|ic0|ilu0|chebyshev|amg)$/)
  }
  {
    f = $1; m = $2; p = $3; rc = $4; reason = $5; k = $6; residual = $7
    if (!known[f]) wrong("not in the index")
    if (refused()) {
      if (rc != 3 && !(rc == 2 && p == "ilu0")) wrong("must be refused")
      next
    }
    if (rc != 0 && rc != 3 && rc != 4 && rc != 5) {wrong("no documented end"); next}
    if (rc == 0 && !(residual <= 1e-8)) wrong("claims convergence")
    if (rc == 3 && p != "block-jacobi" && m != "block-jacobi" && (definite[f] || !symmetric[f])) wrong("is refused")
    if ((rc == 4 || rc == 5) && residual !~ /^[0-9]/) wrong("no residual")
    if (m == "jacobi") {
      if (number(jacobi[f]) && (rc != 0 || k - jacobi[f] > 1 || jacobi[f] - k > 1)) wrong("the index says " jacobi[f])
      if (jacobi[f] ~ /^diverged/ && reason != "diverged") wrong("the index says " jacobi[f])
      if (jacobi[f] ~ /^cap at 20000/ && reason != "time_limit") {
        split(jacobi[f], part, "relres ")
        if (rc != 4 || k != 20000 || residual / part[2] > 1.01 || residual / part[2] < 0.99) wrong("the index says " jacobi[f])
      }
    }
    if (m == "bicgstab" && reason == "breakdown" && !holes[f]) wrong("begins anew")
    if (m == "direct" && regular[f] && rc != 0) wrong("direct must solve it")
    if (definite[f] && (m == "cg" || m == "minres" || m == "auto") && rc != 0 && p != "none") wrong("definite: must converge")
    if (definite[f] && m ~ /^(jor|gauss-seidel|sor|ssor|chebyshev)$/ && rc == 5) wrong("definite: cannot diverge")
    if (m == "gauss-seidel" && rc == 0) sweeps[f] = k
    if (m == "sor" && definite[f] && sweeps[f] > 100 && reason != "time_limit" && k >= 0.6 * sweeps[f]) wrong("gauss-seidel takes " sweeps[f])
    e = count[f, m]
    if (krylov(m) && number(e) && !holes[f]) {
      if (p == "jacobi" && rc != 0 && !(k == 20000 && e > 13000)) wrong("the index says " e)
      if (p == "jacobi" && k > 1.5 * e + 1) wrong("the index says " e)
      if (p == "jacobi" && m == "cg" && good[f] && (k > 1.1 * e + 1 || k < 0.9 * e - 1)) wrong("the index says " e)
      if (p ~ /^(ssor|ic0|ilu0|block-jacobi|chebyshev|amg)$/ && definite[f] && (m == "cg" || m == "minres") && k > 1.5 * most[f] + 1)
        wrong("with jacobi the index says " most[f])
      if (p ~ /^(ssor|ilu0|amg)$/ && !symmetric[f] && good[f] && rc != 0) wrong("with jacobi the index says " e)
    }
    judged++
  }
  END {
    if (runs < 70) {print "only " runs " runs"; bad++}
    exit bad > 0
  }' "$index" "$table"
