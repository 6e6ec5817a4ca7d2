#!/usr/bin/env bash
# What is not a checkpoint to go on from is refused before use, with the right code and words, by all
# ranks together: missing, foreign, damaged, of another problem, of another version; one name, two jobs
# (cases 88, 89, 91, 103, 104, 187).
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
ranks=1
expect() { # expect CODE 'text' words of solve...
  local code=$1 text=$2 launch=()
  shift 2
  [ "$ranks" = 1 ] || launch=(mpirun -n "$ranks")
  timeout 60 "${launch[@]}" "$HALOSWEEP" solve "$@" --progress off >out 2>err
  local got=$?
  if [ $got != "$code" ] || ! grep -qF -- "$text" out err; then
    echo "solve $*: exit $got, expected $code and '$text'"
    cat err
    bad=1
  fi
}
p=(--problem poisson2d --n 20 --method jacobi --max-iterations 60 --rtol 1e-14)
go=(--checkpoint ck.h5 --restart latest)

# nothing there
expect 2 "no such checkpoint" "${p[@]}" --restart ck.000001.h5
expect 2 "needs checkpoint.file" "${p[@]}" --restart latest
: >.ck.000020.h5.99999999-0.part # of a run that was killed
: >.other.000020.h5.99999999-0.part
expect 4 "starting afresh" "${p[@]}" "${go[@]}" --checkpoint.every 20
[ "$(echo ck.*.h5)" = "ck.000040.h5 ck.000060.h5" ] || { echo "the 2 newest should be kept: $(echo ck.*.h5)"; bad=1; }
[ ! -e .ck.000020.h5.99999999-0.part ] && [ -e .other.000020.h5.99999999-0.part ] || { echo "temporaries: $(ls -A)"; bad=1; }
cp ck.000060.h5 good.h5
"$HALOSWEEP" inspect good.h5 >out 2>err && grep -q "^checkpoint   of halosweep solve" out || { echo "inspect"; cat err; bad=1; }
"$HALOSWEEP" inspect good.h5 --report - --quiet >out 2>err
[ "$(head -c 1 out)$(tail -n 1 out)" = "{}" ] && grep -q '"problem": "\[solve\]' out || { echo "inspect --report -"; cat out err; bad=1; }
for length in 3000 $(($(stat -c %s good.h5) - 100)); do
  head -c "$length" good.h5 >cut.h5
  "$HALOSWEEP" inspect cut.h5 --quiet >out 2>err
  [ $? = 6 ] && grep -q "damaged checkpoint: cut.h5" err || { echo "inspect of a cut one"; cat err; bad=1; }
done
"$HALOSWEEP" inspect good.h5 --config 2>err | grep -q "^method = jacobi" || { echo "inspect --config"; cat err; bad=1; }

# other problems
expect 2 "solve.n: 20 in the checkpoint, 21 in this run; give what it has to go on" --problem poisson2d --n 21 --method jacobi "${go[@]}"
expect 2 "solve.method: jacobi in the checkpoint, cg in this run" --problem poisson2d --n 20 --method cg "${go[@]}"
expect 2 "run.seed: 1 in the checkpoint, 2 in this run" "${p[@]}" --seed 2 --restart good.h5
expect 2 "solve.n: 20" --problem poisson2d --n 21 --method jacobi --checkpoint ck.h5 # not even beside it
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 2\n1 2 1\n2 2 4\n' >a.mtx
expect 0 "" a.mtx --method jacobi --checkpoint m.h5
sed 's/1 2 1$/1 2 1.5/' a.mtx >b.mtx
expect 2 "content.matrix" b.mtx --method jacobi --checkpoint m.h5 --restart latest
mkdir moved && mv a.mtx moved/ # the same content elsewhere is the same problem
expect 0 "going on from" moved/a.mtx --method jacobi --checkpoint m.h5 --restart latest

expect 0 "" --problem poisson2d --n 9 --checkpoint auto.h5 # naming what auto chose is the same problem
expect 0 "going on from" --problem poisson2d --n 9 --method cg --preconditioner jacobi --checkpoint auto.h5 --restart latest
expect 0 "going on from" --problem poisson2d --n 9 --rhs "A*ones" --checkpoint auto.h5 --restart latest
expect 2 "solve.rhs: A*ones in the checkpoint, ones in this run" --problem poisson2d --n 9 --rhs ones --checkpoint auto.h5 --restart latest

