/* SPDX-License-Identifier: MIT */
/* A plant that uses its program makes the steps that it makes without: all outputs and the derivatives of the step, on the
 * machines of the datasets. The tolerances of the iteration are tight, for what they leave open the two ways close
 * differently. */
#include "bramah/study.h"
#include "bramah/coupled.h"
#include "lib/machine/model_internal.h"
#include "test/support/displaced.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct rig {
  bramah_machine *machine;
  const bramah_model *model;
  bramah_program *program;
  bramah_coupled *c[2]; /* without, with */
  bramah_plant plant[2];
  bramah_diag diag;
} rig;

static void open_rig(rig *r, const char *dataset)
{
  char path[512];
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  *r = (rig){0};
  snprintf(path, sizeof path, "%s/datasets/%s.yaml", root ? root : ".", dataset);
  must(bramah_machine_load(path, 0, NULL, &r->diag, &r->machine), &r->diag);
  r->machine->integrator.position_tolerance = 1e-14;
  r->machine->integrator.pressure_tolerance = 1e-5;
  must(bramah_model_new(r->machine, &r->diag, &r->model), &r->diag);
  must(bramah_program_new(r->model, &r->diag, &r->program), &r->diag);
  for (int k = 0; k < 2; k++) {
    must(bramah_coupled_new(r->model, &r->diag, &r->c[k]), &r->diag);
    r->plant[k] = bramah_coupled_plant(r->c[k]);
  }
  must(bramah_coupled_use(r->c[1], r->program, &r->diag), &r->diag);
}

static void close_rig(rig *r)
{
  for (int k = 0; k < 2; k++) bramah_coupled_free(r->c[k]);
  bramah_program_free(r->program);
  bramah_model_free(r->model);
  bramah_machine_free(r->machine);
}

/* Of each output the largest value and the largest difference so far; not of the flags of valves that are open, where
 * rounding decides at the setting of a relief valve. */
static void compare_outputs(const rig *r, double *size, double *apart)
{
  for (size_t i = 0; i < r->plant[0].n_output; i++) {
    const double a = r->plant[0].output(r->plant[0].self, i), b = r->plant[1].output(r->plant[1].self, i);
    if (r->model->output[i].code == BRAMAH__METERED_VALVES) continue;
    size[i] = fmax(size[i], fabs(a));
    apart[i] = fmax(apart[i], fabs(a - b));
  }
}

/* The largest relative difference, of outputs that are more than rounding; works are sums of large forces times small
 * paths. */
static double worst_output(const rig *r, const double *size, const double *apart, bramah_output_info *info)
{
  double worst = 0.0;
  for (size_t i = 0; i < r->plant[0].n_output; i++)
    if (size[i] > 1e-9) {
      bramah_output_info output;
      bramah_plant_output_info(&r->plant[0], i, &output);
      const double relative = apart[i] / fmax(size[i], strcmp(output.unit, "J") == 0 ? 100.0 : 0.0);
      if (!(relative <= worst)) worst = relative, *info = output;
    }
  return worst;
}

/* Largest difference of two derivatives [rows x columns], in units of the states that they relate. */
static double matrices_apart(const bramah_plant *plant, size_t columns, const double *A, const double *B,
                             const double *unit)
{
  double worst = 0.0;
  for (size_t i = 0; i < bramah_plant_n_error(plant); i++) {
    bramah_state_info info;
    bramah_plant_state_info(plant, i, &info);
    for (size_t k = 0; k < columns; k++)
      worst = fmax(worst, fabs(A[i * columns + k] - B[i * columns + k]) * unit[k] / info.scale);
  }
  return worst;
}

