/* SPDX-License-Identifier: MIT */
#include "lib/multibody/contact_graph.h"

#include <string.h>

/* ---- which contacts share what ---- */

double bramah__patch_offset(const bramah__contact *contact)
{
  return bramah__is_disc(contact) ? bramah__dot3(contact->point, contact->spin) : 0.0;
}

/* The point of the body at offset 0. */
static void middle(const bramah__contact *contact, double *out)
{
  bramah__copy3(contact->point, out);
  bramah__axpy3(-bramah__patch_offset(contact), contact->spin, out);
}

size_t bramah__patch_size(size_t n, const bramah__contact *contact)
{
  double first[3], other[3];
  size_t count = 1;
  middle(contact, first);
  for (; count < n && bramah__is_disc(contact); count++) {
    const bramah__contact *next = contact + count;
    middle(next, other);
    bramah__sub3(other, first, other);
    if (!bramah__is_disc(next) || next->body != contact->body || next->radius != contact->radius ||
        memcmp(next->spin, contact->spin, sizeof next->spin) != 0 ||
        memcmp(next->axes, contact->axes, sizeof next->axes) != 0 ||
        memcmp(next->origin, contact->origin, sizeof next->origin) != 0 || bramah__dot3(other, other) > 1e-24)
      break;
  }
  return count;
}

/* ---- geometry ---- */

static bramah__vec row(const bramah__mat *A, int i)
{
  return (bramah__vec){{A->m[i][0], A->m[i][1], A->m[i][2]}};
}

static void set_row(bramah__mat *A, int i, bramah__vec x) { memcpy(A->m[i], x.x, sizeof x.x); }

/* Rows of the plane's axes, in the frame of the body. */
static bramah__mat plane_axes(const bramah__contact *contact, const bramah__plane_graph *plane,
                              const bramah__body_graph *body)
{
  const int frame = body[contact->body].frame;
  bramah__mat axes = plane ? plane->axes : m_number(contact->axes);
  for (int i = 0; i < 3 && frame >= 0; i++) set_row(&axes, i, m_unrotate(body[frame].A, row(&axes, i)));
  return axes;
}

/* How high the origin of the frame is. */
static bramah__expr frame_height(const bramah__contact *contact, const bramah__plane_graph *plane,
                                 const bramah__body_graph *body)
{
  const int frame = body[contact->body].frame;
  const bramah__mat axes = plane ? plane->axes : m_number(contact->axes);
  const bramah__expr distance =
      plane ? plane->distance : e_number(bramah__dot3(contact->axes + 6, contact->origin));
  return e_sub(frame < 0 ? e_number(0.0) : v_dot(row(&axes, 2), body[frame].r), distance);
}

bramah__patch_graph bramah__patch_graph_of(const bramah__contact *contact, const bramah__plane_graph *plane,
                                           const bramah__body_graph *body)
{
  const bramah__body_graph *own = &body[contact->body];
  bramah__patch_graph patch = {.axes = plane_axes(contact, plane, body)};
  const bramah__vec n = row(&patch.axes, 2);
  double point[3];
  middle(contact, point);
  patch.place = v_add(own->place, bramah__framed_graph(own, point));
  if (bramah__is_disc(contact)) {
    patch.axis = bramah__framed_graph(own, contact->spin);
    const bramah__vec across = v_cross(patch.axis, n);
    patch.per_m = e_inv(e_sqrt(e_max(v_dot(across, across), e_number(bramah__least_lean))));
    const bramah__vec t = v_scale(patch.per_m, across);
    set_row(&patch.axes, 0, t);
    set_row(&patch.axes, 1, v_cross(n, t));
    patch.place = v_add(patch.place, v_scale(e_number(contact->radius), v_cross(patch.axis, t)));
    patch.lean = v_dot(n, patch.axis);
    patch.turning = v_cross(own->Z.angular, patch.axis);
    const bramah__vec w = m_rotate(patch.axes, patch.turning);
    patch.along[0] = patch.lean;
    memcpy(patch.along + 1, w.x, sizeof w.x);
    patch.at_place[4] = e_scale(contact->radius, v_dot(patch.axis, own->Z.angular));
  } else {
    patch.place = v_sub(patch.place, v_scale(e_number(contact->radius), n));
  }
  patch.velocity = v_add(own->Z.linear, v_cross(own->Z.angular, patch.place));
  const bramah__vec w = m_rotate(patch.axes, patch.velocity);
  patch.at_place[0] = e_add(frame_height(contact, plane, body), v_dot(n, patch.place));
  memcpy(patch.at_place + 1, w.x, sizeof w.x);
  return patch;
}

