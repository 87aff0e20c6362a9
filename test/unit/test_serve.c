/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The server, by sockets as a browser has them; who is answered; a log that is played back and forth; lines as datagrams. */
#define _GNU_SOURCE
#include "bramah/log.h"
#include "bramah/serve.h"
#include "bramah/simulation.h"
#include "lib/serve/request.h"
#include "test/support/run.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static bramah_diag diag;

#ifdef BRAMAH_MICROHTTPD
enum { HAS_SERVER = 1 };
#else
enum { HAS_SERVER = 0 };
#endif

#define MUST(call) ck_assert_msg((call) == BRAMAH_OK, "%s: %s", #call, diag.message)

/* ---- who is answered ---- */

static const bramah_server_resource resources[] = {{"/", "text/html; charset=utf-8", "<!DOCTYPE html>", 15},
                                                   {"/display.json", "application/json", "{}", 2}};
#define ALL                                                                                                  \
  (BRAMAH_CONTROL_PAUSE | BRAMAH_CONTROL_SPEED | BRAMAH_CONTROL_SEEK | BRAMAH_CONTROL_DRIVE |                \
   BRAMAH_CONTROL_PLUG | BRAMAH_CONTROL_RESTART)
static const bramah__policy local = {.port = 8080, .allowed = ALL, .n_resources = 2, .resources = resources};
static const bramah__policy open_one = {.port = 8080,
                                        .token = "0123456789abcdef0123456789abcdef",
                                        .name = "cab-7",
                                        .allowed = BRAMAH_CONTROL_PAUSE,
                                        .n_resources = 2,
                                        .resources = resources};

#define ASK(policy, ...) bramah__answer_to(policy, &(bramah__request){__VA_ARGS__})
#define STATUS(policy, ...) (int)ASK(policy, .method = "GET", .path = "/", __VA_ARGS__).status

TEST(answers_its_own_names_only)
{
  static const char *const good[] = {"localhost:8080", "127.0.0.1:8080", "[::1]:8080", "LocalHost:8080"};
  static const char *const bad[] = {"evil.example:8080",
                                    "localhost",
                                    "localhost:80",
                                    "localhost:",
                                    "127.0.0.1:80800",
                                    "localhost:8080x",
                                    "localhost.evil.example:8080",
                                    "",
                                    "[",
                                    "[::1",
                                    "]",
                                    ":8080",
                                    "127.0.0.1:99999999999999999999",
                                    "192.168.0.7:8080",
                                    "cab-7:8080"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++)
    ck_assert_int_eq(STATUS(&local, .host = good[i]), 200);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) ck_assert_int_eq(STATUS(&local, .host = bad[i]), 421);
  ck_assert_int_eq(STATUS(&local, .host = NULL), 421);
  /* Opened, by its addresses and its own name, with the token. */
  const char *token = open_one.token;
  static const char *const too[] = {"192.168.0.7:8080", "cab-7:8080", "cab-7.local:8080", "[fe80::1]:8080"};
  for (size_t i = 0; i < sizeof too / sizeof *too; i++)
    ck_assert_int_eq(STATUS(&open_one, .host = too[i], .token = token), 303);
  ck_assert_int_eq(STATUS(&open_one, .host = "evil.example:8080", .token = token), 421);
  ck_assert_int_eq(STATUS(&open_one, .host = "cab-7.evil.example:8080", .token = token), 421);
}

TEST(asks_for_the_token)
{
  char wrong[64], cookie[128];
  const char *host = "cab-7:8080";
  ck_assert_int_eq(STATUS(&open_one, .host = host), 401);
  ck_assert_int_eq(STATUS(&open_one, .host = host, .token = ""), 401);
  for (size_t i = 0; i < BRAMAH__TOKEN; i++) {
    snprintf(wrong, sizeof wrong, "%s", open_one.token);
    wrong[i] ^= 1;
    ck_assert_int_eq(STATUS(&open_one, .host = host, .token = wrong), 401);
    wrong[i] = '\0';
    ck_assert_int_eq(STATUS(&open_one, .host = host, .token = wrong), 401);
  }
  snprintf(wrong, sizeof wrong, "%s0", open_one.token);
  ck_assert_int_eq(STATUS(&open_one, .host = host, .token = wrong), 401);
  snprintf(cookie, sizeof cookie, "a=b; bramah8080=%s; c=d", open_one.token);
  ck_assert_int_eq(STATUS(&open_one, .host = host, .cookie = cookie), 200);
  ck_assert_int_eq(STATUS(&open_one, .host = host, .cookie = "bramah8080=; bramah8080"), 401);
  snprintf(cookie, sizeof cookie, "Bearer %s", open_one.token);
  ck_assert_int_eq(STATUS(&open_one, .host = host, .bearer = cookie), 200);
  /* Whether there is such a path is not said without it. */
  ck_assert_int_eq((int)ASK(&open_one, .method = "GET", .path = "/nothing", .host = host).status, 401);
}

