/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* locale_t, strerror_l */
#include "bramah/study.h"
#include "lib/base/diag.h"
#include "lib/io/session.h"
#include "lib/io/study_file.h"

#include <errno.h>
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
  bramah__source *own; /* NULL: that of a study */
  const char *file;
  const bramah__node *root;
  const char *text; /* as in the file */
  size_t length;
  const char *newline; /* as the file ends its lines */
  piece *first, **last;
  const char *path; /* that is being set; NULL: none */
  int new_section;  /* a `changes` section was added */
};

/* ---- reading ---- */

static bramah_status make_edit(const bramah__source *source, bramah__source *own, bramah_diag *diag,
                               bramah__edit **out)
{
  bramah__edit *e = calloc(1, sizeof *e);
  if (!e) {
    bramah__source_free(own);
    return bramah__fail(diag, BRAMAH_E_MEMORY, NULL, "not enough memory to read the file");
  }
  e->last = &e->first;
  e->own = own;
  e->file = source->file;
  e->root = source->root;
  e->text = source->text;
  e->length = source->length;
  e->newline = strstr(e->text, "\r\n") ? "\r\n" : "\n";
  *out = e;
  return BRAMAH_OK;
}

bramah_status bramah__edit_open(const char *path, bramah_diag *diag, bramah__edit **out)
{
  bramah__source *source;
  const bramah_status status = bramah__source_open(path, diag, &source);
  return status ? status : make_edit(source, source, diag, out);
}

bramah_status bramah__edit_study(const bramah_study *study, bramah_diag *diag, bramah__edit **out)
{
  return make_edit(((const bramah__study_draft *)study)->source, NULL, diag, out);
}

void bramah__edit_free(bramah__edit *edit)
{
  if (!edit) return;
  bramah__source_free(edit->own);
  bramah__pool_free(&edit->keep);
  free(edit);
}

/* ---- places ---- */

static bramah_status fail_place(const bramah__edit *e, bramah_status status, const char *path,
                                const char *message, const bramah__node *node, bramah_diag *diag)
{
  bramah__fail(diag, status, path, message);
  return bramah__at(diag, e->file, node ? node->line : 0, node ? node->column : 0);
}

static bramah_status find(const bramah__edit *e, const char *path, const bramah__node **out,
                          bramah_diag *diag)
{
  bramah__position place;
  const bramah_status status = bramah__tree_find(e->root, e->file, path, &place, diag);
  *out = place.node;
  return status;
}

/* How many places lead to this node; an alias shares it with its anchor. */
static size_t count_ways(const bramah__node *from, const bramah__node *to, int depth)
{
  size_t n = from == to;
  if (depth > 64) return n;
  for (size_t i = 0; from->kind != BRAMAH__NODE_SCALAR && n < 2 && i < from->n; i++)
    n += count_ways(from->items[i], to, depth + 1);
  return n;
}

/* ---- where that is in the text ---- */

/* Lines end where libyaml ends them: see count_lines in yaml.c. */
static const char *behind_line(const char *p)
{
  for (; *p; p++) {
    if (*p == '\n' || (*p == '\r' && p[1] != '\n')) return p + 1;
    if (strncmp(p, "\xc2\x85", 2) == 0) return p + 2;
    if (strncmp(p, "\xe2\x80\xa8", 3) == 0 || strncmp(p, "\xe2\x80\xa9", 3) == 0) return p + 3;
  }
  return p;
}

static size_t begin_of_line(const bramah__edit *e, int line)
{
  const char *p = e->text;
  for (int i = 1; i < line; i++) p = behind_line(p);
  return (size_t)(p - e->text);
}

/* Columns count characters, not bytes. */
static size_t offset_of(const bramah__edit *e, int line, int column)
{
  size_t at = begin_of_line(e, line);
  if (line == 1 && strncmp(e->text, "\xEF\xBB\xBF", 3) == 0) at += 3;
  for (int i = 1; i < column && at < e->length; i++) {
    at++;
    while (((unsigned char)e->text[at] & 0xC0) == 0x80) at++;
  }
  return at;
}

