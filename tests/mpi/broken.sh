#!/usr/bin/env bash
# An MPI call fails on one rank while the others wait in a reduction: the job ends at once, with exit
# code 8 and a text naming rank's call, and nobody hangs.
set -u
for ranks in 1 3; do
  text=$(timeout -k 5 30 "${MPIEXEC:-mpirun}" -n $ranks "$HALOSWEEP_TESTS/test_mpi_comm" broken 2>&1)
  code=$?
  if [ $code -ne 8 ]; then
    echo "$ranks ranks: exit $code, expected 8; output:"
    echo "$text"
    exit 1
  fi
  case $text in
    *"MPI_Send failed: "*) ;;
    *) echo "the failing call is not named: $text"; exit 1 ;;
  esac
done
