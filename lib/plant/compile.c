/* SPDX-License-Identifier: MIT */
/* From a machine description to the immutable model: memory, names, tree, circuit. The initial pose and the
 * equilibrium follow in assembly.c and equilibrium.c. */
#include "lib/plant/coupled_internal.h"
#include "lib/base/diag.h"
#include "lib/base/text.h"
#include "lib/linalg/vector3.h"

#include <math.h>
#include <string.h>

/* The tables of the model while they may still be written. */
typedef struct tables {
  bramah__link *link;
  bramah__loop *loop;
  bramah__line *line;
  bramah__volume *volume;
  double *supply;
  bramah__throttle *throttle;
  bramah__valve *valve;
  bramah__cylinder *cylinder;
  int *body_of_joint;   /* index in machine->bodies */
  size_t *joint_order;  /* index in machine->joints */
  unsigned char *given; /* [n] initial position to be kept */
  double *work;         /* for the equilibrium */
} tables;

typedef struct compiler {
  const bramah_machine *machine;
  bramah_model *model;
  bramah_diag *diag;
  tables t;
} compiler;

static bramah_status fail(const compiler *k, bramah_status status, const char *thing, int line,
                          const char *message)
{
  bramah__fail(k->diag, status, thing, message);
  bramah__at(k->diag, k->machine->file, line, 0);
  return status;
}

static void count(const bramah_machine *machine, bramah_model *model)
{
  model->n = machine->n_joints;
  model->n_loops = machine->n_loops;
  model->m = BRAMAH__LOOP_ROWS * machine->n_loops;
  model->n_dependent = 0;
  model->n_independent = machine->n_joints;
  model->n_inputs = machine->n_inputs;
  model->tree.n = machine->n_joints;
  model->circuit.n_volumes = machine->n_volumes;
  model->circuit.n_supplies = machine->n_supplies;
  model->circuit.n_throttles = machine->n_throttles;
  model->circuit.n_valves = machine->n_valves;
  model->circuit.n_cylinders = machine->n_cylinders;
}

#define TAKE_NAMES(field, things, n)                                                                         \
  do {                                                                                                       \
    model->field = BRAMAH__TAKE(arena, const char *, (n));                                                   \
    for (size_t i_ = 0; i_ < (n); i_++) {                                                                    \
      const char *copy_ =                                                                                    \
          bramah__arena_text(arena, machine->things[i_].name ? machine->things[i_].name : "");               \
      if (model->field) model->field[i_] = copy_;                                                            \
    }                                                                                                        \
  } while (0)

static void take_names(const bramah_machine *machine, bramah_model *model, bramah__arena *arena)
{
  model->name = bramah__arena_text(arena, machine->name ? machine->name : "machine");
  TAKE_NAMES(joint_name, joints, machine->n_joints);
  TAKE_NAMES(body_name, bodies, machine->n_bodies);
  TAKE_NAMES(loop_name, loops, machine->n_loops);
  TAKE_NAMES(volume_name, volumes, machine->n_volumes);
  TAKE_NAMES(supply_name, supplies, machine->n_supplies);
  TAKE_NAMES(valve_name, valves, machine->n_valves);
  TAKE_NAMES(cylinder_name, cylinders, machine->n_cylinders);
  TAKE_NAMES(input_name, inputs, machine->n_inputs);
}

/* Cut everything the model needs, in a fixed order, except the outputs, whose names need the sorted tree. */
static void layout(const bramah_machine *machine, bramah_model *model, tables *t, bramah__arena *arena)
{
  const size_t n = machine->n_joints, nc = machine->n_cylinders;
  take_names(machine, model, arena);
  t->link = BRAMAH__TAKE(arena, bramah__link, n);
  t->loop = BRAMAH__TAKE(arena, bramah__loop, machine->n_loops);
  t->line = BRAMAH__TAKE(arena, bramah__line, nc);
  t->volume = BRAMAH__TAKE(arena, bramah__volume, machine->n_volumes);
  t->supply = BRAMAH__TAKE(arena, double, machine->n_supplies);
  t->throttle = BRAMAH__TAKE(arena, bramah__throttle, machine->n_throttles);
  t->valve = BRAMAH__TAKE(arena, bramah__valve, machine->n_valves);
  t->cylinder = BRAMAH__TAKE(arena, bramah__cylinder, nc);
  t->body_of_joint = BRAMAH__TAKE(arena, int, n);
  t->joint_order = BRAMAH__TAKE(arena, size_t, n);
  t->given = BRAMAH__TAKE(arena, unsigned char, n);
  model->z0 = BRAMAH__TAKE(arena, double, n);
  model->zd0 = BRAMAH__TAKE(arena, double, n);
  model->p0 = BRAMAH__TAKE(arena, double, machine->n_volumes);
  model->U0 = BRAMAH__TAKE(arena, double, machine->n_valves);
  model->index0 = BRAMAH__TAKE(arena, int, n);
  model->row0 = BRAMAH__TAKE(arena, int, model->m);
  t->work = BRAMAH__TAKE(arena, double, bramah__equilibrium_work(machine));
  model->scratch = bramah__coupled_layout(model, arena);
}

