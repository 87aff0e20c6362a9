/* SPDX-License-Identifier: MIT */
/* Rolling: the benchmark bicycle of Meijaard, Papadopoulos, Ruina, Schwab (2007) as it is shipped, a disc
 * that rolls upright and a sleigh on a knife edge against formulas on paper. */
#include "bramah/linear.h"
#include "bramah/study.h"
#include "test/support/redundant_differences.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bramah_diag diag;
static const double g = 9.81;

typedef struct rig {
  const bramah_model *model;
  bramah_coupled *c;
  bramah_linearization *l;
  bramah_modes *modes;
} rig;

static void open_rig(rig *r, const bramah_machine *machine)
{
  must(bramah_model_new(machine, &diag, &r->model), &diag);
  must(bramah_coupled_new(r->model, &diag, &r->c), &diag);
  must(bramah_linearization_new(r->model, NULL, &diag, &r->l), &diag);
  must(bramah_linearization_run(r->l, r->c, &diag), &diag);
  must(bramah_modes_new(bramah_linearization_system(r->l), &diag, &r->modes), &diag);
}

static void close_rig(rig *r)
{
  bramah_modes_free(r->modes);
  bramah_linearization_free(r->l);
  bramah_coupled_free(r->c);
  bramah_model_free(r->model);
}

static double distance(const bramah_modes *modes, double re, double im)
{
  double least = (double)INFINITY;
  for (size_t k = 0; k < modes->n_modes; k++)
    least = fmin(least, hypot(modes->mode[k].re - re, modes->mode[k].im - fabs(im)));
  return least;
}

/* Eigenvalues that are not zero; a block of zeros comes out at about the square root of the rounding
 * error. */
static size_t count_others(const bramah_modes *modes)
{
  size_t n = 0;
  for (size_t k = 0; k < modes->n_modes; k++)
    n += hypot(modes->mode[k].re, modes->mode[k].im) > 1e-5 ? (modes->mode[k].pair ? 2u : 1u) : 0u;
  return n;
}

/* ---- bicycle ---- */

/* The shipped machine at another speed: joint rates of frame and wheels. */
static bramah_machine *load_bicycle(double speed, bramah_joint *joints)
{
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  char path[1024];
  bramah_machine *machine;
  snprintf(path, sizeof path, "%s/datasets/bicycle/bicycle.yaml", root ? root : ".");
  must(bramah_machine_load(path, 0, NULL, &diag, &machine), &diag);
  ck_assert_uint_eq(machine->n_joints, 4);
  for (size_t j = 0; j < 4; j++) {
    joints[j] = machine->joints[j];
    joints[j].initial_rates[0] *= speed / 5.0;
    joints[j].initial_rate *= speed / 5.0;
  }
  return machine;
}

static void open_bicycle(rig *r, double speed)
{
  bramah_joint joints[4];
  bramah_machine *machine = load_bicycle(speed, joints);
  const bramah_joint *shipped = machine->joints;
  machine->joints = joints;
  open_rig(r, machine);
  machine->joints = shipped;
  bramah_machine_free(machine);
}

/* The linearized equations of the paper, (5.3) and its coefficients: M q'' + v C1 q' + (g K0 + v^2 K2) q = 0
 * for lean and steer. */
static void published_equations(double v, double *A)
{
  static const double M[2][2] = {{80.81722, 2.31941332208709}, {2.31941332208709, 0.29784188199686}},
                      K0[2][2] = {{-80.95, -2.59951685249872}, {-2.59951685249872, -0.80329488458618}},
                      K2[2][2] = {{0, 76.59734589573222}, {0, 2.65431523794604}},
                      C1[2][2] = {{0, 33.86641391492494}, {-0.85035641456978, 1.68540397397560}};
  const double det = M[0][0] * M[1][1] - M[0][1] * M[1][0];
  const double I[2][2] = {{M[1][1] / det, -M[0][1] / det}, {-M[1][0] / det, M[0][0] / det}};
  memset(A, 0, 16 * sizeof *A);
  for (int i = 0; i < 2; i++) {
    A[4 * i + 2 + i] = 1.0;
    for (int j = 0; j < 2; j++)
      for (int k = 0; k < 2; k++) {
        A[4 * (2 + i) + j] -= I[i][k] * (g * K0[k][j] + v * v * K2[k][j]);
        A[4 * (2 + i) + 2 + j] -= I[i][k] * v * C1[k][j];
      }
  }
}

