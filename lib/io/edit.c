/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* locale_t */
#include "bramah/study.h"
#include "lib/base/diag.h"
#include "lib/io/fail.h"
#include "lib/io/files.h"
#include "lib/io/session.h"
#include "lib/io/study_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of changes that are added; comments are cut. */
enum { LONGEST_KEY = 600, LONGEST_VALUE = 100 };

/* A piece of the text that is replaced; begin = end: something is put in. */
typedef struct piece {
  struct piece *next; /* in the order in which they were asked for */
  size_t begin, end;
  const char *text;
  const char *path; /* whose value or comment it is; NULL: of several */
} piece;

struct bramah__edit {
  bramah__pool keep;
  const char *file;
  const bramah__node *root;
  const char *text; /* as in the file */
  size_t length;
  const char *newline; /* as the file ends its lines */
  piece *first, **last;
  int new_section; /* a `changes` section was added */
};

/* ---- reading ---- */

bramah_status bramah__edit_source(const bramah__source *source, bramah_diag *diag, bramah__edit **out)
{
  bramah__edit *e = calloc(1, sizeof *e);
  if (!e) return bramah__fail(diag, BRAMAH_E_MEMORY, NULL, "not enough memory to read the file");
  e->last = &e->first;
  e->file = source->file;
  e->root = source->root;
  e->text = source->text;
  e->length = source->length;
  e->newline = strstr(e->text, "\r\n") ? "\r\n" : "\n";
  *out = e;
  return BRAMAH_OK;
}

bramah_status bramah__edit_study(const bramah_study *study, bramah_diag *diag, bramah__edit **out)
{
  return bramah__edit_source(((const bramah__study_draft *)study)->source, diag, out);
}

void bramah__edit_free(bramah__edit *edit)
{
  if (!edit) return;
  bramah__pool_free(&edit->keep);
  free(edit);
}

/* ---- places in the text ---- */

static bramah_status unsupported(const bramah__edit *e, const char *path, const char *message,
                                 const bramah__node *node, bramah_diag *diag)
{
  bramah__fail(diag, BRAMAH_E_UNSUPPORTED, path, message);
  bramah__at(diag, e->file, node ? node->line : 0, node ? node->column : 0);
  return BRAMAH_E_UNSUPPORTED;
}

/* How many places lead to this node; an alias shares it with its anchor. */
static size_t count_places(const bramah__node *from, const bramah__node *to, int depth)
{
  size_t n = from == to;
  if (depth > 64) return n;
  for (size_t i = 0; from->kind != BRAMAH__NODE_SCALAR && n < 2 && i < from->n; i++)
    n += count_places(from->items[i], to, depth + 1);
  return n;
}

/* Columns count characters, not bytes. */
static size_t offset_of(const bramah__edit *e, int line, int column)
{
  size_t at = 0;
  for (int i = 1; i < line && at < e->length;) {
    const size_t end = bramah__line_end(e->text + at, e->length - at);
    at += end ? end : 1;
    i += end > 0;
  }
  if (line == 1 && strncmp(e->text, "\xEF\xBB\xBF", 3) == 0) at += 3;
  for (int i = 1; i < column && at < e->length; i++) {
    at++;
    while (((unsigned char)e->text[at] & 0xC0) == 0x80) at++;
  }
  return at;
}

/* ---- pieces ---- */

/* path NULL: what others need as well, kept whatever becomes of them. */
static bramah_status add_piece(bramah__edit *e, const char *path, size_t begin, size_t end, const char *text,
                               bramah_diag *diag)
{
  piece *p = bramah__pool_take(&e->keep, 1, sizeof *p);
  if (p) *p = (piece){.begin = begin, .end = end, .path = path};
  if (p) p->text = bramah__pool_text(&e->keep, text, strlen(text));
  if (!p || !p->text) return bramah__fail_memory(diag);
  *e->last = p;
  e->last = &p->next;
  return BRAMAH_OK;
}

/* A comment line above the line that holds a place, as deep as that line. NULL: none. */
static bramah_status add_comment(bramah__edit *e, const char *path, size_t at, const char *comment,
                                 bramah_diag *diag)
{
  char line[512];
  size_t begin = at;
  if (!comment) return BRAMAH_OK;
  while (begin > 0 && e->text[begin - 1] != '\n') begin--;
  const size_t depth = strspn(e->text + begin, " ");
  snprintf(line, sizeof line, "%.*s# %.400s%s", (int)(depth < 80 ? depth : 80), e->text + begin, comment,
           e->newline);
  return add_piece(e, path, begin, begin, line, diag);
}

