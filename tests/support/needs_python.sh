# shellcheck shell=bash disable=SC2034 # the scripts use python
# Sourced by tests of analysis/: sets `python` to a Python that has the modules named, and skips (77) where there is none.
python=${HALOSWEEP_PYTHON:-/usr/bin/python3}
needs_python() { # MODULE...
  local module
  for module in "$@"; do
    "$python" -c "import $module" 2>/dev/null || {
      echo "skipped: $python has no $module (Debian: python3-$module)"
      exit 77
    }
  done
  export HALOSWEEP_PYTHON=$python PYTHONPATH=$HALOSWEEP_SOURCE/analysis PYTHONDONTWRITEBYTECODE=1
}
