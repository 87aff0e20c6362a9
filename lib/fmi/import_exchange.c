/* SPDX-License-Identifier: GPL-3.0-or-later */
/* FMUs for model exchange, which have equations and no solver: their events, and their integration by CVODE. It begins anew with each
 * communication step and after each event, so that a step depends on the FMU's own state alone: restored states go on to the same bits. */
#define _GNU_SOURCE /* locale_t */
#include "lib/fmi/import_instance.h"
#include "lib/io/fail.h"

#ifdef BRAMAH_SUNDIALS
#include <cvode/cvode.h>
#include <float.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdlib.h>
#include <string.h>
#include <sundials/sundials_version.h>
#include <sunlinsol/sunlinsol_dense.h>

_Static_assert(sizeof(sunrealtype) == sizeof(double), "SUNDIALS of doubles");

/* Relative; absolute to each state's nominal value. Differences of whole steps, of which derivatives are made, want it small. */
static const double tolerance = 1e-9;
enum { MOST_EVENTS = 1000, MOST_STEPS = 100000 }; /* of one communication step */

struct exchange {
  size_t n_x, n_z;
  bramah__fmu_event event;
  double now, *x; /* [n_x] */
  SUNContext context;
  N_Vector y, absolute;
  SUNMatrix matrix;
  SUNLinearSolver linear;
  void *cvode;
  bramah_diag why; /* of a failure inside the solver */
};

/* ---- the FMU's functions ---- */

static bramah_status set_time(local_instance *i, double time, bramah_diag *diag)
{
  i->exchange->now = time;
  CALL(i, "take the time", f2->set_time(c, time), f3->set_time(c, time));
}

/* Numbers of all states. */
#define OF_STATES(name, what, function, type)                                                                \
  static bramah_status name(local_instance *i, type *x, bramah_diag *diag)                                   \
  {                                                                                                          \
    const size_t n = i->exchange->n_x;                                                                       \
    if (n == 0) return BRAMAH_OK;                                                                            \
    CALL(i, what, f2->function(c, x, n), f3->function(c, x, n));                                             \
  }
OF_STATES(set_states, "take its states", set_states, const double)
OF_STATES(get_states, "give its states", get_states, double)
OF_STATES(get_nominals, "give nominal values of its states", nominals, double)

FUNCTION(get_rates, "give derivatives of its states", f2->rates(c, dx, i->exchange->n_x),
         f3->rates(c, dx, i->exchange->n_x), double *dx, bramah_diag *diag)

FUNCTION(get_indicators, "give its event indicators", f2->indicators(c, z, i->exchange->n_z),
         f3->indicators(c, z, i->exchange->n_z), double *z, bramah_diag *diag)

FUNCTION(begin_event, "enter event mode", f2->begin_event(c), f3->begin_event(c), bramah_diag *diag)

FUNCTION(end_event, "enter continuous time", f2->end_event(c), f3->end_event(c), bramah_diag *diag)

/* Discrete states anew; *more: and once more, *ends: it wants to end. Events to come are noted. */
static bramah_status update(local_instance *i, int *more, int *ends, bramah_diag *diag)
{
  fmi2EventInfo info = {0};
  fmi3Boolean flags[5] = {0};
  double next = 0.0;
  bramah_status status = bramah__fmu_dead(i, diag);
  if (status) return status;
  const int is2 = i->library->head.description->version == 2;
  const int said = is2 ? (int)i->library->f2.update(i->component, &info)
                       : (int)i->library->f3.update(i->component, &flags[0], &flags[1], &flags[2], &flags[3],
                                                    &flags[4], &next);
  status = bramah__fmu_judge(i, said, "update its discrete states", diag);
  *more = is2 ? info.newDiscreteStatesNeeded : flags[0];
  *ends = is2 ? info.terminateSimulation : flags[1];
  i->exchange->event.is_coming = is2 ? info.nextEventTimeDefined != 0 : flags[4];
  i->exchange->event.time = i->exchange->event.is_coming == 0.0 ? 0.0 : is2 ? info.nextEventTime : next;
  return status;
}

/* After each step of the solver. */
static bramah_status completed(local_instance *i, int *wants_event, int *ends, bramah_diag *diag)
{
  fmi2Boolean two[2] = {0, 0};
  fmi3Boolean three[2] = {0, 0};
  bramah_status status = bramah__fmu_dead(i, diag);
  *wants_event = *ends = 0;
  if (status || !i->library->head.description->wants_completed) return status;
  const int is2 = i->library->head.description->version == 2;
  const int said = is2 ? (int)i->library->f2.completed(i->component, fmi2False, &two[0], &two[1])
                       : (int)i->library->f3.completed(i->component, 0, &three[0], &three[1]);
  *wants_event = is2 ? two[0] : three[0];
  *ends = is2 ? two[1] : three[1];
  return bramah__fmu_judge(i, said, "complete a step of the solver", diag);
}

