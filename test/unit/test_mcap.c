/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MCAP files and bags of ROS 1: containers (chunks, compression, order, cut tails, checksums), messages (CDR, JSON, Protobuf), and that
 * written files come back. The files are put together here, byte by byte. */
#define _GNU_SOURCE
#include "lib/logs/mcap_read.c" /* the format from inside: records of the conformance files are no columns */
#include "test/support/run.h"
#include "test/support/scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <locale.h>
#include <stdarg.h>
#ifdef BRAMAH_ZSTD
#include <zstd.h>
#endif
#ifdef BRAMAH_LZ4
#include <lz4frame.h>
#endif
#ifdef BRAMAH_BZIP2
#include <bzlib.h>
#endif

static char folder[SCRATCH_NAME], path[SCRATCH_NAME + 8];

static void make_folder(void)
{
  ck_assert(scratch_folder(folder));
  snprintf(path, sizeof path, "%s/a.mcap", folder);
}

static void remove_folder(void)
{
  unlink(path);
  ck_assert_int_eq(rmdir(folder), 0);
}

#ifdef BRAMAH_ZLIB

/* ---- files ---- */

typedef struct made {
  unsigned char bytes[1 << 16];
  size_t n;
} made;

static made file, inner, body;

static void put(made *m, const void *data, size_t n)
{
  ck_assert_uint_le(m->n + n, sizeof m->bytes);
  if (n) memcpy(m->bytes + m->n, data, n);
  m->n += n;
}

static void put_whole(made *m, uint64_t value, unsigned n)
{
  for (unsigned i = 0; i < n; i++) put(m, (const unsigned char[]){(unsigned char)(value >> (8 * i))}, 1);
}

static void put_sized(made *m, const void *data, size_t n)
{
  put_whole(m, n, 4);
  put(m, data, n);
}

static void put_string(made *m, const char *text) { put_sized(m, text, strlen(text)); }

static void put_double(made *m, double value) { put(m, &value, 8); }

/* What was put into `body`, as a record. */
static void put_record(made *m, int code)
{
  put_whole(m, (uint64_t)code, 1);
  put_whole(m, body.n, 8);
  put(m, body.bytes, body.n);
  body.n = 0;
}

static void begin_file(void)
{
  file.n = inner.n = body.n = 0;
  put(&file, BRAMAH__MCAP_MAGIC, BRAMAH__MCAP_MARK);
  put_string(&body, "");
  put_string(&body, "test");
  put_record(&file, BRAMAH__MCAP_HEADER);
}

static void put_schema(made *m, int id, const char *name, const char *encoding, const void *data, size_t n)
{
  put_whole(&body, (uint64_t)id, 2);
  put_string(&body, name);
  put_string(&body, encoding);
  put_sized(&body, data, n);
  put_record(m, BRAMAH__MCAP_SCHEMA);
}

static void put_channel(made *m, int id, int schema, const char *topic, const char *encoding)
{
  put_whole(&body, (uint64_t)id, 2);
  put_whole(&body, (uint64_t)schema, 2);
  put_string(&body, topic);
  put_string(&body, encoding);
  put_whole(&body, 0, 4);
  put_record(m, BRAMAH__MCAP_CHANNEL);
}

static void put_message(made *m, int id, uint64_t time, const void *data, size_t n)
{
  body.n = 0;
  put_whole(&body, (uint64_t)id, 2);
  put_whole(&body, 0, 4);
  put_whole(&body, time, 8);
  put_whole(&body, time, 8);
  put(&body, data, n);
  put_record(m, BRAMAH__MCAP_MESSAGE);
}

static void put_json(made *m, int id, uint64_t time, const char *text)
{
  put_message(m, id, time, text, strlen(text));
}

/* What was put into `inner`, as a chunk. Returns 0 where this compression is not built in. */
static int put_chunk(uint64_t first, uint64_t last, const char *compression, uint32_t wrong_crc)
{
  static unsigned char packed[1 << 16];
  size_t n = inner.n;
  memcpy(packed, inner.bytes, n);
  if (strcmp(compression, "zstd") == 0) {
#ifdef BRAMAH_ZSTD
    n = ZSTD_compress(packed, sizeof packed, inner.bytes, inner.n, 3);
#else
    return 0;
#endif
  }
  if (strcmp(compression, "lz4") == 0) {
#ifdef BRAMAH_LZ4
    n = LZ4F_compressFrame(packed, sizeof packed, inner.bytes, inner.n, NULL);
#else
    return 0;
#endif
  }
  body.n = 0;
  put_whole(&body, first, 8);
  put_whole(&body, last, 8);
  put_whole(&body, inner.n, 8);
  put_whole(&body, (uint32_t)crc32(crc32(0, NULL, 0), inner.bytes, (uInt)inner.n) ^ wrong_crc, 4);
  put_string(&body, compression);
  put_whole(&body, n, 8);
  put(&body, packed, n);
  put_record(&file, BRAMAH__MCAP_CHUNK);
  inner.n = 0;
  return 1;
}

static void end_file(void)
{
  put_whole(&body, 0, 4);
  put_record(&file, BRAMAH__MCAP_DATA_END);
  put_whole(&body, 0, 8);
  put_whole(&body, 0, 8);
  put_whole(&body, 0, 4);
  put_record(&file, BRAMAH__MCAP_FOOTER);
  put(&file, BRAMAH__MCAP_MAGIC, BRAMAH__MCAP_MARK);
}

static void save(size_t n)
{
  FILE *f = fopen(path, "wb");
  ck_assert_ptr_nonnull(f);
  ck_assert_uint_eq(fwrite(file.bytes, 1, n, f), n);
  ck_assert_int_eq(fclose(f), 0);
}

/* ---- what is read ---- */

static bramah_log_reader *open_it(int skip_bad)
{
  bramah_diag diag = {0};
  bramah_log_reader *reader = NULL;
  const bramah_log_format format = {
      .missing = "- -999", .skip_bad_rows = skip_bad, .skip_bad_cells = skip_bad};
  const bramah_status status = bramah_log_open(path, &format, &diag, &reader);
  ck_assert_msg(status == BRAMAH_OK, "open: %s: %s", diag.thing, diag.message);
  ck_assert_str_eq(bramah_log_get_info(reader).kind, file.bytes[0] == '#' ? "bag of ROS 1" : "MCAP file");
  ck_assert_int_eq(bramah__log_set_time(reader, 0, NULL, 0, &diag), BRAMAH_OK);
  for (size_t i = 1; i < reader->n_columns; i++) /* what each message has of its own keeps rows apart */
    reader->columns[i].ignored = strcmp(reader->columns[i].name, "publish_time") == 0;
  return reader;
}

/* The cells of a column in all rows, as a text: "1 2 - 3", where - is an empty one; times with @. */
static const char *cells(const char *column, int skip_bad)
{
  static char out[4096];
  double values[128];
  unsigned char present[128];
  size_t at, used = 0;
  int end = 0;
  bramah_diag diag = {0};
  bramah_log_reader *reader = open_it(skip_bad);
  ck_assert_uint_le(reader->n_columns, 128);
  out[0] = '\0';
  const bramah_status found = bramah_log_find(reader, column, NULL, &at, &diag);
  if (found) used += (size_t)snprintf(out, sizeof out, "%s", diag.message);
  bramah_status status = found;
  while (!status && !(status = bramah_log_next(reader, values, present, &end, &diag)) && !end &&
         used < 4000) {
    const char *gap = used ? " " : "";
    if (at == 0)
      used += (size_t)snprintf(out + used, sizeof out - used, "%s@%lld", gap, (long long)reader->time);
    else if (present[at])
      used += (size_t)snprintf(out + used, sizeof out - used, "%s%.17g", gap, values[at]);
    else
      used += (size_t)snprintf(out + used, sizeof out - used, "%s-", gap);
  }
  if (status && !found) snprintf(out + used, sizeof out - used, "%s!%.200s", used ? " " : "", diag.message);
  bramah_log_close(reader);
  return out;
}

static void is(const char *column, const char *wanted) { ck_assert_str_eq(cells(column, 0), wanted); }

static void has(const char *text, const char *part) { ck_assert_msg(strstr(text, part) != NULL, "%s", text); }

/* ---- containers ---- */

static const char *const compressions[] = {"", "zstd", "lz4"};

