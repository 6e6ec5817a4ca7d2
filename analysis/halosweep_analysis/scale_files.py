"""scale.csv and scale.h5: the table of a study, a row or element a point; seconds, GB/s, shares of
1."""

from __future__ import annotations

import csv
import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .failure import INPUT, Failure
from .figure import temporary
from .reading import check_readable
from .scaling import Fit, Point

if TYPE_CHECKING:
    import h5py

FORMAT = "halosweep scaling study 1"
COUNTS = ("ranks", "threads", "gpus")
NUMBERS = COUNTS + tuple(
    "time fastest slowest total compute communicate speedup efficiency bandwidth work size".split()
)
FLAGS = ("best", "oversubscribed")


@dataclass
class Table:
    """A study as its files hold it."""

    mode: str
    command: str
    points: list[Point]
    fits: list[Fit]


def remarks_of(p: Point) -> str:
    """What there is to say of a point, in one line."""
    return "; ".join(p.remarks + ([p.trouble] if p.trouble else []))


def write_csv(path: str, t: Table) -> None:
    """A line a point; empty where it was not measured."""
    part = temporary(path)
    with open(part, "w", newline="", encoding="utf-8") as f:
        rows = csv.writer(f, lineterminator="\n")
        rows.writerow(("backend",) + NUMBERS + FLAGS + ("repeats", "remarks"))
        for p in t.points:
            numbers = [getattr(p, n) for n in NUMBERS]
            cells = ["" if isinstance(v, float) and math.isnan(v) else repr(v) for v in numbers]
            flags = [int(getattr(p, n)) for n in FLAGS]
            rows.writerow([p.backend] + cells + flags + [len(p.reports), remarks_of(p)])
    os.replace(part, path)


def write_hdf5(path: str, t: Table) -> None:
    """/scale/NAME, an element a point; /scale/fits/NAME, an element a series."""
    import h5py

    part = temporary(path)
    text = h5py.string_dtype()
    with h5py.File(part, "w") as f:
        f.attrs["format"], f.attrs["mode"], f.attrs["command"] = FORMAT, t.mode, t.command
        g = f.create_group("scale")
        for n in NUMBERS + FLAGS:
            g[n] = [getattr(p, n) for p in t.points]
        g["backend"] = [p.backend for p in t.points]
        g["repeats"] = [len(p.reports) for p in t.points]
        g.create_dataset("remarks", data=[remarks_of(p) for p in t.points], dtype=text)
        laws = g.create_group("fits")
        for n in ("serial", "t1", "deviation", "threads", "points"):
            laws[n] = [getattr(x, n) for x in t.fits]
        for n in ("law", "backend"):
            laws.create_dataset(n, data=[getattr(x, n) for x in t.fits], dtype=text)
    os.replace(part, path)


def read(path: str) -> Table:
    """The study in scale.h5, without its reports."""
    import h5py

    check_readable(path)
    try:
        f = h5py.File(path, "r")
    except OSError:
        raise Failure(
            INPUT, f"{path}: not an HDF5 file; expected scale.h5 of `halosweep scale`"
        ) from None
    with f:
        if f.attrs.get("format") != FORMAT:
            raise Failure(
                INPUT, f"{path}: HDF5, but no scaling study; expected scale.h5 of `halosweep scale`"
            )
        try:
            return _table(f)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError, OSError) as e:
            raise Failure(INPUT, f"{path} is damaged: {e}") from None


def _table(f: "h5py.File") -> Table:
    g, laws = f["scale"], f["scale/fits"]
    points = []
    for k in range(len(g["ranks"])):
        p = Point(int(g["ranks"][k]), int(g["threads"][k]), str(g["backend"].asstr()[k]))
        p.gpus = int(g["gpus"][k])
        for n in NUMBERS[len(COUNTS) :]:
            setattr(p, n, float(g[n][k]))
        for n in FLAGS:
            setattr(p, n, bool(g[n][k]))
        remarks = str(g["remarks"].asstr()[k])
        p.trouble = remarks if math.isnan(p.time) else ""
        p.remarks = [] if p.trouble else [r for r in remarks.split("; ") if r]
        p.reports = [] if p.trouble else [{}] * int(g["repeats"][k])
        points.append(p)
    fits = [
        Fit(
            str(laws["law"].asstr()[k]),
            str(laws["backend"].asstr()[k]),
            int(laws["threads"][k]),
            float(laws["serial"][k]),
            float(laws["t1"][k]),
            float(laws["deviation"][k]),
            int(laws["points"][k]),
        )
        for k in range(len(laws["serial"]))
    ]
    return Table(str(f.attrs["mode"]), str(f.attrs["command"]), points, fits)
