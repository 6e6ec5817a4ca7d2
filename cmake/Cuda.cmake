# Turns the CUDA language on, before any target exists, for every architecture we ship: A100 (80), A10 and
# the like (86), H100 and H200 (90), and PTX of the last for what comes after.
if(NOT DEFINED CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  find_program(nvcc nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin NO_CACHE)
  if(NOT nvcc)
    message(FATAL_ERROR "HALOSWEEP_CUDA is on and there is no nvcc: load the CUDA module, put nvcc on PATH, or give "
      "-DCMAKE_CUDA_COMPILER=FILE. Without a GPU, build the release preset.")
  endif()
  set(CMAKE_CUDA_COMPILER ${nvcc})
endif()
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80-real 86-real 90)
endif()
# The runtime is linked in: one installation serves nodes with and without CUDA (ldd names no libcuda).
set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
enable_language(CUDA)
