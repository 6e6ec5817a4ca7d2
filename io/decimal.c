/* Correctly rounded decimal to binary.
 *
 * 1. Up to 19 digits make an exact integer w (eight digits per step), the value is w * 10^q. Where
 *    w <= 2^53 and |q| <= 22 both factors are doubles and one operation rounds once (Clinger 1990).
 * 2. Otherwise w times 128 bits of 5^q, of which the top 55 bits decide (Lemire 2021, "Number
 *    parsing at a gigabyte per second"). For w < 2^64 that is always enough (Mushtak, Lemire 2023,
 *    "Fast number parsing without fallback").
 * 3. With more than 19 significant digits w and w + 1 are rounded; where they differ (about one in
 *    2000 long numbers) the digits are compared with the halfway point in exact integers.
 *
 * Cost: about 5 ns a number by 1, 8 ns by 2, a microsecond by 3. Beyond 800 digits only whether any
 * is not zero matters: a halfway point of doubles has at most 767. */
#include "decimal.h"

#include <math.h>

#include "portable.h"

__extension__ typedef unsigned __int128 wide_word;

enum { EXPONENT_CAP = 100000, DIGITS_KEPT = 800 };

static const double exact_power[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                       1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                       1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
static const uint32_t small_power[9] = {1,      10,      100,      1000,     10000,
                                        100000, 1000000, 10000000, 100000000};

/* The double of 53-bit rounding `mantissa` (54 bits, the last one deciding) at biased exponent
 * `power`. */
static double assemble(uint64_t mantissa, int64_t power) {
  mantissa += mantissa & 1;
  mantissa >>= 1;
  if (mantissa >= (uint64_t)2 << 52) {
    mantissa = (uint64_t)1 << 52;
    power++;
  }
  if (power >= 0x7ff) return HUGE_VAL;
  return double_of((mantissa & ~((uint64_t)1 << 52)) | (uint64_t)power << 52);
}

double decimal_scale(uint64_t w, int64_t q) {
  if (w == 0 || q < DECIMAL_POWER_MIN) return 0.0;
  if (q > DECIMAL_POWER_MAX) return HUGE_VAL;
  const uint64_t *power = decimal_power + 2 * (q - DECIMAL_POWER_MIN);
  int zeros = __builtin_clzll(w);
  w <<= zeros;
  wide_word product = (wide_word)w * power[0];
  /* 55 bits decide; the low word of the power matters only when all bits below them are ones */
  if (((uint64_t)(product >> 64) & 0x1ff) == 0x1ff) product += ((wide_word)w * power[1]) >> 64;
  uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
  int top = (int)(high >> 63);
  uint64_t mantissa = high >> (top + 9);
  /* floor(log2(10^q)) by a fraction good for |q| <= 342 */
  int64_t exponent = ((217706 * q) >> 16) + 63 + top - zeros + 1023;
  if (exponent <= 0) { /* subnormal */
    if (1 - exponent >= 64) return 0.0;
    mantissa >>= 1 - exponent;
    mantissa += mantissa & 1;
    return double_of(mantissa >> 1); /* a carry to 2^52 makes the least normal number by itself */
  }
  /* an exact tie can only be met for these q: then to even */
  if (low <= 1 && q >= -4 && q <= 23 && (mantissa & 3) == 1 && mantissa << (top + 9) == high) {
    mantissa &= ~(uint64_t)1;
  }
  return assemble(mantissa, exponent);
}

/* Exact integers, little end first: 800 digits times 10^0, or 54 bits times 2^1075 10^1142: below
 * 5000 bits. */
enum { BIG_WORDS = 192 };

typedef struct big {
  int words;
  uint32_t word[BIG_WORDS];
} big;

static void big_multiply_add(big *b, uint32_t factor, uint32_t plus) {
  uint64_t carry = plus;
  for (int i = 0; i < b->words; i++) {
    carry += (uint64_t)b->word[i] * factor;
    b->word[i] = (uint32_t)carry;
    carry >>= 32;
  }
  if (carry != 0) b->word[b->words++] = (uint32_t)carry;
}

static void big_power_of_ten(big *b, int64_t power) {
  for (; power >= 8; power -= 8) big_multiply_add(b, small_power[8], 0);
  if (power > 0) big_multiply_add(b, small_power[power], 0);
}

static void big_power_of_two(big *b, int64_t power) {
  for (; power >= 31; power -= 31) big_multiply_add(b, (uint32_t)1 << 31, 0);
  if (power > 0) big_multiply_add(b, (uint32_t)1 << power, 0);
}

static int big_compare(const big *a, const big *b) {
  if (a->words != b->words) return a->words < b->words ? -1 : 1;
  for (int i = a->words; i-- > 0;) {
    if (a->word[i] != b->word[i]) return a->word[i] < b->word[i] ? -1 : 1;
  }
  return 0;
}

/* The digits at `at` (a point among them) times 10^q against (2m + 1) 2^p, the point halfway
 * between `below` and the next double. q belongs to the last of all digits. */
static int against_halfway(const char *at, const char *end, int64_t q, double below) {
  big digits = {0, {0}}, halfway = {0, {0}};
  int kept = 0;
  uint32_t rest = 0;
  for (; at < end; at++) {
    unsigned digit = (unsigned)(*at - '0');
    if (digit > 9) continue;
    if (kept < DIGITS_KEPT) {
      big_multiply_add(&digits, 10, digit);
      kept += digits.words > 0;
    } else {
      rest |= digit;
      q++;
    }
  }
  big_multiply_add(&digits, 10, rest != 0);
  q--;

  uint64_t bits = bits_of(below), mantissa = bits & (((uint64_t)1 << 52) - 1);
  int64_t exponent = (int64_t)(bits >> 52);
  if (exponent > 0) mantissa |= (uint64_t)1 << 52;
  int64_t p = (exponent > 0 ? exponent : 1) - 1075 - 1;
  uint64_t odd = 2 * mantissa + 1;
  halfway.word[0] = (uint32_t)odd;
  halfway.word[1] = (uint32_t)(odd >> 32);
  halfway.words = halfway.word[1] != 0 ? 2 : 1;

  if (q >= 0) big_power_of_ten(&digits, q);
  if (q < 0) big_power_of_ten(&halfway, -q);
  if (p >= 0) big_power_of_two(&halfway, p);
  if (p < 0) big_power_of_two(&digits, -p);
  return big_compare(&digits, &halfway);
}

/* The general case: any number of digits between `at` and `end`, a point among them, times 10^q (q
 * for the last digit). */
static double many_digits(const char *at, const char *end, int64_t q) {
  const char *first = at;
  uint64_t w = 0;
  int64_t left = 0; /* digits after those in w */
  int taken = 0;
  for (; at < end; at++) {
    unsigned digit = (unsigned)(*at - '0');
    if (digit > 9) continue;
    if (taken < 19) {
      w = w * 10 + digit;
      taken += w != 0;
    } else {
      left++;
    }
  }
  double low = decimal_scale(w, q + left);
  if (left == 0) return low;
  double high = decimal_scale(w + 1, q + left);
  if (bits_of(low) == bits_of(high)) return low;
  int order = against_halfway(first, end, q, low);
  if (order == 0) return (bits_of(low) & 1) == 0 ? low : high;
  return order < 0 ? low : high;
}

/* The digits from `at` on, appended to *w (which may wrap: the caller counts them). */
static inline const char *take_digits(const char *at, uint64_t *w) {
  for (;;) {
    uint64_t eight = decimal_eight(at);
    int run = decimal_run(eight);
    if (run == 0) return at;
    *w = *w * small_power[run] + decimal_join(eight, run);
    at += run;
    if (run < 8) return at;
  }
}

const char *decimal_read(const char *at, double *out) {
  const int negative = *at == '-';
  at += negative || *at == '+';
  const char *first = at;
  uint64_t w = 0;
  int64_t q = 0, digits;
  at = take_digits(at, &w);
  digits = at - first;
  if (*at == '.') {
    const char *point = ++at;
    at = take_digits(at, &w);
    q = point - at;
    digits -= q;
  }
  if (digits == 0) return NULL;
  const char *end = at;
  if ((*at | 0x20) == 'e' || (*at | 0x20) == 'd') {
    const char *sign = at + 1, *digit = sign + (*sign == '-' || *sign == '+');
    int64_t exponent = 0;
    if ((unsigned)(*digit - '0') > 9) return NULL;
    for (; (unsigned)(*digit - '0') < 10; digit++) {
      if (exponent < EXPONENT_CAP) exponent = exponent * 10 + (*digit - '0');
    }
    q += *sign == '-' ? -exponent : exponent;
    at = digit;
  }
  double value;
  if (digits > 19) {
    value = many_digits(first, end, q);
  } else if (w <= (uint64_t)1 << 53 && q >= -22 && q <= 22) {
    value = (double)w;
    value = q < 0 ? value / exact_power[-q] : value * exact_power[q];
  } else {
    value = decimal_scale(w, q);
  }
  *out = negative ? -value : value;
  return at;
}
