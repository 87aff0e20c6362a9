/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The process of an isolated FMU: `PROCESS FOLDER NAME` loads the FMU of this folder and does what it is asked for at its socket, until
 * the socket is closed, be it in the middle of a call. Linked alone and embedded in libbramah-tools (import_isolated.c starts it). */
#define _GNU_SOURCE /* POLLRDHUP */
#include "lib/fmi/import.h"
#include "lib/fmi/isolated.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct served {
  const char *folder, *name;
  bramah__fmu_description description;
  bramah__fmu_library *library;
  bramah__fmu_instance *instance;
  unsigned char *in, *out; /* [room] */
  size_t room;
} served;

/* The other end went away: so do we, even if the FMU never returns. */
static void *watch(void *unused)
{
  struct pollfd other = {.fd = BRAMAH__ISOLATED_SOCKET, .events = POLLRDHUP};
  (void)unused;
  while (!(other.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL))) poll(&other, 1, -1);
  _exit(0);
}

static int receive(void *to, size_t n)
{
  for (size_t done = 0; done < n;) {
    const ssize_t got = recv(BRAMAH__ISOLATED_SOCKET, (unsigned char *)to + done, n - done, 0);
    if (got <= 0) return 0;
    done += (size_t)got;
  }
  return 1;
}

static int answer(int status, const void *bytes, size_t n)
{
  const bramah__isolated_reply reply = {status, (uint32_t)n};
  struct iovec parts[2] = {{(void *)(uintptr_t)&reply, sizeof reply}, {(void *)(uintptr_t)bytes, n}};
  for (int first = 0; first < 2;) {
    const struct msghdr message = {.msg_iov = parts + first, .msg_iovlen = (size_t)(2 - first)};
    ssize_t sent = sendmsg(BRAMAH__ISOLATED_SOCKET, &message, MSG_NOSIGNAL);
    if (sent < 0) return 0;
    for (; first < 2 && (size_t)sent >= parts[first].iov_len; first++) sent -= (ssize_t)parts[first].iov_len;
    if (first < 2) {
      parts[first].iov_base = (unsigned char *)parts[first].iov_base + sent;
      parts[first].iov_len -= (size_t)sent;
    }
  }
  return 1;
}

/* Room for what a request brings, and for what goes back. */
static int make_room(served *s, size_t n)
{
  if (n <= s->room) return 1;
  free(s->in);
  free(s->out);
  s->in = malloc(n);
  s->out = malloc(n);
  s->room = s->in && s->out ? n : 0;
  return s->room != 0;
}

static bramah_status load(served *s, bramah_diag *diag)
{
  bramah__isolated_model m;
  memcpy(&m, s->in, sizeof m);
  const size_t states = m.n_state * sizeof(uint32_t);
  const char *identifier = (const char *)s->in + sizeof m + 2 * states;
  s->description = (bramah__fmu_description){.version = m.version,
                                             .co_simulation = m.co_simulation,
                                             .once = m.once,
                                             .can_get_set = m.can_get_set,
                                             .can_serialize = m.can_serialize,
                                             .directional = m.directional,
                                             .wants_completed = m.wants_completed,
                                             .n_state = m.n_state,
                                             .n_indicators = m.n_indicators,
                                             .state = malloc(states + 1),
                                             .rate = malloc(states + 1),
                                             .identifier = strdup(identifier),
                                             .token = strdup(identifier + strlen(identifier) + 1)};
  memcpy(s->description.state, s->in + sizeof m, states);
  memcpy(s->description.rate, s->in + sizeof m + states, states);
  bramah_status status = bramah__fmu_load(s->folder, &s->description, s->name, diag, &s->library);
  if (!status) status = s->library->instantiate(s->library, diag, &s->instance);
  return status;
}

/* Counts, then references and values of reals, whole numbers and truth values. */
static bramah_status initialize(served *s, int again, bramah_diag *diag)
{
  bramah__fmu_start start = {0};
  uint64_t n[3];
  memcpy(&start.time, s->in, sizeof start.time);
  memcpy(n, s->in + sizeof(double), sizeof n);
  unsigned char *at = s->in + sizeof(double) + sizeof n;
  for (int kind = 0; kind < 3; at += n[kind++] * sizeof(double)) {
    start.n[kind] = n[kind];
    start.value[kind] = (const double *)(const void *)at;
  }
  for (int kind = 0; kind < 3; at += n[kind++] * sizeof(uint32_t))
    start.reference[kind] = (const uint32_t *)(const void *)at;
  return s->instance->calls->initialize(s->instance, again, &start, diag);
}

