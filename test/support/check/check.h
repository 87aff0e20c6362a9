/* SPDX-License-Identifier: MIT */
/* Check notes every assertion that holds in a file, to know the last one before a crash. That took a third of the time of tests
 * with many: a crash is found with a sanitizer or a debugger. What fails is told as ever. */
#ifndef BRAMAH_TEST_SUPPORT_CHECK_H
#define BRAMAH_TEST_SUPPORT_CHECK_H

#include_next <check.h>

#define _mark_point(file, line) ((void)0)

#endif
