/* SPDX-License-Identifier: MIT */
/* Singular poses: a parallelogram that lies flat may go on as one or as an antiparallelogram, and its
 * constraints determine neither. As a parallelogram it is one pendulum, for its coupler only translates: crank
 * and rocker of 1 m with their inertia, and the coupler's mass 1 m from the axis. */
#include "bramah/linear.h"
#include "lib/plant/coupled_internal.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"
#include "test/support/running.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bramah_diag diag;
static const char *const formulation_name[] = {"partitioning", "augmented Lagrangian", "penalty"};

/* Masses and centres differ, so that weight acts across the branch in the flat pose. */
typedef struct parallelogram {
  bramah_machine machine;
  bramah_body bodies[4];
  bramah_joint joints[4];
  bramah_loop loops[1];
  double inertia, moment; /* of the pendulum: I th'' = -g moment cos(th) */
} parallelogram;

static void describe(parallelogram *p, double angle, double rate, double gravity, int64_t step_ns,
                     bramah_formulation formulation)
{
  static const char *const name[4] = {"crank", "coupler", "rocker", "bob"}, *const parent[4] = {
                                                                                "ground", "crank", "ground",
                                                                                "coupler"};
  static const double mass[4] = {2.0, 1.0, 3.0, 0.5}, centre[4] = {0.5, 1.0, 0.4, 0.7},
                      base[4] = {0.0, 1.0, 2.0, 0.6};
  const double start[4] = {angle, -angle, angle, -0.5};
  *p = (parallelogram){.loops = {{.name = "tip",
                                  .type = BRAMAH_LOOP_REVOLUTE,
                                  .body = {"coupler", "rocker"},
                                  .point = {{2, 0, 0}, {1, 0, 0}},
                                  .axis = {{0, 0, 1}, {0, 0, 1}}}}};
  for (int i = 0; i < 4; i++) {
    p->bodies[i] = (bramah_body){
        .name = name[i], .mass = mass[i], .centre_of_mass = {centre[i]}, .inertia = {0.01, 0.2, 0.2}};
    p->joints[i] = (bramah_joint){.name = name[i],
                                  .type = BRAMAH_JOINT_REVOLUTE,
                                  .parent = parent[i],
                                  .child = name[i],
                                  .position = {base[i]},
                                  .axis = {0, 0, 1},
                                  .initial = i ? BRAMAH_INITIAL_GUESS : BRAMAH_INITIAL_GIVEN,
                                  .initial_position = start[i]};
  }
  p->joints[0].initial_rate = rate;
  p->inertia = 0.2 + 2.0 * 0.25 + 1.0 + 0.2 + 3.0 * 0.16;
  p->moment = 2.0 * 0.5 + 1.0 + 3.0 * 0.4;
  p->machine = (bramah_machine){
      .name = "parallelogram",
      .gravity = {0, -gravity, 0},
      .n_bodies = 3,
      .bodies = p->bodies,
      .n_joints = 3,
      .joints = p->joints,
      .n_loops = 1,
      .loops = p->loops,
      .integrator = {.step_ns = step_ns, .position_tolerance = 1e-10, .formulation = formulation}};
}

/* The pendulum over dt by Runge and Kutta's method in ten parts: to 1e-13. */
static void swing(double k, double dt, double x[2])
{
  const double h = dt / 10.0;
  for (int i = 0; i < 10; i++) {
    const double w1 = x[1], a1 = -k * cos(x[0]), w2 = w1 + 0.5 * h * a1, a2 = -k * cos(x[0] + 0.5 * h * w1),
                 w3 = w1 + 0.5 * h * a2, a3 = -k * cos(x[0] + 0.5 * h * w2), w4 = w1 + h * a3,
                 a4 = -k * cos(x[0] + h * w3);
    x[0] += h / 6.0 * (w1 + 2.0 * w2 + 2.0 * w3 + w4);
    x[1] += h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
  }
}

typedef struct course {
  double angle, rate, energy, violation; /* largest errors */
  int passes;                            /* of a flat pose */
} course;

static double energy(const running *r) { return shown(r, "energy.kinetic") + shown(r, "energy.potential"); }

static course run(const parallelogram *p, double seconds)
{
  course out = {0};
  running r = start(&p->machine);
  const double h = (double)p->machine.integrator.step_ns * 1e-9, before = energy(&r);
  double x[2] = {shown(&r, "crank.angle"), shown(&r, "crank.rate")};
  ck_assert_uint_eq(bramah_model_get_info(r.model).n_dof, 1);
  for (double t = 0.0; t < seconds - 0.5 * h; t += h) {
    const double side = sin(x[0]);
    swing(-p->machine.gravity[1] * p->moment / p->inertia, h, x);
    must(r.p.step(r.p.self, &diag), &diag);
    out.passes += side * sin(x[0]) <= 0.0;
    out.angle = fmax(out.angle, fabs(shown(&r, "crank.angle") - x[0]));
    out.angle = fmax(out.angle, fabs(shown(&r, "rocker.angle") - x[0]));
    out.angle = fmax(out.angle, fabs(shown(&r, "coupler.angle") + x[0]));
    out.rate = fmax(out.rate, fabs(shown(&r, "rocker.rate") - x[1]));
    out.energy = fmax(out.energy, fabs(energy(&r) - before));
    out.violation = fmax(out.violation, bramah_coupled_constraint_violation(r.c));
  }
  stop(&r);
  return out;
}

