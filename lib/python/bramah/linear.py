# SPDX-License-Identifier: GPL-3.0-or-later
"""Linear equations of a machine about a point: matrices with names, modes, responses, a regulator."""
from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from bramah._bramah import ffi, lib
from bramah.core import (Error, Path, Record, Texts, check, index_of, owned, path_bytes, record, text_of, view, word)


class LinearSystem:
    """dx/dt = xd + A dx + B du, dy = C dx + D du about a point, SI.

    A [n x n], B [n x n_u], C [n_y x n], D [n_y x n_u]; x, xd, u, y: where it was taken. All are views of the library's
    memory, read only, which they keep. states, inputs, outputs: {name: unit} in the order of rows and columns."""

    def __init__(self, system: Any, owner: Any):
        self._system, self._owner = system, owner
        n, n_u, n_y = system.n, system.n_u, system.n_y
        self.A, self.B = view(system.A, (n, n), owner), view(system.B, (n, n_u), owner)
        self.C, self.D = view(system.C, (n_y, n), owner), view(system.D, (n_y, n_u), owner)
        self.x, self.xd = view(system.x, n, owner), view(system.xd, n, owner)
        self.u, self.y = view(system.u, n_u, owner), view(system.y, n_y, owner)
        self.states, self.inputs, self.outputs = (
            {text_of(names[i]): text_of(units[i]) for i in range(count)} for names, units, count in (
                (system.x_name, system.x_unit, n), (system.u_name, system.u_unit, n_u),
                (system.y_name, system.y_unit, n_y)))
        self._diag = ffi.new("bramah_diag *")

    def modes(self) -> "Modes":
        """Eigenvalues, slowest first, with frequency, damping, shapes and what takes part."""
        out = ffi.new("bramah_modes **")
        check(lib.bramah_modes_new(self._system, self._diag, out), self._diag)
        return Modes(owned(out[0], lib.bramah_modes_free, self._owner), list(self.states))

    def discretise(self, step: float) -> Tuple[np.ndarray, np.ndarray]:
        """F [n x n], G [n x n_u] for inputs held over `step` [s]."""
        F, G = np.empty(self.A.shape), np.empty(self.B.shape)
        check(lib.bramah_discretise(self._system, step, ffi.from_buffer("double[]", F), ffi.from_buffer("double[]", G),
                                    self._diag), self._diag)
        return F, G

    def frequency_response(self, output: str, input: str, w: Any) -> np.ndarray:
        """Complex [len(w)] at angular frequencies w [rad/s]."""
        w = np.ascontiguousarray(w, np.float64)
        re, im = np.empty(w.shape), np.empty(w.shape)
        check(lib.bramah_frequency_response(
            self._system, index_of(output, list(self.outputs), "output"), self._input(input), len(w),
            *(ffi.from_buffer("double[]", a) for a in (w, re, im)), self._diag), self._diag)
        return re + 1j * im

    def _input(self, name: str) -> int:
        names = list(self.inputs)
        return names.index(f"{name}.command") if f"{name}.command" in names else index_of(name, names, "input")

    def lqr(self, Q: Any, R: Any) -> Tuple[np.ndarray, np.ndarray]:
        """K [n_u x n], P [n x n]: u = -K x makes the integral of x'Qx + u'Ru least."""
        return lqr(self.A, self.B, Q, R)

    def __repr__(self) -> str:
        return f"<LinearSystem: {len(self.states)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs>"


