/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two files against each other from C: what the result holds, in SI; the tolerances; mistakes. The program's test
 * (test/cli/test_compare.sh) goes through the rest. */
#define _XOPEN_SOURCE 700 /* temporary files */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bramah/compare.h"
#include "test/support/run.h"
#include "test/support/scratch.h"

static char a[SCRATCH_NAME], b[SCRATCH_NAME];
static bramah_diag diag;

static void write_file(const char *path, const char *text)
{
  FILE *file = fopen(path, "w");
  ck_assert_ptr_nonnull(file);
  fputs(text, file);
  fclose(file);
}

static void make_files(void)
{
  ck_assert(scratch_file(a) && scratch_file(b));
  write_file(a, "t[s],x[m],x.sigma[m],angle[deg],alone\n0,1,0.1,10,1\n0.1,2,0.2,20,2\n0.2,3,0.3,30,3\n0.3,4,"
                "0.4,180,4\n");
  write_file(b, "t[ms],angle[rad],x[mm]\n-50,0,0\n0,0.17453292519943295,1000\n100,0.3490658503988659,2100\n"
                "300,-3.1415926535897931,3400\n400,0,0\n");
}

static void remove_files(void)
{
  remove(a);
  remove(b);
}

static bramah_comparison *compare(const bramah_compare_options *options)
{
  bramah_comparison *c = NULL;
  ck_assert_msg(bramah_compare(a, b, options, &diag, &c) == BRAMAH_OK, "%s: %s", diag.thing, diag.message);
  return c;
}

TEST(result_holds_everything)
{
  bramah_comparison *c = compare(NULL);
  ck_assert_uint_eq(c->pairs, 3);
  ck_assert_uint_eq(c->n_columns, 2);
  ck_assert_str_eq(c->columns[0].name, "x");
  ck_assert_double_eq_tol(c->columns[0].rms, sqrt(0.37 / 3.0), 1e-12);
  ck_assert_double_eq_tol(c->columns[0].largest.difference, 0.6, 1e-12);
  ck_assert_double_eq_tol(c->columns[0].largest.value[1], 3.4, 1e-12);
  ck_assert_int_eq(c->columns[0].largest.time_ns, 300000000);
  ck_assert_uint_eq(c->columns[0].n_sigma, 3);
  ck_assert_double_eq_tol(c->columns[0].most_sigmas, 1.5, 1e-12);
  ck_assert_ptr_eq(c->first, &c->columns[0]);
  ck_assert_int_eq(c->first->first.time_ns, 100000000);
  ck_assert_uint_eq(c->file[0].between, 1);
  ck_assert_uint_eq(c->file[1].before, 1);
  ck_assert_uint_eq(c->file[1].after, 1);
  ck_assert_uint_eq(c->file[0].n_alone, 2);
  ck_assert_str_eq(c->file[0].alone[1], "alone");
  ck_assert(c->lacks);
  bramah_comparison_free(c);
  bramah_comparison_free(NULL);
}

/* Limits of the difference of x, 0.6 m of 4 m, 1.5 sigma; angles are apart by a whole turn. */
TEST(tolerances_judge)
{
  static const struct {
    const char *value;
    double relative, sigmas;
    int same;
  } cases[] = {{"601 mm", 0.0, 0.0, 1}, {"599 mm", 0.0, 0.0, 0}, {NULL, 0.151, 0.0, 1},
               {NULL, 0.149, 0.0, 0},   {NULL, 0.0, 1.51, 1},    {NULL, 0.0, 1.49, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const bramah_tolerance tolerances[] = {{"angle", "1e-9 deg"}, {"x", cases[i].value}};
    bramah_compare_options o;
    bramah_compare_options_default(&o);
    o.turns = 1;
    o.tolerances = tolerances;
    o.n_tolerances = cases[i].value ? 2 : 1;
    o.relative = cases[i].relative;
    o.sigmas = cases[i].sigmas;
    bramah_comparison *c = compare(&o);
    ck_assert_msg((c->first == NULL) == cases[i].same, "case %zu", i);
    bramah_comparison_free(c);
  }
}

TEST(mistakes_have_their_status)
{
  static const char *const missing[] = {"y"}, *const alone[] = {"alone"};
  static const bramah_tolerance wrong_unit = {"x", "1 bar"}, wrong_name = {"y", "1 m"},
                                negative = {"x", "-1 m"};
  const struct {
    bramah_compare_options options;
    bramah_status status;
  } cases[] = {{{.time = "clock"}, BRAMAH_E_COLUMN},
               {{.time = "t", .n_columns = 1, .columns = missing}, BRAMAH_E_COLUMN},
               {{.time = "t", .n_columns = 1, .columns = alone}, BRAMAH_E_COLUMN},
               {{.time = "t", .n_tolerances = 1, .tolerances = &wrong_unit}, BRAMAH_E_ARGUMENT},
               {{.time = "t", .n_tolerances = 1, .tolerances = &wrong_name}, BRAMAH_E_ARGUMENT},
               {{.time = "t", .n_tolerances = 1, .tolerances = &negative}, BRAMAH_E_ARGUMENT},
               {{.time = "t", .from_ns = 5000000000, .to_ns = INT64_MAX}, BRAMAH_E_EMPTY},
               {{.time = "t", .from_ns = 150000000, .to_ns = 250000000}, BRAMAH_E_EMPTY}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    bramah_comparison *c = NULL;
    const bramah_status status = bramah_compare(a, b, &cases[i].options, &diag, &c);
    ck_assert_msg(status == cases[i].status && diag.status == status, "case %zu: %s", i, diag.message);
    ck_assert_ptr_null(c);
  }
}

int main(void) { return run_tests_with("compare", make_files, remove_files); }
