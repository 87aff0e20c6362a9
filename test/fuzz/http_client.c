/* SPDX-License-Identifier: GPL-3.0-or-later */
/* http_client [N [SEED]]: N requests (1000), good ones and ones with bytes changed, left out, doubled and cut, by sockets to a server
 * of this program, which meanwhile sends frames. It must go on to answer good ones, and never with what was not asked for. */
#define _GNU_SOURCE
#include "bramah/serve.h"
#include "test/fuzz/fuzz.h"

#include <arpa/inet.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define END "\r\n\r\n"
#define HOST " HTTP/1.1\r\nHost: localhost:%d\r\n"
static const char *const good[] = {
    "GET /" HOST "\r\n",
    "HEAD /display.json" HOST "Accept: */*\r\nCookie: a=b; bramah=0\r\n\r\n",
    "GET /events" HOST "Last-Event-ID: 7530626324365568\r\n\r\n",
    "GET /?token=0123456789abcdef0123456789abcdef&x=%00%ff" HOST "Sec-Fetch-Site: none\r\n\r\n",
    "POST /control" HOST
    "Origin: http://localhost:%d\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n"
    "{\"pause\": true}",
    "POST /control" HOST "Transfer-Encoding: chunked\r\n\r\nf\r\n{\"pause\": true}\r\n0\r\n\r\n",
    "POST /control" HOST "Content-Length: 41\r\n\r\n{\"drive\": [1, -2.5, null], \"driver\": 1234}",
    "POST /control" HOST "Content-Length: 13\r\n\r\n{\"unplug\": 3}",
    "POST /control" HOST "Expect: 100-continue\r\nContent-Length: 11\r\n\r\n{\"seek\": 1}",
    "GET /../../etc/passwd" HOST "\r\nGET /%2e%2e/etc/passwd" HOST "\r\n",
    "POST /control" HOST "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: "
    "40\r\n\r\n--x\r\nContent-Disposition: form-data\r\n\r\n"};
enum { GOOD = sizeof good / sizeof good[0], LONGEST = 1 << 16 };

static uint64_t state = 1;
static uint64_t random_below(uint64_t n)
{
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state % n;
}

/* Each %d becomes the port. */
static size_t fill(char *out, size_t size, const char *from, int port)
{
  size_t n = 0;
  while (*from && n + 16 < size)
    if (strncmp(from, "%d", 2) == 0) {
      n += (size_t)snprintf(out + n, size - n, "%d", port);
      from += 2;
    } else {
      out[n++] = *from++;
    }
  return n;
}

/* Some bytes otherwise. */
static size_t mutate(char *text, size_t n)
{
  for (uint64_t k = random_below(6); k > 0 && n > 2; k--) {
    const size_t at = random_below(n), many = 1 + random_below(n - at < 40 ? n - at : 40);
    switch (random_below(6)) {
    case 0:
      text[at] = (char)random_below(256);
      break;
    case 1:
      text[at] = "\r\n\0 :/?%&;=\"{}<\x80\xff"[random_below(18)];
      break;
    case 2: /* left out */
      memmove(text + at, text + at + many, n - at - many);
      n -= many;
      break;
    case 3: /* doubled, now and then very often */
      for (uint64_t times = random_below(20) ? 1 : random_below(2000); times > 0 && n + many < LONGEST;
           times--) {
        memmove(text + at + many, text + at, n - at);
        n += many;
      }
      break;
    case 4:
      n = at + 1;
      break;
    default: /* a piece of another one */
    {
      const char *other = good[random_below(GOOD)];
      const size_t length = strlen(other), from = random_below(length);
      const size_t piece = length - from < n - at ? length - from : n - at;
      memcpy(text + at, other + from, piece);
    }
    }
  }
  return n;
}

static int connect_to(int port)
{
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  const struct timeval patience = {.tv_sec = 60};
  const struct linger at_once = {1, 0};
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  FUZZ_CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0, "no connection");
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once,
             sizeof at_once); /* a million connections would use up the ports */
  return fd;
}

