/* SPDX-License-Identifier: MIT */
#include "test/support/driven.h"

#include <string.h>

static const double degree = 3.14159265358979323846 / 180.0;

/* Point the machine into the structure itself. */
static void describe(driven *out, const char *name, size_t n, int64_t step_ns)
{
  out->machine = out->slider.machine;
  out->machine.name = name;
  out->machine.gravity[1] = -9.81;
  out->machine.n_bodies = out->machine.n_joints = n;
  out->machine.bodies = out->bodies;
  out->machine.joints = out->joints;
  out->machine.n_motions = 1;
  out->machine.motions = &out->motion;
  out->machine.integrator.step_ns = step_ns;
}

static bramah_body bob(void)
{
  return (bramah_body){
      .name = "bob", .mass = 2.0, .centre_of_mass = {0, -0.5, 0}, .inertia = {0.01, 0.01, 0.01}};
}

static bramah_joint swing(const char *parent, double angle)
{
  return (bramah_joint){.name = "bob",
                        .type = BRAMAH_JOINT_REVOLUTE,
                        .parent = parent,
                        .child = "bob",
                        .axis = {0, 0, 1},
                        .initial_position = angle,
                        .initial = BRAMAH_INITIAL_GIVEN};
}

void driven_slider_describe(driven *out, int64_t step_ns)
{
  memset(out, 0, sizeof *out);
  crank_slider_describe(&out->slider, 1.0, step_ns);
  memcpy(out->bodies, out->slider.bodies, sizeof out->slider.bodies);
  memcpy(out->joints, out->slider.joints, sizeof out->slider.joints);
  out->bodies[3] = bob();
  out->joints[3] = swing("block", 20.0 * degree);
  out->joints[0].initial_rate = 0.0; /* the motion says it */
  out->motion = (bramah_motion){
      .name = "drive", .joint = "crank", .type = BRAMAH_MOTION_RATE, .position = 40.0 * degree, .rate = 6.0};
  describe(out, "driven crank", 4, step_ns);
}

void shaken_slider_describe(driven *out, int64_t step_ns)
{
  memset(out, 0, sizeof *out);
  crank_slider_describe(&out->slider, 10.0, step_ns);
  memcpy(out->bodies + 1, out->slider.bodies, sizeof out->slider.bodies);
  memcpy(out->joints + 1, out->slider.joints, sizeof out->slider.joints);
  out->bodies[0] = (bramah_body){.name = "base", .mass = 1.0};
  out->joints[0] = (bramah_joint){
      .name = "base", .type = BRAMAH_JOINT_PRISMATIC, .parent = "ground", .child = "base", .axis = {0, 1, 0}};
  out->joints[1].parent = "base";
  out->motion = (bramah_motion){
      .name = "shaker", .joint = "base", .type = BRAMAH_MOTION_HARMONIC, .amplitude = 0.2, .frequency = 2.0};
  describe(out, "shaken slider", 4, step_ns);
}

void shaken_pendulum_describe(driven *out, int64_t step_ns)
{
  memset(out, 0, sizeof *out);
  out->bodies[0] = (bramah_body){.name = "cart", .mass = 3.0};
  out->bodies[1] = bob();
  out->joints[0] = (bramah_joint){
      .name = "cart", .type = BRAMAH_JOINT_PRISMATIC, .parent = "ground", .child = "cart", .axis = {1, 0, 0}};
  out->joints[1] = swing("cart", 0.35);
  out->motion = (bramah_motion){
      .name = "shaker", .joint = "cart", .type = BRAMAH_MOTION_HARMONIC, .amplitude = 0.05, .frequency = 2.0};
  describe(out, "shaken pendulum", 2, step_ns);
}

void driven_open(driven *d)
{
  bramah_diag diag;
  must(bramah_model_new(&d->machine, &diag, &d->model), &diag);
  must(bramah_coupled_new(d->model, &diag, &d->c), &diag);
  d->p = bramah_coupled_plant(d->c);
}

void driven_close(driven *d)
{
  bramah_coupled_free(d->c);
  bramah_model_free(d->model);
}

double driven_value(const driven *d, const char *name)
{
  return d->p.output(d->p.self, must_find(&d->p, name));
}
