/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A YAML file of which some values are exchanged while everything else, comments included, stays as its
 * author wrote it. Part of libbramah-tools. */
#ifndef BRAMAH_EDIT_H
#define BRAMAH_EDIT_H

#include "bramah/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bramah_edit bramah_edit;

/* Read a file. Errors: E_FILE, E_EMPTY, E_SYNTAX, E_MEMORY. */
BRAMAH_API bramah_status bramah_edit_open(const char *path, bramah_diag *diag, bramah_edit **out);
BRAMAH_API void bramah_edit_free(bramah_edit *edit); /* NULL allowed */

/* The single value at a path of keys joined by dots ("volumes.v1.noise", elements of lists by their index);
 * behind "changes." all that follows is one key. *text lives as long as the edit; *line may be NULL. Errors:
 * E_KEY (nothing there; suggests the nearest key), E_VALUE (keys and values or a list stand there). */
BRAMAH_API bramah_status bramah_edit_find(const bramah_edit *edit, const char *path, const char **text,
                                          int *line, bramah_diag *diag);

/* Write another value there, and a comment line above it (NULL: none). A key that `changes` does not have yet
 * is added, the section too. Of several values for one place the last one counts. Texts are copied. Errors: as above;
 * E_UNSUPPORTED where an alias shares the value with another place, where a value is empty or
 * goes over several lines, or where a key to be added has more than 600 characters or its value more than
 * 100. */
BRAMAH_API bramah_status bramah_edit_set(bramah_edit *edit, const char *path, const char *value,
                                         const char *comment, bramah_diag *diag);

/* Write the text with all changes, `head` (NULL: none) as a comment in front, to a file ("-": standard
 * output). Errors: E_FILE, E_MEMORY. */
BRAMAH_API bramah_status bramah_edit_write(const bramah_edit *edit, const char *path, const char *head,
                                           bramah_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
