/* SPDX-License-Identifier: MIT */
/* Points and balls of bodies and discs of tyres on planes of the ground or of another body: a normal force that never pulls
 * and bristle friction in the plane, and how both follow the motion. And stops, at the ends of actuators and joints. The
 * laws themselves are in contact_law.h.
 *
 * With P the point, E the axes of the plane (two directions in it, then its normal n) and O a point of it, the contact sees
 * q = E (P - O), of which only the height q_3 = -d counts, and the velocity w = E P' of the material there. It answers in
 * the same axes with f = N [-c_1, -c_2, 1]. Where the ground is not where it was thought (`ground`), q_3 is less by that.
 *
 * A disc touches with the lowest point of its rim (disc.c). Its axes turn with its heading: forwards e x n / |e x n|, where
 * e is its spin axis, then to that side n x forwards; w has a fourth entry, the speed r e.w at which it rolls.
 *
 * A ball touches with its point that lies deepest, P = centre - r n. A plane may turn and move with a body of its own, its carrier:
 * then w is the velocity of the one body there against the other, and the force acts on both, opposite and equal. Cores of round
 * shapes and edges have their normal from where they are nearest (pair.c).
 *
 * A brake rubs along the joint in front of its body: w_1 is the joint's rate, f_1 the torque, N what it is pressed with. A clutch
 * is a brake between several joints: w_1 is a weighted sum of their rates, f_1 acts on each with its weight. The weights turn with
 * the gear, so by a spool; they are evaluated once where forces are, and then given: `gear` [BRAMAH__MOST_SHAFT_JOINTS]. */
#ifndef BRAMAH_LIB_MULTIBODY_CONTACT_H
#define BRAMAH_LIB_MULTIBODY_CONTACT_H

#include <stdint.h>

#include "lib/graph/vector.h"
#include "lib/math/vector3.h"
#include "lib/multibody/shaft.h"
#include "lib/multibody/tree.h"

/* Stops and cushions of both ends. */
typedef struct bramah__end_stop {
  double stiffness, damping;              /* [N/m], [N s/m]; 0: none */
  double cushion_length, cushion_damping; /* [m], [N s/m]; 0: none */
} bramah__end_stop;

/* Force [N] >= 0 that one end pushes back with, at the distance l from it and closing speed w = -l'. */
bramah__expr bramah__end_stop_force(const bramah__end_stop *stop, bramah__expr l, bramah__expr w);

enum {
  BRAMAH__CONTACT_STATES = 2
}; /* of a point or disc that rubs, its bristles in the two directions of the plane [m]; a brake has one [rad] */

typedef struct bramah__contact {
  int body;
  double point[3]; /* body frame [m]; of a disc or ball its centre */
  double radius;   /* of a disc or ball [m]; 0: a point */
  double spin[3];  /* axis of a disc, a unit vector in body axes; 0: a ball */
  int carrier;     /* 1 + the body that the plane, origin and axes, is given in; 0: the ground */
  int meets;       /* 1: a point between shapes of two bodies */
  int is_nearest; /* 1: its normal is the line from the place nearest to it on the core of the base, on which origin lies */
  double base_radius;          /* around that core */
  double pressed;              /* N > 0 of a brake [N m]; 0: it is none */
  int parent;                  /* of the body, of a brake */
  const bramah__shaft *clutch; /* what it rubs between, of a clutch; NULL of all others */
  int is_commanded;            /* 1: N is the part U[spool]/limit of that, of 0 ... limit */
  size_t spool;                /* of a commanded brake */
  double limit;                /* [V] */
  /* The first axis of a nearest one is the direction in the base that is nearest to axes[0..2]; behind it are the directions in which the
   * places on the cores of the body and of the base go along as they move, of length 1 or 0, in their own frames. */
  double origin[3], axes[9];
  double ground;                     /* the plane is so far above its origin [m], along its normal */
  double share;                      /* of K, and of C of the former law, that this point has; 0: all */
  int linear;                        /* 1: K d + C d', clamped at 0; 0: K d^1.5 (1 + a d') */
  bramah__end_stop normal;           /* stiffness K, damping C of the former */
  double hertz, loss;                /* K [N/m^1.5], a [s/m] of the latter */
  double coulomb, static_friction;   /* mu_c, mu_s */
  double stribeck, exponent;         /* [m/s] */
  double friction;                   /* factor of the friction force; 1 */
  double bristles, damping, viscous; /* sigma_0 [1/m], sigma_1 [s/m], sigma_2 [s/m], per normal force */
  double rolling;     /* kappa [1/m], the part of its bristles that a disc renews by rolling on */
  size_t n_states;    /* 0: it does not rub */
  size_t first_state; /* among the friction states of the machine */
  size_t n_errors;    /* n_states where they are error states, else 0 */
  size_t first_error; /* among the bristles that are */
} bramah__contact;

