#!/usr/bin/env bash
# Stands in for the program in scripts that know nothing of it: `solve` without a backend of its own gets
# --backend $HALOSWEEP_TEST_BACKEND, and $HALOSWEEP_TEST_RANKS ranks where no launcher started it. Exit code
# and fingerprint of each solve are appended to $HALOSWEEP_TEST_LOG (not of runs cut off by the clock).
program=$HALOSWEEP_PROGRAM
words=("$program" "$@")
[ "${1:-}" = solve ] || exec "${words[@]}"
case " $* " in *" --backend"* | *" --run.backend"*) ;; *) words+=(--backend "$HALOSWEEP_TEST_BACKEND") ;; esac
if [ -n "${OMPI_COMM_WORLD_RANK:-}" ]; then
  exec "${words[@]}" # the script's own launcher
fi
if [ "${HALOSWEEP_TEST_RANKS:-1}" != 1 ]; then
  words=(mpirun -n "$HALOSWEEP_TEST_RANKS" "${words[@]}")
  exec < /dev/null # mpirun would swallow what the script reads
fi
[ -n "${HALOSWEEP_TEST_LOG:-}" ] || exec "${words[@]}"
case " $* " in *time_limit*) exec "${words[@]}" ;; esac
"${words[@]}" | tee "$HALOSWEEP_TEST_LOG.out"
code=${PIPESTATUS[0]} written=${PIPESTATUS[1]}
mark=$(grep -aoE '"?fingerprint"?[: ]+"?[0-9a-f]{16}' "$HALOSWEEP_TEST_LOG.out" | grep -oE '[0-9a-f]{16}' | head -1)
echo "$code $mark" >> "$HALOSWEEP_TEST_LOG"
[ "$written" = 0 ] || code=6 # standard output could not be written
exit "$code"
