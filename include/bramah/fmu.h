/* SPDX-License-Identifier: GPL-3.0-or-later */
/* FMUs (functional mock-up units, fmi-standard.org), FMI 2.0 or 3.0: somebody else's simulation model as a plant, and at the end what
 * bramah writes for other simulators. Part of libbramah-tools; needs libzip and expat when bramah is built. Co-simulation is taken where an
 * FMU has it; model exchange is integrated by CVODE (SUNDIALS when bramah is built), which begins anew with each step and event.
 * To load an FMU is to run its code, with all that this program may do: load none that you would not start.
 *
 *   bramah_fmu_open(&mapping, &diag, &fmu);           what its variables mean for a filter; looks how its state is saved
 *   bramah_fmu_plant_new(fmu, &diag, &instance);      once for each filter
 *   bramah_plant plant = bramah_fmu_plant_table(instance);
 *
 * States are real variables of the FMU: independent positions with their rates, then first-order states. A correction sets them in step
 * mode, and the FMU's own functions save and restore its state (serialized, or kept inside). Where it does not take both, but can be
 * started at any time from its states, each step starts it anew; one that then goes elsewhere, since it has states that are not named,
 * is refused. Derivatives of a step are its directional derivatives where they are those of its steps or can be made to, else central
 * differences of whole steps. Which of these it is was tried when it was opened (bramah_fmu_get_abilities).
 * After an error a plant refuses everything but its restore and bramah_fmu_plant_start. */
#ifndef BRAMAH_FMU_H
#define BRAMAH_FMU_H

#include "bramah/plant.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of a variable: its name in modelDescription.xml, and the line of the study that names it (0: none). */
typedef struct bramah_fmu_variable {
  const char *variable;
  int line;
} bramah_fmu_variable;

/* An independent position with its rate; outputs NAME.angle (NAME.position where it slides) and NAME.rate. */
typedef struct bramah_fmu_position {
  const char *name;
  int slides; /* 1: [m], 0: [rad] */
  bramah_fmu_variable position;
  bramah_fmu_variable rate; /* variable NULL: the one that the FMU calls its derivative */
  double scale,
      rate_scale; /* typical magnitudes [rad] or [m], and per second; 0: 1 rad or 1 m, and per second */
  double period;  /* [rad] of an angle that the FMU wraps; 0: none */
} bramah_fmu_position;

/* A first-order state; its output is NAME.pressure where it is a pressure, else NAME. */
typedef struct bramah_fmu_state {
  const char *name;
  bramah_fmu_variable of;
  double scale;           /* typical magnitude, SI; 0: the FMU's nominal value, or 1 (a pressure: 1 MPa) */
  const char *scale_unit; /* in which it was written, "bar"; NULL: not checked */
} bramah_fmu_state;

/* An input, output or parameter under this name; of a parameter the range that the FMU accepts. */
typedef struct bramah_fmu_port {
  const char *name;
  bramah_fmu_variable of;
} bramah_fmu_port;

/* A start value of a parameter: real, or a whole number or 0 and 1 for integers and truth values. */
typedef struct bramah_fmu_value {
  bramah_fmu_variable of;
  double value; /* in the unit of the FMU */
} bramah_fmu_value;

enum { BRAMAH_FMU_TIME_LIMIT = 30 }; /* [s] */

/* What the variables of an FMU mean; zero: not given. */
typedef struct bramah_fmu_mapping {
  const char *path; /* the archive */
  const char *file; /* for messages: the study; NULL: none */
  int line;         /* where it names the FMU */
  int64_t step_ns;  /* of a communication step; 0: that of the FMU's default experiment */
  int differences;  /* 1: no directional derivatives */
  /* 1: each instance runs in a process of its own. That it crashes, ends its process or does not come back from a call within time_limit
   * [s] (0: BRAMAH_FMU_TIME_LIMIT) is then an error of the plant, which names the FMU and says what happened; bramah_fmu_plant_start, and
   * restored states but for those KEPT inside the FMU, begin a new process. Same bits as without. */
  int isolate;
  double time_limit;
  size_t n_positions;
  const bramah_fmu_position *positions;
  size_t n_states;
  const bramah_fmu_state *states;
  size_t n_inputs;
  const bramah_fmu_port *inputs;
  size_t n_outputs;
  const bramah_fmu_port *outputs;
  size_t n_parameters;
  const bramah_fmu_port *parameters;
  size_t n_values;
  const bramah_fmu_value *values;
} bramah_fmu_mapping;

/* The FMU with what its variables mean: immutable, shared by its instances. */
typedef struct bramah_fmu bramah_fmu;

/* Unpack into a folder of its own (removed by bramah_fmu_close), read the description, load the library, try what it can do on an
 * instance of its own; the mapping is copied. Errors: E_UNSUPPORTED (what an estimator needs and this FMU lacks, by name; or bramah was
 * built without libzip or expat), E_FILE, E_SYNTAX (the archive, the description), E_REFERENCE (no such variable; suggests the nearest),
 * E_UNIT, E_VALUE, E_MEMORY, and E_ARGUMENT with what the FMU said where one of its functions failed. */
