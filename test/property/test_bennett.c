/* SPDX-License-Identifier: MIT */
/* Bennett's linkage (1903), the only spatial loop of four revolute joints that moves: opposite links are alike, neighbouring
 * axes are at the distances a, b with the twists alpha, beta, and sin(alpha) / a = sin(beta) / b. Counting says that
 * it lacks two degrees of freedom; it has one, and its angles t1, t2, t3 obey tan(t1/2) tan(t2/2) =
 * sin((beta + alpha)/2) / sin((beta - alpha)/2) and t3 = -t1. */
#include "test/support/four_bar.h"
#include "test/support/run.h"
#include "test/support/running.h"

#include <math.h>

enum { LINKS = 3 }; /* the fourth is the ground */
static const double a = 1.0, b = 0.6, alpha = 1.2;
static bramah_diag diag;

typedef struct bennett {
  bramah_machine machine;
  bramah_body bodies[LINKS];
  bramah_joint joints[LINKS];
  bramah_loop loops[1];
} bennett;

static double twist(void) { return asin(b / a * sin(alpha)); }

/* The second angle by the first. */
static double second(double t1)
{
  const double beta = twist();
  return 2.0 * atan(sin(0.5 * (beta + alpha)) / sin(0.5 * (beta - alpha)) / tan(0.5 * t1));
}

/* Frames by Denavit and Hartenberg: joint k turns about z, the next one lies at its length along x, twisted about x. */
static void describe(bennett *out, double t1, double error, int64_t step_ns, bramah_formulation formulation)
{
  static const char *const name[LINKS] = {"first", "second", "third"};
  const double length[LINKS] = {b, a, b}, angle[LINKS] = {twist(), alpha, twist()},
               start[LINKS] = {t1, second(t1), -t1};
  *out = (bennett){.loops = {{.name = "fourth",
                              .type = BRAMAH_LOOP_REVOLUTE,
                              .body = {"third", "ground"},
                              .point = {{a, 0, 0}},
                              .axis = {{0, -sin(alpha + error), cos(alpha + error)}, {0, 0, 1}}}}};
  for (int i = 0; i < LINKS; i++) {
    const double c = cos(angle[i]), s = sin(angle[i]), own = i == 1 ? b : a;
    out->bodies[i] = (bramah_body){
        .name = name[i], .mass = 1.0, .centre_of_mass = {0.5 * own}, .inertia = {0.01, 0.1, 0.1}};
    out->joints[i] = (bramah_joint){.name = name[i],
                                    .type = BRAMAH_JOINT_REVOLUTE,
                                    .parent = i ? name[i - 1] : "ground",
                                    .child = name[i],
                                    .position = {length[i]},
                                    .rotation = {1, 0, 0, 0, c, -s, 0, s, c},
                                    .axis = {0, 0, 1},
                                    .initial = i ? BRAMAH_INITIAL_GUESS : BRAMAH_INITIAL_GIVEN,
                                    .initial_position = start[i] + (i ? 0.1 : 0.0)};
  }
  out->joints[0].initial_rate = 9.0;
  out->machine = (bramah_machine){
      .name = "bennett",
      .gravity = {0, -9.81, 0},
      .n_bodies = LINKS,
      .bodies = out->bodies,
      .n_joints = LINKS,
      .joints = out->joints,
      .n_loops = 1,
      .loops = out->loops,
      .integrator = {.step_ns = step_ns, .position_tolerance = 1e-10, .formulation = formulation}};
}

/* How far an angle is from a whole number of turns. */
static double off_turns(double angle) { return fabs(remainder(angle, 2.0 * acos(-1.0))); }

typedef struct course {
  double turned, drift, violation, relation;
} course;

static course run(int64_t step_ns, bramah_formulation formulation)
{
  bennett machine;
  course out = {0};
  describe(&machine, 1.0, 0.0, step_ns, formulation);
  running r = start(&machine.machine);
  ck_assert_uint_eq(bramah_model_get_info(r.model).n_dof, 1);
  const double energy = shown(&r, "energy.kinetic");
  for (int64_t t = 0; t < INT64_C(3000000000); t += step_ns) {
    must(r.p.step(r.p.self, &diag), &diag);
    const double t1 = shown(&r, "first.angle"), t2 = shown(&r, "second.angle"), t3 = shown(&r, "third.angle");
    out.turned = t1;
    out.drift = fmax(out.drift, fabs(shown(&r, "energy.kinetic") + shown(&r, "energy.potential") - energy));
    out.violation = fmax(out.violation, bramah_coupled_constraint_violation(r.c));
    out.relation = fmax(out.relation, fmax(off_turns(t2 - second(t1)), off_turns(t3 + t1)));
  }
  bramah_limit worst[BRAMAH_N_LIMITS];
  bramah_coupled_limits(r.c, worst);
  for (int k = 0; k < BRAMAH_N_LIMITS; k++) ck_assert(worst[k].beyond == 0.0);
  stop(&r);
  return out;
}

EACH_TEST(test_turns_and_stays_closed, 0, 3)
{
  static const bramah_formulation formulation[] = {
      BRAMAH_FORMULATION_PARTITIONING, BRAMAH_FORMULATION_AUGMENTED_LAGRANGIAN, BRAMAH_FORMULATION_PENALTY};
  const course coarse = run(1000000, formulation[_i]), fine = run(500000, formulation[_i]);
  const int penalty = formulation[_i] == BRAMAH_FORMULATION_PENALTY;
  ck_assert_msg(fine.turned > 18.0, "turned by %g", fine.turned); /* three times round */
  ck_assert_msg(fine.violation < (penalty ? 1e-6 : 1e-10), "open by %g", fine.violation);
  ck_assert_msg(fine.relation < (penalty ? 1e-6 : 1e-9), "angles off by %g", fine.relation);
  /* of second order; a penalty swings faster than these steps */
  const double falls = coarse.drift / fine.drift;
  ck_assert_msg(penalty ? falls > 3.7 : fabs(falls - 4.0) < 0.3, "energies %g and %g", coarse.drift,
                fine.drift);
}

/* With another twist in the last link nothing moves. */
TEST(test_wrong_twist_is_rigid)
{
  bennett machine;
  const bramah_model *model = NULL;
  describe(&machine, 1.0, 0.01, 1000000, BRAMAH_FORMULATION_PARTITIONING);
  for (int i = 0; i < LINKS; i++) machine.joints[i].initial = BRAMAH_INITIAL_GUESS;
  machine.joints[0].initial_rate = 0.0;
  const bramah_status status = bramah_model_new(&machine.machine, &diag, &model);
  ck_assert_msg(status == BRAMAH_E_TOPOLOGY || status == BRAMAH_E_CLOSURE, "%s", bramah_status_name(status));
  ck_assert_ptr_null(model);
}

int main(void) { return run_tests("bennett"); }
