/* SPDX-License-Identifier: MIT */
/* Pressures at which the machine rests in its initial pose. At rest friction vanishes and a closed valve
 * passes nothing, so the balance of the independent coordinates and equal pressures across orifices and
 * leakages are linear equations for the pressures that the machine file leaves open. Check valves, relief
 * valves and pumps must pass nothing at the outcome.
 *
 * Where these cannot be met less is asked for, as little less as will do: that the strokes of the cylinders with an
 * open pressure do not accelerate, whatever else of the machine does (a load that swings); then that oil rests but for
 * that which leaks past the piston of a cylinder, which then creeps under its load. */
#include "lib/plant/coupled_internal.h"
#include "lib/base/diag.h"
#include "lib/hydraulics/metering.h"
#include "lib/math/dense.h"

#include <math.h>
#include <string.h>

static const double still_flow = 1e-12; /* [m^3/s] counts as none */

/* Columns of the open volumes, and the work arrays, taken from scratch memory of the model's own plant. */
typedef struct problem {
  bramah_model *model;
  const bramah_machine *machine;
  bramah_coupled *c;
  size_t n_open, n_balance, n_rows; /* unknowns; rows of the balance, and behind them of what levels */
  int swings, creeps; /* 1: rows of the balance are those of cylinders; leaks past a piston do not level */
} problem;

static int is_open(const bramah_machine *machine, size_t volume)
{
  return machine->volumes[volume].initial == BRAMAH_PRESSURE_EQUILIBRIUM;
}

static size_t column_of(const problem *q, size_t volume)
{
  size_t column = 0;
  for (size_t i = 0; i < volume; i++) column += (size_t)is_open(q->machine, i);
  return column;
}

static void add_node(const problem *q, size_t node, double sign, double *row, double *b)
{
  const bramah_model *m = q->model;
  if (node < m->circuit.n_volumes && is_open(q->machine, node))
    row[column_of(q, node)] += sign;
  else
    *b -= sign * (node < m->circuit.n_volumes ? m->p0[node] : m->circuit.supply[node - m->circuit.n_volumes]);
}

/* Has this cylinder an open pressure? Open volumes of pistons and rods only. */
static int is_held(const problem *q, size_t i)
{
  const bramah__cylinder *cylinder = &q->model->circuit.cylinder[i];
  return is_open(q->machine, cylinder->piston) || is_open(q->machine, cylinder->rod);
}

static int leaks_past_piston(const bramah__circuit *circuit, size_t i)
{
  const size_t *node = circuit->element[i].node;
  if (circuit->element[i].kind != BRAMAH__KIND(leakage)) return 0;
  for (size_t k = 0; k < circuit->n_cylinders; k++) {
    const bramah__cylinder *cylinder = &circuit->cylinder[k];
    if (node[0] == cylinder->piston && node[1] == cylinder->rod) return 1;
    if (node[1] == cylinder->piston && node[0] == cylinder->rod) return 1;
  }
  return 0;
}

/* Elements whose oil rests only at equal pressures. */
static int levels(const problem *q, size_t i)
{
  const bramah__circuit *circuit = &q->model->circuit;
  if (!bramah__element_kinds[circuit->element[i].kind]->levels) return 0;
  return !q->creeps || !leaks_past_piston(circuit, i);
}

static int all_zero(size_t n, const double *x)
{
  for (size_t i = 0; i < n; i++)
    if (x[i] != 0.0) return 0;
  return 1;
}

static bramah_status undetermined(const problem *q, bramah_diag *diag)
{
  const bramah_volume *volume = q->machine->volumes; /* the first one that is open */
  while (!is_open(q->machine, (size_t)(volume - q->machine->volumes))) volume++;
  bramah__fail(
      diag, BRAMAH_E_SINGULAR, volume->name,
      "equilibrium does not determine this pressure; give the pressure of one chamber of each cylinder "
      "or rotary actuator");
  bramah__at(diag, q->machine->file, volume->line, 0);
  return BRAMAH_E_SINGULAR;
}

