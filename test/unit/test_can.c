/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CAN logs: frames of candump, ASC and BLF, decoded by DBC files. */
#define _GNU_SOURCE
#include "lib/logs/can.h"
#include "test/support/run.h"
#include "test/support/scratch.h"

#include <math.h>
#include <stdio.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef BRAMAH_ZLIB
#include <zlib.h>
#endif

static char folder[SCRATCH_NAME], dbc[SCRATCH_NAME + 8], path[SCRATCH_NAME + 8];

static void make_folder(void)
{
  ck_assert(scratch_folder(folder));
  snprintf(dbc, sizeof dbc, "%s/m.dbc", folder);
  snprintf(path, sizeof path, "%s/a.log", folder);
}

static void remove_folder(void)
{
  unlink(dbc);
  unlink(path);
  ck_assert_int_eq(rmdir(folder), 0);
}

static void put(const char *name, const void *bytes, size_t n)
{
  FILE *file = fopen(name, "wb");
  ck_assert_ptr_nonnull(file);
  ck_assert_uint_eq(fwrite(bytes, 1, n, file), n);
  ck_assert_int_eq(fclose(file), 0);
}

static void put_text(const char *name, const char *text) { put(name, text, strlen(text)); }

/* Engine speed and fuel rate as J1939-71 has them (SPN 190 in PGN 61444, SPN 183 in PGN 65266). */
static const char machine[] =
    "VERSION \"\"\n\nNS_ :\n\tNS_DESC_\n\tBA_DEF_\n\tSG_MUL_VAL_\n\nBS_:\n\nBU_: X\n\n"
    "BO_ 256 Crank: 8 X\n"
    " SG_ Angle : 0|16@1- (0.01,0) [-180|180] \"deg\" X\n"
    " SG_ Rate : 23|12@0- (0.5,-10) [0|0] \"deg/s\" X\n"
    " SG_ State : 36|4@1+ (1,0) [0|0] \"\" X\n"
    " SG_ Odd : 40|8@1+ (1,0) [0|0] \"furlong\" X\n"
    "BO_ 257 Double: 8 X\n SG_ p1 : 0|64@1- (1,0) [0|0] \"bar\" X\n"
    "BO_ 258 Floats: 8 X\n SG_ a : 7|32@0- (2,1) [0|0] \"\" X\n SG_ b : 32|32@1- (1,0) [0|0] \"\" X\n"
    "BO_ 259 Mux: 8 X\n SG_ kind M : 0|8@1+ (1,0) [0|0] \"\" X\n SG_ one m1 : 8|8@1+ (1,0) [0|0] \"\" X\n"
    " SG_ two m2M : 8|8@1+ (1,0) [0|0] \"\" X\n SG_ deep m0 : 16|8@1+ (1,0) [0|0] \"\" X\n"
    "BO_ 2364540158 EEC1: 8 X\n SG_ EngineSpeed : 24|16@1+ (0.125,0) [0|8031.875] \"rpm\" X\n"
    "BO_ 2365518590 LFE1: 8 X\n SG_ FuelRate : 0|16@1+ (0.05,0) [0|3212.75] \"l/h\" X\n"
    " SG_ Full : 16|16@1+ (1,0) [0|65535] \"\" X\n"
    "BO_ 2364539134 Long: 20 X\n SG_ Late : 0|8@1+ (1,0) [0|0] \"\" X\n SG_ Last : 152|8@1+ (1,0) [0|0] \"\" "
    "X\n"
    "BO_ 2364538878 Longer: 1786 X\n SG_ Latest : 0|8@1+ (1,0) [0|0] \"\" X\n"
    "BO_ 300 Fd: 64 X\n SG_ last : 511|8@0+ (1,0) [0|0] \"\" X\n SG_ p1 : 0|8@1+ (1,0) [0|0] \"\" X\n"
    "CM_ SG_ 256 Angle \"of the crank; \\\"quoted\\\"\nBO_ 1 no message\";\n"
    "VAL_ 256 State 15 \"SNA\" 1 \"running\" 0 \"off\" ;\n"
    "SIG_VALTYPE_ 257 p1 : 2;\nSIG_VALTYPE_ 258 a : 1;\nSIG_VALTYPE_ 258 b : 1;\n"
    "SG_MUL_VAL_ 259 deep two 3-5, 9-9;\nSG_MUL_VAL_ 259 one kind 1-1;\nSG_MUL_VAL_ 259 two kind 2-2;\n";

static bramah_log_reader *open_log(bramah_diag *diag)
{
  const bramah_log_format format = {.dbc = dbc};
  bramah_log_reader *reader = NULL;
  bramah_log_open(path, &format, diag, &reader);
  return reader;
}

static uint64_t lost;
static int first_lost;

/* Rows as text: time in ns and cells. */
static bramah_status read_log(char *out, size_t n, bramah_diag *diag)
{
  double values[64];
  unsigned char present[64];
  int end = 0;
  size_t used = 0;
  *out = '\0';
  bramah_log_reader *reader = open_log(diag);
  if (!reader) return diag->status;
  bramah_log_info info = bramah_log_get_info(reader);
  ck_assert_uint_le(info.n_columns, 64);
  bramah_status status = bramah__log_set_time(reader, 0, NULL, 0, diag);
  while (!status) {
    status = bramah_log_next(reader, values, present, &end, diag);
    if (status || end) break;
    used += (size_t)snprintf(out + used, n - used, "%lld", (long long)reader->time);
    for (size_t i = 1; i < info.n_columns; i++)
      if (present[i])
        used += (size_t)snprintf(out + used, n - used, " %s=%.10g", info.columns[i].name, values[i]);
      else
        ck_assert(isnan(values[i]));
    used += (size_t)snprintf(out + used, n - used, "\n");
  }
  info = bramah_log_get_info(reader);
  lost = info.lost;
  first_lost = info.first_lost;
  bramah_log_close(reader);
  return status;
}

/* ---- frames ---- */

