/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What programs of the field write: plain vectors, structs of vectors, time series as structs,
 * and Simulink's "structure with time". */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "lib/logs/mat_layout.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Structs in structs: more is no log. */
enum { DEEPEST = 8, WIDEST = 256, LONGEST_NAME = 256 };

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
static char *text_of(bramah__mat_log *mat, matvar_t *v)
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

/* What MATLAB calls units of time. */
static char *time_unit(char *text)
{
  static const char *const names[][2] = {{"seconds", "s"},       {"milliseconds", "ms"},
                                         {"microseconds", "us"}, {"nanoseconds", "ns"},
                                         {"minutes", "min"},     {"hours", "h"}};
  for (size_t i = 0; text && i < sizeof names / sizeof names[0]; i++)
    if (strcmp(text, names[i][0]) == 0) return free(text), strdup(names[i][1]);
  return text;
}

/* ---- series ---- */

static void *grow(void *list, size_t n, size_t size)
{
  return n & (n - 1) ? list : realloc(list, (n ? 2 * n : 1) * size); /* whenever n is a power of two */
}

static bramah__mat_series *new_series(bramah__mat_log *mat, const char *name, matvar_t *v, size_t group)
{
  bramah__mat_series *list = grow(mat->series, mat->n_series, sizeof *list);
  if (!list) return NULL;
  mat->series = list;
  bramah__mat_series *s = &list[mat->n_series];
  *s = (bramah__mat_series){.variable = v, .group = group, .stride = 1, .name = strdup(name)};
  if (!s->name) return NULL;
  mat->n_series++;
  return s;
}

#if defined __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
static void
refuse(bramah__mat_series *s, const char *format, ...)
{
  char text[200];
  va_list list;
  if (!s || s->why_not) return;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  s->why_not = strdup(text);
  if (!s->why_not) s->why_not = (char *)(uintptr_t)out_of_memory;
}

static size_t new_group(bramah__mat_log *mat, const char *name)
{
  bramah__mat_group *list = grow(mat->group, mat->n_groups, sizeof *list);
  if (!list) return SIZE_MAX;
  mat->group = list;
  list[mat->n_groups] = (bramah__mat_group){.name = strdup(name), .time = SIZE_MAX};
  return list[mat->n_groups].name ? mat->n_groups++ : SIZE_MAX;
}

/* Why the variable holds no columns, whatever its size; NULL: it does. What the file cannot hold is not asked for:
 * zlib shrinks to a thousandth at best, and matio counts in int. */
static const char *flaw(const bramah__mat_log *mat, const matvar_t *v)
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
  if (n > INT32_MAX || (Mat_GetVersion(mat->file) != MAT_FT_MAT73 &&
                        n > (v->compression == MAT_COMPRESSION_ZLIB ? 1100 : 1) * mat->size))
    return "has more elements than the file can hold: the file is damaged";
  if (n == 0) return "is empty";
  return NULL;
}

/* As a vector, a column or a row, or [rows x several]: a column each, called name(1), name(2), ... `rows` is
 * the length of the time, 0 if it is not known. */