/* Machines, how far their valves are moved, and how large a load may be. */
static const struct {
  const char *dataset;
  double command, load;
} machines[] = {
    {"four-bar/four-bar", 3.0, 1000.0},
    {"crane/crane", 1.0, 1000.0},
    {"lifting-four-bar/lifting-four-bar", 1.0, 1000.0},
    {"quick-return/quick-return", 1.0, 1000.0},
    {"linearization-four-bar/linearization-four-bar", 1.0, 1000.0},
    {"rotary-actuator/rotary-actuator", 1.0, 1000.0},
    {"manipulator/manipulator", 1.0, 1000.0},
    {"metered-crane/metered-crane", 4.0, 1000.0},
    {"metered-arm/metered-arm", 4.0, 1000.0},
    {"metered-arm/two-arms", 4.0, 1000.0},
    {"../test/fuzz/corpus/machine/motion-harmonic", 1.0, 1.0},
    {"../test/fuzz/corpus/machine/motion-table", 1.0, 1.0},
    {"../test/fuzz/corpus/machine/motion-rate", 1.0, 1.0},
    {"../test/property/balls", 1.0, 1.0},
    {"../test/property/digger", 3.0, 1000.0},
    {"../test/fuzz/corpus/machine/friction-lugre", 1.0, 1.0},
    {"../test/fuzz/corpus/machine/friction-modified-lugre", 1.0, 1.0},
    {"../test/support/standing", 1.0, 1.0},
    {"../test/fuzz/corpus/machine/contacts", 1.0, 1.0},
    {"../test/fuzz/corpus/machine/tyres", 1.0, 1.0},
    {"excavator/excavator", 5.0, 1000.0},
};
enum { N_MACHINES = sizeof machines / sizeof *machines, N_SMALL = N_MACHINES - 1 };

EACH_TEST(test_steps_agree, 0, N_MACHINES)
{
  rig r;
  open_rig(&r, machines[_i].dataset);
  const bramah_plant *plant = r.plant;
  const size_t ne = bramah_plant_n_error(plant), nx = plant->n_dof + plant->n_first_order;
  double *size = calloc(plant->n_output, sizeof *size), *apart = calloc(plant->n_output, sizeof *apart),
         *unit = calloc(2 * ne, sizeof *unit), *of_noise = unit + ne, *M = calloc(4 * ne * ne, sizeof *M);
  double u[16] = {0}, worst_F = 0.0, worst_N = 0.0;
  for (size_t i = 0; i < ne; i++) {
    bramah_state_info info;
    bramah_plant_state_info(plant, i, &info);
    unit[i] = info.scale;
    if (i < plant->n_dof || i >= 2 * plant->n_dof)
      of_noise[i < plant->n_dof ? i : i - plant->n_dof] = info.scale;
  }
  for (int k = 0; k < 1000; k++) {
    for (size_t i = 0; i < plant->n_input; i++) u[i] = machines[_i].command * sin(0.01 * k + (double)i);
    for (int w = 0; w < 2; w++) {
      must(plant[w].set_inputs(plant[w].self, u, &r.diag), &r.diag);
      double *F = M + (size_t)w * 2 * ne * ne;
      if (k % 5)
        must(plant[w].step(plant[w].self, &r.diag), &r.diag);
      else
        must(plant[w].step_transition(plant[w].self, F, F + ne * ne, 0, NULL, NULL, &r.diag), &r.diag);
    }
    compare_outputs(&r, size, apart);
    worst_F = fmax(worst_F, matrices_apart(plant, ne, M, M + 2 * ne * ne, unit));
    worst_N = fmax(worst_N, matrices_apart(plant, nx, M + ne * ne, M + 3 * ne * ne, of_noise));
  }
  bramah_output_info info = {.name = ""};
  const double worst = worst_output(&r, size, apart, &info);
  const bramah_step_report report = bramah_coupled_report(r.c[1]);
  ck_assert_msg(worst < 1e-9, "%s: %.1e", info.name, worst);
  ck_assert_double_lt(worst_F, 1e-6);
  ck_assert_double_lt(worst_N, 1e-6);
  ck_assert_uint_gt(report.compiled, report.steps / 2);
  free(size), free(apart), free(unit), free(M);
  close_rig(&r);
}

/* Largest difference of two columns, of derivatives in units of the error states, relative to the largest entry. */
static double columns_apart(const bramah_plant *plant, size_t stride, const double *A, const double *B)
{
  double worst = 0.0, size = 1e-12;
  for (size_t i = 0; i < bramah_plant_n_error(plant); i++) {
    bramah_state_info info;
    bramah_plant_state_info(plant, i, &info);
    size = fmax(size, fabs(A[i * stride]) / info.scale);
    worst = fmax(worst, fabs(A[i * stride] - B[i * stride]) / info.scale);
  }
  return worst / size;
}

