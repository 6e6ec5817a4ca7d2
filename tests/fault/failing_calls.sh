#!/usr/bin/env bash
# The n-th write, fsync or rename of a checkpoint fails (a library loaded before libc): the run ends with 6
# or goes on (on_failure), no temporary stays, the checkpoints there are whole, and the run continued from
# them has the answer of the undisturbed one. NTHS: which n (tests/long: many).
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
cc=${CC:-cc}
command -v "$cc" >/dev/null || { echo "skipped: no compiler"; exit 77; }
"$cc" -shared -fPIC -o shim.so "$HALOSWEEP_SOURCE/tests/support/fail_nth.c" -ldl || exit 1
bad=0
run=("$HALOSWEEP" solve --problem poisson2d --n 40 --method jacobi --iterations 90 --threads 1 --progress off)
print() { sed -n 's/^fingerprint  //p' "$1"; }
complain() { echo "$call $n ($after, $ranks ranks): $*"; cat err; bad=1; }
"${run[@]}" --history whole.csv >whole.out 2>err || exit 1

try() { # call n after ranks
  call=$1 n=$2 after=$3 ranks=$4
  local launch=() code
  [ "$ranks" = 1 ] || launch=(mpirun -n "$ranks" -x FAIL_CALL -x FAIL_AT -x LD_PRELOAD)
  rm -f ck.*.h5*
  FAIL_CALL=$call FAIL_AT=$n LD_PRELOAD=$work/shim.so timeout 60 "${launch[@]}" "${run[@]}" \
    --checkpoint ck.h5 --checkpoint.every 20 --checkpoint.on-failure "$after" >out 2>err
  code=$?
  compgen -G '.ck.*.part' >/dev/null && complain "a temporary was left"
  if grep -q "error" err; then
    failed=$((failed + 1))
    if [ "$after" = continue ]; then
      [ $code = 0 ] || complain "exit $code, expected 0"
      [ "$(print out)" = "$(print whole.out)" ] || complain "the disturbed run has another answer"
    else
      [ $code = 6 ] || complain "exit $code, expected 6"
    fi
    grep -qE "$words" err || complain "no words about it"
  else
    [ $code = 0 ] || complain "exit $code, nothing said"
  fi
  "${run[@]}" --checkpoint ck.h5 --restart latest --history h.csv >out 2>err || complain "not continued"
  [ "$(print out)" = "$(print whole.out)" ] && cmp whole.csv h.csv || complain "another answer afterwards"
}

failed=0
words="[Ii]nput/output error|No space left|cannot write|cannot flush|cannot close"
for n in ${NTHS:-1 2 9}; do
  try write "$n" stop 1
  try write "$((n + 20))" continue 1
done
try write 3 stop 2
for n in 1 4; do
  try fsync "$n" stop 1
  try rename "$n" stop 1
  try rename "$n" continue 2
done
[ $failed -ge 6 ] || { echo "only $failed runs met a failure"; bad=1; }
echo "$failed runs met a failure"
exit $bad
