#!/usr/bin/env bash
# Cases 106 and 107 as Python sees them. Skipped where Debian's Python has no h5py (tests/io/field.c
# looks at the same with HDF5 itself).
set -eu
python=/usr/bin/python3
"$python" -c "import h5py" 2> /dev/null || { echo "skipped: no python3-h5py here"; exit 77; }
folder=$(mktemp -d field-h5py-XXXXXX)
trap 'rm -r "$folder"' EXIT
"${MPIEXEC:-mpirun}" -n 2 "$HALOSWEEP_TESTS/test_io_field" write "$folder/run.vtkhdf"
"$python" - "$folder/run.vtkhdf" << 'END'
import sys
import h5py
import numpy

with h5py.File(sys.argv[1], "r") as f:
    g, u = f["VTKHDF"], f["VTKHDF/PointData/u"]
    assert g.attrs["Type"] == b"ImageData", g.attrs["Type"]
    assert list(g.attrs["Version"]) == [2, 0]
    assert u.shape == (3, 2, 3, 4) and u.dtype == numpy.dtype("<f8") and u.chunks is None
    assert list(g.attrs["WholeExtent"]) == [0, 3, 0, 2, 0, 1]
    assert list(g.attrs["Origin"]) == [0.5, -1.0, 2.0]
    assert list(g.attrs["Spacing"]) == [0.25, 0.125, 0.0625]
    assert list(g.attrs["Direction"]) == [1, 0, 0, 0, 1, 0, 0, 0, 1]
    assert g["Steps"].attrs["NSteps"] == 3 and g["Steps"].attrs["NSteps"].shape == ()
    assert list(g["Steps/Values"]) == [0.0, 0.1, 0.30000000000000004]
    assert list(g["Steps/PointDataOffsets/u"]) == [0, 1, 2]
    assert [u[t, 1, 2, 3] for t in range(3)] == [123.0, 1123.0, 2123.0]
    assert f.attrs["format"] == "halosweep result 1"
END
