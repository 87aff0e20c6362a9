/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who is answered, and with what. */
#include "lib/serve/request.h"
#include "lib/base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- who ---- */

static int is_digit(char c) { return c >= '0' && c <= '9'; }

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

/* Names of computers and schemes know no case. */
static int same_name(const char *a, size_t n, const char *name)
{
  if (strlen(name) != n) return 0;
  for (size_t i = 0; i < n; i++)
    if (lower(a[i]) != lower(name[i])) return 0;
  return 1;
}

/* A name that somebody else can point at this computer is none of ours: otherwise a page of his, which the browser takes
 * for one of that name, could read what we answer. Addresses cannot be pointed anywhere. */
static int is_our_host(const bramah__policy *policy, const char *host)
{
  if (!host) return 0;
  size_t n = host[0] == '[' ? strcspn(host, "]") : strcspn(host, ":");
  if (host[n] == ']') n++;
  long port = host[n] == ':' && host[n + 1] ? 0 : 80;
  if (host[n] == ':')
    for (const char *c = host + n + 1; *c; c++) {
      if (!is_digit(*c) || port > 65535) return 0;
      port = 10 * port + (*c - '0');
    }
  else if (host[n])
    return 0;
  if (port != policy->port) return 0;
  if (same_name(host, n, "localhost") || same_name(host, n, "127.0.0.1") || same_name(host, n, "[::1]"))
    return 1;
  if (!policy->token[0]) return 0;
  if (host[0] == '[') return strspn(host + 1, "0123456789abcdefABCDEF:.") == n - 2;
  if (strspn(host, "0123456789.") == n) return n > 0;
  const size_t own = strlen(policy->name);
  return own && (same_name(host, n, policy->name) ||
                 (n == own + 6 && same_name(host, own, policy->name) && same_name(host + own, 6, ".local")));
}

/* Takes as long for every text: how much of it is right cannot be measured. */
static int is_token(const bramah__policy *policy, const char *text, size_t n)
{
  unsigned differs = n != BRAMAH__TOKEN;
  for (size_t i = 0; i < BRAMAH__TOKEN; i++)
    differs |= (unsigned)((unsigned char)policy->token[i] ^ (unsigned char)(i < n ? text[i] : 0));
  return !differs;
}

/* Browsers send cookies to all ports of a computer: the name says whose it is. */
size_t bramah__cookie_name(const bramah__policy *policy, char out[BRAMAH__COOKIE])
{
  return (size_t)snprintf(out, BRAMAH__COOKIE, "bramah%d=", policy->port);
}

static int in_cookie(const bramah__policy *policy, const char *cookie)
{
  char name[BRAMAH__COOKIE];
  const size_t length = bramah__cookie_name(policy, name);
  while (cookie && *cookie) {
    cookie += strspn(cookie, "; ");
    const size_t n = strcspn(cookie, ";");
    if (strncmp(cookie, name, length) == 0 && is_token(policy, cookie + length, n - length)) return 1;
    cookie += n;
  }
  return 0;
}

static int may_enter(const bramah__policy *policy, const bramah__request *r)
{
  static const char bearer[] = "Bearer ";
  if (!policy->token[0] || in_cookie(policy, r->cookie)) return 1;
  if (r->token && is_token(policy, r->token, strlen(r->token))) return 1;
  return r->bearer && strncmp(r->bearer, bearer, sizeof bearer - 1) == 0 &&
         is_token(policy, r->bearer + sizeof bearer - 1, strlen(r->bearer) - (sizeof bearer - 1));
}

/* A browser says whose page asks; a program need not. */
static int is_our_page(const bramah__request *r)
{
  static const char scheme[] = "http://";
  if (r->site && strcmp(r->site, "same-origin") != 0 && strcmp(r->site, "none") != 0) return 0;
  if (!r->origin) return 1;
  return strncmp(r->origin, scheme, sizeof scheme - 1) == 0 &&
         same_name(r->origin + sizeof scheme - 1, strlen(r->origin) - (sizeof scheme - 1), r->host);
}

/* ---- what ---- */

static const char *skip(const char *at, const char *end)
{
  while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')) at++;
  return at;
}

/* Is the word there? */
static const char *past(const char *at, const char *end, const char *word)
{
  const size_t n = strlen(word);
  return at && (size_t)(end - at) >= n && memcmp(at, word, n) == 0 ? skip(at + n, end) : NULL;
}

/* A number as JSON has it, its end; NULL: there is none. */
static const char *number(const char *at, const char *end, double *value)
{
  const char *last = at;
  while (last < end && strchr("+-.eE0123456789", *last) && *last) last++;
  const char *first = at < last && *at == '-' ? at + 1 : at;
  if (first == last || !is_digit(*first) || (*first == '0' && last > first + 1 && is_digit(first[1])))
    return NULL;
  char text[32]; /* ended by something, for the reader */
  if ((size_t)(last - at) >= sizeof text) return NULL;
  memcpy(text, at, (size_t)(last - at));
  text[last - at] = '\0';
  return bramah__read_number(text, text + (last - at), '.', value) && isfinite(*value) ? skip(last, end)
                                                                                       : NULL;
}

