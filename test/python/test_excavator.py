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

    @unittest.skipUnless(IS_LONG, "minutes: only in long runs")
    def test_ten_cycles(self):
        """What is learned of the machine while it works does not drift away."""
        for seed in (1, 3):
            motion, log = self.work(10, seed)
            replay = self.replay(motion, log, motion.time[-1])
            self.assertTrue(0.7 < replay.totals.nees < 1.3, replay.totals.nees)
            for name in ("boom.angle", "dipper.angle", "bucket.angle", "payload", "tip_force.x", "tip_force.z"):
                inside = np.abs(replay[name] - replay.truth(name)) < 1.96 * replay.sigma(name)
                self.assertGreater(np.mean(inside[::10]), 0.9, name)

    def test_attachments(self):
        for size, (volume, bucket) in drive.BUCKETS.items():
            self.assertLess(abs(self.machine(**bucket, **drive.DIPPERS[size])["bucket.angle"] + np.radians(60)), 1e-9)
        self.assertEqual([volume for volume, _ in drive.BUCKETS.values()], [0.318, 0.512, 1.01])


if __name__ == "__main__":
    unittest.main()
