/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _XOPEN_SOURCE 700 /* temporary files */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/io/session.h"
#include "test/support/run.h"
#include "test/support/text_file.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define PI 3.14159265358979323846
#define DEG (PI / 180.0)

enum { N_LINES = 19, LONGEST_TEXT = 4096 };

/* A correct study; each error case replaces one line of it. */
static const char *const small_study[N_LINES] = {
    /*  1 */ "study: small study, 1 kHz",
    /*  2 */ "machine: machines/small.yaml",
    /*  3 */ "changes:",
    /*  4 */ "  bodies.crank.mass: 18 kg",
    /*  5 */ "  gravity: [0, -8.81, 0 m/s^2]",
    /*  6 */ "time: seconds",
    /*  7 */ "inputs: {valve: my column}",
    /*  8 */ "sensors:",
    /*  9 */ "  angle: {type: encoder, joint: crank, sigma: 1 deg, rate: 1 kHz, column: phi}",
    /* 10 */ "  way: {type: encoder, joint: slide, sigma: 2 mm}",
    /* 11 */ "  turn: {type: gyro, body: crank, axis: [0, 0, 2], sigma: 9.84e-4 rad/s, rate: 300 Hz}",
    /* 12 */ "  speed: {type: gyro, joint: slide, sigma: 1 mm/s}",
    /* 13 */ "  p1: {type: pressure, volume: v1, sigma: 0.5 bar, rate: 1 kHz}",
    /* 14 */ "joints:",
    /* 15 */
    ("  crank: {position: 63 deg, position_sigma: 3 deg, rate_sigma: 0.1 rad/s, acceleration_noise: 0.5 "
     "rad/s^2/Hz^0.5}"),
    /* 16 */ "  slide: {rate: 1 m/s, position_sigma: 3 mm, rate_sigma: 1 mm/s, acceleration_noise: 0}",
    /* 17 */ "volumes:",
    /* 18 */ "  v1: {pressure: 30 bar, sigma: 1 bar, noise: 0.5 bar/s^0.5}",
    /* 19 */ "  v2: {sigma: 1 bar, noise: 0 bar/s^0.5}",
};

static int write_study(int line, const char *with) { return write_lines(small_study, N_LINES, line, with); }

static bramah_study *load_file(const char *file)
{
  bramah_diag diag;
  bramah_study *study = NULL;
  bramah_status status = bramah_study_load(file, 0, NULL, &diag, &study);
  ck_assert_msg(status == BRAMAH_OK, "%d:%d: %s: %s", diag.line, diag.column, diag.thing, diag.message);
  return study;
}

/* The small study with a line replaced (0: none). */
static bramah_study *load_with(int line, const char *with)
{
  write_study(line, with);
  return load_file(path);
}

TEST(head_of_study_is_read)
{
  bramah_study *s = load_with(0, NULL);
  ck_assert_str_eq(s->name, "small study, 1 kHz");
  ck_assert_str_eq(s->file, path);
  ck_assert_str_eq(s->machine_file, beside_path("machines/small.yaml"));
  ck_assert_str_eq(s->time_column, "seconds");
  ck_assert_int_eq(s->transition, BRAMAH_TRANSITION_STEP);
  ck_assert_uint_eq(s->n_inputs, 1);
  ck_assert_str_eq(s->inputs[0].name, "my column");
  ck_assert_str_eq(s->inputs[0].target, "valve");
  ck_assert_int_eq(s->inputs[0].line, 7);
  ck_assert_uint_eq(s->n_changes, 2);
  ck_assert_str_eq(s->changes[0].path, "bodies.crank.mass");
  ck_assert_str_eq(s->changes[0].value, "18 kg");
  ck_assert_str_eq(s->changes[0].file, path);
  ck_assert_int_eq(s->changes[0].line, 4);
  ck_assert_str_eq(s->changes[1].value, "[0, -8.81, 0 m/s^2]");
  ck_assert_int_eq(s->changes[1].line, 5);
  bramah_study_free(s);
}

TEST(sensors_are_read)
{
  bramah_study *s = load_with(0, NULL);
  const bramah_sensor_options *sensor = s->sensors;
  ck_assert_uint_eq(s->n_sensors, 5);
  ck_assert(sensor[0].kind == BRAMAH_SENSOR_ENCODER && sensor[0].sigma == DEG &&
            sensor[0].period_ns == 1000000);
  ck_assert_str_eq(sensor[0].name, "angle");
  ck_assert_str_eq(sensor[0].at, "crank");
  ck_assert_int_eq(sensor[0].line, 9);
  ck_assert_str_eq(s->sensor_columns[0].name, "phi");
  ck_assert_str_eq(s->sensor_columns[0].target, "angle");
  ck_assert(sensor[1].sigma == 2e-3 && sensor[1].period_ns == 0);
  ck_assert_str_eq(s->sensor_columns[1].name, "way");
  ck_assert(sensor[2].kind == BRAMAH_SENSOR_GYRO && sensor[2].axis[2] == 2.0 && sensor[2].sigma == 9.84e-4);
  ck_assert_int_eq(sensor[2].period_ns, 3333333);
  ck_assert_str_eq(sensor[2].at, "crank");
  ck_assert(sensor[3].axis[0] == 0.0 && sensor[3].axis[1] == 0.0 && sensor[3].axis[2] == 0.0);
  ck_assert_str_eq(sensor[3].at, "slide");
  ck_assert(sensor[4].kind == BRAMAH_SENSOR_PRESSURE && sensor[4].sigma == 0.5e5);
  ck_assert_str_eq(sensor[4].at, "v1");
  bramah_study_free(s);
}

/* One line of each kind, in place of the encoder. */
TEST(every_kind_is_read)
{
  bramah_study *s =
      load_with(9, "  s: {type: accelerometer, body: boom, point: [1, 0, 200 mm], axis: [0, 3, 4], "
                   "sigma: 0.05 m/s^2, range: [-20, 20 m/s^2], resolution: 0.01 m/s^2}");
  const bramah_sensor_options *o = s->sensors;
  ck_assert(o->kind == BRAMAH_SENSOR_ACCELEROMETER && o->sigma == 0.05 && o->axis[1] == 3 && o->axis[2] == 4);
  ck_assert(o->point[0] == 1e-3 && o->point[2] == 0.2 && o->resolution == 0.01);
  ck_assert(o->least == -20 && o->most == 20);
  ck_assert_str_eq(o->at, "boom");
  bramah_study_free(s);
  s = load_with(9, "  s: {type: inclinometer, body: boom, axis: [1, 0, 0], about: [0, 0, 1], sigma: 0.1 deg, "
                   "resolution: 0.01 deg}");
  o = s->sensors;
  ck_assert(o->kind == BRAMAH_SENSOR_INCLINOMETER && o->axis[0] == 1 && o->about[2] == 1);
  ck_assert(o->resolution == 0.01 * DEG && o->least == 0 && o->most == 0);
  bramah_study_free(s);
  s = load_with(9, "  s: {type: stroke, cylinder: lift, sigma: 1 mm, range: [1, 2 m]}");
  o = s->sensors;
  ck_assert(o->kind == BRAMAH_SENSOR_STROKE && o->sigma == 1e-3 && o->least == 1 && o->most == 2);
  ck_assert_str_eq(o->at, "lift");
  bramah_study_free(s);
  s = load_with(9, "  s: {type: pressure-difference, a: v1, b: v2, sigma: 0.1 bar}");
  o = s->sensors;
  ck_assert(o->kind == BRAMAH_SENSOR_PRESSURE_DIFFERENCE && o->sigma == 1e4);
  ck_assert_str_eq(o->at, "v1");
  ck_assert_str_eq(o->less, "v2");
  bramah_study_free(s);
  s = load_with(9, "  s: {type: flow, element: valve, port: b, sigma: 6 L/min}");
  o = s->sensors;
  ck_assert(o->kind == BRAMAH_SENSOR_FLOW && o->port == BRAMAH_SENSOR_PORT_B);
  ck_assert_double_eq_tol(o->sigma, 1e-4, 1e-18);
  ck_assert_str_eq(o->at, "valve");
  bramah_study_free(s);
  s = load_with(9, "  s: {type: load-pin, cylinder: lift, sigma: 0.2 kN}");
  o = s->sensors;
  ck_assert(o->kind == BRAMAH_SENSOR_LOAD_PIN && o->sigma == 200 && o->port == BRAMAH_SENSOR_PORT_NONE);
  bramah_study_free(s);
  s = load_with(9, "  s: {type: encoder, joint: slide, sigma: 1 mm, resolution: 0.1 mm, range: [0, 5 m]}");
  ck_assert(s->sensors[0].resolution == 1e-4 && s->sensors[0].most == 5);
  bramah_study_free(s);
}

