/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON messages and JSON Schema. */
#define _GNU_SOURCE /* strtod_l */
#include "lib/logs/message.h"

#include "lib/base/text.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST_JSON = 64, LONGEST_PATH = 512 };

/* ---- JSON ---- */

static void skip_blanks(bramah__message *m)
{
  while (m->at < m->end && (*m->at == ' ' || *m->at == '\t' || *m->at == '\n' || *m->at == '\r')) m->at++;
}

/* The mark that is next, passed over. */
static int takes(bramah__message *m, char mark)
{
  skip_blanks(m);
  if (m->at == m->end || *m->at != (unsigned char)mark) return 0;
  m->at++;
  return 1;
}

/* A text between quotes, as it stands there. */
static int take_text(bramah__message *m, const char **text, size_t *length)
{
  if (!takes(m, '"')) return 0;
  *text = (const char *)m->at;
  for (; m->at < m->end && *m->at != '"'; m->at++)
    if (*m->at == '\\' && ++m->at == m->end) return 0;
  if (m->at == m->end) return 0;
  *length = (size_t)((const char *)m->at++ - *text);
  return 1;
}

static int read_json(bramah__message *m, bramah__slot *slot);

static int is_called(const bramah__slot *part, const char *name, size_t length)
{
  return strlen(part->name) == length && memcmp(part->name, name, length) == 0;
}

/* Where the part of this name is in the table, or would be. */
static uint32_t *place_of(const bramah__slot *slot, const char *name, size_t length)
{
  size_t hash = 5381;
  for (size_t i = 0; i < length; i++) hash = 33 * hash + (unsigned char)name[i];
  for (hash ^= hash >> 15;; hash++) {
    uint32_t *place = &slot->places[hash & (slot->room - 1)];
    if (!*place || is_called(&slot->parts[*place - 1], name, length)) return place;
  }
}

/* Keys mostly come in the same order: the part at `hint` is looked at first. */
static bramah__slot *find_part(bramah__slot *slot, const char *name, size_t length, size_t hint)
{
  if (hint < slot->n && is_called(&slot->parts[hint], name, length)) return &slot->parts[hint];
  const uint32_t place = slot->room ? *place_of(slot, name, length) : 0;
  return place ? &slot->parts[place - 1] : NULL;
}

/* A new part, which find_part finds; NULL as of bramah__slot_add. The table is twice as long as the list at least. */
static bramah__slot *add_part(bramah__slot *slot, const char *name, size_t length, size_t *budget)
{
  if (2 * (slot->n + 1) > slot->room) {
    const size_t room = slot->room ? 2 * slot->room : 16;
    uint32_t *places = calloc(room, sizeof *places);
    if (!places) return NULL;
    free(slot->places);
    slot->places = places;
    slot->room = room;
    for (size_t i = 0; i < slot->n; i++)
      *place_of(slot, slot->parts[i].name, strlen(slot->parts[i].name)) = (uint32_t)i + 1;
  }
  bramah__slot *part = bramah__slot_add(slot, name, length, budget);
  if (part) *place_of(slot, name, length) = (uint32_t)slot->n;
  return part;
}

/* Names of columns are without control characters and brackets. */
static int is_name(const char *text, size_t length)
{
  for (size_t i = 0; i < length; i++)
    if ((unsigned char)text[i] < 0x20 || text[i] == '[' || text[i] == ']') return 0;
  return length > 0;
}

/* Seconds and nanoseconds of an object, with fractions if it has them; other keys are passed over. */
static int read_json_time(bramah__message *m, bramah__slot *slot)
{
  int64_t ns[2];
  int has = 0, is_wrong = 0;
  const char *begin = (const char *)m->at;
  if (takes(m, '}')) return 1;
  do {
    const char *key;
    size_t length;
    if (!take_text(m, &key, &length) || !takes(m, ':')) return 0;
    skip_blanks(m);
    const bramah__slot *part = find_part(slot, key, length, 0);
    const char *value = (const char *)m->at;
    const int which = part == &slot->parts[1];
    if (!read_json(m, NULL)) return 0;
    if (!part || *value == 'n' || *value == 'N') continue; /* null is no sample */
    has |= 1 << which;
    is_wrong |=
        bramah__time_decimal(value, (const char *)m->at, '.', which ? 1 : 1000000000, 0, &ns[which]) != 0;
  } while (takes(m, ','));
  if (!takes(m, '}')) return 0;
  if (is_wrong && bramah__message_wants(m, slot))
    bramah__message_bad_cell(m->reader, slot->column, BRAMAH_E_SYNTAX, begin,
                             (size_t)((const char *)m->at - begin) - 1);
  else if (has == 3 && !is_wrong)
    bramah__message_put_time(m, slot, ns[0] / 1000000000, ns[0] % 1000000000 + ns[1]);
  return 1;
}

