/* SPDX-License-Identifier: MIT */
/* Contacts between bodies: before each step their shapes say where they touch. Each point of the patch is held over the step,
 * as a point of one body on a plane that the other one carries (pair.c), so that a step is smooth and has exact derivatives. A
 * point takes the place of the nearest one before it, and that one's bristles. */
#include "lib/plant/coupled_internal.h"
#include "lib/math/vector3.h"

#include <math.h>
#include <string.h>

/* A point is another one beyond this part of the smaller shape; what is looked for is as near, and what a step can bring on. */
static const double same_place = 0.05, near = 0.01;
static const double rounding = 1e-12; /* m: what has not moved by more stays as it is, to the bit */

/* Is a point in use? Snapshots may hold any number. */
static int in_use(const bramah__held *held) { return held->carrier == 1 || held->carrier == 2; }

/* ---- what contacts see ---- */

static void show(bramah_coupled *c, const bramah__meeting *m, size_t i, const bramah__held *held)
{
  const bramah_model *model = c->model;
  bramah__contact *out = &c->model->contact_point[m->first + i];
  const bramah__shape *of[2] = {&model->shape[m->shape[0]], &model->shape[m->shape[1]]};
  if (!in_use(held)) { /* in the air */
    if (bramah__in_the_air(out)) return;
    out->body = -1;
    out->carrier = out->is_nearest = 0;
    out->radius = out->base_radius = out->share = 0.0;
    memset(out->axes, 0, sizeof out->axes);
    bramah__copy3(out->axes + 6, out->point);
    memset(out->origin, 0, sizeof out->origin);
    return;
  }
  const bramah__shape *base = of[held->carrier - 1], *other = of[2 - held->carrier];
  out->body = other->body;
  out->carrier = 1 + base->body;
  out->radius = other->radius;
  out->is_nearest = held->turns == BRAMAH__NEAREST;
  out->base_radius = out->is_nearest ? base->radius : 0.0;
  out->share = held->share;
  bramah__copy3(held->point, out->point);
  bramah__copy3(held->origin, out->origin);
  memcpy(out->axes, held->axes, sizeof out->axes);
}

static void show_all(bramah_coupled *c, const bramah__held *held)
{
  for (size_t k = 0; k < c->model->n_meetings; k++) {
    const bramah__meeting *m = &c->model->meeting[k];
    for (size_t i = 0; i < m->n; i++) show(c, m, i, held + m->held + i);
  }
}

void bramah__apply_meetings(bramah_coupled *c, const bramah__held *held)
{
  if (c->base) show_all(c, held);
}

/* ---- where shapes touch ---- */

/* A place or direction in the frame of a body. */
static void place_in(const bramah__pose *pose, int body, const double *place, double *local)
{
  double d[3];
  bramah__copy3(place, local);
  if (body < 0) return;
  bramah__sub3(place, pose[body].r, d);
  bramah__unrotate3(pose[body].A, d, local);
}

static void direction_in(const bramah__pose *pose, int body, const double *v, double *local)
{
  if (body < 0)
    bramah__copy3(v, local);
  else
    bramah__unrotate3(pose[body].A, v, local);
}

/* How near two shapes must be to be looked at: as far as they come in two steps, and a little. */
static double margin_of(const bramah_coupled *c, const bramah__shape *const *of)
{
  const bramah__eval *at = c->probe;
  double middle[3], v[2][3], speed = 0.0;
  for (int e = 0; e < 2; e++) {
    bramah__point(at->pose, of[e]->body, of[e]->middle, middle);
    bramah__point_velocity(at->Z, of[e]->body, middle, v[e]);
    if (of[e]->body < 0) continue;
    const double *w = at->Z + 6 * of[e]->body + 3;
    speed += of[e]->reach * sqrt(bramah__dot3(w, w));
  }
  bramah__axpy3(-1.0, v[1], v[0]);
  speed += sqrt(bramah__dot3(v[0], v[0]));
  return near * fmin(of[0]->reach, of[1]->reach) + 2.0 * c->model->h * speed;
}