/* Table 2 of the paper at v = 5 m/s: weave, capsize, castering. */
TEST(test_benchmark)
{
  rig r;
  open_bicycle(&r, 5.0);
  const bramah_linear_system *s = bramah_linearization_system(r.l);
  ck_assert_uint_eq(s->n, 10); /* 9 coordinates, 2 heights, 4 rows without slip */
  ck_assert_uint_eq(s->n_position, 7);
  ck_assert_uint_eq(s->n_velocity, 3);
  const double weave = distance(r.modes, -0.77534188219585, 4.46486771378823),
               capsize = distance(r.modes, -0.32286642900409, 0.0),
               caster = distance(r.modes, -14.07838969279822, 0.0);
  printf("5 m/s: weave off by %.1e, capsize by %.1e, castering by %.1e\n", weave, capsize, caster);
  ck_assert_double_lt(weave, 1e-9);
  ck_assert_double_lt(capsize, 1e-9);
  ck_assert_double_lt(caster, 1e-9);
  ck_assert_uint_eq(count_others(r.modes), 4);
  ck_assert_uint_eq(r.modes->n_unstable, 0);
  close_rig(&r);
}

/* The conventional counterpart in all 9 coordinates tells the same four, and 14 zeros: two of the motion and
 * twice the number of constraints, 2 (m + l). */
TEST(test_counterpart)
{
  enum { N = 18 };
  rig r;
  double J[N * N];
  bramah_modes *modes;
  open_bicycle(&r, 5.0);
  ck_assert_uint_eq(redundant_order(bramah_linearization_system(r.l)), N);
  must(redundant_differences(r.l, r.c, 1e-5, J, &diag), &diag);
  const bramah_linear_system s = {.n = N, .A = J};
  must(bramah_modes_new(&s, &diag, &modes), &diag);
  size_t zeros = 0;
  for (size_t k = 0; k < modes->n_modes; k++)
    zeros += hypot(modes->mode[k].re, modes->mode[k].im) < 1e-2 ? (modes->mode[k].pair ? 2u : 1u) : 0u;
  ck_assert_uint_eq(zeros, 14);
  ck_assert_double_lt(distance(modes, -0.77534188219585, 4.46486771378823), 1e-5);
  ck_assert_double_lt(distance(modes, -0.32286642900409, 0.0), 1e-5);
  ck_assert_double_lt(distance(modes, -14.07838969279822, 0.0), 1e-5);
  bramah_modes_free(modes);
  close_rig(&r);
}

/* At other speeds against the equations of the paper; at rest against the two double eigenvalues it
 * prints. */
EACH_TEST(test_speeds, 0, 6)
{
  static const double speed[] = {0.0, 2.0, 4.0, 4.5, 5.5, 8.0};
  double A[16];
  rig r;
  bramah_modes *published;
  const double v = speed[_i];
  published_equations(v, A);
  const bramah_linear_system paper = {.n = 4, .A = A};
  must(bramah_modes_new(&paper, &diag, &published), &diag);
  open_bicycle(&r, v);
  double worst = 0.0;
  for (size_t k = 0; k < published->n_modes; k++)
    worst = fmax(worst, distance(r.modes, published->mode[k].re, published->mode[k].im));
  printf("%g m/s: off by %.1e; %zu eigenvalues grow\n", v, worst, r.modes->n_unstable);
  ck_assert_double_lt(worst, 1e-8);
  ck_assert_uint_eq(r.modes->n_unstable, published->n_unstable);
  if (v == 0.0) {
    ck_assert_double_lt(distance(r.modes, 3.13164324790656, 0.0), 1e-8);
    ck_assert_double_lt(distance(r.modes, 5.53094371765393, 0.0), 1e-8);
  }
  bramah_modes_free(published);
  close_rig(&r);
}

/* Self-stable between about 4.3 and 6.0 m/s, and nowhere else near (section 6 of the paper). */
EACH_TEST(test_stable_range, 0, 4)
{
  static const struct {
    double speed;
    int stable;
  } at[] = {{4.2, 0}, {4.4, 1}, {5.9, 1}, {6.1, 0}};
  rig r;
  open_bicycle(&r, at[_i].speed);
  double growth = -(double)INFINITY;
  for (size_t k = 0; k < r.modes->n_modes; k++)
    if (hypot(r.modes->mode[k].re, r.modes->mode[k].im) > 1e-5) growth = fmax(growth, r.modes->mode[k].re);
  ck_assert_int_eq(growth < 0.0, at[_i].stable);
  ck_assert_int_eq(r.modes->n_unstable == 0, at[_i].stable);
  close_rig(&r);
}

/* ---- disc ---- */

/* A disc of mass m, radius r and moments I about a diameter, J about its axis that rolls straight ahead with
 * W rad/s: its lean x obeys (I + m r^2) x'' + ((J + m r^2) J W^2 / I - m g r) x = 0. */
