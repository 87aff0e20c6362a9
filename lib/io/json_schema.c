/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables by which files are read, as a JSON Schema (draft 7) for editors: keys, what is required, words, and by
 * patterns numbers with units of the right dimension. What only the whole shows is left to `bramah check`. */
#define _GNU_SOURCE /* locale_t, open_memstream */
#include "bramah/session.h"
#include "lib/base/diag.h"
#include "lib/io/machine_file.h"
#include "lib/io/study_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- quantities, each kind once under "definitions" ---- */

enum { MOST_DEFINITIONS = 96 };

typedef struct definition {
  const char *unit, *other; /* NULL: any dimension; no second one */
  int unsigned_only;        /* no minus sign */
} definition;

typedef struct schema {
  FILE *out;
  bramah__reader *reader; /* for tables that are made while reading */
  size_t n;
  definition definitions[MOST_DEFINITIONS];
  bramah_status status;
} schema;

static int same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static void put_quantity(schema *s, const char *unit, const char *other, bramah__range range)
{
  const definition wanted = {unit, unit ? other : NULL, range != BRAMAH__ANY};
  size_t i = 0;
  while (i < s->n && !(same_text(s->definitions[i].unit, wanted.unit) &&
                       same_text(s->definitions[i].other, wanted.other) &&
                       s->definitions[i].unsigned_only == wanted.unsigned_only))
    i++;
  if (i == MOST_DEFINITIONS)
    s->status = BRAMAH_E_MEMORY;
  else if (i == s->n)
    s->definitions[s->n++] = wanted;
  fprintf(s->out, "{\"$ref\": \"#/definitions/quantity%zu\"}", i);
}

/* Names of units of the dimension, each followed by a bar. */
static void put_names(FILE *out, const char *unit)
{
  bramah_dimension wanted, dimension;
  double factor;
  const char *name;
  if (!unit || bramah_unit_parse(unit, &factor, &wanted, NULL)) return;
  for (size_t i = 0; (name = bramah__unit_name(i)) != NULL; i++) {
    if (bramah_unit_parse(name, &factor, &dimension, NULL) || !bramah__same_dimension(dimension, wanted))
      continue;
    fprintf(out, "%s|", name);
    for (const char *prefix = bramah__unit_prefixes(i); *prefix; prefix++)
      fprintf(out, "%c%s|", *prefix, name);
  }
}

static void put_phrase(FILE *out, const char *unit, const char *before)
{
  const char *example = "", *phrase = bramah__unit_phrase(unit, &example);
  if (phrase)
    fprintf(out, "%s%s, for example '1%s%s'", before, phrase, *example ? " " : "", example);
  else
    fprintf(out, "%sa value in '%s'", before, unit);
}

/* A text that is a number and a unit: one of the names of this dimension, or an expression, of which the schema knows
 * no more. 0 needs no unit. "± ..." may follow in machine files. */
static void put_definition(FILE *out, const definition *d)
{
  const char *sign = d->unsigned_only ? "[+]?" : "[-+]?";
  const char *digits = "([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?(?![0-9.eE])",
             *tail = "( *(\xc2\xb1|[+]-).*)?";
  const int is_number = same_text(d->unit, "1") || same_text(d->other, "1");
  fputs("{\"description\": \"", out);
  if (!d->unit) fputs("a number with a unit", out);
  if (d->unit) put_phrase(out, d->unit, "");
  if (d->other) put_phrase(out, d->other, ", or ");
  fprintf(out, "%s\", \"anyOf\": [{\"type\": \"string\", \"pattern\": \"^%s%s",
          d->unsigned_only ? "; not negative" : "", sign, digits);
  if (!d->unit) {
    fputs(".*$\"}, {\"type\": \"number\"}]}", out);
    return;
  }
  fputs(is_number ? "( *(" : "( *(", out);
  put_names(out, d->unit);
  put_names(out, d->other);
  fprintf(out,
          "(1 *|[^ \xc2\xb1.0-9+-][^\xc2\xb1]*)([*/^.( ]|\xc2\xb2|\xc2\xb3|\xc2\xb7)[^\xc2\xb1]*)%s%s| "
          "*(\xc2\xb1|[+]-).*)$\"}, {\"type\": "
          "\"number\"%s}]}",
          is_number ? "?" : "", tail,
          is_number ? d->unsigned_only ? ", \"minimum\": 0" : "" : ", \"const\": 0");
}

/* ---- keys ---- */

