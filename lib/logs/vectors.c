/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns and rows of logs that hold whole vectors. Vectors are read by blocks of rows, so memory does not grow with the
 * log, but for those that can be read as a whole only. */
#define _GNU_SOURCE /* strdup */
#include "lib/logs/vectors.h"

#include "lib/base/text.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char out_of_memory[] = "out of memory"; /* shared: never freed */

/* What a time is called where the study does not say it: the first one that is there. */
static const char *const time_names[] = {"t", "time", "Time", "tout", "TIME", "timestamp"};
enum { TIME_NAMES = sizeof time_names / sizeof time_names[0] };

size_t bramah__element_size(bramah__element element)
{
  static const unsigned char sizes[] = {8, 4, 1, 1, 2, 2, 4, 4, 8, 8};
  return sizes[element];
}

const char *bramah__time_name(size_t k) { return k < TIME_NAMES ? time_names[k] : NULL; }

int bramah__is_time_name(const char *name)
{
  for (size_t i = 0; i < TIME_NAMES; i++)
    if (strcmp(name, time_names[i]) == 0) return 1;
  return 0;
}

const char *bramah__unit_of_time(const char *text)
{
  static const char *const names[][2] = {{"seconds", "s"},       {"milliseconds", "ms"},
                                         {"microseconds", "us"}, {"nanoseconds", "ns"},
                                         {"minutes", "min"},     {"hours", "h"}};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcmp(text, names[i][0]) == 0) return names[i][1];
  return text;
}

/* ---- vectors ---- */

void *bramah__vectors_grow(void *list, size_t n, size_t size)
{
  return n & (n - 1) ? list : realloc(list, (n ? 2 * n : 1) * size); /* whenever n is a power of two */
}

bramah__vector *bramah__vectors_add(bramah__vectors *all, const char *name, const char *unit, void *source,
                                    size_t group)
{
  bramah__vector *list = bramah__vectors_grow(all->list, all->n, sizeof *list);
  if (!list) return NULL;
  all->list = list;
  bramah__vector *v = &list[all->n];
  *v = (bramah__vector){.source = source, .group = group, .stride = 1, .name = strdup(name)};
  v->unit = strdup(unit ? unit : "");
  if (!v->name || !v->unit) return free(v->name), free(v->unit), NULL;
  all->n++;
  return v;
}

void bramah__vectors_refuse(bramah__vector *s, const char *format, ...)
{
  char text[500];
  va_list list;
  if (s->why_not) return;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  s->why_not = strdup(text);
  if (!s->why_not) s->why_not = (char *)(uintptr_t)out_of_memory;
}

size_t bramah__vectors_new_group(bramah__vectors *all, const char *name)
{
  bramah__vector_group *list = bramah__vectors_grow(all->group, all->n_groups, sizeof *list);
  if (!list) return SIZE_MAX;
  all->group = list;
  list[all->n_groups] = (bramah__vector_group){.name = strdup(name), .time = SIZE_MAX};
  return list[all->n_groups].name ? all->n_groups++ : SIZE_MAX;
}

void bramah__vectors_free(bramah__vectors *all)
{
  for (size_t i = 0; i < all->n; i++) {
    bramah__vector *v = &all->list[i];
    free(v->name);
    free(v->unit);
    if (v->why_not != out_of_memory) free(v->why_not);
    free(v->raw);
  }
  for (size_t i = 0; i < all->n_groups; i++) free(all->group[i].name);
  free(all->list);
  free(all->group);
  free(all->of_column);
  free(all->here);
}

double bramah__vectors_share(const bramah__vectors *all)
{
  return all->all_rows ? (double)all->rows / (double)all->all_rows : 1.0;
}

/* ---- groups ---- */

static const char *last_part(const char *name)
{
  for (const char *at = name; *at; at++)
    if (*at == '.' || *at == '/') name = at + 1;
  return name;
}

