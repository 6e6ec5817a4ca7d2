#!/usr/bin/env bash
# Saved times as VTK reads them (9.3 or later, as in ParaView 5.12): times, grid, the value at each
# point. HALOSWEEP_VTK_PYTHON names a Python with the package vtk; skipped where there is none.
set -eu
python=${HALOSWEEP_VTK_PYTHON:-python3}
"$python" - 2> /dev/null << 'END' || { echo "skipped: $python has no vtk of 9.3 or later"; exit 77; }
from vtkmodules.vtkCommonCore import vtkVersion
version = vtkVersion()
raise SystemExit((version.GetVTKMajorVersion(), version.GetVTKMinorVersion()) < (9, 3))
END
folder=$(mktemp -d viz-vtk-XXXXXX)
trap 'rm -r "$folder"' EXIT
"${MPIEXEC:-mpirun}" -n 2 "$HALOSWEEP_TESTS/test_io_field" write "$folder/run.vtkhdf"
"$HALOSWEEP" heat --n 5,3 --length 4,1 --initial "x + 10*y" --boundary "dirichlet(initial)" --dt 0.01 --steps 4 \
  --save_every 2 --output "$folder/sheet.vtkhdf" --quiet > /dev/null
"$python" - "$folder/run.vtkhdf" "$folder/sheet.vtkhdf" << 'END'
import sys
from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline as pipeline
from vtkmodules.vtkIOHDF import vtkHDFReader


def read(name, times):
    reader = vtkHDFReader()
    assert reader.CanReadFile(name)
    reader.SetFileName(name)
    reader.UpdateInformation()
    found = reader.GetOutputInformation(0).Get(pipeline.TIME_STEPS())
    assert list(found) == times, found
    for time in times:
        reader.UpdateTimeStep(time)
        yield reader.GetOutputDataObject(0)


def value(image, i, j, k):
    return image.GetPointData().GetArray("u").GetValue(image.ComputePointId([i, j, k]))


for t, image in enumerate(read(sys.argv[1], [0.0, 0.1, 0.30000000000000004])):
    assert image.GetClassName() == "vtkImageData"
    assert image.GetDimensions() == (4, 3, 2)
    assert image.GetOrigin() == (0.5, -1.0, 2.0)
    assert image.GetSpacing() == (0.25, 0.125, 0.0625)
    for i in range(4):
        for j in range(3):
            for k in range(2):
                assert value(image, i, j, k) == i + 10 * j + 100 * k + 1000 * t

# x to the right with 5 points, y up with 3: a plane, which the equation leaves as it is
for image in read(sys.argv[2], [0.0, 0.02, 0.04]):
    assert image.GetDimensions() == (5, 3, 1)
    assert image.GetSpacing()[:2] == (1.0, 0.5)
    assert abs(value(image, 3, 1, 0) - 8.0) < 1e-12
    assert value(image, 4, 2, 0) == 14.0
END
