/* SPDX-License-Identifier: MIT */
/* The implicit trapezoidal step of the coupled plant by Newton's method. Source: dissertation 2.55 ff., spec
 * equations 4.
 *
 * Unknowns are the changes over the step, [dz_i ; dp], rather than the values themselves: z' = 2/h dz - z'_k
 * and z'' = 4/h^2 dz - 4/h z'_k - z''_k then lose no digits to cancellation. The spools follow a linear
 * equation of their own and are advanced before the iteration. Commands are held over the step. */
#include "lib/graph/equation.h" /* numbers in place: strokes are checked in every step */
#include "lib/plant/compiled.h"
#include "lib/plant/residual_derivative.h"
#include "lib/base/diag.h"
#include "lib/hydraulics/metering.h"
#include "lib/math/dense.h"

#include <math.h>
#include <string.h>

enum { HALVINGS = 8 };

/* The square of a ratio by which corrections with a coarse tangent shrink: above the first one Newton's own is due; above the second
 * the coarse one does not count. */
static const double coarse_contraction = 1e-4, coarse_progress = 0.0625;

/* Nearer than this to a singular pose (bramah__least_pivot) every formulation partitions. */
static const double multipliers_grow = 0.3;

static int multiplies(const bramah_coupled *c)
{
  return bramah__all_unknown(c) && c->model->formulation == BRAMAH_FORMULATION_AUGMENTED_LAGRANGIAN;
}

/* ---- the residual: the candidate c->next with its evaluation c->trial belongs to changes over the step ---- */

/* Move the candidate by `part` of the correction: positions, rates, pressures and forces. Coordinates that are no
 * unknowns follow it by what is known at the last place, before the loops are closed. */
static bramah_status move_candidate(bramah_coupled *c, double part)
{
  const bramah_model *model = c->model;
  bramah__state *next = &c->next;
  bramah__eval *eval = c->trial;
  double *change = c->newton.change;
  const double *correction = c->newton.correction;
  const int all = bramah__all_unknown(c);
  const size_t nm = bramah__n_mechanical(c), n_dof = model->n_independent;

  /* Positions. */
  for (size_t k = 0; part != 0.0 && k < bramah__n_unknowns(c); k++) change[k] += part * correction[k];
  for (size_t k = 0; part != 0.0 && !all && k < model->n_dependent; k++) {
    const size_t j = (size_t)next->index[k];
    for (size_t f = 0; f < n_dof; f++) next->z[j] += eval->Rz[j * n_dof + f] * (part * correction[f]);
  }
  for (size_t k = 0; k < nm; k++) {
    const size_t j = bramah__unknown_joint(c, k);
    next->z[j] = c->state.z[j] + change[k];
  }
  const bramah_status status = all ? bramah__place_all(model, next, eval)
                                   : bramah__evaluate_position(model, next, eval, BRAMAH__LOOPS_CLOSED);
  if (status != BRAMAH_OK) return status;

  /* Rates by the trapezoidal rule, and the states of the circuit. */
  for (size_t k = 0; k < nm; k++) {
    const size_t j = bramah__unknown_joint(c, k);
    next->zd[j] = 2.0 / model->h * change[k] - c->state.zd[j];
  }
  if (!all) bramah__dependent_rates(model, next, eval);
  for (size_t i = 0; i < model->n_first_order; i++) next->p[i] = c->state.p[i] + change[nm + i];
  bramah__evaluate_motion(model, next, eval);

  /* Forces, with the friction states at the end of the step. */
  for (size_t i = 0; i < model->circuit.n_cylinders; i++) {
    const bramah__cylinder *cylinder = &model->circuit.cylinder[i];
    const size_t first = cylinder->first_state;
    bramah__friction_step(&cylinder->friction, model->h, eval->v[i], c->state.x + first, c->state.xd + first,
                          next->x + first);
  }
  bramah__evaluate_contacts(model, next->U, 0.5 * model->h, c->state.x, c->state.xd, next->x, next->xd, eval);
  bramah__evaluate_actuators(model, next->p, next->U, next->x, next->xd, eval);
  return BRAMAH_OK;
}

