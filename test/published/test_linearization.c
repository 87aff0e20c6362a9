/* SPDX-License-Identifier: MIT */
/* The four-bar of the linearization paper (Agundez et al. 2023) as it is shipped: its printed angles close,
 * its printed state is an equilibrium, the cylinder at rest carries the force the model of the paper gives.
 */
#include "bramah/coupled.h"
#include "bramah/study.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>

static const double degree = 3.14159265358979323846 / 180.0;
static const double printed_pressure = 2820478.970954171; /* [Pa] of v1 and v2 */

/* phi2 absolute, phi32 and phi43 relative to the body before [deg] */
static const char *const joint[3] = {"crank", "coupler", "rocker"};
static const double printed_angle[3] = {60.0, 322.0956158826028, 266.416678301528};

static bramah_diag diag;

typedef struct rig {
  bramah_machine *machine;
  const bramah_model *model;
  bramah_coupled *coupled;
  bramah_plant plant;
} rig;

/* With pressures as shipped, moved by `extra` [Pa] in v1 and v2, or solved for equilibrium. */
static void open_rig(rig *r, double extra, bramah_pressure_initial initial)
{
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  char path[1024];
  bramah_volume volumes[3];
  snprintf(path, sizeof path, "%s/datasets/linearization-four-bar/linearization-four-bar.yaml",
           root ? root : ".");
  must(bramah_machine_load(path, 0, NULL, &diag, &r->machine), &diag);
  ck_assert_uint_eq(r->machine->n_volumes, 3);
  const bramah_volume *shipped = r->machine->volumes;
  for (int i = 0; i < 3; i++) volumes[i] = shipped[i];
  for (int i = 0; i < 2; i++) {
    volumes[i].initial = initial;
    volumes[i].initial_pressure += extra;
  }
  r->machine->volumes = volumes;
  must(bramah_model_new(r->machine, &diag, &r->model), &diag);
  r->machine->volumes = shipped;
  must(bramah_coupled_new(r->model, &diag, &r->coupled), &diag);
  r->plant = bramah_coupled_plant(r->coupled);
}

static void close_rig(rig *r)
{
  bramah_coupled_free(r->coupled);
  bramah_model_free(r->model);
  bramah_machine_free(r->machine);
}

static double value(const rig *r, const char *thing, const char *quantity)
{
  char output[64];
  snprintf(output, sizeof output, "%s.%s", thing, quantity);
  return r->plant.output(r->plant.self, must_find(&r->plant, output));
}

static double largest(const rig *r, const char *quantity)
{
  double size = 0.0;
  for (int j = 0; j < 3; j++) size = fmax(size, fabs(value(r, joint[j], quantity)));
  return size;
}

/* The paper's own closure is good to about 1e-10. */
TEST(test_angles)
{
  rig r;
  open_rig(&r, 0.0, BRAMAH_PRESSURE_GIVEN);
  const double length[3] = {2, 8, 5};
  double y = 0.0, z = 0.0, compound = 0.0;
  for (int j = 0; j < 3; j++) {
    ck_assert_double_eq_tol(value(&r, joint[j], "angle"), printed_angle[j] * degree, 1e-10);
    compound += value(&r, joint[j], "angle");
    y += length[j] * cos(compound);
    z += length[j] * sin(compound);
  }
  ck_assert_double_eq_tol(y, 10.0, 1e-12);
  ck_assert_double_eq_tol(z, 0.0, 1e-12);
  ck_assert_double_eq_tol(value(&r, "lift", "stroke"), sqrt(3.0), 1e-12);
  ck_assert_uint_eq(bramah_model_get_info(r.model).n_dof, 1);
  close_rig(&r);
}

/* Figures good to 1e-10 mean pressures good to 3e-4 Pa, and these 3e-8 rad/s^2: the limit is 30 times that.
 * It is met with pressures right to 0.01 Pa; 0.1 Pa more must break it. */
TEST(test_equilibrium)
{
  rig still, moved, solved;
  open_rig(&still, 0.0, BRAMAH_PRESSURE_GIVEN);
  open_rig(&moved, 0.1, BRAMAH_PRESSURE_GIVEN);
  open_rig(&solved, 0.0, BRAMAH_PRESSURE_EQUILIBRIUM);
  printf(
      "at rest: %.2g rad/s^2; with 0.1 Pa more: %.2g rad/s^2; equilibrium pressure %.9g Pa, force %.6f N\n",
      largest(&still, "acceleration"), largest(&moved, "acceleration"),
      bramah_model_get_info(solved.model).initial_pressures[1], value(&still, "lift", "force"));
  ck_assert_double_lt(largest(&still, "acceleration"), 1e-6);
  ck_assert_double_gt(largest(&moved, "acceleration"), 1e-6);
  for (size_t i = 0; i < 2; i++)
    ck_assert_double_eq_tol(bramah_model_get_info(solved.model).initial_pressures[i], printed_pressure,
                            1e-9 * printed_pressure);
  ck_assert_double_eq_tol(value(&still, "lift", "force"), -48.2506, 5e-5); /* all digits known */
  close_rig(&still);
  close_rig(&moved);
  close_rig(&solved);
}

/* Nothing moves and no oil flows for a second. */
TEST(test_stays)
{
  rig r;
  open_rig(&r, 0.0, BRAMAH_PRESSURE_GIVEN);
  for (int k = 0; k < 1000; k++) must(r.plant.step(r.plant.self, &diag), &diag);
  ck_assert_double_lt(largest(&r, "rate"), 1e-9);
  ck_assert_double_eq_tol(value(&r, "crank", "angle"), 60.0 * degree, 1e-9);
  ck_assert_double_eq_tol(value(&r, "v2", "pressure"), printed_pressure, 1e-3);
  ck_assert_double_eq_tol(value(&r, "v3", "pressure"), 3.5e6, 1e-3);
  close_rig(&r);
}

int main(void) { return run_tests("linearization paper"); }
