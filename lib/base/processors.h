/* SPDX-License-Identifier: MIT */
#ifndef BRAMAH_LIB_BASE_PROCESSORS_H
#define BRAMAH_LIB_BASE_PROCESSORS_H

/* Several versions of a function, the best of which the loader takes for this processor. Sums and products are never
 * contracted (-ffp-contract=off), so that all give the same bits. What it calls must be in it
 * to be of the version too. */
#if defined __x86_64__ && defined __gnu_linux__ && defined __GNUC__ && !defined __clang__ &&                 \
    !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#define BRAMAH__FOR_PROCESSORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define BRAMAH__FOR_PROCESSORS
#endif

/* Before a loop over lanes, none of which needs what another one writes: it becomes instructions on vectors. GCC would write it
 * out before it looks for them, or compare all addresses. */
#if defined __GNUC__ && !defined __clang__
#define BRAMAH__AS_VECTORS _Pragma("GCC ivdep") _Pragma("GCC unroll 1")
#else
#define BRAMAH__AS_VECTORS
#endif

#if defined __GNUC__
#define BRAMAH__IN_CALLER static inline __attribute__((always_inline))
#else
#define BRAMAH__IN_CALLER static inline
#endif

#endif
