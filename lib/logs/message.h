/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages as middleware sends them: what a schema says of them, which of their numbers are columns, and these numbers.
 * message.c: columns; message_json.c: JSON; message_ros.c: ROS messages and CDR; message_protobuf.c: Protobuf. */
#ifndef BRAMAH_LIB_LOGS_MESSAGE_H
#define BRAMAH_LIB_LOGS_MESSAGE_H

#include "lib/logs/reader.h"

typedef enum bramah__message_kind {
  BRAMAH__MESSAGE_UNKNOWN = 0, /* of JSON, before a value was seen */
  BRAMAH__MESSAGE_BOOL,
  BRAMAH__MESSAGE_INT8,
  BRAMAH__MESSAGE_UINT8,
  BRAMAH__MESSAGE_INT16,
  BRAMAH__MESSAGE_UINT16,
  BRAMAH__MESSAGE_INT32,
  BRAMAH__MESSAGE_UINT32,
  BRAMAH__MESSAGE_INT64,
  BRAMAH__MESSAGE_UINT64,
  BRAMAH__MESSAGE_FLOAT32,
  BRAMAH__MESSAGE_FLOAT64,
  BRAMAH__MESSAGE_TEXT,
  BRAMAH__MESSAGE_WIDE_TEXT,
  BRAMAH__MESSAGE_OPAQUE, /* bytes, maps, enumerations of text: passed over */
  BRAMAH__MESSAGE_STRUCT,
  BRAMAH__MESSAGE_TIME, /* a struct of seconds and nanoseconds */
  BRAMAH__MESSAGE_ARRAY /* of slots only */
} bramah__message_kind;

typedef enum bramah__message_count {
  BRAMAH__MESSAGE_ONE = 0,
  BRAMAH__MESSAGE_FIXED,
  BRAMAH__MESSAGE_SEQUENCE
} bramah__message_count;

/* A member of a struct, as the schema has it. */
typedef struct bramah__message_member {
  char *name;
  bramah__message_kind kind;
  struct bramah__message_type *type; /* of structs; NULL: no definition */
  char *type_name;                   /* of structs, until all are known */
  bramah__message_count count;
  uint32_t n;     /* of a fixed array */
  int number;     /* Protobuf: of the field */
  int wire;       /* Protobuf: its type in the descriptor */
  int implicit;   /* Protobuf: what is not there is 0 */
  uint32_t oneof; /* Protobuf: of which it is one, from 1; 0: of none */
} bramah__message_member;

typedef struct bramah__message_type {
  char *name;
  bramah__message_member *members;
  size_t n;
  uint32_t *by_number; /* Protobuf: [n] the members in the order of their numbers */
  int is_named; /* a member `name` holds the names of the elements of the others, as in sensor_msgs/JointState */
  int is_open; /* slots for it are being made: it is not put into itself */
} bramah__message_type;

typedef enum bramah__message_encoding {
  BRAMAH__MESSAGE_JSON,
  BRAMAH__MESSAGE_CDR,
  BRAMAH__MESSAGE_ROS1,
  BRAMAH__MESSAGE_PROTOBUF
} bramah__message_encoding;

/* A schema; types are where they are, since members point to them. */
typedef struct bramah__schema {
  bramah__message_type **types;
  void *by_name; /* tsearch(3) */
  size_t n, n_members;
  bramah__message_type *root; /* NULL: none */
  char why_not[160];          /* it cannot be used; "": it can */
} bramah__schema;

/* A place of a message: number, struct or array. Those of a struct are in the order of its members. */
typedef struct bramah__slot {
  char *name;
  bramah__message_kind kind;
  const bramah__message_member *member; /* NULL: of the root, of elements, of JSON */
  bramah__message_type *type;
  struct bramah__slot *parts;
  size_t n;
  size_t column;       /* SIZE_MAX: none */
  const char *why_not; /* it gives no column; NULL: it does */
  int is_wanted;       /* it or one of its parts is used */
  int is_named;        /* elements of an array: by name */
  int depth;           /* of an array */
  size_t stop;         /* of the parts of a struct: none behind is wanted */
  size_t seen;         /* Protobuf: in the message that is read, so often */
  uint32_t
      last; /* Protobuf: the part that came last of the oneof with the number of this one; from 1, 0: none */
  int64_t pair[2];  /* Protobuf: seconds and nanoseconds of a time, as far as they were met */
  uint32_t *places; /* JSON: the parts by name, [room] numbers from 1; 0: none */
  size_t room;
} bramah__slot;

