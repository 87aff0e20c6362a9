/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pieces that study files and plans have in common. */
#ifndef BRAMAH_LIB_IO_CHANGES_H
#define BRAMAH_LIB_IO_CHANGES_H

#include "lib/io/schema.h"

/* A mapping `path: value`; its keys have dots, so it is no section. `file` is kept by reference. Nothing
 * there: *n 0. */
bramah_status bramah__read_changes(bramah__reader *reader, const bramah__item *item, const char *file,
                                   size_t *n, const bramah_change **out);

/* The path of another file; a relative one starts in the folder of the file that is read. */
bramah_status bramah__read_file_path(bramah__reader *reader, const bramah__item *item, const char **out);

#endif
