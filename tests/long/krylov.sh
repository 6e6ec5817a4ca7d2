#!/usr/bin/env bash
# cli/solve_krylov.sh with the matrices that take minutes; prints all counts beside the index's.
set -u
LONGEST=1e12 PATIENCE=3600 SHOW=1 exec bash "$HALOSWEEP_SOURCE/tests/cli/solve_krylov.sh"
