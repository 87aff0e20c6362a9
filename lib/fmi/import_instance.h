/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An instance of an FMU in this process: its functions (import_instance.c) and, of model exchange, what integrates it
 * (import_exchange.c). */
#ifndef BRAMAH_LIB_FMI_IMPORT_INSTANCE_H
#define BRAMAH_LIB_FMI_IMPORT_INSTANCE_H

#include "lib/fmi/headers/fmi2FunctionTypes.h"
#include "lib/fmi/headers/fmi3FunctionTypes.h"
#include "lib/fmi/import.h"
#include "lib/io/fail.h"

#include <stdatomic.h>

/* Name here, in FMI 2 and in FMI 3; when it must be there: always, when it is promised, of co-simulation, of model exchange. */
enum { ALWAYS, PROMISED, STEPS, EXCHANGE };
#define FUNCTIONS(X)                                                                                         \
  X(free, FreeInstance, FreeInstance, ALWAYS)                                                                \
  X(begin_start, EnterInitializationMode, EnterInitializationMode, ALWAYS)                                   \
  X(end_start, ExitInitializationMode, ExitInitializationMode, ALWAYS)                                       \
  X(reset, Reset, Reset, ALWAYS)                                                                             \
  X(get, GetReal, GetFloat64, ALWAYS)                                                                        \
  X(set, SetReal, SetFloat64, ALWAYS)                                                                        \
  X(set_integer, SetInteger, SetInt32, ALWAYS)                                                               \
  X(set_boolean, SetBoolean, SetBoolean, ALWAYS)                                                             \
  X(get_integer, GetInteger, GetInt32, PROMISED)                                                             \
  X(get_boolean, GetBoolean, GetBoolean, PROMISED)                                                           \
  X(step, DoStep, DoStep, STEPS)                                                                             \
  X(keep, GetFMUstate, GetFMUState, PROMISED)                                                                \
  X(take_back, SetFMUstate, SetFMUState, PROMISED)                                                           \
  X(drop, FreeFMUstate, FreeFMUState, PROMISED)                                                              \
  X(state_size, SerializedFMUstateSize, SerializedFMUStateSize, PROMISED)                                    \
  X(serialize, SerializeFMUstate, SerializeFMUState, PROMISED)                                               \
  X(deserialize, DeSerializeFMUstate, DeserializeFMUState, PROMISED)                                         \
  X(directional, GetDirectionalDerivative, GetDirectionalDerivative, PROMISED)                               \
  X(begin_event, EnterEventMode, EnterEventMode, EXCHANGE)                                                   \
  X(update, NewDiscreteStates, UpdateDiscreteStates, EXCHANGE)                                               \
  X(end_event, EnterContinuousTimeMode, EnterContinuousTimeMode, EXCHANGE)                                   \
  X(completed, CompletedIntegratorStep, CompletedIntegratorStep, EXCHANGE)                                   \
  X(set_time, SetTime, SetTime, EXCHANGE)                                                                    \
  X(set_states, SetContinuousStates, SetContinuousStates, EXCHANGE)                                          \
  X(get_states, GetContinuousStates, GetContinuousStates, EXCHANGE)                                          \
  X(nominals, GetNominalsOfContinuousStates, GetNominalsOfContinuousStates, EXCHANGE)                        \
  X(rates, GetDerivatives, GetContinuousStateDerivatives, EXCHANGE)                                          \
  X(indicators, GetEventIndicators, GetEventIndicators, EXCHANGE)

typedef struct functions2 {
  fmi2InstantiateTYPE *instantiate;
  fmi2SetupExperimentTYPE *set_up;
#define MEMBER(name, two, three, when) fmi2##two##TYPE *name;
  FUNCTIONS(MEMBER)
#undef MEMBER
} functions2;

typedef struct functions3 {
  fmi3InstantiateCoSimulationTYPE *instantiate;
  fmi3InstantiateModelExchangeTYPE *instantiate_exchange;
#define MEMBER(name, two, three, when) fmi3##three##TYPE *name;
  FUNCTIONS(MEMBER)
#undef MEMBER
} functions3;

