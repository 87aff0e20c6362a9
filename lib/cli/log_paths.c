/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* scandir, versionsort */
#include "lib/cli/log_paths.h"
#include "lib/cli/message.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bramah_status fail_memory(bramah_diag *diag)
{
  return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
}

static const char *base_name(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static const bramah_study_file *find_entry(const bramah_study *study, const char *path)
{
  for (size_t i = 0; study && i < study->log.n_files; i++)
    if (fnmatch(study->log.files[i].match, base_name(path), 0) == 0) return &study->log.files[i];
  return NULL;
}

/* Takes the path over. */
static bramah_status add(cli_log_paths *paths, const bramah_study *study, char *path, bramah_diag *diag)
{
  if (!path) return fail_memory(diag);
  for (size_t i = 0; i < paths->n; i++)
    if (strcmp(paths->file[i].path, path) == 0) {
      cli_fail(diag, BRAMAH_E_KEY, path, 0, NULL, "this file is named twice");
      free(path);
      return BRAMAH_E_KEY;
    }
  if (paths->n == paths->room) {
    const size_t room = paths->room ? 2 * paths->room : 8;
    cli_log_path *file = realloc(paths->file, room * sizeof *file);
    if (!file) return free(path), fail_memory(diag);
    paths->file = file;
    paths->room = room;
  }
  paths->file[paths->n++] = (cli_log_path){path, find_entry(study, path)};
  return BRAMAH_OK;
}

static int is_wanted(const bramah_study *study, const char *name)
{
  const size_t n = strlen(name);
  if (name[0] == '.') return 0;
  if (study && study->log.n_files) return find_entry(study, name) != NULL;
  return (n > 4 && strcmp(name + n - 4, ".csv") == 0) || bramah_log_is_mat(name);
}

static char *join(const char *folder, const char *name)
{
  const size_t n = strlen(folder) + strlen(name) + 2;
  char *path = malloc(n);
  const size_t used = strlen(folder);
  if (path) snprintf(path, n, "%s%s%s", folder, used && folder[used - 1] == '/' ? "" : "/", name);
  return path;
}

static bramah_status add_entries(cli_log_paths *paths, const bramah_study *study, const char *folder, int n,
                                 struct dirent **entries, bramah_diag *diag)
{
  const size_t before = paths->n;
  bramah_status status = BRAMAH_OK;
  for (int i = 0; !status && i < n; i++) {
    if (is_wanted(study, entries[i]->d_name))
      status = add(paths, study, join(folder, entries[i]->d_name), diag);
    else if (entries[i]->d_name[0] != '.')
      paths->passed_over++;
  }
  if (status || paths->n > before) return status;
  return cli_fail(diag, BRAMAH_E_EMPTY, folder, 0, NULL,
                  study && study->log.n_files ? "no file of this folder matches an entry of log.files"
                                              : "there is no .csv or .mat file in this folder");
}

static bramah_status add_folder(cli_log_paths *paths, const bramah_study *study, const char *folder,
                                bramah_diag *diag)
{
  struct dirent **entries;
  const int n = scandir(folder, &entries, NULL, versionsort);
  if (n < 0) return cli_fail(diag, BRAMAH_E_FILE, folder, 0, NULL, "cannot read: %s", strerror(errno));
  const bramah_status status = add_entries(paths, study, folder, n, entries, diag);
  for (int i = 0; i < n; i++) free(entries[i]);
  free(entries);
  return status;
}

bramah_status cli_log_paths_find(cli_log_paths *paths, const bramah_study *study, size_t n,
                                 const char *const *names, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; !status && i < n; i++) {
    struct stat about;
    if (strcmp(names[i], "-") != 0 && stat(names[i], &about) == 0 && S_ISDIR(about.st_mode))
      status = add_folder(paths, study, names[i], diag);
    else
      status = add(paths, study, strdup(names[i]), diag);
  }
  return status;
}

void cli_log_paths_free(cli_log_paths *paths)
{
  for (size_t i = 0; i < paths->n; i++) free(paths->file[i].path);
  free(paths->file);
  *paths = (cli_log_paths){0};
}
