/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MDF 4 as logs: data groups (DG) hold channel groups (CG) with a clock each, the master channel, and channels (CN) with a conversion
 * (CC). Every number of every group is a column; rows of all groups are put together by time, each read by a cursor of its own, so
 * that memory does not grow with the file. Records of several groups in one stream (unsorted files) have their number before them.
 * Groups of bus logging hold CAN frames, whose signals are columns by DBC files (can.c). */
#define _GNU_SOURCE /* strdup */
#include "lib/base/text.h"
#include "lib/logs/can.h"
#include "lib/logs/mdf.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>

/* What no log has more of: the bytes of a name and of a record, channels, elements of an array, structures in each other, conversions in
 * each other, bytes of tables. */
enum {
  LONGEST_NAME = 256,
  LONGEST_RECORD = 1 << 24,
  MOST_CHANNELS = 100000,
  MOST_GROUPS = 20000,
  WIDEST = 256,
  DEEPEST = 8,
  MOST_NESTED = 4,
  MOST_TABLES = 8 << 20
};
/* Bytes that a group reads at once, and all of them. */
enum { PIECE = 1 << 16, LEAST_PIECE = 1 << 10, ALL_PIECES = 24 << 20 };
enum { CG_VLSD = 1, CG_REMOTE_MASTER = 8 };
enum { CN_ALL_INVALID = 1, CN_INVALID_BIT = 2 };
enum { CA_INVERSE = 64 };
enum {
  CC_LINEAR = 1,
  CC_RATIONAL,
  CC_FORMULA,
  CC_BETWEEN,
  CC_NEAREST,
  CC_RANGES,
  CC_TEXT,
  CC_RANGE_TEXT,
  CC_OF_TEXT,
  CC_TEXT_TEXT,
  CC_BITS
};

/* A block: its links and the first of its data. */
typedef struct block {
  uint64_t at, length, n_links, data_at;
  unsigned char links[8 * 8], data[72];
  size_t n_data;
} block;

/* Numbers of a table are [n x width]; where a row leads to a text instead of a number, `inner` has none for it. */
typedef struct conversion {
  int type;
  size_t n, n_inner;
  double *value;
  struct conversion **inner; /* [n_inner] */
  struct conversion *next;   /* all of a log */
} conversion;

/* How a number lies in a record. */
typedef struct field {
  uint32_t at;
  uint8_t type, shift, bits, n; /* data type, bits before it, bits and bytes of it */
  int is_index;                 /* a virtual one: the number of the record */
  long invalid;                 /* bit that says so; -1: none */
  const conversion *conversion;
} field;

typedef struct channel {
  char *name, *unit;
  size_t group;
  field field;
  uint64_t conversion, bytes; /* places of its block, and of its bytes where these are not in the record */
  uint32_t n_bytes;
  int type, is_master;
  const char *why_not; /* it is no column; NULL: it is one */
} channel;

typedef struct data_group {
  uint64_t data;
  int id_size;
  size_t first, n; /* its groups */
} data_group;

/* CAN frames: where the structure CAN_DataFrame of a group has what (ASAM MDF "Bus Logging"). */
enum { BUS_ID, BUS_IDE, BUS_LENGTH, BUS_CHANNEL, BUS_DATA, BUS_PARTS };
typedef struct bus {
  size_t part[BUS_PARTS]; /* channels; SIZE_MAX: none */
  uint32_t n_bytes;       /* of a frame in the record */
  size_t texts;           /* the group among whose records the bytes are; SIZE_MAX: they are elsewhere */
  bramah__mdf_data bytes; /* there */
  int is_there;           /* bytes of a frame wait: their place and length */
  uint64_t at, length, next;
} bus;

/* Channels of one clock. */
typedef struct group {
  char *name;
  size_t of; /* data group */
  int is_vlsd;
  uint64_t at, id, cycles, remote; /* remote: place of the group that has its master; 0: itself */
  uint32_t n_data, n_bits;
  size_t master, clock; /* channel, SIZE_MAX: none; the group in whose records it is */
  int used, has_row;
  size_t first_cell, n_cells;
  bus *bus; /* NULL: it is of no bus */
  uint64_t row;
  bramah__mdf_data data, bits, clocks;
  size_t held, clock_held; /* bytes of the present record, and of that of `clocks` */
  const unsigned char *record, *invalid, *clock_record;
  int64_t time; /* ns */
  double seconds;
  bramah_status time_status;
} group;

/* A column that is wanted. */
typedef struct cell {
  size_t column;
  field field;
} cell;

typedef struct mdf_log {
  bramah__mdf_file file;
  char kind[80];
  int64_t start; /* ns since 1970 */
  uint64_t seen; /* bytes of blocks in chains: more than the file has is a circle */
  data_group *data_groups;
  size_t n_data_groups;
  group *groups;
  size_t n_groups;
  channel *channels;
  size_t n_channels;
  const channel **by_name; /* [n_channels] */
  size_t *of_column;       /* [columns] channel; SIZE_MAX: the time */
  size_t n_own;            /* columns that are not signals of CAN frames */
  size_t time_column;      /* SIZE_MAX: none */
  int has_bus;
  bramah__can *can; /* what is in the frames; NULL: no DBC file says so */
  int can_wanted;
  int planned;
  cell *cells; /* in order of groups */
  size_t n_cells;
  size_t *waiting; /* [n_waiting] groups with a record: a heap, the earliest on top */
  size_t n_waiting;
  size_t *given; /* [n_given] those of the row given last: their next records are to be taken */
  size_t n_given;
  conversion *conversions;
  size_t table_bytes;
  const double *cleared; /* the caller's values that hold no number but of `cells` */
  int row, is_cut, all_ended;
} mdf_log;

static const char damaged[] =
    "a block is not where it should be, or holds less than it says: the file is damaged";
static const char cut_off[] = "the file ends before the descriptions of its channels: it was cut";

static int takes(const char *path, const unsigned char *head, size_t n)
{
  (void)path;
  const int is_mdf = n >= 8 && (memcmp(head, "MDF     ", 8) == 0 || memcmp(head, "UnFinMF ", 8) == 0);
  return is_mdf && n > 8 && head[8] != '3' && head[8] != '2';
}

/* ---- blocks ---- */

static bramah_status fail(bramah_log_reader *reader, bramah_status status, const char *thing,
                          const char *message)
{
  return bramah__log_fail(reader, status, thing, 0, 0, "%s", message);
}

/* The block of that kind, with at least so many links and bytes of data. */
static bramah_status get_block(bramah_log_reader *reader, uint64_t at, const char *kind, size_t n_links,
                               size_t n_data, block *b)
{
  mdf_log *log = reader->source;
  unsigned char head[MDF_HEAD];
  *b = (block){.at = at};
  if (!bramah__mdf_get(&log->file, at, head, sizeof head))
    return fail(reader, BRAMAH_E_TRUNCATED, NULL, cut_off);
  b->length = bramah__mdf_word(head + 8, 8);
  b->n_links = bramah__mdf_word(head + 16, 8);
  if (memcmp(head, "##", 2) != 0 || memcmp(head + 2, kind, 2) != 0 || b->length < MDF_HEAD ||
      b->n_links < n_links || b->n_links > (b->length - MDF_HEAD) / 8)
    return fail(reader, BRAMAH_E_SYNTAX, NULL, damaged);
  b->data_at = at + MDF_HEAD + 8 * b->n_links;
  const uint64_t has = b->length - MDF_HEAD - 8 * b->n_links;
  b->n_data = has < sizeof b->data ? (size_t)has : sizeof b->data;
  if (b->n_data < n_data) return fail(reader, BRAMAH_E_SYNTAX, NULL, damaged);
  const size_t kept = b->n_links < 8 ? (size_t)b->n_links : 8;
  if (!bramah__mdf_get(&log->file, at + MDF_HEAD, b->links, 8 * kept) ||
      !bramah__mdf_get(&log->file, b->data_at, b->data, b->n_data))
    return fail(reader, BRAMAH_E_TRUNCATED, NULL, cut_off);
  if (at > log->file.last) log->file.last = at;
  return BRAMAH_OK;
}

/* One of a chain, which must come to an end. */
static bramah_status get_link_of_chain(bramah_log_reader *reader, uint64_t at, const char *kind,
                                       size_t n_links, size_t n_data, block *b)
{
  mdf_log *log = reader->source;
  const bramah_status status = get_block(reader, at, kind, n_links, n_data, b);
  if (status) return status;
  log->seen += b->length;
  return log->seen > log->file.size
             ? fail(reader, BRAMAH_E_SYNTAX, NULL, "its blocks lead in a circle: the file is damaged")
             : BRAMAH_OK;
}

static uint64_t link_of(const block *b, size_t i) { return bramah__mdf_word(b->links + 8 * i, 8); }

