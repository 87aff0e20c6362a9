/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quantities in two steps, reading and comparing the dimension, for callers that allow several dimensions or
 * let one value lend its unit to another. The locale is the C locale of the caller; nothing here changes a
 * locale. */
#ifndef BRAMAH_LIB_IO_QUANTITY_H
#define BRAMAH_LIB_IO_QUANTITY_H

#include <locale.h>
#include <stddef.h>

#include "bramah/units.h"

/* A number with its unit as read. Pointers go into the texts it was read from. */
typedef struct bramah__quantity {
  double si;
  bramah_dimension dimension;
  const char *number;
  size_t number_length;
  const char *unit; /* "" where there is none */
} bramah__quantity;

/* Where the unit of a "number unit" text begins (its end if there is none); NULL if no number is in
 * front. */
const char *bramah__unit_of(const char *text);

/* Read a quantity; a number alone takes the unit `lent` (may be NULL or ""). Errors: E_VALUE, E_UNIT. */
bramah_status bramah__quantity_read(locale_t c_locale, const char *text, const char *lent,
                                    bramah__quantity *out, bramah_diag *diag);

/* E_UNIT unless the quantity has the dimension of `expected` or of `other` (NULL: no other). */
bramah_status bramah__quantity_expect(const bramah__quantity *q, const char *expected, const char *other,
                                      bramah_diag *diag);

/* "a length is expected, for example '80 mm'", appended to the message, with the number of the text in
 * question. */
void bramah__add_expectation(bramah_diag *diag, const char *number, size_t number_length,
                             const char *expected, const char *other);

/* "a length" for "m", with the unit of an example ("mm"); NULL: it has no name. */
const char *bramah__unit_phrase(const char *unit, const char **example);

/* "; did you mean 'kgf/cm^2'?" behind the message, where the unit `text` is often written for one of the dimension
 * of `expected`. */
void bramah__add_meant(bramah_diag *diag, const char *text, const char *expected);

/* Name of the unit i that is known without a prefix, NULL behind the last one; and the letters it may have as
 * prefixes. */
const char *bramah__unit_name(size_t i);
const char *bramah__unit_prefixes(size_t i);

/* SI unit of the dimension i that has a name, "1" the first; NULL behind the last one. */
const char *bramah__unit_named(size_t i);

/* 1 if two dimensions are the same. */
int bramah__same_dimension(bramah_dimension a, bramah_dimension b);

#endif
