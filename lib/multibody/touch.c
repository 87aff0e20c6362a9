/* SPDX-License-Identifier: MIT */
/* Where two shapes touch. Sources: test of separating axes and clipping as in shape.h; nearest points of two segments as in
 * C. Ericson, Real-Time Collision Detection (2005), 5.1.9. */
#include "lib/multibody/shape.h"
#include "lib/math/vector3.h"

#include <math.h>
#include <string.h>

/* The other axis must be better by this part of the gap and of the smaller shape, so that what rests keeps its own. */
static const double better = 0.05, size_part = 1e-4;
/* Cosine from which a direction counts as the normal of a face, and sine below which two capsules lie along each other. */
static const double along_normal = 0.999, parallel = 0.02;
/* Part of the smaller radius that cores must be apart for a normal between them. */
static const double least_gap = 1e-6;

/* A shape where it is. */
typedef struct placed {
  const bramah__shape *shape;
  double corner[BRAMAH__MOST_CORNERS][3];
  const double *A; /* of its body; NULL: the ground */
} placed;

static void place(const bramah__shape *shape, const bramah__pose *pose, placed *out)
{
  out->shape = shape;
  out->A = shape->body < 0 ? NULL : pose[shape->body].A;
  for (size_t i = 0; i < shape->n_corners; i++)
    bramah__point(pose, shape->body, shape->corner + 3 * i, out->corner[i]);
}

static void direct(const placed *p, const double *local, double *out)
{
  if (p->A)
    bramah__rotate3(p->A, local, out);
  else
    bramah__copy3(local, out);
}

static double distance(const double *a, const double *b)
{
  double d[3];
  bramah__sub3(a, b, d);
  return sqrt(bramah__dot3(d, d));
}

/* Least or greatest (sign -1, 1) of n . corner */
static double reach(const placed *p, const double *n, double sign)
{
  double most = -(double)INFINITY;
  for (size_t i = 0; i < p->shape->n_corners; i++) most = fmax(most, sign * bramah__dot3(n, p->corner[i]));
  return sign * most;
}

static double face_height(const placed *p, size_t face, const double *n)
{
  return bramah__dot3(n, p->corner[p->shape->of_face[p->shape->first[face]]]);
}

/* ---- separating axes ---- */

typedef struct axis {
  double gap, n[3];
  size_t face;  /* or direction of the first ... */
  size_t other; /* ... and of the second */
} axis;

/* Face of p above which q stays highest. */
static axis best_face(const placed *p, const placed *q)
{
  axis best = {.gap = -(double)INFINITY};
  for (size_t f = 0; f < p->shape->n_faces; f++) {
    double n[3];
    direct(p, p->shape->normal + 3 * f, n);
    const double gap = reach(q, n, -1.0) - face_height(p, f, n);
    if (gap <= best.gap) continue;
    best = (axis){.gap = gap, .face = f};
    bramah__copy3(n, best.n);
  }
  return best;
}

/* Across an edge of each; the normal points from a to b. */
static axis best_edges(const placed *a, const placed *b)
{
  axis best = {.gap = -(double)INFINITY};
  for (size_t i = 0; i < a->shape->n_directions; i++)
    for (size_t j = 0; j < b->shape->n_directions; j++) {
      double u[3], v[3], n[3];
      direct(a, a->shape->direction + 3 * i, u);
      direct(b, b->shape->direction + 3 * j, v);
      bramah__cross3(u, v, n);
      const double length = sqrt(bramah__dot3(n, n));
      if (length < 1e-9) continue;
      for (int sign = 1; sign >= -1; sign -= 2) {
        double m[3];
        for (int k = 0; k < 3; k++) m[k] = sign * n[k] / length;
        const double gap = reach(b, m, -1.0) - reach(a, m, 1.0);
        if (gap <= best.gap) continue;
        best = (axis){.gap = gap, .face = i, .other = j};
        bramah__copy3(m, best.n);
      }
    }
  return best;
}

double bramah__shapes_gap(const bramah__shape *a, const bramah__shape *b, const bramah__pose *pose,
                          double *normal)
{
  placed of[2];
  place(a, pose, &of[0]);
  place(b, pose, &of[1]);
  const axis axes[3] = {best_face(&of[0], &of[1]), best_face(&of[1], &of[0]), best_edges(&of[0], &of[1])};
  const axis *best = axes;
  for (int i = 1; i < 3; i++)
    if (axes[i].gap > best->gap) best = &axes[i];
  bramah__copy3(best->n, normal);
  return best->gap;
}

