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

static void put_text(bramah__json *json, const char *text)
{
  static const char digits[] = "0123456789abcdef";
  put(json, "\"", 1);
  while (*text) {
    const unsigned char c = (unsigned char)*text;
    const size_t n = bramah__character(text);
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

void bramah__json_texts(bramah__json *json, const char *name, size_t n, const char *const *texts)
{
  bramah__json_open(json, name, '[');
  for (size_t i = 0; i < n; i++) bramah__json_text(json, NULL, texts[i]);
  bramah__json_close(json, ']');
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
