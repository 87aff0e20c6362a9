/* SPDX-License-Identifier: MIT */
/* The arithmetic of a cycle on the covariance P [n x n] of a filter, or of several in lockstep. This text is included
 * once for each number of filters, with
 *
 *   BRAMAH__LANES           how many go in lockstep: of every number those of all lanes lie side by side, so that entry
 *                           (i, j) of lane l of a matrix with m columns is at (i m + j) BRAMAH__LANES + l
 *   BRAMAH__KERNEL(name)    what its functions are called
 *
 * A cycle is
 *
 *   propagate               P = F P F' + Gamma Gamma'            leaves all of P
 *   of each sample:
 *     project               PH = P H', H P H'
 *     gain                  K = PH / S, 0 where held; dx += K (y - H dx),  S = H P H' + r
 *     reduce                P = (I - K H) P (I - K H)' + K r K'  of the upper triangle alone
 *   mirror                  the lower triangle from the upper one
 *
 * (dissertation 3.3-3.9). What is fixed is the order of every sum: terms ascend with the index, and each is rounded
 * (no contraction). Terms that are zero by structure are left out, which changes no bit of a finite number: a lane that
 * takes part in what only others need adds zeros. So one lane, several lanes and generated code agree to the bit.
 *
 * Joseph's form of one sample, by K = PH / S: what the product from the left takes off, P1 = P - K PH', is symmetric up
 * to rounding, and the product from the right, P1 + (K r - P1 H') K', is P1 up to rounding too: it is what keeps P
 * positive, P1 alone does not where r is small beside S. Of the upper triangle P1 is kept, and for S > 1000 r the mean of
 * both sides added:
 *   P_ij = P1_ij + ((w_i K_j) + (w_j K_i)) / 2,  w = K r - P1 H'
 * Where the gain is held at zero (Schmidt) it is exact to leave P among those held as it is, and to take PH_i K_j or
 * K_i PH_j off where one of the two is. Matrices row-major; no allocation; nothing fails. */

#if defined __GNUC__
#define BRAMAH__INLINE static inline __attribute__((always_inline))
#else
#define BRAMAH__INLINE static inline
#endif

/* A sample matters to rounding whose innovation has so many times its own variance. */
#define PRECISE 1e3

#define LANES ((size_t)BRAMAH__LANES)
#define SMALL 8 /* up to here loops over all states are written out */
#if BRAMAH__LANES > 1 && defined __GNUC__ && !defined __clang__ /* as processors.h */
#define EACH_LANE _Pragma("GCC unroll 1") for (size_t l = 0; l < LANES; l++)
#else
#define EACH_LANE for (size_t l = 0; l < LANES; l++)
#endif
#define AT(k) ((k)*LANES + l)
#define COLUMN(c) (column ? column[c] : (c)) /* of those that a function is told of; NULL: all */

/* Is state i held in some lane (held = 1), or free in some (0)? NULL: all are free. */
BRAMAH__INLINE int BRAMAH__KERNEL(some)(const unsigned char *held, size_t i, unsigned char wanted)
{
  int found = 0;
  if (!held) return !wanted;
  EACH_LANE found |= held[AT(i)] == wanted;
  return found;
}

/* y_j += factor x_j, j from first to end. */
BRAMAH__INLINE void BRAMAH__KERNEL(add)(size_t first, size_t end, const double *factor,
                                        const double *restrict x, double *restrict y)
{
  for (size_t j = first; j < end; j++) EACH_LANE y[AT(j)] += factor[l] * x[AT(j)];
}

/* `wide` columns from j on of the product of a row of F, of whose entries those listed may not be zero, and P: the sums
 * stay in registers. */
BRAMAH__INLINE void BRAMAH__KERNEL(row_times)(size_t wide, size_t j, size_t n, size_t count,
                                              const size_t *column, const double *F, const double *restrict P,
                                              double *restrict out)
{
  double sum[16 * BRAMAH__LANES];
  for (size_t b = 0; b < wide * LANES; b++) sum[b] = 0.0;
  for (size_t c = 0; c < count; c++) {
    const double *f = F + COLUMN(c) * LANES, *x = P + (COLUMN(c) * n + j) * LANES;
    for (size_t b = 0; b < wide; b++) EACH_LANE sum[AT(b)] += f[l] * x[AT(b)];
  }
  for (size_t b = 0; b < wide * LANES; b++) out[j * LANES + b] = sum[b];
}

