/* SPDX-License-Identifier: MIT */
/* The manipulator of the datasets against an inverse dynamics that knows nothing of the library: Newton's and Euler's equations of
 * each body with positions from the triangles' closed formulae and derivatives by jets, on the commanded motion of the
 * publication, with the pillar turning, so that all elements of the inertia tensors count. Torques of drives in the joints,
 * forces of the cylinders, energies; then the order of the steps. The numbers are typed from the published files, not read
 * from ours. */
#include "bramah/coupled.h"
#include "bramah/study.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double pi = 3.14159265358979323846;
static bramah_diag diag;

/* ---- jets: a value with its rate and acceleration ---- */

typedef struct jet {
  double x, v, a;
} jet;

static jet constant(double x) { return (jet){x, 0.0, 0.0}; }
static jet plus(jet p, jet q) { return (jet){p.x + q.x, p.v + q.v, p.a + q.a}; }
static jet times(jet p, jet q)
{
  return (jet){p.x * q.x, p.v * q.x + p.x * q.v, p.a * q.x + 2 * p.v * q.v + p.x * q.a};
}
static jet scaled(double k, jet p) { return (jet){k * p.x, k * p.v, k * p.a}; }
static jet cosine(jet p) { return (jet){cos(p.x), -sin(p.x) * p.v, -cos(p.x) * p.v * p.v - sin(p.x) * p.a}; }
static jet sine(jet p) { return (jet){sin(p.x), cos(p.x) * p.v, -sin(p.x) * p.v * p.v + cos(p.x) * p.a}; }
static jet root(jet p)
{
  const double r = sqrt(p.x), v = p.v / (2 * r);
  return (jet){r, v, (p.a - 2 * v * v) / (2 * r)};
}
static jet angle_of(jet y, jet x)
{
  const double r2 = x.x * x.x + y.x * y.x, v = (x.x * y.v - y.x * x.v) / r2;
  return (jet){atan2(y.x, x.x), v, (x.x * y.a - y.x * x.a - 2 * v * (x.x * x.v + y.x * y.v)) / r2};
}

/* ---- the published machine ---- */

enum { Bc1, B31, B41, B11, Bc2, B32, B42, B12, P22, B52, P32, n_bodies };

/* Masses, centres and tensors (xx yy zz xy xz yz) of the parameter files; of the rods B41 and B42 the centre is that of their
 * drawing, of B52 centre and tensor are turned from z to x. */
static const struct {
  const char *name;
  double mass, centre[3], inertia[6];
} part[n_bodies] = {
    [Bc1] = {"column",
             307.29601379,
             {0.14178771, 0.16555780, 0},
             {5.892211080, 28.66965601, 29.78955950, 5.476111360, -0.000019630, -0.000024550}},
    [B31] = {"lift_barrel", 17.36281648, {0.35781210, 0, 0}, {0.03150902, 0.90735702, 0.90763033}},
    [B41] = {"lift_rod", 10.34519231, {0.329818, 0, 0}, {0.00370720, 0.55759812, 0.55785997}},
    [B11] = {"boom_rear",
             25.52660174,
             {0.23805608, 0.13201777, 0},
             {0.28426000, 0.54237481, 0.67891020, -0.06487287, 0, 0}},
    [Bc2] = {"boom_front",
             54.58702836,
             {0.54319901, 0.10543875, 0},
             {0.48071390, 5.80912352, 5.97255351, 0.52924041, 0, 0}},
    [B32] = {"tilt_barrel", 17.36281648, {0.35781210, 0, 0}, {0.03150902, 0.90735702, 0.90763033}},
    [B42] = {"tilt_rod", 10.34519231, {0.329818, 0, 0}, {0.00370720, 0.55759812, 0.55785997}},
    [B12] = {"arm",
             33.92850233,
             {0.60504569, 0.27199376, 0.00002484},
             {1.18803886, 6.31493281, 7.40915161, -2.36786418, 0.00280315, 0.00022322}},
    [P22] = {"telescope_barrel", 9.26136143, {0.62192523, 0, 0}, {0.00662754, 1.48387017, 1.48398069}},
    [B52] = {"telescope_rod", 6.73059863, {0.56802906, 0, 0}, {0.00091463, 0.91789884, 0.91790043}},
    [P32] = {"load",
             570.18877059,
             {0.25466704, -0.13034397, -0.01302248},
             {46.81220713, 71.92201786, 67.38128576, 0.38607676, -0.00453819, -1.14320993}}};

