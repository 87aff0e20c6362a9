/* SPDX-License-Identifier: MIT */
/* Derivatives of the pressure rates pd = flow/C + recovery, C the compliance of a volume:
 *   d pd = (d flow - (flow/C) dC) / C + d recovery
 * C depends on the volume's own pressure (air, accumulators) and on the strokes of its cylinders. Sums are
 * formed as in bramah__circuit_rates, in the same order. */
#include "lib/hydraulics/flows.h"
#include "lib/hydraulics/metering.h"

#include <math.h>
#include <string.h>

/* Where the sums go: first those of flows and compliances, which finish() makes those of the rates. */
typedef struct sums {
  const bramah__circuit *circuit;
  const double *p;
  double *flow, *compliance, *compliance_by_p, *air, *air_by_p; /* [np] */
  double *by_p, *by_s, *by_v, *by_U, *by_supply;
} sums;

static void clear(double *x, size_t n)
{
  if (x) memset(x, 0, n * sizeof *x);
}

static void begin(const sums *d)
{
  const bramah__circuit *circuit = d->circuit;
  const size_t np = circuit->n_volumes;
  clear(d->by_p, np * np);
  clear(d->by_s, np * circuit->n_cylinders);
  clear(d->by_v, np * circuit->n_cylinders);
  clear(d->by_U, np * bramah__n_spools(circuit));
  clear(d->by_supply, np * circuit->n_supplies);
  for (size_t i = 0; i < np - circuit->n_metered; i++) {
    const bramah__volume *volume = &circuit->volume[i];
    const bramah__tangent air = bramah__air_tangent(&circuit->air, d->p[i]);
    d->flow[i] = 0.0;
    d->air[i] = air.value;
    d->air_by_p[i] = air.slope;
    d->compliance[i] = volume->hose_volume / circuit->oil_bulk_modulus + volume->hose_compliance +
                       volume->hose_volume * air.value;
    d->compliance_by_p[i] = volume->hose_volume * air.slope;
  }
}

/* Derivative of the flow into a volume by the pressure of a node. */
static void add(const sums *d, size_t volume, size_t node, double slope)
{
  const size_t np = d->circuit->n_volumes;
  if (node < np)
    d->by_p[volume * np + node] += slope;
  else if (d->by_supply)
    d->by_supply[volume * d->circuit->n_supplies + node - np] += slope;
}

/* Flow from one node to another with its slope by p_from - p_to. */
static void book(const sums *d, size_t from, size_t to, bramah__tangent Q)
{
  const size_t np = d->circuit->n_volumes;
  if (from < np) {
    d->flow[from] -= Q.value;
    add(d, from, from, -Q.slope);
    add(d, from, to, Q.slope);
  }
  if (to < np) {
    d->flow[to] += Q.value;
    add(d, to, from, Q.slope);
    add(d, to, to, -Q.slope);
  }
}

static void add_elements(const sums *d)
{
  for (int kind = 0; kind < BRAMAH__N_TWO_PORT_KINDS; kind++) {
    const size_t n = bramah__two_port_count(d->circuit, (bramah__two_port_kind)kind);
    for (size_t i = 0; i < n; i++) {
      const bramah__two_port element = bramah__two_port_at(d->circuit, (bramah__two_port_kind)kind, i, d->p);
      book(d, element.from, element.to, element.flow);
    }
  }
}

/* A way that is shut passes nothing, but may be about to open. */
static void add_valve(const sums *d, size_t i, double U)
{
  const bramah__circuit *circuit = d->circuit;
  const bramah__valve *valve = &circuit->valve[i];
  const size_t np = circuit->n_volumes, nv = bramah__n_spools(circuit);
  double e[BRAMAH__N_WAYS], e_U[BRAMAH__N_WAYS];
  size_t ends[BRAMAH__N_WAYS][2];
  bramah__valve_ends(valve, ends);
  bramah__opening_tangents(&valve->opening, U, e, e_U);
  for (int w = 0; w < BRAMAH__N_WAYS; w++) {
    const size_t from = ends[w][0], to = ends[w][1];
    if (!(e[w] > 0.0) && e_U[w] == 0.0) continue;
    const double dp = bramah__node_pressure(circuit, d->p, from) - bramah__node_pressure(circuit, d->p, to);
    const bramah__tangent q = bramah__flow_tangent(dp, circuit->transition_pressure);
    const double C = valve->coefficient * e[w], by_U = valve->coefficient * e_U[w] * q.value;
    if (e[w] > 0.0) book(d, from, to, (bramah__tangent){C * q.value, C * q.slope});
    if (d->by_U && from < np) d->by_U[from * nv + i] -= by_U;
    if (d->by_U && to < np) d->by_U[to * nv + i] += by_U;
  }
}