/* Room for the outputs: each name is at most the longest name plus a suffix. */
static size_t outputs_size(const bramah_machine *machine)
{
  size_t things[] = {3 * machine->n_joints,    machine->n_volumes, machine->n_valves,
                     5 * machine->n_cylinders, machine->n_inputs,  2,
                     3 * machine->n_joints};
  size_t outputs = 0;
  for (size_t i = 0; i < sizeof things / sizeof things[0]; i++) outputs += things[i];
  /* rounded so that the whole is a multiple of the alignment, as aligned_alloc asks */
  return (outputs * (sizeof(bramah__output) + 512) / BRAMAH__ALIGN + outputs + 2) * BRAMAH__ALIGN;
}

size_t bramah_model_size(const bramah_machine *machine)
{
  bramah_model model = {0};
  tables t;
  count(machine, &model);
  bramah__arena arena = bramah__arena_make(NULL, 0);
  bramah__arena_take(&arena, 1, sizeof model);
  layout(machine, &model, &t, &arena);
  return arena.used + outputs_size(machine);
}

/* ---- names ---- */

static long find_name(size_t n, const char *const *names, const char *name)
{
  for (size_t i = 0; name && i < n; i++)
    if (strcmp(names[i], name) == 0) return (long)i;
  return -1;
}

static bramah_status unique(const compiler *k, size_t n, const char *const *names, const char *kind)
{
  for (size_t i = 0; i < n; i++) {
    if (!names[i][0]) return fail(k, BRAMAH_E_KEY, kind, 0, "has no name");
    if (find_name(i, names, names[i]) < 0) continue;
    fail(k, BRAMAH_E_KEY, names[i], 0, "this name is given to more than one ");
    bramah__add_text(k->diag, kind);
    return BRAMAH_E_KEY;
  }
  return BRAMAH_OK;
}

static bramah_status check_names(const compiler *k)
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
               {d->n_cylinders, m->cylinder_name, "cylinder"},
               {d->n_inputs, m->input_name, "input"}};
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
    const bramah_status status = unique(k, lists[i].n, lists[i].names, lists[i].kind);
    if (status != BRAMAH_OK) return status;
  }
  return BRAMAH_OK;
}

static bramah_status no_such(const compiler *k, const char *thing, int line, const char *what,
                             const char *name, size_t n, const char *const *names)
{
  fail(k, BRAMAH_E_REFERENCE, thing, line, "there is no ");
  bramah__add_text(k->diag, what);
  bramah__add_text(k->diag, " '");
  bramah__add_text(k->diag, name ? name : "");
  const char *near = name ? bramah__nearest(name, n, names) : NULL;
  bramah__add_text(k->diag, near ? "'; did you mean '" : "'");
  if (near) bramah__add_text(k->diag, near), bramah__add_text(k->diag, "'?");
  return BRAMAH_E_REFERENCE;
}

/* Index of a body in the sorted tree, -1 for the ground. */
static bramah_status find_body(const compiler *k, const char *thing, int line, const char *name, int *out)
{
  *out = -1;
  if (name && strcmp(name, "ground") == 0) return BRAMAH_OK;
  const long i = find_name(k->model->n, k->model->body_name, name);
  if (i < 0) return no_such(k, thing, line, "body", name, k->model->n, k->model->body_name);
  *out = (int)i;
  return BRAMAH_OK;
}