def lqr(A: Any, B: Any, Q: Any, R: Any) -> Tuple[np.ndarray, np.ndarray]:
    """The same for any matrices A [n x n], B [n x n_u]; Q, R: matrices or their diagonals. Errors: E_SINGULAR (a mode that
    does not decay is not reached by the inputs, or costs nothing)."""
    A, B, Q, R = (np.array(M, np.float64, order="C") for M in (A, B, Q, R))
    Q, R = (np.diag(M).copy() if M.ndim == 1 else M for M in (Q, R))
    n, n_u = B.shape
    if A.shape != (n, n) or Q.shape != (n, n) or R.shape != (n_u, n_u):
        raise Error(f"shapes do not fit: A {A.shape}, B {B.shape}, Q {Q.shape}, R {R.shape}")
    K, P, diag = np.empty((n_u, n)), np.empty((n, n)), ffi.new("bramah_diag *")
    pointers = [ffi.from_buffer("double[]", M) for M in (A, B, Q, R, K, P)]
    system = ffi.new("bramah_linear_system *", {"n": n, "n_u": n_u, "A": pointers[0], "B": pointers[1]})
    check(lib.bramah_lqr(system, *pointers[2:], diag), diag)
    return K, P


class Modes(Sequence):
    """Modes of linear equations, slowest first: each a Record of bramah_mode (re, im [1/s], frequency [Hz], damping,
    stability, ...) with `shape` [n] complex and `participation` [n] in the order of `states`."""

    def __init__(self, modes: Any, states: Sequence[str]):
        self.states, n = list(states), modes.n
        self.stability: str = word(ffi.typeof("bramah_stability"), modes.stability)
        self._modes = []
        for i in range(modes.n_modes):
            values = record(modes.mode[i], shape_re=n, shape_im=n, participation=n).__dict__
            shape = values["shape_re"] + 1j * values["shape_im"]
            self._modes.append(Record({**{k: v for k, v in values.items() if k[0] != "_"}, "shape": shape}, "mode"))
        self.values = np.array([v for m in self._modes for v in (
            [complex(m.re, m.im), complex(m.re, -m.im)] if m.pair else [complex(m.re, 0.0)])])

    def __getitem__(self, i: Any) -> Any:
        return self._modes[i]

    def __len__(self) -> int:
        return len(self._modes)

    def __repr__(self) -> str:
        return f"<Modes: {self.stability}, {len(self)} modes>"


def linearize(machine: Path, at: str = "start", *, hold: Optional[Mapping[str, Any]] = None, free: Sequence[str] = (),
              inputs: Sequence[str] = (), parameters: Optional[Mapping[str, Any]] = None,
              commands: Optional[Mapping[str, Any]] = None, changes: Optional[Mapping[str, Any]] = None,
              sensors: Optional[Path] = None) -> LinearSystem:
    """Linear equations of a machine file about a point, with every output that has a derivative.

    at: "start", a time that is simulated to ("2 s"), a row of a log of any format that replays take ("log.csv@2 s"), "rest": where the machine comes to rest.
    hold: outputs that an equilibrium shall have, free: commands and parameters that its search may choose. inputs: parameters
    that count as inputs (loads, say). parameters, commands, changes (keys of the machine file): other values, numbers in SI
    or texts with a unit. sensors: a study whose sensors are outputs behind those of the plant."""
    options = ffi.new("bramah_operating_point_options *")
    lib.bramah_operating_point_options_default(options)
    lists: Dict[str, Texts] = {
        "parameter": _pairs(parameters), "command": _pairs(commands), "hold": _pairs(hold), "set": _pairs(changes),
        "free": Texts(free), "input": Texts(inputs)}
    for name, texts in lists.items():
        setattr(options, "n_" + name, texts.n)
        setattr(options, name, texts.array)
    single = Texts([at] + ([sensors] if sensors is not None else []))
    options.at = single.kept[0]
    options.sensors = single.kept[1] if sensors is not None else ffi.NULL
    diag, out = ffi.new("bramah_diag *"), ffi.new("bramah_operating_point **")
    check(lib.bramah_operating_point_new(path_bytes(machine), options, diag, out), diag)
    point = owned(out[0], lib.bramah_operating_point_free)
    system = LinearSystem(point.system, point)
    system.time = point.time  # type: ignore[attr-defined]
    return system


def _pairs(values: Optional[Mapping[str, Union[str, float]]]) -> Texts:
    return Texts(f"{k}={v if isinstance(v, str) else repr(float(v))}" for k, v in (values or {}).items())
