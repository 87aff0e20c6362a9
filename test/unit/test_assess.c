/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A log through a filter from C: the numbers are those of `bramah replay --json`, digit for digit; snapshots,
 * sources of any kind, the backward pass, faults, verdicts. */
#define _GNU_SOURCE /* scratch folders */
#include "bramah/assess.h"
#include "bramah/log.h"
#include "test/support/run.h"
#include "test/support/scratch.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>

static bramah_diag diag;
static char folder[SCRATCH_NAME];

static const char *root(void)
{
  const char *name = getenv("BRAMAH_SOURCE_ROOT");
  return name ? name : ".";
}

static const char *in_folder(const char *name)
{
  static char text[4][SCRATCH_NAME + 64];
  static int next;
  next = (next + 1) % 4;
  snprintf(text[next], sizeof text[next], "%s/%s", folder, name);
  return text[next];
}

static void make_folder(void) { ck_assert(scratch_folder(folder)); }

static void remove_folder(void)
{
  char command[SCRATCH_NAME + 16];
  snprintf(command, sizeof command, "rm -r '%s'", folder);
  ck_assert_int_eq(system(command), 0);
}

/* A study of the shipped four-bar with the filter of the papers, with one text in place of another (NULL: as it is). */
static const char *study(const char *name, const char *what, const char *with)
{
  static char text[8192], out[8192];
  snprintf(text, sizeof text, "%s/datasets/four-bar/%s", root(), name);
  FILE *file = fopen(text, "r");
  ck_assert_ptr_nonnull(file);
  const size_t length = fread(text, 1, sizeof text - 128, file);
  fclose(file);
  snprintf(text + length, sizeof text - length, "filter:\n  preset: papers\n  transition: %s\n",
           strcmp(name, "raw.yaml") == 0 ? "step" : "paper");
  char *machine = strstr(text, "machine: ");
  ck_assert_ptr_nonnull(machine);
  const size_t n = (size_t)snprintf(out, sizeof out, "%.*smachine: %s/datasets/four-bar/%s",
                                    (int)(machine - text), text, root(), machine + strlen("machine: "));
  char *at = what ? strstr(out, what) : NULL;
  ck_assert(!what || at);
  file = fopen(in_folder("study.yaml"), "w");
  ck_assert_ptr_nonnull(file);
  if (at)
    fprintf(file, "%.*s%s%s", (int)(at - out), out, with, at + strlen(what));
  else
    ck_assert_uint_eq(fwrite(out, 1, n, file), n);
  fclose(file);
  return in_folder("study.yaml");
}

/* ---- a run ---- */

typedef struct run {
  bramah_session *session;
  bramah_log_stream *log;
  bramah_assess *assess;
} run;

static void must(bramah_status status)
{
  ck_assert_msg(status == BRAMAH_OK, "%s:%d: %s: %s", diag.file, diag.line, diag.thing, diag.message);
}

static run open_log(const char *study_path)
{
  static char log[1024];
  const char *const logs[] = {log};
  run r = {0};
  snprintf(log, sizeof log, "%s/datasets/four-bar/log.csv", root());
  must(bramah_session_open(study_path, &diag, &r.session));
  must(bramah_log_stream_open(r.session, 1, logs, &diag, &r.log));
  return r;
}

static bramah_assess_options options_to(double seconds)
{
  bramah_assess_options options;
  bramah_assess_options_default(&options);
  options.to_ns = (int64_t)(seconds * 1e9);
  return options;
}

static run open_run(const char *study_path, const bramah_assess_options *options)
{
  run r = open_log(study_path);
  must(bramah_assess_new(r.session, bramah_log_stream_next, r.log, options, &diag, &r.assess));
  return r;
}

static void close_run(run *r)
{
  bramah_assess_free(r->assess);
  bramah_log_stream_close(r->log);
  bramah_session_close(r->session);
}

static const char *truth(void)
{
  static char text[1024];
  snprintf(text, sizeof text, "%s/datasets/four-bar/truth.csv", root());
  return text;
}

