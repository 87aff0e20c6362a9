/* SPDX-License-Identifier: MIT */
#include "lib/hydraulics/metering.h"

#include <math.h>
#include <string.h>

typedef bramah__line_point point;

/* Effective openings of a spool [V]: those among `open` [n_spools x BRAMAH__N_PATHS], or unless that is known, at U. */
static void find_openings(const bramah__circuit *circuit, size_t spool, const double *U, const double *open,
                          double out[BRAMAH__N_PATHS])
{
  bramah__expr e[BRAMAH__N_PATHS];
  if (!open) bramah__openings(&circuit->valve[spool].opening, e_number(U[spool]), e);
  for (size_t k = 0; k < BRAMAH__N_PATHS; k++) out[k] = open ? open[spool * BRAMAH__N_PATHS + k] : e[k].value;
}

/* Opening of a valve with one flow path, which its spool opens from 0 on. */
static double single(const bramah__circuit *circuit, size_t spool, double constant, const double *U,
                     const double *open)
{
  double e[BRAMAH__N_PATHS];
  if (spool == BRAMAH__NO_SPOOL) return constant;
  find_openings(circuit, spool, U, open, e);
  return bramah__opened(e[BRAMAH__PUMP_A], circuit->valve[spool].limit);
}

double bramah__single_opening(const bramah__circuit *circuit, size_t spool, const double *U)
{
  return single(circuit, spool, 0.0, U, NULL);
}

/* Openings and loads; U or `open` as above. */
static void load(const bramah__circuit *circuit, const bramah__metered_line *line, const double *p,
                 const double *v, const double *U, const double *open, point *at)
{
  at->line = line;
  at->group = (bramah__metered_group){line->n, circuit->metered + line->first, at->u, line->line};
  at->group.line.U_b *= single(circuit, line->unloading, line->unloading_open, U, open);
  for (size_t j = 0; j < line->n; j++) {
    const bramah__metered_port *port = &circuit->metered_port[line->first + j];
    double e[BRAMAH__N_PATHS];
    find_openings(circuit, port->spool, U, open, e);
    at->u[j] = bramah__metering_of(e, circuit->valve[port->spool].limit,
                                   single(circuit, port->regeneration, port->regeneration_open, U, open));
  }
  bramah__load_line(circuit->metered_port + line->first, p, v, at);
}

static void solve(const bramah__circuit *circuit, const bramah__metered_line *line, const double *p,
                  const double *v, const double *U, point *at)
{
  load(circuit, line, p, v, U, NULL, at);
  at->P = bramah__lambda_of(&at->group, at->beta, at->fbar, at->w);
}

void bramah__metered_solve(const bramah__circuit *circuit, const double *p, const double *v, const double *U,
                           double *w, double *P)
{
  point at;
  for (size_t l = 0; l < circuit->n_metered_lines; l++) {
    const bramah__metered_line *line = &circuit->metered_line[l];
    solve(circuit, line, p, v, U, &at);
    memcpy(w + line->first, at.w, line->n * sizeof *w);
    P[l] = at.P;
  }
}

void bramah__metered_solve_tangent(const bramah__circuit *circuit, const double *p, const double *v,
                                   const double *open, double *w, double *P, double *by_load)
{
  const size_t n_all = circuit->n_metered;
  double slope[BRAMAH__MAX_ON_LINE * BRAMAH__MAX_ON_LINE], work[2 * BRAMAH__MAX_ON_LINE];
  point at;
  memset(by_load, 0, n_all * n_all * sizeof *by_load);
  for (size_t l = 0; l < circuit->n_metered_lines; l++) {
    const bramah__metered_line *line = &circuit->metered_line[l];
    load(circuit, line, p, v, NULL, open, &at);
    at.P = bramah__lambda_of(&at.group, at.beta, at.fbar, at.w);
    bramah__lambda_slopes(&at.group, at.P, at.beta, at.w, slope, work);
    memcpy(w + line->first, at.w, line->n * sizeof *w);
    P[l] = at.P;
    for (size_t j = 0; j < line->n; j++)
      memcpy(by_load + (line->first + j) * n_all + line->first, slope + j * line->n,
             line->n * sizeof *by_load);
  }
}

double bramah__metered_drag(const bramah__circuit *circuit, size_t i, double w, const double *v)
{
  const bramah__metered_port *port = &circuit->metered_port[i];
  return port->damping * (w - v[port->cylinder]);
}