static const double L1 = 1.0071227324212, L11 = 0.37610632101293, L2 = 1.132185817991, L21 = 0.30901132665325,
                    alpha1 = 1.9515432018109, alpha2 = 0.24548563270531, gravity = 9.8066;

/* Where a body is: its x axis is turned by `turn` from the horizontal in the plane of the boom, y and z by `roll` about it. */
typedef struct place {
  jet turn, x, y;
  double z, roll;
} place;

/* A point (u, v, w) of a body's axes in the plane's. */
static void point_of(const place *at, double u, double v, double w, jet out[3])
{
  const jet c = cosine(at->turn), s = sine(at->turn);
  const double across = cos(at->roll) * v - sin(at->roll) * w;
  out[0] = plus(at->x, plus(scaled(u, c), scaled(-across, s)));
  out[1] = plus(at->y, plus(scaled(u, s), scaled(across, c)));
  out[2] = constant(at->z + sin(at->roll) * v + cos(at->roll) * w);
}

/* A body that is fixed to another at a point of its axes, turned further. */
static place behind(const place *at, double u, double v, double w, jet turn)
{
  jet p[3];
  point_of(at, u, v, w, p);
  return (place){plus(at->turn, turn), p[0], p[1], p[2].x, at->roll};
}

typedef struct motion {
  jet slew, boom, arm, telescope;
} motion;

/* As commanded; the slewing is added here. */
static jet wave(double mean, double amplitude, double frequency, double t)
{
  const double w = 2 * pi * frequency;
  return (jet){mean + amplitude * sin(w * t), amplitude * w * cos(w * t), -amplitude * w * w * sin(w * t)};
}

static const struct {
  const char *joint;
  double mean, amplitude, frequency;
} commanded[4] = {{"slew", 0.3, 0.5, 0.4},
                  {"boom", 45 * pi / 180, -25 * pi / 180, 0.5},
                  {"arm", -90 * pi / 180, 25 * pi / 180, 0.25},
                  {"telescope", 0.5, 0.4, 1.0}};

static motion commanded_at(double t)
{
  jet of[4];
  for (int i = 0; i < 4; i++)
    of[i] = wave(commanded[i].mean, commanded[i].amplitude, commanded[i].frequency, t);
  return (motion){of[0], of[1], of[2], of[3]};
}

/* A barrel at a foot and its rod, out to a pin; returns the length between the pins. */
static jet cylinder(const place *foot, const jet pin[3], place *barrel, place *rod)
{
  const jet dx = plus(pin[0], scaled(-1, foot->x)), dy = plus(pin[1], scaled(-1, foot->y));
  const jet length = root(plus(times(dx, dx), times(dy, dy))), turn = angle_of(dy, dx);
  *barrel = (place){turn, foot->x, foot->y, 0, 0};
  const jet face = plus(length, constant(-0.745));
  *rod =
      (place){turn, plus(foot->x, times(face, cosine(turn))), plus(foot->y, times(face, sine(turn))), 0, 0};
  return length;
}

/* All bodies; `length` between the pins of lift and tilt cylinder. */
static void place_bodies(const motion *m, place at[n_bodies], jet length[2])
{
  jet pin[3];
  const double beta1 = atan2(374.261, 935), beta2 = atan2(45.757, 373.313), beta3 = atan2(139.50, 1132.19),
               beta4 = atan2(88.061, 296.198);
  at[Bc1] = (place){constant(alpha1), constant(0.185), constant(-0.085), 0, 0};
  at[B11] = behind(&at[Bc1], L1, 0, 0, plus(m->boom, constant(-pi / 2 - beta1 - beta2)));
  at[Bc2] = behind(&at[B11], L11 + 0.098495302558553, 0.01838181329939, 0, constant(alpha2));
  at[B12] = behind(&at[Bc2], L2, 0, 0, plus(m->arm, constant(-beta3 - beta4)));
  at[P22] = behind(&at[B12], L21 - 0.048858374920227, 0.36587359346146, 0.035276938723102, constant(beta4));
  at[P22].roll = asin(0.23999977258511);
  at[B52] = at[P22];
  const jet out = plus(m->telescope, constant(0.041));
  at[B52].x = plus(at[P22].x, times(out, cosine(at[P22].turn)));
  at[B52].y = plus(at[P22].y, times(out, sine(at[P22].turn)));
  at[P32] = behind(&at[B52], 1.2, 0, 0, constant(0));
  point_of(&at[B11], L11, 0, 0, pin);
  length[0] = cylinder(&at[Bc1], pin, &at[B31], &at[B41]);
  point_of(&at[B12], L21, 0, 0, pin);
  length[1] = cylinder(&at[Bc2], pin, &at[B32], &at[B42]);
}

