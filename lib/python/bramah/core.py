# SPDX-License-Identifier: GPL-3.0-or-later
"""What all parts of the package share: errors, units, columns, arrays that lie in the library's memory."""
from __future__ import annotations

import collections.abc
import difflib
import functools
import os
import re
import threading
from typing import Any, Dict, Iterable, Iterator, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from bramah._bramah import ffi, lib

Path = Union[str, os.PathLike]


# ---- errors ----

class Error(Exception):
    """What the library says of a mistake. The text is its own: file:line:column: thing: message.

    status: name of the code ("E_UNIT", see include/bramah/status.h); file, line, column: where (line and column
    from 1; 0, "": unknown or not of a file); thing: the body, joint, sensor, state, key or column it is about;
    message: the sentence alone. partial: what a replay had come to, else None."""

    partial: Any = None

    def __init__(self, message: str, status: str = "E_ARGUMENT", file: str = "", line: int = 0, column: int = 0,
                 thing: str = "", text: Optional[str] = None):
        super().__init__(text if text is not None else f"{thing}: {message}" if thing else message)
        self.message, self.status, self.file, self.line, self.column, self.thing = (
            message, status, file, line, column, thing)

    def __str__(self) -> str:
        return str(self.args[0])


class InputError(Error, ValueError):
    """A file, a value, a name or a unit is wrong."""


class NumericError(Error, ArithmeticError):
    """The equations cannot be solved here: a loop that cannot close, a step that does not converge, a covariance
    that is not positive."""


class TimeError(Error):
    """Time does not advance as it should."""


class NameUnknown(Error, KeyError):
    """There is nothing of that name; the text says what is nearest."""


_CLASSES = {"E_CLOSURE": NumericError, "E_SINGULAR": NumericError, "E_NO_CONVERGENCE": NumericError,
            "E_NOT_SPD": NumericError, "E_TIME": TimeError, "E_MEMORY": Error, "E_UNSUPPORTED": Error,
            "E_ARGUMENT": Error}


class DoubtWarning(UserWarning):
    """A simulation that is none a machine makes, or the like: numbers are there, and should not be trusted."""


def text_of(pointer: Any) -> str:
    """A text of the library; NULL is ""."""
    return ffi.string(pointer).decode("utf-8", "replace") if pointer else ""


def error_of(diag: Any, status: Optional[int] = None) -> Error:
    """The exception that a diagnostic asks for."""
    room = ffi.new("char[]", 1100)
    lib.bramah_diag_format(diag, room, len(room))
    status = diag.status if status is None else status
    name, message = text_of(lib.bramah_status_name(status)), text_of(diag.message)
    if not message:
        message = text_of(lib.bramah_status_text(status))
    return _CLASSES.get(name, InputError)(message, name, text_of(diag.file), diag.line, diag.column,
                                          text_of(diag.thing), text_of(room) or message)


def check(status: int, diag: Any) -> None:
    """Raise what a call says unless it went well."""
    if status:
        raise error_of(diag, status)