double bramah__drag_per_rate(const bramah__circuit *circuit, size_t i)
{
  const bramah__metered_port *port = &circuit->metered_port[i];
  return port->damping * circuit->metered[i].A_h / port->stiffness;
}

double bramah__load_stiffness(const bramah__circuit *circuit, size_t i)
{
  return circuit->metered_port[i].stiffness / circuit->metered[i].A_h;
}

static void store_rate(const bramah__circuit *circuit, size_t i, double w, const double *v, double *pd)
{
  const bramah__metered_port *port = &circuit->metered_port[i];
  pd[port->volume] = bramah__load_stiffness(circuit, i) * (w - v[port->cylinder]);
}

void bramah__metered_rates_of(const bramah__circuit *circuit, const double *w, const double *v, double *flow,
                              double *pd)
{
  for (size_t i = 0; i < circuit->n_metered; i++) {
    flow[circuit->metered_port[i].volume] = w[i];
    store_rate(circuit, i, w[i], v, pd);
  }
}

void bramah__metered_rates(const bramah__circuit *circuit, const double *p, const double *v, const double *U,
                           double *flow, double *pd)
{
  point at;
  for (size_t l = 0; l < circuit->n_metered_lines; l++) {
    const bramah__metered_line *line = &circuit->metered_line[l];
    solve(circuit, line, p, v, U, &at);
    for (size_t j = 0; j < line->n; j++) {
      flow[circuit->metered_port[line->first + j].volume] = at.w[j];
      store_rate(circuit, line->first + j, at.w[j], v, pd);
    }
  }
}

/* Rates by load pressures and rod velocities: dw_j/dfbar_k = slope, dfbar = A_h dpi - B dv. */
static void store_slopes(const bramah__circuit *circuit, const point *at, const double *slope, double *by_p,
                         double *by_v)
{
  const size_t np = circuit->n_volumes, nc = circuit->n_cylinders, first = at->line->first, n = at->line->n;
  for (size_t j = 0; j < n; j++) {
    const bramah__metered_port *row = &circuit->metered_port[first + j];
    const double K = bramah__load_stiffness(circuit, first + j);
    for (size_t k = 0; k < n; k++) {
      const bramah__metered_port *column = &circuit->metered_port[first + k];
      const double s = K * slope[j * n + k];
      by_p[row->volume * np + column->volume] = s * circuit->metered[first + k].A_h;
      by_v[row->volume * nc + column->cylinder] = -s * column->damping - (j == k ? K : 0.0);
    }
  }
}

/* Slope of an opening that ends at the full one, `limit`. */
static double part_slope(bramah__expr open, double limit)
{
  return open.value < limit ? open.slope : open.value > limit ? 0.0 : fmin(open.slope, 0.0);
}

/* Do all openings follow their slopes at U as far as `by`? */
static int is_straight(const bramah__valve *valve, double U, double by)
{
  bramah__expr e[BRAMAH__N_PATHS], there[BRAMAH__N_PATHS];
  bramah__openings(&valve->opening, e_variable(U), e);
  bramah__openings(&valve->opening, e_number(U + by), there);
  for (int w = 0; w < BRAMAH__N_PATHS; w++) {
    const double follows = by * part_slope(e[w], valve->limit),
                 moves = fmin(there[w].value, valve->limit) - fmin(e[w].value, valve->limit);
    if (fabs(moves - follows) > 1e-3 * fabs(by) * (1.0 + fabs(e[w].slope))) return 0;
  }
  return 1;
}

bramah__spool_difference bramah__differ_spool(const bramah__valve *valve, double U)
{
  const double step = 1e-6 * valve->limit;
  const int up = is_straight(valve, U, step), down = is_straight(valve, U, -step);
  const double side = up || !down ? 1.0 : -1.0;
  if (up && down) return (bramah__spool_difference){step, {1.0, -1.0, 0.0}, {0.5, -0.5, 0.0}};
  return (bramah__spool_difference){
      step, {side, 2.0 * side, 3.0 * side}, {-2.5 * side, 4.0 * side, -1.5 * side}};
}

static double moved(double u, double by) { return fmin(fmax(u + by, 0.0), 1.0); }