static const struct {
  const char *log, *rows;
} texts[] = {
    {"(1.500000) can0 100#10F7FF2C01F57B00\n",
     "1500000000 Crank.Angle=-0.3993313329 Crank.Rate=-0.2967059728 Crank.State=0 Crank.Odd=245\n"},
    {" (0.000000001)  can0  100   [8]  E8 03 00 00 F0 00 00 00   '........'\r\n",
     "1 Crank.Angle=0.1745329252 Crank.Rate=-0.1745329252 Crank.Odd=0\n"},
    {"(2.000000) can0 101#000000000000F03F\n(2.1) can0 101#000000000000F07F0\n", NULL},
    {"(2.000000) can0 101#000000000000F83F\n(2.100000) can0 102#3FC000000000803F\n(2.2) can0 "
     "101#000000000000F87F\n",
     "2000000000 Double.p1=150000\n2100000000 Floats.a=4 Floats.b=1\n"}, /* not a number: no sample */
    {"(1.0) c 103#0107000000000000\n(2.0) c 103#0205330000000000\n(3.0) c 103#0206330000000000\n(4.0) c "
     "103#02\n",
     "1000000000 Mux.kind=1 Mux.one=7\n2000000000 Mux.kind=2 Mux.two=5 Mux.deep=51\n3000000000 Mux.kind=2 "
     "Mux.two=6\n"
     "4000000000 Mux.kind=2\n"},
    /* J1939: whatever priority and sender; FFFF and FE.. are no measurement; what is no message is passed over. */
    {"(1.0) can0 0CF00400#FFFFFF803EFFFFFF\n(1.1) can0 18F00400#FFFFFFFFFFFFFFFF\n(1.2) can0 "
     "18FEF200#6400FFFFFFFFFFFF\n"
     "(1.3) can0 18FEF200#00FEFFFFFFFFFFFF\n(1.35) can0 18FEF200#FFFFFFFEFFFFFFFF\n(1.4) can0 "
     "1FFFFFFF#00\n(1.5) can0 18FEF200#R8\n(1.6) can0 "
     "20000080#0000000000000000\n",
     "1000000000 EEC1.EngineSpeed=209.4395102\n1200000000 LFE1.FuelRate=1.388888889e-06\n1350000000 "
     "LFE1.Full=65279\n"},
    {"(1.0) can0 12C##301000000000000000000000000000000000000000000000000000000000000"
     "00000000000000000000000000000000000000000000000000000000000000007B\n(1.1) can0 12C  [02]  05 00\n",
     "1000000000 Fd.last=123 Fd.p1=1\n1100000000 Fd.p1=5\n"},
    /* A date: ns since 1970. */
    {"(1436509052.249713) can0 103#00\n(1436509053.249713) can0 103#00\n",
     "1436509052249713000 Mux.kind=0\n1436509053249713000 Mux.kind=0\n"},
    {"(2015-07-10 06:17:32.249713) can0 103 [1] 00\n", "1436509052249713000 Mux.kind=0\n"},
    /* ASC */
    {"date Wed Apr 16 09:21:13.159 pm 2014\nbase hex  timestamps absolute\nno internal events logged\n// "
     "version 8.0\n"
     "Begin Triggerblock\n   0.000000 Start of measurement\n   0.001000 1  103             Rx   d 1 00 "
     "Length = 2\n"
     "   0.002000 1  CF00400x        Tx   d 8 FF FF FF 80 3E FF FF FF\n   0.003000 1  103 TxRq d 1 00\n"
     "   0.004000 CANFD   1 Rx        12c                                  1 0 2 2 05 00    0    0    0 0 0\n"
     "   0.005000 CANFD   1 Rx        12c  Fd_by_name                     1 0 2 2 06 00    0\n"
     "   0.006000 1  ErrorFrame\n   0.007000 1  Statistic: D 0 R 0 XD 0\n   0.008 1 103 Rx r\nEnd "
     "TriggerBlock\n",
     "1397683273160000000 Mux.kind=0\n1397683273161000000 EEC1.EngineSpeed=209.4395102\n1397683273163000000 "
     "Fd.p1=5\n"
     "1397683273164000000 Fd.p1=6\n"},
    {"base dec  timestamps relative\n 1.0 1 259 Rx d 1 10\n 0.5 Start\n 0.25 1 259 Rx d 2 2 7\n",
     "1000000000 Mux.kind=10\n1750000000 Mux.kind=2 Mux.two=7\n"},
    {"date Mit Dez 10 12:00:00.000 2025\nbase hex timestamps absolute\n 0.0 1 103 Rx d 1 00\n",
     "1765368000000000000 Mux.kind=0\n"},
};

EACH_TEST(reads_frames, 0, sizeof texts / sizeof texts[0])
{
  char rows[4096];
  bramah_diag diag = {0};
  put_text(dbc, machine);
  put_text(path, texts[_i].log);
  const bramah_status status = read_log(rows, sizeof rows, &diag);
  if (!texts[_i].rows) {
    ck_assert_int_eq(status, BRAMAH_E_SYNTAX);
    return;
  }
  ck_assert_msg(!status, "%s", diag.message);
  ck_assert_str_eq(rows, texts[_i].rows);
}

