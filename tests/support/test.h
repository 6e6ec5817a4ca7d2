/* cmocka with the headers it needs, and the assertions our tests share. */
#ifndef TEST_H
#define TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* cmocka's fail() is a macro, ours (status.h) a function; fail_msg() is the assertion. */
#undef fail
#undef fail_msg
#define fail_msg(...)                                                                              \
  do {                                                                                             \
    print_error(__VA_ARGS__);                                                                      \
    print_error("\n");                                                                             \
    _fail(__FILE__, __LINE__);                                                                     \
  } while (0)

#include "portable.h"
#include "status.h"

/* Equal bits, with the values shown when they differ. */
#define assert_same_bits(a, b)                                                                     \
  do {                                                                                             \
    double a_ = (a), b_ = (b);                                                                     \
    if (bits_of(a_) != bits_of(b_)) fail_msg("%.17g and %.17g differ in bits", a_, b_);            \
  } while (0)

#define assert_ok(call)                                                                            \
  do {                                                                                             \
    const status ok_ = (call);                                                                     \
    if (ok_ != STATUS_OK) fail_msg("%s: status %d, %s", #call, (int)ok_, fail_text());             \
  } while (0)

#endif
