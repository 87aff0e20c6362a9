# SPDX-License-Identifier: GPL-3.0-or-later
"""A log through the filter of a study, as arrays, with the verdict on it."""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from bramah._bramah import ffi, lib
from bramah.arrow import columns_of, nanoseconds_of, numbers_of
from bramah.core import (Error, InputError, Path, Record, Series, Texts, check, convert, index_of, nanoseconds, owned,
                         path_bytes, record, text_of)
from bramah.logs import doubt_of
from bramah.session import Session

Log = Union[Path, Sequence[Path], Mapping[str, Any], Any]  # or a table of another package, see arrow.py

_ROWS = 2000  # filled between two looks at signals and progress
_TABLES = {"n_outputs": ("value", "sigma", "truth", "model"),
           "n_sensors": ("measured", "innovation", "deviation", "accepted"),
           "n_augmented": ("augmented", "augmented_sigma")}


class Verdict:
    """Whether the log contradicts what the filter says of itself; true where it does not.

    reason: in a sentence of the library; contradicted, too_short (nothing could be judged), broken_off (by an error), doubted
    (nothing contradicts, but one of `Replay.doubts` is certain), tests;
    findings: all checks (see bramah_finding), each with its `text`; worst: of the failed ones, or None."""

    def __init__(self, verdict: Any):
        self.contradicted, self.too_short = bool(verdict.contradicted), bool(verdict.too_short)
        self.broken_off, self.tests = bool(verdict.broken_off), int(verdict.tests)
        self.doubted = bool(verdict.doubt)
        self.findings: Tuple[Record, ...] = tuple(_finding(verdict.finding[i]) for i in range(verdict.n))
        self.worst: Optional[Record] = _finding(verdict.worst) if verdict.worst else None
        room = ffi.new("char[]", 1200)
        lib.bramah_verdict_text(ffi.addressof(verdict), room, len(room))
        self.reason = text_of(room)

    def __bool__(self) -> bool:
        return not (self.contradicted or self.too_short or self.broken_off or self.doubted)

    def __str__(self) -> str:
        return self.reason

    def __repr__(self) -> str:
        return f"<Verdict: {self.reason}>"


def _finding(finding: Any) -> Record:
    room = ffi.new("char[]", 300)
    lib.bramah_finding_text(ffi.addressof(finding) if ffi.typeof(finding).kind == "struct" else finding, room, 300)
    values = {k: v for k, v in record(finding).__dict__.items() if not k.startswith("_")}
    return Record({**values, "text": text_of(room)}, "finding")