/* What is wrong, and where. */
static const struct {
  const char *dbc, *log;
  bramah_status status;
  int line;
  const char *message;
} mistakes[] = {
    {NULL, "can0  103   [1]  00\n", BRAMAH_E_SYNTAX, 1,
     "no time in parentheses: record the frames with candump -L"},
    {NULL, "(1.0) can0 103#00\n(1.1) can0 103#0", BRAMAH_E_TRUNCATED, 2, "bad_rows: skip"},
    {NULL, "(1.0) can0 103#00\nnothing\n", BRAMAH_E_SYNTAX, 2, "no time"},
    {NULL, "(1.0) can0 103 [3] 00\n", BRAMAH_E_SYNTAX, 1, "fewer bytes than it says"},
    {NULL, "base hex  timestamps absolute\n 1.0 1 103 Rx d 3 00\n", BRAMAH_E_SYNTAX, 2,
     "fewer bytes than it says"},
    /* Bits, as candump -i prints them. */
    {NULL, "(1.0) can0 103 [2] 00010001 00100010\n", BRAMAH_E_SYNTAX, 1, "no line of candump"},
    {NULL, "(1.0) can0 104#00\n", BRAMAH_E_EMPTY, 0, "is the DBC that of this machine?"},
    {NULL, "(1.0) can0 0CF00400#FFFFFF803EFFFFFF\n(1.1) can0 0CF00421#FFFFFF803EFFFFFF\n", BRAMAH_E_REFERENCE,
     2, "comes from two senders, 0x00 and 0x21"},
    /* One that the DBC names is meant, but not behind another. */
    {"BO_ 2364539648 A: 1 X\n SG_ s : 0|8@1+ (1,0) [0|0] \"\" X\nBA_DEF_ \"ProtocolType\" STRING ;\n"
     "BA_ \"ProtocolType\" \"J1939\";\n",
     "(1.0) can0 0CF00321#05\n(1.1) can0 0CF00300#06\n", BRAMAH_E_REFERENCE, 2,
     "(BO_ 2364539681 is that of 0x21)"},
    {NULL, "(1.0) can0 103#00\n(1.1) can1 103#00\n", BRAMAH_E_REFERENCE, 2,
     "comes on two channels, can0 and can1"},
    {NULL, "date Wed Apr 16 09:21:13 2014\nbase hex timestamps absolute\n8000000000.0 1 103 Rx d 1 00\n",
     BRAMAH_E_SYNTAX, 3, "beyond the year"},
    {"BO_ 1 A: 1 X\n SG_ s : 1|8@1+ (1,0) [0|0] \"\" X\n", "(1.0) c 001#00\n", BRAMAH_E_VALUE, 2,
     "does not fit into the 1 bytes of A"},
    {"BO_ 1 A: 1 X\n SG_ s : 0|8@2+ (1,0) [0|0] \"\" X\n", "(1.0) c 001#00\n", BRAMAH_E_SYNTAX, 2,
     "behind @"},
    {"BO_ 1 A: 1 X\n SG_ s m1 : 0|8@1+ (1,0) [0|0] \"\" X\n", "(1.0) c 001#00\n", BRAMAH_E_REFERENCE, 2,
     "has no multiplexer"},
    {"BO_ 1 A: 1 X\nBO_ 1 B: 1 X\n", "(1.0) c 001#00\n", BRAMAH_E_KEY, 2, "twice"},
    {"BO_ 1 A: 1 X\n SG_ s m0M : 0|4@1+ (1,0) [0|0] \"\" X\n SG_ r m0M : 4|4@1+ (1,0) [0|0] \"\" X\n"
     "SG_MUL_VAL_ 1 s r 0-0;\nSG_MUL_VAL_ 1 r s 0-0;\n",
     "(1.0) c 001#00\n", BRAMAH_E_REFERENCE, 2, "in a circle"},
    {"BO_ 1 A: 1 X\n SG_ s : 0|8@1+ (1,0) [0|0] \"", "(1.0) c 001#00\n", BRAMAH_E_SYNTAX, 2,
     "no closing quote"},
    {"t[s],a\n1,2\n", "(1.0) c 001#00\n", BRAMAH_E_SYNTAX, 1, "begins nothing that a DBC file has"},
    {"VERSION \"\"\n", "(1.0) c 001#00\n", BRAMAH_E_EMPTY, 2, "has no messages"},
};

EACH_TEST(mistakes_are_told, 0, sizeof mistakes / sizeof mistakes[0])
{
  char rows[4096];
  bramah_diag diag = {0};
  put_text(dbc, mistakes[_i].dbc ? mistakes[_i].dbc : machine);
  put_text(path, mistakes[_i].log);
  const bramah_status status = read_log(rows, sizeof rows, &diag);
  ck_assert_msg(status == mistakes[_i].status, "%s: %s", bramah_status_name(status), diag.message);
  ck_assert_msg(strstr(diag.message, mistakes[_i].message) != NULL, "%s", diag.message);
  ck_assert_msg(!mistakes[_i].line || diag.line == mistakes[_i].line, "line %d: %s", diag.line, diag.message);
}

/* Its address in the DBC chooses a sender; a message without one takes what is left; the place of signals that are in no
 * message is no message, although its identifier without flags is one of J1939. */
TEST(senders_of_j1939)
{
  char rows[512];
  bramah_diag diag = {0};
  put_text(dbc, "BA_ \"ProtocolType\" \"J1939\";\n"
                "BO_ 3221225472 VECTOR__INDEPENDENT_SIG_MSG: 0 X\n SG_ z : 0|8@1+ (1,0) [0|0] \"\" X\n"
                "BO_ 2348810494 TSC1: 8 X\n SG_ mode : 0|8@1+ (1,0) [0|0] \"\" X\n"
                "BO_ 2364539648 A: 1 X\n SG_ s : 0|8@1+ (1,0) [0|0] \"\" X\n"
                "BO_ 2365518337 B1: 1 X\n SG_ b : 0|8@1+ (1,0) [0|0] \"\" X\n"
                "BO_ 2365518590 B: 1 X\n SG_ c : 0|8@1+ (1,0) [0|0] \"\" X\n");
  put_text(path,
           "(1.0) can0 0C000000#05\n(1.1) can0 0CF00300#06\n(1.2) can0 0CF00321#07\n(1.3) can0 18FEF201#08\n"
           "(1.4) can0 18FEF205#09\n");
  const bramah_status status = read_log(rows, sizeof rows, &diag);
  ck_assert_msg(!status, "%s", diag.message);
  ck_assert_str_eq(rows, "1000000000 TSC1.mode=5\n1100000000 A.s=6\n1300000000 B1.b=8\n1400000000 B.c=9\n");
}

