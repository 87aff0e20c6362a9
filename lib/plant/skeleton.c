/* SPDX-License-Identifier: MIT */
/* The machine as a skeleton: its parts in the frames of the bodies, and where they are. Counting, naming
 * and placing are one walk over the model. */
#include "bramah/coupled.h"
#include "lib/plant/coupled_internal.h"
#include "lib/base/diag.h"
#include "lib/math/vector3.h"

#include <math.h>

/* Points nearer than this are one [m]. */
static const double together = 1e-9;

/* Where the walk puts its parts. */
typedef struct pen {
  const bramah_model *model;
  const bramah__pose *pose;
  bramah_skeleton *out;
  size_t n;
} pen;

static void put(pen *p, bramah_skeleton_kind kind, const char *name, const int body[2], const double *from,
                const double *to)
{
  if (p->out->part && p->n < p->out->n)
    p->out->part[p->n] = (bramah_skeleton_part){kind, name, {body[0], body[1]}};
  if (p->out->points && p->n < p->out->n) {
    bramah__copy3(from, p->out->points + 6 * p->n);
    bramah__copy3(to, p->out->points + 6 * p->n + 3);
  }
  p->n++;
}

/* A part between two points of bodies. */
static void put_line(pen *p, bramah_skeleton_kind kind, const char *name, const int body[2],
                     const double *from, const double *to)
{
  double end[2][3];
  bramah__point(p->pose, body[0], from, end[0]);
  bramah__point(p->pose, body[1], to, end[1]);
  put(p, kind, name, body, end[0], end[1]);
}

static void put_mark(pen *p, bramah_skeleton_kind kind, const char *name, int body, const double *at)
{
  put_line(p, kind, name, (const int[]){body, body}, at, at);
}

static double distance(const double *a, const double *b)
{
  double d[3];
  bramah__sub3(a, b, d);
  return sqrt(bramah__dot3(d, d));
}

/* ---- beams ---- */

/* The massless bodies inside compound joints are not drawn. */
static int is_drawn(const bramah_model *model, size_t body) { return model->tree.link[body].mass > 0.0; }

/* The structural points of a body, one after the other; NULL beyond the last. */
static const double *beam_end(const bramah_model *model, int body, size_t i)
{
  for (size_t j = 0; j < model->n; j++)
    if (model->tree.link[j].parent == body && i-- == 0) return model->tree.link[j].position;
  for (size_t l = 0; l < model->n_loops; l++)
    for (int e = 0; e < 2; e++)
      if (model->loop[l].body[e] == body && i-- == 0) return model->loop[l].point[e];
  for (size_t s = 0; s < model->forces.n_springs; s++)
    for (int e = 0; e < 2; e++)
      if (model->forces.spring[s].line.body[e] == body && i-- == 0)
        return model->forces.spring[s].line.point[e];
  return NULL;
}

static const double origin[3] = {0, 0, 0};

/* The end of beam i of a body that ends where no other one does, NULL beyond the last beam. A body without
 * any structural point has one to its payload. */
static const double *beam(const bramah_model *model, size_t body, size_t i, int *is_same)
{
  const double *end = beam_end(model, (int)body, i);
  if (!end && i == 0) {
    end = model->tree.link[body].centre;
    for (size_t k = 0; k < model->n_parameters; k++)
      if (model->parameter[k].code == BRAMAH__PAYLOAD && model->parameter[k].index == body &&
          distance(model->parameter[k].point, origin) > distance(end, origin))
        end = model->parameter[k].point; /* of welded bodies too: the farthest */
  }
  *is_same = end && distance(end, origin) < together;
  for (size_t k = 0; end && !*is_same && k < i; k++)
    *is_same = distance(end, beam_end(model, (int)body, k)) < together;
  return end;
}

/* From the nearest point of the body's beams to where something holds on to it. */
static void put_lug(pen *p, int body, const double *at)
{
  if (body < 0 || !is_drawn(p->model, (size_t)body)) return;

  double foot[3];
  const double *end;
  int is_same;
  bramah__copy3(origin, foot);
  for (size_t i = 0; (end = beam(p->model, (size_t)body, i, &is_same)); i++) {
    double other[3];
    if (is_same) continue;
    /* The point nearest to `at` on the line from the origin to `end`. */
    const double share = bramah__dot3(end, at) / bramah__dot3(end, end);
    for (int k = 0; k < 3; k++) other[k] = fmin(fmax(share, 0.0), 1.0) * end[k];
    if (distance(other, at) < distance(foot, at)) bramah__copy3(other, foot);
  }
  if (distance(foot, at) < together) return;
  put_line(p, BRAMAH_SKELETON_LUG, p->model->body_name[body], (const int[]){body, body}, foot, at);
}

/* ---- what joins bodies ---- */

static void put_ground(pen *p, int body, const char *name, const double *at)
{
  if (body < 0) put_mark(p, BRAMAH_SKELETON_GROUND, name, -1, at);
}

/* The barrel goes from its attachment to where the rod comes out. With the rod as long as both chambers
 * together the piston is at its length from the rod's end, so the barrel ends at reference stroke less
 * piston chamber, and what is seen of the rod is as long as the piston chamber. */
