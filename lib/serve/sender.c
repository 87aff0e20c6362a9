/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines that go as datagrams: a thread reads them from a pipe; and controls that go the other way. */
#define _GNU_SOURCE /* pipe2 */
#include "bramah/serve.h"
#include "lib/base/text.h"
#include "lib/io/fail.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { LARGEST = 60000, ROOM = 1 << 17, BODY = 512 };

/* A socket to a port of this computer, or at it. */
static bramah_status open_socket(int port, int is_sender, bramah_diag *diag, int *out)
{
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  bramah_diag_clear(diag);
  *out = -1;
  if (port < 1 || port > 65535)
    return bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, NULL, "port %d: ports go from 1 to 65535", port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  *out = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | (is_sender ? 0 : SOCK_NONBLOCK), 0);
  if (*out >= 0 && (is_sender ? connect(*out, (struct sockaddr *)&at, sizeof at)
                              : bind(*out, (struct sockaddr *)&at, sizeof at)) == 0)
    return BRAMAH_OK;
  bramah__failf(diag, BRAMAH_E_FILE, NULL, 0, NULL, "cannot %s port %d: %s",
                is_sender ? "send to" : "receive on", port, strerror(errno));
  if (*out >= 0) close(*out);
  *out = -1;
  return BRAMAH_E_FILE;
}

/* ---- controls ---- */

bramah_status bramah_control_socket(int port, int is_sender, bramah_diag *diag, int *out)
{
  return open_socket(port, is_sender, diag, out);
}

int bramah_control_receive(int socket, bramah_control *control)
{
  char text[BODY];
  for (ssize_t n; (n = recv(socket, text, sizeof text, MSG_TRUNC | MSG_DONTWAIT)) >= 0;)
    if ((size_t)n <= sizeof text && bramah_control_read(text, (size_t)n, control)) return 1;
  return 0;
}

void bramah_control_send(int socket, const bramah_control *c)
{
  char text[BODY], number[BRAMAH__NUMBER_SIZE];
  size_t n = 0;
  if (c->kind == BRAMAH_CONTROL_PLUG)
    n = (size_t)snprintf(text, sizeof text, "{\"%s\": %.0f}", c->value < 0.0 ? "plug" : "unplug",
                         c->value < 0.0 ? -1.0 - c->value : c->value);
  if (c->kind == BRAMAH_CONTROL_DRIVE) {
    n = (size_t)snprintf(text, sizeof text, "{\"drive\": [");
    for (size_t i = 0; i < c->n_levers; i++) {
      number[isnan(c->lever[i]) ? 0 : bramah__format_number(number, c->lever[i], 9)] = '\0';
      n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", i ? "," : "", number[0] ? number : "null");
    }
    n += (size_t)snprintf(text + n, sizeof text - n, "], \"driver\": %lu}", (unsigned long)c->driver);
  }
  if (n && n < sizeof text) (void)!send(socket, text, n, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* ---- lines ---- */

struct bramah_sender {
  int socket, pipe;
  pthread_t thread;
  uint64_t number;
  size_t header, used; /* [bytes] of the first line; of what was read and not sent */
  time_t told;         /* the header, by a clock that goes on */
  char first[LARGEST / 2], bytes[ROOM], datagram[LARGEST];
};

static time_t second(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec;
}

/* Whole lines, so many bytes. */
static void send_lines(bramah_sender *s, const char *lines, size_t n)
{
  size_t size = (size_t)snprintf(s->datagram, 64, "# %llu\n", (unsigned long long)++s->number);
  if (s->header && s->told != second()) {
    memcpy(s->datagram + size, s->first, s->header);
    size += s->header;
    s->told = second();
  }
  if (!s->header) { /* these begin with it */
    s->header = (size_t)((const char *)memchr(lines, '\n', n) - lines) + 1;
    if (s->header > sizeof s->first) s->header = 0;
    memcpy(s->first, lines, s->header);
    s->told = second();
  }
  memcpy(s->datagram + size, lines, n);
  while (send(s->socket, s->datagram, size + n, MSG_NOSIGNAL) < 0 && errno == EINTR)
    continue; /* nobody there: lost */
}

static void *send_all(void *user)
{
  bramah_sender *s = user;
  for (;;) {
    const ssize_t n = read(s->pipe, s->bytes + s->used, sizeof s->bytes - s->used);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    s->used += (size_t)n;
    size_t at = 0;
    for (;;) {
      const size_t most = LARGEST - 64 - sizeof s->first, left = s->used - at;
      const char *last = memrchr(s->bytes + at, '\n', left < most ? left : most);
      if (!last) break;
      const size_t size = (size_t)(last - s->bytes) + 1 - at;
      send_lines(s, s->bytes + at, size);
      at += size;
    }
    s->used -= at;
    memmove(s->bytes, s->bytes + at, s->used);
    if (s->used == sizeof s->bytes) s->used = 0; /* a line that fits into no datagram */
  }
  send(s->socket, "", 0, MSG_NOSIGNAL);
  return NULL;
}

bramah_status bramah_sender_open(int port, bramah_diag *diag, bramah_sender **out, int *fd)
{
  int ends[2] = {-1, -1};
  *out = NULL;
  bramah_sender *s = calloc(1, sizeof *s);
  bramah_diag_clear(diag);
  if (!s) return bramah__fail_memory(diag);
  bramah_status status = open_socket(port, 1, diag, &s->socket);
  if (!status && pipe2(ends, O_CLOEXEC)) status = bramah__fail_memory(diag);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  s->pipe = ends[0];
  if (!status && pthread_create(&s->thread, NULL, send_all, s)) status = bramah__fail_memory(diag);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!status) return *out = s, *fd = ends[1], BRAMAH_OK;
  for (int k = 0; k < 2; k++)
    if (ends[k] >= 0) close(ends[k]);
  if (s->socket >= 0) close(s->socket);
  free(s);
  return status;
}

void bramah_sender_say(bramah_sender *s, const char *text, size_t size)
{
  (void)!send(s->socket, text, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void bramah_sender_close(bramah_sender *s)
{
  if (!s) return;
  pthread_join(s->thread, NULL);
  close(s->pipe);
  close(s->socket);
  free(s);
}
