/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HDF5 as a log: datasets by their paths, groups with times of their own, tables, matrices either way round, and what is
 * refused. The files are made by the HDF5 library. */
#define _GNU_SOURCE
#include "lib/logs/reader.h"
#include "test/support/run.h"
#include "test/support/scratch.h"

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char folder[SCRATCH_NAME], path[SCRATCH_NAME + 8];
static hid_t file;

static void make_file(void)
{
  ck_assert(scratch_folder(folder));
  snprintf(path, sizeof path, "%s/a.h5", folder);
  file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  ck_assert_int_ge(file, 0);
}

static void remove_file(void)
{
  if (file >= 0) H5Fclose(file);
  unlink(path);
  ck_assert_int_eq(rmdir(folder), 0);
}

static void put(const char *name, hid_t type, const void *values, hsize_t rows, hsize_t columns,
                hsize_t chunk, const char *unit)
{
  const hsize_t most[2] = {H5S_UNLIMITED, columns}, size[2] = {rows, columns}, chunks[2] = {chunk, columns};
  const int rank = columns > 1 ? 2 : 1;
  const hid_t space = H5Screate_simple(rank, size, chunk ? most : NULL), links = H5Pcreate(H5P_LINK_CREATE);
  const hid_t how = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  if (chunk) H5Pset_chunk(how, rank, chunks);
  const hid_t id = H5Dcreate2(file, name, type, space, links, how, H5P_DEFAULT);
  ck_assert_int_ge(id, 0);
  if (values) ck_assert_int_ge(H5Dwrite(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
  if (unit) {
    const hid_t text = H5Tcopy(H5T_C_S1), one = H5Screate(H5S_SCALAR);
    H5Tset_size(text, strlen(unit));
    const hid_t a = H5Acreate2(id, "units", text, one, H5P_DEFAULT, H5P_DEFAULT);
    ck_assert_int_ge(H5Awrite(a, text, unit), 0);
    H5Aclose(a);
    H5Sclose(one);
    H5Tclose(text);
  }
  H5Dclose(id);
  H5Pclose(how);
  H5Pclose(links);
  H5Sclose(space);
}

static bramah_log_reader *open_log(void)
{
  bramah_diag diag = {0};
  bramah_log_reader *log = NULL;
  if (file >= 0) H5Fclose(file);
  file = -1;
  const bramah_status status = bramah_log_open(path, NULL, &diag, &log);
  ck_assert_msg(!status, "%s: %s", diag.thing, diag.message);
  ck_assert_str_eq(bramah_log_get_info(log).kind, "HDF5 file");
  return log;
}

/* Cells of a column, as the rows come; NaN: no sample. */
static void column_is(bramah_log_reader *log, const char *name, const char *unit, size_t n,
                      const double *wanted)
{
  double values[16];
  unsigned char present[16];
  size_t at = 0;
  int end = 0;
  bramah_diag diag = {0};
  const bramah_status status = bramah_log_find(log, name, unit, &at, &diag);
  ck_assert_msg(!status, "%s: %s", name, diag.message);
  for (size_t i = 0; i < n; i++) {
    ck_assert_int_eq(bramah_log_next(log, values, present, &end, &diag), BRAMAH_OK);
    ck_assert_int_eq(end, 0);
    const double is = present[at] ? values[at] : NAN;
    ck_assert_msg(isnan(is) ? isnan(wanted[i]) : is == wanted[i], "%s, row %zu: %g", name, i + 1, is);
  }
  ck_assert_int_eq(bramah_log_next(log, values, present, &end, &diag), BRAMAH_OK);
  ck_assert_int_eq(end, 1);
  bramah_log_close(log);
}

static void is_refused(const char *name, const char *unit, const char *why)
{
  bramah_log_reader *log = open_log();
  bramah_diag diag = {0};
  size_t at;
  ck_assert_int_ne(bramah_log_find(log, name, unit, &at, &diag), BRAMAH_OK);
  ck_assert_msg(strstr(diag.message, why) != NULL, "%s: %s", name, diag.message);
  bramah_log_close(log);
}

/* Two groups of other rates, one inside the other's time, and vectors without any. */
TEST(groups_have_times_of_their_own)
{
  const double fast[] = {0, 0.001, 0.002, 0.003}, slow[] = {0, 0.002}, p[] = {1, 2, 3, 4};
  const float gyro[] = {0.5F, 1.5F, 2.5F, 3.5F};
  put("/imu/time", H5T_NATIVE_DOUBLE, fast, 4, 1, 0, "seconds");
  put("/imu/raw/gyro", H5T_NATIVE_FLOAT, gyro, 4, 1, 3, "deg/s");
  put("/plc/t", H5T_NATIVE_DOUBLE, slow, 2, 1, 0, "s");
  put("/plc/p", H5T_NATIVE_DOUBLE, p, 2, 2, 0, "bar");
  put("/limits", H5T_NATIVE_DOUBLE, p, 3, 1, 0, NULL);
  put("/imu/short", H5T_NATIVE_DOUBLE, p, 3, 1, 0, NULL);
  put("/imu/big", H5T_NATIVE_DOUBLE, NULL, 4, 1, 5000000, NULL);
  column_is(open_log(), "t", "s", 4, fast);
  column_is(open_log(), "/plc/p[1]", "bar", 4, (const double[]){2e5, NAN, 4e5, NAN});
  column_is(open_log(), "plc/p[0]", "bar", 4, (const double[]){1e5, NAN, 3e5, NAN});
  bramah_log_reader *log = open_log();
  size_t at;
  ck_assert_int_eq(bramah_log_find(log, "gyro", "rad/s", &at, NULL), BRAMAH_OK);
  ck_assert_str_eq(bramah_log_get_info(log).columns[at].name, "/imu/raw/gyro");
  bramah_log_close(log);
  is_refused("/limits", NULL, "has no time, where");
  is_refused("limits", NULL, "has no time, where");
  is_refused("/imu/short", NULL, "has 3 rows where '/imu/time' has 4");
  is_refused("/imu/big", NULL, "chunks of more than 32 MiB");
}

/* A table of records, as pandas and PyTables write; times as whole nanoseconds stay exact. */
TEST(tables_give_their_members)
{
  const struct record {
    int64_t t;
    short counts;
    double p;
  } rows[] = {{1700000000000000001, 7, 1.25}, {1700000000000000002, -8, NAN}};
  const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof rows[0]);
  H5Tinsert(type, "t", HOFFSET(struct record, t), H5T_NATIVE_INT64);
  H5Tinsert(type, "counts", HOFFSET(struct record, counts), H5T_NATIVE_SHORT);
  H5Tinsert(type, "p", HOFFSET(struct record, p), H5T_NATIVE_DOUBLE);
  put("/log/table", type, rows, 2, 1, 0, NULL);
  H5Tclose(type);
  column_is(open_log(), "/log/table/p", NULL, 2, (const double[]){1.25, NAN});
  column_is(open_log(), "counts", NULL, 2, (const double[]){7, -8});
  is_refused("p", "Pa", "in an attribute 'units' of the dataset");
}

/* More rows than are read at once; a matrix with its rows as columns, and one that leads without a name for its time. */
TEST(blocks_and_matrices)
{
  enum { N = 20001 };
  static double t[N], x[2][N], wanted[N];
  for (int i = 0; i < N; i++) t[i] = 0.001 * i, x[0][i] = i, wanted[i] = x[1][i] = -i;
  put("/stamp", H5T_NATIVE_DOUBLE, t, N, 1, 4000, "s");
  put("/x", H5T_NATIVE_DOUBLE, x, 2, N, 2, NULL);
  column_is(open_log(), "/x[1]", NULL, N, wanted);
  column_is(open_log(), "stamp", "s", N, t);
}

/* The clock, not another name for times, tells which way matrices lie. */
TEST(the_first_name_for_times_counts)
{
  const double t[] = {0, 1, 2}, stamp[] = {0, 1}, x[] = {1, 2, 3, 4, 5, 6};
  put("/TIME", H5T_NATIVE_DOUBLE, stamp, 2, 1, 0, "s");
  put("/t", H5T_NATIVE_DOUBLE, t, 3, 1, 0, "s");
  put("/x", H5T_NATIVE_DOUBLE, x, 2, 3, 0, NULL);
  column_is(open_log(), "/x[1]", NULL, 3, (const double[]){4, 5, 6});
}

TEST(a_cut_file_is_told)
{
  const double t[] = {0, 1};
  bramah_diag diag = {0};
  bramah_log_reader *log = NULL;
  put("/t", H5T_NATIVE_DOUBLE, t, 2, 1, 0, "s");
  H5Fclose(file);
  file = -1;
  ck_assert_int_eq(truncate(path, 1000), 0);
  ck_assert_int_eq(bramah_log_open(path, NULL, &diag, &log), BRAMAH_E_TRUNCATED);
  ck_assert_ptr_nonnull(strstr(diag.message, "it was cut"));
}

/* A damaged block ends the log, bad rows left out or not. */
TEST(a_damaged_block_is_told_once)
{
  const double t[] = {0, 1};
  const hsize_t size = 2;
  unsigned char filled[20] = {1, 2, 3};
  const hid_t space = H5Screate_simple(1, &size, NULL), how = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(how, 1, &size);
  H5Pset_fletcher32(how);
  put("/t", H5T_NATIVE_DOUBLE, t, 2, 1, 0, "s");
  const hid_t id = H5Dcreate2(file, "/x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, how, H5P_DEFAULT);
  const hsize_t first = 0;
  ck_assert_int_ge(H5Dwrite_chunk(id, H5P_DEFAULT, 0, &first, sizeof filled, filled),
                   0); /* without its checksum */
  H5Dclose(id);
  H5Pclose(how);
  H5Sclose(space);
  H5Fclose(file);
  file = -1;
  bramah_log_format format = {.skip_bad_rows = 1};
  bramah_diag diag = {0};
  bramah_log_reader *log = NULL;
  double values[2];
  unsigned char present[2];
  int end = 0;
  ck_assert_int_eq(bramah_log_open(path, &format, &diag, &log), BRAMAH_OK);
  ck_assert_int_eq(bramah_log_next(log, values, present, &end, &diag), BRAMAH_E_TRUNCATED);
  ck_assert_ptr_nonnull(strstr(diag.message, "cannot be read"));
  bramah_log_close(log);
}

static void put_attribute(const char *of, const char *name, hid_t type, const void *value)
{
  const hid_t one = H5Screate(H5S_SCALAR),
              a = H5Acreate_by_name(file, of, name, type, one, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  ck_assert_int_ge(H5Awrite(a, type, value), 0);
  H5Aclose(a);
  H5Sclose(one);
}

/* As netCDF packs numbers; and whole nanoseconds without a sign stay exact. */
TEST(packed_numbers_and_unsigned_times)
{
  const uint64_t t[] = {1700000000000000001, 1700000000000000002, 1700000000000000003};
  const short x[] = {100, -200, -9999}, none = -9999;
  const double scale = 0.5, offset = 10.0;
  put("/t", H5T_NATIVE_UINT64, t, 3, 1, 0, "ns");
  put("/x", H5T_NATIVE_SHORT, x, 3, 1, 0, "bar");
  put_attribute("/x", "scale_factor", H5T_NATIVE_DOUBLE, &scale);
  put_attribute("/x", "add_offset", H5T_NATIVE_DOUBLE, &offset);
  put_attribute("/x", "_FillValue", H5T_NATIVE_SHORT, &none);
  column_is(open_log(), "/x", "bar", 3, (const double[]){60e5, -90e5, NAN});
  bramah_log_reader *log = open_log();
  double values[2];
  unsigned char present[2];
  int end;
  bramah_diag diag = {0};
  ck_assert_int_eq(bramah__log_set_time(log, bramah__log_index(log, "/t"), NULL, 0, &diag), BRAMAH_OK);
  for (int i = 0; i < 3; i++) {
    ck_assert_int_eq(bramah_log_next(log, values, present, &end, &diag), BRAMAH_OK);
    ck_assert_int_eq(log->time, (int64_t)t[i]);
  }
  bramah_log_close(log);
}

/* Another file that is named as a dataset's storage is not read. */
TEST(storage_in_other_files_is_refused)
{
  const double t[] = {0, 1};
  const hsize_t size = 2;
  const hid_t space = H5Screate_simple(1, &size, NULL), how = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_external(how, "/dev/zero", 0, 16);
  put("/t", H5T_NATIVE_DOUBLE, t, 2, 1, 0, "s");
  put("/y", H5T_NATIVE_DOUBLE, t, 2, 1, 0, NULL);
  H5Dclose(H5Dcreate2(file, "/x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, how, H5P_DEFAULT));
  H5Pclose(how);
  H5Sclose(space);
  is_refused("/x", NULL, "lies in another file");
}

/* HDF5 itself would read behind the record. */
TEST(a_damaged_record_is_refused)
{
  static const char name[8] = "counts";
  static char bytes[1 << 16];
  const struct record {
    double t;
    int counts;
  } rows[] = {{0, 1}, {1, 2}};
  const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof rows[0]);
  H5Tinsert(type, "t", HOFFSET(struct record, t), H5T_NATIVE_DOUBLE);
  H5Tinsert(type, name, HOFFSET(struct record, counts), H5T_NATIVE_INT);
  put("/table", type, rows, 2, 1, 0, NULL);
  put("/p", H5T_NATIVE_DOUBLE, rows, 2, 1, 0, NULL);
  H5Tclose(type);
  H5Fclose(file);
  file = -1;
  FILE *f = fopen(path, "rb+");
  const size_t n = fread(bytes, 1, sizeof bytes, f);
  const char *at = memmem(bytes, n, name, sizeof name);
  ck_assert_ptr_nonnull(at);
  fseek(f, (long)(at - bytes) + 9, SEEK_SET); /* where it begins in the record, times 256 */
  fputc(1, f);
  fclose(f);
  is_refused("counts", NULL, "lies outside of its record");
}

/* Rows that nobody wrote are no samples. */
TEST(what_was_never_written_is_refused)
{
  const double t[] = {0, 1};
  const hsize_t many = 301, first = 0, one = 1;
  put("/t", H5T_NATIVE_DOUBLE, t, 2, 1, 0, "s");
  put("/y", H5T_NATIVE_DOUBLE, t, 2, 1, 2, NULL);
  put("/x", H5T_NATIVE_DOUBLE, NULL, 2, 1, 0, NULL);
  put("/huge", H5T_NATIVE_DOUBLE, NULL, (hsize_t)1 << 50, 1, 1000, NULL);
  put("/part", H5T_NATIVE_DOUBLE, NULL, many, 1, 3, NULL);
  const hid_t part = H5Dopen2(file, "/part", H5P_DEFAULT), space = H5Dget_space(part),
              here = H5Screate_simple(1, &one, NULL);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &one, NULL);
  ck_assert_int_ge(H5Dwrite(part, H5T_NATIVE_DOUBLE, here, space, H5P_DEFAULT, t), 0);
  H5Sclose(here);
  H5Sclose(space);
  H5Dclose(part);
  column_is(open_log(), "/y", NULL, 2, t);
  is_refused("/x", NULL, "was never written");
  is_refused("/huge", NULL, "was never written");
  is_refused("/part", NULL, "more than 100 times the rows that were written");
}

/* Chunks of all columns that are read: those that are not wanted cost nothing. */
TEST(chunks_in_memory_are_bounded)
{
  const hsize_t n = 4194304;
  char name[8];
  double values[16];
  unsigned char present[16];
  int end = 0;
  bramah_diag diag = {0};
  const hid_t how = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, &n, NULL);
  H5Pset_chunk(how, 1, &n);
  H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(how, H5D_FILL_TIME_NEVER);
  for (int i = 0; i < 5; i++) {
    snprintf(name, sizeof name, "/g%d", i);
    H5Dclose(H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, how,
                        H5P_DEFAULT)); /* holes of 32 MiB */
  }
  H5Sclose(space);
  H5Pclose(how);
  bramah_log_reader *log = open_log();
  ck_assert_int_eq(bramah_log_next(log, values, present, &end, &diag), BRAMAH_E_MEMORY);
  ck_assert_ptr_nonnull(strstr(diag.message, "smaller ones (h5repack"));
  bramah_log_close(log);
  log = open_log();
  log->columns[0].ignored = 1;
  ck_assert_int_eq(bramah_log_next(log, values, present, &end, &diag), BRAMAH_OK);
  bramah_log_close(log);
}

/* What lies too deep to be looked for is told to who asks for it. */
TEST(what_was_left_out_is_told)
{
  const double t[] = {0, 1};
  char deep[100] = "";
  for (int i = 0; i < 40; i++) strcat(deep, "/a");
  put("/t", H5T_NATIVE_DOUBLE, t, 2, 1, 0, "s");
  put("/x", H5T_NATIVE_DOUBLE, t, 2, 1, 0, NULL);
  is_refused("y", NULL, "has no column");
  file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  strcat(deep, "/y");
  put(deep, H5T_NATIVE_DOUBLE, t, 2, 1, 0, NULL);
  is_refused("y", NULL, "the others were left out");
}

int main(void) { return run_tests_with("hdf5", make_file, remove_file); }
