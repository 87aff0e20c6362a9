/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any HDF5 file that the HDF5 library can write (read_log.h): the bytes say what is put into it, groups, datasets of all kinds of types and
 * storage, attributes, links. What becomes of damaged files is up to that library, which crashes of some. A first line that begins with '!' says
 * how the file is to be read (dialect.h). */
#include "test/fuzz/fuzz.h"
#include "test/fuzz/read_log.h"

#include <hdf5.h>
#include <limits.h>
#include <string.h>

enum { MOST_GROUPS = 8, MOST_STEPS = 40, MOST_MEMBERS = 4, MOST_ROWS = 9000, MOST_BYTES = 1 << 20 };

/* What is still to be done, and where. */
typedef struct recipe {
  const uint8_t *at, *end;
  hid_t group[MOST_GROUPS]; /* from the file on */
  int depth;
  hsize_t rows; /* of most datasets */
  hid_t object; /* made last, which attributes go to; below 0: none */
} recipe;

static unsigned next(recipe *r) { return r->at < r->end ? *r->at++ : 0; }

static const char *name(recipe *r)
{
  static const char *const names[] = {"t", "time", "p",        "timestamp", "p[0]", "a b", "x.y", "units",
                                      "q", "tout", "\xc3\xa9", "[",         "imu",  "-",   "T\n", "x"};
  return names[next(r) % (sizeof names / sizeof names[0])];
}

static hid_t number_type(recipe *r)
{
  const hid_t types[] = {H5T_NATIVE_DOUBLE, H5T_NATIVE_FLOAT, H5T_NATIVE_INT8,    H5T_NATIVE_UINT8,
                         H5T_STD_I16BE,     H5T_STD_U32BE,    H5T_NATIVE_INT64,   H5T_NATIVE_UINT64,
                         H5T_STD_I64BE,     H5T_IEEE_F64BE,   H5T_NATIVE_LDOUBLE, H5T_STD_B8LE};
  return H5Tcopy(types[next(r) % (sizeof types / sizeof types[0])]);
}

static hid_t text_type(recipe *r)
{
  const hid_t text = H5Tcopy(H5T_C_S1);
  const unsigned n = next(r) % 80;
  H5Tset_size(text, n ? n : H5T_VARIABLE);
  if (next(r) % 2) H5Tset_cset(text, H5T_CSET_UTF8);
  return text;
}

static hid_t table_type(recipe *r)
{
  const unsigned n = 1 + next(r) % MOST_MEMBERS;
  const hid_t table = H5Tcreate(H5T_COMPOUND, 16 * n);
  for (unsigned i = 0; i < n; i++) {
    const hid_t of =
        next(r) % 8 ? number_type(r) : H5Tarray_create2(H5T_NATIVE_INT8, 1, (const hsize_t[]){3});
    H5Tinsert(table, name(r), 16 * i, of); /* fails for a name it has */
    H5Tclose(of);
  }
  return table;
}

static hid_t any_type(recipe *r)
{
  const unsigned which = next(r) % 16;
  if (which == 0) return text_type(r);
  if (which < 4) return table_type(r);
  if (which == 4) return H5Tenum_create(H5T_NATIVE_INT8);
  if (which == 5) return H5Tvlen_create(H5T_NATIVE_DOUBLE);
  if (which == 6) return H5Tcopy(H5T_STD_REF_OBJ);
  return number_type(r);
}

/* Numbers for a buffer: those of logs, and odd ones. */
static void fill(recipe *r, hid_t type, unsigned char *out, size_t size, size_t n)
{
  static const double odd[] = {0.0, -1.0, 1e308, -0.0, 9.3e18, 0.5, 1e-320};
  const unsigned way = next(r), seed = next(r);
  const int is_double = H5Tequal(type, H5T_NATIVE_DOUBLE) > 0;
  for (size_t i = 0; i < n; i++) {
    const double value = way % 4 == 0 ? odd[(i * seed) % 7] : (double)i * 0.01 * seed;
    if (is_double && way % 8)
      memcpy(out + i * size, &value, sizeof value);
    else
      memset(out + i * size, (int)(way % 4 ? i + seed : way), size);
  }
  if (way == 255 && is_double && n) memset(out, 0xff, size); /* not a number */
}

