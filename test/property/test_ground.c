/* SPDX-License-Identifier: MIT */
/* Tyres and contacts on a field of heights: what planes are there, and that steps are those on planes. Worksites: ruts, buckets. */
#include "bramah/worksite.h"
#include "test/support/run.h"
#include "test/support/running.h"

#include <math.h>
#include <stdlib.h>

static bramah_diag diag;
static const double gravity = 9.81, radius = 0.5, stiffness = 300e3, damping = 6e3, slope = 0.2;

enum { WHEELS = 4, BODIES = 1 + WHEELS, NX = 80, NY = 60 };

/* A body on four tyres, which rolls along x at 2 m/s; the field is 8 m by 6 m around the origin. */
typedef struct car {
  bramah_machine machine;
  bramah_body body[BODIES];
  bramah_joint joint[BODIES];
  bramah_tyre tyre[WHEELS];
  double h[NX * NY];
} car;

static void describe(car *c, double height)
{
  static const char *const names[BODIES] = {"frame", "w1", "w2", "w3", "w4"},
                           *const joints[BODIES] = {"free", "h1", "h2", "h3", "h4"},
                           *const tyres[WHEELS] = {"t1", "t2", "t3", "t4"};
  *c = (car){.body = {{.name = "frame", .mass = 1600, .inertia = {300, 500, 600}}},
             .joint = {{.name = "free",
                        .type = BRAMAH_JOINT_FLOATING,
                        .parent = "ground",
                        .child = "frame",
                        .initial_positions = {0, 0, height},
                        .initial_rates = {2}}}};
  for (int k = 0; k < WHEELS; k++) {
    c->body[1 + k] = (bramah_body){.name = names[1 + k], .mass = 100, .inertia = {8, 12, 8}};
    c->joint[1 + k] = (bramah_joint){.name = joints[1 + k],
                                     .type = BRAMAH_JOINT_REVOLUTE,
                                     .parent = "frame",
                                     .child = names[1 + k],
                                     .position = {k < 2 ? 1.2 : -1.2, k % 2 ? 0.8 : -0.8, 0},
                                     .axis = {0, 1, 0},
                                     .initial_rate = 2 / radius};
    c->tyre[k] = (bramah_tyre){.name = tyres[k],
                               .body = names[1 + k],
                               .radius = radius,
                               .width = 0.3,
                               .n_discs = 1 + k % 2,
                               .stiffness = stiffness,
                               .damping = damping};
  }
  bramah_machine *m = &c->machine;
  bramah_machine_default(m);
  m->name = "car";
  m->n_bodies = m->n_joints = BODIES, m->n_tyres = WHEELS;
  m->bodies = c->body, m->joints = c->joint, m->tyres = c->tyre;
  m->gravity[2] = -gravity;
  bramah_terrain_options *o = &m->terrain.options;
  o->nx = NX, o->ny = NY, o->cell = 0.1;
  o->origin[0] = -0.05 * NX, o->origin[1] = -0.05 * NY;
}

/* The same on the field, whose heights are those of f. */
static void stand_on(car *c, double (*f)(double, double))
{
  for (int k = 0; k < NX * NY; k++)
    c->h[k] = f((0.5 + k / NY) * 0.1 - 0.05 * NX, (0.5 + k % NY) * 0.1 - 0.05 * NY);
  c->machine.terrain.heights = c->h;
  for (int k = 0; k < WHEELS; k++) c->tyre[k].on_terrain = 1;
}

static double incline(double x, double y) { return slope * x - 0.5 * slope * y; }
static double bumps(double x, double y) { return 0.06 * sin(2.1 * x) * cos(1.7 * y + 0.4); }

