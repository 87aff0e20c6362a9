/* SPDX-License-Identifier: MIT */
/* Valves without lag in the linear equations: their spools are no states, the commands act at once. Against
 * the plant itself, stepped with displaced commands, and against the same machine with lags that become ever
 * shorter. The four-bar, whose commands reach pressure rates and flows, and that with metered cylinders,
 * whose commands reach forces and accelerations too; one of its valves keeps its lag. */
#include "bramah/linear.h"
#include "lib/math/dense.h"
#include "lib/plant/coupled_internal.h"
#include "test/support/redundant_differences.h"
#include "test/support/four_bar.h"
#include "test/support/metered_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MANY = 16, MANY_OUTPUTS = 160 };
static const int64_t step_ns = 100000;

static bramah_diag diag;

typedef struct rig {
  const bramah_model *model;
  bramah_coupled *c;
  bramah_plant plant;
  bramah_linearization *l;
  const bramah_linear_system *s;
} rig;

static void open_rig(rig *r, const bramah_machine *machine)
{
  const bramah_linearization_options options = {.all_outputs = 1};
  must(bramah_model_new(machine, &diag, &r->model), &diag);
  must(bramah_coupled_new(r->model, &diag, &r->c), &diag);
  r->plant = bramah_coupled_plant(r->c);
  must(bramah_linearization_new(r->model, &options, &diag, &r->l), &diag);
  r->s = bramah_linearization_system(r->l);
  ck_assert_uint_le(r->s->n, MANY);
  ck_assert_uint_le(r->s->n_y, MANY_OUTPUTS);
}

static void close_rig(rig *r)
{
  bramah_linearization_free(r->l);
  bramah_coupled_free(r->c);
  bramah_model_free(r->model);
}

/* The machine number `which` with this time constant, but for the valve of `swing`, in the midst of the
 * others, which keeps its own; its commands. */
static const double *describe(int which, double lag, const bramah_machine **machine)
{
  static const double of_valve[1] = {6.0}, of_bar[BAR_N_INPUTS] = {1.0, 5.0, 3.0, 6.0, 1.0};
  static four_bar fb;
  static metered_bar bar;
  if (which == 0) {
    four_bar_describe(&fb, 1.0, step_ns);
    fb.valves[0].time_constant = lag;
    *machine = &fb.machine;
    return of_valve;
  }
  metered_bar_describe(&bar, step_ns);
  bar.bar.valves[0].time_constant = bar.cylinders[0].spool.time_constant = lag;
  bar.cylinders[0].regeneration.time_constant = bar.line.unloading.time_constant = lag;
  *machine = &bar.bar.machine;
  return of_bar;
}

static void drive(rig *r, const double *u, int steps)
{
  must(r->plant.set_inputs(r->plant.self, u, &diag), &diag);
  for (int i = 0; i < steps; i++) must(r->plant.step(r->plant.self, &diag), &diag);
}

/* ---- one step of the plant ---- */

/* State in the order of the linear equations, then outputs. */
static void look(rig *r, double *out)
{
  must(bramah_linearization_run(r->l, r->c, &diag), &diag);
  memcpy(out, r->s->x, r->s->n * sizeof *out);
  memcpy(out + r->s->n, r->s->y, r->s->n_y * sizeof *out);
}

/* Central difference of the plant's step by command `input`. */
static void step_by_command(rig *r, const void *snap, const double *u, size_t input, double *difference)
{
  static double side[2][MANY + MANY_OUTPUTS];
  const double h = 1e-2;
  double moved[BAR_N_INPUTS];
  for (int k = 0; k < 2; k++) {
    memcpy(moved, u, r->plant.n_input * sizeof *moved);
    moved[input] += k ? h : -h;
    r->plant.restore(r->plant.self, snap);
    drive(r, moved, 1);
    look(r, side[k]);
  }
  for (size_t i = 0; i < r->s->n + r->s->n_y; i++) difference[i] = (side[1][i] - side[0][i]) / (2.0 * h);
}

/* The same of the trapezoidal rule: (I - h/2 A1) dx = h/2 (B0 + B1) du, dy = C1 dx + D1 du. B0 is taken at
 * the start, all others at the end of the step. */
