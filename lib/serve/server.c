/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The server: from the filter's thread through a ring to a thread that makes text, from there to what libmicrohttpd's
 * thread sends to viewers.
 *
 *   filter ── ring, no locks ──► pump ── store, a lock ──► libmicrohttpd ──► viewers
 *          ◄────────────────────── controls, no locks ──┘
 *
 * The store has the last frames, the last events and the last state. A viewer that has all of it is suspended, and resumed
 * by the pump. Ids are base + 256 * frame + events since that frame, the base grows from one server to the next. */
#define _GNU_SOURCE /* getrandom, accept of sockets */
#include "lib/serve/request.h"
#include "lib/io/fail.h"

#include <stdio.h>
#include <string.h>

void bramah_server_options_default(bramah_server_options *options)
{
  *options = (bramah_server_options){.port = 8080};
}

#ifndef BRAMAH_MICROHTTPD

bramah_status bramah_server_new(const bramah_server_options *options, bramah_diag *diag, bramah_server **out)
{
  (void)options;
  *out = NULL;
  return bramah__failf(diag, BRAMAH_E_UNSUPPORTED, NULL, 0, NULL,
                       "this bramah was built without libmicrohttpd, which serving needs");
}
void bramah_server_free(bramah_server *server) { (void)server; }
const char *bramah_server_address(const bramah_server *server) { return (void)server, ""; }
void *bramah_server_frame(bramah_server *server) { return (void)server, NULL; }
void bramah_server_send(bramah_server *server) { (void)server; }
int bramah_server_say(bramah_server *server, const char *event, const char *json)
{
  return (void)server, (void)event, (void)json, 0;
}
int bramah_server_take(bramah_server *server, bramah_control *control)
{
  return (void)server, (void)control, 0;
}
bramah_server_report bramah_server_get_report(const bramah_server *server)
{
  return (void)server, (bramah_server_report){0};
}

#else

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <microhttpd.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
  RING = BRAMAH_SERVER_FRAMES, /* frames and events on their way to the pump; */
  RESERVED = 8,                /* of these for events alone */
  FRAMES = 32,                 /* in the store: a second */
  EVENTS = 64,                 /* in the store */
  TEXT = 4000,                 /* [bytes] of an event */
  HEAD = 128,                  /* [bytes] around it */
  WORD = 24,                   /* [bytes] of its name */
  CONTROLS = 16,               /* on their way to the filter */
  VIEWERS = 32,                /* and */
  CONNECTIONS = 64,            /* of all kinds, */
  PER_ADDRESS = 40,            /* from one computer */
  TIMEOUT = 10,                /* [s] after which one that does nothing is closed */
  MEMORY = 16384,              /* [bytes] of headers of a connection */
  UNSENT = 65536,              /* [bytes] that the system keeps for a viewer: what he is late by at most */
  PAUSE_MS = 4,                /* of the pump */
  BEAT = 5000 / PAUSE_MS /* pauses after which a viewer hears of us in any case: who is gone is noticed */
};

/* On its way from the filter's thread. */
typedef struct item {
  int is_frame;
  char word[WORD], text[TEXT + 1]; /* of an event */
  void *frame;                     /* the caller's memory */
} item;

/* In the store: a whole event as it is sent. */
typedef struct entry {
  uint64_t after; /* frames before it, or of a frame its number from 1 on */
  uint64_t place; /* of an event: how many there were since that frame, from 1 on */
  size_t n;
  char *text;
} entry;

typedef struct viewer {
  bramah_server *server;
  struct MHD_Connection *connection;
  int used, suspended, is_new;
  uint64_t frame, event, state, beat; /* sent last, by their numbers */
  char *text;                         /* [room] what is being sent, of it */
  size_t at, n;
} viewer;

struct bramah_server {
  bramah_server_options options;
  bramah__policy policy;
  char address[128], number[INET_ADDRSTRLEN];
  struct MHD_Daemon *daemon;
  pthread_t pump;
  int pumps;
  atomic_int ending;
  uint64_t base;
  /* From the filter's thread: written by it up to head, read by the pump from tail. */
  item ring[RING];
  atomic_uint_fast64_t head, tail, left_out;
  /* To the filter's thread. */
  bramah_control controls[CONTROLS];
  atomic_uint_fast64_t asked, taken;
  /* The store, with the viewers, under the lock. */
  pthread_mutex_t lock;
  entry frames[FRAMES], events[EVENTS], state;
  uint64_t n_frames, n_events, n_states, n_beats;
  viewer viewers[VIEWERS];
  uint64_t n_viewers, n_connections, skipped;
  atomic_uint_fast64_t refused;
  size_t room;   /* [bytes] of the text of an event in the store */
  char *scratch; /* [text_size + 1] of the pump */
  char *memory;  /* all texts */
  bramah_server_resource *resources;
};

