/* SPDX-License-Identifier: MIT */
/* A hydraulic crane as a functional mock-up unit for co-simulation: written against the headers of the standard alone, with nothing of
 * bramah in it. -DFMI_VERSION=2 or 3.
 *
 * Two booms in a vertical plane, each turned by a cylinder with two chambers that a four-way valve feeds. Inside each communication step
 * classical Runge-Kutta steps of 0.1 ms. What it can do besides is chosen when it is compiled, so that importers can be tried:
 *   SAVES      0: it has no functions to save its state (1 otherwise)
 *   SETS       0: in step mode only inputs and parameters can be set (1 otherwise)
 *   CRASHES    1: with a load above 1 t it writes to a wrong address, above 1.2 t it ends its process, above 1.4 t it never returns (0
 *              otherwise)
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#if FMI_VERSION == 2
#include "fmi2Functions.h"
#else
#include "fmi3Functions.h"
#endif

#ifndef SAVES
#define SAVES 1
#endif
#ifndef SETS
#define SETS 1
#endif
#ifndef CRASHES
#define CRASHES 0
#endif

enum { N = 8, STATES = 1, RATES = 9, INPUTS = 17, LOAD = 19, TIP_X = 20, TIP_Z = 21 };
static const char token[] = "5f1c1b64-8a59-4a53-9d0a-2a6b7f3d9e10";

/* phi1, phi2 [rad]: of the first boom above the horizontal, of the second against the first; their rates; four pressures [bar]. */
typedef struct state {
  double x[N], u[2], load, time;
  int phase; /* 0: instantiated, 1: initialization, 2: steps */
} state;

static const state initial = {.x = {0.7, -1.2, 0, 0, 95, 60, 30, 55}, .load = 300};

/* ---- the crane ---- */

/* Boom: length, mass, centre, inertia about it. Cylinder: distances of its ends from the joint, angle between them at phi 0, length at
 * which the piston side is empty, areas, stroke. */
static const struct boom {
  double length, mass, centre, inertia;
} boom[2] = {{3.5, 420, 1.7, 480}, {3.0, 230, 1.3, 190}};
static const struct cylinder {
  double a, b, angle, empty, piston, rod, stroke;
} cylinder[2] = {{0.60, 1.10, 0.90, 0.55, 0.0095, 0.0061, 1.10},
                 {0.45, 0.60, 2.60, 0.25, 0.0064, 0.0036, 0.80}};
static const double gravity = 9.81, bulk_modulus = 9e8, dead_volume = 4e-4, supply = 180e5, tank = 2e5;
static const double valve_flow = 2.2e-7, friction[2] = {900, 500}, damping[2] = {4e3, 2e3}, bar = 1e5;

/* Flow [m^3/s] over an edge that is so far open, smooth where the pressures meet. */
static double flow(double opening, double from, double to)
{
  const double dp = from - to;
  return valve_flow * opening * dp / pow(dp * dp + 1e10, 0.25);
}

