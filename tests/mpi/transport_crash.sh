#!/usr/bin/env bash
# An MPI that claims to take device addresses and then reads them as host addresses (case 175): the
# proof at start ends the job with exit 7 and a sentence that names the way out; nobody hangs, no signal.
set -u
for how in "2 crash" "3 quiet"; do
  text=$(timeout -k 5 30 mpirun -n "${how% *}" "$HALOSWEEP_TESTS/test_mpi_transport" "${how#* }" 2>&1)
  code=$?
  if [ $code -ne 7 ] || ! grep -q "transport mpi: MPI says .* use --transport host" <<< "$text"; then
    echo "$how: exit $code, expected 7 with a sentence; output:"
    echo "$text"
    exit 1
  fi
done
