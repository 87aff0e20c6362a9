/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Damaged FMUs: archives and descriptions with bytes changed, cut and doubled, and archives with names that lead elsewhere. Each is read or
 * refused with a message; nothing is left behind and nothing is written beside. The library of an FMU is never loaded here.
 *   damaged_fmus COUNT FMU MODEL_DESCRIPTION... */
#define _GNU_SOURCE
#include "lib/fmi/import.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

#define CHECK(condition, ...)                                                                                \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      fprintf(stderr, __VA_ARGS__);                                                                          \
      fprintf(stderr, "\n");                                                                                 \
      exit(1);                                                                                               \
    }                                                                                                        \
  } while (0)

typedef struct bytes {
  unsigned char *at;
  size_t n;
} bytes;

static char home[] = "/tmp/bramah-damaged-XXXXXX", input[64], inside[64];

static uint64_t state = 1;
static size_t below(size_t n)
{
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return n ? (size_t)(state % n) : 0;
}

static bytes read_file(const char *path)
{
  struct stat about;
  FILE *file = fopen(path, "rb");
  CHECK(file && stat(path, &about) == 0, "%s cannot be read", path);
  bytes b = {malloc((size_t)about.st_size + 1), (size_t)about.st_size};
  CHECK(fread(b.at, 1, b.n, file) == b.n, "%s cannot be read", path);
  fclose(file);
  return b;
}

static void write_input(const unsigned char *at, size_t n)
{
  FILE *file = fopen(input, "wb");
  CHECK(file && fwrite(at, 1, n, file) == n && fclose(file) == 0, "%s cannot be written", input);
}

/* One to eight changes, into room for twice the original. */
static bytes damage(bytes from)
{
  static const char *const words[] = {"<!DOCTYPE a [<!ENTITY b \"cccccccc\">]>",
                                      "\"",
                                      "<",
                                      "&b;",
                                      "-1",
                                      "1e999",
                                      "18446744073709551615",
                                      "/../",
                                      "\xff\xfe"};
  bytes b = {malloc(2 * from.n + 400), from.n};
  memcpy(b.at, from.at, from.n);
  for (size_t k = 1 + below(8); k > 0; k--) {
    const size_t at = below(b.n + 1), length = below(b.n - at + 1) % 64;
    const char *word = words[below(sizeof words / sizeof *words)];
    switch (below(6)) {
    case 0: /* a bit */
      if (at < b.n) b.at[at] ^= (unsigned char)(1u << below(8));
      break;
    case 1:
      if (at < b.n) b.at[at] = (unsigned char)below(256);
      break;
    case 2: /* cut */
      if (below(20) == 0) b.n = at;
      break;
    case 3: /* taken out */
      memmove(b.at + at, b.at + at + length, b.n - at - length);
      b.n -= length;
      break;
    case 4: /* twice */
      if (b.n + length > 2 * from.n) break;
      memmove(b.at + at + length, b.at + at, b.n - at);
      b.n += length;
      break;
    default:
      if (at + strlen(word) <= b.n) memcpy(b.at + at, word, strlen(word));
    }
  }
  return b;
}

static size_t entries(const char *folder)
{
  DIR *all = opendir(folder);
  size_t n = 0;
  for (struct dirent *entry; all && (entry = readdir(all));)
    n += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
  if (all) closedir(all);
  return n;
}

/* Returns 1 if it was read. */
static int take_archive(void)
{
  bramah_diag diag;
  bramah__fmu_description d;
  char path[600], *folder;
  bramah_diag_clear(&diag);
  bramah_status status = bramah__fmu_unpack(input, &diag, &folder);
  CHECK((status == BRAMAH_OK) == (folder != NULL), "an archive is open and refused");
  if (!status) {
    CHECK(strncmp(folder, inside, strlen(inside)) == 0, "unpacked in %s", folder);
    snprintf(path, sizeof path, "%s/modelDescription.xml", folder);
    status = bramah__fmu_describe(path, &diag, &d);
    bramah__fmu_forget(&d);
    bramah__fmu_remove(folder);
  }
  CHECK(status == BRAMAH_OK || *diag.message, "an archive is refused without a message");
  CHECK(entries(inside) == 0, "something is left behind: %s", diag.message);
  CHECK(entries(home) <= 2, "something was written beside");
  return !status;
}

