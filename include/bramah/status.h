/* SPDX-License-Identifier: MIT */
/* Status codes and diagnostics: every function that can fail returns a bramah_status and, where it takes a
 * bramah_diag, says there which file, line and thing is at fault. Nothing is ever printed by the library. */
#ifndef BRAMAH_STATUS_H
#define BRAMAH_STATUS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) || defined(__clang__)
#define BRAMAH_API __attribute__((visibility("default")))
#else
#define BRAMAH_API
#endif

/* The one list of codes. Numbers are frozen: new codes are added at the end. */
#define BRAMAH_STATUS_LIST(X)                                                                                \
  X(OK, 0, "no error")                                                                                       \
  X(E_MEMORY, -1, "out of memory")                                                                           \
  X(E_ARGUMENT, -2, "argument is not allowed here")                                                          \
  X(E_FILE, -3, "file cannot be read or written")                                                            \
  X(E_SYNTAX, -4, "text does not follow the format")                                                         \
  X(E_KEY, -5, "key is unknown, missing or given twice")                                                     \
  X(E_UNIT, -6, "unit is unknown or has the wrong dimension")                                                \
  X(E_VALUE, -7, "value is outside its range")                                                               \
  X(E_REFERENCE, -8, "name refers to nothing")                                                               \
  X(E_TOPOLOGY, -9, "bodies and joints do not form a tree")                                                  \
  X(E_CLOSURE, -10, "loop cannot be closed")                                                                 \
  X(E_SINGULAR, -11, "matrix is singular")                                                                   \
  X(E_NO_CONVERGENCE, -12, "iteration did not converge")                                                     \
  X(E_NOT_FINITE, -13, "number is not finite")                                                               \
  X(E_NOT_SPD, -14, "covariance is not positive definite")                                                   \
  X(E_TIME, -15, "time does not advance as it should")                                                       \
  X(E_COLUMN, -16, "column is missing from the log")                                                         \
  X(E_TRUNCATED, -17, "file ends in the middle of a line")                                                   \
  X(E_EMPTY, -18, "file has no data")                                                                        \
  X(E_UNSUPPORTED, -19, "not available for this object")

typedef enum bramah_status {
#define BRAMAH_STATUS_ENUM(name, code, text) BRAMAH_##name = (code),
  BRAMAH_STATUS_LIST(BRAMAH_STATUS_ENUM)
#undef BRAMAH_STATUS_ENUM
} bramah_status;

/* What went wrong and where. Plain memory: no pointer to free, may be copied. Line and column count from 1;
 * 0 means unknown or not from a file. `thing` is the body, joint, volume, sensor, state, key or column. */
typedef struct bramah_diag {
  bramah_status status;
  int line;
  int column;
  char file[256];
  char thing[128];
  char message[512];
} bramah_diag;

/* Name of a code ("E_UNIT") and the sentence that belongs to it; "E_?" and "unknown status" for a foreign
 * number. Static storage. */
BRAMAH_API const char *bramah_status_name(bramah_status status);
BRAMAH_API const char *bramah_status_text(bramah_status status);

/* Empty the diagnostic (status OK). NULL is allowed. */
BRAMAH_API void bramah_diag_clear(bramah_diag *diag);

/* Write "file:line:column: thing: message" (parts that are unknown are left out) into out [n bytes], cut to
 * fit and always terminated when n > 0, and printable. Returns the length the whole text has. No allocation. */
BRAMAH_API size_t bramah_diag_format(const bramah_diag *diag, char *out, size_t n);

/* A text that may come from a file, in place: control characters, with which it could move the cursor of a terminal
 * or rename its window, become question marks; so do marks that turn the direction of writing, and what is not UTF-8.
 * bramah_diag_format does so with what it writes. */
BRAMAH_API void bramah_make_printable(char *text);

/* Of n names the one that was meant, if one is near enough to be a slip of the pen, else NULL; case is ignored. */
BRAMAH_API const char *bramah_nearest_name(const char *name, size_t n, const char *const *names);

/* Version of the headers: the one place where it stands. Programs built with another minor version of 0 need
 * to be built again. */
#define BRAMAH_VERSION_MAJOR 0
#define BRAMAH_VERSION_MINOR 2
#define BRAMAH_VERSION_PATCH 0
#define BRAMAH_VERSION "0.2.0"

/* Version of the library as "major.minor.patch". Static storage. */
BRAMAH_API const char *bramah_version(void);

#ifdef __cplusplus
}
#endif
#endif
