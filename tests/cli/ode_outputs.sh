#!/usr/bin/env bash
# What `ode` writes and says: report, print, dry run, HDF5 with what it means (statistics against numpy), samples
# and sweeps in their order, states from files, the config that reproduces a run, files replaced and refused.
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export HALOSWEEP_CC=/none # interpreted: the same bits, without a compiler started for each
python=/usr/bin/python3
"$python" -c "import h5py, numpy" 2>/dev/null || { echo "skipped: no python3-h5py here"; exit 77; }
bad=0
complain() { echo "$what: $*"; bad=1; }
value() { sed -n "s/^  \"$1\": \"\\{0,1\\}\\([^\",]*\\)\"\\{0,1\\},\\{0,1\\}\$/\\1/p" "${2:-r.json}"; }
ode() { "$HALOSWEEP" ode "$@" --progress off >out 2>err; rc=$?; }
expect() {
  local code=$1
  shift
  [ $rc = "$code" ] || complain "exit $rc, expected $code: $(cat err)"
  for word in "$@"; do cat out err | grep -qF -- "$word" || complain "'$word' was not said: $(cat out err)"; done
}
same() { [ "$1" = "$2" ] || complain "'$1' and '$2' should be equal"; }
look() { "$python" - <<<"
import sys, h5py, numpy as np
f = h5py.File('x.h5'); g = f['ode']; y = g['final'][:]
$(cat)" || complain "x.h5 is not what it should be"; }

what="quiet prints the states only"; ode lorenz --t_end 1 --quiet
same "$(wc -w <out) $(cat err)" "3 "
ode --equations.dx "-x" --t_end 1 --initial "(1), (2)" --quiet
same "$(wc -l <out)" 2
what="many states are not printed"; ode lorenz --t_end 0.1 --trajectories 7; expect 0 "states not kept: add --output x.h5"
same "$(ls | tr '\n' ' ')" "err out "
what="dry run"; ode lorenz --t_end 1 --sweep.rho "1, 2" --trajectories 3 --dry_run --output x.h5 --report r.json
expect 0 "would follow 6 trajectories of lorenz" "rho (2): 2 members, 3 trajectories each" "nothing was computed"
[ -e x.h5 ] || [ -e r.json ] && complain "something was written"

what="report"; ode kepler --t_end 6.283185307179586 --rtol 1e-10 --atol 1e-10 --exact "1 - e, 0, 0, sqrt((1 + e)/(1 - e))" --quiet --report -; expect 0
cp out r.json
for key in command version config exit_code reason fingerprint reproducible ranks threads backend devices transport memory seconds \
  phases restarted_from warnings trajectories steps rejected failed imbalance trajectory_steps_per_second mean variance final error_max; do
  grep -q "\"$key\":" r.json || complain "the report lacks $key"
done
same "$(value command) $(value reason) $(value exit_code) $(value reproducible)" "ode done 0 all"
"$python" - <<'P' || complain "$(cat r.json)"
import json
r = json.load(open("r.json"))
assert 0 < r["error_max"] < 1e-7 and r["ended"] == {"done": 1} and r["final"] == r["mean"] and r["variance"] == [None] * 4
assert abs(sum(v for k, v in r["seconds"].items() if k != "total") - r["seconds"]["total"]) < 1e-9
P

what="small runs over ranks" # whoever has them
mpirun -n 3 "$HALOSWEEP" ode kepler --t_end 1 --quiet --report r.json --threads 1 >out 2>err || complain "$(cat err)"
ode kepler --t_end 1 --report s.json --sweep.e "0.3, 0.5"
"$python" - <<'P' || complain "$(cat r.json)"
import json
r, s = json.load(open("r.json")), json.load(open("s.json"))
assert r["final"] == r["mean"] and r["time"] == 1
assert len(s["final"]) == 2 and s["final"][0] == r["final"] and s["time"] == [1, 1]
P
same "$(grep -c "(done)" out)" 2

what="layout"
ode lotka-volterra --sweep.a "linspace(1, 2, 3)" --sweep.c "1, 2" --sample.x "normal(2, 0.5)" --sample.d "uniform(0.5, 1.5)" --trajectories 100 \
  --t_end 2 --save_at 2,0,0.5 --quantiles 0,0.3,1 --bins 7 --output x.h5 --report r.json
expect 0 "a (3) x c (2): 6 members, 600 trajectories in all"
look <<'P'
import json
assert f.attrs['command'] == 'ode'
report = json.loads(f.attrs['report'])
assert y.shape == (600, 2) and y.dtype == np.float64
assert g['status'].shape == (600,) and f.attrs['status_names'].split('|')[g['status'][7]] == 'done'
assert g['steps'].dtype == np.int64 and g['steps'][:].sum() == report['steps'] and g['rejected'][:].sum() == report['rejected']
assert (g['time'][:] == 2).all() and list(g['save_at']) == [0, 0.5, 2]
assert g['saved'].shape == (600, 3, 2) and (g['saved'][:, 2] == y).all()
p = {k: v[:] for k, v in g['parameters'].items()}
assert sorted(p) == ['a', 'c', 'd', 'x'] and (g['saved'][:, 0, 0] == p['x']).all() and (g['saved'][:, 0, 1] == 3).all()
assert (p['a'] == np.repeat([1, 1.5, 2], 200)).all() and (p['c'] == np.tile(np.repeat([1, 2], 100), 3)).all()
assert 0.5 <= p['d'].min() < 0.52 and 1.48 < p['d'].max() <= 1.5 and len(set(p['d'])) == 600
assert abs(p['x'].mean() - 2) < 5 * 0.5 / 600**.5 and abs(p['x'].std() - 0.5) < 0.08
assert np.allclose(g['mean'], y.mean(0), rtol=1e-14, atol=0) and np.allclose(g['variance'], y.var(0, ddof=1), rtol=1e-12, atol=0)
assert report['mean'] == list(g['mean']) and report['variance'] == list(g['variance'])
assert (g['minimum'][:] == y.min(0)).all() and (g['maximum'][:] == y.max(0)).all()
s = np.sort(y, axis=0)
assert (g['quantile'][:] == s[[0, int(0.3 * 599), 599]]).all(), g['quantile'][:]
for c in range(2):
    at = np.minimum(((y[:, c] - s[0, c]) / (s[-1, c] - s[0, c]) * 7).astype(int), 6)
    assert (g['histogram'][c] == np.bincount(at, minlength=7)).all()
P
mark=$(value fingerprint)
what="inspect"; "$HALOSWEEP" inspect x.h5 >out 2>err || complain "$(cat err)"
for line in "fingerprint        $mark" "/ode/final 1200" "/ode/saved 3600" "/ode/parameters/c 600"; do grep -qF "$line" out || complain "no '$line'"; done
"$HALOSWEEP" inspect x.h5 --config --quiet >again.ini
what="replaced"; ode again.ini --report s.json; expect 0; same "$(value fingerprint s.json)" "$mark"
what="another seed"; ode again.ini --seed 2 --report s.json; [ "$(value fingerprint s.json)" != "$mark" ] || complain "the same bits"

what="statistics of those that did not fail" # the first of all fails, far away
ode --equations.dy "y^2" --sweep.y "linspace(2, 0.1, 20)" --initial 0 --t_end 0.8 --output x.h5; expect 4 "8 of 20 trajectories failed"
look <<'P'
good = g['status'][:] == 1
assert good.sum() == 12 and not good[0] and (g['time'][:] <= 0.8).all() and (g['time'][:8] < 0.78).all()
assert np.isclose(g['mean'][0], y[good].mean()) and np.isclose(g['variance'][0], y[good].var(ddof=1), rtol=1e-10)
assert g['histogram'][:].sum() == 12 and g['maximum'][0] == y[good].max()
P
what="nearly equal states"
ode --equations.dy "0*y" --sample.y "uniform(1e9, 1000000000.001)" --initial 0 --trajectories 1000 --t_end 1 --output x.h5; expect 0
look <<'P'
d = y[:, 0] - 1e9
assert np.isclose(g['variance'][0], d.var(ddof=1), rtol=1e-9) and d.var() > 0, (g['variance'][0], d.var(ddof=1))
P

what="sobol"
ode --equations.dy "0*y" --equations.dz "0*z" --initial 0,0 --sample.y "sobol(0, 1)" --sample.z "sobol(-1, 1)" --trajectories 256 --t_end 1 --output x.h5
look <<'P'
a, b = np.floor(y[:, 0] * 256).astype(int), np.floor((y[:, 1] + 1) * 128).astype(int)
assert sorted(a) == sorted(b) == list(range(256)) and len(set(zip(a // 16, b // 16))) == 256  # a (0, 8, 2)-net
P

what="states from files" # on 3 ranks each reads its own rows
"$python" -c "import h5py, numpy as np
f = h5py.File('in.h5', 'w'); f['y'] = np.arange(1200.).reshape(600, 2); f['k'] = np.arange(600.) / 4"
cat >file.ini <<'INI'
[ode]
initial = in.h5:/y
trajectories = 600
t_end = 1
[equations]
dx = 0*x
dy = k
[sample]
k = in.h5:/k
[run]
output = x.h5
INI
rm -f x.h5
for members in 1 2; do
  sweep=(--sweep.w "1, 2")
  [ $members = 1 ] && sweep=()
  ode file.ini "${sweep[@]}"; expect 0 "$((600 * members)) trajectories"
  cp x.h5 one.h5
  mpirun -n 3 "$HALOSWEEP" ode file.ini "${sweep[@]}" --quiet >out 2>err; rc=$?; expect 0
  look <<'P'
n, members, one = np.arange(600.), len(y) // 600, h5py.File('one.h5')
assert np.allclose(y, np.tile(np.stack([2 * n, 2 * n + 1 + n / 4], 1), (members, 1)), rtol=1e-15)
assert (y == one['ode/final'][:]).all() and f.attrs['fingerprint'] == one.attrs['fingerprint']
P
done
ode file.ini --trajectories 5; expect 3 "dataset /y has shape (600, 2), expected a row a trajectory, (5, 2)"
"$python" -c "import h5py, numpy as np
f = h5py.File('in.h5', 'a'); f['deep'] = np.ones((3, 3, 2)); f['wide'] = np.ones((3, 3))"
E=(--equations.dx "0*x" --equations.dy k --t_end 1) # rows are not times, of which the last would do
ode "${E[@]}" --initial in.h5:/y --parameters.k 1 --trajectories 1; expect 3 "expected a row a trajectory, (1, 2)"
ode "${E[@]}" --initial in.h5:/deep --parameters.k 1 --trajectories 3; expect 3 "shape (3, 3, 2), expected a row a trajectory, (3, 2)"
ode "${E[@]}" --initial 0,0 --sample.k in.h5:/wide --trajectories 3; expect 3 "shape (3, 3), expected a row a trajectory, (3)"
what="a run from a result" # of one component: (trajectories, 1)
ode --equations.dz "0*z" --initial "(1), (2), (5)" --t_end 1 --output one.h5; expect 0
ode --equations.dz "0*z" --initial one.h5:/ode/final --trajectories 3 --t_end 1 --quiet; expect 0
same "$(tr '\n' ' ' <out)" "1 2 5 "
ode --equations.dz "0*z" --initial one.h5:/ode/final --trajectories 2 --t_end 1; expect 3 "shape (3, 1)"
what="no output is an input"; ode --equations.dx "0*x" --t_end 1 --initial x.h5:/ode/time --trajectories 12 --output x.h5; expect 2 "is also an input"
ode --equations.dx "0*x" --t_end 1 --initial 1 --sample.x x.h5:/ode/time --trajectories 12 --output x.h5; expect 2 "is also an input"
what="nothing foreign is replaced"; ode lorenz --t_end 1 --output in.h5; expect 2 "in.h5"
echo text >t.h5; ode lorenz --t_end 1 --output t.h5; expect 2 "t.h5"; same "$(cat t.h5)" text
what="no such folder"; ode lorenz --t_end 1 --output none/x.h5; expect 6 "none"

what="configs"
for config in "$HALOSWEEP_SOURCE"/configs/ode-{lorenz,kepler,robertson}.ini; do
  ode "$config" --dry_run; expect 0 "would follow"
done
exit $bad
