/* SPDX-License-Identifier: MIT */
/* Power train: engine and fuel against reference evaluations by a program of its own, clutch and open differential against
 * the balance of momentum, a lock, a governor, a drive's limits, and a cart on tyres that starts, shifts, brakes and
 * stands. */
#include "lib/machine/model_internal.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"
#include "test/support/running.h"

#include <math.h>
#include <string.h>

static bramah_diag diag;

static const double speeds[] = {85, 115, 150, 190, 230, 245}, torques[] = {250, 380, 420, 390, 330, 0};
static const double gears[] = {-1, 1, 2, 3, 4}, ratios[] = {-60, 95, 60, 38, 24};

/* ---- the engine of the reference ---- */

static bramah_engine engine_of(const char *joint)
{
  return (bramah_engine){.name = "diesel",
                         .joint = joint,
                         .n_points = 6,
                         .speeds = speeds,
                         .torques = torques,
                         .rounding = 0.25,
                         .friction = 25.0,
                         .consumption = 200e-3 / 3.6e6,
                         .best_torque = 420.0,
                         .best_speed = 150.0,
                         .torque_loss = 0.35,
                         .speed_loss = 0.25,
                         .idle_fuel = 0.00045,
                         .throttle = {.input = "throttle", .limit = 1.0}};
}

static const struct {
  double omega, throttle, load, most, torque, acceleration, power, fuel_rate, speed[6];
} cases[] = {
    {242.8955945689364,
     0.3,
     72.78511678490669,
     46.29691948339945,
     13.889075845019834,
     -55.930693959924575,
     3373.595335389145,
     0.00045,
     {-12.387675323015754, 0.0, 7.823794940852056, 12.387675323015754, 19.55948735213014,
      30.969188307539387}},
    {100.50065074660526,
     0.7,
     237.77303223956585,
     317.1694865686228,
     222.01864059803594,
     -27.169594427686604,
     22313.017857979285,
     0.0013697656135501198,
     {-5.125533188076869, 0.0, 3.2371788556274956, 5.125533188076869, 8.09294713906874, 12.813832970192172}},
    {134.30681255413526,
     0.3,
     279.62628130316347,
     402.0649286332974,
     120.61947858998923,
     -122.67120180878283,
     16200.017701363215,
     0.0010625151662345409,
     {-6.849647440260899, 0.0, 4.326093120164779, 6.849647440260899, 10.815232800411946, 17.12411860065225}},
    {88.23485678519711,
     0.0,
     176.86674504869987,
     264.01771273585416,
     0.0,
     -134.57783003246658,
     0.0,
     0.00045,
     {-4.499977696045053, 0.0, 2.8420911764495074, 4.499977696045053, 7.105227941123768, 11.249944240112633}},
    {98.96651580244348,
     0.0,
     209.51559244044222,
     310.5215684772551,
     0.0,
     -156.34372829362815,
     0.0,
     0.00045,
     {-5.047292305924617, 0.0, 3.1877635616366002, 5.047292305924617, 7.969408904091501, 12.618230764811543}},
    {146.84029223859534,
     0.3,
     83.85776689326603,
     416.3889054155375,
     124.91667162466125,
     10.70593648759681,
     18342.80056683791,
     0.001195213972778272,
     {-7.488854904168361, 0.0, 4.729803097369492, 7.488854904168361, 11.824507743423728, 18.722137260420904}},
    {138.21109868890653,
     0.0,
     125.8159181291183,
     406.5269699301789,
     0.0,
     -100.5439454194122,
     0.0,
     0.00045,
     {-7.048766033134233, 0.0, 4.451852231453199, 7.048766033134233, 11.129630578633, 17.62191508283558}},
    {149.60516078424422,
     0.3,
     92.19189039604038,
     419.5487551819934,
     125.864626554598,
     5.781824105705084,
     18829.99769274949,
     0.001225686084870363,
     {-7.629863199996455, 0.0, 4.818860968418814, 7.629863199996455, 12.047152421047036, 19.07465799999114}},
    {181.25786278710908,
     1.0,
     227.26389767208184,
     396.5566029096682,
     396.5566029096682,
     96.19513682505756,
     71879.00231752274,
     0.004040984070002613,
     {-9.244151002142562, 0.0, 5.838411159247934, 9.244151002142562, 14.596027898119836, 23.110377505356407}},
    {249.40230530079538,
     0.7,
     29.571328532157825,
     0.0,
     0.0,
     -36.38088568810522,
     0.0,
     0.00045,
     {-12.719517570340564, 0.0, 8.033379518109829, 12.719517570340564, 20.083448795274574,
      31.79879392585141}},
};

