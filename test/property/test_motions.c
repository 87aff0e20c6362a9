/* SPDX-License-Identifier: MIT */
/* Prescribed motions: a driven crank and slider against its closed formulae, a pendulum on a shaken cart
 * against an integration of its own, work of the drive against energy, all formulations, the filter,
 * faults. */
#include "bramah/filter.h"
#include "lib/plant/coupled_internal.h"
#include "lib/plant/plant_table.h"
#include "test/support/driven.h"
#include "test/support/run.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;
static bramah_diag diag;
static driven d;

static void step(driven *of) { must(of->p.step(of->p.self, &diag), &diag); }

/* Crank, rod joint and block at a time. */
static void slider_at(double t, double out[3])
{
  out[0] = 40.0 * pi / 180.0 + 6.0 * t;
  out[1] = -asin(0.3 * sin(out[0])) - out[0];
  out[2] = 0.3 * cos(out[0]) + sqrt(1.0 - 0.09 * sin(out[0]) * sin(out[0]));
}

static const char *const names[3][3] = {{"crank.angle", "crank.rate", "crank.acceleration"},
                                        {"rod.angle", "rod.rate", "rod.acceleration"},
                                        {"block.position", "block.rate", "block.acceleration"}};

static void check_slider(double t, double tolerance)
{
  const double eps = 1e-4;
  double at[3], above[3], below[3];
  slider_at(t, at);
  slider_at(t + eps, above);
  slider_at(t - eps, below);
  for (int i = 0; i < 3; i++) {
    ck_assert_double_eq_tol(driven_value(&d, names[i][0]), at[i], 1e-9);
    ck_assert_double_eq_tol(driven_value(&d, names[i][1]), (above[i] - below[i]) / (2 * eps), tolerance);
    ck_assert_double_eq_tol(driven_value(&d, names[i][2]), (above[i] - 2 * at[i] + below[i]) / (eps * eps),
                            10 * tolerance);
  }
}

/* Two turns and more: positions exact, rates and accelerations as differences of the closed formulae have
 * them. */
TEST(test_driven_slider)
{
  driven_slider_describe(&d, 1000000);
  driven_open(&d);
  ck_assert_uint_eq(d.p.n_dof, 1);
  ck_assert_str_eq(bramah__plant_state_name(&d.p, 0), "bob.angle");
  check_slider(0.0, 1e-6);
  for (int k = 1; k <= 2200; k++) {
    step(&d);
    check_slider(1e-3 * k, 1e-6);
    ck_assert_double_lt(bramah_coupled_constraint_violation(d.c), 1e-12);
  }
  driven_close(&d);
}

static const bramah_formulation others[2] = {BRAMAH_FORMULATION_AUGMENTED_LAGRANGIAN,
                                             BRAMAH_FORMULATION_PENALTY};

EACH_TEST(test_formulations_agree, 0, 2)
{
  static driven a, b;
  static const char *const compared[] = {"crank.angle", "block.position", "bob.angle", "bob.rate"};
  driven_slider_describe(&a, 500000);
  driven_slider_describe(&b, 500000);
  b.machine.integrator.formulation = others[_i];
  driven_open(&a);
  driven_open(&b);
  for (int k = 0; k < 4000; k++) {
    step(&a);
    step(&b);
    for (int i = 0; i < 4; i++)
      ck_assert_double_eq_tol(driven_value(&a, compared[i]), driven_value(&b, compared[i]), 2e-4);
    ck_assert_double_eq_tol(driven_value(&a, "crank.angle"), driven_value(&b, "crank.angle"),
                            _i ? 1e-5 : 1e-10);
    const double force = driven_value(&a, "drive.force");
    ck_assert_double_eq_tol(force, driven_value(&b, "drive.force"), 2e-2 + 1e-3 * fabs(force));
  }
  const double work = driven_value(&a, "drive.work");
  ck_assert_double_eq_tol(work, driven_value(&b, "drive.work"), 1e-2);
  driven_close(&a);
  driven_close(&b);
}

/* theta'' of the pendulum: (I + m l^2) theta'' = -m g l sin theta - m l cos theta x''. */
static double pendulum_acceleration(double t, double theta)
{
  const double w = 4 * pi, cart = -0.05 * w * w * sin(w * t);
  return -(2.0 * 9.81 * 0.5 * sin(theta) + 2.0 * 0.5 * cos(theta) * cart) / (0.01 + 2.0 * 0.25);
}

