/* SPDX-License-Identifier: MIT */
/* Loops of a machine into constraint equations, and what to say of an equation that does not hold. */
#include "lib/machine/compile.h"
#include "lib/math/vector3.h"

#include <math.h>
#include <string.h>

/* Rows of each type of loop, by its number; 0: no such type. */
static const struct {
  bramah__hold hold;
  size_t n_directions;
  const char *direction_fault;
} loop_kinds[] = {
    [BRAMAH_LOOP_REVOLUTE] = {BRAMAH__HOLD_POINT, 2, "its axes do not become parallel"},
    [BRAMAH_LOOP_SPHERICAL] = {BRAMAH__HOLD_POINT, 0, ""},
    [BRAMAH_LOOP_PRISMATIC] = {BRAMAH__HOLD_LINE, 3, "its bodies do not become aligned"},
    [BRAMAH_LOOP_UNIVERSAL] = {BRAMAH__HOLD_POINT, 1, "its axes do not become perpendicular"},
    [BRAMAH_LOOP_DISTANCE] = {BRAMAH__HOLD_DISTANCE, 0, ""},
};

static int known(const bramah_loop *loop)
{
  return loop->type >= BRAMAH_LOOP_REVOLUTE && loop->type <= BRAMAH_LOOP_DISTANCE;
}

size_t bramah__count_loop_rows(const bramah_machine *machine)
{
  size_t rows = 0;
  for (size_t i = 0; i < machine->n_loops; i++)
    if (known(&machine->loops[i])) {
      const bramah_loop_type type = machine->loops[i].type;
      rows += (size_t)loop_kinds[type].hold + loop_kinds[type].n_directions;
    }
  return rows;
}

static bramah_status bad_loop(const bramah__compiler *k, const bramah_loop *loop, const char *message)
{
  return bramah__compile_fail(k, BRAMAH_E_VALUE, loop->name, loop->line, message);
}

/* Unit vector across a unit axis, in the direction of v; 0 if v lies along the axis. */
static int across(const double *v, const double *axis, double *out)
{
  double unit[3];
  if (!bramah__normalise(v, unit)) return 0;
  bramah__axpy3(-bramah__dot3(unit, axis), axis, unit);
  return sqrt(bramah__dot3(unit, unit)) > 1e-6 && bramah__normalise(unit, out);
}

/* Axis 0 stays normal to two directions across axis 1. */
static void parallel_directions(const double axis[3], double normal[2][3], bramah__loop *out)
{
  for (int d = 0; d < 2; d++) {
    bramah__copy3(axis, out->u[d]);
    bramah__copy3(normal[d], out->v[d]);
  }
}

static bramah_status prismatic_directions(const bramah__compiler *k, const bramah_loop *loop,
                                          double axis[2][3], bramah__loop *out)
{
  double across_1[2][3];
  if (!across(loop->normal[0], axis[0], out->normal[0]) || !across(loop->normal[1], axis[1], across_1[0]))
    return bad_loop(k, loop, "a normal of this loop has no direction across its axis");
  bramah__cross3(axis[0], out->normal[0], out->normal[1]);
  bramah__cross3(axis[1], across_1[0], across_1[1]);
  parallel_directions(axis[0], across_1, out);
  bramah__copy3(out->normal[0], out->u[2]);
  bramah__copy3(across_1[1], out->v[2]);
  return BRAMAH_OK;
}

static bramah_status fill_directions(const bramah__compiler *k, const bramah_loop *loop, bramah__loop *out)
{
  double axis[2][3], normal[2][3];
  if (out->n_directions == 0) return BRAMAH_OK;
  for (int e = 0; e < 2; e++)
    if (!bramah__normalise(loop->axis[e], axis[e]))
      return bad_loop(k, loop, "the axis of this loop has no direction");
  if (loop->type == BRAMAH_LOOP_PRISMATIC) return prismatic_directions(k, loop, axis, out);
  if (loop->type == BRAMAH_LOOP_UNIVERSAL) {
    bramah__copy3(axis[0], out->u[0]);
    bramah__copy3(axis[1], out->v[0]);
    return BRAMAH_OK;
  }
  bramah__loop_normals(axis[1], normal);
  parallel_directions(axis[0], normal, out);
  return BRAMAH_OK;
}

