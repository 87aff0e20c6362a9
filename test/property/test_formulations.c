/* SPDX-License-Identifier: MIT */
/* The three formulations give the same motion: the four-bar's work cycle, and a crank and slider through its
 * dead points. */
#include "bramah/coupled.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"
#include "test/support/running.h"

#include <math.h>
#include <string.h>

static bramah_diag diag;

static const bramah_formulation others[2] = {BRAMAH_FORMULATION_AUGMENTED_LAGRANGIAN,
                                             BRAMAH_FORMULATION_PENALTY};
/* How far the loops may gape [m]: machine precision by multipliers, the stiffness of the penalty otherwise.
 */
static const double gap[2] = {1e-9, 1e-6};

static running open_rig(bramah_machine *machine, bramah_formulation formulation)
{
  machine->integrator.formulation = formulation;
  return start(machine);
}

EACH_TEST(test_four_bar, 0, 2)
{
  static const char *const angles[3] = {"crank.angle", "coupler.angle", "rocker.angle"};
  static const char *const pressures[3] = {"v1.pressure", "v2.pressure", "v3.pressure"};
  four_bar fb;
  four_bar_describe(&fb, 1.0, 1000000);
  running a = open_rig(&fb.machine, BRAMAH_FORMULATION_PARTITIONING), b = open_rig(&fb.machine, others[_i]);
  double violation = 0.0;
  for (int64_t k = 0; k < 10000; k++) {
    const double u = four_bar_command(k * 1000000);
    const running *both[2] = {&a, &b};
    for (int i = 0; i < 2; i++) {
      must(both[i]->p.set_inputs(both[i]->p.self, &u, &diag), &diag);
      must(both[i]->p.step(both[i]->p.self, &diag), &diag);
    }
    for (int i = 0; i < 3; i++) {
      const size_t z = must_find(&a.p, angles[i]), p = must_find(&a.p, pressures[i]);
      const double pressure = a.p.output(a.p.self, p);
      ck_assert_double_eq_tol(a.p.output(a.p.self, z), b.p.output(b.p.self, z), 1e-6);
      ck_assert_double_eq_tol(pressure, b.p.output(b.p.self, p), 1e-5 * pressure);
    }
    violation = fmax(violation, bramah_coupled_constraint_violation(b.c));
  }
  ck_assert_double_lt(violation, gap[_i]);
  const bramah_step_report report = bramah_coupled_report(b.c);
  ck_assert_double_lt((double)report.iterations / (double)report.steps, 2.0);
  stop(&a);
  stop(&b);
}

EACH_TEST(test_crank_slider, 0, 2)
{
  crank_slider s;
  crank_slider_describe(&s, 1.0, 500000);
  running a = open_rig(&s.machine, BRAMAH_FORMULATION_PARTITIONING), b = open_rig(&s.machine, others[_i]);
  const size_t crank = must_find(&a.p, "crank.angle");
  for (int k = 0; k < 6000; k++) {
    must(a.p.step(a.p.self, &diag), &diag);
    must(b.p.step(b.p.self, &diag), &diag);
    ck_assert_double_lt(bramah_coupled_constraint_violation(b.c), gap[_i]);
  }
  ck_assert_double_gt(a.p.output(a.p.self, crank), 2 * 3.14159); /* more than one turn */
  /* different discretisations of the same motion: they part with the square of the step */
  ck_assert_double_eq_tol(a.p.output(a.p.self, crank), b.p.output(b.p.self, crank), 2e-3);
  stop(&a);
  stop(&b);
}

/* Snapshots carry the multipliers: a plant that has nothing but the snapshot goes on with the same bits. */
EACH_TEST(test_snapshot, 0, 2)
{
  four_bar fb;
  static double snap[256], sa[256], sb[256];
  four_bar_describe(&fb, 1.0, 1000000);
  running a = open_rig(&fb.machine, others[_i]), b = open_rig(&fb.machine, others[_i]);
  ck_assert_uint_le(a.p.snapshot_size, sizeof snap);
  for (int64_t k = 0; k < 1500; k++) {
    const double u = four_bar_command(k * 1000000);
    must(a.p.set_inputs(a.p.self, &u, &diag), &diag);
    must(a.p.step(a.p.self, &diag), &diag);
    a.p.save(a.p.self, snap);
    b.p.restore(b.p.self, snap);
    must(a.p.step(a.p.self, &diag), &diag);
    must(b.p.step(b.p.self, &diag), &diag);
    a.p.save(a.p.self, sa);
    b.p.save(b.p.self, sb);
    ck_assert_mem_eq(sa, sb, a.p.snapshot_size);
    a.p.restore(a.p.self, snap);
  }
  stop(&a);
  stop(&b);
}

TEST(test_bad_figures)
{
  four_bar fb;
  const bramah_model *model;
  four_bar_describe(&fb, 1.0, 1000000);
  fb.machine.integrator.penalty_factor = -1.0;
  ck_assert_int_eq(bramah_model_new(&fb.machine, &diag, &model), BRAMAH_E_VALUE);
  fb.machine.integrator.penalty_factor = 0.0;
  fb.machine.integrator.formulation = (bramah_formulation)7;
  ck_assert_int_eq(bramah_model_new(&fb.machine, &diag, &model), BRAMAH_E_VALUE);
  ck_assert_str_eq(diag.thing, "integrator");
}

int main(void) { return run_tests("formulations"); }