/* Rates by spools: the velocities are differenced while the openings that a spool moves follow their slopes. */
static void store_spools(const bramah__circuit *circuit, const point *at, const double *U, double *by_U)
{
  const size_t ns = bramah__n_spools(circuit), first = at->line->first, n = at->line->n;
  for (size_t spool = circuit->n_valves; spool < ns; spool++) {
    /* How openings follow the spool, as parts of the full one. */
    const bramah__valve *valve = &circuit->valve[spool];
    bramah__expr e[BRAMAH__N_PATHS];
    double e_U[BRAMAH__N_PATHS];
    bramah__openings(&valve->opening, e_variable(U[spool]), e);
    for (int k = 0; k < BRAMAH__N_PATHS; k++) e_U[k] = part_slope(e[k], valve->limit) / valve->limit;
    const double unloading = at->line->unloading == spool ? at->line->line.U_b * e_U[BRAMAH__PUMP_A] : 0.0;

    const bramah__spool_difference d = bramah__differ_spool(valve, U[spool]);
    for (int k = 0; k < 3; k++) {
      if (d.weight[k] == 0.0) continue;

      /* The velocities with all openings moved. */
      const double by = d.at[k] * d.step;
      bramah__metering u[BRAMAH__MAX_ON_LINE];
      double w[BRAMAH__MAX_ON_LINE];
      bramah__metered_group group = at->group;
      for (size_t j = 0; j < n; j++) {
        const bramah__metered_port *port = &circuit->metered_port[first + j];
        u[j] = at->u[j];
        if (port->spool == spool) {
          u[j].ph = moved(u[j].ph, by * e_U[BRAMAH__PUMP_A]);
          u[j].tr = moved(u[j].tr, by * e_U[BRAMAH__B_TANK]);
          u[j].pr = moved(u[j].pr, by * e_U[BRAMAH__PUMP_B]);
          u[j].th = moved(u[j].th, by * e_U[BRAMAH__A_TANK]);
        }
        if (port->regeneration == spool) u[j].a = moved(u[j].a, by * e_U[BRAMAH__PUMP_A]);
      }
      group.u = u;
      group.line.U_b = fmax(group.line.U_b + by * unloading, 0.0);
      bramah__lambda_of(&group, at->beta, at->fbar, w);

      for (size_t j = 0; j < n; j++)
        by_U[circuit->metered_port[first + j].volume * ns + spool] +=
            bramah__load_stiffness(circuit, first + j) * (w[j] - at->w[j]) * d.weight[k] / d.step;
    }
  }
}

/* The point that metered_solve has found. */
static void take(const bramah__circuit *circuit, size_t l, const double *p, const double *v, const double *U,
                 const double *w, const double *P, point *at)
{
  const bramah__metered_line *line = &circuit->metered_line[l];
  if (!w) {
    solve(circuit, line, p, v, U, at);
    return;
  }
  load(circuit, line, p, v, U, NULL, at);
  memcpy(at->w, w + line->first, line->n * sizeof *w);
  at->P = P[l];
}

void bramah__metered_derivatives(const bramah__circuit *circuit, const double *p, const double *v,
                                 const double *U, const double *w, const double *P, double *pd, double *by_p,
                                 double *by_v, double *by_U)
{
  double slope[BRAMAH__MAX_ON_LINE * BRAMAH__MAX_ON_LINE], work[2 * BRAMAH__MAX_ON_LINE];
  point at;
  for (size_t l = 0; l < circuit->n_metered_lines; l++) {
    take(circuit, l, p, v, U, w, P, &at);
    bramah__lambda_slopes(&at.group, at.P, at.beta, at.w, slope, work);
    store_slopes(circuit, &at, slope, by_p, by_v);
    if (by_U) store_spools(circuit, &at, U, by_U);
    for (size_t j = 0; j < at.line->n; j++) store_rate(circuit, at.line->first + j, at.w[j], v, pd);
  }
}

size_t bramah__metered_of(const bramah__circuit *circuit, size_t cylinder)
{
  size_t i = 0;
  while (i < circuit->n_metered && circuit->metered_port[i].cylinder != cylinder) i++;
  return i;
}

size_t bramah__line_of(const bramah__circuit *circuit, size_t i)
{
  size_t l = 0;
  while (i >= circuit->metered_line[l].first + circuit->metered_line[l].n) l++;
  return l;
}

