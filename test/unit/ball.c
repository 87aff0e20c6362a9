/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A ball for model exchange, FMI 2 and 3 (-DFMI_VERSION): it falls, bounces (a state event) and is kicked upwards at 0.35 s (a time
 * event). -DSAVES=0: its state cannot be saved. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#if FMI_VERSION == 2
#include "fmi2Functions.h"
#define NAME(two, three) fmi2##two
typedef fmi2Boolean truth;
typedef fmi2Status result;
typedef char byte;
#define TYPED(values) values
#define USED
#else
#include "fmi3Functions.h"
#define NAME(two, three) fmi3##three
typedef fmi3Boolean truth;
typedef fmi3Status result;
typedef unsigned char byte;
#define TYPED(values) values, size_t n_values
#define USED (void)n_values;
#endif
#define SAME(name) NAME(name, name)
#ifndef SAVES
#define SAVES 1
#endif

enum { TIME, H, V, RATE_H, RATE_V, GRAVITY, WIND, HEIGHT_ABOVE, HELD, BOUNCES };

typedef struct ball {
  double time, x[2], gravity, wind, kick;
  int continuous, bounces, held;
} ball;

static const ball initial = {.x = {1, 0}, .gravity = -9.81, .kick = 0.35};

static double rate(const ball *b, int k) { return b->held ? 0 : k == 0 ? b->x[1] : b->gravity + b->wind; }
static void *make(void)
{
  ball *b = malloc(sizeof *b);
  if (b) *b = initial;
  return b;
}

