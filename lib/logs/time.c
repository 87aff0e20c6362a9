/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times as they are in logs. */
#include "lib/logs/reader.h"

#include <stdio.h>
#include <string.h>

/* ---- decimal numbers ---- */

enum { MOST_DIGITS = 40 };

/* Digits without the mark, and where it is among them. */
typedef struct decimal {
  int negative, n, point;
  unsigned char digit[MOST_DIGITS];
} decimal;

static int is_digit(char c) { return c >= '0' && c <= '9'; }

/* Leading zeros are dropped, and so are digits that are beyond all meaning. */
static const char *take_digits(const char *s, const char *end, decimal *d, int behind_point)
{
  for (; s < end && is_digit(*s); s++) {
    if (d->n == 0 && *s == '0') {
      d->point -= behind_point;
      continue;
    }
    if (d->n < MOST_DIGITS) d->digit[d->n++] = (unsigned char)(*s - '0');
    if (!behind_point) d->point++;
  }
  return s;
}

bramah_status bramah__time_decimal(const char *text, const char *end, char point, int64_t scale, int whole,
                                   int64_t *out)
{
  decimal d = {.negative = text < end && *text == '-'};
  const char *s = text + (text < end && (*text == '-' || *text == '+')), *begin = s;

  /* Its digits, with the mark and the exponent as a place among them. */
  s = take_digits(s, end, &d, 0);
  int any = s > begin;
  if (s < end && *s == point) {
    begin = ++s;
    s = take_digits(s, end, &d, 1);
    any |= s > begin;
  }
  if (any && s < end && (*s == 'e' || *s == 'E')) {
    int exponent = 0;
    const int down = ++s < end && *s == '-';
    if (s < end && (*s == '-' || *s == '+')) s++;
    any = s < end;
    for (; s < end && is_digit(*s); s++)
      if (exponent < 1000) exponent = 10 * exponent + (*s - '0');
    d.point += down ? -exponent : exponent;
  }
  if (!any || s != end) return BRAMAH_E_SYNTAX;

  /* The part before the mark. */
  if (d.n == 0) return *out = 0, BRAMAH_OK;
  if (d.point > 19) return BRAMAH_E_VALUE;
  const int64_t limit = INT64_C(9000000000000000000) / scale;
  int64_t integer = 0;
  for (int i = 0; i < d.point; i++) {
    const int digit = i < d.n ? d.digit[i] : 0;
    if (integer > (limit - digit) / 10) return BRAMAH_E_VALUE;
    integer = 10 * integer + digit;
  }

  /* The part after the mark times 1000 scale: a thousandth of a unit is lost at most, so that whatever is a whole
   * number comes out as one. */
  int64_t x = 0;
  for (int i = d.n - 1; i >= 0 && i >= d.point; i--) x = (x + 1000 * scale * d.digit[i]) / 10;
  for (int i = d.point; i < 0 && x; i++) x /= 10;
  if (whole && x) return BRAMAH_E_VALUE;
  const int64_t size = integer * scale + (x + 500) / 1000;
  *out = d.negative ? -size : size;
  return BRAMAH_OK;
}

/* ---- ISO 8601 ---- */

typedef struct iso_cursor {
  const char *at, *end;
  int wrong;
} iso_cursor;

static int take_number(iso_cursor *c, int digits, int least, int most)
{
  int value = 0;
  for (int i = 0; i < digits; i++) {
    if (c->at == c->end || !is_digit(*c->at)) return c->wrong = 1, least;
    value = 10 * value + (*c->at++ - '0');
  }
  c->wrong |= value < least || value > most;
  return value;
}

/* 1 if one of these characters is here; it is passed. */
static int take_one(iso_cursor *c, const char *characters)
{
  if (c->at == c->end || !strchr(characters, *c->at)) return 0;
  c->at++;
  return 1;
}

