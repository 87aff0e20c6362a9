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

/* J += inertia of a mass at x with first moment mg: x.mg 1 - x mg' */
static bramah__mat parallel_axes(bramah__mat J, bramah__vec x, bramah__vec mg)
{
  for (int i = 0; i < 3; i++) {
    const int k = (i + 1) % 3, l = (i + 2) % 3;
    J.m[i][i] = e_add(J.m[i][i], e_add(e_mul(x.x[k], mg.x[k]), e_mul(x.x[l], mg.x[l])));
    J.m[i][k] = J.m[k][i] = e_sub(J.m[i][k], e_mul(x.x[i], mg.x[k]));
  }
  return J;
}

void bramah__link_graph_load(bramah__link_graph *link, bramah__expr m, const double *point)
{
  const bramah__expr mass = e_add(link->mass, m), part = e_div(m, mass), reduced = e_mul(link->mass, part);
  const bramah__vec d = v_sub(cleared_vector(point), link->centre);
  link->centre = v_add(link->centre, v_scale(part, d));
  link->inertia = parallel_axes(link->inertia, d, v_scale(reduced, d));
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

/* A J A' of a symmetric J */
static bramah__mat turned_inertia(bramah__mat A, bramah__mat J)
{
  const bramah__mat AJ = m_multiply(A, J);
  bramah__mat out;
  for (int i = 0; i < 3; i++)
    for (int k = i; k < 3; k++) out.m[i][k] = out.m[k][i] = e_sum_products(3, AJ.m[i], 1, A.m[k], 1);
  return out;
}

void bramah__tree_graph_force(const bramah__tree *tree, const bramah__link_graph *link, bramah__vec gravity,
                              bramah__body_graph *body, bramah__expr *tau)
{
  for (size_t j = 0; j < tree->n; j++) body[j].force = body[j].moment = (bramah__vec){0};
  for (size_t j = tree->n; j-- > 0;) {
    bramah__body_graph *own = &body[j];
    const bramah__vec c = own->c = m_rotate(own->A, link[j].centre);
    const bramah__mat J = own->J = turned_inertia(own->A, link[j].inertia);
    const bramah__vec a = v_add(v_add(own->a, v_cross(own->wd, c)), v_cross(own->w, v_cross(own->w, c)));
    const bramah__vec f = v_scale(link[j].mass, v_sub(a, gravity));
    const bramah__vec turn = v_add(m_rotate(J, own->wd), v_cross(own->w, m_rotate(J, own->w)));
    own->force = v_add(own->force, f);
    own->moment = v_add(own->moment, v_add(turn, v_cross(c, f)));
    tau[j] = v_dot(own->n, tree->link[j].revolute ? own->moment : own->force);
    if (tree->link[j].parent < 0) continue;
    bramah__body_graph *parent = &body[tree->link[j].parent];
    parent->force = v_add(parent->force, own->force);
    parent->moment = v_add(parent->moment, v_add(own->moment, v_cross(own->arm, own->force)));
  }
}

/* ---- derivatives of the joint forces: tangent.h has the equations ---- */

/* Twist [linear; angular] or wrench [force; moment] about the inertial origin. */
typedef struct pair {
  bramah__vec linear, angular;
} pair;

static pair p_add(pair a, pair b) { return (pair){v_add(a.linear, b.linear), v_add(a.angular, b.angular)}; }

static pair p_scale(bramah__expr s, pair a) { return (pair){v_scale(s, a.linear), v_scale(s, a.angular)}; }

static bramah__expr p_dot(pair a, pair b)
{
  return e_add(v_dot(a.linear, b.linear), v_dot(a.angular, b.angular));
}

/* a x b: how twist b changes when it moves along with a; a x* w: how wrench w does. */
static pair twist_cross(pair a, pair b)
{
  return (pair){v_add(v_cross(a.angular, b.linear), v_cross(a.linear, b.angular)),
                v_cross(a.angular, b.angular)};
}

static pair wrench_cross(pair a, pair w)
{
  return (pair){v_cross(a.angular, w.linear),
                v_add(v_cross(a.angular, w.angular), v_cross(a.linear, w.linear))};
}

/* A body, then a subtree, in motion about the inertial origin, and the joint in front of it. */
typedef struct moving {
  pair b, Z, Zd; /* of the joint by z'; velocity, acceleration less gravity */
  bramah__vec
      turning; /* twice the derivative of the turning velocity as the joint moves, carried by the body; */
  pair acceleration; /* derivative of Zd likewise */
  bramah__expr m;    /* mass */
  bramah__vec mg, h; /* its first moment, momentum */
  bramah__mat J, B;  /* inertia; half the moment part of B */
} moving;

/* Half of B: [w] J - tr(J)/2 [w] + mg.v 1 - v mg' */
static bramah__mat turning_matrix(pair Z, bramah__mat J, bramah__vec mg)
{
  const bramah__expr trace = e_add(e_add(J.m[0][0], J.m[1][1]), J.m[2][2]), mgv = v_dot(mg, Z.linear);
  const bramah__vec half = v_scale(e_scale(0.5, trace), Z.angular);
  bramah__mat B;
  for (int k = 0; k < 3; k++) {
    const bramah__vec column = v_cross(Z.angular, (bramah__vec){{J.m[0][k], J.m[1][k], J.m[2][k]}});
    for (int i = 0; i < 3; i++) B.m[i][k] = e_sub(column.x[i], e_mul(Z.linear.x[i], mg.x[k]));
    B.m[k][k] = e_add(B.m[k][k], mgv);
  }
  for (int i = 0; i < 3; i++) {
    const int k = (i + 1) % 3, l = (i + 2) % 3;
    B.m[k][l] = e_add(B.m[k][l], half.x[i]);
    B.m[l][k] = e_sub(B.m[l][k], half.x[i]);
  }
  return B;
}

/* Outwards: joints and single bodies. */
static void set_moving(const bramah__tree *tree, const bramah__link_graph *link, bramah__vec gravity,
                       const bramah__body_graph *body, const bramah__expr *zd, const bramah__expr *zdd,
                       const bramah__expr *along, moving *out)
{
  const pair rest = {{{{0}}}, {{{0}}}}, lifted = {v_scale(e_number(-1.0), gravity), {{{0}}}};
  const bramah__expr twice[2] = {e_scale(2.0, along[0]), e_scale(2.0, along[1])};
  for (size_t j = 0; j < tree->n; j++) {
    const int p = tree->link[j].parent;
    const pair Z = p < 0 ? rest : out[p].Z, Zd = p < 0 ? lifted : out[p].Zd;
    const bramah__vec n = body[j].n, x = v_add(body[j].r, body[j].c);
    const pair b = tree->link[j].revolute ? (pair){v_cross(body[j].r, n), n} : (pair){n, rest.angular};
    const pair bd = twist_cross(Z, b), bdd = p_add(twist_cross(Zd, b), twist_cross(Z, bd));
    moving *own = &out[j];
    own->b = b;
    own->Z = p_add(Z, p_scale(zd[j], b));
    own->Zd = p_add(Zd, p_add(p_scale(zdd[j], b), p_scale(zd[j], bd)));
    own->turning = v_add(v_scale(twice[0], bd.angular), v_scale(twice[1], b.angular));
    own->acceleration = p_add(p_add(p_scale(along[0], bdd), p_scale(twice[1], bd)), p_scale(along[2], b));
    own->m = link[j].mass;
    own->mg = v_scale(own->m, x);
    own->h = v_add(v_scale(own->m, own->Z.linear), v_cross(own->Z.angular, own->mg));
    own->J = parallel_axes(body[j].J, x, own->mg);
    own->B = turning_matrix(own->Z, own->J, own->mg);
  }
}

/* Inwards: subtrees. */
static void add_subtrees(const bramah__tree *tree, moving *bodies)
{
  for (size_t j = tree->n; j-- > 0;) {
    if (tree->link[j].parent < 0) continue;
    const moving *own = &bodies[j];
    moving *parent = &bodies[tree->link[j].parent];
    parent->m = e_add(parent->m, own->m);
    parent->mg = v_add(parent->mg, own->mg);
    parent->h = v_add(parent->h, own->h);
    parent->J = m_add(parent->J, own->J);
    parent->B = m_add(parent->B, own->B);
  }
}

static pair momentum(const moving *body, pair a)
{
  return (pair){v_add(v_scale(body->m, a.linear), v_cross(a.angular, body->mg)),
                v_add(v_cross(body->mg, a.linear), m_rotate(body->J, a.angular))};
}

void bramah__tree_graph_tangent(const bramah__tree *tree, const bramah__link_graph *link, bramah__vec gravity,
                                const bramah__body_graph *body, const bramah__expr *zd,
                                const bramah__expr *zdd, const bramah__expr *along, bramah__expr *T)
{
  const size_t n = tree->n;
  moving bodies[BRAMAH__MOST_BODIES];
  set_moving(tree, link, gravity, body, zd, zdd, along, bodies);
  add_subtrees(tree, bodies);
  for (size_t k = 0; k < n * n; k++) T[k] = e_number(0.0);
  for (size_t j = 0; j < n; j++) {
    const moving *own = &bodies[j];
    const pair W = {body[j].force, v_add(body[j].moment, v_cross(body[j].r, body[j].force))};
    const pair B = {v_cross(own->turning, own->h), m_rotate(own->B, own->turning)};

    /* What the joints on the way to the root feel of the subtree as joint j moves, and joint j as they move. */
    const pair moved =
        p_add(p_scale(along[0], wrench_cross(own->b, W)), p_add(momentum(own, own->acceleration), B));
    const pair M = momentum(own, own->b);
    const bramah__vec turned = v_add(m_unrotate(own->B, own->b.angular), v_cross(own->h, own->b.linear));
    T[j * n + j] = p_dot(own->b, moved);
    for (int i = tree->link[j].parent; i >= 0; i = tree->link[i].parent) {
      const moving *front = &bodies[i];
      T[(size_t)i * n + j] = p_dot(front->b, moved);
      T[j * n + (size_t)i] = e_add(p_dot(M, front->acceleration), v_dot(turned, front->turning));
    }
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
