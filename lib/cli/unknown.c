/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/unknown.h"
#include "lib/cli/message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

static int make_room(cli_row_queue *q)
{
  if (q->n < q->room) return 1;
  const size_t room = 2 * q->room + 8;
  int64_t *time_ns = realloc(q->time_ns, room * sizeof *time_ns);
  if (time_ns) q->time_ns = time_ns;
  double *value = realloc(q->value, room * (q->width + 1) * sizeof *value);
  if (value) q->value = value;
  unsigned char *given = realloc(q->given, room * (q->width + 1));
  if (given) q->given = given;
  if (!time_ns || !value || !given) return 0;
  q->room = room;
  return 1;
}

static bramah_status keep(cli_row_queue *q, const bramah_sample *sample, bramah_diag *diag)
{
  if (!make_room(q)) return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  const size_t n_sensors = q->width - q->n_inputs;
  double *value = q->value + q->n * q->width;
  unsigned char *given = q->given + q->n * q->width;
  q->time_ns[q->n++] = sample->time_ns;
  memcpy(value, sample->inputs, q->n_inputs * sizeof *value);
  memcpy(value + q->n_inputs, sample->y, n_sensors * sizeof *value);
  memcpy(given, sample->has_input, q->n_inputs);
  memcpy(given + q->n_inputs, sample->present, n_sensors);
  return BRAMAH_OK;
}

bramah_status cli_unknown_next(void *user, bramah_sample *sample, int *end, bramah_diag *diag)
{
  cli_unknown *unknown = user;
  const bramah_status status = unknown->source(unknown->source_user, sample, end, diag);
  if (status || *end || !unknown->filter) return status;
  return keep(&unknown->queue, sample, diag);
}

static void drop_first(cli_row_queue *q)
{
  q->n--;
  memmove(q->time_ns, q->time_ns + 1, q->n * sizeof *q->time_ns);
  memmove(q->value, q->value + q->width, q->n * q->width * sizeof *q->value);
  memmove(q->given, q->given + q->width, q->n * q->width);
}

/* bramah_source of the second filter: the oldest row kept. It looks as far ahead as the first. */
static bramah_status take_row(void *user, bramah_sample *sample, int *end, bramah_diag *diag)
{
  cli_row_queue *q = &((cli_unknown *)user)->queue;
  const size_t n_sensors = q->width - q->n_inputs;
  (void)diag;
  *end = q->n == 0;
  if (*end) return BRAMAH_OK;
  sample->time_ns = q->time_ns[0];
  memcpy(sample->inputs, q->value, q->n_inputs * sizeof *q->value);
  memcpy(sample->y, q->value + q->n_inputs, n_sensors * sizeof *q->value);
  memcpy(sample->has_input, q->given, q->n_inputs);
  memcpy(sample->present, q->given + q->n_inputs, n_sensors);
  drop_first(q);
  return BRAMAH_OK;
}

/* ---- second filter ---- */

/* The unknown commands are the first augmented states: the second filter has the others. */
static bramah_status make_filter(cli_unknown *unknown, const bramah_replay_options *replay, bramah_diag *diag)
{
  const bramah_session *session = unknown->session;
  bramah_filter_options options = bramah_session_filter_options(session);
  options.augmented += unknown->n;
  options.n_augmented -= unknown->n;
  bramah_status status = bramah_coupled_new(bramah_session_model(session), diag, &unknown->coupled);
  if (!status) status = bramah_session_start(session, unknown->coupled, diag);
  if (status) return status;
  unknown->plant = bramah_coupled_plant(unknown->coupled);
  bramah_coupled_set_injection(unknown->coupled, (bramah_injection)bramah_session_study(session)->injection);
  status = bramah_filter_new(&unknown->plant, bramah_session_n_sensors(session),
                             bramah_session_sensors(session), &options, diag, &unknown->filter);
  if (status) return status;
  return bramah_replay_new(unknown->filter, replay, take_row, unknown, diag, &unknown->replay);
}

static bramah_status make_arrays(cli_unknown *unknown, bramah_diag *diag)
{
  const bramah_plant *plant = bramah_session_plant(unknown->session);
  unknown->queue.n_inputs = plant->n_input;
  unknown->queue.width = plant->n_input + bramah_session_n_sensors(unknown->session);
  unknown->parameter = calloc(unknown->n, sizeof *unknown->parameter);
  for (int side = 0; side < 2; side++)
    unknown->sum[side] = calloc(plant->n_output + 1, sizeof *unknown->sum[side]);
  if (!unknown->parameter || !unknown->sum[0] || !unknown->sum[1])
    return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  for (size_t k = 0; k < unknown->n; k++)
    unknown->parameter[k] =
        (size_t)bramah_plant_find_parameter(plant, bramah_session_study(unknown->session)->augmented[k].at);
  return BRAMAH_OK;
}

