/* SPDX-License-Identifier: MIT */
#include "lib/multibody/tree_graph.h"

#include <math.h>

/* Cosines of right angles come as 6e-17: as zeros they let a plane be a plane. */
static double cleared(double x) { return fabs(x) < 1e-15 ? 0.0 : x; }

static bramah__vec cleared_vector(const double *a)
{
  return (bramah__vec){{e_number(cleared(a[0])), e_number(cleared(a[1])), e_number(cleared(a[2]))}};
}

/* Rotation about a unit axis (Rodrigues): R_ij = a_i a_j (1 - cos) + d_ij cos - e_ijk a_k sin, where the diagonal is
 * written so that a coordinate axis leaves ones and zeros. */
static bramah__mat axis_rotation(const double *axis, bramah__expr angle)
{
  const bramah__expr s = e_sin(angle), c = e_cos(angle), one_less = e_sub(e_number(1.0), c);
  const double a[3] = {cleared(axis[0]), cleared(axis[1]), cleared(axis[2])};
  bramah__mat R;
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    R.m[i][i] = e_add(e_number(a[i] * a[i]), e_scale(a[j] * a[j] + a[k] * a[k], c));
    R.m[i][j] = e_sub(e_scale(a[i] * a[j], one_less), e_scale(a[k], s));
    R.m[j][i] = e_add(e_scale(a[i] * a[j], one_less), e_scale(a[k], s));
  }
  return R;
}

bramah__link_graph bramah__link_graph_of(const bramah__link *link)
{
  return (bramah__link_graph){e_number(link->mass), cleared_vector(link->centre), m_number(link->inertia)};
}

void bramah__link_graph_load(bramah__link_graph *link, bramah__expr m, const double *point)
{
  const bramah__expr mass = e_add(link->mass, m), part = e_div(m, mass), reduced = e_mul(link->mass, part);
  const bramah__vec d = v_sub(cleared_vector(point), link->centre);
  link->centre = v_add(link->centre, v_scale(part, d));
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      const bramah__expr product = e_mul(d.x[i], d.x[j]);
      const bramah__expr about = i == j ? e_sub(v_dot(d, d), product) : e_neg(product);
      link->inertia.m[i][j] = e_add(link->inertia.m[i][j], e_mul(reduced, about));
    }
  link->mass = mass;
}

/* ---- outwards: poses and motion ---- */

static const bramah__body_graph ground = {.A = {{{{NULL, {1.0}}, {NULL, {0.0}}, {NULL, {0.0}}},
                                                 {{NULL, {0.0}}, {NULL, {1.0}}, {NULL, {0.0}}},
                                                 {{NULL, {0.0}}, {NULL, {0.0}}, {NULL, {1.0}}}}}};

static const bramah__body_graph *parent_of(const bramah__tree *tree, size_t j, const bramah__body_graph *body)
{
  return tree->link[j].parent < 0 ? &ground : &body[tree->link[j].parent];
}

void bramah__tree_graph_pose(const bramah__tree *tree, const bramah__expr *z, bramah__body_graph *body)
{
  for (size_t j = 0; j < tree->n; j++) {
    const bramah__link *link = &tree->link[j];
    const bramah__body_graph *parent = parent_of(tree, j, body);
    bramah__body_graph *own = &body[j];
    double rotation[9];
    for (int k = 0; k < 9; k++) rotation[k] = cleared(link->rotation[k]);
    const bramah__mat A = link->turned ? m_multiply(parent->A, m_number(rotation)) : parent->A;
    own->n = m_rotate(A, cleared_vector(link->axis));
    own->arm = m_rotate(parent->A, cleared_vector(link->position));
    own->A = link->revolute ? m_multiply(A, axis_rotation(link->axis, z[j])) : A;
    if (!link->revolute) own->arm = v_add(own->arm, v_scale(z[j], own->n));
    own->r = v_add(parent->r, own->arm);
  }
}

