/* SPDX-License-Identifier: MIT */
#include "lib/plant/compiled.h"
#include "lib/base/diag.h"
#include "lib/hydraulics/metering.h"
#include "lib/multibody/rotation.h"
#include "lib/plant/step_graph.h"

#include <math.h>
#include <string.h>

/* ---- registers ---- */

static double *input(const bramah_coupled *c, size_t i) { return c->compiled.registers + i; }

static void put(const bramah_coupled *c, size_t first, size_t n, const double *x)
{
  memcpy(input(c, first), x, n * sizeof *x);
}

static void run(bramah_coupled *c, size_t part)
{
  bramah__tape_run(&c->compiled.program->tape, part, 1, c->compiled.registers);
}

void bramah__run_lanes(const bramah_program *program, size_t part, size_t lanes, double *registers)
{
  bramah__tape_run(&program->tape, part, lanes, registers);
}

static double result(const bramah_coupled *c, const uint16_t *at, size_t i)
{
  return c->compiled.registers[at[i]];
}

static void fetch(const bramah_coupled *c, const uint16_t *at, size_t n, double *x)
{
  for (size_t i = 0; i < n; i++) x[i] = result(c, at, i);
}

/* Results that become inputs. */
static void carry(const bramah_coupled *c, const uint16_t *at, size_t n, size_t first)
{
  for (size_t i = 0; i < n; i++) *input(c, first + i) = result(c, at, i);
}

/* Is none of n pivots smaller than this part of what it usually is? NaN is. */
static int pivots_hold(const bramah_coupled *c, const uint16_t *at, size_t n, const double *usual,
                       double part)
{
  for (size_t i = 0; i < n; i++)
    if (!(fabs(result(c, at, i)) >= part * fabs(usual[i]))) return 0;
  return 1;
}

/* Parameters and the length of the step, and what follows from them alone. */
static void set_up(bramah_coupled *c, const bramah__state *state)
{
  const bramah_program *program = c->compiled.program;
  double *h = input(c, program->in.h), *theta = input(c, program->in.theta);
  const size_t size = program->n_par * sizeof *theta;
  if (c->compiled.is_set_up && *h == c->model->h && memcmp(theta, state->theta, size) == 0) return;
  memcpy(theta, state->theta, size);
  *h = c->model->h;
  c->compiled.is_set_up = 1;
  run(c, BRAMAH__PART_SETUP);
}

/* 1: spool i follows its command. */
static double gate(const bramah_coupled *c, const bramah__state *state, size_t i)
{
  const bramah__valve *valve = &c->model->circuit.valve[i];
  return fabs(state->u[valve->input] + valve->offset) < valve->limit ? 1.0 : 0.0;
}

/* What stays for a step: spools of a state, and whether they follow their commands; what its spherical joints count from;
 * its friction states, which go on for a time. */
static void set_spools(bramah_coupled *c, const bramah__state *state, double time)
{
  const bramah_program *program = c->compiled.program;
  put(c, program->in.x, program->nq, state->x);
  put(c, program->in.xd, program->nq, state->xd);
  if (program->nq) *input(c, program->in.half) = 0.5 * time;
  for (size_t i = 0; i < program->nb; i++) {
    double base[9];
    bramah__quaternion_matrix(state->base + 4 * i, base);
    put(c, program->in.base + 9 * i, 9, base);
  }
  for (size_t k = 0; k < program->nk; k++) {
    const bramah__contact *contact = &c->model->contact_point[c->model->standing[k].point];
    put(c, program->in.plane + 10 * k, 9, contact->axes);
    *input(c, program->in.plane + 10 * k + 9) = state->plane[4 * k + 3];
  }
  for (size_t i = 0; i < program->no; i++)
    put(c, program->in.tool + BRAMAH__TOOL_GIVEN * i, BRAMAH__TOOL_GIVEN,
        state->tool + BRAMAH__TOOL_STATE * i);
  if (program->ng) bramah__put_meetings(c->model, state->held, input(c, program->in.meet));
  put(c, program->in.U, program->ns, state->U);
  for (size_t i = 0; i < program->ns; i++) *input(c, program->in.gate + i) = gate(c, state, i);
}

static void hold_spools(bramah_coupled *c, const bramah__state *state, double time)
{
  set_spools(c, state, time);
  run(c, BRAMAH__PART_STEP);
}

/* Prescribed motions at the time of a state. */
static void set_motions(bramah_coupled *c, const bramah__state *state)
{
  for (size_t i = 0; i < c->model->n_motions; i++) {
    double motion[3];
    bramah__motion_at(&c->model->motion[i], (double)*state->time_ns * 1e-9, motion);
    put(c, c->compiled.program->in.motion + 3 * i, 3, motion);
  }
}

/* A state as it is. */
static void set_point(bramah_coupled *c, const bramah__state *state)
{
  const bramah_program *program = c->compiled.program;
  const int *independent = program->index + program->nd;
  set_motions(c, state);
  put(c, program->in.z, program->n, state->z);
  put(c, program->in.p, program->np, state->p);
  for (size_t f = 0; f < program->nf; f++) {
    *input(c, program->in.zd + f) = state->zd[independent[f]];
    *input(c, program->in.zdd + f) = state->zdd[independent[f]];
  }
}

