/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of a MAT file; mat_layout.c finds what is a column. Vectors are read by blocks of rows where they are not
 * compressed, and by HDF5; compressed ones of version 5 whole, because zlib cannot begin in the middle. */
#define _GNU_SOURCE /* locale_t, pread */
#include "lib/base/diag.h"
#include "lib/logs/reader.h"

#include <string.h>
#include <strings.h>

static int takes(const char *path)
{
  const size_t n = strlen(path);
  return n > 4 && strcasecmp(path + n - 4, ".mat") == 0;
}

#ifdef BRAMAH_MATIO
#include "lib/base/text.h"
#include "lib/logs/mat_layout.h"

#include <errno.h>
#ifdef BRAMAH_HDF5
#include <hdf5.h>
#endif
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- HDF5 prints what it does not like, unless it is asked not to ---- */

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

/* ---- is the file whole? One that was cut while it was copied is found before it is read ---- */

static uint32_t word(const unsigned char *b, int big)
{
  return big ? (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3]
             : (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
}

static bramah_status fail_cut(bramah_log_reader *reader)
{
  return bramah__log_fail(reader, BRAMAH_E_TRUNCATED, NULL, 0, 0,
                          "the file ends in the middle of a variable: it was cut, or is damaged");
}

/* Bytes at an offset; 0 if the file has fewer. */
static int get(bramah_log_reader *reader, uint64_t at, unsigned char *out, size_t n)
{
  ssize_t got;
  do got = pread(reader->fd, out, n, (off_t)at);
  while (got < 0 && errno == EINTR);
  return got == (ssize_t)n;
}

static bramah_status walk_5(bramah_log_reader *reader, uint64_t size, int big)
{
  unsigned char tag[8];
  for (uint64_t at = 128; at < size;) {
    if (!get(reader, at, tag, sizeof tag)) return fail_cut(reader);
    at += 8 + (uint64_t)word(tag + 4, big);
    if (at > size) return fail_cut(reader);
  }
  return BRAMAH_OK;
}

/* Header of a variable: type (digits M, O, P, T), rows, columns, complex, length of the name. Returns its
 * bytes, 0 if it is none. */
static uint64_t size_4(const unsigned char *head)
{
  static const unsigned bytes[] = {8, 4, 4, 2, 2, 1};
  const int big = word(head, 0) > 4052;
  const uint32_t type = word(head, big), precision = type / 10 % 10;
  if (type > 4052 || precision > 5 || word(head + 12, big) > 1) return 0;
  const uint64_t elements = (uint64_t)word(head + 4, big) * word(head + 8, big);
  if (elements > UINT64_C(1) << 40) return UINT64_C(1) << 40;
  return elements * bytes[precision] * (1 + word(head + 12, big)) + word(head + 16, big);
}

static bramah_status walk_4(bramah_log_reader *reader, uint64_t size)
{
  unsigned char head[20];
  for (uint64_t at = 0; at < size;) {
    if (!get(reader, at, head, sizeof head)) return fail_cut(reader);
    const uint64_t bytes = size_4(head);
    if (!bytes)
      return bramah__log_fail(reader, BRAMAH_E_SYNTAX, NULL, 0, 0, "this is no MAT file, or it is damaged");
    at += sizeof head + bytes;
    if (at > size) return fail_cut(reader);
  }
  return BRAMAH_OK;
}

/* Elements of versions 4 and 5 against the length of the file [bytes]. Version 7.3: HDF5 finds that itself. */
static bramah_status check_whole(bramah_log_reader *reader, uint64_t *size)
{
  struct stat about;
  unsigned char head[128];
  if (fstat(reader->fd, &about) != 0) return bramah__log_fail_system(reader, "cannot read: ", errno);
  if (!S_ISREG(about.st_mode))
    return bramah__log_fail(reader, BRAMAH_E_FILE, NULL, 0, 0, "a MAT file cannot be read from a pipe");
  *size = (uint64_t)about.st_size;
  if (!*size) return bramah__log_fail(reader, BRAMAH_E_EMPTY, NULL, 0, 0, "the file is empty");
  if (!get(reader, 0, head, sizeof head) || memcmp(head, "MATLAB ", 7) != 0) return walk_4(reader, *size);
  const int big = head[126] == 'M' && head[127] == 'I';
  if (!big && (head[126] != 'I' || head[127] != 'M'))
    return bramah__log_fail(reader, BRAMAH_E_SYNTAX, NULL, 0, 0, "this is no MAT file, or it is damaged");
  return head[big ? 124 : 125] == 1 ? walk_5(reader, *size, big) : BRAMAH_OK;
}

/* ---- opening ---- */

static bramah_status read_directory(bramah_log_reader *reader, bramah__mat_log *mat)
{
  mat->file = Mat_Open(reader->path, MAT_ACC_RDONLY);
  if (!mat->file)
    return bramah__log_fail(
        reader, BRAMAH_E_SYNTAX, NULL, 0, 0,
        "this is no MAT file, or one of a version that is not supported here, or it is damaged");
  for (matvar_t *v; (v = Mat_VarReadNextInfo(mat->file));) {
    matvar_t **list = realloc(mat->variable, (mat->n_variables + 1) * sizeof *list);
    if (!list) return Mat_VarFree(v), bramah__log_fail_memory(reader);
    mat->variable = list;
    list[mat->n_variables++] = v;
  }
  return bramah__mat_find_series(mat) ? bramah__log_fail_memory(reader) : BRAMAH_OK;
}

/* The texts of `missing` that are numbers. */
static int find_missing(bramah_log_reader *reader, bramah__mat_log *mat)
{
  const char *at = reader->missing;
  mat->missing = malloc((strlen(at) / 2 + 1) * sizeof *mat->missing);
  if (!mat->missing) return 0;
  while (*at) {
    char *end;
    const double value = strtod_l(at, &end, reader->c_locale);
    if (end > at && (*end == ' ' || !*end)) mat->missing[mat->n_missing++] = value;
    at += strcspn(at, " ");
    at += *at == ' ';
  }
  return 1;
}

static bramah_status add_column(bramah_log_reader *reader, const char *name, const char *unit, size_t series)
{
  bramah__mat_log *mat = reader->source;
  for (size_t i = 0; i < reader->n_columns; i++)
    if (strcmp(reader->names[i], name) == 0)
      return bramah__log_fail(reader, BRAMAH_E_KEY, name, 0, 0, "two variables of the file have this name");
  mat->of_column[reader->n_columns] = series;
  return bramah__log_add_column(reader, name, unit, 0);
}

static void add_unit(bramah_log_reader *reader, const char *unit)
{
  bramah__add_text(&reader->failure, *unit ? "are in '" : "have no unit");
  bramah__add_text(&reader->failure, unit);
  bramah__add_text(&reader->failure, *unit ? "'" : "");
}

/* Times of several groups are one column, so they must be in one unit. */
static bramah_status join_times(bramah_log_reader *reader, const unsigned char *has)
{
  const bramah__mat_log *mat = reader->source;
  const bramah__mat_series *first = NULL;
  for (size_t g = 0; g < mat->n_groups; g++) {
    if (!has[g]) continue;
    const bramah__mat_series *time = &mat->series[mat->group[g].time];
    if (!first) first = time;
    if (strcmp(first->unit, time->unit) == 0) continue;
    bramah__log_fail(reader, BRAMAH_E_UNIT, mat->group[g].name, 0, 0, "these times ");
    add_unit(reader, time->unit);
    bramah__add_text(&reader->failure, ", others of the file ");
    add_unit(reader, first->unit);
    return BRAMAH_E_UNIT;
  }
  return add_column(reader, "t", first->unit, SIZE_MAX);
}

/* Say why each variable that might have been meant is no column. */
static bramah_status fail_no_column(bramah_log_reader *reader)
{
  const bramah__mat_log *mat = reader->source;
  bramah__log_fail(reader, BRAMAH_E_EMPTY, NULL, 0, 0, "the file holds no vectors of numbers");
  for (size_t i = 0, n = 0; i < mat->n_series && n < 3; i++) {
    if (!mat->series[i].why_not) continue;
    bramah__add_text(&reader->failure, n++ ? "; '" : ": '");
    bramah__add_text(&reader->failure, mat->series[i].name);
    bramah__add_text(&reader->failure, "' ");
    bramah__add_text(&reader->failure, mat->series[i].why_not);
  }
  return BRAMAH_E_EMPTY;
}

static bramah_status choose_columns(bramah_log_reader *reader)
{
  bramah__mat_log *mat = reader->source;
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
    const bramah__mat_series *s = &mat->series[i];
    if (s->why_not || !has[s->group] || (n > 1 && s->is_time)) continue;
    if (s->variable->compression == MAT_COMPRESSION_ZLIB) mat->compressed = 1;
    status = add_column(reader, s->name, s->unit, i);
  }
  for (size_t g = 0; g < mat->n_groups; g++) {
    if (!has[g]) mat->group[g].n = 0;
    mat->all_rows += mat->group[g].n;
  }
  free(has);
  return !status && !reader->n_columns ? fail_no_column(reader) : status;
}