/* What remains of b - A x after the solution says whether anything was out of balance that no pressure can
 * hold. Connections are named rather than joints: an over-determined system spreads over both. */
static bramah_status check_residual(const problem *q, const double *A, const double *b, const double *x,
                                    bramah_diag *diag)
{
  for (size_t r = q->n_rows; r-- > 0;) {
    double residual = b[r], size = fabs(b[r]) + 1.0;
    for (size_t k = 0; k < q->n_open; k++) {
      residual -= A[r * q->n_open + k] * x[k];
      size += fabs(A[r * q->n_open + k] * x[k]);
    }
    if (fabs(residual) <= 1e-8 * size) continue;

    /* The row is the balance of a joint or cylinder, or of the element that levels its two sides. */
    const bramah_model *m = q->model;
    const int balances = r < q->n_balance;
    const char *name = balances && !q->swings ? m->joint_name[q->c->state.index[m->n_dependent + r]] : NULL;
    size_t i = 0;
    for (size_t left = balances ? r : r - q->n_balance; !name; i++) {
      if (!(balances ? is_held(q, i) : levels(q, i)) || left-- > 0) continue;
      name = balances ? m->cylinder_name[i] : m->element_name[i];
    }
    return bramah__fail(diag, BRAMAH_E_SINGULAR, name, "no choice of the open pressures keeps this at rest");
  }
  return BRAMAH_OK;
}

/* Flow through an element at an open volume says that the pressures are no equilibrium. */
static bramah_status check_elements(const problem *q, bramah_diag *diag)
{
  const bramah__circuit *circuit = &q->model->circuit;
  for (size_t i = 0; i < circuit->n_passing; i++) {
    const size_t *node = circuit->element[i].node, np = circuit->n_volumes;
    const int open =
        (node[0] < np && is_open(q->machine, node[0])) || (node[1] < np && is_open(q->machine, node[1]));
    /* a pump that a joint turns goes with the joint's rate at the start */
    double Q = bramah__flow_at(circuit, i, q->model->p0, q->c->now->v, q->model->U0, NULL, NULL, NULL);
    if (Q == 0.0 && i >= circuit->first_motor && i < circuit->first_motor + circuit->n_motors)
      Q = bramah__motor_flow(circuit, i, 2, q->model->p0, NULL, NULL);
    if (bramah__element_kinds[circuit->element[i].kind]->levels || !open || fabs(Q) <= still_flow) continue;
    bramah__fail(diag, BRAMAH_E_VALUE, q->model->element_name[i],
                 "oil flows through this at the equilibrium pressures: ");
    bramah__add_number(diag, Q, 4);
    bramah__add_text(diag, " m^3/s; give the pressures on both of its sides");
    bramah__at(diag, q->machine->file, bramah__element_of(q->machine, i, NULL)->line, 0);
    return BRAMAH_E_VALUE;
  }
  return BRAMAH_OK;
}

/* Balance of the independent coordinates, A [n_dof x n_open] and b [n_dof]. */
static void fill_balance(const problem *q, double *A, double *b)
{
  const bramah_model *m = q->model;
  const size_t nf = m->n_independent;
  const bramah__eval *now = q->c->now;
  for (size_t f = 0; f < nf; f++) b[f] = -now->rhs[f];
  for (size_t i = 0; i < m->circuit.n_cylinders; i++) {
    const bramah__cylinder *cylinder = &m->circuit.cylinder[i];
    const struct {
      size_t volume;
      double area;
    } chambers[2] = {{cylinder->piston, cylinder->piston_area}, {cylinder->rod, -cylinder->rod_area}};
    const double stop = bramah__stop_force(&m->circuit.cylinder[i], e_number(now->s[i]), e_number(0.0)).value;
    for (size_t f = 0; f < nf; f++) b[f] -= now->row_i[i * nf + f] * stop;
    for (int e = 0; e < 2; e++)
      for (size_t f = 0; f < nf; f++) {
        const double arm = now->row_i[i * nf + f] * chambers[e].area;
        if (is_open(q->machine, chambers[e].volume))
          A[f * q->n_open + column_of(q, chambers[e].volume)] += arm;
        else
          b[f] -= arm * m->p0[chambers[e].volume];
      }
  }
}