/* Quasistatic actuators at the point and the spools in the registers: what they do there, by the speeds of their rods. */
static void move_metered(bramah_coupled *c)
{
  bramah__compiled *k = &c->compiled;
  const bramah__step_inputs *in = &k->program->in;
  if (k->program->nw == 0) return;
  run(c, BRAMAH__PART_SPEEDS);
  fetch(c, k->program->out.speed, k->program->nc, k->speed);
  fetch(c, k->program->out.open, BRAMAH__N_PATHS * k->program->ns, k->open);
  bramah__metered_solve_tangent(&c->model->circuit, input(c, in->p), k->speed, k->open, k->w, k->P,
                                input(c, in->w_load));
  memcpy(input(c, in->w), k->w, k->program->nw * sizeof *k->w);
}

/* What can be measured of them there, in the inputs behind the velocities. */
static void read_gauges(bramah_coupled *c, const double *U, const double *w, const double *P, double *gauge,
                        double *by_load)
{
  const bramah__compiled *k = &c->compiled;
  bramah__metered_gauges(&c->model->circuit, input(c, k->program->in.p), k->speed, U, w, P, gauge, by_load);
}

static void show_metered(bramah_coupled *c)
{
  const bramah__compiled *k = &c->compiled;
  const bramah_program *program = k->program;
  read_gauges(c, input(c, program->in.U), k->w, k->P, input(c, program->in.w + program->nw),
              input(c, program->in.w_load + program->nw * program->nw));
}

/* Their velocities there by parameter i, and if it is shown already what can be measured: by a small change of it. */
static void move_metered_by(bramah_coupled *c, size_t i, int is_shown)
{
  const bramah__compiled *k = &c->compiled;
  const bramah__step_inputs *in = &k->program->in;
  const bramah__parameter *parameter = &c->model->parameter[i];
  const double size = fmax(fabs(c->state.theta[i]), fabs(parameter->info.nominal));
  const double step = BRAMAH__VARIED * (size > 1e-6 ? size : 1.0);
  const size_t nw = k->program->nw, ny = k->program->ny;
  double *theta = c->transition.theta, *U = c->transition.U, *by = input(c, in->w_theta) + i * ny;
  if (k->program->nw == 0 || !bramah__moves_metered(parameter)) return;
  memcpy(theta, c->state.theta, k->program->n_par * sizeof *theta);
  memcpy(U, input(c, in->U), k->program->ns * sizeof *U);
  theta[i] += step;
  for (size_t q = 0; q < k->program->ns && parameter->code == BRAMAH__INPUT_OFFSET; q++)
    if (c->model->circuit.valve[q].input == parameter->index) U[q] += step * input(c, in->gate)[q];
  bramah__apply_parameters(c, theta);
  bramah__metered_solve(&c->model->circuit, input(c, in->p), k->speed, U, by, c->probe->P);
  if (is_shown) read_gauges(c, U, by, c->probe->P, by + nw, NULL);
  bramah__apply_parameters(c, c->state.theta);
  for (size_t q = 0; q < (is_shown ? ny : nw); q++) by[q] = (by[q] - input(c, in->w)[q]) / step;
}

/* Run a part that belongs to the state, unless it has been. */
static void run_once(bramah_coupled *c, size_t part)
{
  if (!c->compiled.done[part]) run(c, part);
  c->compiled.done[part] = 1;
}

/* The same with derivatives by parameters, for which quasistatic actuators are moved by each. */
static void run_once_by_parameters(bramah_coupled *c, size_t part, int is_shown)
{
  enum { MOVED = BRAMAH__PART_SPEEDS, ALL = 2 }; /* the speeds themselves are run with the pose */
  const unsigned char moved = is_shown ? 2 : 1;
  unsigned char *done = c->compiled.done;
  if (c->compiled.program->nw == 0) {
    run_once(c, part);
    return;
  }
  for (size_t p = 0; p < c->compiled.program->n_par && done[MOVED] < moved; p++)
    move_metered_by(c, p, is_shown);
  if (done[part] < ALL) run(c, part);
  if (done[MOVED] < moved) done[MOVED] = moved;
  done[part] = ALL;
}

int bramah__program_follows(const bramah_program *program, size_t n_par, const size_t *par)
{
  int all = 1;
  for (size_t i = 0; i < n_par; i++) all &= program->follows[par[i]];
  return all;
}

int bramah__program_knows(const bramah_program *program, const bramah__state *state)
{
  const size_t nd = program->nd, nf = program->nf;
  if (memcmp(program->index + nd, state->index + nd, nf * sizeof(int)) != 0) return 0;
  for (size_t k = 0; k < nd; k++) {
    size_t l = 0;
    while (l < nd && program->row[l] != state->row[k]) l++;
    if (l == nd) return 0;
  }
  return 1;
}