/* Over the top again and again, in a plane that is nearly level: ten seconds with steps of 1 ms. */
EACH_TEST(test_passes, 0, 3)
{
  parallelogram p;
  describe(&p, 1.0, -1.5, 0.2, 1000000, (bramah_formulation)_i);
  const course c = run(&p, 10.0);
  printf("%s: %d flat poses, angles to %.2g rad, rates to %.2g rad/s, energy to %.2g J, loop to %.2g m\n",
         formulation_name[_i], c.passes, c.angle, c.rate, c.energy, c.violation);
  ck_assert_int_ge(c.passes, 5);
  ck_assert_double_lt(c.angle, 1e-6);
  ck_assert_double_lt(c.rate, 1e-6);
  ck_assert_double_lt(c.energy, 1e-6);
  ck_assert_double_lt(c.violation, 1e-10);
}

/* Swinging in full weight: the error falls with the square of the step, as without singular poses. */
EACH_TEST(test_keeps_its_order, 0, 3)
{
  course c[2];
  for (int i = 0; i < 2; i++) {
    parallelogram p;
    describe(&p, 1.0, 0.0, 9.81, i ? 1000000 : 2000000, (bramah_formulation)_i);
    c[i] = run(&p, 5.0);
  }
  printf("%s: %d flat poses, %.2g rad with 2 ms, %.2g rad with 1 ms\n", formulation_name[_i], c[1].passes,
         c[0].angle, c[1].angle);
  ck_assert_int_ge(c[1].passes, 4);
  ck_assert_double_eq_tol(c[0].angle / c[1].angle, 4.0, 0.3);
}

/* Steps that end in the flat pose itself, and a swing that turns near it. */
EACH_TEST(test_flat, 0, 3)
{
  parallelogram p;
  describe(&p, 1.0, -1.0, 0.0, 1000000, (bramah_formulation)_i);
  const course through = run(&p, 5.0);
  describe(&p, -3.1415, 0.0, 9.81, 250000, (bramah_formulation)_i);
  const course turning = run(&p, 3.0);
  printf("%s: %.2g rad, turning %.2g rad\n", formulation_name[_i], through.angle, turning.angle);
  ck_assert_double_lt(through.angle, 1e-9);
  ck_assert_double_lt(turning.angle, 1e-5);
}

/* The other branch is kept as well: the links cross, and energy holds. */
EACH_TEST(test_antiparallelogram, 0, 3)
{
  parallelogram p;
  double drift[2];
  for (int i = 0; i < 2; i++) {
    describe(&p, 1.0, -2.0, 0.5, i ? 500000 : 1000000, (bramah_formulation)_i);
    p.joints[1].initial_position = -1.9;
    p.joints[2].initial_position = -1.9;
    running r = start(&p.machine);
    const double before = energy(&r);
    double largest = 0.0;
    for (int k = 0; k < (i ? 4000 : 2000); k++) {
      must(r.p.step(r.p.self, &diag), &diag);
      largest = fmax(largest, fabs(energy(&r) - before));
      if (fabs(sin(shown(&r, "crank.angle"))) > 0.1) /* the coupler does not stay parallel to the ground */
        ck_assert_double_gt(fabs(sin(shown(&r, "crank.angle") + shown(&r, "coupler.angle"))), 1e-2);
    }
    ck_assert_double_lt(shown(&r, "crank.angle"), -1.0);
    ck_assert_double_lt(bramah_coupled_constraint_violation(r.c), 1e-9);
    drift[i] = largest;
    stop(&r);
  }
  printf("%s: energy to %.2g J with 1 ms, %.2g J with 0.5 ms\n", formulation_name[_i], drift[0], drift[1]);
  ck_assert_double_eq_tol(drift[0] / drift[1], 4.0, 0.4);
}

/* More than one degree of freedom: a bob that hangs from the coupler. */
EACH_TEST(test_two_degrees_of_freedom, 0, 3)
{
  double drift[2];
  for (int i = 0; i < 2; i++) {
    parallelogram p;
    describe(&p, 1.0, 0.0, 9.81, i ? 500000 : 1000000, (bramah_formulation)_i);
    p.machine.n_bodies = p.machine.n_joints = 4;
    p.joints[3].initial = BRAMAH_INITIAL_GIVEN;
    running r = start(&p.machine);
    ck_assert_uint_eq(bramah_model_get_info(r.model).n_dof, 2);
    const double before = energy(&r);
    drift[i] = 0.0;
    for (int k = 0; k < (i ? 6000 : 3000); k++) {
      must(r.p.step(r.p.self, &diag), &diag);
      drift[i] = fmax(drift[i], fabs(energy(&r) - before));
      ck_assert_double_eq_tol(shown(&r, "rocker.angle"), shown(&r, "crank.angle"), 1e-9);
    }
    stop(&r);
  }
  printf("%s: energy to %.2g J with 1 ms, %.2g J with 0.5 ms\n", formulation_name[_i], drift[0], drift[1]);
  ck_assert_double_eq_tol(drift[0] / drift[1], 4.0, 0.4);
}

