#!/usr/bin/env bash
# cli/solve_suite.sh on all matrices below 100000 rows. Registered with -DHALOSWEEP_LONG=ON. TABLE=FILE keeps
# its runs, and goes on where it was left; last results: results.md.
SUITE=all exec bash "$HALOSWEEP_SOURCE/tests/cli/solve_suite.sh"