static void derivative(const state *s, const double *x, double *dx)
{
  const double total = x[0] + x[1], c2 = cos(x[1]), s2 = sin(x[1]), l1 = boom[0].length, l2 = boom[1].length;
  const double m2 = boom[1].mass, r2 = boom[1].centre, load = s->load;
  const double coupling = m2 * r2 + load * l2, heavy = boom[0].mass * boom[0].centre + (m2 + load) * l1;
  const double outer = boom[1].inertia + m2 * r2 * r2 + load * l2 * l2;
  const double m22 = outer, m12 = outer + coupling * l1 * c2;
  const double m11 = boom[0].inertia + boom[0].mass * boom[0].centre * boom[0].centre +
                     (m2 + load) * l1 * l1 + outer + 2 * coupling * l1 * c2;
  const double gyro = coupling * l1 * s2;
  double torque[2] = {gyro * (2 * x[2] * x[3] + x[3] * x[3]) -
                          gravity * (heavy * cos(x[0]) + coupling * cos(total)),
                      -gyro * x[2] * x[2] - gravity * coupling * cos(total)};
  for (int i = 0; i < 2; i++) {
    const struct cylinder *c = &cylinder[i];
    const double angle = x[i] + c->angle,
                 length = sqrt(c->a * c->a + c->b * c->b - 2 * c->a * c->b * cos(angle));
    const double arm = c->a * c->b * sin(angle) / length, speed = arm * x[2 + i], *p = x + 4 + 2 * i;
    const double pa = bar * p[0], pb = bar * p[1], u = s->u[i] / 10;
    const double open = 0.5 * (u + sqrt(u * u + 1e-6)), back = 0.5 * (-u + sqrt(u * u + 1e-6));
    const double qa = flow(open, supply, pa) - flow(back, pa, tank),
                 qb = flow(back, supply, pb) - flow(open, pb, tank);
    const double leakage = 2e-13 * (pa - pb);
    torque[i] += arm * (c->piston * pa - c->rod * pb - damping[i] * speed - friction[i] * tanh(speed / 0.01));
    dx[4 + 2 * i] = bulk_modulus / (dead_volume + c->piston * (length - c->empty)) *
                    (qa - leakage - c->piston * speed) / bar;
    dx[5 + 2 * i] = bulk_modulus / (dead_volume + c->rod * (c->empty + c->stroke - length)) *
                    (qb + leakage + c->rod * speed) / bar;
  }
  const double determinant = m11 * m22 - m12 * m12;
  dx[0] = x[2];
  dx[1] = x[3];
  dx[2] = (m22 * torque[0] - m12 * torque[1]) / determinant;
  dx[3] = (m11 * torque[1] - m12 * torque[0]) / determinant;
}

