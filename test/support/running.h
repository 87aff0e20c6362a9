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

/* Changes to a good machine, and what is said of it. */
typedef struct alteration {
  double *number, to;
  const char **name, *called;
  size_t *count, n;
  bramah_characteristic *curve;
  const bramah_characteristic *drawn;
} alteration;

#define NUMBER(member, value)                                                                                \
  {                                                                                                          \
    .number = &(member), .to = (value)                                                                       \
  }
#define NAME(member, text)                                                                                   \
  {                                                                                                          \
    .name = &(member), .called = (text)                                                                      \
  }
#define COUNTED(member, value)                                                                               \
  {                                                                                                          \
    .count = &(member), .n = (value)                                                                         \
  }
#define CURVE(member, points)                                                                                \
  {                                                                                                          \
    .curve = &(member), .drawn = &(points)                                                                   \
  }

typedef struct refusal {
  const char *thing, *part;
  int line;             /* 0: not looked at */
  bramah_status status; /* 0: E_VALUE */
  alteration changes[3];
} refusal;

static inline void check_refusal(const bramah_machine *machine, const refusal *r, bramah_diag *diag)
{
  for (int i = 0; i < 3; i++) {
    const alteration *c = &r->changes[i];
    if (c->number) *c->number = c->to;
    if (c->name) *c->name = c->called;
    if (c->count) *c->count = c->n;
    if (c->curve) *c->curve = *c->drawn;
  }
  refuses(machine, r->status ? r->status : BRAMAH_E_VALUE, r->thing, r->part, diag);
  if (r->line) ck_assert_int_eq(diag->line, r->line);
}

#endif
