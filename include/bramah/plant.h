/* SPDX-License-Identifier: MIT */
/* The plant interface: all that the filter, the sensors and the replay know of a simulation model. The
 * built-in coupled plant (bramah/coupled.h) fills one; somebody else's simulator can fill another.
 *
 * The error state has n = 2 n_dof + n_first_order elements, in this order:
 *   [ errors of the independent positions; of their rates; of the first-order states ]
 * (D 3.1, see bramah/filter.h). First-order states are whatever follows a differential equation of first order of its
 * own: pressures, spools, bristles of friction, coil currents, the states of a foreign model, each in its
 * unit. Functions return BRAMAH_OK or an error with the plant unchanged; none of them allocates. */
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
  BRAMAH_OUTPUT_FIRST_ORDER = 4,  /* a first-order state itself: a pressure [Pa] absolute, a current [A] */
  BRAMAH_OUTPUT_OTHER = 5
} bramah_output_kind;

/* One element of the error state. */
typedef struct bramah_state_info {
  const char *name; /* in its present meaning, e.g. "crank.angle"; valid until the next call */
  const char *unit; /* "rad" */
  double scale;     /* typical magnitude > 0 [unit]: differences are made by small fractions of it */
  double period;    /* values this far apart mean the same and the plant wraps (an angle: 2 pi); 0: none */
  bramah_output_kind kind; /* POSITION, RATE or FIRST_ORDER: filled by bramah_plant_state_info */
} bramah_state_info;

/* A quantity the plant shows: a column of a simulated log, a thing a sensor measures. */
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

/* Where the plant has a kink between two straight pieces: the rate of the first-order state number state[i] (0 is the first one)
 * has the term effect[i] max(value, 0) with value = by[0] x[state[0]] + by[1] x[state[1]] + what does not change, in the unit of
 * these states [Pa]. by 0: there is no such state. */
typedef struct bramah_kink {
  const char *name; /* what opens there, "refill"; lives as long as the plant's model */
  size_t state[2];
  double by[2], value;
} bramah_kink;

/* Grows when the meaning or the order of the members below changes; new members at the end do not count. */
#define BRAMAH_PLANT_VERSION 2

/* The first two members of every table: (bramah_plant){BRAMAH_PLANT_HEAD, .self = ...}. A plant whose table
 * was compiled with an older and shorter bramah_plant goes on working: what it lacks counts as NULL. */
#define BRAMAH_PLANT_HEAD .version = BRAMAH_PLANT_VERSION, .size = sizeof(bramah_plant)

/* The table that a plant fills; copied by whoever takes it. Five functions are required, and set_inputs
 * where there are inputs. All others may be NULL, with the consequence said there. Read a table that may
 * be foreign by the functions below it (bramah_plant_output_info and so on), which fill in what is
 * missing. Filters, sensors and analyses refuse a table that cannot be worked with: E_UNSUPPORTED names
 * the required function that is missing, or says that the table is of another version; E_VALUE (length of
 * the step, a scale or a period, first outputs that are no states). */