/* ---- patches ---- */

static void add_point(bramah__patch *patch, const double *point)
{
  bramah__copy3(point, patch->point[patch->n++]);
}

/* Shares by the edges of the polygon next to each of its corners. */
static void share(bramah__patch *patch)
{
  const size_t n = patch->n;
  double round = 0.0;
  for (size_t i = 0; i < n; i++) round += distance(patch->point[i], patch->point[(i + 1) % n]);
  for (size_t i = 0; i < n; i++) {
    const double sides = distance(patch->point[i], patch->point[(i + 1) % n]) +
                         distance(patch->point[i], patch->point[(i + n - 1) % n]);
    patch->share[i] = round > 0.0 ? 0.5 * sides / round : 1.0 / (double)n;
  }
}

/* What of the polygon, or of a line of two points, lies on the inner side (n . x <= d) of a plane. */
static size_t clip(const double *n, double d, const double (*in)[3], size_t count, double (*out)[3])
{
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    const size_t next = (i + 1) % count;
    const double here = bramah__dot3(n, in[i]) - d, there = bramah__dot3(n, in[next]) - d;
    if (here <= 0.0 && kept < BRAMAH__MOST_TOUCHES) bramah__copy3(in[i], out[kept++]);
    if ((count == 2 && next == 0) || !((here < 0.0 && there > 0.0) || (here > 0.0 && there < 0.0)) ||
        kept == BRAMAH__MOST_TOUCHES)
      continue;
    bramah__copy3(in[i], out[kept]);
    for (int k = 0; k < 3; k++) out[kept][k] += here / (here - there) * (in[next][k] - in[i][k]);
    kept++;
  }
  return kept;
}

/* The points of a polygon or line above a face, between the planes through its edges, become the patch. */
static void clip_to_face(const placed *owner, size_t face, const double *n, const double (*line)[3],
                         size_t count, bramah__patch *patch)
{
  const bramah__shape *s = owner->shape;
  double room[2][BRAMAH__MOST_TOUCHES][3];
  int from = 0;
  memcpy(room[0], line, count * sizeof *line);
  for (int k = s->first[face]; k < s->first[face + 1] && count; k++) {
    const double *p = owner->corner[s->of_face[k]],
                 *q = owner->corner[s->of_face[k + 1 < s->first[face + 1] ? k + 1 : s->first[face]]];
    double along[3], out[3];
    bramah__sub3(q, p, along);
    bramah__cross3(along, n, out);
    count = clip(out, bramah__dot3(out, p), (const double(*)[3])room[from], count, room[1 - from]);
    from = 1 - from;
  }
  patch->n = 0;
  for (size_t i = 0; i < count; i++) add_point(patch, room[from][i]);
  bramah__copy3(n, patch->normal);
  bramah__copy3(owner->corner[s->of_face[s->first[face]]], patch->origin);
}

/* The face of p that looks most against n. */
static size_t facing(const placed *p, const double *n)
{
  double least = (double)INFINITY;
  size_t best = 0;
  for (size_t f = 0; f < p->shape->n_faces; f++) {
    double m[3];
    direct(p, p->shape->normal + 3 * f, m);
    if (bramah__dot3(m, n) >= least) continue;
    least = bramah__dot3(m, n);
    best = f;
  }
  return best;
}

static void touch_face(const placed *owner, const axis *face, const placed *other, bramah__patch *patch)
{
  double polygon[BRAMAH__MOST_OF_FACE][3];
  const bramah__shape *s = other->shape;
  const size_t meets = facing(other, face->n);
  size_t count = 0;
  for (int k = s->first[meets]; k < s->first[meets + 1]; k++)
    bramah__copy3(other->corner[s->of_face[k]], polygon[count++]);
  clip_to_face(owner, face->face, face->n, (const double(*)[3])polygon, count, patch);
  share(patch);
}

/* Direction of a core at a place of it, 0 at its ends: in which its nearest point goes along. */
static void slide_along(const double *from, const double *to, double part, double *along)
{
  const double length = distance(from, to);
  for (int k = 0; k < 3; k++)
    along[k] = length > 0.0 && part > 0.0 && part < 1.0 ? (to[k] - from[k]) / length : 0.0;
}

