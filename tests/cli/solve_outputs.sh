#!/usr/bin/env bash
# What solve writes, refuses to write, and says: report keys, phases, formats, round trips, the
# config that reproduces a run, limits.
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
complain() { echo "$*"; bad=1; }
value() { sed -n "s/^  \"$1\": \"\\{0,1\\}\\([^\",]*\\)\"\\{0,1\\},\\{0,1\\}\$/\\1/p" "${2:-r.json}"; }
solve() { "$HALOSWEEP" solve "$@" > out 2> err; rc=$?; }
expect() {
  local code=$1
  shift
  [ $rc = "$code" ] || complain "$what: exit $rc, expected $code: $(cat err)"
  for word in "$@"; do cat out err | grep -qF -- "$word" || complain "$what: '$word' was not said: $(cat out err)"; done
}
same() { [ "$1" = "$2" ] || complain "$what: '$1' and '$2' should be equal"; }
P="--problem poisson2d --n 12"

what="plain run"; solve $P; expect 0 "solution not kept: add --output x.h5" "no rhs given" "converged" "fingerprint"
same "$(tail -1 out)" "solution not kept: add --output x.h5"
same "$(ls)" "$(printf 'err\nout')"
same "$(grep -c '^iteration ' err) $(grep -c '^iteration 0 of 10000, residual 1.000e+00' err)" "2 1" # the first and the last
solve $P --progress off; same "$(grep -c '^iteration ' err)" 0
solve $P --quiet --progress on; same "$(grep -c '^iteration ' err)" 2
what="small"; solve --problem poisson1d --n 3; expect 0 "x = "
same "$(grep -c '^x =' out)" 1
what="quiet"; solve $P --quiet; same "$(cat err)" ""

what="report"; solve $P --quiet --report - ; expect 0
cp out r.json
same "$(head -c 1 out)$(tail -c 2 out)" "{}"
for key in command version config exit_code reason fingerprint reproducible ranks threads backend devices transport \
  transport_tried memory host_peak_bytes device_peak_bytes seconds setup read compute communicate write checkpoint total \
  phases traffic bytes gbytes_per_second fraction_of_measured_peak restarted_from warnings rows entries format \
  bytes_per_row streamed_bytes streamed_bytes_per_product method preconditioner why iterations iterations_this_run relative_residual recursive_residual \
  converged error_max; do
  grep -q "\"$key\":" r.json || complain "the report lacks $key"
done
same "$(value rows) $(value entries) $(value method) $(value preconditioner)" "144 672 cg jacobi"
value fingerprint | grep -qE '^[0-9a-f]{16}$' || complain "fingerprint $(value fingerprint)"
awk '/"seconds"/ {on = 1; next} /\}/ {on = 0} on && /total/ {gsub(/[^0-9.e-]/, "", $2); total = $2; next}
  on {gsub(/[^0-9.e-]/, "", $2); sum += $2} END {d = sum - total; exit !(total > 0 && d < 1e-9 && d > -1e-9)}' r.json ||
  complain "the phases do not add up to the total"

what="files"; solve $P --quiet --output x.h5 --report r.json --history h.csv; expect 0
print=$(value fingerprint)
same "$(head -1 h.csv)" "iteration,residual,true_residual"
same "$(wc -l < h.csv)" "$(($(value iterations) + 2))"
same "$(ls | tr '\n' ' ')" "err h.csv out r.json x.h5 "
"$HALOSWEEP" inspect x.h5 --config --quiet > again.ini || complain "inspect --config failed"
rm x.h5 h.csv
solve again.ini --quiet --report s.json; expect 0
same "$(value fingerprint s.json)" "$print"
[ -f x.h5 ] || complain "the config did not write its output again"
what="replacing our own"; solve $P --quiet --output x.h5 --report r.json --history h.csv; expect 0
solve $P --quiet --output x.h5 --report r.json --history h.csv; expect 0
what="vectors"
for kind in mtx txt; do
  solve $P --quiet --output x.$kind --report r.json; expect 0
  solve $P --quiet --x0 x.$kind --report s.json; expect 0
  same "$(value iterations s.json)" 0
  same "$(value fingerprint s.json)" "$print"
done
what="kinds"; solve $P --output x.dat; expect 2 ".h5, .mtx or .txt"

what="foreign"; echo mine > other.h5; solve $P --output other.h5; expect 2 other.h5
same "$(cat other.h5)" mine
echo mine > notes.csv; solve $P --history notes.csv; expect 2 notes.csv
same "$(cat notes.csv)" mine
what="folder"; solve $P --output no/such/x.h5; expect 6 "no/such"
solve $P --report no/such/r.json; expect 6 "no/such"
solve $P --history no/such/h.csv; expect 6 "no/such"
what="input"; solve $P --quiet --output b.mtx; solve $P --rhs b.mtx --output ./b.mtx; expect 2 b.mtx
what="config as output"; { echo "# written by halosweep"; echo "[solve]"; echo "problem = poisson1d"; echo "n = 9"; } > run.ini
cp run.ini kept.ini; solve run.ini --report run.ini; expect 2 run.ini input
cmp -s run.ini kept.ini || complain "the config was overwritten"
what="outputs in one file"; mkdir -p sub; ln -s ../both.h5 sub/link.h5
solve $P --output both.h5 --report both.h5; expect 2 both.h5 "two outputs"
solve $P --output both.txt --history sub/../both.txt; expect 2 both.txt "two outputs"
[ -e both.h5 ] || [ -e both.txt ] && complain "two outputs in one file: something was written"
solve $P --quiet --output both.h5; solve $P --output both.h5 --report sub/link.h5; expect 2 "two outputs"
what="dash"; solve $P --history -; expect 2 --history; solve $P --output -; expect 2 --output
[ -e - ] && complain "a file called - was written"
what="columns"; printf '1 2\n3 4\n' > two.txt
solve --problem poisson1d --n 2 --rhs two.txt --rhs_column 3; expect 3 "2 columns" "column 3 was asked for"
solve --problem poisson1d --n 2 --x0 two.txt; expect 0 "two.txt has 2 columns"
what="somebody's temporaries"; mkdir there
for name in h.csv r.json x.mtx; do rm -f $name; echo precious > $name.tmp; ln -sf there/$name $name; done
solve $P --quiet --history there/h.csv --report there/r.json --output there/x.mtx; expect 0
solve $P --quiet --history h.csv --report r.json --output x.mtx; expect 0
for name in h.csv r.json x.mtx; do
  same "$(cat $name.tmp)" precious
  [ -L $name ] || complain "$name: the link was replaced, not the file it leads to"
  rm -f $name $name.tmp
