/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bramah simulate: the true motion of a machine and, on request, what noisy sensors would have said of it. */
#define _POSIX_C_SOURCE 200809L /* strdup, nanosleep */
#include "bramah/serve.h"
#include "bramah/simulation.h"
#include "bramah/units.h"
#include "lib/cli/simulate_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A simulation by the clock, whose measurements go as datagrams, and who drives it. */
typedef struct live {
  int port; /* 0: none */
  int drive, fd, control;
  bramah_sender *sender;
  bramah_display_file *file;
  bramah_levers levers;
  bramah_simulation *simulation; /* once there is one */
  double begin;                  /* of the clock, */
  int64_t begin_ns;              /* and of the simulation */
  int told_slow;
  char path[32];          /* of the log, into the sender */
  bramah_soil_view *soil; /* NULL: none moves */
  int64_t next_soil;      /* when it is told of next */
} live;

typedef struct request {
  const char *machine, *log;
  int64_t duration_ns, step_ns; /* step 0: the machine's */
  bramah_simulation_options options;
  size_t n_changes;
  bramah_change *changes; /* of the machine file */
  const char *report;     /* NULL: no page */
  int how;
  bramah_study *study; /* in place of a machine; NULL: a machine was named */
  live live;
} request;

/* A number alone is in SI. */
static bramah_status read_quantity(const char *text, const char *unit, double *out, bramah_diag *diag)
{
  char *end;
  *out = strtod(text, &end);
  return end != text && !*end ? BRAMAH_OK : bramah_quantity_parse(text, unit, out, diag);
}

/* NAME=VALUE[@TIME]: the value with the unit of the parameter, or in SI without one. */
static bramah_status read_parameter(const bramah_plant *plant, const char *text, bramah_timed_parameter *out,
                                    bramah_diag *diag)
{
  char parts[1024];
  *out = (bramah_timed_parameter){0};
  snprintf(parts, sizeof parts, "%s", text);
  char *equals = strchr(parts, '='), *at = strrchr(parts, '@');
  if (!equals || equals == parts || !equals[1] || strlen(text) >= sizeof parts)
    return cli_fail(diag, BRAMAH_E_SYNTAX, NULL, 0, text, "is not of the form NAME=VALUE or NAME=VALUE@TIME");
  *equals = '\0';
  if (at) *at = '\0';
  bramah_parameter_info info;
  bramah_status status = bramah_plant_parameter_index(plant, parts, &out->index, diag);
  if (status) return status;
  plant->parameter_info(plant->self, out->index, &info);
  status = read_quantity(equals + 1, info.unit, &out->value, diag);
  if (status) return status;
  if (!isfinite(out->value)) return cli_fail(diag, BRAMAH_E_VALUE, NULL, 0, text, "is not finite");
  const int low = out->value < info.least;
  const char *unit = strcmp(info.unit, "1") == 0 ? "" : info.unit;
  if (low || out->value > info.most)
    return cli_fail(diag, BRAMAH_E_VALUE, NULL, 0, text, "must be at %s %.6g%s%s", low ? "least" : "most",
                    low ? info.least : info.most, *unit ? " " : "", unit);

  double seconds = 0.0;
  if (at) status = read_quantity(at + 1, "s", &seconds, diag);
  if (status) return status;
  if (!(seconds >= 0.0 && seconds < 9e9))
    return cli_fail(diag, BRAMAH_E_VALUE, "--parameter", 0, text, "'%s' is not a time to work with", at + 1);
  out->time_ns = llround(seconds * 1e9);
  return BRAMAH_OK;
}

/* "oil under tension: v3.pressure -24.7 bar at 2.96 s, beyond the limit from 0.35 s on"; 1 if there is something to
 * say. */
static int print_limits(const bramah_simulation_result *result, const bramah_coupled *plant, FILE *out)
{
  static const char *const what[] = {
      [BRAMAH_LIMIT_PRESSURE] = "oil under tension, which no oil bears (the machine cavitates)",
      [BRAMAH_LIMIT_STROKE] = "a piston behind the end of its cylinder",
      [BRAMAH_LIMIT_LOOP] = "a loop that gapes",
      [BRAMAH_LIMIT_POSE] = "a singular pose, in which the loops do not determine the motion",
      [BRAMAH_LIMIT_STEP] =
          "the error of a step, larger than the tolerance in 64 parts too; take smaller steps"};
  int some = 0;
  for (int k = 0; k < BRAMAH_N_LIMITS; k++) {
    const bramah_limit_event *event = &result->limit[k];
    bramah_output_info info;
    if (!event->n) continue;
    bramah_coupled_limit_info(plant, (bramah_limit_kind)k, &event->worst, &info);
    const cli_readable unit = cli_readable_unit(info.unit);
    fprintf(out, "beyond a physical limit from %.9g s on: %s; worst: %s %.4g %s at %.9g s\n",
            cli_seconds(event->first_ns), what[k], info.name, unit.factor * event->worst.value, unit.unit,
            cli_seconds(event->worst_ns));
    some = 1;
  }
  return some;
}

