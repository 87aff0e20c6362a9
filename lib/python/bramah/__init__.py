# SPDX-License-Identifier: GPL-3.0-or-later
"""Error-state Kalman filtering of hydraulically actuated multibody machines.

    import bramah
    r = bramah.replay("sensors-2.yaml", "log.csv", truth="truth.csv")
    r["crank.angle"], r.sigma("crank.angle"), r.verdict

Machines and studies are files; arrays are numpy's, float64, C-contiguous, in SI (`unit=` converts, as do convert(),
si() and factor()). Results of runs are arrays of their own; what is a view of the library's memory says so. Mistakes are
bramah.Error with file, line, column, thing, status. Calls that take time let other threads run; an object is used by one
thread at a time, and a second one gets an Error. The headers in include/bramah are the reference of every structure that
comes back as a Record."""
from bramah._bramah import ffi as _ffi, lib as _lib
from bramah.core import (DoubtWarning, Error, InputError, NameUnknown, NumericError, Parameters, Record, Series,
                         TimeError, convert, factor, si)
from bramah.session import (COORDINATES, GATED, LIMITED, RECOVERED, SATURATED, SENSOR_FAULT, Batch, Session, Study)
from bramah.plant import Filter, Plant, Sensor
from bramah.replay import Replay, Verdict, replay
from bramah.linear import LinearSystem, Modes, linearize, lqr
from bramah.logs import check_file, compare, look_over, noise, read_log, write_log, write_mat
from bramah.machine import CSource, Machine, Part, Simulation, compile_source
from bramah.terrain import Terrain, Tool, cut_force
from bramah.tuning import SensorStudy, Tuning, sensor_study, sweep, tune
from bramah.work import friedman, leaderboard, movement, spearman, work_cycles

__version__ = _ffi.string(_lib.bramah_version()).decode()
