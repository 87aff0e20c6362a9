# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines: what they are made of, their motion, linear equations and C source."""
from __future__ import annotations

import os
import warnings
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from bramah._bramah import ffi, lib
from bramah.core import (Changes, DoubtWarning, Error, Guard, Parameters, Path, Record, Series, array_of, check,
                         index_of, inputs_of, nanoseconds, outputs_of, owned, path_bytes, record, states_of, text_of,
                         word)
from bramah.linear import LinearSystem, linearize
from bramah.session import Session
from bramah.terrain import Terrain

Commands = Union[Callable[[float], Any], Mapping[str, Any], Series]


class Simulation(Series):
    """The motion of a machine: columns of its outputs [n], SI. `trusted` is false, and a DoubtWarning was given, where it is
    none that a machine makes; `doubts` says why. energy, limits, steps, sensors: structures of bramah/simulation.h."""

    trusted: bool = True
    doubts: Tuple[str, ...] = ()
    energy: Record
    limits: Tuple[Record, ...] = ()
    sensors: Tuple[Record, ...] = ()
    steps: Record


class Part(NamedTuple):
    """A straight part of the machine's skeleton: points [2 x 3] in the inertial frame [m]."""
    kind: str
    name: str
    points: np.ndarray


class Machine:
    """A machine file and its plant, which is somewhere: at the start at first.

        m = bramah.Machine("boom.yaml")
        m.outputs, m.states, m.inputs, m.parameters["pump.pressure"] = "180 bar"
        motion = m.simulate(10.0)

    name; step_length [s]; inputs: names; outputs, states: {name: unit}; parameters: see Parameters. changes: other values for
    keys of its file ({"bodies.boom.mass": "118 kg"}). soil: the Terrain of a machine that stands on one, which moves with its
    steps; None otherwise. One thread at a time."""

    def __init__(self, path: Path, *, step: Optional[float] = None, changes: Optional[Mapping[str, Any]] = None):
        self.path, self._changes, self._step = path, dict(changes or {}), step
        self._guard, self._diag = Guard(), ffi.new("bramah_diag *")
        of, out = Changes(changes), ffi.new("bramah_machine_plant *")
        self._machine = owned(out, lib.bramah_machine_plant_close, out)
        check(lib.bramah_machine_plant_open(out, path_bytes(path), of.n, of.array, nanoseconds(step), self._diag),
              self._diag)
        check(lib.bramah_machine_plant_dig(out, self._diag), self._diag)
        self._plant = out.plant
        self.soil: Optional[Terrain] = None
        if out.site:
            self.soil = Terrain._of(lib.bramah_worksite_terrain(out.site), out.machine.terrain.options, self._machine)
        self.name: str = text_of(lib.bramah_model_get_info(out.model).name)
        self.step_length: float = 1e-9 * self._plant.step_ns
        table = ffi.addressof(out, "plant")
        self.inputs: Tuple[str, ...] = inputs_of(self._plant)
        self.outputs, self._numbers = outputs_of(table)
        self._all, _ = outputs_of(table, hidden=True)
        self.states: Dict[str, str] = states_of(table)
        self.parameters = Parameters(self._plant, self._machine)

    def __getitem__(self, output: str) -> float:
        """Present value of an output [SI]."""
        return self._plant.output(self._plant.self, index_of(output, list(self._all), "output"))

    def reset(self) -> None:
        """Back to the start, parameters to their nominal values."""
        with self._guard:
            check(lib.bramah_coupled_reset(self._machine.coupled, self._diag), self._diag)

    def step(self, inputs: Any = None) -> None:
        """One step with these commands [n inputs, SI] (None: as before)."""
        with self._guard:
            if inputs is not None:
                u = array_of(inputs, len(self.inputs), "inputs")
                check(self._plant.set_inputs(self._plant.self, ffi.from_buffer("double[]", u), self._diag), self._diag)
            check(self._plant.step(self._plant.self, self._diag), self._diag)

    def save(self) -> bytes:
        """The whole state to the last bit."""
        room = ffi.new("double[]", (self._plant.snapshot_size + 7) // 8)
        with self._guard:
            self._plant.save(self._plant.self, room)
        return bytes(ffi.buffer(room, self._plant.snapshot_size))

    def restore(self, snapshot: bytes) -> None:
        """Back to a state that was saved of this machine."""
        if len(snapshot) != self._plant.snapshot_size:
            raise Error("it is no snapshot of this machine", "E_SYNTAX")
        room = ffi.new("double[]", (len(snapshot) + 7) // 8)
        ffi.memmove(room, snapshot, len(snapshot))
        with self._guard:
            if self._plant.is_sound and not self._plant.is_sound(self._plant.self, room):
                raise Error("the snapshot is damaged", "E_VALUE")
            self._plant.restore(self._plant.self, room)

    def simulate(self, duration: float, commands: Optional[Commands] = None, *, truth: Optional[Path] = None,
                 study: Optional[Path] = None, log: Optional[Path] = None, seed: int = 1,
                 process_noise: bool = False, outputs: Optional[Sequence[str]] = None) -> Simulation:
        """From where it is, t = 0, for `duration` [s]: outputs over time, a row per step.

        commands: those that the machine file plans (None), a function of the time [s] that returns [n inputs] SI, or
        columns over the time "t" (a Series, {"t": ..., "<input>": ...}) held from row to row. truth: file for the motion (CSV, or
        by its name .mat, .mf4, .mcap); study, log: what its noisy sensors would have logged (of `seed`), a file of the same formats; process_noise: the study's acts on the machine."""
        options = ffi.new("bramah_simulation_options *")
        lib.bramah_simulation_options_default(options)
        texts = {n: ffi.new("char[]", path_bytes(p)) for n, p in (("truth", truth), ("study", study), ("log", log))
                 if p is not None}
        for name, text in texts.items():
            setattr(options, name, text)
        options.seed, options.process_noise = seed, process_noise
        caller = None
        if commands is not None:
            caller = _Commands(commands, self.inputs)
            options.commands, handle = lib.py_bramah_simulation_options_commands, ffi.new_handle(caller)
            options.user = handle
        names = list(self.outputs) if outputs is None else list(outputs)
        numbers = np.array([index_of(n, list(self._all), "output") for n in names], np.uint64)
        rows = round(duration * 1e9) // self._plant.step_ns + 1
        table, time = np.empty((rows, len(names))), np.empty(rows)
        with self._guard:
            result = self._simulate(options, caller, table, time, numbers)
        motion = Simulation(time, names, [self._all[n] for n in names], np.ascontiguousarray(table.T))
        self._judge(motion, result)
        return motion

    def _simulate(self, options: Any, caller: Any, table: np.ndarray, time: np.ndarray, numbers: np.ndarray) -> Any:
        diag, out, plant = self._diag, ffi.new("bramah_simulation **"), ffi.addressof(self._machine, "plant")
        check(lib.bramah_simulation_new(self._machine, options, diag, out), diag)
        values, chosen, n = ffi.from_buffer("double[]", table), ffi.from_buffer("size_t[]", numbers), len(numbers)
        result = None
        try:
            for i in range(len(time)):
                status = lib.bramah_simulation_next(out[0], diag)
                if status and caller is not None and caller.failure is not None:
                    raise caller.failure
                check(status, diag)
                lib.bramah_plant_outputs(plant, n, chosen, values + i * n)
                time[i] = 1e-9 * i * self._plant.step_ns
            result = lib.bramah_simulation_get_result(out[0])
            result = record(ffi.new("bramah_simulation_result *", result),
                            sensors=result.n_sensors, errors=result.n_errors)
        finally:
            closed = lib.bramah_simulation_close(out[0], diag)
        check(closed, diag)
        return result

    def _judge(self, motion: Simulation, result: Record) -> None:
        motion.energy, motion.limits = result.energy, result.limit
        motion.sensors = getattr(result, "sensors", ())
        motion.steps = record(ffi.new("bramah_step_report *", lib.bramah_coupled_report(self._machine.coupled)))
        doubts, info = [], ffi.new("bramah_output_info *")
        for kind, event in enumerate(result.limit):
            if event.n:
                worst = ffi.new("bramah_limit *", {"output": event.worst.output, "value": event.worst.value})
                lib.bramah_coupled_limit_info(self._machine.coupled, kind, worst, info)
                doubts.append(f"beyond a physical limit ({word(ffi.typeof('bramah_limit_kind'), kind)}) from "
                              f"{1e-9 * event.first_ns:.6g} s on; worst: {text_of(info.name)} {worst.value:.4g} "
                              f"{text_of(info.unit)} at {1e-9 * event.worst_ns:.6g} s")
        if result.energy.largest > result.energy.limit:
            doubts.append(f"the energies do not add up, by {result.energy.largest:.3g} J of "
                          f"{result.energy.turnover:.3g} J; take smaller steps")
        if self.soil is not None and self.soil.report.starved:
            doubts.append(f"{self.soil.report.starved} wedges could not fail for want of particles: the forces of tools are "
                          "too large since; allow more (terrain: particles: most)")
        motion.doubts, motion.trusted = tuple(doubts), not doubts
        for doubt in doubts:
            warnings.warn(f"{self.name}: {doubt}", DoubtWarning, stacklevel=3)

    def linearize(self, at: str = "start", **options: Any) -> LinearSystem:
        """bramah.linearize of its file with its changes. The plant stays where it is."""
        options["changes"] = {**self._changes, **(options.get("changes") or {})}
        return linearize(self.path, at, **options)

    def skeleton(self) -> List[Part]:
        """The machine as straight parts at its present state, for drawing."""
        of = ffi.new("bramah_skeleton *")
        with self._guard:
            check(lib.bramah_coupled_skeleton(self._machine.coupled, of, self._diag), self._diag)
            points, parts = np.empty((of.n, 2, 3)), ffi.new("bramah_skeleton_part[]", of.n)
            of.part, of.points = parts, ffi.from_buffer("double[]", points)
            check(lib.bramah_coupled_skeleton(self._machine.coupled, of, self._diag), self._diag)
        return [Part(word(ffi.typeof("bramah_skeleton_kind"), parts[i].kind), text_of(parts[i].name), points[i])
                for i in range(of.n)]

    def __repr__(self) -> str:
        return f"<Machine {self.name}: {len(self.states)} states, {len(self.inputs)} inputs>"


class _Commands:
    """Commands over time for a simulation."""

    def __init__(self, commands: Commands, inputs: Sequence[str]):
        self.inputs, self.failure = inputs, None  # type: Sequence[str], Optional[BaseException]
        if callable(commands):
            self.at = commands
            return
        time = commands.time if isinstance(commands, Series) else np.asarray(commands["t"], np.float64)
        names = [n if n in commands else f"{n}.command" for n in inputs]
        table = np.column_stack([np.asarray(commands[n], np.float64) for n in names])
        self.at = lambda t: table[max(int(np.searchsorted(time, t + 5e-10, "right")) - 1, 0)]


@ffi.def_extern(name="py_bramah_simulation_options_commands", error=lib.BRAMAH_E_ARGUMENT)
def _commands(user: Any, time_ns: int, u: Any, diag: Any) -> int:
    caller = ffi.from_handle(user)
    try:
        values = array_of(caller.at(1e-9 * time_ns), len(caller.inputs), "commands")
        ffi.memmove(u, ffi.from_buffer(values), values.nbytes)
    except BaseException as failure:  # comes out of simulate
        caller.failure = failure
        return lib.BRAMAH_E_ARGUMENT
    return 0


class CSource(NamedTuple):
    """C source that needs no bramah: texts of <name>.h and <name>.c. info: a bramah_c_source (step [s], operations)."""
    name: str
    header: str
    code: str
    info: Record

    def write(self, folder: Path) -> None:
        """Write both files; the folder is made where it is missing."""
        os.makedirs(folder, exist_ok=True)
        for suffix, text in ((".h", self.header), (".c", self.code)):
            with open(os.path.join(os.fspath(folder), self.name + suffix), "w", encoding="utf-8") as file:
                file.write(text)


def compile_source(path: Path, name: Optional[str] = None, *, precision: str = "double",
                   step: Optional[float] = None) -> CSource:
    """The steps of a machine file, or the filter of a study, as C source. precision: "double" or "single"."""
    if precision not in ("double", "single"):
        raise Error("the precision is 'single' or 'double'", thing=precision)
    kind = lib.BRAMAH_PRECISION_SINGLE if precision == "single" else lib.BRAMAH_PRECISION_DOUBLE
    name = name or os.path.splitext(os.path.basename(os.fspath(path)))[0]
    diag, source, out = ffi.new("bramah_diag *"), ffi.new("bramah_c_source *"), ffi.new("bramah_program **")
    is_study = lib.bramah_file_kind_of(path_bytes(path)) == lib.BRAMAH_FILE_STUDY
    if is_study:
        session = Session(path, alarm=False, step=step)
        study, machine = lib.bramah_session_study(session._session), lib.bramah_session_about(session._session).machine
        for there, thing, text in ((study.hypotheses.n, "hypotheses", "one filter is compiled, not several"),
                                   (study.adapt.line, "adapt", "a filter whose noise adapts is not compiled")):
            if there:
                raise Error(text, "E_UNSUPPORTED", os.fspath(path), thing=thing)
    else:
        session = Machine(path, step=step)  # type: ignore[assignment]
        machine = session._machine  # type: ignore[attr-defined]
    check(lib.bramah_program_new(machine.model, diag, out), diag)
    program = owned(out[0], lib.bramah_program_free, session)
    if is_study:
        status = lib.bramah_filter_c_source(session._filter, program, machine.coupled, name.encode(), kind, diag, source)
    else:
        status = lib.bramah_program_c_source(program, machine.coupled, name.encode(), kind, diag, source)
    check(status, diag)
    info = Record({n: getattr(source, n) for n in ("step", "n_iterate", "n_step", "n_kept")}, "c_source")
    result = CSource(text_of(source.name), text_of(source.header), text_of(source.code), info)
    lib.bramah_c_source_free(source)
    return result
