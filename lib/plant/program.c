/* SPDX-License-Identifier: MIT */
/* Programs of a machine: what can be compiled, and for which independent coordinates. A graph knows one choice of these;
 * where loops move far the plant goes over to another one (candidate.c). So a machine has a program for each choice that it
 * meets while it is led about between the ends of its cylinders, up to a few; they share what a plant needs to run them. */
#include "lib/base/diag.h"
#include "lib/graph/solve.h"
#include "lib/hydraulics/circuit_graph.h"
#include "lib/multibody/tree_graph.h"
#include "lib/plant/coupled_internal.h"
#include "lib/plant/step_graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a graph does not know ---- */

static bramah_status refuse(bramah_diag *diag, const char *thing, const char *why)
{
  return bramah__fail(diag, BRAMAH_E_UNSUPPORTED, thing, why);
}

static bramah_status check(const bramah_model *model, bramah_diag *diag)
{
  if (model->formulation != BRAMAH_FORMULATION_PARTITIONING)
    return refuse(diag, model->name, "only coordinate partitioning is compiled");
  if (model->n > BRAMAH__MOST_BODIES ||
      model->n + model->n_first_order + model->circuit.n_valves > BRAMAH__MOST_UNKNOWNS ||
      model->n_bristles > BRAMAH__MOST_UNKNOWNS)
    return refuse(diag, model->name, "this machine is too large to be compiled");
  if (model->n_independent == 0)
    return refuse(diag, model->name, "a machine that cannot move is not compiled");

  if (model->n_rolling) return refuse(diag, model->rolling[0].name, "wheels and knife edges are not stepped");

  return BRAMAH_OK;
}

static void count(const bramah_model *model, bramah_program *out)
{
  const bramah__forces *forces = &model->forces;
  out->model = model;
  out->n = model->n;
  out->nd = model->n_dependent;
  out->nf = model->n_independent;
  out->np = model->n_first_order;
  out->nx = out->nf + out->np;
  out->nv = out->nx;
  for (size_t i = 0; i < model->n_parameters; i++)
    if (bramah__bends_bristles(&model->parameter[i])) out->nv = out->nx + model->n_friction_states;
  out->nh = model->n_bristles;
  out->nn = out->nx + out->nh;
  out->ne = out->nf + out->nn;
  out->ns = bramah__n_spools(&model->circuit);
  out->nc = model->circuit.n_cylinders;
  out->nw = model->circuit.n_metered;
  out->ny = out->nw ? out->nw + bramah__n_gauges(&model->circuit) : 0;
  out->nm = model->n_motions;
  out->nb = model->n_balls;
  out->nq = model->n_friction_states;
  out->nk = model->n_standing;
  out->no = model->n_tools;
  out->ng = bramah__meeting_inputs(model);
  out->nl = bramah__load_signals(&model->circuit, NULL, NULL);
  out->nu = bramah__n_kinks(&model->circuit);
  out->n_par = model->n_parameters;
  out->n_works = forces->n_springs + forces->n_joint_springs + 4 * forces->n_loads + out->n + 4 * out->nc +
                 forces->n_limits + 4 * model->n_contact_points + 6 * model->n_meetings + model->n_sums;
  for (size_t i = 0; i < model->n_shafts; i++) out->n_works += model->shaft[i].n_joints;
}

/* ---- other choices of coordinates ---- */

/* Poses of machines with one degree of freedom, which are soon at their ends or round, and of others. */
enum { MOST_BASES = 6, POSES_ON_A_LINE = 150, POSES = 1000, STRAIGHT = 100 };

/* Another pose, about this far away [rad or m], the way that the independent coordinates go; 0 if there is none. */
static int go_on(bramah_coupled *c, const double *way)
{
  static const double far = 0.2;
  const bramah_model *model = c->model;
  const size_t nf = model->n_independent;
  double fastest = 1.0;
  for (size_t k = 0; k < model->n * nf; k++) fastest = fmax(fastest, fabs(c->now->Rz[k]));
  bramah__state_copy(&c->state, &c->next);
  for (size_t j = 0; j < model->n; j++)
    for (size_t f = 0; f < nf; f++) c->next.z[j] += far / fastest * c->now->Rz[j * nf + f] * way[f];
  if (bramah__evaluate_position(model, &c->next, c->trial, BRAMAH__LOOPS_CLOSED) != BRAMAH_OK) return 0;
  if (bramah__check_strokes(c, NULL) != BRAMAH_OK) return 0;
  bramah__take_candidate(c);
  c->now_valid = 0;
  bramah__update_basis(c);
  return 1;
}

static const bramah_program *find(const bramah_program *program, const bramah__state *state)
{
  while (program && !bramah__program_knows(program, state)) program = program->next;
  return program;
}

/* ---- all programs ---- */