void bramah__metered_gauges(const bramah__circuit *circuit, const double *p, const double *v, const double *U,
                            const double *w, const double *P, double *gauge, double *by_load)
{
  const size_t width = circuit->n_metered, lines = BRAMAH__GAUGES * width;
  point at;
  if (by_load) memset(by_load, 0, bramah__n_gauges(circuit) * width * sizeof *by_load);
  for (size_t l = 0; l < circuit->n_metered_lines; l++) {
    const size_t first = circuit->metered_line[l].first;
    take(circuit, l, p, v, U, w, P, &at);
    bramah__line_gauges(&at, gauge + BRAMAH__GAUGES * first);
    gauge[lines + l] = at.P;
    if (by_load)
      bramah__line_gauges_by_load(&at, width, by_load + BRAMAH__GAUGES * first * width + first,
                                  by_load + (lines + l) * width + first);
  }
}

unsigned bramah__metered_valves(const bramah__circuit *circuit, size_t i, const double *p, const double *v,
                                const double *U, const double *w, const double *P)
{
  point at;
  const size_t l = bramah__line_of(circuit, i), j = i - circuit->metered_line[l].first;
  take(circuit, l, p, v, U, w, P, &at);
  const double f = at.beta[j] * at.w[j] + at.fbar[j];
  return bramah__metered_state_at(&at.group.actuators[j], &at.u[j], &at.group.line, at.P, at.w[j], f).valves;
}

/* ---- keys ---- */

#define COEFFICIENT_KEYS(type_, excluded, ...)                                                               \
  BRAMAH__FACTOR_KEY("area", "m^2", "flow_coefficient", .excludes = (excluded)),                             \
      BRAMAH__FACTOR_KEY("discharge_coefficient", "1", "flow_coefficient", .excludes = (excluded)),          \
      BRAMAH__QUANTITY_KEY("flow_coefficient", type_, flow_coefficient, .unit = BRAMAH__FLOW_UNIT,           \
                           .what = "the flow coefficient", .range = BRAMAH_KEY_POSITIVE,                     \
                           .excludes = (excluded), __VA_ARGS__)

static const char *check_one_way(const void *element, const char **key)
{
  const bramah_metering_valve *valve = element;
  *key = "opening";
  if (valve->flow_coefficient == 0.0) return NULL;
  if (!valve->input) return valve->opening <= 1.0 ? NULL : "an opening must lie between 0 and 1";
  *key = "limit";
  return valve->limit > 0.0 ? NULL : "the limit must be positive";
}

static const bramah_element_key one_way_keys[] = {
    COEFFICIENT_KEYS(bramah_metering_valve, NULL, .required = 0),
    BRAMAH__QUANTITY_KEY("opening", bramah_metering_valve, opening, .unit = "1", .what = "the opening",
                         .range = BRAMAH_KEY_NOT_NEGATIVE, .either = "input"),
    BRAMAH__NAME_KEY("input", BRAMAH_KEY_INPUT, bramah_metering_valve, input, 0),
    BRAMAH__QUANTITY_KEY("time_constant", bramah_metering_valve, time_constant, .unit = "s",
                         .what = "the time constant", .range = BRAMAH_KEY_NOT_NEGATIVE),
    BRAMAH__QUANTITY_KEY("limit", bramah_metering_valve, limit, .unit = "V", .what = "the limit",
                         .range = BRAMAH_KEY_POSITIVE, .otherwise = 10.0),
    {0}};

static const bramah_element_kind one_way = {
    .keys = one_way_keys, .check = check_one_way, .factors_by_density = 1};

static const bramah_element_key line_keys[] = {
    BRAMAH__NAME_KEY("tank", BRAMAH_KEY_SUPPLY, bramah_pump_line, tank, 1),
    BRAMAH__QUANTITY_KEY("flow", bramah_pump_line, flow, .required = 1, .unit = "m^3/s", .what = "the flow",
                         .range = BRAMAH_KEY_POSITIVE),
    BRAMAH__QUANTITY_KEY("set_pressure", bramah_pump_line, set_pressure, .required = 1, .unit = "Pa",
                         .what = "the set pressure", .range = BRAMAH_KEY_POSITIVE),
    BRAMAH__PART_KEY("unloading", bramah_pump_line, unloading, &one_way),
    {0}};

const bramah_element_kind bramah__pump_line_kind = BRAMAH__DESCRIPTION(
    "pump_lines", "pump line", bramah_pump_line, pump_lines, .keys = line_keys, .device = 1);

#define COEFFICIENT_KEY(key, port)                                                                           \
  {                                                                                                          \
    .name = (key), .type = BRAMAH_KEY_QUANTITY, .offset = (port) * sizeof(double), .required = 1,            \
    .unit = BRAMAH__FLOW_UNIT, .what = "the flow coefficient of " key, .range = BRAMAH_KEY_POSITIVE          \
  }

