# shellcheck shell=bash
# The beginning of scripts that need a GPU, sourced: exit 77 saying why without one; a folder of their own to
# work in ($work), removed at the end; nothing wrong so far (bad=0).
why=$("$HALOSWEEP" solve --problem poisson1d --n 3 --backend cuda --quiet 2>&1 >/dev/null)
if [ $? = 7 ]; then
  echo "$why"
  exit 77
fi
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# shellcheck disable=SC2034 # the scripts use it
bad=0
