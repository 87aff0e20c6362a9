/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* newlocale, strerror_l */
#include "lib/io/yaml.h"
#include "lib/base/diag.h"
#include "lib/base/text.h"
#include "lib/io/files.h"

#include <errno.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yaml.h>

enum { LARGEST_FILE = 16 * 1024 * 1024, LONGEST_CHANGE = 4096 };
/* Bytes. Aliases of long texts and lists, and changes in long lists, make much of a small file. */
enum { MOST_KEPT = 64 * 1024 * 1024, MOST_SCRATCH = 256 * 1024 * 1024 };

/* ---- memory ---- */

enum { BLOCK_SIZE = 16384 };

/* newest -> older -> ... -> NULL; pieces are cut from the newest only. */
typedef struct bramah__pool_block {
  struct bramah__pool_block *older;
  size_t size, used;
  alignas(max_align_t) unsigned char bytes[];
} bramah__pool_block;

void *bramah__pool_take(bramah__pool *pool, size_t n, size_t size)
{
  size_t align = alignof(max_align_t);
  if (size && n > (SIZE_MAX / 2) / size) return NULL;
  size_t bytes = (n * size + align - 1) / align * align;
  if (pool->most && bytes > pool->most - pool->taken) {
    pool->full = 1;
    return NULL;
  }
  pool->taken += bytes;
  bramah__pool_block *block = pool->newest;
  if (!block || block->size - block->used < bytes) {
    const size_t room = bytes > BLOCK_SIZE ? bytes : BLOCK_SIZE;
    block = calloc(1, sizeof *block + room);
    if (!block) return NULL;
    block->size = room;
    block->older = pool->newest;
    pool->newest = block;
  }
  void *piece = block->bytes + block->used;
  block->used += bytes;
  return piece;
}

char *bramah__pool_text(bramah__pool *pool, const char *text, size_t length)
{
  char *copy = bramah__pool_take(pool, length + 1, 1);
  if (copy && length) memcpy(copy, text, length);
  return copy;
}

void bramah__pool_free(bramah__pool *pool)
{
  while (pool->newest) {
    bramah__pool_block *older = pool->newest->older;
    free(pool->newest);
    pool->newest = older;
  }
}

/* ---- files ---- */

/* Where a text comes from: its own lines and columns, or the one line of the change it belongs to. */
typedef struct origin {
  const char *file;
  int is_change;
  int line;
  const char *text; /* [length] of a file */
  size_t length;
  int last_line; /* libyaml counts one more behind a last line that has no end */
} origin;

bramah_status bramah__reader_open(bramah__reader *reader, bramah__pool *keep, const char *file,
                                  bramah_diag *diag)
{
  *reader = (bramah__reader){.keep = keep, .file = file};
  reader->diag = diag ? diag : &reader->unheard;
  bramah_diag_clear(reader->diag);
  keep->most = MOST_KEPT;
  reader->scratch.most = MOST_SCRATCH;
  reader->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  const char *copy = bramah__pool_text(keep, file, strlen(file));
  if (!reader->c_locale || !copy) return bramah__no_memory(reader);
  reader->file = copy;
  return BRAMAH_OK;
}

bramah_status bramah__reader_close(bramah__reader *reader, bramah_status status)
{
  if (reader->mistakes)
    status = reader->first;
  else if (status && reader->tell)
    reader->tell(reader->tell_user, reader->diag);
  if (reader->c_locale) freelocale(reader->c_locale);
  bramah__pool_free(&reader->scratch);
  return status;
}

bramah_status bramah__no_memory(bramah__reader *reader)
{
  const int full = reader->keep->full || reader->scratch.full;
  bramah__fail(reader->diag, BRAMAH_E_MEMORY, NULL,
               full
                   ? "what the file describes is too large; do aliases or changes repeat long texts or lists?"
                   : "not enough memory to read the file");
  bramah__at(reader->diag, reader->file, 0, 0);
  return BRAMAH_E_MEMORY;
}

