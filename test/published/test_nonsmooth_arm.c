/* SPDX-License-Identifier: MIT */
/* The arm of Kikuuwe et al. (2022), 4.3: the scheme (52) with a step of 1 ms against the specification's rows
 * (nonsmooth-arm.json), its convergence to the differential equations (50), and the coupled plant beside
 * both.
 */
#include "bramah/coupled.h"
#include "lib/hydraulics/metered.h"
#include "test/support/run.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* t, theta, omega, l, p, v, f */
enum { COLUMNS = 7 };
static const double rows[][COLUMNS] = {
    {0.0, -0.6108652381980153, 0.0, 1.8582509185837603, 1.8582509185837603, 0.0, 0.0},
    {0.4, -0.6169340129419523, -0.00446243463667235, 1.8598100120727665, 1.8582509185837603, 0.0,
     -80807.72423006977},
    {0.8, -0.6207338589248022, -0.01973609719137967, 1.8607790029785398, 1.8582509185837603, 0.0,
     -138950.50633805362},
    {1.2, -0.620081698572122, -0.006693092914145615, 1.860613091652358, 1.8582509185837603, 0.0,
     -122367.62547824798},
    {1.6, -0.615930407440919, -0.018701250626836627, 1.859553158009483, 1.8582509185837603, 0.0,
     -77086.74390407566},
    {2.0, -0.6184321511172789, -0.028828196582809155, 1.8601927122028186, 1.8582509185837603, 0.0,
     -115479.7671451102},
    {2.4, -0.6187076398821869, -0.002882609791405554, 1.8602629920132687, 1.8582509185837603, 0.0,
     -102441.74686397932},
    {2.8000000000000003, -0.6146125133572825, 0.001464510773616379, 1.8592152798418333, 1.8582509185837603,
     0.0, -47278.46864958086},
    {3.2, -0.5202817913735368, 0.6975918284420394, 1.8333122394734167, 1.8308704011484294,
     -0.17967506814506054, -61551.08195410343},
    {3.6, -0.30865675476352455, 0.4892038424193316, 1.7632454602675924, 1.761506412486133,
     -0.1760795955012364, -76228.82515218819},
    {4.0, -0.12762982179459048, 0.44316602929950955, 1.6909709055956357, 1.690047630473931,
     -0.18582663729956678, -35750.588482507155},
    {4.4, 0.03300763921540834, 0.381113946255132, 1.6181577425981015, 1.6169873332959157,
     -0.18090317253515548, -56469.633863063296},
    {4.8, 0.17519945308542653, 0.35017311896208636, 1.5476107593453503, 1.5460734498815556,
     -0.17754330769780705, -70289.34040750802},
    {5.2, 0.3132063758686747, 0.34241420031306957, 1.4743662010203176, 1.4734259823237488,
     -0.1845688773372411, -41096.43122444861},
    {5.6000000000000005, 0.4461859296997788, 0.31799150263534465, 1.4000641123915454, 1.3991195700169858,
     -0.18247938404177969, -49897.1237369327},
    {6.0, 0.5713440895976768, 0.30515728128124703, 1.3275245361342325, 1.3264991635609353, 0.0,
     396987.05811589403},
    {6.4, 0.568061103665653, -0.010307457680550889, 1.3294529893339326, 1.3264991635609353, 0.0,
     -162823.3128291079},
    {6.8, 0.5639230820364242, -0.010384400224509283, 1.3318819799789487, 1.3264991635609353, 0.0,
     -284373.70051391795},
    {7.2, 0.559753272591442, -0.010464645770391209, 1.3343276629048526, 1.3264991635609353, 0.0,
     -406763.07269100763},
    {7.6000000000000005, 0.5416215791688657, -0.2727872828378134, 1.3449385593604788, 1.3353510256871655,
     0.1590956464173827, -480000.0},
    {8.0, -0.29147290563353523, -5.491605587756276, 1.7568573430480316, 1.7472573475735642,
     2.0629426997989553, -480000.0}};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

static const double valve = 0.6 * 1e-4 * 0.04850712500726659; /* C a sqrt(2/rho), rho = 850 kg/m^3 */
static const double stiffness = 5e7, damping = 2.5e6, theta0 = -0.6108652381980153;

