/* SPDX-License-Identifier: MIT */
#include "lib/base/text.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t bramah__append(char *out, size_t n, size_t used, const char *text)
{
  size_t length = strlen(text);
  if (n && used < n - 1) {
    size_t room = n - 1 - used;
    size_t part = length < room ? length : room;
    memcpy(out + used, text, part);
    out[used + part] = '\0';
  }
  return used + length;
}

size_t bramah__format_integer(char *out, int64_t value)
{
  char reversed[BRAMAH__NUMBER_SIZE];
  uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  size_t n = 0, length = 0;
  do {
    reversed[n++] = (char)('0' + rest % 10);
    rest /= 10;
  } while (rest);
  if (value < 0) out[length++] = '-';
  while (n) out[length++] = reversed[--n];
  out[length] = '\0';
  return length;
}

/* 10^e, e >= 0, for any exponent a double can have. Exact up to 27; above, the product of table entries is
 * off by a few parts in 1e19, good for 15 digits; more digits get the slower powl. */
static long double power_of_ten(int e, int digits)
{
  static const long double small[] = {1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,  1e7L,  1e8L,  1e9L,
                                      1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L,
                                      1e20L, 1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};
  if (e > 27 && digits > 15) return powl(10.0L, e);
  long double p = 1.0L;
  for (; e > 27; e -= 27) p *= small[27];
  return p * small[e];
}

/* Exact powers. */
static const uint64_t power[] = {1u,
                                 10u,
                                 100u,
                                 1000u,
                                 10000u,
                                 100000u,
                                 1000000u,
                                 10000000u,
                                 100000000u,
                                 1000000000u,
                                 10000000000u,
                                 100000000000u,
                                 1000000000000u,
                                 10000000000000u,
                                 100000000000000u,
                                 1000000000000000u,
                                 10000000000000000u,
                                 100000000000000000u};

/* The first `digits` decimal digits of value > 0 as an integer, and the exponent of its leading digit. For
 * all numbers; the last digit may be wrong where the rest is a half but for some parts in 1e19. */
static uint64_t decimal_digits_slow(double value, int digits, int *exponent)
{
  int binary;
  frexp(value, &binary);
  int e =
      (int)floor((binary - 1) * 0.30102999566398120); /* never above the true exponent, at most one below */
  int shift = digits - 1 - e;
  long double scaled = shift >= 0 ? (long double)value * power_of_ten(shift, digits)
                                  : (long double)value / power_of_ten(-shift, digits);
  if (scaled >= (long double)power[digits]) {
    e++;
    scaled /= 10.0L;
  }
  for (; scaled < (long double)power[digits - 1]; e--)
    scaled *= 10.0L; /* only if the power was rounded down */
  uint64_t integer = (uint64_t)scaled;
  long double rest = scaled - (long double)integer;
  if (rest > 0.5L || (rest == 0.5L && (integer & 1u))) integer++;
  if (integer >= power[digits]) {
    integer /= 10;
    e++;
  }
  *exponent = e;
  return integer;
}

#if defined __SIZEOF_INT128__ && FLT_RADIX == 2 && DBL_MANT_DIG == 53
__extension__ typedef unsigned __int128 wide;

static const uint64_t five[] = {1u,
                                5u,
                                25u,
                                125u,
                                625u,
                                3125u,
                                15625u,
                                78125u,
                                390625u,
                                1953125u,
                                9765625u,
                                48828125u,
                                244140625u,
                                1220703125u,
                                6103515625u,
                                30517578125u,
                                152587890625u,
                                762939453125u,
                                3814697265625u,
                                19073486328125u,
                                95367431640625u,
                                476837158203125u,
                                2384185791015625u,
                                11920928955078125u,
                                59604644775390625u,
                                298023223876953125u,
                                1490116119384765625u,
                                7450580596923828125u};

/* The nearest integer to mantissa 2^binary / 10^digits, ties to even, for numbers from 1 to 2^63; else 0. */
static uint64_t divide_exactly(uint64_t mantissa, int binary, int digits)
{
  if (digits > 17 || binary < -52 || binary > 10) return 0;
  const uint64_t whole = binary < 0 ? mantissa >> -binary : mantissa << binary;
  const int has_rest = binary < 0 && (mantissa & ((UINT64_C(1) << -binary) - 1));
  const uint64_t integer = whole / power[digits], rest = whole % power[digits], half = power[digits] / 2;
  return integer + (rest > half || (rest == half && (has_rest || (integer & 1u))));
}

/* Nearest integer to mantissa 2^binary 10^shift, ties to even, for what fits 128 bits and gives less than
 * 2^64; else 0. All of it is exact. */
static uint64_t scale_exactly(uint64_t mantissa, int binary, int shift)
{
  const int bits = -(binary + shift);
  if (shift < 0) return divide_exactly(mantissa, binary, -shift);
  if (shift > 27 || bits > 115 || bits < -10) return 0;
  const wide n = (wide)mantissa * five[shift];
  if (bits <= 0) return n >> 53 ? 0 : (uint64_t)n << -bits;
  if (n >> bits >> 63) return 0;

  /* The nearest integer to n / 2^bits, ties to even. */
  const uint64_t integer = (uint64_t)(n >> bits);
  const wide rest = n - ((wide)integer << bits), half = (wide)1 << (bits - 1);
  return integer + (rest > half || (rest == half && (integer & 1u)));
}

