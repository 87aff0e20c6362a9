/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Topics of a log of messages: their schemas, channels, and columns. */
#define _GNU_SOURCE /* qsort_r, strndup */
#include "lib/logs/topics.h"

#include "lib/logs/mcap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SCHEMAS = 16 << 20 /* with metadata [bytes] */, MOST_COLUMNS = 10000 };

/* ---- content of records ---- */

uint64_t bramah__content_number(bramah__content *c, unsigned n)
{
  if ((size_t)(c->end - c->at) < n) return c->is_short = 1, 0;
  const unsigned char *at = c->at;
  c->at += n;
  return bramah__mcap_number(at, n);
}

const unsigned char *bramah__content_bytes(bramah__content *c, unsigned n, size_t *length)
{
  const uint64_t all = bramah__content_number(c, n);
  *length = 0;
  if (c->is_short || all > (uint64_t)(c->end - c->at)) return c->is_short = 1, c->at;
  const unsigned char *at = c->at;
  c->at += all;
  *length = (size_t)all;
  return at;
}

/* ---- schemas and channels ---- */

/* 0: no memory. */
static int set_id(bramah__ids *ids, unsigned id, size_t number)
{
  uint32_t **of = &ids->of[id >> 8];
  if (!*of) *of = calloc(256, sizeof **of);
  if (*of) (*of)[id & 255] = (uint32_t)number;
  return *of != NULL;
}

static char *text(bramah__span s) { return strndup((const char *)s.at, s.n); }

/* So many bytes are kept of the file. */
static bramah_status keep(bramah_log_reader *reader, size_t n)
{
  bramah__topics *t = reader->source;
  t->schema_bytes += n;
  return t->schema_bytes <= MOST_SCHEMAS ? BRAMAH_OK
                                         : bramah__log_fail(reader, BRAMAH_E_UNSUPPORTED, NULL, 0, 0,
                                                            "the schemas and channels have more than 16 MiB");
}

bramah_status bramah__topics_add_schema(bramah_log_reader *reader, unsigned id, bramah__span name,
                                        bramah__span encoding, bramah__span data)
{
  bramah__topics *t = reader->source;
  if (bramah__ids_find(&t->schema_of_id, id)) return BRAMAH_OK;
  bramah__schema_record *list = bramah__list_grow(t->schemas, t->n_schemas, sizeof *list);
  if (!list) return bramah__log_fail_memory(reader);
  t->schemas = list;
  bramah__schema_record *s = &list[t->n_schemas];
  *s = (bramah__schema_record){.name = text(name), .encoding = text(encoding), .length = data.n};
  s->data = malloc(data.n + 1);
  const int is_set = set_id(&t->schema_of_id, id, ++t->n_schemas);
  if (!is_set || !s->name || !s->encoding || !s->data) return bramah__log_fail_memory(reader);
  memcpy(s->data, data.at, data.n);
  return keep(reader, data.n);
}

/* Types of a schema, once. 0: no memory. */
static int compile(bramah__schema_record *s)
{
  if (s->is_compiled) return 1;
  s->is_compiled = 1;
  const char *data = (const char *)s->data;
  const int is_ros1 = strcmp(s->encoding, "ros1msg") == 0;
  int done = 1;
  if (is_ros1 || strcmp(s->encoding, "ros2msg") == 0)
    done = bramah__schema_ros(&s->schema, s->name, data, s->length, is_ros1);
  if (strcmp(s->encoding, "ros2idl") == 0 || strcmp(s->encoding, "omgidl") == 0)
    done = bramah__schema_idl(&s->schema, s->name, data, s->length);
  if (strcmp(s->encoding, "protobuf") == 0)
    done = bramah__schema_protobuf(&s->schema, s->name, s->data, s->length);
  return done || s->schema.why_not[0]; /* too much of it is no lack of memory */
}