/* Rows (columns: the same, `step` from row to row) of a block of augmented states by its entries of F. */
BRAMAH__INLINE void BRAMAH__KERNEL(turn)(size_t n, const bramah__kernel_block *block, const double *F,
                                         size_t along, size_t across, double *P)
{
  const size_t s = block->state;
  const double *top = F + (s * n + s) * LANES, *bottom = top + n * LANES;
  for (size_t j = 0; j < n; j++) {
    double *x = P + (s * across + j * along) * LANES, *y = x + across * LANES;
    EACH_LANE
    {
      const double value = x[l], rate = block->order == 2 ? y[l] : 0.0;
      x[l] = top[l] * value;
      if (block->order != 2) continue;
      x[l] += top[LANES + l] * rate;
      y[l] = bottom[l] * value + bottom[LANES + l] * rate;
    }
  }
}

/* Blocks of augmented states in P = F P F' + Gamma Gamma', when the rows of the plant are there. */
BRAMAH__INLINE void BRAMAH__KERNEL(propagate_blocks)(const bramah__kernel_shape *shape, const double *F,
                                                     const double *Gamma, double *restrict P)
{
  const size_t n = shape->n, nq = shape->nq;
  for (size_t b = 0; b < shape->n_moving; b++) {
    const bramah__kernel_block *block = &shape->moving[b];
    const size_t s = block->state;
    BRAMAH__KERNEL(turn)(n, block, F, 1, n, P);
    BRAMAH__KERNEL(turn)(n, block, F, n, 1, P);
    if (block->order == 2) EACH_LANE P[AT(s * n + s + 1)] = P[AT((s + 1) * n + s)];
  }
  for (size_t b = 0; b < shape->n_noisy; b++) {
    const size_t s = shape->noisy[b].state;
    const double *top = Gamma + (s * nq + s) * LANES, *bottom = top + nq * LANES;
    EACH_LANE P[AT(s * n + s)] += top[l] * top[l];
    if (shape->noisy[b].order != 2) continue;
    EACH_LANE
    {
      P[AT((s + 1) * n + s)] = P[AT(s * n + s + 1)] += top[l] * bottom[l];
      P[AT((s + 1) * n + s + 1)] += bottom[l] * bottom[l] + bottom[LANES + l] * bottom[LANES + l];
    }
  }
}

/* P = F P F' + Gamma Gamma'. F [n x n] has rows of the plant with entries in the columns `acting`, and blocks of the
 * augmented states, of which those that are not the identity are listed, as are those with noise. Gamma [n x nq] has
 * its columns below n_plant and from n on in rows of the plant alone, the others in those of their own block. T
 * [n_plant x n] is scratch. */
BRAMAH__INLINE void BRAMAH__KERNEL(propagate)(const bramah__kernel_shape *shape, const double *F,
                                              const double *Gamma, double *restrict P, double *restrict T)
{
  const size_t n = shape->n, ne = shape->n_plant, nq = shape->nq;
  const size_t *column = shape->acting, count = shape->n_acting;
  for (size_t r = 0; r < ne; r++) {
    const double *row = F + r * n * LANES;
    double *out = T + r * n * LANES;
    size_t j = 0;
    for (; LANES == 1 && j + 16 <= n; j += 16)
      BRAMAH__KERNEL(row_times)(16, j, n, count, column, row, P, out);
    for (; LANES <= 4 && j + 4 <= n; j += 4) BRAMAH__KERNEL(row_times)(4, j, n, count, column, row, P, out);
    for (; j < n; j++) BRAMAH__KERNEL(row_times)(1, j, n, count, column, row, P, out);
  }
  for (size_t r = 0; r < ne; r++)
    for (size_t s = 0; s <= r; s++) {
      double sum[BRAMAH__LANES] = {0}, noise[BRAMAH__LANES] = {0};
      for (size_t c = 0; c < count; c++)
        EACH_LANE sum[l] += T[AT(r * n + COLUMN(c))] * F[AT(s * n + COLUMN(c))];
      for (size_t k = 0; k < ne; k++) EACH_LANE noise[l] += Gamma[AT(r * nq + k)] * Gamma[AT(s * nq + k)];
      for (size_t k = n; k < nq; k++) EACH_LANE noise[l] += Gamma[AT(r * nq + k)] * Gamma[AT(s * nq + k)];
      EACH_LANE P[AT(r * n + s)] = P[AT(s * n + r)] = sum[l] + noise[l];
    }
  for (size_t r = 0; r < ne; r++)
    for (size_t k = ne; k < n; k++) EACH_LANE P[AT(r * n + k)] = P[AT(k * n + r)] = T[AT(r * n + k)];
  BRAMAH__KERNEL(propagate_blocks)(shape, F, Gamma, P);
}

