/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Machines and estimators for other simulators, by the Functional Mock-up Interface (FMI, fmi-standard.org). Part of
 * libbramah-tools; needs libzip and expat when bramah is built, and the C compiler of this computer. */
#ifndef BRAMAH_FMI_H
#define BRAMAH_FMI_H

#include "bramah/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What was written. */
typedef struct bramah_fmu_report {
  char name[64];    /* the model identifier */
  int is_estimator; /* of a study */
  double step;      /* [s] of the model's own */
  size_t n_variables, n_inputs, n_outputs;
  char left_out[256]; /* names of outputs of the machine that its C source does not have, ", " between them */
} bramah_fmu_report;

/* The machine of a machine file, or the filter of a study, as an FMU for co-simulation, written to the file `output`: model
 * description, C source, a binary for this platform, made by the C compiler CC (cc where the environment has none), and a page that says
 * what its variables are. It needs no other file and no library, and any number of instances may live side by side.
 *
 * Inputs are the machine's, in SI, held over a step; of an estimator also measured.SENSOR and valid.SENSOR, which correct the
 * estimate at the communication point where they are set. A communication step is a whole number of the model's own, step_ns
 * (0: that of the file), another is refused with a message. States of a plant may be set at any communication point, those of an
 * estimator before the first step; the state of the whole FMU is a copy of fixed size, restored to the bit. Directional derivatives
 * of a plant: by previous.STATE, where the last step began, they are those of the step itself; by a STATE those of outputs as they are; by
 * inputs and parameters central differences of the last step.
 *
 * version: 2 or 3. The same file gives the same bytes (of the same compiler). Errors: those of bramah_plant_c_source and
 * bramah_filter_c_source, which name what is not written as C; E_UNSUPPORTED (samples that come late, several filters, adapted
 * noise; bramah built without libzip), E_ARGUMENT (version), E_FILE (no compiler, the output). */
BRAMAH_API bramah_status bramah_fmu_write(const char *path, int64_t step_ns, int version, const char *output,
                                          bramah_diag *diag, bramah_fmu_report *report);

#ifdef __cplusplus
}
#endif
#endif
