/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _DEFAULT_SOURCE /* lstat, O_NOFOLLOW, fdopen, mkdtemp, getentropy */
#include "lib/io/native.h"
#include "lib/base/text.h"
#include "lib/io/fail.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* Files and bytes in the folder; how long a program is in use before something is compiled for it, and how often it is asked
 * whether something is wanted [s]. */
enum { MOST_FILES = 200, LONGEST_PATH = 1024, MOST_WORDS = 8 };
static const off_t most_bytes = 256 << 20;
static const double patience = 0.5, between = 0.05;

/* No more optimisation than pays: expressions are folded and in a good order already. What decides on bits, the instructions of
 * this processor, elementary functions as vector code; nothing that takes long in functions of thousands of lines. */
static const char *const flags[] = {
    "-std=gnu11",
    "-O1",
    "-w",
    "-fPIC",
    "-shared",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ftree-vectorize",
    "-fno-tree-slp-vectorize", /* of GCC 12: contracts */
#if defined __x86_64__
    "-march=native",
#endif
};
enum { N_FLAGS = sizeof flags / sizeof *flags };

struct bramah__native_code {
  bramah_program *program;
  char folder[LONGEST_PATH];
  int is_temporary;   /* the folder: it goes with us */
  int waits;          /* for the compiler before anything is run */
  char compiler[256]; /* its words, each terminated */
  size_t n_words;
  uint64_t computer; /* stands for compiler, flags and processor */
  size_t n_pieces;
  void **loaded;        /* [n_pieces] */
  unsigned char *tried; /* [n_pieces] */
  pthread_t thread;
  int has_thread;
  pthread_mutex_t lock; /* of all that follows */
  pthread_cond_t changed;
  int ends;    /* we are closed */
  pid_t child; /* compiler at work; 0: none */
  bramah_native_report report;
};

/* ---- the folder ---- */

/* A folder that only we can enter, or nothing. */
static int make_own(const char *path)
{
  struct stat about;
  if (mkdir(path, 0700) != 0 && errno != EEXIST) return 0;
  return lstat(path, &about) == 0 && S_ISDIR(about.st_mode) && about.st_uid == geteuid() &&
         (about.st_mode & 077) == 0;
}

static int find_folder(bramah__native_code *n)
{
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME"), *temporary = getenv("TMPDIR");
  char parent[LONGEST_PATH - 32] = "";
  size_t used = 0;
  if (cache && *cache == '/')
    used = (size_t)snprintf(parent, sizeof parent, "%s", cache);
  else if (home && *home == '/')
    used = (size_t)snprintf(parent, sizeof parent, "%s/.cache", home);
  if (used >= sizeof parent) return 0;
  if (used > 0) {
    (void)!mkdir(parent, 0700);
    snprintf(n->folder, sizeof n->folder, "%s/bramah", parent);
    return make_own(n->folder);
  }
  snprintf(n->folder, sizeof n->folder, "%.900s/bramah-XXXXXX", temporary ? temporary : "/tmp");
  n->is_temporary = mkdtemp(n->folder) != NULL;
  return n->is_temporary;
}

/* Path of a file of this name and ending in the folder. */
static void path_of(const bramah__native_code *n, uint64_t key, const char *ending, char *out)
{
  snprintf(out, LONGEST_PATH + 64, "%s/%016llx%s", n->folder, (unsigned long long)key, ending);
}

static int is_older(const struct stat *a, const struct stat *b) { return a->st_mtime < b->st_mtime; }

/* Delete what has not been used for longest until the rest is within the bounds; all of it: the folder too. */
static void tidy(const bramah__native_code *n, int all)
{
  for (;;) {
    char path[LONGEST_PATH + 300], oldest[sizeof path] = "";
    struct stat about, of_oldest = {0};
    size_t files = 0;
    off_t bytes = 0;
    DIR *folder = opendir(n->folder);
    for (struct dirent *e; folder && (e = readdir(folder));) {
      snprintf(path, sizeof path, "%s/%s", n->folder, e->d_name);
      if (lstat(path, &about) != 0 || !S_ISREG(about.st_mode)) continue;
      files++;
      bytes += about.st_size;
      if (*oldest && !is_older(&about, &of_oldest)) continue;
      of_oldest = about;
      memcpy(oldest, path, sizeof oldest);
    }
    if (folder) closedir(folder);
    if (!*oldest || (!all && files <= MOST_FILES && bytes <= most_bytes) || unlink(oldest) != 0) break;
  }
  if (all) (void)rmdir(n->folder);
}

