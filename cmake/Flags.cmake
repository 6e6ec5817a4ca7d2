# The arithmetic is fixed here, for every translation unit (docs/reproducibility.md): no contraction, no
# fast-math, fma() as an instruction, vectorised loops. The target's options come after CMAKE_C_FLAGS on
# the command line, so they win; what they cannot undo is refused below.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CUDA_STANDARD 17)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_C_FLAGS_RELEASE "-O3 -g")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "${CMAKE_C_FLAGS_RELEASE}")
set(CMAKE_C_FLAGS_DEBUG "-O1 -g -fno-omit-frame-pointer")

# Value-changing flags from the outside would break the promise silently, and -march=native would make
# a binary that dies of SIGILL on the next node.
foreach(flags CMAKE_C_FLAGS CMAKE_CUDA_FLAGS CMAKE_EXE_LINKER_FLAGS)
  if("${${flags}}" MATCHES "(-Ofast|-ffast-math|-funsafe-math-optimizations|-fassociative-math|-freciprocal-math|-ffinite-math-only|-fp-model[ =]fast|-march=native|--?use_fast_math|-fmad=true)")
    message(FATAL_ERROR "${flags} contains ${CMAKE_MATCH_1}: it changes results or ties the binary to one machine.\n"
      "Take it out (also of the environment variables CFLAGS, CUDAFLAGS and LDFLAGS) and configure in a fresh build folder.")
  endif()
endforeach()

# -fno-math-errno and -fno-trapping-math are value-safe and let sqrt and compares vectorise. x86-64-v3
# (2013 and later) has fma and 4 lanes; on other processors the compiler's baseline has fma already.
set(arithmetic -ffp-contract=off -fno-math-errno -fno-trapping-math)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  list(PREPEND arithmetic -march=x86-64-v3)
endif()
if(CMAKE_C_COMPILER_ID STREQUAL "IntelLLVM") # its default is a fast-math
  list(APPEND arithmetic -fp-model=precise)
endif()

set(warnings -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wvla -Walloca)
if(CMAKE_C_COMPILER_ID MATCHES "Clang") # GCC's pragmas; clang's -Wconversion counts enums as well
  list(APPEND warnings -Wno-unknown-pragmas -Wno-sign-conversion)
endif()
set(sanitizers)
if(HALOSWEEP_SANITIZE)
  set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=undefined)
endif()
if(HALOSWEEP_SANITIZE_THREADS)
  # GCC's OpenMP runtime looks like one big race to the sanitizer; Clang's (libomp, with Archer) explains itself.
  if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "The thread sanitizer understands OpenMP with Clang only: install clang and libomp-dev, "
      "and use the preset (cmake --preset tsan) or -DCMAKE_C_COMPILER=clang.")
  endif()
  list(APPEND sanitizers -fsanitize=thread)
endif()

# What goes to the host compiler for the C parts of .cu files: the same arithmetic.
list(JOIN arithmetic "," host_arithmetic)

# Debug information names sources relative to the tree: an installed binary does not say where it was built.
set(paths -ffile-prefix-map=${CMAKE_SOURCE_DIR}/= -ffile-prefix-map=${CMAKE_BINARY_DIR}=build)

add_library(halosweep_flags INTERFACE)
target_compile_definitions(halosweep_flags INTERFACE _POSIX_C_SOURCE=200809L $<$<BOOL:${HALOSWEEP_POISON}>:ALLOC_POISON>)
target_compile_options(halosweep_flags INTERFACE
  "$<$<COMPILE_LANGUAGE:C>:${arithmetic};${warnings};${sanitizers};${paths}>"
  "$<$<COMPILE_LANGUAGE:CUDA>:-fmad=false;-ftz=false;-prec-div=true;-prec-sqrt=true;-Xcompiler=${host_arithmetic}>")
target_link_options(halosweep_flags INTERFACE ${sanitizers})
target_link_libraries(halosweep_flags INTERFACE m)