TEST(start_values_are_read)
{
  bramah_study *s = load_with(0, NULL);
  const bramah_joint_start *crank = &s->joints[0], *slide = &s->joints[1];
  ck_assert(s->n_joints == 2 && s->n_volumes == 2);
  ck_assert_str_eq(crank->joint, "crank");
  ck_assert(crank->slides == 0 && crank->has_position == 1 && crank->position == 63 * DEG &&
            crank->rate == 0);
  ck_assert(crank->position_sigma == 3 * DEG && crank->rate_sigma == 0.1 && crank->acceleration_noise == 0.5);
  ck_assert(slide->slides == 1 && slide->has_position == 0 && slide->has_rate == 1 && slide->rate == 1.0 &&
            slide->line == 16);
  ck_assert(slide->position_sigma == 3e-3 && slide->acceleration_noise == 0.0);
  ck_assert_str_eq(s->volumes[0].volume, "v1");
  ck_assert(s->volumes[0].has_pressure == 1 && s->volumes[0].pressure == 30e5);
  ck_assert(s->volumes[0].sigma == 1e5 && s->volumes[0].noise == 0.5e5);
  ck_assert(s->volumes[1].has_pressure == 0 && s->volumes[1].noise == 0.0 && s->volumes[1].line == 19);
  bramah_study_free(s);
}

/* ---- filter ---- */

TEST(filter_has_defaults)
{
  bramah_study *s = load_with(0, NULL);
  ck_assert_int_eq(s->transition, BRAMAH_TRANSITION_STEP);
  ck_assert_int_eq(s->discretisation, BRAMAH_DISCRETISATION_DEFAULT);
  ck_assert_int_eq(s->form, BRAMAH_COVARIANCE_JOSEPH);
  ck_assert_int_eq(s->fusion, BRAMAH_FUSION_SEQUENTIAL);
  ck_assert(s->iterations == 0 && s->patience == 0 && s->drift_gate == 6.0);
  for (size_t i = 0; i < s->n_sensors; i++) ck_assert_double_eq(s->gate[i], 4.0);
  ck_assert(s->n_augmented == 0 && s->n_parameter_noise == 0);
  ck_assert(s->uncertainty.is_on && !s->uncertainty.is_stated);
  bramah_study_free(s);
}

/* What protects, by what a study says: one that says nothing is protected, the papers' filter is not, and a budget is
 * never an error where nobody asked for it. */
static const struct {
  const char *says;
  bramah_transition transition;
  double gate, drift_gate;
  int budget;
} protections[] = {
    {"filter: {}", BRAMAH_TRANSITION_STEP, 4.0, 6.0, 1},
    {"filter: {preset: default}", BRAMAH_TRANSITION_STEP, 4.0, 6.0, 1},
    {"filter: {preset: papers}", BRAMAH_TRANSITION_KINEMATIC, 0.0, 0.0, 0},
    {"filter: {gate: 3, preset: papers}", BRAMAH_TRANSITION_KINEMATIC, 3.0, 0.0, 0},
    {"filter: {preset: papers, transition: step}", BRAMAH_TRANSITION_STEP, 0.0, 0.0, 0},
    {"filter: {preset: papers, transition: step}\nuncertainty: default", BRAMAH_TRANSITION_STEP, 0.0, 0.0, 1},
    {"filter: {transition: paper}", BRAMAH_TRANSITION_KINEMATIC, 4.0, 6.0, 0},
    {"filter: {transition: paper-exact, drift_gate: off}", BRAMAH_TRANSITION_KINEMATIC_EXACT, 4.0, 0.0, 0},
    {"filter: {gate: off}", BRAMAH_TRANSITION_STEP, 0.0, 6.0, 1},
    {"filter: {gate: 5, drift_gate: 7}\nuncertainty: fixed", BRAMAH_TRANSITION_STEP, 5.0, 7.0, 0},
};

EACH_TEST(what_protects, 0, sizeof protections / sizeof *protections)
{
  const char *says = protections[_i].says;
  bramah_study *s = load_with(6, says);
  ck_assert_int_eq(s->transition, protections[_i].transition);
  for (size_t i = 0; i < s->n_sensors; i++) ck_assert_double_eq(s->gate[i], protections[_i].gate);
  ck_assert_double_eq(s->drift_gate, protections[_i].drift_gate);
  ck_assert_int_eq(s->uncertainty.is_on, protections[_i].budget);
  bramah_study_free(s);
}

/* What tells that an unknown command leapt is no fault of a sensor: no gates, unless the study wants them. */
TEST(unknown_inputs_have_no_gates)
{
  static const char unknown[] = "inputs: {valve: {unknown: {sigma: 2 V, noise: 5 V/s^0.5}}}";
  char with_gate[128];
  snprintf(with_gate, sizeof with_gate, "%s\nfilter: {gate: 4}", unknown);
  bramah_study *s = load_with(7, unknown);
  ck_assert(s->gate[0] == 0.0 && s->uncertainty.is_on);
  bramah_study_free(s);
  s = load_with(7, with_gate);
  ck_assert(s->gate[0] == 4.0 && s->drift_gate == 6.0);
  bramah_study_free(s);
}

