# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator of datasets/excavator: work cycles that end where they began, and the filter on a machine that differs from its model by
what the study states."""
import os
import sys
import unittest

import numpy as np

import bramah
from common import ROOT, Case

FOLDER = ROOT / "datasets" / "excavator"
sys.path.insert(0, str(FOLDER))
import drive  # noqa: E402

STUDY = FOLDER / "encoders.yaml"
IS_LONG = int(os.environ.get("BRAMAH_SEEDS", "0")) >= 100


class Excavator(Case):
    def machine(self, **changes):
        return bramah.Machine(FOLDER / "excavator.yaml", changes={**drive.FIRM, **changes})

    def test_ways(self):
        for _, x, z, bucket, slew, _ in drive.CYCLE + [drive.START]:
            q = drive.pose(x, z, bucket, slew)
            np.testing.assert_allclose(drive.teeth(q), [x, z], atol=1e-9)
            self.assertAlmostEqual(np.degrees(np.sum(q[1:])), bucket, 9)

    def work(self, cycles, seed):
        """Motion and log of a machine drawn from its stated uncertainty."""
        machine, log = self.machine(), self.folder / f"log-{seed}.csv"
        biases = drive.draw(machine, STUDY, seed)
        motion = drive.drive(machine, cycles, STUDY, log, seed, process_noise=True)
        drive.add_biases(log, biases)
        self.assertTrue(motion.done and motion.trusted, motion.doubts)
        self.assertEqual(set(biases), {"slew_encoder", "boom_encoder", "dipper_encoder", "bucket_encoder"})
        return motion, log

    def replay(self, motion, log, end):
        truth, rows = self.folder / "truth.csv", slice(0, round(1000 * end) + 1, 10)
        bramah.write_log(truth, {"t": motion.time[rows], **{n: motion[n][rows] for n in motion}}, motion.units)
        return bramah.replay(STUDY, log, truth=truth, end=end, model_alone=False)

    def test_cycle(self):
        motion, log = self.work(1, 2)
        self.assertEqual([phase for _, phase in motion.phases], ["swing empty", "dig", "swing loaded", "dump", "swing empty"])
        self.assertLess(abs(motion["slew.angle"][-1]), np.radians(6))
        self.assertGreater(motion["slew.angle"].max(), np.radians(84))
        replay = self.replay(motion, log, 3.0)
        self.assertTrue(replay.verdict, str(replay.verdict))
        self.assertTrue(0.4 < replay.totals.nees < 2.0, replay.totals.nees)
        self.assertIn("no mistakes", self.program("check", STUDY))  # its display and scenario among them
        if IS_LONG:
            self.find_cause(log)
            self.follow_scenario(motion, log)

    def follow_scenario(self, motion, log):
        """The tasks of its display, in the order and about at the times at which the operator works; the truth says the same."""
        truth, output = self.folder / "truth.csv", self.folder / "estimate.csv"
        bramah.write_log(truth, {"t": motion.time[::10], **{n: motion[n][::10] for n in motion}}, motion.units)
        said = self.program("replay", STUDY, log, "--truth", truth, "--output", output)
        self.assertIn("score: 100 of 100 by the estimates", said)
        self.assertTrue(said.endswith("score by the truth: 100\n"), said[-300:])
        shown = [line.split(",") for line in (self.folder / "estimate.shown.csv").read_text().splitlines()]
        done = {name.strip('"'): float(t) for t, kind, name, *_ in shown if kind == "done"}
        began = {}
        for t, phase in motion.phases:
            began[phase] = began.get(phase, t) if phase != "swing empty" else t
        self.assertEqual(list(done), ["dig", "swing", "dump", "return"])
        self.assertTrue(began["dig"] < done["dig"] < began["swing loaded"] < done["swing"] < began["dump"] < done["dump"] < began["swing empty"] < done["return"])

    def find_cause(self, log):
        """A pressure that is 10 bar too high from 3.5 s on is named by what is looked at of 8 s."""
        columns = bramah.read_log(log)
        values = {n: np.array(columns[n]) for n in columns}
        values["p_boom_piston"][columns.time >= 3.5] += 1e6
        wrong = self.folder / "wrong.csv"
        bramah.write_log(wrong, {"t": columns.time, **values}, {"t": "s", **columns.units})
        found = bramah.replay(STUDY, wrong, end=8.0).diagnosis
        self.assertTrue(found.is_part and found.to - getattr(found, "from") < 7.0)
        self.assertEqual((found.cause[0].name, found.cause[0].what), ("p_boom_piston", "bias"))
        self.assertLess(abs(found.cause[0].change - 1e6), 2e5)

    @unittest.skipUnless(IS_LONG, "minutes: only in long runs")
    def test_ten_cycles(self):
        """What is learned of the machine while it works does not drift away."""
        for seed in (1, 3):
            motion, log = self.work(10, seed)
            replay = self.replay(motion, log, motion.time[-1])
            self.assertTrue(0.7 < replay.totals.nees < 1.3, replay.totals.nees)

            def z(name):
                return ((replay[name] - replay.truth(name)) / replay.sigma(name))[:-10:10]

            for name in ("payload", "tip_force.x", "tip_force.z"):
                self.assertGreater(np.mean(np.abs(z(name)) < 1.96), 0.93, name)
            for name in ("slew.angle", "boom.angle", "dipper.angle", "bucket.angle"):
                self.assertLess(abs(np.mean(z(name)[-6000:]) - np.mean(z(name)[:2000])), 2.5, name)  # encoders are off from the start

    def test_attachments(self):
        for size, (volume, bucket) in drive.BUCKETS.items():
            self.assertLess(abs(self.machine(**bucket, **drive.DIPPERS[size])["bucket.angle"] + np.radians(60)), 1e-9)
        self.assertEqual([volume for volume, _ in drive.BUCKETS.values()], [0.318, 0.512, 1.01])


if __name__ == "__main__":
    unittest.main()
