/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MAT files as logs: which vectors are columns and which times they have (what programs of the field write: plain
 * vectors, structs of vectors, time series as structs, and Simulink's "structure with time"), and their rows. Vectors
 * are read by blocks of rows where they are not compressed, and by HDF5; compressed ones of version 5 whole, because
 * zlib cannot begin in the middle. */
#define _GNU_SOURCE /* strdup */
#include "lib/logs/vectors.h"

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

#include <matio.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Structs in structs: more is no log. */
enum { DEEPEST = 8, LONGEST_NAME = 256 };

typedef struct mat_log {
  bramah__vectors vectors; /* first: it is the reader's source */
  mat_t *file;
  bramah__mat_about about;
  matvar_t **variable; /* all of the first level, without their data */
  size_t n_variables;
} mat_log;

/* Variables of one level: of the file, or of a struct. */
typedef struct scope {
  matvar_t *parent; /* NULL: the file */
  size_t n;
  const matvar_t *units, *names; /* structs of texts, or NULL */
  const char *prefix;            /* before the names of its columns */
  size_t group;
  size_t rows; /* length of its time, 0: it has none */
  int depth;
} scope;

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

static bramah__element element_of(const matvar_t *v)
{
  switch (v->class_type) {
  case MAT_C_SINGLE:
    return BRAMAH__F32;
  case MAT_C_INT8:
    return BRAMAH__I8;
  case MAT_C_UINT8:
    return BRAMAH__U8;
  case MAT_C_INT16:
    return BRAMAH__I16;
  case MAT_C_UINT16:
    return BRAMAH__U16;
  case MAT_C_INT32:
    return BRAMAH__I32;
  case MAT_C_UINT32:
    return BRAMAH__U32;
  case MAT_C_INT64:
    return BRAMAH__I64;
  case MAT_C_UINT64:
    return BRAMAH__U64;
  default:
    return BRAMAH__F64;
  }
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
    if (count > BRAMAH__WIDEST) wrong = "has too many dimensions: a column is a vector";
  }
  for (size_t k = 0; k < (wrong ? 1 : count); k++) {
    snprintf(each, sizeof each, count > 1 && !wrong ? "%.*s(%zu)" : "%.*s", LONGEST_NAME, name, k + 1);
    bramah__vector *s = bramah__vectors_add(&mat->vectors, each, unit, v, group);
    if (!s) return BRAMAH_E_MEMORY;
    s->first = stride == 1 ? k * length : k;
    s->stride = stride;
    s->n = length;
    s->element = wrong ? BRAMAH__F64 : element_of(v);
    s->whole = !wrong && v->compression == MAT_COMPRESSION_ZLIB;
    if (wrong) bramah__vectors_refuse(s, "%s", wrong);
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
  const size_t before = mat->vectors.n;
  if (add_vectors(mat, "t", time, group, 0, unit) || mat->vectors.n != before + 1) return 0;
  bramah__vector *s = &mat->vectors.list[before];
  if (s->why_not) return 0;
  s->is_time = 1;
  mat->vectors.group[group].time = before;
  mat->vectors.group[group].n = s->n;
  return s->n;
}

static bramah_status add_refused(mat_log *mat, const char *name, size_t group, const char *why)
{
  bramah__vector *s = bramah__vectors_add(&mat->vectors, name, NULL, NULL, group);
  if (s) bramah__vectors_refuse(s, "%s", why);
  return s ? BRAMAH_OK : BRAMAH_E_MEMORY;
}

static bramah_status add_time_series(mat_log *mat, const char *name, matvar_t *v, const char *unit)
{
  const size_t group = bramah__vectors_new_group(&mat->vectors, name);
  if (group == SIZE_MAX) return BRAMAH_E_MEMORY;
  char *stated = text_of(mat, field(field(v, "TimeInfo"), "Units"));
  const char *of_time = stated && *stated ? bramah__unit_of_time(stated) : "s";
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
  const int untimed = elements(field(v, "time")) == 0; /* "Structure": the time is 'tout' beside it */
  const size_t n = elements(signals),
               group = untimed ? in->group : bramah__vectors_new_group(&mat->vectors, name);
  if (group == SIZE_MAX) return BRAMAH_E_MEMORY;
  bramah_status status = BRAMAH_OK;
  const size_t rows = untimed ? in->rows : add_time(mat, field(v, "time"), group, "s");
  for (size_t k = 0; !status && k < n && k < BRAMAH__WIDEST; k++) {
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
    status = rows
                 ? add_vectors(mat, called, field_of(signals, "values", k), group, rows, unit)
                 : add_refused(mat, called, group,
                               untimed ? "has no times: save it as \"Structure With Time\", or 'tout' with it"
                                       : "has no times: 'time' of its struct is no vector of real numbers");
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
  for (size_t i = 0; !s.rows && i < s.n; i++) {
    const char *name = name_in(mat, &s, i);
    const matvar_t *v = member(mat, &s, i);
    if (name && bramah__is_time_name(name) && is_number(v)) s.rows = elements(v);
  }
  return s;
}

/* Along what a matrix has its rows: as long as the time, else the longer side. 0: it is none. */
static size_t rows_of(const matvar_t *v, size_t rows)
{
  if (!is_number(v) || v->rank != 2 || v->dims[0] < 2 || v->dims[1] < 2) return 0;
  if (rows && (v->dims[0] == rows || v->dims[1] == rows)) return rows;
  return v->dims[0] < v->dims[1] ? v->dims[1] : v->dims[0];
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
  s.group = s.rows ? bramah__vectors_new_group(&mat->vectors, group) : in->group;
  if (!s.rows) s.rows = in->rows;
  if (s.depth > DEEPEST) return BRAMAH_OK;
  return s.group == SIZE_MAX ? BRAMAH_E_MEMORY : walk(mat, &s);
}

/* Objects, whose numbers MATLAB keeps where only it finds them: what to do there. */
static bramah_status add_objects(mat_log *mat, size_t group)
{
  static const char *const advice[][2] = {
      {"timeseries", "t = %s.Time; x = squeeze(%s.Data)"},
      {"Simulink.SimulationData.Dataset", "ts = %s{1}.Values; t = ts.Time; x = squeeze(ts.Data)"},
      {"Simulink.SimulationData.Signal", "t = %s.Values.Time; x = squeeze(%s.Values.Data)"},
      {"Simulink.SimulationOutput", "ts = %s.logsout{1}.Values; t = ts.Time; x = squeeze(ts.Data)"},
      {"timetable", "t = seconds(%s.Properties.RowTimes - %s.Properties.RowTimes(1)); x = %s.x"},
      {"table", "t = %s.t; x = %s.x"},
      {"datetime", "t = posixtime(%s)"},
      {"duration", "t = seconds(%s)"}};
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; !status && i < mat->about.n_objects; i++) {
    const bramah__mat_object *o = &mat->about.objects[i];
    char why[2 * BRAMAH__MAT_NAME + 400];
    snprintf(why, sizeof why,
             "is an object (%s), which only MATLAB can read: save its numbers as vectors there",
             o->class_name);
    size_t used = strlen(why);
    for (size_t k = 0; k < sizeof advice / sizeof advice[0]; k++) {
      if (strcmp(advice[k][0], o->class_name) != 0) continue;
      used = bramah__append(why, sizeof why, used, ": ");
      for (const char *at = advice[k][1]; *at; at++) {
        const char letter[2] = {*at, 0};
        const int is_name = at[0] == '%' && at[1] == 's';
        used = bramah__append(why, sizeof why, used, is_name ? o->name : letter);
        at += is_name;
      }
      bramah__append(why, sizeof why, used, "; save('log.mat', 't', 'x')");
    }
    status = add_refused(mat, o->name, group, why);
  }
  return status;
}

/* What matio makes of an object, or the nameless variable with what all of them hold: told by add_objects. */
static int is_hidden(const mat_log *mat, const char *name, const matvar_t *v)
{
  if (!mat->about.n_objects) return 0;
  if (!*name || (v && v->class_type == MAT_C_OPAQUE)) return 1;
  for (size_t i = 0; i < mat->about.n_objects; i++)
    if (strcmp(mat->about.objects[i].name, name) == 0) return 1;
  return 0;
}

static bramah_status walk(mat_log *mat, const scope *s)
{
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; !status && i < s->n; i++) {
    const char *own = name_in(mat, s, i);
    matvar_t *v = member(mat, s, i);
    if (!own || (v && is_about(own, v)) || (!s->parent && is_hidden(mat, own, v))) continue;
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
      status = add_vectors(mat, name, v, s->group, rows_of(v, s->rows),
                           !unit && strcmp(own, "tout") == 0 ? "s" : unit);
    free(unit);
    free(called);
  }
  return status;
}

