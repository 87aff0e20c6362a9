/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hydraulic elements in machine files: what is read, and every error with its place. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <string.h>

#include "bramah/files.h"
#include "bramah/model.h"
#include "test/support/run.h"
#include "test/support/text_file.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

enum { N_LINES = 20 };

/* A correct machine; each case replaces one line of it. */
static const char *const machine_lines[N_LINES] = {
    /*  1 */ "machine: small",
    /*  2 */ "gravity: [0, 0, 0]",
    /*  3 */ "bodies: {boom: {mass: 16 kg, inertia: [0, 5, 5 kg*m^2]}}",
    /*  4 */ "joints: {boom: {type: revolute, parent: ground, child: boom, axis: [0, 0, 1], initial: 0}}",
    /*  5 */ "hydraulics:",
    /*  6 */ "  oil: {bulk_modulus: 1500 MPa}",
    /*  7 */ "  supplies: {tank: {pressure: 1 bar}}",
    /*  8 */ "  volumes:",
    /*  9 */ "    v1: {pressure: 30 bar, hoses: [{volume: 1 L, bulk_modulus: 550 MPa}]}",
    /* 10 */ "    v2: {pressure: 20 bar, hoses: [{volume: 1 L, bulk_modulus: 550 MPa}]}",
    /* 11 */ "  valves:",
    /* 12 */
    "    main: {pump: v1, tank: tank, a: v2, b: v2, flow_coefficient: 1 L/min/bar^0.5/V, time_constant: 4 "
    "ms}",
    /* 13 */ "  cylinders:",
    /* 14 */
    "    lift: {bodies: [ground, boom], points: [[1, 0, 0 m], [0, 1, 0 m]], piston_volume: v1, "
    "rod_volume: v2, bore: 80 mm, rod: 35 mm, bulk_modulus: 30 GPa,",
    /* 15 */ "      reference_stroke: 1.41 m, piston_chamber_length: 300 mm, rod_chamber_length: 600 mm,",
    /* 16 */ "      friction: {model: none}}",
    /* 17 */ "  leakages:",
    /* 18 */ "    seal: {cylinder: lift, conductance: 0.01 L/min/bar}",
    /* 19 */ "  # more",
    /* 20 */ "inputs: {main: [[0 s, 0 V]]}",
};

static bramah_status try_load(int line, const char *with, bramah_diag *diag, bramah_machine **out,
                              int *column)
{
  *column = write_lines(machine_lines, N_LINES, line, with);
  return bramah_machine_load(path, 0, NULL, diag, out);
}

/* The machine with one line replaced; it also compiles. */
static bramah_machine *load(int line, const char *with)
{
  bramah_diag diag;
  bramah_machine *machine = NULL;
  const bramah_model *model = NULL;
  int column;
  bramah_status status = try_load(line, with, &diag, &machine, &column);
  ck_assert_msg(status == BRAMAH_OK, "%d:%d: %s: %s", diag.line, diag.column, diag.thing, diag.message);
  status = bramah_model_new(machine, &diag, &model);
  ck_assert_msg(status == BRAMAH_OK, "%d: %s: %s", diag.line, diag.thing, diag.message);
  bramah_model_free(model);
  return machine;
}

START_TEST(leakages_are_read)
{
  bramah_machine *m = load(19, "    drain: {from: v2, to: tank, conductance: 1e-12 m^3/s/Pa}");
  ck_assert_uint_eq(m->n_leakages, 2);
  ck_assert_str_eq(m->leakages[0].cylinder, "lift");
  ck_assert_double_eq_tol(m->leakages[0].conductance, 1e-5 / 60.0 / 1e5, 1e-24);
  ck_assert_str_eq(m->leakages[1].from, "v2");
  ck_assert_str_eq(m->leakages[1].to, "tank");
  ck_assert_int_eq(m->leakages[1].line, 19);
  bramah_machine_free(m);
}
END_TEST

/* ---- errors: '@' in front of the offending scalar ---- */

static const struct {
  int line;
  const char *with;
  bramah_status status;
  const char *thing, *message;
} bad_lines[] = {
    {18, "    @seal: {from: v1, conductance: 1 m^3/s/Pa}", BRAMAH_E_KEY, "hydraulics.leakages.seal",
     "required key 'to' is missing"},
    {18, "    @seal: {to: v1, conductance: 1 m^3/s/Pa}", BRAMAH_E_KEY, "hydraulics.leakages.seal",
     "required key 'from' is missing"},
    {18, "    seal: {from: v1, @cylinder: lift, conductance: 1 m^3/s/Pa}", BRAMAH_E_KEY,
     "hydraulics.leakages.seal.cylinder", "'cylinder' stands for 'from' and 'to'"},
    {18, "    seal: {cylinder: @lfit, conductance: 1 m^3/s/Pa}", BRAMAH_E_REFERENCE,
     "hydraulics.leakages.seal.cylinder", "there is no cylinder 'lfit'; did you mean 'lift'?"},
    {18, "    seal: {from: v1, to: @v9, conductance: 1 m^3/s/Pa}", BRAMAH_E_REFERENCE,
     "hydraulics.leakages.seal.to", "there is no volume or supply 'v9'"},
    {18, "    seal: {from: v1, to: v2, conductance: @1 m^3/s}", BRAMAH_E_UNIT,
     "hydraulics.leakages.seal.conductance", ""},
};

START_TEST(error_is_exact)
{
  bramah_diag diag;
  bramah_machine *machine = NULL;
  int column;
  const bramah_status status = try_load(bad_lines[_i].line, bad_lines[_i].with, &diag, &machine, &column);
  ck_assert_msg(status == bad_lines[_i].status, "'%s': %s (%s)", bad_lines[_i].with,
                bramah_status_name(status), diag.message);
  ck_assert_ptr_null(machine);
  ck_assert_str_eq(diag.thing, bad_lines[_i].thing);
  ck_assert_msg(strstr(diag.message, bad_lines[_i].message) != NULL, "'%s' lacks '%s'", diag.message,
                bad_lines[_i].message);
  ck_assert_int_eq(diag.line, bad_lines[_i].line);
  ck_assert_int_eq(diag.column, column);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("machine_elements");
  TCase *cases = one_case(suite, "elements");
  tcase_add_checked_fixture(cases, make_path, remove_path);
  tcase_add_test(cases, leakages_are_read);
  tcase_add_loop_test(cases, error_is_exact, 0, COUNT(bad_lines));
  return run_suite(suite);
}