/* The largest entry of the row of an output, in units of the error states. */
static double row_size(const bramah_plant *plant, const double *row)
{
  double size = 0.0;
  for (size_t i = 0; i < bramah_plant_n_error(plant); i++) {
    bramah_state_info info;
    bramah_plant_state_info(plant, i, &info);
    size = fmax(size, fabs(row[i]) * info.scale);
  }
  return size;
}

/* Rows of all outputs. Less than 1e-8 of what others in the same unit have, or of the value, is rounding. */
static void check_rows(const rig *r, int step)
{
  const bramah_plant *plant = r->plant;
  const size_t ne = bramah_plant_n_error(plant), n = plant->n_output;
  double *rows = calloc(2 * n * ne, sizeof *rows);
  int *has = calloc(n, sizeof *has);
  for (size_t i = 0; i < n; i++)
    for (int w = 0; w < 2; w++) {
      const int has_one =
          r->plant[w].output_row(r->plant[w].self, i, rows + (2 * i + (size_t)w) * ne) == BRAMAH_OK;
      ck_assert(w == 0 || has[i] == has_one);
      has[i] = has_one;
    }
  for (size_t i = 0; i < n; i++) {
    bramah_output_info info, other;
    bramah_plant_output_info(plant, i, &info);
    const bramah__output_code code = r->model->output[i].code;
    if (!has[i] || (code >= BRAMAH__METERED_VELOCITY && code <= BRAMAH__LINE_PRESSURE))
      continue; /* of these both ways take differences, which no two states give alike across a kink */
    double size = fmax(row_size(plant, rows + 2 * i * ne), 1e-8 * fabs(plant->output(plant->self, i)));
    for (size_t k = 0; k < n; k++) {
      bramah_plant_output_info(plant, k, &other);
      if (has[k] && strcmp(info.unit, other.unit) == 0)
        size = fmax(size, 1e-8 * row_size(plant, rows + 2 * k * ne));
    }
    for (size_t k = 0; k < ne; k++) rows[(2 * i + 1) * ne + k] -= rows[2 * i * ne + k];
    const double apart = row_size(plant, rows + (2 * i + 1) * ne) / fmax(size, 1e-6);
    ck_assert_msg(apart < 1e-7, "step %d: row of %s: %.1e", step, info.name, apart);
  }
  free(rows), free(has);
}

/* All of them: loads and offsets are no longer zero, where a difference would have no size to go by. */
static void change_parameters(const bramah_plant *plant, unsigned seed, double load, bramah_diag *diag)
{
  for (size_t i = 0; i < plant->n_parameter; i++) {
    bramah_parameter_info info;
    plant->parameter_info(plant->self, i, &info);
    const double otherwise = info.unit[0] == 'N'           ? load
                             : info.unit[0] == 'V'         ? 0.1
                             : strcmp(info.unit, "m") == 0 ? 1e-4
                                                           : 10.0;
    const double size = info.nominal != 0.0 ? 0.01 * info.nominal : otherwise;
    const double value =
        fmin(fmax(info.nominal + size * (1.0 + 0.1 * test_uniform(&seed)), info.least), info.most);
    must(plant->set_parameter(plant->self, i, value, diag), diag);
  }
}

/* Outputs by parameters: those of the plant without a program are differences about the present value. */
static void check_by_parameters(rig *r, int step)
{
  const bramah_plant *plant = r->plant;
  const size_t n = plant->n_output;
  double *value = calloc(2 * n, sizeof *value), row;
  void *snap = malloc(plant->snapshot_size);
  for (size_t k = 0; k < plant->n_parameter; k++) {
    bramah_parameter_info info;
    plant->parameter_info(plant->self, k, &info);
    const double at = plant->parameter(plant->self, k),
                 h = 1e-4 * fmax(fabs(at), info.unit[0] == 'N' ? 1e3 : 0.1);
    const double from = fmax(at - h, info.least), to = fmin(at + h, info.most);
    plant->save(plant->self, snap);
    for (size_t side = 0; side < 2; side++) {
      must(plant->set_parameter(plant->self, k, side ? to : from, &r->diag), &r->diag);
      for (size_t i = 0; i < n; i++) value[side * n + i] = plant->output(plant->self, i);
    }
    plant->restore(plant->self, snap);
    for (size_t i = 0; i < n; i++) {
      bramah_output_info output;
      bramah_plant_output_info(plant, i, &output);
      if (plant[1].output_by_parameters(plant[1].self, i, 1, &k, &row) != BRAMAH_OK) continue;
      const double moves = value[n + i] - value[i],
                   scale = fmax(fabs(moves), 1e-7 * fmax(1.0, fabs(value[i])));
      ck_assert_msg(fabs(moves - row * (to - from)) < 1e-4 * scale, "step %d: %s by %s: %.6g instead of %.6g",
                    step, output.name, info.name, row * (to - from), moves);
    }
  }
  free(value), free(snap);
}

