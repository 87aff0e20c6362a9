/* SPDX-License-Identifier: MIT */
/* Tools: edges that cut the field by the fundamental equation of earth-moving, points that press on it.
 *
 * In front of each part of an edge soil lies above a plane that rises from it by the angle of McKyes' wedge, and above the blade behind it:
 *
 *         \          ___---  field             The weight between, and what lies on it, ask a force of the blade, which
 *    blade \ ___-----    _-                    grows with the advance of the edge. When it is all there, the wedge
 *           \         _-                       fails: its soil becomes particles, which the plates push on from then on,
 *            \     _-  plane of sliding        and the force falls to nothing.
 *             \_ -                                                                                                */
#include "lib/terrain/touch.h"
#include "lib/math/elementary.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* Place [3] and velocity [3] of a point of a tool; v NULL: not wanted. */
static void point_of(const bramah_tool_motion *m, const double *at, double *x, double *v)
{
  double arm[3];
  bramah__rotate3(m->rotation, at, arm);
  bramah__copy3(m->position, x);
  bramah__axpy3(1.0, arm, x);
  if (!v) return;
  bramah__copy3(m->velocity, v);
  bramah__add_cross3(m->rate, arm, v);
}

/* ---- the wedge ---- */

/* Soil before a part of an edge. */
typedef struct wedge {
  double tip[3], ahead[2]; /* of the part; the direction the edge cuts in */
  double width, back;      /* [m]; soil lies on the blade so far behind the tip */
  double tan_plane, tan_blade;
  int leans_forward; /* 1: the blade is over the soil, which it parts from what is behind */
} wedge;

/* Its area before the tip and on the blade [m^2], weight on its surface over its width [N/m], depth and length [m]. */
typedef struct wedge_size {
  double area, surcharge, depth, length;
} wedge_size;

static void take_off(bramah_terrain *t, size_t column, double height)
{
  if (column == t->n_cells || height == 0.0) return;
  t->h[column] -= height;
  bramah__field_touch(t, column);
}

/* Measure a wedge; with part > 0 take this part of it off the field. Columns are sampled four times a cell; the wedge ends where
 * the plane has been above the field for more than a cell. */
static wedge_size visit_wedge(bramah_terrain *t, const wedge *w, double part)
{
  const double cell = t->options.cell, step = 0.25 * cell, area = cell * cell;
  const size_t most = 8 * (t->options.nx + t->options.ny);
  wedge_size size = {0};
  double s = -w->back + 0.5 * step, taken = 0.0; /* height, of the column that the samples are in */
  size_t column = t->n_cells;
  for (size_t k = 0, above = 0; k < most && above < 6; k++, s += step) {
    const size_t c = bramah__field_cell(t, w->tip[0] + s * w->ahead[0], w->tip[1] + s * w->ahead[1]);
    const double floor_height = w->tip[2] + (s < 0.0 ? -s * w->tan_blade : s * w->tan_plane);
    const double blade = w->tip[2] + s * w->tan_blade;
    const double top = w->leans_forward && t->h[c] > blade ? blade : t->h[c], high = top - floor_height;
    if (s > 0.0) above = high > 0.0 ? 0 : above + 1;
    if (part > 0.0 && c != column) {
      take_off(t, column, taken);
      column = c;
      taken = 0.0;
    }
    if (!(high > 0.0)) continue;
    size.area += high * step;
    size.surcharge += t->weight[c] / area * step;
    if (t->h[c] - w->tip[2] > size.depth) size.depth = t->h[c] - w->tip[2];
    if (s > size.length) size.length = s;
    taken += part * high * step * w->width / area;
  }
  take_off(t, column, taken);
  return size;
}

/* The lowest free place for a particle above (x, y), from z on. */
static double free_height(const bramah_terrain *t, double x, double y, double z)
{
  const double reach = 4.0 * t->options.radius * t->options.radius;
  int is_free;
  do {
    is_free = 1;
    for (size_t p = 0; p < t->now->n_particles; p++) {
      const double *at = t->body[p].x, dx = at[0] - x, dy = at[1] - y, flat = dx * dx + dy * dy;
      if (flat >= reach) continue;
      const double half = sqrt(reach - flat);
      if (fabs(at[2] - z) >= half * (1.0 - 1e-9)) continue;
      z = at[2] + half;
      is_free = 0;
    }
  } while (!is_free);
  return z;
}