/* The same as decimal_digits_slow, for the numbers that are usual, several times faster and without a wrong
 * digit. 0: it is another. */
static uint64_t decimal_digits_quick(double value, int digits, int *exponent)
{
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  const int binary = (int)(bits >> 52) - 1075;
  const uint64_t mantissa = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
  if (binary < -200 || binary > 20) return 0;
  int e = ((binary + 52) * 78913) >> 18; /* log10(2) of it: the exponent, or one less */
  uint64_t integer = scale_exactly(mantissa, binary, digits - 1 - e);
  if (integer >= power[digits]) integer = scale_exactly(mantissa, binary, digits - 1 - ++e);
  if (integer < power[digits - 1]) return 0;
  *exponent = e;
  return integer;
}

/* The double nearest to mantissa 10^power, ties to even; 0: the power is none that fits. Product or quotient of numbers
 * with a leading one has 63 or 64 digits; with a one behind them for a rest they round as the whole of it. */
static int round_exactly(uint64_t mantissa, int power_of_ten, double *value)
{
  const int size = abs(power_of_ten);
  if (!mantissa || size > 27) return 0;
  const int zeros = __builtin_clzll(mantissa), shift = __builtin_clzll(five[size]);
  const uint64_t factor = five[size] << shift;
  const uint64_t leading = mantissa << zeros;
  uint64_t n;
  int exponent = power_of_ten - zeros;
  if (power_of_ten < 0) {
    const wide top = (wide)leading << 63;
    n = (uint64_t)(top / factor);
    n |= (wide)n * factor != top;
    exponent += shift - 63;
  } else {
    const wide product = (wide)leading * factor;
    n = (uint64_t)(product >> 64);
    n |= (uint64_t)product != 0;
    exponent += 64 - shift;
  }
  const uint64_t bits = (uint64_t)(1023 + exponent) << 52; /* two to that, which lies within 200 */
  double power_of_two;
  memcpy(&power_of_two, &bits, sizeof power_of_two);
  *value = (double)n * power_of_two;
  return 1;
}
#else
static uint64_t decimal_digits_quick(double value, int digits, int *exponent)
{
  return (void)value, (void)digits, (void)exponent, (uint64_t)0;
}

static int round_exactly(uint64_t mantissa, int power_of_ten, double *value)
{
  return (void)mantissa, (void)power_of_ten, (void)value, 0;
}
#endif

/* So many digits, two at a time. */
static void spell(char *digit, uint64_t integer, int digits)
{
  static const char pairs[] =
      "000102030405060708091011121314151617181920212223242526272829303132333435363738394041424344454647484950"
      "51"
      "52535455565758596061626364656667686970717273747576777879808182838485868788899091929394959697"
      "9899";
  int i = digits;
  for (; i >= 2; integer /= 100) {
    i -= 2;
    memcpy(digit + i, pairs + 2 * (integer % 100), 2);
  }
  if (i) digit[0] = (char)('0' + integer);
}

static size_t write_fixed(char *out, const char *digit, int n, int exponent)
{
  if (exponent < 0) {
    memcpy(out, "0.0000", 6); /* fixed from 1e-4 on */
    memcpy(out + 1 - exponent, digit, (size_t)n);
    return (size_t)(n + 1 - exponent);
  }
  const int before = exponent + 1;
  if (n <= before) {
    memcpy(out, digit, (size_t)n);
    memset(out + n, '0', (size_t)(before - n));
    return (size_t)before;
  }
  memcpy(out, digit, (size_t)before);
  out[before] = '.';
  memcpy(out + before + 1, digit + before, (size_t)(n - before));
  return (size_t)n + 1;
}

static size_t write_exponent(char *out, const char *digit, int n, int exponent)
{
  size_t length = 0;
  out[length++] = digit[0];
  if (n > 1) out[length++] = '.';
  for (int i = 1; i < n; i++) out[length++] = digit[i];
  out[length++] = 'e';
  out[length++] = exponent < 0 ? '-' : '+';
  int magnitude = exponent < 0 ? -exponent : exponent;
  if (magnitude < 10) out[length++] = '0';
  return length + bramah__format_integer(out + length, magnitude);
}

size_t bramah__format_number(char *out, double value, int digits)
{
  size_t length = 0;
  if (isnan(value)) return bramah__append(out, BRAMAH__NUMBER_SIZE, 0, "nan");
  if (signbit(value)) out[length++] = '-';
  value = fabs(value);
  if (isinf(value)) return length + bramah__append(out + length, BRAMAH__NUMBER_SIZE - length, 0, "inf");
  if (value == 0.0) return length + bramah__append(out + length, BRAMAH__NUMBER_SIZE - length, 0, "0");
  if (digits < 1) digits = 1;
  if (digits > 17) digits = 17;
  int exponent;
  uint64_t integer = decimal_digits_quick(value, digits, &exponent);
  if (!integer) integer = decimal_digits_slow(value, digits, &exponent);
  char digit[24];
  int n = digits;
  spell(digit, integer, digits);
  while (n > 1 && digit[n - 1] == '0') n--;
  length += exponent < -4 || exponent >= digits ? write_exponent(out + length, digit, n, exponent)
                                                : write_fixed(out + length, digit, n, exponent);
  out[length] = '\0';
  return length;
}

