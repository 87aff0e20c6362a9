# SPDX-License-Identifier: MIT
"""Tables of other packages as logs, by the Arrow C data interface; written here by hand, so that none need be installed."""
import ctypes
import gc
import os
import unittest
from pathlib import Path

import numpy as np

import bramah
from bramah.arrow import _ffi, columns_of

FOUR_BAR = Path(os.environ["BRAMAH_SOURCE_ROOT"]) / "datasets" / "four-bar"
_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
FORMATS = {"f8": b"g", "f4": b"f", "i4": b"i", "i8": b"l", "u1": b"C"}


class Table:
    """Batches of columns {name: array, or (array, mask of what is there)}; counts what was released."""

    def __init__(self, batches, offset=0, formats=None):
        self.batches, self.offset, self.formats, self.kept, self.at = batches, offset, formats or {}, [], 0
        self.released, self.schema_names = {"schema": 0, "batch": 0}, None
        self.rows = [len(self.data(next(iter(b.values())))[0]) for b in batches]

    @staticmethod
    def data(column):
        return column if isinstance(column, tuple) else (column, None)

    def keep(self, thing):
        self.kept.append(thing)
        return thing

    def schema(self, out):
        names = self.schema_names or list(self.batches[0])
        children = self.keep(_ffi.new("struct ArrowSchema *[]", max(len(names), 1)))
        for i, name in enumerate(names):
            form = self.formats.get(name) or FORMATS[self.data(self.batches[0][name])[0].dtype.str[1:]]
            children[i] = self.keep(_ffi.new("struct ArrowSchema *"))
            children[i].format = self.keep(_ffi.new("char[]", form))
            children[i].name = self.keep(_ffi.new("char[]", name.encode()))
        out.format, out.n_children, out.children = self.keep(_ffi.new("char[]", b"+s")), len(names), children
        out.release = self.keep(_ffi.callback("void(struct ArrowSchema *)", lambda s: self.release(s, "schema")))
        return 0

    def release(self, thing, what):
        self.released[what] += 1
        thing.release = _ffi.NULL

    def batch(self, out):
        if self.at == len(self.batches):
            out.release = _ffi.NULL
            return 0
        columns = self.batches[self.at]
        children = self.keep(_ffi.new("struct ArrowArray *[]", len(columns)))
        for i, column in enumerate(columns.values()):
            values, there = self.data(column)
            child = children[i] = self.keep(_ffi.new("struct ArrowArray *"))
            child.buffers = self.keep(_ffi.new("const void *[]", 2))
            child.length, child.offset, child.n_buffers = self.rows[self.at], self.offset, 2
            shifted = self.keep(np.concatenate([np.zeros(self.offset, values.dtype), values]))
            child.buffers[1] = _ffi.cast("void *", shifted.ctypes.data)
            if there is not None:
                bits = self.keep(np.packbits(np.concatenate([np.zeros(self.offset, bool), there]), bitorder="little"))
                child.buffers[0], child.null_count = _ffi.cast("void *", bits.ctypes.data), int((~there).sum())
        out.length, out.n_children, out.children = self.rows[self.at], len(columns), children
        out.release = self.keep(_ffi.callback("void(struct ArrowArray *)", lambda s: self.release(s, "batch")))
        self.at += 1
        return 0

    def __arrow_c_stream__(self, requested_schema=None):
        stream = self.keep(_ffi.new("struct ArrowArrayStream *"))
        stream.get_schema = self.keep(_ffi.callback("int(struct ArrowArrayStream *, struct ArrowSchema *)",
                                                    lambda _, out: self.schema(out)))
        stream.get_next = self.keep(_ffi.callback("int(struct ArrowArrayStream *, struct ArrowArray *)",
                                                  lambda _, out: self.batch(out)))
        name = self.keep(ctypes.create_string_buffer(b"arrow_array_stream"))
        return _new_capsule(int(_ffi.cast("intptr_t", stream)), ctypes.addressof(name), None)


class Columns:
    """What pandas has: names, and columns by them."""

    def __init__(self, columns, names=None):
        self._columns, self.columns = columns, names or list(columns)

    def __getitem__(self, name):
        return self._columns[name]


