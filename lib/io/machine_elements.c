/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* locale_t */
#include "lib/io/machine_elements.h"
#include "bramah/machine.h"

/* ---- leakages ---- */

/* From and to, or the cylinder whose piston is passed. */
static bramah_status finish_leakage(bramah__reader *reader, const bramah__item *item, void *object)
{
  const bramah_leakage *leakage = object;
  bramah__item cylinder;
  if (!leakage->cylinder) {
    if (!leakage->from) return bramah__fail_missing(reader, item, "from");
    return leakage->to ? BRAMAH_OK : bramah__fail_missing(reader, item, "to");
  }
  if (!leakage->from && !leakage->to) return BRAMAH_OK;
  bramah__item_find(item, "cylinder", &cylinder);
  return bramah__fail_key(reader, &cylinder, BRAMAH_E_KEY,
                          "'cylinder' stands for 'from' and 'to': the leakage passes its piston");
}

static const bramah__key leakage_keys[] = {
    BRAMAH__KEY("from", bramah__read_name, bramah_leakage, from, .required = 0),
    BRAMAH__KEY("to", bramah__read_name, bramah_leakage, to, .required = 0),
    BRAMAH__KEY("cylinder", bramah__read_name, bramah_leakage, cylinder, .required = 0),
    BRAMAH__KEY("conductance", bramah__read_quantity, bramah_leakage, conductance, .required = 1,
                .unit = "m^3/s/Pa", .range = BRAMAH__POSITIVE),
    {0}};

const bramah__table bramah__leakage_table = {
    .keys = leakage_keys, .size = sizeof(bramah_leakage), .finish = finish_leakage};
