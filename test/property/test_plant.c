/* SPDX-License-Identifier: MIT */
/* What must hold of any plant: energy, closed loops, the same bits after a snapshot, mapped errors when the
 * independent coordinates change, robustness against violent corrections. */
#include "bramah/coupled.h"
#include "bramah/filter.h"
#include "lib/math/dense.h"
#include "lib/plant/plant_table.h"
#include "test/support/displaced.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"
#include "test/support/running.h"

#include <math.h>
#include <string.h>

static bramah_diag diag;

static double total_energy(const bramah_plant *p)
{
  return p->output(p->self, must_find(p, "energy.kinetic")) +
         p->output(p->self, must_find(p, "energy.potential"));
}

static double drift_over_second(int64_t step_ns)
{
  spatial_tree t;
  spatial_tree_describe(&t, 4, 3);
  for (int i = 0; i < 4; i++) t.joints[i].initial_rate *= 0.5;
  t.machine.integrator.step_ns = step_ns;
  running r = start(&t.machine);
  const bramah_plant p = r.p;
  const double start = total_energy(&p);
  double drift = 0.0;
  for (int64_t k = 0; k < 400000000 / step_ns; k++) {
    must(p.step(p.self, &diag), &diag);
    drift = fmax(drift, fabs(total_energy(&p) - start));
  }
  stop(&r);
  return drift;
}

/* A free spatial tree keeps its energy to the order of the integrator: a quarter of the drift at half the
 * step. */
TEST(test_spatial_tree_keeps_its_energy)
{
  const double coarse = drift_over_second(1000000), fine = drift_over_second(500000);
  ck_assert_double_lt(coarse, 1e-2);
  ck_assert_double_eq_tol(coarse / fine, 4.0, 0.3);
}

/* The crank turns through both dead points, where the block cannot be the independent coordinate, and energy
 * is kept. */
EACH_TEST(test_crank_slider_turns_through_its_dead_points, 0, 2)
{
  crank_slider s;
  crank_slider_describe(&s, _i ? 10.0 : 1.0, 500000);
  running r = start(&s.machine);
  const bramah_plant p = r.p;
  const double start = total_energy(&p);
  double drift = 0.0, violation = 0.0;
  for (int k = 0; k < 10000; k++) {
    must(p.step(p.self, &diag), &diag);
    drift = fmax(drift, fabs(total_energy(&p) - start));
    violation = fmax(violation, bramah_coupled_constraint_violation(r.c));
  }
  ck_assert_double_gt(p.output(p.self, must_find(&p, "crank.angle")), 4 * 3.14159); /* at least two turns */
  ck_assert_double_lt(violation, 1e-10);
  ck_assert_double_lt(drift, 1e-3 * fabs(start));
  ck_assert_int_eq(bramah_coupled_report(r.c).basis_changes > 0, _i);
  stop(&r);
}

/* Build the crank and slider so that the block is independent at the start: steps must then change the basis.
 */
static bramah_coupled *slider_before_dead_point(const bramah_model **model)
{
  crank_slider s;
  bramah_coupled *c;
  crank_slider_describe(&s, 10.0, 1000000);
  must(bramah_model_new(&s.machine, &diag, model), &diag);
  must(bramah_coupled_new(*model, &diag, &c), &diag);
  return c;
}

/* When the basis changes, T must be the derivative of the new independent coordinates by the old ones at the
 * same state: rows of the new coordinates' outputs before and after say the same. */