static int64_t take_date(iso_cursor *c)
{
  const int year = take_number(c, 4, 1678, 2261), dashes = take_one(c, "-");
  const int month = take_number(c, 2, 1, 12);
  if (dashes && !take_one(c, "-")) c->wrong = 1;
  static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const int leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  const int day = take_number(c, 2, 1, 31);
  if (c->wrong || day > days[month - 1] + (leap && month == 2)) return c->wrong = 1, 0;
  /* Days since 1970-01-01 of the Gregorian calendar, counted in years that begin in March. */
  const int64_t y = year - (month <= 2), era = y / 400, of_era = y - era * 400;
  const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

bramah_status bramah__time_iso(const char *text, const char *end, int64_t *ns, int *zone)
{
  iso_cursor c = {.at = text, .end = end};
  const int64_t days = take_date(&c);
  if (!take_one(&c, "Tt ") || c.wrong) return BRAMAH_E_SYNTAX;

  /* Time of the day; a leap second counts as the next one. */
  const int hour = take_number(&c, 2, 0, 24), colons = take_one(&c, ":");
  const int minute = take_number(&c, 2, 0, 59);
  int second = 0, digits = 0;
  int64_t fraction = 0; /* [ns] */
  if (colons ? take_one(&c, ":") : c.at < c.end && is_digit(*c.at)) {
    second = take_number(&c, 2, 0, 60);
    if (take_one(&c, ".,")) {
      for (; c.at < c.end && is_digit(*c.at); c.at++, digits++) {
        if (digits < 9) fraction = 10 * fraction + (*c.at - '0');
        if (digits == 9) fraction += *c.at >= '5';
      }
      c.wrong |= digits == 0;
      for (; digits < 9; digits++) fraction *= 10;
    }
  }
  c.wrong |= hour == 24 && (minute || second || fraction);
  const int64_t of_day = (hour * 60 + minute) * INT64_C(60) + second;

  /* Seconds that the zone is ahead of UTC. */
  int64_t ahead = 0;
  *zone = c.at < c.end;
  if (!c.wrong && *zone && !take_one(&c, "Zz")) {
    const int west = *c.at == '-';
    if (!take_one(&c, "+-")) return BRAMAH_E_SYNTAX;
    const int hours = take_number(&c, 2, 0, 23);
    const int minutes = take_one(&c, ":") || c.at < c.end ? take_number(&c, 2, 0, 59) : 0;
    ahead = (west ? -1 : 1) * (hours * 3600 + minutes * 60);
  }
  if (c.wrong || c.at != end) return BRAMAH_E_SYNTAX;
  *ns = (days * 86400 + of_day - ahead) * INT64_C(1000000000) + fraction;
  return BRAMAH_OK;
}

bramah_status bramah_log_read_time(const char *text, int64_t *ns)
{
  int zone;
  return bramah__time_iso(text, text + strlen(text), ns, &zone);
}

/* Days of the Gregorian calendar are counted in years that begin in March. */
void bramah_log_time_text(int64_t ns, char *out, size_t n)
{
  const int64_t second_ns = INT64_C(1000000000);
  int64_t seconds = ns / second_ns, rest = ns % second_ns;
  if (rest < 0) rest += second_ns, seconds--;
  int64_t days = seconds / 86400, of_day = seconds % 86400;
  if (of_day < 0) of_day += 86400, days--;
  const int64_t z = days + 719468, era = (z >= 0 ? z : z - 146096) / 146097, of_era = z - era * 146097;
  const int64_t y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  const int64_t of_year = of_era - (365 * y + y / 4 - y / 100), m = (5 * of_year + 2) / 153;
  const int day = (int)(of_year - (153 * m + 2) / 5 + 1), month = (int)(m < 10 ? m + 3 : m - 9);
  const int year = (int)(y + era * 400 + (month <= 2));
  const int used = snprintf(out, n, "%04d-%02d-%02dT%02d:%02d:%02d", year, month, day, (int)(of_day / 3600),
                            (int)(of_day / 60 % 60), (int)(of_day % 60));
  if (used < 0 || (size_t)used + 12 > n) return;
  size_t end = (size_t)used;
  if (rest) end += (size_t)snprintf(out + end, n - end, ".%09d", (int)rest);
  while (rest && out[end - 1] == '0') end--;
  out[end] = 'Z';
  out[end + 1] = '\0';
}
