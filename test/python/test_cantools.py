# SPDX-License-Identifier: GPL-3.0-or-later
"""CAN: what cantools expects. BRAMAH_CANTOOLS is a folder with the repository of cantools; its packages (bitstruct, textparser,
argparse-addons, crccheck, diskcache, parameterized) can be imported. Its own tests are run, and what they decode from DBC files is
decoded here; then random frames of every message of its DBC files. The counts are printed."""
import collections
import importlib
import io
import logging
import math
import os
import pathlib
import random
import re
import sys
import unittest
import warnings

FOLDER = os.environ.get("BRAMAH_CANTOOLS")
if not FOLDER:
    print("skipped: BRAMAH_CANTOOLS names no folder with the repository of cantools")
    sys.exit(77)

from common import Case  # noqa: E402

import bramah  # noqa: E402

NOTHING = ("sna", "n/a", "na", "not available", "not_available", "notavailable", "invalid", "signal not available",
           "signalnotavailable", "error", "error indicator")
FRAMES = 30  # of each message, at random


def physical(message, decoded):
    """Numbers of what cantools decoded, without texts."""
    out = {}
    for name, value in decoded.items():
        signal = message.get_signal_by_name(name)
        raw = getattr(value, "value", None)  # of a text
        out[name] = value if raw is None else signal.conversion.raw_to_scaled(raw, decode_choices=False)
    return out


def may_be_none(message, name, value):
    """A value that is said to be no measurement, by its text, or in J1939, or is no number."""
    signal = message.get_signal_by_name(name)
    raw = signal.scaled_to_raw(value) if math.isfinite(value) else None
    text = str((signal.choices or {}).get(raw, "")).lower()
    top = raw is not None and not signal.is_signed and signal.length > 1 and raw >= 251 << max(signal.length - 8, 0)
    top |= raw is not None and signal.length < 8 and raw >= (1 << signal.length) - 2
    is_j1939 = message.protocol == "j1939" or (message.is_extended_frame and message.frame_id & 0xff == 0xfe)
    return raw is None or text in NOTHING or (is_j1939 and top)


