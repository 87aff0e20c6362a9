/* SPDX-License-Identifier: MIT */
/* The C source of a machine makes the steps of a plant that uses its program, to the bit, on the machines of the datasets;
 * with other parameters to rounding; what a plant would do without its program it refuses. That of a filter does what the
 * filter does on such a plant, to the bit, gates and recovery included. The compiler of the tests compiles both. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "bramah/coupled.h"
#include "lib/plant/coupled_internal.h"
#include "bramah/replay.h"
#include "bramah/session.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"
#include "test/support/c_source.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 1000, CHANGED = 700 }; /* from this step on another parameter */

/* Machines, how far their valves are moved, a parameter that is changed by 1 %. */
static const struct {
  const char *dataset;
  double command;
  const char *parameter;
  int all_steps; /* 1: none is refused */
  int same_bits; /* 0: valves without lag and no pressures: what leaps with a command the library interprets, to rounding */
} machines[] = {
    {"four-bar/four-bar", 3.0, "pump.pressure", 1, 1},
    {"crane/crane", 1.0, "pump.pressure", 1, 1},
    {"lifting-four-bar/lifting-four-bar", 1.0, "gravity.scale", 1, 1},
    {"quick-return/quick-return", 1.0, "gravity.scale", 1, 1},
    {"linearization-four-bar/linearization-four-bar", 1.0, "gravity.scale", 1, 1},
    {"rotary-actuator/rotary-actuator", 1.0, "oil.bulk_modulus", 0, 1},
    {"manipulator/manipulator", 1.0, "load.payload", 1, 1},
    {"metered-crane/metered-crane", 4.0, "pump.pump_flow", 1, 1},
    {"metered-arm/two-arms", 6.0, "first.flow_scale", 1, 0},
    {"metered-arm/metered-arm", 4.0, "boom.offset", 1, 0},
    {"../test/fuzz/corpus/machine/contacts", 1.0, "gravity.scale", 1, 1},
    {"../test/fuzz/corpus/machine/tyres", 1.0, "gravity.scale", 1, 1},
    {"../test/fuzz/corpus/machine/terrain", 1.0, "gravity.scale", 1, 0},
};
enum { N_MACHINES = sizeof machines / sizeof *machines };

/* Outputs of the plant in the order of the driver: those of joints, then pressures; the number of them. */
static size_t list_outputs(const bramah_plant *plant, size_t n_joints, size_t n_volumes, size_t *out)
{
  size_t n = 0;
  for (size_t rate = 0; rate < 2; rate++)
    for (size_t j = 0; j < n_joints; j++) out[n++] = 3 * j + rate; /* position, rate, acceleration */
  for (size_t i = 0; i < n_volumes; i++) out[n++] = 3 * n_joints + i;
  bramah_output_info info;
  bramah_plant_output_info(plant, out[n - 1], &info);
  ck_assert_ptr_nonnull(strstr(info.name, n_volumes ? "pressure" : ".rate"));
  return n;
}

typedef struct rig {
  bramah_machine *machine;
  const bramah_model *model;
  bramah_program *program;
  bramah_coupled *c;
  bramah_plant plant;
  bramah_c_source source;
  char folder[SCRATCH_NAME];
  size_t n, output[64]; /* what is compared */
  double *expected;     /* [(1 + STEPS) x n] the start, then the steps of the plant */
  size_t n_plain;       /* steps before the first that the source does not do */
} rig;

static void open_rig(rig *r, const char *dataset)
{
  char path[1024];
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  bramah_diag diag;
  *r = (rig){0};
  snprintf(path, sizeof path, "%s/datasets/%s.yaml", root ? root : ".", dataset);
  must(bramah_machine_load(path, 0, NULL, &diag, &r->machine), &diag);
  must(bramah_model_new(r->machine, &diag, &r->model), &diag);
  must(bramah_program_new(r->model, &diag, &r->program), &diag);
  must(bramah_coupled_new(r->model, &diag, &r->c), &diag);
  must(bramah_coupled_use(r->c, r->program, &diag), &diag);
  must(bramah_program_c_source(r->program, r->c, "m", BRAMAH_PRECISION_DOUBLE, &diag, &r->source), &diag);
  r->plant = bramah_coupled_plant(r->c);
  r->n = list_outputs(&r->plant, bramah_model_get_info(r->model).n_joints, r->plant.n_first_order, r->output);
  r->expected = calloc((STEPS + 1) * r->n, sizeof *r->expected);
  ck_assert(scratch_folder(r->folder));
}

static void close_rig(rig *r)
{
  remove_folder(r->folder);
  free(r->expected);
  bramah_c_source_free(&r->source);
  bramah_coupled_free(r->c);
  bramah_program_free(r->program);
  bramah_model_free(r->model);
  bramah_machine_free(r->machine);
}

/* The ground as the user of a source gives it: that of the machine's own field. */
static const char ground_driver[] =
    "#define GROUND(s) m_stand(s, field, NULL)\n"
    "#include \"field.h\"\n"
    "#include \"m.h\"\n"
    "#include <math.h>\n"
    "static double field(void *self, double x, double y, double *n)\n"
    "{\n"
    "  double at[2] = {(x - origin[0]) / cell - 0.5, (y - origin[1]) / cell - 0.5}, w[2];\n"
    "  int i[2];\n"
    "  for (int e = 0; e < 2; e++) {\n"
    "    at[e] = fmin(fmax(at[e], 0.0), cells[e] - 1.0);\n"
    "    i[e] = (int)at[e] < cells[e] - 1 ? (int)at[e] : cells[e] - 2;\n"
    "    w[e] = at[e] - i[e];\n"
    "  }\n"
    "  const double *h = height + i[0] * cells[1] + i[1], a = h[0], b = h[cells[1]], c = h[1], d = "
    "h[cells[1] + 1];\n"
    "  const double sx = ((1 - w[1]) * (a - b) + w[1] * (c - d)) / cell, sy = ((1 - w[0]) * (a - c) + w[0] * "
    "(b - d)) / cell;\n"
    "  n[2] = 1 / sqrt(1 + sx * sx + sy * sy), n[0] = sx * n[2], n[1] = sy * n[2];\n"
    "  (void)self;\n"
    "  return (1 - w[1]) * ((1 - w[0]) * a + w[0] * b) + w[1] * ((1 - w[0]) * c + w[0] * d);\n"
    "}\n";

