/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the program says and writes: messages, tables, files, progress; and how it is stopped from outside. */
#define _DEFAULT_SOURCE   /* _SC_NPROCESSORS_ONLN */
#define _XOPEN_SOURCE 700 /* stat, access, sigaction, SA_RESETHAND, clock_gettime, isatty */
#include "lib/cli/cli.h"
#include "bramah/log.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- messages ---- */

bramah_status cli_fail(bramah_diag *diag, bramah_status status, const char *file, int line, const char *thing,
                       const char *format, ...)
{
  va_list list;
  bramah_diag_clear(diag);
  diag->status = status;
  diag->line = line;
  snprintf(diag->file, sizeof diag->file, "%s", file ? file : "");
  snprintf(diag->thing, sizeof diag->thing, "%s", thing ? thing : "");
  va_start(list, format);
  vsnprintf(diag->message, sizeof diag->message, format, list);
  va_end(list);
  return status;
}

bramah_status cli_no_memory(bramah_diag *diag)
{
  return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
}

void cli_place(bramah_diag *diag, const char *file, int line)
{
  if (diag->file[0] || !file) return;
  snprintf(diag->file, sizeof diag->file, "%s", file);
  if (!diag->line) diag->line = line;
}

const char *cli_colour_of(FILE *file, cli_colour colour)
{
  static const char *const codes[] = {"\033[0m", "\033[1m", "\033[1;31m", "\033[1;33m"};
  const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
  if ((none && *none) || !terminal || strcmp(terminal, "dumb") == 0 || !isatty(fileno(file))) return "";
  return codes[colour];
}

int cli_report(const bramah_diag *diag)
{
  char text[1024];
  bramah_diag_format(diag, text, sizeof text);
  fprintf(stderr, "%sbramah:%s %s\n", cli_colour_of(stderr, CLI_RED), cli_colour_of(stderr, CLI_PLAIN), text);
  return CLI_FAILED;
}

void cli_note(const char *format, ...)
{
  va_list list;
  char text[4096];
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  bramah_make_printable(text);
  fprintf(stderr, "%sbramah: note:%s %s\n", cli_colour_of(stderr, CLI_YELLOW),
          cli_colour_of(stderr, CLI_PLAIN), text);
}

void cli_tell(void *user, const char *text)
{
  (void)user;
  cli_note("%s", text);
}

void cli_note_changes(size_t n, const bramah_change *changes)
{
  if (n)
    cli_note("%s%s: what the study changes there is the filter's model, the simulated machine is as its own "
             "file has it",
             changes[0].path, n > 1 ? " and others" : "");
}

/* ---- tables ---- */

cli_table cli_table_make(const char *title, const char *align, const char *const *header)
{
  cli_table table = {.title = title, .align = align, .n_columns = strlen(align)};
  for (size_t i = 0; i < table.n_columns; i++) table.header[i] = header[i];
  return table;
}

void cli_table_free(cli_table *table) { free(table->cells); }

void cli_table_add(cli_table *table, const char *format, ...)
{
  enum { BORDER = 0x1F }; /* a tab of the format, not one of a name */
  char cells_of[1024], text[8192], *next;
  va_list list;
  snprintf(cells_of, sizeof cells_of, "%s", format);
  for (char *tab = cells_of; (tab = strchr(tab, '\t'));) *tab = BORDER;
  va_start(list, format);
  vsnprintf(text, sizeof text, cells_of, list);
  va_end(list);
  for (char *cell = text; cell; cell = next) {
    if (table->n_cells == table->room) {
      const size_t room = table->room ? 2 * table->room : 64;
      char(*cells)[CLI_CELL] = realloc(table->cells, room * sizeof *cells);
      if (!cells) return;
      table->cells = cells;
      table->room = room;
    }
    next = strchr(cell, BORDER);
    if (next) *next++ = '\0';
    snprintf(table->cells[table->n_cells], CLI_CELL, "%.*s", CLI_CELL - 1, cell);
    bramah_make_printable(table->cells[table->n_cells++]);
  }
}

cli_text cli_number_text(double value)
{
  cli_text out = {""};
  if (isfinite(value)) snprintf(out.text, sizeof out.text, "%.4g", value);
  return out;
}

/* Characters of a text in UTF-8. */
static int width_of(const char *text)
{
  int width = 0;
  for (; *text; text++) width += ((unsigned char)*text & 0xC0u) != 0x80u;
  return width;
}

