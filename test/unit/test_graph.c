/* SPDX-License-Identifier: MIT */
/* Expressions: folding, derivatives, elimination; tapes against the graph itself. */
#include "lib/graph/solve.h"
#include "lib/graph/tape.h"
#include "lib/graph/vector.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <string.h>

/* ---- folding ---- */

static int same(bramah__expr a, bramah__expr b) { return a.graph && a.graph == b.graph && a.node == b.node; }

TEST(test_folding)
{
  bramah__graph *g = bramah__graph_new();
  const bramah__expr x = bramah__graph_input(g, BRAMAH__RATE_POINT),
                     y = bramah__graph_input(g, BRAMAH__RATE_POINT), zero = {0}, one = e_number(1.0);
  ck_assert(same(e_add(x, zero), x) && same(e_mul(one, x), x) && e_is(e_mul(zero, x), 0.0));
  ck_assert(e_is(e_sub(x, x), 0.0) && same(e_neg(e_neg(x)), x) && same(e_inv(e_inv(x)), x));
  ck_assert(same(e_add(x, y), e_add(y, x)) && same(e_mul(x, y), e_mul(y, x)));
  ck_assert(same(e_add(x, e_neg(y)), e_sub(x, y)) && same(e_neg(e_sub(x, y)), e_sub(y, x)));
  ck_assert(same(e_scale(2.0, e_scale(0.5, x)), x) && same(e_mul(e_neg(x), e_neg(y)), e_mul(x, y)));
  ck_assert(same(e_select(one, x, y), x) && same(e_select(zero, x, y), y) && same(e_select(x, y, y), y));
  ck_assert(e_is(e_sqrt(e_number(9.0)), 3.0) && e_is(e_add(one, one), 2.0));

  /* A rotation about z leaves the third dimension alone. */
  const double up[3] = {0, 0, 1}, along[3] = {1, 0, 0};
  const bramah__vec turned = v_cross(v_scale(x, v_number(up)), v_number(along));
  ck_assert(e_is(turned.x[0], 0.0) && same(turned.x[1], x) && e_is(turned.x[2], 0.0));
  const size_t before = bramah__graph_size(g);
  e_mul(y, e_add(y, x));
  const size_t once = bramah__graph_size(g);
  e_mul(e_add(x, y), y);
  ck_assert_uint_gt(once, before);
  ck_assert_uint_eq(bramah__graph_size(g), once);
  bramah__graph_free(g);
}

/* ---- random formulas ---- */

enum { N_INPUTS = 6, N_STEPS = 120 };

/* Formulas of everything on the inputs x [N_INPUTS], smooth nearly everywhere and never far from one, behind these. */
static void random_formulas(unsigned seed, bramah__expr *x)
{
  for (int i = N_INPUTS; i < N_INPUTS + N_STEPS; i++) {
    const bramah__expr a = x[(size_t)(fabs(test_uniform(&seed)) * i)],
                       b = x[(size_t)(fabs(test_uniform(&seed)) * i)],
                       c = x[(size_t)(fabs(test_uniform(&seed)) * i)],
                       positive = e_add(e_number(1.0), e_square(a));
    const double number = test_uniform(&seed);
    const bramah__expr made[] = {e_add(a, e_mul(b, c)),
                                 e_sub(e_mul(b, c), a),
                                 e_sub(a, e_mul(b, c)),
                                 e_mul(e_sin(a), e_cos(b)),
                                 e_cos(a),
                                 e_tanh(b),
                                 e_exp(e_neg(positive)),
                                 e_log(positive),
                                 e_sqrt(positive),
                                 e_div(b, positive),
                                 e_abs(a),
                                 e_min(a, b),
                                 e_max(b, c),
                                 e_select(e_sub(a, b), c, e_scale(number, b)),
                                 e_with_slope(e_square(a), a, e_scale(2.0, a)),
                                 e_power(positive, 0.3)};
    x[i] = e_sin(made[(size_t)(fabs(test_uniform(&seed)) * (sizeof made / sizeof *made))]);
  }
}