TEST(filter_is_read)
{
  bramah_study *s =
      load_with(6, "filter: {transition: step, noise: published, covariance: square-root, fusion: block, "
                   "iterations: 3, gate: 4, drift_gate: 5, patience: 50}\n");
  ck_assert_int_eq(s->transition, BRAMAH_TRANSITION_STEP);
  ck_assert_int_eq(s->discretisation, BRAMAH_DISCRETISATION_PUBLISHED);
  ck_assert_int_eq(s->form, BRAMAH_COVARIANCE_SQUARE_ROOT);
  ck_assert_int_eq(s->fusion, BRAMAH_FUSION_BLOCK);
  ck_assert(s->iterations == 3 && s->patience == 50 && s->drift_gate == 5.0);
  for (size_t i = 0; i < s->n_sensors; i++) ck_assert_double_eq(s->gate[i], 4.0);
  bramah_study_free(s);
  s = load_with(6, "filter: {noise: resolvent, transition: step}");
  ck_assert_int_eq(s->discretisation, BRAMAH_DISCRETISATION_RESOLVENT);
  bramah_study_free(s);
  s = load_with(6, "filter: {transition: paper-exact}");
  ck_assert_int_eq(s->transition, BRAMAH_TRANSITION_KINEMATIC_EXACT);
  bramah_study_free(s);
}

/* A sensor's own gate goes before that of the filter, which stands behind it in the file. */
TEST(gates_are_of_filter_or_sensor)
{
  bramah_study *s = load_with(9, "  angle: {type: encoder, joint: crank, sigma: 1 deg, gate: 2.5}\n"
                                 "  open: {type: encoder, joint: crank, sigma: 1 deg, gate: 0}");
  ck_assert(s->n_sensors == 6 && s->gate[0] == 2.5 && s->gate[1] == 0.0 && s->gate[2] == 4.0);
  bramah_study_free(s);
  FILE *stream = fopen(path, "ab");
  fputs("\nfilter: {gate: 3}\n", stream);
  fclose(stream);
  s = load_file(path);
  ck_assert(s->gate[0] == 2.5 && s->gate[1] == 0.0 && s->gate[2] == 3.0 && s->gate[5] == 3.0);
  bramah_study_free(s);
}

TEST(augmented_states_are_read)
{
  bramah_study *s = load_with(6, "augmented:\n"
                                 "  load: {parameter: crank.load, sigma: 50 N*m, noise: 20 N*m/s^0.5}\n"
                                 "  drift: {bias_of: turn, order: 2, time_constant: 500 ms, sigma: 1 deg/s,\n"
                                 "    least: -5 deg/s, most: 0.1 rad/s}\n"
                                 "  hum: {bias_of: turn, frequency: 0.05 kHz, sigma: 1 deg/s}\n"
                                 "  ripple: {bias_of: turn, signal_period: 2 deg/s, sigma: 1 deg/s}");
  const bramah_study_augmented *load = &s->augmented[0], *drift = &s->augmented[1], *hum = &s->augmented[2];
  ck_assert_uint_eq(s->n_augmented, 4);
  ck_assert(hum->order == 2 && hum->frequency == 50.0 && hum->time_constant == 0.0);
  ck_assert(hum[1].order == 2 && hum[1].frequency == 0.0);
  ck_assert_str_eq(hum[1].signal_period.text, "2 deg/s");
  ck_assert_str_eq(load->name, "load");
  ck_assert_str_eq(load->at, "crank.load");
  ck_assert(load->kind == BRAMAH_AUGMENTED_PARAMETER && load->order == 0 && load->time_constant == 0.0);
  ck_assert(load->line == 7 && load->at_line == 7 && load->sigma.line == 7);
  ck_assert_str_eq(load->sigma.text, "50 N*m");
  ck_assert_int_eq(load->sigma.column, 40);
  ck_assert_str_eq(load->noise.text, "20 N*m/s^0.5");
  ck_assert(!load->least.text && !load->most.text);
  ck_assert(drift->kind == BRAMAH_AUGMENTED_BIAS && drift->order == 2 && drift->time_constant == 0.5);
  ck_assert_str_eq(drift->at, "turn");
  ck_assert(!drift->noise.text && drift->most.line == 9);
  ck_assert_str_eq(drift->least.text, "-5 deg/s");
  ck_assert_str_eq(drift->most.text, "0.1 rad/s");
  bramah_study_free(s);
}

/* An unknown command is an augmented state before all others, with the name of its output. */
TEST(unknown_inputs_are_read)
{
  bramah_study *s = load_with(
      7, "inputs: {lift: {column: my column}, valve: {unknown: {sigma: 2 V, noise: 5 V/s^0.5, most: 8 V}}}\n"
         "augmented: {load: {parameter: crank.load, sigma: 50 N*m}}");
  const bramah_study_augmented *valve = &s->augmented[0];
  ck_assert_uint_eq(s->n_inputs, 1);
  ck_assert_str_eq(s->inputs[0].target, "lift");
  ck_assert_str_eq(s->inputs[0].name, "my column");
  ck_assert_uint_eq(s->n_augmented, 2);
  ck_assert_str_eq(valve->name, "valve.command");
  ck_assert_str_eq(valve->at, "valve.offset");
  ck_assert_str_eq(valve->input, "valve");
  ck_assert(valve->kind == BRAMAH_AUGMENTED_PARAMETER && valve->line == 7 && valve->order == 0);
  ck_assert_str_eq(valve->sigma.text, "2 V");
  ck_assert_str_eq(valve->noise.text, "5 V/s^0.5");
  ck_assert_str_eq(valve->most.text, "8 V");
  ck_assert_str_eq(s->augmented[1].name, "load");
  ck_assert_ptr_null(s->augmented[1].input);
  bramah_study_free(s);
}

/* What a file does not say of its format the log has said. */
TEST(logs_are_read)
{
  bramah_study *s = load_with(
      6, "time: {column: n, rate: 500 Hz, wrap: 65536, offset: -12 ms, drift: 30 ppm, origin: 2 s}\n"
         "log: {delimiter: semicolon, decimal: comma, comment: '% //', missing: NaN, skip: 2, header: none,\n"
         "  bad_cells: skip, reorder: 5 ms, resets: join, longest_gap: 1 min, atmosphere: 0.95 bar,\n"
         "  files: {imu: {match: imu*.csv, delimiter: tab, units: row, time: {column: 2, unit: iso8601}}}}");
  const bramah_study_log *log = &s->log;
  ck_assert_str_eq(s->time_column, "n");
  ck_assert_str_eq(s->time.rate.text, "500 Hz");
  ck_assert_str_eq(s->time.wrap.text, "65536");
  ck_assert_str_eq(s->time.offset.text, "-12 ms");
  ck_assert_str_eq(s->time.origin.text, "2 s");
  ck_assert(s->time.drift == 30e-6);
  ck_assert(log->format.delimiter == ';' && log->format.decimal == ',' && log->format.skip == 2);
  ck_assert(log->format.no_header && log->format.skip_bad_cells && !log->format.skip_bad_rows);
  ck_assert(log->reorder_ns == 5000000 && log->longest_gap_ns == INT64_C(60000000000));
  ck_assert(log->resets == BRAMAH_LOG_RESETS_JOIN && fabs(log->atmosphere - 0.95e5) < 1e-6);
  ck_assert_uint_eq(log->n_files, 1);
  const bramah_study_file *imu = &log->files[0];
  ck_assert_str_eq(imu->match, "imu*.csv");
  ck_assert_str_eq(imu->time.unit, "iso8601");
  ck_assert(imu->format.delimiter == '\t' && imu->format.decimal == ',' && imu->format.skip == 2);
  ck_assert(imu->format.units == BRAMAH_LOG_UNITS_ROW && imu->format.skip_bad_cells);
  ck_assert_str_eq(imu->format.comment, "% //");
  ck_assert_int_eq(imu->format.no_header, 1);
  bramah_study_free(s);
}

