/* SPDX-License-Identifier: MIT */
/* The recursive dynamics of random spatial trees against a solution in maximal coordinates: six equations a
 * body, five constraint rows a joint, one linear system. It shares nothing with the recursion but the poses.
 */
#include "lib/math/dense.h"
#include "lib/math/vector3.h"
#include "lib/multibody/closure.h"
#include "lib/multibody/tree_graph.h"
#include "lib/plant/coupled_internal.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"
#include "test/support/running.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 10, SIZE = 11 * N };

typedef struct system_matrix {
  double A[SIZE * SIZE];
  double b[SIZE];
} system_matrix;

static void mass_rows(system_matrix *s, const bramah_model *model, const bramah__eval *e)
{
  for (size_t i = 0; i < N; i++) {
    const double *w = e->Z + 6 * i + 3;
    double Jw[3], gyroscopic[3];
    bramah__rotate3(e->pose[i].J, w, Jw);
    bramah__cross3(w, Jw, gyroscopic);
    for (size_t k = 0; k < 3; k++) {
      s->A[(6 * i + k) * SIZE + 6 * i + k] = model->tree.link[i].mass;
      s->b[6 * i + k] = model->tree.link[i].mass * model->tree.gravity[k];
      for (size_t l = 0; l < 3; l++) s->A[(6 * i + 3 + k) * SIZE + 6 * i + 3 + l] = e->pose[i].J[3 * k + l];
      s->b[6 * i + 3 + k] = -gyroscopic[k];
    }
  }
}

/* Add sign * (direction . acceleration of the point `place` on body i) to constraint row r; returns the part
 * that is known. */
static double point_terms(system_matrix *s, size_t r, int i, const bramah__eval *e, const double *direction,
                          const double *place, double sign)
{
  if (i < 0) return 0.0;
  double arm[3], turn[3], wr[3], wwr[3];
  const double *w = e->Z + 6 * i + 3;
  bramah__sub3(place, e->pose[i].g, arm);
  bramah__cross3(arm, direction, turn); /* d . (a x arm) = a . (arm x d) */
  for (size_t k = 0; k < 3; k++) {
    s->A[r * SIZE + 6 * (size_t)i + k] += sign * direction[k];
    s->A[r * SIZE + 6 * (size_t)i + 3 + k] += sign * turn[k];
  }
  bramah__cross3(w, arm, wr);
  bramah__cross3(w, wr, wwr);
  return sign * bramah__dot3(direction, wwr);
}

static void angular_terms(system_matrix *s, size_t r, int i, const double *direction, double sign)
{
  if (i < 0) return;
  for (size_t k = 0; k < 3; k++) s->A[r * SIZE + 6 * (size_t)i + 3 + k] += sign * direction[k];
}