/* ---- from the filter's thread ---- */

static item *next_item(bramah_server *s, uint64_t reserved)
{
  const uint64_t head = atomic_load_explicit(&s->head, memory_order_relaxed);
  const uint64_t used = head - atomic_load_explicit(&s->tail, memory_order_acquire);
  return used + reserved < RING ? &s->ring[head % RING] : NULL;
}

static void sent_item(bramah_server *s)
{
  atomic_store_explicit(&s->head, atomic_load_explicit(&s->head, memory_order_relaxed) + 1,
                        memory_order_release);
}

void *bramah_server_frame(bramah_server *s)
{
  item *next = next_item(s, RESERVED);
  if (!next) atomic_fetch_add_explicit(&s->left_out, 1, memory_order_relaxed);
  return next ? next->frame : NULL;
}

void bramah_server_send(bramah_server *s)
{
  next_item(s, 0)->is_frame = 1;
  sent_item(s);
}

int bramah_server_say(bramah_server *s, const char *event, const char *json)
{
  item *next = next_item(s, 0);
  if (!next) return 0;
  next->is_frame = 0;
  snprintf(next->word, sizeof next->word, "%s", event);
  snprintf(next->text, sizeof next->text, "%s", json);
  sent_item(s);
  return 1;
}

int bramah_server_take(bramah_server *s, bramah_control *control)
{
  const uint64_t taken = atomic_load_explicit(&s->taken, memory_order_relaxed);
  if (atomic_load_explicit(&s->asked, memory_order_acquire) == taken) return 0;
  *control = s->controls[taken % CONTROLS];
  atomic_store_explicit(&s->taken, taken + 1, memory_order_release);
  return 1;
}

/* By libmicrohttpd's thread. */
static int ask(bramah_server *s, const bramah_control *control)
{
  const uint64_t asked = atomic_load_explicit(&s->asked, memory_order_relaxed);
  if (asked - atomic_load_explicit(&s->taken, memory_order_acquire) == CONTROLS) return 0;
  s->controls[asked % CONTROLS] = *control;
  atomic_store_explicit(&s->asked, asked + 1, memory_order_release);
  return 1;
}

/* ---- the store ---- */

static uint64_t id_of(const bramah_server *s, const entry *e)
{
  return s->base + 256 * e->after + (e->place < 255 ? e->place : 255);
}

/* A line end within the text would end the event: there is none in JSON of one line. */
static void set_entry(const bramah_server *s, entry *e, const char *word, const char *text, size_t n)
{
  int head = snprintf(e->text, s->room, "id: %llu\nevent: %s\ndata: ", (unsigned long long)id_of(s, e), word);
  if (e == &s->state) head = snprintf(e->text, s->room, "event: %s\ndata: ", word);
  char *out = e->text + head;
  if (n > s->room - (size_t)head - 3) n = s->room - (size_t)head - 3;
  for (size_t i = 0; i < n; i++) out[i] = text[i] == '\n' || text[i] == '\r' ? ' ' : text[i];
  memcpy(out + n, "\n\n", 3);
  e->n = (size_t)head + n + 2;
}

/* All that wait have something to do; with the lock. */
static void wake(bramah_server *s)
{
  for (size_t i = 0; i < VIEWERS; i++) {
    viewer *v = &s->viewers[i];
    if (!v->used || !v->suspended) continue;
    v->suspended = 0;
    MHD_resume_connection(v->connection);
  }
}

