/* SPDX-License-Identifier: MIT */
/* Quasistatic actuators: the reference evaluations of the specification, the printed form (44) next to the one
 * that is computed, and what must hold for any openings, loads and speeds. */
#include "lib/hydraulics/metered.h"
#include "test/support/metered_cases.h"
#include "test/support/run.h"

#include <math.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* (46) */
static const double valve = 0.6 * 1e-4 * 0.048507125007266595; /* C a sqrt(2/850) */

static bramah__metered actuator_of(int set)
{
  return (bramah__metered){0.024, 0.012, set ? 30e6 : 42e6, set ? 25e6 : 40e6, valve, valve, valve,
                           valve, valve};
}

static bramah__pump_line line_of(double unloading)
{
  return (bramah__pump_line){0.5 / 60.0, 36e6, valve * unloading};
}

static void near(double value, double expected, double tolerance)
{
  ck_assert_msg(fabs(value - expected) <= tolerance, "%.17g instead of %.17g (off by %.3g)", value, expected,
                value - expected);
}

/* ---- reference evaluations, to 1e-9 or better ---- */

TEST(test_phi)
{
  for (size_t i = 0; i < COUNT(phi_a_cases); ++i) {
    const phi_a *c = &phi_a_cases[i];
    near(bramah__phi_a(c->b, c->c, c->a), c->x, 1e-14 * fabs(c->x));
  }
  for (size_t i = 0; i < COUNT(phi_b_cases); ++i) {
    const phi_b *c = &phi_b_cases[i];
    near(bramah__phi_b(c->b, c->c, c->a0, c->a1, c->x1), c->x, 1e-12 * fabs(c->x) + 1e-16);
  }
}

TEST(test_gamma)
{
  for (size_t i = 0; i < COUNT(gamma_of_v_cases); ++i) {
    const gamma_of_v *c = &gamma_of_v_cases[i];
    const bramah__metered m = actuator_of(c->set);
    const bramah__pump_line line = line_of(c->unloading);
    const bramah__interval f = bramah__gamma(&m, &c->u, &line, c->v);
    near(f.lo, c->lo, 1e-9 * fabs(c->lo));
    near(f.hi, c->hi, 1e-9 * fabs(c->hi));
  }
}

TEST(test_lambda)
{
  for (size_t i = 0; i < COUNT(lambda_of_load_cases); ++i) {
    const lambda_of_load *c = &lambda_of_load_cases[i];
    const bramah__metered m = actuator_of(c->set);
    const bramah__pump_line line = line_of(c->unloading);
    near(bramah__lambda(&m, &c->u, &line, c->beta, c->fbar), c->v, 1e-14);
  }
}

TEST(test_gamma_with_regeneration)
{
  for (size_t i = 0; i < COUNT(gamma_regenerating_cases); ++i) {
    const gamma_regenerating *c = &gamma_regenerating_cases[i];
    const bramah__metered m = actuator_of(0);
    const bramah__metered_group group = {1, &m, &c->u, line_of(c->unloading)};
    const double P = bramah__line_pressure(&group, &c->v);
    const bramah__interval f = bramah__gamma_at(&m, &c->u, P, c->v);
    const bramah__metered_state s = bramah__metered_state_at(&m, &c->u, &group.line, P, c->v, f.lo);
    near(f.lo, c->lo, 1e-9 * fabs(c->lo));
    near(f.hi, c->hi, 1e-9 * fabs(c->hi));
    near(s.Q_a / m.A_r, c->v_a, 1e-12);
  }
}

TEST(test_lambda_with_regeneration)
{
  for (size_t i = 0; i < COUNT(lambda_regenerating_cases); ++i) {
    const lambda_regenerating *c = &lambda_regenerating_cases[i];
    const bramah__metered m = actuator_of(0);
    const bramah__metered_group group = {1, &m, &c->u, line_of(c->unloading)};
    double v;
    const double P = bramah__lambda_of(&group, &c->beta, &c->fbar, &v);
    const bramah__metered_state s =
        bramah__metered_state_at(&m, &c->u, &group.line, P, v, c->beta * v + c->fbar);
    near(v, c->v, 1e-12);
    near(s.Q_a / m.A_r, c->v_a, 1e-12);
  }
}

