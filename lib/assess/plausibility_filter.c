/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sensors of a log against each other where commands are unknown and no model can run alone: the filter of the study
 * runs over the first rows, and if its innovations are far too large, again with the sign of one sensor changed, or two
 * sensors exchanged. What makes their mean NIS nine times smaller is named, all that do so alike. */
#define _POSIX_C_SOURCE 200809L /* locale_t */
#include "lib/assess/plausibility.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 2000 };
static const double bad = 50.0, better = 9.0, alike = 3.0;

/* Rows as a source, with what is tried: two sensors exchanged, or one (both equal) with the other sign. */
typedef struct tried_rows {
  const bramah__look *look;
  size_t row, first, second; /* sensors; SIZE_MAX: as they are */
  double about;              /* value about which the sign changes */
} tried_rows;

static bramah_status next_row(void *user, bramah_sample *sample, int *end, bramah_diag *diag)
{
  tried_rows *t = user;
  const bramah__look *look = t->look;
  (void)diag;
  *end = t->row == look->n_kept || t->row == MOST_ROWS;
  if (*end) return BRAMAH_OK;
  const double *row = &look->value[t->row * look->n_slots];
  sample->time_ns = look->time_ns[t->row++];
  for (size_t k = 0; k < look->n_inputs; k++) {
    sample->inputs[k] = row[k];
    sample->has_input[k] = 1;
  }
  for (size_t i = 0; i < look->n_slots - look->n_inputs; i++) {
    const size_t from = i == t->first ? t->second : i == t->second ? t->first : i;
    const double y = row[look->n_inputs + from];
    sample->present[i] = (unsigned char)!isnan(y);
    sample->y[i] = i == t->first && t->first == t->second ? 2.0 * t->about - y : y;
  }
  return BRAMAH_OK;
}

/* Mean NIS per degree of freedom over the rows; infinite where the filter cannot go on. */
static double nis_of(const bramah__look *look, tried_rows tried)
{
  bramah_session *clone = NULL;
  bramah_replay *replay = NULL;
  bramah_replay_options options;
  bramah_diag ignored;
  double sum = 0.0, dof = 0.0;
  bramah_replay_options_default(&options);
  options.gather = 1;
  bramah_status status = bramah_session_clone(look->session, &ignored, &clone);
  if (!status)
    status = bramah_replay_new(bramah_session_filter(clone), &options, next_row, &tried, &ignored, &replay);
  for (int end = 0, corrected; !status && !end;) {
    int64_t time_ns;
    status = bramah_replay_next(replay, &time_ns, &corrected, &end, &ignored);
    if (status || end) break;
    const bramah_replay_report report = bramah_replay_get_report(replay);
    if (!report.nis_dof) continue;
    sum += fmin(report.nis, 1e4 * (double)report.nis_dof);
    dof += (double)report.nis_dof;
  }
  bramah_replay_free(replay);
  bramah_session_close(clone);
  return status || !(dof > 0.0) ? HUGE_VAL : sum / dof;
}

static double first_value(const bramah__look *look, size_t sensor)
{
  for (size_t row = 0; row < look->n_kept; row++) {
    const double y = look->value[row * look->n_slots + look->n_inputs + sensor];
    if (!isnan(y)) return y;
  }
  return 0.0;
}

static int may_turn(bramah_sensor_kind kind)
{
  return kind == BRAMAH_SENSOR_ENCODER || kind == BRAMAH_SENSOR_GYRO || kind == BRAMAH_SENSOR_STROKE ||
         kind == BRAMAH_SENSOR_INCLINOMETER;
}

void bramah__look_at_filter(bramah__look *look)
{
  enum { MOST_TRIED = 32 };
  const size_t n = look->n_slots - look->n_inputs;
  const bramah_sensor_options *sensors = look->study->sensors;
  tried_rows tried[MOST_TRIED];
  double nis[MOST_TRIED], best = HUGE_VAL;
  size_t n_tried = 0, named = SIZE_MAX;
  const double base = nis_of(look, (tried_rows){.look = look, .first = SIZE_MAX, .second = SIZE_MAX});
  if (!(base > bad)) return;
  for (size_t i = 0; i < n; i++)
    for (size_t k = i; k < n && n_tried < MOST_TRIED; k++) {
      if (k == i ? !may_turn(sensors[i].kind) : sensors[k].kind != sensors[i].kind) continue;
      /* The other sign goes with another offset: as it was at the first sample, or within the same range. */
      const bramah__column *c = &look->columns[look->n_inputs + i];
      const double abouts[2] = {sensors[i].kind == BRAMAH_SENSOR_GYRO ? 0.0 : first_value(look, i),
                                0.5 * (c->least + c->most)};
      const size_t n_abouts = k == i && sensors[i].kind != BRAMAH_SENSOR_GYRO ? 2 : 1;
      for (size_t a = 0; a < n_abouts && n_tried < MOST_TRIED; a++) {
        tried[n_tried] = (tried_rows){.look = look, .first = i, .second = k, .about = abouts[a]};
        nis[n_tried] = nis_of(look, tried[n_tried]);
        if (nis[n_tried] < best) {
          best = nis[n_tried];
          named = i;
        }
        n_tried++;
      }
    }
  if (!(best < base / better)) return;
  char text[400] = "";
  for (size_t i = 0; i < n_tried; i++) {
    const size_t used = strlen(text);
    const char *a = sensors[tried[i].first].name, *b = sensors[tried[i].second].name;
    if (nis[i] > alike * best) continue;
    if (tried[i].first == tried[i].second)
      snprintf(text + used, sizeof text - used,
               "%s%s has the other sign (%.3g; turn its sign in the study, and the offset with it)",
               used ? ", or if " : "", a, nis[i]);
    else
      snprintf(text + used, sizeof text - used, "%s%s and %s are exchanged (%.3g; exchange their columns)",
               used ? ", or if " : "", a, b, nis[i]);
  }
  bramah__doubt_column(look, BRAMAH_DOUBT_SIGN, 0, best / base, look->n_inputs + named,
                       "the sensors go with each other much better (mean NIS of %.3g so far) if %s", base,
                       text);
}