class Replay(Series):
    """Estimates over a log: `r["crank.angle"]` [n] SI, `r.sigma("crank.angle")`, `r.verdict`. All arrays are yours.

    time [n] s of the log; time_ns [n] int64; nis, dof [n]: y' S^-1 y of what was fused at that time (nan: nothing) and
    its degrees of freedom. verdict: a Verdict. Also, as structures of include/bramah/assess.h: consistency {sensor},
    accuracy {output} (with a truth), hidden (outputs that an offset of a sensor could move unnoticed), totals, rows,
    energy, limits, steps, alarms {sensor}; augmented (a Series), hypotheses, notes (what is worth knowing); doubts (as of
    look_over, of the first 20 s of logs that are files; of the motion only where the log contradicts the filter)."""

    def __init__(self, blocks: Dict[str, np.ndarray], results: Any, run: "_Run"):
        outputs = [results.output[i] for i in range(results.n_outputs)]
        names, units = [text_of(o.name) for o in outputs], [text_of(o.unit) for o in outputs]
        self.time_ns = blocks["time_ns"]
        super().__init__(1e-9 * self.time_ns, names, units, blocks["value"])
        self.nis, self.dof = blocks["nis"], blocks["dof"]
        self._tables, self._run = blocks, run
        self.sensors: List[str] = [text_of(results.sensor[i].name) for i in range(results.n_sensors)]
        self.sensor_units = {n: text_of(results.sensor[i].unit) for i, n in enumerate(self.sensors)}
        augmented = [results.augmented[i] for i in range(results.n_augmented)]
        self.augmented = Series(self.time, [text_of(a.name) for a in augmented], [text_of(a.unit) for a in augmented],
                                blocks["augmented"])
        self.verdict = Verdict(results.verdict)
        self.consistency = {n: record(results.sensor[i]) for i, n in enumerate(self.sensors)}
        self.accuracy = {text_of(results.accuracy[i].name): record(results.accuracy[i])
                         for i in range(results.n_accuracies)}
        self.hidden = tuple(record(results.hidden[i]) for i in range(results.n_hidden))
        self.totals, self.rows = record(results.totals), record(results.rows)
        self.energy, self.steps = record(results.energy), record(results.steps)
        self.limits = tuple(record(results.limit[i]) for i in range(lib.BRAMAH_N_LIMITS))
        self.alarms = {n: record(results.alarm[i]) for i, n in enumerate(self.sensors + [""])}
        self.notes: Tuple[str, ...] = tuple(run.notes)
        self.doubts: Tuple[Record, ...] = run.doubts
        noise = results.verdict.doubt
        if noise and noise.kind == lib.BRAMAH_DOUBT_PROCESS_NOISE:
            self.doubts += (doubt_of(noise[0]),)
        self.hypotheses: Tuple[Record, ...] = run.hypothesis_results()
        #: {hypothesis: its probability [n]}
        self.probability: Dict[str, np.ndarray] = {
            h.name: blocks["probability"][k] for k, h in enumerate(self.hypotheses)}
        #: smoothed values: a Series, with smoothed_sigma; None unless asked for
        self.smoothed: Optional[Series] = None
        self.smoothed_sigma: Optional[Series] = None
        self._diagnosis: Optional[Record] = None

    def _column(self, table: str, name: str, unit: Optional[str]) -> np.ndarray:
        return self._in(self._tables[table][index_of(name, self._names, "output")], name, unit)

    def _of_sensor(self, table: str, sensor: str, unit: Optional[str]) -> np.ndarray:
        values = self._tables[table][index_of(sensor, self.sensors, "sensor")]
        return values if unit is None else convert(values, self.sensor_units[sensor], unit)

    def sigma(self, name: str, unit: Optional[str] = None) -> np.ndarray:
        """Standard deviation of an output [n]; nan: it has none."""
        return self._column("sigma", name, unit)

    def truth(self, name: str, unit: Optional[str] = None) -> np.ndarray:
        """The true motion at these times [n]; nan: not known."""
        return self._column("truth", name, unit)

    def model(self, name: str, unit: Optional[str] = None) -> np.ndarray:
        """What the model without corrections comes to [n]; nan: it was not run (see `model_alone`)."""
        return self._column("model", name, unit)

    def measured(self, sensor: str, unit: Optional[str] = None) -> np.ndarray:
        """Samples of a sensor as they were used [n]; nan: none at this time."""
        return self._of_sensor("measured", sensor, unit)

    def innovation(self, sensor: str, unit: Optional[str] = None) -> np.ndarray:
        """Measured less predicted [n]; nan: no sample."""
        return self._of_sensor("innovation", sensor, unit)

    def innovation_sigma(self, sensor: str, unit: Optional[str] = None) -> np.ndarray:
        """Its predicted standard deviation [n]."""
        return self._of_sensor("deviation", sensor, unit)

    def accepted(self, sensor: str) -> np.ndarray:
        """bool [n]: a sample was fused."""
        return self._of_sensor("accepted", sensor, None) == 1.0

    def augmented_sigma(self, name: str) -> np.ndarray:
        """Standard deviation of an augmented state [n]."""
        return self._tables["augmented_sigma"][index_of(name, list(self.augmented), "augmented state")]

    @property
    def diagnosis(self) -> Optional[Record]:
        """What single cause would explain a contradiction, best first: `r.diagnosis.cause[0]` (see bramah_diagnosis);
        None where there is no contradiction. The first look goes through the log once more: about three replays."""
        if self._diagnosis is None and self.verdict.contradicted:
            self._diagnosis = self._run.diagnose()
        return self._diagnosis

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}; {self.verdict.reason}>"


@ffi.def_extern(name="py_bramah_assess_options_tell")
def _tell(user: Any, text: Any) -> None:
    ffi.from_handle(user).append(text_of(text))


