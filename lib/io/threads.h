/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The threads of tuning and of sensor studies. */
#ifndef BRAMAH_LIB_IO_THREADS_H
#define BRAMAH_LIB_IO_THREADS_H

#include <stddef.h>

/* work(user) on `more` threads, and own(user) on the calling one; comes back when all are done. Where no more
 * threads can be had, fewer do it: own must be able to do all the work alone. */
void bramah__run_threads(size_t more, void (*work)(void *user), void (*own)(void *user), void *user);

#endif
