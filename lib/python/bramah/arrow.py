# SPDX-License-Identifier: MIT
"""Tables of other packages (pandas, polars, pyarrow, DuckDB, ...) as columns: by the Arrow C data interface where they have it,
else by name. Numbers of 64 bits without gaps are not copied."""
import ctypes
from typing import Any, List, Mapping, Optional, Tuple

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
_SECONDS = {"s": 1.0, "m": 1e-3, "u": 1e-6, "n": 1e-9}
_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def _released(kind: str) -> Any:
    """An empty structure whose content is released with it."""
    return _ffi.gc(_ffi.new(f"struct {kind} *"), lambda s: s.release(s) if s.release else None)


def _reader(form: str) -> Optional[Tuple[np.dtype, float]]:
    """What a column's numbers are, and what 1 of them means; None: it has none. Times and durations are seconds."""
    if form in _TYPES:
        return np.dtype(_TYPES[form]), 1.0
    if form[:2] in ("ts", "tD"):
        return np.dtype("i8"), _SECONDS[form[2]]
    return None


class _Table(dict):  # type: ignore[type-arg]
    """Columns, and the batches that their memory belongs to."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: List[Any] = []


def _piece(array: Any, offset: int, length: int, reader: Tuple[np.dtype, float]) -> np.ndarray:
    """The numbers of a column in one batch, over its memory; NaN where there are none."""
    kind, factor = reader
    offset += array.offset
    if not length:
        return np.zeros(0)
    start = _ffi.cast("char *", array.buffers[1]) + kind.itemsize * offset
    values = np.frombuffer(_ffi.buffer(start, kind.itemsize * length), kind)
    if factor != 1.0:
        values = values * factor
    if array.null_count and array.buffers[0] != _ffi.NULL:
        bits = np.frombuffer(_ffi.buffer(_ffi.cast("char *", array.buffers[0]), (offset + length + 7) // 8), np.uint8)
        there = np.unpackbits(bits, bitorder="little")[offset:offset + length].astype(bool)
        values = np.where(there, values.astype(np.float64), np.nan)
    return values


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
    readers = [_reader(_ffi.string(c.format).decode()) if not c.dictionary else None for c in columns]
    pieces: List[List[np.ndarray]] = [[] for _ in columns]
    table = _Table()
    while True:
        batch = _released("ArrowArray")
        checked(stream.get_next(stream, batch))
        if not batch.release:
            break
        for reader, child, of in zip(readers, range(batch.n_children), pieces):
            if reader is not None:
                of.append(_piece(batch.children[child], batch.offset, batch.length, reader))
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
        arrays = {str(n): np.asarray(table[n]) for n in table.columns}
        return {n: a for n, a in arrays.items() if a.dtype.kind in "fiu"}
    return None
