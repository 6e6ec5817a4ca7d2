"""`plot history`: residuals of solves with what they show in words, or the totals of heat over
time."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from . import figure
from .convergence import Verdict, classify
from .failure import INPUT, USAGE, Failure, counted
from .reading import History

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def labels_of(histories: list[History], labels: list[str] | None) -> list[str]:
    """A name for each: those given, else the file names, with folders where they would be alike."""
    if labels:
        if len(labels) != len(histories):
            raise Failure(USAGE, f"--labels names {len(labels)}, there are {len(histories)} files")
        return labels
    names = [os.path.splitext(os.path.basename(h.path))[0] for h in histories]
    return names if len(set(names)) == len(names) else [h.path for h in histories]


def draw_residuals(histories: list[History], labels: list[str]) -> tuple["Figure", list[Verdict]]:
    """A line a history; rings where the residual was recomputed; the verdict in the legend."""
    verdicts = [classify(h.columns["residual"]) for h in histories]
    fig, (axes,) = figure.new()
    for k, (h, label, verdict) in enumerate(zip(histories, labels, verdicts)):
        at, residual = h.columns["iteration"], h.columns["residual"]
        shown = np.isfinite(residual) & (residual > 0)
        look = figure.style(k)
        axes.plot(
            at[shown],
            residual[shown],
            label=figure.label(f"{label}: {verdict.word}"),
            linewidth=1.3,
            **look,
        )
        true = h.columns.get("true_residual", np.array([]))
        there = np.isfinite(true) & (true > 0)
        if there.any():
            axes.plot(
                at[there],
                true[there],
                "o",
                markersize=4,
                fillstyle="none",
                color=look["color"],
                label="_recomputed",
            )
    if not any(len(line.get_xdata()) for line in axes.lines):
        raise Failure(INPUT, "no residual above 0: nothing to draw")
    axes.set(xlabel="iteration", ylabel="residual ‖b − A x‖₂ / ‖b‖₂", yscale="log")
    axes.legend(
        title="rings: recomputed"
        if any(line.get_label() == "_recomputed" for line in axes.lines)
        else None
    )
    return fig, verdicts


def draw_heat(histories: list[History], labels: list[str]) -> "Figure":
    """Minimum, mean, maximum and probes over time, the total heat below."""
    if not any(len(h.columns["time"]) for h in histories):
        raise Failure(INPUT, "no saved times: nothing to draw")
    fig, (above, below) = figure.new(rows=2, height=3.4)
    count = 0
    for h, label in zip(histories, labels):
        for name in ["minimum", "mean", "maximum"] + [
            n for n in h.columns if n.startswith("probe")
        ]:
            above.plot(
                h.columns["time"],
                h.columns[name],
                label=figure.label(f"{label}: {name.replace('_', ' ')}"),
                marker=".",
                **figure.style(count),
            )
            count += 1
    for k, (h, label) in enumerate(zip(histories, labels)):
        below.plot(
            h.columns["time"],
            h.columns["total_heat"],
            label=figure.label(label),
            marker=".",
            **figure.style(k),
        )
    above.set(xlabel="time / s", ylabel="temperature u / K")
    below.set(xlabel="time / s", ylabel="total heat ∫u dV / (K m^d)")
    above.legend(fontsize=7)
    below.legend()
    return fig


def words(label: str, v: Verdict) -> str:
    """The line of text for one history."""
    rate = (
        "" if np.isnan(v.decades_per_row) else f", {v.decades_per_row:.3g} decades a row at the end"
    )
    rows = counted(v.rows, "row")
    return f"{label}: {v.word}: {rows}, {v.first:.3e} -> {v.last:.3e}, best {v.best:.3e}{rate}"