/* ---- the numbers of the program ---- */

static char json[1 << 17];
static const char *cursor;

static void run_program(const char *study_path, const char *more)
{
  char command[8192];
  const char *program = getenv("BRAMAH_PROGRAM");
  ck_assert_ptr_nonnull(program);
  snprintf(command, sizeof command,
           "'%s' replay '%s' '%s/datasets/four-bar/log.csv' --output '%s' --json '%s' %s >/dev/null", program,
           study_path, root(), in_folder("estimate.csv"), in_folder("run.json"), more);
  const int code = system(command);
  ck_assert_msg(WEXITSTATUS(code) == 0 || WEXITSTATUS(code) == 3, "%s: %d", command, code);
  FILE *file = fopen(in_folder("run.json"), "r");
  ck_assert_ptr_nonnull(file);
  const size_t n = fread(json, 1, sizeof json - 1, file);
  json[n] = '\0';
  fclose(file);
  cursor = json;
}

/* The next value of this name in the file is this one, to the last digit. */
#ifdef __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
static void
says(const char *name, const char *format, ...)
{
  char key[64], value[64];
  va_list list;
  va_start(list, format);
  vsnprintf(value, sizeof value, format, list);
  va_end(list);
  snprintf(key, sizeof key, "\"%s\": ", name);
  const char *at = strstr(cursor, key);
  ck_assert_msg(at != NULL, "%s is not there", name);
  cursor = at + strlen(key);
  const size_t n = strcspn(cursor, ",\n");
  ck_assert_msg(n == strlen(value) && strncmp(cursor, value, n) == 0, "%s: %s, the program: %.*s", name,
                value, (int)n, cursor);
}

static void says_number(const char *name, double value)
{
  if (isfinite(value))
    says(name, "%.15g", value);
  else
    says(name, "null");
}

static void says_consistency(const bramah_consistency *c)
{
  says("samples", "%llu", (unsigned long long)c->samples);
  says("fused", "%llu", (unsigned long long)c->fused);
  says("gated", "%llu", (unsigned long long)c->gated);
  says_number("nis_mean", c->nis);
  says_number("nis_expected", c->expected);
  says_number("nis_band_low", c->low);
  says_number("nis_band_high", c->high);
}

static void says_all(run *r)
{
  const bramah_assess_results *results = bramah_assess_get_results(r->assess);
  const bramah_assess_totals totals = results->totals;
  says("estimates", "%llu", (unsigned long long)totals.estimates);
  says_number("first", (double)totals.first_ns / 1e9);
  says_number("last", (double)totals.last_ns / 1e9);
  ck_assert_uint_eq(results->n_sensors, bramah_session_study(r->session)->n_sensors);
  for (size_t i = 0; i < results->n_sensors; i++) {
    says_consistency(&results->sensor[i]);
    says_number("lag_1", results->sensor[i].lag_1);
  }
  says_consistency(&results->all);
  ck_assert_uint_eq(results->n_augmented,
                    bramah_filter_get_info(bramah_session_filter(r->session)).n_augmented);
  for (size_t i = 0; i < results->n_augmented; i++) {
    says_number("value", results->augmented[i].value);
    says_number("sigma", results->augmented[i].sigma);
  }
  for (size_t i = 0; i < results->n_input_costs; i++) {
    const bramah_input_cost cost = results->input_cost[i];
    says("output", "\"%s\"", cost.name);
    says_number("sigma", cost.sigma);
    says_number("sigma_known", cost.sigma_known);
  }
  for (size_t i = 0; i < results->n_accuracies; i++) {
    const bramah_accuracy *c = &results->accuracy[i];
    says("output", "\"%s\"", c->name);
    says_number("rmse", c->estimate.value);
    says_number("percent_of_max", c->estimate.percent);
    says_number("inside", c->estimate.inside);
    says_number("rmse_model_alone", c->model.value);
    says_number("rmse_sensor", c->measured.value);
  }
  if (results->n_accuracies) says_number("nees_mean", totals.nees);
  const bramah_verdict *verdict = &results->verdict;
  for (size_t i = 0; i < verdict->n; i++) {
    says("check", "\"%s\"", verdict->finding[i].what);
    says_number("value", verdict->finding[i].value);
    says_number("least", verdict->finding[i].least);
    says_number("most", verdict->finding[i].most);
    says("passed", verdict->finding[i].passed ? "true" : "false");
  }
  says("tests", "%llu", (unsigned long long)verdict->tests);
  says("verdict", verdict->contradicted ? "\"contradicted\"" : "\"no contradiction found\"");
}