static void put_field(const rig *r)
{
  const bramah__heights *f = &r->c->field;
  FILE *file = in_folder(r->folder, "field.h", "w");
  fprintf(file, "static const double cell = %.17g, origin[2] = {%.17g, %.17g}, height[] = {", f->cell,
          f->origin[0], f->origin[1]);
  for (size_t i = 0; i < f->nx * f->ny; i++) fprintf(file, "%.17g,\n", f->h[i]);
  fprintf(file, "};\nstatic const int cells[2] = {%zu, %zu};\n", f->nx, f->ny);
  ck_assert_int_eq(fclose(file), 0);
}

/* The steps of the plant; what it was given goes into the file for the source. */
static void run_plant(rig *r, double command, const char *parameter)
{
  const bramah_plant *plant = &r->plant;
  const size_t changed = must_find_parameter(plant, parameter);
  FILE *in = in_folder(r->folder, "in", "wb");
  double u[16] = {0};
  bramah_diag diag;
  for (size_t k = 0; k <= STEPS; k++) {
    double *row = r->expected + k * r->n;
    for (size_t i = 0; i < r->n; i++) row[i] = plant->output(plant->self, r->output[i]);
    if (k == STEPS) break;
    if (k == CHANGED)
      must(plant->set_parameter(plant->self, changed, 1.01 * plant->parameter(plant->self, changed), &diag),
           &diag);
    for (size_t i = 0; i < plant->n_input; i++) u[i] = command * sin(0.01 * (double)k + (double)i);
    must(plant->set_inputs(plant->self, u, &diag), &diag);
    must(plant->step(plant->self, &diag), &diag);
    r->n_plain += (size_t)is_plain(r->c);
    fwrite(u, sizeof *u, plant->n_input, in);
    for (size_t i = 0; i < plant->n_parameter; i++) {
      const double theta = plant->parameter(plant->self, i);
      fwrite(&theta, sizeof theta, 1, in);
    }
  }
  ck_assert_int_eq(fclose(in), 0);
}

static void compare(const rig *r, int same_bits)
{
  FILE *out = in_folder(r->folder, "out", "rb");
  const size_t n = r->n;
  double row[64];
  for (size_t k = 0; k < r->n_plain; k++) {
    const double *x = r->expected + (k + 1) * n;
    ck_assert_uint_eq(fread(row, sizeof *row, n + 1, out), n + 1);
    ck_assert_msg(row[0] == 0.0, "step %zu: status %g", k, row[0]);
    if (k < CHANGED && same_bits)
      ck_assert_msg(memcmp(row + 1, x, n * sizeof *x) == 0, "other bits after step %zu", k);
    for (size_t i = 0; i < n; i++)
      ck_assert_msg(fabs(row[1 + i] - x[i]) <= 1e-9 * fmax(fabs(x[i]), 1.0), "step %zu: %.17g, not %.17g", k,
                    row[1 + i], x[i]);
  }
  if (r->n_plain < STEPS) { /* refused: the state is where it was */
    ck_assert_uint_eq(fread(row, sizeof *row, n + 1, out), n + 1);
    ck_assert_msg(row[0] < 0.0 && memcmp(row + 1, r->expected + r->n_plain * n, n * sizeof *row) == 0,
                  "status %g", row[0]);
  }
  fclose(out);
}

EACH_TEST(test_source_makes_the_same_bits, 0, N_MACHINES)
{
  rig r;
  open_rig(&r, machines[_i].dataset);
  run_plant(&r, machines[_i].command, machines[_i].parameter);
  if (machines[_i].all_steps) ck_assert_uint_eq(r.n_plain, STEPS);
  const int stands = strstr(machines[_i].dataset, "terrain") != NULL;
  char driver[8192];
  if (stands) put_field(&r);
  snprintf(driver, sizeof driver, "%s%s", stands ? ground_driver : "", step_driver);
  compile_and_run(r.folder, &r.source, driver,
                  _i % 4 ? "-O0" : "-O1"); /* optimised: those of test_native, too */
  compare(&r, machines[_i].same_bits);
  close_rig(&r);
}

/* ---- filters ---- */

