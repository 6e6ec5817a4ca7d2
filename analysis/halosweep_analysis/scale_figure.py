"""The figure of a scaling study: speed-up with its law, efficiency, and where the time goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import figure
from .failure import INPUT, Failure, counted
from .scale_files import Table
from .scaling import GOOD, Point, predicted

UPRIGHT, SMALLER = 4, 24  # bars whose names fit side by side; bars from which names are smaller

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def _speedup(axes: "Axes", t: Table, series: dict[tuple[str, int], list[Point]]) -> None:
    most = max(p.ranks for mine in series.values() for p in mine)
    axes.plot([1, most], [1, most], color="0.5", linewidth=1, label="ideal")
    for k, (key, mine) in enumerate(series.items()):
        look = figure.style(k)
        ranks = [p.ranks for p in mine]
        middle = np.array([p.speedup for p in mine])
        spread = [
            middle * (1 - np.array([p.time / p.slowest for p in mine])),
            middle * (np.array([p.time / p.fastest for p in mine]) - 1),
        ]
        axes.errorbar(
            ranks,
            middle,
            yerr=spread,
            fmt="o",
            capsize=2,
            color=look["color"],
            label=f"{key[0]}, {counted(key[1], 'thread')}",
        )
        for f in t.fits:
            if (f.backend, f.threads) == key:
                x = np.geomspace(1, most, 64)
                scale = 1.0
                if f.law == "amdahl":  # the points are relative to the base's time, the law to T1
                    base = mine[0]
                    scale = base.ranks * base.time / f.t1
                axes.plot(
                    x,
                    scale * np.array([predicted(f, v) for v in x]),
                    color=look["color"],
                    linestyle="--",
                    label=f"{f.law.capitalize()}, serial {f.serial:.2%}",
                )
    axes.set(
        xlabel="ranks", ylabel="speed-up" if t.mode == "strong" else "scaled speed-up", xscale="log"
    )
    axes.legend(fontsize=7)


def _efficiency(axes: "Axes", series: dict[tuple[str, int], list[Point]]) -> None:
    for k, mine in enumerate(series.values()):
        axes.plot(
            [p.ranks for p in mine],
            [100 * p.efficiency for p in mine],
            marker="o",
            markersize=5,
            **figure.style(k),
        )
    axes.axhline(100 * GOOD, color="0.5", linewidth=1, label=f"{GOOD:.0%}")
    best = [p for mine in series.values() for p in mine if p.best]
    axes.plot(
        [p.ranks for p in best],
        [100 * p.efficiency for p in best],
        "*",
        color="black",
        markersize=11,
        label=f"most ranks with {GOOD:.0%} or more",
    )
    top = max(100.0, *(100 * p.efficiency for mine in series.values() for p in mine))
    axes.set(xlabel="ranks", ylabel="efficiency / %", xscale="log", ylim=(0, 1.06 * top))
    axes.legend(fontsize=7, loc="lower left")


def _shares(axes: "Axes", points: list[Point]) -> None:
    """Bars of compute and communication, parts of the time: seconds would hide the quick points."""
    at = np.arange(len(points))
    talking = np.array([100 * p.communicate / p.time if p.time > 0 else 0.0 for p in points])
    axes.bar(at, 100 - talking, color=figure.COLOURS[0], label="compute")
    axes.bar(
        at,
        talking,
        bottom=100 - talking,
        color=figure.COLOURS[1],
        hatch="//" if len(points) <= UPRIGHT else None,
        label="communicate",
    )
    axes.set(xlabel="ranks × threads, backend", ylabel="part of the time / %", ylim=(0, 100))
    axes.set_xticks(
        at,
        [f"{p.ranks} × {p.threads} {p.backend}" for p in points],
        rotation=0 if len(points) <= UPRIGHT else 90,
        fontsize=7 if len(points) <= SMALLER else 5,
    )
    axes.legend(fontsize=7, loc="lower right")


def draw(t: Table) -> "Figure":
    """All measured points of a study."""
    series: dict[tuple[str, int], list[Point]] = {}
    for p in sorted(t.points, key=lambda p: p.ranks):
        if p.measured:
            series.setdefault(p.series, []).append(p)
    if not series:
        raise Failure(INPUT, "no point of the study was measured: nothing to draw")
    fig, (left, middle, right) = figure.new(columns=3, width=4.4, height=3.8)
    _speedup(left, t, series)
    _efficiency(middle, series)
    _shares(right, [p for mine in series.values() for p in mine])
    ticks = sorted({p.ranks for mine in series.values() for p in mine})
    for axes in (left, middle):
        axes.set_xticks(ticks, [str(v) for v in ticks])
        axes.minorticks_off()
    left.set_yscale("log", base=2)
    left.yaxis.set_major_formatter("{x:g}")
    fig.suptitle(f"{t.mode} scaling of halosweep {t.command}")
    return fig
