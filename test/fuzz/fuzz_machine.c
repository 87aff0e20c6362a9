/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a machine file: check and load agree, and what loads is compiled and steps. */
#include "lib/io/session.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/plant.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const char *path = fuzz_file(data, size);
  fuzz_mistakes mistakes = {.path = path, .lines = fuzz_lines(data, size)};
  bramah_machine *machine = NULL;
  bramah_diag diag;
  const bramah_status check = bramah__machine_check(path, 0, NULL, fuzz_tell, &mistakes);
  const bramah_status load = bramah_machine_load(path, 0, NULL, &diag, &machine);
  fuzz_check_agreement(&mistakes, check, load, &diag);
  if (!load) fuzz_run_machine(machine, path, mistakes.lines);
  bramah_machine_free(machine);
  return 0;
}
