/* SPDX-License-Identifier: MIT */
/* Where contacts touch, as a graph: bramah__contact_frame_of in expressions. */
#ifndef BRAMAH_LIB_MULTIBODY_CONTACT_GRAPH_H
#define BRAMAH_LIB_MULTIBODY_CONTACT_GRAPH_H

#include "lib/multibody/contact.h"
#include "lib/multibody/tree_graph.h"

typedef struct bramah__contact_frame_graph {
  bramah__vec place, held, arm; /* place = held, a point fixed to the body, + arm, 0 of what is no disc */
  bramah__mat axes;
  bramah__expr height, w[4];
} bramah__contact_frame_graph;

/* A plane that is not a number: its axes, and the distance of the origin from it along its normal. */
typedef struct bramah__plane_graph {
  bramah__mat axes;
  bramah__expr distance;
} bramah__plane_graph;

/* plane NULL: that of the contact. */
bramah__contact_frame_graph bramah__contact_graph(const bramah__contact *contact,
                                                  const bramah__plane_graph *plane,
                                                  const bramah__body_graph *body);

#endif
