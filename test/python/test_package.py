# SPDX-License-Identifier: GPL-3.0-or-later
"""The package as a reader and a type checker see it, and the listing of the README."""
import inspect
import os
import pathlib
import re
import subprocess
import sys
import typing
import unittest

import bramah
from common import ROOT, Case


def public(owner):
    """Functions, methods and properties that users call."""
    members = {n: t for base in reversed(owner.__mro__) if base.__module__.startswith("bramah") for n, t in vars(base).items()}
    for name, thing in members.items():
        if name.startswith("_") and name != "__init__":
            continue
        if isinstance(thing, property):
            yield name, thing.fget
        elif inspect.isfunction(thing) or isinstance(thing, (classmethod, staticmethod)):
            yield name, getattr(thing, "__func__", thing)


class Package(Case):
    def test_documented_and_typed(self):
        """Everything that can be imported says what it is, and which types it takes and gives; py.typed is there."""
        package = pathlib.Path(bramah.__file__).parent
        self.assertTrue((package / "py.typed").exists())
        seen = 0
        for name, thing in vars(bramah).items():
            if name.startswith("_") or inspect.ismodule(thing) or not callable(thing):
                continue
            self.assertTrue(inspect.getdoc(thing), name)
            functions = list(public(thing)) if inspect.isclass(thing) else [(name, thing)]
            for member, function in functions:
                label = f"{name}.{member}"
                hints = typing.get_type_hints(function)
                parameters = [p for p in inspect.signature(function).parameters.values() if p.name not in ("self", "cls")]
                missing = [p.name for p in parameters if p.name not in hints]
                self.assertEqual(missing, [], label)
                self.assertIn("return", {**hints, **({"return": 0} if member == "__init__" else {})}, label)
                if member != "__init__" and not issubclass(thing if inspect.isclass(thing) else object, Exception):
                    self.assertTrue(inspect.getdoc(getattr(thing, member, function)), label)
                seen += 1
        self.assertGreater(seen, 80)

    def test_every_error_is_there(self):
        """Each status of the library becomes an exception of the class that the text says."""
        from bramah._bramah import ffi, lib
        from bramah.core import check
        for number, name in ffi.typeof("bramah_status").elements.items():
            if number:
                diag = ffi.new("bramah_diag *", {"status": number, "line": 3, "file": b"f.yaml", "message": b"text"})
                with self.assertRaises(bramah.Error) as caught:
                    check(number, diag)
                e = caught.exception
                self.assertEqual((e.status, e.file, e.line, e.message), (name[7:], "f.yaml", 3, "text"))
                self.assertEqual(str(e), "f.yaml:3: text")
        self.assertTrue(issubclass(bramah.InputError, ValueError))
        self.assertEqual(bramah.__version__, ffi.string(lib.bramah_version()).decode())

    def test_listing_of_the_readme(self):
        subprocess.run(["sh", ROOT / "test" / "support" / "fenced.sh", ROOT / "README.md"], cwd=self.folder, check=True)
        listing = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)
        self.assertEqual(len(listing), 1)
        (self.folder / "listing.py").write_text(listing[0])
        done = subprocess.run([sys.executable, "listing.py"], cwd=self.folder, capture_output=True, text=True,
                              env=dict(os.environ))
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stderr)
        self.assertIn("no contradiction found", done.stdout)


if __name__ == "__main__":
    unittest.main()
