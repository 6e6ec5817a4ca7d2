"""What all figures share: colours, sizes, and the file at the end.

Colours are Okabe and Ito's (2008) but for the yellow, told apart by colour-blind eyes; lines differ
in their dashes too. Fields are drawn in viridis and its like: lightness grows with the value.
Figures are drawn headless (Agg). A file is replaced only if a figure of halosweep stands there, or
with --force.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .failure import IO, USAGE, Failure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#777777")
DASHES = ("-", "--", "-.", ":")
MARK = "halosweep figure"  # in every file we write: how we know our own
ENDINGS = (".png", ".pdf", ".svg", ".gif")
FIELD_MAP = "viridis"


@dataclass
class Target:
    """Where a figure goes."""

    path: str
    force: bool


def new(
    columns: int = 1, rows: int = 1, width: float = 7.0, height: float = 4.6
) -> tuple["Figure", list["Axes"]]:
    """A figure and its axes, a row after the other; sizes in inches of one panel."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update(
        {
            "axes.prop_cycle": plt.cycler(color=COLOURS),
            "axes.grid": True,
            "grid.alpha": 0.3,
            "image.cmap": FIELD_MAP,
            "font.size": 9,
            "svg.fonttype": "none",
            "svg.hashsalt": MARK,
        }
    )
    figure, axes = plt.subplots(
        rows,
        columns,
        figsize=(width * columns, height * rows),
        squeeze=False,
        constrained_layout=True,
    )
    return figure, list(axes.flat)


def style(k: int) -> dict[str, object]:
    """Colour and dashes of the k-th line."""
    return {"color": COLOURS[k % len(COLOURS)], "linestyle": DASHES[(k // len(COLOURS) + k) % 4]}


def label(text: str) -> str:
    """A name of the user's for legends: no mathematics in it, not hidden, whatever its bytes."""
    shown = text.encode("utf-8", "backslashreplace").decode().replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown


def _is_ours(path: str) -> bool:
    with open(path, "rb") as f:
        return MARK.encode() in f.read()


def check_target(target: Target, inputs: Sequence[str], still: bool = True) -> None:
    """Everything that can be wrong with the output, before the work."""
    path = target.path
    ending = os.path.splitext(path)[1].lower()
    if ending not in ENDINGS:
        raise Failure(USAGE, f"--output {path}: expected a name that ends in {', '.join(ENDINGS)}")
    if still and ending == ".gif":
        raise Failure(USAGE, f"--output {path}: .gif is for `plot heat`, which has times to show")
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder) or not os.access(folder, os.W_OK):
        raise Failure(IO, f"--output {path}: the folder {folder} cannot be written to")
    if not os.path.exists(path):
        return
    for other in inputs:
        if os.path.exists(other) and os.path.samefile(path, other):
            raise Failure(USAGE, f"--output {path} is an input")
    if not os.path.isfile(path):
        raise Failure(USAGE, f"--output {path}: not a plain file")
    if not target.force and not _is_ours(path):
        raise Failure(USAGE, f"{path} exists, and is no figure of halosweep: --force replaces it")


def temporary(path: str) -> str:
    """The name a file has until it is complete."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{os.getpid()}.{name}")


def save(figure: "Figure", target: Target) -> None:
    """Writes the figure, atomically, with our mark and no date."""
    import matplotlib.pyplot as plt

    ending = os.path.splitext(target.path)[1].lower()
    mark = {
        ".png": {"Software": MARK},
        ".pdf": {"Creator": MARK, "CreationDate": None},
        ".svg": {"Creator": MARK, "Date": None},
    }[ending]
    part = temporary(target.path)
    try:
        figure.savefig(part, dpi=150, format=ending[1:], metadata=mark)
        os.replace(part, target.path)
    finally:
        if os.path.exists(part):
            os.remove(part)
        plt.close(figure)
