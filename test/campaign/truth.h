/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Machines of the campaign, their true motions under process noise, and the faults of their sensors. */
#ifndef BRAMAH_TEST_CAMPAIGN_TRUTH_H
#define BRAMAH_TEST_CAMPAIGN_TRUTH_H

#include "bramah/session.h"

/* A machine with its study: what all runs on it share. */
typedef struct campaign_machine {
  const char *name;
  double command;  /* [V] largest one */
  int64_t step_ns; /* 0: that of the machine */
  int every;       /* steps between looks at the errors */
  bramah_session *session;
  size_t n_sensors, n_outputs;
  size_t *output; /* [n_outputs] of the plant: those shown with a sigma */
} campaign_machine;

enum { CAMPAIGN_MACHINES = 3 };
extern campaign_machine campaign_machines[CAMPAIGN_MACHINES];
bramah_status campaign_open(campaign_machine *machine, bramah_diag *diag);
void campaign_close(campaign_machine *machine);

/* A motion: row k is at k steps. */
typedef struct campaign_truth {
  const campaign_machine *machine;
  uint64_t key;
  size_t rows, width; /* outputs of the plant */
  double *output;     /* [rows x width] */
  double *input;      /* [rows x n_input] */
  double *reading;    /* [rows x n_sensors] without noise and faults */
  double *noise;      /* [rows x n_sensors] noise, and what errors of sensors add where they are drawn */
} campaign_truth;

extern double campaign_overestimated; /* by how much filters overestimate the process noise of the truth; 1 */

/* Under random commands, process noise and a start drawn from what the filter assumes; uncertain: with parameters and
 * errors of sensors drawn from the budget too. */
bramah_status campaign_simulate(const campaign_machine *machine, uint64_t key, double seconds, int uncertain,
                                bramah_diag *diag, campaign_truth *out);
void campaign_forget(campaign_truth *truth);

typedef enum campaign_kind {
  FAULT_NONE,
  FAULT_BIAS,
  FAULT_RAMP,
  FAULT_GAIN,
  FAULT_DELAY,
  FAULT_STUCK,
  FAULT_DROPOUT, /* no samples */
  FAULT_ZERO,    /* reads zero */
  FAULT_ABSURD,  /* up to 1e308 */
  FAULT_NOISE,   /* so many times as large */
  FAULT_SIGN,
  FAULT_SPIKES,
  FAULT_CLIPPED, /* does not go beyond where it was at the start */
  N_FAULTS
} campaign_kind;
extern const char *const campaign_kinds[N_FAULTS];

/* What goes wrong with a sensor. */
typedef struct campaign_fault {
  campaign_kind kind;
  size_t sensor, begin, end; /* rows from begin on, before end */
  double size;               /* sigmas; share; s; times, as the kind has it */
} campaign_fault;
campaign_fault campaign_draw_fault(const campaign_truth *truth, uint64_t key);

/* What the sensors tell at row k; NaN: nothing. held [n_sensors]: what the faulty one showed last, kept between calls. */
void campaign_measure(const campaign_truth *truth, const campaign_fault *fault, size_t k, double *held,
                      double *y);

#endif
