/* SPDX-License-Identifier: MIT */
/* The C source of a machine makes the steps of a plant that uses its program, to the bit, on the machines of the datasets;
 * with other parameters to rounding; what a plant
 * would do without its program it refuses. The compiler of the tests compiles it. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "bramah/study.h"
#include "bramah/coupled.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"
#include "test/support/scratch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 1000, CHANGED = 700 }; /* from this step on another parameter */

/* Machines, how far their valves are moved, a parameter that is changed by 1 %. */
static const struct {
  const char *dataset;
  double command;
  const char *parameter;
  int all_steps; /* 1: none is refused */
} machines[] = {
    {"four-bar/four-bar", 3.0, "pump.pressure", 1},
    {"crane/crane", 1.0, "pump.pressure", 1},
    {"lifting-four-bar/lifting-four-bar", 1.0, "gravity.scale", 1},
    {"quick-return/quick-return", 1.0, "gravity.scale", 1},
    {"linearization-four-bar/linearization-four-bar", 1.0, "gravity.scale", 1},
    {"rotary-actuator/rotary-actuator", 1.0, "oil.bulk_modulus", 0},
};
enum { N_MACHINES = sizeof machines / sizeof *machines };

/* Reads commands and parameters of each step, writes status, positions, rates and pressures. */
static const char driver[] = "#include \"m.h\"\n"
                             "#include <stdio.h>\n"
                             "#include <stdlib.h>\n"
                             "int main(void)\n"
                             "{\n"
                             "  static m_state s;\n"
                             "  double u[M_ROOM(M_INPUTS)] = {0}, theta[M_ROOM(M_PARAMETERS)], status;\n"
                             "  s = m_start;\n"
                             "  while (fread(u, sizeof *u, M_INPUTS, stdin) == M_INPUTS &&\n"
                             "         fread(theta, sizeof *theta, M_PARAMETERS, stdin) == M_PARAMETERS) {\n"
                             "    status = m_step(&s, u, theta);\n"
                             "    fwrite(&status, sizeof status, 1, stdout);\n"
                             "    fwrite(s.z, sizeof *s.z, M_JOINTS, stdout);\n"
                             "    fwrite(s.zd, sizeof *s.zd, M_JOINTS, stdout);\n"
                             "    fwrite(s.p, sizeof *s.p, M_FIRST_ORDER, stdout);\n"
                             "  }\n"
                             "  return 0;\n"
                             "}\n";

static FILE *in_folder(const char *folder, const char *name, const char *mode)
{
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, mode);
  ck_assert_ptr_nonnull(file);
  return file;
}

static void put_text(const char *folder, const char *name, const char *text)
{
  FILE *file = in_folder(folder, name, "w");
  fputs(text, file);
  ck_assert_int_eq(fclose(file), 0);
}

/* Outputs of the plant in the order of the driver: those of joints, then pressures; the number of them. */
static size_t list_outputs(const bramah_plant *plant, size_t n_joints, size_t n_volumes, size_t *out)
{
  size_t n = 0;
  for (size_t rate = 0; rate < 2; rate++)
    for (size_t j = 0; j < n_joints; j++) out[n++] = 3 * j + rate; /* position, rate, acceleration */
  for (size_t i = 0; i < n_volumes; i++) out[n++] = 3 * n_joints + i;
  bramah_output_info info;
  bramah_plant_output_info(plant, out[n - 1], &info);
  ck_assert_ptr_nonnull(strstr(info.name, n_volumes ? ".pressure" : ".rate"));
  return n;
}

/* How the plant has stepped: whether in a way that the source has, too. */
static int is_plain(const bramah_coupled *c)
{
  const bramah_step_report r = bramah_coupled_report(c);
  return r.compiled == r.steps && r.divided == 0 && r.basis_changes == 0;
}

static void compile_and_run(const char *folder, const bramah_c_source *source)
{
  char command[2048];
  const char *cc = getenv("BRAMAH_CC");
  put_text(folder, "m.h", source->header);
  put_text(folder, "m.c", source->code);
  put_text(folder, "main.c", driver);
  snprintf(command, sizeof command,
           "cd %s && %s -std=c11 -O1 -ffp-contract=off -o steps main.c m.c -lm && ./steps <in >out", folder,
           cc ? cc : "cc");
  ck_assert_msg(system(command) == 0, "%s", command);
}

typedef struct rig {
  bramah_machine *machine;
  const bramah_model *model;
  bramah_program *program;
  bramah_coupled *c;
  bramah_plant plant;
  bramah_c_source source;
  char folder[SCRATCH_NAME];
  size_t n, output[64]; /* what is compared */
  double *expected;     /* [(1 + STEPS) x n] the start, then the steps of the plant */
  size_t n_plain;       /* steps before the first that the source does not do */
} rig;