static bramah_status fill_loop(const bramah__compiler *k, const bramah_loop *loop, bramah__loop *out)
{
  out->hold = loop_kinds[loop->type].hold;
  out->n_directions = loop_kinds[loop->type].n_directions;
  bramah_status status = fill_directions(k, loop, out);
  if (status != BRAMAH_OK) return status;
  if (loop->type == BRAMAH_LOOP_DISTANCE) {
    status = bramah__positive(k, loop->distance, loop->name, loop->line, "the distance");
    if (status != BRAMAH_OK) return status;
    out->distance = loop->distance;
  }
  memcpy(out->point, loop->point, sizeof out->point);
  for (int e = 0; e < 2 && status == BRAMAH_OK; e++)
    status = bramah__find_body(k, loop->name, loop->line, loop->body[e], &out->body[e]);
  return status;
}

/* ---- planar mechanisms ---- */

static const double aligned = 1e-12;

/* e [n x 3]: the direction that all bodies of a planar tree have in common, in the axes of each. Returns 0 if
 * the tree is not planar: every joint must turn about it or slide across it. */
static int common_direction(const bramah_model *model, const bramah__link *links, double *ground,
                            double (*e)[3])
{
  bramah__rotate3(links[0].rotation, links[0].axis, ground);
  if (!links[0].revolute) return 0;
  for (size_t j = 0; j < model->n; j++) {
    const bramah__link *link = &links[j];
    bramah__unrotate3(link->rotation, link->parent < 0 ? ground : e[link->parent], e[j]);
    const double along = fabs(bramah__dot3(link->axis, e[j]));
    if (fabs(along - (link->revolute ? 1.0 : 0.0)) > aligned) return 0;
  }
  return 1;
}

/* Where all that turns turns about one direction, a cut revolute joint about it keeps its axes parallel by
 * itself: these rows would be zero for ever. */
static int turns_in_plane(const bramah_loop *loop, const bramah__loop *out, const double *ground,
                          double (*e)[3])
{
  double axis[3];
  if (loop->type != BRAMAH_LOOP_REVOLUTE) return 0;
  for (int end = 0; end < 2; end++) {
    bramah__normalise(loop->axis[end], axis);
    const double *direction = out->body[end] < 0 ? ground : e[out->body[end]];
    if (fabs(fabs(bramah__dot3(axis, direction)) - 1.0) > aligned) return 0;
  }
  return 1;
}

bramah_status bramah__build_loops(bramah__compiler *k)
{
  bramah_model *model = k->model;
  double ground[3], (*e)[3] = (double(*)[3])(void *)k->t.work;
  const int planar = common_direction(model, k->t.link, ground, e);
  size_t row = 0;
  for (size_t i = 0; i < k->machine->n_loops; i++) {
    const bramah_loop *loop = &k->machine->loops[i];
    if (!known(loop)) return bad_loop(k, loop, "the type of this loop is unknown");
    const bramah_status status = fill_loop(k, loop, &k->t.loop[i]);
    if (status != BRAMAH_OK) return status;
    if (planar && turns_in_plane(loop, &k->t.loop[i], ground, e)) k->t.loop[i].n_directions = 0;
    k->t.loop[i].row = row;
    row += bramah__loop_rows(&k->t.loop[i]);
  }
  model->m_loops = row;
  model->m = row + model->n_motions;
  return BRAMAH_OK;
}

double bramah__loop_gap(const bramah__loop *loop, const double *Phi)
{
  double sum = 0.0;
  for (size_t k = 0; k < (size_t)loop->hold; k++) sum += Phi[loop->row + k] * Phi[loop->row + k];
  return sqrt(sum);
}

size_t bramah__loop_of_row(const bramah_model *model, size_t row)
{
  size_t i = model->n_loops - 1;
  while (i > 0 && row < model->loop[i].row) i--;
  return i;
}

const char *bramah__row_fault(const bramah__loop *loop, size_t row, const char **unit)
{
  const int of_points = row - loop->row < (size_t)loop->hold;
  *unit = of_points ? " m" : " rad";
  if (of_points && loop->hold == BRAMAH__HOLD_POINT) return "its points do not meet";
  if (of_points && loop->hold == BRAMAH__HOLD_LINE) return "its point 1 does not come onto the axis";
  if (of_points) return "its points do not come to their distance";
  for (size_t type = 0; type < sizeof loop_kinds / sizeof loop_kinds[0]; type++)
    if (loop_kinds[type].hold == loop->hold && loop_kinds[type].n_directions == loop->n_directions)
      return loop_kinds[type].direction_fault;
  return "its directions do not fit";
}
