#!/usr/bin/env bash
# `ode` in pieces is `ode` in one go: stopped by a signal, killed, with damaged checkpoints, gone on with other
# ranks and backends, to the same bits of states and saved states; a finished run returns at once; limits,
# tolerances and what is saved may change, a longer t_end goes on, the rest is refused by name; only = failed and
# unfinished.
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export HALOSWEEP_CC=/none # interpreted: the same bits, without a compiler started for each
bad=0 name=
complain() { echo "$name: $*"; cat out err; bad=1; }
print() { sed -n 's/^fingerprint  //p' "$1"; }
field() { sed -n "s/^ *\"$1\": \([0-9.e-]*\),\{0,1\}\$/\1/p" r.json | tail -1; }
same() { [ -n "$(print whole.out)" ] && [ "$(print out)" = "$(print whole.out)" ] || complain "other bits: $(print out), whole $(print whole.out)"; }
ode() { "$HALOSWEEP" ode "$@" --threads 1 --progress off --report r.json >out 2>err; }
expect() { # code text, after ode
  local rc=$?
  [ $rc = "$1" ] || complain "exit $rc, expected $1"
  cat out err | grep -qF -- "$2" || complain "'$2' is not said"
}
python=/usr/bin/python3
"$python" -c "import h5py, numpy" 2>/dev/null || python=
tables() { # two result files with equal trajectories, saved states and counts
  [ -z "$python" ] || "$python" - "$1" "$2" <<'P' || complain "$1 and $2 differ"
import sys, h5py
a, b = (h5py.File(name)["ode"] for name in sys.argv[1:])
assert sorted(a) == sorted(b)
for key in a:
    assert key == "parameters" or a[key][()].tobytes() == b[key][()].tobytes(), key
P
}

name="signals" # an ensemble of some seconds of one core, in 12 blocks
long=(lorenz --rtol 1e-10 --t_end 40 --sample.x "uniform(0, 2)" --trajectories 3000 --save_at "5,10,39")
stop() { # signal command...
  local signal=$1 p i
  shift
  rm -f err
  "$@" --threads 1 --progress off >out 2>err &
  p=$!
  for ((i = 0; i < 200; i++)); do grep -qs "3000 trajectories" err && break; sleep 0.05; done
  sleep "${pause:-0.15}"
  kill -"$signal" $p
  wait $p
}
ode "${long[@]}" --output whole.h5; expect 0 "fingerprint"
cp out whole.out
for how in "USR1 omp 3" "TERM ref 2"; do
  read -r signal backend ranks <<<"$how"
  rm -f ck.*.h5
  stop "$signal" "$HALOSWEEP" ode "${long[@]}" --backend "$backend" --checkpoint ck.h5
  expect 75 "is written: go on with --restart latest"
  ls ck.*.h5 >/dev/null 2>&1 || complain "no checkpoint"
  mpirun -n "$ranks" "$HALOSWEEP" ode "${long[@]}" --checkpoint ck.h5 --restart latest --output x.h5 --threads 1 --progress off \
    --report r.json >out 2>err || complain "going on: exit $?"
  same
  tables whole.h5 x.h5
  [ "$(field steps_this_run)" -lt $(($(field steps) + $(field rejected))) ] || complain "a fresh start"
done
stop USR1 "$HALOSWEEP" ode "${long[@]}"; expect 138 "stopped by SIGUSR1"
stop USR1 mpirun -n 2 "$HALOSWEEP" ode "${long[@]}" --checkpoint ck.h5 --checkpoint.keep 9; expect 75 "is written"

name="noise" # case 158: the rest of every path, not its beginning again
noisy=(--equations.dx "0.05*x" --equations.dy "-0.1*y" --noise "(0.2*x, 0.1), (0, 0.3*y)" --initial "1, 1" --t_end 2 --dt 1/8192 --trajectories 3000 --save_at 1)
ode "${noisy[@]}" --output noisy.h5; expect 0 "fingerprint"
cp out noisy.out
rm -f ck.*.h5
stop USR1 "$HALOSWEEP" ode "${noisy[@]}" --checkpoint ck.h5; expect 75 "is written"
mpirun -n 3 "$HALOSWEEP" ode "${noisy[@]}" --checkpoint ck.h5 --restart latest --output x.h5 --threads 1 --progress off \
  --report r.json >out 2>err || complain "going on: exit $?"
[ -n "$(print out)" ] && [ "$(print out)" = "$(print noisy.out)" ] || complain "other paths"
tables noisy.h5 x.h5
[ "$(field steps_this_run)" -lt "$(field steps)" ] && [ "$(field steps_this_run)" -gt 0 ] || complain "not in the middle"

