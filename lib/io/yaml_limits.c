/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/io/yaml_limits.h"

#include <string.h>

enum { DEEPEST = 64, MOST_ANCHORS = 1000, MOST_DIRECTIVES = 100, MOST_VALUES = 1000000 };

typedef struct tally {
  size_t depth, anchors, values;
} tally;

static const char *count_event(tally *t, const yaml_event_t *event)
{
  const yaml_char_t *anchor = NULL;
  switch (event->type) {
  case YAML_SCALAR_EVENT:
    anchor = event->data.scalar.anchor;
    break;
  case YAML_SEQUENCE_START_EVENT:
    anchor = event->data.sequence_start.anchor;
    break;
  case YAML_MAPPING_START_EVENT:
    anchor = event->data.mapping_start.anchor;
    break;
  case YAML_ALIAS_EVENT:
    break;
  case YAML_SEQUENCE_END_EVENT:
  case YAML_MAPPING_END_EVENT:
    t->depth--;
    return NULL;
  default:
    return NULL;
  }
  t->depth += event->type == YAML_SEQUENCE_START_EVENT || event->type == YAML_MAPPING_START_EVENT;
  t->anchors += anchor != NULL;
  t->values++;
  if (t->depth > DEEPEST) return "lists and keys are nested more than 64 deep";
  if (t->anchors > MOST_ANCHORS) return "more than 1000 anchors";
  return t->values > MOST_VALUES ? "more than a million values" : NULL;
}

/* Directives stand at the beginning of a line, behind any of the line ends that YAML has (for those of
 * several bytes the last byte will do). Quoted text may hold such lines as well, but not a hundred. */
static const char *count_directives(const char *text, size_t length)
{
  static const char ends[] = "\n\r\x85\xa8\xa9";
  size_t n = 0;
  for (const char *p = text, *end = text + length; p < end && n <= MOST_DIRECTIVES; p++) {
    p = memchr(p, '%', (size_t)(end - p));
    if (!p) break;
    n += p == text || memchr(ends, p[-1], sizeof ends - 1) != NULL;
  }
  return n > MOST_DIRECTIVES ? "more than 100 directives (lines that begin with %)" : NULL;
}

const char *bramah__yaml_excess(const char *text, size_t length, yaml_mark_t *mark)
{
  yaml_parser_t parser;
  yaml_event_t event;
  tally t = {0};
  int end = 0;
  memset(mark, 0, sizeof *mark);
  const char *message = count_directives(text, length);
  if (message || !yaml_parser_initialize(&parser)) return message;
  yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
  while (!end && !message && yaml_parser_parse(&parser, &event)) {
    message = count_event(&t, &event);
    *mark = event.start_mark;
    end = event.type == YAML_STREAM_END_EVENT;
    yaml_event_delete(&event);
  }
  yaml_parser_delete(&parser);
  return message;
}
