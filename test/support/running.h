/* SPDX-License-Identifier: MIT */
/* A machine while a test runs it, and machines that the compiler refuses. */
#ifndef BRAMAH_TEST_SUPPORT_RUNNING_H
#define BRAMAH_TEST_SUPPORT_RUNNING_H

#include <check.h>
#include <string.h>

#include "bramah/coupled.h"
#include "test/support/four_bar.h"

typedef struct running {
  const bramah_model *model;
  bramah_coupled *c;
  bramah_plant p;
} running;

static inline running start(const bramah_machine *machine)
{
  bramah_diag diag;
  running r;
  must(bramah_model_new(machine, &diag, &r.model), &diag);
  must(bramah_coupled_new(r.model, &diag, &r.c), &diag);
  r.p = bramah_coupled_plant(r.c);
  return r;
}

static inline void stop(running *r)
{
  bramah_coupled_free(r->c);
  bramah_model_free(r->model);
}

static inline double shown(const running *r, const char *name)
{
  return r->p.output(r->p.self, must_find(&r->p, name));
}

/* Steps under the inputs that are set. */
static inline bramah_status run_for(running *r, double seconds, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  for (int64_t t = 0; !status && t < (int64_t)(seconds * 1e9 + 0.5); t += r->p.step_ns)
    status = r->p.step(r->p.self, diag);
  return status;
}

/* The compiler names the thing and the reason. */
static inline void refuses(const bramah_machine *machine, bramah_status expected, const char *thing,
                           const char *part, bramah_diag *diag)
{
  const bramah_model *model = NULL;
  const bramah_status status = bramah_model_new(machine, diag, &model);
  ck_assert_msg(status == expected, "expected %s, got %s (%s)", bramah_status_name(expected),
                bramah_status_name(status), diag->message);
  ck_assert_ptr_null(model);
  ck_assert_str_eq(diag->thing, thing);
  ck_assert_msg(strstr(diag->message, part) != NULL, "'%s' lacks '%s'", diag->message, part);
}

/* A change to a good machine, and what is said of it. */
typedef struct refusal {
  void (*change)(void);
  bramah_status status;
  const char *thing, *part;
} refusal;

#endif
