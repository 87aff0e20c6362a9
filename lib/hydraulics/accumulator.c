/* SPDX-License-Identifier: MIT */
#include "lib/graph/equation.h"
#include "lib/hydraulics/element.h"
#include "lib/math/elementary.h"

enum { GAS_VOLUME, PRECHARGE, EXPONENT };

/* Part of the precharge over which an accumulator that runs empty loses its compliance. */
static const double empty_band = 0.1;

/* At the precharge the slope is that of the gas above it. */
static bramah__expr compliance(bramah__quantities of, bramah__expr p)
{
  const bramah__expr precharge = e_of(of, PRECHARGE), one = e_number(1.0);
  const double n = e_of(of, EXPONENT).value; /* no parameter */
  const bramah__expr at_precharge = e_div(e_of(of, GAS_VOLUME), e_scale(n, precharge)),
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
    .compliance = compliance};