static uint64_t word(const block *b, size_t at, int n) { return bramah__mdf_word(b->data + at, n); }

/* ---- texts ---- */

/* What XML writes as &lt; and so on. */
static void undo_entities(char *text)
{
  static const char *const names[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&apos;"};
  char *out = text;
  for (const char *in = text; *in;) {
    size_t i = 0;
    while (i < 5 && strncmp(in, names[i], strlen(names[i])) != 0) i++;
    *out++ = i < 5 ? "<>&\"'"[i] : *in;
    in += i < 5 ? strlen(names[i]) : 1;
  }
  *out = '\0';
}

/* A text (TX), or that in the element TX of XML (MD): out [LONGEST_NAME], "" where there is none; what is longer is cut off. */
static void get_text(const mdf_log *log, uint64_t at, char *out)
{
  char text[4096 + 1], *from = text;
  unsigned char head[MDF_HEAD];
  *out = '\0';
  if (!at || !bramah__mdf_get(&log->file, at, head, sizeof head)) return;
  const int is_xml = memcmp(head, "##MD", 4) == 0;
  const uint64_t length = bramah__mdf_word(head + 8, 8), links = 8 * (bramah__mdf_word(head + 16, 8) & 0xff);
  if ((!is_xml && memcmp(head, "##TX", 4) != 0) || length <= MDF_HEAD + links) return;
  size_t n = length - MDF_HEAD - links < 4096 ? (size_t)(length - MDF_HEAD - links) : 4096;
  if (!bramah__mdf_get(&log->file, at + MDF_HEAD + links, text, n)) return;
  text[n] = '\0';
  if (is_xml) {
    char *begin = strstr(text, "<TX"), *end = begin ? strstr(begin, "</TX>") : NULL;
    begin = begin ? strchr(begin, '>') : NULL;
    if (!begin || !end || end < begin) return;
    *end = '\0';
    from = begin + 1;
    undo_entities(from);
  }
  while (*from == ' ' || *from == '\n' || *from == '\r' || *from == '\t') from++;
  n = strlen(from);
  if (n >= LONGEST_NAME) n = LONGEST_NAME - 1;
  while (n && ((unsigned char)from[n] & 0xC0u) == 0x80u) n--; /* no half character */
  while (n && strchr(" \n\r\t", from[n - 1])) n--;
  memcpy(out, from, n);
  out[n] = '\0';
  for (size_t i = 0; i < n; i++)
    if ((unsigned char)out[i] < ' ') out[i] = ' ';
}

/* ---- channels ---- */

static void *grow(void *list, size_t n, size_t size)
{
  return n & (n - 1) ? list : realloc(list, (n ? 2 * n : 1) * size); /* whenever n is a power of two */
}

/* Why the channel is no number; NULL: it is one. */
static const char *flaw(const group *g, const channel *c, unsigned type, unsigned flags)
{
  const field *f = &c->field;
  const int is_float = (f->type & ~1u) == MDF_FLOAT;
  if (type == MDF_CHANNEL_VLSD || (f->type >= 6 && f->type <= 9) || f->type == 17)
    return "is text: a column is a series of numbers";
  if (type > 6 || type == 4 || type == 5) return "is no number: it refers to other data";
  if (flags & CN_ALL_INVALID) return "has no sample: the file says that all are invalid";
  if (f->invalid >= 0 && (uint64_t)f->invalid / 8 >= g->n_bits)
    return "has its bit of validity outside of its record: the file is damaged";
  if (type == MDF_CHANNEL_VIRTUAL || type == MDF_CHANNEL_VIRTUAL_MASTER) return NULL;
  if (f->type == 13 || f->type == 14) return "is a date of CANopen: a column is a series of numbers";
  if (f->type == 15 || f->type == 16) return "is complex: a column is a series of real numbers";
  if (f->type > MDF_FLOAT + 1) return "is a string of bytes: a column is a series of numbers";
  if (is_float && (f->shift || (f->bits != 16 && f->bits != 32 && f->bits != 64)))
    return "is a number of a kind that is not read";
  if (!f->bits || f->shift > 7) return "is an integer of more than 64 bits, or of none";
  if (f->at > g->n_data || f->n > g->n_data - f->at) return "lies outside of its record: the file is damaged";
  return NULL;
}

static bramah_status add_channel(bramah_log_reader *reader, const channel *c, const char *name,
                                 const char *unit)
{
  mdf_log *log = reader->source;
  if (log->n_channels == MOST_CHANNELS)
    return fail(reader, BRAMAH_E_UNSUPPORTED, NULL,
                "it has more than 100000 channels: save those that are needed");
  channel *list = grow(log->channels, log->n_channels, sizeof *list);
  if (!list) return bramah__log_fail_memory(reader);
  log->channels = list;
  list[log->n_channels] = *c;
  channel *own = &list[log->n_channels++];
  own->name = strdup(name);
  own->unit = strdup(unit);
  return own->name && own->unit ? BRAMAH_OK : bramah__log_fail_memory(reader);
}

/* name(1), name(2,3): of element k of an array. */
static void name_element(char *out, size_t room, const char *name, const uint64_t *size, size_t rank,
                         int down, uint64_t k)
{
  uint64_t index[3] = {0, 0, 0};
  for (size_t i = 0; i < rank; i++) {
    const size_t d = down ? i : rank - 1 - i;
    index[d] = k % size[d] + 1;
    k /= size[d];
  }
  size_t used = (size_t)snprintf(out, room, "%s(%d", name, (int)index[0]);
  for (size_t i = 1; i < rank; i++) used += (size_t)snprintf(out + used, room - used, ",%d", (int)index[i]);
  snprintf(out + used, room - used, ")");
}

/* CA: its elements are columns if they lie in the record. */
static bramah_status add_array(bramah_log_reader *reader, uint64_t at, const channel *whole, const char *name,
                               const char *unit, unsigned type, unsigned flags)
{
  const mdf_log *log = reader->source;
  block b;
  bramah_status status = get_block(reader, at, "CA", 1, 16, &b);
  if (status) return status;
  const size_t rank = (size_t)word(&b, 2, 2);
  const int64_t step = (int32_t)(uint32_t)word(&b, 8, 4), bit_step = (int32_t)(uint32_t)word(&b, 12, 4);
  uint64_t size[3] = {1, 1, 1}, n = 1;
  int fits = rank >= 1 && rank <= 3 && word(&b, 1, 1) == 0 && !link_of(&b, 0) && b.n_data >= 16 + 8 * rank;
  for (size_t i = 0; fits && i < rank; i++) {
    size[i] = word(&b, 16 + 8 * i, 8);
    fits = size[i] >= 1 && size[i] <= WIDEST && n * size[i] <= WIDEST;
    n *= size[i];
  }
  channel element = *whole;
  if (!fits) {
    element.why_not = "is an array of more than 256 elements or 3 dimensions, or one of structures: a column "
                      "is a series of numbers";
    return add_channel(reader, &element, name, unit);
  }
  for (uint64_t k = 0; !status && k < n; k++) {
    char each[LONGEST_NAME + 32];
    name_element(each, sizeof each, name, size, rank, word(&b, 4, 4) & CA_INVERSE, k);
    const int64_t place = whole->field.at + (int64_t)k * step;
    element.field.at = place < 0 || place > UINT32_MAX ? UINT32_MAX : (uint32_t)place;
    if (whole->field.invalid >= 0)
      element.field.invalid = whole->field.invalid + (long)((int64_t)k * bit_step);
    if (element.field.invalid < -1) element.field.invalid = LONG_MAX;
    element.why_not = flaw(&log->groups[whole->group], &element, type, flags);
    status = add_channel(reader, &element, each, unit);
  }
  return status;
}

static bramah_status get_channels(bramah_log_reader *reader, uint64_t at, size_t of, const char *prefix,
                                  int depth);

static bramah_status get_channel(bramah_log_reader *reader, const block *b, size_t of, const char *prefix,
                                 int depth)
{
  mdf_log *log = reader->source;
  char own[LONGEST_NAME], unit[LONGEST_NAME], name[LONGEST_NAME], kind[4] = {0};
  const unsigned type = b->data[0], flags = (unsigned)word(b, 12, 4);
  const uint64_t composition = link_of(b, 1);
  uint64_t bits = word(b, 8, 4);
  channel c = {.group = of, .conversion = link_of(b, 4), .bytes = link_of(b, 5), .type = (int)type};
  c.n_bytes = (uint32_t)bits / 8;
  c.field = (field){.at = (uint32_t)word(b, 4, 4), .type = b->data[2], .shift = b->data[3], .invalid = -1};
  if (bits > 64) bits = 0;
  c.field.bits = (uint8_t)bits;
  c.field.n = (uint8_t)((bits + (c.field.shift & 7u) + 7) / 8);
  c.field.is_index = type == MDF_CHANNEL_VIRTUAL || type == MDF_CHANNEL_VIRTUAL_MASTER;
  if (flags & CN_INVALID_BIT) c.field.invalid = (long)word(b, 16, 4);

  /* Members are called by their path, as many programs do themselves. */
  get_text(log, link_of(b, 2), own);
  get_text(log, link_of(b, 6), unit);
  const size_t n = strlen(prefix);
  const int has_prefix = !n || (strncmp(own, prefix, n) == 0 && own[n] == '.');
  snprintf(name, sizeof name, "%.120s%s%.*s", has_prefix ? "" : prefix, has_prefix ? "" : ".",
           has_prefix ? LONGEST_NAME - 1 : 130, own);
  if (c.conversion) {
    block cc;
    const bramah_status status = get_block(reader, c.conversion, "CC", 4, 8, &cc);
    if (status) return status;
    if (!*unit) get_text(log, link_of(&cc, 1), unit);
    if (cc.data[0] == CC_FORMULA)
      c.why_not = "is converted by a formula, which is not evaluated: save the log with physical values";
    if (cc.data[0] == CC_OF_TEXT || cc.data[0] == CC_TEXT_TEXT)
      c.why_not = "is text: a column is a series of numbers";
    if (cc.data[0] > CC_BITS) c.why_not = "has a conversion that is not known";
  }
  if (strlen(unit) > 64) *unit = '\0';
  const char *why = *name ? flaw(&log->groups[of], &c, type, flags) : "has no name";
  if (why) c.why_not = why;
  if (composition && !bramah__mdf_get(&log->file, composition, kind, 4))
    return fail(reader, BRAMAH_E_TRUNCATED, NULL, cut_off);
  if (memcmp(kind, "##CA", 4) == 0) return add_array(reader, composition, &c, name, unit, type, flags);
  if (composition && c.why_not) c.why_not = "is a structure: its members are columns";
  c.is_master = type == MDF_CHANNEL_MASTER || type == MDF_CHANNEL_VIRTUAL_MASTER;
  const int is_time = c.is_master && b->data[1] <= MDF_SYNC_TIME;
  if (is_time && !c.why_not && log->groups[of].master == SIZE_MAX) log->groups[of].master = log->n_channels;
  if (c.is_master && !is_time) c.is_master = 0; /* angle, distance or index: numbers as others */
  const bramah_status status = add_channel(reader, &c, name, unit);
  if (status || !composition) return status;
  return depth < DEEPEST ? get_channels(reader, composition, of, name, depth + 1) : BRAMAH_OK;
}

static bramah_status get_channels(bramah_log_reader *reader, uint64_t at, size_t of, const char *prefix,
                                  int depth)
{
  bramah_status status = BRAMAH_OK;
  while (!status && at) {
    block b;
    status = get_link_of_chain(reader, at, "CN", 8, 20, &b);
    if (status) break;
    status = get_channel(reader, &b, of, prefix, depth);
    at = link_of(&b, 0);
  }
  return status;
}

/* ---- groups ---- */

/* By what it says it is, else by its source, else by its number. */
static char *name_of_group(mdf_log *log, const block *b)
{
  char name[LONGEST_NAME + 32];
  unsigned char head[MDF_HEAD + 8];
  get_text(log, link_of(b, 2), name);
  if (!*name && link_of(b, 3) && bramah__mdf_get(&log->file, link_of(b, 3), head, sizeof head) &&
      memcmp(head, "##SI", 4) == 0)
    get_text(log, bramah__mdf_word(head + MDF_HEAD, 8), name);
  if (!*name) snprintf(name, sizeof name, "g%zu", log->n_groups + 1);
  for (size_t i = 0; i < log->n_groups; i++) {
    if (log->groups[i].is_vlsd || strcmp(log->groups[i].name, name) != 0) continue;
    const size_t n = strlen(name);
    snprintf(name + n, sizeof name - n, "(%zu)", log->n_groups + 1);
    break;
  }
  return strdup(name);
}

static bramah_status get_group(bramah_log_reader *reader, const block *b)
{
  mdf_log *log = reader->source;
  if (log->n_groups == MOST_GROUPS)
    return fail(reader, BRAMAH_E_UNSUPPORTED, NULL,
                "it has more than 20000 groups: save those that are needed");
  group *list = grow(log->groups, log->n_groups, sizeof *list);
  if (!list) return bramah__log_fail_memory(reader);
  log->groups = list;
  const unsigned flags = (unsigned)word(b, 16, 2);
  group *g = &list[log->n_groups];
  *g = (group){.of = log->n_data_groups - 1,
               .at = b->at,
               .id = word(b, 0, 8),
               .cycles = word(b, 8, 8),
               .master = SIZE_MAX};
  g->is_vlsd = flags & CG_VLSD;
  g->n_data = (uint32_t)word(b, 24, 4);
  g->n_bits = (uint32_t)word(b, 28, 4);
  if (flags & CG_REMOTE_MASTER && b->n_links > 6) g->remote = link_of(b, 6);
  if (log->file.unfinished) g->cycles = UINT64_MAX;
  g->name = name_of_group(log, b);
  if (!g->name) return bramah__log_fail_memory(reader);
  log->n_groups++;
  if (g->is_vlsd) return BRAMAH_OK;
  if (g->n_data > LONGEST_RECORD || g->n_bits > LONGEST_RECORD)
    return fail(reader, BRAMAH_E_UNSUPPORTED, g->name,
                "its records have more than 16 MiB: this is no log of a machine, or the file is damaged");
  return get_channels(reader, link_of(b, 1), log->n_groups - 1, "", 0);
}

static bramah_status get_data_group(bramah_log_reader *reader, const block *b)
{
  mdf_log *log = reader->source;
  data_group *list = grow(log->data_groups, log->n_data_groups, sizeof *list);
  if (!list) return bramah__log_fail_memory(reader);
  log->data_groups = list;
  data_group *d = &list[log->n_data_groups++];
  *d = (data_group){.data = link_of(b, 2), .id_size = b->data[0], .first = log->n_groups};
  if (d->id_size > 8 || (d->id_size & (d->id_size - 1))) return fail(reader, BRAMAH_E_SYNTAX, NULL, damaged);
  if (d->data > log->file.last) log->file.last = d->data;
  bramah_status status = BRAMAH_OK;
  for (uint64_t at = link_of(b, 1); !status && at;) {
    block cg;
    status = get_link_of_chain(reader, at, "CG", 6, 32, &cg);
    if (!status) status = get_group(reader, &cg);
    at = link_of(&cg, 0);
  }
  d = &log->data_groups[log->n_data_groups - 1];
  d->n = log->n_groups - d->first;
  if (!status && d->n > 1 && !d->id_size && d->data)
    return fail(reader, BRAMAH_E_SYNTAX, NULL,
                "a data group has several channel groups, but records without numbers: the file is damaged");
  return status;
}

/* The clock of each group: its own, or that of another one. What has none is a column only if there is no other group. */
static void settle_clocks(mdf_log *log)
{
  size_t kept = 0;
  for (size_t i = 0; i < log->n_groups; i++) {
    group *g = &log->groups[i];
    g->clock = i;
    for (size_t k = 0; g->remote && k < log->n_groups; k++)
      if (log->groups[k].at == g->remote && log->groups[k].master != SIZE_MAX &&
          log->data_groups[log->groups[k].of].id_size == 0)
        g->master = log->groups[k].master, g->clock = k;
    kept += g->n_data > 0 && g->cycles > 0 && !g->is_vlsd;
  }
  for (size_t i = 0; i < log->n_channels; i++) {
    channel *c = &log->channels[i];
    const group *g = &log->groups[c->group];
    if (c->why_not || c->is_master) continue;
    if (!g->cycles || !g->n_data)
      c->why_not = "has no samples in this file";
    else if (kept > 1 && g->master == SIZE_MAX)
      c->why_not = "has no time: its group has no master channel of time, where others of the file have";
  }
}

/* ---- CAN frames ---- */

/* Can the bytes of frames be had? They are in the record, or it says at which place of a stream of theirs they are. */
static int finds_bytes(const mdf_log *log, const group *g, bus *u)
{
  const channel *c = &log->channels[u->part[BUS_DATA]];
  unsigned char kind[4];
  u->texts = SIZE_MAX;
  if (c->field.at > g->n_data || u->n_bytes > g->n_data - c->field.at || !u->n_bytes || c->field.shift)
    return 0;
  if (c->type == MDF_CHANNEL_VALUE || c->type == MDF_CHANNEL_MLSD) return 1;
  if (c->type != MDF_CHANNEL_VLSD || u->n_bytes != 8 || !c->bytes) return 0;
  if (!bramah__mdf_get(&log->file, c->bytes, kind, 4)) return 0;
  if (memcmp(kind, "##CG", 4) != 0) return 1;
  for (size_t i = 0; i < log->n_groups; i++)
    if (log->groups[i].at == c->bytes && log->groups[i].is_vlsd && log->groups[i].of == g->of) u->texts = i;
  return u->texts != SIZE_MAX && log->data_groups[g->of].id_size > 0;
}

static bramah_status find_buses(bramah_log_reader *reader)
{
  static const char whole[] = "CAN_DataFrame.", *const parts[BUS_PARTS] = {"ID", "IDE", "DataLength",
                                                                           "BusChannel", "DataBytes"};
  mdf_log *log = reader->source;
  for (size_t i = 0; i < log->n_channels; i++) {
    const channel *c = &log->channels[i];
    group *g = &log->groups[c->group];
    size_t k = 0;
    if (strncmp(c->name, whole, sizeof whole - 1) != 0) continue;
    while (k < BUS_PARTS && strcmp(c->name + sizeof whole - 1, parts[k]) != 0) k++;
    const int is_element = k == BUS_PARTS && strncmp(c->name + sizeof whole - 1, "DataBytes(", 10) == 0;
    if (is_element) k = BUS_DATA;
    if (k == BUS_PARTS || ((k != BUS_DATA || is_element) && c->why_not)) continue;
    if (!g->bus) {
      g->bus = calloc(1, sizeof *g->bus);
      if (!g->bus) return bramah__log_fail_memory(reader);
      for (size_t part = 0; part < BUS_PARTS; part++) g->bus->part[part] = SIZE_MAX;
    }
    bus *u = g->bus;
    if (!is_element || u->part[BUS_DATA] == SIZE_MAX) {
      u->part[k] = i;
      if (k == BUS_DATA) u->n_bytes = c->n_bytes;
    } else if (c->field.at == log->channels[u->part[BUS_DATA]].field.at + u->n_bytes) {
      u->n_bytes += c->n_bytes;
    }
  }
  for (size_t i = 0; i < log->n_groups; i++) {
    group *g = &log->groups[i];
    const int is_bus = g->bus && g->bus->part[BUS_ID] != SIZE_MAX && g->bus->part[BUS_DATA] != SIZE_MAX &&
                       g->master != SIZE_MAX && finds_bytes(log, g, g->bus);
    if (!is_bus) free(g->bus), g->bus = NULL;
    log->has_bus |= is_bus;
  }
  return BRAMAH_OK;
}

/* Signals become columns behind those of the file. */
static bramah_status add_signals(bramah_log_reader *reader)
{
  mdf_log *log = reader->source;
  if (!log->has_bus || !reader->format.dbc || !*reader->format.dbc) return BRAMAH_OK;
  const bramah_status status = bramah__can_begin(reader, &log->can);
  for (size_t i = log->n_own; !status && i < reader->n_columns; i++)
    if (bramah__log_index(reader, reader->columns[i].name) < i)
      return fail(reader, BRAMAH_E_KEY, reader->columns[i].name,
                  "a channel of the file and a signal of the DBC file are called so");
  return status;
}

/* ---- names of columns ---- */

static int by_name(const void *a, const void *b)
{
  const channel *x = *(const channel *const *)a, *y = *(const channel *const *)b;
  const int order = strcmp(x->name, y->name);
  return order ? order : (x > y) - (x < y);
}

/* The first channel of that name in by_name; n_channels if there is none. */
static size_t first_of(const mdf_log *log, const char *name)
{
  size_t low = 0, high = log->n_channels;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (strcmp(log->by_name[middle]->name, name) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static int is_column(const channel *c) { return !c->why_not && !c->is_master; }

/* How many columns have it. */
static size_t count_of(const mdf_log *log, const char *name)
{
  size_t n = 0;
  for (size_t i = first_of(log, name); i < log->n_channels && strcmp(log->by_name[i]->name, name) == 0; i++)
    n += (size_t)is_column(log->by_name[i]);
  return n;
}

/* Of columns that share their name: which one of its group it is, from 1 on; 0: the name is its own. */
static void count_names(const mdf_log *log, size_t *number)
{
  const channel *last = NULL;
  for (size_t i = 0; i < log->n_channels; i++) {
    const channel *c = log->by_name[i];
    if (!is_column(c)) continue;
    if (last && strcmp(last->name, c->name) == 0) {
      size_t *before = &number[last - log->channels];
      if (!*before) *before = 1;
      number[c - log->channels] = last->group == c->group ? *before + 1 : 1;
    }
    last = c;
  }
}

/* group.channel; where the group has several, or where a channel is called so, with a number behind it. */
static bramah_status add_by_full_name(bramah_log_reader *reader, const channel *c, size_t number)
{
  const mdf_log *log = reader->source;
  char name[2 * LONGEST_NAME + 64];
  const int n = snprintf(name, 2 * LONGEST_NAME + 40, "%s.%s", log->groups[c->group].name, c->name);
  const size_t same = first_of(log, name);
  const int is_taken = same < log->n_channels && strcmp(log->by_name[same]->name, name) == 0;
  if (number > 1 || is_taken) snprintf(name + n, 24, "(%zu)", number ? number : 1);
  if (bramah__log_index(reader, name) != SIZE_MAX)
    return fail(reader, BRAMAH_E_KEY, name, "two of its channels are called so: save it with other names");
  return bramah__log_add_column(reader, name, c->unit, 0);
}

static bramah_status name_columns(bramah_log_reader *reader)
{
  mdf_log *log = reader->source;
  bramah_status status = BRAMAH_OK;
  int has_time = 0;
  size_t n = 0;
  for (size_t i = 0; i < log->n_channels; i++) {
    if (!is_column(&log->channels[i])) continue;
    n++;
    has_time |= log->groups[log->channels[i].group].master != SIZE_MAX;
  }
  log->time_column = SIZE_MAX;
  log->of_column = calloc(n + 1, sizeof *log->of_column);
  log->by_name = calloc(log->n_channels + 1, sizeof *log->by_name);
  if (!log->of_column || !log->by_name) return bramah__log_fail_memory(reader);
  for (size_t i = 0; i < log->n_channels; i++) log->by_name[i] = &log->channels[i];
  if (log->n_channels) qsort(log->by_name, log->n_channels, sizeof *log->by_name, by_name);
  size_t *number = calloc(log->n_channels + 1, sizeof *number);
  if (!number) return bramah__log_fail_memory(reader);
  count_names(log, number);
  if (has_time) {
    log->time_column = 0;
    log->of_column[0] = SIZE_MAX;
    status = bramah__log_add_column(reader, "t", "s", 0);
    if (!status) reader->units[0].may_be_date = log->start != 0;
  }
  for (size_t i = 0; !status && i < log->n_channels; i++) {
    const channel *c = &log->channels[i];
    if (!is_column(c)) continue;
    const int is_short = !number[i] && !(has_time && strcmp(c->name, "t") == 0);
    log->of_column[reader->n_columns] = i;
    status = is_short ? bramah__log_add_column(reader, c->name, c->unit, 0)
                      : add_by_full_name(reader, c, number[i]);
  }
  free(number);
  if (status || n) return status;
  fail(reader, BRAMAH_E_EMPTY, NULL, "the file holds no series of numbers");
  bramah_diag *diag = &reader->failure;
  for (size_t i = 0, said = 0; i < log->n_channels && said < 3; i++) {
    const channel *c = &log->channels[i];
    const size_t used = strlen(diag->message);
    if (c->why_not)
      snprintf(diag->message + used, sizeof diag->message - used, "%s '%.60s' %s", said++ ? ";" : ":",
               c->name, c->why_not);
  }
  return BRAMAH_E_EMPTY;
}

/* ---- opening ---- */

static bramah_status get_identification(bramah_log_reader *reader)
{
  mdf_log *log = reader->source;
  unsigned char id[MDF_ID_SIZE];
  struct stat about;
  if (fstat(reader->fd, &about) != 0 || !S_ISREG(about.st_mode))
    return fail(reader, BRAMAH_E_FILE, NULL,
                "this is no file that can be read at any place, as MDF needs it");
  log->file = (bramah__mdf_file){.fd = reader->fd, .size = (uint64_t)about.st_size};
  if (!bramah__mdf_get(&log->file, 0, id, sizeof id)) return fail(reader, BRAMAH_E_TRUNCATED, NULL, cut_off);
  if (memcmp(id, "MDF     ", 8) != 0 && memcmp(id, "UnFinMF ", 8) != 0)
    return fail(reader, BRAMAH_E_SYNTAX, NULL,
                "this is no MDF file, whatever its name says: it does not begin as one");
  const int version = (int)bramah__mdf_word(id + 28, 2), unfinished = memcmp(id, "UnFinMF ", 8) == 0;
  if (version < 400 || version >= 500)
    return bramah__log_fail(reader, BRAMAH_E_UNSUPPORTED, NULL, 0, 0,
                            "this is an MDF file of version %d.%02d, versions 4 are read: save it as MDF "
                            "4.10 (all current tools do), or as CSV",
                            version / 100, version % 100);
  if (unfinished) log->file.unfinished = (int)bramah__mdf_word(id + MDF_UNFINISHED_AT, 2) | MDF_NO_CYCLES;
  snprintf(log->kind, sizeof log->kind, "MDF file of version %d.%02d%s", version / 100, version % 100,
           unfinished ? ", which was not finished" : "");
  return BRAMAH_OK;
}

static bramah_status open_mdf(bramah_log_reader *reader)
{
  mdf_log *log = reader->source = calloc(1, sizeof *log);
  if (!log) return bramah__log_fail_memory(reader);
  reader->format.delimiter = ',';
  reader->format.decimal = '.';
  reader->format.no_header = reader->format.skip = 0;
  reader->format.units = BRAMAH_LOG_UNITS_HEADER;
  block hd;
  bramah_status status = get_identification(reader);
  if (!status) status = get_block(reader, MDF_ID_SIZE, "HD", 6, 8, &hd);
  if (status) return status;
  log->start = word(&hd, 0, 8) < INT64_MAX / 2 ? (int64_t)word(&hd, 0, 8) : 0;
  for (uint64_t at = link_of(&hd, 0); !status && at;) {
    block dg;
    status = get_link_of_chain(reader, at, "DG", 4, 1, &dg);
    if (!status) status = get_data_group(reader, &dg);
    at = link_of(&dg, 0);
  }
  if (status) return status;
  settle_clocks(log);
  status = find_buses(reader);
  if (!status) status = name_columns(reader);
  log->n_own = reader->n_columns;
  return status ? status : add_signals(reader);
}

static void close_mdf(bramah_log_reader *reader)
{
  mdf_log *log = reader->source;
  if (!log) return;
  for (size_t i = 0; i < log->n_groups; i++) {
    free(log->groups[i].name);
    bramah__mdf_data_end(&log->groups[i].data);
    bramah__mdf_data_end(&log->groups[i].bits);
    bramah__mdf_data_end(&log->groups[i].clocks);
    if (log->groups[i].bus) bramah__mdf_data_end(&log->groups[i].bus->bytes);
    free(log->groups[i].bus);
  }
  for (size_t i = 0; i < log->n_channels; i++) {
    free(log->channels[i].name);
    free(log->channels[i].unit);
  }
  for (conversion *c = log->conversions, *next; c; c = next) {
    next = c->next;
    free(c->value);
    free(c->inner);
    free(c);
  }
  bramah__can_free(log->can);
  free(log->data_groups);
  free(log->groups);
  free(log->channels);
  free(log->by_name);
  free(log->of_column);
  free(log->cells);
  free(log->waiting);
  free(log->given);
  free(log);
}

/* ---- conversions ---- */

static bramah_status get_conversion(bramah_log_reader *reader, uint64_t at, int depth,
                                    const conversion **out);

/* What each row of a table of texts leads to: another conversion, or a text. */
static bramah_status get_inner(bramah_log_reader *reader, const block *b, conversion *c, int depth)
{
  mdf_log *log = reader->source;
  bramah_status status = BRAMAH_OK;
  const size_t n = (size_t)(b->n_links - 4 < word(b, 4, 2) ? b->n_links - 4 : word(b, 4, 2));
  c->inner = calloc(n + 1, sizeof *c->inner);
  if (!c->inner) return bramah__log_fail_memory(reader);
  log->table_bytes += n * sizeof *c->inner;
  c->n_inner = n;
  int any = 0;
  for (size_t i = 0; !status && i < n; i++) {
    unsigned char link[8], kind[4];
    if (!bramah__mdf_get(&log->file, b->at + MDF_HEAD + 8 * (4 + i), link, 8))
      return fail(reader, BRAMAH_E_TRUNCATED, NULL, cut_off);
    const uint64_t to = bramah__mdf_word(link, 8);
    if (!to || !bramah__mdf_get(&log->file, to, kind, 4) || memcmp(kind, "##CC", 4) != 0) continue;
    const conversion *inner = NULL;
    status = get_conversion(reader, to, depth + 1, &inner);
    c->inner[i] = (conversion *)(uintptr_t)inner;
    any = 1;
  }
  if (!any) c->type = 0; /* texts for all: the number that stands for them */
  return status;
}

/* Kept with the log; *out NULL: none, a number is taken as it is. */
static bramah_status get_conversion(bramah_log_reader *reader, uint64_t at, int depth, const conversion **out)
{
  static const size_t least[] = {0, 2, 6, 0, 2, 2, 4, 1, 2};
  static const size_t width[] = {0, 0, 0, 0, 2, 2, 3, 1, 2};
  mdf_log *log = reader->source;
  block b;
  *out = NULL;
  if (!at) return BRAMAH_OK;
  bramah_status status = get_block(reader, at, "CC", 4, 24, &b);
  if (status) return status;
  const int type = b.data[0];
  const size_t n = (size_t)word(&b, 6, 2);
  if (!type || type == CC_BITS) return BRAMAH_OK;
  conversion *c = calloc(1, sizeof *c);
  if (!c) return bramah__log_fail_memory(reader);
  c->next = log->conversions;
  log->conversions = c;
  c->type = type;
  *out = c;
  log->table_bytes += sizeof *c + 8 * n;
  if (type > CC_RANGE_TEXT || depth > MOST_NESTED || log->table_bytes > MOST_TABLES)
    return fail(reader, BRAMAH_E_UNSUPPORTED, NULL,
                "a conversion of a channel is of a kind that is not read, in too many others, or a table "
                "that is too large");
  c->n = width[type] ? n / width[type] : n;
  c->value = malloc(8 * n + 8);
  if (!c->value) return bramah__log_fail_memory(reader);
  if (n < least[type] || b.length - (b.data_at - at) < 24 + 8 * (uint64_t)n)
    return fail(reader, BRAMAH_E_SYNTAX, NULL, damaged);
  if (!bramah__mdf_get(&log->file, b.data_at + 24, c->value, 8 * n))
    return fail(reader, BRAMAH_E_TRUNCATED, NULL, cut_off);
  for (size_t i = 0; i < n; i++) c->value[i] = bramah__mdf_double((const unsigned char *)(c->value + i));
  c->value[n] = NAN;
  return type >= CC_TEXT ? get_inner(reader, &b, c, depth) : BRAMAH_OK;
}

/* The last row of a table whose key (the first of `width` numbers) is not above x; 0 if all are. */
static size_t row_at(const conversion *c, size_t width, double x)
{
  size_t low = 0, high = c->n;
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    if (c->value[width * middle] <= x)
      low = middle;
    else
      high = middle;
  }
  return low;
}

static double convert(const conversion *c, double x, int whole);

/* Texts and, in between, conversions: a text is no number. Behind the last row stands what holds elsewhere. */
static double convert_text(const conversion *c, double x, int whole)
{
  size_t i = 0;
  const double *v = c->value;
  if (c->type == CC_TEXT)
    while (i < c->n && v[i] != x) i++;
  else
    while (i < c->n &&
           !(v[2 * i] <= x && (whole ? x <= v[2 * i + 1] : x < v[2 * i + 1] || v[2 * i] == v[2 * i + 1])))
      i++;
  const conversion *inner = i < c->n_inner ? c->inner[i] : NULL;
  return inner ? convert(inner, x, whole) : NAN;
}

/* whole 1: of an integer, where ranges include their ends. */
static double convert(const conversion *c, double x, int whole)
{
  const double *v = c->value;
  size_t i;
  switch (c->type) {
  case CC_LINEAR:
    return v[0] + v[1] * x;
  case CC_RATIONAL:
    return ((v[0] * x + v[1]) * x + v[2]) / ((v[3] * x + v[4]) * x + v[5]);
  case CC_BETWEEN:
  case CC_NEAREST:
    if (!(x > v[0])) return isnan(x) ? x : v[1];
    if (x >= v[2 * c->n - 2]) return v[2 * c->n - 1];
    i = 2 * row_at(c, 2, x);
    if (c->type == CC_NEAREST) return x - v[i] > v[i + 2] - x ? v[i + 3] : v[i + 1];
    return v[i + 1] + (x - v[i]) / (v[i + 2] - v[i]) * (v[i + 3] - v[i + 1]);
  case CC_RANGES:
    for (i = 0; i < c->n; i++)
      if (v[3 * i] <= x && (whole ? x <= v[3 * i + 1] : x < v[3 * i + 1])) return v[3 * i + 2];
    return v[3 * c->n];
  case CC_TEXT:
  case CC_RANGE_TEXT:
    return convert_text(c, x, whole);
  default:
    return x;
  }
}

/* ---- numbers of a record ---- */

/* [-2^63, 2^64) of at most nine bytes. */
static uint64_t get_bits(const field *f, const unsigned char *record)
{
  const unsigned char *b = record + f->at;
  unsigned char turned[9];
  if (f->type & 1) {
    for (int i = 0; i < f->n; i++) turned[i] = b[f->n - 1 - i];
    b = turned;
  }
  uint64_t x = bramah__mdf_word(b, f->n < 8 ? f->n : 8) >> f->shift;
  if (f->n > 8) x |= (uint64_t)b[8] << (64 - f->shift);
  return f->bits < 64 ? x & ((UINT64_C(1) << f->bits) - 1) : x;
}

static double of_half(uint64_t bits)
{
  const int exponent = (int)(bits >> 10 & 31);
  const double fraction = (double)(bits & 1023), sign = bits & 0x8000 ? -1.0 : 1.0;
  if (exponent == 31) return fraction > 0.0 ? NAN : sign * INFINITY;
  return sign * (exponent ? ldexp(1024.0 + fraction, exponent - 25) : ldexp(fraction, -24));
}

static int is_whole(const field *f) { return f->is_index || f->type < MDF_FLOAT; }

/* Sign and magnitude as 64 bits of two's complement; `wide` 1: unsigned ones beyond. */
static double number_of(const field *f, const unsigned char *record, uint64_t row)
{
  if (f->is_index) return (double)row;
  const uint64_t x = get_bits(f, record);
  if ((f->type & ~1u) == MDF_SIGNED)
    return (double)(int64_t)(f->bits < 64 && x >> (f->bits - 1) ? x | UINT64_MAX << f->bits : x);
  if (f->type < MDF_FLOAT) return (double)x;
  if (f->bits == 16) return of_half(x);
  double value;
  float single;
  const uint32_t low = (uint32_t)x;
  memcpy(&value, &x, sizeof value);
  memcpy(&single, &low, sizeof single);
  return f->bits == 64 ? value : (double)single;
}

static int is_invalid(const field *f, const unsigned char *bits)
{
  return f->invalid >= 0 && bits && bits[f->invalid / 8] >> (f->invalid % 8) & 1;
}

/* Times of whole counts are exact where a count is a whole number of ns, as 1e-6 s is. */
static void set_time(group *g, const field *f, const unsigned char *record)
{
  const double raw = number_of(f, record, g->row);
  const conversion *c = f->conversion;
  const double per_count = c && c->type == CC_LINEAR ? c->value[1] * 1e9 : 1e9,
               offset = c && c->type == CC_LINEAR ? c->value[0] * 1e9 : 0.0;
  g->seconds = c ? convert(c, raw, is_whole(f)) : raw;
  g->time_status = !isfinite(g->seconds)    ? BRAMAH_E_NOT_FINITE
                   : fabs(g->seconds) < 9e9 ? BRAMAH_OK
                                            : BRAMAH_E_VALUE;
  if (g->time_status) return;
  const double nearest = nearbyint(per_count);
  const int exact = is_whole(f) && (!c || c->type == CC_LINEAR) &&
                    fabs(per_count - nearest) < 1e-9 * nearest && nearest < 9e18 &&
                    fabs(raw) * nearest < 9e18 && fabs(offset) < 9e18;
  if (!exact) {
    g->time = (int64_t)llroundl((long double)g->seconds * 1e9L);
    return;
  }
  const uint64_t bits = f->is_index ? g->row : get_bits(f, record);
  const int negative = raw < 0.0;
  const uint64_t magnitude =
      negative ? (uint64_t) - (int64_t)(f->bits < 64 ? bits | UINT64_MAX << f->bits : bits) : bits;
  const int64_t count = (int64_t)(magnitude * (uint64_t)nearest); /* within 9e18, as the time is */
  g->time = (negative ? -count : count) + llround(offset);
}

/* ---- records ---- */

static bramah_status fail_data(bramah_log_reader *reader, const group *g, const bramah__mdf_data *data)
{
  return bramah__log_fail(reader, data->status, g->name, g->row < INT_MAX ? (int)g->row + 1 : 0, 0,
                          "the data of this group: %s", data->wrong);
}

/* Pass what is not of the group, up to its next record. Returns that with its number before it; NULL: there is none. */
static const unsigned char *find_record(bramah_log_reader *reader, group *g, const data_group *d,
                                        bramah_status *status)
{
  mdf_log *log = reader->source;
  const size_t id_size = (size_t)d->id_size;
  for (;;) {
    const unsigned char *at = bramah__mdf_data_look(&g->data, id_size);
    if (!at) return NULL;
    const uint64_t id = bramah__mdf_word(at, d->id_size);
    const uint64_t likely = id - log->groups[d->first].id; /* most count them up */
    const group *of =
        likely < d->n && log->groups[d->first + likely].id == id ? &log->groups[d->first + likely] : NULL;
    for (size_t i = d->first; !of && i < d->first + d->n; i++)
      if (log->groups[i].id == id) of = &log->groups[i];
    if (of == g && g->is_vlsd) return bramah__mdf_data_look(&g->data, id_size + 4);
    if (of == g) return bramah__mdf_data_look(&g->data, id_size + g->n_data + g->n_bits);
    if (!of) {
      /* Whoever was cut off while it wrote may leave anything. */
      if (log->file.unfinished) return g->data.is_cut = 1, NULL;
      *status = bramah__log_fail(reader, BRAMAH_E_SYNTAX, g->name, g->row < INT_MAX ? (int)g->row + 1 : 0, 0,
                                 "a record has the number %llu, which no group has: the file is damaged",
                                 (unsigned long long)id);
      return NULL;
    }
    uint64_t length = (uint64_t)of->n_data + of->n_bits;
    if (of->is_vlsd) {
      at = bramah__mdf_data_look(&g->data, id_size + 4);
      if (!at) return NULL;
      length = 4 + bramah__mdf_word(at + id_size, 4);
    }
    if (!bramah__mdf_data_pass(&g->data, id_size + length)) return NULL;
  }
}

/* The next record of the group, if there is one. */
static bramah_status advance(bramah_log_reader *reader, group *g)
{
  mdf_log *log = reader->source;
  const data_group *d = &log->data_groups[g->of];
  bramah_status status = BRAMAH_OK;
  const int is_first = !g->record;
  const unsigned char *at = NULL;
  g->has_row = 0;
  if (!is_first) {
    bramah__mdf_data_pass(&g->data, g->held);
    if (g->bits.file) bramah__mdf_data_pass(&g->bits, g->n_bits);
    if (g->clocks.file) bramah__mdf_data_pass(&g->clocks, g->clock_held);
    g->row++;
  }
  if (g->row == g->cycles) return BRAMAH_OK;
  const int apart = g->bits.file != NULL;
  const size_t n = g->n_data + (apart ? 0 : g->n_bits);
  at = d->id_size ? find_record(reader, g, d, &status) : bramah__mdf_data_look(&g->data, n);
  if (status) return status;
  const unsigned char *bits = at && apart ? bramah__mdf_data_look(&g->bits, g->n_bits) : NULL;
  const unsigned char *clock = at && g->clocks.file ? bramah__mdf_data_look(&g->clocks, g->clock_held) : at;
  const bramah__mdf_data *const all[] = {&g->data, &g->bits, &g->clocks};
  for (size_t i = 0; i < 3; i++) {
    if (all[i]->wrong) return fail_data(reader, g, all[i]);
    if (all[i]->file && !at) log->is_cut |= all[i]->is_cut || all[i]->end > all[i]->begin;
  }
  if (!at || !clock || (apart && !bits && g->bits.is_cut)) {
    log->is_cut |= g->cycles != UINT64_MAX;
    return BRAMAH_OK;
  }
  g->held = (size_t)d->id_size + n;
  g->record = at + d->id_size;
  g->invalid = apart ? bits : g->n_bits ? g->record + g->n_data : NULL;
  g->clock_record = g->clocks.file ? clock : g->record;
  g->has_row = 1;
  if (g->master == SIZE_MAX) return BRAMAH_OK;
  const field *f = &log->channels[g->master].field;
  if (!g->clocks.file && is_invalid(f, g->invalid)) {
    g->seconds = NAN;
    g->time_status = BRAMAH_E_EMPTY;
  } else {
    set_time(g, f, g->clock_record);
  }
  return BRAMAH_OK;
}

/* ---- what is wanted ---- */

/* Are the bits of validity in blocks of their own? */
static int is_of_values(const mdf_log *log, uint64_t at)
{
  unsigned char b[MDF_HEAD + 8];
  for (int deep = 0; deep < 2 && at && bramah__mdf_get(&log->file, at, b, sizeof b); deep++) {
    if (memcmp(b, "##HL", 4) != 0)
      return memcmp(b, "##LD", 4) == 0 || memcmp(b, "##DV", 4) == 0 ||
             (memcmp(b, "##DZ", 4) == 0 && memcmp(b + MDF_HEAD, "DV", 2) == 0);
    at = bramah__mdf_word(b + MDF_HEAD, 8);
  }
  return 0;
}

static bramah_status use_group(bramah_log_reader *reader, size_t i)
{
  mdf_log *log = reader->source;
  group *g = &log->groups[i];
  bramah_status status = BRAMAH_OK;
  if (g->used) return status;
  g->used = 1;
  g->first_cell = log->n_cells;
  log->given[log->n_given++] = i;
  const uint64_t data = log->data_groups[g->of].data;
  bramah__mdf_data_begin(&g->data, &log->file, data, 0);
  if (g->n_bits && is_of_values(log, data)) bramah__mdf_data_begin(&g->bits, &log->file, data, 1);
  if (g->clock != i) {
    const group *clock = &log->groups[g->clock];
    const uint64_t clocks = log->data_groups[clock->of].data;
    bramah__mdf_data_begin(&g->clocks, &log->file, clocks, 0);
    g->clock_held = clock->n_data + (is_of_values(log, clocks) ? 0 : clock->n_bits);
  }
  if (g->master == SIZE_MAX) return status;
  channel *master = &log->channels[g->master];
  double factor = 1.0;
  bramah_dimension dimension;
  bramah_diag ignored;
  if (*master->unit && !bramah_unit_parse(master->unit, &factor, &dimension, &ignored) && factor != 1.0)
    return bramah__log_fail(
        reader, BRAMAH_E_UNIT, master->name, 0, 0,
        "this clock is in %s, where MDF files have seconds: write the file anew with a clock in s",
        master->unit);
  if (!master->field.conversion)
    status = get_conversion(reader, master->conversion, 0, &master->field.conversion);
  return status;
}

static bramah_status plan_buses(bramah_log_reader *reader)
{
  mdf_log *log = reader->source;
  bramah_status status = BRAMAH_OK;
  log->can_wanted = bramah__can_plan(log->can);
  for (size_t i = 0; !status && log->can_wanted && i < log->n_groups; i++) {
    const group *g = &log->groups[i];
    if (!g->bus) continue;
    status = use_group(reader, i);
    if (g->bus->texts != SIZE_MAX) {
      if (log->groups[g->bus->texts].used) return fail(reader, BRAMAH_E_SYNTAX, g->name, damaged);
      log->groups[g->bus->texts].used = 1;
      bramah__mdf_data_begin(&log->groups[g->bus->texts].data, &log->file, log->data_groups[g->of].data, 0);
    }
    if (g->bus->texts == SIZE_MAX && log->channels[g->bus->part[BUS_DATA]].type == MDF_CHANNEL_VLSD)
      bramah__mdf_data_begin(&g->bus->bytes, &log->file, log->channels[g->bus->part[BUS_DATA]].bytes, 0);
  }
  return status;
}

/* Once all columns that nobody wants are marked. Of a group without columns that are wanted nothing is read. */
static bramah_status plan(bramah_log_reader *reader)
{
  mdf_log *log = reader->source;
  bramah_status status = BRAMAH_OK;
  int wanted = 0;
  log->planned = 1;
  log->cells = calloc(reader->n_columns + 1, sizeof *log->cells);
  log->waiting = calloc(log->n_groups + 1, sizeof *log->waiting);
  log->given = calloc(log->n_groups + 1, sizeof *log->given);
  if (!log->cells || !log->waiting || !log->given) return bramah__log_fail_memory(reader);
  for (size_t i = 0; i < reader->n_columns; i++)
    wanted |= i != log->time_column && !reader->columns[i].ignored;
  for (size_t i = 0; !status && i < log->n_own; i++) {
    if (i == log->time_column || (wanted && reader->columns[i].ignored)) continue;
    channel *c = &log->channels[log->of_column[i]];
    status = use_group(reader, c->group);
    if (!status && wanted) status = get_conversion(reader, c->conversion, 0, &c->field.conversion);
    if (!wanted) continue;
    log->cells[log->n_cells++] = (cell){.column = i, .field = c->field};
    log->groups[c->group].n_cells++;
  }
  if (!status && wanted && log->can) status = plan_buses(reader);
  reader->is_sparse = log->n_given > 1 || log->can_wanted;
  const size_t n_data = 3 * log->n_given + 1;
  log->file.piece = n_data < ALL_PIECES / PIECE         ? PIECE
                    : n_data < ALL_PIECES / LEAST_PIECE ? ALL_PIECES / n_data
                                                        : LEAST_PIECE;
  return status;
}

/* ---- rows ---- */

static void put_time(bramah_log_reader *reader, const group *g)
{
  const mdf_log *log = reader->source;
  const size_t column = log->time_column;
  const int is_clock = column == reader->time_column, is_date = is_clock && reader->clock.iso;
  const int is_seconds = is_clock && reader->clock.scale == 1000000000 && !reader->clock.whole;
  if (g->time_status == BRAMAH_E_EMPTY || isnan(g->seconds)) return;
  bramah_status status = g->time_status;
  double value = g->seconds;
  if (!status && is_date && g->time > INT64_C(9000000000000000000) - log->start) status = BRAMAH_E_VALUE;
  if (!status && is_date)
    reader->time = log->start + g->time, value = 1e-9 * (double)reader->time;
  else if (!status && (is_seconds || !is_clock))
    value = (double)g->time / 1e9;
  if (!status && is_seconds && !is_date) reader->time = g->time;
  if (!status && is_clock && !is_seconds && !is_date) {
    status = bramah__log_to_clock(reader, value, &reader->time);
    value = (double)reader->time / (double)reader->clock.scale;
  }
  reader->present[column] = 1;
  reader->values[column] = value;
  if (status) bramah__log_bad_number(reader, column, status, g->seconds);
}

static void put_cell(bramah_log_reader *reader, const cell *c, const group *g)
{
  const field *f = &c->field;
  if (is_invalid(f, g->invalid)) return;
  double value = number_of(f, g->record, g->row);
  if (f->conversion) value = convert(f->conversion, value, is_whole(f));
  if (!bramah__log_is_no_sample(reader, value)) bramah__log_put_number(reader, c->column, value);
}

/* No number of a row before. */
static void clear_row(bramah_log_reader *reader)
{
  mdf_log *log = reader->source;
  const size_t n = log->cleared == reader->values ? 0 : reader->n_columns;
  for (size_t i = 0; i < n; i++) {
    reader->values[i] = NAN;
    reader->present[i] = 0;
  }
  for (size_t i = 0; i < log->n_given; i++) {
    const group *g = &log->groups[log->given[i]];
    for (size_t k = g->first_cell; k < g->first_cell + g->n_cells; k++) {
      reader->values[log->cells[k].column] = NAN;
      reader->present[log->cells[k].column] = 0;
    }
  }
  if (log->time_column != SIZE_MAX) {
    reader->values[log->time_column] = NAN;
    reader->present[log->time_column] = 0;
  }
  if (log->can) bramah__can_clear(log->can);
  log->cleared = reader->values;
}

static int has_time(const group *g) { return g->master != SIZE_MAX && !g->time_status; }

/* Rows of the earliest time; one without a time comes at once and alone, frames alone, too. Of the same time in the order of the file. */
static int is_before(const mdf_log *log, size_t a, size_t b)
{
  const group *x = &log->groups[a], *y = &log->groups[b];
  if (has_time(x) != has_time(y)) return has_time(y);
  return has_time(x) && x->time != y->time ? x->time < y->time : a < b;
}

static void add_waiting(mdf_log *log, size_t g)
{
  size_t *heap = log->waiting, i = log->n_waiting++;
  for (; i && is_before(log, g, heap[(i - 1) / 2]); i = (i - 1) / 2) heap[i] = heap[(i - 1) / 2];
  heap[i] = g;
}

static void give_earliest(mdf_log *log)
{
  size_t *heap = log->waiting, i = 0;
  log->given[log->n_given++] = heap[0];
  const size_t n = --log->n_waiting, g = heap[n];
  for (size_t k; (k = 2 * i + 1) < n; i = k) {
    if (k + 1 < n && is_before(log, heap[k + 1], heap[k])) k++;
    if (!is_before(log, heap[k], g)) break;
    heap[i] = heap[k];
  }
  heap[i] = g;
}

/* The groups of the next row; n_given 0: there is none. */
static bramah_status find_row(bramah_log_reader *reader)
{
  mdf_log *log = reader->source;
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; !status && i < log->n_given; i++) {
    group *g = &log->groups[log->given[i]];
    status = advance(reader, g);
    if (!status && g->has_row) add_waiting(log, log->given[i]);
  }
  log->n_given = 0;
  if (status || !log->n_waiting) return status;
  const group *first = &log->groups[log->waiting[0]], *next;
  do {
    give_earliest(log);
    next = log->n_waiting ? &log->groups[log->waiting[0]] : NULL;
  } while (next && !first->bus && !next->bus && has_time(first) && has_time(next) &&
           next->time == first->time);
  return status;
}

/* Bytes of any length of the present frame, *n of them, at the place that the record says, or the next ones where who wrote the file
 * had no time to say so. NULL: there are none, or a failure. */
static const unsigned char *get_bytes(bramah_log_reader *reader, group *g, uint64_t *n, bramah_status *status)
{
  mdf_log *log = reader->source;
  bus *u = g->bus;
  const channel *c = &log->channels[u->part[BUS_DATA]];
  *n = u->n_bytes;
  if (c->type != MDF_CHANNEL_VLSD) return g->record + c->field.at;
  const data_group *d = &log->data_groups[g->of];
  group *texts = u->texts == SIZE_MAX ? NULL : &log->groups[u->texts];
  bramah__mdf_data *from = texts ? &texts->data : &u->bytes;
  const size_t head = (texts ? (size_t)d->id_size : 0) + 4;
  const int in_order = texts && log->file.unfinished & MDF_NO_PLACES;
  const uint64_t place = in_order ? u->next : bramah__mdf_word(g->record + c->field.at, 8);
  const unsigned char *at = NULL;
  for (;;) {
    if (!u->is_there) {
      at = texts ? find_record(reader, texts, d, status) : bramah__mdf_data_look(from, head);
      if (!at) break;
      u->length = bramah__mdf_word(at + head - 4, 4);
      u->is_there = 1;
    }
    if (u->at >= place) break;
    if (!bramah__mdf_data_pass(from, head + u->length)) break;
    u->at += 4 + u->length;
    u->is_there = 0;
  }
  if (*status) return NULL;
  if (u->is_there && u->at != place) {
    *status =
        fail(reader, BRAMAH_E_UNSUPPORTED, g->name,
             "the bytes of its CAN frames do not follow each other as the frames do: save the file again");
    return NULL;
  }
  *n = u->length < BRAMAH__CAN_BYTES ? u->length : BRAMAH__CAN_BYTES;
  u->next = u->at + 4 + u->length;
  at = u->is_there ? bramah__mdf_data_look(from, head + (size_t)*n) : NULL;
  if (from->wrong) *status = fail_data(reader, g, from);
  log->is_cut |= !at;
  return at ? at + head : NULL;
}

/* The signals of the present frame; *any 0: none is wanted. */
static bramah_status put_frame(bramah_log_reader *reader, group *g, int *any)
{
  mdf_log *log = reader->source;
  const bus *u = g->bus;
  bramah_status status = BRAMAH_OK;
  uint64_t part[BUS_PARTS] = {0}, n;
  bramah__can_frame f;
  *any = 0;
  for (size_t k = 0; k < BUS_DATA; k++)
    if (u->part[k] != SIZE_MAX) part[k] = get_bits(&log->channels[u->part[k]].field, g->record);
  const unsigned char *bytes = get_bytes(reader, g, &n, &status);
  if (!bytes || !has_time(g) || is_invalid(&log->channels[u->part[BUS_ID]].field, g->invalid) ||
      is_invalid(&log->channels[u->part[BUS_DATA]].field, g->invalid))
    return status;
  f.time_ns = g->time;
  f.id = (uint32_t)(part[BUS_ID] & 0x1fffffff);
  f.is_extended =
      u->part[BUS_IDE] != SIZE_MAX ? (int)(part[BUS_IDE] & 1) : part[BUS_ID] >> 31 || f.id > 0x7ff;
  if (u->part[BUS_LENGTH] != SIZE_MAX && part[BUS_LENGTH] < n) n = part[BUS_LENGTH];
  f.n = n < BRAMAH__CAN_BYTES ? (unsigned)n : BRAMAH__CAN_BYTES;
  memcpy(f.data, bytes, f.n);
  snprintf(f.channel, sizeof f.channel, u->part[BUS_CHANNEL] == SIZE_MAX ? "CAN" : "%u",
           (unsigned)part[BUS_CHANNEL]);
  return bramah__can_put(log->can, &f, log->row, any);
}

/* Cells of the groups that are given; *any 0: of a frame none is wanted. */
static bramah_status put_row(bramah_log_reader *reader, int *any)
{
  mdf_log *log = reader->source;
  group *first = &log->groups[log->given[0]];
  *any = 1;
  if (log->row < INT_MAX) log->row++;
  reader->row_line = log->row;
  reader->row_done = 1;
  if (log->time_column != SIZE_MAX && !reader->columns[log->time_column].ignored) put_time(reader, first);
  for (size_t i = 0; i < log->n_given; i++) {
    const group *g = &log->groups[log->given[i]];
    for (size_t k = g->first_cell; k < g->first_cell + g->n_cells; k++) put_cell(reader, &log->cells[k], g);
  }
  if (!first->bus || !log->can_wanted) return BRAMAH_OK;
  reader->row_done = 0;
  const bramah_status status = put_frame(reader, first, any);
  *any |= first->n_cells > 0;
  reader->row_done |= !status && *any;
  return status;
}

static bramah_status next_row(bramah_log_reader *reader, int *end)
{
  mdf_log *log = reader->source;
  bramah_status status = log->planned ? BRAMAH_OK : plan(reader);
  reader->row_done = 0; /* what is wrong with the file is no fault of a row */
  for (int any = 0; !status && !any;) {
    clear_row(reader);
    status = find_row(reader);
    *end = !status && !log->n_given;
    log->all_ended |= *end;
    if (status || *end) break;
    status = put_row(reader, &any);
  }
  return status;
}

/* ---- what is known ---- */

static size_t stand_in(const bramah_log_reader *reader, const char *name)
{
  const mdf_log *log = reader->source;
  if (log->time_column != SIZE_MAX && strcasecmp(name, "time") == 0) return log->time_column;
  for (size_t i = first_of(log, name); i < log->n_channels && strcmp(log->by_name[i]->name, name) == 0; i++)
    if (log->by_name[i]->is_master) return log->time_column;
  for (size_t i = 0; i < log->n_own; i++) {
    if (i == log->time_column) continue;
    const channel *c = &log->channels[log->of_column[i]];
    const char *of = log->groups[c->group].name;
    const size_t n = strlen(of);
    if (strncmp(name, of, n) == 0 && name[n] == '.' && strcmp(name + n + 1, c->name) == 0) return i;
  }
  return log->can ? bramah__can_stand_in(log->can, name) : SIZE_MAX;
}

static const char *why_not(const bramah_log_reader *reader, const char *name)
{
  const mdf_log *log = reader->source;
  const size_t i = first_of(log, name);
  if (i < log->n_channels && strcmp(log->by_name[i]->name, name) == 0)
    return count_of(log, name) > 1 ? "is in several groups of the file: say which, as GROUP.CHANNEL"
                                   : log->by_name[i]->why_not;
  for (size_t k = 0; k < log->n_channels; k++) {
    const channel *c = &log->channels[k];
    const char *of = log->groups[c->group].name;
    const size_t n = strlen(of);
    if (strncmp(name, of, n) == 0 && name[n] == '.' && strcmp(name + n + 1, c->name) == 0) return c->why_not;
  }
  if (log->can) return bramah__can_why_not(log->can, name);
  return log->has_bus ? "is not in the file, which has CAN frames: if it is one of their signals, say what "
                        "is in them, 'log: {dbc: "
                        "FILE.dbc}' in the study"
                      : NULL;
}

static void describe(const bramah_log_reader *reader, bramah_log_info *info)
{
  const mdf_log *log = reader->source;
  uint64_t at = 0;
  for (size_t i = 0; i < log->n_groups; i++)
    if (log->groups[i].data.at > at) at = log->groups[i].data.at;
  info->bytes = log->all_ended || at > log->file.size ? log->file.size : at;
  info->kind = log->kind;
  if (log->can) bramah__can_describe(log->can, info);
  info->is_cut = log->is_cut || (log->all_ended && log->file.unfinished);
}

const bramah__log_kind bramah__log_mdf = {.names = "*.mf4 *.mdf",
                                          .what = "MDF file",
                                          .record = "row",
                                          .sink = &bramah__mdf_sink,
                                          .takes = takes,
                                          .open = open_mdf,
                                          .close = close_mdf,
                                          .next = next_row,
                                          .describe = describe,
                                          .stand_in = stand_in,
                                          .why_not = why_not,
                                          .no_rows = "the groups of the log have no samples"};