TEST(test_basis_change_maps_errors)
{
  const bramah_model *model;
  bramah_coupled *c = slider_before_dead_point(&model);
  bramah_plant p = bramah_coupled_plant(c);
  double T[4], before[3][2], after[3][2], row[2];
  int changes = 0;
  static const char *const joints[3] = {"crank.angle", "rod.angle", "block.position"};
  for (int k = 0; k < 20000; k++) {
    must(p.step(p.self, &diag), &diag);
    if (!p.basis_change(p.self, T)) continue;
    changes++;
    /* Row of any coordinate in the new basis times T must be its row in the old one; the old row is found by
     * moving the present state along the old coordinate, which T's inverse expresses in the new one. */
    for (int j = 0; j < 3; j++) {
      must(p.output_row(p.self, must_find(&p, joints[j]), row), &diag);
      memcpy(after[j], row, sizeof row);
      for (int l = 0; l < 2; l++) before[j][l] = after[j][0] * T[l] + after[j][1] * T[2 + l];
    }
    int unit = 0; /* one of the coordinates was the old independent one: its old row is (1, 0) */
    for (int j = 0; j < 3; j++) unit |= fabs(before[j][0] - 1.0) < 1e-9 && fabs(before[j][1]) < 1e-9;
    ck_assert_int_eq(unit, 1);
  }
  ck_assert_int_gt(changes, 0);
  bramah_coupled_free(c);
  bramah_model_free(model);
}

/* The full map, velocities included, against differences: perturb in the old basis before the change, look at
 * the new coordinates after it. */
TEST(test_basis_change_maps_rates)
{
  const bramah_model *model;
  bramah_coupled *c = slider_before_dead_point(&model);
  bramah_plant p = bramah_coupled_plant(c);
  static double snap[256], at_change[256];
  double T[4];
  int found = 0;
  for (int k = 0; k < 20000 && !found; k++) {
    p.save(p.self, snap);
    must(p.step(p.self, &diag), &diag);
    found = p.basis_change(p.self, T);
  }
  ck_assert_int_eq(found, 1);
  p.save(p.self, at_change);
  p.restore(p.self, snap);
  static const double little[2] = {1e-9, 0.0};
  ck_assert_int_eq(check_displaced(&p, little, 0, NULL), 1);
  char old_name[64];
  strncpy(old_name, bramah__plant_state_name(&p, 0), sizeof old_name - 1);
  const size_t old_position = must_find(&p, old_name), old_rate = old_position + 1;
  /* In the new basis, move by T times a unit error of the old: the old coordinate must move by that unit. */
  for (int column = 0; column < 2; column++) {
    const double eps = 1e-6, up[2] = {eps * T[column], eps * T[2 + column]}, down[2] = {-up[0], -up[1]};
    p.restore(p.self, at_change);
    must(p.inject(p.self, up, &diag), &diag);
    const double z1 = p.output(p.self, old_position), v1 = p.output(p.self, old_rate);
    p.restore(p.self, at_change);
    must(p.inject(p.self, down, &diag), &diag);
    ck_assert_double_eq_tol((z1 - p.output(p.self, old_position)) / (2 * eps), column == 0, 1e-7);
    ck_assert_double_eq_tol((v1 - p.output(p.self, old_rate)) / (2 * eps), column == 1, 1e-6);
  }
  bramah_coupled_free(c);
  bramah_model_free(model);
}

EACH_TEST(test_snapshot_gives_the_same_bits, 0, 2)
{
  four_bar fb;
  const bramah_model *model;
  bramah_coupled *a, *b;
  static double snap[256], sa[256], sb[256];
  four_bar_describe(&fb, 1.0, 1000000);
  if (_i) four_bar_set_friction(&fb, BRAMAH_FRICTION_MODIFIED_LUGRE); /* with internal states */
  must(bramah_model_new(&fb.machine, &diag, &model), &diag);
  must(bramah_coupled_new(model, &diag, &a), &diag);
  must(bramah_coupled_new(model, &diag, &b), &diag);
  const bramah_plant pa = bramah_coupled_plant(a), pb = bramah_coupled_plant(b);
  ck_assert_uint_le(pa.snapshot_size, sizeof snap);
  for (int64_t k = 0; k < 3000; k++) {
    const double u = four_bar_command(k * 1000000);
    must(pa.set_inputs(pa.self, &u, &diag), &diag);
    must(pa.step(pa.self, &diag), &diag);
    pa.save(pa.self, snap);
    pb.restore(pb.self, snap); /* a plant that has nothing but the snapshot */
    must(pa.step(pa.self, &diag), &diag);
    must(pb.step(pb.self, &diag), &diag);
    pa.save(pa.self, sa);
    pb.save(pb.self, sb);
    ck_assert_mem_eq(sa, sb, pa.snapshot_size);
    pa.restore(pa.self, snap);
  }
  bramah_coupled_free(a);
  bramah_coupled_free(b);
  bramah_model_free(model);
}

