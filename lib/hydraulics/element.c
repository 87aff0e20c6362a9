/* SPDX-License-Identifier: MIT */
#include "lib/hydraulics/element.h"

#include <string.h>

#define ROW(name) [BRAMAH__KIND(name)] = &bramah__##name##_kind,
const bramah__element_kind *const bramah__element_kinds[BRAMAH__N_ELEMENT_KINDS] = {BRAMAH__ELEMENTS(ROW)};

#define DEVICE_ROW(name) &bramah__##name##_kind,
static const bramah_element_kind *const devices[] = {BRAMAH__DEVICES(DEVICE_ROW)};

const bramah_element_kind *bramah_element_kind_at(size_t i)
{
  if (i < BRAMAH__N_ELEMENT_KINDS) return &bramah__element_kinds[i]->description;
  i -= BRAMAH__N_ELEMENT_KINDS;
  return i < sizeof devices / sizeof devices[0] ? devices[i] : NULL;
}

size_t bramah_machine_n_elements(const bramah_machine *machine, const bramah_element_kind *kind)
{
  size_t n;
  memcpy(&n, (const unsigned char *)machine + kind->count, sizeof n);
  return n;
}

const void *bramah_machine_element(const bramah_machine *machine, const bramah_element_kind *kind, size_t i)
{
  const unsigned char *array;
  memcpy(&array, (const unsigned char *)machine + kind->array, sizeof array);
  return array + i * kind->size;
}

const bramah_element_key *bramah__value_key(const bramah_element_kind *kind, size_t i)
{
  for (const bramah_element_key *key = kind->keys; key->name; key++)
    if (key->type == BRAMAH_KEY_QUANTITY && !key->factor_of && i-- == 0) return key;
  return NULL;
}

bramah__element_counts bramah__count_elements(const bramah_machine *machine)
{
  bramah__element_counts out = {.n = 0};
  for (size_t k = 0; k < BRAMAH__N_ELEMENT_KINDS; k++) {
    const bramah__element_kind *kind = bramah__element_kinds[k];
    const size_t n = bramah_machine_n_elements(machine, &kind->description);
    out.n += n;
    out.passing += kind->flow ? n : 0;
    out.levelling += kind->levels ? n : 0;
    out.lines += kind->rate && !kind->flow ? n : 0;
    out.states += kind->rate ? n : 0;
    out.before_motors += k < BRAMAH__KIND(motor) ? n : 0;
  }
  return out;
}

const bramah_named *bramah__element_of(const bramah_machine *machine, size_t i,
                                       const bramah_element_kind **kind)
{
  for (size_t k = 0; k < BRAMAH__N_ELEMENT_KINDS; k++) {
    const bramah_element_kind *description = &bramah__element_kinds[k]->description;
    const size_t n = bramah_machine_n_elements(machine, description);
    if (kind) *kind = description;
    if (i < n) return bramah_machine_element(machine, description, i);
    i -= n;
  }
  return NULL;
}
