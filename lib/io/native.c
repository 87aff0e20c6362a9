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
enum { MOST_FILES = 200, LONGEST_PATH = 1024, MOST_WORDS = 8, MOST_COMPILERS = 4 };
static const off_t most_bytes = 256 << 20;
static const double patience = 0.5, between = 0.05, between_compilers = 0.02;

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

/* A compiler at work on a piece, and its files: with names that nobody can guess. */
typedef struct compiler {
  pid_t child; /* 0: none */
  size_t piece;
  uint64_t key;
  double begin;
  char source[LONGEST_PATH + 64], made[LONGEST_PATH + 64], log[LONGEST_PATH + 64];
} compiler;

struct bramah__native_code {
  bramah_program *program;
  char folder[LONGEST_PATH];
  int is_temporary;   /* the folder: it goes with us */
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
  int ends; /* we are closed */
  size_t n_compilers;
  compiler at_work[MOST_COMPILERS];
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
  path_of(n, bramah_program_native_key(n->program, i) ^ n->computer, ".so", path);
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

/* Has it ended? Waits for it or not; 1, and whether it has ended well. */
static int has_ended(bramah__native_code *n, compiler *c, int wait, int *well)
{
  siginfo_t info = {0};
  int status = -1, got;
  do got = waitid(P_PID, (id_t)c->child, &info, WEXITED | WNOWAIT | (wait ? 0 : WNOHANG));
  while (got != 0 && errno == EINTR);
  if (got == 0 && info.si_pid == 0) return 0;
  pthread_mutex_lock(&n->lock); /* so that nobody ends a stranger that has its number */
  (void)waitpid(c->child, &status, 0);
  c->child = 0;
  pthread_mutex_unlock(&n->lock);
  *well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return 1;
}

/* Start the compiler on a file, in a group of processes of its own; what it says goes into the log. NULL, or why nothing came
 * of it. */
static const char *start_compiler(bramah__native_code *n, compiler *c)
{
  static const char no_compiler[] = "no C compiler", no_memory[] = "no memory";
  char *words[MOST_WORDS + N_FLAGS + 8], *word = n->compiler;
  size_t count = 0;
  for (size_t w = 0; w < n->n_words; w++, word += strlen(word) + 1) words[count++] = word;
  for (size_t f = 0; f < N_FLAGS; f++) words[count++] = (char *)(uintptr_t)flags[f];
  char output[] = "-o";
  words[count++] = output, words[count++] = c->made, words[count++] = c->source;
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
  posix_spawn_file_actions_addopen(&files, 1, c->log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&how, 0);
  pthread_mutex_lock(&n->lock);
  const int failed = n->ends ? ECANCELED : posix_spawnp(&child, words[0], &files, &how, words, environ);
  if (!failed) c->child = child;
  pthread_mutex_unlock(&n->lock);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&how);
  return failed ? no_compiler : NULL;
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

/* What came of a piece: the program uses it, or `why` not. */
static void finish(bramah__native_code *n, const compiler *c, const char *why)
{
  bramah_native_piece piece;
  (void)bramah_program_native_piece(n->program, c->piece, &piece);
  if (!why && !load(n, c->piece, &piece)) return; /* which says it */
  if (why) say(n, why);
  tidy(n, 0);
  pthread_mutex_lock(&n->lock);
  n->report.n_compiled += !why;
  n->report.seconds += seconds() - c->begin;
  pthread_mutex_unlock(&n->lock);
}

/* A compiler on piece i from its text. */
static void start_piece(bramah__native_code *n, compiler *c, size_t i, uint64_t key)
{
  char log[LONGEST_PATH + 64];
  uint64_t number;
  const char *why = NULL;
  c->piece = i;
  c->key = key;
  c->begin = seconds();
  path_of(n, key, ".log", log);
  if (access(log, F_OK) == 0) why = compiler_failed;
  if (!why && getentropy(&number, sizeof number) != 0) why = not_written;
  if (!why) {
    path_of(n, number, ".c", c->source);
    path_of(n, number, ".part", c->made);
    path_of(n, number, ".text", c->log);
    why = write_text(n, i, c->source) ? start_compiler(n, c) : not_written;
    if (why) (void)unlink(c->source), (void)unlink(c->log);
  }
  if (why) finish(n, c, why);
}

/* Take over what a compiler has made, if it has ended: its files get the name that others look for. */
static void take_over(bramah__native_code *n, compiler *c, int wait)
{
  char place[LONGEST_PATH + 64];
  int well = 0;
  if (!c->child || !has_ended(n, c, wait, &well)) return;
  const char *why = well ? NULL : compiler_failed;
  (void)unlink(c->source);
  path_of(n, c->key, ".log", place);
  if (well || is_over(n, 0.0) || rename(c->log, place) != 0) (void)unlink(c->log);
  path_of(n, c->key, ".so", place);
  if (!why && (!seal(c->made) || rename(c->made, place) != 0)) why = not_written;
  if (why) (void)unlink(c->made);
  finish(n, c, why);
}

/* ---- in the background ---- */

/* What the program is run without, from the cache or, where `c` is one that is free, by a compiler. */
static void supply(bramah__native_code *n, size_t i, int all, compiler *c)
{
  bramah_native_piece piece;
  if (n->tried[i] || n->loaded[i]) return;
  (void)bramah_program_native_piece(n->program, i, &piece);
  if (piece.is_native || !(piece.is_asked || all)) return;
  if (load(n, i, &piece)) {
    pthread_mutex_lock(&n->lock);
    n->report.n_cached++;
    pthread_mutex_unlock(&n->lock);
  } else if (c) {
    n->tried[i] = 1;
    start_piece(n, c, i, bramah_program_native_key(n->program, i) ^ n->computer);
  }
}

/* Who has ended: what they made. A compiler that is free, or NULL. */
static compiler *find_free(bramah__native_code *n, int wait)
{
  compiler *c = NULL;
  for (size_t k = n->n_compilers; k-- > 0;) {
    take_over(n, &n->at_work[k], wait);
    if (!n->at_work[k].child) c = &n->at_work[k];
  }
  return c;
}

static int is_busy(const bramah__native_code *n)
{
  int busy = 0;
  for (size_t k = 0; k < n->n_compilers; k++) busy |= n->at_work[k].child != 0;
  return busy;
}

static void *work(void *user)
{
  bramah__native_code *n = user;
  const double start = seconds();
  while (!is_over(n, is_busy(n) ? between_compilers : between)) {
    const int patient = seconds() - start < patience;
    (void)find_free(n, 0);
    for (size_t i = 0; i < n->n_pieces; i++) supply(n, i, 0, patient ? NULL : find_free(n, 0));
  }
  (void)find_free(n, 1);
  return NULL;
}

/* Pieces for one state: what is there, or all of them, waiting for the compilers. */
static void supply_at_once(bramah__native_code *n, int waits)
{
  bramah_native_piece piece;
  for (size_t i = 0; i < n->n_pieces; i++) {
    (void)bramah_program_native_piece(n->program, i, &piece);
    if (piece.lanes != 1) continue;
    compiler *c = NULL;
    while (waits && !(c = find_free(n, 0))) (void)is_over(n, between_compilers);
    supply(n, i, 1, c);
  }
  (void)find_free(n, 1);
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
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  n->n_compilers = processors < 1 ? 1 : processors < MOST_COMPILERS ? (size_t)processors : MOST_COMPILERS;
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
  supply_at_once(n, wish && strcmp(wish, "wait") == 0);
  n->has_thread = pthread_create(&n->thread, NULL, work, n) == 0;
  return n;
}

void bramah__native_code_close(bramah__native_code *n)
{
  if (!n) return;
  pthread_mutex_lock(&n->lock);
  n->ends = 1;
  for (size_t k = 0; k < n->n_compilers; k++)
    if (n->at_work[k].child) (void)kill(-n->at_work[k].child, SIGKILL);
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
