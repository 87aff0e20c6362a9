/* SPDX-License-Identifier: MIT */
/* All constraint equations of a model: those of the loops, then one for each prescribed motion. Time is that
 * of the state. */
#ifndef BRAMAH_LIB_PLANT_CONSTRAINTS_H
#define BRAMAH_LIB_PLANT_CONSTRAINTS_H

#include "lib/plant/state.h"

/* eval->Phi [m] and eval->Phi_z [m x n] at eval->pose. */
void bramah__constraint_residual(const bramah_model *model, const bramah__state *state, bramah__eval *eval);
void bramah__constraint_jacobian(const bramah_model *model, bramah__eval *eval);

/* eval->gamma [m]: second derivative of Phi by time with z'' = 0, from eval->Z and eval->Zd (those with
 * z'' = 0). */
void bramah__constraint_bias(const bramah_model *model, const bramah__state *state, bramah__eval *eval);

/* Phi_zz[w, w] [m] alone, without what time adds: a quadratic form of the rates w that Z and Zd belong to. */
void bramah__constraint_quadratic(const bramah_model *model, bramah__eval *eval, double *gamma);

/* Rates of the constraints, Phi_z z' + Phi_t [m]. */
void bramah__constraint_rate(const bramah_model *model, const bramah__state *state, const bramah__eval *eval,
                             double *rate);

/* Prescribed coordinates take the position that their motions have at the time of the state. */
void bramah__prescribe(const bramah_model *model, bramah__state *state);

/* eval->drift [n] = [-(Phi_z^d)^-1 Phi_t ; 0], the rates when the independent ones vanish, from the factors
 * in eval->LU. Models with motions only. */
void bramah__fill_drift(const bramah_model *model, const bramah__state *state, bramah__eval *eval);

/* Forces or torques [n_motions] that the drives exert along their coordinates so that the state has the
 * accelerations it has: the multipliers mu = (Phi_z^d)^-T g_d of the imbalance g = M z'' - Q = Phi_z' mu. A
 * motion's row is independent of all others, so its multiplier is unique even where loops are redundant. The
 * eval must belong to the state, forces included. */
void bramah__drive_forces(const bramah_model *model, const bramah__state *state, bramah__eval *eval,
                          double *force);

#endif