static bramah_status read_file(bramah__reader *reader, char **text, size_t *length)
{
  size_t room = 16384, got = 0;
  const int fd = bramah__open_input(reader->file);
  FILE *stream = fd < 0 ? NULL : fdopen(fd, "rb");
  if (!stream) {
    char reason[512];
    const int error = errno;
    if (fd >= 0) close(fd);
    return bramah__failf(reader->diag, BRAMAH_E_FILE, reader->file, 0, NULL, "cannot be opened: %s",
                         bramah__open_reason(reader->file, error, reason, sizeof reason));
  }
  char *buffer = malloc(room);
  while (buffer && !feof(stream) && !ferror(stream) && got <= LARGEST_FILE) {
    if (got == room) {
      char *larger = realloc(buffer, 2 * room);
      if (!larger) break;
      buffer = larger;
      room *= 2;
    }
    got += fread(buffer + got, 1, room - got, stream);
  }
  *text = buffer;
  *length = got;
  bramah_status status = BRAMAH_OK;
  if (ferror(stream)) {
    const int error = errno;
    status =
        bramah__failf(reader->diag, BRAMAH_E_FILE, reader->file, 0, NULL, "cannot be read: %s%s",
                      strerror_l(error, reader->c_locale), error == EISDIR ? "; name the file in it" : "");
  } else if (got > LARGEST_FILE)
    status = bramah__failf(reader->diag, BRAMAH_E_FILE, reader->file, 0, NULL,
                           "is larger than 16 MB, too large for a description");
  else if (!buffer || !feof(stream))
    status = bramah__no_memory(reader);
  fclose(stream);
  return status;
}

/* ---- limits ---- */

/* What a description may hold at most. libyaml takes a time that grows with the square of the depth of
 * brackets, of the anchors and of the directives, and some 200 bytes for every value; a file of a few
 * megabytes could keep it busy for an hour. */
enum { DEEPEST = 64, MOST_ANCHORS = 1000, MOST_DIRECTIVES = 100, MOST_VALUES = 1000000 };

/* NULL if the text keeps the limits up to its end or first syntax error; else the message, and where. */
static const char *find_excess(const char *text, size_t length, yaml_mark_t *mark)
{
  static const char line_ends[] = "\n\r\x85\xa8\xa9";
  yaml_parser_t parser;
  yaml_event_t event;
  size_t directives = 0, depth = 0, anchors = 0, values = 0;
  memset(mark, 0, sizeof *mark);

  /* Directives begin a line, after any of the line ends that YAML has (for those of several bytes the last byte
   * will do). Quoted text may hold such lines as well, but not a hundred. */
  for (const char *c = text, *past = text + length; (c = memchr(c, '%', (size_t)(past - c))) != NULL; c++)
    directives += c == text || memchr(line_ends, c[-1], sizeof line_ends - 1) != NULL;
  if (directives > MOST_DIRECTIVES) return "more than 100 directives (lines that begin with %)";

  /* All else is counted as libyaml meets it, until it stops by itself. */
  const char *message = NULL;
  int end = 0;
  if (!yaml_parser_initialize(&parser)) return NULL;
  yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
  while (!end && !message && yaml_parser_parse(&parser, &event)) {
    const yaml_event_type_t type = event.type;
    const int list = type == YAML_SEQUENCE_START_EVENT, mapping = type == YAML_MAPPING_START_EVENT;
    const yaml_char_t *anchor = type == YAML_SCALAR_EVENT ? event.data.scalar.anchor
                                : list                    ? event.data.sequence_start.anchor
                                : mapping                 ? event.data.mapping_start.anchor
                                                          : NULL;
    depth += (size_t)(list || mapping);
    depth -= type == YAML_SEQUENCE_END_EVENT || type == YAML_MAPPING_END_EVENT;
    anchors += anchor != NULL;
    values += list || mapping || type == YAML_SCALAR_EVENT || type == YAML_ALIAS_EVENT;
    if (depth > DEEPEST)
      message = "lists and keys are nested more than 64 deep";
    else if (anchors > MOST_ANCHORS)
      message = "more than 1000 anchors";
    else if (values > MOST_VALUES)
      message = "more than a million values";
    *mark = event.start_mark;
    end = type == YAML_STREAM_END_EVENT;
    yaml_event_delete(&event);
  }
  yaml_parser_delete(&parser);
  return message;
}

/* ---- from libyaml's document to the tree ---- */

size_t bramah__line_end(const char *text, size_t rest)
{
  if (rest > 0 && *text == '\n') return 1;
  if (rest > 0 && *text == '\r') return rest > 1 && text[1] == '\n' ? 0 : 1;
  if (rest > 1 && memcmp(text, "\xc2\x85", 2) == 0) return 2;
  if (rest > 2 && (memcmp(text, "\xe2\x80\xa8", 3) == 0 || memcmp(text, "\xe2\x80\xa9", 3) == 0)) return 3;
  return 0;
}

