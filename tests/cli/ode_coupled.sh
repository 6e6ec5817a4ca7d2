#!/usr/bin/env bash
# Large coupled systems from the command line: equal results on ranks x threads x backends, from
# [equations] too; interrupted before and after auto has changed the method, and gone on elsewhere,
# also with other saved times; what is refused. Case 142.
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
complain() { echo "$*"; cat err; bad=1; }
mark() { sed -n 's/^fingerprint *//p' out; }
ode() { # ranks, words
  local ranks=$1
  shift
  local launch=(mpirun -n "$ranks")
  [ "$ranks" = 1 ] && launch=()
  "${launch[@]}" "$HALOSWEEP" ode "$@" --progress off > out 2> err < /dev/null
}

cat > wave.ini << 'END'
[ode]
n = 40, 30
t_end = 3
save_at = 1, 2
initial = sin(2*pi*i/n)*cos(2*pi*j/m), 0
[equations]
du = v
dv = c2*(u[1,0] + u[-1,0] + u[0,1] + u[0,-1] - 4*u)
[parameters]
c2 = 4
END
ode 1 wave.ini --backend ref || complain "wave: exit $?"
first=$(mark)
ode 3 wave.ini --threads 2 --output wave.h5 || complain "wave on 3 ranks: exit $?"
[ -n "$first" ] && [ "$(mark)" = "$first" ] || complain "wave: $first, then $(mark)"
ode 1 wave.ini --backend ref --edges zero && zero=$(mark) # beyond the last line lies nothing, of this rank or another
ode 2 wave.ini --threads 1 --edges zero && [ -n "$zero" ] && [ "$(mark)" = "$zero" ] || complain "wave, zero edges: $zero, then $(mark)"
"$HALOSWEEP" inspect wave.h5 > list 2> err || complain "inspect: exit $?"
for line in "saved 4800" "final 2400" "time 1" "status 1" "steps 1" "rejected 1"; do
  grep -q "^/ode/$line" list || complain "no /ode/$line: $(cat list)"
done
! /usr/bin/python3 -c "import h5py" 2> /dev/null || /usr/bin/python3 -c '
import h5py, json
f = h5py.File("wave.h5"); g, report = f["ode"], json.loads(f.attrs["report"])
assert g["final"].shape == (30, 40, 2) and f.attrs["component_names"] == "u|v"
assert f.attrs["status_names"].split("|")[g["status"][0]] == "done" and g["time"][0] == 3
assert g["steps"][0] == report["steps"] > 9 and g["rejected"][0] == report["rejected"]' || complain "wave.h5"

# case 142: auto finishes; an interruption before and one after the change of method
heat="heat1d --n 60 --initial 1 --t_end 0.05 --threads 1"
saved() { # the saved states of result files, byte for byte
  /usr/bin/python3 -c "import h5py" 2> /dev/null || return
  /usr/bin/python3 -c 'import sys, h5py; a, b = (h5py.File(n)["ode/saved"][()].tobytes() for n in sys.argv[1:]); sys.exit(a != b)' "$@"
}
ode 1 $heat --report whole.json --save_at 0.001,0.03,0.04 --output whole.h5 || complain "heat1d: exit $?"
first=$(mark)
grep -q 'stiff: at t = .*h |lambda| =' err || complain "nothing said of stiffness"
grep -q '"switched_at_step"' whole.json || complain "no change of method in the report"
for at in 20 90; do
  ode 1 $heat --max_steps $at --checkpoint "ck$at.h5" --save_at 0,0.001,0.04,0.045
  [ $? = 4 ] || complain "max_steps $at: expected exit 4"
  ode 1 $heat --checkpoint "ck$at.h5" --restart latest --save_at 0.0005,0.03
  [ $? = 2 ] && grep -q 't = 0.0005 are not in the checkpoint (it has t = 0, 0.001, 0.04, 0.045), and it is past' err ||
    complain "saved times in the past at $at"
  ode 3 $heat --checkpoint "ck$at.h5" --restart latest --save_at 0.001,0.03,0.04 --output part.h5 || complain "restart at $at: exit $?"
  [ "$(mark)" = "$first" ] || complain "restart at $at: $(mark), expected $first"
  saved whole.h5 part.h5 || complain "restart at $at: other saved states"