/* A file may have a header where the others have none. */
TEST(a_file_may_have_a_header_of_its_own)
{
  bramah_study *s =
      load_with(6, "log: {header: none, files: {a: {match: a.csv, header: yes}, b: {match: b.csv}}}");
  ck_assert_int_eq(s->log.format.no_header, 1);
  ck_assert_int_eq(s->log.files[0].format.no_header, 0);
  ck_assert_int_eq(s->log.files[1].format.no_header, 1);
  bramah_study_free(s);
  s = load_with(6, "log: {header: yes, files: {a: {match: a.csv}, b: {match: b.csv, header: none}}}");
  ck_assert_int_eq(s->log.format.no_header, 0);
  ck_assert_int_eq(s->log.files[0].format.no_header, 0);
  ck_assert_int_eq(s->log.files[1].format.no_header, 1);
  bramah_study_free(s);
}

/* What is both an unknown command and an offset beside the state is told. */
TEST(an_unknown_command_is_estimated_once)
{
  bramah_diag diag;
  bramah_study *study = NULL;
  write_study(7, "inputs: {valve: {unknown: {sigma: 2 V, noise: 5 V/s^0.5}}}\n"
                 "augmented:\n"
                 "  bias: {parameter: valve.offset, sigma: 1 V}");
  ck_assert_int_eq(bramah_study_load(path, 0, NULL, &diag, &study), BRAMAH_E_VALUE);
  ck_assert_int_eq(diag.line, 9);
  ck_assert_str_eq(diag.thing, "bias");
  ck_assert_str_eq(diag.message, "this parameter is estimated as the unknown command of the input already");
}

TEST(columns_are_read)
{
  bramah_study *s =
      load_with(13, "  p1: {type: pressure, volume: v1, sigma: 0.5 bar, unit: V, scale: 40 bar/V, offset: -1 "
                    "bar, sign: -1,\n"
                    "    wrap: 10 bar, reference: gauge, column: AI3}");
  const bramah_study_column *c = &s->sensor_columns[4];
  ck_assert_str_eq(c->name, "AI3");
  ck_assert_str_eq(c->target, "p1");
  ck_assert_str_eq(c->unit, "V");
  ck_assert_str_eq(c->scale.text, "40 bar/V");
  ck_assert_str_eq(c->offset.text, "-1 bar");
  ck_assert_str_eq(c->wrap.text, "10 bar");
  ck_assert(c->sign == -1.0 && c->gauge && !c->file);
  ck_assert(s->sensor_columns[0].sign >= 0.0 && !s->sensor_columns[0].scale.text);
  bramah_study_free(s);
}

TEST(files_of_columns_must_exist)
{
  bramah_diag diag;
  bramah_study *study = NULL;
  write_study(10, "  way: {type: encoder, joint: slide, sigma: 2 mm, file: imu}");
  ck_assert_int_eq(bramah_study_load(path, 0, NULL, &diag, &study), BRAMAH_E_REFERENCE);
  ck_assert_str_eq(diag.thing, "way");
  ck_assert_int_eq(diag.line, 10);
  ck_assert_str_eq(diag.message, "there is no file 'imu' in log.files");
}

TEST(parameter_noise_is_read)
{
  bramah_study *s =
      load_with(6, "parameter_noise:\n  valve.offset: 0.05 V/Hz^0.5\n  pump.pressure: 1 bar/Hz^0.5");
  ck_assert_uint_eq(s->n_parameter_noise, 2);
  ck_assert_str_eq(s->parameter_noise[0].at, "valve.offset");
  ck_assert_str_eq(s->parameter_noise[0].density.text, "0.05 V/Hz^0.5");
  ck_assert_str_eq(s->parameter_noise[1].at, "pump.pressure");
  ck_assert_int_eq(s->parameter_noise[1].line, 8);
  bramah_study_free(s);
}

typedef struct told {
  int n, line[8];
} told;

static void tell(void *user, const bramah_diag *diag)
{
  told *t = user;
  if (t->n < COUNT(t->line)) t->line[t->n++] = diag->line;
}

/* check goes on behind a mistake, in these sections too. */
TEST(every_mistake_is_told)
{
  told t = {0};
  write_study(6, "filter: {transition: stp, iterations: 0}\n"
                 "augmented:\n"
                 "  a: {bias_of: trn, sigma: 1}\n"
                 "  b: {parameter: p.pressure}\n"
                 "parameter_noise:\n"
                 "  p.pressure: 0 bar/Hz^0.5\n"
                 "  p.offset: fast");
  ck_assert_int_lt(bramah__study_check(path, tell, &t), 0);
  static const int lines[] = {6, 6, 8, 9, 11, 12};
  ck_assert_int_eq(t.n, COUNT(lines));
  for (int i = 0; i < COUNT(lines); i++) ck_assert_int_eq(t.line[i], lines[i]);
}

TEST(machine_path_may_be_absolute)
{
  bramah_study *s = load_with(2, "machine: /a/b.yaml");
  ck_assert_str_eq(s->machine_file, "/a/b.yaml");
  bramah_study_free(s);
}

TEST(time_column_has_a_default)
{
  bramah_study *s = load_with(6, "");
  ck_assert_str_eq(s->time_column, "t");
  bramah_study_free(s);
}

TEST(list_in_a_change_keeps_its_meaning)
{
  bramah_study *s = load_with(5, "  a.b: [[1, 'it''s: [x]'], \"\", 2 m]\n  c: \"quoted: text\"");
  ck_assert_str_eq(s->changes[1].value, "[[1, 'it''s: [x]'], '', 2 m]");
  ck_assert_str_eq(s->changes[2].value, "quoted: text");
  bramah_study_free(s);
}

/* ---- the data set ---- */

static void data_path(char *out, size_t n, int set)
{
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  snprintf(out, n, "%s/datasets/four-bar/sensors-%d.yaml", root ? root : ".", set);
}

EACH_TEST(four_bar_studies_load_with_their_machine, 0, 4)
{
  static const char *const sensors[] = {"crank_encoder p1 p2 p3", "crank_encoder crank_gyro p1 p2 p3",
                                        "crank_encoder crank_gyro p1 p2", "crank_encoder crank_gyro p1 p3"};
  char file[1024], names[256] = "";
  bramah_machine *m = NULL;
  data_path(file, sizeof file, _i + 1);
  bramah_study *s = load_file(file);
  for (size_t i = 0; i < s->n_sensors; i++) {
    if (i) strcat(names, " ");
    strcat(names, s->sensors[i].name);
    ck_assert_int_eq(s->sensors[i].period_ns, 1000000);
  }
  ck_assert_str_eq(names, sensors[_i]);
  ck_assert_int_eq(bramah_machine_load(s->machine_file, s->n_changes, s->changes, NULL, &m), BRAMAH_OK);
  const bramah_friction *friction = &m->cylinders[0].friction;
  ck_assert(friction->coulomb == 231 && friction->static_force == 913 && friction->viscous == 363);
  ck_assert(s->joints[0].position == 63 * DEG && s->n_volumes == 3);
  bramah_machine_free(m);
  bramah_study_free(s);
}