void bramah__patch_touch(const bramah__patch_graph *patch, double offset, bramah__expr *touch)
{
  for (int k = 0; k < BRAMAH__TOUCHES; k++)
    touch[k] = e_add(patch->at_place[k], e_scale(offset, patch->along[k]));
}

/* ---- forces ---- */

void bramah__patch_push(bramah__patch_graph *patch, double offset, const bramah__expr *f)
{
  const bramah__vec force = {{f[0], f[1], f[2]}};
  patch->force = v_add(patch->force, force);
  patch->spread = v_add(patch->spread, v_scale(e_number(offset), force));
}

bramah__pair bramah__patch_wrench(const bramah__patch_graph *patch)
{
  const bramah__vec force = m_unrotate(patch->axes, patch->force),
                    spread = m_unrotate(patch->axes, patch->spread);
  return (bramah__pair){force, v_add(v_cross(patch->place, force), v_cross(patch->axis, spread))};
}

static bramah__vec to_inertial(const bramah__contact *contact, const bramah__body_graph *body, bramah__vec x)
{
  const int frame = body[contact->body].frame;
  return frame < 0 ? x : m_rotate(body[frame].A, x);
}

bramah__vec bramah__patch_force(const bramah__contact *contact, const bramah__patch_graph *patch,
                                const bramah__body_graph *body, const bramah__expr *f)
{
  return to_inertial(contact, body, m_unrotate(patch->axes, (bramah__vec){{f[0], f[1], f[2]}}));
}

bramah__vec bramah__patch_arm(const bramah__contact *contact, const bramah__patch_graph *patch,
                              const bramah__body_graph *body)
{
  const bramah__vec along = bramah__is_disc(contact) ? v_cross(patch->axis, row(&patch->axes, 0))
                                                     : v_scale(e_number(-1.0), row(&patch->axes, 2));
  return to_inertial(contact, body, v_scale(e_number(contact->radius), along));
}

/* ---- derivatives ----
 *
 * Seen from the body the plane turns back, dn = -w x n, with it all axes, and those of a disc also turn about n: by psi against the
 * inertial axes (disc.c). Its lowest point moves over the rim by (w.l) r/m t. */

static bramah__expr heading(const bramah__patch_graph *patch, bramah__vec w)
{
  const bramah__expr lean = e_mul(patch->lean, patch->per_m);
  return e_sub(v_dot(row(&patch->axes, 2), w), e_mul(lean, v_dot(row(&patch->axes, 1), w)));
}

/* Where it touches moves over the body. */
static bramah__vec wander(const bramah__contact *contact, const bramah__patch_graph *patch, bramah__vec w)
{
  if (!bramah__is_disc(contact)) return v_scale(e_number(contact->radius), v_cross(w, row(&patch->axes, 2)));
  const bramah__expr far = e_mul(e_scale(contact->radius, patch->per_m), v_dot(row(&patch->axes, 1), w));
  return v_scale(far, row(&patch->axes, 0));
}

