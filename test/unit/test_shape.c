/* SPDX-License-Identifier: MIT */
/* Shapes: the reference evaluations of boxes that touch or do not, hulls from their corners, where shapes touch, and the
 * derivatives of points on planes that move. */
#include "lib/math/dense.h"
#include "lib/math/vector3.h"
#include "lib/machine/model_internal.h"
#include "lib/multibody/rotation.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <string.h>

/* ---- shapes in tests ---- */

enum { ROOM = 40 };

typedef struct made {
  bramah__shape shape;
  double corner[3 * ROOM], normal[6 * ROOM], direction[9 * ROOM];
  int first[2 * ROOM + 1], of_face[6 * ROOM], edge[6 * ROOM];
} made;

static long make(made *m, int body, double radius, size_t n, const double *corner)
{
  m->shape = (bramah__shape){.body = body,
                             .radius = radius,
                             .n_corners = n,
                             .corner = m->corner,
                             .normal = m->normal,
                             .direction = m->direction,
                             .first = m->first,
                             .of_face = m->of_face,
                             .edge = m->edge};
  memcpy(m->corner, corner, 3 * n * sizeof *corner);
  return bramah__shape_build(&m->shape);
}

static void make_box(made *m, int body, const double *half)
{
  double corner[24];
  for (int c = 0; c < 8; c++)
    for (int a = 0; a < 3; a++) corner[3 * c + a] = c >> a & 1 ? half[a] : -half[a];
  ck_assert_int_eq(make(m, body, 0.0, 8, corner), -1);
}

static void put(bramah__pose *pose, double x, double y, double z, const double *quaternion)
{
  static const double straight[4] = {1, 0, 0, 0};
  memset(pose, 0, sizeof *pose);
  bramah__quaternion_matrix(quaternion ? quaternion : straight, pose->A);
  pose->r[0] = x, pose->r[1] = y, pose->r[2] = z;
}

/* ---- boxes ---- */

typedef struct box {
  double centre[3], quaternion[4], half[3];
} box;

/* Pairs by separate programs in plain arithmetic, confirmed by alternating projections: do they overlap, the largest gap along
 * the 15 axes, and which it is (3 of the first, 3 of the second, 9 across an edge of each). */