bramah_status cli_unknown_open(cli_unknown *unknown, const bramah_session *session,
                               const bramah_replay_options *options, bramah_source source, void *source_user,
                               bramah_diag *diag)
{
  const bramah_study *study = bramah_session_study(session);
  *unknown = (cli_unknown){
      .session = session, .source = source, .source_user = source_user, .ended_at = (double)NAN};
  unknown->n = bramah_study_n_unknown_inputs(study);
  if (unknown->n == 0) return BRAMAH_OK;
  const bramah_status status = make_arrays(unknown, diag);
  return status ? status : make_filter(unknown, options, diag);
}

static void end_filter(cli_unknown *unknown)
{
  bramah_replay_free(unknown->replay);
  bramah_filter_free(unknown->filter);
  bramah_coupled_free(unknown->coupled);
  unknown->replay = NULL;
  unknown->filter = NULL;
  unknown->coupled = NULL;
}

void cli_unknown_close(cli_unknown *unknown)
{
  end_filter(unknown);
  free(unknown->queue.time_ns);
  free(unknown->queue.value);
  free(unknown->queue.given);
  free(unknown->parameter);
  free(unknown->sum[0]);
  free(unknown->sum[1]);
}

/* ---- steps ---- */

/* What the first filter knows now holds over the second one's next step. Noise that adapts is the same for
 * both. */
static bramah_status tell(cli_unknown *unknown, const bramah_filter *first, bramah_diag *diag)
{
  const bramah_plant *from = bramah_filter_plant(first), *to = &unknown->plant;
  bramah_status status = BRAMAH_OK;
  for (size_t k = 0; !status && k < unknown->n; k++) {
    const size_t p = unknown->parameter[k];
    status = to->set_parameter(to->self, p, from->parameter(from->self, p), diag);
  }
  if (status || !bramah_session_study(unknown->session)->adapt.line) return status;
  status = bramah_filter_set_noise(unknown->filter, bramah_filter_acceleration_noise(first),
                                   bramah_filter_first_order_noise(first), diag);
  for (size_t i = 0; !status && i < bramah_filter_n_sensors(first); i++)
    status = bramah_filter_set_sensor_sigma(unknown->filter, i, bramah_filter_sensor(first, i)->sigma, diag);
  return status;
}

static void add_sigmas(cli_unknown *unknown, const cli_estimate *estimate)
{
  for (size_t c = 0; c < estimate->n_outputs; c++) {
    const size_t i = estimate->outputs[c];
    const double sigma =
        estimate->has_sigma[i] ? bramah_filter_output_sigma(estimate->filter, i) : (double)NAN;
    if (isnan(sigma)) continue; /* a command itself */
    unknown->sum[0][i] += sigma;
    unknown->sum[1][i] += bramah_filter_output_sigma(unknown->filter, i);
  }
  for (size_t k = 0; k < unknown->n; k++)
    unknown->sum[0][estimate->shown_as[k]] += bramah_filter_augmented_sigma(estimate->filter, k);
  unknown->count++;
}

void cli_unknown_step(cli_unknown *unknown, const cli_estimate *estimate, double t)
{
  bramah_diag diag;
  int64_t time_ns;
  int corrected, end = 0;
  if (!unknown->filter) return;
  bramah_diag_clear(&diag);
  bramah_status status = bramah_replay_next(unknown->replay, &time_ns, &corrected, &end, &diag);
  if (!status && !end) status = tell(unknown, estimate->filter, &diag);
  if (!status && !end) {
    add_sigmas(unknown, estimate);
    return;
  }
  unknown->ended_at = t;
  if (status) cli_note("the filter with known commands ends at t = %.9g s: %s", t, diag.message);
  end_filter(unknown);
}

/* ---- snapshots ---- */

