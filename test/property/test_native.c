/* SPDX-License-Identifier: MIT */
/* A plant whose program runs by native code has the bytes of one whose program does not: states, derivatives of the steps,
 * outputs with their derivatives; native code that does something else is not taken. (In lanes: test_batch.c.) With
 * BRAMAH_MACHINES all machines of the datasets. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "bramah/coupled.h"
#include "bramah/session.h"
#include "test/support/four_bar.h"
#include "test/support/native.h"

#include <math.h>

enum { STEPS = 400, CHANGED = 150, MOST_PAR = 3, TAKEN_OVER = 3 }; /* native code comes at this step */

/* The first two always. */
static const char *const machines[] = {"rotary-actuator/rotary-actuator",
                                       "metered-arm/metered-arm",
                                       "crane/crane",
                                       "four-bar/four-bar",
                                       "lifting-four-bar/lifting-four-bar",
                                       "quick-return/quick-return",
                                       "metered-crane/metered-crane",
                                       "manipulator/manipulator",
                                       "../test/fuzz/corpus/machine/contacts"};
enum { N_MACHINES = sizeof machines / sizeof *machines, N_ALWAYS = 2 };

/* Two plants of a model, the second one with native code. */
typedef struct rig {
  bramah_machine *machine;
  const bramah_model *model;
  bramah_program *program[2];
  bramah_coupled *c[2];
  bramah_plant plant[2];
} rig;

static void open_rig(rig *r, const char *dataset)
{
  char path[1024];
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  bramah_diag diag;
  snprintf(path, sizeof path, "%s/datasets/%s.yaml", root ? root : ".", dataset);
  must(bramah_machine_load(path, 0, NULL, &diag, &r->machine), &diag);
  must(bramah_model_new(r->machine, &diag, &r->model), &diag);
  for (int k = 0; k < 2; k++) {
    must(bramah_program_new(r->model, &diag, &r->program[k]), &diag);
    must(bramah_coupled_new(r->model, &diag, &r->c[k]), &diag);
    must(bramah_coupled_use(r->c[k], r->program[k], &diag), &diag);
    r->plant[k] = bramah_coupled_plant(r->c[k]);
  }
}

static void close_rig(rig *r)
{
  for (int k = 0; k < 2; k++) {
    bramah_coupled_free(r->c[k]);
    bramah_program_free(r->program[k]);
  }
  bramah_model_free(r->model);
  bramah_machine_free(r->machine);
}

static void check_same(const double *x, size_t n, const char *what, int step)
{
  for (size_t i = 0; i < n; i++)
    ck_assert_msg(memcmp(&x[i], &x[n + i], sizeof *x) == 0, "%s %zu, step %d: %.17g and %.17g", what, i, step,
                  x[i], x[n + i]);
}

/* A step with its derivatives by the state, by noise and by some parameters. */
static void step_both(const rig *r, int k)
{
  static const size_t par[MOST_PAR] = {0, 3, 5};
  const size_t ne = bramah_plant_n_error(&r->plant[0]), nx = r->plant[0].n_dof + r->plant[0].n_first_order;
  const size_t nF = ne * ne, nN = ne * nx, nG = ne * MOST_PAR;
  double *F = calloc(2 * nF, sizeof *F), *N = calloc(2 * nN, sizeof *N), *G = calloc(2 * nG, sizeof *G);
  for (size_t w = 0; w < 2; w++) {
    const bramah_plant *plant = &r->plant[w];
    bramah_diag diag;
    double u[8];
    for (int i = 0; i < 8; i++) u[i] = 0.8 * sin(0.02 * k + i);
    must(plant->set_inputs(plant->self, u, &diag), &diag);
    if (k == CHANGED)
      must(plant->set_parameter(plant->self, par[0], 1.01 * plant->parameter(plant->self, par[0]), &diag),
           &diag);
    must(plant->step_transition(plant->self, F + w * nF, N + w * nN, MOST_PAR, par, G + w * nG, &diag),
         &diag);
  }
  check_same(F, nF, "F", k);
  check_same(N, nN, "N", k);
  check_same(G, nG, "G", k);
  free(F);
  free(N);
  free(G);
}

static void compare_outputs(const rig *r, int k)
{
  const size_t n = r->plant[0].n_output, ne = bramah_plant_n_error(&r->plant[0]);
  double *value = calloc(2 * n, sizeof *value), *row = calloc(2 * n * ne, sizeof *row);
  for (size_t w = 0; w < 2; w++)
    for (size_t i = 0; i < n; i++) {
      value[w * n + i] = r->plant[w].output(r->plant[w].self, i);
      r->plant[w].output_row(r->plant[w].self, i, row + (w * n + i) * ne);
    }
  check_same(value, n, "output", k);
  check_same(row, n * ne, "row", k);
  free(value);
  free(row);
}

EACH_TEST(test_same_bytes, 0, N_MACHINES)
{
  if (_i >= N_ALWAYS && !getenv("BRAMAH_MACHINES")) return;
  rig r;
  open_rig(&r, machines[_i]);
  for (int k = 0; k < STEPS; k++) {
    if (k == TAKEN_OVER) use_asked_native(r.program[1]);
    step_both(&r, k);
    compare_outputs(&r, k);
  }
  const bramah_step_report report = bramah_coupled_report(r.c[1]);
  ck_assert_uint_gt(report.compiled, STEPS / 2);
  close_rig(&r);
}

static void nothing(double *registers) { (void)registers; }
static bramah_native_part iterate;
static void one_bit(double *registers)
{
  iterate(registers);
  for (size_t i = 0; i < 300; i++) registers[i] = nextafter(registers[i], 1.0);
}

/* One part that does nothing, one that leaves the last bit wrong. */
TEST(test_other_bits)
{
  rig r;
  bramah_diag diag;
  bramah_native_piece piece;
  open_rig(&r, machines[0]);
  const bramah_native_part *right = use_native(r.program[1], 0); /* all its parts */
  ck_assert(bramah_program_native_piece(r.program[0], 0, &piece));
  ck_assert(!piece.is_native);
  bramah_native_part *part = calloc(piece.n_parts, sizeof *part);
  for (size_t p = 0; p < piece.n_parts; p++) part[p] = right[p];
  iterate = part[3];
  for (int wrong = 0; wrong < 2; wrong++) {
    part[3] = wrong ? one_bit : nothing;
    ck_assert_int_eq(bramah_program_use_native(r.program[0], 0, part, &diag), BRAMAH_E_VALUE);
    ck_assert_str_eq(diag.message, "the native code does not give the bits of the tape");
    ck_assert(bramah_program_native_piece(r.program[0], 0, &piece) && !piece.is_native);
  }
  part[3] = iterate;
  must(bramah_program_use_native(r.program[0], 0, part, &diag), &diag);
  ck_assert(bramah_program_native_piece(r.program[0], 0, &piece) && piece.is_native);
  ck_assert_int_eq(bramah_program_use_native(r.program[0], 999, part, &diag), BRAMAH_E_ARGUMENT);
  close_rig(&r);
  free(part);
}

int main(void) { return run_tests("native"); }
