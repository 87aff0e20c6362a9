/* SPDX-License-Identifier: MIT */
#include "lib/graph/equation.h"
#include "lib/multibody/contact_law.h"
#include "lib/math/vector3.h"
#include "lib/multibody/closure.h"

#include <string.h>

bramah__expr bramah__end_stop_force(const bramah__end_stop *stop, bramah__expr l, bramah__expr w)
{
  return one_stop(stop, l, w);
}

/* ---- the law ---- */

BRAMAH__EQUATION bramah__contact_values values_of(const bramah__contact *c)
{
  const double share = c->share > 0.0 ? c->share : 1.0;
  return (bramah__contact_values){.stiffness = e_number(share * (c->linear ? c->normal.stiffness : c->hertz)),
                                  .damping = e_number(c->linear ? share * c->normal.damping : c->loss),
                                  .friction = e_number(c->friction),
                                  .bristles = e_number(c->bristles),
                                  .rolling = e_number(c->rolling),
                                  .ground = e_number(c->ground)};
}

bramah__contact_values bramah__contact_values_of(const bramah__contact *contact)
{
  return values_of(contact);
}

/* N at height q3 that grows with w3. */
BRAMAH__EQUATION bramah__expr normal_force(const bramah__contact *c, const bramah__contact_values *v,
                                           bramah__expr q3, bramah__expr w3)
{
  const bramah__expr depth = e_neg(q3), zero = {0};
  if (e_excludes(depth)) return zero;
  if (c->linear) return pushed_out(v->stiffness, v->damping, q3, e_neg(w3));
  const bramah__expr root = e_sqrt(e_max(depth, e_number(1e-36)));
  const bramah__expr lossy = e_sub(e_number(1.0), e_mul(v->damping, w3));
  const bramah__expr force = e_mul(e_mul(v->stiffness, e_mul(depth, root)), lossy);
  return e_select(depth, e_max(force, zero), zero);
}

/* At rest 1e-12 m/s, where the slope of |w| is 0 and bristles hold for years. */
BRAMAH__EQUATION bramah__expr speed_of(const bramah__expr *w)
{
  return e_sqrt(e_add(e_add(e_square(w[0]), e_square(w[1])), e_number(1e-24)));
}

/* By what the bristles yield at a speed, but for rolling. */
BRAMAH__EQUATION bramah__expr yield_at(const bramah__contact *f, const bramah__contact_values *v,
                                       bramah__expr speed)
{
  return bristles_yield(v->bristles, f->coulomb, e_number(f->static_friction - f->coulomb), f->stribeck,
                        f->exponent, speed);
}

/* Bristles that yield so, and the friction c [2] per normal force. */
BRAMAH__EQUATION void bend(const bramah__contact *f, const bramah__contact_values *v, bramah__expr yields,
                           const bramah__expr *w, bramah__expr half, const bramah__expr *x_k,
                           const bramah__expr *xd_k, bramah__expr *x, bramah__expr *xd, bramah__expr *c)
{
  const bramah__expr fades = e_add(e_number(1.0), e_mul(e_div(e_number(f->damping), v->bristles), yields)),
                     damping = e_div(e_number(f->damping), fades);
  for (int k = 0; k < BRAMAH__CONTACT_STATES; k++) {
    bend_bristles(half, yields, w[k], x_k[k], xd_k[k], &x[k], &xd[k]);
    c[k] = e_add(e_add(e_mul(v->bristles, x[k]), e_mul(damping, xd[k])), e_scale(f->viscous, w[k]));
  }
}

/* The same of a point that touches. */
BRAMAH__EQUATION void rub(const bramah__contact *f, const bramah__contact_values *v, const bramah__expr *w,
                          bramah__expr half, const bramah__expr *x_k, const bramah__expr *xd_k,
                          bramah__expr *x, bramah__expr *xd, bramah__expr *c)
{
  bramah__expr yields = yield_at(f, v, speed_of(w));
  if (f->rolling > 0.0) yields = e_add(yields, e_mul(v->rolling, e_abs(w[3])));
  bend(f, v, yields, w, half, x_k, xd_k, x, xd, c);
}

