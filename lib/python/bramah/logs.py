# SPDX-License-Identifier: GPL-3.0-or-later
"""Logs and estimates as files: reading, writing, comparing; every mistake of a file, and what is doubted of it."""
from __future__ import annotations

import os
from typing import Any, List, Mapping, Optional, Sequence, Union

import numpy as np

from bramah._bramah import ffi, lib
from bramah.core import (Error, InputError, Path, Record, Series, Texts, check, error_of, nanoseconds, owned, path_bytes,
                         record, text_of, word)
from bramah.machine import Machine
from bramah.session import Session


def read_log(path: Path, time: str = "t", *, dbc: Union[Path, Sequence[Path], None] = None) -> Series:
    """A file of columns (CSV with name[unit] headers, MAT, HDF5, MDF 4, MCAP or a bag of ROS 1), or of CAN frames with the DBC file or
    files that say what is in them (as `log: dbc:` of a study), as a Series in SI; nan: an empty cell. What else a study says of how its logs are written
    (`log:`, counts, clocks) is heeded by replays, not here."""
    diag, out = ffi.new("bramah_diag *"), ffi.new("bramah_log_reader **")
    files = [] if dbc is None else [dbc] if isinstance(dbc, (str, bytes, os.PathLike)) else dbc
    names_of_files = ffi.new("char[]", b"\n".join(map(path_bytes, files)))
    form = ffi.new("bramah_log_format *", {"dbc": names_of_files})
    check(lib.bramah_log_open(path_bytes(path), form, diag, out), diag)
    reader = owned(out[0], lib.bramah_log_close)
    info = lib.bramah_log_get_info(reader)
    n = info.n_columns
    names = [text_of(info.columns[i].name) for i in range(n)]
    units = []
    for i in range(n):
        unit = text_of(info.columns[i].unit)
        units.append(_si_of(unit))
    blocks, end = [], ffi.new("int *")
    while not end[0]:
        block, present = np.empty((4096, n)), np.empty((4096, n), np.uint8)
        values, there = ffi.from_buffer("double[]", block), ffi.from_buffer("unsigned char[]", present)
        rows = 0
        while rows < len(block):
            check(lib.bramah_log_next(reader, values + rows * n, there + rows * n, end, diag), diag)
            if end[0]:
                break
            rows += 1
        block[present == 0] = np.nan
        blocks.append(block[:rows].T)
    table = np.concatenate(blocks, axis=1)
    if time not in names:
        return Series(np.arange(table.shape[1], dtype=np.float64), names, units, table)
    k = names.index(time)
    others = [i for i in range(n) if i != k]
    return Series(table[k].copy(), [names[i] for i in others], [units[i] for i in others],
                  np.ascontiguousarray(table[others]))


_SI = ("m", "kg", "s", "V", "rad")


def _si_of(unit: str) -> str:
    """The SI unit that values in `unit` are given in: "bar" is "kg/m/s^2" to its dimension, "Pa" to people."""
    if unit in ("", "1"):
        return unit
    known = ("rad", "rad/s", "rad/s^2", "m", "m/s", "m/s^2", "Pa", "V", "N", "N*m", "kg", "s", "m^3/s", "J", "W", "Hz",
             "m^3", "Pa/s", "1")
    diag, out, dimension = ffi.new("bramah_diag *"), ffi.new("double *"), ffi.new("bramah_dimension[2]")
    check(lib.bramah_unit_parse(unit.encode(), out, dimension, diag), diag)
    if out[0] == 1.0:
        return unit
    for name in known:
        check(lib.bramah_unit_parse(name.encode(), out, dimension + 1, diag), diag)
        if bytes(ffi.buffer(dimension + 0)) == bytes(ffi.buffer(dimension + 1)):
            return name
    powers = (dimension[0].m, dimension[0].kg, dimension[0].s, dimension[0].volt, dimension[0].rad)
    return "*".join(f"{u}^{p / 2:g}" for u, p in zip(_SI, powers) if p)


