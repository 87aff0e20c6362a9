/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bramah tune: the values of a study from logs; its tables, the CSV file of all evaluations, the HTML page.
 */
#define _GNU_SOURCE /* isatty, versionsort */
#include "lib/cli/tune.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what tune and sweep share ---- */

const char **cli_tune_values(const cli_arguments *arguments, const char *name, size_t *n)
{
  size_t more = 0;
  while (cli_value_again(arguments, name, more)) more++;
  const char **values = calloc(more + 1, sizeof *values);
  for (size_t i = 0; values && i < more; i++) values[i] = cli_value_again(arguments, name, i);
  *n = more;
  return values;
}

/* None of the files written may take the place of one that is read. From here on a signal ends the run in
 * order. */
static bramah_status opened(void *user, const bramah_study *study, bramah_diag *diag)
{
  const cli_tune_command *c = user;
  bramah_status status = BRAMAH_OK;
  for (size_t o = 0; !status && o < c->n_outputs; o++) {
    const char *others[8];
    size_t n = 0;
    others[n++] = c->arguments->operands[0];
    others[n++] = study->machine_file;
    for (size_t p = 0; p < o; p++) others[n++] = c->outputs[p];
    status = cli_check_output(c->outputs[o], n, others, diag);
    if (!status) status = cli_check_output(c->outputs[o], c->n_logs, c->logs, diag);
    if (!status) status = cli_check_output(c->outputs[o], c->n_truths, c->truths, diag);
    if (!status) status = cli_check_place(c->outputs[o], diag);
  }
  if (!status && c->leads) cli_stop_catch(1);
  return status;
}

/* One more log, of which the command keeps a copy. 1: no memory. */
static int add_log(cli_tune_command *c, const char *folder, const char *name)
{
  const size_t room = strlen(folder) + strlen(name) + 2;
  const char *slash = !*folder || folder[strlen(folder) - 1] == '/' ? "" : "/";
  const char **logs = realloc(c->logs, (c->n_logs + 1) * sizeof *logs);
  if (logs) c->logs = logs;
  char *path = logs ? malloc(room) : NULL;
  if (!path) return 1;
  snprintf(path, room, "%s%s%s", folder, slash, name);
  c->logs[c->n_logs++] = path;
  return 0;
}

/* Every log (by its name) and every folder in it, in the order of their names. Returns an exit code. */
static int add_each(cli_tune_command *c, const char *folder)
{
  struct dirent **entries;
  bramah_diag diag;
  struct stat about;
  int failed = 0;
  const size_t before = c->n_logs;
  const int n = scandir(folder, &entries, NULL, versionsort);
  bramah_diag_clear(&diag);
  if (n < 0) {
    cli_fail(&diag, BRAMAH_E_FILE, folder, 0, NULL, "cannot read: %s", strerror(errno));
    return cli_report(&diag);
  }
  for (int i = 0; i < n; i++) {
    const char *name = entries[i]->d_name;
    if (!failed && name[0] != '.') {
      failed = add_log(c, folder, name);
      if (!failed && !bramah_log_row_word(name) &&
          (stat(c->logs[c->n_logs - 1], &about) || !S_ISDIR(about.st_mode)))
        free((char *)(uintptr_t)c->logs[--c->n_logs]);
    }
    free(entries[i]);
  }
  free(entries);
  if (failed || c->n_logs > before) return failed ? CLI_FAILED : 0;
  char names[256];
  bramah_log_names(names, sizeof names);
  cli_fail(&diag, BRAMAH_E_EMPTY, folder, 0, NULL, "there is no log (%s) and no folder in it", names);
  return cli_report(&diag);
}

