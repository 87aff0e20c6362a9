# SPDX-License-Identifier: GPL-3.0-or-later
"""Plants and sensors of one's own, written in Python, and filters on them."""
from __future__ import annotations

import dataclasses
import math
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from bramah._bramah import ffi, lib
from bramah.core import Error, array_of, check, index_of, nanoseconds, outputs_of, owned
from bramah.session import BaseFilter, Session
from bramah.tuning import _number

_KINDS = {n: getattr(lib, f"BRAMAH_SENSOR_{n.upper().replace('-', '_')}") for n in (
    "encoder", "gyro", "pressure", "accelerometer", "inclinometer", "stroke", "pressure-difference", "flow", "load-pin",
    "output")}
_POSITION, _RATE, _FIRST_ORDER, _OTHER = (lib.BRAMAH_OUTPUT_POSITION, lib.BRAMAH_OUTPUT_RATE,
                                          lib.BRAMAH_OUTPUT_FIRST_ORDER, lib.BRAMAH_OUTPUT_OTHER)


@dataclasses.dataclass
class Sensor:
    """A sensor: name, standard deviation of a sample [SI], and what it measures: an output of the plant (`at`, its name by
    default), a `kind` of bramah/sensor.h `at` something ("encoder" of a joint, "pressure" of a volume ...), or one's own:
    `function(values) -> float` of the outputs `of`, in `unit`:

        Sensor("reach", 0.01, function=lambda v: 2.0 * np.cos(v[0]) + 1.5 * np.cos(v[0] + v[1]), of=["boom", "arm"], unit="m")

    period, delay [s]; resolution, least, most, axis, point, about, less, port: as in bramah_sensor_options."""
    name: str
    sigma: float
    kind: str = "output"
    at: Optional[str] = None
    function: Optional[Callable[[np.ndarray], float]] = None
    of: Sequence[str] = ()
    unit: str = "1"
    period: float = 0.0
    delay: float = 0.0
    resolution: float = 0.0
    least: float = 0.0
    most: float = 0.0
    axis: Sequence[float] = (0.0, 0.0, 0.0)
    point: Sequence[float] = (0.0, 0.0, 0.0)
    about: Sequence[float] = (0.0, 0.0, 0.0)
    less: Optional[str] = None

    def _bind(self, plant: Any, kept: List[Any]) -> Any:
        """As a bramah_sensor on this plant."""
        options, out = ffi.new("bramah_sensor_options *"), ffi.new("bramah_sensor *")
        lib.bramah_sensor_options_default(options)
        kept += [ffi.new("char[]", t.encode()) for t in (self.name, self.at or self.name, self.less or "")]
        options.name, options.at, less = kept[-3:]
        options.less = less if self.less else ffi.NULL
        options.kind = _KINDS[list(_KINDS)[index_of(self.kind, list(_KINDS), "kind of sensor")]]
        for name in ("sigma", "resolution", "least", "most"):
            setattr(options, name, getattr(self, name))
        for name in ("axis", "point", "about"):
            setattr(options, name, [float(x) for x in getattr(self, name)])
        options.period_ns, options.delay_ns = nanoseconds(self.period), nanoseconds(self.delay)
        diag = ffi.new("bramah_diag *")
        check(lib.bramah_sensor_init(options, plant, diag, out), diag)
        return out


# ---- plants ----

