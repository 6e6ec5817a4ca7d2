# The arithmetic is fixed here, for every translation unit (docs/reproducibility.md): no contraction, no
# fast-math, fma() as an instruction, vectorised loops.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_FLAGS_RELEASE "-O3 -g")
set(CMAKE_C_FLAGS_DEBUG "-O1 -g -fno-omit-frame-pointer")

add_library(halosweep_flags INTERFACE)
target_compile_definitions(halosweep_flags INTERFACE _POSIX_C_SOURCE=200809L $<$<BOOL:${HALOSWEEP_POISON}>:ALLOC_POISON>)
set(arithmetic -march=x86-64-v3 -ffp-contract=off -fno-math-errno -fno-trapping-math)
set(warnings -Wall -Wextra -Wpedantic -Wconversion -Wshadow $<$<BOOL:${HALOSWEEP_STRICT}>:-Werror>)
set(sanitizers $<$<BOOL:${HALOSWEEP_SANITIZE}>:-fsanitize=address,undefined -fno-sanitize-recover=undefined>)
target_compile_options(halosweep_flags INTERFACE "$<$<COMPILE_LANGUAGE:C>:${arithmetic};${warnings};${sanitizers}>"
  "$<$<COMPILE_LANGUAGE:CUDA>:-fmad=false>")
target_link_options(halosweep_flags INTERFACE ${sanitizers})
target_link_libraries(halosweep_flags INTERFACE m)
