/* SPDX-License-Identifier: MIT */
/* Load-sensing circuits: how the flow of a pump is divided at rest, the limits of the pump, its controller over time, loads that
 * are reported, derivatives, what the compiler refuses. */
#include "lib/hydraulics/circuit.h"
#include "test/support/run.h"
#include "test/support/running.h"

#include <math.h>
#include <string.h>

/* ---- at rest: three sections with given loads on one pump ---- */

enum { LEAK, PUMP };
enum { DRIVE = 3, N_SPOOLS };
enum { N_SECTIONS = 3, LINE = 0, FLOW = 1, N_STATES = 2, TANK = N_STATES, LOADS };

/* Reference evaluations, made by a program of its own: compensators before the spools, 12 bar; margin 20 bar, cut-off 320 bar,
 * 210 L/min. */
static const struct {
  double demand[N_SECTIONS], load[N_SECTIONS], pump_pressure,
      flow[N_SECTIONS]; /* m^3/(s sqrt(Pa)), Pa, Pa, m^3/s */
  int saturated;
} cases[] = {
    {{0, 0, 0}, {14252200.252950162, 4257573.531187014, 5799928.938482317}, 2000000.0, {0, 0, 0}, 0},
    {{1.0256916275082594e-06, 0, 0},
     {17447817.752497382, 16524786.378451675, 25268380.689473927},
     19447817.752497382,
     {0.00112358888286092, 0, 0},
     0},
    {{1.5584023052485914e-06, 1.7541658273150807e-06, 0},
     {5463498.766270779, 9085308.7219165, 21396837.316466033},
     10129907.304057598,
     {0.0017071441925054103, 0.0017928558074945897, 0},
     1},
    {{0, 1.4469593271688452e-06, 1.4626849807953761e-06},
     {7460463.097232069, 3678180.7876475635, 20595226.667708497},
     22595226.667708497,
     {0, 0.0015850645265657486, 0.0016022911170112766},
     0},
    {{1.1047783043513777e-06, 0, 0},
     {21124093.394828204, 24720702.912076067, 14464903.076112125},
     23124093.394828204,
     {0.0012102239966711149, 0, 0},
     0},
    {{2.3860434776543132e-06, 0, 0},
     {14949728.908546783, 6965964.170743219, 3500278.022466526},
     16949728.908546783,
     {0.0026137796717986823, 0, 0},
     0},
    {{0, 1.1421177498055e-06, 0},
     {3711156.7603995856, 16780963.58835926, 9312557.63115973},
     18780963.58835926,
     {0, 0.0012511273097910278, 0},
     0},
    {{2.0906656665943706e-07, 2.5438765739561745e-07, 0},
     {11043890.067113673, 20839528.51614489, 1754514.9276341172},
     22839528.51614489,
     {0.00022902094915906233, 0.0002786677166129512, 0},
     0},
    {{8.104800952012315e-07, 0, 0},
     {13445162.12071199, 20423705.715286028, 17834166.917360064},
     15445162.12071199,
     {0.0008878364611012981, 0, 0},
     0},
    {{1.938612565946805e-06, 1.4392355519500432e-06, 0},
     {23329991.173723366, 25701024.378141504, 4656718.042207863},
     26615554.50196038,
     {0.002123643665264073, 0.001376356334735927, 0},
     1},
};

typedef struct sections {
  bramah__circuit circuit;
  bramah__volume volume[1];
  bramah__element element[2];
  bramah__valve valve[N_SPOOLS]; /* the last: of the pump's drive */
  size_t drive[2];
  double supply[1 + N_SECTIONS], U[N_SPOOLS], x[N_STATES]; /* pressure and settled flow of the pump */
} sections;