/* What goes to one receiver is no sample of what goes to another. */
static const struct {
  const char *dbc, *log, *rows;
} addressed[] = {
    {"BO_ 2348810243 A: 1 X\n SG_ s : 0|8@1+ (1,0) [0|0] \"\" X\n",
     "(1.0) can0 0C000003#05\n(1.1) can0 0C000F03#06\n(1.2) can0 18000003#07\n",
     "1000000000 A.s=5\n1200000000 A.s=7\n"},
    {"BO_ 2348810243 A: 1 X\n SG_ s : 0|8@1+ (1,0) [0|0] \"\" X\n"
     "BO_ 2348814083 B: 1 X\n SG_ s : 0|8@1+ (1,0) [0|0] \"\" X\n",
     "(1.0) can0 18000F03#05\n(1.1) can0 18000003#06\n(1.2) can0 18001003#07\n",
     "1000000000 B.s=5\n1100000000 A.s=6\n"},
    {"BO_ 2348875774 A: 1 X\n SG_ s : 0|8@1+ (1,0) [0|0] \"\" X\n",
     "(1.0) can0 18000F03#05\n(1.1) can0 18000003#06\n", NULL},
};

EACH_TEST(receivers_of_j1939, 0, sizeof addressed / sizeof addressed[0])
{
  char text[512], rows[256];
  bramah_diag diag = {0};
  snprintf(text, sizeof text, "%sBA_ \"ProtocolType\" \"J1939\";\n", addressed[_i].dbc);
  put_text(dbc, text);
  put_text(path, addressed[_i].log);
  const bramah_status status = read_log(rows, sizeof rows, &diag);
  ck_assert_msg(status == (addressed[_i].rows ? BRAMAH_OK : BRAMAH_E_REFERENCE), "%s", diag.message);
  if (addressed[_i].rows) ck_assert_str_eq(rows, addressed[_i].rows);
  if (!addressed[_i].rows)
    ck_assert_msg(strstr(diag.message, "goes to two receivers, 0x0F and 0x00") != NULL, "%s", diag.message);
}

/* As a default of its attribute, too, which the file may state otherwise. */
TEST(j1939_may_be_a_default)
{
  static const char start[] =
      "BO_ 2365518336 B: 1 X\n SG_ c : 0|8@1+ (1,0) [0|0] \"\" X\nBA_DEF_DEF_ \"ProtocolType\" \"J1939\";\n";
  char rows[64], text[sizeof start + 64];
  bramah_diag diag = {0};
  put_text(path, "(1.0) can0 18FEF205#09\n");
  put_text(dbc, start);
  ck_assert_msg(!read_log(rows, sizeof rows, &diag), "%s", diag.message);
  ck_assert_str_eq(rows, "1000000000 B.c=9\n");
  snprintf(text, sizeof text, "%sBA_ \"ProtocolType\" \"CAN\";\n", start);
  put_text(dbc, text);
  ck_assert_int_eq(read_log(rows, sizeof rows, &diag), BRAMAH_E_EMPTY);
}

/* What is no line cannot be passed over. */
TEST(no_line_ends_the_log)
{
  static char text[20000];
  const bramah_log_format format = {.dbc = dbc, .skip_bad_rows = 1};
  bramah_diag diag = {0};
  bramah_log_reader *reader = NULL;
  put_text(dbc, machine);
  memset(text, 'a', sizeof text - 1);
  memcpy(text, "(1.0) can0 103#0\n", 17);
  put_text(path, text);
  ck_assert_int_eq(bramah_log_open(path, &format, &diag, &reader), BRAMAH_E_SYNTAX);
  ck_assert_int_eq(diag.line, 2);
}

/* A device's own counter as its clock. */
TEST(a_signal_may_be_the_time)
{
  double values[64];
  unsigned char present[64];
  bramah_diag diag = {0};
  int end;
  size_t column;
  put_text(dbc, machine);
  put_text(path, "(1.0) can0 103#07\n(2.0) can0 103#09\n");
  bramah_log_reader *reader = open_log(&diag);
  ck_assert_ptr_nonnull(reader);
  ck_assert_int_eq(bramah_log_find(reader, "kind", NULL, &column, &diag), BRAMAH_OK);
  ck_assert_int_eq(bramah__log_set_time(reader, column, NULL, 1, &diag), BRAMAH_OK);
  for (int i = 0; i < 2; i++) {
    ck_assert_int_eq(bramah_log_next(reader, values, present, &end, &diag), BRAMAH_OK);
    ck_assert(present[column] && reader->time == 7 + 2 * i && values[column] == 7.0 + 2.0 * i);
  }
  bramah_log_close(reader);
}

TEST(needs_a_dbc)
{
  bramah_diag diag = {0};
  bramah_log_reader *reader = NULL;
  put_text(path, texts[0].log);
  ck_assert_int_eq(bramah_log_open(path, NULL, &diag, &reader), BRAMAH_E_KEY);
  ck_assert_ptr_nonnull(strstr(diag.message, "log: {dbc: FILE.dbc}"));
  ck_assert_int_eq(bramah_log_open("can77", &(bramah_log_format){.dbc = dbc}, &diag, &reader), BRAMAH_E_FILE);
  ck_assert_ptr_nonnull(strstr(diag.message, "CAN interface"));
}

