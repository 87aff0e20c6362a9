/* SPDX-License-Identifier: MIT */
/* Equations of elements, friction and stops, called with nodes and with numbers: values, and derivatives of the graph against
 * slopes of numbers. (Slopes against differences: test_hydraulic_derivatives.c, test_friction_derivatives.c.) */
#include "lib/hydraulics/circuit.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>

enum { TRIES = 400 };

/* A function of one variable and its derivative on a graph. */
typedef struct formula {
  bramah__graph *graph;
  bramah__expr x, f, slope;
  double *value;
  double rounding; /* of values near zero, which are differences of larger ones */
} formula;

static formula begin(void)
{
  formula q = {.graph = bramah__graph_new(), .rounding = 1e-300};
  q.x = bramah__graph_input(q.graph, 0);
  return q;
}

static void complete(formula *q, bramah__expr f)
{
  const bramah__expr one = e_number(1.0);
  q->f = f;
  bramah__derive(q->graph, 1, &q->x, &one, 1, &q->f, &q->slope);
  q->value = malloc(bramah__graph_size(q->graph) * sizeof *q->value);
}

/* Of an expression of a completed formula, where it was evaluated last. */
static double value_of(const formula *q, bramah__expr f)
{
  return e_is_number(f) ? f.value : q->value[f.node];
}

/* The same as f, a number with its slope. */
static void expect(const formula *q, double x, bramah__expr f, const char *what)
{
  bramah__graph_evaluate(q->graph, &x, q->value);
  const double value = value_of(q, q->f), slope = value_of(q, q->slope);
  ck_assert(e_is_number(f));
  ck_assert_msg(fabs(value - f.value) <= 1e-11 * fabs(f.value) + q->rounding, "%s at %g: %.15g, not %.15g",
                what, x, value, f.value);
  ck_assert_msg(fabs(slope - f.slope) <= 1e-9 * fabs(f.slope) + 1e-300, "%s' at %g: %.15g, not %.15g", what,
                x, slope, f.slope);
}

static void discard(formula *q)
{
  free(q->value);
  bramah__graph_free(q->graph);
}

/* Each element with quantities that are typical, in the order of its keys. */
static const struct {
  int kind;
  double value[BRAMAH__ELEMENT_VALUES];
} elements[] = {
    {BRAMAH__KIND(orifice), {2e-8}},
    {BRAMAH__KIND(leakage), {1e-12}},
    {BRAMAH__KIND(check_valve), {2e-8, 1e5}},
    {BRAMAH__KIND(relief_valve), {2e-8, 2e6, 1e6}},
    {BRAMAH__KIND(pump), {1e-3, 3e6, 1e6}},
    {BRAMAH__KIND(pump), {1e-3, 0, 0}},
    {BRAMAH__KIND(motor), {1e-5, 3.0, 1e-12, 2e-12}},
    {BRAMAH__KIND(load_sensing_pump), {1e-6, 200.0, 2e6, 1e7, 5.0, 1e6, 0.1}},
    {BRAMAH__KIND(load_sensing_pump), {1e-6, 200.0, 2e6, 0.0, 0.0, 3e6, 0.1}},
    {BRAMAH__KIND(overcentre_valve), {2e-8, 2e6, 3e6, 3.0, 0.0, 1e5}},
    {BRAMAH__KIND(overcentre_valve), {2e-8, 2e6, 1e6, 8.0, 5e-8, 0.0}},
    {BRAMAH__KIND(pilot_check_valve), {2e-8, 1e5, 3.0, 2e6}},
    {BRAMAH__KIND(accumulator), {1e-3, 2e6, 1.4}},
    {BRAMAH__KIND(line), {3.0, 0.01, 850.0, 0.03, 2.0, 0.0}},
};

