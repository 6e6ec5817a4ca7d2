"""What a history of residuals shows: the rule behind `plot history`'s words.

With L_k = log10 of row k, n rows, the tail = the last quarter of them (10 rows at least), an eighth
= n/8:

- diverging: a row is not finite; or the median of the last eighth lies a decade or more above the
  lowest row, which stands before it, and of the rows from the lowest on (three at least) the second
  half has both its highest and its lowest row above those of the first half (by more than 0.05):
  swings that return do not.
- the swing is how far L moves, in the tail, around its straight line (least squares);
- stalled: the best row of the tail is better than the best row before it by no more than a tenth of
  what the mean rate (all progress over all rows) would give over the tail, or a tenth of the swing;
- swinging: in the tail a quarter of the steps or more go up, and the swing is log10 2 or more.

diverging -> "diverging"; stalled and swinging -> "oscillating"; stalled -> "stagnating"; swinging
-> "converging, oscillating"; else "converging". Below 4 rows: "too short". A residual of 0 ends the
history.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

LEAST_ROWS = 4
TAIL_ROWS = 10
STALLED_SHARE = 0.1
SWING = float(np.log10(2.0))
RISING_SHARE = 0.25
DECADE = 1.0
NOT_LEVEL = 0.05


@dataclass
class Verdict:
    """What the rule says, and the numbers it says it from."""

    word: str
    rows: int
    first: float
    last: float
    best: float
    decades_per_row: float  # mean progress over the tail, by least squares; negative: grows


def slope(values: np.ndarray) -> float:
    """Of the least-squares line through values at 0, 1, 2, ..."""
    k = np.arange(len(values)) - (len(values) - 1) / 2
    return float(np.dot(k, values) / np.dot(k, k)) if len(values) > 1 else 0.0


def _diverging(level: np.ndarray) -> bool:
    eighth = max(1, len(level) // 8)
    lowest = int(level.argmin())
    since = level[lowest:]
    if len(since) < max(3, eighth + 1) or np.median(level[-eighth:]) < level[lowest] + DECADE:
        return False
    first, second = since[: len(since) // 2], since[len(since) // 2 :]
    return bool(second.max() > first.max() + NOT_LEVEL and second.min() > first.min() + NOT_LEVEL)


def _swing(tail: np.ndarray) -> float:
    line = slope(tail) * (np.arange(len(tail)) - (len(tail) - 1) / 2) + tail.mean()
    return float(np.ptp(tail - line))


def _stalled(level: np.ndarray, tail: int) -> bool:
    rate = (level[0] - level.min()) / (len(level) - 1)
    gain = level[:-tail].min() - level[-tail:].min()
    return bool(gain <= STALLED_SHARE * max(rate * tail, _swing(level[-tail:])))


def _swinging(tail: np.ndarray) -> bool:
    return bool(_swing(tail) >= SWING and np.mean(np.diff(tail) > 0) >= RISING_SHARE)


def classify(residual: np.ndarray) -> Verdict:
    """The verdict over a history's residuals, row 0 first."""
    r = np.asarray(residual, dtype=float)
    zero = np.flatnonzero(r == 0)
    if len(zero) > 0:
        r = r[: zero[0]]
    finite = r[np.isfinite(r)]
    first, last, best = (
        (float(finite[0]), float(r[-1]), float(finite.min())) if len(finite) else 3 * (np.nan,)
    )
    if len(zero) > 0:
        last = best = 0.0
    if len(finite) < len(r):
        return Verdict("diverging", len(r), first, last, best, np.nan)
    if len(r) < LEAST_ROWS:
        word = "converging" if len(zero) > 0 else "too short"
        return Verdict(word, len(r), first, last, best, np.nan)
    level = np.log10(r)
    tail = min(max(TAIL_ROWS, len(r) // 4), len(r) - 1)
    if _diverging(level):
        word = "diverging"
    elif len(zero) > 0:
        word = "converging"
    elif _stalled(level, tail):
        word = "oscillating" if _swinging(level[-tail:]) else "stagnating"
    else:
        word = "converging, oscillating" if _swinging(level[-tail:]) else "converging"
    return Verdict(word, len(r), first, last, best, -slope(level[-tail:]))
