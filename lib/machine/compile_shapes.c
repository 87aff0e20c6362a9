/* SPDX-License-Identifier: MIT */
/* Shapes of bodies, and which of them may touch. */
#include "lib/base/diag.h"
#include "lib/machine/compile.h"
#include "lib/math/vector3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- how many ---- */

size_t bramah__shape_corners(const bramah_shape *shape)
{
  switch (shape->kind) {
  case BRAMAH_SHAPE_SPHERE:
    return 1;
  case BRAMAH_SHAPE_CAPSULE:
    return 2;
  case BRAMAH_SHAPE_BOX:
    return 8;
  default:
    return shape->n_corners;
  }
}

static const bramah_body *body_named(const bramah_machine *machine, const char *name)
{
  for (size_t b = 0; name && b < machine->n_bodies; b++)
    if (machine->bodies[b].name && strcmp(machine->bodies[b].name, name) == 0) return &machine->bodies[b];
  return NULL;
}

static int are_joined(const bramah_machine *machine, const char *a, const char *b)
{
  for (size_t j = 0; j < machine->n_joints; j++) {
    const bramah_joint *joint = &machine->joints[j];
    if (!joint->parent || !joint->child) continue;
    if ((strcmp(joint->parent, a) == 0 && strcmp(joint->child, b) == 0) ||
        (strcmp(joint->parent, b) == 0 && strcmp(joint->child, a) == 0))
      return 1;
  }
  return 0;
}

/* Most points that two shapes touch in, before their faces are known. */
static size_t most_touches(const bramah_shape *a, const bramah_shape *b)
{
  const bramah_shape *of[2] = {a, b};
  size_t sum = 0, fewest = 2;
  for (int e = 0; e < 2; e++) {
    const size_t corners = bramah__shape_corners(of[e]);
    if (corners < 3 && corners < fewest) fewest = corners;
    sum += of[e]->kind == BRAMAH_SHAPE_BOX  ? 4
           : corners < BRAMAH__MOST_OF_FACE ? corners
                                            : (size_t)BRAMAH__MOST_OF_FACE;
  }
  const int is_round = a->kind < BRAMAH_SHAPE_BOX || b->kind < BRAMAH_SHAPE_BOX;
  return is_round ? fewest : sum;
}

bramah__shape_counts bramah__count_shapes(const bramah_machine *machine)
{
  bramah__shape_counts n = {0};
  for (size_t b = 0; b < machine->n_bodies; b++) {
    n.shapes += machine->bodies[b].n_shapes;
    for (size_t s = 0; s < machine->bodies[b].n_shapes; s++)
      n.corners += bramah__shape_corners(&machine->bodies[b].shapes[s]);
  }
  for (size_t i = 0; i < machine->n_contacts; i++) {
    const bramah_contact *in = &machine->contacts[i];
    n.between += in->n_between > 0;
    for (size_t a = 0; a < in->n_between; a++)
      for (size_t b = a + 1; b < in->n_between; b++) {
        const bramah_body *one = body_named(machine, in->between[a]),
                          *other = body_named(machine, in->between[b]);
        for (size_t s = 0; one && other && s < one->n_shapes; s++)
          for (size_t t = 0; t < other->n_shapes; t++) {
            n.meetings++;
            n.points += most_touches(&one->shapes[s], &other->shapes[t]);
          }
      }
  }
  return n;
}

size_t bramah__count_ground_points(const bramah_machine *machine, const bramah_contact *contact)
{
  const bramah_body *body = body_named(machine, contact->body);
  size_t n = contact->n_points;
  if (n || contact->n_between || !body) return n;
  for (size_t s = 0; s < body->n_shapes; s++) n += bramah__shape_corners(&body->shapes[s]);
  return n;
}

/* ---- the shapes ---- */

static bramah_status fault(const bramah__compiler *k, const bramah_body *body, const bramah_shape *shape,
                           const char *message)
{
  bramah__refuse(k, body, "shape ");
  bramah__add_number(k->diag, (double)(shape - body->shapes + 1), 6);
  bramah__add_text(k->diag, ": ");
  bramah__add_text(k->diag, message);
  return BRAMAH_E_VALUE;
}

