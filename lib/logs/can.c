/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CAN logs: frames as candump writes them (-L or -l, and as it prints them), as Vector's tools do in ASC and BLF, or from
 * an interface of SocketCAN; decoded by DBC files into a column for each signal. A row is a frame. */
#define _GNU_SOURCE /* strtok_r, memmem */
#include "lib/logs/can.h"

#include "lib/base/text.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/can.h>
#include <linux/can/raw.h>
#include <net/if.h>
#endif

enum { BUFFER = 1 << 16, LONGEST_LINE = 8192, WORDS = 96, NULL_ADDRESS = 0xfe, EVERYONE = 0xff };

/* A message by what frames of it are known by. */
typedef struct entry {
  uint32_t key; /* identifier, EXTENDED of 29 bits; or GROUP and the PGN */
  size_t message;
} entry;

/* Where the frames of a message came from so far. */
typedef struct origin {
  char channel[BRAMAH__CAN_CHANNEL]; /* "": there was none */
  int sender, receiver;
} origin;

#define EXTENDED UINT32_C(0x80000000)
#define GROUP UINT32_C(0x40000000)

typedef enum medium { CANDUMP, ASC, BLF, INTERFACE, OTHER } medium; /* OTHER: bramah__can_put */

typedef struct bramah__can {
  bramah_log_reader *reader;
  medium source;
  bramah__dbc dbc;
  entry *entries; /* [n_entries] sorted by key */
  size_t n_entries;
  size_t *first;  /* [messages] column of the first signal; 0: none of this message */
  int *namesakes; /* [messages] 1: others have its name, 2: and its channel, or it has none */
  origin *from;   /* [messages] */
  int *wanted;    /* [messages] 1: a column of it is read; found at the first row */
  int begun, opened;
  bramah__can_frame frame;
  int waits;               /* the frame was looked at, but not given */
  size_t n_filled, filled; /* columns of the row given last: those of a message, to be cleared */
  double *values;
  /* Text. */
  char *buffer;
  size_t begin, end;
  uint64_t bytes;
  int at_eof, line, is_cut;
  /* ASC */
  int is_decimal, is_relative, has_start;
  int64_t start_ns, last_ns;
  bramah__blf *blf;
  bramah__transport *transport; /* NULL: no message is of J1939 */
  uint64_t lost;                /* frames that an interface has told it dropped */
  int first_lost;               /* line */
  char why[256];
} can;

/* ---- lines ---- */

/* The next line, with a zero byte in the place of its end; NULL: the end, or an error. */
static char *next_line(can *c, bramah_status *status)
{
  *status = BRAMAH_OK;
  for (;;) {
    char *start = c->buffer + c->begin;
    char *stop = memchr(start, '\n', c->end - c->begin);
    if (!stop && c->at_eof && c->end > c->begin) {
      stop = c->buffer + c->end;
      c->is_cut = 1;
    }
    if (stop) {
      *stop = '\0';
      c->begin = (size_t)(stop - c->buffer) + 1;
      if (c->begin > c->end) c->begin = c->end;
      if (c->line < INT_MAX) c->line++;
      return start;
    }
    if (c->at_eof) return NULL;
    if (c->end - c->begin > LONGEST_LINE) {
      *status =
          bramah__log_fail(c->reader, BRAMAH_E_SYNTAX, NULL, c->line + 1, 0,
                           "the line is longer than %d bytes: this is no log of CAN frames", LONGEST_LINE);
      return NULL;
    }
    size_t n;
    memmove(c->buffer, start, c->end - c->begin);
    c->end -= c->begin;
    c->begin = 0;
    *status = bramah__log_read(c->reader, c->buffer + c->end, BUFFER - c->end, &n);
    if (*status) return NULL;
    c->end += n;
    c->bytes += n;
    c->at_eof = n == 0;
  }
}

static bramah_status bad_line(can *c, const char *what)
{
  c->reader->row_done = 1;
  return bramah__log_fail(
      c->reader, c->is_cut ? BRAMAH_E_TRUNCATED : BRAMAH_E_SYNTAX, NULL, c->line, 0, "%s%s", what,
      c->is_cut ? ", the last one: 'log: {bad_rows: skip}' in the study leaves it out" : "");
}

static int digit(char c)
{
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : 99;
}

/* A whole number, all of the text up to `end`, 0 if it is none. */
static int read_whole(const char *text, const char *end, int base, uint32_t *out)
{
  uint64_t value = 0;
  const char *s = text;
  for (; s < end && digit(*s) < base; s++) {
    value = value * (uint64_t)base + (uint64_t)digit(*s);
    if (value > UINT32_MAX) return 0;
  }
  *out = (uint32_t)value;
  return s == end && s > text;
}

static char *pass_blanks(char *s)
{
  while (*s == ' ' || *s == '\t' || *s == '\r') s++;
  return s;
}

static char *pass_word(char *s)
{
  while (*s && *s != ' ' && *s != '\t' && *s != '\r') s++;
  return s;
}

/* ---- candump ---- */

enum { FLAG_REMOTE = 0x40000000, FLAG_ERROR = 0x20000000 };

/* (time), which may be a date. */
static int read_candump_time(can *c, char **at)
{
  char *s = pass_blanks(*at), *close = strchr(s, ')');
  int zone;
  if (*s++ != '(' || !close) return 0;
  *at = close + 1;
  if (!bramah__time_decimal(s, close, '.', INT64_C(1000000000), 0, &c->frame.time_ns)) return 1;
  return !bramah__time_iso(s, close, &c->frame.time_ns, &zone);
}