/* Is this state in the coordinates that one of the programs is made for? That one is then at hand. */
static int in_basis(bramah_coupled *c, const bramah__state *state)
{
  bramah__compiled *k = &c->compiled;
  for (size_t j = 0; j < c->model->n; j++)
    if (fabs(state->z[j]) > bramah__farthest) return 0;
  if (!bramah__meetings_fit(c->model, state->held)) return 0;
  if (bramah__program_knows(k->program, state)) return 1;
  const bramah_program *other = k->first;
  while (other && !bramah__program_knows(other, state)) other = other->next;
  if (!other) return 0;
  k->program = other;
  k->is_set_up = 0;
  k->pose_known = 0;
  bramah__tape_prepare(&other->tape, 1, k->registers);
  return 1;
}

/* Is the candidate one that may be taken? */
static int is_sound(const bramah_coupled *c)
{
  if (bramah__singular_joint(c->model, c->next.z, NULL)) return 0;
  for (size_t j = 0; j < c->model->n; j++)
    if (!isfinite(c->next.z[j]) || !isfinite(c->next.zd[j]) || !isfinite(c->next.zdd[j])) return 0;
  for (size_t i = 0; i < c->model->n_first_order; i++)
    if (!isfinite(c->next.p[i])) return 0;
  return 1;
}

/* ---- a state ----
 *
 * The registers hold the pose of the state whose bytes are in k->state, and what the parts in k->done make of it. */

/* From the registers into an evaluation: what a program knows of it. */
static void give_actuators(const bramah_coupled *c, bramah__eval *eval)
{
  const bramah_program *program = c->compiled.program;
  const bramah__step_results *out = &program->out;
  fetch(c, out->Rz, program->n * program->nf, eval->Rz);
  fetch(c, out->stroke, program->nc, eval->s);
  fetch(c, out->velocity, program->nc, eval->v);
  fetch(c, out->force, program->nc, eval->force);
  fetch(c, out->friction, program->nc, eval->friction);
  fetch(c, out->stop, program->nc, eval->stop);
  memcpy(eval->w, c->compiled.w, program->nw * sizeof *eval->w);
  memcpy(eval->P, c->compiled.P, c->model->circuit.n_metered_lines * sizeof *eval->P);
  eval->by_program = 1;
}

void bramah__compiled_took(bramah_coupled *c, int with_rates)
{
  bramah__compiled *k = &c->compiled;
  fetch(c, k->program->out.work_force, k->program->n_works, k->work_force);
  fetch(c, k->program->out.work_path, k->program->n_works, k->work_path);
  fetch(c, k->program->out.energy, 2, k->energy);
  memcpy(k->state, c->state.block, c->state.size);
  /* After a step the friction states are still those of its start. */
  k->pose_known = k->program->nq == 0 || *input(c, k->program->in.half) == 0.0;
  memset(k->done, 0, k->program->tape.n_parts);
  k->done[BRAMAH__PART_FLOWS] = k->done[BRAMAH__PART_RATES] = (unsigned char)with_rates;
}

static int is_state_of_registers(const bramah_coupled *c)
{
  return memcmp(c->compiled.state, c->state.block, c->state.size) == 0;
}

/* Is it, but for commands, of which the registers know only whether spools follow them? These are then theirs. */
static int commands_alone_changed(bramah_coupled *c)
{
  bramah__compiled *k = &c->compiled;
  const unsigned char *known = k->state, *now = c->state.block;
  const size_t n = c->model->n_inputs * sizeof *c->state.u,
               first = (size_t)((const unsigned char *)c->state.u - now), behind = first + n;
  if (memcmp(known, now, first) != 0 || memcmp(known + behind, now + behind, c->state.size - behind) != 0)
    return 0;
  for (size_t i = 0; i < k->program->ns; i++)
    if (*input(c, k->program->in.gate + i) != gate(c, &c->state, i)) return 0;
  memcpy(k->state + first, c->state.u, n);
  return 1;
}

int bramah__compiled_pose(bramah_coupled *c)
{
  bramah__compiled *k = &c->compiled;
  if (!k->program) return 0;
  const int known = k->pose_known && commands_alone_changed(c);
  if (!known) {
    if (!in_basis(c, &c->state)) return 0;
    set_up(c, &c->state);
    hold_spools(c, &c->state, 0.0);
    set_point(c, &c->state);
    move_metered(c);
    run(c, BRAMAH__PART_POSE);
    bramah__compiled_took(c, 0);
  }
  if (!c->now_valid && !(known && c->now->by_program)) give_actuators(c, c->now);
  return 1;
}

static int masses_hold(const bramah_coupled *c)
{
  const bramah_program *program = c->compiled.program;
  return pivots_hold(c, program->out.mass_pivot, program->nf, program->mass_pivot, bramah__small_pivot);
}

int bramah__compiled_actuators(bramah_coupled *c)
{
  if (c->compiled.program && c->now->by_program && is_state_of_registers(c)) return 1;
  return bramah__compiled_pose(c);
}

int bramah__compiled_kink(bramah_coupled *c, size_t i, double effect[2])
{
  if (!bramah__compiled_pose(c)) return 0;
  fetch(c, c->compiled.program->out.yields + 2 * i, 2, effect);
  return 1;
}