/* ---- Newton and Euler, in axes that turn with the pillar ---- */

typedef struct demand {
  double at[3];     /* of the centre of mass */
  double force[3];  /* m (a - g) */
  double moment[3]; /* d(I w)/dt about the centre */
  double kinetic;   /* energy [J] */
} demand;

static void cross(const double a[3], const double b[3], double out[3])
{
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

/* out = I w of body b, axes of the plane. */
static void momentum(int b, const place *at, const double w[3], double out[3])
{
  const double c = cos(at->turn.x), s = sin(at->turn.x), cr = cos(at->roll), sr = sin(at->roll);
  const double R[3][3] = {{c, -s * cr, s * sr}, {s, c * cr, -c * sr}, {0, sr, cr}}, *I = part[b].inertia;
  const double T[3][3] = {{I[0], I[3], I[4]}, {I[3], I[1], I[5]}, {I[4], I[5], I[2]}};
  double own[3] = {0}, turned[3] = {0};
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) own[i] += R[k][i] * w[k];
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) turned[i] += T[i][k] * own[k];
  for (int i = 0; i < 3; i++) {
    out[i] = 0.0;
    for (int k = 0; k < 3; k++) out[i] += R[i][k] * turned[k];
  }
}

static demand demand_of(int b, const place *at, jet slew)
{
  demand d = {{0}, {0}, {0}, 0};
  jet p[3];
  point_of(at, part[b].centre[0], part[b].centre[1], part[b].centre[2], p);
  const double r[3] = {p[0].x, p[1].x, p[2].x}, v[3] = {p[0].v, p[1].v, p[2].v};
  const double W[3] = {0, slew.v, 0}, dW[3] = {0, slew.a, 0};
  double coriolis[3], euler[3], spin[3], centrifugal[3], Iw[3], Ia[3], gyroscopic[3];
  cross(W, v, coriolis);
  cross(dW, r, euler);
  cross(W, r, spin);
  cross(W, spin, centrifugal);
  for (int i = 0; i < 3; i++) {
    const double a = p[i].a + 2 * coriolis[i] + euler[i] + centrifugal[i], speed = v[i] + spin[i];
    d.at[i] = r[i];
    d.force[i] = part[b].mass * (a + (i == 1 ? gravity : 0.0));
    d.kinetic += part[b].mass * speed * speed / 2;
  }
  /* The plane turns about y, the body in it about z, which the slewing turns towards x. */
  const double w[3] = {0, slew.v, at->turn.v}, dw[3] = {slew.v * at->turn.v, slew.a, at->turn.a};
  momentum(b, at, w, Iw);
  momentum(b, at, dw, Ia);
  cross(w, Iw, gyroscopic);
  for (int i = 0; i < 3; i++) {
    d.moment[i] = Ia[i] + gyroscopic[i];
    d.kinetic += w[i] * Iw[i] / 2;
  }
  return d;
}

/* Moment of the demands of bodies first to last about an axis (1: y, 2: z) through a point. */
static double moment_about(int axis, double x, double y, const demand *d, int first, int last)
{
  double sum = 0.0;
  for (int b = first; b <= last; b++) {
    const double arm[3] = {d[b].at[0] - x, d[b].at[1] - y, d[b].at[2]};
    double m[3];
    cross(arm, d[b].force, m);
    sum += m[axis] + d[b].moment[axis];
  }
  return sum;
}

typedef struct answer {
  double torque[4];   /* of drives in slew, boom, arm, telescope, cylinders without force */
  double cylinder[3]; /* forces of lift, tilt, extension without drives in the joints */
  double kinetic;
  jet length[2];
} answer;

/* Barrel and rod are pinned at both ends. The forces on the rod at the pin where the piston exerts none: across, by moments
 * about the foot, and along the rod, which its own mass needs. */
static void at_the_pin(const demand *d, int barrel, const place *at, double length, double *across,
                       double *along)
{
  const double c = cos(at[barrel].turn.x), s = sin(at[barrel].turn.x);
  *across = moment_about(2, at[barrel].x.x, at[barrel].y.x, d, barrel, barrel + 1) / length;
  *along = d[barrel + 1].force[0] * c + d[barrel + 1].force[1] * s;
}

