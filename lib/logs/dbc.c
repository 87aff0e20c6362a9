/* SPDX-License-Identifier: GPL-3.0-or-later */
/* DBC files ("DBC File Format Documentation", Vector Informatik, version 1.0.5): messages, signals, multiplexing,
 * floating-point signals, texts of values, long names and J1939. All else is passed over. The file is untrusted: what it
 * numbers is checked, lists are bounded by its length. */
#define _GNU_SOURCE /* strtod_l, strcasestr */
#include "lib/logs/can.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { LARGEST_FILE = 64 << 20, NAME = 4096, LONGEST_NAME = 400, MOST_MESSAGES = 20000, MOST_SIGNALS = 2000 };
enum { SLOTS = 1 << 15 };

/* ---- tokens: words, numbers, texts in quotes, and single characters ---- */

typedef struct cursor {
  const char *path, *at, *end;
  int line;
  bramah_diag *diag;
  bramah_status status;
  locale_t c_locale;
  char word[NAME]; /* the token taken last; of a text its first characters */
  int is_text;
  bramah__dbc *dbc;
  size_t first; /* message of this file */
  const char *channel, *missing;
  int j1939_format;      /* number of J1939PG among the values of VFrameFormat; -1: none */
  int default_is_j1939;  /* of VFrameFormat */
  int all_j1939;         /* ProtocolType */
  uint16_t slots[SLOTS]; /* messages of this file, counted from 1, by a hash of their identifiers; 0: free */
} cursor;

static void fail(cursor *c, bramah_status status, const char *thing, const char *format, ...)
    BRAMAH__PRINTF(4, 5);

static void fail(cursor *c, bramah_status status, const char *thing, const char *format, ...)
{
  char message[256];
  va_list list;
  if (c->status) return;
  va_start(list, format);
  vsnprintf(message, sizeof message, format, list);
  va_end(list);
  c->status = bramah__failf(c->diag, status, c->path, c->line, thing, "%s", message);
}

static void *more(cursor *c, void *list, size_t n, size_t size)
{
  /* In steps of powers of two. */
  if (n & (n - 1)) return list;
  void *longer = realloc(list, (n ? 2 * n : 1) * size);
  if (!longer) fail(c, BRAMAH_E_MEMORY, NULL, "out of memory");
  return longer ? longer : list;
}

static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static int is_wordly(char c)
{
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
         (unsigned char)c >= 0x80;
}

static void pass_blanks(cursor *c)
{
  for (; c->at < c->end && is_blank(*c->at); c->at++) c->line += *c->at == '\n';
}

/* Text of Windows-1252 where it is not UTF-8: above 0x9f as Latin-1. */
static void put(cursor *c, size_t *n, unsigned char byte, int is_utf8)
{
  if (*n + 3 > sizeof c->word) return;
  if (byte < 0x80 || is_utf8) {
    c->word[(*n)++] = (char)(byte < 0x20 ? ' ' : byte);
  } else {
    c->word[(*n)++] = (char)(0xc0 | byte >> 6);
    c->word[(*n)++] = (char)(0x80 | (byte & 0x3f));
  }
}

static int is_utf8(const char *text, const char *end)
{
  while (text < end) {
    const unsigned char b = (unsigned char)*text++;
    int more_bytes = b < 0x80             ? 0
                     : (b & 0xe0) == 0xc0 ? 1
                     : (b & 0xf0) == 0xe0 ? 2
                     : (b & 0xf8) == 0xf0 ? 3
                                          : -1;
    if (more_bytes < 0) return 0;
    for (; more_bytes; more_bytes--, text++)
      if (text == end || ((unsigned char)*text & 0xc0) != 0x80) return 0;
  }
  return 1;
}

