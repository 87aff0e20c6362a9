/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Datagrams as lines of a log: a thread takes them and writes them into a pipe. */
#define _GNU_SOURCE /* pipe2 */
#include "bramah/serve.h"
#include "lib/io/fail.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LARGEST = 65507, POLL_MS = 100, WAITING = 4 << 20 /* [bytes] that the system keeps for us */ };

struct bramah_receiver {
  int socket, pipe;
  pthread_t thread;
  int runs;
  atomic_int ending;
  int has_header; /* lines before it are no use */
  char *header;   /* its line, as it came; NULL: not yet */
  size_t header_size;
  uint64_t next;    /* number of the next datagram; 0: they have none so far */
  uint32_t seen;    /* of those that the system dropped, as nobody took them in time */
  uint64_t dropped; /* since the last lines */
  atomic_uint_fast64_t datagrams, lost, late, unusable, repeated;
  char bytes[LARGEST + 1];
  /* What was told of the soil last, under the lock. */
  pthread_mutex_t lock;
  size_t soil_size;
  char soil[LARGEST];
};

static void count(atomic_uint_fast64_t *what, uint64_t n)
{
  atomic_fetch_add_explicit(what, n, memory_order_relaxed);
}

/* Whole or not at all, unless nobody reads any more. Returns 0 then. */
static int pass_on(bramah_receiver *r, const char *bytes, size_t n)
{
  while (n && !atomic_load(&r->ending)) {
    struct pollfd out = {.fd = r->pipe, .events = POLLOUT};
    if (poll(&out, 1, POLL_MS) <= 0) continue;
    if (out.revents & (POLLERR | POLLNVAL)) return 0;
    const ssize_t done = write(r->pipe, bytes, n);
    if (done < 0 && errno != EINTR && errno != EAGAIN) return 0;
    if (done > 0) bytes += done, n -= (size_t)done;
  }
  return n == 0;
}

/* "# 17" in front: which one it is. Returns the bytes of that line, 0 if there is none. */
static size_t read_number(const char *bytes, size_t n, uint64_t *number)
{
  size_t at = 1;
  *number = 0;
  if (!n || bytes[0] != '#') return 0;
  while (at < n && bytes[at] == ' ') at++;
  const size_t first = at;
  for (; at < n && at < first + 18 && bytes[at] >= '0' && bytes[at] <= '9'; at++)
    *number = 10 * *number + (uint64_t)(bytes[at] - '0');
  if (at < n && bytes[at] == '\r') at++;
  return at > first && at < n && bytes[at] == '\n' ? at + 1 : 0;
}

/* A header begins with a name, a row with a number, or with nothing where its first cell is empty. */
static int is_header(const char *line)
{
  const unsigned char c = (unsigned char)line[0];
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c == '"' || c >= 0x80u;
}

/* Returns 0 when the log has ended. */
static int take(bramah_receiver *r, const char *bytes, size_t n)
{
  uint64_t number;
  static const char soil[] = "# soil ";
  if (!n) return 0;
  if (n > sizeof soil && memcmp(bytes, soil, sizeof soil - 1) == 0) {
    pthread_mutex_lock(&r->lock);
    memcpy(r->soil, bytes, r->soil_size = n);
    pthread_mutex_unlock(&r->lock);
    return 1;
  }
  const size_t skip = read_number(bytes, n, &number);
  if (skip && r->next && number < r->next) return count(&r->late, 1), 1;
  if (skip && r->next) count(&r->lost, number - r->next);
  if (skip) r->next = number + 1;
  if (!skip) count(&r->lost, r->dropped);
  r->dropped = 0;
  bytes += skip;
  n -= skip;
  if (!n || bytes[n - 1] != '\n') return count(&r->unusable, n > 0), 1;
  const size_t line = (size_t)((const char *)memchr(bytes, '\n', n) - bytes) + 1;
  if (is_header(bytes)) {
    if (r->header && (line != r->header_size || memcmp(bytes, r->header, line) != 0))
      return count(&r->unusable, 1), 1; /* another log */
    if (r->header) {
      count(&r->repeated, 1);
      bytes += line;
      n -= line;
    } else if ((r->header = malloc(line))) {
      memcpy(r->header, bytes, r->header_size = line);
    }
  } else if (r->has_header && !r->header) {
    return count(&r->unusable, 1), 1;
  }
  count(&r->datagrams, 1);
  return pass_on(r, bytes, n);
}