/* ---- events ---- */

static bramah_status wants_to_end(const local_instance *i, double time, bramah_diag *diag)
{
  return bramah__failf(diag, BRAMAH_E_ARGUMENT, NULL, 0, i->library->head.name,
                       "the FMU wants to end its simulation at %.9g s", time);
}

/* In event mode: until nothing changes any more, then into continuous time. */
static bramah_status settle(local_instance *i, double time, bramah_diag *diag)
{
  int more = 1, ends = 0;
  bramah_status status = BRAMAH_OK;
  for (int k = 0; !status && more; k++) {
    if (k == MOST_EVENTS)
      return bramah__failf(diag, BRAMAH_E_ARGUMENT, NULL, 0, i->library->head.name,
                           "the FMU's discrete states do not settle at %.9g s", time);
    status = update(i, &more, &ends, diag);
    if (!status && ends) return wants_to_end(i, time, diag);
  }
  return status ? status : end_event(i, diag);
}

static bramah_status event(local_instance *i, double time, bramah_diag *diag)
{
  bramah_status status = begin_event(i, diag);
  if (!status) status = settle(i, time, diag);
  return status ? status : get_states(i, i->exchange->x, diag);
}

/* ---- CVODE ---- */

static int evaluate(local_instance *i, double t, N_Vector y)
{
  bramah_status status = set_time(i, t, &i->exchange->why);
  if (!status) status = set_states(i, N_VGetArrayPointer(y), &i->exchange->why);
  return status ? -1 : 0;
}

static int rates(sunrealtype t, N_Vector y, N_Vector dy, void *user)
{
  local_instance *i = user;
  double *to = N_VGetArrayPointer(dy);
  if (evaluate(i, t, y) || get_rates(i, to, &i->exchange->why)) return -1;
  for (size_t k = 0; k < i->exchange->n_x; k++)
    if (!isfinite(to[k])) return 1; /* a shorter step, then */
  return 0;
}

static int indicators(sunrealtype t, N_Vector y, sunrealtype *z, void *user)
{
  local_instance *i = user;
  return evaluate(i, t, y) || get_indicators(i, z, &i->exchange->why) ? -1 : 0;
}

static int jacobian(sunrealtype t, N_Vector y, N_Vector dy, SUNMatrix J, void *user, N_Vector a, N_Vector b,
                    N_Vector other)
{
  local_instance *i = user;
  const bramah__fmu_description *d = i->library->head.description;
  const size_t n = i->exchange->n_x;
  double *entries = SUNDenseMatrix_Data(J); /* by columns, which are asked for one by one */
  (void)dy, (void)a, (void)b, (void)other;
  if (evaluate(i, t, y)) return -1;
  for (size_t k = 0; k < n; k++)
    if (i->head.calls->directional(&i->head, n, d->rate, 1, &d->state[k], entries + k * n, &i->exchange->why))
      return -1;
  return 0;
}

#if SUNDIALS_VERSION_MAJOR < 7
static void say_nothing(int code, const char *module, const char *function, char *message, void *user)
{
  (void)code, (void)module, (void)function, (void)message, (void)user;
}
#endif

static int set_up(local_instance *i)
{
  struct exchange *e = i->exchange;
  const sunindextype n = (sunindextype)e->n_x;
#if SUNDIALS_VERSION_MAJOR < 7
  if (SUNContext_Create(NULL, &e->context)) return 0;
#else
  if (SUNContext_Create(SUN_COMM_NULL, &e->context)) return 0;
  SUNContext_ClearErrHandlers(e->context);
#endif
  e->y = N_VNew_Serial(n, e->context);
  e->absolute = N_VNew_Serial(n, e->context);
  e->matrix = SUNDenseMatrix(n, n, e->context);
  if (!e->y || !e->absolute || !e->matrix) return 0;
  e->linear = SUNLinSol_Dense(e->y, e->matrix, e->context);
  e->cvode = CVodeCreate(CV_BDF, e->context);
  if (!e->linear || !e->cvode) return 0;
#if SUNDIALS_VERSION_MAJOR < 7
  CVodeSetErrHandlerFn(e->cvode, say_nothing, NULL);
#endif
  N_VConst(0.0, e->y);
  N_VConst(tolerance, e->absolute);
  return CVodeInit(e->cvode, rates, 0.0, e->y) == CV_SUCCESS && CVodeSetUserData(e->cvode, i) == CV_SUCCESS &&
         CVodeSVtolerances(e->cvode, tolerance, e->absolute) == CV_SUCCESS &&
         CVodeSetLinearSolver(e->cvode, e->linear, e->matrix) == CV_SUCCESS &&
         (!i->library->head.description->directional || CVodeSetJacFn(e->cvode, jacobian) == CV_SUCCESS) &&
         (e->n_z == 0 || CVodeRootInit(e->cvode, (int)e->n_z, indicators) == CV_SUCCESS);
}