/* A text in quotes, in which a quote may be escaped. */
static void take_text(cursor *c)
{
  const char *begin = ++c->at;
  size_t n = 0;
  while (c->at < c->end && *c->at != '"') {
    c->line += *c->at == '\n';
    c->at += *c->at == '\\' && c->at + 1 < c->end && (c->at[1] == '"' || c->at[1] == '\\') ? 2 : 1;
  }
  if (c->at >= c->end) {
    fail(c, BRAMAH_E_SYNTAX, NULL, "a text has no closing quote");
    return;
  }
  const int utf8 = is_utf8(begin, c->at);
  for (const char *s = begin; s < c->at; s++) put(c, &n, (unsigned char)*s, utf8);
  c->word[n] = '\0';
  c->at++;
}

/* The next token into word; 0 at the end. */
static int take(cursor *c)
{
  size_t n = 0;
  pass_blanks(c);
  c->word[0] = '\0';
  c->is_text = 0;
  if (c->status || c->at >= c->end) return 0;
  if (*c->at == '"') {
    c->is_text = 1;
    take_text(c);
    return !c->status;
  }
  const char *begin = c->at;
  const int is_sign = (*begin == '-' || *begin == '+' || *begin == '.') && begin + 1 < c->end &&
                      ((begin[1] >= '0' && begin[1] <= '9') || begin[1] == '.');
  if (!is_wordly(*begin) && !is_sign) {
    c->word[0] = *c->at++;
    c->word[1] = '\0';
    return 1;
  }
  const int is_number = is_sign || (*begin >= '0' && *begin <= '9');
  for (c->at++; c->at < c->end; c->at++) {
    const int exponent =
        is_number && (*c->at == '-' || *c->at == '+') && (c->at[-1] == 'e' || c->at[-1] == 'E');
    if (!is_wordly(*c->at) && !(is_number && *c->at == '.') && !exponent) break;
  }
  const int utf8 = is_utf8(begin, c->at);
  for (const char *s = begin; s < c->at; s++) put(c, &n, (unsigned char)*s, utf8);
  c->word[n] = '\0';
  return 1;
}

static int is(const cursor *c, const char *word) { return !c->is_text && strcmp(c->word, word) == 0; }

static void expect(cursor *c, const char *word)
{
  if (!take(c) || !is(c, word))
    fail(c, BRAMAH_E_SYNTAX, NULL, "'%s' is expected, not '%.40s'", word, c->word);
}

/* The next token is that one: it is taken. */
static int accept(cursor *c, char mark)
{
  pass_blanks(c);
  if (c->at >= c->end || *c->at != mark) return 0;
  c->at++;
  return 1;
}

static char *copy_word(cursor *c)
{
  if (!c->is_text && strlen(c->word) > LONGEST_NAME) {
    fail(c, BRAMAH_E_VALUE, NULL, "a name has more than %d characters", LONGEST_NAME);
    return NULL;
  }
  char *copy = strdup(c->word);
  if (!copy) fail(c, BRAMAH_E_MEMORY, NULL, "out of memory");
  return copy;
}

static uint64_t take_whole(cursor *c, uint64_t most)
{
  char *stop = c->word;
  errno = 0;
  if (!take(c)) return fail(c, BRAMAH_E_SYNTAX, NULL, "the file ends where a number is expected"), 0;
  const unsigned long long value = c->word[0] >= '0' && c->word[0] <= '9' ? strtoull(c->word, &stop, 10) : 0;
  if (c->is_text || stop == c->word || *stop)
    fail(c, BRAMAH_E_SYNTAX, NULL, "'%.40s' is no whole number", c->word);
  else if (errno || value > most)
    fail(c, BRAMAH_E_VALUE, NULL, "%.40s is beyond %llu", c->word, (unsigned long long)most);
  return c->status ? 0 : value;
}

static double take_number(cursor *c)
{
  char *stop = c->word;
  if (!take(c)) return fail(c, BRAMAH_E_SYNTAX, NULL, "the file ends where a number is expected"), 0.0;
  const double value = strtod_l(c->word, &stop, c->c_locale);
  if (c->is_text || stop == c->word || *stop || !isfinite(value) || strpbrk(c->word, "xX"))
    fail(c, BRAMAH_E_SYNTAX, NULL, "'%.40s' is no number", c->word);
  return value;
}

