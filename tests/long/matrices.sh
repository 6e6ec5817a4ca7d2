#!/usr/bin/env bash
# cli/solve_matrices.sh with the matrices that take long.
set -u
LONGEST=2e8 MOST_ROWS=100000 exec bash "$HALOSWEEP_SOURCE/tests/cli/solve_matrices.sh"