@ffi.def_extern(name="py_bramah_source", error=lib.BRAMAH_E_ARGUMENT)
def _source(user: Any, sample: Any, end: Any, diag: Any) -> int:
    return ffi.from_handle(user).next(sample, end)


class _Arrays:
    """Columns in memory as the source of a replay: time "t" (or .time), inputs and sensors by their names, in SI or `name[unit]`."""

    def __init__(self, columns: Mapping[str, Any], inputs: Sequence[str], sensors: Sequence[str]):
        self.units = {n.split("[")[0].strip(): n for n in columns if n.endswith("]")}
        time = columns.time if isinstance(columns, Series) else columns.get("t")
        self.time_ns = nanoseconds_of(self._find(columns, lambda n: (n,), "t") if time is None else time)
        self.row = 0
        self.u, self.y = ([self._find(columns, names, slot) for slot in slots] for names, slots in (
            (lambda n: (f"{n}.command", n), inputs), (lambda n: (n,), sensors)))

    def _find(self, columns: Mapping[str, Any], names: Any, slot: str) -> np.ndarray:
        for name in names(slot):
            if name in columns:
                return numbers_of(columns[name])
            if name in self.units:
                return self._in_si(numbers_of(columns[self.units[name]]), self.units[name])
        raise InputError(f"there is no column '{slot}'", "E_COLUMN", thing=slot)

    @staticmethod
    def _in_si(values: np.ndarray, header: str) -> np.ndarray:
        factor, dimension, diag = ffi.new("double *"), ffi.new("bramah_dimension *"), ffi.new("bramah_diag *")
        check(lib.bramah_unit_parse(header.split("[")[1][:-1].encode(), factor, dimension, diag), diag)
        return values if factor[0] == 1.0 else values * factor[0]

    def next(self, sample: Any, end: Any) -> int:
        i = self.row
        self.row += 1
        if i >= len(self.time_ns):
            end[0] = 1
            return 0
        sample.time_ns, sample.mark = int(self.time_ns[i]), i
        for columns, values, there in ((self.u, sample.inputs, sample.has_input), (self.y, sample.y, sample.present)):
            for j, column in enumerate(columns):
                values[j], there[j] = column[i], column[i] == column[i]
        return 0