TEST(test_two_on_one_pump)
{
  const bramah__metered m[2] = {actuator_of(0), actuator_of(0)};
  for (size_t i = 0; i < COUNT(gamma_pair_cases); ++i) {
    const gamma_pair *c = &gamma_pair_cases[i];
    const bramah__metered_group group = {2, m, c->u, line_of(c->unloading)};
    const double P = bramah__line_pressure(&group, c->v);
    near(P, c->P, 1e-9 * c->P);
    for (size_t j = 0; j < 2; ++j) {
      const bramah__interval f = bramah__gamma_at(&m[j], &c->u[j], P, c->v[j]);
      near(f.lo, c->f[j].lo, 1e-9 * fabs(c->f[j].lo));
      near(f.hi, c->f[j].hi, 1e-9 * fabs(c->f[j].hi));
    }
  }
  for (size_t i = 0; i < COUNT(lambda_pair_cases); ++i) {
    const lambda_pair *c = &lambda_pair_cases[i];
    const bramah__metered_group group = {2, m, c->u, line_of(c->unloading)};
    double v[2];
    near(bramah__lambda_of(&group, c->beta, c->fbar, v), c->P, 1e-9 * c->P);
    near(v[0], c->v[0], 1e-12);
    near(v[1], c->v[1], 1e-12);
  }
}

/* ---- for any input ---- */

static double uniform(uint64_t *seed)
{
  *seed ^= *seed << 13, *seed ^= *seed >> 7, *seed ^= *seed << 17;
  return (double)(*seed >> 11) * 0x1p-53;
}

/* In every fourth case 0, in every eighth 1. */
static double any_opening(uint64_t *seed)
{
  const double kind = uniform(seed);
  return kind < 0.25 ? 0.0 : kind < 0.375 ? 1.0 : kind < 0.5 ? 0.01 * uniform(seed) : uniform(seed);
}

static bramah__metering any_metering(uint64_t *seed)
{
  const double one = any_opening(seed), other = any_opening(seed);
  if (uniform(seed) < 0.5) return (bramah__metering){.ph = one, .tr = other, .a = any_opening(seed)};
  return (bramah__metering){.pr = one, .th = other};
}

static bramah__metered any_actuator(uint64_t *seed)
{
  bramah__metered m = actuator_of(0);
  m.P_hM = 10e6 + 40e6 * uniform(seed);
  m.P_rM = 10e6 + 40e6 * uniform(seed);
  m.A_r = m.A_h * (0.3 + 0.7 * uniform(seed));
  return m;
}

static double limit_of(const bramah__metered *m) { return fmax(m->A_h * m->P_hM, m->A_r * m->P_rM); }

/* f lies between Gamma just right and just left of v: v itself is only known to its last digit. */
static void on_graph(const bramah__interval *left, const bramah__interval *right, double f, double limit,
                     double v)
{
  ck_assert_msg(f >= right->lo - 1e-12 * limit && f <= left->hi + 1e-12 * limit,
                "v = %.17g: f = %.17g outside [%.17g, %.17g]", v, f, right->lo, left->hi);
}

/* beta v + fbar in Gamma(v) on 10^6 random inputs. */
TEST(test_lambda_inverts_gamma)
{
  uint64_t seed = 20220105;
  for (int i = 0; i < 1000000; ++i) {
    const bramah__metered m = any_actuator(&seed);
    const bramah__metering u = any_metering(&seed);
    const bramah__pump_line line = line_of(any_opening(&seed));
    const double beta = pow(10.0, 4.0 + 4.0 * uniform(&seed)), limit = limit_of(&m);
    const double fbar = 3.0 * limit * (uniform(&seed) - 0.5);
    const double v = bramah__lambda(&m, &u, &line, beta, fbar), f = beta * v + fbar;
    const bramah__interval left = bramah__gamma(&m, &u, &line, nextafter(v, -1e9));
    const bramah__interval right = bramah__gamma(&m, &u, &line, nextafter(v, 1e9));
    if (v == 0.0) {
      const bramah__interval at = bramah__gamma(&m, &u, &line, 0.0);
      on_graph(&at, &at, f, limit, v);
    } else {
      on_graph(&left, &right, f, limit, v);
    }
  }
}

