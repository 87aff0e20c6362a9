/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How libFuzzer changes an input: half of the time by bytes and dictionary as ever, otherwise by lines,
 * words and numbers, since a byte changed at random seldom leaves a text that is a table or a machine. */
#include "test/fuzz/fuzz.h"

#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

typedef struct text {
  uint8_t *data;
  size_t size, room;
  uint64_t random;
} text;

typedef struct range {
  size_t begin, end;
} range;

/* xorshift64*, enough for choosing. */
static size_t below(text *t, size_t n)
{
  t->random ^= t->random >> 12;
  t->random ^= t->random << 25;
  t->random ^= t->random >> 27;
  return n ? (size_t)((t->random * UINT64_C(0x2545F4914F6CDD1D)) >> 33) % n : 0;
}

/* Put `n` bytes in place of a range; nothing if there is no room. `with` must not lie in the text. */
static void replace(text *t, range r, const uint8_t *with, size_t n)
{
  if (t->size - (r.end - r.begin) + n > t->room) return;
  memmove(t->data + r.begin + n, t->data + r.end, t->size - r.end);
  if (n) memcpy(t->data + r.begin, with, n);
  t->size = t->size - (r.end - r.begin) + n;
}

/* The same with bytes of the text itself. */
static void replace_by_range(text *t, range r, range from)
{
  static uint8_t copy[1 << 16];
  const size_t n = from.end - from.begin;
  if (n > sizeof copy) return;
  memcpy(copy, t->data + from.begin, n);
  replace(t, r, copy, n);
}

static range line_at(const text *t, size_t at)
{
  range r = {at, at};
  while (r.begin && t->data[r.begin - 1] != '\n') r.begin--;
  while (r.end < t->size && t->data[r.end] != '\n') r.end++;
  if (r.end < t->size) r.end++;
  return r;
}

static int in_word(uint8_t c)
{
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' ||
         c == '-' || c == '+';
}

/* The word at or behind a place; empty at the end of the text. */
static range word_at(const text *t, size_t at)
{
  while (at < t->size && !in_word(t->data[at])) at++;
  range r = {at, at};
  while (r.begin && in_word(t->data[r.begin - 1])) r.begin--;
  while (r.end < t->size && in_word(t->data[r.end])) r.end++;
  return r;
}

/* What stands between a bracket at or behind a place and its partner, brackets included. */
static range group_at(const text *t, size_t at)
{
  int depth = 0;
  while (at < t->size && !strchr("[{\"", t->data[at] ? t->data[at] : 'x')) at++;
  range r = {at, at};
  if (at == t->size) return r;
  if (t->data[at] == '"') {
    for (r.end++; r.end < t->size && t->data[r.end] != '"'; r.end++) continue;
    if (r.end < t->size) r.end++;
    return r;
  }
  for (; r.end < t->size; r.end++) {
    depth += t->data[r.end] == '[' || t->data[r.end] == '{';
    depth -= t->data[r.end] == ']' || t->data[r.end] == '}';
    if (depth <= 0) break;
  }
  if (r.end < t->size) r.end++;
  return r;
}

static void change_number(text *t)
{
  static const char *const numbers[] = {
      "0",      "-0",     "1",       "-1",      "1e308", "-1e308",     "1e309", "1e-308",
      "1e-320", "1e-400", "1e22",    "nan",     "inf",   "-inf",       "0x10",  "1e9999999999",
      ".5",     "5.",     "+3",      "1e",      "1e+",   "2147483648", "0.1",   "1e-15",
      "1e15",   "1000",   "1000000", "1e6",     "1e-6",  "90",         "180",   "9223372036854775808",
      "-",      "",       "1e18",    "1.7e308", "1e154", "1e-154",     "1e100", "1e-100"};
  size_t at = below(t, t->size);
  while (at < t->size && !(t->data[at] >= '0' && t->data[at] <= '9')) at++;
  const char *number = numbers[below(t, sizeof numbers / sizeof numbers[0])];
  if (at < t->size) replace(t, word_at(t, at), (const uint8_t *)number, strlen(number));
}

static void change_line(text *t)
{
  const range here = line_at(t, below(t, t->size)), there = line_at(t, below(t, t->size));
  const range before = {here.begin, here.begin};
  switch (below(t, 4)) {
  case 0:
    replace(t, here, NULL, 0);
    break; /* delete */
  case 1:
    replace_by_range(t, before, there);
    break; /* copy */
  case 2:
    replace_by_range(t, here, there);
    break; /* overwrite */
  default:
    replace(t, before, (const uint8_t *)"  ", 2); /* indent */
  }
}

static void change_word(text *t)
{
  const range here = word_at(t, below(t, t->size)), there = word_at(t, below(t, t->size));
  if (below(t, 8))
    replace_by_range(t, here, there);
  else
    replace(t, here, NULL, 0);
}

static void change_group(text *t)
{
  const range here = group_at(t, below(t, t->size)), there = group_at(t, below(t, t->size));
  const range before = {here.begin, here.begin}, word = word_at(t, below(t, t->size));
  switch (below(t, 4)) {
  case 0:
    replace_by_range(t, before, there);
    break;
  case 1:
    replace_by_range(t, here, there);
    break;
  case 2:
    replace_by_range(t, word, there);
    break;
  default:
    replace_by_range(t, here, word);
  }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
  static void (*const changes[])(text *) = {change_number, change_number, change_line,
                                            change_word,   change_word,   change_group};
  text t = {.data = data, .size = size, .room = max_size, .random = seed * UINT64_C(0x9E3779B97F4A7C15) + 1};
  if (size == 0 || below(&t, 2)) return LLVMFuzzerMutate(data, size, max_size);
  for (size_t n = 1 + below(&t, 3); n && t.size; n--)
    changes[below(&t, sizeof changes / sizeof changes[0])](&t);
  return t.size;
}