static bramah_status find_node(const compiler *k, const char *thing, int line, const char *name, size_t *out)
{
  const bramah_model *m = k->model;
  long i = find_name(m->circuit.n_volumes, m->volume_name, name);
  if (i < 0) {
    i = find_name(m->circuit.n_supplies, m->supply_name, name);
    if (i < 0) return no_such(k, thing, line, "volume or supply", name, m->circuit.n_volumes, m->volume_name);
    i += (long)m->circuit.n_volumes;
  }
  *out = (size_t)i;
  return BRAMAH_OK;
}

/* ---- tree ---- */

/* Index in machine->bodies; -1: ground; -2: none of that name. */
static int machine_body(const bramah_machine *machine, const char *name)
{
  if (name && strcmp(name, "ground") == 0) return -1;
  for (size_t i = 0; name && i < machine->n_bodies; i++)
    if (strcmp(machine->bodies[i].name, name) == 0) return (int)i;
  return -2;
}

static bramah_status check_tree_names(const compiler *k)
{
  const bramah_machine *d = k->machine;
  for (size_t j = 0; j < d->n_joints; j++) {
    const bramah_joint *joint = &d->joints[j];
    const char *ends[2] = {joint->parent, joint->child};
    for (int e = 0; e < 2; e++)
      if (machine_body(d, ends[e]) == -2)
        return no_such(k, joint->name, joint->line, "body", ends[e], d->n_bodies, k->model->body_name);
    if (machine_body(d, joint->child) == -1)
      return fail(k, BRAMAH_E_TOPOLOGY, joint->name, joint->line,
                  "the ground cannot be the child of a joint");
  }
  return BRAMAH_OK;
}

static bramah_status check_each_body_once(const compiler *k)
{
  const bramah_machine *d = k->machine;
  for (size_t b = 0; b < d->n_bodies; b++) {
    size_t parents = 0;
    for (size_t j = 0; j < d->n_joints; j++) parents += machine_body(d, d->joints[j].child) == (int)b;
    if (parents == 0)
      return fail(k, BRAMAH_E_TOPOLOGY, d->bodies[b].name, d->bodies[b].line, "this body hangs on no joint");
    if (parents > 1)
      return fail(k, BRAMAH_E_TOPOLOGY, d->bodies[b].name, d->bodies[b].line,
                  "this body is the child of more than one joint; close loops under 'loops'");
  }
  return BRAMAH_OK;
}

/* Order the joints so that parents come first, otherwise as they stand in the machine. */
static bramah_status sort_tree(compiler *k)
{
  const bramah_machine *d = k->machine;
  size_t placed = 0;
  while (placed < d->n_joints) {
    const size_t before = placed;
    for (size_t j = 0; j < d->n_joints; j++) {
      int done = 0, ready = machine_body(d, d->joints[j].parent) == -1;
      for (size_t i = 0; i < placed; i++) {
        done |= k->t.joint_order[i] == j;
        ready |= k->t.body_of_joint[i] == machine_body(d, d->joints[j].parent);
      }
      if (done || !ready) continue;
      k->t.joint_order[placed] = j;
      k->t.body_of_joint[placed++] = machine_body(d, d->joints[j].child);
    }
    if (placed != before) continue;
    for (size_t j = 0; j < d->n_joints; j++) {
      int done = 0;
      for (size_t i = 0; i < placed; i++) done |= k->t.joint_order[i] == j;
      if (!done)
        return fail(k, BRAMAH_E_TOPOLOGY, d->joints[j].name, d->joints[j].line,
                    "this joint is not connected to the ground; cut the loop and close it under 'loops'");
    }
  }
  return BRAMAH_OK;
}

/* Names of joints and bodies in the order of the tree: pointers are permuted through the machine's. */
static void sort_names(compiler *k)
{
  const bramah_machine *d = k->machine;
  bramah_model *model = k->model;
  /* The names were copied in file order into consecutive slots; look each up by its text. */
  for (size_t i = 0; i < model->n; i++) {
    const char *joint = d->joints[k->t.joint_order[i]].name, *body = d->bodies[k->t.body_of_joint[i]].name;
    for (size_t l = i; l < model->n; l++)
      if (strcmp(model->joint_name[l], joint) == 0) {
        const char *t = model->joint_name[i];
        model->joint_name[i] = model->joint_name[l], model->joint_name[l] = t;
      }
    for (size_t l = i; l < model->n; l++)
      if (strcmp(model->body_name[l], body) == 0) {
        const char *t = model->body_name[i];
        model->body_name[i] = model->body_name[l], model->body_name[l] = t;
      }
  }
}