void bramah__contact_at(const bramah__contact *contact, bramah__expr q3, const bramah__expr *w,
                        bramah__expr half, const bramah__expr *x_k, const bramah__expr *xd_k, bramah__expr *x,
                        bramah__expr *xd, bramah__expr *f)
{
  const bramah__contact_values values = values_of(contact);
  bramah__contact_with(contact, &values, q3, w, half, x_k, xd_k, x, xd, f);
}

void bramah__contact_with(const bramah__contact *contact, const bramah__contact_values *values,
                          bramah__expr q3, const bramah__expr *w, bramah__expr half, const bramah__expr *x_k,
                          const bramah__expr *xd_k, bramah__expr *x, bramah__expr *xd, bramah__expr *f)
{
  const bramah__expr height = e_sub(q3, values->ground), depth = e_neg(height), zero = {0};
  bramah__expr c[2] = {zero, zero};
  if (contact->n_states) rub(contact, values, w, half, x_k, xd_k, x, xd, c);
  f[2] = contact->pressed > 0.0 ? e_number(contact->pressed) : normal_force(contact, values, height, w[2]);
  for (int k = 0; k < BRAMAH__CONTACT_STATES; k++) {
    f[k] = e_neg(e_mul(f[2], e_mul(values->friction, c[k])));
    if (contact->n_states == 0) continue;
    x[k] = e_select(depth, x[k], zero);
    xd[k] = e_select(depth, xd[k], zero);
  }
}

/* ---- with numbers ---- */

void bramah__plane_axes(const double *normal, double *E)
{
  const double along[2][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}};
  const double *from = along[fabs(normal[0]) > 0.9];
  double x[3];
  bramah__copy3(from, x);
  bramah__axpy3(-bramah__dot3(from, normal), normal, x);
  const double length = sqrt(bramah__dot3(x, x));
  for (int k = 0; k < 3; k++) E[k] = x[k] / length;
  bramah__cross3(normal, E, E + 3);
  bramah__copy3(normal, E + 6);
}

/* Rate of a joint that turns. */
static double turning(const bramah__pose *pose, const double *Z, int body, int parent)
{
  const double rate = bramah__dot3(pose[body].n, Z + 6 * body + 3);
  return parent >= 0 ? rate - bramah__dot3(pose[body].n, Z + 6 * parent + 3) : rate;
}

void bramah__contact_frame_of(const bramah__contact *contact, const double *gear, const bramah__pose *pose,
                              const double *Z, bramah__contact_frame *touch)
{
  double origin[3], from[3], v[3];
  touch->w[3] = 0.0;
  touch->axes = contact->axes;
  if (contact->pressed > 0.0) {
    const bramah__shaft *clutch = contact->clutch;
    if (!clutch)
      touch->w[0] = turning(pose, Z, contact->body, contact->parent);
    else
      touch->w[0] = 0.0;
    for (size_t a = 0; clutch && a < clutch->n_joints; a++)
      touch->w[0] += gear[a] * turning(pose, Z, (int)clutch->joint[a], clutch->parent[a]);
    touch->w[1] = touch->w[2] = 0.0;
    touch->height = -1.0;
    return;
  }
  if (contact->is_nearest) {
    bramah__nearest_place(contact, pose, touch);
    bramah__pair_velocity(contact, Z, touch->place, v);
    bramah__rotate3(touch->axes, v, touch->w);
    return;
  }
  bramah__copy3(contact->origin, origin);
  if (contact->carrier > 0) {
    for (int k = 0; k < 3; k++)
      bramah__direction(pose, bramah__base_of(contact), contact->axes + 3 * k, touch->own + 3 * k);
    bramah__point(pose, bramah__base_of(contact), contact->origin, origin);
    touch->axes = touch->own;
  }
  if (bramah__is_disc(contact)) {
    bramah__disc_place(contact, pose, touch);
    touch->w[3] = contact->radius * bramah__dot3(touch->spin, Z + 6 * contact->body + 3);
  } else {
    bramah__point(pose, contact->body, contact->point, touch->place);
    bramah__axpy3(-contact->radius, touch->axes + 6, touch->place);
  }
  bramah__pair_velocity(contact, Z, touch->place, v);
  bramah__sub3(touch->place, origin, from);
  touch->height = bramah__dot3(touch->axes + 6, from) - contact->ground;
  bramah__rotate3(touch->axes, v, touch->w);
}

