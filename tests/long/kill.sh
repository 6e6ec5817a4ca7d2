#!/usr/bin/env bash
# tests/fault/kill.sh with 200 kills. Registered with -DHALOSWEEP_LONG=ON; last results: results.md.
KILLS=${KILLS:-200} SEED=${SEED:-7} exec bash "$HALOSWEEP_SOURCE/tests/fault/kill.sh"
