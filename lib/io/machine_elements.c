/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* locale_t */
#include "lib/io/machine_elements.h"
#include "lib/base/diag.h"
#include "lib/io/machine_file.h"

#include <math.h>
#include <string.h>

/* ---- elements, by the tables of their keys ---- */

/* A value that a key gives, or the product of its factors: 1 for the value, 2 for the factors, 0 and the error
 * told otherwise. */
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
  bramah__fail_key(reader, has_value ? &factor : item, BRAMAH_E_KEY, "'");
  bramah__add_text(reader->diag, result);
  bramah__add_text(reader->diag, has_value ? "' stands for" : "', or");
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

static bramah__range range_of(const bramah_element_key *key)
{
  return key->range == BRAMAH_KEY_NOT_NEGATIVE ? BRAMAH__NOT_NEGATIVE
         : key->range == BRAMAH_KEY_ANY        ? BRAMAH__ANY
                                               : BRAMAH__POSITIVE;
}

bramah_status bramah__read_product(bramah__reader *reader, const bramah__item *item,
                                   const bramah_element_key *keys, const char *result, int by_density,
                                   double *out)
{
  const bramah__loaded *draft = reader->draft;
  double product = 1.0;
  const int how = value_or_factors(reader, item, keys, result);
  if (how != 2) return how ? BRAMAH_OK : BRAMAH_E_KEY;
  for (const bramah_element_key *key = keys; key->name; key++) {
    if (!key->factor_of || strcmp(key->factor_of, result) != 0) continue;
    const bramah__key factor = {.name = key->name, .unit = key->unit, .range = range_of(key)};
    double value = 0.0;
    const bramah_status status = bramah__find_quantity(reader, item, &factor, &value);
    if (status) return status;
    if (by_density && draft->oil_density <= 0.0) {
      bramah__item given;
      bramah__item_find(item, key->name, &given);
      bramah__fail_key(reader, &given, BRAMAH_E_KEY, "'");
      bramah__add_text(reader->diag, key->name);
      bramah__add_text(reader->diag, "' needs 'hydraulics.oil.density', which is missing");
      return BRAMAH_E_KEY;
    }
    product *= value;
  }
  *out = by_density ? product * sqrt(2.0 / draft->oil_density) : product;
  return BRAMAH_OK;
}

/* The names that an element may refer to, and what is not given. */
static bramah_status check_ports(bramah__reader *reader, const bramah__item *item,
                                 const bramah_element_kind *kind)
{
  bramah__item found, cylinder;
  int past_piston = 0;
  for (const bramah_element_key *key = kind->keys; key->name; key++)
    if (key->type == BRAMAH_KEY_CYLINDER) past_piston = bramah__item_find(item, key->name, &cylinder);
  for (const bramah_element_key *key = kind->keys; key->name; key++) {
    if (key->type != BRAMAH_KEY_NODE) continue;
    const int given = bramah__item_find(item, key->name, &found);
    if (given && past_piston) {
      bramah__fail_key(reader, &cylinder, BRAMAH_E_KEY, "'");
      bramah__add_text(reader->diag, cylinder.name);
      bramah__add_text(reader->diag, "' stands for 'from' and 'to': its piston is passed");
      return BRAMAH_E_KEY;
    }
    if (!given && !past_piston) return bramah__fail_missing(reader, item, key->name);
  }
  return BRAMAH_OK;
}

bramah_status bramah__area_or_coefficient(bramah__reader *reader, const bramah__item *item, double *out)
{
  const bramah_element_kind *orifice = bramah_element_kind_at(0);
  return bramah__read_product(reader, item, orifice->keys, "flow_coefficient", 1, out);
}

static const bramah_element_kind *kind_of_section(const char *section)
{
  const bramah_element_kind *kind = NULL;
  for (size_t i = 0; (kind = bramah_element_kind_at(i)) != NULL && strcmp(kind->section, section) != 0;) i++;
  return kind;
}

static int has_factors(const bramah_element_kind *kind, const char *result)
{
  for (const bramah_element_key *key = kind->keys; key->name; key++)
    if (key->factor_of && strcmp(key->factor_of, result) == 0) return 1;
  return 0;
}

