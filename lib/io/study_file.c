/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A study file: its inputs, start values, filter, augmented states, noises and tuning, and the loading. Its sensors
 * and logs are in study_sensors.c. */
#define _GNU_SOURCE /* locale_t */
#include "lib/io/study_file.h"
#include "bramah/adaptive.h"
#include "bramah/coupled.h"
#include "lib/base/diag.h"
#include "lib/base/text.h"
#include "lib/io/session.h"
#include "lib/io/uncertainty.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* a + b in the pool */
static const char *joined(bramah__reader *reader, const char *a, const char *b)
{
  const size_t n = strlen(a), m = strlen(b);
  char *out = bramah__pool_take(reader->keep, n + m + 1, 1);
  if (!out) return NULL;
  memcpy(out, a, n);
  memcpy(out + n, b, m);
  return out;
}

/* ---- start values ---- */

/* Of the joints of a machine and the positions of an FMU. The first one is read first and says whether it turns or slides. */
#define JOINT_KEYS                                                                                           \
  BRAMAH__KEY("position_sigma", bramah__read_quantity, bramah_joint_start, position_sigma, .required = 1,    \
              .unit = "rad", .other_unit = "m", .range = BRAMAH__POSITIVE,                                   \
              .choice = offsetof(bramah_joint_start, slides), .chooses = 1),                                 \
      BRAMAH__KEY("position", bramah__read_quantity, bramah_joint_start, position, .unit = "rad",            \
                  .other_unit = "m", .choice = offsetof(bramah_joint_start, slides),                         \
                  .given = offsetof(bramah_joint_start, has_position)),                                      \
      BRAMAH__KEY("rate", bramah__read_quantity, bramah_joint_start, rate, .unit = "rad/s",                  \
                  .other_unit = "m/s", .choice = offsetof(bramah_joint_start, slides),                       \
                  .given = offsetof(bramah_joint_start, has_rate)),                                          \
      BRAMAH__KEY("rate_sigma", bramah__read_quantity, bramah_joint_start, rate_sigma, .required = 1,        \
                  .unit = "rad/s", .other_unit = "m/s", .range = BRAMAH__POSITIVE,                           \
                  .choice = offsetof(bramah_joint_start, slides)),                                           \
      BRAMAH__KEY("acceleration_noise", bramah__read_quantity, bramah_joint_start, acceleration_noise,       \
                  .required = 1, .unit = "rad/s^2/Hz^0.5", .other_unit = "m/s^2/Hz^0.5",                     \
                  .range = BRAMAH__NOT_NEGATIVE, .choice = offsetof(bramah_joint_start, slides))

static const bramah__key joint_keys[] = {JOINT_KEYS, {0}};

static const bramah__table joint_table = {.keys = joint_keys, .size = sizeof(bramah_joint_start)};

static const bramah__key volume_keys[] = {
    BRAMAH__KEY("pressure", bramah__read_quantity, bramah_volume_start, pressure, .unit = "Pa",
                .range = BRAMAH__NOT_NEGATIVE, .given = offsetof(bramah_volume_start, has_pressure)),
    /* Says whether this is a volume or a line. */
    BRAMAH__KEY("sigma", bramah__read_quantity, bramah_volume_start, sigma, .required = 1, .unit = "Pa",
                .other_unit = "m^3/s", .range = BRAMAH__POSITIVE,
                .choice = offsetof(bramah_volume_start, flow_unit), .chooses = 1),
    BRAMAH__KEY("noise", bramah__read_quantity, bramah_volume_start, noise, .required = 1, .unit = "Pa/s^0.5",
                .other_unit = "m^3/s^1.5", .range = BRAMAH__NOT_NEGATIVE,
                .choice = offsetof(bramah_volume_start, flow_unit)),
    {0}};

static const bramah__table volume_table = {.keys = volume_keys, .size = sizeof(bramah_volume_start)};

/* ---- contacts ---- */

static const bramah__key contact_keys[] = {
    BRAMAH__KEY("sigma", bramah__read_quantity, bramah_contact_start, sigma, .unit = "m", .other_unit = "rad",
                .range = BRAMAH__POSITIVE, .choice = offsetof(bramah_contact_start, turns), .chooses = 1),
    BRAMAH__KEY("noise", bramah__read_quantity, bramah_contact_start, noise, .unit = "m/s^0.5",
                .other_unit = "rad/s^0.5", .range = BRAMAH__POSITIVE,
                .choice = offsetof(bramah_contact_start, turns),
                .given = offsetof(bramah_contact_start, has_noise)),
    {0}};

static const bramah__table contact_table = {.keys = contact_keys, .size = sizeof(bramah_contact_start)};

/* ---- an FMU ---- */

static const bramah__key position_keys[] = {
    JOINT_KEYS,
    BRAMAH__KEY("variable", bramah__read_text, bramah_study_position, variable, .required = 1),
    BRAMAH__KEY("rate_variable", bramah__read_text, bramah_study_position, rate_variable, .required = 0),
    BRAMAH__KEY("scale", bramah__read_quantity, bramah_study_position, scale, .unit = "rad",
                .other_unit = "m", .range = BRAMAH__POSITIVE, .choice = offsetof(bramah_joint_start, slides)),
    BRAMAH__KEY("rate_scale", bramah__read_quantity, bramah_study_position, rate_scale, .unit = "rad/s",
                .other_unit = "m/s", .range = BRAMAH__POSITIVE,
                .choice = offsetof(bramah_joint_start, slides)),
    BRAMAH__KEY("period", bramah__read_quantity, bramah_study_position, period, .unit = "rad",
                .range = BRAMAH__POSITIVE),
    {0}};

static const bramah__table position_table = {.keys = position_keys, .size = sizeof(bramah_study_position)};

