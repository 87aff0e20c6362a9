/* SPDX-License-Identifier: MIT */
/* What the files of the compiler share: faults, names, checks of values. */
#include "lib/machine/compile.h"
#include "lib/base/diag.h"
#include "lib/base/text.h"
#include "lib/math/vector3.h"

#include <math.h>
#include <string.h>

bramah_status bramah__compile_fail(const bramah__compiler *k, bramah_status status, const char *thing,
                                   int line, const char *message)
{
  bramah__fail(k->diag, status, thing, message);
  bramah__at(k->diag, k->machine->file, line, 0);
  return status;
}

bramah_status bramah__positive(const bramah__compiler *k, double value, const char *thing, int line,
                               const char *what)
{
  if (value > 0.0 && isfinite(value)) return BRAMAH_OK;
  bramah__compile_fail(k, BRAMAH_E_VALUE, thing, line, what);
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

static bramah_status unique(const bramah__compiler *k, size_t n, const char *const *names, const char *kind)
{
  for (size_t i = 0; i < n; i++) {
    if (!names[i][0]) return bramah__compile_fail(k, BRAMAH_E_KEY, kind, 0, "has no name");
    if (bramah__find_name(i, names, names[i]) < 0) continue;
    bramah__compile_fail(k, BRAMAH_E_KEY, names[i], 0, "this name is given to more than one ");
    bramah__add_text(k->diag, kind);
    return BRAMAH_E_KEY;
  }
  return BRAMAH_OK;
}

/* Their outputs .angle and .rate would have the same names. */
static bramah_status check_turning_names(const bramah__compiler *k)
{
  const bramah_model *m = k->model;
  const bramah_machine *d = k->source;
  for (size_t i = 0; i < bramah__n_turning(d); i++)
    if (bramah__find_name(m->n, m->joint_name, bramah__turning(d, i).name) >= 0)
      return bramah__compile_fail(k, BRAMAH_E_KEY, bramah__turning(d, i).name, bramah__turning(d, i).line,
                                  "a joint coordinate has the same name; so would their outputs");
  return BRAMAH_OK;
}

/* Elements that pass oil share their outputs .flow, and so their names. */
static bramah_status check_element_names(const bramah__compiler *k)
{
  const bramah_model *m = k->model;
  for (size_t i = 0; i < m->circuit.n_elements; i++) {
    const bramah_element_kind *kind, *other;
    const bramah_named *element = bramah__element_of(k->machine, i, &kind);
    const char *name = m->element_name[i];
    if (!name[0]) return bramah__compile_fail(k, BRAMAH_E_KEY, kind->name, 0, "has no name");
    const long twin = bramah__find_name(i, m->element_name, name);
    if (twin < 0) continue;
    bramah__element_of(k->machine, (size_t)twin, &other);
    const size_t first_line = m->circuit.n_elements - m->circuit.n_lines;
    if (other != kind && i >= m->circuit.n_passing && i < first_line) continue;
    if (other != kind && (size_t)twin >= m->circuit.n_passing) continue; /* it has no flow */
    bramah__compile_fail(k, BRAMAH_E_KEY, name, element->line,
                         other == kind ? "this name is given to more than one " : "the ");
    bramah__add_text(k->diag, other->name);
    if (other != kind) bramah__add_text(k->diag, " of the same name would have the same outputs");
    return BRAMAH_E_KEY;
  }
  return BRAMAH_OK;
}

/* Nor may a motion and a cylinder both have an output .force or .work of the same name. */
static bramah_status check_motion_names(const bramah__compiler *k)
{
  const bramah_model *m = k->model;
  const bramah_machine *d = k->source;
  for (size_t i = 0; i < d->n_motions; i++)
    if (bramah__find_name(m->circuit.n_cylinders, m->cylinder_name, d->motions[i].name) >= 0)
      return bramah__compile_fail(k, BRAMAH_E_KEY, d->motions[i].name, d->motions[i].line,
                                  "a cylinder or rotary actuator has the same name; so would their outputs");
  return BRAMAH_OK;
}

/* Nor a directional valve and an orifice both a parameter .flow_coefficient of the same name. */
static bramah_status check_names_of_valves(const bramah__compiler *k)
{
  const bramah_model *m = k->model;
  const bramah_machine *d = k->source;
  for (size_t p = 0; p < m->n_parameters; p++)
    for (size_t i = 0; i < d->n_valves && m->parameter[p].code == BRAMAH__ELEMENT_VALUE; i++) {
      const bramah_element_kind *kind;
      const size_t element = m->parameter[p].index;
      bramah__element_of(d, element, &kind);
      if (strcmp(bramah__value_key(kind, m->parameter[p].value)->name, "flow_coefficient") != 0 ||
          strcmp(m->element_name[element], d->valves[i].name) != 0)
        continue;
      bramah__compile_fail(k, BRAMAH_E_KEY, d->valves[i].name, d->valves[i].line, "the ");
      bramah__add_text(k->diag, kind->name);
      bramah__add_text(k->diag, " of the same name would have the same parameters");
      return BRAMAH_E_KEY;
    }
  return BRAMAH_OK;
}

/* Is one of the names the cylinder's with _piston or _rod behind? */
static int names_chamber(size_t n, const char *const *names, const char *cylinder)
{
  const size_t length = strlen(cylinder);
  for (size_t i = 0; i < n; i++)
    if (strncmp(names[i], cylinder, length) == 0 &&
        (strcmp(names[i] + length, "_piston") == 0 || strcmp(names[i] + length, "_rod") == 0))
      return 1;
  return 0;
}

/* Metered cylinders have outputs .flow as those elements, pump lines .pressure as volumes. */
static bramah_status check_metered_names(const bramah__compiler *k)
{
  const bramah_model *m = k->model;
  const bramah_machine *d = k->source;
  for (size_t i = 0; i < d->n_metered_cylinders; i++) {
    const long twin = bramah__find_name(m->circuit.n_passing, m->element_name, d->metered_cylinders[i].name);
    if (twin < 0) continue;
    const bramah_element_kind *kind;
    bramah__element_of(d, (size_t)twin, &kind);
    bramah__compile_fail(k, BRAMAH_E_KEY, d->metered_cylinders[i].name, d->metered_cylinders[i].line, "the ");
    bramah__add_text(k->diag, kind->name);
    bramah__add_text(k->diag, " of the same name would have the same outputs");
    return BRAMAH_E_KEY;
  }
  for (size_t i = 0; i < d->n_metered_cylinders; i++) {
    const bramah_metered_cylinder *in = &d->metered_cylinders[i];
    if (names_chamber(d->n_volumes, m->volume_name, in->name) ||
        names_chamber(d->n_pump_lines, m->pump_line_name, in->name))
      return bramah__compile_fail(
          k, BRAMAH_E_KEY, in->name, in->line,
          "a volume or pump line is named after one of its chambers; so would be their outputs");
  }
  for (size_t i = 0; i < d->n_pump_lines; i++)
    if (bramah__find_name(d->n_volumes, m->volume_name, d->pump_lines[i].name) >= 0)
      return bramah__compile_fail(k, BRAMAH_E_KEY, d->pump_lines[i].name, d->pump_lines[i].line,
                                  "a volume has the same name; so would their outputs");
  return unique(k, d->n_pump_lines, m->pump_line_name, "pump line");
}

bramah_status bramah__check_names(const bramah__compiler *k)
{
  const bramah_model *m = k->model;
  const bramah_machine *d = k->machine;
  const struct {
    size_t n;
    const char *const *names;
    const char *kind;
  } lists[] = {{d->n_joints, m->joint_name, "joint"},
               {d->n_bodies, m->body_name, "body"},
               {d->n_loops, m->loop_name, "loop"},
               {d->n_volumes, m->volume_name, "volume"},
               {d->n_supplies, m->supply_name, "supply"},
               {d->n_valves, m->valve_name, "valve"},
               {d->n_cylinders, m->cylinder_name, m->n_rotaries ? "cylinder or rotary actuator" : "cylinder"},
               {d->n_inputs, m->input_name, "input"},
               {d->n_motions, m->motion_name, "motion"}};
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
    const bramah_status status = unique(k, lists[i].n, lists[i].names, lists[i].kind);
    if (status != BRAMAH_OK) return status;
  }
  bramah_status status = check_element_names(k);
  if (status == BRAMAH_OK) status = check_turning_names(k);
  if (status == BRAMAH_OK) status = check_names_of_valves(k);
  if (status == BRAMAH_OK) status = check_metered_names(k);
  return status == BRAMAH_OK ? check_motion_names(k) : status;
}