/* change + psi [y, -x], by axes that turn by psi about n; what is held to them turns the other way. */
static bramah__vec turned(bramah__vec change, bramah__expr psi, const bramah__expr *x)
{
  change.x[0] = e_add(change.x[0], e_mul(psi, x[1]));
  change.x[1] = e_sub(change.x[1], e_mul(psi, x[0]));
  return change;
}

void bramah__patch_vary(const bramah__contact *contact, const bramah__patch_graph *patch,
                        const bramah__body_graph *body, const bramah__moves_graph *moves,
                        bramah__patch_graph *change)
{
  const bramah__moves_graph *own = &moves[contact->body];
  const bramah__vec w = own->pose.angular, n = row(&patch->axes, 2);
  const bramah__expr psi = bramah__is_disc(contact) ? heading(patch, w) : e_number(0.0);
  const bramah__vec along = v_add(own->twist.linear, v_cross(own->twist.angular, patch->place)),
                    wanders = v_cross(body[contact->body].Z.angular, wander(contact, patch, w)),
                    moved = v_add(v_add(along, wanders), v_cross(w, patch->velocity)),
                    turns = v_add(v_cross(own->twist.angular, patch->axis), v_cross(w, patch->turning));
  *change = (bramah__patch_graph){0};
  const bramah__vec dw = turned(m_rotate(patch->axes, moved), psi, patch->at_place + 1),
                    dt = turned(m_rotate(patch->axes, turns), psi, patch->along + 1);
  change->at_place[0] = v_dot(n, v_add(own->pose.linear, v_cross(w, patch->place)));
  memcpy(change->at_place + 1, dw.x, sizeof dw.x);
  if (!bramah__is_disc(contact)) return;
  change->at_place[4] = e_scale(contact->radius, v_dot(patch->axis, own->twist.angular));
  change->along[0] = v_dot(n, v_cross(w, patch->axis));
  memcpy(change->along + 1, dt.x, sizeof dt.x);
}

bramah__pair bramah__patch_vary_wrench(const bramah__contact *contact, const bramah__patch_graph *patch,
                                       const bramah__moves_graph *moves, const bramah__patch_graph *change)
{
  const bramah__vec w = moves[contact->body].pose.angular;
  const bramah__expr back = bramah__is_disc(contact) ? e_neg(heading(patch, w)) : e_number(0.0);
  const bramah__vec force = m_unrotate(patch->axes, patch->force),
                    spread = m_unrotate(patch->axes, patch->spread),
                    df = turned(change->force, back, patch->force.x),
                    ds = turned(change->spread, back, patch->spread.x),
                    more = v_sub(m_unrotate(patch->axes, df), v_cross(w, force)),
                    wider = v_sub(m_unrotate(patch->axes, ds), v_cross(w, spread));
  return (bramah__pair){more,
                        v_add(v_add(v_cross(wander(contact, patch, w), force), v_cross(patch->place, more)),
                              v_cross(patch->axis, wider))};
}

void bramah__patch_shift(const bramah__contact *contact, const bramah__patch_graph *patch, bramah__pair twist,
                         bramah__patch_graph *change)
{
  const bramah__vec moved = m_rotate(patch->axes, v_add(twist.linear, v_cross(twist.angular, patch->place))),
                    turns = m_rotate(patch->axes, v_cross(twist.angular, patch->axis));
  *change = (bramah__patch_graph){0};
  memcpy(change->at_place + 1, moved.x, sizeof moved.x);
  if (!bramah__is_disc(contact)) return;
  change->at_place[4] = e_scale(contact->radius, v_dot(patch->axis, twist.angular));
  memcpy(change->along + 1, turns.x, sizeof turns.x);
}

bramah__pair bramah__patch_shift_wrench(const bramah__patch_graph *patch, const bramah__patch_graph *change)
{
  const bramah__vec force = m_unrotate(patch->axes, change->force),
                    spread = m_unrotate(patch->axes, change->spread);
  return (bramah__pair){force, v_add(v_cross(patch->place, force), v_cross(patch->axis, spread))};
}