/* Two chunks whose times overlap, one in the wrong order, and single messages, unknown records between. */
static int make_overlap(const char *compression)
{
  begin_file();
  put_channel(&inner, 1, 0, "/a", "json");
  put_json(&inner, 1, 30, "{\"x\":3}");
  put_json(&inner, 1, 10, "{\"x\":1}");
  put_json(&inner, 1, 50, "{\"x\":5,\"y\":[7,true]}");
  if (!put_chunk(10, 50, compression, 0)) return 0;
  put_whole(&body, 1, 8);
  put_record(&file, 0x90);
  put_json(&inner, 1, 20, "{\"x\":2}");
  put_json(&inner, 1, 40, "{\"x\":4, \"z\":null, \"s\":\"t\\\"}\"}");
  put_whole(&body, 1, 8);
  put_record(&inner, 0x91);
  put_chunk(20, 40, compression, 0);
  put_json(&file, 1, 5, "{\"x\":0.5}");
  end_file();
  save(file.n);
  return 1;
}

EACH_TEST(gives_rows_in_the_order_of_time, 0, 3)
{
  if (!make_overlap(compressions[_i])) return;
  is("t", "@5 @10 @20 @30 @40 @50");
  is("x", "0.5 1 2 3 4 5");
  is("/a.y[0]", "- - - - - 7");
  is("a.y[1]", "- - - - - 1");
  has(cells("s", 0), "is text");
  has(cells("y", 0), "is an array: write which element");
}

/* However much of the file is there: no error but where nothing is left, rows that are whole, in order. */
EACH_TEST(reads_what_is_left_of_a_cut_file, 0, 3)
{
  if (!make_overlap(compressions[_i])) return;
  const size_t all = file.n, whole = all - BRAMAH__MCAP_MARK - BRAMAH__MCAP_TAG - BRAMAH__MCAP_FOOTER_SIZE;
  size_t most = 0;
  for (size_t n = all - 1 - (size_t)_i; n > BRAMAH__MCAP_MARK + 5; n -= 5) {
    bramah_log_reader *reader = NULL;
    bramah_diag diag = {0};
    double values[16];
    unsigned char present[16];
    int end = 0;
    size_t rows = 0;
    int64_t last = 0;
    save(n);
    if (bramah_log_open(path, NULL, &diag, &reader)) {
      ck_assert(diag.status == BRAMAH_E_EMPTY || diag.status == BRAMAH_E_TRUNCATED);
      continue;
    }
    ck_assert_int_eq(bramah__log_set_time(reader, 0, NULL, 0, &diag), BRAMAH_OK);
    bramah_status status;
    for (; !(status = bramah_log_next(reader, values, present, &end, &diag)) && !end; rows++) {
      ck_assert_int_gt(reader->time, last);
      last = reader->time;
    }
    ck_assert(status == BRAMAH_OK || (status == BRAMAH_E_EMPTY && !rows));
    if (!status) ck_assert_int_eq(bramah_log_get_info(reader).is_cut, n < whole);
    if (rows > most) most = rows;
    bramah_log_close(reader);
  }
  ck_assert_uint_eq(most, 6);
}

TEST(notices_damage)
{
  bramah_diag diag = {0};
  bramah_log_reader *other;
  begin_file();
  file.bytes[2] = 'D';
  save(8);
  ck_assert_int_eq(bramah_log_open(path, NULL, &diag, &other), BRAMAH_E_SYNTAX);
  ck_assert_ptr_nonnull(strstr(diag.message, "this is no MCAP file, whatever its name says"));
  make_overlap("");
  has(cells("x", 0), "5");
  begin_file();
  put_channel(&file, 1, 0, "a", "json");
  put_json(&inner, 1, 10, "{\"x\":1}");
  put_chunk(10, 10, "", 0);
  put_json(&inner, 1, 20, "{\"x\":2}");
  for (int i = 0; i < 300; i++)
    put_whole(&inner, i ? 0 : UINT64_C(0xF0) << 56, 8); /* no record: nothing is put together */
  inner.n = 0;
  put_json(&inner, 1, 20, "{\"x\":2}");
  put_chunk(20, 20, "", 1);
  put_json(&inner, 1, 30, "{\"x\":3}");
  put_chunk(35, 40, "", 0);
  end_file();
  save(file.n);
  bramah_log_reader *reader = NULL;
  ck_assert_int_eq(bramah_log_open(path, NULL, &diag, &reader), BRAMAH_E_TRUNCATED);
  has(diag.message, "the checksum of a chunk is wrong");

  /* All of the data has a checksum, too. */
  begin_file();
  put_channel(&file, 1, 0, "a", "json");
  put_json(&file, 1, 10, "{\"x\":1}");
  put_whole(&body, 12345, 4);
  put_record(&file, BRAMAH__MCAP_DATA_END);
  save(file.n);
  ck_assert_int_eq(bramah_log_open(path, NULL, &diag, &reader), BRAMAH_E_TRUNCATED);
  has(diag.message, "the checksum of its data is wrong");
}

TEST(passes_over_bad_messages_if_told)
{
  begin_file();
  put_channel(&file, 1, 0, "a", "json");
  put_json(&file, 1, 10, "{\"x\":1}");
  put_json(&file, 1, 20, "{\"x\":2");
  put_json(&file, 1, 30, "{\"x\":\"none\"}");
  put_json(&file, 1, 40, "{\"x\":1e999}");
  put_json(&file, 1, 50, "{\"x\":NaN}");
  put_json(&file, 1, 60, "{\"x\":-0.25e1}");
  put_json(&file, 1, 70, "{\"x\":-999}");
  end_file();
  save(file.n);
  has(cells("x", 0), "1 !a message is not what its encoding says");
  ck_assert_str_eq(cells("x", 1), "1 - - - -2.5 -");
}

TEST(joins_topics_by_time_and_names_them)
{
  begin_file();
  put_channel(&file, 1, 0, "/a", "json");
  put_channel(&file, 2, 0, "/b/c", "json");
  put_channel(&file, 3, 0, "/d", "flatbuffer");
  put_json(&file, 1, 10, "{\"x\":1,\"only\":5,\"stamp\":{\"sec\":3,\"nanosec\":7}}");
  put_json(&file, 2, 10, "{\"x\":2}");
  put_json(&file, 3, 11, "???");
  put_json(&file, 2, 20, "{\"x\":3}");
  end_file();
  save(file.n);
  is("t", "@10 @20");
  is("/a.x", "1 -");
  is("b/c.x", "2 3");
  is("only", "5 -");
  is("a.only", "5 -");
  is("stamp", "3.0000000070000001 -");
  has(cells("x", 0), "is a field of several topics: write TOPIC.FIELD");
  bramah_log_reader *reader = open_it(0);
  double values[16];
  unsigned char present[16];
  int end;
  ck_assert_uint_le(reader->n_columns, 16);
  ck_assert_int_eq(bramah_log_next(reader, values, present, &end, NULL), BRAMAH_OK);
  ck_assert_int_eq(reader->is_sparse, 1);
  bramah_log_close(reader);
  has(cells("d.x", 0), "has messages in 'flatbuffer' without a schema");
  has(cells("onli", 0), "did you mean 'only'?");
}

TEST(times_since_1970_are_dates)
{
  const uint64_t now = UINT64_C(1700000000123456789);
  begin_file();
  put_channel(&file, 1, 0, "a", "json");
  put_json(&file, 1, now, "{\"x\":1,\"header\":{\"stamp\":{\"sec\":1699999999,\"nsec\":999999999}}}");
  end_file();
  save(file.n);
  bramah_log_reader *reader = open_it(0);
  bramah_diag diag;
  double values[16];
  unsigned char present[16];
  size_t stamp;
  int end;
  ck_assert_int_eq(reader->clock.iso, 1);
  ck_assert_int_eq(bramah_log_find(reader, "header.stamp", "s", &stamp, &diag), BRAMAH_OK);
  ck_assert_int_eq(bramah__log_set_time(reader, stamp, NULL, 0, &diag), BRAMAH_OK);
  ck_assert_int_eq(bramah_log_next(reader, values, present, &end, &diag), BRAMAH_OK);
  ck_assert_int_eq(reader->time, INT64_C(1699999999999999999));
  bramah_log_close(reader);
  is("t", "@1700000000123456789");
}

/* ---- messages of ROS ---- */

static const char joints[] =
    "std_msgs/Header header\nstring[] name # of the joints\nfloat64[] position\nfloat64[] effort\n"
    "uint8 MODE=3\n"
    "================================================================================\n"
    "MSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n";