/* Spools at 5 V; the sections with no demand in the middle. */
static void set_up(sections *s, int compensator, const double *demand, const double *load)
{
  memset(s, 0, sizeof *s);
  s->volume[0] = (bramah__volume){5e-3, 5e-3 / 5e8};
  s->element[LEAK] = (bramah__element){BRAMAH__KIND(leakage), {LINE, TANK}, {0.0}};
  s->element[PUMP] = (bramah__element){
      BRAMAH__KIND(load_sensing_pump), {TANK, LINE, FLOW}, {1.75e-5, 200.0, 2e6, 32e6, 0.0, 1e6, 0.1}};
  s->x[LINE] = 1e6, s->x[FLOW] = 1e-3;
  for (size_t i = 0; i < N_SECTIONS; i++) {
    s->valve[i] = (bramah__valve){.pump = LINE,
                                  .tank = TANK,
                                  .a = LOADS + i,
                                  .b = TANK,
                                  .coefficient = 0.2 * demand[i],
                                  .limit = 10.0,
                                  .compensator = compensator};
    s->valve[i].compensator_pressure = compensator == BRAMAH_COMPENSATOR_BEFORE ? 12e5 : 0.0;
    s->supply[1 + i] = load[i];
    s->U[i] = demand[i] > 0.0 ? 5.0 : 0.0;
  }
  s->valve[DRIVE] = (bramah__valve){.limit = 10.0};
  s->U[DRIVE] = 10.0;
  s->drive[LEAK] = BRAMAH__NO_SPOOL, s->drive[PUMP] = DRIVE;
  s->circuit = (bramah__circuit){.oil_bulk_modulus = 1.5e9,
                                 .transition_pressure = 1e5,
                                 .n_volumes = N_STATES,
                                 .n_supplies = 1 + N_SECTIONS,
                                 .n_valves = N_SECTIONS,
                                 .n_metering_spools = 1,
                                 .drive = s->drive,
                                 .n_elements = 2,
                                 .n_passing = 2,
                                 .n_states = 1,
                                 .volume = s->volume,
                                 .supply = s->supply,
                                 .element = s->element,
                                 .valve = s->valve};
}

/* Implicit steps by the derivatives of the circuit, until nothing changes. */
static void come_to_rest(sections *s)
{
  const double h = 5e-4;
  for (int i = 0; i < 20000; i++) {
    double scratch[N_STATES * BRAMAH__CIRCUIT_SCRATCH], f[N_STATES], J[N_STATES * N_STATES];
    bramah__circuit_derivatives(&s->circuit, s->x, NULL, NULL, s->U, scratch, f, J, NULL, NULL, NULL, NULL);
    const double a = 1.0 / h - J[0], b = -J[1], c = -J[2], d = 1.0 / h - J[3], det = a * d - b * c;
    s->x[LINE] += (d * f[0] - b * f[1]) / det;
    s->x[FLOW] += (a * f[1] - c * f[0]) / det;
  }
}

static double drawn(const sections *s, size_t i)
{
  return bramah__valve_port_flow(&s->circuit, i, 0, s->x, s->U, NULL, NULL);
}

static double delivered(const sections *s)
{
  return bramah__element_flow(&s->circuit, PUMP, s->x, s->U, NULL, NULL);
}

/* What leaks where the pump can follow lets it come down again; it draws nothing else. */
EACH_TEST(test_reference_division, 0, sizeof cases / sizeof *cases)
{
  sections s;
  double sum = 0.0;
  set_up(&s, BRAMAH_COMPENSATOR_BEFORE, cases[_i].demand, cases[_i].load);
  if (!cases[_i].saturated) s.element[LEAK].value[0] = 1e-12;
  come_to_rest(&s);
  for (size_t i = 0; i < N_SECTIONS; i++) {
    ck_assert_double_eq_tol(drawn(&s, i), cases[_i].flow[i], 1e-12 + 1e-9 * cases[_i].flow[i]);
    sum += cases[_i].flow[i];
  }
  ck_assert_double_eq_tol(s.x[LINE], cases[_i].pump_pressure, 1e-9 * cases[_i].pump_pressure);
  ck_assert_double_eq_tol(delivered(&s), sum + s.element[LEAK].value[0] * s.x[LINE], 1e-12);
  ck_assert_double_eq_tol(s.x[FLOW], delivered(&s), 1e-11);
  ck_assert_int_eq(delivered(&s) > 3.5e-3 - 1e-12, cases[_i].saturated);
}

/* Behind the spools: all sections have the pump's pressure less the highest load over their edges. Where the pump can follow that
 * is the margin, else it is what makes the demands draw all of its flow: each section keeps its share. */