bramah_status bramah__no_such(const bramah__compiler *k, const char *thing, int line, const char *what,
                              const char *name, size_t n, const char *const *names)
{
  bramah__compile_fail(k, BRAMAH_E_REFERENCE, thing, line, "there is no ");
  bramah__add_text(k->diag, what);
  bramah__add_text(k->diag, " '");
  bramah__add_text(k->diag, name ? name : "");
  const char *near = name ? bramah__nearest(name, n, names) : NULL;
  bramah__add_text(k->diag, near ? "'; did you mean '" : "'");
  if (near) bramah__add_text(k->diag, near), bramah__add_text(k->diag, "'?");
  return BRAMAH_E_REFERENCE;
}

/* Index of a body in the sorted tree, -1 for the ground. */
bramah_status bramah__find_body(const bramah__compiler *k, const char *thing, int line, const char *name,
                                int *out)
{
  *out = -1;
  if (name && strcmp(name, "ground") == 0) return BRAMAH_OK;
  const long i = bramah__find_name(k->model->n, k->model->body_name, name);
  if (i < 0) return bramah__no_such(k, thing, line, "body", name, k->model->n, k->model->body_name);
  *out = (int)i;
  return BRAMAH_OK;
}

bramah_status bramah__find_node(const bramah__compiler *k, const char *thing, int line, const char *name,
                                size_t *out)
{
  const bramah_model *m = k->model;
  long i = bramah__find_name(k->source->n_volumes, m->volume_name, name);
  if (i < 0) {
    i = bramah__find_name(m->circuit.n_supplies, m->supply_name, name);
    if (i < 0)
      return bramah__no_such(k, thing, line, "volume or supply", name, k->source->n_volumes, m->volume_name);
    i += (long)m->circuit.n_volumes;
  }
  *out = (size_t)i;
  return BRAMAH_OK;
}

