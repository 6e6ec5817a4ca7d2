"""The numbers of a scaling study, from reports. Pure: nothing is run or written here.

A point is (ranks, threads, backend), measured by some reports. Its time is `compute` +
`communicate` of the slowest rank: the fixed work, without set-up, reading and writing (with them:
`total`). All its numbers are those of one report, the one with the median time (of an even number,
the faster of the two in the middle). Points of one backend and number of threads are a series; its
base is the point of fewest ranks, b, with time T(b).

strong: speed-up S(p) = b T(b)/T(p), efficiency S(p)/p.
weak:   with work W from the reports (rows x iterations, points x steps, evaluations, steps of
        trajectories; of coupled systems points x steps), efficiency (W(p)/p/T(p)) / (W(b)/b/T(b)), speed-up p times that.

Fits, least squares of relative deviations over the points of a series:
Amdahl (1967), strong: T(p) = T1 (s + (1 - s)/p). Gustafson (1988), weak: S(p) = p - s (p - 1).
s is the serial share, between 0 and 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .failure import counted
from .reading import Report

GOOD = 0.75  # efficiency that counts as worth its ranks
SHORT_SECONDS = (
    0.05  # below this a time says more about the clock and the system than about the program
)
SPREAD = 0.2  # (max - min)/median of the repeats above which a time is called unsteady
NO_LAW = 0.25  # deviation from which on a law says nothing
TALKING = 0.5  # share of communication above which a rank has too little to do


@dataclass
class Point:
    """One place of the grid, its reports, and why they are not all there, where they are not."""

    ranks: int
    threads: int
    backend: str
    reports: list[Report] = field(default_factory=list)
    trouble: str = ""
    oversubscribed: bool = False
    # from here on: filled by `evaluate`; seconds, GB/s, shares of 1
    time: float = float("nan")
    fastest: float = float("nan")
    slowest: float = float("nan")
    total: float = float("nan")
    compute: float = float("nan")
    communicate: float = float("nan")
    bandwidth: float = float("nan")
    work: float = float("nan")
    size: float = float("nan")
    gpus: int = 0
    speedup: float = float("nan")
    efficiency: float = float("nan")
    best: bool = False
    remarks: list[str] = field(default_factory=list)

    @property
    def series(self) -> tuple[str, int]:
        """What it is compared within."""
        return self.backend, self.threads

    @property
    def measured(self) -> bool:
        """It has a time, if not from all repeats."""
        return len(self.reports) > 0


@dataclass
class Fit:
    """A law fitted to a series: serial share, T1 in s (Amdahl), the largest relative deviation."""

    law: str
    backend: str
    threads: int
    serial: float
    t1: float
    deviation: float
    points: int


def work_of(report: Report) -> tuple[float, float]:
    """Work done, and the problem's size (rows, points, evaluations, trajectories)."""
    command = report.get("command")
    if command == "solve":
        return report["rows"] * max(report["iterations_this_run"], 1), report["rows"]
    if command == "heat" or "points" in report and command == "ode":
        return report["points"] * max(report["steps_this_run"], 1), report["points"]
    if command == "quad":
        return report["evaluations"], report["evaluations"]
    return report["steps_this_run"], report["trajectories"]


def time_of(report: Report) -> float:
    """Seconds of the fixed work."""
    return float(report["seconds"]["compute"]) + float(report["seconds"]["communicate"])


