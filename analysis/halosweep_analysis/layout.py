"""The shapes of the data sets in halosweep's result files: what a damaged or foreign file is told
apart by, before anything is made of it.

A letter an axis; axes of one letter have one length in a file (docs/file-formats.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import h5py

AXES = {
    "solve/x": "n",
    "VTKHDF/Steps/Values": "t",
    "ode/final": "nc",
    "ode/time": "n",
    "ode/status": "n",
    "ode/steps": "n",
    "ode/rejected": "n",
    "ode/saved": "nsc",
    "ode/save_at": "s",
    "ode/minimum": "c",
    "ode/maximum": "c",
    "ode/histogram": "cb",
    "quad/members/value": "n",
    "quad/members/error": "n",
    "quad/members/evaluations": "n",
    "quad/members/status": "n",
}
COUPLED = {  # of `ode` of one large system: final by (line, point, field)
    "ode/final": "lpf",
    "ode/time": "o",
    "ode/status": "o",
    "ode/steps": "o",
    "ode/rejected": "o",
    "ode/saved": "sc",
    "ode/save_at": "s",
}
PARAMETERS = ("ode/parameters/", "quad/members/parameters/")
FIELD = "VTKHDF/PointData/u"  # (t, z, y, x), (t, y, x), (t, x)


def axes_of(name: str, shape: tuple[int, ...], coupled: bool) -> str | None:
    """The letters of a data set's axes; None: any shape will do."""
    if coupled:
        axes = COUPLED.get(name)
        return axes[1:] if name == "ode/final" and len(shape) == 2 else axes
    if name.startswith(PARAMETERS):
        return "n"
    if name == FIELD:
        return "t" + "zyx"[max(0, 4 - len(shape)) :] if 2 <= len(shape) <= 4 else "tzyx"
    return AXES.get(name)


def trouble(data: dict[str, "h5py.Dataset"], coupled: bool) -> str:
    """What is wrong with the first data set that is not as halosweep writes it; empty: nothing.
    `coupled`: the file is of one large system of `ode`."""
    lengths: dict[str, tuple[int, str]] = {}
    for name, item in data.items():
        axes = axes_of(name, item.shape or (), coupled)
        if axes is None:
            continue
        if item.dtype.kind not in "fiu":
            return f"/{name} holds {item.dtype}; expected numbers"
        if item.shape is None or len(item.shape) != len(axes):
            return f"/{name} has the shape {item.shape}; expected {len(axes)} axes"
        for letter, length in zip(axes, item.shape):
            other = lengths.setdefault(letter, (length, name))
            if other[0] != length:
                return f"/{name} has the shape {item.shape}, which does not go with /{other[1]}"
    if coupled and {"ode/saved", "ode/final"} <= data.keys():
        if data["ode/saved"].shape[1] != data["ode/final"].size:
            return "/ode/saved has states of another size than /ode/final"
    return ""
