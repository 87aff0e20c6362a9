/* SPDX-License-Identifier: MIT */
/* Compound joints move as the chains they stand for, to the bit; welded bodies as one body; a spherical joint
 * with a spring on one of its angles stops before its singular position. */
#include "bramah/coupled.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <string.h>

static bramah_diag diag;
static spatial_tree whole, chain;
static const double half_turn = 3.14159265358979323846;

typedef struct link {
  int slides;
  double axis[3];
  const char *name;
} link;

/* Each compound joint with the chain it must be. */
static const struct {
  bramah_joint_type type;
  size_t n;
  link links[6];
} kinds[] = {
    {BRAMAH_JOINT_CYLINDRICAL, 2, {{1, {0, 0, 1}, "b1_slide"}, {0, {0, 0, 1}, "b1_turn"}}},
    {BRAMAH_JOINT_UNIVERSAL, 2, {{0, {0, 0, 1}, "b1_first"}, {0, {0.6, 0.8, 0}, "b1_second"}}},
    {BRAMAH_JOINT_PLANAR,
     3,
     {{1, {0.6, 0.8, 0}, "b1_x"}, {1, {-0.8, 0.6, 0}, "b1_y"}, {0, {0, 0, 1}, "b1_turn"}}},
    {BRAMAH_JOINT_SPHERICAL,
     3,
     {{0, {0, 0, 1}, "b1_yaw"}, {0, {0, 1, 0}, "b1_pitch"}, {0, {1, 0, 0}, "b1_roll"}}},
    {BRAMAH_JOINT_FLOATING,
     6,
     {{1, {1, 0, 0}, "b1_x"},
      {1, {0, 1, 0}, "b1_y"},
      {1, {0, 0, 1}, "b1_z"},
      {0, {0, 0, 1}, "b1_yaw"},
      {0, {0, 1, 0}, "b1_pitch"},
      {0, {1, 0, 0}, "b1_roll"}}},
};
enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

static const double start[6] = {0.3, -0.4, 0.5, 0.2, -0.1, 0.3}, rate[6] = {0.7, 0.2, -0.6, 0.1, 0.3, -0.4};

/* Three bodies; the middle one hangs on the compound joint. */
static void describe_whole(int kind)
{
  spatial_tree_describe(&whole, 3, 17);
  bramah_joint *joint = &whole.joints[1];
  joint->type = kinds[kind].type;
  memcpy(joint->axis, (double[3]){0, 0, 1}, sizeof joint->axis);
  memcpy(joint->second_axis, (double[3]){3, 4, 0}, sizeof joint->second_axis);
  memcpy(joint->initial_positions, start, sizeof start);
  memcpy(joint->initial_rates, rate, sizeof rate);
}

static void describe_chain(int kind)
{
  const size_t n = kinds[kind].n;
  spatial_tree_describe(&chain, 3, 17);
  const bramah_body body = chain.bodies[1], last = chain.bodies[2];
  const bramah_joint joint = chain.joints[1], last_joint = chain.joints[2];
  for (size_t i = 0; i < n; i++) {
    const link *l = &kinds[kind].links[i];
    bramah_joint *out = &chain.joints[1 + i];
    chain.bodies[1 + i] = i + 1 < n ? (bramah_body){.name = l->name} : body;
    *out =
        (bramah_joint){.name = l->name, .type = l->slides ? BRAMAH_JOINT_PRISMATIC : BRAMAH_JOINT_REVOLUTE};
    out->parent = i ? kinds[kind].links[i - 1].name : joint.parent;
    out->child = i + 1 < n ? l->name : joint.child;
    if (i == 0) memcpy(out->position, joint.position, sizeof joint.position);
    if (i == 0) memcpy(out->rotation, joint.rotation, sizeof joint.rotation);
    memcpy(out->axis, l->axis, sizeof l->axis);
    out->initial_position = start[i];
    out->initial_rate = rate[i];
  }
  chain.bodies[1 + n] = last;
  chain.joints[1 + n] = last_joint;
  chain.machine.n_bodies = chain.machine.n_joints = 2 + n;
}

static double energy(const bramah_plant *p)
{
  return p->output(p->self, must_find(p, "energy.kinetic")) +
         p->output(p->self, must_find(p, "energy.potential"));
}