static void runge_kutta(double duration, double x[2])
{
  const double h = 1e-4;
  for (int k = 0; k < (int)(duration / h + 0.5); k++) {
    double slope[4][2], at[2] = {x[0], x[1]};
    static const double part[4] = {0, 0.5, 0.5, 1};
    for (int s = 0; s < 4; s++) {
      for (int i = 0; s && i < 2; i++) at[i] = x[i] + part[s] * h * slope[s - 1][i];
      slope[s][0] = at[1];
      slope[s][1] = pendulum_acceleration(h * k + part[s] * h, at[0]);
    }
    for (int i = 0; i < 2; i++)
      x[i] += h / 6 * (slope[0][i] + 2 * slope[1][i] + 2 * slope[2][i] + slope[3][i]);
  }
}

/* Errors of a run of 2 s: of the angle against Runge-Kutta at the end, of the energy at its worst. */
static void pendulum_errors(int64_t step_ns, bramah_formulation formulation, double *angle, double *energy)
{
  double x[2] = {0.35, 0.0};
  shaken_pendulum_describe(&d, step_ns);
  d.machine.integrator.formulation = formulation;
  driven_open(&d);
  const double start = driven_value(&d, "energy.kinetic") + driven_value(&d, "energy.potential");
  *energy = 0.0;
  for (int64_t t = 0; t < 2000000000; t += step_ns) {
    step(&d);
    const double now = driven_value(&d, "energy.kinetic") + driven_value(&d, "energy.potential");
    *energy = fmax(*energy, fabs(now - start - driven_value(&d, "shaker.work")));
  }
  runge_kutta(2.0, x);
  *angle = fabs(driven_value(&d, "bob.angle") - x[0]);
  driven_close(&d);
}

/* The projections of the Lagrangian leave 4 W / (h^2 alpha) of what the trapezoidal rule misses of the
 * prescribed motion: its energy is good to that, not to second order. */
EACH_TEST(test_shaken_pendulum, 0, 3)
{
  double angle[2], energy[2];
  for (int i = 0; i < 2; i++)
    pendulum_errors(i ? 500000 : 1000000, (bramah_formulation)_i, &angle[i], &energy[i]);
  ck_assert_double_lt(angle[0], 1e-4);
  ck_assert_double_lt(energy[0], 2e-4);
  ck_assert_double_eq_tol(angle[0] / angle[1], 4.0, 0.3);
  ck_assert_double_lt(energy[1], 5e-5);
  if (_i != BRAMAH_FORMULATION_AUGMENTED_LAGRANGIAN) ck_assert_double_eq_tol(energy[0] / energy[1], 4.0, 0.4);
}

/* The force of the shaker moves the masses: F = (M + m) x'' + m l (theta'' cos theta - theta'^2 sin
 * theta). */
TEST(test_force_of_the_drive)
{
  shaken_pendulum_describe(&d, 1000000);
  driven_open(&d);
  for (int k = 0; k < 1000; k++) {
    const double angle = driven_value(&d, "bob.angle"), rate = driven_value(&d, "bob.rate");
    const double by_hand =
        5.0 * driven_value(&d, "cart.acceleration") +
        1.0 * (driven_value(&d, "bob.acceleration") * cos(angle) - rate * rate * sin(angle));
    ck_assert_double_eq_tol(driven_value(&d, "shaker.force"), by_hand, 1e-10);
    step(&d);
  }
  bramah_output_info info;
  bramah_plant_output_info(&d.p, must_find(&d.p, "shaker.force"), &info);
  ck_assert_str_eq(info.unit, "N");
  driven_close(&d);
  driven_slider_describe(&d, 1000000);
  driven_open(&d);
  bramah_plant_output_info(&d.p, must_find(&d.p, "drive.force"), &info);
  ck_assert_str_eq(info.unit, "N*m");
  driven_close(&d);
}

/* Virtual power through a loop: the drive's force times the crank's rate is the power that all bodies take
 * up. */
