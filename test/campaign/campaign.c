/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _DEFAULT_SOURCE /* sysconf of processors */
/* The campaign: replays with random faults of sensors, with parameters and biases drawn from their stated uncertainty,
 * and with nothing wrong; is any output wrong by more than the filter says, and nobody says so?
 *
 *   campaign [--groups N] [--from I] [--to J] [--threads N] [--keep FILE] [--overestimated F]
 *   campaign --table FILE...
 *
 * Confidently wrong: an output is outside 3.92 sigma more than 10 % of the time, from the beginning of the fault to the end
 * of the log. Flagged: the verdict contradicts, a sensor is found faulty, the filter recovers, the alarm is raised, or
 * the replay ends with an error. Silent: not flagged, and the run does not say of each output that is confidently wrong that
 * the sensor at fault could move it so far unnoticed (bramah_hidden).
 *
 * Group i has a true motion for a replay without faults and ten with a fault each, and one with wrong parameters: 1,000
 * groups are 10,000 faults. --from and --to take a part of them; --keep writes a line for each replay; --table puts
 * together what parts have kept; --overestimated: the process noise of the truth is smaller by this
 * factor than what the filters reckon with, which should be doubted. Exit code 1 where a limit is not met: of the whole campaign, by the share itself; of a part
 * with fewer than 1,000 runs of a kind, where its 95 % bound of Clopper and Pearson is beyond the limit. */
#include "lib/io/fail.h"
#include "lib/io/worker_pool.h"
#include "test/campaign/draw.h"
#include "test/campaign/run.h"

#include <gsl/gsl_cdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FAULTS = 10, PER_GROUP = FAULTS + 2, WHOLE = 1000, SEED = 20260101 };
static const double duration = 4.0; /* [s] of each log */

typedef enum record_of { OF_CLEAN, OF_FAULT, OF_UNCERTAIN } record_of;

/* What is kept of a replay. */
typedef struct record {
  int group, number; /* 0: clean; 1 to FAULTS; FAULTS + 1: uncertain */
  int machine, kind, contradicted, doubted, hidden, is_hidden;
  double begin, end, size, share, worst, wrong_at, flagged_at, false_at, nees;
  char sensor[CAMPAIGN_TEXT], output[CAMPAIGN_TEXT], flag[CAMPAIGN_TEXT];
} record;

static record_of of(const record *r)
{
  return r->number == 0 ? OF_CLEAN : r->number <= FAULTS ? OF_FAULT : OF_UNCERTAIN;
}

/* ---- runs ---- */

typedef struct campaign {
  int from, groups, done;
  record *records; /* [groups x PER_GROUP] */
} campaign;

static void underline(char *text)
{
  for (; *text; text++)
    if (*text == ' ' || *text == '\n') *text = '_';
}

static bramah_status run_group(void *user, size_t job, bramah__worker_pool *pool, bramah_diag *diag)
{
  campaign *c = user;
  const int group = c->from + (int)job, machine = group % CAMPAIGN_MACHINES;
  const campaign_machine *m = &campaign_machines[machine];
  const double step = 1e-9 * (double)bramah_session_plant(m->session)->step_ns;
  bramah_status status = BRAMAH_OK;
  (void)pool;
  for (int uncertain = 0; !status && uncertain < 2; uncertain++) {
    campaign_truth truth;
    status = campaign_simulate(m, draw_key(SEED, (uint64_t)group, (uint64_t)uncertain), duration, uncertain,
                               diag, &truth);
    for (int i = uncertain ? FAULTS + 1 : 0; !status && i <= FAULTS + uncertain; i++) {
      campaign_fault fault = {.kind = FAULT_NONE};
      campaign_outcome o;
      if (i && !uncertain)
        fault = campaign_draw_fault(&truth, draw_key(SEED + 1, (uint64_t)group, (uint64_t)i));
      status = campaign_run(&truth, &fault, diag, &o);
      if (status) break;
      record *r = &c->records[job * PER_GROUP + (size_t)i];
      *r = (record){.group = group,
                    .number = i,
                    .machine = machine,
                    .kind = (int)fault.kind,
                    .contradicted = o.contradicted,
                    .doubted = o.doubted,
                    .hidden = (int)o.hidden,
                    .is_hidden = o.is_hidden,
                    .begin = step * (double)fault.begin,
                    .end = step * (double)fault.end,
                    .size = fault.size,
                    .share = o.share,
                    .worst = o.worst,
                    .wrong_at = o.wrong_at,
                    .flagged_at = o.flagged_at,
                    .false_at = o.false_at,
                    .nees = o.nees};
      snprintf(r->sensor, sizeof r->sensor, "%s",
               fault.kind ? bramah_session_about(m->session)->sensors[fault.sensor].name : "-");
      snprintf(r->output, sizeof r->output, "%s", *o.output ? o.output : "-");
      snprintf(r->flag, sizeof r->flag, "%s", *o.flag ? o.flag : "-");
      underline(r->flag);
    }
    campaign_forget(&truth);
  }
  return status;
}