/* All kinds of sensors that a source has, on a machine of two degrees of freedom; one with a range, one without gate. */
static const char crane_study[] =
    "study: crane\nuncertainty: fixed\nsensors:\n"
    "  encoder: {type: encoder, joint: boom, sigma: 0.5 deg, range: [-20 deg, 60 deg], resolution: 0.1 deg}\n"
    "  gyro: {type: gyro, body: jib, axis: [0, 0.1, 1], sigma: 0.1 deg/s}\n"
    "  accelerometer: {type: accelerometer, body: jib, axis: [1, 0, 0], point: [1, 0, 0 m], sigma: 0.5 "
    "m/s^2}\n"
    "  stroke: {type: stroke, cylinder: lift, sigma: 1 mm, gate: off}\n"
    "  pin: {type: load-pin, cylinder: lift, sigma: 500 N}\n"
    "  across: {type: pressure-difference, a: jib_piston, b: jib_rod, sigma: 1 bar}\n"
    "  p: {type: pressure, volume: lift_rod, sigma: 0.5 bar}\n"
    "joints:\n"
    "  boom: {position: 37 deg, position_sigma: 2 deg, rate_sigma: 5 deg/s, acceleration_noise: 0.06 "
    "rad/s^2/Hz^0.5}\n"
    "  jib: {position: -78 deg, position_sigma: 3 deg, rate_sigma: 5 deg/s, acceleration_noise: 0.12 "
    "rad/s^2/Hz^0.5}\n"
    "volumes:\n"
    "  lift_piston: {sigma: 2 bar, noise: 15 bar/s^0.5}\n  lift_rod: {sigma: 2 bar, noise: 15 bar/s^0.5}\n"
    "  jib_piston: {sigma: 2 bar, noise: 15 bar/s^0.5}\n  jib_rod: {sigma: 2 bar, noise: 15 bar/s^0.5}\n";

/* Independent is the coupler, noise is stated of the crank. */
static const char four_bar_study[] =
    "study: four-bar\nuncertainty: fixed\nsensors:\n"
    "  encoder: {type: encoder, joint: crank, sigma: 1 deg}\n"
    "  gyro: {type: gyro, joint: crank, sigma: 0.1 deg/s}\n"
    "  p1: {type: pressure, volume: v1, sigma: 0.5 bar}\n"
    "  p3: {type: pressure, volume: v3, sigma: 0.5 bar}\n"
    "joints:\n"
    "  crank: {position: 63 deg, position_sigma: 3 deg, rate_sigma: 0.1 rad/s, acceleration_noise: 0.01 "
    "rad/s^2/Hz^0.5}\n"
    "volumes:\n  v1: {sigma: 1 bar, noise: 0.5 bar/s^0.5}\n  v2: {sigma: 1 bar, noise: 0.5 bar/s^0.5}\n"
    "  v3: {sigma: 1 bar, noise: 0.5 bar/s^0.5}\n";

/* It starts in other independent coordinates than the machine does. */
static const char quick_return_study[] =
    "study: quick-return\nuncertainty: fixed\nsensors:\n"
    "  encoder: {type: encoder, joint: crank, sigma: 0.5 deg}\n"
    "  gyro: {type: gyro, joint: crank, sigma: 0.1 deg/s}\n"
    "  p2: {type: pressure, volume: v2, sigma: 0.5 bar}\n"
    "joints:\n"
    "  crank: {position: 32.59 deg, position_sigma: 2 deg, rate_sigma: 1 deg/s, acceleration_noise: 0.03 "
    "rad/s^2/Hz^0.5}\n"
    "volumes:\n  v1: {sigma: 2 bar, noise: 5 bar/s^0.5}\n  v2: {sigma: 2 bar, noise: 5 bar/s^0.5}\n"
    "  v3: {sigma: 2 bar, noise: 5 bar/s^0.5}\n";

/* Parameters and biases are estimated, too: random walks, and processes that decay. */
static const char augmented_study[] =
    "study: four-bar, augmented\nuncertainty: fixed\nsensors:\n"
    "  encoder: {type: encoder, joint: crank, sigma: 1 deg}\n"
    "  gyro: {type: gyro, joint: crank, sigma: 0.1 deg/s}\n"
    "  p1: {type: pressure, volume: v1, sigma: 0.5 bar}\n"
    "  p3: {type: pressure, volume: v3, sigma: 0.5 bar}\n"
    "joints:\n"
    "  crank: {position: 61 deg, position_sigma: 3 deg, rate_sigma: 0.1 rad/s, acceleration_noise: 0.01 "
    "rad/s^2/Hz^0.5}\n"
    "volumes:\n  v1: {sigma: 1 bar, noise: 0.5 bar/s^0.5}\n  v2: {sigma: 1 bar, noise: 0.5 bar/s^0.5}\n"
    "  v3: {sigma: 1 bar, noise: 0.5 bar/s^0.5}\n"
    "augmented:\n"
    "  drift: {bias_of: gyro, sigma: 0.2 deg/s, noise: 0.1 deg/s^1.5, time_constant: 2 s}\n"
    "  load: {parameter: coupler.payload, sigma: 5 kg, least: -1 kg}\n"
    "  supply: {parameter: pump.pressure, sigma: 3 bar, noise: 2 bar/s^0.5, time_constant: 5 s}\n"
    "  offset: {bias_of: p3, sigma: 1 bar}\n";

/* The uncertainty budget as it is by default: parameters and errors of sensors are considered, and estimated once the
 * sensors tell enough; with a force and an acceleration, which parameters move at once. */
static const char budget_study[] =
    "study: four-bar, budget\nsensors:\n"
    "  encoder: {type: encoder, joint: crank, sigma: 1 deg}\n"
    "  gyro: {type: gyro, joint: crank, sigma: 0.1 deg/s}\n"
    "  accelerometer: {type: accelerometer, body: crank, axis: [1, 0, 0], point: [1, 0, 0 m], sigma: 0.5 "
    "m/s^2}\n"
    "  pin: {type: load-pin, cylinder: lift, sigma: 500 N}\n"
    "  p1: {type: pressure, volume: v1, sigma: 0.5 bar}\n"
    "  p3: {type: pressure, volume: v3, sigma: 0.5 bar}\n"
    "joints:\n"
    "  crank: {position: 61 deg, position_sigma: 3 deg, rate_sigma: 0.1 rad/s, acceleration_noise: 0.01 "
    "rad/s^2/Hz^0.5}\n"
    "volumes:\n  v1: {sigma: 1 bar, noise: 0.5 bar/s^0.5}\n  v2: {sigma: 1 bar, noise: 0.5 bar/s^0.5}\n"
    "  v3: {sigma: 1 bar, noise: 0.5 bar/s^0.5}\n"
    "parameter_noise: {oil.bulk_modulus: 5 bar/Hz^0.5}\n"
    "augmented:\n"
    "  command: {parameter: valve.offset, sigma: 3 V, noise: 1 V/s^0.5}\n"
    "  slow: {parameter: coupler.payload, sigma: 5 kg, order: 2, time_constant: 3 s, noise: 1 kg/s^1.5}\n"
    "  ripple: {bias_of: encoder, sigma: 0.2 deg, signal_period: 3 deg, time_constant: 0.5 s, noise: 0.1 "
    "deg/s^0.5}\n"
    "  hum: {bias_of: p1, sigma: 0.2 bar, frequency: 7 Hz, noise: 0.1 bar/s^0.5}\n";