class _Run:
    """What a replay is made of, from the log's opening to the last estimate."""

    def __init__(self, session: Session, log: Log, options: Any, limits: Tuple[int, int], kept: Any = None):
        self.session, self.log, self.options, self.limits = session, log, options, limits
        self.notes: List[str] = []
        self.failure: Optional[Error] = None
        self.plausibility: Any = None  # goes after the assessments whose verdict points to it
        self.doubts: Tuple[Record, ...] = ()
        self.handle = ffi.new_handle(self.notes)
        self.diag = ffi.new("bramah_diag *")
        study = lib.bramah_session_study(session._session)
        self.sessions, self.members = [session._session], []
        self.hypotheses = None
        for k in range(study.hypotheses.n):
            out = ffi.new("bramah_session **")
            check(lib.bramah_session_of_hypothesis(session._session, k, self.diag, out), self.diag)
            self.sessions[k:] = [owned(out[0], lib.bramah_session_close, session._session)]
        options.tell, options.tell_user = lib.py_bramah_assess_options_tell, self.handle
        for one in self.sessions:
            source, user = self.open_log(one)
            out = ffi.new("bramah_assess **")
            check(lib.bramah_assess_new(one, source, user, options, self.diag, out), self.diag)
            self.members.append(owned(out[0], lib.bramah_assess_free, one, user, self.handle, options, kept))
        if study.hypotheses.n:
            self.weigh(study.hypotheses.n)

    def weigh(self, n: int) -> None:
        options, out = ffi.new("bramah_hypotheses_options *"), ffi.new("bramah_hypotheses **")
        lib.bramah_hypotheses_options_default(options)
        options.n_threads = n
        check(lib.bramah_hypotheses_new(n, self.members, options, self.diag, out), self.diag)
        self.hypotheses = owned(out[0], lib.bramah_hypotheses_free, list(self.members))

    def open_log(self, session: Any) -> Tuple[Any, Any]:
        if isinstance(self.log, Mapping):
            arrays = _Arrays(self.log, self.session.inputs, self.session.sensors)
            return lib.py_bramah_source, ffi.new_handle(arrays)
        texts = self.paths()
        out = ffi.new("bramah_log_stream **")
        check(lib.bramah_log_stream_open(session, texts.n, texts.array, self.diag, out), self.diag)
        stream = owned(out[0], lib.bramah_log_stream_close, session)
        lib.bramah_log_stream_limit(stream, *self.limits)
        return lib.py_log_source, stream

    def paths(self) -> Texts:
        return Texts([self.log] if isinstance(self.log, (str, bytes)) or hasattr(self.log, "__fspath__") else self.log)

    def fill(self, progress: Optional[Callable[[float], Any]], smoothing: bool = False) -> Dict[str, np.ndarray]:
        """All estimates to the end: tables [columns x n]."""
        member = self.members[0]
        results = lib.bramah_assess_get_results(member)
        sizes = {"time_ns": 1, "nis": 1, "dof": 1}
        sizes.update({t: getattr(results, n) for n, tables in _TABLES.items() for t in tables})
        n_hypotheses = 0 if smoothing or self.hypotheses is None else len(self.members)
        pieces: Dict[str, List[np.ndarray]] = {t: [] for t in [*sizes, "probability"]}
        table, end = ffi.new("bramah_estimate_table *"), ffi.new("int *")
        table.room = _ROWS
        while not end[0] and self.failure is None:
            block = {t: np.full((n, _ROWS), np.nan) for t, n in sizes.items() if t != "time_ns"}
            block["time_ns"] = np.zeros((1, _ROWS), np.int64)
            for name, array in block.items():
                setattr(table, name, ffi.from_buffer("int64_t[]" if name == "time_ns" else "double[]", array)
                        if array.size else ffi.NULL)
            block["probability"] = np.full((n_hypotheses, _ROWS), np.nan)
            table.n = 0
            try:
                if n_hypotheses:
                    self.fill_together(table, end, block["probability"])
                else:
                    check(lib.bramah_assess_fill(member, table, end, self.diag), self.diag)
            except Error as failure:  # what was estimated before stays
                lib.bramah_assess_break_off(self.members[self.leading()])
                self.failure = failure
            for name, array in block.items():
                pieces[name].append(array[:, :table.n])
            if progress is not None and table.n:
                progress(1e-9 * int(block["time_ns"][0, table.n - 1]))
        whole = {name: np.concatenate(list_, axis=1) for name, list_ in pieces.items()}
        return {name: array[0] if name in ("time_ns", "nis", "dof") else array for name, array in whole.items()}

    def fill_together(self, table: Any, end: Any, probability: np.ndarray) -> None:
        while not end[0] and table.n < table.room:
            check(lib.bramah_hypotheses_next(self.hypotheses, end, self.diag), self.diag)
            if not end[0]:
                estimate = lib.bramah_hypotheses_estimate(self.hypotheses)
                of = lib.bramah_hypotheses_probability(self.hypotheses)
                probability[:, table.n] = [of[k] for k in range(len(self.members))]
                check(lib.bramah_estimate_table_add(table, self.members[0], estimate, self.diag), self.diag)

    def leading(self) -> int:
        """The member whose verdict counts: of the most probable hypothesis."""
        return lib.bramah_hypotheses_leading(self.hypotheses) if self.hypotheses is not None else 0

    def hypothesis_results(self) -> Tuple[Record, ...]:
        if self.hypotheses is None:
            return ()
        return tuple(record(ffi.new("bramah_hypothesis_result *", lib.bramah_hypotheses_get_result(self.hypotheses, k)))
                     for k in range(len(self.members)))

    def look_over(self) -> None:
        """What the program doubts after a run; what is certain goes into the verdict."""
        if isinstance(self.log, Mapping):
            return
        texts, out = self.paths(), ffi.new("bramah_plausibility **")
        check(lib.bramah_assess_look_over(self.members[self.leading()], texts.n, texts.array, self.limits[0], self.diag, out),
              self.diag)
        if out[0]:
            self.plausibility = owned(out[0], lib.bramah_plausibility_free)
            self.doubts = tuple(doubt_of(out[0].doubt[i]) for i in range(out[0].n))

    def diagnose(self) -> Record:
        k = self.leading()
        source, user = self.open_log(self.sessions[k])
        out = ffi.new("bramah_diagnosis **")
        check(lib.bramah_diagnose(self.members[k], source, user, self.diag, out), self.diag)
        found = record(out[0], cause=out[0].n)
        lib.bramah_diagnosis_free(out[0])
        return found


