/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HDF5 as logs (h5py, pandas, netCDF 4, loggers): a dataset of numbers is a column, called by its path. Those of a group
 * that has a time of its own, or of groups in it, are read with that. Also what MAT files of version 7.3 need of HDF5. */
#define _GNU_SOURCE /* strdup */
#include "lib/logs/vectors.h"

#include <string.h>

/* At the beginning, or after a user block of 512 bytes or a few more. A MAT file has one, too, and a line of text in it. */
static int takes(const char *path, const unsigned char *head, size_t n)
{
  (void)path;
  if (n >= 7 && memcmp(head, "MATLAB ", 7) == 0) return 0;
  for (size_t at = 0; at + 8 <= n; at = at ? 2 * at : 512)
    if (memcmp(head + at, "\x89HDF\r\n\x1a\n", 8) == 0) return 1;
  return 0;
}

#ifdef BRAMAH_HDF5
#include "lib/base/text.h"

#include <hdf5.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

void bramah__hdf5_begin(bramah__hdf5_use *use)
{
  pthread_mutex_lock(&one_at_a_time);
  *use = (bramah__hdf5_use){0};
  H5E_auto2_t print = NULL;
  H5Eget_auto2(H5E_DEFAULT, &print, &use->to);
  use->print = (void (*)(void))print;
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void bramah__hdf5_end(const bramah__hdf5_use *use)
{
  H5Eset_auto2(H5E_DEFAULT, (H5E_auto2_t)use->print, use->to);
  pthread_mutex_unlock(&one_at_a_time);
}

/* A text attribute: 0 if there is none. */
static int attribute(hid_t object, const char *name, char *out, size_t n)
{
  *out = '\0';
  if (H5Aexists(object, name) <= 0) return 0;
  const hid_t a = H5Aopen(object, name, H5P_DEFAULT), type = a < 0 ? -1 : H5Aget_type(a);
  const hid_t space = a < 0 ? -1 : H5Aget_space(a);
  const int is_one = space >= 0 && H5Sget_simple_extent_npoints(space) == 1;
  if (type >= 0 && is_one && H5Tget_class(type) == H5T_STRING) {
    const hid_t memory = H5Tcopy(type); /* with the file's set of characters */
    char *text = NULL;
    if (H5Tis_variable_str(type) > 0 && H5Aread(a, memory, &text) >= 0 && text)
      bramah__append(out, n, 0, text);
    if (text) H5free_memory(text);
    if (H5Tis_variable_str(type) == 0 && H5Tget_size(type) < n && H5Aread(a, memory, out) >= 0)
      out[H5Tget_size(type)] = '\0';
    H5Tclose(memory);
  }
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  if (a >= 0) H5Aclose(a);
  return *out != '\0';
}

/* An attribute that is one number: 0 if there is none. */
static int number_attribute(hid_t object, const char *name, double *out)
{
  if (H5Aexists(object, name) <= 0) return 0;
  const hid_t a = H5Aopen(object, name, H5P_DEFAULT), space = a < 0 ? -1 : H5Aget_space(a);
  const int is_one = space >= 0 && H5Sget_simple_extent_npoints(space) == 1;
  const int done = is_one && H5Aread(a, H5T_NATIVE_DOUBLE, out) >= 0;
  if (space >= 0) H5Sclose(space);
  if (a >= 0) H5Aclose(a);
  return done;
}

/* ---- MAT files of version 7.3 ---- */

static herr_t note_object(hid_t file, const char *name, const H5L_info_t *info, void *about_them)
{
  bramah__mat_about *about = about_them;
  bramah__mat_object *o = &about->objects[about->n_objects];
  (void)info;
  if (about->n_objects == BRAMAH__MAT_OBJECTS) return 1;
  const hid_t object = H5Oopen(file, name, H5P_DEFAULT);
  if (object < 0) return 0;
  if (H5Aexists(object, "MATLAB_object_decode") > 0 &&
      attribute(object, "MATLAB_class", o->class_name, sizeof o->class_name)) {
    bramah__append(o->name, sizeof o->name, 0, name);
    about->n_objects++;
  }
  H5Oclose(object);
  return 0;
}

void bramah__hdf5_find_objects(const bramah_log_reader *reader, bramah__mat_about *about)
{
  bramah__hdf5_use h;
  bramah__hdf5_begin(&h);
  const hid_t file = H5Fopen(reader->path, H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file >= 0) {
    H5Literate(file, H5_INDEX_NAME, H5_ITER_INC, NULL, note_object, about);
    H5Fclose(file);
  }
  bramah__hdf5_end(&h);
}

/* ---- HDF5 files: what is in them ---- */

/* Groups and datasets, members of a table. A log has not more. Chunks that are kept in memory, of a dataset and of all [bytes]. */
enum { MOST_DATASETS = 20000, DEEPEST = 32, LONGEST_PATH = 512, MOST_UNWRITTEN = 100 };
static const size_t largest_chunk = (size_t)32 << 20, all_chunks = (size_t)128 << 20;

typedef struct dataset {
  char *path, *member;   /* member of a table; NULL: the dataset is of numbers */
  struct dataset *table; /* whose `id` a member uses */
  hid_t id;              /* once it is read; below 0: not yet */
  int rank;
  hsize_t size[2];
  size_t chunk, cache; /* one of it; those of a block of rows [bytes] */
  int is_packed; /* as netCDF does: the number is scale times what is stored, plus offset, and none if that is `none` */
  double scale, offset, none[2];
  struct dataset *next;
} dataset;

typedef struct hdf5_log {
  bramah__vectors vectors; /* first: it is the reader's source */
  hid_t file;
  uint64_t bytes;
  size_t met;       /* objects */
  int left_out;     /* there are more, or deeper ones */
  size_t in_chunks; /* kept in memory [bytes] */
  dataset *datasets;
} hdf5_log;

/* A group of the file, while it is looked through. */
typedef struct scope {
  hdf5_log *log;
  const char *path;
  size_t group;
  hsize_t rows;   /* of its time, 0: it has none */
  dataset *table; /* its first member, if the scope is one */
  int depth;
  bramah_status status;
} scope;

static dataset *keep(hdf5_log *log, const char *path, const char *member)
{
  dataset *d = calloc(1, sizeof *d);
  if (!d) return NULL;
  *d = (dataset){
      .path = strdup(path), .member = member ? strdup(member) : NULL, .id = -1, .next = log->datasets};
  if (!d->path || (member && !d->member)) return free(d->path), free(d->member), free(d), NULL;
  return log->datasets = d;
}

/* Whole numbers of 64 bits stay exact; all others are doubles. */
static bramah__element element_of(hid_t type)
{
  if (H5Tget_class(type) != H5T_INTEGER || H5Tget_size(type) < 8) return BRAMAH__F64;
  return H5Tget_sign(type) == H5T_SGN_NONE ? BRAMAH__U64 : BRAMAH__I64;
}

/* Of a damaged file HDF5 would look for bits where there are none. */
static int is_number(hid_t type)
{
  const H5T_class_t c = H5Tget_class(type);
  const size_t size = H5Tget_size(type), bits = 8 * size;
  size_t s = 0, e = 0, m = 0, ne = 0, nm = 0;
  if ((c != H5T_INTEGER && c != H5T_FLOAT) || size > 16) return 0;
  if (c == H5T_FLOAT && H5Tget_fields(type, &s, &e, &ne, &m, &nm) < 0) return 0;
  const size_t n = H5Tget_precision(type);
  return n && (size_t)H5Tget_offset(type) + n <= bits && s < bits && e + ne <= bits && m + nm <= bits;
}

/* Columns of a dataset or of a member of a table; `wrong`: why there are none. */
static bramah_status add_columns(scope *in, const dataset *like, const char *member, hid_t type,
                                 const char *unit, const char *wrong)
{
  char name[LONGEST_PATH + 80];
  const int is_matrix = !wrong && like->rank == 2;
  const int across = is_matrix && like->size[0] != in->rows &&
                     (in->rows ? like->size[1] == in->rows : like->size[1] > like->size[0]);
  const hsize_t rows = across ? like->size[1] : like->size[0],
                count = is_matrix ? like->size[across ? 0 : 1] : 1;
  if (!wrong && !is_number(type)) wrong = "holds no numbers: a column is a dataset of numbers";
  if (!wrong && (rows == 0 || count == 0)) wrong = "is empty";
  if (!wrong && in->log->vectors.n + count > MOST_DATASETS)
    wrong = "is beyond the first 20000 columns of the file";
  if (!wrong && count > BRAMAH__WIDEST)
    wrong = "has more than 256 columns: a column is a dataset with one dimension";
  if (!wrong && like->chunk > largest_chunk)
    wrong = "is stored in chunks of more than 32 MiB: write it with smaller ones (h5repack -l CHUNK=65536)";
  dataset *d = keep(in->log, like->path, member);
  if (!d) return BRAMAH_E_MEMORY;
  d->table = in->table ? in->table : d;
  in->table = d->table;
  d->rank = like->rank;
  memcpy(d->size, like->size, sizeof d->size);
  d->chunk = like->chunk;
  d->cache = like->cache;
  d->is_packed = like->is_packed;
  d->scale = like->scale;
  d->offset = like->offset;
  memcpy(d->none, like->none, sizeof d->none);
  for (hsize_t k = 0; k < (wrong ? 1 : count); k++) {
    snprintf(name, sizeof name, is_matrix ? "%s%s%s[%d]" : "%s%s%s", like->path, member ? "/" : "",
             member ? member : "", (int)k);
    bramah__vector *v =
        bramah__vectors_add(&in->log->vectors, name, unit ? bramah__unit_of_time(unit) : "", d, in->group);
    if (!v) return BRAMAH_E_MEMORY;
    if (wrong) {
      bramah__vectors_refuse(v, "%s", wrong);
      continue;
    }
    v->element = d->is_packed ? BRAMAH__F64 : element_of(type);
    v->n = (size_t)rows;
    v->first = (size_t)(is_matrix && across ? k * rows : k);
    v->stride = (size_t)(is_matrix && !across ? count : 1);
  }
  return BRAMAH_OK;
}

/* Rows that nobody wrote are a fill value, as many as the shape says. */
static const char *never_written(hid_t id, hid_t space, const dataset *d, const hsize_t *chunk)
{
  hsize_t n = 0;
  if (H5Dget_storage_size(id) == 0) return "was never written: there is nothing but its fill value";
  if (!d->chunk || H5Dget_num_chunks(id, space, &n) < 0) return NULL;
  const double written = (double)n * (double)chunk[0] * (double)chunk[1];
  return (double)d->size[0] * (double)d->size[1] <= MOST_UNWRITTEN * written
             ? NULL
             : "has more than 100 times the rows that were written: cut it to those (in h5py, resize)";
}

/* Shape of a dataset and what its chunks need. Returns why it holds no columns, NULL: it does. */
static const char *shape_of(hid_t id, dataset *d)
{
  const hid_t space = H5Dget_space(id), how = H5Dget_create_plist(id);
  const char *wrong = NULL;
  d->rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
  d->size[0] = d->size[1] = 1;
  if (d->rank != 1 && d->rank != 2) wrong = "has no dimension, or more than two: a column is a vector";
  if (!wrong && H5Sget_simple_extent_dims(space, d->size, NULL) < 0) wrong = "cannot be read";
  if (!wrong && how >= 0 && (H5Pget_external_count(how) > 0 || H5Pget_layout(how) == H5D_VIRTUAL))
    wrong = "lies in another file (external or virtual storage): write its numbers into this one";
  hsize_t chunk[2] = {1, 1};
  if (!wrong && how >= 0 && H5Pget_layout(how) == H5D_CHUNKED && H5Pget_chunk(how, d->rank, chunk) >= 0) {
    const hid_t type = H5Dget_type(id);
    const uint64_t one = (chunk[0] > largest_chunk ? largest_chunk + 1 : chunk[0]) *
                         (chunk[1] > largest_chunk ? largest_chunk + 1 : chunk[1]) * H5Tget_size(type);
    const uint64_t many = one * (BRAMAH__BLOCK / chunk[0] + 2); /* of a block of rows */
    d->chunk = (size_t)one;
    d->cache = (size_t)(many > largest_chunk ? largest_chunk : many);
    H5Tclose(type);
  }
  if (!wrong && d->size[0] && d->size[1] && d->chunk <= largest_chunk)
    wrong = never_written(id, space, d, chunk);
  if (how >= 0) H5Pclose(how);
  if (space >= 0) H5Sclose(space);
  return wrong;
}

/* The conventions of netCDF: what is stored of a number. Times have no gaps, so whole ones stay exact. */
static void find_packing(hid_t id, const char *path, dataset *d)
{
  d->scale = 1.0;
  d->offset = 0.0;
  d->none[0] = d->none[1] = NAN;
  d->is_packed = number_attribute(id, "scale_factor", &d->scale);
  d->is_packed |= number_attribute(id, "add_offset", &d->offset);
  if (!d->is_packed && bramah__is_time_name(strrchr(path, '/') + 1)) return;
  d->is_packed |= number_attribute(id, "_FillValue", &d->none[0]);
  d->is_packed |= number_attribute(id, "missing_value", &d->none[1]);
}

static bramah_status add_dataset(const scope *group, hid_t id, const char *path)
{
  scope in = *group;
  dataset like = {.path = (char *)(uintptr_t)path};
  char unit[64];
  const char *wrong = shape_of(id, &like);
  const hid_t type = H5Dget_type(id);
  bramah_status status = BRAMAH_OK;
  if (!attribute(id, "units", unit, sizeof unit)) attribute(id, "unit", unit, sizeof unit);
  if (type < 0) return BRAMAH_OK;
  if (!wrong && H5Tget_class(type) == H5T_COMPOUND && like.rank == 1) {
    const int n = H5Tget_nmembers(type);
    for (int i = 0; i < n && in.group == group->group; i++) { /* a table with a time has its own clock */
      char *member = H5Tget_member_name(type, (unsigned)i);
      if (member && bramah__is_time_name(member))
        in.group = bramah__vectors_new_group(&in.log->vectors, path);
      H5free_memory(member);
    }
    if (in.group == SIZE_MAX) status = BRAMAH_E_MEMORY;
    for (int i = 0; !status && i < n; i++) {
      if (in.log->met++ >= MOST_DATASETS) {
        in.log->left_out = 1;
        break;
      }
      char *member = H5Tget_member_name(type, (unsigned)i);
      const hid_t of = H5Tget_member_type(type, (unsigned)i);
      const int is_inside =
          of >= 0 && H5Tget_member_offset(type, (unsigned)i) + H5Tget_size(of) <= H5Tget_size(type);
      if (member && of >= 0)
        status = add_columns(&in, &like, member, of, NULL,
                             is_inside ? NULL : "lies outside of its record: the file is damaged");
      if (of >= 0) H5Tclose(of);
      H5free_memory(member);
    }
  } else {
    find_packing(id, path, &like);
    status = add_columns(&in, &like, NULL, type, unit, wrong);
  }
  H5Tclose(type);
  return status;
}

/* Length of a dataset of numbers that a group has by this name; 0: it has none. */
static hsize_t length_of_time(hid_t group, const char *name)
{
  hsize_t n = 0;
  if (H5Lexists(group, name, H5P_DEFAULT) <= 0) return 0;
  const hid_t id = H5Oopen(group, name, H5P_DEFAULT);
  if (id >= 0 && H5Iget_type(id) == H5I_DATASET) {
    dataset d = {0};
    const hid_t type = H5Dget_type(id);
    if (!shape_of(id, &d) && type >= 0 && is_number(type)) n = d.size[0] * d.size[1];
    if (type >= 0) H5Tclose(type);
  }
  if (id >= 0) H5Oclose(id);
  return n;
}

static herr_t look_at(hid_t group, const char *name, const H5L_info_t *info, void *where);

/* Hard links lead in circles only by intent: depth and number are bounded. */
static bramah_status look_into(const scope *in, hid_t group, const char *path)
{
  scope s = *in;
  hsize_t rows = 0;
  s.path = path;
  s.depth = in->depth + 1;
  for (size_t k = 0; !rows && bramah__time_name(k); k++) rows = length_of_time(group, bramah__time_name(k));
  if (rows) s.rows = rows;
  if (rows) s.group = bramah__vectors_new_group(&s.log->vectors, path);
  if (s.group == SIZE_MAX) return BRAMAH_E_MEMORY;
  if (s.depth < DEEPEST)
    H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, look_at, &s);
  else
    s.log->left_out = 1;
  return s.status;
}

