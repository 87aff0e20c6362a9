/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages of ROS: definitions as .msg files and as IDL (OMG IDL 4.2, as far as rosidl makes use of it), and CDR as DDS
 * sends it (OMG DDS-XTypes 1.3, 7.4.1, "plain CDR version 1"); ROS 1 has the same without alignment. */
#define _POSIX_C_SOURCE 200809L /* strndup */
#include "lib/logs/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST_DATA = 32, LONGEST_NAME = 256, MOST_ALIASES = 256 };

static const struct {
  const char *name;
  bramah__message_kind kind;
} primitives[] = {{"bool", BRAMAH__MESSAGE_BOOL},
                  {"byte", BRAMAH__MESSAGE_UINT8}, /* of ROS 1 int8 */
                  {"char", BRAMAH__MESSAGE_UINT8},
                  {"int8", BRAMAH__MESSAGE_INT8},
                  {"uint8", BRAMAH__MESSAGE_UINT8},
                  {"int16", BRAMAH__MESSAGE_INT16},
                  {"uint16", BRAMAH__MESSAGE_UINT16},
                  {"int32", BRAMAH__MESSAGE_INT32},
                  {"uint32", BRAMAH__MESSAGE_UINT32},
                  {"int64", BRAMAH__MESSAGE_INT64},
                  {"uint64", BRAMAH__MESSAGE_UINT64},
                  {"float32", BRAMAH__MESSAGE_FLOAT32},
                  {"float64", BRAMAH__MESSAGE_FLOAT64},
                  {"string", BRAMAH__MESSAGE_TEXT},
                  {"wstring", BRAMAH__MESSAGE_WIDE_TEXT},
                  /* of IDL */
                  {"boolean", BRAMAH__MESSAGE_BOOL},
                  {"octet", BRAMAH__MESSAGE_UINT8},
                  {"short", BRAMAH__MESSAGE_INT16},
                  {"long", BRAMAH__MESSAGE_INT32},
                  {"float", BRAMAH__MESSAGE_FLOAT32},
                  {"double", BRAMAH__MESSAGE_FLOAT64}};

static int find_primitive(const char *name, bramah__message_kind *kind)
{
  for (size_t i = 0; i < sizeof primitives / sizeof primitives[0]; i++)
    if (strcmp(primitives[i].name, name) == 0) return *kind = primitives[i].kind, 1;
  return 0;
}

static void refuse(bramah__schema *schema, const char *what, const char *name)
{
  if (!schema->why_not[0]) snprintf(schema->why_not, sizeof schema->why_not, "%s '%.80s'", what, name);
}

/* "pkg/msg/Type" and "pkg::msg::Type" as "pkg/Type". */
static void plain_name(const char *text, size_t length, char out[LONGEST_NAME])
{
  size_t n = 0;
  for (size_t i = 0; i < length && n + 1 < LONGEST_NAME; i++) {
    if (text[i] == ':' && i + 1 < length && text[i + 1] == ':') continue;
    out[n++] = text[i] == ':' ? '/' : text[i];
    const int is_middle =
        n > 4 && (strncmp(out + n - 5, "/msg/", 5) == 0 || strncmp(out + n - 5, "/srv/", 5) == 0);
    if (is_middle) n -= 4;
  }
  out[n] = '\0';
}

static int add_pair(bramah__schema *schema, const char *name, const char *seconds, const char *nanoseconds,
                    int is_signed)
{
  if (bramah__schema_find(schema, name)) return 1;
  bramah__message_type *type = bramah__schema_add(schema, name, strlen(name));
  bramah__message_member *m = type ? bramah__schema_member(schema, type, seconds, strlen(seconds)) : NULL;
  if (!m) return 0;
  m->kind = is_signed ? BRAMAH__MESSAGE_INT32 : BRAMAH__MESSAGE_UINT32;
  m = bramah__schema_member(schema, type, nanoseconds, strlen(nanoseconds));
  if (m) m->kind = BRAMAH__MESSAGE_UINT32;
  return m != NULL;
}

