"""`plot ode`: phase portraits and series of saved states, fans (quantile bands), maps over swept
parameters, histograms of final states; of a coupled system its fields over the points.

Components are called as the file says, y[0], y[1], ... where it does not. Times and states have
the units of the equations. Trajectories that failed are left out of fans and maps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from . import figure
from .failure import INPUT, USAGE, Failure
from .reading import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FEW = 20
TIMES = 8  # lines of a field over the points of a line
BANDS = ((0.05, 0.95, 0.2), (0.25, 0.75, 0.4))  # quantiles from, to, opacity
GOOD = ("done", "event")


@dataclass
class Choice:
    """What to draw, as the command line says it."""

    components: str | None = None
    trajectories: str | None = None
    value: str = "final"


def names_of(result: Result) -> list[str]:
    """A name for every component."""
    shape = result.array("ode/final").shape
    count = shape[-1]
    if 0 in shape:
        raise Failure(INPUT, f"{result.path} has no trajectories: nothing to draw")
    own = list(result.component_names)
    return own if len(own) == count else [f"y[{k}]" for k in range(count)]


def _components(result: Result, text: str | None, default: list[int]) -> list[int]:
    names = names_of(result)
    if text is None:
        return [k for k in default if k < len(names)]
    chosen = []
    for word in text.split(","):
        word = word.strip()
        if word in names:
            chosen.append(names.index(word))
        elif word.isdigit() and int(word) < len(names):
            chosen.append(int(word))
        else:
            raise Failure(
                USAGE, f"--components {word}: expected some of {', '.join(names)}, or their numbers"
            )
    return chosen


def _trajectories(result: Result, text: str | None) -> list[int]:
    count = len(result.array("ode/final"))
    if text is None:
        return list(range(min(count, FEW)))
    words = [w.strip() for w in text.split(",")]
    if not all(w.isdigit() and int(w) < count for w in words):
        raise Failure(USAGE, f"--trajectories {text}: expected numbers from 0 to {count - 1}")
    return [int(w) for w in words]


def _has_saved(result: Result) -> bool:
    return "ode/saved" in result.data and 0 not in result.data["ode/saved"].shape


def good(result: Result) -> np.ndarray:
    """Which trajectories did not fail."""
    status = result.array("ode/status")
    return np.isin(status, [k for k, n in enumerate(result.status_names) if n in GOOD])


def default_kind(result: Result) -> str:
    """Series of few, fan of many, a map of two sweeps, else a histogram; of a coupled system
    its fields."""
    if result.coupled:
        return "field"
    if _has_saved(result):
        return "series" if len(result.array("ode/final")) <= FEW else "fan"
    return "map" if len(result.config.get("sweep", {})) in (1, 2) else "histogram"


def _saved(result: Result, wanted: list[int] | None = None) -> tuple[np.ndarray, np.ndarray]:
    if not _has_saved(result):
        raise Failure(
            INPUT, f"{result.path} has no saved states: nothing to draw (run with save_at = times)"
        )
    states = result.array("ode/saved", wanted)
    return result.array("ode/save_at"), states


def draw_series(result: Result, c: Choice) -> "Figure":
    """Components over time, a line a trajectory."""
    names, wanted = names_of(result), _trajectories(result, c.trajectories)
    chosen = _components(result, c.components, list(range(min(len(names), 4))))
    times, states = _saved(result, wanted)
    fig, panels = figure.new(rows=len(chosen), height=2.4)
    for axes, k in zip(panels, chosen):
        for j, trajectory in enumerate(wanted):
            axes.plot(
                times,
                states[j, :, k],
                marker="." if len(times) < 50 else None,
                label=f"trajectory {trajectory}",
                **figure.style(j),
            )
        axes.set(ylabel=names[k])
    panels[-1].set(xlabel="time t / s")
    if len(wanted) <= 8:
        panels[0].legend(fontsize=7)
    return fig


def draw_phase(result: Result, c: Choice) -> "Figure":
    """One component against another."""
    names, wanted = names_of(result), _trajectories(result, c.trajectories)
    chosen = _components(result, c.components, [0, 1])
    if len(chosen) != 2:
        raise Failure(USAGE, f"a phase portrait needs two components, of {', '.join(names)}")
    _, states = _saved(result, wanted)
    fig, (axes,) = figure.new()
    for j, trajectory in enumerate(wanted):
        x, y = states[j, :, chosen[0]], states[j, :, chosen[1]]
        axes.plot(x, y, linewidth=0.9, label=f"trajectory {trajectory}", **figure.style(j))
        axes.plot(x[:1], y[:1], "o", markersize=4, color=figure.style(j)["color"], label="_begins")
    axes.set(xlabel=names[chosen[0]], ylabel=names[chosen[1]], title="dots: first saved state")
    if len(wanted) <= 8:
        axes.legend(fontsize=7)
    return fig


def draw_fan(result: Result, c: Choice) -> "Figure":
    """Median and quantile bands over the trajectories that did not fail."""
    names = names_of(result)
    chosen = _components(result, c.components, list(range(min(len(names), 4))))
    times, states = _saved(result)
    states = states[good(result)]
    if len(states) == 0:
        raise Failure(INPUT, f"{result.path}: every trajectory failed: nothing to draw")
    there = ~np.isnan(states).all(axis=(0, 2))
    if not there.any():
        raise Failure(INPUT, f"{result.path}: all trajectories ended before the first saved time")
    times, states = times[there], states[:, there]
    fig, panels = figure.new(rows=len(chosen), height=2.6)
    for axes, k in zip(panels, chosen):
        for low, high, opacity in BANDS:
            a, b = np.nanquantile(states[:, :, k], (low, high), axis=0)
            axes.fill_between(
                times,
                a,
                b,
                color=figure.COLOURS[0],
                alpha=opacity,
                linewidth=0,
                label=f"{low:.0%} to {high:.0%}",
            )
        axes.plot(
            times, np.nanmedian(states[:, :, k], axis=0), color=figure.COLOURS[1], label="median"
        )
        axes.set(ylabel=names[k])
    panels[-1].set(xlabel="time t / s")
    panels[0].legend(title=f"{len(states)} trajectories", fontsize=7)
    return fig


def map_values(result: Result, c: Choice) -> tuple[np.ndarray, str]:
    """The value of every trajectory that a map shows (NaN: failed), and its name."""
    if c.value == "failed":
        return (~good(result)).astype(float), "share that failed"
    if c.value == "steps":
        return result.array("ode/steps").astype(float), "steps"
    if c.value == "time":
        return result.array("ode/time"), "last time / s"
    k = _components(result, c.components, [0])[0]
    return np.where(
        good(result), result.array("ode/final")[:, k], np.nan
    ), f"final {names_of(result)[k]}"


def means_on_grid(
    columns: list[np.ndarray], values: np.ndarray
) -> tuple[list[np.ndarray], np.ndarray]:
    """The sorted values of each parameter, and the mean of `values` (without NaN) at each pair."""
    ticks, places = zip(*(np.unique(col, return_inverse=True) for col in columns))
    shape = [len(t) for t in ticks]
    total, count = np.zeros(shape), np.zeros(shape)
    here = ~np.isnan(values)
    index = tuple(p[here] for p in places)
    np.add.at(total, index, values[here])
    np.add.at(count, index, 1)
    with np.errstate(invalid="ignore"):
        return list(ticks), total / count


def draw_map(result: Result, c: Choice) -> "Figure":
    """Two swept parameters as axes and the mean as colour; one: a dot a trajectory."""
    swept = [n for n in result.parameters("ode") if n in result.config.get("sweep", {})]
    if len(swept) not in (1, 2):
        raise Failure(
            INPUT, f"{result.path}: {len(swept)} swept parameters; a map is of one or two"
        )
    columns = [result.parameters("ode")[n] for n in swept]
    values, label = map_values(result, c)
    fig, (axes,) = figure.new()
    if len(swept) == 1:
        axes.plot(columns[0], values, ".", markersize=2, color=figure.COLOURS[0])
        axes.set(xlabel=swept[0], ylabel=label)
        return fig
    (x, y), z = means_on_grid(columns, values)
    axes.grid(False)
    mesh = axes.pcolormesh(x, y, z.T, shading="nearest")
    axes.set(xlabel=swept[0], ylabel=swept[1])
    fig.colorbar(mesh, ax=axes, label=label if c.value == "failed" else f"{label}, mean")
    for name, ticks, scale in ((swept[0], x, axes.set_xscale), (swept[1], y, axes.set_yscale)):
        if "geomspace" in result.config["sweep"][name] and ticks[0] > 0:
            scale("log")
    return fig


def draw_histogram(result: Result, c: Choice) -> "Figure":
    """The file's histograms of final states, from its minimum to its maximum."""
    names = names_of(result)
    chosen = _components(result, c.components, list(range(min(len(names), 4))))
    counts, low, high = (result.array(f"ode/{n}") for n in ("histogram", "minimum", "maximum"))
    if counts.size == 0 or counts.sum() == 0 or not np.isfinite([low, high]).all():
        raise Failure(INPUT, f"{result.path}: no trajectory ended well: nothing to draw")
    fig, panels = figure.new(rows=len(chosen), height=2.4)
    for axes, k in zip(panels, chosen):
        edges = np.linspace(low[k], high[k], counts.shape[1] + 1)
        axes.stairs(counts[k], edges, fill=True, color=figure.COLOURS[0])
        axes.set(xlabel=f"final {names[k]}", ylabel="trajectories")
    return fig


