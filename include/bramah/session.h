/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From files to a running filter: what was tuned on logs with a study file runs in a program with the same
 * file, to the last digit. Part of libbramah-tools. Memory is taken while opening and never afterwards.
 *
 *   bramah_session *s;
 *   if (bramah_session_open("boom-study.yaml", &diag, &s)) ... diag says what and where ...
 *   bramah_filter_step(bramah_session_filter(s), &cycle, &report, &diag);    again and again
 *   bramah_session_close(s);
 *
 * Nothing is shared between sessions (but see bramah_session_clone); each may live on a thread of its own. */
#ifndef BRAMAH_SESSION_H
#define BRAMAH_SESSION_H

#include "bramah/adaptive.h"
#include "bramah/coupled.h"
#include "bramah/fmu.h"
#include "bramah/worksite.h"
#include "bramah/study.h"
#include "bramah/filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- a machine file and the plant made from it ---- */

/* To be read only; its parts point into each other. A study with an FMU has one, too: a machine of which only the name is known, and no
 * model, program or coupled plant. */
typedef struct bramah_machine_plant {
  bramah_machine *machine;
  bramah_valve *valves;             /* the machine's when they differ from its file, else NULL */
  bramah_metered_cylinder *metered; /* likewise */
  const char **bristles;            /* names for estimated_bristles */
  const bramah_model *model;
  /* that the plant uses; NULL: none, since the model cannot be compiled or is faster without */
  bramah_program *program;
  struct bramah__native_code *native; /* what makes its program faster; NULL: nothing does */
  bramah_coupled *coupled;
  bramah_plant plant;
  bramah_worksite *site; /* NULL: its soil does not move */
  bramah_fmu *fmu;       /* NULL: a machine */
  bramah_fmu_plant *instance;
} bramah_machine_plant;

/* Native code of a machine plant's program (bramah/coupled.h). The C compiler of this computer makes it in the background when
 * the machine has been open for half a second and the program is in use, and plants go over to it, with the same bits; a later
 * run finds it in the cache. The environment: BRAMAH_NATIVE (off: none; wait: it is there before anything is run), CC (the
 * compiler, cc otherwise), XDG_CACHE_HOME (its folder `bramah`, otherwise ~/.cache/bramah: 200 files and 256 MB at most;
 * only a folder that nobody else can enter is used). */
typedef struct bramah_native_report {
  int is_off;                    /* by the environment, or there is no program */
  uint64_t n_cached, n_compiled; /* pieces of the program that are in use: from the cache, made just now */
  double seconds;                /* that making them took */
  uint64_t n_failed;             /* that could not be made or loaded */
  const char *why;               /* of the last of these, else NULL */
} bramah_native_report;
/* Never fails. */
BRAMAH_API bramah_native_report bramah_machine_plant_native(const bramah_machine_plant *machine);

/* Load, make the plant, compile its steps; it is where the machine file says. step_ns 0: that of the file. *out is
 * filled whatever it held before, and is released by bramah_machine_plant_close, after an error too. Errors:
 * those of bramah_machine_load, bramah_model_new, E_MEMORY. */
BRAMAH_API bramah_status bramah_machine_plant_open(bramah_machine_plant *out, const char *path,
                                                   size_t n_changes, const bramah_change *changes,
                                                   int64_t step_ns, bramah_diag *diag);
BRAMAH_API void bramah_machine_plant_close(bramah_machine_plant *machine);

/* Let the soil of its terrain move with its plant from now on, as a simulation wants it; a machine without terrain stays as it is. A truth
 * alone: filters are opened with a session. Errors: those of bramah_worksite_new. */
BRAMAH_API bramah_status bramah_machine_plant_dig(bramah_machine_plant *machine, bramah_diag *diag);

/* Compile it anew (bramah_program_new_for), for a filter on its plant; before there is another plant of it. A session has done this.
 * Errors: E_MEMORY. */
BRAMAH_API bramah_status bramah_machine_plant_compile(bramah_machine_plant *machine,
                                                      bramah_program_scope scope, size_t n_par,
                                                      const size_t *par, bramah_diag *diag);

