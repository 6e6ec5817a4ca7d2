#!/usr/bin/env bash
# Runs under mpirun as their users see them end: one rank alone that cannot go on ends all, with its reason (case 164);
# mpirun's own exit code is the program's (166); more ranks than cores by the script of jobs/ (169).
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
expect() { # CODE TEXT COMMAND...
  local code=$1 text=$2 found
  shift 2
  timeout 30 "$@" >out 2>&1
  found=$?
  if [ $found != "$code" ] || ! grep -qF -- "$text" out; then
    echo "expected exit $code and '$text', found exit $found of: $*"
    cat out
    bad=1
  fi
}

# 164: the file is not there for rank 1 alone
mkdir here there
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 4\n2 2 4\n3 3 4\n' >here/a.mtx
cat >apart <<'END'
#!/bin/sh
if [ "${OMPI_COMM_WORLD_RANK:-$PMIX_RANK}" = 1 ]; then cd there; else cd here; fi
exec "$@"
END
chmod +x apart
SECONDS=0
expect 3 "error: rank 1: a.mtx: cannot be opened" mpirun -n 2 ./apart "$HALOSWEEP" solve a.mtx --threads 1
[ $SECONDS -le 10 ] || { echo "the job took $SECONDS s to end"; bad=1; }

# 166
expect 4 "max_iterations" mpirun -n 2 "$HALOSWEEP" solve --problem poisson2d --n 50 --method jacobi --max_iterations 3 --threads 1
expect 4 "100 of 100" mpirun -n 2 "$HALOSWEEP" ode lorenz --t_end 10 --max_steps 5 --trajectories 100 --threads 1
expect 6 "/no/such" mpirun -n 2 "$HALOSWEEP" solve --problem poisson2d --n 50 --output /no/such/x.h5 --threads 1

# 169: the launcher says that there are too few cores, and the switch that the script documents helps
cores=$(env -u OMP_NUM_THREADS nproc)
if [ "$cores" -le 8 ]; then
  export RANKS=$((cores + 6)) THREADS=1
  run=("$HALOSWEEP_SOURCE/jobs/solve-mpirun.sh")
  default=(env -u OMPI_MCA_rmaps_base_oversubscribe -u PRTE_MCA_rmaps_default_mapping_policy)
  "${default[@]}" "${run[@]}" here/a.mtx >out 2>&1 && { echo "$RANKS ranks on $cores cores"; bad=1; }
  grep -qiE "not enough slots|more processes than (cpus|ranks)|no available|fewer" out || { echo "the launcher says nothing"; cat out; bad=1; }
  expect 0 "$RANKS ranks" "${default[@]}" "${run[@]}" --oversubscribe here/a.mtx --method cg
fi
exit $bad
