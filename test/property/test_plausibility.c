/* SPDX-License-Identifier: GPL-3.0-or-later */
/* No false doubts: shipped studies with their logs, and logs of machines drawn from what the studies say of their
 * uncertainty, pass a look at their plausibility. That mistakes do not is shown by test/cli/mistakes. */
#include "bramah/assess.h"
#include "bramah/plausibility.h"
#include "bramah/simulation.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *path_of(const char *name)
{
  static char text[2][600];
  static int which;
  which = !which;
  snprintf(text[which], sizeof text[which], "%s/datasets/%s", getenv("BRAMAH_SOURCE_ROOT"), name);
  return text[which];
}

/* Look at a study in memory, which becomes the session's, and a log (NULL: none); nothing may be doubted. */
static void no_doubt(bramah_study *study, const char *log, const char *what)
{
  bramah_session *session;
  bramah_plausibility *p;
  bramah_diag diag;
  ck_assert_msg(!bramah_session_new(study, 0, &diag, &session), "%s: %s", what, diag.message);
  ck_assert_msg(!bramah_plausibility_new(session, log != NULL, &log, NULL, &diag, &p), "%s", diag.message);
  for (size_t i = 0; i < p->n; i++) {
    char text[1024];
    bramah_diag_format(&p->doubt[i].diag, text, sizeof text);
    fprintf(stderr, "%s: %s\n", what, text);
  }
  ck_assert_uint_eq(p->n, 0);
  ck_assert_uint_eq(p->n_certain, 0);
  bramah_plausibility_free(p);
  bramah_session_close(session);
}

TEST(test_shipped_logs)
{
  static const char *const pairs[][2] = {{"four-bar/sensors-1.yaml", "four-bar/log.csv"},
                                         {"four-bar/sensors-2.yaml", "four-bar/log.csv"},
                                         {"four-bar/sensors-3.yaml", "four-bar/log.csv"},
                                         {"four-bar/sensors-4.yaml", "four-bar/log.csv"},
                                         {"four-bar/raw.yaml", "four-bar/log.csv"},
                                         {"four-bar/raw-angle.yaml", "four-bar/log.csv"},
                                         {"four-bar/hypotheses.yaml", "four-bar/log.csv"},
                                         {"four-bar/tuning.yaml", "four-bar/log.csv"},
                                         {"rotary-actuator/act1.yaml", "rotary-actuator/act1-base-3.tsv"}};
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    bramah_study *study;
    bramah_diag diag;
    char log[600];
    snprintf(log, sizeof log, "%s", path_of(pairs[i][1]));
    ck_assert_msg(!bramah_study_load(path_of(pairs[i][0]), 0, NULL, &diag, &study), "%s", diag.message);
    no_doubt(study, log, pairs[i][0]);
  }
}

/* One draw: the machine's uncertain parameters, the joints' start, the sensors' noise. */
static void draw(const char *study_file, uint64_t seed, double seconds)
{
  bramah_session *session;
  bramah_machine_plant machine;
  bramah_noise *noise;
  bramah_diag diag;
  char what[128], log[64];
  snprintf(what, sizeof what, "%s, seed %llu", study_file, (unsigned long long)seed);
  snprintf(log, sizeof log, "plausible-%ld.csv", (long)getpid());
  ck_assert_msg(!bramah_session_open(path_of(study_file), &diag, &session), "%s", diag.message);
  const bramah_session_parts *parts = bramah_session_about(session);
  ck_assert(!bramah_machine_plant_open(&machine, parts->study->machine_file, 0, NULL, 0, &diag));
  ck_assert(!bramah_noise_new(seed, "draw", &diag, &noise));

  bramah_timed_parameter *drawn = calloc(parts->n_budget + 1, sizeof *drawn);
  size_t n = 0;
  for (size_t i = parts->options.n_augmented - parts->n_budget; i < parts->options.n_augmented; i++) {
    const bramah_augmented *a = &parts->options.augmented[i];
    bramah_parameter_info info;
    size_t p;
    if (a->kind != BRAMAH_AUGMENTED_PARAMETER) continue;
    ck_assert(!bramah_plant_parameter_index(&machine.plant, a->at, &p, &diag));
    machine.plant.parameter_info(machine.plant.self, p, &info);
    const double value =
        machine.plant.parameter(machine.plant.self, p) + bramah_noise_gaussian(noise, a->sigma);
    drawn[n++] = (bramah_timed_parameter){.index = p, .value = fmin(fmax(value, info.least), info.most)};
  }

  enum { MOST_JOINTS = 8 };
  bramah_change changes[MOST_JOINTS];
  char names[MOST_JOINTS][200], values[MOST_JOINTS][64];
  const size_t n_joints = parts->study->n_joints;
  ck_assert_uint_le(n_joints, MOST_JOINTS);
  for (size_t i = 0; i < n_joints; i++) {
    const bramah_joint_start *joint = &parts->study->joints[i];
    const double true_start = machine.plant.output(machine.plant.self, parts->joint_output[i]);
    snprintf(names[i], sizeof names[i], "joints.%s.position", joint->joint);
    snprintf(values[i], sizeof values[i], "%.12g %s",
             true_start + bramah_noise_gaussian(noise, joint->position_sigma), joint->slides ? "m" : "rad");
    changes[i] = (bramah_change){.path = names[i], .value = values[i]};
  }

  bramah_simulation_options options;
  bramah_simulation *simulation;
  bramah_simulation_options_default(&options);
  options.study = parts->study->file;
  options.log = log;
  options.seed = seed;
  options.parameters = drawn;
  options.n_parameters = n;
  ck_assert_msg(!bramah_simulation_new(&machine, &options, &diag, &simulation), "%s", diag.message);
  while (bramah_simulation_get_result(simulation).time_ns < (int64_t)(1e9 * seconds))
    ck_assert_msg(!bramah_simulation_next(simulation, &diag), "%s: %s", what, diag.message);
  ck_assert(!bramah_simulation_close(simulation, &diag));

  bramah_study *study;
  ck_assert_msg(!bramah_study_load(path_of(study_file), n_joints, changes, &diag, &study), "%s",
                diag.message);
  no_doubt(study, log, what);
  remove(log);
  free(drawn);
  bramah_noise_free(noise);
  bramah_machine_plant_close(&machine);
  bramah_session_close(session);
}

TEST(test_drawn_logs)
{
  static const struct {
    const char *study;
    double seconds;
  } of[] = {{"four-bar/sensors-1.yaml", 3.0},       {"four-bar/sensors-2.yaml", 3.0},
            {"lifting-four-bar/sensors.yaml", 3.0}, {"crane/gripper-load.yaml", 2.5},
            {"quick-return/sensors.yaml", 2.0},     {"manipulator/encoders.yaml", 1.5},
            {"manipulator/imus.yaml", 1.5}};
  for (size_t i = 0; i < sizeof of / sizeof of[0]; i++)
    for (uint64_t seed = 1; seed <= 10; seed++) draw(of[i].study, seed, of[i].seconds);
}

int main(void) { return run_tests("plausibility"); }
