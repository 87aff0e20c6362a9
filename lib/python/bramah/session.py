# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters that live beside a machine: step by step, snapshots, alarms; many of them at once."""
from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from bramah._bramah import ffi, lib
from bramah.core import (Changes, Error, Guard, InputError, Parameters, Path, Record, TimeError, check, dtype_of, index_of,
                         inputs_of, nanoseconds, outputs_of, owned, path_bytes, record, states_of, text_of, view)

#: Bits of what `step` returns.
GATED, SATURATED, SENSOR_FAULT, RECOVERED, LIMITED, COORDINATES = (
    lib.BRAMAH_STEP_GATED, lib.BRAMAH_STEP_SATURATED, lib.BRAMAH_STEP_SENSOR_FAULT, lib.BRAMAH_STEP_RECOVERED,
    lib.BRAMAH_STEP_LIMITED, lib.BRAMAH_STEP_COORDINATES)

Values = Union[np.ndarray, Sequence[float], Mapping[str, float]]


_NAN, _py_step = float("nan"), lib.py_step


def _in_order(values: Values, now: np.ndarray, names: Sequence[str], what: str) -> np.ndarray:
    """Values by name in their order; those that are missing are as they are now."""
    if not isinstance(values, Mapping):
        raise Error(f"{len(values)} values are given for {len(names)} {what}s: {', '.join(names)}")
    array = now.copy()
    for name, value in values.items():
        array[index_of(name, names, what)] = value
    return array