/* From it that of the cylinders, A [n_balance x n_open] and b [n_balance]: with M^-1 in front the rows are accelerations
 * of the coordinates, with the lever arms of a cylinder in front of these the one of its stroke. */
static void let_others_go(const problem *q, double *A, double *b)
{
  const bramah_model *m = q->model;
  const size_t nf = m->n_independent;
  const bramah__eval *now = q->c->now;
  double *zdd = q->c->zdd_i;
  for (size_t k = 0; k <= q->n_open; k++) {
    double *column = k < q->n_open ? A + k : b;
    const size_t step = k < q->n_open ? q->n_open : 1;
    for (size_t f = 0; f < nf; f++) {
      zdd[f] = column[f * step];
      column[f * step] = 0.0;
    }
    bramah__cholesky_solve(nf, now->Mi, zdd);
    for (size_t i = 0, r = 0; i < m->circuit.n_cylinders; i++) {
      if (!is_held(q, i)) continue;
      column[r * step] = 0.0;
      for (size_t f = 0; f < nf; f++) column[r * step] += now->row_i[i * nf + f] * zdd[f];
      r++;
    }
  }
}

/* The open pressures into p0 of the model. *undone: 1 if none are an equilibrium. */
static bramah_status solve(const problem *q, double *work, int *undone, bramah_diag *diag)
{
  const size_t rows = q->n_rows, columns = q->n_open, nf = q->model->n_independent;
  const size_t room = nf > rows ? nf : rows, longer = room > columns ? room : columns;
  double *A = work, *b = A + room * columns, *A_copy = b + longer, *x = A_copy + rows * columns,
         *rest = x + longer;
  memset(work, 0, (size_t)(rest - work) * sizeof *work);
  const bramah_model *m = q->model;
  fill_balance(q, A, b);
  if (q->swings) let_others_go(q, A, b);
  for (size_t i = 0, r = q->n_balance; i < m->circuit.n_elements; i++) {
    if (!levels(q, i)) continue;
    add_node(q, m->circuit.element[i].node[0], 1.0, A + r * q->n_open, &b[r]);
    add_node(q, m->circuit.element[i].node[1], -1.0, A + r * q->n_open, &b[r]);
    r++;
  }

  /* Each row to unit size, so that one tolerance judges all; rows without an unknown are left out of the
   * problem. */
  for (size_t r = 0; r < q->n_rows; r++) {
    double *row = A + r * q->n_open, largest = 0.0;
    for (size_t k = 0; k < q->n_open; k++) largest = fmax(largest, fabs(row[k]));
    if (largest == 0.0 && r >= q->n_balance) b[r] = 0.0;
    if (largest == 0.0) continue;
    for (size_t k = 0; k < q->n_open; k++) row[k] /= largest;
    b[r] /= largest;
  }
  memcpy(A_copy, A, rows * columns * sizeof *A);
  memcpy(x, b, rows * sizeof *b);
  *undone = 0;
  if (all_zero(rows * columns, A)) return undetermined(q, diag);
  const int rank = bramah__least_squares(rows, columns, A_copy, x, 1e-10, rest);
  if (rank < (int)columns) return undetermined(q, diag);
  const bramah_status status = check_residual(q, A, b, x, diag);
  *undone = status != BRAMAH_OK;
  if (status != BRAMAH_OK) return status;
  for (size_t i = 0, k = 0; i < q->machine->n_volumes; i++)
    if (is_open(q->machine, i)) q->model->p0[i] = x[k++];
  return check_elements(q, diag);
}