done
same "$(ls there | tr '\n' ' ')" "h.csv r.json x.mtx "
what="length"; solve --problem poisson2d --n 13 --rhs b.mtx; expect 3 b.mtx 169

what="not converged"; rm -f x.h5; solve $P --quiet --max_iterations 3 --output x.h5 --report r.json; expect 4 max_iterations
same "$(value converged) $(value reason) $(value exit_code) $(value iterations)" "false max_iterations 4 3"
[ -f x.h5 ] || complain "the unconverged solution was not kept"
what="diverged"; rm -f x.h5; solve $P --quiet --method jor --omega 3 --output x.h5 --report r.json; expect 5 diverges "not written"
same "$(value converged) $(value reason) $(value exit_code)" "false diverged 5"
[ -f x.h5 ] && complain "a diverged solution was kept"
what="fixed"
for method in "jacobi" "cg" "jor --omega 0.8"; do
  solve $P --quiet --method $method --iterations 23 --report r.json --history h.csv; expect 0
  same "$(value reason) $(value iterations) $(wc -l < h.csv)" "fixed_count 23 25"
done
what="one of each"; solve --problem poisson1d --n 1 --dry_run; expect 0 "would solve 1 row, 1 entry (poisson1d)"
solve --problem poisson1d --n 1; expect 0 "matrix       1 row, 1 entry (poisson1d)" "after 1 iteration"
grep -qE '(^|[^0-9])1 (rows|entries|iterations|ranks)' out err && complain "$what: $(grep -E '1 (rows|entries|iterations|ranks)' out err)"
what="fixed, past the exact solution" # jacobi sweeps on; cg has no direction left, and says that it converged
solve --problem poisson1d --n 1 --quiet --method jacobi --iterations 7 --report r.json; expect 0
same "$(value reason) $(value iterations)" "fixed_count 7"
solve --problem poisson1d --n 1 --quiet --method cg --iterations 7 --report r.json; expect 0
same "$(value reason) $(value iterations) $(value converged) $(value relative_residual)" "converged 1 true 0.0"
solve --problem poisson1d --n 1 --quiet --method cg --iterations 1 --report r.json; expect 0
same "$(value reason) $(value iterations)" "fixed_count 1"
what="time"; solve --problem poisson2d --n 300 --method jacobi --rtol 0 --max_iterations 1e9 --time_limit 2s --report r.json; expect 4 time_limit
same "$(value reason)" time_limit
what="dry run"; rm -f x.h5; solve $P --dry_run --threads 1 --output x.h5; expect 0 "dry run" "cg" "1 rank x 1 thread;"
[ -f x.h5 ] && complain "a dry run wrote a file"
what="exclusive"; solve $P --matrix a.mtx; expect 2; solve --n 3; expect 2
what="unreadable"; echo theirs > theirs.h5; chmod 600 theirs.h5; as=""
if [ "$(id -u)" != 0 ]; then
  chmod 000 theirs.h5
elif command -v setpriv > /dev/null; then
  # (leaks are not looked for: the sanitizer may not trace a process that changed its user)
  cp "$HALOSWEEP" program; chmod 755 . program; as="env -u OMPI_MCA_orte_tmpdir_base ASAN_OPTIONS=detect_leaks=0 setpriv --reuid=65534 --regid=65534 --clear-groups ./program"
fi
if [ "$(id -u)" != 0 ] || [ -n "$as" ]; then
  # shellcheck disable=SC2086
  ${as:-"$HALOSWEEP"} solve $P --output theirs.h5 > out 2> err; rc=$?; expect 6 theirs.h5 "cannot be read"
fi
what="options before MPI"; for wrong in "--output x.dat" "--method jacobi --preconditioner jacobi" "--method cg --monitor update"; do
  solve $P $wrong; expect 2; same "$(wc -l < err)" 1
done
what="rows"; solve --problem poisson2d --n 1e5; expect 7 "at least 5 ranks"
what="sizes"; solve --problem poisson3d --n 4e6; expect 2 "too large"
what="preconditioner"; solve $P --method jacobi --preconditioner jacobi; expect 2 preconditioner
what="cuda"; solve $P --backend cuda; case $rc in 0 | 7) ;; *) complain "cuda: exit $rc" ;; esac
what="update"; solve $P --quiet --method jacobi --monitor update --report r.json; expect 0
awk -v r="$(value relative_residual)" 'BEGIN {exit !(r <= 1e-8)}' || complain "update: $(value relative_residual)"
what="output never changes the result"; solve $P --quiet --report r.json --progress off; same "$(value fingerprint)" "$print"
what="full disk"; if [ -w /dev/full ]; then solve $P --quiet --report - > /dev/full 2> err; "$HALOSWEEP" solve $P --quiet --report - > /dev/full 2> err; rc=$?; : > out; expect 6; fi
exit $bad
