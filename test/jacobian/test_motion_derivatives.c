/* SPDX-License-Identifier: MIT */
/* Derivatives of machines with a loop and a prescribed motion, against central differences through inject:
 * rows of all outputs that have one, and the accelerations. */
#include "test/support/driven.h"
#include "test/support/run.h"

#include <math.h>

static bramah_diag diag;
static driven d;
static double snap[256];

static void displaced(size_t k, double step)
{
  double dx[4] = {0};
  dx[k] = step;
  d.p.restore(d.p.self, snap);
  must(d.p.inject(d.p.self, dx, &diag), &diag);
}

static void open_moving(int i)
{
  if (i)
    shaken_slider_describe(&d, 1000000);
  else
    driven_slider_describe(&d, 1000000);
  driven_open(&d);
  for (int k = 0; k < 170; k++) must(d.p.step(d.p.self, &diag), &diag);
  ck_assert_uint_eq(bramah_plant_n_error(&d.p), 2);
  ck_assert_uint_le(d.p.snapshot_size, sizeof snap);
  d.p.save(d.p.self, snap);
}

EACH_TEST(test_output_rows, 0, 2)
{
  const double step = 1e-6;
  size_t moving = 0;
  open_moving(_i);
  for (size_t i = 0; i < d.p.n_output; i++) {
    bramah_output_info info;
    double row[2];
    bramah_plant_output_info(&d.p, i, &info);
    if (!info.has_row) continue;
    d.p.restore(d.p.self, snap);
    must(d.p.output_row(d.p.self, i, row), &diag);
    for (size_t k = 0; k < 2; k++) {
      displaced(k, step);
      const double above = d.p.output(d.p.self, i);
      displaced(k, -step);
      const double difference = (above - d.p.output(d.p.self, i)) / (2 * step);
      ck_assert_msg(fabs(row[k] - difference) <= 2e-8 * (1.0 + fabs(difference)), "%s by %zu: %g, %g",
                    info.name, k, row[k], difference);
      moving += info.kind == BRAMAH_OUTPUT_RATE && k == 0 && fabs(difference) > 1e-3;
    }
  }
  if (_i) ck_assert_uint_gt(moving, 0); /* rates depend on positions there */
  driven_close(&d);
}

EACH_TEST(test_acceleration_jacobian, 0, 2)
{
  const double step = 1e-5;
  double J[2], above, below;
  open_moving(_i);
  must(d.p.acceleration_jacobian(d.p.self, J, &diag), &diag);
  for (size_t k = 0; k < 2; k++) {
    displaced(k, step);
    must(d.p.accelerations(d.p.self, &above, &diag), &diag);
    displaced(k, -step);
    must(d.p.accelerations(d.p.self, &below, &diag), &diag);
    const double difference = (above - below) / (2 * step);
    ck_assert_double_eq_tol(J[k], difference, 1e-5 * (1.0 + fabs(difference)));
  }
  driven_close(&d);
}

int main(void) { return run_tests("motion derivatives"); }
