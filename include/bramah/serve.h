/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Live: what a filter estimates goes to any number of viewers over HTTP while it runs, and a log is played to them. Part
 * of libbramah-tools; the server needs libmicrohttpd when bramah is built.
 *
 * The filter's thread never waits for a viewer: it copies the numbers of a frame into a ring and goes on (no lock, no
 * allocation, no system call). A thread of the server makes text of them, another one sends it. A viewer that is too slow
 * misses frames and is told how many.
 *
 *   bramah_server_new(&options, &diag, &server);            its address: bramah_server_address
 *   while (...) {
 *     bramah_assess_next(...);
 *     if ((frame = bramah_server_frame(server))) { ... write the numbers there ...; bramah_server_send(server); }
 *     while (bramah_server_take(server, &control)) ... pause, speed, seek ...
 *   }
 *   bramah_server_free(server); */
#ifndef BRAMAH_SERVE_H
#define BRAMAH_SERVE_H

#include "bramah/display.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the server ---- */

typedef struct bramah_server bramah_server;

/* What a viewer may get besides the events, by its path ("/", "/display.json"). There is nothing else: no path leads to a
 * file. Texts and bytes must outlive the server. */
typedef struct bramah_server_resource {
  const char *path, *type; /* type: "text/html; charset=utf-8" */
  const void *bytes;
  size_t size;
} bramah_server_resource;

/* What viewers may ask for. */
typedef enum bramah_control_kind {
  BRAMAH_CONTROL_PAUSE = 1,   /* value 1: stand still, 0: go on */
  BRAMAH_CONTROL_SPEED = 2,   /* times real time, 0.01 to 1000 */
  BRAMAH_CONTROL_SEEK = 4,    /* [s] time of the log */
  BRAMAH_CONTROL_DRIVE = 8,   /* levers of a simulated machine */
  BRAMAH_CONTROL_PLUG = 16,   /* value i: the plug of sensor i is pulled, -1 - i: it is put in again */
  BRAMAH_CONTROL_RESTART = 32 /* value 1: the scenario begins anew (bramah_display_begin_anew) */
} bramah_control_kind;
enum { BRAMAH_LEVERS = 16 }; /* of a machine at most */
/* One request. */
typedef struct bramah_control {
  bramah_control_kind kind;
  double value;
  uint32_t driver;             /* who drives: a number that he has chosen, not 0 */
  size_t n_levers;             /* 0: he lets go of all */
  double lever[BRAMAH_LEVERS]; /* [n_levers] in the order of the machine's inputs; NaN: not this one */
} bramah_control;

/* The control that a text of JSON asks for, as POST /control has it; 0: it is of no such form. */
BRAMAH_API int bramah_control_read(const char *text, size_t size, bramah_control *control);

enum { BRAMAH_SERVER_FRAMES = 32 }; /* on their way from the filter's thread at most */
/* Where it listens and what it sends. */
typedef struct bramah_server_options {
  int port; /* 0: any that is free; default 8080 */
  int to_network; /* 1: to all computers that reach this one, with a token; default 0: to programs on this one only */
  unsigned allowed; /* bramah_control_kind added up; default 0: nothing may be asked for */
  size_t n_resources;
  const bramah_server_resource *resources; /* [n_resources] */
  void *const *
      frames; /* [BRAMAH_SERVER_FRAMES] memory for the numbers of frames, each to be written to again and again */
  size_t text_size; /* [bytes] of the text of a frame, at most */
  /* JSON of a frame on one line, into out [size]; returns its length; it is left out where that is 0, or size or more. Called by the
   * server's thread. */
  size_t (*text)(void *user, const void *frame, char *out, size_t size);
  void *user;
} bramah_server_options;

/* All of them at their defaults. */
BRAMAH_API void bramah_server_options_default(bramah_server_options *options);

/* Listen and answer from now on, by threads of its own in which all signals are blocked. Memory is taken here, and by
 * libmicrohttpd for each connection (64 at most, 32 of them viewers). HTTP/1.1:
 *
 *   GET <path of a resource>   HEAD as well
 *   GET /events     server-sent events, each with an id that grows, also from one server to the next: `frame` with the text of
 *                   a frame, the events of bramah_server_say, `skipped` {"frames": n} where frames are missing, and first of
 *                   all the last `state`. Last-Event-ID: go on behind it
 *   POST /control   {"pause": true}, {"speed": 2}, {"seek": 12.5}, {"restart": true}, {"drive": [0, -2.5, null], "driver": 17}, {"unplug": 3} or
 *                   {"plug": 3}
 *
 * Not answered: requests whose Host is not this computer (a foreign name that was made to point here), POST from a page of
 * another origin, and with to_network those without the token: ?token= in the address, which becomes a cookie, or
 * Authorization: Bearer. Errors: E_FILE (port in use, or not allowed), E_UNSUPPORTED (built without libmicrohttpd),
 * E_VALUE (port), E_MEMORY. */
