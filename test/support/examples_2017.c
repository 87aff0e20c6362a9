/* SPDX-License-Identifier: MIT */
#include "test/support/examples_2017.h"
#include "lib/math/dense.h"
#include "lib/math/spectral.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846, g_earth = 9.81;

static void make(example_2017 *e)
{
  const size_t n = e->n, m = e->m;
  e->memory = calloc(2 * n + 2 * m + 3 * n * n + m * n + 1, sizeof(double));
  if (!e->memory) exit(1);
  e->q = e->memory;
  e->f = e->q + n;
  e->Phi = e->f + n;
  e->lambda = e->Phi + m;
  e->M = e->lambda + m;
  e->C = e->M + n * n;
  e->K = e->C + n * n;
  e->Phi_q = e->K + n * n;
}

void example_free(example_2017 *e) { free(e->memory); }

bramah_constrained example_system(const example_2017 *e)
{
  return (bramah_constrained){.n = e->n, .m = e->m, .M = e->M, .C = e->C, .K = e->K, .Phi = e->Phi_q};
}

/* ---- linkage ---- */

void linkage_make(example_2017 *e, size_t N, double stiffness, double damping, int gravity_along_x)
{
  *e = (example_2017){.is_linkage = 1,
                      .N = N,
                      .stiffness = stiffness,
                      .damping = damping,
                      .gravity = {gravity_along_x ? g_earth : 0.0, gravity_along_x ? 0.0 : -g_earth},
                      .angle_by_y = gravity_along_x,
                      .n = 2 * N + 3,
                      .m = 2 * N + 2};
  make(e);
}

/* dV/dphi of all rods turning together (per kg and 1 m). */
static double moment(const example_2017 *e, double phi)
{
  const double N = (double)e->N, weight = g_earth * cos(phi) * (0.5 * (N + 1.0) + N);
  return weight - N * e->stiffness * (2.0 * cos(0.5 * phi) - sqrt(2.0)) * sin(0.5 * phi);
}

double linkage_angle(const example_2017 *e)
{
  double low = 0.51 * pi, high = 0.99 * pi; /* pi/2 is an equilibrium too, not a stable one */
  if (e->stiffness == 0.0) return 0.0;
  for (int i = 0; i < 200; i++) {
    const double middle = 0.5 * (low + high);
    if (moment(e, middle) < 0.0)
      low = middle;
    else
      high = middle;
  }
  return 0.5 * (low + high);
}

void linkage_place(example_2017 *e, double phi)
{
  for (size_t i = 0; i <= e->N; i++) {
    e->q[2 * i] = (double)i + cos(phi);
    e->q[2 * i + 1] = sin(phi);
  }
  e->q[2 * e->N + 2] = phi;
}

static void add(size_t n, double *A, size_t i, size_t j, double a) { A[i * n + j] += a; }

/* a I [2 x 2] at points i, j */
static void add_point(size_t n, double *A, size_t i, size_t j, double a)
{
  for (size_t c = 0; c < 2; c++) add(n, A, 2 * i + c, 2 * j + c, a);
}

/* Distance of point `to` from point `from`, or from (i, 0) where from = -1. */
static void distance(example_2017 *e, size_t row, long from, double ax, size_t to)
{
  const size_t n = e->n;
  const double lambda = e->lambda[row];
  double d[2] = {e->q[2 * to] - ax, e->q[2 * to + 1]};
  if (from >= 0)
    for (size_t c = 0; c < 2; c++) d[c] = e->q[2 * to + c] - e->q[2 * (size_t)from + c];
  e->Phi[row] = d[0] * d[0] + d[1] * d[1] - 1.0;
  for (size_t c = 0; c < 2; c++) {
    e->Phi_q[row * n + 2 * to + c] = 2.0 * d[c];
    if (from >= 0) e->Phi_q[row * n + 2 * (size_t)from + c] = -2.0 * d[c];
  }
  add_point(n, e->K, to, to, 2.0 * lambda);
  if (from < 0) return;
  add_point(n, e->K, (size_t)from, (size_t)from, 2.0 * lambda);
  add_point(n, e->K, to, (size_t)from, -2.0 * lambda);
  add_point(n, e->K, (size_t)from, to, -2.0 * lambda);
}