/* Corners of theirs are sharp: ours agree outside the 0.25 rad/s within which they are rounded here. */
EACH_TEST(test_reference, 0, sizeof cases / sizeof *cases)
{
  const bramah_body body = {.name = "flywheel", .mass = 10.0, .inertia = {1.5, 1.5, 1.5}};
  const bramah_joint joint = {.name = "crankshaft",
                              .type = BRAMAH_JOINT_REVOLUTE,
                              .parent = "ground",
                              .child = "flywheel",
                              .axis = {1, 0, 0},
                              .initial_rate = cases[_i].omega};
  bramah_engine engine = engine_of("crankshaft");
  const bramah_input input = {.name = "throttle"};
  bramah_machine machine;
  bramah_machine_default(&machine);
  machine.name = "engine";
  machine.n_bodies = machine.n_joints = machine.n_engines = machine.n_inputs = 1;
  machine.bodies = &body, machine.joints = &joint, machine.engines = &engine, machine.inputs = &input;
  engine.throttle.initial = cases[_i].throttle;
  running r = start(&machine);
  const double load = -cases[_i].load;
  must(
      r.p.set_parameters(r.p.self, 1, (size_t[]){must_find_parameter(&r.p, "crankshaft.load")}, &load, &diag),
      &diag);
  ck_assert_double_eq_tol(shown(&r, "crankshaft.acceleration"), cases[_i].acceleration, 1e-10);
  ck_assert_double_eq_tol(shown(&r, "diesel.torque"), cases[_i].torque, 1e-12 * 420.0);
  ck_assert_double_eq_tol(shown(&r, "diesel.fuel_rate"), cases[_i].fuel_rate, 1e-14);
  const bramah__shaft *shaft = &r.model->shaft[0];
  const bramah__expr rate = e_number(cases[_i].omega), full[2] = {e_number(1.0), e_number(0.0)};
  bramah__expr torque[BRAMAH__MOST_SHAFT_JOINTS], view[BRAMAH__SHAFT_VIEWS];
  bramah__shaft_at(shaft, &rate, full, torque, view);
  ck_assert_double_eq_tol(view[BRAMAH__SHAFT_TORQUE].value, cases[_i].most, 1e-12 * 420.0);
  ck_assert_double_eq_tol(shown(&r, "diesel.torque") * cases[_i].omega, cases[_i].power, 1e-7);
  stop(&r);
}

/* The rounded curve has one derivative on both sides of every corner, and the curve's own beside it. */
TEST(test_rounding)
{
  const bramah__shaft engine = {.kind = BRAMAH__ENGINE,
                                .value = {1.0},
                                .n_joints = 1,
                                .n_points = 6,
                                .x = speeds,
                                .y = torques,
                                .rounding = 2.0};
  for (size_t i = 0; i < 6; i++)
    for (int side = -1; side <= 1; side++) {
      const double at = speeds[i] + 2.0 * side;
      double slope[2];
      for (int k = 0; k < 2; k++) {
        const bramah__expr w = e_variable(at + (k ? 1e-9 : -1e-9)), U[2] = {{0}};
        bramah__expr torque[BRAMAH__MOST_SHAFT_JOINTS], view[BRAMAH__SHAFT_VIEWS];
        bramah__shaft_at(&engine, &w, U, torque, view);
        slope[k] = view[BRAMAH__SHAFT_TORQUE].slope;
      }
      if (i < 5 || side < 1) ck_assert_double_eq_tol(slope[0], slope[1], 1e-6);
      if (side == 1 && i < 5)
        ck_assert_double_eq_tol(slope[1], (torques[i + 1] - torques[i]) / (speeds[i + 1] - speeds[i]), 1e-9);
    }
}

