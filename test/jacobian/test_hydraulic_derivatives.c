/* SPDX-License-Identifier: MIT */
/* Derivatives of the circuit and of each of its elements against differences, at random points and at the
 * kinks. */
#include "lib/hydraulics/circuit.h"
#include "test/support/differences.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <string.h>

static const double laminar = 2e5;

/* ---- elements, each a function of one variable ---- */

static const bramah__element check = {BRAMAH__KIND(check_valve), {0}, {1e-7, 5e5}};
static const bramah__element relief = {BRAMAH__KIND(relief_valve), {0}, {2e-7, 180e5, 20e5}};
static const bramah__element pump = {BRAMAH__KIND(pump), {0}, {4e-4, 150e5, 10e5}};
static const bramah__element fixed_pump = {BRAMAH__KIND(pump), {0}, {4e-4}};
static const bramah__element bladder = {BRAMAH__KIND(accumulator), {0}, {5e-4, 80e5, 1.4}};
static const bramah__air air = {.fraction = 0.01, .exponent = 1.3, .vapour_pressure = 3000.0};
static const double curve_x[4] = {-8, -1, 2, 9}, curve_y[4] = {-5, -1, 0.5, 7};
static const bramah__curve curve = {4, curve_x, curve_y};
static const bramah__end_stop contact = {.stiffness = 1e8, .damping = 1e5};
static const bramah__end_stop cushion = {.cushion_length = 0.03125, .cushion_damping = 5e4};
static const bramah__cylinder stopped = {.stop = {.stiffness = 1e8}};
static const bramah__opening dead_band = {.dead_band = 0.5};
static const bramah__opening no_dead_band = {.dead_band = 0.0};
static const double way_x[3] = {-1, 2, 10}, way_y[3] = {0, 1, 8};
static const bramah__opening unequal = {.common = {4, curve_x, curve_y},
                                        .path[BRAMAH__B_TANK] = {3, way_x, way_y}};

static bramah__expr through(const bramah__element *e, double dp)
{
  const bramah__expr seen[BRAMAH__N_SEEN] = {e_variable(dp)};
  return bramah__element_kinds[e->kind]->flow((bramah__quantities){.number = e->value}, seen, laminar);
}

static bramah__expr flow_at(double x) { return bramah__root_flow(e_variable(x), laminar); }
static bramah__expr check_at(double x) { return through(&check, x); }
static bramah__expr relief_at(double x) { return through(&relief, x); }
static bramah__expr pump_at(double x) { return through(&pump, x); }
static bramah__expr fixed_at(double x) { return through(&fixed_pump, x); }
static bramah__expr gas_at(double x)
{
  return bramah__accumulator_kind.compliance((bramah__quantities){.number = bladder.value}, e_variable(x));
}
static bramah__expr air_at(double x) { return bramah__air_compliance(&air, e_variable(x)); }
static bramah__expr cavity_at(double x) { return bramah__cavity_recovery(&air, e_variable(x)); }
static bramah__expr curve_at(double x) { return bramah__curve_at(&curve, e_variable(x)); }
static bramah__expr filled_at(double x) { return bramah__filled(&stopped, e_variable(x)); }

static bramah__expr opening_at(const bramah__opening *opening, double U, int way)
{
  bramah__expr e[BRAMAH__N_PATHS];
  bramah__openings(opening, e_variable(U), e);
  return e[way];
}

#define OPENING(name, opening, way)                                                                          \
  static bramah__expr name##_at(double U) { return opening_at(&opening, U, way); }
OPENING(band_a, dead_band, BRAMAH__PUMP_A)
OPENING(band_b, dead_band, BRAMAH__PUMP_B)
OPENING(plain_a, no_dead_band, BRAMAH__B_TANK)
OPENING(plain_b, no_dead_band, BRAMAH__A_TANK)
OPENING(common_a, unequal, BRAMAH__PUMP_A)
OPENING(common_b, unequal, BRAMAH__PUMP_B)
OPENING(way_b, unequal, BRAMAH__B_TANK)

static bramah__expr stop_at(const bramah__end_stop *stop, double l, double w, int by_speed)
{
  return bramah__end_stop_force(stop, by_speed ? e_number(l) : e_variable(l),
                                by_speed ? e_variable(w) : e_number(w));
}

