/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bramah simulate: the true motion of a machine and, on request, what noisy sensors would have said of it. */
#include "lib/cli/commands.h"
#include "bramah/log.h"
#include "lib/cli/output_files.h"
#include "lib/cli/parameters.h"
#include "bramah/assess.h"
#include "lib/cli/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the options say. */
typedef struct request {
  const char *machine, *output, *study, *log;
  int all;                      /* hidden outputs too */
  int shaken;                   /* by the plant noise of the study */
  int64_t duration_ns, step_ns; /* step 0: the machine's */
  uint64_t seed;
} request;

/* Energy that went in or out without the doing of cylinders, rotary actuators and drives of motions. */
typedef struct energy_balance {
  size_t kinetic, potential; /* outputs */
  size_t *work, n_work;
  double start, worst, most_work; /* [J] */
} energy_balance;

typedef struct simulation {
  request request;
  bramah_machine_plant machine;
  bramah_schedule *schedule;
  bramah_study *study;         /* NULL: no noisy log is wanted */
  bramah_simulated_log *noisy; /* NULL: likewise */
  bramah_process_noise *shaken;
  bramah_log_writer *writer;
  size_t *outputs, n_outputs; /* of the columns behind t */
  double *row;
  cli_parameters parameters;
  energy_balance energy;
  double violation; /* largest */
  uint64_t rows;
  double seconds; /* of the clock */
} simulation;

/* ---- options ---- */

static int check_noise_options(const cli_arguments *arguments, const request *r)
{
  if (r->study && !r->log)
    return cli_wrong_use(arguments->command, "--noise needs --log: the file for the noisy measurements");
  if (r->log && !r->study)
    return cli_wrong_use(arguments->command, "--log needs --noise: the study that describes the sensors");
  if (cli_value(arguments, "seed") && !r->study)
    return cli_wrong_use(arguments->command, "--seed means nothing without --noise");
  if (r->shaken && !r->study)
    return cli_wrong_use(arguments->command, "--plant-noise needs --noise: the study that tells how much");
  return 0;
}

static int read_request(const cli_arguments *arguments, request *r)
{
  *r = (request){.machine = arguments->operands[0],
                 .output = cli_value(arguments, "output"),
                 .study = cli_value(arguments, "noise"),
                 .log = cli_value(arguments, "log"),
                 .all = cli_value(arguments, "all") != NULL,
                 .shaken = cli_value(arguments, "plant-noise") != NULL,
                 .seed = 1};
  int wrong = cli_time_value(arguments, "duration", &r->duration_ns);
  if (!wrong) wrong = cli_time_value(arguments, "step", &r->step_ns);
  if (!wrong) wrong = cli_count_value(arguments, "seed", 0, &r->seed);
  return wrong ? wrong : check_noise_options(arguments, r);
}

/* --set PATH=VALUE as changes of the machine file; the paths are copied. */
static int read_changes(const cli_arguments *arguments, size_t *n, bramah_change **changes)
{
  *changes = calloc((size_t)arguments->n_given + 1, sizeof **changes);
  for (const char *text; *changes && (text = cli_value_again(arguments, "set", *n)); ++*n) {
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1])
      return cli_wrong_use(arguments->command, "--set: '%s' is not of the form PATH=VALUE", text);
    char *path = calloc((size_t)(equals - text) + 1, 1);
    if (!path) break;
    memcpy(path, text, (size_t)(equals - text));
    (*changes)[*n] = (bramah_change){.path = path, .value = equals + 1, .file = "--set"};
  }
  return 0;
}

static void free_changes(size_t n, bramah_change *changes)
{
  for (size_t i = 0; i < n; i++) free((void *)(uintptr_t)changes[i].path); /* ours, const for the library */
  free(changes);
}

/* ---- energy ---- */

static double output(const simulation *s, size_t i)
{
  return s->machine.plant.output(s->machine.plant.self, i);
}

static bramah_status prepare_energy(simulation *s, bramah_diag *diag)
{
  energy_balance *e = &s->energy;
  e->work = calloc(s->machine.plant.n_output + 1, sizeof *e->work);
  if (!e->work) return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  e->kinetic = (size_t)bramah_plant_find_output(&s->machine.plant, "energy.kinetic");
  e->potential = (size_t)bramah_plant_find_output(&s->machine.plant, "energy.potential");
  for (size_t i = 0; i < s->machine.plant.n_output; i++) { /* of actuators and motions */
    bramah_output_info info;
    s->machine.plant.output_info(s->machine.plant.self, i, &info);
    const size_t length = strlen(info.name);
    if (length > 5 && strcmp(info.name + length - 5, ".work") == 0) e->work[e->n_work++] = i;
  }
  e->start = output(s, e->kinetic) + output(s, e->potential);
  return BRAMAH_OK;
}