static int normalise(const double *v, double *out)
{
  const double length = sqrt(bramah__dot3(v, v));
  if (!(length > 0.0) || !isfinite(length)) return 0;
  for (int i = 0; i < 3; i++) out[i] = v[i] / length;
  return 1;
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

static bramah_status fill_joint(const compiler *k, const bramah_joint *joint, bramah__link *link)
{
  static const double zero9[9] = {0}, identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  link->revolute = joint->type == BRAMAH_JOINT_REVOLUTE;
  if (!link->revolute && joint->type != BRAMAH_JOINT_PRISMATIC)
    return fail(k, BRAMAH_E_VALUE, joint->name, joint->line, "the type of this joint is unknown");
  if (!normalise(joint->axis, link->axis))
    return fail(k, BRAMAH_E_VALUE, joint->name, joint->line, "the axis of this joint has no direction");
  memcpy(link->position, joint->position, sizeof link->position);
  memcpy(link->rotation, joint->rotation, sizeof link->rotation);
  if (memcmp(link->rotation, zero9, sizeof zero9) == 0) memcpy(link->rotation, identity, sizeof identity);
  link->turned = memcmp(link->rotation, identity, sizeof identity) != 0;
  if (!is_rotation(link->rotation))
    return fail(k, BRAMAH_E_VALUE, joint->name, joint->line,
                "the rotation of this joint is not a right-handed rotation matrix");
  return BRAMAH_OK;
}

static bramah_status fill_body(const compiler *k, const bramah_body *body, bramah__link *link)
{
  const double *I = body->inertia;
  if (!(body->mass >= 0.0) || !isfinite(body->mass))
    return fail(k, BRAMAH_E_VALUE, body->name, body->line, "the mass must not be negative");
  if (!(I[0] >= 0.0 && I[1] >= 0.0 && I[2] >= 0.0))
    return fail(k, BRAMAH_E_VALUE, body->name, body->line, "moments of inertia must not be negative");
  link->mass = body->mass;
  memcpy(link->centre, body->centre_of_mass, sizeof link->centre);
  const double full[9] = {I[0], I[3], I[4], I[3], I[1], I[5], I[4], I[5], I[2]};
  memcpy(link->inertia, full, sizeof full);
  return BRAMAH_OK;
}

static bramah_status build_tree(compiler *k)
{
  const bramah_machine *d = k->machine;
  if (d->n_joints == 0) return fail(k, BRAMAH_E_TOPOLOGY, "joints", 0, "the machine has no joint");
  bramah_status status = check_tree_names(k);
  if (status == BRAMAH_OK) status = check_each_body_once(k);
  if (status == BRAMAH_OK) status = sort_tree(k);
  if (status != BRAMAH_OK) return status;
  sort_names(k);
  for (size_t i = 0; i < k->model->n; i++) {
    const bramah_joint *joint = &d->joints[k->t.joint_order[i]];
    status = fill_joint(k, joint, &k->t.link[i]);
    if (status == BRAMAH_OK) status = fill_body(k, &d->bodies[k->t.body_of_joint[i]], &k->t.link[i]);
    if (status == BRAMAH_OK)
      status = find_body(k, joint->name, joint->line, joint->parent, &k->t.link[i].parent);
    if (status != BRAMAH_OK) return status;
    k->model->z0[i] = joint->initial_position;
    k->model->zd0[i] = joint->initial_rate;
    k->t.given[i] = joint->initial == BRAMAH_INITIAL_GIVEN;
  }
  return BRAMAH_OK;
}

static bramah_status build_loops(compiler *k)
{
  for (size_t i = 0; i < k->machine->n_loops; i++) {
    const bramah_loop *loop = &k->machine->loops[i];
    bramah__loop *out = &k->t.loop[i];
    double axis[3];
    if (loop->type != BRAMAH_LOOP_REVOLUTE)
      return fail(k, BRAMAH_E_VALUE, loop->name, loop->line, "the type of this loop is unknown");
    if (!normalise(loop->axis[0], out->axis) || !normalise(loop->axis[1], axis))
      return fail(k, BRAMAH_E_VALUE, loop->name, loop->line, "the axis of this loop has no direction");
    bramah__loop_normals(axis, out->normal);
    memcpy(out->point, loop->point, sizeof out->point);
    for (int e = 0; e < 2; e++) {
      const bramah_status status = find_body(k, loop->name, loop->line, loop->body[e], &out->body[e]);
      if (status != BRAMAH_OK) return status;
    }
  }
  return BRAMAH_OK;
}

/* ---- circuit ---- */

static bramah_status positive(const compiler *k, double value, const char *thing, int line, const char *what)
{
  if (value > 0.0 && isfinite(value)) return BRAMAH_OK;
  fail(k, BRAMAH_E_VALUE, thing, line, what);
  bramah__add_text(k->diag, " must be positive, not ");
  bramah__add_number(k->diag, value, 6);
  return BRAMAH_E_VALUE;
}

static bramah_status build_volumes(compiler *k)
{
  for (size_t i = 0; i < k->machine->n_volumes; i++) {
    const bramah_volume *volume = &k->machine->volumes[i];
    bramah__volume *out = &k->t.volume[i];
    for (size_t h = 0; h < volume->n_hoses; h++) {
      bramah_status status =
          positive(k, volume->hoses[h].volume, volume->name, volume->line, "the volume of a hose");
      if (status == BRAMAH_OK)
        status = positive(k, volume->hoses[h].bulk_modulus, volume->name, volume->line,
                          "the bulk modulus of a hose");
      if (status != BRAMAH_OK) return status;
      out->hose_volume += volume->hoses[h].volume;
      out->hose_compliance += volume->hoses[h].volume / volume->hoses[h].bulk_modulus;
    }
    k->model->p0[i] = volume->initial == BRAMAH_PRESSURE_GIVEN ? volume->initial_pressure : 0.0;
    if (!isfinite(k->model->p0[i]))
      return fail(k, BRAMAH_E_NOT_FINITE, volume->name, volume->line, "the initial pressure is not finite");
  }
  for (size_t i = 0; i < k->machine->n_supplies; i++) {
    k->t.supply[i] = k->machine->supplies[i].pressure;
    if (!isfinite(k->t.supply[i]))
      return fail(k, BRAMAH_E_NOT_FINITE, k->machine->supplies[i].name, k->machine->supplies[i].line,
                  "the pressure of this supply is not finite");
  }
  return BRAMAH_OK;
}

static bramah_status build_throttles(compiler *k)
{
  for (size_t i = 0; i < k->machine->n_throttles; i++) {
    const bramah_throttle *in = &k->machine->throttles[i];
    bramah__throttle *out = &k->t.throttle[i];
    bramah_status status = positive(k, in->flow_coefficient, in->name, in->line, "the flow coefficient");
    if (status == BRAMAH_OK) status = find_node(k, in->name, in->line, in->from, &out->from);
    if (status == BRAMAH_OK) status = find_node(k, in->name, in->line, in->to, &out->to);
    if (status != BRAMAH_OK) return status;
    out->coefficient = in->flow_coefficient;
  }
  return BRAMAH_OK;
}

static bramah_status build_valve(compiler *k, const bramah_valve *in, bramah__valve *out)
{
  bramah_status status = positive(k, in->flow_coefficient, in->name, in->line, "the flow coefficient");
  if (status == BRAMAH_OK) status = positive(k, in->time_constant, in->name, in->line, "the time constant");
  if (status == BRAMAH_OK) status = positive(k, in->limit, in->name, in->line, "the limit");
  if (status == BRAMAH_OK) status = find_node(k, in->name, in->line, in->pump, &out->pump);
  if (status == BRAMAH_OK) status = find_node(k, in->name, in->line, in->tank, &out->tank);
  if (status == BRAMAH_OK) status = find_node(k, in->name, in->line, in->a, &out->a);
  if (status == BRAMAH_OK) status = find_node(k, in->name, in->line, in->b, &out->b);
  if (status != BRAMAH_OK) return status;
  const long input = find_name(k->model->n_inputs, k->model->input_name, in->input);
  if (input < 0)
    return no_such(k, in->name, in->line, "input", in->input, k->model->n_inputs, k->model->input_name);
  out->input = (size_t)input;
  out->coefficient = in->flow_coefficient;
  out->time_constant = in->time_constant;
  out->limit = in->limit;
  return BRAMAH_OK;
}

static bramah_status build_friction(compiler *k, const bramah_cylinder *in, bramah__friction *out)
{
  const bramah_friction *f = &in->friction;
  if (f->model == BRAMAH_FRICTION_NONE) return BRAMAH_OK;
  if (f->model != BRAMAH_FRICTION_BROWN_MCPHEE)
    return fail(k, BRAMAH_E_VALUE, in->name, in->line, "the friction model is unknown");
  if (!(f->coulomb >= 0.0 && f->static_force >= f->coulomb && f->viscous >= 0.0))
    return fail(k, BRAMAH_E_VALUE, in->name, in->line,
                "friction needs 0 <= coulomb <= static and a viscous coefficient that is not negative");
  const bramah_status status = positive(k, f->stribeck_velocity, in->name, in->line, "the Stribeck velocity");
  *out = (bramah__friction){BRAMAH__FRICTION_BROWN_MCPHEE, f->coulomb, f->static_force, f->stribeck_velocity,
                            f->viscous};
  return status;
}

static bramah_status cylinder_values(compiler *k, const bramah_cylinder *in)
{
  const struct {
    double value;
    const char *what;
  } checks[] = {{in->piston_area, "the piston area"},
                {in->rod_area, "the rod area"},
                {in->bulk_modulus, "the bulk modulus"},
                {in->piston_chamber_length, "the piston chamber length"},
                {in->rod_chamber_length, "the rod chamber length"}};
  for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
    const bramah_status status = positive(k, checks[i].value, in->name, in->line, checks[i].what);
    if (status != BRAMAH_OK) return status;
  }
  return BRAMAH_OK;
}

