/* SPDX-License-Identifier: MIT */
/* The two examples of Gonzalez, Masarati, Cuadrado, Naya (2017) in the coordinates of the paper, with all
 * derivatives on paper: the four-bar linkage of N loops (points of the rods and one angle) and the flexible
 * double pendulum (floating frames and nodal displacements of plane beam elements, no rotary inertia). */
#ifndef BRAMAH_TEST_SUPPORT_EXAMPLES_2017_H
#define BRAMAH_TEST_SUPPORT_EXAMPLES_2017_H

#include "bramah/linear.h"
#include "bramah/machine.h"

typedef struct example_2017 {
  int is_linkage;
  size_t N;                              /* loops, or elements of a link */
  double stiffness, damping, gravity[2]; /* linkage: of the diagonals */
  int angle_by_y; /* linkage: y_N = sin(phi) holds the angle, otherwise x_N = N + cos(phi) */
  size_t n, m;
  double *q, *f, *Phi, *lambda; /* [n], [n] applied forces, [m], [m] */
  double *M, *C, *K, *Phi_q;    /* K with the geometric stiffness of lambda */
  double *memory;
} example_2017;

/* The linkage with springs of 25 N/m (0: none) and gravity along -y, or +x. */
void linkage_make(example_2017 *e, size_t N, double stiffness, double damping, int gravity_along_x);
/* phi of its equilibrium: the stable root, or 0 without springs and with gravity along x. */
double linkage_angle(const example_2017 *e);
void linkage_place(example_2017 *e, double phi);

void beam_pendulum_make(example_2017 *e, size_t elements);

void example_free(example_2017 *e);

/* All matrices and forces at q, for the multipliers in lambda. */
void example_evaluate(example_2017 *e);

/* Move q to the equilibrium of exact constraints by Newton (pendulum), and fill lambda (minimum norm where
 * it is not unique); then evaluate. */
void example_balance(example_2017 *e);

/* The same with penalties: q violates the constraints until springs alpha omega^2 hold the balance; lambda
 * is their force. */
void example_balance_penalty(example_2017 *e, double alpha, double omega);

bramah_constrained example_system(const example_2017 *e);

/* The linkage as a machine of ours; fill it (and point machine into it: do not copy the structure
 * afterwards). damping [N s/m] of the diagonals, phi [rad] of the first rod. */
enum { LINKAGE_LOOPS = 20, LINKAGE_RODS = 2 * LINKAGE_LOOPS + 1 };
typedef struct linkage_machine {
  bramah_machine machine;
  bramah_body bodies[LINKAGE_RODS];
  bramah_joint joints[LINKAGE_RODS];
  bramah_loop loops[LINKAGE_LOOPS];
  bramah_spring springs[LINKAGE_LOOPS];
  char name[LINKAGE_RODS + 2 * LINKAGE_LOOPS][32];
} linkage_machine;
void linkage_describe(linkage_machine *out, size_t N, double damping, double phi);

#endif