static void store(bramah_server *s, const item *it)
{
  size_t n = it->is_frame ? 0 : strlen(it->text);
  if (it->is_frame) n = s->options.text(s->options.user, it->frame, s->scratch, s->options.text_size + 1);
  if (it->is_frame && (!n || n > s->options.text_size)) return;
  pthread_mutex_lock(&s->lock);
  if (it->is_frame) {
    entry *e = &s->frames[s->n_frames % FRAMES];
    e->after = ++s->n_frames;
    set_entry(s, e, "frame", s->scratch, n);
  } else if (strcmp(it->word, "state") == 0) {
    s->state.after = s->n_frames;
    s->n_states++;
    set_entry(s, &s->state, it->word, it->text, n);
  } else {
    const entry *last = s->n_events ? &s->events[(s->n_events - 1) % EVENTS] : NULL;
    const uint64_t place = last && last->after == s->n_frames ? last->place + 1 : 1;
    entry *e = &s->events[s->n_events++ % EVENTS];
    e->after = s->n_frames;
    e->place = place;
    set_entry(s, e, it->word, it->text, n);
  }
  wake(s);
  pthread_mutex_unlock(&s->lock);
}

static void *pump(void *user)
{
  bramah_server *s = user;
  const struct timespec rest = {.tv_nsec = PAUSE_MS * 1000000L};
  for (unsigned beat = 1; !atomic_load(&s->ending); beat++) {
    const uint64_t head = atomic_load_explicit(&s->head, memory_order_acquire);
    for (uint64_t tail = atomic_load_explicit(&s->tail, memory_order_relaxed); tail < head; tail++) {
      store(s, &s->ring[tail % RING]);
      atomic_store_explicit(&s->tail, tail + 1, memory_order_release);
    }
    if (beat % BEAT == 0) {
      pthread_mutex_lock(&s->lock);
      s->n_beats++;
      wake(s);
      pthread_mutex_unlock(&s->lock);
    }
    nanosleep(&rest, NULL);
  }
  return NULL;
}

/* ---- viewers: all with the lock ---- */

static void send_text(viewer *v, const char *text, size_t n)
{
  memcpy(v->text, text, n);
  v->at = 0;
  v->n = n;
}

/* Where to go on behind an id of this server: what was sent before it. */
static void go_on(const bramah_server *s, viewer *v, const char *id)
{
  char *end;
  const uint64_t given = strtoull(id, &end, 10);
  const uint64_t frame = (given - s->base) / 256, place = (given - s->base) % 256;
  if (given <= s->base || *end || frame > s->n_frames) return;
  v->frame = frame;
  for (uint64_t k = s->n_events > EVENTS ? s->n_events - EVENTS : 0; k < s->n_events; k++) {
    const entry *e = &s->events[k % EVENTS];
    if (e->after < frame || (e->after == frame && e->place <= place)) v->event = k + 1;
  }
}

/* What comes next; 0: nothing. */
static int choose(bramah_server *s, viewer *v)
{
  if (v->is_new) {
    static const char hello[] = "retry: 1000\n\n";
    v->is_new = 0;
    send_text(v, hello, sizeof hello - 1);
    return 1;
  }
  if (v->state != s->n_states && s->state.after <= v->frame) {
    v->state = s->n_states;
    send_text(v, s->state.text, s->state.n);
    return 1;
  }
  if (s->n_events - v->event > EVENTS) v->event = s->n_events - EVENTS;
  const entry *event = v->event < s->n_events ? &s->events[v->event % EVENTS] : NULL;
  if (event && event->after <= v->frame) {
    v->event++;
    send_text(v, event->text, event->n);
    return 1;
  }
  if (v->frame == s->n_frames) return 0;
  if (s->n_frames - v->frame > FRAMES) {
    char text[HEAD];
    const uint64_t missed = s->n_frames - 1 - v->frame;
    s->skipped += missed;
    v->frame += missed;
    const int n = snprintf(text, sizeof text, "event: skipped\ndata: {\"frames\": %llu}\n\n",
                           (unsigned long long)missed);
    send_text(v, text, (size_t)n);
    return 1;
  }
  const entry *frame = &s->frames[v->frame++ % FRAMES];
  send_text(v, frame->text, frame->n);
  return 1;
}

/* Called by libmicrohttpd whenever it can send something. */
static ssize_t send_some(void *user, uint64_t position, char *out, size_t most)
{
  viewer *v = user;
  bramah_server *s = v->server;
  ssize_t sent = 0;
  (void)position;
  pthread_mutex_lock(&s->lock);
  if (v->at == v->n && !choose(s, v)) {
    if (v->beat != s->n_beats) {
      v->beat = s->n_beats;
      send_text(v, ":\n\n", 3);
    } else if (atomic_load(&s->ending)) {
      sent = MHD_CONTENT_READER_END_OF_STREAM;
    } else {
      v->suspended = 1;
      MHD_suspend_connection(v->connection);
    }
  }
  if (sent == 0 && v->at < v->n) {
    const size_t n = v->n - v->at < most ? v->n - v->at : most;
    memcpy(out, v->text + v->at, n);
    v->at += n;
    sent = (ssize_t)n;
  }
  pthread_mutex_unlock(&s->lock);
  return sent;
}