/* End of the value that begins there; 0 if it does not stand there as a whole. */
static size_t end_of_value(const bramah__edit *e, const bramah__node *node, size_t begin)
{
  const char *text = e->text + begin;
  if (!node->quoted && !*node->text) return 0;
  if (!node->quoted)
    return strncmp(text, node->text, strlen(node->text)) == 0 ? begin + strlen(node->text) : 0;
  if (*text != '\'' && *text != '"') return 0;
  const char *end = strpbrk(text + 1, *text == '"' ? "\"\\\n" : "'\n");
  return end && *end == *text ? begin + (size_t)(end - text) + 1 : 0;
}

static bramah_status add_piece(bramah__edit *e, size_t begin, size_t end, const char *text, bramah_diag *diag)
{
  piece *p = bramah__pool_take(&e->keep, 1, sizeof *p);
  if (p) *p = (piece){.begin = begin, .end = end, .path = e->path};
  if (p) p->text = bramah__pool_text(&e->keep, text, strlen(text));
  if (!p || !p->text) return bramah__fail(diag, BRAMAH_E_MEMORY, NULL, "out of memory");
  *e->last = p;
  e->last = &p->next;
  return BRAMAH_OK;
}

/* A comment line above the line that holds a place, as deep as that line. */
static bramah_status add_comment(bramah__edit *e, size_t at, const char *comment, bramah_diag *diag)
{
  char line[512];
  size_t begin = at;
  while (begin > 0 && e->text[begin - 1] != '\n') begin--;
  const size_t depth = strspn(e->text + begin, " ");
  snprintf(line, sizeof line, "%.*s# %.400s%s", (int)(depth < 80 ? depth : 80), e->text + begin, comment,
           e->newline);
  return add_piece(e, begin, begin, line, diag);
}

static bramah_status replace(bramah__edit *e, const char *path, const bramah__node *node, const char *value,
                             const char *comment, bramah_diag *diag)
{
  if (count_ways(e->root, node, 0) > 1)
    return fail_place(e, BRAMAH_E_UNSUPPORTED, path,
                      "an alias shares this value with another place: write it out in both", node, diag);
  const size_t begin = offset_of(e, node->line, node->column), end = end_of_value(e, node, begin);
  if (!end)
    return fail_place(e, BRAMAH_E_UNSUPPORTED, path, "the value does not stand in one piece on one line",
                      node, diag);
  const bramah_status status = comment ? add_comment(e, begin, comment, diag) : BRAMAH_OK;
  return status ? status : add_piece(e, begin, end, value, diag);
}

/* ---- changes that are not there yet ---- */

/* Once, whatever becomes of the changes in it. */
static bramah_status add_section(bramah__edit *e, bramah_diag *diag)
{
  char text[32];
  const char *nl = e->newline, *path = e->path;
  const int open = e->length && e->text[e->length - 1] != '\n';
  if (e->new_section) return BRAMAH_OK;
  snprintf(text, sizeof text, "%s%schanges:%s", open ? nl : "", nl, nl);
  e->new_section = 1;
  e->path = NULL;
  const bramah_status status = add_piece(e, e->length, e->length, text, diag);
  e->path = path;
  return status;
}

static bramah_status add_at_end(bramah__edit *e, const char *key, const char *value, const char *comment,
                                bramah_diag *diag)
{
  char text[1024];
  const bramah_status status = add_section(e, diag);
  int used = 0;
  if (comment) used = snprintf(text, sizeof text, "  # %.300s%s", comment, e->newline);
  if (used >= 0) snprintf(text + used, sizeof text - (size_t)used, "  %s: %s%s", key, value, e->newline);
  return status ? status : add_piece(e, e->length, e->length, text, diag);
}