name="kill -9"
rm -f ck.*.h5
pause=0.6 stop KILL "$HALOSWEEP" ode "${long[@]}" --checkpoint ck.h5 --checkpoint.every 1 --checkpoint.keep 9 2>/dev/null
for ((i = 0; i < 3; i++)); do # saved when everybody meets, five times a second
  ls ck.*.h5 >/dev/null 2>&1 && break
  pause=0.6 stop KILL "$HALOSWEEP" ode "${long[@]}" --checkpoint ck.h5 --checkpoint.every 1 2>/dev/null
done
count=$(ls ck.*.h5 2>/dev/null | wc -l)
[ "$count" -ge 1 ] || complain "no checkpoint"
ode "${long[@]}" --checkpoint ck.h5 --restart latest; expect 0 "going on from"
same
ode "${long[@]}" --checkpoint ck.h5 --restart latest --output x.h5; expect 0 "going on from"
same
tables whole.h5 x.h5
[ "$(field steps_this_run)" = 0 ] || complain "finished: $(field steps_this_run) steps"

name="damage"
last=$(ls ck.*.h5 | tail -1)
truncate -s -100 "$last"
for c in ck.*.h5; do [ "$c" = "$last" ] || rm "$c"; done
ode "${long[@]}" --checkpoint ck.h5 --restart latest; expect 6 "$last"
ode "${long[@]}" --checkpoint ck.h5 --restart "$last"; expect 6 "$last"
ode "${long[@]}" --checkpoint none.h5 --restart none.h5; expect 2 "none.h5"

name="what may change"
short=(lotka-volterra --sample.x "uniform(1, 2)" --trajectories 300 --seed 3)
rk4=("${short[@]}" --method rk4 --dt 0.01)
rm -f ck.*.h5
ode "${rk4[@]}" --t_end 2; cp out whole.out
ode "${rk4[@]}" --t_end 1 --checkpoint ck.h5; expect 0 "fingerprint"
ode "${rk4[@]}" --t_end 2 --checkpoint ck.h5 --restart latest --checkpoint.keep 9; expect 0 "going on from"
same
[ "$(field steps_this_run)" = 30000 ] || complain "$(field steps_this_run) steps"
first=$(ls ck.*.h5 | head -1)
ode "${rk4[@]}" --t_end 0.5 --restart "$first"; expect 2 "is at t = 1 already, behind t_end = 0.5"
ode "${rk4[@]}" --t_end 1 --restart "$first" --rtol 1e-3 --max_steps 5e5 --bins 9 --quantiles 0.5 --backend ref; expect 0 "fingerprint"
refused() { # key words...: another problem, named
  ode "${@:2}" --restart "$first"; expect 2 "of another problem: "
  grep -qE "(problem:|;) $1: .* in the checkpoint" err || complain "$1 is not named"
}
refused ode.t_start "${rk4[@]}" --t_end 2 --t_start 0.5
refused parameters.a "${rk4[@]}" --t_end 2 --parameters.a 3
refused sample.y "${rk4[@]}" --t_end 2 --sample.y "uniform(0, 1)"
refused ode.event "${rk4[@]}" --t_end 2 --event "x - 9"
refused ode.dt "${short[@]}" --t_end 2 --method rk4 --dt 0.02
refused ode.method "${short[@]}" --t_end 2 --method euler --dt 0.01
refused run.seed "${short[@]:0:5}" --t_end 2 --method rk4 --dt 0.01 --seed 4
refused ode.trajectories "${short[@]:0:3}" --trajectories 200 --seed 3 --t_end 2 --method rk4 --dt 0.01