/* On an even field all is as on the plane with its normal: motion, forces, derivatives of steps. */
TEST(test_incline)
{
  static car on_plane, on_field;
  describe(&on_plane, 0.82), describe(&on_field, 0.82);
  stand_on(&on_field, incline);
  for (int k = 0; k < WHEELS; k++)
    memcpy(on_plane.tyre[k].normal, (double[3]){-slope, 0.5 * slope, 1}, sizeof on_plane.tyre[k].normal);
  running a = start(&on_plane.machine), b = start(&on_field.machine);
  must(run_for(&a, 0.3, &diag), &diag), must(run_for(&b, 0.3, &diag), &diag);
  ck_assert_uint_eq(a.p.n_output, b.p.n_output);
  ck_assert_double_gt(shown(&a, "t1.normal_force") + shown(&a, "t4.normal_force"), 1000.0);
  for (size_t i = 0; i < a.p.n_output; i++) {
    const double x = a.p.output(a.p.self, i), y = b.p.output(b.p.self, i);
    ck_assert_double_eq_tol(x, y, 1e-6 * fmax(1.0, fabs(x)));
  }
  const size_t n = bramah_plant_n_error(&a.p);
  double *F = calloc(2 * n * n, sizeof *F), *G = F + n * n;
  must(a.p.step_transition(a.p.self, F, NULL, 0, NULL, NULL, &diag), &diag);
  must(b.p.step_transition(b.p.self, G, NULL, 0, NULL, NULL, &diag), &diag);
  for (size_t k = 0; k < n * n; k++) ck_assert_double_eq_tol(F[k], G[k], 1e-6 * fmax(1.0, fabs(F[k])));
  free(F);
  stop(&a), stop(&b);
}

/* Over bumps: by program as without, again from a snapshot to the bit, and the energies add up. */
TEST(test_bumps)
{
  static car c;
  describe(&c, 0.5);
  stand_on(&c, bumps);
  running a = start(&c.machine), b = start(&c.machine);
  bramah_program *program;
  must(bramah_program_new_for(a.model, BRAMAH_PROGRAM_STEPS, 0, NULL, &diag, &program), &diag);
  running by_program = {a.model, NULL, {0}};
  must(bramah_coupled_new(a.model, &diag, &by_program.c), &diag);
  by_program.p = bramah_coupled_plant(by_program.c);
  must(bramah_coupled_use(by_program.c, program, &diag), &diag);
  const double start_energy = shown(&a, "energy.kinetic") + shown(&a, "energy.potential");
  must(run_for(&a, 0.4, &diag), &diag);
  void *snap = malloc(a.p.snapshot_size), *end = malloc(a.p.snapshot_size),
       *again = malloc(a.p.snapshot_size);
  a.p.save(a.p.self, snap);
  must(run_for(&a, 0.2, &diag), &diag);
  a.p.save(a.p.self, end);
  must(run_for(&a, 0.1, &diag), &diag);
  a.p.restore(a.p.self, snap);
  must(run_for(&a, 0.2, &diag), &diag);
  a.p.save(a.p.self, again);
  ck_assert(memcmp(end, again, a.p.snapshot_size) == 0);
  b.p.restore(b.p.self, snap);
  must(run_for(&b, 0.2, &diag), &diag);
  b.p.save(b.p.self, again);
  ck_assert(memcmp(end, again, a.p.snapshot_size) == 0);

  must(run_for(&by_program, 0.6, &diag), &diag);
  ck_assert_uint_ge(bramah_coupled_report(by_program.c).compiled, 590);
  for (size_t i = 0; i < a.p.n_output; i++) {
    const double x = a.p.output(a.p.self, i), y = by_program.p.output(by_program.p.self, i);
    ck_assert_double_eq_tol(x, y, 1e-6 * fmax(1.0, fabs(x)));
  }
  const double energy = shown(&a, "energy.kinetic") + shown(&a, "energy.potential");
  ck_assert_double_eq_tol(start_energy - energy, shown(&a, "energy.contacts"), 1.0);
  ck_assert_double_gt(fabs(shown(&a, "free_roll.rate")), 1e-3);
  free(snap), free(end), free(again);
  bramah_coupled_free(by_program.c);
  stop(&a), stop(&b);
  bramah_program_free(program);
}