static const struct {
  box of[2];
  int overlap;
  double gap;
  int axis;
} pairs[] = {
    {{{{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}, {1.0, 1.0, 1.0}},
      {{2.5, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}, {1.0, 1.0, 1.0}}},
     0,
     0.5,
     0},
    {{{{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}, {1.0, 2.0, 3.0}},
      {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}, {0.1, 0.1, 0.1}}},
     1,
     -1.1,
     0},
    {{{{0.0, 0.0, 0.0}, {0.9238795325112867, 0.0, 0.0, 0.3826834323650898}, {1.0, 1.0, 1.0}},
      {{2.5, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}, {1.0, 1.0, 1.0}}},
     0,
     0.08578643762690508,
     3},
    {{{{0.0, 0.0, 0.0},
       {0.7779806636692546, -0.6149711238092249, -0.06380878634723139, -0.1117364874267065},
       {1.0222189909043722, 1.3281477560577977, 0.7332061735821802}},
      {{-1.6539869256622466, -1.1412588643230834, -1.4505897125476042},
       {0.12748863521914613, -0.5262884964286391, -0.7445116681103388, 0.390473356920037},
       {1.907090379392803, 0.7274395930898183, 0.2792118855494098}}},
     0,
     0.5668767240932778,
     9},
    {{{{0.0, 0.0, 0.0},
       {-0.947579837568446, 0.28004007710758305, -0.15384880910783025, 0.0007420130988302848},
       {0.45910836065370214, 0.618070821874945, 0.9311898769004592}},
      {{-0.7845064833897339, 0.2353172172456479, 0.9561977081075308},
       {-0.27067658269889733, 0.19662964114397743, -0.9400749246380434, -0.06580355513811215},
       {1.6090811075657552, 1.3797257385698345, 1.67057902908032}}},
     1,
     -1.6058261646326604,
     5},
    {{{{0.0, 0.0, 0.0},
       {0.3731950510732346, -0.20827959387575784, 0.5440141056742818, 0.7220759776206425},
       {0.26945198572407175, 1.036022433567806, 1.5144534143770194}},
      {{-0.2354787620957275, -2.765786108712536, -2.818032963256564},
       {0.2500352299207386, 0.7409487783147944, 0.5552305883419579, -0.2831894868842064},
       {0.3859237660606969, 0.5886637822139387, 0.9486984486773073}}},
     0,
     1.2816137636992662,
     5},
    {{{{0.0, 0.0, 0.0},
       {-0.044733053049697366, 0.15412501998164835, 0.8760461564503641, 0.4547390064081303},
       {0.7489418858801866, 1.0981716888757538, 1.1618562412253968}},
      {{-0.16681385595429177, 0.5368767429289214, 0.014652511486349606},
       {-0.2636560012126878, 0.016059846539810237, -0.6492082845552287, -0.7132714753994513},
       {1.5031582861274315, 0.7638789378450539, 1.032266109771343}}},
     1,
     -2.181604963847781,
     14},
    {{{{0.0, 0.0, 0.0},
       {0.48338897682733634, 0.07011783571997889, 0.5247678212063281, 0.6971637684376104},
       {1.4452916287890516, 0.6006408659542395, 1.1064895616469168}},
      {{2.072692601145752, 2.1244983467054404, 0.9768340510143663},
       {-0.5209360205355422, -0.6176635357944709, 0.5080614639454841, -0.2983135396056258},
       {1.3073495038052558, 1.6368493888337743, 1.1192550685015439}}},
     1,
     -0.0655019289702734,
     2},
    {{{{0.0, 0.0, 0.0},
       {0.7125752671446248, 0.6487071395037068, 0.03373106842845152, 0.26509951119034536},
       {0.9853016761195519, 0.5277512020038615, 0.36171423666803865}},
      {{-2.527151455725744, -2.804066706860306, -2.0964604696980453},
       {-0.3685782829396182, -0.7752873667316641, 0.07297985200943546, -0.5076942874725359},
       {1.5551575305893997, 0.4073384406254311, 1.7567750791124448}}},
     0,
     1.7263026174735332,
     11},
    {{{{0.0, 0.0, 0.0},
       {0.6651048369242, -0.02480454512256712, -0.4321291378434365, -0.6085102288934706},
       {1.9322253031988545, 0.5005538905259898, 0.3014542525785948}},
      {{-2.7446449457956943, -0.5992929501274764, 2.089497808359682},
       {-0.6287660691540393, 0.2155060366317375, 0.46506170696025845, 0.5847460877809005},
       {0.5017859006321929, 1.7913819938043334, 0.5510153651141917}}},
     0,
     1.1224622032716702,
     2},
    {{{{0.0, 0.0, 0.0},
       {-0.42897838424494683, -0.3546683185889467, 0.7220798128879707, 0.41083898726819656},
       {1.8627549608570637, 1.3104121497024914, 0.7359308725046256}},
      {{-1.1812609589359389, 2.746198551245458, -0.3346602952141593},
       {-0.02879574648582367, -0.1806174643482009, 0.3843675719123227, -0.9048810453418592},
       {0.66934844165455, 0.7525409293300036, 1.3702919422496997}}},
     1,
     -0.21557716949203476,
     7},
    {{{{0.0, 0.0, 0.0},
       {0.7878344533753872, -0.14526818672750388, -0.502879373544283, 0.3245402342750702},
       {1.5375423591513504, 1.6970302394109864, 1.9441659688898485}},
      {{1.9971432743804964, 1.5869000409949443, -1.0959284764617039},
       {0.25525878965636195, 0.4627634738167948, -0.21500654534571428, 0.8212582438324032},
       {0.4831195889353208, 0.5647704455959548, 1.5156824703690823}}},
     1,
     -0.4703517596179835,
     8},
};
enum { PAIRS = sizeof pairs / sizeof pairs[0] };