/* To behind the next semicolon that is in no text. */
static void pass_statement(cursor *c)
{
  while (!is(c, ";") && take(c)) {
  }
}

static void pass_line(cursor *c)
{
  while (c->at < c->end && *c->at != '\n') c->at++;
}

/* ---- messages and signals ---- */

/* Where the message with that identifier is among those of this file, or would be. */
static size_t slot_of(const cursor *c, uint32_t id)
{
  for (size_t at = id * UINT32_C(2654435761) >> 17;; at = (at + 1) % SLOTS) {
    const bramah__dbc_message *m = c->slots[at] ? &c->dbc->messages[c->slots[at] - 1] : NULL;
    if (!m || (m->id | (m->is_extended ? UINT32_C(0x80000000) : 0)) == id) return at;
  }
}

/* Of this file; NULL: none. */
static bramah__dbc_message *message_of(const cursor *c, uint32_t id)
{
  const unsigned message = c->slots[slot_of(c, id)];
  return message ? &c->dbc->messages[message - 1] : NULL;
}

static bramah__dbc_signal *signal_of(const bramah__dbc_message *m, const char *name)
{
  for (size_t i = 0; m && i < m->n_signals; i++)
    if (strcmp(m->signals[i].name, name) == 0) return &m->signals[i];
  return NULL;
}

/* BO_ id name: length sender */
static void take_message(cursor *c)
{
  const uint32_t id = (uint32_t)take_whole(c, UINT32_MAX);
  bramah__dbc *dbc = c->dbc;
  if (c->status) return;
  if (message_of(c, id)) {
    fail(c, BRAMAH_E_KEY, NULL, "the message %lu is there twice", (unsigned long)id);
    return;
  }
  if (dbc->n_messages == MOST_MESSAGES) fail(c, BRAMAH_E_VALUE, NULL, "more than %d messages", MOST_MESSAGES);
  take(c);
  if (!c->status) dbc->messages = more(c, dbc->messages, dbc->n_messages, sizeof *dbc->messages);
  if (c->status) return;
  bramah__dbc_message *m = &dbc->messages[dbc->n_messages];
  *m = (bramah__dbc_message){.id = id & UINT32_C(0x1fffffff), .is_extended = (int)(id >> 31), .format = -1};
  m->name = copy_word(c);
  if (c->status) return;
  dbc->n_messages++;
  snprintf(m->channel, sizeof m->channel, "%s", c->channel);
  /* The message of signals that nobody sends (0xC0000000), or a mistake: never met. */
  if (id & UINT32_C(0x60000000) || (!m->is_extended && m->id > 0x7ff)) {
    m->id = BRAMAH__DBC_NEVER;
    m->is_extended = 0;
  } else {
    c->slots[slot_of(c, id)] = (uint16_t)dbc->n_messages;
  }
  expect(c, ":");
  m->length = (unsigned)take_whole(c, 65535);
  pass_line(c);
}

/* Bits in the order of the frame: the first and the last one of a signal. */
static int fits(const bramah__dbc_signal *s, unsigned bytes)
{
  if (!s->is_big) return s->start + s->length <= 8 * bytes;
  const unsigned first = 8 * (s->start / 8) + 7 - s->start % 8;
  return first + s->length <= 8 * bytes;
}

/* M, m3, m3M */
static void take_multiplexing(cursor *c, bramah__dbc_signal *s)
{
  const char *at = c->word;
  if (*at == 'm') {
    char *stop;
    const unsigned long long value = strtoull(at + 1, &stop, 10);
    s->ranges = calloc(1, sizeof *s->ranges);
    if (!s->ranges) fail(c, BRAMAH_E_MEMORY, NULL, "out of memory");
    if (c->status) return;
    s->ranges[0][0] = s->ranges[0][1] = value;
    s->n_ranges = 1;
    if (stop == at + 1) fail(c, BRAMAH_E_SYNTAX, s->name, "'%.40s' is none of M, m and a number", c->word);
    at = stop;
  }
  s->is_multiplexer = *at == 'M';
  at += *at == 'M';
  if (*at) fail(c, BRAMAH_E_SYNTAX, s->name, "'%.40s' is none of M, m and a number", c->word);
}