const double *bramah__compiled_motion(bramah_coupled *c)
{
  const bramah_program *program = c->compiled.program;
  if (!bramah__compiled_actuators(c)) return NULL;
  if (c->now->by_program) return c->now->Rz;
  fetch(c, program->out.Rz, program->n * program->nf, c->trial->Rz);
  return c->trial->Rz;
}

/* Its first-order rates; what stays for a step is then of the state. */
static void state_flows(bramah_coupled *c)
{
  hold_spools(c, &c->state, 0.0);
  run_once(c, BRAMAH__PART_FLOWS);
}

/* Its rates; 0 if a pivot is small. */
static int state_rates(bramah_coupled *c)
{
  bramah__compiled *k = &c->compiled;
  if (k->done[BRAMAH__PART_RATES]) return 1;
  state_flows(c);
  run(c, BRAMAH__PART_RATES);
  k->done[BRAMAH__PART_RATES] = (unsigned char)masses_hold(c);
  return k->done[BRAMAH__PART_RATES];
}

void bramah__compiled_turn_aside(bramah_coupled *c)
{
  bramah__compiled *other = c->compiled.beside;
  if (!other) return;
  const bramah__compiled here = c->compiled;
  c->compiled = *other;
  c->compiled.beside = other;
  *other = here;
}

int bramah__compiled_settle(bramah_coupled *c)
{
  if (!bramah__compiled_pose(c)) return 0;
  state_flows(c);
  fetch(c, c->compiled.program->out.pd_state, c->compiled.program->np, c->state.pd);
  bramah__compiled_took(c, 0);
  c->compiled.done[BRAMAH__PART_FLOWS] = 1;
  return 1;
}

/* Derivatives of these by parameter i, as registers. */
static const uint16_t *rates_by_parameter(bramah_coupled *c, size_t i)
{
  const size_t part = BRAMAH__PART_PARAMETERS + 2 * i + 1;
  run_once_by_parameters(c, part, 0);
  return bramah__tape_results(&c->compiled.program->tape, part);
}

/* Derivatives of the rates at the start of a step, which its end is differentiated with by the state. */
static void take_slopes(bramah_coupled *c)
{
  const bramah_program *program = c->compiled.program;
  carry(c, program->out.A_state, program->nx * program->ne, program->in.A);
  carry(c, program->out.xd_state, program->nq * 2 * program->nf, program->in.xd_by);
  carry(c, program->out.xd_yield_state, program->nh, program->in.xd_yield);
  carry(c, program->out.drawn_state, program->nw * 2 * program->nf, program->in.drawn_by);
}

/* These at the state, and by parameters; 0 if a pivot is small. */
static int start_slopes(bramah_coupled *c, const bramah__wanted *w)
{
  bramah__compiled *k = &c->compiled;
  const bramah_program *program = k->program;
  if (!state_rates(c)) return 0;
  run_once(c, BRAMAH__PART_SLOPES);
  if (w->F) take_slopes(c);
  for (size_t i = 0; i < w->n_par; i++)
    fetch(c, rates_by_parameter(c, w->par[i]), program->nv, k->carried + i * program->nv);
  return 1;
}

/* Close the loops of the candidate, which is in the registers. */
static int place(bramah_coupled *c)
{
  const bramah_program *program = c->compiled.program;
  const bramah__step_results *out = &program->out;
  double *z = input(c, program->in.z);
  for (int i = 0; i < BRAMAH__CLOSE_ITERATIONS && program->nd; i++) {
    double largest = 0.0;
    run(c, BRAMAH__PART_PLACE);
    if (!pivots_hold(c, out->place_pivot, program->nd, program->closure_pivot, bramah__small_closure_pivot))
      return 0;
    for (size_t k = 0; k < program->nd; k++) largest = fmax(largest, fabs(result(c, out->closing_alone, k)));
    if (largest <= bramah__no_closing) return 1;
    for (size_t k = 0; k < program->nd; k++) z[program->index[k]] += result(c, out->closing_alone, k);
    if (largest <= bramah__last_closing) return 1;
  }
  return program->nd == 0;
}

int bramah__compiled_adopt(bramah_coupled *c)
{
  bramah__compiled *k = &c->compiled;
  if (!k->program || c->linearised || !in_basis(c, &c->next)) return 0;
  const bramah_program *program = k->program;
  k->pose_known = 0;
  set_up(c, &c->next);
  hold_spools(c, &c->next, 0.0);
  set_point(c, &c->next);
  if (!place(c)) return 0;
  move_metered(c);
  run(c, BRAMAH__PART_POSE);
  run(c, BRAMAH__PART_FLOWS);
  run(c, BRAMAH__PART_RATES);
  if (!pivots_hold(c, program->out.mass_pivot, program->nf, program->mass_pivot, bramah__small_pivot))
    return 0;
  memcpy(c->next.z, input(c, program->in.z), program->n * sizeof(double));
  fetch(c, program->out.zd_all, program->n, c->next.zd);
  fetch(c, program->out.zdd_state, program->n, c->next.zdd);
  fetch(c, program->out.pd_state, program->np, c->next.pd);
  fetch(c, program->out.drive_state, program->nm, c->next.drive);
  fetch(c, program->out.xd_end, program->nq, c->next.xd);
  if (!is_sound(c)) return 0;
  give_actuators(c, c->trial);
  return 1;
}

