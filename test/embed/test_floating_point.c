/* SPDX-License-Identifier: MIT */
/* Floating point next to a controller that may have its traps on: no "invalid", "division by zero" or
 * "overflow" while calls succeed, nothing that ends among the subnormal numbers when a machine comes to rest,
 * and the same bits where the processor flushes those to zero. */
#define _GNU_SOURCE
#include "test/embed/rig.h"
#include "test/support/run.h"

#include <fenv.h>
#include <stdio.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

static bramah_diag diag;
static const unsigned char all[RIG_SENSORS] = {1, 1, 1, 1};

static const int bad_flags = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW;

static void clear_flags(void)
{
  feclearexcept(FE_ALL_EXCEPT);
#if defined(__SSE2__)
  _mm_setcsr(_mm_getcsr() & ~0x3fu);
#endif
}

/* Did any operation since have a subnormal result or, where the processor tells, operand? */
static int met_subnormal(void)
{
#if defined(__SSE2__)
  if (_mm_getcsr() & _MM_EXCEPT_DENORM) return 1;
#endif
  return fetestexcept(FE_UNDERFLOW) != 0;
}

typedef struct variant {
  bramah_transition transition;
  bramah_covariance_form form;
  bramah_fusion fusion;
  int iterations;
} variant;

static const variant variants[] = {
    {BRAMAH_TRANSITION_KINEMATIC, BRAMAH_COVARIANCE_JOSEPH, BRAMAH_FUSION_SEQUENTIAL, 0},
    {BRAMAH_TRANSITION_KINEMATIC_EXACT, BRAMAH_COVARIANCE_JOSEPH, BRAMAH_FUSION_BLOCK, 0},
    {BRAMAH_TRANSITION_STEP, BRAMAH_COVARIANCE_JOSEPH, BRAMAH_FUSION_SEQUENTIAL, 3},
    {BRAMAH_TRANSITION_STEP, BRAMAH_COVARIANCE_SQUARE_ROOT, BRAMAH_FUSION_SEQUENTIAL, 0}};
enum { N_VARIANTS = sizeof variants / sizeof variants[0] };

static bramah_filter_options options_of(const variant *v)
{
  bramah_filter_options o = rig_options();
  o.transition = v->transition;
  o.form = v->form;
  o.fusion = v->fusion;
  o.iterations = v->iterations;
  return o;
}

/* The work cycle, then at rest; now and then a sample that the gate holds back. */
static void make_cycles(int steps, double (*y)[RIG_SENSORS], double *u)
{
  rig truth;
  unsigned seed = 5;
  rig_make(&truth, 1.0);
  for (int k = 0; k < steps; k++) {
    u[k] = four_bar_command((int64_t)k * RIG_STEP_NS);
    must(truth.plant.set_inputs(truth.plant.self, &u[k], &diag), &diag);
    must(truth.plant.step(truth.plant.self, &diag), &diag);
    rig_measure(&truth, &seed, y[k]);
    if (k % 500 == 77) y[k][1] += 10.0;
  }
  rig_free(&truth);
}

static void run(rig *r, int steps, double (*y)[RIG_SENSORS], const double *u)
{
  for (int k = 0; k < steps; k++) {
    const bramah_filter_cycle cycle = {(k + 1) * RIG_STEP_NS, 1, &u[k], RIG_SENSORS, y[k], all, NULL};
    must(bramah_filter_step(r->filter, &cycle, NULL, &diag), &diag);
  }
}

enum { STEPS = 9000 };
static double measured[STEPS][RIG_SENSORS], command[STEPS];

/* Flags are told apart from traps: a trap would end the test program. Both are looked at. */
EACH_TEST(test_no_exceptions, 0, N_VARIANTS)
{
  rig r;
  const bramah_filter_options o = options_of(&variants[_i]);
  make_cycles(STEPS, measured, command);
  rig_make_with(&r, 1.1, &o);
  clear_flags();
#if defined(__GLIBC__)
  feenableexcept(bad_flags);
#endif
  run(&r, STEPS, measured, command);
#if defined(__GLIBC__)
  fedisableexcept(bad_flags);
#endif
  ck_assert_int_eq(fetestexcept(bad_flags), 0);
  ck_assert_uint_ge(bramah_filter_get_report(r.filter).gated, STEPS / 500);
  rig_free(&r);
}