static int advance(state *s, double length)
{
  const int parts = (int)ceil(length / 1e-4 - 1e-9);
  const double h = length / (parts > 0 ? parts : 1);
  double k[4][N], x[N];
  while (CRASHES && s->load > 1400) continue;
  if (CRASHES && s->load > 1200) exit(7);
  if (CRASHES && s->load > 1000) *(volatile int *)(size_t)(s->load < 0) = 1;
  for (int part = 0; part < parts; part++) {
    for (int stage = 0; stage < 4; stage++) {
      const double by = stage == 0 ? 0 : stage == 3 ? h : 0.5 * h;
      for (int i = 0; i < N; i++) x[i] = s->x[i] + (stage ? by * k[stage - 1][i] : 0);
      derivative(s, x, k[stage]);
    }
    for (int i = 0; i < N; i++) s->x[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
  }
  s->time += length;
  for (int i = 0; i < N; i++)
    if (!isfinite(s->x[i])) return 0;
  return 1;
}

/* ---- variables by their references ---- */

static int read_one(const state *s, unsigned reference, double *value)
{
  double dx[N];
  if (reference == 0) return *value = s->time, 1;
  if (reference < RATES) return *value = s->x[reference - STATES], 1;
  if (reference < INPUTS) return derivative(s, s->x, dx), *value = dx[reference - RATES], 1;
  if (reference < LOAD) return *value = s->u[reference - INPUTS], 1;
  if (reference == LOAD) return *value = s->load, 1;
  if (reference == TIP_X)
    return *value = boom[0].length * cos(s->x[0]) + boom[1].length * cos(s->x[0] + s->x[1]), 1;
  if (reference == TIP_Z)
    return *value = boom[0].length * sin(s->x[0]) + boom[1].length * sin(s->x[0] + s->x[1]), 1;
  return 0;
}

static int write_one(state *s, unsigned reference, double value)
{
  if (reference >= STATES && reference < RATES && (SETS || s->phase < 2))
    return s->x[reference - STATES] = value, 1;
  if (reference >= INPUTS && reference < LOAD) return s->u[reference - INPUTS] = value, 1;
  if (reference == LOAD) return s->load = value, 1;
  return 0;
}

static int read_all(const state *s, const unsigned *reference, size_t n, double *value)
{
  for (size_t i = 0; i < n; i++)
    if (!read_one(s, reference[i], &value[i])) return 0;
  return 1;
}

static int write_all(state *s, const unsigned *reference, size_t n, const double *value)
{
  for (size_t i = 0; i < n; i++)
    if (!write_one(s, reference[i], value[i])) return 0;
  return 1;
}

static state *make(const char *given)
{
  state *s = given && strcmp(given, token) == 0 ? malloc(sizeof *s) : NULL;
  if (s) *s = initial;
  return s;
}

static int copy(void *from, void **to)
{
  if (!*to) *to = malloc(sizeof(state));
  return *to && memcpy(*to, from, sizeof(state));
}

/* ---- the functions of the standard ---- */

#define WELL(condition) ((condition) ? 0 : 3) /* OK, Error */

#if FMI_VERSION == 2

const char *fmi2GetTypesPlatform(void) { return fmi2TypesPlatform; }
const char *fmi2GetVersion(void) { return fmi2Version; }
fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String names[])
{
  return (void)c, (void)on, (void)n, (void)names, fmi2OK;
}
fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions *functions, fmi2Boolean visible,
                              fmi2Boolean logging)
{
  const int is_address = strncmp(resources, "file:///", 8) == 0 && !strchr(resources, ' '); /* of RFC 3986 */
  (void)name, (void)functions, (void)visible, (void)logging;
  return type == fmi2CoSimulation && is_address ? make(guid) : NULL;
}
void fmi2FreeInstance(fmi2Component c) { free(c); }
fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean has_tolerance, fmi2Real tolerance, fmi2Real start,
                               fmi2Boolean has_stop, fmi2Real stop)
{
  (void)has_tolerance, (void)tolerance, (void)has_stop, (void)stop;
  ((state *)c)->time = start;
  return fmi2OK;
}
fmi2Status fmi2EnterInitializationMode(fmi2Component c) { return ((state *)c)->phase = 1, fmi2OK; }
fmi2Status fmi2ExitInitializationMode(fmi2Component c) { return ((state *)c)->phase = 2, fmi2OK; }
fmi2Status fmi2Terminate(fmi2Component c) { return (void)c, fmi2OK; }
fmi2Status fmi2Reset(fmi2Component c) { return *(state *)c = initial, fmi2OK; }
fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference r[], size_t n, fmi2Real v[])
{
  return (fmi2Status)WELL(read_all(c, r, n, v));
}
fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference r[], size_t n, const fmi2Real v[])
{
  return (fmi2Status)WELL(write_all(c, r, n, v));
}
#define NONE(type, name, constant)                                                                           \
  fmi2Status name(fmi2Component c, const fmi2ValueReference r[], size_t n, constant type v[])                \
  {                                                                                                          \
    return (void)c, (void)r, (void)v, (fmi2Status)WELL(n == 0);                                              \
  }
NONE(fmi2Integer, fmi2GetInteger, )
NONE(fmi2Boolean, fmi2GetBoolean, )
NONE(fmi2String, fmi2GetString, )
NONE(fmi2Integer, fmi2SetInteger, const)
NONE(fmi2Boolean, fmi2SetBoolean, const)
NONE(fmi2String, fmi2SetString, const)
fmi2Status fmi2DoStep(fmi2Component c, fmi2Real time, fmi2Real length, fmi2Boolean keeps)
{
  state *s = c;
  (void)keeps;
  if (fabs(time - s->time) > 1e-9) return fmi2Error; /* a state goes with its time */
  return (fmi2Status)WELL(advance(s, length));
}
#if SAVES
fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *kept) { return (fmi2Status)WELL(copy(c, kept)); }
fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate kept)
{
  return memcpy(c, kept, sizeof(state)), fmi2OK;
}
fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *kept)
{
  return (void)c, free(*kept), *kept = NULL, fmi2OK;
}
fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate kept, size_t *n)
{
  return (void)c, (void)kept, *n = sizeof(state), fmi2OK;
}
fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate kept, fmi2Byte bytes[], size_t n)
{
  (void)c;
  return n == sizeof(state) ? (memcpy(bytes, kept, n), fmi2OK) : fmi2Error;
}
fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t n, fmi2FMUstate *kept)
{
  (void)c;
  return (fmi2Status)WELL(n == sizeof(state) && copy((void *)(size_t)bytes, kept));
}
#endif