static void align(made *m, size_t begin, size_t n)
{
  while ((m->n - begin) % n) put_whole(m, 0, 1);
}

static void put_cdr_text(made *m, size_t begin, const char *text)
{
  align(m, begin, 4);
  put_sized(m, text, strlen(text) + 1);
}

static void put_joints(made *out, const char *const *names, size_t n, double value)
{
  const size_t begin = out->n + 4;
  put(out, "\0\1\0\0", 4);
  put_whole(out, 12, 4);
  put_whole(out, 500, 4);
  put_cdr_text(out, begin, "base");
  align(out, begin, 4);
  put_whole(out, n, 4);
  for (size_t i = 0; i < n; i++) put_cdr_text(out, begin, names[i]);
  for (int k = 0; k < 2; k++) { /* efforts are not known */
    align(out, begin, 4);
    put_whole(out, k ? 0 : n, 4);
    if (!k) align(out, begin, 8);
    for (size_t i = 0; !k && i < n; i++) put_double(out, value + (double)names[i][0]);
  }
}

TEST(reads_joints_by_name)
{
  static const char *const names[] = {"boom", "arm"}, *const turned[] = {"arm", "boom"};
  static made message;
  begin_file();
  put_schema(&file, 7, "sensor_msgs/msg/JointState", "ros2msg", joints, strlen(joints));
  put_channel(&file, 1, 7, "/joint_states", "cdr");
  message.n = 0;
  put_joints(&message, names, 2, 0.0);
  put_message(&file, 1, 1, message.bytes, message.n);
  message.n = 0;
  put_joints(&message, turned, 2, 0.5);
  put_message(&file, 1, 2, message.bytes, message.n);
  put_message(&file, 1, 3, message.bytes, message.n - 30);
  end_file();
  save(file.n);
  has(cells("boom.position", 0), "98 98.5 !a message is not what its schema says");
  ck_assert_str_eq(cells("/joint_states.arm.position", 1), "97 97.5");
  ck_assert_str_eq(cells("header.stamp", 1), "12.000000500000001 12.000000500000001");
  has(cells("header.frame_id", 1), "is text");
}

/* The same struct as IDL, with what rosidl writes around it; numbers of the other byte order. */
TEST(reads_idl_and_big_endian)
{
  static const char idl[] =
      "================\nIDL: rig/msg/State\n// generated\n#include \"x.idl\"\nmodule rig { module msg {\n"
      "  typedef double double__3[3];\n  module State_Constants { const long A = 1; };\n"
      "  @verbatim (language=\"comment\", text=\"a } in it\")\n  struct State {\n    rig::msg::Part part;\n"
      "    @unit (value=\"bar\") unsigned short n, m;\n    double__3 a;\n    sequence<float, 3> f;\n    "
      "string<8> s;\n"
      "    long long big;\n  };\n}; };\n"
      "================\nIDL: rig/msg/Part\nmodule rig { module msg { struct Part { octet k; boolean on; }; "
      "}; };\n";
  static const unsigned char
      data[] = {0,    0,    0, 0, 200, 1, 0x12, 0x34, 0xFF, 0xFF, 0,    0,    0,    0,    0,    0,
                0,    0,    0, 0, /* here 16 bytes of CDR are over */
                0x3F, 0xF0, 0, 0, 0,   0, 0,    0,    0x40, 0,    0,    0,    0,    0,    0,    0,
                0xBF, 0xF0, 0, 0, 0,   0, 0,    0,    0,    0,    0,    1,    0x3F, 0x80, 0,    0,
                0,    0,    0, 1, 0,   0, 0,    0,    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE};
  unsigned char message[sizeof data];
  size_t n = 0;
  for (size_t i = 0; i < sizeof data;
       i++) /* the array begins at a multiple of eight behind the first four bytes */
    if (i < 12 || i >= 20) message[n++] = data[i];
  begin_file();
  put_schema(&file, 1, "rig/msg/State", "ros2idl", idl, strlen(idl));
  put_channel(&file, 1, 1, "/state", "cdr");
  put_message(&file, 1, 1, message, n);
  end_file();
  save(file.n);
  is("part.k", "200");
  is("part.on", "1");
  is("n", "4660");
  is("m", "65535");
  is("a[0]", "1");
  is("a[2]", "-1");
  is("f[0]", "1");
  is("big", "-2");
}

/* One channel with these messages' schema: what is said of it. */
static const char *said_of(const char *encoding, const char *text, size_t n, const char *column)
{
  begin_file();
  put_schema(&file, 1, "p/A", encoding, text, n);
  put_channel(&file, 1, 1, "/a", strcmp(encoding, "ros1msg") == 0 ? "ros1" : "cdr");
  put_channel(&file, 2, 0, "/b", "json");
  put_json(&file, 2, 10, "{\"x\":1}");
  end_file();
  save(file.n);
  return cells(column, 0);
}

/* What decides how long a member is, is read or refused. */
TEST(refuses_schemas_it_would_read_wrong)
{
  static char nested[50000];
  static const char *const idl[][2] = {
      {"module p { const long N = 3; struct A { double x[N]; double y; }; };",
       "whose length is not read: 'N'"},
      {"module p { struct A { double x[2*3]; double y; }; };", "whose length is not read: 'x'"},
      {"module p { struct A { double x[0x10]; double y; }; };", "whose length is not read: '0x10'"},
      {"module p { struct A { @optional double x; double y; }; };",
       "annotation that is not read: 'optional'"},
      {"module p { @bit_bound(8) enum E { K }; struct A { E e; short y; }; };", "not read: 'bit_bound'"}};
  for (size_t i = 0; i < sizeof idl / sizeof *idl; i++)
    has(said_of("ros2idl", idl[i][0], strlen(idl[i][0]), "/a.y"), idl[i][1]);
  size_t n = (size_t)snprintf(nested, sizeof nested, "module p { struct A { ");
  while (n + 9 < sizeof nested) n += (size_t)snprintf(nested + n, sizeof nested - n, "sequence<");
  has(said_of("ros2idl", nested, n, "/a.y"), "arrays of arrays");
  n = 0;
  for (int i = 0; n + 30 < sizeof nested; i++)
    n += (size_t)snprintf(nested + n, sizeof nested - n, "MSG: p\n");
  has(said_of("ros2msg", nested, n, "/a.y"), "its schema has more than 4000 types");
  n = (size_t)snprintf(nested, sizeof nested, "module p { ");
  for (int i = 0; i < 300; i++)
    n += (size_t)snprintf(nested + n, sizeof nested - n, "typedef double t%d;", i);
  has(said_of("ros2idl", nested, n, "/a.y"), "too many types of its own");
}

/* Structs of no bytes in each other would be walked through for ever; arrays of names are those of their own struct. */
TEST(bounds_structs_without_bytes)
{
  char text[2048];
  size_t n = (size_t)snprintf(text, sizeof text, "float64[0] z\nB0 b\nuint8 y\n");
  for (int i = 0; i < 28; i++)
    n += (size_t)snprintf(text + n, sizeof text - n, "MSG: p/B%d\nB%d a\nB%d b\n", i, i + 1, i + 1);
  n += (size_t)snprintf(text + n, sizeof text - n, "MSG: p/B28\nfloat64[0] z\n");
  begin_file();
  put_schema(&file, 1, "p/A", "ros2msg", text, n);
  put_channel(&file, 1, 1, "/a", "cdr");
  put_message(&file, 1, 10, "\0\1\0\0\7", 5);
  end_file();
  save(file.n);
  bramah_log_reader *reader = NULL;
  bramah_diag diag = {0};
  ck_assert_int_eq(bramah_log_open(path, NULL, &diag, &reader), BRAMAH_E_EMPTY); /* soon */

  static const char named[] =
      "string[] name\nJ j\nfloat64[] position\nMSG: p/J\nstring[] name\nfloat64[] position\n";
  static made message;
  message.n = 0;
  put(&message, "\0\1\0\0", 4);
  for (int i = 0; i < 2; i++) {
    put_whole(&message, 1, 4);
    put_sized(&message, i ? "q\0\0" : "p\0\0", 4);
    if (i) put_whole(&message, 1, 4), align(&message, 4, 8), put_double(&message, 1.5);
  }
  put_whole(&message, 1, 4), align(&message, 4, 8), put_double(&message, 2.5);
  begin_file();
  put_schema(&file, 1, "p/A", "ros2msg", named, strlen(named));
  put_channel(&file, 1, 1, "/a", "cdr");
  put_message(&file, 1, 10, message.bytes, message.n);
  end_file();
  save(file.n);
  is("j.q.position", "1.5");
  has(cells("q.position", 0), "no column");
}

