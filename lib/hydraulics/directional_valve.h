/* SPDX-License-Identifier: MIT */
/* 4/3 directional valve: how its spool moves and which flow paths it opens. */
#ifndef BRAMAH_LIB_HYDRAULICS_DIRECTIONAL_VALVE_H
#define BRAMAH_LIB_HYDRAULICS_DIRECTIONAL_VALVE_H

#include "lib/hydraulics/element.h"

/* Piecewise-linear y(x), flat beyond its ends; n = 0: none. */
typedef struct bramah__curve {
  size_t n;
  const double *x, *y; /* x ascending */
} bramah__curve;

/* The four flow paths, in the order of bramah_port. */
enum { BRAMAH__PUMP_A, BRAMAH__B_TANK, BRAMAH__A_TANK, BRAMAH__PUMP_B, BRAMAH__N_PATHS };

/* How its spool opens them [V]. */
typedef struct bramah__opening {
  double dead_band;
  bramah__curve common; /* goes before the dead band */
  bramah__curve path[BRAMAH__N_PATHS];
} bramah__opening;

typedef struct bramah__valve {
  size_t pump, tank, a, b, input;
  double coefficient;   /* [m^3/(s sqrt(Pa) V)] */
  double time_constant; /* [s] 0: none */
  double limit;         /* [V] */
  double offset;        /* [V] added to the command before the limit */
  bramah__opening opening;
  int compensator;             /* bramah_compensator */
  double compensator_pressure; /* [Pa] */
} bramah__valve;

/* Keys of what a valve and the spool of a metered cylinder have in common; `to` leads from type_ to it, as "spool.". What
 * they decide together: bramah__check_spool. */
#define BRAMAH__SPOOL_KEYS(type_, to, lag_required)                                                          \
  BRAMAH__QUANTITY_KEY("time_constant", type_, to time_constant, .required = (lag_required), .unit = "s",    \
                       .what = "the time constant", .range = BRAMAH_KEY_NOT_NEGATIVE),                       \
      BRAMAH__QUANTITY_KEY("limit", type_, to limit, .required = 1, .unit = "V", .what = "the limit",        \
                           .range = BRAMAH_KEY_POSITIVE, .otherwise = 10.0),                                 \
      BRAMAH__QUANTITY_KEY("spool", type_, to initial_spool, .unit = "V", .what = "the spool",               \
                           .range = BRAMAH_KEY_ANY),                                                         \
      BRAMAH__NAME_KEY("input", BRAMAH_KEY_INPUT, type_, to input, 0),                                       \
      BRAMAH__QUANTITY_KEY("dead_band", type_, to dead_band, .unit = "V", .what = "the dead band",           \
                           .range = BRAMAH_KEY_NOT_NEGATIVE, .excludes = "characteristic"),                  \
      BRAMAH__NAME_KEY("characteristic", BRAMAH_KEY_CHARACTERISTIC, type_, to characteristic, 0),            \
      BRAMAH__PART_KEY("port_characteristics", type_, to ports, &bramah__ports_part)
const char *bramah__check_spool(const bramah_valve *valve, const char **key);

/* At a corner the slope of the piece above it. */
bramah__expr bramah__curve_at(const bramah__curve *curve, bramah__expr x);

/* Effective openings e [BRAMAH__N_PATHS] >= 0 [V] at spool U [V]. At a kink (U = 0, the edges of a dead band, corners of
 * characteristics) the derivative is that towards greater U. So a spool in the middle of a valve without dead band is
 * seen to open pump -> a and b -> tank. */
void bramah__openings(const bramah__opening *opening, bramah__expr U, bramah__expr *e);

/* The nearest spools around U at which a flat piece begins or ends, in which the spool moves no opening: below <= U
 * <= above; where there is none, infinite. */
void bramah__opening_edges(const bramah__opening *opening, double U, double *below, double *above);

/* Pressure difference over the metering edge of a flow path along which there is dp: what a compensator leaves of it; excess
 * is the pump's pressure less the highest load reported [Pa]. */
static inline bramah__expr bramah__edge_difference(const bramah__valve *valve, int path, bramah__expr dp,
                                                   bramah__expr excess)
{
  const int from_pump = path == BRAMAH__PUMP_A || path == BRAMAH__PUMP_B;
  if (!from_pump || valve->compensator == BRAMAH_COMPENSATOR_NONE) return dp;
  const bramah__expr most =
      valve->compensator == BRAMAH_COMPENSATOR_BEFORE ? e_number(valve->compensator_pressure) : excess;
  return e_max(e_min(dp, most), e_number(0.0));
}

/* Does the flow along a path depend on what other valves report? */
static inline int bramah__shares_flow(const bramah__valve *valve, int path)
{
  return valve->compensator == BRAMAH_COMPENSATOR_AFTER && (path == BRAMAH__PUMP_A || path == BRAMAH__PUMP_B);
}

/* The part of a port's pressure above the tank's that a valve reports as load, 0 ... 1, by the opening e [V] of the path
 * from the pump. */
static inline bramah__expr bramah__reported_part(const bramah__valve *valve, bramah__expr e)
{
  static const double reporting = 0.02; /* of the limit: opening from which the port is connected */
  return e_min(e_scale(1.0 / (reporting * valve->limit), e), e_number(1.0));
}

/* The nodes each flow path leads from and to. */
static inline void bramah__valve_ends(const bramah__valve *valve, size_t ends[BRAMAH__N_PATHS][2])
{
  ends[BRAMAH__PUMP_A][0] = ends[BRAMAH__PUMP_B][0] = valve->pump;
  ends[BRAMAH__B_TANK][1] = ends[BRAMAH__A_TANK][1] = valve->tank;
  ends[BRAMAH__PUMP_A][1] = ends[BRAMAH__A_TANK][0] = valve->a;
  ends[BRAMAH__PUMP_B][1] = ends[BRAMAH__B_TANK][0] = valve->b;
}

/* Where a command puts the spool in the end: the offset added, within the limit. */
static inline double bramah__spool_reference(const bramah__valve *valve, double command)
{
  return fmin(fmax(command + valve->offset, -valve->limit), valve->limit);
}

/* The part of its speed, 0 ... 1, with which a pump turns whose drive is this spool. */
static inline bramah__expr bramah__drive_part_of(const bramah__valve *drive, bramah__expr U)
{
  return e_scale(1.0 / drive->limit, e_max(U, e_number(0.0)));
}

/* A valve without lag: its spool is always at its reference. */
static inline int bramah__is_direct(const bramah__valve *valve) { return valve->time_constant == 0.0; }

/* Spool after a step h [s] of the trapezoidal rule under a held command; exact Newton of a linear equation.
 * Source: dissertation 2.40, U' = (U_ref - U)/tau. */
double bramah__spool_step(const bramah__valve *valve, double U, double command, double h);

#endif
