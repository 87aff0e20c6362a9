/* SPDX-License-Identifier: MIT */
/* The implicit trapezoidal step of the coupled plant by Newton's method. Source: dissertation 2.55 ff., spec
 * equations 4.
 *
 * Unknowns are the changes over the step, [dz_i ; dp], rather than the values themselves: z' = 2/h dz - z'_k
 * and z'' = 4/h^2 dz - 4/h z'_k - z''_k then lose no digits to cancellation. The spools follow a linear
 * equation of their own and are advanced before the iteration. Commands are held over the step. */
#include "lib/plant/formulation.h"
#include "lib/base/diag.h"
#include "lib/linalg/dense.h"

#include <math.h>
#include <string.h>

enum { HALVINGS = 8 };

static size_t n_mechanical(const bramah_coupled *c) { return c->formulation->n_mechanical(c->model); }

static size_t n_unknowns(const bramah_coupled *c) { return n_mechanical(c) + c->model->circuit.n_volumes; }

/* Candidate positions as the change dz says; coordinates that are no unknowns follow the correction. */
static void set_positions(const bramah_coupled *c, const bramah__eval *eval, const double *change,
                          const double *correction, bramah__state *next)
{
  if (c->formulation->follow) c->formulation->follow(c->model, eval, correction, next);
  for (size_t k = 0; k < n_mechanical(c); k++) {
    const size_t j = c->formulation->joint(c, k);
    next->z[j] = c->state.z[j] + change[k];
  }
}

/* Rates and pressures of the candidate by the trapezoidal rule. */
static void set_rates(const bramah_coupled *c, const double *change, bramah__state *next,
                      const bramah__eval *eval)
{
  const size_t nm = n_mechanical(c);
  for (size_t k = 0; k < nm; k++) {
    const size_t j = c->formulation->joint(c, k);
    next->zd[j] = 2.0 / c->model->h * change[k] - c->state.zd[j];
  }
  if (c->formulation->complete_rates) c->formulation->complete_rates(c->model, next, eval);
  for (size_t i = 0; i < c->model->circuit.n_volumes; i++) next->p[i] = c->state.p[i] + change[nm + i];
}

/* Accelerations of the candidate by the trapezoidal rule. */
static void set_accelerations(const bramah_coupled *c, const double *change, bramah__state *next,
                              const bramah__eval *eval)
{
  const double h = c->model->h;
  for (size_t k = 0; k < n_mechanical(c); k++) {
    const size_t j = c->formulation->joint(c, k);
    c->zdd_i[k] = 4.0 / (h * h) * change[k] - 4.0 / h * c->state.zd[j] - c->state.zdd[j];
  }
  c->formulation->accelerations(c->model, eval, c->zdd_i, next->zdd);
}

/* Taylor's guess of the next state (spec equations 4), and the spools, which need no iteration. */
static void predict(bramah_coupled *c)
{
  const bramah_model *model = c->model;
  const size_t n = model->n, nm = n_mechanical(c);
  const double h = model->h;
  bramah__state_copy(&c->state, &c->next);
  for (size_t j = 0; j < n; j++) c->next.z[j] += h * (c->state.zd[j] + 0.5 * h * c->state.zdd[j]);
  for (size_t k = 0; k < nm; k++) {
    const size_t j = c->formulation->joint(c, k);
    c->newton.change[k] = h * (c->state.zd[j] + 0.5 * h * c->state.zdd[j]);
  }
  /* After a correction by the filter the pressures relax within microseconds; their rates then say nothing
   * about a whole step. A guess within the laminar range costs half the iterations
   * (test/bench/bench_filter.c). */
  const double longest = 0.1 * model->circuit.laminar_pressure;
  for (size_t i = 0; i < model->circuit.n_volumes; i++)
    c->newton.change[nm + i] = fmin(fmax(h * c->state.pd[i], -longest), longest);
  for (size_t i = 0; i < model->circuit.n_valves; i++) {
    const bramah__valve *valve = &model->circuit.valve[i];
    c->next.U[i] = bramah__spool_step(valve, c->state.U[i], c->state.u[valve->input], h);
  }
}

/* Friction states at the candidate's velocities. */
static void step_friction(const bramah_coupled *c, bramah__state *next, const bramah__eval *eval)
{
  for (size_t i = 0; i < c->model->circuit.n_cylinders; i++) {
    const bramah__cylinder *cylinder = &c->model->circuit.cylinder[i];
    const size_t first = cylinder->first_state;
    bramah__friction_step(&cylinder->friction, c->model->h, eval->v[i], c->state.x + first,
                          c->state.xd + first, next->x + first);
  }
}

