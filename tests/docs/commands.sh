#!/usr/bin/env bash
# The commands of the documents that take less than a second, with the exit codes and the lines that
# the documents show (tests/support/docs.py; those that take longer: tests/long/docs.sh).
set -euo pipefail
. "$HALOSWEEP_SOURCE/tests/support/needs_python.sh"
needs_python h5py numpy matplotlib
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$HALOSWEEP_PYTHON" "$HALOSWEEP_SOURCE/tests/support/docs.py" "${1:-run}" "$HALOSWEEP_SOURCE"/{README,CONTRIBUTING}.md "$HALOSWEEP_SOURCE"/docs/*.md
