/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Replays of recorded logs whose plant uses its program, as sessions do by default, and whose plant is interpreted: the same
 * estimates and standard deviations but for the differences that the interpreted plant takes by parameters, and nothing
 * of the judgement is lost: energies, divided steps, verdict. (In logs where no parameter is learned a sample earlier
 * the one way than the other.) */
#include "bramah/assess.h"
#include "bramah/log.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>

static const struct {
  const char *study, *log;
} replays[] = {{"four-bar/sensors-2.yaml", "four-bar/log.csv"},
               {"four-bar/sensors-1.yaml", "four-bar/log.csv"},
               {"rotary-actuator/act1.yaml", "rotary-actuator/act1-base-3.tsv"}};
enum { N_REPLAYS = sizeof replays / sizeof *replays, MILLISECONDS = 1200 };

typedef struct rig {
  bramah_session *session;
  bramah_log_stream *log;
  bramah_assess *assess;
} rig;

static void open_rig(rig *r, int which, int interpreted)
{
  bramah_diag diag;
  char study[512], log[512];
  const char *root = getenv("BRAMAH_SOURCE_ROOT"), *logs[] = {log};
  snprintf(study, sizeof study, "%s/datasets/%s", root ? root : ".", replays[which].study);
  snprintf(log, sizeof log, "%s/datasets/%s", root ? root : ".", replays[which].log);
  must(bramah_session_open(study, &diag, &r->session), &diag);
  const bramah_machine_plant *machine = bramah_session_about(r->session)->machine;
  ck_assert_ptr_nonnull(machine->program);
  if (interpreted) must(bramah_coupled_use(machine->coupled, NULL, &diag), &diag);
  must(bramah_log_stream_open(r->session, 1, logs, &diag, &r->log), &diag);
  bramah_assess_options options;
  bramah_assess_options_default(&options);
  options.to_ns = MILLISECONDS * INT64_C(1000000);
  must(bramah_assess_new(r->session, bramah_log_stream_next, r->log, &options, &diag, &r->assess), &diag);
}

static void close_rig(rig *r)
{
  bramah_assess_free(r->assess);
  bramah_log_stream_close(r->log);
  bramah_session_close(r->session);
}

static void compare_estimates(rig *r)
{
  const bramah_assess_results *results = bramah_assess_get_results(r[0].assess);
  const bramah_estimate *a = bramah_assess_estimate(r[0].assess), *b = bramah_assess_estimate(r[1].assess);
  ck_assert_int_eq(a->time_ns, b->time_ns);
  for (size_t i = 0; i < results->n_outputs; i++) {
    const bramah_assess_output *of = &results->output[i];
    const double sigma = b->sigma[of->output], apart = a->value[of->output] - b->value[of->output];
    if (!of->has_sigma) continue;
    ck_assert_msg(fabs(apart) <= 0.1 * sigma, "%s: %g sigma apart at %g s", of->name, apart / sigma,
                  1e-9 * (double)a->time_ns);
    ck_assert_msg(fabs(a->sigma[of->output] - sigma) <= 0.01 * sigma, "%s: sigma %g and %g at %g s", of->name,
                  a->sigma[of->output], sigma, 1e-9 * (double)a->time_ns);
  }
}

EACH_TEST(test_nothing_is_lost, 0, N_REPLAYS)
{
  rig r[2];
  bramah_diag diag;
  for (int w = 0; w < 2; w++) open_rig(&r[w], _i, w);
  for (int end = 0; !end;) {
    for (int w = 0; w < 2; w++) must(bramah_assess_next(r[w].assess, &end, &diag), &diag);
    if (!end) compare_estimates(r);
  }
  const bramah_assess_results *a = bramah_assess_get_results(r[0].assess),
                              *b = bramah_assess_get_results(r[1].assess);
  ck_assert_uint_gt(a->steps.compiled, a->steps.steps / 2);
  ck_assert_uint_eq(b->steps.compiled, 0);
  ck_assert_uint_eq(a->steps.steps, b->steps.steps);
  ck_assert_uint_eq(a->steps.divided, b->steps.divided);
  ck_assert_uint_eq(a->steps.coarse, b->steps.coarse);
  ck_assert_double_eq_tol(a->energy.turnover, b->energy.turnover, 0.01 * b->energy.turnover);
  ck_assert_double_eq_tol(a->energy.friction, b->energy.friction, 0.01 * b->energy.turnover);
  ck_assert_double_le(a->energy.largest, fmax(2.0 * b->energy.largest, 1e-3 * b->energy.limit));
  ck_assert_int_eq(a->verdict.contradicted, b->verdict.contradicted);
  ck_assert_uint_eq(a->verdict.tests, b->verdict.tests);
  for (int w = 0; w < 2; w++) close_rig(&r[w]);
}

/* What a session makes of itself makes its steps likewise. */
TEST(test_clones_share_the_program)
{
  rig r;
  bramah_diag diag;
  bramah_session *clone;
  open_rig(&r, 0, 0);
  must(bramah_session_clone(r.session, &diag, &clone), &diag);
  const bramah_machine_plant *machine = bramah_session_about(clone)->machine;
  ck_assert_ptr_eq(machine->program, bramah_session_about(r.session)->machine->program);
  must(machine->plant.step(machine->plant.self, &diag), &diag);
  ck_assert_uint_eq(bramah_coupled_report(machine->coupled).compiled, 1);
  bramah_session_close(clone);
  close_rig(&r);
}

int main(void) { return run_tests("tape_replay"); }
