/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work cycles, cut out of simulated runs whose phases are known; what is no work is said to be none. */
#define _GNU_SOURCE /* srand48 */
#include "bramah/work_cycles.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bramah_diag diag;

/* ---- a driver whose signals are simple and whose phases are known ---- */

enum { MOST = 60000, MOST_CYCLES = 16 };
static const double dt = 0.02;

typedef struct driver {
  double skill, full; /* 0 to 1; [kg] */
  size_t n, n_cycles;
  double t[MOST], load[MOST], sigma[MOST], swing[MOST]; /* as estimated */
  double border[MOST_CYCLES][5];
  double carried[MOST_CYCLES];
  double bucket; /* true load */
} driver;

static driver d;

static double uniform(double low, double high) { return low + (high - low) * drand48(); }
static double gaussian(void)
{
  double sum = -6.0;
  for (int i = 0; i < 12; i++) sum += drand48();
  return sum;
}

/* A moment: bucket, and what the estimate of the load has besides (forces of the ground). */
static void put(double rate, double acceleration, double ground)
{
  static double slow;
  if (d.n == MOST) return;
  slow += (-slow / 0.3) * dt + 0.015 * sqrt(2.0 * dt / 0.3) * gaussian();
  d.t[d.n] = dt * (double)d.n;
  d.load[d.n] = d.bucket + d.full * (slow + ground + 0.02 * acceleration + 0.005 * gaussian());
  d.sigma[d.n] = 0.02 * d.full;
  d.swing[d.n] = rate + 0.01 * gaussian();
  d.n++;
}

static void rest(double time)
{
  for (double t = 0.0; t < time; t += dt) put(0.0, 0.0, 0.0);
}

/* Slews by an angle at most this fast; the bucket goes to a load meanwhile, from a time before the end on (negative: from the
 * beginning on, at once), within `within`. begin and end: beyond a tenth of the rate. */
static void slew(double angle, double rate, double ramp, double *begin, double *end, double to, double before,
                 double within)
{
  const double peak = fmin(rate, fabs(angle) / ramp), total = fabs(angle) / peak + ramp, from = d.bucket;
  const double start = dt * (double)d.n;
  for (double t = 0.0; t < total; t += dt) {
    const double up = t / ramp, down = (total - t) / ramp, share = fmin(1.0, fmin(up, down));
    const double moves = t - (before < 0.0 ? 0.0 : total - before);
    if (moves > 0.0 && within > 0.0) d.bucket = from + (to - from) * fmin(1.0, moves / within);
    put(copysign(peak * share, angle), share >= 1.0 ? 0.0 : up < down ? peak / ramp : -peak / ramp, 0.0);
  }
  *begin = start + 0.1 * ramp;
  *end = start + total - 0.1 * ramp;
}

static void dig(double time, double to, int succeeds)
{
  const double contact = 0.65 * time, push = uniform(0.6, 1.6), pull = uniform(-0.8, 0.4), from = d.bucket;
  for (double t = 0.0; t < time; t += dt) {
    const double inside = t < contact ? sin(3.14159 * t / contact) : 0.0;
    d.bucket = from + (to - from) * fmin(1.0, t / contact);
    put(0.02 * gaussian(), 0.0,
        inside * (push * sin(2.0 * t + push) * sin(2.0 * t + push) + pull * sin(5.0 * t)) +
            0.03 * inside * gaussian());
  }
  for (double t = 0.0; !succeeds && t < 1.0; t += dt) { /* and lost again */
    d.bucket = to * (1.0 - t);
    put(0.0, 0.0, 0.0);
  }
  if (!succeeds) d.bucket = 0.0;
}