/* A change that is not there yet. */
static bramah_status add_change(bramah__edit *e, const char *path, const char *value, const char *comment,
                                bramah_diag *diag)
{
  const bramah__node *changes = bramah__node_find(e->root, "changes");
  const char *key = path + strlen("changes."), *nl = e->newline;
  char text[1024];
  bramah_status status = BRAMAH_OK;
  int used = 0;
  if (strlen(key) > LONGEST_KEY || strlen(value) > LONGEST_VALUE)
    return unsupported(e, key, "a key or value as long as this cannot be added", NULL, diag);

  /* In front of the first change that is there, in the style in which they are written. */
  if (changes && changes->kind == BRAMAH__NODE_MAPPING && changes->n &&
      count_places(e->root, changes, 0) == 1) {
    const bramah__node *first = changes->keys[0];
    const size_t at = offset_of(e, first->line, first->column);
    status = add_comment(e, path, at, comment, diag);
    if (e->text[offset_of(e, changes->line, changes->column)] == '{')
      snprintf(text, sizeof text, "%s: %s, ", key, value);
    else
      snprintf(text, sizeof text, "%s: %s%s%*s", key, value, nl, first->column - 1, "");
    return status ? status : add_piece(e, path, at, at, text, diag);
  }
  if (changes)
    return unsupported(e, key, "nothing can be added to this section: put one change there", changes, diag);

  /* In a section at the end, which is added once, whatever becomes of the changes in it. */
  if (!e->new_section) {
    const int open = e->length && e->text[e->length - 1] != '\n';
    snprintf(text, sizeof text, "%s%schanges:%s", open ? nl : "", nl, nl);
    status = add_piece(e, NULL, e->length, e->length, text, diag);
    e->new_section = 1;
  }
  if (comment) used = snprintf(text, sizeof text, "  # %.300s%s", comment, nl);
  if (used >= 0) snprintf(text + used, sizeof text - (size_t)used, "  %s: %s%s", key, value, nl);
  return status ? status : add_piece(e, path, e->length, e->length, text, diag);
}

bramah_status bramah__edit_set(bramah__edit *edit, const char *path, const char *value, const char *comment,
                               bramah_diag *diag)
{
  bramah__position place;
  const bramah_status status = bramah__tree_find(edit->root, edit->file, path, &place, diag);
  const int is_new = status == BRAMAH_E_KEY && strncmp(path, "changes.", 8) == 0;
  if (status && !is_new) return status;
  const char *kept = bramah__pool_text(&edit->keep, path, strlen(path));
  if (!kept) return bramah__fail_memory(diag);

  /* What was asked for this place before. */
  piece **p = &edit->first;
  while (*p)
    if ((*p)->path && strcmp((*p)->path, path) == 0)
      *p = (*p)->next;
    else
      p = &(*p)->next;
  edit->last = p;
  if (is_new) return add_change(edit, kept, value, comment, diag);

  /* The value in the text; its end is 0 if it is not there as a whole. */
  const bramah__node *node = place.node;
  if (count_places(edit->root, node, 0) > 1)
    return unsupported(edit, path, "an alias shares this value with another place: write it out in both",
                       node, diag);
  const size_t begin = offset_of(edit, node->line, node->column), length = strlen(node->text);
  const char *text = edit->text + begin;
  size_t end = 0;
  if (node->quoted && (*text == '\'' || *text == '"')) {
    const char *quote = strpbrk(text + 1, *text == '"' ? "\"\\\n" : "'\n");
    if (quote && *quote == *text) end = begin + (size_t)(quote - text) + 1;
  } else if (!node->quoted && length && strncmp(text, node->text, length) == 0) {
    end = begin + length;
  }
  if (!end) return unsupported(edit, path, "the value is not in one piece on one line", node, diag);
  const bramah_status commented = add_comment(edit, kept, begin, comment, diag);
  return commented ? commented : add_piece(edit, kept, begin, end, value, diag);
}

/* ---- writing ---- */

/* The next piece at or behind a place; of several at one place the first that was asked for and is not done
 * yet. */
static const piece *next_piece(const bramah__edit *e, size_t at, const piece *done)
{
  const piece *best = NULL;
  int after = 0;
  for (const piece *p = e->first; p; p = p->next) {
    const int waiting =
        p->begin > at || !done || done->begin < p->begin || (p->begin == done->begin && after);
    if (p->begin >= at && waiting && (!best || p->begin < best->begin)) best = p;
    if (p == done) after = 1;
  }
  return best;
}

bramah_status bramah__edit_write(const bramah__edit *edit, const char *path, const char *head,
                                 bramah_diag *diag)
{
  const int standard = strcmp(path, "-") == 0;
  bramah__new_file whole = {.file = stdout};
  const bramah_status status = standard ? BRAMAH_OK : bramah__new_file_open(path, &whole, diag);
  if (status) return status;
  FILE *file = whole.file;
  size_t at = 0;
  while (head && *head) {
    const size_t n = strcspn(head, "\n");
    fprintf(file, "# %.*s%s", (int)n, head, edit->newline);
    head += n + (head[n] == '\n');
  }
  for (const piece *p = next_piece(edit, 0, NULL); p; p = next_piece(edit, at, p)) {
    fwrite(edit->text + at, 1, p->begin - at, file);
    fputs(p->text, file);
    at = p->end;
  }
  fwrite(edit->text + at, 1, edit->length - at, file);
  if (!standard) return bramah__new_file_finish(&whole, 1, diag);
  if (fflush(file) == 0 && !ferror(file)) return BRAMAH_OK;
  return bramah__failf(diag, BRAMAH_E_FILE, path, 0, NULL, "cannot be written");
}
