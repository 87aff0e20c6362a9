/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What became of the scenario of a display: a table and a line for people, an object for programs, and the log of what was shown. */
#include "lib/cli/replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the log of what was shown ---- */

/* "estimate.csv" becomes "estimate.shown.csv"; NULL: memory is out. */
char *cli_shown_path(const char *output)
{
  const char *name = cli_base_name(output), *end = strrchr(name, '.');
  const size_t n = end && end > name ? (size_t)(end - output) : strlen(output),
               size = n + sizeof ".shown.csv";
  char *path = malloc(size);
  if (path) snprintf(path, size, "%.*s.shown.csv", (int)n, output);
  return path;
}

static void put_quoted(FILE *file, const char *text)
{
  fputs(",\"", file);
  for (; text && *text; text++) {
    if (*text == '"') fputc('"', file);
    fputc(*text, file);
  }
  fputc('"', file);
}

void cli_shown_begin(FILE *file) { fputs("t[s],kind,name,text,probability,output,unit,value,sigma\n", file); }

void cli_shown_add(const bramah_display *display, FILE *file)
{
  const bramah_shown *row;
  const size_t n = bramah_display_shown(display, &row);
  for (size_t i = 0; i < n; i++, row++) {
    fprintf(file, "%.9g,%s", row->t, bramah_shown_kind_text(row->kind));
    put_quoted(file, row->name);
    put_quoted(file, row->text);
    cli_put_number(file, row->probability, 6);
    fprintf(file, ",%s,%s", row->output ? row->output : "", row->unit ? row->unit : "");
    cli_put_number(file, row->value, 6);
    cli_put_number(file, row->sigma, 6);
    fputc('\n', file);
  }
}

/* ---- what it came to ---- */

static const char *of_task(const bramah_task_result *task)
{
  static const char *const words[] = {"not begun", "not done", "done", "failed"};
  return words[task->is];
}

static void add_rules(cli_table *table, size_t n, const bramah_rule_result *rules,
                      const bramah_rule_result *by_truth)
{
  for (size_t i = 0; i < n; i++) {
    const unsigned long long times = rules[i].times;
    cli_table_add(table, times ? "%s\t%llu times" : "%s\tnever", rules[i].name, times);
    cli_table_add(table, "%s\t\t\t%s", CLI_NUMBER(rules[i].first),
                  CLI_NUMBER(rules[i].lost > 0.0 ? -rules[i].lost : 0.0));
    if (by_truth)
      cli_table_add(table, "%llu times\t%s", (unsigned long long)by_truth[i].times,
                    CLI_NUMBER(by_truth[i].first));
    else
      cli_table_add(table, "\t");
  }
}

cli_table cli_scenario_table(bramah_display *display)
{
  static const char *const header[] = {"scenario", "came out", "from s",       "to s",
                                       "sure %",   "points",   "by the truth", "s"};
  const bramah_scenario_result *by = display ? bramah_display_scenario(display, BRAMAH_JUDGE_ESTIMATE) : NULL,
                               *truth = display ? bramah_display_scenario(display, BRAMAH_JUDGE_TRUTH) : NULL;
  cli_table table = cli_table_make("Scenario, by the estimates", "llrrrrlr", header);
  for (size_t i = 0; by && i < by->n_tasks; i++) {
    const bramah_task_result *task = &by->task[i];
    cli_table_add(&table, "%s\t%s\t%s\t%s\t%.1f\t%s\t%s\t%s", task->name, of_task(task),
                  CLI_NUMBER(task->begun), CLI_NUMBER(task->ended), 100.0 * task->sure,
                  CLI_NUMBER(task->is == BRAMAH_TASK_DONE ? task->points - task->lost : 0.0),
                  truth ? of_task(&truth->task[i]) : "",
                  CLI_NUMBER(truth ? truth->task[i].ended : (double)NAN));
  }
  if (!by) return table;
  add_rules(&table, by->n_penalties, by->penalty, truth ? truth->penalty : NULL);
  add_rules(&table, by->n_breakdowns, by->breakdown, truth ? truth->breakdown : NULL);
  return table;
}

