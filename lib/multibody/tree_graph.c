/* SPDX-License-Identifier: MIT */
#include "lib/multibody/tree_graph.h"

#include <math.h>
#include <string.h>

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

#define CONSTANT(x)                                                                                          \
  {                                                                                                          \
    .value = (x)                                                                                             \
  }
#define UNIT_MATRIX                                                                                          \
  {                                                                                                          \
    {                                                                                                        \
      {CONSTANT(1.0), CONSTANT(0.0), CONSTANT(0.0)}, {CONSTANT(0.0), CONSTANT(1.0), CONSTANT(0.0)},          \
      {                                                                                                      \
        CONSTANT(0.0), CONSTANT(0.0), CONSTANT(1.0)                                                          \
      }                                                                                                      \
    }                                                                                                        \
  }
static const bramah__body_graph ground = {.A = UNIT_MATRIX, .turn = UNIT_MATRIX, .frame = -1};

static const bramah__body_graph *parent_of(const bramah__tree *tree, size_t j, const bramah__body_graph *body)
{
  return tree->link[j].parent < 0 ? &ground : &body[tree->link[j].parent];
}

/* The rotation that joint axes begin with, against the parent. */
static bramah__mat joint_axes(const bramah__link *link, const bramah__expr *base)
{
  double rotation[9];
  bramah__mat turn;
  for (int k = 0; k < 9; k++) rotation[k] = cleared(link->rotation[k]);
  if (!link->ball) return m_number(rotation);
  memcpy(turn.m, base + 9 * (link->ball - 1), sizeof turn.m);
  return m_multiply(m_number(rotation), turn);
}

/* Where joint j leads from a pose of its parent: A, r and the axis n. */
static void follow_joint(const bramah__link *link, const bramah__expr *base, bramah__expr z, bramah__mat *A,
                         bramah__vec *r, bramah__vec *n)
{
  const bramah__mat axes = m_multiply(*A, joint_axes(link, base));
  *n = m_rotate(axes, cleared_vector(link->axis));
  *r = v_add(*r, m_rotate(*A, cleared_vector(link->position)));
  *A = link->revolute ? m_multiply(axes, axis_rotation(link->axis, z)) : axes;
  if (!link->revolute) *r = v_add(*r, v_scale(z, *n));
}

/* Does a body turn about another axis than one that hangs on it? One without mass is but a part of a joint. */
static int is_frame(const bramah__tree *tree, size_t j)
{
  const bramah__link *own = &tree->link[j];
  if (!own->revolute || own->mass == 0.0) return 0;
  for (size_t k = j + 1; k < tree->n; k++) {
    const bramah__link *link = &tree->link[k];
    double across = link->ball ? 1.0 : 0.0, axis[3];
    if (link->parent != (int)j || !link->revolute) continue;
    for (int i = 0; i < 3; i++)
      axis[i] = link->rotation[3 * i] * link->axis[0] + link->rotation[3 * i + 1] * link->axis[1] +
                link->rotation[3 * i + 2] * link->axis[2];
    for (int i = 0; i < 3; i++)
      across = fmax(across, fabs(axis[(i + 1) % 3] * own->axis[(i + 2) % 3] -
                                 axis[(i + 2) % 3] * own->axis[(i + 1) % 3]));
    if (across > 1e-12) return 1;
  }
  return 0;
}

void bramah__tree_graph_pose(const bramah__tree *tree, const bramah__expr *base, const bramah__expr *z,
                             int with_frames, const unsigned char *round, bramah__body_graph *body)
{
  for (size_t j = 0; j < tree->n; j++) {
    const bramah__link *link = &tree->link[j];
    const bramah__body_graph *parent = parent_of(tree, j, body);
    bramah__body_graph *own = &body[j];
    bramah__vec n;
    own->A = parent->A, own->r = parent->r;
    follow_joint(link, base, z[j], &own->A, &own->r, &own->n);
    own->turn = parent->turn, own->place = parent->place;
    follow_joint(link, base, z[j], &own->turn, &own->place, &n);
    own->axes = own->turn;
    own->is_round = round && round[j];
    if (own->is_round) own->turn = m_multiply(parent->turn, joint_axes(link, base));
    own->frame = with_frames && is_frame(tree, j) ? (int)j : parent->frame;
    if (own->frame == (int)j) {
      own->frame_turn = own->turn, own->frame_place = own->place;
      own->axes = own->turn = ground.A, own->place = ground.r, n = cleared_vector(link->axis);
    }
    own->b = link->revolute ? (bramah__pair){v_cross(own->place, n), n} : (bramah__pair){n, ground.r};
  }
}

