# SPDX-License-Identifier: GPL-3.0-or-later
"""Work cycles of excavators and loaders, measures of their operators' runs, tests by ranks (include/bramah/work_cycles.h)."""
from __future__ import annotations

from typing import Any, Optional, Sequence

import numpy as np

from bramah._bramah import ffi, lib
from bramah.core import Record, array_of, check, owned, record


def _column(values: Any, n: Optional[int] = None, what: str = "column") -> Any:
    """As the library takes it; the array lives as long as what is returned."""
    array = array_of(values, len(values) if n is None else n, what)
    return ffi.from_buffer("double[]", array)


def work_cycles(t: Any, load: Any, swing: Any, load_sigma: Any = None) -> Record:
    """Cut a log into digging, swinging loaded, dumping and swinging empty: a bramah_work_cut with its cycles, and what was looked at
    20 times a second (load, swing, phase 0 to 3, its probability).

    t [n] s; load [n] kg, or what grows with it, with its standard deviation; swing [n] rad/s, of a loader m/s; nan: no sample."""
    n, diag, out = len(t), ffi.new("bramah_diag *"), ffi.new("bramah_work_cut **")
    kept = [_column(x, n, what) for x, what in ((t, "t"), (load, "load"), (swing, "swing"))]
    sigma = _column(load_sigma, n, "load_sigma") if load_sigma is not None else ffi.NULL
    signals = ffi.new("bramah_work_signals *", {"n": n, "t": kept[0], "load": kept[1], "load_sigma": sigma, "swing": kept[2]})
    check(lib.bramah_work_cut_new(signals, diag, out), diag)
    cut = owned(out[0], lib.bramah_work_cut_free)
    looked = {name: cut.n for name in ("load", "swing", "phase", "probability")}
    return record(cut, cycles=cut.n_cycles, **looked)


def movement(t: Any, x: Any, band: float = 0.1) -> Record:
    """How a signal moves, a bramah_movement: deviation, range, travel, reversals by more than the band."""
    diag, out = ffi.new("bramah_diag *"), ffi.new("bramah_movement *")
    check(lib.bramah_movement_of(len(t), _column(t), _column(x, len(t), "x"), band, out, diag), diag)
    return record(out)


def leaderboard(attempts: Sequence[Sequence[float]], weights: Sequence[float] = (1, 1, 1)) -> np.ndarray:
    """Scores [persons], the smallest wins, of attempts (person from 0, time, fuel, hits)."""
    persons = max((int(a[0]) for a in attempts), default=-1) + 1
    rows = ffi.new("bramah_attempt[]", [(int(a[0]), *map(float, a[1:])) for a in attempts])
    scores, diag = np.empty(persons), ffi.new("bramah_diag *")
    check(lib.bramah_leaderboard(len(attempts), rows, ffi.new("double[3]", list(weights)), persons,
                                 ffi.from_buffer("double[]", scores), diag), diag)
    return scores


def friedman(values: Any, seed: int = 1) -> Record:
    """Do treatments (columns) differ within blocks (rows)? A bramah_rank_test with p by permutations."""
    table = np.ascontiguousarray(values, np.float64)
    diag, out = ffi.new("bramah_diag *"), ffi.new("bramah_rank_test *")
    check(lib.bramah_friedman(*table.shape, ffi.from_buffer("double[]", table), seed, out, diag), diag)
    return record(out)


def spearman(x: Any, y: Any, seed: int = 1) -> Record:
    """Do x and y rise together? A bramah_rank_test with p by permutations and an interval of rho."""
    diag, out = ffi.new("bramah_diag *"), ffi.new("bramah_rank_test *")
    check(lib.bramah_spearman(len(x), _column(x), _column(y, len(x), "y"), seed, out, diag), diag)
    return record(out)
