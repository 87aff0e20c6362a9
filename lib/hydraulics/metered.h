/* SPDX-License-Identifier: MIT */
/* Quasistatic hydraulic actuators: a cylinder behind four metering valves, with relief and suction valves at
 * its chambers, a pump with its own relief valve and an unloading valve, and, if there is one, a regeneration
 * valve. The oil is incompressible, so that force and velocity determine each other: f in Gamma(v), a set at
 * v = 0 where closed valves hold the load.
 *
 *          pump Q ----+---- relief P_M          chamber h: relief P_hM, suction from the tank
 *                     +---- unloading U_b           chamber r: relief P_rM, suction from the tank
 *                check valve
 *            ph |        | pr                   extending (U+):  ph and tr open
 *          [  h  ]====[  r  ]---->  v, f        retracting (U-): pr and th open
 *            th |        | tr                   closed (U0):     none
 *                tank (0)
 *
 * v [m/s] > 0: the rod extends. f [N] > 0: the load compresses the rod; the actuator pushes back with f.
 * Pressures [Pa] in this file count from the tank. Turning actuators: radians for metres, areas in m^3/rad, f
 * a torque.
 *
 * Extending and retracting mirror each other, so the code knows a driven side, which the pump feeds, and a
 * drained side. Source: R. Kikuuwe et al., Nonsmooth quasistatic modeling of hydraulic actuators (2022),
 * equations named at the functions; its set-valued answers at zero openings are met by branches on exact
 * zeros. */
#ifndef BRAMAH_LIB_HYDRAULICS_METERED_H
#define BRAMAH_LIB_HYDRAULICS_METERED_H

#include <stddef.h>

/* What does not change. Coefficients C a sqrt(2/rho) of the fully open valve [m^3/(s sqrt(Pa))]. */
typedef struct bramah__metered {
  double A_h, A_r;               /* areas [m^2], > 0; with regeneration A_h >= A_r (60) */
  double P_hM, P_rM;             /* settings of the reliefs [Pa], > 0 */
  double c_ph, c_tr, c_pr, c_th; /* metering valves, > 0 */
  double c_a;                    /* regeneration valve, from r to h; 0: none */
} bramah__metered;

/* Openings in [0, 1]. Allowed (18): pr = th = 0, or ph = tr = 0; a > 0 acts only while ph or tr is open. */
typedef struct bramah__metering {
  double ph, tr, pr, th, a;
} bramah__metering;

/* Several actuators may share one. */
typedef struct bramah__pump_line {
  double Q;   /* [m^3/s], > 0 */
  double P_M; /* setting of the relief [Pa], > 0 */
  double U_b; /* unloading: coefficient times opening [m^3/(s sqrt(Pa))], >= 0 */
} bramah__pump_line;

typedef struct bramah__interval {
  double lo, hi;
} bramah__interval;

/* ---- roots of the quadratic laws of orifices ---- */

/* S(x) = x |x| (8). */
double bramah__signed_square(double x);

/* The x of S(x)/a + b x + c = 0, a >= 0, b > 0 (11, 13); a = 0: 0. */
double bramah__phi_a(double b, double c, double a);

/* The x of S(x)/a0 + S(x - x1)/a1 + b x + c = 0 (12, 14); a0 = 0: 0, else a1 = 0: x1. */
double bramah__phi_b(double b, double c, double a0, double a1, double x1);

/* Does one of (18) hold? (All closed with a closed unloading valve is allowed: the relief takes the flow.) */
int bramah__metering_allowed(const bramah__metering *u);

/* ---- one actuator without regeneration on a pump line of its own: closed forms ---- */

/* Gamma(v) (43), a point or an interval. */
bramah__interval bramah__gamma(const bramah__metered *actuator, const bramah__metering *u,
                               const bramah__pump_line *line, double v);

/* The v of beta v + fbar in Gamma(v) (49, 54); beta [N s/m] > 0. */
double bramah__lambda(const bramah__metered *actuator, const bramah__metering *u,
                      const bramah__pump_line *line, double beta, double fbar);

/* ---- at a given pressure P >= 0 of the line; regeneration included ---- */

/* (72), (66). */
bramah__interval bramah__gamma_at(const bramah__metered *actuator, const bramah__metering *u, double P,
                                  double v);

/* (83), (68). At most 64 evaluations of gamma_at while oil regenerates, a closed form otherwise. */
double bramah__lambda_at(const bramah__metered *actuator, const bramah__metering *u, double P, double beta,
                         double fbar);

/* ---- n actuators on one line ---- */

typedef struct bramah__metered_group {
  size_t n;
  const bramah__metered *actuators; /* [n] */
  const bramah__metering *u;        /* [n] */
  bramah__pump_line line;
} bramah__metered_group;

/* Pressure of the line at velocities v [n] (78); at most 64 evaluations of the flows. */
double bramah__line_pressure(const bramah__metered_group *group, const double *v);

/* Velocities v [n] of diag(beta) v + fbar in Gamma_mul(v) (80); returns the pressure of the line (85). One
 * actuator without regeneration takes the closed form. */
double bramah__lambda_of(const bramah__metered_group *group, const double *beta, const double *fbar,
                         double *v);

/* Derivatives slope[i*n + j] = dv_i / dfbar_j [m/(N s)] at the solution v, P of lambda_of. One-sided at
 * kinks: an actuator at rest stays at rest, a chamber at a limit stays there, a line at its relief setting
 * stays there. work [2n]. */
void bramah__lambda_slopes(const bramah__metered_group *group, double P, const double *beta, const double *v,
                           double *slope, double *work);

/* ---- the chambers behind a force ---- */

/* Bits of `valves` (Table 1). */
enum {
  BRAMAH__HEAD_RELIEF = 1,
  BRAMAH__HEAD_SUCTION = 2,
  BRAMAH__ROD_RELIEF = 4,
  BRAMAH__ROD_SUCTION = 8,
  BRAMAH__PUMP_RELIEF = 16,
  BRAMAH__REGENERATION = 32
};

typedef struct bramah__metered_state {
  double P_h,
      P_r;    /* pressures of the chambers [Pa]; where Gamma leaves them open (v = 0): the lowest possible */
  double Q_p; /* flow from the line into the actuator [m^3/s] */
  double Q_a; /* flow through the regeneration valve [m^3/s] */
  unsigned valves; /* that are open */
} bramah__metered_state;

/* At velocity v and a force f in Gamma(v), with the line at P. */
bramah__metered_state bramah__metered_state_at(const bramah__metered *actuator, const bramah__metering *u,
                                               const bramah__pump_line *line, double P, double v, double f);

#endif