/* A twist in the frame of the parent of body j as its own has it, and a wrench the other way. */
static bramah__pair twist_into(const bramah__body_graph *body, size_t j, bramah__pair a)
{
  if (body[j].frame != (int)j) return a;
  return (bramah__pair){
      m_unrotate(body[j].frame_turn, v_add(a.linear, v_cross(a.angular, body[j].frame_place))),
      m_unrotate(body[j].frame_turn, a.angular)};
}

static bramah__pair wrench_from(const bramah__body_graph *body, size_t j, bramah__pair w)
{
  if (body[j].frame != (int)j) return w;
  const bramah__vec force = m_rotate(body[j].frame_turn, w.linear);
  return (bramah__pair){force,
                        v_add(m_rotate(body[j].frame_turn, w.angular), v_cross(body[j].frame_place, force))};
}

bramah__pair bramah__twist_graph(const bramah__body_graph *body, size_t number)
{
  const int frame = body[number].frame;
  const bramah__pair Z = body[number].Z;
  if (frame < 0) return Z;
  const bramah__vec w = m_rotate(body[frame].A, Z.angular);
  return (bramah__pair){v_add(m_rotate(body[frame].A, Z.linear), v_cross(body[frame].r, w)), w};
}

/* A J A' of a symmetric J */
static bramah__mat turned_inertia(bramah__mat A, bramah__mat J)
{
  const bramah__mat AJ = m_multiply(A, J);
  bramah__mat out;
  for (int i = 0; i < 3; i++)
    for (int k = i; k < 3; k++) out.m[i][k] = out.m[k][i] = e_sum_products(3, AJ.m[i], 1, A.m[k], 1);
  return out;
}

/* Momentum of a mass that moves with twist a, and, without what turning adds, the wrench that accelerates it by a. */
static bramah__pair momentum(const bramah__mass_graph *mass, bramah__pair a)
{
  return (bramah__pair){v_add(v_scale(mass->m, a.linear), v_cross(a.angular, mass->mg)),
                        v_add(v_cross(mass->mg, a.linear), m_rotate(mass->J, a.angular))};
}

void bramah__tree_graph_motion(const bramah__tree *tree, const bramah__link_graph *link, bramah__vec gravity,
                               const bramah__expr *zd, const bramah__expr *zdd, bramah__body_graph *body)
{
  bramah__body_graph root = ground;
  root.Zd.linear = v_scale(e_number(-1.0), gravity);
  for (size_t j = 0; j < tree->n; j++) {
    const bramah__body_graph *parent = tree->link[j].parent < 0 ? &root : &body[tree->link[j].parent];
    const bramah__pair Z = twist_into(body, j, parent->Z), Zd = twist_into(body, j, parent->Zd);
    bramah__body_graph *own = &body[j];
    own->bd = p_twist_cross(Z, own->b);
    own->Z = p_add(Z, p_scale(zd[j], own->b));
    own->Zd = p_add(Zd, p_add(p_scale(zdd[j], own->b), p_scale(zd[j], own->bd)));
    own->bdd = p_add(p_twist_cross(own->Zd, own->b), p_twist_cross(own->Z, own->bd));
    const bramah__vec centre = v_add(own->place, m_rotate(own->turn, link[j].centre)),
                      mg = v_scale(link[j].mass, centre);
    own->mass.m = link[j].mass;
    own->mass.mg = mg;
    own->mass.J = parallel_axes(turned_inertia(own->turn, link[j].inertia), centre, mg);
    own->h = momentum(&own->mass, own->Z);
  }
}

/* ---- inwards: forces ---- */

void bramah__tree_graph_force(const bramah__tree *tree, const bramah__pair *wrench, bramah__body_graph *body,
                              bramah__expr *tau)
{
  for (size_t j = 0; j < tree->n; j++)
    body[j].W =
        p_sub(p_add(momentum(&body[j].mass, body[j].Zd), p_wrench_cross(body[j].Z, body[j].h)), wrench[j]);
  for (size_t j = tree->n; j-- > 0;) {
    const int p = tree->link[j].parent;
    tau[j] = p_dot(body[j].b, body[j].W);
    if (p >= 0) body[p].W = p_add(body[p].W, wrench_from(body, j, body[j].W));
  }
}

