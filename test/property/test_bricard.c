/* SPDX-License-Identifier: MIT */
/* Bricard's mechanism: six rods of 1 m on six revolute joints along the edges of a cube, a benchmark of the
 * literature for overconstrained spatial mechanisms (IFToMM library of computational benchmark problems).
 * Counting says that it is rigid (five joints, five equations); with these lengths and axes it moves. */
#include "lib/plant/coupled_internal.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>

enum { RODS = 5, ROWS = 5 };

/* Six corners of a cube along its edges; the sixth edge, from the last corner to the first, is the ground. */
static const double corner[RODS + 1][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {1, 1, 1}, {0, 1, 1}, {0, 0, 1}};

static bramah_diag diag;

typedef struct bricard {
  bramah_machine machine;
  bramah_body bodies[RODS];
  bramah_joint joints[RODS];
  bramah_loop loops[1];
} bricard;

/* From corner i to the next. */
static void edge(int i, double e[3])
{
  for (int k = 0; k < 3; k++) e[k] = corner[(i + 1) % (RODS + 1)][k] - corner[i][k];
}

/* The joint in a corner turns about the normal of its two edges. */
static void axis(int i, double a[3])
{
  double in[3], out[3];
  edge((i + RODS) % (RODS + 1), in);
  edge(i, out);
  for (int k = 0; k < 3; k++) a[k] = in[(k + 1) % 3] * out[(k + 2) % 3] - in[(k + 2) % 3] * out[(k + 1) % 3];
}

/* All body frames have the axes of the ground at the start, so all angles are zero there. */
static void describe(bricard *b, int64_t step_ns, bramah_formulation formulation)
{
  static const char *const name[RODS] = {"rod1", "rod2", "rod3", "rod4", "rod5"};
  *b = (bricard){.loops = {{.name = "sixth",
                            .type = BRAMAH_LOOP_REVOLUTE,
                            .body = {"rod5", "ground"},
                            .point = {{0, 0, 0}, {0, 0, 1}}}}};
  for (int i = 0; i < RODS; i++) {
    double e[3];
    edge(i, e);
    b->bodies[i] = (bramah_body){.name = name[i], .mass = 1.0};
    b->joints[i] = (bramah_joint){.name = name[i],
                                  .type = BRAMAH_JOINT_REVOLUTE,
                                  .parent = i ? name[i - 1] : "ground",
                                  .child = name[i]};
    if (i) edge(i - 1, b->joints[i].position);
    axis(i, b->joints[i].axis);
    for (int k = 0; k < 3; k++) {
      b->bodies[i].centre_of_mass[k] = 0.5 * e[k];
      b->bodies[i].inertia[k] = e[k] == 0.0 ? 1.0 / 12.0 : 0.0;
    }
  }
  edge(RODS - 1, b->loops[0].point[0]);
  for (int i = 0; i < 2; i++) axis(RODS, b->loops[0].axis[i]);
  b->machine = (bramah_machine){
      .name = "bricard",
      .gravity = {0, -9.81, 0},
      .n_bodies = RODS,
      .bodies = b->bodies,
      .n_joints = RODS,
      .joints = b->joints,
      .n_loops = 1,
      .loops = b->loops,
      .integrator = {.step_ns = step_ns, .position_tolerance = 1e-10, .formulation = formulation}};
}

typedef struct rig {
  const bramah_model *model;
  bramah_coupled *coupled;
  bramah_plant plant;
} rig;

static void open_rig(rig *r, int64_t step_ns, bramah_formulation formulation)
{
  bricard b;
  describe(&b, step_ns, formulation);
  must(bramah_model_new(&b.machine, &diag, &r->model), &diag);
  must(bramah_coupled_new(r->model, &diag, &r->coupled), &diag);
  r->plant = bramah_coupled_plant(r->coupled);
}

static void close_rig(rig *r)
{
  bramah_coupled_free(r->coupled);
  bramah_model_free(r->model);
}

static double value(const rig *r, const char *output)
{
  return r->plant.output(r->plant.self, must_find(&r->plant, output));
}

/* One sweep of plane rotations between the columns of A [ROWS x RODS] (one-sided Jacobi). */
static void sweep(double A[ROWS][RODS])
{
  for (int p = 0; p < RODS; p++)
    for (int q = p + 1; q < RODS; q++) {
      double pp = 0, qq = 0, pq = 0;
      for (int i = 0; i < ROWS; i++)
        pp += A[i][p] * A[i][p], qq += A[i][q] * A[i][q], pq += A[i][p] * A[i][q];
      const double angle = 0.5 * atan2(2.0 * pq, qq - pp), c = cos(angle), s = sin(angle);
      for (int i = 0; i < ROWS; i++) {
        const double x = A[i][p], y = A[i][q];
        A[i][p] = c * x - s * y;
        A[i][q] = s * x + c * y;
      }
    }
}