BRAMAH_API bramah_status bramah_fmu_open(const bramah_fmu_mapping *mapping, bramah_diag *diag,
                                         bramah_fmu **out);
BRAMAH_API void bramah_fmu_close(bramah_fmu *fmu); /* NULL allowed; after its plants */

typedef enum bramah_fmu_saving {
  BRAMAH_FMU_SERIALIZED = 1, /* bytes: snapshots of one plant can be restored in another */
  BRAMAH_FMU_KEPT =
      2, /* states stay inside the FMU: a snapshot is good for its plant, and copies of it are not */
  BRAMAH_FMU_STARTED_ANEW = 3 /* each step starts the FMU from its states */
} bramah_fmu_saving;

typedef enum bramah_fmu_derivatives {
  BRAMAH_FMU_OF_STEP = 1,    /* directional: of the state after a step by that before it */
  BRAMAH_FMU_OF_RATES = 2,   /* directional: of the states' rates; that of the step by their exponential */
  BRAMAH_FMU_DIFFERENCES = 3 /* of whole steps */
} bramah_fmu_derivatives;

/* What was found. Texts live as long as the FMU. */
typedef struct bramah_fmu_abilities {
  const char *model, *tool; /* of the description; "" */
  int version;              /* 2 or 3 */
  size_t n_variables;
  int is_isolated, is_exchange; /* is_exchange: of model exchange, integrated by CVODE */
  bramah_fmu_saving saving;
  const char *why_not_saved; /* of STARTED_ANEW: why corrections or saved states are not its own; else "" */
  size_t snapshot_bytes;
  const char
      *not_estimated; /* variables that the FMU calls states, and that nobody named: "" or their names */
  bramah_fmu_derivatives derivatives;
  const char *why_differences; /* "" where they are not, or were asked for */
  double difference_step;      /* of a state, by its scale */
  double mismatch;             /* of the derivatives to differences of another length, by the scales */
  size_t steps;        /* of the FMU for one step of a filter with its transition, parameters not counted */
  double step_seconds; /* one step, and one saved and restored state, as measured when it was opened */
  double save_seconds;
} bramah_fmu_abilities;
/* These. */
BRAMAH_API bramah_fmu_abilities bramah_fmu_get_abilities(const bramah_fmu *fmu);

/* An instance, and its plant. It is used by one thread at a time; several may be on different threads. */
typedef struct bramah_fmu_plant bramah_fmu_plant;
/* A new one at the FMU's own start. Errors: E_MEMORY, E_ARGUMENT with what the FMU said. */
BRAMAH_API bramah_status bramah_fmu_plant_new(const bramah_fmu *fmu, bramah_diag *diag,
                                              bramah_fmu_plant **out);
BRAMAH_API void bramah_fmu_plant_free(bramah_fmu_plant *instance); /* NULL allowed */
/* Its table; the instance must outlive it. */
BRAMAH_API bramah_plant bramah_fmu_plant_table(bramah_fmu_plant *instance);

/* At the start of the FMU's default experiment again, with these states x [n], SI; NaN: the FMU's own start value. */
BRAMAH_API bramah_status bramah_fmu_plant_start(bramah_fmu_plant *instance, const double *x,
                                                bramah_diag *diag);

/* ---- the other way: machines and estimators of bramah for other simulators ---- */

/* What was written. */
typedef struct bramah_fmu_report {
  char name[64];    /* the model identifier */
  int is_estimator; /* of a study */
  double step;      /* [s] of the model's own */
  size_t n_variables, n_inputs, n_outputs;
  char left_out[256]; /* names of outputs of the machine that its C source does not have, ", " between them */
} bramah_fmu_report;

/* The machine of a machine file, or the filter of a study, as an FMU for co-simulation, written to the file `output`: model
 * description, C source, a binary for this platform, made by the C compiler CC (cc where the environment has none), and a page that says
 * what its variables are. It needs no other file and no library, and any number of instances may live side by side.
 *
 * Inputs are the machine's, in SI, held over a step; of an estimator also measured.SENSOR and valid.SENSOR, which correct the
 * estimate at the communication point where they are set. A communication step is a whole number of the model's own, step_ns
 * (0: that of the file), another is refused with a message. States of a plant may be set at any communication point, those of an
 * estimator before the first step; the state of the whole FMU is a copy of fixed size, restored to the bit. Directional derivatives
 * of a plant: by previous.STATE, where the last step began, they are those of the step itself; by a STATE those of outputs as they are; by
 * inputs and parameters central differences of the last step.
 *
 * version: 2 or 3. The same file gives the same bytes (of the same compiler). Errors: those of bramah_plant_c_source and
 * bramah_filter_c_source, which name what is not written as C; E_UNSUPPORTED (samples that come late, several filters, adapted
 * noise; bramah built without libzip), E_ARGUMENT (version), E_FILE (no compiler, the output). */
BRAMAH_API bramah_status bramah_fmu_write(const char *path, int64_t step_ns, int version, const char *output,
                                          bramah_diag *diag, bramah_fmu_report *report);

#ifdef __cplusplus
}
#endif
#endif
