/* Compiled for the oldest x86-64 (src/app/CMakeLists.txt), everything else for x86-64-v3: an older
 * CPU gets a sentence here instead of an illegal instruction later. */
#include <cpuid.h>
#include <stdio.h>

#include "app.h"

/* x86-64-v3: what the compiler may use of it. Compilers before GCC 11 and Clang 15 have no name for
 * the level as a whole, nor for its smaller parts. The builtins also see whether the system keeps
 * the wide registers. */
static int has_level_3(void) {
  unsigned a, b, c, d;
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
      !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2")) {
    return 0;
  }
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_MOVBE) == 0 || (c & bit_F16C) == 0) return 0;
  return __get_cpuid(0x80000001, &a, &b, &c, &d) != 0 && (c & bit_LZCNT) != 0;
}

int main(int argc, char **argv) {
  if (!has_level_3()) {
    fputs("halosweep: error: this CPU is too old: x86-64-v3 is needed (AVX2, FMA, BMI1, BMI2, "
          "LZCNT, MOVBE, F16C: Intel Haswell of 2013, AMD Excavator of 2015, or newer)\n",
          stderr);
    return STATUS_UNAVAILABLE;
  }
  return app_main(argc, argv);
}