BRAMAH_API bramah_status bramah_server_new(const bramah_server_options *options, bramah_diag *diag,
                                           bramah_server **out);
/* Send what is left, for 2 s at most, then close all connections. NULL allowed. */
BRAMAH_API void bramah_server_free(bramah_server *server);

/* "http://127.0.0.1:8080/", with the token where there is one. */
BRAMAH_API const char *bramah_server_address(const bramah_server *server);

/* Memory for the next frame, one of `frames`, and then: it is there. NULL: the server is behind, the frame is left out. Both from
 * one thread, the same as _say and _take. No lock, no system call. */
BRAMAH_API void *bramah_server_frame(bramah_server *server);
BRAMAH_API void bramah_server_send(bramah_server *server);
/* An event: a word of a to z, and one JSON value, of which 4000 bytes at most are sent. Of events `state` the last one is kept
 * for new viewers, of all others the last 64. Returns 0 if the server is behind and could not take it. */
BRAMAH_API int bramah_server_say(bramah_server *server, const char *event, const char *json);
/* The next thing that a viewer asks for; 0: nothing. */
BRAMAH_API int bramah_server_take(bramah_server *server, bramah_control *control);

/* What it did so far. */
typedef struct bramah_server_report {
  uint64_t viewers;     /* connected to the events now */
  uint64_t connections; /* viewers so far */
  uint64_t frames;      /* sent to the server's thread */
  uint64_t left_out;    /* frames that found the ring full */
  uint64_t skipped;     /* frames that viewers missed, all together */
  uint64_t refused;     /* requests that were not answered with what they asked for */
} bramah_server_report;
/* Counts; cheap. */
BRAMAH_API bramah_server_report bramah_server_get_report(const bramah_server *server);

/* ---- a log that is played ---- */

/* A log through the filter of a study, step by step as bramah_assess does it, with the way back: every so often the whole
 * state is kept (64 at most, spread over the run), and going to a time means going on from the last one before it. What is
 * estimated then, and the verdict at the end, has the bits of a run that never went back. */
typedef struct bramah_player bramah_player;

/* Of a session at its start and its log, paths [n] (bramah_log_stream_open); both must outlive it. Options as of
 * bramah_assess_new, without truth and backward pass. Errors: those of bramah_log_stream_open and bramah_assess_new; E_UNSUPPORTED
 * (a study with hypotheses, which is more than one filter). */
BRAMAH_API bramah_status bramah_player_open(bramah_session *session, size_t n, const char *const *paths,
                                            const bramah_assess_options *options, bramah_diag *diag,
                                            bramah_player **out);
/* The same with rows of another source, such as bramah_simulation_sample: it cannot go back. */
BRAMAH_API bramah_status bramah_player_new(bramah_session *session, bramah_source source, void *user,
                                           const bramah_assess_options *options, bramah_diag *diag,
                                           bramah_player **out);
BRAMAH_API void bramah_player_close(bramah_player *player); /* NULL allowed */

/* Asked after every row of the log; once it is not 0, the log ends (bramah_log_stream_stop). */
BRAMAH_API void bramah_player_stop(bramah_player *player, int (*stopped)(void *user), void *user);

/* What runs: the same one for all the player's life. */
BRAMAH_API bramah_assess *bramah_player_assess(const bramah_player *player);
/* 1 if bramah_player_seek can be had: the log is files. */
BRAMAH_API int bramah_player_can_seek(const bramah_player *player);

/* Go on to the next estimate: bramah_assess_next. After an error or the end there may be a seek. */
BRAMAH_API bramah_status bramah_player_next(bramah_player *player, int *end, bramah_diag *diag);
/* Go to the first estimate at time_ns or later; *end = 1: the log ended before it. The log is read anew where the way goes back, and
 * the steps between are made; `stopped` is asked after every row. Before the first estimate nothing can be sought. Errors: E_UNSUPPORTED (no
 * files), with nothing changed; those of bramah_log_stream_open and bramah_assess_next. */
BRAMAH_API bramah_status bramah_player_seek(bramah_player *player, int64_t time_ns, int *end,
                                            bramah_diag *diag);

/* ---- levers ---- */