static bramah_status open_mat(bramah_log_reader *reader)
{
  uint64_t size;
  bramah_status status = check_whole(reader, &size);
  if (status) return status;
  bramah__mat_log *mat = reader->source = calloc(1, sizeof *mat);
  if (!mat) return bramah__log_fail_memory(reader);
  mat->size = size;
  reader->format.delimiter = ',';
  reader->format.decimal = '.';
  reader->format.no_header = reader->format.skip = 0;
  reader->format.units = BRAMAH_LOG_UNITS_HEADER;
  hush h;
  hush_begin(&h);
  status = find_missing(reader, mat) ? read_directory(reader, mat) : bramah__log_fail_memory(reader);
  hush_end(&h);
  return status ? status : choose_columns(reader);
}

static void close_mat(bramah_log_reader *reader)
{
  bramah__mat_log *mat = reader->source;
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
  free(mat->missing);
  free(mat);
}

/* ---- blocks ---- */

/* Bring the row into memory. */
static bramah_status fetch(bramah_log_reader *reader, bramah__mat_series *s, size_t row)
{
  if (row >= s->begin && row - s->begin < s->count) return BRAMAH_OK;
  const size_t size = Mat_SizeOfClass((int)s->variable->class_type);
  const int whole = s->variable->compression == MAT_COMPRESSION_ZLIB;
  const size_t block = whole || s->n < BRAMAH__MAT_BLOCK ? s->n : BRAMAH__MAT_BLOCK;
  if (!s->raw) s->raw = calloc(block, size);
  if (!s->raw) return bramah__log_fail_memory(reader);
  s->begin = whole ? 0 : row;
  s->count = s->n - s->begin < block ? s->n - s->begin : block;
  hush h;
  hush_begin(&h);
  const int failed =
      Mat_VarReadDataLinear(((bramah__mat_log *)reader->source)->file, s->variable, s->raw,
                            (int)(s->first + s->begin * s->stride), (int)s->stride, (int)s->count);
  hush_end(&h);
  if (!failed) return BRAMAH_OK;
  s->count = 0;
  return bramah__log_fail(reader, BRAMAH_E_TRUNCATED, s->name, row < INT_MAX ? (int)row + 1 : 0, 0,
                          "the rows from here on cannot be read: the file was cut, or is damaged");
}

