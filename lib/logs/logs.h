/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What assessment and tuning use of logs beyond bramah/log.h: the true motion, simulated logs, and going on with a
 * stream. */
#ifndef BRAMAH_LIB_LOGS_LOGS_H
#define BRAMAH_LIB_LOGS_LOGS_H

#include "bramah/log.h"
#include "bramah/simulation.h"

/* ---- streams ---- */

/* Before the first row: go on after a row that was used before, where `skipped` rows lay before from_ns. starts
 * [n]: start_ns of the devices then. Rows of devices that count something from their first row (dates, drift,
 * wraps, resets) would be shifted by another start: that is E_TIME of the first row. n 0: not checked. Errors:
 * E_MEMORY. */
bramah_status bramah__log_stream_resume(bramah_log_stream *stream, int64_t after_ns, uint64_t skipped,
                                        size_t n, const int64_t *starts, bramah_diag *diag);

/* ---- the true motion, to compare with ---- */

typedef struct bramah__truth bramah__truth;

/* Open a file that has a column t[s], which ascends, and outputs of a plant by their names. Errors: those of
 * bramah_log_open and bramah_log_find, E_TIME, E_MEMORY. Allocates. */
bramah_status bramah__truth_open(const char *path, bramah_diag *diag, bramah__truth **out);
void bramah__truth_close(bramah__truth *truth); /* NULL allowed */

/* Column of that name, read in this unit. *column -1 if there is none of the name. Errors: E_UNIT (of another
 * dimension). */
bramah_status bramah__truth_find(const bramah__truth *truth, const char *name, const char *unit, long *column,
                                 bramah_diag *diag);

/* Go to the row nearest to a time; times ascend. It matches if it is not further away than the tolerance.
 * Memory does not grow. Errors: those of bramah_log_next, E_TIME (time goes back). */
bramah_status bramah__truth_row_at(bramah__truth *truth, int64_t time_ns, int64_t tolerance_ns, int *matched,
                                   bramah_diag *diag);
/* Value in a column of the row that matched; NaN if none did or the cell is empty. */
double bramah__truth_value(const bramah__truth *truth, size_t column);

/* ---- simulated logs: what the sensors of a study would have written of the motion of a plant ---- */

/* A stream of noise by its number. */
bramah_status bramah__noise_new(uint64_t seed, uint64_t stream, bramah_diag *diag, bramah_noise **out);
/* Put x [n] into a random order. */
void bramah__noise_shuffle(bramah_noise *noise, size_t n, double *x);

typedef struct bramah__simulated_log bramah__simulated_log;

/* Bind the sensors of a study to a plant made from the model; all three must outlive the log. The study's changes
 * of the machine are errors of the filter's model and not applied. The same seed gives the same bytes, and the
 * noise of a sensor does not depend on the other sensors. Errors: those of bramah_sensor_init and
 * E_REFERENCE, E_VALUE of the inputs that the study names; E_MEMORY. Allocates. */
bramah_status bramah__simulated_log_new(const bramah_study *study, const bramah_plant *plant, uint64_t seed,
                                        bramah_diag *diag, bramah__simulated_log **out);
/* Create (replace) the file, with the columns the study describes. Errors: E_FILE; E_UNSUPPORTED (a log that is
 * not one file with commas, a header and plain seconds). */
bramah_status bramah__simulated_log_create(bramah__simulated_log *log, const char *path, int digits,
                                           bramah_diag *diag);
/* The row of step k = 0, 1, ... at time_ns: commands u [inputs of the model], in force from now on, and the
 * samples that arrive now, `delay` after they were measured on the plant. */
bramah_status bramah__simulated_log_row(bramah__simulated_log *log, uint64_t k, int64_t time_ns,
                                        const double *u, bramah_diag *diag);
/* The same as a sample for a replay: in SI, with all digits; into the file, too, if there is one. */
bramah_status bramah__simulated_log_sample(bramah__simulated_log *log, uint64_t k, int64_t time_ns,
                                           const double *u, bramah_sample *sample, bramah_diag *diag);
/* Nothing comes from this sensor, or it comes again. */
void bramah__simulated_log_unplug(bramah__simulated_log *log, size_t sensor, int is_unplugged);
bramah_status bramah__simulated_log_flush(bramah__simulated_log *log, bramah_diag *diag);
/* Flush and close the file; frees in any case; NULL allowed. */
bramah_status bramah__simulated_log_close(bramah__simulated_log *log, bramah_diag *diag);
/* Its sensors [those of the study], counted up to the last row. */
const bramah_simulated_sensor *bramah__simulated_log_sensors(const bramah__simulated_log *log);

#endif
