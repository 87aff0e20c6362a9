/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is installed beside the program and says what its tables say: manual pages (mdoc), completion for bash, and JSON
 * Schemas of the files. The build runs `bramah generate FOLDER`. */
#include "lib/cli/cli.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* When the texts last changed: the same pages from the same source. */
#define DATE "November 23, 2026"

/* ---- manual pages ---- */

/* A word, for troff: no line begins like a request, no hyphen of an option becomes a typographic one. */
static void put_word(FILE *out, const char *word, size_t n, int begins_line)
{
  if (begins_line && (*word == '.' || *word == '\'')) fputs("\\&", out);
  for (size_t i = 0; i < n; i++) {
    if (word[i] == '\\')
      fputs("\\e", out);
    else if (word[i] == '-' && (i == 0 || word[i - 1] == '-'))
      fputs("\\-", out);
    else
      fputc(word[i], out);
  }
}

/* Running text, whose sentences begin on lines of their own; empty lines separate paragraphs. */
static void put_text(FILE *out, const char *text)
{
  enum { LINE = 76 };
  size_t used = 0;
  while (*text) {
    const size_t blank = strspn(text, " \n"), n = strcspn(text + blank, " \n");
    const int paragraph = blank > 1 && text[0] == '\n' && text[1] == '\n';
    const char *word = text + blank;
    if (paragraph && n) fputs(used ? "\n.Pp\n" : ".Pp\n", out);
    if (paragraph) used = 0;
    if (used + n >= LINE) fputc('\n', out), used = 0;
    if (used && n) fputc(' ', out), used++;
    put_word(out, word, n, !used);
    used += n;
    if (n && strchr(".?", word[n - 1])) fputc('\n', out), used = 0;
    text = word + n;
  }
  if (used) fputc('\n', out);
}

static void put_literal(FILE *out, const char *text)
{
  fputs(".Bd -literal -offset indent\n", out);
  for (const char *line = text; *line;) {
    const size_t n = strcspn(line, "\n");
    put_word(out, line, n, 1);
    fputc('\n', out);
    line += n + (line[n] == '\n');
  }
  fputs(".Ed\n", out);
}

static void put_head(FILE *out, const char *name, const char *summary)
{
  fputs(".\\\" Made of the program's tables by 'bramah generate'.\n.Dd " DATE "\n.Dt ", out);
  for (const char *c = name; *c; c++) fputc(toupper((unsigned char)*c), out);
  fprintf(out, " 1\n.Os bramah %s\n.Sh NAME\n.Nm %s\n.Nd ", bramah_version(), name);
  fputc(tolower((unsigned char)summary[0]), out);
  put_text(out, summary + 1);
}

/* `out` after a name and before its text: "--name VALUE" as macros. */
static void put_option(FILE *out, const cli_option *o)
{
  fprintf(out, "Fl -%s", o->name);
  if (o->value) fprintf(out, " Ar %s", o->value);
}

static const struct {
  const char *code, *meaning;
} exit_codes[] = {
    {"0", "The command did what it was to do."},
    {"1", "Bad input, which a message names, or files that cannot be read or written."},
    {"2", "Wrong use of the command line."},
    {"3", "replay, serve and simulate: the run went through, but failed one of its own checks, which the "
          "summary lists."},
    {"4", "compare: the files are further apart than the tolerances."},
    {"129, 130, 143",
     "Stopped by SIGHUP, SIGINT (Ctrl-C) or SIGTERM. What had been written is complete up to there "
     "or was taken away, as a message says. A second signal ends the program at once."},
};

static void put_exit_codes(FILE *out)
{
  fputs(".Sh EXIT STATUS\n.Bl -tag -width Ds\n", out);
  for (size_t i = 0; i < sizeof exit_codes / sizeof exit_codes[0]; i++) {
    fprintf(out, ".It %s\n", exit_codes[i].code);
    put_text(out, exit_codes[i].meaning);
  }
  fputs(".El\n", out);
}