static bramah__metered arm_cylinder(void)
{
  return (bramah__metered){.A_h = 0.024,
                           .A_r = 0.012,
                           .P_hM = 42e6,
                           .P_rM = 40e6,
                           .c_ph = valve,
                           .c_tr = valve,
                           .c_pr = valve,
                           .c_th = valve};
}

static bramah__pump_line arm_line(void) { return (bramah__pump_line){0.5 / 60.0, 36e6, 0.3 * valve}; }

/* Input of the specification. */
static bramah__metering openings(double t)
{
  const double u = t >= 3.0 - 1e-9 && t < 6.0 - 1e-9 ? 0.4 : 0.0;
  return (bramah__metering){.pr = u, .th = u};
}

static double tip_force(double t)
{
  if (t >= 6.0 - 1e-9) return -70000.0 * (t - 6.0);
  return 3000.0 * sin(2.0 * pi * 0.8 * t) + 1500.0 * sin(2.0 * pi * 2.3 * t);
}

/* Stroke (56) and its derivative by theta. */
static double stroke(double theta, double *slope)
{
  const double m[2] = {-0.6 * cos(theta - pi / 4), -0.6 * sin(theta - pi / 4)};
  const double d[2] = {m[0] + 0.6, m[1] + 1.2}, l = sqrt(d[0] * d[0] + d[1] * d[1]);
  *slope = (d[1] * m[0] - d[0] * m[1]) / l;
  return l;
}

/* (55) */
static double acceleration(double t, double theta, double f)
{
  double slope;
  stroke(theta, &slope);
  return (-1.5 * cos(theta) * 2000.0 * 9.81 + slope * f + 3.0 * cos(theta) * tip_force(t)) / 9500.0;
}

/* The element K [N/m], B [N s/m] between the actuator at stroke x and its load at stroke l [m]. */
typedef struct element_between {
  double K, B;
  double x, l;
} element_between;

/* One implicit Euler step h [s] to the stroke l of the load (52): the force on the load [N], and the velocity v of the
 * actuator over the step. */
static double element_step(const bramah__metered *actuator, const bramah__metering *u,
                           const bramah__pump_line *line, double h, double l, element_between *state,
                           double *v)
{
  const double beta = state->B + h * state->K;
  const double fbar = state->K * (state->x - l) - state->B * (l - state->l) / h;
  *v = bramah__lambda(actuator, u, line, beta, fbar);
  state->x += h * *v;
  state->l = l;
  return fbar + beta * *v;
}

/* The specification's loop: (52), then theta by the semi-implicit Euler rule. Stops before the step that
 * begins at t_end; leaves theta, omega, l, p, v, f there. */
typedef struct arm {
  double theta, omega;
  element_between element;
  double v, f;
} arm;

static arm arm_at_start(void)
{
  double slope;
  const double l = stroke(theta0, &slope);
  return (arm){theta0, 0.0, {stiffness, damping, l, l}, 0.0, 0.0};
}

static void arm_step(arm *a, double t, double h)
{
  const bramah__metered cylinder = arm_cylinder();
  const bramah__metering u = openings(t);
  const bramah__pump_line line = arm_line();
  double slope;
  a->f = element_step(&cylinder, &u, &line, h, stroke(a->theta, &slope), &a->element, &a->v);
}

static void arm_move(arm *a, double t, double h)
{
  a->omega += h * acceleration(t, a->theta, a->f);
  a->theta += h * a->omega;
}

static arm arm_run(double h, double t_end)
{
  arm a = arm_at_start();
  const long n = lround(t_end / h);
  for (long k = 0; k < n; k++) {
    arm_step(&a, (double)k * h, h);
    arm_move(&a, (double)k * h, h);
  }
  return a;
}