static const bramah__key state_keys[] = {
    BRAMAH__KEY("variable", bramah__read_text, bramah_study_state, variable, .required = 1),
    BRAMAH__KEY("start", bramah__read_value, bramah_study_state, start, .required = 0),
    BRAMAH__KEY("scale", bramah__read_value, bramah_study_state, scale, .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("sigma", bramah__read_value, bramah_study_state, sigma, .required = 1,
                .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("noise", bramah__read_value, bramah_study_state, noise, .required = 1,
                .range = BRAMAH__NOT_NEGATIVE),
    {0}};

static const bramah__table state_table = {.keys = state_keys, .size = sizeof(bramah_study_state)};

static const bramah__key port_key = {
    .name = "variable", .read = bramah__read_text, .offset = offsetof(bramah_study_port, variable)};
static const bramah__table port_table = {
    .size = sizeof(bramah_study_port), .value = &port_key, .names_with_dots = 1};

static const bramah__key fmu_value_key = {.name = "value",
                                          .read = bramah__read_quantity,
                                          .offset = offsetof(bramah_study_fmu_value, value),
                                          .unit = "1"};
static const bramah__table fmu_value_table = {
    .size = sizeof(bramah_study_fmu_value), .value = &fmu_value_key, .names_with_dots = 1};

static const bramah__word isolate_words[] = {{"no", 0}, {"yes", 1}, {NULL, 0}};
static const bramah__word derivative_words[] = {{"own", 0}, {"differences", 1}, {NULL, 0}};

static const bramah__key plant_keys[] = {
    BRAMAH__KEY("fmu", bramah__read_path, bramah_study_plant, fmu, .required = 1),
    BRAMAH__KEY("step", bramah__read_duration, bramah_study_plant, step_ns, .unit = "s"),
    BRAMAH__KEY("derivatives", bramah__read_word, bramah_study_plant, differences, .words = derivative_words),
    BRAMAH__KEY("isolate", bramah__read_word, bramah_study_plant, isolate, .words = isolate_words),
    BRAMAH__KEY("time_limit", bramah__read_quantity, bramah_study_plant, time_limit, .unit = "s",
                .range = BRAMAH__POSITIVE),
    BRAMAH__SECTION("positions", bramah_study_plant, positions, n_positions, &position_table, .required = 0),
    BRAMAH__SECTION("states", bramah_study_plant, states, n_states, &state_table, .required = 0),
    BRAMAH__SECTION("inputs", bramah_study_plant, inputs, n_inputs, &port_table, .required = 0),
    BRAMAH__SECTION("outputs", bramah_study_plant, outputs, n_outputs, &port_table, .required = 0),
    BRAMAH__SECTION("parameters", bramah_study_plant, parameters, n_parameters, &port_table, .required = 0),
    BRAMAH__SECTION("values", bramah_study_plant, values, n_values, &fmu_value_table, .required = 0),
    {0}};

static bramah_status finish_plant(bramah__reader *reader, const bramah__item *item, void *object)
{
  const bramah_study_plant *plant = object;
  if (plant->n_positions + plant->n_states > 0) return BRAMAH_OK;
  return bramah__fail_key(reader, item, BRAMAH_E_KEY,
                          "there is nothing to estimate: name 'positions' or 'states' of the FMU");
}

static const bramah__table plant_table = {.keys = plant_keys, .finish = finish_plant};

/* A machine with its joints, or an FMU with its own; its positions are the study's joints. */
static bramah_status take_plant(bramah__reader *reader, const bramah__item *root, bramah_study *study)
{
  static const char *const of_machines[] = {"machine", "joints", "volumes", "contacts", "changes"};
  const bramah_study_plant *plant = &study->plant;
  bramah__item other;
  for (size_t i = 0; i < sizeof of_machines / sizeof *of_machines; i++) {
    const int there = bramah__item_find(root, of_machines[i], &other);
    if (plant->line && there)
      return bramah__fail_key(reader, &other, BRAMAH_E_KEY,
                              "is of machines; of an FMU 'plant' says it: 'positions', 'states', 'values'");
    if (!plant->line && !there && i < 2) return bramah__fail_missing(reader, root, of_machines[i]);
  }
  if (!plant->line) return BRAMAH_OK;
  bramah_joint_start *joints = bramah__pool_take(reader->keep, plant->n_positions, sizeof *joints);
  if (!joints) return bramah__no_memory(reader);
  for (size_t i = 0; i < plant->n_positions; i++) joints[i] = plant->positions[i].start;
  study->joints = joints;
  study->n_joints = plant->n_positions;
  study->machine_file = plant->fmu;
  return BRAMAH_OK;
}

/* ---- filter ---- */

static const bramah__word transitions[] = {{"paper", BRAMAH_TRANSITION_KINEMATIC},
                                           {"paper-exact", BRAMAH_TRANSITION_KINEMATIC_EXACT},
                                           {"step", BRAMAH_TRANSITION_STEP},
                                           {NULL, 0}};

static const bramah__word discretisations[] = {{"published", BRAMAH_DISCRETISATION_PUBLISHED},
                                               {"resolvent", BRAMAH_DISCRETISATION_RESOLVENT},
                                               {NULL, 0}};

static const bramah__word forms[] = {
    {"joseph", BRAMAH_COVARIANCE_JOSEPH}, {"square-root", BRAMAH_COVARIANCE_SQUARE_ROOT}, {NULL, 0}};

static const bramah__word fusions[] = {
    {"sequential", BRAMAH_FUSION_SEQUENTIAL}, {"block", BRAMAH_FUSION_BLOCK}, {NULL, 0}};

static const bramah__word injections[] = {
    {"exact", BRAMAH_INJECTION_EXACT}, {"linearised", BRAMAH_INJECTION_LINEARISED}, {NULL, 0}};

/* What holds unless keys say otherwise. */
static void take_preset(bramah__study_draft *draft)
{
  bramah_filter_options options;
  (draft->papers ? bramah_filter_options_papers : bramah_filter_options_default)(&options);
  draft->study.transition = options.transition;
  draft->study.drift_gate = options.drift_gate;
  draft->gate = options.common_gate;
}

static bramah_status read_preset(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                 void *object)
{
  const bramah_status status = bramah__read_word(reader, item, key, object);
  take_preset(object);
  return status;
}

static const bramah__word presets[] = {{"default", 0}, {"papers", 1}, {NULL, 0}};

static bramah_status finish_filter(bramah__reader *reader, const bramah__item *item, void *object)
{
  const bramah__study_draft *draft = object;
  const bramah_study *study = &draft->study;
  bramah__item wrong;
  int gates = draft->gate > 0.0;
  for (size_t i = 0; i < study->n_sensors; i++) gates |= draft->sensors[i].gate > 0.0; /* read before */
  if (study->drift_gate > 0.0 && !gates && bramah__item_find(item, "drift_gate", &wrong)) {
    return bramah__fail_item(reader, &wrong, BRAMAH_E_VALUE,
                             "the drift gate is for sensors with a 'gate': give one here or there");
  }
  if (study->discretisation != BRAMAH_DISCRETISATION_RESOLVENT || study->transition == BRAMAH_TRANSITION_STEP)
    return BRAMAH_OK;
  bramah__item_find(item, "noise", &wrong);
  return bramah__fail_item(reader, &wrong, BRAMAH_E_VALUE, "the resolvent needs 'transition: step'");
}

/* The preset comes first: the others change it. */
static const bramah__key filter_keys[] = {
    BRAMAH__KEY("preset", read_preset, bramah__study_draft, papers, .shape = BRAMAH__SHAPE_WORD,
                .words = presets),
    BRAMAH__KEY("transition", bramah__read_word, bramah__study_draft, study.transition, .words = transitions),
    BRAMAH__KEY("noise", bramah__read_word, bramah__study_draft, study.discretisation,
                .words = discretisations),
    BRAMAH__KEY("covariance", bramah__read_word, bramah__study_draft, study.form, .words = forms),
    BRAMAH__KEY("fusion", bramah__read_word, bramah__study_draft, study.fusion, .words = fusions),
    BRAMAH__KEY("position_problem", bramah__read_word, bramah__study_draft, study.injection,
                .words = injections),
    BRAMAH__KEY("iterations", bramah__read_integer, bramah__study_draft, study.iterations, .most = 100.0,
                .bounds = "the update is iterated 1 to 100 times"),
    BRAMAH__KEY("gate", bramah__read_gate, bramah__study_draft, gate, .words = bramah__word_off, .unit = "1",
                .range = BRAMAH__POSITIVE, .given = offsetof(bramah__study_draft, has_gate)),
    BRAMAH__KEY("drift_gate", bramah__read_gate, bramah__study_draft, study.drift_gate,
                .words = bramah__word_off, .unit = "1", .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("patience", bramah__read_integer, bramah__study_draft, study.patience, .required = 0),
    {0}};

static const bramah__table filter_table = {.keys = filter_keys, .finish = finish_filter};

/* ---- adaptive noise ---- */

static const bramah__word adapt_methods[] = {
    {"likelihood", BRAMAH_ADAPTIVE_LIKELIHOOD}, {"matching", BRAMAH_ADAPTIVE_MATCHING}, {NULL, 0}};

static bramah_status finish_adapt(bramah__reader *reader, const bramah__item *item, void *object)
{
  const bramah_study_adapt *adapt = object;
  if (adapt->accelerations[1] > 0.0 || adapt->pressures[1] > 0.0 || adapt->sensors[1] > 0.0) return BRAMAH_OK;
  return bramah__fail_key(reader, item, BRAMAH_E_KEY,
                          "nothing adapts: give 'accelerations', 'pressures' or 'sensors' two factors");
}

/* [least, most], factors on what the study states. */
#define FACTORS(key, member)                                                                                 \
  BRAMAH__KEY(key, bramah__read_vector, bramah_study_adapt, member, .unit = "1", .count = 2,                 \
              .range = BRAMAH__POSITIVE, .ascends = "the smaller factor comes first: [0.1, 10]")

static const bramah__key adapt_keys[] = {
    BRAMAH__KEY("method", bramah__read_word, bramah_study_adapt, method, .words = adapt_methods),
    BRAMAH__KEY("window", bramah__read_integer, bramah_study_adapt, window, .required = 0),
    FACTORS("accelerations", accelerations),
    FACTORS("pressures", pressures),
    FACTORS("sensors", sensors),
    {0}};

static const bramah__table adapt_table = {.keys = adapt_keys, .finish = finish_adapt};

/* ---- augmented states ---- */

static bramah_status finish_process(bramah__reader *reader, const bramah__item *item, void *object)
{
  bramah_study_augmented *process = &((bramah__augmented_draft *)object)->augmented;
  const int oscillates = process->frequency > 0.0 || process->signal_period.text;
  if (oscillates && process->order == 1)
    return bramah__fail_key(reader, item, BRAMAH_E_KEY, "an oscillation is of order 2");
  if (oscillates) process->order = 2;
  if (process->order == 2 && process->time_constant == 0.0 && !oscillates)
    return bramah__fail_key(reader, item, BRAMAH_E_KEY, "order 2 needs a 'time_constant'");
  return BRAMAH_OK;
}

/* A parameter, a bias or a gain. */
static bramah_status finish_augmented(bramah__reader *reader, const bramah__item *item, void *object)
{
  bramah__augmented_draft *draft = object;
  bramah_study_augmented *out = &draft->augmented;
  const char *sensor_of = draft->bias_of ? draft->bias_of : draft->gain_of;
  bramah__item parameter, of_sensor;
  bramah__item_find(item, "parameter", &parameter);
  bramah__item_find(item, draft->bias_of ? "bias_of" : "gain_of", &of_sensor);
  if (!draft->parameter && !sensor_of)
    return bramah__fail_key(reader, item, BRAMAH_E_KEY, "'parameter', 'bias_of' or 'gain_of' is needed");
  if (draft->parameter && draft->gain_of)
    return bramah__fail_key(reader, item, BRAMAH_E_KEY, "'parameter' and 'gain_of' are two different states");
  if (draft->gain_of && (draft->augmented.frequency > 0.0 || draft->augmented.signal_period.text))
    return bramah__fail_key(reader, item, BRAMAH_E_KEY, "a gain does not oscillate");
  const bramah_status status = finish_process(reader, item, draft);
  if (status) return status;
  out->kind = draft->parameter ? BRAMAH_AUGMENTED_PARAMETER
              : draft->bias_of ? BRAMAH_AUGMENTED_BIAS
                               : BRAMAH_AUGMENTED_GAIN;
  out->at = draft->parameter ? draft->parameter : sensor_of;
  out->at_line = (draft->parameter ? &parameter : &of_sensor)->node->line;

  /* A sensor that is there. */
  const bramah__study_draft *whole = reader->draft;
  const char *names[64];
  size_t n = 0;
  for (size_t i = 0; sensor_of && i < whole->study.n_sensors; i++) {
    const char *sensor = whole->sensors[i].options.name;
    if (sensor && strcmp(sensor, sensor_of) == 0) return BRAMAH_OK;
    if (sensor && n < sizeof names / sizeof names[0]) names[n++] = sensor;
  }
  if (sensor_of) {
    bramah__fail_item(reader, &of_sensor, BRAMAH_E_REFERENCE, "there is no sensor '%s'", sensor_of);
    bramah__add_suggestion(reader->diag, sensor_of, n, names, "; there are ");
    return BRAMAH_E_REFERENCE;
  }

  /* A parameter that nothing else estimates. */
  for (const bramah__augmented_draft *other = whole->augmented; other < draft; other++)
    if (other->parameter && strcmp(other->parameter, draft->parameter) == 0)
      return bramah__fail_item(reader, &parameter, BRAMAH_E_VALUE,
                               "this parameter is estimated by '%s' already", other->augmented.name);
  return BRAMAH_OK;
}

static const bramah__word orders[] = {{"1", 1}, {"2", 2}, {NULL, 0}};

/* Of every process. */
#define PROCESS_KEYS                                                                                         \
  BRAMAH__KEY("order", bramah__read_word, bramah__augmented_draft, augmented.order, .words = orders),        \
      BRAMAH__KEY("time_constant", bramah__read_quantity, bramah__augmented_draft, augmented.time_constant,  \
                  .unit = "s", .range = BRAMAH__POSITIVE),                                                   \
      BRAMAH__KEY("frequency", bramah__read_quantity, bramah__augmented_draft, augmented.frequency,          \
                  .unit = "Hz", .range = BRAMAH__POSITIVE),                                                  \
      BRAMAH__KEY("sigma", bramah__read_value, bramah__augmented_draft, augmented.sigma, .required = 1,      \
                  .range = BRAMAH__POSITIVE),                                                                \
      BRAMAH__KEY("least", bramah__read_value, bramah__augmented_draft, augmented.least, .required = 0),     \
      BRAMAH__KEY("most", bramah__read_value, bramah__augmented_draft, augmented.most, .required = 0)

static const bramah__key augmented_keys[] = {
    BRAMAH__KEY("parameter", bramah__read_text, bramah__augmented_draft, parameter, .required = 0),
    BRAMAH__KEY("bias_of", bramah__read_name, bramah__augmented_draft, bias_of, .excludes = "parameter"),
    BRAMAH__KEY("gain_of", bramah__read_name, bramah__augmented_draft, gain_of, .excludes = "bias_of"),
    BRAMAH__KEY("signal_period", bramah__read_value, bramah__augmented_draft, augmented.signal_period,
                .range = BRAMAH__POSITIVE, .excludes = "frequency"),
    PROCESS_KEYS,
    BRAMAH__KEY("noise", bramah__read_value, bramah__augmented_draft, augmented.noise,
                .range = BRAMAH__NOT_NEGATIVE),
    {0}};

static const bramah__table augmented_table = {
    .keys = augmented_keys, .size = sizeof(bramah__augmented_draft), .finish = finish_augmented};

/* ---- unknown commands ---- */

/* Without noise a command would be a constant. */
static const bramah__key unknown_keys[] = {PROCESS_KEYS,
                                           BRAMAH__KEY("noise", bramah__read_value, bramah__augmented_draft,
                                                       augmented.noise, .required = 1,
                                                       .range = BRAMAH__POSITIVE),
                                           {0}};

static const bramah__table unknown_table = {
    .keys = unknown_keys, .size = sizeof(bramah__augmented_draft), .finish = finish_process};

/* Unknown commands first, then what the file calls augmented. */
static bramah_status split_augmented(bramah__reader *reader, bramah__study_draft *draft)
{
  bramah_study *study = &draft->study;
  bramah_study_augmented *out =
      bramah__pool_take(reader->keep, study->n_augmented + draft->n_inputs, sizeof *out);
  size_t n = 0;
  if (!out) return bramah__no_memory(reader);

  /* The command is held at 0, and what it really is becomes its offset. */
  for (size_t i = 0; i < draft->n_inputs; i++) {
    const bramah__input_draft *input = &draft->inputs[i];
    if (!input->is_unknown) continue;
    out[n] = input->unknown.augmented;
    out[n].name = joined(reader, input->name, ".command");
    out[n].at = joined(reader, input->name, ".offset");
    out[n].input = input->name;
    out[n].kind = BRAMAH_AUGMENTED_PARAMETER;
    out[n].line = out[n].at_line = input->line;
    if (!out[n].name || !out[n].at) return bramah__no_memory(reader);
    n++;
  }
  study->n_unknown_inputs = n;

  /* An offset and an unknown command cannot be distinguished. */
  for (size_t i = 0; i < study->n_augmented; i++) {
    const bramah_study_augmented *one = &draft->augmented[i].augmented;
    for (size_t k = 0; one->kind == BRAMAH_AUGMENTED_PARAMETER && k < study->n_unknown_inputs; k++)
      if (strcmp(out[k].at, one->at) == 0)
        return bramah__failf(reader->diag, BRAMAH_E_VALUE, reader->file, one->at_line, one->name,
                             "this parameter is estimated as the unknown command of the input already");
    out[n++] = *one;
  }
  study->augmented = out;
  study->n_augmented = n;
  return BRAMAH_OK;
}

/* ---- phases ---- */

static const bramah__key condition_keys[] = {
    BRAMAH__KEY("above", bramah__read_value, bramah_study_condition, above, .required = 0),
    BRAMAH__KEY("below", bramah__read_value, bramah_study_condition, below, .required = 0),
    BRAMAH__KEY("measured_within", bramah__read_quantity, bramah_study_condition, within, .unit = "s",
                .range = BRAMAH__POSITIVE),
    {0}};

static bramah_status finish_condition(bramah__reader *reader, const bramah__item *item, void *object)
{
  const bramah_study_condition *c = object;
  const int of_output = c->above.text || c->below.text;
  if (of_output != (c->within > 0.0)) return BRAMAH_OK;
  return bramah__fail_key(reader, item, BRAMAH_E_KEY,
                          of_output ? "'above' and 'below' are of an output, 'measured_within' is of a sensor"
                                    : "'above', 'below' or 'measured_within' is needed");
}

static const bramah__table condition_table = {.keys = condition_keys,
                                              .size = sizeof(bramah_study_condition),
                                              .finish = finish_condition,
                                              .names_with_dots = 1};

static const bramah__key process_keys[] = {
    BRAMAH__KEY("noise", bramah__read_value, bramah_study_phase_process, noise, .required = 1,
                .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("time_constant", bramah__read_quantity, bramah_study_phase_process, time_constant,
                .unit = "s", .range = BRAMAH__POSITIVE),
    {0}};

static const bramah__table process_table = {.keys = process_keys, .size = sizeof(bramah_study_phase_process)};

static const bramah__key phase_joint_keys[] = {BRAMAH__KEY("acceleration_noise", bramah__read_value,
                                                           bramah_study_phase_process, noise, .required = 1,
                                                           .range = BRAMAH__NOT_NEGATIVE),
                                               {0}};

static const bramah__table phase_joint_table = {.keys = phase_joint_keys,
                                                .size = sizeof(bramah_study_phase_process)};

static const bramah__key phase_state_keys[] = {BRAMAH__KEY("noise", bramah__read_value,
                                                           bramah_study_phase_process, noise, .required = 1,
                                                           .range = BRAMAH__NOT_NEGATIVE),
                                               {0}};

static const bramah__table phase_state_table = {.keys = phase_state_keys,
                                                .size = sizeof(bramah_study_phase_process)};

static const bramah__key phase_keys[] = {
    BRAMAH__SECTION("begin", bramah_study_phase, begin, n_begin, &condition_table, .required = 1),
    BRAMAH__SECTION("end", bramah_study_phase, end, n_end, &condition_table, .required = 0),
    BRAMAH__KEY("off_delay", bramah__read_quantity, bramah_study_phase, off_delay, .unit = "s",
                .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__SECTION("augmented", bramah_study_phase, augmented, n_augmented, &process_table, .required = 0),
    BRAMAH__SECTION("joints", bramah_study_phase, joints, n_joints, &phase_joint_table, .required = 0),
    BRAMAH__SECTION("volumes", bramah_study_phase, volumes, n_volumes, &phase_state_table, .required = 0),
    BRAMAH__SECTION("contacts", bramah_study_phase, contacts, n_contacts, &phase_state_table, .required = 0),
    {0}};

static bramah_status finish_phase(bramah__reader *reader, const bramah__item *item, void *object)
{
  const bramah_study_phase *p = object;
  if (p->n_augmented + p->n_joints + p->n_volumes + p->n_contacts > 0) return BRAMAH_OK;
  return bramah__fail_key(
      reader, item, BRAMAH_E_KEY,
      "'augmented', 'joints', 'volumes' or 'contacts' is needed: what has another noise in it");
}

static const bramah__table phase_table = {
    .keys = phase_keys, .size = sizeof(bramah_study_phase), .finish = finish_phase};

/* ---- noise on parameters ---- */

static const bramah__key density_key = {.read = bramah__read_value,
                                        .offset = offsetof(bramah_study_parameter_noise, density),
                                        .range = BRAMAH__POSITIVE};

static const bramah__table parameter_noise_table = {
    .size = sizeof(bramah_study_parameter_noise), .value = &density_key, .names_with_dots = 1};

/* ---- uncertainty ---- */

static const bramah__key uncertain_key = {.name = "uncertainty",
                                          .read = bramah__read_uncertain,
                                          .words = bramah__word_fixed,
                                          .range = BRAMAH__NOT_NEGATIVE};

static const bramah__table uncertain_table = {
    .size = sizeof(bramah_study_uncertain), .value = &uncertain_key, .names_with_dots = 1};

static const bramah__word budgets[] = {{"default", 1}, {"fixed", 0}, {NULL, 0}};

/* A word, or what is said of parameters. */
static bramah_status read_budget(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                 void *object)
{
  static const bramah__key word = {
      .name = "uncertainty", .offset = offsetof(bramah_study_budget, is_on), .words = budgets};
  static const bramah__key list =
      BRAMAH__SECTION("uncertainty", bramah_study_budget, parameters, n, &uncertain_table, .required = 0);
  bramah_study_budget *budget = (bramah_study_budget *)(void *)((unsigned char *)object + key->offset);
  if (item->node->kind != BRAMAH__NODE_MAPPING) return bramah__read_word(reader, item, &word, budget);
  budget->is_on = 1;
  const bramah_status status = bramah__read_section(reader, item, &list, budget);

  /* 'others' is no parameter. */
  bramah_study_uncertain *out =
      (bramah_study_uncertain *)(uintptr_t)budget->parameters; /* ours, const for the user */
  size_t n = 0;
  for (size_t i = 0; i < budget->n; i++) {
    if (out[i].name && strcmp(out[i].name, "others") == 0)
      budget->others_fixed = 1;
    else
      out[n++] = out[i];
  }
  budget->n = n;
  return status;
}

/* ---- inputs ---- */

static const bramah__key input_keys[] = {
    BRAMAH__KEY("column", bramah__read_text, bramah__input_draft, column.name, .required = 0),
    BRAMAH__COLUMN_KEYS(bramah__input_draft, column),
    BRAMAH__KEY("unknown", bramah__read_child, bramah__input_draft, unknown, .table = &unknown_table),
    {0}};

/* What is known of a column, or what is believed of a command that nobody wrote down: not both. */
static bramah_status finish_input(bramah__reader *reader, const bramah__item *item, void *object)
{
  bramah__input_draft *draft = object;
  bramah__item unknown, other;
  draft->is_unknown = bramah__item_find(item, "unknown", &unknown);
  for (const bramah__key *key = input_keys; draft->is_unknown && key->name; key++) {
    if (strcmp(key->name, "unknown") == 0 || !bramah__item_find(item, key->name, &other)) continue;
    return bramah__fail_key(reader, &unknown, BRAMAH_E_KEY, "'%s' and 'unknown' exclude each other",
                            key->name);
  }
  return BRAMAH_OK;
}

/* The name of the column alone, or keys. */
static const bramah__table input_table = {
    .keys = input_keys, .size = sizeof(bramah__input_draft), .value = &input_keys[0], .finish = finish_input};

/* Known ones become columns. */
static bramah_status split_inputs(bramah__reader *reader, bramah__study_draft *draft)
{
  bramah_study *study = &draft->study;
  bramah_study_column *columns = bramah__pool_take(reader->keep, study->n_inputs, sizeof *columns);
  size_t n = 0;
  if (!columns) return bramah__no_memory(reader);
  draft->n_inputs = study->n_inputs;
  for (size_t i = 0; i < draft->n_inputs; i++) {
    const bramah__input_draft *from = &draft->inputs[i];
    if (from->is_unknown) continue;
    bramah_study_column *column = &columns[n++];
    *column = from->column;
    column->target = from->name;
    column->line = from->line;
    if (!column->name) column->name = joined(reader, from->name, ".command");
    if (!column->name) return bramah__no_memory(reader);
  }
  study->inputs = columns;
  study->n_inputs = n;
  return BRAMAH_OK;
}

/* ---- tuning ---- */

static const bramah__word criteria[] = {{"likelihood", BRAMAH_TUNE_LIKELIHOOD},
                                        {"nis", BRAMAH_TUNE_NIS},
                                        {"rmse", BRAMAH_TUNE_RMSE},
                                        {"prediction", BRAMAH_TUNE_PREDICTION},
                                        {NULL, 0}};

static const bramah__word tune_methods[] = {
    {"scoring", BRAMAH_TUNE_SCORING}, {"simplex", BRAMAH_TUNE_SIMPLEX}, {NULL, 0}};

static const bramah__word scales[] = {{"log", 0}, {"linear", 1}, {NULL, 0}};

static const bramah__key word_key = {.read = bramah__read_text};
static const bramah__table word_table = {.size = sizeof(const char *), .value = &word_key};

/* The bounds and the step between them. */
static bramah_status finish_tuned(bramah__reader *reader, const bramah__item *item, void *object)
{
  const bramah_study_tuned *tuned = object;
  const bramah__key any = {.name = "value"};
  bramah__item low, high, by;
  bramah__quantity least, most, step;
  bramah__item_find(item, "least", &low);
  bramah__item_find(item, "most", &high);
  bramah_status status = bramah__item_quantity(reader, &low, &any, NULL, &least);
  if (!status) status = bramah__item_quantity(reader, &high, &any, NULL, &most);
  if (status) return status;
  if (!bramah__same_dimension(least.dimension, most.dimension))
    return bramah__fail_item(reader, &high, BRAMAH_E_UNIT, "the two bounds have different units");
  if (!(least.si < most.si))
    return bramah__fail_item(reader, &high, BRAMAH_E_VALUE,
                             "the bounds are inverted: 'most' must be larger than 'least'");
  if (!tuned->linear && !(least.si > 0.0))
    return bramah__fail_item(reader, &low, BRAMAH_E_VALUE,
                             "on a logarithmic scale bounds must be positive; give 'scale: linear'");

  /* Up or down, one of the two must stay within the bounds from wherever between them. */
  if (!bramah__item_find(item, "step", &by)) return BRAMAH_OK;
  status = bramah__item_quantity(reader, &by, &any, NULL, &step);
  if (status) return status;
  if (!(step.si > 0.0) || !bramah__same_dimension(step.dimension, least.dimension))
    return bramah__fail_item(reader, &by, BRAMAH_E_VALUE,
                             "the step must be positive and have the unit of the bounds");
  if (step.si <= 0.5 * (most.si - least.si)) return BRAMAH_OK;
  return bramah__fail_item(reader, &by, BRAMAH_E_VALUE,
                           "the step must not be longer than half the distance from 'least' to 'most'");
}

static const bramah__key tuned_keys[] = {
    BRAMAH__KEY("least", bramah__read_value, bramah_study_tuned, least, .required = 1),
    BRAMAH__KEY("most", bramah__read_value, bramah_study_tuned, most, .required = 1),
    BRAMAH__KEY("step", bramah__read_value, bramah_study_tuned, step, .required = 0),
    BRAMAH__KEY("scale", bramah__read_word, bramah_study_tuned, linear, .words = scales),
    BRAMAH__KEY("also", bramah__read_list, bramah_study_tuned, also, .table = &word_table,
                .count_offset = offsetof(bramah_study_tuned, n_also)),
    {0}};

static const bramah__table tuned_table = {
    .keys = tuned_keys, .size = sizeof(bramah_study_tuned), .finish = finish_tuned, .names_with_dots = 1};

static bramah_status finish_tune(bramah__reader *reader, const bramah__item *item, void *object)
{
  bramah_study_tune *tune = object;
  bramah__item at;
  if (!bramah__item_find(item, "penalty", &at)) tune->penalty = -1.0;
  if (tune->method != BRAMAH_TUNE_SCORING || tune->criterion == BRAMAH_TUNE_LIKELIHOOD) return BRAMAH_OK;
  bramah__item_find(item, "method", &at);
  return bramah__fail_item(reader, &at, BRAMAH_E_VALUE,
                           "scoring is for the likelihood; other criteria want simplex");
}

static const bramah__key tune_keys[] = {
    BRAMAH__KEY("criterion", bramah__read_word, bramah_study_tune, criterion, .words = criteria),
    BRAMAH__KEY("method", bramah__read_word, bramah_study_tune, method, .words = tune_methods),
    BRAMAH__KEY("penalty", bramah__read_quantity, bramah_study_tune, penalty, .unit = "1",
                .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("settle", bramah__read_quantity, bramah_study_tune, settle, .unit = "s",
                .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("ahead", bramah__read_integer, bramah_study_tune, ahead, .required = 0),
    BRAMAH__KEY("outputs", bramah__read_list, bramah_study_tune, outputs, .table = &word_table,
                .count_offset = offsetof(bramah_study_tune, n_outputs)),
    BRAMAH__SECTION("parameters", bramah_study_tune, parameters, n_parameters, &tuned_table, .required = 1),
    {0}};

static const bramah__table tune_table = {.keys = tune_keys, .finish = finish_tune};

/* ---- the whole ---- */

/* ---- hypotheses ---- */

/* A value, or a change by a share of it: "-20 %". */
static bramah_status read_hypothetical(bramah__reader *reader, const bramah__item *item,
                                       const bramah__key *key, void *object)
{
  bramah_study_parameter *out = (bramah_study_parameter *)(void *)((unsigned char *)object + key->offset);
  bramah_status status = BRAMAH_OK;
  const char *text = item->node->is_set ? item->node->text : bramah__item_text(reader, item, &status);
  if (!text) return status;
  if (item->node->is_set || strcmp(text, "fixed") == 0 ||
      !bramah__uncertainty_share(reader, text, &out->share))
    return bramah__read_value(reader, item, key, &out->value);
  return isfinite(out->share)
             ? BRAMAH_OK
             : bramah__fail_item(reader, item, BRAMAH_E_VALUE, "this is not a finite number");
}

static const bramah__key hypothetical_key = {
    .name = "value", .read = read_hypothetical, .shape = BRAMAH__SHAPE_QUANTITY};
static const bramah__table hypothetical_table = {
    .size = sizeof(bramah_study_parameter), .value = &hypothetical_key, .names_with_dots = 1};

static const bramah__key prior_keys[] = {BRAMAH__KEY("prior", bramah__read_quantity, bramah_study_hypothesis,
                                                     prior, .unit = "1", .range = BRAMAH__POSITIVE),
                                         {0}};

/* Names of parameters have a dot, 'prior' has none. */
static bramah_status read_hypothesis(bramah__reader *reader, const bramah__item *item, void *object)
{
  static const bramah__key list = BRAMAH__SECTION("hypotheses", bramah_study_hypothesis, parameters, n,
                                                  &hypothetical_table, .required = 0);
  bramah_study_hypothesis *out = object;
  bramah__item at;
  bramah_status status = bramah__read_section(reader, item, &list, out);
  if (status || !bramah__item_find(item, "prior", &at)) return status;
  bramah_study_parameter *parameters = (bramah_study_parameter *)(uintptr_t)out->parameters; /* ours */
  size_t n = 0;
  for (size_t i = 0; i < out->n; i++)
    if (strcmp(parameters[i].name, "prior") != 0) parameters[n++] = parameters[i];
  out->n = n;
  return bramah__read_quantity(reader, &at, prior_keys, out);
}

static const bramah__table hypothesis_table = {.keys = prior_keys,
                                               .size = sizeof(bramah_study_hypothesis),
                                               .read = read_hypothesis,
                                               .others = &hypothetical_table};

/* Those without a prior probability share what the others leave. */
static bramah_status share_priors(bramah__reader *reader, const bramah__item *item, size_t n,
                                  bramah_study_hypothesis *list)
{
  double sum = 0.0;
  size_t open = 0;
  for (size_t i = 0; i < n; i++) {
    sum += list[i].prior;
    open += list[i].prior == 0.0;
  }
  if (open ? sum >= 1.0 : fabs(sum - 1.0) > 1e-6)
    return bramah__fail_key(reader, item, BRAMAH_E_VALUE,
                            open ? "the prior probabilities leave nothing for those without one"
                                 : "the prior probabilities must add up to 1");
  for (size_t i = 0; i < n; i++)
    list[i].prior = list[i].prior > 0.0 ? list[i].prior / (open ? 1.0 : sum) : (1.0 - sum) / (double)open;
  return BRAMAH_OK;
}

static bramah_status read_hypotheses(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                     void *object)
{
  static const bramah__key list =
      BRAMAH__SECTION("hypotheses", bramah_study_hypotheses, list, n, &hypothesis_table, .required = 1);
  bramah_study_hypotheses *out = (bramah_study_hypotheses *)(void *)((unsigned char *)object + key->offset);
  const size_t mistakes = reader->mistakes;
  const bramah_status status = bramah__read_section(reader, item, &list, out);
  if (status || reader->mistakes != mistakes) return status;
  if (out->n < 2)
    return bramah__fail_key(reader, item, BRAMAH_E_VALUE, "one hypothesis has nothing to compete with");
  return share_priors(reader, item, out->n, (bramah_study_hypothesis *)(uintptr_t)out->list);
}

static bramah_status check_hypotheses(bramah__reader *reader, const bramah_study *study)
{
  const bramah_study_hypotheses *h = &study->hypotheses;
  const char *what = study->adapt.line ? "'adapt': noise would grow until it explains a wrong one"
                     : study->fusion == BRAMAH_FUSION_BLOCK ? "'fusion: block', which gives no likelihoods"
                                                            : NULL;
  if (!h->n || !what) return BRAMAH_OK;
  return bramah__failf(reader->diag, BRAMAH_E_VALUE, study->file, h->line, "hypotheses", "do not go with %s",
                       what);
}

static const bramah__key study_keys[] = {
    BRAMAH__KEY("study", bramah__read_text, bramah__study_draft, study.name, .required = 1),
    BRAMAH__KEY("machine", bramah__read_path, bramah__study_draft, study.machine_file, .required = 0),
    BRAMAH__KEY("plant", bramah__read_child, bramah__study_draft, study.plant, .table = &plant_table,
                .line = offsetof(bramah__study_draft, study.plant.line)),
    BRAMAH__KEY("display", bramah__read_path, bramah__study_draft, study.display_file, .required = 0),
    BRAMAH__KEY("changes", bramah__read_changes, bramah__study_draft, study.changes,
                .count_offset = offsetof(bramah__study_draft, study.n_changes)),
    BRAMAH__KEY("simulated", bramah__read_changes, bramah__study_draft, study.simulated,
                .count_offset = offsetof(bramah__study_draft, study.n_simulated)),
    BRAMAH__KEY("time", bramah__read_child, bramah__study_draft, study.time, .table = &bramah__time_table,
                .line = offsetof(bramah__study_draft, study.time.line)),
    BRAMAH__KEY("log", bramah__read_child, bramah__study_draft, study.log, .table = &bramah__log_table,
                .line = offsetof(bramah__study_draft, study.log.line)),
    BRAMAH__SECTION("inputs", bramah__study_draft, inputs, study.n_inputs, &input_table, .required = 0),
    BRAMAH__SECTION("sensors", bramah__study_draft, sensors, study.n_sensors, &bramah__sensor_table,
                    .required = 1),
    {.name = "filter", .read = bramah__read_child, .table = &filter_table},
    BRAMAH__KEY("adapt", bramah__read_child, bramah__study_draft, study.adapt, .table = &adapt_table,
                .line = offsetof(bramah__study_draft, study.adapt.line)),
    BRAMAH__KEY("tune", bramah__read_child, bramah__study_draft, study.tune, .table = &tune_table,
                .line = offsetof(bramah__study_draft, study.tune.line)),
    BRAMAH__SECTION("augmented", bramah__study_draft, augmented, study.n_augmented, &augmented_table,
                    .required = 0),
    BRAMAH__SECTION("phases", bramah__study_draft, study.phases, study.n_phases, &phase_table, .required = 0),
    BRAMAH__KEY("uncertainty", read_budget, bramah__study_draft, study.uncertainty,
                .shape = BRAMAH__SHAPE_SECTION, .words = budgets, .table = &uncertain_table,
                .given = offsetof(bramah__study_draft, study.uncertainty.is_stated),
                .line = offsetof(bramah__study_draft, study.uncertainty.line)),
    BRAMAH__KEY("hypotheses", read_hypotheses, bramah__study_draft, study.hypotheses,
                .shape = BRAMAH__SHAPE_SECTION, .table = &hypothesis_table,
                .line = offsetof(bramah__study_draft, study.hypotheses.line)),
    BRAMAH__SECTION("parameter_noise", bramah__study_draft, study.parameter_noise, study.n_parameter_noise,
                    &parameter_noise_table, .required = 0),
    BRAMAH__SECTION("joints", bramah__study_draft, study.joints, study.n_joints, &joint_table, .required = 0),
    BRAMAH__SECTION("volumes", bramah__study_draft, study.volumes, study.n_volumes, &volume_table,
                    .required = 0),
    BRAMAH__SECTION("contacts", bramah__study_draft, study.contacts, study.n_contacts, &contact_table,
                    .required = 0),
    {0}};

const bramah__table bramah__study_table = {.keys = study_keys};

bramah_status bramah__study_read(bramah__study_draft *draft, bramah_mistake tell, void *user,
                                 bramah_diag *diag)
{
  bramah__reader reader;
  bramah__node *root = draft->root;
  bramah_study *study = &draft->study;
  bramah_status status = bramah__reader_open(&reader, &draft->pool, draft->source->file, diag);
  reader.draft = draft;
  reader.tell = tell;
  reader.tell_user = user;
  if (!status) status = bramah__apply_settings(&reader, draft->n_settings, draft->settings, 0, &root);

  /* The file, from these defaults on. */
  take_preset(draft);
  study->time.column = "t";
  study->log.longest_gap_ns = INT64_C(10000000000);
  study->log.atmosphere = 101325.0;
  study->file = reader.file;
  const bramah__item item = {.node = root};
  if (!status) status = bramah__check_kind(&reader, root, "study", &bramah__study_table);
  if (!status) status = bramah__read_table(&reader, &item, &bramah__study_table, draft);
  study->time_column = study->time.column;

  /* What its parts become. */
  const int well = !reader.mistakes;
  if (!status && well) status = take_plant(&reader, &item, study);
  if (!status && well) status = split_inputs(&reader, draft);
  if (!status && well) status = split_augmented(&reader, draft);
  if (study->n_unknown_inputs && !draft->has_gate) draft->gate = 0.0; /* what tells of a leap is no fault */
  if (!status && well) status = bramah__split_sensors(&reader, draft);
  if (!status && well) status = bramah__check_log_files(&reader, study);
  if (!status && well) status = check_hypotheses(&reader, study);
  if (!study->uncertainty.is_stated)
    study->uncertainty.is_on = !draft->papers && study->transition == BRAMAH_TRANSITION_STEP;
  if (!status && well && study->uncertainty.is_on && study->transition != BRAMAH_TRANSITION_STEP)
    status = bramah__failf(reader.diag, BRAMAH_E_VALUE, study->file, study->uncertainty.line, "uncertainty",
                           "needs 'filter: {transition: step}': by the others an error of a parameter never "
                           "reaches the pressures");
  return bramah__reader_close(&reader, status);
}

/* tell NULL: the first mistake ends the reading. */
/* A file of another kind that begins like a study. */
static bramah_status look_at_kind(const bramah__node *root, bramah_diag *diag)
{
  static const char *const marks[][2] = {{"bodies", "machine"}, {"gauges", "display"}};
  for (size_t i = 0; i < root->n; i++)
    for (size_t k = 0; k < sizeof marks / sizeof *marks; k++) {
      const bramah__node *key = root->keys[i];
      if (key->kind != BRAMAH__NODE_SCALAR || strcmp(key->text, marks[k][0]) != 0) continue;
      bramah__failf(diag, BRAMAH_E_KEY, NULL, 0, NULL, "this is no study file: a %s file has '%s'",
                    marks[k][1], marks[k][0]);
      return bramah__at(diag, key->file, key->line, key->column);
    }
  return BRAMAH_OK;
}

static bramah_status load(const char *path, size_t n_changes, const bramah_change *changes,
                          bramah_mistake tell, void *user, bramah_diag *diag, bramah_study **out)
{
  bramah__study_draft *draft = calloc(1, sizeof *draft);
  bramah__source *source = NULL;
  bramah__reader reader;
  if (!draft) return bramah__fail(diag, BRAMAH_E_MEMORY, NULL, "not enough memory for a study");
  bramah_status status = bramah__source_open(path, diag, &source);
  draft->source = draft->own = source;
  if (!status && source->root) status = look_at_kind(source->root, diag);

  /* The tree with the changes, which belongs to the source from now on. */
  if (!status) {
    status = bramah__reader_open(&reader, &source->names, source->file, diag);
    reader.scratch = source->tree;
    draft->root = source->root;
    for (size_t i = 0; !status && i < n_changes; i++) {
      bramah_change own = changes[i]; /* messages name its file after the caller's text has gone */
      if (own.file) own.file = bramah__pool_text(&source->names, own.file, strlen(own.file));
      status = bramah__changes_apply(&reader, 1, &own, &draft->root);
      draft->changes_hash = bramah__fnv(draft->changes_hash, own.path, strlen(own.path) + 1);
      draft->changes_hash = bramah__fnv(draft->changes_hash, own.value, strlen(own.value) + 1);
    }
    source->tree = reader.scratch;
    reader.scratch = (bramah__pool){0};
    status = bramah__reader_close(&reader, status);
  }
  if (status && tell) tell(user, diag);
  if (!status) status = bramah__study_read(draft, tell, user, diag);
  if (status)
    bramah_study_free(&draft->study);
  else
    *out = &draft->study;
  return status;
}

bramah_status bramah_study_load(const char *path, size_t n_changes, const bramah_change *changes,
                                bramah_diag *diag, bramah_study **out)
{
  return load(path, n_changes, changes, NULL, NULL, diag, out);
}

bramah_status bramah__study_check(const char *path, bramah_mistake tell, void *user)
{
  bramah_study *study = NULL;
  bramah_diag diag;
  const bramah_status status = load(path, 0, NULL, tell, user, &diag, &study);
  bramah_study_free(study);
  return status;
}

void bramah_study_free(bramah_study *study)
{
  bramah__study_draft *draft = (bramah__study_draft *)study;
  if (!draft) return;
  bramah__pool_free(&draft->pool);
  bramah__pool_free(&draft->refs);
  bramah__source_free(draft->own);
  bramah__source_free(draft->own_machine);
  free(draft);
}