TEST(finds_signals_by_short_names)
{
  bramah_diag diag = {0};
  size_t column;
  put_text(dbc, machine);
  put_text(path, texts[0].log);
  bramah_log_reader *reader = open_log(&diag);
  ck_assert_ptr_nonnull(reader);
  ck_assert_int_eq(bramah_log_find(reader, "EngineSpeed", "rad/s", &column, &diag), BRAMAH_OK);
  ck_assert_str_eq(bramah_log_get_info(reader).columns[column].name, "EEC1.EngineSpeed");
  ck_assert_int_eq(bramah_log_find(reader, "LFE1.FuelRate", "m^3/s", &column, &diag), BRAMAH_OK);
  ck_assert_int_eq(bramah_log_find(reader, "p1", NULL, &column, &diag), BRAMAH_E_COLUMN);
  ck_assert_ptr_nonnull(strstr(diag.message, "the signal 'p1' is in more than one message"));
  ck_assert_ptr_nonnull(strstr(diag.message, "write Double.p1 or Fd.p1"));
  ck_assert_int_eq(bramah_log_find(reader, "Latest", NULL, &column, &diag), BRAMAH_E_COLUMN);
  ck_assert_ptr_nonnull(strstr(diag.message, "more than 1785 bytes"));
  ck_assert_int_eq(bramah_log_find(reader, "Odd", "m", &column, &diag), BRAMAH_E_UNIT);
  ck_assert_ptr_nonnull(strstr(diag.message, "furlong"));
  bramah_log_close(reader);
}

/* ---- J1939: messages of several frames ---- */

/* TP.CM and TP.DT between the addresses 21 and 44, or to all: 20 bytes of the PGN F000, in three packets. */
#define FRAME(time, id, data) "(" time ") can0 " id "#" data "\n"
#define ANNOUNCE(time) FRAME(time, "1CECFF21", "20140003FF00F000")
#define ASK(time) FRAME(time, "18EC4421", "10140003FF00F000")
#define DATA(time, number, byte, to) FRAME(time, "1CEB" to "21", number byte "7B7B7B7B7B7B")
static const struct {
  const char *log, *rows;
  uint64_t lost;
  int first_lost;
} packets[] = {
    {ANNOUNCE("1.0") DATA("1.1", "01", "05", "FF") DATA("1.2", "02", "06", "FF")
         DATA("1.3", "03", "07", "FF"),
     "1300000000 Long.Late=5 Long.Last=123\n", 0, 0},
    /* Asked for again, while others talk, with a last packet that is as short as it can be. */
    {ASK("1.0") FRAME("1.01", "18EC2144", "110301FFFF00F000") DATA("1.1", "01", "05", "44") ANNOUNCE("1.1")
         DATA("1.2", "02", "06", "44") FRAME("1.2", "1CEBFF22", "01FFFFFFFFFFFFFF")
             FRAME("1.3", "18EC2144", "110201FFFF00F000") FRAME("1.31", "18EC2144", "110001FFFF00F000")
                 DATA("1.4", "01", "08", "44") DATA("1.5", "02", "09", "44")
                     FRAME("1.6", "18EB4421", "037B7B7B7B7B7C"),
     "1600000000 Long.Late=8 Long.Last=124\n", 0, 0},
    /* A packet is missing; the next message is whole. */
    {ANNOUNCE("1.0") DATA("1.1", "01", "05", "FF") DATA("1.2", "03", "06", "FF") DATA("1.3", "02", "06", "FF")
         ANNOUNCE("2.0") DATA("2.1", "01", "04", "FF") DATA("2.2", "02", "06", "FF")
             DATA("2.3", "03", "06", "FF"),
     "2300000000 Long.Late=4 Long.Last=123\n", 1, 3},
    /* Begun anew; stopped; too late; asked for what was not sent; with wrong sizes. */
    {ANNOUNCE("1.0") DATA("1.1", "01", "05", "FF") ANNOUNCE("1.2") DATA("1.3", "01", "06", "FF")
         DATA("1.4", "02", "06", "FF") DATA("1.5", "03", "06", "FF"),
     "1500000000 Long.Late=6 Long.Last=123\n", 1, 3},
    {FRAME("0.5", "18F00021", "09") ASK("1.0") FRAME("1.2", "18EC2144", "FF03FFFFFF00F000")
         DATA("1.3", "01", "06", "44") ANNOUNCE("2.0") DATA("3.3", "01", "06", "FF") ASK("4.0")
             FRAME("4.2", "18EC2144", "110102FFFF00F000") FRAME("5.0", "1CECFF21", "20140004FF00F000")
                 FRAME("6.0", "1CECFF21", "20080002FF00F000") FRAME("6.0", "1CECFF21", "20FFFFFFFF00F000"),
     "500000000 Long.Late=9\n", 6, 3},
    /* Nothing comes any more, which is not known before 1.25 s have gone by; nobody wants it. */
    {ANNOUNCE("1.0") FRAME("2.3", "18F00021", "09"), "2300000000 Long.Late=9\n", 1, 2},
    {ANNOUNCE("1.0") FRAME("2.2", "18F00021", "09"), "2200000000 Long.Late=9\n", 0, 0},
    {FRAME("1.0", "1CECFF21", "20140003FF00F100") DATA("1.1", "03", "06", "FF")
         FRAME("2.0", "18F00021", "09"),
     "2000000000 Long.Late=9\n", 0, 0},
};

EACH_TEST(puts_packets_together, 0, sizeof packets / sizeof packets[0])
{
  char rows[1024];
  bramah_diag diag = {0};
  put_text(dbc, machine);
  put_text(path, packets[_i].log);
  const bramah_status status = read_log(rows, sizeof rows, &diag);
  ck_assert_msg(!status, "%s", diag.message);
  ck_assert_str_eq(rows, packets[_i].rows);
  ck_assert_uint_eq(lost, packets[_i].lost);
  ck_assert_int_eq(first_lost, packets[_i].first_lost);
}

/* The longest message; and more of them at a time than are kept, of which the oldest is lost. */
TEST(packets_are_bounded)
{
  static char log[40000], rows[1024];
  bramah_diag diag = {0};
  char *at = log;
  put_text(dbc, machine);
  for (int to = 0; to < 33; to++)
    at += sprintf(at, "(1.%02d) can0 18EC%02X21#10F906FFFF00F000\n", to, to + 1);
  for (int to = 0; to < 2; to++)
    for (int i = 1; i <= 255; i++)
      at += sprintf(at, "(1.5) can0 18EB%02X21#%02X%02X070707070707\n", to + 1, i, (i + 2) & 255);
  put_text(path, log);
  const bramah_status status = read_log(rows, sizeof rows, &diag);
  ck_assert_msg(!status, "%s", diag.message);
  ck_assert_str_eq(rows, "1500000000 Long.Late=3 Long.Last=7\n");
  ck_assert_uint_eq(lost, 1);
}