static bramah_status add_vectors(bramah__mat_log *mat, const char *name, matvar_t *v, size_t group,
                                 size_t rows, const char *unit)
{
  char each[LONGEST_NAME + 24];
  const char *wrong = *name ? flaw(mat, v) : "has no name";
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
    bramah__mat_series *s = new_series(mat, each, v, group);
    if (!s) return BRAMAH_E_MEMORY;
    s->unit = strdup(unit ? unit : "");
    s->first = stride == 1 ? k * length : k;
    s->stride = stride;
    s->n = length;
    if (!s->unit) return BRAMAH_E_MEMORY;
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
static size_t add_time(bramah__mat_log *mat, matvar_t *time, size_t group, const char *unit)
{
  const size_t before = mat->n_series;
  if (add_vectors(mat, "t", time, group, 0, unit) || mat->n_series != before + 1) return 0;
  bramah__mat_series *s = &mat->series[before];
  if (s->why_not) return 0;
  s->is_time = 1;
  mat->group[group].time = before;
  mat->group[group].n = s->n;
  return s->n;
}

static bramah_status add_refused(bramah__mat_log *mat, const char *name, size_t group, const char *why)
{
  bramah__mat_series *s = new_series(mat, name, NULL, group);
  if (!s) return BRAMAH_E_MEMORY;
  s->unit = strdup("");
  refuse(s, "%s", why);
  return s->unit ? BRAMAH_OK : BRAMAH_E_MEMORY;
}

static bramah_status add_time_series(bramah__mat_log *mat, const char *name, matvar_t *v, const char *unit)
{
  const size_t group = new_group(mat, name);
  if (group == SIZE_MAX) return BRAMAH_E_MEMORY;
  char *of_time = time_unit(text_of(mat, field(field(v, "TimeInfo"), "Units")));
  char *own = text_of(mat, either(v, "units", "Units"));
  if (!own) own = text_of(mat, field(field(v, "DataInfo"), "Units"));
  const size_t rows = add_time(mat, either(v, "Time", "time"), group, of_time && *of_time ? of_time : "s");
  const bramah_status status =
      rows ? add_vectors(mat, name, either(v, "Data", "data"), group, rows, own && *own ? own : unit)
           : add_refused(mat, name, group, "has no times: its 'Time' is no vector of real numbers");
  free(of_time);
  free(own);
  return status;
}

/* One signal of a structure with time: called by its label. */
static bramah_status add_signal(bramah__mat_log *mat, const char *name, matvar_t *signals, size_t k, size_t n,
                                size_t group, const scope *in)
{
  char called[LONGEST_NAME];
  matvar_t *values = field_of(signals, "values", k);
  char *label = text_of(mat, field_of(signals, "label", k));
  char *unit = text_of(mat, field_of(signals, "units", k));
  if (label && *label)
    snprintf(called, sizeof called, "%s", label);
  else
    snprintf(called, sizeof called, n > 1 ? "%s(%zu)" : "%s", name, k + 1);
  if (!unit && in->units) unit = text_of(mat, field(in->units, called));
  const size_t rows = mat->group[group].n;
  const bramah_status status =
      rows ? add_vectors(mat, called, values, group, rows, unit)
           : add_refused(mat, called, group,
                         "has no times: 'time' of its struct is no vector of real numbers");
  free(label);
  free(unit);
  return status;
}

static bramah_status add_simulink(bramah__mat_log *mat, const char *name, matvar_t *v, const scope *in)
{
  matvar_t *signals = field(v, "signals");
  const size_t n = elements(signals), group = new_group(mat, name);
  scope own = *in;
  bramah_status status = group == SIZE_MAX ? BRAMAH_E_MEMORY : BRAMAH_OK;
  if (is_struct(field(v, "units"))) own.units = field(v, "units");
  if (!status) add_time(mat, field(v, "time"), group, "s");
  for (size_t k = 0; !status && k < n && k < WIDEST; k++)
    status = add_signal(mat, name, signals, k, n, group, &own);
  return status;
}

/* ---- variables of one level ---- */

static const char *name_in(const bramah__mat_log *mat, const scope *s, size_t i)
{
  return s->parent ? Mat_VarGetStructFieldnames(s->parent)[i] : mat->variable[i]->name;
}

static matvar_t *member(const bramah__mat_log *mat, const scope *s, size_t i)
{
  return s->parent ? part(s->parent, i, 0) : mat->variable[i];
}

static int is_about(const char *name, const matvar_t *v)
{
  return is_struct(v) && (strcasecmp(name, "units") == 0 || strcmp(name, "names") == 0);
}

static scope scope_of(const bramah__mat_log *mat, matvar_t *parent)
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

static int is_time_name(const char *name)
{
  return name && (strcmp(name, "t") == 0 || strcasecmp(name, "time") == 0 || strcmp(name, "tout") == 0);
}

static bramah_status walk(bramah__mat_log *mat, const scope *s);

static bramah_status walk_struct(bramah__mat_log *mat, const scope *in, const char *own, matvar_t *v)
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
  for (size_t i = 0; i < s.n; i++)
    own_time |= is_time_name(name_in(mat, &s, i)) && is_number(member(mat, &s, i));
  s.group = own_time ? new_group(mat, group) : in->group;
  if (s.depth > DEEPEST) return BRAMAH_OK;
  return s.group == SIZE_MAX ? BRAMAH_E_MEMORY : walk(mat, &s);
}

