/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Protobuf: a FileDescriptorSet as schema (google/protobuf/descriptor.proto), and messages in the wire format ("Encoding",
 * protobuf.dev). Not by a library: those for C want code that was generated from the schema. */
#define _GNU_SOURCE /* strndup, qsort_r */
#include "lib/logs/message.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 32 };

typedef struct field {
  int number, wire;
  uint64_t value;          /* of varints and fixed numbers */
  const unsigned char *at; /* of bytes and groups */
  size_t length;
} field;

static int take_varint(const unsigned char **at, const unsigned char *end, uint64_t *value)
{
  *value = 0;
  for (int shift = 0; shift < 70 && *at < end; shift += 7) {
    const unsigned char byte = *(*at)++;
    if (shift < 64) *value |= (uint64_t)(byte & 0x7Fu) << shift;
    if (byte < 0x80) return 1;
  }
  return 0;
}

static uint64_t four_bytes(const unsigned char *b)
{
  return (uint64_t)b[0] | (uint64_t)b[1] << 8 | (uint64_t)b[2] << 16 | (uint64_t)b[3] << 24;
}

/* n: 4 or 8. Written out, which compilers make a load of: most of what a log of doubles is. */
static int take_fixed(const unsigned char **at, const unsigned char *end, size_t n, uint64_t *value)
{
  *value = 0;
  if ((size_t)(end - *at) < n) return 0;
  *value = n == 8 ? four_bytes(*at) | four_bytes(*at + 4) << 32 : four_bytes(*at);
  *at += n;
  return 1;
}

/* The next field; a group (wire types 3 and 4) with all that is in it. */
static int take_field(const unsigned char **at, const unsigned char *end, int depth, field *f)
{
  uint64_t tag;
  if (depth >= DEEPEST || !take_varint(at, end, &tag) || tag >> 3 == 0 || tag >> 3 > 0x1FFFFFFF) return 0;
  *f = (field){.number = (int)(tag >> 3), .wire = (int)(tag & 7)};
  if (f->wire == 0) return take_varint(at, end, &f->value);
  if (f->wire == 1) return take_fixed(at, end, 8, &f->value);
  if (f->wire == 5) return take_fixed(at, end, 4, &f->value);
  if (f->wire == 2) {
    if (!take_varint(at, end, &f->value) || f->value > (uint64_t)(end - *at)) return 0;
    f->at = *at;
    f->length = (size_t)f->value;
    *at += f->length;
    return 1;
  }
  if (f->wire == 4) return 1; /* the end of the group, for its caller */
  if (f->wire != 3) return 0;
  f->at = *at;
  for (field part;;) {
    f->length = (size_t)(*at - f->at);
    if (!take_field(at, end, depth + 1, &part)) return 0;
    if (part.wire == 4) return part.number == f->number;
  }
}

/* ---- the schema ---- */

/* Of a field of a message (descriptor.proto, FieldDescriptorProto). */
typedef struct description {
  const char *name, *type_name;
  size_t n_name, n_type_name;
  int number, label, type, is_optional;
  uint32_t oneof; /* from 1; 0: none */
} description;

static bramah__message_kind kind_of(int type)
{
  static const unsigned char kinds[] = {
      0,
      BRAMAH__MESSAGE_FLOAT64, /* double */
      BRAMAH__MESSAGE_FLOAT32,
      BRAMAH__MESSAGE_INT64,
      BRAMAH__MESSAGE_UINT64,
      BRAMAH__MESSAGE_INT32,
      BRAMAH__MESSAGE_UINT64, /* fixed64 */
      BRAMAH__MESSAGE_UINT32,
      BRAMAH__MESSAGE_BOOL,
      BRAMAH__MESSAGE_TEXT,
      BRAMAH__MESSAGE_STRUCT, /* group */
      BRAMAH__MESSAGE_STRUCT,
      BRAMAH__MESSAGE_OPAQUE, /* bytes */
      BRAMAH__MESSAGE_UINT32,
      BRAMAH__MESSAGE_INT32, /* enum */
      BRAMAH__MESSAGE_INT32, /* sfixed32 */
      BRAMAH__MESSAGE_INT64,
      BRAMAH__MESSAGE_INT32, /* sint32 */
      BRAMAH__MESSAGE_INT64,
  };
  return type > 0 && type < (int)sizeof kinds ? (bramah__message_kind)kinds[type] : BRAMAH__MESSAGE_OPAQUE;
}