/* Fill what is not given, and check what one key cannot decide alone. */
static bramah_status finish_element(bramah__reader *reader, const bramah__item *item, void *object)
{
  const bramah_element_kind *kind = kind_of_section(item->parent->name);
  bramah__item found;
  bramah_status status = check_ports(reader, item, kind);
  for (const bramah_element_key *key = kind->keys; key->name && !status; key++) {
    if (key->type != BRAMAH_KEY_QUANTITY || key->factor_of) continue;
    double *value = (double *)(void *)((unsigned char *)object + key->offset);
    if (has_factors(kind, key->name))
      status = bramah__read_product(reader, item, kind->keys, key->name, kind->factors_by_density, value);
    else if (!bramah__item_find(item, key->name, &found))
      *value = key->otherwise;
    else if (key->range == BRAMAH_KEY_FROM_ONE && !(*value >= 1.0)) {
      bramah__fail_item(reader, &found, BRAMAH_E_VALUE, key->name);
      bramah__add_text(reader->diag, " must not be below 1");
      return BRAMAH_E_VALUE;
    }
  }
  const char *fault, *at;
  if (status || !kind->check || (fault = kind->check(object, &at)) == NULL) return status;
  if (!bramah__item_find(item, at, &found)) return bramah__fail_missing(reader, item, at);
  return bramah__fail_item(reader, &found, BRAMAH_E_VALUE, fault);
}

/* The keys of a kind as the readers know them. */
static bramah_status element_table(bramah__reader *reader, const bramah_element_kind *kind,
                                   bramah__table *out)
{
  size_t n = 0;
  while (kind->keys[n].name) n++;
  bramah__key *keys = bramah__pool_take(&reader->scratch, n + 1, sizeof *keys);
  if (!keys) return bramah__no_memory(reader);
  for (size_t i = 0; i < n; i++) {
    const bramah_element_key *key = &kind->keys[i];
    const int together = key->type == BRAMAH_KEY_NODE || has_factors(kind, key->name);
    keys[i] = (bramah__key){.name = key->name,
                            .read = key->factor_of                     ? bramah__read_nothing
                                    : key->type == BRAMAH_KEY_QUANTITY ? bramah__read_quantity
                                    : key->type == BRAMAH_KEY_FRICTION ? bramah__read_child
                                                                       : bramah__read_name,
                            .table = key->type == BRAMAH_KEY_FRICTION ? &bramah__rotary_friction_table : NULL,
                            .offset = key->offset,
                            .required = key->required && !together,
                            .unit = key->unit,
                            .range = range_of(key)};
  }
  *out = (bramah__table){.keys = keys, .size = kind->size, .finish = finish_element};
  return BRAMAH_OK;
}

bramah_status bramah__with_elements(bramah__reader *reader, const bramah__key *keys, size_t machine,
                                    const bramah__key **out)
{
  size_t n = 0, n_kinds = 0;
  while (keys[n].name) n++;
  while (bramah_element_kind_at(n_kinds)) n_kinds++;
  bramah__key *all = bramah__pool_take(&reader->scratch, n + n_kinds + 1, sizeof *all);
  bramah__table *tables = bramah__pool_take(&reader->scratch, n_kinds, sizeof *tables);
  if (!all || !tables) return bramah__no_memory(reader);
  memcpy(all, keys, n * sizeof *keys);
  for (size_t i = 0; i < n_kinds; i++) {
    const bramah_element_kind *kind = bramah_element_kind_at(i);
    const bramah_status status = element_table(reader, kind, &tables[i]);
    if (status) return status;
    all[n + i] = (bramah__key){.name = kind->section,
                               .read = bramah__read_section,
                               .offset = machine + kind->array,
                               .count_offset = machine + kind->count,
                               .table = &tables[i]};
  }
  *out = all;
  return BRAMAH_OK;
}

/* ---- end stops ---- */

/* A cushion is given by its extent and its damping. */
static bramah_status check_cushion(bramah__reader *reader, const bramah__item *item, const char *extent)
{
  bramah__item found;
  const int has_extent = bramah__item_find(item, extent, &found);
  const int has_damping = bramah__item_find(item, "cushion_damping", &found);
  if (has_extent == has_damping) return BRAMAH_OK;
  return bramah__fail_missing(reader, item, has_extent ? "cushion_damping" : extent);
}

static bramah_status finish_end_stop(bramah__reader *reader, const bramah__item *item, void *object)
{
  (void)object;
  return check_cushion(reader, item, "cushion_length");
}

static bramah_status finish_rotary_end_stop(bramah__reader *reader, const bramah__item *item, void *object)
{
  (void)object;
  return check_cushion(reader, item, "cushion_angle");
}

