/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A display file bound to outputs, sensors and bodies of an assessment, and what of it a page needs to know. */
#define _GNU_SOURCE /* lib/io/yaml.h */
#include "bramah/units.h"
#include "lib/assess/assess_internal.h"
#include "lib/base/diag.h"
#include "lib/display/display_parts.h"
#include "lib/io/fail.h"
#include "lib/io/session.h"
#include "lib/io/quantity.h"
#include "lib/io/yaml.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is at hand while a display is made. */
typedef struct maker {
  bramah_display *display;
  bramah_assess *assess;
  const bramah_display_file *file; /* NULL: none */
  const bramah_machine *machine;
  bramah_model_info info;
  bramah_coupled *coupled;
  double *pose;  /* [n_bodies x 7] at the start */
  size_t *bound; /* [n_gauges of the file] as which gauge; SIZE_MAX: left out */
  bramah__json json;
  bramah_diag *diag;
} maker;

/* ---- names ---- */

/* Of n things, `stride` bytes apart. */
static bramah_status no_such(const maker *m, const char *what, const char *name, const char *thing, int line,
                             size_t n, const void *first, size_t stride)
{
  bramah__failf(m->diag, BRAMAH_E_REFERENCE, m->file->file, line, thing, "there is no %s '%s'", what, name);
  bramah__suggest_thing(m->diag, name, n, first, stride, n < 32 ? "; there are " : "");
  return BRAMAH_E_REFERENCE;
}

static bramah_status find_output(const maker *m, const char *name, const char *thing, int line, size_t *out)
{
  const bramah_assess *a = m->assess;
  for (size_t k = 0; k < a->n_outputs; k++)
    if (strcmp(a->outputs[k].name, name) == 0) return *out = k, BRAMAH_OK;
  return no_such(m, "output", name, thing, line, a->n_outputs, a->n_outputs ? &a->outputs[0].name : NULL,
                 sizeof a->outputs[0]);
}

static bramah_status find_sensor(const maker *m, const char *name, const bramah_gauge *gauge, size_t *out)
{
  const bramah_study *study = m->assess->study;
  for (size_t i = 0; i < study->n_sensors; i++)
    if (strcmp(study->sensors[i].name, name) == 0) return *out = i, BRAMAH_OK;
  return no_such(m, "sensor", name, gauge->name, gauge->line, study->n_sensors,
                 study->n_sensors ? &study->sensors[0].name : NULL, sizeof study->sensors[0]);
}

/* Where a body of the machine is, which may be welded to another: the number of that, the turn R and place r of its frame in it. -1:
 * the ground; -2: there is no such body. */