/* Force by length at held closing speed, and by closing speed at held length. */
#define STOP(name, stop, l, w, by_speed)                                                                     \
  static bramah__expr name##_at(double x) { return stop_at(&stop, l, w, by_speed); }
STOP(contact_l, contact, x, 0.25, 0)
STOP(contact_w, contact, -0x1p-13, x, 1) /* deeper than the damper needs */
STOP(shallow_w, contact, -0x1p-14, x, 1)
STOP(cushion_l, cushion, x, 0.25, 0)
STOP(opening_l, cushion, x, -0.25, 0)
STOP(cushion_w, cushion, 0.015625, x, 1)

typedef struct kink {
  double at;
  int side; /* +1: the slope there is that towards greater x */
} kink;

typedef struct function {
  const char *name;
  bramah__expr (*tangent)(double);
  double low, high, step;
  kink kinks[5]; /* up to one with side 0 */
} function;

static const function functions[] = {
    {"flow", flow_at, -1e6, 1e6, 100, {{2e5, 1}, {-2e5, -1}}},
    {"check valve", check_at, 0, 2e6, 100, {{5e5, -1}, {7e5, 1}}},
    {"relief valve", relief_at, 170e5, 210e5, 1000, {{180e5, -1}, {200e5, 1}}},
    {"pump", pump_at, -160e5, -130e5, 1000, {{-140e5, 1}, {-150e5, -1}}},
    {"pump without compensator", fixed_at, -1e6, 1e6, 1000, {{0, 0}}},
    {"accumulator", gas_at, 70e5, 200e5, 1000, {{80e5, 1}}},
    {"air", air_at, 2900, 5000, 0.2, {{3100, -1}}},
    {"air under pressure", air_at, 1e5, 1e7, 200, {{0, 0}}},
    {"cavity", cavity_at, 0, 6000, 1, {{3000, 1}}},
    {"curve", curve_at, -10, 10, 1e-3, {{-8, 1}, {-1, 1}, {2, 1}, {9, 1}}},
    {"chamber", filled_at, -1, 1, 1e-3, {{0, -1}}},
    {"dead band, pump -> a", band_a_at, -2, 2, 1e-3, {{0.5, 1}}},
    {"dead band, pump -> b", band_b_at, -2, 2, 1e-3, {{-0.5, 1}}},
    {"spool, b -> tank", plain_a_at, -2, 2, 1e-3, {{0, 1}}},
    {"spool, a -> tank", plain_b_at, -2, 2, 1e-3, {{0, 1}}},
    {"characteristic, pump -> a", common_a_at, -10, 10, 1e-3, {{1, 1}, {2, 1}, {9, 1}}},
    {"characteristic, pump -> b", common_b_at, -10, 10, 1e-3, {{1, 1}, {-1, 1}, {-8, 1}}},
    {"its own, b -> tank", way_b_at, -10, 11, 1e-3, {{-1, 1}, {2, 1}, {10, 1}}},
    {"contact by length", contact_l_at, -3e-4, 3e-4, 1e-7, {{0, 1}, {-1e-4, -1}}},
    {"contact by speed", contact_w_at, -1, 1, 1e-3, {{-1e3 * 0x1p-13, -1}}},
    {"shallow contact by speed", shallow_w_at, -1, 1, 1e-3, {{-0.1, -1}}},
    {"cushion by length", cushion_l_at, -0.03, 0.06, 1e-5, {{0, -1}, {0.03125, 1}}},
    {"opening cushion", opening_l_at, -0.03, 0.06, 1e-5, {{0, 0}}},
    {"cushion by speed", cushion_w_at, -1, 1, 1e-3, {{0, -1}}},
};
enum { N_FUNCTIONS = sizeof functions / sizeof functions[0] };

/* Steepest slope over the range, for what a difference of nearly equal values is worth. */
static double steepest(const function *f)
{
  double most = 0.0;
  for (int i = 0; i <= 100; i++)
    most = fmax(most, fabs(f->tangent(f->low + 0.01 * i * (f->high - f->low)).slope));
  return most;
}

static const function *differentiated;
static double value_of(double x) { return differentiated->tangent(x).value; }