/* What parameters change of it (BRAMAH__CONTACT_STIFFNESS ...), as expressions. */
typedef struct bramah__contact_values {
  bramah__expr stiffness, damping; /* K and C, or of Hunt and Crossley's law hertz and loss */
  bramah__expr friction;           /* goes before the friction force, not before the bristles */
  bramah__expr bristles, rolling;  /* sigma_0, kappa */
  bramah__expr ground;
} bramah__contact_values;

bramah__contact_values bramah__contact_values_of(const bramah__contact *contact);

/* Joints along which a brake or clutch rubs, and how its torque acts on number a of them. */
static inline size_t bramah__n_rubbed(const bramah__contact *brake)
{
  return brake->clutch ? brake->clutch->n_joints : 1;
}

static inline size_t bramah__rubbed_joint(const bramah__contact *brake, size_t a)
{
  return brake->clutch ? brake->clutch->joint[a] : (size_t)brake->body;
}

static inline double bramah__rubbed_weight(const bramah__contact *brake, const double *gear, size_t a)
{
  return brake->clutch ? gear[a] : 1.0;
}

/* The body that carries the plane; -1: the ground. */
static inline int bramah__base_of(const bramah__contact *contact) { return contact->carrier - 1; }

/* Is it a disc? */
static inline int bramah__is_disc(const bramah__contact *contact)
{
  return contact->radius > 0.0 && bramah__dot3(contact->spin, contact->spin) > 0.0;
}

/* Is it a point between bodies that is not in use? */
static inline int bramah__in_the_air(const bramah__contact *contact)
{
  return contact->meets && contact->body < 0 && contact->carrier == 0;
}

/* m^2 = |e x n|^2 of a disc, e its axis, n the normal, is no less: one that lies flat has no direction forwards; from half a
 * degree upwards this is exact. */
static const double bramah__least_lean = 1e-4;

/* The plane of one point between two bodies, and its point, as they are held over a step. */
typedef struct bramah__held {
  double point[3];           /* of the body that does not carry the plane, its frame [m] */
  double origin[3], axes[9]; /* as a contact's */
  double share;              /* of the law */
  int64_t carrier; /* 1: the first body carries the plane, 2: the second; else: the point is not in use */
  int64_t turns;   /* what the normal is of (BRAMAH__ON_FACE, ...) */
} bramah__held;

/* Force f [3] in the axes of the plane at height q3 and velocity w [4], at the end of a trapezoidal step of length
 * 2 half that began with bristles x_k and their rates xd_k [2], and these there; with half = 0 at the state x_k. A point in
 * the air has no bristles. Penalty: spec machines 2, the law of an end stop. Hunt and Crossley (1975). (A brake has only one state, but room for two is needed here.) Friction: LuGre as a vector,
 *   x' = w - Y x,   c = sigma_0 x + sigma_1/(1 + sigma_1 Y/sigma_0) x' + sigma_2 w,   Y = sigma_0 |w|/g + kappa |w_4|,
 * whose damping fades so that it is passive at any speed (sigma_1 Y < 4 sigma_0) and gives no more than g. kappa: Canudas de
 * Wit et al. (2003), Vehicle System Dynamics 39(3). */
void bramah__contact_at(const bramah__contact *contact, bramah__expr q3, const bramah__expr *w,
                        bramah__expr half, const bramah__expr *x_k, const bramah__expr *xd_k, bramah__expr *x,
                        bramah__expr *xd, bramah__expr *f);

/* Axes of a plane with a normal of length 1, rows of E [9]: x the direction in it nearest to the inertial x axis, or y where that is
 * nearly normal. */
void bramah__plane_axes(const double *normal, double *E);

/* The same with other values. */
void bramah__contact_with(const bramah__contact *contact, const bramah__contact_values *values,
                          bramah__expr q3, const bramah__expr *w, bramah__expr half, const bramah__expr *x_k,
                          const bramah__expr *xd_k, bramah__expr *x, bramah__expr *xd, bramah__expr *f);

/* ---- where it touches ---- */

/* At a pose and velocities Z, inertial axes. */
typedef struct bramah__contact_frame {
  double place[3];
  const double *axes; /* E, of a plane of the ground, or `own`: that turns with a disc or a body */
  double own[9], spin[3];
  double height, w[4];
} bramah__contact_frame;

void bramah__contact_frame_of(const bramah__contact *contact, const double *gear, const bramah__pose *pose,
                              const double *Z, bramah__contact_frame *touch);

/* Of a disc: its spin axis, its axes and the lowest point of its rim. */
void bramah__disc_place(const bramah__contact *disc, const bramah__pose *pose, bramah__contact_frame *touch);

/* Of a disc: how the axes turn about n, and how far its lowest point wanders over the rim forwards, as it is turned by
 * the unit vector `turn`: [2]. Neither follows a translation. */
void bramah__disc_turns(const bramah__contact *disc, const bramah__contact_frame *touch, const double *turn,
                        double *out);

/* ---- forces ---- */

/* The part of its torque that a brake is pressed with, by its spool U [V]. */
static inline bramah__expr bramah__pressed_part(const bramah__contact *brake, bramah__expr U)
{
  return e_scale(1.0 / brake->limit, e_max(U, e_number(0.0)));
}