/* Refused calls may set flags, which is why they are told by a status; but a caller's NaN is noticed without
 * one. */
TEST(test_nan_is_noticed_quietly)
{
  rig r;
  rig_make(&r, 1.1);
  const double u = 0.0, bad_u = NAN, y[RIG_SENSORS] = {NAN, 0, 1e6, 1e6},
               fine[RIG_SENSORS] = {1.0, 0, 1e6, 1e6};
  const bramah_filter_cycle nan_y = {RIG_STEP_NS, 1, &u, RIG_SENSORS, y, all, NULL},
                            nan_u = {RIG_STEP_NS, 1, &bad_u, RIG_SENSORS, fine, all, NULL};
  clear_flags();
  ck_assert_int_eq(bramah_filter_step(r.filter, &nan_y, NULL, &diag), BRAMAH_E_NOT_FINITE);
  ck_assert_int_eq(bramah_filter_step(r.filter, &nan_u, NULL, &diag), BRAMAH_E_NOT_FINITE);
  ck_assert_int_eq(fetestexcept(bad_flags), 0);
  rig_free(&r);
}

/* A spool that goes to zero exponentially is there after some 2 s, not among the subnormal numbers after 3 s,
 * where each step took its time. With every model of friction, and without sensors whose noise would stir it.
 */
EACH_TEST(test_rest_is_not_subnormal, 0, 6 * N_VARIANTS)
{
  const bramah_friction_model friction = (bramah_friction_model)(_i % 6);
  four_bar fb;
  bramah_coupled *coupled;
  const bramah_model *model;
  bramah_filter *filter;
  int slow = 0;
  four_bar_describe(&fb, 1.0, RIG_STEP_NS);
  if (friction == BRAMAH_FRICTION_VISCOUS || friction == BRAMAH_FRICTION_NONE)
    fb.cylinders[0].friction.model = friction;
  else
    four_bar_set_friction(&fb, friction);
  must(bramah_model_new(&fb.machine, &diag, &model), &diag);
  must(bramah_coupled_new(model, &diag, &coupled), &diag);
  const bramah_plant plant = bramah_coupled_plant(coupled);
  const bramah_filter_options o = options_of(&variants[_i / 6]);
  must(bramah_filter_new(&plant, 0, NULL, &o, &diag, &filter), &diag);
  clear_flags();
  for (int k = 0; k < 8000; k++) {
    const double u = k < 500 ? 5.0 : 0.0;
    const bramah_filter_cycle cycle = {(k + 1) * RIG_STEP_NS, 1, &u, 0, NULL, NULL, NULL};
    must(bramah_filter_step(filter, &cycle, NULL, &diag), &diag);
    slow += met_subnormal();
    clear_flags();
  }
  ck_assert_int_eq(slow, 0);
  ck_assert_double_eq(plant.output(plant.self, must_find(&plant, "valve.spool")), 0.0);
  bramah_filter_free(filter);
  bramah_coupled_free(coupled);
  bramah_model_free(model);
}

#if defined(__SSE2__)
EACH_TEST(test_flush_to_zero_changes_nothing, 0, N_VARIANTS)
{
  rig a, b;
  const bramah_filter_options o = options_of(&variants[_i]);
  make_cycles(STEPS, measured, command);
  rig_make_with(&a, 1.1, &o);
  rig_make_with(&b, 1.1, &o);
  run(&a, STEPS, measured, command);
  const unsigned mode = _mm_getcsr();
  _mm_setcsr(mode | 0x8040u); /* flush to zero, denormals are zero */
  run(&b, STEPS, measured, command);
  _mm_setcsr(mode);
  const size_t size = bramah_filter_snapshot_size(a.filter);
  void *sa = malloc(size), *sb = malloc(size);
  bramah_filter_save(a.filter, sa);
  bramah_filter_save(b.filter, sb);
  ck_assert_mem_eq(sa, sb, size);
  free(sa);
  free(sb);
  rig_free(&a);
  rig_free(&b);
}
#endif

int main(void) { return run_tests("floating point"); }