static bramah_status build_cylinder(compiler *k, const bramah_cylinder *in, bramah__cylinder *out,
                                    bramah__line *line)
{
  const bramah_model *m = k->model;
  bramah_status status = cylinder_values(k, in);
  for (int e = 0; e < 2 && status == BRAMAH_OK; e++)
    status = find_body(k, in->name, in->line, in->body[e], &line->body[e]);
  if (status != BRAMAH_OK) return status;
  memcpy(line->point, in->point, sizeof line->point);
  const long piston = find_name(m->circuit.n_volumes, m->volume_name, in->piston_volume);
  const long rod = find_name(m->circuit.n_volumes, m->volume_name, in->rod_volume);
  if (piston < 0)
    return no_such(k, in->name, in->line, "volume", in->piston_volume, m->circuit.n_volumes, m->volume_name);
  if (rod < 0)
    return no_such(k, in->name, in->line, "volume", in->rod_volume, m->circuit.n_volumes, m->volume_name);
  out->piston = (size_t)piston;
  out->rod = (size_t)rod;
  out->piston_area = in->piston_area;
  out->rod_area = in->rod_area;
  out->bulk_modulus = in->bulk_modulus;
  out->reference = in->reference_stroke;
  out->piston_length = in->piston_chamber_length;
  out->rod_length = in->rod_chamber_length;
  return build_friction(k, in, &out->friction);
}