/* Place, move and load the candidate. */
static bramah_status place_candidate(bramah_coupled *c, const double *change, bramah__state *next,
                                     bramah__eval *eval)
{
  const bramah_status status = c->formulation->place(c->model, next, eval);
  if (status != BRAMAH_OK) return status;
  set_rates(c, change, next, eval);
  bramah__evaluate_motion(c->model, next, eval);
  step_friction(c, next, eval);
  bramah__evaluate_forces(c->model, next->p, next->x, next->xd, eval);
  return BRAMAH_OK;
}

/* Mechanical part of the residual: accelerations of the trapezoidal rule put into the equations of motion. */
static void mechanical_residual(bramah_coupled *c, const double *change, bramah__state *next,
                                bramah__eval *eval, double *f)
{
  set_accelerations(c, change, next, eval);
  c->formulation->imbalance(c->model, next, eval, next->zdd, f);
}

/* Hydraulic part: pd of the trapezoidal rule minus u0(p, z, z'). */
static void hydraulic_residual(bramah_coupled *c, const double *change, const double *p, bramah__state *next,
                               bramah__eval *eval, double *f)
{
  const size_t nm = n_mechanical(c);
  bramah__evaluate_rates(c->model, p, next->U, eval, next->pd);
  for (size_t i = 0; i < c->model->circuit.n_volumes; i++)
    f[nm + i] = 2.0 / c->model->h * change[nm + i] - c->state.pd[i] - next->pd[i];
}

/* Spec equations 4: eps = 1e-8 max(1e-2, |x|). */
static double difference_step(double x) { return 1e-8 * fmax(1e-2, fabs(x)); }

/* The part of the mechanical residual whose tangent is taken by differences. Stiff constraint forces are not:
 * their tangent is known, and its error would drown the inertia of the free directions. */
static void differenced_residual(bramah_coupled *c, const double *change, bramah__state *next,
                                 bramah__eval *eval, double *f)
{
  if (!c->formulation->differenced) {
    mechanical_residual(c, change, next, eval, f);
    return;
  }
  set_accelerations(c, change, next, eval);
  c->formulation->differenced(c->model, next, eval, next->zdd, f);
}

static void position_column(bramah_coupled *c, const double *change, size_t k, double *J)
{
  const size_t nx = n_unknowns(c), nm = n_mechanical(c);
  bramah__newton *newton = &c->newton;
  bramah__state_copy(&c->next, &c->probe_state);
  const double eps = difference_step(c->next.z[c->formulation->joint(c, k)]);
  memcpy(newton->correction, change, nx * sizeof(double));
  newton->correction[k] += eps;
  double *move = newton->g;
  for (size_t l = 0; l < nm; l++) move[l] = l == k ? eps : 0.0;
  set_positions(c, c->trial, newton->correction, move, &c->probe_state);
  if (place_candidate(c, newton->correction, &c->probe_state, c->probe) != BRAMAH_OK) {
    for (size_t r = 0; r < nx; r++) J[r * nx + k] = NAN; /* the factorisation reports it */
    return;
  }
  differenced_residual(c, newton->correction, &c->probe_state, c->probe, newton->g);
  hydraulic_residual(c, newton->correction, c->probe_state.p, &c->probe_state, c->probe, newton->g);
  for (size_t r = 0; r < nx; r++) J[r * nx + k] = (newton->g[r] - newton->base[r]) / eps;
}

/* A pressure reaches the cylinder forces and the flows only: no new pose. */
static void pressure_column(bramah_coupled *c, const double *change, size_t i, double *J)
{
  const bramah_model *model = c->model;
  const size_t nx = n_unknowns(c), nm = n_mechanical(c), nc = model->circuit.n_cylinders;
  bramah__newton *newton = &c->newton;
  double *p = c->probe_state.p;
  memcpy(p, c->next.p, model->circuit.n_volumes * sizeof(double));
  memcpy(newton->correction, change, nx * sizeof(double));
  const double eps = difference_step(p[i]);
  p[i] += eps;
  newton->correction[nm + i] += eps;
  for (size_t k = 0; k < nm; k++) {
    double sum = 0.0;
    for (size_t q = 0; q < nc; q++)
      sum -= c->formulation->arm(model, c->trial, q)[k] *
             (bramah__pressure_force(&model->circuit, q, p) - c->trial->friction[q] + c->trial->stop[q] -
              c->trial->force[q]);
    J[k * nx + nm + i] = sum / eps;
  }
  memcpy(c->probe_state.U, c->next.U, model->circuit.n_valves * sizeof(double));
  hydraulic_residual(c, newton->correction, p, &c->probe_state, c->trial, newton->g);
  for (size_t r = nm; r < nx; r++) J[r * nx + nm + i] = (newton->g[r] - newton->f[r]) / eps;
}

