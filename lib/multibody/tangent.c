/* SPDX-License-Identifier: MIT */
#include "lib/multibody/tangent.h"

#include <math.h>
#include <string.h>

static inline double dot6(const double *a, const double *b)
{
  return bramah__dot3(a, b) + bramah__dot3(a + 3, b + 3);
}

/* out = a x* w: how wrench w changes when it moves along with a. */
static inline void wrench_cross(const double *a, const double *w, double *out)
{
  bramah__cross3(a + 3, w, out);
  bramah__cross3(a + 3, w + 3, out + 3);
  bramah__add_cross3(a, w, out + 3);
}

/* B at velocity Z [6] of a single body, B = -tr(J) [w] + 2 [w] J + 2 (c.v 1 - v c'), [w] x = w x x: what I
 * (p x Z) + p x* I Z + Z x* I p leaves of the moment when p only turns. J about the origin, c = m g. */
static void fill_B(bramah__moving *moving, const double *Z)
{
  const double *v = Z, *w = Z + 3, *J = moving->mass.J, *c = moving->mass.mg;
  const double trace = J[0] + J[4] + J[8], cv = bramah__dot3(c, v);
  const double skew[9] = {0, -w[2], w[1], w[2], 0, -w[0], -w[1], w[0], 0};
  double wJ[9];
  bramah__multiply3(skew, J, wJ);
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++)
      moving->B[3 * i + k] =
          2.0 * (wJ[3 * i + k] - v[i] * c[k]) - trace * skew[3 * i + k] + (i == k ? 2.0 * cv : 0.0);
}

void bramah__tree_moving(const bramah__tree *tree, const bramah__pose *pose, const double *Z,
                         const double *Zd, bramah__moving *moving)
{
  for (size_t j = tree->n; j-- > 0;) {
    const double *b = pose[j].b, *own = Z + 6 * j;
    bramah__moving *out = &moving[j];
    bramah__composite_of_body(&tree->link[j], &pose[j], &out->mass);
    bramah__cross3(own + 3, out->mass.mg, out->h);
    bramah__axpy3(tree->link[j].mass, own, out->h);
    double turn[6];
    bramah__twist_cross(own, b, out->bd);
    bramah__twist_cross(own, out->bd, out->bdd);
    bramah__twist_cross(Zd + 6 * j, b, turn);
    for (int k = 0; k < 6; k++) out->bdd[k] += turn[k];
  }
}

static const double zero6[6] = {0, 0, 0, 0, 0, 0};

void bramah__vary_tree(const bramah__tree *tree, const bramah__pose *pose, const bramah__moving *moving,
                       const double *dz, const double *dzd, const double *dzdd, const bramah__variation *out)
{
  for (size_t j = 0; j < tree->n; j++) {
    const int p = tree->link[j].parent;
    const size_t up = p < 0 ? 0 : 6 * (size_t)p;
    const double *pi = p < 0 ? zero6 : out->pi + up, *pid = p < 0 ? zero6 : out->pid + up,
                 *pidd = p < 0 ? zero6 : out->pidd + up;
    const double *b = pose[j].b, *bd = moving[j].bd, *bdd = moving[j].bdd;
    const double z = dz[j], zd = dzd[j], zdd = dzdd[j], twice = 2.0 * zd;
    double x[18]; /* so that the compiler need not fear overlap */
    for (size_t k = 0; k < 6; k++) {
      x[k] = pi[k] + b[k] * z;
      x[6 + k] = pid[k] + bd[k] * z + b[k] * zd;
      x[12 + k] = pidd[k] + bdd[k] * z + bd[k] * twice + b[k] * zdd;
    }
    memcpy(out->pi + 6 * j, x, 6 * sizeof *x);
    memcpy(out->pid + 6 * j, x + 6, 6 * sizeof *x);
    memcpy(out->pidd + 6 * j, x + 12, 6 * sizeof *x);
  }
}

/* Y_j gathers the wrenches of the subtree less what they change by moving along with body j, so that the
 * changing joint axis needs no further thought: dtau_j = b_j . Y_j. */