static bramah_status walk_member(bramah__mat_log *mat, const scope *s, const char *own, matvar_t *v)
{
  char name[LONGEST_NAME];
  snprintf(name, sizeof name, "%s%s", s->prefix, own);
  char *unit = text_of(mat, field(s->units, own)), *called = text_of(mat, field(s->names, own));
  bramah_status status;
  if (is_struct(v) && is_simulink(v))
    status = add_simulink(mat, name, v, s);
  else if (is_struct(v) && is_time_series(v))
    status = add_time_series(mat, called && *called ? called : name, v, unit);
  else if (is_struct(v))
    status = walk_struct(mat, s, own, v);
  else
    status = add_vectors(mat, called && *called ? called : name, v, s->group, 0, unit);
  free(unit);
  free(called);
  return status;
}

static bramah_status walk(bramah__mat_log *mat, const scope *s)
{
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; !status && i < s->n; i++) {
    const char *own = name_in(mat, s, i);
    matvar_t *v = member(mat, s, i);
    if (own && !(v && is_about(own, v))) status = walk_member(mat, s, own, v);
  }
  return status;
}

/* The only variable of a file lends its fields no name. */
static matvar_t *only_struct(const bramah__mat_log *mat, const scope *s)
{
  matvar_t *only = NULL;
  for (size_t i = 0; i < s->n; i++) {
    matvar_t *v = mat->variable[i];
    if (!v->name || is_about(v->name, v)) continue;
    if (only || !is_struct(v) || is_simulink(v) || is_time_series(v)) return NULL;
    only = v;
  }
  return only;
}

/* ---- groups ---- */

/* The time of a group that was not given one: a vector called t, time or tout. */
static void find_time(bramah__mat_log *mat, size_t group)
{
  static const char *const names[] = {"t", "time", "Time", "tout", "TIME"};
  for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
    for (size_t i = 0; i < mat->n_series; i++) {
      bramah__mat_series *s = &mat->series[i];
      const char *dot = strrchr(s->name, '.');
      if (s->group != group || s->why_not || strcmp(dot ? dot + 1 : s->name, names[k]) != 0) continue;
      mat->group[group].time = i;
      mat->group[group].n = s->n;
      s->is_time = 1;
      return;
    }
}

/* All its vectors must be as long as its time; where it has none, as the longest. */
static void compare_lengths(bramah__mat_log *mat, size_t group)
{
  bramah__mat_group *g = &mat->group[group];
  const char *longest = g->time == SIZE_MAX ? "" : mat->series[g->time].name;
  for (size_t i = 0; i < mat->n_series; i++) {
    const bramah__mat_series *s = &mat->series[i];
    if (s->group == group && !s->why_not && g->time == SIZE_MAX && s->n > g->n)
      g->n = s->n, longest = s->name;
  }
  for (size_t i = 0; i < mat->n_series; i++) {
    bramah__mat_series *s = &mat->series[i];
    if (s->group == group && !s->why_not && s->n != g->n)
      refuse(s, "has %zu rows where '%.60s' has %zu", s->n, longest, g->n);
  }
}

/* Groups without columns vanish; with others a group needs a time. */
static void settle_groups(bramah__mat_log *mat)
{
  size_t kept = 0;
  for (size_t g = 0; g < mat->n_groups; g++) {
    if (mat->group[g].time == SIZE_MAX) find_time(mat, g);
    compare_lengths(mat, g);
    size_t columns = 0;
    for (size_t i = 0; i < mat->n_series; i++)
      columns += mat->series[i].group == g && !mat->series[i].why_not;
    kept += columns > (size_t)(mat->group[g].time != SIZE_MAX);
  }
  for (size_t i = 0; kept > 1 && i < mat->n_series; i++)
    if (mat->group[mat->series[i].group].time == SIZE_MAX)
      refuse(&mat->series[i], "has no time, where other variables of the file have times of their own");
}

bramah_status bramah__mat_find_series(bramah__mat_log *mat)
{
  scope file = scope_of(mat, NULL), inside;
  matvar_t *only = only_struct(mat, &file);
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