typedef struct bramah_plant {
  uint32_t version; /* BRAMAH_PLANT_VERSION */
  uint32_t size;    /* sizeof(bramah_plant) where the table was filled */
  void *self;       /* handed to every function below */
  int64_t step_ns;  /* length of one step > 0 */
  size_t n_dof;     /* independent positions, and as many rates */
  size_t n_first_order;
  size_t n_input;
  size_t n_output;
  size_t n_parameter;
  size_t snapshot_size; /* bytes */

  /* ---- required ---- */

  /* Advance by step_ns. */
  bramah_status (*step)(void *self, bramah_diag *diag);
  /* Add dx [n] to the independent positions, rates and first-order states and move everything that depends on
   * them: dependent positions and rates along the constraints, accelerations and first-order rates anew. */
  bramah_status (*inject)(void *self, const double *dx, bramah_diag *diag);
  /* Present value of output i. */
  double (*output)(void *self, size_t i);
  /* Copy the whole state to and from snap [snapshot_size bytes, 8-byte aligned]; restoring is exact to the
   * bit. */
  void (*save)(const void *self, void *snap);
  void (*restore)(void *self, const void *snap);
  /* Inputs u [n_input], SI, held over the steps that follow until set again. NULL only where n_input is 0. */
  bramah_status (*set_inputs)(void *self, const double *u, bramah_diag *diag);

  /* ---- what things are called ---- */

  /* Error state i < n. NULL: outputs i < n are the states, in this order; scale 1, no period. */
  void (*state_info)(const void *self, size_t i, bramah_state_info *info);
  /* Output i. NULL: outputs i < n are the states, in this order, with rows; others are called "output". */
  void (*output_info)(const void *self, size_t i, bramah_output_info *info);
  /* Name of input i. NULL: "input". */
  const char *(*input_name)(const void *self, size_t i);

  /* ---- state and derivatives ---- */

  /* Present values x [n] of what the error state is about. NULL: the outputs that bear the names of the
   * states. */
  void (*coordinates)(void *self, double *x);
  /* Advance by step_ns and write what the filter needs of the step, in the coordinates that were independent
   * at its start (basis_change follows): F [n x n], the derivative of the error state at its end by that at
   * its start; N [n x (n_dof + n_first_order)], the error at its end that a unit change of each independent
   * rate and first-order state makes when it comes evenly over the step: white noise of spectral density q
   * enters with N q step N'; G [n x n_par], the derivative by the parameters listed, each of them three times
   * at most (augmented, noisy, cause of a score test). N may be NULL. On error the plant is unchanged. NULL: differences
   * of whole steps. */
  bramah_status (*step_transition)(void *self, double *F, double *N, size_t n_par, const size_t *par,
                                   double *G, bramah_diag *diag);
  /* Derivative of output i by the error state, row [n]; BRAMAH_E_UNSUPPORTED where the plant has none. NULL:
   * differences through inject. */
  bramah_status (*output_row)(void *self, size_t i, double *row);
  /* If the last step went over to other independent coordinates: write T [n x n], dx_new = T dx_old, forget
   * the change and return 1; else return 0. NULL: the coordinates never change. */
  int (*basis_change)(void *self, double *T);
  /* What is meant by standard deviation and noise of output i of kind POSITION where it is not the output
   * itself: row [n] of a small displacement by the error state. BRAMAH_E_UNSUPPORTED or NULL: the output
   * itself. */
  bramah_status (*noise_row)(void *self, size_t i, double *row);
  /* Iterations the last step or step_transition took, also where it failed. NULL: unknown. */
  unsigned (*iterations)(const void *self);

  /* ---- parameters: NULL where n_parameter is 0 ---- */

  /* Their values are part of the state (saved and restored with it). Setting one re-evaluates accelerations
   * and first-order rates as inject does; setting the value it has does nothing. Errors: E_ARGUMENT (no such
   * parameter), E_NOT_FINITE, E_VALUE (outside least ... most), and what the new value makes of the
   * equations; nothing has changed then. */
  void (*parameter_info)(const void *self, size_t i, bramah_parameter_info *info);
  double (*parameter)(const void *self, size_t i);
  bramah_status (*set_parameter)(void *self, size_t i, double value, bramah_diag *diag);

  /* ---- for the transitions of the papers (D 3.4), which are made of accelerations ---- */

  /* Independent accelerations [n_dof] at the present state. NULL: no such transition. */
  bramah_status (*accelerations)(void *self, double *zdd, bramah_diag *diag);
  /* Derivative of the independent accelerations by the error state, J [n_dof x n] row-major, as the papers
   * have it. NULL: differences through inject. */
  bramah_status (*acceleration_jacobian)(void *self, double *J, bramah_diag *diag);
  /* The same, analytic, and by the parameters listed, Jp [n_dof x n_par]. NULL: there is none. */
  bramah_status (*acceleration_derivative)(void *self, double *J, size_t n_par, const size_t *par, double *Jp,
                                           bramah_diag *diag);

  /* ---- snapshots that come from outside ---- */

  /* 1: restoring snap [snapshot_size bytes, 8-byte aligned] can do no harm, whatever numbers it holds: asked
   * before a snapshot of a filter is restored. NULL: what has a right checksum is restored. */
  int (*is_sound)(const void *self, const void *snap);

  /* ---- more of parameters ---- */

  /* The nearest values around the present one at which parameter i ceases or begins to matter, as at the edge of
   * a valve's dead band: below <= value <= above, infinite where there is none. Where a filter is so unsure of
   * a parameter that it may lie beyond, the derivative at its value says the wrong thing, and it takes whole
   * steps beyond them and the straight line that fits best. NULL: all parameters
   * matter everywhere. */
  void (*parameter_edges)(void *self, size_t i, double *below, double *above);
  /* Derivative of output i by the parameters listed, row [n_par], as they would be set: accelerations follow, the error
   * state stays. BRAMAH_E_UNSUPPORTED where the plant has none. NULL: differences through set_parameter. */
  bramah_status (*output_by_parameters)(void *self, size_t i, size_t n_par, const size_t *par, double *row);
  /* set_parameter for n parameters at once: on an error none has changed. NULL: one after the other. */
  bramah_status (*set_parameters)(void *self, size_t n, const size_t *par, const double *value,
                                  bramah_diag *diag);
  /* The G [n x n_par] that step_transition would write after inject of dx [n], the plant then being what it was, as after
   * restore. Where such a step ends in other independent coordinates: E_UNSUPPORTED. NULL, or without step_transition: the
   * three of them one after the other, or differences of whole steps. */
  bramah_status (*displaced_parameters)(void *self, const double *dx, size_t n_par, const size_t *par,
                                        double *G, bramah_diag *diag);

  /* ---- bodies that are parts of others ---- */

  /* The body that carries a welded one and has the outputs (sensors on a welded body sit on that): R [9] row-major, from the
   * axes of the welded body to those of its carrier, r [3], its origin there [m]. Returns NULL where there is no such welded body,
   * or the ground carries it. NULL: there are none. */
  const char *(*carrier)(const void *self, const char *body, double R[9], double r[3]);

  /* ---- kinks ---- */

  /* How many there are, number i < n_kinks at the present state, and its effects [1/s]. Where one is within what a filter believes of
   * `value`, it predicts mean and covariance by the mean over both sides. NULL: there are none. */
  size_t n_kinks;
  void (*kink)(void *self, size_t i, bramah_kink *out);
  void (*kink_effect)(void *self, size_t i, double effect[2]);

  /* ---- more of inputs ---- */

  /* Unit of input i, SI. NULL: V. */
  const char *(*input_unit)(const void *self, size_t i);
} bramah_plant;

