/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MAT files as logs: which vectors are columns and which times they have (what programs of the field write: plain
 * vectors, structs of vectors, time series as structs, and Simulink's "structure with time"), and their rows. Vectors
 * are read by blocks of rows where they are not compressed, and by HDF5; compressed ones of version 5 whole, because
 * zlib cannot begin in the middle. */
#define _GNU_SOURCE /* strdup */
#include "lib/logs/reader.h"

#include <string.h>
#include <strings.h>

/* Version 4 has no mark: by its name. */
static int takes(const char *path, const unsigned char *head, size_t n)
{
  (void)path;
  return n >= 128 && memcmp(head, "MATLAB ", 7) == 0 && memchr("57", head[7], 2) &&
         memcmp(head + 8, ".", 1) == 0;
}

#ifdef BRAMAH_MATIO
#include "lib/base/text.h"

#ifdef BRAMAH_HDF5
#include <hdf5.h>
#endif
#include <limits.h>
#include <math.h>
#include <matio.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Structs in structs: more is no log. Rows read at once. */
enum { DEEPEST = 8, WIDEST = 256, LONGEST_NAME = 256, BLOCK = 8192 };

/* A vector: a variable, a field of a struct, or a column of a matrix. */
typedef struct mat_series {
  char *name, *unit; /* unit "": none is stated */
  matvar_t *variable;
  size_t group;
  size_t first, stride, n; /* elements of the variable */
  int is_time;             /* of its group */
  char *why_not;           /* it is no column; NULL: it is one */
  /* The rows that are in memory. */
  unsigned char *raw;
  size_t begin, count;
} mat_series;

/* Vectors of one length that share a time. */
typedef struct mat_group {
  char *name;
  size_t time; /* index of its series; SIZE_MAX: none was found */
  size_t n;    /* rows */
  size_t row;  /* the next one */
} mat_group;

typedef struct mat_log {
  mat_t *file;
  uint64_t size;       /* of the file [bytes] */
  matvar_t **variable; /* all of the first level, without their data */
  size_t n_variables;
  mat_series *series;
  size_t n_series;
  mat_group *group;
  size_t n_groups;
  unsigned char *here; /* [groups] they have the present row */
  size_t *of_column;   /* [columns] its series; SIZE_MAX: the time of several groups */
  int row;             /* given last */
  uint64_t rows, all_rows;
  int compressed;
} mat_log;

/* Variables of one level: of the file, or of a struct. */
typedef struct scope {
  matvar_t *parent; /* NULL: the file */
  size_t n;
  const matvar_t *units, *names; /* structs of texts, or NULL */
  const char *prefix;            /* before the names of its columns */
  size_t group;
  int depth;
} scope;

static const char out_of_memory[] = "out of memory"; /* shared: never freed */

/* ---- parts of a struct ---- */

static size_t elements(const matvar_t *v)
{
  size_t n = 1;
  if (!v->dims) return 0;
  for (int i = 0; i < v->rank; i++) {
    if (v->dims[i] && n > SIZE_MAX / v->dims[i]) return SIZE_MAX;
    n *= v->dims[i];
  }
  return v->rank ? n : 0;
}

static size_t n_fields(const matvar_t *v)
{
  if (!v || v->class_type != MAT_C_STRUCT || !v->internal || !Mat_VarGetStructFieldnames(v)) return 0;
  return Mat_VarGetNumberOfFields((matvar_t *)(uintptr_t)v);
}

/* What matio has kept of a damaged file may not fit together: it is checked before it is used. */
static matvar_t *part(const matvar_t *parent, size_t i, size_t index)
{
  if (!parent || parent->class_type != MAT_C_STRUCT || !parent->data) return NULL;
  const size_t n = n_fields(parent), at = index * n + i;
  if (i >= n || index >= elements(parent) || at >= parent->nbytes / sizeof(matvar_t *)) return NULL;
  return ((matvar_t *const *)parent->data)[at];
}

/* The field of one struct of an array. */
static matvar_t *field_of(const matvar_t *parent, const char *name, size_t index)
{
  const size_t n = n_fields(parent);
  for (size_t i = 0; i < n; i++) {
    const char *own = Mat_VarGetStructFieldnames(parent)[i];
    if (own && strcmp(own, name) == 0) return part(parent, i, index);
  }
  return NULL;
}

static matvar_t *field(const matvar_t *parent, const char *name) { return field_of(parent, name, 0); }

/* By one of two names. */
static matvar_t *either(const matvar_t *parent, const char *a, const char *b)
{
  matvar_t *f = field(parent, a);
  return f ? f : field(parent, b);
}

static int is_struct(const matvar_t *v) { return v && v->class_type == MAT_C_STRUCT && elements(v) == 1; }

static int is_number(const matvar_t *v)
{
  return v && v->class_type >= MAT_C_DOUBLE && v->class_type <= MAT_C_UINT64;
}

/* ---- texts ---- */

/* A row of characters in UTF-8, released by the caller; NULL if it is none. */
static char *text_of(mat_log *mat, matvar_t *v)
{
  if (!v || v->class_type != MAT_C_CHAR) return NULL;
  const size_t n = elements(v);
  if (n == 0) return strdup("");
  if (n >= LONGEST_NAME || v->rank != 2 || v->dims[0] != 1) return NULL;
  if (!v->data && Mat_VarReadDataAll(mat->file, v)) return NULL;
  const int wide = v->data_type == MAT_T_UINT16 || v->data_type == MAT_T_UTF16;
  char *out = malloc(3 * LONGEST_NAME);
  if (!out || !v->data || v->nbytes < n * (wide ? 2 : 1)) return free(out), NULL;
  size_t used = 0;
  for (size_t i = 0; i < n; i++) {
    const unsigned char *b = (const unsigned char *)v->data + i;
    uint16_t unit;
    if (wide) memcpy(&unit, (const unsigned char *)v->data + 2 * i, 2);
    if (!wide || unit < 0x80) {
      out[used++] = (char)(wide ? unit : *b);
      continue;
    }
    if (unit < 0x800) out[used++] = (char)(0xC0 | unit >> 6);
    if (unit >= 0x800) out[used++] = (char)(0xE0 | unit >> 12);
    if (unit >= 0x800) out[used++] = (char)(0x80 | (unit >> 6 & 0x3F));
    out[used++] = (char)(0x80 | (unit & 0x3F));
  }
  while (used && out[used - 1] == ' ') used--;
  out[used] = '\0';
  return out;
}

/* ---- series ---- */

static void *grow(void *list, size_t n, size_t size)
{
  return n & (n - 1) ? list : realloc(list, (n ? 2 * n : 1) * size); /* whenever n is a power of two */
}

/* A vector of a group; NULL: no memory. */
static mat_series *new_series(mat_log *mat, const char *name, const char *unit, matvar_t *v, size_t group)
{
  mat_series *list = grow(mat->series, mat->n_series, sizeof *list);
  if (!list) return NULL;
  mat->series = list;
  mat_series *s = &list[mat->n_series];
  *s = (mat_series){.variable = v, .group = group, .stride = 1, .name = strdup(name)};
  s->unit = strdup(unit ? unit : "");
  if (!s->name || !s->unit) return free(s->name), free(s->unit), NULL;
  mat->n_series++;
  return s;
}

/* It is no column; the first reason counts. */
static void refuse(mat_series *s, const char *format, ...) BRAMAH__PRINTF(2, 3);

static void refuse(mat_series *s, const char *format, ...)
{
  char text[200];
  va_list list;
  if (s->why_not) return;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  s->why_not = strdup(text);
  if (!s->why_not) s->why_not = (char *)(uintptr_t)out_of_memory;
}

static size_t new_group(mat_log *mat, const char *name)
{
  mat_group *list = grow(mat->group, mat->n_groups, sizeof *list);
  if (!list) return SIZE_MAX;
  mat->group = list;
  list[mat->n_groups] = (mat_group){.name = strdup(name), .time = SIZE_MAX};
  return list[mat->n_groups].name ? mat->n_groups++ : SIZE_MAX;
}

/* Why the variable holds no columns, whatever its size; NULL: it does. matio counts in int. */
static const char *flaw(const matvar_t *v)
{
  const uint64_t n = v ? elements(v) : 0;
  if (!v || v->class_type == MAT_C_EMPTY) return "is empty";
  if (v->class_type == MAT_C_SPARSE) return "is sparse: a column is a full vector, as full(...) gives it";
  if (v->class_type == MAT_C_CHAR) return "is text: a column is a vector of numbers";
  if (v->class_type == MAT_C_CELL) return "is a cell array: a column is a vector of numbers";
  if (v->class_type == MAT_C_STRUCT) return "is an array of structs: a column is a vector of numbers";
  if (!is_number(v))
    return "is an object, which only MATLAB can read: save its Time and Data as a struct, or as vectors";
  if (v->isComplex) return "is complex: a column is a vector of real numbers";
  if (n > INT32_MAX) return "has more elements than can be read";
  if (n == 0) return "is empty";
  return NULL;
}

/* As a vector, a column or a row, or [rows x several]: a column each, called name(1), name(2), ... `rows` is
 * the length of the time, 0 if it is not known. */
static bramah_status add_vectors(mat_log *mat, const char *name, matvar_t *v, size_t group, size_t rows,
                                 const char *unit)
{
  char each[LONGEST_NAME + 24];
  const char *wrong = *name ? flaw(v) : "has no name";
  const size_t n = wrong ? 0 : elements(v), last = wrong ? 0 : v->dims[v->rank - 1];
  size_t length = n, count = 1, stride = 1;
  const int flat = !wrong && v->rank == 2 && (v->dims[0] == 1 || v->dims[1] == 1) && (!rows || n == rows);
  if (!wrong && !flat) {
    const int down = v->dims[0] == rows || (!rows && v->rank == 2);
    length = down ? v->dims[0] : last;
    count = n / length;
    stride = down ? 1 : count;
    if (count > WIDEST) wrong = "has too many dimensions: a column is a vector";
  }
  for (size_t k = 0; k < (wrong ? 1 : count); k++) {
    snprintf(each, sizeof each, count > 1 && !wrong ? "%.*s(%zu)" : "%.*s", LONGEST_NAME, name, k + 1);
    mat_series *s = new_series(mat, each, unit, v, group);
    if (!s) return BRAMAH_E_MEMORY;
    s->first = stride == 1 ? k * length : k;
    s->stride = stride;
    s->n = length;
    if (wrong) refuse(s, "%s", wrong);
  }
  return BRAMAH_OK;
}

/* ---- time series and Simulink's structs ---- */

static int is_time_series(const matvar_t *v)
{
  return either(v, "Time", "time") && either(v, "Data", "data");
}

static int is_simulink(const matvar_t *v)
{
  const matvar_t *signals = field(v, "signals");
  return field(v, "time") && signals && signals->class_type == MAT_C_STRUCT;
}

/* A time of its own. Returns its length, 0 if it has none. */
static size_t add_time(mat_log *mat, matvar_t *time, size_t group, const char *unit)
{
  const size_t before = mat->n_series;
  if (add_vectors(mat, "t", time, group, 0, unit) || mat->n_series != before + 1) return 0;
  mat_series *s = &mat->series[before];
  if (s->why_not) return 0;
  s->is_time = 1;
  mat->group[group].time = before;
  mat->group[group].n = s->n;
  return s->n;
}

static bramah_status add_refused(mat_log *mat, const char *name, size_t group, const char *why)
{
  mat_series *s = new_series(mat, name, NULL, NULL, group);
  if (s) refuse(s, "%s", why);
  return s ? BRAMAH_OK : BRAMAH_E_MEMORY;
}

static bramah_status add_time_series(mat_log *mat, const char *name, matvar_t *v, const char *unit)
{
  /* What MATLAB calls units of time. */
  static const char *const names[][2] = {{"seconds", "s"},       {"milliseconds", "ms"},
                                         {"microseconds", "us"}, {"nanoseconds", "ns"},
                                         {"minutes", "min"},     {"hours", "h"}};
  const size_t group = new_group(mat, name);
  if (group == SIZE_MAX) return BRAMAH_E_MEMORY;
  char *stated = text_of(mat, field(field(v, "TimeInfo"), "Units"));
  const char *of_time = stated && *stated ? stated : "s";
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcmp(of_time, names[i][0]) == 0) of_time = names[i][1];
  char *own = text_of(mat, either(v, "units", "Units"));
  if (!own) own = text_of(mat, field(field(v, "DataInfo"), "Units"));
  const size_t rows = add_time(mat, either(v, "Time", "time"), group, of_time);
  const bramah_status status =
      rows ? add_vectors(mat, name, either(v, "Data", "data"), group, rows, own && *own ? own : unit)
           : add_refused(mat, name, group, "has no times: its 'Time' is no vector of real numbers");
  free(stated);
  free(own);
  return status;
}

