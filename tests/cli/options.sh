#!/bin/bash
# The command line as a user meets it: exit codes, texts, launchers. Concerns cases 166 (exit codes), 170
# (threads and cores at start), 172 (a launcher that MPI knows nothing of) of the shared collection.
set -u
unset OMP_NUM_THREADS SLURM_CPUS_PER_TASK
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT && cd "$scratch" || exit 1
failures=0
complain() { echo "FAILED: $*"; failures=$((failures + 1)); }

# expect CODE 'text in stderr or stdout' COMMAND...
expect() {
  local code=$1 text=$2 got; shift 2
  "$@" >out 2>err; got=$?
  [ "$got" = "$code" ] || complain "exit $got instead of $code: $*: $(head -c 300 err)"
  [ -z "$text" ] || cat out err | grep -qF -- "$text" || complain "'$text' not said by: $*: $(head -c 300 err)"
}
said_times() { # said_times N 'text': how many lines of stdout and stderr have it
  local count; count=$(cat out err | grep -cF -- "$2")
  [ "$count" = "$1" ] || complain "'$2' said $count times instead of $1"
}

# help, version, unknown commands
expect 0 "halosweep " "$HALOSWEEP" --version
expect 0 "usage: " "$HALOSWEEP" --help
expect 0 "--max_iterations" "$HALOSWEEP" solve --help
expect 0 "--checkpoint.every" "$HALOSWEEP" solve A.mtx --tol 3 --help
expect 0 "--max_iterations" "$HALOSWEEP" help solve
expect 0 "--max_iterations" "$HALOSWEEP" solve A.mtx -h
expect 0 ".TH HALOSWEEP 1" "$HALOSWEEP" --man
expect 2 "no command" "$HALOSWEEP"
expect 2 "did you mean 'solve'?" "$HALOSWEEP" slove
expect 2 "expected halosweep COMMAND" "$HALOSWEEP" --rtol 3
expect 6 "standard output" bash -c '"$0" --version >/dev/full' "$HALOSWEEP"

# commands of libexec/
mkdir lib
printf '#!/bin/sh\necho "outside $*"\nexit 5\n' >lib/halosweep-outside && chmod +x lib/halosweep-outside
expect 5 "outside a --b" env HALOSWEEP_LIBEXEC=lib "$HALOSWEEP" outside a --b
expect 2 "unknown command" "$HALOSWEEP" outside
mkdir lib/halosweep-x # a name is a name, not a path
expect 2 "unknown command" env HALOSWEEP_LIBEXEC=lib "$HALOSWEEP" x/../halosweep-outside
mkdir -p there/bin there/libexec/halosweep
cp lib/halosweep-outside there/libexec/halosweep/ && cp "$HALOSWEEP" there/bin/
expect 5 "outside x" there/bin/halosweep outside x
expect 7 "'plot' is a program of its own, which is not here" there/bin/halosweep plot
printf '#!/bin/sh\necho "started by $HALOSWEEP"\n' >there/libexec/halosweep/halosweep-scale
chmod +x there/libexec/halosweep/halosweep-scale
expect 0 "started by $PWD/there/bin/halosweep" env HALOSWEEP=another there/bin/halosweep scale
expect 2 "did you mean 'plot'?" "$HALOSWEEP" plto