static void diagonal(example_2017 *e, size_t i)
{
  const size_t n = e->n;
  const double d[2] = {e->q[2 * i] - (double)(i - 1), e->q[2 * i + 1]}, s = hypot(d[0], d[1]),
               force = e->stiffness * (s - sqrt(2.0));
  for (size_t a = 0; a < 2; a++) {
    e->f[2 * i + a] -= force * d[a] / s;
    for (size_t b = 0; b < 2; b++) {
      const double uu = d[a] * d[b] / (s * s);
      add(n, e->K, 2 * i + a, 2 * i + b, e->stiffness * uu + force / s * ((a == b) - uu));
      add(n, e->C, 2 * i + a, 2 * i + b, e->damping * uu);
    }
  }
}

static void linkage_evaluate(example_2017 *e)
{
  const size_t n = e->n, N = e->N, last = e->m - 1, angle = n - 1;
  const double phi = e->q[angle], mass = 1.0;
  for (size_t i = 0; i <= N; i++) {
    add_point(n, e->M, i, i, mass / 3.0);
    for (size_t c = 0; c < 2; c++) e->f[2 * i + c] += 0.5 * mass * e->gravity[c];
    distance(e, i, -1, (double)i, i);
  }
  for (size_t i = 1; i <= N; i++) {
    add_point(n, e->M, i, i, mass / 3.0);
    add_point(n, e->M, i - 1, i - 1, mass / 3.0);
    add_point(n, e->M, i, i - 1, mass / 6.0);
    add_point(n, e->M, i - 1, i, mass / 6.0);
    for (size_t c = 0; c < 2; c++) {
      e->f[2 * i + c] += 0.5 * mass * e->gravity[c];
      e->f[2 * (i - 1) + c] += 0.5 * mass * e->gravity[c];
    }
    distance(e, N + i, (long)i - 1, 0.0, i);
    diagonal(e, i);
  }
  const size_t at = 2 * N + (e->angle_by_y ? 1 : 0);
  e->Phi[last] = e->angle_by_y ? e->q[at] - sin(phi) : e->q[at] - (double)N - cos(phi);
  e->Phi_q[last * n + at] = 1.0;
  e->Phi_q[last * n + angle] = e->angle_by_y ? -cos(phi) : sin(phi);
  e->K[angle * n + angle] += e->lambda[last] * (e->angle_by_y ? sin(phi) : cos(phi));
}

/* ---- flexible double pendulum ---- */

enum { LINK = 3, NODE = 3 }; /* coordinates */
static const double length = 4.0, density = 1500.0, modulus = 1e8, radius = 0.15;

static size_t link_size(const example_2017 *e) { return LINK + NODE * (e->N + 1); }

void beam_pendulum_make(example_2017 *e, size_t elements)
{
  *e = (example_2017){.N = elements, .gravity = {0.0, -g_earth}, .n = 6 * elements + 12, .m = 10};
  make(e);
  for (size_t l = 0; l < 2; l++) e->q[l * link_size(e) + 2] = -0.5 * pi;
  e->q[link_size(e) + 1] = -length;
}

/* Displacement u, v at share x of an element of length h by its two nodes: rows [2 x 6]. */
static void shape(double x, double h, double S[2][6])
{
  memset(S, 0, 12 * sizeof S[0][0]);
  S[0][0] = 1.0 - x;
  S[0][3] = x;
  S[1][1] = 1.0 - 3.0 * x * x + 2.0 * x * x * x;
  S[1][2] = h * (x - 2.0 * x * x + x * x * x);
  S[1][4] = 3.0 * x * x - 2.0 * x * x * x;
  S[1][5] = h * (x * x * x - x * x);
}

