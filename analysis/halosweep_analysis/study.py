"""What a scaling study runs: an INI for each rank count, with fixed work, from the user's one.

Outputs, histories, checkpoints, limits and what the grid sets (ranks, threads, backend) are left
out, input files get absolute names. `solve` gets `iterations`, `heat` `steps`; the others do the
same work anyway, for the result has the same bits on any grid. weak: on P ranks the last entry of
`n` (of `ode` without one: `trajectories`) is P times that of the file; `heat` keeps its spacing,
and with it a stable `dt`: the last `length` grows along.
"""

from __future__ import annotations

import ast
import math
import operator
import os
from dataclasses import dataclass
from typing import Callable

from . import config as ini
from .config import Config
from .failure import USAGE, Failure

DROPPED = {
    "run": (
        "output",
        "report",
        "history",
        "ranks",
        "threads",
        "backend",
        "progress",
        "quiet",
        "time_limit",
        "dry_run",
    ),
    "heat": ("save_every", "save_at", "probe"),
    "ode": ("save_at",),
    "checkpoint": None,
}
ITERATIONS = 100
OPERATORS: dict[type, Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
GRIDS = ("reaction-diffusion",)  # coupled systems of two directions, whose n may be one number
SAMPLING = ("sobol", "monte-carlo")


@dataclass
class Study:
    """A file and what is to be made of it."""

    name: str
    mode: str  # strong or weak
    command: str
    base: Config
    iterations: int | None
    steps: int | None


def number(text: str, where: str) -> float:
    """The value of a number as halosweep's configs write them: pi, arithmetic."""

    def value(node: ast.AST) -> float:
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return node.value
        if isinstance(node, ast.Name) and node.id == "pi":
            return math.pi
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.UnaryOp) and type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](value(node.operand))
        raise ValueError

    try:
        return value(ast.parse(text.strip().replace("^", "**"), mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, OverflowError):
        raise Failure(USAGE, f"{where} = {text}: not a number") from None


def _numbers(keys: dict[str, str], key: str, default: str, where: str) -> list[float]:
    return [number(v, f"{where}.{key}") for v in ini.split_list(keys.get(key, default))]


def prepare(
    path: str, mode: str, command: str | None, iterations: int | None, steps: int | None
) -> Study:
    """The study of the file `path`."""
    config = ini.read(path)
    command = ini.command_of(config, command, path)
    config = ini.with_absolute_paths(config, os.path.dirname(os.path.abspath(path)))
    base: Config = {}
    for section, keys in config.items():
        drop = DROPPED.get(section, ())
        if drop is not None:
            base[section] = {k: v for k, v in keys.items() if k not in drop}
    own = base.setdefault(command, {})
    if command == "solve" and own.get("method") != "direct":
        own["iterations"] = str(iterations or own.get("iterations") or ITERATIONS)
    if command == "heat" and steps is not None:
        own.pop("t_end", None)
        own["steps"] = str(steps)
    study = Study(path, mode, command, base, iterations, steps)
    if mode == "weak":
        config_on(study, 2)  # what cannot grow is said now
    return study


def _grow_n(own: dict[str, str], dims: int, factor: int, where: str) -> tuple[int, int]:
    """Multiplies the last of `dims` entries of n; the old and the new one."""
    if not own.get("n"):
        raise Failure(USAGE, f"--weak multiplies the last entry of {where}.n, which is not set")
    n = [int(v) for v in _numbers(own, "n", "", where)]
    n = n * dims if len(n) == 1 else n
    old, n[-1] = n[-1], n[-1] * factor
    own["n"] = ", ".join(str(v) for v in n)
    return old, n[-1]


def _grow_heat(own: dict[str, str], factor: int) -> None:
    length = _numbers(own, "length", "1", "heat")
    dims = max(
        len(ini.split_list(own.get("n", ""))),
        len(length),
        len(ini.split_list(own.get("origin", "0"))),
        int(number(own.get("dims", "1"), "heat.dims")),
    )
    old, new = _grow_n(own, dims, factor, "heat")
    last = "xyz"[dims - 1]
    face = own.get(f"boundary_{last}min", own.get("boundary", ""))
    length = length * dims if len(length) == 1 else length
    length[-1] *= factor if face.startswith("periodic") else (new - 1) / max(old - 1, 1)
    own["length"] = ", ".join(repr(v) for v in length)


def config_on(study: Study, ranks: int) -> Config:
    """The config of the study's point on so many ranks."""
    out = {section: dict(keys) for section, keys in study.base.items()}
    own, name, command = out[study.command], study.name, study.command
    if study.mode == "strong":
        return out
    if command == "solve":
        if "matrix" in own or "problem" not in own:
            raise Failure(
                USAGE,
                f"{name}: --weak needs a `problem` that can grow; a matrix file cannot "
                "(--strong takes it)",
            )
        shape = own["problem"][-2:]
        _grow_n(own, int(shape[0]) if shape in ("1d", "2d", "3d") else 1, ranks, "solve")
    elif command == "heat":
        if "steps" not in own:
            raise Failure(
                USAGE,
                f"{name}: --weak needs the same number of steps at every size: --steps N "
                "(it replaces t_end)",
            )
        _grow_heat(own, ranks)
    elif command == "quad":
        if "n" not in own:
            raise Failure(
                USAGE,
                f"{name}: --weak needs `n`: without it the work is what the tolerance asks for",
            )
        dims = max(
            len(ini.split_list(own.get("lower", "0"))),
            int(number(own.get("dims", "1"), "quad.dims")),
        )
        if dims > 1 and own.get("rule") not in SAMPLING:
            raise Failure(
                USAGE,
                f"{name}: --weak of {dims} directions needs a sampling rule: `n` is one "
                "number for all directions, and the work would grow like its power",
            )
        _grow_n(own, 1, ranks, "quad")
    elif "n" in own:
        dims = 2 if own.get("system") in GRIDS else len(ini.split_list(own["n"]))
        _grow_n(own, dims, ranks, "ode")
    else:
        count = int(number(own.get("trajectories", "1"), "ode.trajectories"))
        own["trajectories"] = str(count * ranks)
    return out