/* Signals of a structure with time, called by their labels. */
static bramah_status add_simulink(mat_log *mat, const char *name, matvar_t *v, const scope *in)
{
  matvar_t *signals = field(v, "signals");
  const matvar_t *units = is_struct(field(v, "units")) ? field(v, "units") : in->units;
  const size_t n = elements(signals), group = new_group(mat, name);
  if (group == SIZE_MAX) return BRAMAH_E_MEMORY;
  bramah_status status = BRAMAH_OK;
  const size_t rows = add_time(mat, field(v, "time"), group, "s");
  for (size_t k = 0; !status && k < n && k < WIDEST; k++) {
    char called[LONGEST_NAME + 24];
    char *label = text_of(mat, field_of(signals, "label", k));
    if (label && *label)
      snprintf(called, sizeof called, "%s", label);
    else if (n > 1)
      snprintf(called, sizeof called, "%s(%zu)", name, k + 1);
    else
      snprintf(called, sizeof called, "%s", name);
    char *unit = text_of(mat, field_of(signals, "units", k));
    if (!unit && units) unit = text_of(mat, field(units, called));
    status = rows ? add_vectors(mat, called, field_of(signals, "values", k), group, rows, unit)
                  : add_refused(mat, called, group,
                                "has no times: 'time' of its struct is no vector of real numbers");
    free(label);
    free(unit);
  }
  return status;
}

