/* SPDX-License-Identifier: MIT */
/* The estimated error of a step against the error it has, from steps in 64 parts; derivatives of steps in parts against
 * differences of such steps. */
#include "test/support/displaced.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <string.h>

enum { N = 5, STATES = 3 };
static bramah_diag diag;

typedef struct rig {
  four_bar fb;
  const bramah_model *model;
  bramah_coupled *c;
  bramah_plant plant;
} rig;

static void open_limited(rig *r, double tolerance, int64_t step_ns, int max_iterations)
{
  four_bar_describe(&r->fb, 1.0, step_ns);
  r->fb.machine.integrator.tolerance = tolerance;
  r->fb.machine.integrator.max_iterations = max_iterations;
  must(bramah_model_new(&r->fb.machine, &diag, &r->model), &diag);
  must(bramah_coupled_new(r->model, &diag, &r->c), &diag);
  r->plant = bramah_coupled_plant(r->c);
}

static void open_rig(rig *r, double tolerance) { open_limited(r, tolerance, 2000000, 25); }

static void close_rig(rig *r)
{
  bramah_coupled_free(r->c);
  bramah_model_free(r->model);
}

static void command(rig *r, double u) { must(r->plant.set_inputs(r->plant.self, &u, &diag), &diag); }
static void step(rig *r) { must(r->plant.step(r->plant.self, &diag), &diag); }

TEST(test_estimate_is_the_error)
{
  static _Alignas(64) unsigned char snap[8192];
  rig whole, parts;
  double error[STATES] = {0}, estimate[STATES] = {0};
  open_rig(&whole, 0.0);
  open_rig(&parts, 1e-15);
  ck_assert_uint_le(whole.plant.snapshot_size, sizeof snap);
  const char *const names[STATES] = {"crank.angle", "crank.rate", "v3.pressure"};
  size_t output[STATES];
  for (int i = 0; i < STATES; i++) output[i] = (size_t)bramah_plant_find_output(&whole.plant, names[i]);
  for (int k = 0; k < 1000; k++) {
    command(&whole, k < 300 ? 8.0 : -6.0);
    whole.plant.save(whole.plant.self, snap);
    parts.plant.restore(parts.plant.self, snap);
    step(&whole);
    step(&parts);
    if (k % 300 < 100) continue; /* the pressures ring after a command, faster than the step */
    for (int i = 0; i < STATES; i++) {
      error[i] += fabs(whole.plant.output(whole.plant.self, output[i]) -
                       parts.plant.output(parts.plant.self, output[i]));
      estimate[i] += bramah_coupled_step_error(whole.c, output[i]);
    }
  }
  for (int i = 0; i < STATES; i++)
    ck_assert_msg(estimate[i] > 0.8 * error[i] && estimate[i] < 1.5 * error[i], "%s: %g for %g", names[i],
                  estimate[i], error[i]);
  ck_assert_uint_eq(bramah_coupled_report(whole.c).divided, 0);
  ck_assert_uint_eq(bramah_coupled_report(parts.c).divided, 1000);
  ck_assert_uint_eq(bramah_coupled_report(parts.c).steps, 1000);
  ck_assert_uint_eq(bramah_coupled_report(parts.c).most_parts, 64);
  ck_assert(isnan(
      bramah_coupled_step_error(whole.c, (size_t)bramah_plant_find_output(&whole.plant, "energy.kinetic"))));
  close_rig(&whole);
  close_rig(&parts);
}

/* State after a step from the snapshot, displaced by dx or with the pump's pressure changed. */
static void stepped(rig *r, const unsigned char *snap, const double *dx, double more, double *x)
{
  size_t pump;
  must(bramah_plant_parameter_index(&r->plant, "pump.pressure", &pump, &diag), &diag);
  r->plant.restore(r->plant.self, snap);
  must(r->plant.inject(r->plant.self, dx, &diag), &diag);
  const double p = r->plant.parameter(r->plant.self, pump);
  must(r->plant.set_parameter(r->plant.self, pump, p + more, &diag), &diag);
  step(r);
  ck_assert(bramah_plant_coordinates(&r->plant, x));
}