static answer inverse_dynamics(const motion *m)
{
  place at[n_bodies];
  demand d[n_bodies];
  answer out = {0};
  static const int moved[2] = {B11, B12}, barrel[2] = {B31, B32};
  place_bodies(m, at, out.length);
  for (int b = 0; b < n_bodies; b++) {
    d[b] = demand_of(b, &at[b], m->slew);
    out.kinetic += d[b].kinetic;
  }
  out.torque[0] = moment_about(1, 0, 0, d, 0, n_bodies - 1);
  for (int k = 0; k < 2; k++) {
    jet pin[3];
    double across, along;
    const place *joint = &at[moved[k]], *own = &at[barrel[k]];
    const double c = cos(own->turn.x), s = sin(own->turn.x);
    const double need = moment_about(2, joint->x.x, joint->y.x, d, moved[k], n_bodies - 1);
    point_of(joint, k == 0 ? L11 : L21, 0, 0, pin);
    const double x = pin[0].x - joint->x.x, y = pin[1].x - joint->y.x, lever = x * s - y * c;
    at_the_pin(d, barrel[k], at, out.length[k].x, &across, &along);
    /* The rod takes from the pin `across` and, along it, `along` less the piston's force. */
    out.torque[1 + k] = need + across * (x * c + y * s) + along * lever;
    out.cylinder[k] = out.torque[1 + k] / lever;
  }
  const double c = cos(at[P22].turn.x), s = sin(at[P22].turn.x);
  out.torque[3] = out.cylinder[2] =
      (d[B52].force[0] + d[P32].force[0]) * c + (d[B52].force[1] + d[P32].force[1]) * s;
  return out;
}

/* ---- the library's machine ---- */

typedef struct rig {
  bramah_machine *loaded, machine;
  bramah_body bodies[16];
  bramah_joint joints[16];
  bramah_motion motions[4];
  const bramah_model *model;
  bramah_coupled *c;
  bramah_plant p;
} rig;

static void load(rig *r)
{
  char path[512];
  const char *source = getenv("BRAMAH_SOURCE_ROOT");
  *r = (rig){0};
  snprintf(path, sizeof path, "%s/datasets/manipulator/manipulator.yaml", source ? source : ".");
  must(bramah_machine_load(path, 0, NULL, &diag, &r->loaded), &diag);
  r->machine = *r->loaded;
}

static void open_plant(rig *r)
{
  must(bramah_model_new(&r->machine, &diag, &r->model), &diag);
  must(bramah_coupled_new(r->model, &diag, &r->c), &diag);
  r->p = bramah_coupled_plant(r->c);
}

static void close_rig(rig *r)
{
  bramah_coupled_free(r->c);
  bramah_model_free(r->model);
  bramah_machine_free(r->loaded);
}

/* The pillar on a ring that slews about the vertical through the origin, and a block that goes its own way, for a machine must
 * have some freedom where all its joints are driven. */
static void put_on_a_ring(rig *r, size_t n_driven, double t, int with_block)
{
  bramah_machine *m = &r->machine;
  memcpy(r->bodies, m->bodies, m->n_bodies * sizeof *m->bodies);
  memcpy(r->joints, m->joints, m->n_joints * sizeof *m->joints);
  for (size_t i = 0; i < m->n_joints; i++)
    if (strcmp(r->joints[i].name, "column") == 0) r->joints[i].parent = "ring";
  r->bodies[m->n_bodies++] = (bramah_body){.name = "ring"};
  r->joints[m->n_joints++] = (bramah_joint){
      .name = "slew", .type = BRAMAH_JOINT_REVOLUTE, .parent = "ground", .child = "ring", .axis = {0, 1, 0}};
  if (with_block) {
    r->bodies[m->n_bodies++] = (bramah_body){.name = "block", .mass = 1.0};
    r->joints[m->n_joints++] = (bramah_joint){.name = "block",
                                              .type = BRAMAH_JOINT_PRISMATIC,
                                              .parent = "ground",
                                              .child = "block",
                                              .axis = {1, 0, 0}};
  }
  for (size_t i = 0; i < n_driven; i++) {
    r->motions[i] = (bramah_motion){.name = commanded[i].joint,
                                    .joint = commanded[i].joint,
                                    .type = BRAMAH_MOTION_HARMONIC,
                                    .mean = commanded[i].mean,
                                    .amplitude = commanded[i].amplitude,
                                    .frequency = commanded[i].frequency,
                                    .phase = 2 * pi * commanded[i].frequency * t};
    for (size_t k = 0; k < m->n_joints; k++)
      if (strcmp(r->joints[k].name, commanded[i].joint) == 0) r->joints[k].initial = BRAMAH_INITIAL_GUESS;
  }
  m->bodies = r->bodies;
  m->joints = r->joints;
  m->motions = r->motions;
  m->n_motions = n_driven;
}