def replay(study: Path, log: Log, *, truth: Optional[Path] = None, start: Optional[float] = None,
           end: Optional[float] = None, model_alone: Optional[bool] = None, smooth: bool = False,
           changes: Optional[Mapping[str, Any]] = None, snapshot: Optional[Path] = None,
           resume: Optional[Path] = None, progress: Optional[Callable[[float], Any]] = None) -> Replay:
    """A log through the filter of a study: what `bramah replay` does, as arrays.

    log: a file (CSV, MAT, HDF5, MDF 4, MCAP, a bag of ROS 1, CAN frames with the DBC that the study names), several (merged by time), a
    folder, or columns in memory, in SI or called `name[unit]` ({"t": ..., "<input>": ..., "<sensor>": ...}, a Series, or a table of pandas,
    polars, pyarrow and others by the Arrow C data interface; nan: no sample; "t" in seconds, or datetime64 or timedelta64, which are exact).
    truth: file with the true motion. start, end: [s] of the log.
    model_alone: the model runs along without corrections (None: with a truth). smooth: a second, backward pass
    (`Replay.smoothed`). changes: other values for keys of the study and its machine, as in Session. snapshot: file that the state at the end goes
    to; resume: one to go on from, with the same log or what follows it. progress: called with the time reached [s].

    Other threads run meanwhile; KeyboardInterrupt ends it within some thousand steps. Errors: an Error that names file and
    line; in the middle of a log its `partial` is the Replay up to there, with no verdict in favour. A study with `hypotheses` gives `probability` and `hypotheses`; the verdict is that of the most probable."""
    options = ffi.new("bramah_assess_options *")
    lib.bramah_assess_options_default(options)
    limits = nanoseconds(start, -2**63), nanoseconds(end, 2**63 - 1)
    kept = [path_bytes(truth)] if truth is not None else []
    name = ffi.new("char[]", kept[0]) if kept else ffi.NULL
    options.to_ns, options.truth = limits[1], name
    options.model_alone = (truth is not None) if model_alone is None else model_alone
    columns = columns_of(log)
    if columns is not None:
        log = columns
    session = Session(study, alarm=False, changes=changes)
    if smooth:
        options.smooth_to_ns = _last_time(session, log)
    run = _Run(session, log, options, limits, name)
    if resume is not None:
        room = ffi.new("char[]", 4096)
        check(lib.bramah_assess_resume(run.members[0], path_bytes(resume), room, len(room), run.diag), run.diag)
    tables = run.fill(progress)
    run.look_over()
    member = run.members[run.leading()]
    if run.failure is not None:
        run.failure.partial = Replay(tables, lib.bramah_assess_get_results(member), run)
        raise run.failure
    if snapshot is not None:
        check(lib.bramah_assess_save(run.members[0], path_bytes(snapshot), b"", run.diag), run.diag)
    if not smooth:
        return Replay(tables, lib.bramah_assess_get_results(member), run)
    check(lib.bramah_assess_smooth(member, run.diag), run.diag)
    smoothed = run.fill(progress, smoothing=True)
    result = Replay(tables, lib.bramah_assess_get_results(member), run)
    units = list(result.units.values())
    result.smoothed = Series(1e-9 * smoothed["time_ns"], list(result), units, smoothed["value"])
    result.smoothed_sigma = Series(result.smoothed.time, list(result), units, smoothed["sigma"])
    return result


def _last_time(session: Session, log: Log) -> int:
    if isinstance(log, Mapping):
        return int(_Arrays(log, (), ()).time_ns[-1])
    texts = Texts([log] if isinstance(log, (str, bytes)) or hasattr(log, "__fspath__") else log)
    diag, out = ffi.new("bramah_diag *"), ffi.new("int64_t *")
    check(lib.bramah_log_last_time(session._session, texts.n, texts.array, out, diag), diag)
    return out[0]