/* ---- variables of one level ---- */

static const char *name_in(const mat_log *mat, const scope *s, size_t i)
{
  return s->parent ? Mat_VarGetStructFieldnames(s->parent)[i] : mat->variable[i]->name;
}

static matvar_t *member(const mat_log *mat, const scope *s, size_t i)
{
  return s->parent ? part(s->parent, i, 0) : mat->variable[i];
}

static int is_about(const char *name, const matvar_t *v)
{
  return is_struct(v) && (strcasecmp(name, "units") == 0 || strcmp(name, "names") == 0);
}

static scope scope_of(const mat_log *mat, matvar_t *parent)
{
  scope s = {.parent = parent, .prefix = ""};
  s.n = parent ? n_fields(parent) : mat->n_variables;
  for (size_t i = 0; i < s.n; i++) {
    const char *name = name_in(mat, &s, i);
    const matvar_t *v = member(mat, &s, i);
    if (!name || !v || !is_about(name, v)) continue;
    if (strcmp(name, "names") == 0)
      s.names = v;
    else
      s.units = v;
  }
  return s;
}

static bramah_status walk(mat_log *mat, const scope *s);

static bramah_status walk_struct(mat_log *mat, const scope *in, const char *own, matvar_t *v)
{
  char prefix[LONGEST_NAME + 8], group[LONGEST_NAME];
  scope s = scope_of(mat, v);
  const matvar_t *units = field(in->units, own), *names = field(in->names, own);
  snprintf(prefix, sizeof prefix, "%s%s.", in->prefix, own);
  snprintf(group, sizeof group, "%s%s", in->prefix, own);
  if (!s.units && is_struct(units)) s.units = units;
  if (!s.names && is_struct(names)) s.names = names;
  s.prefix = *own ? prefix : in->prefix;
  s.depth = in->depth + 1;
  int own_time = 0;
  for (size_t i = 0; i < s.n; i++) {
    const char *name = name_in(mat, &s, i);
    const int is_time =
        name && (strcmp(name, "t") == 0 || strcasecmp(name, "time") == 0 || strcmp(name, "tout") == 0);
    own_time |= is_time && is_number(member(mat, &s, i));
  }
  s.group = own_time ? new_group(mat, group) : in->group;
  if (s.depth > DEEPEST) return BRAMAH_OK;
  return s.group == SIZE_MAX ? BRAMAH_E_MEMORY : walk(mat, &s);
}