class Plant:
    """A plant of one's own: a subclass says what it is made of and how it moves.

        class Pendulum(bramah.Plant):
            step_length = 0.001                                  # [s]
            n_dof = 1
            states = {"angle": "rad", "rate": "rad/s"}           # positions, rates, first-order states
            inputs = ["torque"]
            parameters = {"length": ("m", 1.0, 0.1, 10.0)}       # unit, nominal, least, most
            def step(self):
                ...                                              # move self.x on by step_length under self.u, self.p

    x [n], u [n inputs], p [n parameters]: the present state, inputs and parameters, float64, changed in place only: they are
    what is saved and restored. All that may be overridden:

    step()                 required
    inject(dx)             add dx [n] to the state (default: x += dx)
    observe()              values of `outputs` {name: unit}, shown besides the states [len(outputs)]
    step_transition(F, N, par, G)   step, and write its derivatives: F [n x n] by x, N [n x (n_dof + n first-order)] or None,
                           G [n x len(par)] by the parameters of the numbers par (bramah/plant.h); else differences of steps
    scales, periods        {state: typical magnitude}, {state: what it wraps by, 2 pi of an angle}

    What these raise comes out of the call that needed them, and nothing has changed. Arrays that they are given are good
    during the call only."""

    step_length: float = 0.0
    n_dof: int = 0
    states: Mapping[str, str] = {}
    inputs: Sequence[str] = ()
    outputs: Mapping[str, str] = {}
    parameters: Mapping[str, Tuple[str, float, float, float]] = {}
    scales: Mapping[str, float] = {}
    periods: Mapping[str, float] = {}

    x: np.ndarray
    u: np.ndarray
    p: np.ndarray

    def __new__(cls, *_: Any, **__: Any) -> "Plant":
        self = super().__new__(cls)
        self.x, self.u = np.zeros(len(cls.states)), np.zeros(len(cls.inputs))
        self.p = np.array([nominal for _, nominal, _, _ in cls.parameters.values()], np.float64)
        return self

    def step(self) -> None:
        """Move x [n] on by step_length, in place."""
        raise NotImplementedError("a plant needs a function step")

    def inject(self, dx: np.ndarray) -> None:
        """Add errors dx [n] to the state, in place."""
        self.x += dx

    def observe(self) -> Any:
        """Present values of `outputs` [len(outputs)]."""
        return ()


class _Table:
    """A bramah_plant whose functions are `methods`: {member: function of what C gives}."""

    def __init__(self) -> None:
        self.methods: Dict[str, Callable[..., Any]] = {}
        self.failure: Optional[BaseException] = None
        self.kept: List[Any] = []

    def table(self) -> Any:
        plant = ffi.new("bramah_plant *")
        plant.version, plant.size = lib.BRAMAH_PLANT_VERSION, ffi.sizeof("bramah_plant")
        self.kept.append(ffi.new_handle(self))
        plant.self = self.kept[-1]
        for name in self.methods:
            setattr(plant, name, getattr(lib, "py_bramah_plant_" + name))
        return plant

    def text(self, text: str) -> Any:
        self.kept.append(ffi.new("char[]", text.encode()))
        return self.kept[-1]

    def settle(self) -> None:
        failure, self.failure = self.failure, None
        if failure is not None:
            raise failure


def _define(name: str, kind: Any) -> None:
    """The Python side of a member: what is raised is kept, and C is told that it failed."""
    failed: Any = {"enum": lib.BRAMAH_E_ARGUMENT, "pointer": ffi.NULL, "void": None}.get(kind.result.kind, 0)
    if kind.result.cname == "double":
        failed = float("nan")

    def call(self: Any, *arguments: Any) -> Any:
        table = ffi.from_handle(self)
        try:
            return table.methods[name](*arguments)
        except BaseException as failure:
            table.failure = table.failure or failure
            return failed

    ffi.def_extern(name="py_bramah_plant_" + name)(call)


_FUNCTIONS = {n: f.type for n, f in ffi.typeof("bramah_plant").fields
              if f.type.kind == "function" or (f.type.kind == "pointer" and f.type.item.kind == "function")}
for _name, _type in _FUNCTIONS.items():
    _define(_name, _type if _type.kind == "function" else _type.item)


def _matrix(pointer: Any, *shape: int) -> np.ndarray:
    size = math.prod(shape)
    if not size:
        return np.zeros(shape)
    flat = np.frombuffer(ffi.buffer(pointer, 8 * size), np.float64)
    return flat if len(shape) == 1 else flat.reshape(shape)