static void expected_axis(int i, double *out)
{
  double R[2][9], u[3], v[3];
  const int axis = pairs[i].axis;
  for (int e = 0; e < 2; e++) bramah__quaternion_matrix(pairs[i].of[e].quaternion, R[e]);
  for (int k = 0; k < 3; k++) {
    u[k] = R[0][3 * k + (axis < 3 ? axis : axis < 6 ? 0 : (axis - 6) / 3)];
    v[k] = R[1][3 * k + (axis < 3 ? 0 : axis < 6 ? axis - 3 : (axis - 6) % 3)];
  }
  if (axis < 6) {
    bramah__copy3(axis < 3 ? u : v, out);
    return;
  }
  bramah__cross3(u, v, out);
  const double length = sqrt(bramah__dot3(out, out));
  for (int k = 0; k < 3; k++) out[k] /= length;
}

EACH_TEST(test_boxes, 0, PAIRS)
{
  made of[2];
  bramah__pose pose[2];
  bramah__patch patch;
  double axis[3], expected[3];
  for (int e = 0; e < 2; e++) {
    const box *b = &pairs[_i].of[e];
    make_box(&of[e], e, b->half);
    put(&pose[e], b->centre[0], b->centre[1], b->centre[2], b->quaternion);
  }
  for (int swapped = 0; swapped < 2; swapped++) {
    const double gap = bramah__shapes_gap(&of[swapped].shape, &of[1 - swapped].shape, pose, axis);
    ck_assert_double_eq_tol(gap, pairs[_i].gap, 1e-12 * (1.0 + fabs(gap)));
    ck_assert_int_eq(gap <= 0.0, pairs[_i].overlap);
    expected_axis(_i, expected);
    if (!swapped) ck_assert_double_eq_tol(fabs(bramah__dot3(axis, expected)), 1.0, 1e-9);
    bramah__shapes_touch(&of[swapped].shape, &of[1 - swapped].shape, pose, -1, 0.0, &patch);
    ck_assert_int_eq(patch.n > 0, pairs[_i].overlap);
  }
}

/* The patch of one box on another: corners of the smaller, of both where they cross, eight where it is turned by 45 degrees;
 * shares add up to 1 and are alike in a square. */
EACH_TEST(test_patches, 0, 6)
{
  static const struct {
    double half, x, yaw;
    size_t n;
    double girth;
  } cases[] = {{0.2, 0.0, 0.0, 4, 1.6},  {0.2, 0.9, 0.0, 4, 1.4},
               {0.5, 0.0, 45.0, 4, 4.0}, {1.0, 0.0, 45.0, 8, 6.6274169979695215},
               {1.0, 1.5, 0.0, 4, 5.0},  {0.2, 0.0, 30.0, 4, 1.6}};
  made of[2];
  bramah__pose pose[2];
  bramah__patch patch;
  const double below[3] = {1.0, 1.0, 0.5}, above[3] = {cases[_i].half, cases[_i].half, 0.5},
               angle = cases[_i].yaw * 0.017453292519943295 / 2.0, q[4] = {cos(angle), 0, 0, sin(angle)};
  double sum = 0.0, girth = 0.0;
  make_box(&of[0], 0, below);
  make_box(&of[1], 1, above);
  put(&pose[0], 0, 0, 0, NULL);
  put(&pose[1], cases[_i].x, 0, 0.999, q);
  bramah__shapes_touch(&of[0].shape, &of[1].shape, pose, -1, 0.0, &patch);
  ck_assert_uint_eq(patch.n, cases[_i].n);
  ck_assert_int_eq(patch.turns, 0);
  for (size_t i = 0; i < patch.n; i++) {
    double d[3];
    sum += patch.share[i];
    bramah__sub3(patch.point[i], patch.point[(i + 1) % patch.n], d);
    girth += sqrt(bramah__dot3(d, d));
    ck_assert_double_eq_tol(patch.point[i][2], patch.owner ? 0.5 : 0.499, 1e-12);
    if (cases[_i].half < 0.6 && cases[_i].x == 0.0) ck_assert_double_eq_tol(patch.share[i], 0.25, 1e-12);
  }
  ck_assert_double_eq_tol(sum, 1.0, 1e-12);
  ck_assert_double_eq_tol(girth, cases[_i].girth, 1e-9);
}

