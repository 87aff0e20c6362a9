/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* locale_t, strtod_l */
#include "lib/io/schema.h"
#include "lib/base/diag.h"
#include "lib/io/fail.h"
#include "lib/base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_LISTING = 64, LARGEST_MAPPING = 10000, MOST_MISTAKES = 1000 };
enum { MOST_CHANGES = 1000 }; /* each copies what it goes through */

#define NO_NAME "'%s' is no name; names are letters, digits, _ and -"

/* Enumerations of the description are read as int. */
_Static_assert(sizeof(bramah_joint_type) == sizeof(int), "enumerations must have the size of int");
_Static_assert(sizeof(bramah_sensor_kind) == sizeof(int), "enumerations must have the size of int");

static void *member(void *object, size_t offset) { return (unsigned char *)object + offset; }

static size_t write_path(const bramah__item *item, char *out, size_t n, size_t used)
{
  char index[BRAMAH__NUMBER_SIZE];
  const char *name = item->name;
  if (item->parent) used = write_path(item->parent, out, n, used);
  if (!item->parent) return used;
  if (used) used = bramah__append(out, n, used, ".");
  if (!name) bramah__format_integer(index, (int64_t)item->index);
  return bramah__append(out, n, used, name ? name : index);
}

static bramah_status locate(bramah__reader *reader, const bramah__item *item, const bramah__node *node)
{
  reader->diag->thing[0] = '\0';
  write_path(item, reader->diag->thing, sizeof reader->diag->thing, 0);
  return bramah__at(reader->diag, node->file, node->line, node->column);
}

BRAMAH__PRINTF(5, 0)
static bramah_status fail_at(bramah__reader *reader, const bramah__item *item, const bramah__node *node,
                             bramah_status status, const char *format, va_list arguments)
{
  char message[sizeof reader->diag->message];
  vsnprintf(message, sizeof message, format, arguments);
  bramah__fail(reader->diag, status, NULL, message);
  return locate(reader, item, node);
}

bramah_status bramah__fail_item(bramah__reader *reader, const bramah__item *item, bramah_status status,
                                const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  fail_at(reader, item, item->node, status, format, arguments);
  va_end(arguments);
  return status;
}

bramah_status bramah__fail_key(bramah__reader *reader, const bramah__item *item, bramah_status status,
                               const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  fail_at(reader, item, item->key ? item->key : item->node, status, format, arguments);
  va_end(arguments);
  return status;
}

bramah_status bramah__fail_missing(bramah__reader *reader, const bramah__item *mapping, const char *key)
{
  return bramah__fail_key(reader, mapping, BRAMAH_E_KEY, "required key '%s' is missing", key);
}

bramah_status bramah__go_on(bramah__reader *reader, bramah_status status)
{
  if (!status || !reader->tell || status == BRAMAH_E_MEMORY || reader->mistakes == MOST_MISTAKES)
    return status;
  if (reader->mistakes++ == 0) reader->first = status;
  reader->tell(reader->tell_user, reader->diag);
  bramah_diag_clear(reader->diag);
  return reader->mistakes == MOST_MISTAKES ? status : BRAMAH_OK;
}

bramah__item bramah__item_at(const bramah__item *parent, size_t i)
{
  const bramah__node *node = parent->node;
  const bramah__node *key = node->kind == BRAMAH__NODE_MAPPING ? node->keys[i] : NULL;
  return (bramah__item){.parent = parent,
                        .name = key ? (key->kind == BRAMAH__NODE_SCALAR ? key->text : "?") : NULL,
                        .index = i,
                        .key = key,
                        .node = node->items[i]};
}

int bramah__item_find(const bramah__item *mapping, const char *name, bramah__item *out)
{
  const bramah__node *node = mapping->node;
  for (size_t i = 0; node->kind == BRAMAH__NODE_MAPPING && i < node->n; i++)
    if (node->keys[i]->kind == BRAMAH__NODE_SCALAR && strcmp(node->keys[i]->text, name) == 0) {
      *out = bramah__item_at(mapping, i);
      return 1;
    }
  return 0;
}

