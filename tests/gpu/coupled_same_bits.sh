#!/usr/bin/env bash
# One answer on CPU and GPU for large coupled systems: equal exit codes, fingerprints, steps and reasons from
# `--backend cuda` on one and two ranks (which may share a GPU) and from omp; explicit, implicit and direct; saved
# states; a failure; checkpoints that go on on the other backend.
set -u
. "$HALOSWEEP_SOURCE/tests/support/needs_gpu.sh"
command=ode ways=("1 omp" "1 cuda" "2 cuda") keys="fingerprint|steps|rejected|failed|reason"
. "$HALOSWEEP_SOURCE/tests/support/same_answer.sh"

wave=(--n "400, 30" --equations.du v --equations.dv 'c2*(u[1,0] + u[-1,0] + u[0,1] + u[0,-1] - 4*u)'
  --parameters.c2 4 --initial 'sin(2*pi*i/n)*cos(2*pi*j/m), 0')
try ring lorenz96 --n 20000 --method rk4 --dt 0.01 --t_end 0.3
try wave "${wave[@]}" --edges zero --t_end 3 --save_at '1, 2'
try bodies n-body --n 700 --method verlet --dt 0.01 --t_end 0.1
try auto heat1d --n 60 --initial 1 --t_end 0.05
try implicit reaction-diffusion --n 60 --method tr-bdf2 --t_end 3 --linear gmres
try explosion --n 3000 --equations.du 'u^2' --initial 'i == 7 ? 2 : 0.1' --t_end 1

go 1 cuda heat1d --n 60 --initial 1 --t_end 0.05 --method tr-bdf2 --linear direct
[ $rc = 0 ] || [ $rc = 7 ] || { echo "direct: exit $rc"; cat err; bad=1; } # 7: there is no MUMPS

# begun here, ended there; before and after auto has changed the method
words=(heat1d --n 60 --initial 1 --t_end 0.05)
go 1 omp "${words[@]}"
want=$(answer)
for pair in "cuda omp 20" "omp cuda 90"; do
  read -r from to steps <<< "$pair"
  rm -f ck.*.h5
  go 1 "$from" "${words[@]}" --checkpoint ck.h5 --max_steps "$steps"
  go 2 "$to" "${words[@]}" --checkpoint ck.h5 --restart latest
  if [ "$(answer)" != "$want" ] || grep -q '"restarted_from": null' r.json; then
    echo "restart, $pair: $(answer), in one go: $want"
    cat err
    bad=1
  fi
done
exit $bad
