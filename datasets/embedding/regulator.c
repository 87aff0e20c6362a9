/* SPDX-License-Identifier: MIT */
/* Linear equations of a machine at rest, and the feedback u = -K x that makes the integral of x'Qx + u'Ru least. */
#include <bramah/linear.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
  const bramah_operating_point_options at_rest = {.at = "rest"};
  bramah_diag diag = {.message = "which machine?"};
  bramah_operating_point *point;
  if (argc < 2 || bramah_operating_point_new(argv[1], &at_rest, &diag, &point))
    return fprintf(stderr, "%s: %s\n", diag.thing, diag.message), EXIT_FAILURE;
  const bramah_linear_system *s = point->system;
  const size_t n = s->n, m = s->n_u;
  double *Q = calloc(n * n, sizeof *Q), *R = calloc(m * m, sizeof *R), *K = calloc(m * n, sizeof *K);
  for (size_t i = 0; i < n; i++) /* as dear as 1 V: 0.01 rad or m and their rates, 10 bar, 10 V of a spool */
    Q[i * n + i] = s->x_unit[i][0] == 'P' ? 1e-12 : s->x_unit[i][0] == 'V' ? 1e-2 : 1e4;
  for (size_t u = 0; u < m; u++) R[u * m + u] = 1.0;
  if (bramah_lqr(s, Q, R, K, NULL, &diag))
    return fprintf(stderr, "%s: %s\n", diag.thing, diag.message), EXIT_FAILURE;
  for (size_t i = 0; i < m * n; i++) printf("%s,%s,%.17g\n", s->u_name[i / n], s->x_name[i % n], -K[i]);
  free(Q), free(R), free(K);
  bramah_operating_point_free(point);
}