/* A graph of them on inputs of all rates. */
static bramah__graph *random_graph(unsigned seed, bramah__expr *input, bramah__expr *x)
{
  bramah__graph *g = bramah__graph_new();
  for (int i = 0; i < N_INPUTS; i++) input[i] = x[i] = bramah__graph_input(g, i % 3);
  random_formulas(seed, x);
  return g;
}

TEST(test_derivatives_against_differences)
{
  unsigned seed = 7;
  size_t far = 0, all = 0;
  for (unsigned k = 1; k <= 20; k++) {
    bramah__expr input[N_INPUTS], x[N_INPUTS + N_STEPS], along[N_INPUTS], dx[N_STEPS];
    bramah__graph *g = random_graph(k, input, x);
    double u[N_INPUTS], w[N_INPUTS], moved[2][N_INPUTS];
    const double h = 1e-6;
    for (int i = 0; i < N_INPUTS; i++) {
      u[i] = test_uniform(&seed), w[i] = test_uniform(&seed);
      along[i] = e_number(w[i]);
      moved[0][i] = u[i] - h * w[i], moved[1][i] = u[i] + h * w[i];
    }
    bramah__derive(g, N_INPUTS, input, along, N_STEPS, x + N_INPUTS, dx);
    const size_t n = bramah__graph_size(g);
    double *v[3];
    for (int i = 0; i < 3; i++) v[i] = malloc(n * sizeof(double));
    bramah__graph_evaluate(g, u, v[0]);
    bramah__graph_evaluate(g, moved[0], v[1]);
    bramah__graph_evaluate(g, moved[1], v[2]);
    for (int i = 0; i < N_STEPS; i++) {
      const uint32_t node = bramah__graph_node(g, x[N_INPUTS + i]);
      const double slope = e_is_number(dx[i]) ? dx[i].value : v[0][dx[i].node];
      const double difference = (v[2][node] - v[1][node]) / (2.0 * h);
      all++;
      far += !(fabs(slope - difference) < 1e-6 * (1.0 + fabs(slope))); /* next to a kink */
    }
    for (int i = 0; i < 3; i++) free(v[i]);
    bramah__graph_free(g);
  }
  ck_assert_uint_gt(all, 1000);
  ck_assert_uint_lt(far, 5);
}

/* The same formulas called with numbers: values, and slopes as the graph derives them, at kinks too. */
TEST(test_numbers_carry_their_slope)
{
  unsigned seed = 11;
  for (unsigned k = 1; k <= 40; k++) {
    bramah__expr input[N_INPUTS], x[N_INPUTS + N_STEPS], y[N_INPUTS + N_STEPS], along[N_INPUTS], dx[N_STEPS];
    bramah__graph *g = random_graph(k, input, x);
    double u[N_INPUTS];
    for (int i = 0; i < N_INPUTS; i++) {
      u[i] = k % 4 ? test_uniform(&seed) : 0.5 * (i / 2);
      along[i] = e_number(i % 3 ? test_uniform(&seed) : 0.0);
      y[i] = (bramah__expr){.value = u[i], .slope = along[i].value};
    }
    random_formulas(k, y);
    bramah__derive(g, N_INPUTS, input, along, N_STEPS, x + N_INPUTS, dx);
    double *v = malloc(bramah__graph_size(g) * sizeof *v);
    bramah__graph_evaluate(g, u, v);
    for (int i = 0; i < N_STEPS; i++) {
      const bramah__expr f = x[N_INPUTS + i], own = y[N_INPUTS + i];
      const double value = e_is_number(f) ? f.value : v[f.node],
                   slope = e_is_number(dx[i]) ? dx[i].value : v[dx[i].node];
      ck_assert(e_is_number(own));
      ck_assert_double_eq_tol(own.value, value, 1e-13);
      ck_assert_double_eq_tol(own.slope, slope, 1e-12 * (1.0 + fabs(slope)));
    }
    free(v);
    bramah__graph_free(g);
  }
}