/* ---- files of code: what the compiler made, and a hash of it ---- */

/* Is this a whole file of our own? What is not must not be loaded: the loader believes all it reads. */
static int is_whole(const char *path)
{
  struct stat about;
  uint64_t hash = 0, stated = 0;
  unsigned char *bytes = NULL;
  const int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return 0;
  int good = fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid() &&
             (about.st_mode & 022) == 0 && about.st_size > (off_t)sizeof hash && about.st_size < most_bytes;
  const size_t size = good ? (size_t)about.st_size : 0, code = size - sizeof hash;
  if (good) bytes = malloc(size);
  good = bytes && read(file, bytes, size) == (ssize_t)size;
  if (good) {
    memcpy(&stated, bytes + code, sizeof stated);
    hash = bramah__fnv(0, bytes, code);
  }
  free(bytes);
  close(file);
  return good && hash == stated;
}

/* Put the hash behind what the compiler wrote. */
static int seal(const char *path)
{
  int good = 0;
  FILE *file = fopen(path, "r+b");
  if (!file) return 0;
  unsigned char block[4096];
  uint64_t hash = 0;
  for (size_t got; (got = fread(block, 1, sizeof block, file)) > 0;) hash = bramah__fnv(hash, block, got);
  good = !ferror(file) && fseek(file, 0, SEEK_END) == 0 && fwrite(&hash, sizeof hash, 1, file) == 1;
  return (fclose(file) == 0) & good;
}

static void say(bramah__native_code *n, const char *why)
{
  pthread_mutex_lock(&n->lock);
  n->report.n_failed++;
  n->report.why = why;
  pthread_mutex_unlock(&n->lock);
}

/* Load piece i and let the program use it. 0: it is not there, or not good; then it is deleted. */
static int load(bramah__native_code *n, size_t i, const bramah_native_piece *piece)
{
  char path[LONGEST_PATH + 64];
  const char *why = "a file in the cache was damaged";
  path_of(n, piece->key ^ n->computer, ".so", path);
  if (access(path, F_OK) != 0) return 0;
  if (is_whole(path)) {
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const bramah_native_part *part = handle ? dlsym(handle, "bramah_parts") : NULL;
    const unsigned *n_parts = handle ? dlsym(handle, "bramah_n_parts") : NULL;
    const int is_ours = part && n_parts && *n_parts == piece->n_parts;
    if (is_ours && bramah_program_use_native(n->program, i, part, NULL) == BRAMAH_OK) {
      n->loaded[i] = handle;
      (void)utimensat(AT_FDCWD, path, NULL, 0);
      return 1;
    }
    if (handle) dlclose(handle);
    if (is_ours) why = "the native code does not give the bits of the tape";
  }
  say(n, why);
  (void)unlink(path);
  return 0;
}

/* ---- the thread ---- */

/* Wait so long, or until we are closed: 1. */
static int is_over(bramah__native_code *n, double time)
{
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  const long part = until.tv_nsec + (long)(1e9 * time);
  until.tv_sec += part / 1000000000;
  until.tv_nsec = part % 1000000000;
  int waited = 0;
  pthread_mutex_lock(&n->lock);
  while (!n->ends && waited == 0) waited = pthread_cond_timedwait(&n->changed, &n->lock, &until);
  const int ends = n->ends;
  pthread_mutex_unlock(&n->lock);
  return ends;
}

/* ---- the compiler ---- */

/* A log that is kept says that the compiler failed: that is not tried again before the log is deleted, as the oldest file or
 * by the user. */
static const char compiler_failed[] = "the C compiler failed; its log is in the cache",
                  not_written[] = "the cache cannot be written";