static void watch(simulation *s)
{
  energy_balance *e = &s->energy;
  double work = 0.0;
  for (size_t i = 0; i < e->n_work; i++) work += output(s, e->work[i]);
  const double error = fabs(output(s, e->kinetic) + output(s, e->potential) - e->start - work);
  const double violation = bramah_coupled_constraint_violation(s->machine.coupled);
  e->worst = fmax(e->worst, error);
  e->most_work = fmax(e->most_work, fabs(work));
  s->violation = fmax(s->violation, violation);
}

/* ---- files ---- */

static size_t choose_outputs(const simulation *s, size_t *out)
{
  const bramah_plant *plant = &s->machine.plant;
  if (!s->request.all) return cli_visible_outputs(plant, out);
  for (size_t i = 0; i < plant->n_output; i++) out[i] = i;
  return plant->n_output;
}

static bramah_status create_truth(simulation *s, bramah_diag *diag)
{
  const bramah_plant *plant = &s->machine.plant;
  s->outputs = calloc(plant->n_output + 1, sizeof *s->outputs);
  s->row = calloc(plant->n_output + 1, sizeof *s->row);
  if (!s->outputs || !s->row) return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  s->n_outputs = choose_outputs(s, s->outputs);
  bramah_status status = bramah_log_create(s->request.output, diag, &s->writer);
  if (!status) status = bramah_log_add_column(s->writer, "t", "s", 12, diag);
  for (size_t i = 0; !status && i < s->n_outputs; i++) {
    bramah_output_info info;
    plant->output_info(plant->self, s->outputs[i], &info);
    status = bramah_log_add_column(s->writer, info.name, info.unit, 10, diag);
  }
  return status;
}

static bramah_status write_truth(simulation *s, int64_t time_ns, bramah_diag *diag)
{
  s->row[0] = cli_seconds(time_ns);
  for (size_t i = 0; i < s->n_outputs; i++) s->row[1 + i] = output(s, s->outputs[i]);
  s->rows++;
  return bramah_log_write(s->writer, s->row, diag);
}

static bramah_status check_files(const request *r, bramah_diag *diag)
{
  const char *const others[] = {r->machine, r->study, r->log};
  const bramah_status status = cli_check_output(r->output, 3, others, diag);
  return status ? status : cli_check_output(r->log, 2, others, diag);
}

/* ---- run ---- */

static bramah_status open_noisy(simulation *s, bramah_diag *diag)
{
  const request *r = &s->request;
  bramah_diag_clear(diag);
  bramah_status status = bramah_study_load(r->study, diag, &s->study);
  if (!status)
    status =
        bramah_simulated_log_new(s->study, s->machine.model, &s->machine.plant, r->seed, diag, &s->noisy);
  cli_place(diag, status ? r->study : NULL, 0);
  for (size_t i = 0; !status && i < s->study->n_sensors; i++) {
    bramah_simulated_sensor sensor;
    bramah_simulated_log_sensor(s->noisy, i, &sensor);
    if (sensor.period_ns != sensor.wanted_period_ns)
      cli_note("%s: sampled every %.9g s instead of %.9g s, the nearest multiple of the step", sensor.name,
               cli_seconds(sensor.period_ns), cli_seconds(sensor.wanted_period_ns));
    if (sensor.delay_ns != sensor.wanted_delay_ns)
      cli_note("%s: delayed by %.9g s instead of %.9g s, the nearest multiple of the step", sensor.name,
               cli_seconds(sensor.delay_ns), cli_seconds(sensor.wanted_delay_ns));
  }
  return status;
}

static bramah_status prepare(simulation *s, const cli_arguments *arguments, size_t n_changes,
                             const bramah_change *changes, bramah_diag *diag)
{
  const request *r = &s->request;
  bramah_status status = check_files(r, diag);
  if (!status)
    status = bramah_machine_plant_open(&s->machine, r->machine, n_changes, changes, r->step_ns, diag);
  if (!status) status = cli_parameters_read(arguments, &s->machine.plant, &s->parameters, diag);
  if (!status) status = bramah_schedule_new(s->machine.machine, s->machine.model, diag, &s->schedule);
  if (!status && r->study) status = open_noisy(s, diag);
  if (!status && r->shaken) status = bramah_process_noise_new(r->study, r->seed, &s->machine, diag, &s->shaken);
  if (!status) status = prepare_energy(s, diag);
  if (!status) status = create_truth(s, diag);
  if (!status && s->noisy) status = bramah_simulated_log_create(s->noisy, r->log, diag);
  return status;
}