/* One request; *n bytes of s->out go back. */
static bramah_status serve(served *s, const bramah__isolated_request *r, size_t *n, bramah_diag *diag)
{
  bramah__fmu_instance *i = s->instance;
  const bramah__fmu_calls *c = i ? i->calls : NULL;
  double *numbers = (double *)(void *)s->out;
  const uint32_t *references = (const uint32_t *)(const void *)(s->in + r->n[0] * sizeof(double));
  void *handle = NULL;
  size_t size = 0;
  bramah_status status;
  *n = 0;
  switch (r->call) {
  case BRAMAH__ISOLATED_LOAD:
    return load(s, diag);
  case BRAMAH__ISOLATED_INITIALIZE:
    return initialize(s, (int)r->n[0], diag);
  case BRAMAH__ISOLATED_GET:
    *n = r->n[0] * sizeof(double);
    return c->get(i, r->n[0], (const uint32_t *)(const void *)s->in, numbers, diag);
  case BRAMAH__ISOLATED_SET:
    return c->set(i, r->n[0], references, (const double *)(const void *)s->in, diag);
  case BRAMAH__ISOLATED_GET_WHOLE:
    *n = sizeof(double);
    return c->get_whole(i, r->n[0], (int)r->n[1], numbers, diag);
  case BRAMAH__ISOLATED_SET_WHOLE:
    return c->set_whole(i, r->n[0], (int)r->n[1], r->time[0], diag);
  case BRAMAH__ISOLATED_STEP:
    return c->step(i, r->time[0], r->time[1], diag);
  case BRAMAH__ISOLATED_DIRECTIONAL:
    references = (const uint32_t *)(const void *)s->in;
    *n = (size_t)r->n[0] * r->n[1] * sizeof(double);
    return c->directional(i, r->n[0], references, r->n[1], references + r->n[0], numbers, diag);
  case BRAMAH__ISOLATED_KEEP:
    memcpy(&handle, s->in, sizeof handle);
    status = c->keep(i, &handle, diag);
    memcpy(s->out, &handle, *n = sizeof handle);
    return status;
  case BRAMAH__ISOLATED_TAKE_BACK:
    memcpy(&handle, s->in, sizeof handle);
    return c->take_back(i, handle, diag);
  case BRAMAH__ISOLATED_DROP:
    memcpy(&handle, s->in, sizeof handle);
    return c->drop(i, &handle), BRAMAH_OK;
  case BRAMAH__ISOLATED_STATE_SIZE:
    status = c->state_size(i, &size, diag);
    memcpy(s->out, &size, *n = sizeof size);
    return status;
  case BRAMAH__ISOLATED_SERIALIZE:
    return c->serialize(i, *n = r->n[0], s->out, diag);
  default:
    return c->deserialize(i, r->n[0], s->in, diag);
  }
}

int main(int argc, char **argv)
{
  served s = {.folder = argc > 2 ? argv[1] : "", .name = argc > 2 ? argv[2] : ""};
  bramah__isolated_request r;
  pthread_t watcher;
  for (int other = BRAMAH__ISOLATED_SOCKET + 1; other < 1024; other++)
    close(other); /* what was not ours to have */
  if (argc < 3 || pthread_create(&watcher, NULL, watch, NULL)) return 2;
  while (receive(&r, sizeof r) && r.call != BRAMAH__ISOLATED_RELEASE) {
    bramah_diag diag = {.status = BRAMAH_OK};
    const int has_n = r.call != BRAMAH__ISOLATED_GET_WHOLE && r.call != BRAMAH__ISOLATED_SET_WHOLE;
    const size_t rows = r.call == BRAMAH__ISOLATED_DIRECTIONAL ? r.n[1] : 1;
    const size_t back = has_n ? (size_t)r.n[0] * rows * sizeof(double) : 0;
    size_t n = 0;
    if (!make_room(&s, (back > r.bytes ? back : r.bytes) + 64) || !receive(s.in, r.bytes)) break;
    const bramah_status status = serve(&s, &r, &n, &diag);
    if (status ? !answer(status, diag.message, strlen(diag.message)) : !answer(0, s.out, n)) break;
  }
  if (s.instance) s.instance->calls->release(s.instance);
  if (s.library) s.library->unload(s.library);
  return 0;
}