EACH_TEST(test_disc, 0, 4)
{
  static const double turning[] = {0.0, 2.0, 5.0, 12.0};
  const double m = 3.0, radius = 0.4, I = 0.25 * m * radius * radius, J = 2.0 * I, W = turning[_i];
  /* along x, y, z, then heading, lean, spin: so the coordinates of the steady motion that matter stand
   * still */
  static const char *const name[6] = {"x", "y", "z", "heading", "lean", "disc"};
  static const double axis[6][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 1}, {1, 0, 0}, {0, 1, 0}};
  const double position[6] = {0, 0, radius, 0.3, 0, 0};
  const double rate[6] = {W * radius * cos(0.3), W * radius * sin(0.3), 0, 0, 0, W};
  bramah_body bodies[6] = {0};
  bramah_joint joints[6] = {0};
  for (size_t i = 0; i < 6; i++) {
    bodies[i].name = joints[i].name = joints[i].child = name[i];
    joints[i].type = i < 3 ? BRAMAH_JOINT_PRISMATIC : BRAMAH_JOINT_REVOLUTE;
    joints[i].parent = i ? name[i - 1] : "ground";
    memcpy(joints[i].axis, axis[i], sizeof axis[i]);
    joints[i].initial = BRAMAH_INITIAL_GIVEN;
    joints[i].initial_position = position[i];
    joints[i].initial_rate = rate[i];
  }
  bodies[5].mass = m;
  bodies[5].inertia[0] = bodies[5].inertia[2] = I;
  bodies[5].inertia[1] = J;
  const bramah_wheel wheel = {.name = "rim", .body = "disc", .axis = {0, 1, 0}, .radius = radius};
  const bramah_machine machine = {.name = "disc",
                                  .gravity = {0, 0, -g},
                                  .n_bodies = 6,
                                  .bodies = bodies,
                                  .n_joints = 6,
                                  .joints = joints,
                                  .n_wheels = 1,
                                  .wheels = &wheel};
  rig r;
  open_rig(&r, &machine);
  ck_assert_uint_eq(r.modes->n, 8); /* 6 coordinates, one height, two rows without slip */
  const double square =
      -((J + m * radius * radius) * J * W * W / I - m * g * radius) / (I + m * radius * radius);
  const double re = square > 0.0 ? sqrt(square) : 0.0, im = square > 0.0 ? 0.0 : sqrt(-square);
  printf("disc at %g rad/s: %g %+gi, off by %.1e\n", W, re, im, distance(r.modes, re, im));
  ck_assert_double_lt(distance(r.modes, re, im), 1e-8 * (1.0 + re + im));
  if (re > 0.0) ck_assert_double_lt(distance(r.modes, -re, 0.0), 1e-8 * (1.0 + re));
  /* it stands by itself from sqrt(g / 3 r) on */
  ck_assert_int_eq(r.modes->n_unstable > 0, W < sqrt(g / (3.0 * radius)));
  ck_assert_uint_eq(count_others(r.modes), 2);
  close_rig(&r);
}

/* ---- sleigh ---- */

/* Chaplygin's sleigh: the centre of mass is a ahead of the edge; its turning dies out with m a v / (I + m
 * a^2), or grows when it goes backwards. */
EACH_TEST(test_sleigh, 0, 2)
{
  const double m = 2.0, I = 0.3, a = 0.25, v = _i ? -1.5 : 1.5;
  const bramah_body body = {.name = "sleigh", .mass = m, .centre_of_mass = {a, 0, 0}, .inertia = {I, I, I}};
  const bramah_joint joint = {.name = "sleigh",
                              .type = BRAMAH_JOINT_PLANAR,
                              .parent = "ground",
                              .child = "sleigh",
                              .axis = {0, 0, 1},
                              .second_axis = {1, 0, 0},
                              .initial = BRAMAH_INITIAL_GIVEN,
                              .initial_positions = {0, 0, 0.7},
                              .initial_rates = {v * cos(0.7), v * sin(0.7), 0}};
  const bramah_knife_edge edge = {.name = "blade", .body = "sleigh", .normal = {0, 1, 0}};
  const bramah_machine machine = {.name = "sleigh",
                                  .gravity = {0, 0, -g},
                                  .n_bodies = 1,
                                  .bodies = &body,
                                  .n_joints = 1,
                                  .joints = &joint,
                                  .n_knife_edges = 1,
                                  .knife_edges = &edge};
  rig r;
  open_rig(&r, &machine);
  ck_assert_uint_eq(r.modes->n, 5);
  const double rate = -m * a * v / (I + m * a * a);
  printf("sleigh: %g, off by %.1e\n", rate, distance(r.modes, rate, 0.0));
  ck_assert_double_lt(distance(r.modes, rate, 0.0), 1e-10);
  ck_assert_uint_eq(count_others(r.modes), 1);
  ck_assert_uint_eq(r.modes->n_unstable, _i ? 1 : 0);
  close_rig(&r);
}