def _measure(p: Point) -> None:
    ordered = sorted(p.reports, key=time_of)
    middle = ordered[(len(ordered) - 1) // 2]
    p.time, p.fastest, p.slowest = (time_of(r) for r in (middle, ordered[0], ordered[-1]))
    p.total, p.compute, p.communicate = (
        float(middle["seconds"][n]) for n in ("total", "compute", "communicate")
    )
    p.bandwidth = float((middle.get("traffic") or {}).get("gbytes_per_second") or 0.0)
    p.gpus = len({d.get("uuid") for d in middle.get("devices") or []})
    p.work, p.size = (float(v) for v in work_of(middle))


def _remark(p: Point, base: Point) -> None:
    talking = p.communicate / (p.compute + p.communicate) if p.time > 0 else 0.0
    if p.time < SHORT_SECONDS:
        p.remarks.append(f"too short to measure (< {SHORT_SECONDS} s)")
    if p.ranks > base.ranks and talking > TALKING:
        p.remarks.append(
            f"too small per rank: {talking:.0%} communication and waiting, "
            f"{p.size / p.ranks:.0f} a rank"
        )
    if p.time > 0 and (p.slowest - p.fastest) / p.time > SPREAD:
        p.remarks.append(f"unsteady: {p.fastest:.3g} to {p.slowest:.3g} s")
    if 0 < p.gpus < p.ranks:
        p.remarks.append(f"{p.ranks} ranks share {p.gpus} GPUs")
    if p.oversubscribed:
        p.remarks.append("more ranks x threads than cores: no measurement")


def evaluate(points: list[Point], mode: str) -> None:
    """Fills the numbers of all measured points; `mode` is strong or weak."""
    for p in points:
        if p.measured:
            _measure(p)
    for series in dict.fromkeys(p.series for p in points):
        mine = sorted(
            (p for p in points if p.series == series and p.measured), key=lambda p: p.ranks
        )
        if not mine:
            continue
        base = mine[0]
        for p in mine:
            gain = base.time / p.time if p.time > 0 else float("nan")
            if mode == "weak":
                gain *= p.work / base.work
            p.speedup = gain * base.ranks
            p.efficiency = p.speedup / p.ranks
            _remark(p, base)
            if mode == "strong" and p.work != base.work:
                p.remarks.append("did other work than the base")
            if mode == "strong" and {r.get("fingerprint") for r in p.reports} != {
                base.reports[0].get("fingerprint")
            }:
                p.remarks.append("another result than the base's (fingerprint)")
        good = [p for p in mine if p.efficiency >= GOOD and not p.oversubscribed]
        if good:
            good[-1].best = True


def amdahl(ranks: list[int], times: list[float]) -> tuple[float, float]:
    """(s, T1) of T(p) = T1 (s + (1 - s)/p) = a + b/p, a and b not below 0."""
    rows = [(1 / t, 1 / (p * t)) for p, t in zip(ranks, times)]  # a x + b y = 1, relative
    xx, xy, yy = (sum(r[i] * r[j] for r in rows) for i, j in ((0, 0), (0, 1), (1, 1)))
    x, y = sum(r[0] for r in rows), sum(r[1] for r in rows)
    det = xx * yy - xy * xy
    a, b = (
        ((x * yy - y * xy) / det, (y * xx - x * xy) / det)
        if det > 1e-14 * xx * yy
        else (0.0, y / yy)
    )
    if a < 0:
        a, b = 0.0, y / yy
    if b < 0:
        a, b = x / xx, 0.0
    return a / (a + b), a + b


def gustafson(ranks: list[int], speedups: list[float]) -> float:
    """s of S(p) = p - s (p - 1)."""
    pairs = [((p - 1) / p, 1 - v / p) for p, v in zip(ranks, speedups)]
    below = sum(x * x for x, _ in pairs)
    return min(max(sum(x * y for x, y in pairs) / below, 0.0), 1.0) if below > 0 else 0.0


def predicted(fit: Fit, ranks: float) -> float:
    """The fit's speed-up on so many ranks."""
    if fit.law == "gustafson":
        return ranks - fit.serial * (ranks - 1)
    return 1 / (fit.serial + (1 - fit.serial) / ranks)


def fits(points: list[Point], mode: str) -> list[Fit]:
    """The law of `mode` for every series of two measured rank counts or more."""
    out = []
    for backend, threads in dict.fromkeys(p.series for p in points):
        mine = [
            p
            for p in points
            if p.series == (backend, threads) and p.measured and not p.oversubscribed and p.time > 0
        ]
        ranks = [p.ranks for p in mine]
        if len(set(ranks)) < 2:
            continue
        if mode == "strong":
            s, t1 = amdahl(ranks, [p.time for p in mine])
            off = [abs(t1 * (s + (1 - s) / p.ranks) / p.time - 1) for p in mine]
            law = "amdahl"
        else:
            s, t1, law = gustafson(ranks, [p.speedup for p in mine]), float("nan"), "gustafson"
            off = [abs((p.ranks - s * (p.ranks - 1)) / p.speedup - 1) for p in mine]
        out.append(Fit(law, backend, threads, s, t1, max(off), len(mine)))
    return out


def table(points: list[Point], laws: list[Fit], mode: str) -> list[str]:
    """The table as lines of text."""
    head = "ranks threads backend GPUs time/s compute commun. speed-up effic. GB/s".split()
    lines = ["".join(f"{h:>10}" for h in head)]
    for p in points:
        cells: list[Any] = [p.ranks, p.threads, p.backend]
        if p.measured:
            share = p.communicate / p.time if p.time > 0 else 0.0
            cells += [
                p.gpus,
                f"{p.time:.4g}",
                f"{1 - share:.1%}",
                f"{share:.1%}",
                f"{p.speedup:.3g}",
                f"{p.efficiency:.1%}",
                f"{p.bandwidth:.3g}" if p.bandwidth > 0 else "-",
            ]
            mark = f"  <- most ranks with efficiency >= {GOOD:.0%}" if p.best else ""
            remarks = mark + "".join(f"  [{r}]" for r in p.remarks)
            remarks += (
                f"  [{counted(len(p.reports), 'repeat')} only: {p.trouble}]" if p.trouble else ""
            )
        else:
            cells += ["-"] * 7
            remarks = f"  {p.trouble or 'not run'}"
        lines.append("".join(f"{c:>10}" for c in cells) + remarks)
    for f in laws:
        name = "Amdahl" if f.law == "amdahl" else "Gustafson"
        limit = (
            f", speed-up at most {1 / f.serial:.3g}" if f.law == "amdahl" and f.serial > 0 else ""
        )
        free = " (two points: no more than a line through them)" if f.points == 2 else ""
        if f.deviation > NO_LAW:
            free = " (it does not describe these points)"
        lines.append(
            f"{name}, {f.backend}, {counted(f.threads, 'thread')}: serial share "
            f"{f.serial:.3%}{limit}; deviates by {f.deviation:.1%} at most{free}"
        )
    if any("too small" in r for p in points for r in p.remarks):
        lines.append("Too small per rank: a larger problem would scale further.")
    if any("too short" in r for p in points for r in p.remarks):
        lines.append("Too short to measure: more iterations or steps, or a larger problem.")
    return lines