/* Lengths within a chunk, checksums of all, and what only messages show, though there is a summary. */
TEST(loses_nothing_silently)
{
  bramah_log_reader *reader = NULL;
  bramah_diag diag = {0};
  begin_file();
  put_channel(&file, 1, 0, "a", "json");
  put_json(&inner, 1, 10, "{\"x\":1}");
  put_json(&inner, 1, 20, "{\"x\":2}");
  inner.bytes[BRAMAH__MCAP_TAG + BRAMAH__MCAP_MESSAGE_HEAD + 7 + 1] = 200;
  put_chunk(10, 20, "", (uint32_t)crc32(crc32(0, NULL, 0), inner.bytes, (uInt)inner.n));
  end_file();
  save(file.n);
  ck_assert_int_eq(bramah_log_open(path, NULL, &diag, &reader), BRAMAH_E_TRUNCATED);
  has(diag.message, "a record is longer than the chunk that holds it");

  begin_file(); /* no checksum of the chunk, but one of all */
  put_channel(&file, 1, 0, "a", "json");
  put_json(&inner, 1, 10, "{\"x\":1}");
  put_chunk(10, 10, "", (uint32_t)crc32(crc32(0, NULL, 0), inner.bytes, (uInt)inner.n));
  put_whole(&body, 12345, 4);
  put_record(&file, BRAMAH__MCAP_DATA_END);
  save(file.n);
  ck_assert_int_eq(bramah_log_open(path, NULL, &diag, &reader), BRAMAH_E_TRUNCATED);
  has(diag.message, "the checksum of its data is wrong");

  static const char schema[] =
      "{\"type\":\"object\",\"properties\":{\"q\":{\"type\":\"array\"},\"x\":{\"type\":\"number\"}}}";
  begin_file();
  put_chunk(0, 0, "", 0); /* an empty one has no times */
  put_schema(&file, 1, "s", "jsonschema", schema, strlen(schema));
  put_channel(&file, 1, 1, "a", "json");
  put_json(&inner, 1, UINT64_C(1700000000000000000), "{\"x\":1,\"q\":[4,5]}");
  put_chunk(UINT64_C(1700000000000000000), UINT64_C(1700000000000000000), "", 0);
  put_whole(&body, 0, 4);
  put_record(&file, BRAMAH__MCAP_DATA_END);
  put_whole(&body, 1, 8), put_whole(&body, 1, 2), put_whole(&body, 1, 4), put_whole(&body, 0, 8);
  put_whole(&body, 1, 4), put_whole(&body, 0, 8), put_whole(&body, 0, 8);
  put_whole(&body, 10, 4), put_whole(&body, 1, 2), put_whole(&body, 1, 8);
  put_record(&file, BRAMAH__MCAP_STATISTICS);
  put_whole(&body, 0, 8), put_whole(&body, 0, 8), put_whole(&body, 0, 4);
  put_record(&file, BRAMAH__MCAP_FOOTER);
  put(&file, BRAMAH__MCAP_MAGIC, BRAMAH__MCAP_MARK);
  save(file.n);
  is("q[1]", "5");
  ck_assert_int_eq(bramah_log_open(path, NULL, &diag, &reader), BRAMAH_OK);
  ck_assert_int_eq(reader->units[0].may_be_date, 2);
  bramah_log_close(reader);
}

/* `byte` of ROS 1 has a sign, that of ROS 2 has none; ROS 1 has no zero byte at the end of texts, and nothing is aligned. */
TEST(reads_the_byte_of_each_ros)
{
  static const char text[] = "byte b\nchar c\nbyte[2] d\n";
  begin_file();
  put_schema(&file, 1, "p/A", "ros1msg", text, strlen(text));
  put_schema(&file, 2, "p/A", "ros2msg", text, strlen(text));
  put_channel(&file, 1, 1, "/one", "ros1");
  put_channel(&file, 2, 2, "/two", "cdr");
  put_message(&file, 1, 10, "\xfe\xfe\1\xff", 4);
  put_message(&file, 2, 20, "\0\1\0\0\xfe\xfe\1\xff", 8);
  end_file();
  save(file.n);
  is("/one.b", "-2 -");
  is("/one.c", "254 -");
  is("/one.d[1]", "-1 -");
  is("/two.b", "- 254");
  is("/two.d[1]", "- 255");
}

/* Objects of seconds and nanoseconds that are not as the first ones. */
TEST(reads_times_of_json)
{
  begin_file();
  put_channel(&file, 1, 0, "a", "json");
  put_json(&file, 1, 10, "{\"at\":{\"sec\":3,\"nsec\":500000000}}");
  for (int i = 0; i < 64; i++) put_json(&file, 1, 10, "{\"at\":{\"sec\":3,\"nsec\":500000000}}");
  put_json(&file, 1, 20, "{\"at\":{\"nsec\":250000000,\"of\":{\"q\":[1]},\"sec\":-2}}");
  put_json(&file, 1, 30, "{\"at\":{\"sec\":12.125,\"nsec\":0}}");
  put_json(&file, 1, 40, "{\"at\":{\"sec\":1.25e2,\"nsec\":5E8}}");
  put_json(&file, 1, 50, "{\"at\":{\"sec\":null,\"nsec\":0}}");
  put_json(&file, 1, 60, "{\"at\":{}}");
  put_json(&file, 1, 70, "{\"at\":{\"sec\":7}}");
  put_json(&file, 1, 80, "{\"at\":{\"sec\":\"7\",\"nsec\":0}}");
  end_file();
  save(file.n);
  const char *all = cells("at", 0);
  has(all, " 3.5 -1.75 12.125 125.5 - - - !'\"sec\":\"7\",\"nsec\":0' is not a number");
  has(cells("at", 1), " 125.5 - - - -");
  ck_assert_ptr_null(strstr(all, "no JSON"));
}

/* What is left out for the bound of numbers in a log is said to be. */
TEST(says_that_there_are_too_many_numbers)
{
  static char text[400];
  const size_t n = (size_t)snprintf(text, sizeof text, "q/B[50] a\nq/B[50] b\nMSG: q/B\n");
  size_t used = n;
  for (int i = 0; i < 25; i++) used += (size_t)snprintf(text + used, sizeof text - used, "int8 f%d\n", i);
  begin_file();
  put_schema(&file, 1, "p/A", "ros2msg", text, used);
  for (int i = 1; i <= 12; i++) {
    char topic[8];
    snprintf(topic, sizeof topic, "/t%d", i);
    put_channel(&file, i, 1, topic, "cdr");
    put_message(&file, i, 10, "\0\1\0\0", 4);
  }
  put_channel(&file, 13, 0, "/u", "json");
  put_json(&file, 13, 10, "{\"x\":1}");
  end_file();
  save(file.n);
  bramah_log_reader *reader = NULL;
  bramah_diag diag = {0};
  size_t at;
  ck_assert_int_eq(bramah_log_open(path, NULL, &diag, &reader), BRAMAH_OK);
  ck_assert_int_eq(bramah_log_find(reader, "/t1.a[0].f0", NULL, &at, &diag), BRAMAH_OK);
  ck_assert_int_eq(bramah_log_find(reader, "/t12.a[0].f0", NULL, &at, &diag), BRAMAH_E_COLUMN);
  has(diag.message, "20000");
  ck_assert_int_eq(bramah_log_find(reader, "x", NULL, &at, &diag), BRAMAH_E_COLUMN);
  has(diag.message, "20000");
  bramah_log_close(reader);
}

TEST(says_why_a_topic_has_no_columns)
{
  begin_file();
  put_schema(&file, 1, "a/B", "ros2msg", "c/D d\nfloat64 x\n", 16);
  put_channel(&file, 1, 1, "/b", "cdr");
  put_message(&file, 1, 1, "\0\1\0\0", 4);
  end_file();
  save(file.n);
  bramah_log_reader *reader = NULL;
  bramah_diag diag = {0};
  ck_assert_int_eq(bramah_log_open(path, NULL, &diag, &reader), BRAMAH_E_EMPTY);
  has(diag.message, "'/b' its schema does not define the type 'c/D'");
}

/* ---- bags of ROS 1 ---- */