static void step_of_equations(const rig *r, const double *B0, size_t input, double *out)
{
  const bramah_linear_system *s = r->s;
  const double h = 1e-9 * (double)step_ns;
  double M[MANY * MANY];
  int pivot[MANY];
  for (size_t i = 0; i < s->n; i++) {
    for (size_t j = 0; j < s->n; j++) M[i * s->n + j] = (i == j) - 0.5 * h * s->A[i * s->n + j];
    out[i] = 0.5 * h * (B0[i * s->n_u + input] + s->B[i * s->n_u + input]);
  }
  ck_assert(!bramah__lu_factor(s->n, M, pivot));
  bramah__lu_solve(s->n, M, pivot, out);
  for (size_t i = 0; i < s->n_y; i++) {
    out[s->n + i] = s->D[i * s->n_u + input];
    for (size_t j = 0; j < s->n; j++) out[s->n + i] += s->C[i * s->n + j] * out[j];
  }
}

EACH_TEST(test_step, 0, 2)
{
  static double snap[512], B0[MANY * BAR_N_INPUTS], want[MANY + MANY_OUTPUTS], got[MANY + MANY_OUTPUTS];
  const bramah_machine *machine;
  rig r;
  const double *u = describe(_i, 0.0, &machine);
  open_rig(&r, machine);
  ck_assert_uint_eq(r.s->n_spool, _i ? 1 : 0); /* that of swing */
  drive(&r, u, 800);
  ck_assert_uint_le(r.plant.snapshot_size, sizeof snap);
  r.plant.save(r.plant.self, snap);
  must(bramah_linearization_run(r.l, r.c, &diag), &diag);
  memcpy(B0, r.s->B, r.s->n * r.s->n_u * sizeof *B0);
  size_t direct = 0;
  for (size_t k = 0; k < r.plant.n_input; k++) {
    step_by_command(&r, snap, u, k, want);
    r.plant.restore(r.plant.self, snap);
    drive(&r, u, 1);
    must(bramah_linearization_run(r.l, r.c, &diag), &diag);
    step_of_equations(&r, B0, k, got);
    for (size_t i = 0; i < r.s->n + r.s->n_y; i++) {
      const char *name = i < r.s->n ? r.s->x_name[i] : r.s->y_name[i - r.s->n],
                 *unit = i < r.s->n ? r.s->x_unit[i] : r.s->y_unit[i - r.s->n];
      if (i >= r.s->n && r.s->D[(i - r.s->n) * r.s->n_u + k] != 0.0) direct++;
      const double value = i < r.s->n ? r.s->x[i] : r.s->y[i - r.s->n];
      /* accelerations of the step are 4/h^2 times changes of positions; energies are differences in C */
      const double least = strstr(unit, "s^2")      ? 2e-5
                           : strcmp(unit, "J") == 0 ? 1e-9
                                                    : 1e-12,
                   rounding = 1e-12 * fabs(value) + least;
      /* strokes of metered cylinders follow their curve over the step, not its tangent */
      if (fabs(got[i] - want[i]) > 2e-4 * fabs(want[i]) + rounding)
        ck_abort_msg("%s by %s: %.9g, the plant %.9g", name, r.s->u_name[k], got[i], want[i]);
    }
  }
  printf("%zu entries of D\n", direct);
  ck_assert_uint_ge(direct, _i ? 20 : 3); /* spool, command and flows; forces and accelerations */
  close_rig(&r);
}

/* ---- the limit of short lags ---- */

/* The plant of `lagging` where that of `direct` is; its spools stand at their commands. */
static void place(rig *lagging, const rig *direct, const double *u)
{
  double x[MANY];
  const size_t first = 2 * direct->s->n_position + direct->s->n_pressure;
  must(lagging->plant.set_inputs(lagging->plant.self, u, &diag), &diag);
  must(bramah_linearization_run(lagging->l, lagging->c, &diag), &diag);
  memcpy(x, direct->s->x, first * sizeof *x);
  for (size_t i = 0; i < lagging->s->n_spool; i++)
    for (size_t k = 0; k < direct->s->n_y; k++)
      if (strcmp(direct->s->y_name[k], lagging->s->x_name[first + i]) == 0) x[first + i] = direct->s->y[k];
  must(bramah_linearization_place(lagging->l, lagging->c, x, &diag), &diag);
  must(bramah_linearization_run(lagging->l, lagging->c, &diag), &diag);
}