class _Own(_Table):
    """The table of a Plant."""

    def __init__(self, plant: Plant):
        super().__init__()
        self.plant, n = plant, len(plant.states)
        self.n, self.arrays = n, (plant.x, plant.u, plant.p)
        self.size = sum(a.size for a in self.arrays)
        self.names = [self.text(t) for t in (*plant.states, *plant.outputs)]
        self.units = [self.text(t) for t in (*plant.states.values(), *plant.outputs.values())]
        self.input_names = [self.text(t) for t in plant.inputs]
        self.parameters = [(self.text(k), self.text(v[0]), *v[1:]) for k, v in plant.parameters.items()]
        members = ["step", "inject", "output", "save", "restore", "set_inputs", "state_info", "output_info", "input_name",
                   "coordinates", "output_row"]
        members += ["parameter_info", "parameter", "set_parameter"] if plant.parameters else []
        members += ["step_transition"] if hasattr(plant, "step_transition") else []
        self.methods = {m: getattr(self, m) for m in members}

    def table(self) -> Any:
        table, plant = super().table(), self.plant
        table.step_ns, table.n_dof = nanoseconds(plant.step_length), plant.n_dof
        table.n_first_order = self.n - 2 * plant.n_dof
        table.n_input, table.n_output = len(plant.inputs), len(self.names)
        table.n_parameter = len(plant.parameters)
        table.snapshot_size = 8 * self.size
        return table

    def whole(self, function: Callable[[], Any]) -> int:
        """All or nothing."""
        before = self.plant.x.copy()
        try:
            function()
        except BaseException:
            self.plant.x[:] = before
            raise
        return 0

    def step(self, diag: Any) -> int:
        return self.whole(self.plant.step)

    def inject(self, dx: Any, diag: Any) -> int:
        return self.whole(lambda: self.plant.inject(_matrix(dx, self.n)))

    def output(self, i: int) -> float:
        return float(self.plant.x[i] if i < self.n else self.plant.observe()[i - self.n])

    def output_row(self, i: int, row: Any) -> int:
        """A state itself; of what the plant shows besides, central differences through inject."""
        plant, values = self.plant, _matrix(row, self.n)
        values[:] = 0.0
        if i < self.n:
            values[i] = 1.0
            return 0
        before, scales = plant.x.copy(), [plant.scales.get(s, 1.0) for s in plant.states]
        try:
            for k, scale in enumerate(scales):
                dx, ends = np.zeros(self.n), []
                for dx[k] in (6e-6 * scale, -6e-6 * scale):
                    plant.inject(dx)
                    ends.append(float(plant.observe()[i - self.n]))
                    plant.x[:] = before
                values[k] = (ends[0] - ends[1]) / (12e-6 * scale)
        finally:
            plant.x[:] = before
        return 0

    def save(self, snap: Any) -> None:
        _matrix(snap, self.size)[:] = np.concatenate(self.arrays)

    def restore(self, snap: Any) -> None:
        values, at = _matrix(snap, self.size), 0
        for array in self.arrays:
            array[:] = values[at:at + array.size]
            at += array.size

    def set_inputs(self, u: Any, diag: Any) -> int:
        self.plant.u[:] = _matrix(u, len(self.plant.u))
        return 0

    def kind(self, i: int) -> int:
        n = self.plant.n_dof
        return _POSITION if i < n else _RATE if i < 2 * n else _FIRST_ORDER if i < self.n else _OTHER

    def state_info(self, i: int, info: Any) -> None:
        name = list(self.plant.states)[i]
        info.name, info.unit = self.names[i], self.units[i]
        info.scale, info.period = self.plant.scales.get(name, 1.0), self.plant.periods.get(name, 0.0)

    def output_info(self, i: int, info: Any) -> None:
        info.name, info.unit, info.kind, info.has_row, info.hidden = self.names[i], self.units[i], self.kind(i), 1, 0

    def input_name(self, i: int) -> Any:
        return self.input_names[i]

    def coordinates(self, x: Any) -> None:
        _matrix(x, self.n)[:] = self.plant.x

    def parameter_info(self, i: int, info: Any) -> None:
        info.name, info.unit, info.nominal, info.least, info.most = self.parameters[i]

    def parameter(self, i: int) -> float:
        return float(self.plant.p[i])

    def set_parameter(self, i: int, value: float, diag: Any) -> int:
        if not self.parameters[i][3] <= value <= self.parameters[i][4]:
            return lib.BRAMAH_E_VALUE
        self.plant.p[i] = value
        return 0

    def step_transition(self, F: Any, N: Any, n_par: int, par: Any, G: Any, diag: Any) -> int:
        n = self.n
        noise = _matrix(N, n, n - self.plant.n_dof) if N else None
        which = [par[k] for k in range(n_par)]
        return self.whole(lambda: self.plant.step_transition(  # type: ignore[attr-defined]
            _matrix(F, n, n), noise, which, _matrix(G, n, n_par) if n_par else None))