/* ---- the iteration ---- */

/* The point of the iterate by the trapezoidal rule. */
static void set_iterate(bramah_coupled *c)
{
  const bramah_program *program = c->compiled.program;
  const int *independent = program->index + program->nd;
  const double *change = c->newton.change, c1 = 2.0 / c->model->h, c2 = c1 * c1;
  for (size_t f = 0; f < program->nf; f++) {
    const size_t j = (size_t)independent[f];
    c->next.z[j] = c->state.z[j] + change[f];
    *input(c, program->in.zd + f) = c1 * change[f] - c->state.zd[j];
    *input(c, program->in.zdd + f) = c2 * change[f] - 2.0 * c1 * c->state.zd[j] - c->state.zdd[j];
  }
  put(c, program->in.z, program->n, c->next.z);
  for (size_t i = 0; i < program->np; i++) {
    *input(c, program->in.p + i) = c->state.p[i] + change[program->nf + i];
    *input(c, program->in.pd + i) = c1 * change[program->nf + i] - c->state.pd[i];
  }
}

/* What comes of an iterate. */
typedef enum verdict { CONVERGED, GO_ON, TOO_OLD, LEFT, LEFT_BY_PIVOT } verdict;

/* Where the start's own slopes lead, which have been run, as the first guess. The change over the step is then a correction
 * of Newton's as those that follow. Where friction has states it stays Taylor's. */
static void take_guess(bramah_coupled *c)
{
  const bramah_program *program = c->compiled.program;
  c->newton.before = 0.0;
  if (program->nq) return;
  fetch(c, program->out.guess, program->nx, c->newton.change);
  for (size_t k = 0; k < program->nx; k++) {
    const double part = c->newton.change[k] / c->newton.tolerance[k];
    c->newton.before += part * part;
  }
  for (size_t k = 0; k < program->nd; k++) {
    const size_t j = (size_t)program->index[k];
    c->next.z[j] = c->state.z[j] + result(c, program->out.guess_dependent, k);
  }
}

/* Where the results of an iterate are. */
typedef struct iterate_results {
  const uint16_t *correction, *closing, *closure_pivot, *pivot, *factor;
} iterate_results;

static iterate_results results_of(const bramah_program *program, size_t part)
{
  const bramah__step_results *out = &program->out;
  if (part == BRAMAH__PART_COARSE)
    return (iterate_results){out->correction_coarse, out->closing_coarse, out->closure_pivot_coarse,
                             out->pivot_coarse, out->factor_coarse};
  if (part == BRAMAH__PART_AGAIN)
    return (iterate_results){out->correction_again, out->closing_again, out->closure_pivot_again, NULL, NULL};
  return (iterate_results){out->correction, out->closing, out->closure_pivot, out->pivot, out->factor};
}

/* Correct the guess by the iterate that has been run. It has converged where the correction is within the tolerances, or all
 * that would follow is: corrections that shrink by theta < 1/2 add up to theta / (1 - theta) of the last one, and Newton's
 * shrink faster (Hairer and Wanner, Solving Ordinary Differential Equations II, IV.8). Those by a coarse tangent do not. */
static verdict correct_guess(bramah_coupled *c, size_t part, int is_coarse, int is_first, double *last)
{
  const bramah_program *program = c->compiled.program;
  const iterate_results out = results_of(program, part);
  const size_t nx = program->nx, nd = program->nd;
  const int again = part == BRAMAH__PART_AGAIN;
  c->report.last_iterations++;
  c->report.last_evaluations++;
  if ((!again && !pivots_hold(c, out.pivot, nx + program->nl, program->pivot, bramah__small_pivot)) ||
      !pivots_hold(c, out.closure_pivot, nd, program->closure_pivot, bramah__small_closure_pivot))
    return LEFT_BY_PIVOT;

  /* Size of the correction in units of the tolerances, and the largest part of it. */
  double size = 0.0, largest = 0.0, left = 0.0;
  for (size_t k = 0; k < nx; k++) {
    const double part_of = fabs(result(c, out.correction, k)) / c->newton.tolerance[k];
    size += part_of * part_of;
    largest = part_of > largest ? part_of : largest;
  }
  for (size_t k = 0; k < nd; k++) {
    const double tolerance = bramah__closed_part * c->model->position_tolerance;
    const double part_of = fabs(result(c, out.closing, k)) / tolerance;
    largest = part_of > largest ? part_of : largest;
  }
  const double before = c->newton.before;
  const int is_tiny = largest <= bramah__rounding;
  const double shrinks = size / *last;
  if (again && !is_tiny && !(shrinks <= bramah__old_contraction)) return TOO_OLD;
  if (!again && !(size < (is_first ? (double)INFINITY : bramah__contraction * before))) return LEFT;
  for (size_t k = 0; again && k < nx; k++)
    left = fmax(left, bramah__left_of(k, program->nf, sqrt(shrinks),
                                      fabs(result(c, out.correction, k)) / c->newton.tolerance[k],
                                      fabs(c->newton.correction[k]) / c->newton.tolerance[k]));
  *last = size;
  if (!again) c->newton.before = size;
  for (size_t k = 0; k < nx; k++) {
    c->newton.correction[k] = result(c, out.correction, k);
    c->newton.change[k] += c->newton.correction[k];
  }
  for (size_t k = 0; k < nd; k++) c->next.z[program->index[k]] += result(c, out.closing, k);
  if (again || is_coarse) return is_tiny || (again && left <= 1.0) ? CONVERGED : GO_ON;
  const int follows_little = largest <= bramah__near_enough && 4.0 * size * largest * largest <= before;
  return largest <= 1.0 || follows_little ? CONVERGED : GO_ON;
}