static void viewer_gone(void *user)
{
  viewer *v = user;
  bramah_server *s = v->server;
  pthread_mutex_lock(&s->lock);
  v->used = v->suspended = 0;
  s->n_viewers--;
  pthread_mutex_unlock(&s->lock);
}

static viewer *new_viewer(bramah_server *s, struct MHD_Connection *connection, const char *id)
{
  viewer *v = NULL;
  pthread_mutex_lock(&s->lock);
  for (size_t i = 0; !v && i < VIEWERS; i++)
    if (!s->viewers[i].used) v = &s->viewers[i];
  if (v) {
    char *text = v->text;
    *v = (viewer){
        .server = s, .connection = connection, .used = 1, .is_new = 1, .text = text, .beat = s->n_beats};
    v->frame = s->n_frames ? s->n_frames - 1 : 0;
    if (s->n_events > EVENTS) v->event = s->n_events - EVENTS;
    if (id) go_on(s, v, id);
    s->n_viewers++;
    s->n_connections++;
  }
  pthread_mutex_unlock(&s->lock);
  return v;
}

/* ---- requests: libmicrohttpd's thread ---- */

/* Of a request while it comes. */
typedef struct incoming {
  char body[BRAMAH__BODY];
  size_t n;
} incoming;

static void add_headers(const bramah_server *s, struct MHD_Response *response, const bramah__answer *answer)
{
  static const char *const always[][2] = {
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
       "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
      {"X-Content-Type-Options", "nosniff"},
      {"X-Frame-Options", "DENY"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cache-Control", "no-store"}};
  for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
    MHD_add_response_header(response, always[i][0], always[i][1]);
  const char *type = answer->kind == BRAMAH__ANSWER_EVENTS     ? "text/event-stream"
                     : answer->kind == BRAMAH__ANSWER_RESOURCE ? answer->resource->type
                                                               : "application/json";
  MHD_add_response_header(response, "Content-Type", type);
  if (answer->allow && answer->status == 405) MHD_add_response_header(response, "Allow", answer->allow);
  if (answer->kind != BRAMAH__ANSWER_ENTER) return;
  char cookie[128];
  const size_t n = bramah__cookie_name(&s->policy, cookie);
  snprintf(cookie + n, sizeof cookie - n, "%s; HttpOnly; SameSite=Lax; Path=/", s->policy.token);
  MHD_add_response_header(response, "Set-Cookie", cookie);
  MHD_add_response_header(response, "Location", "/");
}

static enum MHD_Result respond(bramah_server *s, struct MHD_Connection *connection, bramah__answer answer)
{
  char text[HEAD] = "";
  struct MHD_Response *response = NULL;
  if (answer.kind == BRAMAH__ANSWER_EVENTS) {
    const char *id = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Last-Event-ID");
    viewer *v = new_viewer(s, connection, id);
    if (v) {
      response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, MEMORY / 4, send_some, v, viewer_gone);
      if (!response) viewer_gone(v);
    } else {
      answer = (bramah__answer){.status = 503, .why = "there are too many viewers"};
    }
  }
  if (answer.status == 204 && !ask(s, &answer.control))
    answer = (bramah__answer){.status = 503, .why = "too much was asked for"};
  if (answer.kind == BRAMAH__ANSWER_RESOURCE)
    response = MHD_create_response_from_buffer(
        answer.resource->size, (void *)(uintptr_t)answer.resource->bytes, MHD_RESPMEM_PERSISTENT);
  if (answer.why) {
    snprintf(text, sizeof text, "{\"error\": \"%s\"}\n", answer.why);
    atomic_fetch_add_explicit(&s->refused, 1, memory_order_relaxed);
  }
  if (!response) response = MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_COPY);
  if (!response) return MHD_NO;
  add_headers(s, response, &answer);
  const enum MHD_Result result = MHD_queue_response(connection, answer.status, response);
  MHD_destroy_response(response);
  return result;
}