TEST(test_published_scheme)
{
  arm a = arm_at_start();
  size_t row = 0;
  for (long k = 0; k <= 8000; k++) {
    arm_step(&a, 1e-3 * (double)k, 1e-3);
    if (k == lround(1e3 * rows[row][0])) {
      const double values[COLUMNS] = {rows[row][0], a.theta, a.omega, a.element.l, a.element.x, a.v, a.f};
      for (int i = 1; i < COLUMNS; i++)
        ck_assert_msg(fabs(values[i] - rows[row][i]) <= 1e-9 * fmax(1.0, fabs(rows[row][i])),
                      "row %zu, column %d: %.15g, not %.15g", row, i, values[i], rows[row][i]);
      row++;
    }
    arm_move(&a, 1e-3 * (double)k, 1e-3);
  }
  ck_assert_uint_eq(row, N_ROWS);
}

/* ---- the differential equations (50), by the classical Runge-Kutta method ---- */

static void rates(double t, const double y[3], double dy[3])
{
  const bramah__metered cylinder = arm_cylinder();
  const bramah__metering u = openings(t);
  const bramah__pump_line line = arm_line();
  double slope;
  const double l = stroke(y[0], &slope), fbar = stiffness * (y[2] - l) - damping * slope * y[1];
  dy[0] = y[1];
  dy[2] = bramah__lambda(&cylinder, &u, &line, damping, fbar);
  dy[1] = acceleration(t, y[0], fbar + damping * dy[2]);
}

/* Inputs jump at 3 s and 6 s, which are ends of steps: the last stage must not see what comes. */
static void runge_kutta(double t, double h, double y[3])
{
  double k[4][3], z[3];
  const double at[4] = {0.0, 0.5, 0.5, 1.0 - 1e-6};
  for (int s = 0; s < 4; s++) {
    const double part = s == 3 ? 1.0 : 0.5;
    for (int i = 0; i < 3; i++) z[i] = s ? y[i] + part * h * k[s - 1][i] : y[i];
    rates(t + at[s] * h, z, k[s]);
  }
  for (int i = 0; i < 3; i++) y[i] += h / 6.0 * (k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i]);
}

enum { N_TIMES = 4 };
static const double times[N_TIMES] = {2.0, 4.0, 5.9, 7.0};

static void reference_at(double out[N_TIMES][3])
{
  double slope, y[3] = {theta0, 0.0, 0.0};
  y[2] = stroke(theta0, &slope);
  const double h = 2.5e-5;
  int next = 0;
  for (long k = 0; next < N_TIMES; k++) {
    if (k == lround(times[next] / h)) {
      for (int i = 0; i < 3; i++) out[next][i] = y[i];
      next++;
    }
    runge_kutta((double)k * h, h, y);
  }
}

TEST(test_scheme_converges)
{
  double exact[N_TIMES][3];
  reference_at(exact);
  for (int i = 0; i < N_TIMES; i++) {
    double error[3];
    for (int level = 0; level < 3; level++)
      error[level] = arm_run(1e-3 / (double)(1 << level), times[i]).theta - exact[i][0];
    ck_assert_msg(fabs(error[0]) < 5e-3, "at %g s: %g", times[i], error[0]);
    for (int level = 0; level < 2; level++) {
      const double ratio = error[level] / error[level + 1];
      ck_assert_msg(ratio > 1.7 && ratio < 2.3, "at %g s: errors %g, %g, %g", times[i], error[0], error[1],
                    error[2]);
    }
  }
}

/* ---- the coupled plant ---- */

typedef struct machine {
  bramah_machine machine;
  bramah_body body;
  bramah_joint joint;
  bramah_supply tank;
  bramah_pump_line line;
  bramah_metered_cylinder cylinder;
  bramah_input input;
} machine;