/* Near the flat pose too a snapshot holds all that the next step needs. */
EACH_TEST(test_snapshot, 0, 3)
{
  parallelogram p;
  static double snap[256], sa[256], sb[256];
  describe(&p, 0.05, -1.0, 9.81, 1000000, (bramah_formulation)_i);
  running a = start(&p.machine), b = start(&p.machine);
  ck_assert_uint_le(a.p.snapshot_size, sizeof snap);
  int bridged = 0;
  for (int k = 0; k < 100; k++) {
    must(a.p.step(a.p.self, &diag), &diag);
    bridged += a.c->now->bridged;
    a.p.save(a.p.self, snap);
    b.p.restore(b.p.self, snap);
    must(a.p.step(a.p.self, &diag), &diag);
    must(b.p.step(b.p.self, &diag), &diag);
    a.p.save(a.p.self, sa);
    b.p.save(b.p.self, sb);
    ck_assert_mem_eq(sa, sb, a.p.snapshot_size);
    a.p.restore(a.p.self, snap);
  }
  ck_assert_int_ge(bridged, 2);
  stop(&a);
  stop(&b);
}

/* A start in the flat pose, or too near it, is refused by the loop, with the joint to change. */
EACH_TEST(test_flat_start, 0, 3)
{
  static const double angle[] = {0.0, 3.14159265358979312, 1e-9};
  parallelogram p;
  describe(&p, angle[_i], -1.0, 9.81, 1000000, BRAMAH_FORMULATION_PARTITIONING);
  refuses(&p.machine, BRAMAH_E_SINGULAR, "tip", "initial value of crank", &diag);
  ck_assert_ptr_nonnull(strstr(diag.message, "degrees of freedom nearby: 1"));
  printf("%s: %s\n", diag.thing, diag.message);
  describe(&p, 1e-3, -1.0, 9.81, 1000000, BRAMAH_FORMULATION_PARTITIONING);
  running r = start(&p.machine);
  ck_assert_uint_eq(bramah_model_get_info(r.model).n_dof, 1);
  stop(&r);
}

/* An open loop, and a flat pose that the machine stands in, are limits that a run exceeds, by the name of the loop. */
TEST(test_limits)
{
  parallelogram p;
  bramah_limit limit[BRAMAH_N_LIMITS];
  bramah_output_info info;
  describe(&p, 1.0, -1.0, 9.81, 1000000, BRAMAH_FORMULATION_PARTITIONING);
  running r = start(&p.machine);
  bramah_coupled_limits(r.c, limit);
  ck_assert(limit[BRAMAH_LIMIT_LOOP].beyond == 0.0 && limit[BRAMAH_LIMIT_POSE].beyond == 0.0);
  r.c->state.z[2] += 1e-3;
  r.c->now_valid = 0;
  bramah_coupled_limits(r.c, limit);
  ck_assert_double_eq_tol(limit[BRAMAH_LIMIT_LOOP].value, 1e-3, 5e-4);
  ck_assert(limit[BRAMAH_LIMIT_LOOP].beyond > 0.0 && limit[BRAMAH_LIMIT_POSE].beyond == 0.0);
  bramah_coupled_limit_info(r.c, BRAMAH_LIMIT_LOOP, &limit[BRAMAH_LIMIT_LOOP], &info);
  ck_assert_str_eq(info.name, "tip");
  for (int j = 0; j < 3; j++) r.c->state.z[j] = 1e-9 * (j == 1 ? -1.0 : 1.0), r.c->state.zd[j] = 0.0;
  r.c->now_valid = 0;
  bramah_coupled_limits(r.c, limit);
  ck_assert(limit[BRAMAH_LIMIT_LOOP].beyond == 0.0 && limit[BRAMAH_LIMIT_POSE].beyond > 0.0);
  bramah_coupled_limit_info(r.c, BRAMAH_LIMIT_POSE, &limit[BRAMAH_LIMIT_POSE], &info);
  ck_assert_str_eq(info.name, "tip");
  bramah_linearization *l;
  must(bramah_linearization_new(r.model, NULL, &diag, &l), &diag);
  ck_assert_int_eq(bramah_linearization_run(l, r.c, &diag), BRAMAH_E_SINGULAR);
  ck_assert_str_eq(diag.thing, "tip");
  ck_assert_ptr_nonnull(strstr(diag.message, "eigenvalues are unique"));
  bramah_linearization_free(l);
  stop(&r);
}

int main(void) { return run_tests("singular poses"); }