TEST(test_energy_of_the_driven_slider)
{
  double defect[2];
  for (int i = 0; i < 2; i++) {
    driven_slider_describe(&d, i ? 500000 : 1000000);
    driven_open(&d);
    const double start = driven_value(&d, "energy.kinetic") + driven_value(&d, "energy.potential");
    defect[i] = 0.0;
    for (int k = 0; k < (i ? 2400 : 1200); k++) {
      step(&d);
      defect[i] =
          fmax(defect[i], fabs(driven_value(&d, "energy.kinetic") + driven_value(&d, "energy.potential") -
                               start - driven_value(&d, "drive.work")));
    }
    driven_close(&d);
  }
  ck_assert_double_lt(defect[0], 1e-2);
  ck_assert_double_eq_tol(defect[0] / defect[1], 4.0, 0.4);
}

/* A plant that has nothing but the snapshot, time included, goes on with the same bits. */
EACH_TEST(test_snapshot, 0, 3)
{
  static driven a, b;
  static double snap[256], sa[256], sb[256];
  driven_slider_describe(&a, 1000000);
  driven_slider_describe(&b, 1000000);
  a.machine.integrator.formulation = b.machine.integrator.formulation = (bramah_formulation)_i;
  driven_open(&a);
  driven_open(&b);
  ck_assert_uint_le(a.p.snapshot_size, sizeof snap);
  for (int k = 0; k < 300; k++) {
    step(&a);
    a.p.save(a.p.self, snap);
    b.p.restore(b.p.self, snap);
    ck_assert_double_eq(driven_value(&a, "drive.force"), driven_value(&b, "drive.force"));
    step(&a);
    step(&b);
    a.p.save(a.p.self, sa);
    b.p.save(b.p.self, sb);
    ck_assert_mem_eq(sa, sb, a.p.snapshot_size);
    a.p.restore(a.p.self, snap);
  }
  driven_close(&a);
  driven_close(&b);
}

/* Positions and rates [2 n] after the injection of dx in given coordinates. */
static void injected(driven *of, const double *snap, const int *index, const int *row, const double *dx,
                     double *after)
{
  const size_t n = of->model->n;
  of->p.restore(of->p.self, snap);
  memcpy(of->c->state.index, index, n * sizeof *index);
  memcpy(of->c->state.row, row, of->model->m * sizeof *row);
  must(of->p.inject(of->p.self, dx, &diag), &diag);
  memcpy(after, of->c->state.z, n * sizeof *after);
  memcpy(after + n, of->c->state.zd, n * sizeof *after);
}

/* Injecting dx in the old coordinates and T dx in the new ones moves the machine alike: central
 * differences. */
static void check_map(const int *old_index, const int *old_row)
{
  static driven old;
  static double snap[256], T[16];
  const size_t n = d.model->n;
  ck_assert_int_eq(d.p.basis_change(d.p.self, T), 1);
  shaken_slider_describe(&old, 500000);
  driven_open(&old);
  int index[4], row[8];
  memcpy(index, d.c->state.index, sizeof index);
  memcpy(row, d.c->state.row, d.model->m * sizeof *row);
  d.p.save(d.p.self, snap);
  for (int k = 0; k < 2; k++) {
    double after[2][2][8];
    for (int side = 0; side < 2; side++) {
      const double step = side ? 1e-6 : -1e-6, dx[2] = {k ? 0.0 : step, k ? step : 0.0};
      const double dx_new[2] = {T[k] * step, T[2 + k] * step};
      injected(&old, snap, old_index, old_row, dx, after[0][side]);
      injected(&d, snap, index, row, dx_new, after[1][side]);
    }
    for (size_t j = 0; j < 2 * n; j++) {
      const double by_old = after[0][1][j] - after[0][0][j], by_new = after[1][1][j] - after[1][0][j];
      ck_assert_double_eq_tol(by_old, by_new, 1e-6 * fabs(by_old) + 1e-13);
    }
  }
  d.p.restore(d.p.self, snap);
  driven_close(&old);
}

TEST(test_change_of_coordinates)
{
  int index[4], row[8];
  uint32_t changes = 0;
  shaken_slider_describe(&d, 500000);
  driven_open(&d);
  ck_assert_uint_eq(bramah_plant_n_error(&d.p), 2);
  ck_assert_uint_le(d.model->m, 8);
  for (int k = 0; k < 6000; k++) {
    memcpy(index, d.c->state.index, sizeof index);
    memcpy(row, d.c->state.row, d.model->m * sizeof *row);
    step(&d);
    ck_assert_str_ne(bramah__plant_state_name(&d.p, 0), "base.position");
    if (bramah_coupled_report(d.c).basis_changes == changes) continue;
    changes = bramah_coupled_report(d.c).basis_changes;
    check_map(index, row);
  }
  ck_assert_uint_ge(changes, 1);
  driven_close(&d);
}

