/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How well values are known: what files state, and what holds where they state nothing. */
#ifndef BRAMAH_LIB_IO_UNCERTAINTY_H
#define BRAMAH_LIB_IO_UNCERTAINTY_H

#include "lib/io/schema.h"

/* How a value leads to a parameter: it is the parameter; the parameter is a product of which it is a factor; it is
 * one of several terms that the parameter scales together. */
enum { BRAMAH__LEAD_SAME = 1, BRAMAH__LEAD_FACTOR, BRAMAH__LEAD_TERM };

/* A value of a machine file with "± ..." behind it, and the parameter of the plant that it is or leads to. */
typedef struct bramah__uncertain {
  struct bramah__uncertain *next;
  const bramah__node *node; /* while it is being read */
  const char *parameter;
  double value, sigma; /* SI */
  int lead;            /* how it leads there */
} bramah__uncertain;

#endif