/* The tolerance is so small that steps are divided. */
static const char divided_study[] =
    "study: four-bar, divided\nuncertainty: fixed\nchanges: {integrator.tolerance: 3e-8}\nsensors:\n"
    "  encoder: {type: encoder, joint: crank, sigma: 1 deg}\n"
    "  gyro: {type: gyro, joint: crank, sigma: 0.1 deg/s}\n"
    "  p1: {type: pressure, volume: v1, sigma: 0.5 bar}\n"
    "  p3: {type: pressure, volume: v3, sigma: 0.5 bar}\n"
    "joints:\n"
    "  crank: {position: 61 deg, position_sigma: 3 deg, rate_sigma: 0.1 rad/s, acceleration_noise: 0.01 "
    "rad/s^2/Hz^0.5}\n"
    "volumes:\n  v1: {sigma: 1 bar, noise: 0.5 bar/s^0.5}\n  v2: {sigma: 1 bar, noise: 0.5 bar/s^0.5}\n"
    "  v3: {sigma: 1 bar, noise: 0.5 bar/s^0.5}\n"
    "augmented:\n"
    "  supply: {parameter: pump.pressure, sigma: 3 bar, noise: 2 bar/s^0.5, time_constant: 5 s}\n";

/* Quasistatic cylinders whose parameters are estimated: what they do follows them at once, and so does a force. */
static const char metered_study[] =
    "study: crane, quasistatic\nuncertainty: fixed\nchanges: {hydraulics.pump_lines.pump.flow: 20 "
    "L/min}\nsensors:\n"
    "  encoder: {type: encoder, joint: boom, sigma: 0.5 deg}\n"
    "  gyro: {type: gyro, body: jib, axis: [0, 0, 1], sigma: 0.1 deg/s}\n"
    "  stroke: {type: stroke, cylinder: lift, sigma: 1 mm}\n"
    "  pin: {type: load-pin, cylinder: jib, sigma: 5000 N}\n"
    "joints:\n"
    "  boom: {position: 37 deg, position_sigma: 2 deg, rate_sigma: 5 deg/s, acceleration_noise: 0.005 "
    "rad/s^2/Hz^0.5}\n"
    "  jib: {position: -78 deg, position_sigma: 3 deg, rate_sigma: 5 deg/s, acceleration_noise: 0.01 "
    "rad/s^2/Hz^0.5}\n"
    "volumes:\n  lift: {sigma: 2 bar, noise: 5 bar/s^0.5}\n  jib: {sigma: 2 bar, noise: 5 bar/s^0.5}\n"
    "augmented:\n"
    "  scale: {parameter: jib.flow_scale, sigma: 0.1, noise: 0.05 1/s^0.5}\n"
    "  flow: {parameter: pump.pump_flow, sigma: 10 L/min}\n"
    "  load: {parameter: jib.payload, sigma: 5 kg}\n";

/* Two of them on one pump, with valves without lag: what leaps with a command the library takes from its interpreter. */
static const char arms_study[] =
    "study: two arms\nuncertainty: fixed\nsensors:\n"
    "  first: {type: encoder, joint: first, sigma: 0.2 deg}\n"
    "  second: {type: encoder, joint: second, sigma: 0.2 deg}\n"
    "  gyro: {type: gyro, body: second, axis: [0, 0, 1], sigma: 0.1 deg/s}\n"
    "joints:\n"
    "  first: {position: -29 deg, position_sigma: 2 deg, rate_sigma: 1 deg/s, acceleration_noise: 0.005 "
    "rad/s^2/Hz^0.5}\n"
    "  second: {position: 21 deg, position_sigma: 2 deg, rate_sigma: 1 deg/s, acceleration_noise: 0.005 "
    "rad/s^2/Hz^0.5}\n"
    "volumes:\n  first: {sigma: 2 bar, noise: 5 bar/s^0.5}\n  second: {sigma: 2 bar, noise: 5 bar/s^0.5}\n"
    "augmented:\n"
    "  offset: {parameter: first.offset, sigma: 0.3 V}\n"
    "  flow: {parameter: pump.pump_flow, sigma: 30 L/min}\n";

