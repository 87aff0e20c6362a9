/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* locale_t */
#include "lib/io/changes.h"
#include "lib/base/diag.h"

#include <string.h>

enum { MOST_CHANGES = 1000 }; /* each copies what it goes through */

static bramah_status read_change(bramah__reader *reader, const bramah__item *item, bramah_change *change)
{
  *change = (bramah_change){.line = bramah__item_line(item)};
  if (item->key->kind != BRAMAH__NODE_SCALAR)
    return bramah__fail_key(reader, item, BRAMAH_E_SYNTAX, "a key must be a single word");
  if (bramah__item_is_empty(item))
    return bramah__fail_item(reader, item, BRAMAH_E_VALUE, "a value is missing");
  change->path = bramah__pool_text(reader->keep, item->name, strlen(item->name));
  change->value = bramah__node_text(reader, item->node);
  if (!change->path) return bramah__no_memory(reader);
  if (change->value) return BRAMAH_OK;
  return bramah__fail_item(reader, item, BRAMAH_E_SYNTAX,
                           "a change is a value or a list of values; "
                           "give one change for every key");
}

static bramah_status check_change_once(bramah__reader *reader, const bramah__item *item,
                                       const bramah_change *changes, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (strcmp(changes[i].path, changes[n].path) == 0)
      return bramah__fail_key(reader, item, BRAMAH_E_KEY, "this change is given twice");
  return BRAMAH_OK;
}

bramah_status bramah__read_changes(bramah__reader *reader, const bramah__item *item, const char *file,
                                   size_t *n_out, const bramah_change **out)
{
  if (bramah__item_is_empty(item)) return BRAMAH_OK;
  if (item->node->kind != BRAMAH__NODE_MAPPING)
    return bramah__fail_item(reader, item, BRAMAH_E_SYNTAX, "changes ('path: value') are expected here");
  size_t n = item->node->n;
  if (n > MOST_CHANGES) return bramah__fail_key(reader, item, BRAMAH_E_VALUE, "more than 1000 changes");
  bramah_change *changes = bramah__pool_take(reader->keep, n, sizeof *changes);
  if (!changes) return bramah__no_memory(reader);
  for (size_t i = 0; i < n; i++) {
    bramah__item element = bramah__item_at(item, i);
    bramah_status status = read_change(reader, &element, &changes[i]);
    if (!status) status = check_change_once(reader, &element, changes, i);
    if (status) return status;
    changes[i].file = file;
  }
  *n_out = n;
  *out = changes;
  return BRAMAH_OK;
}

bramah_status bramah__read_file_path(bramah__reader *reader, const bramah__item *item, const char **out)
{
  bramah_status status;
  const char *text = bramah__item_text(reader, item, &status);
  if (!text) return status;
  const char *slash = strrchr(reader->file, '/');
  size_t folder = slash && text[0] != '/' ? (size_t)(slash - reader->file) + 1 : 0;
  char *path = bramah__pool_take(reader->keep, folder + strlen(text) + 1, 1);
  if (!path) return bramah__no_memory(reader);
  memcpy(path, reader->file, folder);
  memcpy(path + folder, text, strlen(text));
  *out = path;
  return BRAMAH_OK;
}
