/* SPDX-License-Identifier: MIT */
/* Spheres: neighbours from cubes of space, contacts, motion, and back into the field. The list of neighbours reaches a margin
 * beyond touch and is kept while no sphere has moved by half of it against their mean, so that a load that is carried
 * keeps it. */
#include "lib/terrain/touch.h"
#include "lib/base/diag.h"

#include <math.h>
#include <string.h>

static const double margin = 0.5;  /* of a radius, between neighbours and touch */
static const double lifting = 0.1; /* [m/s] by which a field that rose lifts what it sank */

/* ---- contacts ---- */

static void let_go(double *z)
{
  for (int k = 0; k < 3; k++) z[k] = 0.0;
}

/* A moment against turning, as large as rolling friction where it turns quickly. */
static void resist_rolling(const bramah_terrain *t, double normal, const double *rate, double *torque)
{
  static const double slow = 0.1; /* [rad/s] */
  const double speed = sqrt(bramah__dot3(rate, rate));
  bramah__axpy3(-t->options.rolling * t->options.radius * normal / (speed + slow), rate, torque);
}

/* One pair: the force on i, the opposite on j. */
BRAMAH__IN_CALLER void touch_pair(const bramah_terrain *t, double dt, int rotates, bramah__pair *pair)
{
  const double reach = 2.0 * t->options.radius;
  bramah__body *a = &t->body[pair->i], *b = &t->body[pair->j];
  double n[3], v[3], f[3];
  bramah__sub3(a->x, b->x, n);
  const double square = bramah__dot3(n, n);
  if (square >= reach * reach) {
    let_go(pair->z);
    return;
  }
  const double distance = sqrt(square), scale = 1.0 / (distance + 1e-300);
  for (int k = 0; k < 3; k++) n[k] *= scale;
  bramah__sub3(a->v, b->v, v);
  if (rotates) {
    const double turn[3] = {a->rate[0] + b->rate[0], a->rate[1] + b->rate[1], a->rate[2] + b->rate[2]};
    double round[3];
    bramah__cross3(turn, n, round);
    bramah__axpy3(-0.5 * distance, round, v);
  }
  const double normal = bramah__touch_force(&t->on_each_other, dt, reach - distance, n, v, pair->z, f);
  for (int k = 0; k < 3; k++) {
    a->f[k] += f[k];
    b->f[k] -= f[k];
  }
  if (!rotates) return;
  double moment[3];
  bramah__cross3(n, f, moment);
  bramah__axpy3(-0.5 * distance, moment, a->torque);
  bramah__axpy3(-0.5 * distance, moment, b->torque);
  double rate[3], resistance[3] = {0.0};
  bramah__sub3(a->rate, b->rate, rate);
  resist_rolling(t, normal, rate, resistance);
  bramah__axpy3(1.0, resistance, a->torque);
  bramah__axpy3(-1.0, resistance, b->torque);
}

BRAMAH__FOR_PROCESSORS static void touch_pairs(const bramah_terrain *t, double dt)
{
  bramah__pair *pair = t->pair, *end = pair + t->now->n_pairs;
  if (t->options.rotates)
    for (; pair < end; pair++) touch_pair(t, dt, 1, pair);
  else
    for (; pair < end; pair++) touch_pair(t, dt, 0, pair);
}

/* Particles on the field. Where it has risen around one, it sinks in by that much and is lifted slowly. */
static void touch_field(bramah_terrain *t, double dt, int is_last)
{
  const double r = t->options.radius;
  for (size_t p = 0; p < t->now->n_particles; p++) {
    bramah__body *a = &t->body[p];
    bramah__grip *g = &t->grip[p];
    double n[3], v[3], f[3], moment[3];
    const double h = bramah_terrain_height(t, a->x[0], a->x[1], NULL);
    g->touches_field = 0;
    g->is_near_field = a->x[2] - h < 3.0 * r;
    if (g->is_near_field) { /* beyond it no slope of less than 70 degrees touches */
      bramah_terrain_height(t, a->x[0], a->x[1], n);
      const double depth = r - (a->x[2] - h) * n[2];
      g->sunk -= lifting * dt;
      if (g->sunk > depth) g->sunk = depth;
      if (g->sunk < 0.0) g->sunk = 0.0;
      const double d = depth - g->sunk < r ? depth - g->sunk : r;
      g->touches_field = depth > 0.0;
      if (d > 0.0) {
        bramah__copy3(a->v, v);
        bramah__cross3(a->rate, n, moment);
        bramah__axpy3(-r, moment, v);
        const double normal = bramah__touch_force(&t->on_field, dt, d, n, v, g->field, f);
        bramah__axpy3(1.0, f, a->f);
        if (t->options.rotates) {
          bramah__cross3(n, f, moment);
          bramah__axpy3(-r, moment, a->torque);
          resist_rolling(t, normal, a->rate, a->torque);
        }
        if (is_last)
          bramah__sparse_add(t->weight, t->weighted, &t->now->n_weighted,
                             bramah__field_cell(t, a->x[0], a->x[1]), normal * n[2]);
      }
    }
    if (!g->touches_field) let_go(g->field);
  }
}