/* ---- hulls ---- */

TEST(test_hulls)
{
  static const double wedge[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 0, 1, 1},
                      inside[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0.1, 0.1, 0.1},
                      on_edge[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0.5, 0.5, 0},
                      on_face[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0.25, 0.25, 0},
                      plane[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0};
  made m;
  ck_assert_int_eq(make(&m, -1, 0.0, 6, wedge), -1);
  ck_assert_uint_eq(m.shape.n_faces, 5);
  ck_assert_uint_eq(m.shape.n_edges, 9);
  ck_assert_uint_eq(m.shape.n_directions, 4);
  for (size_t f = 0; f < 5; f++) { /* counterclockwise from outside */
    const int *c = m.of_face + m.first[f];
    double u[3], v[3], n[3];
    bramah__sub3(m.corner + 3 * c[1], m.corner + 3 * c[0], u);
    bramah__sub3(m.corner + 3 * c[2], m.corner + 3 * c[1], v);
    bramah__cross3(u, v, n);
    ck_assert_double_gt(bramah__dot3(n, m.normal + 3 * f), 0.1);
    bramah__sub3(m.corner + 3 * c[0], m.shape.middle, u);
    ck_assert_double_gt(bramah__dot3(u, m.normal + 3 * f), 0.1);
  }
  ck_assert_int_eq(make(&m, -1, 0.0, 5, inside), 4);
  ck_assert_int_eq(make(&m, -1, 0.0, 5, on_edge), 4);
  ck_assert_int_eq(make(&m, -1, 0.0, 5, on_face), 4);
  ck_assert_int_eq(make(&m, -1, 0.0, 4, plane), -2);

  /* a ball of many corners: Euler's formula, and all faces triangles */
  double ball[3 * BRAMAH__MOST_CORNERS];
  for (int i = 0; i < BRAMAH__MOST_CORNERS; i++) {
    const double z = 1.0 - (2.0 * i + 1.0) / BRAMAH__MOST_CORNERS, r = sqrt(1.0 - z * z);
    ball[3 * i] = r * cos(2.39996 * i), ball[3 * i + 1] = r * sin(2.39996 * i), ball[3 * i + 2] = z;
  }
  ck_assert_int_eq(make(&m, -1, 0.0, BRAMAH__MOST_CORNERS, ball), -1);
  ck_assert_uint_eq(m.shape.n_faces, 2 * BRAMAH__MOST_CORNERS - 4);
  ck_assert_uint_eq(m.shape.n_edges, 3 * BRAMAH__MOST_CORNERS - 6);
}

/* ---- round shapes ---- */

/* Gap of the deepest point of a patch. */
static double gap_of(const bramah__patch *patch, double radius)
{
  double least = INFINITY;
  for (size_t i = 0; i < patch->n; i++) {
    double d[3];
    bramah__sub3(patch->point[i], patch->origin, d);
    least = fmin(least, bramah__dot3(d, patch->normal) - radius);
  }
  return least;
}

