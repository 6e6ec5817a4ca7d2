"""Runs the points of a scaling study, and collects their reports (slurm.py submits them instead).

A folder holds a study: study.json (what it is a study of), rR.ini (the config on R ranks), and for
every repeat k of a point rR-tT-BACKEND-k.json (the report) and .log (what was printed). A report
counts when it says success, and the ranks, threads and backend that were asked for; one that does
not is renamed .rejected.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from . import scaling
from .config import text_of
from .failure import IO, UNAVAILABLE, USAGE, Failure, counted, say
from .reading import Report, read_report
from .scaling import Point
from .study import Study, config_on

FORMAT = "halosweep study 1"
LAUNCHER = "mpirun -n {ranks} --map-by slot:PE={threads} --bind-to core"
CROWDED = "mpirun -n {ranks} --oversubscribe --bind-to none --mca mpi_yield_when_idle 1"
NOT_FOUND = "cannot be started"


@dataclass
class Setting:
    """How points are run."""

    folder: Path
    halosweep: str
    repeat: int
    launcher: str | None
    oversubscribe: bool
    slurm: bool
    sbatch: list[str]
    collect: bool
    wait: bool
    extra: list[str] = field(default_factory=list)


def cores_here() -> int:
    """Physical cores this process may run on."""
    cores = set()
    for cpu in os.sched_getaffinity(0):
        try:
            cores.add(
                Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list").read_text()
            )
        except OSError:
            cores.add(str(cpu))
    return len(cores)


def open_folder(study: Study, s: Setting, force: bool) -> None:
    """Makes the study's folder, or finds in it the same study."""
    identity = {
        "format": FORMAT,
        "mode": study.mode,
        "command": study.command,
        "config": text_of(study.base),
        "extra": s.extra,
    }
    mark = s.folder / "study.json"
    if mark.exists():
        try:
            found = dict(json.loads(mark.read_text(encoding="utf-8")))
        except ValueError:
            found = {}
        differ = [k for k in identity if found.get(k) != identity[k]]
        if differ and not force:
            raise Failure(
                USAGE,
                f"{s.folder} holds another study (its {', '.join(differ)}): another --folder, "
                "or --force to begin anew",
            )
        if differ:
            for old in s.folder.glob("r*-t*-*"):
                old.unlink(missing_ok=True)
    elif s.folder.is_dir() and any(s.folder.iterdir()) and not force:
        raise Failure(
            USAGE, f"{s.folder} is there, and is no scaling study: another --folder, or --force"
        )
    try:
        s.folder.mkdir(parents=True, exist_ok=True)
        mark.write_text(json.dumps(identity, indent=1) + "\n")
    except OSError as e:
        raise Failure(IO, f"{s.folder}: cannot be written to: {e.strerror}") from None


def name_of(p: Point) -> str:
    """The stem of a point's files."""
    return f"r{p.ranks}-t{p.threads}-{p.backend}"


def judge(report: Report, p: Point, command: str) -> str:
    """Why a report does not count for the point; empty when it does."""
    for key, asked in (("command", command), ("ranks", p.ranks), ("threads", p.threads)):
        if report.get(key) != asked:
            return f"rejected: the report says {key} = {report.get(key)}, {asked} asked for"
    if p.backend not in ("auto", report.get("backend")):
        return f"rejected: it ran on backend {report.get('backend')}"
    if report.get("exit_code") != 0:
        return f"exit {report.get('exit_code')}: {report.get('reason')}"
    try:
        scaling.time_of(report), scaling.work_of(report)
    except (KeyError, TypeError, ValueError):
        return "rejected: the report lacks what was measured"
    return ""


def trouble_in_log(path: Path) -> str:
    """The line of a log that says what went wrong."""
    try:
        lines = [line.strip() for line in path.read_text(errors="replace").splitlines()]
    except OSError:
        return ""
    errors = [line for line in lines if "error:" in line.lower()]
    words = [line for line in lines if any(c.isalnum() for c in line)]
    return (errors or words or [""])[0][:120]


