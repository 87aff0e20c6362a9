/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages: which of their numbers are columns, and cells. */
#define _GNU_SOURCE /* tdestroy */
#include "lib/logs/message.h"

#include "lib/base/text.h"

#include <limits.h>
#include <math.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_MEMBERS = 20000, MOST_TYPES = 4000, LONGEST_PATH = 512 };

/* ---- schemas ---- */

static void keep(void *type) { (void)type; }

void bramah__schema_free(bramah__schema *schema)
{
  tdestroy(schema->by_name, keep);
  for (size_t i = 0; i < schema->n; i++) {
    bramah__message_type *type = schema->types[i];
    for (size_t k = 0; k < type->n; k++) {
      free(type->members[k].name);
      free(type->members[k].type_name);
    }
    free(type->members);
    free(type->by_number);
    free(type->name);
    free(type);
  }
  free(schema->types);
  *schema = (bramah__schema){0};
}

void *bramah__list_grow(void *list, size_t n, size_t size)
{
  return n & (n - 1) ? list : realloc(list, (n ? 2 * n : 1) * size);
}

static int by_name(const void *a, const void *b)
{
  const bramah__message_type *x = a, *y = b;
  return strcmp(x->name, y->name);
}

bramah__message_type *bramah__schema_add(bramah__schema *schema, const char *name, size_t length)
{
  if (schema->n == MOST_TYPES) {
    snprintf(schema->why_not, sizeof schema->why_not, "its schema has more than 4000 types");
    return NULL;
  }
  bramah__message_type **list = bramah__list_grow(schema->types, schema->n, sizeof(bramah__message_type *));
  if (!list) return NULL;
  schema->types = list;
  bramah__message_type *type = calloc(1, sizeof *type);
  if (!type) return NULL;
  type->name = strndup(name, length);
  if (!type->name || !tsearch(type, &schema->by_name, by_name)) return free(type->name), free(type), NULL;
  return list[schema->n++] = type;
}

bramah__message_member *bramah__schema_member(bramah__schema *schema, bramah__message_type *type,
                                              const char *name, size_t length)
{
  if (schema->n_members == MOST_MEMBERS) {
    snprintf(schema->why_not, sizeof schema->why_not, "its schema has more than 20000 fields");
    return NULL;
  }
  bramah__message_member *list = bramah__list_grow(type->members, type->n, sizeof *list);
  if (!list) return NULL;
  type->members = list;
  list[type->n] = (bramah__message_member){.name = strndup(name, length)};
  if (!list[type->n].name) return NULL;
  schema->n_members++;
  return &list[type->n++];
}

bramah__message_type *bramah__schema_find(const bramah__schema *schema, const char *name)
{
  const bramah__message_type key = {.name = (char *)(uintptr_t)name};
  bramah__message_type *const *found = tfind(&key, &schema->by_name, by_name);
  return found ? *found : NULL;
}

static int is_whole_kind(bramah__message_kind kind)
{
  return kind >= BRAMAH__MESSAGE_INT8 && kind <= BRAMAH__MESSAGE_UINT64;
}

static int is_one_of(const char *name, const char *list)
{
  const size_t n = strlen(name);
  for (const char *at = list; n && (at = strstr(at, name)); at += n)
    if ((at == list || at[-1] == ' ') && (at[n] == ' ' || !at[n])) return 1;
  return 0;
}

static int is_time_pair(const char *first, const char *second)
{
  return is_one_of(first, "sec secs seconds") && is_one_of(second, "nanosec nsec nsecs nanos nanoseconds");
}

static int is_time_type(const bramah__message_type *type)
{
  return type->n == 2 && !type->members[0].count && !type->members[1].count &&
         is_whole_kind(type->members[0].kind) && is_whole_kind(type->members[1].kind) &&
         is_time_pair(type->members[0].name, type->members[1].name);
}

/* ---- slots ---- */

static void release(bramah__slot *slot)
{
  for (size_t i = 0; i < slot->n; i++) bramah__slot_free(&slot->parts[i]);
  free(slot->parts);
  free(slot->places);
  slot->parts = NULL;
  slot->places = NULL;
  slot->n = slot->room = 0;
}

void bramah__slot_free(bramah__slot *slot)
{
  release(slot);
  free(slot->name);
  *slot = (bramah__slot){0};
}

bramah__slot *bramah__slot_add(bramah__slot *slot, const char *name, size_t length, size_t *budget)
{
  if (!*budget) return NULL;
  bramah__slot *list = bramah__list_grow(slot->parts, slot->n, sizeof *list);
  if (!list) return NULL;
  slot->parts = list;
  list[slot->n] = (bramah__slot){.name = strndup(name, length), .column = SIZE_MAX};
  if (!list[slot->n].name) return NULL;
  --*budget;
  return &list[slot->n++];
}

static int fill(bramah__slot *slot, bramah__message_kind kind, bramah__message_type *type, int depth,
                size_t *budget);

