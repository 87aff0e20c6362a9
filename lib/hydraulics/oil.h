/* SPDX-License-Identifier: MIT */
/* Entrained air in the oil and the guard against cavitation; equations: bramah_air in bramah/machine.h. */
#ifndef BRAMAH_LIB_HYDRAULICS_OIL_H
#define BRAMAH_LIB_HYDRAULICS_OIL_H

#include "lib/hydraulics/element.h"
#include "lib/math/elementary.h"

typedef struct bramah__air {
  double fraction; /* 0: none */
  double exponent;
  double vapour_pressure; /* [Pa] */
} bramah__air;

/* What the air adds to 1/B of the oil at pressure p [1/Pa], >= 0; held, slope 0, up to 100 Pa above the vapour
 * pressure. */
static inline bramah__tangent bramah__air_tangent(const bramah__air *air, double p)
{
  static const double atmosphere = 101325.0, least = 100.0; /* [Pa] */
  if (air->fraction <= 0.0) return (bramah__tangent){0.0, 0.0};
  const double x = fmax(p - air->vapour_pressure, least);
  const double value =
      air->fraction / (air->exponent * x) * bramah__power(atmosphere / x, 1.0 / air->exponent);
  return (bramah__tangent){value, x > least ? -(1.0 + 1.0 / air->exponent) * value / x : 0.0};
}

/* The same as an expression. */
static inline bramah__expr bramah__air_graph(const bramah__air *air, bramah__expr p)
{
  if (air->fraction <= 0.0) return e_number(0.0);
  const bramah__expr x = e_max(e_sub(p, e_number(air->vapour_pressure)), e_number(100.0));
  const bramah__expr compressed = e_power(e_div(e_number(101325.0), x), 1.0 / air->exponent);
  return e_mul(e_scale(air->fraction / air->exponent, e_inv(x)), compressed);
}

/* What pulls a pressure below the vapour pressure back to it [Pa/s], >= 0; none at the vapour pressure. */
static inline bramah__tangent bramah__cavity_tangent(const bramah__air *air, double p)
{
  static const double time = 1e-3; /* [s] */
  if (!(air->vapour_pressure > 0.0 && air->vapour_pressure > p)) return (bramah__tangent){0.0, 0.0};
  return (bramah__tangent){(air->vapour_pressure - p) / time, -1.0 / time};
}

static inline bramah__expr bramah__cavity_graph(const bramah__air *air, bramah__expr p)
{
  if (!(air->vapour_pressure > 0.0)) return e_number(0.0);
  return e_scale(1e3, e_max(e_sub(e_number(air->vapour_pressure), p), e_number(0.0)));
}

#endif