# what a usage error says
expect 2 "no matrix" "$HALOSWEEP" solve
expect 2 "exactly one" "$HALOSWEEP" solve A.mtx --problem poisson2d --n 3
expect 2 "needs n" "$HALOSWEEP" solve --problem poisson2d
expect 2 "takes 1 or 2" "$HALOSWEEP" solve --problem poisson2d --n "1, 2, 3"
expect 2 "quote the list" "$HALOSWEEP" solve --problem poisson2d --n 1, 2
expect 2 "omega" "$HALOSWEEP" solve A.mtx --method jor --omega atuo
expect 2 "omega" "$HALOSWEEP" solve A.mtx --method jor --omega 0
expect 2 "omega is for" "$HALOSWEEP" solve A.mtx --method cg --omega 1
expect 2 "peclet is for" "$HALOSWEEP" solve --problem poisson2d --n 3 --peclet 2
"$HALOSWEEP" solve --problem poisson2d --n 3 --peclet 1.0 --entries-per-row 8 >out 2>err # as effective configs do
said_times 0 "is for"
expect 2 "did you mean 'omega'?" "$HALOSWEEP" solve A.mtx --omgea 1
expect 2 "here it is called 'method'" "$HALOSWEEP" solve A.mtx -ksp_type cg
expect 2 "mpirun -n" "$HALOSWEEP" solve A.mtx --np 4
expect 2 "not a known word" "$HALOSWEEP" solve A.mtx --problem poisson4d
expect 2 "NaN" "$HALOSWEEP" solve A.mtx --rtol nan
expect 2 "--quiet=off" "$HALOSWEEP" solve --quiet off
# shellcheck disable=SC2088 # unexpanded on purpose
expect 2 "~ is not expanded" "$HALOSWEEP" solve '~/A.mtx'
expect 2 "no file" "$HALOSWEEP" inspect
expect 2 "takes no such word" "$HALOSWEEP" heat A.mtx

# config files: file, line, both lines
expect 2 "no.ini: the config file cannot be opened" "$HALOSWEEP" solve no.ini
printf '[solve]\nmatrix = A.mtx\n\nmatrix = B.mtx\n' >a.ini
expect 2 "a.ini:4: key 'matrix' is given again; it was given first at line 2" "$HALOSWEEP" solve a.ini
printf '[run]\n[solve]\n[run]\n' >a.ini
expect 2 "a.ini:3: section 'run' is given again; it was given first at line 1" "$HALOSWEEP" solve a.ini
printf '[solve]\nmatrix = A.mtx\nmaxit = 3\n' >a.ini
expect 2 "a.ini:3: unknown key 'maxit' in [solve]; here it is called 'max_iterations'" "$HALOSWEEP" solve a.ini
printf '[solve]\nrtol = 1e-8 7\n' >a.ini
expect 2 "a.ini:2: rtol = 1e-8 7: junk after the number, at '7'" "$HALOSWEEP" solve a.ini
printf '[heat]\nwhatever = (\n[run]\nquiet = on\n' >a.ini
expect 0 "version: " "$HALOSWEEP" info --bandwidth=off a.ini
[ -s err ] && complain "quiet = on, but: $(cat err)"

# values that no command uses: said on the command line, let pass in a file
expect 0 "--sweep.a has no effect: 'info' does not use [sweep]" "$HALOSWEEP" info --bandwidth=off --sweep.a "1, 2"
expect 0 "" "$HALOSWEEP" quad "a*x" --lower 0 --upper 1 --parameters.a 2
said_times 0 "no effect"
printf '[parameters]\na = 3\n' >a.ini
expect 0 "version: " "$HALOSWEEP" info --bandwidth=off a.ini
said_times 0 "no effect"

# common keys that a command makes no use of: refused on the command line, legal in a file
expect 2 "--output: 'info' makes no use of it" "$HALOSWEEP" info --output x.h5
expect 2 "--seed: 'info' makes no use of it" "$HALOSWEEP" info --seed 3
for words in "--output x.h5" "--history h.csv" "--checkpoint ck.h5" "--restart latest" "--time-limit 1m" \
  "--dry-run" "--backend ref" "--seed 3" "--progress off"; do
  expect 2 "'inspect' makes no use of it" "$HALOSWEEP" inspect A.mtx $words
done
"$HALOSWEEP" inspect --help >out
grep -q -e "--report FILE" out || complain "inspect --help lacks --report"
grep -q -e "--output" -e "--checkpoint" -e "--parameters" out && complain "inspect --help has what inspect does not use"
printf '[run]\noutput = x.h5\nhistory = h.csv\n[checkpoint]\nfile = ck.h5\n' >a.ini
expect 0 "version: " "$HALOSWEEP" info --bandwidth=off a.ini
[ -e x.h5 ] && complain "info wrote an output"