TEST(numbers_of_the_program)
{
  char more[1100];
  const char *path = study("sensors-2.yaml", NULL, NULL);
  bramah_assess_options options = options_to(0.4);
  options.truth = truth();
  options.model_alone = 1;
  snprintf(more, sizeof more, "--to 0.4 --truth '%s'", truth());
  run_program(path, more);
  run r = open_run(path, &options);
  must(bramah_assess_run(r.assess, &diag));
  says_all(&r);
  const bramah_accuracy angle = bramah_assess_get_results(r.assess)->accuracy[0];
  ck_assert_uint_gt(bramah_assess_get_results(r.assess)->n_accuracies, 5);
  ck_assert(!isnan(bramah_assess_estimate(r.assess)->model[angle.output]));
  ck_assert_uint_eq(angle.model.n, angle.estimate.n);
  ck_assert_uint_eq(bramah_assess_get_totals(r.assess).nees_times, 401);
  close_run(&r);
}

TEST(numbers_of_a_filter_with_unknown_inputs)
{
  const char *path = study("raw.yaml", NULL, NULL);
  const bramah_assess_options options = options_to(0.2);
  run_program(path, "--to 0.2");
  run r = open_run(path, &options);
  must(bramah_assess_run(r.assess, &diag));
  says_all(&r);
  const bramah_assess_results *results = bramah_assess_get_results(r.assess);
  const size_t n = results->n_input_costs;
  size_t commands = 0;
  ck_assert_uint_gt(n, 5);
  for (size_t i = 0; i < n; i++) {
    const bramah_input_cost cost = results->input_cost[i];
    commands += (size_t)(isnan(cost.sigma_known) != 0);
    ck_assert(isnan(cost.sigma_known) || cost.sigma > 0.999 * cost.sigma_known);
  }
  ck_assert_uint_eq(commands, 1);
  ck_assert(results->augmented[0].is_shown);
  close_run(&r);
}

/* Estimates one by one, against the file of the program. */
TEST(estimates_of_the_program)
{
  const char *path = study("sensors-2.yaml", NULL, NULL);
  const bramah_assess_options options = options_to(0.05);
  bramah_log_reader *reader;
  size_t time = 0, column[64], sigma[64];
  double cells[128];
  unsigned char present[128];
  int end = 0, at_end = 0, rows = 0;
  run_program(path, "--to 0.05");
  run r = open_run(path, &options);
  must(bramah_log_open(in_folder("estimate.csv"), NULL, &diag, &reader));
  must(bramah_log_find(reader, "t", "s", &time, &diag));
  const bramah_assess_output *outputs = bramah_assess_get_results(r.assess)->output;
  const size_t n = bramah_assess_get_results(r.assess)->n_outputs;
  ck_assert(n <= 64 && bramah_log_get_info(reader).n_columns <= 128);
  for (size_t i = 0; i < n; i++) {
    const bramah_assess_output of = outputs[i];
    char name[200];
    must(bramah_log_find(reader, of.name, of.unit, &column[i], &diag));
    snprintf(name, sizeof name, "%s.sigma", of.name);
    if (of.has_sigma) must(bramah_log_find(reader, name, of.unit, &sigma[i], &diag));
  }
  for (;; rows++) {
    must(bramah_assess_next(r.assess, &end, &diag));
    must(bramah_log_next(reader, cells, present, &at_end, &diag));
    ck_assert_int_eq(end, at_end);
    if (end) break;
    const bramah_estimate *estimate = bramah_assess_estimate(r.assess);
    ck_assert_double_eq_tol((double)estimate->time_ns * 1e-9, cells[time], 1e-12);
    for (size_t i = 0; i < n; i++) {
      const bramah_assess_output of = outputs[i];
      const double value = estimate->value[of.output], s = estimate->sigma[of.output];
      ck_assert_double_eq_tol(value, cells[column[i]], 1e-9 * fabs(value) + 1e-300);
      ck_assert(of.has_sigma == !isnan(s));
      if (of.has_sigma) ck_assert_double_eq_tol(s, cells[sigma[i]], 1e-5 * s + 1e-300);
      if (of.sensor >= 0) ck_assert(!isnan(estimate->measured[of.sensor]));
      ck_assert(isnan(estimate->truth[of.output]));
      ck_assert(isnan(estimate->model[of.output]));
    }
  }
  ck_assert_int_eq(rows, 51);
  bramah_log_close(reader);
  close_run(&r);
}