/* A message that is read. */
typedef struct bramah__message {
  const unsigned char *at, *end, *base;
  bramah_log_reader *reader; /* gets the numbers; NULL: arrays and objects grow as they are met */
  void *c_locale;            /* locale_t */
  int swap, packed, depth;
  size_t steps;          /* members of CDR that may still be met */
  const char *names[64]; /* of elements, with their lengths */
  uint32_t name_length[64];
  size_t n_names;
  size_t *budget; /* slots that may be added */
} bramah__message;

/* Elements of an array that may become columns; structs in structs; slots of a log. */
enum { BRAMAH__MESSAGE_ELEMENTS = 64, BRAMAH__MESSAGE_DEPTH = 16, BRAMAH__MESSAGE_SLOTS = 20000 };

/* ---- schemas: 0 where there is no memory; mistakes go into why_not ---- */

void bramah__schema_free(bramah__schema *schema);
/* A list with room for one more; it grows whenever n is a power of two. NULL: no memory. */
void *bramah__list_grow(void *list, size_t n, size_t size);
/* A type of this name, NULL: no memory. */
bramah__message_type *bramah__schema_add(bramah__schema *schema, const char *name, size_t length);
/* Its last member; its pointer holds until the next one is added. NULL: no memory, or too many. */
bramah__message_member *bramah__schema_member(bramah__schema *schema, bramah__message_type *type,
                                              const char *name, size_t length);
/* The definition a name means, the first one. */
bramah__message_type *bramah__schema_find(const bramah__schema *schema, const char *name);

int bramah__schema_ros(bramah__schema *schema, const char *name, const char *text, size_t length,
                       int is_ros1);
int bramah__schema_idl(bramah__schema *schema, const char *name, const char *text, size_t length);
int bramah__schema_protobuf(bramah__schema *schema, const char *name, const unsigned char *data,
                            size_t length);

/* ---- slots ---- */

void bramah__slot_free(bramah__slot *slot);
/* Of a message of a schema; root is all zero. 0: no memory. */
int bramah__slot_make(bramah__slot *root, bramah__message_type *type, size_t *budget);
/* Of JSON, from its JSON Schema, as far as that says it. */
int bramah__slot_json(bramah__slot *root, const char *schema, size_t length, size_t *budget);
/* Another part; NULL: no memory, or the budget is spent. Pointers to the parts change. */
bramah__slot *bramah__slot_add(bramah__slot *slot, const char *name, size_t length, size_t *budget);
/* An array gets at least n elements. Returns 0 where it has no elements, since there would be too many. */
int bramah__slot_grow(bramah__slot *array, size_t n, size_t *budget);
/* 1 if the arrays of a message are known only with a message. */
int bramah__slot_is_open(const bramah__slot *slot);
/* When all that is looked at was met: objects of seconds and nanoseconds are times. */
void bramah__slot_settle(bramah__slot *slot);
/* Each place that is a number or is left out, with its path. Returns 0 as soon as visit does. */
typedef int bramah__slot_visit(void *user, bramah__slot *slot, const char *path);
int bramah__slot_each(bramah__slot *slot, bramah__slot_visit *visit, void *user);
/* Before the first row: what leads to a column that is not ignored. Returns slot->is_wanted. */
int bramah__slot_choose(bramah__slot *slot, const bramah_log_reader *reader);

/* ---- reading ---- */

/* Errors: E_SYNTAX: the message is not what the schema says. A cell that is no finite number is the reader's fault. */
bramah_status bramah__message_json(bramah__message *m, bramah__slot *root);
bramah_status bramah__message_cdr(bramah__message *m, bramah__slot *root, int is_ros1);
bramah_status bramah__message_protobuf(bramah__message *m, bramah__slot *root);

/* 1: the number at this slot is asked for. */
int bramah__message_wants(const bramah__message *m, const bramah__slot *slot);
/* A cell that is no number, of which this is the text [n]. */
void bramah__message_bad_cell(bramah_log_reader *reader, size_t column, bramah_status status,
                              const char *quote, size_t n);
/* A number into its cell; a whole one exactly, too, where it is a time. */
void bramah__message_put(bramah__message *m, const bramah__slot *slot, double value, int64_t whole,
                         int is_whole);
void bramah__message_put_time(bramah__message *m, const bramah__slot *slot, int64_t seconds,
                              int64_t nanoseconds);

#endif
