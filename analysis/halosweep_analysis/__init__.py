"""Reads and draws what halosweep writes, and makes scaling studies with it.

    from halosweep_analysis.reading import read_result
    x = read_result("x.h5").data["solve/x"][:]

Needs numpy; h5py for result files; matplotlib for figures. Nothing here is needed to read a file:
they are plain HDF5, JSON and CSV (docs/file-formats.md).
"""