int bramah__item_is_empty(const bramah__item *item)
{
  return item->node->kind == BRAMAH__NODE_SCALAR && !item->node->quoted && !*item->node->text;
}

int bramah__item_line(const bramah__item *item) { return item->key ? item->key->line : item->node->line; }

const char *bramah__item_text(bramah__reader *reader, const bramah__item *item, bramah_status *status)
{
  *status = BRAMAH_OK;
  if (item->node->is_set) {
    *status = bramah__fail_item(reader, item, BRAMAH_E_VALUE, "no number can be set here");
    return NULL;
  }
  if (item->node->kind == BRAMAH__NODE_SCALAR && *item->node->text) return item->node->text;
  if (item->node->kind == BRAMAH__NODE_SCALAR)
    *status = bramah__fail_item(reader, item, BRAMAH_E_VALUE, "a value is missing");
  else
    *status = bramah__fail_item(reader, item, BRAMAH_E_SYNTAX,
                                item->node->kind == BRAMAH__NODE_LIST
                                    ? "a single value is expected here, not a list"
                                    : "a single value is expected here, not keys and values");
  return NULL;
}

/* ---- quantities ---- */

static const char *last_key(const bramah__item *item)
{
  while (!item->name && item->parent) item = item->parent;
  return item->name ? item->name : "value";
}

/* ---- how well a value is known ---- */

const char *bramah__uncertainty_split(bramah__pool *pool, const char *text, const char **front)
{
  const char *sign = strstr(text, "\xc2\xb1");
  if (!sign) sign = strstr(text, "+-");
  *front = text;
  if (!sign) return NULL;
  const char *end = sign;
  while (end > text && end[-1] == ' ') end--;
  *front = bramah__pool_text(pool, text, (size_t)(end - text));
  sign += 2; /* bytes of both */
  return sign + strspn(sign, " ");
}

int bramah__uncertainty_share(const bramah__reader *reader, const char *text, double *share)
{
  *share = 0.0;
  if (strcmp(text, "fixed") == 0) return 1;
  const char *unit = bramah__unit_of(text);
  if (!unit || strcmp(unit, "%") != 0) return 0;
  *share = 0.01 * strtod_l(text, NULL, reader->c_locale);
  return 1;
}

bramah_status bramah__item_quantity(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                    const char *lent, bramah__quantity *out)
{
  bramah_status status = BRAMAH_OK;
  const bramah__node *node = item->node;
  const char *text = node->is_set ? node->text : bramah__item_text(reader, item, &status);
  if (!text) return status;
  const char *uncertainty = bramah__uncertainty_split(&reader->scratch, text, &text);
  if (!text) return bramah__no_memory(reader);
  if (uncertainty && !lent) lent = bramah__unit_of(uncertainty); /* "16 ± 1 kg" */
  if (lent && strcmp(lent, "%") == 0) lent = NULL;
  if (node->is_set) { /* the number's own text is for messages */
    const char *unit = bramah__unit_of(text);
    *out = (bramah__quantity){.si = node->si,
                              .dimension = node->dimension,
                              .number = text,
                              .number_length = unit ? (size_t)(unit - text) : 0,
                              .unit = unit ? unit : ""};
  } else {
    status = bramah__quantity_read(reader->c_locale, text, lent, out, reader->diag);
    if (status && key->unit && !bramah__unit_of(text)) {
      bramah__add_text(reader->diag, "; ");
      bramah__add_expectation(reader->diag, "1", 1, key->unit, key->other_unit);
    }
  }
  if (!status && key->unit) status = bramah__quantity_expect(out, key->unit, key->other_unit, reader->diag);
  if (status) return locate(reader, item, item->node);
  if ((key->range == BRAMAH__POSITIVE && !(out->si > 0.0)) ||
      (key->range == BRAMAH__NOT_NEGATIVE && !(out->si >= 0.0)))
    return bramah__fail_item(reader, item, BRAMAH_E_VALUE, "%s must %s", last_key(item),
                             key->range == BRAMAH__POSITIVE ? "be positive" : "not be negative");
  if (key->bounds && !(key->least <= out->si && out->si <= key->most))
    return bramah__fail_item(reader, item, BRAMAH_E_VALUE, "%s", key->bounds);
  if (!uncertainty) return BRAMAH_OK;
  if (reader->uncertain) return reader->uncertain(reader, item, uncertainty, out);
  return bramah__fail_item(reader, item, BRAMAH_E_VALUE,
                           "'± ...' may stand in machine files; a study says it in 'uncertainty'");
}

