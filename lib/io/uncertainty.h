/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How well values are known: what files state, and what holds where they state nothing. */
#ifndef BRAMAH_LIB_IO_UNCERTAINTY_H
#define BRAMAH_LIB_IO_UNCERTAINTY_H

#include "lib/io/schema.h"

/* A value of a machine file with "± ..." behind it, and the parameter of the plant that it is or leads to. */
typedef struct bramah__uncertain {
  struct bramah__uncertain *next;
  const bramah__node *node; /* while it is being read */
  const char *parameter;
  double value, sigma; /* SI */
  int lead;            /* how it leads there; uncertainty.c */
} bramah__uncertain;

/* "30 %" of the text "1500 MPa ± 30 %" (or "+-"), NULL: it has none; what stands before it in *front, in the pool if it
 * is not all of the text; NULL: no memory. */
const char *bramah__uncertainty_split(bramah__pool *pool, const char *text, const char **front);

/* The number of an uncertainty that is a share ("30 %") or 'fixed' (0); otherwise 0 is returned. */
int bramah__uncertainty_share(const bramah__reader *reader, const char *text, double *share);

/* Note the uncertainty `text` ("30 %") of a value that has been read. Errors: E_VALUE (none may stand here: says
 * where; negative), E_UNIT, E_MEMORY. */
bramah_status bramah__uncertainty_read(bramah__reader *reader, const bramah__item *item, const char *text,
                                       const bramah__quantity *value);

#endif