/* [0, -2.5, null], "driver": 17 } */
static const char *levers(const char *at, const char *end, bramah_control *control)
{
  double driver = 0.0;
  control->n_levers = 0;
  const char *next = past(at, end, "["), *close = past(next, end, "]");
  while (next && !close && control->n_levers < BRAMAH_LEVERS) {
    double *value = &control->lever[control->n_levers++];
    const char *none = past(next, end, "null");
    if (none) *value = NAN;
    next = none ? none : number(next, end, value);
    close = past(next, end, "]");
    if (!close) next = past(next, end, ",");
  }
  next = past(past(past(close, end, ","), end, "\"driver\""), end, ":");
  if (next) next = number(next, end, &driver);
  if (!(driver >= 1.0 && driver <= 4294967295.0) || driver != floor(driver)) return NULL;
  control->driver = (uint32_t)driver;
  return next;
}

int bramah_control_read(const char *body, size_t size, bramah_control *control)
{
  static const struct {
    const char *name;
    bramah_control_kind kind;
    double least, most;
  } known[] = {
      {"\"pause\"", BRAMAH_CONTROL_PAUSE, 0.0, 1.0}, {"\"speed\"", BRAMAH_CONTROL_SPEED, 0.01, 1000.0},
      {"\"seek\"", BRAMAH_CONTROL_SEEK, -9e9, 9e9},  {"\"restart\"", BRAMAH_CONTROL_RESTART, 1.0, 1.0},
      {"\"drive\"", BRAMAH_CONTROL_DRIVE, 0.0, 0.0}, {"\"unplug\"", BRAMAH_CONTROL_PLUG, 0.0, 9999.0},
      {"\"plug\"", BRAMAH_CONTROL_PLUG, 0.0, 9999.0}};
  const char *end = body + size, *at = size ? past(skip(body, end), end, "{") : NULL, *next = NULL;
  *control = (bramah_control){0};
  for (size_t i = 0; at && i < sizeof known / sizeof known[0]; i++) {
    next = past(past(at, end, known[i].name), end, ":");
    if (!next) continue;
    control->kind = known[i].kind;
    if (known[i].kind == BRAMAH_CONTROL_PAUSE || known[i].kind == BRAMAH_CONTROL_RESTART) {
      const char *yes = past(next, end, "true"), *no = past(next, end, "false");
      control->value = yes ? 1.0 : 0.0;
      next = yes ? yes : no;
    } else if (known[i].kind == BRAMAH_CONTROL_DRIVE) {
      next = levers(next, end, control);
    } else {
      next = number(next, end, &control->value);
    }
    if (past(next, end, "}") != end || control->value < known[i].least || control->value > known[i].most)
      return 0;
    if (known[i].kind != BRAMAH_CONTROL_PLUG) return 1;
    if (control->value != floor(control->value)) return 0;
    if (known[i].name[1] == 'p') control->value = -1.0 - control->value;
    return 1;
  }
  return 0;
}

static bramah__answer refuse(unsigned status, const char *why)
{
  return (bramah__answer){.status = status, .why = why};
}

static bramah__answer control(const bramah__policy *policy, const bramah__request *r)
{
  bramah__answer answer = {.status = 204};
  if (!is_our_page(r)) return refuse(403, "only a page of this server may do that");
  if (r->type && strncmp(r->type, "application/json", 16) != 0) return refuse(415, "send application/json");
  if (r->size > BRAMAH__BODY) return refuse(413, "that is too much");
  if (!bramah_control_read(r->body, r->size, &answer.control))
    return refuse(400, "send a pause (true, false), a speed (0.01 to 1000), a seek (s), a restart (true), "
                       "levers or a plug, as JSON");
  if (!(policy->allowed & (unsigned)answer.control.kind)) return refuse(409, "this source cannot do that");
  return answer;
}

bramah__answer bramah__answer_to(const bramah__policy *policy, const bramah__request *r)
{
  static const char events[] = "/events", controls[] = "/control";
  bramah__answer answer = {.status = 200};
  if (!is_our_host(policy, r->host)) return refuse(421, "this server does not go by that name");
  if (!may_enter(policy, r)) return refuse(401, "open the address that bramah serve printed: it has a token");
  const int is_control = strcmp(r->path, controls) == 0, is_events = strcmp(r->path, events) == 0;
  for (size_t i = 0; i < policy->n_resources; i++)
    if (strcmp(r->path, policy->resources[i].path) == 0) answer.resource = &policy->resources[i];
  if (!is_control && !is_events && !answer.resource) return refuse(404, "there is nothing by that name");
  const char *method = is_control ? "POST" : "GET";
  if (strcmp(r->method, method) != 0 && (!answer.resource || strcmp(r->method, "HEAD") != 0))
    return (bramah__answer){
        .status = 405, .why = "not by that method", .allow = answer.resource ? "GET, HEAD" : method};
  if (is_control) return control(policy, r);
  if (is_events && !is_our_page(r)) return refuse(403, "only a page of this server may do that");
  answer.kind = is_events ? BRAMAH__ANSWER_EVENTS : BRAMAH__ANSWER_RESOURCE;
  /* The token goes out of the address, where histories and pictures of screens would keep it. */
  if (policy->token[0] && r->token && strcmp(r->path, "/") == 0)
    answer = (bramah__answer){.status = 303, .kind = BRAMAH__ANSWER_ENTER};
  return answer;
}
