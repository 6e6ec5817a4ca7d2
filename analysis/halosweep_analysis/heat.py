"""`plot heat`: fields of run.vtkhdf as lines, cuts and maximum projections, at one time or all
(GIF).

A field is read plane by plane, and a cut reads no more than itself: files may be larger than
memory. u[t] has the axes (z, y, x), (y, x) or (x): slowest directions of one point are left out in
the file.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from . import figure
from .failure import INPUT, USAGE, Failure
from .layout import FIELD
from .reading import Result, read_result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINES = 8  # times in a figure of lines
FRAMES = 200  # of an animation
FRAME_MS = 120


@dataclass
class View:
    """What to show: the time, and which axis to cut (where) or to project."""

    time: str | None = None
    axis: str | None = None
    at: float | None = None
    max_over: str | None = None


@dataclass
class Run:
    """A file's fields, its saved times in s, and the coordinates of its axes in m, by name."""

    result: Result
    times: np.ndarray
    axes: tuple[str, ...]  # as the field's dimensions
    places: dict[str, np.ndarray]

    def read(self, t: int, index: tuple[object, ...]) -> np.ndarray:
        """A piece of the field at saved time t."""
        try:
            return np.asarray(self.result.data[FIELD][(t, *index)])
        except OSError as e:
            raise Failure(INPUT, f"{self.result.path}: /{FIELD} cannot be read: {e}") from None


def grid_of(result: Result) -> tuple[np.ndarray, np.ndarray]:
    """Origin and spacing of the field, x, y, z, in m."""
    grid = result.file["VTKHDF"].attrs
    try:
        origin, spacing = (np.array(grid[n], dtype=float) for n in ("Origin", "Spacing"))
    except (KeyError, ValueError, OSError):
        origin = spacing = np.array([])
    if origin.shape != (3,) or spacing.shape != (3,) or not np.isfinite([origin, spacing]).all():
        raise Failure(INPUT, f"{result.path}: /VTKHDF lacks Origin or Spacing: three numbers each")
    return origin, spacing


def open_run(path: str) -> Run:
    """The fields in run.vtkhdf."""
    result = read_result(path, "heat")
    if FIELD not in result.data or 0 in result.data[FIELD].shape:
        raise Failure(INPUT, f"{path} has no saved fields: nothing to draw")
    origin, spacing = grid_of(result)
    shape = result.data[FIELD].shape[1:]
    axes = ("z", "y", "x")[3 - len(shape) :]
    places = {
        a: origin["xyz".index(a)] + spacing["xyz".index(a)] * np.arange(n)
        for a, n in zip(axes, shape)
    }
    return Run(result, result.array("VTKHDF/Steps/Values"), axes, places)


def time_index(run: Run, text: str | None) -> int:
    """The saved time meant by --time: nearest to a number, or first, last."""
    if text in (None, "last"):
        return len(run.times) - 1
    if text == "first":
        return 0
    try:
        return int(np.abs(run.times - float(text or "")).argmin())
    except ValueError:
        raise Failure(USAGE, f"--time {text}: expected seconds, first or last") from None


