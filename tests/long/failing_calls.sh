#!/usr/bin/env bash
# tests/fault/failing_calls.sh over the first 40 writes, on 1 rank. Registered with -DHALOSWEEP_LONG=ON;
# last results: results.md.
NTHS=$(seq -s ' ' 1 40) exec bash "$HALOSWEEP_SOURCE/tests/fault/failing_calls.sh"
