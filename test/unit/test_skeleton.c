/* SPDX-License-Identifier: MIT */
/* The skeleton of a machine: which parts there are and where they are, against hand calculation. */
#include "bramah/coupled.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <string.h>

enum { MOST = 64 };
static four_bar fb;
static bramah_diag diag;
static const bramah_model *model;
static bramah_coupled *plant;
static bramah_skeleton_part parts[MOST];
static double points[MOST][2][3];
static bramah_skeleton skeleton;
static size_t n;

static void open_machine(const bramah_machine *machine)
{
  must(bramah_model_new(machine, &diag, &model), &diag);
  must(bramah_coupled_new(model, &diag, &plant), &diag);
  skeleton = (bramah_skeleton){.n = 0};
  must(bramah_coupled_skeleton(plant, &skeleton, &diag), &diag);
  n = skeleton.n;
  ck_assert_uint_le(n, MOST);
  skeleton = (bramah_skeleton){.n = n, .part = parts, .points = &points[0][0][0]};
  must(bramah_coupled_skeleton(plant, &skeleton, &diag), &diag);
  ck_assert_uint_eq(skeleton.n, n);
}

static void close_machine(void)
{
  bramah_coupled_free(plant);
  bramah_model_free(model);
  plant = NULL;
  model = NULL;
}

/* The part of that kind and name; the k-th one of them. */
static size_t find(bramah_skeleton_kind kind, const char *name, size_t k)
{
  for (size_t i = 0; i < n; i++)
    if (parts[i].kind == kind && strcmp(parts[i].name, name) == 0 && k-- == 0) return i;
  ck_abort_msg("no part %s of kind %d", name, (int)kind);
  return 0;
}

static size_t count(bramah_skeleton_kind kind)
{
  size_t found = 0;
  for (size_t i = 0; i < n; i++) found += parts[i].kind == kind;
  return found;
}

static void at(size_t part, int end, double x, double y, double z)
{
  const double *p = points[part][end];
  if (fabs(p[0] - x) > 1e-9 || fabs(p[1] - y) > 1e-9 || fabs(p[2] - z) > 1e-9)
    ck_abort_msg("end %d of %s is at %.9g %.9g %.9g, not at %.9g %.9g %.9g", end, parts[part].name, p[0],
                 p[1], p[2], x, y, z);
}

/* Crank at 60 deg: its pin is at (1, sqrt 3). The coupler's other end is where circles of 8 m about it and of
 * 5 m about (10, 0) meet above. */
TEST(four_bar_stands_where_geometry_says)
{
  four_bar_describe(&fb, 1.0, 1000000);
  open_machine(&fb.machine);
  const double px = 1.0, py = sqrt(3.0), dx = 10.0 - px, dy = -py, d = hypot(dx, dy);
  const double along = (64.0 - 25.0 + d * d) / (2.0 * d), up = sqrt(64.0 - along * along);
  const double qx = px + (along * dx - up * dy) / d, qy = py + (along * dy + up * dx) / d;
  size_t i = find(BRAMAH_SKELETON_BODY, "crank", 0);
  at(i, 0, 0, 0, 0);
  at(i, 1, px, py, 0);
  i = find(BRAMAH_SKELETON_BODY, "coupler", 0);
  at(i, 0, px, py, 0);
  at(i, 1, qx, qy, 0);
  i = find(BRAMAH_SKELETON_BODY, "rocker", 0);
  at(i, 0, qx, qy, 0);
  at(i, 1, 10, 0, 0);
  at(find(BRAMAH_SKELETON_JOINT, "pivot", 0), 0, 10, 0, 0);
  at(find(BRAMAH_SKELETON_JOINT, "coupler", 0), 1, px, py, 0);
  ck_assert_uint_eq(count(BRAMAH_SKELETON_BODY), 3);
  ck_assert_uint_eq(count(BRAMAH_SKELETON_LUG), 0); /* the cylinder holds on to the crank's own line */
  ck_assert_uint_eq(count(BRAMAH_SKELETON_GROUND), 3);
  ck_assert_uint_eq(count(BRAMAH_SKELETON_JOINT), 4);
}