static bramah_status count_group(void *user, size_t job, bramah_diag *diag)
{
  campaign *c = user;
  (void)job, (void)diag;
  const int before = 20 * c->done++ / c->groups;
  if (20 * c->done / c->groups > before) fprintf(stderr, "%d of %d groups\n", c->done, c->groups);
  return BRAMAH_OK;
}

/* ---- records in files ---- */

static void write_record(FILE *file, const record *r)
{
  fprintf(file, "%d %d %d %d %d %d %d %d %.6g %.6g %.6g %.6g %.6g %.6g %.6g %.6g %.6g %s %s %s\n", r->group,
          r->number, r->machine, r->kind, r->contradicted, r->doubted, r->hidden, r->is_hidden, r->begin,
          r->end, r->size, r->share, r->worst, r->wrong_at, r->flagged_at, r->false_at, r->nees, r->sensor,
          r->output, r->flag);
}

static int read_record(FILE *file, record *r)
{
  return fscanf(file, "%d %d %d %d %d %d %d %d %lf %lf %lf %lf %lf %lf %lf %lf %lf %95s %95s %95s", &r->group,
                &r->number, &r->machine, &r->kind, &r->contradicted, &r->doubted, &r->hidden, &r->is_hidden,
                &r->begin, &r->end, &r->size, &r->share, &r->worst, &r->wrong_at, &r->flagged_at,
                &r->false_at, &r->nees, r->sensor, r->output, r->flag) == 20;
}

/* ---- the table ---- */

static int is_wrong(const record *r) { return r->share > campaign_wrong_share; }
static int is_flagged(const record *r)
{
  return r->contradicted || r->doubted || isfinite(r->flagged_at) || isfinite(r->false_at);
}
static int is_unseen(const record *r) { return is_wrong(r) && !is_flagged(r); }
static int is_silent(const record *r) { return is_unseen(r) && !r->is_hidden; }

/* Where the beta distribution function is `share`: by halving, for that of GSL gives up at large numbers. */
static double beta_quantile(double share, double a, double b)
{
  double low = 0.0, high = 1.0;
  for (int i = 0; i < 60; i++) {
    const double x = 0.5 * (low + high);
    *(gsl_cdf_beta_P(x, a, b) < share ? &low : &high) = x;
  }
  return 0.5 * (low + high);
}

/* Two-sided 95 % bounds of a share of k in n (C. J. Clopper, E. S. Pearson, Biometrika 26, 1934). */
static void bounds(size_t k, size_t n, double *low, double *high)
{
  *low = k ? beta_quantile(0.025, (double)k, (double)(n - k + 1)) : 0.0;
  *high = k < n ? beta_quantile(0.975, (double)(k + 1), (double)(n - k)) : 1.0;
}

/* Of the whole campaign the share itself counts; of a part of it whether the part contradicts that the whole stays within
 * the limit. */
static int is_within(size_t k, size_t n, double limit)
{
  double low, high;
  bounds(k, n, &low, &high);
  return (n >= WHOLE ? (double)k / (double)n : low) <= limit;
}

static void print_share(const char *what, size_t k, size_t n)
{
  double low, high;
  if (!n) return;
  bounds(k, n, &low, &high);
  printf("  %-44s %6zu of %6zu  %7.3f %%  (%.3f to %.3f %%)\n", what, k, n, 100.0 * (double)k / (double)n,
         100.0 * low, 100.0 * high);
}

static int ascending(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *x, size_t n)
{
  if (!n) return NAN;
  qsort(x, n, sizeof *x, ascending);
  return n % 2 ? x[n / 2] : 0.5 * (x[n / 2 - 1] + x[n / 2]);
}