/* What comes of it: up to its end, or to the begin of events. */
static size_t ask(int port, const char *text, size_t n, char *answer, size_t room)
{
  const int fd = connect_to(port);
  size_t got = 0;
  for (size_t sent = 0; sent < n;) {
    const ssize_t more = send(fd, text + sent, n - sent, MSG_NOSIGNAL);
    if (more <= 0) break; /* it has heard enough */
    sent += (size_t)more;
  }
  shutdown(fd, SHUT_WR);
  answer[0] = '\0';
  for (ssize_t more; got + 1 < room && !strstr(answer, "text/event-stream"); got += (size_t)more) {
    more = recv(fd, answer + got, room - 1 - got, 0);
    if (more <= 0) break;
    answer[got + (size_t)more] = '\0';
  }
  close(fd);
  return got;
}

static size_t text_of(void *user, const void *frame, char *out, size_t size)
{
  (void)user;
  return (size_t)snprintf(out, size, "{\"t\": %.17g}", *(const double *)frame);
}

int main(int argc, char **argv)
{
  static const char page[] = "<!DOCTYPE html>PAGE", about[] = "{\"about\": 1}";
  static const bramah_server_resource resources[] = {
      {"/", "text/html", page, sizeof page - 1},
      {"/display.json", "application/json", about, sizeof about - 1}};
  static char text[LONGEST + 4096], answer[1 << 16];
  static double numbers[BRAMAH_SERVER_FRAMES];
  static void *frames[BRAMAH_SERVER_FRAMES];
  const uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
  state = (argc > 2 ? strtoull(argv[2], NULL, 10) : 1) * UINT64_C(0x9E3779B97F4A7C15) + 1;
  bramah_server_options options;
  bramah_server *server;
  bramah_control control;
  bramah_diag diag;
  int port = 0;
  uint64_t controls = 0, answered = 0;
  signal(SIGPIPE, SIG_IGN);
  for (size_t i = 0; i < BRAMAH_SERVER_FRAMES; i++) frames[i] = &numbers[i];
  bramah_server_options_default(&options);
  options.port = 0;
  options.allowed = BRAMAH_CONTROL_PAUSE | BRAMAH_CONTROL_DRIVE;
  options.n_resources = 2;
  options.resources = resources;
  options.frames = frames;
  options.text_size = 100;
  options.text = text_of;
  FUZZ_CHECK(!bramah_server_new(&options, &diag, &server), "%s", diag.message);
  FUZZ_CHECK(sscanf(bramah_server_address(server), "http://127.0.0.1:%d/", &port) == 1, "no port");

  for (uint64_t k = 0; k < n; k++) {
    double *frame = bramah_server_frame(server);
    if (frame) *frame = (double)k, bramah_server_send(server);
    size_t length = fill(text, sizeof text, good[random_below(GOOD)], port);
    if (k % 100) length = mutate(text, length);
    answered += ask(port, text, length, answer, sizeof answer) > 0;
    FUZZ_CHECK(!strstr(answer, "root:"), "a file of the disk");
    while (bramah_server_take(server, &control)) {
      FUZZ_CHECK((options.allowed & (unsigned)control.kind) == (unsigned)control.kind, "what is not allowed");
      controls++;
    }
    if (k % 500 != 499) continue; /* it still works */
    length = (size_t)snprintf(text, sizeof text, "GET / HTTP/1.1\r\nHost: localhost:%d" END, port);
    ask(port, text, length, answer, sizeof answer);
    FUZZ_CHECK(strncmp(answer, "HTTP/1.1 200", 12) == 0 && strstr(answer, "PAGE"), "after %llu requests: %s",
               (unsigned long long)k, answer);
  }
  const bramah_server_report report = bramah_server_get_report(server);
  printf("%llu requests, %llu answered, %llu of these refused; %llu viewers, %llu controls\n",
         (unsigned long long)n, (unsigned long long)answered, (unsigned long long)report.refused,
         (unsigned long long)report.connections, (unsigned long long)controls);
  bramah_server_free(server);
  return EXIT_SUCCESS;
}