bramah_status bramah__check_body(const bramah__compiler *k, const bramah_body *body)
{
  const double *I = body->inertia;
  if (!(body->mass >= 0.0) || !isfinite(body->mass))
    return bramah__compile_fail(k, BRAMAH_E_VALUE, body->name, body->line, "the mass must not be negative");
  if (!(I[0] >= 0.0 && I[1] >= 0.0 && I[2] >= 0.0))
    return bramah__compile_fail(k, BRAMAH_E_VALUE, body->name, body->line,
                                "moments of inertia must not be negative");
  return BRAMAH_OK;
}

/* Right-handed orthonormal within rounding of typed numbers? */
static int is_rotation(const double *R)
{
  double c[3];
  bramah__cross3(R, R + 3, c);
  for (int i = 0; i < 3; i++) {
    if (fabs(bramah__dot3(R + 3 * i, R + 3 * i) - 1.0) > 1e-6) return 0;
    if (fabs(c[i] - R[6 + i]) > 1e-6) return 0;
  }
  return 1;
}

bramah_status bramah__joint_rotation(const bramah__compiler *k, const bramah_joint *joint, double *R)
{
  static const double zero9[9] = {0}, identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  memcpy(R, joint->rotation, sizeof joint->rotation);
  if (memcmp(R, zero9, sizeof zero9) == 0) memcpy(R, identity, sizeof identity);
  if (is_rotation(R)) return BRAMAH_OK;
  return bramah__compile_fail(k, BRAMAH_E_VALUE, joint->name, joint->line,
                              "the rotation of this joint is not a right-handed rotation matrix");
}

int bramah__normalise(const double *v, double *out)
{
  const double length = sqrt(bramah__dot3(v, v));
  if (!(length > 0.0) || !isfinite(length)) return 0;
  for (int i = 0; i < 3; i++) out[i] = v[i] / length;
  return 1;
}
