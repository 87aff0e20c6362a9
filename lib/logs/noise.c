/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random numbers: GSL's Mersenne twister and normal distribution. The generator lies in memory of our own and
 * not in gsl_rng_alloc's, which would call GSL's error handler, and so abort the process, when memory runs
 * out. */
#include "bramah/noise.h"
#include "lib/base/diag.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <stdlib.h>

struct bramah_noise {
  gsl_rng rng;
  unsigned char state[]; /* of gsl_rng_mt19937 */
};

/* splitmix64: turns any number, also a small one, into well mixed bits; one to one. */
static uint64_t mix(uint64_t x)
{
  x += UINT64_C(0x9E3779B97F4A7C15);
  x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
  return x ^ (x >> 31);
}

/* GSL's generators take 32 bits of seed; 0 would mean their default. Two streams of one study meet with a
 * probability of one in four thousand million. */
static unsigned long seed_of(uint64_t seed, uint64_t stream)
{
  const unsigned long bits = (unsigned long)(mix(mix(seed) + stream) >> 32);
  return bits ? bits : 1;
}

bramah_status bramah_noise_new(uint64_t seed, uint64_t stream, bramah_diag *diag, bramah_noise **out)
{
  bramah_noise *noise = malloc(sizeof *noise + gsl_rng_mt19937->size);
  if (!noise) return bramah__fail(diag, BRAMAH_E_MEMORY, NULL, "out of memory");
  noise->rng.type = gsl_rng_mt19937;
  noise->rng.state = noise->state;
  gsl_rng_set(&noise->rng, seed_of(seed, stream));
  *out = noise;
  return BRAMAH_OK;
}

void bramah_noise_free(bramah_noise *noise) { free(noise); }

double bramah_noise_gaussian(bramah_noise *noise, double sigma)
{
  return gsl_ran_gaussian_ziggurat(&noise->rng, sigma);
}

/* FNV-1a, 64 bits. */
uint64_t bramah_noise_stream(const char *name)
{
  uint64_t hash = UINT64_C(0xCBF29CE484222325);
  for (; *name; name++) hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001B3);
  return hash;
}