/* Names to definitions: of the package of the type that uses them, or by themselves. */
static void resolve(bramah__schema *schema, const bramah__message_type *in, bramah__message_member *m)
{
  char name[2 * LONGEST_NAME];
  const char *slash = strrchr(in->name, '/');
  m->type = NULL;
  if (!strchr(m->type_name, '/') && slash) {
    snprintf(name, sizeof name, "%.*s/%s", (int)(slash - in->name), in->name, m->type_name);
    m->type = bramah__schema_find(schema, name);
  }
  if (!m->type) m->type = bramah__schema_find(schema, m->type_name);
  if (!m->type && strcmp(m->type_name, "Header") == 0)
    m->type = bramah__schema_find(schema, "std_msgs/Header");
  if (!m->type) refuse(schema, "its schema does not define the type", m->type_name);
}

/* What holds names of the elements of its other arrays. */
static void find_names(bramah__message_type *type)
{
  int has_names = 0, has_numbers = 0;
  for (size_t i = 0; i < type->n; i++) {
    const bramah__message_member *m = &type->members[i];
    if (m->count != BRAMAH__MESSAGE_SEQUENCE) continue;
    const int is_names = m->kind == BRAMAH__MESSAGE_TEXT && strcmp(m->name, "name") == 0;
    has_names |= is_names && !has_numbers; /* they must be known before the numbers */
    has_numbers |= m->kind == BRAMAH__MESSAGE_FLOAT32 || m->kind == BRAMAH__MESSAGE_FLOAT64;
  }
  type->is_named = has_names && has_numbers;
}

static int finish(bramah__schema *schema, const char *name)
{
  char plain[LONGEST_NAME];
  int done = add_pair(schema, "builtin_interfaces/Time", "sec", "nanosec", 1);
  done = done && add_pair(schema, "builtin_interfaces/Duration", "sec", "nanosec", 1);
  done = done && add_pair(schema, "time", "secs", "nsecs", 0) &&
         add_pair(schema, "duration", "secs", "nsecs", 1);
  for (size_t i = 0; done && i < schema->n; i++) {
    bramah__message_type *type = schema->types[i];
    for (size_t k = 0; k < type->n; k++) {
      bramah__message_member *m = &type->members[k];
      if (m->kind == BRAMAH__MESSAGE_STRUCT) resolve(schema, type, m);
      if (m->kind == BRAMAH__MESSAGE_WIDE_TEXT)
        refuse(schema, "has text of wide characters, whose size in a message is not settled:", m->name);
    }
    find_names(type);
  }
  plain_name(name, strlen(name), plain);
  schema->root = bramah__schema_find(schema, plain);
  if (done && !schema->root) refuse(schema, "its schema does not define", name);
  return done;
}

/* ---- .msg ---- */