/* ---- errors: one line replaced, '@' in front of the offending scalar ---- */

static const bad_line bad_lines[] = {
    {1, "@studdy: small", BRAMAH_E_KEY, "studdy", "unknown key 'studdy'; did you mean 'study'?"},
    {2, "machine: @[a]", BRAMAH_E_SYNTAX, "machine", "a single value is expected here, not a list"},
    {4, "  bodies.crank.mass:@ ", BRAMAH_E_VALUE, "changes.bodies.crank.mass", "a value is missing"},
    {4, "  bodies.crank: @{mass: 3 kg}", BRAMAH_E_SYNTAX, "changes.bodies.crank",
     "a change is a value or a list of values; give one change for every key"},
    {4, "  a: @[[[1]]]", BRAMAH_E_SYNTAX, "changes.a",
     "a change is a value or a list of values; give one change for every key"},
    {5, "  @bodies.crank.mass: 3 kg", BRAMAH_E_KEY, "changes.bodies.crank.mass",
     "this change is given twice"},
    {6, "filter: {transition: @stp}", BRAMAH_E_VALUE, "filter.transition",
     "'stp' is not known here; did you mean 'step'?"},
    {6, "filter: {@transitoin: step}", BRAMAH_E_KEY, "filter.transitoin",
     "unknown key 'transitoin'; did you mean 'transition'?"},
    {6, "filter: {transition: paper-exact, noise: @resolvent}", BRAMAH_E_VALUE, "filter.noise",
     "the resolvent needs 'transition: step'"},
    {6, "filter: {preset: @paper}", BRAMAH_E_VALUE, "filter.preset",
     "'paper' is not known here; did you mean 'papers'?"},
    {6, "filter: {covariance: @cholesky}", BRAMAH_E_VALUE, "filter.covariance",
     "'cholesky' is not known here; possible are joseph, square-root"},
    {6, "filter: {fusion: @blok}", BRAMAH_E_VALUE, "filter.fusion",
     "'blok' is not known here; did you mean 'block'?"},
    {6, "filter: {iterations: @0}", BRAMAH_E_VALUE, "filter.iterations",
     "'0' is not a whole number from 1 on"},
    {6, "filter: {iterations: @101}", BRAMAH_E_VALUE, "filter.iterations",
     "the update is iterated 1 to 100 times"},
    {6, "filter: {gate: @0}", BRAMAH_E_VALUE, "filter.gate", "gate must be positive"},
    {6, "filter: {gate: @4 bar}", BRAMAH_E_UNIT, "filter.gate",
     "4 bar is a pressure, a pure number is expected, for example '4'"},
    {6, "filter: {preset: papers, drift_gate: @5}", BRAMAH_E_VALUE, "filter.drift_gate",
     "the drift gate is for sensors with a 'gate': give one here or there"},
    {6, "filter: {patience: @2.5}", BRAMAH_E_VALUE, "filter.patience",
     "'2.5' is not a whole number from 1 on"},
    {6, "augmented: {@a: {sigma: 1 N}}", BRAMAH_E_KEY, "augmented.a",
     "'parameter', 'bias_of' or 'gain_of' is needed"},
    {6, "augmented: {a: {parameter: b, @bias_of: p1, sigma: 1 N}}", BRAMAH_E_KEY, "augmented.a.bias_of",
     "'parameter' and 'bias_of' exclude each other"},
    {6, "augmented: {@a: {parameter: b, gain_of: p1, sigma: 1}}", BRAMAH_E_KEY, "augmented.a",
     "'parameter' and 'gain_of' are two different states"},
    {6, "augmented: {@a: {parameter: crank.load}}", BRAMAH_E_KEY, "augmented.a",
     "required key 'sigma' is missing"},
    {6, "augmented: {a: {parameter: c, sigma: 1 N}, b: {parameter: @c, sigma: 1 N}}", BRAMAH_E_VALUE,
     "augmented.b.parameter", "this parameter is estimated by 'a' already"},
    {6, "augmented: {a: {parameter: c, sigma: @0 N}}", BRAMAH_E_VALUE, "augmented.a.sigma",
     "sigma must be positive"},
    {6, "augmented: {a: {parameter: c, sigma: @1 Ns}}", BRAMAH_E_UNIT, "augmented.a.sigma",
     "unknown unit 'Ns'; did you mean 'N*s'?"},
    {6, "augmented: {a: {parameter: c, sigma: @much}}", BRAMAH_E_VALUE, "augmented.a.sigma",
     "'much' is not a number with a unit"},
    {6, "augmented: {a: {parameter: c, sigma: 1 N, noise: @-1 N/s^0.5}}", BRAMAH_E_VALUE, "augmented.a.noise",
     "noise must not be negative"},
    {6, "augmented: {a: {parameter: c, sigma: 1 N, order: @3}}", BRAMAH_E_VALUE, "augmented.a.order",
     "'3' is not known here; possible are 1, 2"},
    {6, "augmented: {@a: {parameter: c, sigma: 1 N, order: 2}}", BRAMAH_E_KEY, "augmented.a",
     "order 2 needs a 'time_constant'"},
    {6, "augmented: {@a: {parameter: c, sigma: 1 N, order: 1, frequency: 5 Hz}}", BRAMAH_E_KEY, "augmented.a",
     "an oscillation is of order 2"},
    {6, "augmented: {a: {bias_of: turn, sigma: 1 deg/s, frequency: 5 Hz, @signal_period: 1 deg/s}}",
     BRAMAH_E_KEY, "augmented.a.signal_period", "'frequency' and 'signal_period' exclude each other"},
    {6, "augmented: {a: {parameter: c, sigma: 1 N, time_constant: @0 s}}", BRAMAH_E_VALUE,
     "augmented.a.time_constant", "time_constant must be positive"},
    {6, "augmented: {a: {bias_of: @trn, sigma: 1 deg/s}}", BRAMAH_E_REFERENCE, "augmented.a.bias_of",
     "there is no sensor 'trn'; did you mean 'turn'?"},
    {6, "augmented: {@a b: {parameter: c, sigma: 1 N}}", BRAMAH_E_SYNTAX, "augmented.a b",
     "'a b' is no name; names are letters, digits, _ and -"},
    {6, "parameter_noise: {valve.offset: @0 V/Hz^0.5}", BRAMAH_E_VALUE, "parameter_noise.valve.offset",
     "valve.offset must be positive"},
    {6, "parameter_noise: {valve.offset: @[1 V/Hz^0.5]}", BRAMAH_E_SYNTAX, "parameter_noise.valve.offset",
     "a single value is expected here, not a list"},
    {7, "inputs: {valve: @[a]}", BRAMAH_E_SYNTAX, "inputs.valve",
     "a single value is expected here, not a list"},
    {7, "inputs: {valve: {unknown: {sigma: @0 V, noise: 1 V/s^0.5}}}", BRAMAH_E_VALUE,
     "inputs.valve.unknown.sigma", "sigma must be positive"},
    {7, "inputs: {valve: {@unknown: {sigma: 1 V}}}", BRAMAH_E_KEY, "inputs.valve.unknown",
     "required key 'noise' is missing"},
    {7, "inputs: {valve: {unknown: {sigma: 1 V, noise: @0 V/s^0.5}}}", BRAMAH_E_VALUE,
     "inputs.valve.unknown.noise", "noise must be positive"},
    {7, "inputs: {valve: {@unknown: {sigma: 1 V, noise: 1 V/s^1.5, order: 2}}}", BRAMAH_E_KEY,
     "inputs.valve.unknown", "order 2 needs a 'time_constant'"},
    {7, "inputs: {valve: {column: x, @unknown: {sigma: 1 V, noise: 1 V/s^0.5}}}", BRAMAH_E_KEY,
     "inputs.valve.unknown", "'column' and 'unknown' exclude each other"},
    {7, "inputs: {valve: {@unknown: {sigma: 1 V, noise: 1 V/s^0.5}, sign: -1}}", BRAMAH_E_KEY,
     "inputs.valve.unknown", "'sign' and 'unknown' exclude each other"},
    {7, "inputs: {valve: {sign: @2}}", BRAMAH_E_VALUE, "inputs.valve.sign",
     "sign is 1 or -1; other factors are a scale"},
    {7, "inputs: {valve: {unit: @Volt}}", BRAMAH_E_UNIT, "inputs.valve.unit", "unknown unit 'Volt'"},
    {6, "log: {delimiter: @ab}", BRAMAH_E_VALUE, "log.delimiter",
     "delimiter is comma, semicolon, tab, blank, or a character that no number has"},
    {6, "log: {delimiter: @e}", BRAMAH_E_VALUE, "log.delimiter",
     "delimiter is comma, semicolon, tab, blank, or a character that no number has"},
    {6, "log: {decimal: @dot}", BRAMAH_E_VALUE, "log.decimal",
     "'dot' is not known here; possible are point, comma"},
    {6, "log: {comment: @'# -'}", BRAMAH_E_VALUE, "log.comment", "a comment does not begin like a number"},
    {6, "log: {reorder: @-1 ms}", BRAMAH_E_VALUE, "log.reorder", "reorder must not be negative"},
    {6, "log: {longest_gap: @1e10 s}", BRAMAH_E_VALUE, "log.longest_gap", "must not be longer than 1e9 s"},
    {6, "log: {files: {@imu: {delimiter: tab}}}", BRAMAH_E_KEY, "log.files.imu",
     "required key 'match' is missing"},
    {6, "time: {drift: @0.5}", BRAMAH_E_VALUE, "time.drift",
     "drift is a small number: what the clock gains per second, as in 30 ppm"},
    {6, "time: {origin: @last}", BRAMAH_E_VALUE, "time.origin",
     "origin is 'first', a time ('12 s') or a date ('2024-03-05T12:00:00Z')"},
    {6, "@time: {unit: counts}", BRAMAH_E_KEY, "time", "required key 'rate' is missing"},
    {6, "time: @{unit: ms, rate: 1 kHz}", BRAMAH_E_KEY, "time", "a counter with a 'rate' has no 'unit'"},
    {9, "  angle: {type: @encodr, joint: crank, sigma: 1 deg}", BRAMAH_E_VALUE, "sensors.angle.type",
     "'encodr' is not known here; did you mean 'encoder'?"},
    {9, "  angle: {type: @lidar, joint: crank, sigma: 1 deg}", BRAMAH_E_VALUE, "sensors.angle.type",
     "'lidar' is not known here; possible are encoder, gyro, pressure, accelerometer, inclinometer, stroke, "
     "pressure-difference, flow, load-pin, output"},
    {9, "  @angle: {joint: crank, sigma: 1 deg}", BRAMAH_E_KEY, "sensors.angle",
     "required key 'type' is missing"},
    {9, "  @angle: {type: encoder, joint: crank}", BRAMAH_E_KEY, "sensors.angle",
     "required key 'sigma' is missing"},
    {9, "  angle: {type: encoder, joint: crank, sigma: 1 deg, @volume: v1}", BRAMAH_E_KEY,
     "sensors.angle.volume", "unknown key 'volume'; did you mean 'column'?"},
    {9, "  angle: {type: encoder, joint: crank, sigma: @1 bar}", BRAMAH_E_UNIT, "sensors.angle.sigma",
     "1 bar is a pressure, an angle or a length is expected, for example '1 deg'"},
    {9, "  angle: {type: encoder, joint: crank, sigma: @0 deg}", BRAMAH_E_VALUE, "sensors.angle.sigma",
     "sigma must be positive"},
    {9, "  angle: {type: encoder, joint: crank, sigma: 1 deg, rate: @1 ms}", BRAMAH_E_UNIT,
     "sensors.angle.rate", "1 ms is a time, a frequency is expected, for example '1 Hz'"},
    {9, "  angle: {type: encoder, joint: crank, sigma: 1 deg, rate: @-1 Hz}", BRAMAH_E_VALUE,
     "sensors.angle.rate", "rate must be positive"},
    {9, "  angle: {type: encoder, joint: crank, sigma: 1 deg, rate: @1e4 MHz}", BRAMAH_E_VALUE,
     "sensors.angle.rate", "rate must lie between 1e-6 Hz and 1e9 Hz"},
    {9, "  angle: {type: encoder, joint: crank, sigma: 1 deg, gate: @-1}", BRAMAH_E_VALUE,
     "sensors.angle.gate", "gate must not be negative"},
    {9, "  angle: @encoder", BRAMAH_E_SYNTAX, "sensors.angle",
     "keys and values ('key: value') are expected here"},
    {10, "  @angle: {type: encoder, joint: slide, sigma: 2 mm}", BRAMAH_E_KEY, "sensors.angle",
     "key 'angle' is given twice, first in line 9"},
    {11, "  @turn: {type: gyro, sigma: 1 rad/s}", BRAMAH_E_KEY, "sensors.turn",
     "'body' or 'joint' is needed"},
    {11, "  @turn: {type: gyro, body: crank, sigma: 1 rad/s}", BRAMAH_E_KEY, "sensors.turn",
     "required key 'axis' is missing"},
    {11, "  turn: {type: gyro, joint: crank, @axis: [0, 0, 1], sigma: 1 rad/s}", BRAMAH_E_KEY,
     "sensors.turn.axis", "'axis' belongs to a gyro on a 'body'"},
    {11, "  turn: {type: gyro, body: crank, @joint: crank, sigma: 1 rad/s}", BRAMAH_E_KEY,
     "sensors.turn.joint", "'body' and 'joint' exclude each other"},
    {11, "  turn: {type: gyro, body: crank, axis: @[0, 0, 0], sigma: 1 rad/s}", BRAMAH_E_VALUE,
     "sensors.turn.axis", "axis must not be zero"},
    {11, "  turn: {type: gyro, body: crank, axis: [0, 0, 1], sigma: @1 m/s}", BRAMAH_E_UNIT,
     "sensors.turn.sigma", "1 m/s is a speed, an angular rate is expected, for example '1 rad/s'"},
    {13, "  p1: {type: pressure, volume: @v 1, sigma: 0.5 bar}", BRAMAH_E_SYNTAX, "sensors.p1.volume",
     "'v 1' is no name; names are letters, digits, _ and -"},
    {13, "  s: {type: accelerometer, body: boom, axis: [0, 1, 0], sigma: @0.1 m/s}", BRAMAH_E_UNIT,
     "sensors.s.sigma", "0.1 m/s is a speed, an acceleration is expected, for example '0.1 m/s^2'"},
    {13, "  @s: {type: accelerometer, body: boom, sigma: 0.1 m/s^2}", BRAMAH_E_KEY, "sensors.s",
     "required key 'axis' is missing"},
    {13, "  s: {type: accelerometer, body: boom, point: [1, 2, @3 deg], axis: [0, 1, 0], sigma: 0.1 m/s^2}",
     BRAMAH_E_UNIT, "sensors.s.point.2", "3 deg is an angle, a length is expected, for example '3 mm'"},
    {13, "  s: {type: inclinometer, @joint: crank, axis: [0, 1, 0], body: crank, sigma: 1 deg}", BRAMAH_E_KEY,
     "sensors.s.joint",
     "unknown key 'joint'; allowed are type, rate, delay, gate, bias, bias_drift, gain, delay_sigma, column, "
     "file, unit, scale, "
     "offset, wrap, "
     "sign, "
     "sigma, resolution, range, body, axis, about"},
    {13, "  s: {type: inclinometer, body: crank, axis: [1, 0, 0], about: @[0, 0, 0], sigma: 1 deg}",
     BRAMAH_E_VALUE, "sensors.s.about", "about must not be zero"},
    {13, "  s: {type: @pressure_difference, a: v1, b: v2, sigma: 1 bar}", BRAMAH_E_VALUE, "sensors.s.type",
     "'pressure_difference' is not known here; did you mean 'pressure-difference'?"},
    {13, "  @s: {type: pressure-difference, a: v1, sigma: 1 bar}", BRAMAH_E_KEY, "sensors.s",
     "required key 'b' is missing"},
    {13, "  s: {type: flow, element: valve, port: @c, sigma: 1 L/min}", BRAMAH_E_VALUE, "sensors.s.port",
     "'c' is not known here; possible are a, b"},
    {6, "tune: {parameters: {a.b: {least: 2, most: @1}}}", BRAMAH_E_VALUE, "tune.parameters.a.b.most",
     "the bounds are inverted: 'most' must be larger than 'least'"},
    {6, "tune: {parameters: {a.b: {least: 1 bar, most: @1 m}}}", BRAMAH_E_UNIT, "tune.parameters.a.b.most",
     "the two bounds have different units"},
    {6, "tune: {parameters: {a.b: {least: @0, most: 1}}}", BRAMAH_E_VALUE, "tune.parameters.a.b.least",
     "on a logarithmic scale bounds must be positive; give 'scale: linear'"},
    {6, "tune: {parameters: {a.b: {least: 1 s, most: 2 s, step: @1 m}}}", BRAMAH_E_VALUE,
     "tune.parameters.a.b.step", "the step must be positive and have the unit of the bounds"},
    {6, "tune: {criterion: nis, method: @scoring, parameters: {a.b: {least: 1, most: 2}}}", BRAMAH_E_VALUE,
     "tune.method", "scoring is for the likelihood; other criteria want simplex"},
    {6, "tune: {criterion: @nees, parameters: {a.b: {least: 1, most: 2}}}", BRAMAH_E_VALUE, "tune.criterion",
     "'nees' is not known here; did you mean 'nis'?"},
    {13, "  s: {type: flow, element: valve, sigma: @1 bar}", BRAMAH_E_UNIT, "sensors.s.sigma",
     "1 bar is a pressure, a volume flow is expected, for example '1 L/min'"},
    {13, "  s: {type: load-pin, cylinder: lift, sigma: @1 bar}", BRAMAH_E_UNIT, "sensors.s.sigma",
     "1 bar is a pressure, a force is expected, for example '1 N'"},
    {13, "  s: {type: stroke, cylinder: lift, sigma: 1 mm, resolution: @-1 mm}", BRAMAH_E_VALUE,
     "sensors.s.resolution", "resolution must be positive"},
    {13, "  s: {type: stroke, cylinder: lift, sigma: 1 mm, range: @[2, 1 m]}", BRAMAH_E_VALUE,
     "sensors.s.range", "range must end above its begin: [least, most]"},
    {13, "  s: {type: pressure, volume: v1, sigma: 1 bar, range: [0, @400 m]}", BRAMAH_E_UNIT,
     "sensors.s.range.1", "400 m is a length, a pressure is expected, for example '400 bar'"},
    {10, "  way: {type: encoder, joint: slide, sigma: 2 mm, resolution: @1 deg}", BRAMAH_E_UNIT,
     "sensors.way.resolution", "1 deg is an angle, a length is expected, for example '1 mm'"},
    {6, "filter: {transition: @papier}", BRAMAH_E_VALUE, "filter.transition",
     "'papier' is not known here; did you mean 'paper'?"},
    {15, "  @crank: {rate_sigma: 0.1 rad/s, acceleration_noise: 0}", BRAMAH_E_KEY, "joints.crank",
     "required key 'position_sigma' is missing"},
    {15, "  crank: {position_sigma: 3 deg, rate_sigma: @0.1 m/s, acceleration_noise: 0}", BRAMAH_E_UNIT,
     "joints.crank.rate_sigma", "0.1 m/s is a speed, an angular rate is expected, for example '0.1 rad/s'"},
    {15, "  crank: {position: @63 deg, position_sigma: 3 mm, rate_sigma: 1 m/s, acceleration_noise: 0}",
     BRAMAH_E_UNIT, "joints.crank.position", "63 deg is an angle, a length is expected, for example '63 mm'"},
    {15, "  crank: {position_sigma: 3 deg, rate_sigma: 1 rad/s, acceleration_noise: @0.5 rad/s^2}",
     BRAMAH_E_UNIT, "joints.crank.acceleration_noise",
     "0.5 rad/s^2 is an angular acceleration, a noise density of angular acceleration is expected, for "
     "example "
     "'0.5 rad/s^2/Hz^0.5'"},
    {15, "  crank: {position_sigma: @0 deg, rate_sigma: 1 rad/s, acceleration_noise: 0}", BRAMAH_E_VALUE,
     "joints.crank.position_sigma", "position_sigma must be positive"},
    {18, "  v1: {sigma: 1 bar, noise: @0.5 bar}", BRAMAH_E_UNIT, "volumes.v1.noise",
     "0.5 bar is a pressure, a noise density of pressure is expected, for example '0.5 bar/s^0.5'"},
    {18, "  v1: {sigma: 1 bar, noise: @-0.5 bar/s^0.5}", BRAMAH_E_VALUE, "volumes.v1.noise",
     "noise must not be negative"},
    {18, "  @v1: {noise: 1 bar/s^0.5}", BRAMAH_E_KEY, "volumes.v1", "required key 'sigma' is missing"},
};

