/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A YAML document as a tree of nodes that know where they are in the file, and the changes applied to it before anybody
 * interprets it. Aliases share their node with the anchor; a change copies all nodes down to its place first,
 * so it touches that place only. */
#ifndef BRAMAH_LIB_IO_YAML_H
#define BRAMAH_LIB_IO_YAML_H

#include "lib/io/fail.h"
#include <locale.h>
#include <stddef.h>

#include "bramah/study.h"
#include "bramah/status.h"

/* Memory that only grows and goes at once: what belongs to a loaded file, whose size nobody knows beforehand. */
typedef struct bramah__pool {
  struct bramah__pool_block *newest;
  size_t most;  /* bytes that may be taken in all; 0: any number */
  size_t taken; /* so far */
  int full;     /* 1: something was refused because of `most` */
} bramah__pool;

/* n items of `size` bytes, zero-filled, for any type; NULL when memory is short or the pool is full. n = 0
 * gives a valid, empty piece. */
void *bramah__pool_take(bramah__pool *pool, size_t n, size_t size);

/* Copy of `length` characters, terminated. */
char *bramah__pool_text(bramah__pool *pool, const char *text, size_t length);

void bramah__pool_free(bramah__pool *pool);

typedef enum bramah__node_kind {
  BRAMAH__NODE_SCALAR,
  BRAMAH__NODE_LIST,
  BRAMAH__NODE_MAPPING
} bramah__node_kind;

typedef struct bramah__node {
  bramah__node_kind kind;
  int quoted;                  /* scalar: 1 if it was in quotes */
  const char *text;            /* scalar: never NULL, "" for nothing */
  size_t n;                    /* list and mapping: elements */
  struct bramah__node **keys;  /* mapping: [n] */
  struct bramah__node **items; /* list and mapping: [n] */
  const char *file;            /* may be NULL for a change that comes from no file */
  int line, column;            /* from 1; 0 unknown */
  int is_set;                  /* scalar: 1 if it is this number, whatever the text says */
  double si;
  bramah_dimension dimension;
} bramah__node;

/* A file as it was read: its bytes and its tree. It does not change. */
typedef struct bramah__source {
  const char *file;
  char *text; /* [length + 1], a 0 at its end */
  size_t length;
  bramah__node *root;
  bramah__pool names, tree;
} bramah__source;

struct bramah__item;
struct bramah__quantity;

/* One load: where results and the tree live, how numbers are read, whom to tell. */
typedef struct bramah__reader {
  bramah__pool *keep;   /* belongs to the loaded object */
  bramah__pool scratch; /* the tree; gone with bramah__reader_close */
  locale_t c_locale;
  bramah_diag *diag; /* never NULL */
  bramah_diag unheard;
  const char *file;
  /* Notes the uncertainty `text` ("30 %") of a value that has been read; NULL: no value of this file may have one. */
  bramah_status (*uncertain)(struct bramah__reader *reader, const struct bramah__item *item, const char *text,
                             const struct bramah__quantity *value);
  void *draft;         /* what is being loaded, for readers that need more than their own piece */
  bramah_mistake tell; /* NULL: the first mistake ends the reading */
  void *tell_user;
  size_t mistakes;     /* how many were reported */
  bramah_status first; /* status of the first */
} bramah__reader;

/* The name of the file is kept with the loaded object. */
bramah_status bramah__reader_open(bramah__reader *reader, bramah__pool *keep, const char *file,
                                  bramah_diag *diag);
/* An error that was not reported yet goes to `tell` now. Returns that of the first mistake. */
bramah_status bramah__reader_close(bramah__reader *reader, bramah_status status);

/* E_MEMORY, with the sentence for it. */
bramah_status bramah__no_memory(bramah__reader *reader);

/* Read a file: exactly one document whose root is a mapping. Errors: E_FILE, E_EMPTY, E_SYNTAX, E_MEMORY. */
bramah_status bramah__source_open(const char *path, bramah_diag *diag, bramah__source **out);
void bramah__source_free(bramah__source *source); /* NULL allowed */

/* A scalar of a tree and where it is. */
enum { BRAMAH__DEEPEST_PLACE = 16 };
typedef struct bramah__position {
  size_t depth;
  unsigned short at[BRAMAH__DEEPEST_PLACE]; /* [depth] which element, from the root down */
  const bramah__node *node, *parent;
} bramah__position;

/* Of a text that is no YAML, where the parser gives up in this line: what the author has likely done, into message, line
 * and column. opened, column: where a list or mapping in brackets begins that does not end; 0: none. Returns 0 if nothing
 * is known. */
int bramah__layout_explain(const char *text, size_t length, int line, int opened, int column,
                           bramah_diag *diag);
/* 1 if the text looks like a log: cells with the same mark between them in its first two lines. */
int bramah__layout_is_log(const char *text, size_t length);

/* Find it by keys joined by dots; behind "changes." all that follows is one key. Errors: E_KEY (nothing there;
 * suggests the nearest key), E_VALUE (no scalar). */
bramah_status bramah__tree_find(const bramah__node *root, const char *file, const char *path,
                                bramah__position *out, bramah_diag *diag);
/* Exchange values in copies of all nodes down to them: those in the machine's tree, or in the study's. Errors: E_KEY
 * (the tree is another one), E_SYNTAX. */
bramah_status bramah__apply_settings(bramah__reader *reader, size_t n, const bramah_study_setting *settings,
                                     int in_machine, bramah__node **root);

/* Put the changes in. Errors: E_KEY where the place does not exist, E_SYNTAX in a value. */
bramah_status bramah__changes_apply(bramah__reader *reader, size_t n, const bramah_change *changes,
                                    bramah__node **root);

/* The value of a change as text: the scalar, or "[a, b]" of a list of scalars or of such lists; NULL for
 * anything else or when memory is short. */
const char *bramah__node_text(bramah__reader *reader, const bramah__node *node);

/* Bytes of the line end at the begin of a text of `rest` bytes, 0: none is there. As libyaml has it, a carriage
 * return, next line (U+0085) and the separators U+2028 and U+2029 end a line too; of "\r\n" the second does. */
size_t bramah__line_end(const char *text, size_t rest);

/* The element of a mapping, or NULL. */
const bramah__node *bramah__node_find(const bramah__node *mapping, const char *key);

#endif
