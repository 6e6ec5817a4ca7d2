#!/usr/bin/env bash
# What the tools of analysis/ compute: the verdict over histories, ulp and norms, speed-up and laws, configs.
set -eu
. "$HALOSWEEP_SOURCE/tests/support/needs_python.sh"
needs_python numpy h5py
exec "$python" "$HALOSWEEP_SOURCE/tests/analysis/check_numbers.py"
