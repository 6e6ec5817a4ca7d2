"""`plot compare`: where two results differ, in bits (ulp) and norms.

Doubles are mapped to integers in their order, both zeros to 0: the distance of two is how many
steps from one double to the next lie between them (ulp). "Differ" is said of bits: +0 and -0 differ
by 0 ulp; NaN equals NaN. Data sets are read in blocks. The first difference is the lowest index in
the file's order: of fields, the earliest time.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from . import figure
from .failure import INPUT, Failure
from .heat import grid_of
from .layout import FIELD
from .reading import Result, read_result

if TYPE_CHECKING:
    import h5py
    from matplotlib.figure import Figure

BLOCK = 1 << 20  # elements read at once
POINTS = 20000  # of a curve in the figure


@dataclass
class Difference:
    """Two data sets of one name. Norms: over elements finite in both; ulp: where neither is NaN."""

    name: str
    elements: int = 0
    count: int = 0  # that differ in bits
    note: str = ""  # why they were not compared
    first: tuple[int, ...] = ()
    first_values: tuple[float, float] = (0.0, 0.0)
    first_ulp: int = 0
    most_ulp: int = 0
    most: tuple[int, ...] = ()
    max_norm: float = 0.0
    sum_squares: float = 0.0
    sum_squares_a: float = 0.0
    where: str = ""  # the first difference in the problem's words
    curve: list[tuple[int, int, float]] = field(default_factory=list)  # flat index, ulp, |a - b|


def ulp_distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Steps between doubles, as uint64."""

    def ordered(x: np.ndarray) -> np.ndarray:
        bits = np.ascontiguousarray(x, dtype="<f8").view(np.int64)
        return np.where(bits < 0, np.int64(-(2**63)) - bits, bits)

    p, q = ordered(a), ordered(b)
    return np.where(
        p > q, p.view(np.uint64) - q.view(np.uint64), q.view(np.uint64) - p.view(np.uint64)
    )


def _blocks(a: "h5py.Dataset", b: "h5py.Dataset") -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Flat pieces of both, and where they begin; leading indices singly while rows are large."""
    shape, lead = a.shape, 0
    while lead < len(shape) - 1 and int(np.prod(shape[lead + 1 :])) > BLOCK:
        lead += 1
    rest = int(np.prod(shape[lead + 1 :])) if shape else 1
    rows = max(1, BLOCK // max(rest, 1))
    flat = 0
    for index in itertools.product(*(range(n) for n in shape[:lead])):
        for k in range(0, shape[lead] if shape else 1, rows):
            piece = (*index, slice(k, k + rows)) if shape else ()
            x, y = np.ravel(a[piece]), np.ravel(b[piece])
            yield flat, x, y
            flat += len(x)


def _block(d: Difference, flat: int, a: np.ndarray, b: np.ndarray, shape: tuple[int, ...]) -> None:
    same = a.view(f"u{a.itemsize}") == b.view(f"u{b.itemsize}")
    if a.dtype.kind != "f":
        a, b = a.astype(np.float64), b.astype(np.float64)
    same |= np.isnan(a) & np.isnan(b)
    finite = np.isfinite(a) & np.isfinite(b)
    d.sum_squares_a += float(np.sum(np.square(a[finite], dtype=np.float64)))
    at = np.flatnonzero(~same)
    if len(at) == 0:
        return
    x, y = a[at].astype(np.float64), b[at].astype(np.float64)
    ulp = np.where(np.isnan(x) | np.isnan(y), np.uint64(0), ulp_distance(x, y))
    if d.count == 0:
        d.first = tuple(int(i) for i in np.unravel_index(flat + int(at[0]), shape))
        d.first_values, d.first_ulp = (float(x[0]), float(y[0])), int(ulp[0])
    if int(ulp.max()) > d.most_ulp or d.count == 0:
        d.most_ulp = int(ulp.max())
        d.most = tuple(int(i) for i in np.unravel_index(flat + int(at[ulp.argmax()]), shape))
    d.count += len(at)
    gap = np.abs(x - y)
    known = np.isfinite(gap)
    if known.any():
        d.max_norm = max(d.max_norm, float(gap[known].max()))
        d.sum_squares += float(np.sum(np.square(gap[known])))
    if len(d.curve) < POINTS:
        for i, u, g in zip(at[:POINTS], ulp[:POINTS], gap[:POINTS]):
            d.curve.append((flat + int(i), int(u), float(g)))


def _where_coupled(result: Result, d: Difference) -> str:
    """Of one coupled system: time, point and field."""
    time, place, shape = "", d.first, result.data["ode/final"].shape
    if d.name == "ode/saved":
        time = f"t = {result.array('ode/save_at')[d.first[0]]:.6g} s, "
        place = tuple(int(i) for i in np.unravel_index(d.first[1], shape))
    elif d.name != "ode/final":
        return ""
    names = result.component_names
    field = names[place[-1]] if len(names) == shape[-1] else f"field {place[-1]}"
    point = ", ".join(f"{a} = {i}" for a, i in zip("ij", reversed(place[:-1])))
    return f"{time}{point}, {field}"


def _where(result: Result, d: Difference) -> str:
    """The first difference in the problem's words."""
    if d.name == FIELD:
        origin, spacing = grid_of(result)
        t = result.array("VTKHDF/Steps/Values")[d.first[0]]
        places = [
            f"{a} = {origin[k] + spacing[k] * i:.6g} m"
            for k, (a, i) in enumerate(zip("xyz", reversed(d.first[1:])))
        ]
        return f"t = {t:.6g} s, " + ", ".join(places)
    if result.coupled:
        return _where_coupled(result, d)
    if d.name == "ode/saved":
        t = result.array("ode/save_at")[d.first[1]]
        return f"trajectory {d.first[0]}, t = {t:.6g} s, component {d.first[2]}"
    if d.name in ("ode/final", "ode/steps", "ode/time", "ode/status", "ode/rejected"):
        return f"trajectory {d.first[0]}"
    return f"member {d.first[0]}" if d.name.startswith("quad/members/") else ""