int cli_tune_begin(cli_tune_command *command, const cli_arguments *arguments, bramah_tune_run *run)
{
  cli_tune_command *c = command;
  uint64_t threads = 0;
  c->arguments = arguments;
  c->start = cli_clock();
  c->progress = cli_progress_begin();
  int code = cli_count_value(arguments, "threads", 1, &threads);
  if (code) return code;
  c->truths = cli_tune_values(arguments, "truth", &c->n_truths);
  if (!c->truths) return CLI_FAILED;
  const char *value;
  for (int i = 1; !code && i < arguments->n_operands; i++) code = add_log(c, "", arguments->operands[i]);
  for (size_t i = 0; !code && (value = cli_value_again(arguments, "each", i)); i++) code = add_each(c, value);
  if (!code && !c->n_logs)
    code = cli_wrong_use(arguments->command, "there is no log: give LOG or --each FOLDER");
  for (; !code && (value = cli_value_again(arguments, "hold-out", c->n_held)); c->n_held++)
    code = add_log(c, "", value);
  if (code) return code;
  *run = (bramah_tune_run){.n_threads = (size_t)threads,
                           .strict = cli_value(arguments, "strict") != NULL,
                           .n_truths = c->n_truths,
                           .truths = c->truths,
                           .journal = cli_value(arguments, "journal"),
                           .transport = cli_transport_begin(),
                           .user = c,
                           .opened = opened,
                           .stopped = cli_is_stopped};
  c->begun = 1;
  c->leads = !run->transport || run->transport->rank == 0;
  if (c->leads) run->tell = cli_tell;
  return 0;
}

int cli_tune_end(cli_tune_command *command, bramah_status status, bramah_diag *diag)
{
  const int stopped_by = status == BRAMAH_E_TIME ? cli_stop_signal() : 0;
  int code = CLI_OK;
  if (stopped_by) {
    const char *journal = cli_value(command->arguments, "journal");
    cli_note("stopped by %s%s%s%s", cli_stop_name(), journal ? "; what is known so far is in " : "",
             journal ? journal : "", journal ? ": the same command goes on with it" : "");
    code = CLI_STOPPED + stopped_by;
  } else if (status) {
    code = diag->message[0] ? cli_report(diag) : CLI_FAILED;
  }
  if (command->begun) cli_transport_end();
  for (size_t i = 0; i < command->n_logs; i++) free((char *)(uintptr_t)command->logs[i]); /* ours */
  free(command->logs);
  free(command->truths);
  return code;
}

void cli_tune_put_verdict(const bramah_tune_verdict *v, FILE *file)
{
  const double cells[] = {v->cost, v->nis, v->distance, v->rmse, v->prediction, v->used, v->gated};
  const int whole = !v->status && !v->stopped;
  for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++)
    cli_put_number(file, whole ? cells[i] : (double)NAN, 9);
}

/* ---- words of the command line ---- */

typedef struct word {
  const char *name;
  int value;
} word;

static const word criteria[] = {{"likelihood", BRAMAH_TUNE_LIKELIHOOD},
                                {"nis", BRAMAH_TUNE_NIS},
                                {"rmse", BRAMAH_TUNE_RMSE},
                                {"prediction", BRAMAH_TUNE_PREDICTION},
                                {0}};
static const word methods[] = {{"scoring", BRAMAH_TUNE_SCORING}, {"simplex", BRAMAH_TUNE_SIMPLEX}, {0}};

static int word_value(const cli_arguments *arguments, const char *name, const word *words, int *out)
{
  const char *text = cli_value(arguments, name), *names[8];
  size_t n = 0;
  if (!text) return 0;
  for (; words[n].name; n++) {
    if (strcmp(words[n].name, text) == 0) return *out = words[n].value, 0;
    names[n] = words[n].name;
  }
  const char *nearest = bramah_nearest_name(text, n, names);
  return cli_wrong_use(arguments->command, "--%s: '%s' is not known; did you mean '%s'?", name, text,
                       nearest ? nearest : names[0]);
}

/* ---- tables ---- */