/* Waits for the child; 1: it has ended well. */
static int wait_for(bramah__native_code *n, pid_t child)
{
  siginfo_t info;
  int status = -1, got;
  do got = waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
  while (got != 0 && errno == EINTR);
  pthread_mutex_lock(&n->lock); /* so that nobody ends a stranger that has its number */
  (void)waitpid(child, &status, 0);
  n->child = 0;
  pthread_mutex_unlock(&n->lock);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Run the compiler on a file, in a group of processes of its own; what it says goes into the log. NULL, or why nothing came
 * of it. */
static const char *run_compiler(bramah__native_code *n, char *source, char *made, const char *log)
{
  static const char no_compiler[] = "no C compiler", no_memory[] = "no memory";
  char *words[MOST_WORDS + N_FLAGS + 8], *word = n->compiler;
  size_t count = 0;
  for (size_t w = 0; w < n->n_words; w++, word += strlen(word) + 1) words[count++] = word;
  for (size_t f = 0; f < N_FLAGS; f++) words[count++] = (char *)(uintptr_t)flags[f];
  char output[] = "-o";
  words[count++] = output, words[count++] = made, words[count++] = source;
  words[count] = NULL;

  posix_spawn_file_actions_t files;
  posix_spawnattr_t how;
  pid_t child = 0;
  if (posix_spawn_file_actions_init(&files) != 0) return no_memory;
  if (posix_spawnattr_init(&how) != 0) {
    posix_spawn_file_actions_destroy(&files);
    return no_memory;
  }
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&how, 0);
  pthread_mutex_lock(&n->lock);
  const int failed = n->ends ? ECANCELED : posix_spawnp(&child, words[0], &files, &how, words, environ);
  if (!failed) n->child = child;
  pthread_mutex_unlock(&n->lock);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&how);
  if (failed) return no_compiler;
  return wait_for(n, child) ? NULL : compiler_failed;
}

static int write_text(const bramah__native_code *n, size_t i, const char *path)
{
  char *text = bramah_program_native_text(n->program, i);
  const int descriptor = text ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600) : -1;
  FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w");
  int good = 0;
  if (file) good = fputs(text, file) >= 0;
  if (file) good &= fclose(file) == 0;
  if (!file && descriptor >= 0) close(descriptor);
  free(text);
  return good;
}

static double seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Piece i from its text: by files with names that nobody can guess to the one that others load. NULL, or why not. */
static const char *compile(bramah__native_code *n, size_t i, uint64_t key)
{
  char source[LONGEST_PATH + 64], made[sizeof source], log[sizeof source], place[sizeof source];
  uint64_t number;
  path_of(n, key, ".log", place);
  if (access(place, F_OK) == 0) return compiler_failed;
  if (getentropy(&number, sizeof number) != 0) return not_written;
  path_of(n, number, ".c", source);
  path_of(n, number, ".part", made);
  path_of(n, number, ".text", log);
  const char *why = write_text(n, i, source) ? run_compiler(n, source, made, log) : not_written;
  (void)unlink(source);
  if (why != compiler_failed || is_over(n, 0.0) || rename(log, place) != 0) (void)unlink(log);
  path_of(n, key, ".so", place);
  if (!why && (!seal(made) || rename(made, place) != 0)) why = not_written;
  if (why) (void)unlink(made);
  return why;
}

static void make(bramah__native_code *n, size_t i, const bramah_native_piece *piece)
{
  const double begin = seconds();
  const char *why = compile(n, i, piece->key ^ n->computer);
  if (!why && !load(n, i, piece)) return; /* which says it */
  if (why) say(n, why);
  tidy(n, 0);
  pthread_mutex_lock(&n->lock);
  n->report.n_compiled += !why;
  n->report.seconds += seconds() - begin;
  pthread_mutex_unlock(&n->lock);
}

/* ---- in the background ---- */

/* What the program is run without, from the cache or, where it has been in use for a while, by the compiler. */
static void supply(bramah__native_code *n, size_t i, int patient)
{
  bramah_native_piece piece;
  (void)bramah_program_native_piece(n->program, i, &piece);
  if (n->tried[i] || piece.is_native || !(piece.is_asked || n->waits)) return;
  if (load(n, i, &piece)) {
    pthread_mutex_lock(&n->lock);
    n->report.n_cached++;
    pthread_mutex_unlock(&n->lock);
  } else if (!patient) {
    n->tried[i] = 1;
    make(n, i, &piece);
  }
}