static double value_of(const rig *r, const char *name, const char *what)
{
  char whole[128];
  snprintf(whole, sizeof whole, "%s.%s", name, what);
  const long i = bramah_plant_find_output(&r->p, whole);
  ck_assert_msg(i >= 0, "no output %s", whole);
  return r->p.output(r->p.self, (size_t)i);
}

static void agree(const char *what, double t, double value, double expected, double scale)
{
  ck_assert_msg(fabs(value - expected) <= 1e-11 * scale, "%s at %g s: %.12g, Newton and Euler say %.12g",
                what, t, value, expected);
}

enum { n_times = 41 };
static double time_of(int k) { return 2.0 * k / (n_times - 1); }

/* Largest magnitude of each torque or force over the motion: what errors are relative to. */
static void scales(double torque[4], double cylinder[3])
{
  for (int k = 0; k < n_times; k++) {
    const motion m = commanded_at(time_of(k));
    const answer a = inverse_dynamics(&m);
    for (int i = 0; i < 4; i++) torque[i] = fmax(torque[i], fabs(a.torque[i]));
    for (int i = 0; i < 3; i++) cylinder[i] = fmax(cylinder[i], fabs(a.cylinder[i]));
  }
}

static void without_hydraulics(rig *r)
{
  const bramah_machine whole = r->machine;
  bramah_machine_default(&r->machine);
  memcpy(r->machine.gravity, whole.gravity, sizeof whole.gravity);
  r->machine.name = whole.name;
  r->machine.n_bodies = whole.n_bodies, r->machine.bodies = whole.bodies;
  r->machine.n_joints = whole.n_joints, r->machine.joints = whole.joints;
  r->machine.n_loops = whole.n_loops, r->machine.loops = whole.loops;
}

TEST(test_torques)
{
  double scale[4] = {0}, ignored[3] = {0};
  scales(scale, ignored);
  for (int k = 0; k < n_times; k++) {
    const double t = time_of(k);
    const motion m = commanded_at(t);
    const answer a = inverse_dynamics(&m);
    rig r;
    load(&r);
    without_hydraulics(&r);
    put_on_a_ring(&r, 4, t, 1);
    open_plant(&r);
    for (int i = 0; i < 4; i++)
      agree(commanded[i].joint, t, value_of(&r, commanded[i].joint, "force"), a.torque[i], scale[i]);
    agree("kinetic energy", t, value_of(&r, "energy", "kinetic"), a.kinetic, 1e3);
    close_rig(&r);
  }
}

static const char *const cylinders[3] = {"lift", "tilt", "extension"};

/* The plant on the commanded motion, as far as positions and rates go. */
static void start_at(rig *r, const motion *m)
{
  static const char *const names[3] = {"boom", "arm", "telescope"};
  const bramah_model_info info = bramah_model_get_info(r->model);
  const double positions[3] = {m->boom.x, m->arm.x, m->telescope.x},
               rates[3] = {m->boom.v, m->arm.v, m->telescope.v};
  size_t joints[3] = {0};
  for (size_t k = 0; k < info.n_joints; k++)
    for (int i = 0; i < 3; i++)
      if (strcmp(info.joint_names[k], names[i]) == 0) joints[i] = k;
  must(bramah_coupled_start(r->c, 3, joints, positions, rates, NULL, &diag), &diag);
}

/* Accelerations of boom, arm and telescope with a load on one cylinder besides its own force (3: on none). */
static void accelerations(rig *r, int loaded, double load, double out[3])
{
  for (int i = 0; i < 3; i++) {
    char name[64];
    snprintf(name, sizeof name, "%s.actuator_load", cylinders[i]);
    must(r->p.set_parameter(r->p.self, must_find_parameter(&r->p, name), i == loaded ? load : 0.0, &diag),
         &diag);
  }
  out[0] = value_of(r, "boom", "acceleration");
  out[1] = value_of(r, "arm", "acceleration");
  out[2] = value_of(r, "telescope", "acceleration");
}

static double determinant(double A[3][3])
{
  return A[0][0] * (A[1][1] * A[2][2] - A[1][2] * A[2][1]) -
         A[0][1] * (A[1][0] * A[2][2] - A[1][2] * A[2][0]) +
         A[0][2] * (A[1][0] * A[2][1] - A[1][1] * A[2][0]);
}

