#!/usr/bin/env bash
# `halosweep scale`: a study of a tiny problem on 1 and 2 ranks; done points are not run again; failed points, reports
# of another rank count (case 179), other studies in the folder, Slurm (by a made sbatch, squeue and srun).
set -u
. "$HALOSWEEP_SOURCE/tests/support/needs_python.sh"
needs_python numpy h5py
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
real="${MPIEXEC:-mpirun} -n {ranks}"

expect() { # CODE TEXT COMMAND...: the exit code, and a text in what is printed (out)
  local code=$1 text=$2 found
  shift 2
  "$@" >out 2>&1
  found=$?
  if [ $found != "$code" ] || ! grep -qF -- "$text" out; then
    echo "expected exit $code and '$text', found exit $found of: $*"
    cat out
    bad=1
  fi
}
holds() { grep -qE -- "$1" "$2" || { echo "expected /$1/ in $2:"; cat "$2"; bad=1; }; }

cat >tiny.ini <<'END'
[solve]
problem = poisson2d
n = 12            # a comment
method = cg
[run]
output = x.h5
END
cat >launch <<'END'
#!/bin/sh
# Stands for mpirun: RANKS PROGRAM ...; what it does is said in the file `how`.
ranks=$1; shift
echo "$ranks $*" >>"$HERE/launched"
for word; do report=$word; done # the last word of the tiny study: the report's name
case $(cat "$HERE/how"):$ranks in
  fail:2) echo "halosweep: error: the node caught fire"; exit 8 ;;
  lie:2) cp r1-t1-ref-1.json "$report" ;; # a report of one rank
  *) sed "s/\"ranks\": 1/\"ranks\": $ranks/" r1-t1-ref-1.json >"$report" ;;
esac
END
chmod +x launch
export HERE=$PWD
scale=("$HALOSWEEP" scale tiny.ini --strong --backend ref --repeat 1 --iterations 7 --folder study)

# for real, on both counts
expect 0 "strong scaling of solve, tiny.ini, iterations = 7" "${scale[@]}" --ranks 1,2 --launcher "$real"
holds '"ranks": 1,' study/r1-t1-ref-1.json
holds '"ranks": 2,' study/r2-t1-ref-1.json
holds '"iterations": 7,' study/r2-t1-ref-1.json
holds '^ref,1,1,0,[0-9.e-]+,.*,1,0,1,' study/scale.csv
holds '^ref,2,1,0,[0-9.e-]+,' study/scale.csv
[ ! -e study/x.h5 ] || { echo "the runs of a study wrote the file's output"; bad=1; }
"$python" -c "import h5py; print(h5py.File('study/scale.h5')['scale/ranks'][:])" >ranks
holds '^\[1 2\]$' ranks

# again: nothing is run (this launcher is none), the table is there
expect 0 "Amdahl" "${scale[@]}" --ranks 1,2 --launcher "$PWD/none {ranks}"
# from here on a Python without packages: the table is there, what is missing is said
printf '#!/bin/sh\nshift\nexec "%s" -S -m "$@"\n' "$python" >bare && chmod +x bare
export HALOSWEEP_PYTHON=$PWD/bare
expect 0 "warning: no scale.h5: " "${scale[@]}" --ranks 1,2 --collect
holds 'no scale.png: .* has no (numpy|matplotlib): install it' out
# a failed point is marked, not fatal: 3 and 4 come after 2
rm study/r2-t1-ref-1.*
echo fail >how
expect 4 "the node caught fire" "${scale[@]}" --ranks 1,2,3,4 --launcher "$PWD/launch {ranks}"
holds '^ +4 +1 +ref +0 +[0-9]' out
[ "$(cut -d' ' -f1 launched | tr '\n' ' ')" = "2 3 4 " ] || { echo "launched:"; cat launched; bad=1; }
# a report of another rank count is no report; the failed point alone is tried again
echo lie >how && : >launched
expect 4 "rejected: the report says ranks = 1, 2 asked for" "${scale[@]}" --ranks 1,2,3,4 --launcher "$PWD/launch {ranks}"
[ -e study/r2-t1-ref-1.rejected ] && [ ! -e study/r2-t1-ref-1.json ] || { echo "it was kept"; bad=1; }
[ "$(cut -d' ' -f1 launched)" = 2 ] || { echo "launched:"; cat launched; bad=1; }
# the launcher and halosweep are told the count, for one rank too
rm -r study && mkdir first && : >launched
echo none >how
"${scale[@]}" --ranks 1 --launcher "$PWD/launch {ranks}" >out 2>&1
holds '^1 .*halosweep solve r1.ini --ranks 1 --threads 1 --backend ref ' launched
# halosweep itself refuses a launcher that starts something else
cat >alone <<'END'
#!/bin/sh
shift
exec "$@"
END
chmod +x alone
expect 4 "error" "${scale[@]}" --ranks 2 --launcher "$PWD/alone {ranks}" --folder alone-study
holds 'one|1 rank|size' alone-study/r2-t1-ref-1.log