/* ---- an engine and two wheels on their axles ---- */

typedef struct train {
  bramah_machine machine;
  bramah_body bodies[3];
  bramah_joint joints[3];
  bramah_engine engine;
  bramah_clutch clutches[2];
  bramah_brake brake;
  bramah_joint_torque torque;
  bramah_input inputs[5];
} train;

enum { THROTTLE, PEDAL, GEAR, LOCK, BRAKE, N_INPUTS };
static const char *const wheels[] = {"left", "right"};

static void describe(train *t, double left, double right)
{
  static const char *const inputs[N_INPUTS] = {"throttle", "pedal", "gear", "lock", "brake"};
  static const char *const bodies[3] = {"flywheel", "rim_l", "rim_r"}, *const joints[3] = {"crankshaft",
                                                                                           "left", "right"};
  const double inertia[3] = {1.5, left, right};
  *t = (train){.engine = engine_of("crankshaft")};
  for (int k = 0; k < 3; k++) {
    t->bodies[k] =
        (bramah_body){.name = bodies[k], .mass = 1.0, .inertia = {inertia[k], inertia[k], inertia[k]}};
    t->joints[k] = (bramah_joint){.name = joints[k],
                                  .type = BRAMAH_JOINT_REVOLUTE,
                                  .parent = "ground",
                                  .child = bodies[k],
                                  .axis = {k == 0, k > 0, 0}};
  }
  for (int k = 0; k < N_INPUTS; k++) t->inputs[k].name = inputs[k];
  t->clutches[0] = (bramah_clutch){.name = "drive",
                                   .driving = "crankshaft",
                                   .n_driven = 2,
                                   .driven = wheels,
                                   .torque = 600.0,
                                   .n_gears = 5,
                                   .gears = gears,
                                   .ratios = ratios,
                                   .command = {.input = "pedal"},
                                   .gear = {.input = "gear"}};
  t->clutches[1] = (bramah_clutch){.name = "lock",
                                   .driving = "left",
                                   .n_driven = 1,
                                   .driven = wheels + 1,
                                   .torque = 4000.0,
                                   .damping = 1e4,
                                   .command = {.input = "lock"}};
  t->brake = (bramah_brake){
      .name = "drum", .joint = "left", .torque = 9000.0, .command = {.input = "brake", .limit = 1.0}};
  t->torque = (bramah_joint_torque){.name = "helper",
                                    .joint = "right",
                                    .torque = 100.0,
                                    .power = 200.0,
                                    .command = {.input = "lock", .limit = 5.0}};
  bramah_machine_default(&t->machine);
  t->machine.name = "train";
  t->machine.n_bodies = t->machine.n_joints = 3, t->machine.n_clutches = 2, t->machine.n_inputs = N_INPUTS;
  t->machine.bodies = t->bodies, t->machine.joints = t->joints, t->machine.clutches = t->clutches;
  t->machine.engines = &t->engine, t->machine.inputs = t->inputs, t->machine.brakes = &t->brake;
  t->machine.joint_torques = &t->torque;
}

static void go(running *r, double throttle, double pedal, double gear, double lock, double brake, int steps)
{
  const double u[N_INPUTS] = {throttle, pedal, gear, lock, brake};
  must(r->p.set_inputs(r->p.self, u, &diag), &diag);
  for (int k = 0; k < steps; k++) must(r->p.step(r->p.self, &diag), &diag);
}

static double kinetic(running *r) { return shown(r, "energy.kinetic"); }

/* The clutch's impulse J takes J from the crankshaft and gives i J/2 to each wheel: w_e = w_0 - J/I_e, w_k = i J/(2 I_k),
 * and ends when w_e is i times the wheels' mean. What is lost is the clutch's heat. Then the lock makes both wheels one. */
