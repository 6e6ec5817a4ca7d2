#!/usr/bin/env bash
# No room, no permission, no folder: 6 with the system's words and the path, soon and on all ranks; what
# was whole stays whole and restarts (case 86). A small tmpfs where it may be mounted, else a limit on file
# sizes.
set -u
work=$(mktemp -d)
mounted=
cleanup() { [ -n "$mounted" ] && umount "$work/disk"; rm -rf "$work"; }
trap cleanup EXIT
cd "$work" || exit 1
bad=0
run=(solve --problem poisson2d --n 300 --method jacobi --iterations 60 --threads 1 --progress off)
print() { sed -n 's/^fingerprint  //p' "$1"; }
complain() { echo "$*"; cat err; bad=1; }
go() { # ranks code words...
  local ranks=$1 code=$2 launch=()
  shift 2
  [ "$ranks" = 1 ] || launch=(mpirun -n "$ranks")
  timeout 20 "${launch[@]}" "$HALOSWEEP" "${run[@]}" "$@" >out 2>err
  local got=$?
  [ $got = "$code" ] || complain "exit $got, expected $code: $*"
}
go 1 0 --history whole.csv
cp out whole.out
mkdir disk

# a disk that holds one checkpoint (about 850 KiB) and not two
if mount -t tmpfs -o size=1200k tmpfs disk 2>/dev/null; then
  mounted=yes
  go 2 6 --checkpoint disk/ck.h5 --checkpoint.every 20
  grep -q "No space left" err && grep -q "disk/ck.000040.h5" err || complain "not said what is full"
  [ "$(ls -A disk)" = ck.000020.h5 ] || complain "expected the first checkpoint alone: $(ls -A disk)"
  go 1 0 --checkpoint disk/ck.h5 --checkpoint.every 20 --checkpoint.on-failure continue --restart latest --history h.csv
  [ "$(print out)" = "$(print whole.out)" ] && cmp whole.csv h.csv || complain "another answer"
  grep -q "going on from disk/ck.000020.h5" err || complain "did not go on"
  # read-only
  mount -o remount,ro disk
  go 2 6 --checkpoint disk/ck.h5
  grep -qi "read-only" err || complain "not said that it is read-only"
  go 1 0 --restart disk/ck.000020.h5 # reading is enough for this
  umount disk && mounted=
else
  echo "no tmpfs may be mounted here: the disk that fills up is only a limit on file sizes"
fi
# a file-size limit that lets nothing big through
run[4]=900 # MPI itself needs files of a few MB
(ulimit -f 5000 && go 1 6 --checkpoint ck.h5 --checkpoint.every 20; exit $bad) || bad=1
run[4]=300
compgen -G '.ck.*.part' >/dev/null && complain "a temporary was left"

# a file where the folder should be; no folder; a folder that goes away
: >plain
go 2 6 --checkpoint plain/ck.h5
go 2 6 --checkpoint nowhere/ck.h5
mkdir gone
timeout 30 "$HALOSWEEP" solve --problem poisson2d --n 200 --method jacobi --iterations 100000000 --threads 1 \
  --progress off --checkpoint gone/ck.h5 --checkpoint.every 200 >out 2>err &
p=$!
for ((i = 0; i < 100; i++)); do compgen -G 'gone/ck.*.h5' >/dev/null && break; sleep 0.1; done
mv gone elsewhere
wait $p
[ $? = 6 ] || complain "a folder that goes away: not exit 6"
grep -q "gone/ck" err || complain "the folder that went away is not named"
exit $bad