class _Extended(_Table):
    """Another table with outputs behind its own: what sensors with a function measure."""

    def __init__(self, inner: Any, sensors: Sequence[Sensor]):
        super().__init__()
        self.inner, self.n = inner, inner.n_output
        self.extra = []
        names = list(outputs_of(inner, hidden=True)[0])
        for s in sensors:
            self.extra.append((self.text(s.name), self.text(s.unit), s.function,
                               [index_of(n, names, "output") for n in s.of]))
        self.methods = {name: self.hand_on(getattr(inner, name)) for name in _FUNCTIONS if getattr(inner, name)}
        for name in ("output", "output_info"):
            self.methods[name] = getattr(self, name)
        if inner.output_row:
            self.methods["output_row"] = self.output_row
        if inner.output_by_parameters:
            self.methods["output_by_parameters"] = self.output_by_parameters

    def hand_on(self, function: Any) -> Callable[..., Any]:
        return lambda *arguments: function(self.inner.self, *arguments)

    def table(self) -> Any:
        table = super().table()
        for name, field in ffi.typeof("bramah_plant").fields:
            if name not in _FUNCTIONS and name not in ("self", "version", "size"):
                setattr(table, name, getattr(self.inner, name))
        table.n_output = self.n + len(self.extra)
        return table

    def values(self, outputs: Sequence[int]) -> np.ndarray:
        return np.array([self.inner.output(self.inner.self, k) for k in outputs])

    def output(self, i: int) -> float:
        if i < self.n:
            return self.inner.output(self.inner.self, i)
        _, _, function, outputs = self.extra[i - self.n]
        return float(function(self.values(outputs)))

    def output_info(self, i: int, info: Any) -> None:
        if i < self.n:
            lib.bramah_plant_output_info(self.inner, i, info)
            return
        info.name, info.unit = self.extra[i - self.n][:2]
        info.kind, info.has_row, info.hidden = _OTHER, 1, 0

    def chain(self, i: int, n: int, row: Any, of_inner: Callable[[int, Any], int]) -> int:
        """The chain rule: the function's derivative by central differences, times the rows of what it is a function of."""
        _, _, function, outputs = self.extra[i - self.n]
        values, total, part = self.values(outputs), np.zeros(n), np.zeros(n)
        for k, output in enumerate(outputs):
            status = of_inner(output, ffi.from_buffer("double[]", part))
            if status:
                return status
            h = 6e-6 * max(abs(values[k]), 1.0)
            up, down = values.copy(), values.copy()
            up[k], down[k] = values[k] + h, values[k] - h
            total += part * ((function(up) - function(down)) / (up[k] - down[k]))
        _matrix(row, n)[:] = total
        return 0

    def output_row(self, i: int, row: Any) -> int:
        inner = self.inner
        if i < self.n:
            return inner.output_row(inner.self, i, row)
        return self.chain(i, 2 * inner.n_dof + inner.n_first_order, row, lambda k, r: inner.output_row(inner.self, k, r))

    def output_by_parameters(self, i: int, n_par: int, par: Any, row: Any) -> int:
        inner = self.inner
        if i < self.n:
            return inner.output_by_parameters(inner.self, i, n_par, par, row)
        return self.chain(i, n_par, row, lambda k, r: inner.output_by_parameters(inner.self, k, n_par, par, r))


# ---- filters ----