static int near_kink(const function *f, double x)
{
  for (const kink *k = f->kinks; k->side; k++)
    if (fabs(x - k->at) <= 3.0 * f->step) return 1;
  return 0;
}

EACH_TEST(test_elements_at_random_points, 0, N_FUNCTIONS)
{
  const function *f = differentiated = &functions[_i];
  const double scale = steepest(f);
  unsigned seed = 11;
  int checked = 0;
  for (int i = 0; i < 2000; i++) {
    const double x = f->low + 0.5 * (1.0 + test_uniform(&seed)) * (f->high - f->low);
    const bramah__expr t = f->tangent(x);
    if (near_kink(f, x)) continue;
    const double difference = central(value_of, x, f->step);
    ck_assert_msg(fabs(t.slope - difference) <= 1e-8 * fabs(difference) + 1e-9 * scale,
                  "%s at %.17g: %.12g, difference %.12g", f->name, x, t.slope, difference);
    checked++;
  }
  ck_assert_int_gt(checked, 1900);
}

/* At the kink the documented side; close to it, each side its own; and the sides differ, or it were none. */
EACH_TEST(test_elements_at_kinks, 0, N_FUNCTIONS)
{
  const function *f = differentiated = &functions[_i];
  const double tolerance = 2e-7 * steepest(f);
  for (const kink *k = f->kinks; k->side; k++) {
    const double h = 0.1 * f->step;
    const double above = one_sided(value_of, k->at, h), below = one_sided(value_of, k->at, -h);
    const double there = f->tangent(k->at).slope;
    ck_assert_msg(fabs(there - (k->side > 0 ? above : below)) <= tolerance,
                  "%s at the kink %.9g: %.12g, below %.12g, above %.12g", f->name, k->at, there, below,
                  above);
    ck_assert_msg(fabs(above - below) > 1e3 * tolerance, "%s: no kink at %.9g", f->name, k->at);
    for (int side = -1; side <= 1; side += 2) {
      const double x = k->at + 5.0 * side * f->step, difference = central(value_of, x, f->step);
      ck_assert_msg(fabs(f->tangent(x).slope - difference) <= tolerance,
                    "%s beside the kink %.9g: %.12g, %.12g", f->name, k->at, f->tangent(x).slope, difference);
    }
  }
}

/* ---- a circuit with all of them ---- */

enum { NP = 5, NC = 3, NV = 2, NS = 2 }; /* volumes line, bottom, top, left, right; supplies tank, pilot */
enum { LINE, BOTTOM, TOP, LEFT, RIGHT, TANK, PILOT };

static const bramah__volume volumes[NP] = {{5e-4, 5e-4 / 5.5e8},
                                           {1e-4, 1e-4 / 5.5e8},
                                           {1e-4, 1e-4 / 5.5e8},
                                           {1e-4, 1e-4 / 5.5e8},
                                           {2e-4, 2e-4 / 5.5e8}};
enum { N_ELEMENTS = 14, FIRST_MOTOR = 10, N_PASSING = 12 }; /* two of each kind */
static const bramah__element elements[N_ELEMENTS] = {
    {BRAMAH__KIND(orifice), {PILOT, LEFT}, {2e-8}},
    {BRAMAH__KIND(orifice), {BOTTOM, RIGHT}, {5e-8}},
    {BRAMAH__KIND(leakage), {BOTTOM, TOP}, {1e-12}},
    {BRAMAH__KIND(leakage), {LINE, TANK}, {2e-12}},
    {BRAMAH__KIND(check_valve), {TANK, TOP}, {1e-6, 2e4}},
    {BRAMAH__KIND(check_valve), {LEFT, BOTTOM}, {1e-7, 5e5}},
    {BRAMAH__KIND(relief_valve), {LINE, TANK}, {2e-7, 100e5, 80e5}},
    {BRAMAH__KIND(relief_valve), {TOP, LEFT}, {1e-7, 20e5, 60e5}},
    {BRAMAH__KIND(pump), {TANK, LINE}, {4e-4, 150e5, 100e5}},
    {BRAMAH__KIND(pump), {LEFT, RIGHT}, {1e-5, 0, 0}},
    {BRAMAH__KIND(motor), {LINE, TOP, RIGHT}, {2e-5, 10.0, 3e-12, 4e-12}},
    {BRAMAH__KIND(motor), {LEFT, TOP, TANK}, {2e-5, 10.0, 0.0, 2e-12}},
    {BRAMAH__KIND(accumulator), {LINE}, {5e-4, 80e5, 1.4}},
    {BRAMAH__KIND(accumulator), {RIGHT}, {1e-4, 50e5, 1.0}}};
