/* SPDX-License-Identifier: MIT */
/* Random numbers by their place instead of their order: number i of stream `key` is always the same, whatever was drawn
 * before and by whom. splitmix64 (G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators",
 * OOPSLA 2014). */
#ifndef BRAMAH_TEST_CAMPAIGN_DRAW_H
#define BRAMAH_TEST_CAMPAIGN_DRAW_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

static inline uint64_t draw_mix(uint64_t x)
{
  x += UINT64_C(0x9E3779B97F4A7C15);
  x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
  return x ^ (x >> 31);
}

/* A stream of its own for what it is about. */
static inline uint64_t draw_key(uint64_t seed, uint64_t what, uint64_t which)
{
  return draw_mix(draw_mix(draw_mix(seed) + what) + which);
}

/* Between 0 and 1, neither of both. */
static inline double draw_uniform(uint64_t key, uint64_t i)
{
  return ((double)(draw_mix(key + i * UINT64_C(0xD1342543DE82EF95)) >> 11) + 0.5) * 0x1p-53;
}

static inline double draw_between(uint64_t key, uint64_t i, double least, double most)
{
  return least + (most - least) * draw_uniform(key, i);
}

/* Of equal chance per decade; least > 0. */
static inline double draw_log(uint64_t key, uint64_t i, double least, double most)
{
  return least * pow(most / least, draw_uniform(key, i));
}

/* 0 ... n - 1. */
static inline size_t draw_one(uint64_t key, uint64_t i, size_t n)
{
  return (size_t)(draw_uniform(key, i) * (double)n);
}

/* Standard normal (G. E. P. Box, M. E. Muller, Ann. Math. Stat. 29, 1958). */
static inline double draw_normal(uint64_t key, uint64_t i)
{
  return sqrt(-2.0 * log(draw_uniform(key, 2 * i))) * cos(6.283185307179586 * draw_uniform(key, 2 * i + 1));
}

#endif
