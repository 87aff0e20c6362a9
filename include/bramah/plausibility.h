/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a colleague would doubt on looking over machine, study and log: values that no machine has, units that are off
 * by a known factor, signs, sensors at another place than the study says, columns that stand still, steps that do not
 * go with the samples. Part of libbramah-tools.
 *
 *   bramah_plausibility *p;
 *   bramah_plausibility_new(session, n_logs, logs, NULL, &diag, &p);
 *   for (size_t i = 0; i < p->n; i++) ... bramah_diag_format(&p->doubt[i].diag, text, sizeof text) ...
 *   bramah_plausibility_free(p); */
#ifndef BRAMAH_PLAUSIBILITY_H
#define BRAMAH_PLAUSIBILITY_H

#include "bramah/session.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum bramah_doubt_kind {
  BRAMAH_DOUBT_VALUE = 0, /* of machine or study: none that machines have */
  BRAMAH_DOUBT_UNIT = 1,  /* a column, off by the factor between two units */
  BRAMAH_DOUBT_SIGN = 2,  /* a column, against the motion of the model */
  BRAMAH_DOUBT_PLACE = 3, /* a sensor that follows what the model does elsewhere; two that are exchanged */
  BRAMAH_DOUBT_STUCK = 4, /* a column that stands still while the model moves */
  BRAMAH_DOUBT_TIME = 5,  /* rates, steps and clocks that do not go together */
  BRAMAH_DOUBT_START = 6, /* the log begins elsewhere than the filter */
  BRAMAH_DOUBT_NOISE = 7, /* a column scatters by another standard deviation than is stated */
  BRAMAH_DOUBT_SIZE = 8,  /* there would be gigabytes of estimates */
  /* of a run: it is overestimated while parameters are learned (bramah_verdict) */
  BRAMAH_DOUBT_PROCESS_NOISE = 9
} bramah_doubt_kind;

/* One doubt. */
typedef struct bramah_doubt {
  bramah_doubt_kind kind;
  int certain;      /* 1: it cannot be right, whatever the machine does */
  double value;     /* what was measured: a ratio, a correlation, a value in SI */
  bramah_diag diag; /* file, line and column; the thing; what is wrong, and what to write instead */
} bramah_doubt;

/* All of them: what is certain first, else in the order of machine, columns, motion. */
typedef struct bramah_plausibility {
  size_t n, n_certain;
  const bramah_doubt *doubt; /* [n] */
} bramah_plausibility;

/* How much is looked at. */
typedef struct bramah_plausibility_options {
  int64_t from_ns, to_ns; /* part of the log; default all */
  /* 1: the model alone runs along with the first 20 s, 20,000 rows at most, to compare signs, places and units with its
   * motion; once more for each mistake of commands that is tried if it does not agree. Where commands are unknown the
   * filter runs over 2,000 rows instead, to compare the sensors with each other. Default 1; 0: what the
   * columns show by themselves */
  int motion;
} bramah_plausibility_options;
/* All of them at their defaults. */
BRAMAH_API void bramah_plausibility_options_default(bramah_plausibility_options *options);

/* Look at machine and study of a session and at a log (n 0: none) as bramah_log_stream_open takes it, which is read
 * from its begin on and must be a file. Mistakes that reading or stepping meets are none of these; what was
 * read before them is looked at. Allocates; the session is not changed. Errors: E_MEMORY. */
BRAMAH_API bramah_status bramah_plausibility_new(const bramah_session *session, size_t n,
                                                 const char *const *logs,
                                                 const bramah_plausibility_options *options,
                                                 bramah_diag *diag, bramah_plausibility **out);
/* The same of a machine alone. */
BRAMAH_API bramah_status bramah_plausibility_of_machine(const bramah_machine_plant *machine,
                                                        bramah_diag *diag, bramah_plausibility **out);
BRAMAH_API void bramah_plausibility_free(bramah_plausibility *plausibility); /* NULL allowed */

#ifdef __cplusplus
}
#endif
#endif