/* Of all outputs with one unit the largest: "boom.angle 2.1e-07 deg at 1.2 s". */
static void print_errors(const bramah_simulation_result *result, const bramah_plant *plant, FILE *out)
{
  const char *between = "local error of a step: at most ";
  for (size_t i = 0; i < result->n_errors; i++) {
    const bramah_output_error *worst = &result->errors[i];
    bramah_output_info first, info;
    int seen = 0;
    bramah_plant_output_info(plant, worst->output, &first);
    const cli_readable unit = cli_readable_unit(first.unit);
    for (size_t k = 0; k < result->n_errors; k++) {
      bramah_plant_output_info(plant, result->errors[k].output, &info);
      if (strcmp(info.unit, first.unit) != 0) continue;
      seen |= k < i;
      if (result->errors[k].largest > worst->largest) worst = &result->errors[k];
    }
    if (seen || worst->largest == 0.0) continue;
    bramah_plant_output_info(plant, worst->output, &info);
    fprintf(out, "%s%s %.2g %s at %.9g s", between, info.name, unit.factor * worst->largest, unit.unit,
            cli_seconds(worst->time_ns));
    between = ", ";
  }
  if (between[0] == ',') fprintf(out, "\n");
}

/* Mass of field and particles, less what was added. */
static double soil_mass(const bramah_machine_plant *machine)
{
  const bramah_terrain_report r = bramah_terrain_get_report(bramah_worksite_terrain(machine->site));
  return r.field_mass + r.particle_mass - r.added;
}

/* Mass is counted in that of a layer one cell deep where the field lies around 0. Returns 1 if soil was neither made nor lost, and tools met all of it. */
static int print_soil(const bramah_machine_plant *machine, double before, FILE *out)
{
  const bramah_terrain_options *o = &machine->machine->terrain.options;
  const bramah_terrain_report r = bramah_terrain_get_report(bramah_worksite_terrain(machine->site));
  const double layer = o->soil.density * (double)(o->nx * o->ny) * o->cell * o->cell * o->cell,
               off = (soil_mass(machine) - before) / fmax(fabs(before), layer);
  fprintf(out,
          "soil: %zu particles of %.4g kg in all, %llu wedges failed, %llu particles became field again; "
          "mass is off by %.1g\n",
          r.n_particles, r.particle_mass, (unsigned long long)r.failures, (unsigned long long)r.merged, off);
  if (r.starved)
    fprintf(out,
            "all %zu particles were in use: %llu times a wedge could not fail for want of particles. No soil "
            "is lost, "
            "but the forces of tools are too large where that was; allow more (terrain: particles: most), or "
            "larger "
            "ones\n",
            o->max_particles, (unsigned long long)r.starved);
  return fabs(off) <= 1e-12 && r.starved == 0;
}

/* Bodies that came to touch each other. */
static void print_touches(const bramah_machine_plant *machine, FILE *out)
{
  static const char *const endings[] = {".touches", ".leaves", ".touched_at", ".left_at", ".resets"};
  const bramah_machine *m = machine->machine;
  for (size_t i = 0; i < m->n_contacts; i++) {
    double value[5];
    if (!m->contacts[i].n_between) continue;
    for (int k = 0; k < 5; k++) {
      char name[640];
      snprintf(name, sizeof name, "%s%s", m->contacts[i].name, endings[k]);
      const long at = bramah_plant_find_output(&machine->plant, name);
      value[k] = at < 0 ? 0.0 : machine->plant.output(machine->plant.self, (size_t)at);
    }
    fprintf(out, "contact %s: touched %.0f time%s", m->contacts[i].name, value[0],
            value[0] == 1.0 ? "" : "s");
    if (value[0] > 0.0) fprintf(out, ", last at %.9g s", value[2]);
    if (value[1] > 0.0)
      fprintf(out, "; left %.0f time%s, last at %.9g s", value[1], value[1] == 1.0 ? "" : "s", value[3]);
    if (value[4] > 0.0)
      fprintf(out, "; bristles of %.0f point%s let go where the patch changed", value[4],
              value[4] == 1.0 ? "" : "s");
    fprintf(out, "\n");
  }
}