/* Singular values of the constraint Jacobian at the present pose, ascending. */
static void singular_values(rig *r, double *sigma)
{
  double A[ROWS][RODS];
  must(bramah__refresh(r->coupled, &diag), &diag);
  ck_assert_uint_eq(r->model->m, ROWS);
  for (int i = 0; i < ROWS * RODS; i++) A[i / RODS][i % RODS] = r->coupled->now->Phi_z[i];
  for (int k = 0; k < 12; k++) sweep(A);
  for (int j = 0; j < RODS; j++) {
    sigma[j] = 0.0;
    for (int i = 0; i < ROWS; i++) sigma[j] = hypot(sigma[j], A[i][j]);
  }
  for (int i = 1; i < RODS; i++)
    for (int j = i; j > 0 && sigma[j] < sigma[j - 1]; j--) {
      const double t = sigma[j];
      sigma[j] = sigma[j - 1], sigma[j - 1] = t;
    }
}

typedef struct course {
  double lowest;     /* potential energy [J] */
  double drift;      /* energy [J] */
  double violation;  /* loop [m] */
  double relation;   /* between the angles */
  double free, held; /* singular values: largest of the free direction, smallest of the four held ones */
} course;

/* The mechanism keeps its threefold symmetry, and then the angles in neighbouring corners obey cos t + cos t'
 * + cos t cos t' = 0, t = 90 deg at the cube, with signs as the axes have them (closure of the trihedral
 * Bricard linkage with right twists). */
static double relation(const rig *r)
{
  const double q1 = value(r, "rod1.angle"), q2 = value(r, "rod2.angle");
  const double turned = fmax(fabs(value(r, "rod3.angle") - q1), fabs(value(r, "rod5.angle") - q1));
  const double other = fabs(value(r, "rod4.angle") - q2);
  return fmax(fabs(sin(q1) + sin(q2) - sin(q1) * sin(q2)), fmax(turned, other));
}

static void observe(rig *r, course *out)
{
  double sigma[RODS];
  const double potential = value(r, "energy.potential");
  singular_values(r, sigma);
  out->lowest = fmin(out->lowest, potential);
  out->drift = fmax(out->drift, fabs(value(r, "energy.kinetic") + potential));
  out->violation = fmax(out->violation, bramah_coupled_constraint_violation(r->coupled));
  out->relation = fmax(out->relation, relation(r));
  out->free = fmax(out->free, sigma[0]);
  out->held = fmin(out->held, sigma[1]);
}

/* 4 s: down, through, up to where it came from, and down again. */
static course run(int64_t step_ns, bramah_formulation formulation)
{
  course out = {.held = 1e9};
  rig r;
  open_rig(&r, step_ns, formulation);
  observe(&r, &out);
  for (int64_t t = 0; t < INT64_C(4000000000); t += step_ns) {
    must(r.plant.step(r.plant.self, &diag), &diag);
    observe(&r, &out);
  }
  close_rig(&r);
  return out;
}

/* Four of the five unknown angles are held. */
TEST(test_one_degree_of_freedom)
{
  rig r;
  double sigma[RODS];
  open_rig(&r, 1000000, BRAMAH_FORMULATION_PARTITIONING);
  ck_assert_uint_eq(bramah_model_get_info(r.model).n_dof, 1);
  singular_values(&r, sigma);
  printf("singular values at the cube: %.2g %.3f %.3f %.3f %.3f\n", sigma[0], sigma[1], sigma[2], sigma[3],
         sigma[4]);
  ck_assert_double_lt(sigma[0], 1e-14);
  ck_assert_double_gt(sigma[1], 1.0);
  close_rig(&r);
}

/* With one axis tilted the count is right: nothing moves, and the model says so. */
TEST(test_tilted_axis_is_rigid)
{
  bricard b;
  const bramah_model *model = NULL;
  describe(&b, 1000000, BRAMAH_FORMULATION_PARTITIONING);
  for (int k = 0; k < 3; k++) b.joints[2].axis[k] += 0.01 * b.joints[1].axis[k];
  ck_assert_int_eq(bramah_model_new(&b.machine, &diag, &model), BRAMAH_E_TOPOLOGY);
  ck_assert_str_eq(diag.thing, "bricard");
  ck_assert_ptr_null(model);
}

EACH_TEST(test_moves_and_keeps_its_energy, 0, 2)
{
  static const bramah_formulation formulation[] = {BRAMAH_FORMULATION_PARTITIONING,
                                                   BRAMAH_FORMULATION_AUGMENTED_LAGRANGIAN};
  static const char *const name[] = {"partitioning", "augmented Lagrangian"};
  const course coarse = run(2000000, formulation[_i]), fine = run(1000000, formulation[_i]);
  printf(
      "%s: down to %.3f J, drift %.3g J with 2 ms, %.3g J with 1 ms; loop to %.1g m, angles related to %.1g, "
      "singular values %.1g and from %.2f\n",
      name[_i], fine.lowest, coarse.drift, fine.drift, fmax(coarse.violation, fine.violation), fine.relation,
      fine.free, fine.held);
  ck_assert_double_lt(fine.lowest, -63.0);
  ck_assert_double_eq_tol(coarse.drift / fine.drift, 4.0, 0.2);
  ck_assert_double_lt(fine.drift, 2e-3);
  ck_assert_double_lt(coarse.violation, 1e-10);
  ck_assert_double_lt(fine.violation, 1e-10);
  ck_assert_double_lt(coarse.relation, 1e-10);
  ck_assert_double_lt(coarse.free, 1e-10); /* it stays mobile: no infinitesimal motion only */
  ck_assert_double_gt(coarse.held, 0.5);   /* and passes no singular position */
}

int main(void) { return run_tests("bricard"); }