/* The first `end` elements of P H', of all of P or of its upper triangle; columns of H as in project. */
BRAMAH__INLINE void BRAMAH__KERNEL(times)(int whole, size_t n, size_t end, size_t count, const size_t *column,
                                          const double *H, const double *restrict P, double *restrict out)
{
  for (size_t k = 0; k < end * LANES; k++) out[k] = 0.0;
  for (size_t s = 0; s < count; s++) {
    const size_t c = COLUMN(s), middle = whole ? 0 : c < end ? c : end;
    if (n <= SMALL && !whole) {
      for (size_t i = 0; i < end; i++)
        EACH_LANE out[AT(i)] += P[AT(i < c ? i * n + c : c * n + i)] * H[AT(c)];
      continue;
    }
    for (size_t i = 0; i < middle; i++) EACH_LANE out[AT(i)] += P[AT(i * n + c)] * H[AT(c)];
    BRAMAH__KERNEL(add)(middle, end, H + c * LANES, P + c * n * LANES, out);
  }
}

/* PH [n] = P H' of all of P or of its upper triangle, and H PH. H has entries in the `count` columns listed, ascending; NULL: in
 * the first `count`. */
BRAMAH__INLINE void BRAMAH__KERNEL(project)(int whole, size_t n, size_t count, const size_t *column,
                                            const double *H, const double *restrict P, double *restrict PH,
                                            double *variance)
{
  BRAMAH__KERNEL(times)(whole, n, n, count, column, H, P, PH);
  EACH_LANE variance[l] = 0.0;
  for (size_t s = 0; s < count; s++) {
    const size_t c = COLUMN(s);
    EACH_LANE variance[l] += H[AT(c)] * PH[AT(c)];
  }
}

/* K [n] and dx from PH, the variance S of the innovation and what the innovation has left, rest. */
BRAMAH__INLINE void BRAMAH__KERNEL(gain)(size_t n, const unsigned char *held, const double *restrict PH,
                                         const double *S, const double *rest, double *restrict K,
                                         double *restrict dx)
{
  double inverse[BRAMAH__LANES], share[BRAMAH__LANES];
  EACH_LANE
  {
    inverse[l] = 1.0 / S[l];
    share[l] = rest[l] * inverse[l];
  }
  for (size_t i = 0; i < n; i++) EACH_LANE
    {
      const double shown = held && held[AT(i)] ? 0.0 : PH[AT(i)];
      K[AT(i)] = shown * inverse[l];
      dx[AT(i)] += shown * share[l];
    }
}

/* The upper triangle of P after a sample with row H (columns as in project), variances S and r, PH and the gain K;
 * w [n] is scratch. States from `end` on are held in all lanes. */
BRAMAH__INLINE void BRAMAH__KERNEL(reduce)(size_t n, size_t end, const unsigned char *held, size_t count,
                                           const size_t *column, const double *H, const double *S,
                                           const double *r, const double *restrict PH,
                                           const double *restrict K, double *restrict w, double *restrict P)
{
  for (size_t i = 0; i < end; i++) {
    double factor[BRAMAH__LANES];
    if (BRAMAH__KERNEL(some)(held, i, 0)) {
      EACH_LANE factor[l] = -K[AT(i)];
      BRAMAH__KERNEL(add)(i, n, factor, PH, P + i * n * LANES);
    }
    if (BRAMAH__KERNEL(some)(held, i, 1)) {
      EACH_LANE factor[l] = held[AT(i)] ? -PH[AT(i)] : 0.0;
      BRAMAH__KERNEL(add)(i, end, factor, K, P + i * n * LANES);
    }
  }

  /* what rounding left, half of it from either side */
  int matters = 0;
  EACH_LANE matters |= S[l] > PRECISE * r[l];
  if (!matters) return;
  BRAMAH__KERNEL(times)(0, n, end, count, column, H, P, w);
  for (size_t i = 0; i < end; i++) EACH_LANE
    {
      const int none = (held && held[AT(i)]) || !(S[l] > PRECISE * r[l]);
      w[AT(i)] = none ? 0.0 : 0.5 * (K[AT(i)] * r[l] - w[AT(i)]);
    }
  for (size_t i = 0; i < end; i++) {
    double *row = P + i * n * LANES;
    if (!BRAMAH__KERNEL(some)(held, i, 0)) continue;
    for (size_t j = i; j < end; j++) EACH_LANE row[AT(j)] += w[AT(i)] * K[AT(j)] + w[AT(j)] * K[AT(i)];
  }
}

/* The lower triangle from the first `end` rows of the upper one; the rest is as it was. */
BRAMAH__INLINE void BRAMAH__KERNEL(mirror)(size_t n, size_t end, double *P)
{
  for (size_t i = 0; i < end; i++)
    for (size_t j = i + 1; j < n; j++) EACH_LANE P[AT(j * n + i)] = P[AT(i * n + j)];
}

#undef LANES
#undef PRECISE
#undef SMALL
#undef EACH_LANE
#undef AT
#undef COLUMN