static void describe(machine *m, int64_t step_ns)
{
  m->body =
      (bramah_body){.name = "arm", .mass = 2000.0, .centre_of_mass = {1.5, 0, 0}, .inertia = {5e3, 5e3, 5e3}};
  m->joint = (bramah_joint){.name = "arm",
                            .type = BRAMAH_JOINT_REVOLUTE,
                            .parent = "ground",
                            .child = "arm",
                            .axis = {0, 0, 1},
                            .initial_position = theta0};
  m->tank = (bramah_supply){.name = "tank", .pressure = 1e5};
  m->line = (bramah_pump_line){.name = "pump",
                               .tank = "tank",
                               .flow = 0.5 / 60.0,
                               .set_pressure = 36e6,
                               .unloading = {.flow_coefficient = valve, .opening = 0.3}};
  const double side = 0.6 * sqrt(0.5);
  m->cylinder = (bramah_metered_cylinder){.name = "boom",
                                          .body = {"ground", "arm"},
                                          .point = {{-0.6, -1.2, 0}, {-side, side, 0}},
                                          .pump_line = "pump",
                                          .piston_area = 0.024,
                                          .rod_area = 0.012,
                                          .piston_relief = 42e6,
                                          .rod_relief = 40e6,
                                          .flow_coefficient = {valve, valve, valve, valve},
                                          .spool = {.input = "boom", .limit = 10.0},
                                          .stiffness = stiffness,
                                          .damping = damping};
  m->input = (bramah_input){.name = "boom"};
  m->machine = (bramah_machine){.name = "arm",
                                .gravity = {0, -9.81, 0},
                                .n_bodies = 1,
                                .bodies = &m->body,
                                .n_joints = 1,
                                .joints = &m->joint,
                                .n_supplies = 1,
                                .supplies = &m->tank,
                                .n_inputs = 1,
                                .inputs = &m->input,
                                .n_pump_lines = 1,
                                .pump_lines = &m->line,
                                .n_metered_cylinders = 1,
                                .metered_cylinders = &m->cylinder,
                                .integrator = {.step_ns = step_ns}};
}

static size_t load_parameter(const bramah_plant *p)
{
  for (size_t i = 0;; i++) {
    bramah_parameter_info info;
    p->parameter_info(p->self, i, &info);
    if (strcmp(info.name, "arm.load") == 0) return i;
  }
}

/* The force at the tip as a torque, at the middle of the step. */
static double theta_of_plant(int64_t step_ns, const double *at, double *out)
{
  machine m;
  bramah_diag diag;
  const bramah_model *model;
  bramah_coupled *coupled;
  const double h = 1e-9 * (double)step_ns;
  double theta = theta0, rate = 0.0;
  int next = 0;
  describe(&m, step_ns);
  ck_assert_int_eq(bramah_model_new(&m.machine, &diag, &model), BRAMAH_OK);
  ck_assert_int_eq(bramah_coupled_new(model, &diag, &coupled), BRAMAH_OK);
  const bramah_plant p = bramah_coupled_plant(coupled);
  const size_t load = load_parameter(&p);
  for (long k = 0; next < N_TIMES; k++) {
    const double t = (double)k * h, mid = theta + 0.5 * h * rate;
    if (k == lround(at[next] / h)) out[next++] = theta;
    const double u = -10.0 * openings(t).pr;
    ck_assert_int_eq(p.set_inputs(p.self, &u, &diag), BRAMAH_OK);
    ck_assert_int_eq(p.set_parameter(p.self, load, 3.0 * cos(mid) * tip_force(t + 0.5 * h), &diag),
                     BRAMAH_OK);
    ck_assert_msg(p.step(p.self, &diag) == BRAMAH_OK, "%s: %s", diag.thing, diag.message);
    theta = p.output(p.self, 0);
    rate = p.output(p.self, 1);
  }
  bramah_coupled_free(coupled);
  bramah_model_free(model);
  return theta;
}

/* By the trapezoidal rule, in steps of 10 ms and of 1 ms. */
TEST(test_plant_solves_the_same_equations)
{
  double exact[N_TIMES][3], coarse[N_TIMES], fine[N_TIMES];
  reference_at(exact);
  theta_of_plant(10000000, times, coarse);
  theta_of_plant(1000000, times, fine);
  for (int i = 0; i < N_TIMES; i++) {
    ck_assert_msg(fabs(coarse[i] - exact[i][0]) < 1e-4, "10 ms at %g s: %g", times[i],
                  coarse[i] - exact[i][0]);
    ck_assert_msg(fabs(fine[i] - exact[i][0]) < 3e-6, "1 ms at %g s: %g", times[i], fine[i] - exact[i][0]);
  }
}

int main(void) { return run_tests("nonsmooth arm"); }