/* Bytes, with or without blanks between them, up to the end of the word or of the line. */
static int read_bytes(can *c, char **at, unsigned most, int blanks)
{
  char *s = *at;
  bramah__can_frame *f = &c->frame;
  for (f->n = 0; f->n < most; f->n++) {
    if (blanks) s = pass_blanks(s);
    if (*s == '.') s++; /* 11.22.33, as cansend takes it */
    if (digit(s[0]) > 15 || digit(s[1]) > 15) break;
    f->data[f->n] = (unsigned char)(digit(s[0]) << 4 | digit(s[1]));
    s += 2;
  }
  *at = s;
  return 1;
}

/* id#data, id##flags data; or id [n] data. *is_frame 0: remote requests, frames that tell of errors. */
static bramah_status read_candump(can *c, char *at, int *is_frame)
{
  static const char wrong[] =
      "this is no line of candump, like (1436509052.249713) can0 18FEF100#0102030405060708";
  bramah__can_frame *f = &c->frame;
  uint32_t id, n;
  *is_frame = 0;
  if (!*pass_blanks(at)) return BRAMAH_OK;
  if (*pass_blanks(at) != '(')
    return bad_line(c, "no time in parentheses: record the frames with candump -L, or candump -t a");
  if (!read_candump_time(c, &at)) return bad_line(c, wrong);
  char *name = pass_blanks(at), *stop = pass_word(name);
  snprintf(f->channel, sizeof f->channel, "%.*s", (int)(stop - name), name);
  char *word = pass_blanks(stop);
  stop = word + strcspn(word, "# \t");
  const size_t digits = (size_t)(stop - word);
  if (stop == name || !read_whole(word, stop, 16, &id)) return bad_line(c, wrong);
  f->is_extended = digits > 3;
  *is_frame = !(id & (FLAG_REMOTE | FLAG_ERROR)) || digits <= 3;
  f->id = id & UINT32_C(0x1fffffff);
  if (*stop == '#') {
    const int is_fd = stop[1] == '#';
    at = stop + (is_fd ? 2 : 1);
    if (!is_fd && (*at == 'R' || *at == 'r')) return *is_frame = 0, BRAMAH_OK;
    if (is_fd && digit(*at++) > 15) return bad_line(c, wrong);
    read_bytes(c, &at, is_fd ? BRAMAH__CAN_BYTES : 8, 0);
    if (at[0] == '_' && at[1]) at += 2; /* DLC above 8 */
    return *at && *at != ' ' && *at != '\r' && *at != '\t' ? bad_line(c, wrong) : BRAMAH_OK;
  }
  at = pass_blanks(stop);
  /* Flags of FD may stand before. */
  while (*at && *at != '[') at = pass_blanks(pass_word(at));
  char *close = strchr(at, ']');
  if (*at != '[' || !close || !read_whole(at + 1, close, 10, &n) || n > BRAMAH__CAN_BYTES)
    return bad_line(c, wrong);
  at = pass_blanks(close + 1);
  if (strncmp(at, "remote", 6) == 0) return *is_frame = 0, BRAMAH_OK;
  read_bytes(c, &at, n, 1);
  if (f->n < n) return bad_line(c, "this frame has fewer bytes than it says");
  return *at == '\0' || strchr(" \t\r", *at) ? BRAMAH_OK : bad_line(c, wrong); /* bits, as of candump -i */
}

/* ---- ASC ---- */

/* date Wed Apr 16 09:21:13.159 am 2014, in English or German. */
static void read_date(can *c, char **word, size_t n)
{
  static const char *const months[] = {"jan", "feb", "mar mär mrz", "apr",     "may mai", "jun",
                                       "jul", "aug", "sep",         "oct okt", "nov",     "dec dez"};
  char month[8] = "", iso[64];
  const int has_half = n == 7;
  int zone, number = 0, hour, at;
  if (n < 6 || n > 7) return;
  for (size_t i = 0; i < 4 && word[2][i]; i++)
    month[i] = word[2][i] >= 'A' && word[2][i] <= 'Z' ? (char)(word[2][i] + 32) : word[2][i];
  if (!((unsigned char)month[1] & 0x80)) month[3] = '\0';
  for (int i = 0; i < 12; i++)
    if (*month && strstr(months[i], month)) number = i + 1;
  if (!number || sscanf(word[4], "%2d%n", &hour, &at) != 1) return;
  if (has_half && hour < 12 && strcasecmp(word[5], "pm") == 0) hour += 12;
  if (has_half && hour == 12 && strcasecmp(word[5], "am") == 0) hour = 0;
  snprintf(iso, sizeof iso, "%.4s-%02d-%02dT%02d%.20s", word[n - 1], number, atoi(word[3]) % 100, hour % 100,
           word[4] + at);
  c->has_start = !bramah__time_iso(iso, iso + strlen(iso), &c->start_ns, &zone);
}

static size_t split(char *line, char **word)
{
  size_t n = 0;
  for (char *at = pass_blanks(line); *at && n < WORDS; at = pass_blanks(at)) {
    word[n++] = at;
    at = pass_word(at);
    if (*at) *at++ = '\0';
  }
  return n;
}

static int read_id(can *c, const char *word)
{
  const char *end = word + strlen(word);
  c->frame.is_extended = end > word && (end[-1] == 'x' || end[-1] == 'X');
  return read_whole(word, end - c->frame.is_extended, c->is_decimal ? 10 : 16, &c->frame.id);
}

static int is_number(const char *word)
{
  uint32_t ignored;
  return read_whole(word, word + strlen(word), 10, &ignored);
}