static bramah__held held_of(const bramah__pose *pose, const bramah__shape *const *of,
                            const bramah__patch *patch, size_t i)
{
  bramah__held h = {.share = patch->share[i], .carrier = 1 + patch->owner, .turns = patch->turns};
  const int base = of[patch->owner]->body, other = of[1 - patch->owner]->body;
  double normal[3], d[3];
  bramah__copy3(patch->normal, normal);
  if (patch->turns == BRAMAH__NEAREST) { /* each point has its own */
    bramah__sub3(patch->point[i], patch->core[i], d);
    const double gap = sqrt(bramah__dot3(d, d));
    for (int k = 0; k < 3; k++) normal[k] = d[k] / gap;
  }
  direction_in(pose, base, normal, d);
  bramah__plane_axes(d, h.axes);
  place_in(pose, base, patch->turns == BRAMAH__NEAREST ? patch->core[i] : patch->origin, h.origin);
  place_in(pose, other, patch->point[i], h.point);
  if (patch->turns != BRAMAH__NEAREST) return h;
  const int is_along_x = fabs(d[0]) > 0.9; /* as for planes */
  for (int k = 0; k < 3; k++) h.axes[k] = k == is_along_x;
  direction_in(pose, other, patch->slide[i][0], h.axes + 3);
  direction_in(pose, base, patch->slide[i][1], h.axes + 6);
  return h;
}

static int stays(const bramah__held *a, const bramah__held *b)
{
  double most = fabs(a->share - b->share);
  for (int k = 0; k < 3; k++) {
    most = fmax(most, fabs(a->point[k] - b->point[k]));
    most = fmax(most, fabs(a->origin[k] - b->origin[k]));
  }
  for (int k = 0; k < 9; k++) most = fmax(most, fabs(a->axes[k] - b->axes[k]));
  return a->carrier == b->carrier && a->turns == b->turns && most <= rounding;
}

/* ---- bristles ---- */

/* Axes of a point in use, inertial [9]. */
static void axes_of(const bramah__pose *pose, const bramah__shape *const *of, const bramah__held *held,
                    double *axes)
{
  const int base = of[held->carrier - 1]->body;
  bramah__contact alone = {.body = of[2 - held->carrier]->body, .carrier = 1 + base};
  bramah__contact_frame at;
  if (held->turns != BRAMAH__NEAREST) {
    for (int k = 0; k < 3; k++) bramah__direction(pose, base, held->axes + 3 * k, axes + 3 * k);
    return;
  }
  bramah__copy3(held->point, alone.point);
  bramah__copy3(held->origin, alone.origin);
  memcpy(alone.axes, held->axes, sizeof alone.axes);
  bramah__nearest_place(&alone, pose, &at);
  memcpy(axes, at.own, sizeof at.own);
}

/* Bristles [2] of a point from the axes of one plane to those of another; they bend the other way where it is the other
 * body that carries it. */
static void turn_bristles(const bramah__pose *pose, const bramah__shape *const *of, const bramah__held *from,
                          const bramah__held *to, double *x)
{
  double bend[3] = {0.0, 0.0, 0.0}, axes[2][9];
  axes_of(pose, of, from, axes[0]);
  axes_of(pose, of, to, axes[1]);
  for (int a = 0; a < 2; a++) bramah__axpy3(x[a], axes[0] + 3 * a, bend);
  for (int a = 0; a < 2; a++)
    x[a] = (from->carrier == to->carrier ? 1.0 : -1.0) * bramah__dot3(axes[1] + 3 * a, bend);
}

/* The point in use that is nearest to this place and not taken yet; n if none is near. */
static size_t nearest_of(const bramah__pose *pose, const bramah__shape *const *of, const bramah__held *held,
                         size_t n, const unsigned char *taken, const double *place)
{
  double least = same_place * fmin(of[0]->reach, of[1]->reach);
  size_t best = n;
  for (size_t i = 0; i < n; i++) {
    double was[3];
    if (taken[i] || !in_use(&held[i])) continue;
    bramah__point(pose, of[2 - held[i].carrier]->body, held[i].point, was);
    bramah__axpy3(-1.0, place, was);
    const double far = sqrt(bramah__dot3(was, was));
    if (far < least) least = far, best = i;
  }
  return best;
}

static void let_go(const bramah__contact *point, double *x, bramah__met *met)
{
  for (size_t a = 0; a < point->n_states; a++) {
    met->resets += a == 0 && (x[point->first_state] != 0.0 || x[point->first_state + 1] != 0.0);
    x[point->first_state + a] = 0.0;
  }
}