/* One line for each class of faults. */
static void print_classes(const record *r, size_t n)
{
  printf("  %-14s %-9s %7s %7s %7s %7s\n", "machine", "fault", "runs", "wrong", "silent", "flagged");
  for (int m = 0; m < CAMPAIGN_MACHINES; m++)
    for (int kind = 1; kind < N_FAULTS; kind++) {
      size_t count[4] = {0};
      for (size_t i = 0; i < n; i++) {
        if (of(&r[i]) != OF_FAULT || r[i].machine != m || r[i].kind != kind) continue;
        const int is[4] = {1, is_wrong(&r[i]), is_silent(&r[i]), is_flagged(&r[i])};
        for (int k = 0; k < 4; k++) count[k] += (size_t)is[k];
      }
      if (count[0])
        printf("  %-14s %-9s %7zu %7zu %7zu %7zu\n", campaign_machines[m].name, campaign_kinds[kind],
               count[0], count[1], count[2], count[3]);
    }
}

static int print_table(const record *r, size_t n)
{
  size_t runs[3] = {0}, wrong[3] = {0}, silent[3] = {0}, alarms[3] = {0}, unseen[3] = {0}, doubted[3] = {0},
         late = 0, seen = 0, hidden = 0;
  double nees = 0.0, *delay = calloc(2 * n + 1, sizeof *delay), *after = delay + n;
  if (!delay) return 1;
  for (size_t i = 0; i < n; i++) {
    const record_of kind = of(&r[i]);
    runs[kind]++;
    wrong[kind] += (size_t)is_wrong(&r[i]);
    doubted[kind] += (size_t)r[i].doubted;
    silent[kind] += (size_t)is_silent(&r[i]);
    alarms[kind] += (size_t)(isfinite(r[i].false_at) || (kind == OF_CLEAN && r[i].contradicted));
    if (kind == OF_UNCERTAIN) nees += r[i].nees;
    if (kind == OF_FAULT && is_wrong(&r[i])) delay[late++] = fmax(r[i].flagged_at - r[i].wrong_at, 0.0);
    if (kind == OF_FAULT && isfinite(r[i].flagged_at)) after[seen++] = r[i].flagged_at - r[i].begin;
    unseen[kind] += (size_t)is_unseen(&r[i]);
    if (kind == OF_CLEAN) hidden += (size_t)r[i].hidden;
    if (is_unseen(&r[i]))
      printf(is_silent(&r[i]) ? "silent: " : "not flagged, but said: "), write_record(stdout, &r[i]);
  }
  print_classes(r, n);
  printf("with a fault\n");
  print_share("confidently wrong", wrong[OF_FAULT], runs[OF_FAULT]);
  print_share("confidently wrong and not flagged", unseen[OF_FAULT], runs[OF_FAULT]);
  print_share("confidently wrong and silent", silent[OF_FAULT], runs[OF_FAULT]);
  const double late_by = median(delay, late), seen_after = median(after, seen);
  printf("  flagged after an output is wrong: median %.3f s; after the fault begins: %.3f s\n", late_by,
         seen_after);
  printf("with parameters and biases from their uncertainty\n");
  print_share("confidently wrong", wrong[OF_UNCERTAIN], runs[OF_UNCERTAIN]);
  print_share("confidently wrong and silent", silent[OF_UNCERTAIN], runs[OF_UNCERTAIN]);
  print_share("flagged", alarms[OF_UNCERTAIN], runs[OF_UNCERTAIN]);
  print_share("doubted for their process noise", doubted[OF_UNCERTAIN], runs[OF_UNCERTAIN]);
  nees /= (double)runs[OF_UNCERTAIN];
  printf("  mean NEES %.3f\n", nees);
  printf("with nothing wrong\n");
  print_share("confidently wrong", wrong[OF_CLEAN], runs[OF_CLEAN]);
  print_share("false alarms", alarms[OF_CLEAN], runs[OF_CLEAN]);
  print_share("doubted for their process noise", doubted[OF_CLEAN], runs[OF_CLEAN]);
  printf("  outputs that sensors could move unnoticed: %.1f of a run\n",
         (double)hidden / (double)runs[OF_CLEAN]);
  print_share("false alarms before a fault", alarms[OF_FAULT], runs[OF_FAULT]);
  free(delay);

  const size_t all_runs = runs[OF_FAULT] + runs[OF_UNCERTAIN],
               all_silent = silent[OF_FAULT] + silent[OF_UNCERTAIN];
  const struct {
    const char *what;
    int met;
  } limits[] = {{"silent and confidently wrong at most 0.1 %", is_within(all_silent, all_runs, 0.001)},
                {"flagged in the median within 0.3 s", !late || late_by <= 0.3},
                {"right process noise doubted at most 0.1 %",
                 campaign_overestimated != 1.0 || is_within(doubted[OF_CLEAN] + doubted[OF_UNCERTAIN],
                                                            runs[OF_CLEAN] + runs[OF_UNCERTAIN], 0.001)},
                {"false alarms at most 1 %", is_within(alarms[OF_CLEAN], runs[OF_CLEAN], 0.01)},
                {"mean NEES from 0.7 to 1.5", nees >= 0.7 && nees <= 1.5}};
  int missed = 0;
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
    printf("%s: %s\n", limits[i].what, limits[i].met ? "yes" : "NO");
    missed |= !limits[i].met;
  }
  return missed;
}