static const struct {
  bramah__read *read;
  bramah__shape shape;
} shapes[] = {
    {bramah__read_quantity, BRAMAH__SHAPE_QUANTITY},  {bramah__read_duration, BRAMAH__SHAPE_QUANTITY},
    {bramah__read_period, BRAMAH__SHAPE_QUANTITY},    {bramah__read_value, BRAMAH__SHAPE_QUANTITY},
    {bramah__read_uncertain, BRAMAH__SHAPE_QUANTITY}, {bramah__read_gate, BRAMAH__SHAPE_QUANTITY},
    {bramah__read_sign, BRAMAH__SHAPE_QUANTITY},      {bramah__read_integer, BRAMAH__SHAPE_INTEGER},
    {bramah__read_text, BRAMAH__SHAPE_TEXT},          {bramah__read_path, BRAMAH__SHAPE_TEXT},
    {bramah__read_log_unit, BRAMAH__SHAPE_TEXT},      {bramah__read_name, BRAMAH__SHAPE_NAME},
    {bramah__read_word, BRAMAH__SHAPE_WORD},          {bramah__read_vector, BRAMAH__SHAPE_VECTOR},
    {bramah__read_point, BRAMAH__SHAPE_POINT},        {bramah__read_direction, BRAMAH__SHAPE_DIRECTION},
    {bramah__read_pair, BRAMAH__SHAPE_PAIR},          {bramah__read_child, BRAMAH__SHAPE_CHILD},
    {bramah__read_section, BRAMAH__SHAPE_SECTION},    {bramah__read_list, BRAMAH__SHAPE_LIST},
    {bramah__read_changes, BRAMAH__SHAPE_CHANGES},    {bramah__read_scale, BRAMAH__SHAPE_SCALE},
    {bramah__read_nothing, BRAMAH__SHAPE_ANYTHING}};

static bramah__shape shape_of(const bramah__key *key)
{
  bramah__shape shape = key->shape;
  for (size_t i = 0; !shape && i < sizeof shapes / sizeof shapes[0]; i++)
    if (shapes[i].read == key->read) shape = shapes[i].shape;
  return shape == BRAMAH__SHAPE_ANYTHING && key->unit ? BRAMAH__SHAPE_QUANTITY
                                                      : shape; /* something else reads it */
}

static void put_table(schema *s, const bramah__table *table);
static void put_shape(schema *s, const bramah__key *key, bramah__shape shape);

static void put_words(FILE *out, const bramah__word *words)
{
  fputs("{\"enum\": [", out);
  for (const bramah__word *w = words; w->word; w++) {
    fprintf(out, "%s\"%s\"", w == words ? "" : ", ", w->word);
    /* What a YAML reader may take for a number or a truth. */
    if (w->word[strspn(w->word, "0123456789")] == '\0') fprintf(out, ", %s", w->word);
  }
  fputs("]}", out);
}

/* A list of `least` to `most` elements; the last one's unit serves the others, which may be plain numbers. */
static void put_list(schema *s, const bramah__key *key, size_t least, size_t most)
{
  fputs("{\"type\": \"array\", \"items\": {\"anyOf\": [", s->out);
  put_quantity(s, key->unit, key->other_unit, key->other_count ? BRAMAH__ANY : key->range);
  fprintf(s->out, ", {\"type\": \"number\"}]}, \"minItems\": %zu, \"maxItems\": %zu}", least, most);
}

static void put_curve(schema *s, const bramah__key *key)
{
  const int of_time = key->unit || !key->read; /* characteristics of valves have voltages for both */
  fputs("{\"type\": \"array\", \"items\": {\"type\": \"array\", \"items\": [", s->out);
  put_quantity(s, key->x_unit ? key->x_unit : of_time ? "s" : "V", NULL, BRAMAH__ANY);
  fputs(", ", s->out);
  put_quantity(s, key->unit ? key->unit : "V", key->other_unit, BRAMAH__ANY);
  fputs("], \"minItems\": 2, \"maxItems\": 2}}", s->out);
}

/* Names of elements are keys. */
static void put_section(schema *s, const bramah__key *key)
{
  fputs("{\"type\": [\"object\", \"null\"], ", s->out);
  if (!key->table->names_with_dots) fputs("\"propertyNames\": {\"pattern\": \"^[A-Za-z0-9_-]+$\"}, ", s->out);
  fputs("\"additionalProperties\": ", s->out);
  put_table(s, key->table);
  fputs("}", s->out);
}

static void put_pair(schema *s, const bramah__key *key)
{
  bramah__key one = *key;
  one.read = key->element;
  one.shape = BRAMAH__SHAPE_OF_READER;
  fputs("{\"type\": \"array\", \"items\": ", s->out);
  put_shape(s, &one, shape_of(&one));
  fputs(", \"minItems\": 2, \"maxItems\": 2}", s->out);
}

