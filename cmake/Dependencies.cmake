# What halosweep stands on; docs/handbook.md says what each is for.
set(CMAKE_THREAD_PREFER_PTHREAD ON)
find_package(MPI 3 REQUIRED COMPONENTS C)
find_package(OpenMP REQUIRED COMPONENTS C)
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)

set(HDF5_PREFER_PARALLEL ON)
find_package(HDF5 REQUIRED COMPONENTS C)
if(NOT HDF5_IS_PARALLEL)
  message(FATAL_ERROR
    "The HDF5 found (${HDF5_C_INCLUDE_DIRS}) is a serial build; halosweep writes with all ranks at once.\n"
    "Install a parallel one (Debian, Ubuntu: apt-get install libhdf5-openmpi-dev; clusters: module load hdf5-parallel or\n"
    "similar), or point to one with -DHDF5_ROOT=DIR.")
endif()

if(HALOSWEEP_TESTS)
  pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
  find_library(MPFR_LIBRARY mpfr)
  find_path(MPFR_INCLUDE_DIR mpfr.h)
endif()