/* Pressures thrown about by tens of bar at every step: Newton must still arrive, through every kink of the
 * flow laws. */
TEST(test_converges_after_violent_corrections)
{
  four_bar fb;
  four_bar_describe(&fb, 1.0, 1000000);
  running r = start(&fb.machine);
  const bramah_plant p = r.p;
  const size_t v1 = must_find(&p, "v1.pressure");
  unsigned seed = 5;
  for (int64_t k = 0; k < 10000; k++) {
    const double u = four_bar_command(k * 1000000);
    /* around pressures the machine really has: random in 5 to 75 bar for each volume */
    double dx[5] = {0, 0.002 * test_uniform(&seed), 0, 0, 0};
    for (size_t i = 0; i < 3; i++) dx[2 + i] = 4e6 + 3.5e6 * test_uniform(&seed) - p.output(p.self, v1 + i);
    if (k % 5 == 0) must(p.inject(p.self, dx, &diag), &diag);
    must(p.set_inputs(p.self, &u, &diag), &diag);
    must(p.step(p.self, &diag), &diag);
  }
  ck_assert_uint_le(bramah_coupled_report(r.c).max_iterations, 20);
  ck_assert_double_lt(bramah_coupled_constraint_violation(r.c), 1e-10);
  stop(&r);
}

TEST(test_commands_and_corrections_that_are_no_numbers)
{
  four_bar fb;
  static double before[256], after[256];
  four_bar_describe(&fb, 1.0, 1000000);
  running r = start(&fb.machine);
  const bramah_plant p = r.p;
  p.save(p.self, before);
  const double u = INFINITY, dx[5] = {0, 0, NAN, 0, 0};
  ck_assert_int_eq(p.set_inputs(p.self, &u, &diag), BRAMAH_E_NOT_FINITE);
  ck_assert_str_eq(diag.thing, "valve");
  ck_assert_int_eq(p.inject(p.self, dx, &diag), BRAMAH_E_NOT_FINITE);
  p.save(p.self, after);
  ck_assert_mem_eq(before, after, p.snapshot_size);
  stop(&r);
}

/* In steady extension the orifice works just below the kink of its characteristic at 2 bar, where a single
 * Newton iteration locks onto a branch 1.4 MPa away (spec, cases/README.md). Every converged step stays at
 * 1.92 bar, and a plant pushed onto the other branch comes back. */
TEST(test_orifice_kink)
{
  four_bar fb;
  const double command = 10.0, push[5] = {0, 0, -0.7e6, 0.7e6, 0};
  four_bar_describe(&fb, 1.0, 1000000);
  running r = start(&fb.machine);
  const bramah_plant p = r.p;
  const size_t p1 = must_find(&p, "v1.pressure"), p2 = must_find(&p, "v2.pressure");
  must(p.set_inputs(p.self, &command, &diag), &diag);
  for (int k = 0; k < 1400; k++) {
    must(p.step(p.self, &diag), &diag);
    const double drop = p.output(p.self, p1) - p.output(p.self, p2);
    if ((k >= 1000 && k < 1200) || k >= 1250) ck_assert_double_eq_tol(drop, 1.92e5, 0.04e5);
    if (k == 1199) must(p.inject(p.self, push, &diag), &diag);
  }
  stop(&r);
}

int main(void) { return run_tests("plant properties"); }