int bramah_receiver_soil(bramah_receiver *r, char *out, size_t size)
{
  pthread_mutex_lock(&r->lock);
  const size_t n = r->soil_size;
  if (n && n < size) {
    memcpy(out, r->soil, n);
    out[n] = '\0';
  }
  r->soil_size = 0;
  pthread_mutex_unlock(&r->lock);
  return n && n < size;
}

/* As recv, with MSG_TRUNC. */
static ssize_t get(bramah_receiver *r)
{
  union {
    struct cmsghdr head;
    char room[CMSG_SPACE(sizeof(uint32_t))];
  } control;
  struct iovec bytes = {.iov_base = r->bytes, .iov_len = sizeof r->bytes};
  struct msghdr message = {
      .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  const ssize_t n = recvmsg(r->socket, &message, MSG_TRUNC);
  const struct cmsghdr *c = n < 0 ? NULL : CMSG_FIRSTHDR(&message);
  if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_RXQ_OVFL) {
    uint32_t all;
    memcpy(&all, CMSG_DATA(c), sizeof all);
    r->dropped += all - r->seen;
    r->seen = all;
  }
  return n;
}

static void *receive(void *user)
{
  bramah_receiver *r = user;
  for (int going = 1; going && !atomic_load(&r->ending);) {
    struct pollfd in = {.fd = r->socket, .events = POLLIN};
    if (poll(&in, 1, POLL_MS) <= 0) continue;
    const ssize_t n = get(r);
    if (n > LARGEST)
      count(&r->unusable, 1);
    else if (n >= 0)
      going = take(r, r->bytes, (size_t)n);
  }
  close(r->pipe);
  return NULL;
}

bramah_status bramah_receiver_open(int port, int has_header, bramah_diag *diag, bramah_receiver **out,
                                   int *fd)
{
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  const int waiting = WAITING, on = 1;
  int ends[2] = {-1, -1};
  bramah_diag_clear(diag);
  *out = NULL;
  if (port < 1 || port > 65535)
    return bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, NULL, "port %d: ports go from 1 to 65535", port);
  bramah_receiver *r = calloc(1, sizeof *r);
  if (!r) return bramah__fail_memory(diag);
  r->has_header = has_header;
  pthread_mutex_init(&r->lock, NULL);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  r->socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (r->socket >= 0) setsockopt(r->socket, SOL_SOCKET, SO_RCVBUF, &waiting, sizeof waiting);
  if (r->socket >= 0) setsockopt(r->socket, SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof on);
  if (r->socket < 0 || bind(r->socket, (struct sockaddr *)&at, sizeof at) || pipe2(ends, O_CLOEXEC) ||
      fcntl(ends[1], F_SETFL, O_NONBLOCK)) {
    bramah__failf(diag, BRAMAH_E_FILE, NULL, 0, NULL, "cannot receive on port %d: %s%s", port,
                  strerror(errno), errno == EADDRINUSE ? " (another program has it)" : "");
    if (r->socket >= 0) close(r->socket);
    free(r);
    return BRAMAH_E_FILE;
  }
  r->pipe = ends[1];
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  r->runs = pthread_create(&r->thread, NULL, receive, r) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  *fd = ends[0];
  if (r->runs) return *out = r, BRAMAH_OK;
  close(ends[0]);
  close(ends[1]);
  close(r->socket);
  free(r);
  return bramah__fail_memory(diag);
}

void bramah_receiver_close(bramah_receiver *r)
{
  if (!r) return;
  atomic_store(&r->ending, 1);
  pthread_join(r->thread, NULL);
  close(r->socket);
  pthread_mutex_destroy(&r->lock);
  free(r->header);
  free(r);
}

bramah_receiver_report bramah_receiver_get_report(const bramah_receiver *r)
{
  return (bramah_receiver_report){.datagrams = atomic_load(&r->datagrams),
                                  .lost = atomic_load(&r->lost),
                                  .late = atomic_load(&r->late),
                                  .unusable = atomic_load(&r->unusable),
                                  .repeated = atomic_load(&r->repeated)};
}
