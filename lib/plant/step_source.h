/* SPDX-License-Identifier: MIT */
/* A machine's step as C source: its equations from the tape, tables of the machine, and the step around them, which is
 * the same text for all machines (step_source.c.in, step_source.h.in) and does what compiled.c does with a tape. More
 * can be put behind it: a filter, which is another such text (estimators/filter_source.c). */
#ifndef BRAMAH_LIB_PLANT_STEP_SOURCE_H
#define BRAMAH_LIB_PLANT_STEP_SOURCE_H

#include "lib/graph/c_source.h"
#include "lib/plant/step_graph.h"

enum { BRAMAH__SOURCE_NAME = 63 }; /* longest */

/* What texts are written about and with: in them name_ and NAME_ stand for what all that the files define begins with,
 * @ for what differs. */
typedef struct bramah__source {
  const bramah_program *program;
  const bramah_coupled *start;
  char lower[BRAMAH__SOURCE_NAME + 2], upper[BRAMAH__SOURCE_NAME + 2]; /* with _ behind it */
  int single;                                                          /* floats instead of doubles */
  bramah__page *page;                                                  /* that is being written */
} bramah__source;

/* Errors: E_ARGUMENT as of bramah_program_c_source. */
bramah_status bramah__source_begin(const bramah_program *program, const bramah_coupled *start,
                                   const char *name, bramah_precision precision, bramah_diag *diag,
                                   bramah__source *out);

/* Append text up to the next @; returns what follows it. */
const char *bramah__source_fill(const bramah__source *s, const char *text);
/* Append a header of ours, without what it includes, up to the line from which on it is not meant for C source. */
void bramah__source_text(const bramah__source *s, const char *text);
void bramah__source_define(const bramah__source *s, const char *name, size_t n);
/* `static const double name[] = {...};`; of int. An empty one gets a zero. */
void bramah__source_numbers(const bramah__source *s, const char *name, size_t n, const double *x);
void bramah__source_indices(const bramah__source *s, const char *name, size_t n, const int *x);
/* `const char *const name_<what>[NAME_ROOM(NAME_<length>)] = {...};` */
void bramah__source_names(const bramah__source *s, const char *what, const char *length, size_t n,
                          const char *const *name);

/* Can the source tell the value of an output of the plant? Its row? The columns of this that may differ from zero are
 * those from *from up to *to. */
int bramah__source_has_output(const bramah_program *program, const bramah__state *start, size_t output);
int bramah__source_row(const bramah_program *program, size_t output, size_t *from, size_t *to);

/* Does one of these parameters move it at once? */
int bramah__source_follows(const bramah_program *program, size_t output, size_t n_par, const size_t *par);

/* Texts of the plant with derivatives, behind the step: what a filter needs of it is up to the @ in the code. */
extern const char bramah__plant_header[], bramah__plant_code[];

/* What goes behind the step: text for the end of the header and of the code. With it the code has the derivatives of a
 * step, what places a state on its constraints, and of the outputs in the list their values, `static double
 * name_output(const name_state *s, int i)`, and what `static void name_read(name_work *w, int i)` puts into
 * w->read[output_table[i].slot]: value, derivatives by the error state, by the independent accelerations and, where
 * parameters are in the list, by all parameters while accelerations are held; with a table that says which have these
 * (has_row), which of these derivatives alone is not zero but one, so that there is nothing to read (only; -1: any), whose
 * value is there only then (is_read), which one of the listed parameters moves at once (follows), which
 * need name_ends before (follows_ends) and which follow the accelerations (accelerates). Of these
 * parameters name_start_parameters puts the derivatives of the rates at the start into the work, and after the transition
 * name_follow_parameters those of the step, w->G[i][NAME_ERRORS]. */
typedef struct bramah__source_addition {
  const char *what; /* in the first line, behind the name of the machine */
  const char *header, *code;
  size_t n_outputs;
  const size_t *output;
  size_t n_par; /* parameters by which derivatives are wanted */
  const size_t *par;
  int makes_steps; /* without derivatives, too */
} bramah__source_addition;

/* Both files; NULL: the step alone. Errors: E_MEMORY; *out is then empty. */
bramah_status bramah__source_end(bramah__source *s, const bramah__source_addition *addition,
                                 bramah_diag *diag, bramah_c_source *out);

#endif