/* From (-1, 0) to the middle of the crank; with 0.3 m of piston chamber at its reference stroke sqrt 3 the
 * barrel is sqrt 3 - 0.3 long. */
TEST(cylinder_has_a_barrel_of_constant_length)
{
  four_bar_describe(&fb, 1.0, 1000000);
  open_machine(&fb.machine);
  const double mx = 0.5, my = 0.5 * sqrt(3.0), stroke = hypot(mx + 1.0, my);
  const double share = (sqrt(3.0) - 0.3) / stroke;
  size_t i = find(BRAMAH_SKELETON_BARREL, "lift", 0);
  at(i, 0, -1, 0, 0);
  at(i, 1, -1 + share * (mx + 1.0), share * my, 0);
  i = find(BRAMAH_SKELETON_PISTON_ROD, "lift", 0);
  at(i, 0, -1 + share * (mx + 1.0), share * my, 0);
  at(i, 1, mx, my, 0);
  const size_t joint = 0;
  const double position = 1.2, rate = 0.0;
  must(bramah_coupled_start(plant, 1, &joint, &position, &rate, NULL, &diag), &diag);
  must(bramah_coupled_skeleton(plant, &skeleton, &diag), &diag);
  i = find(BRAMAH_SKELETON_BARREL, "lift", 0);
  ck_assert_double_eq_tol(hypot(points[i][1][0] + 1.0, points[i][1][1]), sqrt(3.0) - 0.3, 1e-12);
  at(i + 1, 1, cos(1.2), sin(1.2), 0);
}

/* A cylinder that holds on 0.2 m off the crank: the lug begins on the crank's line, across it. */
TEST(lugs_stand_on_the_nearest_beam)
{
  four_bar_describe(&fb, 1.0, 1000000);
  fb.cylinders[0].point[1][1] = -0.2;
  open_machine(&fb.machine);
  const double c = 0.5, s = 0.5 * sqrt(3.0);
  const size_t i = find(BRAMAH_SKELETON_LUG, "crank", 0);
  at(i, 0, c, s, 0);
  at(i, 1, c + 0.2 * s, s - 0.2 * c, 0);
}

/* A slider has a slide; a body at the end of the tree is drawn to its centre of mass or payload point. */
TEST(sliders_and_last_bodies)
{
  static const double cart_at[3] = {0, 0, 1}, axis_x[3] = {1, 0, 0}, axis_y[3] = {0, 1, 0};
  bramah_body bodies[2] = {{.name = "cart", .mass = 1, .inertia = {1, 1, 1}},
                           {.name = "arm", .mass = 1, .inertia = {1, 1, 1}, .centre_of_mass = {0, 0, 0.5}}};
  bramah_joint joints[2] = {
      {.name = "rail",
       .type = BRAMAH_JOINT_PRISMATIC,
       .parent = "ground",
       .child = "cart",
       .initial_position = 0.7},
      {.name = "hinge", .type = BRAMAH_JOINT_REVOLUTE, .parent = "cart", .child = "arm"}};
  memcpy(joints[0].position, cart_at, sizeof cart_at);
  memcpy(joints[0].axis, axis_x, sizeof axis_x);
  memcpy(joints[1].axis, axis_y, sizeof axis_y);
  bramah_machine machine = {.name = "cart",
                            .oil_bulk_modulus = 1.5e9,
                            .n_bodies = 2,
                            .bodies = bodies,
                            .n_joints = 2,
                            .joints = joints};
  open_machine(&machine);
  size_t i = find(BRAMAH_SKELETON_SLIDE, "rail", 0);
  at(i, 0, 0, 0, 1);
  at(i, 1, 0.7, 0, 1);
  i = find(BRAMAH_SKELETON_BODY, "arm", 0);
  at(i, 0, 0.7, 0, 1);
  at(i, 1, 0.7, 0, 1.5);
  at(find(BRAMAH_SKELETON_GROUND, "rail", 0), 0, 0, 0, 1);
  close_machine();
  bodies[1].payload_point_given = 1;
  bodies[1].payload_point[2] = 1.25;
  open_machine(&machine);
  at(find(BRAMAH_SKELETON_BODY, "arm", 0), 1, 0.7, 0, 2.25);
}