class Filter(BaseFilter):
    """A filter on a plant of one's own (a Plant) with sensors of one's own, from the plant's present state:

        f = bramah.Filter(Pendulum(), [bramah.Sensor("angle", 0.01)], position_sigma=0.1, rate_sigma=0.1,
                          acceleration_noise=0.5)
        f.step(0.001, [0.0], [0.31])

    position_sigma, rate_sigma [n_dof], first_order_sigma: standard deviations at the start, a number for all or one each;
    acceleration_noise, first_order_noise: square roots of spectral densities, per sqrt(Hz) and sqrt(s). gate, drift_gate: 4
    and 6 standard deviations, 0: none. transition: "step" or "kinematic"; form: "joseph", "square root"; fusion:
    "sequential", "block". augmented: mappings with the members of bramah_augmented ({"name": ..., "kind": "parameter", "at":
    ..., "sigma": ..., "noise": ..., "role": "estimated"})."""

    def __init__(self, plant: Plant, sensors: Sequence[Sensor], *, position_sigma: Any = (), rate_sigma: Any = (),
                 first_order_sigma: Any = (), acceleration_noise: Any = 0.0, first_order_noise: Any = 0.0,
                 gate: float = 4.0, drift_gate: float = 6.0, transition: str = "step", form: str = "joseph",
                 fusion: str = "sequential", augmented: Sequence[Mapping[str, Any]] = (),
                 outputs: Optional[Sequence[str]] = None, alarm: bool = True):
        own = _Own(plant)
        table = own.table()
        options, kept = ffi.new("bramah_filter_options *"), []
        lib.bramah_filter_options_default(options)
        sizes = {"position_sigma": (position_sigma, plant.n_dof), "rate_sigma": (rate_sigma, plant.n_dof),
                 "acceleration_noise": (acceleration_noise, plant.n_dof),
                 "first_order_sigma": (first_order_sigma, table.n_first_order),
                 "first_order_noise": (first_order_noise, table.n_first_order)}
        for name, (values, n) in sizes.items():
            array = np.full(n, float(values)) if np.ndim(values) == 0 else array_of(values, n, name)
            kept.append(array)
            setattr(options, name, ffi.from_buffer("double[]", array) if n else ffi.NULL)
        options.common_gate, options.drift_gate = gate, drift_gate
        options.transition = {"step": lib.BRAMAH_TRANSITION_STEP,
                              "kinematic": lib.BRAMAH_TRANSITION_KINEMATIC}[transition]
        options.form = _number("bramah_covariance_form", form)
        options.fusion = _number("bramah_fusion", fusion)
        states = ffi.new("bramah_augmented[]", len(augmented))
        for state, given in zip(states, augmented):
            for name, value in given.items():
                if name in ("kind", "role"):
                    value = _number("bramah_augmented_" + name, value)
                elif isinstance(value, str):
                    value = own.text(value)
                setattr(state, name, value)
        options.n_augmented, options.augmented = len(augmented), states
        self._make(own, table, sensors, options, [own, states, *kept], None, outputs, alarm)

    def _make(self, own: _Table, table: Any, sensors: Sequence[Sensor], options: Any, kept: List[Any], of: Optional[Session],
              outputs: Optional[Sequence[str]], alarm: bool) -> None:
        functions = [s for s in sensors if s.function is not None]
        self._parts = [own] if of is None else []
        if functions:
            self._parts.append(_Extended(table, functions))
            kept.append(table)
            table = self._parts[-1].table()
        there = [] if of is None else [lib.bramah_session_about(of._session).sensors[i] for i in range(len(of.sensors))]
        bound = ffi.new("bramah_sensor[]", there + [s._bind(table, kept)[0] for s in sensors])
        diag, out = ffi.new("bramah_diag *"), ffi.new("bramah_filter **")
        status = lib.bramah_filter_new(table, len(bound), bound, options, diag, out)
        if status:
            self._settle()
            check(status, diag)
        made = owned(out[0], lib.bramah_filter_free, table, kept, list(self._parts), of._session if of else None)
        BaseFilter.__init__(self, table, made, made, outputs, alarm)

    def _settle(self) -> None:
        for part in self._parts:
            part.settle()

    def step(self, time: Any = None, inputs: Any = None, measurements: Any = None) -> int:
        """As in Session; what the plant's functions raise comes out, and nothing has changed."""
        flags = super().step(time, inputs, measurements)
        self._settle()
        return flags

    @classmethod
    def of_session(cls, session: Session, sensors: Sequence[Sensor], *, outputs: Optional[Sequence[str]] = None,
                   alarm: bool = True) -> "Filter":
        """The filter of a study with sensors of one's own behind the study's (gate 4 where the study's sensors have
        gates of their own). The session's machine is its own from now on: the session itself cannot be stepped."""
        if session._rewind is not None or session._adaptive is not None:
            raise Error("a study with delays or adapting noise cannot be given other sensors", "E_UNSUPPORTED")
        session._guard.__enter__()
        about, kept = lib.bramah_session_about(session._session), []
        options = ffi.new("bramah_filter_options *", about.options)
        if options.gate:
            gates = [about.options.gate[i] for i in range(len(session.sensors))] + [4.0] * len(sensors)
            kept.append(ffi.new("double[]", gates))
            options.gate = kept[-1]
        table = ffi.new("bramah_plant *", lib.bramah_session_plant(session._session)[0])
        self = cls.__new__(cls)
        self._make(_Table(), table, sensors, options, kept, session, outputs, alarm)
        return self