/* A volume without hose and chamber would have no compliance at all. */
static bramah_status check_compliance(const compiler *k)
{
  for (size_t i = 0; i < k->machine->n_volumes; i++) {
    int filled = k->t.volume[i].hose_volume > 0.0;
    for (size_t c = 0; c < k->machine->n_cylinders; c++)
      filled |= k->t.cylinder[c].piston == i || k->t.cylinder[c].rod == i;
    if (!filled)
      return fail(k, BRAMAH_E_VALUE, k->machine->volumes[i].name, k->machine->volumes[i].line,
                  "this volume has neither a hose nor a cylinder chamber");
  }
  return BRAMAH_OK;
}

static bramah_status build_circuit(compiler *k)
{
  const bramah_machine *d = k->machine;
  bramah_status status = BRAMAH_OK;
  if (d->n_volumes) status = positive(k, d->oil_bulk_modulus, "oil", 0, "the bulk modulus of the oil");
  if (status == BRAMAH_OK) status = build_volumes(k);
  if (status == BRAMAH_OK) status = build_throttles(k);
  for (size_t i = 0; i < d->n_valves && status == BRAMAH_OK; i++) {
    status = build_valve(k, &d->valves[i], &k->t.valve[i]);
    k->model->U0[i] = d->valves[i].initial_spool;
  }
  for (size_t i = 0; i < d->n_cylinders && status == BRAMAH_OK; i++)
    status = build_cylinder(k, &d->cylinders[i], &k->t.cylinder[i], &k->t.line[i]);
  return status == BRAMAH_OK ? check_compliance(k) : status;
}

