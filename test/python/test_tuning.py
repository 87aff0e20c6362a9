# SPDX-License-Identifier: GPL-3.0-or-later
"""Tuning, sweeps and sensor studies: the program's numbers, progress, interruption."""
import signal
import threading
import time
import unittest

import numpy as np

import bramah
from common import FOUR_BAR, Case

LOG = FOUR_BAR / "log.csv"


class Tunings(Case):
    def short_log(self, seconds=1.0):
        path = self.folder / "short.csv"
        path.write_text("".join(LOG.open().readlines()[:int(seconds * 1000) + 2]))
        return path

    def test_numbers_of_the_program(self):
        log, seen = self.short_log(), []
        printed = self.program("tune", FOUR_BAR / "tuning.yaml", log, "--budget", "2", "--output",
                               self.folder / "program.yaml")
        tuning = bramah.tune(FOUR_BAR / "tuning.yaml", log, budget=2, progress=seen.append)
        tuning.write(self.folder / "own.yaml")
        strip = [[x for x in (self.folder / n).read_text().splitlines() if not x.startswith("#")]
                 for n in ("program.yaml", "own.yaml")]
        self.assertEqual(*strip)
        self.assertFalse(tuning.converged)
        self.assertIn(tuning.ending, printed)
        self.assertGreaterEqual(len(seen), 2)
        self.assertEqual(seen[-1].evaluations, 2)
        value = tuning["volumes.v1.noise"]
        self.assertEqual((value.unit, value.before, value.with_ in tuning.values), ("bar/s^0.5", 0.5, True))
        self.assertTrue(value.least <= value.found <= value.most)
        self.assertEqual((len(tuning.logs), tuning.nis_after.shape), (1, (1,)))
        self.assertEqual({c.sensor for c in tuning.consistency} - {""},
                         {"crank_encoder", "crank_gyro", "p1", "p2", "p3"})

    def test_enough(self):
        seen = []
        tuning = bramah.tune(FOUR_BAR / "tuning.yaml", self.short_log(), progress=lambda p: seen.append(p) or True)
        self.assertEqual(tuning.ending, "stopped by its budget")

    def test_what_progress_raises(self):
        def bad(progress):
            raise ZeroDivisionError("of mine")
        with self.assertRaisesRegex(ZeroDivisionError, "of mine"):
            bramah.tune(FOUR_BAR / "tuning.yaml", self.short_log(), progress=bad)

    def interrupted(self, run):
        """run(begun) is interrupted by a SIGINT, as of Ctrl-C, 0.3 s after it has called `begun`."""
        begin = threading.Event()

        def press():
            begin.wait(60)
            time.sleep(0.3)
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

        thread = threading.Thread(target=press)
        thread.start()
        with self.assertRaises(KeyboardInterrupt):
            run(lambda _: begin.set())
        thread.join()

    def test_interrupted(self):
        """KeyboardInterrupt ends a tuning soon, and another one can be made then."""
        self.interrupted(lambda begun: bramah.tune(FOUR_BAR / "tuning.yaml", LOG, profile=20, progress=begun))
        self.assertGreater(len(bramah.tune(FOUR_BAR / "tuning.yaml", self.short_log(), budget=1).values), 3)

    def test_mistakes(self):
        self.fails(bramah.InputError, "E_KEY", bramah.tune, FOUR_BAR / "sensors-2.yaml", LOG)
        self.fails(bramah.InputError, "E_FILE", bramah.tune, FOUR_BAR / "tuning.yaml", "none.csv")
        self.fails(bramah.NameUnknown, "E_REFERENCE", bramah.tune, FOUR_BAR / "tuning.yaml", LOG, criterion="best")

    def test_rejected_samples_count(self):
        """Fused or rejected by a gate on samples or on drifts, the cost is minus the filter's log likelihood: no gain in rejecting."""
        rows = np.loadtxt(LOG, delimiter=",", skiprows=1, max_rows=501)
        rows[150:, 4] += 2.2e5  # within the gate on single samples, beyond that on drifts
        rows[50::97, 2] += 1.0
        rows[0, 2:] = np.nan  # a session begins with it
        log = self.folder / "drifts.csv"
        np.savetxt(log, rows, delimiter=",", comments="", header=LOG.open().readline().rstrip())
        log.write_text(log.read_text().replace("nan", ""))
        point, = bramah.sweep(FOUR_BAR / "sensors-2.yaml", log, ["volumes.v1.noise=0.5 bar/s^0.5"])
        session = bramah.Session(FOUR_BAR / "sensors-2.yaml")
        for row in rows[1:]:
            session.step(row[0], row[1:2], row[2:])
        self.assertGreater(session.counts.gated, 340)
        samples = session.counts.accepted + session.counts.gated
        self.assertEqual((point.all.used, point.all.gated), (session.counts.accepted, session.counts.gated))
        self.assertAlmostEqual(point.all.cost / (-session.log_likelihood - samples / 2 * np.log(2 * np.pi)), 1.0, 12)

    def test_sweep(self):
        points = list(bramah.sweep(FOUR_BAR / "sensors-2.yaml", self.short_log(), [
            "volumes.v1.noise=0.1 bar/s^0.5, 0.5 bar/s^0.5", "sensors.p1.sigma=0.5 bar, 5 bar"]))
        self.assertEqual(len(points), 4)
        self.assertEqual(points[0].values, {"volumes.v1.noise": "0.1 bar/s^0.5", "sensors.p1.sigma": "0.5 bar"})
        costs = np.array([p.all.cost for p in points])
        self.assertTrue(np.isfinite(costs).all())
        self.assertLess(costs[0], costs[1])
        self.assertAlmostEqual(points[2].all.cost, points[2].logs[0].cost, 6)

    def plan(self, duration):
        """The shipped plan, of so many seconds."""
        plan = self.folder / "plan.yaml"
        text = (FOUR_BAR / "estimator-study.yaml").read_text().replace("duration: 10 s", f"duration: {duration} s")
        for name in ("machine: ", *(f"set-{k}: " for k in range(1, 7))):
            text = text.replace(name, f"{name}{FOUR_BAR}/", 1)
        plan.write_text(text)
        return plan

    def test_study_interrupted(self):
        """KeyboardInterrupt ends a sensor study of many minutes within its runs and while its truth is simulated; and what
        `progress` raises comes out. Another one can be made then."""
        plan, counted = self.plan(10), []
        self.interrupted(lambda begun: bramah.sensor_study(plan, seeds=500, threads=2, progress=lambda n: counted.append(n) or begun(n)))
        self.assertLess(counted[-1], 1000)
        self.plan(1000)
        self.interrupted(lambda begun: begun(0) or bramah.sensor_study(plan))
        with self.assertRaisesRegex(ZeroDivisionError, "division"):
            bramah.sensor_study(self.plan(2), scenarios=["A"], progress=lambda n: n / 0)
        self.assertEqual(bramah.sensor_study(plan, seeds=1, scenarios=["A"]).failures, [])

    def test_sensor_study(self):
        seen, plan = [], self.plan(1.5)
        study = bramah.sensor_study(plan, seeds=1, scenarios=["A"], progress=seen.append)
        self.assertEqual(seen[-1], len(study.scenarios) * len(study.studies) * len(study.filters) * len(study.rates))
        self.assertEqual(study.failures, [])
        table = study.mean(study.signals[0])
        self.assertEqual(table.shape, (1, len(study.studies), len(study.filters), len(study.rates)))
        self.assertTrue(np.isfinite(table).all())
        one = study.mean(study.signals[0], scenario="A", study=study.studies[1], filter=study.filters[0],
                         rate=study.rates[0])
        self.assertEqual(one, table[0, 1, 0, 0])
        self.assertGreater(study.model_alone["A"][study.signals[0]], table.min())
        self.assertEqual(study.verdicts, {})  # of runs as short as these


if __name__ == "__main__":
    unittest.main()
