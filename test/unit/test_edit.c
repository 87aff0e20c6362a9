/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exchanging values in the text of a file: everything else stays as it was. */
#define _XOPEN_SOURCE 700 /* temporary files */
#include "bramah/edit.h"
#include "test/support/run.h"
#include "test/support/text_file.h"

static bramah_diag diag;

static const char text[] = "# A study.\n"
                           "study: \"two \\\" words\"  # named\n"
                           "machine: m.yaml\n"
                           "sensors:\n"
                           "  ä: {type: encoder, sigma: 1 deg, rate: 1 kHz}   # ü\n"
                           "  b:\n"
                           "    sigma: '2 deg' # quoted\n"
                           "list: [1, 2, [3, 4]]\n"
                           "shared: &anchor 5\n"
                           "again: *anchor\n";

static bramah_edit *opened(const char *content)
{
  bramah_edit *e;
  make_path();
  write_bytes(content, strlen(content));
  ck_assert_int_eq(bramah_edit_open(path, &diag, &e), BRAMAH_OK);
  return e;
}

static const char *result(bramah_edit *e, const char *head)
{
  static char out[4096];
  ck_assert_int_eq(bramah_edit_write(e, path, head, &diag), BRAMAH_OK);
  FILE *file = fopen(path, "rb");
  out[fread(out, 1, sizeof out - 1, file)] = '\0';
  fclose(file);
  bramah_edit_free(e);
  remove_path();
  return out;
}

static void set(bramah_edit *e, const char *place, const char *value, const char *comment)
{
  ck_assert_int_eq(bramah_edit_set(e, place, value, comment, &diag), BRAMAH_OK);
}

START_TEST(untouched_is_the_same) { ck_assert_str_eq(result(opened(text), NULL), text); }
END_TEST

START_TEST(values_in_place)
{
  bramah_edit *e = opened(text);
  const char *value;
  int line;
  ck_assert_int_eq(bramah_edit_find(e, "sensors.ä.sigma", &value, &line, &diag), BRAMAH_OK);
  ck_assert_str_eq(value, "1 deg");
  ck_assert_int_eq(line, 5);
  ck_assert_int_eq(bramah_edit_find(e, "list.2.1", &value, NULL, &diag), BRAMAH_OK);
  ck_assert_str_eq(value, "4");
  set(e, "sensors.ä.sigma", "0.25 deg", "found");
  set(e, "sensors.b.sigma", "7 deg", NULL);
  set(e, "list.2.0", "33", NULL);
  ck_assert_str_eq(result(e, "head\ntwo"), "# head\n# two\n# A study.\n"
                                           "study: \"two \\\" words\"  # named\n"
                                           "machine: m.yaml\n"
                                           "sensors:\n"
                                           "  # found\n"
                                           "  ä: {type: encoder, sigma: 0.25 deg, rate: 1 kHz}   # ü\n"
                                           "  b:\n"
                                           "    sigma: 7 deg # quoted\n"
                                           "list: [1, 2, [33, 4]]\n"
                                           "shared: &anchor 5\n"
                                           "again: *anchor\n");
}
END_TEST

START_TEST(changes_are_added)
{
  bramah_edit *e = opened(text);
  set(e, "changes.a.b", "1 N", "one");
  set(e, "changes.a.c", "2 N", NULL);
  const char *out = result(e, NULL);
  ck_assert_ptr_nonnull(strstr(out, "again: *anchor\n\nchanges:\n  # one\n  a.b: 1 N\n  a.c: 2 N\n"));
  e = opened("study: s\nchanges:\n  # old\n  x.y: 3 N\nmachine: m\n");
  set(e, "changes.a.b", "1 N", NULL);
  set(e, "changes.x.y", "4 N", NULL);
  ck_assert_str_eq(result(e, NULL), "study: s\nchanges:\n  # old\n  a.b: 1 N\n  x.y: 4 N\nmachine: m\n");
}
END_TEST

START_TEST(refuses_what_is_not_there)
{
  bramah_edit *e = opened(text);
  const char *value;
  ck_assert_int_eq(bramah_edit_find(e, "sensors.b.sigam", &value, NULL, &diag), BRAMAH_E_KEY);
  ck_assert_ptr_nonnull(strstr(diag.message, "sigma"));
  ck_assert_int_eq(bramah_edit_find(e, "sensors.b", &value, NULL, &diag), BRAMAH_E_VALUE);
  ck_assert_int_eq(bramah_edit_find(e, "sensors..b", &value, NULL, &diag), BRAMAH_E_KEY);
  ck_assert_int_eq(bramah_edit_find(e, "list.9", &value, NULL, &diag), BRAMAH_E_KEY);
  ck_assert_int_eq(bramah_edit_set(e, "again", "6", NULL, &diag), BRAMAH_E_UNSUPPORTED);
  ck_assert_int_eq(bramah_edit_set(e, "shared", "6", NULL, &diag), BRAMAH_E_UNSUPPORTED);
  ck_assert_str_eq(result(e, NULL), text);
  ck_assert_int_eq(bramah_edit_open("/nowhere/at/all", &diag, &e), BRAMAH_E_FILE);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("edit");
  TCase *t = one_case(suite, "edit");
  tcase_add_test(t, untouched_is_the_same);
  tcase_add_test(t, values_in_place);
  tcase_add_test(t, changes_are_added);
  tcase_add_test(t, refuses_what_is_not_there);
  return run_suite(suite);
}