static int fill_array(bramah__slot *slot, const bramah__message_member *m, int is_named, int depth,
                      size_t *budget)
{
  slot->kind = BRAMAH__MESSAGE_ARRAY;
  slot->member = m;
  slot->depth = depth;
  slot->is_named = is_named && m->count == BRAMAH__MESSAGE_SEQUENCE &&
                   (m->kind == BRAMAH__MESSAGE_FLOAT32 || m->kind == BRAMAH__MESSAGE_FLOAT64);
  if (m->kind == BRAMAH__MESSAGE_TEXT || m->kind == BRAMAH__MESSAGE_WIDE_TEXT)
    slot->why_not = "is text: a column is a number";
  else if (m->kind == BRAMAH__MESSAGE_OPAQUE)
    slot->why_not = "is no number";
  else if (depth >= BRAMAH__MESSAGE_DEPTH)
    slot->why_not = "is nested too deep";
  else if (m->count == BRAMAH__MESSAGE_FIXED)
    bramah__slot_grow(slot, m->n, budget);
  return 1;
}

static int fill_struct(bramah__slot *slot, bramah__message_type *type, int depth, size_t *budget)
{
  if (!type) slot->why_not = "has a type that the schema does not define";
  if (type && is_time_type(type)) slot->kind = BRAMAH__MESSAGE_TIME;
  if (type && (type->is_open || depth >= BRAMAH__MESSAGE_DEPTH))
    slot->why_not = "is nested in itself, or too deep";
  slot->type = type;
  if (slot->why_not || slot->kind == BRAMAH__MESSAGE_TIME) return 1;
  int done = 1;
  type->is_open = 1;
  for (size_t i = 0; done && i < type->n; i++) {
    const bramah__message_member *m = &type->members[i];
    bramah__slot *part = bramah__slot_add(slot, m->name, strlen(m->name), budget);
    done = part || !*budget;
    if (part) {
      part->member = m;
      done = m->count ? fill_array(part, m, type->is_named, depth + 1, budget)
                      : fill(part, m->kind, m->type, depth + 1, budget);
    } else {
      release(slot);
      slot->why_not = "is one of too many: a log has at most 20000 numbers";
      break;
    }
  }
  type->is_open = 0;
  return done;
}

static int fill(bramah__slot *slot, bramah__message_kind kind, bramah__message_type *type, int depth,
                size_t *budget)
{
  slot->kind = kind;
  if (kind == BRAMAH__MESSAGE_STRUCT) return fill_struct(slot, type, depth, budget);
  if (kind == BRAMAH__MESSAGE_TEXT || kind == BRAMAH__MESSAGE_WIDE_TEXT)
    slot->why_not = "is text: a column is a number";
  if (kind == BRAMAH__MESSAGE_OPAQUE) slot->why_not = "is no number";
  return 1;
}

int bramah__slot_make(bramah__slot *root, bramah__message_type *type, size_t *budget)
{
  return fill(root, BRAMAH__MESSAGE_STRUCT, type, 0, budget);
}

int bramah__slot_grow(bramah__slot *array, size_t n, size_t *budget)
{
  char name[24];
  if (array->why_not) return 0;
  if (n > BRAMAH__MESSAGE_ELEMENTS) {
    release(array);
    array->why_not = "has more than 64 elements: longer arrays are no columns";
    return 0;
  }
  const bramah__message_member *m = array->member;
  while (array->n < n) {
    snprintf(name, sizeof name, "[%zu]", array->n);
    bramah__slot *part = bramah__slot_add(array, name, strlen(name), budget);
    if (!part) return 0;
    if (m && !fill(part, m->kind, m->type, array->depth + 1, budget)) return 0;
  }
  return 1;
}

int bramah__slot_is_open(const bramah__slot *slot)
{
  if (slot->why_not) return 0;
  if (slot->kind == BRAMAH__MESSAGE_ARRAY &&
      (!slot->member || slot->member->count == BRAMAH__MESSAGE_SEQUENCE))
    return 1;
  for (size_t i = 0; i < slot->n; i++)
    if (bramah__slot_is_open(&slot->parts[i])) return 1;
  return 0;
}

void bramah__slot_settle(bramah__slot *slot)
{
  const int is_json = !slot->type && slot->kind == BRAMAH__MESSAGE_STRUCT;
  if (is_json && slot->n == 2 && slot->parts[0].kind == BRAMAH__MESSAGE_FLOAT64 &&
      slot->parts[1].kind == BRAMAH__MESSAGE_FLOAT64 &&
      is_time_pair(slot->parts[0].name, slot->parts[1].name))
    slot->kind = BRAMAH__MESSAGE_TIME;
  for (size_t i = 0; i < slot->n; i++) bramah__slot_settle(&slot->parts[i]);
}