/* Returns 1 if the motion can be trusted. */
static int print_summary(const bramah_simulation *simulation, const bramah_machine_plant *machine,
                         const request *r, double soil, double seconds)
{
  const bramah_simulation_options *o = &r->options;
  const char *const outputs[] = {o->truth, o->log};
  FILE *out = cli_summary_stream(2, outputs);
  const bramah_simulation_result result = bramah_simulation_get_result(simulation);
  const bramah_step_report steps = bramah_coupled_report(machine->coupled);
  const double simulated = cli_seconds((int64_t)steps.steps * machine->plant.step_ns);
  fprintf(out, "%s: %llu rows, %.9g s in steps of %.9g s\n", bramah_model_get_info(machine->model).name,
          (unsigned long long)result.rows, simulated, cli_seconds(machine->plant.step_ns));
  if (steps.steps) {
    fprintf(out, "speed: %.3g × real time, files included\n", simulated / seconds);
    fprintf(out, "Newton iterations: %.2f on average, %u at most\n",
            (double)steps.iterations / (double)steps.steps, (unsigned)steps.max_iterations);
  }
  if (machine->machine->n_loops)
    fprintf(out, "largest violation of a loop: %.2g (m or rad)\n", result.violation);
  print_errors(&result, &machine->plant, out);
  if (steps.divided)
    fprintf(out,
            "steps made in parts: %llu, up to %u parts; of them did not converge whole: %llu, beyond the "
            "tolerance "
            "still: %llu\n",
            (unsigned long long)steps.divided, (unsigned)steps.most_parts,
            (unsigned long long)steps.unconverged, (unsigned long long)steps.coarse);
  if (steps.partitioned)
    fprintf(out,
            "steps in independent coordinates, near singular poses or since they did not converge: %llu\n",
            (unsigned long long)steps.partitioned);
  const bramah_energy *e = &result.energy;
  fprintf(out, "energy balance: error at most %.3g J of %.4g J turned over (limit %.3g J)\n", e->largest,
          e->turnover, e->limit);
  static const char *const parts[] = {"actuators and motions did",
                                      "loads did",
                                      "dampers took",
                                      "friction took",
                                      "end stops took",
                                      "contacts took"};
  const double values[] = {e->work, e->loads, e->dampers, e->friction, e->stops, e->contacts};
  const char *between = "  ";
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    if (values[i] == 0.0) continue;
    fprintf(out, "%s%s %.4g J", between, parts[i], values[i]);
    between = ", ";
  }
  if (between[0] == ',') fprintf(out, "\n");
  print_touches(machine, out);
  const int whole = !machine->site || print_soil(machine, soil, out);
  if (o->truth) fprintf(out, "truth: %s\n", o->truth);
  if (r->how) cli_print_how(machine, &steps, out);
  if (result.sensors)
    fprintf(out, "noisy log of %zu sensors, seed %llu: %s\n", result.n_sensors, (unsigned long long)o->seed,
            r->log);
  for (size_t i = 0; i < result.n_sensors; i++) {
    const bramah_simulated_sensor s = result.sensors[i];
    if (s.saturated)
      fprintf(out, "%s: %llu of %llu samples are at the ends of its range\n", s.name,
              (unsigned long long)s.saturated, (unsigned long long)s.samples);
  }
  const int balanced = e->largest <= e->limit;
  if (!balanced)
    fprintf(out,
            "the energies do not add up: %.3g J too much from one row to the next at %.9g s; take smaller "
            "steps\n",
            e->leap, cli_seconds(e->leap_ns));
  return !print_limits(&result, machine->coupled, out) && balanced && whole;
}

/* The page; the summary has said what is wrong in more words. */
static bramah_status write_page(cli_simulate_page *page, const request *r,
                                const bramah_simulation *simulation, int trusted, bramah_diag *diag)
{
  const bramah_simulation_result result = bramah_simulation_get_result(simulation);
  const char *doubt = trusted ? NULL : "Soil was lost, or wedges could not fail for want of particles.";
  if (result.energy.largest > result.energy.limit) doubt = "The energies do not add up: take smaller steps.";
  for (int k = 0; k < BRAMAH_N_LIMITS; k++)
    if (result.limit[k].n) doubt = "It goes beyond a physical limit: the program's summary says which.";
  return cli_simulate_page_write(page, r->report, doubt, diag);
}