static void put_cylinder(pen *p, size_t i)
{
  const bramah__line *line = &p->model->line[i];
  const bramah__cylinder *cylinder = &p->model->circuit.cylinder[i];
  const char *name = p->model->cylinder_name[i];
  double end[3][3];
  for (int e = 0; e < 2; e++) {
    put_ground(p, line->body[e], name, line->point[e]);
    put_lug(p, line->body[e], line->point[e]);
    bramah__point(p->pose, line->body[e], line->point[e], end[2 * e]);
  }

  const double stroke = distance(end[0], end[2]),
               length = fmax(cylinder->reference - cylinder->piston_length,
                             cylinder->piston_length + cylinder->rod_length);
  const double share = stroke > length ? length / stroke : 1.0;
  for (int k = 0; k < 3; k++) end[1][k] = end[0][k] + share * (end[2][k] - end[0][k]);
  put(p, BRAMAH_SKELETON_BARREL, name, line->body, end[0], end[1]);
  put(p, BRAMAH_SKELETON_PISTON_ROD, name, line->body, end[1], end[2]);
}

/* Unit quaternion of a rotation, w not below 0: by its largest component (S. W. Shepperd, J. Guidance and Control 1, 1978). */
static void quaternion_of(const double *A, double *q)
{
  const double diagonal[4] = {A[0] + A[4] + A[8], A[0], A[4], A[8]};
  int k = 0;
  for (int i = 1; i < 4; i++)
    if (diagonal[i] > diagonal[k]) k = i;
  const double twist[3] = {A[7] - A[5], A[2] - A[6], A[3] - A[1]};
  if (k == 0) {
    q[0] = 1.0 + diagonal[0];
    bramah__copy3(twist, q + 1);
  } else {
    const int i = k - 1, j = (i + 1) % 3, l = (i + 2) % 3;
    q[0] = twist[i];
    q[1 + i] = 1.0 + A[4 * i] - A[4 * j] - A[4 * l];
    q[1 + j] = A[3 * i + j] + A[3 * j + i];
    q[1 + l] = A[3 * i + l] + A[3 * l + i];
  }
  const double norm = copysign(sqrt(q[0] * q[0] + bramah__dot3(q + 1, q + 1)), q[0]);
  for (int i = 0; i < 4; i++) q[i] /= norm;
}

bramah_status bramah_coupled_skeleton(bramah_coupled *plant, bramah_skeleton *skeleton, bramah_diag *diag)
{
  if (!plant)
    return bramah__fail(diag, BRAMAH_E_UNSUPPORTED, "plant",
                        "it is no machine: there is nothing to be drawn");
  const bramah_status status = bramah__refresh(plant, diag);
  if (status != BRAMAH_OK) return status;

  /* The shared model: payloads on massless bodies must not change what is drawn. */
  const bramah_model *model = plant->base ? plant->base : plant->model;
  pen p = {.model = model, .pose = plant->now->pose, .out = skeleton};

  for (size_t b = 0; b < model->n; b++)
    if (is_drawn(model, b)) {
      const double *end;
      int is_same;
      for (size_t i = 0; (end = beam(model, b, i, &is_same)); i++)
        if (!is_same)
          put_line(&p, BRAMAH_SKELETON_BODY, model->body_name[b], (const int[]){(int)b, (int)b}, origin, end);
    }
  for (size_t s = 0; s < model->forces.n_springs; s++) {
    const bramah__line *line = &model->forces.spring[s].line;
    for (int e = 0; e < 2; e++) put_ground(&p, line->body[e], "", line->point[e]);
    put_line(&p, BRAMAH_SKELETON_SPRING, "", line->body, line->point[0], line->point[1]);
  }
  for (size_t i = 0; i < model->circuit.n_cylinders; i++)
    if (!model->line[i].is_coordinate) put_cylinder(&p, i);

  for (size_t l = 0; l < model->n_loops; l++) {
    const bramah__loop *loop = &model->loop[l];
    const char *name = model->loop_name[l];
    for (int e = 0; e < 2; e++) put_ground(&p, loop->body[e], name, loop->point[e]);
    if (loop->hold == BRAMAH__HOLD_POINT)
      put_mark(&p, BRAMAH_SKELETON_JOINT, name, loop->body[0], loop->point[0]);
    else
      put_line(&p, loop->hold == BRAMAH__HOLD_LINE ? BRAMAH_SKELETON_SLIDE : BRAMAH_SKELETON_ROD, name,
               loop->body, loop->point[0], loop->point[1]);
  }
  for (size_t j = 0; j < model->n; j++) {
    const bramah__link *link = &model->tree.link[j];
    const char *name = model->joint_name[j];
    put_ground(&p, link->parent, name, link->position);
    if (link->revolute)
      put_mark(&p, BRAMAH_SKELETON_JOINT, name, (int)j, origin);
    else if (is_drawn(model, j))
      put_line(&p, BRAMAH_SKELETON_SLIDE, name, (const int[]){link->parent, (int)j}, link->position, origin);
  }
  for (size_t i = 0; i < model->circuit.n_cylinders; i++)
    if (model->line[i].is_coordinate)
      put_mark(&p, BRAMAH_SKELETON_ROTARY, model->cylinder_name[i], (int)model->line[i].joint, origin);

  for (size_t j = 0; skeleton->poses && j < model->n; j++) {
    bramah__copy3(p.pose[j].r, skeleton->poses + 7 * j);
    quaternion_of(p.pose[j].A, skeleton->poses + 7 * j + 3);
  }

  const int short_tables = (skeleton->part || skeleton->points) && skeleton->n < p.n;
  skeleton->n = p.n;
  if (short_tables)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, model->name, "the tables are too short for the skeleton");
  return BRAMAH_OK;
}