/* Largest difference of the frequency responses of all pairs at 1 Hz and 50 Hz, against the largest of the
 * output; what a volt does not move by 1e-9 of its value does not count. */
static double response_error(const bramah_linear_system *a, const bramah_linear_system *b)
{
  static const double w[2] = {6.3, 314.0};
  double worst = 0.0;
  for (size_t y = 0; y < a->n_y; y++) {
    double largest = 0.0, error = 0.0;
    for (size_t u = 0; u < a->n_u; u++) {
      double re[2][2], im[2][2];
      must(bramah_frequency_response(a, y, u, 2, w, re[0], im[0], &diag), &diag);
      must(bramah_frequency_response(b, y, u, 2, w, re[1], im[1], &diag), &diag);
      for (int k = 0; k < 2; k++) {
        largest = fmax(largest, hypot(re[0][k], im[0][k]));
        error = fmax(error, hypot(re[1][k] - re[0][k], im[1][k] - im[0][k]));
      }
    }
    worst = fmax(worst, error / fmax(largest, 1e-9 * (fabs(a->y[y]) + 1.0)));
  }
  return worst;
}

/* Of every eigenvalue of a the distance to the nearest one of b, against its size. */
static double eigenvalue_error(const bramah_linear_system *a, const bramah_linear_system *b)
{
  bramah_modes *m[2];
  double worst = 0.0;
  must(bramah_modes_new(a, &diag, &m[0]), &diag);
  must(bramah_modes_new(b, &diag, &m[1]), &diag);
  for (size_t k = 0; k < m[0]->n_modes; k++) {
    const bramah_mode *mode = &m[0]->mode[k];
    double least = (double)INFINITY;
    for (size_t i = 0; i < m[1]->n_modes; i++)
      least = fmin(least, hypot(m[1]->mode[i].re - mode->re, m[1]->mode[i].im - mode->im));
    worst = fmax(worst, least / fmax(hypot(mode->re, mode->im), 1.0));
  }
  bramah_modes_free(m[0]);
  bramah_modes_free(m[1]);
  return worst;
}

/* F of discrete time is the same; the largest difference of a row of G, against the row's largest. */
static double discrete_error(const bramah_linear_system *a, const bramah_linear_system *b)
{
  static double F[2][MANY * MANY], G[2][MANY * BAR_N_INPUTS];
  const double h = 5e-3;
  const size_t slow = 2 * a->n_position + a->n_pressure;
  double worst = 0.0;
  must(bramah_discretise(a, h, F[0], G[0], &diag), &diag);
  must(bramah_discretise(b, h, F[1], G[1], &diag), &diag);
  for (size_t i = 0; i < slow; i++) {
    double largest = 0.0, error = 0.0;
    for (size_t k = 0; k < a->n_u; k++) {
      largest = fmax(largest, fabs(G[0][i * a->n_u + k]));
      error = fmax(error, fabs(G[1][i * b->n_u + k] - G[0][i * a->n_u + k]));
    }
    for (size_t j = 0; j < slow; j++) {
      const double f = F[0][i * a->n + j];
      ck_assert_double_le(fabs(F[1][i * b->n + j] - f), 1e-9 * fabs(f) + 1e-12);
    }
    worst = fmax(worst, error / fmax(largest, 1e-9 * (fabs(a->x[i]) + 1.0)));
  }
  return worst;
}