/* Another plant of the machine, which makes its steps as the first one does. Give it back with bramah_coupled_free, before
 * the machine. Errors: E_MEMORY. */
BRAMAH_API bramah_status bramah_machine_plant_another(const bramah_machine_plant *machine, bramah_diag *diag,
                                                      bramah_coupled **out);

/* Who says how well something is known. */
typedef enum bramah_uncertainty_source {
  BRAMAH_UNCERTAINTY_NONE = 0,    /* nobody: it is taken to be known exactly */
  BRAMAH_UNCERTAINTY_DEFAULT = 1, /* the table of defaults */
  BRAMAH_UNCERTAINTY_STATED = 2   /* a file */
} bramah_uncertainty_source;

/* How well a parameter of the plant is known by the machine file ("1500 MPa ± 30 %"), else by the table of defaults: its
 * standard deviation, 0: exactly. The mass of a body is that of its payload, at the payload point. */
BRAMAH_API bramah_uncertainty_source bramah_machine_plant_uncertainty(const bramah_machine_plant *machine,
                                                                      size_t parameter, double *sigma);

/* ---- a study with its machine, sensors and filter ---- */

typedef struct bramah_session bramah_session;

/* Read the study file and its machine, and put the filter at the study's start, t = 0. Inputs are those of
 * the machine in its order (bramah_model_get_info), sensors those of the study in its order. Not set up
 * here: `adapt` (bramah_session_new_adaptive), `log` (bramah/log.h), and the buffer that sensors with a
 * `delay` need (bramah/replay.h). Errors (*out is NULL then): those of bramah_study_load and
 * bramah_machine_load; E_REFERENCE (a joint, volume, input or output that the machine has not), E_VALUE,
 * E_UNIT, E_KEY, each with its line; those of bramah_coupled_start and bramah_filter_new. */
BRAMAH_API bramah_status bramah_session_open(const char *path, bramah_diag *diag, bramah_session **out);

/* The same from a study in memory, which becomes the session's, after an error too. step_ns: of the plant; 0:
 * that of the machine. Errors: those of bramah_session_open but for the study file. */
BRAMAH_API bramah_status bramah_session_new(bramah_study *study, int64_t step_ns, bramah_diag *diag,
                                            bramah_session **out);

/* Another plant and filter at the study's start, on study, model and sensors of `session`, which must outlive
 * it. Clones of one session may live on threads of their own. Errors: E_MEMORY, those of
 * bramah_coupled_start. */
BRAMAH_API bramah_status bramah_session_clone(const bramah_session *session, bramah_diag *diag,
                                              bramah_session **out);

/* A clone on which hypothesis k of the study holds: its plant has the values of that one. Budget of any session of a
 * study with hypotheses: parameters that one of them gives a value are left out, unless the study's `uncertainty` names
 * them, and what is of role AUTO elsewhere is estimated from the start on, for the sake of likelihoods
 * (bramah_filter_log_likelihood); gains and delays are considered as ever.
 * Errors: E_ARGUMENT (no such hypothesis), those of bramah_session_clone and of the plant's set_parameter. */
BRAMAH_API bramah_status bramah_session_of_hypothesis(const bramah_session *session, size_t k,
                                                      bramah_diag *diag, bramah_session **out);

BRAMAH_API void bramah_session_close(bramah_session *session); /* NULL allowed */

/* What a session was made of and what came out of it; everything lives as long as the session. */
typedef struct bramah_session_parts {
  const bramah_study *study;
  const bramah_machine_plant *machine;
  const bramah_sensor *sensors; /* [study->n_sensors] in the order of the study */
  /* Of the session's filter, to make another (bramah_filter_new, on `sensors`); they point into the session. */
  bramah_filter_options options;
  /* Joint i of the study: the output of the plant that is its position (its rate is the next one), and where it
   * starts [rad] or [m], [rad/s] or [m/s]. */
  const size_t *joint_output;     /* [study->n_joints] */
  const double *joint_start;      /* [study->n_joints] */
  const double *joint_start_rate; /* [study->n_joints] */
  /* The last ones of options.augmented, behind the study's: its uncertainty budget, each of role AUTO with the name of
   * its parameter or <sensor>.bias; 1: what a file states, 0: a default. */
  size_t n_budget;
  const unsigned char *is_stated; /* [n_budget] */
  /* Units (SI) of the augmented states; of the parameters that the study's noises act on. */
  const char *const *augmented_unit; /* [options.n_augmented] */
  const char *const *noise_unit;     /* [study->n_parameter_noise] */
} bramah_session_parts;

