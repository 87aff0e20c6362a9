/* SPDX-License-Identifier: MIT */
/* Calls that a real-time loop must not make, intercepted in the program that includes this: memory, files,
 * clocks, sleep and locks. While `armed` each is counted in `calls`; all go through to the C library but for
 * opening files. Include it once, after _GNU_SOURCE. */
#ifndef BRAMAH_TEST_EMBED_INTERCEPT_H
#define BRAMAH_TEST_EMBED_INTERCEPT_H

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int armed, calls;

/* gcc says by a macro that a sanitizer is at work, clang by __has_feature. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SANITIZED 0
#endif

#if !SANITIZED && defined(__GLIBC__)
static void note(void)
{
  if (armed) calls++;
}

/* ---- memory ---- */

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);
void *malloc(size_t n) { return note(), __libc_malloc(n); }
void *calloc(size_t n, size_t size) { return note(), __libc_calloc(n, size); }
void *realloc(void *p, size_t n) { return note(), __libc_realloc(p, n); }
void *aligned_alloc(size_t a, size_t n) { return note(), __libc_memalign(a, n); }
void *memalign(size_t a, size_t n) { return note(), __libc_memalign(a, n); }
int posix_memalign(void **p, size_t a, size_t n)
{
  note();
  *p = __libc_memalign(a, n);
  return *p ? 0 : ENOMEM;
}
void free(void *p) { note(), __libc_free(p); }
void *mmap(void *at, size_t n, int protection, int flags, int file, off_t offset)
{
  note();
  return (void *)(uintptr_t)syscall(SYS_mmap, at, n, protection, flags, file, offset); /* NOLINT */
}

/* ---- files ---- */

int open(const char *path, int flags, ...) { return (void)path, (void)flags, note(), errno = ENOSYS, -1; }
int openat(int folder, const char *path, int flags, ...)
{
  return (void)folder, (void)path, (void)flags, note(), errno = ENOSYS, -1;
}
ssize_t read(int file, void *to, size_t n) { return note(), syscall(SYS_read, file, to, n); }
ssize_t write(int file, const void *from, size_t n) { return note(), syscall(SYS_write, file, from, n); }

/* ---- clocks ---- */

int clock_gettime(clockid_t clock, struct timespec *t)
{
  note();
  return (int)syscall(SYS_clock_gettime, clock, t);
}
time_t time(time_t *t)
{
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (t) *t = now.tv_sec;
  return now.tv_sec;
}
clock_t clock(void) { return note(), (clock_t)0; }
int nanosleep(const struct timespec *t, struct timespec *rest)
{
  note();
  return (int)syscall(SYS_nanosleep, t, rest);
}

/* ---- locks ---- */

/* The C library's own function of that name. */
#define BRAMAH_TEST_NEXT(type, name)                                                                         \
  static type real;                                                                                          \
  if (!real) *(void **)(&real) = dlsym(RTLD_NEXT, name);

typedef int (*on_mutex)(pthread_mutex_t *);
typedef int (*on_rwlock)(pthread_rwlock_t *);
typedef int (*on_semaphore)(sem_t *);
typedef int (*on_once)(pthread_once_t *, void (*)(void));
int pthread_mutex_lock(pthread_mutex_t *mutex)
{
  BRAMAH_TEST_NEXT(on_mutex, "pthread_mutex_lock")
  return note(), real(mutex);
}
int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
  BRAMAH_TEST_NEXT(on_mutex, "pthread_mutex_trylock")
  return note(), real(mutex);
}
int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
  BRAMAH_TEST_NEXT(on_rwlock, "pthread_rwlock_rdlock")
  return note(), real(lock);
}
int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
  BRAMAH_TEST_NEXT(on_rwlock, "pthread_rwlock_wrlock")
  return note(), real(lock);
}
int sem_wait(sem_t *semaphore)
{
  BRAMAH_TEST_NEXT(on_semaphore, "sem_wait")
  return note(), real(semaphore);
}
int pthread_once(pthread_once_t *once, void (*run)(void))
{
  BRAMAH_TEST_NEXT(on_once, "pthread_once")
  return note(), real(once, run);
}
#endif

/* 1 if calls are caught here, of each sort; 0 under a sanitizer or valgrind, which catch them first. */
static int interception_works(void)
{
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static void *volatile kept;
  struct timespec now;
  char nothing;
  pthread_mutex_lock(&mutex); /* finds the real one, which may allocate */
  pthread_mutex_unlock(&mutex);
  armed = 1;
  kept = malloc(1);
  free(kept);
  clock_gettime(CLOCK_MONOTONIC, &now);
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  const int opened = open("/dev/null", O_RDONLY);
  const ssize_t none = read(-1, &nothing, 1);
  armed = 0;
  const int seen = calls;
  calls = 0;
  if (opened >= 0) close(opened);
  return seen == 6 && opened < 0 && none < 0;
}

#endif