/* SG_ name [multiplexing] : start|length@order sign (factor,offset) [least|most] "unit" receivers */
static void take_signal(cursor *c)
{
  bramah__dbc *dbc = c->dbc;
  if (dbc->n_messages == c->first) {
    fail(c, BRAMAH_E_SYNTAX, NULL, "a signal before the first message");
    return;
  }
  bramah__dbc_message *m = &dbc->messages[dbc->n_messages - 1];
  take(c);
  if (signal_of(m, c->word))
    fail(c, BRAMAH_E_KEY, c->word, "the message %.60s has this signal twice", m->name);
  if (m->n_signals == MOST_SIGNALS) fail(c, BRAMAH_E_VALUE, m->name, "more than %d signals", MOST_SIGNALS);
  if (!c->status) m->signals = more(c, m->signals, m->n_signals, sizeof *m->signals);
  if (c->status) return;
  bramah__dbc_signal *s = &m->signals[m->n_signals];
  *s = (bramah__dbc_signal){.multiplexer = BRAMAH__DBC_NONE, .line = c->line};
  s->name = copy_word(c);
  if (c->status) return;
  m->n_signals++;
  if (!accept(c, ':')) {
    take(c);
    take_multiplexing(c, s);
    expect(c, ":");
  }
  s->start = (unsigned)take_whole(c, 8 * 65535);
  expect(c, "|");
  s->length = (unsigned)take_whole(c, 8 * 65535);
  expect(c, "@");
  s->is_big = c->at < c->end && *c->at == '0';
  if (!s->is_big && !(c->at < c->end && *c->at == '1'))
    fail(c, BRAMAH_E_SYNTAX, s->name, "behind @ 0 (big endian) or 1 (little endian) is expected");
  if (!c->status) c->at++;
  s->is_signed = accept(c, '-');
  if (!s->is_signed && !accept(c, '+'))
    fail(c, BRAMAH_E_SYNTAX, s->name, "+ (unsigned) or - (signed) is expected");
  expect(c, "(");
  s->factor = take_number(c);
  expect(c, ",");
  s->offset = take_number(c);
  expect(c, ")");
  expect(c, "[");
  s->least = take_number(c);
  expect(c, "|");
  s->most = take_number(c);
  expect(c, "]");
  take(c);
  if (!c->status && !c->is_text) fail(c, BRAMAH_E_SYNTAX, s->name, "a unit in quotes is expected");
  s->unit = copy_word(c);
  if (c->status) return;
  if (!s->length || (m->length && !fits(s, m->length)))
    fail(c, BRAMAH_E_VALUE, s->name, "the signal does not fit into the %u bytes of %.60s", m->length,
         m->name);
  pass_line(c);
}

/* ---- what is said of them further down ---- */

/* id and name of a signal, which may be one that the file does not have: NULL. */
static bramah__dbc_signal *take_reference(cursor *c, bramah__dbc_message **message)
{
  const uint32_t id = (uint32_t)take_whole(c, UINT32_MAX);
  *message = c->status ? NULL : message_of(c, id);
  take(c);
  return signal_of(*message, c->word);
}

/* SIG_VALTYPE_ id name : 1 (float) or 2 (double); */
static void take_float(cursor *c)
{
  bramah__dbc_message *m;
  bramah__dbc_signal *s = take_reference(c, &m);
  accept(c, ':');
  const unsigned kind = (unsigned)take_whole(c, 3);
  if (s && kind) s->is_float = kind == 1 ? 32 : 64;
  if (s && !c->status && kind && s->length != (unsigned)s->is_float)
    fail(c, BRAMAH_E_VALUE, s->name, "a floating-point number of %d bits in %u bits", s->is_float, s->length);
  pass_statement(c);
}