static void put_bag_field(made *m, const char *name, const void *value, size_t n)
{
  put_whole(m, strlen(name) + 1 + n, 4);
  put(m, name, strlen(name));
  put(m, "=", 1);
  put(m, value, n);
}

static void put_bag_number(made *m, const char *name, uint64_t value, unsigned n)
{
  unsigned char bytes[8];
  for (unsigned i = 0; i < n; i++) bytes[i] = (unsigned char)(value >> (8 * i));
  put_bag_field(m, name, bytes, n);
}

/* A record of the header in `body`, whose operation is put in here, and data. */
static void put_bag_record(made *m, unsigned op, const void *data, size_t n)
{
  put_bag_number(&body, "op", op, 1);
  put_sized(m, body.bytes, body.n);
  put_sized(m, data, n);
  body.n = 0;
}

static void put_connection(made *m, unsigned id, const char *topic, const char *type, const char *definition)
{
  made data = {.n = 0};
  put_bag_field(&data, "type", type, strlen(type));
  put_bag_field(&data, "message_definition", definition, strlen(definition));
  put_bag_number(&body, "conn", id, 4);
  put_bag_field(&body, "topic", topic, strlen(topic));
  put_bag_record(m, 7, data.bytes, data.n);
}

static void put_bag_message(made *m, unsigned id, uint64_t seconds, uint64_t ns, const void *data, size_t n)
{
  put_bag_number(&body, "conn", id, 4);
  put_bag_number(&body, "time", seconds | ns << 32, 8);
  put_bag_record(m, 2, data, n);
}

/* What was put into `inner`, as a chunk with the index of so many times; 0: no index, as of a bag that was not closed. */
static int put_bag_chunk(const char *compression, const uint64_t *times, size_t n_times)
{
  static unsigned char packed[1 << 16];
  unsigned n = (unsigned)inner.n;
  memcpy(packed, inner.bytes, n);
#ifdef BRAMAH_LZ4
  if (strcmp(compression, "lz4") == 0)
    n = (unsigned)LZ4F_compressFrame(packed, sizeof packed, inner.bytes, inner.n, NULL);
#endif
#ifdef BRAMAH_BZIP2
  unsigned room = sizeof packed;
  if (strcmp(compression, "bz2") == 0) {
    ck_assert_int_eq(BZ2_bzBuffToBuffCompress((char *)packed, &room, (char *)inner.bytes, n, 9, 0, 0), 0);
    n = room;
  }
#endif
  if (n == inner.n && strcmp(compression, "none") != 0) return 0;
  put_bag_field(&body, "compression", compression, strlen(compression));
  put_bag_number(&body, "size", inner.n, 4);
  put_bag_record(&file, 5, packed, n);
  inner.n = 0;
  for (size_t i = 0; i < n_times; i++) put_whole(&inner, times[i], 8), put_whole(&inner, 0, 4);
  put_bag_number(&body, "ver", 1, 4);
  if (n_times) put_bag_record(&file, 4, inner.bytes, inner.n);
  inner.n = body.n = 0;
  return 1;
}

/* Two chunks that overlap in time, the second one in the wrong order. Returns 0 without the compression. */
static int make_bag(const char *compression, int has_index)
{
  static const char joint[] =
      "Header header\nfloat64 angle\nbyte gear\n"
      "================================================================================\n"
      "MSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n";
  static const uint64_t first[] = {1700000000, 1700000000 | UINT64_C(500000000) << 32},
                        second[] = {1700000000 | UINT64_C(250000000) << 32, 1700000000};
  file.n = inner.n = body.n = 0;
  put(&file, "#ROSBAG V2.0\n", 13);
  put_bag_number(&body, "index_pos", 0, 8), put_bag_number(&body, "conn_count", 2, 4);
  put_bag_record(&file, 3, "    ", 4);
  for (int i = 0; i < 2; i++) {
    made data = {.n = 0};
    if (!i) put_connection(&inner, 0, "/joint", "rig/Joint", joint);
    put_whole(&data, 7, 4), put_whole(&data, 1700000000, 4), put_whole(&data, 1000 + (unsigned)i, 4);
    put_sized(&data, "a", 1), put_double(&data, 0.5 + i), put_whole(&data, 0xFE, 1);
    put_bag_message(&inner, 0, 1700000000, i ? 500000000 : 0, data.bytes, data.n);
  }
  if (!put_bag_chunk(compression, first, has_index ? 2 : 0)) return 0;
  put_connection(&inner, 1, "/load", "rig/Load", "float32[2] force\n");
  put_bag_message(&inner, 1, 1700000000, 250000000, "\0\0\200\77\0\0\0\100", 8);
  put_bag_message(&inner, 1, 1700000000, 0, "\0\0\0\100\0\0\200\77", 8);
  put_bag_chunk(compression, second, has_index ? 2 : 0);
  put_bag_number(&body, "ver", 1, 4);
  put_bag_record(&file, 6, "", 0);
  save(file.n);
  return 1;
}

EACH_TEST(reads_bags, 0, 6)
{
  static const char *const packed[] = {"none", "lz4", "bz2"};
  if (!make_bag(packed[_i / 2], _i % 2)) return;
  is("/load.force[0]", "- 2 1 -"); /* stamps keep rows of the same time apart */
  is("force[1]", "- 1 2 -");
  is("t", "@1700000000000000000 @1700000000000000000 @1700000000250000000 @1700000000500000000");
  has(cells("publish_time", 0), "no column");
  make_bag(packed[_i / 2], _i % 2);
  bramah_log_reader *reader = open_it(0);
  ck_assert_uint_eq(reader->n_columns, 7);
  ck_assert_str_eq(reader->columns[1].name, "header.stamp");
  reader->columns[1].ignored = 1;
  double values[8];
  unsigned char present[8];
  int end;
  size_t at;
  ck_assert_int_eq(bramah_log_find(reader, "gear", NULL, &at, NULL), BRAMAH_OK);
  ck_assert_int_eq(bramah_log_next(reader, values, present, &end, NULL), BRAMAH_OK);
  ck_assert_double_eq(values[at], -2.0);
  for (int i = 0; i < 3; i++)
    ck_assert_int_eq(bramah_log_next(reader, values, present, &end, NULL), BRAMAH_OK);
  ck_assert_int_eq(end, 1);
  ck_assert_int_eq(bramah_log_get_info(reader).is_cut, 0);
  bramah_log_close(reader);
}

/* The first bytes of the file from `from` on that are these. */
static size_t find_bytes(size_t from, const char *bytes)
{
  const unsigned char *at = memmem(file.bytes + from, file.n - from, bytes, strlen(bytes));
  ck_assert_ptr_nonnull(at);
  return (size_t)(at - file.bytes);
}

/* A chunk that states less than it holds would lose its last message; one that is damaged, or does not say what it is. */
EACH_TEST(refuses_chunks_of_bags_that_are_not_what_they_state, 0, 12)
{
  static const char *const packed[] = {"none", "lz4", "bz2"};
  const char *kind = packed[_i / 4];
  bramah_log_reader *reader = NULL;
  bramah_diag diag = {0};
  if (!make_bag(kind, 1)) return;
  const size_t second = find_bytes(find_bytes(0, "size=") + 1, "size="),
               first = find_bytes(0, "compression=");
  if (_i % 4 == 0) file.bytes[second + 5] = (unsigned char)(file.bytes[second + 5] - 54); /* a message */
  if (_i % 4 == 1) file.bytes[second] = 'S';
  if (_i % 4 == 2) file.bytes[first] = 'C';
  if (_i % 4 == 3 && strcmp(kind, "bz2") != 0) return;
  if (_i % 4 == 3) file.bytes[find_bytes(0, "BZh9") + 10] ^= 1; /* of the checksum */
  save(file.n);
  bramah_status status = bramah_log_open(path, NULL, &diag, &reader);
  double values[8];
  unsigned char present[8];
  for (int end = 0; !status && !end;) status = bramah_log_next(reader, values, present, &end, &diag);
  ck_assert_int_eq(status, BRAMAH_E_TRUNCATED);
  has(diag.message, "the file is damaged at byte");
  bramah_log_close(reader);
}