static const bramah_element_key coefficient_keys[] = {COEFFICIENT_KEY("pump_a", BRAMAH_PORT_PUMP_A),
                                                      COEFFICIENT_KEY("b_tank", BRAMAH_PORT_B_TANK),
                                                      COEFFICIENT_KEY("a_tank", BRAMAH_PORT_A_TANK),
                                                      COEFFICIENT_KEY("pump_b", BRAMAH_PORT_PUMP_B),
                                                      {0}};

static const bramah_element_kind coefficients = {.keys = coefficient_keys};

/* Lengths: all three or none, and an end stop needs them. */
static const char *check_metered(const void *element, const char **key)
{
  const bramah_metered_cylinder *c = element;
  const struct {
    const char *key, *message;
    double length;
  } rows[] = {
      {"reference_stroke", "the reference stroke must be positive, not 0", c->reference_stroke},
      {"piston_chamber_length", "the piston chamber length must be positive, not 0",
       c->piston_chamber_length},
      {"rod_chamber_length", "the rod chamber length must be positive, not 0", c->rod_chamber_length}};
  *key = "regeneration";
  if (c->regeneration.flow_coefficient != 0.0 && !(c->piston_area >= c->rod_area))
    return "regeneration needs a piston area that is not below the rod area";
  *key = rows[0].key;
  const int any = rows[0].length != 0.0 || rows[1].length != 0.0 || rows[2].length != 0.0;
  if (!any && (c->end_stop.stiffness != 0.0 || c->end_stop.cushion_length != 0.0))
    return "an end stop needs chamber lengths";
  for (int i = 0; i < 3 && any; i++) {
    *key = rows[i].key;
    if (rows[i].length == 0.0) return rows[i].message;
  }
  return bramah__check_spool(&c->spool, key);
}

#define METERED_KEY(key, member, unit_, what_, required_)                                                    \
  BRAMAH__QUANTITY_KEY(key, bramah_metered_cylinder, member, .required = (required_), .unit = (unit_),       \
                       .what = (what_), .range = BRAMAH_KEY_POSITIVE)

static const bramah_element_key metered_keys[] = {
    BRAMAH__ATTACHMENT_KEYS(bramah_metered_cylinder),
    BRAMAH__NAME_KEY("pump_line", BRAMAH_KEY_PUMP_LINE, bramah_metered_cylinder, pump_line, 1),
    BRAMAH__AREA_KEYS(bramah_metered_cylinder),
    METERED_KEY("piston_relief", piston_relief, "Pa", "the relief setting of the piston side", 1),
    METERED_KEY("rod_relief", rod_relief, "Pa", "the relief setting of the rod side", 1),
    COEFFICIENT_KEYS(bramah_metered_cylinder, "flow_coefficients", .required = 1, .copies = BRAMAH_N_PORTS),
    BRAMAH__PART_KEY("flow_coefficients", bramah_metered_cylinder, flow_coefficient, &coefficients),
    BRAMAH__PART_KEY("regeneration", bramah_metered_cylinder, regeneration, &one_way),
    METERED_KEY("stiffness", stiffness, "N/m", "the stiffness", 1),
    METERED_KEY("damping", damping, "N*s/m", "the damping", 1),
    {.name = "load_pressure",
     .type = BRAMAH_KEY_PRESSURE,
     .offset = offsetof(bramah_metered_cylinder, load_pressure),
     .initial = offsetof(bramah_metered_cylinder, initial),
     .unit = "Pa"},
    BRAMAH__SPOOL_KEYS(bramah_metered_cylinder, spool., 0),
    METERED_KEY("reference_stroke", reference_stroke, "m", "the reference stroke", 0),
    METERED_KEY("piston_chamber_length", piston_chamber_length, "m", "the piston chamber length", 0),
    METERED_KEY("rod_chamber_length", rod_chamber_length, "m", "the rod chamber length", 0),
    BRAMAH__PART_KEY("friction", bramah_metered_cylinder, friction, &bramah__friction_part),
    BRAMAH__PART_KEY("end_stop", bramah_metered_cylinder, end_stop, &bramah__end_stop_part),
    {0}};

const bramah_element_kind bramah__metered_cylinder_kind =
    BRAMAH__DESCRIPTION("metered_cylinders", "metered cylinder", bramah_metered_cylinder, metered_cylinders,
                        .keys = metered_keys, .check = check_metered, .factors_by_density = 1, .device = 1);
