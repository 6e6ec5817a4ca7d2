/* Compiled for the oldest x86-64 (src/app/CMakeLists.txt), everything else for x86-64-v3: an older
 * CPU gets a sentence here instead of an illegal instruction later. */
#include <stdio.h>

#include "app.h"

int main(int argc, char **argv) {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
      !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2")) {
    fputs("halosweep: error: this CPU is too old: x86-64-v3 is needed (AVX2, FMA, BMI2: "
          "Intel Haswell of 2013, AMD Excavator of 2015, or newer)\n",
          stderr);
    return STATUS_UNAVAILABLE;
  }
  return app_main(argc, argv);
}