/* Nearest points of the segments from p along u and from q along v; slide [2]: how they go along, unless NULL. */
static void nearest(const double *p, const double *p_end, const double *q, const double *q_end, double *on_p,
                    double *on_q, double (*slide)[3])
{
  double u[3], v[3], r[3], s = 0.0, t = 0.0;
  bramah__sub3(p_end, p, u);
  bramah__sub3(q_end, q, v);
  bramah__sub3(p, q, r);
  const double a = bramah__dot3(u, u), e = bramah__dot3(v, v), b = bramah__dot3(u, v), c = bramah__dot3(u, r),
               f = bramah__dot3(v, r), cross = a * e - b * b;
  if (a > 0.0 && e > 0.0) {
    if (cross > 1e-12 * a * e) s = fmin(fmax((b * f - c * e) / cross, 0.0), 1.0);
    t = (b * s + f) / e;
    if (t < 0.0 || t > 1.0) {
      t = fmin(fmax(t, 0.0), 1.0);
      s = fmin(fmax((b * t - c) / a, 0.0), 1.0);
    }
  } else if (a > 0.0) {
    s = fmin(fmax(-c / a, 0.0), 1.0);
  } else if (e > 0.0) {
    t = fmin(fmax(f / e, 0.0), 1.0);
  }
  for (int k = 0; k < 3; k++) {
    on_p[k] = p[k] + s * u[k];
    on_q[k] = q[k] + t * v[k];
  }
  if (slide) slide_along(p, p_end, s, slide[0]), slide_along(q, q_end, t, slide[1]);
}

/* The edge along a direction that lies farthest out along n. */
static const int *outer_edge(const placed *p, size_t direction, const double *n, double sign)
{
  const bramah__shape *s = p->shape;
  const double *d = s->direction + 3 * direction;
  const int *best = s->edge;
  double most = -(double)INFINITY;
  for (size_t e = 0; e < s->n_edges; e++) {
    double along[3], out[3];
    bramah__sub3(s->corner + 3 * s->edge[2 * e + 1], s->corner + 3 * s->edge[2 * e], along);
    bramah__cross3(along, d, out);
    if (bramah__dot3(out, out) > 1e-10 * bramah__dot3(along, along)) continue;
    const double height =
        sign * (bramah__dot3(n, p->corner[s->edge[2 * e]]) + bramah__dot3(n, p->corner[s->edge[2 * e + 1]]));
    if (height > most) most = height, best = s->edge + 2 * e;
  }
  return best;
}

static void touch_edges(const placed *a, const placed *b, const axis *across, bramah__patch *patch)
{
  const int *one = outer_edge(a, across->face, across->n, 1.0),
            *other = outer_edge(b, across->other, across->n, -1.0);
  double on_b[3];
  nearest(a->corner[one[0]], a->corner[one[1]], b->corner[other[0]], b->corner[other[1]], patch->origin, on_b,
          NULL);
  bramah__copy3(across->n, patch->normal);
  add_point(patch, on_b);
  patch->share[0] = 1.0;
  patch->turns = BRAMAH__ACROSS;
}

/* ---- flat shapes ---- */

static void flat_shapes(const placed *of, int owner, double margin, bramah__patch *patch)
{
  const axis face[2] = {best_face(&of[0], &of[1]), best_face(&of[1], &of[0])};
  if (fmax(face[0].gap, face[1].gap) > margin) return;
  const axis edges = best_edges(&of[0], &of[1]);
  if (edges.gap > margin) return;
  const double small = size_part * fmin(of[0].shape->reach, of[1].shape->reach);
  const int kept = owner == 1, other = 1 - kept;
  const double ahead = face[kept].gap + better * fabs(face[kept].gap) + small;
  patch->owner = face[other].gap > ahead ? other : kept;
  const double of_face = face[patch->owner].gap;
  if (edges.gap > of_face + better * fabs(of_face) + small) {
    patch->owner = 0;
    touch_edges(&of[0], &of[1], &edges, patch);
  } else {
    touch_face(&of[patch->owner], &face[patch->owner], &of[1 - patch->owner], patch);
  }
}