/* Newton's method with full steps from the guess in c->next; by a tangent of `part`. Where no derivatives are wanted that are made of
 * the last tangent, the first one serves for what follows, unless corrections by it do not shrink well: then another one comes, but for
 * a coarse one, whose steps are made anew without it. */
static verdict iterate(bramah_coupled *c, size_t part, int any)
{
  const bramah_program *program = c->compiled.program;
  const int is_coarse = part == BRAMAH__PART_COARSE;
  const uint16_t *factor = results_of(program, part).factor;
  int again = 0;
  double last = 0.0;
  for (int i = 0; i < c->model->max_iterations; i++) {
    const size_t now = again ? BRAMAH__PART_AGAIN : part;
    set_iterate(c);
    move_metered(c);
    run(c, now);
    const verdict came = correct_guess(c, now, is_coarse, i == 0, &last);
    if (came == CONVERGED || came >= LEFT || (came == TOO_OLD && is_coarse)) return came;
    if (!any && !again) carry(c, factor, program->n_factors, program->first_factor);
    again = !any && came == GO_ON;
  }
  return LEFT;
}

/* 1: the step's end has been found. */
static int solve(bramah_coupled *c, int any, int with_coarse)
{
  if (with_coarse) return iterate(c, BRAMAH__PART_COARSE, any) == CONVERGED;
  const verdict came = iterate(c, BRAMAH__PART_ITERATE, any);
  c->report.left_pivot += came == LEFT_BY_PIVOT;
  c->report.left_divergence += came == LEFT;
  return came == CONVERGED;
}

/* ---- the end ---- */

/* What follows from the solution, into c->next and c->trial: 0 if it is none that may be taken. */
static int take_end(bramah_coupled *c)
{
  bramah__compiled *k = &c->compiled;
  const bramah_program *program = k->program;
  const bramah__step_results *out = &program->out;
  fetch(c, out->zd_all, program->n, c->next.zd);
  fetch(c, out->zdd_all, program->n, c->next.zdd);
  for (size_t i = 0; i < program->np; i++) {
    c->next.p[i] = *input(c, program->in.p + i);
    c->next.pd[i] = *input(c, program->in.pd + i);
  }
  for (size_t i = 0; i < program->nw; i++) { /* not carried over but as they are */
    const bramah__metered_port *port = &c->model->circuit.metered_port[i];
    c->next.pd[port->volume] =
        bramah__load_stiffness(&c->model->circuit, i) * (k->w[i] - k->speed[port->cylinder]);
  }
  give_actuators(c, c->trial);

  /* Works: trapezoidal sums of forces along their paths, as in energy.c. */
  for (size_t i = 0; i < program->n_works; i++) {
    const size_t sum = program->work[i] & ~(BRAMAH__IS_POWER | BRAMAH__IS_SPEED);
    const double force = result(c, out->work_force, i), path = result(c, out->work_path, i);
    const double moved = program->work[i] & BRAMAH__IS_POWER   ? c->model->h
                         : program->work[i] & BRAMAH__IS_SPEED ? 0.5 * c->model->h * (k->work_path[i] + path)
                                                               : path - k->work_path[i];
    double *total = sum < program->nc ? &c->next.work[sum] : &c->next.exchange[sum - program->nc];
    *total += 0.5 * (k->work_force[i] + force) * moved;
  }
  fetch(c, out->drive, program->nm, c->next.drive);
  fetch(c, out->x_end, program->nq, c->next.x);
  fetch(c, out->xd_end, program->nq, c->next.xd);
  bramah__work_of_drives(c->model, &c->state, &c->next);
  fetch(c, out->energy, 2, k->energy_after);
  if (is_sound(c)) return 1;
  c->report.left_divergence++;
  return 0;
}

/* Derivatives of the end by the start, on the factors of the last iterate. */
static void take_transition(const bramah_coupled *c, const bramah__wanted *w)
{
  const bramah_program *program = c->compiled.program;
  fetch(c, program->out.F, program->ne * program->ne, w->F);
  if (w->N) fetch(c, program->out.N, program->ne * program->nn, w->N);
}

/* Those by parameter i of the ones wanted; before its part runs, and after. */
static void carry_parameter(const bramah_coupled *c, size_t i)
{
  const bramah_program *program = c->compiled.program;
  put(c, program->in.carried, program->nv, c->compiled.carried + i * program->nv);
}

