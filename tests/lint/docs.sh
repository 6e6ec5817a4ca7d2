#!/usr/bin/env bash
# Documents: every code block is marked as a command that tests run or as something else, and every link
# leads to a file and a heading, in the sources and where they are installed. Whatever a registry names (methods,
# preconditioners, rules, schemes, systems, integrands, problems) is written of, its numerics in docs/numerics*.md.
set -euo pipefail
python=${HALOSWEEP_PYTHON:-/usr/bin/python3}
[ -x "$python" ] || { echo "skipped: no Python"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" "$HALOSWEEP_SOURCE/tests/support/docs.py" lint "$HALOSWEEP_SOURCE"
cd "$HALOSWEEP_SOURCE"
bad=0
for registry in src/*/*.def; do
  where=(docs/numerics*.md)
  [[ $registry =~ /(systems|integrands)\.def$ ]] && where=(docs/handbook.md)
  while read -r name; do
    grep -qF -- "\`$name\`" "${where[@]}" || { echo "$registry: '$name' is not in ${where[*]}" >&2; bad=1; }
  done < <(sed -n 's/^[A-Z]*([^"]*"\([^"]*\)".*/\1/p' "$registry")
done
[ $bad = 0 ]
cmake --install "$HALOSWEEP_TESTS/.." --prefix "$work/prefix" >"$work/said"
"$python" "$HALOSWEEP_SOURCE/tests/support/docs.py" lint "$work/prefix/share/doc/halosweep"