/* Take the points of a patch, each in the place of the nearest one before it. Those on a face share its plane to the bit. */
static void take_patch(bramah_coupled *c, const bramah__meeting *m, const bramah__patch *patch,
                       bramah__held *held, double *x, bramah__met *met)
{
  const bramah__pose *pose = c->probe->pose;
  const bramah__shape *const of[2] = {&c->model->shape[m->shape[0]], &c->model->shape[m->shape[1]]};
  unsigned char taken[BRAMAH__MOST_TOUCHES] = {0};
  size_t slot[BRAMAH__MOST_TOUCHES];
  bramah__held was[BRAMAH__MOST_TOUCHES], now[BRAMAH__MOST_TOUCHES];
  int all_stay = 1;
  memcpy(was, held, m->n * sizeof *held);
  for (size_t i = 0; i < patch->n; i++) {
    now[i] = held_of(pose, of, patch, i);
    slot[i] = nearest_of(pose, of, was, m->n, taken, patch->point[i]);
    if (slot[i] < m->n) taken[slot[i]] = 1;
    all_stay &= slot[i] < m->n && stays(&was[slot[i]], &now[i]);
  }
  for (size_t i = 0; i < m->n; i++) {
    if (taken[i]) continue;
    all_stay &= !in_use(&held[i]);
    let_go(&c->model->contact_point[m->first + i], x, met);
    held[i] = (bramah__held){.carrier = 0};
  }
  met->near = (int64_t)patch->n;
  for (size_t i = 0; i < patch->n && !all_stay; i++) {
    const int is_new = slot[i] == m->n;
    for (size_t k = 0; is_new && k < m->n; k++)
      if (!taken[k]) slot[i] = k, k = m->n;
    bramah__held *to = &held[slot[i]];
    const bramah__contact *point = &c->model->contact_point[m->first + slot[i]];
    taken[slot[i]] = 1;
    if (!is_new && point->n_states) turn_bristles(pose, of, to, &now[i], x + point->first_state);
    *to = now[i];
  }
}

/* ---- which come near ---- */

/* A ball around a shape, as far as it comes in two steps, and a little. */
static bramah__around around(const bramah_coupled *c, const bramah__shape *shape)
{
  bramah__around ball = {.radius = (1.0 + near) * shape->reach};
  double v[3];
  bramah__point(c->probe->pose, shape->body, shape->middle, ball.middle);
  if (shape->body < 0) return ball;
  const double *w = c->probe->Z + 6 * shape->body + 3;
  bramah__point_velocity(c->probe->Z, shape->body, ball.middle, v);
  ball.radius += 2.0 * c->model->h * (sqrt(bramah__dot3(v, v)) + shape->reach * sqrt(bramah__dot3(w, w)));
  return ball;
}

typedef struct search {
  bramah_coupled *c;
  bramah__state *state;
} search;

static void meet(bramah_coupled *c, bramah__state *state, size_t k)
{
  const bramah__meeting *m = &c->model->meeting[k];
  const bramah__shape *const of[2] = {&c->model->shape[m->shape[0]], &c->model->shape[m->shape[1]]};
  bramah__held *held = state->held + m->held;
  bramah__patch patch = {.n = 0};
  int owner = -1;
  for (size_t i = 0; i < m->n; i++)
    if (in_use(&held[i])) owner = (int)held[i].carrier - 1;
  bramah__shapes_touch(of[0], of[1], c->probe->pose, owner, margin_of(c, of), &patch);
  if (patch.n > m->n) patch.n = m->n;
  c->is_near[k] = patch.n > 0;
  if (patch.n) take_patch(c, m, &patch, held, state->x, &state->met[k]);
}

/* The meetings of shapes i < j, of which each contact may have one. */
static void meet_pair(void *self, size_t i, size_t j)
{
  const search *s = self;
  const bramah__meeting *meeting = s->c->model->meeting;
  size_t low = 0, high = s->c->model->n_meetings;
  while (low < high) {
    const size_t middle = (low + high) / 2, *shape = meeting[middle].shape;
    const size_t one = shape[shape[0] > shape[1]], other = shape[shape[0] <= shape[1]];
    if (one < i || (one == i && other < j))
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < s->c->model->n_meetings; low++) {
    const size_t *shape = meeting[low].shape;
    if (shape[shape[0] > shape[1]] != i || shape[shape[0] <= shape[1]] != j) return;
    meet(s->c, s->state, low);
  }
}

static void find(bramah_coupled *c, bramah__state *state)
{
  const bramah_model *model = c->model;
  search s = {c, state};
  bramah__tree_pose(&model->tree, state->base, state->z, c->probe->pose);
  bramah__tree_velocity(&model->tree, c->probe->pose, state->zd, c->probe->Z);
  memset(c->is_near, 0, model->n_meetings);
  for (size_t i = 0; i < model->n_shapes; i++) c->around[i] = around(c, &model->shape[i]);
  for (size_t i = 0; i < model->n_shapes && c->around_order[0] == c->around_order[model->n_shapes - 1]; i++)
    c->around_order[i] = (int)i; /* the first time */
  bramah__near_pairs(model->n_shapes, c->around, c->around_order, meet_pair, &s);
  for (size_t k = 0; k < model->n_meetings; k++) {
    const bramah__patch none = {.n = 0};
    if (!c->is_near[k] && state->met[k].near)
      take_patch(c, &model->meeting[k], &none, state->held + model->meeting[k].held, state->x,
                 &state->met[k]);
  }
}