EACH_TEST(test_limit, 0, 2)
{
  static const double lag[2] = {1e-5, 1e-7};
  double error[2][3];
  const bramah_machine *machine;
  rig direct;
  const double *u = describe(_i, 0.0, &machine);
  open_rig(&direct, machine);
  drive(&direct, u, 800);
  must(bramah_linearization_run(direct.l, direct.c, &diag), &diag);
  for (int k = 0; k < 2; k++) {
    rig lagging;
    describe(_i, lag[k], &machine);
    open_rig(&lagging, machine);
    place(&lagging, &direct, u);
    ck_assert_uint_eq(lagging.s->n, direct.s->n + (_i ? 4 : 1));
    error[k][0] = response_error(direct.s, lagging.s);
    error[k][1] = eigenvalue_error(direct.s, lagging.s);
    error[k][2] = discrete_error(direct.s, lagging.s);
    printf("lag %g s: responses %.2e, eigenvalues %.2e, discrete time %.2e\n", lag[k], error[k][0],
           error[k][1], error[k][2]);
    close_rig(&lagging);
  }
  /* what a lag does goes with its length */
  ck_assert_double_lt(error[1][0], 1e-4);
  ck_assert_double_lt(error[1][0], 0.02 * error[0][0]);
  ck_assert_double_lt(error[1][1], 1e-6);
  ck_assert_double_lt(error[1][2], 1e-3);
  ck_assert_double_lt(error[1][2], 0.02 * error[0][2]);
  close_rig(&direct);
}

/* What P of the equations with constraints does to the accelerations: A = -(Rz' M Rz)^-1 Rz' P. */
static void check_forces(const rig *r, const bramah_constrained *q)
{
  const double *Rz = r->c->now->Rz;
  const size_t n = r->s->n, first = 2 * r->s->n_position;
  double mass = 0.0;
  size_t told = 0;
  ck_assert_uint_eq(r->s->n_position, 1);
  for (size_t i = 0; i < q->n; i++)
    for (size_t j = 0; j < q->n; j++) mass += Rz[i] * q->M[i * q->n + j] * Rz[j];
  for (size_t k = 0; k < q->k; k++) {
    double force = 0.0;
    for (size_t i = 0; i < q->n; i++) force += Rz[i] * q->P[i * q->k + k];
    const double a = r->s->A[1 * n + first + k];
    ck_assert_double_le(fabs(force / mass + a), 1e-9 * fabs(a));
    told += a != 0.0;
  }
  ck_assert_uint_eq(told, 3); /* both load pressures, the spool */
}

/* The spool that is a state among direct ones: its name, value and columns, in all equations there are. */
TEST(test_mixed)
{
  enum { N = 2 * 3 + 5 + 1 };
  static double J[N * N];
  const bramah_machine *machine;
  rig r;
  bramah_constrained q;
  const double *u = describe(1, 0.0, &machine);
  open_rig(&r, machine);
  drive(&r, u, 300);
  must(bramah_linearization_run(r.l, r.c, &diag), &diag);
  const size_t nf = r.s->n_position, np = r.s->n_pressure, n = r.s->n, spool = 2 * nf + np;
  const size_t output = must_find(&r.plant, "swing.spool"), other = must_find(&r.plant, "lift.spool");
  const double U = r.plant.output(r.plant.self, output), tau = 0.02;
  ck_assert_uint_eq(spool, n - 1);
  ck_assert_str_eq(r.s->x_name[spool], "swing.spool");
  ck_assert_double_eq(r.s->x[spool], U);
  ck_assert_double_eq_tol(r.s->xd[spool], (u[BAR_SWING] - U) / tau, 1e-12);
  ck_assert_double_eq(r.s->A[n * n - 1], -1.0 / tau);
  ck_assert_double_eq(r.s->B[spool * r.s->n_u + BAR_SWING], 1.0 / tau);
  ck_assert_uint_eq(redundant_order(r.s), N);
  must(redundant_differences(r.l, r.c, 1e-6, J, &diag), &diag);
  must(bramah_linearization_constrained(r.l, r.c, &q, &diag), &diag);
  ck_assert_uint_eq(q.k, np + 1);
  check_forces(&r, &q);
  size_t told = 0;
  for (size_t i = 0; i < np; i++) {
    const double a = r.s->A[(2 * nf + i) * n + spool];
    ck_assert_double_eq_tol(J[(6 + i) * N + 6 + np], a, 1e-4 * fabs(a) + 1e-3);
    ck_assert_double_eq(q.Xx[i * q.k + np], a);
    told += a != 0.0;
  }
  ck_assert_uint_gt(told, 0);
  ck_assert_double_eq_tol(J[N * N - 1], -1.0 / tau, 1e-6 / tau);
  ck_assert_double_eq(q.Xx[q.k * q.k - 1], -1.0 / tau);
  double x[MANY];
  memcpy(x, r.s->x, n * sizeof *x);
  x[spool] += 0.5;
  must(bramah_linearization_place(r.l, r.c, x, &diag), &diag);
  ck_assert_double_eq(r.plant.output(r.plant.self, output), U + 0.5);
  ck_assert_double_eq(r.plant.output(r.plant.self, other), u[BAR_LIFT]);
  close_rig(&r);
}