/* Digits from *text on, at most so many that *mantissa holds them exactly; returns how many. */
static int take_digits(const char **text, uint64_t *mantissa)
{
  const char *s = *text;
  while (*s >= '0' && *s <= '9' && *mantissa < UINT64_C(1000000000000000000))
    *mantissa = *mantissa * 10 + (uint64_t)(*s++ - '0');
  const int n = (int)(s - *text);
  *text = s;
  return n;
}

/* mantissa 10^power, rounded once; 0: that is for others to do. */
static int scale_decimal(uint64_t mantissa, int power_of_ten, double *value)
{
#if FLT_EVAL_METHOD == 0
  static const double ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                               1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const int size = abs(power_of_ten);
  if (mantissa <= UINT64_C(1) << 53 && size <= 22) {
    *value = power_of_ten < 0 ? (double)mantissa / ten[size] : (double)mantissa * ten[size];
    return 1;
  }
#endif
  return round_exactly(mantissa, power_of_ten, value);
}

int bramah__read_number(const char *text, const char *end, char point, double *value)
{
  const char *s = text;
  uint64_t mantissa = 0;
  const int negative = *s == '-';
  int power_of_ten = 0;
  if (*s == '-' || *s == '+') s++;
  const int n = take_digits(&s, &mantissa);
  if (*s == point && s < end) {
    s++;
    power_of_ten = -take_digits(&s, &mantissa);
  }
  if (n - power_of_ten == 0) return 0;
  if (*s == 'e' || *s == 'E') {
    uint64_t exponent = 0;
    const int down = *++s == '-';
    if (*s == '-' || *s == '+') s++;
    if (take_digits(&s, &exponent) == 0 || exponent > 99) return 0;
    power_of_ten += down ? -(int)exponent : (int)exponent;
  }
  if (s != end || !scale_decimal(mantissa, power_of_ten, value)) return 0;
  if (negative) *value = -*value;
  return 1;
}

size_t bramah__character(const char *text)
{
  const unsigned char *s = (const unsigned char *)text;
  const size_t n = s[0] < 0x80   ? 1
                   : s[0] < 0xc2 ? 0
                   : s[0] < 0xe0 ? 2
                   : s[0] < 0xf0 ? 3
                   : s[0] < 0xf5 ? 4
                                 : 0;
  for (size_t i = 1; i < n; i++)
    if ((s[i] & 0xc0u) != 0x80u) return 0;
  const int is_wrong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
                       (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f);
  return is_wrong ? 0 : n;
}

static int lower(char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; }

size_t bramah__edit_distance(const char *a, const char *b)
{
  enum { LONGEST = 63 };
  size_t row[3][LONGEST + 1];
  size_t na = strlen(a), nb = strlen(b);
  if (na > LONGEST) na = LONGEST;
  if (nb > LONGEST) nb = LONGEST;
  for (size_t j = 0; j <= nb; j++) row[0][j] = j;
  for (size_t i = 1; i <= na; i++) {
    size_t *now = row[i % 3];
    const size_t *before = row[(i + 2) % 3], *two_before = row[(i + 1) % 3];
    now[0] = i;
    for (size_t j = 1; j <= nb; j++) {
      size_t differs = lower(a[i - 1]) != lower(b[j - 1]);
      now[j] = before[j - 1] + differs;
      if (before[j] + 1 < now[j]) now[j] = before[j] + 1;
      if (now[j - 1] + 1 < now[j]) now[j] = now[j - 1] + 1;
      int swapped =
          i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped && two_before[j - 2] + 1 < now[j]) now[j] = two_before[j - 2] + 1;
    }
  }
  return row[na % 3][nb];
}

const char *bramah__nearest(const char *name, size_t n, const char *const *candidates)
{
  const char *best = NULL;
  size_t best_distance = 1 + strlen(name) / 3;
  if (best_distance > 4) best_distance = 4;
  for (size_t i = 0; i < n; i++) {
    size_t d = bramah__edit_distance(name, candidates[i]);
    if (d <= best_distance && d < strlen(candidates[i])) {
      best_distance = d ? d - 1 : 0;
      best = candidates[i];
      if (d == 0) break;
    }
  }
  return best;
}

uint64_t bramah__fnv(uint64_t hash, const void *data, size_t n)
{
  const unsigned char *byte = data;
  if (!hash) hash = UINT64_C(14695981039346656037);
  for (size_t i = 0; i < n; i++) hash = (hash ^ byte[i]) * UINT64_C(1099511628211);
  return hash;
}
