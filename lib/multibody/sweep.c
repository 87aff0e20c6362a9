/* SPDX-License-Identifier: MIT */
/* Solution with the tangent of an open tree by elimination from the leaves (see tangent.h): what the
 * articulated body method does with masses, done with displacements, turning rates and accelerations at
 * once. */
#include "lib/multibody/tangent.h"
#include "lib/multibody/twist.h"

#include <math.h>
#include <string.h>

enum { NS = BRAMAH__SWEEP_STATE, PI_LINEAR = 0, PI_TURN = 3, RATE_TURN = 6, PIDD_LINEAR = 9, PIDD_TURN = 12 };

/* Block (row, column) of G += s [a]x, the matrix of a x. */
static void add_skew(double s, const double *a, size_t row, size_t column, double *G)
{
  double *top = G + row * NS + column, *middle = top + NS, *bottom = middle + NS;
  top[1] -= s * a[2];
  top[2] += s * a[1];
  middle[0] += s * a[2];
  middle[2] -= s * a[0];
  bottom[0] -= s * a[1];
  bottom[1] += s * a[0];
}

static void add_block(const double *A, size_t row, size_t column, double *G)
{
  for (size_t i = 0; i < 3; i++)
    for (size_t k = 0; k < 3; k++) G[(row + i) * NS + column + k] += A[3 * i + k];
}

/* [c]x [g]x = g c' - c.g 1 */
static void add_double_skew(double s, const double *c, const double *g, size_t row, size_t column, double *G)
{
  const double cg = bramah__dot3(c, g);
  for (size_t i = 0; i < 3; i++)
    for (size_t k = 0; k < 3; k++) G[(row + i) * NS + column + k] += s * (g[i] * c[k] - (i == k ? cg : 0.0));
}

/* G += answer of one body whose wrench is w (dw in tangent.h, written out). */
static void add_body(const bramah__moving *body, const double *w, const double *gravity, double *G)
{
  const bramah__composite *mass = &body->mass;
  add_skew(-1.0, w, 3, PI_LINEAR, G);
  add_skew(-1.0, w, 0, PI_TURN, G);
  add_skew(-mass->m, gravity, 0, PI_TURN, G);
  add_skew(-1.0, w + 3, 3, PI_TURN, G);
  add_double_skew(-1.0, mass->mg, gravity, 3, PI_TURN, G);
  add_skew(-2.0, body->h, 0, RATE_TURN, G);
  add_block(body->B, 3, RATE_TURN, G);
  for (size_t i = 0; i < 3; i++) G[i * NS + PIDD_LINEAR + i] += mass->m;
  add_skew(1.0, mass->mg, 3, PIDD_LINEAR, G);
  add_skew(-1.0, mass->mg, 0, PIDD_TURN, G);
  add_block(mass->J, 3, PIDD_TURN, G);
}

static void start(const bramah__tree *tree, const bramah__pose *pose, const bramah__moving *moving,
                  const double *W, double c1, double c2, bramah__sweep *sweep)
{
  for (size_t j = 0; j < tree->n; j++) {
    bramah__sweep *s = &sweep[j];
    const double *b = pose[j].b, *bd = moving[j].bd, *bdd = moving[j].bdd;
    memset(s->G, 0, sizeof s->G);
    for (int k = 0; k < 6; k++) {
      s->c[PI_LINEAR + k] = b[k];
      s->c[PIDD_LINEAR + k] = bdd[k] + 2.0 * c1 * bd[k] + c2 * b[k];
    }
    for (int k = 0; k < 3; k++) s->c[RATE_TURN + k] = bd[3 + k] + c1 * b[3 + k];
    /* wrench of the body alone, for the moment in x */
    memcpy(s->x, W + 6 * j, 6 * sizeof(double));
  }
  for (size_t j = 0; j < tree->n; j++) {
    const int p = tree->link[j].parent;
    if (p >= 0)
      for (int k = 0; k < 6; k++) sweep[p].x[k] -= W[6 * j + (size_t)k];
  }
  for (size_t j = 0; j < tree->n; j++) add_body(&moving[j], sweep[j].x, tree->gravity, sweep[j].G);
}

/* Equation of a joint: t x_parent + d dz + e = 0. Returns 0 if it cannot be solved for dz. */
static int joint_equation(const double *W, double diagonal, bramah__sweep *s)
{
  const double *b = s->c;
  double moved[6];
  for (size_t l = 0; l < NS; l++) {
    double sum = 0.0;
    for (size_t k = 0; k < 6; k++) sum += b[k] * s->G[k * NS + l];
    s->t[l] = sum;
  }
  for (size_t k = 0; k < 6; k++) {
    double sum = 0.0;
    for (size_t l = 0; l < NS; l++) sum += s->G[k * NS + l] * s->c[l];
    s->u[k] = sum;
  }
  /* the joint axis moves with its parent: (pi x b) . W = pi . (b x* W) */
  bramah__wrench_cross(b, W, moved);
  for (size_t l = 0; l < 6; l++) s->t[l] += moved[l];
  s->d = bramah__dot6(b, s->u) + diagonal;
  return fabs(s->d) > 0.0 && isfinite(s->d);
}

/* The subtree with its joint eliminated, added to the parent. */
static void hand_over(const bramah__sweep *s, bramah__sweep *parent)
{
  for (size_t k = 0; k < 6; k++) {
    const double share = s->u[k] / s->d, *from = s->G + k * NS;
    double *to = parent->G + k * NS;
    for (size_t l = 0; l < NS; l++) to[l] += from[l] - share * s->t[l];
  }
}

size_t bramah__sweep_factor(const bramah__tree *tree, const bramah__pose *pose, bramah__moving *moving,
                            const double *Z, const double *W, double c1, double c2, const double *diag,
                            bramah__sweep *sweep)
{
  for (size_t j = 0; j < tree->n; j++) bramah__moving_fill_B(&moving[j], Z + 6 * j);
  start(tree, pose, moving, W, c1, c2, sweep);
  for (size_t j = tree->n; j-- > 0;) {
    if (!joint_equation(W + 6 * j, diag[j], &sweep[j])) return j + 1;
    if (tree->link[j].parent >= 0) hand_over(&sweep[j], &sweep[tree->link[j].parent]);
  }
  return 0;
}

/* Right-hand sides from the leaves to the root. */
static void gather(const bramah__tree *tree, bramah__sweep *sweep, const double *f)
{
  for (size_t j = 0; j < tree->n; j++) memset(sweep[j].g, 0, sizeof sweep[j].g);
  for (size_t j = tree->n; j-- > 0;) {
    bramah__sweep *s = &sweep[j];
    s->e = f[j] + bramah__dot6(s->c, s->g);
    if (tree->link[j].parent < 0) continue;
    double *g = sweep[tree->link[j].parent].g;
    for (size_t k = 0; k < 6; k++) g[k] += s->g[k] - s->u[k] / s->d * s->e;
  }
}

void bramah__sweep_solve(const bramah__tree *tree, bramah__sweep *sweep, const double *f, double *dz)
{
  gather(tree, sweep, f);
  for (size_t j = 0; j < tree->n; j++) {
    bramah__sweep *s = &sweep[j];
    const int p = tree->link[j].parent;
    double sum = s->e;
    for (size_t l = 0; l < NS; l++) {
      s->x[l] = p < 0 ? 0.0 : sweep[p].x[l];
      sum += s->t[l] * s->x[l];
    }
    dz[j] = -sum / s->d;
    for (size_t l = 0; l < NS; l++) s->x[l] += s->c[l] * dz[j];
  }
}