static const struct {
  const char *message, *schema;
  bramah__message_encoding encoding;
} encodings[] = {
    {"json", NULL, BRAMAH__MESSAGE_JSON},      {"cdr", "ros2msg", BRAMAH__MESSAGE_CDR},
    {"cdr", "ros2idl", BRAMAH__MESSAGE_CDR},   {"cdr", "omgidl", BRAMAH__MESSAGE_CDR},
    {"ros1", "ros1msg", BRAMAH__MESSAGE_ROS1}, {"protobuf", "protobuf", BRAMAH__MESSAGE_PROTOBUF}};

/* Its slots, or why it has none. 0: no memory. */
static int prepare(bramah__topics *t, bramah__channel *ch, bramah__schema_record *s, const char *encoding)
{
  char why[256] = "";
  size_t k = 0;
  const size_t n = sizeof encodings / sizeof encodings[0];
  while (k < n && (strcmp(encodings[k].message, encoding) != 0 ||
                   (encodings[k].schema && (!s || strcmp(encodings[k].schema, s->encoding) != 0))))
    k++;
  int done = 1;
  if (k == n && !s)
    snprintf(why, sizeof why, "has messages in '%.40s' without a schema: only JSON is read so", encoding);
  else if (k == n)
    snprintf(why, sizeof why,
             "has messages in '%.40s' with a schema in '%.40s': read are cdr (ros2msg, ros2idl), ros1, "
             "protobuf and json",
             encoding, s->encoding);
  else if (encodings[k].encoding == BRAMAH__MESSAGE_JSON)
    done = bramah__slot_json(&ch->root, s ? (const char *)s->data : "", s ? s->length : 0, &t->budget);
  else
    done = compile(s);
  if (k < n) ch->encoding = encodings[k].encoding;
  if (done && k < n && ch->encoding != BRAMAH__MESSAGE_JSON) {
    snprintf(why, sizeof why, "%s", s->schema.why_not);
    if (!why[0]) done = bramah__slot_make(&ch->root, s->schema.root, &t->budget);
    if (ch->root.why_not) snprintf(why, sizeof why, "%s", ch->root.why_not);
  }
  if (why[0]) ch->why_not = strdup(why);
  return done && (!why[0] || ch->why_not);
}

bramah_status bramah__topics_add_channel(bramah_log_reader *reader, unsigned id, unsigned schema,
                                         bramah__span topic, bramah__span encoding, bramah__span metadata)
{
  bramah__topics *t = reader->source;
  if (bramah__ids_find(&t->of_id, id)) return BRAMAH_OK;
  bramah__channel *list = bramah__list_grow(t->channels, t->n_channels, sizeof *list);
  if (!list) return bramah__log_fail_memory(reader);
  t->channels = list;
  bramah__channel *ch = &list[t->n_channels];
  *ch = (bramah__channel){.topic_of = t->n_channels, .topic = text(topic), .n_metadata = metadata.n};
  ch->metadata = malloc(metadata.n + 1);
  const int is_set = set_id(&t->of_id, id, ++t->n_channels);
  const uint32_t of = bramah__ids_find(&t->schema_of_id, schema);
  bramah__schema_record *s = of ? &t->schemas[of - 1] : NULL;
  char *called = text(encoding);
  const int done = is_set && ch->topic && called && ch->metadata && prepare(t, ch, s, called);
  free(called);
  if (!done) return bramah__log_fail_memory(reader);
  if (metadata.n) memcpy(ch->metadata, metadata.at, metadata.n);
  return keep(reader, metadata.n);
}

static int by_topic(const void *a, const void *b, void *user)
{
  const bramah__channel *list = user;
  const size_t x = *(const size_t *)a, y = *(const size_t *)b;
  const int topic = strcmp(list[x].topic, list[y].topic);
  return topic ? topic : (x > y) - (x < y);
}

/* Which channels have the same topic. 0: no memory. */
static int join_topics(bramah__topics *t)
{
  size_t *order = malloc((t->n_channels + 1) * sizeof *order);
  if (!order) return 0;
  for (size_t i = 0; i < t->n_channels; i++) order[i] = i;
  qsort_r(order, t->n_channels, sizeof *order, by_topic, t->channels);
  for (size_t i = 1; i < t->n_channels; i++) {
    const bramah__channel *before = &t->channels[order[i - 1]];
    if (strcmp(before->topic, t->channels[order[i]].topic) == 0)
      t->channels[order[i]].topic_of = before->topic_of;
  }
  free(order);
  return 1;
}