/* A row shows the parameters and commands that hold from its time on. */
static bramah_status write_rows(simulation *s, uint64_t k, int64_t time_ns, bramah_diag *diag)
{
  const bramah_plant *plant = &s->machine.plant;
  const double *u = bramah_schedule_at(s->schedule, time_ns);
  bramah_status status = cli_parameters_set(&s->parameters, plant, time_ns, diag);
  if (!status) status = plant->set_inputs(plant->self, u, diag);
  if (!status) status = write_truth(s, time_ns, diag);
  if (!status && s->noisy) status = bramah_simulated_log_row(s->noisy, k, time_ns, u, diag);
  watch(s);
  return status;
}

static bramah_status advance(simulation *s, int64_t time_ns, bramah_diag *diag)
{
  const bramah_plant *plant = &s->machine.plant;
  const bramah_status status =
      s->shaken ? bramah_process_noise_step(s->shaken, diag) : plant->step(plant->self, diag);
  if (!status) return BRAMAH_OK;
  cli_place(diag, s->request.machine, 0);
  const size_t used = strlen(diag->message);
  snprintf(diag->message + used, sizeof diag->message - used, " (after t = %.9g s)", cli_seconds(time_ns));
  return status;
}

static bramah_status run_steps(simulation *s, bramah_diag *diag)
{
  const int64_t step = s->machine.plant.step_ns;
  const uint64_t n = (uint64_t)(s->request.duration_ns / step);
  const double begin = cli_clock();
  cli_progress progress = cli_progress_begin(s->request.duration_ns);
  bramah_diag_clear(diag);
  bramah_status status = write_rows(s, 0, 0, diag);
  for (uint64_t k = 1; !status && k <= n; k++) {
    const int64_t now = (int64_t)k * step;
    status = advance(s, now - step, diag);
    if (!status) status = write_rows(s, k, now, diag);
    cli_progress_update(&progress, now);
  }
  cli_progress_end(&progress);
  s->seconds = cli_clock() - begin;
  return status;
}

/* Rows written stay written, whatever happened. */
static bramah_status finish_files(simulation *s, bramah_status status, bramah_diag *diag)
{
  bramah_diag other;
  bramah_status closed = bramah_log_finish(s->writer, status ? &other : diag);
  s->writer = NULL;
  if (!status) status = closed;
  if (!s->noisy) return status;
  closed = bramah_simulated_log_finish(s->noisy, status ? &other : diag);
  return status ? status : closed;
}

/* ---- summary ---- */

static void print_summary(const simulation *s)
{
  const request *r = &s->request;
  const char *const outputs[] = {r->output, r->log};
  FILE *out = cli_summary_stream(2, outputs);
  const bramah_step_report steps = bramah_coupled_report(s->machine.coupled);
  const energy_balance *e = &s->energy;
  const double simulated = cli_seconds((int64_t)steps.steps * s->machine.plant.step_ns);
  fprintf(out, "%s: %llu rows, %.9g s in steps of %.9g s\n", bramah_model_name(s->machine.model),
          (unsigned long long)s->rows, simulated, cli_seconds(s->machine.plant.step_ns));
  if (steps.steps) {
    fprintf(out, "speed: %.3g × real time, files included\n", simulated / s->seconds);
    fprintf(out, "Newton iterations: %.2f on average, %u at most\n",
            (double)steps.iterations / (double)steps.steps, (unsigned)steps.max_iterations);
  }
  if (s->machine.machine->n_loops)
    fprintf(out, "largest violation of a loop: %.2g (m or rad)\n", s->violation);
  if (s->parameters.n) fprintf(out, "parameters set: %zu; no energy balance\n", s->parameters.n);
  if (e->n_work && !s->parameters.n && !s->shaken)
    fprintf(out, "energy balance: error at most %.3g J (work of the %s: up to %.4g J)\n", e->worst,
            s->machine.machine->n_rotaries || s->machine.machine->n_motors || s->machine.machine->n_motions
                ? "actuators"
                : "cylinders",
            e->most_work);
  fprintf(out, "truth: %s\n", r->output);
  if (s->noisy)
    fprintf(out, "noisy log of %zu sensors, seed %llu: %s\n", s->study->n_sensors,
            (unsigned long long)r->seed, r->log);
  for (size_t i = 0; s->noisy && i < s->study->n_sensors; i++) {
    bramah_simulated_sensor sensor;
    bramah_simulated_log_sensor(s->noisy, i, &sensor);
    if (sensor.saturated)
      fprintf(out, "%s: %llu of %llu samples stand at the ends of its range\n", sensor.name,
              (unsigned long long)sensor.saturated, (unsigned long long)sensor.samples);
  }
}