/* Five rows of the joint in front of body i. */
static void joint_rows(system_matrix *s, const bramah_model *model, const bramah__eval *e, const double *zd,
                       size_t i)
{
  const bramah__link *link = &model->tree.link[i];
  const int p = link->parent;
  const double *n = e->pose[i].n, *r = e->pose[i].r;
  const double zero[3] = {0, 0, 0}, *wp = p < 0 ? zero : e->Z + 6 * p + 3;
  double t[2][3], wn[3];
  bramah__loop_normals(n, t);
  bramah__cross3(wp, n, wn); /* n' */
  const double unit[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  size_t row = 6 * N + 5 * i;
  for (int k = 0; k < (link->revolute ? 3 : 2); k++, row++) {
    const double *d = link->revolute ? unit[k] : t[k];
    double known = point_terms(s, row, (int)i, e, d, r, 1.0) + point_terms(s, row, p, e, d, r, -1.0);
    if (!link->revolute) known -= 2.0 * zd[i] * bramah__dot3(d, wn); /* Coriolis */
    s->b[row] = -known;
  }
  for (int k = 0; k < (link->revolute ? 2 : 3); k++, row++) {
    const double *d = link->revolute ? t[k] : unit[k];
    angular_terms(s, row, (int)i, d, 1.0);
    angular_terms(s, row, p, d, -1.0);
    s->b[row] = link->revolute ? zd[i] * bramah__dot3(d, wn) : 0.0;
  }
}

/* Joint acceleration from the accelerations of the bodies. */
static double joint_acceleration(const bramah_model *model, const bramah__eval *e, const double *x, size_t i)
{
  const int p = model->tree.link[i].parent;
  const double *n = e->pose[i].n;
  double sum = 0.0;
  if (model->tree.link[i].revolute) {
    for (size_t k = 0; k < 3; k++)
      sum += n[k] * (x[6 * i + 3 + k] - (p < 0 ? 0.0 : x[6 * (size_t)p + 3 + k]));
    return sum;
  }
  static system_matrix row; /* reuse the row builder for n . (a_child - a_parent) at the joint */
  memset(&row, 0, sizeof row);
  double known = point_terms(&row, 0, (int)i, e, n, e->pose[i].r, 1.0) +
                 point_terms(&row, 0, p, e, n, e->pose[i].r, -1.0);
  for (size_t k = 0; k < 6 * N; k++) known += row.A[k] * x[k];
  return known;
}

EACH_TEST(test_tree_equals_maximal_coordinates, 0, 5)
{
  static system_matrix s;
  static int pivot[SIZE];
  spatial_tree tree;
  bramah_diag diag;
  memset(&s, 0, sizeof s);
  spatial_tree_describe(&tree, N, 17u + (unsigned)_i);
  running r = start(&tree.machine);
  must(bramah__refresh(r.c, &diag), &diag);
  const bramah__eval *e = r.c->now;
  mass_rows(&s, r.model, e);
  for (size_t i = 0; i < N; i++) joint_rows(&s, r.model, e, r.c->state.zd, i);
  for (size_t i = 6 * N; i < SIZE; i++)
    for (size_t k = 0; k < 6 * N; k++) s.A[k * SIZE + i] = s.A[i * SIZE + k];
  ck_assert_uint_eq(bramah__lu_factor(SIZE, s.A, pivot), 0);
  bramah__lu_solve(SIZE, s.A, pivot, s.b);
  double largest = 0.0;
  for (size_t i = 0; i < N; i++) largest = fmax(largest, fabs(r.c->state.zdd[i]));
  for (size_t i = 0; i < N; i++) {
    const double expected = joint_acceleration(r.model, e, s.b, i);
    ck_assert_double_eq_tol(r.c->state.zdd[i], expected, 1e-10 * largest);
  }
  stop(&r);
}

/* Velocities against differences of positions, which the maximal solution above takes for granted. */
EACH_TEST(test_velocities_are_derivatives, 0, 3)
{
  spatial_tree tree;
  bramah_diag diag;
  bramah__pose before[N], after[N];
  double z[N];
  const double eps = 1e-6;
  spatial_tree_describe(&tree, N, 5u + (unsigned)_i);
  running r = start(&tree.machine);
  must(bramah__refresh(r.c, &diag), &diag);
  for (int side = 0; side < 2; side++) {
    for (size_t i = 0; i < N; i++) z[i] = r.c->state.z[i] + (side ? eps : -eps) * r.c->state.zd[i];
    bramah__tree_pose(&r.model->tree, NULL, z, side ? after : before);
  }
  for (size_t i = 0; i < N; i++) {
    double v[3], local[3] = {0.3, -0.4, 0.7}, place[3], pb[3], pa[3];
    bramah__point(r.c->now->pose, (int)i, local, place);
    bramah__point_velocity(r.c->now->Z, (int)i, place, v);
    bramah__point(before, (int)i, local, pb);
    bramah__point(after, (int)i, local, pa);
    for (int k = 0; k < 3; k++) ck_assert_double_eq_tol(v[k], (pa[k] - pb[k]) / (2 * eps), 1e-8);
  }
  stop(&r);
}

static double number(bramah__expr x, const double *value) { return e_is_number(x) ? x.value : value[x.node]; }

/* Joint forces of random trees as expressions against the numbers, and their derivatives against
 * those that the graph makes of the whole recursion; every other tree in frames of its own. */
EACH_TEST(test_expressions, 0, 5)
{
  enum { WAYS = 3 };
  spatial_tree tree;
  bramah__body_graph body[N];
  bramah__link_graph link[N];
  bramah__moves_graph moves[N];
  static const bramah__pair none[N];
  bramah__expr in[WAYS * N], tau[N], dtau[N], vary[N], T[N * N], along[WAYS], moved[WAYS * N];
  double x[WAYS * N], weight[WAYS] = {0.7, 3.0, 11.0}, Z[6 * N], Zd[6 * N], W[6 * N], expected[N];
  bramah__pose pose[N];
  const int with_frames = _i % 2;
  unsigned seed = 3;
  spatial_tree_describe(&tree, N, 29u + (unsigned)_i);
  running r = start(&tree.machine);
  const bramah__tree *t = &r.model->tree;
  bramah__graph *g = bramah__graph_new();
  for (size_t i = 0; i < WAYS * N; i++) in[i] = bramah__graph_input(g, 0), x[i] = test_uniform(&seed);
  const bramah__expr *z = in, *zd = in + N, *zdd = in + 2 * N;
  const bramah__vec gravity = v_number(t->gravity);
  for (size_t j = 0; j < N; j++) link[j] = bramah__link_graph_of(&t->link[j]);
  bramah__tree_graph_pose(t, NULL, z, with_frames, NULL, body);
  bramah__tree_graph_motion(t, link, gravity, zd, zdd, body);
  bramah__tree_graph_force(t, none, body, tau);
  for (int w = 0; w < WAYS; w++) along[w] = e_number(weight[w]);
  bramah__tree_graph_tangent(t, body, along, T);

  bramah__tree_pose(t, NULL, x, pose);
  bramah__tree_velocity(t, pose, x + N, Z);
  bramah__tree_acceleration(t, pose, Z, x + N, x + 2 * N, Zd);
  bramah__tree_force(t, pose, Z, Zd, W, expected);
  for (size_t k = 0; k <= N; k++) { /* joint k; then all */
    for (size_t i = 0; i < WAYS * N; i++)
      moved[i] = e_number(k == N ? test_uniform(&seed) : k == i % N ? weight[i / N] : 0.0);
    bramah__derive(g, WAYS * N, in, moved, N, tau, dtau);
    bramah__tree_graph_moves(t, body, moved, moved + N, moved + 2 * N, moves);
    bramah__tree_graph_vary(t, body, moved, moves, none, vary);
    double *value = calloc(bramah__graph_size(g), sizeof *value);
    ck_assert_ptr_nonnull(value);
    bramah__graph_evaluate(g, x, value);
    for (size_t j = 0; j < N; j++) {
      const double by_graph = number(dtau[j], value), near = 1e-9 * (1.0 + fabs(by_graph));
      ck_assert_double_eq_tol(number(vary[j], value), by_graph, near);
      if (k < N && !with_frames) ck_assert_double_eq_tol(number(T[j * N + k], value), by_graph, near);
      ck_assert_double_eq_tol(value[tau[j].node], expected[j], 1e-10 * (1.0 + fabs(expected[j])));
    }
    free(value);
  }
  bramah__graph_free(g);
  stop(&r);
}

/* Hand calculation: a rod on a pin under gravity, and a mass on an inclined slide. */
TEST(test_hand_calculations)
{
  bramah_body bodies[2] = {
      {.name = "rod", .mass = 3.0, .centre_of_mass = {0.5, 0, 0}, .inertia = {0, 0.25, 0.25}},
      {.name = "block", .mass = 2.0, .inertia = {1, 1, 1}}};
  bramah_joint joints[2] = {{.name = "pin",
                             .type = BRAMAH_JOINT_REVOLUTE,
                             .parent = "ground",
                             .child = "rod",
                             .axis = {0, 0, 5},
                             .initial_position = 0.3},
                            {.name = "slide",
                             .type = BRAMAH_JOINT_PRISMATIC,
                             .parent = "ground",
                             .child = "block",
                             .axis = {1, 1, 0}}};
  bramah_machine machine = {.name = "two",
                            .gravity = {0, -9.81, 0},
                            .n_bodies = 2,
                            .bodies = bodies,
                            .n_joints = 2,
                            .joints = joints};
  running r = start(&machine);
  const bramah_plant plant = r.p;
  ck_assert_double_eq_tol(plant.output(plant.self, must_find(&plant, "pin.acceleration")),
                          -3.0 * 9.81 * 0.5 * cos(0.3) / (0.25 + 3.0 * 0.25), 1e-12);
  ck_assert_double_eq_tol(plant.output(plant.self, must_find(&plant, "slide.acceleration")),
                          -9.81 / sqrt(2.0), 1e-12);
  stop(&r);
}

int main(void) { return run_tests("tree"); }