/* A key whose object may be in its other units, once the value that chooses them has been read. */
static bramah__key in_chosen_unit(const bramah__key *key, const void *object)
{
  bramah__key chosen = *key;
  int other;
  if (!key->choice || key->chooses) return chosen;
  memcpy(&other, (const unsigned char *)object + key->choice, sizeof other);
  if (other) chosen.unit = key->other_unit;
  chosen.other_unit = NULL;
  return chosen;
}

bramah_status bramah__read_quantity(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                    void *object)
{
  const bramah__key chosen = in_chosen_unit(key, object);
  bramah__quantity q;
  bramah_status status = bramah__item_quantity(reader, item, &chosen, NULL, &q);
  if (status) return status;
  *(double *)member(object, key->offset) = q.si;
  if (!key->chooses) return BRAMAH_OK;
  double factor;
  bramah_dimension first;
  status = bramah_unit_parse(key->unit, &factor, &first, reader->diag);
  const int other = !bramah__same_dimension(q.dimension, first);
  memcpy(member(object, key->choice), &other, sizeof other);
  return status;
}

bramah_status bramah__read_duration(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                    void *object)
{
  bramah__quantity q;
  const bramah_status status = bramah__item_quantity(reader, item, key, NULL, &q);
  if (!status) *(int64_t *)member(object, key->offset) = llround(1e9 * q.si);
  return status;
}

bramah_status bramah__read_period(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                  void *object)
{
  bramah__quantity q;
  const bramah_status status = bramah__item_quantity(reader, item, key, NULL, &q);
  if (!status) *(int64_t *)member(object, key->offset) = llround(1e9 / q.si);
  return status;
}

bramah_status bramah__find_quantity(bramah__reader *reader, const bramah__item *mapping,
                                    const bramah__key *key, double *out)
{
  bramah__item item;
  bramah__quantity q;
  if (!bramah__item_find(mapping, key->name, &item)) return BRAMAH_OK;
  bramah_status status = bramah__item_quantity(reader, &item, key, NULL, &q);
  if (!status) *out = q.si;
  return status;
}

bramah_status bramah__read_integer(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                   void *object)
{
  bramah_status status;
  int value = 0;
  if (item->node->is_set) {
    const double si = item->node->si;
    if (!(si >= 1.0 && si <= 999999999.0) || si != floor(si))
      return bramah__fail_item(reader, item, BRAMAH_E_VALUE, "a whole number from 1 on is expected");
    value = (int)si;
  } else {
    const char *text = bramah__item_text(reader, item, &status);
    if (!text) return status;
    size_t digits = strspn(text, "0123456789");
    for (size_t i = 0; i < digits && digits <= 9; i++) value = 10 * value + (text[i] - '0');
    if (text[digits] || digits > 9 || value < 1)
      return bramah__fail_item(reader, item, BRAMAH_E_VALUE, "'%s' is not a whole number from 1 on", text);
  }
  if (key->bounds && !(key->least <= value && value <= key->most))
    return bramah__fail_item(reader, item, BRAMAH_E_VALUE, "%s", key->bounds);
  *(int *)member(object, key->offset) = value;
  return BRAMAH_OK;
}

/* ---- texts ---- */