/* Outputs that the machine defines, one of them measured, and an unknown force at a point. */
static const char digger_study[] =
    "study: digger\nuncertainty: fixed\nsensors:\n"
    "  slew: {type: encoder, joint: slew, sigma: 1 deg}\n"
    "  boom: {type: encoder, joint: boom, sigma: 1 deg}\n"
    "  reach: {type: output, output: reach, sigma: 20 mm}\n"
    "  p1: {type: pressure, volume: lift_piston, sigma: 0.5 bar}\n"
    "  p3: {type: pressure, volume: jib_piston, sigma: 0.5 bar}\n"
    "  power: {type: output, output: power, sigma: 500 W}\n"
    "joints:\n"
    "  boom: {position_sigma: 1 deg, rate_sigma: 0.1 rad/s, acceleration_noise: 0.01 rad/s^2/Hz^0.5}\n"
    "  jib: {position_sigma: 1 deg, rate_sigma: 0.1 rad/s, acceleration_noise: 0.01 rad/s^2/Hz^0.5}\n"
    "  slew: {position_sigma: 1 deg, rate_sigma: 0.1 rad/s, acceleration_noise: 0.01 rad/s^2/Hz^0.5}\n"
    "volumes:\n  line: {sigma: 1 bar, noise: 0.5 bar/s^0.5}\n  lift_piston: {sigma: 1 bar, noise: 0.5 "
    "bar/s^0.5}\n"
    "  lift_rod: {sigma: 1 bar, noise: 0.5 bar/s^0.5}\n  jib_piston: {sigma: 1 bar, noise: 0.5 bar/s^0.5}\n"
    "  jib_rod: {sigma: 1 bar, noise: 0.5 bar/s^0.5}\n"
    "augmented:\n"
    "  load: {parameter: bucket.payload, sigma: 20 kg, noise: 1 kg/s^0.5}\n"
    "  dig: {parameter: dig.y, sigma: 1 kN, noise: 2 kN/s^0.5, time_constant: 2 s}\n";

/* A machine that stands on its feet: bristles of contacts and of a brake are error states. */
static const char standing_study[] =
    "study: feet\nuncertainty: fixed\nsensors:\n"
    "  hinge: {type: encoder, joint: hinge, sigma: 0.1 deg}\n"
    "  gyro_x: {type: gyro, body: block, axis: [1, 0, 0], sigma: 0.1 deg/s}\n"
    "  gyro_z: {type: gyro, body: block, axis: [0, 0, 1], sigma: 0.1 deg/s}\n"
    "  imu_x: {type: accelerometer, body: block, axis: [1, 0, 0], point: [0.1, 0, 0.2 m], sigma: 0.05 "
    "m/s^2}\n"
    "  imu_y: {type: accelerometer, body: block, axis: [0, 1, 0], point: [0.1, 0, 0.2 m], sigma: 0.05 "
    "m/s^2}\n"
    "joints:\n"
    "  free_x: {position_sigma: 1 mm, rate_sigma: 1 mm/s, acceleration_noise: 0.01 m/s^2/Hz^0.5}\n"
    "  free_y: {position_sigma: 1 mm, rate_sigma: 1 mm/s, acceleration_noise: 0.01 m/s^2/Hz^0.5}\n"
    "  free_z: {position_sigma: 1 mm, rate_sigma: 1 mm/s, acceleration_noise: 0.01 m/s^2/Hz^0.5}\n"
    "  free_yaw: {position_sigma: 1 deg, rate_sigma: 0.1 deg/s, acceleration_noise: 0.01 rad/s^2/Hz^0.5}\n"
    "  free_pitch: {position_sigma: 0.1 deg, rate_sigma: 0.1 deg/s, acceleration_noise: 0.01 "
    "rad/s^2/Hz^0.5}\n"
    "  free_roll: {position_sigma: 0.1 deg, rate_sigma: 0.1 deg/s, acceleration_noise: 0.01 rad/s^2/Hz^0.5}\n"
    "  hinge: {position_sigma: 0.2 deg, rate_sigma: 0.1 deg/s, acceleration_noise: 0.01 rad/s^2/Hz^0.5}\n"
    "contacts: {feet: {}, drum: {sigma: 0.1 deg}}\n"
    "augmented:\n"
    "  load: {parameter: arm.payload, sigma: 1 kg, noise: 0.1 kg/s^0.5}\n"
    "  grip: {parameter: feet.friction_scale, sigma: 0.1}\n";

static const struct {
  const char *machine, *text;
  /* in the end all sensors of motion are off by so many standard deviations; more makes the four-bar jump so far that its next step is one for the plant */
  double off;
  const char *more;
  double part; /* how nearly they agree */
} studies[] = {{"four-bar/four-bar.yaml", four_bar_study, 0.0, "", 0.0},
               {"crane/crane.yaml", crane_study, 8.0, "", 0.0},
               {"crane/crane.yaml", crane_study, 8.0, "filter: {covariance: square-root}\n", 0.0},
               {"quick-return/quick-return.yaml", quick_return_study, 0.0, "", 0.0},
               {"four-bar/four-bar.yaml", augmented_study, 0.0, "", 0.0},
               {"four-bar/four-bar.yaml", budget_study, 0.0, "", 0.0},
               {"four-bar/four-bar.yaml", divided_study, 0.0, "", 0.0},
               {"metered-crane/metered-crane.yaml", metered_study, 0.0, "", 0.0},
               {"metered-arm/two-arms.yaml", arms_study, 0.0, "", 1e-9},
               {"../test/property/digger.yaml", digger_study, 0.0, "", 0.0},
               {"../test/property/feet.yaml", standing_study, 0.0, "", 0.0}};
enum { N_STUDIES = sizeof studies / sizeof *studies, SAMPLES = 400, MOST_SENSORS = 16, MOST_ERRORS = 60 };