typedef struct bristles {
  bramah__expr x[BRAMAH__CONTACT_STATES], xd[BRAMAH__CONTACT_STATES];
} bristles;

BRAMAH__EQUATION bristles bristles_of(const bramah__contact *contact, const double *x, const double *xd)
{
  bristles b = {0};
  for (size_t k = 0; k < contact->n_states; k++) {
    b.x[k].value = x[contact->first_state + k];
    b.xd[k].value = xd ? xd[contact->first_state + k] : 0.0;
  }
  return b;
}

double bramah__contact_gear(const bramah__contact *contact, const double *U, double *gear)
{
  const bramah__shaft *clutch = contact->clutch;
  bramah__expr row[BRAMAH__MOST_SHAFT_JOINTS];
  if (!clutch) return 1.0;
  const bramah__expr at = e_number(clutch->is_commanded[1] ? U[clutch->spool[1]] : 0.0);
  const double engaged = bramah__clutch_row(clutch, at, row).value;
  for (size_t a = 0; a < clutch->n_joints; a++) gear[a] = row[a].value;
  return engaged;
}

static double pressed_with(const bramah__contact *brake, const double *U)
{
  if (!brake->is_commanded) return brake->pressed;
  return brake->pressed * bramah__pressed_part(brake, e_number(U[brake->spool])).value;
}

void bramah__contact_forces(size_t n, const bramah__contact *contact, const bramah__pose *pose,
                            const double *Z, const double *U, double half, const double *x_k,
                            const double *xd_k, double *x, double *xd, double *force, double *gear)
{
  for (size_t i = 0; i < n; i++, contact++, force += 3, gear += BRAMAH__MOST_SHAFT_JOINTS) {
    const int rubs = contact->n_states > 0;
    const bramah__contact_values values = values_of(contact);
    double f[3] = {0, 0, 0};
    bramah__contact_frame at;
    bristles start = {0}, end = {0};
    const double engaged = bramah__contact_gear(contact, U, gear);
    if (bramah__in_the_air(contact)) {
      at.axes = contact->axes;
      at.height = 0.0;
    } else {
      bramah__contact_frame_of(contact, gear, pose, Z, &at);
    }
    if (at.height < 0.0) {
      bramah__expr c[2] = {e_number(0.0), e_number(0.0)};
      const double *w = at.w;
      const bramah__expr v[4] = {e_number(w[0]), e_number(w[1]), e_number(w[2]), e_number(w[3])};
      if (rubs) start = bristles_of(contact, x_k, xd_k);
      if (rubs) rub(contact, &values, v, e_number(half), start.x, start.xd, end.x, end.xd, c);
      if (contact->pressed > 0.0)
        f[2] = engaged * pressed_with(contact, U);
      else
        f[2] = normal_force(contact, &values, e_number(at.height), e_number(w[2])).value;
      for (int k = 0; k < 2; k++) f[k] = -f[2] * (contact->friction * c[k].value);
    }
    for (size_t k = 0; k < contact->n_states; k++) {
      if (x) x[contact->first_state + k] = end.x[k].value;
      xd[contact->first_state + k] = end.xd[k].value;
    }
    bramah__unrotate3(at.axes, f, force);
  }
}

double bramah__brake_by_spool(const bramah__contact *brake, const bramah__pose *pose, const double *Z,
                              const double *U, const double *x)
{
  double force[3], rates[1], gear[BRAMAH__MOST_SHAFT_JOINTS];
  bramah__contact all = *brake;
  all.is_commanded = 0;
  all.first_state = 0;
  bramah__contact_forces(1, &all, pose, Z, U, 0.0, x + brake->first_state, NULL, NULL, rates, force, gear);
  return force[0] * bramah__pressed_part(brake, e_variable(U[brake->spool])).slope;
}