/* A matrix alone, as Simulink's To File and scopes save it: its first row, or column, is the time. */
static void lead_matrix(mat_log *mat)
{
  size_t n = 0;
  while (n < mat->vectors.n && mat->vectors.list[n].source == mat->vectors.list[0].source) n++;
  if (n < 2 || n != mat->vectors.n || mat->vectors.list[0].why_not) return;
  bramah__vector *s = &mat->vectors.list[0];
  char *seconds = *s->unit ? NULL : strdup("s");
  if (seconds) free(s->unit), s->unit = seconds;
  mat->vectors.group[s->group].time = 0;
  mat->vectors.group[s->group].n = s->n;
  s->is_time = 1;
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
    if (!v->name || is_about(v->name, v) || is_hidden(mat, v->name, v)) continue;
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
  file.group = bramah__vectors_new_group(&mat->vectors, only ? only->name : "");
  if (file.group == SIZE_MAX) return BRAMAH_E_MEMORY;
  bramah_status status = walk(mat, &file);
  if (!status) status = add_objects(mat, file.group);
  if (!status) lead_matrix(mat);
  return status;
}

/* ---- opening ---- */

static int read_block(bramah_log_reader *reader, bramah__vector *v)
{
  bramah__hdf5_use h;
  bramah__hdf5_begin(&h);
  const int failed =
      Mat_VarReadDataLinear(((mat_log *)reader->source)->file, v->source, v->raw,
                            (int)(v->first + v->begin * v->stride), (int)v->stride, (int)v->count);
  bramah__hdf5_end(&h);
  return !failed;
}