/* A chamber of cylinder c with its length; sign: whether it grows or shrinks with the stroke. */
static void add_chamber(const sums *d, size_t c, size_t volume, double area, double length, double sign,
                        double v)
{
  const bramah__cylinder *cylinder = &d->circuit->cylinder[c];
  const size_t at = volume * d->circuit->n_cylinders + c;
  const double per_volume = 1.0 / d->circuit->oil_bulk_modulus + 1.0 / cylinder->bulk_modulus;
  const double oil = area * bramah__chamber_filled(cylinder, length), by_volume = per_volume + d->air[volume];
  d->compliance[volume] += oil * by_volume;
  d->compliance_by_p[volume] += oil * d->air_by_p[volume];
  d->by_s[at] += sign * area * bramah__chamber_filled_slope(cylinder, length) * by_volume;
  d->by_v[at] -= sign * area;
  d->flow[volume] -= sign * area * v;
}

static void add_cylinders(const sums *d, const double *s, const double *v)
{
  for (size_t c = 0; c < d->circuit->n_cylinders; c++) {
    const bramah__cylinder *cylinder = &d->circuit->cylinder[c];
    if (cylinder->metered) continue;
    add_chamber(d, c, cylinder->piston, cylinder->piston_area, bramah__piston_chamber(cylinder, s[c]), 1.0,
                v[c]);
    add_chamber(d, c, cylinder->rod, cylinder->rod_area, bramah__rod_chamber(cylinder, s[c]), -1.0, v[c]);
  }
}

static void add_accumulators(const sums *d)
{
  for (size_t i = 0; i < d->circuit->n_accumulators; i++) {
    const bramah__accumulator *a = &d->circuit->accumulator[i];
    const bramah__tangent compliance = bramah__accumulator_tangent(a, d->p[a->volume]);
    d->compliance[a->volume] += compliance.value;
    d->compliance_by_p[a->volume] += compliance.slope;
  }
}

static void scale(double *x, size_t row, size_t n, double factor)
{
  for (size_t k = 0; x && k < n; k++) x[row * n + k] *= factor;
}

/* From the sums of volume i to its rate and the derivatives of that. */
static double finish(const sums *d, size_t i)
{
  const bramah__circuit *circuit = d->circuit;
  const size_t np = circuit->n_volumes, nc = circuit->n_cylinders;
  const double pd = d->flow[i] / d->compliance[i], per_compliance = 1.0 / d->compliance[i];
  d->by_p[i * np + i] -= pd * d->compliance_by_p[i];
  scale(d->by_p, i, np, per_compliance);
  scale(d->by_s, i, nc, -pd * per_compliance);
  scale(d->by_v, i, nc, per_compliance);
  scale(d->by_U, i, bramah__n_spools(circuit), per_compliance);
  scale(d->by_supply, i, circuit->n_supplies, per_compliance);
  if (!(circuit->air.vapour_pressure > 0.0)) return pd;
  const bramah__tangent recovery = bramah__cavity_tangent(&circuit->air, d->p[i]);
  d->by_p[i * np + i] += recovery.slope;
  return pd + recovery.value;
}

void bramah__fluid_derivatives(const bramah__circuit *circuit, const double *p, const double *s,
                               const double *v, const double *U, double *scratch, double *pd, double *by_p,
                               double *by_s, double *by_v, double *by_U, double *by_supply)
{
  const size_t np = circuit->n_volumes;
  const sums d = {.circuit = circuit,
                  .p = p,
                  .flow = scratch,
                  .compliance = scratch + np,
                  .compliance_by_p = scratch + 2 * np,
                  .air = scratch + 3 * np,
                  .air_by_p = scratch + 4 * np,
                  .by_p = by_p,
                  .by_s = by_s,
                  .by_v = by_v,
                  .by_U = by_U,
                  .by_supply = by_supply};
  begin(&d);
  add_elements(&d);
  for (size_t i = 0; i < circuit->n_valves; i++) add_valve(&d, i, U[i]);
  add_cylinders(&d, s, v);
  add_accumulators(&d);
  for (size_t i = 0; i < np - circuit->n_metered; i++) pd[i] = finish(&d, i);
}

void bramah__circuit_derivatives(const bramah__circuit *circuit, const double *p, const double *s,
                                 const double *v, const double *U, double *scratch, double *pd, double *by_p,
                                 double *by_s, double *by_v, double *by_U, double *by_supply)
{
  bramah__fluid_derivatives(circuit, p, s, v, U, scratch, pd, by_p, by_s, by_v, by_U, by_supply);
  if (circuit->n_metered) bramah__metered_derivatives(circuit, p, v, U, NULL, NULL, pd, by_p, by_v, by_U);
}

void bramah__stop_slopes(const bramah__circuit *circuit, size_t c, double s, double v, double *by_s,
                         double *by_v)
{
  const bramah__cylinder *cylinder = &circuit->cylinder[c];
  double l[2], w[2];
  bramah__end_stop_slopes(&cylinder->stop, bramah__piston_chamber(cylinder, s), -v, &l[0], &w[0]);
  bramah__end_stop_slopes(&cylinder->stop, bramah__rod_chamber(cylinder, s), v, &l[1], &w[1]);
  *by_s = l[0] + l[1];
  *by_v = -w[0] - w[1];
}