static int describe(const field *of, description *d)
{
  const unsigned char *at = of->at, *end = at + of->length;
  *d = (description){0};
  for (field f; at < end;) {
    if (!take_field(&at, end, 0, &f)) return 0;
    if (f.number == 1 && f.wire == 2) d->name = (const char *)f.at, d->n_name = f.length;
    if (f.number == 6 && f.wire == 2) d->type_name = (const char *)f.at, d->n_type_name = f.length;
    if (f.number == 3 && f.value <= 0x1FFFFFFF) d->number = (int)f.value;
    if (f.number == 4 && f.value < 4) d->label = (int)f.value;
    if (f.number == 5 && f.value < 64) d->type = (int)f.value;
    if (f.number == 9) d->oneof = f.value < BRAMAH__MESSAGE_SLOTS ? (uint32_t)f.value + 1 : UINT32_MAX;
    d->is_optional |= f.number == 17 && f.value;
  }
  return d->n_name > 0 && d->number > 0;
}

static int add_field(bramah__schema *schema, bramah__message_type *type, const field *of, int is_proto3)
{
  description d;
  if (!describe(of, &d)) return 1; /* it is passed over in messages, too */
  bramah__message_member *m = bramah__schema_member(schema, type, d.name, d.n_name);
  if (!m) return 0;
  m->number = d.number;
  m->wire = d.type;
  m->kind = kind_of(d.type);
  m->count = d.label == 3 ? BRAMAH__MESSAGE_SEQUENCE : BRAMAH__MESSAGE_ONE;
  m->implicit = is_proto3 && !m->count && !d.is_optional && !d.oneof && m->kind < BRAMAH__MESSAGE_TEXT;
  m->oneof = d.is_optional ? 0 : d.oneof; /* what is optional is the only one of its own */
  if (m->kind != BRAMAH__MESSAGE_STRUCT) return 1;
  const size_t dot = d.n_type_name > 0 && d.type_name[0] == '.';
  m->type_name = strndup(d.n_type_name ? d.type_name + dot : "", d.n_type_name - dot);
  return m->type_name != NULL;
}

static int add_message(bramah__schema *schema, const char *scope, const field *of, int is_proto3, int depth)
{
  const unsigned char *at = of->at, *end = at + of->length;
  char name[512];
  int is_map = 0;
  name[0] = '\0';
  for (field f; at < end;) {
    if (!take_field(&at, end, 0, &f)) return 1;
    if (f.number == 1 && f.wire == 2)
      snprintf(name, sizeof name, "%s%s%.*s", scope, *scope ? "." : "",
               (int)(f.length < 256 ? f.length : 256), (const char *)f.at);
    if (f.number == 7 && f.wire == 2) { /* its options: 7 says that it is an entry of a map */
      const unsigned char *option = f.at;
      for (field o; option < f.at + f.length && take_field(&option, f.at + f.length, 0, &o);)
        is_map |= o.number == 7 && o.value;
    }
  }
  if (!name[0] || depth >= BRAMAH__MESSAGE_DEPTH) return 1;
  bramah__message_type *type = bramah__schema_add(schema, name, strlen(name));
  if (!type) return 0;
  at = of->at;
  for (field f; at < end && take_field(&at, end, 0, &f);) {
    if (f.number == 2 && f.wire == 2 && !is_map && !add_field(schema, type, &f, is_proto3)) return 0;
    if (f.number == 3 && f.wire == 2 && !add_message(schema, name, &f, is_proto3, depth + 1)) return 0;
  }
  return 1;
}

static int add_file(bramah__schema *schema, const field *of)
{
  const unsigned char *at = of->at, *end = at + of->length;
  char package[256] = "";
  int is_proto3 = 0;
  for (field f; at < end;) {
    if (!take_field(&at, end, 0, &f)) return 1;
    if (f.wire != 2) continue;
    if (f.number == 2)
      snprintf(package, sizeof package, "%.*s", (int)(f.length < 255 ? f.length : 255), (const char *)f.at);
    if (f.number == 12) is_proto3 = f.length == 6 && memcmp(f.at, "proto3", 6) == 0;
  }
  at = of->at;
  for (field f; at < end && take_field(&at, end, 0, &f);)
    if (f.number == 4 && f.wire == 2 && !add_message(schema, package, &f, is_proto3, 0)) return 0;
  return 1;
}

static int by_number(const void *a, const void *b, void *user)
{
  const bramah__message_member *members = user;
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  if (members[x].number != members[y].number) return members[x].number < members[y].number ? -1 : 1;
  return (x > y) - (x < y);
}