/* SG_MUL_VAL_ id name multiplexer first-last, first-last; */
static void take_ranges(cursor *c)
{
  bramah__dbc_message *m;
  bramah__dbc_signal *s = take_reference(c, &m);
  take(c);
  const bramah__dbc_signal *by = signal_of(m, c->word);
  if (!c->status && s && !by)
    fail(c, BRAMAH_E_REFERENCE, s->name, "there is no multiplexer '%.60s'", c->word);
  if (c->status || !s) {
    pass_statement(c);
    return;
  }
  s->multiplexer = (int)(by - m->signals);
  s->n_ranges = 0;
  do {
    uint64_t range[2];
    range[0] = take_whole(c, UINT64_MAX);
    if (!accept(c, '-')) fail(c, BRAMAH_E_SYNTAX, s->name, "a range like 0-3 is expected");
    range[1] = take_whole(c, UINT64_MAX);
    /* The first one may have room from before. */
    if (s->n_ranges || !s->ranges) s->ranges = more(c, s->ranges, s->n_ranges, sizeof *s->ranges);
    if (c->status) return;
    memcpy(s->ranges[s->n_ranges++], range, sizeof range);
  } while (accept(c, ','));
  pass_statement(c);
}

/* Is it one of these words, separated by blanks? */
static int is_among(const char *text, const char *words)
{
  const size_t n = strlen(text);
  for (words += strspn(words, " "); *words; words += strspn(words, " ")) {
    const size_t length = strcspn(words, " ");
    if (length == n && memcmp(words, text, n) == 0) return 1;
    words += length;
  }
  return 0;
}

/* Texts by which a device says that it does not know. */
static int means_nothing(const char *text)
{
  static const char *const words[] = {"sna",
                                      "n/a",
                                      "na",
                                      "not available",
                                      "not_available",
                                      "notavailable",
                                      "invalid",
                                      "signal not available",
                                      "signalnotavailable",
                                      "error",
                                      "error indicator"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strcasecmp(text, words[i]) == 0) return 1;
  return 0;
}

/* VAL_ id name number "text" ... ; of an environment variable there is no id. */
static void take_values(cursor *c)
{
  bramah__dbc_message *m;
  pass_blanks(c);
  if (c->at < c->end && !(*c->at >= '0' && *c->at <= '9')) {
    pass_statement(c);
    return;
  }
  bramah__dbc_signal *s = take_reference(c, &m);
  while (take(c) && !is(c, ";")) {
    const double value = strtod_l(c->word, NULL, c->c_locale);
    if (!take(c) || !c->is_text) break;
    if (!s || !(fabs(value) < 9e15) || !(means_nothing(c->word) || is_among(c->word, c->missing))) continue;
    s->missing = more(c, s->missing, s->n_missing, sizeof *s->missing);
    if (c->status) return;
    s->missing[s->n_missing++] = (uint64_t)(int64_t)value;
  }
  pass_statement(c);
}

/* BA_DEF_ BO_ "VFrameFormat" ENUM "StandardCAN","ExtendedCAN",...; */
static void take_definition(cursor *c)
{
  int number = 0;
  take(c);
  if (!c->is_text) take(c);
  if (!c->is_text || strcmp(c->word, "VFrameFormat") != 0) {
    pass_statement(c);
    return;
  }
  take(c);
  while (take(c) && !is(c, ";")) {
    if (c->is_text && strncasecmp(c->word, "J1939", 5) == 0) c->j1939_format = number;
    number += c->is_text;
  }
}

static void rename_to(cursor *c, char **name)
{
  c->is_text = 0; /* a name, although in quotes */
  char *copy = copy_word(c);
  if (copy && *copy) {
    free(*name);
    *name = copy;
  } else {
    free(copy);
  }
}