static const bramah__valve valves[NV] = {
    {.pump = LINE,
     .tank = TANK,
     .a = BOTTOM,
     .b = TOP,
     .coefficient = 2e-8,
     .opening = {.dead_band = 0.5, .path[BRAMAH__B_TANK] = {3, way_x, way_y}}},
    {.pump = PILOT,
     .tank = TANK,
     .a = LEFT,
     .b = RIGHT,
     .coefficient = 2e-9,
     .opening = {.common = {4, curve_x, curve_y}}}};
static const bramah__cylinder cylinders[NC] = {{.piston = BOTTOM,
                                                .rod = TOP,
                                                .piston_area = 3.1e-3,
                                                .rod_area = 2.1e-3,
                                                .bulk_modulus = 30e9,
                                                .reference = 1.042,
                                                .piston_length = 0.3,
                                                .rod_length = 0.2,
                                                .stop = {1e8, 1e5, 0.02, 5e4}},
                                               {.piston = LEFT,
                                                .rod = RIGHT,
                                                .piston_area = 6e-5,
                                                .rod_area = 6e-5,
                                                .bulk_modulus = 30e9,
                                                .piston_length = 1.5,
                                                .rod_length = 1.5},
                                               {.endless = 1, /* a motor */
                                                .piston = LINE,
                                                .rod = TOP,
                                                .piston_area = 2e-4,
                                                .rod_area = 2e-4,
                                                .piston_length = INFINITY,
                                                .rod_length = INFINITY}};

static bramah__circuit whole_circuit(const double *supply)
{
  return (bramah__circuit){.oil_bulk_modulus = 1.5e9,
                           .transition_pressure = laminar,
                           .n_volumes = NP,
                           .volume = volumes,
                           .n_supplies = NS,
                           .supply = supply,
                           .n_elements = N_ELEMENTS,
                           .n_passing = N_PASSING,
                           .first_motor = FIRST_MOTOR,
                           .n_motors = 2,
                           .element = elements,
                           .n_valves = NV,
                           .valve = valves,
                           .n_cylinders = NC,
                           .cylinder = cylinders,
                           .air = air};
}

/* What the rates depend on. */
typedef struct point {
  double p[NP], s[NC], v[NC], U[NV], supply[NS];
} point;
enum { N_ARGUMENTS = sizeof(point) / sizeof(double) };

static double between(unsigned *seed, double low, double high)
{
  return low + 0.5 * (1.0 + test_uniform(seed)) * (high - low);
}

/* One pressure in four is low: around the vapour pressure. Strokes reach behind the stops. */
static point random_point(unsigned *seed)
{
  point x;
  for (int i = 0; i < NP; i++) {
    const int low = test_uniform(seed) < -0.5;
    x.p[i] = low ? between(seed, -3e3, 8e3) : between(seed, 0.5e5, 220e5);
  }
  x.s[0] = 1.042 + between(seed, -0.33, 0.23);
  x.s[1] = between(seed, -1.4, 1.4);
  x.s[2] = between(seed, -100.0, 100.0);
  for (int c = 0; c < NC; c++) x.v[c] = between(seed, -0.5, 0.5);
  for (int i = 0; i < NV; i++) x.U[i] = between(seed, -11, 11);
  x.supply[0] = between(seed, 0.5e5, 2e5);
  x.supply[1] = between(seed, 20e5, 100e5);
  return x;
}

static void rates(const point *x, double *flow, double *pd)
{
  const bramah__circuit circuit = whole_circuit(x->supply);
  bramah__circuit_rates(&circuit, x->p, x->s, x->v, x->U, flow, pd);
}

/* Steps that stay small against the air, which varies over 100 Pa, and the transition pressure. */
static double step_for(const point *x, size_t argument)
{
  if (argument >= NP) return argument < NP + 2 * NC + NV ? 1e-4 : 100.0;
  return fmin(2e-3 * fmax(fabs(x->p[argument] - air.vapour_pressure), 100.0), 200.0);
}

