/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The archive of an FMU, unpacked into a folder that nobody else can enter. It may be hostile: names cannot leave the folder, sizes are
 * bounded, and nothing but plain files and folders is made. */
#define _GNU_SOURCE /* nftw, mkdtemp */
#include "lib/fmi/import.h"
#include "lib/io/fail.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

enum { MOST_ENTRIES = 20000, LONGEST_NAME = 1000, BLOCK = 1 << 16 };
static const uint64_t most_bytes = UINT64_C(1) << 31, most_of_one = UINT64_C(1) << 30;

static bramah_status corrupt(bramah_diag *diag, const char *path, const char *entry, const char *why)
{
  return bramah__failf(diag, BRAMAH_E_SYNTAX, path, 0, entry, "%s", why);
}

/* Does each part of the name between slashes lead further down? */
static int stays_below(const char *name)
{
  if (*name == '/' || strchr(name, '\\') || strchr(name, ':')) return 0;
  for (const char *part = name; *part;) {
    const size_t n = strcspn(part, "/");
    if ((n == 0 && part[n]) || (n == 1 && part[0] == '.') || (n == 2 && part[0] == '.' && part[1] == '.'))
      return 0;
    part += n + (part[n] == '/');
  }
  return *name != '\0';
}

/* The folders above the last part of a path below `root` letters. */
static int make_folders(char *path, size_t root)
{
  for (char *slash = strchr(path + root + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    const int failed = mkdir(path, 0700) && errno != EEXIST;
    *slash = '/';
    if (failed) return 0;
  }
  return 1;
}

/* What an entry says of its size is not believed: bytes are counted. */
static bramah_status unpack_entry(zip_t *zip, zip_uint64_t i, const char *archive, char *path, uint64_t *left,
                                  bramah_diag *diag)
{
  static const char too_large[] =
      "the archive is larger unpacked than an FMU may be (1 GB for a file, 2 GB in all)";
  const char *entry = zip_get_name(zip, i, ZIP_FL_ENC_RAW);
  const size_t root = strlen(path);
  zip_uint8_t system;
  zip_uint32_t attributes;
  if (!entry || strlen(entry) > LONGEST_NAME)
    return corrupt(diag, archive, NULL, "an entry has no name, or too long a one");
  if (!stays_below(entry))
    return corrupt(diag, archive, entry, "the name of this entry would leave the archive's folder");
  if (zip_file_get_external_attributes(zip, i, 0, &system, &attributes) == 0 && system == ZIP_OPSYS_UNIX &&
      S_ISLNK(attributes >> 16))
    return corrupt(diag, archive, entry, "this entry is a symbolic link");
  strcat(strcat(path, "/"), entry);
  bramah_status status = BRAMAH_OK;
  int out = -1;
  zip_file_t *in = NULL;
  unsigned char *block = NULL;
  if (!make_folders(path, root))
    status = bramah__failf(diag, BRAMAH_E_FILE, archive, 0, entry, "no folder can be made for this entry: %s",
                           strerror(errno));
  if (!status && path[strlen(path) - 1] != '/') {
    block = malloc(BLOCK);
    in = zip_fopen_index(zip, i, 0);
    out = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (!block)
      status = bramah__fail_memory(diag);
    else if (!in)
      status =
          corrupt(diag, archive, entry, "this entry is damaged, or packed in a way that is not known here");
    else if (out < 0)
      status = bramah__failf(diag, errno == EEXIST ? BRAMAH_E_SYNTAX : BRAMAH_E_FILE, archive, 0, entry,
                             "cannot be unpacked: %s", strerror(errno));
    uint64_t own = most_of_one < *left ? most_of_one : *left;
    for (zip_int64_t n = 1; !status && n > 0;) {
      errno = ENOSPC; /* what a short write does not say */
      n = zip_fread(in, block, BLOCK);
      if (n < 0)
        status = corrupt(diag, archive, entry, "this entry is damaged");
      else if ((uint64_t)n > own)
        status = bramah__failf(diag, BRAMAH_E_VALUE, archive, 0, entry, "%s", too_large);
      else if (n > 0 && write(out, block, (size_t)n) != (ssize_t)n)
        status =
            bramah__failf(diag, BRAMAH_E_FILE, archive, 0, entry, "cannot be unpacked: %s", strerror(errno));
      if (!status) own -= (uint64_t)n, *left -= (uint64_t)n;
    }
  }
  free(block);
  if (in) zip_fclose(in);
  if (out >= 0) close(out);
  path[root] = '\0';
  return status;
}

bramah_status bramah__fmu_unpack(const char *path, bramah_diag *diag, char **out)
{
  const char *parent = getenv("TMPDIR");
  int reason = 0;
  zip_error_t error;
  *out = NULL;
  struct stat about;
  if (stat(path, &about))
    return bramah__failf(diag, BRAMAH_E_FILE, path, 0, NULL, "cannot be read: %s", strerror(errno));
  if (!S_ISREG(about.st_mode)) return bramah__failf(diag, BRAMAH_E_FILE, path, 0, NULL, "is no file");
  zip_t *zip = zip_open(path, ZIP_RDONLY, &reason);
  if (!zip) {
    zip_error_init_with_code(&error, reason);
    bramah__failf(diag, reason == ZIP_ER_OPEN ? BRAMAH_E_FILE : BRAMAH_E_SYNTAX, path, 0, NULL,
                  "is no FMU: %s", reason == ZIP_ER_NOZIP ? "not a zip archive" : zip_error_strerror(&error));
    zip_error_fini(&error);
    return diag ? diag->status : BRAMAH_E_SYNTAX;
  }
  const zip_int64_t n = zip_get_num_entries(zip, 0);
  uint64_t left = most_bytes;
  bramah_status status = n > MOST_ENTRIES
                             ? bramah__failf(diag, BRAMAH_E_VALUE, path, 0, NULL,
                                             "the archive has %lld entries, more than an FMU may have (%d)",
                                             (long long)n, (int)MOST_ENTRIES)
                             : BRAMAH_OK;
  if (!parent || *parent != '/' || strlen(parent) > PATH_MAX / 2) parent = "/tmp";
  char *folder =
      status ? NULL : malloc(strlen(parent) + LONGEST_NAME + 64); /* the longest path below it fits */
  if (!status && !folder) status = bramah__fail_memory(diag);
  if (!status) strcat(strcpy(folder, parent), "/bramah-fmu-XXXXXX");
  if (!status && !mkdtemp(folder)) {
    status = bramah__failf(diag, BRAMAH_E_FILE, folder, 0, NULL, "cannot be made: %s", strerror(errno));
    free(folder);
    folder = NULL;
  }
  for (zip_int64_t i = 0; !status && i < n; i++)
    status = unpack_entry(zip, (zip_uint64_t)i, path, folder, &left, diag);
  zip_discard(zip);
  if (status)
    bramah__fmu_remove(folder);
  else
    *out = folder;
  return status;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
  (void)about, (void)kind, (void)where;
  return remove(path) && errno != ENOENT;
}

void bramah__fmu_remove(char *folder)
{
  if (folder) nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  free(folder);
}
