/* SPDX-License-Identifier: MIT */
/* The main function every test program shares. */
#ifndef BRAMAH_TEST_SUPPORT_RUN_H
#define BRAMAH_TEST_SUPPORT_RUN_H

#include <check.h>
#include <float.h>
#include <stdlib.h>

static inline int run_suite(Suite *suite)
{
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Valgrind computes long double with 53 bits; the last digits of printed numbers then differ. */
static inline int long_double_is_as_promised(void)
{
  volatile long double one = 1.0L, little = LDBL_EPSILON;
  return one + little > one;
}

/* A case without a time limit, which Check would set to 4 s: what takes too long is for Meson to say. */
static inline TCase *new_case(const char *name)
{
  TCase *cases = tcase_create(name);
  tcase_set_timeout(cases, 0);
  return cases;
}

/* A suite of one case. */
static inline TCase *one_case(Suite *suite, const char *name)
{
  TCase *cases = new_case(name);
  suite_add_tcase(suite, cases);
  return cases;
}

/* The tests of a program, in the order of its file; TEST and EACH_TEST list them before main() is called. */
typedef struct listed_test {
  const TTest *test;
  int looped, first, end;
} listed_test;

static listed_test listed_tests[256];
static size_t n_listed_tests;

static inline void list_test(listed_test listed)
{
  size_t i = n_listed_tests++;
  if (i == sizeof listed_tests / sizeof listed_tests[0]) abort();
  for (; i > 0 && listed_tests[i - 1].test->line > listed.test->line; i--)
    listed_tests[i] = listed_tests[i - 1];
  listed_tests[i] = listed;
}

/* clang-format off */
#define LISTED_TEST(name, ...)                                                                               \
  static const TTest *name;                                                                                  \
  __attribute__((constructor)) static void list_##name(void) { list_test((listed_test){name, __VA_ARGS__}); } \
  START_TEST(name)
/* clang-format on */

/* TEST(name) { ... } runs once, EACH_TEST(name, first, end) { ... } for each _i from first to end - 1. */
#define TEST(name) LISTED_TEST(name, 0, 0, 0)
#define EACH_TEST(name, first, end) LISTED_TEST(name, 1, (int)(first), (int)(end))

/* Runs all tests of the file, each between setup and teardown (NULL: none), without a time limit, which Check would set to 4 s: what takes
 * too long is for Meson to say. */
static inline int run_tests_with(const char *name, SFun setup, SFun teardown)
{
  Suite *suite = suite_create(name);
  TCase *cases = one_case(suite, name);
  tcase_add_checked_fixture(cases, setup, teardown);
  for (size_t i = 0; i < n_listed_tests; i++) {
    const listed_test *t = &listed_tests[i];
    if (t->looped)
      tcase_add_loop_test(cases, t->test, t->first, t->end);
    else
      tcase_add_test(cases, t->test);
  }
  return run_suite(suite);
}

static inline int run_tests(const char *name) { return run_tests_with(name, NULL, NULL); }

#endif