void bramah__tree_graph_motion(const bramah__tree *tree, const bramah__expr *zd, const bramah__expr *zdd,
                               bramah__body_graph *body)
{
  for (size_t j = 0; j < tree->n; j++) {
    const bramah__body_graph *parent = parent_of(tree, j, body);
    bramah__body_graph *own = &body[j];
    const bramah__vec rate = v_scale(zd[j], own->n), change = v_scale(zdd[j], own->n);
    const bramah__vec carried = v_cross(parent->w, own->arm), turning = v_cross(parent->w, rate);
    own->w = parent->w;
    own->wd = parent->wd;
    own->v = v_add(parent->v, carried);
    own->a = v_add(v_add(parent->a, v_cross(parent->wd, own->arm)), v_cross(parent->w, carried));
    if (tree->link[j].revolute) {
      own->w = v_add(own->w, rate);
      own->wd = v_add(own->wd, v_add(change, turning));
    } else {
      own->v = v_add(own->v, rate);
      own->a = v_add(own->a, v_add(change, v_scale(e_number(2.0), turning)));
    }
  }
}

/* ---- inwards: forces ---- */

void bramah__tree_graph_force(const bramah__tree *tree, const bramah__link_graph *link, bramah__vec gravity,
                              const bramah__body_graph *body, bramah__expr *tau)
{
  bramah__vec force[BRAMAH__MOST_BODIES], moment[BRAMAH__MOST_BODIES]; /* about the origin of the body */
  for (size_t j = 0; j < tree->n; j++) force[j] = moment[j] = (bramah__vec){0};
  for (size_t j = tree->n; j-- > 0;) {
    const bramah__body_graph *own = &body[j];
    const bramah__vec c = m_rotate(own->A, link[j].centre);
    const bramah__vec a = v_add(v_add(own->a, v_cross(own->wd, c)), v_cross(own->w, v_cross(own->w, c)));
    const bramah__vec f = v_scale(link[j].mass, v_sub(a, gravity));
    const bramah__vec Jwd = m_rotate(own->A, m_rotate(link[j].inertia, m_unrotate(own->A, own->wd))),
                      Jw = m_rotate(own->A, m_rotate(link[j].inertia, m_unrotate(own->A, own->w)));
    force[j] = v_add(force[j], f);
    moment[j] = v_add(moment[j], v_add(v_add(Jwd, v_cross(own->w, Jw)), v_cross(c, f)));
    tau[j] = v_dot(own->n, tree->link[j].revolute ? moment[j] : force[j]);
    const int p = tree->link[j].parent;
    if (p < 0) continue;
    force[p] = v_add(force[p], force[j]);
    moment[p] = v_add(moment[p], v_add(moment[j], v_cross(own->arm, force[j])));
  }
}

/* ---- points, loops, lines ---- */

bramah__vec bramah__direction_graph(const bramah__body_graph *body, int number, const double *local)
{
  return number < 0 ? cleared_vector(local) : m_rotate(body[number].A, cleared_vector(local));
}

bramah__vec bramah__point_graph(const bramah__body_graph *body, int number, const double *local)
{
  const bramah__vec turned = bramah__direction_graph(body, number, local);
  return number < 0 ? turned : v_add(body[number].r, turned);
}

void bramah__closure_graph(const bramah__loop *loop, const bramah__body_graph *body, bramah__expr *Phi)
{
  const int base = loop->body[0];
  const bramah__vec d = v_sub(bramah__point_graph(body, loop->body[1], loop->point[1]),
                              bramah__point_graph(body, base, loop->point[0]));
  if (loop->hold == BRAMAH__HOLD_POINT)
    for (int k = 0; k < 3; k++) Phi[k] = e_neg(d.x[k]);
  if (loop->hold == BRAMAH__HOLD_DISTANCE)
    Phi[0] = e_scale(0.5, e_sub(e_scale(1.0 / loop->distance, v_dot(d, d)), e_number(loop->distance)));
  for (int k = 0; loop->hold == BRAMAH__HOLD_LINE && k < 2; k++)
    Phi[k] = v_dot(d, bramah__direction_graph(body, base, loop->normal[k]));
  for (size_t k = 0; k < loop->n_directions; k++)
    Phi[(size_t)loop->hold + k] = v_dot(bramah__direction_graph(body, base, loop->u[k]),
                                        bramah__direction_graph(body, loop->body[1], loop->v[k]));
}

bramah__expr bramah__line_graph(const bramah__line *line, const bramah__expr *z,
                                const bramah__body_graph *body)
{
  if (line->is_coordinate) return z[line->joint];
  const bramah__vec d = v_sub(bramah__point_graph(body, line->body[1], line->point[1]),
                              bramah__point_graph(body, line->body[0], line->point[0]));
  return e_sqrt(v_dot(d, d));
}