/* Particles for the soil of a wedge, in rows before the edge, each at the lowest free place. */
static void release(bramah_terrain *t, const bramah__tool *tool, const bramah__placed *placed, const wedge *w,
                    double length, double along, size_t n)
{
  const double r = t->options.radius, end = r / (w->width * (double)tool->n_edge);
  const double at = end >= 0.5 ? 0.5 : along < end ? end : along > 1.0 - end ? 1.0 - end : along;
  const size_t rows = length > 4.0 * r ? (size_t)(length / (2.0 * r)) : 1;
  double start[3], x[3], v[3] = {0.0};
  for (int k = 0; k < 3; k++) start[k] = tool->edge[0][k] + at * (tool->edge[1][k] - tool->edge[0][k]);
  point_of(&placed->motion, start, x, NULL);
  for (size_t k = 0; k < n; k++) {
    const double s = r * (double)(1 + 2 * (k % rows));
    double place[3] = {x[0] + s * w->ahead[0], x[1] + s * w->ahead[1]};
    const double ground = bramah_terrain_height(t, place[0], place[1], NULL);
    place[2] = free_height(t, place[0], place[1], (ground > x[2] ? ground : x[2]) + r);
    bramah_terrain_add_particle(t, place, v, NULL);
    t->now->added--; /* it was field */
  }
}

/* The wedge fails unless there is less of it than a particle, or no room for these: 1, it has. */
static int fail_wedge(bramah_terrain *t, const bramah__tool *tool, const bramah__placed *placed,
                      const wedge *w, const wedge_size *size, double along)
{
  const double volume = size->area * w->width;
  const size_t room = t->options.max_particles - t->now->n_particles;
  const size_t wanted = volume / t->volume < 1e6 ? (size_t)(volume / t->volume) : 1000000;
  const size_t n = wanted < room ? wanted : room;
  if (n < wanted) t->now->starved++;
  if (n == 0) return 0;
  visit_wedge(t, w, (double)n * t->volume / volume);
  release(t, tool, placed, w, size->length, along, n);
  t->now->failures++;
  return 1;
}

/* ---- edges ---- */

/* What all parts of an edge share. Rakes at which no wedge rises count as the nearest one that has one, 10 degrees off. */
static int begin_edge(const bramah_terrain *t, const bramah__tool *tool, const bramah__placed *placed,
                      wedge *w, bramah_cut_force *unit, double *rake)
{
  static const double least = 10.0 * 3.14159265358979323846 / 180.0;
  const bramah_soil *soil = &t->options.soil;
  double left[3], right[3], blade[3];
  point_of(&placed->motion, tool->edge[0], left, NULL);
  point_of(&placed->motion, tool->edge[1], right, NULL);
  bramah__rotate3(placed->motion.rotation, tool->blade, blade);
  const double across[2] = {left[0] - right[0], left[1] - right[1]};
  const double flat = sqrt(across[0] * across[0] + across[1] * across[1]);
  if (!(flat > 1e-9)) return 0; /* it is upright */
  w->ahead[0] = across[1] / flat;
  w->ahead[1] = -across[0] / flat;
  const double back = -(blade[0] * w->ahead[0] + blade[1] * w->ahead[1]);
  const double most = pi - soil->friction - soil->tool_friction - least;
  *rake = bramah__atan2(blade[2], back);
  if (!(*rake > least)) *rake = *rake < -0.5 * pi ? most : least;
  if (*rake > most) *rake = most;
  const bramah_cut one = {.depth = 1.0, .width = 1.0, .rake = *rake};
  if (bramah_soil_cut(soil, t->options.gravity, &one, NULL, unit)) return 0;
  double s, c;
  bramah__sincos(unit->wedge, &s, &c);
  w->tan_plane = s / c;
  bramah__sincos(*rake, &s, &c);
  w->leans_forward = c < 0.0;
  w->tan_blade = fabs(c) < 1e-9 ? 1e9 : fabs(s / c);
  w->back = back > 0.0 && !w->leans_forward ? back : 0.0;
  double length[3];
  bramah__sub3(left, right, length);
  w->width = sqrt(bramah__dot3(length, length)) / (double)tool->n_edge;
  return 1;
}