/* Joint positions and rates after 100 steps of both machines, and the drift of energy. */
static void same_motion(const bramah_machine *one, const bramah_machine *other, double tolerance)
{
  const bramah_model *m[2];
  bramah_coupled *c[2];
  bramah_plant p[2];
  const bramah_machine *machines[2] = {one, other};
  for (int i = 0; i < 2; i++) {
    must(bramah_model_new(machines[i], &diag, &m[i]), &diag);
    must(bramah_coupled_new(m[i], &diag, &c[i]), &diag);
    p[i] = bramah_coupled_plant(c[i]);
  }
  const size_t n = bramah_model_get_info(m[0]).n_joints;
  const double before = energy(&p[0]);
  ck_assert_uint_eq(n, bramah_model_get_info(m[1]).n_joints);
  for (int k = 0; k < 100; k++)
    for (int i = 0; i < 2; i++) must(p[i].step(p[i].self, &diag), &diag);
  for (size_t j = 0; j < n; j++) {
    ck_assert_str_eq(bramah_model_get_info(m[0]).joint_names[j], bramah_model_get_info(m[1]).joint_names[j]);
    for (size_t q = 0; q < 2; q++)
      ck_assert_double_eq_tol(p[0].output(p[0].self, 3 * j + q), p[1].output(p[1].self, 3 * j + q),
                              tolerance);
  }
  ck_assert_double_eq_tol(energy(&p[0]), before, 1e-3);
  for (int i = 0; i < 2; i++) {
    bramah_coupled_free(c[i]);
    bramah_model_free(m[i]);
  }
}

EACH_TEST(test_compound_joint_is_its_chain, 0, N_KINDS)
{
  describe_whole(_i);
  describe_chain(_i);
  same_motion(&whole.machine, &chain.machine, 1e-14);
}

/* Two bodies welded to the middle one, one behind the other, against the same with joints that carry all
 * their mass in the middle: the tree in front of and behind them moves alike. */
TEST(test_welds_are_one_body)
{
  spatial_tree_describe(&whole, 3, 17);
  spatial_tree_describe(&chain, 3, 17);
  bramah_body *body = &whole.bodies[1];
  /* A dumb-bell of equal point masses at +-d from c, written as two welded points and as one body. */
  const double c[3] = {0.2, -0.1, 0.4}, d[3] = {0.3, 0.1, -0.2};
  memset(body->inertia, 0, sizeof body->inertia);
  whole.bodies[3] = (bramah_body){.name = "mass", .mass = 1.5};
  whole.bodies[4] = (bramah_body){.name = "plate"}; /* nothing but an attachment point */
  body->mass = 1.5;
  for (int i = 0; i < 3; i++) body->centre_of_mass[i] = c[i] + d[i];
  whole.joints[3] =
      (bramah_joint){.name = "weld", .type = BRAMAH_JOINT_FIXED, .parent = "plate", .child = "mass"};
  whole.joints[4] = (bramah_joint){.name = "weld2",
                                   .type = BRAMAH_JOINT_FIXED,
                                   .parent = "b1",
                                   .child = "plate",
                                   .position = {0, 0, 1},
                                   .rotation = {0, -1, 0, 1, 0, 0, 0, 0, 1}};
  whole.joints[3].position[0] = c[1] - d[1]; /* the plate's x is b1's y */
  whole.joints[3].position[1] = -(c[0] - d[0]);
  whole.joints[3].position[2] = c[2] - d[2] - 1.0;
  whole.machine.n_bodies = whole.machine.n_joints = 5;
  /* the last body hangs on the plate, at the same place as before */
  bramah_joint *last = &whole.joints[2];
  const double at[3] = {last->position[0], last->position[1], last->position[2]};
  double R[9];
  memcpy(R, last->rotation, sizeof R);
  last->parent = "plate";
  last->position[0] = at[1], last->position[1] = -at[0], last->position[2] = at[2] - 1.0;
  for (int i = 0; i < 3; i++) {
    last->rotation[i] = R[3 + i];
    last->rotation[3 + i] = -R[i];
  }
  bramah_body *one = &chain.bodies[1];
  one->mass = 3.0;
  memcpy(one->centre_of_mass, c, sizeof c);
  const double dd = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
  for (int i = 0; i < 3; i++) one->inertia[i] = 3.0 * (dd - d[i] * d[i]);
  one->inertia[3] = -3.0 * d[0] * d[1];
  one->inertia[4] = -3.0 * d[0] * d[2];
  one->inertia[5] = -3.0 * d[1] * d[2];
  same_motion(&whole.machine, &chain.machine, 1e-11);
}