/* How many rows the first n bytes of the file give, and zeros behind them; -1: an error. */
static int count_rows(size_t n, size_t zeros, int *is_cut)
{
  static made keep;
  bramah_log_reader *reader = NULL;
  double values[16];
  unsigned char present[16];
  int end = 0, rows = 0;
  keep = file;
  memset(file.bytes + n, 0, zeros);
  save(n + zeros);
  file = keep;
  bramah_status status = bramah_log_open(path, NULL, NULL, &reader);
  while (!status && !(status = bramah_log_next(reader, values, present, &end, NULL)) && !end) rows++;
  *is_cut = !status && bramah_log_get_info(reader).is_cut;
  bramah_log_close(reader);
  return status ? -1 : rows;
}

/* What was not written yet when the power went: what a cut file gives, but for a last row that ends with zeros. */
EACH_TEST(reads_files_that_end_with_zeros, 0, 6)
{
  if (_i < 3 ? !make_bag(((const char *[]){"none", "lz4", "bz2"})[_i], 1)
             : !make_overlap(compressions[_i - 3]))
    return;
  int is_cut, is_cut_2;
  for (size_t k = 60; k < file.n; k += 67) {
    const int cut = count_rows(k, 0, &is_cut), zeros = count_rows(k, 5000, &is_cut_2);
    ck_assert_int_ge(zeros, cut - 1);
    ck_assert_int_le(zeros, cut);
    ck_assert_int_eq(is_cut_2, zeros >= 0 && (zeros < cut || is_cut));
  }
  ck_assert_int_eq(count_rows(file.n, 5000, &is_cut), _i < 3 ? 4 : 6);
  if (_i >= 3) ck_assert_int_eq(is_cut, 0);
}

/* Messages of a connection (channel) that no record describes are not dropped without a word. */
EACH_TEST(tells_of_messages_that_nothing_describes, 0, 2)
{
  if (_i) {
    begin_file();
    put_channel(&file, 1, 0, "/a", "json");
    put_json(&file, 1, 1, "{\"x\":1}"), put_json(&file, 2, 2, "{\"x\":2}"),
        put_json(&file, 1, 3, "{\"x\":3}");
    end_file();
  } else {
    file.n = inner.n = body.n = 0;
    put(&file, "#ROSBAG V2.0\n", 13);
    put_connection(&inner, 1, "/a", "rig/A", "uint8 x\n");
    put_bag_message(&inner, 1, 1, 0, "\1", 1), put_bag_message(&inner, 2, 2, 0, "\2", 1),
        put_bag_message(&inner, 1, 3, 0, "\3", 1);
    put_bag_chunk("none", (const uint64_t[]){1, 2, 3}, 3);
  }
  save(file.n);
  has(cells("x", 0), _i ? "message of the channel 2, which no record describes"
                        : "message of the connection 2, which no record describes");
  ck_assert_str_eq(cells("x", 1), "1 3");
  bramah_log_reader *reader = open_it(1);
  double values[4];
  unsigned char present[4];
  for (int end = 0; !end;) ck_assert_int_eq(bramah_log_next(reader, values, present, &end, NULL), BRAMAH_OK);
  ck_assert_uint_eq(bramah_log_get_info(reader).bad_rows, 1);
  bramah_log_close(reader);
}

/* What is known of each message takes memory, too. */
TEST(bounds_the_memory_of_many_small_messages)
{
  ck_assert(make_bag("none", 1));
  bramah_log_reader *reader = open_it(0);
  bramah__topics *t = reader->source;
  bramah__block b = {.piece = {.last = UINT64_MAX}};
  bramah_status status = BRAMAH_OK;
  size_t n = 0;
  t->held = BRAMAH__TOPICS_HELD - (1 << 20);
  while (!status && n < 1 << 20) status = bramah__block_add(reader, &b, 1, 0, n++, 0, NULL, 0);
  ck_assert_int_eq(status, BRAMAH_E_UNSUPPORTED);
  has(reader->failure.message, "more than 32 MiB of the file must be in memory");
  ck_assert_uint_ge(b.n, 1 << 14);
  ck_assert_uint_le(b.room * sizeof *b.entries, 1 << 20);
  bramah__block_free(&b);
  bramah_log_close(reader);
}

/* Cut anywhere: the rows that are whole, and no other error than that there is nothing; bags of other kinds are refused. */
TEST(reads_cut_bags_and_refuses_others)
{
  ck_assert(make_bag("none", 1));
  const size_t n = file.n;
  for (size_t k = 13; k < n; k += k < 400 ? 11 : 3) {
    bramah_log_reader *reader = NULL;
    bramah_diag diag = {0};
    double values[8];
    unsigned char present[8];
    int end = 0, rows = 0;
    save(k);
    bramah_status status = bramah_log_open(path, NULL, &diag, &reader);
    if (status)
      ck_assert_msg(status == BRAMAH_E_TRUNCATED || status == BRAMAH_E_EMPTY, "%zu: %s", k, diag.message);
    while (!status && !(status = bramah_log_next(reader, values, present, &end, &diag)) && !end) rows++;
    if (end) ck_assert_int_eq(bramah_log_get_info(reader).is_cut, 1);
    ck_assert_msg(!status || status == BRAMAH_E_EMPTY || status == BRAMAH_E_TRUNCATED, "%s", diag.message);
    ck_assert_int_le(rows, 4);
    bramah_log_close(reader);
  }
  bramah_log_reader *reader = NULL;
  bramah_diag diag = {0};
  file.bytes[9] = '1';
  save(n);
  ck_assert_int_eq(bramah_log_open(path, NULL, &diag, &reader), BRAMAH_E_UNSUPPORTED);
  has(diag.message, "no bag of ROS 1 in format 2.0");
  file.n = body.n = 0;
  put(&file, "#ROSBAG V2.0\n", 13);
  put_bag_field(&body, "encryptor", "aes", 3);
  put_bag_record(&file, 3, "", 0);
  save(file.n);
  ck_assert_int_eq(bramah_log_open(path, NULL, &diag, &reader), BRAMAH_E_UNSUPPORTED);
  has(diag.message, "the bag is encrypted (aes)");
}

/* ---- Protobuf ---- */

static void put_varint(made *m, uint64_t value)
{
  for (; value >= 0x80; value >>= 7) put_whole(m, (value & 0x7F) | 0x80, 1);
  put_whole(m, value, 1);
}

static void put_part(made *m, int number, const void *data, size_t n)
{
  put_varint(m, (uint64_t)number << 3 | 2);
  put_varint(m, n);
  put(m, data, n);
}

/* is_optional 2: one of the oneof 0. */
static void put_field(made *m, const char *name, int number, int label, int type, int is_optional)
{
  made field = {.n = 0};
  put_part(&field, 1, name, strlen(name));
  put_varint(&field, 3 << 3), put_varint(&field, (uint64_t)number);
  put_varint(&field, 4 << 3), put_varint(&field, (uint64_t)label);
  put_varint(&field, 5 << 3), put_varint(&field, (uint64_t)type);
  if (is_optional == 1) put_varint(&field, 17 << 3), put_varint(&field, 1);
  if (is_optional == 2) put_varint(&field, 9 << 3), put_varint(&field, 0);
  put_part(m, 2, field.bytes, field.n);
}

/* A schema of messages in one file, and a channel /row with them. */
static void put_proto(const char *root, const made *types, int n)
{
  made description = {.n = 0}, set = {.n = 0};
  put_part(&description, 2, "p", 1);
  for (int i = 0; i < n; i++) put_part(&description, 4, types[i].bytes, types[i].n);
  put_part(&description, 12, "proto3", 6);
  put_part(&set, 1, description.bytes, description.n);
  put_schema(&file, 1, root, "protobuf", set.bytes, set.n);
  put_channel(&file, 1, 1, "/row", "protobuf");
}

/* A field that is a message. */
static void put_message_field(made *m, const char *name, int number, int label, const char *type)
{
  made field = {.n = 0};
  put_part(&field, 1, name, strlen(name));
  put_varint(&field, 3 << 3), put_varint(&field, (uint64_t)number);
  put_varint(&field, 4 << 3), put_varint(&field, (uint64_t)label);
  put_varint(&field, 5 << 3), put_varint(&field, 11);
  put_part(&field, 6, type, strlen(type));
  put_part(m, 2, field.bytes, field.n);
}