/* ---- derivatives of the joint forces: tangent.h has the equations ---- */

/* Half of B: [w] J - tr(J)/2 [w] + mg.v 1 - v mg' */
static bramah__mat turning_matrix(const bramah__mass_graph *mass, bramah__pair Z)
{
  const bramah__mat J = mass->J;
  const bramah__vec mg = mass->mg;
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

void bramah__tree_graph_moves(const bramah__tree *tree, const bramah__body_graph *body,
                              const bramah__expr *dz, const bramah__expr *dzd, const bramah__expr *dzdd,
                              bramah__moves_graph *moves)
{
  for (size_t j = 0; j < tree->n; j++) {
    const int p = tree->link[j].parent;
    const bramah__body_graph *own = &body[j];
    const bramah__pair b = own->b, bd = own->bd;
    bramah__moves_graph *to = &moves[j];
    const bramah__expr turn = own->is_round ? e_number(0.0) : dz[j];
    to->pose = p_scale(turn, b);
    to->twist = p_add(p_scale(turn, bd), p_scale(dzd[j], b));
    to->acceleration =
        p_add(p_add(p_scale(turn, own->bdd), p_scale(e_scale(2.0, dzd[j]), bd)), p_scale(dzdd[j], b));
    if (p < 0) continue;
    to->pose = p_add(twist_into(body, j, moves[p].pose), to->pose);
    to->twist = p_add(twist_into(body, j, moves[p].twist), to->twist);
    to->acceleration = p_add(twist_into(body, j, moves[p].acceleration), to->acceleration);
  }
}

void bramah__tree_graph_vary(const bramah__tree *tree, const bramah__body_graph *body, const bramah__expr *dz,
                             const bramah__moves_graph *moves, const bramah__pair *wrench, bramah__expr *dtau)
{
  bramah__pair Y[BRAMAH__MOST_BODIES];
  for (size_t j = 0; j < tree->n; j++) {
    const bramah__body_graph *own = &body[j];
    const bramah__vec twice = v_scale(e_number(2.0), moves[j].twist.angular);
    const bramah__pair B = {v_cross(twice, own->h.linear),
                            m_rotate(turning_matrix(&own->mass, own->Z), twice)};
    Y[j] = p_sub(p_add(momentum(&own->mass, moves[j].acceleration), B), wrench[j]);
  }
  for (size_t j = tree->n; j-- > 0;) {
    const int p = tree->link[j].parent;
    dtau[j] = p_dot(body[j].b, Y[j]);
    if (p < 0) continue;
    const bramah__expr turn = body[j].is_round ? e_number(0.0) : dz[j];
    const bramah__pair up = p_add(Y[j], p_scale(turn, p_wrench_cross(body[j].b, body[j].W)));
    Y[p] = p_add(Y[p], wrench_from(body, j, up));
  }
}

/* ---- masses and wrenches of what is carried ---- */

void bramah__tree_graph_composites(const bramah__tree *tree, const bramah__body_graph *body,
                                   bramah__mass_graph *composite)
{
  for (size_t j = 0; j < tree->n; j++) composite[j] = body[j].mass;
  for (size_t j = tree->n; j-- > 0;) {
    if (tree->link[j].parent < 0 || body[j].frame == (int)j) continue;
    bramah__mass_graph *parent = &composite[tree->link[j].parent];
    parent->m = e_add(parent->m, composite[j].m);
    parent->mg = v_add(parent->mg, composite[j].mg);
    parent->J = m_add(parent->J, composite[j].J);
  }
}

static int carries(const bramah__tree *tree, int j, int k)
{
  while (k > j) k = tree->link[k].parent;
  return k == j;
}

/* The wrench that accelerates body j, with all that it carries, by a. */
static bramah__pair accelerated(const bramah__tree *tree, const bramah__body_graph *body,
                                const bramah__mass_graph *composite, size_t j, bramah__pair a)
{
  bramah__pair W = momentum(&composite[j], a);
  for (size_t k = j + 1; k < tree->n; k++) {
    const int p = tree->link[k].parent;
    if (body[k].frame != (int)k || body[p].frame != body[j].frame || !carries(tree, (int)j, p)) continue;
    W = p_add(W, wrench_from(body, k, accelerated(tree, body, composite, k, twist_into(body, k, a))));
  }
  return W;
}

void bramah__tree_graph_accelerate(const bramah__tree *tree, const bramah__body_graph *body,
                                   const bramah__mass_graph *composite, size_t j, bramah__expr *tau)
{
  bramah__pair W = accelerated(tree, body, composite, j, body[j].b);
  memset(tau, 0, tree->n * sizeof *tau);
  for (int i = (int)j; i >= 0; i = tree->link[i].parent) {
    tau[i] = p_dot(body[i].b, W);
    W = wrench_from(body, (size_t)i, W);
  }
}

void bramah__tree_graph_follow(const bramah__tree *tree, const bramah__body_graph *body,
                               const bramah__expr *dz, bramah__pair *twist)
{
  for (size_t j = 0; j < tree->n; j++) {
    const int p = tree->link[j].parent;
    twist[j] = p_scale(dz[j], body[j].b);
    if (p >= 0) twist[j] = p_add(twist_into(body, j, twist[p]), twist[j]);
  }
}

void bramah__tree_graph_hold(const bramah__tree *tree, const bramah__body_graph *body, bramah__pair *wrench,
                             bramah__expr *tau)
{
  for (size_t j = tree->n; j-- > 0;) {
    const int p = tree->link[j].parent;
    tau[j] = e_neg(p_dot(body[j].b, wrench[j]));
    if (p >= 0) wrench[p] = p_add(wrench[p], wrench_from(body, j, wrench[j]));
  }
}

/* A subtree, and how its bodies move as the joint in front of it does. */
typedef struct moving {
  bramah__mass_graph mass;
  bramah__vec h;             /* linear momentum */
  bramah__mat B;             /* half the moment part of B */
  bramah__vec turning;       /* twice the derivative of the turning velocity, carried by the bodies; */
  bramah__pair acceleration; /* derivative of Zd likewise */
} moving;

static void set_moving(const bramah__tree *tree, const bramah__body_graph *body, const bramah__expr *along,
                       moving *out)
{
  for (size_t j = 0; j < tree->n; j++) {
    const bramah__expr turn = body[j].is_round ? e_number(0.0) : along[0],
                       twice[2] = {e_scale(2.0, turn), e_scale(2.0, along[1])};
    const bramah__pair b = body[j].b, bd = body[j].bd, bdd = body[j].bdd;
    out[j].mass = body[j].mass;
    out[j].h = body[j].h.linear;
    out[j].B = turning_matrix(&body[j].mass, body[j].Z);
    out[j].turning = v_add(v_scale(twice[0], bd.angular), v_scale(twice[1], b.angular));
    out[j].acceleration = p_add(p_add(p_scale(turn, bdd), p_scale(twice[1], bd)), p_scale(along[2], b));
  }
  for (size_t j = tree->n; j-- > 0;) {
    if (tree->link[j].parent < 0) continue;
    const moving *own = &out[j];
    moving *parent = &out[tree->link[j].parent];
    parent->mass.m = e_add(parent->mass.m, own->mass.m);
    parent->mass.mg = v_add(parent->mass.mg, own->mass.mg);
    parent->mass.J = m_add(parent->mass.J, own->mass.J);
    parent->h = v_add(parent->h, own->h);
    parent->B = m_add(parent->B, own->B);
  }
}

void bramah__tree_graph_tangent(const bramah__tree *tree, const bramah__body_graph *body,
                                const bramah__expr *along, bramah__expr *T)
{
  const size_t n = tree->n;
  moving subtree[BRAMAH__MOST_BODIES];
  set_moving(tree, body, along, subtree);
  for (size_t k = 0; k < n * n; k++) T[k] = e_number(0.0);
  for (size_t j = 0; j < n; j++) {
    const moving *own = &subtree[j];
    const bramah__pair b = body[j].b, M = momentum(&own->mass, b),
                       B = {v_cross(own->turning, own->h), m_rotate(own->B, own->turning)};

    /* What the joints on the way to the root feel of the subtree as joint j moves, and joint j as they move. */
    const bramah__expr turn = body[j].is_round ? e_number(0.0) : along[0];
    const bramah__pair moved =
        p_add(p_scale(turn, p_wrench_cross(b, body[j].W)), p_add(momentum(&own->mass, own->acceleration), B));
    const bramah__vec turned = v_add(m_unrotate(own->B, b.angular), v_cross(own->h, b.linear));
    T[j * n + j] = p_dot(b, moved);
    for (int i = tree->link[j].parent; i >= 0; i = tree->link[i].parent) {
      const moving *front = &subtree[i];
      T[(size_t)i * n + j] = p_dot(body[i].b, moved);
      T[j * n + (size_t)i] = e_add(p_dot(M, front->acceleration), v_dot(turned, front->turning));
    }
  }
}

/* ---- points, loops, lines ---- */

bramah__vec bramah__direction_graph(const bramah__body_graph *body, int number, const double *local)
{
  return number < 0 ? cleared_vector(local) : m_rotate(body[number].A, cleared_vector(local));
}

bramah__vec bramah__framed_graph(const bramah__body_graph *own, const double *local)
{
  return m_rotate(own->turn, cleared_vector(local));
}

bramah__vec bramah__point_graph(const bramah__body_graph *body, int number, const double *local)
{
  const bramah__vec turned = bramah__direction_graph(body, number, local);
  return number < 0 ? turned : v_add(body[number].r, turned);
}

/* A point of a body in the axes of one that carries it. */
static bramah__vec carried_point(const bramah__tree *tree, const bramah__expr *base, const bramah__expr *z,
                                 int carrier, int body, const double *local)
{
  bramah__vec x = cleared_vector(local);
  for (int j = body; j != carrier; j = tree->link[j].parent) {
    const bramah__link *link = &tree->link[j];
    x = link->revolute ? m_rotate(axis_rotation(link->axis, z[j]), x)
                       : v_add(x, v_scale(z[j], cleared_vector(link->axis)));
    x = v_add(cleared_vector(link->position), m_rotate(joint_axes(link, base), x));
  }
  return x;
}

/* From point 0 to point 1 in the axes of the last body that carries both. */
static bramah__vec offset_graph(const bramah__tree *tree, const bramah__expr *base, const bramah__expr *z,
                                const bramah__body_graph *body, const int *ends, const double (*point)[3])
{
  const int carrier = bramah__common_carrier(tree, ends[0], ends[1]);
  bramah__vec end[2];
  for (int e = 0; e < 2; e++)
    end[e] = carrier < 0 ? bramah__point_graph(body, ends[e], point[e])
                         : carried_point(tree, base, z, carrier, ends[e], point[e]);
  return v_sub(end[1], end[0]);
}

void bramah__closure_graph(const bramah__tree *tree, const bramah__loop *loop, const bramah__expr *base,
                           const bramah__expr *z, const bramah__body_graph *body, bramah__expr *Phi)
{
  const int first = loop->body[0];
  const bramah__vec d = loop->hold == BRAMAH__HOLD_LINE
                            ? v_sub(bramah__point_graph(body, loop->body[1], loop->point[1]),
                                    bramah__point_graph(body, first, loop->point[0]))
                            : offset_graph(tree, base, z, body, loop->body, loop->point);
  if (loop->hold == BRAMAH__HOLD_POINT)
    for (int k = 0; k < 3; k++) Phi[k] = e_neg(d.x[k]);
  if (loop->hold == BRAMAH__HOLD_DISTANCE)
    Phi[0] = e_scale(0.5, e_sub(e_scale(1.0 / loop->distance, v_dot(d, d)), e_number(loop->distance)));
  for (int k = 0; loop->hold == BRAMAH__HOLD_LINE && k < 2; k++)
    Phi[k] = v_dot(d, bramah__direction_graph(body, first, loop->normal[k]));
  for (size_t k = 0; k < loop->n_directions; k++)
    Phi[(size_t)loop->hold + k] = v_dot(bramah__direction_graph(body, first, loop->u[k]),
                                        bramah__direction_graph(body, loop->body[1], loop->v[k]));
}

bramah__expr bramah__line_graph(const bramah__tree *tree, const bramah__line *line, const bramah__expr *base,
                                const bramah__expr *z, const bramah__body_graph *body)
{
  if (line->is_coordinate) return z[line->joint];
  const bramah__vec d = offset_graph(tree, base, z, body, line->body, line->point);
  return e_sqrt(v_dot(d, d));
}