void bramah__contacts_subtract(const bramah__tree *tree, size_t n, const bramah__contact *contact,
                               const bramah__pose *pose, const double *force, const double *gear, double *tau)
{
  for (size_t i = 0; i < n; i++, contact++, force += 3, gear += BRAMAH__MOST_SHAFT_JOINTS) {
    bramah__contact_frame at;
    double *place = at.place;
    if (contact->pressed > 0.0) {
      for (size_t a = 0; a < bramah__n_rubbed(contact); a++)
        tau[bramah__rubbed_joint(contact, a)] -= bramah__rubbed_weight(contact, gear, a) * force[0];
      continue;
    }
    if (force[0] == 0.0 && force[1] == 0.0 && force[2] == 0.0) continue;
    if (bramah__is_pair(contact)) {
      bramah__pair_place(contact, pose, place);
      bramah__pair_subtract(tree, contact, pose, place, force, tau);
      continue;
    }
    if (contact->radius > 0.0)
      bramah__disc_place(contact, pose, &at);
    else
      bramah__point(pose, contact->body, contact->point, place);
    for (int j = contact->body; j >= 0; j = tree->link[j].parent) {
      double move[3];
      bramah__point_derivative(tree, pose, (size_t)j, place, move);
      tau[j] -= bramah__dot3(move, force);
    }
  }
}

/* ---- derivatives ---- */

/* Those of the friction of a point that touches with the normal force N, which it shares with c of the result. */
static void rub_slopes(const bramah__contact *contact, const double *w, double half, double pressed,
                       const bristles *start, double *c, bramah__contact_slope *s)
{
  const bramah__contact_values values = values_of(contact);
  const double N = pressed * contact->friction;
  const bramah__expr still[2] = {e_number(w[0]), e_number(w[1])};
  const double speed = speed_of(still).value;
  const bramah__expr by_speed = yield_at(contact, &values, e_variable(speed));
  const int rolls = contact->rolling > 0.0;
  const double yields = by_speed.value + (rolls ? values.rolling.value * fabs(w[3]) : 0.0);

  /* Each bristle follows how it yields, and its own velocity. */
  const bramah__expr moving[2] = {e_variable(w[0]), e_variable(w[1])};
  bramah__expr by_yield[2], by_own[2];
  bristles yielding = {0}, own = {0};
  bend(contact, &values, e_variable(yields), still, e_number(half), start->x, start->xd, yielding.x,
       yielding.xd, by_yield);
  bend(contact, &values, e_number(yields), moving, e_number(half), start->x, start->xd, own.x, own.xd,
       by_own);
  const double roll = rolls ? values.rolling.value * e_abs(e_variable(w[3])).slope : 0.0;
  for (size_t a = 0; a < BRAMAH__CONTACT_STATES; a++) {
    c[a] = contact->friction * by_own[a].value;
    s->by_roll[a] = -N * by_yield[a].slope * roll;
    s->rate_by_roll[a] = yielding.xd[a].slope * roll;
    for (size_t b = 0; b < 2; b++) {
      const double yield = by_speed.slope * w[b] / speed;
      s->by_velocity[3 * a + b] = -N * (by_yield[a].slope * yield + (a == b ? by_own[a].slope : 0.0));
      s->rate_by_velocity[2 * a + b] = yielding.xd[a].slope * yield + (a == b ? own.xd[a].slope : 0.0);
    }
  }
  const double damping = contact->damping / (1.0 + contact->damping / contact->bristles * yields);
  s->by_bristle = -N * (contact->bristles - damping * yields) / (1.0 + half * yields);
  s->rate_by_bristle = -yields;
  s->keeps = 1.0 / (1.0 + half * yields);
}

