/* SPDX-License-Identifier: MIT */
#include "lib/hydraulics/element.h"
#include "lib/math/elementary.h"

enum { GAS_VOLUME, PRECHARGE, EXPONENT };

/* Part of the precharge over which an accumulator that runs empty loses its compliance. */
static const double empty_band = 0.1;

/* At the precharge the slope is that of the gas above it. */
static bramah__tangent compliance(const bramah__element *e, double p)
{
  const double precharge = e->value[PRECHARGE], n = e->value[EXPONENT];
  const double at_precharge = e->value[GAS_VOLUME] / (n * precharge);
  if (p >= precharge) {
    const double ratio = precharge / p, value = at_precharge * ratio * bramah__power(ratio, 1.0 / n);
    return (bramah__tangent){value, -(1.0 + 1.0 / n) * value / p};
  }
  const double x = fmax(1.0 - (1.0 - p / precharge) / empty_band, 0.0);
  return (bramah__tangent){at_precharge * (x * x) * (x * x),
                           4.0 * at_precharge * x * x * x / (empty_band * precharge)};
}

static bramah__expr compliance_graph(const bramah__expr *value, bramah__expr p)
{
  const bramah__expr precharge = value[PRECHARGE], one = e_number(1.0);
  const double n = value[EXPONENT].value; /* no parameter */
  const bramah__expr at_precharge = e_div(value[GAS_VOLUME], e_scale(n, precharge)),
                     ratio = e_div(precharge, p);
  const bramah__expr emptying = e_scale(1.0 / empty_band, e_sub(one, e_div(p, precharge)));
  const bramah__expr x = e_max(e_sub(one, emptying), e_number(0.0));
  const bramah__expr empty = e_square(e_square(x)), gas = e_mul(ratio, e_power(ratio, 1.0 / n));
  return e_mul(at_precharge, e_select(e_sub(precharge, p), empty, gas));
}

static const bramah_element_key keys[] = {
    BRAMAH__VOLUME_KEY("volume", bramah_accumulator, volume),
    BRAMAH__QUANTITY_KEY("gas_volume", bramah_accumulator, gas_volume, .required = 1, .unit = "m^3",
                         .what = "the gas volume", .range = BRAMAH_KEY_POSITIVE),
    BRAMAH__QUANTITY_KEY("precharge", bramah_accumulator, precharge, .required = 1, .unit = "Pa",
                         .what = "the precharge", .range = BRAMAH_KEY_POSITIVE),
    BRAMAH__QUANTITY_KEY("exponent", bramah_accumulator, exponent, .unit = "1",
                         .what = "the polytropic exponent", .range = BRAMAH_KEY_FROM_ONE, .otherwise = 1.4),
    {0}};

const bramah__element_kind bramah__accumulator_kind = {
    BRAMAH__DESCRIPTION("accumulators", "accumulator", bramah_accumulator, accumulators, .keys = keys),
    .compliance = compliance, .compliance_graph = compliance_graph};