static bramah_status walk(mat_log *mat, const scope *s)
{
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; !status && i < s->n; i++) {
    const char *own = name_in(mat, s, i);
    matvar_t *v = member(mat, s, i);
    if (!own || (v && is_about(own, v))) continue;
    char prefixed[LONGEST_NAME];
    snprintf(prefixed, sizeof prefixed, "%s%s", s->prefix, own);
    char *unit = text_of(mat, field(s->units, own)), *called = text_of(mat, field(s->names, own));
    const char *name = called && *called ? called : prefixed;
    if (is_struct(v) && is_simulink(v))
      status = add_simulink(mat, prefixed, v, s);
    else if (is_struct(v) && is_time_series(v))
      status = add_time_series(mat, name, v, unit);
    else if (is_struct(v))
      status = walk_struct(mat, s, own, v);
    else
      status = add_vectors(mat, name, v, s->group, 0, unit);
    free(unit);
    free(called);
  }
  return status;
}

/* ---- groups ---- */

/* The time of a group and its length. Groups without columns vanish; with others a group needs a time. */
static void settle_groups(mat_log *mat)
{
  static const char *const names[] = {"t", "time", "Time", "tout", "TIME"};
  enum { NAMES = sizeof names / sizeof names[0] };
  size_t kept = 0;
  for (size_t at = 0; at < mat->n_groups; at++) {
    mat_group *g = &mat->group[at];

    /* If it was not given a time: a vector called so. */
    for (size_t k = 0; g->time == SIZE_MAX && k < NAMES; k++)
      for (size_t i = 0; g->time == SIZE_MAX && i < mat->n_series; i++) {
        mat_series *s = &mat->series[i];
        const char *dot = strrchr(s->name, '.');
        if (s->group != at || s->why_not || strcmp(dot ? dot + 1 : s->name, names[k]) != 0) continue;
        g->time = i;
        g->n = s->n;
        s->is_time = 1;
      }

    /* All its vectors must be as long as its time; where it has none, as the longest. */
    const char *longest = g->time == SIZE_MAX ? "" : mat->series[g->time].name;
    for (size_t i = 0; g->time == SIZE_MAX && i < mat->n_series; i++) {
      const mat_series *s = &mat->series[i];
      if (s->group == at && !s->why_not && s->n > g->n) g->n = s->n, longest = s->name;
    }
    size_t columns = 0;
    for (size_t i = 0; i < mat->n_series; i++) {
      mat_series *s = &mat->series[i];
      if (s->group != at) continue;
      if (!s->why_not && s->n != g->n) refuse(s, "has %zu rows where '%.60s' has %zu", s->n, longest, g->n);
      columns += !s->why_not;
    }
    kept += columns > (size_t)(g->time != SIZE_MAX);
  }
  for (size_t i = 0; kept > 1 && i < mat->n_series; i++)
    if (mat->group[mat->series[i].group].time == SIZE_MAX)
      refuse(&mat->series[i], "has no time, where other variables of the file have times of their own");
}

