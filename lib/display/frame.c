/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is shown at one time: taken from an assessment as numbers, then, on any thread, as text. */
#include "lib/assess/assess_internal.h"
#include "lib/display/display_parts.h"
#include "lib/io/fail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bramah_status bramah_display_frame_new(const bramah_display *display, bramah_diag *diag,
                                       bramah_display_frame **out)
{
  const size_t doubles = 2 * display->n_outputs + display->n_gauges + 14 * display->n_bodies;
  bramah_display_frame *frame = calloc(1, sizeof *frame);
  double *numbers = calloc(doubles + 1, sizeof *numbers);
  bramah_sensor_state *sensor = calloc(display->n_sensors + 1, sizeof *sensor);
  const int has_soil = display->soil.site != NULL;
  int *soil = has_soil ? calloc(BRAMAH__SOIL_NUMBERS, sizeof *soil) : NULL;
  if (!frame || !numbers || !sensor || (has_soil && !soil)) {
    free(frame);
    free(numbers);
    free(sensor);
    free(soil);
    return bramah__fail_memory(diag);
  }
  *frame = (bramah_display_frame){.n_outputs = display->n_outputs,
                                  .n_gauges = display->n_gauges,
                                  .n_sensors = display->n_sensors,
                                  .n_bodies = display->n_bodies,
                                  .value = numbers,
                                  .sensor = sensor,
                                  .has_soil = has_soil};
  bramah__soil_room(frame, soil);
  frame->sigma = frame->value + frame->n_outputs;
  frame->probability = frame->sigma + frame->n_outputs;
  frame->pose = frame->probability + frame->n_gauges;
  frame->model = frame->pose + 7 * frame->n_bodies;
  const bramah_status status =
      display->scenario ? bramah__scenario_results_new(display->scenario, &frame->scenario, diag) : BRAMAH_OK;
  if (status)
    bramah_display_frame_free(frame);
  else
    *out = frame;
  return status;
}

void bramah_display_frame_free(bramah_display_frame *frame)
{
  if (!frame) return;
  bramah__scenario_results_free(&frame->scenario);
  free(frame->value);
  free(frame->sensor);
  free(frame->cell);
  free(frame);
}

/* ---- taking ---- */

bramah_status bramah_display_take(bramah_display *display, bramah_display_frame *frame, bramah_diag *diag)
{
  bramah_assess *a = display->assess;
  const bramah_estimate *estimate = bramah_assess_estimate(a);
  frame->t = (double)estimate->time_ns / 1e9;
  for (size_t k = 0; k < frame->n_outputs; k++) {
    frame->value[k] = estimate->value[a->outputs[k].output];
    frame->sigma[k] = estimate->sigma[a->outputs[k].output];
  }
  for (size_t g = 0; g < frame->n_gauges; g++) {
    const size_t k = display->gauge[g].output;
    frame->probability[g] = bramah__gauge_probability(&display->gauge[g], frame->value[k], frame->sigma[k]);
  }
  for (size_t i = 0; i < frame->n_sensors; i++)
    frame->sensor[i] = bramah__look_at_sensor(display, &display->sensor[i], i, estimate->time_ns);
  bramah__scenario_take(display, &frame->scenario);
  if (frame->has_soil) bramah__soil_take(&display->soil, frame);

  bramah_skeleton pose = {.poses = frame->pose}, model = {.poses = frame->model};
  bramah_status status =
      bramah_coupled_skeleton(bramah_session_about(a->session)->machine->coupled, &pose, diag);
  frame->has_model =
      !status && a->model_runs && !bramah_coupled_skeleton(a->free_model.coupled, &model, diag);
  return status;
}

/* ---- texts ---- */