/* Flow and rate by one of the things that they see, the others at random. */
static void expect_equations(const bramah__element_kind *kind, bramah__quantities of, int by,
                             double transition, unsigned *seed)
{
  bramah__element_equation *const equations[2] = {kind->flow, kind->rate};
  for (int k = 0; k < TRIES; k++) {
    bramah__expr seen[BRAMAH__N_SEEN];
    for (int s = 0; s < BRAMAH__N_SEEN; s++)
      seen[s] = e_number(test_uniform(seed) * (s == BRAMAH__STATE ? 1e-4 : k % 2 ? 1e7 : 3e5));
    for (int i = 0; i < 2; i++) {
      if (!equations[i]) continue;
      formula q = begin();
      const double x = seen[by].value;
      seen[by] = q.x;
      complete(&q, equations[i](of, seen, transition));
      seen[by] = e_variable(x);
      expect(&q, x, equations[i](of, seen, transition), kind->description.name);
      seen[by] = e_number(x);
      discard(&q);
    }
  }
}

TEST(test_elements)
{
  const double transition = 2e5;
  unsigned seed = 1;
  for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
    const bramah__element_kind *kind = bramah__element_kinds[elements[i].kind];
    const bramah__quantities of = {.number = elements[i].value};
    formula drain = begin(), compliance = begin();
    if (kind->drain) complete(&drain, kind->drain(of, drain.x));
    if (kind->compliance) complete(&compliance, kind->compliance(of, compliance.x));
    for (int k = 0; k < TRIES; k++) {
      const double u = test_uniform(&seed), dp = u * (k % 2 ? 1e7 : 3e5), p = 1e4 + 1e7 * u * u;
      if (kind->drain) expect(&drain, dp, kind->drain(of, e_variable(dp)), kind->description.name);
      if (kind->compliance)
        expect(&compliance, p, kind->compliance(of, e_variable(p)), kind->description.name);
    }
    discard(&drain);
    discard(&compliance);
    for (int by = 0; by < BRAMAH__N_SEEN; by++)
      if (by == BRAMAH__DP || kind->sees & 1U << by) expect_equations(kind, of, by, transition, &seed);
  }
}

TEST(test_oil)
{
  const bramah__air air = {.fraction = 0.01, .exponent = 1.3, .vapour_pressure = 3e3};
  formula q = begin(), cavity = begin();
  complete(&q, bramah__air_compliance(&air, q.x));
  complete(&cavity, bramah__cavity_recovery(&air, cavity.x));
  unsigned seed = 2;
  for (int k = 0; k < TRIES; k++) {
    const double p = 1e4 * test_uniform(&seed) + (k % 2 ? 1e6 : 0.0);
    expect(&q, p, bramah__air_compliance(&air, e_variable(p)), "air");
    expect(&cavity, p, bramah__cavity_recovery(&air, e_variable(p)), "cavity");
  }
  discard(&q);
  discard(&cavity);
}

TEST(test_friction)
{
  static const bramah__friction_kind kinds[] = {BRAMAH__FRICTION_NONE, BRAMAH__FRICTION_BROWN_MCPHEE,
                                                BRAMAH__FRICTION_BENGISU_AKAY, BRAMAH__FRICTION_VISCOUS};
  unsigned seed = 3;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    const bramah__friction friction = {.kind = kinds[i],
                                       .coulomb = 210,
                                       .static_force = 830,
                                       .stribeck = 0.0125,
                                       .viscous = 330,
                                       .decay = 50};
    formula q = begin();
    complete(&q, bramah__friction_at(&friction, q.x, e_number(0.0), NULL, NULL, NULL, NULL));
    for (int k = 0; k < TRIES; k++) {
      const double v = k ? test_uniform(&seed) * (k % 2 ? 0.03 : 1.0) : 0.0;
      expect(&q, v, bramah__friction_at(&friction, e_variable(v), e_number(0.0), NULL, NULL, NULL, NULL),
             "friction");
    }
    discard(&q);
  }
}

