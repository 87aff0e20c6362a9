/* SPDX-License-Identifier: MIT */
/* Torques between joints that turn, by their rates and by commands: engines, clutches with their gears and differentials,
 * drives. A power train without stiff shafts: its shafts are joints of bodies that turn (the crankshaft, the wheels), ideal
 * gears and differentials are ratios between their rates, and what is soft between them is the clutch's friction. */
#ifndef BRAMAH_LIB_MULTIBODY_SHAFT_H
#define BRAMAH_LIB_MULTIBODY_SHAFT_H

#include "lib/graph/expr.h"
#include "lib/multibody/tree.h"

typedef enum bramah__shaft_kind { BRAMAH__ENGINE, BRAMAH__CLUTCH, BRAMAH__JOINT_TORQUE } bramah__shaft_kind;

/* What it shows: the torque (of an engine before its friction), what that does, and the fuel that an engine takes; of a clutch,
 * whose torque a contact shows, only what it turns into heat. */
typedef enum bramah__shaft_view {
  BRAMAH__SHAFT_TORQUE,
  BRAMAH__SHAFT_POWER,
  BRAMAH__SHAFT_FUEL
} bramah__shaft_view;

enum {
  BRAMAH__MOST_SHAFT_JOINTS = 9, /* one that drives and eight that are driven */
  BRAMAH__SHAFT_COMMANDS = 2,    /* throttle, torque or clutch; gear */
  BRAMAH__SHAFT_VIEWS = 3
};

/* What parameters change of an engine or a commanded torque. */
typedef enum bramah__shaft_value {
  BRAMAH__SHAFT_SCALE,      /* of the full-load or commanded torque; 1 */
  BRAMAH__SHAFT_FRICTION,   /* of an engine [N m] */
  BRAMAH__SHAFT_IDLE_SPEED, /* of its governor [rad/s] */
  BRAMAH__SHAFT_VALUES
} bramah__shaft_value;

typedef struct bramah__shaft {
  bramah__shaft_kind kind;
  double value[BRAMAH__SHAFT_VALUES];
  size_t n_joints, joint[BRAMAH__MOST_SHAFT_JOINTS]; /* of a clutch first the one that drives */
  int parent[BRAMAH__MOST_SHAFT_JOINTS];             /* of the bodies behind them */
  double share[BRAMAH__MOST_SHAFT_JOINTS];           /* of those that are driven */
  int is_commanded[BRAMAH__SHAFT_COMMANDS];
  size_t spool[BRAMAH__SHAFT_COMMANDS];
  double limit[BRAMAH__SHAFT_COMMANDS]; /* [V] */
  double torque, ratio;                 /* [N m]; of a clutch without gears */
  size_t contact;                       /* of a clutch: the point that rubs, among the contacts */
  double power;                         /* [W] of a drive; 0: no limit */
  size_t n_points; /* of the curve: speeds and torques at full load, or gears and ratios */
  const double *x, *y;
  double rounding, idle_band, stall;
  double consumption, best_torque, best_speed, torque_loss, speed_loss, idle_fuel;
} bramah__shaft;

/* Torques on [n_joints] its joints and views [3], at their rates and its commands U [V], with its values, or others. Of a clutch all are 0: its plates rub as
 * brakes do (contact.h). */
void bramah__shaft_with(const bramah__shaft *shaft, const bramah__expr *value, const bramah__expr *rate,
                        const bramah__expr *U, bramah__expr *torque, bramah__expr *view);
void bramah__shaft_at(const bramah__shaft *shaft, const bramah__expr *rate, const bramah__expr *U,
                      bramah__expr *torque, bramah__expr *view);

/* How a clutch rubs: its slip is the sum of what each joint's rate counts there, out [n_joints], -1 of the one that drives, and its
 * torque acts on them likewise. Returns 1 in a gear, 0 in neutral. U of its gear's command. */
bramah__expr bramah__clutch_row(const bramah__shaft *clutch, bramah__expr U, bramah__expr *out);

/* ---- with numbers ---- */

/* Torques, and their derivatives by the rates. */
typedef struct bramah__shaft_state {
  double torque[BRAMAH__MOST_SHAFT_JOINTS];
  double by_rate[BRAMAH__MOST_SHAFT_JOINTS * BRAMAH__MOST_SHAFT_JOINTS];
} bramah__shaft_state;

/* At velocities Z and spools U of the machine, out [n]. */
void bramah__shafts_evaluate(const bramah__tree *tree, size_t n, const bramah__shaft *shaft,
                             const bramah__pose *pose, const double *Z, const double *U,
                             bramah__shaft_state *out);

/* A view, and unless they are NULL its derivatives by the rates [n_joints] and the commands [2]. */
double bramah__shaft_shows(const bramah__tree *tree, const bramah__shaft *shaft, bramah__shaft_view view,
                           const bramah__pose *pose, const double *Z, const double *U, double *by_rate,
                           double *by_command);

/* tau -= their torques; C += the derivative of that by the rates. */
void bramah__shafts_subtract(size_t n, const bramah__shaft *shaft, const bramah__shaft_state *state,
                             double *tau);
void bramah__shafts_add_tangent(const bramah__tree *tree, size_t n, const bramah__shaft *shaft,
                                const bramah__shaft_state *state, double *C);

#endif