/* ---- neighbours ---- */

/* Cubes of space into which all particles are put, by a hash of where they are. */
static size_t bucket_of(const bramah_terrain *t, const int32_t *place)
{
  const uint32_t hash =
      (uint32_t)place[0] * 73856093u ^ (uint32_t)place[1] * 19349663u ^ (uint32_t)place[2] * 83492791u;
  return hash & (t->n_buckets - 1);
}

static void fill_buckets(bramah_terrain *t, double side)
{
  memset(t->bucket, 0, t->n_buckets * sizeof t->bucket[0]);
  for (size_t p = t->now->n_particles; p-- > 0;) {
    int32_t *place = &t->place[3 * p];
    for (int k = 0; k < 3; k++) place[k] = (int32_t)floor(t->body[p].x[k] / side);
    const size_t b = bucket_of(t, place);
    t->next[p] = t->bucket[b];
    t->bucket[b] = (uint32_t)p + 1;
  }
}

/* Old pairs that touch, as a list by their first particle. */
static void keep_old_pairs(bramah_terrain *t)
{
  memset(t->first_pair, 0, t->options.max_particles * sizeof t->first_pair[0]);
  memcpy(t->old_pair, t->pair, t->now->n_pairs * sizeof t->pair[0]);
  for (size_t k = 0; k < t->now->n_pairs; k++) {
    const bramah__pair *old = &t->old_pair[k];
    if (old->z[0] == 0.0 && old->z[1] == 0.0 && old->z[2] == 0.0) continue;
    t->next_pair[k] = t->first_pair[old->i];
    t->first_pair[old->i] = (uint32_t)k + 1;
  }
}

static int add_pair(bramah_terrain *t, size_t p, size_t q)
{
  if (t->now->n_pairs == BRAMAH__PAIRS_EACH * t->options.max_particles) return 0;
  bramah__pair *pair = &t->pair[t->now->n_pairs++];
  *pair = (bramah__pair){(uint32_t)(p < q ? p : q), (uint32_t)(p < q ? q : p), {0.0}};
  for (uint32_t k = t->first_pair[pair->i]; k; k = t->next_pair[k - 1])
    if (t->old_pair[k - 1].j == pair->j) {
      bramah__copy3(t->old_pair[k - 1].z, pair->z);
      return 1;
    }
  return 1;
}

/* Pairs of p with those after it in its own cube, and with all in the cube that is `ahead` of it. */
static int find_in(bramah_terrain *t, size_t p, const int *ahead, double reach)
{
  const int32_t *at = &t->place[3 * p], there[3] = {at[0] + ahead[0], at[1] + ahead[1], at[2] + ahead[2]};
  const int same = ahead[0] == 0 && ahead[1] == 0 && ahead[2] == 0;
  for (uint32_t k = same ? t->next[p] : t->bucket[bucket_of(t, there)]; k; k = t->next[k - 1]) {
    const size_t q = k - 1;
    const int32_t *other = &t->place[3 * q];
    if (other[0] != there[0] || other[1] != there[1] || other[2] != there[2]) continue;
    double between[3];
    bramah__sub3(t->body[p].x, t->body[q].x, between);
    if (bramah__dot3(between, between) < reach * reach && !add_pair(t, p, q)) return 0;
  }
  return 1;
}

static bramah_status find_neighbours(bramah_terrain *t, bramah_diag *diag)
{
  static const int ahead[14][3] = {{0, 0, 0},  {1, -1, -1}, {1, -1, 0}, {1, -1, 1}, {1, 0, -1},
                                   {1, 0, 0},  {1, 0, 1},   {1, 1, -1}, {1, 1, 0},  {1, 1, 1},
                                   {0, 1, -1}, {0, 1, 0},   {0, 1, 1},  {0, 0, 1}};
  const double reach = (2.0 + margin) * t->options.radius;
  keep_old_pairs(t);
  fill_buckets(t, reach);
  t->now->n_pairs = 0;
  for (size_t p = 0; p < t->now->n_particles; p++) {
    bramah__copy3(t->body[p].x, &t->found_at[3 * p]);
    for (int k = 0; k < 14; k++)
      if (!find_in(t, p, ahead[k], reach))
        return bramah__fail(diag, BRAMAH_E_SINGULAR, "particles",
                            "they are pressed into each other beyond what their contacts are made for");
  }
  t->now->is_stale = 0;
  t->now->rebuilds++;
  return BRAMAH_OK;
}