/* Bristles: force, its slope, states and their rates at the end of a step; where it has no length, at its start. */
TEST(test_bristles)
{
  unsigned seed = 6;
  for (int k = 0; k < TRIES; k++) {
    const bramah__friction f = {.kind = k % 2 ? BRAMAH__FRICTION_LUGRE : BRAMAH__FRICTION_MODIFIED_LUGRE,
                                .coulomb = 210,
                                .static_force = 830,
                                .stribeck = 0.0125,
                                .viscous = 330,
                                .stiffness = 5e5,
                                .damping = 1e3,
                                .exponent = 1.0 + 0.4 * test_uniform(&seed),
                                .film_velocity = 0.7,
                                .film_rising = 0.25,
                                .film_falling = 1.5,
                                .film_dwell = 40};
    const double v = k % 7 ? test_uniform(&seed) * (k % 3 ? 0.03 : 1.0) : 0.0, v_k = test_uniform(&seed);
    const double h = k % 5 ? 1e-3 : 0.0,
                 x_k[2] = {1e-4 * test_uniform(&seed), 0.3 + 0.3 * test_uniform(&seed)};
    double xd_k[2];
    bramah__friction_force(&f, v_k, x_k, xd_k);

    formula q = begin();
    q.rounding = 1e-10;
    const bramah__expr start[4] = {e_number(x_k[0]), e_number(x_k[1]), e_number(xd_k[0]), e_number(xd_k[1])};
    const bramah__expr half = e_number(0.5 * h);
    bramah__expr end[2], rate[2], x[2], xd[2];
    complete(&q, bramah__friction_at(&f, q.x, half, start, start + 2, end, rate));
    expect(&q, v, bramah__friction_at(&f, e_variable(v), half, start, start + 2, x, xd), "bristles");
    for (size_t i = 0; i < bramah__friction_states(f.kind); i++) {
      ck_assert_double_eq_tol(value_of(&q, end[i]), x[i].value, 1e-14);
      ck_assert_double_eq_tol(value_of(&q, rate[i]), xd[i].value, 1e-10);
    }
    discard(&q);
  }
}

/* Stops, cushions and chambers by stroke and by velocity. */
TEST(test_cylinder)
{
  const bramah__cylinder c = {
      .reference = 1.0,
      .piston_length = 0.3,
      .rod_length = 0.6,
      .stop = {.stiffness = 1e8, .damping = 1e5, .cushion_length = 0.05, .cushion_damping = 3e4}};
  const double v0 = -0.2, s0 = 0.7 - 5e-5;
  formula by_s = begin(), by_v = begin(), filled = begin();
  complete(&by_s, bramah__stop_force(&c, by_s.x, e_number(v0)));
  complete(&by_v, bramah__stop_force(&c, e_number(s0), by_v.x));
  by_s.rounding = by_v.rounding = 1e-7;
  filled.rounding = 1e-15;
  complete(&filled, bramah__filled(&c, bramah__chamber(&c, 1, filled.x)));
  unsigned seed = 4;
  for (int k = 0; k < TRIES; k++) {
    const double u = test_uniform(&seed), s = (k % 2 ? 0.7 : 1.6) + u * (k % 3 ? 0.06 : 3e-4);
    expect(&by_s, s, bramah__stop_force(&c, e_variable(s), e_number(v0)), "stop");
    expect(&by_v, u, bramah__stop_force(&c, e_number(s0), e_variable(u)), "stop by velocity");
    expect(&filled, s, bramah__filled(&c, bramah__chamber(&c, 1, e_variable(s))), "chamber");
  }
  discard(&by_s);
  discard(&by_v);
  discard(&filled);
}

/* A dead band, a common characteristic and one of a single path. */
TEST(test_openings)
{
  static const double x[] = {-10, -2, 0, 1, 10}, y[] = {-8, -1, 0, 0, 9}, ends[] = {0, 10}, open[] = {0, 14};
  const bramah__opening openings[] = {{.dead_band = 0.5},
                                      {.common = {5, x, y}},
                                      {.common = {5, x, y}, .path[BRAMAH__PUMP_A] = {2, ends, open}}};
  unsigned seed = 5;
  for (size_t i = 0; i < sizeof openings / sizeof *openings; i++)
    for (int w = 0; w < BRAMAH__N_PATHS; w++) {
      formula q = begin();
      bramah__expr e[BRAMAH__N_PATHS];
      bramah__openings(&openings[i], q.x, e);
      complete(&q, e[w]);
      for (int k = 0; k < TRIES; k++) {
        const double U = k < 9 ? 0.5 * k - 2.0 : 12.0 * test_uniform(&seed); /* corners, too */
        bramah__expr there[BRAMAH__N_PATHS];
        bramah__openings(&openings[i], e_variable(U), there);
        expect(&q, U, there[w], "opening");
      }
      discard(&q);
    }
}

int main(void) { return run_tests("element graphs"); }
