/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of a look at machine, study and log. plausibility.c is the whole, plausibility_doubts.c has the list and the
 * places, plausibility_values.c looks at machine and study, plausibility_columns.c at the columns of the log,
 * plausibility_motion.c at how they go with the motion of the model, plausibility_filter.c at how they go with each other
 * where there is none. */
#ifndef BRAMAH_LIB_ASSESS_PLAUSIBILITY_H
#define BRAMAH_LIB_ASSESS_PLAUSIBILITY_H

#include "bramah/plausibility.h"
#include "bramah/replay.h"
#include "lib/io/fail.h"
#include "lib/io/session.h"
#include "lib/io/yaml.h"

/* What feeds an input or a sensor, over the whole log. */
typedef struct bramah__column {
  bramah_log_feed feed;
  const char *what; /* input or sensor */
  const char *si;   /* its unit */
  char header[256]; /* "p1[bar]", as it is in the log */
  double declared;  /* SI per unit of the header; 0: the study says how it is to be read */
  const char *file; /* its log, with line and column of the header */
  int line, position;
  uint64_t n;         /* cells */
  double least, most; /* SI */
  double last;
  int64_t last_ns, interval_ns;  /* of the last cell; usual time between two */
  uint64_t still, longest_still; /* cells in a row that are the same, the last and the most */
  int64_t still_from_ns, longest_from_ns;
  int still_line, longest_line;
  double scatter; /* standard deviation from sample to sample, by second differences; NaN: too few */
  double lowest;  /* below it are 5 % of the first rows */
  double middle;  /* their median */
  int is_doubted; /* 1: something was said of it */
} bramah__column;

typedef struct bramah__look {
  const bramah_session *session; /* NULL: a machine alone */
  const bramah_machine_plant *machine;
  const bramah_study *study; /* NULL: none */
  bramah_plausibility_options options;
  bramah__source *machine_file, *study_file; /* for places; NULL: they cannot be read */
  bramah_log_stream *log;                    /* keeps the names of files and columns */
  bramah_doubt *doubts;
  size_t n_doubts;
  bramah__column *columns; /* [n_slots] inputs, then sensors */
  size_t n_inputs, n_slots;
  uint64_t rows; /* of the whole log */
  int64_t first_ns, end_ns, interval_ns;
  const char *time_column, *time_file, *time_unit;
  int time_line, time_position;
  double time_rate; /* [Hz] of a counter of samples; 0: times */
  /* The first rows. */
  size_t n_kept;
  int64_t *time_ns; /* [n_kept] */
  double *value;    /* [n_kept x n_slots] NaN: no cell; inputs hold */
} bramah__look;

enum { BRAMAH__MOST_DOUBTS = 100, BRAMAH__MOST_KEPT = 20000 };
#define BRAMAH__KEPT_NS INT64_C(20000000000)

/* A doubt about the value at a path of the machine file, or of the study's where it begins with "study.": at the place
 * where it is stated, a change of the study included, or at the nearest key above it. */
void bramah__doubt_value(bramah__look *look, bramah_doubt_kind kind, int certain, double value,
                         const char *path, const char *format, ...) BRAMAH__PRINTF(6, 7);
/* Such a path, written as printf does; it lasts as long as the call it is an argument of. */
typedef struct bramah__path {
  char text[256];
} bramah__path;
bramah__path bramah__path_of(const char *format, ...) BRAMAH__PRINTF(1, 2);
#define BRAMAH__PATH(...) (bramah__path_of(__VA_ARGS__).text)
/* A doubt about a column, at its place in the header of the log; where the study says how it is read, there. */
void bramah__doubt_column(bramah__look *look, bramah_doubt_kind kind, int certain, double value, size_t slot,
                          const char *format, ...) BRAMAH__PRINTF(6, 7);
/* At a place of its own. */
void bramah__doubt_at(bramah__look *look, bramah_doubt_kind kind, int certain, double value, const char *file,
                      int line, int position, const char *thing, const char *format, ...)
    BRAMAH__PRINTF(9, 10);

void bramah__look_at_values(bramah__look *look);
bramah_status bramah__look_at_columns(bramah__look *look, size_t n, const char *const *logs,
                                      bramah_diag *diag);
bramah_status bramah__look_at_motion(bramah__look *look, bramah_diag *diag);
/* Where commands are unknown, instead of the motion. */
void bramah__look_at_filter(bramah__look *look);

/* Number k of the units that are written for an SI unit, and what 1 of that unit is in it; NULL: no more. */
const char *bramah__unit_at(const char *si, size_t k, double *per_si);
/* Say of a column that it is `ratio` times what `why` expects: the unit to write instead. */
void bramah__doubt_unit(bramah__look *look, size_t slot, int certain, double ratio, const char *why);
/* The highest pressure [Pa] that a machine is fed with, and the name of the supply, "" for a pump line; 0: none is known. */
double bramah__highest_supply(const bramah_machine *machine, const char **name);
/* Does a pressure of which this is the lowest seem to be one over the atmosphere, by the tanks of the machine? *below: by how much
 * it is below the tank [Pa]. */
int bramah__seems_gauge(const bramah_machine *machine, double lowest, double *below);
/* If numbers are `ratio` times what they should be: the unit they seem to be in, of those used for this SI unit, within
 * a factor of `tolerance`; NULL: none. declared: SI per unit that they were read in. */
const char *bramah__unit_for(const char *si, double declared, double ratio, double tolerance);

#endif