/* The same through regeneration, and at a given pressure of the line. */
TEST(test_lambda_inverts_gamma_at_pressure)
{
  uint64_t seed = 7;
  for (int i = 0; i < 200000; ++i) {
    const bramah__metered m = any_actuator(&seed);
    const bramah__metering u = any_metering(&seed);
    const double beta = pow(10.0, 4.0 + 4.0 * uniform(&seed)), limit = limit_of(&m);
    const double fbar = 3.0 * limit * (uniform(&seed) - 0.5), P = 45e6 * any_opening(&seed);
    const double v = bramah__lambda_at(&m, &u, P, beta, fbar), f = beta * v + fbar;
    const double step = v == 0.0 ? 0.0 : 4.0 * fabs(nextafter(v, 1e9) - v);
    const bramah__interval left = bramah__gamma_at(&m, &u, P, v - step);
    const bramah__interval right = bramah__gamma_at(&m, &u, P, v + step);
    on_graph(&left, &right, f, limit, v);
  }
}

TEST(test_gamma_never_rises)
{
  uint64_t seed = 11;
  for (int i = 0; i < 20000; ++i) {
    const bramah__metered m = any_actuator(&seed);
    const bramah__metering u = any_metering(&seed);
    const bramah__pump_line line = line_of(any_opening(&seed));
    const double P = 45e6 * any_opening(&seed), limit = limit_of(&m);
    double before = INFINITY, before_at = INFINITY;
    for (int k = -20; k <= 40; ++k) {
      const bramah__interval f = bramah__gamma(&m, &u, &line, 0.02 * k);
      const bramah__interval at = bramah__gamma_at(&m, &u, P, 0.02 * k);
      ck_assert_msg(f.hi <= before + 1e-12 * limit && f.lo <= f.hi, "rises at %g", 0.02 * k);
      ck_assert_msg(at.hi <= before_at + 1e-12 * limit && at.lo <= at.hi, "rises at %g", 0.02 * k);
      before = f.lo;
      before_at = at.lo;
    }
  }
}

/* x over a possibly closed valve, without 0/0. */
static double lost(double x, double conductance)
{
  if (x == 0.0) return 0.0;
  return bramah__signed_square(x) / conductance; /* +-inf where closed */
}

/* (44c) and (44e) as printed. */
static double gamma_44(const bramah__metered *m, const bramah__metering *u, const bramah__pump_line *line,
                       double v)
{
  const double h3 = m->A_h * m->A_h * m->A_h, r3 = m->A_r * m->A_r * m->A_r;
  const double F_hM = m->A_h * m->P_hM, F_rM = m->A_r * m->P_rM, unloading = line->U_b * line->U_b;
  const double ph = lost(v, valve * u->ph * valve * u->ph / h3),
               tr = lost(v, valve * u->tr * valve * u->tr / r3);
  const double pr = lost(v, valve * u->pr * valve * u->pr / r3),
               th = lost(v, valve * u->th * valve * u->th / h3);
  if (v > 0.0 && u->ph + u->tr > 0.0) {
    const double line_force = -lost(v - line->Q / m->A_h, unloading / h3);
    const double at_0 = fmax(F_hM - tr, F_hM - F_rM),
                 at_1 = fmax(line_force - ph - tr, line_force - ph - F_rM);
    const double at_2 = fmax(m->A_h * line->P_M - ph - tr, m->A_h * line->P_M - ph - F_rM);
    return fmax(fmax(fmin(fmin(at_0, at_1), at_2), -tr), -F_rM);
  }
  if (v < 0.0 && u->pr + u->th > 0.0) {
    const double line_force = -lost(v + line->Q / m->A_r, unloading / r3);
    const double at_0 = fmin(-F_rM - th, F_hM - F_rM),
                 at_1 = fmin(line_force - pr - th, line_force - pr + F_hM);
    const double at_2 = fmin(-m->A_r * line->P_M - pr - th, -m->A_r * line->P_M - pr + F_hM);
    return fmin(fmin(fmax(fmax(at_0, at_1), at_2), -th), F_hM);
  }
  return v > 0.0 ? -F_rM : F_hM;
}

