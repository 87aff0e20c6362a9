/* SPDX-License-Identifier: GPL-3.0-or-later */
/* J1939-21, transport protocol: messages of up to 1785 bytes in packets of 7, announced to all (BAM) or to one that asks
 * for them (RTS, CTS). What is put together is listened to, never asked for. */
#include "lib/logs/can.h"

#include <stdlib.h>
#include <string.h>

enum { MANAGEMENT = 0xec00, TRANSFER = 0xeb00, ALL = 0xff };
enum { RTS = 16, CTS = 17, BAM = 32, ABORT = 255 };
enum { PACKET = 7, MOST_SESSIONS = 32 };
#define LONGEST_WAIT INT64_C(1250000000) /* T2 and T3: the longest of its times */

typedef struct session {
  char channel[BRAMAH__CAN_CHANNEL];
  uint32_t group;
  int from, to;
  unsigned n, packets, next; /* bytes; number of the packet that comes next, from 1; 0: no session */
  int64_t heard_ns;
  unsigned char data[BRAMAH__CAN_MESSAGE];
} session;

struct bramah__transport {
  session sessions[MOST_SESSIONS];
  uint64_t lost;
};

bramah__transport *bramah__transport_new(void) { return calloc(1, sizeof(bramah__transport)); }

uint32_t bramah__j1939_group(uint32_t id)
{
  const uint32_t group = id >> 8 & UINT32_C(0x3ffff);
  return (group >> 8 & 0xff) < 240 ? group & UINT32_C(0x3ff00) : group;
}

static int is_late(const session *s, int64_t now) { return s->next && now - s->heard_ns > LONGEST_WAIT; }

static void drop(bramah__transport *t, session *s)
{
  t->lost += s->next != 0;
  s->next = 0;
}

static session *find(bramah__transport *t, const bramah__can_frame *f, int from, int to)
{
  for (session *s = t->sessions; s < t->sessions + MOST_SESSIONS; s++)
    if (s->next && s->from == from && s->to == to && strcmp(s->channel, f->channel) == 0) return s;
  return NULL;
}

/* A session that is free, or else the one that was heard of longest ago. */
static session *make_room(bramah__transport *t)
{
  session *oldest = t->sessions;
  for (session *s = t->sessions; s < t->sessions + MOST_SESSIONS; s++) {
    if (!s->next) return s;
    if (s->heard_ns < oldest->heard_ns) oldest = s;
  }
  drop(t, oldest);
  return oldest;
}

/* Identifier of a message that comes in packets: priority of its packets, group, both addresses. */
static uint32_t identifier(const bramah__can_frame *f, uint32_t group, int from, int to)
{
  const int has_destination = (group >> 8 & 0xff) < 240;
  return (f->id & UINT32_C(0x1c000000)) | group << 8 | (has_destination ? (uint32_t)to << 8 : 0) |
         (uint32_t)from;
}

static void begin(bramah__transport *t, const bramah__can_frame *f, uint32_t group, int from, int to)
{
  const unsigned n = f->data[1] | (unsigned)f->data[2] << 8, packets = f->data[3];
  session *s = make_room(t);
  *s = (session){.group = group, .from = from, .to = to, .n = n, .packets = packets, .next = 1};
  s->heard_ns = f->time_ns;
  memcpy(s->channel, f->channel, sizeof s->channel);
  if (n <= 8 || n > BRAMAH__CAN_MESSAGE || packets != (n + PACKET - 1) / PACKET) drop(t, s);
}

/* TP.CM. An announcement ends what the same sender had begun for the same receiver; the receiver may ask for packets
 * again. */
static void manage(bramah__transport *t, bramah__can_frame *f, int from, int to,
                   bramah__transport_wants wants, void *context)
{
  const unsigned char *d = f->data;
  const uint32_t group = (d[5] | (uint32_t)d[6] << 8 | (uint32_t)d[7] << 16) & UINT32_C(0x3ffff);
  const int announces = d[0] == (to == ALL ? BAM : RTS);
  session *own = find(t, f, from, to), *other = find(t, f, to, from);
  if (own && (announces || (d[0] == ABORT && own->group == group))) drop(t, own);
  if (other && d[0] == ABORT && other->group == group) drop(t, other);
  if (announces) {
    bramah__can_frame whole = {.is_extended = 1, .id = identifier(f, group, from, to)};
    memcpy(whole.channel, f->channel, sizeof whole.channel);
    if (wants(context, &whole)) begin(t, f, group, from, to);
  } else if (other && d[0] == CTS && other->group == group) {
    other->heard_ns = f->time_ns;
    if (d[1] && (!d[2] || d[2] > other->next))
      drop(t, other);
    else if (d[1])
      other->next = d[2];
  }
}

/* TP.DT: 1 if it was the last packet. */
static int transfer(bramah__transport *t, bramah__can_frame *f, int from, int to)
{
  session *s = find(t, f, from, to);
  if (!s) return 0;
  const unsigned at = PACKET * (s->next - 1), part = s->n - at < PACKET ? s->n - at : PACKET;
  if (f->data[0] != s->next || f->n < 1 + part || is_late(s, f->time_ns)) return drop(t, s), 0;
  memcpy(s->data + at, f->data + 1, part);
  s->heard_ns = f->time_ns;
  if (s->next++ < s->packets) return 0;
  s->next = 0;
  f->id = identifier(f, s->group, from, to);
  f->n = s->n;
  memcpy(f->data, s->data, s->n);
  return 1;
}

int bramah__transport_take(bramah__transport *t, bramah__can_frame *f, bramah__transport_wants wants,
                           void *context)
{
  const uint32_t group = bramah__j1939_group(f->id);
  const int from = (int)(f->id & 0xff), to = (int)(f->id >> 8 & 0xff);
  const uint64_t lost = t->lost;
  if (!f->is_extended || (group != MANAGEMENT && group != TRANSFER) || f->n < 1) return 0;
  if (group == TRANSFER && transfer(t, f, from, to)) return 1;
  if (group == MANAGEMENT && f->n >= 8) manage(t, f, from, to, wants, context);
  return t->lost > lost ? -1 : 0;
}

uint64_t bramah__transport_lost(const bramah__transport *t, int64_t now_ns)
{
  uint64_t lost = t->lost;
  for (int i = 0; i < MOST_SESSIONS; i++) lost += (uint64_t)is_late(&t->sessions[i], now_ns);
  return lost;
}
