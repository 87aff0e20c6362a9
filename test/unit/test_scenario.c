/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scenarios: their part of a display file and its mistakes; tasks, penalties and breakdowns at the times that estimates, their
 * probabilities and the truth say, found anew from what was recorded; the two judges; back in a log, and from a snapshot. */
#define _GNU_SOURCE /* scratch files, locale_t */
#include "bramah/display.h"
#include "bramah/log.h"
#include "bramah/serve.h"
#include "lib/display/display_parts.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"
#include "test/support/text_file.h"

#include <math.h>
#include <string.h>

static bramah_diag diag;

static const char *in_folder(const char *name)
{
  static char text[2][1024];
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  const int k = strcmp(name, "log.csv") == 0;
  snprintf(text[k], sizeof text[k], "%s/datasets/four-bar/%s", root ? root : ".", name);
  return text[k];
}

static bramah_session *session;
static bramah_log_stream *stream;
static bramah_assess *assess;
static bramah_display *display;

static void open_run(int with_truth, double to)
{
  const char *logs[] = {in_folder("log.csv")};
  bramah_assess_options options;
  must(bramah_session_open(in_folder("sensors-2.yaml"), &diag, &session), &diag);
  must(bramah_log_stream_open(session, 1, logs, &diag, &stream), &diag);
  bramah_assess_options_default(&options);
  options.to_ns = (int64_t)(1e9 * to);
  options.truth = with_truth ? in_folder("truth.csv") : NULL;
  must(bramah_assess_new(session, bramah_log_stream_next, stream, &options, &diag, &assess), &diag);
}

static void close_run(void)
{
  bramah_display_free(display);
  bramah_assess_free(assess);
  bramah_log_stream_close(stream);
  bramah_session_close(session);
  display = NULL;
  assess = NULL;
  stream = NULL;
  session = NULL;
}

/* The crank stands at 60 deg, goes down from 1 s on and stands at 41 deg from 2.6 s on. */
enum { N_LINES = 16 };
static const char *const lines[N_LINES] = {
    /* 1 */ "display: four-bar",
    /* 2 */ "gauges:",
    /* 3 */ "  crank: {kind: dial, output: crank.angle, unit: deg, range: [0, 90], critical_below: 45}",
    /* 4 */ "  left: {kind: bar, output: crank.angle, unit: \"%\", tank: 2 rad, range: [0, 100]}",
    /* 5 */ "scenario:",
    /* 6 */ "  confidence: 90 %",
    /* 7 */ "  tasks:",
    /* 8 */
    "    wait: {instruction: Wait, end: {crank.angle: {above: 55 deg, below: 65 deg}, v2.pressure: {above: "
    "20 "
    "bar}}, hold: 0.5 s, points: 10, gauges: crank}",
    /* 9 */
    "    lower: {instruction: Lower it, begin: {crank.rate: {below: -0.1 rad/s}}, end: {left: {above: 60 "
    "%}}, "
    "hold: 0.1 s, points: 20, time_limit: 0.5 s, late: 10}",
    /* 10 */
    "    never: {instruction: Lower it a lot, after: wait, end: {crank.angle: {below: 20 deg}}, time_limit: "
    "0.3 s, points: 5}",
    /* 11 */
    "    calm: {instruction: Do not hurry, after: start, end: {crank.angle: {below: 42 deg}}, forbidden: "
    "{crank.rate: {below: -0.22 rad/s}}, points: 7}",
    /* 12 */ "    more: {instruction: Go up, after: never, end: {crank.angle: {above: 90 deg}}}",
    /* 13 */ "  penalties:",
    /* 14 */
    "    fast: {when: {crank.rate: {beyond: 0.2 rad/s}}, hold: 0.02 s, text: Too fast, points: 3, "
    "per_second: 2}",
    /* 15 */ "  breakdowns:",
    /* 16 */ "    low: {when: {crank.angle: {below: 42 deg}}, message: Too low}"};

static void load(bramah_display_file **file) { must(bramah_display_load(path, &diag, file), &diag); }

static void show_file(void)
{
  bramah_display_file *file;
  load(&file);
  must(bramah_display_new(file, assess, &diag, &display), &diag);
  bramah_display_file_free(file);
}

