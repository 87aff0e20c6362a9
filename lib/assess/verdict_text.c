/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A verdict and its findings in words. */
#include "bramah/assess.h"
#include "lib/assess/assess_internal.h"
#include "lib/io/fail.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- beside a file of estimates ---- */

/* FILE.verdict, opened; *size: bytes of FILE, -1: there is none. NULL: *status says why. */
static FILE *open_kept(const char *estimates, const char *mode, long *size, bramah_status *status,
                       bramah_diag *diag)
{
  const size_t n = strlen(estimates) + sizeof ".verdict";
  char *path = malloc(n);
  FILE *file = fopen(estimates, "rb");
  *size = file && !fseek(file, 0, SEEK_END) ? ftell(file) : -1;
  if (file) fclose(file);
  file = NULL;
  *status = path ? BRAMAH_OK : bramah__fail_memory(diag);
  if (path) {
    snprintf(path, n, "%s.verdict", estimates);
    file = fopen(path, mode);
    if (!file) *status = bramah__failf(diag, BRAMAH_E_FILE, path, 0, NULL, "%s", strerror(errno));
  }
  free(path);
  return file;
}

bramah_status bramah_verdict_keep(const char *estimates, const char *text, bramah_diag *diag)
{
  long size;
  bramah_status status;
  FILE *file = open_kept(estimates, "w", &size, &status, diag);
  if (!file) return status;
  fprintf(file, "%ld bytes, ", size);
  for (; *text; text++) fputc(*text == '\n' ? ' ' : *text, file); /* names may have any character */
  fputc('\n', file);
  const int bad = ferror(file);
  if (fclose(file) || bad)
    return bramah__failf(diag, BRAMAH_E_FILE, estimates, 0, NULL, "its verdict cannot be written beside it");
  return BRAMAH_OK;
}

int bramah__verdict_kept(const char *estimates, char *out, size_t n)
{
  bramah_diag ignored;
  bramah_status status;
  long size, of;
  FILE *file = open_kept(estimates, "r", &size, &status, &ignored);
  if (!file) return 0;
  const int known = fscanf(file, "%ld bytes, ", &of) == 1 && of == size && fgets(out, (int)n, file);
  fclose(file);
  if (known) out[strcspn(out, "\n")] = '\0';
  return known;
}

/* ---- for the first screen of a report ---- */

void bramah_finding_sentence(const bramah_finding *f, char *out, size_t n)
{
  /* of windows: what is at fault, before and after `amount` */
  static const char *const what[][2] = {
      [BRAMAH_CHECK_MEAN] = {"the innovations lie to one side: their mean is ",
                             " of their standard deviation"},
      [BRAMAH_CHECK_VARIANCE] = {"the innovations are too large: their mean square is ",
                                 " of what is expected"},
      [BRAMAH_CHECK_CORRELATION] = {"the innovations follow each other: their correlation is ", ""},
      [BRAMAH_CHECK_REJECTED] = {"the gate rejects ", " % of the samples"},
      [BRAMAH_CHECK_SMALL] = {"the innovations are smaller than stated: their mean square is ",
                              " of what is expected"},
      [BRAMAH_CHECK_ANTI] = {"the innovations change sides too often: their correlation is ", ""},
      [BRAMAH_CHECK_STATED] = {"its error leaves the uncertainty that is stated for it", NULL},
      [BRAMAH_CHECK_OFFSET] = {"it is off by the same all the while", NULL}};
  const char *at = *f->at ? f->at : "all sensors together";
  char limits[64], amount[48];
  bramah_finding_tolerated(f, limits, sizeof limits);
  if (isnan(f->amount)) {
    snprintf(out, n, "%s%s%s: %.3g%s%s, tolerated %s.", f->at, *f->at ? ", " : "", f->what, f->value,
             *f->unit ? " " : "", f->unit, limits);
    return;
  }
  if (f->passed) { /* an accident is no fault */
    snprintf(out, n, "%s, from %.6g to %.6g s: %s, %.3g \xCF\x83, tolerated %s.", at, f->begin, f->end,
             f->what, f->value, limits);
    return;
  }
  snprintf(amount, sizeof amount, "%.3g", f->amount);
  snprintf(out, n, "%s, from %.6g to %.6g s: %s%s%s. The test says %.3g \xCF\x83, tolerated %s.", at,
           f->begin, f->end, what[f->kind][0], what[f->kind][1] ? amount : "",
           what[f->kind][1] ? what[f->kind][1] : "", f->value, limits);
}

const char *bramah_finding_advice(const bramah_finding *f)
{
  static const char pushed[] =
      "Something pushes to one side: a sensor that is off, or a value of the model. "
      "Look for a wrong unit, sign or range with bramah check; state as uncertain what is not "
      "known, or let bramah tune find it.";
  static const char missing[] =
      "The model misses something there, or the sensor is noisier than its sigma says. Look "
      "at what the machine does in that window; then correct the model, or raise the noise "
      "(bramah tune finds it).";
  static const char gated[] =
      "The filter goes on without these samples. Look whether sensor or model is wrong there "
      "before its estimates are used.";
  static const char sigmas[] =
      "Do not use the standard deviations: state what is uncertain in the model, or raise the "
      "process noise.";
  static const char motion[] =
      "This is no motion the machine can make. Look at the machine file (strokes, volumes, "
      "start) and at the units of the log.";
  static const char noise[] = "Less noise would do: bramah tune finds how much.";
  static const char *const advice[] = {
      [BRAMAH_CHECK_NIS] = missing,         [BRAMAH_CHECK_GATED] = gated,
      [BRAMAH_CHECK_FAULT] = gated,         [BRAMAH_CHECK_RECOVERIES] = gated,
      [BRAMAH_CHECK_ERRORS] = sigmas,       [BRAMAH_CHECK_NEES] = sigmas,
      [BRAMAH_CHECK_PRESSURE] = motion,     [BRAMAH_CHECK_STROKE] = motion,
      [BRAMAH_CHECK_LOOP] = motion,         [BRAMAH_CHECK_POSE] = motion,
      [BRAMAH_CHECK_STEP] = motion,         [BRAMAH_CHECK_ENERGY] = motion,
      [BRAMAH_CHECK_MEAN] = pushed,         [BRAMAH_CHECK_VARIANCE] = missing,
      [BRAMAH_CHECK_CORRELATION] = missing, [BRAMAH_CHECK_REJECTED] = gated,
      [BRAMAH_CHECK_SMALL] = noise,         [BRAMAH_CHECK_ANTI] = noise,
      [BRAMAH_CHECK_BIAS] = pushed,         [BRAMAH_CHECK_STATED] = pushed,
      [BRAMAH_CHECK_OFFSET] = pushed};
  return advice[f->kind];
}

double bramah_finding_closeness(const bramah_finding *f)
{
  double share = 0.0;
  if (isinf(f->most)) /* a share [%] that is to be large */
    share = (100.0 - f->value) / fmax(100.0 - f->least, 1e-9);
  else if (f->most > 0.0)
    share = f->value / f->most;
  if (!f->passed) return share > 1.0 ? share : 1.0;
  return share < 0.0 ? 0.0 : share < 0.999 ? share : 0.999;
}