static cli_table consistency_table(const bramah_tune_result *r)
{
  static const char *const header[] = {"log",       "sensor", "NIS before",  "lag 1 before",
                                       "NIS after", "band",   "lag 1 after", "verdict"};
  cli_table table = cli_table_make("Innovations before and after (NIS per degree of freedom: 1 is expected)",
                                   "llrrrrrl", header);
  for (size_t k = 0; k < r->n_consistency; k++) {
    const bramah_tune_consistency *c = &r->consistency[k];
    const bramah_tune_colour *was = &c->before, *is = &c->after;
    cli_table_add(&table, "%s\t%s", cli_base_name(c->log), c->sensor ? c->sensor : "all together");
    const int few = !(is->low > 0.0);
    const char *level = few                  ? "too few samples to judge"
                        : is->nis > is->high ? "larger than assumed"
                        : is->nis < is->low  ? "smaller than assumed"
                                             : "consistent";
    const char *colour = few                ? ""
                         : is->faint        ? ", faintly coloured"
                         : !is->coloured    ? ", white"
                         : is->lag[0] > 0.0 ? ", remains coloured: something is not modelled"
                                            : ", anticorrelated: less plant noise would do";
    const int all = !c->sensor, any = all || is->n > 0.0; /* all together have no common lag */
    cli_table_add(&table, "%s\t%s\t%s\t%.4f to %.4f\t%s\t%s%s", CLI_NUMBER(was->nis),
                  CLI_NUMBER(all ? (double)NAN : was->lag[0]), CLI_NUMBER(is->nis), is->low, is->high,
                  CLI_NUMBER(all ? (double)NAN : is->lag[0]), any ? level : "no sample",
                  any && !all ? colour : "");
  }
  return table;
}

static cli_table certainty_table(const bramah_tune_result *r)
{
  static const char *const header[] = {"value", "unit",          "was",
                                       "found", "95 % interval", "strongest correlation"};
  cli_table table = cli_table_make("Values found", "llrrll", header);
  for (size_t i = 0; i < r->n; i++) {
    const bramah_tuned_value *v = &r->values[i];
    cli_table_add(&table, "%s\t%s\t%s\t%.4g\t%.4g to %.4g%s", v->path, v->unit, CLI_NUMBER(v->before),
                  v->found, v->low, v->high,
                  v->flat       ? " (flat)"
                  : v->at_bound ? " (at its bound)"
                                : "");
    if (v->with == i)
      cli_table_add(&table, "%s", "");
    else
      cli_table_add(&table, "%.2f with %s", v->correlation, r->values[v->with].path);
  }
  return table;
}

/* Two: how they did, and what was found without some of the logs. */
static void make_folds_tables(const bramah_tune_result *r, cli_table *tables)
{
  static const char *const header[] = {"left out", "as given",      "NIS", "tuned without",
                                       "NIS",      "tuned with it", "NIS"};
  tables[0] = cli_table_make("Cross-validation on logs left out (cost per innovation: less is better)",
                             "lrrrrrr", header);
  for (size_t f = 0; f < r->n_folds; f++) {
    const bramah_tune_fold *fold = &r->folds[f];
    if (!fold->n_held) continue;
    const char *name = cli_base_name(r->logs[fold->held[0]]);
    if (fold->n_held == 1)
      cli_table_add(&tables[0], "%s", name);
    else
      cli_table_add(&tables[0], "%s and %zu more", name, fold->n_held - 1);
    const bramah_tune_verdict *const verdicts[] = {&fold->given, &fold->found, &fold->all};
    for (size_t i = 0; i < 3; i++) {
      cli_table_add(&tables[0], "%.5f\t%s", verdicts[i]->cost / verdicts[i]->used,
                    CLI_NUMBER(verdicts[i]->nis));
    }
  }

  static const char *const spread[] = {"value", "unit", "least of the folds", "mean", "most of the folds"};
  tables[1] = cli_table_make("Values found without some of the logs", "llrrr", spread);
  for (size_t i = 0; i < r->n; i++) {
    double least = (double)INFINITY, most = -(double)INFINITY, sum = 0.0;
    for (size_t f = 0; f < r->n_folds; f++) {
      const double x = r->folds[f].x[i];
      least = fmin(least, x);
      most = fmax(most, x);
      sum += x / (double)r->n_folds;
    }
    cli_table_add(&tables[1], "%s\t%s\t%s\t%s\t%s", r->values[i].path, r->values[i].unit, CLI_NUMBER(least),
                  CLI_NUMBER(sum), CLI_NUMBER(most));
  }
}