EACH_TEST(test_flow_sharing, 1, sizeof cases / sizeof *cases)
{
  const double *demand = cases[_i].demand, *load = cases[_i].load, qmax = 3.5e-3;
  double sum = 0.0, highest = 0.0;
  sections s;
  for (size_t i = 0; i < N_SECTIONS; i++) {
    sum += demand[i];
    if (demand[i] > 0.0) highest = fmax(highest, load[i]);
  }
  set_up(&s, BRAMAH_COMPENSATOR_AFTER, demand, load);
  come_to_rest(&s);
  const int saturated = sum * sqrt(2e6) > qmax;
  const double margin = saturated ? (qmax / sum) * (qmax / sum) : 2e6;
  ck_assert_double_eq_tol(s.x[LINE], highest + margin, 1e-3);
  for (size_t i = 0; i < N_SECTIONS; i++)
    ck_assert_double_eq_tol(drawn(&s, i), demand[i] * sqrt(margin), 1e-12 + 1e-9 * qmax);
}

/* Both kinds on one pump, which cannot follow: the section with a compensator of its own keeps its flow as long as its load lets
 * it, the others share the rest. */
TEST(test_mixed)
{
  const double demand[N_SECTIONS] = {1e-6, 2e-6, 1.5e-6}, load[N_SECTIONS] = {4e6, 12e6, 9e6};
  sections s;
  set_up(&s, BRAMAH_COMPENSATOR_AFTER, demand, load);
  s.valve[0].compensator = BRAMAH_COMPENSATOR_BEFORE, s.valve[0].compensator_pressure = 12e5;
  come_to_rest(&s);
  const double first = 1e-6 * sqrt(12e5), rest = 3.5e-3 - first;
  ck_assert_double_eq_tol(drawn(&s, 0), first, 1e-12);
  ck_assert_double_eq_tol(drawn(&s, 1), rest * 2.0 / 3.5, 1e-11);
  ck_assert_double_eq_tol(drawn(&s, 2), rest * 1.5 / 3.5, 1e-11);
}

/* A load above the cut-off starves; a torque limit T leaves T w / dp of the flow. */
TEST(test_limits)
{
  const double demand[N_SECTIONS] = {1.4e-6, 0, 0}, high[N_SECTIONS] = {33e6, 0, 0},
               low[N_SECTIONS] = {15e6, 0, 0};
  sections s;
  set_up(&s, BRAMAH_COMPENSATOR_BEFORE, demand, high);
  s.supply[0] = 1e5;
  s.element[LEAK].value[0] = 1e-12;
  come_to_rest(&s);
  ck_assert_double_eq_tol(s.x[LINE], 32.1e6, 1e-2);
  ck_assert_double_eq(drawn(&s, 0), 0.0);

  set_up(&s, BRAMAH_COMPENSATOR_NONE, demand, low);
  s.element[PUMP].value[4] = 100.0; /* N m, of which 1.4e-6 sqrt(2e6) at 170 bar would take more */
  come_to_rest(&s);
  const double p = s.x[LINE], Q = delivered(&s);
  ck_assert_double_eq_tol(Q * p, 100.0 * 200.0, 1e-6);
  ck_assert_double_eq_tol(Q, 1.4e-6 * sqrt(p - 15e6), 1e-12);
  ck_assert(p < 17e6 && Q < 3.5e-3);
}

/* At half the command the pump turns half as fast: half its flow is all there is, at the margin as long as it is enough; the torque
 * limit, which goes by the pressure, leaves half as much power. */
TEST(test_drive)
{
  const double demand[N_SECTIONS] = {1e-6, 1.5e-6, 0}, load[N_SECTIONS] = {8e6, 5e6, 0};
  sections s;
  set_up(&s, BRAMAH_COMPENSATOR_AFTER, demand, load);
  s.U[DRIVE] = 5.0;
  come_to_rest(&s);
  ck_assert_double_eq_tol(delivered(&s), 1.75e-3, 1e-12);
  ck_assert_double_eq_tol(drawn(&s, 0) / drawn(&s, 1), 1.0 / 1.5, 1e-12);
  s.U[0] = 0.0;
  come_to_rest(&s);
  ck_assert_double_eq_tol(delivered(&s), 1.75e-3, 1e-12);
  s.U[1] = 2.0; /* instead of 5 V */
  come_to_rest(&s);
  ck_assert_double_eq_tol(s.x[LINE], 7e6, 1e-3);
  ck_assert_double_eq_tol(delivered(&s), 0.4 * 1.5e-6 * sqrt(2e6), 1e-12);
  ck_assert_double_eq_tol(s.x[FLOW], 2.0 * delivered(&s), 1e-11);
  s.element[PUMP].value[4] = 20.0;
  s.U[1] = 5.0;
  come_to_rest(&s);
  ck_assert_double_eq_tol(delivered(&s) * s.x[LINE], 20.0 * 100.0, 1e-6);
  s.U[DRIVE] = -3.0;
  ck_assert_double_eq(delivered(&s), 0.0);
}