static int line_of(const origin *at, const yaml_mark_t *mark)
{
  if (at->is_change) return at->line;
  return mark->line < (size_t)at->last_line ? (int)mark->line + 1 : at->last_line;
}

static bramah_status fail_origin(bramah__reader *reader, const origin *at, bramah_status status,
                                 const char *message, const yaml_mark_t *mark)
{
  const int known = !at->is_change && mark->line < (size_t)at->last_line;
  bramah__fail(reader->diag, status, NULL, message);
  return bramah__at(reader->diag, at->file, line_of(at, mark), known ? (int)mark->column + 1 : 0);
}

/* Such as would move the cursor of a terminal on which the text is printed; tabs and ends of lines may be. */
static int has_control_character(const char *text)
{
  for (; *text; text++)
    if (((unsigned char)*text < 0x20 && *text != '\t' && *text != '\n') || *text == 0x7f ||
        ((unsigned char)*text == 0xc2 && (unsigned char)text[1] < 0xa0))
      return 1;
  return 0;
}

/* The node of the tree for one of the document; `nodes` are those of all. */
static bramah_status convert_node(bramah__reader *reader, const origin *at, const yaml_node_t *from,
                                  bramah__node *nodes, bramah__node *to)
{
  to->file = at->file;
  to->line = line_of(at, &from->start_mark);
  to->column = at->is_change ? 0 : (int)from->start_mark.column + 1;
  if (from->type == YAML_SCALAR_NODE) {
    const char *text = (const char *)from->data.scalar.value;
    const size_t length = from->data.scalar.length;
    if (memchr(text, 0, length))
      return fail_origin(reader, at, BRAMAH_E_SYNTAX, "text contains a zero byte", &from->start_mark);
    if (has_control_character(text))
      return fail_origin(reader, at, BRAMAH_E_SYNTAX, "text contains a control character", &from->start_mark);
    to->kind = BRAMAH__NODE_SCALAR;
    to->quoted = from->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    to->text = bramah__pool_text(&reader->scratch, text, length);
    return to->text ? BRAMAH_OK : bramah__no_memory(reader);
  }
  const int list = from->type == YAML_SEQUENCE_NODE;
  const yaml_node_item_t *item = list ? from->data.sequence.items.start : NULL;
  const yaml_node_pair_t *pair = list ? NULL : from->data.mapping.pairs.start;
  to->kind = list ? BRAMAH__NODE_LIST : BRAMAH__NODE_MAPPING;
  to->n = (size_t)(list ? from->data.sequence.items.top - item : from->data.mapping.pairs.top - pair);
  to->items = bramah__pool_take(&reader->scratch, to->n, sizeof *to->items);
  if (!list) to->keys = bramah__pool_take(&reader->scratch, to->n, sizeof *to->keys);
  if (!to->items || (!list && !to->keys)) return bramah__no_memory(reader);
  for (size_t i = 0; i < to->n; i++) {
    to->items[i] = &nodes[(list ? item[i] : pair[i].value) - 1];
    if (!list) to->keys[i] = &nodes[pair[i].key - 1];
  }
  return BRAMAH_OK;
}

/* Node i of the document becomes nodes[i]: aliases stay shared, and a document of aliases of aliases does not
 * grow. */