# a usage error under a launcher: once, with our exit code, without MPI
expect 2 "unknown option --bad" mpirun -n 3 --bind-to none "$HALOSWEEP" solve A.mtx --bad 1
said_times 1 "unknown option --bad"
expect 0 "usage: " mpirun -n 3 --bind-to none "$HALOSWEEP" --help
said_times 1 "usage: "

# 172: the launcher says 4, MPI says 1
alone=(env -u OMPI_COMM_WORLD_SIZE -u OMPI_COMM_WORLD_RANK -u PMI_SIZE -u PMI_RANK)
for size in SLURM_STEP_NUM_TASKS PMI_SIZE OMPI_COMM_WORLD_SIZE; do
  expect 7 "srun --mpi=pmix" "${alone[@]}" "$size=4" "$HALOSWEEP" info --bandwidth=off
done
expect 7 "" "${alone[@]}" SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=2 "$HALOSWEEP" info --bandwidth=off
said_times 0 "srun"
expect 0 "ranks: 1" "${alone[@]}" SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=2 "$HALOSWEEP" info --bandwidth=off --ranks 1
expect 7 "mpirun -n 2" "$HALOSWEEP" info --bandwidth=off --ranks 2
expect 7 "run.ranks is 3, but MPI has 2 ranks" mpirun -n 2 --bind-to none "$HALOSWEEP" info --bandwidth=off --ranks 3
said_times 1 "run.ranks is 3"
expect 0 "ranks: 2" mpirun -n 2 --bind-to none "$HALOSWEEP" info --bandwidth=off --ranks 2

# 170: threads and allowed cores in the start-up line; a warning where threads exceed cores
cores=$("$HALOSWEEP" info --bandwidth=off 2>/dev/null | sed -n 's/^cores of the affinity mask: \([0-9]*\).*/\1/p')
expect 0 "1 rank, 1 thread each (--threads)" env OMP_NUM_THREADS=3 "$HALOSWEEP" info --bandwidth=off --threads 1
expect 0 "1 rank, 3 threads each (OMP_NUM_THREADS)" env OMP_NUM_THREADS=3 SLURM_CPUS_PER_TASK=2 "$HALOSWEEP" info --bandwidth=off
expect 0 "1 rank, 2 threads each (SLURM_CPUS_PER_TASK)" env SLURM_CPUS_PER_TASK=2 "$HALOSWEEP" info --bandwidth=off
expect 0 "$cores allowed core" "$HALOSWEEP" info --bandwidth=off
expect 0 "warning: $((cores + 1)) threads" "$HALOSWEEP" info --bandwidth=off --threads $((cores + 1))
expect 0 "1 rank, 1 thread each (--threads)" "$HALOSWEEP" info --bandwidth=off --threads 1
said_times 0 "warning"
if [ "$cores" -gt 1 ]; then
  one=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
  expect 0 "--bind-to none" taskset -c "$one" "$HALOSWEEP" info --bandwidth=off --threads 2
  expect 0 "warning: 2 ranks share 1 core:" taskset -c "$one" mpirun -n 2 --bind-to none "$HALOSWEEP" info --bandwidth=off
  expect 0 "1 thread each (allowed cores), 1 allowed core per rank" taskset -c "$one" "$HALOSWEEP" info --bandwidth=off
  expect 0 "$cores allowed cores per rank" env OMP_PROC_BIND=true "$HALOSWEEP" info --bandwidth=off
  expect 0 "$((cores / 2)) allowed core" mpirun -n 2 --bind-to none "$HALOSWEEP" info --bandwidth=off
fi

[ "$failures" = 0 ] || { echo "$failures failures"; exit 1; }