static int read_object(bramah__message *m, bramah__slot *slot)
{
  size_t next = 0;
  if (slot && slot->kind == BRAMAH__MESSAGE_TIME) return read_json_time(m, slot);
  if (slot && slot->kind != BRAMAH__MESSAGE_STRUCT) slot = NULL;
  if (takes(m, '}')) return 1;
  do {
    const char *key;
    size_t length;
    if (!take_text(m, &key, &length) || !takes(m, ':')) return 0;
    bramah__slot *part = slot ? find_part(slot, key, length, next) : NULL;
    if (slot && !part && !m->reader && is_name(key, length)) part = add_part(slot, key, length, m->budget);
    if (slot && part) next = (size_t)(part - slot->parts) + 1;
    if (!read_json(m, part)) return 0;
  } while (takes(m, ','));
  return takes(m, '}');
}

static int read_array(bramah__message *m, bramah__slot *slot)
{
  if (slot && slot->kind != BRAMAH__MESSAGE_ARRAY) slot = NULL;
  if (takes(m, ']')) return 1;
  size_t i = 0;
  do {
    if (slot && !m->reader && i >= slot->n) bramah__slot_grow(slot, i + 1, m->budget);
    if (!read_json(m, slot && i < slot->n ? &slot->parts[i] : NULL)) return 0;
    i++;
  } while (takes(m, ','));
  return takes(m, ']');
}

/* A number, or what Python and JavaScript write for those that are none. */
static int read_number(bramah__message *m, bramah__slot *slot)
{
  const char *text = (const char *)m->at, *end = text;
  int is_whole = 1;
  for (; end < (const char *)m->end && *end && strchr("+-.0123456789eEINafinty", *end); end++)
    is_whole &= (*end >= '0' && *end <= '9') || (end == text && *end == '-');
  const size_t n = (size_t)(end - text);
  m->at += n;
  if (!n) return 0;
  if (!bramah__message_wants(m, slot)) return 1;
  char copy[512], *stop;
  double value;
  int64_t whole = 0;
  if (end == (const char *)m->end || !bramah__read_number(text, end, '.', &value)) {
    if (n >= sizeof copy) return 0;
    memcpy(copy, text, n);
    copy[n] = '\0';
    value = strtod_l(copy, &stop, m->c_locale);
    if (*stop) return 0;
  }
  is_whole &= n < 18;
  for (const char *c = text; is_whole && c < end; c++)
    if (*c != '-') whole = 10 * whole + (*c - '0');
  bramah__message_put(m, slot, value, *text == '-' ? -whole : whole, is_whole);
  return 1;
}

static int read_text(bramah__message *m, bramah__slot *slot)
{
  const char *text;
  size_t length;
  if (!take_text(m, &text, &length)) return 0;
  if (!bramah__message_wants(m, slot) || (length == 3 && memcmp(text, "NaN", 3) == 0)) return 1;
  const int is_infinite =
      (length == 8 && memcmp(text, "Infinity", 8) == 0) || (length == 9 && memcmp(text, "-Infinity", 9) == 0);
  bramah__message_bad_cell(m->reader, slot->column, is_infinite ? BRAMAH_E_NOT_FINITE : BRAMAH_E_SYNTAX, text,
                           length);
  return 1;
}

static int take_word(bramah__message *m, const char *word)
{
  const size_t n = strlen(word);
  if ((size_t)(m->end - m->at) < n || memcmp(m->at, word, n) != 0) return 0;
  m->at += n;
  return 1;
}