/* The time of a group and its length. Groups without columns vanish; with others a group needs a time. */
static void settle_groups(bramah__vectors *all)
{
  size_t kept = 0;
  for (size_t at = 0; at < all->n_groups; at++) {
    bramah__vector_group *g = &all->group[at];

    /* If it was not given a time: a vector called so. */
    for (size_t k = 0; g->time == SIZE_MAX && k < TIME_NAMES; k++)
      for (size_t i = 0; g->time == SIZE_MAX && i < all->n; i++) {
        bramah__vector *s = &all->list[i];
        if (s->group != at || s->why_not || strcmp(last_part(s->name), time_names[k]) != 0) continue;
        g->time = i;
        g->n = s->n;
        s->is_time = 1;
      }

    /* All its vectors must be as long as its time; where it has none, as the longest. */
    const char *longest = g->time == SIZE_MAX ? "" : all->list[g->time].name;
    for (size_t i = 0; g->time == SIZE_MAX && i < all->n; i++) {
      const bramah__vector *s = &all->list[i];
      if (s->group == at && !s->why_not && s->n > g->n) g->n = s->n, longest = s->name;
    }
    size_t columns = 0;
    for (size_t i = 0; i < all->n; i++) {
      bramah__vector *s = &all->list[i];
      if (s->group != at) continue;
      if (!s->why_not && s->n != g->n)
        bramah__vectors_refuse(s, "has %zu rows where '%.60s' has %zu", s->n, longest, g->n);
      columns += !s->why_not;
    }
    kept += columns > (size_t)(g->time != SIZE_MAX);
  }
  for (size_t i = 0; kept > 1 && i < all->n; i++)
    if (all->group[all->list[i].group].time == SIZE_MAX)
      bramah__vectors_refuse(&all->list[i],
                             "has no time, where other variables of the file have times of their own");
}

static bramah_status add_column(bramah_log_reader *reader, const char *name, const char *unit, size_t series)
{
  bramah__vectors *all = reader->source;
  if (bramah__log_index(reader, name) != SIZE_MAX)
    return bramah__log_fail(reader, BRAMAH_E_KEY, name, 0, 0, "two variables of the file have this name");
  all->of_column[reader->n_columns] = series;
  return bramah__log_add_column(reader, name, unit, 0);
}

/* Times of several groups are one column, so they must be in one unit. */
static bramah_status join_times(bramah_log_reader *reader, const unsigned char *has)
{
  const bramah__vectors *all = reader->source;
  const bramah__vector *first = NULL;
  for (size_t g = 0; g < all->n_groups; g++) {
    if (!has[g]) continue;
    const bramah__vector *time = &all->list[all->group[g].time];
    if (!first) first = time;
    if (strcmp(first->unit, time->unit) == 0) continue;
    char says[2][64];
    for (int i = 0; i < 2; i++) {
      const char *unit = i ? first->unit : time->unit;
      snprintf(says[i], sizeof says[i], *unit ? "are in '%.48s'" : "have no unit%s", unit);
    }
    return bramah__log_fail(reader, BRAMAH_E_UNIT, all->group[g].name, 0, 0,
                            "these times %s, others of the file %s", says[0], says[1]);
  }
  return add_column(reader, "t", first->unit, SIZE_MAX);
}

