/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing MAT files of version 5, as MATLAB, Octave and SciPy read them; needs no other library. Part of
 * libbramah-tools. Logs and estimates are written through bramah/log.h: a name that ends in .mat suffices. */
#ifndef BRAMAH_MAT_H
#define BRAMAH_MAT_H

#include <stddef.h>
#include "bramah/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bramah_mat bramah_mat;

/* Longest name of a variable or field, with the zero byte. */
enum { BRAMAH_MAT_NAME = 64 };

/* Create (replace) a file. Errors: E_FILE. Every function below reports the first error again once one has
 * failed. */
BRAMAH_API bramah_status bramah_mat_create(const char *path, bramah_diag *diag, bramah_mat **out);

/* Names of variables and fields: a letter, then letters, digits and _, 63 at most; the names of one file
 * differ. Errors of all that follow: E_ARGUMENT (name), E_VALUE (larger than the 2 GiB the format allows a
 * variable), E_FILE. */

/* A real matrix [n_rows x n_columns], given row-major; 0 x n is allowed. */
BRAMAH_API bramah_status bramah_mat_add_matrix(bramah_mat *mat, const char *name, size_t n_rows,
                                               size_t n_columns, const double *values, bramah_diag *diag);
/* A text (UTF-8): a row of characters. */
BRAMAH_API bramah_status bramah_mat_add_text(bramah_mat *mat, const char *name, const char *text,
                                             bramah_diag *diag);
/* A cell array of texts [n x 1]: names of states, for example. */
BRAMAH_API bramah_status bramah_mat_add_texts(bramah_mat *mat, const char *name, size_t n,
                                              const char *const *texts, bramah_diag *diag);
/* A struct with a text per field: units of variables. fields [n], texts [n]. */
BRAMAH_API bramah_status bramah_mat_add_struct(bramah_mat *mat, const char *name, size_t n,
                                               const char *const *fields, const char *const *texts,
                                               bramah_diag *diag);

/* A column [n] that is given in pieces by bramah_mat_write, which must add up to n before anything else is
 * added. */
BRAMAH_API bramah_status bramah_mat_begin_column(bramah_mat *mat, const char *name, size_t n,
                                                 bramah_diag *diag);
BRAMAH_API bramah_status bramah_mat_write(bramah_mat *mat, size_t n, const double *values, bramah_diag *diag);

/* Write what is left and close; frees in any case; NULL allowed. Errors: E_FILE (disk full): the file is then
 * incomplete. */
BRAMAH_API bramah_status bramah_mat_finish(bramah_mat *mat, bramah_diag *diag);

/* A text as a name MATLAB allows: other characters become _, x stands before what is no letter, the rest is
 * cut off. out [BRAMAH_MAT_NAME]. */
BRAMAH_API void bramah_mat_name(const char *text, char *out);

#ifdef __cplusplus
}
#endif
#endif