class BaseFilter:
    """An error-state Kalman filter on a plant, beside a machine or in a loop over a log: a Session or a Filter.

    Arrays to fill instead of giving arguments, all SI: `u` [n inputs], `y` [n sensors], `present` [n sensors] bool;
    `step` copies what it is given into them. Names: inputs, sensors (tuples), outputs, states ({name: unit}).
    One thread at a time: a second one gets an Error."""

    def __init__(self, plant: Any, filter_: Any, owner: Any, outputs: Optional[Sequence[str]] = None,
                 alarm: bool = True):
        """Of Session and Filter."""
        info = lib.bramah_filter_get_info(filter_)
        self._filter, self._owner, self._plant, self._guard = filter_, owner, plant, Guard()
        self._acquire, self._release, self._is_plain = self._guard.lock.acquire, self._guard.lock.release, True
        self._cycle = ffi.new("py_cycle *")
        self._diag, self._report = ffi.addressof(self._cycle, "diag"), ffi.addressof(self._cycle, "report")
        self._alarm = self._adaptive = self._rewind = None
        self.inputs: Tuple[str, ...] = inputs_of(plant)
        self.sensors: Tuple[str, ...] = tuple(text_of(info.sensor[i].name) for i in range(info.n_sensors))
        self.sensor_units: Dict[str, str] = {n: text_of(info.sensor[i].unit) for i, n in enumerate(self.sensors)}
        self.states: Dict[str, str] = states_of(plant)
        self.parameters = Parameters(plant, owner)
        #: [s]
        self.step_length: float = 1e-9 * plant.step_ns
        self._delays = [info.sensor[i].delay_ns for i in range(info.n_sensors)]
        self.u, self.y = np.zeros(len(self.inputs)), np.full(len(self.sensors), np.nan)
        self.present = np.zeros(len(self.sensors), np.bool_)
        self._kept = [ffi.from_buffer("double[]", self.u), ffi.from_buffer("double[]", self.y),
                      ffi.from_buffer("unsigned char[]", self.present)]
        self._n_u, self._n_y, self._step_ns = len(self.inputs), len(self.sensors), plant.step_ns
        cycle = self._cycle
        cycle.filter, cycle.n_u, cycle.n_y, cycle.step_ns = filter_, self._n_u, self._n_y, self._step_ns
        cycle.u, cycle.y, cycle.present = self._kept
        self._all_outputs, self._numbers = outputs_of(plant, hidden=True)
        self._choose(outputs)
        if alarm:
            out = ffi.new("bramah_alarm **")
            check(lib.bramah_alarm_new(filter_, ffi.NULL, self._diag, out), self._diag)
            self._alarm = cycle.alarm = owned(out[0], lib.bramah_alarm_free, filter_, owner)

    def _choose(self, outputs: Optional[Sequence[str]]) -> None:
        shown = outputs_of(self._plant)[0]
        #: {name: unit} of what `estimate` reads, in its order
        self.outputs: Dict[str, str] = shown if outputs is None else {
            n: self._all_outputs[self._all_names[index_of(n, self._all_names, "output")]] for n in outputs}
        self._chosen = np.array([self._all_names.index(n) for n in self.outputs], np.uint64)
        self._value, self._sigma = np.full(len(self._chosen), np.nan), np.full(len(self._chosen), np.nan)
        self._tables = (ffi.from_buffer("size_t[]", self._chosen), ffi.from_buffer("double[]", self._value),
                        ffi.from_buffer("double[]", self._sigma))

    @property
    def _all_names(self) -> List[str]:
        return list(self._all_outputs)

    # ---- a cycle ----

    def step(self, time: Optional[float] = None, inputs: Optional[Values] = None,
             measurements: Optional[Values] = None) -> int:
        """One cycle: inputs [n inputs, SI] held over the step, prediction, correction with measurements
        [n sensors, SI; nan: no sample] at `time` [s] since the start (None: the end of the step). Either may be a
        mapping of names (those missing: as before; no sample) or None (go on as before; nothing measured).

        Returns flags (GATED, SATURATED, SENSOR_FAULT, RECOVERED, LIMITED, COORDINATES), 0: nothing to look at.
        All or nothing: after an Error the filter is as it was. Nothing is allocated by the library."""
        if not self._acquire(False):
            self._guard.__enter__()
        try:
            if inputs is not None:
                if type(inputs) is dict or len(inputs) != self._n_u:
                    inputs = _in_order(inputs, self.u, self.inputs, "input")
                self.u[:] = inputs
            if measurements is not None:
                if type(measurements) is dict or len(measurements) != self._n_y:
                    measurements = _in_order(measurements, np.full(self._n_y, np.nan), self.sensors, "sensor")
                self.y[:] = measurements
            advance = _py_step if self._is_plain else self._advance
            result = advance(self._cycle, _NAN if time is None else time, inputs is not None, measurements is not None)
            if result < 0:
                self._settle()
                check(result, self._diag)
            return result
        finally:
            self._release()

    def _advance(self, cycle: Any, time: float, with_u: bool, with_y: bool) -> int:
        raise NotImplementedError

    def _settle(self) -> None:
        """After the plant was asked something: raise what one that is written in Python has raised."""

    # ---- what it knows ----

    @property
    def time(self) -> float:
        """[s] since the start."""
        return 1e-9 * lib.bramah_filter_time_ns(self._filter)

    def estimate(self) -> Tuple[np.ndarray, np.ndarray]:
        """Values and standard deviations of the outputs [len(self.outputs)], SI; nan where there is no standard
        deviation. Always the same two arrays, overwritten by the next call."""
        with self._guard:
            lib.bramah_filter_outputs(self._filter, len(self._chosen), *self._tables)
        self._settle()
        return self._value, self._sigma

    def __getitem__(self, output: str) -> float:
        """Present value of an output [SI]."""
        i = index_of(output, self._all_names, "output")
        with self._guard:
            value = self._plant.output(self._plant.self, i)
        self._settle()
        return value

    def sigma(self, output: str) -> float:
        """Its standard deviation [SI]; nan: it has none."""
        i = index_of(output, self._all_names, "output")
        with self._guard:
            value = lib.bramah_filter_output_sigma(self._filter, i)
        self._settle()
        return value

    @property
    def covariance(self) -> np.ndarray:
        """Of the error state [n x n]: the plant's `states`, then the augmented ones. A view: the next step writes it."""
        n = lib.bramah_filter_get_info(self._filter).n_error
        return view(lib.bramah_filter_covariance(self._filter), (n, n), self)

    @property
    def innovations(self) -> np.ndarray:
        """Of the last correction, structured [n sensors] with the fields of bramah_innovation: present, innovation,
        sigma, nis, accepted, saturated ... A view: the next step writes it."""
        last = lib.bramah_filter_get_last(self._filter)
        return view(last.innovation, len(self.sensors), self, dtype_of("bramah_innovation"))

    @property
    def nis(self) -> Tuple[float, int]:
        """y' S^-1 y of the last correction and its degrees of freedom: chi-square if the filter is right."""
        last = lib.bramah_filter_get_last(self._filter)
        return last.nis, last.nis_dof

    @property
    def augmented(self) -> Dict[str, Record]:
        """Augmented states by their names: value, sigma, is_estimated (0: considered so far), information."""
        info = lib.bramah_filter_get_info(self._filter)
        return {text_of(info.augmented[i].name): record(ffi.new("bramah_filter_augmented *",
                                                                lib.bramah_filter_get_augmented(self._filter, i)))
                for i in range(info.n_augmented)}

    @property
    def phases(self) -> Dict[str, Record]:
        """Phases of the study by their names: is_on (in the last step), in how many steps it was, how often it has begun."""
        n = lib.bramah_filter_get_info(self._filter).n_phases
        found = [record(ffi.new("bramah_filter_phase *", lib.bramah_filter_get_phase(self._filter, i))) for i in range(n)]
        return {phase.name: phase for phase in found}

    @property
    def log_likelihood(self) -> float:
        """Of all measurements since the start."""
        return lib.bramah_filter_log_likelihood(self._filter)

    @property
    def counts(self) -> Record:
        """predictions, corrections, accepted, gated, saturated, limited, sensor_faults, recoveries since the start."""
        return record(ffi.new("bramah_filter_report *", lib.bramah_filter_get_report(self._filter)))

    @property
    def last(self) -> Record:
        """What the last step did: flags, iterations, present, accepted, gated, saturated, faulty, nis, nis_dof."""
        return record(self._report)

    @property
    def faulty(self) -> List[str]:
        """Sensors that count as faulty at present."""
        return [n for i, n in enumerate(self.sensors) if lib.bramah_filter_sensor_fault(self._filter, i)]

    @property
    def alarms(self) -> Dict[str, Record]:
        """Alarms that are raised now, by sensor ("" : all jointly): kind, since_ns, size, limit, amount (see
        bramah/alarm.h: what no accident explains)."""
        names = self.sensors + ("",)
        states = ((n, lib.bramah_alarm_get(self._alarm, i)) for i, n in enumerate(names)) if self._alarm else ()
        return {n: record(ffi.new("bramah_alarm_state *", s)) for n, s in states if s.raised}

    def set_sensor_sigma(self, sensor: str, sigma: float) -> None:
        """Another standard deviation of a sensor from now on [SI]."""
        with self._guard:
            check(lib.bramah_filter_set_sensor_sigma(self._filter, index_of(sensor, self.sensors, "sensor"), sigma,
                                                     self._diag), self._diag)

    def set_augmented_noise(self, name: str, noise: float) -> None:
        """Another noise of an augmented state from now on, as in the study [SI]; it must have had one."""
        names = tuple(self.augmented)
        with self._guard:
            check(lib.bramah_filter_set_augmented_noise(self._filter, index_of(name, names, "augmented state"), noise,
                                                        self._diag), self._diag)

    # ---- snapshots ----

    def _snapshot_parts(self) -> List[Tuple[Any, str]]:
        parts = [(self._rewind, "rewind")] if self._rewind is not None else [(self._filter, "filter")]
        parts += [(self._alarm, "alarm")] if self._alarm is not None else []
        return parts + ([(self._adaptive, "adaptive")] if self._adaptive is not None else [])

    def save(self) -> bytes:
        """The whole state, the plant's and the alarm's included, to the last bit. Another process with the same
        study can go on from it."""
        out = b""
        with self._guard:
            for it, kind in self._snapshot_parts():
                size = getattr(lib, f"bramah_{kind}_snapshot_size")(it)
                room = ffi.new("double[]", (size + 7) // 8)
                getattr(lib, f"bramah_{kind}_save")(it, room)
                out += size.to_bytes(8, "little") + bytes(ffi.buffer(room, size))
        return out

    def restore(self, snapshot: bytes) -> None:
        """Back to a state that was saved; nothing has changed after an Error (a broken snapshot, or one of another
        filter)."""
        parts, at, rooms = self._snapshot_parts(), 0, []
        with self._guard:
            for it, kind in parts:
                size = int.from_bytes(snapshot[at:at + 8], "little")
                piece = snapshot[at + 8:at + 8 + size]
                room = ffi.new("double[]", (len(piece) + 7) // 8)
                ffi.memmove(room, piece, len(piece))
                check(getattr(lib, f"bramah_{kind}_check_snapshot")(it, room, len(piece), self._diag), self._diag)
                rooms.append(room)
                at += 8 + size
            if at != len(snapshot):
                raise InputError("it is of another session: one with or without alarm, or with other delays", "E_SYNTAX")
            for (it, kind), room in zip(parts, rooms):
                check(getattr(lib, f"bramah_{kind}_restore")(it, room), self._diag)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self.states)} states, {len(self.sensors)} sensors, t = {self.time:.6g} s>"


