#!/usr/bin/env bash
# Values near the ends of the double range: nothing is claimed that the returned x does not hold.
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
complain() { echo "$*"; bad=1; }
value() { sed -n "s/^  \"$1\": \"\\{0,1\\}\\([^\",]*\\)\"\\{0,1\\},\\{0,1\\}\$/\\1/p" r.json; }
solve() {
  rm -f r.json
  timeout 60 "$HALOSWEEP" solve "$@" --quiet --report r.json > out 2> err
  rc=$?
}
below() { awk -v x="$1" -v y="$2" 'BEGIN {exit !(x != "" && x <= y)}'; }
numbers() { for _ in 1 2 3 4 5 6; do echo "$1"; done; }
tridiagonal() { # diagonal, beside it
  echo "%%MatrixMarket matrix coordinate real symmetric"
  echo "6 6 11"
  for i in 1 2 3 4 5 6; do echo "$i $i $1"; done
  for i in 2 3 4 5 6; do echo "$i $((i - 1)) $2"; done
}

# A start so far away that the residual falls through the whole range of squares: at a multiple of
# check_every the true residual must not be lost to underflow.
tridiagonal 4 -1 > a.mtx
numbers 1e300 > far.txt
for options in "--method jacobi" "--method jacobi --monitor update --check_every 3"; do
  # shellcheck disable=SC2086
  solve a.mtx --x0 far.txt $options
  if [ $rc = 0 ]; then
    below "$(value relative_residual)" 1e-8 || complain "$options: claims convergence at $(value relative_residual)"
  fi
  [ $rc = 0 ] || complain "$options: exit $rc: $(cat err)"
done

# Growth is told by its size as long as it is a number.
tridiagonal 1 0.9 > grows.mtx
solve grows.mtx --method jacobi --divergence inf
[ $rc = 5 ] || complain "divergence inf: exit $rc"
below 1e300 "$(value relative_residual)" || [ "$(value relative_residual)" = null ] ||
  complain "divergence inf: stopped as not finite at $(value relative_residual)"
exit $bad
