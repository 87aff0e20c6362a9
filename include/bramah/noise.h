/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reproducible noise (GSL). Part of libbramah-tools. */
#ifndef BRAMAH_NOISE_H
#define BRAMAH_NOISE_H

#include <stdint.h>
#include "bramah/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A stream of random numbers. Streams of one seed with different numbers are independent, so that the noise
 * of a sensor does not depend on which other sensors there are. */
typedef struct bramah_noise bramah_noise;
/* Begin a stream. Errors: E_MEMORY. */
BRAMAH_API bramah_status bramah_noise_new(uint64_t seed, uint64_t stream, bramah_diag *diag,
                                          bramah_noise **out);
BRAMAH_API void bramah_noise_free(bramah_noise *noise); /* NULL allowed */
/* One sample of a normal distribution with mean 0 and standard deviation sigma. */
BRAMAH_API double bramah_noise_gaussian(bramah_noise *noise, double sigma);
/* A stream number from a name. */
BRAMAH_API uint64_t bramah_noise_stream(const char *name);

#ifdef __cplusplus
}
#endif
#endif