class Session(BaseFilter):
    """A study's machine, sensors and filter, as replayed and tuned with its file, at its start:

        s = bramah.Session("boom-study.yaml")
        s.step(0.001, [0.5], [0.35, 2.1e6])
        s["boom"], s.sigma("boom"), s.alarms

    outputs: names that `estimate` reads (None: all); alarm: the running alarm of bramah/alarm.h goes with it; step: of
    the plant [s] (None: the machine's); changes: other values for keys of the study ({"volumes.v1.noise": "2 bar/s^0.5"}) and,
    behind "machine.", of its machine ({"machine.hydraulics.oil.bulk_modulus": "1300 MPa"}).

    Of a study whose sensors have a delay, samples are given when they arrive and fused when they were measured
    (bramah_rewind); noise adapts where the study says so."""

    def __init__(self, study: Path, *, outputs: Optional[Sequence[str]] = None, alarm: bool = True,
                 step: Optional[float] = None, changes: Optional[Mapping[str, Any]] = None):
        diag, out = ffi.new("bramah_diag *"), ffi.new("bramah_session **")
        self.path = study
        opened = open_study(study, changes)
        check(lib.bramah_session_new(opened, nanoseconds(step), diag, out), diag)
        self._start(owned(out[0], lib.bramah_session_close), outputs, alarm)

    def _start(self, session: Any, outputs: Optional[Sequence[str]], alarm: bool) -> None:
        self._session = session
        BaseFilter.__init__(self, lib.bramah_session_plant(session), lib.bramah_session_filter(session),
                        session, outputs, alarm)
        if any(self._delays):
            options, out = ffi.new("bramah_rewind_options *"), ffi.new("bramah_rewind **")
            lib.bramah_rewind_options_default(options)
            options.longest_delay_ns = max(self._delays) + self._step_ns
            check(lib.bramah_rewind_new(self._filter, options, self._diag, out), self._diag)
            self._rewind = owned(out[0], lib.bramah_rewind_free, session)
        else:
            out = ffi.new("bramah_adaptive **")
            check(lib.bramah_session_new_adaptive(session, self._diag, out), self._diag)
            self._adaptive = owned(out[0], lib.bramah_adaptive_free, session) if out[0] else None
        self._is_plain = self._rewind is None and self._adaptive is None

    def _advance(self, cycle: Any, time: float, with_u: bool, with_y: bool) -> int:
        now = lib.bramah_filter_time_ns(self._filter)
        time_ns = now + self._step_ns if time != time else round(time * 1e9)
        if abs(time_ns - now - self._step_ns) > self._step_ns // 2:
            raise TimeError(f"{1e-9 * time_ns:.9g} s is not at the end of the coming step, {1e-9 * (now + self._step_ns):.9g} s",
                            "E_TIME")
        np.equal(self.y, self.y, out=self.present)
        step = self._advance_late if self._rewind is not None else self._advance_adaptive
        return step(time_ns, with_u, with_y)

    def _advance_late(self, time_ns: int, with_u: bool, with_y: bool) -> int:
        """Through the rewind buffer. What went wrong leaves the estimate where it was; its samples are given up."""
        rewind, diag, status = self._rewind, self._diag, 0
        if with_u:
            status = lib.bramah_rewind_set_inputs(rewind, self._cycle.u, diag)
        for i in range(self._n_y if with_y else 0):
            measured_ns = time_ns - self._delays[i]
            if self.present[i] and measured_ns >= 0:  # one from before the start is left out, as in a replay
                status = status or lib.bramah_rewind_sample(rewind, i, measured_ns, self.y[i], diag)
        status = status or lib.bramah_rewind_advance(rewind, diag)
        if status:
            lib.bramah_rewind_discard(rewind, ffi.NULL)
        elif self._alarm is not None:
            report = lib.bramah_rewind_get_report(rewind)
            for k in range(report.n_uses):
                use = report.use[k]
                lib.bramah_alarm_sample(self._alarm, use.sensor, use.time_ns, ffi.addressof(use, "innovation"))
            if report.n_uses:
                lib.bramah_alarm_all(self._alarm, time_ns, report.nis, report.nis_dof)
        return status

    def _advance_adaptive(self, time_ns: int, with_u: bool, with_y: bool) -> int:
        filter_, diag, status = self._filter, self._diag, 0
        if with_u:
            status = lib.bramah_filter_set_inputs(filter_, self._cycle.u, diag)
        status = status or lib.bramah_filter_predict(filter_, diag)
        if status:
            return status
        lib.bramah_adaptive_predicted(self._adaptive)
        if not with_y:
            return 0
        status = lib.bramah_filter_correct(filter_, self._cycle.y, self._cycle.present, diag)
        if not status:
            lib.bramah_adaptive_corrected(self._adaptive)
            if self._alarm is not None:
                lib.bramah_alarm_corrected(self._alarm)
        return status

    def clone(self) -> "Session":
        """Another filter at the study's start, on the same model: one for each thread."""
        out = ffi.new("bramah_session **")
        with self._guard:
            check(lib.bramah_session_clone(self._session, self._diag, out), self._diag)
        other = Session.__new__(Session)
        other.path = self.path
        other._start(owned(out[0], lib.bramah_session_close, self._session), list(self.outputs), self._alarm is not None)
        return other

    def unseen(self) -> Tuple[str, ...]:
        """States that the sensors do not observe from where the filter starts, and whose errors do not decay."""
        names, n, horizon = ffi.new("char[]", 4096), ffi.new("size_t *"), ffi.new("double *")
        with self._guard:
            check(lib.bramah_assess_unseen(self._session, names, len(names), n, horizon, self._diag), self._diag)
        return tuple(text_of(names).split(", ")) if n[0] else ()