/* Cells in a row share a list: [number of the first, heights ...]. */
static void put_soil(bramah__json *json, const bramah_display_frame *frame)
{
  bramah__json_open(json, "soil", '{');
  bramah__json_open(json, "cells", '[');
  for (size_t k = 0; k < frame->n_cells; k++) {
    const int goes_on = k > 0 && frame->cell[k] == frame->cell[k - 1] + 1;
    if (k && !goes_on) bramah__json_close(json, ']');
    if (!goes_on) {
      bramah__json_open(json, NULL, '[');
      bramah__json_number(json, NULL, frame->cell[k]);
    }
    bramah__json_number(json, NULL, frame->height[k]);
  }
  if (frame->n_cells) bramah__json_close(json, ']');
  bramah__json_close(json, ']');
  bramah__json_open(json, "particles", '[');
  for (size_t k = 0; k < 3 * frame->n_particles; k++) bramah__json_number(json, NULL, frame->particle[k]);
  bramah__json_close(json, ']');
  bramah__json_close(json, '}');
}

size_t bramah_display_frame_text(const bramah_display *display, const bramah_display_frame *frame, char *out,
                                 size_t size)
{
  static const char *const states[] = {[BRAMAH_SENSOR_USED] = "used",
                                       [BRAMAH_SENSOR_REJECTED] = "rejected",
                                       [BRAMAH_SENSOR_LOST] = "lost",
                                       [BRAMAH_SENSOR_BIAS] = "bias",
                                       [BRAMAH_SENSOR_DOUBTFUL] = "doubtful"};
  bramah__json json = {.text = out, .size = size};
  (void)display;
  bramah__json_open(&json, NULL, '{');
  bramah__json_number(&json, "t", frame->t);
  bramah__json_numbers(&json, "values", frame->n_outputs, frame->value, 0);
  bramah__json_numbers(&json, "sigmas", frame->n_outputs, frame->sigma, 0);
  bramah__json_numbers(&json, "probability", frame->n_gauges, frame->probability, 0);
  bramah__json_open(&json, "sensors", '[');
  for (size_t i = 0; i < frame->n_sensors; i++) bramah__json_text(&json, NULL, states[frame->sensor[i]]);
  bramah__json_close(&json, ']');
  for (int k = 0; k <= frame->has_model; k++) { /* micrometres are enough to look at */
    bramah__json_open(&json, k ? "model" : "bodies", '[');
    for (size_t b = 0; b < frame->n_bodies; b++)
      bramah__json_numbers(&json, NULL, 7, (k ? frame->model : frame->pose) + 7 * b, 7);
    bramah__json_close(&json, ']');
  }
  if (frame->scenario.n_tasks) bramah__scenario_text(&frame->scenario, &json);
  if (frame->has_soil) put_soil(&json, frame);
  bramah__json_close(&json, '}');
  return json.used;
}

size_t bramah_display_frame_size(const bramah_display *d)
{
  return 200 + 26 * (2 * d->n_outputs + d->n_gauges + 14 * d->n_bodies) + 12 * d->n_sensors +
         8 * d->n_bodies + bramah__scenario_text_size(d->scenario);
}

size_t bramah_display_verdict_text(bramah_display *display, char *out, size_t size)
{
  bramah__json json = {.text = out, .size = size};
  char text[1024];
  const bramah_assess_results *results = bramah_assess_get_results(display->assess);
  const bramah_verdict *v = &results->verdict;
  bramah_verdict_text(v, text, sizeof text);
  bramah__json_open(&json, NULL, '{');
  bramah__json_number(&json, "t", (double)results->totals.last_ns / 1e9);
  bramah__json_text(&json, "level",
                    v->contradicted || v->broken_off || v->doubt ? "wrong"
                    : v->too_short                               ? "unsure"
                                                                 : "fine");
  bramah__json_text(&json, "text", text);
  bramah__json_close(&json, '}');
  return json.used;
}

size_t bramah_display_message_text(double t, const char *kind, const char *text, char *out, size_t size)
{
  bramah__json json = {.text = out, .size = size};
  bramah__json_open(&json, NULL, '{');
  bramah__json_number(&json, "t", t);
  bramah__json_text(&json, "kind", kind);
  bramah__json_text(&json, "text", text);
  bramah__json_close(&json, '}');
  return json.used;
}