static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static int is_letter(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* "float64[3]", "string<=10[]", "pkg/Type[<=5]". 0: no memory. */
static int read_type(bramah__schema *schema, bramah__message_member *m, const char *text, size_t length,
                     int is_ros1)
{
  char name[LONGEST_NAME];
  size_t n = 0;
  while (n < length && text[n] != '[' && text[n] != '<') n++;
  plain_name(text, n, name);
  if (!find_primitive(name, &m->kind)) {
    m->kind = BRAMAH__MESSAGE_STRUCT;
    m->type_name = strdup(name);
    if (!m->type_name) return 0;
  }
  if (is_ros1 && strcmp(name, "byte") == 0) m->kind = BRAMAH__MESSAGE_INT8;
  while (n < length && text[n] != '[') n++;
  if (n == length) return 1;
  m->count = text[n + 1] >= '0' && text[n + 1] <= '9' ? BRAMAH__MESSAGE_FIXED : BRAMAH__MESSAGE_SEQUENCE;
  for (n++; m->count == BRAMAH__MESSAGE_FIXED && n < length && text[n] >= '0' && text[n] <= '9'; n++) {
    if (m->n > 100000000) refuse(schema, "its schema has an array that is too long:", m->name);
    if (m->n <= 100000000) m->n = 10 * m->n + (uint32_t)(text[n] - '0');
  }
  return 1;
}

/* "type name", "type name default", "type NAME=value". 0: no memory. */
static int read_line(bramah__schema *schema, bramah__message_type *type, const char *at, const char *end,
                     int is_ros1)
{
  while (at < end && is_blank(*at)) at++;
  const char *of_type = at;
  while (at < end && !is_blank(*at) && *at != '#') at++;
  const size_t n_type = (size_t)(at - of_type);
  while (at < end && is_blank(*at)) at++;
  const char *name = at;
  while (at < end && is_letter(*at)) at++;
  const size_t n_name = (size_t)(at - name);
  while (at < end && is_blank(*at)) at++;
  if (!n_type || !n_name || (at < end && *at == '=')) return 1; /* nothing, a comment, a constant */
  bramah__message_member *m = bramah__schema_member(schema, type, name, n_name);
  return m && read_type(schema, m, of_type, n_type, is_ros1);
}

int bramah__schema_ros(bramah__schema *schema, const char *name, const char *text, size_t length, int is_ros1)
{
  char plain[LONGEST_NAME];
  plain_name(name, strlen(name), plain);
  bramah__message_type *type = bramah__schema_add(schema, plain, strlen(plain));
  for (const char *at = text, *end = text + length, *stop; type && at < end; at = stop + 1) {
    stop = memchr(at, '\n', (size_t)(end - at));
    if (!stop) stop = end;
    size_t n = (size_t)(stop - at);
    while (n && is_blank(at[n - 1])) n--;
    if (n > 4 && strncmp(at, "====", 4) == 0) continue;
    if (n > 4 && strncmp(at, "MSG:", 4) == 0) {
      while (n > 4 && is_blank(at[4])) at++, n--;
      plain_name(at + 4, n - 4, plain);
      type = bramah__schema_add(schema, plain, strlen(plain));
    } else if (!read_line(schema, type, at, at + n, is_ros1)) {
      type = NULL;
    }
  }
  return type && finish(schema, name);
}

/* ---- IDL ---- */

/* A type, under a name of its own. */
typedef struct alias {
  char name[LONGEST_NAME], type_name[LONGEST_NAME];
  bramah__message_kind kind;
  bramah__message_count count;
  uint32_t n;
} alias;

typedef struct idl {
  bramah__schema *schema;
  const char *at, *end;
  char word[LONGEST_NAME]; /* the present one: a name (with ::), a number, or a mark */
  char scope[LONGEST_NAME];
  alias *aliases;
  size_t n_aliases;
  int depth, no_memory;
} idl;

static int is_name_mark(const idl *p, const char *at)
{
  return is_letter(*at) || (*at == ':' && at + 1 < p->end && at[1] == ':');
}

/* On to the next word; "" at the end. Comments, what a preprocessor reads, and rosidl's lines between files are passed over. */
static void next_word(idl *p)
{
  size_t n = 0;
  while (p->at < p->end) {
    const size_t left = (size_t)(p->end - p->at);
    const int is_line = *p->at == '#' || *p->at == '=' || (left > 1 && strncmp(p->at, "//", 2) == 0) ||
                        (left > 3 && strncmp(p->at, "IDL:", 4) == 0);
    if (is_blank(*p->at) || *p->at == '\n') {
      p->at++;
    } else if (is_line && !(*p->at == '=' && !(left > 1 && p->at[1] == '='))) {
      while (p->at < p->end && *p->at != '\n') p->at++;
    } else if (left > 1 && strncmp(p->at, "/*", 2) == 0) {
      for (p->at += 2; p->at < p->end && !(p->at[-1] == '*' && *p->at == '/');) p->at++;
      if (p->at < p->end) p->at++;
    } else {
      break;
    }
  }
  if (p->at < p->end && *p->at == '"') {
    for (p->at++; p->at < p->end && *p->at != '"'; p->at++)
      if (*p->at == '\\' && p->at + 1 < p->end) p->at++;
    if (p->at < p->end) p->at++;
    p->word[n++] = '"';
  } else if (p->at < p->end && is_name_mark(p, p->at)) {
    while (p->at < p->end && (is_letter(*p->at) || *p->at == ':') && n + 1 < LONGEST_NAME) {
      if (*p->at == ':' && !((p->at + 1 < p->end && p->at[1] == ':') || p->at[-1] == ':')) break;
      p->word[n++] = *p->at++;
    }
  } else if (p->at < p->end) {
    p->word[n++] = *p->at++;
  }
  p->word[n] = '\0';
}

static int is(const idl *p, const char *word) { return strcmp(p->word, word) == 0; }

static int take(idl *p, const char *word)
{
  if (!is(p, word)) return 0;
  next_word(p);
  return 1;
}

/* Up to the mark, with what is between brackets on the way. */
static void skip_to(idl *p, const char *mark)
{
  int open = 0;
  while (p->word[0] && (open > 0 || !is(p, mark))) {
    open += is(p, "{") || is(p, "(");
    open -= is(p, "}") || is(p, ")");
    next_word(p);
  }
}

static void skip_annotations(idl *p)
{
  while (take(p, "@")) {
    if (is(p, "optional") || is(p, "bit_bound")) /* they change what is in a message */
      refuse(p->schema, "its schema has an annotation that is not read:", p->word);
    next_word(p);
    if (!is(p, "(")) continue;
    next_word(p);
    skip_to(p, ")");
    take(p, ")");
  }
}

static uint32_t read_count(const idl *p)
{
  if (!p->word[0] || p->word[strspn(p->word, "0123456789")] || (p->word[0] == '0' && p->word[1]))
    refuse(p->schema, "its schema has an array whose length is not read:", p->word);
  const unsigned long n = strtoul(p->word, NULL, 10);
  return n < 100000000 ? (uint32_t)n : 100000000;
}

static const alias *find_alias(const idl *p, const char *name)
{
  char full[2 * LONGEST_NAME + 2];
  snprintf(full, sizeof full, "%s/%s", p->scope, name);
  for (size_t i = 0; i < p->n_aliases; i++)
    if (strcmp(p->aliases[i].name, full) == 0 || strcmp(p->aliases[i].name, name) == 0) return &p->aliases[i];
  return NULL;
}

static void read_idl_type(idl *p, alias *a)
{
  if (take(p, "sequence")) {
    take(p, "<");
    if (is(p, "sequence"))
      refuse(p->schema, "its schema has arrays of arrays:", "sequence"); /* whose type is not read */
    else
      read_idl_type(p, a);
    if (a->count) refuse(p->schema, "its schema has arrays of arrays:", a->type_name);
    a->count = BRAMAH__MESSAGE_SEQUENCE;
    if (take(p, ",")) next_word(p);
    take(p, ">");
    return;
  }
  const int is_unsigned = take(p, "unsigned");
  char name[LONGEST_NAME];
  plain_name(p->word, strlen(p->word), name);
  next_word(p);
  if (strcmp(name, "long") == 0 && is(p, "long")) {
    next_word(p);
    a->kind = BRAMAH__MESSAGE_INT64;
  } else if (strcmp(name, "long") == 0 && is(p, "double")) {
    refuse(p->schema, "its schema has a type that is not read:", "long double");
  } else if (!find_primitive(name, &a->kind)) {
    const alias *other = find_alias(p, name);
    if (other) {
      a->kind = other->kind;
      a->count = other->count;
      a->n = other->n;
      memcpy(a->type_name, other->type_name, sizeof a->type_name);
    } else {
      a->kind = BRAMAH__MESSAGE_STRUCT;
      memcpy(a->type_name, name, sizeof a->type_name);
    }
  }
  if (is_unsigned && (a->kind == BRAMAH__MESSAGE_INT16 || a->kind == BRAMAH__MESSAGE_INT32 ||
                      a->kind == BRAMAH__MESSAGE_INT64))
    a->kind = (bramah__message_kind)(a->kind + 1);
  if (take(p, "<")) { /* how long a text may be */
    skip_to(p, ">");
    take(p, ">");
  }
}

/* "name[3][3]"; a copy of the type, which the next name has too. */
static alias read_declarator(idl *p, alias a)
{
  snprintf(a.name, sizeof a.name, "%s", p->word);
  next_word(p);
  uint64_t n = 1;
  int is_array = 0;
  while (take(p, "[")) {
    n *= read_count(p);
    if (n > 100000000) n = 100000000;
    is_array = 1;
    next_word(p);
    if (!take(p, "]")) refuse(p->schema, "its schema has an array whose length is not read:", a.name);
  }
  if (!is_array) return a;
  if (a.count) refuse(p->schema, "its schema has arrays of arrays:", a.name);
  a.count = BRAMAH__MESSAGE_FIXED;
  a.n = (uint32_t)n;
  return a;
}

static void read_struct(idl *p)
{
  char name[LONGEST_NAME], full[2 * LONGEST_NAME + 2], plain[LONGEST_NAME];
  memcpy(name, p->word, sizeof name);
  next_word(p);
  snprintf(full, sizeof full, "%s%s%s", p->scope, p->scope[0] ? "/" : "", name);
  plain_name(full, strlen(full), plain);
  if (is(p, ";")) return; /* said to be defined later */
  if (is(p, ":")) refuse(p->schema, "its schema has a type that inherits from another:", name);
  skip_to(p, "{");
  next_word(p);
  bramah__message_type *type = bramah__schema_add(p->schema, plain, strlen(plain));
  while (type && p->word[0] && !is(p, "}")) {
    alias a = {0};
    skip_annotations(p);
    read_idl_type(p, &a);
    do {
      const alias d = read_declarator(p, a);
      bramah__message_member *m = bramah__schema_member(p->schema, type, d.name, strlen(d.name));
      if (m) {
        m->kind = d.kind;
        m->count = d.count;
        m->n = d.n;
        if (d.kind == BRAMAH__MESSAGE_STRUCT) m->type_name = strdup(d.type_name);
      }
      if (!m || (d.kind == BRAMAH__MESSAGE_STRUCT && !m->type_name)) type = NULL;
    } while (type && take(p, ","));
    skip_to(p, ";");
    next_word(p);
  }
  p->no_memory |= !type;
  take(p, "}");
}

static void add_alias(idl *p, const alias *a)
{
  if (p->n_aliases == MOST_ALIASES) refuse(p->schema, "its schema has too many types of its own:", a->name);
  alias *list = p->n_aliases < MOST_ALIASES ? realloc(p->aliases, (p->n_aliases + 1) * sizeof *list) : NULL;
  p->no_memory |= !list;
  if (!list) return;
  p->aliases = list;
  alias *own = &list[p->n_aliases++];
  char full[2 * LONGEST_NAME + 2];
  *own = *a;
  snprintf(full, sizeof full, "%s/%s", p->scope, a->name);
  memcpy(own->name, full, LONGEST_NAME - 1);
  own->name[LONGEST_NAME - 1] = '\0';
}

static void read_definitions(idl *p)
{
  while (p->word[0] && !is(p, "}") && !p->no_memory) {
    skip_annotations(p);
    if (take(p, "module")) {
      const size_t outer = strlen(p->scope), length = strlen(p->word);
      if (!is(p, "msg") && outer + length + 2 < LONGEST_NAME) {
        if (outer) p->scope[outer] = '/';
        memcpy(p->scope + outer + (outer > 0), p->word, length + 1);
      }
      next_word(p);
      take(p, "{");
      if (++p->depth < BRAMAH__MESSAGE_DEPTH) read_definitions(p);
      p->depth--;
      take(p, "}");
      p->scope[outer] = '\0';
    } else if (take(p, "struct")) {
      read_struct(p);
    } else if (take(p, "typedef")) {
      alias a = {0};
      read_idl_type(p, &a);
      a = read_declarator(p, a);
      add_alias(p, &a);
    } else if (take(p, "enum")) {
      alias a = {.kind = BRAMAH__MESSAGE_UINT32};
      memcpy(a.name, p->word, sizeof a.name);
      add_alias(p, &a);
    } else if (is(p, "union")) {
      refuse(p->schema, "its schema has a type that is not read:", "union");
    }
    skip_to(p, ";");
    if (!p->word[0]) return;
    next_word(p);
  }
}

int bramah__schema_idl(bramah__schema *schema, const char *name, const char *text, size_t length)
{
  idl p = {.schema = schema, .at = text, .end = text + length};
  next_word(&p);
  read_definitions(&p);
  free(p.aliases);
  return !p.no_memory && finish(schema, name);
}

/* ---- CDR ---- */

static const unsigned char sizes[] = {
    [BRAMAH__MESSAGE_BOOL] = 1,    [BRAMAH__MESSAGE_INT8] = 1,    [BRAMAH__MESSAGE_UINT8] = 1,
    [BRAMAH__MESSAGE_INT16] = 2,   [BRAMAH__MESSAGE_UINT16] = 2,  [BRAMAH__MESSAGE_INT32] = 4,
    [BRAMAH__MESSAGE_UINT32] = 4,  [BRAMAH__MESSAGE_INT64] = 8,   [BRAMAH__MESSAGE_UINT64] = 8,
    [BRAMAH__MESSAGE_FLOAT32] = 4, [BRAMAH__MESSAGE_FLOAT64] = 8, [BRAMAH__MESSAGE_TEXT] = 0};

/* So many bytes that are aligned; NULL: the message has no more. */
static const unsigned char *take_bytes(bramah__message *m, size_t alignment, uint64_t n)
{
  if (!m->packed) {
    const size_t odd = (size_t)(m->at - m->base) & (alignment - 1);
    if (odd && (size_t)(m->end - m->at) < alignment - odd) return NULL;
    if (odd) m->at += alignment - odd;
  }
  if ((uint64_t)(m->end - m->at) < n) return NULL;
  const unsigned char *at = m->at;
  m->at += n;
  return at;
}

static int take_count(bramah__message *m, uint32_t *n)
{
  const unsigned char *at = take_bytes(m, 4, 4);
  if (!at) return 0;
  memcpy(n, at, 4);
  if (m->swap) *n = __builtin_bswap32(*n);
  return 1;
}

static int take_text(bramah__message *m, const char **text, uint32_t *n)
{
  if (!take_count(m, n)) return 0;
  *text = (const char *)take_bytes(m, 1, *n);
  return *text != NULL;
}

static void put_value(bramah__message *m, bramah__message_kind kind, const unsigned char *at,
                      const bramah__slot *slot)
{
  unsigned char bytes[8] = {0};
  const size_t n = sizes[kind];
  memcpy(bytes, at, n);
  for (size_t i = 0; m->swap && i < n; i++) bytes[i] = at[n - 1 - i];
  uint64_t raw = 0;
  for (size_t i = 0; i < n; i++) raw |= (uint64_t)bytes[i] << (8 * i);
  float single;
  double value;
  const uint32_t low = (uint32_t)raw;
  if (kind == BRAMAH__MESSAGE_FLOAT64) {
    memcpy(&value, &raw, 8);
    bramah__message_put(m, slot, value, 0, 0);
  } else if (kind == BRAMAH__MESSAGE_FLOAT32) {
    memcpy(&single, &low, 4);
    bramah__message_put(m, slot, (double)single, 0, 0);
  } else if (kind == BRAMAH__MESSAGE_UINT64) {
    bramah__message_put(m, slot, (double)raw, (int64_t)raw, raw <= INT64_MAX);
  } else {
    const int is_signed =
        kind == BRAMAH__MESSAGE_INT8 || kind == BRAMAH__MESSAGE_INT16 || kind == BRAMAH__MESSAGE_INT32;
    if (is_signed && raw >> (8 * n - 1)) raw |= ~UINT64_C(0) << (8 * n);
    const int64_t whole = kind == BRAMAH__MESSAGE_BOOL ? raw != 0 : (int64_t)raw;
    bramah__message_put(m, slot, (double)whole, whole, 1);
  }
}

static int walk_struct(bramah__message *m, const bramah__message_type *type, bramah__slot *slot);

static int walk_time(bramah__message *m, const bramah__message_type *type, const bramah__slot *slot)
{
  int64_t part[2] = {0, 0};
  for (size_t i = 0; i < 2; i++) {
    const bramah__message_kind kind = type->members[i].kind;
    const unsigned char *at = take_bytes(m, sizes[kind], sizes[kind]);
    if (!at) return 0;
    uint64_t raw = 0;
    const size_t n = sizes[kind];
    for (size_t k = 0; k < n; k++) raw |= (uint64_t)at[m->swap ? n - 1 - k : k] << (8 * k);
    if ((kind == BRAMAH__MESSAGE_INT32 || kind == BRAMAH__MESSAGE_INT16 || kind == BRAMAH__MESSAGE_INT8) &&
        raw >> (8 * n - 1))
      raw |= ~UINT64_C(0) << (8 * n);
    part[i] = (int64_t)raw;
  }
  bramah__message_put_time(m, slot, part[0], part[1]);
  return 1;
}

/* One value, or an element of an array. */
static int walk_value(bramah__message *m, bramah__message_kind kind, const bramah__message_type *type,
                      bramah__slot *slot)
{
  const char *text;
  uint32_t n;
  if (kind == BRAMAH__MESSAGE_TEXT) return take_text(m, &text, &n);
  if (kind == BRAMAH__MESSAGE_STRUCT && slot && slot->kind == BRAMAH__MESSAGE_TIME)
    return walk_time(m, type, slot);
  if (kind == BRAMAH__MESSAGE_STRUCT) return type && walk_struct(m, type, slot);
  const unsigned char *at = take_bytes(m, sizes[kind], sizes[kind]);
  if (at && slot && m->reader) put_value(m, kind, at, slot);
  return at != NULL;
}

/* The element of a named array that has this name. */
static bramah__slot *find_named(bramah__message *m, bramah__slot *array, size_t i)
{
  if (i >= m->n_names) return NULL;
  const size_t length = m->name_length[i];
  for (size_t k = 0; k < array->n; k++) {
    bramah__slot *part = &array->parts[(i + k) % array->n];
    if (strlen(part->name) == length && memcmp(part->name, m->names[i], length) == 0) return part;
  }
  int is_name = length > 0 && memchr(m->names[i], 0, length) == NULL;
  for (size_t k = 0; is_name && k < length; k++)
    is_name = (unsigned char)m->names[i][k] >= 0x20 && m->names[i][k] != '[' && m->names[i][k] != ']';
  return m->reader || !is_name || array->n >= BRAMAH__MESSAGE_ELEMENTS
             ? NULL
             : bramah__slot_add(array, m->names[i], length, m->budget);
}

static int walk_array(bramah__message *m, const bramah__message_member *member, bramah__slot *slot)
{
  uint32_t n = member->n;
  const bramah__message_kind kind = member->kind;
  if (member->count == BRAMAH__MESSAGE_SEQUENCE && !take_count(m, &n)) return 0;
  if (n > (uint64_t)(m->end - m->at) && n > 0) return 0; /* an element is a byte at least */
  const int is_number = kind >= BRAMAH__MESSAGE_BOOL && kind <= BRAMAH__MESSAGE_FLOAT64;
  if (slot && slot->kind != BRAMAH__MESSAGE_ARRAY) slot = NULL;
  if (slot && !m->reader && !slot->is_named && member->count == BRAMAH__MESSAGE_SEQUENCE && n > slot->n)
    bramah__slot_grow(slot, n, m->budget);
  const size_t used = !slot ? 0 : slot->is_named ? n : slot->n;
  uint32_t i = 0;
  for (; i < n && (i < used || !is_number); i++) {
    bramah__slot *part = !slot || i >= used ? NULL
                         : slot->is_named   ? find_named(m, slot, i)
                                            : &slot->parts[i];
    if (!walk_value(m, kind, member->type, part)) return 0;
  }
  return i == n || take_bytes(m, sizes[kind], (uint64_t)(n - i) * sizes[kind]) != NULL;
}

static int walk_names(bramah__message *m)
{
  uint32_t n;
  m->n_names = 0;
  if (!take_count(m, &n) || n > (uint64_t)(m->end - m->at)) return 0;
  for (uint32_t i = 0; i < n; i++) {
    const char *text;
    uint32_t length;
    if (!take_text(m, &text, &length)) return 0;
    if (i >= BRAMAH__MESSAGE_ELEMENTS) continue;
    while (length && !text[length - 1]) length--; /* ROS 1 has no zero byte at its end */
    m->names[i] = text;
    m->name_length[i] = length;
    m->n_names = i + 1;
  }
  return 1;
}

static int walk_struct(bramah__message *m, const bramah__message_type *type, bramah__slot *slot)
{
  const int is_root = m->depth == 0;
  if (m->depth >= DEEPEST_DATA) return 0;
  if (slot && (slot->n != type->n || (m->reader && !slot->is_wanted))) slot = NULL;
  if (!type->n && !m->packed) return take_bytes(m, 1, 1) != NULL; /* ROS 2 sends a byte for nothing */
  m->depth++;
  int done = 1;
  for (size_t i = 0; done && i < type->n; i++) {
    const bramah__message_member *member = &type->members[i];
    bramah__slot *part = slot ? &slot->parts[i] : NULL;
    if (is_root && m->reader && (!slot || i >= slot->stop)) break; /* nothing behind it is wanted */
    if (m->steps-- == 0) return 0;                                 /* types of no bytes in each other */
    if (part && m->reader && !part->is_wanted) part = NULL;
    if (type->is_named && member->count && member->kind == BRAMAH__MESSAGE_TEXT &&
        strcmp(member->name, "name") == 0)
      done = walk_names(m);
    else
      done = member->count ? walk_array(m, member, part) : walk_value(m, member->kind, member->type, part);
  }
  if (type->is_named) m->n_names = 0; /* they are not those of a struct around it */
  m->depth--;
  return done;
}

bramah_status bramah__message_cdr(bramah__message *m, bramah__slot *root, int is_ros1)
{
  const uint16_t one = 1;
  const int is_big_endian = *(const unsigned char *)&one == 0;
  m->packed = is_ros1;
  m->steps =
      (size_t)DEEPEST_DATA * ((size_t)(m->end - m->at) + 64); /* a member is a byte at least, nearly always */
  m->swap = is_big_endian;
  if (!is_ros1) { /* how it is written: 0, then 0 for big, 1 for little endian */
    if (m->end - m->at < 4 || m->at[0] != 0 || m->at[1] > 1) return BRAMAH_E_SYNTAX;
    m->swap = m->at[1] != !is_big_endian;
    m->at += 4;
    m->base = m->at;
  }
  return walk_struct(m, root->type, root) ? BRAMAH_OK : BRAMAH_E_SYNTAX;
}