/* A filter that starts 0.3 rad off finds the pendulum on the driven block; the crank carries no error. */
TEST(test_filter)
{
  static driven truth;
  static const double sp = 0.3, sv = 0.5, q = 0.05;
  const double angle = 20.0 * pi / 180.0 + 0.3, rest = 0.0;
  const size_t bob = 3;
  bramah_sensor sensor;
  bramah_filter *filter;
  unsigned seed = 4;
  double row[2];
  driven_slider_describe(&truth, 1000000);
  driven_slider_describe(&d, 1000000);
  driven_open(&truth);
  driven_open(&d);
  ck_assert_str_eq(bramah_model_get_info(d.model).joint_names[bob], "bob");
  must(bramah_coupled_start(d.c, 1, &bob, &angle, &rest, NULL, &diag), &diag);
  const bramah_sensor_options options = {
      .name = "encoder", .kind = BRAMAH_SENSOR_ENCODER, .at = "bob", .sigma = 0.01};
  must(bramah_sensor_init(&options, &d.p, &diag, &sensor), &diag);
  const size_t basis = must_find(&d.p, "bob.angle");
  const bramah_filter_options o = {.transition = BRAMAH_TRANSITION_KINEMATIC,
                                   .basis = &basis,
                                   .position_sigma = &sp,
                                   .rate_sigma = &sv,
                                   .first_order_sigma = NULL,
                                   .acceleration_noise = &q,
                                   .first_order_noise = NULL};
  must(bramah_filter_new(&d.p, 1, &sensor, &o, &diag, &filter), &diag);
  for (int k = 0; k < 3000; k++) {
    const unsigned char present = k % 5 == 0;
    const double y = bramah_sensor_predict(&sensor, &truth.p) + 0.01 * test_normal(&seed);
    must(bramah_filter_correct(filter, &y, &present, &diag), &diag);
    ck_assert_double_eq(driven_value(&d, "crank.angle"), driven_value(&truth, "crank.angle"));
    must(bramah_filter_predict(filter, &diag), &diag);
    step(&truth);
    must(d.p.output_row(d.p.self, must_find(&d.p, "crank.angle"), row), &diag);
    ck_assert(row[0] == 0.0 && row[1] == 0.0);
  }
  ck_assert_double_eq_tol(driven_value(&d, "bob.angle"), driven_value(&truth, "bob.angle"), 0.01);
  bramah_filter_free(filter);
  driven_close(&d);
  driven_close(&truth);
}

static void refused(bramah_status expected, const char *thing, const char *part)
{
  const bramah_model *none = NULL;
  const bramah_status status = bramah_model_new(&d.machine, &diag, &none);
  ck_assert_msg(status == expected, "expected %s, got %s (%s)", bramah_status_name(expected),
                bramah_status_name(status), diag.message);
  ck_assert_str_eq(diag.thing, thing);
  ck_assert_msg(strstr(diag.message, part) != NULL, "'%s' lacks '%s'", diag.message, part);
}

TEST(test_motions_that_are_wrong)
{
  driven_slider_describe(&d, 1000000);
  bramah_motion two[2] = {d.motion, d.motion};
  d.machine.motions = two;
  d.machine.n_motions = 2;
  two[1].name = "again";
  refused(BRAMAH_E_VALUE, "again", "already moved by the motion 'drive'");
  two[1].joint = "block";
  two[1].position = 1.2;
  refused(BRAMAH_E_CLOSURE, "again", "already follows from the loops");
  two[1].joint = "bob";
  two[1].position = 20.0 * pi / 180.0;
  refused(BRAMAH_E_TOPOLOGY, "driven crank", "loops and motions leave no degree of freedom");
  two[1].name = "drive";
  refused(BRAMAH_E_KEY, "drive", "more than one motion");
  driven_slider_describe(&d, 1000000);
  d.motion.joint = "crnk";
  refused(BRAMAH_E_REFERENCE, "drive", "there is no joint coordinate 'crnk'; did you mean 'crank'?");
  driven_slider_describe(&d, 1000000);
  d.motion.position = 1.0;
  refused(BRAMAH_E_VALUE, "crank",
          "the motion 'drive' starts this joint elsewhere than 'initial' says, at 1 rad");
  d.joints[0].initial = BRAMAH_INITIAL_GUESS;
  d.joints[0].initial_rate = 5.0;
  refused(BRAMAH_E_VALUE, "crank", "another rate than 'rate' says, 6 rad/s");
  driven_slider_describe(&d, 1000000);
  d.motion.type = (bramah_motion_type)9;
  refused(BRAMAH_E_VALUE, "drive", "type of this motion is unknown");
  d.motion.type = BRAMAH_MOTION_HARMONIC;
  refused(BRAMAH_E_VALUE, "drive", "the frequency must be positive");
  d.motion.type = BRAMAH_MOTION_TABLE;
  refused(BRAMAH_E_VALUE, "drive", "at least two points");
  static const double times[2] = {1.0, 1.0};
  d.motion.n_points = 2, d.motion.times = d.motion.positions = times;
  refused(BRAMAH_E_VALUE, "drive", "times of a motion must ascend");
}