def open_study(path: Path, changes: Optional[Mapping[str, Any]]) -> Any:
    """A bramah_study that is the caller's: of the file with changes, those behind "machine." made in its machine."""
    diag, out = ffi.new("bramah_diag *"), ffi.new("bramah_study **")
    given = {key: str(value) for key, value in (changes or {}).items()}
    of = Changes({key: value for key, value in given.items() if not key.startswith("machine.")})
    check(lib.bramah_study_load(path_bytes(path), of.n, of.array, diag, out), diag)
    study, status = out[0], 0
    for key, value in given.items():
        if key.startswith("machine.") and not status:
            ref, text = ffi.new("bramah_study_ref *"), ffi.new("char[]", value.encode())
            status = lib.bramah_study_find(study, key.encode(), ref, diag)
            setting = ffi.new("bramah_study_setting *", {"ref": ref, "text": text})
            status = status or lib.bramah_study_set(study, 1, setting, diag)
    if status:
        lib.bramah_study_free(study)
        check(status, diag)
    return study


class Study:
    """What a study file says, without its machine: name, machine (path), hypotheses (names), sensors {name: Record of
    bramah_sensor_options: kind, at, sigma, period_ns, ...}; and single values by their paths, those of its machine behind
    "machine.":

        bramah.Study("boom-study.yaml")["sensors.encoder.sigma"].si"""

    def __init__(self, path: Path, *, changes: Optional[Mapping[str, Any]] = None):
        self.path = path
        self._study = owned(open_study(path, changes), lib.bramah_study_free)
        of = self._study
        self.name, self.machine = text_of(of.name), text_of(of.machine_file)
        self.sensors: Dict[str, Record] = {
            text_of(of.sensors[i].name): record(of.sensors[i]) for i in range(of.n_sensors)}
        self.hypotheses: Tuple[str, ...] = tuple(text_of(of.hypotheses.list[i].name) for i in range(of.hypotheses.n))

    def __getitem__(self, path: str) -> Record:
        """text as written, number and unit of it, si (nan of a word), line, in_machine. Errors: E_KEY with the nearest key."""
        ref, diag = ffi.new("bramah_study_ref *"), ffi.new("bramah_diag *")
        check(lib.bramah_study_find(self._study, path.encode(), ref, diag), diag)
        return Record({"text": text_of(ref.text), "number": ref.number, "unit": text_of(ref.unit), "line": ref.line,
                       "si": ref.number * ref.factor if ref.is_number else _NAN, "in_machine": bool(ref.in_machine)}, "value")

    def __repr__(self) -> str:
        return f"<Study {self.name}: {len(self.sensors)} sensors>"


