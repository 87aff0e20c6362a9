/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a work file: check and load agree, and what was loaded keeps what its header says. */
#define _GNU_SOURCE /* locale_t */
#include "bramah/work_cycles.h"
#include "lib/io/schema.h"
#include "lib/io/session.h"
#include "test/fuzz/fuzz.h"

#include <math.h>

static void check_work(const bramah_work *work)
{
  FUZZ_CHECK(work->name && *work->name && work->file, "work without names");
  FUZZ_CHECK(work->time && work->payload && work->swing_rate && work->arm && work->fuel_rate && work->power,
             "no column");
  FUZZ_CHECK(work->band > 0.0 && isfinite(work->band), "band %g", work->band);
  for (size_t i = 0; i < work->n_cylinders; i++) {
    const bramah_work_cylinder *c = &work->cylinders[i];
    FUZZ_CHECK(c->name && c->stroke && c->piston_pressure, "a cylinder without columns");
    FUZZ_CHECK(c->number >= 1 && c->bore > 0.0 && c->rod >= 0.0 && c->rod < c->bore, "sizes");
    FUZZ_CHECK(c->rod_pressure || c->rod == 0.0, "a rod without pressure");
    FUZZ_CHECK(c->stall_pressure >= 0.0, "stall pressure");
  }
  for (size_t i = 0; i < work->n_runs; i++) {
    const bramah_work_entry *run = &work->runs[i];
    FUZZ_CHECK(run->name && run->log && *run->log, "a run without log");
    FUZZ_CHECK(run->hits >= 0.0 && (run->has_hits || run->hits == 0.0), "hits");
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const char *path = fuzz_file(data, size);
  fuzz_mistakes mistakes = {.path = path, .lines = fuzz_lines(data, size)};
  bramah_work *work = NULL;
  bramah_diag diag;
  void *told = NULL;
  bramah__read_file_of(path, &bramah__work_file, fuzz_tell, &mistakes, &diag, &told);
  bramah__file_free(told);
  const bramah_status load = bramah_work_load(path, &diag, &work);
  FUZZ_CHECK((load == BRAMAH_OK) == (work != NULL), "%s", bramah_status_name(load));
  fuzz_check_agreement(&mistakes, mistakes.n ? mistakes.first.status : BRAMAH_OK, load, &diag);
  if (work) check_work(work);
  bramah_work_free(work);
  return 0;
}