/* A port is reported in part until its path is open by 2 % of the limit, and the one that is fed, of the highest section. */
TEST(test_reported_load)
{
  const double demand[N_SECTIONS] = {1e-6, 1e-6, 1e-6}, load[N_SECTIONS] = {5e6, 8e6, 2e6};
  sections s;
  set_up(&s, BRAMAH_COMPENSATOR_NONE, demand, load);
  s.supply[0] = 1e5;
  const struct {
    double U[N_SECTIONS], value;
  } signals[] = {{{0, 0, 0}, 1e5},
                 {{5, 0, 0}, 5e6},
                 {{5, 5, 0}, 8e6},
                 {{5, -5, 0}, 5e6},
                 {{5, 0, 5}, 5e6},
                 {{0.2, 0, 0}, 5e6},
                 {{0.1, 0, 0}, 1e5 + 2.45e6},
                 {{0, 0, -3}, 1e5},
                 {{5, 0.05, 0}, 5e6},
                 {{5, 0.15, 0}, 1e5 + 0.75 * 7.9e6}};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
    ck_assert_double_eq_tol(bramah__load_signal_at(&s.circuit, LINE, s.x, signals[i].U).value,
                            signals[i].value, 1e-6);
}

/* ---- derivatives ---- */

/* Of rates and of flows, by pressures, settled flow, supplies and spools. Where the differences of both sides differ there is a
 * kink, at which the derivative is one of them. */
enum { N_X = N_STATES + 1 + N_SECTIONS + N_SPOOLS };

static double *argument(sections *s, size_t k)
{
  return k < N_STATES                    ? &s->x[k]
         : k < N_STATES + 1 + N_SECTIONS ? &s->supply[k - N_STATES]
                                         : &s->U[k - N_STATES - 1 - N_SECTIONS];
}

enum { N_VALUES = N_STATES + 1 + 2 * N_SECTIONS };

static void values(const sections *s, double *out)
{
  double flow[N_STATES];
  bramah__circuit_rates(&s->circuit, s->x, NULL, NULL, s->U, flow, out);
  out[N_STATES] = delivered(s);
  for (size_t i = 0; i < 2 * N_SECTIONS; i++)
    out[N_STATES + 1 + i] = bramah__valve_port_flow(&s->circuit, i / 2, (int)(i % 2), s->x, s->U, NULL, NULL);
}

/* D [N_VALUES x N_X]; flows have none by supplies. */
static void derivatives(const sections *s, double *D)
{
  double scratch[N_STATES * BRAMAH__CIRCUIT_SCRATCH], pd[N_STATES], by_p[N_STATES * N_STATES],
      by_U[N_STATES * N_SPOOLS], by_supply[N_STATES * (1 + N_SECTIONS)], rate[N_STATES], flow[N_STATES];
  bramah__circuit_derivatives(&s->circuit, s->x, NULL, NULL, s->U, scratch, pd, by_p, NULL, NULL, by_U,
                              by_supply);
  bramah__circuit_rates(&s->circuit, s->x, NULL, NULL, s->U, flow, rate);
  for (size_t r = 0; r < N_STATES; r++) {
    ck_assert_double_eq(pd[r], rate[r]);
    memcpy(D + r * N_X, by_p + r * N_STATES, N_STATES * sizeof *D);
    memcpy(D + r * N_X + N_STATES, by_supply + r * (1 + N_SECTIONS), (1 + N_SECTIONS) * sizeof *D);
    memcpy(D + r * N_X + N_STATES + 1 + N_SECTIONS, by_U + r * N_SPOOLS, N_SPOOLS * sizeof *D);
  }
  for (size_t r = N_STATES; r < N_VALUES; r++) {
    double *row = D + r * N_X, *spools = row + N_STATES + 1 + N_SECTIONS;
    for (size_t k = 0; k < 1 + N_SECTIONS; k++) row[N_STATES + k] = NAN;
    if (r == N_STATES)
      bramah__element_flow(&s->circuit, PUMP, s->x, s->U, row, spools);
    else
      bramah__valve_port_flow(&s->circuit, (r - N_STATES - 1) / 2, (int)((r - N_STATES - 1) % 2), s->x, s->U,
                              row, spools);
  }
}

