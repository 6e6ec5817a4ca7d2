#!/bin/bash
# A CPU below x86-64-v3 gets a sentence and exit 7, not an illegal instruction. Needs qemu's user mode.
set -u
command -v qemu-x86_64 >/dev/null || { echo "qemu-x86_64 is not installed"; exit 77; }
# a sanitizer's shadow memory would fill the machine inside the emulator: there it is a failed allocation
ulimit -v 16000000
said=$(timeout 20 qemu-x86_64 -cpu max "$HALOSWEEP" --version 2>&1) || { echo "this emulator cannot run it at all: $said"; exit 77; }
# an old one, and new ones that lack one part (abm is LZCNT; without BMI the C library itself fails)
for cpu in Nehalem max,avx2=off max,fma=off max,abm=off max,movbe=off max,f16c=off; do
  said=$(timeout 20 qemu-x86_64 -cpu "$cpu" "$HALOSWEEP" --version 2>&1); code=$?
  [ "$code" = 7 ] || { echo "$cpu: exit $code instead of 7: $said"; exit 1; }
  grep -q "this CPU is too old" <<<"$said" || { echo "$cpu: no sentence: $said"; exit 1; }
done