static const double *argument_of(const point *x, size_t argument) { return &x->p[0] + argument; }

static void difference_column(const point *x, size_t argument, double *column)
{
  const double h = step_for(x, argument), centre = *argument_of(x, argument);
  double flow[NP], pd[4][NP];
  for (int i = 0; i < 4; i++) {
    double moved[N_ARGUMENTS];
    point y;
    memcpy(moved, x, sizeof moved);
    moved[argument] = central_at(centre, i, h);
    memcpy(&y, moved, sizeof y);
    rates(&y, flow, pd[i]);
  }
  for (int r = 0; r < NP; r++) column[r] = central_of((double[4]){pd[0][r], pd[1][r], pd[2][r], pd[3][r]}, h);
}

typedef struct jacobian {
  double pd[NP], p[NP * NP], s[NP * NC], v[NP * NC], U[NP * NV], supply[NP * NS];
} jacobian;

static void analytic(const point *x, jacobian *J)
{
  const bramah__circuit circuit = whole_circuit(x->supply);
  double scratch[BRAMAH__CIRCUIT_SCRATCH * NP];
  memset(J, 0xff, sizeof *J); /* NaN: everything has to be written */
  bramah__circuit_derivatives(&circuit, x->p, x->s, x->v, x->U, scratch, J->pd, J->p, J->s, J->v, J->U,
                              J->supply);
}

static double entry(const jacobian *J, size_t row, size_t argument)
{
  static const size_t width[5] = {NP, NC, NC, NV, NS};
  const double *blocks[5] = {J->p, J->s, J->v, J->U, J->supply};
  size_t block = 0;
  for (; argument >= width[block]; block++) argument -= width[block];
  return blocks[block][row * width[block] + argument];
}

/* ---- where it has kinks ---- */

static double pressure_of(const point *x, size_t node)
{
  return node < NP ? x->p[node] : x->supply[node - NP];
}

static int near(double value, size_t n, const double *corners, double reach)
{
  for (size_t i = 0; i < n; i++)
    if (fabs(value - corners[i]) <= reach) return 1;
  return 0;
}

static int near_pressure_kink(const point *x, size_t argument, double reach)
{
  static const struct {
    size_t from, to;
    double kinks[2];
  } pairs[] = {{PILOT, LEFT, {-2e5, 2e5}},  {BOTTOM, RIGHT, {-2e5, 2e5}}, {TANK, TOP, {2e4, 2.2e5}},
               {LEFT, BOTTOM, {5e5, 7e5}},  {LINE, TANK, {100e5, 180e5}}, {TOP, LEFT, {20e5, 80e5}},
               {LINE, TANK, {50e5, 150e5}}, {LINE, BOTTOM, {-2e5, 2e5}},  {LINE, TOP, {-2e5, 2e5}},
               {BOTTOM, TANK, {-2e5, 2e5}}, {TOP, TANK, {-2e5, 2e5}},     {PILOT, RIGHT, {-2e5, 2e5}},
               {LEFT, TANK, {-2e5, 2e5}},   {RIGHT, TANK, {-2e5, 2e5}}};
  static const double air_kinks[2] = {3000.0, 3100.0}, precharges[2] = {80e5, 50e5};
  int found = argument < NP && near(x->p[argument], 2, air_kinks, reach);
  found |= near(x->p[LINE], 1, &precharges[0], reach) || near(x->p[RIGHT], 1, &precharges[1], reach);
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
    found |= near(pressure_of(x, pairs[i].from) - pressure_of(x, pairs[i].to), 2, pairs[i].kinks, reach);
  return found;
}

/* Whether the difference by this argument could reach over one. */
static int near_circuit_kink(const point *x, size_t argument)
{
  static const double band[2] = {-0.5, 0.5}, ends[2] = {1.042 - 0.3, 1.042 + 0.2}, corner = 1.0;
  const double reach = 3.0 * step_for(x, argument);
  if (argument < NP || argument >= NP + 2 * NC + NV) return near_pressure_kink(x, argument, reach);
  if (argument == NP) return near(x->s[0], 2, ends, reach);
  if (argument == NP + 2 * NC) return near(x->U[0], 2, band, reach) || near(x->U[0], 3, way_x, reach);
  if (argument == NP + 2 * NC + 1)
    return near(x->U[1], 4, curve_x, reach) || near(x->U[1], 1, &corner, reach);
  return 0;
}