TEST(files)
{
  bramah_display_file *file;
  write_lines(lines, N_LINES, 0, NULL);
  load(&file);
  const bramah_scenario *s = &file->scenario;
  ck_assert_uint_eq(s->n_tasks, 5);
  ck_assert_int_eq(s->line, 5);
  ck_assert_double_eq(s->confidence, 0.9);
  ck_assert_str_eq(s->tasks[0].gauges[0], "crank");
  ck_assert_str_eq(s->tasks[3].after[0], "start");
  ck_assert_double_eq(s->tasks[1].late, 10.0);
  ck_assert_double_eq(s->tasks[1].time_limit, 0.5);
  ck_assert_double_eq(s->penalties[0].per_second, 2.0);
  ck_assert_double_eq(s->breakdowns[0].probability, 0.5);
  ck_assert(!s->breakdowns[0].goes_on && !s->by_truth);
  bramah_display_file_free(file);
  write_lines(lines, 4, 0, NULL);
  load(&file);
  ck_assert_uint_eq(file->scenario.n_tasks, 0);
  bramah_display_file_free(file);
}

/* A line and what stands there instead, '@' at the place of the mistake. */
static const struct {
  int line;
  const char *with;
  bramah_status status;
  const char *says;
} mistakes[] = {
    {5, "@scenarios:", BRAMAH_E_KEY, "did you mean 'scenario'?"},
    {6, "  confidence: @120 %", BRAMAH_E_VALUE, "50 to 99.9999 %"},
    {6, "  judge_by: @thruth", BRAMAH_E_VALUE, "did you mean 'truth'?"},
    {8, "    wait: {@instructions: Wait, end: {a.b: {above: 3 m}}}", BRAMAH_E_KEY,
     "did you mean 'instruction'?"},
    {8, "    @wait: {instruction: Wait}", BRAMAH_E_KEY, "'end' is missing"},
    {8, "    @wait: {end: {a.b: {above: 3 m}}}", BRAMAH_E_KEY, "'instruction' is missing"},
    {8, "    wait: {instruction: Wait, @end: {}}", BRAMAH_E_VALUE, "at least one"},
    {8, "    wait: {instruction: Wait, end: {@a.b: {}}}", BRAMAH_E_KEY, NULL},
    {8, "    wait: {instruction: Wait, end: {a.b: {abov@e: 3 m}}}", BRAMAH_OK, NULL},
    {8, "    wait: {instruction: Wait, end: {@a.b: {above: 3 m, beyond: 4 m}}}", BRAMAH_E_KEY, "goes alone"},
    {8, "    wait: {instruction: Wait, end: {a.b: {@over: 3 m}}}", BRAMAH_E_KEY, "allowed are above, below"},
    {8, "    wait: {instruction: Wait, end: {a.b: {beyond: @-3 m}}}", BRAMAH_E_VALUE, "positive"},
    {8, "    wait: {instruction: Wait, end: {a.b: {above: @3 metres}}}", BRAMAH_E_UNIT, "metres"},
    {8, "    wait: {instruction: Wait, end: {a.b: {above: 3 m}}, hold: @3}", BRAMAH_E_UNIT,
     "a time is expected"},
    {8, "    wait: {instruction: Wait, end: {a.b: {above: 3 m}}, points: @-3}", BRAMAH_E_VALUE, "negative"},
    {8, "    @wait: {instruction: Wait, end: {a.b: {above: 3 m}}, late: 1}", BRAMAH_E_KEY,
     "beyond a time_limit"},
    {10, "    never: {instruction: No, after: @wayt, end: {a.b: {above: 3 m}}}", BRAMAH_E_REFERENCE,
     "no task 'wayt' before this one; did you mean 'wait'?"},
    {10, "    never: {instruction: No, after: @calm, end: {a.b: {above: 3 m}}}", BRAMAH_E_REFERENCE,
     "no task 'calm' before this one"},
    {10, "    @wait: {instruction: Twice, end: {a.b: {above: 3 m}}}", BRAMAH_E_KEY, NULL},
    {14, "    @fast: {points: 3}", BRAMAH_E_KEY, "'when' is missing"},
    {14, "    fast: {when: {a.b: {above: 3 m}}, @message: Oh}", BRAMAH_E_KEY, NULL},
    {16, "    @low: {when: {a.b: {above: 3 m}}}", BRAMAH_E_KEY, "'message' is missing"},
    {16, "    low: {when: {a.b: {above: 3 m}}, message: Oh, probability: @0}", BRAMAH_E_VALUE,
     "between 0 and 100 %"},
    {16, "    low: {when: {a.b: {above: 3 m}}, message: Oh, ends: @maybe}", BRAMAH_E_VALUE, "yes, no"},
};

EACH_TEST(mistakes_have_places, 0, sizeof mistakes / sizeof mistakes[0])
{
  bramah_display_file *file = NULL;
  const int column = write_lines(lines, N_LINES, mistakes[_i].line, mistakes[_i].with);
  const bramah_status status = bramah_display_load(path, &diag, &file);
  if (mistakes[_i].status)
    ck_assert_msg(status == mistakes[_i].status && diag.line == mistakes[_i].line && diag.column == column &&
                      (!mistakes[_i].says || strstr(diag.message, mistakes[_i].says)),
                  "%s\nstatus %d at %d:%d, not %d: %s", mistakes[_i].with, (int)status, diag.line,
                  diag.column, column, diag.message);
  else
    ck_assert_int_eq(status, BRAMAH_OK);
  bramah_display_file_free(file);
}