TEST(test_derivatives)
{
  unsigned seed = 3;
  int checked = 0, kinks = 0;
  for (int n = 0; n < 600; n++) {
    const double demand[N_SECTIONS] = {1e-6, 2e-6, 1.5e-6};
    double load[N_SECTIONS], D[N_VALUES * N_X];
    for (int i = 0; i < N_SECTIONS; i++) load[i] = 1e7 * (1.1 + test_uniform(&seed));
    sections s;
    set_up(&s, n % 3, demand, load);
    for (int i = 0; i < N_SECTIONS; i++) {
      if (n % 5 == 0) s.valve[i].compensator = i;
      s.valve[i].compensator_pressure = 12e5;
      s.valve[i].b = LOADS + (size_t)(i + 1) % N_SECTIONS;
      s.U[i] = test_uniform(&seed) * (n % 2 ? 8.0 : 0.3);
    }
    if (n % 4 == 0) s.element[PUMP].value[4] = 100.0;
    s.U[DRIVE] = n % 8 ? 5.0 * (1.0 + test_uniform(&seed)) : -1.0;
    s.supply[0] = 1e5;
    s.x[LINE] = 1.2e7 * (1.1 + test_uniform(&seed));
    s.x[FLOW] = 2e-3 * (1.0 + test_uniform(&seed));
    derivatives(&s, D);
    for (size_t k = 0; k < N_X; k++) {
      double *at = argument(&s, k), x = *at, side[3][N_VALUES];
      const double h = k == FLOW ? 1e-9 : k < N_STATES + 1 + N_SECTIONS ? 30.0 : 1e-5;
      for (int i = 0; i < 3; i++) {
        *at = x + (i - 1) * h;
        values(&s, side[i]);
      }
      *at = x;
      for (size_t r = 0; r < N_VALUES; r++) {
        const double below = (side[1][r] - side[0][r]) / h, above = (side[2][r] - side[1][r]) / h;
        const double mean = 0.5 * (below + above), own = D[r * N_X + k],
                     rounding = 1e-14 * fabs(side[1][r]) / h;
        if (isnan(own)) continue;
        if (fabs(above - below) > 1e-3 * fabs(mean) + rounding) {
          kinks++;
          continue;
        }
        checked++;
        ck_assert_msg(fabs(own - mean) <= 1e-4 * fabs(mean) + rounding + 1e-25,
                      "case %d: value %zu by argument %zu: %.10g, difference %.10g", n, r, k, own, mean);
      }
    }
  }
  ck_assert_msg(checked > 30000 && kinks < checked / 100, "%d checked, %d kinks", checked, kinks);
}

/* ---- over time ---- */

static bramah_diag diag;
static const bramah_body body = {.name = "arm", .mass = 1.0, .inertia = {0, 0, 5.0}};
static const bramah_hose hose = {5e-3, 5e8};
static bramah_supply supplies[2];
static bramah_joint joint;
static bramah_volume volume;
static bramah_valve valve;
static bramah_load_sensing_pump pump;
static bramah_input input;
static bramah_machine machine;

