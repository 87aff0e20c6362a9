/* SPDX-License-Identifier: MIT */
/* Whole replays for tests, and the NIS of a correction with its degrees of freedom. */
#ifndef BRAMAH_TEST_REPLAY_RUN_H
#define BRAMAH_TEST_REPLAY_RUN_H

#include "bramah/replay.h"

/* Takes the estimate at time_ns of the log, which is in the filter. */
typedef void (*replay_sink)(void *user, int64_t time_ns, int corrected);

/* To the end, each estimate to the sink. */
static inline bramah_status replay_run(bramah_replay *replay, replay_sink sink, void *user, bramah_diag *diag)
{
  for (;;) {
    int64_t time_ns;
    int corrected, end;
    const bramah_status status = bramah_replay_next(replay, &time_ns, &corrected, &end, diag);
    if (status != BRAMAH_OK || end) return status;
    sink(user, time_ns, corrected);
  }
}

static inline double filter_nis(const bramah_filter *filter, size_t *degrees_of_freedom)
{
  const bramah_filter_last last = bramah_filter_get_last(filter);
  *degrees_of_freedom = last.nis_dof;
  return last.nis;
}

#endif