static const struct {
  int line;
  const char *with;
  bramah_status status;
  int column;
  const char *says;
} misfits[] = {
    {8, "    wait: {instruction: W, end: {crank.angel: {above: 3 deg}}}", BRAMAH_E_REFERENCE, 0,
     "no output or gauge 'crank.angel'; did you mean 'crank.angle'?"},
    {8, "    wait: {instruction: W, end: {lef: {above: 3 %}}}", BRAMAH_E_REFERENCE, 0,
     "did you mean 'left'?"},
    {8, "    wait: {instruction: W, end: {crank.angle: {above: 3 bar}}}", BRAMAH_E_UNIT, 55,
     "an angle is expected"},
    {8, "    wait: {instruction: W, end: {crank.angle: {above: 3}}}", BRAMAH_E_UNIT, 55,
     "an angle is expected"},
    {8, "    wait: {instruction: W, end: {left: {above: 3 deg}}}", BRAMAH_E_UNIT, 48, NULL},
    {8, "    wait: {instruction: W, end: {crank.angle: {above: 60 deg, below: 50 deg}}}", BRAMAH_E_VALUE, 0,
     "cannot be above the one and below the other"},
    {8, "    wait: {instruction: W, end: {crank.angle: {above: 60 deg}}, gauges: [crnk]}", BRAMAH_E_REFERENCE,
     0, "no gauge 'crnk'; did you mean 'crank'?"},
    {16, "    low: {when: {crank.angl: {below: 42 deg}}, message: Too low}", BRAMAH_E_REFERENCE, 0,
     "did you mean 'crank.angle'?"},
};

EACH_TEST(misfits_have_places, 0, sizeof misfits / sizeof misfits[0])
{
  bramah_display_file *file;
  open_run(0, 1.0);
  write_lines(lines, N_LINES, misfits[_i].line, misfits[_i].with);
  load(&file);
  const bramah_status status = bramah_display_new(file, assess, &diag, &display);
  ck_assert_msg(
      status == misfits[_i].status && diag.line == misfits[_i].line &&
          (!misfits[_i].column || diag.column == misfits[_i].column) && strcmp(diag.file, path) == 0 &&
          (!misfits[_i].says || strstr(diag.message, misfits[_i].says)),
      "%s\nstatus %d at %d:%d: %s", misfits[_i].with, (int)status, diag.line, diag.column, diag.message);
  bramah_display_file_free(file);
}

/* ---- found anew from what was recorded ---- */

enum { STEPS = 3001 };
typedef struct record {
  double t[STEPS], angle[STEPS], angle_sigma[STEPS], rate[STEPS], rate_sigma[STEPS], pressure[STEPS],
      pressure_sigma[STEPS];
  size_t n;
} record;
static record recorded;

enum { MOST_SHOWN = 200 };
static bramah_shown shown[MOST_SHOWN];
static size_t n_shown;

/* Through the log with the display; what estimates, or the truth, say of three outputs. */
static void run_through(int of_truth)
{
  const bramah_plant *plant = bramah_session_plant(session);
  const size_t angle = (size_t)bramah_plant_find_output(plant, "crank.angle"),
               rate = (size_t)bramah_plant_find_output(plant, "crank.rate"),
               pressure = (size_t)bramah_plant_find_output(plant, "v2.pressure");
  n_shown = recorded.n = 0;
  for (int end = 0; !end;) {
    must(bramah_assess_next(assess, &end, &diag), &diag);
    if (end) break;
    const bramah_shown *rows;
    const size_t n = bramah_display_shown(display, &rows), k = recorded.n++;
    for (size_t i = 0; i < n && n_shown < MOST_SHOWN; i++) shown[n_shown++] = rows[i];
    const bramah_estimate *e = bramah_assess_estimate(assess);
    const double *value = of_truth ? e->truth : e->value;
    recorded.t[k] = (double)e->time_ns / 1e9;
    recorded.angle[k] = value[angle], recorded.angle_sigma[k] = of_truth ? 0.0 : e->sigma[angle];
    recorded.rate[k] = value[rate], recorded.rate_sigma[k] = of_truth ? 0.0 : e->sigma[rate];
    recorded.pressure[k] = value[pressure], recorded.pressure_sigma[k] = of_truth ? 0.0 : e->sigma[pressure];
  }
}

static const double deg = 0.017453292519943295;