def collect(p: Point, s: Setting, command: str) -> list[int]:
    """Takes the point's good reports; the repeats that are missing (`trouble` says why)."""
    p.reports, missing, p.trouble = [], [], ""
    for k in range(1, s.repeat + 1):
        path = s.folder / f"{name_of(p)}-{k}.json"
        if not path.exists():
            missing.append(k)
            p.trouble = p.trouble or trouble_in_log(path.with_suffix(".log"))
            continue
        try:
            report = read_report(str(path))
            why = judge(report, p, command)
        except Failure as e:
            why = str(e)
        if why:
            missing.append(k)
            p.trouble = why
            os.replace(path, path.with_suffix(".rejected"))
        else:
            p.reports.append(report)
    if missing and not p.trouble:
        p.trouble = "not run"
    return missing


def command_line(p: Point, s: Setting, command: str, k: str) -> list[str]:
    """halosweep with its arguments; the rank count is said on one rank, too."""
    return [
        s.halosweep,
        command,
        f"r{p.ranks}.ini",
        "--ranks",
        str(p.ranks),
        "--threads",
        str(p.threads),
        "--backend",
        p.backend,
        "--progress",
        "off",
        "--report",
        f"{name_of(p)}-{k}.json",
        *s.extra,
    ]


def write_config(study: Study, p: Point, s: Setting) -> None:
    """rR.ini of the point."""
    text = text_of(config_on(study, p.ranks))
    (s.folder / f"r{p.ranks}.ini").write_text(
        f"# {study.mode} scaling, {p.ranks} ranks; made from {os.path.basename(study.name)}\n"
        + text,
        encoding="utf-8",
        errors="surrogateescape",  # names of files are bytes
    )


def launch_words(form: str, p: Point) -> list[str]:
    """The launcher's words for a point, from a form with {ranks} and {threads}."""
    try:
        return shlex.split(form.format(ranks=p.ranks, threads=p.threads))
    except (KeyError, IndexError, ValueError, AttributeError):
        raise Failure(
            USAGE,
            f"--launcher '{form}': expected words with {{ranks}} and {{threads}} in them",
        ) from None


def run_repeat(study: Study, p: Point, s: Setting, k: int) -> None:
    """One run, to its end; what it printed goes to the log."""
    launch = launch_words(s.launcher or (CROWDED if p.oversubscribed else LAUNCHER), p)
    log = s.folder / f"{name_of(p)}-{k}.log"
    with open(log, "wb") as out:
        try:
            done = subprocess.run(
                launch + command_line(p, s, study.command, str(k)),
                cwd=s.folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                check=False,
            )
        except OSError as e:
            raise Failure(
                UNAVAILABLE,
                f"{launch[0]} {NOT_FOUND}: {e.strerror}; name yours with "
                "--launcher 'COMMAND -n {ranks} ...'",
            ) from None
    if done.returncode != 0:
        say("scale", f"{name_of(p)}, repeat {k}: exit {done.returncode}, see {log}")


def run_all(study: Study, points: list[Point], s: Setting) -> None:
    """Runs what is missing; repeats outside, so that a slow minute does not hit one point alone."""
    missing = {id(p): collect(p, s, study.command) for p in points}
    cores = 0 if s.launcher or "SLURM_JOB_ID" in os.environ else cores_here()
    for p in points:
        p.oversubscribed = 0 < cores < p.ranks * p.threads
    if s.collect:
        return
    for k in range(1, s.repeat + 1):
        for p in points:
            if k not in missing[id(p)] or (p.oversubscribed and not s.oversubscribe):
                continue
            say(
                "scale",
                f"{counted(p.ranks, 'rank')} x {counted(p.threads, 'thread')}, {p.backend}: "
                f"repeat {k} of {s.repeat}",
            )
            write_config(study, p, s)
            run_repeat(study, p, s, k)
    for p in points:
        if collect(p, s, study.command) and p.oversubscribed and not s.oversubscribe:
            p.trouble = f"more than the {cores} cores here (--oversubscribe runs it, as a trial)"