/* Between two steps both filters have taken the same rows: the queue is empty. */
void cli_unknown_save(const cli_unknown *unknown, cli_snapshot *snapshot)
{
  const size_t n_output = unknown->session ? bramah_session_plant(unknown->session)->n_output : 0;
  if (!unknown->filter) return;
  void *replay = cli_snapshot_add(snapshot, "known replay", bramah_replay_snapshot_size(unknown->replay));
  if (replay) bramah_replay_save(unknown->replay, replay);
  cli_snapshot_put(snapshot, "known count", &unknown->count, sizeof unknown->count);
  cli_snapshot_put(snapshot, "unknown sigmas", unknown->sum[0], n_output * sizeof *unknown->sum[0]);
  cli_snapshot_put(snapshot, "known sigmas", unknown->sum[1], n_output * sizeof *unknown->sum[1]);
}

static int take(const cli_snapshot *snapshot, const char *name, void *out, size_t n)
{
  size_t size;
  const void *from = cli_snapshot_find(snapshot, name, &size);
  if (!from || size != n) return 0;
  if (n) memcpy(out, from, n);
  return 1;
}

bramah_status cli_unknown_resume(cli_unknown *unknown, const cli_snapshot *snapshot, bramah_diag *diag)
{
  size_t size;
  const void *replay = cli_snapshot_find(snapshot, "known replay", &size);
  if (!unknown->filter) return BRAMAH_OK;
  if (!replay) { /* it had ended before */
    end_filter(unknown);
    return BRAMAH_OK;
  }
  const size_t bytes = bramah_session_plant(unknown->session)->n_output * sizeof *unknown->sum[0];
  if (size != bramah_replay_snapshot_size(unknown->replay) ||
      !take(snapshot, "known count", &unknown->count, sizeof unknown->count) ||
      !take(snapshot, "unknown sigmas", unknown->sum[0], bytes) ||
      !take(snapshot, "known sigmas", unknown->sum[1], bytes))
    return cli_fail(diag, BRAMAH_E_VALUE, NULL, 0, NULL,
                    "the filter with known commands in the snapshot does not fit this study");
  if (bramah_replay_restore(unknown->replay, replay) == BRAMAH_OK) return BRAMAH_OK;
  return cli_fail(diag, BRAMAH_E_VALUE, NULL, 0, NULL,
                  "the filter with known commands in the snapshot is of another study, or damaged");
}

/* ---- table ---- */

static void add_line(cli_table *table, const cli_unknown *unknown, const bramah_plant *plant, size_t i)
{
  bramah_output_info info;
  plant->output_info(plant->self, i, &info);
  const cli_readable unit = cli_readable_unit(info.unit);
  const double n = (double)unknown->count, sigma = unknown->sum[0][i] / n, known = unknown->sum[1][i] / n;
  const int is_command = !info.has_row;
  cli_table_add(table, "%s", info.name);
  cli_table_add(table, "%s", unit.unit);
  cli_table_add_number(table, unit.factor * sigma);
  cli_table_add_number(table, is_command ? (double)NAN : unit.factor * known);
  cli_table_add_number(table, is_command ? (double)NAN : sigma / known);
}

cli_table cli_unknown_table(const cli_unknown *unknown, const cli_estimate *estimate)
{
  static const char *const header[] = {"output", "unit", "unknown commands", "known", "factor"};
  cli_table table = cli_table_make("What unknown commands cost (mean standard deviations; known: a second "
                                   "filter, told the estimated commands)",
                                   "llrrr", header);
  for (size_t c = 0; unknown->count && c < estimate->n_outputs; c++)
    if (estimate->has_sigma[estimate->outputs[c]])
      add_line(&table, unknown, estimate->plant, estimate->outputs[c]);
  return table;
}

/* ---- for programs ---- */

static void put_line(cli_json *json, const cli_unknown *unknown, const bramah_plant *plant, size_t i)
{
  bramah_output_info info;
  plant->output_info(plant->self, i, &info);
  const double n = (double)unknown->count;
  cli_json_open(json, NULL, '{');
  cli_json_text(json, "output", info.name);
  cli_json_text(json, "unit", info.unit);
  cli_json_number(json, "sigma", unknown->sum[0][i] / n);
  cli_json_number(json, "sigma_known", info.has_row ? unknown->sum[1][i] / n : (double)NAN);
  cli_json_close(json, '}');
}

void cli_unknown_json(const cli_unknown *unknown, const cli_estimate *estimate, cli_json *json)
{
  if (!unknown->n) return;
  cli_json_open(json, "unknown_commands", '[');
  for (size_t c = 0; unknown->count && c < estimate->n_outputs; c++)
    if (estimate->has_sigma[estimate->outputs[c]])
      put_line(json, unknown, estimate->plant, estimate->outputs[c]);
  cli_json_close(json, ']');
}
