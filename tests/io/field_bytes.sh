#!/usr/bin/env bash
# The same saved times, written by 1, 2, 3 and 5 ranks, are the same file, byte for byte.
set -eu
folder=$(mktemp -d field-bytes-XXXXXX)
trap 'rm -r "$folder"' EXIT
for ranks in 1 2 3 5; do
  "${MPIEXEC:-mpirun}" -n $ranks "$HALOSWEEP_TESTS/test_io_field" write "$folder/$ranks.vtkhdf"
  cmp "$folder/1.vtkhdf" "$folder/$ranks.vtkhdf"
done