static void take_parameter(const bramah_coupled *c, const bramah__wanted *w, size_t i)
{
  const bramah_program *program = c->compiled.program;
  const uint16_t *G = bramah__tape_results(&program->tape, BRAMAH__PART_PARAMETERS + 2 * w->par[i]);
  for (size_t r = 0; r < program->ne; r++) w->G[r * w->n_par + i] = result(c, G, r);
}

static void give_derivatives(bramah_coupled *c, const bramah__wanted *w)
{
  run(c, BRAMAH__PART_INERTIA);
  if (w->F) run(c, BRAMAH__PART_TRANSITION), take_transition(c, w);
  for (size_t i = 0; i < w->n_par; i++) {
    carry_parameter(c, i);
    move_metered_by(c, w->par[i], 0);
    run(c, BRAMAH__PART_PARAMETERS + 2 * w->par[i]);
    take_parameter(c, w, i);
  }
}

/* Does the program have the derivatives that are wanted of a step? */
static int has_wanted(const bramah_program *program, const bramah__wanted *w)
{
  return !bramah__wants_any(w) ||
         (program->scope >= BRAMAH_PROGRAM_DERIVATIVES && bramah__program_follows(program, w->n_par, w->par));
}

int bramah__compiled_has_coarse(const bramah_coupled *c) { return c->compiled.program->n_coarse > 0; }

int bramah__compiled_step(bramah_coupled *c, const bramah__wanted *w, int with_coarse)
{
  bramah__compiled *k = &c->compiled;
  if (!k->program || !has_wanted(k->program, w)) return 0;
  if (!in_basis(c, &c->state)) {
    c->report.left_basis += !with_coarse;
    return 0;
  }
  const int any = bramah__wants_any(w);
  bramah__compiled_pose(c);
  set_up(c, &c->state); /* the length of the step may have changed */
  if (any && !start_slopes(c, w)) {
    c->report.left_pivot++;
    return 0;
  }
  for (size_t i = 0; i < k->program->nw; i++) {
    const size_t q = c->model->circuit.metered_port[i].cylinder;
    input(c, k->program->in.drawn)[i] =
        2.0 / c->model->h * result(c, k->program->out.stroke, q) + result(c, k->program->out.velocity, q);
  }
  c->newton.before = 0.0;
  if (any) run(c, BRAMAH__PART_GUESS), take_guess(c);
  k->pose_known = 0;
  hold_spools(c, &c->next, c->model->h);
  set_motions(c, &c->next);
  if (!solve(c, any, with_coarse)) return 0;
  if (any) give_derivatives(c, w);
  set_iterate(c);
  move_metered(c);
  run(c, BRAMAH__PART_POSE);
  run(c, BRAMAH__PART_ENDS);
  return take_end(c);
}

/* ---- outputs ---- */

/* Registers of output i and of its derivatives at the state; NULL if the program has none. */
static const uint16_t *read_output(bramah_coupled *c, size_t i, int by_parameters)
{
  const bramah__compiled *k = &c->compiled;
  const bramah_program *program = k->program;
  if (!program || !program->reading[i].part || !bramah__shows_coordinate(c->model, &c->state, i)) return NULL;
  const bramah__reading *reading = &program->reading[i];
  const uint16_t *at = bramah__tape_results(&program->tape, reading->part) + reading->first;
  if (!bramah__compiled_pose(c)) return NULL;
  if (reading->follows_ends && !c->compiled.done[BRAMAH__PART_ENDS]) {
    const int *independent = program->index + program->nd;
    for (size_t f = 0; f < program->nf; f++) *input(c, program->in.zdd + f) = c->state.zdd[independent[f]];
    run_once(c, BRAMAH__PART_ENDS);
  }
  enum { SHOWN = BRAMAH__PART_ITERATE }; /* which is no part of a state */
  const int is_shown = bramah__is_metered(c->model->output[i].code);
  if (is_shown && !k->done[SHOWN]) show_metered(c);
  if (is_shown) c->compiled.done[SHOWN] = 1;
  if (by_parameters)
    run_once_by_parameters(c, reading->part, is_shown);
  else
    run_once(c, reading->part);
  return at;
}

int bramah__compiled_actuator(bramah_coupled *c, const bramah__output *output, double *value)
{
  if (!bramah__compiled_pose(c)) return 0;
  const bramah__step_results *out = &c->compiled.program->out;
  const uint16_t *const at[] = {out->stroke, out->velocity, out->force, out->friction};
  *value = result(c, at[output->code - BRAMAH__CYLINDER_STROKE], output->index);
  if (output->code == BRAMAH__CYLINDER_FORCE) *value -= c->model->circuit.cylinder[output->index].load;
  return 1;
}

int bramah__compiled_value(bramah_coupled *c, size_t i, double *value)
{
  const uint16_t *at = read_output(c, i, 0);
  if (at) *value = result(c, at, 0);
  return at != NULL;
}

/* Does an output follow the accelerations, whose derivatives are by_zdd? */
static int follows_accelerations(const bramah_coupled *c, const uint16_t *by_zdd)
{
  for (size_t f = 0; f < c->compiled.program->nf; f++)
    if (result(c, by_zdd, f) != 0.0) return 1;
  return 0;
}

static int has_scope(const bramah_coupled *c, bramah_program_scope scope)
{
  return c->compiled.program && c->compiled.program->scope >= scope;
}

