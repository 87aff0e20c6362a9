/* SPDX-License-Identifier: GPL-3.0-or-later */
/* FMUs in processes of their own: each instance is a process (isolated_process.c, which this library holds and writes beside the
 * unpacked FMU), asked over a pair of sockets. One that crashes, ends or does not come back in time is an error that says so; with the
 * next start or restored state there is a new process. */
#define _GNU_SOURCE /* SOCK_CLOEXEC, MSG_NOSIGNAL */
#include "lib/fmi/import.h"
#include "lib/fmi/isolated.h"
#include "lib/io/fail.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern const char bramah__fmu_process[];
extern const unsigned long bramah__fmu_process_size;
extern char **environ;

typedef struct isolated_library {
  bramah__fmu_library head; /* first */
  const char *folder;
  char *program;
  double limit; /* [s] of a call */
} isolated_library;

typedef struct isolated_instance {
  bramah__fmu_instance head; /* first */
  const isolated_library *library;
  pid_t process; /* 0: it has ended */
  int socket;
  uint64_t generation;  /* of processes: what was kept in an earlier one is lost */
  unsigned char *start; /* the last request to initialize, for the next process */
  size_t start_room;
  int has_start, is_started; /* is_started: this process was */
  unsigned char *request;
  size_t request_room;
} isolated_instance;

/* A state that stays in the process. */
typedef struct kept_there {
  uint64_t handle, generation;
} kept_there;

/* What each call is for, after "when it was to". */
static const char *const purpose[] = {"",
                                      "be loaded",
                                      "be freed",
                                      "be initialized",
                                      "give values",
                                      "take values",
                                      "give values",
                                      "take values",
                                      "make its step",
                                      "give directional derivatives",
                                      "save its state",
                                      "restore its state",
                                      "free a saved state",
                                      "tell the size of its state",
                                      "write its state",
                                      "read its state"};

/* ---- the process ---- */

/* It ends, is ended, and is no zombie: at once, or when it had `seconds` to do so by itself. */
static int reap(isolated_instance *i, double seconds)
{
  const struct timespec nap = {0, 1000000};
  int how = -1;
  pid_t ended = 0;
  for (double waited = 0.0; waited < seconds && ended == 0; waited += 1e-3) {
    ended = waitpid(i->process, &how, WNOHANG);
    if (ended == 0) nanosleep(&nap, NULL);
  }
  if (ended == 0) kill(i->process, SIGKILL);
  while (ended == 0 || (ended < 0 && errno == EINTR)) ended = waitpid(i->process, &how, 0);
  close(i->socket);
  i->process = 0;
  return ended > 0 ? how : -1; /* who ignores its children does not learn how they end */
}

static const char *crash(int signal_number)
{
  static const struct {
    int number;
    const char *name;
  } known[] = {{SIGSEGV, "a wrong address"},
               {SIGBUS, "a wrong address"},
               {SIGABRT, "abort"},
               {SIGFPE, "a wrong operation on numbers"},
               {SIGILL, "a wrong instruction"},
               {SIGKILL, "killed"}};
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    if (known[k].number == signal_number) return known[k].name;
  return "a signal";
}

/* The process is gone or will be: say what happened. `late`: it did not come back. */
static bramah_status lost(isolated_instance *i, bramah__isolated_call call, int late, bramah_diag *diag)
{
  const char *name = i->library->head.name;
  const int how = reap(i, late ? 0.0 : 1.0);
  if (late)
    return bramah__failf(diag, BRAMAH_E_ARGUMENT, NULL, 0, name,
                         "the FMU did not come back within %.9g s when it was to %s; its process was ended",
                         i->library->limit, purpose[call]);
  if (how >= 0 && WIFSIGNALED(how))
    return bramah__failf(diag, BRAMAH_E_ARGUMENT, NULL, 0, name,
                         "the FMU crashed when it was to %s (%s, signal %d)", purpose[call],
                         crash(WTERMSIG(how)), WTERMSIG(how));
  if (how >= 0 && WIFEXITED(how))
    return bramah__failf(diag, BRAMAH_E_ARGUMENT, NULL, 0, name,
                         "the FMU ended its process when it was to %s (exit code %d)", purpose[call],
                         WEXITSTATUS(how));
  return bramah__failf(diag, BRAMAH_E_ARGUMENT, NULL, 0, name, "the FMU's process ended when it was to %s",
                       purpose[call]);
}