EACH_TEST(test_impulse, 0, 5)
{
  static train t;
  const double I[2] = {300.0, 700.0}, w0 = 200.0, gear = gears[_i], ratio = ratios[_i];
  describe(&t, I[0], I[1]);
  t.joints[0].initial_rate = w0;
  t.clutches[0].gear.initial = gear;
  running r = start(&t.machine);
  const double before = kinetic(&r);
  go(&r, 0.0, 0.0, gear, 0.0, 0.0, 20);
  ck_assert_double_eq_tol(shown(&r, "crankshaft.rate"), w0, 1e-9);
  go(&r, 0.0, 10.0, gear, 0.0, 0.0, 4000);
  const double J = w0 / (1.0 / 1.5 + 0.25 * ratio * ratio * (1.0 / I[0] + 1.0 / I[1]));
  for (int k = 0; k < 2; k++)
    ck_assert_double_eq_tol(shown(&r, k ? "right.rate" : "left.rate"), 0.5 * ratio * J / I[k], 1e-6);
  ck_assert_double_eq_tol(shown(&r, "crankshaft.rate"), w0 - J / 1.5, 1e-6);
  const double lost = before - kinetic(&r);
  ck_assert_double_eq_tol(shown(&r, "energy.contacts"), lost, 1e-3 * lost);
  ck_assert_double_eq_tol(shown(&r, "drive.heat"), lost, 2e-3 * lost);

  go(&r, 0.0, 0.0, 0.0, 10.0, 0.0, 2000);
  const double together = ratio * J / (I[0] + I[1]);
  ck_assert_double_eq_tol(shown(&r, "left.rate"), together, 1e-4 * fabs(together));
  ck_assert_double_eq_tol(shown(&r, "right.rate"), shown(&r, "left.rate"), 1e-6);
  ck_assert_double_eq_tol(shown(&r, "energy.contacts"), before - kinetic(&r), 1e-3 * lost);
  stop(&r);
}

/* Speeds of the reference: a wheel of 0.85 m that an engaged clutch without load lets turn with the gear's ratio; in neutral
 * nothing is passed on. */
EACH_TEST(test_gears, 0, sizeof cases / sizeof *cases)
{
  static train t;
  describe(&t, 30.0, 30.0);
  running r = start(&t.machine);
  for (int gear = -1; gear <= 4; gear++) {
    const double v = cases[_i].speed[gear + 1] / 3.6 / 0.85;
    bramah__expr row[BRAMAH__MOST_SHAFT_JOINTS];
    const double engaged = bramah__clutch_row(&r.model->shaft[0], e_number(gear + 0.3), row).value;
    ck_assert_double_eq(engaged, gear != 0);
    ck_assert_double_eq(row[0].value, -1.0);
    for (int k = 1; k < 3; k++)
      ck_assert_double_eq(row[k].value, gear ? 0.5 * ratios[gear < 0 ? 0 : gear] : 0.0);
    const double slip = (row[1].value + row[2].value) * v - cases[_i].omega;
    if (gear) ck_assert_double_eq_tol(slip, 0.0, 1e-9);
  }
  stop(&r);
}

/* A governor keeps a free engine near its idle speed, where the torque is that of friction; a brake stops and holds what is
 * left in gear when the clutch is open; a drive keeps to its power. Nothing comes from nowhere. */
