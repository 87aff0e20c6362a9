/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a file may contain, written as tables: for each key its name, how it is read, into which member, with
 * which unit and range. One walk over tree and tables reads everything and finds every error with its place.
 */
#ifndef BRAMAH_LIB_IO_SCHEMA_H
#define BRAMAH_LIB_IO_SCHEMA_H

#include "lib/io/fail.h"
#include "lib/io/quantity.h"
#include "lib/io/yaml.h"

/* A node and its path; lives on the stack while its parent is being read. */
typedef struct bramah__item {
  const struct bramah__item *parent;
  const char *name;         /* key, or NULL for an element of a list */
  size_t index;             /* element of a list */
  const bramah__node *key;  /* node of the key, NULL in lists and for the root */
  const bramah__node *node; /* node of the value */
} bramah__item;

typedef enum bramah__range { BRAMAH__ANY = 0, BRAMAH__NOT_NEGATIVE, BRAMAH__POSITIVE } bramah__range;

/* A word of a file and the enumeration value it means; lists end with {NULL, 0}. */
typedef struct bramah__word {
  const char *word;
  int value;
} bramah__word;

/* What a key may hold, for the JSON Schema of the file (json_schema.c); of the readers below it follows from them. */
typedef enum bramah__shape {
  BRAMAH__SHAPE_OF_READER = 0,
  BRAMAH__SHAPE_QUANTITY, /* in key->unit or key->other_unit, of any dimension without them; or one of key->words */
  BRAMAH__SHAPE_QUANTITIES, /* one, or a list of them */
  BRAMAH__SHAPE_INTEGER,
  BRAMAH__SHAPE_TEXT,
  BRAMAH__SHAPE_NAME,
  BRAMAH__SHAPE_NAMES, /* one, or a list of them; with dots */
  BRAMAH__SHAPE_POINT, /* a vector or a name */
  BRAMAH__SHAPE_WORD,
  BRAMAH__SHAPE_VECTOR,
  BRAMAH__SHAPE_DIRECTION,
  BRAMAH__SHAPE_PAIR,
  BRAMAH__SHAPE_CHILD,
  BRAMAH__SHAPE_SECTION,
  BRAMAH__SHAPE_LIST,
  BRAMAH__SHAPE_CHANGES,
  BRAMAH__SHAPE_CURVE, /* pairs [x, y]: x in s, y in key->unit or key->other_unit; voltages where it has none */
  BRAMAH__SHAPE_SCALE, /* a factor or two points */
  BRAMAH__SHAPE_HYDRAULICS,
  BRAMAH__SHAPE_ANYTHING
} bramah__shape;

struct bramah__key;

/* Read the item into `object`, as the key says. */
typedef bramah_status bramah__read(bramah__reader *reader, const bramah__item *item,
                                   const struct bramah__key *key, void *object);
/* What one key cannot decide alone. */
typedef bramah_status bramah__finish(bramah__reader *reader, const bramah__item *item, void *object);

/* A mapping of known keys that fills an object of `size` bytes. */
typedef struct bramah__table {
  const struct bramah__key *keys; /* ends with {0}; read in this order, whatever the order in the file */
  size_t size;
  int names_with_dots;             /* of a section's elements, to refer by: 1: any text */
  const struct bramah__key *value; /* how elements are read that are no mapping, or have no keys; or NULL */
  bramah__finish *read;            /* instead of all that, for elements of other kinds; or NULL */
  bramah__finish *finish;
  size_t type; /* int member that the keys' `types` refer to */
  /* For the JSON Schema where `read` does it all: the table of each kind of element, and how elements behind other
   * keys than these are read. */
  const struct bramah__table *const *kinds; /* by the values of the words of their key `type` */
  const struct bramah__table *others;
} bramah__table;