/* A sphere or capsule near a box, above a face, an edge, a corner, and with its middle inside. */
EACH_TEST(test_round_on_box, 0, 9)
{
  static const struct {
    double at[2][3], radius, gap;
    size_t n;
    int turns;
  } cases[] = {
      {{{0, 0, 1.3}, {0, 0, 1.3}}, 0.25, 0.05, 1, 0},
      {{{1.3, 0, 1.4}, {1.3, 0, 1.4}}, 0.25, 0.25, 1, 1},
      {{{1.2, 1.1, 1.2}, {1.2, 1.1, 1.2}}, 0.25, 0.05, 1, 1},
      {{{0.2, 0, 0.9}, {0.2, 0, 0.9}}, 0.25, -0.35, 1, 0},
      {{{-0.5, 0, 1.2}, {0.5, 0, 1.2}}, 0.25, -0.05, 2, 0},
      {{{-3, 0, 1.2}, {3, 0, 1.2}}, 0.25, -0.05, 2, 0},
      {{{1.1, -3, 1.1}, {1.1, 3, 1.1}}, 0.25, 0.14142135623730964 - 0.25, 1, 1},
      {{{0, 0, 1.2}, {0, 0, 3}}, 0.25, -0.05, 2, 0},
      {{{2, -1, 0.5}, {-0.5, 1.5, 0.5}}, 0.1, -0.3535533905932738 - 0.1, 2, 0},
  };
  made flat, round;
  bramah__pose pose[2];
  bramah__patch patch;
  const double half[3] = {1, 1, 1};
  make_box(&flat, 0, half);
  const int is_sphere = memcmp(cases[_i].at[0], cases[_i].at[1], sizeof cases[_i].at[0]) == 0;
  ck_assert_int_eq(make(&round, 1, cases[_i].radius, is_sphere ? 1 : 2, cases[_i].at[0]), -1);
  put(&pose[0], 0, 0, 0, NULL);
  put(&pose[1], 0, 0, 0, NULL);
  for (int swapped = 0; swapped < 2; swapped++) {
    const bramah__shape *of[2] = {&flat.shape, &round.shape};
    bramah__shapes_touch(of[swapped], of[1 - swapped], pose, -1, 1.0, &patch);
    ck_assert_uint_eq(patch.n, cases[_i].n);
    ck_assert_int_eq(patch.owner, swapped);
    ck_assert_int_eq(patch.turns, cases[_i].turns);
    if (_i < 8) ck_assert_double_eq_tol(gap_of(&patch, cases[_i].radius), cases[_i].gap, 1e-12);
    ck_assert_double_eq_tol(bramah__dot3(patch.normal, patch.normal), 1.0, 1e-12);
  }
}

EACH_TEST(test_capsules, 0, 4)
{
  static const struct {
    double one[2][3], other[2][3], gap;
    size_t n;
  } cases[] = {
      {{{-1, 0, 0}, {1, 0, 0}}, {{0, -1, 1}, {0, 1, 1}}, 0.7, 1},
      {{{-1, 0, 0}, {1, 0, 0}}, {{0, 0, 0.2}, {3, 0, 0.2}}, -0.1, 2},
      {{{-1, 0, 0}, {1, 0, 0}}, {{2, 0, 0}, {3, 0, 0}}, 0.7, 1},
      {{{-1, 0, 0}, {1, 0, 0}}, {{0, 0, 0}, {0, 1, 0}}, -0.3, 1}, /* through each other */
  };
  made of[2];
  bramah__pose pose[2];
  bramah__patch patch;
  ck_assert_int_eq(make(&of[0], 0, 0.1, 2, cases[_i].one[0]), -1);
  ck_assert_int_eq(make(&of[1], 1, 0.2, 2, cases[_i].other[0]), -1);
  put(&pose[0], 0, 0, 0, NULL);
  put(&pose[1], 0, 0, 0, NULL);
  bramah__shapes_touch(&of[0].shape, &of[1].shape, pose, -1, 2.0, &patch);
  ck_assert_uint_eq(patch.n, cases[_i].n);
  ck_assert_double_eq_tol(gap_of(&patch, 0.1), cases[_i].gap, 1e-12);
}

/* ---- derivatives ---- */

enum { N = 11 };
static bramah_diag diag;

typedef struct state {
  double z[N], zd[N];
} state;

static const double x_k[2] = {2e-4, -1e-4}, xd_k[2] = {0.01, 0.02}, half = 5e-4;