void bramah__step_tangent(bramah_coupled *c, const double *change, double *J)
{
  const size_t nm = n_mechanical(c), np = c->model->circuit.n_volumes;
  memcpy(c->newton.base, c->newton.f, n_unknowns(c) * sizeof(double));
  if (c->formulation->differenced) differenced_residual(c, change, &c->next, c->trial, c->newton.base);
  for (size_t k = 0; k < nm; k++) position_column(c, change, k, J);
  if (c->formulation->add_tangent) c->formulation->add_tangent(c, J, n_unknowns(c));
  for (size_t i = 0; i < np; i++) pressure_column(c, change, i, J);
}

/* correction = -J^-1 f, columns scaled to typical sizes of the unknowns and rows to their largest entry: the
 * unknowns span 1e-7 to 1e7. */
static bramah_status solve_correction(bramah__newton *newton, size_t nx)
{
  for (size_t r = 0; r < nx; r++) {
    double largest = 0.0;
    for (size_t k = 0; k < nx; k++) {
      newton->J[r * nx + k] *= newton->scale[k];
      largest = fmax(largest, fabs(newton->J[r * nx + k]));
    }
    const double row = largest > 0.0 ? 1.0 / largest : 1.0;
    for (size_t k = 0; k < nx; k++) newton->J[r * nx + k] *= row;
    newton->weight[r] = row;
    newton->correction[r] = -row * newton->f[r];
  }
  if (bramah__lu_factor(nx, newton->J, newton->pivot)) return BRAMAH_E_SINGULAR;
  bramah__lu_solve(nx, newton->J, newton->pivot, newton->correction);
  for (size_t k = 0; k < nx; k++) {
    newton->correction[k] *= newton->scale[k];
    if (!isfinite(newton->correction[k])) return BRAMAH_E_NOT_FINITE;
  }
  return BRAMAH_OK;
}

/* Index of the unknown whose correction exceeds its tolerance most; nx when none does. */
static size_t worst_unknown(const bramah_coupled *c)
{
  const bramah_model *model = c->model;
  const size_t nx = n_unknowns(c), nm = n_mechanical(c);
  size_t worst = nx;
  double excess = 1.0;
  for (size_t k = 0; k < nx; k++) {
    const double tolerance = k < nm ? model->position_tolerance : model->pressure_tolerance;
    const double ratio = fabs(c->newton.correction[k]) / tolerance;
    if (!(ratio <= excess)) excess = ratio, worst = k;
  }
  return worst;
}

static const char *unknown_name(const bramah_coupled *c, size_t k)
{
  const bramah_model *model = c->model;
  if (k < n_mechanical(c)) return model->joint_name[c->formulation->joint(c, k)];
  return model->volume_name[k - n_mechanical(c)];
}

/* Move the candidate by `part` of the correction and evaluate it there. */
static bramah_status move_candidate(bramah_coupled *c, double part)
{
  const size_t nx = n_unknowns(c);
  bramah__newton *newton = &c->newton;
  for (size_t k = 0; k < nx; k++) {
    newton->move[k] = part * newton->correction[k];
    newton->change[k] += newton->move[k];
  }
  set_positions(c, c->trial, newton->change, newton->move, &c->next);
  return place_candidate(c, newton->change, &c->next, c->trial);
}

static void residual(bramah_coupled *c)
{
  mechanical_residual(c, c->newton.change, &c->next, c->trial, c->newton.f);
  hydraulic_residual(c, c->newton.change, c->next.p, &c->next, c->trial, c->newton.f);
}

