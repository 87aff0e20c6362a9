/* SPDX-License-Identifier: MIT */
/* Somebody else's simulator, which knows nothing of filters: a trolley crane with a load on a rope. */
#ifndef EMBEDDING_HOIST_H
#define EMBEDDING_HOIST_H

typedef struct hoist {
  double position, speed;     /* of the trolley [m, m/s] */
  double swing, swing_rate;   /* of the rope, from hanging down, positive ahead [rad, rad/s] */
  double trolley, load, rope; /* masses [kg], length [m] */
  double drag;                /* of the trolley's rollers [N s/m] */
} hoist;

/* One step of dt seconds with this force on the trolley [N], Runge-Kutta of fourth order. */
void hoist_step(hoist *h, double force, double dt);

#endif