/* Mean NIS and correlation at lag 1 of the gyro from its innovations one by one. */
typedef struct sums {
  double nis, products, squares, last;
  size_t n;
} sums;

static void add_sample(void *user, const bramah_rewind_use *use)
{
  sums *of = user;
  if (use->sensor != 1) return;
  const double x = use->innovation.innovation / use->innovation.sigma;
  of->nis += x * x;
  of->products += x * of->last;
  of->squares += x * x;
  of->last = x;
  of->n++;
}

/* Tables filled 30 times at once hold what is asked for one by one. */
TEST(tables_of_estimates)
{
  enum { ROOM = 30, OUTPUTS = 64, SENSORS = 8 };
  const bramah_assess_options options = options_to(0.1);
  const char *path = study("sensors-2.yaml", NULL, NULL);
  static double value[OUTPUTS * ROOM], sigma[OUTPUTS * ROOM], innovation[SENSORS * ROOM], nis[ROOM];
  static int64_t time_ns[ROOM];
  bramah_estimate_table table = {
      .room = ROOM, .time_ns = time_ns, .nis = nis, .value = value, .sigma = sigma, .innovation = innovation};
  int end = 0;
  run single = open_run(path, &options), many = open_run(path, &options);
  const bramah_assess_results *results = bramah_assess_get_results(single.assess);
  ck_assert(results->n_outputs <= OUTPUTS && results->n_sensors <= SENSORS);
  size_t rows = 0;
  while (!end) {
    table.n = 0;
    must(bramah_assess_fill(many.assess, &table, &end, &diag));
    ck_assert_uint_eq(table.n, end ? 101 % ROOM : ROOM);
    for (size_t i = 0; i < table.n; i++, rows++) {
      int over;
      must(bramah_assess_next(single.assess, &over, &diag));
      const bramah_estimate *e = bramah_assess_estimate(single.assess);
      ck_assert_int_eq(time_ns[i], e->time_ns);
      ck_assert(memcmp(&nis[i], &e->nis, sizeof nis[i]) == 0);
      for (size_t j = 0; j < results->n_outputs; j++) {
        const size_t output = results->output[j].output;
        ck_assert(memcmp(&value[j * ROOM + i], &e->value[output], sizeof *value) == 0);
        ck_assert(memcmp(&sigma[j * ROOM + i], &e->sigma[output], sizeof *sigma) == 0);
      }
      for (size_t j = 0; j < results->n_sensors; j++)
        ck_assert(e->innovation[j].present ? innovation[j * ROOM + i] == e->innovation[j].innovation
                                           : isnan(innovation[j * ROOM + i]));
    }
  }
  ck_assert_uint_eq(rows, 101);
  table.n = ROOM;
  ck_assert_int_eq(
      bramah_estimate_table_add(&table, single.assess, bramah_assess_estimate(single.assess), &diag),
      BRAMAH_E_ARGUMENT);
  close_run(&single);
  close_run(&many);
}