/* Joint forces of a contact, and bristles at the end of a step. */
static void forces(const bramah__tree *tree, const bramah__contact *contact, const state *s,
                   bramah__pose *pose, double *Z, double *force, double *xd, double *tau)
{
  double x[2], gear[BRAMAH__MOST_SHAFT_JOINTS];
  bramah__tree_pose(tree, NULL, s->z, pose);
  bramah__tree_velocity(tree, pose, s->zd, Z);
  bramah__contact_forces(1, contact, pose, Z, NULL, half, x_k, xd_k, x, xd, force, gear);
  memset(tau, 0, N * sizeof *tau);
  bramah__contacts_subtract(tree, 1, contact, pose, force, gear, tau);
}

/* Points and balls of bodies on planes of others, which share ancestors, are each other's, or are the ground. */
EACH_TEST(test_derivatives, 0, 7)
{
  static const int bodies[][2] = {{7, 4}, {4, 7}, {10, 2}, {2, 10}, {9, -1}, {-1, 6}, {N - 1, 0}};
  static const double radii[] = {0.0, 0.3};
  const double step = 1e-6;
  spatial_tree t;
  const bramah_model *model;
  spatial_tree_describe(&t, N, 5u + (unsigned)_i);
  must(bramah_model_new(&t.machine, &diag, &model), &diag);
  const bramah__tree *tree = &model->tree;
  unsigned seed = 3u + (unsigned)_i;
  for (int r = 0; r < 2; r++) {
    state s;
    for (int j = 0; j < N; j++) s.z[j] = test_uniform(&seed), s.zd[j] = test_uniform(&seed);
    bramah__contact contact = {.body = bodies[_i][0],
                               .carrier = 1 + bodies[_i][1],
                               .radius = radii[r],
                               .hertz = 1e4,
                               .loss = 0.1,
                               .n_states = 2,
                               .friction = 1.0,
                               .coulomb = 0.5,
                               .static_friction = 0.7,
                               .stribeck = 0.3,
                               .exponent = 2.0,
                               .bristles = 300.0,
                               .damping = 1.0};
    double n[3] = {test_uniform(&seed), test_uniform(&seed), 1.5}, place[3], local[3], d[3];
    const double length = sqrt(bramah__dot3(n, n));
    for (int k = 0; k < 3; k++) n[k] /= length, contact.point[k] = test_uniform(&seed);
    bramah__plane_axes(n, contact.axes);

    /* 0.2 deep in it */
    bramah__pose pose[N];
    double Z[6 * N], force[3], xd[2], tau[N], K[N * N] = {0}, C[N * N] = {0};
    bramah__tree_pose(tree, NULL, s.z, pose);
    bramah__pair_place(&contact, pose, place);
    bramah__copy3(place, local);
    if (contact.carrier > 0) {
      bramah__sub3(place, pose[contact.carrier - 1].r, d);
      bramah__unrotate3(pose[contact.carrier - 1].A, d, local);
    }
    bramah__axpy3(0.2, n, local);
    bramah__copy3(local, contact.origin);
    forces(tree, &contact, &s, pose, Z, force, xd, tau);
    ck_assert_double_gt(bramah__dot3(force, force), 1e3);

    bramah__contact_slope slope;
    double rows[BRAMAH__CONTACT_ROWS * N] = {0};
    bramah__contact_slopes(1, &contact, pose, Z, NULL, half, x_k, xd_k, &slope);
    bramah__contacts_add_tangent(tree, 1, &contact, pose, Z, force, NULL, &slope, rows, K, C);
    for (int by_rate = 0; by_rate < 2; by_rate++)
      for (int k = 0; k < N; k++) {
        double side[2][N], rate[2][2];
        for (int e = 0; e < 2; e++) {
          state moved = s;
          (by_rate ? moved.zd : moved.z)[k] += e ? step : -step;
          forces(tree, &contact, &moved, pose, Z, force, rate[e], side[e]);
        }
        for (int j = 0; j < N; j++)
          ck_assert_double_eq_tol((by_rate ? C : K)[j * N + k], (side[1][j] - side[0][j]) / (2.0 * step),
                                  2e-4);
        for (int a = 0; a < 2; a++) { /* the bristles see it through w alone */
          const double *w = rows + (by_rate ? 0 : 4 * N) + k;
          const double by = slope.rate_by_velocity[2 * a] * w[0] + slope.rate_by_velocity[2 * a + 1] * w[N];
          ck_assert_double_eq_tol(by, (rate[1][a] - rate[0][a]) / (2.0 * step), 1e-6);
        }
      }
  }
  bramah_model_free(model);
}