static herr_t look_at(hid_t group, const char *name, const H5L_info_t *info, void *where)
{
  scope *in = where;
  char path[LONGEST_PATH];
  if (info->type == H5L_TYPE_EXTERNAL) return 0; /* one file is the log */
  const int n = snprintf(path, sizeof path, "%s/%s", in->path, name);
  if (in->log->met++ >= MOST_DATASETS || n >= (int)sizeof path) return in->log->left_out = 1, 0;
  const hid_t id = H5Oopen(group, name, H5P_DEFAULT);
  if (id < 0) return 0;
  if (H5Iget_type(id) == H5I_GROUP) in->status = look_into(in, id, path);
  if (H5Iget_type(id) == H5I_DATASET) in->status = add_dataset(in, id, path);
  H5Oclose(id);
  return in->status ? -1 : 0;
}

/* ---- HDF5 files: blocks ---- */

static hid_t open_dataset(bramah_log_reader *reader, const dataset *d)
{
  hdf5_log *log = reader->source;
  const size_t left = all_chunks - log->in_chunks, cache = d->cache > left ? d->chunk : d->cache;
  if (cache > left) {
    bramah__log_fail(reader, BRAMAH_E_MEMORY, d->path, 0, 0,
                     "the columns that are read keep more than 128 MiB of chunks in memory: write them with "
                     "smaller ones (h5repack -l CHUNK=65536)");
    return -1;
  }
  log->in_chunks += cache;
  const hid_t how = H5Pcreate(H5P_DATASET_ACCESS);
  if (cache) H5Pset_chunk_cache(how, 12421, cache, 1.0);
  const hid_t id = H5Dopen2(log->file, d->path, how);
  H5Pclose(how);
  return id;
}