static int take_description(bytes b)
{
  bramah_diag diag;
  bramah__fmu_description d;
  bramah_diag_clear(&diag);
  const bramah_status status =
      bramah__fmu_describe_text("modelDescription.xml", (const char *)b.at, b.n, &diag, &d);
  CHECK(status == BRAMAH_OK || *diag.message, "a description is refused without a message");
  CHECK(status || (d.version && d.token && d.identifier), "a description is read that says nothing");
  for (size_t i = 0; !status && i < d.n; i++)
    CHECK(d.scalars[i].name && d.scalars[i].kind, "a variable without a name");
  bramah__fmu_forget(&d);
  return !status;
}

/* An archive of one entry with this name, and a link where asked for. */
static void name_entry(const char *name, int is_link)
{
  int reason;
  unlink(input);
  zip_t *zip = zip_open(input, ZIP_CREATE, &reason);
  zip_source_t *source = zip_source_buffer(zip, "escaped", 7, 0);
  const zip_int64_t i = zip_file_add(zip, name, source, ZIP_FL_ENC_GUESS);
  CHECK(i >= 0, "no archive with '%s'", name);
  if (is_link)
    zip_file_set_external_attributes(zip, (zip_uint64_t)i, 0, ZIP_OPSYS_UNIX, (zip_uint32_t)0120777 << 16);
  CHECK(zip_close(zip) == 0, "no archive with '%s'", name);
}

static void try_names(void)
{
  static const char *const names[] = {"../escaped",
                                      "a/../../escaped",
                                      "/tmp/bramah-escaped",
                                      "a/../b",
                                      "./a",
                                      "a//b",
                                      "a\\..\\b",
                                      "C:a",
                                      "..",
                                      "a/.."};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    name_entry(names[i], 0);
    CHECK(!take_archive(), "'%s' is taken", names[i]);
  }
  name_entry("link", 1);
  CHECK(!take_archive(), "a link is taken");
  CHECK(access("/tmp/bramah-escaped", F_OK) != 0, "a file was written elsewhere");
}

/* More entries than an FMU may have: refused before there is a folder to remove. */
static void try_many(void)
{
  int reason;
  char name[16];
  unlink(input);
  zip_t *zip = zip_open(input, ZIP_CREATE, &reason);
  for (int i = 0; i <= 20000; i++) {
    snprintf(name, sizeof name, "%d", i);
    CHECK(zip_file_add(zip, name, zip_source_buffer(zip, "", 0, 0), 0) == i, "no archive of many entries");
  }
  CHECK(zip_close(zip) == 0, "no archive of many entries");
  CHECK(!take_archive(), "20001 entries are taken");
}

int main(int argc, char **argv)
{
  CHECK(argc > 3, "damaged_fmus COUNT FMU MODEL_DESCRIPTION...");
  const size_t count = strtoul(argv[1], NULL, 10);
  size_t read = 0;
  CHECK(mkdtemp(home), "no folder");
  snprintf(input, sizeof input, "%s/x.fmu", home);
  snprintf(inside, sizeof inside, "%s/t", home);
  CHECK(mkdir(inside, 0700) == 0 && setenv("TMPDIR", inside, 1) == 0, "no folder");
  const bytes archive = read_file(argv[2]);
  write_input(archive.at, archive.n);
  CHECK(take_archive(), "the undamaged archive is refused");
  try_names();
  try_many();
  for (size_t k = 0; k < count; k++) {
    state = 0x9e3779b97f4a7c15u * (k + 1);
    const int is_archive = k % 4 == 0;
    const bytes from = is_archive ? archive : read_file(argv[3 + k % (size_t)(argc - 3)]), b = damage(from);
    if (is_archive) write_input(b.at, b.n);
    read += (size_t)(is_archive ? take_archive() : take_description(b));
    free(b.at);
    if (!is_archive) free(from.at);
  }
  free(archive.at);
  unlink(input);
  rmdir(inside);
  rmdir(home);
  printf("%zu damaged archives and descriptions: %zu were read, all others refused with a message\n", count,
         read);
  return 0;
}
