/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON as it is written: objects, arrays and values in their order (RFC 8259). */
#ifndef BRAMAH_LIB_CLI_JSON_H
#define BRAMAH_LIB_CLI_JSON_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "bramah/status.h"

typedef struct cli_json {
  FILE *file;
  const char *path; /* "-": standard output */
  int depth;
  int filled; /* 1: something comes before in the same object or array */
} cli_json;

/* Create (replace) the file. Errors: E_FILE. */
bramah_status cli_json_create(cli_json *json, const char *path, bramah_diag *diag);
/* Close it. Errors: E_FILE (disk full). */
bramah_status cli_json_finish(cli_json *json, bramah_diag *diag);
/* What the result of each command begins with; and ends with, the file closed. */
void cli_json_begin(cli_json *json, const char *command);
bramah_status cli_json_end(cli_json *json, int exit_code, bramah_diag *diag);

/* Names are NULL in arrays and at the outermost level. */
void cli_json_open(cli_json *json, const char *name, char bracket);     /* '{' or '[' */
void cli_json_close(cli_json *json, char bracket);                      /* '}' or ']' */
void cli_json_text(cli_json *json, const char *name, const char *text); /* NULL: null */
void cli_json_number(cli_json *json, const char *name, double value);   /* null if it is not finite */
void cli_json_count(cli_json *json, const char *name, uint64_t value);
void cli_json_flag(cli_json *json, const char *name, int value);

/* A member of a structure as a value; a list of them ends with a name NULL. */
typedef enum cli_json_kind {
  CLI_JSON_TEXT,   /* const char * */
  CLI_JSON_NAME,   /* the same; null if it is empty */
  CLI_JSON_NUMBER, /* double */
  CLI_JSON_COUNT,  /* uint64_t */
  CLI_JSON_FLAG,   /* int */
  CLI_JSON_TIME    /* int64_t [ns] as seconds; null: INT64_MIN, INT64_MAX */
} cli_json_kind;
typedef struct cli_json_field {
  const char *name;
  cli_json_kind kind;
  size_t offset; /* in the structure */
} cli_json_field;

/* These members of a structure, into the object that is open. */
void cli_json_fields(cli_json *json, const void *from, const cli_json_field *fields);
/* An object of them alone. */
void cli_json_object(cli_json *json, const char *name, const void *from, const cli_json_field *fields);
/* An array of n such objects, of structures of this size. */
void cli_json_list(cli_json *json, const char *name, size_t n, const void *from, size_t size,
                   const cli_json_field *fields);

#endif
