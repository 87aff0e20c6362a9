/* SPDX-License-Identifier: MIT */
/* A machine as a stick figure: straight parts between points, for drawing. A body is a line from its own
 * joint to each joint, loop point or end of a spring or rod behind it; where there is none, to its payload
 * point (the centre of mass unless the machine gives another). What a cylinder holds on to beside these lines
 * is joined to the nearest of them by a lug. */
#ifndef BRAMAH_FIGURE_H
#define BRAMAH_FIGURE_H

#include "bramah/coupled.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A mark has both points at the same place. */
typedef enum bramah_figure_kind {
  BRAMAH_FIGURE_BODY = 1,  /* beam of a body */
  BRAMAH_FIGURE_LUG = 2,   /* from a beam to where a cylinder holds on */
  BRAMAH_FIGURE_SLIDE = 3, /* way of a prismatic joint or loop */
  BRAMAH_FIGURE_BARREL =
      4, /* of a cylinder, from the attachment on its barrel side; its length is constant */
  BRAMAH_FIGURE_PISTON_ROD = 5, /* from the end of the barrel to the attachment on the rod side */
  BRAMAH_FIGURE_SPRING = 6,
  BRAMAH_FIGURE_ROD = 7,    /* massless rod of a distance loop */
  BRAMAH_FIGURE_JOINT = 8,  /* mark: what turns, joints and loops */
  BRAMAH_FIGURE_ROTARY = 9, /* mark: a rotary actuator */
  BRAMAH_FIGURE_GROUND = 10 /* mark: something is held by the ground here */
} bramah_figure_kind;

/* A part of the picture: what it is and of which thing. */
typedef struct bramah_figure_part {
  bramah_figure_kind kind;
  const char
      *name; /* of the body, joint, loop, cylinder, actuator; lives as long as the model; "" for springs */
} bramah_figure_part;

/* Number of parts, and part i < that number. */
BRAMAH_API size_t bramah_figure_n_parts(const bramah_model *model);
BRAMAH_API bramah_figure_part bramah_figure_part_of(const bramah_model *model, size_t i);

/* Points of all parts at the present state, points [n_parts x 2 x 3] row-major: first end, second end, in the
 * inertial frame [m]. Nothing is allocated. Errors: those of the equations of motion (the state cannot be
 * evaluated). */
BRAMAH_API bramah_status bramah_coupled_figure(bramah_coupled *plant, double *points, bramah_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