static cli_table profile_table(const bramah_tune_result *r)
{
  static const char *const header[] = {"value",      "unit", "95 % by the profile", "from",
                                       "cost there", "to",   "cost there"};
  cli_table table =
      cli_table_make("Profiles of the likelihood (the other values made the best of; cost above the least)",
                     "lllrrrr", header);
  for (size_t j = 0; j < r->n; j++) {
    const bramah_tune_profile *p = &r->values[j].profile;
    cli_table_add(&table, "%s\t%s\t%.4g to %.4g", r->values[j].path, r->values[j].unit, p->low, p->high);
    for (size_t end = 0; end < 2; end++) {
      const size_t i = end ? p->n - 1 : 0;
      cli_table_add(&table, "%s\t%.3f", CLI_NUMBER(p->x[i]), p->cost[i]);
    }
  }
  return table;
}

static cli_table criteria_table(const bramah_tune_result *r)
{
  static const char *const header[] = {"best by",      "evaluation", "cost above the least",
                                       "NIS distance", "RMSE %",     "prediction"};
  cli_table table = cli_table_make("What the criteria prefer among the sets tried", "lrrrrr", header);
  const size_t least = r->best[BRAMAH_TUNE_LIKELIHOOD];
  for (int c = 0; c < BRAMAH_TUNE_CRITERIA && least < r->n_tried; c++) {
    if (r->best[c] == r->n_tried) continue;
    const bramah_tune_verdict *v = &r->tried[r->best[c]].verdict;
    cli_table_add(&table, "%s\t%zu\t%.3f\t%s\t%s\t%s", criteria[c].name, r->best[c] + 1,
                  v->cost - r->tried[least].verdict.cost, CLI_NUMBER(v->distance),
                  CLI_NUMBER(100.0 * v->rmse), CLI_NUMBER(v->prediction));
  }
  return table;
}

/* ---- all evaluations ---- */

static bramah_status write_evaluations(const char *path, const bramah_tune_result *r, bramah_diag *diag)
{
  FILE *file = cli_create(path, diag);
  if (!file) return BRAMAH_E_FILE;
  fputs("evaluation,phase,slope,outcome,criterion,cost,nis,nis_distance,rmse,prediction,innovations,gated,"
        "front",
        file);
  for (size_t k = 0; k < r->n; k++)
    fprintf(file, *r->values[k].unit ? ",%s[%s]" : ",%s%s", r->values[k].path, r->values[k].unit);
  fputc('\n', file);
  for (size_t i = 0; i < r->n_tried; i++) {
    const bramah_tune_tried *t = &r->tried[i];
    const bramah_tune_verdict *v = &t->verdict;
    fprintf(file, "%zu,%s,%d,%s", i + 1, t->phase, t->slope,
            v->status    ? bramah_status_name(v->status)
            : v->stopped ? "given up"
                         : "ok");
    cli_put_number(file, t->value, 9);
    cli_tune_put_verdict(v, file);
    fprintf(file, ",%d", t->front);
    for (size_t k = 0; k < r->n; k++) cli_put_number(file, t->x[k], 9);
    fputc('\n', file);
  }
  return cli_finish(file, path, diag);
}

/* ---- the page ---- */

/* Steps of the search itself: not the neighbours that were looked at, nor what was given up. */
static int is_step(const bramah_tune_tried *t)
{
  return strcmp(t->phase, "search") == 0 && isfinite(t->value) && !t->verdict.stopped;
}

/* Over the evaluations of the search: the criterion, or a value on its scale (NULL: none), where the search was about
 * at its end with the interval found there. */