static void open_rig(rig *r, const char *dataset)
{
  char path[1024];
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  bramah_diag diag;
  *r = (rig){0};
  snprintf(path, sizeof path, "%s/datasets/%s.yaml", root ? root : ".", dataset);
  must(bramah_machine_load(path, 0, NULL, &diag, &r->machine), &diag);
  must(bramah_model_new(r->machine, &diag, &r->model), &diag);
  must(bramah_program_new(r->model, &diag, &r->program), &diag);
  must(bramah_coupled_new(r->model, &diag, &r->c), &diag);
  must(bramah_coupled_use(r->c, r->program, &diag), &diag);
  must(bramah_program_c_source(r->program, r->c, "m", &diag, &r->source), &diag);
  r->plant = bramah_coupled_plant(r->c);
  r->n = list_outputs(&r->plant, bramah_model_get_info(r->model).n_joints, r->plant.n_first_order, r->output);
  r->expected = calloc((STEPS + 1) * r->n, sizeof *r->expected);
  ck_assert(scratch_folder(r->folder));
}

static void close_rig(rig *r)
{
  char command[1024];
  snprintf(command, sizeof command, "rm -rf %s", r->folder);
  ck_assert_int_eq(system(command), 0);
  free(r->expected);
  bramah_c_source_free(&r->source);
  bramah_coupled_free(r->c);
  bramah_program_free(r->program);
  bramah_model_free(r->model);
  bramah_machine_free(r->machine);
}

/* The steps of the plant; what it was given goes into the file for the source. */
static void run_plant(rig *r, double command, const char *parameter)
{
  const bramah_plant *plant = &r->plant;
  const size_t changed = must_find_parameter(plant, parameter);
  FILE *in = in_folder(r->folder, "in", "wb");
  double u[16] = {0};
  bramah_diag diag;
  for (size_t k = 0; k <= STEPS; k++) {
    double *row = r->expected + k * r->n;
    for (size_t i = 0; i < r->n; i++) row[i] = plant->output(plant->self, r->output[i]);
    if (k == STEPS) break;
    if (k == CHANGED)
      must(plant->set_parameter(plant->self, changed, 1.01 * plant->parameter(plant->self, changed), &diag),
           &diag);
    for (size_t i = 0; i < plant->n_input; i++) u[i] = command * sin(0.01 * (double)k + (double)i);
    must(plant->set_inputs(plant->self, u, &diag), &diag);
    must(plant->step(plant->self, &diag), &diag);
    r->n_plain += (size_t)is_plain(r->c);
    fwrite(u, sizeof *u, plant->n_input, in);
    for (size_t i = 0; i < plant->n_parameter; i++) {
      const double theta = plant->parameter(plant->self, i);
      fwrite(&theta, sizeof theta, 1, in);
    }
  }
  ck_assert_int_eq(fclose(in), 0);
}

static void compare(const rig *r)
{
  FILE *out = in_folder(r->folder, "out", "rb");
  const size_t n = r->n;
  double row[64];
  for (size_t k = 0; k < r->n_plain; k++) {
    const double *x = r->expected + (k + 1) * n;
    ck_assert_uint_eq(fread(row, sizeof *row, n + 1, out), n + 1);
    ck_assert_msg(row[0] == 0.0, "step %zu: status %g", k, row[0]);
    if (k < CHANGED) ck_assert_msg(memcmp(row + 1, x, n * sizeof *x) == 0, "other bits after step %zu", k);
    for (size_t i = 0; i < n; i++)
      ck_assert_msg(fabs(row[1 + i] - x[i]) <= 1e-9 * fmax(fabs(x[i]), 1.0), "step %zu: %.17g, not %.17g", k,
                    row[1 + i], x[i]);
  }
  if (r->n_plain < STEPS) { /* refused: the state is where it was */
    ck_assert_uint_eq(fread(row, sizeof *row, n + 1, out), n + 1);
    ck_assert_msg(row[0] < 0.0 && memcmp(row + 1, r->expected + r->n_plain * n, n * sizeof *row) == 0,
                  "status %g", row[0]);
  }
  fclose(out);
}

START_TEST(test_source_makes_the_same_bits)
{
  rig r;
  open_rig(&r, machines[_i].dataset);
  run_plant(&r, machines[_i].command, machines[_i].parameter);
  if (machines[_i].all_steps) ck_assert_uint_eq(r.n_plain, STEPS);
  compile_and_run(r.folder, &r.source);
  compare(&r);
  close_rig(&r);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("c_source");
  tcase_add_loop_test(one_case(suite, "steps"), test_source_makes_the_same_bits, 0, N_MACHINES);
  return run_suite(suite);
}