void bramah__contact_slopes(size_t n, const bramah__contact *contact, const bramah__pose *pose,
                            const double *Z, const double *U, double half, const double *x_k,
                            const double *xd_k, bramah__contact_slope *slope)
{
  for (size_t i = 0; i < n; i++, contact++, slope++) {
    const bramah__contact_values values = values_of(contact);
    double c[3] = {0, 0, -1.0}, gear[BRAMAH__MOST_SHAFT_JOINTS];
    bramah__contact_frame at;
    memset(slope, 0, sizeof *slope);
    if (bramah__in_the_air(contact)) continue;
    const double engaged = bramah__contact_gear(contact, U, gear);
    bramah__contact_frame_of(contact, gear, pose, Z, &at);
    if (!(at.height < 0.0)) continue;
    if (contact->pressed > 0.0) {
      const bristles start = bristles_of(contact, x_k, xd_k);
      rub_slopes(contact, at.w, half, engaged * pressed_with(contact, U), &start, c, slope);
      continue;
    }
    const bramah__expr by_q = normal_force(contact, &values, e_variable(at.height), e_number(at.w[2])),
                       by_w = normal_force(contact, &values, e_number(at.height), e_variable(at.w[2]));
    if (contact->n_states) {
      const bristles start = bristles_of(contact, x_k, xd_k);
      rub_slopes(contact, at.w, half, by_q.value, &start, c, slope);
    }
    for (int a = 0; a < 3; a++) {
      slope->by_height[a] = -c[a] * by_q.slope;
      slope->by_velocity[3 * a + 2] = -c[a] * by_w.slope;
    }
  }
}

/* Column j of the rows, of a disc: what its axes and its lowest point add to those of a point, and how it rolls. */
static void turn_disc(const bramah__tree *tree, const bramah__contact *disc, const bramah__pose *pose,
                      const double *Z, const bramah__contact_frame *at, size_t j, double *column)
{
  const size_t n = tree->n;
  const double *spin = Z + 6 * disc->body + 3, *forwards = at->own;
  double turns[2], over[3], behind[3], shifted[3];
  column[3 * n] = column[7 * n] = column[8 * n] = column[9 * n] = 0.0;
  if (!tree->link[j].revolute) return;
  bramah__disc_turns(disc, at, pose[j].n, turns);
  bramah__cross3(spin, forwards, over);
  bramah__rotate3(at->axes, over, shifted);
  for (size_t a = 0; a < 3; a++) column[(4 + a) * n] += turns[1] * shifted[a];
  column[4 * n] += turns[0] * at->w[1];
  column[5 * n] -= turns[0] * at->w[0];
  bramah__cross3(pose[j].n, at->spin, behind);
  column[3 * n] = disc->radius * bramah__dot3(at->spin, pose[j].n);
  column[7 * n] = disc->radius * bramah__dot3(Z + 6 * j + 3, behind);
  column[8 * n] = turns[0];
  column[9 * n] = turns[1];
}

/* The rows of a contact that is no brake, whose frame is known. */
static void fill_rows(const bramah__tree *tree, const bramah__contact *contact, const bramah__pose *pose,
                      const double *Z, const bramah__contact_frame *at, double *rows)
{
  const size_t n = tree->n;
  const int is_disc = contact->radius > 0.0;
  double v[3], *G = rows, *H = G + 4 * n;
  bramah__point_velocity(Z, contact->body, at->place, v);
  for (int j = contact->body; j >= 0; j = tree->link[j].parent) {
    double move[3], turn[3], g[3], h[3];
    bramah__point_derivative(tree, pose, (size_t)j, at->place, move);
    bramah__velocity_derivative(tree, pose, Z, (size_t)j, at->place, v, move, turn);
    bramah__rotate3(at->axes, move, g);
    bramah__rotate3(at->axes, turn, h);
    for (size_t a = 0; a < 3; a++) {
      G[a * n + (size_t)j] = g[a];
      H[a * n + (size_t)j] = h[a];
    }
    G[3 * n + (size_t)j] = H[3 * n + (size_t)j] = 0.0;
    if (is_disc) turn_disc(tree, contact, pose, Z, at, (size_t)j, rows + j);
  }
}

void bramah__contact_rows(const bramah__tree *tree, const bramah__contact *contact, const double *gear,
                          const bramah__pose *pose, const double *Z, double *rows)
{
  const size_t n = tree->n;
  bramah__contact_frame at;
  if (!(contact->pressed > 0.0)) {
    bramah__contact_frame_of(contact, gear, pose, Z, &at);
    (bramah__is_pair(contact) ? bramah__pair_rows : fill_rows)(tree, contact, pose, Z, &at, rows);
    return;
  }
  for (int j = (int)n; (j = bramah__contact_joint(tree, contact, j)) >= 0;)
    for (size_t row = 0; row < 8; row++) rows[row * n + (size_t)j] = 0.0;
  for (size_t a = 0; a < bramah__n_rubbed(contact); a++)
    rows[bramah__rubbed_joint(contact, a)] = bramah__rubbed_weight(contact, gear, a);
}