static bramah_status keep_text(bramah__reader *reader, const char *text, void *where)
{
  const char *copy = bramah__pool_text(reader->keep, text, strlen(text));
  if (!copy) return bramah__no_memory(reader);
  *(const char **)where = copy;
  return BRAMAH_OK;
}

bramah_status bramah__read_text(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                void *object)
{
  bramah_status status;
  const char *text = bramah__item_text(reader, item, &status);
  return text ? keep_text(reader, text, member(object, key->offset)) : status;
}

static int is_name(const char *text)
{
  return *text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")];
}

bramah_status bramah__read_name(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                void *object)
{
  bramah_status status;
  const char *text = bramah__item_text(reader, item, &status);
  if (!text) return status;
  if (!is_name(text)) return bramah__fail_item(reader, item, BRAMAH_E_SYNTAX, NO_NAME, text);
  return keep_text(reader, text, member(object, key->offset));
}

bramah_status bramah__read_word(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                void *object)
{
  bramah_status status;
  const char *names[LONGEST_LISTING], *text = bramah__item_text(reader, item, &status);
  size_t n = 0;
  if (!text) return status;
  for (const bramah__word *w = key->words; w->word; w++) {
    if (strcmp(w->word, text) == 0) {
      memcpy(member(object, key->offset), &w->value, sizeof w->value);
      return BRAMAH_OK;
    }
    if (n < LONGEST_LISTING) names[n++] = w->word;
  }
  bramah__fail_item(reader, item, BRAMAH_E_VALUE, "'%s' is not known here", text);
  bramah__add_suggestion(reader->diag, text, n, names, "; possible are ");
  return BRAMAH_E_VALUE;
}

/* ---- lists ---- */

static bramah_status check_list(bramah__reader *reader, const bramah__item *item, size_t count, size_t other)
{
  const bramah__node *node = item->node;
  char counts[48], found[48] = "";
  if (node->kind == BRAMAH__NODE_LIST && (node->n == count || (other && node->n == other))) return BRAMAH_OK;
  snprintf(counts, sizeof counts, other ? "%zu or %zu" : "%zu", count, other);
  if (node->kind == BRAMAH__NODE_LIST) snprintf(found, sizeof found, ", this one has %zu", node->n);
  return bramah__fail_item(reader, item, BRAMAH_E_SYNTAX, "a list of %s %s is expected%s", counts,
                           count == 2 && !other ? "elements" : "values", found);
}

/* The last element first: its unit serves the others, so an error in it is reported there. */
bramah_status bramah__read_vector(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                  void *object)
{
  bramah__quantity q;
  double *out = member(object, key->offset);
  const char *unit = NULL;
  bramah_status status = check_list(reader, item, key->count, key->other_count);
  for (size_t i = status ? 0 : item->node->n; i-- > 0;) {
    bramah__item element = bramah__item_at(item, i);
    bramah__key element_key = in_chosen_unit(key, object);
    if (i >= key->count) element_key.range = BRAMAH__ANY;
    status = bramah__item_quantity(reader, &element, &element_key, unit, &q);
    if (status) return status;
    if (!unit) unit = q.unit;
    out[i] = q.si;
  }
  if (!status && key->ascends && !(out[0] < out[1]))
    return bramah__fail_item(reader, item, BRAMAH_E_VALUE, "%s", key->ascends);
  return status;
}

bramah_status bramah__read_direction(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                     void *object)
{
  bramah__key plain = *key;
  const double *v = member(object, key->offset);
  plain.unit = "1";
  plain.count = 3;
  bramah_status status = bramah__read_vector(reader, item, &plain, object);
  if (status || v[0] != 0.0 || v[1] != 0.0 || v[2] != 0.0) return status;
  return bramah__fail_item(reader, item, BRAMAH_E_VALUE, "%s must not be zero", last_key(item));
}