/* Accelerations by the trapezoidal rule. */
static void set_accelerations(bramah_coupled *c)
{
  const double h = c->model->h;
  double *zdd = bramah__all_unknown(c) ? c->next.zdd : c->zdd_i;
  for (size_t k = 0; k < bramah__n_mechanical(c); k++) {
    const size_t j = bramah__unknown_joint(c, k);
    zdd[k] = 4.0 / (h * h) * c->newton.change[k] - 4.0 / h * c->state.zd[j] - c->state.zdd[j];
  }
  if (!bramah__all_unknown(c)) bramah__expand_acceleration(c->model, c->trial, zdd, c->next.zdd);
}

/* Accelerations and rates of the trapezoidal rule put into the equations of motion and those of the circuit. */
static void residual(bramah_coupled *c)
{
  const bramah_model *model = c->model;
  const bramah__circuit *circuit = &model->circuit;
  bramah__state *next = &c->next;
  const double *change = c->newton.change + bramah__n_mechanical(c);
  double *f = c->newton.f + bramah__n_mechanical(c);
  c->report.last_evaluations++;
  set_accelerations(c);
  if (bramah__all_unknown(c))
    bramah__imbalance_all(model, next, c->trial, next->zdd, c->newton.f);
  else
    bramah__imbalance(model, next, c->trial, next->zdd, c->newton.f);
  bramah__evaluate_rates_again(model, next->p, next->U, c->trial, next->pd);
  for (size_t i = 0; i < model->n_first_order; i++)
    f[i] = 2.0 / model->h * change[i] - c->state.pd[i] - next->pd[i];

  /* Rows of virtual volumes, c1 (dpi + K/A_h ds) - K/A_h (w_k + w) with c1 = 2/h: the trapezoidal rule for the
   * actuator's own stroke, which does not change as long as closed valves hold it, whatever its rod does. */
  const double c1 = 2.0 / model->h;
  for (size_t i = 0; i < circuit->n_metered; i++) {
    const bramah__metered_port *port = &circuit->metered_port[i];
    const double K = bramah__load_stiffness(circuit, i),
                 ds = c->trial->s[port->cylinder] - c->now->s[port->cylinder];
    f[port->volume] =
        c1 * (change[port->volume] + K * ds) - K * (c->now->w[i] + c->trial->flow[port->volume]);
  }
}

/* ---- the guess ---- */

/* Taylor's guess of the next state (spec equations 4), the spools, which need no iteration, and the tolerances. */
static void predict(bramah_coupled *c)
{
  const bramah_model *model = c->model;
  const size_t n = model->n, nm = bramah__n_mechanical(c);
  const double h = model->h;
  for (size_t k = 0; k < bramah__n_unknowns(c); k++)
    c->newton.tolerance[k] = k < nm ? model->position_tolerance : model->first_order_tolerance[k - nm];
  bramah__state_copy(&c->state, &c->next);
  *c->next.time_ns += model->step_ns;
  for (size_t j = 0; j < n; j++) c->next.z[j] += h * (c->state.zd[j] + 0.5 * h * c->state.zdd[j]);
  for (size_t k = 0; k < nm; k++) {
    const size_t j = bramah__unknown_joint(c, k);
    c->newton.change[k] = h * (c->state.zd[j] + 0.5 * h * c->state.zdd[j]);
  }

  /* After a correction by the filter the pressures relax within microseconds; their rates then say nothing
   * about a whole step. A guess within the laminar range costs half the iterations
   * (test/bench/bench_filter.c). */
  const double longest = 0.1 * model->circuit.transition_pressure;
  for (size_t i = 0; i < model->n_first_order; i++)
    c->newton.change[nm + i] = fmin(fmax(h * c->state.pd[i], -longest), longest);
  for (size_t i = model->circuit.n_volumes - model->circuit.n_metered; i < model->circuit.n_volumes; i++)
    c->newton.change[nm + i] = h * c->state.pd[i];
  for (size_t i = 0; i < bramah__n_spools(&model->circuit); i++) {
    const bramah__valve *valve = &model->circuit.valve[i];
    c->next.U[i] = bramah__spool_step(valve, c->state.U[i], c->state.u[valve->input], h);
  }
}