/* As a filter does: a correction, other parameters, rows of outputs and the derivative by parameters, in which the
 * interpreted step takes differences. */
EACH_TEST(test_corrections_rows_and_parameters_agree, 0, N_SMALL)
{
  rig r;
  open_rig(&r, machines[_i].dataset);
  const bramah_plant *plant = r.plant;
  const size_t ne = bramah_plant_n_error(plant), np = plant->n_parameter;
  double *dx = calloc(ne, sizeof *dx), *size = calloc(plant->n_output, sizeof *size),
         *apart = calloc(plant->n_output, sizeof *apart), *M = calloc(ne * (4 * ne + 2 * np), sizeof *M);
  size_t *par = calloc(np + 1, sizeof *par);
  void *snap = malloc(plant->snapshot_size);
  double u[16] = {0}, *F = M, *N = M + ne * ne, *G[2] = {M + 2 * ne * ne, M + 2 * ne * ne + ne * np};
  unsigned seed = 3;
  for (size_t i = 0; i < np; i++) par[i] = i;
  for (int k = 0; k < 100; k++) {
    for (size_t i = 0; i < plant->n_input; i++) u[i] = machines[_i].command * cos(0.1 * k + (double)i);
    for (size_t i = 0; i < ne; i++) dx[i] = test_uniform(&seed) * (i < 2 * plant->n_dof ? 1e-4 : 1e3);
    bramah_parameter_info changed;
    for (int w = 0; w < 2; w++) {
      must(plant[w].set_inputs(plant[w].self, u, &r.diag), &r.diag);
      if (k % 10 == 0) change_parameters(&plant[w], (unsigned)k + 1, machines[_i].load, &r.diag);
      if (k % 10 == 2) check_displaced(&plant[w], dx, np, par);
      must(plant[w].step_transition(plant[w].self, F, N, np, par, G[w], &r.diag), &r.diag);
      must(plant[w].inject(plant[w].self, dx, &r.diag), &r.diag);

      /* There and back, with what is asked of one state and of all that the program knows in between. */
      plant[w].save(plant[w].self, snap);
      must(plant[w].step(plant[w].self, &r.diag), &r.diag);
      for (size_t i = k % 2 ? 0 : 3; i < plant->n_output; i += 4) plant[w].output(plant[w].self, i);
      plant[w].restore(plant[w].self, snap);
    }
    compare_outputs(&r, size, apart);
    if (k % 10 == 5) check_by_parameters(&r, k);
    for (size_t i = 0; i < np; i++) {
      plant->parameter_info(plant->self, i, &changed);
      ck_assert_msg(columns_apart(plant, np, G[0] + i, G[1] + i) < 1e-2, "step %d: by %s: %.1e", k,
                    changed.name, columns_apart(plant, np, G[0] + i, G[1] + i));
    }
    check_rows(&r, k);
  }
  bramah_output_info info = {.name = ""};
  const double worst = worst_output(&r, size, apart, &info);
  ck_assert_msg(worst < 1e-8, "%s: %.1e", info.name, worst);
  free(dx), free(size), free(apart), free(M), free(par), free(snap);
  close_rig(&r);
}

/* Beyond a million radians the sines of tapes lose digits: these steps are left to the plant. */
TEST(test_far_angles_are_left)
{
  rig r;
  double dx[32] = {1.9e6}, x[2][32];
  open_rig(&r, "../test/property/balls");
  for (int w = 0; w < 2; w++) {
    must(r.plant[w].step(r.plant[w].self, &r.diag), &r.diag);
    must(r.plant[w].inject(r.plant[w].self, dx, &r.diag), &r.diag);
    for (int k = 0; k < 5; k++) must(r.plant[w].step(r.plant[w].self, &r.diag), &r.diag);
    bramah_plant_coordinates(&r.plant[w], x[w]);
  }
  ck_assert_double_gt(x[0][0], 1.8e6);
  for (size_t i = 0; i < bramah_plant_n_error(r.plant); i++)
    ck_assert_double_eq_tol(x[0][i], x[1][i], 1e-12 * fmax(1.0, fabs(x[0][i])));
  const bramah_step_report report = bramah_coupled_report(r.c[1]);
  ck_assert_uint_eq(report.compiled, 1);
  ck_assert_uint_eq(report.left_basis, 5);
  close_rig(&r);
}