static double phi(double by, double sigma)
{
  return sigma > 0.0 ? 0.5 * erfc(-by / (sigma * sqrt(2.0))) : by > 0.0 ? 1.0 : 0.0;
}
/* Probabilities of the conditions above. */
static double waits(size_t k)
{
  const double a = recorded.angle[k], s = recorded.angle_sigma[k];
  const double angle =
      1.0 - (s > 0.0 ? phi(55 * deg - a, s) + phi(a - 65 * deg, s) : a < 55 * deg || a > 65 * deg);
  const double pressure = 1.0 - phi(20e5 - recorded.pressure[k], recorded.pressure_sigma[k]);
  return fmax(0.0, angle + pressure - 1.0);
}
static double moves(size_t k) { return 1.0 - phi(recorded.rate[k] + 0.1, recorded.rate_sigma[k]); }
static double is_lowered(size_t k) { return 1.0 - phi(recorded.angle[k] - 0.8, recorded.angle_sigma[k]); }
static double hurries(size_t k) { return 1.0 - phi(recorded.rate[k] + 0.22, recorded.rate_sigma[k]); }
static double is_fast(size_t k)
{
  return phi(recorded.rate[k] - 0.2, recorded.rate_sigma[k]) +
         phi(-0.2 - recorded.rate[k], recorded.rate_sigma[k]);
}
static double is_low(size_t k) { return 1.0 - phi(recorded.angle[k] - 42 * deg, recorded.angle_sigma[k]); }

/* The first time from k on at which it has been at least p for so long without a break. */
static size_t first(double (*of)(size_t k), size_t from, double p, double hold)
{
  for (size_t k = from; k < recorded.n; k++) {
    int all = 1;
    size_t j = k;
    for (;; j--) {
      all &= of(j) >= p;
      if (!all || j == from || recorded.t[k] - recorded.t[j] > hold - 1e-12) break;
    }
    if (all && recorded.t[k] - recorded.t[j] > hold - 1e-12) return k;
  }
  return recorded.n;
}

static void check_course(bramah_judge judge, double p)
{
  const bramah_scenario_result *r = bramah_display_scenario(display, judge);
  ck_assert_ptr_nonnull(r);
  const size_t waited = first(waits, 0, p, 0.5), begun = first(moves, waited, p, 0.0),
               lowered = first(is_lowered, begun, p, 0.1), hurried = first(hurries, 0, p, 0.0),
               low = first(is_low, 0, judge == BRAMAH_JUDGE_TRUTH ? 1.0 : 0.5, 0.0),
               fast = first(is_fast, 0, p, 0.02);
  const double *t = recorded.t;
  ck_assert(waited < recorded.n && lowered < low && hurried < low && fast < low && low < recorded.n);
  ck_assert_int_eq(r->task[0].is, BRAMAH_TASK_DONE);
  ck_assert_double_eq_tol(r->task[0].ended, t[waited], 1e-9);
  ck_assert_int_eq(r->task[1].is, BRAMAH_TASK_DONE);
  ck_assert_double_eq_tol(r->task[1].begun, t[begun], 1e-9);
  ck_assert_double_eq_tol(r->task[1].ended, t[lowered], 1e-9);
  const double late = 10 * (t[lowered] - t[begun] - 0.5);
  ck_assert_double_gt(late, 0.1);
  ck_assert_double_eq_tol(r->task[1].lost, late, 1e-6);
  ck_assert_int_eq(r->task[2].is, BRAMAH_TASK_FAILED);
  ck_assert_double_eq_tol(r->task[2].begun, t[waited], 1e-9);
  ck_assert_double_eq_tol(r->task[2].ended, t[waited] + 0.301, 1e-6);
  ck_assert_int_eq(r->task[3].is, BRAMAH_TASK_FAILED);
  ck_assert_double_eq(r->task[3].begun, t[0]);
  ck_assert_double_eq_tol(r->task[3].ended, t[hurried], 1e-9);
  ck_assert_int_eq(r->is, BRAMAH_SCENARIO_BROKEN);
  ck_assert_double_eq_tol(r->ended, t[low], 1e-9);
  ck_assert_uint_eq(r->breakdown[0].times, 1);
  /* Once it is off when it is more likely not so than so. */
  double lost = 0.0;
  uint64_t times = 0;
  int on = 0;
  for (size_t k = 1; k <= low; k++) {
    if (on && is_fast(k) < 0.5) on = 0;
    if (on) lost += 2 * (t[k] - t[k - 1]);
    int held = recorded.t[k] > 0.02;
    for (size_t j = k; held; j--) {
      held = is_fast(j) >= p;
      if (t[k] - t[j] > 0.02 - 1e-12) break;
    }
    if (held && !on) on = 1, times++, lost += 3;
  }
  ck_assert_uint_eq(r->penalty[0].times, times);
  ck_assert_double_eq_tol(r->penalty[0].first, t[fast], 1e-9);
  ck_assert_double_eq_tol(r->penalty[0].lost, lost, 1e-6);
  ck_assert_double_eq_tol(r->score, 10 + 20 - late - lost, 1e-6);
  ck_assert_double_eq(r->most, 42.0);
  if (judge == BRAMAH_JUDGE_TRUTH) ck_assert_double_eq_tol(r->sigma, 0.0, 1e-12);
  if (judge == BRAMAH_JUDGE_TRUTH) ck_assert_double_eq_tol(r->expected, r->score, 1e-6);
  ck_assert_double_ge(r->task[0].sure, judge == BRAMAH_JUDGE_TRUTH ? 1.0 : p);
}