/* ---- columns ---- */

/* What the metadata of a channel says of its fields, by key. */
typedef struct stated {
  bramah__span key, value;
} stated;

typedef struct naming {
  bramah__topics *topics;
  size_t channel;
  stated *list;
  size_t n;
} naming;

static int by_key(const void *a, const void *b)
{
  const stated *x = a, *y = b;
  const int order = memcmp(x->key.at, y->key.at, x->key.n < y->key.n ? x->key.n : y->key.n);
  if (order || x->key.n != y->key.n) return order ? order : (x->key.n < y->key.n ? -1 : 1);
  return (x->key.at > y->key.at) - (x->key.at < y->key.at); /* as they are in the file */
}

/* 0: no memory. */
static int list_stated(naming *n)
{
  const bramah__channel *ch = &n->topics->channels[n->channel];
  bramah__content c = {.at = ch->metadata, .end = ch->metadata + ch->n_metadata};
  while (c.at < c.end) {
    stated s;
    s.key.at = bramah__content_bytes(&c, 4, &s.key.n);
    s.value.at = bramah__content_bytes(&c, 4, &s.value.n);
    if (c.is_short) break;
    if (!s.value.n || memchr(s.value.at, 0, s.value.n)) continue;
    stated *list = bramah__list_grow(n->list, n->n, sizeof *list);
    if (!list) return 0;
    n->list = list;
    list[n->n++] = s;
  }
  if (n->n) qsort(n->list, n->n, sizeof *n->list, by_key);
  return 1;
}

/* What is stated of a field: "unit." and "name."; 0: nothing. */
static int find_stated(const naming *n, const char *prefix, const char *path, char *out, size_t room)
{
  char key[1024];
  const int length = snprintf(key, sizeof key, "%s%s", prefix, path);
  const stated wanted = {.key = {(const unsigned char *)key, (size_t)length}};
  size_t low = 0, high = n->n;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    const bramah__span *k = &n->list[middle].key;
    const int order = memcmp(k->at, key, k->n < wanted.key.n ? k->n : wanted.key.n);
    if (order < 0 || (!order && k->n < wanted.key.n))
      low = middle + 1;
    else
      high = middle;
  }
  const stated *s = low < n->n ? &n->list[low] : NULL; /* the first of the same ones */
  if (!s || s->key.n != wanted.key.n || memcmp(s->key.at, key, s->key.n) != 0 || s->value.n >= room) return 0;
  return snprintf(out, room, "%.*s", (int)s->value.n, (const char *)s->value.at) > 0;
}

static int add_place(void *user, bramah__slot *slot, const char *path)
{
  const naming *n = user;
  bramah__topics *t = n->topics;
  bramah__named_place *list = bramah__list_grow(t->places, t->n_places, sizeof *list);
  if (!list) return 0;
  t->places = list;
  char name[512];
  const int is_named = find_stated(n, BRAMAH__MCAP_NAME, path, name, sizeof name);
  bramah__named_place *p = &list[t->n_places];
  *p = (bramah__named_place){.path = strdup(is_named && !strpbrk(name, "[]") ? name : path),
                             .channel = n->channel,
                             .number = t->n_places,
                             .column = SIZE_MAX,
                             .slot = slot};
  if (!p->path) return 0;
  find_stated(n, BRAMAH__MCAP_UNIT, path, p->unit, sizeof p->unit);
  t->n_places++;
  return 1;
}

static int by_path(const void *a, const void *b, void *user)
{
  const bramah__topics *t = user;
  const bramah__named_place *x = a, *y = b;
  const int path = strcmp(x->path, y->path);
  if (path) return path;
  const size_t i = t->channels[x->channel].topic_of, k = t->channels[y->channel].topic_of;
  return i != k ? (i < k ? -1 : 1) : (x->channel > y->channel) - (x->channel < y->channel);
}

