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
static bramah_status beside_joints(const bramah__compiler *k)
{
  const bramah_model *m = k->model;
  const bramah_machine *d = k->source;
  for (size_t i = 0; i < d->n_rotaries; i++)
    if (bramah__find_name(m->n, m->joint_name, d->rotaries[i].name) >= 0)
      return bramah__compile_fail(k, BRAMAH_E_KEY, d->rotaries[i].name, d->rotaries[i].line,
                                  "a joint coordinate has the same name; so would their outputs");
  return BRAMAH_OK;
}

/* Orifices, leakages, check valves, relief valves and pumps share their outputs .flow, and so their names.
 */
enum { N_FLOW_KINDS = 5 };
static const char *const flow_kinds[N_FLOW_KINDS] = {"orifice", "leakage", "check valve", "relief valve",
                                                     "pump"};

static size_t flow_names(const bramah__compiler *k, int kind, const char *const **names)
{
  const bramah_model *m = k->model;
  const bramah_machine *d = k->machine;
  const struct {
    size_t n;
    const char *const *names;
  } lists[N_FLOW_KINDS] = {{d->n_orifices, m->orifice_name},
                           {d->n_leakages, m->leakage_name},
                           {d->n_check_valves, m->check_valve_name},
                           {d->n_relief_valves, m->relief_valve_name},
                           {d->n_pumps, m->pump_name}};
  *names = lists[kind].names;
  return lists[kind].n;
}

static int flow_line(const bramah_machine *d, int kind, size_t i)
{
  if (kind == 0) return d->orifices[i].line;
  if (kind == 1) return d->leakages[i].line;
  if (kind == 2) return d->check_valves[i].line;
  return kind == 3 ? d->relief_valves[i].line : d->pumps[i].line;
}

/* The name of element i of a kind stands in no kind before it. */
static bramah_status flow_name_is_new(const bramah__compiler *k, int kind, size_t i, const char *name)
{
  const char *const *names;
  for (int other = 0; other < kind; other++) {
    const size_t n = flow_names(k, other, &names);
    if (bramah__find_name(n, names, name) < 0) continue;
    bramah__compile_fail(k, BRAMAH_E_KEY, name, flow_line(k->machine, kind, i), "the ");
    bramah__add_text(k->diag, flow_kinds[other]);
    bramah__add_text(k->diag, " of the same name would have the same outputs");
    return BRAMAH_E_KEY;
  }
  return BRAMAH_OK;
}

static bramah_status check_flow_names(const bramah__compiler *k)
{
  const char *const *names;
  bramah_status status = BRAMAH_OK;
  for (int kind = 0; kind < N_FLOW_KINDS && status == BRAMAH_OK; kind++) {
    const size_t n = flow_names(k, kind, &names);
    status = unique(k, n, names, flow_kinds[kind]);
    for (size_t i = 0; i < n && status == BRAMAH_OK; i++) status = flow_name_is_new(k, kind, i, names[i]);
  }
  return status;
}

/* Nor may a motion and a cylinder both have an output .force or .work of the same name. */
static bramah_status beside_cylinders(const bramah__compiler *k)
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
static bramah_status beside_orifices(const bramah__compiler *k)
{
  const bramah_model *m = k->model;
  const bramah_machine *d = k->source;
  for (size_t i = 0; i < d->n_valves; i++)
    if (bramah__find_name(d->n_orifices, m->orifice_name, d->valves[i].name) >= 0)
      return bramah__compile_fail(k, BRAMAH_E_KEY, d->valves[i].name, d->valves[i].line,
                                  "an orifice has the same name; so would their parameters");
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
  const char *const *names;
  for (size_t i = 0; i < d->n_metered_cylinders; i++)
    for (int kind = 0; kind < N_FLOW_KINDS; kind++) {
      const size_t n = flow_names(k, kind, &names);
      if (bramah__find_name(n, names, d->metered_cylinders[i].name) < 0) continue;
      bramah__compile_fail(k, BRAMAH_E_KEY, d->metered_cylinders[i].name, d->metered_cylinders[i].line,
                           "the ");
      bramah__add_text(k->diag, flow_kinds[kind]);
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
  bramah_status status = check_flow_names(k);
  if (status == BRAMAH_OK) status = beside_joints(k);
  if (status == BRAMAH_OK) status = beside_orifices(k);
  if (status == BRAMAH_OK) status = check_metered_names(k);
  return status == BRAMAH_OK ? beside_cylinders(k) : status;
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