class Batch:
    """n filters of one study in one call: Monte Carlo runs, sweeps of parameters, models to choose from. Each is to the
    bit the filter it would be alone.

        b = bramah.Batch("study.yaml", 100, parameters={"pump.pressure": pressures})    # [100], SI
        b.step(u, y)                         # u, y: [n inputs], [n sensors], or a row for each filter
        values, sigmas = b.outputs(["crank.angle"])   # [100 x 1] each"""

    def __init__(self, study: Path, n: int, *, parameters: Optional[Mapping[str, Any]] = None):
        self._session = Session(study, alarm=False)
        self.n, self.inputs, self.sensors = n, self._session.inputs, self._session.sensors
        about = lib.bramah_session_about(self._session._session)
        names = list(self._session.parameters)
        table = np.tile(np.array(list(self._session.parameters.values()), np.float64), (n, 1))
        for name, values in (parameters or {}).items():
            table[:, index_of(name, names, "parameter")] = values
        options = ffi.new("bramah_batch_options *")
        each = ffi.new("bramah_filter_options[]", [about.options] * n)
        options.n, options.start = n, about.machine.coupled
        options.n_sensors, options.sensors, options.options = len(self.sensors), about.sensors, each
        options.parameters = ffi.from_buffer("double[]", table) if table.size else ffi.NULL
        self._diag, out = ffi.new("bramah_diag *"), ffi.new("bramah_batch **")
        check(lib.bramah_batch_new(options, self._diag, out), self._diag)
        self._batch, self._guard = owned(out[0], lib.bramah_batch_free, self._session._session), Guard()

    def step(self, inputs: Any = None, measurements: Any = None) -> int:
        """One cycle of all: inputs [n inputs] or [n x n inputs] (None: as before), measurements likewise, nan: no
        sample (None: nothing measured). Returns how many filters run: one that fails stays as it was."""
        cycle = ffi.new("bramah_batch_cycle *")
        kept = []
        if inputs is not None:
            u = np.ascontiguousarray(np.atleast_2d(inputs), np.float64)
            cycle.n_u, cycle.u = self._rows(u, len(self.inputs), "inputs"), ffi.from_buffer("double[]", u)
            kept.append(u)
        if measurements is not None:
            y = np.ascontiguousarray(np.atleast_2d(measurements), np.float64)
            present = np.equal(y, y)
            cycle.n_y, cycle.y = self._rows(y, len(self.sensors), "measurements"), ffi.from_buffer("double[]", y)
            cycle.present = ffi.from_buffer("unsigned char[]", present)
            kept += [y, present]
        with self._guard:
            return lib.bramah_batch_step(self._batch, cycle)

    def _rows(self, table: np.ndarray, columns: int, what: str) -> int:
        if table.ndim != 2 or table.shape[0] not in (1, self.n) or table.shape[1] != columns:
            raise Error(f"{what} have the shape {table.shape}; it is [{columns}] or [{self.n} x {columns}]")
        return table.shape[0]

    def outputs(self, names: Sequence[str]) -> Tuple[np.ndarray, np.ndarray]:
        """Values and standard deviations [n x len(names)], SI."""
        numbers = np.array([index_of(n, self._session._all_names, "output") for n in names], np.uint64)
        value, sigma = np.empty((self.n, len(names))), np.empty((self.n, len(names)))
        with self._guard:
            lib.bramah_batch_outputs(self._batch, ffi.NULL, len(names), ffi.from_buffer("size_t[]", numbers),
                                     ffi.from_buffer("double[]", value), ffi.from_buffer("double[]", sigma))
        return value, sigma

    def __getitem__(self, i: int) -> Record:
        """How filter i fares: status (0: well), time_ns, nis, nis_dof, log_likelihood, in_lane; message: why not."""
        if not 0 <= i < self.n:
            raise IndexError(i)
        result = lib.bramah_batch_get(self._batch, i)
        values = {k: v for k, v in record(ffi.new("bramah_batch_result *", result)).__dict__.items() if k[0] != "_"}
        return Record({**values, "message": text_of(result.diag.message) if result.status else ""}, "batch_result")

    def __len__(self) -> int:
        return self.n