static const bramah_shown *find_shown(bramah_shown_kind kind, const char *name)
{
  for (size_t i = 0; i < n_shown; i++)
    if (shown[i].kind == kind && strcmp(shown[i].name, name) == 0) return &shown[i];
  return NULL;
}

TEST(by_estimates)
{
  open_run(0, 3.0);
  write_lines(lines, N_LINES, 0, NULL);
  show_file();
  ck_assert_int_eq(bramah_display_judge(display), BRAMAH_JUDGE_ESTIMATE);
  ck_assert_ptr_null(bramah_display_scenario(display, BRAMAH_JUDGE_TRUTH));
  run_through(0);
  check_course(BRAMAH_JUDGE_ESTIMATE, 0.9);
  const bramah_scenario_result *r = bramah_display_scenario(display, BRAMAH_JUDGE_ESTIMATE);
  /* What was shown, and when. */
  const bramah_shown *row = find_shown(BRAMAH_SHOWN_INSTRUCTION, "lower");
  ck_assert(row && strcmp(row->text, "Lower it") == 0 && row->t == r->task[1].begun);
  row = find_shown(BRAMAH_SHOWN_DONE, "lower");
  ck_assert(row && row->t == r->task[1].ended && row->probability >= 0.9 && row->probability < 1.0);
  ck_assert(strcmp(row->output, "crank.angle") == 0 && row->value < 0.8 && row->sigma > 0.0);
  row = find_shown(BRAMAH_SHOWN_FAILED, "never");
  ck_assert(row && strcmp(row->text, "its time is up") == 0);
  row = find_shown(BRAMAH_SHOWN_FAILED, "calm");
  ck_assert(row && strcmp(row->text, "what is forbidden was done") == 0);
  row = find_shown(BRAMAH_SHOWN_PENALTY, "fast");
  ck_assert(row && strcmp(row->text, "Too fast") == 0);
  row = find_shown(BRAMAH_SHOWN_BREAKDOWN, "low");
  ck_assert(row && strcmp(row->text, "Too low") == 0 && row->probability >= 0.5 && row->t == r->ended);
  row = find_shown(BRAMAH_SHOWN_END, "scenario");
  ck_assert(row && row->t == r->ended);
  row = find_shown(BRAMAH_SHOWN_CRITICAL, "crank");
  ck_assert(row && row->probability >= 0.05 && row->value < 46 * deg && row->value > 44 * deg);
  ck_assert_ptr_null(find_shown(BRAMAH_SHOWN_LOST, "p1"));
  ck_assert_ptr_null(find_shown(BRAMAH_SHOWN_DIFFERS, "lower"));
  /* After its end nothing more comes of it. */
  for (size_t i = 0; i < n_shown; i++)
    ck_assert(shown[i].t <= r->ended || shown[i].kind >= BRAMAH_SHOWN_CRITICAL);
}

TEST(by_the_truth)
{
  open_run(1, 3.0);
  write_lines(lines, N_LINES, 6, "  judge_by: truth");
  show_file();
  ck_assert_int_eq(bramah_display_judge(display), BRAMAH_JUDGE_TRUTH);
  run_through(1);
  check_course(BRAMAH_JUDGE_TRUTH, 1.0);
  const bramah_scenario_result *r = bramah_display_scenario(display, BRAMAH_JUDGE_TRUTH);
  const bramah_shown *row = find_shown(BRAMAH_SHOWN_DONE, "lower");
  ck_assert(row && row->judge == BRAMAH_JUDGE_TRUTH && row->t == r->task[1].ended && row->probability == 1.0);
  /* The estimate wants to be sure, and is later. */
  const bramah_scenario_result *e = bramah_display_scenario(display, BRAMAH_JUDGE_ESTIMATE);
  ck_assert_double_gt(e->task[1].ended, r->task[1].ended);
  ck_assert_double_lt(e->task[1].ended, r->task[1].ended + 0.5);
}