bramah_status bramah__vectors_settle(bramah_log_reader *reader)
{
  bramah__vectors *all = reader->source;
  settle_groups(all);
  reader->format.delimiter = ',';
  reader->format.decimal = '.';
  reader->format.no_header = reader->format.skip = 0;
  reader->format.units = BRAMAH_LOG_UNITS_HEADER;
  for (size_t i = 0; i < all->n; i++)
    if (all->list[i].why_not == out_of_memory) return bramah__log_fail_memory(reader);
  unsigned char *has = calloc(all->n_groups + 1, 1);
  all->of_column = calloc(all->n + 2, sizeof *all->of_column);
  all->here = calloc(all->n_groups + 1, 1);
  if (!has || !all->of_column || !all->here) return free(has), bramah__log_fail_memory(reader);
  size_t n = 0;
  for (size_t i = 0; i < all->n; i++)
    if (!all->list[i].why_not && !all->list[i].is_time) has[all->list[i].group] = 1;
  for (size_t g = 0; g < all->n_groups; g++) n += has[g];
  bramah_status status = n > 1 ? join_times(reader, has) : BRAMAH_OK;
  for (size_t i = 0; !status && i < all->n; i++) {
    const bramah__vector *s = &all->list[i];
    if (s->why_not || !has[s->group] || (n > 1 && s->is_time)) continue;
    status = add_column(reader, s->name, s->unit, i);
  }
  for (size_t g = 0; g < all->n_groups; g++) {
    if (!has[g]) all->group[g].n = 0;
    all->all_rows += all->group[g].n;
  }
  free(has);
  if (status || reader->n_columns) return status;

  /* Say why each variable that might have been meant is no column. */
  bramah_diag *diag = &reader->failure;
  bramah__log_fail(reader, BRAMAH_E_EMPTY, NULL, 0, 0, "the file holds no vectors of numbers");
  for (size_t i = 0, said = 0; i < all->n && said < 3; i++) {
    const bramah__vector *s = &all->list[i];
    const size_t used = strlen(diag->message);
    if (s->why_not)
      snprintf(diag->message + used, sizeof diag->message - used, "%s '%s' %s", said++ ? ";" : ":", s->name,
               s->why_not);
  }
  return BRAMAH_E_EMPTY;
}

/* ---- blocks ---- */

/* Bring the row into memory. */
static bramah_status fetch(bramah_log_reader *reader, bramah__vector *s, size_t row)
{
  if (row >= s->begin && row - s->begin < s->count) return BRAMAH_OK;
  const size_t block = s->whole || s->n < BRAMAH__BLOCK ? s->n : BRAMAH__BLOCK;
  if (!s->raw) s->raw = calloc(block, bramah__element_size(s->element));
  if (!s->raw) return bramah__log_fail_memory(reader);
  s->begin = s->whole ? 0 : row;
  s->count = s->n - s->begin < block ? s->n - s->begin : block;
  if (((bramah__vectors *)reader->source)->read(reader, s)) return BRAMAH_OK;
  s->count = 0;
  if (reader->failure.status) return reader->failure.status; /* the format knows why */
  return bramah__log_fail(reader, BRAMAH_E_TRUNCATED, s->name, row < INT_MAX ? (int)row + 1 : 0, 0,
                          "the rows from here on cannot be read: the file was cut, or is damaged");
}

static double value_of(const bramah__vector *s, size_t row)
{
  const unsigned char *at = s->raw + (row - s->begin) * bramah__element_size(s->element);
  switch (s->element) {
  case BRAMAH__F64:
    return *(const double *)(const void *)at;
  case BRAMAH__F32:
    return (double)*(const float *)(const void *)at;
  case BRAMAH__I8:
    return *(const int8_t *)at;
  case BRAMAH__U8:
    return *at;
  case BRAMAH__I16:
    return *(const int16_t *)(const void *)at;
  case BRAMAH__U16:
    return *(const uint16_t *)(const void *)at;
  case BRAMAH__I32:
    return *(const int32_t *)(const void *)at;
  case BRAMAH__U32:
    return *(const uint32_t *)(const void *)at;
  case BRAMAH__I64:
    return (double)*(const int64_t *)(const void *)at;
  case BRAMAH__U64:
    return (double)*(const uint64_t *)(const void *)at;
  }
  return NAN;
}

/* ---- times ---- */