static enum MHD_Result on_request(void *user, struct MHD_Connection *connection, const char *path,
                                  const char *method, const char *version, const char *data, size_t *size,
                                  void **request)
{
  bramah_server *s = user;
  incoming *in = *request;
  (void)version;
  if (!in) return (*request = calloc(1, sizeof *in)) ? MHD_YES : MHD_NO;
  if (*size) { /* what is too much is counted and forgotten */
    if (in->n + *size <= sizeof in->body) memcpy(in->body + in->n, data, *size);
    in->n = in->n + *size <= sizeof in->body ? in->n + *size : sizeof in->body + 1;
    *size = 0;
    return MHD_YES;
  }
  const bramah__request r = {
      .method = method,
      .path = path,
      .token = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "token"),
      .host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host"),
      .origin = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Origin"),
      .site = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Sec-Fetch-Site"),
      .cookie = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Cookie"),
      .bearer = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization"),
      .type = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Type"),
      .body = in->body,
      .size = in->n};
  return respond(s, connection, bramah__answer_to(&s->policy, &r));
}

static void on_completed(void *user, struct MHD_Connection *connection, void **request,
                         enum MHD_RequestTerminationCode why)
{
  (void)user, (void)connection, (void)why;
  free(*request);
  *request = NULL;
}

/* ---- begin and end ---- */

/* Where others find this computer: by number, as not every network knows names; without any by its name. */
static const char *own_address(bramah_server *s)
{
  struct ifaddrs *all;
  const char *found = NULL;
  if (getifaddrs(&all)) all = NULL;
  for (const struct ifaddrs *i = all; i && !found; i = i->ifa_next)
    if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET && (i->ifa_flags & IFF_UP) &&
        !(i->ifa_flags & IFF_LOOPBACK)) {
      struct sockaddr_in at;
      memcpy(&at, i->ifa_addr, sizeof at);
      found = inet_ntop(AF_INET, &at.sin_addr, s->number, sizeof s->number);
    }
  if (all) freeifaddrs(all);
  return found ? found : s->policy.name[0] ? s->policy.name : "localhost";
}

/* A socket that listens; the address is known then. */
static bramah_status listen_at(bramah_server *s, int *out, bramah_diag *diag)
{
  const bramah_server_options *o = &s->options;
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)o->port)};
  socklen_t size = sizeof at;
  const int yes = 1, unsent = UNSENT;
  at.sin_addr.s_addr = htonl(o->to_network ? INADDR_ANY : INADDR_LOOPBACK);
  const int fd = *out = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &unsent, sizeof unsent);
  if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) || listen(fd, CONNECTIONS) ||
      getsockname(fd, (struct sockaddr *)&at, &size))
    return bramah__failf(diag, BRAMAH_E_FILE, NULL, 0, NULL, "cannot listen on port %d: %s%s", o->port,
                         strerror(errno),
                         errno == EADDRINUSE ? " (another program has it, or another bramah)" : "");
  s->policy.port = ntohs(at.sin_port);
  if (!o->to_network) {
    snprintf(s->address, sizeof s->address, "http://127.0.0.1:%d/", s->policy.port);
    return BRAMAH_OK;
  }
  if (gethostname(s->policy.name, sizeof s->policy.name - 1)) s->policy.name[0] = '\0';
  snprintf(s->address, sizeof s->address, "http://%.60s:%d/?token=%s", own_address(s), s->policy.port,
           s->policy.token);
  return BRAMAH_OK;
}

static bramah_status take_memory(bramah_server *s, bramah_diag *diag)
{
  s->room = HEAD + (s->options.text_size > TEXT ? s->options.text_size : TEXT);
  s->scratch = malloc(s->options.text_size + 1);
  s->memory = calloc(FRAMES + EVENTS + 1 + VIEWERS, s->room);
  s->resources = calloc(s->options.n_resources + 1, sizeof *s->resources);
  if (!s->scratch || !s->memory || !s->resources) return bramah__fail_memory(diag);
  for (size_t i = 0; i < s->options.n_resources; i++) s->resources[i] = s->options.resources[i];
  s->policy.resources = s->resources;
  char *at = s->memory;
  for (size_t i = 0; i < FRAMES; i++, at += s->room) s->frames[i].text = at;
  for (size_t i = 0; i < EVENTS; i++, at += s->room) s->events[i].text = at;
  for (size_t i = 0; i < VIEWERS; i++, at += s->room) s->viewers[i].text = at;
  s->state.text = at;
  for (size_t i = 0; i < RING; i++) s->ring[i].frame = s->options.frames[i];
  return BRAMAH_OK;
}