int bramah__compiled_row(bramah_coupled *c, size_t i, double *row)
{
  const uint16_t *at = has_scope(c, BRAMAH_PROGRAM_DERIVATIVES) ? read_output(c, i, 0) : NULL;
  if (!at) return 0;
  const bramah_program *program = c->compiled.program;
  const uint16_t *by_state = at + 1, *by_zdd = by_state + program->ne;
  fetch(c, by_state, program->ne, row);
  if (!follows_accelerations(c, by_zdd)) return 1;
  if (!bramah__compiled_pose(c) || !state_rates(c)) return 0;
  run_once(c, BRAMAH__PART_SLOPES);
  for (size_t f = 0; f < program->nf; f++)
    for (size_t k = 0; k < program->ne; k++)
      row[k] += result(c, by_zdd, f) * result(c, program->out.A_state, f * program->ne + k);
  return 1;
}

int bramah__compiled_by_parameters(bramah_coupled *c, size_t i, size_t n_par, const size_t *par, double *row)
{
  const uint16_t *at = has_scope(c, BRAMAH_PROGRAM_PARAMETERS) ? read_output(c, i, 1) : NULL;
  if (!at || !bramah__program_follows(c->compiled.program, n_par, par)) return 0;
  const bramah_program *program = c->compiled.program;
  const uint16_t *by_zdd = at + 1 + program->ne, *by_theta = by_zdd + program->nf;
  const int accelerates = follows_accelerations(c, by_zdd);
  if (accelerates && !(bramah__compiled_pose(c) && state_rates(c))) return 0;
  for (size_t j = 0; j < n_par; j++) {
    row[j] = result(c, by_theta, par[j]);
    if (!accelerates) continue;
    const uint16_t *zdd = rates_by_parameter(c, par[j]);
    for (size_t f = 0; f < program->nf; f++) row[j] += result(c, by_zdd, f) * result(c, zdd, f);
  }
  return 1;
}

int bramah__compiled_energy(bramah_coupled *c, double *kinetic, double *stored)
{
  if (!bramah__compiled_pose(c)) return 0;
  *kinetic = c->compiled.energy[0];
  *stored = c->compiled.energy[1];
  return 1;
}

/* ---- its memory ---- */

static bramah__compiled cut_one(const bramah_coupled *c, const bramah_program *program, bramah__arena *arena)
{
  bramah__compiled taken = {.first = program, .program = program};
  size_t n_registers = 0, n_parts = 0;
  for (const bramah_program *p = program; p; p = p->next) {
    if (p->tape.n_registers > n_registers) n_registers = p->tape.n_registers;
    if (p->tape.n_parts > n_parts) n_parts = p->tape.n_parts;
  }
  taken.registers = BRAMAH__TAKE(arena, double, n_registers);
  taken.work_force = BRAMAH__TAKE(arena, double, program->n_works);
  taken.work_path = BRAMAH__TAKE(arena, double, program->n_works);
  taken.carried = BRAMAH__TAKE(arena, double, program->nv *BRAMAH__LISTED * program->n_par);
  taken.speed = BRAMAH__TAKE(arena, double, program->nc);
  taken.w = BRAMAH__TAKE(arena, double, program->nw);
  taken.open = BRAMAH__TAKE(arena, double, program->nw ? BRAMAH__N_PATHS * program->ns : 0);
  taken.P = BRAMAH__TAKE(arena, double, c->model->circuit.n_metered_lines);
  taken.done = BRAMAH__TAKE(arena, unsigned char, n_parts);
  taken.state = bramah__arena_take(arena, c->state.size, 1);
  return taken;
}

bramah__compiled bramah__compiled_cut(const bramah_coupled *c, const bramah_program *program,
                                      bramah__arena *arena)
{
  bramah__compiled taken = cut_one(c, program, arena);
  if (bramah__n_columns(program) == 0) return taken;
  taken.beside = BRAMAH__TAKE(arena, bramah__compiled, 1);
  const bramah__compiled other = cut_one(c, program, arena);
  if (taken.beside) *taken.beside = other;
  return taken;
}

void bramah__compiled_take(bramah_coupled *c, const bramah__compiled *memory)
{
  c->compiled = *memory;
  for (const bramah__compiled *k = memory; k && k->program; k = k->beside)
    bramah__tape_prepare(&k->program->tape, 1, k->registers);
}

bramah_status bramah_coupled_use(bramah_coupled *c, const bramah_program *program, bramah_diag *diag)
{
  if (program && program->model != c->base)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, c->model->name, "the program is that of another model");
  bramah__compiled taken = {0};
  bramah__arena arena = bramah__arena_make(NULL, 0);
  if (program) {
    bramah__compiled_cut(c, program, &arena);
    const bramah_status status = bramah__arena_new("program", arena.used, &arena, diag);
    if (status != BRAMAH_OK) return status;
    taken = bramah__compiled_cut(c, program, &arena);
    taken.memory = arena.base;
  }
  if (c->compiled.memory) bramah__aligned_free(c->compiled.memory);
  bramah__compiled_take(c, &taken);
  return BRAMAH_OK;
}