static int check_column(const point *x, const jacobian *J, size_t argument)
{
  double column[NP], most = 0.0;
  if (near_circuit_kink(x, argument)) return 0;
  difference_column(x, argument, column);
  for (size_t r = 0; r < NP; r++) most = fmax(most, fabs(J->pd[r]) * 1e-15 / step_for(x, argument));
  for (size_t r = 0; r < NP; r++) {
    const double own = entry(J, r, argument);
    ck_assert_msg(fabs(own - column[r]) <= 1e-7 * fabs(column[r]) + 10.0 * most,
                  "rate %zu by argument %zu (%.12g): %.12g, difference %.12g", r, argument,
                  *argument_of(x, argument), own, column[r]);
  }
  return 1;
}

TEST(test_circuit_against_differences)
{
  unsigned seed = 5;
  int checked = 0, all = 0;
  for (int i = 0; i < 2000; i++) {
    const point x = random_point(&seed);
    jacobian J;
    analytic(&x, &J);
    for (size_t a = 0; a < N_ARGUMENTS; a++, all++) checked += check_column(&x, &J, a);
  }
  ck_assert_msg(checked > all - all / 50, "%d of %d columns checked", checked, all);
}

static point opening_point;
static size_t opening_valve, opening_row;

static double rate_at_spool(double U)
{
  point x = opening_point;
  double flow[NP], pd[NP];
  x.U[opening_valve] = U;
  rates(&x, flow, pd);
  return pd[opening_row];
}

/* Valves on the edge of their opening: shut, and seen to open with greater U. */
TEST(test_valves_about_to_open)
{
  static const double edge[NV] = {0.5, 1.0};
  unsigned seed = 12;
  for (opening_valve = 0; opening_valve < NV; opening_valve++)
    for (int i = 0; i < 50; i++) {
      const double U = edge[opening_valve];
      jacobian J;
      opening_point = random_point(&seed);
      opening_point.U[opening_valve] = U;
      analytic(&opening_point, &J);
      for (opening_row = BOTTOM; opening_row < NP; opening_row++) {
        const double own = J.U[opening_row * NV + opening_valve], above = one_sided(rate_at_spool, U, 1e-2);
        ck_assert_double_eq_tol(own, above, 1e-8 * fabs(above) + 1e-12 * fabs(J.pd[opening_row]));
      }
      const size_t a = opening_valve == 0 ? BOTTOM : LEFT;
      ck_assert_double_ne(J.U[a * NV + opening_valve], 0.0);
    }
}

/* The same rates, to the bit; without the optional parts the rest stays the same. */
TEST(test_rates_come_along)
{
  unsigned seed = 6;
  for (int i = 0; i < 500; i++) {
    const point x = random_point(&seed);
    const bramah__circuit circuit = whole_circuit(x.supply);
    double flow[NP], pd[NP], scratch[BRAMAH__CIRCUIT_SCRATCH * NP];
    jacobian J, K;
    rates(&x, flow, pd);
    analytic(&x, &J);
    ck_assert_mem_eq(pd, J.pd, sizeof pd);
    memcpy(&K, &J, sizeof K);
    memset(&K, 0xff, sizeof K.pd + sizeof K.p);
    bramah__circuit_derivatives(&circuit, x.p, x.s, x.v, x.U, scratch, K.pd, K.p, K.s, K.v, NULL, NULL);
    ck_assert_mem_eq(&J, &K, sizeof J);
  }
}

