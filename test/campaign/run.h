/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One replay of the campaign, and what came of it. */
#ifndef BRAMAH_TEST_CAMPAIGN_RUN_H
#define BRAMAH_TEST_CAMPAIGN_RUN_H

#include "test/campaign/truth.h"

enum { CAMPAIGN_TEXT = 96 };

/* Times [s] of the log; infinite: never. */
typedef struct campaign_outcome {
  int failed;        /* the replay ended with an error */
  int contradicted;  /* by the verdict at the end */
  int doubted;       /* there, for process noise that is not there */
  double share;      /* of the time from the fault on that the worst output is outside 3.92 sigma */
  double worst;      /* largest error of it, in sigmas */
  double wrong_at;   /* when that output first is */
  double flagged_at; /* first flag after the fault began, whoever raised it */
  double false_at;   /* first flag before that; of runs without a fault: any */
  double nees;       /* mean per state, over the whole run */
  size_t hidden;     /* outputs that the run says sensors could move out of their bands unnoticed */
  int is_hidden;     /* all those that are confidently wrong are among them, by the sensor at fault */
  char output[CAMPAIGN_TEXT], flag[CAMPAIGN_TEXT]; /* the worst one; what the first flag says */
} campaign_outcome;

/* More than so much of the time: confidently wrong. */
static const double campaign_wrong_share = 0.1, campaign_wrong_sigmas = 3.92;

bramah_status campaign_run(const campaign_truth *truth, const campaign_fault *fault, bramah_diag *diag,
                           campaign_outcome *out);

#endif
