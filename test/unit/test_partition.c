/* SPDX-License-Identifier: MIT */
/* Elimination with full pivoting: rank, redundant rows, independent columns. */
#include "lib/math/dense.h"
#include "test/support/run.h"

#include <string.h>

TEST(test_redundant_rows_and_zero_columns)
{
  /* Row 2 = row 0 + row 1; column 1 vanishes. */
  double A[] = {4, 0, 1, 0, 0, 0, 3, 1, 4, 0, 4, 1};
  int row[3], column[4];
  ck_assert_uint_eq(bramah__eliminate(3, 4, A, 1e-12, NULL, row, column), 2);
  ck_assert_int_eq(column[0], 0); /* largest first */
  ck_assert_int_eq(column[1], 2);
  ck_assert_int_eq(column[2], 1); /* independent, ascending */
  ck_assert_int_eq(column[3], 3);
}

TEST(test_late_columns_stay_independent_if_they_can)
{
  double A[] = {9, 1, 2}, B[] = {9, 0, 0};
  const unsigned char late[3] = {1, 0, 0};
  int row[1], column[3];
  ck_assert_uint_eq(bramah__eliminate(1, 3, A, 1e-12, late, row, column), 1);
  ck_assert_int_eq(column[0], 2);
  ck_assert_int_eq(column[1], 0);
  ck_assert_uint_eq(bramah__eliminate(1, 3, B, 1e-12, late, row, column), 1);
  ck_assert_int_eq(column[0], 0); /* no other has a pivot */
}

TEST(test_no_constraints)
{
  int column[3];
  ck_assert_uint_eq(bramah__eliminate(0, 3, NULL, 1e-12, NULL, NULL, column), 0);
  for (int j = 0; j < 3; j++) ck_assert_int_eq(column[j], j);
}

int main(void) { return run_tests("partition"); }