TEST(innovations_by_hand)
{
  sums of = {0};
  bramah_assess_options options = options_to(0.2);
  options.listener = (bramah_listener){&of, add_sample};
  options.whiteness = 1;
  run a = open_run(study("sensors-2.yaml", NULL, NULL), &options);
  must(bramah_assess_run(a.assess, &diag));
  const bramah_consistency *c = &bramah_assess_get_results(a.assess)->sensor[1];
  ck_assert_str_eq(c->name, "crank_gyro");
  ck_assert_uint_eq(c->fused, of.n);
  ck_assert_uint_eq(of.n, 201);
  ck_assert_double_eq_tol(c->nis, of.nis / 201.0, 1e-12);
  ck_assert_double_eq_tol(c->lag_1, of.products / of.squares, 1e-12);
  ck_assert_uint_eq(c->whiteness.n, 201);
  ck_assert_uint_eq(c->whiteness.lags, 50);
  ck_assert_double_eq_tol(c->whiteness.r[0], c->lag_1, 0.02); /* about its mean */
  close_run(&a);
}

/* ---- sources, snapshots ---- */

/* A source that is not ours. */
static bramah_status other_source(void *user, bramah_sample *sample, int *end, bramah_diag *d)
{
  return bramah_log_stream_next(user, sample, end, d);
}

static void same_results(const run *a, const run *b)
{
  const size_t n_output = bramah_session_plant(a->session)->n_output;
  const bramah_estimate *one = bramah_assess_estimate(a->assess), *other = bramah_assess_estimate(b->assess);
  ck_assert_int_eq(one->time_ns, other->time_ns);
  const bramah_assess_output *outputs = bramah_assess_get_results(a->assess)->output;
  const size_t n = bramah_assess_get_results(a->assess)->n_outputs;
  for (size_t i = 0; i < n; i++) {
    const size_t k = outputs[i].output;
    ck_assert(k < n_output);
    ck_assert_mem_eq(&one->value[k], &other->value[k], sizeof(double));
    ck_assert(isnan(one->sigma[k]) || one->sigma[k] == other->sigma[k]);
  }
  const bramah_assess_results *ra = bramah_assess_get_results(a->assess),
                              *rb = bramah_assess_get_results(b->assess);
  ck_assert_uint_eq(ra->n_sensors, rb->n_sensors);
  for (size_t i = 0; i < ra->n_sensors; i++) {
    const bramah_consistency *c = &ra->sensor[i], *d = &rb->sensor[i];
    ck_assert(c->samples == d->samples && c->fused == d->fused && c->nis == d->nis && c->lag_1 == d->lag_1);
  }
  ck_assert_uint_eq(ra->n_accuracies, rb->n_accuracies);
  for (size_t i = 0; i < ra->n_accuracies; i++) {
    const bramah_accuracy *c = &ra->accuracy[i], *d = &rb->accuracy[i];
    ck_assert(c->estimate.value == d->estimate.value);
    ck_assert(c->model.value == d->model.value);
    ck_assert_uint_eq(c->within, d->within);
  }
  const bramah_assess_totals p = bramah_assess_get_totals(a->assess), q = bramah_assess_get_totals(b->assess);
  ck_assert_uint_eq(p.estimates, q.estimates);
  ck_assert_int_eq(p.first_ns, q.first_ns);
  ck_assert(p.nees == q.nees || (isnan(p.nees) && isnan(q.nees)));
}

