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

/* Several tests into a case. */
#define ADD_TESTS(cases, ...)                                                                                \
  do {                                                                                                       \
    const TTest *const tests_[] = {__VA_ARGS__};                                                             \
    for (size_t i_ = 0; i_ < sizeof tests_ / sizeof tests_[0]; i_++) tcase_add_test(cases, tests_[i_]);      \
  } while (0)

#endif