TEST(test_both_forms_agree)
{
  uint64_t seed = 43;
  for (int i = 0; i < 200000; ++i) {
    bramah__metered m = any_actuator(&seed);
    const bramah__metering u = any_metering(&seed);
    const bramah__pump_line line = line_of(any_opening(&seed));
    const double v = 1.6 * (uniform(&seed) - 0.5);
    const bramah__interval f = bramah__gamma(&m, &u, &line, v);
    near(f.hi, gamma_44(&m, &u, &line, v), 1e-12 * limit_of(&m));
  }
}

/* Closed valves hold for ever: not a digit of creep under any load below the reliefs. */
TEST(test_closed_valves_hold)
{
  const bramah__metered m = actuator_of(0);
  const bramah__metering closed = {.a = 1.0};
  const bramah__pump_line line = line_of(0.3);
  for (double f = -480000.0; f <= 1008000.0; f += 1000.0) {
    ck_assert_double_eq(bramah__lambda(&m, &closed, &line, 1e6, f), 0.0);
    ck_assert_double_eq(bramah__lambda_at(&m, &closed, 36e6, 1e6, f), 0.0);
  }
}

/* ---- groups ---- */

static bramah__metered_group any_group(size_t n, bramah__metered *m, bramah__metering *u, uint64_t *seed)
{
  for (size_t j = 0; j < n; ++j) {
    m[j] = any_actuator(seed);
    u[j] = any_metering(seed);
  }
  return (bramah__metered_group){n, m, u, line_of(any_opening(seed))};
}

/* Whatever the pump gives goes through the unloading valve, into the actuators or, at its setting only, through
 * the relief. */
TEST(test_flows_of_a_group_balance)
{
  uint64_t seed = 85;
  bramah__metered m[4];
  bramah__metering u[4];
  double beta[4], fbar[4], v[4];
  for (int i = 0; i < 5000; ++i) {
    const bramah__metered_group group = any_group(4, m, u, &seed);
    for (size_t j = 0; j < 4; ++j) {
      beta[j] = pow(10.0, 5.0 + 2.0 * uniform(&seed));
      fbar[j] = 2.0 * limit_of(&m[j]) * (uniform(&seed) - 0.5);
    }
    const double P = bramah__lambda_of(&group, beta, fbar, v);
    double left = group.line.Q - group.line.U_b * sqrt(P);
    for (size_t j = 0; j < 4; ++j) {
      const double f = beta[j] * v[j] + fbar[j];
      const bramah__metered_state s = bramah__metered_state_at(&m[j], &u[j], &group.line, P, v[j], f);
      ck_assert_double_ge(s.P_h, 0.0);
      ck_assert_double_ge(s.P_r, 0.0);
      near(s.P_h * m[j].A_h - s.P_r * m[j].A_r, f, 1e-9 * limit_of(&m[j]));
      left -= s.Q_p;
    }
    ck_assert_double_ge(left, P < group.line.P_M ? -1e-9 : -1e-15);
    if (P < group.line.P_M) near(left, 0.0, 1e-9);
  }
}

