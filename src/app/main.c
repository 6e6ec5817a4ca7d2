#include <stdio.h>

int main(void) {
  puts("halosweep");
  return 0;
}
