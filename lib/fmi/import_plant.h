/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of an imported FMU share: its variables as the study has them (import_variables.c), instances behind the plant
 * interface (import_plant.c), trials when it is opened (import_open.c). */
#ifndef BRAMAH_LIB_FMI_IMPORT_PLANT_H
#define BRAMAH_LIB_FMI_IMPORT_PLANT_H

#include "lib/fmi/import.h"

/* ---- variables ---- */

/* A variable of the FMU under a name of ours: value [unit, SI] = factor value + offset. */
typedef struct port {
  const char *name, *unit;
  const bramah__fmu_scalar *scalar;
  uint32_t reference;
  double factor, offset;
  double scale, period; /* of states */
  bramah_output_kind kind;
} port;

struct bramah_fmu {
  bramah__pool pool;
  bramah_fmu_mapping map;
  char *folder;
  bramah__fmu_description description;
  bramah__fmu_library *library;
  size_t n_dof, n, n_input, n_output, n_parameter; /* n: states; outputs of the mapping alone */
  port *state;                                     /* [n] positions, rates, first-order states */
  port *output;                                    /* [n_output] */
  port *input;                                     /* [n_input] */
  port *parameter;                                 /* [n_parameter], then [n_input] the offsets of inputs */
  uint32_t *observed;                              /* [n + n_output] states, outputs */
  port *before; /* [n] where the last step began: `previous.` and the state's name, or the state itself */
  uint32_t *rate_of; /* [n] the variable that is the derivative of each state */
  int has_rates;
  uint32_t *value_reference[3]; /* real, integer, truth */
  double *value[3];
  size_t n_value[3];
  size_t state_bytes;
  char why_not_saved[400], why_differences[400], not_estimated[200];
  bramah_fmu_abilities report;
};

/* A value of the FMU in SI, and back. */
static inline double si(const port *of, double value) { return of->factor * value + of->offset; }
static inline double own(const port *of, double value) { return (value - of->offset) / of->factor; }

/* A whole number or a truth value: among inputs and outputs alone. */
static inline int is_whole(const port *of) { return of->scalar->type != BRAMAH__FMU_REAL; }

/* All that is shown, one after the other: states, outputs. */
static inline size_t n_shown(const bramah_fmu *f) { return f->n + f->n_output; }
static inline const port *observed(const bramah_fmu *f, size_t i)
{
  return i < f->n ? &f->state[i] : &f->output[i - f->n];
}

/* Copies of the mapping and room for all that it names. Errors: E_MEMORY. */
bramah_status bramah__fmu_take_room(bramah_fmu *f, const bramah_fmu_mapping *map, bramah_diag *diag);
/* The variables of the description that the mapping names, and the step. Errors as of bramah_fmu_open. */
bramah_status bramah__fmu_bind(bramah_fmu *f, bramah_diag *diag);
/* Say where in the study a mistake is that has no line of its own; line 0: where it names the FMU. */
bramah_status bramah__fmu_at(const bramah_fmu *f, bramah_diag *diag, bramah_status status, int line);

/* ---- an instance ---- */

/* A state that stays in the FMU, for the snapshot at this address. */
typedef struct slot {
  const void *address;
  uint64_t id;
  void *kept;
} slot;

struct bramah_fmu_plant {
  const bramah_fmu *fmu;
  bramah__fmu_instance *i;
  bramah_status broken; /* after an error, until a restore */
  bramah_diag why;
  int64_t k; /* steps since the start */
  /* KEPT: this instance; the state it has (0: none that was saved). Else 0: same state, same bytes. */
  uint64_t self, state_id;
  uint64_t last_id;
  double *u, *p; /* [n_input] SI; [n_parameter + n_input] SI */
  double *v;     /* [n + n_output] SI */
  int has_run;   /* it was initialized before */
  int is_stale;  /* STARTED_ANEW: of v only the states are of now */
  size_t n_slots, slot_capacity;
  slot *slots;
  uint32_t *reference; /* [n + n_parameter + n_input + values, and n + n_output] scratch */
  double *number;      /* likewise, and [n + n_output] */
  unsigned char *snap; /* scratch of derivatives */
  double *column;      /* [3 n] */
  double *matrix;      /* [room for exponentials] */
};

/* Of the plant's table, for trials. */
bramah_status bramah__fmu_step(void *self, bramah_diag *diag);
bramah_status bramah__fmu_inject(void *self, const double *dx, bramah_diag *diag);
void bramah__fmu_save(const void *self, void *snap);
void bramah__fmu_restore(void *self, const void *snap);
size_t bramah__fmu_snapshot_size(const bramah_fmu *f);
/* A step with its derivative F and what even noise comes to, N (NULL: not wanted); differences by `by` of the scales. */
bramah_status bramah__fmu_transition(bramah_fmu_plant *p, bramah_fmu_derivatives method, double by, double *F,
                                     double *N, bramah_diag *diag);

#endif