/* What a value shows of its kind, where nothing is known of it yet. */
static void learn(bramah__slot *slot, unsigned char mark)
{
  if (slot->kind != BRAMAH__MESSAGE_UNKNOWN || mark == 'n') return;
  slot->kind = mark == '{'                  ? BRAMAH__MESSAGE_STRUCT
               : mark == '['                ? BRAMAH__MESSAGE_ARRAY
               : mark == '"'                ? BRAMAH__MESSAGE_TEXT
               : mark == 't' || mark == 'f' ? BRAMAH__MESSAGE_BOOL
                                            : BRAMAH__MESSAGE_FLOAT64;
  if (mark == '"') slot->why_not = "is text: a column is a number";
}

static int read_json(bramah__message *m, bramah__slot *slot)
{
  skip_blanks(m);
  if (m->at == m->end || m->depth >= DEEPEST_JSON) return 0;
  if (slot && m->reader && !slot->is_wanted) slot = NULL;
  if (slot && !m->reader) learn(slot, *m->at);
  const unsigned char mark = *m->at;
  int done = 0;
  m->depth++;
  if (mark == '{') {
    m->at++;
    done = read_object(m, slot);
  } else if (mark == '[') {
    m->at++;
    done = read_array(m, slot);
  } else if (mark == '"') {
    done = read_text(m, slot);
  } else if (mark == 't' || mark == 'f') {
    done = take_word(m, mark == 't' ? "true" : "false");
    if (done) bramah__message_put(m, slot, mark == 't', mark == 't', 1);
  } else if (mark == 'n') {
    done = take_word(m, "null");
  } else {
    done = read_number(m, slot);
  }
  m->depth--;
  return done;
}

/* ---- JSON Schema: `type` and `properties`, in each other ---- */

static int skip_json(bramah__message *m) { return read_json(m, NULL); }

static int read_schema(bramah__message *m, bramah__slot *slot, size_t *budget);

static int read_properties(bramah__message *m, bramah__slot *slot, size_t *budget)
{
  if (!takes(m, '{')) return skip_json(m);
  if (takes(m, '}')) return 1;
  do {
    const char *key;
    size_t length;
    if (!take_text(m, &key, &length) || !takes(m, ':')) return 0;
    bramah__slot *part = is_name(key, length) ? find_part(slot, key, length, slot->n) : NULL;
    if (!part && is_name(key, length)) part = add_part(slot, key, length, budget);
    if (!(part ? read_schema(m, part, budget) : skip_json(m))) return 0;
  } while (takes(m, ','));
  return takes(m, '}');
}

static int read_schema(bramah__message *m, bramah__slot *slot, size_t *budget)
{
  const char *key, *text;
  size_t length, n;
  if (m->depth >= BRAMAH__MESSAGE_DEPTH || !takes(m, '{')) return skip_json(m);
  if (takes(m, '}')) return 1;
  m->depth++;
  do {
    if (!take_text(m, &key, &length) || !takes(m, ':')) return 0;
    skip_blanks(m);
    int done;
    if (length == 10 && memcmp(key, "properties", 10) == 0) {
      slot->kind = BRAMAH__MESSAGE_STRUCT;
      done = read_properties(m, slot, budget);
    } else if (length == 4 && memcmp(key, "type", 4) == 0 && m->at < m->end && *m->at == '"') {
      done = take_text(m, &text, &n);
      if (done && n == 7 && (memcmp(text, "integer", 7) == 0 || memcmp(text, "boolean", 7) == 0))
        slot->kind = *text == 'b' ? BRAMAH__MESSAGE_BOOL : BRAMAH__MESSAGE_FLOAT64;
      if (done && n == 6 && memcmp(text, "number", 6) == 0) slot->kind = BRAMAH__MESSAGE_FLOAT64;
    } else {
      done = skip_json(m);
    }
    if (!done) return 0;
  } while (takes(m, ','));
  m->depth--;
  return takes(m, '}');
}

int bramah__slot_json(bramah__slot *root, const char *schema, size_t length, size_t *budget)
{
  bramah__message m = {.at = (const unsigned char *)schema, .budget = budget};
  m.end = m.at + length;
  root->kind = BRAMAH__MESSAGE_STRUCT;
  read_schema(&m, root, budget); /* as far as it is one: the messages say the rest */
  root->kind = BRAMAH__MESSAGE_STRUCT;
  return 1;
}

bramah_status bramah__message_json(bramah__message *message, bramah__slot *root)
{
  if (!read_json(message, root)) return BRAMAH_E_SYNTAX;
  skip_blanks(message);
  return message->at == message->end ? BRAMAH_OK : BRAMAH_E_SYNTAX;
}