/* All of it; 0, or why not: EAGAIN of one that is late. */
static int transfer(const isolated_instance *i, void *bytes, size_t n, int out)
{
  for (size_t done = 0; done < n;) {
    unsigned char *at = (unsigned char *)bytes + done;
    const ssize_t moved =
        out ? send(i->socket, at, n - done, MSG_NOSIGNAL) : recv(i->socket, at, n - done, MSG_WAITALL);
    if (moved == 0) return EPIPE;
    if (moved < 0 && errno != EINTR) return errno == EWOULDBLOCK ? EAGAIN : errno;
    if (moved > 0) done += (size_t)moved;
  }
  return 0;
}

/* The request that stands in `bytes` [its head and what follows], and n bytes of its reply into `back`. */
static bramah_status ask(isolated_instance *i, unsigned char *bytes, size_t n, void *back, bramah_diag *diag)
{
  bramah__isolated_request head;
  bramah__isolated_reply reply;
  bramah_diag said = {.status = BRAMAH_OK};
  const char *name = i->library->head.name;
  memcpy(&head, bytes, sizeof head);
  const bramah__isolated_call call = (bramah__isolated_call)head.call;
  if (!i->process)
    return bramah__failf(diag, BRAMAH_E_ARGUMENT, NULL, 0, name, "the FMU's process has ended before");
  int error = transfer(i, bytes, sizeof head + head.bytes, 1);
  if (!error) error = transfer(i, &reply, sizeof reply, 0);
  if (!error && (reply.status ? reply.bytes >= sizeof said.message : reply.bytes != n)) error = EPROTO;
  if (!error && reply.bytes) error = transfer(i, reply.status ? (void *)said.message : back, reply.bytes, 0);
  if (error) return lost(i, call, error == EAGAIN, diag);
  if (!reply.status) return BRAMAH_OK;
  bramah_make_printable(said.message);
  return bramah__failf(diag, reply.status > 0 ? (bramah_status)reply.status : BRAMAH_E_ARGUMENT, NULL, 0,
                       name, "%s", said.message);
}

/* A request of this call with room for `bytes` behind its head; NULL: no memory. */
static unsigned char *prepare(isolated_instance *i, bramah__isolated_call call, size_t a, size_t b,
                              size_t bytes, bramah_diag *diag)
{
  const bramah__isolated_request head = {
      .call = call, .n = {(uint32_t)a, (uint32_t)b}, .bytes = (uint32_t)bytes};
  if (sizeof head + bytes > i->request_room) {
    unsigned char *more = realloc(i->request, sizeof head + bytes);
    if (!more) return bramah__fail_memory(diag), NULL;
    i->request = more;
    i->request_room = sizeof head + bytes;
  }
  memcpy(i->request, &head, sizeof head);
  return i->request + sizeof head;
}

/* Its own signals and group (a key that ends us is not its crash), one socket, no input, output among the errors. */
static int spawn(isolated_instance *i, int theirs)
{
  char *const arguments[] = {i->library->program, (char *)(uintptr_t)i->library->folder,
                             (char *)(uintptr_t)i->library->head.name, NULL};
  const struct timespec nap = {0, 2000000};
  posix_spawn_file_actions_t files;
  posix_spawnattr_t how;
  sigset_t all, none;
  sigfillset(&all);
  sigemptyset(&none);
  if (posix_spawn_file_actions_init(&files)) return ENOMEM;
  if (posix_spawnattr_init(&how)) return posix_spawn_file_actions_destroy(&files), ENOMEM;
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setsigdefault(&how, &all);
  posix_spawnattr_setsigmask(&how, &none);
  posix_spawn_file_actions_adddup2(&files, theirs, BRAMAH__ISOLATED_SOCKET);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, 2, 1);
  int error =
      ETXTBSY; /* while another thread's child, not yet another program, holds what was just written */
  for (int again = 0; error == ETXTBSY && again < 500; again++) {
    if (again) nanosleep(&nap, NULL);
    error = posix_spawn(&i->process, i->library->program, &files, &how, arguments, environ);
  }
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

