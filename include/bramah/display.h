/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A display that knows how sure it is: gauges, plots and the machine in motion as the filter of a study has them, each value with
 * its standard deviation and what is critical with its probability. Part of libbramah-tools. The library makes texts; who serves
 * them to a browser, or writes them to a file, is the caller.
 *
 *   bramah_display_new(file, assess, &diag, &display);        ... bramah_display_text(...), bramah_display_description(display) ...
 *   after an estimate, 30 times a second: bramah_display_take(display, frame);
 *   then, on any thread: bramah_display_frame_text(display, frame, text, sizeof text);
 *
 * Texts are JSON (RFC 8259), UTF-8, without line ends, safe between the tags of a page; numbers are those of the filter to the
 * last bit, SI; null: there is none. */
#ifndef BRAMAH_DISPLAY_H
#define BRAMAH_DISPLAY_H

#include "bramah/assess.h"
#include "bramah/simulation.h"
#include "bramah/units.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- display.yaml ---- */

typedef enum bramah_gauge_kind {
  BRAMAH_GAUGE_DIAL = 0,
  BRAMAH_GAUGE_BAR = 1,
  BRAMAH_GAUGE_TILT = 2, /* an inclinometer: the machine against its horizon */
  BRAMAH_GAUGE_NUMBER = 3,
  BRAMAH_GAUGE_LAMP = 4, /* lit when critical */
  BRAMAH_GAUGE_TEXT = 5  /* one of its texts, by the value rounded: a gear */
} bramah_gauge_kind;

/* A gauge of one output; its values are SI. Members that its kind has no use for are not looked at. */
typedef struct bramah_gauge {
  const char *name;
  int line;
  bramah_gauge_kind kind;
  const char *output; /* of the plant, one that is not hidden */
  int output_line;
  const char *label;     /* NULL: the name */
  const char *unit;      /* as shown, "deg" */
  double factor;         /* of that unit: SI = factor x shown */
  double range[2];       /* of the scale, ascending: dial, bar, tilt */
  double recommended[2]; /* ascending; both 0: none */
  size_t n_marks;        /* values marked on the scale */
  const double *marks;   /* [n_marks] */
  double below, above;   /* critical beyond them; infinite: not on that side */
  double probability;    /* critical is shown from this probability on, 0 to 1; default 0.05 */
  double most_sigma;     /* a value with a larger sigma counts as unknown; infinite: none does */
  size_t
      n_sensors; /* that it depends on: one of them lost, it counts as unknown; 0: the one that measures just this output */
  const char *const *sensors; /* [n_sensors] */
  size_t n_texts; /* of a text gauge, for the values 0, 1, ... or, with a range, from its first value on */
  const char *const *texts; /* [n_texts] */
  /* What has been taken out of a tank since the start: shown is the share that is left, filled - value/tank, in the unit of
   * which limits and range are; 0: none. A number without unit is in SI. */
  double tank, filled;
  /* Shown is the output times this, of the dimension of `unit` by that of the output: the radius of a wheel [m/rad] makes a speed of
   * its rate; 0: 1. */
  double scale;
  bramah_dimension scale_dimension;
  int place[2];    /* column and row, from 1; 0: behind the gauge before */
  int size;        /* 1, 2 or 3 columns and rows; 0: 1 */
  int is_optional; /* 1: left out where the machine has no such output */
  int has_below, has_above, has_probability, has_most_sigma, has_filled;
} bramah_gauge;

/* Shapes of a body for drawing only, in its frame, as those of bramah_body. */
typedef struct bramah_display_body {
  const char *name;
  int line;
  size_t n_shapes;
  const bramah_shape *shapes;
} bramah_display_body;

/* What a part of a scenario waits for: an output of the plant, or a gauge of the file as it shows it, beyond or within values. */
typedef struct bramah_scenario_condition {
  const char *name;
  int line;
  bramah_study_value above, below; /* either may be missing; both: between them */
  bramah_study_value beyond;       /* above it or below its negative, without the others */
} bramah_scenario_condition;

/* A task: it waits for those that it follows and for all conditions of `begin`, is worked at until all of `end` have held for
 * `hold`, and fails where those of `forbidden` hold, or its time is up. */
