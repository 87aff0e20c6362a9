/* SPDX-License-Identifier: MIT */
/* Entrained air in the oil and the guard against cavitation; equations: bramah_air in bramah/machine.h. */
#ifndef BRAMAH_LIB_HYDRAULICS_OIL_H
#define BRAMAH_LIB_HYDRAULICS_OIL_H

#include "lib/hydraulics/element.h"

typedef struct bramah__air {
  double fraction; /* 0: none */
  double exponent;
  double vapour_pressure; /* [Pa] */
} bramah__air;

/* What the air adds to 1/B of the oil at pressure p [1/Pa], >= 0; held, slope 0, up to 100 Pa above the vapour
 * pressure. */
static inline bramah__expr bramah__air_compliance(const bramah__air *air, bramah__expr p)
{
  static const double atmosphere = 101325.0, least = 100.0; /* [Pa] */
  if (air->fraction <= 0.0) return e_number(0.0);
  const bramah__expr x = e_max(e_sub(p, e_number(air->vapour_pressure)), e_number(least));
  const bramah__expr compressed = e_power(e_div(e_number(atmosphere), x), 1.0 / air->exponent);
  return e_mul(e_scale(air->fraction / air->exponent, e_inv(x)), compressed);
}

/* What pulls a pressure below the vapour pressure back to it [Pa/s], >= 0; none at the vapour pressure. */
static inline bramah__expr bramah__cavity_recovery(const bramah__air *air, bramah__expr p)
{
  static const double rate = 1e3; /* [1/s] */
  if (!(air->vapour_pressure > 0.0)) return e_number(0.0);
  return e_scale(rate, e_max(e_sub(e_number(air->vapour_pressure), p), e_number(0.0)));
}

#endif