/* In front of the first change that is there, in the style in which they are written. */
static bramah_status add_in_front(bramah__edit *e, const bramah__node *changes, const char *key,
                                  const char *value, const char *comment, bramah_diag *diag)
{
  char text[1024];
  const bramah__node *first = changes->keys[0];
  const size_t at = offset_of(e, first->line, first->column);
  const int flow = e->text[offset_of(e, changes->line, changes->column)] == '{';
  const int depth = flow ? 0 : first->column - 1;
  const bramah_status status = comment ? add_comment(e, at, comment, diag) : BRAMAH_OK;
  if (flow)
    snprintf(text, sizeof text, "%s: %s, ", key, value);
  else
    snprintf(text, sizeof text, "%s: %s%s%*s", key, value, e->newline, depth, "");
  return status ? status : add_piece(e, at, at, text, diag);
}

static bramah_status add_change(bramah__edit *e, const char *key, const char *value, const char *comment,
                                bramah_diag *diag)
{
  const bramah__node *changes = bramah__node_find(e->root, "changes");
  if (strlen(key) > LONGEST_KEY || strlen(value) > LONGEST_VALUE)
    return fail_place(e, BRAMAH_E_UNSUPPORTED, key, "a key or value as long as this cannot be added", NULL,
                      diag);
  if (!changes) return add_at_end(e, key, value, comment, diag);
  if (changes->kind == BRAMAH__NODE_MAPPING && changes->n && count_ways(e->root, changes, 0) == 1)
    return add_in_front(e, changes, key, value, comment, diag);
  return fail_place(e, BRAMAH_E_UNSUPPORTED, key,
                    "nothing can be added to this section: put one change there", changes, diag);
}

/* What was asked for this place before. */
static void drop_pieces(bramah__edit *e, const char *path)
{
  piece **p = &e->first;
  while (*p)
    if ((*p)->path && strcmp((*p)->path, path) == 0)
      *p = (*p)->next;
    else
      p = &(*p)->next;
  e->last = p;
}

bramah_status bramah__edit_set(bramah__edit *edit, const char *path, const char *value, const char *comment,
                               bramah_diag *diag)
{
  const bramah__node *node;
  bramah_status status = find(edit, path, &node, diag);
  const int is_new = status == BRAMAH_E_KEY && strncmp(path, "changes.", 8) == 0;
  if (status && !is_new) return status;
  edit->path = bramah__pool_text(&edit->keep, path, strlen(path));
  if (!edit->path) return bramah__fail(diag, BRAMAH_E_MEMORY, NULL, "out of memory");
  drop_pieces(edit, path);
  return is_new ? add_change(edit, path + 8, value, comment, diag)
                : replace(edit, path, node, value, comment, diag);
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

static void put_head(const char *head, const char *newline, FILE *file)
{
  while (*head) {
    const size_t n = strcspn(head, "\n");
    fprintf(file, "# %.*s%s", (int)n, head, newline);
    head += n + (head[n] == '\n');
  }
}

static void put_text(const bramah__edit *e, FILE *file)
{
  size_t at = 0;
  for (const piece *p = next_piece(e, 0, NULL); p; p = next_piece(e, at, p)) {
    fwrite(e->text + at, 1, p->begin - at, file);
    fputs(p->text, file);
    at = p->end;
  }
  fwrite(e->text + at, 1, e->length - at, file);
}

bramah_status bramah__edit_write(const bramah__edit *edit, const char *path, const char *head,
                                 bramah_diag *diag)
{
  const int standard = strcmp(path, "-") == 0;
  FILE *file = standard ? stdout : fopen(path, "wb");
  int failed = !file;
  if (file) {
    if (head) put_head(head, edit->newline, file);
    put_text(edit, file);
    failed = ferror(file) != 0;
    failed |= standard ? fflush(file) != 0 : fclose(file) != 0;
  }
  if (!failed) return BRAMAH_OK;
  const int error = errno;
  locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  bramah__fail(diag, BRAMAH_E_FILE, NULL, "cannot be written");
  if (c_locale) {
    bramah__add_text(diag, ": ");
    bramah__add_text(diag, strerror_l(error, c_locale));
    freelocale(c_locale);
  }
  return bramah__at(diag, path, 0, 0);
}