/* n bytes in words. */
static bramah_status take_bytes(can *c, char **word, size_t have, uint32_t n)
{
  c->frame.n = n;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t byte;
    if (i >= have || !read_whole(word[i], word[i] + strlen(word[i]), c->is_decimal ? 10 : 16, &byte) ||
        byte > 255)
      return bad_line(c, "this frame has fewer bytes than it says");
    c->frame.data[i] = (unsigned char)byte;
  }
  return BRAMAH_OK;
}

/* Heads, and events: time channel id Rx d n bytes; time CANFD channel Rx id [name] brs esi dlc n bytes. Others are
 * passed over, but the time goes on by them where it is counted from one to the next. */
static bramah_status read_asc(can *c, char *line, int *is_frame)
{
  char *word[WORDS];
  int64_t ns;
  uint32_t n_bytes;
  const size_t n = split(line, word);
  *is_frame = 0;
  if (n && strcmp(word[0], "date") == 0) return read_date(c, word, n), BRAMAH_OK;
  if (n > 3 && strcmp(word[0], "base") == 0) {
    c->is_decimal = strcmp(word[1], "dec") == 0;
    c->is_relative = strcmp(word[3], "relative") == 0;
    return BRAMAH_OK;
  }
  if (n < 2 || bramah__time_decimal(word[0], word[0] + strlen(word[0]), '.', INT64_C(1000000000), 0, &ns))
    return BRAMAH_OK;
  if (c->is_relative && (ns > INT64_MAX / 4 - llabs(c->last_ns) || ns < 0))
    return bad_line(c, "the times add up to more than 70 years");
  c->last_ns = c->is_relative ? c->last_ns + ns : ns;
  c->frame.time_ns = c->last_ns;
  const int is_fd = strcmp(word[1], "CANFD") == 0;
  if (n < (is_fd ? 9 : 5)) return BRAMAH_OK;
  const char *channel = word[is_fd ? 2 : 1], *direction = word[3];
  if (!is_number(channel) || (strcasecmp(direction, "Rx") != 0 && strcasecmp(direction, "Tx") != 0))
    return BRAMAH_OK;
  if (!read_id(c, word[is_fd ? 4 : 2])) return BRAMAH_OK;
  snprintf(c->frame.channel, sizeof c->frame.channel, "%s", channel);
  if (!is_fd) {
    if (strcmp(word[4], "d") != 0 || n < 6) return BRAMAH_OK; /* r: a remote request */
    if (!read_whole(word[5], word[5] + strlen(word[5]), 16, &n_bytes) || n_bytes > 15)
      return bad_line(c, "the number of bytes of this frame is none");
    *is_frame = 1;
    return take_bytes(c, word + 6, n - 6, n_bytes > 8 ? 8 : n_bytes);
  }
  const size_t at =
      strcmp(word[5], "0") == 0 || strcmp(word[5], "1") == 0 ? 5 : 6; /* behind the name, if there is one */
  if (n < at + 4 || !read_whole(word[at + 3], word[at + 3] + strlen(word[at + 3]), 10, &n_bytes) ||
      n_bytes > BRAMAH__CAN_BYTES)
    return bad_line(c, "the number of bytes of this frame is none");
  *is_frame = 1;
  return take_bytes(c, word + at + 4, n - at - 4, n_bytes);
}

/* ---- interfaces ---- */

#ifdef __linux__
bramah_status bramah__can_receive(bramah_log_reader *reader, bramah__can_frame *f, uint64_t *lost, int *end)
{
  struct canfd_frame raw;
  char control[CMSG_SPACE(sizeof(struct timeval)) + CMSG_SPACE(sizeof(uint32_t))];
  struct iovec part = {.iov_base = &raw, .iov_len = sizeof raw};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  struct timeval now = {0};
  do {
    const ssize_t n = recvmsg(reader->fd, &message, 0);
    *end = n == 0 || (n < 0 && errno == EINTR); /* somebody has asked to stop */
    if (*end) return BRAMAH_OK;
    if (n < 0) return bramah__log_fail_system(reader, "cannot read: ", errno);
    if (n != CAN_MTU && n != CANFD_MTU) raw.can_id = CAN_ERR_FLAG;
    for (struct cmsghdr *h = CMSG_FIRSTHDR(&message); h; h = CMSG_NXTHDR(&message, h)) {
      uint32_t dropped;
      if (h->cmsg_level != SOL_SOCKET) continue;
      if (h->cmsg_type == SO_TIMESTAMP) memcpy(&now, CMSG_DATA(h), sizeof now);
      if (h->cmsg_type == SO_RXQ_OVFL) memcpy(&dropped, CMSG_DATA(h), sizeof dropped), *lost = dropped;
    }
    message.msg_controllen = sizeof control;
  } while (raw.can_id & (CAN_RTR_FLAG | CAN_ERR_FLAG));
  if (!now.tv_sec) gettimeofday(&now, NULL);
  f->time_ns = (int64_t)now.tv_sec * INT64_C(1000000000) + (int64_t)now.tv_usec * 1000;
  f->is_extended = (raw.can_id & CAN_EFF_FLAG) != 0;
  f->id = raw.can_id & (f->is_extended ? CAN_EFF_MASK : CAN_SFF_MASK);
  f->n = raw.len > BRAMAH__CAN_BYTES ? BRAMAH__CAN_BYTES : raw.len;
  memcpy(f->data, raw.data, f->n);
  return BRAMAH_OK;
}

/* can0, vcan0, slcan1, where there is no file of that name. */
static const char *interface_of(const char *path)
{
  struct stat about;
  const char *at = path + (*path == 'v') + (strncmp(path, "sl", 2) == 0 ? 2 : 0);
  if (strncmp(at, "can", 3) != 0 || !at[3] || at[3 + strspn(at + 3, "0123456789")]) return NULL;
  return stat(path, &about) == 0 ? NULL : path;
}