TEST(goes_on_from_a_snapshot)
{
  const char *path = study("sensors-2.yaml", NULL, NULL), *snapshot = in_folder("run.snapshot");
  bramah_assess_options half = options_to(0.1), whole = options_to(0.2);
  char text[16], file[SCRATCH_NAME];
  snprintf(file, sizeof file, "%s", snapshot);
  half.truth = whole.truth = truth();
  half.model_alone = whole.model_alone = 1;
  run a = open_run(path, &whole), b = open_run(path, &half), c = open_run(path, &whole);
  must(bramah_assess_run(a.assess, &diag));
  must(bramah_assess_run(b.assess, &diag));
  must(bramah_assess_save(b.assess, file, "so far", &diag));
  must(bramah_assess_resume(c.assess, file, text, sizeof text, &diag));
  ck_assert_str_eq(text, "so far");
  must(bramah_assess_run(c.assess, &diag));
  same_results(&a, &c);
  ck_assert_uint_eq(bramah_assess_get_totals(c.assess).resumed, 101);
  ck_assert_int_eq(bramah_assess_get_totals(c.assess).begin_ns, 101000000);
  close_run(&a);
  close_run(&b);
  close_run(&c);
  /* Of another study it is refused. */
  run d = open_run(study("sensors-2.yaml", "rate_sigma: 0.1", "rate_sigma: 0.2"), &whole);
  ck_assert_int_eq(bramah_assess_resume(d.assess, file, text, sizeof text, &diag), BRAMAH_E_VALUE);
  ck_assert_ptr_nonnull(strstr(diag.message, "was written with study"));
  ck_assert_str_eq(diag.file, file);
  close_run(&d);
}

TEST(takes_any_source)
{
  const char *path = study("sensors-2.yaml", NULL, NULL);
  const bramah_assess_options options = options_to(0.1);
  run a = open_run(path, &options), b = open_log(path);
  must(bramah_assess_new(b.session, other_source, b.log, &options, &diag, &b.assess));
  must(bramah_assess_run(a.assess, &diag));
  must(bramah_assess_run(b.assess, &diag));
  same_results(&a, &b);
  must(bramah_assess_save(b.assess, in_folder("other.snapshot"), "", &diag));
  close_run(&a);
  close_run(&b);
}

/* ---- the backward pass ---- */

TEST(smooths)
{
  const char *path = study("sensors-2.yaml", NULL, NULL);
  bramah_assess_options options = options_to(0.3);
  int end = 0;
  options.truth = truth();
  options.smooth_to_ns = 300000000;
  run r = open_run(path, &options);
  ck_assert_int_eq(bramah_assess_smooth(r.assess, &diag), BRAMAH_E_ARGUMENT);
  must(bramah_assess_run(r.assess, &diag));
  const bramah_assess_output first = *bramah_assess_get_results(r.assess)->output;
  const double last = bramah_assess_estimate(r.assess)->value[first.output];
  must(bramah_assess_smooth(r.assess, &diag));
  for (int64_t k = 0;; k++) {
    must(bramah_assess_next(r.assess, &end, &diag));
    if (end) break;
    ck_assert_int_eq(bramah_assess_estimate(r.assess)->time_ns, k * 1000000);
  }
  ck_assert_uint_eq(bramah_assess_get_totals(r.assess).smooth_steps, 301);
  ck_assert_double_eq_tol(bramah_assess_estimate(r.assess)->value[first.output], last, 1e-9 * fabs(last));
  const bramah_accuracy *angle = &bramah_assess_get_results(r.assess)->accuracy[0];
  ck_assert_uint_eq(angle->smoothed.n, angle->estimate.n);
  ck_assert_double_lt(angle->smoothed.value, 0.7 * angle->estimate.value);
  close_run(&r);
  options.smooth_memory = 100000;
  run s = open_run(path, &options);
  ck_assert_int_eq(bramah_assess_run(s.assess, &diag), BRAMAH_E_MEMORY);
  ck_assert_ptr_nonnull(strstr(diag.message, "303 steps would take"));
  ck_assert_ptr_nonnull(strstr(diag.message, "more than the 0 MB allowed"));
  ck_assert_int_eq(bramah_assess_resume(s.assess, "none", NULL, 0, &diag), BRAMAH_E_UNSUPPORTED);
  close_run(&s);
}

/* ---- faults, verdicts ---- */

/* The first sensor shows half a radian too much from 0.1 s to 0.2 s. */
static bramah_status faulty_source(void *user, bramah_sample *sample, int *end, bramah_diag *d)
{
  const bramah_status status = bramah_log_stream_next(user, sample, end, d);
  if (!status && !*end && sample->time_ns >= 100000000 && sample->time_ns < 200000000) sample->y[0] += 0.5;
  return status;
}

