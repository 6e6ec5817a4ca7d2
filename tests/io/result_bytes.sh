#!/usr/bin/env bash
# The same result, written by 1, 2, 3 and 7 ranks, is the same file, byte for byte.
set -eu
folder=$(mktemp -d result-bytes-XXXXXX)
trap 'rm -r "$folder"' EXIT
for ranks in 1 2 3 7; do
  "${MPIEXEC:-mpirun}" -n $ranks "$HALOSWEEP_TESTS/test_io_result" write "$folder/$ranks.h5"
  cmp "$folder/1.h5" "$folder/$ranks.h5"
done