/* Its storage: compact, contiguous, chunks with filters, or in another file. */
static hid_t storage(recipe *r, int rank, const hsize_t *size)
{
  const hid_t how = H5Pcreate(H5P_DATASET_CREATE);
  const unsigned which = next(r) % 8;
  hsize_t chunk[3];
  const hsize_t most = (hsize_t)1 << (next(r) % 12); /* the library clears whole chunks */
  for (int i = 0; i < rank; i++) chunk[i] = i == 0 ? most : 1 + size[i] / 2;
  if (which == 0) H5Pset_layout(how, H5D_COMPACT);
  if (which == 1) H5Pset_external(how, "/no such folder/values", 0, H5F_UNLIMITED);
  if (which >= 4 && rank > 0) H5Pset_chunk(how, rank, chunk);
  if (which == 6) H5Pset_shuffle(how);
  if (which >= 6) H5Pset_deflate(how, 1);
  if (next(r) % 16 == 1) H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY);
  return how;
}

static void put_dataset(recipe *r)
{
  const char *called = name(r);
  const hid_t type = any_type(r);
  const int rank = (int)(next(r) % 16), is_huge = next(r) == 255;
  const int ranks = rank < 11 ? 1 : rank < 14 ? 2 : rank == 14 ? 0 : 3;
  const unsigned other = next(r);
  const hsize_t long_way = other < 220 ? r->rows : other < 250 ? next(r) % 24 : MOST_ROWS;
  hsize_t size[3] = {is_huge ? (hsize_t)1 << (20 + next(r) % 40) : long_way, next(r) % 5, 2};
  if (ranks == 2 && next(r) % 2) size[1] = size[0], size[0] = next(r) % 5;
  const hsize_t open[3] = {H5S_UNLIMITED, size[1], size[2]};
  const hid_t how = storage(r, ranks, size);
  const int in_chunks = H5Pget_layout(how) == H5D_CHUNKED;
  const hid_t space = H5Screate_simple(ranks, size, in_chunks ? open : NULL);
  const hsize_t n = space < 0 ? 0 : (hsize_t)H5Sget_simple_extent_npoints(space);
  const size_t each = type < 0 ? 0 : H5Tget_size(type);
  const int refers = type >= 0 && (H5Tdetect_class(type, H5T_VLEN) > 0 || H5Tis_variable_str(type) > 0);
  if (is_huge) H5Pset_alloc_time(how, H5D_ALLOC_TIME_LATE);
  if (!is_huge || in_chunks)
    r->object = H5Dcreate2(r->group[r->depth], called, type, space, H5P_DEFAULT, how, H5P_DEFAULT);
  if (r->object >= 0 && !is_huge && !refers && each && n && n < MOST_BYTES / each && next(r) % 16) {
    unsigned char *values = calloc(n, each);
    FUZZ_CHECK(values, "no memory");
    fill(r, type, values, each, n);
    H5Dwrite(r->object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    free(values);
  }
  H5Sclose(space);
  H5Pclose(how);
  H5Tclose(type);
}

static void put_attribute(recipe *r)
{
  static const char *const names[] = {"units",      "unit",       "scale_factor",
                                      "add_offset", "_FillValue", "missing_value"};
  static const char *const texts[] = {"s",  "ms", "bar", "seconds", "", "deg", "nanoseconds since 1970-01-01",
                                      "[s]"};
  static const double numbers[] = {1.0, 0.0, 0.01, -1.0, 1e300, 255.0};
  const char *called = names[next(r) % 6], *text = texts[next(r) % 8];
  char buffer[80] = "";
  const int is_text = next(r) % 2;
  const double number[2] = {numbers[next(r) % 6], 1.0};
  const hid_t type = is_text ? text_type(r) : H5Tcopy(H5T_NATIVE_DOUBLE);
  const hsize_t n = next(r) % 8 ? 1 : 2;
  const hid_t space = next(r) % 2 && n == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &n, NULL);
  const hid_t a = H5Acreate2(r->object, called, type, space, H5P_DEFAULT, H5P_DEFAULT);
  const char *several[2] = {text, text};
  char two[160] = "";
  snprintf(buffer, sizeof buffer, "%s", text);
  memcpy(two, buffer, sizeof buffer);
  if (a >= 0 && next(r) % 8)
    H5Awrite(a, type,
             !is_text                       ? (const void *)number
             : H5Tis_variable_str(type) > 0 ? (const void *)several
                                            : two);
  if (a >= 0) H5Aclose(a);
  H5Sclose(space);
  H5Tclose(type);
}