bramah_status bramah__step_residual(bramah_coupled *c, const double *change, double *f)
{
  bramah_status status = bramah__refresh(c, NULL);
  if (status != BRAMAH_OK) return status;
  predict(c);
  memcpy(c->newton.change, change, bramah__n_unknowns(c) * sizeof(double));
  status = move_candidate(c, 0.0);
  if (status != BRAMAH_OK) return status;
  residual(c);
  memcpy(f, c->newton.f, bramah__n_unknowns(c) * sizeof(double));
  return BRAMAH_OK;
}

/* ---- the tangent ---- */

bramah_status bramah__factor_tangent(bramah_coupled *c, size_t nm)
{
  bramah__newton *newton = &c->newton;
  const size_t nx = nm + c->model->n_first_order;
  for (size_t r = 0; r < nx; r++) {
    double largest = 0.0, *row = newton->J + r * nx;
    for (size_t k = 0; k < nx; k++) {
      row[k] *= k < nm ? 1.0 : c->model->first_order_scale[k - nm];
      largest = fabs(row[k]) > largest ? fabs(row[k]) : largest;
    }
    newton->weight[r] = largest > 0.0 ? 1.0 / largest : 1.0;
    for (size_t k = 0; k < nx; k++) row[k] *= newton->weight[r];
  }
  return bramah__lu_factor(nx, newton->J, newton->pivot) ? BRAMAH_E_SINGULAR : BRAMAH_OK;
}

void bramah__solve_tangent(const bramah_coupled *c, size_t nm, double *x)
{
  const bramah__newton *newton = &c->newton;
  const size_t nx = nm + c->model->n_first_order;
  for (size_t r = 0; r < nx; r++) x[r] *= newton->weight[r];
  bramah__lu_solve(nx, newton->J, newton->pivot, x);
  for (size_t k = nm; k < nx; k++) x[k] *= c->model->first_order_scale[k - nm];
}

/* The tangent at the candidate, whose residual must have been evaluated, and its factors. */
static bramah_status new_tangent(bramah_coupled *c, int coarse)
{
  const bramah_model *model = c->model;
  const size_t nx = bramah__n_unknowns(c), nm = bramah__n_mechanical(c);
  if (!c->sweeps) {
    if (coarse)
      bramah__coarse_tangent(c, c->newton.J);
    else
      bramah__step_tangent(c, c->newton.J);
    if (multiplies(c)) /* for the projections */
      for (size_t k = 0; k < nm; k++)
        memcpy(c->newton.Jzz + k * nm, c->newton.J + k * nx, nm * sizeof(double));
    return bramah__factor_tangent(c, nm);
  }

  /* Long open chains are not formed at all but eliminated body by body. */
  bramah__derivative *d = &c->derivative;
  const double h = model->h;
  double *diag = d->row;
  memset(diag, 0, model->n * sizeof *diag);
  for (size_t i = 0; i < model->forces.n_joint_springs; i++) {
    const bramah__joint_spring *spring = &model->forces.joint_spring[i];
    diag[spring->joint] += spring->stiffness + 2.0 / h * spring->damping;
  }
  bramah__tree_moving(&model->tree, c->trial->pose, c->trial->Z, c->trial->Zd, d->moving);
  const size_t bad = bramah__sweep_factor(&model->tree, c->trial->pose, d->moving, c->trial->Z, c->trial->W,
                                          2.0 / h, 4.0 / (h * h), diag, d->sweep);
  return bad ? BRAMAH_E_SINGULAR : BRAMAH_OK;
}

/* x = -J^-1 f with the last tangent */
static void ask_correction(bramah_coupled *c, double *x)
{
  const size_t nx = bramah__n_unknowns(c);
  if (c->sweeps) {
    bramah__sweep_solve(&c->model->tree, c->derivative.sweep, c->newton.f, x);
    return;
  }
  for (size_t r = 0; r < nx; r++) x[r] = -c->newton.f[r];
  bramah__solve_tangent(c, bramah__n_mechanical(c), x);
}

/* ---- the iteration ---- */

