/* SPDX-License-Identifier: MIT */
/* What all files of the compiler use: names looked up, and mistakes told with the thing and the line they are in. */
#include "lib/machine/compile.h"
#include "lib/base/diag.h"
#include "lib/base/text.h"

#include <string.h>

bramah_status bramah__compile_fail(const bramah__compiler *k, bramah_status status, const void *of,
                                   const char *message)
{
  const bramah_named *named = of;
  bramah__fail(k->diag, status, named->name, message);
  bramah__at(k->diag, k->machine->file, named->line, 0);
  return status;
}

bramah_status bramah__refuse(const bramah__compiler *k, const void *of, const char *message)
{
  return bramah__compile_fail(k, BRAMAH_E_VALUE, of, message);
}

bramah_status bramah__check_named(const bramah__compiler *k, const void *of, const char *kind, int is_known)
{
  const bramah_named *named = of;
  if (!named->name || !named->name[0])
    return bramah__compile_fail(k, BRAMAH_E_KEY, &(bramah_named){kind, named->line}, "has no name");
  if (!is_known) return BRAMAH_OK;
  bramah__compile_fail(k, BRAMAH_E_KEY, of, "this name is given to more than one ");
  bramah__add_text(k->diag, kind);
  return BRAMAH_E_KEY;
}

bramah_status bramah__not_negative(const bramah__compiler *k, double value, const void *of, const char *what)
{
  if (value >= 0.0 && isfinite(value)) return BRAMAH_OK;
  bramah__refuse(k, of, what);
  bramah__add_text(k->diag, " must not be negative");
  return BRAMAH_E_VALUE;
}

bramah_status bramah__positive(const bramah__compiler *k, double value, const void *of, const char *what)
{
  if (value > 0.0 && isfinite(value)) return BRAMAH_OK;
  bramah__refuse(k, of, what);
  bramah__add_text(k->diag, " must be positive, not ");
  bramah__add_number(k->diag, value, 6);
  return BRAMAH_E_VALUE;
}

long bramah__find_name(size_t n, const char *const *names, const char *name)
{
  for (size_t i = 0; name && i < n; i++)
    if (strcmp(names[i], name) == 0) return (long)i;
  return -1;
}

bramah_status bramah__no_such(const bramah__compiler *k, const void *of, const char *what, const char *name,
                              size_t n, const char *const *names)
{
  bramah__compile_fail(k, BRAMAH_E_REFERENCE, of, "there is no ");
  bramah__add_text(k->diag, what);
  bramah__add_text(k->diag, " '");
  bramah__add_text(k->diag, name ? name : "");
  const char *near = name ? bramah__nearest(name, n, names) : NULL;
  bramah__add_text(k->diag, near ? "'; did you mean '" : "'");
  if (near) bramah__add_text(k->diag, near), bramah__add_text(k->diag, "'?");
  return BRAMAH_E_REFERENCE;
}

bramah_status bramah__find_body(const bramah__compiler *k, const void *of, const char *name, int *out)
{
  *out = -1;
  if (name && strcmp(name, "ground") == 0) return BRAMAH_OK;
  const long i = bramah__find_name(k->model->n, k->model->body_name, name);
  if (i < 0) return bramah__no_such(k, of, "body", name, k->model->n, k->model->body_name);
  *out = (int)i;
  return BRAMAH_OK;
}

bramah_status bramah__find_coordinate(const bramah__compiler *k, const void *of, const char *name,
                                      size_t *out)
{
  const bramah_model *m = k->model;
  const long i = bramah__find_name(m->n, m->joint_name, name);
  if (i < 0) return bramah__no_such(k, of, "joint coordinate", name, m->n, m->joint_name);
  *out = (size_t)i;
  return BRAMAH_OK;
}

bramah_status bramah__find_turning(const bramah__compiler *k, const void *of, const char *name,
                                   const char *message, size_t *out)
{
  const bramah_status status = bramah__find_coordinate(k, of, name, out);
  if (status != BRAMAH_OK || (k->t.link[*out].revolute && !k->model->ball_of[*out])) return status;
  return bramah__refuse(k, of, message);
}

bramah_status bramah__find_node(const bramah__compiler *k, const void *of, const char *name, size_t *out)
{
  const bramah_model *m = k->model;
  long i = bramah__find_name(k->source->n_volumes, m->volume_name, name);
  if (i < 0) {
    i = bramah__find_name(m->circuit.n_supplies, m->supply_name, name);
    if (i < 0) return bramah__no_such(k, of, "volume or supply", name, k->source->n_volumes, m->volume_name);
    i += (long)m->circuit.n_volumes;
  }
  *out = (size_t)i;
  return BRAMAH_OK;
}

const char *bramah__join_text(bramah__arena *arena, const char *name, const char *suffix)
{
  char text[512];
  if (!suffix[0]) return bramah__arena_text(arena, name ? name : "");
  const size_t used = bramah__append(text, sizeof text, 0, name ? name : "");
  bramah__append(text, sizeof text, used, suffix);
  return bramah__arena_text(arena, text);
}