typedef struct bramah__key {
  const char *name;
  bramah__read *read;
  size_t offset; /* of the member in the object */
  int required;
  unsigned types;       /* bits 1 << type of the objects the key belongs to (and is required in); 0: all */
  const char *excludes; /* another key that must not be there as well; or NULL */
  size_t given;         /* int member that becomes 1 where the key is there; 0: none */
  size_t line;          /* int member that takes its line; 0: none */
  const char *unit, *other_unit; /* quantities */
  const char *x_unit;            /* curves: of the first value of a pair; NULL: s */
  size_t choice;                 /* int member: 1 if the object's values are in the other units; 0: none */
  int chooses;                   /* 1: it is this value's unit that says so */
  bramah__range range;           /* of quantities; of the first `count` of a list */
  double least, most;            /* where `bounds` is not NULL */
  const char *bounds;            /* what is said of numbers outside them */
  size_t count, other_count;     /* how many a list has */
  const char *ascends;           /* lists of two: what is said where the second is not the larger one */
  const bramah__word *words;
  const bramah__table *table; /* of the child, or of each element */
  size_t count_offset;        /* sections and lists: size_t member with the number of elements */
  bramah__read *element;      /* pairs: how each of the two is read */
  size_t stride;              /* pairs: bytes from one member to the other */
  bramah__shape shape;        /* where the reader is of one file */
} bramah__key;

/* Of a plan (plan_file.c), of a work file (work_file.c) and of a display file (display_file.c); those of machines and studies are in machine_file.h and
 * study_file.h. */
extern const bramah__table bramah__plan_table, bramah__work_table, bramah__display_table;

/* Rows of a table: name in the file, reader, object and member, and the rest by name. */
#define BRAMAH__KEY(key, reader, type, member, ...)                                                          \
  {                                                                                                          \
    .name = (key), .read = (reader), .offset = offsetof(type, member), __VA_ARGS__                           \
  }
#define BRAMAH__SECTION(key, type, member, count_member, elements, ...)                                      \
  {                                                                                                          \
    .name = (key), .read = bramah__read_section, .offset = offsetof(type, member),                           \
    .count_offset = offsetof(type, count_member), .table = (elements), __VA_ARGS__                           \
  }

/* Elements of a section begin with these members. */
typedef struct bramah__named {
  const char *name;
  int line;
} bramah__named;

/* The readers a key can name. Each fills the member with the type given. */
bramah__read bramah__read_quantity;  /* double, in SI */
bramah__read bramah__read_duration;  /* int64_t, nanoseconds */
bramah__read bramah__read_period;    /* int64_t, nanoseconds of a frequency */
bramah__read bramah__read_integer;   /* int >= 1 */
bramah__read bramah__read_text;      /* const char *, not empty */
bramah__read bramah__read_name;      /* const char *: letters, digits, _ and - */
bramah__read bramah__read_word;      /* int-sized enumeration */
bramah__read bramah__read_vector;    /* double [count]: [0, -9.81, 0 m/s^2], the last unit serves all */
bramah__read bramah__read_direction; /* double [3], plain numbers, not all zero */
bramah__read bramah__read_pair;      /* list of two, each read by key->element */
bramah__read bramah__read_child;     /* the members of key->table, at the offset */
bramah__read bramah__read_section;   /* name -> element: pointer to array, and count */
bramah__read bramah__read_list;      /* list of key->table: pointer to array, and count */
bramah__read bramah__read_nothing;   /* known key that something else reads, or nobody */
bramah__read
    bramah__read_changes;       /* `path: value`, keys have dots: pointer to bramah_change array, and count */
bramah__read bramah__read_path; /* const char *: a file; a relative one starts in the folder of this file */

/* If already the first key of a file is unknown, and no slip of the pen, it is a file of something else, of which
 * no message repeats anything: E_KEY, "this is no machine file". */
bramah_status bramah__check_kind(bramah__reader *reader, const bramah__node *root, const char *what,
                                 const bramah__table *table);