done
# another t_end: not an earlier one, nor a later one after a step that was shortened
ode 1 ${heat/0.05/0.0001} --checkpoint ck90.h5 --restart latest
[ $? = 2 ] && grep -q 'already, behind t_end = 0.0001' err || complain "an earlier t_end"
fixed="lorenz96 --n 40 --method rk4 --dt 0.01 --threads 1"
ode 1 $fixed --t_end 0.2 && first=$(mark)
ode 1 $fixed --t_end 0.1 --checkpoint whole.h5 && ode 2 $fixed --t_end 0.2 --checkpoint whole.h5 --restart latest || complain "a later t_end"
[ "$(mark)" = "$first" ] || complain "a later t_end: $(mark), expected $first"
ode 1 $fixed --t_end 0.105 --checkpoint short.h5
ode 1 $fixed --t_end 0.2 --checkpoint short.h5 --restart latest
[ $? = 2 ] && grep -q 'not a whole number of steps' err || complain "a later t_end after a shortened step"
ode 1 $heat --method tsit5 --max_steps 150
[ $? = 4 ] && grep -q 'max_steps = 150.*stiff' err || complain "tsit5: expected exit 4 and a word of stiffness"

# a small one is printed whole, wherever its parts are
ode 1 lorenz96 --n 5 --t_end 1 --quiet || complain "lorenz96: exit $?"
first=$(cat out)
ode 3 lorenz96 --n 5 --t_end 1 --quiet || complain "lorenz96 on 3 ranks: exit $?"
[ "$(cat out)" = "$first" ] && [ "$(wc -w < out)" = 5 ] || complain "lorenz96: $first, then $(cat out)"

ode 1 "$HALOSWEEP_SOURCE"/configs/ode-spots.ini --dry_run || complain "configs/ode-spots.ini: exit $?"
ode 1 "$HALOSWEEP_SOURCE"/configs/ode-spots.ini --t_end 20 --save_at 10 --threads 2 || complain "spots: exit $?"

refused() { # text expected, words
  local text=$1
  shift
  "$HALOSWEEP" ode "$@" > out 2> err < /dev/null
  [ $? = 2 ] && grep -q -- "$text" err || complain "$*: expected exit 2 and '$text'"
}
for backend in omp ref; do # points that stay 0 have no error where atol is 0
  for method in tsit5 tr-bdf2; do
    "$HALOSWEEP" ode --n 4 --equations.du "-u" --initial "i" --t_end 1 --atol 0 --method $method --backend $backend > out 2> err < /dev/null
    [ $? = 0 ] || complain "atol 0, $method on $backend: $(cat err)"
  done
done
refused "expected NAME\[1\]" --n 10 --t_end 1 --initial 0 --equations.du "u[a]"
refused "the name i is taken" --n 3 --t_end 1 --initial 0 --equations.di 1
refused "the name n is taken" --n 3 --t_end 1 --initial 0 --equations.du 1 --parameters.n 3
refused "the name m is taken" --n 3,2 --t_end 1 --initial 0 --equations.dm 1
refused "the name u is taken" --n 3 --t_end 1 --initial 0 --equations.du 1 --parameters.u 3
refused "expected t, i, n, u\[1\], pi" --n 3 --t_end 1 --initial 0 --equations.du "u[1] + v"
refused "one or two" --n 3,4,5 --t_end 1 --initial 0 --equations.du "u"
refused "no parameter" heat1d --t_end 1 --parameters.beta 1
refused "here dv/dt depends on v" --n 4 --equations.du v --equations.dv "-u - 0.1*v[1]" --initial 0,1 --method verlet --dt 0.1 --t_end 1
refused "here du/dt depends on u" reaction-diffusion --method verlet --dt 0.1 --t_end 1
refused "method = rk4 takes fixed steps: it needs dt" lorenz96 --method rk4 --t_end 1
refused "milstein is for ensembles" lorenz96 --method milstein --t_end 1
refused "is for ensembles" lorenz96 --t_end 1 --event x
refused "for large coupled systems" lorenz --n 4 --t_end 1
refused "column 1" heat1d --t_end 1 --initial "q"
"$HALOSWEEP" ode heat1d --t_end 1 --initial "1/(i - 3)^0.5" > out 2> err < /dev/null
[ $? = 3 ] && grep -q 'point (0, 0)' err || complain "expected exit 3 for NaN at point 0"
exit $bad