static void cycle(double angle, double *after)
{
  const double clumsy = 1.0 - d.skill, ramp = 0.5 + 0.5 * clumsy, rate = 0.35 + 0.45 * d.skill;
  double *border = d.border[d.n_cycles], ends, begins, to = 0.05 * d.full * drand48();
  border[0] = d.n_cycles ? *after : 0.0;
  if (drand48() < 0.03 + 0.15 * clumsy) { /* a dig that fails, perhaps another place */
    dig(uniform(2.0, 3.5), uniform(0.1, 0.3) * d.full, 0);
    if (drand48() < 0.3) slew(uniform(-0.15, 0.15), 0.3 * rate, 0.3, &begins, &ends, 0.0, 0.0, 0.0);
  }
  d.carried[d.n_cycles] = d.full * uniform(0.75, 1.1);
  dig(uniform(4.0, 6.0) * (1.0 + 0.8 * clumsy), d.carried[d.n_cycles], 1);
  if (drand48() < 0.4) rest(uniform(0.3, 2.0));

  const double turn = angle * uniform(0.9, 1.1), early = drand48() < d.skill ? uniform(0.0, 0.7) : 0.0,
               falls = uniform(1.2, 2.2);
  const int corrects = !(early > 0.0) && drand48() < 0.5 * clumsy, stops = drand48() < 0.05;
  if (stops) {
    slew(0.5 * turn, rate, ramp, &border[1], &ends, 0.0, 0.0, 0.0);
    rest(uniform(0.3, 1.0));
    slew(0.5 * turn, rate, ramp, &begins, &border[2], to, early, early > 0.0 ? falls : 0.0);
  } else {
    slew(turn, rate, ramp, &border[1], &border[2], to, early, early > 0.0 ? falls : 0.0);
  }
  if (corrects) slew(-0.12, 0.35 * rate, 0.4, &begins, &border[2], 0.0, 0.0, 0.0); /* swung too far */
  if (early > 0.0) border[2] = fmin(border[2], dt * (double)d.n - early + 0.05 * falls);
  if (!(early > 0.0)) rest(uniform(0.1, 0.8 + 0.5 * clumsy));
  const double left = early > 0.0 ? falls - early : falls,
               over = drand48() < d.skill ? uniform(0.0, 0.4) : 0.0;
  const double from = d.bucket, stop = left - over;
  for (double t = 0.0; t < stop; t += dt) {
    d.bucket = from + (to - from) * t / left;
    put(0.01 * gaussian(), 0.0, 0.0);
  }
  if (!(over > 0.0)) d.bucket = to, rest(uniform(0.1, 0.6));
  const double fallen = dt * (double)d.n + over - 0.1 * falls;
  slew(-turn, rate * 1.1, ramp, &border[3], &border[4], to, -1.0, over);
  border[3] = fmax(border[3], over > 0.0 ? fallen : 0.0);
  d.carried[d.n_cycles] -= to;
  d.bucket = 0.0;
  *after = border[4];
  d.n_cycles++;
}

static void drive(long seed)
{
  double after = 0.0;
  srand48(seed);
  d.n = d.n_cycles = 0;
  d.skill = drand48();
  d.full = uniform(300.0, 1500.0);
  const double angle = uniform(0.8, 2.2) * (drand48() < 0.5 ? -1.0 : 1.0);
  const int cycles = 4 + (int)(6.0 * drand48());
  d.bucket = 0.0;
  for (int i = 0; i < cycles; i++) cycle(angle, &after);
  rest(2.0);
}

static bramah_work_cut *cut_of(const bramah_work_signals *s)
{
  bramah_work_cut *cut = NULL;
  ck_assert_msg(bramah_work_cut_new(s, &diag, &cut) == BRAMAH_OK, "%s", diag.message);
  return cut;
}

static bramah_work_signals driven(void) { return (bramah_work_signals){d.n, d.t, d.load, d.sigma, d.swing}; }

