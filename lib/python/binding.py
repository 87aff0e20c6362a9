#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The C source of the extension module bramah._bramah, made from the public headers.

usage: binding.py OUT.c OUT.d INCLUDE_FOLDER COMPILER...

The preprocessor unfolds <bramah.h>; what comes from its own headers is what cffi is told. So every name,
structure and constant stands in one place, the header. Functions that C calls ("callbacks") get a Python side
for each pointer to a function that is a member of a structure."""
import contextlib
import io
import re
import subprocess
import sys

import cffi

# What Python may be called for: each function that these structures point to, as py_<structure>_<member>, and these types.
CALLED = ("bramah_plant", "bramah_tune_run", "bramah_tune_options", "bramah_assess_options",
          "bramah_simulation_options")
CALLED_TYPES = ("bramah_mistake", "bramah_source", "bramah_sensor_study_progress")

# What the functions of a long run are given, and a cycle of a filter.
STRUCTURES = """
typedef struct py_run { int stop, enough; void *handle; } py_run;
typedef struct py_cycle {
  bramah_filter *filter;
  bramah_alarm *alarm; /* NULL: none */
  size_t n_u, n_y;
  double *u, *y;
  unsigned char *present;
  int64_t step_ns;
  bramah_filter_step_report report;
  bramah_diag diag;
} py_cycle;
"""
PREAMBLE = "#include <bramah.h>" + STRUCTURES + """
/* Whether a run shall stop is asked again and again, by any thread, while nobody holds the interpreter: without it. */
static int py_is_stopped(void *run) { return __atomic_load_n(&((py_run *)run)->stop, __ATOMIC_RELAXED); }
static int py_is_enough(void *run) { return __atomic_load_n(&((py_run *)run)->enough, __ATOMIC_RELAXED); }
/* Functions that C is handed: what cffi takes the address of is a function of its own. */
static bramah_source py_log_source = bramah_log_stream_next;
static int (*py_stopped)(void *) = py_is_stopped, (*py_enough)(void *) = py_is_enough;

/* A cycle in one call: nan is no sample; nan as the time is the end of the step. Negative: a status; else flags. */
static int py_step(py_cycle *c, double time, int with_u, int with_y)
{
  bramah_filter_cycle cycle = {0, with_u ? c->n_u : 0, c->u, with_y ? c->n_y : 0, c->y, c->present, NULL};
  cycle.time_ns = time == time ? (int64_t)(time * 1e9 + (time < 0.0 ? -0.5 : 0.5))
                               : bramah_filter_time_ns(c->filter) + c->step_ns;
  for (size_t i = 0; i < cycle.n_sensors; i++) c->present[i] = c->y[i] == c->y[i];
  const bramah_status status = bramah_filter_step(c->filter, &cycle, &c->report, &c->diag);
  if (status) return (int)status;
  if (c->alarm && with_y) bramah_alarm_corrected(c->alarm);
  return (int)c->report.flags;
}
"""
DECLARED = STRUCTURES + """
int py_step(py_cycle *c, double time, int with_u, int with_y);
extern bramah_source py_log_source;
extern int (*py_stopped)(void *);
extern int (*py_enough)(void *);
"""


def declarations(out, depends, include, compiler):
    """What the public headers declare, as cffi reads it; the file `depends` says for the build which they are."""
    text = subprocess.run([*compiler, "-E", "-dD", "-MD", "-MF", depends, "-MT", out, "-I", include, "-include",
                           "bramah.h", "-x", "c", "/dev/null"], check=True, capture_output=True, text=True).stdout
    kept, ours = [], False
    for line in text.splitlines():
        mark = re.match(r'# \d+ "([^"]*)"', line)
        number = re.match(r"#define (BRAMAH_\w+) \(?(-?\d+)\)?$", line)
        if mark:
            ours = "/bramah" in mark[1] and mark[1].startswith(include)
        elif ours and number:
            kept.append(line)
        elif ours and not line.startswith("#"):
            kept.append(line)
    text = "\n".join(kept)
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", "", text)
    return re.sub(r"static inline ([^{;]*)\{[^}]*\}", r"\1;", text)


def callbacks(ffi):
    """Their declarations."""
    for structure in CALLED:
        for name, field in ffi.typeof(structure).fields:
            if field.type.kind == "function" or (field.type.kind == "pointer" and field.type.item.kind == "function"):
                yield field.type, f"py_{structure}_{name}"
    for name in CALLED_TYPES:
        yield ffi.typeof(name), f"py_{name}"


def main(out, depends, include, *compiler):
    public = declarations(out, depends, include, compiler)
    known = cffi.FFI()
    known.cdef(public)
    ffi = cffi.FFI()
    ffi.cdef(public)
    ffi.cdef(DECLARED)
    for kind, name in callbacks(known):
        ffi.cdef('extern "Python" ' + known.getctype(kind, f" {name}").replace(f"(* {name})", f" {name}") + ";")
    ffi.set_source("bramah._bramah", PREAMBLE)
    with contextlib.redirect_stdout(io.StringIO()):
        ffi.emit_c_code(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
