/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Diagnostics of the tools library with a formatted message (the core has lib/base/diag.h, without stdio). */
#ifndef BRAMAH_LIB_IO_FAIL_H
#define BRAMAH_LIB_IO_FAIL_H

#include "bramah/status.h"

#if defined(__GNUC__) || defined(__clang__)
#define BRAMAH__PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define BRAMAH__PRINTF(text, first)
#endif

/* Replace the diagnostic (NULL allowed): file and thing may be NULL, line 0. Returns the status. */
bramah_status bramah__failf(bramah_diag *diag, bramah_status status, const char *file, int line,
                            const char *thing, const char *format, ...) BRAMAH__PRINTF(6, 7);

bramah_status bramah__fail_memory(bramah_diag *diag);

/* Say where it was, if the one who found the mistake did not know. Returns diag->status. */
bramah_status bramah__place(bramah_diag *diag, const char *file, int line);

/* "; did you mean 'x'?" if a name is near, otherwise `listing` and all names ("; allowed are a, b"), or nothing where it is "". */
void bramah__add_suggestion(bramah_diag *diag, const char *name, size_t n, const char *const *names,
                            const char *listing);
/* The same of n things, `stride` bytes apart, of which `first` is the name of the first. */
void bramah__suggest_thing(bramah_diag *diag, const char *name, size_t n, const void *first, size_t stride,
                           const char *listing);

#endif
