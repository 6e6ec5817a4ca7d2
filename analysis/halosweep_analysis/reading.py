"""Reading halosweep's files: results (HDF5), reports (JSON), histories (CSV).

A `Result` keeps its HDF5 file open and hands out data sets, so that a field of any size is read by
the piece. Layout and units: docs/file-formats.md.
"""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .config import Config, parse
from .failure import INPUT, Failure
from .layout import trouble

if TYPE_CHECKING:
    import h5py
    import numpy as np

Report = dict[str, Any]
HEAT_COLUMNS = ("total_heat", "minimum", "maximum", "mean")


@dataclass
class Result:
    """An open result file."""

    path: str
    command: str  # solve, heat, quad, ode
    fingerprint: str
    report: Report
    config: Config
    file: "h5py.File"
    data: dict[str, "h5py.Dataset"] = field(default_factory=dict)  # by path, without the first /
    status_names: tuple[str, ...] = ()
    component_names: tuple[str, ...] = ()

    @property
    def coupled(self) -> bool:
        """Of one large system of `ode`, not of trajectories."""
        return self.command == "ode" and "points" in self.report

    def array(self, name: str, rows: list[int] | None = None) -> "np.ndarray":
        """The data set `name`, or rows of it; a failure that names the file where there is none."""
        import numpy as np

        if name not in self.data:
            raise Failure(INPUT, f"{self.path} has no /{name}: nothing to draw")
        try:
            data = self.data[name]
            return data[()] if rows is None else np.stack([data[k] for k in rows])
        except OSError as e:
            raise Failure(INPUT, f"{self.path}: /{name} cannot be read: {e}") from None

    def parameters(self, group: str) -> dict[str, "np.ndarray"]:
        """The swept parameters of `ode` or `quad/members`, by name, a value a member."""
        head = f"{group}/parameters/"
        names = [n[len(head) :] for n in self.data if n.startswith(head)]
        order = list(self.config.get("sweep", {})) + list(self.config.get("sample", {}))
        names.sort(key=lambda n: order.index(n) if n in order else len(order))
        values = {n: self.array(head + n) for n in names}
        for n, v in values.items():
            if v.dtype.kind == "f" and not (abs(v) < float("inf")).all():
                raise Failure(INPUT, f"{self.path}: /{head}{n} is damaged: not all of it is finite")
        return values


@dataclass
class History:
    """The columns of a history, by name; NaN where a field is empty."""

    path: str
    columns: dict[str, "np.ndarray"]

    @property
    def of_heat(self) -> bool:
        """A row a saved time (heat), not an iteration (solve)."""
        return "time" in self.columns


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def read_result(path: str, command: str | None = None) -> Result:
    """Opens a result of halosweep; of `command` if one is given."""
    try:
        result = _open(path, command)
        wrong = trouble(result.data, result.coupled)
    except (KeyError, RuntimeError, OSError, TypeError, ValueError) as e:  # h5py's: damaged files
        raise Failure(INPUT, f"{path} is damaged: {e}") from None
    if wrong:
        raise Failure(INPUT, f"{path}: {wrong}: not as halosweep writes it")
    return result


def _open(path: str, command: str | None) -> Result:
    import h5py

    check_readable(path)
    try:
        file = h5py.File(path, "r")
    except OSError as e:
        if h5py.is_hdf5(path):
            raise Failure(INPUT, f"{path}: HDF5, but it cannot be opened: {e}") from None
        raise Failure(INPUT, f"{path}: not an HDF5 file, so not a result of halosweep") from None
    a = file.attrs
    if not _text(a.get("format", "")).startswith("halosweep result"):
        raise Failure(
            INPUT,
            f"{path}: HDF5, but not a result of halosweep (the root attribute "
            "`format` does not say `halosweep result`)",
        )
    found = _text(a.get("command", ""))
    if command is not None and found != command:
        raise Failure(INPUT, f"{path} is a result of `{found}`; expected one of `{command}`")
    try:
        report = json.loads(_text(a.get("report", "{}")))
    except json.JSONDecodeError as e:
        raise Failure(INPUT, f"{path}: its report is damaged: {e}") from None
    if not isinstance(report, dict):
        raise Failure(INPUT, f"{path}: its report is damaged: no JSON object")
    try:
        config = parse(_text(a.get("config", "")), path)
    except Failure as e:
        raise Failure(INPUT, f"its config is damaged: {e}") from None
    names = _text(a.get("status_names", ""))
    components = _text(a.get("component_names", ""))
    result = Result(
        path,
        found,
        _text(a.get("fingerprint", "")),
        report,
        config,
        file,
        status_names=tuple(names.split("|")) if names else (),
        component_names=tuple(components.split("|")) if components else (),
    )

    def keep(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            result.data[name] = item

    file.visititems(keep)
    return result


def read_report(path: str) -> Report:
    """A report: a JSON file, or the one inside a result file."""
    check_readable(path)
    with open(path, "rb") as f:
        if f.read(8) == b"\x89HDF\r\n\x1a\n":
            return read_result(path).report
    try:
        report = json.loads(Path(path).read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as e:
        raise Failure(INPUT, f"{path}: not a report of halosweep: {e}") from None
    if not isinstance(report, dict) or report.get("program") != "halosweep":
        raise Failure(INPUT, f"{path}: JSON, but not a report of halosweep")
    return report


def read_history(path: str) -> History:
    """A history of `solve` or `heat`."""
    import numpy as np

    check_readable(path)
    try:
        with open(path, newline="", encoding="utf-8") as f:
            rows = list(csv.reader(f))
    except (UnicodeDecodeError, csv.Error):
        rows = []
    names = rows[0] if rows else []
    if names[:2] != ["iteration", "residual"] and names[:2] != ["step", "time"]:
        raise Failure(
            INPUT,
            f"{path}: not a history of halosweep: expected a first line "
            "`iteration,residual,...` or `step,time,...`",
        )
    lacks = [n for n in HEAT_COLUMNS if names[1] == "time" and n not in names]
    if lacks:
        raise Failure(INPUT, f"{path}: a history of heat without {', '.join(lacks)}")
    columns = np.full((len(rows) - 1, len(names)), np.nan)
    for k, row in enumerate(rows[1:]):
        if len(row) != len(names):
            raise Failure(INPUT, f"{path}:{k + 2}: {len(row)} fields, expected {len(names)}")
        for j, word in enumerate(row):
            try:
                columns[k, j] = float(word) if word else np.nan
            except ValueError:
                raise Failure(INPUT, f"{path}:{k + 2}: '{word}' is no number") from None
            if columns[k, j] < 0 and names[j] in ("residual", "true_residual"):
                raise Failure(INPUT, f"{path}:{k + 2}: '{word}' is no residual: below 0")
    return History(path, {name: columns[:, j] for j, name in enumerate(names)})


def check_readable(path: str) -> None:
    """A plain file that can be opened, or a failure with the reason."""
    try:
        with open(path, "rb"):
            pass
    except OSError as e:
        raise Failure(INPUT, f"{path}: cannot be read: {e.strerror}") from None
