/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bramah fmu: a machine or the filter of a study for other simulators. */
#include "bramah/fmu.h"
#include "lib/cli/cli.h"

#include <string.h>

static int run(const cli_arguments *arguments)
{
  const char *output = cli_value(arguments, "output");
  bramah_fmu_report r;
  bramah_diag diag;
  int64_t step_ns = 0;
  uint64_t version = 2;
  int code = cli_time_value(arguments, "step", &step_ns);
  if (!code) code = cli_count_value(arguments, "fmi", 2, &version);
  if (code) return code;
  if (version > 3) return cli_wrong_use(arguments->command, "the version of FMI is 2 or 3");
  if (strcmp(output, "-") == 0) return cli_wrong_use(arguments->command, "an FMU is a file, not a stream");
  bramah_diag_clear(&diag);
  if (cli_check_output(output, 1, arguments->operands, &diag) || cli_check_place(output, &diag))
    return cli_report(&diag);
  if (bramah_fmu_write(arguments->operands[0], step_ns, (int)version, output, &diag, &r))
    return cli_report(&diag);
  printf("%s: %s %s for co-simulation by FMI %d.0, steps of %.9g s; %zu variables, of them %zu input%s and "
         "%zu output%s\n",
         output, r.is_estimator ? "the estimator" : "the machine", r.name, (int)version, r.step,
         r.n_variables, r.n_inputs, r.n_inputs == 1 ? "" : "s", r.n_outputs, r.n_outputs == 1 ? "" : "s");
  if (*r.left_out) cli_note("left out, since they are not written as C: %s", r.left_out);
  return CLI_OK;
}

static const cli_option options[] = {{"output", "FILE", "the FMU, four-bar.fmu", 1, 0},
                                     {"fmi", "2|3", "version of the standard; default 2", 0, 0},
                                     {"step", "TIME", "time step, \"1 ms\"; else that of the machine", 0, 0},
                                     {0}};

const cli_command cli_fmu = {
    .name = "fmu",
    .operands = "MACHINE|STUDY",
    .summary = "Write a machine or a study's filter as an FMU",
    .details =
        "For simulators that know the Functional Mock-up Interface: Co-Simulation, with C source, a binary\n"
        "for this platform (made by the C compiler, CC or cc), units, and a page that explains the "
        "variables.\n"
        "It needs no other file and no library; any number of instances may run side by side.\n"
        "\n"
        "Of a machine: its commands and forces go in, states and outputs come out; parameters may be tuned.\n"
        "It makes the steps of 'bramah simulate'. Of a study: measured.SENSOR and valid.SENSOR go in too,\n"
        "and estimates with sigma.OUTPUT, nis.SENSOR and alarms come out, as 'bramah replay' has them.\n"
        "A communication step is a whole number of the model's own steps; others are refused.\n"
        "\n"
        "What 'bramah compile' does not write is refused by name, and studies with delays.\n",
    .example = "bramah fmu four-bar.yaml --output four-bar.fmu --fmi 3",
    .min_operands = 1,
    .max_operands = 1,
    .options = options,
    .run = run};
