/* SPDX-License-Identifier: MIT */
/* Contacts between bodies in a graph: what their shapes touch with is found before a step (meeting.c), and enters here as inputs, which
 * know places, planes and shares; the motion within the step is the graph's. Which body carries a plane is an input, too, where it may be either.
 *
 * Between polyhedra all points lie on one plane, which one of the two carries: with E its axes, O its origin, q = E (P - O)
 * and w = U + W x q. Where a core takes part each point has axes of its own, as in pair.c; a face is there a core of the base along two
 * directions, and its normal tells on which side the other one is. The forces of all points of a meeting act together, as a wrench about the
 * inertial origin. */
#include "lib/plant/step_builder.h"
#include "lib/math/vector3.h"

#include <string.h>

/* Inputs of polyhedra, of all points and then of each. Where body 0 carries the plane those of 1 are 0, and the other way round. */
enum { SIGN, AXES, ORIGIN = AXES + 18, OF_PLANE = ORIGIN + 6 };
enum { LIFT, SHARE, PLACE, OF_POINT = PLACE + 6 };
/* Of each point of a core: place and direction in its body; place, first axis, two directions and the normal of a face in the base; 1 where
 * it is no face. */
enum {
  CORE = PLACE,
  ALONG = CORE + 3,
  BASE = ALONG + 3,
  FIRST = BASE + 3,
  SIDE = FIRST + 3,
  OTHER_SIDE = SIDE + 3,
  FACE = OTHER_SIDE + 3,
  NO_FACE = FACE + 3,
  OF_CORE
};

static const double far_away = 1e9; /* m: of points that are not in use, as a height */

static int is_flat(const bramah_model *model, const bramah__meeting *m)
{
  return model->shape[m->shape[0]].n_faces && model->shape[m->shape[1]].n_faces;
}

static size_t n_inputs(const bramah_model *model, const bramah__meeting *m)
{
  return is_flat(model, m) ? OF_PLANE + OF_POINT * m->n : OF_CORE * m->n;
}

size_t bramah__meeting_inputs(const bramah_model *model)
{
  size_t n = 0;
  for (size_t k = 0; k < model->n_meetings; k++) n += n_inputs(model, &model->meeting[k]);
  return n;
}

/* ---- inputs ---- */

static int in_use(const bramah__held *held) { return held->carrier == 1 || held->carrier == 2; }

static void put_flat(const bramah__meeting *m, const bramah__held *held, double *in)
{
  const bramah__held *any = NULL;
  double *point = in + OF_PLANE;
  for (size_t i = 0; i < m->n; i++, point += OF_POINT) {
    point[LIFT] = far_away;
    if (!in_use(&held[i])) continue;
    any = &held[i];
    point[LIFT] = 0.0;
    point[SHARE] = any->share;
    bramah__copy3(any->point, point + PLACE + (any->carrier == 1 ? 3 : 0));
  }
  in[SIGN] = 1.0;
  if (!any) return;
  const int base = (int)any->carrier - 1;
  in[SIGN] = base ? -1.0 : 1.0;
  memcpy(in + AXES + 9 * base, any->axes, sizeof any->axes);
  bramah__copy3(any->origin, in + ORIGIN + 3 * base);
}

static void put_core(const bramah__held *held, double *in)
{
  const int is_face = held->turns == BRAMAH__ON_FACE;
  in[LIFT] = far_away;
  in[FIRST] = in[NO_FACE] = 1.0;
  if (!in_use(held)) return;
  in[LIFT] = 0.0;
  in[SHARE] = held->share;
  bramah__copy3(held->point, in + CORE);
  bramah__copy3(held->origin, in + BASE);
  bramah__copy3(held->axes, in + FIRST);
  bramah__copy3(held->axes + (is_face ? 0 : 6), in + SIDE);
  if (!is_face) bramah__copy3(held->axes + 3, in + ALONG);
  if (!is_face) return;
  in[NO_FACE] = 0.0;
  bramah__copy3(held->axes + 3, in + OTHER_SIDE);
  bramah__copy3(held->axes + 6, in + FACE);
}

void bramah__put_meetings(const bramah_model *model, const bramah__held *held, double *in)
{
  static const bramah__held in_the_air[BRAMAH__MOST_TOUCHES];
  memset(in, 0, bramah__meeting_inputs(model) * sizeof *in);
  for (size_t k = 0; k < model->n_meetings; k++) {
    const bramah__meeting *m = &model->meeting[k];
    const bramah__held *of = held ? held + m->held : in_the_air;
    if (is_flat(model, m)) put_flat(m, of, in);
    for (size_t i = 0; !is_flat(model, m) && i < m->n; i++) put_core(of + i, in + OF_CORE * i);
    in += n_inputs(model, m);
  }
}