/* A program of a smaller scope makes the same steps to the last bit, and leaves to the plant what it does not have. */
EACH_TEST(test_smaller_scopes, 0, N_SMALL)
{
  for (int scope = BRAMAH_PROGRAM_STEPS; scope <= BRAMAH_PROGRAM_DERIVATIVES; scope++) {
    rig r;
    open_rig(&r, machines[_i].dataset);
    bramah_program *small;
    must(bramah_program_new_for(r.model, (bramah_program_scope)scope, 0, NULL, &r.diag, &small), &r.diag);
    must(bramah_coupled_use(r.c[0], small, &r.diag), &r.diag);
    const bramah_plant *plant = r.plant;
    const size_t ne = bramah_plant_n_error(plant), parameter = 0;
    const int by_state = scope == BRAMAH_PROGRAM_DERIVATIVES;
    double u[16] = {0}, *F[2], G[2][64];
    for (int w = 0; w < 2; w++) F[w] = calloc(ne * ne, sizeof *F[w]);
    for (int k = 0; k < 60; k++) {
      for (size_t i = 0; i < plant->n_input; i++) u[i] = machines[_i].command * sin(0.1 * k + (double)i);
      for (int w = 0; w < 2; w++) {
        must(plant[w].set_inputs(plant[w].self, u, &r.diag), &r.diag);
        must(by_state && k % 2 ? plant[w].step_transition(plant[w].self, F[w], NULL, 0, NULL, NULL, &r.diag)
                               : plant[w].step(plant[w].self, &r.diag),
             &r.diag);
      }
      ck_assert_int_eq(memcmp(F[0], F[1], ne * ne * sizeof(double)), 0);
      for (size_t i = 0; i < plant->n_output; i++) {
        double row[2][64] = {{0}};
        const double a = plant[0].output(plant[0].self, i), b = plant[1].output(plant[1].self, i);
        ck_assert_msg(memcmp(&a, &b, sizeof a) == 0, "output %zu %s scope %d at %d: %.17g, %.17g", i,
                      r.model->output[i].info.name, scope, k, a, b);
        for (int w = 0; w < 2 && by_state; w++)
          if (plant[w].output_row(plant[w].self, i, row[w]) != BRAMAH_OK) row[w][0] = 0.0;
        ck_assert_int_eq(memcmp(row[0], row[1], sizeof row[0]), 0);
      }
    }
    ck_assert_uint_eq(bramah_coupled_report(r.c[0]).compiled, bramah_coupled_report(r.c[1]).compiled);

    /* By a parameter the one with everything alone steps on its program. */
    for (int w = 0; w < 2; w++)
      must(plant[w].step_transition(plant[w].self, F[w], NULL, 1, &parameter, G[w], &r.diag), &r.diag);
    ck_assert_uint_lt(bramah_coupled_report(r.c[0]).compiled, bramah_coupled_report(r.c[1]).compiled);
    for (size_t i = 0; i < ne; i++) {
      double largest = 0.0;
      for (size_t k = 0; k < ne; k++) largest = fmax(largest, fabs(F[0][i * ne + k]));
      for (size_t k = 0; k < ne; k++)
        ck_assert_double_eq_tol(F[0][i * ne + k], F[1][i * ne + k], 1e-6 * largest);
    }
    bramah_c_source source;
    ck_assert_int_eq(
        bramah_program_c_source(small, r.c[0], "small", BRAMAH_PRECISION_DOUBLE, &r.diag, &source),
        BRAMAH_E_ARGUMENT);
    for (int w = 0; w < 2; w++) free(F[w]);
    must(bramah_coupled_use(r.c[0], NULL, &r.diag), &r.diag);
    bramah_program_free(small);
    close_rig(&r);
  }
}

int main(void) { return run_tests("compiled"); }