void bramah__meet(bramah_coupled *c, bramah__state *state)
{
  if (!c->base) return; /* the machine is being put together, and its model holds the law alone */
  find(c, state);
  bramah__apply_meetings(c, state->held);
}

void bramah__meet_at_start(bramah_coupled *c, int on)
{
  const bramah_model *model = c->model;
  if (on) find(c, &c->state);
  for (size_t k = 0; k < model->n_held && !on; k++) c->state.held[k] = (bramah__held){.carrier = 0};
  for (size_t k = 0; k < model->n_meetings && !on; k++) c->state.met[k] = (bramah__met){.near = 0};
  show_all(c, c->state.held);
}

/* ---- events and outputs ---- */

static double height_of(const bramah_model *model, const bramah__eval *at, size_t point)
{
  bramah__contact_frame touch;
  bramah__contact_frame_of(&model->contact_point[point], NULL, at->pose, at->Z, &touch);
  return touch.height;
}

void bramah__note_meetings(bramah_coupled *c)
{
  const bramah_model *model = c->model;
  bramah__tree_pose(&model->tree, c->next.base, c->next.z, c->probe->pose);
  bramah__tree_velocity(&model->tree, c->probe->pose, c->next.zd, c->probe->Z);
  for (size_t k = 0; k < model->n_meetings; k++) {
    const bramah__meeting *m = &model->meeting[k];
    bramah__met *met = &c->next.met[k];
    int touching = 0;
    for (size_t i = 0; met->near && i < m->n && !touching; i++)
      touching = in_use(&c->next.held[m->held + i]) && height_of(model, c->probe, m->first + i) < 0.0;
    if (touching != met->touching) {
      *(touching ? &met->touches : &met->leaves) += 1;
      *(touching ? &met->touched_ns : &met->left_ns) = 1 + *c->next.time_ns;
    }
    met->touching = touching;
  }
}

const char *bramah__turning_contact(const bramah_coupled *c)
{
  const bramah_model *model = c->model;
  for (size_t k = 0; k < model->n_meetings; k++) {
    const bramah__meeting *m = &model->meeting[k];
    for (size_t i = 0; i < m->n; i++)
      if (in_use(&c->state.held[m->held + i]) && c->state.held[m->held + i].turns == BRAMAH__ACROSS &&
          height_of(model, c->now, m->first + i) < 0.0)
        return model->contact_name[m->contact];
  }
  return NULL;
}

static double force_on_first(const bramah_coupled *c, const bramah__meeting *m, int axis)
{
  double sum = 0.0;
  for (size_t i = 0; i < m->n; i++)
    sum += (c->state.held[m->held + i].carrier == 2 ? 1.0 : -1.0) *
           c->now->contact[3 * (m->first + i) + (size_t)axis];
  return sum;
}

double bramah__meeting_value(const bramah_coupled *c, const bramah__output *output)
{
  const bramah_model *model = c->model;
  double sum = 0.0, last = (double)NAN;
  for (size_t k = 0; k < model->n_meetings; k++) {
    const bramah__meeting *m = &model->meeting[k];
    const bramah__met *met = &c->state.met[k];
    if (m->contact != output->index) continue;
    const int64_t when = output->code == BRAMAH__BETWEEN_TOUCHED ? met->touched_ns : met->left_ns;
    if (when) last = fmax(last, (double)(when - 1) * 1e-9);
    switch (output->code) {
    case BRAMAH__BETWEEN_X:
    case BRAMAH__BETWEEN_Y:
    case BRAMAH__BETWEEN_Z:
      sum += force_on_first(c, m, (int)output->code - BRAMAH__BETWEEN_X);
      break;
    case BRAMAH__BETWEEN_POINTS:
      for (size_t i = 0; i < m->n; i++)
        sum += in_use(&c->state.held[m->held + i]) && height_of(model, c->now, m->first + i) < 0.0;
      break;
    case BRAMAH__BETWEEN_TOUCHES:
      sum += (double)met->touches;
      break;
    case BRAMAH__BETWEEN_LEAVES:
      sum += (double)met->leaves;
      break;
    case BRAMAH__BETWEEN_RESETS:
      sum += (double)met->resets;
      break;
    default:
      break;
    }
  }
  return output->code >= BRAMAH__BETWEEN_TOUCHED ? last : sum;
}