EACH_TEST(error_is_exact, 0, COUNT(bad_lines))
{
  const bad_line *bad = &bad_lines[_i];
  bramah_diag diag;
  bramah_study *study = (bramah_study *)path;
  const int column = write_study(bad->line, bad->with);
  check_mistake(bad, column, bramah_study_load(path, 0, NULL, &diag, &study), &diag);
  ck_assert_ptr_eq(study, (bramah_study *)path); /* untouched */
  ck_assert_int_eq(bramah_study_load(path, 0, NULL, NULL, &study), bad->status);
}

TEST(missing_section_is_told)
{
  static const struct {
    int line;
    const char *with;
    int at_line;
    const char *message;
  } cases[] = {
      {1, "", 2, "required key 'study' is missing"},
      {2, "", 1, "required key 'machine' is missing"},
      {14, "others:", 14,
       "unknown key 'others'; allowed are study, machine, plant, display, changes, simulated, time, log, "
       "inputs, "
       "sensors, "
       "filter, "
       "adapt, tune, "
       "augmented, phases, uncertainty, hypotheses, parameter_noise, joints, volumes"},
  };
  bramah_diag diag;
  bramah_study *study = NULL;
  for (int i = 0; i < COUNT(cases); i++) {
    write_study(cases[i].line, cases[i].with);
    ck_assert_int_eq(bramah_study_load(path, 0, NULL, &diag, &study), BRAMAH_E_KEY);
    ck_assert_msg(strncmp(diag.message, cases[i].message, strlen(cases[i].message)) == 0, "%s", diag.message);
    ck_assert_int_eq(diag.line, cases[i].at_line);
  }
}

