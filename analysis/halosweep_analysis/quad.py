"""`plot quad`: members of a sweep against the parameter, or error against cost (evaluations of the
integrand)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from . import figure
from .failure import INPUT, USAGE, Failure
from .ode import means_on_grid
from .reading import Report, Result, read_report, read_result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CURVES = 8
BAND = 2.0  # of the curves' range: so far bands are followed above and below
GOOD = ("converged", "fixed_count")


def _is_sweep(path: str) -> bool:
    with open(path, "rb") as f:
        if f.read(8) != b"\x89HDF\r\n\x1a\n":
            return False
    return "quad/members/value" in read_result(path, "quad").data


def draw_members(result: Result) -> "Figure":
    """One parameter: a curve with its error as a band; two: curves of few values, or colours."""
    value, error = result.array("quad/members/value"), result.array("quad/members/error")
    parameters = result.parameters("quad/members")
    if not parameters or len(value) == 0:
        raise Failure(INPUT, f"{result.path} has no members: nothing to draw")
    names = list(parameters)
    if len(names) > 2:
        raise Failure(
            USAGE, f"{result.path} sweeps {', '.join(names)}; a figure is of one or two parameters"
        )
    x = parameters[names[0]]
    status = result.array("quad/members/status")
    bad = ~np.isin(status, [k for k, n in enumerate(result.status_names) if n in GOOD])
    fig, (axes,) = figure.new()
    second = parameters[names[1]] if len(names) == 2 else np.zeros(len(x))
    groups = np.unique(second)
    if len(groups) > CURVES:
        (a, b), z = means_on_grid([x, second], value)
        axes.grid(False)
        mesh = axes.pcolormesh(a, b, z.T, shading="nearest")
        axes.set(xlabel=names[0], ylabel=names[1])
        fig.colorbar(mesh, ax=axes, label="integral")
        return fig
    for k, g in enumerate(groups):
        mine = np.flatnonzero(second == g)
        mine = mine[np.argsort(x[mine], kind="stable")]
        look = figure.style(k)
        axes.plot(
            x[mine],
            value[mine],
            label=f"{names[1]} = {g:g}" if len(names) == 2 else "integral",
            **look,
        )
        width = np.nan_to_num(error[mine])
        axes.fill_between(
            x[mine],
            value[mine] - width,
            value[mine] + width,
            color=look["color"],
            alpha=0.25,
            linewidth=0,
        )
    if bad.any():
        axes.plot(x[bad], value[bad], "x", color="black", label=f"not converged: {bad.sum()}")
    axes.set(xlabel=names[0], ylabel="integral")
    _keep_curves_in_sight(axes, value)
    axes.legend(fontsize=7)
    return fig


def _keep_curves_in_sight(axes: "Axes", value: np.ndarray) -> None:
    """Bands much wider than the curves' range end at the frame: the curves are what is shown."""
    finite = value[np.isfinite(value)]
    if finite.size == 0 or finite.min() == finite.max():
        return
    low, high = float(finite.min()), float(finite.max())
    room = BAND * (high - low)
    bottom, top = axes.get_ylim()
    if bottom < low - room or top > high + room:
        axes.set_ylim(max(bottom, low - room), min(top, high + room))
        axes.set_title("error bands (shaded) reach beyond the frame", fontsize=9)


def _of_report(report: Report, path: str) -> tuple[str, float, float, bool]:
    if report.get("command") != "quad":
        raise Failure(INPUT, f"{path} is of `{report.get('command')}`; expected one of `quad`")
    error = report.get("error")
    known = error is not None
    if not known:
        error = report.get("error_estimate")
    if error is None or report.get("evaluations") is None:
        raise Failure(INPUT, f"{path}: no error and no estimate of it: nothing to draw")
    return str(report.get("rule")), float(report["evaluations"]), float(error), known


def cost_series(paths: list[str]) -> dict[str, tuple[np.ndarray, np.ndarray, str]]:
    """By rule (sweeps: by file): evaluations, errors, and what these are."""
    singles: dict[str, list[tuple[float, float]]] = {}
    true: dict[str, bool] = {}
    out = {}
    for path in paths:
        if os.path.exists(path) and _is_sweep(path):
            members = read_result(path, "quad")
            out[os.path.basename(path)] = (
                members.array("quad/members/evaluations").astype(float),
                members.array("quad/members/error"),
                "members' estimates",
            )
            continue
        rule, evaluations, error, known = _of_report(read_report(path), path)
        singles.setdefault(rule, []).append((evaluations, error))
        true[rule] = true.get(rule, True) and known
    for rule, pairs in singles.items():
        pairs.sort()
        out[rule] = (
            np.array([p[0] for p in pairs]),
            np.array([p[1] for p in pairs]),
            "error" if true[rule] else "error estimate",
        )
    return out


def draw_cost(paths: list[str]) -> "Figure":
    """Errors over evaluations, both logarithmic; errors of 0 as triangles at the lower edge."""
    series = cost_series(paths)
    drawn = [e[np.isfinite(e) & (e > 0)] for _, e, _ in series.values()]
    if not any(np.isfinite(e).any() for _, e, _ in series.values()):
        raise Failure(INPUT, "no error is known or estimated: nothing to draw")
    floor = min((float(e.min()) for e in drawn if len(e)), default=1e-15) / 10
    fig, (axes,) = figure.new()
    for k, (name, (cost, error, what)) in enumerate(series.items()):
        look = figure.style(k)
        some, none = np.isfinite(error) & (error > 0), error == 0
        line = "" if what == "members' estimates" else look["linestyle"]
        if some.any():
            axes.plot(
                cost[some],
                error[some],
                marker="o",
                markersize=4,
                color=look["color"],
                linestyle=line,
                label=figure.label(f"{name}: {what}"),
            )
        if none.any():
            axes.plot(
                cost[none],
                np.full(none.sum(), floor),
                "v",
                color=look["color"],
                label=figure.label(f"{name}: error 0"),
            )
    axes.set(xlabel="evaluations of the integrand", ylabel="error", xscale="log", yscale="log")
    axes.legend(fontsize=7)
    return fig


def draw(paths: list[str], kind: str | None) -> "Figure":
    """`kind`, or members of a single sweep and the cost of anything else."""
    if kind == "members" or (
        kind is None and len(paths) == 1 and os.path.exists(paths[0]) and _is_sweep(paths[0])
    ):
        if len(paths) != 1:
            raise Failure(USAGE, "--kind members takes one file")
        return draw_members(read_result(paths[0], "quad"))
    return draw_cost(paths)
