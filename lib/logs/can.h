/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CAN: frames, from text, BLF or an interface (can.c, blf.c), those of J1939 that belong together (j1939.c), and what a
 * DBC file says of them (dbc.c). */
#ifndef BRAMAH_LIB_LOGS_CAN_H
#define BRAMAH_LIB_LOGS_CAN_H

#include "lib/logs/reader.h"

enum { BRAMAH__CAN_BYTES = 64, BRAMAH__CAN_CHANNEL = 16, BRAMAH__CAN_MESSAGE = 1785 };

typedef struct bramah__can_frame {
  int64_t time_ns;
  uint32_t id;
  int is_extended; /* 29 bits, else 11 */
  unsigned n; /* bytes of data: at most BRAMAH__CAN_BYTES, of a message put together BRAMAH__CAN_MESSAGE */
  char channel[BRAMAH__CAN_CHANNEL];
  unsigned char data[BRAMAH__CAN_MESSAGE];
} bramah__can_frame;

/* ---- DBC ---- */

enum { BRAMAH__DBC_NONE = -1, BRAMAH__DBC_NEVER = 0x20000000 /* identifier that no frame has */ };

typedef struct bramah__dbc_signal {
  char *name, *unit; /* unit in UTF-8 */
  int line;
  unsigned start, length;
  int is_big, is_signed;
  int is_float; /* 0, or the bits of its floating-point numbers: 32 or 64 */
  double factor, offset, least, most;
  int is_multiplexer;
  int multiplexer; /* signal of the message that decides whether this one is there; BRAMAH__DBC_NONE: always */
  uint64_t (*ranges)[2]; /* [n_ranges] its values for which it is */
  size_t n_ranges;
  uint64_t *missing; /* [n_missing] values whose text says that there is none */
  size_t n_missing;
} bramah__dbc_signal;

typedef struct bramah__dbc_message {
  char *name;
  uint32_t id;
  int is_extended, is_j1939;
  int format; /* VFrameFormat, as numbered by the file; -1: not given */
  unsigned length;
  bramah__dbc_signal *signals;
  size_t n_signals;
  char channel[BRAMAH__CAN_CHANNEL]; /* "": any */
} bramah__dbc_message;

typedef struct bramah__dbc {
  bramah__dbc_message *messages;
  size_t n_messages;
} bramah__dbc;

/* Add the messages of a file; those of J1939 are known by VFrameFormat (J1939PG), ProtocolType, or an identifier from
 * the null address. missing: texts of values that mean none, separated by blanks. Errors, with file and line: E_FILE, E_SYNTAX, E_VALUE (a signal that does not fit into its
 * message), E_KEY (a message or signal twice), E_MEMORY. Released by bramah__dbc_free in any case. */
bramah_status bramah__dbc_read(bramah__dbc *dbc, const char *path, const char *channel, const char *missing,
                               bramah_diag *diag);
void bramah__dbc_free(bramah__dbc *dbc);

/* A signal of a message [n bytes]: 0 where the frame does not hold it, or where it is said to be no measurement. */
int bramah__dbc_decode(const bramah__dbc_message *message, size_t signal, const unsigned char *data,
                       unsigned n, double *value);

/* ---- J1939 ---- */

/* Identifier without priority and source, without the destination where it has one: the PGN. */
uint32_t bramah__j1939_group(uint32_t id);

/* Messages of more than 8 bytes that are being put together, at most 32 at a time; NULL: no memory. Released by free. */
typedef struct bramah__transport bramah__transport;
bramah__transport *bramah__transport_new(void);
/* Is a message with the identifier and channel of this frame wanted? */
typedef int (*bramah__transport_wants)(void *context, const bramah__can_frame *frame);
/* 1: the frame was the last packet of a wanted message, and has become that message; -1: one was lost with it. */
int bramah__transport_take(bramah__transport *t, bramah__can_frame *f, bramah__transport_wants wants,
                           void *context);
/* Wanted messages that were begun and are not whole: a packet is missing or out of sequence, or none came for 1.25 s. */
uint64_t bramah__transport_lost(const bramah__transport *t, int64_t now_ns);

/* ---- frames that other formats hold (MDF) ---- */

typedef struct bramah__can bramah__can;

/* The DBC files of the format, whose signals become columns behind those that the reader has. Errors go to the reader.
 * Released by bramah__can_free in any case. */
bramah_status bramah__can_begin(bramah_log_reader *reader, bramah__can **out);
void bramah__can_free(bramah__can *can);
/* Once columns that nobody wants are marked; 1: a signal is wanted. */
int bramah__can_plan(bramah__can *can);
/* The cells of a frame into the row of the reader; *any 0: it has none. line: its number. Errors: of two senders or channels. */
bramah_status bramah__can_put(bramah__can *can, const bramah__can_frame *frame, int line, int *any);
void bramah__can_clear(bramah__can *can); /* the cells of the frame before */
/* As of a kind of logs. */
size_t bramah__can_stand_in(const bramah__can *can, const char *name);
const char *bramah__can_why_not(bramah__can *can, const char *name);
void bramah__can_describe(const bramah__can *can, bramah_log_info *info);

/* ---- interfaces ---- */

/* The next frame with data from the socket `fd` of the reader, its time in us as candump writes it. *lost: frames that
 * the system has dropped so far. *end = 1: the other end is closed, or a signal came. Errors: E_FILE. */
bramah_status bramah__can_receive(bramah_log_reader *reader, bramah__can_frame *f, uint64_t *lost, int *end);

/* ---- BLF ---- */

typedef struct bramah__blf bramah__blf;

/* Errors go to the reader: E_SYNTAX, E_VALUE, E_UNSUPPORTED (without zlib), E_MEMORY. Allocates. */
bramah_status bramah__blf_open(bramah_log_reader *reader, bramah__blf **out);
void bramah__blf_close(bramah__blf *blf);
/* Next frame; *end = 1 at the end of the file, *is_cut where it is in the middle of something. *number: of the object. */
bramah_status bramah__blf_next(bramah__blf *blf, bramah__can_frame *frame, int *number, int *end);
uint64_t bramah__blf_bytes(const bramah__blf *blf, int *is_cut);
/* ns since 1970 of its zero, as its clock on the wall showed; 0: not stated. */
int64_t bramah__blf_start(const bramah__blf *blf);

#endif