TEST(tells_when_a_sensor_is_faulty)
{
  const bramah_assess_options options = options_to(0.3);
  run r = open_log(study("sensors-2.yaml", "  transition: paper", "  transition: paper\n  gate: 5"));
  must(bramah_assess_new(r.session, faulty_source, r.log, &options, &diag, &r.assess));
  int end = 0;
  while (!end && bramah_assess_get_totals(r.assess).last_ns < 150000000)
    must(bramah_assess_next(r.assess, &end, &diag));
  bramah_event fault = bramah_assess_get_results(r.assess)->sensor[0].fault;
  ck_assert_uint_eq(fault.n, 1);
  ck_assert(fault.lasts);
  ck_assert_double_eq_tol(fault.begin[0], 0.124, 1e-12); /* the 25th in a row */
  must(bramah_assess_run(r.assess, &diag));
  const bramah_assess_results *results = bramah_assess_get_results(r.assess);
  fault = results->sensor[0].fault;
  ck_assert_uint_eq(fault.n, 1);
  ck_assert(!fault.lasts);
  ck_assert_double_eq_tol(fault.end[0], 0.2, 1e-12);
  ck_assert_uint_eq(results->sensor[0].gated, 100);
  ck_assert_uint_eq(results->sensor[1].fault.n, 0);
  ck_assert_uint_eq(results->recoveries.n, 0);
  const bramah_verdict *verdict = &results->verdict;
  ck_assert_uint_eq(verdict->n_failed, 1); /* 100 of 301 samples */
  for (size_t i = 0; i < verdict->n; i++) {
    const bramah_finding *f = &verdict->finding[i];
    ck_assert(f->passed == !(f->kind == BRAMAH_CHECK_GATED && strcmp(f->at, "crank_encoder") == 0));
  }
  close_run(&r);
}

TEST(names_the_sensor_whose_sigma_is_wrong)
{
  const bramah_assess_options options = options_to(0.3);
  run r = open_run(study("sensors-2.yaml", "sigma: 1 deg", "sigma: 0.1 deg"), &options);
  must(bramah_assess_run(r.assess, &diag));
  const bramah_verdict *verdict = &bramah_assess_get_results(r.assess)->verdict;
  ck_assert(verdict->contradicted);
  for (size_t i = 0; i < verdict->n; i++)
    if (!verdict->finding[i].passed && verdict->finding[i].kind == BRAMAH_CHECK_NIS) {
      ck_assert_str_eq(verdict->finding[i].at, "crank_encoder");
      ck_assert_double_gt(verdict->finding[i].value, 50.0);
      ck_assert_double_eq(verdict->finding[i].most, 2.25);
      close_run(&r);
      return;
    }
  ck_abort_msg("the NIS of the encoder is not found");
}

/* The model's pump is a tenth too weak: named first, by as much. A right model has nothing to explain. */
TEST(names_the_cause)
{
  static const char friction[] = "  hydraulics.cylinders.lift.friction.viscous: 363 N*s/m";
  char wrong[256];
  snprintf(wrong, sizeof wrong, "%s\n  hydraulics.supplies.pump.pressure: 6.84 MPa", friction);
  for (int k = 0; k < 2; k++) {
    const char *path = study("sensors-2.yaml", friction, k ? wrong : friction);
    const bramah_assess_options options = options_to(2.0);
    run r = open_run(path, &options), again = open_log(path);
    bramah_diagnosis *d = NULL;
    must(bramah_assess_run(r.assess, &diag));
    must(bramah_diagnose(r.assess, bramah_log_stream_next, again.log, &diag, &d));
    ck_assert_int_eq(d->is_part, 0);
    ck_assert_double_eq_tol(d->end, 2.0, 1e-9);
    ck_assert_double_ge(d->samples, 10000.0);
    if (k) {
      ck_assert_uint_ge(d->n, 1);
      ck_assert_str_eq(d->cause[0].name, "pump.pressure");
      ck_assert_str_eq(d->cause[0].what, "parameter");
      ck_assert_double_eq_tol(d->cause[0].nominal, 6.84e6, 1.0);
      ck_assert_double_eq_tol(d->cause[0].change, 7.6e5, 0.8e5);
      ck_assert_double_gt(d->cause[0].share, 0.9);
      for (size_t i = 1; i < d->n; i++) ck_assert_double_le(d->cause[i].share, d->cause[i - 1].share);
    } else {
      ck_assert_double_lt(d->excess, 3.0 * sqrt(2.0 * d->samples));
    }
    bramah_diagnosis_free(d);
    close_run(&again);
    close_run(&r);
  }
}