static bramah_status take_integrator(compiler *k)
{
  const bramah_integrator *in = &k->machine->integrator;
  bramah_model *m = k->model;
  if (in->step_ns < 0 || in->position_tolerance < 0 || in->pressure_tolerance < 0 || in->max_iterations < 0)
    return fail(k, BRAMAH_E_VALUE, "integrator", 0, "step, tolerances and iterations must be positive");
  m->step_ns = in->step_ns ? in->step_ns : 1000000;
  m->h = (double)m->step_ns * 1e-9;
  m->position_tolerance = in->position_tolerance > 0 ? in->position_tolerance : 1e-7;
  m->pressure_tolerance = in->pressure_tolerance > 0 ? in->pressure_tolerance : 1e-2;
  m->max_iterations = in->max_iterations ? in->max_iterations : 25;
  return BRAMAH_OK;
}

static void connect(compiler *k)
{
  const bramah_machine *d = k->machine;
  bramah_model *m = k->model;
  m->tree.link = k->t.link;
  memcpy(m->tree.gravity, d->gravity, sizeof m->tree.gravity);
  m->loop = k->t.loop;
  m->line = k->t.line;
  m->circuit.oil_bulk_modulus = d->oil_bulk_modulus;
  m->circuit.laminar_pressure = d->laminar_pressure > 0.0 ? d->laminar_pressure : 2e5;
  m->circuit.volume = k->t.volume;
  m->circuit.supply = k->t.supply;
  m->circuit.throttle = k->t.throttle;
  m->circuit.valve = k->t.valve;
  m->circuit.cylinder = k->t.cylinder;
}

static bramah_status compile(compiler *k, bramah__arena *arena)
{
  bramah_status status = take_integrator(k);
  if (status == BRAMAH_OK) status = check_names(k);
  if (status == BRAMAH_OK) status = build_tree(k);
  if (status == BRAMAH_OK) status = build_loops(k);
  if (status == BRAMAH_OK) status = build_circuit(k);
  if (status != BRAMAH_OK) return status;
  connect(k);
  status = bramah__assemble(k->model, k->machine, k->t.given, k->diag);
  if (status == BRAMAH_OK) status = bramah__equilibrium(k->model, k->machine, k->t.work, k->diag);
  if (status == BRAMAH_OK) bramah__outputs_build(k->model, arena);
  if (arena->overflow) return bramah__fail(k->diag, BRAMAH_E_ARGUMENT, "model", "memory is too small");
  return status;
}

bramah_status bramah_model_init(const bramah_machine *machine, void *mem, size_t size, bramah_diag *diag,
                                const bramah_model **out)
{
  if ((uintptr_t)mem % BRAMAH__ALIGN)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "model", "memory is not aligned to 64 bytes");
  if (!mem || size < bramah_model_size(machine))
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "model", "memory is too small");
  bramah__arena arena = bramah__arena_make(mem, size);
  compiler k = {.machine = machine, .diag = diag};
  k.model = BRAMAH__TAKE(&arena, bramah_model, 1);
  count(machine, k.model);
  if (machine->n_joints != machine->n_bodies)
    return fail(&k, BRAMAH_E_TOPOLOGY, "joints", 0,
                "there must be one joint in front of each body: numbers of joints and bodies differ");
  layout(machine, k.model, &k.t, &arena);
  const bramah_status status = compile(&k, &arena);
  if (status == BRAMAH_OK) *out = k.model;
  return status;
}

bramah_status bramah_model_new(const bramah_machine *machine, bramah_diag *diag, const bramah_model **out)
{
  const size_t size = bramah_model_size(machine);
  void *mem = bramah__aligned_new(size);
  if (!mem) return bramah__fail(diag, BRAMAH_E_MEMORY, "model", "out of memory");
  const bramah_status status = bramah_model_init(machine, mem, size, diag, out);
  if (status != BRAMAH_OK) bramah__aligned_free(mem);
  return status;
}

void bramah_model_free(const bramah_model *model)
{
  /* The model is const for everybody but its owner, who gives it back here. */
  bramah__aligned_free((void *)(uintptr_t)model);
}
