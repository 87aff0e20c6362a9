/* SPDX-License-Identifier: MIT */
/* Double-acting cylinder: chambers, stops and cushions. A rotary actuator is a cylinder with angles for lengths
 * and m^3/rad for areas. */
#ifndef BRAMAH_LIB_HYDRAULICS_CYLINDER_H
#define BRAMAH_LIB_HYDRAULICS_CYLINDER_H

#include "lib/hydraulics/element.h"
#include "lib/hydraulics/friction.h"
#include "lib/multibody/contact.h"

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

/* Length of a chamber [m] at stroke s: of the piston side (0) and of the rod side (1). */
static inline bramah__expr bramah__chamber(const bramah__cylinder *cylinder, int side, bramah__expr s)
{
  if (side == 0) return e_add(s, e_number(cylinder->piston_length - cylinder->reference));
  return e_sub(e_number(cylinder->rod_length + cylinder->reference), s);
}

/* Part of it that holds oil: none at and behind a stop. */
static inline bramah__expr bramah__filled(const bramah__cylinder *cylinder, bramah__expr length)
{
  return cylinder->stop.stiffness > 0.0 ? e_max(length, e_number(0.0)) : length;
}

/* What the stops and cushions of a cylinder add to its force at stroke s and velocity v. */
bramah__expr bramah__stop_force(const bramah__cylinder *cylinder, bramah__expr s, bramah__expr v);

#endif