/* What a step's end does as its start is displaced, on a field that is even, so that planes stay. */
EACH_TEST(test_derivatives, 0, 2)
{
  static car c;
  static const double by = 1e-6;
  describe(&c, 0.82);
  stand_on(&c, incline);
  running r = start(&c.machine);
  bramah_program *program = NULL;
  must(run_for(&r, 0.2, &diag), &diag);
  if (_i) must(bramah_program_new_for(r.model, BRAMAH_PROGRAM_DERIVATIVES, 0, NULL, &diag, &program), &diag);
  must(bramah_coupled_use(r.c, program, &diag), &diag);
  const size_t n = bramah_plant_n_error(&r.p);
  double *F = calloc(n * n + 4 * n, sizeof *F), *dx = F + n * n, *x[2] = {dx + n, dx + 2 * n};
  void *snap = malloc(r.p.snapshot_size);
  r.p.save(r.p.self, snap);
  must(r.p.step_transition(r.p.self, F, NULL, 0, NULL, NULL, &diag), &diag);
  for (size_t k = 0; k < n; k++) {
    for (int side = 0; side < 2; side++) {
      r.p.restore(r.p.self, snap);
      memset(dx, 0, n * sizeof *dx);
      dx[k] = side ? by : -by;
      must(r.p.inject(r.p.self, dx, &diag), &diag);
      must(r.p.step(r.p.self, &diag), &diag);
      r.p.coordinates(r.p.self, x[side]);
    }
    for (size_t i = 0; i < n; i++)
      ck_assert_double_eq_tol((x[1][i] - x[0][i]) / (2.0 * by), F[i * n + k],
                              2e-4 * fmax(1.0, fabs(F[i * n + k])));
  }
  free(F), free(snap);
  stop(&r);
  bramah_program_free(program);
}

/* Up is against gravity: with y up, the field's y is -z of the machine. A foot comes to rest on a heap where it is. */
EACH_TEST(test_axes, 0, 2)
{
  const double at[2][3] = {{0.3, -0.2, 0}, {0.3, 0, 0.2}}, foot[3] = {0};
  bramah_body body = {.name = "foot", .mass = 10};
  bramah_joint joint = {.name = "lift", .type = BRAMAH_JOINT_PRISMATIC, .parent = "ground", .child = "foot"};
  bramah_contact contact = {.name = "sole",
                            .body = "foot",
                            .n_points = 1,
                            .points = foot,
                            .on_terrain = 1,
                            .stiffness = 1e7,
                            .damping = 2};
  const bramah_heap heap = {.at = {0.4, -0.5}, .height = 1.0};
  bramah_machine m;
  bramah_machine_default(&m);
  m.name = "heap", m.n_bodies = m.n_joints = m.n_contacts = 1;
  m.bodies = &body, m.joints = &joint, m.contacts = &contact;
  m.gravity[_i ? 1 : 2] = -gravity;
  joint.axis[_i ? 1 : 2] = 1.0;
  memcpy(joint.position, at[_i], sizeof joint.position);
  m.terrain.options.nx = NX, m.terrain.options.ny = NY, m.terrain.options.cell = 0.05;
  m.terrain.options.origin[0] = -1.975, m.terrain.options.origin[1] = -1.475; /* (0.3, -0.2) is a centre */
  m.terrain.level = -0.1;
  m.terrain.heaps = &heap, m.terrain.n_heaps = 1;
  const double height = 0.9 - sqrt(0.1 * 0.1 + 0.3 * 0.3) * tan(m.terrain.options.soil.repose);
  joint.initial_position = height + 0.01;
  running r = start(&m);
  must(run_for(&r, 1.5, &diag), &diag);
  ck_assert_double_eq_tol(shown(&r, "lift.position"), height, 1e-3);
  ck_assert_double_gt(shown(&r, "sole.penetration"), 0.0);
  stop(&r);
}

/* ---- soil that moves ---- */

