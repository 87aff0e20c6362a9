/* SPDX-License-Identifier: MIT */
/* The plant interface: all that the filter, the sensors and the replay know of a simulation model. The
 * built-in coupled plant (bramah/coupled.h) fills one; somebody else's simulator can fill another.
 *
 * The error state has n = 2 n_position + n_pressure elements, in this order:
 *   [ errors of the independent positions; of the independent velocities; of the pressures ]
 * (dissertation 3.1) Functions return BRAMAH_OK or an error with the plant unchanged; none of them allocates.
 */
#ifndef BRAMAH_PLANT_H
#define BRAMAH_PLANT_H

#include <stdint.h>
#include "bramah/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum bramah_output_kind {
  BRAMAH_OUTPUT_POSITION = 1,     /* joint angle [rad] or position [m] */
  BRAMAH_OUTPUT_RATE = 2,         /* joint rate */
  BRAMAH_OUTPUT_ACCELERATION = 3, /* joint acceleration */
  BRAMAH_OUTPUT_PRESSURE = 4,     /* [Pa] absolute; of metered cylinders a difference */
  BRAMAH_OUTPUT_OTHER = 5
} bramah_output_kind;

/* A quantity the plant can tell: a column of a simulated log, a thing a sensor measures. */
typedef struct bramah_output_info {
  const char *name; /* "crank.angle": lives as long as the plant's model */
  const char *unit; /* "rad" */
  bramah_output_kind kind;
  int has_row; /* 1 if its derivative by the error state is meaningful, so that a sigma can be given */
  int hidden;  /* 1 if it is left out of files (available to sensors only) */
} bramah_output_info;

/* A number of the model that may be wrong or change: an augmented filter estimates it. */
typedef struct bramah_parameter_info {
  const char *name; /* "pump.pressure": lives as long as the plant's model */
  const char *unit;
  double nominal;     /* what the model was made with */
  double least, most; /* what the model accepts */
} bramah_parameter_info;

/* The table that a plant fills; copied by whoever takes it. */
typedef struct bramah_plant {
  void *self; /* handed to every function below */
  size_t n_position;
  size_t n_pressure;
  size_t n_input;
  size_t n_output;
  size_t snapshot_size; /* bytes */
  int64_t step_ns;      /* length of one step */

  /* Name of error state i in its present meaning, e.g. "crank.angle"; valid until the next call. */
  const char *(*state_name)(const void *self, size_t i);
  /* Name of input i. */
  const char *(*input_name)(const void *self, size_t i);
  void (*output_info)(const void *self, size_t i, bramah_output_info *info);

  /* Inputs u [n_input], SI, held over the steps that follow until set again. */
  bramah_status (*set_inputs)(void *self, const double *u, bramah_diag *diag);
  /* Advance by step_ns. */
  bramah_status (*step)(void *self, bramah_diag *diag);
  /* Add dx [n] to the independent positions, velocities and pressures and move everything that depends on
   * them: dependent positions and velocities along the constraints, accelerations and pressure rates anew. */
  bramah_status (*inject)(void *self, const double *dx, bramah_diag *diag);
  /* Independent accelerations [n_position] at the present state. */
  bramah_status (*accelerations)(void *self, double *zdd, bramah_diag *diag);
  /* Present value of output i. */
  double (*output)(void *self, size_t i);
  /* Copy the whole state to and from snap [snapshot_size bytes, 8-byte aligned]; restoring is exact to the
   * bit. */
  void (*save)(const void *self, void *snap);
  void (*restore)(void *self, const void *snap);

  /* Optional (NULL: finite differences through inject are used instead). */

  /* Derivative of the independent accelerations by the error state, J [n_position x n] row-major. */
  bramah_status (*acceleration_jacobian)(void *self, double *J, bramah_diag *diag);
  /* Derivative of output i by the error state, row [n]; BRAMAH_E_UNSUPPORTED where the plant has none. */
  bramah_status (*output_row)(void *self, size_t i, double *row);
  /* If the last step went over to other independent coordinates: write T [n x n], dx_new = T dx_old, forget
   * the change and return 1; else return 0. NULL: the coordinates never change. */
  int (*basis_change)(void *self, double *T);
  /* What is meant by standard deviation and noise of output i of kind POSITION where it is not the output
   * itself: row [n] of a small displacement by the error state. BRAMAH_E_UNSUPPORTED: the output itself. */
  bramah_status (*noise_row)(void *self, size_t i, double *row);

  /* Present values x [n] of what the error state is about: independent positions, velocities, pressures. */
  void (*coordinates)(void *self, double *x);

  /* Parameters: their values are part of the state (saved and restored with it). Setting one re-evaluates
   * accelerations and pressure rates as inject does; setting the value that stands does nothing. Errors:
   * E_ARGUMENT (no such parameter), E_NOT_FINITE, E_VALUE (outside least ... most), and what the new value
   * makes of the equations; nothing has changed then. n_parameter = 0: none. */
  size_t n_parameter;
  void (*parameter_info)(const void *self, size_t i, bramah_parameter_info *info);
  double (*parameter)(const void *self, size_t i);
  bramah_status (*set_parameter)(void *self, size_t i, double value, bramah_diag *diag);

  /* Derivative of the independent accelerations by the error state, J [n_position x n], analytic, and by the
   * parameters listed, Jp [n_position x n_par]. */
  bramah_status (*acceleration_derivative)(void *self, double *J, size_t n_par, const size_t *par, double *Jp,
                                           bramah_diag *diag);
  /* Advance by step_ns and write what the filter needs of the step, in the coordinates that were independent
   * at its start (basis_change follows): F [n x n], the derivative of the error state at its end by that at
   * its start; N [n x (n_position + n_pressure)], the error at its end that a unit change of each independent
   * velocity and pressure makes when it comes evenly over the step: white noise of density q enters with N q
   * step N'; G [n x n_par], the derivative by the parameters listed. N may be NULL. On error the plant is
   * unchanged. */
  bramah_status (*step_transition)(void *self, double *F, double *N, size_t n_par, const size_t *par,
                                   double *G, bramah_diag *diag);
  /* Iterations the last step or step_transition took, also where it failed. NULL: unknown. */
  unsigned (*iterations)(const void *self);
} bramah_plant;

/* Length n of the error state. */
static inline size_t bramah_plant_n_error(const bramah_plant *plant)
{
  return 2 * plant->n_position + plant->n_pressure;
}

/* Index of the output of that name, or -1. */
BRAMAH_API long bramah_plant_find_output(const bramah_plant *plant, const char *name);

/* Index of the parameter of that name, or -1. */
BRAMAH_API long bramah_plant_find_parameter(const bramah_plant *plant, const char *name);

/* The same into *i; E_REFERENCE "there is no parameter ...; did you mean ...?" where there is none. */
BRAMAH_API bramah_status bramah_plant_parameter_index(const bramah_plant *plant, const char *name, size_t *i,
                                                      bramah_diag *diag);

/* Derivative of output i by the error state, row [n]: the plant's own or, where it has none, central
 * differences through inject, for which `snap` [snapshot_size] and `dx` [n] are scratch. The plant is left as
 * it was. */
BRAMAH_API bramah_status bramah_plant_output_row(const bramah_plant *plant, size_t i, double *row, void *snap,
                                                 double *dx, bramah_diag *diag);

/* Derivative of the independent accelerations, J [n_position x n]: the plant's own, or differences through
 * inject. Scratch as above, and zdd [2 n_position]. */
BRAMAH_API bramah_status bramah_plant_acceleration_jacobian(const bramah_plant *plant, double *J, void *snap,
                                                            double *dx, double *zdd, bramah_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