static void put_page(FILE *out, const cli_command *command)
{
  char name[64];
  snprintf(name, sizeof name, "bramah-%s", command->name);
  put_head(out, name, command->summary);
  fprintf(out, ".Sh SYNOPSIS\n.Nm bramah %s\n.Ar %s\n", command->name, command->operands);
  for (const cli_option *o = command->options; o->name; o++) {
    if (!o->required) continue;
    fputc('.', out);
    put_option(out, o);
    fputc('\n', out);
  }
  fputs(".Op Ar OPTION ...\n.Sh DESCRIPTION\n", out);
  put_text(out, command->details);
  fputs(".Sh OPTIONS\n.Bl -tag -width Ds\n", out);
  for (const cli_option *o = command->options; o->name; o++) {
    const size_t line = strcspn(o->help, "\n");
    char first[256];
    fputs(".It ", out);
    put_option(out, o);
    fputc('\n', out);
    snprintf(first, sizeof first, "%c%.*s.%s%s", toupper((unsigned char)o->help[0]), (int)line - 1,
             o->help + 1, o->required ? " Required." : "", o->repeats ? " May be repeated." : "");
    put_text(out, first);
    put_text(out, o->help + line);
  }
  fputs(".El\n", out);
  put_exit_codes(out);
  fputs(".Sh EXAMPLES\n", out);
  put_literal(out, command->example);
  fputs(".Sh SEE ALSO\n.Xr bramah 1\n", out);
}

static void put_main_page(FILE *out, const cli_command *const *commands)
{
  put_head(out, "bramah", "State estimation for hydraulically actuated multibody machines");
  fputs(".Sh SYNOPSIS\n.Nm\n.Ar COMMAND ...\n.Sh DESCRIPTION\n", out);
  put_text(
      out,
      "A machine says what the machine is (YAML); a study which sensors it has and what the filter assumes "
      "(YAML); a log what was measured (CSV, MAT, MDF 4, MCAP, or CAN with a DBC); a plan which studies to "
      "compare (YAML); a work file who "
      "worked with a machine (YAML). Values have "
      "units: "
      "80 mm, 7.6 MPa, 3000 psi, 60 deg. Every key is explained in datasets/README.md of the "
      "documentation.\n\n"
      "Options follow the command; those that take a value have it as the next argument or behind a =. FILE "
      "may "
      "be - for standard output where that makes sense, a log - for standard input. A TIME is in seconds or "
      "has a "
      "unit: \"1.5 min\". NAMES have commas between them and * for any text.\n\n"
      "Progress is shown on a terminal only.");
  fputs(".Sh COMMANDS\n.Bl -tag -width linearize\n", out);
  for (const cli_command *const *c = commands; *c; c++) {
    fprintf(out, ".It Xr bramah-%s 1\n", (*c)->name);
    put_text(out, (*c)->summary);
  }
  fputs(".El\n.Sh ENVIRONMENT\n.Bl -tag -width Ds\n.It Ev BRAMAH_NATIVE\n", out);
  put_text(out,
           "off: no machine code is made of the machine; wait: not before it is ready does a run begin. The "
           "results are the same.");
  fputs(".It Ev BRAMAH_CC\n", out);
  put_text(out, "The C compiler for it, instead of cc.");
  fputs(".El\n", out);
  fputs(".Sh FILES\nJSON Schemas of machines, studies, plans and work files, for editors, are in\n.Pa "
        "share/bramah/schema .\n",
        out);
  put_exit_codes(out);
  fputs(".Sh EXAMPLES\n", out);
  put_literal(out, "bramah check sensors-2.yaml log.csv\n"
                   "bramah replay sensors-2.yaml log.csv --output estimate.csv --report report.html");
}

/* ---- completion ---- */

static int takes_file(const char *value)
{
  static const char *const files[] = {"FILE", "FOLDER", "STUDY", "LOG", "POINT"};
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
    if (strcmp(value, files[i]) == 0) return 1;
  return 0;
}