static bramah_status plot_search(bramah_report *report, const bramah_tune_result *r,
                                 const bramah_tuned_value *value)
{
  char title[512], unit[128];
  size_t plot;
  const bramah_report_plot look = {
      .section = "Search",
      .text = "What was tried, evaluation by evaluation, and the best so far.",
      .title = title,
      .unit = unit,
      .factor = 1.0,
      .logarithmic = !value || !value->linear,
      .axis = BRAMAH_REPORT_CURVE,
      .names = {value ? "of the best so far" : "best so far", NULL, "tried", NULL},
      .band = value ? "95 % interval" : NULL,
      .x = "evaluation"};
  double least = (double)INFINITY, best = (double)INFINITY, shown = (double)NAN, half = (double)NAN;
  for (size_t i = 0; i < r->n_tried; i++)
    if (is_step(&r->tried[i])) least = fmin(least, r->tried[i].value);
  if (value) {
    snprintf(title, sizeof title, "%s", value->path);
    snprintf(unit, sizeof unit, "%s", *value->unit ? value->unit : "1");
    half = 1.96 * value->sigma;
    if (value->linear) half *= value->most - value->least;
  } else {
    snprintf(title, sizeof title, "%s above its least", r->criterion);
    snprintf(unit, sizeof unit, "1");
  }

  bramah_status status = bramah_report_add(report, &look, &plot);
  for (size_t i = 0; !status && i < r->n_tried; i++) {
    const bramah_tune_tried *t = &r->tried[i];
    if (!is_step(t)) continue;
    /* The least of the criterion would be minus infinity on its scale. */
    const double y = value ? t->x[value - r->values] : fmax(t->value - least, 1e-3);
    if (t->value < best) shown = y;
    best = fmin(best, t->value);
    const double at = (double)i + 1.0, about = t->value < least + 2.0 ? half : (double)NAN;
    const double low = value && !value->linear ? shown * exp(-about) : shown - about;
    const double high = value && !value->linear ? shown * exp(about) : shown + about;
    status = bramah_report_point(report, plot, BRAMAH_REPORT_MEASURED, at, y, (double)NAN, (double)NAN);
    if (!status) status = bramah_report_point(report, plot, BRAMAH_REPORT_ESTIMATE, at, shown, low, high);
  }
  return status;
}

/* Cost above the least over a value; the level is that of 95 %. */
static bramah_status plot_profile(bramah_report *report, const bramah_tuned_value *tuned)
{
  const bramah_tune_profile *p = &tuned->profile;
  char title[256], x[256];
  size_t plot;
  snprintf(title, sizeof title, "profile of %.200s", tuned->path);
  snprintf(x, sizeof x, "%.100s [%.100s]", tuned->path, *tuned->unit ? tuned->unit : "1");
  const bramah_report_plot look = {
      .section = "Profiles",
      .title = title,
      .unit = "1",
      .factor = 1.0,
      .axis = BRAMAH_REPORT_CURVE,
      .names = {"cost above its least", NULL, NULL, "1.92: end of the 95 % interval"},
      .x = x};
  bramah_status status = bramah_report_add(report, &look, &plot);
  for (size_t i = 0; !status && i < p->n; i++) {
    if (i && !(p->x[i] > p->x[i - 1])) continue; /* points held at a bound */
    status = bramah_report_point(report, plot, BRAMAH_REPORT_ESTIMATE, p->x[i], p->cost[i], (double)NAN,
                                 (double)NAN);
    if (!status)
      status =
          bramah_report_point(report, plot, BRAMAH_REPORT_MODEL, p->x[i], 1.92, (double)NAN, (double)NAN);
  }
  return status;
}