typedef struct bramah_scenario_task {
  const char *name;
  int line;
  const char *instruction; /* to the driver, while it is worked at */
  size_t n_begin, n_end, n_forbidden;
  const bramah_scenario_condition *begin, *end, *forbidden;
  size_t n_after;
  const char *const
      *after; /* [n_after] tasks before it; "start": none; n_after 0: the one before it in the file */
  size_t n_gauges;
  const char *const *gauges; /* [n_gauges] to look at */
  double hold, time_limit;   /* [s] time_limit 0: none */
  double points,
      late; /* late: points lost for each second beyond the time limit, instead of failing; 0: it fails */
} bramah_scenario_task;

/* What costs points, each time and by the second while it lasts, or what ends a scenario, where its conditions have held for `hold`. */
typedef struct bramah_scenario_rule {
  const char *name;
  int line;
  size_t n_when;
  const bramah_scenario_condition *when;
  const char *text; /* to the driver; NULL: the name */
  double hold;      /* [s] */
  double points, per_second;
  int most;           /* times; more end the scenario; 0: any number */
  double probability; /* of a breakdown: from this one on, 0 to 1; default 0.5 */
  int goes_on;        /* of a breakdown: it does not end the scenario */
  int is_optional;    /* 1: left out where the machine has no such output */
  int has_probability;
} bramah_scenario_rule;

/* Tasks with conditions and instructions, as publication IV builds its display of them. */
typedef struct bramah_scenario {
  int line;
  const char *title; /* NULL: that of the display */
  int by_truth;      /* 1: the truth decides, where it is known */
  double confidence; /* what must be so with this probability counts, 0 to 1; default 0.95 */
  double time_limit; /* [s] 0: none */
  size_t n_tasks, n_penalties, n_breakdowns;
  const bramah_scenario_task *tasks;
  const bramah_scenario_rule *penalties, *breakdowns;
  int has_confidence;
} bramah_scenario;

/* How a command of a simulated machine is given by keys, a stick, or a finger. */
typedef struct bramah_display_lever {
  const char *name; /* input of the machine */
  int line;
  const char *label; /* NULL: the name */
  double range[2];   /* [V] of it; nothing beyond is passed on */
  double neutral;    /* [V] where it goes when nobody drives, and one that is not held when it is let go */
  double step;       /* [V] by a key; 0: as long as it is pressed, the faster */
  int is_held;       /* 1: stays where it is put */
  size_t n_keys;     /* 0 or 2: for less and for more, names as browsers have them: "a", "ArrowUp" */
  const char *const *keys;
  int stick; /* 1 left_x, 2 left_y, 3 right_x, 4 right_y, negative: reversed; 0: none. x to the right, y away from the driver */
} bramah_display_lever;

/* A file. */
typedef struct bramah_display_file {
  const char *file;
  const char *title;
  size_t n_gauges, n_plots, n_bodies;
  bramah_scenario scenario; /* without tasks: none */
  const bramah_gauge *gauges;
  const char *const *plots; /* [n_plots] outputs plotted at first */
  int plots_line;
  const bramah_display_body *bodies;
  size_t n_levers;
  const bramah_display_lever *levers;
} bramah_display_file;

/* Read it. Errors as of bramah_machine_load, each with its place. *out is released by bramah_display_file_free (NULL allowed). */
BRAMAH_API bramah_status bramah_display_load(const char *path, bramah_diag *diag, bramah_display_file **out);
BRAMAH_API void bramah_display_file_free(bramah_display_file *display);

/* ---- a display of an assessment ---- */

typedef struct bramah_display bramah_display;

/* Of the outputs, sensors and bodies of an assessment, which must outlive it, before its first estimate; with its option model_alone
 * the model's pose goes along. file NULL: the display file that the study names; where it names none, a display is made of the outputs that
 * have a standard deviation, those the machine names first. Nothing of the file is kept. Errors: those of bramah_display_load; with file and line: E_REFERENCE (an output, sensor or body that is not there), E_UNIT (a unit
 * that does not fit its output); E_MEMORY. */
BRAMAH_API bramah_status bramah_display_new(const bramah_display_file *file, bramah_assess *assess,
                                            bramah_diag *diag, bramah_display **out);
BRAMAH_API void bramah_display_free(bramah_display *display); /* NULL allowed */

