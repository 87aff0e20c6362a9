/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A study held in memory: its values found by their path, set, copied. The trees of the files are never
 * changed: a value that is set is exchanged in a copy of all nodes down to it, which is read by the same tables
 * as the file was. */
#define _GNU_SOURCE /* locale_t, strtod_l */
#include "lib/io/study_file.h"
#include "lib/base/diag.h"
#include "lib/base/text.h"
#include "lib/io/fail.h"
#include "lib/io/files.h"
#include "lib/io/machine_file.h"
#include "lib/io/session.h"
#include "lib/io/uncertainty.h"

#include <stdlib.h>
#include <string.h>

/* ---- references ---- */

/* What is written there, in `out`. */
static bramah_status read_place(bramah__reader *reader, const bramah__position *place, bramah_study_ref *out)
{
  const bramah__node *node = place->node, *list = place->parent;
  const char *text;
  bramah__uncertainty_split(&reader->scratch, node->text, &text);
  out->text = text ? bramah__pool_text(reader->keep, text, strlen(text)) : NULL;
  if (!out->text) return bramah__no_memory(reader);
  out->line = node->line;
  out->depth = place->depth;
  memcpy(out->at, place->at, sizeof out->at);
  out->unit = "";
  out->factor = 1.0;
  const char *own = bramah__unit_of(out->text), *lent = NULL;
  if (!own) return BRAMAH_OK; /* a word */

  /* An element of a list without a unit of its own has that of the last one, as the reader of lists has it. */
  if (list && list->kind == BRAMAH__NODE_LIST && list->items[list->n - 1]->kind == BRAMAH__NODE_SCALAR)
    lent = bramah__unit_of(list->items[list->n - 1]->text);
  bramah__quantity q;
  const bramah_status status = bramah__quantity_read(reader->c_locale, out->text, lent, &q, reader->diag);
  if (status) return bramah__at(reader->diag, node->file, node->line, node->column);
  out->is_number = 1;
  out->number = strtod_l(out->text, NULL, reader->c_locale);
  out->unit = own;
  out->dimension = q.dimension;
  if (!*q.unit) return BRAMAH_OK;
  return bramah_unit_parse(q.unit, &out->factor, &out->dimension, reader->diag);
}

bramah_status bramah_study_find(bramah_study *study, const char *path, bramah_study_ref *out,
                                bramah_diag *diag)
{
  bramah__study_draft *draft = (bramah__study_draft *)study;
  /* Both prefixes have 8 characters. */
  const int in_machine = strncmp(path, "machine.", 8) == 0 || strncmp(path, "changes.", 8) == 0;
  bramah__reader reader;
  bramah__position place;
  *out = (bramah_study_ref){.in_machine = in_machine};
  bramah_status status = in_machine && study->plant.line
                             ? bramah__failf(diag, BRAMAH_E_KEY, study->file, study->plant.line, path,
                                             "the study has an FMU, and no machine file")
                         : in_machine ? bramah__study_open_machine(study, diag)
                                      : BRAMAH_OK;
  if (status) return status;
  const bramah__source *source = in_machine ? draft->machine_source : draft->source;
  bramah__node *root = in_machine ? source->root : draft->root;
  status = bramah__reader_open(&reader, &draft->refs, source->file, diag);
  if (!status && in_machine) status = bramah__changes_apply(&reader, study->n_changes, study->changes, &root);
  if (!status) status = bramah__tree_find(root, source->file, path + 8 * in_machine, &place, reader.diag);
  if (!status) status = read_place(&reader, &place, out);
  if (!status) out->path = bramah__pool_text(&draft->refs, path, strlen(path));
  if (!status && !out->path) status = bramah__no_memory(&reader);
  return bramah__reader_close(&reader, status);
}

/* ---- settings ---- */

/* A draft with the files and settings of another and n more, the last one of a place, read anew; it owns no file. */
static bramah_status derive(const bramah__study_draft *from, size_t n, const bramah_study_setting *more,
                            bramah_diag *diag, bramah__study_draft **out)
{
  bramah__study_draft *to = calloc(1, sizeof *to);
  if (!to) return bramah__fail_memory(diag);
  to->source = from->source;
  to->machine_source = from->machine_source;
  to->root = from->root;
  to->changes_hash = from->changes_hash;

  const size_t all = from->n_settings + n;
  bramah_study_setting *settings = bramah__pool_take(&to->pool, all, sizeof *settings);
  bramah_study_ref *refs = bramah__pool_take(&to->pool, all, sizeof *refs);
  bramah_status status = settings && refs ? BRAMAH_OK : bramah__fail_memory(diag);
  for (size_t i = 0; !status && i < all; i++) {
    const bramah_study_setting *one = i < from->n_settings ? &from->settings[i] : &more[i - from->n_settings];
    const bramah_study_ref *ref = one->ref;
    size_t k = 0;
    while (k < to->n_settings && !(refs[k].in_machine == ref->in_machine && refs[k].depth == ref->depth &&
                                   memcmp(refs[k].at, ref->at, ref->depth * sizeof ref->at[0]) == 0))
      k++;
    refs[k] = *ref;
    settings[k] = (bramah_study_setting){.ref = &refs[k], .si = one->si};
    if (one->text && !(settings[k].text = bramah__pool_text(&to->pool, one->text, strlen(one->text))))
      status = bramah__fail_memory(diag);
    if (k == to->n_settings) to->n_settings++;
  }
  to->settings = settings;
  if (!status) status = bramah__study_read(to, NULL, NULL, diag);
  if (status)
    bramah_study_free(&to->study);
  else
    *out = to;
  return status;
}