/* Reads commands, measurements and which there are; writes what it makes of them. */
static const char filter_driver[] =
    "#include \"m.h\"\n"
    "#include <stdio.h>\n"
    "int main(void)\n"
    "{\n"
    "  double u[M_ROOM(M_INPUTS)], y[M_SENSORS], value[M_OUTPUTS], sigma[M_OUTPUTS], status;\n"
    "  unsigned char present[M_SENSORS];\n"
    "#if M_LATE > 0\n"
    "#define f late.filter\n"
    "  static m_late late;\n"
    "  m_late_begin(&late);\n"
    "#else\n"
    "  static m_filter f;\n"
    "  m_begin(&f);\n"
    "#endif\n"
    "  while (fread(u, sizeof *u, M_INPUTS, stdin) == M_INPUTS && fread(y, sizeof *y, M_SENSORS, stdin) == "
    "M_SENSORS &&\n"
    "         fread(present, 1, M_SENSORS, stdin) == M_SENSORS) {\n"
    "#if M_LATE > 0\n"
    "    status = m_late_step(&late, u, y, present);\n"
    "#else\n"
    "    status = m_predict(&f, u);\n"
    "    if (status == 0.0) status = m_correct(&f, y, present);\n"
    "#endif\n"
    "    m_outputs(&f, value, sigma);\n"
    "    fwrite(&status, sizeof status, 1, stdout);\n"
    "    fwrite(value, sizeof *value, M_OUTPUTS, stdout);\n"
    "    fwrite(sigma, sizeof *sigma, M_OUTPUTS, stdout);\n"
    "    fwrite(f.P, sizeof **f.P, M_ERRORS * M_ERRORS, stdout);\n"
    "    for (int i = 0; i < M_SENSORS; i++) fwrite(&f.sensor[i].nis, sizeof(double), 1, stdout);\n"
    "    for (int i = 0; i < M_AUGMENTED; i++) {\n"
    "      double x, s;\n"
    "      m_augmented(&f, i, &x, &s);\n"
    "      fwrite(&x, sizeof x, 1, stdout);\n"
    "      fwrite(&s, sizeof s, 1, stdout);\n"
    "    }\n"
    "    fwrite(&f.nis, sizeof f.nis, 1, stdout);\n"
    "  }\n"
    "  return 0;\n"
    "}\n";

/* Numbers that look like noise: (-1, 1). */
static double noise(size_t k, size_t i)
{
  const uint32_t x = (uint32_t)(k * 2654435761u + i * 40503u) * 2246822519u;
  return (double)(x >> 8) / 8388608.0 - 1.0;
}

/* Errors of sample k of sensor i in its standard deviations: noise, a spike, one that drifts, then all of motion are off. */
static double error_of(size_t k, size_t i, double off)
{
  const double spike = k % 97 == 50 && i == k / 97 % 3 ? 30.0 : 0.0, drift = k > 150 && i == 1 ? 3.5 : 0.0;
  return 2.0 * noise(k, i) + spike + drift + (k >= 300 && k < 340 && i < 3 ? off : 0.0);
}

/* Outputs with the names that stand in the header's list, in their order; the number of them. */
static size_t find_outputs(const bramah_plant *plant, const char *code, size_t *out)
{
  size_t n = 0;
  const char *at = strstr(code, "m_output_names[");
  ck_assert_ptr_nonnull(at);
  for (at = strchr(at, '{'); *at != '}' && n < 64; at++) {
    char name[64] = "";
    if (*at != '"') continue;
    const size_t length = strcspn(at + 1, "\"");
    snprintf(name, sizeof name, "%.*s", (int)length, at + 1);
    const long found = bramah_plant_find_output(plant, name);
    ck_assert_int_ge(found, 0);
    out[n++] = (size_t)found;
    at += length + 1;
  }
  return n;
}

/* What the driver writes. */
static size_t write_row(bramah_filter *f, const unsigned char *present, double status, size_t n_outputs,
                        const size_t *output, double *row)
{
  const bramah_filter_info info = bramah_filter_get_info(f);
  const bramah_filter_last last = bramah_filter_get_last(f);
  size_t n = 0;
  row[n++] = status;
  for (size_t i = 0; i < n_outputs; i++) row[n++] = info.plant->output(info.plant->self, output[i]);
  for (size_t i = 0; i < n_outputs; i++) {
    const double sigma = bramah_filter_output_sigma(f, output[i]);
    row[n++] = isnan(sigma) ? -1.0 : sigma;
  }
  memcpy(row + n, bramah_filter_covariance(f), info.n_error * info.n_error * sizeof *row);
  n += info.n_error * info.n_error;
  for (size_t i = 0; i < info.n_sensors; i++) row[n++] = present[i] ? last.innovation[i].nis : 0.0;
  for (size_t i = 0; i < info.n_augmented; i++) {
    const bramah_filter_augmented a = bramah_filter_get_augmented(f, i);
    row[n++] = a.value;
    row[n++] = a.sigma;
  }
  row[n++] = last.nis;
  return n;
}

/* The same steps by the library; `row` gets what the driver writes. */
static size_t run_filter(bramah_filter *f, size_t k, double off, FILE *in, size_t n_outputs,
                         const size_t *output, double *row)
{
  const bramah_filter_info info = bramah_filter_get_info(f);
  const bramah_plant *plant = info.plant;
  double u[8], y[MOST_SENSORS];
  unsigned char present[MOST_SENSORS];
  bramah_diag diag;
  for (size_t i = 0; i < plant->n_input; i++) u[i] = 2.0 * sin(0.01 * (double)k + (double)i);
  const uint64_t recoveries = bramah_filter_get_report(f).recoveries;
  must(bramah_filter_set_inputs(f, u, &diag), &diag);
  must(bramah_filter_predict(f, &diag), &diag);
  for (size_t i = 0; i < info.n_sensors; i++) {
    present[i] = (k + i) % 5 != 0;
    y[i] = bramah_sensor_predict(&info.sensor[i], plant) + info.sensor[i].sigma * error_of(k, i, off);
  }
  must(bramah_filter_correct(f, y, present, &diag), &diag);
  fwrite(u, sizeof *u, plant->n_input, in);
  fwrite(y, sizeof *y, info.n_sensors, in);
  fwrite(present, 1, info.n_sensors, in);
  return write_row(f, present, bramah_filter_get_report(f).recoveries > recoveries ? 2.0 : 0.0, n_outputs,
                   output, row);
}

