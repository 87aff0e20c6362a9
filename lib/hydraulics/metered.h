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
 * zeros.
 *
 * Up to the line that says so this header and metered.c are also part of the C source of machines that have such
 * actuators (lib/plant/step_source.c): no function calls itself there, and none needs more than sqrt and fabs. */
#ifndef BRAMAH_LIB_HYDRAULICS_METERED_H
#define BRAMAH_LIB_HYDRAULICS_METERED_H

#include <stddef.h>

#ifndef BRAMAH__METERED /* C source has its own */
#define BRAMAH__METERED
#define BRAMAH__MAX_ON_LINE 16 /* most actuators on one line */
#define BRAMAH__VARIED 1e-6    /* part of its size by which something is changed for a difference */
#endif

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

/* ---- roots of the quadratic laws of orifices ---- */

/* S(x) = x |x| (8). */
BRAMAH__METERED double bramah__signed_square(double x);

/* The x of S(x)/a + b x + c = 0, a >= 0, b > 0 (11, 13); a = 0: 0. */
BRAMAH__METERED double bramah__phi_a(double b, double c, double a);

/* The x of S(x)/a0 + S(x - x1)/a1 + b x + c = 0 (12, 14); a0 = 0: 0, else a1 = 0: x1. */
BRAMAH__METERED double bramah__phi_b(double b, double c, double a0, double a1, double x1);

/* ---- one actuator without regeneration on a pump line of its own: closed forms ---- */

/* The v of beta v + fbar in Gamma(v) (49, 54); beta [N s/m] > 0. */
BRAMAH__METERED double bramah__lambda(const bramah__metered *actuator, const bramah__metering *u,
                                      const bramah__pump_line *line, double beta, double fbar);

/* ---- at a given pressure P >= 0 of the line; regeneration included ---- */

/* (83), (68). At most 64 evaluations of gamma_at while oil regenerates, a closed form otherwise. */
BRAMAH__METERED double bramah__lambda_at(const bramah__metered *actuator, const bramah__metering *u, double P,
                                         double beta, double fbar);

/* ---- n actuators on one line ---- */

typedef struct bramah__metered_group {
  size_t n;
  const bramah__metered *actuators; /* [n] */
  const bramah__metering *u;        /* [n] */
  bramah__pump_line line;
} bramah__metered_group;

/* Pressure of the line at velocities v [n] (78); at most 64 evaluations of the flows. */
BRAMAH__METERED double bramah__line_pressure(const bramah__metered_group *group, const double *v);

/* Velocities v [n] of diag(beta) v + fbar in Gamma_mul(v) (80); returns the pressure of the line (85). One
 * actuator without regeneration takes the closed form. */
BRAMAH__METERED double bramah__lambda_of(const bramah__metered_group *group, const double *beta,
                                         const double *fbar, double *v);

/* Derivatives slope[i*n + j] = dv_i / dfbar_j [m/(N s)] at the solution v, P of lambda_of. One-sided at
 * kinks: an actuator at rest stays at rest, a chamber at a limit stays there, a line at its relief setting
 * stays there. work [2n]. */
BRAMAH__METERED void bramah__lambda_slopes(const bramah__metered_group *group, double P, const double *beta,
                                           const double *v, double *slope, double *work);

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
BRAMAH__METERED bramah__metered_state bramah__metered_state_at(const bramah__metered *actuator,
                                                               const bramah__metering *u,
                                                               const bramah__pump_line *line, double P,
                                                               double v, double f);

/* ---- in a machine ---- */

/* No spool: the opening is constant. */
#define BRAMAH__NO_SPOOL ((size_t)-1)

/* An opening below this part of the full one is closed: a spool of first order never quite comes home. */
#define BRAMAH__LEAST_OPENING 1e-9

/* A quasistatic actuator in the circuit. Its chambers have no pressures of their own: a viscoelastic element
 * K, B joins the actuator, which moves with v, and its rod, whose stroke s moves with s'. The state
 * is the load pressure pi = K (x - s) / A_h, x' = v: one `virtual' volume with the piston area A_h and no rod
 * area, so that A_h pi is the pressure force of its cylinder. Of (48a), (50):
 *   v = Lambda(B, A_h pi - B s'),  pi' = K/A_h (v - s'),  f = A_h pi + B (v - s')
 * pi is a difference and may be negative. */
typedef struct bramah__metered_port {
  size_t cylinder, volume;
  size_t spool;             /* of its metering valves; bramah__valve.opening with a = head, b = rod side */
  double stiffness;         /* K [N/m] */
  double damping;           /* B [N s/m] */
  size_t regeneration;      /* spool, or BRAMAH__NO_SPOOL */
  double regeneration_open; /* opening without one, in [0, 1] */
} bramah__metered_port;

/* The line of a pump with the actuators that it feeds, number first ... first + n - 1. */
typedef struct bramah__metered_line {
  bramah__pump_line line; /* U_b at full opening */
  size_t tank;            /* supply that its pressures count from */
  size_t unloading;       /* spool, or BRAMAH__NO_SPOOL */
  double unloading_open;  /* opening without one, in [0, 1] */
  size_t first, n;
} bramah__metered_line;

/* The actuators of one line at one point: what is given, w and P are found. */
typedef struct bramah__line_point {
  const bramah__metered_line *line;
  bramah__metered_group group;
  bramah__metering u[BRAMAH__MAX_ON_LINE];
  double beta[BRAMAH__MAX_ON_LINE], fbar[BRAMAH__MAX_ON_LINE], w[BRAMAH__MAX_ON_LINE];
  double P;
} bramah__line_point;

/* Valves that let through this much of what they did. */
BRAMAH__METERED void bramah__scale_valves(const bramah__metered *nominal, double by, bramah__metered *out);

/* Part of the full opening that an effective opening of `open` [V] is. */
BRAMAH__METERED double bramah__opened(double open, double limit);

/* From the effective openings of four paths [V], in the order of bramah_port with a = head, b = rod side. */
BRAMAH__METERED bramah__metering bramah__metering_of(const double *open, double limit, double a);

/* beta and fbar of a line's actuators, whose ports these are, at pressures p and velocities v of rods. */
BRAMAH__METERED void bramah__load_line(const bramah__metered_port *port, const double *p, const double *v,
                                       bramah__line_point *at);

/* What can be measured at an actuator: its velocity, P_h, P_r, Q_p and Q_a, pressures from the tank on. */
#define BRAMAH__GAUGES 5

/* Of all actuators of a line, gauge [n x BRAMAH__GAUGES]. */
BRAMAH__METERED void bramah__line_gauges(const bramah__line_point *at, double *gauge);

/* Derivatives of these, and of the pressure of the line, by the loads fbar, in rows that are `width` apart: central
 * differences over a small part of the force at which the piston side relieves. */
BRAMAH__METERED void bramah__line_gauges_by_load(const bramah__line_point *at, size_t width, double *by_load,
                                                 double *pressure_by_load);

/* ---- behind this line not in C source ---- */

typedef struct bramah__interval {
  double lo, hi;
} bramah__interval;

/* Gamma(v) (43), a point or an interval: of one actuator without regeneration on a pump line of its own. */
bramah__interval bramah__gamma(const bramah__metered *actuator, const bramah__metering *u,
                               const bramah__pump_line *line, double v);

/* At a given pressure of the line, regeneration included (72), (66). */
bramah__interval bramah__gamma_at(const bramah__metered *actuator, const bramah__metering *u, double P,
                                  double v);

#endif