def compare(path_a: str, path_b: str) -> list[Difference]:
    """All data sets of two results of one command, in the file's order."""
    a, b = read_result(path_a), read_result(path_b)
    if a.command != b.command:
        raise Failure(
            INPUT, f"{path_a} is of `{a.command}`, {path_b} of `{b.command}`: nothing to compare"
        )
    out = []
    for name in list(a.data) + [n for n in b.data if n not in a.data]:
        d = Difference(name)
        out.append(d)
        if name not in a.data or name not in b.data:
            d.note = f"only in {path_a if name in a.data else path_b}"
            continue
        x, y = a.data[name], b.data[name]
        if x.shape != y.shape:
            d.note = f"shapes {x.shape} and {y.shape}"
        elif x.dtype != y.dtype or x.dtype.kind not in "fiu":
            d.note = f"types {x.dtype} and {y.dtype}"
        else:
            d.elements = int(x.size)
            for flat, p, q in _blocks(x, y):
                _block(d, flat, p, q, x.shape or (1,))
            if d.count:
                d.where = _where(a, d)
    return out


def words(differences: list[Difference]) -> list[str]:
    """The text: one line whether they are equal, then a paragraph for each difference."""
    wrong = [d for d in differences if d.count or d.note]
    total = sum(d.elements for d in differences)
    if not wrong:
        return [f"equal: {len(differences)} data sets, {total} elements, in every bit"]
    lines = [f"differ: {len(wrong)} of {len(differences)} data sets"]
    for d in wrong:
        if d.note:
            lines.append(f"/{d.name}: not compared: {d.note}")
            continue
        relative = (
            f", relative {np.sqrt(d.sum_squares / d.sum_squares_a):.3e}"
            if d.sum_squares_a > 0
            else ""
        )
        where = f" ({d.where})" if d.where else ""
        lines += [
            f"/{d.name}: {d.count} of {d.elements} elements differ",
            f"  first at {list(d.first)}{where}: {d.first_values[0]:.17g} and "
            f"{d.first_values[1]:.17g}, {d.first_ulp} ulp",
            f"  most  at {list(d.most)}: {d.most_ulp} ulp",
            f"  max norm {d.max_norm:.3e}, 2-norm {np.sqrt(d.sum_squares):.3e}{relative}",
        ]
    return lines


def draw(differences: list[Difference]) -> "Figure":
    """|a - b| and ulp of elements that differ (20000 of each set) over their place in the file."""
    shown = [d for d in differences if d.count]
    if not shown:
        raise Failure(INPUT, "no elements differ: nothing to draw")
    fig, (above, below) = figure.new(rows=2, height=3.2)
    for k, d in enumerate(shown):
        at, ulp, gap = (np.array(c, dtype=float) for c in zip(*d.curve))
        look = {
            "color": figure.style(k)["color"],
            "marker": "os^vD<>"[k % 7],
            "linestyle": "",
            "markersize": 3,
        }
        above.plot(at, np.where(gap > 0, gap, np.nan), label=f"/{d.name}", **look)
        below.plot(at, ulp, **look)
    above.set(ylabel="|a − b|", yscale="log")
    below.set(
        ylabel="distance / ulp",
        xlabel="element, in the order of the file",
        yscale="symlog" if any(u == 0 for d in shown for _, u, _ in d.curve) else "log",
    )
    above.legend(fontsize=7)
    return fig