static void setup(void)
{
  supplies[0] = (bramah_supply){"tank", 0, 1e5};
  supplies[1] = (bramah_supply){"load", 0, 8e6};
  joint = (bramah_joint){
      .name = "arm", .type = BRAMAH_JOINT_REVOLUTE, .parent = "ground", .child = "arm", .axis = {0, 0, 1}};
  volume = (bramah_volume){.name = "line", .n_hoses = 1, .hoses = &hose, .initial_pressure = 10e6};
  valve = (bramah_valve){.name = "boom",
                         .line = 7,
                         .pump = "line",
                         .tank = "tank",
                         .a = "load",
                         .b = "tank",
                         .flow_coefficient = 1e-7,
                         .limit = 10.0,
                         .input = "boom",
                         .initial_spool = 5.0,
                         .compensator = BRAMAH_COMPENSATOR_BEFORE,
                         .compensator_pressure = 1e6};
  pump = (bramah_load_sensing_pump){.name = "main",
                                    .line = 9,
                                    .from = "tank",
                                    .into = "line",
                                    .displacement = 1.75e-5,
                                    .speed = 200.0,
                                    .margin = 2e6,
                                    .band = 4e6,
                                    .time_constant = 0.1,
                                    .initial_flow = 5e-4};
  input = (bramah_input){.name = "boom"};
  machine = (bramah_machine){.name = "load-sensing",
                             .oil_bulk_modulus = 1.5e9,
                             .transition_pressure = 2e5,
                             .n_bodies = 1,
                             .bodies = &body,
                             .n_joints = 1,
                             .joints = &joint,
                             .n_supplies = 2,
                             .supplies = supplies,
                             .n_volumes = 1,
                             .volumes = &volume,
                             .n_valves = 1,
                             .valves = &valve,
                             .n_inputs = 1,
                             .inputs = &input,
                             .n_load_sensing_pumps = 1,
                             .load_sensing_pumps = &pump,
                             .integrator = {.step_ns = 1000000}};
}

/* The compensator draws Q = 1e-7 V^-1 U sqrt(10 bar) whatever the pump's pressure, so after a step of U from 5 V to 9 V (30 L/min
 * to 54) x = [p - p_rest, Q_s - Q] follows x' = [[-a, a band/Dw], [-Dw/(band T), 0]] x, a = Dw/(band C), to its rest; of
 * the trapezoidal rule's error half the step leaves a quarter. */
static double error_after_a_step(int64_t step_ns, double *dip)
{
  machine.integrator.step_ns = step_ns;
  running r = start(&machine);
  const double full = 3.5e-3, C = 5e-3 / 1.5e9 + 5e-3 / 5e8, U = 9.0, rise = 1e-7 * (U - 5.0) * 1e3;
  const double a = full / (pump.band * C), trace = -a, det = a / pump.time_constant;
  ck_assert_double_gt(0.25 * trace * trace, det); /* well damped */
  const double root = sqrt(0.25 * trace * trace - det), l1 = 0.5 * trace + root, l2 = 0.5 * trace - root;
  double worst = 0.0;
  *dip = 0.0;
  must(r.p.set_inputs(r.p.self, &U, &diag), &diag);
  for (int i = 1; i * step_ns <= 60000000; i++) {
    const double t = 1e-9 * (double)(i * step_ns);
    must(r.p.step(r.p.self, &diag), &diag);
    /* p starts at rest with the flow too small by `rise`: x'(0) = [-rise / C, 0] */
    const double p = 10e6 - rise / C * (exp(l1 * t) - exp(l2 * t)) / (l1 - l2);
    worst = fmax(worst, fabs(shown(&r, "line.pressure") - p));
    *dip = fmax(*dip, 10e6 - p);
  }
  stop(&r);
  return worst;
}

TEST(test_controller)
{
  double dip;
  const double whole = error_after_a_step(1000000, &dip), half = error_after_a_step(500000, &dip),
               quarter = error_after_a_step(250000, &dip);
  ck_assert_double_gt(dip, 2e5);
  ck_assert_double_lt(whole, 0.01 * dip);
  ck_assert_double_eq_tol(whole / half, 4.0, 0.2);
  ck_assert_double_eq_tol(half / quarter, 4.0, 0.1);
}

TEST(test_names)
{
  running r = start(&machine);
  const double U = 5.0;
  bramah_state_info info;
  must(r.p.set_inputs(r.p.self, &U, &diag), &diag);
  bramah_plant_state_info(&r.p, 3, &info); /* behind angle, rate and pressure */
  ck_assert_str_eq(info.name, "main.settled_flow");
  ck_assert_str_eq(info.unit, "m^3/s");
  ck_assert_double_eq(info.scale, 1.75e-5 * 200.0);
  ck_assert_double_eq(shown(&r, "main.settled_flow"), 5e-4);
  ck_assert_double_eq_tol(shown(&r, "main.flow"), 5e-4, 1e-16);
  bramah_parameter_info parameter;
  size_t found = 0;
  for (size_t i = 0; i < r.p.n_parameter; i++) {
    r.p.parameter_info(r.p.self, i, &parameter);
    found += strcmp(parameter.name, "main.margin") == 0 || strcmp(parameter.name, "main.displacement") == 0;
  }
  ck_assert_uint_eq(found, 2);
  stop(&r);
}