/* Those that say no more of their key. */
static const char *const plain_shapes[BRAMAH__SHAPE_ANYTHING + 1] = {
    [BRAMAH__SHAPE_INTEGER] = "{\"type\": \"integer\", \"minimum\": 1}",
    [BRAMAH__SHAPE_TEXT] = "{\"type\": [\"string\", \"number\", \"boolean\"]}",
    [BRAMAH__SHAPE_NAME] = "{\"type\": [\"string\", \"integer\"], \"pattern\": \"^[A-Za-z0-9_-]+$\"}",
    [BRAMAH__SHAPE_NAMES] = "{\"type\": [\"string\", \"integer\", \"array\"], \"items\": {\"type\": "
                            "[\"string\", \"integer\"]}, \"minItems\": 1}",
    [BRAMAH__SHAPE_CHANGES] = "{\"type\": [\"object\", \"null\"], \"additionalProperties\": {\"type\": "
                              "[\"string\", \"number\", \"boolean\", \"array\"]}}",
    [BRAMAH__SHAPE_ANYTHING] = "{}"};

static void put_shape(schema *s, const bramah__key *key, bramah__shape shape)
{
  bramah__table hydraulics;
  if (plain_shapes[shape]) {
    fputs(plain_shapes[shape], s->out);
    return;
  }
  switch (shape) {
  case BRAMAH__SHAPE_QUANTITY:
    put_quantity(s, key->unit, key->other_unit, key->range);
    break;
  case BRAMAH__SHAPE_QUANTITIES:
    fputs("{\"anyOf\": [", s->out);
    put_quantity(s, key->unit, key->other_unit, key->range);
    fputs(", ", s->out);
    put_list(s, key, 2, 6);
    fputs("]}", s->out);
    break;
  case BRAMAH__SHAPE_WORD:
    put_words(s->out, key->words);
    break;
  case BRAMAH__SHAPE_VECTOR:
    put_list(s, key, key->count, key->other_count ? key->other_count : key->count);
    break;
  case BRAMAH__SHAPE_POINT:
    fputs("{\"anyOf\": [{\"type\": [\"string\", \"integer\"]}, ", s->out);
    put_list(s, key, key->count, key->count);
    fputs("]}", s->out);
    break;
  case BRAMAH__SHAPE_DIRECTION:
    put_list(s, &(bramah__key){.unit = "1"}, 3, 3);
    break;
  case BRAMAH__SHAPE_PAIR:
    put_pair(s, key);
    break;
  case BRAMAH__SHAPE_CHILD:
    put_table(s, key->table);
    break;
  case BRAMAH__SHAPE_SECTION:
    put_section(s, key);
    break;
  case BRAMAH__SHAPE_LIST:
    fputs("{\"type\": [\"array\", \"null\"], \"items\": ", s->out);
    put_table(s, key->table);
    fputs("}", s->out);
    break;
  case BRAMAH__SHAPE_CURVE:
    put_curve(s, key);
    break;
  case BRAMAH__SHAPE_SCALE:
    fputs("{\"anyOf\": [", s->out);
    put_quantity(s, NULL, NULL, BRAMAH__ANY);
    fputs(", {\"type\": \"array\", \"items\": ", s->out);
    put_list(s, key, 2, 2);
    fputs(", \"minItems\": 2, \"maxItems\": 2}]}", s->out);
    break;
  case BRAMAH__SHAPE_HYDRAULICS:
    if (!s->status) s->status = bramah__hydraulics_table(s->reader, &hydraulics);
    if (!s->status) put_table(s, &hydraulics);
    break;
  default: /* a reader of one file, whose key does not say */
    s->status = BRAMAH_E_UNSUPPORTED;
  }
}

static void put_key(schema *s, const bramah__key *key)
{
  const bramah__shape shape = shape_of(key);
  const int has_words = key->words && shape != BRAMAH__SHAPE_WORD;
  if (has_words) {
    fputs("{\"anyOf\": [", s->out);
    put_words(s->out, key->words);
    fputs(", ", s->out);
  }
  put_shape(s, key, shape);
  if (has_words) fputs("]}", s->out);
}

/* ---- mappings ---- */

/* What a type of object needs, and what does not belong to it. */
static void put_type(schema *s, const bramah__table *table, const bramah__word *type)
{
  const char *between = "";
  fprintf(s->out, "{\"if\": {\"properties\": {\"type\": {\"const\": \"%s\"}}}, \"then\": {\"required\": [",
          type->word);
  for (const bramah__key *key = table->keys; key->name; key++) {
    if (!key->types || !key->required || !(key->types >> type->value & 1U)) continue;
    fprintf(s->out, "%s\"%s\"", between, key->name);
    between = ", ";
  }
  fputs("], \"properties\": {", s->out);
  between = "";
  for (const bramah__key *key = table->keys; key->name; key++) {
    if (!key->types || key->types >> type->value & 1U) continue;
    fprintf(s->out, "%s\"%s\": false", between, key->name);
    between = ", ";
  }
  fputs("}}}", s->out);
}

