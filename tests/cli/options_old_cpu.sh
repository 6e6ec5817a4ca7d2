#!/bin/bash
# A CPU below x86-64-v3 gets a sentence and exit 7, not an illegal instruction. Needs qemu's user mode.
set -u
command -v qemu-x86_64 >/dev/null || { echo "qemu-x86_64 is not installed"; exit 77; }
said=$(timeout 20 qemu-x86_64 -cpu max "$HALOSWEEP" --version 2>&1) || { echo "this emulator cannot run it at all: $said"; exit 77; }
said=$(timeout 20 qemu-x86_64 -cpu Nehalem "$HALOSWEEP" --version 2>&1); code=$?
[ "$code" = 7 ] || { echo "exit $code instead of 7: $said"; exit 1; }
grep -q "this CPU is too old" <<<"$said" || { echo "no sentence: $said"; exit 1; }
