#!/usr/bin/env bash
# What is drawn is what the files hold: lines, images and bars of every figure against made files.
set -eu
. "$HALOSWEEP_SOURCE/tests/support/needs_python.sh"
needs_python numpy h5py matplotlib
exec "$python" "$HALOSWEEP_SOURCE/tests/analysis/check_figures.py"