TEST(test_idle_and_hold)
{
  static train t;
  describe(&t, 300.0, 300.0);
  t.machine.n_engines = t.machine.n_brakes = t.machine.n_joint_torques = 1;
  t.machine.n_clutches = 1;
  t.engine.idle_speed = 90.0;
  t.joints[0].initial_rate = 120.0, t.joints[1].initial_rate = 1.0;
  running r = start(&t.machine);
  bramah_energy energy = {0};
  for (int k = 0; k < 12; k++) {
    go(&r, 0.0, 0.0, 0.0, k < 6 ? 5.0 : -2.5, k < 6 ? 0.0 : 0.5, 1000);
    bramah_energy_add(&energy, r.c, (k + 1) * INT64_C(1000000000));
  }
  ck_assert_double_eq_tol(shown(&r, "diesel.torque"), 25.0, 1e-3);
  ck_assert_double_eq_tol(shown(&r, "crankshaft.rate"), 90.0 - 10.0 * 25.0 / (250.0 + 5.0 * 130.0 / 30.0),
                          0.1);
  ck_assert_double_eq_tol(shown(&r, "left.rate"), 0.0, 1e-9);
  ck_assert_double_lt(fabs(shown(&r, "drum.torque")), 1.0);
  const double rate = shown(&r, "right.rate");
  ck_assert_double_eq_tol(shown(&r, "helper.torque"), -50.0 / fmax(1.0, fabs(rate) / 2.0), 1e-9);
  ck_assert_double_eq_tol(shown(&r, "helper.work"), 150.0 * rate * rate, 1.0);
  ck_assert_double_gt(shown(&r, "diesel.fuel"), 12.0 * 0.00045 - 1e-9);
  ck_assert_double_le(energy.largest, 1e-4 * energy.turnover);
  stop(&r);
}

/* In gear against a pressed brake an engine stalls: it stands, gives nothing and takes no fuel, whatever the throttle. With the
 * clutch open a starter brings it to where it runs by itself. */
TEST(test_stall)
{
  static train t;
  describe(&t, 300.0, 300.0);
  t.machine.n_engines = t.machine.n_brakes = t.machine.n_joint_torques = t.machine.n_clutches = 1;
  t.engine.idle_speed = 90.0, t.engine.stall = 40.0;
  t.joints[0].initial_rate = 90.0;
  t.clutches[0].n_driven = 1;
  t.torque = (bramah_joint_torque){
      .name = "starter", .joint = "crankshaft", .torque = 120.0, .command = {.input = "lock", .limit = 10.0}};
  running r = start(&t.machine);
  bramah_energy energy = {0};
  go(&r, 0.0, 0.0, 1.0, 0.0, 1.0, 1000);
  ck_assert_double_gt(shown(&r, "crankshaft.rate"), 80.0);
  bramah_energy_add(&energy, r.c, INT64_C(1000000000));
  go(&r, 0.3, 10.0, 4.0, 0.0, 1.0, 1500);
  ck_assert_double_eq_tol(shown(&r, "crankshaft.rate"), 0.0, 1e-2);
  ck_assert_double_eq(shown(&r, "diesel.torque"), 0.0);
  const double fuel = shown(&r, "diesel.fuel");
  go(&r, 1.0, 0.0, 1.0, 0.0, 1.0, 1000);
  ck_assert_double_eq_tol(shown(&r, "crankshaft.rate"), 0.0, 1e-2);
  ck_assert_double_eq(shown(&r, "diesel.fuel"), fuel);
  go(&r, 0.0, 0.0, 1.0, 10.0, 1.0, 1000);
  go(&r, 0.0, 0.0, 1.0, 0.0, 1.0, 3000);
  ck_assert_double_gt(shown(&r, "crankshaft.rate"), 80.0);
  ck_assert_double_gt(shown(&r, "diesel.fuel"), fuel);
  bramah_energy_add(&energy, r.c, INT64_C(7500000000));
  ck_assert_double_le(energy.largest, 1e-3 * energy.turnover);
  stop(&r);
}

/* A clutch sticks below its capacity: loaded once it twists by T_c/k ln(1/(1 - T/T_c)), and stays; pressed less it slides where the
 * load is more than that. */
