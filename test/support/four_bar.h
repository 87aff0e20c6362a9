/* SPDX-License-Identifier: MIT */
/* Machines described in C, for tests of the core, which knows no files. */
#ifndef BRAMAH_TEST_SUPPORT_FOUR_BAR_H
#define BRAMAH_TEST_SUPPORT_FOUR_BAR_H

#include "bramah/coupled.h"
#include "bramah/sensor.h"

/* The hydraulic four-bar of publication II with Brown-McPhee friction. `friction` scales its three
 * coefficients. The description is static storage of the caller's thread: each call overwrites it. */
typedef struct four_bar {
  bramah_machine machine;
  bramah_body bodies[3];
  bramah_joint joints[3];
  bramah_loop loops[1];
  bramah_supply supplies[2];
  bramah_hose hoses[3];
  bramah_volume volumes[3];
  bramah_orifice orifices[1];
  bramah_valve valves[1];
  bramah_cylinder cylinders[1];
  bramah_input inputs[1];
} four_bar;

/* Fill it (and point machine into it: do not copy the structure afterwards). */
void four_bar_describe(four_bar *out, double friction, int64_t step_ns);

/* Give its cylinder one of the four friction models, with the parameters of publication II, Table 2. */
void four_bar_set_friction(four_bar *fb, bramah_friction_model model);

/* What is measured on it: encoder and gyro of the crank, three pressures, with the noise of the study. */
extern const bramah_sensor_options four_bar_sensors[5];

/* Its plant, by itself. */
typedef struct four_bar_rig {
  four_bar fb;
  const bramah_model *model;
  bramah_coupled *c;
  bramah_plant plant;
} four_bar_rig;

/* With steps of 1 ms, the crank at rest at this angle; stops when that fails. */
void four_bar_open(four_bar_rig *rig, double friction, double angle_deg);
void four_bar_close(four_bar_rig *rig);

/* Command of the study's work cycle at time t [ns]: 0, +10 V from 1 s, 0 from 2.5 s, -10 V from 5 s, 0 from 8
 * s. */
double four_bar_command(int64_t time_ns);

/* A spatial tree of `n` bodies with mixed joints, full inertia tensors and branches, from a seed; no loops.
 */
typedef struct spatial_tree {
  bramah_machine machine;
  bramah_body bodies[12];
  bramah_joint joints[12];
  char names[12][24];
} spatial_tree;
void spatial_tree_describe(spatial_tree *out, size_t n, unsigned seed);

/* Crank and slider in the plane: crank (0.3 m), rod (1 m), sliding block, all lengths times `scale`; turns
 * through its dead points. At scale 1 the crank is the independent coordinate, at scale 10 full pivoting
 * starts with the block. */
typedef struct crank_slider {
  bramah_machine machine;
  bramah_body bodies[3];
  bramah_joint joints[3];
  bramah_loop loops[1];
} crank_slider;
void crank_slider_describe(crank_slider *out, double scale, int64_t step_ns);

/* Reproducible uniform numbers in [-1, 1], for tests that must not depend on the tools library. */
double test_uniform(unsigned *seed);

/* Nearly normal with standard deviation one: the sum of twelve of them, halved. */
double test_normal(unsigned *seed);

/* x [n] = L xi with q such numbers xi; and x [n] with the covariance P [n x n], positive definite. */
void test_normals(size_t n, size_t q, const double *L, unsigned *seed, double *x);
void test_draw(size_t n, const double *P, unsigned *seed, double *x);

/* Print the diagnostic and stop the test program when status is an error. */
void must(bramah_status status, const bramah_diag *diag);

/* Index of an output; stops when there is none. */
size_t must_find(const bramah_plant *plant, const char *name);
/* Index of a parameter, likewise. */
size_t must_find_parameter(const bramah_plant *plant, const char *name);

#endif
