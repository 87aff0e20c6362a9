# SPDX-License-Identifier: GPL-3.0-or-later
"""MDF 4 against asammdf, sample by sample, where that can be imported: files that it writes in all of its ways, those below
BRAMAH_MDF_CONFORMANCE (a folder), and estimates that it reads. Prints how many channels agree."""
import os
import pathlib
import sys
import warnings

import numpy as np

import bramah
from bramah._bramah import ffi, lib
from common import FOUR_BAR, Case

try:
    warnings.simplefilter("ignore")
    import asammdf
    from asammdf import MDF, Signal
    from asammdf.blocks import v4_constants as v4
except Exception as error:  # whatever it lacks
    print(f"skipped: asammdf cannot be imported ({error})")
    sys.exit(77)

INTEGERS = [o + t for t in ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8") for o in "<>" if t[1] != "1" or o == "<"]
FLOATS = [o + t for t in ("f2", "f4", "f8") for o in "<>"]
LINES = {"linear": {"a": 0.25, "b": -3.0}, "rational": {"P1": 0.1, "P2": 1.0, "P3": 2.0, "P4": 0.01, "P5": 0.0, "P6": 7.0}}
TABLE = {"raw_0": 0.0, "raw_1": 3.0, "raw_2": 5.0, "raw_3": 9.0, "phys_0": 1.5, "phys_1": 2.5, "phys_2": -7.0, "phys_3": 11.0}
LINES["table"], LINES["steps"] = {**TABLE, "interpolation": True}, {**TABLE, "interpolation": False}
LINES["ranges"] = {"default": -99.0, "lower_0": 0.0, "upper_0": 2.0, "phys_0": 10.0, "lower_1": 3.0, "upper_1": 4.0, "phys_1": 20.0}
TEXTS = {"val_0": 0.0, "val_1": 1.0, "text_0": b"off", "text_1": b"on", "default": b"other"}

SIGNALS = ("small", "signed", "big", "wide")
DBC = """VERSION ""
BU_: X
BO_ 291 A: 8 X
 SG_ small : 3|11@1+ (0.5,-10) [0|0] "bar" X
 SG_ signed : 16|13@1- (0.25,0) [0|0] "deg" X
BO_ 2566853172 B: 8 X
 SG_ big : 7|12@0+ (1,0) [0|0] "" X
 SG_ wide : 24|32@1- (0.001,5) [0|0] "V" X
"""


class Log:
    """All columns of a log in SI, `dbc` as of the study: ns of each row, values [columns x rows]."""

    def __init__(self, path, dbc=None):
        diag, out = ffi.new("bramah_diag *"), ffi.new("bramah_log_reader **")
        form = ffi.new("bramah_log_format *", {"skip_bad_cells": 1})
        if dbc:
            form.dbc = self.kept = ffi.new("char[]", str(dbc).encode())
        bramah.core.check(lib.bramah_log_open(str(path).encode(), form, diag, out), diag)
        reader = ffi.gc(out[0], lib.bramah_log_close)
        info = lib.bramah_log_get_info(reader)
        n, end, rows = info.n_columns, ffi.new("int *"), []
        self.names = [ffi.string(info.columns[i].name).decode() for i in range(n)]
        self.units = [ffi.string(info.columns[i].unit).decode() for i in range(n)]
        while not end[0]:
            row, there = np.empty(n), np.empty(n, np.uint8)
            bramah.core.check(lib.bramah_log_next(reader, ffi.from_buffer("double[]", row), ffi.from_buffer("unsigned char[]", there),
                                                  end, diag), diag)
            row[there == 0] = np.nan
            rows.append(row)
        self.values = np.array(rows[:-1]).T
        self.ns = np.rint(self.values[self.names.index("t")] * 1e9)

    def has(self, name, times, samples):
        """A column of that name, whatever its group, is these samples: finite ones, each at its time. None: there is no such column."""
        found = [i for i, n in enumerate(self.names) if n == name or n.endswith("." + name) or f".{name}(" in n]
        samples = np.asarray(samples, float)
        is_number = np.isfinite(samples)
        samples, ns = samples[is_number], np.rint(np.asarray(times, float)[is_number] * 1e9)
        for i in found:
            there = ~np.isnan(self.values[i])
            if there.sum() != len(samples):
                continue
            got, wanted = self.values[i][there], samples * factor_of(self.units[i])
            if (np.abs(self.ns[there] - ns) <= 1 + 3e-16 * np.abs(ns)).all() and np.allclose(got, wanted, rtol=4e-15, atol=0):
                return True
        return False if found else None


def factor_of(unit):
    out, dimension = ffi.new("double *"), ffi.new("bramah_dimension *")
    return 1.0 if not unit or lib.bramah_unit_parse(unit.encode(), out, dimension, ffi.NULL) else out[0]


def of_ranges(conversion, raw):
    """What the standard says of whole numbers, to which both ends of a range belong; asammdf gives those between the default."""
    out = np.full(len(raw), conversion["default"])
    for k in reversed(range(conversion.val_param_nr // 3)):
        out[(raw >= conversion[f"lower_{k}"]) & (raw <= conversion[f"upper_{k}"])] = conversion[f"phys_{k}"]
    return out


class Counts:
    def __init__(self):
        self.files = self.agree = self.values = self.texts = 0
        self.wrong = []

    def compare(self, path, log=None):
        """Every channel of a file that asammdf says is numbers; arrays and structures by their parts."""
        file, log = MDF(path), log or Log(path)
        self.files += 1
        for at, group in enumerate(file.groups):
            for index, channel in enumerate(group.channels):
                if index == file.masters_db.get(at) or not group.channel_group.cycles_nr:
                    continue
                parts = list(self.parts(file, at, index, channel))
                self.texts += not parts
                for name, times, samples in parts:
                    if log.has(name, times, samples):
                        self.agree += 1
                        self.values += len(samples)
                    else:
                        self.wrong.append(f"{path}: {name}")
        file.close()

    @staticmethod
    def parts(file, group, index, channel):
        """(name, times, samples) of what is a number."""
        get = lambda raw: file.get(group=group, index=index, raw=raw, ignore_invalidation_bits=False)
        signal, raw, conversion = get(False), get(True), channel.conversion
        samples, name = signal.samples, channel.name
        if conversion is not None and conversion.conversion_type == 6 and raw.samples.dtype.kind in "iu":
            samples = of_ranges(conversion, raw.samples)
        elif samples.dtype.kind not in "fiub" and raw.samples.dtype.kind in "fiu":
            samples = raw.samples  # states with texts
        fields = {name: samples}
        if samples.dtype.names:  # of an array the first one holds it, others its axes
            is_array = samples.dtype[0].shape and samples.dtype.names[0] == name
            fields = {name: samples[name]} if is_array else {f"{name}.{n}": samples[n] for n in samples.dtype.names}
        for called, values in fields.items():
            if values.dtype.kind not in "fiub" or (values.ndim > 1 and channel.data_type > 5):
                continue
            if values.ndim == 1:
                yield called, signal.timestamps, values
            else:
                for k in np.ndindex(values.shape[1:]):
                    yield f"{called}({','.join(str(i + 1) for i in k)})", signal.timestamps, values[(slice(None), *k)]

    def report(self, what):
        print(f"{what}: {self.agree} of {self.agree + len(self.wrong)} channels of {self.files} files agree with asammdf "
              f"{asammdf.__version__}, {self.values} values; {self.texts} channels are no numbers")


def signals(n, times, draw):
    """All types and conversions, texts, bits of validity, arrays and structures."""
    all_of = [Signal(draw.integers(max(np.iinfo(t).min, -2**62), min(np.iinfo(t).max, 2**62), n).astype(t), times, name=f"{t[1:]}{t[0] == '>'}",
                     unit="bar") for t in INTEGERS]
    all_of += [Signal((100 * draw.standard_normal(n)).astype(t), times, name=f"{t[1:]}{t[0] == '>'}", unit="V") for t in FLOATS]
    few = {"u": draw.integers(0, 12, n).astype("u1"), "f": draw.uniform(-1, 12, n)}
    for name, samples in few.items():
        all_of += [Signal(samples, times, name=f"{name}.{line}", conversion=conversion, unit="km/h") for line, conversion in LINES.items()]
        all_of.append(Signal(samples, times, name=f"{name}.valid", invalidation_bits=draw.integers(0, 2, n).astype(bool)))
    all_of += [Signal(few["u"], times, name="state", conversion=TEXTS),
               Signal(np.array([b"text"] * n), times, name="words", encoding="utf-8"),
               Signal(draw.integers(-9, 100, (n, 3)).astype("i2"), times, name="row")]
    whole = np.zeros(n, [("angle", "<f8"), ("count", "<i4")])
    whole["angle"], whole["count"] = few["f"], few["u"]
    return all_of + [Signal(whole, times, name="joint")]


class Mdf(Case):
    def test_files_of_asammdf(self):
        counts, draw = Counts(), np.random.default_rng(1)
        for version in ("4.00", "4.10", "4.20", "4.30"):
            for packing in range(7 if version == "4.30" else 3):
                for columns in {False, version >= "4.20"}:
                    file = MDF(version=version, column_storage=True) if columns else MDF(version=version)
                    file.append(signals(1200, np.arange(1200) * 1e-3, draw), common_timebase=True)
                    file.append(signals(100, np.arange(100) * 0.0171 + 0.5, draw), common_timebase=True)
                    path = self.folder / f"{version}-{packing}-{columns}.mf4"
                    file.save(path, overwrite=True, compression=packing)
                    file.close()
                    counts.compare(path)
        counts.report("files written by asammdf")
        self.assertEqual(counts.wrong, [])
        self.assertGreater(counts.agree, 1000)

    def test_folder(self):
        folder = os.environ.get("BRAMAH_MDF_CONFORMANCE")
        if not folder:
            self.skipTest("BRAMAH_MDF_CONFORMANCE names no folder with MDF files")
        counts, refused = Counts(), []
        for path in sorted(p for p in pathlib.Path(folder).rglob("*") if p.suffix.lower() in (".mf4", ".mdf")):
            try:
                log = Log(path)
            except bramah.Error as error:
                refused.append(f"{path.name}: {error}")
                continue
            counts.compare(path, log)
        counts.report(folder)
        print(*(f"refused: {r}" for r in refused), sep="\n")
        self.assertEqual(counts.wrong, [])
        self.assertGreater(counts.agree, 0)

    def test_bus_logging(self):
        """CAN frames by a DBC file, as asammdf decodes them."""
        n, draw = 400, np.random.default_rng(2)
        frames = np.zeros(n, [("CAN_DataFrame.BusChannel", "u1"), ("CAN_DataFrame.ID", "<u4"), ("CAN_DataFrame.IDE", "u1"),
                              ("CAN_DataFrame.DLC", "u1"), ("CAN_DataFrame.DataLength", "u1"), ("CAN_DataFrame.DataBytes", "u1", (8,))])
        frames["CAN_DataFrame.BusChannel"] = 1
        frames["CAN_DataFrame.ID"], frames["CAN_DataFrame.IDE"] = np.array([(0x123, 0), (0x18FF1234, 1), (0x55, 0)])[draw.integers(0, 3, n)].T
        frames["CAN_DataFrame.DLC"] = frames["CAN_DataFrame.DataLength"] = 8
        frames["CAN_DataFrame.DataBytes"] = draw.integers(0, 250, (n, 8))
        dbc, path, counts = self.folder / "a.dbc", self.folder / "bus.mf4", Counts()
        dbc.write_text(DBC)
        for version, packing in (("4.10", 0), ("4.10", 2), ("4.20", 1), ("4.30", 3)):
            source = asammdf.blocks.source_utils.Source("CAN", "CAN", "", v4.SOURCE_BUS, v4.BUS_TYPE_CAN)
            file = MDF(version=version)
            file.append([Signal(frames, np.arange(n) * 1e-3, name="CAN_DataFrame", source=source)], acq_source=source, common_timebase=True)
            file.groups[0].channel_group.flags |= v4.FLAG_CG_BUS_EVENT
            file.save(path, overwrite=True, compression=packing)
            file.close()
            file = MDF(path)
            decoded, log = file.extract_bus_logging({"CAN": [(str(dbc), 0)]}), Log(path, dbc)
            counts.files += 1
            for name in SIGNALS:
                signal = decoded.get(name, raw=False)
                if log.has(name, signal.timestamps, signal.samples):
                    counts.agree, counts.values = counts.agree + 1, counts.values + len(signal.samples)
                else:
                    counts.wrong.append(f"{version}: {name}")
            file.close()
        counts.report("signals of bus logging")
        self.assertEqual(counts.wrong, [])
        self.assertEqual(counts.agree, 4 * len(SIGNALS))

    def test_estimates(self):
        """asammdf reads what bramah writes, with names and units; values are those of the CSV, to its digits."""
        for suffix in ("mf4", "csv"):
            self.program("replay", FOUR_BAR / "sensors-2.yaml", FOUR_BAR / "log.csv", "--output", self.folder / f"estimate.{suffix}")
        csv = bramah.read_log(self.folder / "estimate.csv")
        file, counts = MDF(self.folder / "estimate.mf4"), Counts()
        counts.compare(self.folder / "estimate.mf4")
        counts.report("estimates")
        self.assertEqual(counts.wrong, [])
        self.assertEqual(counts.agree, len(list(csv)))
        for name in csv:
            signal = file.get(name)
            self.assertEqual(signal.unit, csv.units[name])
            np.testing.assert_allclose(signal.samples, csv[name], rtol=1e-4, atol=1e-6)
        file.close()