/* What is shown: an object with title, machine, gauges, plots, scenario, names and units of outputs and sensors, bodies and their shapes, ground
 * and levers. Lives as long as the display. */
BRAMAH_API const char *bramah_display_description(const bramah_display *display);

/* Soil that moves below the machine that is simulated, which must outlive the display: the description has its field as `soil`, frames what
 * becomes of it. It is the simulation's truth, which no filter has; a machine whose soil does not move changes nothing. Before frames are made.
 * Errors: E_MEMORY. */
BRAMAH_API bramah_status bramah_display_stand_on(bramah_display *display,
                                                 const bramah_machine_plant *simulated, bramah_diag *diag);

/* Cells of the soil's field, and particles, that a frame shows at most; bytes of what is told of them. */
enum { BRAMAH_DISPLAY_CELLS = 600, BRAMAH_DISPLAY_PARTICLES = 400, BRAMAH_DISPLAY_SOIL = 32000 };

/* The same where the simulation is another process: there a view of its soil says in one line what has changed since it said so last, and more by
 * turns; here a display that stands on the same soil at its start is told so. */
typedef struct bramah_soil_view bramah_soil_view;
/* Of a machine that is simulated, which must outlive it. *out NULL: no soil moves. Errors: E_MEMORY. */
BRAMAH_API bramah_status bramah_soil_view_new(const bramah_machine_plant *simulated, bramah_diag *diag,
                                              bramah_soil_view **out);
BRAMAH_API void bramah_soil_view_free(bramah_soil_view *view); /* NULL allowed */
/* "# soil ...": whole numbers. Returns its length, at most BRAMAH_DISPLAY_SOIL; written to out [size] if it is shorter than that. */
BRAMAH_API size_t bramah_soil_view_text(bramah_soil_view *view, char *out, size_t size);
/* Such a line, terminated. Returns 0 if it is none; on the thread that takes frames. */
BRAMAH_API int bramah_display_soil(bramah_display *display, const char *text);

/* How a sensor does. */
typedef enum bramah_sensor_state {
  BRAMAH_SENSOR_USED = 0,
  BRAMAH_SENSOR_REJECTED = 1, /* by its gate, most of its samples since the frame before */
  BRAMAH_SENSOR_LOST =
      2, /* taken for faulty, or silent for ten of its intervals and 0.2 s, or a second from the start on */
  BRAMAH_SENSOR_BIAS = 3,    /* its innovations keep to one side (bramah/alarm.h) */
  BRAMAH_SENSOR_DOUBTFUL = 4 /* another alarm of it is raised */
} bramah_sensor_state;

/* ---- its scenario ---- */

/* A display whose file has a scenario follows it in every call of bramah_assess_next, from the first estimate on: bounded, without
 * allocation, by the time of the log alone. It goes into snapshots of the assessment and back with a player. What is to hold is judged by
 * the filter, as a normal distribution about its estimate, and by the truth where that is known of all that is asked for: of
 * the conditions of one task, whose correlation is not looked at, all hold with 1 - sum (1 - p) at least, which decides on tasks and penalties, and
 * with the least p at most, which decides on breakdowns. */
typedef enum bramah_judge { BRAMAH_JUDGE_ESTIMATE = 0, BRAMAH_JUDGE_TRUTH = 1 } bramah_judge;

typedef enum bramah_task_is {
  BRAMAH_TASK_WAITING = 0, /* for others, or for its begin */
  BRAMAH_TASK_ACTIVE = 1,
  BRAMAH_TASK_DONE = 2,
  BRAMAH_TASK_FAILED = 3
} bramah_task_is;

/* What became of a task. */
typedef struct bramah_task_result {
  const char *name;
  bramah_task_is is;
  double begun, ended; /* [s] of the log; NaN: not yet */
  double now;          /* probability that its end holds now; NaN: not known */
  double sure;         /* that it was done: the largest one that has lasted for its hold */
  double left;         /* [s] of its time; NaN: no limit */
  double points, lost; /* for it; by being late */
} bramah_task_result;

/* What became of a penalty, or a breakdown. */
typedef struct bramah_rule_result {
  const char *name;
  int is_on;
  uint64_t times;      /* so far */
  double first, since; /* [s] of the log; NaN: never; when it was on last */
  double now;          /* probability that it holds now */
  double lost;         /* points */
} bramah_rule_result;

