/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Innovations in windows, judged by the tests of lib/math/innovation_tests.h. Only the worst window of each kind and
 * length is kept: memory does not grow with the log. */
#include "lib/assess/assess_internal.h"
#include "lib/math/elementary.h"

#include <math.h>
#include <string.h>

static const int64_t length[BRAMAH__LENGTHS] = {1000000000, 10000000000, INT64_MAX};
static const int64_t settle_ns = 1000000000; /* of a start that may be wrong: not judged */
static const double no_doubt = 6.0;          /* standard deviations: fails whatever the number of tests */

static void judge(bramah__windows *w, const bramah__window *of)
{
  bramah__innovation_result results[BRAMAH__TESTS];
  bramah__innovation_judge(&of->sums, w->is_sensor, w->has_gate, w->expected, results);
  for (int k = 0; k < BRAMAH__TESTS; k++) {
    const bramah__innovation_result *r = &results[k];
    bramah__worst *worst = &w->worst[k][of - w->window];
    if (!r->made) continue;
    w->tests++;
    if (r->matters && r->size > no_doubt && !worst->fails++) worst->since_ns = of->begin_ns;
    if (worst->tests++ &&
        (r->matters == worst->matters ? !(r->size > worst->size) : r->matters < worst->matters))
      continue;
    worst->value = r->value;
    worst->size = r->size;
    worst->matters = r->matters;
    worst->begin_ns = of->begin_ns;
    worst->end_ns = of->last_ns < of->end_ns ? of->last_ns : of->end_ns;
  }
}

/* The windows that this moment is in: those before it are judged. 0: it is not judged. */
static int reach(bramah__windows *w, int64_t t)
{
  if (t < w->start_ns) return 0;
  for (int l = 0; l < BRAMAH__LENGTHS; l++) {
    bramah__window *of = &w->window[l];
    if (of->open && t < of->end_ns) continue;
    if (of->open) of->last_ns = of->end_ns, judge(w, of);
    const int64_t begin = w->start_ns + (t - w->start_ns) / length[l] * length[l];
    *of = (bramah__window){
        .open = 1, .begin_ns = begin, .end_ns = length[l] == INT64_MAX ? INT64_MAX : begin + length[l]};
  }
  return 1;
}

void bramah__windows_begin(bramah__windows *w, int64_t t, int is_sensor, double gate)
{
  *w = (bramah__windows){.is_sensor = is_sensor,
                         .start_ns = t + settle_ns,
                         .has_gate = gate > 0.0,
                         .expected = bramah__nis_left_by_gate(gate)};
}

void bramah__windows_add(bramah__windows *w, int64_t t, const bramah_innovation *in, double noise)
{
  if (!reach(w, t)) return;
  for (int l = 0; l < BRAMAH__LENGTHS; l++) {
    bramah__window *of = &w->window[l];
    of->last_ns = t;
    if (!in->saturated)
      bramah__innovation_add(&of->sums, in->innovation / in->sigma, in->considered,
                             fmax(1.0 - noise / (in->sigma * in->sigma), 0.0), in->accepted, 0.0);
  }
}

void bramah__windows_add_all(bramah__windows *w, int64_t t, double nis, size_t dof,
                             const bramah__windows *sensors, size_t n_sensors)
{
  if (!dof || !reach(w, t)) return;
  for (int l = 0; l < BRAMAH__LENGTHS; l++) {
    bramah__window *of = &w->window[l];
    of->last_ns = t;
    bramah__innovation_sums *all = &of->sums;
    all->squares += nis;
    all->n += dof;
    all->shares = all->crossed = all->state = 0.0; /* all that the sensors have so far */
    for (size_t i = 0; i < n_sensors; i++) {
      const bramah__window *one = &sensors[i].window[l];
      if (one->begin_ns != of->begin_ns) continue; /* it has no sample in this window */
      all->shares += one->sums.shares;
      all->crossed += one->sums.crossed;
      all->state += one->sums.state;
    }
  }
}

bramah__windows bramah__windows_close(const bramah__windows *w)
{
  bramah__windows closed = *w;
  for (int l = 0; l < BRAMAH__LENGTHS; l++)
    if (w->window[l].open) judge(&closed, &closed.window[l]);
  return closed;
}

/* The shortest length at which it fails says when; where none does, the largest. */
const bramah__worst *bramah__windows_worst(const bramah__windows *w, bramah_check_kind kind, double limit)
{
  const bramah__worst *worst = w->worst[kind - BRAMAH_CHECK_MEAN], *largest = worst;
  for (int l = 0; l < BRAMAH__LENGTHS; l++) {
    if (worst[l].matters && worst[l].size > limit) return &worst[l];
    if (worst[l].tests && (!largest->tests || worst[l].size > largest->size)) largest = &worst[l];
  }
  return largest;
}

double bramah__windows_limit(uint64_t tests, int two_sided)
{
  const double level = -bramah__expm1(bramah__log1p(-0.001) / (double)(tests ? tests : 1));
  return bramah__normal_beyond(two_sided ? 0.5 * level : level);
}