static void undo_packing(const dataset *d, double *value, size_t n)
{
  for (size_t i = 0; i < n; i++)
    value[i] = value[i] == d->none[0] || value[i] == d->none[1] ? NAN : d->scale * value[i] + d->offset;
}

static int read_block(bramah_log_reader *reader, bramah__vector *v)
{
  dataset *d = v->source, *table = d->table;
  const hid_t number = v->element == BRAMAH__I64   ? H5T_NATIVE_INT64
                       : v->element == BRAMAH__U64 ? H5T_NATIVE_UINT64
                                                   : H5T_NATIVE_DOUBLE;
  const int across = d->rank == 2 && v->stride == 1 && d->size[1] == v->n; /* a row of a matrix */
  const hsize_t k = d->rank == 2 ? (across ? v->first / v->n : v->first) : 0, count = v->count;
  const hsize_t from[2] = {across ? k : v->begin, across ? v->begin : k};
  const hsize_t size[2] = {across ? 1 : count, across ? count : 1};
  bramah__hdf5_use h;
  bramah__hdf5_begin(&h);
  if (table->id < 0) table->id = open_dataset(reader, d);
  const hid_t in_file = table->id < 0 ? -1 : H5Dget_space(table->id),
              here = H5Screate_simple(1, &count, NULL);
  const hid_t type = d->member ? H5Tcreate(H5T_COMPOUND, 8) : H5Tcopy(number);
  int good = in_file >= 0 && here >= 0 && type >= 0;
  if (good && d->member) good = H5Tinsert(type, d->member, 0, number) >= 0;
  if (good) good = H5Sselect_hyperslab(in_file, H5S_SELECT_SET, from, NULL, size, NULL) >= 0;
  if (good) good = H5Dread(table->id, type, here, in_file, H5P_DEFAULT, v->raw) >= 0;
  if (type >= 0) H5Tclose(type);
  if (here >= 0) H5Sclose(here);
  if (in_file >= 0) H5Sclose(in_file);
  bramah__hdf5_end(&h);
  if (good && d->is_packed) undo_packing(d, (double *)(void *)v->raw, v->count);
  return good;
}