static double value_of(const bramah__mat_series *s, size_t row)
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
static bramah_status read_time(const bramah_log_reader *reader, const bramah__mat_series *s, size_t row,
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

static bramah_status take_cell(bramah_log_reader *reader, size_t column, bramah__mat_series *s, size_t row)
{
  bramah_status status = fetch(reader, s, row);
  if (status) return status;
  const double value = value_of(s, row), factor = reader->columns[column].factor;
  const int is_time = column == reader->time_column;
  const bramah__mat_log *mat = reader->source;
  if (isnan(value)) return BRAMAH_OK;
  for (size_t i = 0; i < mat->n_missing; i++)
    if (value == mat->missing[i]) return BRAMAH_OK;
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

/* Time of the next row of a group. Without one the row comes at once. */
static bramah_status look_at(bramah_log_reader *reader, size_t group, int64_t *ns)
{
  bramah__mat_log *mat = reader->source;
  const size_t row = mat->group[group].row;
  bramah__mat_series *time = &mat->series[mat->group[group].time];
  int64_t scale = reader->clock.scale;
  if (reader->time_column == SIZE_MAX) { /* a log whose times nobody asked for: ns */
    const double factor = reader->columns[0].factor * 1e9;
    scale = factor >= 1.0 && factor < 1e14 ? llround(factor) : 1;
  }
  *ns = INT64_MIN;
  const bramah_status status = fetch(reader, time, row);
  if (!status && read_time(reader, time, row, scale, ns)) *ns = INT64_MIN;
  return status;
}

/* The groups that have a row at the earliest time; one alone if it has no time. */
static bramah_status choose_groups(bramah_log_reader *reader, unsigned char *here, size_t *first)
{
  bramah__mat_log *mat = reader->source;
  int64_t earliest = INT64_MAX, ns;
  *first = SIZE_MAX;
  memset(here, 0, mat->n_groups);
  for (size_t g = 0; g < mat->n_groups; g++) {
    if (mat->group[g].row == mat->group[g].n) continue;
    const bramah_status status = look_at(reader, g, &ns);
    if (status) return status;
    if (*first != SIZE_MAX && ns > earliest) continue;
    if (*first == SIZE_MAX || ns < earliest) memset(here, 0, mat->n_groups), *first = g;
    here[g] = ns != INT64_MIN || *first == g;
    earliest = ns;
  }
  return BRAMAH_OK;
}

static bramah_status next_row(bramah_log_reader *reader, int *end)
{
  bramah__mat_log *mat = reader->source;
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
    bramah__mat_series *s = &mat->series[of];
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
    if (strcasecmp(reader->names[i], "time") == 0 || strcmp(reader->names[i], "tout") == 0) return i;
  return SIZE_MAX;
}

static const char *why_not(const bramah_log_reader *reader, const char *name)
{
  const bramah__mat_log *mat = reader->source;
  for (size_t i = 0; i < mat->n_series; i++)
    if (strcmp(mat->series[i].name, name) == 0) return mat->series[i].why_not;
  return NULL;
}

static uint64_t bytes(const bramah_log_reader *reader)
{
  const bramah__mat_log *mat = reader->source;
  return mat->all_rows ? (uint64_t)((double)mat->size * ((double)mat->rows / (double)mat->all_rows))
                       : mat->size;
}

static const char *describe(const bramah_log_reader *reader)
{
  const bramah__mat_log *mat = reader->source;
  switch (Mat_GetVersion(mat->file)) {
  case MAT_FT_MAT4:
    return "MAT file of version 4";
  case MAT_FT_MAT73:
    return "MAT file of version 7.3";
  default:
    return mat->compressed ? "MAT file of version 7: compressed vectors are held in memory whole"
                           : "MAT file of version 5";
  }
}

const bramah__log_kind bramah__log_mat = {.takes = takes,
                                          .open = open_mat,
                                          .close = close_mat,
                                          .next = next_row,
                                          .bytes = bytes,
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

const bramah__log_kind bramah__log_mat = {.takes = takes, .open = open_mat, .close = close_mat};

#endif