/* What a disc has besides: it rolls and its axes turn, which f follows by a joint, whose rows these are, and by its rate. */
static void roll_disc(size_t n, const bramah__contact_slope *slope, const double *f, const double *rows,
                      double *by_z, double *by_zd)
{
  const double turn = rows[8 * n];
  for (size_t a = 0; a < 3; a++) {
    by_zd[a] += slope->by_roll[a] * rows[3 * n];
    by_z[a] += slope->by_roll[a] * rows[7 * n];
  }
  by_z[0] -= turn * f[1];
  by_z[1] += turn * f[0];
}

void bramah__contacts_add_tangent(const bramah__tree *tree, size_t n_contacts, const bramah__contact *contact,
                                  const bramah__pose *pose, const double *Z, const double *force,
                                  const double *gear, const bramah__contact_slope *slope, double *rows,
                                  double *K, double *C)
{
  const size_t n = tree->n;
  double *G = rows, *H = rows + 4 * n;
  for (size_t i = 0; i < n_contacts; i++, contact++, slope++, force += 3, gear += BRAMAH__MOST_SHAFT_JOINTS) {
    bramah__contact_frame at;
    if (contact->pressed > 0.0) {
      for (size_t a = 0; a < bramah__n_rubbed(contact); a++)
        for (size_t b = 0; b < bramah__n_rubbed(contact); b++)
          C[bramah__rubbed_joint(contact, a) * n + bramah__rubbed_joint(contact, b)] -=
              bramah__rubbed_weight(contact, gear, a) * bramah__rubbed_weight(contact, gear, b) *
              slope->by_velocity[0];
      continue;
    }
    if (force[0] == 0.0 && force[1] == 0.0 && force[2] == 0.0 && slope->by_height[2] == 0.0) continue;
    bramah__contact_frame_of(contact, gear, pose, Z, &at);
    if (bramah__is_pair(contact)) {
      bramah__pair_add_tangent(tree, contact, pose, Z, &at, force, slope, rows, K, C);
      continue;
    }
    bramah__add_curvature(tree, pose, &(bramah__mark){contact->body, 0, at.place}, force, -1.0, K);
    fill_rows(tree, contact, pose, Z, &at, rows);
    const int is_disc = contact->radius > 0.0;
    double f[3], over[3];
    bramah__rotate3(at.axes, force, f);
    bramah__cross3(at.axes, force, over); /* the moment of the force by a shift forwards */
    for (int k = contact->body; k >= 0; k = tree->link[k].parent) {
      /* f by joint k and by its rate */
      double by_z[3], by_zd[3];
      const double *by = slope->by_velocity, *g = G + k, *h = H + k;
      for (size_t a = 0; a < 3; a++, by += 3) {
        by_zd[a] = by[0] * g[0] + by[1] * g[n] + by[2] * g[2 * n];
        by_z[a] = slope->by_height[a] * g[2 * n] + by[0] * h[0] + by[1] * h[n] + by[2] * h[2 * n];
      }
      if (is_disc) roll_disc(n, slope, f, rows + k, by_z, by_zd);
      for (int j = contact->body; j >= 0; j = tree->link[j].parent) {
        const size_t jk = (size_t)j * n + (size_t)k;
        g = G + j;
        K[jk] -= g[0] * by_z[0] + g[n] * by_z[1] + g[2 * n] * by_z[2];
        C[jk] -= g[0] * by_zd[0] + g[n] * by_zd[1] + g[2 * n] * by_zd[2];
        if (is_disc && tree->link[j].revolute) /* the lowest point wanders */
          K[jk] -= rows[9 * n + (size_t)k] * bramah__dot3(pose[j].n, over);
      }
    }
  }
}