TEST(tuning_is_read)
{
  bramah_study *s = load_with(
      6,
      "tune: {criterion: prediction, method: simplex, penalty: 0.5, settle: 200 ms, ahead: 20, outputs: "
      "[a.b, "
      "c], "
      "parameters: {volumes.v1.noise: {least: 1 bar/s^0.5, most: 2 MPa/s^0.5, also: [volumes.v2.noise, x]}, "
      "machine.a.b: {least: 0 ms, most: 1 s, scale: linear, step: 1 ms}}}");
  const bramah_study_tune *t = &s->tune;
  ck_assert_int_eq(t->line, 6);
  ck_assert_int_eq(t->criterion, BRAMAH_TUNE_PREDICTION);
  ck_assert_int_eq(t->method, BRAMAH_TUNE_SIMPLEX);
  ck_assert_double_eq(t->penalty, 0.5);
  ck_assert_double_eq_tol(t->settle, 0.2, 1e-15);
  ck_assert_int_eq(t->ahead, 20);
  ck_assert_uint_eq(t->n_outputs, 2);
  ck_assert_str_eq(t->outputs[1], "c");
  ck_assert_uint_eq(t->n_parameters, 2);
  ck_assert_str_eq(t->parameters[0].path, "volumes.v1.noise");
  ck_assert_str_eq(t->parameters[0].most.text, "2 MPa/s^0.5");
  ck_assert_int_eq(t->parameters[0].linear, 0);
  ck_assert_uint_eq(t->parameters[0].n_also, 2);
  ck_assert_str_eq(t->parameters[0].also[1], "x");
  ck_assert_str_eq(t->parameters[1].path, "machine.a.b");
  ck_assert_int_eq(t->parameters[1].linear, 1);
  ck_assert_str_eq(t->parameters[1].step.text, "1 ms");
  bramah_study_free(s);
  s = load_with(6, "tune: {parameters: {a: {least: 1, most: 2}}}");
  ck_assert_int_eq(s->tune.criterion, BRAMAH_TUNE_LIKELIHOOD);
  ck_assert_int_eq(s->tune.method, BRAMAH_TUNE_DEFAULT);
  ck_assert_double_eq(s->tune.penalty, -1.0);
  ck_assert_ptr_null(s->tune.parameters[0].step.text);
  bramah_study_free(s);
}

