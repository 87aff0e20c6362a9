/* SPDX-License-Identifier: MIT */
/* Soil without a field: the wedge before a blade, the pressure below layers. */
#include "lib/base/diag.h"
#include "lib/math/elementary.h"
#include "bramah/terrain.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

void bramah_soil_default(bramah_soil *soil)
{
  *soil = (bramah_soil){.density = 1600.0,
                        .void_ratio = 0.65,
                        .repose = 35.0 * pi / 180.0,
                        .friction = 35.0 * pi / 180.0,
                        .tool_friction = 20.0 * pi / 180.0};
}

/* At or above 0 and finite. */
static int is_amount(double x) { return x >= 0.0 && isfinite(x); }

bramah_status bramah_soil_cut(const bramah_soil *soil, double gravity, const bramah_cut *cut,
                              bramah_diag *diag, bramah_cut_force *out)
{
  *out = (bramah_cut_force){0};
  const double phi = soil->friction, delta = soil->tool_friction, rake = cut->rake;
  if (!is_amount(cut->depth) || !is_amount(cut->width) || !is_amount(cut->surcharge) || !is_amount(gravity) ||
      !is_amount(soil->density) || !is_amount(soil->cohesion) || !is_amount(soil->adhesion))
    return bramah__fail(
        diag, BRAMAH_E_VALUE, "cut",
        "depth, width, surcharge, density, cohesion, adhesion must be finite and not negative");
  if (!(rake > 0.0 && phi > 0.0 && phi < 0.5 * pi && delta >= 0.0 && rake + delta + phi < pi))
    return bramah__fail(
        diag, BRAMAH_E_VALUE, "cut",
        "no wedge of soil can rise: rake and friction must be above 0, and rake, friction and "
        "friction of the tool below 180 degrees together");
  double sin_rake, cos_rake, sin_tool, cos_tool, sin_all, cos_all, sin_phi, cos_phi, sin_both, cos_both;
  bramah__sincos(rake, &sin_rake, &cos_rake);
  bramah__sincos(rake + delta, &sin_tool, &cos_tool);
  bramah__sincos(rake + delta + phi, &sin_all, &cos_all);
  bramah__sincos(phi, &sin_phi, &cos_phi);
  bramah__sincos(delta + phi, &sin_both, &cos_both);
  /* N_gamma (cot beta) is a quotient of a parabola and a line: its minimum is a root of a quadratic. */
  const double root = sqrt(sin_both * sin_tool / (sin_rake * sin_phi));
  const double cot_wedge = (root - cos_all) / sin_all, cot_rake = cos_rake / sin_rake;
  const double cot_slide =
      (cot_wedge * cos_phi - sin_phi) / (cos_phi + cot_wedge * sin_phi); /* of beta + phi */
  const double divisor = cos_tool + sin_tool * cot_slide;
  out->wedge = bramah__atan2(1.0, cot_wedge);
  out->n_surcharge = (cot_rake + cot_wedge) / divisor;
  out->n_weight = 0.5 * out->n_surcharge;
  out->n_cohesion = (1.0 + cot_wedge * cot_slide) / divisor;
  out->n_adhesion = (1.0 - cot_rake * cot_slide) / divisor;
  out->force =
      (soil->density * gravity * cut->depth * cut->depth * out->n_weight +
       soil->cohesion * cut->depth * out->n_cohesion + cut->surcharge * cut->depth * out->n_surcharge +
       soil->adhesion * cut->depth * out->n_adhesion) *
      cut->width;
  const double stuck = soil->adhesion * cut->depth * cut->width;
  out->horizontal = out->force * sin_tool + stuck * cot_rake;
  out->vertical = out->force * cos_tool - stuck;
  return BRAMAH_OK;
}

/* What the blocks of a layer carry, handed down to those below. */
static void hand_down(size_t nx, size_t ny, const double *spread, const double *from, double *to)
{
  for (size_t c = 0; c < nx * ny; c++) to[c] = 0.0;
  for (size_t i = 0; i < nx; i++)
    for (size_t j = 0; j < ny; j++)
      for (size_t k = 0; k < 9; k++) {
        const size_t di = k / 3, dj = k % 3;
        const size_t to_i = di == 0 ? (i > 0 ? i - 1 : 0) : di == 2 && i + 1 < nx ? i + 1 : i;
        const size_t to_j = dj == 0 ? (j > 0 ? j - 1 : 0) : dj == 2 && j + 1 < ny ? j + 1 : j;
        to[to_i * ny + to_j] += spread[k] * from[i * ny + j];
      }
}

bramah_status bramah_soil_base_pressure(size_t n_layers, size_t nx, size_t ny, const double *spread,
                                        const double *weight, double *scratch, double *base,
                                        bramah_diag *diag)
{
  const size_t n = nx * ny;
  double sum = 0.0;
  if (n_layers == 0 || n == 0)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "layers", "there must be a layer of at least one block");
  for (int k = 0; k < 9; k++) sum += spread[k];
  if (!(fabs(sum - 1.0) <= 1e-9))
    return bramah__fail(diag, BRAMAH_E_VALUE, "spread", "the nine parts must add up to one");
  for (size_t c = 0; c < n; c++) base[c] = 0.0;
  for (size_t layer = n_layers; layer-- > 0;) {
    for (size_t c = 0; c < n; c++) scratch[c] = base[c];
    if (layer + 1 < n_layers) hand_down(nx, ny, spread, scratch, base);
    for (size_t c = 0; c < n; c++) base[c] += weight[layer * n + c];
  }
  return BRAMAH_OK;
}