/* What the element between a metered cylinder and its rod stores: F^2 / 2K with F = A_h times the load
 * pressure. */
TEST(test_energy)
{
  const bramah_machine *machine;
  rig r;
  double dx[MANY] = {0};
  bramah_energies energies;
  describe(1, 0.0, &machine);
  open_rig(&r, machine);
  must(bramah_linearization_run(r.l, r.c, &diag), &diag);
  const size_t load = 4; /* of swing, behind three volumes and that of lift */
  ck_assert_str_eq(r.s->x_name[2 * r.s->n_position + load], "swing.load_pressure");
  dx[2 * r.s->n_position + load] = 2e5;
  must(bramah_linearization_energies(r.l, r.c, dx, NULL, &energies, &diag), &diag);
  const double F = 0.005 * 2e5, K = 4e7;
  ck_assert_str_eq(energies.volume_name[load], "swing");
  ck_assert_double_eq_tol(energies.volume[load], 0.5 * F * F / K, 1e-12 * F * F / K);
  for (size_t i = 0; i < load; i++) ck_assert_double_eq(energies.volume[i], 0.0);
  close_rig(&r);
}

/* A shut valve is seen to open towards positive commands, by forces and accelerations as by rates. */
TEST(test_neutral)
{
  static const double none[BAR_N_INPUTS] = {0}, little[BAR_N_INPUTS] = {[BAR_LIFT] = 1e-3};
  static double B[MANY * BAR_N_INPUTS], D[MANY_OUTPUTS * BAR_N_INPUTS];
  const bramah_machine *machine;
  rig r;
  describe(1, 0.0, &machine);
  open_rig(&r, machine);
  drive(&r, none, 0);
  must(bramah_linearization_run(r.l, r.c, &diag), &diag);
  const size_t n = r.s->n, nu = r.s->n_u, velocity = r.s->n_position;
  memcpy(B, r.s->B, n * nu * sizeof *B);
  memcpy(D, r.s->D, r.s->n_y * nu * sizeof *D);
  for (size_t y = 0; y < r.s->n_y; y++) /* one derivative by two ways */
    if (strcmp(r.s->y_name[y], "coupler.acceleration") == 0)
      ck_assert_double_eq_tol(D[y * nu + BAR_LIFT], B[velocity * nu + BAR_LIFT],
                              1e-4 * fabs(B[velocity * nu + BAR_LIFT]));
  ck_assert_str_eq(r.s->x_name[velocity], "coupler.rate");
  drive(&r, little, 0);
  must(bramah_linearization_run(r.l, r.c, &diag), &diag);
  for (size_t i = 0; i < n + r.s->n_y; i++) {
    const double at = i < n ? B[i * nu + BAR_LIFT] : D[(i - n) * nu + BAR_LIFT],
                 beside = i < n ? r.s->B[i * nu + BAR_LIFT] : r.s->D[(i - n) * nu + BAR_LIFT],
                 value = i < n ? r.s->x[i] : r.s->y[i - n];
    if (fabs(at - beside) > 1e-3 * fabs(beside) + 1e-6 * (fabs(value) + 1e-3))
      ck_abort_msg("%s: %.9g at the neutral position, %.9g beside",
                   i < n ? r.s->x_name[i] : r.s->y_name[i - n], at, beside);
  }
  ck_assert_double_ne(B[velocity * nu + BAR_LIFT], 0.0);
  close_rig(&r);
}