/* Of which type its members are, and their order. 0: no memory. */
static int finish(const bramah__schema *schema, bramah__message_type *type)
{
  type->by_number = malloc((type->n + 1) * sizeof *type->by_number);
  if (!type->by_number) return 0;
  for (size_t k = 0; k < type->n; k++) {
    bramah__message_member *m = &type->members[k];
    if (m->kind == BRAMAH__MESSAGE_STRUCT) m->type = bramah__schema_find(schema, m->type_name);
    type->by_number[k] = (uint32_t)k;
  }
  if (type->n) qsort_r(type->by_number, type->n, sizeof *type->by_number, by_number, type->members);
  return 1;
}

int bramah__schema_protobuf(bramah__schema *schema, const char *name, const unsigned char *data,
                            size_t length)
{
  const unsigned char *at = data, *end = data + length;
  for (field f; at < end;) {
    if (!take_field(&at, end, 0, &f)) {
      snprintf(schema->why_not, sizeof schema->why_not, "its schema is no FileDescriptorSet");
      return 1;
    }
    if (f.number == 1 && f.wire == 2 && !add_file(schema, &f)) return 0;
  }
  for (size_t i = 0; i < schema->n; i++)
    if (!finish(schema, schema->types[i])) return 0;
  schema->root = bramah__schema_find(schema, name);
  if (!schema->root)
    snprintf(schema->why_not, sizeof schema->why_not, "its schema does not define '%.100s'", name);
  return 1;
}

/* ---- messages ---- */

/* Wire types of numbers: 0 varint, 1 eight bytes, 5 four. */
static int wire_of(int type)
{
  if (type == 1 || type == 6 || type == 16) return 1;
  if (type == 2 || type == 7 || type == 15) return 5;
  return 0;
}

static int64_t whole_of(const bramah__message_member *member, uint64_t raw)
{
  int64_t whole = (int64_t)raw;
  if (member->wire == 17 || member->wire == 18)
    whole = (int64_t)(raw >> 1) ^ -(int64_t)(raw & 1); /* zigzag */
  if (member->kind == BRAMAH__MESSAGE_INT32) whole = (int32_t)(uint32_t)(uint64_t)whole;
  if (member->kind == BRAMAH__MESSAGE_UINT32) whole = (int64_t)(uint32_t)raw;
  if (member->kind == BRAMAH__MESSAGE_BOOL) whole = raw != 0;
  return whole;
}

static void put_value(bramah__message *m, const bramah__message_member *member, uint64_t raw,
                      const bramah__slot *slot)
{
  const uint32_t low = (uint32_t)raw;
  float single;
  double value;
  if (member->wire == 1) {
    memcpy(&value, &raw, 8);
    bramah__message_put(m, slot, value, 0, 0);
    return;
  }
  if (member->wire == 2) {
    memcpy(&single, &low, 4);
    bramah__message_put(m, slot, (double)single, 0, 0);
    return;
  }
  const int64_t whole = whole_of(member, raw);
  const int is_large = member->kind == BRAMAH__MESSAGE_UINT64 && raw > INT64_MAX;
  bramah__message_put(m, slot, is_large ? (double)raw : (double)whole, whole, !is_large);
}

static bramah__slot *element(bramah__message *m, bramah__slot *array)
{
  if (array->kind != BRAMAH__MESSAGE_ARRAY) return NULL;
  if (!m->reader && array->seen >= array->n) bramah__slot_grow(array, array->seen + 1, m->budget);
  return array->seen < array->n ? &array->parts[array->seen] : NULL;
}

static int walk(bramah__message *m, const bramah__message_type *type, bramah__slot *slot, const field *of);

/* Seconds and nanoseconds; what is not there is 0. */
static int walk_time(bramah__message *m, const bramah__message_type *type, bramah__slot *slot,
                     const field *of)
{
  const unsigned char *at = of->at, *end = at + of->length;
  for (field f; at < end;) {
    if (!take_field(&at, end, m->depth, &f)) return 0;
    for (size_t i = 0; i < 2; i++)
      if (type->members[i].number == f.number && f.wire == wire_of(type->members[i].wire))
        slot->pair[i] = whole_of(&type->members[i], f.value);
  }
  bramah__message_put_time(m, slot, slot->pair[0], slot->pair[1]);
  return 1;
}

static int walk_packed(bramah__message *m, const bramah__message_member *member, bramah__slot *array,
                       const field *of)
{
  const unsigned char *at = of->at, *end = at + of->length;
  const int wire = wire_of(member->wire);
  while (at < end) {
    uint64_t raw;
    if (!(wire == 0 ? take_varint(&at, end, &raw) : take_fixed(&at, end, wire == 1 ? 8 : 4, &raw))) return 0;
    bramah__slot *part = element(m, array);
    if (part) put_value(m, member, raw, part);
    array->seen++;
  }
  return 1;
}