static void turn(double theta, const double in[2], double out[2])
{
  out[0] = cos(theta) * in[0] - sin(theta) * in[1];
  out[1] = sin(theta) * in[0] + cos(theta) * in[1];
}

/* Mass and weight of an element: position r = r_0 + A (s + u, v), derivative B by its nine coordinates. */
static void element_inertia(example_2017 *e, size_t base, size_t k, const size_t at[9])
{
  static const double point[4] = {0.0694318442029737, 0.3300094782075719, 0.6699905217924281,
                                  0.9305681557970263},
                      weight[4] = {0.1739274225687269, 0.3260725774312731, 0.3260725774312731,
                                   0.1739274225687269};
  const size_t n = e->n;
  const double h = length / (double)e->N, theta = e->q[base + 2], per_length = density * pi * radius * radius;
  for (int p = 0; p < 4; p++) {
    double S[2][6], local[2] = {((double)k + point[p]) * h, 0.0}, B[2][9] = {{1.0}}, arm[2], r[2];
    const double mass = weight[p] * h * per_length;
    shape(point[p], h, S);
    for (int c = 0; c < 2; c++)
      for (int i = 0; i < 6; i++) local[c] += S[c][i] * e->q[at[3 + i]];
    turn(theta, local, r);
    B[1][1] = 1.0;
    B[0][2] = -r[1], B[1][2] = r[0];
    for (int i = 0; i < 6; i++) {
      const double in[2] = {S[0][i], S[1][i]};
      turn(theta, in, arm);
      B[0][3 + i] = arm[0], B[1][3 + i] = arm[1];
      /* dB/dtheta g of the weight */
      const double change = mass * (-arm[1] * e->gravity[0] + arm[0] * e->gravity[1]);
      add(n, e->K, at[2], at[3 + i], -change);
      add(n, e->K, at[3 + i], at[2], -change);
    }
    add(n, e->K, at[2], at[2], mass * (r[0] * e->gravity[0] + r[1] * e->gravity[1]));
    for (int i = 0; i < 9; i++) {
      e->f[at[i]] += mass * (B[0][i] * e->gravity[0] + B[1][i] * e->gravity[1]);
      for (int j = 0; j < 9; j++) add(n, e->M, at[i], at[j], mass * (B[0][i] * B[0][j] + B[1][i] * B[1][j]));
    }
  }
}

static void element_stiffness(example_2017 *e, const size_t at[9])
{
  const double h = length / (double)e->N, EA = modulus * pi * radius * radius,
               EI = modulus * pi * radius * radius * radius * radius / 4.0, b = EI / (h * h * h);
  const double K[6][6] = {{EA / h, 0, 0, -EA / h, 0, 0},
                          {0, 12 * b, 6 * h * b, 0, -12 * b, 6 * h * b},
                          {0, 6 * h * b, 4 * h * h * b, 0, -6 * h * b, 2 * h * h * b},
                          {-EA / h, 0, 0, EA / h, 0, 0},
                          {0, -12 * b, -6 * h * b, 0, 12 * b, -6 * h * b},
                          {0, 6 * h * b, 2 * h * h * b, 0, -6 * h * b, 4 * h * h * b}};
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) {
      e->f[at[3 + i]] -= K[i][j] * e->q[at[3 + j]];
      add(e->n, e->K, at[3 + i], at[3 + j], K[i][j]);
    }
}

