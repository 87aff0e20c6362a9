/* SPDX-License-Identifier: MIT */
/* Contacts with the ground as a graph: bramah__contact_frame_of in expressions, in the frame in which the body is (tree_graph.h).
 * Seen from there a tyre's axis and its centre stand still and the ground turns: little is left of the geometry, and what
 * the discs of a tyre share is made once. */
#ifndef BRAMAH_LIB_MULTIBODY_CONTACT_GRAPH_H
#define BRAMAH_LIB_MULTIBODY_CONTACT_GRAPH_H

#include "lib/multibody/contact.h"
#include "lib/multibody/tree_graph.h"

/* Height and the four velocities of a contact: what its law sees. */
enum { BRAMAH__TOUCHES = 5 };

/* Expressions alone, as arrays of them are cut to be used for it. The discs of a tyre are along its axis, at offsets from the place
 * in its middle; what they see grows along it. Of what is no disc the axis is 0. */
typedef struct bramah__patch_graph {
  bramah__mat axes; /* rows: two directions in the plane, its normal */
  bramah__vec axis, place, velocity,
      turning;              /* velocity of the material at `place`; by what it grows along the axis */
  bramah__expr lean, per_m; /* of a disc: n.e, 1/|e x n| */
  bramah__expr at_place[BRAMAH__TOUCHES], along[BRAMAH__TOUCHES];
  bramah__vec force, spread; /* sum of its forces in its axes, and of these times their offsets */
} bramah__patch_graph;

/* A plane that is not a number: its axes, and the distance of the origin from it along its normal. */
typedef struct bramah__plane_graph {
  bramah__mat axes;
  bramah__expr distance;
} bramah__plane_graph;

/* How many contacts from this one on, of n, are in one patch: the discs of a tyre on the same plane. */
size_t bramah__patch_size(size_t n, const bramah__contact *contact);

/* How far along the axis a contact is. */
double bramah__patch_offset(const bramah__contact *contact);

/* Its geometry; forces are 0. plane NULL: that of the contact. */
bramah__patch_graph bramah__patch_graph_of(const bramah__contact *contact, const bramah__plane_graph *plane,
                                           const bramah__body_graph *body);

/* What a contact sees at an offset. */
void bramah__patch_touch(const bramah__patch_graph *patch, double offset, bramah__expr *touch);

/* A contact at an offset pushes with f [3] in the axes of the patch; the wrench of all on the body, in its frame. */
void bramah__patch_push(bramah__patch_graph *patch, double offset, const bramah__expr *f);
bramah__pair bramah__patch_wrench(const bramah__patch_graph *patch);

/* How that changes as the body moves (bramah__tree_graph_moves), seen from the body: of a patch whose contacts see `at_place`
 * and `along` change by that of `change`, which is filled here; then its forces and spread have to be filled in; then the wrench. */
void bramah__patch_vary(const bramah__contact *contact, const bramah__patch_graph *patch,
                        const bramah__body_graph *body, const bramah__moves_graph *moves,
                        bramah__patch_graph *change);
bramah__pair bramah__patch_vary_wrench(const bramah__contact *contact, const bramah__patch_graph *patch,
                                       const bramah__moves_graph *moves, const bramah__patch_graph *change);

/* What its contacts see as the body moves by a twist, in its frame, while patch and forces do not turn: at the place and along the
 * axis, heights as velocities by 1; and the wrench of the forces and spread that have been filled in. */
void bramah__patch_shift(const bramah__contact *contact, const bramah__patch_graph *patch, bramah__pair twist,
                         bramah__patch_graph *change);
bramah__pair bramah__patch_shift_wrench(const bramah__patch_graph *patch, const bramah__patch_graph *change);

/* In inertial axes: the force of f [3], the point of the body that a contact is at, and the arm from there to where it touches. */
bramah__vec bramah__patch_force(const bramah__contact *contact, const bramah__patch_graph *patch,
                                const bramah__body_graph *body, const bramah__expr *f);
bramah__vec bramah__patch_arm(const bramah__contact *contact, const bramah__patch_graph *patch,
                              const bramah__body_graph *body);

#endif
