/* SPDX-License-Identifier: MIT */
/* What a cycle of the filter costs with 1, 2, 5 and 10 degrees of freedom: booms of so many links, each moved
 * by a cylinder with two volumes and a valve of its own, so that the error state has 4 elements per degree of
 * freedom; encoders and pressures are measured at every step. Plant alone, prediction with each transition,
 * correction in each form. */
#define _GNU_SOURCE
#include "bramah/filter.h"
#include "test/bench/bench.h"
#include "test/support/four_bar.h"

#include <math.h>

enum { MOST = 10, STEPS = 2000, RUNS = 5 };

static bramah_diag diag;

typedef struct boom {
  bramah_machine machine;
  bramah_body bodies[MOST];
  bramah_joint joints[MOST];
  bramah_cylinder cylinders[MOST];
  bramah_volume volumes[2 * MOST];
  bramah_hose hoses[2 * MOST];
  bramah_valve valves[MOST];
  bramah_input inputs[MOST];
  bramah_supply supplies[2];
  char names[7][MOST][12];
} boom;

static const char *name(boom *b, int kind, size_t i, const char *stem)
{
  snprintf(b->names[kind][i], sizeof b->names[kind][i], "%s%u", stem, (unsigned)i % 100u);
  return b->names[kind][i];
}

/* Link i with its cylinder, volumes, valve and command. */
static void describe_link(boom *b, size_t i)
{
  b->bodies[i] = (bramah_body){.name = name(b, 0, i, "link"),
                               .mass = 20.0,
                               .centre_of_mass = {0.5, 0, 0},
                               .inertia = {0.1, 20.0 / 12.0, 20.0 / 12.0}};
  b->joints[i] = (bramah_joint){.name = b->names[0][i],
                                .type = BRAMAH_JOINT_REVOLUTE,
                                .parent = i ? b->names[0][i - 1] : "ground",
                                .child = b->names[0][i],
                                .position = {i ? 1.0 : 0.0, 0, 0},
                                .axis = {0, 0, 1},
                                .initial_position = -0.4,
                                .initial = BRAMAH_INITIAL_GIVEN};

  const char *piston = name(b, 1, i, "a"), *rod = name(b, 2, i, "b");
  for (size_t e = 0; e < 2; e++) {
    b->hoses[2 * i + e] = (bramah_hose){.volume = 5e-4, .bulk_modulus = 1e9};
    b->volumes[2 * i + e] = (bramah_volume){
        .name = e ? rod : piston, .n_hoses = 1, .hoses = &b->hoses[2 * i + e], .initial_pressure = 3e6};
  }
  b->cylinders[i] = (bramah_cylinder){.name = name(b, 3, i, "cylinder"),
                                      .body = {i ? b->names[0][i - 1] : "ground", b->names[0][i]},
                                      .point = {{i ? 0.7 : -0.3, -0.3, 0}, {0.4, -0.1, 0}},
                                      .piston_volume = piston,
                                      .rod_volume = rod,
                                      .piston_area = 2e-3,
                                      .rod_area = 1.2e-3,
                                      .bulk_modulus = 3e10,
                                      .reference_stroke = 0.6,
                                      .piston_chamber_length = 0.6,
                                      .rod_chamber_length = 0.6,
                                      .friction = {.model = BRAMAH_FRICTION_BROWN_MCPHEE,
                                                   .coulomb = 100,
                                                   .static_force = 150,
                                                   .stribeck_velocity = 0.02,
                                                   .viscous = 500}};
  b->inputs[i] = (bramah_input){.name = name(b, 5, i, "u")};
  b->valves[i] = (bramah_valve){.name = name(b, 4, i, "valve"),
                                .pump = "pump",
                                .tank = "tank",
                                .a = piston,
                                .b = rod,
                                .flow_coefficient = 2e-8,
                                .time_constant = 0.01,
                                .limit = 10.0,
                                .input = b->names[5][i]};
}

static void describe(boom *b, size_t n)
{
  memset(b, 0, sizeof *b);
  for (size_t i = 0; i < n; i++) describe_link(b, i);
  b->supplies[0] = (bramah_supply){.name = "pump", .pressure = 2e7};
  b->supplies[1] = (bramah_supply){.name = "tank", .pressure = 1e5};
  b->machine = (bramah_machine){.name = "boom",
                                .gravity = {0, -9.81, 0},
                                .oil_bulk_modulus = 1.5e9,
                                .n_bodies = n,
                                .bodies = b->bodies,
                                .n_joints = n,
                                .joints = b->joints,
                                .n_supplies = 2,
                                .supplies = b->supplies,
                                .n_volumes = 2 * n,
                                .volumes = b->volumes,
                                .n_valves = n,
                                .valves = b->valves,
                                .n_cylinders = n,
                                .cylinders = b->cylinders,
                                .n_inputs = n,
                                .inputs = b->inputs,
                                .integrator = {.step_ns = 1000000}};
}

typedef struct rig {
  boom boom;
  const bramah_model *model;
  bramah_coupled *coupled;
  bramah_plant plant;
  bramah_sensor sensor[3 * MOST];
  bramah_filter *filter;
  size_t n;
} rig;