def _instants(result: Result) -> list[tuple[float, int | None]]:
    """The times of a coupled system's states: those saved, by number, and the last one."""
    now = float(result.array("ode/time")[0])
    saved = []
    if _has_saved(result):
        met = ~np.isnan(result.data["ode/saved"][:, 0])
        times = result.array("ode/save_at")
        saved = [(float(t), k) for k, t in enumerate(times) if met[k] and t != now]
    return [*saved, (now, None)]


def draw_field(result: Result, c: Choice) -> "Figure":
    """Fields over the points: lines at up to eight times, or, of a grid, the last state."""
    names = names_of(result)
    chosen = _components(result, c.components, list(range(min(len(names), 4))))
    if result.array("ode/final").ndim == 3:
        return _draw_grid(result, names, chosen)
    all_of, last = _instants(result), result.array("ode/final")
    kept = sorted({int(i) for i in np.linspace(0, len(all_of) - 1, TIMES).round()})
    fig, panels = figure.new(rows=len(chosen), height=2.6)
    for j, (t, number) in enumerate(all_of[i] for i in kept):
        state = last if number is None else result.array("ode/saved", [number]).reshape(last.shape)
        for axes, k in zip(panels, chosen):
            axes.plot(np.arange(len(state)), state[:, k], label=f"{t:.6g} s", **figure.style(j))
            axes.set(ylabel=names[k])
    panels[-1].set(xlabel="point i")
    panels[0].legend(title="time", fontsize=7)
    return fig


def _draw_grid(result: Result, names: list[str], chosen: list[int]) -> "Figure":
    t, last = float(result.array("ode/time")[0]), result.array("ode/final")
    fig, panels = figure.new(rows=len(chosen))
    for axes, k in zip(panels, chosen):
        image = axes.imshow(last[:, :, k], origin="lower", interpolation="nearest")
        axes.grid(False)
        axes.set(xlabel="point i", ylabel="line j", title=f"t = {t:.6g} s")
        fig.colorbar(image, ax=axes, label=names[k])
    return fig


def draw(result: Result, kind: str, c: Choice) -> "Figure":
    """A figure of `kind`."""
    if result.coupled != (kind == "field"):
        raise Failure(
            USAGE,
            f"--kind {kind}: {result.path} is of "
            + (
                "one coupled system; expected field"
                if result.coupled
                else "trajectories, and field is of a coupled system"
            ),
        )
    return {
        "field": draw_field,
        "phase": draw_phase,
        "series": draw_series,
        "fan": draw_fan,
        "map": draw_map,
        "histogram": draw_histogram,
    }[kind](result, c)
