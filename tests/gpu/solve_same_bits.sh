#!/usr/bin/env bash
# One answer on CPU and GPU: equal exit codes, fingerprints and histories from `--backend cuda` on one and
# two ranks (which may share a GPU) and from the reference backend; matrices, methods, ways to end.
set -u
. "$HALOSWEEP_SOURCE/tests/support/needs_gpu.sh"
command=solve ways=("1 ref" "1 cuda" "2 cuda" "3 cuda") keys=fingerprint history=yes
. "$HALOSWEEP_SOURCE/tests/support/same_answer.sh"

try poisson2d --problem poisson2d --n 100 --method cg
try poisson3d --problem poisson3d --n 20 --method jor --omega 0.9 --iterations 300
try random --problem random-dominant --n 3000 --entries-per-row 20 --rhs random --method jacobi
try large --problem poisson2d --n 300 --method cg --max-iterations 50
if [ -d "$HALOSWEEP_SHARED/matrices" ]; then
  m=$HALOSWEEP_SHARED/matrices
  try gr_30_30 "$m/gr_30_30.mtx.gz" --method cg
  try pde900 "$m/pde900.mtx.gz" --method jacobi --rtol 1e-4
  try one_row "$HALOSWEEP_SHARED/cases/047_one_by_one.mtx"
fi
exit $bad