def settle(run: Run, view: View) -> View:
    """The view with its defaults: a cut across the middle of z in 3-D, all of it below."""
    cut, over = view.axis, view.max_over
    if cut and over:
        raise Failure(USAGE, "--axis cuts, --max-over projects: expected one of them")
    if not cut and not over and (len(run.axes) == 3 or view.at is not None):
        cut = run.axes[0]
    for name, option in ((cut, "--axis"), (over, "--max-over")):
        if name is not None and (name not in run.axes or len(run.axes) == 1):
            raise Failure(
                USAGE,
                f"{option} {name}: this field has {len(run.axes)} axes, {', '.join(run.axes)}",
            )
    at = view.at
    if cut is not None:
        places = run.places[cut]
        at = float(places[np.abs(places - at).argmin() if at is not None else len(places) // 2])
    return View(view.time, cut, at, over)


def shown(run: Run, view: View, t: int) -> tuple[np.ndarray, tuple[str, ...]]:
    """What a settled view shows at time t, and the names of its axes."""
    if view.max_over is not None:
        k = run.axes.index(view.max_over)
        planes = (run.read(t, (i,)) for i in range(len(run.places[run.axes[0]])))
        if k == 0:
            field = next(planes)
            for plane in planes:
                field = np.maximum(field, plane)
        else:
            field = np.stack([plane.max(axis=k - 1) for plane in planes])
        return field, run.axes[:k] + run.axes[k + 1 :]
    if view.axis is not None:
        k = run.axes.index(view.axis)
        index: list[object] = [slice(None)] * len(run.axes)
        index[k] = int(np.abs(run.places[view.axis] - view.at).argmin())
        return run.read(t, tuple(index)), run.axes[:k] + run.axes[k + 1 :]
    return run.read(t, ()), run.axes


def _title(run: Run, view: View, t: int | None) -> str:
    words = [] if t is None else [f"t = {run.times[t]:.6g} s"]
    if view.axis is not None:
        words.append(f"{view.axis} = {view.at:.6g} m")
    if view.max_over is not None:
        words.append(f"maximum over {view.max_over}")
    return ", ".join(words)


def _image(
    axes: "Axes",
    run: Run,
    field: np.ndarray,
    names: tuple[str, ...],
    limits: tuple[float, float] | None = None,
) -> None:
    extent = []
    for name in (names[1], names[0]):
        places = run.places[name]
        half = (places[1] - places[0]) / 2 if len(places) > 1 else 0.5
        extent += [places[0] - half, places[-1] + half]
    width, height = extent[1] - extent[0], extent[3] - extent[2]
    low, high = limits or (None, None)
    image = axes.imshow(
        field,
        origin="lower",
        extent=extent,
        vmin=low,
        vmax=high,
        interpolation="nearest",
        aspect="equal" if 0.2 < width / height < 5 else "auto",
    )
    axes.grid(False)
    axes.set(xlabel=f"{names[1]} / m", ylabel=f"{names[0]} / m")
    axes.figure.colorbar(image, ax=axes, label="temperature u / K")


def _lines(axes: "Axes", run: Run, view: View, times: list[int]) -> None:
    for k, t in enumerate(times):
        field, (name,) = shown(run, view, t)
        axes.plot(run.places[name], field, label=f"{run.times[t]:.6g} s", **figure.style(k))
    axes.set(xlabel=f"{name} / m", ylabel="temperature u / K")
    axes.legend(title="time", fontsize=7)


def draw(path: str, view: View) -> "Figure":
    """The view at one time; lines at up to eight, unless one is asked for."""
    run = open_run(path)
    t = time_index(run, view.time)
    view = settle(run, view)
    fig, (axes,) = figure.new()
    field, names = shown(run, view, t)
    if len(names) == 2:
        _image(axes, run, field, names)
        axes.set_title(_title(run, view, t))
        return fig
    if view.time is not None:
        times = [t]
    else:
        times = sorted({int(i) for i in np.linspace(0, len(run.times) - 1, LINES).round()})
    _lines(axes, run, view, times)
    axes.set_title(_title(run, view, None))
    return fig


def _limits(run: Run, view: View, times: list[int]) -> tuple[float, float]:
    """The least and the greatest finite value at these times; 0 and 1 where there is none."""
    low, high = np.inf, -np.inf
    for t in times:
        field = shown(run, view, t)[0]
        finite = field[np.isfinite(field)]
        if finite.size:
            low, high = min(low, float(finite.min())), max(high, float(finite.max()))
    return (low, high) if low <= high else (0.0, 1.0)


def write_gif(path: str, view: View, target: figure.Target) -> int:
    """A frame a saved time (200 at most, evenly), all on one scale; the number of frames."""
    from PIL import Image

    run = open_run(path)
    view = settle(run, view)
    times = sorted({int(i) for i in np.linspace(0, len(run.times) - 1, FRAMES).round()})
    limits = _limits(run, view, times)
    frames = []
    import matplotlib.pyplot as plt

    for t in times:
        fig, (axes,) = figure.new()
        field, names = shown(run, view, t)
        if len(names) == 2:
            _image(axes, run, field, names, limits)
        else:
            axes.plot(run.places[names[0]], field, **figure.style(0))
            margin = 0.02 * (limits[1] - limits[0]) or 1.0
            axes.set(
                xlabel=f"{names[0]} / m",
                ylabel="temperature u / K",
                ylim=(limits[0] - margin, limits[1] + margin),
            )
        axes.set_title(_title(run, view, t))
        fig.canvas.draw()
        frames.append(Image.fromarray(np.asarray(fig.canvas.buffer_rgba())).convert("RGB"))
        plt.close(fig)
    part = figure.temporary(target.path)
    try:
        frames[0].save(
            part,
            format="GIF",
            save_all=True,
            append_images=frames[1:],
            duration=FRAME_MS,
            loop=0,
            comment=figure.MARK.encode(),
        )
        os.replace(part, target.path)
    finally:
        if os.path.exists(part):
            os.remove(part)
    return len(frames)
