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


class Excavator(Case):
    def machine(self, **changes):
        return bramah.Machine(FOLDER / "excavator.yaml", changes={**drive.FIRM, **changes})

    def test_ways(self):
        for _, x, z, bucket, slew, _ in drive.CYCLE + [drive.START]:
            q = drive.pose(x, z, bucket, slew)
            np.testing.assert_allclose(drive.teeth(q), [x, z], atol=1e-9)
            self.assertAlmostEqual(np.degrees(np.sum(q[1:])), bucket, 9)

    def test_cycle(self):
        truth, log = self.folder / "truth.csv", self.folder / "log.csv"
        machine = self.machine()
        biases = drive.draw(machine, STUDY, 2)
        motion = drive.drive(machine, 1, STUDY, log, 2, process_noise=True)
        drive.add_biases(log, biases)
        self.assertTrue(motion.done and motion.trusted, motion.doubts)
        self.assertEqual([phase for _, phase in motion.phases], ["swing empty", "dig", "swing loaded", "dump", "swing empty"])
        self.assertLess(abs(motion["slew.angle"][-1]), np.radians(6))
        self.assertGreater(motion["slew.angle"].max(), np.radians(84))
        rows = slice(0, 3001, 10)
        bramah.write_log(truth, {"t": motion.time[rows], **{n: motion[n][rows] for n in motion}}, motion.units)
        replay = bramah.replay(STUDY, log, truth=truth, end=3.0)
        self.assertTrue(replay.verdict, str(replay.verdict))
        self.assertTrue(0.4 < replay.totals.nees < 2.0, replay.totals.nees)
        if int(os.environ.get("BRAMAH_SEEDS", "0")) >= 100:
            self.find_cause(log)

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

    def test_attachments(self):
        for size, (volume, bucket) in drive.BUCKETS.items():
            self.assertLess(abs(self.machine(**bucket, **drive.DIPPERS[size])["bucket.angle"] + np.radians(60)), 1e-9)
        self.assertEqual([volume for volume, _ in drive.BUCKETS.values()], [0.318, 0.512, 1.01])


if __name__ == "__main__":
    unittest.main()
