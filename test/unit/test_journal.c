/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The journal: what was put in comes out to the bit, whatever happens to the file. */
#define _XOPEN_SOURCE 700 /* mkstemp, fork, SIGXFSZ */
#include "lib/tune/journal.h"
#include "test/support/run.h"
#include "test/support/text_file.h"

#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static bramah_diag diag;

static bramah__journal *opened(void)
{
  bramah__journal *j;
  ck_assert_int_eq(bramah__journal_open(path, &diag, &j), BRAMAH_OK);
  return j;
}

static const double some[4] = {1.0 / 3.0, -0.0, INFINITY, 5e-324};

static void put(bramah__journal *j, const char *key, double first)
{
  const double values[4] = {first, some[1], some[2], some[3]};
  ck_assert_int_eq(bramah__journal_add(j, key, 4, values, &diag), BRAMAH_OK);
}

static void check_there(const bramah__journal *j, const char *key, double first)
{
  size_t n = 0;
  const double *v = bramah__journal_find(j, key, &n);
  const double values[4] = {first, some[1], some[2], some[3]};
  ck_assert_ptr_nonnull(v);
  ck_assert_uint_eq(n, 4);
  ck_assert_int_eq(memcmp(v, values, sizeof values), 0);
}

static char *read_back(size_t *length)
{
  static char text[1 << 18];
  FILE *file = fopen(path, "rb");
  *length = fread(text, 1, sizeof text, file);
  fclose(file);
  return text;
}

TEST(comes_back_to_the_bit)
{
  make_path();
  bramah__journal *j = opened();
  size_t n;
  for (int i = 0; i < 1000; i++) {
    char key[64];
    snprintf(key, sizeof key, "set %d; 0.1 bar", i);
    put(j, key, 1.0 / (i + 1));
  }
  ck_assert_int_eq(bramah__journal_add(j, "none", 0, NULL, &diag), BRAMAH_OK);
  put(j, "set 7; 0.1 bar", 99.0); /* known: stays */
  check_there(j, "set 7; 0.1 bar", 1.0 / 8);
  bramah__journal_close(j);
  j = opened();
  ck_assert_uint_eq(j->n, 1001);
  ck_assert_uint_eq(j->read, 1001);
  ck_assert_uint_eq(j->damaged, 0);
  for (int i = 0; i < 1000; i++) {
    char key[64];
    snprintf(key, sizeof key, "set %d; 0.1 bar", i);
    check_there(j, key, 1.0 / (i + 1));
  }
  ck_assert_ptr_nonnull(bramah__journal_find(j, "none", &n));
  ck_assert_uint_eq(n, 0);
  ck_assert_ptr_null(bramah__journal_find(j, "set 1000; 0.1 bar", &n));
  ck_assert_int_eq(bramah__journal_add(j, "a\tb", 0, NULL, &diag), BRAMAH_E_ARGUMENT);
  ck_assert_int_eq(bramah__journal_add(j, "", 0, NULL, &diag), BRAMAH_E_ARGUMENT);
  bramah__journal_close(j);
  remove_path();
}

/* Cut off anywhere: all whole lines before are there, and what is added afterwards too. */
TEST(cut_off_anywhere)
{
  make_path();
  bramah__journal *j = opened();
  put(j, "one", 1);
  put(j, "two", 2);
  bramah__journal_close(j);
  size_t length;
  char whole[4096];
  memcpy(whole, read_back(&length), sizeof whole);
  const size_t second = length - (size_t)(strstr(whole, "\ntwo") - whole) - 1;
  for (size_t cut = 0; cut <= length; cut++) {
    write_bytes(whole, cut);
    j = opened();
    const size_t n = cut == length ? 2 : cut >= length - second ? 1 : 0;
    ck_assert_uint_eq(j->read, n);
    ck_assert_uint_eq(j->damaged, 0);
    put(j, "three", 3);
    bramah__journal_close(j);
    j = opened();
    ck_assert_uint_eq(j->read, n + 1);
    check_there(j, "three", 3);
    bramah__journal_close(j);
  }
  remove_path();
}

/* A byte changed anywhere is found out: that line alone is missing. */
TEST(changed_anywhere)
{
  make_path();
  bramah__journal *j = opened();
  put(j, "one", 1);
  put(j, "two", 2);
  put(j, "three", 3);
  bramah__journal_close(j);
  size_t length;
  char whole[4096], *text = read_back(&length);
  memcpy(whole, text, length);
  const size_t begin = (size_t)(strchr(whole, '\n') - whole) + 1;
  for (size_t at = begin; at < length; at++) {
    if (whole[at] == '\n') continue;
    memcpy(text, whole, length);
    text[at] ^= 1;
    write_bytes(text, length);
    j = opened();
    ck_assert_uint_eq(j->read, 2);
    ck_assert_uint_eq(j->damaged, 1);
    bramah__journal_close(j);
  }
  write_bytes("t,x\n0,1\n", 8);
  ck_assert_int_eq(bramah__journal_open(path, &diag, &j), BRAMAH_E_SYNTAX);
  ck_assert_str_eq(diag.file, path);
  remove_path();
}

TEST(one_writer_only)
{
  make_path();
  bramah__journal *j = opened(), *other;
  const pid_t child = fork(); /* locks are between processes */
  if (child == 0)
    _exit(bramah__journal_open(path, &diag, &other) == BRAMAH_E_FILE && strstr(diag.message, "another run")
              ? 0
              : 1);
  int code;
  waitpid(child, &code, 0);
  ck_assert(WIFEXITED(code) && WEXITSTATUS(code) == 0);
  bramah__journal_close(j);
  ck_assert_int_eq(bramah__journal_open("/nowhere/at/all", &diag, &j), BRAMAH_E_FILE);
  remove_path();
}

/* What a full disk does, here a limit of the file's size: the results stay in memory, the error tells, no
 * piece of a line is left. */
TEST(full_disk)
{
  bramah__journal *j;
  make_path();
  j = opened();
  put(j, "one", 1);
  bramah__journal_close(j);
  const pid_t child = fork();
  if (child == 0) {
    const struct rlimit limit = {150, 150};
    const double values[4] = {2};
    size_t n;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    int bad = bramah__journal_open(path, &diag, &j) != BRAMAH_OK;
    bad = bad || bramah__journal_add(j, "two", 4, values, &diag) != BRAMAH_E_FILE;
    bad = bad || !strstr(diag.message, "cannot take more") || !bramah__journal_find(j, "two", &n);
    _exit(bad);
  }
  int code;
  waitpid(child, &code, 0);
  ck_assert(WIFEXITED(code) && WEXITSTATUS(code) == 0);
  j = opened();
  ck_assert_uint_eq(j->read, 1);
  ck_assert_uint_eq(j->damaged, 0);
  bramah__journal_close(j);
  remove_path();
  ck_assert_int_eq(bramah__journal_open("/dev/null", &diag, &j), BRAMAH_E_FILE);
}

TEST(in_memory)
{
  bramah__journal *j;
  ck_assert_int_eq(bramah__journal_open(NULL, &diag, &j), BRAMAH_OK);
  put(j, "one", 1);
  check_there(j, "one", 1);
  ck_assert_uint_eq(j->read, 0);
  bramah__journal_close(j);
  bramah__journal_close(NULL);
}

int main(void) { return run_tests("journal"); }
