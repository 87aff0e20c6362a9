/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Section `hydraulics` of a machine file: oil, supplies and volumes by tables of their own, all else by the tables of
 * the core (bramah_element_kind_at). */
#define _GNU_SOURCE /* locale_t */
#include "lib/base/diag.h"
#include "lib/io/machine_file.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

/* ---- coordinates of joints, in which actuators push and turn ---- */

/* ---- oil, supplies, volumes ---- */

static bramah_status finish_oil(bramah__reader *reader, const bramah__item *item, void *object)
{
  bramah__loaded *draft = object;
  bramah_air *air = &draft->machine.air;
  bramah__item exponent, pressure;
  if (!bramah__item_find(item, "air_exponent", &exponent)) air->exponent = 1.4;
  if (air->exponent < 1.0)
    return bramah__fail_item(reader, &exponent, BRAMAH_E_VALUE, "exponent must not be below 1");
  if (air->fraction > 0.0 || !bramah__item_find(item, "vapour_pressure", &pressure)) return BRAMAH_OK;
  return bramah__fail_key(reader, &pressure, BRAMAH_E_KEY,
                          "a vapour pressure needs an 'air_fraction': it is the air that forms the cavity");
}

static const bramah__key oil_keys[] = {
    BRAMAH__KEY("bulk_modulus", bramah__read_quantity, bramah__loaded, machine.oil_bulk_modulus,
                .required = 1, .unit = "Pa", .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("density", bramah__read_quantity, bramah__loaded, oil_density, .unit = "kg/m^3",
                .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("air_fraction", bramah__read_quantity, bramah__loaded, machine.air.fraction, .unit = "1",
                .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("air_exponent", bramah__read_quantity, bramah__loaded, machine.air.exponent, .unit = "1",
                .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("vapour_pressure", bramah__read_quantity, bramah__loaded, machine.air.vapour_pressure,
                .unit = "Pa", .range = BRAMAH__NOT_NEGATIVE),
    {0}};

static const bramah__table oil_table = {.keys = oil_keys, .finish = finish_oil};

static const bramah__key supply_keys[] = {BRAMAH__KEY("pressure", bramah__read_quantity, bramah_supply,
                                                      pressure, .required = 1, .unit = "Pa",
                                                      .range = BRAMAH__NOT_NEGATIVE),
                                          {0}};

static const bramah__table supply_table = {.keys = supply_keys, .size = sizeof(bramah_supply)};

static const bramah__key hose_keys[] = {BRAMAH__KEY("volume", bramah__read_quantity, bramah_hose, volume,
                                                    .required = 1, .unit = "m^3", .range = BRAMAH__POSITIVE),
                                        BRAMAH__KEY("bulk_modulus", bramah__read_quantity, bramah_hose,
                                                    bulk_modulus, .required = 1, .unit = "Pa",
                                                    .range = BRAMAH__POSITIVE),
                                        {0}};

static const bramah__table hose_table = {.keys = hose_keys, .size = sizeof(bramah_hose)};

/* A pressure, or the word; count_offset is that of the bramah_pressure_initial. */
static bramah_status read_pressure(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                   void *object)
{
  bramah_status status;
  bramah_pressure_initial initial = BRAMAH_PRESSURE_GIVEN;
  const char *text = bramah__item_text(reader, item, &status);
  if (!text) return status;
  if (strcmp(text, "equilibrium") == 0)
    initial = BRAMAH_PRESSURE_EQUILIBRIUM;
  else
    status = bramah__read_quantity(reader, item, key, object);
  if (status && !bramah__unit_of(text)) bramah__add_text(reader->diag, ", or the word 'equilibrium'");
  memcpy((unsigned char *)object + key->count_offset, &initial, sizeof initial);
  return status;
}

static const bramah__word rest[] = {{"equilibrium", BRAMAH_PRESSURE_EQUILIBRIUM}, {NULL, 0}};

static const bramah__key volume_keys[] = {
    BRAMAH__KEY("pressure", read_pressure, bramah_volume, initial_pressure, .shape = BRAMAH__SHAPE_QUANTITY,
                .words = rest, .required = 1, .unit = "Pa", .range = BRAMAH__NOT_NEGATIVE,
                .count_offset = offsetof(bramah_volume, initial)),
    BRAMAH__KEY("hoses", bramah__read_list, bramah_volume, hoses, .table = &hose_table,
                .count_offset = offsetof(bramah_volume, n_hoses)),
    {0}};

static const bramah__table volume_table = {.keys = volume_keys, .size = sizeof(bramah_volume)};

/* ---- readers of what the tables of the core know ---- */

static const bramah__word friction_models[] = {{"none", BRAMAH_FRICTION_NONE},
                                               {"viscous", BRAMAH_FRICTION_VISCOUS},
                                               {"bengisu-akay", BRAMAH_FRICTION_BENGISU_AKAY},
                                               {"brown-mcphee", BRAMAH_FRICTION_BROWN_MCPHEE},
                                               {"lugre", BRAMAH_FRICTION_LUGRE},
                                               {"modified-lugre", BRAMAH_FRICTION_MODIFIED_LUGRE},
                                               {NULL, 0}};

static const bramah__word compensators[] = {{"none", BRAMAH_COMPENSATOR_NONE},
                                            {"before", BRAMAH_COMPENSATOR_BEFORE},
                                            {"after", BRAMAH_COMPENSATOR_AFTER},
                                            {NULL, 0}};

/* Pairs [spool, opening] of a valve into a bramah_characteristic. */
static bramah_status read_characteristic(bramah__reader *reader, const bramah__item *list,
                                         const bramah__key *key, void *object)
{
  const bramah__curve_key curve = {.pair = "[spool, opening]",
                                   .example = "[1 V, 0.5 V]",
                                   .x_name = "spools",
                                   .least = 2,
                                   .x = {.unit = "V"},
                                   .y = {.unit = "V", .range = key->range}};
  bramah_characteristic out;
  const bramah_status status =
      bramah__read_curve(reader, list, &curve, &out.n_points, &out.spools, &out.openings);
  if (!status) memcpy((unsigned char *)object + key->offset, &out, sizeof out);
  return status;
}

/* By the type of the key: how it is read; the rest follows from the key. */
static const bramah__key readers[] = {
    [0] = {.read = bramah__read_name},
    [BRAMAH_KEY_QUANTITY] = {.read = bramah__read_quantity},
    [BRAMAH_KEY_PART] = {.read = bramah__read_child},
    [BRAMAH_KEY_BODIES] = {.read = bramah__read_pair,
                           .element = bramah__read_name,
                           .stride = sizeof(const char *)},
    [BRAMAH_KEY_POINTS] = {.read = bramah__read_pair,
                           .element = bramah__read_point,
                           .stride = sizeof(double[3]),
                           .unit = "m",
                           .count = 3},
    [BRAMAH_KEY_CHARACTERISTIC] = {.read = read_characteristic, .shape = BRAMAH__SHAPE_CURVE},
    [BRAMAH_KEY_FRICTION_MODEL] = {.read = bramah__read_word, .words = friction_models},
    [BRAMAH_KEY_PRESSURE] = {.read = read_pressure, .shape = BRAMAH__SHAPE_QUANTITY, .words = rest},
    [BRAMAH_KEY_DIAMETER] = {.read = bramah__read_nothing},
    [BRAMAH_KEY_COMPENSATOR] = {.read = bramah__read_word, .words = compensators},
};

static bramah__range range_of(const bramah_element_key *key)
{
  return key->range == BRAMAH_KEY_NOT_NEGATIVE                                    ? BRAMAH__NOT_NEGATIVE
         : key->range == BRAMAH_KEY_POSITIVE || key->range == BRAMAH_KEY_FROM_ONE ? BRAMAH__POSITIVE
                                                                                  : BRAMAH__ANY;
}

static const bramah_element_key *key_of(const bramah_element_kind *kind, const char *name)
{
  const bramah_element_key *key = kind->keys;
  while (key->name && strcmp(key->name, name) != 0) key++;
  return key;
}

static int has_factors(const bramah_element_kind *kind, const char *result)
{
  for (const bramah_element_key *key = kind->keys; key->name; key++)
    if (key->factor_of && strcmp(key->factor_of, result) == 0) return 1;
  return 0;
}

/* May another key be given for this one: factors, a diameter, a cylinder for nodes? */
static int has_another(const bramah_element_kind *kind, const bramah_element_key *wanted)
{
  for (const bramah_element_key *key = kind->keys; key->name; key++)
    if ((key->either && strcmp(key->either, wanted->name) == 0) ||
        (key->type == BRAMAH_KEY_CYLINDER && wanted->type == BRAMAH_KEY_NODE))
      return 1;
  return has_factors(kind, wanted->name);
}

/* The table that an element of the section, or a part of an element, was read by. */
static const bramah_element_kind *kind_of(const bramah__item *item)
{
  const bramah_element_kind *kind = NULL;
  const bramah__item *hydraulics = item->parent->parent;
  if (hydraulics->parent->parent) return key_of(kind_of(item->parent), item->name)->part;
  for (size_t i = 0; (kind = bramah_element_kind_at(i)) != NULL && strcmp(kind->section, item->parent->name);)
    i++;
  return kind;
}

/* ---- values given in one of two forms ---- */

/* A value that a key gives, or the product of its factors: 1 for the value, 2 for the factors, 0 and the error
 * reported otherwise. */
static int value_or_factors(bramah__reader *reader, const bramah__item *item, const bramah_element_key *keys,
                            const char *result)
{
  bramah__item found, factor;
  const int has_value = bramah__item_find(item, result, &found);
  const bramah_element_key *missing = NULL;
  size_t n = 0;
  for (const bramah_element_key *key = keys; key->name; key++) {
    if (!key->factor_of || strcmp(key->factor_of, result) != 0) continue;
    if (bramah__item_find(item, key->name, &found))
      factor = found, n++;
    else
      missing = key;
  }
  if (has_value != (n > 0)) {
    if (n == 0 || !missing) return has_value ? 1 : 2;
    bramah__fail_missing(reader, item, missing->name);
    return 0;
  }
  bramah__fail_key(reader, has_value ? &factor : item, BRAMAH_E_KEY,
                   has_value ? "'%s' stands for" : "'%s', or", result);
  const char *between = " '";
  for (const bramah_element_key *key = keys; key->name; key++) {
    if (!key->factor_of || strcmp(key->factor_of, result) != 0) continue;
    bramah__add_text(reader->diag, between);
    bramah__add_text(reader->diag, key->name);
    between = "' and '";
  }
  bramah__add_text(reader->diag, has_value ? "': they exclude each other" : "', is needed");
  return 0;
}

/* The value of a key as the product of its factors, where they are given instead. */
static bramah_status read_product(bramah__reader *reader, const bramah__item *item,
                                  const bramah_element_kind *kind, const char *result, double *out)
{
  const bramah__loaded *draft = reader->draft;
  double product = 1.0;
  const int how = value_or_factors(reader, item, kind->keys, result);
  if (how != 2) return how ? BRAMAH_OK : BRAMAH_E_KEY;
  for (const bramah_element_key *key = kind->keys; key->name; key++) {
    if (!key->factor_of || strcmp(key->factor_of, result) != 0) continue;
    const bramah__key factor = {.name = key->name, .unit = key->unit, .range = range_of(key)};
    double value = 0.0;
    const bramah_status status = bramah__find_quantity(reader, item, &factor, &value);
    if (status) return status;
    if (kind->factors_by_density && draft->oil_density <= 0.0) {
      bramah__item given;
      bramah__item_find(item, key->name, &given);
      return bramah__fail_key(reader, &given, BRAMAH_E_KEY,
                              "'%s' needs 'hydraulics.oil.density', which is missing", key->name);
    }
    product *= value;
  }
  *out = kind->factors_by_density ? product * sqrt(2.0 / draft->oil_density) : product;
  return BRAMAH_OK;
}

static double *number_of(void *object, const bramah_element_key *key)
{
  return (double *)(void *)((unsigned char *)object + key->offset);
}

/* Areas of which diameters are given. A rod with a piston area is as good as one with a bore. */
static bramah_status areas_of_diameters(bramah__reader *reader, const bramah__item *item,
                                        const bramah_element_kind *kind, void *object)
{
  const bramah__key bore_key = {.name = "bore", .unit = "m", .range = BRAMAH__POSITIVE};
  const bramah__key rod_key = {.name = "rod", .unit = "m", .range = BRAMAH__POSITIVE};
  double bore = 0.0, rod = 0.0, *piston_area = number_of(object, key_of(kind, "piston_area")),
         *rod_area = number_of(object, key_of(kind, "rod_area"));
  bramah__item rod_item;
  bramah_status status = bramah__find_quantity(reader, item, &bore_key, &bore);
  if (!status) status = bramah__find_quantity(reader, item, &rod_key, &rod);
  if (status) return status;
  if (bore > 0.0) *piston_area = PI / 4.0 * (bore * bore);
  if (!bramah__item_find(item, "rod", &rod_item)) return BRAMAH_OK;
  *rod_area = bore > 0.0 ? PI / 4.0 * (bore * bore - rod * rod) : *piston_area - PI / 4.0 * rod * rod;
  if (*rod_area > 0.0) return BRAMAH_OK;
  return bramah__fail_item(reader, &rod_item, BRAMAH_E_VALUE,
                           "rod must be thinner than the bore; are bore and rod exchanged?");
}

/* ---- elements and their parts ---- */

/* Which keys go together: those one of which is needed, those that exclude each other, those that a model of friction
 * needs, and nodes or a cylinder. */
static bramah_status check_given(bramah__reader *reader, const bramah__item *item,
                                 const bramah_element_kind *kind, const void *object)
{
  bramah__item found, other, cylinder = {0};
  bramah_friction_model model = BRAMAH_FRICTION_NONE;
  for (const bramah_element_key *key = kind->keys; key->name; key++) {
    const int given = bramah__item_find(item, key->name, &found);
    if (key->type == BRAMAH_KEY_FRICTION_MODEL)
      memcpy(&model, (const unsigned char *)object + key->offset, sizeof model);
    if (key->type == BRAMAH_KEY_CYLINDER && given) cylinder = found;
    if (!given && key->models >> model & 1U) return bramah__fail_missing(reader, item, key->name);
    if (key->either && given == bramah__item_find(item, key->either, &other))
      return given ? bramah__fail_key(reader, &other, BRAMAH_E_KEY, "'%s' and '%s' exclude each other",
                                      key->name, key->either)
                   : bramah__fail_key(reader, item, BRAMAH_E_KEY, "'%s' or '%s' is needed", key->name,
                                      key->either);
    if (given && key->excludes && bramah__item_find(item, key->excludes, &other))
      return bramah__fail_key(reader, &found, BRAMAH_E_KEY, "'%s' and '%s' exclude each other", key->name,
                              key->excludes);
  }
  for (const bramah_element_key *key = kind->keys; key->name; key++) {
    if (key->type != BRAMAH_KEY_NODE || !has_another(kind, key)) continue;
    const int given = bramah__item_find(item, key->name, &found);
    if (given && cylinder.name)
      return bramah__fail_key(reader, &cylinder, BRAMAH_E_KEY,
                              "'%s' stands for 'from' and 'to': its piston is passed", cylinder.name);
    if (!given && !cylinder.name) return bramah__fail_missing(reader, item, key->name);
  }
  return BRAMAH_OK;
}

/* Fill what is not given, and check what one key cannot decide alone. */
static bramah_status finish_element(bramah__reader *reader, const bramah__item *item, void *object)
{
  const bramah_element_kind *kind = kind_of(item);
  const bramah__loaded *draft = reader->draft;
  bramah__item found, other;
  int diameters = 0;
  bramah_status status = check_given(reader, item, kind, object);
  for (const bramah_element_key *key = kind->keys; key->name && !status; key++) {
    unsigned char *member = (unsigned char *)object + key->offset;
    const int given = bramah__item_find(item, key->name, &found);
    const char *name;
    diameters |= key->type == BRAMAH_KEY_DIAMETER;
    if (key->type == BRAMAH_KEY_COORDINATE) {
      memcpy(&name, member, sizeof name);
      if (given && bramah__coordinate_kind(&draft->machine, name) == 2)
        return bramah__fail_item(reader, &found, BRAMAH_E_VALUE,
                                 "this coordinate slides; one that turns is needed");
    }

    /* A spool follows the input of its element's name; a cylinder holds its load. */
    if (key->type == BRAMAH_KEY_INPUT && !given && !has_another(kind, key))
      memcpy(member, &((const bramah_named *)object)->name, sizeof name);
    if (key->type == BRAMAH_KEY_PRESSURE && !given)
      memcpy((unsigned char *)object + key->initial, &(bramah_pressure_initial){BRAMAH_PRESSURE_EQUILIBRIUM},
             sizeof(bramah_pressure_initial));

    if (key->type != BRAMAH_KEY_QUANTITY || key->factor_of) continue;
    double *value = number_of(object, key);
    const int replaced = key->excludes && !given && bramah__item_find(item, key->excludes, &other);
    if (key->copies && replaced) continue; /* by a part that gives each its own */
    if (has_factors(kind, key->name))
      status = read_product(reader, item, kind, key->name, value);
    else if (!given)
      *value = key->otherwise;
    else if (key->range == BRAMAH_KEY_FROM_ONE && !(*value >= 1.0))
      return bramah__fail_item(reader, &found, BRAMAH_E_VALUE, "%s must not be below 1", key->name);
    for (size_t i = 1; i < key->copies; i++) value[i] = value[0];
  }
  if (!status && diameters) status = areas_of_diameters(reader, item, kind, object);

  const char *fault, *at;
  if (status || !kind->check || (fault = kind->check(object, &at)) == NULL) return status;
  if (!bramah__item_find(item, at, &found)) return bramah__fail_missing(reader, item, at);
  return key_of(kind, at)->type == BRAMAH_KEY_PART
             ? bramah__fail_key(reader, &found, BRAMAH_E_VALUE, "%s", fault)
             : bramah__fail_item(reader, &found, BRAMAH_E_VALUE, "%s", fault);
}

/* The keys of a kind, and of its parts, as the readers know them, in scratch memory. Errors: E_MEMORY. */
static bramah_status make_table(bramah__reader *reader, const bramah_element_kind *kind, bramah__table *out)
{
  size_t n = 0;
  while (kind->keys[n].name) n++;
  bramah__key *keys = bramah__pool_take(&reader->scratch, n + 1, sizeof *keys);
  if (!keys) return bramah__no_memory(reader);
  for (size_t i = 0; i < n; i++) {
    const bramah_element_key *key = &kind->keys[i];
    const bramah__key *type = key->type < sizeof readers / sizeof readers[0] ? &readers[key->type] : readers;
    keys[i] = type->read ? *type : readers[0];
    keys[i].name = key->name;
    keys[i].offset = key->offset;
    keys[i].required = key->required && key->otherwise == 0.0 && !has_another(kind, key);
    keys[i].count_offset = key->initial;
    keys[i].range = range_of(key);
    if (key->unit) keys[i].unit = key->unit;
    if (key->factor_of) keys[i].read = bramah__read_nothing;
    if (key->type != BRAMAH_KEY_PART) continue;
    bramah__table *part = bramah__pool_take(&reader->scratch, 1, sizeof *part);
    if (!part) return bramah__no_memory(reader);
    const bramah_status status = make_table(reader, key->part, part);
    if (status) return status;
    keys[i].table = part;
  }
  *out = (bramah__table){.keys = keys, .size = kind->size, .finish = finish_element};
  return BRAMAH_OK;
}

/* ---- the section ---- */

/* The oil comes first: orifices need its density. */
static const bramah__key hydraulics_keys[] = {
    {.name = "oil", .read = bramah__read_child, .required = 1, .table = &oil_table},
    BRAMAH__KEY("transition_pressure", bramah__read_quantity, bramah__loaded, machine.transition_pressure,
                .unit = "Pa", .range = BRAMAH__POSITIVE),
    BRAMAH__SECTION("supplies", bramah__loaded, machine.supplies, machine.n_supplies, &supply_table,
                    .required = 0),
    BRAMAH__SECTION("volumes", bramah__loaded, machine.volumes, machine.n_volumes, &volume_table,
                    .required = 0),
    {0}};

/* The keys above and a section for each kind of element after them. */
bramah_status bramah__hydraulics_table(bramah__reader *reader, bramah__table *out)
{
  const size_t n = sizeof hydraulics_keys / sizeof hydraulics_keys[0] - 1;
  size_t n_kinds = 0;
  while (bramah_element_kind_at(n_kinds)) n_kinds++;
  bramah__key *keys = bramah__pool_take(&reader->scratch, n + n_kinds + 1, sizeof *keys);
  bramah__table *tables = bramah__pool_take(&reader->scratch, n_kinds, sizeof *tables);
  if (!keys || !tables) return bramah__no_memory(reader);
  memcpy(keys, hydraulics_keys, n * sizeof *keys);
  for (size_t i = 0; i < n_kinds; i++) {
    const bramah_element_kind *kind = bramah_element_kind_at(i);
    const bramah_status status = make_table(reader, kind, &tables[i]);
    if (status) return status;
    keys[n + i] = (bramah__key){.name = kind->section,
                                .read = bramah__read_section,
                                .offset = offsetof(bramah__loaded, machine) + kind->array,
                                .count_offset = offsetof(bramah__loaded, machine) + kind->count,
                                .table = &tables[i]};
  }
  *out = (bramah__table){.keys = keys};
  return BRAMAH_OK;
}

bramah_status bramah__read_hydraulics(bramah__reader *reader, const bramah__item *item,
                                      const bramah__key *key, void *object)
{
  bramah__table table;
  const bramah_status status = bramah__hydraulics_table(reader, &table);
  (void)key;
  return status ? status : bramah__read_table(reader, item, &table, object);
}