/* In one file without channels their identifiers tell them apart. */
TEST(namesakes_are_told_apart)
{
  bramah_diag diag = {0};
  size_t column;
  put_text(dbc,
           "BO_ 1 A: 1 X\n SG_ s : 0|8@1+ (1,0) [0|0] \"\" X\nBO_ 2565799680 A: 1 X\n SG_ s : 0|8@1+ (1,0) "
           "[0|0] \"\" X\n"
           "BO_ 3221225472 A: 1 X\n SG_ s : 0|8@1+ (1,0) [0|0] \"\" X\n SG_ z : 0|8@1+ (1,0) [0|0] \"\" X\n");
  put_text(path, "(1.0) can0 001#05\n(1.1) can0 18EEFF00#07\n");
  bramah_log_reader *reader = open_log(&diag);
  ck_assert_msg(reader != NULL, "%s", diag.message);
  ck_assert_int_eq(bramah_log_find(reader, "A.s", NULL, &column, &diag), BRAMAH_E_COLUMN);
  ck_assert_ptr_nonnull(strstr(diag.message, "write 0x001.A.s or 0x18EEFF00.A.s"));
  ck_assert_int_eq(bramah_log_find(reader, "z", NULL, &column, &diag), BRAMAH_E_COLUMN);
  ck_assert_ptr_nonnull(strstr(diag.message, "nobody sends it"));
  bramah_log_close(reader);
  char rows[256];
  ck_assert_int_eq(read_log(rows, sizeof rows, &diag), BRAMAH_OK);
  ck_assert_str_eq(rows, "1000000000 0x001.A.s=5\n1100000000 0x18EEFF00.A.s=7\n");
}

/* The texts of `missing` are those of values, too. */
TEST(texts_mean_no_sample)
{
  const bramah_log_format format = {.dbc = dbc, .missing = "- off"};
  bramah_diag diag = {0};
  bramah_log_reader *reader = NULL;
  double values[64];
  unsigned char present[64];
  int end;
  size_t column;
  put_text(dbc, machine);
  put_text(path, "(1.0) can0 100#0000000000000000\n(2.0) can0 100#0000000010000000\n");
  ck_assert_int_eq(bramah_log_open(path, &format, &diag, &reader), BRAMAH_OK);
  ck_assert_int_eq(bramah_log_find(reader, "State", NULL, &column, &diag), BRAMAH_OK);
  for (int i = 0; i < 2; i++) {
    ck_assert_int_eq(bramah_log_next(reader, values, present, &end, &diag), BRAMAH_OK);
    ck_assert_int_eq(present[column], i);
  }
  bramah_log_close(reader);
}

/* One file for each channel: the same names, told from each other. */
TEST(channels_have_their_own_files)
{
  char list[3 * SCRATCH_NAME], rows[512];
  bramah_diag diag = {0};
  bramah_log_reader *reader = NULL;
  size_t a, b;
  put_text(dbc, "BO_ 1 A: 1 X\n SG_ s : 0|8@1+ (1,0) [0|0] \"\" X\n");
  put_text(path, "(1.0) can0 001#05\n(1.0) can1 001#06\n(1.0) can2 001#07\n");
  snprintf(list, sizeof list, "can0=%s\ncan1=%s", dbc, dbc);
  bramah_log_format format = {.dbc = list};
  ck_assert_int_eq(bramah_log_open(path, &format, &diag, &reader), BRAMAH_OK);
  ck_assert_int_eq(bramah_log_find(reader, "can0.A.s", NULL, &a, &diag), BRAMAH_OK);
  ck_assert_int_eq(bramah_log_find(reader, "can1.A.s", NULL, &b, &diag), BRAMAH_OK);
  ck_assert_int_eq(bramah_log_find(reader, "A.s", NULL, &b, &(bramah_diag){0}), BRAMAH_E_COLUMN);
  double v[3];
  unsigned char present[3];
  int end;
  for (int i = 0; i < 2; i++) {
    ck_assert_int_eq(bramah_log_next(reader, v, present, &end, &diag), BRAMAH_OK);
    ck_assert(present[i ? b : a] && !present[i ? a : b] && v[i ? b : a] == 5.0 + i);
  }
  ck_assert_int_eq(bramah_log_next(reader, v, present, &end, &diag), BRAMAH_OK);
  ck_assert_int_eq(end, 1);
  bramah_log_close(reader);
  snprintf(list, sizeof list, "%s\n%s", dbc, dbc);
  ck_assert_int_eq(bramah_log_open(path, &format, &diag, &reader), BRAMAH_E_KEY);
  ck_assert_ptr_nonnull(strstr(diag.message, "say which channel"));
  (void)rows;
}

/* ---- BLF ---- */

static size_t object(unsigned char *out, uint32_t kind, uint64_t ns, const unsigned char *body, size_t n)
{
  const uint32_t size = (uint32_t)(32 + n), flags = 2;
  memset(out, 0, size + 3);
  memcpy(out, "LOBJ\x20\0\1\0", 8);
  memcpy(out + 8, &size, 4);
  memcpy(out + 12, &kind, 4);
  memcpy(out + 16, &flags, 4);
  memcpy(out + 24, &ns, 8);
  memcpy(out + 32, body, n);
  return size + size % 4;
}