static int walk_field(bramah__message *m, const bramah__message_member *member, bramah__slot *slot,
                      const field *f)
{
  const int is_number = member->kind <= BRAMAH__MESSAGE_FLOAT64;
  if (is_number && member->count && f->wire == 2) return walk_packed(m, member, slot, f);
  bramah__slot *part = member->count ? element(m, slot) : slot;
  slot->seen++;
  if (!part) return 1;
  if (is_number && f->wire != wire_of(member->wire)) return 0;
  if (is_number) return put_value(m, member, f->value, part), 1;
  if (member->kind != BRAMAH__MESSAGE_STRUCT || !member->type) return 1;
  if (f->wire != 2 && f->wire != 3) return 0;
  if (part->kind == BRAMAH__MESSAGE_TIME) return walk_time(m, member->type, part, f);
  return walk(m, member->type, part, f);
}

/* The member with this number; SIZE_MAX: none. Fields may come in any order; usually it is that of the schema. */
static size_t find_member(const bramah__message_type *type, int number, size_t hint)
{
  for (size_t i = hint; i < type->n && i < hint + 2; i++)
    if (type->members[i].number == number) return i;
  size_t low = 0, high = type->n;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (type->members[type->by_number[middle]].number < number)
      low = middle + 1;
    else
      high = middle;
  }
  return low < type->n && type->members[type->by_number[low]].number == number ? type->by_number[low]
                                                                               : SIZE_MAX;
}

/* A message that comes in several parts is one: what of it was met is known until its end. */
static void forget(bramah__slot *slot, int only_wanted)
{
  slot->seen = 0;
  slot->last = 0;
  slot->pair[0] = slot->pair[1] = 0;
  const size_t n = only_wanted ? slot->stop : slot->n;
  for (size_t i = 0; i < n; i++) forget(&slot->parts[i], only_wanted);
}

/* What was met is none. */
static void take_back(bramah__message *m, const bramah__slot *slot)
{
  if (bramah__message_wants(m, slot)) {
    m->reader->values[slot->column] = NAN;
    m->reader->present[slot->column] = 0;
  }
  for (size_t i = 0; i < slot->stop; i++) take_back(m, &slot->parts[i]);
}

/* Of the members of a oneof the one that comes last counts. A type has no more of them than it has members. */
static void choose(bramah__message *m, bramah__slot *slot, uint32_t oneof, size_t member)
{
  if (!m->reader || oneof > slot->n) return;
  bramah__slot *of = &slot->parts[oneof - 1];
  bramah__slot *before = of->last && of->last != member + 1 ? &slot->parts[of->last - 1] : NULL;
  if (before && before->is_wanted) take_back(m, before), forget(before, 1);
  of->last = (uint32_t)member + 1;
}

static int walk(bramah__message *m, const bramah__message_type *type, bramah__slot *slot, const field *of)
{
  const unsigned char *at = of->at, *end = at + of->length;
  if (m->depth >= DEEPEST) return 0;
  if (slot->n != type->n) return 1; /* nothing of it is a column */
  m->depth++;
  size_t next = 0;
  int done = 1;
  for (field f; done && at < end;) {
    if (!take_field(&at, end, m->depth, &f) || f.wire == 4) return 0;
    const size_t i = find_member(type, f.number, next);
    if (i == SIZE_MAX) continue;
    next = i;
    if (type->members[i].oneof) choose(m, slot, type->members[i].oneof, i);
    if (!m->reader || slot->parts[i].is_wanted) done = walk_field(m, &type->members[i], &slot->parts[i], &f);
  }
  m->depth--;
  return done;
}

/* What was not sent of the messages that were, and is 0. */
static void put_zeros(bramah__message *m, bramah__slot *slot)
{
  const int is_array = slot->kind == BRAMAH__MESSAGE_ARRAY;
  for (size_t i = 0; i < slot->stop && !(is_array && i >= slot->seen); i++) {
    bramah__slot *part = &slot->parts[i];
    if (part->member && part->member->implicit && !part->seen)
      bramah__message_put(m, part, 0.0, 0, 1);
    else if (part->stop && (is_array || part->seen))
      put_zeros(m, part);
  }
}

bramah_status bramah__message_protobuf(bramah__message *m, bramah__slot *root)
{
  const field all = {.at = m->at, .length = (size_t)(m->end - m->at)};
  forget(root, m->reader != NULL);
  if (!walk(m, root->type, root, &all)) return BRAMAH_E_SYNTAX;
  if (m->reader) put_zeros(m, root);
  return BRAMAH_OK;
}