int bramah__meetings_fit(const bramah_model *model, const bramah__held *held)
{
  for (size_t k = 0; k < model->n_meetings; k++) {
    const bramah__meeting *m = &model->meeting[k];
    for (size_t i = 0; !is_flat(model, m) && i < m->n; i++)
      if (in_use(&held[m->held + i]) && held[m->held + i].turns == BRAMAH__ACROSS) return 0;
  }
  return 1;
}

/* ---- equations ---- */

static const bramah__vec none = {{{0}}};

static bramah__vec vec_in(const bramah__expr *in) { return (bramah__vec){{in[0], in[1], in[2]}}; }

static bramah__vec direction(const bramah__step_builder *b, int body, const bramah__expr *in)
{
  return body < 0 ? vec_in(in) : m_rotate(b->body[body].A, vec_in(in));
}

static bramah__vec origin(const bramah__step_builder *b, int body)
{
  return body < 0 ? none : b->body[body].r;
}

/* Twist of a body against another one, about the inertial origin. */
static bramah__pair apart(const bramah__step_builder *b, int body, int base)
{
  bramah__pair Z = {none, none};
  if (body >= 0) Z = bramah__twist_graph(b->body, (size_t)body);
  if (base < 0) return Z;
  const bramah__pair of_base = bramah__twist_graph(b->body, (size_t)base);
  return (bramah__pair){v_sub(Z.linear, of_base.linear), v_sub(Z.angular, of_base.angular)};
}

static int carries(const bramah__tree *tree, int j, int body)
{
  while (body > j) body = tree->link[body].parent;
  return body == j;
}

/* A wrench on a body, and its opposite on the base. */
static void push_apart(bramah__step_builder *b, size_t *works, int body, int base, bramah__pair wrench)
{
  const bramah__tree *tree = &b->model->tree;
  const size_t nr = b->out->nf + b->out->nm, taken = (b->out->nc + BRAMAH__CONTACTS) | BRAMAH__IS_SPEED;
  const bramah__pair twist = apart(b, body, base);
  for (int j = 0; j < (int)b->out->n; j++) {
    const int on_body = carries(tree, j, body);
    if (on_body == carries(tree, j, base)) continue;
    const bramah__vec n = b->body[j].n, about = v_sub(wrench.angular, v_cross(b->body[j].r, wrench.linear));
    const bramah__expr force = v_dot(n, tree->link[j].revolute ? about : wrench.linear),
                       against = on_body ? e_neg(force) : force;
    for (size_t k = 0; k < nr; k++) b->r[k] = e_add(b->r[k], e_mul(b->Rz[(size_t)j * nr + k], against));
  }
  for (int k = 0; k < 3; k++) {
    bramah__add_work(b, works, taken, e_neg(wrench.linear.x[k]), twist.linear.x[k]);
    bramah__add_work(b, works, taken, e_neg(wrench.angular.x[k]), twist.angular.x[k]);
  }
}

/* Force of a point in the axes of its plane. */
static bramah__vec force_of(bramah__step_builder *b, size_t point, const bramah__expr *in,
                            bramah__expr height, bramah__vec v)
{
  const bramah__contact *contact = &b->model->contact_point[point];
  const bramah__expr half = b->out->nq ? b->in_half[0] : e_number(0.0),
                     w[4] = {v.x[0], v.x[1], v.x[2], e_number(0.0)};
  const size_t first = contact->first_state;
  bramah__contact_values values = *bramah__contact_values_in(b, point);
  bramah__vec f;
  values.stiffness = e_mul(in[SHARE], values.stiffness);
  if (contact->linear) values.damping = e_mul(in[SHARE], values.damping);
  bramah__contact_with(contact, &values, e_add(height, in[LIFT]), w, half, b->in_x + first, b->in_xd + first,
                       b->x_end + first, b->xd_end + first, f.x);
  return f;
}

static void add_flat(bramah__step_builder *b, size_t *works, const bramah__meeting *m, const bramah__expr *in)
{
  const int body[2] = {b->model->shape[m->shape[0]].body, b->model->shape[m->shape[1]].body};
  const bramah__expr sign = in[SIGN], one = e_number(1.0),
                     by[2] = {e_scale(0.5, e_add(one, sign)), e_scale(0.5, e_sub(one, sign))};
  bramah__vec O = none, from = none, force = none, moment = none;
  bramah__mat E, of[2];
  for (int e = 0; e < 2; e++) {
    O = v_add(O, v_add(v_scale(by[e], origin(b, body[e])), direction(b, body[e], in + ORIGIN + 3 * e)));
    from = v_add(from, v_scale(by[1 - e], origin(b, body[e])));
  }
  for (int k = 0; k < 3; k++) {
    const bramah__vec axis =
        v_add(direction(b, body[0], in + AXES + 3 * k), direction(b, body[1], in + AXES + 9 + 3 * k));
    memcpy(E.m[k], axis.x, sizeof axis.x);
  }
  for (int e = 0; e < 2; e++) of[e] = body[e] < 0 ? E : m_multiply(E, b->body[body[e]].A);
  const bramah__pair Z = apart(b, body[1], body[0]);
  const bramah__vec start = m_rotate(E, v_sub(from, O)),
                    U = v_scale(sign, m_rotate(E, v_add(Z.linear, v_cross(Z.angular, O)))),
                    W = v_scale(sign, m_rotate(E, Z.angular));
  const bramah__expr *point = in + OF_PLANE;
  for (size_t i = 0; i < m->n; i++, point += OF_POINT) {
    const bramah__vec on[2] = {m_rotate(of[0], vec_in(point + PLACE)),
                               m_rotate(of[1], vec_in(point + PLACE + 3))},
                      q = v_add(start, v_add(on[0], on[1])),
                      f = force_of(b, m->first + i, point, q.x[2], v_add(U, v_cross(W, q)));
    force = v_add(force, f);
    moment = v_add(moment, v_cross(q, f));
  }
  const bramah__vec F = v_scale(sign, m_unrotate(E, force)),
                    about = v_add(v_cross(O, F), v_scale(sign, m_unrotate(E, moment)));
  push_apart(b, works, body[1], body[0], (bramah__pair){F, about});
}

