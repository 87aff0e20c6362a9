/* SPDX-License-Identifier: MIT */
/* Pressure rates pd = flow/C + recovery, C the compliance of a volume, and their derivatives
 *   d pd = (d flow - (flow/C) dC) / C + d recovery
 * C depends on the volume's own pressure (air, gas) and on the strokes of its cylinders. One pass over
 * the circuit sums values and, where they are wanted, derivatives. What elements, oil, chambers and openings do, and its
 * slopes, comes from their equations; this chain rule is written out, as it costs a fifth of a pass, where a pass
 * by each pressure, stroke and velocity would make a step half as long again. */
#include "lib/graph/equation.h"
#include "lib/hydraulics/metering.h"

#include <math.h>
#include <string.h>

/* Where the sums go: first those of flows and compliances, which finish() makes those of the rates. */
typedef struct sums {
  const bramah__circuit *circuit;
  const double *p;
  double *flow, *compliance;                     /* [np] */
  double *compliance_by_p, *air, *air_by_p;      /* [np] NULL: values only, and so all that follow */
  double *by_p, *by_s, *by_v, *by_U, *by_supply; /* the last two may be NULL alone */
} sums;

static void clear(double *x, size_t n)
{
  if (x) memset(x, 0, n * sizeof *x);
}

static inline void begin(const sums *d)
{
  const bramah__circuit *circuit = d->circuit;
  const size_t np = circuit->n_volumes;
  clear(d->by_p, np * np);
  clear(d->by_s, np * circuit->n_cylinders);
  clear(d->by_v, np * circuit->n_cylinders);
  clear(d->by_U, np * bramah__n_spools(circuit));
  clear(d->by_supply, np * circuit->n_supplies);
  for (size_t i = 0; i < bramah__n_filled(circuit); i++) {
    const bramah__volume *volume = &circuit->volume[i];
    const bramah__expr air = bramah__air_compliance(&circuit->air, e_variable(d->p[i]));
    d->flow[i] = 0.0;
    d->compliance[i] = volume->hose_volume / circuit->oil_bulk_modulus + volume->hose_compliance +
                       volume->hose_volume * air.value;
    if (!d->by_p) continue;
    d->air[i] = air.value;
    d->air_by_p[i] = air.slope;
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

static double difference(const bramah__circuit *circuit, const double *p, size_t from, size_t to)
{
  return bramah__node_pressure(circuit, p, from) - bramah__node_pressure(circuit, p, to);
}

bramah__load_signal bramah__load_signal_at(const bramah__circuit *circuit, size_t pump, const double *p,
                                           const double *U)
{
  bramah__load_signal out = {.value = -INFINITY};
  for (size_t i = 0; i < circuit->n_valves; i++) {
    const bramah__valve *valve = &circuit->valve[i];
    bramah__expr e[BRAMAH__N_PATHS];
    if (valve->pump != pump) continue;
    bramah__openings(&valve->opening, e_variable(U[i]), e);
    for (int port = 0; port < 2; port++) {
      const bramah__expr part = bramah__reported_part(valve, e[port ? BRAMAH__PUMP_B : BRAMAH__PUMP_A]);
      const size_t node = port ? valve->b : valve->a;
      const double above = difference(circuit, p, node, valve->tank), rest = 1.0 - part.value;
      const double value = bramah__node_pressure(circuit, p, node) - rest * above;
      if (out.value > value) continue;
      out = (bramah__load_signal){value, node, valve->tank, i, part.value, rest, part.slope * above};
    }
  }
  return out;
}

/* ---- flows with what they depend on ---- */

/* A flow from one node to another, or the rate of a state, with its derivatives by the pressure difference between its
 * nodes and, few have these, by nodes (virtual volumes among them) and spools. */
enum { MOST_SLOPES = 6, MOST_SPOOLS = 2 };
typedef struct slope {
  size_t at;
  double by;
} slope;
typedef struct dependent {
  double value, by_dp;
  size_t n, n_spools;
  slope node[MOST_SLOPES], spool[MOST_SPOOLS]; /* those that do not count are not set */
  int turns;                                   /* 1: it goes by a joint's rate */
  slope rate;
} dependent;

static inline void along(bramah__expr Q, dependent *q)
{
  q->value = Q.value, q->by_dp = Q.slope;
  q->n = q->n_spools = 0;
  q->turns = 0;
}

static inline void depends(dependent *q, size_t node, double by) { q->node[q->n++] = (slope){node, by}; }

/* On the pressure of a node less the highest load that is reported to it: by. */
static void depends_on_load(dependent *q, size_t node, const bramah__load_signal *load, double by)
{
  depends(q, node, by);
  depends(q, load->port, -by * load->by_port);
  depends(q, load->tank, -by * load->by_tank);
  q->spool[q->n_spools++] = (slope){load->spool, -by * load->by_spool};
}

/* What element e sees besides dp, and the derivatives by that where they are wanted. */
static void look_further(const bramah__circuit *circuit, const bramah__element *e,
                         bramah__element_equation *equation, const double *p, const double *U, int wanted,
                         bramah__expr *seen, dependent *q)
{
  const unsigned sees = bramah__element_kinds[e->kind]->sees;
  const size_t against = e->node[bramah__element_kinds[e->kind]->pilot_against];
  const bramah__quantities of = {.number = e->value};
  bramah__load_signal load = {0};
  if (sees & 1U << BRAMAH__LOAD) {
    load = bramah__load_signal_at(circuit, e->node[1], p, U);
    seen[BRAMAH__LOAD] = e_number(load.value - bramah__node_pressure(circuit, p, e->node[1]));
  }
  if (sees & 1U << BRAMAH__PILOT) seen[BRAMAH__PILOT] = e_number(difference(circuit, p, e->node[2], against));
  if (sees & 1U << BRAMAH__STATE) seen[BRAMAH__STATE] = e_number(p[e->node[BRAMAH__OWN_STATE]]);
  along(equation(of, seen, circuit->transition_pressure), q);
  seen[BRAMAH__DP].slope = 0.0;
  for (int k = BRAMAH__DP + 1; k < BRAMAH__N_SEEN && wanted; k++) {
    if (!(sees & 1U << k)) continue;
    seen[k].slope = 1.0;
    const double by = equation(of, seen, circuit->transition_pressure).slope;
    seen[k].slope = 0.0;
    if (k == BRAMAH__LOAD)
      depends_on_load(q, e->node[1], &load, -by);
    else if (k == BRAMAH__PILOT)
      depends(q, e->node[2], by), depends(q, against, -by);
    else
      depends(q, e->node[BRAMAH__OWN_STATE], by);
  }
}

/* Flow or rate of an element. */
static inline void of_element(const bramah__circuit *circuit, const bramah__element *e,
                              bramah__element_equation *equation, const double *p, const double *U,
                              int wanted, dependent *q)
{
  bramah__expr seen[BRAMAH__N_SEEN];
  seen[BRAMAH__DP] = e_variable(difference(circuit, p, e->node[0], e->node[1]));
  if (bramah__element_kinds[e->kind]->sees)
    look_further(circuit, e, equation, p, U, wanted, seen, q);
  else
    along(equation((bramah__quantities){.number = e->value}, seen, circuit->transition_pressure), q);
}

bramah__expr bramah__driven_part(const bramah__driven_pump *pump, bramah__expr v)
{
  return e_scale(pump->part_per_rate, e_max(v, e_number(0.0)));
}

bramah__expr bramah__driven_grip(const bramah__driven_pump *pump, bramah__expr v)
{
  static const double fading =
      0.01; /* of its speed, over which a pump that begins to turn takes up its torque */
  return e_min(e_scale(1.0 / fading, bramah__driven_part(pump, v)), e_number(1.0));
}

/* By the part of its speed with which a pump turns. */
static inline void turn(dependent *q, double part)
{
  for (size_t k = 0; k < q->n; k++) q->node[k].by *= part;
  for (size_t k = 0; k < q->n_spools; k++) q->spool[k].by *= part;
  q->value *= part, q->by_dp *= part;
}

static const bramah__driven_pump *driven_of(const bramah__circuit *circuit, size_t element)
{
  for (size_t k = 0; k < circuit->n_driven; k++)
    if (circuit->driven[k].element == element) return &circuit->driven[k];
  return NULL;
}

/* Flow through element i, which goes by its drive or by its joint where it has one. */
static inline void of_flow(const bramah__circuit *circuit, size_t i, const double *p, const double *v,
                           const double *U, int wanted, dependent *q)
{
  const bramah__element *e = &circuit->element[i];
  const size_t drive = circuit->drive ? circuit->drive[i] : BRAMAH__NO_SPOOL;
  of_element(circuit, e, bramah__element_kinds[e->kind]->flow, p, U, wanted, q);
  const bramah__driven_pump *driven = circuit->n_driven ? driven_of(circuit, i) : NULL;
  if (driven) {
    const bramah__expr part = bramah__driven_part(driven, e_variable(v ? v[driven->cylinder] : 0.0));
    q->turns = 1;
    q->rate = (slope){driven->cylinder, part.slope * q->value};
    turn(q, part.value);
  }
  if (drive == BRAMAH__NO_SPOOL) return;
  const bramah__expr part = bramah__drive_part_of(&circuit->valve[drive], e_variable(U[drive]));
  const slope by_spool = {drive, part.slope * q->value};
  turn(q, part.value);
  q->spool[q->n_spools++] = by_spool;
}

/* Flow along a path of valve i at its opening e. A path that is shut passes nothing, but may be about to open. */
static inline void of_path(const bramah__circuit *circuit, size_t i, int path, size_t from, size_t to,
                           bramah__expr e, const double *p, const bramah__load_signal *load, dependent *q)
{
  const bramah__valve *valve = &circuit->valve[i];
  const double C = valve->coefficient * e.value, dp = difference(circuit, p, from, to);
  const int shares = bramah__shares_flow(valve, path);
  const double excess = shares ? bramah__node_pressure(circuit, p, from) - load->value : 0.0;
  const double transition = circuit->transition_pressure;
  const bramah__expr root =
      valve->compensator == BRAMAH_COMPENSATOR_NONE
          ? bramah__root_flow(e_variable(dp), transition)
          : bramah__root_flow(bramah__edge_difference(valve, path, e_variable(dp), e_number(excess)),
                              transition);
  along(e_scale(C, root), q);
  q->spool[q->n_spools++] = (slope){i, valve->coefficient * e.slope * root.value};
  if (!shares) return;
  const bramah__expr by_excess =
      bramah__root_flow(bramah__edge_difference(valve, path, e_number(dp), e_variable(excess)), transition);
  depends_on_load(q, from, load, C * by_excess.slope);
}

/* A flow from one node to another; supplies do not feel it. */
static inline void book(const sums *d, size_t from, size_t to, const dependent *q)
{
  const size_t np = d->circuit->n_volumes;
  for (int side = 0; side < 2; side++) {
    const size_t volume = side ? to : from;
    const double sign = side ? 1.0 : -1.0;
    if (volume >= np) continue;
    d->flow[volume] += sign * q->value;
    if (!d->by_p) continue;
    add(d, volume, from, sign * q->by_dp), add(d, volume, to, -sign * q->by_dp);
    for (size_t k = 0; k < q->n; k++) add(d, volume, q->node[k].at, sign * q->node[k].by);
    if (q->turns) d->by_v[volume * d->circuit->n_cylinders + q->rate.at] += sign * q->rate.by;
    for (size_t k = 0; d->by_U && k < q->n_spools; k++)
      d->by_U[volume * bramah__n_spools(d->circuit) + q->spool[k].at] += sign * q->spool[k].by;
  }
}

/* From port 0 or 1 of an element to its drain; nothing where there is none. */
static bramah__expr drained(const bramah__circuit *circuit, const bramah__element *e, int port,
                            const double *p)
{
  const bramah__element_kind *kind = bramah__element_kinds[e->kind];
  if (!kind->drain || e->node[2] == BRAMAH__NO_NODE) return e_number(0.0);
  return kind->drain((bramah__quantities){.number = e->value},
                     e_variable(difference(circuit, p, e->node[port], e->node[2])));
}

static inline void add_element(const sums *d, size_t i, const double *v, const double *U)
{
  const bramah__element *e = &d->circuit->element[i];
  const bramah__element_kind *kind = bramah__element_kinds[e->kind];
  dependent q;
  of_flow(d->circuit, i, d->p, v, U, d->by_p != NULL, &q);
  book(d, e->node[0], e->node[1], &q);
  for (int port = 0; port < 2 && kind->drain && e->node[2] != BRAMAH__NO_NODE; port++) {
    along(drained(d->circuit, e, port, d->p), &q);
    book(d, e->node[port], e->node[2], &q);
  }
}

static inline void add_valve(const sums *d, size_t i, const double *U)
{
  const bramah__circuit *circuit = d->circuit;
  const bramah__valve *valve = &circuit->valve[i];
  bramah__expr e[BRAMAH__N_PATHS];
  bramah__load_signal load = {0};
  size_t ends[BRAMAH__N_PATHS][2];
  bramah__valve_ends(valve, ends);
  bramah__openings(&valve->opening, e_variable(U[i]), e);
  if (valve->compensator == BRAMAH_COMPENSATOR_AFTER)
    load = bramah__load_signal_at(circuit, valve->pump, d->p, U);
  for (int w = 0; w < BRAMAH__N_PATHS; w++) {
    if (!(e[w].value > 0.0) && (!d->by_U || e[w].slope == 0.0)) continue;
    dependent q;
    of_path(circuit, i, w, ends[w][0], ends[w][1], e[w], d->p, &load, &q);
    book(d, ends[w][0], ends[w][1], &q);
  }
}

/* The chamber of cylinder c on its piston side (0), which grows with the stroke, or on its rod side (1). */
static inline void add_chamber(const sums *d, size_t c, int side, double s, double v)
{
  const bramah__cylinder *cylinder = &d->circuit->cylinder[c];
  const size_t volume = side ? cylinder->rod : cylinder->piston;
  const double area = side ? cylinder->rod_area : cylinder->piston_area, sign = side ? -1.0 : 1.0;
  const size_t at = volume * d->circuit->n_cylinders + c;
  d->flow[volume] -= sign * area * v;
  if (d->by_p) d->by_v[at] -= sign * area;
  if (cylinder->endless) return;
  const double air =
      d->by_p ? d->air[volume] : bramah__air_compliance(&d->circuit->air, e_number(d->p[volume])).value;
  const double per_volume = 1.0 / d->circuit->oil_bulk_modulus + 1.0 / cylinder->bulk_modulus;
  const bramah__expr filled = bramah__filled(cylinder, bramah__chamber(cylinder, side, e_variable(s)));
  const double oil = area * filled.value, by_volume = per_volume + air;
  d->compliance[volume] += oil * by_volume;
  if (!d->by_p) return;
  d->compliance_by_p[volume] += oil * d->air_by_p[volume];
  d->by_s[at] += area * filled.slope * by_volume;
}

static void scale(double *x, size_t row, size_t n, double factor)
{
  for (size_t k = 0; x && k < n; k++) x[row * n + k] *= factor;
}

/* From the sums of volume i to its rate and the derivatives of that. */
static inline double finish(const sums *d, size_t i)
{
  const bramah__circuit *circuit = d->circuit;
  const size_t np = circuit->n_volumes, nc = circuit->n_cylinders;
  const double pd = d->flow[i] / d->compliance[i];
  const bramah__expr recovery = bramah__cavity_recovery(&circuit->air, e_variable(d->p[i]));
  if (d->by_p) {
    const double per_compliance = 1.0 / d->compliance[i];
    d->by_p[i * np + i] -= pd * d->compliance_by_p[i];
    scale(d->by_p, i, np, per_compliance);
    scale(d->by_s, i, nc, -pd * per_compliance);
    scale(d->by_v, i, nc, per_compliance);
    scale(d->by_U, i, bramah__n_spools(circuit), per_compliance);
    scale(d->by_supply, i, circuit->n_supplies, per_compliance);
    d->by_p[i * np + i] += recovery.slope;
  }
  return circuit->air.vapour_pressure > 0.0 ? pd + recovery.value : pd;
}

/* Flows of lines leave and enter the volumes at their ends. */
static inline void add_lines(const sums *d)
{
  const bramah__circuit *circuit = d->circuit;
  for (size_t i = circuit->n_elements - circuit->n_lines; i < circuit->n_elements; i++) {
    const bramah__element *e = &circuit->element[i];
    const dependent q = {
        .value = d->p[e->node[BRAMAH__OWN_STATE]], .n = 1, .node = {{e->node[BRAMAH__OWN_STATE], 1.0}}};
    book(d, e->node[0], e->node[1], &q);
  }
}

/* How states of elements change. */
static inline void rate_states(const sums *d, const double *U, double *pd)
{
  const bramah__circuit *circuit = d->circuit;
  for (size_t i = 0; circuit->n_states && i < circuit->n_elements; i++) {
    const bramah__element *e = &circuit->element[i];
    bramah__element_equation *rate = bramah__element_kinds[e->kind]->rate;
    if (!rate) continue;
    dependent by;
    of_element(circuit, e, rate, d->p, U, d->by_p != NULL, &by);
    d->flow[e->node[BRAMAH__OWN_STATE]] = 0.0;
    pd[e->node[BRAMAH__OWN_STATE]] = by.value;
    if (!d->by_p) continue;
    d->compliance[e->node[BRAMAH__OWN_STATE]] = 0.0;
    add(d, e->node[BRAMAH__OWN_STATE], e->node[0], by.by_dp);
    add(d, e->node[BRAMAH__OWN_STATE], e->node[1], -by.by_dp);
    for (size_t k = 0; k < by.n; k++) add(d, e->node[BRAMAH__OWN_STATE], by.node[k].at, by.node[k].by);
    for (size_t k = 0; d->by_U && k < by.n_spools; k++)
      d->by_U[e->node[BRAMAH__OWN_STATE] * bramah__n_spools(circuit) + by.spool[k].at] += by.spool[k].by;
  }
}

static inline void sum(const sums *d, const double *s, const double *v, const double *U, double *pd)
{
  const bramah__circuit *circuit = d->circuit;
  begin(d);
  for (size_t i = 0; i < circuit->n_passing; i++) add_element(d, i, v, U);
  for (size_t i = 0; i < circuit->n_valves; i++) add_valve(d, i, U);
  for (size_t c = 0; c < circuit->n_cylinders; c++) {
    if (circuit->cylinder[c].metered) continue;
    add_chamber(d, c, 0, s[c], v[c]);
    add_chamber(d, c, 1, s[c], v[c]);
  }
  for (size_t i = circuit->n_passing; i < circuit->n_elements - circuit->n_lines; i++) {
    const bramah__element *e = &circuit->element[i];
    const bramah__expr compliance = bramah__element_kinds[e->kind]->compliance(
        (bramah__quantities){.number = e->value}, e_variable(d->p[e->node[0]]));
    d->compliance[e->node[0]] += compliance.value;
    if (d->by_p) d->compliance_by_p[e->node[0]] += compliance.slope;
  }
  add_lines(d);
  for (size_t i = 0; i < bramah__n_filled(circuit); i++) pd[i] = finish(d, i);
  rate_states(d, U, pd);
}

size_t bramah__n_kinks(const bramah__circuit *circuit)
{
  size_t n = 0;
  for (size_t i = 0; i < circuit->n_passing; i++)
    n += bramah__element_kinds[circuit->element[i].kind]->opens != NULL;
  return n;
}

size_t bramah__kink_element(const bramah__circuit *circuit, size_t k)
{
  size_t i = 0;
  while (!bramah__element_kinds[circuit->element[i].kind]->opens || k-- > 0) i++;
  return i;
}

double bramah__compliance(const bramah__circuit *circuit, size_t volume, const double *p, const double *s)
{
  const bramah__volume *own = &circuit->volume[volume];
  const double air = bramah__air_compliance(&circuit->air, e_number(p[volume])).value;
  double sum = own->hose_volume * (1.0 / circuit->oil_bulk_modulus + air) + own->hose_compliance;
  for (size_t c = 0; c < circuit->n_cylinders; c++)
    for (int side = 0; side < 2; side++) {
      const bramah__cylinder *cylinder = &circuit->cylinder[c];
      if (cylinder->metered || cylinder->endless || (side ? cylinder->rod : cylinder->piston) != volume)
        continue;
      const double filled = bramah__filled(cylinder, bramah__chamber(cylinder, side, e_number(s[c]))).value;
      sum += (side ? cylinder->rod_area : cylinder->piston_area) * filled *
             (1.0 / circuit->oil_bulk_modulus + 1.0 / cylinder->bulk_modulus + air);
    }
  for (size_t i = circuit->n_passing; i < circuit->n_elements - circuit->n_lines; i++) {
    const bramah__element *e = &circuit->element[i];
    if (e->node[0] != volume) continue;
    sum += bramah__element_kinds[e->kind]
               ->compliance((bramah__quantities){.number = e->value}, e_number(p[volume]))
               .value;
  }
  return sum;
}

void bramah__fluid_rates(const bramah__circuit *circuit, const double *p, const double *s, const double *v,
                         const double *U, double *flow, double *pd)
{
  const sums d = {.circuit = circuit, .p = p, .flow = flow, .compliance = pd};
  sum(&d, s, v, U, pd);
}

void bramah__circuit_rates(const bramah__circuit *circuit, const double *p, const double *s, const double *v,
                           const double *U, double *flow, double *pd)
{
  bramah__fluid_rates(circuit, p, s, v, U, flow, pd);
  if (circuit->n_metered) bramah__metered_rates(circuit, p, v, U, flow, pd);
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
  sum(&d, s, v, U, pd);
}

void bramah__circuit_derivatives(const bramah__circuit *circuit, const double *p, const double *s,
                                 const double *v, const double *U, double *scratch, double *pd, double *by_p,
                                 double *by_s, double *by_v, double *by_U, double *by_supply)
{
  bramah__fluid_derivatives(circuit, p, s, v, U, scratch, pd, by_p, by_s, by_v, by_U, by_supply);
  if (circuit->n_metered) bramah__metered_derivatives(circuit, p, v, U, NULL, NULL, pd, by_p, by_v, by_U);
}

/* ---- flows for flow meters ---- */

/* Unless they are NULL, by_p and by_U += sign times the derivatives of q between two nodes; supplies have no place there. */
static void add_slopes(const bramah__circuit *circuit, size_t from, size_t to, const dependent *q,
                       double sign, double *by_p, double *by_U)
{
  if (by_p && from < circuit->n_volumes) by_p[from] += sign * q->by_dp;
  if (by_p && to < circuit->n_volumes) by_p[to] -= sign * q->by_dp;
  for (size_t k = 0; by_p && k < q->n; k++)
    if (q->node[k].at < circuit->n_volumes) by_p[q->node[k].at] += sign * q->node[k].by;
  for (size_t k = 0; by_U && k < q->n_spools; k++) by_U[q->spool[k].at] += sign * q->spool[k].by;
}

double bramah__element_flow(const bramah__circuit *circuit, size_t i, const double *p, const double *U,
                            double *by_p, double *by_U)
{
  return bramah__flow_at(circuit, i, p, NULL, U, by_p, NULL, by_U);
}

double bramah__flow_at(const bramah__circuit *circuit, size_t i, const double *p, const double *v,
                       const double *U, double *by_p, double *by_v, double *by_U)
{
  const size_t *node = circuit->element[i].node;
  dependent q;
  of_flow(circuit, i, p, v, U, by_p || by_U, &q);
  clear(by_p, circuit->n_volumes);
  clear(by_v, circuit->n_cylinders);
  if (by_v && q.turns) by_v[q.rate.at] = q.rate.by;
  clear(by_U, bramah__n_spools(circuit));
  add_slopes(circuit, node[0], node[1], &q, 1.0, by_p, by_U);
  return q.value;
}

double bramah__driven_torque(const bramah__circuit *circuit, size_t k, const double *p, const double *v,
                             const double *U, double *by_p, double *by_v, double *by_U)
{
  const bramah__driven_pump *pump = &circuit->driven[k];
  const bramah__element *e = &circuit->element[pump->element];
  const double dp = fmax(difference(circuit, p, e->node[1], e->node[0]), 0.0);
  const bramah__expr grip = bramah__driven_grip(pump, e_variable(v[pump->cylinder]));
  const double per_flow = -pump->per_power * grip.value * dp;
  dependent q;
  of_element(circuit, e, bramah__element_kinds[e->kind]->flow, p, U, by_p || by_U, &q);
  clear(by_p, circuit->n_volumes);
  clear(by_U, bramah__n_spools(circuit));
  add_slopes(circuit, e->node[0], e->node[1], &q, per_flow, by_p, by_U);
  const double per_pressure = dp > 0.0 ? -pump->per_power * grip.value * q.value : 0.0;
  if (by_p && e->node[1] < circuit->n_volumes) by_p[e->node[1]] += per_pressure;
  if (by_p && e->node[0] < circuit->n_volumes) by_p[e->node[0]] -= per_pressure;
  if (by_v) *by_v = -pump->per_power * grip.slope * dp * q.value;
  return per_flow * q.value;
}

double bramah__motor_flow(const bramah__circuit *circuit, size_t i, int port, const double *p,
                          const double *v, double *by_p)
{
  const bramah__element *e = &circuit->element[i];
  const size_t cylinder = bramah__motor_cylinder(circuit, i);
  const double sign[3][2] = {{1.0, 0.0}, {0.0, -1.0}, {1.0, 1.0}}; /* of what the ports lose to the drain */
  double flow = 0.0;
  clear(by_p, circuit->n_volumes);
  if (port < 2) {
    dependent q;
    of_element(circuit, e, bramah__element_kinds[e->kind]->flow, p, NULL, 0, &q);
    flow = circuit->cylinder[cylinder].piston_area * v[cylinder] + q.value;
    add_slopes(circuit, e->node[0], e->node[1], &q, 1.0, by_p, NULL);
  }
  for (int side = 0; side < 2; side++) {
    dependent q;
    along(drained(circuit, e, side, p), &q);
    flow += sign[port][side] * q.value;
    add_slopes(circuit, e->node[side], e->node[2], &q, sign[port][side], by_p, NULL);
  }
  return flow;
}

double bramah__valve_port_flow(const bramah__circuit *circuit, size_t i, int port, const double *p,
                               const double *U, double *by_p, double *by_U)
{
  const bramah__valve *valve = &circuit->valve[i];
  const int paths[2] = {port ? BRAMAH__PUMP_B : BRAMAH__PUMP_A, port ? BRAMAH__B_TANK : BRAMAH__A_TANK};
  const bramah__load_signal load = bramah__load_signal_at(circuit, valve->pump, p, U);
  bramah__expr e[BRAMAH__N_PATHS];
  size_t ends[BRAMAH__N_PATHS][2];
  double flow = 0.0;
  bramah__valve_ends(valve, ends);
  bramah__openings(&valve->opening, e_variable(U[i]), e);
  clear(by_p, circuit->n_volumes);
  clear(by_U, bramah__n_spools(circuit));
  for (int k = 0; k < 2; k++) {
    const size_t from = ends[paths[k]][0], to = ends[paths[k]][1];
    dependent q;
    of_path(circuit, i, paths[k], from, to, e[paths[k]], p, &load, &q);
    flow += k ? -q.value : q.value;
    add_slopes(circuit, from, to, &q, k ? -1.0 : 1.0, by_p, by_U);
  }
  return flow;
}

/* What of the flow q from one node to another a supply gives. */
static double draw(const bramah__circuit *circuit, size_t supply, size_t from, size_t to, const dependent *q,
                   double *by_p, double *by_v, double *by_U)
{
  const double sign = (double)(from == supply) - (double)(to == supply);
  if (by_v && q->turns) by_v[q->rate.at] += sign * q->rate.by;
  add_slopes(circuit, from, to, q, sign, by_p, by_U);
  return sign * q->value;
}

double bramah__drawn_flow(const bramah__circuit *circuit, size_t i, const double *p, const double *v,
                          const double *U, double *by_p, double *by_v, double *by_U)
{
  const size_t supply = circuit->n_volumes + i;
  double drawn = 0.0;
  clear(by_p, circuit->n_volumes);
  clear(by_v, circuit->n_cylinders);
  clear(by_U, bramah__n_spools(circuit));
  for (size_t k = 0; k < circuit->n_elements; k++) {
    const bramah__element *e = &circuit->element[k];
    if (k >= circuit->n_passing && k < circuit->n_elements - circuit->n_lines) continue;
    const size_t own = k < circuit->n_passing ? 0 : e->node[BRAMAH__OWN_STATE];
    dependent q = {.value = p[own], .n = 1, .node = {{own, 1.0}}}; /* of a line */
    if (k < circuit->n_passing) of_flow(circuit, k, p, v, U, by_p || by_U, &q);
    drawn += draw(circuit, supply, e->node[0], e->node[1], &q, by_p, by_v, by_U);
    for (int port = 0; port < 2 && bramah__element_kinds[e->kind]->drain && e->node[2] != BRAMAH__NO_NODE;
         port++) {
      along(drained(circuit, e, port, p), &q);
      drawn += draw(circuit, supply, e->node[port], e->node[2], &q, by_p, by_v, by_U);
    }
  }
  for (size_t k = 0; k < circuit->n_valves; k++) {
    const bramah__load_signal load = bramah__load_signal_at(circuit, circuit->valve[k].pump, p, U);
    bramah__expr e[BRAMAH__N_PATHS];
    size_t ends[BRAMAH__N_PATHS][2];
    bramah__openings(&circuit->valve[k].opening, e_variable(U[k]), e);
    bramah__valve_ends(&circuit->valve[k], ends);
    for (int w = 0; w < BRAMAH__N_PATHS; w++) {
      dependent q;
      of_path(circuit, k, w, ends[w][0], ends[w][1], e[w], p, &load, &q);
      drawn += draw(circuit, supply, ends[w][0], ends[w][1], &q, by_p, by_v, by_U);
    }
  }
  return drawn;
}
