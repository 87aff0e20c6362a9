/* SPDX-License-Identifier: MIT */
/* Plates of tools, which hold particles. */
#include "lib/terrain/touch.h"

#include <math.h>

void bramah__tool_put(bramah__placed *placed, const double *x, const double *f, double part)
{
  double arm[3], moment[3];
  bramah__sub3(x, placed->motion.position, arm);
  bramah__cross3(arm, f, moment);
  bramah__axpy3(part, f, placed->load.force);
  bramah__axpy3(part, moment, placed->load.torque);
}

/* The point q of a plate that is nearest to x, both in the tool's frame. */
static void nearest_point(const bramah__plate *plate, const double *x, double *q)
{
  const bramah_plate *p = &plate->corners;
  double best = INFINITY, arm[3], foot[3];
  int inside = 1;
  bramah__copy3(p->corner[0], q);
  bramah__sub3(x, p->corner[0], arm);
  bramah__copy3(x, foot);
  bramah__axpy3(-bramah__dot3(arm, plate->normal), plate->normal, foot);
  for (size_t k = 0; k < p->n_corners; k++) {
    const double *a = p->corner[k], *b = p->corner[k + 1 < p->n_corners ? k + 1 : 0];
    double edge[3], side[3], between[3], point[3];
    bramah__sub3(b, a, edge);
    bramah__sub3(foot, a, arm);
    bramah__cross3(edge, arm, side);
    inside &= bramah__dot3(side, plate->normal) >= 0.0;
    const double s = bramah__dot3(arm, edge) / bramah__dot3(edge, edge);
    bramah__copy3(a, point);
    bramah__axpy3(s < 0.0 ? 0.0 : s > 1.0 ? 1.0 : s, edge, point);
    bramah__sub3(foot, point, between);
    const double square = bramah__dot3(between, between);
    if (square >= best) continue;
    best = square;
    bramah__copy3(point, q);
  }
  if (inside) bramah__copy3(foot, q);
}

/* Place for the bristles of a particle on a plate; NULL: it touches more plates than it can remember. */
static double *bristles_on(bramah__grip *g, uint32_t id)
{
  for (int k = 0; k < BRAMAH__PLATES_TOUCHED; k++)
    if (g->plate_id[k] == id) return g->plate[k];
  for (int k = 0; k < BRAMAH__PLATES_TOUCHED; k++)
    if (g->plate_id[k] == 0) {
      g->plate_id[k] = id;
      return g->plate[k];
    }
  return NULL;
}

/* Forget the plates of a tool that are not in `touched`, a bit each. */
static void let_plates_go(bramah__grip *g, const bramah__tool *tool, uint64_t touched)
{
  if ((g->plate_id[0] | g->plate_id[1] | g->plate_id[2]) == 0) return;
  for (int k = 0; k < BRAMAH__PLATES_TOUCHED; k++) {
    const size_t plate = (size_t)g->plate_id[k] - 1 - tool->first_plate;
    if (g->plate_id[k] == 0 || plate >= tool->n_plates || touched >> plate & 1) continue;
    g->plate_id[k] = 0;
    g->plate[k][0] = g->plate[k][1] = g->plate[k][2] = 0.0;
  }
}

static int is_within(const double *x, const double *lowest, const double *highest, double by)
{
  int within = 1;
  for (int k = 0; k < 3; k++) within &= x[k] > lowest[k] - by && x[k] < highest[k] + by;
  return within;
}

/* A particle at `local` in the frame of a tool against its plates. */
static void hold_particle(bramah_terrain *t, const bramah__tool *tool, bramah__placed *placed, size_t p,
                          const double *local, double dt, double part)
{
  const bramah_tool_motion *m = &placed->motion;
  const double r = t->options.radius;
  bramah__grip *g = &t->grip[p];
  uint64_t touched = 0;
  double met[3] = {INFINITY, INFINITY, INFINITY}; /* the last point: plates share edges, which count once */
  for (size_t k = 0; k < tool->n_plates; k++) {
    const bramah__plate *plate = &t->plate[tool->first_plate + k];
    double q[3], between[3], n[3], arm[3], v[3], f[3], none[3] = {0.0};
    if (!is_within(local, plate->lowest, plate->highest, r)) continue;
    nearest_point(plate, local, q);
    bramah__sub3(local, q, between);
    const double square = bramah__dot3(between, between);
    if (square >= r * r || square < 1e-24) continue;
    if (fabs(q[0] - met[0]) + fabs(q[1] - met[1]) + fabs(q[2] - met[2]) < 1e-6 * r) continue;
    bramah__copy3(q, met);
    const double distance = sqrt(square);
    bramah__rotate3(m->rotation, between, n);
    for (int i = 0; i < 3; i++) n[i] /= distance;
    bramah__rotate3(m->rotation, q, arm);
    bramah__sub3(t->body[p].v, m->velocity, v);
    double turn[3], moment[3];
    bramah__cross3(m->rate, arm, turn);
    bramah__axpy3(-1.0, turn, v);
    bramah__cross3(t->body[p].rate, n, moment);
    bramah__axpy3(-r, moment, v);
    double *z = bristles_on(g, (uint32_t)(tool->first_plate + k + 1));
    bramah__touch_force(&t->on_steel, dt, r - distance, n, v, z ? z : none, f);
    bramah__axpy3(1.0, f, t->body[p].f);
    bramah__cross3(n, f, moment);
    bramah__axpy3(-r, moment, t->body[p].torque);
    double x[3];
    for (int i = 0; i < 3; i++) {
      x[i] = arm[i] + m->position[i]; /* as at the beginning of the step, where loads are asked for */
      f[i] = -f[i];
    }
    bramah__tool_put(placed, x, f, part);
    touched |= (uint64_t)1 << k;
  }
  g->touches_plate |= touched != 0;
  let_plates_go(g, tool, touched);
}

void bramah__tool_hold(bramah_terrain *t, size_t tool, double time, double dt, double part)
{
  const bramah__tool *of = &t->tool[tool];
  bramah__placed *placed = &t->placed[tool];
  double at[3];
  if (of->n_plates == 0) return;
  bramah__copy3(placed->motion.position, at);
  bramah__axpy3(time, placed->motion.velocity, at);
  for (size_t p = 0; p < t->now->n_particles; p++) {
    double arm[3], local[3];
    bramah__sub3(t->body[p].x, at, arm);
    bramah__unrotate3(placed->motion.rotation, arm, local);
    if (placed->is_there && is_within(local, of->lowest, of->highest, t->options.radius))
      hold_particle(t, of, placed, p, local, dt, part);
    else
      let_plates_go(&t->grip[p], of, 0);
  }
}

/* Of all particles that its plates may touch: one that lies on an edge weighs on it. */
double bramah__tool_carries(const bramah_terrain *t, size_t tool)
{
  const bramah__tool *of = &t->tool[tool];
  const bramah_tool_motion *m = &t->placed[tool].motion;
  double mass = 0.0;
  for (size_t p = 0; p < t->now->n_particles; p++) {
    double arm[3], local[3];
    bramah__sub3(t->body[p].x, m->position, arm);
    bramah__unrotate3(m->rotation, arm, local);
    if (is_within(local, of->lowest, of->highest, t->options.radius)) mass += t->mass;
  }
  return mass;
}
