# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests share: shipped files, a scratch folder, the program."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import bramah

ROOT = pathlib.Path(os.environ["BRAMAH_SOURCE_ROOT"])
FOUR_BAR = ROOT / "datasets" / "four-bar"


class Case(unittest.TestCase):
    """A scratch folder for each test."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="bramah-python-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def study(self, **lines):
        """A copy of the four-bar's study with lines of its file replaced: old="new"."""
        text = (FOUR_BAR / "sensors-2.yaml").read_text()
        text = text.replace("machine: ", f"machine: {FOUR_BAR}/")
        for old, new in lines.get("replace", {}).items():
            self.assertIn(old, text)
            text = text.replace(old, new, 1)
        path = self.folder / "study.yaml"
        path.write_text(text + lines.get("more", ""))
        return path

    def program(self, *arguments, code=0):
        """Run the program; what it printed."""
        done = subprocess.run([os.environ["BRAMAH_PROGRAM"], *map(str, arguments)], capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout

    def fails(self, kind, status, call, *arguments, **named):
        """The Error of this kind and status that a call raises."""
        with self.assertRaises(kind) as caught:
            call(*arguments, **named)
        self.assertEqual(caught.exception.status, status, str(caught.exception))
        return caught.exception