TEST(test_seeds_on_nodes_hold_what_is_behind_them)
{
  bramah__graph *g = bramah__graph_new();
  const bramah__expr q = bramah__graph_input(g, BRAMAH__RATE_POINT), w = e_mul(q, q), f = e_mul(q, w),
                     at[2] = {q, w}, along[2] = {e_number(1.0), {0}};
  bramah__expr df;
  bramah__derive(g, 2, at, along, 1, &f, &df);
  ck_assert(same(df, w));
  bramah__derive(g, 1, at, along, 1, &f, &df);
  double value[64];
  ck_assert_uint_lt(bramah__graph_size(g), 64);
  bramah__graph_evaluate(g, (double[]){3.0}, value);
  ck_assert_double_eq(value[df.node], 27.0);
  bramah__graph_free(g);
}

/* ---- tapes ---- */

/* Three parts, the second on top of the first, the third beside it, against the graph, and every lane alone. */
TEST(test_tapes_give_the_bits_of_the_graph)
{
  unsigned seed = 11;
  for (unsigned k = 1; k <= 30; k++) {
    bramah__expr input[N_INPUTS], x[N_INPUTS + N_STEPS], dx[N_STEPS], one[1] = {e_number(1.0)};
    bramah__graph *g = random_graph(k, input, x);
    bramah__derive(g, 1, input + 2, one, N_STEPS, x + N_INPUTS, dx);
    const bramah__expr last[3] = {x[N_INPUTS + N_STEPS - 1], e_number(2.5), input[0]};
    const bramah__part parts[] = {
        {-1, 20, x + N_INPUTS}, {0, 40, dx + 40}, {-1, 30, x + N_INPUTS + 60}, {1, 3, last}};
    bramah__tape tape;
    ck_assert(bramah__tape_make(g, 4, parts, &tape));
    const size_t lanes_of[] = {1, 8, 16, 32};
    double u[32][N_INPUTS], *value = malloc(bramah__graph_size(g) * sizeof *value);
    for (int l = 0; l < 32; l++)
      for (int i = 0; i < N_INPUTS; i++) u[l][i] = test_uniform(&seed);
    for (int c = 0; c < 4; c++) {
      const size_t lanes = lanes_of[c];
      double *r = aligned_alloc(64, (tape.n_registers * lanes * sizeof *r + 63) / 64 * 64);
      bramah__tape_prepare(&tape, lanes, r);
      for (size_t l = 0; l < lanes; l++)
        for (size_t i = 0; i < N_INPUTS; i++) r[i * lanes + l] = u[l][i];
      for (size_t p = 0; p < tape.n_parts; p++) bramah__tape_run(&tape, p, lanes, r);
      for (size_t l = 0; l < lanes; l++) {
        bramah__graph_evaluate(g, u[l], value);
        for (size_t p = 0; p < 4; p++)
          for (size_t i = 0; i < parts[p].n; i++) {
            const double got = r[bramah__tape_results(&tape, p + BRAMAH__FIRST_PART)[i] * lanes + l],
                         want = value[bramah__graph_node(g, parts[p].result[i])];
            ck_assert_msg(memcmp(&got, &want, sizeof got) == 0,
                          "graph %u part %zu result %zu lane %zu: %g %g", k, p, i, l, got, want);
          }
      }
      free(r);
    }
    free(value);
    bramah__tape_free(&tape);
    bramah__graph_free(g);
  }
}

/* What changes seldom is not computed again, and what a part has left is used by those that stand on it. */
TEST(test_parts_share)
{
  bramah__graph *g = bramah__graph_new();
  const bramah__expr slow = bramah__graph_input(g, BRAMAH__RATE_SETUP),
                     fast = bramah__graph_input(g, BRAMAH__RATE_POINT);
  const bramah__expr seldom = e_exp(slow), often = e_mul(seldom, e_sin(fast)), more = e_mul(often, often);
  const bramah__part parts[] = {{-1, 1, &often}, {0, 1, &more}, {-1, 1, &more}};
  bramah__tape tape;
  ck_assert(bramah__tape_make(g, 3, parts, &tape));
  const size_t operations[] = {1, 0, 2, 1, 3};
  ck_assert_uint_eq(tape.n_parts, 5);
  for (int p = 0; p < 5; p++) ck_assert_uint_eq(tape.part[p].n_operations, operations[p]);
  bramah__tape_free(&tape);
  bramah__graph_free(g);
}