/* A process with an instance in it. */
static bramah_status begin(isolated_instance *i, bramah_diag *diag)
{
  const bramah__fmu_description *d = i->library->head.description;
  const double whole = floor(i->library->limit);
  const struct timeval limit = {(time_t)whole, (suseconds_t)(1e6 * (i->library->limit - whole))};
  const bramah__isolated_model model = {.version = d->version,
                                        .co_simulation = d->co_simulation,
                                        .once = d->once,
                                        .can_get_set = d->can_get_set,
                                        .can_serialize = d->can_serialize,
                                        .directional = d->directional,
                                        .wants_completed = d->wants_completed,
                                        .n_state = (uint32_t)(d->co_simulation ? 0 : d->n_state),
                                        .n_indicators = (uint32_t)d->n_indicators};
  const size_t states = model.n_state * sizeof *d->state, identifier = strlen(d->identifier) + 1,
               token = strlen(d->token) + 1;
  int ends[2];
  unsigned char *to =
      prepare(i, BRAMAH__ISOLATED_LOAD, 0, 0, sizeof model + 2 * states + identifier + token, diag);
  if (!to) return BRAMAH_E_MEMORY;
  memcpy(to, &model, sizeof model);
  to += sizeof model;
  if (states) memcpy(to, d->state, states);
  if (states) memcpy(to + states, d->rate, states);
  memcpy(to + 2 * states, d->identifier, identifier);
  memcpy(to + 2 * states + identifier, d->token, token);
  int error = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) ? errno : 0;
  if (!error) {
    error = spawn(i, ends[1]);
    close(ends[1]);
    i->socket = ends[0];
    if (error) close(ends[0]), i->process = 0;
  }
  if (error)
    return bramah__failf(diag, BRAMAH_E_FILE, NULL, 0, i->library->head.name,
                         "no process can be started for the FMU: %s", strerror(error));
  i->generation++;
  i->is_started = 0;
  setsockopt(i->socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(i->socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  const bramah_status status = ask(i, i->request, 0, NULL, diag);
  if (status && i->process) reap(i, 0.0);
  return status;
}

/* ---- the calls ---- */

static bramah_status initialize(bramah__fmu_instance *self, int again, const bramah__fmu_start *start,
                                bramah_diag *diag)
{
  isolated_instance *i = (isolated_instance *)self;
  const uint64_t n[3] = {start->n[0], start->n[1], start->n[2]};
  const size_t all = start->n[0] + start->n[1] + start->n[2];
  bramah_status status = i->process ? BRAMAH_OK : (again = 0, begin(i, diag));
  if (status) return status;
  unsigned char *to =
      prepare(i, BRAMAH__ISOLATED_INITIALIZE, (size_t)again, 0,
              sizeof start->time + sizeof n + all * (sizeof(double) + sizeof(uint32_t)), diag);
  if (!to) return BRAMAH_E_MEMORY;
  memcpy(to, &start->time, sizeof start->time);
  memcpy(to + sizeof start->time, n, sizeof n);
  to += sizeof start->time + sizeof n;
  for (int kind = 0; kind < 3; to += start->n[kind++] * sizeof(double))
    if (start->n[kind]) memcpy(to, start->value[kind], start->n[kind] * sizeof(double));
  for (int kind = 0; kind < 3; to += start->n[kind++] * sizeof(uint32_t))
    if (start->n[kind]) memcpy(to, start->reference[kind], start->n[kind] * sizeof(uint32_t));
  const size_t whole = (size_t)(to - i->request);
  if (whole > i->start_room) {
    unsigned char *more = realloc(i->start, whole);
    if (!more) return bramah__fail_memory(diag);
    i->start = more;
    i->start_room = whole;
  }
  memcpy(i->start, i->request, whole);
  i->has_start = i->is_started = 1;
  return ask(i, i->request, 0, NULL, diag);
}

/* Of a process that is gone a new one, started as the last one was: bytes can be restored there. */
static bramah_status revive(isolated_instance *i, bramah_diag *diag)
{
  bramah__isolated_request head;
  bramah_status status = i->process ? BRAMAH_OK : begin(i, diag);
  if (status || !i->has_start || i->is_started) return status;
  memcpy(&head, i->start, sizeof head);
  head.n[0] = 0; /* not again */
  memcpy(i->start, &head, sizeof head);
  i->is_started = 1;
  return ask(i, i->start, 0, NULL, diag);
}

/* n references, and values before them where they go out. */
static bramah_status move(bramah__fmu_instance *self, bramah__isolated_call call, size_t n,
                          const uint32_t *reference, const double *out, double *back, bramah_diag *diag)
{
  isolated_instance *i = (isolated_instance *)self;
  const size_t values = out ? n * sizeof *out : 0;
  unsigned char *to = prepare(i, call, n, 0, values + n * sizeof *reference, diag);
  if (!to) return BRAMAH_E_MEMORY;
  if (out) memcpy(to, out, values);
  memcpy(to + values, reference, n * sizeof *reference);
  return ask(i, i->request, back ? n * sizeof *back : 0, back, diag);
}

static bramah_status get(bramah__fmu_instance *self, size_t n, const uint32_t *reference, double *value,
                         bramah_diag *diag)
{
  return move(self, BRAMAH__ISOLATED_GET, n, reference, NULL, value, diag);
}

static bramah_status set(bramah__fmu_instance *self, size_t n, const uint32_t *reference, const double *value,
                         bramah_diag *diag)
{
  return move(self, BRAMAH__ISOLATED_SET, n, reference, value, NULL, diag);
}

static bramah_status get_whole(bramah__fmu_instance *self, uint32_t reference, int is_truth, double *value,
                               bramah_diag *diag)
{
  const bramah__isolated_request request = {.call = BRAMAH__ISOLATED_GET_WHOLE,
                                            .n = {reference, (uint32_t)is_truth}};
  unsigned char bytes[sizeof request];
  memcpy(bytes, &request, sizeof request);
  return ask((isolated_instance *)self, bytes, sizeof *value, value, diag);
}

static bramah_status set_whole(bramah__fmu_instance *self, uint32_t reference, int is_truth, double value,
                               bramah_diag *diag)
{
  const bramah__isolated_request request = {
      .call = BRAMAH__ISOLATED_SET_WHOLE, .n = {reference, (uint32_t)is_truth}, .time = {value, 0.0}};
  unsigned char bytes[sizeof request];
  memcpy(bytes, &request, sizeof request);
  return ask((isolated_instance *)self, bytes, 0, NULL, diag);
}

static bramah_status step(bramah__fmu_instance *self, double time, double length, bramah_diag *diag)
{
  const bramah__isolated_request request = {.call = BRAMAH__ISOLATED_STEP, .time = {time, length}};
  unsigned char bytes[sizeof request];
  memcpy(bytes, &request, sizeof request);
  return ask((isolated_instance *)self, bytes, 0, NULL, diag);
}

static bramah_status directional(bramah__fmu_instance *self, size_t n_unknown, const uint32_t *unknown,
                                 size_t n_known, const uint32_t *known, double *J, bramah_diag *diag)
{
  isolated_instance *i = (isolated_instance *)self;
  unsigned char *to = prepare(i, BRAMAH__ISOLATED_DIRECTIONAL, n_unknown, n_known,
                              (n_unknown + n_known) * sizeof *unknown, diag);
  if (!to) return BRAMAH_E_MEMORY;
  memcpy(to, unknown, n_unknown * sizeof *unknown);
  memcpy(to + n_unknown * sizeof *unknown, known, n_known * sizeof *known);
  return ask(i, i->request, n_unknown * n_known * sizeof *J, J, diag);
}

/* A call with a handle of the process; *kept is ours. */
static bramah_status handle(isolated_instance *i, bramah__isolated_call call, kept_there *kept, int back,
                            bramah_diag *diag)
{
  unsigned char *to = prepare(i, call, 0, 0, sizeof kept->handle, diag);
  if (!to) return BRAMAH_E_MEMORY;
  if (kept->generation != i->generation) kept->handle = 0;
  kept->generation = i->generation;
  memcpy(to, &kept->handle, sizeof kept->handle);
  return ask(i, i->request, back ? sizeof kept->handle : 0, &kept->handle, diag);
}

static bramah_status keep(bramah__fmu_instance *self, void **kept, bramah_diag *diag)
{
  kept_there *there = *kept ? *kept : calloc(1, sizeof *there);
  if (!there) return bramah__fail_memory(diag);
  *kept = there;
  return handle((isolated_instance *)self, BRAMAH__ISOLATED_KEEP, there, 1, diag);
}

static bramah_status take_back(bramah__fmu_instance *self, void *kept, bramah_diag *diag)
{
  isolated_instance *i = (isolated_instance *)self;
  kept_there *there = kept;
  if (!i->process || there->generation != i->generation)
    return bramah__failf(diag, BRAMAH_E_UNSUPPORTED, NULL, 0, i->library->head.name,
                         "its states stay inside the FMU, and were lost with its process");
  return handle(i, BRAMAH__ISOLATED_TAKE_BACK, there, 0, diag);
}

static void drop(bramah__fmu_instance *self, void **kept)
{
  isolated_instance *i = (isolated_instance *)self;
  kept_there *there = *kept;
  if (there && i->process && there->generation == i->generation)
    handle(i, BRAMAH__ISOLATED_DROP, there, 0, NULL);
  free(there);
  *kept = NULL;
}

static bramah_status state_size(bramah__fmu_instance *self, size_t *size, bramah_diag *diag)
{
  isolated_instance *i = (isolated_instance *)self;
  if (!prepare(i, BRAMAH__ISOLATED_STATE_SIZE, 0, 0, 0, diag)) return BRAMAH_E_MEMORY;
  return ask(i, i->request, sizeof *size, size, diag);
}

static bramah_status serialize(bramah__fmu_instance *self, size_t size, void *bytes, bramah_diag *diag)
{
  isolated_instance *i = (isolated_instance *)self;
  if (!prepare(i, BRAMAH__ISOLATED_SERIALIZE, size, 0, 0, diag)) return BRAMAH_E_MEMORY;
  return ask(i, i->request, size, bytes, diag);
}

static bramah_status deserialize(bramah__fmu_instance *self, size_t size, const void *bytes,
                                 bramah_diag *diag)
{
  isolated_instance *i = (isolated_instance *)self;
  const bramah_status status = revive(i, diag);
  if (status) return status;
  unsigned char *to = prepare(i, BRAMAH__ISOLATED_DESERIALIZE, size, 0, size, diag);
  if (!to) return BRAMAH_E_MEMORY;
  memcpy(to, bytes, size);
  return ask(i, i->request, 0, NULL, diag);
}

static void release(bramah__fmu_instance *self)
{
  isolated_instance *i = (isolated_instance *)self;
  if (i->process && prepare(i, BRAMAH__ISOLATED_RELEASE, 0, 0, 0, NULL)) {
    unsigned char nothing;
    transfer(i, i->request, sizeof(bramah__isolated_request), 1);
    const int late = transfer(i, &nothing, 1, 0) == EAGAIN; /* it comes to an end, or does not */
    reap(i, late ? 0.0 : 1.0);
  } else if (i->process) {
    reap(i, 0.0);
  }
  free(i->start);
  free(i->request);
  free(i);
}

static const bramah__fmu_calls calls = {release,   initialize, get,         set,        get_whole,
                                        set_whole, step,       directional, keep,       take_back,
                                        drop,      state_size, serialize,   deserialize};

static bramah_status instantiate(const bramah__fmu_library *head, bramah_diag *diag,
                                 bramah__fmu_instance **out)
{
  isolated_instance *i = calloc(1, sizeof *i);
  *out = NULL;
  if (!i) return bramah__fail_memory(diag);
  i->head.calls = &calls;
  i->library = (const isolated_library *)head;
  const bramah_status status = begin(i, diag);
  if (status)
    release(&i->head);
  else
    *out = &i->head;
  return status;
}

/* ---- its program ---- */

static void unload(bramah__fmu_library *head)
{
  isolated_library *library = (isolated_library *)head;
  free(library->program);
  free(library);
}

static int write_program(const char *path)
{
  const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0700);
  if (file < 0) return errno;
  size_t done = 0;
  for (ssize_t n = 1; n > 0 && done < bramah__fmu_process_size; done += (size_t)n)
    if ((n = write(file, bramah__fmu_process + done, bramah__fmu_process_size - done)) < 0) break;
  const int error = done < bramah__fmu_process_size ? errno : 0;
  return close(file) && !error ? errno : error;
}

bramah_status bramah__fmu_isolate(const char *folder, const bramah__fmu_description *description,
                                  const char *name, double limit, bramah_diag *diag,
                                  bramah__fmu_library **out)
{
  static const char program[] = "/bramah fmu process"; /* no blanks in names of the standard */
  isolated_library *library = calloc(1, sizeof *library);
  *out = NULL;
  if (!library) return bramah__fail_memory(diag);
  *library = (isolated_library){
      .head = {.name = name, .description = description, .instantiate = instantiate, .unload = unload},
      .folder = folder,
      .program = malloc(strlen(folder) + sizeof program),
      .limit = limit};
  bramah_status status = library->program ? BRAMAH_OK : bramah__fail_memory(diag);
  const int error = status ? 0 : write_program(strcat(strcpy(library->program, folder), program));
  if (error)
    status = bramah__failf(diag, BRAMAH_E_FILE, NULL, 0, name, "no process can be made for the FMU: %s",
                           strerror(error));
  if (status)
    unload(&library->head);
  else
    *out = &library->head;
  return status;
}