/* Are the values found to be used? By whether the search ended, what the innovations say then, and the warnings. */
static bramah_status answer(bramah_report *report, const bramah_tune_result *r)
{
  char headline[160], reason[1024] = "", advice[1024] = "";
  const bramah_tune_consistency *worst = NULL;
  size_t used = 0, off = 0, coloured = 0, judged = 0;
  for (size_t k = 0; k < r->n_consistency; k++) {
    const bramah_tune_colour *is = &r->consistency[k].after;
    const int outside = is->nis > is->high || is->nis < is->low;
    if (!r->consistency[k].sensor || !(is->low > 0.0)) continue;
    judged++;
    off += (size_t)outside;
    coloured += (size_t)(is->coloured && !is->faint);
    if ((outside || (is->coloured && !is->faint)) &&
        (!worst || fabs(log(is->nis)) > fabs(log(worst->after.nis))))
      worst = &r->consistency[k];
  }
  const int doubtful = off || coloured || r->n_warnings || r->n_left_out || !judged || r->doubt;
  const bramah_report_answer said = {.level = !r->converged ? BRAMAH_REPORT_WRONG
                                              : doubtful    ? BRAMAH_REPORT_UNSURE
                                                            : BRAMAH_REPORT_FINE,
                                     .headline = headline,
                                     .reason = reason,
                                     .advice = doubtful || !r->converged ? advice : NULL,
                                     .begin = (double)NAN,
                                     .end = (double)NAN};
  snprintf(headline, sizeof headline, "%s",
           !r->converged ? "Do not use these values yet: the search did not end"
           : doubtful    ? "Values found, with reservations"
                         : "Values found; the innovations agree with them");
  used = (size_t)snprintf(
      reason, sizeof reason, "The search %s after %d iterations and %zu evaluations; %s %.6g. ",
      r->converged ? "converged" : r->ending, r->iterations, r->evaluations, r->criterion, r->cost);
  if (worst)
    snprintf(
        reason + used, sizeof reason - used,
        "Of %zu sensors in the logs %zu have innovations of another size than stated and %zu coloured ones; "
        "the worst is %s in %s: mean NIS %.3g, %.3g to %.3g would do, correlation %.2g.",
        judged, off, coloured, worst->sensor, cli_base_name(worst->log), worst->after.nis, worst->after.low,
        worst->after.high, worst->after.lag[0]);
  else
    snprintf(reason + used, sizeof reason - used,
             "The innovations of %zu sensors in the logs are as large as stated, and white.", judged);
  if (!r->converged)
    snprintf(advice, sizeof advice,
             "Let it go on: a larger --budget, and --journal so that nothing is done twice.");
  else if (r->doubt)
    bramah_diag_format(&r->doubt->diag, advice, sizeof advice);
  else if (r->n_warnings)
    snprintf(advice, sizeof advice, "Mind the warning: %s%s", r->warnings[0],
             r->n_warnings > 1 ? " (further warnings below)" : ".");
  else if (coloured)
    snprintf(advice, sizeof advice,
             "Noise cannot make coloured innovations white: look for what the model misses.");
  else
    snprintf(advice, sizeof advice, "Tune on more logs, or on the values that these sensors depend on.");
  return bramah_report_say(report, &said);
}

/* `head` says what was tuned. */
static bramah_status write_report(const char *path, const cli_tune_command *c, const bramah_tune_result *r,
                                  const char *head, size_t n_tables, const cli_table *tables,
                                  bramah_diag *diag)
{
  bramah_report *report = NULL;
  char title[256];
  snprintf(title, sizeof title, "Tuning: %.200s", r->study->name);
  bramah_diag_clear(diag);
  bramah_status status = bramah_report_new(title, diag, &report);
  if (!status) status = answer(report, r);
  if (!status) status = bramah_report_note(report, "study", c->arguments->operands[0]);
  if (!status) status = bramah_report_note(report, "machine", r->study->machine_file);
  if (!status) status = bramah_report_note(report, "tuned", head);
  for (size_t i = 0; !status && i < r->n_left_out; i++)
    status = bramah_report_note(report, "left out", r->left_out[i].log);
  for (size_t i = 0; !status && i < r->n_warnings; i++)
    status = bramah_report_note(report, "warning", r->warnings[i]);
  if (!status && r->doubt) {
    char doubt[1024];
    bramah_diag_format(&r->doubt->diag, doubt, sizeof doubt);
    status = bramah_report_note(report, "doubted", doubt);
  }
  if (!status) status = plot_search(report, r, NULL);
  for (size_t j = 0; !status && j < r->n; j++) status = plot_search(report, r, &r->values[j]);
  for (size_t j = 0; !status && j < r->n; j++)
    if (r->values[j].profile.n) status = plot_profile(report, &r->values[j]);
  for (size_t i = 0; !status && i < n_tables; i++) status = cli_table_report(&tables[i], report);
  if (status && !diag->message[0]) cli_fail(diag, status, path, 0, NULL, "the report cannot be completed");
  if (!status) status = bramah_report_write(report, BRAMAH_REPORT_PAGE, path, diag);
  if (status) cli_place(diag, path, 0);
  bramah_report_free(report);
  return status;
}