static void cut(bramah_terrain *t, const bramah__tool *tool, bramah__placed *placed, double step)
{
  const bramah_soil *soil = &t->options.soil;
  wedge w;
  bramah_cut_force unit;
  double rake, sine, cosine, sin_rake, cos_rake;
  if (!begin_edge(t, tool, placed, &w, &unit, &rake)) return;
  bramah__sincos(rake + soil->tool_friction, &sine, &cosine);
  bramah__sincos(rake, &sin_rake, &cos_rake);
  const double per_weight = unit.n_surcharge / (cos_rake / sin_rake + 1.0 / w.tan_plane);
  for (size_t k = 0; k < tool->n_edge; k++) {
    const double along = ((double)k + 0.5) / (double)tool->n_edge;
    double *advance = &t->advance[tool->first_edge + k], at[3], v[3];
    for (int i = 0; i < 3; i++) at[i] = tool->edge[0][i] + along * (tool->edge[1][i] - tool->edge[0][i]);
    point_of(&placed->motion, at, w.tip, v);
    const wedge_size size = visit_wedge(t, &w, 0.0);
    *advance += step * (v[0] * w.ahead[0] + v[1] * w.ahead[1]);
    if (!(size.area > 0.0) || *advance < 0.0) *advance = 0.0;
    const double shear = t->options.shear, part = *advance < shear ? *advance / shear : 1.0;
    const double stuck = soil->adhesion * size.depth;
    const double force = (soil->density * t->options.gravity * size.area + size.surcharge) * per_weight +
                         (soil->cohesion * unit.n_cohesion + soil->adhesion * unit.n_adhesion) * size.depth;
    const double horizontal = -part * w.width * (force * sine + stuck * cos_rake / sin_rake);
    const double f[3] = {horizontal * w.ahead[0], horizontal * w.ahead[1],
                         -part * w.width * (force * cosine - stuck)};
    bramah__tool_put(placed, w.tip, f, 1.0);
    bramah__axpy3(1.0, f, placed->load.cutting);
    if (*advance < shear) continue;
    *advance = fail_wedge(t, tool, placed, &w, &size, along) ? 0.0 : shear;
  }
}

/* ---- points ---- */

static void press_points(bramah_terrain *t, const bramah__tool *tool, bramah__placed *placed, double step)
{
  bramah__touch law = t->on_steel;
  law.stiffness = tool->stiffness;
  law.mass = 1e300; /* that of the machine is not known here */
  for (size_t k = tool->first_point; k < tool->first_point + tool->n_points; k++) {
    double x[3], v[3], n[3], f[3], *z = &t->point_bristles[3 * k];
    point_of(&placed->motion, &t->point[3 * k], x, v);
    const double depth = bramah_terrain_height(t, x[0], x[1], n) - x[2];
    if (!(depth > 0.0)) {
      z[0] = z[1] = z[2] = 0.0;
      continue;
    }
    bramah__touch_force(&law, step, depth * n[2], n, v, z, f);
    bramah__tool_put(placed, x, f, 1.0);
    if (f[2] > 0.0) bramah_terrain_press(t, x[0], x[1], f[2]);
  }
}

void bramah__tools_cut(bramah_terrain *t, double step)
{
  for (size_t i = 0; i < t->options.n_tools; i++) {
    bramah__placed *placed = &t->placed[i];
    placed->load = (bramah_tool_load){{0.0}, {0.0}, {0.0}, 0.0};
    if (!placed->is_there) continue;
    if (t->tool[i].has_edge) cut(t, &t->tool[i], placed, step);
    press_points(t, &t->tool[i], placed, step);
  }
}