bramah_status bramah__step_residual(bramah_coupled *c, const double *change, double *f)
{
  const bramah_status status = bramah__refresh(c, NULL);
  if (status != BRAMAH_OK) return status;
  predict(c);
  memcpy(c->newton.change, change, n_unknowns(c) * sizeof(double));
  set_positions(c, c->now, change, change, &c->next);
  const bramah_status placed = place_candidate(c, change, &c->next, c->trial);
  if (placed != BRAMAH_OK) return placed;
  residual(c);
  memcpy(f, c->newton.f, n_unknowns(c) * sizeof(double));
  return BRAMAH_OK;
}

/* Size of a correction in units of the tolerances, squared. */
static double size_of(const bramah_coupled *c, const double *correction)
{
  const size_t nx = n_unknowns(c), nm = n_mechanical(c);
  double sum = 0.0;
  for (size_t k = 0; k < nx; k++) {
    const double part =
        correction[k] / (k < nm ? c->model->position_tolerance : c->model->pressure_tolerance);
    sum += part * part;
  }
  return sum;
}

/* Size of the correction that the present residual would ask for with the factors of the last tangent (the
 * natural monotonicity test of P. Deuflhard): unlike the residual itself it does not mind stiff constraints
 * or units. */
static double next_size(bramah_coupled *c)
{
  bramah__newton *newton = &c->newton;
  const size_t nx = n_unknowns(c);
  for (size_t r = 0; r < nx; r++) newton->g[r] = -newton->weight[r] * newton->f[r];
  bramah__lu_solve(nx, newton->J, newton->pivot, newton->g);
  for (size_t k = 0; k < nx; k++) newton->g[k] *= newton->scale[k];
  return size_of(c, newton->g);
}

/* Take the correction; halve it while it does not bring the solution nearer. A square-root flow is why: far
 * from its root Newton throws sgn(x) sqrt|x| from x to -x and back for ever. Where the dependent positions
 * cannot be closed the way is also too long. Leaves the residual of the new candidate in newton->f. */
static bramah_status correct(bramah_coupled *c)
{
  const double before = size_of(c, c->newton.correction);
  bramah_status status = move_candidate(c, 1.0);
  double part = 1.0;
  for (int halving = 0;; halving++) {
    if (status == BRAMAH_OK) residual(c);
    const int better = status == BRAMAH_OK && next_size(c) < before;
    if (better || halving == HALVINGS) return status;
    part *= 0.5;
    status = move_candidate(c, -part);
  }
}

static bramah_status fail_at(const bramah_coupled *c, bramah_status status, const char *thing,
                             const char *message, bramah_diag *diag)
{
  bramah__fail(diag, status, thing, message);
  bramah__add_text(diag, " in the step that starts at ");
  bramah__add_number(diag, (double)*c->state.time_ns * 1e-9, 9);
  bramah__add_text(diag, " s");
  return status;
}

static bramah_status name_failure(const bramah_coupled *c, bramah_status status, bramah_diag *diag)
{
  if (status == BRAMAH_E_CLOSURE)
    return fail_at(c, status, bramah__worst_loop(c->model, c->trial), "the loop cannot be closed", diag);
  const char *reason, *joint = bramah__singular_joint(c->model, c->next.z, &reason);
  if (status == BRAMAH_E_SINGULAR && joint) return fail_at(c, status, joint, reason, diag);
  if (status == BRAMAH_E_SINGULAR)
    return fail_at(c, status, c->model->name, "the equations are singular", diag);
  return fail_at(c, status, c->model->name, "the state is no longer finite", diag);
}

/* The part of the tangent that the projections need, before it is scaled and factored. */
static void keep_mechanical_tangent(bramah_coupled *c)
{
  const size_t nx = n_unknowns(c), nm = n_mechanical(c);
  for (size_t k = 0; k < nm; k++) memcpy(c->newton.Jzz + k * nm, c->newton.J + k * nx, nm * sizeof(double));
}

/* Do the constraints hold well enough? Improves the multipliers, which changes the residual. */
static int constraints_hold(bramah_coupled *c)
{
  if (!c->formulation->update) return 1;
  const int hold = c->formulation->update(c);
  residual(c);
  return hold;
}

