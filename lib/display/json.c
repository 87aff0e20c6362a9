/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/display/display_parts.h"
#include "lib/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put(bramah__json *json, const char *text, size_t n)
{
  if (json->grows && json->used + n >= json->size) {
    const size_t size = 2 * json->size + n + 256;
    char *more = realloc(json->text, size);
    if (!more) {
      json->failed = 1;
      return;
    }
    json->text = more;
    json->size = size;
  }
  if (json->used + n < json->size) {
    memcpy(json->text + json->used, text, n);
    json->text[json->used + n] = '\0';
  }
  json->used += n;
}

void bramah__json_raw(bramah__json *json, const char *text) { put(json, text, strlen(text)); }

/* Bytes of the UTF-8 character that begins here, 0: there is none. */
static size_t character(const unsigned char *s)
{
  const size_t n = s[0] < 0x80                   ? 1
                   : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
                   : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
                   : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                                 : 0;
  for (size_t i = 1; i < n; i++)
    if ((s[i] & 0xc0) != 0x80) return 0;
  /* overlong ones, surrogates, beyond the last one */
  if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
      (s[0] == 0xf4 && s[1] > 0x8f))
    return 0;
  return n;
}

static void put_text(bramah__json *json, const char *text)
{
  static const char digits[] = "0123456789abcdef";
  put(json, "\"", 1);
  while (*text) {
    const unsigned char c = (unsigned char)*text;
    const size_t n = character((const unsigned char *)text);
    if (n == 0) {
      put(json, "\\ufffd", 6);
    } else if (c < 0x20 || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' || c == 0x7f) {
      const char escape[] = {'\\', 'u', '0', '0', digits[c >> 4], digits[c & 15]};
      put(json, escape, sizeof escape);
    } else {
      put(json, text, n);
    }
    text += n ? n : 1;
  }
  put(json, "\"", 1);
}

static void name_it(bramah__json *json, const char *name)
{
  if (json->filled) put(json, ",", 1);
  json->filled = 1;
  if (!name) return;
  put_text(json, name);
  put(json, ":", 1);
}

void bramah__json_open(bramah__json *json, const char *name, char bracket)
{
  name_it(json, name);
  put(json, &bracket, 1);
  json->filled = 0;
}

void bramah__json_close(bramah__json *json, char bracket)
{
  put(json, &bracket, 1);
  json->filled = 1;
}

void bramah__json_text(bramah__json *json, const char *name, const char *text)
{
  name_it(json, name);
  if (text)
    put_text(json, text);
  else
    put(json, "null", 4);
}

static void put_number(bramah__json *json, double value, int digits)
{
  char text[BRAMAH__NUMBER_SIZE];
  size_t n = 0;
  if (!isfinite(value)) {
    put(json, "null", 4);
    return;
  }
  for (int k = digits ? digits : 15; k <= (digits ? digits : 17); k++) {
    double back;
    n = bramah__format_number(text, value, k);
    if (bramah__read_number(text, text + n, '.', &back) && back == value) break;
  }
  put(json, text, n);
}

void bramah__json_number(bramah__json *json, const char *name, double value)
{
  name_it(json, name);
  put_number(json, value, 0);
}

void bramah__json_numbers(bramah__json *json, const char *name, size_t n, const double *values, int digits)
{
  bramah__json_open(json, name, '[');
  for (size_t i = 0; i < n; i++) {
    name_it(json, NULL);
    put_number(json, values[i], digits);
  }
  bramah__json_close(json, ']');
}