/* Opposite and equal: no net force and moment on the two bodies together, whatever they do. Both float. */
TEST(test_momentum)
{
  bramah__contact contact = {
      .body = 11, .carrier = 6, .radius = 0.2, .hertz = 1e4, .loss = 0.3, .point = {0.1, 0.2, 0.3}};
  const bramah_body bodies[2] = {{.name = "a", .mass = 2, .inertia = {1, 2, 3}},
                                 {.name = "b", .mass = 1, .inertia = {1, 1, 1}}};
  const bramah_joint joints[2] = {
      {.name = "fa", .type = BRAMAH_JOINT_FLOATING, .parent = "ground", .child = "a"},
      {.name = "fb", .type = BRAMAH_JOINT_FLOATING, .parent = "ground", .child = "b"}};
  bramah_machine machine;
  const bramah_model *model;
  bramah_machine_default(&machine);
  machine.name = "two";
  machine.n_bodies = machine.n_joints = 2;
  machine.bodies = bodies, machine.joints = joints;
  must(bramah_model_new(&machine, &diag, &model), &diag);
  unsigned seed = 17;
  bramah__pose pose[12];
  double z[12], zd[12], Z[72], force[3], xd[2], tau[12] = {0}, gear[BRAMAH__MOST_SHAFT_JOINTS];
  for (int j = 0; j < 12; j++) z[j] = 0.5 * test_uniform(&seed), zd[j] = test_uniform(&seed);
  const double n[3] = {0.6, 0, 0.8};
  bramah__plane_axes(n, contact.axes);
  bramah__copy3(n, contact.origin);
  for (int k = 0; k < 3; k++) contact.origin[k] *= 3.0;
  bramah__tree_pose(&model->tree, NULL, z, pose);
  bramah__tree_velocity(&model->tree, pose, zd, Z);
  bramah__contact_forces(1, &contact, pose, Z, NULL, 0.0, NULL, NULL, NULL, xd, force, gear);
  bramah__contacts_subtract(&model->tree, 1, &contact, pose, force, gear, tau);
  ck_assert_double_gt(bramah__dot3(force, force), 1.0);
  double moment[2][3] = {{0}};
  for (int b = 0; b < 2; b++) {
    const double *A[3] = {pose[6 * b + 3].n, pose[6 * b + 4].n, pose[6 * b + 5].n}, *f = tau + 6 * b;
    double T[9], m[3]; /* moment about the body's origin: n_k . m = tau_k */
    for (int k = 0; k < 3; k++) memcpy(T + 3 * k, A[k], 3 * sizeof *T);
    int pivot[3];
    ck_assert_uint_eq(bramah__lu_factor(3, T, pivot), 0);
    memcpy(m, f + 3, sizeof m);
    bramah__lu_solve(3, T, pivot, m);
    bramah__copy3(m, moment[b]);
    bramah__add_cross3(pose[6 * b + 5].r, f, moment[b]);
  }
  for (int k = 0; k < 3; k++) {
    ck_assert_double_eq_tol(tau[k] + tau[6 + k], 0.0, 1e-9);
    ck_assert_double_eq_tol(moment[0][k] + moment[1][k], 0.0, 1e-8);
  }
  bramah_model_free(model);
}

int main(void) { return run_tests("shape"); }