/* ---- opening ---- */

static bramah_status open_hdf5(bramah_log_reader *reader)
{
  hdf5_log *log = reader->source = calloc(1, sizeof *log);
  if (!log) return bramah__log_fail_memory(reader);
  bramah_status status = BRAMAH_OK;
  bramah__hdf5_use h;
  bramah__hdf5_begin(&h);
  log->vectors.read = read_block;
  log->file = H5Fopen(reader->path, H5F_ACC_RDONLY, H5P_DEFAULT);
  if (log->file < 0) {
    status =
        bramah__log_fail(reader, BRAMAH_E_TRUNCATED, NULL, 0, 0,
                         "this HDF5 file cannot be read: it was cut, is damaged, or is still being written");
  } else {
    hsize_t bytes = 0;
    H5Fget_filesize(log->file, &bytes);
    log->bytes = bytes;
    scope s = {.log = log, .path = "", .group = bramah__vectors_new_group(&log->vectors, "/")};
    if (s.group == SIZE_MAX || look_into(&s, log->file, "")) status = bramah__log_fail_memory(reader);
  }
  bramah__hdf5_end(&h);
  return status ? status : bramah__vectors_settle(reader);
}

static void close_hdf5(bramah_log_reader *reader)
{
  hdf5_log *log = reader->source;
  if (!log) return;
  bramah__hdf5_use h;
  bramah__hdf5_begin(&h);
  while (log->datasets) {
    dataset *d = log->datasets;
    log->datasets = d->next;
    if (d->id >= 0) H5Dclose(d->id);
    free(d->path);
    free(d->member);
    free(d);
  }
  if (log->file >= 0) H5Fclose(log->file);
  bramah__hdf5_end(&h);
  bramah__vectors_free(&log->vectors);
  free(log);
}