void cli_scenario_print(bramah_display *display, const bramah_verdict *verdict, FILE *out)
{
  static const char *const ends[] = {"it was not over", "", "; the time was up", "; it broke down"};
  const bramah_scenario_result *by = display ? bramah_display_scenario(display, BRAMAH_JUDGE_ESTIMATE) : NULL,
                               *truth = display ? bramah_display_scenario(display, BRAMAH_JUDGE_TRUTH) : NULL;
  if (!by) return;
  size_t done = 0;
  for (size_t i = 0; i < by->n_tasks; i++) done += by->task[i].is == BRAMAH_TASK_DONE;
  fprintf(out, "score: %.4g of %.4g by the estimates, truly %.4g ± %.2g (95 %%); %zu of %zu tasks done%s%s",
          by->score, by->most, by->expected, 1.96 * by->sigma, done, by->n_tasks, by->is ? "" : "; ",
          ends[by->is]);
  if (verdict->contradicted || verdict->doubt || verdict->broken_off)
    fprintf(out, "; no better than the estimates, see the verdict");
  if (truth) fprintf(out, "\nscore by the truth: %.4g", truth->score);
  for (size_t i = 0, n = 0; truth && i < by->n_tasks; i++)
    if (by->task[i].is != truth->task[i].is)
      fprintf(out, "%s %s (%s, by the truth %s)", n++ ? "," : "; judged differently:", by->task[i].name,
              of_task(&by->task[i]), of_task(&truth->task[i]));
  if (truth && truth->is != by->is) fputs(ends[truth->is], out);
  fputc('\n', out);
}

static void put_scenario(cli_json *json, const char *name, const bramah_scenario_result *of)
{
  static const cli_json_field rules[] = {{"name", CLI_JSON_TEXT, offsetof(bramah_rule_result, name)},
                                         {"times", CLI_JSON_COUNT, offsetof(bramah_rule_result, times)},
                                         {"first", CLI_JSON_NUMBER, offsetof(bramah_rule_result, first)},
                                         {"lost", CLI_JSON_NUMBER, offsetof(bramah_rule_result, lost)},
                                         {0}};
  static const char *const ends[] = {"runs", "over", "late", "broken"};
  if (!of) return;
  cli_json_open(json, name, '{');
  cli_json_text(json, "is", ends[of->is]);
  cli_json_number(json, "begun", of->begun);
  cli_json_number(json, "ended", of->ended);
  cli_json_number(json, "score", of->score);
  cli_json_number(json, "most", of->most);
  cli_json_number(json, "expected", of->expected);
  cli_json_number(json, "sigma", of->sigma);
  cli_json_open(json, "tasks", '[');
  for (size_t i = 0; i < of->n_tasks; i++) {
    const bramah_task_result *task = &of->task[i];
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "name", task->name);
    cli_json_text(json, "is", of_task(task));
    cli_json_number(json, "begun", task->begun);
    cli_json_number(json, "ended", task->ended);
    cli_json_number(json, "sure", task->sure);
    cli_json_number(json, "points", task->is == BRAMAH_TASK_DONE ? task->points - task->lost : 0.0);
    cli_json_close(json, '}');
  }
  cli_json_close(json, ']');
  cli_json_list(json, "penalties", of->n_penalties, of->penalty, sizeof *of->penalty, rules);
  cli_json_list(json, "breakdowns", of->n_breakdowns, of->breakdown, sizeof *of->breakdown, rules);
  cli_json_close(json, '}');
}

void cli_scenario_json(bramah_display *display, cli_json *json)
{
  if (!display) return;
  put_scenario(json, "scenario", bramah_display_scenario(display, BRAMAH_JUDGE_ESTIMATE));
  put_scenario(json, "scenario_by_truth", bramah_display_scenario(display, BRAMAH_JUDGE_TRUTH));
}
