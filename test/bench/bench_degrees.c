/* SPDX-License-Identifier: MIT */
/* What a step of the plant and a cycle of the filter cost with 1, 2, 5 and 10 degrees of freedom: booms of so many links,
 * each moved by a cylinder with two volumes and a valve of its own, so that the error state has 4 elements per degree of
 * freedom. The cylinders are as thick as the loads ask for, and begin at rest. The step alone, in the plane and with axes in
 * general directions, interpreted and by tape; then plant, prediction with each transition and correction in each form, with
 * encoders and pressures at every step. */
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

/* Link i of n with its cylinder, volumes, valve and command. What it carries grows with the square of what follows. */
static void describe_link(boom *b, size_t i, size_t n, int spatial)
{
  const double thick = (double)((n - i) * (n - i)), tilt = spatial ? 0.2 : 0.0;
  b->bodies[i] = (bramah_body){.name = name(b, 0, i, "link"),
                               .mass = 20.0,
                               .centre_of_mass = {0.5, 0, 0},
                               .inertia = {0.1, 20.0 / 12.0, 20.0 / 12.0}};
  b->joints[i] = (bramah_joint){.name = b->names[0][i],
                                .type = BRAMAH_JOINT_REVOLUTE,
                                .parent = i ? b->names[0][i - 1] : "ground",
                                .child = b->names[0][i],
                                .position = {i ? 1.0 : 0.0, 0, 0},
                                .axis = {tilt * sin(1.0 + (double)i), tilt * cos(2.0 * (double)i), 1},
                                .initial_position = i ? -0.1 : 0.6,
                                .initial = BRAMAH_INITIAL_GIVEN};

  const char *piston = name(b, 1, i, "a"), *rod = name(b, 2, i, "b");
  for (size_t e = 0; e < 2; e++) {
    b->hoses[2 * i + e] = (bramah_hose){.volume = 1e-4 * thick, .bulk_modulus = 1e9};
    b->volumes[2 * i + e] = (bramah_volume){
        .name = e ? rod : piston, .n_hoses = 1, .hoses = &b->hoses[2 * i + e], .initial_pressure = 1e6};
    if (!e) b->volumes[2 * i].initial = BRAMAH_PRESSURE_EQUILIBRIUM;
  }
  b->cylinders[i] = (bramah_cylinder){.name = name(b, 3, i, "cylinder"),
                                      .body = {i ? b->names[0][i - 1] : "ground", b->names[0][i]},
                                      .point = {{i ? 0.7 : -0.3, -0.3, 0}, {0.4, -0.1, 0}},
                                      .piston_volume = piston,
                                      .rod_volume = rod,
                                      .piston_area = 4e-4 * thick,
                                      .rod_area = 2.4e-4 * thick,
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
                                .flow_coefficient = 4e-9 * thick,
                                .time_constant = 0.01,
                                .limit = 10.0,
                                .input = b->names[5][i]};
}

static void describe(boom *b, size_t n, int spatial)
{
  memset(b, 0, sizeof *b);
  for (size_t i = 0; i < n; i++) describe_link(b, i, n, spatial);
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
  bramah_program *program;
  bramah_coupled *coupled;
  bramah_plant plant;
  bramah_sensor sensor[3 * MOST];
  bramah_filter *filter;
  size_t n;
} rig;

/* The plant alone; by tape, where there is one, or interpreted. */
static void open_plant(rig *r, size_t n, int spatial, int by_tape)
{
  r->n = n;
  describe(&r->boom, n, spatial);
  must(bramah_model_new(&r->boom.machine, &diag, &r->model), &diag);
  if (bramah_program_new(r->model, &diag, &r->program) != BRAMAH_OK && diag.status != BRAMAH_E_UNSUPPORTED)
    must(diag.status, &diag);
  must(bramah_coupled_new(r->model, &diag, &r->coupled), &diag);
  if (by_tape) must(bramah_coupled_use(r->coupled, r->program, &diag), &diag);
  r->plant = bramah_coupled_plant(r->coupled);
}

static void close_plant(rig *r)
{
  bramah_coupled_free(r->coupled);
  bramah_program_free(r->program);
  bramah_model_free(r->model);
}

static void open_rig(rig *r, size_t n, bramah_transition transition, bramah_covariance_form form)
{
  double sp[MOST], sv[MOST], q[MOST], spr[2 * MOST], qp[2 * MOST];
  open_plant(r, n, 0, 1);
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

/* Microseconds a step while all valves move, and the lowest and highest pressure on the way [Pa]. */
static double step_time(rig *r, double *least, double *most)
{
  double u[MOST], spent = 0.0;
  for (int k = 0; k < STEPS; k++) {
    for (size_t i = 0; i < r->n; i++) u[i] = sin(0.005 * k + (double)i);
    must(r->plant.set_inputs(r->plant.self, u, &diag), &diag);
    const double start = now_us();
    must(r->plant.step(r->plant.self, &diag), &diag);
    spent += now_us() - start;
    double x[4 * MOST];
    bramah_plant_coordinates(&r->plant, x);
    for (size_t i = 2 * r->n; i < 4 * r->n; i++) *least = fmin(*least, x[i]), *most = fmax(*most, x[i]);
  }
  return spent / STEPS;
}

static void time_steps(const size_t *degrees, size_t n_degrees)
{
  printf("\nhydraulic booms, all valves move, a step of 1 ms, us, median of %d\n\n%8s  %-8s %12s %8s %12s "
         "%20s\n",
         RUNS, "freedom", "axes", "interpreted", "tape", "iterate", "pressures [bar]");
  for (size_t d = 0; d < n_degrees; d++)
    for (int spatial = 0; spatial < 2; spatial++) {
      static rig r;
      double times[2][RUNS], least = (double)INFINITY, most = 0.0;
      size_t n_iterate = 0;
      for (int i = 0; i < RUNS; i++)
        for (int by_tape = 0; by_tape < 2; by_tape++) {
          open_plant(&r, degrees[d], spatial, by_tape);
          times[by_tape][i] = step_time(&r, &least, &most);
          n_iterate = r.program ? bramah_program_get_info(r.program).n_iterate : 0;
          close_plant(&r);
        }
      printf("%8u  %-8s %12.2f ", (unsigned)degrees[d], spatial ? "general" : "plane",
             bench_median(times[0], RUNS));
      if (n_iterate)
        printf("%8.2f %12u", bench_median(times[1], RUNS), (unsigned)n_iterate);
      else
        printf("%8s %12s", "-", "too large");
      printf(" %9.0f to %.0f\n", 1e-5 * least, 1e-5 * most);
    }
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
  time_steps(degrees, sizeof degrees / sizeof *degrees);
  printf("\nhydraulic booms in the plane, by tape, all sensors at every step of 1 ms, us per step, median of "
         "%d\n\n"
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
        close_plant(&r);
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
