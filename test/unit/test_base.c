/* SPDX-License-Identifier: MIT */
/* Status codes, diagnostics, the arena. */
#include "lib/base/arena.h"
#include "lib/base/diag.h"
#include "lib/base/text.h"
#include "test/support/run.h"

#include <stdint.h>
#include <string.h>

TEST(test_every_status_has_name_and_text)
{
#define CHECK_ONE(name, code, text)                                                                          \
  ck_assert_str_eq(bramah_status_name(BRAMAH_##name), #name);                                                \
  ck_assert_str_eq(bramah_status_text(BRAMAH_##name), text);                                                 \
  ck_assert_int_eq(BRAMAH_##name, code);
  BRAMAH_STATUS_LIST(CHECK_ONE)
  ck_assert_str_eq(bramah_status_name((bramah_status)77), "E_?");
}

TEST(test_diagnostic_text)
{
  bramah_diag diag;
  char text[64];
  ck_assert_int_eq(bramah__fail(&diag, BRAMAH_E_VALUE, "crank", "mass must not be negative: "),
                   BRAMAH_E_VALUE);
  bramah__add_number(&diag, -2.5, 6);
  bramah__at(&diag, "machine.yaml", 12, 9);
  bramah_diag_format(&diag, text, sizeof text);
  ck_assert_str_eq(text, "machine.yaml:12:9: crank: mass must not be negative: -2.5");
  const size_t whole = bramah_diag_format(&diag, text, 10);
  ck_assert_str_eq(text, "machine.y");
  ck_assert_uint_eq(whole, strlen("machine.yaml:12:9: crank: mass must not be negative: -2.5"));
  bramah_diag_clear(&diag);
  bramah_diag_format(&diag, text, sizeof text);
  ck_assert_str_eq(text, "no error");
  ck_assert_int_eq(bramah__fail(NULL, BRAMAH_E_FILE, "x", "y"), BRAMAH_E_FILE);
}

TEST(test_long_texts_are_cut)
{
  bramah_diag diag;
  char longer[2000];
  memset(longer, 'x', sizeof longer - 1);
  longer[sizeof longer - 1] = '\0';
  bramah__fail(&diag, BRAMAH_E_KEY, longer, longer);
  bramah__add_text(&diag, longer);
  ck_assert_uint_eq(strlen(diag.thing), sizeof diag.thing - 1);
  ck_assert_uint_eq(strlen(diag.message), sizeof diag.message - 1);
}

TEST(test_arena)
{
  bramah__arena count = bramah__arena_make(NULL, 0);
  ck_assert_ptr_null(BRAMAH__TAKE(&count, double, 3));
  ck_assert_ptr_null(BRAMAH__TAKE(&count, char, 1));
  ck_assert_uint_eq(count.used, 128);
  unsigned char *mem = bramah__aligned_new(count.used);
  bramah__arena arena = bramah__arena_make(mem, count.used);
  double *a = BRAMAH__TAKE(&arena, double, 3);
  char *b = BRAMAH__TAKE(&arena, char, 1);
  ck_assert_uint_eq((uintptr_t)a % BRAMAH__ALIGN, 0);
  ck_assert_uint_eq((uintptr_t)b % BRAMAH__ALIGN, 0);
  ck_assert_double_eq(a[2], 0.0);
  ck_assert_int_eq(arena.overflow, 0);
  ck_assert_ptr_null(BRAMAH__TAKE(&arena, char, 1));
  ck_assert_int_eq(arena.overflow, 1);
  bramah__arena huge = bramah__arena_make(NULL, 0);
  bramah__arena_take(&huge, SIZE_MAX / 4, 8);
  ck_assert_int_eq(huge.overflow, 1);
  bramah__aligned_free(mem);
}

TEST(test_version)
{
  char text[64], *at = text;
  static const int parts[] = {BRAMAH_VERSION_MAJOR, BRAMAH_VERSION_MINOR, BRAMAH_VERSION_PATCH};
  for (int i = 0; i < 3; i++) {
    if (i) *at++ = '.';
    at += bramah__format_integer(at, parts[i]);
  }
  ck_assert_str_eq(BRAMAH_VERSION, text);
  ck_assert_str_eq(bramah_version(), text);
}

#define FIELDS(X)                                                                                            \
  X(double, P, n *n, "covariance")                                                                           \
  X(char, name, 3)                                                                                           \
  X(int, pivot, n, "of its factors")

typedef struct object {
  FIELDS(BRAMAH__FIELD_MEMBER)
} object;

TEST(test_fields_from_a_list)
{
  const size_t n = 5;
  object o = {0}, *fields = &o;
  bramah__arena count = bramah__arena_make(NULL, 0), *arena = &count;
  FIELDS(BRAMAH__FIELD_TAKE)
  ck_assert_uint_eq(count.used, 256 + 64 + 64);
  unsigned char *mem = bramah__aligned_new(count.used);
  bramah__arena whole = bramah__arena_make(mem, count.used);
  arena = &whole;
  FIELDS(BRAMAH__FIELD_TAKE)
  ck_assert_int_eq(whole.overflow, 0);
  ck_assert_ptr_eq(o.P, mem);
  ck_assert_ptr_eq(o.name, mem + 256);
  ck_assert_ptr_eq(o.pivot, mem + 320);
  bramah__aligned_free(mem);
}

int main(void) { return run_tests("base"); }