typedef enum bramah_scenario_is {
  BRAMAH_SCENARIO_RUNS = 0,
  BRAMAH_SCENARIO_OVER = 1, /* all tasks are done or failed */
  BRAMAH_SCENARIO_LATE = 2, /* its time is up */
  BRAMAH_SCENARIO_BROKEN = 3
} bramah_scenario_is;

/* What became of the whole. */
typedef struct bramah_scenario_result {
  bramah_judge judge;
  bramah_scenario_is is;
  double begun, ended; /* [s] of the log; NaN: not yet */
  double left;         /* [s]; NaN: no limit */
  double score, most;  /* points as judged; if all goes well */
  /* Of the points that the truth would give: mean and standard deviation by the probabilities, tasks independent of each
   * other; of the truth itself the score and 0. */
  double expected, sigma;
  size_t n_tasks, n_penalties, n_breakdowns;
  bramah_task_result *task; /* [n_tasks] in the order of the file */
  bramah_rule_result *penalty,
      *breakdown; /* [n_penalties], [n_breakdowns] those that the machine has outputs for */
} bramah_scenario_result;

/* The truth is what this simulates, whose rows the assessment gets (bramah_simulation_sample) and whose plant this is; both must outlive the
 * display. Before the first estimate. Errors: E_MEMORY. */
BRAMAH_API bramah_status bramah_display_simulated(bramah_display *display,
                                                  const bramah_simulation *simulation,
                                                  const bramah_plant *plant, bramah_diag *diag);

/* As of the last estimate; NULL: there is no scenario, or it is not known to this judge. Lives as long as the display. */
BRAMAH_API const bramah_scenario_result *bramah_display_scenario(bramah_display *display, bramah_judge judge);
/* Who decides on what is shown: the truth where the file wants it and it is known. */
BRAMAH_API bramah_judge bramah_display_judge(const bramah_display *display);

/* The scenario begins anew with the next estimate, for both judges; machine and filter go on. Between two calls of bramah_assess_next. Without a
 * scenario: nothing. */
BRAMAH_API void bramah_display_begin_anew(bramah_display *display);

/* What began to be shown, for a log of it. Gauges and sensors as in frames, 30 times a second of the log. */
typedef enum bramah_shown_kind {
  BRAMAH_SHOWN_INSTRUCTION = 0,
  BRAMAH_SHOWN_DONE = 1,
  BRAMAH_SHOWN_FAILED = 2,
  BRAMAH_SHOWN_PENALTY = 3,
  BRAMAH_SHOWN_BREAKDOWN = 4,
  BRAMAH_SHOWN_END = 5,      /* of the scenario */
  BRAMAH_SHOWN_CRITICAL = 6, /* a gauge; */
  BRAMAH_SHOWN_OVER = 7,     /* no longer */
  BRAMAH_SHOWN_LOST = 8,     /* a sensor; */
  BRAMAH_SHOWN_BACK = 9,     /* no longer */
  BRAMAH_SHOWN_DIFFERS = 10  /* the two judges disagree on how a task or breakdown came out */
} bramah_shown_kind;
BRAMAH_API const char *bramah_shown_kind_text(bramah_shown_kind kind); /* "instruction" */

/* A line of that log. */
typedef struct bramah_shown {
  double t; /* [s] of the log */
  bramah_shown_kind kind;
  bramah_judge judge;
  const char *name, *text;   /* of the task, rule, gauge or sensor; text may be NULL */
  double probability;        /* NaN: there is none */
  const char *output, *unit; /* the first one that was looked at; NULL: none */
  double value, sigma;       /* of it, SI; NaN: there is none */
} bramah_shown;

/* By the last call of bramah_assess_next; until the next one. */
BRAMAH_API size_t bramah_display_shown(const bramah_display *display, const bramah_shown **out);

/* ---- frames ---- */

