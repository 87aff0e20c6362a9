/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values with units, as files have them: "80 mm", "7.6 MPa", "60 deg", "0.5 rad/s^2/Hz^0.5". Part of
 * libbramah-tools. Reading does not depend on the locale. */
#ifndef BRAMAH_UNITS_H
#define BRAMAH_UNITS_H

#include "bramah/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Exponents of m, kg, s, V and rad (an angle is kept apart from a pure number so that mistakes show), in
 * halves: {2, 0, -2, 0, 0} is m/s. */
typedef struct bramah_dimension {
  signed char m, kg, s, volt, rad;
} bramah_dimension;

/* Parse a unit expression: names with prefixes (m mm cm km, kg g t, s ms us min h, N kN, Pa kPa MPa GPa bar,
 * V mV, rad mrad deg rev, Hz kHz, L mL, J kJ, W, rpm, ppm, 1) joined by * / . and spaces, with exponents ^2,
 * ^-1, ^0.5 and parentheses. *factor times a value in that unit is the value in SI. Everything after a /
 * belongs below the line until the next * or /: "m/s/V" is m/(s V). Errors: E_UNIT, message names what was
 * not understood and suggests the nearest unit. */
BRAMAH_API bramah_status bramah_unit_parse(const char *text, double *factor, bramah_dimension *dimension,
                                           bramah_diag *diag);

/* Parse "number unit" and convert to SI; the dimension must be that of the unit expression `expected` ("m",
 * "Pa", "rad/s"). A number alone is accepted if it is 0 or `expected` is "1". Errors: E_VALUE (no number, not
 * finite), E_UNIT (no unit, unknown unit, wrong dimension: message says what was expected with an example).
 */
BRAMAH_API bramah_status bramah_quantity_parse(const char *text, const char *expected, double *si,
                                               bramah_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