/* Objects in containers of so many bytes, so that they go on in the next one. */
static size_t contain(unsigned char *out, const unsigned char *objects, size_t n, size_t each, int packed)
{
  size_t used = 0;
  for (size_t at = 0; at < n; at += each) {
    const uint32_t length = (uint32_t)(n - at < each ? n - at : each), kind = 10;
    unsigned long size = length;
    unsigned char *o = out + used;
    memset(o, 0, 32);
    memcpy(o, "LOBJ\x10\0\1\0", 8);
    memcpy(o + 12, &kind, 4);
    memcpy(o + 24, &length, 4);
    memcpy(o + 32, objects + at, length);
#ifdef BRAMAH_ZLIB
    if (packed) {
      size = 4096;
      o[16] = 2;
      ck_assert_int_eq(compress(o + 32, &size, objects + at, length), Z_OK);
    }
#endif
    (void)packed;
    const uint32_t whole = (uint32_t)size + 32;
    memcpy(o + 8, &whole, 4);
    used += whole + whole % 4;
  }
  return used;
}

static size_t make_blf(unsigned char *file, int packed, size_t each)
{
  static const unsigned char frame[16] = {1, 0, 0, 1, 3, 1, 0, 0, 7},
                             fd[84] = {1, 0, 0, 9, 0x2c, 1, 0, 0, [13] = 1, [14] = 12, [20] = 5};
  static const unsigned char fd64[52] = {1, 9, 12, 0, 0x2c, 1, 0, 0, [40] = 6},
                             j1939[16] = {1, 0, 0, 8, 0, 4, 0xf0, 0x8c, 0xff, 0xff, 0xff, 0x80, 0x3e};
  static const unsigned short start[] = {2014, 4, 3, 16, 9, 21, 13, 159};
  unsigned char objects[1024];
  size_t n = object(objects, 1, 1000, frame, 16);
  n += object(objects + n, 86, 2000, j1939, 16);
  n += object(objects + n, 65, 2500, fd, 21); /* something else */
  n += object(objects + n, 100, 3000, fd, 84);
  n += object(objects + n, 101, 4000, fd64, 52);
  memset(file, 0, 144);
  memcpy(file, "LOGG\x90", 5);
  memcpy(file + 40, start, sizeof start);
  return 144 + contain(file + 144, objects, n, each, packed);
}

static const char blf_rows[] =
    "1397640073159001000 Mux.kind=7\n1397640073159002000 EEC1.EngineSpeed=209.4395102\n"
    "1397640073159003000 Fd.p1=5\n1397640073159004000 Fd.p1=6\n";

TEST(reads_blf)
{
  unsigned char file[8192];
  char rows[1024];
  bramah_diag diag = {0};
  put_text(dbc, machine);
  for (size_t each = 40; each < 700; each += 97)
    for (int packed = 0; packed < 2; packed++) {
      put(path, file, make_blf(file, packed, each));
      const bramah_status status = read_log(rows, sizeof rows, &diag);
      ck_assert_msg(!status, "%s", diag.message);
      ck_assert_str_eq(rows, blf_rows);
    }
}

/* As TSMaster writes them: bytes at the end are left out, or others follow. */
TEST(reads_short_frames_of_blf)
{
  static const unsigned char left_out[40] = {1, 15, 64, 0, 0x2c, 1, 0, 0};
  static const unsigned char others[40 + 8 + 8] = {
      1, 15, 64, 0, 0x2c, 1, 0, 0, [35] = 32 + 40 + 8, [40] = 7, [48] = 1, 2, 3, 4, 5, 6, 7, 8};
  static const unsigned char late[40] = {1, 15, 64, 0, 0x2c, 1, 0, 0};
  /* What was only asked to be sent comes again when it is sent. */
  static const unsigned char asked[16] = {1, 0, 2, 1, 0x2c, 1, 0, 0, 9},
                             asked_64[48] = {1, 1, 1, 0, 0x2c, 1, 0, 0, [34] = 2, [40] = 9};
  unsigned char file[2048] = "LOGG\x90", objects[1024];
  char rows[1024];
  bramah_diag diag = {0};
  put_text(dbc,
           "BO_ 300 Fd: 64 X\n SG_ a : 0|8@1+ (1,0) [0|0] \"\" X\n SG_ b : 64|8@1+ (1,0) [0|0] \"\" X\n");
  size_t n = object(objects, 101, 1, left_out, sizeof left_out);
  n += object(objects + n, 101, 2, others, sizeof others);
  n += object(objects + n, 1, 3, asked, sizeof asked);
  n += object(objects + n, 101, 4, asked_64, sizeof asked_64);
  put(path, file, 144 + contain(file + 144, objects, n, n, 0));
  const bramah_status status = read_log(rows, sizeof rows, &diag);
  ck_assert_msg(!status, "%s", diag.message);
  ck_assert_str_eq(rows, "1 Fd.a=0 Fd.b=0\n2 Fd.a=7 Fd.b=0\n");
  n = object(objects, 101, UINT64_C(0x7222222222222222), late, sizeof late);
  put(path, file, 144 + contain(file + 144, objects, n, n, 0));
  ck_assert_int_eq(read_log(rows, sizeof rows, &diag), BRAMAH_OK);
  n = object(objects, 101, UINT64_C(0x8222222222222222), late, sizeof late);
  put(path, file, 144 + contain(file + 144, objects, n, n, 0));
  ck_assert_int_eq(read_log(rows, sizeof rows, &diag), BRAMAH_E_SYNTAX);
  ck_assert_ptr_nonnull(strstr(diag.message, "beyond the year"));
  n = object(objects, 1, 1, left_out, 7);
  put(path, file, 144 + contain(file + 144, objects, n, n, 0));
  ck_assert_int_eq(read_log(rows, sizeof rows, &diag), BRAMAH_E_SYNTAX);
  ck_assert_ptr_nonnull(strstr(diag.message, "does not fit into its object"));
}

/* Cut at any place and with any byte changed: rows from the beginning, or an error; never more. */
TEST(damaged_blf_is_no_harm)
{
  unsigned char file[8192], copy[8192];
  char rows[1024];
  bramah_diag diag = {0};
  put_text(dbc, machine);
  const size_t n = make_blf(file, 1, 100);
  for (size_t cut = 0; cut < n; cut += 3) {
    put(path, file, cut);
    read_log(rows, sizeof rows, &diag);
    ck_assert(strncmp(rows, blf_rows, strlen(rows)) == 0);
  }
  for (size_t i = 0; i < n; i++) {
    memcpy(copy, file, n);
    copy[i] ^= (unsigned char)(i % 2 ? 0xff : 0x80);
    put(path, copy, n);
    read_log(rows, sizeof rows, &diag);
  }
}