static int by_number(const void *a, const void *b)
{
  const bramah__named_place *const *x = a, *const *y = b;
  return ((*x)->number > (*y)->number) - ((*x)->number < (*y)->number);
}

static int is_stamp(const bramah__named_place *p)
{
  return strcmp(p->path, "header.stamp") == 0 && p->slot->kind == BRAMAH__MESSAGE_TIME;
}

/* Which places of a topic have the same column, and which names need their topic. */
static void join_places(bramah__topics *t)
{
  for (size_t i = 0, end; i < t->n_places; i = end) {
    const char *path = t->places[i].path;
    size_t leader = i, n_topics = 1;
    for (end = i; end < t->n_places && strcmp(t->places[end].path, path) == 0; end++) {
      const size_t of = t->channels[t->places[leader].channel].topic_of;
      if (t->channels[t->places[end].channel].topic_of != of) leader = end, n_topics++;
      t->places[end].leader = leader;
    }
    const int is_ours =
        strcmp(path, "t") == 0 || strcmp(path, "publish_time") == 0 || strcmp(path, "header.stamp") == 0;
    for (size_t k = i; k < end; k++) t->places[k].is_shared = is_ours || n_topics > 1;
  }
}

static bramah_status add_column(bramah_log_reader *reader, const bramah__named_place *p)
{
  bramah__topics *t = reader->source;
  size_t *column = &t->places[p->leader].column; /* another channel of the topic may have it already */
  char name[1024];
  if (is_stamp(p)) *column = t->stamp; /* one for all */
  p->slot->column = *column;
  if (*column != SIZE_MAX) return BRAMAH_OK;
  if (reader->n_columns >= MOST_COLUMNS)
    return p->slot->why_not = "is beyond the first 10000 columns", BRAMAH_OK;
  snprintf(name, sizeof name, "%.500s.%.500s", t->channels[p->channel].topic, p->path);
  const char *called = p->is_shared ? name : p->path;
  const int is_time = p->slot->kind == BRAMAH__MESSAGE_TIME;
  if (bramah__log_index(reader, called) != SIZE_MAX)
    return p->slot->why_not = "has the name of another field", BRAMAH_OK;
  *column = p->slot->column = reader->n_columns;
  const bramah_status status = bramah__log_add_column(reader, called, is_time ? "s" : p->unit, 0);
  if (!status && is_time) reader->units[*column].may_be_date = reader->units[0].may_be_date;
  return status;
}

/* Without columns: why. */
static bramah_status fail_empty(bramah_log_reader *reader)
{
  const bramah__topics *t = reader->source;
  bramah_diag *diag = &reader->failure;
  if (t->is_cut && !t->n_channels)
    return bramah__log_fail(reader, BRAMAH_E_TRUNCATED, NULL, 0, 0,
                            "the file was cut before its first whole chunk: nothing of it can be read");
  bramah__log_fail(reader, BRAMAH_E_EMPTY, NULL, 0, 0,
                   t->n_channels ? "no message of the file has a number" : "the file has no channel");
  for (size_t i = 0, said = 0; i < t->n_channels && said < 3; i++) {
    const bramah__channel *ch = &t->channels[i];
    const size_t used = strlen(diag->message);
    if (ch->why_not)
      snprintf(diag->message + used, sizeof diag->message - used, "%s '%.80s' %s", said++ ? ";" : ":",
               ch->topic, ch->why_not);
  }
  return BRAMAH_E_EMPTY;
}

/* Log times are dates if they are since 1970, and not since a computer was started. */
static int is_date(uint64_t ns) { return ns > UINT64_C(100000000000000000); /* March 1973 */ }

/* The columns that all messages have. */
static bramah_status add_times(bramah_log_reader *reader, int has_stamp)
{
  bramah__topics *t = reader->source;
  bramah_status status = bramah__log_add_column(reader, "t", "s", 0);
  t->sent = t->stamp = SIZE_MAX;
  if (!status && t->has_sent) {
    t->sent = reader->n_columns;
    status = bramah__log_add_column(reader, "publish_time", "s", 0);
  }
  if (!status && has_stamp) {
    t->stamp = reader->n_columns;
    status = bramah__log_add_column(reader, "header.stamp", "s", 0);
  }
  for (size_t i = 0; !status && i < reader->n_columns; i++)
    reader->units[i].may_be_date = t->n_pieces && is_date(t->pieces[t->n_pieces - 1].last) ? 2 : 0;
  return status;
}