/* What is shown at one time. */
typedef struct bramah_display_frame {
  double t; /* [s] of the log */
  size_t n_outputs, n_gauges, n_sensors, n_bodies;
  double *value, *sigma;       /* [n_outputs] in the order of bramah_assess_results.output; NaN: none */
  double *probability;         /* [n_gauges] that it is critical; NaN: nothing is */
  bramah_sensor_state *sensor; /* [n_sensors] */
  double *pose, *model;        /* [n_bodies x 7] as of bramah_skeleton */
  int has_model;               /* 1: the model alone runs along */
  /* Soil: the numbers of cells of the description's field and their heights [mm], those that have changed and, by turns, some that ever did, for
   * viewers who have missed it; the centres of particles [cm], of very many every second one, every third ... */
  int has_soil;
  size_t n_cells, n_particles;
  int *cell, *height, *particle;   /* [n_cells], [n_cells], [n_particles x 3] */
  bramah_scenario_result scenario; /* by whom it is judged; without tasks: none */
} bramah_display_frame;

/* Room for a frame of this display; free it with bramah_display_frame_free (NULL allowed). Errors: E_MEMORY. */
BRAMAH_API bramah_status bramah_display_frame_new(const bramah_display *display, bramah_diag *diag,
                                                  bramah_display_frame **out);
BRAMAH_API void bramah_display_frame_free(bramah_display_frame *frame);

/* The present estimate; between two calls of bramah_assess_next, on their thread. Copies numbers only and allocates nothing. The probability is that of a normal
 * distribution: Phi((value - above)/sigma) + Phi((below - value)/sigma); without sigma 0 or 1. Errors: those of bramah_coupled_skeleton. */
BRAMAH_API bramah_status bramah_display_take(bramah_display *display, bramah_display_frame *frame,
                                             bramah_diag *diag);

/* The frame as an object: t, values, sigmas, probability, sensors, bodies, model, scenario, soil: {cells: [[first cell, heights of it and those behind it], ...],
 * particles}. Returns its length; written to out [size] and
 * terminated if it is shorter than size, else nothing useful is written. Any thread. */
BRAMAH_API size_t bramah_display_frame_text(const bramah_display *display, const bramah_display_frame *frame,
                                            char *out, size_t size);

/* Bytes that no text of a frame of this display exceeds. */
BRAMAH_API size_t bramah_display_frame_size(const bramah_display *display);

/* The verdict by now: {"t", "level": "fine", "unsure" or "wrong", "text"}; a message: {"t", "kind", "text"}, t NaN: of no time. As above. */
BRAMAH_API size_t bramah_display_verdict_text(bramah_display *display, char *out, size_t size);
BRAMAH_API size_t bramah_display_message_text(double t, const char *kind, const char *text, char *out,
                                              size_t size);

/* The page for a server: HTML that names page.css and page.js beside it, fetches display.json and listens to events, and posts to control.
 * Nothing in it is inline, nothing comes from elsewhere. */
typedef enum bramah_display_part {
  BRAMAH_DISPLAY_PAGE = 0,  /* HTML */
  BRAMAH_DISPLAY_STYLE = 1, /* page.css */
  BRAMAH_DISPLAY_SCRIPT = 2 /* page.js */
} bramah_display_part;
/* One of its files; static storage. */
BRAMAH_API const char *bramah_display_text(bramah_display_part part);

/* ---- a run as one file ---- */

typedef struct bramah_recording bramah_recording;

/* Frames for the same page in one HTML file that plays them, 30 a second of the log. Of a longer run every second one is kept, every
 * fourth, and so on, so that their texts take at most `most` bytes, 0: 24 MB; the page says so. Errors: E_MEMORY. */
BRAMAH_API bramah_status bramah_recording_new(bramah_display *display, size_t most, bramah_diag *diag,
                                              bramah_recording **out);
BRAMAH_API void bramah_recording_free(bramah_recording *recording); /* NULL allowed */
/* After each estimate: takes a frame if one is due. Errors: E_MEMORY, those of bramah_display_take. */
BRAMAH_API bramah_status bramah_recording_add(bramah_recording *recording, bramah_diag *diag);
/* What happened: an alarm, a diagnosis. t NaN: of the whole. Errors: E_MEMORY. */
BRAMAH_API bramah_status bramah_recording_say(bramah_recording *recording, double t, const char *kind,
                                              const char *text, bramah_diag *diag);
/* The page with all of it and the verdict by now; the path - is standard output. Errors: E_FILE, E_MEMORY. */
BRAMAH_API bramah_status bramah_recording_write(bramah_recording *recording, const char *path,
                                                bramah_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