/* Conditions on several keys: "allOf". */
static void put_conditions(schema *s, const bramah__table *table)
{
  fputs(", \"allOf\": [{}", s->out);
  for (const bramah__key *key = table->keys; key->name; key++)
    if (key->excludes)
      fprintf(s->out, ", {\"not\": {\"required\": [\"%s\", \"%s\"]}}", key->excludes, key->name);
  const bramah__key *type = table->keys;
  while (type->name && strcmp(type->name, "type") != 0) type++;
  for (const bramah__word *w = type->words; table->type && w && w->word; w++) {
    fputs(", ", s->out);
    put_type(s, table, w);
  }
  fputs("]", s->out);
}

/* "type": "object" and so on, without the braces. */
static void put_keys(schema *s, const bramah__table *table)
{
  const char *between = "";
  fputs("\"type\": \"object\", \"properties\": {", s->out);
  for (const bramah__key *key = table->keys; key->name; key++) {
    fprintf(s->out, "%s\n\"%s\": ", key == table->keys ? "" : ",", key->name);
    put_key(s, key);
  }
  fputs("}, \"required\": [", s->out);
  for (const bramah__key *key = table->keys; key->name; key++) {
    if (!key->required || key->types) continue;
    fprintf(s->out, "%s\"%s\"", between, key->name);
    between = ", ";
  }
  fputs("], \"additionalProperties\": ", s->out);
  if (table->others)
    put_table(s, table->others);
  else
    fputs("false", s->out);
  put_conditions(s, table);
}

/* Elements of several kinds: the keys of each behind its word. */
static void put_kinds(schema *s, const bramah__table *table)
{
  const bramah__table *const *first = table->kinds;
  while (!*first) first++; /* the values may begin above 0 */
  const bramah__word *words = (*first)->keys[0].words;
  fputs("{\"type\": \"object\", \"properties\": {\"type\": ", s->out);
  put_words(s->out, words);
  fputs("}, \"required\": [\"type\"], \"allOf\": [", s->out);
  for (const bramah__word *w = words; w->word; w++) {
    fprintf(s->out, "%s\n{\"if\": {\"properties\": {\"type\": {\"const\": \"%s\"}}}, \"then\": {",
            w == words ? "" : ",", w->word);
    put_keys(s, table->kinds[w->value]);
    fputs("}}", s->out);
  }
  fputs("]}", s->out);
}

static void put_table(schema *s, const bramah__table *table)
{
  const int both = table->value && table->keys;
  if (table->kinds) {
    put_kinds(s, table);
    return;
  }
  if (both) fputs("{\"anyOf\": [", s->out);
  if (table->value) put_key(s, table->value);
  if (both) fputs(", ", s->out);
  if (table->keys) {
    fputs("{", s->out);
    put_keys(s, table);
    fputs("}", s->out);
  }
  if (both) fputs("]}", s->out);
}

/* ---- a file ---- */

bramah_status bramah_file_schema(bramah_file_kind kind, char **json, bramah_diag *diag)
{
  static const struct {
    const char *name;
    const bramah__table *table;
  } kinds[] = {[BRAMAH_FILE_MACHINE] = {"machine", &bramah__machine_table},
               [BRAMAH_FILE_STUDY] = {"study", &bramah__study_table},
               [BRAMAH_FILE_PLAN] = {"plan", &bramah__plan_table},
               [BRAMAH_FILE_WORK] = {"work", &bramah__work_table},
               [BRAMAH_FILE_DISPLAY] = {"display", &bramah__display_table}};
  bramah__pool keep = {0};
  bramah__reader reader;
  size_t size;
  *json = NULL;
  bramah_status status = bramah__reader_open(&reader, &keep, "", diag);
  schema s = {.out = status ? NULL : open_memstream(json, &size), .reader = &reader};
  if (s.out) {
    fprintf(s.out,
            "{\"$schema\": \"http://json-schema.org/draft-07/schema#\", \"title\": \"A %s of bramah\", ",
            kinds[kind].name);
    put_keys(&s, kinds[kind].table);
    fputs(",\n\"definitions\": {", s.out);
    for (size_t i = 0; i < s.n; i++) {
      fprintf(s.out, "%s\n\"quantity%zu\": ", i ? "," : "", i);
      put_definition(s.out, &s.definitions[i]);
    }
    fputs("}}\n", s.out);
    status = s.status;
    if (fclose(s.out) != 0 && !status) status = BRAMAH_E_MEMORY;
  }
  if (!status && !*json) status = BRAMAH_E_MEMORY;
  if (status == BRAMAH_E_MEMORY) bramah__fail_memory(diag);
  if (status == BRAMAH_E_UNSUPPORTED) bramah__fail(diag, status, NULL, "a key has no shape");
  status = bramah__reader_close(&reader, status);
  bramah__pool_free(&keep);
  if (status) free(*json), *json = NULL;
  return status;
}