/* Alone on the line the iteration gives what the closed form gives. */
TEST(test_iteration_equals_closed_form)
{
  uint64_t seed = 54;
  for (int i = 0; i < 20000; ++i) {
    bramah__metered m[2] = {any_actuator(&seed), actuator_of(0)};
    bramah__metering u[2] = {any_metering(&seed)};
    u[0].a = 0.0;
    const double beta[2] = {1e6, 1e6}, fbar[2] = {2.0 * limit_of(m) * (uniform(&seed) - 0.5), 0.0};
    const bramah__metered_group one = {1, m, u, line_of(0.05 + any_opening(&seed))},
                                two = {2, m, u, one.line};
    double alone, together[2];
    const double P = bramah__lambda_of(&one, beta, fbar, &alone),
                 Q = bramah__lambda_of(&two, beta, fbar, together);
    near(alone, together[0], 1e-10);
    near(P, Q, 1e-6 * P + 1.0);
  }
}

/* Derivatives against central differences, away from kinks: where both one-sided differences agree. */
TEST(test_slopes)
{
  uint64_t seed = 101;
  bramah__metered m[3];
  bramah__metering u[3];
  double beta[3], fbar[3], v[3], up[3], down[3], slope[9], work[6];
  int compared = 0;
  for (int i = 0; i < 3000; ++i) {
    const bramah__metered_group group = any_group(3, m, u, &seed);
    for (size_t j = 0; j < 3; ++j) {
      beta[j] = 1e6;
      fbar[j] = 2.0 * limit_of(&m[j]) * (uniform(&seed) - 0.5);
    }
    const double P = bramah__lambda_of(&group, beta, fbar, v);
    bramah__lambda_slopes(&group, P, beta, v, slope, work);
    for (size_t j = 0; j < 3; ++j) {
      const double at = fbar[j], h = 20.0;
      fbar[j] = at + h;
      bramah__lambda_of(&group, beta, fbar, up);
      fbar[j] = at - h;
      bramah__lambda_of(&group, beta, fbar, down);
      fbar[j] = at;
      for (size_t k = 0; k < 3; ++k) {
        const double right = (up[k] - v[k]) / h, left = (v[k] - down[k]) / h;
        if (fabs(right - left) > 1e-9) continue;
        near(slope[k * 3 + j], 0.5 * (right + left), 2e-10);
        ++compared;
      }
    }
  }
  ck_assert_int_gt(compared, 25000);
}

/* Table 1, one state of each row that a moving actuator can have. */
TEST(test_valve_states)
{
  static const struct {
    double ph_tr, unloading, v;
    unsigned valves;
  } rows[] = {
      {0.0, 0.3, 0.1, BRAMAH__ROD_RELIEF | BRAMAH__HEAD_SUCTION},
      {0.0, 0.3, -0.1, BRAMAH__HEAD_RELIEF | BRAMAH__ROD_SUCTION},
      {0.5, 0.2, 0.5, BRAMAH__HEAD_SUCTION},
      {0.5, 0.2, 0.02, BRAMAH__PUMP_RELIEF},
      {0.5, 0.2, 0.23, 0},
      {0.05, 0.2, 0.12, BRAMAH__HEAD_SUCTION | BRAMAH__ROD_RELIEF},
      {0.5, 0.2, -0.1, BRAMAH__HEAD_RELIEF | BRAMAH__ROD_SUCTION},
  };
  const bramah__metered m = actuator_of(0);
  for (size_t i = 0; i < COUNT(rows); ++i) {
    const bramah__metering u = {.ph = rows[i].ph_tr, .tr = rows[i].ph_tr};
    const bramah__metered_group group = {1, &m, &u, line_of(rows[i].unloading)};
    const double P = bramah__line_pressure(&group, &rows[i].v);
    const bramah__interval f = bramah__gamma_at(&m, &u, P, rows[i].v);
    const unsigned valves = bramah__metered_state_at(&m, &u, &group.line, P, rows[i].v, f.lo).valves;
    const unsigned ignored =
        P >= group.line.P_M && !(rows[i].valves & BRAMAH__PUMP_RELIEF) ? BRAMAH__PUMP_RELIEF : 0u;
    ck_assert_msg((valves & ~ignored) == rows[i].valves, "row %zu: %#x", i, valves);
  }
}

int main(void) { return run_tests("metered"); }
