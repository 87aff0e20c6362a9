/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any request to the server: its fields are the lines of the input ("-": missing), in the order below; the rest is its body. */
#include "lib/serve/request.h"
#include "test/fuzz/fuzz.h"

#include <math.h>
#include <string.h>

static const bramah_server_resource resources[] = {{"/", "text/html", "", 0},
                                                   {"/display.json", "application/json", "", 0}};
static const bramah__policy policies[] = {{.port = 8080,
                                           .allowed = BRAMAH_CONTROL_PAUSE | BRAMAH_CONTROL_SPEED |
                                                      BRAMAH_CONTROL_SEEK | BRAMAH_CONTROL_DRIVE |
                                                      BRAMAH_CONTROL_PLUG | BRAMAH_CONTROL_RESTART,
                                           .n_resources = 2,
                                           .resources = resources},
                                          {.port = 80,
                                           .token = "0123456789abcdef0123456789abcdef",
                                           .name = "cab-7",
                                           .allowed = BRAMAH_CONTROL_PAUSE,
                                           .n_resources = 2,
                                           .resources = resources}};

static int has(const char *text, const char *what) { return text && strstr(text, what); }

static void check(const bramah__policy *p, const bramah__request *r)
{
  const bramah__answer a = bramah__answer_to(p, r), again = bramah__answer_to(p, r);
  FUZZ_CHECK(a.status == again.status && a.kind == again.kind, "answered twice");
  FUZZ_CHECK((a.status >= 400) == (a.why != NULL), "status %u", a.status);
  if (a.status == 421) return;
  FUZZ_CHECK(r->host && r->host[0], "no host");
  const int knows = has(r->token, p->token) || has(r->cookie, p->token) || has(r->bearer, p->token);
  FUZZ_CHECK(!p->token[0] || (a.status == 401) == !knows || (a.status == 401 && knows), "token");
  FUZZ_CHECK(!p->token[0] || knows || a.status == 401, "status %u without the token", a.status);
  if (a.kind == BRAMAH__ANSWER_RESOURCE) {
    FUZZ_CHECK(a.status == 200 && (a.resource == &resources[0] || a.resource == &resources[1]),
               "no resource");
    FUZZ_CHECK(strcmp(a.resource->path, r->path) == 0, "another path");
  }
  if (a.kind == BRAMAH__ANSWER_ENTER) FUZZ_CHECK(a.status == 303 && p->token[0], "no token to give");
  if (a.kind != BRAMAH__ANSWER_TEXT) FUZZ_CHECK(strcmp(r->method, "POST") != 0, "POST");
  if (a.status != 204) return;
  FUZZ_CHECK(strcmp(r->method, "POST") == 0 && strcmp(r->path, "/control") == 0, "a control of %s", r->path);
  FUZZ_CHECK(!r->origin || has(r->origin, r->host) || strlen(r->origin) == 7 + strlen(r->host), "origin %s",
             r->origin);
  FUZZ_CHECK(r->size <= BRAMAH__BODY && (p->allowed & (unsigned)a.control.kind), "not allowed");
  const double v = a.control.value;
  FUZZ_CHECK(a.control.kind == BRAMAH_CONTROL_PAUSE   ? v == 0.0 || v == 1.0
             : a.control.kind == BRAMAH_CONTROL_SPEED ? v >= 0.01 && v <= 1000.0
             : a.control.kind == BRAMAH_CONTROL_PLUG  ? v >= -10000.0 && v <= 9999.0 && v == floor(v)
             : a.control.kind == BRAMAH_CONTROL_DRIVE
                 ? a.control.driver && a.control.n_levers <= BRAMAH_LEVERS
                 : v >= -9e9 && v <= 9e9,
             "value %g", v);
  for (size_t i = 0; i < a.control.n_levers; i++) FUZZ_CHECK(!isinf(a.control.lever[i]), "lever %zu", i);
  /* Whatever is asked for, the machine gets what it was made for, and neutral once nobody is there. */
  bramah_levers levers = {.n = 2, .lever = {{1, -10.0, 10.0, 0.0, 0.0}, {1, 0.0, 5.0, 5.0, 5.0}}};
  double u[2] = {0.0, 0.0};
  if (a.control.kind != BRAMAH_CONTROL_DRIVE) return;
  FUZZ_CHECK(bramah_levers_move(&levers, &a.control, 1.0), "nobody else drives");
  bramah_levers_at(&levers, 1.1, u);
  FUZZ_CHECK(u[0] >= -10.0 && u[0] <= 10.0 && u[1] >= 0.0 && u[1] <= 5.0, "%g %g", u[0], u[1]);
  bramah_levers_at(&levers, 1.1 + BRAMAH_DEAD_MAN, u);
  FUZZ_CHECK(u[0] == 0.0 && u[1] == 5.0, "%g %g", u[0], u[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  enum { FIELDS = 9 };
  const char *field[FIELDS] = {"", ""};
  char *text = malloc(size + 1), *at = text;
  FUZZ_CHECK(text, "no memory");
  if (size) memcpy(text, data, size);
  text[size] = '\0';
  for (int i = 0; i < FIELDS && at; i++) {
    char *end = memchr(at, '\n', (size_t)(text + size - at));
    if (end) *end = '\0';
    if (i < 2 || strcmp(at, "-") != 0) field[i] = at;
    at = end ? end + 1 : NULL;
  }
  const size_t left = at ? (size_t)(text + size - at) : 0;
  char *body = malloc(left ? left : 1); /* of its own size: a step beyond its end is seen */
  FUZZ_CHECK(body, "no memory");
  if (left) memcpy(body, at, left);
  const bramah__request request = {.method = field[0],
                                   .path = field[1],
                                   .token = field[2],
                                   .host = field[3],
                                   .origin = field[4],
                                   .site = field[5],
                                   .cookie = field[6],
                                   .bearer = field[7],
                                   .type = field[8],
                                   .body = body,
                                   .size = left};
  for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) check(&policies[i], &request);
  free(body);
  free(text);
  return 0;
}
