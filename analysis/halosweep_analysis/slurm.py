"""The points of a scaling study as Slurm jobs: one a point, its repeats in a row.

What is in the queue is asked of Slurm alone: a job belongs to a point when it has the point's name
and the study's folder as its own. So a study that is killed between two submissions, or right
after one, submits nothing twice. Slurm forgets a job some minutes after its end (MinJobAge, 5
minutes); what it left counts then.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from dataclasses import dataclass

from .failure import UNAVAILABLE, USAGE, Failure, counted, say
from .launch import NOT_FOUND, Setting, collect, command_line, launch_words, name_of, write_config
from .scaling import Point
from .study import Study

LAUNCHER = "srun --mpi=pmix -n {ranks} --cpu-bind=cores"
QUEUED = "in the queue: job "
ENDED = (
    "BOOT_FAIL CANCELLED COMPLETED DEADLINE FAILED NODE_FAIL OUT_OF_MEMORY PREEMPTED TIMEOUT"
).split()
NEVER = (  # reasons of a pending job that will not start by itself
    "AccountNotAllowed BadConstraints DependencyNeverSatisfied InvalidAccount InvalidQOS "
    "JobHeldAdmin JobHeldUser PartitionConfig PartitionDown PartitionInactive PartitionNodeLimit "
    "PartitionTimeLimit QOSNotAllowed"
).split()
SILENT = 20  # looks in a row without an answer, of a busy controller, that a wait puts up with
POLL_SECONDS = (1.0, 30.0)  # between two looks at the queue: at first, at most


@dataclass
class Job:
    """What Slurm says of a job."""

    number: str
    state: str
    reason: str  # why it waits

    @property
    def ended(self) -> bool:
        """It does nothing any more."""
        return self.state in ENDED

    @property
    def moves(self) -> bool:
        """It runs, or will some time."""
        return not self.ended and not (self.state == "PENDING" and self.reason in NEVER)

    def words(self) -> str:
        """Its state, and why it waits."""
        waits = self.state == "PENDING" and self.reason not in ("None", "")
        return self.state.lower() + (f": {self.reason}" if waits else "")


def job_script(p: Point, s: Setting, command: str) -> str:
    """The sbatch script of a point: repeats without a report; exit: the first failure's."""
    line = shlex.join(command_line(p, s, command, "@")).replace("-@.json", "-$k.json")
    return f"""#!/bin/bash
#SBATCH --ntasks={p.ranks}
#SBATCH --cpus-per-task={p.threads}
#SBATCH --threads-per-core=1
#SBATCH --output={name_of(p)}.slurm
export SRUN_CPUS_PER_TASK={p.threads}
code=0
for k in $(seq {s.repeat}); do
  [ -e {name_of(p)}-$k.json ] && continue
  {shlex.join(launch_words(s.launcher or LAUNCHER, p))} {line} >{name_of(p)}-$k.log 2>&1
  last=$?
  [ $code != 0 ] || code=$last
done
exit $code
"""


def _answer(words: list[str], s: Setting) -> tuple[int, str, str]:
    try:
        done = subprocess.run(
            words, cwd=s.folder, capture_output=True, text=True, errors="replace", check=False
        )
    except OSError as e:
        raise Failure(UNAVAILABLE, f"{words[0]} {NOT_FOUND}: {e.strerror}") from None
    return done.returncode, done.stdout.strip(), done.stderr.strip()


def jobs_of(s: Setting) -> dict[str, Job]:
    """The last job of every point of the study that Slurm knows, by the point's name."""
    code, out, err = _answer(
        ["squeue", "--noheader", "--me", "--states=all", "--format=%i|%T|%r|%j|%Z"], s
    )
    if code != 0:
        raise Failure(UNAVAILABLE, f"squeue does not say what is in the queue: {err or out}")
    jobs: dict[str, Job] = {}
    for line in out.splitlines():
        number, state, reason, name, folder = (line.split("|", 4) + [""] * 4)[:5]
        if folder != os.path.realpath(s.folder) or not number.isdigit():
            continue
        if name not in jobs or int(number) > int(jobs[name].number):
            jobs[name] = Job(number, state, reason)
    return jobs


def refuse_others(s: Setting) -> None:
    """Before a folder is begun anew: no job of the old study may still write into it."""
    numbers = [j.number for j in jobs_of(s).values() if not j.ended] if s.folder.is_dir() else []
    if numbers:
        raise Failure(
            USAGE, f"{s.folder}: jobs of it are in the queue: scancel {' '.join(numbers)} first"
        )


def _submit(study: Study, p: Point, s: Setting, before: str) -> None:
    write_config(study, p, s)
    script = s.folder / f"{name_of(p)}.sbatch"
    script.write_text(job_script(p, s, study.command))
    own = [f"--job-name={name_of(p)}", f"--chdir={os.path.realpath(s.folder)}"]  # how it is found
    code, out, err = _answer(["sbatch", "--parsable", *s.sbatch, *own, script.name], s)
    if code != 0:
        p.trouble = f"sbatch refused it: {' '.join((err or out).split())}"
        return
    number = out.split("\n")[-1].split(";")[0]
    if not number.isdigit():  # --sbatch=--test-only
        p.trouble = f"sbatch names no job: {' '.join((err or out).split())}"
        return
    p.trouble = f"{QUEUED}{number} (submitted{f' again; {before}' if before else ''})"


def look(study: Study, points: list[Point], s: Setting) -> tuple[list[Point], int]:
    """Collects all points: those to submit, for `trouble`'s reason, and how many jobs move."""
    jobs, free, moving = jobs_of(s), [], 0
    for p in points:
        if not collect(p, s, study.command):
            continue
        job = jobs.get(name_of(p))
        if job is None or job.ended:
            if job is not None:
                p.trouble = f"job {job.number} {job.words()}: {p.trouble}"
            free.append(p)
        else:
            p.trouble = f"{QUEUED}{job.number} ({job.words()})"
            moving += job.moves
    return free, moving


def _wait(study: Study, points: list[Point], s: Setting) -> None:
    refused = {id(p): p.trouble for p in points if not p.trouble.startswith(QUEUED)}
    (seconds, most), said, silent = POLL_SECONDS, -1, 0
    while True:
        try:
            (free, moving), silent = look(study, points, s), 0
        except Failure as e:
            silent += 1
            if silent > SILENT:
                raise
            say("scale", f"warning: {e}; asked again in {seconds:.0f} s")
        else:
            for p in free:
                p.trouble = refused.get(id(p)) or p.trouble
            if moving == 0:
                return
            if moving != said:
                say("scale", f"waiting for {counted(moving, 'job')}")
            said = moving
        time.sleep(seconds)
        seconds = min(1.5 * seconds, most)


def submit_all(study: Study, points: list[Point], s: Setting) -> None:
    """A job for every point that is neither complete nor in the queue; `wait`: until they end."""
    for p in look(study, points, s)[0]:
        if not s.collect:
            _submit(study, p, s, "" if p.trouble == "not run" else p.trouble)
    if s.wait:
        _wait(study, points, s)