bramah_status bramah_study_copy(bramah_study *study, bramah_diag *diag, bramah_study **out)
{
  bramah__study_draft *copy = NULL;
  *out = NULL;
  bramah_status status = bramah__study_open_machine(study, diag);
  if (!status) status = derive((bramah__study_draft *)study, 0, NULL, diag, &copy);
  if (!status) *out = &copy->study;
  return status;
}

bramah_status bramah_study_set(bramah_study *study, size_t n, const bramah_study_setting *settings,
                               bramah_diag *diag)
{
  bramah__study_draft *draft = (bramah__study_draft *)study, *next = NULL;
  bramah_diag_clear(diag);
  const bramah_status status = derive(draft, n, settings, diag, &next);
  if (status) return status;
  const bramah__study_draft old = *draft;
  *draft = *next;
  draft->own = old.own;
  draft->own_machine = old.own_machine;
  draft->refs = old.refs;
  *next = (bramah__study_draft){.pool = old.pool};
  bramah_study_free(&next->study);
  return BRAMAH_OK;
}

/* ---- the machine ---- */

bramah_status bramah__study_open_machine(bramah_study *study, bramah_diag *diag)
{
  bramah__study_draft *draft = (bramah__study_draft *)study;
  if (study->plant.line) return BRAMAH_OK; /* an FMU */
  if (draft->machine_source && strcmp(draft->machine_source->file, study->machine_file) == 0)
    return BRAMAH_OK;
  bramah__source *source;
  const bramah_status status = bramah__source_open(study->machine_file, diag, &source);
  if (status) return status;
  bramah__source_free(draft->own_machine);
  draft->machine_source = draft->own_machine = source;
  return BRAMAH_OK;
}

bramah_status bramah__study_load_machine(bramah_study *study, bramah_diag *diag, bramah_machine **out)
{
  const bramah__study_draft *draft = (const bramah__study_draft *)study;
  const bramah__machine_values with = {study->n_changes, study->changes, draft->n_settings, draft->settings};
  const bramah_status status = bramah__study_open_machine(study, diag);
  return status ? status : bramah__machine_read(draft->machine_source, &with, NULL, NULL, diag, out);
}

/* ---- identity ---- */

bramah_status bramah__study_hash(bramah_study *study, uint64_t *out, bramah_diag *diag)
{
  const bramah__study_draft *draft = (const bramah__study_draft *)study;
  const bramah_status status = bramah__study_open_machine(study, diag);
  if (status) return status;
  uint64_t hash = bramah__fnv(draft->changes_hash, draft->source->text, draft->source->length + 1);
  if (study->plant.line) {
    const uint64_t of_fmu = bramah__hash_file(study->plant.fmu);
    hash = bramah__fnv(hash, &of_fmu, sizeof of_fmu);
  } else {
    hash = bramah__fnv(hash, draft->machine_source->text, draft->machine_source->length + 1);
  }
  for (size_t i = 0; i < draft->n_settings; i++) {
    const bramah_study_setting *s = &draft->settings[i];
    hash = bramah__fnv(hash, s->ref->path, strlen(s->ref->path) + 1);
    hash =
        s->text ? bramah__fnv(hash, s->text, strlen(s->text) + 1) : bramah__fnv(hash, &s->si, sizeof s->si);
  }
  *out = hash;
  return BRAMAH_OK;
}

/* ---- values whose unit the machine knows ---- */

bramah_status bramah__study_value_get(const bramah_study_value *value, const char *expected, double *si,
                                      bramah_diag *diag)
{
  if (!value->is_set) return bramah_quantity_parse(value->text, expected, si, diag);
  const char *unit = bramah__unit_of(value->text);
  const bramah__quantity q = {.si = value->si,
                              .dimension = value->dimension,
                              .number = value->text,
                              .number_length = unit ? (size_t)(unit - value->text) : 0,
                              .unit = unit ? unit : ""};
  const bramah_status status = bramah__quantity_expect(&q, expected, NULL, diag);
  if (!status) *si = value->si;
  return status;
}
