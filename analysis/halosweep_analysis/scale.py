"""`halosweep scale`: runs or submits a grid of rank counts, threads and backends, and shows how it
scales."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from argparse import Namespace
from pathlib import Path

from . import launch, scale_files, scaling, slurm
from .config import COMMANDS
from .failure import PARTIAL, UNAVAILABLE, USAGE, Failure, Parser, advice, counted, run, say
from .study import ITERATIONS, prepare

BACKENDS = ("auto", "omp", "cuda", "ref")
EXAMPLE = """
    halosweep scale configs/solve-poisson2d.ini --strong --ranks 1,2,4,8 --repeat 3
    halosweep scale heat.ini --weak --ranks 1,2,4 --steps 200 --slurm --sbatch "--time=30"

The same command goes on where it was stopped: points that are done are not run again. What follows
-- goes to every run. Written into the folder: scale.csv, scale.h5, scale.png."""


def _counts(text: str, name: str) -> list[int]:
    try:
        counts = [int(v) for v in text.split(",")]
    except ValueError:
        counts = [0]
    if min(counts) < 1 or len(set(counts)) < len(counts):
        raise Failure(
            USAGE, f"{name} {text}: expected different numbers of at least 1, as in 1,2,4"
        )
    return sorted(counts)


def _backends(text: str) -> list[str]:
    names = text.split(",")
    if not set(names) <= set(BACKENDS) or len(set(names)) < len(names):
        raise Failure(USAGE, f"--backend {text}: expected some of {', '.join(BACKENDS)}, once each")
    return names


def _parser() -> Parser:
    p = Parser(
        prog="halosweep scale", description="a scaling study of one config file", epilog=EXAMPLE
    )
    p.add_argument("file", metavar="FILE.ini")
    mode = p.add_mutually_exclusive_group(required=True)
    mode.add_argument(
        "--strong", action="store_true", help="the same problem on more ranks (Amdahl)"
    )
    mode.add_argument(
        "--weak",
        action="store_true",
        help="a problem as many times as large (Gustafson): the last entry of n grows",
    )
    p.add_argument("--ranks", default="1,2,4", help="rank counts (%(default)s)")
    p.add_argument(
        "--threads", default="1", help="threads per rank, one number or several (%(default)s)"
    )
    p.add_argument(
        "--backend", default="auto", help=f"one or several of {', '.join(BACKENDS)} (%(default)s)"
    )
    p.add_argument(
        "--repeat", type=int, default=3, help="runs of each point; the median counts (%(default)s)"
    )
    p.add_argument("--command", choices=COMMANDS, help="where the file has sections of several")
    p.add_argument(
        "--iterations", type=int, help=f"solve: fixed number ({ITERATIONS}, or the file's)"
    )
    p.add_argument(
        "--steps", type=int, help="heat: fixed number (the file's), instead of its t_end"
    )
    p.add_argument("--folder", help="where reports are kept (scale-NAME-MODE)")
    p.add_argument(
        "--force", action="store_true", help="begin anew in a folder that holds something else"
    )
    p.add_argument("--launcher", help=f"how ranks are started ('{launch.LAUNCHER}')")
    p.add_argument(
        "--oversubscribe",
        action="store_true",
        help="also run points of more ranks than cores here: to try things out, not to measure",
    )
    p.add_argument("--collect", action="store_true", help="run nothing: the table of what there is")
    p.add_argument(
        "--slurm",
        action="store_true",
        help="submit a job a point instead; later, the same command again shows the table",
    )
    p.add_argument(
        "--wait",
        action="store_true",
        help="with --slurm: until the jobs have ended, then the table",
    )
    p.add_argument(
        "--sbatch", default="", help="more options for sbatch: --partition, --gpus-per-node, ..."
    )
    return p


def _binary() -> str:
    name = os.environ.get("HALOSWEEP") or "halosweep"
    found = shutil.which(name)
    if found is None:
        raise Failure(
            UNAVAILABLE, f"{name} is not here: put halosweep on the path, or set HALOSWEEP"
        )
    return os.path.abspath(found)


def _with_values(words: list[str]) -> list[str]:
    """--sbatch and --launcher take the next word, even if it begins with --."""
    out: list[str] = []
    for word in words:
        if out and out[-1] in ("--sbatch", "--launcher"):
            out[-1] += "=" + word
        else:
            out.append(word)
    return out


def _setting(args: Namespace, extra: list[str]) -> launch.Setting:
    mode = "weak" if args.weak else "strong"
    stem = os.path.splitext(os.path.basename(args.file))[0]
    if args.repeat < 1:
        raise Failure(USAGE, f"--repeat {args.repeat}: expected at least 1")
    for name in ("iterations", "steps"):
        if getattr(args, name) is not None and getattr(args, name) < 1:
            raise Failure(USAGE, f"--{name}: expected at least 1")
    if args.wait and (args.collect or not args.slurm):
        raise Failure(USAGE, "--wait waits for the jobs of --slurm (and --collect submits none)")
    try:
        sbatch = shlex.split(args.sbatch)
    except ValueError as e:
        raise Failure(USAGE, f"--sbatch '{args.sbatch}': {e}") from None
    return launch.Setting(
        folder=Path(args.folder or f"scale-{stem}-{mode}"),
        halosweep=_binary(),
        repeat=args.repeat,
        launcher=args.launcher,
        oversubscribe=args.oversubscribe,
        slurm=args.slurm,
        sbatch=sbatch,
        collect=args.collect,
        wait=args.wait,
        extra=extra,
    )


def _draw(path: str, table: scale_files.Table) -> None:
    from . import figure, scale_figure

    figure.save(scale_figure.draw(table), figure.Target(path, True))


def _write(s: launch.Setting, table: scale_files.Table) -> None:
    scale_files.write_csv(str(s.folder / "scale.csv"), table)
    written = ["scale.csv"]
    more = {"scale.h5": scale_files.write_hdf5}
    if any(p.measured for p in table.points):
        more["scale.png"] = _draw
    for name, write in more.items():
        try:
            write(str(s.folder / name), table)
            written.append(name)
        except ModuleNotFoundError as e:
            say("scale", f"warning: no {name}: {advice(e)}; then --collect writes it")
    say("scale", f"written: {', '.join(written)} in {s.folder}")


def command(words: list[str]) -> int:
    """`halosweep scale WORDS`."""
    cut = words.index("--") if "--" in words else len(words)
    args, extra = _parser().parse_args(_with_values(words[:cut])), words[cut + 1 :]
    mode = "weak" if args.weak else "strong"
    s = _setting(args, extra)
    points = [
        scaling.Point(r, t, b)
        for b in _backends(args.backend)
        for t in _counts(args.threads, "--threads")
        for r in _counts(args.ranks, "--ranks")
    ]
    study = prepare(args.file, mode, args.command, args.iterations, args.steps)
    if args.force and s.slurm:
        slurm.refuse_others(s)
    launch.open_folder(study, s, args.force)
    if s.slurm:
        slurm.submit_all(study, points, s)
    else:
        launch.run_all(study, points, s)
    for p in points:
        if p.backend == "auto" and p.measured:
            p.backend = str(p.reports[0].get("backend"))
    scaling.evaluate(points, mode)
    laws = scaling.fits(points, mode)
    fixed = {
        k: study.base[study.command][k]
        for k in ("iterations", "steps")
        if k in study.base[study.command]
    }
    print(
        f"{mode} scaling of {study.command}, {args.file}"
        + "".join(f", {k} = {v}" for k, v in fixed.items())
    )
    for line in scaling.table(points, laws, mode):
        print(line)
    _write(s, scale_files.Table(mode, study.command, points, laws))
    waiting = sum(p.trouble.startswith(slurm.QUEUED) for p in points)
    failed = sum(bool(p.trouble) for p in points) - waiting
    if waiting:
        say(
            "scale", f"in the queue: {counted(waiting, 'point')}; the same command later shows more"
        )
    if failed:
        say(
            "scale",
            f"without all results: {failed} of {counted(len(points), 'point')}; "
            "the same command tries again",
        )
    return PARTIAL if failed or (waiting and s.wait) else 0


def main() -> None:
    """The entry point."""
    sys.exit(run("scale", command))


if __name__ == "__main__":
    main()