static bramah_status load_document(bramah__reader *reader, const origin *at, yaml_parser_t *parser,
                                   bramah__node **root)
{
  yaml_document_t document;
  if (!yaml_parser_load(parser, &document)) {
    /* Some of its functions name no problem when memory is short, and no error either. libyaml knows no mark for
     * bytes that are no text; the parser's own position is near enough. */
    if (parser->error == YAML_MEMORY_ERROR || !parser->problem) return bramah__no_memory(reader);
    const int no_text = parser->error == YAML_READER_ERROR;
    fail_origin(reader, at, BRAMAH_E_SYNTAX, parser->problem,
                no_text ? &parser->mark : &parser->problem_mark);
    /* libyaml's words for a tab in front of a line, which editors do not show. */
    if (strcmp(parser->problem, "found character that cannot start any token") == 0)
      bramah__add_text(reader->diag, ": lines begin with blanks, not tabs; texts with @, ` or % in quotes");
    const int opened = parser->context && (strcmp(parser->context, "while parsing a flow sequence") == 0 ||
                                           strcmp(parser->context, "while parsing a flow mapping") == 0);
    const int is_layout = strstr(parser->problem, "mapping values are not allowed") || opened ||
                          strstr(parser->problem, "did not find expected key") ||
                          strstr(parser->problem, "could not find expected ':'");
    if (is_layout && !at->is_change &&
        bramah__layout_explain(at->text, at->length, line_of(at, &parser->problem_mark),
                               opened ? line_of(at, &parser->context_mark) : 0,
                               opened ? (int)parser->context_mark.column + 1 : 0, reader->diag))
      return BRAMAH_E_SYNTAX;
    if (!parser->context) return BRAMAH_E_SYNTAX;
    bramah__add_text(reader->diag, " (");
    bramah__add_text(reader->diag, parser->context);
    if (!at->is_change && !no_text) {
      bramah__add_text(reader->diag, " that begins in line ");
      bramah__add_number(reader->diag, line_of(at, &parser->context_mark), 9);
    }
    bramah__add_text(reader->diag, ")");
    return BRAMAH_E_SYNTAX;
  }
  const yaml_node_t *from = document.nodes.start;
  const size_t n = (size_t)(document.nodes.top - from);
  bramah__node *nodes = bramah__pool_take(&reader->scratch, n, sizeof *nodes);
  bramah_status status = nodes ? BRAMAH_OK : bramah__no_memory(reader);
  *root = n ? nodes : NULL;
  for (size_t i = 0; !status && i < n; i++) status = convert_node(reader, at, &from[i], nodes, &nodes[i]);
  yaml_document_delete(&document);
  return status;
}

/* *root is NULL if there is no document at all. */
static bramah_status parse_text(bramah__reader *reader, origin *at, const char *text, size_t length,
                                bramah__node **root)
{
  yaml_parser_t parser;
  yaml_mark_t mark;
  bramah__node *second = NULL;
  at->text = text;
  at->length = length;
  at->last_line = 1;
  for (size_t i = 0; i < length; i++) at->last_line += bramah__line_end(text + i, length - i) > 0;
  const char *excess = find_excess(text, length, &mark);
  if (excess) return fail_origin(reader, at, BRAMAH_E_SYNTAX, excess, &mark);
  if (!yaml_parser_initialize(&parser)) return bramah__no_memory(reader);
  yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
  bramah_status status = load_document(reader, at, &parser, root);
  if (!status && *root) status = load_document(reader, at, &parser, &second);
  yaml_parser_delete(&parser);
  if (status || !second) return status;
  bramah__fail(reader->diag, BRAMAH_E_SYNTAX, NULL, "a second document begins here; one is expected");
  return bramah__at(reader->diag, second->file, second->line, second->column);
}

bramah_status bramah__source_open(const char *path, bramah_diag *diag, bramah__source **out)
{
  bramah__source *source = calloc(1, sizeof *source);
  bramah__reader reader;
  *out = NULL;
  if (!source) return bramah__fail(diag, BRAMAH_E_MEMORY, NULL, "not enough memory to read the file");
  bramah_status status = bramah__reader_open(&reader, &source->names, path, diag);
  source->file = reader.file;
  origin at = {.file = source->file};
  if (!status) status = read_file(&reader, &source->text, &source->length);
  if (!status && bramah__layout_is_log(source->text, source->length)) {
    status = bramah__fail(
        reader.diag, BRAMAH_E_SYNTAX, NULL,
        "this is a log, no machine, study or plan: the study comes first, then the log (STUDY LOG)");
    bramah__at(reader.diag, source->file, 1, 1);
  }
  if (!status) status = parse_text(&reader, &at, source->text, source->length, &source->root);

  /* A mapping of something. */
  const bramah__node *root = source->root;
  if (!status && (!root || (root->kind == BRAMAH__NODE_SCALAR && !root->quoted && !*root->text))) {
    status = bramah__fail(reader.diag, BRAMAH_E_EMPTY, NULL, "file is empty");
    bramah__at(reader.diag, source->file, 0, 0);
  } else if (!status && root->kind != BRAMAH__NODE_MAPPING) {
    status = bramah__fail(reader.diag, BRAMAH_E_SYNTAX, NULL,
                          "the file must consist of keys and values ('name: value')");
    bramah__at(reader.diag, source->file, root->line, root->column);
  }
  if (!status) source->text[source->length] = '\0';
  source->tree = reader.scratch;
  reader.scratch = (bramah__pool){0};
  bramah__reader_close(&reader, status);
  if (status)
    bramah__source_free(source);
  else
    *out = source;
  return status;
}