static double mass_of(const bramah_worksite *site)
{
  const bramah_terrain_report r = bramah_terrain_get_report(bramah_worksite_terrain(site));
  return r.field_mass + r.particle_mass - r.added;
}

/* Tyres sink in where they roll, and nowhere else; the same bits again from a snapshot and after a reset; its plant alone leaves the soil as
 * it is. */
TEST(test_ruts)
{
  static car c;
  describe(&c, 0.48);
  for (int k = 0; k < WHEELS; k++) c.tyre[k].on_terrain = 1;
  c.machine.terrain.level = -0.01;
  c.machine.terrain.options.pressing = 0.1;
  running r = start(&c.machine);
  bramah_worksite *site, *second;
  must(bramah_worksite_new(r.c, &diag, &site), &diag);
  ck_assert_int_eq(bramah_worksite_new(r.c, &diag, &second), BRAMAH_E_ARGUMENT);
  r.p = bramah_worksite_plant(site);
  const double mass = mass_of(site);
  void *snap = malloc(r.p.snapshot_size), *end = malloc(r.p.snapshot_size),
       *again = malloc(r.p.snapshot_size);
  must(run_for(&r, 0.3, &diag), &diag);
  r.p.save(r.p.self, snap);
  must(run_for(&r, 0.5, &diag), &diag);
  r.p.save(r.p.self, end);
  ck_assert_double_eq_tol(mass_of(site), mass, 1e-12 * fabs(mass));

  const double *h = bramah_terrain_heights(bramah_worksite_terrain(site));
  double in_rut = 0.0, beside = 0.0;
  for (int i = 0; i < NX; i++)
    for (int j = 0; j < NY; j++) {
      const double y = fabs((0.5 + j) * 0.1 - 0.05 * NY);
      if (y < 0.2 || y > 1.4) beside = fmax(beside, fabs(h[i * NY + j] + 0.01));
      in_rut = fmin(in_rut, h[i * NY + j] + 0.01);
    }
  ck_assert_double_lt(in_rut, -0.01);
  ck_assert_double_eq(beside, 0.0);

  must(run_for(&r, 0.1, &diag), &diag);
  r.p.restore(r.p.self, snap);
  must(run_for(&r, 0.5, &diag), &diag);
  r.p.save(r.p.self, again);
  ck_assert(memcmp(end, again, r.p.snapshot_size) == 0);
  must(bramah_coupled_reset(r.c, &diag), &diag);
  must(run_for(&r, 0.8, &diag), &diag);
  r.p.save(r.p.self, again);
  ck_assert(memcmp(end, again, r.p.snapshot_size) == 0);

  const bramah_plant alone = bramah_coupled_plant(r.c);
  const size_t before = bramah_terrain_get_report(bramah_worksite_terrain(site)).active_cells;
  must(alone.step(alone.self, &diag), &diag);
  ck_assert_uint_eq(bramah_terrain_get_report(bramah_worksite_terrain(site)).active_cells, before);
  free(snap), free(end), free(again);
  bramah_worksite_free(site);
  stop(&r);
}

/* A bucket that is driven into a heap, curls and lifts: what it feels when it is at rest is the weight of what it carries; the energies
 * add up, mass stays; its payload is the soil in it. The same with a bucket that is welded askew to what moves; and with y up, by program. */