/* ---- trailer ---- */

/* A tractor on two axles that goes straight, its trailer with one axle L behind the hitch: the angle between
 * them dies out with v / L ahead, and grows so when backing up. Kinematics alone; what has mass does not
 * matter. */
EACH_TEST(test_trailer, 0, 2)
{
  const double L = 3.2, v = _i ? -2.0 : 2.0;
  const bramah_body bodies[] = {
      {.name = "tractor", .mass = 4000, .centre_of_mass = {1, 0, 0}, .inertia = {2000, 5000, 5000}},
      {.name = "trailer", .mass = 9000, .centre_of_mass = {-2, 0.1, 0}, .inertia = {5000, 20000, 20000}}};
  const bramah_joint joints[] = {{.name = "tractor",
                                  .type = BRAMAH_JOINT_PLANAR,
                                  .parent = "ground",
                                  .child = "tractor",
                                  .axis = {0, 0, 1},
                                  .second_axis = {1, 0, 0},
                                  .initial = BRAMAH_INITIAL_GIVEN,
                                  .initial_rates = {v, 0, 0}},
                                 {.name = "hitch",
                                  .type = BRAMAH_JOINT_REVOLUTE,
                                  .parent = "tractor",
                                  .child = "trailer",
                                  .axis = {0, 0, 1},
                                  .initial = BRAMAH_INITIAL_GIVEN}};
  const bramah_knife_edge edges[] = {
      {.name = "rear", .body = "tractor", .normal = {0, 1, 0}},
      {.name = "front", .body = "tractor", .point = {2.8, 0, 0}, .normal = {0, 1, 0}},
      {.name = "axle", .body = "trailer", .point = {-L, 0, 0}, .normal = {0, 1, 0}}};
  const bramah_machine machine = {.name = "trailer",
                                  .gravity = {0, 0, -g},
                                  .n_bodies = 2,
                                  .bodies = bodies,
                                  .n_joints = 2,
                                  .joints = joints,
                                  .n_knife_edges = 3,
                                  .knife_edges = edges};
  rig r;
  open_rig(&r, &machine);
  ck_assert_uint_eq(r.modes->n, 5); /* four positions, the speed */
  ck_assert_double_lt(distance(r.modes, -v / L, 0.0), 1e-10);
  ck_assert_uint_eq(count_others(r.modes), 1);
  ck_assert_uint_eq(r.modes->n_unstable, _i ? 1 : 0);
  close_rig(&r);
}

/* ---- with pressures ---- */

/* Oil locked in a rotary actuator on the steering axis is a spring of D^2 (B/V_a + B/V_b) there. */
TEST(test_locked_steering)
{
  const double D = 2e-5, angle = 1.0, oil = 1.2e9, housing = 5e12;
  bramah_joint joints[4];
  bramah_machine *machine = load_bicycle(5.0, joints);
  rig locked, sprung;
  const bramah_volume volumes[] = {{.name = "a", .initial_pressure = 2e6},
                                   {.name = "b", .initial_pressure = 2e6}};
  const bramah_rotary rotary = {.name = "lock",
                                .joint = "steer",
                                .a_volume = "a",
                                .b_volume = "b",
                                .displacement = D,
                                .bulk_modulus = housing,
                                .a_angle = angle,
                                .b_angle = angle};
  bramah_machine with = *machine;
  with.oil_bulk_modulus = oil;
  with.n_volumes = 2;
  with.volumes = volumes;
  with.n_rotaries = 1;
  with.rotaries = &rotary;
  open_rig(&locked, &with);
  const double B = 1.0 / (1.0 / oil + 1.0 / housing), k = 2.0 * D * D * B / (D * angle);
  const bramah_joint_spring spring = {.name = "spring", .joint = "steer", .stiffness = k};
  with = *machine;
  with.n_joint_springs = 1;
  with.joint_springs = &spring;
  open_rig(&sprung, &with);
  ck_assert_uint_eq(locked.modes->n, sprung.modes->n + 2);
  ck_assert_uint_eq(count_others(locked.modes), 4);
  for (size_t i = 0; i < sprung.modes->n_modes; i++) {
    const bramah_mode *m = &sprung.modes->mode[i];
    const double size = hypot(m->re, m->im), off = distance(locked.modes, m->re, m->im);
    if (size < 1e-5) continue;
    printf("locked steering: %g %+gi, off by %.1e\n", m->re, m->im, off);
    ck_assert_double_lt(off, 1e-7 * size);
  }
  close_rig(&locked);
  close_rig(&sprung);
  bramah_machine_free(machine);
}

int main(void) { return run_tests("rolling benchmarks"); }