/* A message within another that comes in two parts is one message; times of zigzag numbers. */
TEST(merges_what_comes_twice)
{
  static made types[3], part, message;
  types[0].n = types[1].n = types[2].n = message.n = part.n = 0;
  put_part(&types[0], 1, "Row", 3);
  put_message_field(&types[0], "sub", 1, 1, ".p.Sub");
  put_message_field(&types[0], "at", 2, 1, ".p.At");
  put_message_field(&types[0], "many", 3, 3, ".p.Sub");
  put_part(&types[1], 1, "Sub", 3);
  put_field(&types[1], "a", 1, 1, 1, 0);
  put_field(&types[1], "b", 7, 1, 1, 0);
  put_field(&types[1], "c", 3, 1, 1, 0);
  put_field(&types[1], "list", 4, 3, 13, 0);
  put_part(&types[2], 1, "At", 2);
  put_field(&types[2], "seconds", 1, 1, 18, 0); /* sint64, sint32 */
  put_field(&types[2], "nanos", 2, 1, 17, 0);
  begin_file();
  put_proto("p.Row", types, 3);
  for (int i = 0; i < 2; i++) {
    part.n = 0;
    put_varint(&part, (i ? 7 : 1) << 3 | 1), put_double(&part, 1.5 + i);
    put_varint(&part, 4 << 3), put_varint(&part, (uint64_t)(5 + i));
    put_part(&message, 1, part.bytes, part.n);
    put_part(&message, 3, part.bytes, part.n); /* these are two */
    part.n = 0;
    put_varint(&part, (uint64_t)(1 + i) << 3), put_varint(&part, i ? 1000000000 : 23); /* 0.5 s, -12 s */
    put_part(&message, 2, part.bytes, part.n);
  }
  put_message(&file, 1, 1, message.bytes, message.n);
  put_message(&file, 1, 2, "", 0);
  end_file();
  save(file.n);
  is("sub.a", "1.5 -");
  is("sub.b", "2.5 -");
  is("sub.c", "0 -");
  is("sub.list[0]", "5 -");
  is("sub.list[1]", "6 -");
  is("at", "-11.5 -");
  is("many[0].b", "0 -");
  is("many[1].a", "0 -");
  is("many[1].list[0]", "6 -");
}

TEST(reads_protobuf)
{
  static made type, message;
  type.n = message.n = 0;
  put_part(&type, 1, "Row", 3);
  put_field(&type, "x", 1, 1, 1, 0);       /* double */
  put_field(&type, "maybe", 2, 1, 1, 1);   /* optional double */
  put_field(&type, "zigzag", 3, 1, 18, 0); /* sint64 */
  put_field(&type, "many", 4, 3, 5, 0);    /* repeated int32 */
  put_field(&type, "name", 2000, 1, 9, 0); /* string */
  begin_file();
  put_proto("p.Row", &type, 1);
  put_varint(&message, 4 << 3 | 2), put_varint(&message, 11); /* packed: 1 and -1 */
  put_varint(&message, 1), put_varint(&message, UINT64_MAX);
  put_varint(&message, 3 << 3), put_varint(&message, 5);
  put_part(&message, 2000, "abc", 3);
  put_varint(&message, 99 << 3 | 3), put_varint(&message, 1 << 3), put_varint(&message, 7),
      put_varint(&message, 99 << 3 | 4);
  put_message(&file, 1, 1, message.bytes, message.n);
  message.n = 0;
  put_varint(&message, 1 << 3 | 1), put_double(&message, 2.5);
  put_varint(&message, 2 << 3 | 1), put_double(&message, 0.0);
  put_varint(&message, 4 << 3), put_varint(&message, 6);
  put_message(&file, 1, 2, message.bytes, message.n);
  put_message(&file, 1, 3, "\x08", 1);
  end_file();
  save(file.n);
  ck_assert_str_eq(cells("x", 1), "0 2.5");   /* what is not there is 0, */
  ck_assert_str_eq(cells("maybe", 1), "- 0"); /* unless it is optional */
  ck_assert_str_eq(cells("zigzag", 1), "-3 0");
  ck_assert_str_eq(cells("many[0]", 1), "1 6");
  ck_assert_str_eq(cells("many[1]", 1), "-1 -");
  has(cells("x", 0), "0 2.5 !a message is not what its schema says");
}

TEST(takes_the_last_of_a_oneof)
{
  static made types[2], message;
  types[0].n = types[1].n = message.n = 0;
  put_part(&types[0], 1, "Row", 3);
  put_field(&types[0], "a", 1, 1, 1, 2);
  put_field(&types[0], "b", 2, 1, 1, 2);
  put_field(&types[0], "x", 3, 1, 1, 0);
  put_message_field(&types[0], "part", 4, 1, ".p.Part");
  put_part(&types[1], 1, "Part", 4);
  put_field(&types[1], "c", 1, 1, 5, 2);
  put_field(&types[1], "d", 2, 1, 5, 2);
  put_field(&types[1], "e", 3, 1, 5, 0);
  begin_file();
  put_proto("p.Row", types, 2);
  for (int i = 0; i < 3; i++) { /* a b, b a, a b a */
    message.n = 0;
    for (int k = 0; k < (i == 2 ? 3 : 2); k++)
      put_varint(&message, (k + (i == 1)) % 2 ? 2 << 3 | 1 : 1 << 3 | 1), put_double(&message, i + 0.25 * k);
    put_part(&message, 4, "\x08\x07", 2);
    put_part(&message, 4, i ? "\x10\x05" : "", i ? 2 : 0); /* c in one part, d in the next one */
    put_message(&file, 1, (uint64_t)i + 1, message.bytes, message.n);
  }
  end_file();
  save(file.n);
  is("a", "- 1.25 2.5");
  is("b", "0.25 - -");
  is("x", "0 0 0");
  is("part.c", "7 - -");
  is("part.d", "- 5 5");
  is("part.e", "0 0 0");
  bramah_log_reader *reader = open_it(0); /* one that nobody wants takes the place of another, too */
  double values[16];
  unsigned char present[16];
  int end;
  size_t a, b;
  ck_assert_int_eq(bramah_log_find(reader, "a", NULL, &a, NULL), BRAMAH_OK);
  ck_assert_int_eq(bramah_log_find(reader, "b", NULL, &b, NULL), BRAMAH_OK);
  reader->columns[b].ignored = 1;
  ck_assert_int_eq(bramah_log_next(reader, values, present, &end, NULL), BRAMAH_OK);
  ck_assert_int_eq(present[a], 0);
  bramah_log_close(reader);
}

/* ---- what is written ---- */

static void write_rows(int n, int finish)
{
  const char *names[] = {"t", "crank.angle", "crank_angle", "1 \xc2\xb5"},
             *units[] = {"s", "rad", "deg", "V"};
  bramah_log_writer *writer;
  double row[4];
  ck_assert_int_eq(bramah_log_create(path, NULL, &writer), BRAMAH_OK);
  for (int i = 0; i < 4; i++)
    ck_assert_int_eq(bramah_log_add_column(writer, names[i], units[i], 6, NULL), BRAMAH_OK);
  for (int k = 0; k < n; k++) {
    for (int i = 0; i < 4; i++)
      row[i] = i == 0 ? 0.001 * k : (k + i) % 7 == 0 ? NAN : 0.1 * k + i * sqrt(2.0);
    ck_assert_int_eq(bramah_log_write(writer, row, NULL), BRAMAH_OK);
  }
  if (!finish) { /* as a run that is killed */
    ck_assert_int_eq(bramah_log_flush(writer, NULL), BRAMAH_OK);
    char other[SCRATCH_NAME + 16];
    snprintf(other, sizeof other, "%s.copy", path);
    ck_assert_int_eq(link(path, other), 0);
    ck_assert_int_eq(unlink(path), 0);
    FILE *from = fopen(other, "rb");
    file.n = fread(file.bytes, 1, sizeof file.bytes, from);
    fclose(from);
    unlink(other);
    save(file.n);
  }
  ck_assert_int_eq(bramah_log_finish(writer, NULL), BRAMAH_OK);
}

