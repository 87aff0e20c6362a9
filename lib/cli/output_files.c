/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L /* stat, access */
#include "lib/cli/output_files.h"
#include "lib/cli/message.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int same_file(const char *a, const char *b)
{
  struct stat sa, sb;
  if (strcmp(a, b) == 0) return 1;
  if (stat(a, &sa) != 0 || stat(b, &sb) != 0) return 0;
  return S_ISREG(sa.st_mode) && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

bramah_status cli_check_output(const char *output, size_t n_others, const char *const *others,
                               bramah_diag *diag)
{
  if (!output || strcmp(output, "-") == 0) return BRAMAH_OK;
  for (size_t i = 0; i < n_others; i++)
    if (others[i] && strcmp(others[i], "-") != 0 && same_file(output, others[i]))
      return cli_fail(diag, BRAMAH_E_FILE, output, 0, NULL,
                      "this file has another part in the same run and would be overwritten");
  return BRAMAH_OK;
}

bramah_status cli_check_place(const char *output, bramah_diag *diag)
{
  char folder[4096] = ".";
  if (!output || strcmp(output, "-") == 0) return BRAMAH_OK;
  const char *slash = strrchr(output, '/');
  const size_t n = slash == output ? 1 : slash ? (size_t)(slash - output) : 0;
  if (n >= sizeof folder) return BRAMAH_OK; /* who opens it will tell */
  if (n) snprintf(folder, sizeof folder, "%.*s", (int)n, output);
  struct stat about;
  if (stat(output, &about) == 0 && S_ISDIR(about.st_mode))
    return cli_fail(diag, BRAMAH_E_FILE, output, 0, NULL, "cannot be created: it is a folder");
  if (access(output, F_OK) == 0 ? access(output, W_OK) == 0 : access(folder, W_OK | X_OK) == 0)
    return BRAMAH_OK;
  return cli_fail(diag, BRAMAH_E_FILE, output, 0, NULL, "cannot be created: %s", strerror(errno));
}

FILE *cli_summary_stream(size_t n_outputs, const char *const *outputs)
{
  for (size_t i = 0; i < n_outputs; i++)
    if (outputs[i] && strcmp(outputs[i], "-") == 0) return stderr;
  return stdout;
}

int cli_is_regular(const char *path)
{
  struct stat about;
  return strcmp(path, "-") != 0 && stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

size_t cli_visible_outputs(const bramah_plant *plant, size_t *out)
{
  size_t n = 0;
  for (size_t i = 0; i < plant->n_output; i++) {
    bramah_output_info info;
    plant->output_info(plant->self, i, &info);
    if (!info.hidden) out[n++] = i;
  }
  return n;
}

double cli_seconds(int64_t ns) { return (double)ns / 1e9; }