static int find_body(const maker *m, const char *name, double R[9], double r[3])
{
  static const double same[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const bramah_plant *plant = m->assess->plant;
  int known = 0;
  memcpy(R, same, sizeof same);
  memset(r, 0, 3 * sizeof *r);
  for (size_t i = 0; i < m->machine->n_bodies; i++) known |= strcmp(m->machine->bodies[i].name, name) == 0;
  if (!known) return -2;
  const char *carrier = plant->carrier ? plant->carrier(plant->self, name, R, r) : NULL;
  for (size_t j = 0; j < m->info.n_joints; j++)
    if (strcmp(m->info.body_names[j], carrier ? carrier : name) == 0) return (int)j;
  return -1;
}

/* ---- gauges ---- */

static const char *readable(const char *unit)
{
  static const char *const pairs[][2] = {{"rad", "deg"},     {"rad/s", "deg/s"}, {"Pa", "bar"},
                                         {"m^3/s", "L/min"}, {"N", "kN"},        {"W", "kW"},
                                         {"kg/s", "kg/h"}};
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
    if (strcmp(unit, pairs[i][0]) == 0) return pairs[i][1];
  return unit;
}

static double factor_of(const char *unit)
{
  bramah_dimension dimension;
  double factor;
  return bramah_unit_parse(unit, &factor, &dimension, NULL) ? 1.0 : factor;
}

/* Has the gauge's unit the dimension of its output, scaled? */
static int fits(const bramah_gauge *gauge, const char *unit)
{
  bramah_dimension a, b;
  const bramah_dimension *by = &gauge->scale_dimension;
  double factor;
  if (bramah_unit_parse(gauge->unit, &factor, &a, NULL) ||
      bramah_unit_parse(*unit ? unit : "1", &factor, &b, NULL))
    return 0;
  b = (bramah_dimension){(signed char)(b.m + by->m), (signed char)(b.kg + by->kg), (signed char)(b.s + by->s),
                         (signed char)(b.volt + by->volt), (signed char)(b.rad + by->rad)};
  return bramah__same_dimension(a, b);
}

static bramah_status put_gauge(maker *m, const bramah_gauge *gauge, size_t output)
{
  static const char *const kinds[] = {"dial", "bar", "tilt", "number", "lamp", "text"};
  const bramah_assess_output *of = &m->assess->outputs[output];
  bramah__json *json = &m->json;
  const double scale = gauge->scale != 0.0 ? gauge->scale : 1.0,
               offset = gauge->tank > 0.0 ? gauge->filled : 0.0;
  if (!fits(gauge, of->unit))
    return bramah__failf(m->diag, BRAMAH_E_UNIT, m->file->file, gauge->line, gauge->name,
                         "the unit '%s' does not fit '%s', which has %s%s", gauge->unit, gauge->output,
                         of->unit,
                         gauge->tank > 0.0     ? ", as a share of the tank"
                         : gauge->scale != 0.0 ? ", by the scale"
                                               : "");
  char *name = malloc(strlen(gauge->name) + 1);
  if (!name) return bramah__fail_memory(m->diag);
  strcpy(name, gauge->name);
  m->display->gauge[m->display->n_gauges++] = (bramah__bound_gauge){.name = name,
                                                                    .probability = gauge->probability,
                                                                    .output = output,
                                                                    .below = gauge->below,
                                                                    .above = gauge->above,
                                                                    .offset = offset,
                                                                    .scale = scale};
  bramah__json_open(json, NULL, '{');
  bramah__json_text(json, "name", gauge->name);
  bramah__json_text(json, "label", gauge->label ? gauge->label : gauge->name);
  bramah__json_text(json, "kind", kinds[gauge->kind]);
  bramah__json_number(json, "output", (double)output);
  bramah__json_text(json, "unit", strcmp(gauge->unit, "1") == 0 ? "" : gauge->unit);
  bramah__json_number(json, "factor", gauge->factor);
  if (gauge->range[0] < gauge->range[1]) bramah__json_numbers(json, "range", 2, gauge->range, 0);
  if (gauge->recommended[0] < gauge->recommended[1])
    bramah__json_numbers(json, "recommended", 2, gauge->recommended, 0);
  if (gauge->n_marks) bramah__json_numbers(json, "marks", gauge->n_marks, gauge->marks, 0);
  bramah__json_number(json, "below", gauge->below);
  bramah__json_number(json, "above", gauge->above);
  bramah__json_number(json, "probability", gauge->probability);
  bramah__json_number(json, "most_sigma", gauge->most_sigma);
  bramah__json_number(json, "offset", offset);
  bramah__json_number(json, "scale", scale);
  bramah__json_open(json, "sensors", '[');
  for (size_t i = 0; i < gauge->n_sensors; i++) {
    size_t sensor = 0;
    const bramah_status status = find_sensor(m, gauge->sensors[i], gauge, &sensor);
    if (status && !gauge->is_optional) return status;
    if (status)
      bramah_diag_clear(m->diag);
    else
      bramah__json_number(json, NULL, (double)sensor);
  }
  if (!gauge->n_sensors && of->sensor >= 0) bramah__json_number(json, NULL, (double)of->sensor);
  bramah__json_close(json, ']');
  if (gauge->n_texts) bramah__json_texts(json, "texts", gauge->n_texts, gauge->texts);
  bramah__json_open(json, "place", '[');
  for (int k = 0; k < 2; k++) bramah__json_number(json, NULL, gauge->place[k]);
  bramah__json_close(json, ']');
  bramah__json_number(json, "size", gauge->size ? gauge->size : 1);
  bramah__json_close(json, '}');
  return BRAMAH_OK;
}

enum { MADE_GAUGES = 12, MADE_PLOTS = 4 };

/* Without a file: numbers, first of what the machine names as its outputs, then of its joints. */
static bramah_status make_gauges(maker *m)
{
  const bramah_assess *a = m->assess;
  bramah_status status = BRAMAH_OK;
  for (int own = 1; own >= 0; own--)
    for (size_t k = 0; !status && k < a->n_outputs && m->display->n_gauges < MADE_GAUGES; k++) {
      bramah_output_info info;
      int named = 0;
      bramah_plant_output_info(a->plant, a->outputs[k].output, &info);
      for (size_t i = 0; i < m->machine->n_outputs; i++) {
        const size_t n = strlen(m->machine->outputs[i].name);
        named |=
            strncmp(info.name, m->machine->outputs[i].name, n) == 0 && (!info.name[n] || info.name[n] == '.');
      }
      if (!a->outputs[k].has_sigma || named != own ||
          (!own && info.kind != BRAMAH_OUTPUT_POSITION && info.kind != BRAMAH_OUTPUT_FIRST_ORDER))
        continue;
      const char *unit = readable(*a->outputs[k].unit ? a->outputs[k].unit : "1");
      const bramah_gauge gauge = {.name = info.name,
                                  .kind = BRAMAH_GAUGE_NUMBER,
                                  .output = info.name,
                                  .unit = unit,
                                  .factor = factor_of(unit),
                                  .below = -INFINITY,
                                  .above = INFINITY,
                                  .probability = 0.05,
                                  .most_sigma = INFINITY};
      status = put_gauge(m, &gauge, k);
    }
  return status;
}

static bramah_status put_gauges(maker *m)
{
  bramah_status status = BRAMAH_OK;
  bramah__json_open(&m->json, "gauges", '[');
  for (size_t g = 0; !status && m->file && g < m->file->n_gauges; g++) {
    const bramah_gauge *gauge = &m->file->gauges[g];
    size_t output;
    status = find_output(m, gauge->output, gauge->name, gauge->output_line, &output);
    m->bound[g] = SIZE_MAX;
    if (status && gauge->is_optional) {
      status = BRAMAH_OK;
      bramah_diag_clear(m->diag);
      continue;
    }
    m->bound[g] = m->display->n_gauges;
    if (!status) status = put_gauge(m, gauge, output);
  }
  if (!m->file) status = make_gauges(m);
  bramah__json_close(&m->json, ']');
  return status;
}

static bramah_status put_plots(maker *m)
{
  bramah__json_open(&m->json, "plots", '[');
  for (size_t i = 0; m->file && i < m->file->n_plots; i++) {
    size_t output;
    const bramah_status status = find_output(m, m->file->plots[i], "plots", m->file->plots_line, &output);
    if (status) return status;
    bramah__json_number(&m->json, NULL, (double)output);
  }
  for (size_t g = 0; (!m->file || !m->file->n_plots) && g < m->display->n_gauges && g < MADE_PLOTS; g++)
    bramah__json_number(&m->json, NULL, (double)m->display->gauge[g].output);
  bramah__json_close(&m->json, ']');
  return BRAMAH_OK;
}

static void put_names(maker *m)
{
  const bramah_assess *a = m->assess;
  bramah__json *json = &m->json;
  bramah__json_open(json, "outputs", '[');
  for (size_t k = 0; k < a->n_outputs; k++) {
    const char *unit = readable(a->outputs[k].unit);
    bramah__json_open(json, NULL, '{');
    bramah__json_text(json, "name", a->outputs[k].name);
    bramah__json_text(json, "si", a->outputs[k].unit);
    bramah__json_text(json, "unit", unit);
    bramah__json_number(json, "factor", *unit ? factor_of(unit) : 1.0);
    bramah__json_close(json, '}');
  }
  bramah__json_close(json, ']');
  bramah__json_open(json, "sensors", '[');
  for (size_t i = 0; i < a->n_sensors; i++) bramah__json_text(json, NULL, a->study->sensors[i].name);
  bramah__json_close(json, ']');
  bramah__json_texts(json, "bodies", m->info.n_joints, m->info.body_names);
}

/* Levers of inputs that the machine has. */
static bramah_status put_levers(maker *m)
{
  static const char *const sticks[] = {"", "left_x", "left_y", "right_x", "right_y"};
  bramah__json *json = &m->json;
  bramah__json_open(json, "drive", '[');
  for (size_t i = 0; m->file && i < m->file->n_levers; i++) {
    const bramah_display_lever *lever = &m->file->levers[i];
    size_t k = 0;
    while (k < m->info.n_inputs && strcmp(m->info.input_names[k], lever->name) != 0) k++;
    if (k == m->info.n_inputs)
      return no_such(m, "input", lever->name, "drive", lever->line, m->info.n_inputs, m->info.input_names,
                     sizeof *m->info.input_names);
    bramah__json_open(json, NULL, '{');
    bramah__json_number(json, "input", (double)k);
    bramah__json_text(json, "name", lever->name);
    bramah__json_text(json, "label", lever->label ? lever->label : lever->name);
    bramah__json_number(json, "low", lever->range[0]);
    bramah__json_number(json, "high", lever->range[1]);
    bramah__json_number(json, "neutral", lever->neutral);
    bramah__json_number(json, "step", lever->step);
    bramah__json_number(json, "held", lever->is_held);
    bramah__json_texts(json, "keys", lever->n_keys, lever->keys);
    bramah__json_text(json, "stick", sticks[abs(lever->stick)]);
    bramah__json_number(json, "sense", lever->stick < 0 ? -1 : 1);
    bramah__json_close(json, '}');
  }
  bramah__json_close(json, ']');
  return BRAMAH_OK;
}

/* ---- the machine in bodies' frames ---- */

/* A point of space in the frame of a body at the start. */
static void into_body(const maker *m, int body, const double *point, double out[3])
{
  memcpy(out, point, 3 * sizeof *out);
  if (body < 0) return;
  const double *r = m->pose + 7 * body, s = r[3], v[3] = {-r[4], -r[5], -r[6]};
  double d[3], t[3];
  for (int k = 0; k < 3; k++) d[k] = point[k] - r[k];
  for (int k = 0; k < 3; k++)
    t[k] = v[(k + 1) % 3] * d[(k + 2) % 3] - v[(k + 2) % 3] * d[(k + 1) % 3] + s * d[k];
  for (int k = 0; k < 3; k++)
    out[k] = d[k] + 2.0 * (v[(k + 1) % 3] * t[(k + 2) % 3] - v[(k + 2) % 3] * t[(k + 1) % 3]);
}

static double thickness(const maker *m, const char *cylinder, int is_rod)
{
  for (size_t i = 0; i < m->machine->n_cylinders; i++) {
    const bramah_cylinder *c = &m->machine->cylinders[i];
    if (strcmp(c->name, cylinder) == 0)
      return sqrt((is_rod ? c->piston_area - c->rod_area : c->piston_area) / acos(-1.0));
  }
  return NAN;
}

/* Lines of the skeleton: ends in the frames of the bodies that they move with, of a cylinder its attachments and the barrel's length. */
static bramah_status put_skeleton(maker *m)
{
  static const char *const kinds[] = {"",       "body", "lug",   "slide",  "barrel", "rod",
                                      "spring", "bar",  "joint", "rotary", "ground"};
  bramah_skeleton skeleton = {0};
  bramah_status status = bramah_coupled_skeleton(m->coupled, &skeleton, m->diag);
  skeleton.part = calloc(skeleton.n + 1, sizeof *skeleton.part);
  skeleton.points = calloc(6 * skeleton.n + 1, sizeof *skeleton.points);
  skeleton.poses = m->pose;
  if (!skeleton.part || !skeleton.points) status = status ? status : bramah__fail_memory(m->diag);
  if (!status) status = bramah_coupled_skeleton(m->coupled, &skeleton, m->diag);
  bramah__json_open(&m->json, "lines", '[');
  for (size_t i = 0; !status && i < skeleton.n; i++) {
    const bramah_skeleton_part *part = &skeleton.part[i];
    const double *ends = skeleton.points + 6 * i;
    const int is_barrel = part->kind == BRAMAH_SKELETON_BARREL && i + 1 < skeleton.n;
    double points[6];
    if (part->kind == BRAMAH_SKELETON_GROUND) continue;
    into_body(m, part->body[0], ends, points);
    into_body(m, part->body[1], is_barrel ? ends + 9 : ends + 3, points + 3);
    bramah__json_open(&m->json, NULL, '{');
    bramah__json_text(&m->json, "kind", is_barrel ? "cylinder" : kinds[part->kind]);
    bramah__json_text(&m->json, "name", part->name);
    bramah__json_open(&m->json, "bodies", '[');
    for (int k = 0; k < 2; k++) bramah__json_number(&m->json, NULL, part->body[k]);
    bramah__json_close(&m->json, ']');
    bramah__json_numbers(&m->json, "points", 6, points, 9);
    if (is_barrel) {
      bramah__json_number(&m->json, "length",
                          sqrt((ends[3] - ends[0]) * (ends[3] - ends[0]) +
                               (ends[4] - ends[1]) * (ends[4] - ends[1]) +
                               (ends[5] - ends[2]) * (ends[5] - ends[2])));
      bramah__json_number(&m->json, "radius", thickness(m, part->name, 0));
      bramah__json_number(&m->json, "rod", thickness(m, part->name, 1));
      i++;
    }
    bramah__json_close(&m->json, '}');
  }
  bramah__json_close(&m->json, ']');
  free(skeleton.part);
  free(skeleton.points);
  return status;
}

/* Begin a shape: its body, and where its frame lies in that. 0: there is no such body. */
static int begin_shape(maker *m, const char *kind, const char *body)
{
  double R[9], r[3];
  const int number = find_body(m, body, R, r);
  if (number < -1) return 0;
  bramah__json_open(&m->json, NULL, '{');
  bramah__json_text(&m->json, "kind", kind);
  bramah__json_number(&m->json, "body", number);
  bramah__json_text(&m->json, "of", body);
  bramah__json_numbers(&m->json, "R", 9, R, 9);
  bramah__json_numbers(&m->json, "r", 3, r, 9);
  return 1;
}

static void put_shape(maker *m, const char *body, const bramah_shape *shape)
{
  static const char *const kinds[] = {"", "sphere", "capsule", "box", "hull"};
  if (!begin_shape(m, kinds[shape->kind], body)) return;
  int turned = 0;
  for (int k = 0; k < 9; k++) turned |= shape->rotation[k] != 0.0;
  if (shape->kind == BRAMAH_SHAPE_SPHERE || shape->kind == BRAMAH_SHAPE_BOX)
    bramah__json_numbers(&m->json, "centre", 3, shape->centre, 9);
  if (shape->kind == BRAMAH_SHAPE_SPHERE || shape->kind == BRAMAH_SHAPE_CAPSULE)
    bramah__json_number(&m->json, "radius", shape->radius);
  if (shape->kind == BRAMAH_SHAPE_CAPSULE) bramah__json_numbers(&m->json, "ends", 6, shape->ends[0], 9);
  if (shape->kind == BRAMAH_SHAPE_BOX) bramah__json_numbers(&m->json, "size", 3, shape->size, 9);
  if (shape->kind == BRAMAH_SHAPE_BOX && turned)
    bramah__json_numbers(&m->json, "rotation", 9, shape->rotation, 9);
  if (shape->kind == BRAMAH_SHAPE_HULL)
    bramah__json_numbers(&m->json, "corners", 3 * shape->n_corners, shape->corners, 9);
  bramah__json_close(&m->json, '}');
}

static void put_tyre(maker *m, const bramah_tyre *tyre)
{
  double axis[3] = {tyre->axis[0], tyre->axis[1], tyre->axis[2]};
  for (size_t j = 0; j < m->machine->n_joints && axis[0] == 0.0 && axis[1] == 0.0 && axis[2] == 0.0; j++)
    if (strcmp(m->machine->joints[j].child, tyre->body) == 0)
      memcpy(axis, m->machine->joints[j].axis, sizeof axis);
  if (!begin_shape(m, "wheel", tyre->body)) return;
  bramah__json_numbers(&m->json, "centre", 3, tyre->centre, 9);
  bramah__json_numbers(&m->json, "axis", 3, axis, 9);
  bramah__json_number(&m->json, "radius", tyre->radius);
  bramah__json_number(&m->json, "width", tyre->width);
  bramah__json_close(&m->json, '}');
}

static void put_plate(maker *m, const char *body, size_t n, const double *corners)
{
  if (!begin_shape(m, "plate", body)) return;
  bramah__json_numbers(&m->json, "corners", 3 * n, corners, 9);
  bramah__json_close(&m->json, '}');
}

/* A tool's plates; of a bucket by its side those along its profile. */
static void put_tool(maker *m, const bramah_machine_tool *tool)
{
  for (size_t i = 0; i < tool->tool.n_plates; i++)
    put_plate(m, tool->body, tool->tool.plates[i].n_corners, tool->tool.plates[i].corner[0]);
  double from[3] = {0}, half[3] = {0};
  for (int k = 0; k < 3 && tool->n_profile; k++) {
    from[k] = 0.5 * (tool->tool.edge[0][k] + tool->tool.edge[1][k]);
    half[k] = 0.5 * (tool->tool.edge[0][k] - tool->tool.edge[1][k]);
  }
  for (size_t i = 0; i < tool->n_profile; i++) {
    const double *to = tool->profile + 3 * i;
    double corners[12];
    for (int k = 0; k < 3; k++) {
      corners[k] = from[k] + half[k];
      corners[3 + k] = to[k] + half[k];
      corners[6 + k] = to[k] - half[k];
      corners[9 + k] = from[k] - half[k];
    }
    put_plate(m, tool->body, 4, corners);
    memcpy(from, to, sizeof from);
  }
}

static bramah_status put_shapes(maker *m)
{
  const bramah_machine *machine = m->machine;
  bramah_status status = BRAMAH_OK;
  bramah__json_open(&m->json, "shapes", '[');
  for (size_t b = 0; m->file && !status && b < m->file->n_bodies; b++) {
    const bramah_display_body *body = &m->file->bodies[b];
    double R[9], r[3];
    for (size_t i = 0; i < body->n_shapes; i++) put_shape(m, body->name, &body->shapes[i]);
    if (find_body(m, body->name, R, r) == -2)
      status = no_such(m, "body", body->name, "shapes", body->line, machine->n_bodies,
                       &machine->bodies[0].name, sizeof machine->bodies[0]);
  }
  for (size_t b = 0; b < machine->n_bodies; b++) {
    const bramah_body *body = &machine->bodies[b];
    int drawn = 0; /* by the file */
    for (size_t k = 0; m->file && k < m->file->n_bodies; k++)
      drawn |= strcmp(m->file->bodies[k].name, body->name) == 0;
    for (size_t i = 0; !drawn && i < body->n_shapes; i++) put_shape(m, body->name, &body->shapes[i]);
  }
  for (size_t i = 0; i < machine->n_tyres; i++) put_tyre(m, &machine->tyres[i]);
  for (size_t i = 0; i < machine->n_tools; i++) put_tool(m, &machine->tools[i]);
  bramah__json_close(&m->json, ']');
  return status;
}

/* The plane that something stands on. */
static void put_ground(maker *m)
{
  const bramah_machine *machine = m->machine;
  const double g[3] = {machine->gravity[0], machine->gravity[1], machine->gravity[2]};
  const double size = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
  const double up[3] = {size > 0 ? -g[0] / size : 0, size > 0 ? -g[1] / size : 0,
                        size > 0 ? -g[2] / size : 1};
  bramah__json_numbers(&m->json, "up", 3, up, 9);
  const double *plane = NULL;
  for (size_t i = 0; i < machine->n_contacts; i++)
    if (!machine->contacts[i].n_between) plane = machine->contacts[i].ground;
  for (size_t i = 0; i < machine->n_tyres; i++) plane = machine->tyres[i].ground;
  if (plane) bramah__json_numbers(&m->json, "ground", 3, plane, 9);
}

/* A field as its machine file has it, of a large one every few cells. */
static void put_field(bramah__json *json, const char *name, const bramah_machine_terrain *t)
{
  const size_t stride = bramah__soil_stride(t);
  if (!t->options.nx || !t->options.ny) return;
  const size_t nx = (t->options.nx + stride - 1) / stride, ny = (t->options.ny + stride - 1) / stride;
  bramah__json_open(json, name, '{');
  bramah__json_number(json, "nx", (double)nx);
  bramah__json_number(json, "ny", (double)ny);
  bramah__json_number(json, "cell", t->options.cell * (double)stride);
  bramah__json_numbers(json, "origin", 2, t->options.origin, 9);
  bramah__json_number(json, "particle", t->options.radius);
  bramah__json_open(json, "heights", '[');
  for (size_t i = 0; i < t->options.nx; i += stride)
    for (size_t j = 0; j < t->options.ny; j += stride) {
      double height = t->heights ? t->heights[i * t->options.ny + j] : t->level;
      for (size_t h = 0; h < t->n_heaps; h++) {
        const double x = t->options.origin[0] + ((double)i + 0.5) * t->options.cell - t->heaps[h].at[0];
        const double y = t->options.origin[1] + ((double)j + 0.5) * t->options.cell - t->heaps[h].at[1];
        height = fmax(height, t->level + t->heaps[h].height - tan(t->options.soil.repose) * hypot(x, y));
      }
      bramah__json_number(json, NULL, 1e-3 * round(1e3 * height));
    }
  bramah__json_close(json, ']');
  bramah__json_close(json, '}');
}

bramah_status bramah_display_stand_on(bramah_display *display, const bramah_machine_plant *simulated,
                                      bramah_diag *diag)
{
  const bramah_machine_terrain *t = &simulated->machine->terrain;
  bramah_diag_clear(diag);
  if (!simulated->site) return BRAMAH_OK;
  const size_t n = strlen(display->description);
  /* One member more, in place of the bracket at its end. */
  bramah__json json = {.text = display->description, .used = n - 1, .size = n + 1, .grows = 1, .filled = 1};
  put_field(&json, "soil", t);
  bramah__json_close(&json, '}');
  display->description = json.text;
  return json.failed ? bramah__fail_memory(diag) : bramah__soil_open(&display->soil, simulated, diag);
}

/* ---- the display ---- */

static bramah_status describe(maker *m)
{
  const bramah_display_file *file = m->file;
  bramah__json *json = &m->json;
  bramah__json_open(json, NULL, '{');
  bramah__json_text(json, "title", file ? file->title : m->info.name);
  bramah__json_text(json, "machine", m->info.name);
  bramah__json_text(json, "study", m->assess->study->file);
  bramah__json_text(json, "made", file ? file->file : NULL);
  put_names(m);
  bramah_status status = put_gauges(m);
  if (!status) status = put_plots(m);
  if (!status && file && file->scenario.n_tasks) {
    status = bramah__scenario_new(m->display, file, m->bound, m->diag);
    if (!status) status = bramah__scenario_describe(m->display->scenario, file, m->bound, json, m->diag);
  }
  if (!status) status = put_skeleton(m);
  if (!status) status = put_shapes(m);
  if (!status) status = put_levers(m);
  if (!status) {
    put_ground(m);
    put_field(json, "terrain", &m->machine->terrain);
  }
  bramah__json_close(json, '}');
  if (!status && json->failed) status = bramah__fail_memory(m->diag);
  return status;
}

static bramah_status make(const bramah_display_file *file, bramah_assess *assess, bramah_diag *diag,
                          bramah_display **out)
{
  const bramah_machine_plant *machine = bramah_session_about(assess->session)->machine;
  bramah_diag unheard;
  maker m = {.assess = assess,
             .file = file,
             .machine = machine->machine,
             .coupled = machine->coupled,
             .json = {.grows = 1},
             .diag = diag ? diag : &unheard};
  bramah_diag_clear(m.diag);
  const bramah_status refused = bramah__refuse_fmu(assess->study, "a display", m.diag);
  if (refused) return refused;
  m.info = bramah_model_get_info(machine->model);
  const size_t room = file ? file->n_gauges : MADE_GAUGES;
  bramah_display *display = m.display = calloc(1, sizeof *display);
  if (!display) return bramah__fail_memory(m.diag);
  display->assess = assess;
  display->n_outputs = assess->n_outputs;
  display->n_sensors = assess->n_sensors;
  display->n_bodies = m.info.n_joints;
  display->gauge = calloc(room + 1, sizeof *display->gauge);
  display->sensor = calloc(display->n_sensors + 1, sizeof *display->sensor);
  m.pose = calloc(7 * display->n_bodies + 1, sizeof *m.pose);
  m.bound = calloc(room + 1, sizeof *m.bound);
  bramah_status status =
      display->gauge && display->sensor && m.pose && m.bound ? describe(&m) : bramah__fail_memory(m.diag);
  free(m.pose);
  free(m.bound);
  display->description = m.json.text;
  if (status)
    bramah_display_free(display);
  else
    *out = display;
  return status;
}

bramah_status bramah_display_new(const bramah_display_file *file, bramah_assess *assess, bramah_diag *diag,
                                 bramah_display **out)
{
  bramah_display_file *own = NULL;
  const char *path = file ? NULL : assess->study->display_file;
  bramah_status status = path ? bramah_display_load(path, diag, &own) : BRAMAH_OK;
  if (!status) status = make(path ? own : file, assess, diag, out);
  bramah_display_file_free(own);
  return status;
}

void bramah_display_free(bramah_display *display)
{
  if (!display) return;
  bramah__scenario_free(display->scenario);
  for (size_t g = 0; g < display->n_gauges; g++) free(display->gauge[g].name);
  free(display->gauge);
  free(display->sensor);
  free(display->description);
  bramah__soil_close(&display->soil);
  free(display);
}

const char *bramah_display_description(const bramah_display *display) { return display->description; }
