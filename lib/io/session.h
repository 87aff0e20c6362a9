/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of bramah/session.h. */
#ifndef BRAMAH_LIB_IO_SESSION_H
#define BRAMAH_LIB_IO_SESSION_H

#include "bramah/session.h"

typedef const char *(*bramah__name_of)(const bramah_model *model, size_t i);

/* Index of a name of the study among those of the model. Errors: E_REFERENCE, which suggests the nearest or
 * lists them all; `what` they are goes into the message. */
bramah_status bramah__find_model_name(const bramah_study *study, const bramah_model *model, const char *what,
                                      const char *name, int line, bramah__name_of at, size_t *out,
                                      bramah_diag *diag);

/* Say in which file it was, if the one who found the mistake did not know. */
void bramah__in_file(bramah_diag *diag, const char *file, int line);

bramah_status bramah__make_augmented(bramah_session_augmented *augmented, const bramah_study *study,
                                     bramah_diag *diag);
void bramah__free_augmented(bramah_session_augmented *augmented);

#endif