/* A time in units of the clock: ns, or counts. Whole numbers of 64 bits stay exact. */
static bramah_status read_time(const bramah_log_reader *reader, const bramah__vector *s, size_t row,
                               int64_t scale, int64_t *out)
{
  const double value = value_of(s, row);
  const int wide = s->element == BRAMAH__I64 || (s->element == BRAMAH__U64 && value < 9.2e18);
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
  bramah__vectors *all = reader->source;
  int64_t earliest = INT64_MAX, scale = reader->clock.scale;
  if (reader->time_column == SIZE_MAX) { /* a log whose times nobody asked for: ns */
    const double factor = reader->units[0].factor * 1e9;
    scale = factor >= 1.0 && factor < 1e14 ? llround(factor) : 1;
  }
  *first = SIZE_MAX;
  memset(here, 0, all->n_groups);
  for (size_t g = 0; g < all->n_groups; g++) {
    const size_t row = all->group[g].row;
    if (row == all->group[g].n) continue;
    bramah__vector *time = &all->list[all->group[g].time];
    int64_t ns;
    const bramah_status status = fetch(reader, time, row);
    if (status) return status;
    if (read_time(reader, time, row, scale, &ns)) ns = INT64_MIN;
    if (*first != SIZE_MAX && ns > earliest) continue;
    if (*first == SIZE_MAX || ns < earliest) memset(here, 0, all->n_groups), *first = g;
    here[g] = ns != INT64_MIN || *first == g;
    earliest = ns;
  }
  return BRAMAH_OK;
}

static bramah_status take_cell(bramah_log_reader *reader, size_t column, bramah__vector *s, size_t row)
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
  if (status) bramah__log_bad_number(reader, column, status, value);
  return BRAMAH_OK;
}

bramah_status bramah__vectors_next(bramah_log_reader *reader, int *end)
{
  bramah__vectors *all = reader->source;
  const int joined = all->of_column[0] == SIZE_MAX;
  size_t first = joined ? SIZE_MAX : all->list[all->of_column[0]].group;
  bramah_status status = BRAMAH_OK;
  reader->row_done = 0; /* a block that cannot be read is no fault of a row */
  if (joined)
    status = choose_groups(reader, all->here, &first);
  else
    all->here[first] = 1;
  *end = !status && (first == SIZE_MAX || all->group[first].row == all->group[first].n);
  if (status || *end) return status;
  if (all->row < INT_MAX) all->row++;
  reader->row_line = all->row;
  for (size_t i = 0; !status && i < reader->n_columns; i++) { /* cells of the groups that have this row */
    const size_t of = all->of_column[i] == SIZE_MAX ? all->group[first].time : all->of_column[i];
    bramah__vector *s = &all->list[of];
    reader->values[i] = NAN;
    reader->present[i] = 0;
    if (!reader->columns[i].ignored && all->here[s->group])
      status = take_cell(reader, i, s, all->group[s->group].row);
  }
  for (size_t g = 0; !status && g < all->n_groups; g++)
    if (all->here[g]) all->group[g].row++, all->rows++;
  reader->row_done = !status;
  return status;
}

/* A path without its slash, or its last part if that is one column's only. */
static size_t path_of(const bramah_log_reader *reader, const char *name)
{
  size_t found = SIZE_MAX;
  for (size_t i = 0; i < reader->n_columns; i++) {
    const char *has = reader->columns[i].name, *slash = strrchr(has, '/');
    if (*has == '/' && strcmp(has + 1, name) == 0) return i;
    if (!slash || strcmp(slash + 1, name) != 0) continue;
    if (found != SIZE_MAX) return SIZE_MAX;
    found = i;
  }
  return found;
}

size_t bramah__vectors_stand_in(const bramah_log_reader *reader, const char *name)
{
  const bramah__vectors *all = reader->source;
  if (strcmp(name, "t") != 0) return path_of(reader, name);
  for (size_t i = 0; i < reader->n_columns; i++)
    if (all->of_column[i] != SIZE_MAX && all->list[all->of_column[i]].is_time) return i;
  return SIZE_MAX;
}

const char *bramah__vectors_why_not(const bramah_log_reader *reader, const char *name)
{
  const bramah__vectors *all = reader->source;
  for (size_t i = 0; i < all->n; i++) {
    const char *has = all->list[i].name, *slash = strrchr(has, '/');
    const int is_meant = strcmp(has, name) == 0 || (slash && strcmp(slash + 1, name) == 0) ||
                         (*has == '/' && strcmp(has + 1, name) == 0);
    if (is_meant && all->list[i].why_not) return all->list[i].why_not;
  }
  return NULL;
}