EACH_TEST(test_bucket, 0, 3)
{
  const int y_up = _i == 2, welded = _i == 1;
  const double edge[2][3] = {{0.8, 0.4, 0}, {0.8, -0.4, 0}},
               profile[9] = {0, 0, 0, -0.1, 0, 0.3, 0.2, 0, 0.6};
  /* The fifth is there because a machine has to have something that moves freely. */
  bramah_body body[5] = {{.name = "slide", .mass = 50},
                         {.name = "lift", .mass = 50},
                         {.name = "arm", .mass = 100, .inertia = {5, 5, 5}},
                         {.name = "bucket", .mass = 1, .inertia = {1, 1, 1}},
                         {.name = "puck", .mass = 1}};
  bramah_joint joint[5] = {
      {.name = "x", .type = BRAMAH_JOINT_PRISMATIC, .parent = "ground", .child = "slide", .axis = {1, 0, 0}},
      {.name = "z", .type = BRAMAH_JOINT_PRISMATIC, .parent = "slide", .child = "lift", .axis = {0, 0, 1}},
      {.name = "tilt", .type = BRAMAH_JOINT_REVOLUTE, .parent = "lift", .child = "arm", .axis = {0, 1, 0}},
      {.name = "weld", .type = BRAMAH_JOINT_FIXED, .parent = "arm", .child = "bucket"},
      {.name = "f", .type = BRAMAH_JOINT_PRISMATIC, .parent = "ground", .child = "puck", .axis = {1, 0, 0}}};
  const double times[] = {0.0, 0.9, 1.6, 2.0, 2.4, 3.5}, x[] = {0.0, 0.8, 0.8, 0.6, 0.6, 0.6},
               z[] = {0.02, 0.02, 0.25, 0.8, 0.8, 0.8}, tilt[] = {0.0, 0.0, -0.8, -0.8, -0.8, -0.8};
  bramah_motion motion[3] = {{.name = "mx",
                              .joint = "x",
                              .type = BRAMAH_MOTION_TABLE,
                              .n_points = 6,
                              .times = times,
                              .positions = x},
                             {.name = "mz",
                              .joint = "z",
                              .type = BRAMAH_MOTION_TABLE,
                              .n_points = 6,
                              .times = times,
                              .positions = z},
                             {.name = "mt",
                              .joint = "tilt",
                              .type = BRAMAH_MOTION_TABLE,
                              .n_points = 6,
                              .times = times,
                              .positions = tilt}};
  bramah_machine_tool tool = {.name = "scoop",
                              .body = welded ? "bucket" : "arm",
                              .tool = {.has_edge = 1},
                              .n_profile = 3,
                              .profile = profile};
  memcpy(tool.tool.edge, edge, sizeof edge);
  double turned[9];
  if (welded) { /* turned by 90 deg about z, and shifted */
    memcpy(joint[3].rotation, (double[9]){0, -1, 0, 1, 0, 0, 0, 0, 1}, sizeof joint[3].rotation);
    joint[3].position[0] = 0.3;
    for (int k = 0; k < 5; k++) {
      const double *p = k < 2 ? edge[k] : profile + 3 * (k - 2), q[3] = {p[1], -(p[0] - 0.3), p[2]};
      memcpy(k < 2 ? tool.tool.edge[k] : turned + 3 * (k - 2), q, sizeof q);
    }
    tool.profile = turned;
  }
  if (y_up) /* z of the joints is the machine's y */
    memcpy(joint[0].rotation, (double[9]){1, 0, 0, 0, 0, 1, 0, -1, 0}, sizeof joint[0].rotation);
  bramah_machine m;
  bramah_machine_default(&m);
  m.name = "digger", m.n_bodies = m.n_joints = 5, m.n_motions = 3, m.n_tools = 1;
  m.bodies = body, m.joints = joint, m.motions = motion, m.tools = &tool;
  m.gravity[y_up ? 1 : 2] = -gravity;
  const bramah_force forces[2] = {{.name = "teeth", .body = tool.body}, {.name = "push", .body = "puck"}};
  const char *const of[] = {"puck", tool.body, "teeth", "push"};
  const bramah_output_definition defined[3] = {
      {.name = "load", .kind = BRAMAH_OUTPUT_OF_PAYLOAD, .n_of = 2, .of = of},
      {.name = "at_teeth", .kind = BRAMAH_OUTPUT_OF_FORCE, .n_of = 1, .of = of + 2},
      {.name = "at_puck", .kind = BRAMAH_OUTPUT_OF_FORCE, .n_of = 1, .of = of + 3}};
  m.outputs = defined, m.n_outputs = 3, m.forces = forces, m.n_forces = 2;
  joint[1].initial_position = z[0];
  const bramah_heap heap = {.at = {1.6, 0.0}, .height = 0.7};
  m.terrain.options.nx = 50, m.terrain.options.ny = 36, m.terrain.options.cell = 0.1;
  m.terrain.options.origin[0] = -1.0, m.terrain.options.origin[1] = -1.8;
  m.terrain.options.max_particles = 400;
  m.terrain.options.radius = 0.05;
  m.terrain.heaps = &heap, m.terrain.n_heaps = 1;
  m.integrator.step_ns = 1500000;
  running r = start(&m);
  bramah_worksite *site;
  bramah_program *program = NULL;
  if (y_up) must(bramah_program_new_for(r.model, BRAMAH_PROGRAM_STEPS, 0, NULL, &diag, &program), &diag);
  must(bramah_coupled_use(r.c, program, &diag), &diag);
  must(bramah_worksite_new(r.c, &diag, &site), &diag);
  r.p = bramah_worksite_plant(site);
  const double mass = mass_of(site);
  must(run_for(&r, 3.0, &diag), &diag);
  ck_assert_int_eq(bramah_coupled_report(r.c).compiled > 1000, y_up);
  ck_assert_double_eq_tol(mass_of(site), mass, 1e-12 * mass);
  ck_assert_uint_gt(bramah_terrain_get_report(bramah_worksite_terrain(site)).failures, 5);
  double carried = 0.0, force = 0.0, held = 0.0;
  enum { MEAN = 200 };
  for (int k = 0; k < MEAN; k++) {
    must(r.p.step(r.p.self, &diag), &diag);
    carried += shown(&r, "scoop.carried") / MEAN;
    force += shown(&r, y_up ? "scoop.force_y" : "scoop.force_z") / MEAN;
    held += shown(&r, "mz.force") / MEAN;
  }
  ck_assert_double_gt(carried, 60.0);
  ck_assert_double_eq_tol(-force / gravity, carried, 0.03 * carried);
  ck_assert_double_eq_tol(held / gravity, 151.0 + carried, 0.03 * (151.0 + carried));
  ck_assert_double_eq(shown(&r, "load"), shown(&r, "scoop.carried"));
  must(r.p.set_parameter(r.p.self, must_find_parameter(&r.p, "puck.payload"), 8.0, &diag), &diag);
  ck_assert_double_eq(shown(&r, "load"), 8.0 + shown(&r, "scoop.carried"));
  for (size_t i = 0; i < r.p.n_output; i++) { /* what stands for soil is not shown where that is */
    bramah_output_info info;
    bramah_plant_output_info(&r.p, i, &info);
    if (strncmp(info.name, "at_", 3) == 0)
      ck_assert_int_eq(info.hidden, strncmp(info.name, "at_teeth", 8) == 0);
  }
  bramah_worksite_free(site);
  stop(&r);
  bramah_program_free(program);
}

TEST(test_refusals)
{
  static car c;
  describe(&c, 0.5);
  stand_on(&c, bumps);
  bramah_machine m = c.machine;
  m.terrain.options.nx = 0;
  refuses(&m, BRAMAH_E_REFERENCE, "t1", "no terrain", &diag);
  m = c.machine, m.gravity[2] = 0.0;
  refuses(&m, BRAMAH_E_VALUE, "terrain", "gravity", &diag);
  m = c.machine, m.terrain.options.cell = -1.0;
  refuses(&m, BRAMAH_E_VALUE, "cell", "above 0", &diag);
  m = c.machine, m.terrain.options.nx = SIZE_MAX;
  refuses(&m, BRAMAH_E_VALUE, "nx, ny", "65536", &diag);
  m = c.machine, m.terrain.options.max_particles = SIZE_MAX;
  refuses(&m, BRAMAH_E_VALUE, "max_particles", "1000000", &diag);
  c.h[77] = (double)NAN;
  refuses(&c.machine, BRAMAH_E_VALUE, "terrain", "finite", &diag);
}

int main(void) { return run_tests("ground"); }