bramah_status bramah__read_pair(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                void *object)
{
  bramah_status status = check_list(reader, item, 2, 0);
  for (size_t i = 0; !status && i < 2; i++) {
    bramah__item element = bramah__item_at(item, i);
    bramah__key element_key = *key;
    element_key.offset = key->offset + i * key->stride;
    status = key->element(reader, &element, &element_key, object);
  }
  return status;
}

bramah_status bramah__read_texts(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                 bramah__read *element, size_t *n, const char *const **out)
{
  const int is_list = item->node->kind == BRAMAH__NODE_LIST;
  const char **texts;
  *n = is_list ? item->node->n : 1;
  texts = bramah__pool_take(reader->keep, *n + 1, sizeof *texts);
  if (!texts) return bramah__no_memory(reader);
  for (size_t i = 0; i < *n; i++) {
    const bramah__item one = is_list ? bramah__item_at(item, i) : *item;
    const bramah__key place = {.name = key->name, .offset = i * sizeof *texts};
    const bramah_status status = element(reader, &one, &place, texts);
    if (status) return status;
  }
  *out = texts;
  return BRAMAH_OK;
}

bramah_status bramah__read_curve(bramah__reader *reader, const bramah__item *list,
                                 const bramah__curve_key *curve, size_t *n, const double **x,
                                 const double **y)
{
  const bramah__node *node = list->node;
  if (node->kind != BRAMAH__NODE_LIST || node->n < curve->least)
    return bramah__fail_item(reader, list, BRAMAH_E_SYNTAX, "a list of %spairs %s is expected",
                             curve->least == 2 ? "at least two " : "", curve->pair);
  double *values[2] = {bramah__pool_take(reader->keep, node->n, sizeof(double)),
                       bramah__pool_take(reader->keep, node->n, sizeof(double))};
  if (!values[0] || !values[1]) return bramah__no_memory(reader);
  for (size_t i = 0; i < node->n; i++) {
    const bramah__item pair = bramah__item_at(list, i);
    if (pair.node->kind != BRAMAH__NODE_LIST || pair.node->n != 2)
      return bramah__fail_item(reader, &pair, BRAMAH_E_SYNTAX, "a pair %s is expected, such as %s",
                               curve->pair, curve->example);
    const bramah__item items[2] = {bramah__item_at(&pair, 0), bramah__item_at(&pair, 1)};
    for (int k = 0; k < 2; k++) {
      bramah__quantity q;
      const bramah_status status =
          bramah__item_quantity(reader, &items[k], k == 0 ? &curve->x : &curve->y, NULL, &q);
      if (status) return status;
      values[k][i] = q.si;
    }
    if (i > 0 && !(values[0][i] > values[0][i - 1]))
      return bramah__fail_item(reader, &items[0], BRAMAH_E_VALUE, "%s must ascend", curve->x_name);
  }
  *n = node->n;
  *x = values[0];
  *y = values[1];
  return BRAMAH_OK;
}

/* An array of n objects in the pool, its pointer and count stored as the key says. */
static void *make_array(bramah__reader *reader, const bramah__key *key, size_t n, void *object)
{
  unsigned char *array = bramah__pool_take(reader->keep, n, key->table->size);
  if (!array) return NULL;
  memcpy(member(object, key->offset), &array, sizeof array);
  memcpy(member(object, key->count_offset), &n, sizeof n);
  return array;
}

bramah_status bramah__read_list(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                void *object)
{
  if (bramah__item_is_empty(item)) return BRAMAH_OK;
  if (item->node->kind != BRAMAH__NODE_LIST)
    return bramah__fail_item(reader, item, BRAMAH_E_SYNTAX, "a list is expected here");
  unsigned char *array = make_array(reader, key, item->node->n, object);
  bramah_status status = array ? BRAMAH_OK : bramah__no_memory(reader);
  for (size_t i = 0; !status && i < item->node->n; i++) {
    bramah__item element = bramah__item_at(item, i);
    status =
        bramah__go_on(reader, bramah__read_table(reader, &element, key->table, array + i * key->table->size));
  }
  return status;
}

