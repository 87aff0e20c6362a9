/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exchanging values in the text of a file: everything else stays as it was. */
#define _GNU_SOURCE /* temporary files, locale_t */
#include "lib/io/session.h"
#include "lib/io/yaml.h"
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

static bramah__source *source; /* of the edit */

static bramah__edit *opened(const char *content)
{
  bramah__edit *e;
  make_path();
  write_bytes(content, strlen(content));
  bramah__source_free(source);
  ck_assert_int_eq(bramah__source_open(path, &diag, &source), BRAMAH_OK);
  ck_assert_int_eq(bramah__edit_source(source, &diag, &e), BRAMAH_OK);
  return e;
}

static const char *result(bramah__edit *e, const char *head)
{
  static char out[4096];
  ck_assert_int_eq(bramah__edit_write(e, path, head, &diag), BRAMAH_OK);
  FILE *file = fopen(path, "rb");
  out[fread(out, 1, sizeof out - 1, file)] = '\0';
  fclose(file);
  bramah__edit_free(e);
  remove_path();
  return out;
}

static void set(bramah__edit *e, const char *place, const char *value, const char *comment)
{
  ck_assert_int_eq(bramah__edit_set(e, place, value, comment, &diag), BRAMAH_OK);
}

TEST(untouched_is_the_same) { ck_assert_str_eq(result(opened(text), NULL), text); }

TEST(values_in_place)
{
  bramah__edit *e = opened(text);
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

TEST(changes_are_added)
{
  bramah__edit *e = opened(text);
  set(e, "changes.a.b", "1 N", "one");
  set(e, "changes.a.c", "2 N", NULL);
  const char *out = result(e, NULL);
  ck_assert_ptr_nonnull(strstr(out, "again: *anchor\n\nchanges:\n  # one\n  a.b: 1 N\n  a.c: 2 N\n"));
  e = opened("study: s\nchanges:\n  # old\n  x.y: 3 N\nmachine: m\n");
  set(e, "changes.a.b", "1 N", NULL);
  set(e, "changes.x.y", "4 N", NULL);
  ck_assert_str_eq(result(e, NULL), "study: s\nchanges:\n  # old\n  a.b: 1 N\n  x.y: 4 N\nmachine: m\n");
}

TEST(refuses_what_is_not_there)
{
  bramah__edit *e = opened(text);
  ck_assert_int_eq(bramah__edit_set(e, "sensors.b.sigam", "7", NULL, &diag), BRAMAH_E_KEY);
  ck_assert_ptr_nonnull(strstr(diag.message, "sigma"));
  ck_assert_int_eq(bramah__edit_set(e, "sensors.b", "7", NULL, &diag), BRAMAH_E_VALUE);
  ck_assert_int_eq(bramah__edit_set(e, "sensors..b", "7", NULL, &diag), BRAMAH_E_KEY);
  ck_assert_int_eq(bramah__edit_set(e, "list.9", "7", NULL, &diag), BRAMAH_E_KEY);
  ck_assert_int_eq(bramah__edit_set(e, "again", "6", NULL, &diag), BRAMAH_E_UNSUPPORTED);
  ck_assert_int_eq(bramah__edit_set(e, "shared", "6", NULL, &diag), BRAMAH_E_UNSUPPORTED);
  ck_assert_str_eq(result(e, NULL), text);
}

/* Lines are counted as the YAML reader counts them: a separator in a comment ends one too. */
TEST(finds_lines_behind_odd_line_ends)
{
  bramah__edit *e = opened("a: 5 # x\xe2\x80\xa8\nb: 5\nc: 5\n");
  set(e, "b", "6", NULL);
  ck_assert_str_eq(result(e, NULL), "a: 5 # x\xe2\x80\xa8\nb: 6\nc: 5\n");
  e = opened("a: 5\rb: 5\r\nc: 5\r\n");
  set(e, "b", "6", NULL);
  set(e, "c", "7", NULL);
  ck_assert_str_eq(result(e, NULL), "a: 5\rb: 6\r\nc: 7\r\n");
}

TEST(the_last_value_of_a_place_counts)
{
  bramah__edit *e = opened("a: 5\nb: 5\nchanges:\n  x.y: 1\n");
  set(e, "a", "6", "one");
  set(e, "changes.p", "1 N", NULL);
  set(e, "changes.x.y", "2", NULL);
  set(e, "changes.p", "2 N", "two");
  set(e, "a", "7", NULL);
  ck_assert_str_eq(result(e, NULL), "a: 7\nb: 5\nchanges:\n  # two\n  p: 2 N\n  x.y: 2\n");
  e = opened("a: 5");
  set(e, "changes.p", "1 N", "one");
  set(e, "changes.q", "3 N", NULL);
  set(e, "changes.p", "2 N", NULL);
  ck_assert_str_eq(result(e, NULL), "a: 5\n\nchanges:\n  q: 3 N\n  p: 2 N\n");
}

/* None of these leaves a file that says something else than what was asked for. */
TEST(refuses_what_it_cannot_write)
{
  char key[700] = "changes.", value[200];
  bramah__edit *e = opened("a: 5\nb:\nchanges: {x.y: 1}\n");
  ck_assert_int_eq(bramah__edit_set(e, "b", "7", NULL, &diag), BRAMAH_E_UNSUPPORTED);
  memset(value, '1', sizeof value - 1);
  value[101] = '\0';
  ck_assert_int_eq(bramah__edit_set(e, "changes.r", value, NULL, &diag), BRAMAH_E_UNSUPPORTED);
  memset(key + 8, 'k', 601);
  ck_assert_int_eq(bramah__edit_set(e, key, "1", NULL, &diag), BRAMAH_E_UNSUPPORTED);
  ck_assert_str_eq(result(e, NULL), "a: 5\nb:\nchanges: {x.y: 1}\n");
  e = opened("a: 5\n");
  key[608] = value[100] = '\0';
  set(e, key, value, "long");
  const char *out = result(e, NULL);
  ck_assert_uint_eq(strlen(out), strlen("a: 5\n\nchanges:\n  # long\n  : \n") + 600 + 100);
}

int main(void) { return run_tests("edit"); }