# damage: passed over, saying why; all damaged
size=$(stat -c %s ck.000060.h5)
head -c $((size - 100)) good.h5 >ck.000060.h5
expect 4 "passed over" "${p[@]}" "${go[@]}"
grep -q "going on from ck.000040.h5" err || { echo "did not go on from 40"; cat err; bad=1; }
# ... and the continued run got past it: a whole checkpoint stands there now
expect 4 "going on from ck.000060.h5" "${p[@]}" --restart ck.000060.h5
cp ck.000040.h5 forty.h5
: >ck.000060.h5
expect 6 "no closing mark" "${p[@]}" --restart ck.000060.h5 # nothing at all
echo "text" >ck.000060.h5 # not ours: moved out of the way, not destroyed
expect 4 "it is now ck.000060.h5.damaged" "${p[@]}" "${go[@]}"
[ "$(cat ck.000060.h5.damaged)" = text ] || { echo "a foreign file was destroyed"; bad=1; }
rm ck.000060.h5.damaged
ranks=4
echo "text" >ck.000060.h5
expect 6 "no closing mark" "${p[@]}" --restart ck.000060.h5
head -c 3000 forty.h5 >ck.000040.h5
expect 6 "all 2 checkpoints of this name are damaged" "${p[@]}" "${go[@]}"
ranks=1
expect 6 "" "${p[@]}" --restart ck.000040.h5
"$HALOSWEEP" solve "${p[@]}" --output result.h5 >out 2>err
expect 6 "not a checkpoint" "${p[@]}" --restart result.h5
sed 's/halosweep checkpoint 1 /halosweep checkpoint 2 /' good.h5 >version.h5
expect 6 "format 'halosweep checkpoint 2" "${p[@]}" --restart version.h5
expect 2 "" "${p[@]}" --checkpoint ck.h5 --output good.h5 --restart good.h5 # an output that is an input

# outputs with the names of the run's own checkpoints, or of their lock
mkdir -p own/sub
: >own/.ck.h5.lock
for name in own/ck.000010.h5 own/sub/../ck.1000000.h5; do
  expect 2 "checkpoint.file = own/ck.h5" "${p[@]}" --checkpoint own/ck.h5 --output $name
  expect 2 "checkpoint.file = own/ck.h5" "${p[@]}" --checkpoint own/ck.h5 --report $name
done
expect 4 "" "${p[@]}" --checkpoint own/ck.h5
ln -s ck.000060.h5 own/link.csv
expect 2 "checkpoint.file = own/ck.h5" "${p[@]}" --checkpoint own/ck.h5 --history own/link.csv
rm own/.ck.h5.lock
expect 2 "checkpoint.file = own/ck.h5" "${p[@]}" --checkpoint own/ck.h5 --history own/.ck.h5.lock
rm own/ck.*
expect 4 "" "${p[@]}" --checkpoint own/ck.h5 --output own/ck.10.h5 --history own/sub/ck.000010.h5 # other names are free

# two jobs on one name
rm -f ck.*.h5
"$HALOSWEEP" solve --problem poisson2d --n 200 --method jacobi --iterations 100000000 --threads 1 \
  --checkpoint ck.h5 --checkpoint.every 500 --progress off >first.out 2>first.err &
first=$!
for ((i = 0; i < 100; i++)); do compgen -G 'ck.*.h5' >/dev/null && break; sleep 0.1; done
expect 6 "another job is writing checkpoints of this name" --problem poisson2d --n 200 --method jacobi \
  --iterations 10 --checkpoint ck.h5
# a reader finds the newest checkpoint whole, every time
for ((i = 0; i < 40; i++)); do
  newest=$(printf '%s\n' ck.*.h5 | tail -1)
  { exec 3<"$newest"; } 2>/dev/null || continue # dropped since
  tail -c +1 /dev/fd/3 | grep -aq "halosweep checkpoint 1 complete" || { echo "$newest: not whole"; bad=1; }
  exec 3<&-
  sleep 0.02
done
kill -9 $first
wait $first 2>/dev/null # says "Killed"
expect 0 "going on from" --problem poisson2d --n 200 --method jacobi --iterations 10 "${go[@]}" # the lock died with it
[ ! -e .ck.h5.lock ] || { echo "the lock file was left"; bad=1; }
exit $bad
