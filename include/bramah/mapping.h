/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which column of a log is which sensor or command of a machine, in what unit and with which sign: found by how the columns
 * go with the motion of the model, each with its evidence, as a proposal for the study. Part of libbramah-tools.
 *
 *   bramah_mapping *m;
 *   bramah_mapping_new(&machine, "log.csv", NULL, &diag, &m);
 *   for (size_t i = 0; i < m->n; i++) ... m->column[i].role, .sensor, .unit, .sign, .correlation, .doubt ...
 *   bramah_mapping_free(m); */
#ifndef BRAMAH_MAPPING_H
#define BRAMAH_MAPPING_H

#include "bramah/session.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum bramah_mapped_role {
  BRAMAH_MAPPED_TO_NOTHING = 0, /* what it is was not found; without a doubt: another time */
  BRAMAH_MAPPED_TO_TIME = 1,
  BRAMAH_MAPPED_TO_INPUT = 2,
  BRAMAH_MAPPED_TO_SENSOR = 3
} bramah_mapped_role;

/* A column of the log and what it seems to be. Texts live as long as the mapping. */
typedef struct bramah_mapped_column {
  const char *name, *header_unit; /* as in the log; header_unit "": there is none */
  bramah_mapped_role role;
  const char *input; /* NULL: none */
  /* kind, at, axis; sigma: its scatter from sample to sample, period and delay as found */
  bramah_sensor_options sensor;
  const char *si; /* unit of the time, input or sensor */
  const char *
      unit; /* that of the column: the header's if it is known, else the one that fits best; NULL: none fits */
  double per_unit;    /* [si] 1 of the column, without its sign */
  int sign;           /* -1: it counts against the model */
  double offset;      /* [si] to be added, if the machine began where its file says; 0: none is needed */
  int is_gauge;       /* a pressure below that of the tank: it seems to be that over the atmosphere */
  double correlation; /* of its changes over 0.5 s with those of the model, -1 to 1; inputs, time: NaN */
  double ratio;       /* of the sizes of these changes, in `unit`: 1 is as the model has them */
  char second[80];    /* "gyro at jib": what goes with it next best; "": nothing */
  double second_correlation;
  char doubt[200]; /* "": it is taken for sure */
} bramah_mapped_column;

/* All of them, in the order of the log. */
typedef struct bramah_mapping {
  size_t n;
  const bramah_mapped_column *column; /* [n] */
  size_t n_doubtful;
  size_t n_more;   /* columns behind the first 400: not looked at */
  size_t n_runs;   /* of the model, with commands tried */
  double duration; /* [s] of the log that was looked at */
} bramah_mapping;

/* Look at the first 20 s of a log (40,000 rows at most), which is any file that bramah_log_open reads (dbc: of CAN frames what is in
 * them, as in bramah_log_format; NULL: none): the column that is called time and has a unit or dates, else the one that only
 * goes forward at even steps is the time; commands are columns that keep their values and, as inputs of the model, make it
 * move as the other columns do: each column is tried for each input, with both signs, first the one that explains most; the
 * others are assigned to sensors at all places of the machine so that the sum of -log(1 - correlation^2), less what units,
 * levels and places speak against, is largest. The model starts as its file says and inputs without a column have the first value
 * the file plans. The machine must have a model (not an FMU); it is not stepped, but a copy of it. Allocates. Errors: those of bramah_log_open and
 * bramah_log_next; E_TIME (no column that can be the time), E_EMPTY (too few rows), E_UNSUPPORTED, E_MEMORY. */
BRAMAH_API bramah_status bramah_mapping_new(const bramah_machine_plant *machine, const char *log,
                                            const char *dbc, bramah_diag *diag, bramah_mapping **out);
BRAMAH_API void bramah_mapping_free(bramah_mapping *mapping); /* NULL allowed */

#ifdef __cplusplus
}
#endif
#endif