name="failing writes"
cc=${CC:-cc}
if command -v "$cc" >/dev/null && "$cc" -shared -fPIC -o shim.so "$HALOSWEEP_SOURCE/tests/support/fail_nth.c" -ldl; then
  some=("${rk4[@]}" --t_end 2 --checkpoint ck.h5 --checkpoint.every 1)
  for call in "write 5" "fsync 1" "rename 1"; do
    rm -f ck.*.h5
    export FAIL_CALL=${call% *} FAIL_AT=${call#* }
    LD_PRELOAD=$work/shim.so ode "${some[@]}"; expect 6 "error: "
    [ -z "$(ls .ck.*.part 2>/dev/null)" ] || complain "a temporary was left"
    rm -f ck.*.h5
    LD_PRELOAD=$work/shim.so ode "${some[@]}" --checkpoint.on_failure continue; expect 0 "error: "
    same
    unset FAIL_CALL FAIL_AT
  done
fi

name="what may change"
rm -f ck.*.h5
ode "${rk4[@]}" --t_end 1.005 --checkpoint ck.h5; expect 0 "fingerprint"
ode "${rk4[@]}" --t_end 2 --checkpoint ck.h5 --restart latest; expect 2 "not a whole number of steps"
rm -f ck.*.h5
ode "${short[@]}" --t_end 1 --checkpoint ck.h5; expect 0 "fingerprint"
ode "${short[@]}" --t_end 2 --checkpoint ck.h5 --restart latest --rtol 1e-9; expect 0 "going on from"

name="save_at" # trajectories are at 1.3 to 2.6 in the checkpoint
some=("${short[@]}" --t_end 10)
save() { ode "${some[@]}" --restart "$first" --save_at "$1" --output x.h5; }
rm -f ck.*.h5
ode "${some[@]}" --save_at 0,1,9,9.8 --max_steps 20 --checkpoint ck.h5; expect 4 "at the step limit"
first=$(ls ck.*.h5)
ode "${some[@]}" --save_at 0,1,8,9 --output whole.h5; expect 0 "fingerprint"
cp out whole.out
save 0,1,8,9; expect 0 "going on from" # as many
same
tables whole.h5 x.h5
ode "${some[@]}" --save_at 1,8,8.5,9,9.8,10 --output whole.h5; expect 0 "fingerprint"
mpirun -n 2 "$HALOSWEEP" ode "${some[@]}" --restart "$first" --save_at 1,8,8.5,9,9.8,10 --output x.h5 >out 2>err
expect 0 "going on from"
same
tables whole.h5 x.h5
save 9,8,0.5,0.7; expect 2 "at t = 0.5, 0.7 are not in the checkpoint (it has t = 0, 1, 9, 9.8), and 300 of 300 traj"
save 2; expect 2 "of 300 trajectories are past that"
ode "${some[@]}" --restart "$first"; expect 0 "fingerprint" # nothing is saved
same
rm -f ck.*.h5
ode "${rk4[@]}" --t_end 1 --checkpoint ck.h5; expect 0 "fingerprint"
ode "${rk4[@]}" --t_end 2 --save_at 1,1.505 --output whole.h5; expect 0 "fingerprint"
ode "${rk4[@]}" --t_end 2 --save_at 1,1.505 --output x.h5 --restart ck.*.h5; expect 0 "going on from" # it is at 1
tables whole.h5 x.h5

name="only"
blow=(--equations.dy "y^2" --sweep.y "linspace(0.1, 2, 20)" --initial 0 --t_end 0.8)
rm -f ck.*.h5
ode "${blow[@]}" --max_steps 20 --checkpoint ck.h5; expect 4 "at the step limit"
few=$(field failed)
first=$(ls ck.*.h5)
ode "${blow[@]}" --output whole.h5; expect 4 "8 of 20 trajectories failed"
cp out whole.out
all=$(($(field steps) + $(field rejected)))
[ "$few" -gt 8 ] || complain "$few failed with few steps"
ode "${blow[@]}" --restart "$first" --only failed --output x.h5; expect 4 "8 of 20 trajectories failed"
same
tables whole.h5 x.h5
[ "$(field steps_this_run)" -lt "$all" ] && [ "$(field steps_this_run)" -gt 0 ] || complain "$(field steps_this_run) of $all steps"
ode "${blow[@]}" --restart "$first" --output x.h5; expect 4 "8 of 20 trajectories failed" # goes on with those at the old limit
same
tables whole.h5 x.h5
ode "${blow[@]}" --restart "$first" --only unfinished; expect 4 "$few of 20 trajectories failed"
[ "$(field steps_this_run)" = 0 ] || complain "unfinished: $(field steps_this_run) steps"
ode "${blow[@]:0:6}" --t_end 0.9 --restart "$first" --only failed; expect 2 "expected that t_end"
rm -f ck.*.h5 # a third fails at once, the others are on their way
mixed=(--equations.dx "x > 100 ? x^2 : v" --equations.dv "-x" --sweep.x "200, 1, 2" --sample.v "uniform(0, 1)" --initial "0, 0" --trajectories 1000
  --t_end 400 --rtol 1e-9)
ode "${mixed[@]}"; expect 4 "1000 of 3000 trajectories failed"
cp out whole.out
stop USR1 "$HALOSWEEP" ode "${mixed[@]}" --checkpoint ck.h5; expect 75 "is written"
ode "${mixed[@]}" --checkpoint ck.h5 --restart latest --only failed; expect 2 "is unfinished"
ode "${mixed[@]}" --checkpoint ck.h5 --restart latest --only unfinished; expect 4 "1000 of 3000 trajectories failed"
same
[ "$(field steps_this_run)" -gt 0 ] && [ "$(field steps_this_run)" -lt "$(field steps)" ] || complain "unfinished: $(field steps_this_run) steps"
exit $bad