/* Fill series and groups. Errors: E_MEMORY. */
static bramah_status find_series(mat_log *mat)
{
  scope file = scope_of(mat, NULL), inside;

  /* The only variable of a file, if it is a struct, lends its fields no name. */
  matvar_t *only = NULL;
  int others = 0;
  for (size_t i = 0; i < file.n; i++) {
    matvar_t *v = mat->variable[i];
    if (!v->name || is_about(v->name, v)) continue;
    others |= only || !is_struct(v) || is_simulink(v) || is_time_series(v);
    only = v;
  }
  if (others) only = NULL;
  if (only) {
    inside = scope_of(mat, only);
    if (!inside.units)
      inside.units = is_struct(field(file.units, only->name)) ? field(file.units, only->name) : file.units;
    if (!inside.names) inside.names = file.names;
    file = inside;
  }
  file.group = new_group(mat, only ? only->name : "");
  if (file.group == SIZE_MAX) return BRAMAH_E_MEMORY;
  bramah_status status = walk(mat, &file);
  if (!status) settle_groups(mat);
  for (size_t i = 0; i < mat->n_series; i++) {
    if (mat->series[i].why_not != out_of_memory) continue;
    mat->series[i].why_not = NULL;
    status = BRAMAH_E_MEMORY;
  }
  return status;
}

/* ---- opening ---- */

/* HDF5 prints what it does not like, unless it is asked not to. */
#ifdef BRAMAH_HDF5
typedef struct hush {
  H5E_auto2_t print;
  void *to;
} hush;