/* ---- the command ---- */

static int is_late(void *user)
{
  const cli_tune_command *c = user;
  return c->time_ns && cli_clock() >= c->start + cli_seconds(c->time_ns);
}

static void show_progress(void *user, const bramah_tune_progress *p)
{
  cli_tune_command *c = user;
  cli_progress_update(&c->progress, -1.0, "%s: %llu evaluations, %llu replays, best %.9g", p->phase,
                      (unsigned long long)p->evaluations, (unsigned long long)p->replays, p->best);
}

static bramah_status conclude(const cli_tune_command *c, const bramah_tuning *tuning, bramah_diag *diag)
{
  const bramah_tune_result *r = bramah_tuning_result(tuning);
  const double seconds = cli_clock() - c->start;
  const size_t n_tuned = r->n_logs - r->n_held;
  FILE *out = cli_summary_stream(3, c->outputs);
  cli_table tables[6];
  size_t n = 0;
  if (r->has_intervals) tables[n++] = certainty_table(r);
  tables[n++] = consistency_table(r);
  if (r->n_folds) {
    make_folds_tables(r, tables + n);
    n += 2;
  }
  if (r->n && r->values[0].profile.n) tables[n++] = profile_table(r);
  tables[n++] = criteria_table(r);
  fprintf(out, "study: %s (%s), %zu value%s\n", r->study->name, c->arguments->operands[0], r->n,
          r->n == 1 ? "" : "s");
  fprintf(out, "logs: %zu tuned on, %zu held out", n_tuned, r->n_held);
  if (r->n_left_out) fprintf(out, ", %zu left out", r->n_left_out);
  fputc('\n', out);
  fprintf(out, "search: %s after %d iterations, %zu evaluations; %s %.6g\n", r->ending, r->iterations,
          r->evaluations, r->criterion, r->cost);
  fprintf(out, "work: %llu replays in %.1f s, %.1f s of log per second%s\n", (unsigned long long)r->replays,
          seconds, r->log_seconds / seconds, r->n_known ? " (others were in the journal)" : "");
  for (size_t i = 0; i < n; i++) cli_table_print(&tables[i], out);
  if (r->n_warnings) fputc('\n', out);
  for (size_t i = 0; i < r->n_warnings; i++) fprintf(out, "warning: %s\n", r->warnings[i]);
  if (r->doubt) {
    char doubt[1024];
    bramah_diag_format(&r->doubt->diag, doubt, sizeof doubt);
    fprintf(out, "\ndoubted, in %s: %s\n", r->doubted_log, doubt);
  }

  /* The files, with what was tuned in front. */
  char head[2048];
  size_t used =
      (size_t)snprintf(head, sizeof head, "Tuned by bramah %s: criterion %s, %zu log%s:", bramah_version(),
                       r->criterion, n_tuned, n_tuned == 1 ? "" : "s");
  for (size_t i = 0; i < n_tuned && used < sizeof head; i++)
    used += (size_t)snprintf(head + used, sizeof head - used, "%s %s", i ? "," : "", r->logs[i]);
  bramah_status status = BRAMAH_OK;
  if (c->outputs[0]) status = bramah_tuning_write(tuning, c->outputs[0], head, diag);
  if (!status && c->outputs[1]) status = write_evaluations(c->outputs[1], r, diag);
  if (!status && c->outputs[2]) status = write_report(c->outputs[2], c, r, head, n, tables, diag);
  for (size_t i = 0; i < n; i++) cli_table_free(&tables[i]);
  return status;
}

