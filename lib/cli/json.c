/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/json.h"
#include "lib/cli/cli.h"

#include <math.h>

bramah_status cli_json_create(cli_json *json, const char *path, bramah_diag *diag)
{
  *json = (cli_json){.file = cli_create(path, diag), .path = path};
  return json->file ? BRAMAH_OK : diag->status;
}

bramah_status cli_json_finish(cli_json *json, bramah_diag *diag)
{
  if (!json->file) return BRAMAH_OK;
  fputc('\n', json->file);
  FILE *file = json->file;
  json->file = NULL;
  return cli_finish(file, json->path, diag);
}

/* ---- text ---- */

/* Length of the UTF-8 sequence at p, 0 if it is none: what is not UTF-8 in a file name must not make the
 * whole file unreadable. */
static int sequence(const unsigned char *p)
{
  const int n = p[0] < 0x80 ? 1 : p[0] < 0xC2 ? 0 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : p[0] < 0xF5 ? 4 : 0;
  for (int i = 1; i < n; i++)
    if ((p[i] & 0xC0u) != 0x80u) return 0;
  if (p[0] == 0xE0 && p[1] < 0xA0) return 0;
  if (p[0] == 0xED && p[1] > 0x9F) return 0; /* surrogates */
  if (p[0] == 0xF0 && p[1] < 0x90) return 0;
  if (p[0] == 0xF4 && p[1] > 0x8F) return 0;
  return n;
}

static void put_text(FILE *file, const char *text)
{
  fputc('"', file);
  for (const unsigned char *p = (const unsigned char *)text; *p;) {
    const int n = sequence(p);
    if (n == 0)
      fputs("\\ufffd", file);
    else if (*p == '"' || *p == '\\')
      fprintf(file, "\\%c", *p);
    else if (*p < 0x20 || *p == 0x7F)
      fprintf(file, "\\u%04x", *p);
    else
      fwrite(p, 1, (size_t)n, file);
    p += n ? n : 1;
  }
  fputc('"', file);
}

/* ---- values ---- */

static void new_line(const cli_json *json) { fprintf(json->file, "\n%*s", 2 * json->depth, ""); }

static void begin(cli_json *json, const char *name)
{
  if (json->filled) fputc(',', json->file);
  if (json->depth) new_line(json);
  if (name) {
    put_text(json->file, name);
    fputs(": ", json->file);
  }
  json->filled = 1;
}

void cli_json_open(cli_json *json, const char *name, char bracket)
{
  begin(json, name);
  fputc(bracket, json->file);
  json->depth++;
  json->filled = 0;
}

void cli_json_close(cli_json *json, char bracket)
{
  json->depth--;
  if (json->filled) new_line(json);
  fputc(bracket, json->file);
  json->filled = 1;
}

void cli_json_text(cli_json *json, const char *name, const char *text)
{
  begin(json, name);
  if (text)
    put_text(json->file, text);
  else
    fputs("null", json->file);
}

void cli_json_number(cli_json *json, const char *name, double value)
{
  begin(json, name);
  fprintf(json->file, isfinite(value) ? "%.15g" : "null", value);
}

void cli_json_count(cli_json *json, const char *name, uint64_t value)
{
  begin(json, name);
  fprintf(json->file, "%llu", (unsigned long long)value);
}

void cli_json_flag(cli_json *json, const char *name, int value)
{
  begin(json, name);
  fputs(value ? "true" : "false", json->file);
}

void cli_json_begin(cli_json *json, const char *command)
{
  cli_json_open(json, NULL, '{');
  cli_json_text(json, "bramah", bramah_version());
  cli_json_text(json, "command", command);
}

bramah_status cli_json_end(cli_json *json, int exit_code, bramah_diag *diag)
{
  cli_json_count(json, "exit_code", (uint64_t)exit_code);
  cli_json_close(json, '}');
  return cli_json_finish(json, diag);
}

/* ---- structures ---- */

void cli_json_fields(cli_json *json, const void *from, const cli_json_field *fields)
{
  for (const cli_json_field *f = fields; f->name; f++) {
    const void *at = (const char *)from + f->offset;
    if (f->kind == CLI_JSON_TEXT || f->kind == CLI_JSON_NAME) {
      const char *text = *(const char *const *)at;
      cli_json_text(json, f->name, f->kind == CLI_JSON_NAME && text && !*text ? NULL : text);
    } else if (f->kind == CLI_JSON_NUMBER) {
      cli_json_number(json, f->name, *(const double *)at);
    } else if (f->kind == CLI_JSON_COUNT) {
      cli_json_count(json, f->name, *(const uint64_t *)at);
    } else if (f->kind == CLI_JSON_FLAG) {
      cli_json_flag(json, f->name, *(const int *)at);
    } else {
      const int64_t ns = *(const int64_t *)at;
      cli_json_number(json, f->name, ns == INT64_MIN || ns == INT64_MAX ? (double)NAN : cli_seconds(ns));
    }
  }
}

void cli_json_object(cli_json *json, const char *name, const void *from, const cli_json_field *fields)
{
  cli_json_open(json, name, '{');
  cli_json_fields(json, from, fields);
  cli_json_close(json, '}');
}

void cli_json_list(cli_json *json, const char *name, size_t n, const void *from, size_t size,
                   const cli_json_field *fields)
{
  cli_json_open(json, name, '[');
  for (size_t i = 0; i < n; i++) cli_json_object(json, NULL, (const char *)from + i * size, fields);
  cli_json_close(json, ']');
}
