/* SPDX-License-Identifier: MIT */
#ifndef EMBEDDING_SIMULATOR_H
#define EMBEDDING_SIMULATOR_H

#include "wire.h"

#include <bramah/study.h>

typedef struct run_options {
  int64_t ticks;
  int lockstep;  /* 1: the plant waits for each command, as fast as it goes; 0: it goes by the clock */
  int estimates; /* 1: the law is fed estimates; 0: raw sensors */
  unsigned long seed;
} run_options;

/* Ticks between which something is wrong. */
typedef struct faults {
  int64_t lost[2];    /* the encoder is silent */
  int64_t delayed[2]; /* it comes 20 ms late */
  int64_t killed;     /* the controller is shot */
} faults;

faults faults_of(const run_options *o);

/* The plant process: steps the machine as it is, measures, obeys. Returns 0 or 1. */
int simulate(const bramah_study *study, const run_options *o, int socket, shared *s);

#endif