def write_log(path: Path, columns: Mapping[str, Any], units: Optional[Mapping[str, str]] = None, *,
              digits: int = 10, verdict: Optional[Any] = None) -> None:
    """Write columns [n] in SI as a log, the time "t" [s] first: a Series, or a mapping with "t" and `units` {name: unit, SI}.
    A name that ends in .mat is a MAT file, in .mf4 MDF 4.10, in .mcap MCAP; others are CSV. nan gives an empty cell. digits: 1 to 17 (17: to the last bit).
    verdict: of the Replay the columns are from, by itself where they are one: kept in path.verdict, as the program does."""
    verdict = verdict or getattr(columns, "verdict", None)
    series = isinstance(columns, Series)
    time = columns.time if series else columns.get("t")
    if time is None:
        raise InputError("there is no column 't' with the times [s]", "E_COLUMN", thing="t")
    units = columns.units if series and units is None else (units or {})  # type: ignore[attr-defined]
    names = [n for n in columns if n != "t"]
    table = np.ascontiguousarray(np.column_stack([np.asarray(time, np.float64)] + [
        np.asarray(columns[n], np.float64) for n in names]))
    diag, out = ffi.new("bramah_diag *"), ffi.new("bramah_log_writer **")
    check(lib.bramah_log_create(path_bytes(path), diag, out), diag)
    status = lib.bramah_log_add_column(out[0], b"t", b"s", max(digits, 15), diag)
    for name in names:
        status = status or lib.bramah_log_add_column(out[0], name.encode(), units.get(name, "").encode(), digits, diag)
    values = ffi.from_buffer("double[]", table)
    for i in range(len(table)):
        status = status or lib.bramah_log_write(out[0], values + i * table.shape[1], diag)
    if status:
        lib.bramah_log_abandon(out[0], ffi.new("bramah_diag *"))
        check(status, diag)
    check(lib.bramah_log_finish(out[0], diag), diag)
    if verdict is not None:
        check(lib.bramah_verdict_keep(path_bytes(path), verdict.reason.encode(), diag), diag)


def write_mat(path: Path, variables: Mapping[str, Any]) -> None:
    """Write matrices [n x m] (vectors are columns) and lists of texts, by names, as a MAT file of version 5 for MATLAB, Octave or
    SciPy: {"A": system.A, "states": list(system.states)}. Logs: write_log."""
    kept: List[Any] = []
    wanted = ffi.new("bramah_mat_variable[]", len(variables))
    for to, (name, value) in zip(wanted, variables.items()):
        is_text = not isinstance(value, np.ndarray) and len(value) > 0 and all(isinstance(text, str) for text in value)
        what: Any = Texts(text.encode() for text in value) if is_text else np.array(value, np.float64, order="C")
        if not is_text and what.ndim != 2:
            what = what.reshape(-1, 1)
        kept += [what, ffi.new("char[]", name.encode())]
        to.name, to.n_rows, to.n_columns = kept[-1], what.n if is_text else what.shape[0], 1 if is_text else what.shape[1]
        if is_text:
            to.texts = what.array
        else:
            to.values = ffi.from_buffer("double[]", what)
    diag = ffi.new("bramah_diag *")
    check(lib.bramah_mat_write(path_bytes(path), len(variables), wanted, diag), diag)


def noise(seed: int, name: str, n: int, sigma: float = 1.0) -> np.ndarray:
    """The first n samples of the stream of this seed and name, normal with standard deviation sigma [n]: `name` of a sensor: what
    simulate() adds to it, whatever other sensors there are."""
    diag, out = ffi.new("bramah_diag *"), ffi.new("bramah_noise **")
    check(lib.bramah_noise_new(seed, name.encode(), diag, out), diag)
    stream = owned(out[0], lib.bramah_noise_free)
    return np.array([lib.bramah_noise_gaussian(stream, sigma) for _ in range(n)])


@ffi.def_extern(name="py_bramah_mistake")
def _mistake(user: Any, diag: Any) -> None:
    ffi.from_handle(user).append(error_of(diag))


def check_file(path: Path) -> List[Error]:
    """Every mistake of a machine file, a study (with its machine) or a plan, as exceptions that were not raised: each has
    file, line, column, thing, message. Empty: there is none."""
    mistakes: List[Error] = []
    handle = ffi.new_handle(mistakes)
    lib.bramah_file_check(path_bytes(path), lib.py_bramah_mistake, handle, ffi.NULL)
    return mistakes