# refused before anything is run
expect 2 "holds another study (its config)" "${scale[@]}" --iterations 8
expect 2 "is no scaling study" "${scale[@]}" --folder .
printf '[solve]\nmatrix = A.mtx\n' >matrix.ini
expect 2 "a matrix file cannot" "$HALOSWEEP" scale matrix.ini --weak
printf '[solve]\nproblem = poisson2d\n' >lacking.ini
expect 2 "solve.n, which is not set" "$HALOSWEEP" scale lacking.ini --weak
expect 2 "cannot be opened" "$HALOSWEEP" scale no.ini --weak
expect 2 "one of the arguments --strong --weak is required" "$HALOSWEEP" scale tiny.ini
expect 2 "different numbers of at least 1" "$HALOSWEEP" scale tiny.ini --strong --ranks 0,1
expect 2 "without mpirun" env OMPI_COMM_WORLD_SIZE=2 "$HALOSWEEP" scale tiny.ini --strong
expect 7 "cannot be started" "${scale[@]}" --ranks 5 --launcher "$PWD/none {ranks}"

# options that make no sense, before anything is run
expect 2 "expected some of auto, omp, cuda, ref, once each" "${scale[@]}" --backend ref,gpu
expect 2 "with {ranks} and {threads} in them" "${scale[@]}" --ranks 5 --launcher "mpirun -n {np}"
expect 2 "No closing quotation" "${scale[@]}" --slurm --sbatch "--comment='x"
expect 2 "--wait waits for the jobs of --slurm" "${scale[@]}" --wait

# Slurm: submitted once, in the queue, then there (a real one: tests/slurm, tests/long)
mkdir bin
cat >bin/sbatch <<'END'
#!/bin/sh
case "$*" in *--test-only*) echo "sbatch: Job 9 to start at noon" >&2; exit 0 ;; *r3-*) echo "sbatch: error: not that many" >&2; exit 1 ;; esac
echo "$*" >>"$HERE/submitted"
echo "7$(wc -l <"$HERE/submitted");cluster"
END
cat >bin/squeue <<'END'
#!/bin/sh
if [ -e "$HERE/soon" ]; then
  mv "$HERE/soon" "$HERE/busy"
elif [ -e "$HERE/busy" ]; then
  rm "$HERE/busy"; echo busy >&2; exit 1
fi
[ -e "$HERE/queue" ] || { echo "no answer" >&2; exit 1; }
cat "$HERE/queue"
END
printf '#!/bin/sh\nwhile [ "$1" != "$HALOSWEEP" ]; do shift; done\nexec "$@"\n' >bin/srun
chmod +x bin/*
queue() { printf '%s|r1-t1-ref|%s\n' "$1" "$PWD/queued" "99|RUNNING|None" "$PWD/elsewhere" >queue; }
cp tiny.ini $'t\xe4ny.ini' # names are bytes
slurm=("$HALOSWEEP" scale $'t\xe4ny.ini' --weak --backend ref --repeat 2 --ranks 1 --threads 1 --folder queued --slurm
  --sbatch "--partition=short")
PATH=$PWD/bin:$PATH
expect 7 "squeue does not say what is in the queue: no answer" "${slurm[@]}"
[ ! -e submitted ] || { echo "submitted without knowing the queue"; bad=1; }
: >queue
expect 0 "in the queue: job 71 (submitted)" "${slurm[@]}"
holds "^--parsable --partition=short --job-name=r1-t1-ref --chdir=$PWD/queued r1-t1-ref.sbatch\$" submitted
queue "71|PENDING|Resources"
expect 0 "in the queue: job 71 (pending: Resources)" "${slurm[@]}"
[ "$(wc -l <submitted)" = 1 ] || { echo "submitted twice"; bad=1; }
expect 2 "jobs of it are in the queue: scancel 71 first" "${slurm[@]}" --force
queue "71|CANCELLED|None"
expect 4 "job 71 cancelled: not run" "${slurm[@]}" --collect
expect 0 "in the queue: job 72 (submitted again; job 71 cancelled: not run)" "${slurm[@]}"
# refused by Slurm: marked, and not fatal
expect 4 "sbatch refused it: sbatch: error: not that many" "${slurm[@]}" --ranks 1,3
grep -q "in the queue: job 7[23]" out || { echo "the other point"; cat out; bad=1; }
expect 4 "sbatch names no job: sbatch: Job 9 to start at noon" "${slurm[@]}" --ranks 5 --sbatch=--test-only
(cd queued && bash r1-t1-ref.sbatch) || { echo "the job failed"; cat queued/*.log; bad=1; }
cp submitted before
expect 0 "efficiency >= 75%" "${slurm[@]}"
touch soon # the second time it is asked, while we wait, it does not answer
expect 0 "what is in the queue: busy; asked again" "${slurm[@]}" --wait
[ ! -e busy ] || { echo "it was not asked again"; bad=1; }
cmp submitted before || { echo "submitted again"; bad=1; }
holds '^n = 12, 12$' queued/r1.ini
# reports that lack what was measured
sed -i '/"seconds"/,/}/d' queued/r1-t1-ref-1.json
expect 4 "1 repeat only" "${slurm[@]}" --collect
exit $bad
