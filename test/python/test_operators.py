# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators on the excavator (datasets/excavator/operators.py): their work cycles are found where the machine slewed and the bucket was full."""
import sys
import unittest

import numpy as np

import bramah
from common import ROOT, Case

sys.path.insert(0, str(ROOT / "datasets" / "excavator"))
import operators  # noqa: E402


def slew_begins(t, rate, begin, end):
    """When it passes a tenth of its largest rate, the last time before it passes the half."""
    within = (t > begin) & (t < end)
    t, share = t[within], rate[within] / rate[within].max()
    fast = np.argmax(share > 0.5)
    return t[np.flatnonzero(share[:fast] < 0.1)[-1]] if (share[:fast] < 0.1).any() else t[0]


class Operators(Case):
    def test_cycles_of_two_operators(self):
        took = []
        for skill, bucket, cycles, seed in ((0.9, "large", 2, 1), (0.2, "small", 1, 2)):
            one = operators.traits(skill, np.random.default_rng(seed))
            columns, _, operator = operators.attempt(one, bucket, cycles, seed)
            self.assertTrue(operator.done)
            t, rate = columns["t"], np.abs(columns["slew.rate"])
            cut = bramah.work_cycles(t, columns["payload"], columns["slew.rate"], columns["payload.sigma"])
            self.assertEqual((cut.n_cycles, cut.doubt), (cycles, ""))
            true = np.interp(t, *np.array(operator.loads)[:, :2].T)
            for cycle, commanded in zip(cut.cycles, (at for at, phase in operator.phases if phase == "swing loaded")):
                loaded, dump, back, end = (border.t for border in cycle.begin[1:])
                self.assertAlmostEqual(loaded, slew_begins(t, rate, commanded, dump), delta=0.3)
                self.assertAlmostEqual(back, slew_begins(t, rate, dump, end), delta=0.3)
                carried = true[(t > loaded) & (t < dump)]
                self.assertLess(np.ptp(carried), 0.1 * carried.max())
                self.assertLess(abs(cycle.load - carried.mean()), 3 * cycle.load_sigma)
            took.append(t[-1] / cycles)
        self.assertLess(took[0] + 3, took[1])


if __name__ == "__main__":
    unittest.main()