TEST(test_derivatives_of_steps_in_parts)
{
  static const double scale[N] = {1.0, 1.0, 1e6, 1e6, 1e6};
  static _Alignas(64) unsigned char snap[8192];
  rig r, whole;
  double F[N * N], NN[N * 4], G[N], F_whole[N * N], N_whole[N * 4], none[N] = {0}, up[N], down[N];
  size_t pump;
  open_rig(&r, 1e-15);
  open_rig(&whole, 1e6);
  ck_assert_uint_eq(bramah_plant_n_error(&r.plant), N);
  must(bramah_plant_parameter_index(&r.plant, "pump.pressure", &pump, &diag), &diag);
  command(&whole, 5.0);
  for (int k = 0; k < 150; k++) step(&whole);
  whole.plant.save(whole.plant.self, snap);
  r.plant.restore(r.plant.self, snap);
  static const double beside[N] = {1e-3, 0.01, 1e5, -1e5, 1e5};
  ck_assert_int_eq(check_displaced(&r.plant, beside, 1, &pump), 0);
  must(r.plant.step_transition(r.plant.self, F, NN, 1, &pump, G, &diag), &diag);
  must(whole.plant.step_transition(whole.plant.self, F_whole, N_whole, 0, NULL, NULL, &diag), &diag);
  for (size_t k = 0; k <= N; k++) {
    double dx[N] = {0}, step_of = k < N ? 1e-5 * scale[k] : 1e2;
    if (k < N) dx[k] = step_of;
    stepped(&r, snap, k < N ? dx : none, k < N ? 0.0 : step_of, up);
    if (k < N) dx[k] = -step_of;
    stepped(&r, snap, k < N ? dx : none, k < N ? 0.0 : -step_of, down);
    for (size_t i = 0; i < N; i++) {
      const double slope = (up[i] - down[i]) / (2.0 * step_of) / scale[i] * (k < N ? scale[k] : 1e6);
      const double found = (k < N ? F[i * N + k] * scale[k] : G[i] * 1e6) / scale[i];
      ck_assert_msg(fabs(found - slope) < 1e-5 * (1.0 + fabs(slope)), "%zu by %zu: %g for %g", i, k, found,
                    slope);
    }
  }
  /* The same noise over the whole step: nearly what one step makes of it. */
  for (size_t i = 0; i < N; i++)
    for (size_t k = 0; k < 4; k++) {
      const double a = NN[i * 4 + k] / scale[i] * (k ? 1e6 : 1.0),
                   b = N_whole[i * 4 + k] / scale[i] * (k ? 1e6 : 1.0);
      ck_assert_msg(fabs(a - b) < 0.05 * (1.0 + fabs(b)), "%zu by %zu: %g for %g", i, k, a, b);
    }
  close_rig(&r);
  close_rig(&whole);
}

/* Four iterations are too few for some whole steps of 8 ms; those in two parts are two steps of 4 ms to the bit. */
TEST(test_parts_where_the_iteration_fails)
{
  static _Alignas(64) unsigned char snap[8192];
  rig r, half;
  uint64_t in_two = 0;
  open_limited(&r, 1e6, 8000000, 4);
  open_limited(&half, 1e6, 4000000, 4);
  ck_assert_uint_le(r.plant.snapshot_size, sizeof snap);
  for (int k = 0; k < 100; k++) {
    const bramah_step_report before = bramah_coupled_report(r.c), halves = bramah_coupled_report(half.c);
    command(&r, k < 50 ? 8.0 : -6.0);
    r.plant.save(r.plant.self, snap);
    half.plant.restore(half.plant.self, snap);
    step(&r);
    step(&half);
    step(&half);
    if (bramah_coupled_report(r.c).unconverged == before.unconverged) continue;
    if (bramah_coupled_report(half.c).unconverged != halves.unconverged) continue; /* more than two parts */
    for (size_t i = 0; i < r.plant.n_output; i++)
      ck_assert_double_eq(r.plant.output(r.plant.self, i), half.plant.output(half.plant.self, i));
    in_two++;
  }
  const bramah_step_report report = bramah_coupled_report(r.c);
  ck_assert_msg(in_two > 0 && report.unconverged < 100, "%llu of %llu", (unsigned long long)in_two,
                (unsigned long long)report.unconverged);
  ck_assert_uint_eq(report.divided, report.unconverged);
  ck_assert_uint_eq(report.steps, 100);
  close_rig(&r);
  close_rig(&half);
}

/* One is too few for any. */
TEST(test_refused_after_all_parts)
{
  static _Alignas(64) unsigned char before[8192], after[8192];
  rig r;
  open_limited(&r, 1e6, 2000000, 1);
  ck_assert_uint_le(r.plant.snapshot_size, sizeof before);
  command(&r, 8.0);
  r.plant.save(r.plant.self, before);
  const bramah_step_report report = bramah_coupled_report(r.c);
  ck_assert_int_eq(r.plant.step(r.plant.self, &diag), BRAMAH_E_NO_CONVERGENCE);
  ck_assert_msg(strstr(diag.message, "does not converge in the step that starts at 0 s, one of 64 parts"),
                "%s", diag.message);
  r.plant.save(r.plant.self, after);
  ck_assert_mem_eq(before, after, r.plant.snapshot_size);
  ck_assert_uint_eq(bramah_coupled_report(r.c).steps, report.steps);
  ck_assert_uint_eq(bramah_coupled_report(r.c).divided, 0);
  close_rig(&r);
}