/* Rows of the pendulum: O (2), P1 (2), first nodes (6). */
static void pendulum_constraints(example_2017 *e)
{
  const size_t n = e->n, second = link_size(e), tip = LINK + NODE * e->N;
  const double theta = e->q[2], *lambda = e->lambda + 2;
  const double local[2] = {length + e->q[tip], e->q[tip + 1]};
  double r[2];
  turn(theta, local, r);
  for (size_t c = 0; c < 2; c++) {
    e->Phi[c] = e->q[c];
    e->Phi_q[c * n + c] = 1.0;
    e->Phi[2 + c] = e->q[c] + r[c] - e->q[second + c];
    double *row = e->Phi_q + (2 + c) * n;
    row[c] = 1.0;
    row[second + c] = -1.0;
    row[2] = c ? r[0] : -r[1];
    row[tip] = c ? sin(theta) : cos(theta);
    row[tip + 1] = c ? cos(theta) : -sin(theta);
  }
  for (size_t l = 0; l < 2; l++)
    for (size_t i = 0; i < 3; i++) {
      e->Phi[4 + 3 * l + i] = e->q[l * second + LINK + i];
      e->Phi_q[(4 + 3 * l + i) * n + l * second + LINK + i] = 1.0;
    }
  add(n, e->K, 2, 2, -(lambda[0] * r[0] + lambda[1] * r[1]));
  const double by_u = -lambda[0] * sin(theta) + lambda[1] * cos(theta),
               by_v = -lambda[0] * cos(theta) - lambda[1] * sin(theta);
  add(n, e->K, 2, tip, by_u), add(n, e->K, tip, 2, by_u);
  add(n, e->K, 2, tip + 1, by_v), add(n, e->K, tip + 1, 2, by_v);
}

static void pendulum_evaluate(example_2017 *e)
{
  for (size_t l = 0; l < 2; l++)
    for (size_t k = 0; k < e->N; k++) {
      const size_t base = l * link_size(e), node = base + LINK + NODE * k;
      const size_t at[9] = {base, base + 1, base + 2, node, node + 1, node + 2, node + 3, node + 4, node + 5};
      element_inertia(e, base, k, at);
      element_stiffness(e, at);
    }
  pendulum_constraints(e);
}

/* ---- both ---- */

void example_evaluate(example_2017 *e)
{
  const size_t n = e->n;
  memset(e->f, 0, n * sizeof(double));
  memset(e->M, 0, (3 * n * n + e->m * n) * sizeof(double)); /* M C K Phi_q stand together */
  if (e->is_linkage)
    linkage_evaluate(e);
  else
    pendulum_evaluate(e);
}

/* Multipliers of least norm: Phi_q' lambda = f. */
static void find_multipliers(example_2017 *e)
{
  const size_t n = e->n, m = e->m;
  double *A = calloc(n * m + n + bramah__least_squares_work(n, m) + 1, sizeof(double)), *b = A + n * m;
  if (!A) exit(1);
  for (size_t i = 0; i < n; i++)
    for (size_t r = 0; r < m; r++) A[i * m + r] = e->Phi_q[r * n + i];
  memcpy(b, e->f, n * sizeof(double));
  bramah__least_squares(n, m, A, b, 1e-10, b + n);
  memcpy(e->lambda, b, m * sizeof(double));
  free(A);
}

/* q -= tangent^-1 residual with the border of constraints (exact) or with springs in the tangent. */
static double newton(example_2017 *e, double spring)
{
  const size_t n = e->n, m = spring > 0.0 ? 0 : e->m, N = n + m;
  double *A = calloc(N * N + N, sizeof(double)), *b = A + N * N, smallest, largest = 0.0;
  int *pivot = calloc(N, sizeof *pivot);
  if (!A || !pivot) exit(1);
  for (size_t i = 0; i < n; i++) {
    memcpy(A + i * N, e->K + i * n, n * sizeof(double));
    b[i] = -e->f[i];
    for (size_t r = 0; r < e->m; r++) {
      const double a = e->Phi_q[r * n + i];
      b[i] += a * (spring > 0.0 ? spring * e->Phi[r] : e->lambda[r]);
      for (size_t j = 0; j < n && spring > 0.0 && a != 0.0; j++)
        A[i * N + j] += spring * a * e->Phi_q[r * n + j];
    }
  }
  for (size_t r = 0; r < m; r++) {
    b[n + r] = e->Phi[r];
    for (size_t j = 0; j < n; j++) A[(n + r) * N + j] = A[j * N + n + r] = e->Phi_q[r * n + j];
  }
  bramah__solve_many(N, 1, A, b, pivot, &smallest);
  for (size_t i = 0; i < N; i++) {
    if (i < n) largest = fmax(largest, fabs(b[i]));
    if (i < n)
      e->q[i] -= b[i];
    else
      e->lambda[i - n] -= b[i];
  }
  free(A);
  free(pivot);
  return largest;
}