static void note_remainder(const simulation *s)
{
  const int64_t step = s->machine.plant.step_ns, rest = s->request.duration_ns % step;
  if (rest)
    cli_note("the duration is not a multiple of the step: the last row stands at %.9g s",
             cli_seconds(s->request.duration_ns - rest));
}

static int simulate(simulation *s, const cli_arguments *arguments, size_t n_changes,
                    const bramah_change *changes)
{
  bramah_diag diag;
  bramah_status status = prepare(s, arguments, n_changes, changes, &diag);
  if (status) return cli_report(&diag);
  note_remainder(s);
  status = run_steps(s, &diag);
  status = finish_files(s, status, &diag);
  print_summary(s);
  return status ? cli_report(&diag) : CLI_OK;
}

static void clean_up(simulation *s)
{
  bramah_diag ignored;
  bramah_log_finish(s->writer, &ignored);
  bramah_simulated_log_free(s->noisy);
  bramah_study_free(s->study);
  bramah_process_noise_free(s->shaken);
  bramah_schedule_free(s->schedule);
  bramah_machine_plant_close(&s->machine);
  cli_parameters_free(&s->parameters);
  free(s->outputs);
  free(s->row);
  free(s->energy.work);
}

static int run(const cli_arguments *arguments)
{
  simulation s = {0};
  bramah_change *changes = NULL;
  size_t n_changes = 0;
  int code = read_request(arguments, &s.request);
  if (!code) code = read_changes(arguments, &n_changes, &changes);
  if (!code) code = simulate(&s, arguments, n_changes, changes);
  clean_up(&s);
  free_changes(n_changes, changes);
  return code;
}

static const cli_option options[] = {
    {"duration", "TIME", "simulated time: seconds, or with a unit (\"10 s\")", 1, 0},
    {"output", "FILE", "CSV or MAT file for the true motion; - is standard output", 1, 0},
    {"step", "TIME", "time step (\"1 ms\"); otherwise that of the machine file", 0, 0},
    {"all", NULL, "also the outputs meant for sensors: rates and specific forces of bodies, flows", 0, 0},
    {"set", "PATH=VALUE", "another value for a key of the machine file; may be repeated", 0, 1},
    {"parameter", "NAME=VALUE[@TIME]",
     "set a parameter of the plant, at a time or at the start; may be repeated", 0, 1},
    {"noise", "STUDY", "also write a noisy log with the sensors of this study", 0, 0},
    {"plant-noise", NULL, "the plant noise that the study assumes acts on the machine", 0, 0},
    {"seed", "NUMBER", "of the noise; default 1", 0, 0},
    {"log", "FILE", "CSV or MAT file for the noisy log", 0, 0},
    {0}};

const cli_command cli_simulate = {
    .name = "simulate",
    .operands = "MACHINE",
    .summary = "Simulate a machine file: true motion and, on request, noisy measurements",
    .details =
        "Starts from the initial state of the machine, applies the commands planned in its file and writes\n"
        "a row per step: time, motion of the joints, pressures, cylinders, commands, energies.\n"
        "With --noise a second file holds what the sensors of a study would have measured; the same\n"
        "seed gives the same bytes, and the noise of a sensor does not depend on the other sensors.\n"
        "--parameter \"boom.payload=10 kg@2 s\" changes the truth during the run; 'bramah check MACHINE\n"
        "--parameters' lists what can be set. A value without unit is in SI.\n"
        "The changes a study makes to the machine are errors of the filter's model: not applied here.\n",
    .example = "bramah simulate four-bar.yaml --duration \"10 s\" --step \"1 ms\" --output truth.csv \\\n"
               "    --noise sensors-2.yaml --seed 1 --log log.csv",
    .min_operands = 1,
    .max_operands = 1,
    .options = options,
    .run = run};
