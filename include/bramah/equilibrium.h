/* SPDX-License-Identifier: MIT */
/* Equilibria of the built-in plant, found with its linearized equations. Both searches start at the present
 * state of the plant and leave it at rest where they end, with spools where the commands hold them; after an
 * error it stands where it stood.
 *
 * At an equilibrium no joint accelerates and no pressure changes. With closed valves there are many: oil
 * that is trapped holds the machine in any of a range of poses. Parameters count with their present values.
 * Drives of prescribed motions must stand still there (E_UNSUPPORTED). */
#ifndef BRAMAH_EQUILIBRIUM_H
#define BRAMAH_EQUILIBRIUM_H

#include "bramah/linearization.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the search for it came to. */
typedef struct bramah_equilibrium_report {
  int iterations;
  double acceleration;  /* largest that remains [rad/s^2, m/s^2] */
  double pressure_rate; /* [Pa/s] */
} bramah_equilibrium_report;

/* Numbers of double that the searches below need as `work`; n_held, n_free: those of a trim, 0 for settle. */
BRAMAH_API size_t bramah_equilibrium_work(const bramah_linearization *l, size_t n_held, size_t n_free);

/* Where the machine comes to rest from here with these commands: implicit Euler steps of growing length,
 * (I/dt - A) dx = dx/dt, so that whatever the motion conserves stays, trapped oil above all (to first order
 * in each step), and equilibria that are unstable are left. Friction states follow: a bristle that holds
 * goes on holding. `report` may be NULL. Errors: E_NO_CONVERGENCE with the body that keeps moving or the
 * volume whose pressure keeps changing; E_ARGUMENT (another model); what evaluating the plant can say.
 * Source: Kelley and Keyes, "Convergence analysis of pseudo-transient continuation", SIAM J. Numer. Anal. 35
 * (1998). */
BRAMAH_API bramah_status bramah_settle(bramah_linearization *l, bramah_coupled *plant, double *work,
                                       bramah_equilibrium_report *report, bramah_diag *diag);

/* What a trim asks for. Outputs and inputs are those of the linearization, by their numbers there. */
typedef struct bramah_trim {
  size_t n_held;
  const size_t *held;   /* [n_held] outputs ... */
  const double *target; /* [n_held] ... that must have these values [SI] */
  size_t n_free;
  const size_t *free; /* [n_free] inputs that may be chosen: commands, and the parameters of the options */
} bramah_trim;

/* An equilibrium with held outputs and free inputs, by Levenberg and Marquardt's method. Velocities are
 * zero; friction states stay as they are. Where the conditions leave a choice the nearest is taken, counted
 * in rad, m, MPa and full command. Errors: E_NO_CONVERGENCE with the body that does not balance, the volume
 * that does, or the output that is not reached; E_ARGUMENT; E_VALUE (a parameter out of its range). */
BRAMAH_API bramah_status bramah_trim_find(bramah_linearization *l, bramah_coupled *plant,
                                          const bramah_trim *trim, double *work,
                                          bramah_equilibrium_report *report, bramah_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