/* Oil without air and guard, a piston between two ends of one volume: p' = (A1 - A2) v terms by hand. */
TEST(test_plain_circuit_by_hand)
{
  const bramah__volume volume = {5e-5, 5e-5 / 5e8};
  const double supply = 9e6, p = 5e6, s = 1.1, v = 0.02;
  const bramah__element orifice = {BRAMAH__KIND(orifice), {1, 0}, {1e-6}};
  const bramah__cylinder cylinder = {.piston_area = 5e-3,
                                     .rod_area = 4e-3,
                                     .bulk_modulus = 3e10,
                                     .reference = 1.0,
                                     .piston_length = 0.2,
                                     .rod_length = 0.5};
  const bramah__circuit circuit = {.oil_bulk_modulus = 1.5e9,
                                   .transition_pressure = laminar,
                                   .n_volumes = 1,
                                   .n_supplies = 1,
                                   .n_elements = 1,
                                   .n_passing = 1,
                                   .n_cylinders = 1,
                                   .volume = &volume,
                                   .supply = &supply,
                                   .element = &orifice,
                                   .cylinder = &cylinder};
  double scratch[BRAMAH__CIRCUIT_SCRATCH], pd, by_p, by_s, by_v, by_supply;
  bramah__circuit_derivatives(&circuit, &p, &s, &v, NULL, scratch, &pd, &by_p, &by_s, &by_v, NULL,
                              &by_supply);
  const double oil = 1 / 1.5e9 + 1 / 3e10, Q = 1e-6 * 2000.0 - 1e-3 * 0.02;
  const double C = 5e-5 / 1.5e9 + 5e-5 / 5e8 + (5e-3 * 0.3 + 4e-3 * 0.4) * oil;
  ck_assert_double_eq_tol(pd, Q / C, 1e-9 * fabs(pd));
  ck_assert_double_eq_tol(by_p, -1e-6 / (2 * 2000.0) / C, 1e-9 * fabs(by_p));
  ck_assert_double_eq_tol(by_supply, -by_p, 1e-9 * fabs(by_p));
  ck_assert_double_eq_tol(by_s, -Q / (C * C) * 1e-3 * oil, 1e-9 * fabs(by_s));
  ck_assert_double_eq_tol(by_v, -1e-3 / C, 1e-9 * fabs(by_v));
}

/* ---- flows of single elements, stops ---- */

typedef double (*flow_of)(const bramah__circuit *circuit, size_t port, size_t i, const double *p,
                          double *by_p);

static double element_flow(const bramah__circuit *circuit, size_t none, size_t i, const double *p,
                           double *by_p)
{
  (void)none;
  return bramah__element_flow(circuit, i, p, NULL, by_p, NULL);
}

static double spools[NV];
static double valve_port(const bramah__circuit *circuit, size_t port, size_t i, const double *p, double *by_p)
{
  return bramah__valve_port_flow(circuit, i, (int)port, p, spools, by_p, NULL);
}

static const double still[NC] = {0.0};

static double motor_port(const bramah__circuit *circuit, size_t port, size_t i, const double *p, double *by_p)
{
  return bramah__motor_flow(circuit, i, (int)port, p, still, by_p);
}

static void check_flow(flow_of f, const point *x, size_t kind, size_t i)
{
  const bramah__circuit circuit = whole_circuit(x->supply);
  double own[NP], p[NP], values[4];
  const double flow = f(&circuit, kind, i, x->p, own);
  ck_assert_double_eq(flow, f(&circuit, kind, i, x->p, NULL));
  for (size_t k = 0; k < NP; k++) {
    memcpy(p, x->p, sizeof p);
    for (int j = 0; j < 4; j++) {
      p[k] = central_at(x->p[k], j, 20.0);
      values[j] = f(&circuit, kind, i, p, NULL);
    }
    const double difference = central_of(values, 20.0);
    ck_assert_msg(fabs(own[k] - difference) <= 1e-6 * fabs(difference) + 1e-15 * fabs(flow),
                  "flow %zu %zu by %zu: %.12g, difference %.12g", kind, i, k, own[k], difference);
  }
}

TEST(test_single_flows_against_differences)
{
  unsigned seed = 7;
  for (int n = 0; n < 300; n++) {
    const point x = random_point(&seed);
    memcpy(spools, x.U, sizeof spools);
    for (size_t i = 0; i < N_PASSING; i++) check_flow(element_flow, &x, 0, i);
    for (size_t i = 0; i < NV; i++) {
      for (size_t port = 0; port < 2; port++) check_flow(valve_port, &x, port, i);
    }
    for (size_t i = FIRST_MOTOR; i < FIRST_MOTOR + 2; i++)
      for (size_t port = 0; port < 3; port++) check_flow(motor_port, &x, port, i);
  }
}

/* Flows of all elements and pistons, booked on their nodes, are the flows of the circuit. Valve 0 draws from
 * the line, whose balance its ports do not show. */