/* What is true by a little, no estimate can be sure of; the log says that they differ. */
TEST(judges_differ)
{
  open_run(1, 1.0);
  write_lines(
      lines, 8, 8,
      "    stand: {instruction: Stand, end: {crank.angle: {above: 59.99 deg, below: 60.01 deg}}, hold: 0.1 "
      "s, time_limit: 0.5 s, points: 10}");
  show_file();
  run_through(0);
  const bramah_scenario_result *e = bramah_display_scenario(display, BRAMAH_JUDGE_ESTIMATE),
                               *r = bramah_display_scenario(display, BRAMAH_JUDGE_TRUTH);
  ck_assert_int_eq(e->task[0].is, BRAMAH_TASK_FAILED);
  ck_assert_int_eq(r->task[0].is, BRAMAH_TASK_DONE);
  ck_assert_double_eq(e->score, 0.0);
  ck_assert_double_eq(r->score, 10.0);
  const bramah_shown *row = find_shown(BRAMAH_SHOWN_DIFFERS, "stand");
  ck_assert(row && strcmp(row->text, "failed by the estimate, done by the truth") == 0);
  ck_assert(find_shown(BRAMAH_SHOWN_FAILED, "stand") && !find_shown(BRAMAH_SHOWN_DONE, "stand"));
}

/* For both judges; what was before is forgotten. */
TEST(begins_anew)
{
  open_run(1, 1.0);
  write_lines(
      lines, 8, 8,
      "    stand: {instruction: Stand, end: {crank.angle: {above: 59.99 deg, below: 60.01 deg}}, hold: 0.1 "
      "s, time_limit: 0.2 s, points: 10}");
  show_file();
  int end = 0;
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < 400; i++) must(bramah_assess_next(assess, &end, &diag), &diag);
    const bramah_scenario_result *e = bramah_display_scenario(display, BRAMAH_JUDGE_ESTIMATE);
    ck_assert_int_eq(e->task[0].is, BRAMAH_TASK_FAILED);
    ck_assert_double_eq_tol(e->begun, 0.4 * k, 2e-3);
    ck_assert_double_eq_tol(e->task[0].ended, e->begun + 0.2, 2e-3);
    ck_assert_int_eq(bramah_display_scenario(display, BRAMAH_JUDGE_TRUTH)->task[0].is, BRAMAH_TASK_DONE);
    bramah_display_begin_anew(display);
    for (int judge = 0; judge < 2; judge++) {
      const bramah_scenario_result *r = bramah_display_scenario(display, (bramah_judge)judge);
      ck_assert(r->is == BRAMAH_SCENARIO_RUNS && isnan(r->begun) && r->score == 0.0);
      ck_assert(r->task[0].is == BRAMAH_TASK_WAITING && isnan(r->task[0].ended) && r->task[0].sure == 0.0);
    }
  }
}

/* Without the truth of what is asked for the estimate decides, whatever the file wants. */
TEST(truth_that_is_not_known)
{
  open_run(0, 0.2);
  write_lines(lines, N_LINES, 6, "  judge_by: truth");
  show_file();
  ck_assert_int_eq(bramah_display_judge(display), BRAMAH_JUDGE_ESTIMATE);
}

/* A machine that is simulated along with its filter: the truth of each estimate's own time, though rows are read ahead. */
TEST(by_a_simulated_truth)
{
  bramah_machine_plant machine;
  bramah_simulation *simulation;
  bramah_simulation_options options;
  must(bramah_session_open(in_folder("sensors-2.yaml"), &diag, &session), &diag);
  must(bramah_machine_plant_open(&machine, bramah_session_study(session)->machine_file, 0, NULL,
                                 bramah_session_plant(session)->step_ns, &diag),
       &diag);
  bramah_simulation_options_default(&options);
  options.study = in_folder("sensors-2.yaml");
  must(bramah_simulation_new(&machine, &options, &diag, &simulation), &diag);
  bramah_assess_options limit;
  bramah_assess_options_default(&limit);
  limit.to_ns = INT64_C(3000000000);
  must(bramah_assess_new(session, bramah_simulation_sample, simulation, &limit, &diag, &assess), &diag);
  write_lines(lines, N_LINES, 6, "  judge_by: truth");
  show_file();
  must(bramah_display_simulated(display, simulation, &machine.plant, &diag), &diag);
  ck_assert_int_eq(bramah_display_judge(display), BRAMAH_JUDGE_TRUTH);
  run_through(0);
  /* The log of the others was made of the same motion. */
  const bramah_scenario_result simulated = *bramah_display_scenario(display, BRAMAH_JUDGE_TRUTH);
  const double done = simulated.task[1].ended, broken = simulated.ended, score = simulated.score;
  close_run();
  bramah_simulation_close(simulation, &diag);
  bramah_machine_plant_close(&machine);
  open_run(1, 3.0);
  show_file();
  run_through(0);
  const bramah_scenario_result *r = bramah_display_scenario(display, BRAMAH_JUDGE_TRUTH);
  ck_assert_double_eq_tol(done, r->task[1].ended, 1e-9);
  ck_assert_double_eq_tol(broken, r->ended, 1e-9);
  ck_assert_double_eq_tol(score, r->score, 1e-9);
}

