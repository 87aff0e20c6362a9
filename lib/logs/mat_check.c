/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Is a MAT file whole, and can it hold what it says it holds? matio believes what a file says of its sizes: a few
 * hundred damaged bytes make it take gigabytes. So elements are walked before ("MAT-File Format", The MathWorks,
 * chapters 1 and 2): each must fit into the one around it, compressed ones into what deflate can make of their bytes,
 * and every number, field and cell needs bytes of its own. Version 7.3: HDF5 finds that itself. */
#define _GNU_SOURCE /* pread */
#include "lib/logs/vectors.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* deflate makes at most so many bytes of one ("zlib Technical Details"). A log has not more fields and cells than
 * MOST_MEMBERS, nor structs in structs deeper than DEEPEST. */
enum { MOST_EXPANSION = 1032, MOST_MEMBERS = 100000, DEEPEST = 32 };

enum { MI_INT32 = 5, MI_UINT32 = 6, MI_MATRIX = 14, MI_COMPRESSED = 15 };
enum {
  CLASS_CELL = 1,
  CLASS_STRUCT = 2,
  CLASS_OBJECT = 3,
  CLASS_CHAR = 4,
  CLASS_DOUBLE = 6,
  CLASS_UINT64 = 15,
  CLASS_OPAQUE = 17
};

static const char cut[] = "the file ends in the middle of a variable: it was cut, or is damaged";
static const char too_large[] = "a variable says that it holds more than its bytes can: the file is damaged";
static const char too_many[] = "a variable has more than 100000 fields and cells: this is no log";
static const char too_deep[] =
    "a variable has structs or cells in each other, deeper than 32: this is no log";
static const char no_mat[] = "this is no MAT file, or it is damaged";