static bramah_status solver_failed(local_instance *i, double time, int flag, bramah_diag *diag)
{
  struct exchange *e = i->exchange;
  if (e->why.status) {
    if (diag) *diag = e->why;
    return e->why.status;
  }
  char *name = CVodeGetReturnFlagName(flag);
  bramah__failf(diag, BRAMAH_E_ARGUMENT, NULL, 0, i->library->head.name,
                "its equations cannot be integrated at %.9g s (%s)", time, name ? name : "CVODE");
  free(name);
  return BRAMAH_E_ARGUMENT;
}

/* From *time towards `end`, up to an event (*has_event). States e->x at both ends. */
static bramah_status integrate(local_instance *i, double *time, double end, int *steps, int *has_event,
                               bramah_diag *diag)
{
  struct exchange *e = i->exchange;
  bramah_status status = BRAMAH_OK;
  int ends = 0, flag;
  bramah_diag_clear(&e->why);
  memcpy(N_VGetArrayPointer(e->y), e->x, e->n_x * sizeof *e->x);
  flag = CVodeReInit(e->cvode, *time, e->y);
  if (flag == CV_SUCCESS) flag = CVodeSetStopTime(e->cvode, end);
  while (flag >= 0 && !status && !*has_event && !ends && *time < end) {
    flag = CVode(e->cvode, end, e->y, time, CV_ONE_STEP);
    if (flag < 0 || ++*steps > MOST_STEPS) break;
    if (flag == CV_TSTOP_RETURN) *time = end;
    *has_event = flag == CV_ROOT_RETURN;
    status = set_time(i, *time, diag);
    if (!status) status = set_states(i, N_VGetArrayPointer(e->y), diag);
    int wanted = 0;
    if (!status) status = completed(i, &wanted, &ends, diag);
    *has_event |= wanted;
  }
  memcpy(e->x, N_VGetArrayPointer(e->y), e->n_x * sizeof *e->x);
  if (!status && flag < 0) return solver_failed(i, *time, flag, diag);
  if (!status && ends) return wants_to_end(i, *time, diag);
  if (!status && *steps > MOST_STEPS)
    return bramah__failf(diag, BRAMAH_E_ARGUMENT, NULL, 0, i->library->head.name,
                         "its equations take more than %d steps of the solver within one step, at %.9g s",
                         (int)MOST_STEPS, *time);
  return status;
}

/* ---- for the instance ---- */

/* What is nearer than `close` is the same time: steps and events that are announced rarely meet to the last digit. */
bramah_status bramah__exchange_step(local_instance *i, double time, double length, bramah_diag *diag)
{
  struct exchange *e = i->exchange;
  const double end = time + length, close = 1e-9 * length + 8.0 * DBL_EPSILON * fabs(end);
  int steps = 0, events = 0;
  bramah_status status = set_time(i, time, diag);
  if (!status) status = get_states(i, e->x, diag);
  while (!status && end - time > close) {
    const int is_near = e->event.is_coming != 0.0 && e->event.time <= end + close;
    const double stop = is_near ? e->event.time : end;
    int has_event = 0;
    if (e->n_x && stop - time > close)
      status = integrate(i, &time, stop, &steps, &has_event, diag);
    else if (stop > time)
      status = set_time(i, time = stop, diag);
    if (status || !(has_event || (is_near && time >= stop))) continue;
    status = event(i, time, diag);
    if (!status && ++events > MOST_EVENTS)
      status =
          bramah__failf(diag, BRAMAH_E_ARGUMENT, NULL, 0, i->library->head.name,
                        "the FMU has more than %d events within one step, at %.9g s", (int)MOST_EVENTS, time);
  }
  return status;
}