/* A motion on the block that starts beyond the reach of rod and crank. */
TEST(test_beyond_reach)
{
  driven_slider_describe(&d, 1000000);
  d.joints[0].initial = BRAMAH_INITIAL_GUESS;
  d.motion = (bramah_motion){.name = "drive", .joint = "block", .type = BRAMAH_MOTION_RATE, .position = 1.5};
  refused(BRAMAH_E_CLOSURE, "wrist", "and where the motions start");
  d.motion.position = 1.2;
  d.motion.rate = 0.5; /* leaves the reach after 0.2 s */
  driven_open(&d);
  bramah_status status = BRAMAH_OK;
  int steps = 0;
  for (; status == BRAMAH_OK && steps < 300; steps++) status = d.p.step(d.p.self, &diag);
  ck_assert_int_gt(steps, 150);
  ck_assert_int_lt(steps, 250);
  ck_assert(status == BRAMAH_E_CLOSURE || status == BRAMAH_E_SINGULAR || status == BRAMAH_E_NO_CONVERGENCE);
  driven_close(&d);
}

/* A guess follows its motion; a start cannot give a prescribed joint. */
TEST(test_starts)
{
  const double position = 1.0, rate = 0.0;
  const size_t crank = 0;
  driven_slider_describe(&d, 1000000);
  d.joints[0].initial = BRAMAH_INITIAL_GUESS;
  d.joints[0].initial_position = 0.3;
  driven_open(&d);
  ck_assert_double_eq(driven_value(&d, "crank.angle"), 40.0 * pi / 180.0);
  ck_assert_double_eq(driven_value(&d, "crank.rate"), 6.0);
  ck_assert_int_eq(bramah_coupled_start(d.c, 1, &crank, &position, &rate, NULL, &diag), BRAMAH_E_SINGULAR);
  ck_assert_msg(strstr(diag.message, "a motion prescribes this joint") != NULL, "%s", diag.message);
  driven_close(&d);
}

/* A table: the cart stands, moves by 0.4 m within a second, and stands again; memory is what was promised. */
TEST(test_table)
{
  static const double times[3] = {0.2, 0.5, 1.2}, positions[3] = {0.1, 0.3, 0.5};
  shaken_pendulum_describe(&d, 1000000);
  d.motion = (bramah_motion){.name = "shaker",
                             .joint = "cart",
                             .type = BRAMAH_MOTION_TABLE,
                             .n_points = 3,
                             .times = times,
                             .positions = positions};
  const size_t size = bramah_model_size(&d.machine);
  void *mem = bramah__aligned_new(size);
  const bramah_model *model;
  must(bramah_model_init(&d.machine, mem, size, &diag, &model), &diag);
  bramah__aligned_free(mem);
  driven_open(&d);
  for (int k = 1; k <= 1500; k++) {
    step(&d);
    if (k == 200) ck_assert_double_eq_tol(driven_value(&d, "cart.position"), 0.1, 1e-15);
    if (k == 500) ck_assert_double_eq_tol(driven_value(&d, "cart.position"), 0.3, 1e-15);
  }
  ck_assert_double_eq(driven_value(&d, "cart.position"), 0.5);
  ck_assert_double_eq(driven_value(&d, "cart.rate"), 0.0);
  driven_close(&d);
}

int main(void) { return run_tests("motions"); }