TEST(test_single_flows_add_up)
{
  unsigned seed = 8;
  for (int n = 0; n < 200; n++) {
    const point x = random_point(&seed);
    const bramah__circuit circuit = whole_circuit(x.supply);
    double flow[NP], pd[NP], sum[NP + NS] = {0}, most = 0.0;
    rates(&x, flow, pd);
    for (size_t i = 0; i < N_PASSING; i++) {
      const int drains = i >= FIRST_MOTOR;
      const double Q = bramah__element_flow(&circuit, i, x.p, NULL, NULL, NULL);
      sum[elements[i].node[0]] -= drains ? bramah__motor_flow(&circuit, i, 0, x.p, still, NULL) : Q;
      sum[elements[i].node[1]] += drains ? bramah__motor_flow(&circuit, i, 1, x.p, still, NULL) : Q;
      if (drains) sum[elements[i].node[2]] += bramah__motor_flow(&circuit, i, 2, x.p, still, NULL);
      most = fmax(most, fabs(Q));
    }
    for (size_t i = 0; i < NV; i++) {
      sum[valves[i].a] += bramah__valve_port_flow(&circuit, i, 0, x.p, x.U, NULL, NULL);
      sum[valves[i].b] += bramah__valve_port_flow(&circuit, i, 1, x.p, x.U, NULL, NULL);
    }
    for (size_t i = 0; i < NC; i++) {
      sum[cylinders[i].piston] -= cylinders[i].piston_area * x.v[i];
      sum[cylinders[i].rod] += cylinders[i].rod_area * x.v[i];
    }
    for (size_t i = BOTTOM; i < NP; i++) ck_assert_double_eq_tol(sum[i], flow[i], 1e-13 * (most + 1e-3));
  }
}

/* Within reach of the differences: where contact and damper set in, where a contact lets go, the cushion. */
static int near_stop_kink(double l, double w)
{
  static const double corners[3] = {-1e-4, 0.0, 0.02};
  const double push = -1e8 * l + 1e5 * w * fmin(1.0, -l / 1e-4);
  return near(l, 3, corners, 1e-6) || fabs(push) < 100.0 || fabs(w) < 1e-4;
}

static void check_stop(double s, double v)
{
  const bramah__cylinder *c = &cylinders[0];
  const double hs = 1e-7, hv = 1e-5;
  if (near_stop_kink(bramah__chamber(c, 0, e_number(s)).value, -v) ||
      near_stop_kink(bramah__chamber(c, 1, e_number(s)).value, v))
    return;
  const double by_s = bramah__stop_force(c, e_variable(s), e_number(v)).slope,
               by_v = bramah__stop_force(c, e_number(s), e_variable(v)).slope;
  double along[4], across[4];
  for (int i = 0; i < 4; i++) {
    along[i] = bramah__stop_force(c, e_number(central_at(s, i, hs)), e_number(v)).value;
    across[i] = bramah__stop_force(c, e_number(s), e_number(central_at(v, i, hv))).value;
  }
  const double ds = central_of(along, hs), dv = central_of(across, hv);
  ck_assert_msg(fabs(by_s - ds) <= 1e-6 * fabs(ds) + 1e-3, "at %.9g, %.9g by stroke: %.12g, %.12g", s, v,
                by_s, ds);
  ck_assert_msg(fabs(by_v - dv) <= 1e-8 * fabs(dv) + 1e-4, "at %.9g, %.9g by speed: %.12g, %.12g", s, v, by_v,
                dv);
}

/* Strokes beside both ends, down to some tenths of a millimetre behind the stops, and in between. */
TEST(test_stops)
{
  const bramah__cylinder *c = &cylinders[0];
  const double ends[2] = {c->reference - c->piston_length, c->reference + c->rod_length};
  unsigned seed = 9;
  for (int i = 0; i < 1000; i++) {
    const double v = between(&seed, -0.5, 0.5);
    for (int e = 0; e < 2; e++) {
      check_stop(ends[e] + between(&seed, -3e-4, 3e-4), v);
      check_stop(ends[e] + between(&seed, -0.03, 0.03), v);
    }
    check_stop(between(&seed, ends[0], ends[1]), v);
  }
}

int main(void) { return run_tests("hydraulic derivatives"); }