static bramah_status open_mat(bramah_log_reader *reader)
{
  mat_log *mat = reader->source = calloc(1, sizeof *mat);
  if (!mat) return bramah__log_fail_memory(reader);
  mat->vectors.read = read_block;
  bramah_status status = bramah__mat_check(reader, &mat->about);
  if (status) return status;
  /* What is in the file. */
  bramah__hdf5_use h;
  bramah__hdf5_begin(&h);
  mat->file = Mat_Open(reader->path, MAT_ACC_RDONLY);
  if (!mat->file)
    status = bramah__log_fail(
        reader, BRAMAH_E_SYNTAX, NULL, 0, 0,
        "this is no MAT file, or one of a version that is not supported here, or it is damaged");
  for (matvar_t *v; !status && (v = Mat_VarReadNextInfo(mat->file));) {
    matvar_t **list = bramah__vectors_grow(mat->variable, mat->n_variables, sizeof *list);
    if (!list) {
      Mat_VarFree(v);
      status = bramah__log_fail_memory(reader);
      break;
    }
    mat->variable = list;
    list[mat->n_variables++] = v;
  }
  if (!status && find_series(mat)) status = bramah__log_fail_memory(reader);
  bramah__hdf5_end(&h);
  return status ? status : bramah__vectors_settle(reader);
}

static void close_mat(bramah_log_reader *reader)
{
  mat_log *mat = reader->source;
  if (!mat) return;
  bramah__hdf5_use h;
  bramah__hdf5_begin(&h);
  for (size_t i = 0; i < mat->n_variables; i++) Mat_VarFree(mat->variable[i]);
  if (mat->file) Mat_Close(mat->file);
  bramah__hdf5_end(&h);
  bramah__vectors_free(&mat->vectors);
  free(mat->variable);
  free(mat);
}

/* ---- what is known ---- */

static void describe(const bramah_log_reader *reader, bramah_log_info *info)
{
  const mat_log *mat = reader->source;
  int compressed = 0;
  for (size_t i = 0; i < mat->vectors.n; i++)
    compressed |= mat->vectors.list[i].whole && !mat->vectors.list[i].why_not;
  info->bytes = (uint64_t)((double)mat->about.size * bramah__vectors_share(&mat->vectors));
  switch (Mat_GetVersion(mat->file)) {
  case MAT_FT_MAT4:
    info->kind = "MAT file of version 4";
    break;
  case MAT_FT_MAT73:
    info->kind = "MAT file of version 7.3";
    break;
  default:
    info->kind = compressed ? "MAT file of version 7: compressed vectors are held in memory whole"
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
                                          .next = bramah__vectors_next,
                                          .describe = describe,
                                          .stand_in = bramah__vectors_stand_in,
                                          .why_not = bramah__vectors_why_not,
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