void SAME(FreeInstance)(void *b) { free(b); }
result SAME(Reset)(void *b) { return *(ball *)b = initial, (result)0; }
result SAME(ExitInitializationMode)(void *b) { return (void)b, (result)0; }
result SAME(EnterEventMode)(void *b) { return ((ball *)b)->continuous = 0, (result)0; }
result SAME(EnterContinuousTimeMode)(void *b) { return ((ball *)b)->continuous = 1, (result)0; }
result SAME(SetTime)(void *b, double time) { return ((ball *)b)->time = time, (result)0; }
result SAME(SetContinuousStates)(void *c, const double x[], size_t n)
{
  ball *b = c;
  return b->continuous && n == 2 ? memcpy(b->x, x, sizeof b->x), (result)0 : (result)3;
}
result SAME(GetContinuousStates)(void *b, double x[], size_t n)
{
  return memcpy(x, ((ball *)b)->x, n * sizeof *x), (result)0;
}
result SAME(GetNominalsOfContinuousStates)(void *b, double x[], size_t n)
{
  return (void)b, (void)n, x[0] = 1, x[1] = 5, (result)0;
}
result NAME(GetDerivatives, GetContinuousStateDerivatives)(void *b, double dx[], size_t n)
{
  return (void)n, dx[0] = rate(b, 0), dx[1] = rate(b, 1), (result)0;
}
result SAME(GetEventIndicators)(void *b, double z[], size_t n)
{
  return (void)n, z[0] = ((ball *)b)->x[0], (result)0;
}
result SAME(CompletedIntegratorStep)(void *b, truth no_restore, truth *event, truth *ends)
{
  return (void)b, (void)no_restore, *event = 0, *ends = 0, (result)0;
}
static void events(ball *b)
{
  if (b->x[0] <= 0 && b->x[1] < 0) b->x[0] = 0, b->x[1] *= -0.7, b->bounces++;
  if (b->kick > 0 && b->time >= b->kick) b->x[1] += 2, b->kick = 0;
}
result NAME(GetReal, GetFloat64)(void *c, const unsigned r[], size_t n, TYPED(double v[]))
{
  const ball *b = c;
  USED const double all[] = {b->time,    b->x[0],    b->x[1], rate(b, 0),
                             rate(b, 1), b->gravity, b->wind, b->x[0] + 1};
  for (size_t k = 0; k < n; k++) v[k] = all[r[k]];
  return (result)0;
}
result NAME(SetReal, SetFloat64)(void *c, const unsigned r[], size_t n, TYPED(const double v[]))
{
  ball *b = c;
  USED for (size_t k = 0; k < n; k++)
  {
    if (b->continuous || r[k] == 0 || (r[k] > V && r[k] != GRAVITY && r[k] != WIND)) return (result)3;
    *(r[k] < RATE_H ? &b->x[r[k] - H] : r[k] == GRAVITY ? &b->gravity : &b->wind) = v[k];
  }
  return (result)0;
}
result NAME(SetInteger, SetInt32)(void *b, const unsigned r[], size_t n, TYPED(const int v[]))
{
  USED return (void)b, (void)r, (void)v, (result)(n ? 3 : 0);
}
result SAME(SetBoolean)(void *b, const unsigned r[], size_t n, TYPED(const truth v[]))
{
  USED return (void)n, ((ball *)b)->held = v[0] != 0,
                              (result)(r[0] != HELD || ((ball *)b)->continuous ? 3 : 0);
}
result SAME(GetBoolean)(void *b, const unsigned r[], size_t n, TYPED(truth v[]))
{
  USED return (void)n, (void)r, v[0] = ((ball *)b)->held, (result)0;
}
result NAME(GetInteger, GetInt32)(void *b, const unsigned r[], size_t n, TYPED(int v[]))
{
  USED return (void)n, v[0] = ((ball *)b)->bounces, (result)(r[0] == BOUNCES ? 0 : 3);
}
static void seed(const unsigned *unknown, size_t n, unsigned known, double by, double *out)
{
  for (size_t k = 0; k < n; k++) out[k] = unknown[k] == RATE_H && known == V ? by : 0;
}
#if FMI_VERSION == 2
void *fmi2Instantiate(const char *name, fmi2Type type, const char *guid, const char *resources,
                      const fmi2CallbackFunctions *functions, int visible, int logging)
{
  (void)name, (void)guid, (void)resources, (void)functions, (void)visible, (void)logging;
  return type == fmi2ModelExchange ? make() : NULL;
}
result fmi2SetupExperiment(void *b, int a, double tolerance, double start, int has, double stop)
{
  return (void)a, (void)tolerance, (void)has, (void)stop, ((ball *)b)->time = start, (result)0;
}
result fmi2EnterInitializationMode(void *b) { return ((ball *)b)->continuous = 0, (result)0; }
result fmi2NewDiscreteStates(void *c, fmi2EventInfo *info)
{
  ball *b = c;
  events(b);
  *info = (fmi2EventInfo){.nextEventTimeDefined = b->kick > 0, .nextEventTime = b->kick};
  return (result)0;
}
result fmi2GetDirectionalDerivative(void *b, const unsigned u[], size_t n, const unsigned k[], size_t m,
                                    const double by[], double out[])
{
  return (void)b, (void)m, seed(u, n, k[0], by[0], out), (result)0;
}
#else
void *fmi3InstantiateModelExchange(const char *name, const char *token, const char *resources, bool visible,
                                   bool logging, void *user, fmi3LogMessageCallback log)
{
  (void)name, (void)token, (void)resources, (void)visible, (void)logging, (void)user, (void)log;
  return make();
}
result fmi3EnterInitializationMode(void *b, bool a, double tolerance, double start, bool has, double stop)
{
  (void)a, (void)tolerance, (void)has, (void)stop;
  return ((ball *)b)->time = start, ((ball *)b)->continuous = 0, (result)0;
}
result fmi3UpdateDiscreteStates(void *c, bool *more, bool *ends, bool *nominals, bool *values, bool *has,
                                double *next)
{
  ball *b = c;
  events(b);
  *more = *ends = *nominals = 0, *values = 1, *has = b->kick > 0, *next = b->kick;
  return (result)0;
}
result fmi3GetDirectionalDerivative(void *b, const unsigned u[], size_t n, const unsigned k[], size_t m,
                                    const double by[], size_t n_by, double out[], size_t n_out)
{
  return (void)b, (void)m, (void)n_by, (void)n_out, seed(u, n, k[0], by[0], out), (result)0;
}
#endif
#if SAVES
static result copy(const void *from, void **to)
{
  if (!*to) *to = malloc(sizeof(ball));
  return *to ? memcpy(*to, from, sizeof(ball)), (result)0 : (result)3;
}
result NAME(GetFMUstate, GetFMUState)(void *b, void **kept) { return copy(b, kept); }
result NAME(SetFMUstate, SetFMUState)(void *b, void *kept)
{
  return memcpy(b, kept, sizeof(ball)), (result)0;
}
result NAME(FreeFMUstate, FreeFMUState)(void *b, void **kept)
{
  return (void)b, free(*kept), *kept = NULL, (result)0;
}
result NAME(SerializedFMUstateSize, SerializedFMUStateSize)(void *b, void *kept, size_t *n)
{
  return (void)b, (void)kept, *n = sizeof(ball), (result)0;
}
result NAME(SerializeFMUstate, SerializeFMUState)(void *b, void *kept, byte bytes[], size_t n)
{
  return (void)b, memcpy(bytes, kept, n), (result)0;
}
result NAME(DeSerializeFMUstate, DeserializeFMUState)(void *b, const byte bytes[], size_t n, void **kept)
{
  return (void)b, (void)n, copy(bytes, kept);
}
#endif