/* BA_ "name" [BO_ id | SG_ id signal | ...] value; and BA_DEF_DEF_ "name" value; */
static void take_attribute(cursor *c, int is_default)
{
  char name[64];
  take(c);
  snprintf(name, sizeof name, "%.63s", c->word);
  const int is_format = strcmp(name, "VFrameFormat") == 0;
  take(c);
  if (strcmp(name, "ProtocolType") == 0) {
    c->all_j1939 = strcasecmp(c->word, "J1939") == 0;
  } else if (is_default) {
    if (is_format) c->default_is_j1939 = strncasecmp(c->word, "J1939", 5) == 0;
  } else if (is(c, "BO_")) {
    const uint32_t id = (uint32_t)take_whole(c, UINT32_MAX);
    bramah__dbc_message *m = c->status ? NULL : message_of(c, id);
    take(c);
    if (m && is_format) m->format = (int)strtol(c->word, NULL, 10);
    if (m && strcmp(name, "SystemMessageLongSymbol") == 0) rename_to(c, &m->name);
  } else if (is(c, "SG_")) {
    bramah__dbc_message *m;
    bramah__dbc_signal *s = take_reference(c, &m);
    take(c);
    const int is_long = s && strcmp(name, "SystemSignalLongSymbol") == 0;
    if (is_long && signal_of(m, c->word) && signal_of(m, c->word) != s)
      fail(c, BRAMAH_E_KEY, c->word, "the message %.60s has this signal twice", m->name);
    if (is_long) rename_to(c, &s->name);
  }
  pass_statement(c);
}