static void open_rig(rig *r, size_t n, bramah_transition transition, bramah_covariance_form form)
{
  double sp[MOST], sv[MOST], q[MOST], spr[2 * MOST], qp[2 * MOST];
  r->n = n;
  describe(&r->boom, n);
  must(bramah_model_new(&r->boom.machine, &diag, &r->model), &diag);
  must(bramah_coupled_new(r->model, &diag, &r->coupled), &diag);
  r->plant = bramah_coupled_plant(r->coupled);
  for (size_t i = 0; i < n; i++) {
    const bramah_sensor_options o[3] = {
        {.name = "encoder", .kind = BRAMAH_SENSOR_ENCODER, .at = r->boom.names[0][i], .sigma = 1e-3},
        {.name = "pa", .kind = BRAMAH_SENSOR_PRESSURE, .at = r->boom.names[1][i], .sigma = 5e4},
        {.name = "pb", .kind = BRAMAH_SENSOR_PRESSURE, .at = r->boom.names[2][i], .sigma = 5e4}};
    for (size_t k = 0; k < 3; k++)
      must(bramah_sensor_init(&o[k], &r->plant, &diag, &r->sensor[3 * i + k]), &diag);
    sp[i] = 0.01, sv[i] = 0.1, q[i] = 0.1;
    spr[2 * i] = spr[2 * i + 1] = 1e5, qp[2 * i] = qp[2 * i + 1] = 1e6;
  }
  const bramah_filter_options o = {.transition = transition,
                                   .position_sigma = sp,
                                   .rate_sigma = sv,
                                   .first_order_sigma = spr,
                                   .acceleration_noise = q,
                                   .first_order_noise = qp,
                                   .form = form};
  must(bramah_filter_new(&r->plant, 3 * n, r->sensor, &o, &diag, &r->filter), &diag);
}

/* Microseconds of the parts of a cycle. */
typedef struct parts {
  double plant, predict, correct;
} parts;

/* The clock that costs least: it is read four times a step. */
static double now_us(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + 1e-3 * (double)t.tv_nsec;
}

/* In every step the plant's own step is made once more, from the same state, to know its share. */
static parts once(rig *r)
{
  static double snap[1024];
  double y[3 * MOST];
  const double u[MOST] = {0};
  unsigned char present[3 * MOST];
  unsigned seed = 1;
  parts spent = {0, 0, 0};
  memset(present, 1, sizeof present);
  if (r->plant.snapshot_size > sizeof snap) exit(EXIT_FAILURE);
  must(r->plant.set_inputs(r->plant.self, u, &diag), &diag);
  for (int k = 0; k < STEPS; k++) {
    r->plant.save(r->plant.self, snap);
    const double t0 = now_us();
    must(r->plant.step(r->plant.self, &diag), &diag);
    const double t1 = now_us();
    r->plant.restore(r->plant.self, snap);
    const double t2 = now_us();
    must(bramah_filter_predict(r->filter, &diag), &diag);
    const double t3 = now_us();
    for (size_t i = 0; i < 3 * r->n; i++)
      y[i] = bramah_sensor_predict(&r->sensor[i], &r->plant) + 0.1 * r->sensor[i].sigma * test_normal(&seed);
    const double t4 = now_us();
    must(bramah_filter_correct(r->filter, y, present, &diag), &diag);
    spent.plant += (t1 - t0) / STEPS;
    spent.predict += (t3 - t2) / STEPS;
    spent.correct += (now_us() - t4) / STEPS;
  }
  return spent;
}

int main(void)
{
  static const size_t degrees[] = {1, 2, 5, 10};
  static const struct {
    const char *name;
    bramah_transition transition;
    bramah_covariance_form form;
  } variants[] = {{"paper", BRAMAH_TRANSITION_KINEMATIC, BRAMAH_COVARIANCE_JOSEPH},
                  {"paper-exact", BRAMAH_TRANSITION_KINEMATIC_EXACT, BRAMAH_COVARIANCE_JOSEPH},
                  {"step", BRAMAH_TRANSITION_STEP, BRAMAH_COVARIANCE_JOSEPH},
                  {"step, square root", BRAMAH_TRANSITION_STEP, BRAMAH_COVARIANCE_SQUARE_ROOT}};
  bench_print_machine();
  printf("\nhydraulic booms, all sensors at every step of 1 ms, us per step, median of %d\n\n"
         "%8s %7s  %-18s %8s %11s %11s %8s\n",
         RUNS, "freedom", "states", "variant", "plant", "transition", "correction", "cycle");
  for (size_t d = 0; d < sizeof degrees / sizeof degrees[0]; d++) {
    const size_t n = degrees[d];
    for (size_t v = 0; v < sizeof variants / sizeof variants[0]; v++) {
      static rig r;
      double plants[RUNS], predictions[RUNS], corrections[RUNS];
      for (int i = 0; i < RUNS; i++) {
        open_rig(&r, n, variants[v].transition, variants[v].form);
        const parts p = once(&r);
        plants[i] = p.plant, predictions[i] = p.predict, corrections[i] = p.correct;
        bramah_filter_free(r.filter);
        bramah_coupled_free(r.coupled);
        bramah_model_free(r.model);
      }
      const double plant = bench_median(plants, RUNS), predict = bench_median(predictions, RUNS),
                   correct = bench_median(corrections, RUNS);
      printf("%8u %7u  %-18s %8.2f %11.2f %11.2f %8.2f\n", (unsigned)n, (unsigned)(4 * n), variants[v].name,
             plant, predict - plant, correct, predict + correct);
    }
  }
  printf("\nplant: its step within the cycle. transition: what its derivative and the covariance add to it. "
         "correction:\n"
         "innovations, fusion and injection.\n");
  return EXIT_SUCCESS;
}
