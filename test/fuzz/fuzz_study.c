/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a study file: check and load agree; the sensors of what loads are bound to a plant and
 * measure, and its changes are applied to that plant's machine file. */
#include "bramah/units.h"
#include "sensors/kinds.h"
#include "lib/io/session.h"
#include "test/fuzz/four_bar.h"
#include "test/fuzz/fuzz.h"

#include <math.h>
#include <string.h>

static void check_sensor(const bramah_sensor_options *options, int lines)
{
  const bramah_plant *plant = fuzz_four_bar();
  bramah_sensor sensor;
  bramah_diag diag;
  bramah_diag_clear(&diag);
  const bramah_status status = bramah_sensor_init(options, plant, &diag, &sensor);
  if (status) {
    fuzz_check_diag(&diag, status, "", lines);
    return;
  }
  const double y = bramah_sensor_predict(&sensor, plant), shown = bramah_sensor_digitize(&sensor, y);
  FUZZ_CHECK(isfinite(y) && isfinite(shown), "%s measures %g and shows %g", options->name, y, shown);
  FUZZ_CHECK(bramah_sensor_variance(&sensor) >= 0.0, "%s: variance", options->name);
  FUZZ_CHECK(isfinite(bramah__sensor_innovation(&sensor, shown, y)), "%s: innovation", options->name);
  (void)bramah_sensor_is_saturated(&sensor, shown);
}

static void check_figure(const bramah_study_value *figure)
{
  double si;
  bramah_diag diag;
  bramah_diag_clear(&diag);
  if (figure->text && bramah_quantity_parse(figure->text, "N", &si, &diag))
    FUZZ_CHECK(diag.message[0], "'%s' is refused without a word", figure->text);
}

static void check_column(const bramah_study_column *column)
{
  FUZZ_CHECK(column->name && column->target, "a column without names");
  FUZZ_CHECK(column->sign == 0.0 || fabs(column->sign) == 1.0, "sign of '%s' is %g", column->name,
             column->sign);
  check_figure(&column->scale);
  check_figure(&column->offset);
  check_figure(&column->wrap);
}

static void check_time(const bramah_study_time *time)
{
  FUZZ_CHECK(fabs(time->drift) < 0.1, "drift is %g", time->drift);
  check_figure(&time->rate);
  check_figure(&time->wrap);
  check_figure(&time->offset);
}

/* What a reader of logs relies on. */
static void check_format(const bramah_log_format *format)
{
  FUZZ_CHECK(!format->decimal || strchr(".,", format->decimal), "decimal mark %d", format->decimal);
  FUZZ_CHECK(!format->delimiter || !strchr("\"#.+-[]0123456789", format->delimiter), "delimiter %d",
             format->delimiter);
  FUZZ_CHECK(format->skip >= 0, "skip %d", format->skip);
}

static void check_log(const bramah_study *study)
{
  const bramah_study_log *log = &study->log;
  FUZZ_CHECK(log->reorder_ns >= 0 && log->longest_gap_ns >= 0 && log->atmosphere >= 0.0, "log");
  check_format(&log->format);
  check_time(&study->time);
  for (size_t i = 0; i < log->n_files; i++) {
    FUZZ_CHECK(log->files[i].name && log->files[i].match, "file %zu", i);
    check_format(&log->files[i].format);
    check_time(&log->files[i].time);
  }
  for (size_t i = 0; i < study->n_inputs; i++) check_column(&study->inputs[i]);
  for (size_t i = 0; i < study->n_sensors; i++) check_column(&study->sensor_columns[i]);
}

static void check_study(const bramah_study *study, int lines)
{
  check_log(study);
  FUZZ_CHECK(study->name && study->machine_file && study->time_column && study->file,
             "a study without names");
  for (size_t i = 0; i < study->n_sensors; i++) {
    FUZZ_CHECK(study->sensor_columns[i].name && study->gate[i] >= 0.0, "sensor %zu", i);
    check_sensor(&study->sensors[i], lines);
  }
  for (size_t i = 0; i < study->n_augmented; i++) {
    const bramah_study_augmented *a = &study->augmented[i];
    FUZZ_CHECK(a->name && a->at && a->order >= 0 && a->order <= 2, "augmented %zu", i);
    check_figure(&a->sigma);
    check_figure(&a->noise);
    check_figure(&a->least);
    check_figure(&a->most);
  }
  for (size_t i = 0; i < study->uncertainty.n; i++) {
    const bramah_study_uncertain *u = &study->uncertainty.parameters[i];
    FUZZ_CHECK(u->name && u->share >= 0.0 && isfinite(u->share), "uncertain %zu", i);
    check_figure(&u->sigma);
  }
  for (size_t i = 0; i < study->n_sensors; i++) {
    check_figure(&study->errors[i].bias.sigma);
    check_figure(&study->errors[i].drift.sigma);
    check_figure(&study->errors[i].gain.sigma);
    check_figure(&study->errors[i].delay.sigma);
  }
  for (size_t i = 0; i < study->n_parameter_noise; i++) check_figure(&study->parameter_noise[i].density);
  for (size_t i = 0; i < study->n_joints; i++)
    FUZZ_CHECK(study->joints[i].position_sigma > 0.0 && study->joints[i].rate_sigma > 0.0, "joint %zu", i);
  for (size_t i = 0; i < study->n_volumes; i++) FUZZ_CHECK(study->volumes[i].sigma > 0.0, "volume %zu", i);
}

/* A mistake stands in the study, or in the machine file where the change led to it. */
static void tell_change(void *user, const bramah_diag *diag)
{
  FUZZ_CHECK(diag->status != BRAMAH_OK && diag->message[0], "told without a mistake");
  ++*(int *)user;
}

static void check_changes(const bramah_study *study)
{
  bramah_machine *machine = NULL;
  bramah_diag diag;
  int mistakes = 0;
  const bramah_status load =
      bramah_machine_load(FUZZ_FOUR_BAR, study->n_changes, study->changes, &diag, &machine);
  const bramah_status check =
      bramah__machine_check(FUZZ_FOUR_BAR, study->n_changes, study->changes, tell_change, &mistakes);
  FUZZ_CHECK(load == check && (mistakes > 0) == (load != BRAMAH_OK), "load %s, check %s, %d mistakes",
             bramah_status_name(load), bramah_status_name(check), mistakes);
  bramah_machine_free(machine);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const char *path = fuzz_file(data, size);
  fuzz_mistakes mistakes = {.path = path, .lines = fuzz_lines(data, size)};
  bramah_study *study = NULL;
  bramah_diag diag;
  const bramah_status check = bramah__study_check(path, fuzz_tell, &mistakes);
  const bramah_status load = bramah_study_load(path, 0, NULL, &diag, &study);
  fuzz_check_agreement(&mistakes, check, load, &diag);
  if (!load) check_study(study, mistakes.lines);
  if (!load && study->n_changes) check_changes(study);
  bramah_study_free(study);
  return 0;
}
