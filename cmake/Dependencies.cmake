# What halosweep stands on; docs/dependencies.md says what each is for.
set(CMAKE_THREAD_PREFER_PTHREAD ON)
find_package(MPI 3 REQUIRED COMPONENTS C)
find_package(OpenMP REQUIRED COMPONENTS C)
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)

set(HDF5_PREFER_PARALLEL ON)
find_package(HDF5 REQUIRED COMPONENTS C)
if(NOT HDF5_IS_PARALLEL)
  set(found ${HDF5_C_INCLUDE_DIRS})
  get_cmake_property(cached CACHE_VARIABLES) # so that the next configure looks again
  foreach(variable ${cached})
    if(variable MATCHES "^HDF5_" AND NOT variable STREQUAL "HDF5_ROOT")
      unset(${variable} CACHE)
    endif()
  endforeach()
  message(FATAL_ERROR "The HDF5 found (${found}) is a serial build; halosweep writes with all ranks at once.\n"
    "Install a parallel one:\n"
    "  Debian, Ubuntu:  apt-get install libhdf5-openmpi-dev\n"
    "  clusters:        module load hdf5-parallel (or similar; built with the MPI in use)\n"
    "or point to one:   -DHDF5_ROOT=DIR\n")
endif()

# Optional: headers of MUMPS, for method = direct.
find_path(MUMPS_INCLUDE_DIR dmumps_c.h)

if(HALOSWEEP_TESTS)
  pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
  find_library(MPFR_LIBRARY mpfr)
  find_path(MPFR_INCLUDE_DIR mpfr.h)
endif()