static bramah_status compile(const bramah_model *model, bramah_program_scope scope,
                             const unsigned char *follows, const bramah__state *at, bramah_diag *diag,
                             bramah_program **out)
{
  bramah_program *program = *out = calloc(1, sizeof *program);
  bramah_status status = BRAMAH_E_MEMORY;
  if (program) {
    program->scope = scope;
    count(model, program);
    program->work = calloc(program->n_works + 1, sizeof *program->work);
    program->reading = calloc(model->n_outputs + 1, sizeof *program->reading);
    program->index = calloc(model->n + 1, sizeof *program->index);
    program->row = calloc(model->m + 1, sizeof *program->row);
    program->follows = calloc(model->n_parameters + 1, 1);
  }
  if (program && program->work && program->reading && program->index && program->row && program->follows) {
    memcpy(program->follows, follows, model->n_parameters);
    memcpy(program->index, at->index, model->n * sizeof *program->index);
    memcpy(program->row, at->row, model->m * sizeof *program->row);
    status = bramah__step_graph_build(at, program, diag);
  }
  if (status == BRAMAH_E_MEMORY)
    bramah__fail(diag, status, model->name,
                 "no memory to compile this machine, or it needs too many registers");
  if (status == BRAMAH_OK) return status;
  bramah_program_free(program);
  *out = NULL;
  return status;
}

/* For the choices that the plant c comes to. */
static void lead_about(bramah_coupled *c, bramah_program *program)
{
  const bramah_model *model = program->model;
  double way[BRAMAH__MOST_BODIES] = {0};
  uint32_t number = 1;
  int turns = 1;
  size_t tried = 1;
  const int poses = model->n_independent == 1 ? POSES_ON_A_LINE : POSES;
  for (int pose = 0; pose < poses && tried < MOST_BASES; pose++) {
    for (size_t f = 0; f < model->n_independent && (turns || pose % STRAIGHT == 0); f++) {
      number = 1664525u * number + 1013904223u;
      way[f] = (double)(number >> 8) / (double)(1u << 23) - 1.0;
    }
    turns = !go_on(c, way);
    if (turns || find(program, &c->state)) continue;
    bramah_program **last = &program->next;
    while (*last) last = &(*last)->next;
    compile(model, program->scope, program->follows, &c->state, NULL, last);
    tried++;
  }
}

bramah_status bramah_program_new(const bramah_model *model, bramah_diag *diag, bramah_program **out)
{
  return bramah_program_new_for(model, BRAMAH_PROGRAM_PARAMETERS, 0, NULL, diag, out);
}

bramah_status bramah_program_new_for(const bramah_model *model, bramah_program_scope scope, size_t n_par,
                                     const size_t *par, bramah_diag *diag, bramah_program **out)
{
  *out = NULL;
  bramah_coupled *c;
  bramah_status status = check(model, diag);
  if (status == BRAMAH_OK) status = bramah_coupled_new(model, diag, &c);
  if (status != BRAMAH_OK) return status;
  unsigned char *follows = calloc(model->n_parameters + 1, 1);
  if (follows && !par && scope == BRAMAH_PROGRAM_PARAMETERS) memset(follows, 1, model->n_parameters);
  for (size_t i = 0; par && i < n_par && follows && scope == BRAMAH_PROGRAM_PARAMETERS; i++)
    follows[par[i]] = 1;
  status = follows ? compile(model, scope, follows, &c->state, diag, out)
                   : bramah__fail(diag, BRAMAH_E_MEMORY, model->name, "no memory to compile this machine");
  free(follows);
  bramah_coupled_free(c);
  return status;
}

bramah_status bramah_program_add_bases(bramah_program *program, bramah_diag *diag)
{
  bramah_coupled *c;
  if (program->nd == 0 || program->next) return BRAMAH_OK;
  const bramah_status status = bramah_coupled_new(program->model, diag, &c);
  if (status != BRAMAH_OK) return status;
  memset(c->state.zd, 0, program->n * sizeof *c->state.zd);
  if (bramah__refresh(c, NULL) == BRAMAH_OK) lead_about(c, program);
  bramah_coupled_free(c);
  return BRAMAH_OK;
}

bramah_program_info bramah_program_get_info(const bramah_program *program)
{
  bramah_program_info info = {.scope = program->scope,
                              .n_iterate = program->tape.part[BRAMAH__PART_ITERATE].n_operations};
  for (size_t i = 0; i < program->n_par; i++) info.n_parameters += program->follows[i];
  for (const bramah_program *p = program; p; p = p->next) {
    for (size_t i = 0; i < p->tape.n_parts; i++) info.n_operations += p->tape.part[i].n_operations;
    if (p->tape.n_registers * sizeof(double) > info.bytes) info.bytes = p->tape.n_registers * sizeof(double);
  }
  /* What the interpreter costs, in operations of the tape. */
  const bramah__circuit *circuit = &program->model->circuit;
  const size_t of_circuit = 100 * program->np +
                            150 * (circuit->n_elements + circuit->n_valves + 2 * circuit->n_cylinders),
               of_contacts = 3000 * program->model->n_contact_points;
  info.is_faster = info.n_iterate <=
                   400 * program->n + of_circuit + of_contacts + program->nx * program->nx * program->nx / 3;
  return info;
}

void bramah_program_free(bramah_program *program)
{
  if (!program) return;
  bramah_program_free(program->next);
  bramah__tape_free(&program->tape);
  free(program->work);
  free(program->follows);
  free(program->reading);
  free(program->index);
  free(program->row);
  free(program->closure_pivot);
  free(program->pivot);
  free(program->mass_pivot);
  free(program);
}