/* Tables that are too short are refused; what they have room for is written and nothing behind it. */
TEST(short_tables)
{
  four_bar_describe(&fb, 1.0, 1000000);
  open_machine(&fb.machine);
  bramah_skeleton_part two[3] = {{0}};
  bramah_skeleton few = {.n = 2, .part = two};
  ck_assert_int_eq(bramah_coupled_skeleton(plant, &few, &diag), BRAMAH_E_ARGUMENT);
  ck_assert_uint_eq(few.n, n);
  ck_assert(two[1].name && !two[2].name);
}

static int body_of(const char *name)
{
  const bramah_model_info info = bramah_model_get_info(model);
  for (size_t j = 0; j < info.n_joints; j++)
    if (strcmp(info.body_names[j], name) == 0) return (int)j;
  return -1;
}

/* Poses: a joint that turns lies where its description says in the frame of its parent, and quaternions are those of rotations. */
TEST(poses)
{
  size_t checked = 0;
  for (unsigned seed = 1; seed <= 20; seed++) {
    static spatial_tree tree;
    static double pose[MOST][7];
    spatial_tree_describe(&tree, 3 + seed % 8, seed);
    open_machine(&tree.machine);
    bramah_skeleton only = {.poses = pose[0]};
    must(bramah_coupled_skeleton(plant, &only, &diag), &diag);
    for (size_t i = 0; i < tree.machine.n_joints; i++) {
      const bramah_joint *joint = &tree.machine.joints[i];
      const int parent = body_of(joint->parent), child = body_of(joint->child);
      if (joint->type != BRAMAH_JOINT_REVOLUTE || parent < 0) continue;
      const double *r = pose[parent], *w = r + 3, *p = joint->position;
      const double s = w[0], *v = w + 1;
      ck_assert(s >= 0 && fabs(s * s + v[0] * v[0] + v[1] * v[1] + v[2] * v[2] - 1) < 1e-12);
      for (int k = 0; k < 3; k++) { /* p + 2 v x (v x p + s p) */
        const int l = (k + 1) % 3, m = (k + 2) % 3;
        const double tl = v[m] * p[k] - v[k] * p[m] + s * p[l], tm = v[k] * p[l] - v[l] * p[k] + s * p[m];
        ck_assert(fabs(r[k] + p[k] + 2 * (v[l] * tm - v[m] * tl) - pose[child][k]) < 1e-9);
      }
      checked++;
    }
    if (seed < 20) close_machine();
  }
  ck_assert_uint_ge(checked, 20);
}

/* What is drawn belongs to the shared model; moving the plant moves it, and every tree can be drawn. */
TEST(any_tree)
{
  for (unsigned seed = 1; seed <= 20; seed++) {
    static spatial_tree tree;
    spatial_tree_describe(&tree, 3 + seed % 8, seed);
    open_machine(&tree.machine);
    for (size_t i = 0; i < n; i++) {
      ck_assert(parts[i].kind >= BRAMAH_SKELETON_BODY && parts[i].kind <= BRAMAH_SKELETON_GROUND);
      ck_assert_ptr_nonnull(parts[i].name);
      for (int k = 0; k < 6; k++) ck_assert(isfinite(points[i][k / 3][k % 3]));
    }
    ck_assert_uint_ge(count(BRAMAH_SKELETON_GROUND), 1);
    if (seed < 20) close_machine();
  }
}

int main(void) { return run_tests_with("skeleton", NULL, close_machine); }