static void hush_begin(hush *h)
{
  *h = (hush){0};
  H5Eget_auto2(H5E_DEFAULT, &h->print, &h->to);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

static void hush_end(const hush *h) { H5Eset_auto2(H5E_DEFAULT, h->print, h->to); }
#else
typedef int hush;
static void hush_begin(hush *h) { *h = 0; }
static void hush_end(const hush *h) { (void)h; }
#endif

static bramah_status add_column(bramah_log_reader *reader, const char *name, const char *unit, size_t series)
{
  mat_log *mat = reader->source;
  if (bramah__log_index(reader, name) != SIZE_MAX)
    return bramah__log_fail(reader, BRAMAH_E_KEY, name, 0, 0, "two variables of the file have this name");
  mat->of_column[reader->n_columns] = series;
  return bramah__log_add_column(reader, name, unit, 0);
}

/* Times of several groups are one column, so they must be in one unit. */
static bramah_status join_times(bramah_log_reader *reader, const unsigned char *has)
{
  const mat_log *mat = reader->source;
  const mat_series *first = NULL;
  for (size_t g = 0; g < mat->n_groups; g++) {
    if (!has[g]) continue;
    const mat_series *time = &mat->series[mat->group[g].time];
    if (!first) first = time;
    if (strcmp(first->unit, time->unit) == 0) continue;
    char says[2][64];
    for (int i = 0; i < 2; i++) {
      const char *unit = i ? first->unit : time->unit;
      snprintf(says[i], sizeof says[i], *unit ? "are in '%.48s'" : "have no unit%s", unit);
    }
    return bramah__log_fail(reader, BRAMAH_E_UNIT, mat->group[g].name, 0, 0,
                            "these times %s, others of the file %s", says[0], says[1]);
  }
  return add_column(reader, "t", first->unit, SIZE_MAX);
}

static bramah_status choose_columns(bramah_log_reader *reader)
{
  mat_log *mat = reader->source;
  unsigned char *has = calloc(mat->n_groups + 1, 1);
  mat->of_column = calloc(mat->n_series + 2, sizeof *mat->of_column);
  mat->here = calloc(mat->n_groups + 1, 1);
  if (!has || !mat->of_column || !mat->here) return free(has), bramah__log_fail_memory(reader);
  size_t n = 0;
  for (size_t i = 0; i < mat->n_series; i++)
    if (!mat->series[i].why_not && !mat->series[i].is_time) has[mat->series[i].group] = 1;
  for (size_t g = 0; g < mat->n_groups; g++) n += has[g];
  bramah_status status = n > 1 ? join_times(reader, has) : BRAMAH_OK;
  for (size_t i = 0; !status && i < mat->n_series; i++) {
    const mat_series *s = &mat->series[i];
    if (s->why_not || !has[s->group] || (n > 1 && s->is_time)) continue;
    if (s->variable->compression == MAT_COMPRESSION_ZLIB) mat->compressed = 1;
    status = add_column(reader, s->name, s->unit, i);
  }
  for (size_t g = 0; g < mat->n_groups; g++) {
    if (!has[g]) mat->group[g].n = 0;
    mat->all_rows += mat->group[g].n;
  }
  free(has);
  if (status || reader->n_columns) return status;

  /* Say why each variable that might have been meant is no column. */
  bramah_diag *diag = &reader->failure;
  bramah__log_fail(reader, BRAMAH_E_EMPTY, NULL, 0, 0, "the file holds no vectors of numbers");
  for (size_t i = 0, said = 0; i < mat->n_series && said < 3; i++) {
    const mat_series *s = &mat->series[i];
    const size_t used = strlen(diag->message);
    if (s->why_not)
      snprintf(diag->message + used, sizeof diag->message - used, "%s '%s' %s", said++ ? ";" : ":", s->name,
               s->why_not);
  }
  return BRAMAH_E_EMPTY;
}

static bramah_status open_mat(bramah_log_reader *reader)
{
  uint64_t size;
  bramah_status status = bramah__mat_check(reader, &size);
  if (status) return status;
  mat_log *mat = reader->source = calloc(1, sizeof *mat);
  if (!mat) return bramah__log_fail_memory(reader);
  mat->size = size;
  reader->format.delimiter = ',';
  reader->format.decimal = '.';
  reader->format.no_header = reader->format.skip = 0;
  reader->format.units = BRAMAH_LOG_UNITS_HEADER;

  /* What is in the file. */
  hush h;
  hush_begin(&h);
  mat->file = Mat_Open(reader->path, MAT_ACC_RDONLY);
  if (!mat->file)
    status = bramah__log_fail(
        reader, BRAMAH_E_SYNTAX, NULL, 0, 0,
        "this is no MAT file, or one of a version that is not supported here, or it is damaged");
  for (matvar_t *v; !status && (v = Mat_VarReadNextInfo(mat->file));) {
    matvar_t **list = grow(mat->variable, mat->n_variables, sizeof *list);
    if (!list) {
      Mat_VarFree(v);
      status = bramah__log_fail_memory(reader);
      break;
    }
    mat->variable = list;
    list[mat->n_variables++] = v;
  }
  if (!status && find_series(mat)) status = bramah__log_fail_memory(reader);
  hush_end(&h);
  return status ? status : choose_columns(reader);
}

static void close_mat(bramah_log_reader *reader)
{
  mat_log *mat = reader->source;
  if (!mat) return;
  for (size_t i = 0; i < mat->n_series; i++) {
    free(mat->series[i].name);
    free(mat->series[i].unit);
    free(mat->series[i].why_not);
    free(mat->series[i].raw);
  }
  for (size_t i = 0; i < mat->n_groups; i++) free(mat->group[i].name);
  hush h;
  hush_begin(&h);
  for (size_t i = 0; i < mat->n_variables; i++) Mat_VarFree(mat->variable[i]);
  if (mat->file) Mat_Close(mat->file);
  hush_end(&h);
  free(mat->series);
  free(mat->group);
  free(mat->variable);
  free(mat->of_column);
  free(mat->here);
  free(mat);
}

/* ---- blocks ---- */

/* Bring the row into memory. */
static bramah_status fetch(bramah_log_reader *reader, mat_series *s, size_t row)
{
  if (row >= s->begin && row - s->begin < s->count) return BRAMAH_OK;
  const size_t size = Mat_SizeOfClass((int)s->variable->class_type);
  const int whole = s->variable->compression == MAT_COMPRESSION_ZLIB;
  const size_t block = whole || s->n < BLOCK ? s->n : BLOCK;
  if (!s->raw) s->raw = calloc(block, size);
  if (!s->raw) return bramah__log_fail_memory(reader);
  s->begin = whole ? 0 : row;
  s->count = s->n - s->begin < block ? s->n - s->begin : block;
  hush h;
  hush_begin(&h);
  const int failed =
      Mat_VarReadDataLinear(((mat_log *)reader->source)->file, s->variable, s->raw,
                            (int)(s->first + s->begin * s->stride), (int)s->stride, (int)s->count);
  hush_end(&h);
  if (!failed) return BRAMAH_OK;
  s->count = 0;
  return bramah__log_fail(reader, BRAMAH_E_TRUNCATED, s->name, row < INT_MAX ? (int)row + 1 : 0, 0,
                          "the rows from here on cannot be read: the file was cut, or is damaged");
}

static double value_of(const mat_series *s, size_t row)
{
  const unsigned char *at = s->raw + (row - s->begin) * Mat_SizeOfClass((int)s->variable->class_type);
  switch (s->variable->class_type) {
  case MAT_C_DOUBLE:
    return *(const double *)(const void *)at;
  case MAT_C_SINGLE:
    return (double)*(const float *)(const void *)at;
  case MAT_C_INT8:
    return *(const int8_t *)at;
  case MAT_C_UINT8:
    return *at;
  case MAT_C_INT16:
    return *(const int16_t *)(const void *)at;
  case MAT_C_UINT16:
    return *(const uint16_t *)(const void *)at;
  case MAT_C_INT32:
    return *(const int32_t *)(const void *)at;
  case MAT_C_UINT32:
    return *(const uint32_t *)(const void *)at;
  case MAT_C_INT64:
    return (double)*(const int64_t *)(const void *)at;
  case MAT_C_UINT64:
    return (double)*(const uint64_t *)(const void *)at;
  default:
    return NAN;
  }
}

/* ---- times ---- */

/* A time in units of the clock: ns, or counts. Whole numbers of 64 bits stay exact. */
static bramah_status read_time(const bramah_log_reader *reader, const mat_series *s, size_t row,
                               int64_t scale, int64_t *out)
{
  const int wide = s->variable->class_type == MAT_C_INT64;
  const double value = value_of(s, row);
  int64_t whole = 0;
  if (wide) memcpy(&whole, s->raw + (row - s->begin) * sizeof whole, sizeof whole);
  if (wide && whole <= INT64_C(9000000000000000000) / scale && whole >= -INT64_C(9000000000000000000) / scale)
    return *out = whole * scale, BRAMAH_OK;
  const long double ns = (long double)value * (long double)scale;
  if (!isfinite(value)) return BRAMAH_E_NOT_FINITE;
  if (!(fabsl(ns) < 9e18L) || (reader->clock.whole && ns != floorl(ns))) return BRAMAH_E_VALUE;
  *out = llroundl(ns);
  return BRAMAH_OK;
}

/* ---- rows ---- */

/* The groups that have a row at the earliest time; one alone if it has no time: that row comes at once. */
static bramah_status choose_groups(bramah_log_reader *reader, unsigned char *here, size_t *first)
{
  mat_log *mat = reader->source;
  int64_t earliest = INT64_MAX, scale = reader->clock.scale;
  if (reader->time_column == SIZE_MAX) { /* a log whose times nobody asked for: ns */
    const double factor = reader->units[0].factor * 1e9;
    scale = factor >= 1.0 && factor < 1e14 ? llround(factor) : 1;
  }
  *first = SIZE_MAX;
  memset(here, 0, mat->n_groups);
  for (size_t g = 0; g < mat->n_groups; g++) {
    const size_t row = mat->group[g].row;
    if (row == mat->group[g].n) continue;
    mat_series *time = &mat->series[mat->group[g].time];
    int64_t ns;
    const bramah_status status = fetch(reader, time, row);
    if (status) return status;
    if (read_time(reader, time, row, scale, &ns)) ns = INT64_MIN;
    if (*first != SIZE_MAX && ns > earliest) continue;
    if (*first == SIZE_MAX || ns < earliest) memset(here, 0, mat->n_groups), *first = g;
    here[g] = ns != INT64_MIN || *first == g;
    earliest = ns;
  }
  return BRAMAH_OK;
}

static bramah_status take_cell(bramah_log_reader *reader, size_t column, mat_series *s, size_t row)
{
  bramah_status status = fetch(reader, s, row);
  if (status) return status;
  const double value = value_of(s, row), factor = reader->units[column].factor;
  const int is_time = column == reader->time_column;
  if (bramah__log_is_no_sample(reader, value)) return BRAMAH_OK;
  reader->present[column] = 1;
  if (is_time) status = read_time(reader, s, row, reader->clock.scale, &reader->time);
  reader->values[column] = is_time ? (double)reader->time / (double)reader->clock.scale : value * factor;
  if (!status && !isfinite(reader->values[column])) status = BRAMAH_E_NOT_FINITE;
  if (!status) return BRAMAH_OK;
  reader->values[column] = NAN;
  bramah__log_fault *f = &reader->fault;
  if (f->status) return BRAMAH_OK;
  *f = (bramah__log_fault){.status = status, .cell = column, .line = reader->row_line};
  bramah__format_number(f->quote, value, 17);
  bramah__log_bad_cell(reader, column, reader->row_line);
  return BRAMAH_OK;
}

static bramah_status next_row(bramah_log_reader *reader, int *end)
{
  mat_log *mat = reader->source;
  const int joined = mat->of_column[0] == SIZE_MAX;
  size_t first = joined ? SIZE_MAX : mat->series[mat->of_column[0]].group;
  bramah_status status = BRAMAH_OK;
  reader->row_done = 1;
  if (joined)
    status = choose_groups(reader, mat->here, &first);
  else
    mat->here[first] = 1;
  *end = !status && (first == SIZE_MAX || mat->group[first].row == mat->group[first].n);
  if (status || *end) return status;
  if (mat->row < INT_MAX) mat->row++;
  reader->row_line = mat->row;
  for (size_t i = 0; !status && i < reader->n_columns; i++) { /* cells of the groups that have this row */
    const size_t of = mat->of_column[i] == SIZE_MAX ? mat->group[first].time : mat->of_column[i];
    mat_series *s = &mat->series[of];
    reader->values[i] = NAN;
    reader->present[i] = 0;
    if (!reader->columns[i].ignored && mat->here[s->group])
      status = take_cell(reader, i, s, mat->group[s->group].row);
  }
  for (size_t g = 0; !status && g < mat->n_groups; g++)
    if (mat->here[g]) mat->group[g].row++, mat->rows++;
  return status;
}

/* ---- what is known ---- */

static size_t stand_in(const bramah_log_reader *reader, const char *name)
{
  if (strcmp(name, "t") != 0) return SIZE_MAX;
  for (size_t i = 0; i < reader->n_columns; i++)
    if (strcasecmp(reader->columns[i].name, "time") == 0 || strcmp(reader->columns[i].name, "tout") == 0)
      return i;
  return SIZE_MAX;
}

static const char *why_not(const bramah_log_reader *reader, const char *name)
{
  const mat_log *mat = reader->source;
  for (size_t i = 0; i < mat->n_series; i++)
    if (strcmp(mat->series[i].name, name) == 0) return mat->series[i].why_not;
  return NULL;
}

static void describe(const bramah_log_reader *reader, bramah_log_info *info)
{
  const mat_log *mat = reader->source;
  const double share = mat->all_rows ? (double)mat->rows / (double)mat->all_rows : 1.0;
  info->bytes = (uint64_t)((double)mat->size * share);
  switch (Mat_GetVersion(mat->file)) {
  case MAT_FT_MAT4:
    info->kind = "MAT file of version 4";
    break;
  case MAT_FT_MAT73:
    info->kind = "MAT file of version 7.3";
    break;
  default:
    info->kind = mat->compressed ? "MAT file of version 7: compressed vectors are held in memory whole"
                                 : "MAT file of version 5";
  }
}

const bramah__log_kind bramah__log_mat = {.names = "*.mat",
                                          .what = "MAT file",
                                          .record = "row",
                                          .column = "variable",
                                          .sink = &bramah__mat_sink,
                                          .takes = takes,
                                          .open = open_mat,
                                          .close = close_mat,
                                          .next = next_row,
                                          .describe = describe,
                                          .stand_in = stand_in,
                                          .why_not = why_not,
                                          .no_rows = "the vectors of the log are empty"};

#else

static bramah_status open_mat(bramah_log_reader *reader)
{
  return bramah__log_fail(reader, BRAMAH_E_UNSUPPORTED, NULL, 0, 0,
                          "bramah was built without matio and cannot read MAT files: build it again with "
                          "libmatio-dev installed, or save the log as CSV");
}

static void close_mat(bramah_log_reader *reader) { (void)reader; }

const bramah__log_kind bramah__log_mat = {.names = "*.mat",
                                          .what = "MAT file",
                                          .record = "row",
                                          .column = "variable",
                                          .sink = &bramah__mat_sink,
                                          .takes = takes,
                                          .open = open_mat,
                                          .close = close_mat};

#endif
