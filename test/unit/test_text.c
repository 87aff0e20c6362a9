/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers as text against printf and strtod, and names that are nearly right. With -b: the speed of all. BRAMAH_NUMBERS: how
 * many numbers are compared where not one byte or bit may differ (four million). */
#define _POSIX_C_SOURCE 200809L
#include "lib/base/text.h"
#include "test/support/run.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t random_bits(void)
{
  static uint64_t state = 88172645463325252u;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

/* Any finite double: all magnitudes, denormals too. */
static double any_double(void)
{
  for (;;) {
    uint64_t bits = random_bits();
    double value;
    memcpy(&value, &bits, sizeof value);
    if (isfinite(value)) return value;
  }
}

/* The kind a log holds: few digits, common magnitudes. These lie on and near ties. */
static double usual_double(void)
{
  static const double scale[] = {1.0, 10.0, 1e3, 1e6, 1e-3, 1e-6, 8.0, 1024.0};
  return (double)((int64_t)(random_bits() % 20000001) - 10000000) / scale[random_bits() % 8];
}

static const char *formatted(double value, int digits)
{
  static char text[BRAMAH__NUMBER_SIZE];
  size_t length = bramah__format_number(text, value, digits);
  /* Check tells its parent of every assertion, which is slow in long loops. */
  if (length != strlen(text) || length >= BRAMAH__NUMBER_SIZE) ck_abort_msg("wrong length for %s", text);
  return text;
}

/* Two texts of the same number with so many digits: at most one unit of the last digit apart? */
static int within_last_digit(const char *a, const char *b, int digits)
{
  long double x = strtold(a, NULL), y = strtold(b, NULL);
  long double unit = powl(10.0L, floorl(log10l(fabsl(y))) - (digits - 1));
  return fabsl(x - y) <= unit * 1.001L;
}

/* Share of texts that differ from printf's. */
static double compare(double (*draw)(void), int digits, int n)
{
  int different = 0;
  char expected[64];
  for (int i = 0; i < n; i++) {
    double value = draw();
    snprintf(expected, sizeof expected, "%.*g", digits, value);
    const char *text = formatted(value, digits);
    if (strcmp(text, expected) == 0) continue;
    different++;
    ck_assert_msg(within_last_digit(text, expected, digits), "%s for %s (%d digits)", text, expected, digits);
  }
  return (double)different / n;
}

TEST(equals_printf_up_to_15_digits)
{
  for (int digits = 1; digits <= 15; digits++) {
    double any = compare(any_double, digits, 100000), usual = compare(usual_double, digits, 100000);
    ck_assert_msg(any < 1e-4, "%d digits: %g differ", digits, any);
    ck_assert_msg(usual < 1e-4, "%d digits, usual numbers: %g differ", digits, usual);
  }
}

/* Of any size that occurs in files, and every tenth one with few digits, so that ties of rounding occur. */
static double file_double(void)
{
  double value = 0.0;
  while (fabs(value) < 1e-10) {
    const double scale = pow(10.0, (double)(random_bits() % 25) - 9.0);
    value = (double)(int64_t)random_bits() / 9.3e18 * scale;
    if (random_bits() % 10 == 0) value = (double)(random_bits() % 100000) / 4096.0 * scale;
  }
  return value;
}

static int how_many(void)
{
  const char *wanted = getenv("BRAMAH_NUMBERS");
  return wanted ? atoi(wanted) : 4000000;
}

/* Not one byte may differ: the digits are those of exact arithmetic. */
EACH_TEST(equals_printf_for_all_usual_numbers, 0, 4)
{
  static const int counts[] = {6, 10, 15, 17};
  ck_assert_double_eq(compare(file_double, counts[_i], how_many() / 4), 0.0);
}

/* Texts of numbers. What a program writes of a number in a log, shortest, usual or as it is: */
static void written_text(char *text, size_t n)
{
  static const int digits[] = {6, 10, 15, 16, 17, 17};
  snprintf(text, n, "%.*g", digits[random_bits() % 6], file_double());
}

/* Digits and marks in any order that makes a number. */
static void any_text(char *text, size_t n)
{
  char digit[32];
  const size_t length = 1 + random_bits() % 25, point = random_bits() % (length + 1);
  for (size_t i = 0; i < length; i++) digit[i] = (char)('0' + random_bits() % 10);
  const int with_exponent = random_bits() % 2 == 0, exponent = (int)(random_bits() % 90) - 45;
  const int used =
      snprintf(text, n, "%s%.*s%s%.*s", (const char *[]){"", "-", "+"}[random_bits() % 3], (int)point, digit,
               random_bits() % 4 || point < length ? "." : "", (int)(length - point), digit + point);
  if (with_exponent) snprintf(text + used, n - (size_t)used, "%c%d", "eE"[random_bits() % 2], exponent);
}

/* The middle between two doubles, or one unit of the last digit beside it. */
static void halfway_text(char *text, size_t n)
{
  const int places = (int)(random_bits() % 3); /* behind the point, where halves and quarters end */
  uint64_t middle = (UINT64_C(1) << 54 | random_bits() >> 10) | 1u; /* 54 bits behind the leading one */
  if (places == 0) middle <<= random_bits() % 9;
  for (int i = 0; i < places; i++) middle *= 5;
  middle += random_bits() % 3 - 1;
  snprintf(text, n, "%llue-%d", (unsigned long long)middle, places);
}

/* As strtod reads it, or refused; returns whether it was read. */
static int reads_as_strtod(const char *text)
{
  double value, expected = strtod(text, NULL);
  if (!bramah__read_number(text, text + strlen(text), '.', &value)) return 0;
  if (memcmp(&value, &expected, sizeof value) != 0)
    ck_abort_msg("%s is read as %a instead of %a", text, value, expected);
  return 1;
}

TEST(reads_numbers_as_strtod)
{
  char text[64];
  const int n = how_many() / 3;
  int read = 0;
  for (int i = 0; i < n; i++) {
    written_text(text, sizeof text);
    read += reads_as_strtod(text);
    any_text(text, sizeof text);
    reads_as_strtod(text);
    halfway_text(text, sizeof text);
    if (!reads_as_strtod(text)) ck_abort_msg("%s is left to strtod", text);
  }
  ck_assert_msg(read > n - n / 1000, "%d of %d usual numbers were left to strtod", n - read, n);
}

/* Numbers of any size, denormals, infinities and what no number is: read right or left to strtod. */
TEST(leaves_to_strtod_what_it_does_not_know)
{
  static const char *const others[] = {"",
                                       "-",
                                       ".",
                                       "+.e3",
                                       "e5",
                                       "1e",
                                       "1e+",
                                       "1e5.",
                                       "inf",
                                       "-inf",
                                       "nan",
                                       "0x1p3",
                                       "1,5",
                                       "1 ",
                                       " 1",
                                       "--1",
                                       "1e9999999999999999999999",
                                       "12345678901234567890",
                                       "1.5.5",
                                       "1_000"};
  static const char *const numbers[] = {"0",
                                        "-0",
                                        "1.",
                                        ".5",
                                        "+.5E-3",
                                        "00012",
                                        "0.000000",
                                        "9007199254740993",
                                        "9007199254740992e22",
                                        "1e22",
                                        "1e27",
                                        "1e-27",
                                        "1e-22"};
  char text[64];
  double value;
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    ck_assert_msg(!bramah__read_number(others[i], others[i] + strlen(others[i]), '.', &value), "%s",
                  others[i]);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    ck_assert_msg(reads_as_strtod(numbers[i]), "%s", numbers[i]);
  for (int i = 0; i < 200000; i++) {
    snprintf(text, sizeof text, "%.*g", 1 + i % 19, any_double());
    reads_as_strtod(text);
  }
  const char *cell = "-1,25;7";
  ck_assert(bramah__read_number(cell, cell + 5, ',', &value));
  ck_assert_double_eq(value, -1.25);
}

/* Neighbouring doubles are neighbouring integers when read as such. */
static int64_t distance(double a, double b)
{
  int64_t x, y;
  memcpy(&x, &a, sizeof x);
  memcpy(&y, &b, sizeof y);
  return x > y ? x - y : y - x;
}

static double share_not_exact(double (*draw)(void), int n)
{
  int not_exact = 0;
  for (int i = 0; i < n; i++) {
    double value = draw(), back = strtod(formatted(value, 17), NULL);
    not_exact += back != value;
    if (distance(back, value) > 1) ck_abort_msg("%a comes back as %a", value, back);
  }
  return (double)not_exact / n;
}

TEST(seventeen_digits_come_back)
{
  ck_assert_double_eq(share_not_exact(usual_double, 300000), 0.0);
  double share = share_not_exact(any_double, 1000000);
  ck_assert_msg(share == 0.0, "%g of all doubles come back one unit off", share);
}

TEST(special_values)
{
  ck_assert_str_eq(formatted(0.0, 6), "0");
  ck_assert_str_eq(formatted(-0.0, 6), "-0");
  ck_assert_str_eq(formatted((double)INFINITY, 6), "inf");
  ck_assert_str_eq(formatted(-(double)INFINITY, 6), "-inf");
  ck_assert_str_eq(formatted((double)NAN, 6), "nan");
  ck_assert_str_eq(formatted(DBL_MAX, 17), "1.7976931348623157e+308");
  ck_assert_str_eq(formatted(DBL_MIN, 17), "2.2250738585072014e-308");
  ck_assert_str_eq(formatted(0x1p-1074, 3), "4.94e-324");
  ck_assert_str_eq(formatted(0x1p-1074, 17), "4.9406564584124654e-324");
  ck_assert_str_eq(formatted(-123456789.0, 4), "-1.235e+08");
  ck_assert_str_eq(formatted(0.0001, 4), "0.0001");
  ck_assert_str_eq(formatted(0.00001, 4), "1e-05");
  ck_assert_str_eq(formatted(1e5, 6), "100000");
  ck_assert_str_eq(formatted(1e6, 6), "1e+06");
  ck_assert_str_eq(formatted(0.1, 15), "0.1");
  ck_assert_str_eq(formatted(2.5, 1), "2"); /* ties to even, as printf */
  ck_assert_str_eq(formatted(3.5, 1), "4");
  ck_assert_str_eq(formatted(9.5, 1), "1e+01");
  ck_assert_str_eq(formatted(99999.5, 5), "1e+05");
  ck_assert_str_eq(formatted(7.0, 0), "7"); /* digits out of range are taken as the nearest allowed */
  ck_assert_str_eq(formatted(0.5, 99), "0.5");
}

TEST(denormals)
{
  char expected[64];
  for (int i = 0; i < 20000; i++) {
    uint64_t bits = random_bits() >> (12 + random_bits() % 50);
    double value;
    memcpy(&value, &bits, sizeof value);
    snprintf(expected, sizeof expected, "%.12g", value);
    if (value > 0.0 && !within_last_digit(formatted(value, 12), expected, 12)) ck_abort_msg("%s", expected);
    if (strtod(formatted(value, 17), NULL) != value) ck_abort_msg("%a does not come back", value);
  }
}

TEST(powers_of_ten_and_their_neighbours)
{
  char expected[64], text[16];
  for (int e = -307; e <= 308; e++) {
    snprintf(text, sizeof text, "1e%d", e);
    double power = strtod(text, NULL);
    double values[] = {nextafter(power, 0.0), power, nextafter(power, (double)INFINITY)};
    for (int i = 0; i < 9; i++) {
      int digits = (int[]){1, 9, 15}[i / 3];
      snprintf(expected, sizeof expected, "%.*g", digits, values[i % 3]);
      ck_assert_str_eq(formatted(values[i % 3], digits), expected);
    }
  }
}

TEST(integers)
{
  char text[BRAMAH__NUMBER_SIZE];
  ck_assert_uint_eq(bramah__format_integer(text, 0), 1);
  ck_assert_str_eq(text, "0");
  bramah__format_integer(text, INT64_MIN);
  ck_assert_str_eq(text, "-9223372036854775808");
  bramah__format_integer(text, INT64_MAX);
  ck_assert_str_eq(text, "9223372036854775807");
}

TEST(appends_and_cuts)
{
  char text[8] = "";
  size_t used = bramah__append(text, sizeof text, 0, "abc");
  used = bramah__append(text, sizeof text, used, "defgh");
  ck_assert_uint_eq(used, 8);
  ck_assert_str_eq(text, "abcdefg");
  used = bramah__append(text, sizeof text, used, "xyz");
  ck_assert_uint_eq(used, 11);
  ck_assert_str_eq(text, "abcdefg");
  ck_assert_uint_eq(bramah__append(NULL, 0, 0, "abc"), 3);
}

TEST(distances)
{
  ck_assert_uint_eq(bramah__edit_distance("", ""), 0);
  ck_assert_uint_eq(bramah__edit_distance("", "abc"), 3);
  ck_assert_uint_eq(bramah__edit_distance("abc", ""), 3);
  ck_assert_uint_eq(bramah__edit_distance("pressure", "Pressure"), 0);
  ck_assert_uint_eq(bramah__edit_distance("kitten", "sitting"), 3);
  ck_assert_uint_eq(bramah__edit_distance("crnak", "crank"), 1); /* a swap counts once */
  ck_assert_uint_eq(bramah__edit_distance("ca", "abc"), 3);      /* but is not edited twice */
  char long_name[200];
  memset(long_name, 'x', sizeof long_name - 1);
  long_name[sizeof long_name - 1] = '\0';
  ck_assert_uint_eq(bramah__edit_distance(long_name, ""), 63);
}

TEST(distances_are_symmetric)
{
  for (int i = 0; i < 5000; i++) {
    char a[9] = "", b[9] = "";
    for (uint64_t k = random_bits() % 9; k-- > 0;) a[k] = (char)('a' + random_bits() % 3);
    for (uint64_t k = random_bits() % 9; k-- > 0;) b[k] = (char)('a' + random_bits() % 3);
    size_t na = strlen(a), nb = strlen(b), d = bramah__edit_distance(a, b);
    ck_assert_uint_eq(d, bramah__edit_distance(b, a));
    ck_assert_uint_ge(d, na > nb ? na - nb : nb - na);
    ck_assert_uint_le(d, na > nb ? na : nb);
    ck_assert_int_eq(d == 0, strcmp(a, b) == 0);
  }
}

TEST(nearest_names)
{
  static const char *const names[] = {"mass", "inertia", "centre_of_mass", "p1", "p2", "gravity"};
  ck_assert_str_eq(bramah__nearest("mas", 6, names), "mass");
  ck_assert_str_eq(bramah__nearest("intertia", 6, names), "inertia");
  ck_assert_str_eq(bramah__nearest("center_of_mass", 6, names), "centre_of_mass");
  ck_assert_str_eq(bramah__nearest("p4", 6, names), "p1"); /* the first of equals */
  ck_assert_str_eq(bramah__nearest("P2", 6, names), "p2");
  ck_assert_ptr_null(bramah__nearest("frobnicate", 6, names));
  ck_assert_ptr_null(bramah__nearest("xy", 6, names));
  ck_assert_ptr_null(bramah__nearest("mass", 0, NULL));
}

static double seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Not a test: nanoseconds for one number, by us and by snprintf or strtod. */
static void measure(void)
{
  enum { N = 1000000 };
  static double value[N];
  char text[64];
  for (int i = 0; i < N; i++)
    value[i] = (double)(int64_t)random_bits() * pow(10.0, (double)(random_bits() % 16) - 22.0);
  static const int counts[] = {6, 9, 12, 15, 17};
  for (size_t d = 0; d < sizeof counts / sizeof *counts; d++) {
    double start = seconds();
    for (int i = 0; i < N; i++) bramah__format_number(text, value[i], counts[d]);
    double middle = seconds();
    for (int i = 0; i < N; i++) snprintf(text, sizeof text, "%.*g", counts[d], value[i]);
    double end = seconds();
    printf("%2d digits: %5.1f ns, snprintf %5.1f ns\n", counts[d], (middle - start) / N * 1e9,
           (end - middle) / N * 1e9);
  }
  for (size_t d = 0; d < sizeof counts / sizeof *counts; d++) {
    static char written[N][32];
    double sum = 0.0, x;
    for (int i = 0; i < N; i++) snprintf(written[i], sizeof written[i], "%.*g", counts[d], value[i]);
    const double start = seconds();
    for (int i = 0; i < N; i++)
      sum += bramah__read_number(written[i], strchr(written[i], '\0'), '.', &x) ? x : 0.0;
    const double middle = seconds();
    for (int i = 0; i < N; i++) sum -= strtod(written[i], NULL);
    const double end = seconds();
    printf("%2d digits read: %5.1f ns, strtod %5.1f ns (%g)\n", counts[d], (middle - start) / N * 1e9,
           (end - middle) / N * 1e9, sum);
  }
}

int main(int argc, char **argv)
{
  if (argc > 1 && strcmp(argv[1], "-b") == 0) {
    measure();
    return EXIT_SUCCESS;
  }
  if (!long_double_is_as_promised()) {
    puts("skipped: long double has not its promised precision here (valgrind)");
    return 77;
  }
  return run_tests("text");
}
