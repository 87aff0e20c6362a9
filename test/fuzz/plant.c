/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "test/fuzz/plant.h"
#include "bramah/coupled.h"
#include "lib/plant/plant_table.h"
#include "test/fuzz/fuzz.h"

#include <math.h>
#include <string.h>

enum { LARGEST_MODEL = 1 << 22, LARGEST_PLANT = 1 << 22, MOST_ITERATIONS = 30, MOST_ERRORS = 24 };

static void check_finite(const bramah_plant *plant, double *x)
{
  plant->coordinates(plant->self, x);
  for (size_t i = 0; i < bramah_plant_n_error(plant); i++)
    FUZZ_CHECK(isfinite(x[i]), "%s is %g", bramah__plant_state_name(plant, i), x[i]);
}

static void check_outputs(const bramah_plant *plant)
{
  for (size_t i = 0; i < plant->n_output; i++) {
    bramah_output_info info;
    bramah_plant_output_info(plant, i, &info);
    FUZZ_CHECK(info.name && *info.name && info.unit, "output %zu has no name", i);
    (void)plant->output(plant->self, i);
  }
  for (size_t i = 0; i < plant->n_parameter; i++) {
    bramah_parameter_info info;
    plant->parameter_info(plant->self, i, &info);
    FUZZ_CHECK(info.name && *info.name && info.unit, "parameter %zu has no name", i);
    (void)plant->parameter(plant->self, i);
  }
}

/* One step, then the same once more from the state before it. */
static bramah_status check_step(const bramah_plant *plant, unsigned char *before, unsigned char *after,
                                double *x)
{
  bramah_diag diag, again;
  double *y = x + bramah_plant_n_error(plant);
  bramah_diag_clear(&diag);
  bramah_diag_clear(&again);
  plant->save(plant->self, before);
  const bramah_status status = plant->step(plant->self, &diag);
  if (status) {
    fuzz_check_diag(&diag, status, "", 0);
    plant->save(plant->self, after);
    FUZZ_CHECK(memcmp(before, after, plant->snapshot_size) == 0, "changed by a step that failed: %s",
               diag.message);
  } else {
    check_finite(plant, x);
  }
  plant->restore(plant->self, before);
  const bramah_status second = plant->step(plant->self, &again);
  FUZZ_CHECK(status == second, "%s, then %s", bramah_status_name(status), bramah_status_name(second));
  if (status) return fuzz_check_same_diag(&diag, &again), status;
  plant->coordinates(plant->self, y);
  FUZZ_CHECK(memcmp(x, y, bramah_plant_n_error(plant) * sizeof *x) == 0, "another state after a restore");
  return status;
}

/* What a filter needs of a step: finite where it succeeds. */
static void check_transition(const bramah_plant *plant)
{
  const size_t n = bramah_plant_n_error(plant);
  if (n > MOST_ERRORS || !plant->step_transition) return;
  double *F = calloc(n * (2 * n + 1) + 1, sizeof *F);
  bramah_diag diag;
  bramah_diag_clear(&diag);
  FUZZ_CHECK(F, "no memory");
  const bramah_status status = plant->step_transition(plant->self, F, F + n * n, 0, NULL, NULL, &diag);
  if (status) fuzz_check_diag(&diag, status, "", 0);
  for (size_t i = 0; !status && i < n * n; i++) FUZZ_CHECK(isfinite(F[i]), "element %zu of F is %g", i, F[i]);
  free(F);
}

static void run_plant(const bramah_plant *plant)
{
  const size_t n = bramah_plant_n_error(plant);
  unsigned char *snaps = aligned_alloc(64, (2 * plant->snapshot_size + 63) / 64 * 64);
  double *x = calloc(2 * n + plant->n_input + 1, sizeof *x);
  FUZZ_CHECK(snaps && x, "no memory");
  for (size_t i = 0; i < plant->n_input; i++) x[2 * n + i] = 5.0;
  check_finite(plant, x);
  check_outputs(plant);
  bramah_status status = plant->set_inputs(plant->self, x + 2 * n, NULL);
  for (int i = 0; !status && i < 2; i++) status = check_step(plant, snaps, snaps + plant->snapshot_size, x);
  if (!status) check_transition(plant);
  check_outputs(plant);
  free(snaps);
  free(x);
}

void fuzz_run_machine(bramah_machine *machine, const char *path, int lines)
{
  const bramah_model *model = NULL;
  bramah_coupled *coupled = NULL;
  bramah_diag diag;
  if (bramah_model_size(machine) > LARGEST_MODEL) return;
  if (machine->integrator.max_iterations > MOST_ITERATIONS)
    machine->integrator.max_iterations = MOST_ITERATIONS;
  bramah_diag_clear(&diag);
  bramah_status status = bramah_model_new(machine, &diag, &model);
  FUZZ_CHECK((status == BRAMAH_OK) == (model != NULL), "%s", bramah_status_name(status));
  if (status) fuzz_check_diag(&diag, status, path, lines);
  if (status || bramah_coupled_size(model) > LARGEST_PLANT) {
    bramah_model_free(model);
    return;
  }
  status = bramah_coupled_new(model, &diag, &coupled);
  FUZZ_CHECK((status == BRAMAH_OK) == (coupled != NULL), "%s", bramah_status_name(status));
  if (status) fuzz_check_diag(&diag, status, path, lines);
  if (!status) {
    const bramah_plant plant = bramah_coupled_plant(coupled);
    run_plant(&plant);
  }
  bramah_coupled_free(coupled);
  bramah_model_free(model);
}