static bramah_status make_token(char *token, bramah_diag *diag)
{
  unsigned char random[BRAMAH__TOKEN / 2];
  if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
    return bramah__failf(diag, BRAMAH_E_FILE, NULL, 0, NULL,
                         "the system gives no random numbers for a token");
  for (size_t i = 0; i < sizeof random; i++) snprintf(token + 2 * i, 3, "%02x", (unsigned)random[i]);
  return BRAMAH_OK;
}

/* Threads that are begun meanwhile take no signals: those are for who has called us. */
static bramah_status begin_threads(bramah_server *s, int fd, bramah_diag *diag)
{
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  s->daemon =
      MHD_start_daemon(MHD_USE_POLL | MHD_USE_INTERNAL_POLLING_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL,
                       NULL, on_request, s, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
                       (unsigned)CONNECTIONS, MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)PER_ADDRESS,
                       MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                       (size_t)MEMORY, MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_END);
  s->pumps = s->daemon && pthread_create(&s->pump, NULL, pump, s) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (s->pumps) return BRAMAH_OK;
  return bramah__failf(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "the server's threads cannot be started");
}

bramah_status bramah_server_new(const bramah_server_options *options, bramah_diag *diag, bramah_server **out)
{
  int fd = -1;
  bramah_diag_clear(diag);
  *out = NULL;
  if (options->port < 0 || options->port > 65535)
    return bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, NULL, "port %d: ports go from 1 to 65535",
                         options->port);
  bramah_server *s = calloc(1, sizeof *s);
  if (!s) return bramah__fail_memory(diag);
  pthread_mutex_init(&s->lock, NULL);
  s->options = *options;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  s->base = ((uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000)
            << 12; /* JavaScript counts to 2^53 */
  bramah_status status = options->to_network ? make_token(s->policy.token, diag) : BRAMAH_OK;
  s->policy.allowed = options->allowed;
  s->policy.n_resources = options->n_resources;
  if (!status) status = take_memory(s, diag);
  if (!status) status = listen_at(s, &fd, diag);
  if (status && fd >= 0) close(fd);
  if (!status) status = begin_threads(s, fd, diag);
  if (status)
    bramah_server_free(s);
  else
    *out = s;
  return status;
}

/* Viewers have all of it, or are gone, or have had two seconds. */
static void drain(bramah_server *s)
{
  const struct timespec rest = {.tv_nsec = PAUSE_MS * 1000000L};
  for (int k = 0; k < 2000 / PAUSE_MS; k++) {
    int busy = atomic_load(&s->tail) != atomic_load(&s->head);
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < VIEWERS; i++) busy |= s->viewers[i].used && !s->viewers[i].suspended;
    pthread_mutex_unlock(&s->lock);
    if (!busy) return;
    nanosleep(&rest, NULL);
  }
}

void bramah_server_free(bramah_server *s)
{
  if (!s) return;
  if (s->pumps) {
    drain(s);
    atomic_store(&s->ending, 1);
    pthread_join(s->pump, NULL);
  }
  pthread_mutex_lock(&s->lock);
  atomic_store(&s->ending, 1);
  wake(s);
  pthread_mutex_unlock(&s->lock);
  if (s->daemon) MHD_stop_daemon(s->daemon);
  pthread_mutex_destroy(&s->lock);
  free(s->scratch);
  free(s->memory);
  free(s->resources);
  free(s);
}

const char *bramah_server_address(const bramah_server *s) { return s->address; }

bramah_server_report bramah_server_get_report(const bramah_server *server)
{
  bramah_server *s = (bramah_server *)(uintptr_t)server; /* its lock */
  pthread_mutex_lock(&s->lock);
  const bramah_server_report report = {.viewers = s->n_viewers,
                                       .connections = s->n_connections,
                                       .frames = s->n_frames,
                                       .left_out = atomic_load(&s->left_out),
                                       .skipped = s->skipped,
                                       .refused = atomic_load(&s->refused)};
  pthread_mutex_unlock(&s->lock);
  return report;
}

#endif
