#!/usr/bin/env bash
# GPUs and ranks (cases 173, 175, 176, 190): which rank takes which GPU; an MPI that knows nothing of GPUs; a
# rank, or all, without one. Right values in each case, nobody hangs.
set -u
. "$HALOSWEEP_SOURCE/tests/support/needs_gpu.sh"
complain() { echo "$what: $*: $(cat out err)"; bad=1; }
solve() { timeout -k 5 60 "$@" > out 2> err; rc=$?; }
expect() {
  local code=$1
  shift
  [ $rc = "$code" ] || complain "exit $rc, expected $code"
  for word in "$@"; do cat out err | grep -qF -- "$word" || complain "'$word' was not said"; done
}
print() { sed -n 's/^fingerprint  //p' out; }
small="--problem poisson2d --n 60 --threads 1 --progress off"
large="--problem poisson2d --n 1000 --iterations 3 --threads 1 --progress off" # auto takes a GPU from 1e6 rows on

# shellcheck disable=SC2086 # the words are meant to be split
{
what="reference"; solve "$HALOSWEEP" solve $small --backend ref; expect 0; mark=$(print)
solve "$HALOSWEEP" solve $large --backend omp; expect 0; large_mark=$(print)
count=$(nvidia-smi -L | grep -c '^GPU ')

# 173: node-local rank modulo visible GPUs, printed per rank
for ranks in 2 4; do
  what="173, $ranks ranks"
  solve mpirun -n $ranks "$HALOSWEEP" solve $small --backend cuda; expect 0
  [ "$(print)" = "$mark" ] || complain "other fingerprint"
  for ((r = 0; r < ranks; r++)); do
    uuid=$(nvidia-smi -i $((r % count)) --query-gpu=uuid --format=csv,noheader)
    grep -q "rank $r: .*device $((r % count)) of $count, $uuid" err || complain "rank $r is not said to be on $uuid"
  done
done
# each rank sees one GPU only; the launcher's variables are gone
cat > one_each << 'END'
#!/bin/sh
export CUDA_VISIBLE_DEVICES=$((OMPI_COMM_WORLD_LOCAL_RANK % GPUS))
unset OMPI_COMM_WORLD_LOCAL_RANK OMPI_COMM_WORLD_NODE_RANK SLURM_LOCALID MPI_LOCALRANKID
exec "$@"
END
chmod +x one_each
what="173, one each"
solve env GPUS="$count" mpirun -n 2 ./one_each "$HALOSWEEP" solve $small --backend cuda; expect 0 "rank 1: " "device 0 of 1"
[ "$(print)" = "$mark" ] || complain "other fingerprint"

# 175: MPI without GPU support is staged around, and says so; asked for, refused
what="175, auto"
solve mpirun -n 2 "$HALOSWEEP" solve $small --backend cuda --report r.json; expect 0
[ "$(print)" = "$mark" ] || complain "other fingerprint"
transport=$(sed -n 's/^  "transport": "\(.*\)",/\1/p' r.json)
what="175, mpi"
solve mpirun -n 2 "$HALOSWEEP" solve $small --backend cuda --transport mpi
if [ "$transport" = host ]; then
  expect 7 "transport mpi: this MPI" "--transport host is always there"
  grep -q '"refused": "this MPI' r.json || complain "the report does not say why: $(cat r.json)"
else
  expect 0
  [ "$(print)" = "$mark" ] || complain "other fingerprint"
fi
what="175, host"
solve mpirun -n 2 "$HALOSWEEP" solve $small --backend cuda --transport host; expect 0
[ "$(print)" = "$mark" ] || complain "other fingerprint"
# an MPI that claims what it cannot do: the proof finds out, on real device memory
if [ "$transport" = host ] && echo 'int MPIX_Query_cuda_support(void) { return 1; }' > claim.c &&
  cc -shared -fPIC claim.c -o claim.so 2> /dev/null; then
  what="175, a wrong claim"
  solve mpirun -n 2 -x LD_PRELOAD="$work/claim.so" "$HALOSWEEP" solve $small --backend cuda --transport mpi
  expect 7 "--transport host"
  grep -qE "MPI says that it takes|arrived wrong" err || complain "the claim was not tried"
fi

# 176: all GPUs hidden
what="176, auto"; solve env CUDA_VISIBLE_DEVICES= "$HALOSWEEP" solve $large; expect 0 "backend omp: " "shows no GPU"
[ "$(print)" = "$large_mark" ] || complain "other fingerprint"
what="176, demanded"; solve env CUDA_VISIBLE_DEVICES= "$HALOSWEEP" solve $small --backend cuda; expect 7 "shows no GPU"

# 190: one rank of two sees none
cat > none_on_1 << 'END'
#!/bin/sh
[ "$OMPI_COMM_WORLD_RANK" = 0 ] || export CUDA_VISIBLE_DEVICES=
exec "$@"
END
chmod +x none_on_1
what="190, demanded"; solve mpirun -n 2 ./none_on_1 "$HALOSWEEP" solve $small --backend cuda; expect 7 "rank 1: " "shows no GPU"
what="190, auto"; solve mpirun -n 2 ./none_on_1 "$HALOSWEEP" solve $large; expect 0 "ranks without a GPU: 1"
[ "$(print)" = "$large_mark" ] || complain "other fingerprint"
what="all have one"; solve mpirun -n 2 "$HALOSWEEP" solve $large; expect 0 "backend cuda: every rank has a GPU"
[ "$(print)" = "$large_mark" ] || complain "other fingerprint"
}
exit $bad
