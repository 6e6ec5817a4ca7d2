#!/usr/bin/env bash
# Saved times of a run in pieces are those of the run in one go: stopped in order, and killed (the fields wait in its
# temporary), in another folder, on other ranks; no earlier time is lost or written over (case 95). A second run on the
# same output leaves the first one's file alone (case 104), and whoever looks sees a complete file (case 103).
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
complain() { echo "$what: $*"; cat err; bad=1; }
B="--n 21,14 --length 1,2 --initial x*y --boundary neumann(0) --dt 1e-4 --progress off --quiet"
files="--probe (0.5,0.5) --output run.vtkhdf --history h.csv"
asked="--save_every 40 --save_at 0.0055 $files"
points=$((21 * 14))
parts() { find . -name '.*.part' | wc -l; }
fields() { cmp -i 4096 -n $(($1 * points * 8)) run.vtkhdf "$2"; }

"$HALOSWEEP" heat $B $asked --steps 300 2> err || exit 1
mv run.vtkhdf whole.vtkhdf && mv h.csv whole.csv # steps 0 40 55 80 120 160 200 240 280 300

what="stopped at step 130, moved, on with 3 ranks"
"$HALOSWEEP" heat $B $asked --steps 130 --checkpoint ck.h5 2> err || complain "exit $?"
mkdir moved && mv run.vtkhdf ck.*.h5 moved && cd moved || exit 1
mpirun -n 3 "$HALOSWEEP" heat $B $asked --steps 300 --checkpoint ck.h5 --restart latest 2> ../err || complain "exit $?"
cmp h.csv ../whole.csv || complain "another history"
fields 10 ../whole.vtkhdf || complain "other fields"
what="a finished run"
cp run.vtkhdf before && "$HALOSWEEP" heat $B $asked --steps 300 --checkpoint ck.h5 --restart latest 2> ../err ||
  complain "exit $?"
cmp h.csv ../whole.csv && fields 10 before || complain "not the same again"
what="without the file"
rm run.vtkhdf
"$HALOSWEEP" heat $B $asked --steps 310 --checkpoint ck.h5 --restart latest 2> ../err || complain "exit $?"
grep -q "the 9 fields saved before step 300 are neither" ../err || complain "does not say what is lost"
"$HALOSWEEP" inspect run.vtkhdf | grep -q "PointData/u $points$" || complain "$("$HALOSWEEP" inspect run.vtkhdf)"
what="another probe"
"$HALOSWEEP" heat $B --save_every 40 --probe "(0,0),(0.5,0.5)" --history h.csv --steps 320 --checkpoint ck.h5 \
  --restart latest 2> ../err || complain "exit $?"
[ "$(tail -n +2 h.csv | cut -d, -f7 | tr '\n' ' ')" = "         $(tail -1 h.csv | cut -d, -f7) " ] ||
  complain "$(cat h.csv)"
[ "$(sed -n 2,9p h.csv | cut -d, -f8)" = "$(sed -n 2,9p ../whole.csv | cut -d, -f7)" ] || complain "$(cat h.csv)"
cd ..

what="killed"
rm -rf moved ck.*.h5 .ck*
"$HALOSWEEP" heat $B $files --steps 1000000000 --save_every 20000 --checkpoint ck.h5 --checkpoint.every 45000 2> err &
run=$!
for ((i = 0; i < 600; i++)); do
  [ -f ck.090000.h5 ] && break
  sleep 0.05
done
kill -9 $run
wait $run 2> /dev/null
[ -f run.vtkhdf ] && complain "an unfinished file has the final name"
[ "$(parts)" -ge 1 ] || complain "no temporary is left"
steps=$(($(find . -name 'ck.*.h5' | sort | tail -1 | tr -dc 0-9 | sed 's/5$//;s/^0*//') + 30000))
"$HALOSWEEP" heat $B $files --steps $steps --save_every 20000 --checkpoint ck.h5 --restart latest \
  --checkpoint.every 45000 2> err || complain "exit $?"
[ "$(find . -name '.run*.part' | wc -l)" = 0 ] || complain "a temporary stays: $(ls -A)"
[ "$(find . -name '.h.csv.*.part' | wc -l)" = 0 ] || complain "the killed run's history stays: $(ls -A)"
mv run.vtkhdf pieces.vtkhdf && mv h.csv pieces.csv
"$HALOSWEEP" heat $B $files --steps $steps --save_every 20000 2> err || complain "exit $?"
cmp h.csv pieces.csv || complain "another history"
fields $(($(wc -l < h.csv) - 1)) pieces.vtkhdf || complain "other fields"

what="a second run, and readers"
"$HALOSWEEP" heat $B $files --steps 1000000000 --save_every 20000 --checkpoint two.h5 2> err &
run=$!
for ((i = 0; i < 600 && $(find . -name '.run*.part' | wc -l) == 0; i++)); do sleep 0.05; done
"$HALOSWEEP" heat $B $asked --steps 300 2> err || complain "exit $?"
fields 10 whole.vtkhdf || complain "the second run's fields"
[ "$(find . -name '.run*.part' | wc -l) $(find . -name '.h.csv.*.part' | wc -l)" = "1 1" ] ||
  complain "the first run's temporary is gone: $(ls -A)"
"$HALOSWEEP" inspect run.vtkhdf > out 2>&1 || complain "$(cat out)"
kill -USR1 $run
wait $run
rc=$?
[ $rc = 75 ] || complain "exit $rc after SIGUSR1"
cmp -i 4096 -n $((points * 8)) run.vtkhdf whole.vtkhdf || complain "not the first run's file"
"$HALOSWEEP" inspect run.vtkhdf > out 2>&1 || complain "$(cat out)"
[ "$(find . -name ".run*.part" | wc -l)" = 0 ] || complain "a temporary stays: $(ls -A)"

what="a disk that is full for one rank"
cp run.vtkhdf before
big="--n 41,40 --initial x*y --dt 1e-5 --steps 100 --save_every 10 --output run.vtkhdf --progress off --quiet"
mpirun -n 2 "$HALOSWEEP" heat $big : -n 1 bash -c 'ulimit -f 60 && exec "$@"' - "$HALOSWEEP" heat $big > out 2> err
rc=$?
[ $rc = 6 ] || complain "exit $rc"
grep -q "run.vtkhdf: cannot write: " err || complain "does not say what"
cmp run.vtkhdf before || complain "the old file is gone"
[ "$(find . -name '.run*.part' | wc -l)" = 0 ] || complain "a temporary stays: $(ls -A)"
exit $bad