static void *work(void *user)
{
  bramah__native_code *n = user;
  const double begin = seconds();
  while (!is_over(n, between)) {
    const int patient = seconds() - begin < patience;
    for (size_t i = 0; i < n->n_pieces; i++) supply(n, i, patient);
  }
  return NULL;
}

/* ---- */

/* The compiler's words, and what stands for it, the options and this processor, as Linux tells it. */
static int find_compiler(bramah__native_code *n)
{
  const char *named = getenv("CC");
  if (!named || !*named) named = "cc";
  size_t used = 0;
  for (const char *at = named; *at && n->n_words < MOST_WORDS; n->n_words++) {
    at += strspn(at, " \t");
    const size_t length = strcspn(at, " \t");
    if (length == 0) break;
    if (used + length + 1 > sizeof n->compiler) return 0;
    memcpy(n->compiler + used, at, length);
    used += length + 1;
    at += length;
  }
  n->computer = bramah__fnv(0, n->compiler, used);
  for (size_t f = 0; f < N_FLAGS; f++) n->computer = bramah__fnv(n->computer, flags[f], strlen(flags[f]));
  char line[4096];
  FILE *file = fopen("/proc/cpuinfo", "r");
  int seen = 0;
  while (file && !seen && fgets(line, sizeof line, file)) {
    seen = strncmp(line, "flags", 5) == 0 || strncmp(line, "Features", 8) == 0;
    if (seen || strncmp(line, "model name", 10) == 0)
      n->computer = bramah__fnv(n->computer, line, strlen(line));
  }
  if (file) fclose(file);
  return n->n_words > 0;
}

bramah__native_code *bramah__native_code_open(bramah_program *program)
{
  const char *wish = getenv("BRAMAH_NATIVE");
  bramah_native_piece piece;
  bramah__native_code *n = wish && strcmp(wish, "off") == 0 ? NULL : calloc(1, sizeof *n);
  if (!n) return NULL;
  n->program = program;
  n->waits = wish && strcmp(wish, "wait") == 0;
  pthread_mutex_init(&n->lock, NULL);
  pthread_cond_init(&n->changed, NULL);
  while (bramah_program_native_piece(program, n->n_pieces, &piece)) n->n_pieces++;
  n->loaded = calloc(n->n_pieces, sizeof *n->loaded);
  n->tried = calloc(n->n_pieces, 1);
  if (!n->loaded || !n->tried) return n;
  if (!find_compiler(n) || !find_folder(n)) {
    say(n, "the cache is not a folder of the user's alone");
    return n;
  }
  /* For one state what is there at once, or all of it if the run is to wait; the rest when it is asked for. */
  for (size_t i = 0; i < n->n_pieces; i++) {
    (void)bramah_program_native_piece(program, i, &piece);
    if (piece.lanes != 1) continue;
    if (n->waits)
      supply(n, i, 0);
    else
      n->report.n_cached += (uint64_t)load(n, i, &piece);
  }
  n->waits = 0;
  n->has_thread = pthread_create(&n->thread, NULL, work, n) == 0;
  return n;
}

void bramah__native_code_close(bramah__native_code *n)
{
  if (!n) return;
  pthread_mutex_lock(&n->lock);
  n->ends = 1;
  if (n->child) (void)kill(-n->child, SIGKILL);
  pthread_cond_signal(&n->changed);
  pthread_mutex_unlock(&n->lock);
  if (n->has_thread) pthread_join(n->thread, NULL);
  if (n->is_temporary) tidy(n, 1);
  for (size_t i = 0; n->loaded && i < n->n_pieces; i++)
    if (n->loaded[i]) dlclose(n->loaded[i]);
  pthread_cond_destroy(&n->changed);
  pthread_mutex_destroy(&n->lock);
  free(n->loaded);
  free(n->tried);
  free(n);
}

bramah_native_report bramah__native_code_report(bramah__native_code *n)
{
  if (!n) return (bramah_native_report){.is_off = 1};
  pthread_mutex_lock(&n->lock);
  const bramah_native_report report = n->report;
  pthread_mutex_unlock(&n->lock);
  return report;
}