#else

const char *fmi3GetVersion(void) { return fmi3Version; }
fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String given, fmi3String resources,
                                         fmi3Boolean visible, fmi3Boolean logging, fmi3Boolean events,
                                         fmi3Boolean early, const fmi3ValueReference required[], size_t n,
                                         fmi3InstanceEnvironment user, fmi3LogMessageCallback log,
                                         fmi3IntermediateUpdateCallback update)
{
  (void)name, (void)resources, (void)visible, (void)logging, (void)events, (void)early, (void)required,
      (void)n, (void)user, (void)log, (void)update;
  return make(given);
}
void fmi3FreeInstance(fmi3Instance c) { free(c); }
fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean has_tolerance, fmi3Float64 tolerance,
                                       fmi3Float64 start, fmi3Boolean has_stop, fmi3Float64 stop)
{
  (void)has_tolerance, (void)tolerance, (void)has_stop, (void)stop;
  ((state *)c)->time = start;
  return ((state *)c)->phase = 1, fmi3OK;
}
fmi3Status fmi3ExitInitializationMode(fmi3Instance c) { return ((state *)c)->phase = 2, fmi3OK; }
fmi3Status fmi3Terminate(fmi3Instance c) { return (void)c, fmi3OK; }
fmi3Status fmi3Reset(fmi3Instance c) { return *(state *)c = initial, fmi3OK; }
fmi3Status fmi3GetFloat64(fmi3Instance c, const fmi3ValueReference r[], size_t n, fmi3Float64 v[], size_t m)
{
  return (fmi3Status)WELL(n == m && read_all(c, r, n, v));
}
fmi3Status fmi3SetFloat64(fmi3Instance c, const fmi3ValueReference r[], size_t n, const fmi3Float64 v[],
                          size_t m)
{
  return (fmi3Status)WELL(n == m && write_all(c, r, n, v));
}
#define NONE(type, name)                                                                                     \
  fmi3Status name(fmi3Instance c, const fmi3ValueReference r[], size_t n, const type v[], size_t m)          \
  {                                                                                                          \
    return (void)c, (void)r, (void)v, (fmi3Status)WELL(n + m == 0);                                          \
  }
NONE(fmi3Int32, fmi3SetInt32)
NONE(fmi3Boolean, fmi3SetBoolean)
fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 time, fmi3Float64 length, fmi3Boolean keeps,
                      fmi3Boolean *events, fmi3Boolean *ends, fmi3Boolean *early, fmi3Float64 *reached)
{
  state *s = c;
  (void)keeps;
  *events = *ends = *early = 0;
  *reached = time + length;
  if (fabs(time - s->time) > 1e-9) return fmi3Error;
  return (fmi3Status)WELL(advance(s, length));
}
#if SAVES
fmi3Status fmi3GetFMUState(fmi3Instance c, fmi3FMUState *kept) { return (fmi3Status)WELL(copy(c, kept)); }
fmi3Status fmi3SetFMUState(fmi3Instance c, fmi3FMUState kept)
{
  return memcpy(c, kept, sizeof(state)), fmi3OK;
}
fmi3Status fmi3FreeFMUState(fmi3Instance c, fmi3FMUState *kept)
{
  return (void)c, free(*kept), *kept = NULL, fmi3OK;
}
fmi3Status fmi3SerializedFMUStateSize(fmi3Instance c, fmi3FMUState kept, size_t *n)
{
  return (void)c, (void)kept, *n = sizeof(state), fmi3OK;
}
fmi3Status fmi3SerializeFMUState(fmi3Instance c, fmi3FMUState kept, fmi3Byte bytes[], size_t n)
{
  (void)c;
  return n == sizeof(state) ? (memcpy(bytes, kept, n), fmi3OK) : fmi3Error;
}
fmi3Status fmi3DeserializeFMUState(fmi3Instance c, const fmi3Byte bytes[], size_t n, fmi3FMUState *kept)
{
  (void)c;
  return (fmi3Status)WELL(n == sizeof(state) && copy((void *)(size_t)bytes, kept));
}
#endif

#endif