typedef struct local_library {
  bramah__fmu_library head; /* first: the caller's pointer is ours */
  void *handle;
  functions2 f2;
  functions3 f3;
  char *resources;
  atomic_int *alive; /* instances, of an FMU that can have but one in a process */
} local_library;

typedef struct local_instance {
  bramah__fmu_instance head; /* first */
  const local_library *library;
  fmi2CallbackFunctions callbacks; /* the FMU keeps a pointer to it */
  void *component;                 /* NULL: it called itself fatally wrong */
  char said[320];                  /* its last message that is no mere note */
  double *column;                  /* [n_column] of directional derivatives */
  size_t n_column;
  struct exchange *exchange; /* of model exchange, else NULL */
} local_instance;

/* Its status: 0 and 1 (a warning) are well; both versions have 4 for what is fatal. */
static inline bramah_status bramah__fmu_judge(local_instance *i, int status, const char *what,
                                              bramah_diag *diag)
{
  static const char *const words[] = {"ok", "warning", "discard", "error", "fatal", "pending"};
  if (status == 0 || status == 1) {
    i->said[0] = '\0'; /* of a function that worked: no reason of a later one that does not */
    return BRAMAH_OK;
  }
  bramah__failf(diag, BRAMAH_E_ARGUMENT, NULL, 0, i->library->head.name, "the FMU failed to %s (%s)%s%s",
                what, status >= 2 && status <= 5 ? words[status] : "unknown status", *i->said ? ": " : "",
                i->said);
  if (diag) bramah_make_printable(diag->message);
  if (status == fmi2Fatal) i->component = NULL;
  i->said[0] = '\0';
  return BRAMAH_E_ARGUMENT;
}

static inline bramah_status bramah__fmu_dead(const local_instance *i, bramah_diag *diag)
{
  return i->component ? BRAMAH_OK
                      : bramah__failf(diag, BRAMAH_E_ARGUMENT, NULL, 0, i->library->head.name,
                                      "the FMU called itself fatally wrong and cannot be used any more");
}

/* Call a function of either version. */
#define CALL(i, what, two, three)                                                                            \
  do {                                                                                                       \
    const bramah_status gone = bramah__fmu_dead(i, diag);                                                    \
    if (gone) return gone;                                                                                   \
    const functions2 *f2 = &(i)->library->f2;                                                                \
    const functions3 *f3 = &(i)->library->f3;                                                                \
    (void)f3;                                                                                                \
    void *c = (i)->component;                                                                                \
    return bramah__fmu_judge(i, (i)->library->head.description->version == 2 ? (int)(two) : (int)(three),    \
                             what, diag);                                                                    \
  } while (0)

/* A function of an instance that does no more; the parameters behind the instance come last, the diagnostic among them. */
#define FUNCTION(name, what, two, three, ...)                                                                \
  static bramah_status name(local_instance *i, __VA_ARGS__) { CALL(i, what, two, three); }

/* ---- model exchange ---- */

/* An event that the FMU has announced. A solver begins anew with each step, so that this is all there is besides the FMU's own state. */
typedef struct bramah__fmu_event {
  double is_coming, time;
} bramah__fmu_event;

/* With n states and n event indicators; of the FMU's description. Errors: E_UNSUPPORTED (bramah built without SUNDIALS), E_MEMORY. */
bramah_status bramah__exchange_new(local_instance *i, bramah_diag *diag);
void bramah__exchange_free(local_instance *i);
bramah__fmu_event *bramah__exchange_event(local_instance *i);
/* After initialization: into continuous time. */
bramah_status bramah__exchange_begin(local_instance *i, double time, bramah_diag *diag);
/* States as they are, all else in an event of its own; n reals. */
bramah_status bramah__exchange_set(local_instance *i, size_t n, const uint32_t *reference,
                                   const double *value, bramah_diag *diag);
/* An event in which inputs and parameters may be set. */
bramah_status bramah__exchange_open_event(local_instance *i, bramah_diag *diag);
bramah_status bramah__exchange_close_event(local_instance *i, bramah_diag *diag);
bramah_status bramah__exchange_step(local_instance *i, double time, double length, bramah_diag *diag);

#endif