typedef struct filter_rig {
  char folder[SCRATCH_NAME];
  bramah_session *session;
  bramah_filter *f;
  const bramah_machine_plant *machine;
  bramah_program *program;
  bramah_c_source source;
  size_t n_outputs, output[64];
  size_t n, n_plain; /* numbers of a row; rows before the first that the source does not do */
  double *expected;  /* [SAMPLES x n] */
} filter_rig;

/* With the source of the study's filter, if that is written. */
static bramah_status open_filter(filter_rig *r, const char *path, bramah_diag *diag)
{
  must(bramah_session_open(path, diag, &r->session), diag);
  r->f = bramah_session_filter(r->session);
  r->machine = bramah_session_about(r->session)->machine;
  must(bramah_program_new(r->machine->model, diag, &r->program), diag);
  const bramah_status status = bramah_filter_c_source(r->f, r->program, r->machine->coupled, "m",
                                                      BRAMAH_PRECISION_DOUBLE, diag, &r->source);
  if (status != BRAMAH_OK) return status;
  must(bramah_coupled_use(r->machine->coupled, r->program, diag), diag);
  r->n_outputs = find_outputs(&r->machine->plant, r->source.code, r->output);
  r->expected = calloc(SAMPLES * (2 * 64 + MOST_ERRORS * MOST_ERRORS + 2 * MOST_ERRORS + MOST_SENSORS),
                       sizeof *r->expected);
  return status;
}

/* So far in a way that the source has, too: by the program, in parts or not. */
static int is_followed(const bramah_coupled *c)
{
  const bramah_step_report r = bramah_coupled_report(c);
  return r.left_basis + r.left_pivot + r.left_divergence == 0 && r.basis_changes == 0;
}

static void run_samples(filter_rig *r, size_t n, double off)
{
  FILE *in = in_folder(r->folder, "in", "wb");
  for (size_t k = 0; k < n; k++) {
    r->n = run_filter(r->f, k, off, in, r->n_outputs, r->output, r->expected + k * r->n);
    r->n_plain += (size_t)is_followed(r->machine->coupled);
  }
  ck_assert_int_eq(fclose(in), 0);
}

/* Apart by no more than this part of the largest of its kind. */
static void compare_filter(const filter_rig *r, double part)
{
  FILE *out = in_folder(r->folder, "out", "rb");
  double row[4096];
  for (size_t k = 0; k < r->n_plain; k++) {
    ck_assert_uint_eq(fread(row, sizeof *row, r->n, out), r->n);
    for (size_t i = 0; i < r->n; i++) {
      double largest = 0.0;
      for (size_t l = 0; l < r->n_plain && part > 0.0; l++)
        largest = fmax(largest, fabs(r->expected[l * r->n + i]));
      ck_assert_msg(fabs(row[i] - r->expected[k * r->n + i]) <= part * largest,
                    "step %zu, value %zu of %zu: %.17g, not %.17g", k, i, r->n, row[i],
                    r->expected[k * r->n + i]);
    }
  }
  fclose(out);
}

static void close_filter(filter_rig *r)
{
  remove_folder(r->folder);
  free(r->expected);
  bramah_c_source_free(&r->source);
  bramah_session_close(r->session);
  bramah_program_free(r->program);
}

EACH_TEST(test_filter_makes_the_same_bits, 0, N_STUDIES)
{
  char path[1024], text[8192];
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  filter_rig r = {.n = 0};
  bramah_diag diag;
  ck_assert(scratch_folder(r.folder));
  snprintf(text, sizeof text, "machine: %s/datasets/%s\n%s%s", root ? root : ".", studies[_i].machine,
           studies[_i].text, studies[_i].more);
  put_text(r.folder, "study.yaml", text);
  snprintf(path, sizeof path, "%s/study.yaml", r.folder);
  must(open_filter(&r, path, &diag), &diag);
  run_samples(&r, SAMPLES, studies[_i].off);
  ck_assert_uint_eq(r.n_plain, SAMPLES);
  ck_assert_int_eq(bramah_coupled_report(r.machine->coupled).divided > 0, studies[_i].text == divided_study);

  const size_t n_augmented = bramah_filter_get_info(r.f).n_augmented;
  const double *first = r.expected + r.n - 1 - 2 * n_augmented, *last = first + (SAMPLES - 1) * r.n;
  for (size_t i = 0; i < n_augmented; i++) /* what is estimated has moved */
    if (bramah_filter_get_augmented(r.f, i).is_estimated) ck_assert_double_ne(first[2 * i], last[2 * i]);

  /* Every gate, and the recovery, are at work. */
  const bramah_filter_report report = bramah_filter_get_report(r.f);
  ck_assert_int_eq(report.recoveries > 0, studies[_i].off > 0.0);
  ck_assert_uint_gt(report.gated, 60);

  compile_and_run(r.folder, &r.source, filter_driver, "-O0");
  compare_filter(&r, studies[_i].part);
  close_filter(&r);
}

/* The studies of the datasets: cycles that are compared (0: the source is only written) and how nearly, or why there is
 * none. Valves without lag: what leaps with a command the library takes from its interpreter, to rounding. */