/* ---- by the clock ---- */

/* What has come from who drives goes before what the machine plans. */
static bramah_status give_commands(void *user, int64_t time_ns, double *u, bramah_diag *diag)
{
  live *l = user;
  const double now = cli_clock();
  bramah_control control;
  (void)time_ns, (void)diag;
  while (bramah_control_receive(l->control, &control)) {
    const double v = control.value;
    if (control.kind == BRAMAH_CONTROL_DRIVE) bramah_levers_move(&l->levers, &control, now);
    if (control.kind == BRAMAH_CONTROL_PLUG && l->simulation)
      bramah_simulation_unplug(l->simulation, (size_t)(v < 0.0 ? -1.0 - v : v), v >= 0.0);
  }
  bramah_levers_at(&l->levers, now, u);
  return BRAMAH_OK;
}

/* Measurements go to the port, commands come from the one behind it. */
static bramah_status open_live(request *r, const bramah_machine_plant *machine, bramah_diag *diag)
{
  live *l = &r->live;
  bramah_study *study = NULL;
  const bramah_model_info info = bramah_model_get_info(machine->model);
  bramah_status status = bramah_sender_open(l->port, diag, &l->sender, &l->fd);
  if (status) return status;
  snprintf(l->path, sizeof l->path, "/dev/fd/%d", l->fd);
  r->options.log = l->path;
  if (!l->drive) return BRAMAH_OK;
  status = bramah_soil_view_new(machine, diag, &l->soil);
  if (status) return status;
  status = bramah_study_load(r->options.study, 0, NULL, diag, &study);
  if (!status && study->display_file) status = bramah_display_load(study->display_file, diag, &l->file);
  if (!status) status = bramah_levers_of(l->file, info.n_inputs, info.input_names, diag, &l->levers);
  if (!status) status = bramah_control_socket(l->port + 1, 0, diag, &l->control);
  r->options.commands = give_commands;
  r->options.user = l;
  bramah_study_free(study);
  return status;
}

static void close_live(live *l)
{
  if (l->fd >= 0) close(l->fd);
  if (l->control >= 0) close(l->control);
  bramah_sender_close(l->sender);
  bramah_soil_view_free(l->soil);
  bramah_display_file_free(l->file);
}

/* What its soil does, 30 times a second of the simulation, for who shows it. */
static void tell_soil(live *l, int64_t now)
{
  char text[BRAMAH_DISPLAY_SOIL];
  if (!l->soil || now < l->next_soil) return;
  l->next_soil = now + INT64_C(33333333);
  const size_t n = bramah_soil_view_text(l->soil, text, sizeof text);
  if (n < sizeof text) bramah_sender_say(l->sender, text, n);
}

/* Until the clock is where the simulation is. One that is too slow goes on from where it is: its clock is the slower one. */
static bramah_status keep_pace(live *l, int64_t now, bramah_diag *diag)
{
  double ahead = l->begin + cli_seconds(now - l->begin_ns) - cli_clock();
  if (ahead < -1.0) {
    if (!l->told_slow)
      cli_note("this computer is too slow for real time: the simulation's clock goes %.2g times as fast",
               cli_seconds(now - l->begin_ns) / (cli_clock() - l->begin));
    l->told_slow = 1;
  }
  if (ahead < -1.0 || !l->begin_ns) {
    l->begin = cli_clock();
    l->begin_ns = now;
  }
  if (ahead < 1e-3) return BRAMAH_OK;
  const bramah_status status = bramah_simulation_flush(l->simulation, diag);
  const struct timespec so_long = {.tv_nsec = (long)(1e9 * fmin(ahead, 0.1))};
  nanosleep(&so_long, NULL);
  return status;
}