static int run(const cli_arguments *a)
{
  cli_tune_command c = {.n_outputs = 4,
                        .outputs = {cli_value(a, "output"), cli_value(a, "evaluations"),
                                    cli_value(a, "report"), cli_value(a, "journal")}};
  bramah_tune_options o;
  bramah_tuning *tuning = NULL;
  bramah_diag diag;
  uint64_t folds = 0, profile = 0;
  bramah_diag_clear(&diag);
  bramah_tune_options_default(&o);
  int code = cli_count_value(a, "budget", 1, &o.budget);
  if (!code) code = cli_count_value(a, "folds", 2, &folds);
  if (!code) code = cli_count_value(a, "profile", 1, &profile);
  if (!code) code = cli_time_value(a, "time", &c.time_ns);
  if (!code) code = word_value(a, "criterion", criteria, &o.criterion);
  if (!code) code = word_value(a, "method", methods, &o.method);
  if (code) return code;
  code = cli_tune_begin(&c, a, &o.run);
  o.start_from_study = cli_value(a, "start-from-study") != NULL;
  o.folds = (size_t)folds;
  o.profile = (size_t)profile;
  o.n_held = c.n_held;
  o.enough = is_late;
  o.progress = show_progress;
  bramah_status status = BRAMAH_OK;
  if (!code) status = bramah_tune(a->operands[0], c.n_logs, c.logs, &o, &diag, &tuning);
  cli_progress_end(&c.progress);
  if (!code && !status && tuning) status = conclude(&c, tuning, &diag);
  if (!code && !status && tuning && bramah_tuning_result(tuning)->doubt) code = CLI_UNTRUSTED;
  bramah_tuning_free(tuning);
  const int failed = cli_tune_end(&c, status, &diag);
  return failed ? failed : code;
}

static const cli_option options[] = {
    {"output", "FILE", "study file with the values found", 0, 0},
    {"journal", "FILE", "every result as it comes; a new run goes on from it", 0, 0},
    {"evaluations", "FILE", "every set of values that was tried, CSV", 0, 0},
    {"report", "FILE", "HTML page with plots and tables", 0, 0},
    {"truth", "FILE", "true motion of a log, in the order of the logs", 0, 1},
    CLI_EACH,
    {"hold-out", "LOG", "a log that is judged but not tuned on", 0, 1},
    CLI_STRICT,
    {"folds", "N", "cross-validation: tune anew without each N-th log", 0, 0},
    {"profile", "N", "likelihood N points to each side of every value", 0, 0},
    {"criterion", "likelihood|nis|rmse|prediction", "instead of the study's", 0, 0},
    {"method", "scoring|simplex", "instead of the study's", 0, 0},
    {"start-from-study", NULL, "begin with its values, not what innovations tell", 0, 0},
    {"budget", "N", "evaluations at most, and as many in each fold", 0, 0},
    {"time", "TIME", "of the clock at most\nWhat was finished then depends on the machine.", 0, 0},
    {"threads", "N", "default: one per processor; 1 under mpirun", 0, 0},
    {0}};

const cli_command cli_tune = {
    .name = "tune",
    .operands = "STUDY [LOG...]",
    .summary = "Find noise and other values of a study from logs",
    .details =
        "The section 'tune' of the study names the values, their bounds and the criterion. Without one the\n"
        "likelihood of the innovations is made as large as it gets. The outcome does not depend on the "
        "number\n"
        "of threads, or of processes (mpirun bramah-mpi tune ...). The exit code is 3 where, with the "
        "values\n"
        "found, process noise is overestimated while parameters are learned, as `replay` says it.\n",
    .example = "bramah tune sensors-2.yaml monday.csv tuesday.csv --output tuned.yaml \\\n"
               "    --hold-out friday.csv --journal tune.journal",
    .min_operands = 1,
    .max_operands = 1000,
    .options = options,
    .run = run};
