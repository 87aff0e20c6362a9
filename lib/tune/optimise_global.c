/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/tune/optimise.h"
#include "lib/base/diag.h"

#ifdef BRAMAH_HAS_NLOPT

#include <math.h>
#include <nlopt.h>

typedef struct asked {
  const bramah__objective *f;
  nlopt_opt opt;
  bramah_status status;
  bramah__optimum *out;
  bramah_diag *diag;
} asked;

static double evaluate(unsigned n, const double *z, double *gradient, void *user)
{
  asked *a = user;
  double cost = 1e300;
  (void)n;
  (void)gradient; /* CRS wants none */
  if (a->status || (a->f->stop && a->f->stop(a->f->user))) {
    nlopt_force_stop(a->opt);
    return cost;
  }
  a->out->costs++;
  a->status = a->f->cost(a->f->user, z, (double)INFINITY, &cost, a->diag);
  return isfinite(cost) ? cost : 1e300;
}

static bramah_status search(asked *a, uint64_t evaluations, uint64_t seed, double *z)
{
  const bramah__objective *f = a->f;
  double best = (double)INFINITY;
  /* NLopt's random numbers are those of the calling thread. */
  nlopt_srand((unsigned long)(seed & 0xFFFFFFFFu));
  int bad = nlopt_set_min_objective(a->opt, evaluate, a) < 0;
  bad |= nlopt_set_lower_bounds(a->opt, f->low) < 0 || nlopt_set_upper_bounds(a->opt, f->high) < 0;
  bad |= nlopt_set_maxeval(a->opt, evaluations < 1000000000 ? (int)evaluations : 1000000000) < 0;
  if (bad) return bramah__fail(a->diag, BRAMAH_E_ARGUMENT, "optimiser", "NLopt refuses the problem");
  const nlopt_result result = nlopt_optimize(a->opt, z, &best);
  if (a->status) return a->status;
  if (result == NLOPT_OUT_OF_MEMORY)
    return bramah__fail(a->diag, BRAMAH_E_MEMORY, "optimiser", "out of memory");
  if (result < 0 && result != NLOPT_FORCED_STOP && result != NLOPT_ROUNDOFF_LIMITED)
    return bramah__fail(a->diag, BRAMAH_E_ARGUMENT, "optimiser", "NLopt refuses the problem");
  a->out->cost = best;
  a->out->ending = result == NLOPT_FORCED_STOP ? BRAMAH_ENDING_STOPPED : BRAMAH_ENDING_CONVERGED;
  return BRAMAH_OK;
}

static bramah_status polish(const bramah__objective *objective, double size, double tolerance, double *z,
                            bramah__optimum *out, bramah_diag *diag)
{
  bramah__optimum last;
  const bramah_status status = bramah__optimise_simplex(objective, size, tolerance, z, &last, diag);
  out->costs += last.costs;
  out->iterations = last.iterations;
  out->ending = last.ending;
  if (last.cost < out->cost) out->cost = last.cost;
  return status;
}

bramah_status bramah__optimise_global(const bramah__objective *objective, uint64_t evaluations, uint64_t seed,
                                     double size, double tolerance, double *z, bramah__optimum *out,
                                     bramah_diag *diag)
{
  *out = (bramah__optimum){0};
  asked a = {.f = objective, .out = out, .diag = diag};
  a.opt = nlopt_create(NLOPT_GN_CRS2_LM, (unsigned)objective->n);
  if (!a.opt) return bramah__fail(diag, BRAMAH_E_MEMORY, "optimiser", "out of memory");
  const bramah_status status = search(&a, evaluations, seed, z);
  nlopt_destroy(a.opt);
  if (status || out->ending == BRAMAH_ENDING_STOPPED) return status;
  return polish(objective, size, tolerance, z, out, diag);
}

#else

bramah_status bramah__optimise_global(const bramah__objective *objective, uint64_t evaluations, uint64_t seed,
                                     double size, double tolerance, double *z, bramah__optimum *out,
                                     bramah_diag *diag)
{
  (void)objective, (void)evaluations, (void)seed, (void)size, (void)tolerance, (void)z;
  *out = (bramah__optimum){0};
  return bramah__fail(diag, BRAMAH_E_UNSUPPORTED, "global",
                      "this build has no NLopt; install it and build anew, or choose multistart");
}

#endif
