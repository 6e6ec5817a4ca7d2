"""FOLDER MODE COMMAND POINTS: the files of a scaling study hold what its reports say."""

import csv
import json
import math
import pathlib
import statistics
import sys

import h5py
from PIL import Image

folder, mode, command, count = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
with open(folder / "scale.csv", encoding="utf-8") as f:
    rows = list(csv.DictReader(f))
assert len(rows) == count, rows
with h5py.File(folder / "scale.h5") as f:
    assert (f.attrs["mode"], f.attrs["command"]) == (mode, command)
    table = {name: f["scale"][name][:] for name in f["scale"] if name != "fits"}
    assert len(f["scale/fits/law"]) == len({r["backend"] for r in rows}), "a law for each series"
base: dict[str, tuple[float, float]] = {}
for k, row in enumerate(rows):
    for name, text in row.items():
        if name not in ("backend", "remarks"):
            assert float(table[name][k]) == float(text), (name, text)
    stem = f"r{row['ranks']}-t{row['threads']}-{row['backend']}"
    reports = [json.loads(p.read_text()) for p in sorted(folder.glob(f"{stem}-*.json"))]
    assert len(reports) == int(row["repeats"]) > 0, stem
    assert {(r["ranks"], r["exit_code"]) for r in reports} == {(int(row["ranks"]), 0)}
    assert len({r["fingerprint"] for r in reports}) == 1, "repeats of one point differ"
    times = [r["seconds"]["compute"] + r["seconds"]["communicate"] for r in reports]
    time = statistics.median_low(times)
    assert float(row["time"]) == time, (row["time"], times)
    work = float(row["work"])
    first = base.setdefault(row["backend"], (time, work))
    ideal = 1.0 if mode == "strong" else int(row["ranks"])
    assert work == ideal * first[1], (work, first)
    speedup = first[0] / time * ideal
    assert math.isclose(float(row["speedup"]), speedup, rel_tol=1e-12), row
    assert math.isclose(float(row["efficiency"]), speedup / int(row["ranks"]), rel_tol=1e-12), row
with Image.open(folder / "scale.png") as image:
    assert min(image.size) > 300