/* ---- the same numbers as from CSV, to the bit ---- */

TEST(doubles_are_those_of_csv)
{
  char csv[4096] = "t[s],p1[bar]\n", can[8192] = "";
  double values[2][64], v[64];
  unsigned char present[64];
  uint64_t seed = 1;
  put_text(dbc, machine);
  for (int i = 0; i < 40; i++) {
    seed = seed * UINT64_C(6364136223846793005) + 1;
    const double p = (double)(seed >> 11) * 1e-14;
    uint64_t bits;
    memcpy(&bits, &p, 8);
    sprintf(csv + strlen(csv), "%d.001,%.17g\n", i, p);
    sprintf(can + strlen(can), "(%d.001000) can0 101#", i);
    for (int k = 0; k < 8; k++) sprintf(can + strlen(can), "%02X", (unsigned)(bits >> 8 * k & 0xff));
    strcat(can, "\n");
  }
  for (int k = 0; k < 2; k++) {
    bramah_diag diag = {0};
    size_t column;
    int end = 0;
    put_text(path, k ? can : csv);
    bramah_log_reader *reader = open_log(&diag);
    ck_assert_ptr_nonnull(reader);
    ck_assert_int_eq(bramah_log_find(reader, k ? "Double.p1" : "p1", "Pa", &column, &diag), BRAMAH_OK);
    for (int i = 0; i < 40; i++) {
      ck_assert_int_eq(bramah_log_next(reader, v, present, &end, &diag), BRAMAH_OK);
      values[k][i] = v[column];
    }
    bramah_log_close(reader);
  }
  ck_assert_int_eq(memcmp(values[0], values[1], 40 * sizeof(double)), 0);
}

/* ---- an interface, whose socket is played by another one ---- */

#ifdef __linux__
#include <linux/can.h>

TEST(receives_frames)
{
  int ends[2], end;
  uint64_t dropped = 0;
  bramah__can_frame frame = {0};
  bramah_log_reader reader = {0};
  ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
  reader.fd = ends[0];
  const struct can_frame remote = {.can_id = 0x103 | CAN_RTR_FLAG},
                         error = {.can_id = CAN_ERR_FLAG, .can_dlc = 8};
  const struct can_frame good = {.can_id = 0x8CF00400u, .can_dlc = 3, .data = {1, 2, 3}};
  const struct canfd_frame fd = {.can_id = 0x12c, .len = 64, .data = {[63] = 9}};
  ck_assert_int_eq(write(ends[1], &remote, CAN_MTU), CAN_MTU);
  ck_assert_int_eq(write(ends[1], &error, CAN_MTU), CAN_MTU);
  ck_assert_int_eq(write(ends[1], &good, CAN_MTU), CAN_MTU);
  ck_assert_int_eq(write(ends[1], &fd, CANFD_MTU), CANFD_MTU);
  close(ends[1]);
  ck_assert_int_eq(bramah__can_receive(&reader, &frame, &dropped, &end), BRAMAH_OK);
  ck_assert(!end && frame.is_extended && frame.id == 0x0CF00400u && frame.n == 3 && frame.data[2] == 3);
  ck_assert_int_gt(frame.time_ns, INT64_C(1500000000000000000));
  ck_assert_int_eq(frame.time_ns % 1000, 0);
  ck_assert_int_eq(bramah__can_receive(&reader, &frame, &dropped, &end), BRAMAH_OK);
  ck_assert(!end && !frame.is_extended && frame.id == 0x12c && frame.n == 64 && frame.data[63] == 9);
  ck_assert_int_eq(bramah__can_receive(&reader, &frame, &dropped, &end), BRAMAH_OK);
  ck_assert_int_eq(end, 1);
  close(ends[0]);
}

/* Frames that come faster than they are read: how many the system has dropped comes with the next one. */
TEST(counts_what_was_dropped)
{
  enum { SENT = 2000 };
  const int on = 1, little = 1;
  struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof here;
  const struct can_frame frame = {.can_id = 0x103, .can_dlc = 1};
  bramah__can_frame f = {0};
  bramah_log_reader reader = {.fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0)};
  const int out = socket(AF_INET, SOCK_DGRAM, 0);
  uint64_t dropped = 0;
  int end, read = 0;
  if (setsockopt(reader.fd, SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof on)) {
    printf("skipped: this system does not count dropped datagrams\n");
    close(reader.fd);
    close(out);
    return;
  }
  ck_assert_int_eq(setsockopt(reader.fd, SOL_SOCKET, SO_RCVBUF, &little, sizeof little), 0);
  ck_assert_int_eq(bind(reader.fd, (const struct sockaddr *)&here, sizeof here), 0);
  ck_assert_int_eq(getsockname(reader.fd, (struct sockaddr *)&here, &size), 0);
  ck_assert_int_eq(connect(out, (const struct sockaddr *)&here, size), 0);
  for (int i = 0; i < SENT; i++) ck_assert_int_eq(write(out, &frame, CAN_MTU), CAN_MTU);
  for (char waits[CAN_MTU]; recv(reader.fd, waits, sizeof waits, 0) > 0;) read++;
  ck_assert_int_lt(read, SENT);
  ck_assert_int_eq(write(out, &frame, CAN_MTU), CAN_MTU);
  ck_assert_int_eq(bramah__can_receive(&reader, &f, &dropped, &end), BRAMAH_OK);
  ck_assert_uint_eq(dropped, (uint64_t)(SENT - read));
  close(reader.fd);
  close(out);
}
#endif

int main(void) { return run_tests_with("can", make_folder, remove_folder); }
