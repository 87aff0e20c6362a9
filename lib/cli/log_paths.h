/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files of a log: what the command line names, folders opened. */
#ifndef BRAMAH_LIB_CLI_LOG_PATHS_H
#define BRAMAH_LIB_CLI_LOG_PATHS_H

#include "bramah/study.h"

typedef struct cli_log_path {
  char *path;
  const bramah_study_file *entry; /* the first of log.files whose pattern its name matches; NULL: none */
} cli_log_path;

typedef struct cli_log_paths {
  size_t n, room;
  cli_log_path *file;
  size_t passed_over; /* files of folders that were not taken */
} cli_log_paths;

/* Files are taken as they are named. Of a folder those that match an entry of log.files are, in the order of
 * their names with numbers as numbers (log2 before log10); if the study has no entries, those that end in
 * .csv. study NULL: none. Released by cli_log_paths_free in any case. Errors: E_FILE, E_EMPTY (nothing in a
 * folder), E_KEY (a file twice). */
bramah_status cli_log_paths_find(cli_log_paths *paths, const bramah_study *study, size_t n,
                                 const char *const *names, bramah_diag *diag);
void cli_log_paths_free(cli_log_paths *paths);

#endif