/* ---- program ---- */

static int table_of_files(int n_files, char **names)
{
  record *records = NULL;
  size_t n = 0, room = 0;
  for (int i = 0; i < n_files; i++) {
    FILE *file = fopen(names[i], "r");
    record r = {0};
    if (!file) {
      fprintf(stderr, "%s: cannot be read\n", names[i]);
      free(records);
      return 2;
    }
    while (read_record(file, &r)) {
      if (n == room) {
        record *more = realloc(records, (room = 2 * room + 1024) * sizeof *records);
        if (!more) break;
        records = more;
      }
      records[n++] = r;
    }
    fclose(file);
  }
  const int code = print_table(records, n);
  free(records);
  return code;
}

int main(int argc, char **argv)
{
  const char *of_environment = getenv("BRAMAH_GROUPS");
  int groups = of_environment ? atoi(of_environment) : 30, from = 0, to = 0,
      threads = (int)sysconf(_SC_NPROCESSORS_ONLN);
  const char *keep = NULL;
  for (int i = 1; i < argc; i += 2) {
    const char *value = i + 1 < argc ? argv[i + 1] : "";
    if (strcmp(argv[i], "--table") == 0) return table_of_files(argc - i - 1, argv + i + 1);
    const struct {
      const char *name;
      int *number;
    } numbers[] = {{"--groups", &groups}, {"--from", &from}, {"--to", &to}, {"--threads", &threads}};
    int known = strcmp(argv[i], "--keep") == 0;
    if (strcmp(argv[i], "--overestimated") == 0) campaign_overestimated = atof(value), known = 1;
    if (known) keep = value;
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
      if (strcmp(argv[i], numbers[k].name) == 0) *numbers[k].number = atoi(value), known = 1;
    if (!known || !*value) {
      fprintf(stderr, "usage: campaign [--groups N | --from I --to J] [--threads N] [--keep FILE] "
                      "[--overestimated F] | --table FILE...\n");
      return 2;
    }
  }
  campaign c = {.from = from, .groups = to > from ? to - from : groups};
  if (from < 0 || c.groups < 1 || threads < 1 || !(campaign_overestimated > 0.0)) {
    fprintf(stderr, "campaign: there is nothing to run\n");
    return 2;
  }
  c.records = calloc((size_t)c.groups * PER_GROUP, sizeof *c.records);
  bramah_diag diag;
  bramah_diag_clear(&diag);
  bramah_status status = c.records ? BRAMAH_OK : bramah__fail_memory(&diag);
  for (int m = 0; !status && m < CAMPAIGN_MACHINES; m++) status = campaign_open(&campaign_machines[m], &diag);
  const bramah__worker_jobs work = {.n = (size_t)c.groups, .user = &c, .job = run_group, .done = count_group};
  if (!status) status = bramah__worker_pool_run(&work, (size_t)threads, &diag);
  for (int m = 0; m < CAMPAIGN_MACHINES; m++) campaign_close(&campaign_machines[m]);
  int code = 2;
  if (status) {
    fprintf(stderr, "%s: %s\n", diag.file, diag.message);
  } else {
    FILE *file = keep ? fopen(keep, "w") : NULL;
    for (size_t i = 0; file && i < work.n * PER_GROUP; i++) write_record(file, &c.records[i]);
    if (file) fclose(file);
    code = print_table(c.records, work.n * PER_GROUP);
  }
  free(c.records);
  return code;
}