/* ---- mappings ---- */

/* Keys are plain texts, each once. */
static bramah_status check_mapping(bramah__reader *reader, const bramah__item *item)
{
  const bramah__node *node = item->node;
  if (node->kind != BRAMAH__NODE_MAPPING)
    return bramah__fail_item(reader, item, BRAMAH_E_SYNTAX,
                             "keys and values ('key: value') are expected here");
  if (node->n > LARGEST_MAPPING)
    return bramah__fail_key(reader, item, BRAMAH_E_VALUE, "more than 10000 keys");
  for (size_t i = 0; i < node->n; i++) {
    bramah__item element = bramah__item_at(item, i);
    if (node->keys[i]->kind != BRAMAH__NODE_SCALAR)
      return bramah__fail_key(reader, &element, BRAMAH_E_SYNTAX, "a key must be a single word");
    for (size_t j = 0; j < i; j++) {
      const int line = node->keys[j]->line;
      if (strcmp(node->keys[j]->text, node->keys[i]->text) != 0) continue;
      return line ? bramah__fail_key(reader, &element, BRAMAH_E_KEY,
                                     "key '%s' is given twice, first in line %d", element.name, line)
                  : bramah__fail_key(reader, &element, BRAMAH_E_KEY, "key '%s' is given twice", element.name);
    }
  }
  return BRAMAH_OK;
}

/* Keys of former versions and what they are called today. */
static const char *const renamed[][2] = {
    {"throttles", "orifices"}, {"laminar_pressure", "transition_pressure"}, {"bleed", "unloading"}};

static bramah_status fail_unknown(bramah__reader *reader, const bramah__item *item, const bramah__key *keys)
{
  const char *names[LONGEST_LISTING], *today = NULL;
  size_t n = 0;
  for (; keys[n].name && n < LONGEST_LISTING; n++) {
    names[n] = keys[n].name;
    for (size_t i = 0; i < sizeof renamed / sizeof renamed[0]; i++)
      if (strcmp(item->name, renamed[i][0]) == 0 && strcmp(names[n], renamed[i][1]) == 0) today = names[n];
  }
  if (today)
    return bramah__fail_key(reader, item, BRAMAH_E_KEY, "the key '%s' is called '%s' now", item->name, today);
  bramah__fail_key(reader, item, BRAMAH_E_KEY, "unknown key '%s'", item->name);
  bramah__add_suggestion(reader->diag, item->name, n, names, "; allowed are ");
  return BRAMAH_E_KEY;
}

bramah_status bramah__check_kind(bramah__reader *reader, const bramah__node *root, const char *what,
                                 const bramah__table *table)
{
  const char *names[LONGEST_LISTING];
  size_t n = 0;
  for (; table->keys[n].name && n < LONGEST_LISTING; n++) names[n] = table->keys[n].name;
  const bramah__node *first = root->n ? root->keys[0] : NULL;
  int known = !first || first->kind != BRAMAH__NODE_SCALAR || bramah__nearest(first->text, n, names) != NULL;
  for (size_t i = 0; !known && i < n; i++) known = strcmp(first->text, names[i]) == 0;
  for (size_t i = 0; !known && i < sizeof renamed / sizeof renamed[0]; i++)
    known = strcmp(first->text, renamed[i][0]) == 0;
  if (known) return BRAMAH_OK;
  static const char *const others[] = {"machine", "study", "plan", "work", "display"};
  const char *other = NULL;
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (strcmp(first->text, others[i]) == 0) other = others[i];
  bramah__failf(reader->diag, BRAMAH_E_KEY, NULL, 0, NULL, "this is no %s file: its first key is %s%s%s",
                what, other ? "that of a " : "none that it could have", other ? other : "",
                other ? " file" : "");
  return bramah__at(reader->diag, first->file, first->line, first->column);
}