/* What is not quite as asked for: the nearest multiples of the step. */
static void note_nearest(const request *r, const bramah_machine_plant *machine,
                         const bramah_simulation *simulation)
{
  const bramah_simulation_result result = bramah_simulation_get_result(simulation);
  if (!r->study || !r->study->n_simulated) cli_note_changes(result.n_changes, result.changes);
  for (size_t i = 0; i < result.n_sensors; i++) {
    const bramah_simulated_sensor s = result.sensors[i];
    if (s.period_ns != s.wanted_period_ns)
      cli_note("%s: sampled every %.9g s instead of %.9g s, the nearest multiple of the step", s.name,
               cli_seconds(s.period_ns), cli_seconds(s.wanted_period_ns));
    if (s.delay_ns != s.wanted_delay_ns)
      cli_note("%s: delayed by %.9g s instead of %.9g s, the nearest multiple of the step", s.name,
               cli_seconds(s.delay_ns), cli_seconds(s.wanted_delay_ns));
  }
  if (r->duration_ns != INT64_MAX && r->duration_ns % machine->plant.step_ns)
    cli_note("the duration is not a multiple of the step: the last row is at %.9g s",
             cli_seconds(r->duration_ns - r->duration_ns % machine->plant.step_ns));
}

/* *trusted: 0 if the motion is none that a machine makes. */
static bramah_status simulate(request *r, const cli_arguments *arguments, int *trusted, bramah_diag *diag)
{
  bramah_machine_plant machine = {0};
  bramah_simulation *simulation = NULL;
  cli_simulate_page *page = NULL;
  const char *text;
  bramah_timed_parameter *parameters = calloc((size_t)arguments->n_given + 1, sizeof *parameters);
  const char *const others[] = {r->machine, r->options.study, r->options.log};
  bramah_status status = parameters ? BRAMAH_OK : cli_no_memory(diag);
  if (!status) status = cli_check_output(r->options.truth, 3, others, diag);
  if (!status) status = cli_check_output(r->options.log, 2, others, diag);
  if (!status) status = cli_check_output(r->report, 3, others, diag);
  if (!status)
    status = bramah_machine_plant_open(&machine, r->machine, r->n_changes, r->changes, r->step_ns, diag);
  if (!status) status = bramah_machine_plant_dig(&machine, diag);
  if (!status && r->options.process_noise)
    status = bramah_machine_plant_compile(&machine, BRAMAH_PROGRAM_DERIVATIVES, 0, NULL, diag);
  r->options.parameters = parameters;
  if (!status) bramah_diag_clear(diag);
  while (!status && (text = cli_value_again(arguments, "parameter", r->options.n_parameters))) {
    status = read_parameter(&machine.plant, text, &parameters[r->options.n_parameters++], diag);
    if (!status) continue;
    cli_place(diag, "--parameter", 0);
    if (!diag->thing[0]) snprintf(diag->thing, sizeof diag->thing, "%s", text);
  }
  if (!status && r->report) status = cli_simulate_page_new(&machine, diag, &page);
  if (!status && r->live.port) status = open_live(r, &machine, diag);
  if (!status) status = bramah_simulation_new(&machine, &r->options, diag, &simulation);
  if (!status) {
    note_nearest(r, &machine, simulation);
    const double begin = cli_clock(), soil = machine.site ? soil_mass(&machine) : 0.0;
    cli_progress progress = cli_progress_begin();
    int64_t now = 0;
    cli_stop_catch(1);
    r->live.simulation = simulation;
    r->live.begin = begin;
    for (; !status && !cli_stop_signal() && now <= r->duration_ns; now += machine.plant.step_ns) {
      status = bramah_simulation_next(simulation, diag);
      if (!status) tell_soil(&r->live, now);
      if (!status && r->live.port) status = keep_pace(&r->live, now, diag);
      if (!status && page) status = cli_simulate_page_row(page, cli_seconds(now), diag);
      cli_progress_time(&progress, now, r->duration_ns != INT64_MAX ? r->duration_ns : 0);
    }
    cli_progress_end(&progress);
    if (!status && cli_stop_signal())
      cli_note("stopped by %s after t = %.9g s; the rows up to there are complete", cli_stop_name(),
               cli_seconds(now - machine.plant.step_ns));
    cli_place(diag, status ? r->machine : NULL, 0);
    bramah_diag other; /* rows written stay written, whatever happened */
    *trusted = print_summary(simulation, &machine, r, soil, cli_clock() - begin);
    if (page && !status) status = write_page(page, r, simulation, *trusted, diag);
    const bramah_status closed = bramah_simulation_close(simulation, status ? &other : diag);
    if (!status) status = closed;
  }
  close_live(&r->live);
  cli_simulate_page_free(page);
  bramah_machine_plant_close(&machine);
  free(parameters);
  return status;
}