bramah_status bramah__exchange_begin(local_instance *i, double time, bramah_diag *diag)
{
  struct exchange *e = i->exchange;
  e->now = time;
  bramah_status status = settle(i, time, diag);
  if (!status && e->n_x) status = get_nominals(i, N_VGetArrayPointer(e->absolute), diag);
  for (size_t k = 0; !status && k < e->n_x; k++) {
    double *to = N_VGetArrayPointer(e->absolute) + k;
    *to = tolerance * (isfinite(*to) && *to != 0.0 ? fabs(*to) : 1.0);
  }
  if (!status && e->n_x && CVodeSVtolerances(e->cvode, tolerance, e->absolute) != CV_SUCCESS)
    return bramah__fail_memory(diag);
  return status ? status : get_states(i, e->x, diag);
}

FUNCTION(set_others, "take values", f2->set(c, reference, n, value), f3->set(c, reference, n, value, n),
         size_t n, const uint32_t *reference, const double *value, bramah_diag *diag)

/* Which of the continuous states; n_x: none. */
static size_t state_of(const local_instance *i, uint32_t reference)
{
  size_t k = 0;
  while (k < i->exchange->n_x && i->library->head.description->state[k] != reference) k++;
  return k;
}

bramah_status bramah__exchange_set(local_instance *i, size_t n, const uint32_t *reference,
                                   const double *value, bramah_diag *diag)
{
  struct exchange *e = i->exchange;
  bramah_status status = get_states(i, e->x, diag);
  for (size_t k = 0; k < n; k++) {
    const size_t at = state_of(i, reference[k]);
    if (at < e->n_x) e->x[at] = value[k];
  }
  if (!status) status = set_states(i, e->x, diag);
  if (!status) status = begin_event(i, diag);
  for (size_t k = 0; !status && k < n; k++)
    if (state_of(i, reference[k]) == e->n_x) status = set_others(i, 1, &reference[k], &value[k], diag);
  return status ? status : settle(i, e->now, diag);
}

bramah_status bramah__exchange_open_event(local_instance *i, bramah_diag *diag)
{
  return begin_event(i, diag);
}
bramah_status bramah__exchange_close_event(local_instance *i, bramah_diag *diag)
{
  return settle(i, i->exchange->now, diag);
}

bramah__fmu_event *bramah__exchange_event(local_instance *i) { return &i->exchange->event; }

bramah_status bramah__exchange_new(local_instance *i, bramah_diag *diag)
{
  const bramah__fmu_description *d = i->library->head.description;
  struct exchange *e = calloc(1, sizeof *e);
  i->exchange = e;
  if (!e) return bramah__fail_memory(diag);
  e->n_x = d->n_state;
  e->n_z = d->n_indicators;
  e->x = calloc(e->n_x + 1, sizeof *e->x);
  return e->x && (e->n_x == 0 || set_up(i)) ? BRAMAH_OK : bramah__fail_memory(diag);
}

void bramah__exchange_free(local_instance *i)
{
  struct exchange *e = i->exchange;
  if (!e) return;
  if (e->cvode) CVodeFree(&e->cvode);
  if (e->linear) SUNLinSolFree(e->linear);
  if (e->matrix) SUNMatDestroy(e->matrix);
  if (e->absolute) N_VDestroy(e->absolute);
  if (e->y) N_VDestroy(e->y);
  if (e->context) SUNContext_Free(&e->context);
  free(e->x);
  free(e);
  i->exchange = NULL;
}

#else

bramah_status bramah__exchange_new(local_instance *i, bramah_diag *diag)
{
  return bramah__failf(
      diag, BRAMAH_E_UNSUPPORTED, NULL, 0, i->library->head.name,
      "this FMU is for model exchange alone and brings no solver, and this bramah was built without "
      "SUNDIALS, which has one: install libsundials-dev, build it anew; or export the FMU for co-simulation");
}

void bramah__exchange_free(local_instance *i) { (void)i; }
bramah__fmu_event *bramah__exchange_event(local_instance *i) { return (void)i, NULL; }
bramah_status bramah__exchange_begin(local_instance *i, double time, bramah_diag *diag)
{
  return (void)time, bramah__exchange_new(i, diag);
}
bramah_status bramah__exchange_set(local_instance *i, size_t n, const uint32_t *reference,
                                   const double *value, bramah_diag *diag)
{
  return (void)n, (void)reference, (void)value, bramah__exchange_new(i, diag);
}
bramah_status bramah__exchange_open_event(local_instance *i, bramah_diag *diag)
{
  return bramah__exchange_new(i, diag);
}
bramah_status bramah__exchange_close_event(local_instance *i, bramah_diag *diag)
{
  return bramah__exchange_new(i, diag);
}
bramah_status bramah__exchange_step(local_instance *i, double time, double length, bramah_diag *diag)
{
  return (void)time, (void)length, bramah__exchange_new(i, diag);
}

#endif