bramah_status bramah__read_table(bramah__reader *reader, const bramah__item *item, const bramah__table *table,
                                 void *object)
{
  bramah__item element;
  if (table->read) return table->read(reader, item, object);
  if (table->value && (!table->keys || item->node->kind != BRAMAH__NODE_MAPPING))
    return table->value->read(reader, item, table->value, object);
  const size_t mistakes = reader->mistakes;
  bramah_status status = check_mapping(reader, item);

  /* No key that the table does not know. */
  for (size_t i = 0; !status && i < item->node->n; i++) {
    const bramah__key *key = table->keys;
    element = bramah__item_at(item, i);
    while (key->name && strcmp(key->name, element.name) != 0) key++;
    if (!key->name) status = bramah__go_on(reader, fail_unknown(reader, &element, table->keys));
  }

  /* Every key in the order of the table; the object's type is unknown (0) until it was read. */
  for (const bramah__key *key = table->keys; !status && key->name; key++) {
    const int found = bramah__item_find(item, key->name, &element), one = 1;
    bramah__item other;
    int type = 0;
    if (key->types) memcpy(&type, member(object, table->type), sizeof type);
    const int belongs = !key->types || (type && key->types >> type & 1U);
    if (found && key->given) memcpy(member(object, key->given), &one, sizeof one);
    if (found && key->line)
      memcpy(member(object, key->line), &(int){bramah__item_line(&element)}, sizeof one);
    if (found && !belongs && type)
      status =
          bramah__fail_key(reader, &element, BRAMAH_E_KEY, "'%s' does not belong to this type", key->name);
    else if (found && key->excludes && bramah__item_find(item, key->excludes, &other))
      status = bramah__fail_key(reader, &element, BRAMAH_E_KEY, "'%s' and '%s' exclude each other",
                                key->excludes, key->name);
    else if (found)
      status = key->read(reader, &element, key, object);
    else if (key->required && belongs)
      status = bramah__fail_missing(reader, item, key->name);
    status = bramah__go_on(reader, status);
  }

  /* What finishes the object relies on its parts. */
  if (status || !table->finish || reader->mistakes != mistakes) return status;
  return table->finish(reader, item, object);
}

bramah_status bramah__read_child(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                 void *object)
{
  return bramah__read_table(reader, item, key->table, member(object, key->offset));
}

bramah_status bramah__read_nothing(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                   void *object)
{
  (void)reader;
  (void)item;
  (void)key;
  (void)object;
  return BRAMAH_OK;
}

/* A section whose lines are all comments is as good as none. */
bramah_status bramah__read_section(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                   void *object)
{
  int empty = bramah__item_is_empty(item) || (item->node->kind == BRAMAH__NODE_MAPPING && !item->node->n);
  if (empty && key->required)
    return bramah__fail_key(reader, item, BRAMAH_E_VALUE, "at least one is needed here");
  if (empty) return BRAMAH_OK;
  bramah_status status = check_mapping(reader, item);
  if (status) return status;
  unsigned char *array = make_array(reader, key, item->node->n, object);
  if (!array) return bramah__no_memory(reader);
  for (size_t i = 0; !status && i < item->node->n; i++) {
    const bramah__item element = bramah__item_at(item, i);
    unsigned char *one = array + i * key->table->size;
    if (!key->table->names_with_dots && !is_name(element.name)) {
      status = bramah__fail_key(reader, &element, BRAMAH_E_SYNTAX, NO_NAME, element.name);
    } else {
      const int line = bramah__item_line(&element);
      status = keep_text(reader, element.name, one + offsetof(bramah__named, name));
      memcpy(one + offsetof(bramah__named, line), &line, sizeof line);
      if (!status) status = bramah__read_table(reader, &element, key->table, one);
    }
    status = bramah__go_on(reader, status);
  }
  return status;
}

/* ---- files and changes of files ---- */