/* The gear of a clutch by the spools, weights [BRAMAH__MOST_SHAFT_JOINTS]; returns 0 in neutral, else 1. Of others nothing is
 * written. */
double bramah__contact_gear(const bramah__contact *contact, const double *U, double *gear);

/* Forces [3 n] on the bodies in inertial axes, gears [n BRAMAH__MOST_SHAFT_JOINTS], bristles x (unless NULL) and rates xd, as above.
 * U are the spools, x, x_k, ... the friction states of the machine. */
void bramah__contact_forces(size_t n, const bramah__contact *contact, const bramah__pose *pose,
                            const double *Z, const double *U, double half, const double *x_k,
                            const double *xd_k, double *x, double *xd, double *force, double *gear);

/* How the torque of a commanded brake or clutch grows with its spool [N m/V]. */
double bramah__brake_by_spool(const bramah__contact *brake, const bramah__pose *pose, const double *Z,
                              const double *U, const double *x);

/* tau -= the generalised forces of theirs */
void bramah__contacts_subtract(const bramah__tree *tree, size_t n, const bramah__contact *contact,
                               const bramah__pose *pose, const double *force, const double *gear,
                               double *tau);

/* What a disc or ball turns its body with about its own centre, moment [3], where `force` acts on its lowest point. */
void bramah__disc_moment(const bramah__contact *disc, const bramah__pose *pose, const double *force,
                         double *moment);

/* Derivatives of f and of the bristles' rates. In the air all are 0. */
typedef struct bramah__contact_slope {
  double by_height[3], by_velocity[9],
      by_roll[3];    /* of f by q3, w_1..3, w_4; bristles follow w through the step */
  double by_bristle; /* of f_1 by x_k1, f_2 by x_k2; those by xd_k are `half` of it */
  double rate_by_velocity[4], rate_by_roll[2]; /* of xd by w_1, w_2 and by w_4, with half = 0 */
  double rate_by_bristle;
  double keeps; /* by what a bristle follows x_k, with xd_k held */
} bramah__contact_slope;

void bramah__contact_slopes(size_t n, const bramah__contact *contact, const bramah__pose *pose,
                            const double *Z, const double *U, double half, const double *x_k,
                            const double *xd_k, bramah__contact_slope *slope);

/* The joints that a contact follows, outermost first: those that move its body, and those that move the plane. The one
 * before j, which comes first as tree->n. -1: there is none. */
int bramah__contact_joint(const bramah__tree *tree, const bramah__contact *contact, int j);

/* How q and w follow the joints, in the room rows [BRAMAH__CONTACT_ROWS x n]: G [4 x n] = dw/dz', whose third row is dq_3/dz,
 * then H [4 x n] = dw/dz at held rates, then the two rows of bramah__disc_turns, of a disc. Entries of joints that it does
 * not follow (bramah__contact_joint) are not written. Of a point the fourth rows are 0. */
enum { BRAMAH__CONTACT_ROWS = 10 };
void bramah__contact_rows(const bramah__tree *tree, const bramah__contact *contact, const double *gear,
                          const bramah__pose *pose, const double *Z, double *rows);

/* Derivatives of what bramah__contacts_subtract leaves, by positions added to K, by rates to C [n x n]. rows as above is
 * scratch. */
void bramah__contacts_add_tangent(const bramah__tree *tree, size_t n, const bramah__contact *contact,
                                  const bramah__pose *pose, const double *Z, const double *force,
                                  const double *gear, const bramah__contact_slope *slope, double *rows,
                                  double *K, double *C);

/* ---- balls, and planes that move (pair.c) ---- */

/* Of a nearest one: axes, place, height. */
void bramah__nearest_place(const bramah__contact *contact, const bramah__pose *pose,
                           bramah__contact_frame *touch);

/* Where a ball or point touches; velocity [3] of the one body against the other there; the rest as above. */
void bramah__pair_velocity(const bramah__contact *contact, const double *Z, const double *place, double *v);
void bramah__pair_place(const bramah__contact *contact, const bramah__pose *pose, double *place);
void bramah__pair_subtract(const bramah__tree *tree, const bramah__contact *contact, const bramah__pose *pose,
                           const double *place, const double *force, double *tau);
void bramah__pair_rows(const bramah__tree *tree, const bramah__contact *contact, const bramah__pose *pose,
                       const double *Z, const bramah__contact_frame *at, double *rows);
void bramah__pair_add_tangent(const bramah__tree *tree, const bramah__contact *contact,
                              const bramah__pose *pose, const double *Z, const bramah__contact_frame *at,
                              const double *force, const bramah__contact_slope *slope, double *rows,
                              double *K, double *C);

/* Is it a ball, or on a plane that moves? */
static inline int bramah__is_pair(const bramah__contact *contact)
{
  return contact->carrier > 0 || (contact->radius > 0.0 && !bramah__is_disc(contact));
}

#endif