class Cantools(Case):
    def setUp(self):
        super().setUp()
        self.counts = collections.Counter()
        self.wrong = []
        here = os.getcwd()
        self.addCleanup(os.chdir, here)
        os.chdir(FOLDER)
        sys.path[:0] = [str(pathlib.Path(FOLDER) / "src"), FOLDER]
        warnings.simplefilter("ignore")
        logging.disable()
        self.addCleanup(logging.disable, logging.NOTSET)
        try:
            self.database = importlib.import_module("cantools.database")
        except ImportError as missing:
            self.skipTest(f"cantools cannot be imported from BRAMAH_CANTOOLS: {missing}")

    def columns(self, text, frames):
        """What is decoded of frames (message, data) by a DBC: for each a dictionary of its signals. The units are taken out, so that
        numbers stay as they are."""
        text = re.sub(r'(?m)^(\s*SG_ .*?\][ \t]*)"[^"]*"', r'\1""', text)
        dbc, log = self.folder / "x.dbc", self.folder / "x.candump"
        dbc.write_bytes(text.encode("cp1252", "replace"))
        with open(log, "w") as out:
            for i, (message, data) in enumerate(frames):
                name = f"{message.frame_id:08X}" if message.is_extended_frame else f"{message.frame_id:03X}"
                out.write(f"({i}.0) can0 {name}#{'#0' if len(data) > 8 else ''}{data.hex()}\n")
        series = bramah.read_log(log, dbc=dbc)
        rows = {int(t): k for k, t in enumerate(series.time)}
        found = []
        for i, (message, _) in enumerate(frames):
            start = message.name + "."
            found.append({name[len(start):]: series[name][rows[i]] for name in series
                          if name.startswith(start) and not math.isnan(series[name][rows[i]])} if i in rows else {})
        return found

    def compare(self, kind, text, cases):
        """cases: (message, data, {signal: number})."""
        try:
            found = self.columns(text, [case[:2] for case in cases])
        except bramah.Error as error:
            if error.status != "E_EMPTY":
                self.wrong.append(f"{cases[0][0].name}: {error}")
                return
            found = [{}] * len(cases)  # no frame had a sample
        for (message, data, expected), got in zip(cases, found):
            good = not set(got) - set(expected)
            for name, value in expected.items():
                same = name in got and math.isclose(got[name], value, rel_tol=1e-14, abs_tol=1e-300)
                none = name not in got and may_be_none(message, name, value)
                self.counts[kind + " values"] += 1
                self.counts[kind + " values right"] += same
                self.counts[kind + " no sample"] += none
                good &= same or none
            self.counts[kind + " messages"] += 1
            self.counts[kind + " messages right"] += good
            if not good:
                self.wrong.append(f"{kind}: {message.name} {data.hex()}: {expected}, but {got}")

    def say(self, kind):
        c = self.counts
        print(f"\n{kind}: {c[kind + ' messages right']} of {c[kind + ' messages']} messages decode as in cantools, "
              f"{c[kind + ' values right']} of {c[kind + ' values']} values are equal, {c[kind + ' no sample']} mean no sample")
        self.assertGreater(c[kind + " values right"], 100)

    def test_expectations(self):
        """Every message that a passing test of cantools decodes."""
        can, texts, records = self.database.can, {}, []
        decode, add = can.Message.decode, can.Database.add_dbc_string

        def record(message, data, decode_choices=True, scaling=True, *more, **named):
            result = decode(message, data, decode_choices, scaling, *more, **named)
            if message in texts and scaling and isinstance(result, dict) and len(data) <= 64:
                records.append((texts[message], message, bytes(data), physical(message, result)))
            return result

        def note(database, string, *more, **named):
            add(database, string, *more, **named)
            for message in database.messages:
                texts.setdefault(message, string)

        can.Message.decode, can.Database.add_dbc_string = record, note
        can.Message.__hash__ = lambda message: id(message)
        passed = []

        class Result(unittest.TestResult):
            def startTest(self, test):
                super().startTest(test)
                records.clear()

            def addSuccess(self, test):
                super().addSuccess(test)
                passed.extend(records)

        result = Result()
        real, sys.stdout = sys.stdout, io.StringIO()
        try:
            for name in ("tests.test_database", "tests.test_command_line"):
                unittest.defaultTestLoader.loadTestsFromName(name).run(result)
        finally:
            sys.stdout = real
            can.Message.decode, can.Database.add_dbc_string = decode, add
        by_text = collections.defaultdict(list)
        for text, *case in passed:
            by_text[text].append(case)
        for text, cases in by_text.items():
            self.compare("tests of cantools", text, cases)
        print(f"\n{result.testsRun - len(result.failures) - len(result.errors)} of {result.testsRun} tests of cantools pass here")
        self.say("tests of cantools")
        self.assertEqual(self.wrong, [])

    def test_random_frames(self):
        """Of every message of every DBC file that cantools reads."""
        files = sorted(pathlib.Path("tests/files/dbc").glob("*.dbc"))
        read = 0
        random.seed(27)
        for path in files:
            try:
                database = self.database.load_file(path)
            except Exception:  # some are there to be refused
                continue
            read += 1
            cases = []
            for message in database.messages:
                for _ in range(FRAMES if 0 < message.length <= 64 else 0):
                    data = random.randbytes(message.length)
                    try:
                        decoded = message.decode(data, decode_choices=False)
                    except (self.database.DecodeError, KeyError):  # of a multiplexer without such a value
                        continue
                    cases.append((message, data, physical(message, decoded)))
            if cases:
                self.compare("random frames", path.read_bytes().decode("cp1252"), cases)
        print(f"\ncantools reads {read} of its {len(files)} DBC files")
        self.say("random frames")
        self.assertEqual(self.wrong, [])


if __name__ == "__main__":
    unittest.main()