/* An engine that takes its time: of a pump too that has no controller. */
TEST(test_engine)
{
  const bramah_pump gear = {
      .name = "gear",
      .from = "tank",
      .into = "line",
      .flow = 1e-4,
      .drive = {.input = "engine", .limit = 10.0, .time_constant = 0.2, .initial = 4.0}};
  const bramah_input inputs[2] = {input, {.name = "engine"}};
  const double u[2] = {5.0, 8.0};
  machine.n_pumps = 1, machine.pumps = &gear;
  machine.n_inputs = 2, machine.inputs = inputs;
  pump.drive = (bramah_drive){.input = "engine", .limit = 10.0, .time_constant = 0.2, .initial = 4.0};
  running r = start(&machine);
  must(r.p.set_inputs(r.p.self, u, &diag), &diag);
  ck_assert_double_eq_tol(shown(&r, "gear.flow"), 4e-5, 1e-18);
  ck_assert_double_eq(shown(&r, "gear.drive.spool"), 4.0);
  must(run_for(&r, 0.2, &diag), &diag);
  const double turns = 8.0 - 4.0 * exp(-1.0);
  ck_assert_double_eq_tol(shown(&r, "main.drive.spool"), turns, 1e-5);
  ck_assert_double_eq_tol(shown(&r, "gear.flow"), 1e-5 * turns, 1e-10);
  must(run_for(&r, 3.0, &diag), &diag);
  ck_assert_double_eq_tol(shown(&r, "main.flow") + shown(&r, "gear.flow"), 5e-7 * 1e3, 1e-9);
  stop(&r);
}

static const refusal refused[] = {
    {"main", "the displacement must be positive", 9, 0, {NUMBER(pump.displacement, 0.0)}},
    {"main", "the speed must be positive", 9, 0, {NUMBER(pump.speed, -1.0)}},
    {"main", "the margin must be positive", 9, 0, {NUMBER(pump.margin, 0.0)}},
    {"main", "the pressure cut-off must be positive", 9, 0, {NUMBER(pump.cut_off, -1.0)}},
    {"main", "between 0 and displacement times speed", 9, 0, {NUMBER(pump.initial_flow, 1.0)}},
    {"main", "'hydrant'", 9, BRAMAH_E_REFERENCE, {NAME(pump.into, "hydrant")}},
    {"main", "it would sense no load", 9, 0, {NAME(valve.pump, "load")}},
    {"boom", "needs the pressure difference", 7, 0, {NUMBER(valve.compensator_pressure, 0.0)}},
    {"main", "the limit must be positive", 9, 0, {NAME(pump.drive.input, "boom")}},
    {"main.drive",
     "there is no input 'engin'",
     9,
     BRAMAH_E_REFERENCE,
     {NAME(pump.drive.input, "engin"), NUMBER(pump.drive.limit, 1.0)}},
    {"main",
     "start within its limit",
     9,
     0,
     {NAME(pump.drive.input, "boom"), NUMBER(pump.drive.limit, 1.0), NUMBER(pump.drive.initial, 2.0)}},
    {"line", "more than one volume", 0, BRAMAH_E_KEY, {NAME(pump.name, "line")}},
};

EACH_TEST(test_refused, 0, sizeof refused / sizeof *refused) { check_refusal(&machine, &refused[_i], &diag); }

TEST(test_compensator_refused)
{
  valve.compensator = BRAMAH_COMPENSATOR_AFTER;
  refuses(&machine, BRAMAH_E_VALUE, "boom", "a pressure difference of its own", &diag);
  valve.compensator = (bramah_compensator)7;
  valve.compensator_pressure = 0.0;
  refuses(&machine, BRAMAH_E_VALUE, "boom", "unknown", &diag);
}

int main(void) { return run_tests_with("load-sensing", setup, NULL); }
