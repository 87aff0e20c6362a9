/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of an imported FMU: archive, description, instance (bramah/fmu.h puts a plant together of them). */
#ifndef BRAMAH_LIB_FMI_IMPORT_H
#define BRAMAH_LIB_FMI_IMPORT_H

#include "bramah/fmu.h"
#include "lib/io/yaml.h"

#include <stdint.h>

/* ---- archive ---- */

/* Unpack into a new private folder below the one for temporary files; *out is its path, to be removed by bramah__fmu_remove and freed.
 * Errors: E_FILE, E_SYNTAX (no zip archive; a name that would leave the folder), E_VALUE (too large), E_MEMORY. */
bramah_status bramah__fmu_unpack(const char *path, bramah_diag *diag, char **out);
void bramah__fmu_remove(char *folder); /* NULL allowed */

/* ---- description ---- */

typedef enum bramah__fmu_type {
  BRAMAH__FMU_REAL = 1,
  BRAMAH__FMU_INTEGER,
  BRAMAH__FMU_BOOLEAN,
  BRAMAH__FMU_OTHER
} bramah__fmu_type;

/* By their first letters in the standard's words. */
typedef struct bramah__fmu_scalar {
  const char *name;
  uint32_t reference;
  bramah__fmu_type type;
  const char *kind; /* element of the description: "Float64", "Int32" */
  char
      causality; /* 'p'arameter, 'c'alculatedParameter, 'i'nput, 'o'utput, 'l'ocal, 't'ime (independent), 's'tructuralParameter */
  char variability; /* 'c'onstant, 'f'ixed, 't'unable, 'd'iscrete, '~' continuous */
  char initial;     /* 'e'xact, 'a'pproximate, 'c'alculated */
  int has_start, is_array, has_least, has_most;
  double start, nominal, least, most; /* nominal 0: not given */
  const char *unit, *declared_type;   /* NULL: none */
  uint32_t derivative;                /* FMI 2: index from 1; FMI 3: reference */
  int has_derivative;
} bramah__fmu_scalar;

/* Value [SI] = factor value + offset. */
typedef struct bramah__fmu_unit {
  const char *name;
  int has_base;
  double factor, offset;
  int exponent[8]; /* kg m s A K mol cd rad */
} bramah__fmu_unit;

typedef struct bramah__fmu_named_type {
  const char *name, *unit;
} bramah__fmu_named_type;

typedef struct bramah__fmu_description {
  bramah__pool pool;
  int version; /* 2 or 3 */
  const char *model, *token, *tool, *identifier;
  int co_simulation, exchange, needs_tool; /* co_simulation 0: what follows is of model exchange */
  int once;                                /* one instance in a process */
  int can_get_set, can_serialize, directional, varying_step;
  double fixed_step; /* 0: not stated */
  double start_time, step_size;
  /* Of model exchange: its continuous states in their order, the derivative of each (while it is read: what the structure says), event
   * indicators, is each step of the solver to be told. */
  size_t n_state, state_capacity, n_indicators;
  uint32_t *state, *rate;
  int wants_completed;
  size_t n, capacity;
  bramah__fmu_scalar *scalars;
  size_t n_units, unit_capacity;
  bramah__fmu_unit *units;
  size_t n_types, type_capacity;
  bramah__fmu_named_type *types;
} bramah__fmu_description;

/* Of modelDescription.xml. Released by bramah__fmu_forget, after an error too. Errors: E_FILE, E_SYNTAX with the line, E_UNSUPPORTED
 * (another version of FMI; no co-simulation), E_VALUE (too large), E_MEMORY. */
bramah_status bramah__fmu_describe(const char *path, bramah_diag *diag, bramah__fmu_description *out);
/* The same from memory; `name` for messages. */
bramah_status bramah__fmu_describe_text(const char *name, const char *text, size_t length, bramah_diag *diag,
                                        bramah__fmu_description *out);
void bramah__fmu_forget(bramah__fmu_description *description);

/* ---- instance ---- */

/* What an instance starts from. */
typedef struct bramah__fmu_start {
  double time;
  size_t n[3]; /* reals, integers, truth values */
  const uint32_t *reference[3];
  const double *value[3];
} bramah__fmu_start;

/* Its functions, in this process or in another. All fail with what the FMU said. */
typedef struct bramah__fmu_instance {
  const struct bramah__fmu_calls *calls;
} bramah__fmu_instance;

typedef struct bramah__fmu_calls {
  void (*release)(bramah__fmu_instance *instance);
  /* Reset (again 1), set start values, initialize, into step mode. */
  bramah_status (*initialize)(bramah__fmu_instance *instance, int again, const bramah__fmu_start *start,
                              bramah_diag *diag);
  bramah_status (*get)(bramah__fmu_instance *instance, size_t n, const uint32_t *reference, double *value,
                       bramah_diag *diag);
  bramah_status (*set)(bramah__fmu_instance *instance, size_t n, const uint32_t *reference,
                       const double *value, bramah_diag *diag);
  /* A whole number or a truth value (0, 1). */
  bramah_status (*get_whole)(bramah__fmu_instance *instance, uint32_t reference, int is_truth, double *value,
                             bramah_diag *diag);
  bramah_status (*set_whole)(bramah__fmu_instance *instance, uint32_t reference, int is_truth, double value,
                             bramah_diag *diag);
  bramah_status (*step)(bramah__fmu_instance *instance, double time, double length, bramah_diag *diag);
  /* Derivative of each unknown by each known, J [n_unknown x n_known]. */
  bramah_status (*directional)(bramah__fmu_instance *instance, size_t n_unknown, const uint32_t *unknown,
                               size_t n_known, const uint32_t *known, double *J, bramah_diag *diag);
  /* The state into *kept, which is NULL or was made by this function before; and back. */
  bramah_status (*keep)(bramah__fmu_instance *instance, void **kept, bramah_diag *diag);
  bramah_status (*take_back)(bramah__fmu_instance *instance, void *kept, bramah_diag *diag);
  void (*drop)(bramah__fmu_instance *instance, void **kept);
  /* The same as bytes. */
  bramah_status (*state_size)(bramah__fmu_instance *instance, size_t *size, bramah_diag *diag);
  bramah_status (*serialize)(bramah__fmu_instance *instance, size_t size, void *bytes, bramah_diag *diag);
  bramah_status (*deserialize)(bramah__fmu_instance *instance, size_t size, const void *bytes,
                               bramah_diag *diag);
} bramah__fmu_calls;

typedef struct bramah__fmu_library {
  const char *name; /* for messages */
  const bramah__fmu_description *description;
  /* Instantiated, nothing more. */
  bramah_status (*instantiate)(const struct bramah__fmu_library *library, bramah_diag *diag,
                               bramah__fmu_instance **out);
  void (*unload)(struct bramah__fmu_library *library); /* after its instances */
} bramah__fmu_library;

/* The library in this process; folder, description and name must outlive it. Errors: E_UNSUPPORTED, E_MEMORY. */
bramah_status bramah__fmu_load(const char *folder, const bramah__fmu_description *description,
                               const char *name, bramah_diag *diag, bramah__fmu_library **out);
/* Each instance in a process of its own, each call within `limit` seconds. Errors: E_FILE, E_MEMORY; others when instances are made. */
bramah_status bramah__fmu_isolate(const char *folder, const bramah__fmu_description *description,
                                  const char *name, double limit, bramah_diag *diag,
                                  bramah__fmu_library **out);

#endif