/* Commands of a machine that is driven by one viewer at a time. Who has said nothing for so long [s of the clock] drives no
 * longer, and all levers are where they are when nobody does. */
#define BRAMAH_DEAD_MAN 0.5

/* One for each input of the machine that a display file has a lever for. */
typedef struct bramah_levers {
  size_t n; /* inputs of the machine */
  /* Of an input: whether it has a lever, and where that is. */
  struct bramah_lever {
    int is_driven;
    double low, high, neutral, value; /* [V] */
  } lever[BRAMAH_LEVERS];
  uint32_t driver; /* 0: nobody */
  double heard;    /* [s] of the clock */
} bramah_levers;

/* Levers of a display file (NULL: none) for a machine with these inputs, all of them as when nobody drives. Errors: E_KEY (the file has
 * no lever), E_VALUE (inputs beyond BRAMAH_LEVERS), each with file. */
BRAMAH_API bramah_status bramah_levers_of(const bramah_display_file *file, size_t n_inputs,
                                          const char *const *inputs, bramah_diag *diag,
                                          bramah_levers *levers);
/* What a driver asks for at this time of the clock, bounded by the ranges. Returns 0 where another one drives. */
BRAMAH_API int bramah_levers_move(bramah_levers *levers, const bramah_control *control, double now);
/* Commands for u [n]: those of levers in place of what is there. Returns 1 if the driver has gone just now. */
BRAMAH_API int bramah_levers_at(bramah_levers *levers, double now, double *u);

/* ---- lines that come and go as datagrams ---- */

/* Datagrams of this computer on a port, as lines of a log in a pipe. Each holds whole lines, of which the first may be a comment with
 * a running number, "# 17": those that are missing are then known, and late ones left out. What comes before the header is left out;
 * a header that is repeated counts once. An empty datagram ends the log. */
typedef struct bramah_receiver bramah_receiver;

/* What came. */
typedef struct bramah_receiver_report {
  uint64_t datagrams; /* used */
  uint64_t lost;      /* numbers that never came, or came late; without numbers: the system dropped */
  uint64_t late;      /* came after a later number, or twice: left out */
  uint64_t unusable;  /* before the header, or not ended by a line end, or larger than 65507 bytes */
  uint64_t repeated;  /* headers */
} bramah_receiver_report;

/* Listen on 127.0.0.1, by a thread of its own in which all signals are blocked. has_header 0: lines are rows from the first on. *fd: the
 * end of the pipe to read from, the caller's to close, after the receiver. Errors: E_FILE (port in use, or not
 * allowed), E_MEMORY. */
BRAMAH_API bramah_status bramah_receiver_open(int port, int has_header, bramah_diag *diag,
                                              bramah_receiver **out, int *fd);
BRAMAH_API void bramah_receiver_close(bramah_receiver *receiver); /* NULL allowed */
/* The last datagram "# soil ..." that has come since the last call, as text out [size], terminated; these are no lines of the log. 0: none, or
 * none that fits. */
BRAMAH_API int bramah_receiver_soil(bramah_receiver *receiver, char *out, size_t size);
/* Counts so far. */
BRAMAH_API bramah_receiver_report bramah_receiver_get_report(const bramah_receiver *receiver);

/* The other end: what is written to *fd goes as such datagrams to a port of this computer, by a thread of its own, whole lines as they
 * come, numbered from 1, the first line again every second as the header. */
typedef struct bramah_sender bramah_sender;
/* *fd: the caller's to close, before the sender. Errors: E_VALUE (port), E_FILE, E_MEMORY. */
BRAMAH_API bramah_status bramah_sender_open(int port, bramah_diag *diag, bramah_sender **out, int *fd);
/* A datagram of its own, by the caller's thread; lost like any. */
BRAMAH_API void bramah_sender_say(bramah_sender *sender, const char *text, size_t size);
/* Sends what is left, and the empty datagram that ends the log. NULL allowed. */
BRAMAH_API void bramah_sender_close(bramah_sender *sender);

/* Controls as datagrams: bodies of POST /control. A socket that gets them on a port of this computer, or with is_sender 1 sends them there, the
 * caller's to close. Errors: E_FILE, E_VALUE. */
BRAMAH_API bramah_status bramah_control_socket(int port, int is_sender, bramah_diag *diag, int *out);
/* The next control that has come; 0: none of use. */
BRAMAH_API int bramah_control_receive(int socket, bramah_control *control);
/* Sent, or lost like any datagram. */
BRAMAH_API void bramah_control_send(int socket, const bramah_control *control);

#ifdef __cplusplus
}
#endif
#endif