EACH_TEST(rows_come_back, 0, 2)
{
  const int n = _i ? 7 : 20011;
  const char *names[] = {"t", "crank.angle", "crank_angle", "1 \xc2\xb5"},
             *units[] = {"s", "rad", "deg", "V"};
  size_t at[4];
  double values[8];
  unsigned char present[8];
  int end;
  write_rows(n, !_i);
  bramah_log_reader *reader = open_it(0);
  for (int i = 0; i < 4; i++) {
    ck_assert_int_eq(bramah_log_find(reader, names[i], NULL, &at[i], NULL), BRAMAH_OK);
    ck_assert_str_eq(reader->columns[at[i]].unit, units[i]);
    reader->units[at[i]].factor = 1.0;
  }
  for (int k = 0; k < n; k++) {
    ck_assert_int_eq(bramah_log_next(reader, values, present, &end, NULL), BRAMAH_OK);
    ck_assert_int_eq(reader->time, (int64_t)k * 1000000);
    for (int i = 1; i < 4; i++) {
      const double wanted = (k + i) % 7 == 0 ? NAN : 0.1 * k + i * sqrt(2.0);
      ck_assert_int_eq(present[at[i]], !isnan(wanted));
      if (!isnan(wanted)) ck_assert_double_eq(values[at[i]], wanted);
    }
  }
  ck_assert_int_eq(bramah_log_next(reader, values, present, &end, NULL), BRAMAH_OK);
  ck_assert_int_eq(end, 1);
  ck_assert_int_eq(bramah_log_get_info(reader).is_cut, _i);
  bramah_log_close(reader);
}

TEST(refuses_rows_it_cannot_hold)
{
  bramah_log_writer *writer;
  bramah_diag diag = {0};
  const double row[] = {-1.0, 2.0};
  ck_assert_int_eq(bramah_log_create(path, NULL, &writer), BRAMAH_OK);
  bramah_log_add_column(writer, "t", "s", 6, NULL);
  bramah_log_add_column(writer, "x", "", 6, NULL);
  ck_assert_int_eq(bramah_log_write(writer, row, &diag), BRAMAH_E_VALUE);
  has(diag.message, "cannot hold a row at -1 s");
  bramah_log_abandon(writer, NULL);
  ck_assert_int_eq(bramah_log_create(path, NULL, &writer), BRAMAH_OK);
  bramah_log_add_column(writer, "x", "", 6, NULL);
  ck_assert_int_eq(bramah_log_write(writer, row, &diag), BRAMAH_E_UNSUPPORTED);
  has(diag.message, "no column t[s]");
  bramah_log_abandon(writer, NULL);
}

/* ---- the conformance files of the format: their records, as JSON beside each file says ---- */

/* A file of text without its blanks. */
static char *read_plain(const char *name)
{
  FILE *f = fopen(name, "rb");
  if (!f) return NULL;
  char *out = malloc(1 << 20);
  size_t n = 0;
  for (int c; out && (c = fgetc(f)) != EOF && n < (1 << 20) - 1;)
    if (c != ' ' && c != '\n' && c != '\r') out[n++] = (char)c;
  fclose(f);
  if (out) out[n] = '\0';
  return out;
}

static size_t count_of(const char *text, const char *part)
{
  size_t n = 0;
  for (const char *at = text; (at = strstr(at, part)); at++) n++;
  return n;
}

static void expect(const char *name, const char *all, const char *format, ...)
{
  char part[1024];
  va_list list;
  va_start(list, format);
  vsnprintf(part, sizeof part, format, list);
  va_end(list);
  ck_assert_msg(strstr(all, part) != NULL, "%s: no %s", name, part);
}

static size_t list_bytes(char *out, const unsigned char *data, size_t n)
{
  size_t used = 0;
  for (size_t i = 0; i < n && used < 200; i++)
    used += (size_t)snprintf(out + used, 256 - used, "%s\"%d\"", i ? "," : "", data[i]);
  out[used] = '\0';
  return used;
}

static int id_of(const bramah__ids *ids, uint32_t wanted)
{
  int id = 0;
  while (bramah__ids_find(ids, (unsigned)id) != wanted + 1) id++;
  return id;
}

/* All schemas, channels and messages of the file are in the expected records, and as many. Returns the messages. */
static size_t check_records(const char *name, const char *expected)
{
  bramah_log_reader reader = {.kind = &bramah__log_mcap, .path = (char *)(uintptr_t)name};
  char list[256];
  size_t messages = 0;
  reader.c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  reader.fd = open(name, O_RDONLY);
  ck_assert_int_eq(bramah__topics_open(&reader), BRAMAH_OK);
  bramah__topics *m = reader.source;
  m->unpack = unpack_piece;
  m->list = list_messages;
  ck_assert_msg(!scan(&reader), "%s: %s", name, reader.failure.message);
  ck_assert_msg(!m->is_cut, "%s: not whole", name);
  for (size_t i = 0; i < m->n_pieces; i++) {
    bramah__block b;
    uint64_t before = 0;
    ck_assert_msg(!bramah__topics_load(&reader, &m->pieces[i], 1, &b), "%s: %s", name,
                  reader.failure.message);
    for (size_t k = 0; k < b.n; k++, messages++) {
      const bramah__entry *e = &b.entries[k];
      const int id = id_of(&m->of_id, e->channel);
      list_bytes(list, b.bytes + e->at, e->n);
      expect(
          name, expected,
          "{\"type\":\"Message\",\"fields\":[[\"channel_id\",\"%d\"],[\"data\",[%s]],[\"log_time\",\"%llu\"],"
          "[\"publish_time\",\"%llu\"],",
          id, list, (unsigned long long)e->time, (unsigned long long)e->sent);
      ck_assert_uint_ge(e->time, before);
      before = e->time;
    }
    bramah__block_free(&b);
  }
  for (size_t i = 0; i < m->n_schemas; i++) {
    const bramah__schema_record *s = &m->schemas[i];
    list_bytes(list, s->data, s->length);
    expect(name, expected,
           "{\"type\":\"Schema\",\"fields\":[[\"data\",[%s]],[\"encoding\",\"%s\"],[\"id\",\"%d\"],[\"name\","
           "\"%s\"]]}",
           list, s->encoding, id_of(&m->schema_of_id, (uint32_t)i), s->name);
  }
  for (size_t i = 0; i < m->n_channels; i++)
    expect(name, expected, "[\"topic\",\"%s\"]]}", m->channels[i].topic);
  if (m->n_stated) expect(name, expected, "[\"channel_count\",\"%zu\"]", m->n_stated);
  ck_assert_uint_eq(messages, count_of(expected, "\"type\":\"Message\""));
  ck_assert_uint_eq(m->n_channels > 0, count_of(expected, "\"type\":\"Channel\"") > 0);
  ck_assert_uint_eq(m->n_schemas > 0, count_of(expected, "\"type\":\"Schema\"") > 0);
  bramah__topics_close(&reader);
  close(reader.fd);
  freelocale(reader.c_locale);
  return messages;
}

/* BRAMAH_MCAP_CONFORMANCE: the folder tests/conformance/data of the format's repository. */
TEST(agrees_with_the_conformance_files)
{
  const char *root = getenv("BRAMAH_MCAP_CONFORMANCE");
  size_t files = 0, messages = 0;
  if (!root) {
    printf("skipped: BRAMAH_MCAP_CONFORMANCE names no folder with the conformance files of MCAP\n");
    return;
  }
  DIR *folders = opendir(root);
  ck_assert_msg(folders != NULL, "%s: no such folder", root);
  for (struct dirent *group; (group = readdir(folders));) {
    char name[2048];
    snprintf(name, sizeof name, "%s/%s", root, group->d_name);
    DIR *in = group->d_name[0] == '.' ? NULL : opendir(name);
    for (struct dirent *each; in && (each = readdir(in));) {
      const size_t n = strlen(each->d_name);
      if (n < 6 || strcmp(each->d_name + n - 5, ".mcap") != 0) continue;
      snprintf(name, sizeof name, "%s/%s/%.*s.json", root, group->d_name, (int)(n - 5), each->d_name);
      char *expected = read_plain(name);
      ck_assert_msg(expected != NULL, "%s", name);
      snprintf(name, sizeof name, "%s/%s/%s", root, group->d_name, each->d_name);
      messages += check_records(name, expected);
      files++;
      free(expected);
    }
    if (in) closedir(in);
  }
  closedir(folders);
  printf("%zu conformance files agree, with %zu messages\n", files, messages);
  ck_assert_uint_gt(files, 0);
}

#else

TEST(says_that_zlib_is_missing)
{
  bramah_diag diag = {0};
  bramah_log_reader *reader = NULL;
  FILE *f = fopen(path, "wb");
  fwrite(BRAMAH__MCAP_MAGIC, 1, BRAMAH__MCAP_MARK, f);
  fclose(f);
  ck_assert_int_eq(bramah_log_open(path, NULL, &diag, &reader), BRAMAH_E_UNSUPPORTED);
  ck_assert_ptr_nonnull(strstr(diag.message, "built without zlib"));
}

#endif

int main(void) { return run_tests_with("mcap", make_folder, remove_folder); }