static int each(bramah__slot *slot, char *path, size_t used, bramah__slot_visit *visit, void *user)
{
  const int is_leaf = slot->kind != BRAMAH__MESSAGE_STRUCT && slot->kind != BRAMAH__MESSAGE_ARRAY &&
                      slot->kind != BRAMAH__MESSAGE_UNKNOWN;
  if ((is_leaf || slot->why_not) && used) return visit(user, slot, path);
  if (slot->why_not) return 1;
  for (size_t i = 0; i < slot->n; i++) {
    bramah__slot *part = &slot->parts[i];
    const char *dot = used && part->name[0] != '[' ? "." : "";
    for (size_t k = 0; part->is_named && k < part->n; k++) {
      const int n =
          snprintf(path + used, LONGEST_PATH - used, "%s%s.%s", dot, part->parts[k].name, part->name);
      if (n > 0 && (size_t)n < LONGEST_PATH - used && !visit(user, &part->parts[k], path)) return 0;
    }
    if (part->is_named && !part->why_not) continue;
    const int n = snprintf(path + used, LONGEST_PATH - used, "%s%s", dot, part->name);
    if (n <= 0 || (size_t)n >= LONGEST_PATH - used) continue; /* a name no study would have */
    if (!each(part, path, used + (size_t)n, visit, user)) return 0;
  }
  path[used] = '\0';
  return 1;
}

int bramah__slot_each(bramah__slot *slot, bramah__slot_visit *visit, void *user)
{
  char path[LONGEST_PATH] = "";
  return each(slot, path, 0, visit, user);
}

int bramah__slot_choose(bramah__slot *slot, const bramah_log_reader *reader)
{
  slot->is_wanted = slot->column != SIZE_MAX && !reader->columns[slot->column].ignored;
  slot->stop = 0;
  for (size_t i = 0; i < slot->n; i++)
    if (bramah__slot_choose(&slot->parts[i], reader)) slot->stop = i + 1;
  slot->is_wanted |= slot->stop > 0;
  return slot->is_wanted;
}

/* ---- cells ---- */

void bramah__message_bad_cell(bramah_log_reader *reader, size_t column, bramah_status status,
                              const char *quote, size_t n)
{
  bramah__log_fault *f = &reader->fault;
  reader->values[column] = NAN;
  reader->present[column] = 0;
  if (f->status) return;
  *f = (bramah__log_fault){.status = status, .cell = column, .line = reader->row_line};
  snprintf(f->quote, sizeof f->quote, "%.*s", (int)(n < sizeof f->quote ? n : sizeof f->quote - 1), quote);
  bramah__log_bad_cell(reader, column, reader->row_line);
}

int bramah__message_wants(const bramah__message *m, const bramah__slot *slot)
{
  return m->reader && slot && slot->column != SIZE_MAX && !m->reader->columns[slot->column].ignored;
}

/* A time of its clock, in ns or counts, into its cell. */
static void put_clock(bramah_log_reader *reader, size_t column, int64_t time)
{
  reader->time = time;
  reader->values[column] =
      reader->clock.iso ? 1e-9 * (double)time : (double)time / (double)reader->clock.scale;
  reader->present[column] = 1;
}

void bramah__message_put(bramah__message *m, const bramah__slot *slot, double value, int64_t whole,
                         int is_whole)
{
  if (!bramah__message_wants(m, slot)) return;
  bramah_log_reader *reader = m->reader;
  const size_t column = slot->column;
  if (bramah__log_is_no_sample(reader, value)) {
    reader->values[column] = NAN;
    reader->present[column] = 0;
  } else if (column == reader->time_column && isfinite(value)) {
    const int64_t scale = reader->clock.scale, most = INT64_C(9000000000000000000) / scale;
    const long double ns = (long double)value * (long double)scale;
    const int fits = is_whole ? whole <= most && whole >= -most : fabsl(ns) < 9e18L;
    if (!fits || (!is_whole && reader->clock.whole && ns != floorl(ns)))
      bramah__log_bad_number(reader, column, BRAMAH_E_VALUE, value);
    else
      put_clock(reader, column, is_whole ? whole * scale : llroundl(ns));
  } else {
    const double scaled = value * reader->units[column].factor;
    if (!isfinite(scaled)) {
      bramah__log_bad_number(reader, column, BRAMAH_E_NOT_FINITE, value);
      return;
    }
    reader->values[column] = scaled;
    reader->present[column] = 1;
  }
}

void bramah__message_put_time(bramah__message *m, const bramah__slot *slot, int64_t seconds,
                              int64_t nanoseconds)
{
  const int64_t most = INT64_C(9000000000);
  if (!bramah__message_wants(m, slot)) return;
  bramah_log_reader *reader = m->reader;
  const int is_clock = slot->column == reader->time_column;
  const int fits = seconds < most && seconds > -most && nanoseconds < most && nanoseconds > -most;
  const int64_t ns = fits ? seconds * 1000000000 + nanoseconds : 0;
  if (!fits || (is_clock && reader->clock.whole))
    bramah__log_bad_number(reader, slot->column, BRAMAH_E_VALUE, (double)seconds);
  else if (is_clock && (reader->clock.iso || reader->clock.scale == 1000000000))
    put_clock(reader, slot->column, ns);
  else
    bramah__message_put(m, slot, (double)ns / 1e9 / reader->units[slot->column].factor, 0, 0);
}