void bramah__vary_force(const bramah__tree *tree, const bramah__pose *pose, const bramah__moving *moving,
                        const double *Z, const double *W, const double *dz,
                        const bramah__variation *variation, double *Y, double *dtau)
{
  for (size_t j = 0; j < tree->n; j++) {
    const bramah__moving *body = &moving[j];
    const double *v = Z + 6 * j, *alpha = variation->pid + 6 * j + 3, *J = body->mass.J;
    double a[6], *y = Y + 6 * j;
    memcpy(a, variation->pidd + 6 * j, sizeof a);
    bramah__add_cross3(variation->pi + 6 * j + 3, tree->gravity, a);
    bramah__composite_momentum(&body->mass, a, y);

    /* + B p', p' turning with alpha: what add_B_turn does with the matrix. */
    const double twice[3] = {2.0 * alpha[0], 2.0 * alpha[1], 2.0 * alpha[2]}, trace = J[0] + J[4] + J[8];
    double turned[3], lever[3], around[3];
    bramah__add_cross3(twice, body->h, y);
    bramah__rotate3(J, twice, turned);
    bramah__add_cross3(v + 3, turned, y + 3);
    bramah__cross3(twice, v, lever);
    bramah__add_cross3(body->mass.mg, lever, y + 3);
    bramah__cross3(alpha, v + 3, around);
    bramah__axpy3(trace, around, y + 3);
  }
  for (size_t j = tree->n; j-- > 0;) {
    const int p = tree->link[j].parent;
    const double *y = Y + 6 * j;
    dtau[j] = dot6(pose[j].b, y);
    if (p < 0) continue;
    double moved[6];
    wrench_cross(pose[j].b, W + 6 * j, moved);
    for (size_t k = 0; k < 6; k++) Y[6 * (size_t)p + k] += y[k] + dz[j] * moved[k];
  }
}

/* w += B p', p' turning with alpha */
static void add_B_turn(const bramah__moving *moving, const double *alpha, double *w)
{
  double twice[3] = {2.0 * alpha[0], 2.0 * alpha[1], 2.0 * alpha[2]}, moment[3];
  bramah__add_cross3(twice, moving->h, w);
  bramah__rotate3(moving->B, alpha, moment);
  bramah__axpy3(1.0, moment, w + 3);
}

/* Wrenches of subtree j as its joint moves: columns of K, C and M on the path to the root. */
static void subtree_columns(const bramah__pose *pose, const bramah__moving *moving, const double *gravity,
                            const double *W, double *Kj, double *Cj, double *Mj)
{
  const double *b = pose->b;
  double lifted[6], twice[6], inertia[6];
  memcpy(lifted, moving->bdd, sizeof lifted);
  bramah__add_cross3(b + 3, gravity, lifted);
  for (int k = 0; k < 6; k++) twice[k] = 2.0 * moving->bd[k];
  wrench_cross(b, W, Kj);
  bramah__composite_momentum(&moving->mass, lifted, inertia);
  for (int k = 0; k < 6; k++) Kj[k] += inertia[k];
  add_B_turn(moving, moving->bd + 3, Kj);
  bramah__composite_momentum(&moving->mass, twice, Cj);
  add_B_turn(moving, b + 3, Cj);
  bramah__composite_momentum(&moving->mass, b, Mj);
}

void bramah__tree_tangent(const bramah__tree *tree, const bramah__pose *pose, bramah__moving *moving,
                          const double *Z, const double *W, double *K, double *C, double *M)
{
  const size_t n = tree->n;

  /* Bodies into subtrees. */
  for (size_t j = 0; j < tree->n; j++) fill_B(&moving[j], Z + 6 * j);
  for (size_t j = tree->n; j-- > 0;) {
    const int p = tree->link[j].parent;
    if (p < 0) continue;
    bramah__composite_add(&moving[j].mass, &moving[p].mass);
    bramah__axpy3(1.0, moving[j].h, moving[p].h);
    for (int k = 0; k < 9; k++) moving[p].B[k] += moving[j].B[k];
  }
  memset(K, 0, n * n * sizeof *K);
  memset(C, 0, n * n * sizeof *C);
  memset(M, 0, n * n * sizeof *M);
  for (size_t j = 0; j < n; j++) {
    double Kj[6], Cj[6], Mj[6], turn[3];
    subtree_columns(&pose[j], &moving[j], tree->gravity, W + 6 * j, Kj, Cj, Mj);

    /* What joint j feels of the motion of those in front of it: rows of K and C. */
    const double *own = pose[j].b;
    const double twice[3] = {2.0 * own[0], 2.0 * own[1], 2.0 * own[2]};
    bramah__unrotate3(moving[j].B, own + 3, turn);
    bramah__add_cross3(moving[j].h, twice, turn);
    K[j * n + j] = dot6(pose[j].b, Kj);
    C[j * n + j] = dot6(pose[j].b, Cj);
    M[j * n + j] = dot6(pose[j].b, Mj);
    for (int i = tree->link[j].parent; i >= 0; i = tree->link[i].parent) {
      const size_t ij = (size_t)i * n + j, ji = j * n + (size_t)i;
      const double *b = pose[i].b, *bd = moving[i].bd;
      double lifted[6];
      memcpy(lifted, moving[i].bdd, sizeof lifted);
      bramah__add_cross3(b + 3, tree->gravity, lifted);
      K[ij] = dot6(b, Kj);
      C[ij] = dot6(b, Cj);
      M[ij] = M[ji] = dot6(b, Mj);
      K[ji] = dot6(Mj, lifted) + bramah__dot3(turn, bd + 3);
      C[ji] = 2.0 * dot6(Mj, bd) + bramah__dot3(turn, b + 3);
    }
  }
}