/* A spring on the pitch keeps it for a coordinate. */
static bramah_joint_spring spring;
static void hold_pitch(void)
{
  spring = (bramah_joint_spring){.name = "hold", .joint = "b1_pitch", .damping = 1e-3};
  whole.machine.joint_springs = &spring;
  whole.machine.n_joint_springs = 1;
}

static void refused(bramah_status expected, const char *thing, const char *part)
{
  const bramah_model *model = NULL;
  const bramah_status status = bramah_model_new(&whole.machine, &diag, &model);
  ck_assert_msg(status == expected, "expected %s, got %s (%s)", bramah_status_name(expected),
                bramah_status_name(status), diag.message);
  ck_assert_str_eq(diag.thing, thing);
  ck_assert_msg(strstr(diag.message, part) != NULL, "'%s' lacks '%s'", diag.message, part);
}

TEST(test_joints_that_are_wrong)
{
  describe_whole(1);
  whole.joints[1].second_axis[2] = 1.0;
  refused(BRAMAH_E_VALUE, "b1", "must be perpendicular");
  describe_whole(3);
  whole.joints[1].initial_positions[1] = -0.5 * half_turn;
  hold_pitch();
  refused(BRAMAH_E_SINGULAR, "b1_pitch", "singular pitch");
  describe_whole(0);
  whole.joints[2].name = "b1_slide";
  refused(BRAMAH_E_KEY, "b1_slide", "more than one joint");
  spatial_tree_describe(&whole, 3, 17);
  whole.joints[2].type = BRAMAH_JOINT_FIXED;
  whole.joints[2].parent = "b9";
  refused(BRAMAH_E_REFERENCE, "b2", "there is no body 'b9'");
  whole.joints[2].parent = "b2";
  refused(BRAMAH_E_TOPOLOGY, "b2", "round in a circle");
  spatial_tree_describe(&whole, 3, 17);
  whole.joints[2].type = BRAMAH_JOINT_FIXED;
  whole.bodies[2].mass = -1.0;
  refused(BRAMAH_E_VALUE, "b2", "mass");
  spatial_tree_describe(&whole, 1, 17);
  whole.joints[0].type = BRAMAH_JOINT_FIXED;
  refused(BRAMAH_E_TOPOLOGY, "joints", "no joint");
}

/* A body thrown so that its pitch goes through 90 deg. */
TEST(test_step_stops_before_the_singular_pitch)
{
  const bramah_model *m;
  bramah_coupled *c;
  static double before[512], after[512];
  describe_whole(3);
  memcpy(whole.joints[1].initial_positions, (double[3]){0, 1.4, 0}, 3 * sizeof(double));
  memcpy(whole.joints[1].initial_rates, (double[3]){0, 3.0, 0}, 3 * sizeof(double));
  hold_pitch();
  must(bramah_model_new(&whole.machine, &diag, &m), &diag);
  must(bramah_coupled_new(m, &diag, &c), &diag);
  const bramah_plant p = bramah_coupled_plant(c);
  bramah_status status = BRAMAH_OK;
  for (int k = 0; k < 1000 && status == BRAMAH_OK; k++) {
    p.save(p.self, before);
    status = p.step(p.self, &diag);
  }
  ck_assert_int_eq(status, BRAMAH_E_SINGULAR);
  ck_assert_str_eq(diag.thing, "b1_pitch");
  ck_assert(strstr(diag.message, "a spring or actuator acts on its angles") != NULL);
  p.save(p.self, after);
  ck_assert_mem_eq(before, after, p.snapshot_size);
  bramah_coupled_free(c);
  bramah_model_free(m);
}

int main(void) { return run_tests("compound joints"); }