void example_balance(example_2017 *e)
{
  example_evaluate(e);
  find_multipliers(e);
  example_evaluate(e);
  for (int i = 0; i < 6 && !e->is_linkage; i++) {
    newton(e, 0.0);
    example_evaluate(e);
  }
}

void example_balance_penalty(example_2017 *e, double alpha, double omega)
{
  const double spring = alpha * omega * omega;
  for (int i = 0; i < 12; i++) {
    example_evaluate(e);
    for (size_t r = 0; r < e->m; r++) e->lambda[r] = spring * e->Phi[r];
    example_evaluate(e);
    if (newton(e, spring) < 1e-14) break;
  }
  example_evaluate(e);
  for (size_t r = 0; r < e->m; r++) e->lambda[r] = spring * e->Phi[r];
  example_evaluate(e);
}

/* ---- the linkage as a machine ---- */

/* Rods along x of their frames, turning about z; rod i from A_i, bar i from B_(i-1) to B_i. */
void linkage_describe(linkage_machine *k, size_t N, double damping, double phi)
{
  size_t names = 0;
  memset(k, 0, sizeof *k);
  for (size_t i = 0; i <= 2 * N; i++) {
    const int bar = i > N;
    const size_t at = bar ? i - N : i;
    char *name = k->name[names++];
    snprintf(name, sizeof k->name[0], "%s%zu", bar ? "bar" : "rod", at);
    k->bodies[i] = (bramah_body){
        .name = name, .mass = 1.0, .centre_of_mass = {0.5, 0, 0}, .inertia = {0, 1.0 / 12.0, 1.0 / 12.0}};
    k->joints[i] = (bramah_joint){.name = name,
                                  .type = BRAMAH_JOINT_REVOLUTE,
                                  .parent = bar ? k->name[at - 1] : "ground",
                                  .child = name,
                                  .position = {bar ? 1.0 : (double)at, 0, 0},
                                  .axis = {0, 0, 1},
                                  .initial_position = bar ? -phi : phi,
                                  .initial = i == 0 ? BRAMAH_INITIAL_GIVEN : BRAMAH_INITIAL_GUESS};
  }
  for (size_t i = 1; i <= N; i++) {
    snprintf(k->name[names], sizeof k->name[0], "pin%zu", i);
    k->loops[i - 1] = (bramah_loop){.name = k->name[names++],
                                    .type = BRAMAH_LOOP_REVOLUTE,
                                    .body = {k->name[N + i], k->name[i]},
                                    .point = {{1, 0, 0}, {1, 0, 0}},
                                    .axis = {{0, 0, 1}, {0, 0, 1}}};
    snprintf(k->name[names], sizeof k->name[0], "diagonal%zu", i);
    k->springs[i - 1] = (bramah_spring){.name = k->name[names++],
                                        .body = {"ground", k->name[i]},
                                        .point = {{(double)(i - 1), 0, 0}, {1, 0, 0}},
                                        .free_length = sqrt(2.0),
                                        .stiffness = 25.0,
                                        .damping = damping};
  }
  k->machine = (bramah_machine){.name = "linkage",
                                .gravity = {0, -9.81, 0},
                                .n_bodies = 2 * N + 1,
                                .bodies = k->bodies,
                                .n_joints = 2 * N + 1,
                                .joints = k->joints,
                                .n_loops = N,
                                .loops = k->loops,
                                .n_springs = N,
                                .springs = k->springs};
}
