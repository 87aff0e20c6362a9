# SPDX-License-Identifier: GPL-3.0-or-later
"""Long runs: tuning a study on logs, sweeps over its values, sensor studies. All use all processors, let other threads run and
end cleanly on KeyboardInterrupt."""
from __future__ import annotations

import threading
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, Union

import numpy as np

from bramah._bramah import ffi, lib
from bramah.core import (Path, Record, Texts, check, index_of, owned, path_bytes, record, text_of, words_of)
from bramah.logs import doubt_of


class _Run:
    """A call of the library on a thread of its own, while this one waits for it and for KeyboardInterrupt. `user`: what its
    functions are given."""

    def __init__(self, progress: Optional[Callable[[Record], Any]] = None):
        self.state = ffi.new("py_run *")
        self.told: Dict[str, Any] = {"progress": progress, "notes": [], "failure": None, "state": self.state}
        self.handle = ffi.new_handle(self.told)
        self.state.handle = self.handle

    def fill(self, options: Any, truths: Sequence[Path], strict: bool, journal: Optional[Path], threads: int) -> List[Any]:
        """The part that tunings and sweeps share; keep what is returned while they run."""
        texts, name = Texts(truths), ffi.new("char[]", path_bytes(journal)) if journal is not None else ffi.NULL
        options.n_threads, options.n_truths, options.truths = threads, texts.n, texts.array
        options.strict, options.journal, options.user = strict, name, self.state
        options.stopped, options.tell = lib.py_stopped, lib.py_bramah_tune_run_tell
        return [texts, name]

    def call(self, function: Callable[[], int]) -> int:
        """What the call returns; what a callback raised, and KeyboardInterrupt, come out once it has ended."""
        result: List[int] = []
        thread = threading.Thread(target=lambda: result.append(function()), daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(0.5)
        except BaseException:
            self.state.stop = 1
            thread.join()
            raise
        if self.told["failure"] is not None:
            raise self.told["failure"]
        return result[0]


def _told(user: Any) -> Dict[str, Any]:
    return ffi.from_handle(ffi.cast("py_run *", user).handle)


def _report(told: Dict[str, Any], what: Any) -> None:
    try:
        if told["progress"] is not None and told["progress"](what):
            told["state"].enough = 1
    except BaseException as failure:  # comes out of the call that is under way
        told["failure"] = failure
        told["state"].stop = 1


@ffi.def_extern(name="py_bramah_tune_run_tell")
def _tell(user: Any, note: Any) -> None:
    _told(user)["notes"].append(text_of(note))


@ffi.def_extern(name="py_bramah_tune_options_progress")
def _progress(user: Any, progress: Any) -> None:
    _report(_told(user), record(progress))


@ffi.def_extern(name="py_bramah_sensor_study_progress")
def _study_progress(user: Any, done: int) -> None:
    _report(_told(user), int(done))


class Tuning:
    """What a tuning found: `values` by their paths, each a bramah_tuned_value in its own unit (before, found, low, high: the
    95 % interval, nan: not known; at_bound, flat, with_, correlation); ending ("converged", ...), converged, cost, criterion,
    evaluations, replays, logs, nis_before, nis_after [n logs], consistency, folds, left_out, warnings, notes; doubt (as of
    look_over, None: nothing is doubted with the values found) and doubted_log. See include/bramah/tune.h."""

    def __init__(self, tuning: Any, notes: Sequence[str]):
        self._tuning, self.notes = tuning, tuple(notes)
        r = lib.bramah_tuning_result(tuning)
        self.values: Dict[str, Record] = {}
        for i in range(r.n):
            value = r.values[i]
            fields = {k: v for k, v in record(value, also=value.n_also).__dict__.items() if k[0] != "_"}
            fields["with_"] = text_of(r.values[fields.pop("with")].path)
            fields["profile"] = None if not value.profile.n else Record({
                "x": _array(value.profile.x, value.profile.n), "cost": _array(value.profile.cost, value.profile.n),
                "low": value.profile.low, "high": value.profile.high}, "tune_profile")
            self.values[text_of(value.path)] = Record(fields, "tuned_value")
        of = record(r, logs=r.n_logs, nis_before=r.n_logs, nis_after=r.n_logs, left_out=r.n_left_out,
                    consistency=r.n_consistency, warnings=r.n_warnings)
        self.ending, self.criterion, self.converged = of.ending, of.criterion, bool(of.converged)
        self.iterations, self.evaluations, self.replays, self.cost = of.iterations, of.evaluations, of.replays, of.cost
        self.logs, self.nis_before, self.nis_after = of.logs, of.nis_before, of.nis_after
        self.left_out, self.consistency, self.warnings = of.left_out, of.consistency, of.warnings
        self.doubt = doubt_of(r.doubt[0]) if r.doubt else None
        self.doubted_log = of.doubted_log
        self.folds = tuple(record(r.folds[i], held=r.folds[i].n_held, x=r.n) for i in range(r.n_folds))

    def __getitem__(self, path: str) -> Record:
        return self.values[list(self.values)[index_of(path, list(self.values), "tuned value")]]

    def write(self, path: Path) -> None:
        """The study with the values found in place of its own, each with a comment on its interval."""
        diag = ffi.new("bramah_diag *")
        check(lib.bramah_tuning_write(self._tuning, path_bytes(path), ffi.NULL, diag), diag)

    def __repr__(self) -> str:
        found = ", ".join(f"{p} {v.before:.4g} -> {v.found:.4g} {v.unit}" for p, v in self.values.items())
        return f"<Tuning: {self.ending}; {found}>"


def _array(pointer: Any, n: int) -> np.ndarray:
    return np.array([pointer[i] for i in range(n)])


def _number(kind: str, name: Optional[str]) -> int:
    """Number of an enumerator by its word; -1: the study's."""
    if name is None:
        return -1
    words = words_of(kind)
    return list(words)[index_of(name, list(words.values()), "choice")]


def _list(paths: Union[Path, Sequence[Path]]) -> List[Path]:
    return [paths] if isinstance(paths, (str, bytes)) or hasattr(paths, "__fspath__") else list(paths)  # type: ignore


def tune(study: Path, logs: Union[Path, Sequence[Path]], *, truths: Union[Path, Sequence[Path]] = (),
         criterion: Optional[str] = None, method: Optional[str] = None, budget: int = 0, folds: int = 0, profile: int = 0,
         held: int = 0, start_from_study: bool = False, strict: bool = False, journal: Optional[Path] = None,
         threads: int = 0, progress: Optional[Callable[[Record], Any]] = None) -> Tuning:
    """Find the values that the study's section `tune` names from logs, as `bramah tune` does.

    criterion: "likelihood", "nis", "rmse", "prediction"; method: "scoring", "simplex" (None: the study's). truths: true motion
    of the first logs. budget: candidates at most; folds: cross-validation; profile: points to each side; held: the last so many
    logs are only judged; start_from_study: begin with its values; strict: a log that cannot be used is an Error; journal: a
    file to go on from. progress: called with phase, evaluations, replays, best; what it returns true for is enough."""
    run, options = _Run(progress), ffi.new("bramah_tune_options *")
    lib.bramah_tune_options_default(options)
    kept = run.fill(options.run, _list(truths), strict, journal, threads)
    options.criterion, options.method = _number("bramah_tune_criterion", criterion), _number("bramah_tune_method", method)
    options.start_from_study, options.budget, options.folds = start_from_study, budget, folds
    options.profile, options.n_held = profile, held
    options.progress, options.enough = lib.py_bramah_tune_options_progress, lib.py_enough
    files, diag, out = Texts(_list(logs)), ffi.new("bramah_diag *"), ffi.new("bramah_tuning **")
    name = path_bytes(study)
    status = run.call(lambda: lib.bramah_tune(name, files.n, files.array, options, diag, out))
    check(status, diag)
    del kept
    return Tuning(owned(out[0], lib.bramah_tuning_free), run.told["notes"])


def sweep(study: Path, logs: Union[Path, Sequence[Path]], vary: Sequence[str] = (), *, latin: int = 0, seed: int = 1,
          truths: Union[Path, Sequence[Path]] = (), ahead: int = 0, strict: bool = False, journal: Optional[Path] = None,
          threads: int = 0) -> Iterator[Record]:
    """Many candidates on the same logs: vary: "volumes.v1.noise=0.1 bar, 1 bar" or "...=0.1 bar .. 10 bar: 5 log", a grid, or
    with `latin` a Latin hypercube of so many points. Gives a Record for each: values {name: text}, `all` and `logs`
    (bramah_tune_verdict: cost, nis, rmse, ...). An iterator: the points come as they are done."""
    run, options = _Run(), ffi.new("bramah_sweep_options *")
    lib.bramah_sweep_options_default(options)
    kept = run.fill(options.run, _list(truths), strict, journal, threads)
    texts, files = Texts(vary), Texts(_list(logs))
    options.n_vary, options.vary, options.latin, options.seed, options.ahead = texts.n, texts.array, latin, seed, ahead
    diag, out = ffi.new("bramah_diag *"), ffi.new("bramah_sweep **")
    name = path_bytes(study)
    check(run.call(lambda: lib.bramah_sweep_open(name, files.n, files.array, options, diag, out)), diag)
    sweep_ = owned(out[0], lib.bramah_sweep_close, kept, texts, files, options, run.state, run.handle)
    return _points(run, sweep_, diag)


def _points(run: _Run, sweep_: Any, diag: Any) -> Iterator[Record]:
    point, end = ffi.new("bramah_sweep_point *"), ffi.new("int *")
    while True:
        check(run.call(lambda: lib.bramah_sweep_next(sweep_, point, end, diag)), diag)
        if end[0]:
            return
        of = lib.bramah_sweep_get_summary(sweep_)
        yield Record({"values": {text_of(of.names[i]): text_of(point.values[i]) for i in range(of.n)},
                      "all": record(point.all), "logs": tuple(record(point.logs[i]) for i in range(of.n_logs))},
                     "sweep_point")


class SensorStudy:
    """A sensor study that was run. scenarios, studies, filters, rates [Hz; 0: the studies'], signals: its axes by names.

    `mean(signal, metric, study=..., ...)`: [scenario x study x filter x rate] of means over the seeds, without the axes for
    which a name (a rate: its number) is given. Metrics: "rmse" [% of the largest], "settled", "inside" (share within 1.96
    sigma), "saw tooth", "nis", "noise". failures: why runs failed. verdicts: what a replay of
    the first seed's log says of the filter (runs of 2 s and more), by (scenario, study, filter, rate)."""

    def __init__(self, study: Any):
        self._study = study
        about = lib.bramah_sensor_study_about(study)
        plan = about.plan
        self.scenarios = [text_of(about.scenarios[i].name) for i in range(about.n_scenarios)]
        self.studies = [text_of(plan.studies[i].name) for i in range(about.n_studies)]
        self.filters = [text_of(about.filters[i].name) for i in range(about.n_filters)]
        self.rates = [about.rates[i] for i in range(about.n_rates)]
        self.signals = [text_of(plan.signals[i].name) for i in range(about.n_signals)]
        self.seeds: int = about.n_seeds
        self.failures = [text_of(about.runs[i].failure) for i in range(about.n_runs) if about.runs[i].failure]
        runs = [about.runs[i] for i in range(0, about.n_runs, about.n_seeds)]
        self.verdicts = {(self.scenarios[r.at.scenario], self.studies[r.at.study], self.filters[r.at.filter],
                          self.rates[r.at.rate]): text_of(r.verdict) for r in runs if r.verdict}
        #: {scenario: {signal: RMSE [%] of the model without corrections}}
        self.model_alone = {s: {g: about.signals[i * about.n_signals + j].model_alone
                                for j, g in enumerate(self.signals)} for i, s in enumerate(self.scenarios)}

    def mean(self, signal: str, metric: str = "rmse", *, scenario: Optional[str] = None, study: Optional[str] = None,
             filter: Optional[str] = None, rate: Optional[float] = None) -> np.ndarray:
        """Means over the seeds; see above."""
        k, m = index_of(signal, self.signals, "signal"), _number("bramah_metric", metric)
        axes: List[Tuple[str, List[Any], Any]] = [
            ("scenario", self.scenarios, scenario), ("study", self.studies, study), ("filter", self.filters, filter),
            ("rate", self.rates, rate)]
        chosen = [range(len(names)) if one is None else [
            names.index(one) if not isinstance(one, str) else index_of(one, names, what)] for what, names, one in axes]
        table, at = np.full([len(c) for c in chosen], np.nan), ffi.new("bramah_sensor_study_case *")
        for place in np.ndindex(*table.shape):
            at.scenario, at.study, at.filter, at.rate = (c[i] for c, i in zip(chosen, place))
            table[place] = lib.bramah_sensor_study_mean(self._study, at, k, m).mean
        return table[tuple(slice(None) if one is None else 0 for _, _, one in axes)]


def sensor_study(plan: Path, *, seeds: int = 0, scenarios: Sequence[str] = (), threads: int = 0,
                 progress: Optional[Callable[[int], Any]] = None) -> SensorStudy:
    """Which sensors, at which rates, through which filters, with which errors of the model: run a plan. seeds: noises per cell
    (0: the plan's); scenarios: by name (none: all). progress: called with the number of runs that are done."""
    import os
    run, options, names = _Run(progress), ffi.new("bramah_sensor_study_options *"), Texts(scenarios)
    lib.bramah_sensor_study_options_default(options)
    options.seeds, options.n_scenarios, options.scenarios = seeds, names.n, names.array
    diag, out = ffi.new("bramah_diag *"), ffi.new("bramah_sensor_study **")
    options.stopped, options.user = lib.py_stopped, run.state
    name = path_bytes(plan)
    check(run.call(lambda: lib.bramah_sensor_study_open(name, options, diag, out)), diag)
    study = owned(out[0], lib.bramah_sensor_study_free, run.state, run.handle)
    check(run.call(lambda: lib.bramah_sensor_study_run(study, threads or os.cpu_count() or 1,
                                                       lib.py_bramah_sensor_study_progress, run.state, diag)), diag)
    return SensorStudy(study)