/* Found: as many cycles as were driven, and every border within 0.3 s. */
TEST(runs_are_cut_where_they_were_driven)
{
  enum { RUNS = 200 };
  double most = 0.0;
  size_t good = 0, borders = 0, covered = 0, cycles = 0, loads = 0, doubts = 0, silent = 0;
  for (long seed = 1; seed <= RUNS; seed++) {
    drive(seed);
    const bramah_work_signals s = driven();
    bramah_work_cut *cut = cut_of(&s);
    int right = cut->n_cycles == d.n_cycles;
    doubts += cut->doubt != NULL;
    if (cut->unexplained > most) most = cut->unexplained;
    for (size_t i = 0; i < d.n_cycles && cut->n_cycles == d.n_cycles; i++) {
      const bramah_work_cycle *c = &cut->cycles[i];
      for (size_t k = 0; k < 5; k++) {
        const double is = d.border[i][k], error = fabs(c->begin[k].t - is);
        if ((i == 0 && k == 0) || (k == 4 && i + 1 < d.n_cycles))
          continue; /* the log's begin; the next one's */
        borders++;
        covered += is >= c->begin[k].low && is <= c->begin[k].high;
        right &= error <= 0.3;
        silent += error > 0.3 && !c->doubt && !(is >= c->begin[k].low && is <= c->begin[k].high);
      }
      cycles++;
      loads += fabs(c->load - d.carried[i]) < 1.96 * c->load_sigma;
      ck_assert(c->complete == (i > 0));
    }
    good += (size_t)right;
    bramah_work_cut_free(cut);
  }
  printf("%zu of %d runs; %zu of %zu borders within their 95 %% intervals, %zu of %zu loads\n", good, RUNS,
         covered, borders, loads, cycles);
  printf("%zu runs doubted; at most %.3f of the time not explained\n", doubts, most);
  ck_assert_uint_ge(good, 196); /* 98 % */
  ck_assert_uint_ge(covered, (size_t)(0.95 * (double)borders));
  ck_assert_uint_ge(loads, (size_t)(0.95 * (double)cycles));
  ck_assert_uint_le(doubts, 4);
  ck_assert_uint_le(silent, borders / 1000);
}

/* Whatever the rate of the log, and whatever the load is measured in. */
TEST(rate_unit_and_place_of_the_log_do_not_matter)
{
  static double t[MOST], load[MOST], swing[MOST];
  drive(3);
  const bramah_work_signals s = driven();
  bramah_work_cut *usual = cut_of(&s);
  size_t n = 0;
  for (size_t i = 0; i < d.n; i += 5, n++) {
    t[n] = 1e5 + d.t[i];
    load[n] = 8e6 + 4e3 * d.load[i]; /* a pressure [Pa] */
    swing[n] = -3.0 * d.swing[i];    /* a loader [m/s] */
  }
  bramah_work_cut *other = cut_of(&(bramah_work_signals){n, t, load, NULL, swing});
  ck_assert_ptr_null(other->doubt);
  ck_assert_uint_eq(other->n_cycles, usual->n_cycles);
  for (size_t i = 0; i < usual->n_cycles; i++) {
    for (size_t k = 0; k < 5; k++)
      ck_assert_double_eq_tol(other->cycles[i].begin[k].t - 1e5, usual->cycles[i].begin[k].t, 0.15);
    ck_assert_double_eq_tol(other->cycles[i].load, 4e3 * usual->cycles[i].load, 4e3 * 0.02 * d.full);
    ck_assert(isnan(other->cycles[i].load_sigma));
  }
  bramah_work_cut_free(usual);
  bramah_work_cut_free(other);
}

/* Short gaps are bridged; a long one is said, and leaves the cycles away from it as they were. */
TEST(gaps)
{
  drive(5);
  const bramah_work_signals s = driven();
  bramah_work_cut *whole = cut_of(&s);
  ck_assert_ptr_null(whole->doubt);
  for (int longer = 0; longer < 2; longer++) {
    const double begin = whole->cycles[2].begin[0].t + 1.0, end = begin + (longer ? 4.0 : 1.0);
    drive(5);
    for (size_t i = 0; i < d.n; i++)
      if (d.t[i] > begin && d.t[i] < end) d.load[i] = d.swing[i] = (double)NAN;
    bramah_work_cut *cut = cut_of(&s);
    ck_assert_double_eq_tol(cut->longest_gap, end - begin, 0.11);
    ck_assert((cut->doubt != NULL) == longer);
    ck_assert_uint_eq(cut->n_cycles, whole->n_cycles);
    for (size_t k = 0; k < 4; k++)
      ck_assert_double_eq_tol(cut->cycles[3].begin[k].t, whole->cycles[3].begin[k].t, 0.05);
    bramah_work_cut_free(cut);
  }
  drive(5);
  const bramah_work_border *swing = whole->cycles[2].begin + BRAMAH_WORK_SWING_LOADED;
  for (size_t i = 0; i < d.n; i++)
    if (d.t[i] > swing[0].t - 1.0 && d.t[i] < swing[1].t + 1.0) d.load[i] = (double)NAN;
  bramah_work_cut *cut = cut_of(&s);
  for (size_t i = 0; i < cut->n_cycles; i++) /* a load that is not known is not silent */
    ck_assert(isnan(cut->cycles[i].load) ? cut->cycles[i].doubt != NULL : cut->cycles[i].load > 0.0);
  ck_assert(isnan(cut->cycles[2].load));
  bramah_work_cut_free(cut);
  bramah_work_cut_free(whole);
}

