/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A verdict and its findings in words. */
#include "bramah/assess.h"

#include <math.h>
#include <stdio.h>

void bramah_finding_tolerated(const bramah_finding *f, char *out, size_t n)
{
  if (isinf(f->most))
    snprintf(out, n, "at least %.3g", f->least);
  else if (f->least <= 0.0)
    snprintf(out, n, f->most > 0.0 ? "at most %.3g" : "%.3g", f->most);
  else
    snprintf(out, n, "%.3g to %.3g", f->least, f->most);
}

void bramah_finding_text(const bramah_finding *f, char *out, size_t n)
{
  static const char *const what[] = {[BRAMAH_CHECK_MEAN] = "mean",
                                     [BRAMAH_CHECK_VARIANCE] = "variance",
                                     [BRAMAH_CHECK_CORRELATION] = "correlation",
                                     [BRAMAH_CHECK_REJECTED] = "rejected",
                                     [BRAMAH_CHECK_SMALL] = "small variance",
                                     [BRAMAH_CHECK_ANTI] = "anticorrelation",
                                     [BRAMAH_CHECK_STATED] = "beyond its stated uncertainty",
                                     [BRAMAH_CHECK_OFFSET] = "offset"};
  char limits[64];
  bramah_finding_tolerated(f, limits, sizeof limits);
  if (isnan(f->amount))
    snprintf(out, n, "%s%s%s %.3g%s%s, tolerated %s", f->at, *f->at ? ": " : "", f->what, f->value,
             *f->unit ? " " : "", f->unit, limits);
  else
    snprintf(out, n, "%s, %.6g to %.6g s, %s %.3g sigma (%.3g%s)", *f->at ? f->at : "all sensors", f->begin,
             f->end, what[f->kind], f->value, f->amount, f->kind == BRAMAH_CHECK_REJECTED ? " %" : "");
}

void bramah_verdict_text(const bramah_verdict *v, char *out, size_t n)
{
  if (v->contradicted) {
    char worst[256];
    bramah_finding_text(v->worst, worst, sizeof worst);
    snprintf(out, n, "contradicted: %s", worst);
  } else if (v->broken_off) {
    snprintf(out, n, "none: the run was broken off; what was estimated before is not judged");
  } else if (v->doubt) {
    char doubt[1024];
    bramah_diag_format(&v->doubt->diag, doubt, sizeof doubt);
    snprintf(out, n, "doubted: %s", doubt);
  } else if (v->too_short) {
    snprintf(out, n, "too short to judge: no sensor has 50 samples");
  } else {
    snprintf(out, n, "no contradiction found in %llu tests", (unsigned long long)v->tests);
  }
}