/* Has one moved by half the margin, against the mean of all? */
static int neighbours_have_moved(const bramah_terrain *t)
{
  const size_t n = t->now->n_particles;
  const double most = 0.5 * margin * t->options.radius;
  double mean[3] = {0.0, 0.0, 0.0}, moved[3];
  for (size_t p = 0; p < n; p++)
    for (int k = 0; k < 3; k++) mean[k] += t->body[p].x[k] - t->found_at[3 * p + (size_t)k];
  for (int k = 0; k < 3; k++) mean[k] /= (double)n;
  for (size_t p = 0; p < n; p++) {
    for (int k = 0; k < 3; k++) moved[k] = t->body[p].x[k] - t->found_at[3 * p + (size_t)k] - mean[k];
    if (bramah__dot3(moved, moved) > most * most) return 1;
  }
  return 0;
}

/* ---- motion ---- */

static int is_near(const double *x) { return fabs(x[0]) + fabs(x[1]) + fabs(x[2]) < 1e5; }

bramah_status bramah_terrain_add_particle(bramah_terrain *t, const double position[3],
                                          const double velocity[3], bramah_diag *diag)
{
  if (t->now->n_particles == t->options.max_particles)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "particle", "there is room for no more");
  if (!is_near(position) || !is_near(velocity))
    return bramah__fail(diag, BRAMAH_E_NOT_FINITE, "particle", "its place and velocity must be finite");
  const size_t p = t->now->n_particles++;
  t->body[p] = (bramah__body){.x = {0.0}};
  t->grip[p] = (bramah__grip){.field = {0.0}};
  bramah__copy3(position, t->body[p].x);
  bramah__copy3(velocity, t->body[p].v);
  t->now->is_stale = 1;
  t->now->added++;
  return BRAMAH_OK;
}

/* How far a step may go: a twelfth of a period of two spheres that are pressed in by a tenth of their radius. */
static double longest_part(const bramah_terrain *t)
{
  const double stiffness = 1.5 * t->on_each_other.stiffness * sqrt(0.1 * t->options.radius);
  return 0.52 * sqrt(t->on_each_other.mass / stiffness);
}

/* Velocities by forces, then places by velocities; smooth walls at the border. */
static int go_on(bramah_terrain *t, double dt)
{
  const bramah_terrain_options *o = &t->options;
  const double size[2] = {(double)o->nx * o->cell, (double)o->ny * o->cell};
  int good = 1;
  for (size_t p = 0; p < t->now->n_particles; p++) {
    bramah__body *a = &t->body[p];
    bramah__axpy3(dt / t->mass, a->f, a->v);
    if (o->rotates) bramah__axpy3(dt / t->inertia, a->torque, a->rate);
    bramah__axpy3(dt, a->v, a->x);
    for (int k = 0; k < 2; k++) {
      const double least = o->origin[k], most = o->origin[k] + size[k];
      if (a->x[k] >= least && a->x[k] <= most) continue;
      a->x[k] = a->x[k] < least ? least : most;
      a->v[k] = 0.0;
    }
    good &= is_near(a->x);
  }
  return good;
}

/* The field may have risen since, by what slumped, was pressed or merged. */
static void sink_into_field(bramah_terrain *t)
{
  for (size_t p = 0; p < t->now->n_particles; p++) {
    bramah__grip *g = &t->grip[p];
    if (!g->is_near_field) continue;
    const double h = bramah_terrain_height(t, t->body[p].x[0], t->body[p].x[1], NULL);
    if (h > g->ground) g->sunk += h - g->ground;
  }
}