/* Signals that are none of a working machine, or that do not tell. */
TEST(what_is_no_work_is_said_to_be_none)
{
  static const char *const what[] = {"noise",
                                     "nothing happens",
                                     "load of no use",
                                     "never swings",
                                     ("load and swing of "
                                      "different runs"),
                                     "spinning",
                                     "drifting load"};
  for (int kind = 0; kind < 7; kind++) {
    drive(11 + kind);
    const size_t shift = d.n / 3;
    for (size_t i = 0; i < d.n; i++) {
      const double t = d.t[i];
      if (kind == 0) d.load[i] = 500.0 * gaussian(), d.swing[i] = 0.5 * gaussian();
      if (kind == 1) d.load[i] = 0.0, d.swing[i] = 0.0;
      if (kind == 2) d.load[i] = 300.0 + 20.0 * gaussian();
      if (kind == 3) d.swing[i] = 0.01 * gaussian();
      if (kind == 5) d.swing[i] = 0.5 + 0.02 * sin(t);
      if (kind == 6) d.load[i] = 10.0 * t + 30.0 * gaussian();
    }
    if (kind == 4) { /* the swings are of another time */
      static double later[MOST];
      for (size_t i = 0; i < d.n; i++) later[i] = d.swing[(i + shift) % d.n];
      memcpy(d.swing, later, d.n * sizeof *later);
    }
    const bramah_work_signals s = driven();
    bramah_work_cut *cut = cut_of(&s);
    ck_assert_msg(cut->doubt != NULL, "%s: %zu cycles, separation %g, certain %g, unexplained %g", what[kind],
                  cut->n_cycles, cut->separation, cut->certain, cut->unexplained);
    bramah_work_cut_free(cut);
  }
}

TEST(mistakes_are_refused)
{
  const double t[] = {0.0, 1.0, 1.0}, x[3] = {0.0}, endless[] = {0.0, (double)INFINITY};
  bramah_work_cut *cut = NULL;
  ck_assert_int_eq(bramah_work_cut_new(&(bramah_work_signals){1, t, x, NULL, x}, &diag, &cut),
                   BRAMAH_E_VALUE);
  ck_assert_int_eq(bramah_work_cut_new(&(bramah_work_signals){3, t, x, NULL, x}, &diag, &cut), BRAMAH_E_TIME);
  ck_assert_str_eq(diag.message, "time does not go forward in row 3");
  ck_assert_int_eq(bramah_work_cut_new(&(bramah_work_signals){2, endless, x, NULL, x}, NULL, &cut),
                   BRAMAH_E_NOT_FINITE);
  ck_assert_int_eq(bramah_work_cut_new(&(bramah_work_signals){2, t, endless, NULL, x}, &diag, &cut),
                   BRAMAH_E_NOT_FINITE);
  ck_assert_int_eq(
      bramah_work_cut_new(&(bramah_work_signals){2, (double[]){0.0, 2e5}, x, NULL, x}, &diag, &cut),
      BRAMAH_E_TIME);
  ck_assert_ptr_null(cut);
  bramah_work_cut_free(NULL);
}

int main(void) { return run_tests("work cycles"); }