/* Where the log goes, whether by the clock, and what must be given then. */
static int read_live(const cli_arguments *arguments, request *r)
{
  const cli_command *command = arguments->command;
  const bramah_simulation_options *o = &r->options;
  char *end = NULL;
  r->live.drive = cli_value(arguments, "drive") != NULL;
  r->log = o->log;
  if (o->log && strncmp(o->log, "udp:", 4) == 0) {
    const unsigned long port = strtoul(o->log + 4, &end, 10);
    if (o->log[4] < '0' || o->log[4] > '9' || *end || port < 1 || port > 65534)
      return cli_wrong_use(command, "--log: '%s' is not udp: and a port from 1 to 65534", o->log);
    r->live.port = (int)port;
    if (!r->duration_ns) r->duration_ns = INT64_MAX;
  } else {
    if (r->live.drive)
      return cli_wrong_use(command, "--drive is for a simulation by the clock: --log udp:PORT");
    if (!cli_value(arguments, "duration")) return cli_wrong_use(command, "option '--duration' is missing");
    if (!o->truth) return cli_wrong_use(command, "option '--output' is missing");
  }
  return 0;
}

/* A study: its machine, as it is simulated in place of a real one, at the step of its filter; and its sensors. */
static bramah_status read_study(request *r, bramah_diag *diag)
{
  if (bramah_file_kind_of(r->machine) != BRAMAH_FILE_STUDY) return BRAMAH_OK;
  const bramah_status status = bramah_study_load(r->machine, 0, NULL, diag, &r->study);
  if (status) return status;
  if (r->study->plant.line)
    return cli_fail(diag, BRAMAH_E_UNSUPPORTED, r->machine, r->study->plant.line, "plant",
                    "a simulation needs a machine file; the plant of this study is an FMU");
  if (r->options.log) r->options.study = r->machine;
  r->machine = r->study->machine_file;
  bramah_change *changes =
      calloc(r->study->n_changes + r->study->n_simulated + r->n_changes + 1, sizeof *changes);
  if (!changes) return cli_no_memory(diag);
  size_t n = 0;
  for (size_t i = 0; i < r->study->n_changes; i++)
    if (strcmp(r->study->changes[i].path, "integrator.step") == 0) changes[n++] = r->study->changes[i];
  for (size_t i = 0; i < r->study->n_simulated; i++) changes[n++] = r->study->simulated[i];
  for (size_t i = 0; i < r->n_changes; i++) changes[n++] = r->changes[i];
  free(r->changes);
  r->changes = changes;
  r->n_changes = n;
  return BRAMAH_OK;
}

static int run(const cli_arguments *arguments)
{
  request r = {.live = {.fd = -1, .control = -1}};
  bramah_diag diag;
  const cli_command *command = arguments->command;
  bramah_simulation_options *o = &r.options;
  r.machine = arguments->operands[0];
  bramah_simulation_options_default(o);
  o->truth = cli_value(arguments, "output");
  o->study = cli_value(arguments, "noise");
  o->log = cli_value(arguments, "log");
  o->columns = cli_value(arguments, "columns");
  o->process_noise = cli_value(arguments, "process-noise") != NULL;
  r.report = cli_value(arguments, "report");
  r.how = cli_value(arguments, "how") != NULL;
  int code = cli_value(arguments, "duration") ? cli_time_value(arguments, "duration", &r.duration_ns) : 0;
  if (!code) code = cli_time_value(arguments, "step", &r.step_ns);
  if (!code) code = cli_count_value(arguments, "seed", 0, &o->seed);
  if (!code) code = read_live(arguments, &r);
  if (code) return code;
  const int is_study = bramah_file_kind_of(r.machine) == BRAMAH_FILE_STUDY;
  if (is_study && o->study)
    return cli_wrong_use(command, "a study has its sensors: --noise is for a machine");
  if (is_study && o->log) o->study = r.machine;
  if (o->study && !o->log)
    return cli_wrong_use(command, "--noise needs --log: the file for the noisy measurements");
  if (o->log && !o->study)
    return cli_wrong_use(command, "--log needs --noise: the study that describes the sensors");
  if (cli_value(arguments, "seed") && !o->study)
    return cli_wrong_use(command, "--seed means nothing without --noise");
  if (o->process_noise && !o->study)
    return cli_wrong_use(command, "--process-noise needs --noise: the study that says how much");

  /* Changes of the machine file: PATH=VALUE, cut at the sign. */
  char **paths = calloc((size_t)arguments->n_given + 1, sizeof *paths);
  r.changes = calloc((size_t)arguments->n_given + 1, sizeof *r.changes);
  if (!paths || !r.changes) code = CLI_FAILED;
  for (const char *text; !code && (text = cli_value_again(arguments, "set", r.n_changes));) {
    const char *equals = strchr(text, '=');
    char **path = &paths[r.n_changes];
    if (!equals || equals == text || !equals[1]) {
      code = cli_wrong_use(command, "--set: '%s' is not of the form PATH=VALUE", text);
    } else if (!(*path = strdup(text))) {
      code = CLI_FAILED;
    } else {
      (*path)[equals - text] = '\0';
      r.changes[r.n_changes++] = (bramah_change){.path = *path, .value = equals + 1, .file = "--set"};
    }
  }
  int trusted = 1;
  if (!code && read_study(&r, &diag)) code = cli_report(&diag);
  if (!code && simulate(&r, arguments, &trusted, &diag)) code = cli_report(&diag);
  if (!code && !trusted) code = CLI_UNTRUSTED;
  for (size_t i = 0; paths && i < r.n_changes; i++) free(paths[i]);
  free(paths);
  free(r.changes);
  bramah_study_free(r.study);
  return code;
}