/* These parts. */
BRAMAH_API const bramah_session_parts *bramah_session_about(const bramah_session *session);

/* The parts that every program needs. */
BRAMAH_API const bramah_study *bramah_session_study(const bramah_session *session);
BRAMAH_API const bramah_plant *bramah_session_plant(const bramah_session *session);
BRAMAH_API bramah_filter *bramah_session_filter(const bramah_session *session);

/* Put the session's plant, or another of its model, where the filter starts. Allocates nothing. Errors: those
 * of bramah_coupled_start; E_UNSUPPORTED (the session has an FMU). */
BRAMAH_API bramah_status bramah_session_start(const bramah_session *session, bramah_coupled *coupled,
                                              bramah_diag *diag);

/* Another plant of what the session's plant is of, a machine's model or an FMU, at the study's start. */
typedef struct bramah_another_plant {
  bramah_plant plant;
  bramah_coupled *coupled;    /* NULL: of an FMU */
  bramah_fmu_plant *instance; /* NULL: of a machine */
} bramah_another_plant;
/* Freed before the session. *out is empty after an error. Errors: those of bramah_session_start, of bramah_fmu_plant_new, E_MEMORY. */
BRAMAH_API bramah_status bramah_session_another(const bramah_session *session, bramah_diag *diag,
                                                bramah_another_plant *out);
BRAMAH_API void bramah_another_plant_free(bramah_another_plant *other); /* empty, and again, allowed */

/* What the study's section `adapt` asks for, on the session's filter, which must outlive it; *out is NULL
 * where there is none. Release it with bramah_adaptive_free; it hears of every step (bramah/adaptive.h) and
 * does not go together with a rewind buffer. Errors: those of bramah_adaptive_new (E_VALUE: nothing is left to
 * adapt; a noise of zero stays zero), with their place. */
BRAMAH_API bramah_status bramah_session_new_adaptive(const bramah_session *session, bramah_diag *diag,
                                                     bramah_adaptive **out);

/* ---- every mistake of a file ---- */

typedef enum bramah_file_kind {
  BRAMAH_FILE_MACHINE = 0,
  BRAMAH_FILE_STUDY = 1,
  BRAMAH_FILE_PLAN = 2,   /* of a sensor study */
  BRAMAH_FILE_WORK = 3,   /* of operators' runs, bramah/work_cycles.h */
  BRAMAH_FILE_DISPLAY = 4 /* of gauges, bramah/display.h */
} bramah_file_kind;

/* Which it is, by its key `study`, `plan`, `work` or `display`; a machine where it cannot be read. */
BRAMAH_API bramah_file_kind bramah_file_kind_of(const char *path);

/* Read a file as *_load does, but go on after a mistake: every value that is wrong by itself, every unknown,
 * missing or doubled key and every name that refers to nothing goes to `tell`; of a study and its machine without
 * such mistakes also every name and unit of the study that does not fit the machine. *kind: bramah_file_kind_of (NULL:
 * not asked for). Returns OK if there is no mistake, else the status of the first; nothing is kept. After 1000 mistakes in a file it stops. What only the whole
 * shows (a loop that cannot close, what a plan names) is left to bramah_machine_plant_open and
 * bramah_sensor_study_open. */
BRAMAH_API bramah_status bramah_file_check(const char *path, bramah_mistake tell, void *user,
                                           bramah_file_kind *kind);

/* The JSON Schema (draft 7) of such a file, for editors: made of the tables by which files are read, so that it knows
 * every key, word and unit that they do. *json is allocated, to be freed by free(). What only the whole shows it does
 * not know. Errors: E_MEMORY. */
BRAMAH_API bramah_status bramah_file_schema(bramah_file_kind kind, char **json, bramah_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