static void print_row(const cli_table *table, FILE *file, const char *const *row, const int *width)
{
  for (size_t c = 0; c < table->n_columns; c++) {
    const int blank = width[c] - width_of(row[c]), last = c + 1 == table->n_columns;
    const int right = table->align[c] == 'r';
    fputs("  ", file);
    if (last && !*row[c]) continue;
    fprintf(file, "%*s%s%*s", right ? blank : 0, "", row[c], right || last ? 0 : blank, "");
  }
  fputc('\n', file);
}

void cli_table_print(const cli_table *table, FILE *file)
{
  int width[CLI_TABLE_COLUMNS] = {0};
  const size_t columns = table->n_columns, rows = table->n_cells / columns;
  for (size_t c = 0; c < columns; c++) {
    width[c] = width_of(table->header[c]);
    for (size_t r = 0; r < rows; r++) {
      const int w = width_of(table->cells[r * columns + c]);
      if (w > width[c]) width[c] = w;
    }
  }
  fprintf(file, "\n%s%s%s\n", cli_colour_of(file, CLI_BOLD), table->title, cli_colour_of(file, CLI_PLAIN));
  print_row(table, file, table->header, width);
  for (size_t r = 0; r < rows; r++) {
    const char *row[CLI_TABLE_COLUMNS];
    for (size_t c = 0; c < columns; c++) row[c] = table->cells[r * columns + c];
    print_row(table, file, row, width);
  }
}

bramah_status cli_table_report(const cli_table *table, bramah_report *report)
{
  const size_t rows = table->n_cells / table->n_columns;
  const char **cells = calloc(table->n_cells + 1, sizeof *cells);
  if (!cells) return BRAMAH_E_MEMORY;
  for (size_t i = 0; i < rows * table->n_columns; i++) cells[i] = table->cells[i];
  const bramah_status status =
      bramah_report_add_table(report, table->title, rows, table->n_columns, table->header, cells);
  free(cells);
  return status;
}

cli_readable cli_readable_unit(const char *si)
{
  static const double degree = 57.295779513082320877;
  if (strcmp(si, "rad") == 0) return (cli_readable){"deg", degree};
  if (strcmp(si, "rad/s") == 0) return (cli_readable){"deg/s", degree};
  if (strcmp(si, "Pa") == 0) return (cli_readable){"bar", 1e-5};
  if (strcmp(si, "m") == 0) return (cli_readable){"mm", 1e3};
  if (strcmp(si, "m/s") == 0) return (cli_readable){"mm/s", 1e3};
  if (strcmp(si, "m^3/s") == 0) return (cli_readable){"L/min", 6e4};
  return (cli_readable){si, 1.0};
}

cli_text cli_value_text(double value, const char *si)
{
  const cli_readable unit = cli_readable_unit(si);
  cli_text out;
  snprintf(out.text, sizeof out.text, "%.6g %s", unit.factor * value, unit.unit);
  return out;
}

/* ---- files ---- */