/* An error beyond the tolerance in 64 parts too is a limit of the step, and of no other state. */
TEST(test_step_beyond_its_tolerance)
{
  bramah_limit worst[BRAMAH_N_LIMITS];
  bramah_output_info info;
  rig r;
  open_rig(&r, 1e-15);
  bramah_coupled_limits(r.c, worst);
  ck_assert(worst[BRAMAH_LIMIT_STEP].beyond == 0.0);
  command(&r, 8.0);
  for (int k = 0; k < 50; k++) step(&r);
  bramah_coupled_limits(r.c, worst);
  const bramah_limit *limit = &worst[BRAMAH_LIMIT_STEP];
  ck_assert(limit->beyond > 0.0 && fabs(limit->value - limit->beyond - 1e-15) < 1e-18);
  bramah_coupled_limit_info(r.c, BRAMAH_LIMIT_STEP, limit, &info);
  ck_assert(info.kind == BRAMAH_OUTPUT_POSITION);
  ck_assert(bramah_coupled_step_error(r.c, limit->output) <= limit->value);
  ck_assert_uint_eq(bramah_coupled_report(r.c).coarse, 50);
  must(bramah_coupled_reset(r.c, &diag), &diag);
  bramah_coupled_limits(r.c, worst);
  ck_assert(worst[BRAMAH_LIMIT_STEP].beyond == 0.0);
  close_rig(&r);
}

/* Corrections leap what is stored; only steps make energy from nothing. */
TEST(test_energy_of_steps_between_corrections)
{
  rig r, alone;
  bramah_energy energy = {0}, without = {0};
  double dx[N] = {0};
  open_rig(&r, 1e6);
  open_rig(&alone, 1e6);
  const size_t kinetic = (size_t)bramah_plant_find_output(&r.plant, "energy.kinetic"),
               potential = (size_t)bramah_plant_find_output(&r.plant, "energy.potential"),
               work = (size_t)bramah_plant_find_output(&r.plant, "lift.work");
  double leapt = 0.0;
  for (int k = 0; k < 500; k++) {
    rig *const both[] = {&r, &alone};
    for (int i = 0; i < 2; i++) {
      command(both[i], 5.0);
      step(both[i]);
    }
    leapt -= r.plant.output(r.plant.self, kinetic) + r.plant.output(r.plant.self, potential);
    dx[0] = 1e-4 * sin(k);
    dx[1] = 1e-2 * cos(k);
    must(r.plant.inject(r.plant.self, dx, &diag), &diag);
    leapt += r.plant.output(r.plant.self, kinetic) + r.plant.output(r.plant.self, potential);
    bramah_energy_add(&energy, r.c, 2000000 * (k + 1));
    bramah_energy_add(&without, alone.c, 2000000 * (k + 1));
  }
  const double stored = r.plant.output(r.plant.self, kinetic) + r.plant.output(r.plant.self, potential);
  ck_assert_double_eq_tol(energy.before + energy.error, stored - leapt - r.plant.output(r.plant.self, work),
                          1e-9);
  ck_assert_double_lt(energy.largest, energy.limit);
  ck_assert_double_gt(energy.largest, 1e-7);
  ck_assert_double_lt(energy.largest, 10.0 * without.largest);
  ck_assert_double_gt(fabs(leapt), 100.0 * energy.largest);
  close_rig(&r);
  close_rig(&alone);
}

TEST(test_limits_of_a_state)
{
  bramah_limit worst[BRAMAH_N_LIMITS];
  bramah_limit_event event = {0};
  double dx[N] = {0};
  rig r;
  open_rig(&r, 0.0);
  bramah_coupled_limits(r.c, worst);
  ck_assert(worst[BRAMAH_LIMIT_PRESSURE].beyond == 0.0 && worst[BRAMAH_LIMIT_STROKE].beyond == 0.0);
  bramah_limit_event_add(&event, &worst[BRAMAH_LIMIT_PRESSURE], 1);
  dx[3] = -4e6; /* the pressures start at 30 bar */
  must(r.plant.inject(r.plant.self, dx, &diag), &diag);
  bramah_coupled_limits(r.c, worst);
  ck_assert_uint_eq(worst[BRAMAH_LIMIT_PRESSURE].output,
                    (size_t)bramah_plant_find_output(&r.plant, "v2.pressure"));
  ck_assert(worst[BRAMAH_LIMIT_PRESSURE].value < 0.0);
  ck_assert(worst[BRAMAH_LIMIT_PRESSURE].beyond == -worst[BRAMAH_LIMIT_PRESSURE].value);
  bramah_limit_event_add(&event, &worst[BRAMAH_LIMIT_PRESSURE], 2);
  bramah_limit_event_add(&event, &worst[BRAMAH_LIMIT_PRESSURE], 3);
  ck_assert(event.n == 2 && event.first_ns == 2 && event.worst_ns == 2);
  close_rig(&r);
}

int main(void) { return run_tests("error control"); }