/* By units of force [N] and of way [m], or torque and angle. */
#define END_STOP_KEYS(extent, force, way)                                                                    \
  {                                                                                                          \
    BRAMAH__KEY("stiffness", bramah__read_quantity, bramah_end_stop, stiffness, .required = 1,               \
                .unit = force "/" way, .range = BRAMAH__POSITIVE),                                           \
        BRAMAH__KEY("damping", bramah__read_quantity, bramah_end_stop, damping, .required = 1,               \
                    .unit = force "*s/" way, .range = BRAMAH__NOT_NEGATIVE),                                 \
        BRAMAH__KEY(extent, bramah__read_quantity, bramah_end_stop, cushion_length, .unit = way,             \
                    .range = BRAMAH__POSITIVE),                                                              \
        BRAMAH__KEY("cushion_damping", bramah__read_quantity, bramah_end_stop, cushion_damping,              \
                    .unit = force "*s/" way, .range = BRAMAH__POSITIVE),                                     \
    {                                                                                                        \
      0                                                                                                      \
    }                                                                                                        \
  }

static const bramah__key end_stop_keys[] = END_STOP_KEYS("cushion_length", "N", "m");
static const bramah__key rotary_end_stop_keys[] = END_STOP_KEYS("cushion_angle", "N*m", "rad");

const bramah__table bramah__end_stop_table = {.keys = end_stop_keys, .finish = finish_end_stop};
const bramah__table bramah__rotary_end_stop_table = {.keys = rotary_end_stop_keys,
                                                     .finish = finish_rotary_end_stop};

/* ---- characteristics of valves ---- */

static bramah_status read_pair_of_volts(bramah__reader *reader, const bramah__item *pair, bramah__range range,
                                        double *spool, double *opening)
{
  const bramah__key spool_key = {.unit = "V"}, opening_key = {.unit = "V", .range = range};
  bramah__quantity q;
  if (pair->node->kind != BRAMAH__NODE_LIST || pair->node->n != 2)
    return bramah__fail_item(reader, pair, BRAMAH_E_SYNTAX,
                             "a pair [spool, opening] is expected, such as [1 V, 0.5 V]");
  bramah__item item = bramah__item_at(pair, 0);
  bramah_status status = bramah__item_quantity(reader, &item, &spool_key, NULL, &q);
  if (status) return status;
  *spool = q.si;
  item = bramah__item_at(pair, 1);
  status = bramah__item_quantity(reader, &item, &opening_key, NULL, &q);
  if (!status) *opening = q.si;
  return status;
}

bramah_status bramah__read_characteristic(bramah__reader *reader, const bramah__item *list,
                                          const bramah__key *key, void *object)
{
  if (list->node->kind != BRAMAH__NODE_LIST || list->node->n < 2)
    return bramah__fail_item(reader, list, BRAMAH_E_SYNTAX,
                             "a list of at least two pairs [spool, opening] is expected");
  const size_t n = list->node->n;
  double *x = bramah__pool_take(reader->keep, n, sizeof *x),
         *y = bramah__pool_take(reader->keep, n, sizeof *y);
  if (!x || !y) return bramah__no_memory(reader);
  for (size_t i = 0; i < n; i++) {
    bramah__item pair = bramah__item_at(list, i);
    const bramah_status status = read_pair_of_volts(reader, &pair, key->range, &x[i], &y[i]);
    if (status) return status;
    if (i == 0 || x[i] > x[i - 1]) continue;
    bramah__item spool = bramah__item_at(&pair, 0);
    return bramah__fail_item(reader, &spool, BRAMAH_E_VALUE, "spools must ascend");
  }
  const bramah_characteristic out = {n, x, y};
  memcpy((unsigned char *)object + key->offset, &out, sizeof out);
  return BRAMAH_OK;
}

#define PORT(word, port)                                                                                     \
  {                                                                                                          \
    .name = (word), .read = bramah__read_characteristic, .offset = (port) * sizeof(bramah_characteristic),   \
    .range = BRAMAH__NOT_NEGATIVE                                                                            \
  }

static const bramah__key port_keys[] = {PORT("pump_a", BRAMAH_PORT_PUMP_A),
                                        PORT("b_tank", BRAMAH_PORT_B_TANK),
                                        PORT("a_tank", BRAMAH_PORT_A_TANK),
                                        PORT("pump_b", BRAMAH_PORT_PUMP_B),
                                        {0}};

const bramah__table bramah__ports_table = {.keys = port_keys};

bramah_status bramah__check_characteristics(bramah__reader *reader, const bramah__item *item,
                                            const bramah_valve *valve)
{
  bramah__item band, characteristic;
  if (!bramah__item_find(item, "dead_band", &band)) return BRAMAH_OK;
  if (bramah__item_find(item, "characteristic", &characteristic))
    return bramah__fail_key(reader, &band, BRAMAH_E_KEY,
                            "'dead_band' and 'characteristic' exclude each other");
  if (valve->dead_band < valve->limit) return BRAMAH_OK;
  return bramah__fail_item(reader, &band, BRAMAH_E_VALUE, "dead band must be below the limit of the valve");
}
