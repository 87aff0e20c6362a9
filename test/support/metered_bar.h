/* SPDX-License-Identifier: MIT */
/* The four-bar with two metered cylinders on one pump line in place of its own: one where that stood, one at
 * the rocker; regeneration and unloading valves have inputs. Its lumped circuit stays, without a cylinder. */
#ifndef BRAMAH_TEST_SUPPORT_METERED_BAR_H
#define BRAMAH_TEST_SUPPORT_METERED_BAR_H

#include "test/support/four_bar.h"

typedef struct metered_bar {
  four_bar bar;
  bramah_metered_cylinder cylinders[2];
  bramah_pump_line line;
  bramah_input inputs[5];
} metered_bar;

/* Numbers of its inputs. */
enum { BAR_VALVE, BAR_LIFT, BAR_SWING, BAR_REGENERATION, BAR_UNLOADING, BAR_N_INPUTS };

static inline bramah_metered_cylinder metered_bar_cylinder(const char *name, const char *body)
{
  return (bramah_metered_cylinder){.name = name,
                                   .body = {"ground", body},
                                   .point = {{-1, 0, 0}, {1, 0, 0}},
                                   .pump_line = "line",
                                   .piston_area = 0.005,
                                   .rod_area = 0.004,
                                   .piston_relief = 12e6,
                                   .rod_relief = 11e6,
                                   .flow_coefficient = {1.0e-7, 1.1e-7, 1.2e-7, 1.3e-7},
                                   .spool = {.input = name, .limit = 10.0, .time_constant = 0.02},
                                   .stiffness = 4e7,
                                   .damping = 4e5,
                                   .friction = {.model = BRAMAH_FRICTION_BROWN_MCPHEE,
                                                .coulomb = 210.0,
                                                .static_force = 830.0,
                                                .stribeck_velocity = 0.0125,
                                                .viscous = 330.0}};
}

static inline void metered_bar_describe(metered_bar *out, int64_t step_ns)
{
  static const char *const names[BAR_N_INPUTS] = {"valve", "lift", "swing", "regeneration", "unloading"};
  four_bar_describe(&out->bar, 1.0, step_ns);
  out->cylinders[0] = metered_bar_cylinder("lift", "crank");
  out->cylinders[1] = metered_bar_cylinder("swing", "rocker");
  out->cylinders[0].regeneration = (bramah_metering_valve){
      .flow_coefficient = 5e-8, .input = "regeneration", .time_constant = 0.01, .limit = 10.0};
  out->cylinders[1].point[0][0] = 4.0;
  out->cylinders[1].point[0][1] = 0.5;
  out->line = (bramah_pump_line){
      .name = "line",
      .tank = "tank",
      .flow = 2e-4,
      .set_pressure = 9e6,
      .unloading = {.flow_coefficient = 2e-7, .input = "unloading", .time_constant = 0.02, .limit = 10.0}};
  for (int i = 0; i < BAR_N_INPUTS; i++) out->inputs[i] = (bramah_input){.name = names[i]};
  bramah_machine *m = &out->bar.machine;
  m->n_cylinders = 0;
  m->n_metered_cylinders = 2;
  m->metered_cylinders = out->cylinders;
  m->n_pump_lines = 1;
  m->pump_lines = &out->line;
  m->n_inputs = BAR_N_INPUTS;
  m->inputs = out->inputs;
}

#endif