void bramah__source_free(bramah__source *source)
{
  if (!source) return;
  bramah__pool_free(&source->names);
  bramah__pool_free(&source->tree);
  free(source->text);
  free(source);
}

/* Index of the element of that name or number; node->n: there is none. */
static size_t find_element(const bramah__node *node, const char *part)
{
  char *end;
  if (node->kind == BRAMAH__NODE_SCALAR) return node->n;
  for (size_t i = 0; node->kind == BRAMAH__NODE_MAPPING && i < node->n; i++)
    if (node->keys[i]->kind == BRAMAH__NODE_SCALAR && strcmp(node->keys[i]->text, part) == 0) return i;
  const unsigned long i = strtoul(part, &end, 10);
  const int is_index = node->kind == BRAMAH__NODE_LIST && *part >= '0' && *part <= '9' && !*end;
  return is_index && i < node->n ? (size_t)i : node->n;
}

const bramah__node *bramah__node_find(const bramah__node *mapping, const char *key)
{
  const size_t i = mapping->kind == BRAMAH__NODE_MAPPING ? find_element(mapping, key) : mapping->n;
  return i < mapping->n ? mapping->items[i] : NULL;
}

/* The keys that are there instead of `part`. */
static void suggest_key(bramah_diag *diag, const bramah__node *node, const char *part, const char *listing)
{
  const char *names[256];
  size_t n = 0;
  for (; node->kind == BRAMAH__NODE_MAPPING && n < node->n && n < sizeof names / sizeof names[0]; n++)
    names[n] = node->keys[n]->text ? node->keys[n]->text : "";
  if (n) bramah__add_suggestion(diag, part, n, names, listing);
}

/* ---- changes ---- */

/* How long the next key of a path is: names of outputs and parameters have dots themselves. Where nothing fits, up to the first dot. */
static size_t key_length(const bramah__node *node, const char *p)
{
  const char *dot = strchr(p, '.');
  const size_t first = dot ? (size_t)(dot - p) : strlen(p);
  char part[256];
  while (dot && node->kind != BRAMAH__NODE_SCALAR) {
    const size_t n = (size_t)(dot - p);
    if (n >= sizeof part) break;
    memcpy(part, p, n);
    part[n] = '\0';
    if (find_element(node, part) < node->n) return n;
    dot = strchr(dot + 1, '.');
    if (!dot && strlen(p) < sizeof part && find_element(node, p) < node->n) return strlen(p);
  }
  return first;
}

/* The value of a change. What begins like a list, a mapping or a quotation is YAML, everything else plain
 * text. */
static bramah_status parse_value(bramah__reader *reader, const bramah_change *change, bramah__node **out)
{
  origin at = {.file = change->file, .is_change = 1, .line = change->line};
  const char *start = change->value + strspn(change->value, " \t\r\n");
  size_t length = strlen(start);
  *out = NULL;
  if (*start && strchr("[{'\"", *start)) {
    bramah_status status = parse_text(reader, &at, start, length, out);
    if (status) bramah__append(reader->diag->thing, sizeof reader->diag->thing, 0, change->path);
    return status;
  }
  while (length && strchr(" \t\r\n", start[length - 1])) length--;
  bramah__node *node = bramah__pool_take(&reader->scratch, 1, sizeof *node);
  if (!node) return bramah__no_memory(reader);
  *node = (bramah__node){.kind = BRAMAH__NODE_SCALAR, .file = at.file, .line = at.line};
  node->text = bramah__pool_text(&reader->scratch, start, length);
  *out = node;
  return node->text ? BRAMAH_OK : bramah__no_memory(reader);
}

