/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the readers of a study file share. */
#ifndef BRAMAH_LIB_IO_STUDY_FILE_H
#define BRAMAH_LIB_IO_STUDY_FILE_H

#include "bramah/study.h"
#include "lib/io/schema.h"

/* A sensor with its column, to be taken apart into the arrays of the study. */
typedef struct bramah__sensor_draft {
  bramah_sensor_options options; /* first: begins with name and line */
  bramah_study_column column;
  const char *body, *joint; /* gyro: one of them */
  int second_unit;          /* 1: sigma has the second of two possible units */
  bramah_study_sensor_errors errors;
  int has_gate; /* 1: not that of the filter */
  double gate;
} bramah__sensor_draft;

/* An augmented state, of which the study keeps one target. */
typedef struct bramah__augmented_draft {
  bramah_study_augmented augmented; /* first: begins with name and line */
  const char *parameter, *bias_of, *gain_of;
} bramah__augmented_draft;

/* Input and column; the members of bramah_study_column are in another order than a section wants them. */
typedef struct bramah__input_draft {
  const char *name;
  int line;
  bramah_study_column column;
  int is_unknown;                  /* 1: without a column */
  bramah__augmented_draft unknown; /* what is believed of it then */
} bramah__input_draft;

/* The study while it is being read; the pool holds everything it points to. */
typedef struct bramah__study_draft {
  bramah_study study; /* first: the caller's pointer is ours */
  bramah__pool pool;
  bramah__sensor_draft *sensors;      /* [study.n_sensors] */
  bramah__input_draft *inputs;        /* [study.n_inputs], later [n_inputs] */
  size_t n_inputs;                    /* with the unknown ones */
  bramah__augmented_draft *augmented; /* [study.n_augmented] */
  double gate;                        /* of all sensors that have none of their own, 0: none */
  int has_gate;                       /* 1: it is stated */
  int papers;                         /* 1: the filter's preset is that of the papers */
  /* What it was read from; a copy owns no source. */
  bramah__source *own, *own_machine;
  const bramah__source *source, *machine_source; /* machine NULL: not needed yet */
  bramah__node *root;                            /* of the source, with the changes it was loaded with */
  uint64_t changes_hash;                         /* of these */
  size_t n_settings;
  const bramah_study_setting *settings; /* [n_settings] values that were set, each place once */
  bramah__pool refs;                    /* texts of references */
} bramah__study_draft;

/* Fill a draft from its source, root and settings; tell NULL: the first mistake ends it. */
bramah_status bramah__study_read(bramah__study_draft *draft, bramah_mistake tell, void *user,
                                 bramah_diag *diag);
/* Read the machine file, unless it was read before. */
bramah_status bramah__study_open_machine(bramah_study *study, bramah_diag *diag);

extern const bramah__table bramah__study_table; /* of a study file */
/* Tables of the sections in study_sensors.c. */
extern const bramah__table bramah__sensor_table;
extern const bramah__table bramah__log_table;  /* of a bramah_study_log */
extern const bramah__table bramah__time_table; /* of a bramah_study_time: a column, or keys */

/* A number, or the word "off": 0. */
bramah__read bramah__read_gate;
extern const bramah__word bramah__word_off[], bramah__word_fixed[];

/* A quantity of any dimension, kept as text: the member is a bramah_study_value. */
bramah__read bramah__read_value;
/* A bramah_study_uncertain: a share, a quantity, or the word 'fixed'. */
bramah__read bramah__read_uncertain;

/* What a sensor or input may say of its column; the member is a bramah_study_column (study_sensors.c). */
#define BRAMAH__COLUMN_KEYS(type, member)                                                                    \
  BRAMAH__KEY("file", bramah__read_name, type, member.file, .required = 0),                                  \
      BRAMAH__KEY("unit", bramah__read_log_unit, type, member.unit, .required = 0),                          \
      BRAMAH__KEY("scale", bramah__read_scale, type, member, .required = 0),                                 \
      BRAMAH__KEY("offset", bramah__read_value, type, member.offset, .required = 0),                         \
      BRAMAH__KEY("wrap", bramah__read_value, type, member.wrap, .range = BRAMAH__POSITIVE),                 \
      BRAMAH__KEY("sign", bramah__read_sign, type, member.sign, .unit = "1")
bramah__read bramah__read_log_unit; /* a unit, "counts" or "iso8601", as text */
bramah__read bramah__read_sign;     /* double: 1 or -1 */
bramah__read bramah__read_scale;    /* of the bramah_study_column: a factor or two points */

/* Names of files that columns refer to must exist. */
bramah_status bramah__check_log_files(bramah__reader *reader, const bramah_study *study);

/* The sensors' drafts into the arrays of the study. */
bramah_status bramah__split_sensors(bramah__reader *reader, bramah__study_draft *draft);

#endif