/* Metered cylinders hold their loads only behind closed valves and below the reliefs. */
static bramah_status check_standing(const problem *q, bramah_diag *diag)
{
  const bramah_model *m = q->model;
  bramah__eval *probe = q->c->probe;
  double *w = probe->w, *still = probe->v;
  memset(still, 0, m->circuit.n_cylinders * sizeof *still);
  bramah__metered_solve(&m->circuit, m->p0, still, m->U0, w, probe->P);
  for (size_t i = 0; i < m->circuit.n_metered; i++) {
    const bramah__metered_port *port = &m->circuit.metered_port[i];
    if (!is_open(q->machine, port->volume) || w[i] == 0.0) continue;
    bramah__fail(
        diag, BRAMAH_E_VALUE, m->cylinder_name[port->cylinder],
        "this cylinder does not hold its load at the start: a valve is open or a relief valve opens; "
        "close it, or give the load pressure");
    bramah__at(diag, q->machine->file, q->machine->volumes[port->volume].line, 0);
    return BRAMAH_E_VALUE;
  }
  return BRAMAH_OK;
}

size_t bramah__equilibrium_work(const bramah_machine *machine)
{
  const size_t rows = machine->n_joints + machine->n_cylinders + bramah__count_elements(machine).levelling,
               columns = machine->n_volumes;
  const size_t longer = rows > columns ? rows : columns;
  return 2 * rows * columns + 2 * longer + bramah__least_squares_work(rows, columns);
}

/* All that rests, else less of it; where nothing will do, the message says what does not rest. */
static bramah_status solve_for_most(problem *q, double *work, bramah_diag *diag)
{
  const bramah_model *m = q->model;
  bramah_status status = BRAMAH_OK;
  bramah_diag first = {0};
  int undone = 1;
  for (int less = 0; less < 4 && undone; less++) {
    q->swings = less & 1;
    q->creeps = less >> 1;
    q->n_balance = q->n_rows = 0;
    for (size_t i = 0; i < m->circuit.n_cylinders; i++) q->n_balance += (size_t)is_held(q, i);
    if (q->swings && !q->n_balance) continue;
    if (!q->swings) q->n_balance = m->n_independent;
    for (size_t i = 0; i < m->circuit.n_elements; i++) q->n_rows += (size_t)levels(q, i);
    q->n_rows += q->n_balance;
    if (diag) bramah_diag_clear(diag);
    status = solve(q, work, &undone, diag);
    if (!less && diag) first = *diag;
  }
  if (undone && diag) *diag = first;
  return status;
}

bramah_status bramah__equilibrium(bramah_coupled *c, bramah_model *model, const bramah_machine *machine,
                                  double *work, bramah_diag *diag)
{
  problem q = {.model = model, .machine = machine, .c = c};
  for (size_t i = 0; i < machine->n_volumes; i++) q.n_open += (size_t)is_open(machine, i);
  if (q.n_open == 0) return BRAMAH_OK;
  for (size_t i = 0; i < model->circuit.n_valves; i++) {
    bramah__expr e[BRAMAH__N_PATHS];
    int open = 0;
    bramah__openings(&model->circuit.valve[i].opening, e_number(machine->valves[i].initial_spool), e);
    for (int w = 0; w < BRAMAH__N_PATHS; w++) open |= e[w].value != 0.0;
    if (!open) continue;
    bramah__fail(diag, BRAMAH_E_VALUE, machine->valves[i].name,
                 "equilibrium pressures need a closed valve at the start");
    bramah__at(diag, machine->file, machine->valves[i].line, 0);
    return BRAMAH_E_VALUE;
  }
  bramah__state *state = &q.c->state;
  bramah__meet_at_start(q.c, 1);
  bramah__evaluate_contacts(model, state->U, 0.0, state->x, NULL, NULL, state->xd, q.c->now);
  bramah__evaluate_rhs(model, state, q.c->now);
  bramah__meet_at_start(q.c, 0);
  const bramah_status status = solve_for_most(&q, work, diag);
  return status == BRAMAH_OK ? check_standing(&q, diag) : status;
}