def doubt_of(doubt: Any) -> Record:
    """A bramah_doubt as a Record: kind ("unit", "sign", "place", ...), certain, value; file, line, column, thing, message and text
    as an Error has them."""
    error = error_of(ffi.addressof(doubt, "diag"))
    return Record({"kind": word(ffi.typeof("bramah_doubt_kind"), doubt.kind), "certain": bool(doubt.certain),
                   "value": doubt.value, "file": error.file, "line": error.line, "column": error.column,
                   "thing": error.thing, "message": error.message, "text": str(error)}, "doubt")


def look_over(of: Any, *logs: Path, motion: bool = True, start: Optional[float] = None,
              end: Optional[float] = None) -> List[Record]:
    """What a colleague would doubt of a machine, or of a study with its logs, as `bramah check` says it: values that no machine
    has, columns off by a known factor, signs, exchanged sensors, steps that do not go with the samples. What is certain first;
    empty: nothing. of: a Session or Machine, or the path of a study or machine file. motion: run the model along with the first
    20 s, too. start, end: [s] of the log.

    Each is a Record: kind ("value", "unit", "sign", "place", "stuck", "time", "start", "noise", "size"; of a replay "process_noise" too), certain (it cannot be
    right, whatever the machine does), value (what was measured: a ratio, a correlation, SI), and file, line, column, thing, message,
    text as of an Error. Mistakes that reading meets are none: see check_file and replay."""
    if not isinstance(of, (Machine, Session)):
        is_study = lib.bramah_file_kind_of(path_bytes(of)) == lib.BRAMAH_FILE_STUDY
        of = Session(of, alarm=False) if is_study else Machine(of)
    diag, out = ffi.new("bramah_diag *"), ffi.new("bramah_plausibility **")
    if isinstance(of, Machine):
        if logs:
            raise InputError("logs are looked at with a study", "E_ARGUMENT")
        with of._guard:
            check(lib.bramah_plausibility_of_machine(of._machine, diag, out), diag)
    else:
        texts, options = Texts(logs), ffi.new("bramah_plausibility_options *")
        lib.bramah_plausibility_options_default(options)
        options.motion = motion
        options.from_ns, options.to_ns = nanoseconds(start, options.from_ns), nanoseconds(end, options.to_ns)
        with of._guard:
            check(lib.bramah_plausibility_new(of._session, texts.n, texts.array, options, diag, out), diag)
    found = owned(out[0], lib.bramah_plausibility_free)
    return [doubt_of(found.doubt[i]) for i in range(found.n)]


def compare(a: Path, b: Path, *, columns: Sequence[str] = (), tolerances: Optional[Mapping[str, str]] = None,
            relative: float = 0.0, sigmas: float = 0.0, turns: bool = False, start: Optional[float] = None,
            end: Optional[float] = None, within: float = 0.0) -> Record:
    """How far two files of estimates, or estimates and truth, differ: a bramah_comparison. tolerances: {column: "0.1 deg"};
    within: rows whose times differ by so much [s] are a pair. The other options are those of bramah_compare_options."""
    options = ffi.new("bramah_compare_options *")
    lib.bramah_compare_options_default(options)
    chosen = Texts(columns)
    texts = Texts(x for pair in (tolerances or {}).items() for x in pair)
    allowed = ffi.new("bramah_tolerance[]", [tuple(texts.kept[i:i + 2]) for i in range(0, texts.n, 2)])
    options.n_columns, options.columns = chosen.n, chosen.array
    options.n_tolerances, options.tolerances = texts.n // 2, allowed
    options.relative, options.sigmas, options.turns = relative, sigmas, turns
    options.from_ns, options.to_ns = nanoseconds(start, options.from_ns), nanoseconds(end, options.to_ns)
    options.within_ns = nanoseconds(within)
    diag, out = ffi.new("bramah_diag *"), ffi.new("bramah_comparison **")
    check(lib.bramah_compare(path_bytes(a), path_bytes(b), options, diag, out), diag)
    found = out[0]
    result = record(found, columns=found.n_columns)
    first = record(found.first) if found.first else None
    lib.bramah_comparison_free(found)
    return Record({**{k: v for k, v in result.__dict__.items() if k[0] != "_"}, "first": first}, "comparison")