/* Accelerations are affine in the cylinders' forces: the forces with which they are those of the motion. */
static void forces_for(rig *r, const motion *m, double force[3])
{
  const double wanted[3] = {m->boom.a, m->arm.a, m->telescope.a}, unit = 1e5;
  double of_none[3], A[3][3];
  accelerations(r, 3, 0.0, of_none);
  for (int k = 0; k < 3; k++) {
    double of_one[3];
    accelerations(r, k, unit, of_one);
    for (int i = 0; i < 3; i++) A[i][k] = (of_one[i] - of_none[i]) / unit;
  }
  accelerations(r, 3, 0.0, of_none);
  const double whole = determinant(A);
  for (int k = 0; k < 3; k++) {
    double B[3][3];
    memcpy(B, A, sizeof B);
    for (int i = 0; i < 3; i++) B[i][k] = wanted[i] - of_none[i];
    force[k] = value_of(r, cylinders[k], "force") + determinant(B) / whole;
  }
}

/* The shipped machine with its hydraulics: from the pressures at the start and what must be added to the cylinders' forces. */
TEST(test_cylinder_forces)
{
  double ignored[4] = {0}, scale[3] = {0};
  scales(ignored, scale);
  for (int k = 0; k < n_times; k++) {
    const double t = time_of(k);
    const motion m = commanded_at(t);
    const answer a = inverse_dynamics(&m);
    double force[3];
    rig r;
    load(&r);
    put_on_a_ring(&r, 1, t, 0);
    open_plant(&r);
    start_at(&r, &m);
    forces_for(&r, &m, force);
    for (int i = 0; i < 3; i++) agree(cylinders[i], t, force[i], a.cylinder[i], scale[i]);
    for (int i = 0; i < 2; i++) {
      agree("length", t, value_of(&r, cylinders[i], "stroke"), a.length[i].x, 1.0);
      agree("velocity", t, value_of(&r, cylinders[i], "velocity"), a.length[i].v, 1.0);
      ck_assert_double_gt(a.length[i].x, 0.83);
      ck_assert_double_lt(a.length[i].x, 0.83 + 0.59);
    }
    close_rig(&r);
  }
}

/* ---- the steps ---- */

enum { n_watched = 5 };
static const char *const watched[n_watched][2] = {{"boom", "angle"},
                                                  {"arm", "angle"},
                                                  {"telescope", "position"},
                                                  {"lift_piston_side", "pressure"},
                                                  {"telescope_rod_side", "pressure"}};

/* Half a second with all valves open, from rest: what is watched at the end, and the largest error of the energy balance as a
 * part of the energy turned over. */
static double run_in_steps(int64_t step_ns, double end[n_watched])
{
  static const double u[3] = {-2.0, 1.5, 1.0};
  rig r;
  bramah_energy energy = {0};
  load(&r);
  r.machine.integrator.step_ns = step_ns;
  r.machine.integrator.position_tolerance = 1e-12;
  r.machine.integrator.pressure_tolerance = 1e-6;
  open_plant(&r);
  must(r.p.set_inputs(r.p.self, u, &diag), &diag);
  bramah_energy_add(&energy, r.c, 0);
  for (int64_t t = step_ns; t <= 500000000; t += step_ns) {
    must(r.p.step(r.p.self, &diag), &diag);
    bramah_energy_add(&energy, r.c, t);
  }
  for (int i = 0; i < n_watched; i++) end[i] = value_of(&r, watched[i][0], watched[i][1]);
  close_rig(&r);
  return energy.largest / energy.turnover;
}

TEST(test_second_order)
{
  double end[4][n_watched], energy[4];
  for (int k = 0; k < 4; k++) energy[k] = run_in_steps(2000000 >> k, end[k]);
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < n_watched; i++) {
      const double ratio = (end[k][i] - end[k + 1][i]) / (end[k + 1][i] - end[k + 2][i]);
      ck_assert_msg(fabs(ratio - 4) < 0.2, "%s: halving the step divides its error by %g", watched[i][0],
                    ratio);
    }
    ck_assert_msg(fabs(energy[k] / energy[k + 1] - 4) < 0.4, "the balance by %g", energy[k] / energy[k + 1]);
  }
  ck_assert_double_lt(energy[1], 1e-5);
}

int main(void) { return run_tests("manipulator"); }