static const char *why_not(const bramah_log_reader *reader, const char *name)
{
  const hdf5_log *log = reader->source;
  const char *why = bramah__vectors_why_not(reader, name);
  if (why || !log->left_out) return why;
  return "is not among the first 20000 objects of the file (31 groups deep, paths of 511 bytes): the others "
         "were left out";
}

static void describe(const bramah_log_reader *reader, bramah_log_info *info)
{
  const hdf5_log *log = reader->source;
  info->kind = "HDF5 file";
  info->bytes = (uint64_t)((double)log->bytes * bramah__vectors_share(&log->vectors));
}

#else

void bramah__hdf5_begin(bramah__hdf5_use *use) { *use = (bramah__hdf5_use){0}; }
void bramah__hdf5_end(const bramah__hdf5_use *use) { (void)use; }
void bramah__hdf5_find_objects(const bramah_log_reader *reader, bramah__mat_about *about)
{
  (void)reader;
  (void)about;
}

static bramah_status open_hdf5(bramah_log_reader *reader)
{
  return bramah__log_fail(reader, BRAMAH_E_UNSUPPORTED, NULL, 0, 0,
                          "bramah was built without HDF5 (libmatio-dev with libhdf5-dev): save the vectors "
                          "with a time 't' as CSV");
}
static void close_hdf5(bramah_log_reader *reader) { (void)reader; }
static void describe(const bramah_log_reader *reader, bramah_log_info *info)
{
  (void)reader;
  (void)info;
}
static const char *why_not(const bramah_log_reader *reader, const char *name)
{
  (void)reader;
  (void)name;
  return NULL;
}
#endif

const bramah__log_kind bramah__log_hdf5 = {.names = "*.h5 *.hdf5",
                                           .what = "HDF5 file",
                                           .record = "row",
                                           .column = "dataset",
                                           .takes = takes,
                                           .open = open_hdf5,
                                           .close = close_hdf5,
                                           .describe = describe,
                                           .next = bramah__vectors_next,
                                           .stand_in = bramah__vectors_stand_in,
                                           .why_not = why_not,
                                           .units_in_header = BRAMAH__UNITS_ATTRIBUTE,
                                           .no_rows = "the datasets of the log are empty"};