/* Size of a correction in units of the tolerances, squared. */
static double size_of(const bramah_coupled *c, const double *correction)
{
  double sum = 0.0;
  for (size_t k = 0; k < bramah__n_unknowns(c); k++) {
    const double part = correction[k] / c->newton.tolerance[k];
    sum += part * part;
  }
  return sum;
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

/* The largest correction in units of its tolerance, and whose it is; NaN: one is not finite. */
static double largest_of(const bramah_coupled *c, size_t *worst)
{
  double largest = 0.0;
  *worst = 0;
  for (size_t k = 0; k < bramah__n_unknowns(c); k++) {
    const double ratio = fabs(c->newton.correction[k]) / c->newton.tolerance[k];
    if (!isfinite(ratio)) return (double)NAN;
    if (ratio > largest) largest = ratio, *worst = k;
  }
  return largest;
}

/* Take the correction or a part of it, which is returned, 0 where there is none; and what the residual there asks for next.
 *
 * A correction is halved while it does not bring the solution nearer. A square-root flow is why: far from
 * its root Newton throws sgn(x) sqrt|x| from x to -x and back for ever. Where the dependent positions
 * cannot be closed the step is also too long. Nearer is what asks for a smaller correction with the
 * factors of the last tangent (the natural monotonicity test of P. Deuflhard): unlike the residual itself
 * it does not mind stiff constraints or units. */
static double take_part(bramah_coupled *c, int halvings, bramah_status *status)
{
  bramah__newton *newton = &c->newton;
  const double before = size_of(c, newton->correction);
  double part = 1.0;
  *status = move_candidate(c, part);
  for (int halving = 0;; halving++) {
    int better = 0;
    if (*status == BRAMAH_OK) {
      residual(c);
      ask_correction(c, newton->g);
      better = size_of(c, newton->g) < before;
    }
    if (better || halving >= halvings) return better ? part : 0.0;
    part *= 0.5;
    *status = move_candidate(c, -part);
  }
}

/* Where the corrections by one tangent lead. */
typedef struct contraction {
  int lasts;     /* 1: a tangent may serve for more than one correction, and the first one be coarse */
  int is_coarse; /* the last one is */
  int is_old;    /* it has served before, and newton->correction is there */
  double left;   /* what the next one would then be, as they shrink, in parts of what may be left */
} contraction;

/* Is nothing left to do after this correction? Newton's own next one would be its square. */
static int is_last(const contraction *t, double largest)
{
  if (!t->is_coarse && !t->is_old) return largest <= 1.0;
  return largest <= bramah__rounding || (t->is_old && t->left <= 1.0);
}

/* What the correction after newton->g would be, in parts of what may be left. */
static double left_after(const bramah_coupled *c, double theta)
{
  const bramah__newton *newton = &c->newton;
  double largest = 0.0;
  for (size_t k = 0; k < bramah__n_unknowns(c); k++)
    largest = fmax(largest, bramah__left_of(k, bramah__n_mechanical(c), theta,
                                            fabs(newton->g[k]) / newton->tolerance[k],
                                            fabs(newton->correction[k]) / newton->tolerance[k]));
  return largest;
}

/* The correction has been taken in part: does the tangent serve for the next one, which is in newton->g? One that is coarse and leads
 * nowhere has not been; where it leads too slowly the next one is Newton's. */
static bramah_status look_further(bramah_coupled *c, contraction *t, double part, double before)
{
  bramah__newton *newton = &c->newton;
  const size_t nx = bramah__n_unknowns(c);
  const double shrinks = part > 0.0 ? size_of(c, newton->g) / before : (double)INFINITY;
  bramah_status status = BRAMAH_OK;
  t->is_old =
      t->lasts && part == 1.0 && shrinks <= (t->is_coarse ? coarse_contraction : bramah__old_contraction);
  t->left = left_after(c, sqrt(shrinks));
  if (t->is_old) memcpy(newton->correction, newton->g, nx * sizeof(double));
  if (t->is_coarse && !(shrinks <= coarse_progress)) {
    status = move_candidate(c, -1.0);
    if (status == BRAMAH_OK) residual(c);
  }
  t->is_coarse = t->is_coarse && t->is_old;
  return status;
}

/* Newton's method from where the candidate is. */
static bramah_status iterate(bramah_coupled *c, int derives, bramah_diag *diag)
{
  const bramah_model *model = c->model;
  bramah__newton *newton = &c->newton;
  const size_t nm = bramah__n_mechanical(c);
  contraction t = {.lasts = !derives && !bramah__all_unknown(c) && !c->sweeps};
  t.is_coarse = t.lasts;
  residual(c);
  for (;;) {
    size_t worst;
    bramah_status status = t.is_old ? BRAMAH_OK : new_tangent(c, t.is_coarse);
    c->report.last_iterations++;
    if (status != BRAMAH_OK) return name_failure(c, status, diag);
    if (!t.is_old) ask_correction(c, newton->correction);
    const double largest = largest_of(c, &worst), before = size_of(c, newton->correction);
    if (!isfinite(largest)) return name_failure(c, BRAMAH_E_NOT_FINITE, diag);
    int ends = is_last(&t, largest);
    if (ends) {
      status = move_candidate(c, 1.0);
    } else {
      const double part = take_part(c, t.is_coarse ? 0 : HALVINGS, &status);
      if (status == BRAMAH_OK || t.is_coarse) status = look_further(c, &t, part, before);
    }
    if (status != BRAMAH_OK) return name_failure(c, status, diag);

    /* Improve the multipliers, which changes the residual. */
    if (multiplies(c)) {
      const int hold = bramah__update_multipliers(c);
      residual(c);
      ends = ends && hold;
      if (!hold && largest <= 1.0) worst = nm + model->n_first_order;
    }
    if (ends) return BRAMAH_OK;
    if (c->report.last_iterations == (uint32_t)model->max_iterations)
      return fail_at(c, BRAMAH_E_NO_CONVERGENCE,
                     worst == nm + model->n_first_order ? bramah__worst_loop(model, c->trial)
                     : worst < nm                       ? model->joint_name[bramah__unknown_joint(c, worst)]
                                                        : model->volume_name[worst - nm],
                     "the Newton iteration does not converge", diag);
  }
}

bramah_status bramah__check_strokes(const bramah_coupled *c, bramah_diag *diag)
{
  for (size_t i = 0; i < c->model->circuit.n_cylinders; i++) {
    const bramah__cylinder *cylinder = &c->model->circuit.cylinder[i];
    const double s = c->trial->s[i];
    if (cylinder->stop.stiffness > 0.0) continue;
    if (bramah__chamber(cylinder, 0, e_number(s)).value > 0.0 &&
        bramah__chamber(cylinder, 1, e_number(s)).value > 0.0)
      continue;
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

/* Accelerations and rates of the converged step, as the trapezoidal rule has them, and what the
 * formulation does after the iteration. Rates of load pressures are not carried over but evaluated anew. */
static bramah_status finish(bramah_coupled *c)
{
  const bramah_model *model = c->model;
  const bramah__circuit *circuit = &model->circuit;
  const size_t nm = bramah__n_mechanical(c);
  bramah_status status = BRAMAH_OK;
  set_accelerations(c);
  if (multiplies(c)) status = bramah__project_motion(c);

  /* all coordinates were unknowns: the filter wants the independent ones */
  if (status == BRAMAH_OK && bramah__all_unknown(c)) status = bramah__evaluate(model, &c->next, c->trial);
  for (size_t i = 0; i < model->n_first_order; i++)
    c->next.pd[i] = 2.0 / model->h * c->newton.change[nm + i] - c->state.pd[i];
  for (size_t i = 0; i < circuit->n_metered; i++) {
    const bramah__metered_port *port = &circuit->metered_port[i];
    c->next.pd[port->volume] =
        bramah__load_stiffness(circuit, i) * (c->trial->w[i] - c->trial->v[port->cylinder]);
  }
  return status;
}

/* The candidate becomes the solution, in the unknowns that c->partitioned chooses. */
static bramah_status try_step(bramah_coupled *c, int derives, bramah_diag *diag)
{
  c->report.last_iterations = 0;
  predict(c);
  const bramah_status status = move_candidate(c, 0.0);
  return status == BRAMAH_OK ? iterate(c, derives, diag) : name_failure(c, status, diag);
}

/* Of the step from `state` to `next`, by Milne's device (control.c). */
static void estimate_error(bramah_coupled *c)
{
  const size_t n = c->model->n, n_first_order = c->model->n_first_order;
  const double h = c->model->h;
  bramah__step_error *e = &c->error;
  const int known = e->end_ns == *c->state.time_ns && e->h == h; /* the step before this one */
  e->largest = 0.0;
  e->worst = 0;
  for (size_t j = 0; j < n; j++) {
    const double dzdd = c->next.zdd[j] - c->state.zdd[j];
    e->position[j] = h * h / 12.0 * fabs(dzdd);
    e->rate[j] = known ? h / 12.0 * fabs(dzdd - e->dzdd[j]) : (double)NAN;
    e->dzdd[j] = dzdd;
    if (!(e->position[j] > e->largest)) continue;
    e->largest = e->position[j];
    e->worst = j;
  }
  for (size_t i = 0; i < n_first_order; i++) {
    const double dpd = c->next.pd[i] - c->state.pd[i];
    e->first_order[i] = known ? h / 12.0 * fabs(dpd - e->dpd[i]) : (double)NAN;
    e->dpd[i] = dpd;
  }
  e->end_ns = *c->next.time_ns;
  e->h = h;
}

void bramah__complete_step(bramah_coupled *c)
{
  const uint32_t iterations = c->report.last_iterations;
  estimate_error(c);
  bramah__take_candidate(c);
  c->report.steps++;
  c->report.partitioned += c->partitioned && c->model->formulation != BRAMAH_FORMULATION_PARTITIONING;
  c->report.iterations += iterations;
  if (iterations > c->report.max_iterations) c->report.max_iterations = iterations;
}

bramah_status bramah__trapezoidal_step(bramah_coupled *c, int derives, bramah_diag *diag)
{
  const bramah_model *model = c->model;
  if (model->n_rolling) /* wheels and knife edges are known to the linearization alone */
    return bramah__fail(diag, BRAMAH_E_UNSUPPORTED, model->rolling[0].name,
                        "a machine with rolling wheels or knife edges can be linearized, not stepped");
  bramah_status status = bramah__refresh(c, diag);
  if (status != BRAMAH_OK) return status;
  c->report.last_iterations = c->report.last_evaluations = 0;
  c->partitioned = c->now->bridged || bramah__least_pivot(model, c->now) < multipliers_grow;
  status = try_step(c, derives, diag);
  if (status == BRAMAH_E_NO_CONVERGENCE && bramah__all_unknown(c) && model->n_dependent) {
    c->partitioned = 1; /* fast machines come near a singular pose within one step */
    if (diag) bramah_diag_clear(diag);
    status = try_step(c, derives, diag);
  }
  if (status == BRAMAH_OK) status = bramah__check_strokes(c, diag);
  if (status != BRAMAH_OK) return status;
  status = finish(c);
  if (status != BRAMAH_OK) return name_failure(c, status, diag);

  bramah__exchange_energy(c);
  if (model->n_meetings) bramah__note_meetings(c);
  bramah__complete_step(c);
  return BRAMAH_OK;
}

int bramah__step_by_program(bramah_coupled *c, const bramah__wanted *w)
{
  if (!c->compiled.program) return 0;
  c->partitioned = 0;
  c->report.last_iterations = c->report.last_evaluations = 0;
  const int with_coarse = bramah__compiled_has_coarse(c) && !bramah__wants_any(w);
  predict(c);
  int is_done = bramah__compiled_step(c, w, with_coarse);
  if (!is_done && with_coarse) {
    predict(c);
    is_done = bramah__compiled_step(c, w, 0);
  }
  if (!is_done || bramah__check_strokes(c, NULL) != BRAMAH_OK) return 0;
  bramah__balance_energy(c, c->compiled.energy, c->compiled.energy_after);
  if (c->model->n_meetings) bramah__note_meetings(c);
  bramah__complete_step(c);
  bramah__compiled_took(c, 0);
  c->report.compiled++;
  return 1;
}