static const cli_option options[] = {
    {"duration", "TIME",
     "simulated time: seconds, or \"10 s\"\nWithout it, with --log udp:PORT, until Ctrl-C.", 0, 0},
    {"output", "FILE", "true motion: CSV, MAT, MDF 4, MCAP; - is stdout", 0, 0},
    {"step", "TIME", "time step, \"1 ms\"; else that of the machine", 0, 0},
    {"columns", "NAMES",
     "which outputs to write: 'crank.*,p1'\nNames with commas between them, * for any text; otherwise all.",
     0, 0},
    {"set", "PATH=VALUE", "another value for a key of the machine file", 0, 1},
    {"parameter", "NAME=VALUE",
     "set a parameter, \"boom.payload=10 kg@2 s\"\nOf the plant, at a time (@) or at the start. A value "
     "without unit is in SI; 'bramah check MACHINE --parameters' lists what can be set.",
     0, 1},
    {"report", "FILE", "HTML page: motion, and the ground from above", 0, 0},
    {"noise", "STUDY", "also write a noisy log with its sensors", 0, 0},
    {"process-noise", NULL, "with the process noise that the study assumes", 0, 0},
    {"seed", "N", "of the noise; default 1", 0, 0},
    {"log", "FILE",
     "the noisy log, likewise; or udp:PORT\nAs datagrams, to `serve --from udp:PORT` on this computer: the "
     "simulation then goes by the "
     "clock.",
     0, 0},
    {"drive", NULL,
     "commands come from PORT + 1, behind udp:PORT\nFrom `serve --drive`, by the levers of the study's "
     "display, which are in neutral while nobody drives.",
     0, 0},
    CLI_HOW,
    {0}};

const cli_command cli_simulate = {
    .name = "simulate",
    .operands = "MACHINE|STUDY",
    .summary = "Simulate a machine: true motion and, on request, noisy measurements",
    .details =
        "Starts from the initial state of the machine, applies the commands planned in its file and writes\n"
        "a row per step: time, motion of the joints, pressures, cylinders, commands, energies.\n"
        "With --noise a second file holds what the sensors of a study would have measured; the same\n"
        "seed gives the same bytes, and the noise of a sensor does not depend on the other sensors.\n"
        "Where the machine has a terrain, its soil moves: tyres sink in, tools cut and carry.\n"
        "Exit code 3: the motion is none that a machine makes, a pressure below that of vapour, a piston\n"
        "behind the end of its cylinder, energies that do not add up to 1 %, soil that is lost, or tools "
        "that\n"
        "met more of it than particles are allowed for.\n"
        "Changes that a study makes to the machine belong to the filter's model: they are not applied\n"
        "here. Of a study in place of a machine its machine is simulated, as its section `simulated` has it, "
        "and\n"
        "seen by its sensors.\n",
    .example = "bramah simulate four-bar.yaml --duration \"10 s\" --output truth.csv \\\n"
               "    --noise sensors-2.yaml --seed 1 --log log.csv",
    .min_operands = 1,
    .max_operands = 1,
    .options = options,
    .run = run};