/* Where a core touches, and its axes. */
typedef struct nearest {
  bramah__vec place;
  bramah__mat axes;
  bramah__expr height;
} nearest;

static nearest nearest_of(bramah__step_builder *b, const bramah__shape *core, const bramah__shape *base,
                          const bramah__expr *in)
{
  const int is_face = base->n_faces > 0; /* or may be one */
  const bramah__vec A = v_add(origin(b, core->body), direction(b, core->body, in + CORE)),
                    B = v_add(origin(b, base->body), direction(b, base->body, in + BASE)),
                    u = core->n_corners > 1 ? direction(b, core->body, in + ALONG) : none,
                    v = base->n_corners > 1 ? direction(b, base->body, in + SIDE) : none,
                    first = direction(b, base->body, in + FIRST), from = v_sub(A, B);
  const bramah__expr along = v_dot(u, v), along_u = v_dot(from, u), along_v = v_dot(from, v),
                     part = e_inv(e_sub(e_number(1.0), e_square(along))),
                     s = e_mul(part, e_sub(e_mul(along, along_v), along_u)),
                     t = e_mul(part, e_sub(along_v, e_mul(along, along_u)));
  bramah__vec d = v_add(from, v_sub(v_scale(s, u), v_scale(t, v)));
  if (is_face) {
    const bramah__vec aside = direction(b, base->body, in + OTHER_SIDE);
    d = v_sub(d, v_scale(v_dot(from, aside), aside));
  }
  bramah__expr gap = e_sqrt(e_max(v_dot(d, d), e_number(1e-24)));
  if (is_face)
    gap = e_select(e_add(in[NO_FACE], v_dot(d, direction(b, base->body, in + FACE))), gap, e_neg(gap));
  const bramah__vec n = v_scale(e_inv(gap), d), rest = v_sub(first, v_scale(v_dot(first, n), n)),
                    x = v_scale(e_inv(e_sqrt(e_max(v_dot(rest, rest), e_number(1e-6)))), rest),
                    y = v_cross(n, x);
  nearest out = {.place = v_sub(v_add(A, v_scale(s, u)), v_scale(e_number(core->radius), n)),
                 .height = e_sub(gap, e_number(core->radius + (is_face ? 0.0 : base->radius)))};
  memcpy(out.axes.m[0], x.x, sizeof x.x);
  memcpy(out.axes.m[1], y.x, sizeof y.x);
  memcpy(out.axes.m[2], n.x, sizeof n.x);
  return out;
}

static void add_round(bramah__step_builder *b, size_t *works, const bramah__meeting *m,
                      const bramah__expr *in)
{
  const bramah__shape *of[2] = {&b->model->shape[m->shape[0]], &b->model->shape[m->shape[1]]};
  const int is_base = of[0]->n_faces == 0; /* a polyhedron, or the second */
  const bramah__shape *base = of[is_base], *core = of[1 - is_base];
  const bramah__pair Z = apart(b, core->body, base->body);
  bramah__pair wrench = {none, none};
  for (size_t i = 0; i < m->n; i++, in += OF_CORE) {
    const nearest at = nearest_of(b, core, base, in);
    const bramah__vec w = m_rotate(at.axes, v_add(Z.linear, v_cross(Z.angular, at.place))),
                      F = m_unrotate(at.axes, force_of(b, m->first + i, in, at.height, w));
    wrench = p_add(wrench, (bramah__pair){F, v_cross(at.place, F)});
  }
  push_apart(b, works, core->body, base->body, wrench);
}

void bramah__add_meetings(bramah__step_builder *b, size_t *works)
{
  const bramah__expr *in = b->in_meet;
  for (size_t k = 0; k < b->model->n_meetings; k++) {
    const bramah__meeting *m = &b->model->meeting[k];
    (is_flat(b->model, m) ? add_flat : add_round)(b, works, m, in);
    in += n_inputs(b->model, m);
  }
}