/* Points that the truth would give, by the probabilities: of one task the largest one that has lasted for its hold. */
TEST(score_has_a_band)
{
  open_run(0, 0.6);
  write_lines(
      lines, 8, 8,
      "    stand: {instruction: Stand, end: {crank.angle: {above: 59.9 deg, below: 60.1 deg}}, points: 10}");
  show_file();
  run_through(0);
  double best = 0.0;
  for (size_t k = 0; k < recorded.n; k++) {
    const double a = recorded.angle[k], s = recorded.angle_sigma[k];
    best = fmax(best, 1.0 - phi(59.9 * deg - a, s) - phi(a - 60.1 * deg, s));
  }
  const bramah_scenario_result *r = bramah_display_scenario(display, BRAMAH_JUDGE_ESTIMATE);
  ck_assert(best > 0.05 && best < 0.9);
  ck_assert_int_eq(r->task[0].is, BRAMAH_TASK_ACTIVE);
  ck_assert_double_eq(r->score, 0.0);
  ck_assert_double_eq_tol(r->task[0].sure, best, 1e-12);
  ck_assert_double_eq_tol(r->expected, 10 * best, 1e-10);
  ck_assert_double_eq_tol(r->sigma, 10 * sqrt(best * (1 - best)), 1e-10);
}

/* Rules that the machine has no output for, more than so often, a message that ends nothing, the time for the whole. */
TEST(rules)
{
  static const char *const own[] = {
      "display: d",
      "gauges: {crank: {kind: number, output: crank.angle, unit: deg}}",
      "scenario:",
      "  time_limit: 1.5 s",
      "  tasks: {never: {instruction: Go, end: {crank.angle: {above: 90 deg}}}}",
      "  penalties: {none: {when: {no.such: {above: 3 m}}, optional: yes, points: 1}}",
      "  breakdowns:",
      "    note: {when: {crank.angle: {below: 59 deg}}, message: Below, ends: no}",
      "    other: {when: {nor.this: {above: 3 m}}, message: No, optional: yes}"};
  open_run(0, 2.0);
  write_lines(own, 9, 0, NULL);
  show_file();
  run_through(0);
  const bramah_scenario_result *r = bramah_display_scenario(display, BRAMAH_JUDGE_ESTIMATE);
  ck_assert_uint_eq(r->n_penalties, 0);
  ck_assert_uint_eq(r->n_breakdowns, 1);
  ck_assert_int_eq(r->is, BRAMAH_SCENARIO_LATE);
  ck_assert_double_eq_tol(r->ended, 1.501, 1e-9);
  ck_assert_int_eq(r->task[0].is, BRAMAH_TASK_FAILED);
  ck_assert(find_shown(BRAMAH_SHOWN_BREAKDOWN, "note"));
  close_run();

  /* From the start on it is within, once more than it may be. */
  open_run(0, 2.0);
  write_lines(
      own, 9, 6,
      "  penalties: {down: {when: {crank.rate: {below: -0.15 rad/s}}, most: 1, text: Down, points: 1}, up: "
      "{when: {crank.angle: {above: 50 deg}}, text: Up, points: 2}}");
  show_file();
  run_through(0);
  r = bramah_display_scenario(display, BRAMAH_JUDGE_ESTIMATE);
  ck_assert_uint_eq(r->n_penalties, 2);
  ck_assert_uint_eq(r->penalty[1].times, 1);
  ck_assert_double_eq(r->score, -(double)r->penalty[0].times - 2.0);
}