static void put_link(recipe *r)
{
  static const char *const to[] = {"/", "/p", ".", "t", "/imu/t", "no such"};
  const char *from = to[next(r) % 6], *called = name(r);
  const hid_t here = r->group[r->depth];
  const unsigned which = next(r) % 4;
  if (which == 0) H5Lcreate_external("/no such folder/file", "/t", here, called, H5P_DEFAULT, H5P_DEFAULT);
  if (which == 1) H5Lcreate_soft(from, here, called, H5P_DEFAULT, H5P_DEFAULT);
  if (which >= 2) H5Lcreate_hard(r->group[0], from, here, called, H5P_DEFAULT, H5P_DEFAULT);
}

static void step(recipe *r)
{
  const unsigned which = next(r) % 16;
  if (which >= 3 && which <= 9 && r->object >= 0) H5Oclose(r->object), r->object = -1;
  if (which < 3 && r->object >= 0) put_attribute(r);
  if (which >= 3 && which <= 9) put_dataset(r);
  if (which == 10 || which == 11) put_link(r);
  if (which > 13 && r->depth > 0) H5Gclose(r->group[r->depth--]);
  if ((which == 12 || which == 13) && r->depth + 1 < MOST_GROUPS) {
    const hid_t group = H5Gcreate2(r->group[r->depth], name(r), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group >= 0) r->group[++r->depth] = group;
  }
}

/* The file that the bytes make, in memory; to be freed. */
static uint8_t *make(const uint8_t *data, size_t size, size_t *n)
{
  recipe r = {.at = data, .end = data + size, .object = -1};
  const hid_t in_memory = H5Pcreate(H5P_FILE_ACCESS);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  H5Pset_fapl_core(in_memory, 1 << 16, 0);
  if (next(&r) % 2) H5Pset_libver_bounds(in_memory, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  r.group[0] = H5Fcreate("fuzz", H5F_ACC_TRUNC, H5P_DEFAULT, in_memory);
  FUZZ_CHECK(r.group[0] >= 0, "no file in memory");
  const unsigned cut = next(&r);
  r.rows = next(&r) % 24;
  for (int i = 0; i < MOST_STEPS && r.at < r.end; i++) step(&r);
  if (r.object >= 0) H5Oclose(r.object);
  while (r.depth > 0) H5Gclose(r.group[r.depth--]);
  H5Fflush(r.group[0], H5F_SCOPE_GLOBAL);
  const ssize_t all = H5Fget_file_image(r.group[0], NULL, 0);
  uint8_t *image = all > 0 ? malloc((size_t)all) : NULL;
  FUZZ_CHECK(image && H5Fget_file_image(r.group[0], image, (size_t)all) == all, "no image");
  H5Fclose(r.group[0]);
  H5Pclose(in_memory);
  *n = cut == 255 ? (size_t)all / 2 : (size_t)all; /* which the library knows by the size it wrote */
  return image;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  fuzz_dialect dialect;
  size_t n = 0;
  const size_t begin = fuzz_read_dialect(data, size, &dialect);
  uint8_t *image = make(data + begin, size - begin, &n);
  const fuzz_log log = {.path = fuzz_file(image, n), .size = n, .lines = INT_MAX};
  fuzz_check_log(&log, &dialect);
  free(image);
  return 0;
}
