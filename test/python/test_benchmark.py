# SPDX-License-Identifier: GPL-3.0-or-later
"""The benchmark of datasets/excavator: its logs and their faults, its scores of hand-made estimates, the static balance at rest."""
import json
import os
import sys
import unittest

import numpy as np

import bramah
from common import ROOT, Case

FOLDER = ROOT / "datasets" / "excavator" / "benchmark"
sys.path.insert(0, str(FOLDER))
import baselines  # noqa: E402
import make  # noqa: E402
import score  # noqa: E402

FULL = 844.8
IS_LONG = int(os.environ.get("BRAMAH_SEEDS", "0")) >= 100


class Benchmark(Case):
    def written(self, name, **columns):
        """A file of columns over the times of the hand-made truth."""
        t = np.arange(0, 10, 0.01)
        units = {n: "kg" if n.startswith("payload") else "rad" if n.endswith(("elevation", "azimuth")) else "N" for n in columns}
        path = self.folder / f"{name}.csv"
        bramah.write_log(path, {"t": t, **{n: np.broadcast_to(f, t.shape) for n, f in columns.items()}}, units)
        return path

    def truth(self):
        """Digs with 3 kN along x and 4 kN up from 1 to 2 s, has 500 kg from 3 to 8 s."""
        t = np.arange(0, 10, 0.01)
        digs = (t > 1) & (t < 2)
        return self.written("truth", payload=np.clip(500 * (t - 2), 0, 500) * (t < 8),
                            **{"tip_force.x": 3e3 * digs, "tip_force.y": 0.0, "tip_force.z": 4e3 * digs})

    def score(self, **columns):
        return score.score([(self.truth(), self.written("estimate", **columns))], FULL)

    def test_scores(self):
        np.testing.assert_allclose(score.liftings(bramah.read_log(self.truth()), FULL), [3.01], atol=0.011)
        found = self.score(payload=500 + 0.01 * FULL, **{"payload.sigma": 5.0, "tip_force.x": 3.3e3, "tip_force.y": 0.0,
                                                         "tip_force.z": 4.4e3, "tip_force.x.sigma": 200.0, "tip_force.z.sigma": 200.0})
        expected = {"liftings": 1, "payload median error [% of full scale]": 1, "payload mean error [kg]": 0.01 * FULL,
                    "payload within its 95 % band [%]": 100, "rows with digging": 99, "force error RMS [N]": 500,
                    "force magnitude error RMS [N]": 500, "force direction error RMS [deg]": 0, "force within its 95 % band [%]": 50}
        for name, value in expected.items():
            self.assertAlmostEqual(found[name], value, 4, name)
        self.assertGreater(found["force error RMS of means over 0.5 s [N]"], 400)
        self.assertEqual(self.score(**{"payload": 500 - 0.01 * FULL, "payload.sigma": 4.0})["payload within its 95 % band [%]"], 0)
        turned = self.score(**{"tip_force": 5e3, "tip_force.elevation": np.arctan2(3, 4), "tip_force.azimuth": np.pi})
        self.assertNotIn("liftings", turned)
        self.assertAlmostEqual(turned["force direction error RMS [deg]"], 90, 5)
        self.assertAlmostEqual(turned["force error RMS [N]"], 5e3 * 2**0.5, 2)
        with self.assertRaises(SystemExit):
            self.score(payload=np.nan)

    def test_stated_errors(self):
        """What changes say of a sensor's errors is what the filter reckons with, also where all else is fixed."""
        stated = {"p_boom_rod.bias": 5e4, "p_rail.bias": 3e4, "p_rail.gain": 3e-3, "p_rail.delay": 2e-3}
        changes = {"sensors.p_boom_rod.bias": "0.5 bar", "sensors.p_rail.bias": "0.3 bar", "sensors.p_rail.gain": "0.3 %",
                   "sensors.p_rail.delay_sigma": "2 ms"}
        augmented = bramah.Session(baselines.STUDY, alarm=False, changes=changes).augmented
        for name, sigma in stated.items():
            self.assertAlmostEqual(augmented[name].sigma / sigma, 1, 9, name)

    def test_phases(self):
        """The clean bucket in the air: nothing changes; at the ground the load may, unless the operator has just said it."""
        session = bramah.Session(baselines.WEIGHING, alarm=False)
        height, opening = session["bucket_height"], session["bucket_opening"]
        session.step()
        self.assertEqual({n for n, phase in session.phases.items() if phase.is_on},
                         {n for n, on in (("free", height > 0.3), ("ground", height < 0.15), ("gathers", height < 0.15), ("opens", opening > 0.4)) if on})
        session.step(measurements={"reference": 0.0})
        session.step()
        self.assertTrue(session.phases["exchanges"].is_on and session.phases["said"].is_on and not session.phases["tared"].is_on)

    def test_log(self):
        names = ("a.csv", "a.truth.csv", "a.errors.json")
        for folder in ("1", "2"):
            (self.folder / folder).mkdir()
            make.make(self.folder / folder, "a", 0, 7)
        for name in names:
            self.assertEqual(*((self.folder / folder / name).read_bytes() for folder in ("1", "2")), name)
        log, about = bramah.read_log(self.folder / "1" / "a.csv"), json.loads((self.folder / "1" / "a.errors.json").read_text())
        gone, stuck = about["faults"]["no samples"], about["faults"]["stuck"]
        for name, errors in about["sensors"].items():
            out = (log.time >= gone["at"]) & (log.time < gone["at"] + gone["for"] - 1e-9)
            self.assertTrue(np.isnan(log[name][out]).all())
            steps = log[name][np.isfinite(log[name])] / errors["resolution"]
            np.testing.assert_allclose(steps, np.round(steps), atol=1e-2)
        held = log[stuck["sensor"]][(log.time >= stuck["at"]) & (log.time < stuck["at"] + stuck["for"] - 1e-9)]
        self.assertEqual(len(set(held[np.isfinite(held)])), 1)

    def test_static_balance(self):
        machine = bramah.Machine(make.MACHINE, changes=make.FIRM)
        machine.parameters["bucket.payload"] = 500.0
        log = self.folder / "log.csv"
        machine.simulate(4.0, lambda t: np.zeros(len(machine.inputs)), study=make.STUDY, log=log, outputs=["payload"])
        shown, _ = baselines.static(log)
        self.assertAlmostEqual(shown["payload"][-1], 500, delta=10)

    def test_what_is_known_of_the_load(self):
        """Said while the load stays as it is."""
        phases = [[0.0, "lower"], [4.0, "take the weight"], [6.0, "lift the weight"], [9.0, "leave the weight"], [11.0, "swing empty"],
                  [14.0, "dig"], [16.0, "swing loaded"], [20.0, "dump"], [22.0, "swing empty"]]
        known = make.known_loads(26000, phases)
        said = {name: np.flatnonzero(np.isfinite(values)) for name, values in known.items()}
        np.testing.assert_array_equal(said["reference"], [*range(1000, 4000, 500), *range(7000, 9000, 500)])
        np.testing.assert_array_equal(known["reference"][said["reference"]], [0] * 6 + [make.WEIGHT] * 4)
        np.testing.assert_array_equal(said["tare"], [12000, 23000])

    @unittest.skipUnless(IS_LONG, "a minute: --long")
    def test_cycle(self):
        make.make(self.folder, "a", 1, 1)
        for method, study, worst in (("static", baselines.STUDY, 40), ("filtered", baselines.STUDY, 25), ("filtered", baselines.WEIGHING, 2)):
            shown, units = getattr(baselines, method)(self.folder / "a.csv", *[study] * (method == "filtered"))[:2]
            bramah.write_log(self.folder / "e.csv", shown, units)
            found = score.score([(self.folder / "a.truth.csv", self.folder / "e.csv")], FULL)
            self.assertEqual(found["liftings"], 1)
            self.assertLess(found["payload median error [% of full scale]"], worst)
            if method != "static":
                self.assertGreater(found["force within its 95 % band [%]"], 80)


if __name__ == "__main__":
    unittest.main()
