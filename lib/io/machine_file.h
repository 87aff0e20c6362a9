/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BRAMAH_LIB_IO_MACHINE_FILE_H
#define BRAMAH_LIB_IO_MACHINE_FILE_H

#include "lib/io/schema.h"

/* Every name of the file that refers to an element refers to one that is there; names of volumes and supplies
 * differ. Errors: E_REFERENCE, E_KEY. */
bramah_status bramah__machine_check(bramah__reader *reader, const bramah__item *root,
                                    const bramah_machine *machine);

#endif