static uint32_t word(const unsigned char *b, int big)
{
  return big ? (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3]
             : (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
}

/* Bytes at an offset of the file; 0 if it has fewer. */
static int get(const bramah_log_reader *reader, uint64_t at, void *out, size_t n)
{
  ssize_t got;
  do got = pread(reader->fd, out, n, (off_t)at);
  while (got < 0 && errno == EINTR);
  return got == (ssize_t)n;
}

/* ---- the bytes of an element of the file, plain or as zlib makes them ---- */

typedef struct source {
  const bramah_log_reader *reader;
  int big;          /* order of bytes */
  uint64_t at, end; /* of the file: the next byte, and the end of the element */
  size_t members;   /* fields and cells so far */
  bramah__mat_about *about;
  int is_packed;
  z_stream zlib;
  unsigned char packed[4096];
} source;

/* The next n bytes, which lie in an element that has *left; out NULL: they are passed over. 0: there are none. */
static int take(source *s, uint64_t *left, unsigned char *out, uint64_t n)
{
  if (n > *left) return 0;
  *left -= n;
  if (!s->is_packed) {
    const int good = n <= s->end - s->at && (!out || get(s->reader, s->at, out, (size_t)n));
    s->at += good ? n : 0;
    return good;
  }
  while (n) {
    unsigned char waste[4096];
    const size_t some = n < sizeof waste ? (size_t)n : sizeof waste;
    s->zlib.next_out = out ? out : waste;
    s->zlib.avail_out = (uInt)some;
    while (s->zlib.avail_out) {
      const uint64_t rest = s->end - s->at;
      const size_t more = rest < sizeof s->packed ? (size_t)rest : sizeof s->packed;
      if (!s->zlib.avail_in && more) {
        if (!get(s->reader, s->at, s->packed, more)) return 0;
        s->at += more;
        s->zlib.next_in = s->packed;
        s->zlib.avail_in = (uInt)more;
      }
      const int status = inflate(&s->zlib, Z_NO_FLUSH);
      if (s->zlib.avail_out && (status != Z_OK || (!s->zlib.avail_in && s->at == s->end))) return 0;
    }
    if (out) out += some;
    n -= some;
  }
  return 1;
}

/* Type and length of an element. Of a small one the data are in the tag. */
typedef struct tag {
  uint32_t type;
  uint64_t bytes;
  int is_small;
  unsigned char data[4];
} tag;

static int read_tag(source *s, uint64_t *left, tag *t)
{
  unsigned char b[8];
  if (!take(s, left, b, sizeof b)) return 0;
  t->type = word(b, s->big);
  t->bytes = word(b + 4, s->big);
  t->is_small = t->type >> 16 != 0;
  memcpy(t->data, b + 4, sizeof t->data);
  if (t->is_small) t->bytes = t->type >> 16;
  if (t->is_small) t->type &= 0xFFFFu;
  return 1;
}

/* The data of an element and its padding, which the last one may lack. */
static int skip_data(source *s, uint64_t *left, const tag *t)
{
  const uint64_t padding = (8 - t->bytes % 8) % 8;
  if (t->is_small) return t->bytes <= sizeof t->data;
  return take(s, left, NULL, t->bytes) && take(s, left, NULL, padding < *left ? padding : *left);
}

/* A short text. */
static int read_text(source *s, uint64_t *left, char out[BRAMAH__MAT_NAME])
{
  tag t;
  *out = '\0';
  if (!read_tag(s, left, &t) || t.bytes >= BRAMAH__MAT_NAME || (t.is_small && t.bytes > sizeof t.data))
    return 0;
  if (t.is_small) memcpy(out, t.data, t.bytes);
  if (!t.is_small && !take(s, left, (unsigned char *)out, t.bytes)) return 0;
  out[t.bytes] = '\0';
  return t.is_small || take(s, left, NULL, (8 - t.bytes % 8) % 8);
}

/* Name, "MCOS", class: written nowhere, but so since 2008. */
static void note_object(source *s, uint64_t *left)
{
  bramah__mat_object *o = &s->about->objects[s->about->n_objects];
  char system[BRAMAH__MAT_NAME];
  if (s->about->n_objects == BRAMAH__MAT_OBJECTS || !read_text(s, left, o->name) ||
      !read_text(s, left, system))
    return;
  if (read_text(s, left, o->class_name)) s->about->n_objects++;
}

/* ---- variables ---- */

/* An array [left bytes, all of which are read unless it is of the file itself]: NULL, or what is wrong with it. */
static const char *check_array(source *s, uint64_t left, int depth)
{
  tag t;
  unsigned char b[8];
  uint64_t n = 1, fields = 1;
  if (!left) return NULL; /* an empty cell */
  if (depth > DEEPEST) return too_deep;

  /* Flags with the class, dimensions, name. */
  if (!read_tag(s, &left, &t) || t.is_small || t.type != MI_UINT32 || t.bytes != 8 || !take(s, &left, b, 8))
    return cut;
  const uint32_t class_type = word(b, s->big) & 0xFF;
  const int has_members = class_type >= CLASS_CELL && class_type <= CLASS_OBJECT;
  const int has_numbers =
      class_type == CLASS_CHAR || (class_type >= CLASS_DOUBLE && class_type <= CLASS_UINT64);
  if (class_type == CLASS_OPAQUE && !depth) return note_object(s, &left), NULL;
  if (!has_members && !has_numbers) return !depth || take(s, &left, NULL, left) ? NULL : cut;
  if (!read_tag(s, &left, &t)) return cut;
  if (t.type != MI_INT32 || t.is_small || t.bytes > left) return too_large;
  for (uint64_t i = 0; i < t.bytes / 4; i++) {
    if (!take(s, &left, b, 4)) return cut;
    const uint64_t size = word(b, s->big);
    n = size && n > UINT64_MAX / size ? UINT64_MAX : n * size;
  }
  if (t.bytes % 8 && !take(s, &left, NULL, 8 - t.bytes % 8)) return cut;
  if (!read_tag(s, &left, &t)) return cut;
  if (t.bytes > left && !t.is_small) return too_large;
  if (!skip_data(s, &left, &t)) return cut;

  /* Numbers and characters: a byte each at least. */
  if (has_numbers) {
    if (!read_tag(s, &left, &t)) return !n && take(s, &left, NULL, left) ? NULL : cut;
    if (n > t.bytes || (!t.is_small && t.bytes > left)) return too_large;
    return !depth || take(s, &left, NULL, left) ? NULL : cut;
  }

  /* Fields and cells: a tag each at least. */
  if (class_type == CLASS_OBJECT && (!read_tag(s, &left, &t) || !skip_data(s, &left, &t))) return cut;
  if (class_type != CLASS_CELL) {
    if (!read_tag(s, &left, &t) || !t.is_small || t.bytes != 4) return cut;
    const uint32_t length = word(t.data, s->big);
    if (!read_tag(s, &left, &t)) return cut;
    if (!length || (!t.is_small && t.bytes > left)) return too_large;
    fields = t.bytes / length;
    if (!skip_data(s, &left, &t)) return cut;
  }
  if (n && fields > left / 8 / n) return too_large;
  s->members += n * fields;
  if (s->members > MOST_MEMBERS) return too_many;
  for (uint64_t i = 0; i < n * fields; i++) {
    if (!read_tag(s, &left, &t)) return cut;
    if (!t.is_small && t.bytes > left) return too_large;
    const char *wrong = NULL;
    if (t.type == MI_MATRIX && !t.is_small) {
      wrong = check_array(s, t.bytes, depth + 1);
      left -= t.bytes;
    } else if (!skip_data(s, &left, &t)) {
      wrong = cut;
    }
    if (wrong) return wrong;
  }
  return !depth || take(s, &left, NULL, left) ? NULL : cut;
}

/* ---- files ---- */

static const char *check_5(const bramah_log_reader *reader, bramah__mat_about *about, int big)
{
  const uint64_t size = about->size;
  source s = {.reader = reader, .big = big, .about = about};
  for (uint64_t at = 128; at < size;) {
    unsigned char b[8];
    if (!get(reader, at, b, sizeof b)) return cut;
    const uint32_t type = word(b, big);
    uint64_t bytes = word(b + 4, big), all;
    const char *wrong = NULL;
    tag t;
    s.at = at + 8;
    s.end = at += 8 + bytes;
    if (at > size) return cut;
    s.is_packed = type == MI_COMPRESSED;
    if (type == MI_MATRIX) wrong = check_array(&s, bytes, 0);
    if (s.is_packed) {
      all = MOST_EXPANSION * bytes;
      s.zlib = (z_stream){0};
      if (inflateInit(&s.zlib) != Z_OK) return "out of memory";
      if (!read_tag(&s, &all, &t))
        wrong = cut;
      else if (t.type == MI_MATRIX)
        wrong = t.bytes > all ? too_large : check_array(&s, t.bytes, 0);
      inflateEnd(&s.zlib);
    }
    if (wrong) return wrong;
  }
  return NULL;
}

bramah_status bramah__mat_check(bramah_log_reader *reader, bramah__mat_about *about)
{
  struct stat file;
  unsigned char head[128];
  const char *wrong = NULL;
  if (fstat(reader->fd, &file) != 0) return bramah__log_fail_system(reader, "cannot read: ", errno);
  if (!S_ISREG(file.st_mode))
    return bramah__log_fail(reader, BRAMAH_E_FILE, NULL, 0, 0, "a MAT file cannot be read from a pipe");
  about->size = (uint64_t)file.st_size;
  if (!about->size) return bramah__log_fail(reader, BRAMAH_E_EMPTY, NULL, 0, 0, "the file is empty");

  if (get(reader, 0, head, sizeof head) && memcmp(head, "MATLAB ", 7) == 0) {
    const int big = head[126] == 'M' && head[127] == 'I';
    if (!big && (head[126] != 'I' || head[127] != 'M')) wrong = no_mat;
    if (!wrong && head[big ? 124 : 125] == 1) wrong = check_5(reader, about, big);
    if (!wrong && head[big ? 124 : 125] == 2) bramah__hdf5_find_objects(reader, about);
  } else {
    /* Variables of version 4: type (digits M, O, P, T), rows, columns, complex, length of the name; name and
     * numbers. */
    static const unsigned bytes[] = {8, 4, 4, 2, 2, 1};
    for (uint64_t at = 0; !wrong && at < about->size;) {
      wrong = get(reader, at, head, 20) ? NULL : cut;
      if (wrong) break;
      const int big = word(head, 0) > 4052;
      const uint32_t type = word(head, big), precision = type / 10 % 10, is_complex = word(head + 12, big);
      if (type > 4052 || precision > 5 || is_complex > 1) wrong = no_mat;
      if (wrong) break;
      const uint64_t n = (uint64_t)word(head + 4, big) * word(head + 8, big);
      const uint64_t data = n * bytes[precision] * (1 + is_complex) + word(head + 16, big);
      at += 20 + data;
      if (!data) wrong = no_mat;
      if (n > UINT64_C(1) << 40 || at > about->size) wrong = cut;
    }
  }
  if (!wrong) return BRAMAH_OK;
  return bramah__log_fail(reader, wrong == cut ? BRAMAH_E_TRUNCATED : BRAMAH_E_SYNTAX, NULL, 0, 0, "%s",
                          wrong);
}