static int connect_interface(bramah_log_reader *reader)
{
  const char *name = interface_of(reader->path);
  const int on = 1, room = 1 << 20;
  if (!name) return 0;
  struct sockaddr_can where = {.can_family = AF_CAN, .can_ifindex = (int)if_nametoindex(name)};
  reader->fd = socket(AF_CAN, SOCK_RAW | SOCK_CLOEXEC, CAN_RAW);
  if (reader->fd < 0) {
    bramah__log_fail_system(reader, "this system has no CAN interfaces (SocketCAN): ", errno);
  } else if (!where.can_ifindex) {
    bramah__log_fail(reader, BRAMAH_E_FILE, NULL, 0, 0,
                     "there is neither a file nor a CAN interface of that name (ip link)");
  } else if (setsockopt(reader->fd, SOL_CAN_RAW, CAN_RAW_FD_FRAMES, &on, sizeof on) ||
             setsockopt(reader->fd, SOL_SOCKET, SO_TIMESTAMP, &on, sizeof on) ||
             setsockopt(reader->fd, SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof on) ||
             bind(reader->fd, (const struct sockaddr *)&where, sizeof where)) {
    bramah__log_fail_system(reader, "cannot listen: ", errno);
  }
  if (!reader->failure.status) setsockopt(reader->fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
  return 1;
}
#else
bramah_status bramah__can_receive(bramah_log_reader *reader, bramah__can_frame *f, uint64_t *lost, int *end)
{
  (void)reader, (void)f, (void)lost;
  return *end = 1, BRAMAH_OK;
}
static int connect_interface(bramah_log_reader *reader) { return (void)reader, 0; }
#endif

/* ---- frames, whatever they come from ---- */

/* Times of ASC and BLF are counted from their start. */
static bramah_status add_start(can *c)
{
  const int64_t start = c->has_start ? c->start_ns : 0, t = c->frame.time_ns,
                most = INT64_C(9000000000000000000);
  if (t > 0 ? start > most - t : start < -most - t) return bad_line(c, "this time is beyond the year 2255");
  c->frame.time_ns = t + start;
  return BRAMAH_OK;
}

static bramah_status next_frame(can *c, int *end)
{
  bramah_status status = BRAMAH_OK;
  *end = 0;
  if (c->waits) return c->waits = 0, BRAMAH_OK;
  if (c->source == INTERFACE) {
    if (c->line < INT_MAX) c->line++;
    return bramah__can_receive(c->reader, &c->frame, &c->lost, end);
  }
  if (c->source == BLF) {
    status = bramah__blf_next(c->blf, &c->frame, &c->line, end);
    return status || *end ? status : add_start(c);
  }
  for (int is_frame = 0; !status && !is_frame;) {
    char *line = next_line(c, &status);
    *end = !line;
    if (!line) return status;
    status = c->source == ASC ? read_asc(c, line, &is_frame) : read_candump(c, line, &is_frame);
  }
  return !status && c->source == ASC ? add_start(c) : status;
}

/* ---- messages ---- */

static int by_key(const void *a, const void *b)
{
  const entry *x = a, *y = b;
  return x->key != y->key          ? (x->key < y->key ? -1 : 1)
         : x->message < y->message ? -1
                                   : x->message > y->message;
}

/* The first entry of a key, or where it would be. */
static size_t find_entry(const can *c, uint32_t key)
{
  size_t low = 0, high = c->n_entries;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (c->entries[middle].key < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Who sends a message of J1939, and to whom: EVERYONE where its group says that it goes to all. */
static int sender_of(uint32_t id) { return (int)(id & 0xff); }

static int receiver_of(uint32_t id) { return (id >> 16 & 0xff) < 240 ? (int)(id >> 8 & 0xff) : EVERYONE; }

/* The message of the frame: of its identifier; of J1939 that of its PGN and sender, or of its PGN alone, best from any
 * sender; the one to its receiver before others. SIZE_MAX: none. */
static size_t find_message(const can *c, const bramah__can_frame *f)
{
  const uint32_t key = f->id | (f->is_extended ? EXTENDED : 0), group = GROUP | bramah__j1939_group(f->id);
  for (size_t i = find_entry(c, key); i < c->n_entries && c->entries[i].key == key; i++) {
    const bramah__dbc_message *m = &c->dbc.messages[c->entries[i].message];
    if (!*m->channel || strcmp(m->channel, f->channel) == 0) return c->entries[i].message;
  }
  if (!f->is_extended) return SIZE_MAX;
  size_t n = 0, found = SIZE_MAX;
  int best = -1;
  for (size_t i = find_entry(c, group); i < c->n_entries && c->entries[i].key == group; i++) {
    const bramah__dbc_message *m = &c->dbc.messages[c->entries[i].message];
    const int own = sender_of(m->id), by_sender = own == sender_of(f->id) ? 2 : own == NULL_ADDRESS;
    const int rank = 2 * by_sender + (receiver_of(m->id) == receiver_of(f->id));
    if ((*m->channel && strcmp(m->channel, f->channel) != 0) || rank < best) continue;
    n = rank > best ? 1 : n + 1;
    if (n == 1) found = c->entries[i].message;
    best = rank;
  }
  return n == 1 || best == 5 ? found : SIZE_MAX;
}

static int is_wanted(void *context, const bramah__can_frame *f)
{
  const can *c = context;
  const size_t message = find_message(c, f);
  return message != SIZE_MAX && c->wanted[message];
}

/* A message that is read comes on one channel and, in J1939, from one sender to one receiver. *is_meant 0: its own one was
 * there, and this is another. */
static bramah_status check_origin(can *c, size_t message, int *is_meant)
{
  const bramah__dbc_message *m = &c->dbc.messages[message];
  const bramah__can_frame *f = &c->frame;
  const uint32_t id = m->is_j1939 ? f->id : m->id;
  const int own = sender_of(m->id), sender = sender_of(id), own_receiver = receiver_of(m->id),
            receiver = receiver_of(id);
  origin *from = &c->from[message];
  if (!*from->channel) {
    memcpy(from->channel, f->channel, sizeof from->channel);
    from->sender = sender;
    from->receiver = receiver;
  }
  *is_meant = (sender == own || from->sender != own || own == NULL_ADDRESS) &&
              (receiver == own_receiver || from->receiver != own_receiver);
  if (!*is_meant) return BRAMAH_OK;
  if (strcmp(from->channel, f->channel) != 0)
    return bramah__log_fail(c->reader, BRAMAH_E_REFERENCE, m->name, c->line, 0,
                            "this message comes on two channels, %s and %s: say which one the DBC file is of "
                            "('log: {dbc: %s=FILE.dbc}' in the study)",
                            from->channel, f->channel, from->channel);
  const int is_sender = from->sender != sender;
  if (!is_sender && from->receiver == receiver) return BRAMAH_OK;
  const int first = is_sender ? from->sender : from->receiver, now = is_sender ? sender : receiver;
  const int one = (is_sender && own == NULL_ADDRESS) || now != (is_sender ? own : own_receiver) ? now : first;
  const uint32_t wanted = is_sender ? (m->id & UINT32_C(0x1fffff00)) | (uint32_t)one
                                    : (m->id & UINT32_C(0x1fff00ff)) | (uint32_t)one << 8;
  return bramah__log_fail(c->reader, BRAMAH_E_REFERENCE, m->name, c->line, 0,
                          "this message of J1939 %s, 0x%02X and 0x%02X: give each of them a message with its "
                          "address in the DBC (BO_ %lu is that of 0x%02X)",
                          is_sender ? "comes from two senders" : "goes to two receivers", (unsigned)first,
                          (unsigned)now, (unsigned long)(wanted | EXTENDED), (unsigned)one);
}

/* ---- opening ---- */

static bramah_status read_databases(can *c)
{
  bramah_log_reader *reader = c->reader;
  const char *list = reader->format.dbc;
  bramah_status status = BRAMAH_OK;
  if (!list || !*list)
    return bramah__log_fail(reader, BRAMAH_E_KEY, NULL, 0, 0,
                            "CAN frames need a DBC file that says what is in them: 'log: {dbc: FILE.dbc}' in "
                            "the study, or 'bramah map --dbc FILE.dbc'");
  while (!status && *list) {
    const size_t n = strcspn(list, "\n");
    char *path = strndup(list, n), channel[BRAMAH__CAN_CHANNEL] = "";
    if (!path) return bramah__log_fail_memory(reader);
    char *equals = strchr(path, '=');
    const int has_channel = equals && equals > path && equals - path < BRAMAH__CAN_CHANNEL &&
                            !memchr(path, '/', (size_t)(equals - path));
    if (has_channel) snprintf(channel, sizeof channel, "%.*s", (int)(equals - path), path);
    status = bramah__dbc_read(&c->dbc, has_channel ? equals + 1 : path, channel, reader->missing,
                              &reader->failure);
    free(path);
    list += n + (list[n] == '\n');
  }
  return status;
}

/* Two messages of one identifier on one channel could not be told from each other. */
static bramah_status index_messages(can *c)
{
  const size_t n = c->dbc.n_messages;
  c->entries = calloc(2 * n + 1, sizeof *c->entries);
  c->first = calloc(n + 1, sizeof *c->first);
  c->from = calloc(n + 1, sizeof *c->from);
  c->wanted = calloc(n + 1, sizeof *c->wanted);
  c->namesakes = calloc(n + 1, sizeof *c->namesakes);
  if (!c->entries || !c->first || !c->from || !c->wanted || !c->namesakes)
    return bramah__log_fail_memory(c->reader);
  for (size_t i = 0; i < n; i++) {
    const bramah__dbc_message *m = &c->dbc.messages[i];
    if (m->is_j1939 && !c->transport && !(c->transport = bramah__transport_new()))
      return bramah__log_fail_memory(c->reader);
    c->entries[c->n_entries++] = (entry){m->id | (m->is_extended ? EXTENDED : 0), i};
    if (m->is_j1939) c->entries[c->n_entries++] = (entry){GROUP | bramah__j1939_group(m->id), i};
  }
  qsort(c->entries, c->n_entries, sizeof *c->entries, by_key);
  for (size_t i = 0; i + 1 < c->n_entries; i++) {
    const uint32_t key = c->entries[i].key;
    const bramah__dbc_message *a = &c->dbc.messages[c->entries[i].message];
    if ((key & GROUP && !(key & EXTENDED)) || a->id == BRAMAH__DBC_NEVER) continue;
    for (size_t k = i + 1; k < c->n_entries && c->entries[k].key == key; k++) {
      const bramah__dbc_message *b = &c->dbc.messages[c->entries[k].message];
      if (*a->channel && *b->channel && strcmp(a->channel, b->channel) != 0) continue;
      return bramah__log_fail(
          c->reader, BRAMAH_E_KEY, b->name, 0, 0,
          "the DBC files have two messages with the identifier 0x%lX (the other is %.60s): say which "
          "channel each file is of ('log: {dbc: [can0=a.dbc, can1=b.dbc]}')",
          (unsigned long)a->id, a->name);
    }
  }
  return BRAMAH_OK;
}

/* Why no frame can be the message, so that its signals are no columns; NULL: one can. */
static const char *why_never(const bramah__dbc_message *m)
{
  if (m->id == BRAMAH__DBC_NEVER)
    return "is in a message that no frame can be: nobody sends it, or its identifier has more than 11 bits "
           "without the "
           "mark for 29 (plus 2147483648)";
  return m->is_j1939 && m->length > BRAMAH__CAN_MESSAGE
             ? "is in a message of more than 1785 bytes: the extended transport protocol of J1939 is not read"
             : NULL;
}

static int by_name(const void *a, const void *b)
{
  const bramah__dbc_message *x = *(bramah__dbc_message *const *)a, *y = *(bramah__dbc_message *const *)b;
  const int names = strcmp(x->name, y->name);
  return names ? names : strcmp(x->channel, y->channel);
}

/* Messages of one name have to be told from each other. */
static bramah_status find_namesakes(can *c)
{
  const bramah__dbc_message **list = calloc(c->dbc.n_messages + 1, sizeof *list);
  size_t n = 0;
  if (!list) return bramah__log_fail_memory(c->reader);
  for (size_t i = 0; i < c->dbc.n_messages; i++)
    if (!why_never(&c->dbc.messages[i])) list[n++] = &c->dbc.messages[i];
  qsort(list, n, sizeof *list, by_name);
  for (size_t i = 0; i + 1 < n; i++) {
    if (strcmp(list[i]->name, list[i + 1]->name) != 0) continue;
    const int same = strcmp(list[i]->channel, list[i + 1]->channel) == 0;
    for (size_t k = i; k < i + 2; k++) {
      int *is = &c->namesakes[list[k] - c->dbc.messages];
      if (*is < 2) *is = same || !*list[k]->channel ? 2 : 1;
    }
  }
  free(list);
  return BRAMAH_OK;
}

/* MESSAGE.SIGNAL, where that is not one behind its channel or, in one channel, its identifier. */
static void full_name(const can *c, size_t message, size_t signal, char *out, size_t n)
{
  const bramah__dbc_message *m = &c->dbc.messages[message];
  const int namesakes = c->namesakes[message];
  char id[16] = "";
  if (namesakes > 1) snprintf(id, sizeof id, m->is_extended ? "0x%08lX." : "0x%03lX.", (unsigned long)m->id);
  snprintf(out, n, "%s%s%s%s.%s", namesakes ? m->channel : "", namesakes && *m->channel ? "." : "", id,
           m->name, m->signals[signal].name);
}

static bramah_status add_columns(can *c)
{
  bramah_log_reader *reader = c->reader;
  bramah_status status = find_namesakes(c);
  for (size_t i = 0; !status && i < c->dbc.n_messages; i++) {
    const bramah__dbc_message *m = &c->dbc.messages[i];
    if (why_never(m)) continue;
    c->first[i] = reader->n_columns;
    for (size_t k = 0; !status && k < m->n_signals; k++) {
      char name[1024];
      full_name(c, i, k, name, sizeof name);
      status = bramah__log_add_column(reader, name, m->signals[k].unit, 0);
    }
  }
  return status;
}

bramah_status bramah__can_begin(bramah_log_reader *reader, bramah__can **out)
{
  can *c = *out = calloc(1, sizeof *c);
  if (!c) return bramah__log_fail_memory(reader);
  c->reader = reader;
  c->source = OTHER;
  bramah_status status = read_databases(c);
  if (!status) status = index_messages(c);
  return status ? status : add_columns(c);
}

static bramah_status open_can(bramah_log_reader *reader, medium from)
{
  bramah_status status = bramah__log_add_column(reader, "t", "s", 0);
  can *c = NULL;
  int end = 0;
  if (!status) status = bramah__can_begin(reader, &c);
  reader->source = c;
  if (status) return status;
  c->source = from;
  c->buffer = from == BLF || from == INTERFACE ? NULL : malloc(BUFFER + 1);
  if (!c->buffer && from != BLF && from != INTERFACE) return bramah__log_fail_memory(reader);
  if (from == BLF) status = bramah__blf_open(reader, &c->blf);
  if (status) return status;
  snprintf(c->frame.channel, sizeof c->frame.channel, "%.15s", from == INTERFACE ? reader->path : "");
  reader->is_date = from == INTERFACE;
  reader->is_sparse = 1;
  if (from == BLF) {
    c->start_ns = bramah__blf_start(c->blf);
    reader->is_date = c->has_start = c->start_ns != 0;
  } else if (from == ASC || from == CANDUMP) {
    /* The first frame shows whether times are dates: of candump those since 1973. */
    do {
      if (status && !reader->skipped_rows++) reader->first_skipped = c->line;
      bramah_diag_clear(&reader->failure);
      reader->row_done = 0;
      status = next_frame(c, &end);
    } while (status && reader->format.skip_bad_rows && reader->row_done);
    c->waits = !status && !end;
    reader->is_date =
        from == ASC ? c->has_start : c->waits && c->frame.time_ns > INT64_C(100000000) * INT64_C(1000000000);
  }
  return status;
}

void bramah__can_free(bramah__can *c)
{
  if (!c) return;
  bramah__blf_close(c->blf);
  bramah__dbc_free(&c->dbc);
  free(c->entries);
  free(c->first);
  free(c->from);
  free(c->wanted);
  free(c->namesakes);
  free(c->transport);
  free(c->buffer);
  free(c);
}

static void close_can(bramah_log_reader *reader) { bramah__can_free(reader->source); }

/* ---- what a text is ---- */

/* A line of candump, with times or without. */
static int is_candump(const char *line)
{
  char *copy = strdup(line);
  if (!copy) return 0;
  char *at = pass_blanks(copy);
  if (*at == '(') {
    char *close = strchr(at, ')');
    at = close ? pass_blanks(close + 1) : at;
  }
  char *id = pass_blanks(pass_word(at)), *stop = id + strcspn(id, "# \t\r");
  uint32_t number;
  const int is_id =
      at != copy + strlen(copy) && stop - id >= 3 && stop - id <= 8 && read_whole(id, stop, 16, &number);
  char *behind = pass_blanks(stop);
  const int is = is_id && (*stop == '#' || (*behind == '[' && digit(behind[1]) < 10 && strchr(behind, ']')));
  free(copy);
  return is;
}

/* ASC has `date` or `base hex timestamps` in its first lines; candump begins with a frame. */
static int text_kind(const unsigned char *head, size_t n, medium *out)
{
  char line[512];
  for (size_t i = 0, k = 0; i < n && k < 8; k++) {
    const unsigned char *stop = memchr(head + i, '\n', n - i);
    const size_t length = stop ? (size_t)(stop - head) - i : n - i;
    snprintf(line, sizeof line, "%.*s", (int)(length < sizeof line ? length : sizeof line - 1),
             (const char *)head + i);
    const char *at = pass_blanks(line);
    i += length + 1;
    if (strncmp(at, "base ", 5) == 0 && strstr(at, "timestamps")) return *out = ASC, 1;
    if (strncmp(at, "date ", 5) == 0 && strchr(at, ':') && !strchr(at, ',')) return *out = ASC, 1;
    if (*at && strncmp(at, "//", 2) != 0) return *out = CANDUMP, is_candump(at);
  }
  return 0;
}

static int takes_text(const char *path, const unsigned char *head, size_t n)
{
  medium ignored;
  (void)path;
  return text_kind(head, n, &ignored);
}

static int takes_blf(const char *path, const unsigned char *head, size_t n)
{
  (void)path;
  return n >= 4 && memcmp(head, "LOGG", 4) == 0;
}

/* By the first bytes again: they decide between the two. */
static bramah_status open_text(bramah_log_reader *reader)
{
  unsigned char head[512];
  const ssize_t n = reader->head ? 0 : pread(reader->fd, head, sizeof head, lseek(reader->fd, 0, SEEK_CUR));
  medium found = CANDUMP;
  if (reader->head)
    text_kind(reader->head, reader->n_head, &found);
  else if (n > 0)
    text_kind(head, (size_t)n, &found);
  return open_can(reader, found);
}

static bramah_status open_blf(bramah_log_reader *reader) { return open_can(reader, BLF); }
static bramah_status open_interface(bramah_log_reader *reader) { return open_can(reader, INTERFACE); }

/* ---- rows ---- */

int bramah__can_plan(bramah__can *c)
{
  int any = 0;
  for (size_t i = 0; i < c->dbc.n_messages; i++) {
    for (size_t k = 0; c->first[i] && k < c->dbc.messages[i].n_signals; k++)
      c->wanted[i] |= !c->reader->columns[c->first[i] + k].ignored;
    any |= c->wanted[i];
  }
  return any;
}

/* Which messages have a column that is read, and a clean row. */
static bramah_status begin_rows(can *c)
{
  const bramah_log_reader *reader = c->reader;
  const bramah__time_format *clock = &reader->clock;
  c->begun = 1;
  bramah__can_plan(c);
  if (reader->time_column != 0 || (!clock->whole && (clock->iso || clock->scale == INT64_C(1000000000))))
    return BRAMAH_OK;
  return bramah__log_fail(
      c->reader, BRAMAH_E_UNIT, "t", 0, 0,
      "the times of CAN frames are known, as t[s]: leave out the unit or rate of 'time' in the study");
}

/* A new buffer is cleared, a known one where it was filled. */
static void clear_row(can *c, double *values, unsigned char *present)
{
  const size_t n = c->reader->n_columns;
  memset(present, 0, n);
  if (values != c->values)
    for (size_t i = 0; i < n; i++) values[i] = NAN;
  for (size_t i = c->filled; i < c->filled + c->n_filled; i++) values[i] = NAN;
  c->values = values;
}

/* The signals of a frame as cells; 0 if it has none that is read. */
static int fill_row(can *c, size_t message)
{
  bramah_log_reader *reader = c->reader;
  const bramah__dbc_message *m = &c->dbc.messages[message];
  int any = 0;
  c->filled = c->first[message];
  c->n_filled = m->n_signals;
  for (size_t k = 0; k < m->n_signals; k++) {
    const size_t column = c->filled + k;
    double value;
    if (reader->columns[column].ignored || !bramah__dbc_decode(m, k, c->frame.data, c->frame.n, &value))
      continue;
    if (bramah__log_is_no_sample(reader, value)) continue;
    bramah__log_put_number(reader, column, value);
    any |= reader->present[column];
  }
  return any;
}

/* The cells of the present frame; *any 0: none is wanted. */
static bramah_status take_frame(can *c, int *any)
{
  int is_meant;
  *any = 0;
  const int taken = c->transport ? bramah__transport_take(c->transport, &c->frame, is_wanted, c) : 0;
  if (!c->first_lost && (taken < 0 || c->lost)) c->first_lost = c->line;
  const size_t message = find_message(c, &c->frame);
  if (message == SIZE_MAX || !c->wanted[message]) return BRAMAH_OK;
  const bramah_status status = check_origin(c, message, &is_meant);
  if (status || !is_meant) return status;
  c->reader->row_done = 1;
  *any = fill_row(c, message);
  return BRAMAH_OK;
}

bramah_status bramah__can_put(bramah__can *c, const bramah__can_frame *frame, int line, int *any)
{
  const size_t head = offsetof(bramah__can_frame, data);
  memcpy(&c->frame, frame, head + frame->n);
  c->line = line;
  return take_frame(c, any);
}

void bramah__can_clear(bramah__can *c)
{
  for (size_t i = c->filled; i < c->filled + c->n_filled; i++) {
    c->reader->values[i] = NAN;
    c->reader->present[i] = 0;
  }
  c->n_filled = 0;
}

static bramah_status next_row(bramah_log_reader *reader, int *end)
{
  can *c = reader->source;
  bramah_status status = c->begun ? BRAMAH_OK : begin_rows(c);
  clear_row(c, reader->values, reader->present);
  c->n_filled = 0;
  while (!status) {
    int any = 0;
    reader->row_done = 0;
    status = next_frame(c, end);
    reader->row_line = c->line;
    if (status || *end) break;
    status = take_frame(c, &any);
    if (status || !any) continue;
    if (!reader->time_column || reader->time_column == SIZE_MAX) reader->time = c->frame.time_ns;
    reader->values[0] = (double)c->frame.time_ns / 1e9;
    reader->present[0] = 1;
    return BRAMAH_OK;
  }
  return status;
}

/* ---- what is known ---- */

/* SIGNAL or MESSAGE.SIGNAL. */
static int is_called(const bramah__dbc_message *m, const bramah__dbc_signal *signal, const char *name)
{
  const size_t n = strlen(m->name);
  if (strcmp(signal->name, name) == 0) return 1;
  return strncmp(m->name, name, n) == 0 && name[n] == '.' && strcmp(signal->name, name + n + 1) == 0;
}

/* A signal by its own name, if only one message has it; or with a channel that it does not need. */
size_t bramah__can_stand_in(const bramah__can *c, const char *name)
{
  const bramah_log_reader *reader = c->reader;
  size_t found = SIZE_MAX, n = 0;
  for (size_t i = 0; i < c->dbc.n_messages; i++) {
    const bramah__dbc_message *m = &c->dbc.messages[i];
    const size_t length = strlen(m->channel);
    const int has_channel = length && strncmp(name, m->channel, length) == 0 && name[length] == '.';
    for (size_t k = 0; c->first[i] && k < m->n_signals; k++) {
      const size_t column = c->first[i] + k;
      if (has_channel && strcmp(reader->columns[column].name, name + length + 1) == 0) return column;
      if (!is_called(m, &m->signals[k], name)) continue;
      found = column;
      n++;
    }
  }
  return n == 1 ? found : SIZE_MAX;
}

static size_t stand_in(const bramah_log_reader *reader, const char *name)
{
  return bramah__can_stand_in(reader->source, name);
}

const char *bramah__can_why_not(bramah__can *c, const char *name)
{
  const char *why = NULL;
  size_t n = 0, used = 0;
  for (size_t i = 0; i < c->dbc.n_messages; i++) {
    const bramah__dbc_message *m = &c->dbc.messages[i];
    for (size_t k = 0; k < m->n_signals; k++) {
      char full[1024];
      if (!is_called(m, &m->signals[k], name)) continue;
      if (!c->first[i]) why = why_never(m);
      if (!c->first[i] || n++ > 1) continue;
      full_name(c, i, k, full, sizeof full);
      used += (size_t)snprintf(c->why + used, sizeof c->why - used, "%s%.100s",
                               used ? " or " : "is in more than one message: write ", full);
    }
  }
  return n > 1 ? c->why : why;
}

static const char *why_not(const bramah_log_reader *reader, const char *name)
{
  return bramah__can_why_not(reader->source, name);
}

void bramah__can_describe(const bramah__can *c, bramah_log_info *info)
{
  info->lost = c->lost;
  if (c->transport) info->lost += bramah__transport_lost(c->transport, c->frame.time_ns);
  info->first_lost = c->first_lost || !info->lost ? c->first_lost : c->line;
}

static void describe(const bramah_log_reader *reader, bramah_log_info *info)
{
  static const char *const kinds[] = {"CAN frames of candump", "CAN frames in ASC", "CAN frames in BLF",
                                      "a CAN interface"};
  const can *c = reader->source;
  info->kind = kinds[c->source];
  info->bytes = c->bytes - (c->end - c->begin);
  info->is_cut = c->is_cut;
  bramah__can_describe(c, info);
  if (c->source == BLF) info->bytes = bramah__blf_bytes(c->blf, &info->is_cut);
}

#define SHARED                                                                                               \
  .close = close_can, .next = next_row, .describe = describe, .stand_in = stand_in, .why_not = why_not,      \
  .column = "signal", .from_pipe = 1,                                                                        \
  .no_rows = "no frame of the log has a signal that is asked for: is the DBC that of this machine?"

const bramah__log_kind bramah__log_can = {.names = "*.asc *.candump candump*.log",
                                          .what = "log of CAN frames",
                                          .record = "line",
                                          .takes = takes_text,
                                          .open = open_text,
                                          SHARED};
const bramah__log_kind bramah__log_blf = {
    .names = "*.blf", .what = "BLF file", .record = "object", .takes = takes_blf, .open = open_blf, SHARED};
const bramah__log_kind bramah__log_interface = {.names = "",
                                                .what = "CAN interface",
                                                .record = "frame",
                                                .connect = connect_interface,
                                                .open = open_interface,
                                                SHARED};
