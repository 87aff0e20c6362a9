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

bramah__contact_frame_graph bramah__contact_graph(const bramah__contact *contact,
                                                  const bramah__body_graph *body);

#endif