TEST(test_stick)
{
  static train t;
  describe(&t, 300.0, 0.5);
  t.machine.n_brakes = 1;
  t.brake.bristle_stiffness = 1e6;
  t.clutches[1].stiffness = 2e4, t.clutches[1].damping = 2000.0;
  running r = start(&t.machine);
  const double load = 1800.0;
  go(&r, 0.0, 0.0, 0.0, 10.0, 1.0, 100);
  must(r.p.set_parameters(r.p.self, 1, (size_t[]){must_find_parameter(&r.p, "right.load")}, &load, &diag),
       &diag);
  go(&r, 0.0, 0.0, 0.0, 10.0, 1.0, 3000);
  const double twist = shown(&r, "right.angle");
  ck_assert_double_eq_tol(twist, -0.2 * log(1.0 - load / 4000.0), 1e-5);
  ck_assert_double_eq_tol(shown(&r, "lock.torque"), -load, 1e-3);
  ck_assert_double_eq_tol(shown(&r, "drum.torque"), -load, 1e-3);
  go(&r, 0.0, 0.0, 0.0, 10.0, 1.0, 10000);
  ck_assert_double_eq_tol(shown(&r, "right.angle"), twist, 1e-9);
  ck_assert_double_eq_tol(shown(&r, "right.rate"), 0.0, 1e-9);
  go(&r, 0.0, 0.0, 0.0, 4.0, 1.0, 1000);
  ck_assert_double_gt(shown(&r, "right.rate"), 300.0);
  ck_assert_double_eq_tol(shown(&r, "lock.torque"), -1600.0, 0.1);
  stop(&r);
}

EACH_TEST(test_refusals, 0, 18)
{
  static train t;
  double own[6], number[5], ratio[5];
  describe(&t, 300.0, 300.0);
  memcpy(own, speeds, sizeof own), memcpy(number, gears, sizeof number), memcpy(ratio, ratios, sizeof ratio);
  t.machine.n_engines = t.machine.n_brakes = t.machine.n_joint_torques = 1;
  bramah_clutch *drive = &t.clutches[0];
  t.engine.speeds = own, drive->gears = number, drive->ratios = ratio;
  const refusal wrong[] = {
      {"diesel",
       "there is no joint coordinate 'cranckshaft'",
       0,
       BRAMAH_E_REFERENCE,
       {NAME(t.engine.joint, "cranckshaft")}},
      {"diesel", "the speeds of its full-load curve must ascend", 0, 0, {NUMBER(own[1], 85.0)}},
      {"diesel", "the friction must not be negative", 0, 0, {NUMBER(t.engine.friction, -1.0)}},
      {"diesel",
       "it would stall when idle",
       0,
       0,
       {NUMBER(t.engine.idle_speed, 45.0), NUMBER(t.engine.stall, 40.0)}},
      {"diesel", "the rounding must be positive", 0, 0, {NUMBER(t.engine.rounding, 8.0)}},
      {"diesel",
       "the torque of best consumption must be positive",
       0,
       0,
       {NUMBER(t.engine.best_torque, 0.0)}},
      {"diesel", "its command must start within the limit", 0, 0, {NUMBER(t.engine.throttle.initial, 2.0)}},
      {"drive", "the torque must be positive", 0, 0, {NUMBER(drive->torque, 0.0)}},
      {"drive", "gears have whole numbers", 0, 0, {NUMBER(number[1], 0.5)}},
      {"drive", "a gear needs a ratio", 0, 0, {NUMBER(ratio[2], 0.0)}},
      {"drive", "beyond the limit of its command", 0, 0, {NUMBER(drive->gear.limit, 3.0)}},
      {"drive", "the command of its gears is missing", 0, 0, {NAME(drive->gear.input, NULL)}},
      {"drive", "the same joint is named twice", 0, 0, {NAME(drive->driving, "left")}},
      {"helper", "its command is missing", 0, 0, {NAME(t.torque.command.input, NULL)}},
      {"helper", "the power must not be negative", 0, 0, {NUMBER(t.torque.power, -1.0)}},
      {"diesel", "this name is given to more than one", 0, BRAMAH_E_KEY, {NAME(t.torque.name, "diesel")}},
      {"drum",
       "another output of the machine has this name",
       0,
       BRAMAH_E_KEY,
       {NAME(t.torque.name, "drum"), NAME(t.brake.command.input, NULL)}},
      {"engine", "has no name", 0, BRAMAH_E_KEY, {NAME(t.engine.name, "")}}};
  check_refusal(&t.machine, &wrong[_i], &diag);
}

int main(void) { return run_tests("power train"); }
