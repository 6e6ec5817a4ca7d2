#!/usr/bin/env bash
# Documents: every code block is marked as a command that tests run or as something else, and every link
# leads to a file and a heading, in the sources and where they are installed.
set -euo pipefail
python=${HALOSWEEP_PYTHON:-/usr/bin/python3}
[ -x "$python" ] || { echo "skipped: no Python"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" "$HALOSWEEP_SOURCE/tests/support/docs.py" lint "$HALOSWEEP_SOURCE"
cmake --install "$HALOSWEEP_TESTS/.." --prefix "$work/prefix" >"$work/said"
"$python" "$HALOSWEEP_SOURCE/tests/support/docs.py" lint "$work/prefix/share/doc/halosweep"