TEST(test_the_same_graph_gives_the_same_tape)
{
  bramah__tape tape[2];
  for (int k = 0; k < 2; k++) {
    bramah__expr input[N_INPUTS], x[N_INPUTS + N_STEPS];
    bramah__graph *g = random_graph(3, input, x);
    const bramah__part part = {-1, N_STEPS, x + N_INPUTS};
    ck_assert(bramah__tape_make(g, 1, &part, &tape[k]));
    bramah__graph_free(g);
  }
  ck_assert_uint_eq(tape[0].n_registers, tape[1].n_registers);
  for (size_t p = 0; p < tape[0].n_parts; p++) {
    const bramah__tape_part *part = &tape[0].part[p];
    ck_assert_mem_eq(part, &tape[1].part[p], sizeof *part);
    ck_assert_mem_eq(tape[0].code + part->code, tape[1].code + part->code, part->n_code * sizeof(uint16_t));
  }
  bramah__tape_free(&tape[0]);
  bramah__tape_free(&tape[1]);
}

/* ---- elimination ---- */

enum { N = 7 };

/* A sparse matrix whose diagonal vanishes in places, with unknowns of very different sizes. */
TEST(test_elimination)
{
  unsigned seed = 5;
  for (int k = 0; k < 40; k++) {
    bramah__graph *g = bramah__graph_new();
    bramah__expr A[N * N], b[N * 2], x[N * 2];
    double typical[N * N], scale[N], input[N * N + N * 2], *value;
    for (int i = 0; i < N; i++) scale[i] = i < 3 ? 1.0 : 1e6;
    for (int i = 0; i < N * N; i++) {
      const int keep = fabs(test_uniform(&seed)) < 0.5 || i / N == (i % N + k) % N;
      const bramah__expr entry = bramah__graph_input(g, BRAMAH__RATE_POINT);
      A[i] = keep ? entry : e_number(0.0);
      input[i] = typical[i] =
          keep ? (0.5 + fabs(test_uniform(&seed))) * (i % 3 ? 1.0 : -1.0) / scale[i % N] : 0.0;
    }
    for (int i = 0; i < 2 * N; i++) {
      b[i] = bramah__graph_input(g, BRAMAH__RATE_POINT);
      input[N * N + i] = test_uniform(&seed);
    }
    bramah__elimination e;
    ck_assert(bramah__eliminate_graph(N, A, typical, scale, &e));
    bramah__back_substitute(&e, 2, b, x);
    value = malloc(bramah__graph_size(g) * sizeof *value);
    bramah__graph_evaluate(g, input, value);
    for (int c = 0; c < 2; c++)
      for (int r = 0; r < N; r++) {
        double sum = 0.0, size = 0.0;
        for (int i = 0; i < N; i++) {
          const double term = input[r * N + i] * value[x[2 * i + c].node];
          sum += term, size += fabs(term);
        }
        ck_assert_double_le(fabs(sum - input[N * N + 2 * r + c]), 1e-12 * (1.0 + size));
      }
    for (int i = 0; i < N; i++) {
      const double pivot = value[e_inv(e.LU[i * N + i]).node];
      ck_assert_double_le(fabs(pivot - e.pivot[i]), 1e-9 * fabs(pivot));
    }
    free(value);
    bramah__elimination_free(&e);
    bramah__graph_free(g);
  }
}

TEST(test_a_singular_matrix_is_refused)
{
  bramah__graph *g = bramah__graph_new();
  bramah__expr A[4];
  const double typical[4] = {1, 2, 2, 4}, scale[2] = {1, 1};
  for (int i = 0; i < 4; i++) A[i] = bramah__graph_input(g, BRAMAH__RATE_POINT);
  bramah__elimination e;
  ck_assert(!bramah__eliminate_graph(2, A, typical, scale, &e));
  bramah__elimination_free(&e);
  bramah__graph_free(g);
}

int main(void) { return run_tests("graph"); }