/* ---- round shapes ---- */

static const double *core_end(const placed *p) { return p->corner[p->shape->n_corners - 1]; }

/* A point on one core and the nearest one on the other, which go along as `slide` says. */
static void add_nearest(bramah__patch *patch, const double *on_other, const double *on_owner,
                        const double (*slide)[3])
{
  bramah__copy3(on_owner, patch->core[patch->n]);
  memcpy(patch->slide[patch->n], slide, sizeof patch->slide[0]);
  add_point(patch, on_other);
  patch->turns = BRAMAH__NEAREST;
}

/* Of two cores along each other the ends [at most 2] of the part that they share, each an end of one of them above the other. */
static void shared_part(const placed *a, const placed *b, const double *u, const double *v,
                        bramah__patch *patch)
{
  for (int e = 0; e < 4 && patch->n < 2; e++) { /* ends of the first, then of the second */
    const int of_b = e > 1;
    const placed *on = of_b ? a : b;
    const double *end = (of_b ? b : a)->corner[e % 2], *along = of_b ? u : v;
    double from[3], foot[3], slide[2][3] = {{0}};
    bramah__sub3(end, on->corner[0], from);
    const double length2 = bramah__dot3(along, along), part = bramah__dot3(from, along) / length2;
    if (!(of_b ? part > 0.0 && part < 1.0 : part >= 0.0 && part <= 1.0)) continue;
    for (int k = 0; k < 3; k++) {
      foot[k] = on->corner[0][k] + part * along[k];
      slide[!of_b][k] = along[k] / sqrt(length2);
    }
    add_nearest(patch, of_b ? foot : end, of_b ? end : foot, (const double(*)[3])slide);
  }
}

/* Two round ones: a point, or where they lie along each other the ends of the part that they share. The second carries the
 * plane. */
static void round_shapes(const placed *of, bramah__patch *patch)
{
  const placed *a = &of[0], *b = &of[1];
  double on_a[3], n[3], u[3], v[3], c[3], slide[2][3];
  nearest(a->corner[0], core_end(a), b->corner[0], core_end(b), on_a, patch->origin, slide);
  bramah__sub3(on_a, patch->origin, n);
  bramah__sub3(core_end(a), a->corner[0], u);
  bramah__sub3(core_end(b), b->corner[0], v);
  bramah__cross3(u, v, c);
  const double gap = sqrt(bramah__dot3(n, n));
  double length = gap;
  patch->owner = 1;
  if (!(gap > least_gap * fmin(a->shape->radius, b->shape->radius))) { /* one core goes through the other */
    bramah__copy3(c, n);
    if (!(bramah__dot3(n, n) > 0.0)) n[2] = 1.0;
    length = sqrt(bramah__dot3(n, n));
  }
  for (int k = 0; k < 3; k++) patch->normal[k] = n[k] / length;
  const double uu = bramah__dot3(u, u), vv = bramah__dot3(v, v);
  if (uu > 0.0 && vv > 0.0 && bramah__dot3(c, c) < parallel * parallel * uu * vv)
    shared_part(a, b, u, v, patch);
  if (patch->n < 2) {
    patch->n = 0;
    add_nearest(patch, on_a, patch->origin, (const double(*)[3])slide);
  }
  if (length != gap) patch->turns = BRAMAH__ACROSS;
  for (size_t i = 0; i < patch->n; i++) patch->share[i] = 1.0 / (double)patch->n;
}

/* The part of a core inside a polyhedron: is there one? */
static int goes_through(const placed *flat, const placed *core)
{
  double room[2][2][3];
  size_t count = core->shape->n_corners;
  int from = 0;
  memcpy(room[0], core->corner, count * sizeof room[0][0]);
  for (size_t f = 0; f < flat->shape->n_faces && count; f++) {
    double n[3];
    direct(flat, flat->shape->normal + 3 * f, n);
    count = clip(n, face_height(flat, f, n), (const double(*)[3])room[from], count, room[1 - from]);
    from = 1 - from;
  }
  return count > 0;
}