/* Frames have it as text, of no more than the bytes that are promised; a display without one has none. */
TEST(frames)
{
  static char text[1 << 17];
  bramah_display_frame *frame;
  open_run(0, 1.4);
  write_lines(lines, N_LINES, 0, NULL);
  show_file();
  must(bramah_display_frame_new(display, &diag, &frame), &diag);
  const char *about = bramah_display_description(display);
  ck_assert_ptr_nonnull(strstr(about, "\"scenario\":{\"title\":\"four-bar\",\"confidence\":"));
  ck_assert_ptr_nonnull(strstr(about, "\"name\":\"wait\",\"instruction\":\"Wait\",\"points\":10,\"hold\":0.5,"
                                      "\"gauges\":[0]}"));
  ck_assert_ptr_nonnull(strstr(about, "\"breakdowns\":[{\"name\":\"low\",\"text\":\"Too low\"}]"));
  run_through(0);
  must(bramah_display_take(display, frame, &diag), &diag);
  ck_assert_uint_lt(bramah_display_frame_text(display, frame, text, sizeof text),
                    bramah_display_frame_size(display));
  const char *at = strstr(text, "\"scenario\":{\"judge\":\"estimate\",\"is\":\"runs\",\"left\":null");
  ck_assert_ptr_nonnull(at);
  ck_assert_ptr_nonnull(strstr(at, "\"tasks\":[{\"is\":\"done\",\"ended\":0.5"));
  ck_assert_ptr_nonnull(strstr(at, "\"is\":\"active\",\"now\":"));
  bramah_display_frame_free(frame);
  close_run();
  open_run(0, 0.1);
  write_lines(lines, 4, 0, NULL);
  show_file();
  must(bramah_display_frame_new(display, &diag, &frame), &diag);
  run_through(0);
  must(bramah_display_take(display, frame, &diag), &diag);
  bramah_display_frame_text(display, frame, text, sizeof text);
  ck_assert_ptr_null(strstr(text, "scenario"));
  ck_assert_ptr_null(bramah_display_scenario(display, BRAMAH_JUDGE_ESTIMATE));
  bramah_display_frame_free(frame);
}

/* ---- back in a log, and from a snapshot ---- */

static void text_of(char *out, size_t size)
{
  const bramah_scenario_result *r = bramah_display_scenario(display, BRAMAH_JUDGE_ESTIMATE);
  size_t used = (size_t)snprintf(out, size, "%d %a %a %a;", (int)r->is, r->score, r->expected, r->sigma);
  for (size_t i = 0; i < r->n_tasks; i++)
    used +=
        (size_t)snprintf(out + used, size - used, " %d %a %a %a %a %a", (int)r->task[i].is, r->task[i].begun,
                         r->task[i].ended, r->task[i].now, r->task[i].sure, r->task[i].lost);
  snprintf(out + used, size - used, "; %d %d %a", r->penalty[0].is_on, (int)r->penalty[0].times,
           r->penalty[0].lost);
}

TEST(goes_back)
{
  static const double places[] = {2.0, 1.2, 0.0, 2.6, 0.7};
  enum { N = sizeof places / sizeof places[0] };
  static char straight[N][1000], text[1000], last[2][1000];
  const char *log = in_folder("log.csv");
  for (int pass = 0; pass < 2; pass++) {
    bramah_player *player;
    int end = 0;
    bramah_assess_options options;
    bramah_assess_options_default(&options);
    options.to_ns = INT64_C(3000000000);
    must(bramah_session_open(in_folder("sensors-2.yaml"), &diag, &session), &diag);
    must(bramah_player_open(session, 1, &log, &options, &diag, &player), &diag);
    assess = bramah_player_assess(player);
    write_lines(lines, N_LINES, 0, NULL);
    show_file();
    while (!end) {
      must(bramah_player_next(player, &end, &diag), &diag);
      const double t = (double)bramah_assess_get_totals(assess).last_ns / 1e9;
      for (size_t i = 0; i < N && !pass; i++)
        if (!end && fabs(t - places[i]) < 1e-6) text_of(straight[i], sizeof straight[i]);
      if (!pass || !end) continue;
      for (size_t i = 0; i < N; i++) {
        must(bramah_player_seek(player, (int64_t)(1e9 * places[i]), &end, &diag), &diag);
        text_of(text, sizeof text);
        ck_assert_msg(strcmp(text, straight[i]) == 0, "at %g s\n%s\n%s", places[i], text, straight[i]);
      }
      for (end = 0; !end;) must(bramah_player_next(player, &end, &diag), &diag);
    }
    text_of(last[pass], sizeof last[pass]);
    bramah_display_free(display);
    display = NULL;
    assess = NULL;
    bramah_player_close(player);
    bramah_session_close(session);
    session = NULL;
  }
  ck_assert_str_eq(last[0], last[1]);
}

TEST(goes_on_from_a_snapshot)
{
  static char whole[1000], parts[1000];
  char snapshot[SCRATCH_NAME], text[64];
  ck_assert(scratch_file(snapshot));
  write_lines(lines, N_LINES, 0, NULL);
  open_run(0, 3.0);
  show_file();
  run_through(0);
  text_of(whole, sizeof whole);
  close_run();
  open_run(0, 1.7);
  show_file();
  run_through(0);
  must(bramah_assess_save(assess, snapshot, "", &diag), &diag);
  close_run();
  open_run(0, 3.0);
  show_file();
  must(bramah_assess_resume(assess, snapshot, text, sizeof text, &diag), &diag);
  run_through(0);
  text_of(parts, sizeof parts);
  ck_assert_str_eq(parts, whole);
  remove(snapshot);
}

int main(void) { return run_tests_with("scenario", make_path, close_run); }