TEST(noise_adapts)
{
  run r = open_run(study("sensors-2.yaml", "  transition: paper",
                         "  transition: step\nadapt: {accelerations: [0.005, 2], window: 50}"),
                   &(bramah_assess_options){.to_ns = 300000000, .smooth_to_ns = INT64_MIN});
  must(bramah_assess_run(r.assess, &diag));
  ck_assert_uint_eq(bramah_assess_get_results(r.assess)->n_adapted, 1);
  const bramah_adapted noise = bramah_assess_get_results(r.assess)->adapted[0];
  ck_assert_str_eq(noise.name, "crank.rate");
  ck_assert(noise.factor >= 0.005 && noise.factor <= 2.0 && noise.factor != 1.0);
  close_run(&r);
}

/* Without pressure sensors nobody knows how much oil is locked in. */
TEST(names_what_is_not_seen)
{
  static const char sensors[] = "  p1: {type: pressure, volume: v1, sigma: 0.5 bar, rate: 1 kHz}\n"
                                "  p2: {type: pressure, volume: v2, sigma: 0.5 bar, rate: 1 kHz}\n"
                                "  p3: {type: pressure, volume: v3, sigma: 0.5 bar, rate: 1 kHz}\n";
  char names[256];
  size_t n = 7;
  double horizon;
  bramah_session *session;
  must(bramah_session_open(study("sensors-2.yaml", NULL, NULL), &diag, &session));
  must(bramah_assess_unseen(session, names, sizeof names, &n, &horizon, &diag));
  ck_assert_uint_eq(n, 0);
  bramah_session_close(session);
  must(bramah_session_open(study("sensors-2.yaml", sensors, ""), &diag, &session));
  must(bramah_assess_unseen(session, names, sizeof names, &n, &horizon, &diag));
  ck_assert_uint_eq(n, 2);
  ck_assert_str_eq(names, "v2.pressure, v3.pressure");
  ck_assert_double_eq_tol(horizon, 0.2, 1e-9);
  bramah_session_close(session);
}

/* A bad row has its file and line, and the estimates before it are kept. */
TEST(tells_where_a_row_is_wrong)
{
  run r = {0};
  char command[4096], name[SCRATCH_NAME];
  snprintf(name, sizeof name, "%s", in_folder("bad.csv"));
  snprintf(command, sizeof command, "sed '42s/,[^,]*$/,x/' '%s/datasets/four-bar/log.csv' >'%s'", root(),
           name);
  ck_assert_int_eq(system(command), 0);
  const char *const logs[] = {name};
  must(bramah_session_open(study("sensors-2.yaml", NULL, NULL), &diag, &r.session));
  must(bramah_log_stream_open(r.session, 1, logs, &diag, &r.log));
  must(bramah_assess_new(r.session, bramah_log_stream_next, r.log, NULL, &diag, &r.assess));
  ck_assert_int_eq(bramah_assess_run(r.assess, &diag), BRAMAH_E_SYNTAX);
  ck_assert_str_eq(diag.file, name);
  ck_assert_int_eq(diag.line, 42);
  ck_assert_uint_eq(bramah_assess_get_totals(r.assess).estimates, 40);
  ck_assert_uint_eq(bramah_assess_get_results(r.assess)->sensor[0].samples, 40);
  close_run(&r);
}

int main(void) { return run_tests_with("assess", make_folder, remove_folder); }