/* Nearest points of a polyhedron and a core outside it: on edges, or straight above a face; as they go along, slide [2], the core's first. */
static double nearest_to_flat(const placed *flat, const placed *core, double *on_flat, double *on_core,
                              double (*slide)[3])
{
  const bramah__shape *s = flat->shape;
  double least = (double)INFINITY;
  for (size_t e = 0; e < s->n_edges; e++) {
    double p[3], q[3], along[2][3];
    nearest(core->corner[0], core_end(core), flat->corner[s->edge[2 * e]], flat->corner[s->edge[2 * e + 1]],
            q, p, along);
    if (!(distance(p, q) < least)) continue;
    least = distance(p, q);
    memcpy(slide, along, sizeof along);
    bramah__copy3(p, on_flat);
    bramah__copy3(q, on_core);
  }
  for (size_t f = 0; f < s->n_faces; f++)
    for (size_t i = 0; i < core->shape->n_corners; i++) {
      bramah__patch above = {.n = 0};
      double n[3];
      direct(flat, s->normal + 3 * f, n);
      const double h = bramah__dot3(n, core->corner[i]) - face_height(flat, f, n);
      if (h < 0.0 || h >= least) continue;
      clip_to_face(flat, f, n, (const double(*)[3])core->corner[i], 1, &above);
      if (above.n == 0) continue;
      least = h;
      bramah__copy3(core->corner[i], on_core);
      bramah__copy3(core->corner[i], on_flat);
      bramah__axpy3(-h, n, on_flat);
    }
  return least;
}

/* A sphere or capsule against a polyhedron, which carries the plane: of a face, or where an edge or a corner of it is nearest. */
static void round_on_flat(const placed *flat, const placed *core, double margin, bramah__patch *patch)
{
  axis face = best_face(flat, core);
  double on_core[3], slide[2][3] = {{0}};
  const int through = goes_through(flat, core);
  int is_apart = 0;
  if (!through) {
    const double gap = nearest_to_flat(flat, core, patch->origin, on_core, slide);
    if (gap - core->shape->radius > margin) return;
    is_apart = gap > least_gap * core->shape->radius;
    for (int k = 0; k < 3 && is_apart; k++) patch->normal[k] = (on_core[k] - patch->origin[k]) / gap;
    double n[3], most = -1.0;
    for (size_t f = 0; f < flat->shape->n_faces && is_apart; f++) {
      direct(flat, flat->shape->normal + 3 * f, n);
      if (bramah__dot3(n, patch->normal) <= most) continue;
      most = bramah__dot3(n, patch->normal), face.face = f, bramah__copy3(n, face.n);
    }
    patch->share[0] = 1.0;
    if (is_apart && most < along_normal) {
      add_nearest(patch, on_core, patch->origin, (const double(*)[3])slide);
      return;
    }
  }
  bramah__patch above = *patch;
  clip_to_face(flat, face.face, face.n, (const double(*)[3])core->corner, core->shape->n_corners, &above);
  if (above.n == 0 && through) { /* deep in, beside the face */
    for (size_t i = 0; i < core->shape->n_corners; i++) add_point(&above, core->corner[i]);
  } else if (above.n == 0) {
    add_nearest(patch, on_core, patch->origin, (const double(*)[3])slide);
    if (is_apart) return;
    bramah__copy3(face.n, patch->normal);
    patch->turns = BRAMAH__ACROSS;
    return;
  }
  *patch = above;
  for (size_t i = 0; i < patch->n; i++) patch->share[i] = 1.0 / (double)patch->n;
}

void bramah__shapes_touch(const bramah__shape *a, const bramah__shape *b, const bramah__pose *pose, int owner,
                          double margin, bramah__patch *patch)
{
  placed of[2];
  double middle[2][3];
  patch->n = 0;
  patch->turns = BRAMAH__ON_FACE;
  bramah__point(pose, a->body, a->middle, middle[0]);
  bramah__point(pose, b->body, b->middle, middle[1]);
  if (distance(middle[0], middle[1]) > a->reach + b->reach + margin) return;
  place(a, pose, &of[0]);
  place(b, pose, &of[1]);
  if (a->n_faces && b->n_faces) {
    flat_shapes(of, owner, margin, patch);
  } else if (a->n_faces || b->n_faces) {
    patch->owner = a->n_faces ? 0 : 1;
    round_on_flat(&of[patch->owner], &of[1 - patch->owner], margin, patch);
  } else {
    round_shapes(of, patch);
    bramah__axpy3(b->radius, patch->normal, patch->origin);
  }
}