/* Copy of a node whose elements may be exchanged; one more place at the end. */
static bramah__node *copy_node(bramah__reader *reader, const bramah__node *from)
{
  bramah__node *to = bramah__pool_take(&reader->scratch, 1, sizeof *to);
  if (!to) return NULL;
  *to = *from;
  if (from->kind == BRAMAH__NODE_SCALAR) return to;
  to->items = bramah__pool_take(&reader->scratch, from->n + 1, sizeof *to->items);
  to->keys = bramah__pool_take(&reader->scratch, from->n + 1, sizeof *to->keys);
  if (!to->items || !to->keys) return NULL;
  for (size_t i = 0; i < from->n; i++) {
    to->items[i] = from->items[i];
    if (from->keys) to->keys[i] = from->keys[i];
  }
  return to;
}

/* A mistake of the change in hand. */
#define FAIL_CHANGE(...)                                                                                     \
  bramah__failf(reader->diag, BRAMAH_E_KEY, change->file, change->line, change->path, __VA_ARGS__)

/* One step down: the place where `part` of the path is in a node of our own. A last key that is not there is
 * added, with the position of the change, so that a wrong one is reported there; so is the section `filter`, which
 * need not be there. */
static bramah_status step_down(bramah__reader *reader, const bramah_change *change, bramah__node *node,
                               const char *part, int last, bramah__node ***place)
{
  const size_t i = find_element(node, part);
  *place = node->items ? &node->items[i] : NULL;
  if (i < node->n) return BRAMAH_OK;
  if (node->kind == BRAMAH__NODE_SCALAR)
    return FAIL_CHANGE("nothing stands below '%s', which is a value", node->text);
  if (node->kind == BRAMAH__NODE_LIST)
    return FAIL_CHANGE("the list to be changed has no element '%s'; its elements are 0 to %zu", part,
                       node->n ? node->n - 1 : 0);
  const int is_filter = strcmp(part, "filter") == 0;
  if (!last && !is_filter) {
    FAIL_CHANGE("the file to be changed has no '%s'", part);
    suggest_key(reader->diag, node, part, " there; it has ");
    return BRAMAH_E_KEY;
  }
  bramah__node *key = bramah__pool_take(&reader->scratch, 1, sizeof *key);
  if (!key) return bramah__no_memory(reader);
  *key = (bramah__node){.kind = BRAMAH__NODE_SCALAR, .file = change->file, .line = change->line};
  key->text = bramah__pool_text(&reader->scratch, part, strlen(part));
  if (!key->text) return bramah__no_memory(reader);
  if (!last) {
    bramah__node *section = bramah__pool_take(&reader->scratch, 1, sizeof *section);
    if (!section) return bramah__no_memory(reader);
    *section = (bramah__node){.kind = BRAMAH__NODE_MAPPING, .file = change->file, .line = change->line};
    **place = section;
  }
  node->keys[node->n++] = key;
  return BRAMAH_OK;
}

bramah_status bramah__changes_apply(bramah__reader *reader, size_t n, const bramah_change *changes,
                                    bramah__node **root)
{
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; !status && i < n; i++) {
    const bramah_change *change = &changes[i];
    char *part = bramah__pool_text(&reader->scratch, change->path, strlen(change->path));
    bramah__node *value, **place = root;
    if (!part) return bramah__no_memory(reader);
    status = parse_value(reader, change, &value);
    while (!status && part) {
      const size_t length = key_length(*place, part);
      char *dot = part[length] ? part + length : NULL;
      if (dot) *dot = '\0';
      if (!*part) return FAIL_CHANGE("a path is keys joined by dots, such as 'bodies.crank.mass'");
      *place = copy_node(reader, *place);
      if (!*place) return bramah__no_memory(reader);
      status = step_down(reader, change, *place, part, !dot, &place);
      part = dot ? dot + 1 : NULL;
    }
    if (!status) *place = value;
  }
  return status;
}

/* ---- places ---- */