static bramah_status box_corners(const bramah__compiler *k, const bramah_body *body,
                                 const bramah_shape *shape, double *corner)
{
  static const double none[9] = {0}, straight[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const double *R = memcmp(shape->rotation, none, sizeof none) ? shape->rotation : straight;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      if (!(fabs(bramah__dot3(R + 3 * i, R + 3 * j) - (i == j)) < 1e-6))
        return fault(k, body, shape, "its rotation is no rotation matrix");
  for (int c = 0; c < 8; c++) {
    double half[3], turned[3];
    for (int a = 0; a < 3; a++) {
      if (!(shape->size[a] > 0.0)) return fault(k, body, shape, "its size must be positive");
      half[a] = 0.5 * (c >> a & 1 ? shape->size[a] : -shape->size[a]);
    }
    bramah__rotate3(R, half, turned);
    for (int a = 0; a < 3; a++) corner[3 * c + a] = shape->centre[a] + turned[a];
  }
  return BRAMAH_OK;
}

static bramah_status fill_corners(const bramah__compiler *k, const bramah_body *body,
                                  const bramah_shape *shape, bramah__shape *out)
{
  const size_t n = out->n_corners;
  if (shape->kind < BRAMAH_SHAPE_SPHERE || shape->kind > BRAMAH_SHAPE_HULL)
    return fault(k, body, shape, "this kind is unknown");
  if (shape->kind <= BRAMAH_SHAPE_CAPSULE) {
    if (!(shape->radius > 0.0 && isfinite(shape->radius)))
      return fault(k, body, shape, "its radius must be positive");
    out->radius = shape->radius;
  }
  if (shape->kind == BRAMAH_SHAPE_SPHERE) {
    memcpy(out->corner, shape->centre, sizeof shape->centre);
  } else if (shape->kind == BRAMAH_SHAPE_CAPSULE) {
    memcpy(out->corner, shape->ends, sizeof shape->ends);
  } else if (shape->kind == BRAMAH_SHAPE_BOX) {
    const bramah_status status = box_corners(k, body, shape, out->corner);
    if (status != BRAMAH_OK) return status;
  } else {
    if (n < 4 || n > BRAMAH__MOST_CORNERS) return fault(k, body, shape, "a hull has 4 to 32 corners");
    memcpy(out->corner, shape->corners, 3 * n * sizeof *out->corner);
  }
  for (size_t i = 0; i < 3 * n; i++)
    if (!isfinite(out->corner[i])) return fault(k, body, shape, "its corners must be finite");
  if (shape->kind == BRAMAH_SHAPE_CAPSULE &&
      memcmp(shape->ends[0], shape->ends[1], sizeof shape->ends[0]) == 0)
    return fault(k, body, shape, "its two ends are one place: make it a sphere");
  return BRAMAH_OK;
}

static bramah_status build_shape(bramah__compiler *k, const bramah_body *body, const bramah_shape *shape,
                                 bramah__shape *out)
{
  bramah_status status = fill_corners(k, body, shape, out);
  const char *carrier = body->name;
  for (size_t i = 0; i < out->n_corners && status == BRAMAH_OK; i++) {
    carrier = body->name;
    bramah__carry_point(k, &carrier, out->corner + 3 * i);
  }
  if (status == BRAMAH_OK) status = bramah__find_body(k, body, carrier, &out->body);
  if (status != BRAMAH_OK) return status;
  const long wrong = bramah__shape_build(out);
  if (wrong == -2) return fault(k, body, shape, "its corners lie in a plane");
  if (wrong < 0) return BRAMAH_OK;
  fault(k, body, shape, "corner ");
  bramah__add_number(k->diag, (double)(wrong + 1), 6);
  bramah__add_text(
      k->diag,
      " is no corner of the hull, for it lies inside, on a face or on an edge of the others, or it is one of "
      "more than 8 in a face");
  return BRAMAH_E_VALUE;
}

bramah_status bramah__build_shapes(bramah__compiler *k)
{
  const bramah_machine *d = k->source;
  size_t corners = 0;
  bramah__shape *out = k->t.shape;
  bramah_status status = BRAMAH_OK;
  for (size_t b = 0; b < d->n_bodies; b++)
    for (size_t s = 0; s < d->bodies[b].n_shapes && status == BRAMAH_OK; s++, out++) {
      const size_t n = bramah__shape_corners(&d->bodies[b].shapes[s]);
      *out = (bramah__shape){.n_corners = n,
                             .corner = k->t.corner + 3 * corners,
                             .normal = k->t.normal + 15 * corners,
                             .direction = k->t.normal + 15 * corners + 6 * n,
                             .first = k->t.first + 3 * corners,
                             .of_face = k->t.of_face + 6 * corners,
                             .edge = k->t.edge + 6 * corners};
      corners += n;
      status = build_shape(k, &d->bodies[b], &d->bodies[b].shapes[s], out);
    }
  k->model->shape = k->t.shape;
  return status;
}

static const bramah__shape *shapes_of(const bramah__compiler *k, const bramah_body *body)
{
  const bramah__shape *shape = k->t.shape;
  for (const bramah_body *b = k->source->bodies; b < body; b++) shape += b->n_shapes;
  return shape;
}

/* ---- with the ground ---- */

/* The part of the law that one corner has of a shape that lies flat. */
static double part_of(const bramah__shape *shape)
{
  if (shape->n_faces == 0) return 1.0 / (double)shape->n_corners;
  return (double)shape->n_faces / (double)shape->first[shape->n_faces];
}

size_t bramah__fill_ground_points(const bramah__compiler *k, const bramah_contact *in,
                                  const bramah__contact *each, bramah__contact *out)
{
  const bramah_body *body = body_named(k->source, in->body);
  const bramah__shape *shape = shapes_of(k, body);
  const bramah__contact *first = out;
  for (size_t s = 0; s < body->n_shapes; s++, shape++)
    for (size_t i = 0; i < shape->n_corners; i++, out++) {
      *out = *each;
      bramah__copy3(shape->corner + 3 * i, out->point);
      out->radius = shape->radius;
      out->share = part_of(shape);
    }
  return (size_t)(out - first);
}

/* ---- with each other ---- */

static bramah_status check_between(const bramah__compiler *k, const bramah_contact *in, size_t i)
{
  const char *name = in->between[i];
  const bramah_body *body = body_named(k->source, name);
  for (size_t l = 0; name && l < i; l++)
    if (strcmp(in->between[l], name) == 0) return bramah__refuse(k, in, "names a body twice");
  if (name && strcmp(name, "ground") == 0)
    return bramah__refuse(k, in, "the ground has no shape: give 'body' alone for contact with the ground");
  if (!body) {
    int number;
    return bramah__find_body(k, in, name, &number);
  }
  if (body->n_shapes) return BRAMAH_OK;
  bramah__refuse(k, in, "the body '");
  bramah__add_text(k->diag, name);
  bramah__add_text(k->diag, "' has no shapes to touch with");
  return BRAMAH_E_VALUE;
}

static void add_meeting(bramah__compiler *k, size_t contact, const bramah__contact *each,
                        const bramah__shape *one, const bramah__shape *other, bramah__contact **out)
{
  bramah_model *m = k->model;
  bramah__meeting *meeting = &k->t.meeting[m->n_meetings++];
  *meeting = (bramah__meeting){.contact = contact,
                               .shape = {(size_t)(one - k->t.shape), (size_t)(other - k->t.shape)},
                               .first = (size_t)(*out - k->t.contact_point),
                               .n = bramah__shape_touches(one, other),
                               .held = m->n_held};
  m->n_held += meeting->n;
  for (size_t i = 0; i < meeting->n; i++, (*out)++) {
    **out = *each;
    (*out)->body = -1; /* until they touch */
    (*out)->meets = 1;
    bramah__copy3((*out)->axes + 6, (*out)->point);
    memset((*out)->origin, 0, sizeof(*out)->origin);
  }
}

static int before(const void *one, const void *other)
{
  const bramah__meeting *of[2] = {one, other};
  size_t key[2][3];
  for (int e = 0; e < 2; e++) {
    const size_t *shape = of[e]->shape;
    key[e][0] = shape[shape[0] > shape[1]];
    key[e][1] = shape[shape[0] <= shape[1]];
    key[e][2] = of[e]->contact;
  }
  for (int i = 0; i < 3; i++)
    if (key[0][i] != key[1][i]) return key[0][i] < key[1][i] ? -1 : 1;
  return 0;
}

void bramah__sort_meetings(bramah__compiler *k)
{
  if (k->model->n_meetings) qsort(k->t.meeting, k->model->n_meetings, sizeof *k->t.meeting, before);
}

bramah_status bramah__fill_meetings(bramah__compiler *k, const bramah_contact *in, size_t contact,
                                    const bramah__contact *each, bramah__contact **out)
{
  const size_t before = k->model->n_meetings;
  for (size_t i = 0; i < in->n_between; i++) {
    const bramah_status status = check_between(k, in, i);
    if (status != BRAMAH_OK) return status;
  }
  for (size_t a = 0; a < in->n_between; a++)
    for (size_t b = a + 1; b < in->n_between; b++) {
      const bramah_body *one = body_named(k->source, in->between[a]),
                        *other = body_named(k->source, in->between[b]);
      if (are_joined(k->source, one->name, other->name)) continue;
      for (size_t s = 0; s < one->n_shapes; s++)
        for (size_t t = 0; t < other->n_shapes; t++) {
          const bramah__shape *of[2] = {shapes_of(k, one) + s, shapes_of(k, other) + t};
          if (of[0]->body != of[1]->body) add_meeting(k, contact, each, of[0], of[1], out);
        }
    }
  k->model->meeting = k->t.meeting;
  if (k->model->n_meetings > before) return BRAMAH_OK;
  return bramah__refuse(k, in,
                        "needs at least two bodies that no joint joins and that can move against each other");
}
