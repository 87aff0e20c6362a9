/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/io/threads.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct job {
  void (*work)(void *user);
  void *user;
} job;

static void *begin(void *user)
{
  const job *j = user;
  j->work(j->user);
  return NULL;
}

void bramah__run_threads(size_t more, void (*work)(void *user), void (*own)(void *user), void *user)
{
  job j = {work, user};
  pthread_t *threads = calloc(more + 1, sizeof *threads);
  size_t n = 0;
  while (threads && n < more && pthread_create(&threads[n], NULL, begin, &j) == 0) n++;
  own(user);
  while (n-- > 0) pthread_join(threads[n], NULL);
  free(threads);
}