bramah_status bramah__tree_find(const bramah__node *root, const char *file, const char *path,
                                bramah__position *out, bramah_diag *diag)
{
  const bramah__node *node = root;
  char part[256];
  int whole = 0; /* the rest is one key */
  out->depth = 0;
  out->parent = NULL;
  for (const char *p = path; p;) {
    const size_t n = whole ? strlen(p) : key_length(node, p);
    const char *dot = p[n] ? p + n : NULL;
    if (n == 0 || n >= sizeof part || out->depth == BRAMAH__DEEPEST_PLACE) {
      bramah__fail(diag, BRAMAH_E_KEY, path, "a path is keys joined by dots, such as volumes.v1.noise");
      bramah__at(diag, file, 0, 0);
      return BRAMAH_E_KEY;
    }
    memcpy(part, p, n);
    part[n] = '\0';
    const size_t i = find_element(node, part);
    if (node->kind == BRAMAH__NODE_SCALAR || i >= node->n) {
      bramah__failf(diag, BRAMAH_E_KEY, NULL, 0, path, "the file has no '%s' there", part);
      suggest_key(diag, node, part, "; there are ");
      bramah__at(diag, file, node->line, node->column);
      return BRAMAH_E_KEY;
    }
    whole = node == root && strcmp(part, "changes") == 0;
    out->at[out->depth++] = (unsigned short)i;
    out->parent = node;
    node = node->items[i];
    p = dot ? dot + 1 : NULL;
  }
  out->node = node;
  if (node->kind == BRAMAH__NODE_SCALAR) return BRAMAH_OK;
  bramah__fail(diag, BRAMAH_E_VALUE, path, "a single value is expected at this place");
  bramah__at(diag, file, node->line, node->column);
  return BRAMAH_E_VALUE;
}

bramah_status bramah__apply_settings(bramah__reader *reader, size_t n, const bramah_study_setting *settings,
                                     int in_machine, bramah__node **root)
{
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; !status && i < n; i++) {
    const bramah_study_setting *setting = &settings[i];
    const bramah_study_ref *ref = setting->ref;
    bramah__node **place = root;
    if (ref->in_machine != in_machine) continue;
    for (size_t d = 0;; d++) {
      bramah__node *node = *place = copy_node(reader, *place);
      if (!node) return bramah__no_memory(reader);
      const int scalar = node->kind == BRAMAH__NODE_SCALAR;
      if (d == ref->depth ? !scalar : scalar || ref->at[d] >= node->n) {
        bramah__fail(reader->diag, BRAMAH_E_KEY, ref->path, "the value is not where it was found");
        return bramah__at(reader->diag, reader->file, 0, 0);
      }
      if (d == ref->depth) break;
      place = &node->items[ref->at[d]];
    }
    bramah__node *node = *place;
    if (setting->text) {
      const bramah_change change = {
          .path = ref->path, .value = setting->text, .file = node->file, .line = node->line};
      status = parse_value(reader, &change, place);
    } else {
      node->is_set = 1;
      node->si = setting->si;
      node->dimension = ref->dimension;
    }
  }
  return status;
}

/* ---- texts ---- */

/* Characters of a scalar, or of a list of scalars, or of lists of scalars if `deeper`, written to out unless that
 * is NULL; 0 if it is anything else or too long. */
static size_t write_value(const bramah__node *node, int deeper, char *out)
{
  size_t n = 0;
  if (node->kind == BRAMAH__NODE_SCALAR) {
    const int quotes = node->quoted || !*node->text || strpbrk(node->text, "[]{},:#'\"&*!|>%@`");
    if (quotes && ++n && out) out[0] = '\'';
    for (const char *p = node->text; *p; p++) {
      if (out) out[n] = *p;
      n++;
      if (!quotes || *p != '\'') continue;
      if (out) out[n] = '\'';
      n++;
    }
    if (quotes && out) out[n] = '\'';
    return n + (quotes ? 1 : 0);
  }
  if (node->kind == BRAMAH__NODE_MAPPING) return 0;
  if (out) out[n] = '[';
  n++;
  for (size_t i = 0; i < node->n; i++) {
    const bramah__node *item = node->items[i];
    const int list = item->kind == BRAMAH__NODE_LIST;
    if ((list && !deeper) || n > LONGEST_CHANGE) return 0;
    const size_t length = write_value(item, 0, out ? out + n : NULL);
    if (!length && item->kind != BRAMAH__NODE_SCALAR) return 0;
    n += length;
    if (out && i + 1 < node->n) memcpy(out + n, ", ", 2);
    if (i + 1 < node->n) n += 2;
  }
  if (out) out[n] = ']';
  return n + 1;
}

const char *bramah__node_text(bramah__reader *reader, const bramah__node *node)
{
  if (node->kind == BRAMAH__NODE_SCALAR)
    return bramah__pool_text(reader->keep, node->text, strlen(node->text));
  const size_t length = write_value(node, 1, NULL);
  char *text = length ? bramah__pool_take(reader->keep, length + 1, 1) : NULL;
  if (text) write_value(node, 1, text);
  return text;
}
