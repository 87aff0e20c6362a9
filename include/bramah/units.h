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

/* Parse a unit expression: names with prefixes joined by * / . and spaces, with exponents ^2, ², ^-1, ^0.5 and
 * parentheses. Names: 1 % ppm; m L l cc (cm^3); g t; s min h Hz; rad deg ° rev rpm; N daN Nm J W Pa bar V A; gn kgf
 * kp at (kgf/cm^2) atm PS; in ft lb slug lbf psi ksi hp gal gpm (US gallons); lpm (L/min); St P (viscosities). Prefixes
 * where they are usual: mm cm km kg ms us kN kPa MPa GPa mbar mV mA mrad kHz mL kJ kW cSt cP. *factor times a value in
 * that unit is the value in SI. Everything after a / belongs below the line until the next * or /: "m/s/V" is
 * m/(s V). Errors: E_UNIT, message names what was not understood and suggests what is meant or the nearest unit.
 *
 * Why not UDUNITS-2 (2.2.28): it reads Pa^0.5 as Pa^0 * 5, without an error, and knows no fractional powers; for it
 * an angle is a number (rpm and Hz are one dimension) and PS a petasiemens; deg, gpm and Nm are unknown, 47.1 cm^3
 * comes out one rounding away from the number 47.1e-6; its parser and error handler are process-global, it prints,
 * its scanner exits, it reads numbers by the process's locale, and loads 110 KB of XML at run time. Every factor is
 * compared with UDUNITS' values in a test (test/unit/test_udunits.c). */
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