/* Length n of the error state. */
static inline size_t bramah_plant_n_error(const bramah_plant *plant)
{
  return 2 * plant->n_dof + plant->n_first_order;
}

/* Error state i < n and output i: what the plant says, or the defaults of the table. */
BRAMAH_API void bramah_plant_state_info(const bramah_plant *plant, size_t i, bramah_state_info *info);
BRAMAH_API void bramah_plant_output_info(const bramah_plant *plant, size_t i, bramah_output_info *info);

/* Present values x [n] of what the error state is about. Returns 0 where the plant has neither the function
 * nor an output of the name of each state. */
BRAMAH_API int bramah_plant_coordinates(const bramah_plant *plant, double *x);

/* Present values [n_outputs] of some outputs. */
BRAMAH_API void bramah_plant_outputs(const bramah_plant *plant, size_t n_outputs, const size_t *output,
                                     double *value);

/* Index of the output of that name, or -1. */
BRAMAH_API long bramah_plant_find_output(const bramah_plant *plant, const char *name);

/* Index of the parameter of that name. E_REFERENCE: there is none, and the message asks "did you mean ...?";
 * *i is then unchanged. */
BRAMAH_API bramah_status bramah_plant_parameter_index(const bramah_plant *plant, const char *name, size_t *i,
                                                      bramah_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
