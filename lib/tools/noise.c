/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random numbers. The normal distribution is GSL's; the generator behind it is our own gsl_rng_type, because
 * GSL's generators use only 32 bits of their seed: with ten thousand streams (a Monte Carlo study of a few
 * sensors) two of them would be the same more likely than one would want. It lies within the object and not
 * in gsl_rng_alloc, which would call GSL's error handler, and so abort the process, when memory runs out. */
#include "bramah/noise.h"
#include "lib/base/diag.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <stdlib.h>

struct bramah_noise {
  uint64_t state[4];
  gsl_rng rng; /* its state is the one above */
};

static uint64_t rotate(uint64_t x, int by) { return (x << by) | (x >> (64 - by)); }

/* xoshiro256++ of D. Blackman and S. Vigna, "Scrambled linear pseudorandom number generators", 2021. */
static uint64_t next_bits(uint64_t s[4])
{
  uint64_t result = rotate(s[0] + s[3], 23) + s[0];
  uint64_t t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = rotate(s[3], 45);
  return result;
}

/* splitmix64: turns any number, also a small one, into well mixed bits; one to one. */
static uint64_t mix(uint64_t x)
{
  x += UINT64_C(0x9E3779B97F4A7C15);
  x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
  return x ^ (x >> 31);
}

/* Seed and stream each fill half of the state, one to one: no two pairs give the same numbers. */
static void seed_state(uint64_t s[4], uint64_t seed, uint64_t stream)
{
  s[0] = mix(seed);
  s[1] = mix(stream ^ UINT64_C(0x6A09E667F3BCC909));
  s[2] = mix(s[0] + s[1]);
  s[3] = mix(s[2]) | 1u; /* the state must not be all zero */
  for (int i = 0; i < 16; i++) next_bits(s);
}

/* GSL takes 32 bits at a time, on every platform; the upper ones are the better. */
static unsigned long get(void *state) { return (unsigned long)(next_bits(state) >> 32); }

static double get_double(void *state) { return (double)(next_bits(state) >> 11) * 0x1p-53; }

static void set(void *state, unsigned long seed) { seed_state(state, seed, 0); }

static const gsl_rng_type generator = {
    "xoshiro256++", 0xFFFFFFFFul, 0, 4 * sizeof(uint64_t), set, get, get_double,
};

bramah_status bramah_noise_new(uint64_t seed, uint64_t stream, bramah_diag *diag, bramah_noise **out)
{
  bramah_noise *noise = malloc(sizeof *noise);
  if (!noise) return bramah__fail(diag, BRAMAH_E_MEMORY, NULL, "out of memory");
  seed_state(noise->state, seed, stream);
  noise->rng.type = &generator;
  noise->rng.state = noise->state;
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