TEST(has_no_other_paths)
{
  static const char *const paths[] = {
      "/etc/passwd", "//", "/..", "/../../etc/passwd", "/display.json/", "/%2e%2e", "", "/control/x", "*"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
    ck_assert_int_eq((int)ASK(&local, .method = "GET", .path = paths[i], .host = "localhost:8080").status,
                     404);
  static const char *const methods[] = {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "get", ""};
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
    ck_assert_int_eq((int)ASK(&local, .method = methods[i], .path = "/", .host = "localhost:8080").status,
                     405);
  ck_assert_int_eq((int)ASK(&local, .method = "HEAD", .path = "/", .host = "localhost:8080").status, 200);
  ck_assert_int_eq((int)ASK(&local, .method = "HEAD", .path = "/events", .host = "localhost:8080").status,
                   405);
  ck_assert_int_eq((int)ASK(&local, .method = "GET", .path = "/control", .host = "localhost:8080").status,
                   405);
}

/* Status of a control; *value what it asks for. */
static int control(const bramah__policy *policy, const char *body, const char *origin, const char *site,
                   double *value)
{
  const bramah__answer answer =
      ASK(policy, .method = "POST", .path = "/control", .host = "localhost:8080", .token = policy->token,
          .origin = origin, .site = site, .body = body, .size = strlen(body));
  if (value) *value = answer.control.value;
  return (int)answer.status;
}

TEST(takes_controls_of_its_own_page)
{
  double value;
  const char *pause = "{\"pause\": true}";
  ck_assert_int_eq(control(&local, pause, NULL, NULL, &value), 204);
  ck_assert_double_eq(value, 1.0);
  ck_assert_int_eq(
      control(&local, " {\n\"seek\" :\t-12.5e-1 } ", "http://localhost:8080", "same-origin", &value), 204);
  ck_assert_double_eq(value, -1.25);
  ck_assert_int_eq(control(&local, "{\"speed\":0.25}", NULL, "none", &value), 204);
  ck_assert_int_eq(control(&local, pause, "http://evil.example", NULL, NULL), 403);
  ck_assert_int_eq(control(&local, pause, "https://localhost:8080", NULL, NULL), 403);
  ck_assert_int_eq(control(&local, pause, "http://localhost:8081", NULL, NULL), 403);
  ck_assert_int_eq(control(&local, pause, "null", NULL, NULL), 403);
  ck_assert_int_eq(control(&local, pause, NULL, "cross-site", NULL), 403);
  ck_assert_int_eq(control(&local, pause, NULL, "same-site", NULL), 403);
  ck_assert_int_eq(control(&open_one, pause, NULL, NULL, NULL), 204);
  ck_assert_int_eq(control(&open_one, "{\"seek\": 1}", NULL, NULL, NULL), 409);
  ck_assert_int_eq(control(&open_one, "{\"drive\": [1], \"driver\": 1}", NULL, NULL, NULL), 409);
  ck_assert_int_eq(control(&open_one, "{\"unplug\": 1}", NULL, NULL, NULL), 409);
  ck_assert_int_eq(control(&open_one, "{\"restart\": true}", NULL, NULL, NULL), 409);
  ck_assert_int_eq(control(&local, "{\"restart\": true}", NULL, NULL, &value), 204);
  ck_assert_double_eq(value, 1.0);
  ck_assert_int_eq(control(&local, "{\"unplug\": 7}", NULL, NULL, &value), 204);
  ck_assert_double_eq(value, 7.0);
  ck_assert_int_eq(control(&local, "{\"plug\": 0}", NULL, NULL, &value), 204);
  ck_assert_double_eq(value, -1.0);
  static const char *const wrong[] = {"",
                                      "{",
                                      "{}",
                                      "[]",
                                      "null",
                                      "{\"pause\"}",
                                      "{\"pause\":}",
                                      "{\"pause\": 1}",
                                      "{\"pause\": truely}",
                                      "{\"pause\": true} x",
                                      "{\"pause\": true, \"seek\": 1}",
                                      "{\"speed\": 0}",
                                      "{\"speed\": -1}",
                                      "{\"speed\": 1001}",
                                      "{\"speed\": nan}",
                                      "{\"seek\": inf}",
                                      "{\"restart\": false}",
                                      "{\"restart\": 1}",
                                      "{\"seek\": 0x10}",
                                      "{\"seek\": 1e999}",
                                      "{\"seek\": \"1\"}",
                                      "{\"seek\": --1}",
                                      "{\"seek\": 01}",
                                      "{\"seek\": .5}",
                                      "{\"seek\": 1.2.3}",
                                      "{\"stop\": true}",
                                      "{\"drive\": [1]}",
                                      "{\"drive\": 1, \"driver\": 1}",
                                      "{\"drive\": [1,], \"driver\": 1}",
                                      "{\"drive\": [1 2], \"driver\": 1}",
                                      "{\"drive\": [nul], \"driver\": 1}",
                                      "{\"drive\": [1e999], \"driver\": 1}",
                                      "{\"drive\": [1], \"driver\": 0}",
                                      "{\"drive\": [1], \"driver\": 1.5}",
                                      "{\"drive\": [1], \"driver\": 4294967296}",
                                      "{\"drive\": [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0], \"driver\": 1}",
                                      "{\"unplug\": -1}",
                                      "{\"unplug\": 1.5}",
                                      "{\"plug\": 10000}",
                                      "{\"seek\": 11111111111111111111111111111111111111111111}"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    ck_assert_msg(control(&local, wrong[i], NULL, NULL, NULL) == 400, "%s", wrong[i]);
  /* What is larger was not kept. */
  const bramah__answer large = ASK(&local, .method = "POST", .path = "/control", .host = "localhost:8080",
                                   .body = pause, .size = BRAMAH__BODY + 1);
  ck_assert_int_eq((int)large.status, 413);
  const bramah__answer form = ASK(&local, .method = "POST", .path = "/control", .host = "localhost:8080",
                                  .body = pause, .size = strlen(pause), .type = "text/plain");
  ck_assert_int_eq((int)form.status, 415);
}

/* ---- levers ---- */

static bramah_control asked(const char *text)
{
  bramah_control c;
  ck_assert_msg(bramah_control_read(text, strlen(text), &c), "%s", text);
  return c;
}

TEST(one_driver_within_ranges_who_is_there)
{
  const bramah_display_lever lever[] = {{.name = "lift", .range = {-10.0, 10.0}},
                                        {.name = "brake", .range = {0.0, 8.0}, .neutral = 8.0}};
  const bramah_display_file file = {.file = "display.yaml", .n_levers = 2, .levers = lever};
  const char *const inputs[] = {"engine", "lift", "brake"};
  bramah_levers levers;
  double u[] = {3.0, 1.0, 1.0};
  MUST(bramah_levers_of(&file, 3, inputs, &diag, &levers));
  ck_assert_int_eq(bramah_levers_at(&levers, 100.0, u), 0); /* nobody has driven yet */
  ck_assert(u[0] == 3.0 && u[1] == 0.0 && u[2] == 8.0);
  bramah_control first = asked("{\"drive\": [9, -2.5, 0], \"driver\": 17}"),
                 other = asked("{\"drive\": [0, 1], \"driver\": 18}");
  ck_assert_int_eq(bramah_levers_move(&levers, &first, 100.0), 1);
  ck_assert_int_eq(bramah_levers_move(&levers, &other, 100.2), 0);
  bramah_levers_at(&levers, 100.5, u);
  ck_assert(u[0] == 3.0 && u[1] == -2.5 && u[2] == 0.0); /* the engine has no lever */
  first = asked("{\"drive\": [null, 1e9, null], \"driver\": 17}");
  ck_assert_int_eq(bramah_levers_move(&levers, &first, 100.4), 1);
  bramah_levers_at(&levers, 100.9, u);
  ck_assert(u[1] == 10.0 && u[2] == 0.0);
  /* Not heard of for longer than that. */
  ck_assert_int_eq(bramah_levers_at(&levers, 100.91, u), 1);
  ck_assert(u[1] == 0.0 && u[2] == 8.0 && levers.driver == 0);
  ck_assert_int_eq(bramah_levers_at(&levers, 100.92, u), 0);
  ck_assert_int_eq(bramah_levers_move(&levers, &other, 101.0), 1);
  ck_assert_uint_eq(levers.driver, 18);
  /* He lets go: the next one may. */
  other = asked("{\"drive\": [], \"driver\": 18}");
  ck_assert_int_eq(bramah_levers_move(&levers, &other, 101.1), 1);
  bramah_levers_at(&levers, 101.1, u);
  ck_assert(u[1] == 0.0 && levers.driver == 0);
  ck_assert_int_eq(bramah_levers_of(NULL, 3, inputs, &diag, &levers), BRAMAH_E_KEY);
  ck_assert_int_eq(bramah_levers_of(&file, BRAMAH_LEVERS + 1, inputs, &diag, &levers), BRAMAH_E_VALUE);
}

/* ---- the server ---- */

enum { VIEWERS = 8, LARGE = 20000 };

static double numbers[BRAMAH_SERVER_FRAMES];
static void *frames[BRAMAH_SERVER_FRAMES];

/* {"n": number} and so many blanks behind it. */
static size_t text_of(void *user, const void *frame, char *out, size_t size)
{
  const int *blanks = user;
  return (size_t)snprintf(out, size, "{\"n\": %.0f%*s}", *(const double *)frame, *blanks, "");
}

static bramah_server *begin(int port, int *blanks, unsigned allowed)
{
  bramah_server_options options;
  bramah_server *server;
  bramah_server_options_default(&options);
  for (size_t i = 0; i < BRAMAH_SERVER_FRAMES; i++) frames[i] = &numbers[i];
  options.port = port;
  options.allowed = allowed;
  options.n_resources = 2;
  options.resources = resources;
  options.frames = frames;
  options.text_size = LARGE + 100;
  options.text = text_of;
  options.user = blanks;
  const bramah_status status = bramah_server_new(&options, &diag, &server);
  ck_assert_msg(!status, "%s", diag.message);
  return server;
}

static int port_of(const bramah_server *server)
{
  int port = 0;
  ck_assert_int_eq(sscanf(bramah_server_address(server), "http://127.0.0.1:%d/", &port), 1);
  return port;
}

/* A connection that has sent these lines; what came of it so far. */
typedef struct client {
  int fd, port;
  size_t n;
  char text[1 << 20];
} client;

static client *ask(int port, const char *format, ...) __attribute__((format(printf, 2, 3)));
static client *ask(int port, const char *format, ...)
{
  char request[2000];
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  client *c = calloc(1, sizeof *c);
  const int small = 4096;
  va_list list;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  va_start(list, format);
  const int n = vsnprintf(request, sizeof request, format, list);
  va_end(list);
  ck_assert_ptr_nonnull(c);
  c->fd = socket(AF_INET, SOCK_STREAM, 0);
  setsockopt(c->fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
  ck_assert_int_eq(connect(c->fd, (struct sockaddr *)&at, sizeof at), 0);
  ck_assert_int_eq((int)send(c->fd, request, (size_t)n, 0), n);
  return c;
}

static client *view(int port, const char *id)
{
  return ask(port, "GET /events HTTP/1.1\r\nHost: localhost:%d\r\n%s%s%s\r\n", port,
             id ? "Last-Event-ID: " : "", id ? id : "", id ? "\r\n" : "");
}

static void leave(client *c)
{
  close(c->fd);
  free(c);
}

/* Reads until the text is there, or all that comes. Where it stands, NULL: it never came. */
static const char *wait_for(client *c, const char *text)
{
  for (;;) {
    const char *at = text ? strstr(c->text, text) : NULL;
    if (at) return at;
    if (c->n + 1 >= sizeof c->text) ck_abort_msg("too much came");
    const ssize_t n = recv(c->fd, c->text + c->n, sizeof c->text - 1 - c->n, 0);
    if (n <= 0) return NULL;
    for (ssize_t i = 0; i < n; i++)
      if (!c->text[c->n + (size_t)i]) c->text[c->n + (size_t)i] = '?';
    c->n += (size_t)n;
    c->text[c->n] = '\0';
  }
}

static void publish(bramah_server *server, int number)
{
  double *frame;
  while (!(frame = bramah_server_frame(server))) usleep(1000);
  *frame = number;
  bramah_server_send(server);
}

static int status_of(client *c)
{
  int status = 0;
  ck_assert_ptr_nonnull(wait_for(c, "\r\n\r\n"));
  sscanf(c->text, "HTTP/1.1 %d", &status);
  leave(c);
  return status;
}

/* Every frame once and in order, to eight viewers; then one that comes again behind a frame; then an end. */
EACH_TEST(sends_every_frame_to_every_viewer, 0, HAS_SERVER)
{
  int blanks = 0;
  bramah_server *server = begin(0, &blanks, 0);
  const int port = port_of(server);
  client *viewer[VIEWERS];
  char text[64], id[32] = "";
  publish(server, 0);
  ck_assert_int_eq(bramah_server_say(server, "state", "{\"paused\": false}"), 1);
  for (int v = 0; v < VIEWERS; v++) {
    viewer[v] = view(port, NULL);
    ck_assert_ptr_nonnull(wait_for(viewer[v], "{\"n\": 0}"));
    ck_assert_ptr_nonnull(wait_for(viewer[v], "event: state\ndata: {\"paused\": false}\n\n"));
    ck_assert_ptr_nonnull(strstr(viewer[v]->text, "Content-Type: text/event-stream"));
    ck_assert_ptr_nonnull(strstr(viewer[v]->text, "X-Content-Type-Options: nosniff"));
    ck_assert_ptr_null(strstr(viewer[v]->text, "Access-Control"));
  }
  ck_assert_uint_eq(bramah_server_get_report(server).viewers, VIEWERS);
  for (int k = 1; k <= 40; k++) {
    publish(server, k);
    snprintf(text, sizeof text, "event: frame\ndata: {\"n\": %d}\n\n", k);
    for (int v = 0; v < VIEWERS; v++) ck_assert_ptr_nonnull(wait_for(viewer[v], text));
  }
  for (int v = 0; v < VIEWERS; v++) {
    const char *at = viewer[v]->text;
    for (int k = 0; k <= 40; k++) {
      snprintf(text, sizeof text, "data: {\"n\": %d}", k);
      at = strstr(at, text);
      ck_assert_msg(at != NULL, "frame %d", k);
      if (k == 30) {
        const char *before = at;
        while (strncmp(before, "id: ", 4) != 0) before--;
        snprintf(id, sizeof id, "%.*s", (int)strcspn(before + 4, "\n"), before + 4);
      }
    }
    ck_assert_ptr_null(strstr(viewer[v]->text, "event: skipped"));
  }
  client *again = view(port, id);
  ck_assert_ptr_nonnull(wait_for(again, "{\"n\": 40}"));
  ck_assert_ptr_nonnull(strstr(again->text, "{\"n\": 31}"));
  ck_assert_ptr_null(strstr(again->text, "{\"n\": 30}"));
  leave(again);
  ck_assert_int_eq(bramah_server_say(server, "verdict", "{\"text\":\n\"fine\"}"), 1);
  bramah_server_free(server);
  for (int v = 0; v < VIEWERS; v++) { /* who is there hears of it, and the end */
    ck_assert_ptr_nonnull(wait_for(viewer[v], "event: verdict\ndata: {\"text\": \"fine\"}\n\n"));
    wait_for(viewer[v], NULL);
    leave(viewer[v]);
  }

  /* Another one at the same place: an id of before means nothing to it. */
  server = begin(port, &blanks, 0);
  for (int k = 100; k < 110; k++) publish(server, k);
  client *later = view(port, id);
  ck_assert_ptr_nonnull(wait_for(later, "{\"n\": 109}"));
  ck_assert_ptr_null(strstr(later->text, "event: skipped"));
  leave(later);
  bramah_server_free(server);
}

/* One that never reads misses frames and hears how many; the other one, and who sends, are not the slower for it. */
EACH_TEST(a_stalled_viewer_skips, 0, HAS_SERVER)
{
  int blanks = LARGE;
  enum { FRAMES = 200 };
  bramah_server *server = begin(0, &blanks, 0);
  const int port = port_of(server);
  char text[64];
  unsigned long missed = 0;
  publish(server, 1);
  client *stalled = view(port, NULL), *reader = view(port, NULL);
  ck_assert_ptr_nonnull(wait_for(reader, "{\"n\": 1 "));
  while (bramah_server_get_report(server).viewers < 2) usleep(1000);
  for (int k = 2; k <= FRAMES; k++) {
    publish(server, k);
    snprintf(text, sizeof text, "{\"n\": %d ", k);
    ck_assert_ptr_nonnull(wait_for(reader, text));
    reader->n = 0;
    reader->text[0] = '\0';
  }
  const char *at = wait_for(stalled, "event: skipped\n");
  ck_assert_ptr_nonnull(at);
  ck_assert_ptr_nonnull(wait_for(stalled, "{\"n\": 200 "));
  int seen = 0;
  for (int k = 1; k <= FRAMES; k++) {
    snprintf(text, sizeof text, "{\"n\": %d ", k);
    seen += strstr(stalled->text, text) != NULL;
  }
  for (at = stalled->text; (at = strstr(at, "{\"frames\": ")); at++) missed += strtoul(at + 11, NULL, 10);
  ck_assert_int_eq(seen + (int)missed, FRAMES);
  ck_assert_uint_eq(bramah_server_get_report(server).skipped, missed);
  leave(stalled);
  leave(reader);
  bramah_server_free(server);
}

EACH_TEST(answers_requests, 0, HAS_SERVER)
{
  int blanks = 0;
  bramah_control asked;
  bramah_server *server = begin(0, &blanks, BRAMAH_CONTROL_PAUSE);
  const int port = port_of(server);
  client *page = ask(port, "GET / HTTP/1.1\r\nHost: localhost:%d\r\n\r\n", port);
  ck_assert_ptr_nonnull(wait_for(page, "<!DOCTYPE html>"));
  ck_assert_ptr_nonnull(strstr(page->text, "Content-Security-Policy: default-src 'none'"));
  ck_assert_ptr_null(strstr(page->text, "unsafe-inline"));
  leave(page);
  ck_assert_int_eq(status_of(ask(port, "GET /etc/passwd HTTP/1.1\r\nHost: localhost:%d\r\n\r\n", port)), 404);
  ck_assert_int_eq(status_of(ask(port, "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n")), 421);
  ck_assert_int_eq(bramah_server_take(server, &asked), 0);
  ck_assert_int_eq(status_of(ask(port,
                                 "POST /control HTTP/1.1\r\nHost: localhost:%d\r\nContent-Length: 15\r\n\r\n"
                                 "{\"pause\": true}",
                                 port)),
                   204);
  ck_assert_int_eq(bramah_server_take(server, &asked), 1);
  ck_assert_int_eq(asked.kind, BRAMAH_CONTROL_PAUSE);
  ck_assert_double_eq(asked.value, 1.0);
  ck_assert_int_eq(bramah_server_take(server, &asked), 0);
  ck_assert_int_eq(status_of(ask(port,
                                 "POST /control HTTP/1.1\r\nHost: localhost:%d\r\nContent-Length: 11\r\n\r\n"
                                 "{\"seek\": 1}",
                                 port)),
                   409);
  char large[1001];
  memset(large, ' ', sizeof large - 1);
  large[sizeof large - 1] = '\0';
  ck_assert_int_eq(
      status_of(ask(port, "POST /control HTTP/1.1\r\nHost: localhost:%d\r\nContent-Length: 1000\r\n\r\n%s",
                    port, large)),
      413);
  bramah_server *second;
  bramah_server_options options;
  bramah_server_options_default(&options);
  options.port = port;
  options.frames = frames;
  ck_assert_int_eq(bramah_server_new(&options, &diag, &second), BRAMAH_E_FILE);
  ck_assert_ptr_nonnull(strstr(diag.message, "cannot listen on port"));
  options.port = 70000;
  ck_assert_int_eq(bramah_server_new(&options, &diag, &second), BRAMAH_E_VALUE);
  bramah_server_free(server);
}

/* ---- a log that is played ---- */

static const char *in_four_bar(const char *name)
{
  static char text[4][1000];
  static int next;
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  next = (next + 1) % 4;
  snprintf(text[next], sizeof text[next], "%s/datasets/four-bar/%s", root ? root : ".", name);
  return text[next];
}

enum { STEPS = 3001 };

/* All of an estimate, in bits. */
static uint64_t bits_of(bramah_assess *assess, const bramah_assess_results *r)
{
  const bramah_estimate *e = bramah_assess_estimate(assess);
  uint64_t sum = (uint64_t)bramah_assess_get_totals(assess).last_ns;
  for (size_t i = 0; i < r->n_outputs; i++) {
    uint64_t bits[3];
    const size_t o = r->output[i].output;
    memcpy(&bits[0], &e->value[o], 8);
    memcpy(&bits[1], &e->sigma[o], 8);
    memcpy(&bits[2], &e->model[o], 8);
    for (int k = 0; k < 3; k++) sum = (sum ^ bits[k]) * UINT64_C(1099511628211);
  }
  return sum;
}

TEST(plays_back_and_forth_with_the_same_bits)
{
  static uint64_t bits[STEPS];
  static const double places[] = {0.5, 2.9, 1.0005, 0.0, -5.0, 2.2, 2.999, 1.7};
  bramah_session *session;
  bramah_player *player;
  bramah_assess_options options;
  char verdict[2][500];
  const char *log = in_four_bar("log.csv");
  int end = 0;
  bramah_assess_options_default(&options);
  options.to_ns = INT64_C(3000000000);
  options.model_alone = 1;

  /* By an assessment alone; with the player back and forth meanwhile. */
  for (int pass = 0; pass < 2; pass++) {
    int k = 0, sought = 0, been = 0;
    MUST(bramah_session_open(in_four_bar("sensors-2.yaml"), &diag, &session));
    MUST(bramah_player_open(session, 1, &log, &options, &diag, &player));
    ck_assert_int_eq(bramah_player_can_seek(player), 1);
    if (pass) ck_assert_int_eq(bramah_player_seek(player, 0, &end, &diag), BRAMAH_E_UNSUPPORTED);
    bramah_assess *assess = bramah_player_assess(player);
    const bramah_assess_results *results = bramah_assess_get_results(assess);
    for (end = 0; !end;) {
      MUST(pass ? bramah_player_next(player, &end, &diag) : bramah_assess_next(assess, &end, &diag));
      if (end && pass && sought++ < 2) { /* from the end, too */
        MUST(bramah_player_seek(player, INT64_C(2500000000), &end, &diag));
        k = 2501;
        continue;
      }
      if (end) break;
      const uint64_t now = bits_of(assess, results);
      if (!pass) bits[k] = now;
      ck_assert_msg(now == bits[k], "step %d", k);
      k++;
      if (!pass || been || k != 2400) continue;
      been = 1;
      for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        MUST(bramah_player_seek(player, (int64_t)(1e9 * places[i]), &end, &diag));
        k = (int)fmax(0.0, ceil(1e3 * places[i]));
        ck_assert_msg(bits_of(assess, results) == bits[k], "at %g", places[i]);
        for (int more = 0; more < 50 && k + 1 < STEPS; more++) {
          MUST(bramah_player_next(player, &end, &diag));
          if (!end) ck_assert(bits_of(assess, results) == bits[++k]);
        }
        end = 0;
      }
      k++;
    }
    ck_assert_int_eq(k, STEPS);
    results = bramah_assess_get_results(assess);
    bramah_verdict_text(&results->verdict, verdict[pass], sizeof verdict[pass]);
    ck_assert_uint_eq(results->totals.estimates, STEPS);
    ck_assert_uint_eq(results->rows.measurements, 5 * STEPS);
    bramah_player_close(player);
    bramah_session_close(session);
  }
  ck_assert_str_eq(verdict[0], verdict[1]);
}

/* The machine itself is simulated along with its filter: the same rows as by a file, but for its digits. */
TEST(plays_a_simulated_machine)
{
  bramah_session *session;
  bramah_machine_plant machine;
  bramah_simulation *simulation;
  bramah_simulation_options simulated;
  bramah_player *player;
  int end = 0;
  MUST(bramah_session_open(in_four_bar("sensors-2.yaml"), &diag, &session));
  MUST(bramah_machine_plant_open(&machine, in_four_bar("four-bar.yaml"), 0, NULL, 0, &diag));
  bramah_simulation_options_default(&simulated);
  simulated.study = in_four_bar("sensors-2.yaml");
  MUST(bramah_simulation_new(&machine, &simulated, &diag, &simulation));
  MUST(bramah_player_new(session, bramah_simulation_sample, simulation, NULL, &diag, &player));
  for (int k = 0; k < 500; k++) MUST(bramah_player_next(player, &end, &diag));
  ck_assert_int_eq(bramah_player_can_seek(player), 0);
  ck_assert_int_eq(bramah_player_seek(player, 0, &end, &diag), BRAMAH_E_UNSUPPORTED);
  const bramah_estimate *e = bramah_assess_estimate(bramah_player_assess(player));
  const long angle = bramah_plant_find_output(&machine.plant, "crank.angle");
  ck_assert_int_ge(angle, 0);
  const double error = e->value[angle] - machine.plant.output(machine.plant.self, (size_t)angle);
  ck_assert_double_lt(fabs(error), 4.0 * e->sigma[angle] + 2e-3); /* the simulation is a row ahead */
  /* What its first row measures is that of the shipped log, which the same seed made. */
  ck_assert_uint_eq(bramah_assess_get_results(bramah_player_assess(player))->rows.measurements, 5 * 500);
  bramah_player_close(player);
  MUST(bramah_simulation_close(simulation, &diag));
  bramah_machine_plant_close(&machine);
  bramah_session_close(session);
}

/* ---- datagrams ---- */

static void datagram(int from, int port, const char *text)
{
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ck_assert_int_eq((int)sendto(from, text, strlen(text), 0, (struct sockaddr *)&to, sizeof to),
                   (int)strlen(text));
}

/* What is written at one end is read at the other one. */
TEST(lines_go_and_come_as_datagrams)
{
  bramah_receiver *receiver = NULL;
  bramah_sender *sender;
  int in, out, port = 40000 + (int)((getpid() + 7000) % 20000);
  while (bramah_receiver_open(port, 1, &diag, &receiver, &in)) port++;
  MUST(bramah_sender_open(port, &diag, &sender, &out));
  char text[20000], got[20000];
  size_t n = (size_t)snprintf(text, sizeof text, "t[s],x[m]\n"), used = 0;
  for (int k = 0; k < 1000; k++) n += (size_t)snprintf(text + n, sizeof text - n, "%d.5,%d\n", k, k * k);
  for (size_t at = 0; at < n; at += 997) { /* lines in pieces */
    const size_t piece = n - at < 997 ? n - at : 997;
    ck_assert_int_eq((int)write(out, text + at, piece), (int)piece);
  }
  bramah_sender_say(sender, "# soil 1 0 5 7\n", 15); /* no line of the log */
  close(out);
  bramah_sender_close(sender);
  for (ssize_t some; (some = read(in, got + used, sizeof got - used)) > 0;) used += (size_t)some;
  ck_assert_uint_eq(used, n);
  ck_assert_mem_eq(got, text, n);
  ck_assert_uint_eq(bramah_receiver_get_report(receiver).lost, 0);
  ck_assert_int_eq(bramah_receiver_soil(receiver, got, sizeof got), 1);
  ck_assert_str_eq(got, "# soil 1 0 5 7\n");
  ck_assert_int_eq(bramah_receiver_soil(receiver, got, sizeof got), 0);
  close(in);
  bramah_receiver_close(receiver);
  ck_assert_int_eq(bramah_sender_open(0, &diag, &sender, &out), BRAMAH_E_VALUE);
}

/* Controls the other way. */
TEST(controls_go_as_datagrams)
{
  int to, at, port = 40000 + (int)((getpid() + 14000) % 20000);
  bramah_control sent = asked("{\"drive\": [1.25, null, -3], \"driver\": 4294967295}"), got;
  while (bramah_control_socket(port, 0, &diag, &at)) port++;
  MUST(bramah_control_socket(port, 1, &diag, &to));
  ck_assert_int_eq(bramah_control_receive(at, &got), 0);
  bramah_control_send(to, &sent);
  datagram(to, port, "{\"drive\": [1");
  sent = asked("{\"plug\": 12}");
  bramah_control_send(to, &sent);
  while (!bramah_control_receive(at, &got)) usleep(1000);
  ck_assert(got.kind == BRAMAH_CONTROL_DRIVE && got.driver == 4294967295u && got.n_levers == 3);
  ck_assert(got.lever[0] == 1.25 && isnan(got.lever[1]) && got.lever[2] == -3.0);
  while (!bramah_control_receive(at, &got)) usleep(1000);
  ck_assert(got.kind == BRAMAH_CONTROL_PLUG && got.value == -13.0);
  close(to);
  close(at);
}

/* Whoever reads too slowly loses datagrams, and knows how many. */
TEST(datagrams_that_are_dropped_are_counted)
{
  enum { MANY = 400, LONG = 50000 };
  static char lines[LONG + 1], got[1 << 16];
  bramah_receiver *receiver = NULL;
  int fd, port = 40000 + (int)(getpid() % 20000);
  while (bramah_receiver_open(port, 0, &diag, &receiver, &fd)) port++;
  const int from = socket(AF_INET, SOCK_DGRAM, 0);
  for (size_t i = 0; i < LONG; i++) lines[i] = i % 2 ? '\n' : '0';
  for (int i = 0; i < MANY; i++) datagram(from, port, lines);
  uint64_t sent = MANY;
  for (int ended = 0; !ended;) { /* until one that was sent afterwards is there */
    datagram(from, port, "9\n");
    sent++;
    for (struct pollfd in = {.fd = fd, .events = POLLIN}; !ended && poll(&in, 1, 20) > 0;) {
      const ssize_t n = read(fd, got, sizeof got);
      ended = n > 0 && memchr(got, '9', (size_t)n) != NULL;
    }
  }
  datagram(from, port, "");
  while (read(fd, got, sizeof got) > 0) continue;
  const bramah_receiver_report report = bramah_receiver_get_report(receiver);
  ck_assert_uint_gt(report.lost, 0);
  ck_assert_uint_eq(report.datagrams + report.lost, sent);
  bramah_receiver_close(receiver);
  close(fd);
  close(from);
}

TEST(datagrams_become_lines)
{
  bramah_receiver *receiver = NULL;
  int fd, port = 40000 + (int)(getpid() % 20000);
  while (bramah_receiver_open(port, 1, &diag, &receiver, &fd)) port++;
  bramah_receiver *second;
  int other;
  ck_assert_int_eq(bramah_receiver_open(port, 1, &diag, &second, &other), BRAMAH_E_FILE);
  ck_assert_ptr_nonnull(strstr(diag.message, "cannot receive on port"));
  ck_assert_int_eq(bramah_receiver_open(0, 1, &diag, &second, &other), BRAMAH_E_VALUE);
  const int from = socket(AF_INET, SOCK_DGRAM, 0);
  static const char *const sent[] = {"0,1\n",
                                     "# 5\nt[s],x[m]\n",
                                     "# 6\n0.1,1\n0.2,2\n",
                                     "# 9\n0.5,5\n",
                                     "# 8\n0.4,4\n",
                                     "# 9\n0.5,5\n",
                                     "# 10\nt[s],x[m]\n0.6,6\n",
                                     "# 11\n0.7",
                                     "# 12\nu[s],y\n",
                                     "#\n0.8,8\n",
                                     "# 99999999999999999999\n0.9,9\n",
                                     ""};
  for (size_t i = 0; i < sizeof sent / sizeof *sent; i++) datagram(from, port, sent[i]);
  char text[1000] = "";
  size_t n = 0;
  for (ssize_t got; (got = read(fd, text + n, sizeof text - 1 - n)) > 0;) n += (size_t)got;
  text[n] = '\0';
  ck_assert_str_eq(text, "t[s],x[m]\n0.1,1\n0.2,2\n0.5,5\n0.6,6\n#\n0.8,8\n# 99999999999999999999\n0.9,9\n");
  const bramah_receiver_report report = bramah_receiver_get_report(receiver);
  ck_assert_uint_eq(report.datagrams, 6);
  ck_assert_uint_eq(report.lost, 2);
  ck_assert_uint_eq(report.late, 2);
  ck_assert_uint_eq(report.unusable, 3);
  ck_assert_uint_eq(report.repeated, 1);
  bramah_receiver_close(receiver);
  close(fd);
  close(from);
}

int main(void) { return run_tests("serve"); }