TEST(sensors_must_not_be_empty)
{
  bramah_diag diag;
  bramah_study *study = NULL;
  FILE *stream = fopen(path, "wb");
  fputs("study: none\nmachine: m.yaml\nsensors:\njoints:\n  a: {}\n", stream);
  fclose(stream);
  ck_assert_int_eq(bramah_study_load(path, 0, NULL, &diag, &study), BRAMAH_E_VALUE);
  ck_assert_str_eq(diag.message, "at least one is needed here");
  ck_assert_str_eq(diag.thing, "sensors");
  ck_assert_int_eq(diag.line, 3);
}

/* A change that leads nowhere in the machine is reported in the study. */
TEST(error_in_a_change_points_to_the_study)
{
  char file[1024];
  bramah_diag diag;
  bramah_machine *machine = NULL;
  data_path(file, sizeof file, 1);
  bramah_study *four_bar = load_file(file);
  bramah_study *s = load_with(5, "  bodies.crank.inertia.2: 3 m");
  ck_assert_int_eq(bramah_machine_load(four_bar->machine_file, s->n_changes, s->changes, &diag, &machine),
                   BRAMAH_E_UNIT);
  ck_assert_str_eq(diag.file, path);
  ck_assert_int_eq(diag.line, 5);
  ck_assert_str_eq(diag.thing, "bodies.crank.inertia.2");
  bramah_study_free(s);
  bramah_study_free(four_bar);
}

TEST(too_many_changes_are_refused)
{
  enum { ROOM = 32 };
  static char text[1001 * ROOM];
  bramah_diag diag;
  bramah_study *study = NULL;
  size_t used = (size_t)snprintf(text, sizeof text, "study: x\nmachine: y\nchanges:\n");
  for (int i = 0; i < 1001; i++)
    used += (size_t)snprintf(text + used, sizeof text - used, "  bodies.b%d.mass: 1 kg\n", i);
  ck_assert_uint_lt(used, sizeof text);
  write_bytes(text, used);
  ck_assert_int_eq(bramah_study_load(path, 0, NULL, &diag, &study), BRAMAH_E_VALUE);
  ck_assert_str_eq(diag.message, "more than 1000 changes");
  ck_assert_int_eq(diag.line, 3);
}

/* A text of a megabyte, and a hundred sensors that take it for their column. */
TEST(memory_for_a_description_is_limited)
{
  enum { LENGTH = 1 << 20 };
  static char text[LENGTH + 16384];
  bramah_diag diag;
  bramah_study *study = NULL;
  size_t used = (size_t)snprintf(text, sizeof text, "study: x\nmachine: &long ");
  memset(text + used, 'a', LENGTH);
  used += LENGTH;
  used += (size_t)snprintf(text + used, sizeof text - used, "\nsensors:\n");
  for (int i = 0; i < 100; i++)
    used += (size_t)snprintf(text + used, sizeof text - used,
                             "  s%d: {type: encoder, joint: crank, sigma: 1 deg, column: *long}\n", i);
  ck_assert_uint_lt(used, sizeof text);
  write_bytes(text, used);
  ck_assert_int_eq(bramah_study_load(path, 0, NULL, &diag, &study), BRAMAH_E_MEMORY);
  ck_assert_str_eq(diag.message,
                   "what the file describes is too large; do aliases or changes repeat long texts or lists?");
}

TEST(missing_file_is_told)
{
  bramah_diag diag;
  bramah_study *study = NULL;
  ck_assert_int_eq(bramah_study_load("no/such/study.yaml", 0, NULL, &diag, &study), BRAMAH_E_FILE);
  ck_assert_str_eq(diag.message, "cannot be opened: No such file or directory");
  ck_assert_ptr_null(study);
  bramah_study_free(NULL);
}

int main(void) { return run_tests_with("study file", make_path, remove_path); }
