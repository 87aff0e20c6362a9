/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bramah study: a planned study of sensor sets, rates and filters by simulation. */
#include "lib/cli/commands.h"
#include "lib/cli/output_files.h"
#include "lib/cli/study_crew.h"
#include "lib/cli/study_findings.h"
#include "lib/cli/study_table.h"

#include <stdlib.h>

typedef struct request {
  const char *plan, *output;
  uint64_t seeds, threads;
  size_t n_scenarios;
  const char **scenarios; /* [n_scenarios] */
} request;

static int read_request(const cli_arguments *arguments, request *r)
{
  r->plan = arguments->operands[0];
  r->output = cli_value(arguments, "output");
  r->threads = cli_crew_processors();
  int wrong = cli_count_value(arguments, "seeds", 1, &r->seeds);
  if (!wrong) wrong = cli_count_value(arguments, "threads", 1, &r->threads);
  if (r->threads > 1024) r->threads = 1024;
  r->scenarios = calloc((size_t)arguments->n_given + 1, sizeof *r->scenarios);
  if (!r->scenarios) return CLI_FAILED;
  for (const char *name; (name = cli_value_again(arguments, "scenario", r->n_scenarios));)
    r->scenarios[r->n_scenarios++] = name;
  return wrong;
}

static bramah_status check_output(const request *r, const cli_lab *lab, bramah_diag *diag)
{
  const char *const inputs[] = {r->plan, lab->plan->machine_file};
  bramah_status status = cli_check_output(r->output, 2, inputs, diag);
  for (size_t i = 0; !status && i < lab->n_studies; i++) {
    const char *const study[] = {lab->studies[i]->file, lab->studies[i]->machine_file};
    status = cli_check_output(r->output, 2, study, diag);
  }
  return status;
}

static bramah_status conclude(const request *r, const cli_lab *lab, size_t failed, bramah_diag *diag)
{
  const char *const outputs[] = {r->output};
  FILE *out = cli_summary_stream(1, outputs);
  fprintf(out, "plan: %s (%s)\n", lab->plan->name, lab->plan->file);
  fprintf(out, "%zu runs of %.9g s in steps of %.9g s\n", lab->n_runs,
          cli_seconds((int64_t)(lab->rows - 1) * lab->machine.plant.step_ns),
          cli_seconds(lab->machine.plant.step_ns));
  cli_study_print_tables(lab, out);
  cli_findings_print(lab, out);
  cli_study_print_failures(lab, failed, out);
  if (!r->output) return BRAMAH_OK;
  const bramah_status status = cli_study_write_csv(lab, r->output, diag);
  if (!status) fprintf(out, "\ntable: %s\n", r->output);
  return status;
}

static int study(const request *r, cli_lab *lab)
{
  bramah_diag diag;
  bramah_status status = cli_lab_open(lab, r->plan, r->seeds, r->n_scenarios, r->scenarios, &diag);
  if (!status) status = check_output(r, lab, &diag);
  if (status) return cli_report(&diag);
  const size_t failed = cli_crew_work(lab, (size_t)r->threads);
  status = conclude(r, lab, failed, &diag);
  if (status) return cli_report(&diag);
  return failed == lab->n_runs ? CLI_FAILED : CLI_OK;
}

static int run(const cli_arguments *arguments)
{
  request r = {0};
  cli_lab lab = {0};
  int code = read_request(arguments, &r);
  if (!code) code = study(&r, &lab);
  cli_lab_close(&lab);
  free(r.scenarios);
  return code;
}

static const cli_option options[] = {
    {"output", "FILE", "CSV file for every cell of the study; - is standard output", 0, 0},
    {"seeds", "N", "noises per cell instead of the plan's number", 0, 0},
    {"scenario", "NAME", "only this scenario of the plan; may be repeated", 0, 1},
    {"threads", "N", "default: as many as there are processors", 0, 0},
    {0}};

const cli_command cli_study = {
    .name = "study",
    .operands = "PLAN",
    .summary = "Study sensor sets, rates and filters by simulation, as a plan says",
    .details =
        "Simulates the truth once for every scenario of the plan, adds the noise of every seed to what the\n"
        "sensors would have measured, runs every filter of every study at every rate over it and prints the\n"
        "errors: their root mean square in % of the largest magnitude of the truth, mean over the seeds. "
        "Then\n"
        "it judges the findings that the plan claims. A run that fails is counted and named. The outcome "
        "does\n"
        "not depend on the number of threads.\n",
    .example = "bramah study estimator-study.yaml --seeds 5 --scenario A --output table.csv",
    .min_operands = 1,
    .max_operands = 1,
    .options = options,
    .run = run};