bramah_status bramah__read_path(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                void *object)
{
  bramah_status status;
  const char *text = bramah__item_text(reader, item, &status);
  if (!text) return status;
  const char *slash = strrchr(reader->file, '/');
  const size_t folder = slash && text[0] != '/' ? (size_t)(slash - reader->file) + 1 : 0;
  char *path = bramah__pool_take(reader->keep, folder + strlen(text) + 1, 1);
  if (!path) return bramah__no_memory(reader);
  memcpy(path, reader->file, folder);
  memcpy(path + folder, text, strlen(text));
  *(const char **)member(object, key->offset) = path;
  return BRAMAH_OK;
}

bramah_status bramah__read_changes(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                   void *object)
{
  const size_t n = item->node->n;
  if (bramah__item_is_empty(item)) return BRAMAH_OK;
  if (item->node->kind != BRAMAH__NODE_MAPPING)
    return bramah__fail_item(reader, item, BRAMAH_E_SYNTAX, "changes ('path: value') are expected here");
  if (n > MOST_CHANGES) return bramah__fail_key(reader, item, BRAMAH_E_VALUE, "more than 1000 changes");
  bramah_change *changes = bramah__pool_take(reader->keep, n, sizeof *changes);
  if (!changes) return bramah__no_memory(reader);
  for (size_t i = 0; i < n; i++) {
    const bramah__item one = bramah__item_at(item, i);
    bramah_change *change = &changes[i];
    if (one.key->kind != BRAMAH__NODE_SCALAR)
      return bramah__fail_key(reader, &one, BRAMAH_E_SYNTAX, "a key must be a single word");
    if (bramah__item_is_empty(&one))
      return bramah__fail_item(reader, &one, BRAMAH_E_VALUE, "a value is missing");
    change->file = reader->file;
    change->line = bramah__item_line(&one);
    change->path = bramah__pool_text(reader->keep, one.name, strlen(one.name));
    change->value = bramah__node_text(reader, one.node);
    if (!change->path) return bramah__no_memory(reader);
    if (!change->value)
      return bramah__fail_item(reader, &one, BRAMAH_E_SYNTAX,
                               "a change is a value or a list of values; give one change for every key");
    for (size_t k = 0; k < i; k++)
      if (strcmp(changes[k].path, change->path) == 0)
        return bramah__fail_key(reader, &one, BRAMAH_E_KEY, "this change is given twice");
  }
  memcpy(member(object, key->offset), &changes, sizeof changes);
  memcpy(member(object, key->count_offset), &n, sizeof n);
  return BRAMAH_OK;
}

/* What a file becomes, and everything it points to. */
typedef struct whole_file {
  bramah__pool pool;
  max_align_t object[];
} whole_file;

void bramah__file_free(void *object)
{
  if (!object) return;
  whole_file *whole = (whole_file *)(void *)((unsigned char *)object - offsetof(whole_file, object));
  bramah__pool_free(&whole->pool);
  free(whole);
}

bramah_status bramah__read_file_of(const char *path, const bramah__file_of *of, bramah_mistake tell,
                                   void *user, bramah_diag *diag, void **out)
{
  bramah__source *source;
  bramah__reader reader;
  bramah_status status = bramah__source_open(path, diag, &source);
  if (status && tell) tell(user, diag);
  if (status) return status;
  whole_file *whole = calloc(1, offsetof(whole_file, object) + of->size);
  if (!whole) {
    bramah__source_free(source);
    return bramah__fail_memory(diag);
  }
  void *object = whole->object;
  if (of->start) memcpy(object, of->start, of->size);
  status = bramah__reader_open(&reader, &whole->pool, source->file, diag);
  reader.tell = tell;
  reader.tell_user = user;
  const bramah__item item = {.node = source->root};
  if (!status) status = bramah__check_kind(&reader, source->root, of->what, of->table);
  if (!status) status = bramah__read_table(&reader, &item, of->table, object);
  memcpy((unsigned char *)object + of->file, &reader.file, sizeof reader.file);
  status = bramah__reader_close(&reader, status);
  bramah__source_free(source);
  if (status)
    bramah__file_free(object);
  else
    *out = object;
  return status;
}