/* A valve held at its limit does not follow its command. */
TEST(test_at_limit)
{
  const double u[BAR_N_INPUTS] = {[BAR_LIFT] = 12.0, [BAR_UNLOADING] = 1.0};
  const bramah_machine *machine;
  rig r;
  describe(1, 0.0, &machine);
  open_rig(&r, machine);
  drive(&r, u, 20);
  must(bramah_linearization_run(r.l, r.c, &diag), &diag);
  for (size_t i = 0; i < r.s->n; i++) ck_assert_double_eq(r.s->B[i * r.s->n_u + BAR_LIFT], 0.0);
  for (size_t y = 0; y < r.s->n_y; y++)
    ck_assert_double_eq(r.s->D[y * r.s->n_u + BAR_LIFT],
                        strcmp(r.s->y_name[y], "lift.command") == 0 ? 1.0 : 0.0);
  close_rig(&r);
}

/* Spools that are states are named by themselves, also those of metered cylinders. */
TEST(test_names)
{
  static const char *const spool[] = {"valve.spool", "lift.spool", "swing.spool", "lift.regeneration.spool",
                                      "line.unloading.spool"};
  const bramah_machine *machine;
  rig r;
  describe(1, 0.01, &machine);
  open_rig(&r, machine);
  must(bramah_linearization_run(r.l, r.c, &diag), &diag);
  ck_assert_uint_eq(r.s->n_spool, 5);
  const size_t first = 2 * r.s->n_position + r.s->n_pressure;
  for (size_t i = 0; i < 5; i++) {
    int known = 0;
    for (size_t k = 0; k < 5; k++) known |= strcmp(r.s->x_name[first + i], spool[k]) == 0;
    ck_assert_msg(known, "%s", r.s->x_name[first + i]);
    ck_assert_str_eq(r.s->x_unit[first + i], "V");
    for (size_t y = 0; y < r.s->n_y; y++) /* C knows it under the same name */
      if (strcmp(r.s->y_name[y], r.s->x_name[first + i]) == 0)
        ck_assert_double_eq(r.s->C[y * r.s->n + first + i], 1.0);
  }
  close_rig(&r);
}

/* What commands do at once is of the state alone: a plant that has nothing but the snapshot goes on with the same bits. A step with
 * derivatives, whose tangents are all exact, ends where one without does. */
EACH_TEST(test_restored, 0, 2)
{
  static double snap[512], F[MANY * MANY], x[2][MANY], u[BAR_N_INPUTS];
  static unsigned char end[2][4096];
  const bramah_machine *machine;
  rig a, b;
  const double *around = describe(_i, 0.0, &machine);
  open_rig(&a, machine);
  open_rig(&b, machine);
  ck_assert_uint_le(a.plant.snapshot_size, sizeof snap);
  for (int k = 0; k < 300; k++) {
    for (size_t i = 0; i < a.plant.n_input; i++) u[i] = around[i] * (1.0 + 0.5 * sin(0.1 * k + (double)i));
    a.plant.save(a.plant.self, snap);
    b.plant.restore(b.plant.self, snap);
    drive(&a, u, 1);
    drive(&b, u, 1);
    a.plant.save(a.plant.self, end[0]);
    b.plant.save(b.plant.self, end[1]);
    ck_assert_mem_eq(end[0], end[1], a.plant.snapshot_size);
    b.plant.restore(b.plant.self, snap);
    must(b.plant.set_inputs(b.plant.self, u, &diag), &diag);
    must(b.plant.step_transition(b.plant.self, F, NULL, 0, NULL, NULL, &diag), &diag);
    bramah_plant_coordinates(&a.plant, x[0]);
    bramah_plant_coordinates(&b.plant, x[1]);
    for (size_t i = 0; i < bramah_plant_n_error(&a.plant); i++) {
      bramah_state_info info;
      bramah_plant_state_info(&a.plant, i, &info);
      ck_assert_double_le(fabs(x[1][i] - x[0][i]), 1e-9 * fabs(x[0][i]) + 1e-11 * info.scale);
    }
  }
  close_rig(&a);
  close_rig(&b);
}

int main(void) { return run_tests("direct spools"); }