/* Solution with the tangent of an open tree by elimination from the leaves (see tangent.h): what the
 * articulated body method does with masses, done with displacements, turning rates and accelerations at
 * once. */

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

/* G += answer of one body whose wrench is w (dw in tangent.h, written out). */
static void add_body(const bramah__moving *body, const double *w, const double *gravity, double *G)
{
  const bramah__composite *mass = &body->mass;
  add_skew(-1.0, w, 3, PI_LINEAR, G);
  add_skew(-1.0, w, 0, PI_TURN, G);
  add_skew(-mass->m, gravity, 0, PI_TURN, G);
  add_skew(-1.0, w + 3, 3, PI_TURN, G);

  /* - [c]x [g]x = c.g 1 - g c' */
  const double cg = bramah__dot3(mass->mg, gravity);
  for (size_t i = 0; i < 3; i++)
    for (size_t k = 0; k < 3; k++)
      G[(3 + i) * NS + PI_TURN + k] -= gravity[i] * mass->mg[k] - (i == k ? cg : 0.0);
  add_skew(-2.0, body->h, 0, RATE_TURN, G);
  add_block(body->B, 3, RATE_TURN, G);
  for (size_t i = 0; i < 3; i++) G[i * NS + PIDD_LINEAR + i] += mass->m;
  add_skew(1.0, mass->mg, 3, PIDD_LINEAR, G);
  add_skew(-1.0, mass->mg, 0, PIDD_TURN, G);
  add_block(mass->J, 3, PIDD_TURN, G);
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
  wrench_cross(b, W, moved);
  for (size_t l = 0; l < 6; l++) s->t[l] += moved[l];
  s->d = dot6(b, s->u) + diagonal;
  return fabs(s->d) > 0.0 && isfinite(s->d);
}

size_t bramah__sweep_factor(const bramah__tree *tree, const bramah__pose *pose, bramah__moving *moving,
                            const double *Z, const double *W, double c1, double c2, const double *diag,
                            bramah__sweep *sweep)
{
  for (size_t j = 0; j < tree->n; j++) fill_B(&moving[j], Z + 6 * j);
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
  for (size_t j = tree->n; j-- > 0;) {
    if (!joint_equation(W + 6 * j, diag[j], &sweep[j])) return j + 1;
    if (tree->link[j].parent >= 0) {
      /* The subtree with its joint eliminated, added to the parent. */
      const bramah__sweep *s = &sweep[j];
      for (size_t k = 0; k < 6; k++) {
        const double share = s->u[k] / s->d, *from = s->G + k * NS;
        double *to = sweep[tree->link[j].parent].G + k * NS;
        for (size_t l = 0; l < NS; l++) to[l] += from[l] - share * s->t[l];
      }
    }
  }
  return 0;
}

void bramah__sweep_solve(const bramah__tree *tree, bramah__sweep *sweep, const double *f, double *dz)
{
  /* Right-hand sides from the leaves to the root. */
  for (size_t j = 0; j < tree->n; j++) memset(sweep[j].g, 0, sizeof sweep[j].g);
  for (size_t j = tree->n; j-- > 0;) {
    bramah__sweep *s = &sweep[j];
    s->e = f[j] + dot6(s->c, s->g);
    if (tree->link[j].parent < 0) continue;
    double *g = sweep[tree->link[j].parent].g;
    for (size_t k = 0; k < 6; k++) g[k] += s->g[k] - s->u[k] / s->d * s->e;
  }
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