bramah_status bramah__topics_add_columns(bramah_log_reader *reader)
{
  bramah__topics *t = reader->source;
  int has_stamp = 0;
  if (!join_topics(t)) return bramah__log_fail_memory(reader);
  for (size_t i = 0; i < t->n_channels; i++) {
    naming n = {.topics = t, .channel = i};
    bramah__slot_settle(&t->channels[i].root);
    const int done =
        t->channels[i].why_not || (list_stated(&n) && bramah__slot_each(&t->channels[i].root, add_place, &n));
    free(n.list);
    if (!done) return bramah__log_fail_memory(reader);
  }
  if (t->n_places) qsort_r(t->places, t->n_places, sizeof *t->places, by_path, t);
  join_places(t);
  const bramah__named_place **order = calloc(t->n_places + 1, sizeof *order);
  if (!order) return bramah__log_fail_memory(reader);
  for (size_t i = 0; i < t->n_places; i++) {
    order[i] = &t->places[i];
    has_stamp |= is_stamp(order[i]);
  }
  qsort(order, t->n_places, sizeof *order, by_number);
  bramah_status status = add_times(reader, has_stamp);
  for (size_t i = 0; !status && i < t->n_places; i++)
    if (!order[i]->slot->why_not) status = add_column(reader, order[i]);
  free(order);
  return status || t->n_places ? status : fail_empty(reader);
}

/* ---- what is known ---- */

size_t bramah__topics_stand_in(const bramah_log_reader *reader, const char *name)
{
  const bramah__topics *t = reader->source;
  if (strcmp(name, "log_time") == 0) return 0;
  for (size_t i = 0; i < t->n_places; i++) {
    const bramah__named_place *p = &t->places[i];
    const char *topic = t->channels[p->channel].topic;
    if (p->slot->column == SIZE_MAX) continue;
    for (int k = 0; k < 2; k++) { /* with and without the slash ROS puts first */
      const char *called = topic + (k && topic[0] == '/');
      const size_t n = strlen(called);
      if (strncmp(name, called, n) == 0 && name[n] == '.' && strcmp(name + n + 1, p->path) == 0)
        return p->slot->column;
    }
  }
  return SIZE_MAX;
}

const char *bramah__topics_why_not(const bramah_log_reader *reader, const char *name)
{
  const bramah__topics *t = reader->source;
  for (size_t i = 0; i < t->n_channels; i++) {
    const bramah__channel *ch = &t->channels[i];
    const char *topic = ch->topic + (ch->topic[0] == '/' && name[0] != '/');
    const size_t n = strlen(topic);
    if (strncmp(name, topic, n) == 0 && (name[n] == '.' || !name[n]) && ch->why_not) return ch->why_not;
  }
  for (size_t i = 0; i < t->n_places; i++) {
    const bramah__named_place *p = &t->places[i];
    const char *topic = t->channels[p->channel].topic;
    topic += topic[0] == '/' && name[0] != '/';
    const size_t n = strlen(topic), length = strlen(p->path);
    const char *path = strncmp(name, topic, n) == 0 && name[n] == '.' ? name + n + 1 : name;
    if (p->slot->why_not && strncmp(path, p->path, length) == 0 &&
        (!path[length] || strchr(".[", path[length])))
      return p->slot->why_not;
    const size_t given = strlen(path);
    if (strncmp(path, p->path, given) == 0 && p->path[given] == '[')
      return "is an array: write which element, as in [0]";
    if (strcmp(path, p->path) == 0 && p->is_shared) return "is a field of several topics: write TOPIC.FIELD";
  }
  return t->budget ? NULL : "is not among the first 20000 numbers of the log: more are not read";
}