static bramah_status iterate(bramah_coupled *c, int *iterations, bramah_diag *diag)
{
  bramah__newton *newton = &c->newton;
  const size_t nx = n_unknowns(c);
  residual(c);
  for (*iterations = 1;; ++*iterations) {
    bramah__step_tangent(c, newton->change, newton->J);
    if (c->formulation->finish) keep_mechanical_tangent(c);
    bramah_status status = solve_correction(newton, nx);
    if (status != BRAMAH_OK) return name_failure(c, status, diag);
    const size_t worst = worst_unknown(c);
    status = worst == nx ? move_candidate(c, 1.0) : correct(c);
    if (status != BRAMAH_OK) return name_failure(c, status, diag);
    const int hold = constraints_hold(c);
    if (worst == nx && hold) return BRAMAH_OK;
    if (*iterations == c->model->max_iterations)
      return fail_at(c, BRAMAH_E_NO_CONVERGENCE,
                     worst == nx ? bramah__worst_loop(c->model, c->trial) : unknown_name(c, worst),
                     "the Newton iteration does not converge", diag);
  }
}

/* Accelerations and pressure rates of the converged step, as the trapezoidal rule has them, and what the
 * formulation does after the iteration. */
static bramah_status finish(bramah_coupled *c)
{
  const bramah_model *model = c->model;
  const size_t nm = n_mechanical(c);
  set_accelerations(c, c->newton.change, &c->next, c->trial);
  if (c->formulation->finish) {
    const bramah_status status = c->formulation->finish(c);
    if (status != BRAMAH_OK) return status;
  }
  /* Formulations that do not close the loops have left the independent coordinates aside: evaluate them for
   * the filter. */
  if (!c->formulation->complete_rates) {
    const bramah_status status = bramah__evaluate(model, &c->next, c->trial);
    if (status != BRAMAH_OK) return status;
  }
  for (size_t i = 0; i < model->circuit.n_volumes; i++)
    c->next.pd[i] = 2.0 / model->h * c->newton.change[nm + i] - c->state.pd[i];
  return BRAMAH_OK;
}

static bramah_status check_strokes(const bramah_coupled *c, bramah_diag *diag)
{
  for (size_t i = 0; i < c->model->circuit.n_cylinders; i++) {
    const bramah__cylinder *cylinder = &c->model->circuit.cylinder[i];
    const double s = c->trial->s[i];
    if (cylinder->stop.stiffness > 0.0) continue;
    if (bramah__piston_chamber(cylinder, s) > 0.0 && bramah__rod_chamber(cylinder, s) > 0.0) continue;
    const int turns = c->model->line[i].is_coordinate;
    fail_at(c, BRAMAH_E_VALUE, c->model->cylinder_name[i],
            turns ? "the rotary actuator has left its range" : "the piston has left its cylinder", diag);
    bramah__add_text(diag, turns ? ": angle " : ": stroke ");
    bramah__add_number(diag, s, 6);
    bramah__add_text(diag, turns ? " rad" : " m");
    return BRAMAH_E_VALUE;
  }
  return BRAMAH_OK;
}

/* Work is summed as mean force times stroke: the sum for which the trapezoidal rule balances kinetic energy
 * exactly in the linear case (v'(k+1)^2 - v'(k)^2 = (a(k) + a(k+1)) dz). The sum of powers is as exact but
 * misses that balance. */
static void commit(bramah_coupled *c, int iterations)
{
  for (size_t i = 0; i < c->model->circuit.n_cylinders; i++)
    c->next.work[i] += 0.5 * (c->now->force[i] + c->trial->force[i]) * (c->trial->s[i] - c->now->s[i]);
  *c->next.time_ns += c->model->step_ns;
  bramah__state_copy(&c->next, &c->state);
  bramah__eval *swap = c->now;
  c->now = c->trial;
  c->trial = swap;
  c->report.steps++;
  c->report.iterations += (uint64_t)iterations;
  if ((uint32_t)iterations > c->report.max_iterations) c->report.max_iterations = (uint32_t)iterations;
}

bramah_status bramah__trapezoidal_step(bramah_coupled *c, bramah_diag *diag)
{
  bramah_status status = bramah__refresh(c, diag);
  if (status != BRAMAH_OK) return status;
  predict(c);
  status = place_candidate(c, c->newton.change, &c->next, c->trial);
  if (status != BRAMAH_OK) return name_failure(c, status, diag);
  int iterations = 0;
  status = iterate(c, &iterations, diag);
  if (status != BRAMAH_OK) return status;
  status = check_strokes(c, diag);
  if (status != BRAMAH_OK) return status;
  status = finish(c);
  if (status != BRAMAH_OK) return name_failure(c, status, diag);
  commit(c, iterations);
  return BRAMAH_OK;
}