class Arrow(unittest.TestCase):
    def test_columns(self):
        t = np.arange(5, dtype=np.int64) * 1_000_000
        there = np.array([True, False, True, True, False])
        first = {"t": t, "p": (np.arange(5.0), there), "n": np.arange(5, dtype=np.int32), "text": np.zeros(5, np.uint8)}
        table = Table([first, {**first, "t": t + 5_000_000}], offset=3, formats={"t": b"tDn", "text": b"u"})
        columns = columns_of(table)
        self.assertEqual(list(columns), ["t", "p", "n"])
        np.testing.assert_array_equal(columns["t"], np.arange(10) * np.timedelta64(1, "ms"))
        np.testing.assert_array_equal(columns["p"][:5], [0, np.nan, 2, 3, np.nan])
        np.testing.assert_array_equal(columns["n"], [0, 1, 2, 3, 4] * 2)
        self.assertEqual(table.released, {"schema": 1, "batch": 0})
        del columns
        gc.collect()
        self.assertEqual(table.released, {"schema": 1, "batch": 2})

    def test_not_copied(self):
        values = np.arange(8.0)
        table = Table([{"t": values}])
        columns = columns_of(table)
        address = next(a for a in table.kept if isinstance(a, np.ndarray)).ctypes.data
        self.assertEqual(columns["t"].ctypes.data, address)

    def test_replay(self):
        """The same estimates, bit for bit, of a file, a mapping, an Arrow table and one with columns, with units in names."""
        log, study = bramah.read_log(FOUR_BAR / "log.csv"), FOUR_BAR / "sensors-2.yaml"
        cut = {"t[ms]": log.time[:200] * 1e3}
        for name in log:
            cut[f"{name}[{log.units[name]}]"] = np.array(log[name][:200])
        of_file = bramah.replay(study, FOUR_BAR / "log.csv", end=0.1995)
        for table in (cut, Table([cut]), Table([{n: c[:77] for n, c in cut.items()}, {n: c[77:] for n, c in cut.items()}]),
                      Columns(cut)):
            other = bramah.replay(study, table)
            np.testing.assert_array_equal(other.time_ns, of_file.time_ns)
            for name in of_file:
                np.testing.assert_array_equal(other[name], of_file[name])

    def test_dates(self):
        """Times since 1970 keep their nanoseconds: the same estimates as of times from 0, which doubles of such times would not give."""
        log, study = bramah.read_log(FOUR_BAR / "log.csv"), FOUR_BAR / "sensors-2.yaml"
        ns = np.round(log.time[:200] * 1e9).astype(np.int64)
        cut = {name: np.array(log[name][:200]) for name in log}
        start = 1_700_000_000_123_456_789
        plain = bramah.replay(study, {"t": log.time[:200], **cut})
        for t in (Table([{"t": ns + start, **cut}], formats={"t": b"tsn:UTC"}), {"t": (ns + start).astype("M8[ns]"), **cut}):
            dated = bramah.replay(study, t)
            np.testing.assert_array_equal(dated.time_ns - start, plain.time_ns)
            for name in plain:
                np.testing.assert_array_equal(dated[name], plain[name])

    def test_mistakes(self):
        with self.assertRaisesRegex(bramah.InputError, "no column 't'"):
            bramah.replay(FOUR_BAR / "sensors-2.yaml", Table([{"time": np.arange(3.0)}]))
        with self.assertRaisesRegex(bramah.InputError, "no column 'valve'"):
            bramah.replay(FOUR_BAR / "sensors-2.yaml", Columns({"t": np.arange(3.0), "p1[bar]": np.arange(3.0)}))
        twice = Table([{"t": np.arange(3.0), "p1": np.arange(3.0), "p2": np.arange(3.0)}])
        twice.schema_names = ["t", "p1", "p1"]
        for table in (twice, Columns({"t": np.arange(3.0)}, ["t", "t"])):
            with self.assertRaisesRegex(bramah.InputError, "the table has 2 columns '(p1|t)'"):
                bramah.replay(FOUR_BAR / "sensors-2.yaml", table)
        for gap in (np.array([0, "NaT"], "m8[ms]"), np.array([0.0, np.nan])):
            with self.assertRaisesRegex(bramah.InputError, "row 2 has no time"):
                bramah.replay(FOUR_BAR / "sensors-2.yaml", {"t": gap})
        with self.assertRaisesRegex(bramah.Error, "furlong"):
            bramah.replay(FOUR_BAR / "sensors-2.yaml", Columns({"t[furlong]": np.arange(3.0)}))


if __name__ == "__main__":
    unittest.main()
