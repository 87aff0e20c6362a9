/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "test/fuzz/four_bar.h"
#include "bramah/coupled.h"
#include "bramah/study.h"
#include "test/fuzz/fuzz.h"

static const bramah_model *model;

const bramah_plant *fuzz_four_bar(void)
{
  static bramah_coupled *coupled;
  static bramah_plant plant;
  static bramah_machine *machine;
  bramah_diag diag;
  if (coupled) return &plant;
  FUZZ_CHECK(!bramah_machine_load(FUZZ_FOUR_BAR, 0, NULL, &diag, &machine), "%s", diag.message);
  FUZZ_CHECK(!bramah_model_new(machine, &diag, &model), "%s", diag.message);
  FUZZ_CHECK(!bramah_coupled_new(model, &diag, &coupled), "%s", diag.message);
  plant = bramah_coupled_plant(coupled);
  return &plant;
}