def index_of(name: str, names: Sequence[str], what: str) -> int:
    """Place of a name."""
    try:
        return names.index(name)
    except ValueError:
        near = difflib.get_close_matches(str(name), names, 1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        raise NameUnknown(f"there is no {what} '{name}'{hint}", "E_REFERENCE", thing=str(name)) from None


# ---- texts, times and options on their way into the library ----

def path_bytes(path: Path) -> bytes:
    return os.fsencode(path)


def nanoseconds(seconds: Optional[float], otherwise: int = 0) -> int:
    return otherwise if seconds is None else round(seconds * 1e9)


class Texts:
    """An array of C strings that lives as long as this."""

    def __init__(self, texts: Iterable[Path]):
        self.kept = [ffi.new("char[]", os.fsencode(t)) for t in texts]
        self.n = len(self.kept)
        self.array = ffi.new("char *[]", self.kept) if self.kept else ffi.NULL


class Changes:
    """Other values for keys of a file: {"bodies.crank.mass": "18 kg"} as an array of bramah_change."""

    def __init__(self, changes: Optional[Mapping[str, Any]]):
        self.texts = Texts(x for key, value in (changes or {}).items() for x in (key, str(value)))
        self.n = self.texts.n // 2
        self.array = ffi.new("bramah_change[]", self.n)
        for i in range(self.n):
            self.array[i].path, self.array[i].value = self.texts.kept[2 * i], self.texts.kept[2 * i + 1]


class Guard:
    """One thread at a time: an object in use by another thread, or by itself from a callback, is an error and not
    a race. `with guard:`."""

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def __enter__(self) -> None:
        if not self.lock.acquire(False):
            raise Error("it is in use already, on another thread or from one of its own callbacks: every thread "
                        "needs an object of its own (clone() makes one)", "E_ARGUMENT")

    def __exit__(self, *_: Any) -> None:
        self.lock.release()


# ---- units ----

def factor(unit: str) -> float:
    """What a value in this unit is multiplied by to be SI: factor("bar") is 1e5."""
    out, dimension = ffi.new("double *"), ffi.new("bramah_dimension *")
    diag = ffi.new("bramah_diag *")
    check(lib.bramah_unit_parse(unit.encode(), out, dimension, diag), diag)
    return out[0]


def si(text: str, unit: Optional[str] = None) -> float:
    """A value with its unit in SI: si("76 bar") is 7.6e6. `unit` says which dimension it must have ("Pa")."""
    number = re.match(r"\s*[-+0-9.eE]*(?<![eE])\s*", text)
    expected = unit or text[number.end():].strip() or "1"  # type: ignore[union-attr]
    out, diag = ffi.new("double *"), ffi.new("bramah_diag *")
    check(lib.bramah_quantity_parse(text.encode(), expected.encode(), out, diag), diag)
    return out[0]


def convert(values: Any, unit: str, to: str) -> Any:
    """Values in `unit` in the unit `to`: convert(0.5, "rad", "deg"). A number or an array; errors: E_UNIT."""
    out, diag = ffi.new("double[2]"), ffi.new("bramah_diag *")
    dimension = ffi.new("bramah_dimension[2]")
    for i, name in enumerate((unit, to)):
        check(lib.bramah_unit_parse(name.encode(), out + i, dimension + i, diag), diag)
    if bytes(ffi.buffer(dimension + 0)) != bytes(ffi.buffer(dimension + 1)):
        raise InputError(f"'{unit}' cannot be converted to '{to}': they measure different things", "E_UNIT", thing=to)
    return values if out[0] == out[1] else values * (out[0] / out[1])


# ---- what lies in the library's memory ----

def _forget(_owner: Any, _pointer: Any) -> None:
    pass


def view(pointer: Any, shape: Union[int, Tuple[int, ...]], owner: Any, dtype: Any = np.float64,
         writable: bool = False) -> np.ndarray:
    """An array over memory of the library, which lives as long as the array keeps `owner`; not copied. What is in it
    changes when the library writes it."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    if not size or not pointer:
        return np.zeros(shape, dtype)
    kept = ffi.gc(ffi.cast("char *", pointer), functools.partial(_forget, owner))
    array = np.frombuffer(ffi.buffer(kept, size), dtype).reshape(shape)
    array.flags.writeable = writable
    return array


def owned(pointer: Any, free: Any, *kept: Any) -> Any:
    """An object of the library that is freed with the last reference to it, and `kept` only after it. Nothing in `kept`
    may refer back to it: cycles are freed in any order."""
    def release(it: Any, _kept: Any = kept) -> None:
        free(it)
    return ffi.gc(pointer, release)


def array_of(values: Any, n: int, what: str) -> np.ndarray:
    """Values as float64 [n]."""
    array = np.ascontiguousarray(values, np.float64).reshape(-1)
    if array.size != n:
        raise InputError(f"{what}: {array.size} values, {n} are needed", "E_ARGUMENT", thing=what)
    return array


@functools.lru_cache(maxsize=None)
def words_of(name: str) -> Dict[int, str]:
    """Enumerators as words: BRAMAH_CHECK_GATED of bramah_check_kind is "gated"."""
    values = {n: t for n, t in ffi.typeof(name).elements.items() if not t.startswith("BRAMAH_N_")}
    prefix = os.path.commonprefix(list(values.values()))
    start = prefix.rfind("_") + 1
    return {number: text[start:].lower().replace("_", " ") for number, text in values.items()}


def word(kind: Any, value: int) -> str:
    return words_of(kind.cname).get(int(value), str(int(value)))


class Record:
    """A structure of the library as it was: its members by their names in C, where they are explained; texts,
    numbers, words for enumerators, arrays copied. Read only."""

    def __init__(self, values: Dict[str, Any], kind: str = "Record"):
        self.__dict__.update(values)
        self.__dict__["_kind"] = kind

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("it is read only")

    def __getattr__(self, name: str) -> Any:  # for type checkers; only names that are not there come here
        raise AttributeError(f"{self._kind} has no '{name}'")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and repr(self) == repr(other)

    def __repr__(self) -> str:
        items = ", ".join(f"{k}={v!r}" for k, v in self.__dict__.items() if not k.startswith("_"))
        return f"{self._kind}({items})"


def record(struct: Any, **lengths: int) -> Record:
    """Copy a C structure; `lengths` of the arrays that members point to (others of them are left out)."""
    kind = ffi.typeof(struct)
    kind = kind.item if kind.kind == "pointer" else kind
    values: Dict[str, Any] = {}
    for name, field in kind.fields:
        value, type_ = getattr(struct, name), field.type
        if name in lengths:
            item = type_.item
            if item.kind == "struct":
                values[name] = tuple(record(value[i]) for i in range(lengths[name]))
            elif item.kind == "pointer":
                values[name] = tuple(text_of(value[i]) for i in range(lengths[name]))
            else:
                values[name] = np.array([value[i] for i in range(lengths[name])])
        elif type_.kind == "enum":
            values[name] = word(type_, int(ffi.cast("int", value)))
        elif type_.kind == "struct":
            values[name] = record(value)
        elif type_.kind == "array" and type_.item.cname == "char":
            values[name] = text_of(value)
        elif type_.kind == "array":
            values[name] = tuple(record(x) if type_.item.kind == "struct" else x for x in value)
        elif type_.kind == "pointer" and type_.item.cname == "char":
            values[name] = text_of(value)
        elif type_.kind == "primitive":
            values[name] = value
    return Record(values, kind.cname.replace("struct ", "").replace("bramah_", ""))


_NUMPY = {"double": "f8", "int": "i4", "unsigned int": "u4", "size_t": "u8", "int64_t": "i8", "uint64_t": "u8",
          "unsigned char": "u1", "uint32_t": "u4"}


@functools.lru_cache(maxsize=None)
def dtype_of(name: str) -> np.dtype:
    """numpy's name for a structure of numbers."""
    kind = ffi.typeof(name)
    fields = [(n, _NUMPY[f.type.cname], f.offset) for n, f in kind.fields]
    return np.dtype({"names": [f[0] for f in fields], "formats": [f[1] for f in fields],
                     "offsets": [f[2] for f in fields], "itemsize": ffi.sizeof(kind)})


# ---- columns over time ----

class Series(collections.abc.Mapping):
    """Columns over time, each by its name: `series["crank.angle"]` is float64 [n] in SI; nan: no value.

    time: [n] s; units: {name: unit}. `series.get("crank.angle", unit="deg")` converts (and copies)."""

    def __init__(self, time: np.ndarray, names: Sequence[str], units: Sequence[str], table: np.ndarray):
        self.time = time
        self.units: Dict[str, str] = dict(zip(names, units))
        self._names = list(names)
        self._table = table

    def __getitem__(self, name: str) -> np.ndarray:
        return self._table[index_of(name, self._names, "column")]

    def get(self, name: str, default: Any = None, *, unit: Optional[str] = None) -> Any:  # type: ignore[override]
        """The column, in `unit` (None: SI); `default` where there is none of this name and a default is given."""
        if default is not None and name not in self.units:
            return default
        return self._in(self[name], name, unit)

    def _in(self, values: np.ndarray, name: str, unit: Optional[str]) -> np.ndarray:
        return values if unit is None else convert(values, self.units[name] or "1", unit)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self.units

    def __repr__(self) -> str:
        span = f"{self.time[0]:.6g} to {self.time[-1]:.6g} s" if len(self.time) else "no rows"
        return f"<{type(self).__name__}: {len(self._names)} columns, {len(self.time)} rows, {span}>"

    def matrix(self, *names: str) -> np.ndarray:
        """Columns side by side [n x len(names)] (a copy)."""
        return np.stack([self[name] for name in names or self._names], axis=1)


class Parameters(collections.abc.MutableMapping):
    """Values of a plant's parameters [SI]: `p["pump.pressure"]`; set by a number or a text with a unit: "76 bar".

    `p.info(name)` says unit, nominal value and what is accepted."""

    def __init__(self, plant: Any, owner: Any):
        self._plant, self._owner = plant, owner
        self._names = []
        info = ffi.new("bramah_parameter_info *")
        for i in range(plant.n_parameter):
            plant.parameter_info(plant.self, i, info)
            self._names.append(text_of(info.name))

    def info(self, name: str) -> Record:
        """name, unit, nominal, least, most."""
        info = ffi.new("bramah_parameter_info *")
        self._plant.parameter_info(self._plant.self, index_of(name, self._names, "parameter"), info)
        return record(info)

    def __getitem__(self, name: str) -> float:
        return self._plant.parameter(self._plant.self, index_of(name, self._names, "parameter"))

    def __setitem__(self, name: str, value: Union[float, str]) -> None:
        i = index_of(name, self._names, "parameter")
        number = si(value, self.info(name).unit) if isinstance(value, str) else float(value)
        diag = ffi.new("bramah_diag *")
        check(self._plant.set_parameter(self._plant.self, i, number, diag), diag)

    def __delitem__(self, name: str) -> None:
        raise TypeError("parameters are of the machine: they cannot be deleted")

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return repr(dict(self))


def outputs_of(plant: Any, hidden: bool = False) -> Tuple[Dict[str, str], np.ndarray]:
    """Outputs of a plant: {name: unit} and their numbers."""
    info, units, numbers = ffi.new("bramah_output_info *"), {}, []
    for i in range(plant.n_output):
        lib.bramah_plant_output_info(plant, i, info)
        if hidden or not info.hidden:
            units[text_of(info.name)] = text_of(info.unit)
            numbers.append(i)
    return units, np.array(numbers, np.uint64)


def states_of(plant: Any) -> Dict[str, str]:
    """Error states of a plant in their order: {name: unit}."""
    info, units = ffi.new("bramah_state_info *"), {}
    for i in range(2 * plant.n_dof + plant.n_first_order):
        lib.bramah_plant_state_info(plant, i, info)
        units[text_of(info.name)] = text_of(info.unit)
    return units


def inputs_of(plant: Any) -> Tuple[str, ...]:
    return tuple(text_of(plant.input_name(plant.self, i)) if plant.input_name else "input"
                 for i in range(plant.n_input))
