# SPDX-License-Identifier: MIT
"""Tables of other packages (pandas, polars, pyarrow, DuckDB, ...) as columns: by the Arrow C data interface where they have it,
else by name. Numbers of 64 bits without gaps are not copied. Times and durations stay datetime64 and timedelta64, exact."""
import ctypes
from typing import Any, List, Mapping, Optional

import cffi
import numpy as np

from bramah.core import InputError

# arrow.apache.org/docs/format/CDataInterface.html and CStreamInterface.html
_ffi = cffi.FFI()
_ffi.cdef("""
struct ArrowSchema { const char *format, *name, *metadata; int64_t flags, n_children; struct ArrowSchema **children, *dictionary;
  void (*release)(struct ArrowSchema *); void *private_data; };
struct ArrowArray { int64_t length, null_count, offset, n_buffers, n_children; const void **buffers; struct ArrowArray **children,
  *dictionary; void (*release)(struct ArrowArray *); void *private_data; };
struct ArrowArrayStream { int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *); const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *); void *private_data; };
""")
_TYPES = {"c": "i1", "C": "u1", "s": "i2", "S": "u2", "i": "i4", "I": "u4", "l": "i8", "L": "u8", "e": "f2", "f": "f4", "g": "f8"}
_UNITS = {"s": "s", "m": "ms", "u": "us", "n": "ns"}
_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def _released(kind: str) -> Any:
    """An empty structure whose content is released with it."""
    return _ffi.gc(_ffi.new(f"struct {kind} *"), lambda s: s.release(s) if s.release else None)


def _type_of(form: str) -> Optional[np.dtype]:
    """Of a column's numbers; None: it has none."""
    if form in _TYPES:
        return np.dtype(_TYPES[form])
    if form[:2] in ("ts", "tD"):
        return np.dtype(f"{'M' if form[1] == 's' else 'm'}8[{_UNITS[form[2]]}]")
    return None


def nanoseconds_of(column: Any) -> np.ndarray:
    """Of times and durations, dates since 1970, as whole numbers; of other numbers, which are seconds. Errors: a row without time."""
    times = np.asarray(column)
    if times.dtype.kind in "mM":
        gaps, ns = np.isnat(times), times.astype(f"{times.dtype.kind}8[ns]").astype(np.int64)
    else:
        times = np.asarray(times, np.float64)
        gaps = ~np.isfinite(times)
        ns = np.round(np.where(gaps, 0.0, times) * 1e9).astype(np.int64)
    if gaps.any():
        raise InputError(f"row {int(np.argmax(gaps)) + 1} has no time", "E_TIME", thing="t")
    return ns


def numbers_of(column: Any) -> np.ndarray:
    """As doubles; times and durations in seconds. NaN where there are none."""
    values = np.asarray(column)
    if values.dtype.kind not in "mM":
        return np.asarray(values, np.float64)
    ns = values.astype(f"{values.dtype.kind}8[ns]").astype(np.int64)
    return np.where(np.isnat(values), np.nan, ns * 1e-9)


class _Table(dict):  # type: ignore[type-arg]
    """Columns, and the batches that their memory belongs to."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: List[Any] = []


def _piece(array: Any, offset: int, length: int, kind: np.dtype) -> np.ndarray:
    """The numbers of a column in one batch, over its memory; NaN (NaT) where there are none."""
    offset += array.offset
    if not length:
        return np.zeros(0, kind)
    start = _ffi.cast("char *", array.buffers[1]) + kind.itemsize * offset
    values = np.frombuffer(_ffi.buffer(start, kind.itemsize * length), kind)
    if array.null_count and array.buffers[0] != _ffi.NULL:
        bits = np.frombuffer(_ffi.buffer(_ffi.cast("char *", array.buffers[0]), (offset + length + 7) // 8), np.uint8)
        there = np.unpackbits(bits, bitorder="little")[offset:offset + length].astype(bool)
        values = np.where(there, values, np.array("NaT", kind)) if kind.kind in "mM" else np.where(there, values.astype(np.float64), np.nan)
    return values


def _refuse_doubles(names: List[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"the table has {names.count(name)} columns '{name}': give them different names", "E_KEY", thing=name)


def _of_stream(capsule: Any) -> Mapping[str, np.ndarray]:
    stream = _ffi.cast("struct ArrowArrayStream *", _pointer_of(capsule, b"arrow_array_stream"))
    schema = _released("ArrowSchema")

    def checked(status: int) -> None:
        if status:
            text = stream.get_last_error(stream)
            raise InputError(f"Arrow: {_ffi.string(text).decode() if text else 'error ' + str(status)}", "E_SYNTAX")

    checked(stream.get_schema(stream, schema))
    if _ffi.string(schema.format) != b"+s":
        raise InputError("Arrow: it is no table, which a log is", "E_SYNTAX")
    columns = [schema.children[i] for i in range(schema.n_children)]
    names = [_ffi.string(c.name).decode() if c.name else str(i) for i, c in enumerate(columns)]
    types = [_type_of(_ffi.string(c.format).decode()) if not c.dictionary else None for c in columns]
    _refuse_doubles([n for n, t in zip(names, types) if t is not None])
    pieces: List[List[np.ndarray]] = [[] for _ in columns]
    table = _Table()
    while True:
        batch = _released("ArrowArray")
        checked(stream.get_next(stream, batch))
        if not batch.release:
            break
        for kind, child, of in zip(types, range(batch.n_children), pieces):
            if kind is not None:
                of.append(_piece(batch.children[child], batch.offset, batch.length, kind))
        table.kept.append(batch)
    table.update({n: p[0] if len(p) == 1 else np.concatenate(p) for n, p in zip(names, pieces) if p})
    return table


def columns_of(table: Any) -> Optional[Mapping[str, Any]]:
    """Columns of a table by their names; None: it is none. Columns that hold no numbers are left out."""
    if isinstance(table, Mapping):
        return table
    if hasattr(table, "__arrow_c_stream__"):
        return _of_stream(table.__arrow_c_stream__())
    if hasattr(table, "columns") and hasattr(table, "__getitem__"):
        _refuse_doubles([str(n) for n in table.columns])
        arrays = {str(n): np.asarray(table[n]) for n in table.columns}
        return {n: a for n, a in arrays.items() if a.dtype.kind in "fiumM"}
    return None
