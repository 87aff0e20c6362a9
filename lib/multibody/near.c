/* SPDX-License-Identifier: MIT */
/* Broad phase: which of many balls overlap. Sort and sweep (Baraff 1992) along the axis that they are spread most along. */
#include "lib/multibody/shape.h"
#include "lib/math/vector3.h"

/* The axis of the largest variance, the first of equal ones. */
static int widest(size_t n, const bramah__around *ball)
{
  double most = -1.0;
  int best = 0;
  for (int a = 0; a < 3; a++) {
    double mean = 0.0, spread = 0.0;
    for (size_t i = 0; i < n; i++) mean += ball[i].middle[a] / (double)n;
    for (size_t i = 0; i < n; i++)
      spread += (ball[i].middle[a] - mean) * (ball[i].middle[a] - mean) / (double)n;
    if (spread > most) most = spread, best = a;
  }
  return best;
}

static double begin_of(const bramah__around *ball, int axis) { return ball->middle[axis] - ball->radius; }

void bramah__near_pairs(size_t n, const bramah__around *ball, int *order,
                        void (*found)(void *, size_t, size_t), void *self)
{
  const int axis = widest(n, ball);
  for (size_t i = 1; i < n; i++) { /* insertion: little has changed since the last time */
    const int moved = order[i];
    const double begin = begin_of(&ball[moved], axis);
    size_t k = i;
    for (; k > 0; k--) {
      const int before = order[k - 1];
      const double at = begin_of(&ball[before], axis);
      if (at < begin || (at == begin && before < moved)) break;
      order[k] = before;
    }
    order[k] = moved;
  }
  for (size_t i = 0; i < n; i++) {
    const bramah__around *one = &ball[order[i]];
    const double end = one->middle[axis] + one->radius;
    for (size_t k = i + 1; k < n && begin_of(&ball[order[k]], axis) <= end; k++) {
      const bramah__around *other = &ball[order[k]];
      const double reach = one->radius + other->radius;
      double d[3];
      bramah__sub3(one->middle, other->middle, d);
      if (bramah__dot3(d, d) > reach * reach) continue;
      found(self, (size_t)order[order[i] < order[k] ? i : k], (size_t)order[order[i] < order[k] ? k : i]);
    }
  }
}