/* Words of this list are passed over, with what belongs to them up to a semicolon. */
static int is_other(const cursor *c)
{
  static const char *const words[] = {
      "CM_",        "VAL_TABLE_",  "EV_",         "ENVVAR_DATA_",     "SGTYPE_",        "SIG_TYPE_REF_",
      "SIG_GROUP_", "BA_DEF_REL_", "BA_REL_",     "BA_SGTYPE_",       "BA_DEF_SGTYPE_", "BO_TX_BU_",
      "BU_SG_REL_", "BU_EV_REL_",  "BU_BO_REL_",  "SIGTYPE_VALTYPE_", "CAT_DEF_",       "CAT_",
      "FILTER",     "NS_DESC_",    "SGTYPE_VAL_", "BA_DEF_DEF_REL_",  "EV_DATA_"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (is(c, words[i])) return 1;
  return 0;
}

/* NS_: names of symbols, up to one at the beginning of a line. */
static void pass_symbols(cursor *c)
{
  do {
    pass_line(c);
    while (c->at < c->end && (*c->at == '\n' || *c->at == '\r')) c->line += *c->at++ == '\n';
  } while (c->at < c->end && is_blank(*c->at));
}

static void take_statement(cursor *c)
{
  if (is(c, "BO_"))
    take_message(c);
  else if (is(c, "SG_"))
    take_signal(c);
  else if (is(c, "SIG_VALTYPE_"))
    take_float(c);
  else if (is(c, "SG_MUL_VAL_"))
    take_ranges(c);
  else if (is(c, "VAL_"))
    take_values(c);
  else if (is(c, "BA_DEF_"))
    take_definition(c);
  else if (is(c, "BA_") || is(c, "BA_DEF_DEF_"))
    take_attribute(c, is(c, "BA_DEF_DEF_"));
  else if (is_other(c))
    pass_statement(c);
  else if (is(c, "NS_"))
    pass_symbols(c);
  else if (is(c, "VERSION") || is(c, "BS_") || is(c, "BU_"))
    pass_line(c);
  else if (is(c, "/") && accept(c, '/'))
    pass_line(c); /* no part of the format, but of files */
  else if (!is(c, ";"))
    fail(c, BRAMAH_E_SYNTAX, NULL, "'%.40s' begins nothing that a DBC file has", c->word);
}

/* ---- the whole ---- */

/* Signals that are multiplexed without saying by which belong to the one multiplexer of the message. */
static void settle_multiplexers(cursor *c, bramah__dbc_message *m)
{
  int by = BRAMAH__DBC_NONE, several = 0;
  for (size_t i = 0; i < m->n_signals; i++) {
    if (!m->signals[i].is_multiplexer || m->signals[i].n_ranges) continue;
    several |= by != BRAMAH__DBC_NONE;
    by = (int)i;
  }
  for (size_t i = 0; !c->status && i < m->n_signals; i++) {
    bramah__dbc_signal *s = &m->signals[i];
    if (!s->n_ranges) continue;
    c->line = s->line;
    if (s->multiplexer == BRAMAH__DBC_NONE) s->multiplexer = several ? BRAMAH__DBC_NONE : by;
    if (s->multiplexer == BRAMAH__DBC_NONE)
      fail(c, BRAMAH_E_REFERENCE, s->name, "the message %.60s has %s multiplexer for this signal", m->name,
           several ? "more than one" : "no");
    size_t depth = 0;
    for (int at = s->multiplexer; at != BRAMAH__DBC_NONE && depth <= m->n_signals; depth++)
      at = m->signals[at].n_ranges ? m->signals[at].multiplexer : BRAMAH__DBC_NONE;
    if (depth > m->n_signals)
      fail(c, BRAMAH_E_REFERENCE, s->name, "multiplexers of %.60s decide about each other in a circle",
           m->name);
    else if (s->multiplexer != BRAMAH__DBC_NONE && m->signals[s->multiplexer].length > 64)
      fail(c, BRAMAH_E_VALUE, s->name, "its multiplexer has more than 64 bits");
  }
}

static void settle(cursor *c)
{
  for (size_t i = c->first; !c->status && i < c->dbc->n_messages; i++) {
    bramah__dbc_message *m = &c->dbc->messages[i];
    const int by_format = m->format < 0 ? c->default_is_j1939 : m->format == c->j1939_format;
    const int null_address = m->format < 0 && (m->id & 0xff) == 0xfe;
    m->is_j1939 = m->is_extended && (by_format || null_address || (c->all_j1939 && m->format < 0));
    settle_multiplexers(c, m);
  }
}

static char *read_file(cursor *c, size_t *n)
{
  struct stat about;
  char *text = NULL;
  FILE *file = fopen(c->path, "rbe");
  if (!file || fstat(fileno(file), &about)) {
    c->line = 0;
    fail(c, BRAMAH_E_FILE, NULL, "cannot open: %s", strerror_l(errno, c->c_locale));
  } else if (!S_ISREG(about.st_mode) || about.st_size > LARGEST_FILE) {
    fail(c, BRAMAH_E_FILE, NULL, "this is no DBC file: it is %s",
         S_ISREG(about.st_mode) ? "larger than 64 MiB" : "no file");
  } else {
    text = malloc((size_t)about.st_size + 1);
    if (!text) fail(c, BRAMAH_E_MEMORY, NULL, "out of memory");
    *n = text ? fread(text, 1, (size_t)about.st_size, file) : 0;
  }
  if (file) fclose(file);
  return text;
}

bramah_status bramah__dbc_read(bramah__dbc *dbc, const char *path, const char *channel, const char *missing,
                               bramah_diag *diag)
{
  cursor *c = calloc(1, sizeof *c);
  size_t n = 0;
  if (!c) return bramah__fail_memory(diag);
  *c = (cursor){.path = path,
                .line = 1,
                .diag = diag,
                .dbc = dbc,
                .first = dbc->n_messages,
                .channel = channel,
                .missing = missing,
                .j1939_format = -1};
  c->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (!c->c_locale) fail(c, BRAMAH_E_MEMORY, NULL, "out of memory");
  char *text = c->status ? NULL : read_file(c, &n);
  if (text) {
    c->at = text;
    c->end = text + n;
    if (n > 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) c->at += 3;
    while (take(c)) take_statement(c);
    if (!c->status && dbc->n_messages == c->first)
      fail(c, BRAMAH_E_EMPTY, NULL, "this DBC file has no messages (BO_)");
    settle(c);
  }
  const bramah_status status = c->status;
  if (c->c_locale) freelocale(c->c_locale);
  free(text);
  free(c);
  return status;
}

void bramah__dbc_free(bramah__dbc *dbc)
{
  for (size_t i = 0; i < dbc->n_messages; i++) {
    bramah__dbc_message *m = &dbc->messages[i];
    for (size_t k = 0; k < m->n_signals; k++) {
      free(m->signals[k].name);
      free(m->signals[k].unit);
      free(m->signals[k].ranges);
      free(m->signals[k].missing);
    }
    free(m->signals);
    free(m->name);
  }
  free(dbc->messages);
  *dbc = (bramah__dbc){0};
}

/* ---- decoding ---- */

/* Its bits as a whole number; 0 if the frame does not have them. A little-endian signal goes up from its first bit, a
 * big-endian one down from its highest, through the bytes in their order. */
static int raw_of(const bramah__dbc_signal *s, const unsigned char *data, unsigned n, uint64_t *out)
{
  if (s->length > 64 || !fits(s, n)) return 0;
  uint64_t raw = 0;
  const unsigned first = s->is_big ? 8 * (s->start / 8) + 7 - s->start % 8 : s->start;
  for (unsigned done = 0; done < s->length;) {
    const unsigned bit = first + done, within = bit % 8, left = s->length - done;
    const unsigned count = 8 - within < left ? 8 - within : left, mask = (1U << count) - 1;
    const unsigned byte = data[bit / 8];
    if (s->is_big)
      raw = raw << count | (byte >> (8 - within - count) & mask);
    else
      raw |= (uint64_t)(byte >> within & mask) << done;
    done += count;
  }
  *out = raw;
  return 1;
}

/* 1 if its multiplexers have the values it is sent with. */
static int is_sent(const bramah__dbc_message *m, const bramah__dbc_signal *s, const unsigned char *data,
                   unsigned n)
{
  while (s->n_ranges) {
    const bramah__dbc_signal *by = &m->signals[s->multiplexer];
    uint64_t value;
    int within = 0;
    if (!raw_of(by, data, n, &value)) return 0;
    for (size_t i = 0; i < s->n_ranges; i++) within |= value >= s->ranges[i][0] && value <= s->ranges[i][1];
    if (!within) return 0;
    s = by;
  }
  return 1;
}

/* J1939-71, "transmitted signal ranges": above 250 (FA00, FA000000) of 255 a device has nothing to say, in fewer bits
 * with the two highest values. A range in the file that goes so far says that they are values, but never all ones of
 * whole bytes: files have the range of the bits where nobody has thought of one. */
static int is_unavailable(const bramah__dbc_signal *s, uint64_t raw, double value)
{
  const uint64_t all = s->length >= 64 ? UINT64_MAX : (UINT64_C(1) << s->length) - 1;
  if (s->is_signed || s->is_float || s->length < 2) return 0;
  if (raw == all && s->length >= 8) return 1;
  if (s->least < s->most && value >= s->least && value <= s->most) return 0;
  if (s->length % 8 == 0) return raw >> (s->length - 8) > 250;
  return raw >= all - 1;
}

int bramah__dbc_decode(const bramah__dbc_message *message, size_t signal, const unsigned char *data,
                       unsigned n, double *value)
{
  const bramah__dbc_signal *s = &message->signals[signal];
  uint64_t raw;
  if (!is_sent(message, s, data, n) || !raw_of(s, data, n, &raw)) return 0;
  double number = (double)raw;
  if (s->is_float == 64) {
    memcpy(&number, &raw, sizeof number);
  } else if (s->is_float) {
    const uint32_t bits = (uint32_t)raw;
    float narrow;
    memcpy(&narrow, &bits, sizeof narrow);
    number = (double)narrow;
  } else if (s->is_signed) {
    const uint64_t sign = UINT64_C(1) << (s->length - 1);
    raw = (raw ^ sign) - sign;
    number = (double)(int64_t)raw;
  }
  for (size_t i = 0; i < s->n_missing; i++)
    if (s->missing[i] == raw && !s->is_float) return 0;
  *value = number * s->factor + s->offset;
  return !(message->is_j1939 && is_unavailable(s, raw, *value));
}