bramah_status bramah__particles_move(bramah_terrain *t, double step, bramah_diag *diag)
{
  const size_t n = t->now->n_particles;
  t->now->parts = 1;
  bramah__sparse_clear(t->weight, t->weighted, &t->now->n_weighted);
  if (n == 0) return BRAMAH_OK;
  const double parts = ceil(step / longest_part(t));
  if (!(parts <= 64.0))
    return bramah__fail(diag, BRAMAH_E_VALUE, "step", "it is too long for the contacts of the particles");
  const double dt = step / parts;
  t->now->parts = (uint32_t)parts;
  sink_into_field(t);
  for (uint32_t k = 0; k < t->now->parts; k++) {
    if (t->now->is_stale || neighbours_have_moved(t)) {
      const bramah_status status = find_neighbours(t, diag);
      if (status) return status;
    }
    for (size_t p = 0; p < n; p++) {
      bramah__body *a = &t->body[p];
      for (int i = 0; i < 3; i++) a->f[i] = a->torque[i] = 0.0;
      a->f[2] = -t->mass * t->options.gravity;
      t->grip[p].touches_plate = 0;
    }
    touch_pairs(t, dt);
    touch_field(t, dt, k + 1 == t->now->parts);
    for (size_t i = 0; i < t->options.n_tools; i++) bramah__tool_hold(t, i, (double)k * dt, dt, 1.0 / parts);
    if (!go_on(t, dt))
      return bramah__fail(diag, BRAMAH_E_NOT_FINITE, "particles", "one of them has left any bounds");
  }
  for (size_t p = 0; p < n; p++)
    if (t->grip[p].is_near_field)
      t->grip[p].ground = bramah_terrain_height(t, t->body[p].x[0], t->body[p].x[1], NULL);
  return BRAMAH_OK;
}

/* ---- back into the field ---- */

static int is_at_rest(bramah_terrain *t, size_t p)
{
  const bramah_terrain_options *o = &t->options;
  const bramah__body *a = &t->body[p];
  bramah__grip *g = &t->grip[p];
  const int calm = g->touches_field && !g->touches_plate &&
                   bramah__dot3(a->v, a->v) < o->rest_speed * o->rest_speed &&
                   bramah__dot3(a->rate, a->rate) < o->rest_rate * o->rest_rate;
  g->calm = calm ? g->calm + 1 : 0;
  return o->rest_steps > 0 && g->calm >= o->rest_steps;
}

void bramah__particles_merge(bramah_terrain *t)
{
  const uint32_t gone = UINT32_MAX;
  const size_t n = t->now->n_particles;
  size_t left = 0, n_pairs = 0;
  for (size_t p = 0; p < n; p++) {
    t->renamed[p] = is_at_rest(t, p) ? gone : (uint32_t)left++;
    if (t->renamed[p] == gone) bramah__field_add(t, t->body[p].x[0], t->body[p].x[1], t->volume);
  }
  if (left == n) return;
  for (size_t p = 0; p < n; p++) {
    const size_t to = t->renamed[p];
    if (to == gone || to == p) continue;
    t->body[to] = t->body[p];
    t->grip[to] = t->grip[p];
    bramah__copy3(&t->found_at[3 * p], &t->found_at[3 * to]);
  }
  for (size_t k = 0; k < t->now->n_pairs; k++) {
    bramah__pair *pair = &t->pair[k];
    const uint32_t i = t->renamed[pair->i], j = t->renamed[pair->j];
    if (i == gone || j == gone) continue;
    pair->i = i;
    pair->j = j;
    t->pair[n_pairs++] = *pair;
  }
  t->now->n_pairs = n_pairs;
  t->now->merged += n - left;
  t->now->n_particles = left;
}

/* ---- energy ---- */

/* 2/5 K d^2.5, and of bristles as they are now. */
static double stored(const bramah__touch *law, double d, const double *z)
{
  const double force = law->stiffness * d * sqrt(d);
  return 0.4 * force * d + 0.5 * law->bristles * force * bramah__dot3(z, z);
}

double bramah__particles_energy(const bramah_terrain *t)
{
  const double r = t->options.radius;
  double energy = 0.0;
  for (size_t p = 0; p < t->now->n_particles; p++) {
    const bramah__body *a = &t->body[p];
    double n[3];
    const double h = bramah_terrain_height(t, a->x[0], a->x[1], n), depth = r - (a->x[2] - h) * n[2];
    const double d = depth - t->grip[p].sunk;
    energy += 0.5 * t->mass * bramah__dot3(a->v, a->v) + 0.5 * t->inertia * bramah__dot3(a->rate, a->rate) +
              t->mass * t->options.gravity * a->x[2];
    if (d > 0.0) energy += stored(&t->on_field, d, t->grip[p].field);
  }
  for (size_t k = 0; k < t->now->n_pairs; k++) {
    double between[3];
    bramah__sub3(t->body[t->pair[k].i].x, t->body[t->pair[k].j].x, between);
    const double d = 2.0 * r - sqrt(bramah__dot3(between, between));
    if (d > 0.0) energy += stored(&t->on_each_other, d, t->pair[k].z);
  }
  return energy;
}
