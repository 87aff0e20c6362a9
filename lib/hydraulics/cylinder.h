/* SPDX-License-Identifier: MIT */
/* Double-acting cylinder: chambers, stops and cushions. A rotary actuator is a cylinder with angles for lengths
 * and m^3/rad for areas. */
#ifndef BRAMAH_LIB_HYDRAULICS_CYLINDER_H
#define BRAMAH_LIB_HYDRAULICS_CYLINDER_H

#include "lib/hydraulics/element.h"
#include "lib/hydraulics/friction.h"

/* Stops and cushions of both ends. */
typedef struct bramah__end_stop {
  double stiffness, damping;              /* [N/m], [N s/m]; 0: none */
  double cushion_length, cushion_damping; /* [m], [N s/m]; 0: none */
} bramah__end_stop;

typedef struct bramah__cylinder {
  int endless;                      /* 1: a motor, whose chambers have no ends and no volume */
  int metered;                      /* 1: quasistatic, see bramah__metered_port */
  size_t piston, rod;               /* volumes */
  double piston_area, rod_area;     /* [m^2] */
  double bulk_modulus;              /* [Pa] */
  double reference;                 /* [m] stroke at which the chamber lengths hold */
  double piston_length, rod_length; /* [m] */
  bramah__friction friction;
  size_t first_state; /* of its friction states among those of the circuit */
  /* for those who make forces of pressures; the circuit itself does not look at them */
  double friction_scale; /* goes before the friction force */
  double load;           /* [N] from outside along its line, pushes the points apart */
  bramah__end_stop stop;
} bramah__cylinder;

/* Chamber lengths at stroke s [m]. */
static inline double bramah__piston_chamber(const bramah__cylinder *cylinder, double s)
{
  return cylinder->piston_length + (s - cylinder->reference);
}

static inline double bramah__rod_chamber(const bramah__cylinder *cylinder, double s)
{
  return cylinder->rod_length - (s - cylinder->reference);
}

/* Part of a chamber length that holds oil [m], by the length: none at and behind a stop. */
static inline bramah__tangent bramah__chamber_filled(const bramah__cylinder *c, double length)
{
  if (c->stop.stiffness > 0.0 && !(length > 0.0)) return (bramah__tangent){fmax(length, 0.0), 0.0};
  return (bramah__tangent){length, 1.0};
}

/* A force [N] with its slopes by a length [m] and a velocity [m/s]. */
typedef struct bramah__stop_tangent {
  double force, by_length, by_velocity;
} bramah__stop_tangent;

/* Force >= 0 that one end pushes back with, at chamber length l and closing speed w = -l'. */
bramah__stop_tangent bramah__end_stop_at(const bramah__end_stop *stop, double l, double w);

/* What the stops and cushions of a cylinder add to its force at stroke s and velocity v. */
bramah__stop_tangent bramah__stops_at(const bramah__cylinder *cylinder, double s, double v);

/* Stroke less that at which a chamber is empty: of the piston side (0) and of the rod side (1), bramah__piston_chamber
 * and bramah__rod_chamber; what of it holds oil; stops and cushions. All as expressions. */
bramah__expr bramah__chamber_graph(const bramah__cylinder *cylinder, int side, bramah__expr s);
bramah__expr bramah__filled_graph(const bramah__cylinder *cylinder, bramah__expr length);
bramah__expr bramah__stops_graph(const bramah__cylinder *cylinder, bramah__expr s, bramah__expr v);

#endif