/* Is this file one of the logs that a folder holds? */
static int is_log_of(const char *path, const struct stat *folder)
{
  struct stat own;
  const char *slash = strrchr(path, '/');
  char parent[4096];
  if (!bramah_log_row_word(path)) return 0;
  snprintf(parent, sizeof parent, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
  return S_ISDIR(folder->st_mode) && stat(parent, &own) == 0 && own.st_dev == folder->st_dev &&
         own.st_ino == folder->st_ino;
}

bramah_status cli_check_output(const char *output, size_t n_others, const char *const *others,
                               bramah_diag *diag)
{
  if (!output || strcmp(output, "-") == 0) return BRAMAH_OK;
  for (size_t i = 0; i < n_others; i++) {
    struct stat a, b;
    if (!others[i] || strcmp(others[i], "-") == 0) continue;
    const int same_file = stat(output, &a) == 0 && stat(others[i], &b) == 0 && S_ISREG(a.st_mode) &&
                          ((a.st_dev == b.st_dev && a.st_ino == b.st_ino) || is_log_of(output, &b));
    if (same_file || strcmp(output, others[i]) == 0)
      return cli_fail(diag, BRAMAH_E_FILE, output, 0, NULL,
                      "this file has another part in the same run and would be overwritten");
  }
  return BRAMAH_OK;
}

bramah_status cli_check_place(const char *output, bramah_diag *diag)
{
  char folder[4096] = ".";
  if (!output || strcmp(output, "-") == 0) return BRAMAH_OK;
  const char *slash = strrchr(output, '/');
  const size_t n = slash == output ? 1 : slash ? (size_t)(slash - output) : 0;
  if (n >= sizeof folder) return BRAMAH_OK; /* who opens it will tell */
  if (n) snprintf(folder, sizeof folder, "%.*s", (int)n, output);
  struct stat about;
  if (stat(output, &about) == 0 && S_ISDIR(about.st_mode))
    return cli_fail(diag, BRAMAH_E_FILE, output, 0, NULL, "cannot be created: it is a folder");
  if (access(output, F_OK) == 0 ? access(output, W_OK) == 0 : access(folder, W_OK | X_OK) == 0)
    return BRAMAH_OK;
  return cli_fail(diag, BRAMAH_E_FILE, output, 0, NULL, "cannot be created: %s", strerror(errno));
}

/* Files that are not finished yet, for whoever stops the program. */
enum { MOST_UNFINISHED = 4 };
static _Atomic(const char *) unfinished[MOST_UNFINISHED];

FILE *cli_create(const char *path, bramah_diag *diag)
{
  struct stat about;
  FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
  if (!file) cli_fail(diag, BRAMAH_E_FILE, path, 0, NULL, "cannot be created: %s", strerror(errno));
  if (!file || file == stdout || fstat(fileno(file), &about) != 0 || !S_ISREG(about.st_mode)) return file;
  for (size_t i = 0; i < MOST_UNFINISHED; i++) {
    const char *none = NULL;
    if (atomic_compare_exchange_strong(&unfinished[i], &none, path)) break;
  }
  return file;
}

void cli_put_number(FILE *file, double value, int digits)
{
  fputc(',', file);
  if (isfinite(value)) fprintf(file, "%.*g", digits, value);
}

bramah_status cli_finish(FILE *file, const char *path, bramah_diag *diag)
{
  for (size_t i = 0; i < MOST_UNFINISHED; i++) {
    const char *own = path;
    atomic_compare_exchange_strong(&unfinished[i], &own, NULL);
  }
  const int bad = ferror(file) != 0, unclosed = (file == stdout ? fflush(file) : fclose(file)) != 0;
  if (!bad && !unclosed) return BRAMAH_OK;
  return cli_fail(diag, BRAMAH_E_FILE, path, 0, NULL, "cannot be written completely");
}

FILE *cli_summary_stream(size_t n_outputs, const char *const *outputs)
{
  for (size_t i = 0; i < n_outputs; i++)
    if (outputs[i] && strcmp(outputs[i], "-") == 0) return stderr;
  return stdout;
}

const char *cli_base_name(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

int cli_is_regular(const char *path)
{
  struct stat about;
  return strcmp(path, "-") != 0 && stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

int cli_is_stream(const char *path)
{
  struct stat about;
  return strcmp(path, "-") == 0 || (stat(path, &about) == 0 && !S_ISREG(about.st_mode));
}

double cli_seconds(int64_t ns) { return (double)ns / 1e9; }

/* ---- progress ---- */

enum { BAR = 24, LINE = 79 };

static atomic_int line_drawn; /* for whoever stops the program */

double cli_clock(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

cli_progress cli_progress_begin(void)
{
  const double now = cli_clock();
  return (cli_progress){.shown = isatty(STDERR_FILENO), .start = now, .next = now + 0.3};
}

/* "12 s left", "3:20 min left" */
static void write_left(char *text, size_t size, double seconds)
{
  const long whole = seconds < 3.6e8 ? (long)(seconds + 0.5) : 0;
  if (whole < 60)
    snprintf(text, size, ", %ld s left", whole);
  else if (whole < 3600)
    snprintf(text, size, ", %ld:%02ld min left", whole / 60, whole % 60);
  else
    snprintf(text, size, ", %ld:%02ld h left", whole / 3600, whole % 3600 / 60);
}

void cli_progress_update(cli_progress *progress, double part, const char *format, ...)
{
  const double now = progress->shown ? cli_clock() : 0.0;
  char line[160], text[80], bar[BAR + 1] = "", left[32] = "", front[BAR + 16] = "";
  if (!progress->shown || now < progress->next) return;
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  if (part >= 0.0) {
    part = fmin(part, 1.0);
    memset(bar, '#', (size_t)(part * BAR));
    snprintf(front, sizeof front, "[%-*s] %3.0f %%  ", BAR, bar, 100.0 * part);
  }
  if (part > 0.0) write_left(left, sizeof left, (now - progress->start) * (1.0 - part) / part);
  progress->drawn = 1;
  line_drawn = 1;
  progress->next = now + 0.1;
  snprintf(line, sizeof line, "%s%s%s", front, text, left);
  fprintf(stderr, "\r%-*.*s", LINE, LINE, line);
  fflush(stderr);
}

void cli_progress_time(cli_progress *progress, int64_t done_ns, int64_t total_ns)
{
  if (!progress->shown) return;
  const double done = 1e-9 * (double)done_ns, past = cli_clock() - progress->start;
  cli_progress_update(progress, total_ns ? (double)done_ns / (double)total_ns : -1.0,
                      "%.6g s, %.3g x real time", done, past > 0.0 ? done / past : 0.0);
}

static const char take_away[] =
    "\r                                                                               \r";
_Static_assert(sizeof take_away == LINE + 3, "blanks for a line");

void cli_progress_end(cli_progress *progress)
{
  if (progress->drawn) fputs(take_away, stderr);
  progress->drawn = progress->shown = 0;
  line_drawn = 0;
}

/* ---- stopping ---- */

/* Any thread may take the signal and any other look: sig_atomic_t is enough for one alone. */
static atomic_int came;
static atomic_int nothing = -1; /* descriptor of a file that is empty */
#if ATOMIC_INT_LOCK_FREE != 2 || ATOMIC_POINTER_LOCK_FREE != 2
#error "a signal handler may use atomic objects only where they take no lock"
#endif

static atomic_int in_order;

static const char *name_of_signal(int number)
{
  return number == SIGTERM ? "SIGTERM" : number == SIGHUP ? "SIGHUP" : "SIGINT";
}

/* Only what a handler may call. */
static void say(const char *text) { (void)!write(STDERR_FILENO, text, strlen(text)); }

static void end_at_once(int number)
{
  if (line_drawn) say(take_away);
  say("bramah: stopped by ");
  say(name_of_signal(number));
  for (size_t i = 0; i < MOST_UNFINISHED; i++) {
    const char *path = unfinished[i];
    if (!path || unlink(path) != 0) continue;
    say("; ");
    say(path);
    say(" was not finished and is taken away");
  }
  say("\n");
  _exit(CLI_STOPPED + number);
}

static void handle(int number)
{
  const int kept = errno;
  if (!in_order) end_at_once(number);
  came = number;
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
  errno = kept;
}

/* Who starts us may want a signal ignored: a shell does so for what runs in the background, nohup too. */
static void catch_one(int number)
{
  struct sigaction action = {.sa_handler = handle, .sa_flags = (int)SA_RESETHAND}, before;
  sigemptyset(&action.sa_mask);
  if (sigaction(number, NULL, &before) == 0 && before.sa_handler == SIG_IGN) return;
  sigaction(number, &action, NULL);
}

void cli_stop_catch(int whether_in_order)
{
  if (whether_in_order && nothing < 0) nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  in_order = whether_in_order;
  catch_one(SIGINT);
  catch_one(SIGTERM);
  catch_one(SIGHUP);
}

int cli_stop_signal(void) { return came; }

int cli_is_stopped(void *user)
{
  (void)user;
  return came != 0;
}

const char *cli_stop_name(void) { return name_of_signal(cli_stop_signal()); }

/* ---- processors ---- */

size_t cli_processors(void)
{
  const long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n > 0 ? (size_t)n : 1;
}

/* ---- how steps are made ---- */

void cli_print_fmu(const bramah_fmu *fmu, const char *begin, FILE *out)
{
  const bramah_fmu_abilities r = bramah_fmu_get_abilities(fmu);
  static const char *const saved[] = {"", "serialized by the FMU", "kept inside the FMU",
                                      "not needed: each step starts the FMU anew from its states"};
  fprintf(out, "%s: FMI %d.0 %s%s%s, %zu variables%s\n", begin, r.version,
          r.is_exchange ? "model exchange, integrated by CVODE" : "co-simulation",
          *r.tool ? ", made by " : "", r.tool, r.n_variables,
          r.is_isolated ? ", in a process of its own" : "");
  fprintf(out, "  saved states: %s, %zu bytes%s%s\n", saved[r.saving], r.snapshot_bytes,
          *r.why_not_saved ? "; " : "", r.why_not_saved);
  if (*r.not_estimated)
    fprintf(out, "  taken as exact, since the study does not name them: its states %s\n", r.not_estimated);
  if (r.derivatives == BRAMAH_FMU_DIFFERENCES)
    fprintf(out, "  derivatives: differences of whole steps, by %.3g of the scales%s%s\n", r.difference_step,
            *r.why_differences ? "; " : "", r.why_differences);
  else
    fprintf(out, "  derivatives: directional ones of the FMU, %s\n",
            r.derivatives == BRAMAH_FMU_OF_STEP ? "of its steps"
                                                : "of its rates, by their exponential over a step");
  fprintf(out, "  they are off by %.2g of those of other differences, by the scales%s\n", r.mismatch,
          r.mismatch > 1e-2 ? ": the FMU does not answer smoothly to small changes; give larger scales" : "");
  fprintf(out,
          "  a step of the filter takes %zu step%s of the FMU, about %.3g us here (one step %.3g us, a saved "
          "and restored state %.3g us)\n",
          r.steps, r.steps == 1 ? "" : "s",
          1e6 * ((double)r.steps * r.step_seconds + (r.steps > 1 ? (double)r.steps : 2.0) * r.save_seconds),
          1e6 * r.step_seconds, 1e6 * r.save_seconds);
}

void cli_print_how(const bramah_machine_plant *machine, const bramah_step_report *steps, FILE *out)
{
  bramah_program *program = NULL;
  bramah_diag diag = {0};
  if (machine->fmu) {
    cli_print_fmu(machine->fmu, "how", out);
    return;
  }
  if (!machine->program) {
    const bramah_status status = bramah_program_new(machine->model, &diag, &program);
    bramah_program_free(program);
    if (status)
      fprintf(out, "how: interpreter (%s: %s)\n", diag.thing, diag.message);
    else
      fprintf(out, "how: interpreter (a tape of this machine would be slower)\n");
    return;
  }
  const bramah_program_info info = bramah_program_get_info(machine->program);
  fprintf(out, "how: tape of %zu operations, %zu of them an iterate, %.3g KB", info.n_operations,
          info.n_iterate, 1e-3 * (double)info.bytes);
  if (steps) {
    const uint64_t left[] = {steps->left_basis, steps->left_pivot, steps->left_divergence};
    static const char *const why[] = {"other coordinates", "small pivots", "iterations that do not converge"};
    fprintf(out, "; %llu steps by it, %llu by the interpreter", (unsigned long long)steps->compiled,
            (unsigned long long)(left[0] + left[1] + left[2]));
    for (size_t i = 0, n = 0; i < sizeof left / sizeof *left; i++)
      if (left[i]) fprintf(out, "%s%s: %llu", n++ ? ", " : " (", why[i], (unsigned long long)left[i]);
    if (left[0] + left[1] + left[2]) fprintf(out, ")");
  }
  const bramah_native_report native = bramah_machine_plant_native(machine);
  if (native.is_off) fprintf(out, "; native code is off");
  if (native.n_cached) fprintf(out, "; native code from the cache");
  if (native.n_compiled) fprintf(out, "; native code compiled in %.2g s", native.seconds);
  if (native.n_failed) fprintf(out, "; no native code: %s", native.why);
  fprintf(out, "\n");
}

void cli_explanation_text(const bramah_explanation *e, char text[CLI_CELL])
{
  const cli_readable unit = cli_readable_unit(e->unit);
  const double whole = e->kind == BRAMAH_CAUSE_GAIN ? 1.0 : fabs(e->nominal);
  const double scale = whole > 0.0 ? 100.0 / whole : unit.factor;
  const char *what = e->kind == BRAMAH_CAUSE_PARAMETER ? "" : " ";
  snprintf(text, CLI_CELL, "%s%s%s %+.3g ± %.2g %s", e->name, what, *what ? e->what : "", scale * e->change,
           scale * e->sigma, whole > 0.0 ? "%" : unit.unit);
}
