/* SPDX-License-Identifier: MIT */
/* The cart of datasets/cart on its four tyres: starts, shifts, brakes to a standstill and stands; its energies add up. */
#include "bramah/study.h"
#include "bramah/linear.h"
#include "test/support/run.h"
#include "test/support/running.h"

#include <math.h>
#include <stdio.h>

static bramah_diag diag;

/* Through its inputs as planned, to `end` seconds. */
static void drive(running *r, bramah_schedule *schedule, bramah_energy *energy, int64_t *time_ns, double end)
{
  while ((double)*time_ns < end * 1e9 - 0.5) {
    must(r->p.set_inputs(r->p.self, bramah_schedule_at(schedule, *time_ns), &diag), &diag);
    must(r->p.step(r->p.self, &diag), &diag);
    *time_ns += r->p.step_ns;
    bramah_energy_add(energy, r->c, *time_ns);
  }
}

TEST(test_drive)
{
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  char path[1024];
  bramah_machine *machine;
  bramah_schedule *schedule;
  bramah_energy energy = {0};
  int64_t time_ns = 0;
  snprintf(path, sizeof path, "%s/datasets/cart/cart.yaml", root ? root : ".");
  must(bramah_machine_load(path, 0, NULL, &diag, &machine), &diag);
  running r = start(machine);
  must(bramah_schedule_new(machine, r.model, &diag, &schedule), &diag);

  /* in gear without slip, but for what the tyres need to overcome nothing at all */
  drive(&r, schedule, &energy, &time_ns, 3.3);
  const double first = shown(&r, "free_x.rate");
  ck_assert_double_eq_tol(shown(&r, "engine.rate"), 95.0 * shown(&r, "spin_rl.rate"), 0.01);
  ck_assert_double_eq_tol(first, 0.85 * shown(&r, "spin_rl.rate"), 0.01);
  drive(&r, schedule, &energy, &time_ns, 5.9);
  ck_assert_double_eq_tol(shown(&r, "engine.rate"), 60.0 * shown(&r, "spin_rr.rate"), 0.01);
  ck_assert_double_eq_tol(shown(&r, "free_x.rate") / first, 95.0 / 60.0, 0.02);
  const double work = shown(&r, "diesel.work"), fuel = shown(&r, "diesel.fuel");
  ck_assert_double_ge(fuel, work * 200e-3 / 3.6e6); /* never better than at its best */
  ck_assert_double_le(fuel, 3.0 * work * 200e-3 / 3.6e6);

  /* to a standstill, where the brakes hold it */
  drive(&r, schedule, &energy, &time_ns, 9.0);
  const double place = shown(&r, "free_x.position");
  drive(&r, schedule, &energy, &time_ns, 10.0);
  ck_assert_double_eq_tol(shown(&r, "free_x.position"), place, 1e-3);
  ck_assert_double_eq_tol(shown(&r, "free_x.rate"), 0.0, 1e-3);
  ck_assert_double_eq_tol(shown(&r, "free_y.position"), 0.0,
                          0.01); /* the engine, lengthwise, leans on the frame */
  ck_assert_double_gt(shown(&r, "engine.rate"), 90.0);
  ck_assert_double_le(energy.largest, 1e-4 * energy.turnover);
  ck_assert_double_eq(energy.dampers, 0.0);
  bramah_schedule_free(schedule);
  stop(&r);
  bramah_machine_free(machine);
}

int main(void) { return run_tests("cart"); }
