/* SPDX-License-Identifier: MIT */
/* Andrews' squeezing mechanism: seven bodies, three loops that meet in one point, a spring and a driving
 * torque; a benchmark of multibody codes (W. Schiehlen, Multibody Systems Handbook, 1990; problem and
 * solution at 0.03 s as in the test set for initial value problem solvers of F. Mazzia and C. Magherini). No
 * gravity. */
#include "bramah/coupled.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>

enum { N = 7 };

/* Lengths [m], names of the benchmark. */
static const double d = 28e-3, da = 115e-4, e = 2e-2, ea = 1421e-5, rr = 7e-3, ra = 92e-5, ss = 35e-3,
                    sa = 1874e-5, sb = 1043e-5, sc = 18e-3, sd = 2e-2, ta = 2308e-5, tb = 916e-5, u = 4e-2,
                    ua = 1228e-5, ub = 449e-5, zf = 2e-2, zt = 4e-2, fa = 1421e-5;
static const double xa = -0.06934, ya = -0.00227, xb = -0.03635, yb = 0.03273, xc = 0.014, yc = 0.072;
static const double mass[N] = {0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498};
static const double inertia[N] = {2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5};

/* Joints: beta, Theta, gamma, delta, Phi, epsilon, Omega; each body turns with its joint, the bodies 2, 4 and
 * 6 behind 1, 5 and 7. Angles at the start and at 0.03 s [rad]. */
static const char *const name[N] = {"beta", "Theta", "gamma", "delta", "Phi", "epsilon", "Omega"};
static const int body_of[N] = {0, 1, 2, 4, 3, 6, 5}; /* number of the benchmark's body, less one */
static const double start[N] = {-0.0617138900142764496, 0.0,
                                0.455279819163070380,   0.487364979543842550,
                                0.222668390165885884,   1.23054744454982119,
                                -0.222668390165885884};
static const double end[N] = {15.81077119629904,  -15.75637105984298,  0.04082224013073101,
                              0.5244099658805304, -0.5347301163226948, 1.048080741042263,
                              0.5347301163226948};

typedef struct squeezer {
  bramah_machine machine;
  bramah_body bodies[N];
  bramah_joint joints[N];
  bramah_loop loops[3];
  bramah_spring springs[1];
  bramah_force forces[1];
} squeezer;

static void describe_bodies(squeezer *s)
{
  const double centre[N][2] = {{ra, 0},  {-da, 0},     {sb, -sa}, {0, -(e - ea)},
                               {ta, tb}, {zf - fa, 0}, {-ub, -ua}};
  for (int j = 0; j < N; j++) {
    const int b = body_of[j];
    s->bodies[j] = (bramah_body){.name = name[j],
                                 .mass = mass[b],
                                 .centre_of_mass = {centre[b][0], centre[b][1], 0},
                                 .inertia = {inertia[b], inertia[b], inertia[b]}};
  }
}

static void describe_joints(squeezer *s)
{
  const char *const parent[N] = {"ground", "beta", "ground", "ground", "delta", "ground", "epsilon"};
  const double place[N][2] = {{0, 0}, {rr, 0}, {xb, yb}, {xa, ya}, {zt, 0}, {xa, ya}, {0, -u}};
  for (int j = 0; j < N; j++)
    s->joints[j] = (bramah_joint){.name = name[j],
                                  .type = BRAMAH_JOINT_REVOLUTE,
                                  .parent = parent[j],
                                  .child = name[j],
                                  .position = {place[j][0], place[j][1], 0},
                                  .axis = {0, 0, 1},
                                  .initial_position = start[j],
                                  .initial = j ? BRAMAH_INITIAL_GUESS : BRAMAH_INITIAL_GIVEN};
}

/* All three loops close in the point where bodies 2, 3, 4 and 6 meet. */
static void describe(squeezer *s, int64_t step_ns)
{
  static const char *const third[3] = {"gamma", "Phi", "Omega"};
  const double point[3][2] = {{0, -ss}, {0, -e}, {zf, 0}};
  *s = (squeezer){.springs = {{.name = "spring",
                               .body = {"ground", "gamma"},
                               .point = {{xc, yc, 0}, {sd, -sc, 0}},
                               .free_length = 0.07785,
                               .stiffness = 4530.0}},
                  .forces = {{.name = "drive", .body = "beta", .torque = {0, 0, 0.033}}}};
  describe_bodies(s);
  describe_joints(s);
  for (int k = 0; k < 3; k++)
    s->loops[k] = (bramah_loop){.name = third[k],
                                .type = BRAMAH_LOOP_REVOLUTE,
                                .body = {"Theta", third[k]},
                                .point = {{-d, 0, 0}, {point[k][0], point[k][1], 0}},
                                .axis = {{0, 0, 1}, {0, 0, 1}}};
  s->machine = (bramah_machine){.name = "squeezer",
                                .n_bodies = N,
                                .bodies = s->bodies,
                                .n_joints = N,
                                .joints = s->joints,
                                .n_loops = 3,
                                .loops = s->loops,
                                .n_springs = 1,
                                .springs = s->springs,
                                .n_forces = 1,
                                .forces = s->forces,
                                .integrator = {.step_ns = step_ns, .position_tolerance = 1e-10}};
}

static const char *const formulation_name[] = {"partitioning", "augmented Lagrangian", "penalty"};
static const double gap[] = {1e-11, 1e-10, 1e-6}; /* [m] how far the loops may gape */

/* Largest deviation of the angles at 0.03 s, relative to the way beta has gone. */
static double deviation(int64_t step_ns, bramah_formulation formulation, double *violation)
{
  static bramah_diag diag;
  squeezer s;
  const bramah_model *model;
  bramah_coupled *c;
  describe(&s, step_ns);
  s.machine.integrator.formulation = formulation;
  must(bramah_model_new(&s.machine, &diag, &model), &diag);
  must(bramah_coupled_new(model, &diag, &c), &diag);
  ck_assert_uint_eq(bramah_model_get_info(model).n_dof, 1);
  const bramah_plant p = bramah_coupled_plant(c);
  for (int64_t t = 0; t < 30000000; t += step_ns) {
    must(p.step(p.self, &diag), &diag);
    *violation = fmax(*violation, bramah_coupled_constraint_violation(c));
  }
  double largest = 0.0;
  for (int j = 0; j < N; j++) {
    char output[32];
    snprintf(output, sizeof output, "%s.angle", name[j]);
    largest = fmax(largest, fabs(p.output(p.self, must_find(&p, output)) - end[j]));
  }
  bramah_coupled_free(c);
  bramah_model_free(model);
  return largest;
}

EACH_TEST(test_published_angles, 0, 3)
{
  double violation = 0.0;
  const bramah_formulation formulation = (bramah_formulation)_i;
  const double coarse = deviation(4000, formulation, &violation),
               fine = deviation(2000, formulation, &violation);
  printf("%s: largest deviation at 0.03 s: %.3g rad with 4 us, %.3g rad with 2 us; loops to %.2g\n",
         formulation_name[_i], coarse, fine, violation);
  ck_assert_double_lt(fine, 1e-4); /* beta has turned by 15.9 rad */
  ck_assert_double_lt(coarse, 4e-5);
  if (formulation != BRAMAH_FORMULATION_PENALTY) /* whose own error is as large as that of the step */
    ck_assert_double_eq_tol(coarse / fine, 4.0, 0.3);
  ck_assert_double_lt(violation, gap[_i]);
}

int main(void) { return run_tests("squeezer"); }