/* What may follow an option: alternatives, a file (as where no option goes before) or something nobody can guess. */
static void put_values(FILE *out, const cli_command *command)
{
  for (const cli_option *o = command->options; o->name; o++) {
    if (!o->value || takes_file(o->value)) continue;
    fprintf(out, "    %s--%s) ", command->name, o->name);
    if (strchr(o->value, '|')) {
      fputs("COMPREPLY=($(compgen -W \"", out);
      for (const char *c = o->value; *c; c++) fputc(*c == '|' ? ' ' : *c, out);
      fputs("\" -- \"$word\")) ; ", out);
    }
    fputs("return ;;\n", out);
  }
}

static void put_completion(FILE *out, const cli_command *const *commands)
{
  fputs("# bash completion for bramah; made of the program's tables by 'bramah generate'\n"
        "_bramah() {\n"
        "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} options=--help\n"
        "  COMPREPLY=()\n"
        "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
        "    COMPREPLY=($(compgen -W \"",
        out);
  for (const cli_command *const *c = commands; *c; c++) fprintf(out, "%s ", (*c)->name);
  fputs("--help --version\" -- \"$word\"))\n    return\n  fi\n  case ${COMP_WORDS[1]}$before in\n", out);
  for (const cli_command *const *c = commands; *c; c++) put_values(out, *c);
  fputs("  esac\n  case ${COMP_WORDS[1]} in\n", out);
  for (const cli_command *const *c = commands; *c; c++) {
    fprintf(out, "    %s) options=\"", (*c)->name);
    for (const cli_option *o = (*c)->options; o->name; o++) fprintf(out, "--%s ", o->name);
    fputs("--help\" ;;\n", out);
  }
  fputs("  esac\n"
        "  case $word in\n"
        "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
        "    *) mapfile -t COMPREPLY < <(compgen -f -- \"$word\") ;;\n"
        "  esac\n"
        "}\n"
        "complete -o filenames -F _bramah bramah bramah-mpi\n",
        out);
}

/* ---- all of it ---- */

typedef struct folder {
  const char *path;
  char file[4096]; /* being written */
  bramah_diag diag;
} folder;

static FILE *create_in(folder *f, const char *name, const char *ending)
{
  snprintf(f->file, sizeof f->file, "%s/%s%s", f->path, name, ending);
  return cli_create(f->file, &f->diag);
}

static bramah_status write_schema(folder *f, const char *name, bramah_file_kind kind)
{
  char *json;
  bramah_status status = bramah_file_schema(kind, &json, &f->diag);
  if (status) return status;
  FILE *out = create_in(f, name, ".schema.json");
  if (out) fputs(json, out);
  free(json);
  return out ? cli_finish(out, f->file, &f->diag) : BRAMAH_E_FILE;
}

int cli_generate(const char *path, const cli_command *const *commands)
{
  folder f = {.path = path};
  static void (*const puts_all[])(FILE *, const cli_command *const *) = {put_main_page, put_completion};
  static const char *const endings[] = {".1", ".bash"};
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; !status && i < 2; i++) {
    FILE *out = create_in(&f, "bramah", endings[i]);
    if (out) puts_all[i](out, commands);
    status = out ? cli_finish(out, f.file, &f.diag) : BRAMAH_E_FILE;
  }
  for (const cli_command *const *c = commands; !status && *c; c++) {
    char name[64];
    snprintf(name, sizeof name, "bramah-%s", (*c)->name);
    FILE *out = create_in(&f, name, ".1");
    if (out) put_page(out, *c);
    status = out ? cli_finish(out, f.file, &f.diag) : BRAMAH_E_FILE;
  }
  static const char *const kinds[] = {[BRAMAH_FILE_MACHINE] = "machine",
                                      [BRAMAH_FILE_STUDY] = "study",
                                      [BRAMAH_FILE_PLAN] = "plan",
                                      [BRAMAH_FILE_WORK] = "work",
                                      [BRAMAH_FILE_DISPLAY] = "display"};
  for (size_t k = 0; !status && k < sizeof kinds / sizeof *kinds; k++)
    status = write_schema(&f, kinds[k], (bramah_file_kind)k);
  return status ? cli_report(&f.diag) : CLI_OK;
}