/* A file that is one mapping: what it is called, its table, the size of the object it becomes, where in that the file's name goes,
 * and what the object starts from (NULL: zeros). */
typedef struct bramah__file_of {
  const char *what;
  const bramah__table *table;
  size_t size, file;
  const void *start;
} bramah__file_of;
extern const bramah__file_of bramah__plan_file, bramah__work_file, bramah__display_file;

/* Read it; tell NULL: the first mistake ends it. *out, left alone on failure, is released by bramah__file_free. */
bramah_status bramah__read_file_of(const char *path, const bramah__file_of *of, bramah_mistake tell,
                                   void *user, bramah_diag *diag, void **out);
void bramah__file_free(void *object); /* NULL allowed */

/* Read a mapping by its table. */
bramah_status bramah__read_table(bramah__reader *reader, const bramah__item *item, const bramah__table *table,
                                 void *object);

/* One quantity outside a table. `lent` is the unit a number alone takes, or NULL. key->unit NULL: any
 * dimension. */
bramah_status bramah__item_quantity(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                    const char *lent, bramah__quantity *out);
/* A curve as a list of pairs of quantities, the first ascending. The words are for messages. */
typedef struct bramah__curve_key {
  const char *pair, *example; /* "[time, value]", "[1 s, 10 V]" */
  const char *x_name;         /* "times" */
  size_t least;               /* pairs, 0: any number */
  bramah__key x, y;           /* units and ranges */
} bramah__curve_key;
bramah_status bramah__read_curve(bramah__reader *reader, const bramah__item *list,
                                 const bramah__curve_key *curve, size_t *n, const double **x,
                                 const double **y);
/* A text, or a list of them, each read by `element` (bramah__read_text, bramah__read_name). */
bramah_status bramah__read_texts(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                 bramah__read *element, size_t *n, const char *const **out);
/* The key `name` of a mapping as a quantity, if it is there; *out is left alone if not. */
bramah_status bramah__find_quantity(bramah__reader *reader, const bramah__item *mapping,
                                    const bramah__key *key, double *out);

/* 1 and the item if the mapping has the key. */
int bramah__item_find(const bramah__item *mapping, const char *name, bramah__item *out);
/* The element i of a list or mapping. */
bramah__item bramah__item_at(const bramah__item *parent, size_t i);
int bramah__item_is_empty(const bramah__item *item);
/* Line an element is known by: that of its name. */
int bramah__item_line(const bramah__item *item);

/* The text of a scalar; NULL and the error reported if the item is something else or empty. */
const char *bramah__item_text(bramah__reader *reader, const bramah__item *item, bramah_status *status);

/* Where mistakes are collected: tell this one and return OK, so that reading goes on. Otherwise, and for
 * errors that are no mistakes of the file, the status as it is. */
bramah_status bramah__go_on(bramah__reader *reader, bramah_status status);

/* Errors: at the value, at the key, or with "required key ... is missing" at the name of the mapping. */
bramah_status bramah__fail_item(bramah__reader *reader, const bramah__item *item, bramah_status status,
                                const char *format, ...) BRAMAH__PRINTF(4, 5);
bramah_status bramah__fail_key(bramah__reader *reader, const bramah__item *item, bramah_status status,
                               const char *format, ...) BRAMAH__PRINTF(4, 5);
bramah_status bramah__fail_missing(bramah__reader *reader, const bramah__item *mapping, const char *key);

/* "30 %" of the text "1500 MPa ± 30 %" (or "+-"), NULL: it has none; what stands before it in *front, in the pool if it
 * is not all of the text; NULL: no memory. */
const char *bramah__uncertainty_split(bramah__pool *pool, const char *text, const char **front);

/* The number of an uncertainty that is a share ("30 %") or 'fixed' (0); otherwise 0 is returned. */
int bramah__uncertainty_share(const bramah__reader *reader, const char *text, double *share);

#endif