static const struct {
  const char *study, *refused;
  size_t cycles;
  double part;
} shipped[] = {
    {"four-bar/sensors-1", NULL, 0, 0.0},       {"four-bar/sensors-2", NULL, 0, 0.0},
    {"four-bar/sensors-3", NULL, 0, 0.0},       {"four-bar/sensors-4", NULL, 0, 0.0},
    {"four-bar/raw", NULL, 60, 1e-9},           {"four-bar/raw-angle", NULL, 0, 0.0},
    {"four-bar/tuning", NULL, 0, 0.0},          {"four-bar/hypotheses", NULL, 0, 0.0},
    {"crane/gripper-load", NULL, 60, 0.0},      {"manipulator/encoders", NULL, 60, 0.0},
    {"manipulator/imus", NULL, 0, 0.0},         {"metered-crane/encoders-lumped", NULL, 0, 0.0},
    {"metered-crane/encoders", NULL, 60, 0.0},  {"metered-crane/pressures", NULL, 60, 0.0},
    {"lifting-four-bar/sensors", NULL, 0, 0.0}, {"linearization-four-bar/unknown-torque", NULL, 0, 0.0},
    {"quick-return/sensors", NULL, 60, 0.0},    {"rotary-actuator/act1", NULL, 60, 1e-9},
    {"rotary-actuator/act2", NULL, 0, 0.0},     {"rotary-actuator/act3", NULL, 0, 0.0},
    {"rotary-actuator/act4", NULL, 0, 0.0},     {"embedding/compiled/study", NULL, 0, 0.0},
    {"excavator/tracks", NULL, 0, 0.0},
};
enum { N_SHIPPED = sizeof shipped / sizeof *shipped };

static void give(FILE *in, const bramah_filter_info *info, const double *u, const double *y,
                 const unsigned char *present)
{
  fwrite(u, sizeof *u, info->plant->n_input, in);
  fwrite(y, sizeof *y, info->n_sensors, in);
  fwrite(present, 1, info->n_sensors, in);
}

/* An encoder's samples come 20 steps late, every fifth not at all; a torque is estimated with the state. One is no number,
 * which leaves everything as it was. */
TEST(test_late_samples)
{
  enum { CYCLES = 120, BAD = 60 };
  char path[1024];
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  filter_rig r = {.n_plain = CYCLES + 1};
  bramah_rewind *rewind;
  bramah_diag diag;
  ck_assert(scratch_folder(r.folder));
  snprintf(path, sizeof path, "%s/datasets/linearization-four-bar/unknown-torque.yaml", root ? root : ".");
  must(open_filter(&r, path, &diag), &diag);
  must(bramah_rewind_new(r.f, NULL, &diag, &rewind), &diag);
  const bramah_filter_info info = bramah_filter_get_info(r.f);
  FILE *in = in_folder(r.folder, "in", "wb");
  for (size_t k = 0; k < CYCLES; k++) {
    double u[8], y[MOST_SENSORS];
    unsigned char present[MOST_SENSORS], fused[MOST_SENSORS];
    for (size_t i = 0; i < info.plant->n_input; i++) u[i] = 0.5 * sin(0.02 * (double)k);
    must(bramah_rewind_set_inputs(rewind, u, &diag), &diag);
    const int64_t coming_ns = bramah_filter_time_ns(r.f) + info.plant->step_ns;
    for (size_t i = 0; i < info.n_sensors; i++) {
      const bramah_sensor *sensor = &info.sensor[i];
      present[i] = (k + i) % 5 != 0;
      fused[i] = present[i] && sensor->delay_ns == 0; /* of the point that is estimated */
      y[i] = bramah_sensor_predict(sensor, info.plant) + sensor->sigma * error_of(k, i, 0.0);
      const int64_t time_ns = coming_ns - sensor->delay_ns;
      if (!present[i]) continue;
      const bramah_status status = bramah_rewind_sample(rewind, i, time_ns, y[i], &diag);
      ck_assert_int_eq(status, time_ns < 0 ? BRAMAH_E_TIME : BRAMAH_OK);
    }
    must(bramah_rewind_advance(rewind, &diag), &diag);
    give(in, &info, u, y, present);
    r.n = write_row(r.f, fused, 0.0, r.n_outputs, r.output, r.expected + (k + (k > BAD)) * r.n);
    if (k != BAD) continue;
    memcpy(r.expected + (BAD + 1) * r.n, r.expected + BAD * r.n, r.n * sizeof(double));
    r.expected[(BAD + 1) * r.n] = -3.0; /* M_NOT_FINITE */
    present[0] = 1, y[0] = NAN;
    give(in, &info, u, y, present);
  }
  ck_assert_int_eq(fclose(in), 0);
  ck_assert_uint_gt(bramah_rewind_get_report(rewind).rewinds, CYCLES / 2);
  compile_and_run(r.folder, &r.source, filter_driver, "-O1");
  compare_filter(&r, 0.0);
  bramah_rewind_free(rewind);
  close_filter(&r);
}

EACH_TEST(test_shipped_studies, 0, N_SHIPPED)
{
  char path[1024];
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  filter_rig r = {.n = 0};
  bramah_diag diag;
  ck_assert(scratch_folder(r.folder));
  snprintf(path, sizeof path, "%s/datasets/%s.yaml", root ? root : ".", shipped[_i].study);
  const bramah_status status = open_filter(&r, path, &diag);
  if (shipped[_i].refused) {
    ck_assert_int_eq(status, BRAMAH_E_UNSUPPORTED);
    ck_assert_msg(strstr(diag.message, shipped[_i].refused) != NULL, "%s", diag.message);
  } else {
    must(status, &diag);
    if (shipped[_i].cycles) {
      run_samples(&r, shipped[_i].cycles, 0.0);
      ck_assert_uint_eq(r.n_plain, shipped[_i].cycles);
      compile_and_run(r.folder, &r.source, filter_driver, "-O0");
      compare_filter(&r, shipped[_i].part);
    }
  }
  close_filter(&r);
}

int main(void) { return run_tests("c_source"); }
