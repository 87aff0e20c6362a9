# SPDX-License-Identifier: GPL-3.0-or-later
"""Replays as arrays: the program's numbers, verdict, diagnosis, interruption, threads, hypotheses."""
import json
import threading
import time
import unittest

import numpy as np

import bramah
from common import FOUR_BAR, Case

LOG, TRUTH = FOUR_BAR / "log.csv", FOUR_BAR / "truth.csv"


class Replays(Case):
    def test_numbers_of_the_program(self):
        out, summary = self.folder / "estimate.csv", self.folder / "summary.json"
        study = FOUR_BAR / "sensors-2.yaml"
        self.program("replay", study, LOG, "--truth", TRUTH, "--to", "0.5", "--output", out, "--json", summary)
        r = bramah.replay(study, LOG, truth=TRUTH, end=0.5)
        with open(out) as file:
            header = [name.split("[")[0] for name in file.readline().strip().split(",")]
        table = np.genfromtxt(out, delimiter=",", skip_header=1)
        self.assertEqual(len(r.time), 501)
        np.testing.assert_allclose(table[:, 0], r.time, rtol=0, atol=1e-12)
        for name in r:
            np.testing.assert_allclose(table[:, header.index(name)], r[name], rtol=1e-9, err_msg=name)
            if name + ".sigma" in header:
                np.testing.assert_allclose(table[:, header.index(name + ".sigma")], r.sigma(name), rtol=1e-5)
        for name in r.sensors:
            np.testing.assert_allclose(table[:, header.index(name + ".innovation")], r.innovation(name), rtol=1e-5)
        said = json.loads(summary.read_text())
        self.assertEqual(said["verdict"], "no contradiction found")
        self.assertEqual(said["tests"], r.verdict.tests)
        self.assertTrue(r.verdict)
        self.assertIn("no contradiction found", r.verdict.reason)
        error = r["crank.angle"] - r.truth("crank.angle")
        self.assertAlmostEqual(np.sqrt(np.mean(error**2)), r.accuracy["crank.angle"].estimate.value, 12)
        self.assertFalse(np.isnan(r.model("crank.angle")).any())
        self.assertTrue(r.accepted("p1").all())
        self.assertIn("pump.pressure", r.augmented)
        self.assertTrue((r.augmented_sigma("pump.pressure") > 0).all())

    def test_arrays(self):
        r = bramah.replay(FOUR_BAR / "sensors-2.yaml", LOG, end=0.02)
        angle = r["crank.angle"]
        self.assertTrue(angle.flags.c_contiguous and angle.dtype == np.float64 and angle.shape == (21,))
        np.testing.assert_allclose(r.get("crank.angle", unit="deg"), np.degrees(angle), rtol=1e-14)
        np.testing.assert_allclose(r.measured("p1", unit="bar"), 1e-5 * r.measured("p1"), rtol=1e-14)
        self.assertEqual(r.units["v1.pressure"], "Pa")
        self.assertTrue(np.isnan(r.truth("crank.angle")).all())
        self.assertIn("did you mean 'crank.angle'", str(self.fails(KeyError, "E_REFERENCE", r.sigma, "crank.angel")))
        self.fails(bramah.InputError, "E_UNIT", r.get, "crank.angle", unit="bar")
        self.assertEqual(r.matrix("crank.angle", "crank.rate").shape, (21, 2))

    def test_columns_in_memory(self):
        names = ["crank_encoder", "crank_gyro", "p1", "p2", "p3"]
        file = bramah.replay(FOUR_BAR / "sensors-2.yaml", LOG, end=0.2)
        columns = {"t": file.time, "valve": np.zeros(201)}
        columns.update({n: file.measured(n) for n in names})
        columns["p1"] = columns["p1"].copy()
        columns["p1"][100] = np.nan
        r = bramah.replay(FOUR_BAR / "sensors-2.yaml", columns)
        np.testing.assert_array_equal(r["crank.angle"][:100], file["crank.angle"][:100])
        self.assertTrue(np.isnan(r.measured("p1")[100]))
        self.assertNotEqual(r["v1.pressure"][100], file["v1.pressure"][100])
        del columns["p3"]
        self.assertEqual(self.fails(bramah.InputError, "E_COLUMN", bramah.replay, FOUR_BAR / "sensors-2.yaml",
                                    columns).thing, "p3")

    def test_contradiction_and_its_cause(self):
        rows = LOG.read_text().splitlines()
        column = [name.split("[")[0] for name in rows[0].split(",")].index("p2")
        for i in range(1, len(rows)):
            cells = rows[i].split(",")
            cells[column] = repr(float(cells[column]) + 8.0e5)
            rows[i] = ",".join(cells)
        log = self.folder / "log.csv"
        log.write_text("\n".join(rows[:4002]) + "\n")
        r = bramah.replay(FOUR_BAR / "sensors-2.yaml", log)
        self.assertFalse(r.verdict)
        self.assertTrue(r.verdict.contradicted)
        self.assertIn("contradicted: ", r.verdict.reason)
        self.assertIn(r.verdict.worst.text, r.verdict.reason)
        self.assertEqual(sum(not f.passed for f in r.verdict.findings) > 0, True)
        cause = r.diagnosis.cause[0]
        self.assertEqual((cause.kind, cause.name), ("bias", "p2"))
        self.assertLess(abs(cause.change - 8.0e5), 5 * cause.sigma + 1.6e5)

    def test_mistakes_have_a_place(self):
        study = self.study(replace={"sigma: 0.5 bar": "sigma: 0.5 kg"})
        e = self.fails(bramah.InputError, "E_UNIT", bramah.replay, study, LOG)
        self.assertEqual(e.file, str(study))
        self.assertGreater(e.line, 1)
        self.assertTrue(e.thing and e.message and str(e).startswith(f"{study}:{e.line}:"))
        log = self.folder / "log.csv"
        rows = LOG.read_text().splitlines()
        log.write_text("\n".join(rows[:30] + [rows[30].rsplit(",", 1)[0] + ",x"] + rows[31:]) + "\n")
        e = self.fails(bramah.InputError, "E_SYNTAX", bramah.replay, FOUR_BAR / "sensors-2.yaml", log)
        self.assertEqual((e.file, e.line), (str(log), 31))
        self.assertEqual(len(e.partial.time), 29)
        self.assertTrue(e.partial.verdict.broken_off)
        self.assertFalse(e.partial.verdict)
        self.fails(bramah.InputError, "E_FILE", bramah.replay, "none.yaml", LOG)

    def test_changes(self):
        a = bramah.replay(FOUR_BAR / "sensors-2.yaml", LOG, end=0.05)
        b = bramah.replay(FOUR_BAR / "sensors-2.yaml", LOG, end=0.05, changes={"sensors.p1.sigma": "5 bar"})
        self.assertTrue((b.innovation_sigma("p1") > a.innovation_sigma("p1")).all())
        c = bramah.replay(FOUR_BAR / "sensors-2.yaml", LOG, end=0.05, changes={"machine.bodies.crank.mass": "20 kg"})
        self.assertNotEqual(c["crank.angle"][-1], a["crank.angle"][-1])
        self.fails(bramah.InputError, "E_KEY", bramah.Session, FOUR_BAR / "sensors-2.yaml",
                   changes={"machine.bodies.crank.mess": "20 kg"})
        self.fails(bramah.InputError, "E_UNIT", bramah.Session, FOUR_BAR / "sensors-2.yaml",
                   changes={"machine.bodies.crank.mass": "20 bar"})

    def scaled(self, column, factor, most=2002):
        """The shipped log with the cells of a column times this."""
        head, *rows = [row.split(",") for row in LOG.read_text().splitlines()[:most]]
        for row in rows:
            row[head.index(column)] = repr(factor * float(row[head.index(column)]))
        path = self.folder / f"{column.split('[')[0]}.csv"
        path.write_text("".join(",".join(row) + "\n" for row in [head, *rows]))
        return path

    def doubts_of_the_program(self, study, log):
        """Those that a replay by the program says of this log, and its verdict."""
        summary = self.folder / "summary.json"
        self.program("replay", study, log, "--output", self.folder / "estimate.csv", "--json", summary, code=3)
        said = json.loads(summary.read_text())
        return [(d["text"], d["certain"], float(f"{d['value']:.12g}")) for d in said["doubts"]], said["verdict"]

    def test_doubts(self):
        """A rate in deg/s that says it is rad/s: the program's doubts, in a run that contradicts the filter anyway; and on
        looking over alone, where what is right is not doubted."""
        study, log = FOUR_BAR / "sensors-2.yaml", self.scaled("crank_gyro[rad/s]", 57.29578)
        r = bramah.replay(study, log)
        self.assertEqual(([(d.text, d.certain, float(f"{d.value:.12g}")) for d in r.doubts], "contradicted"),
                         self.doubts_of_the_program(study, log))
        self.assertTrue(r.verdict.contradicted and not r.verdict.doubted)
        found = bramah.look_over(study, log)
        self.assertEqual([(d.kind, d.certain, d.thing) for d in found], [
            ("unit", True, "crank_gyro"), ("noise", False, "sensors.crank_gyro.sigma")])
        self.assertAlmostEqual(found[0].value, 57.3, delta=1.0)
        self.assertTrue(found[0].text.startswith(f"{log}:1:{found[0].column}: crank_gyro: "))
        self.assertIn("write crank_gyro[deg/s] instead of crank_gyro[rad/s]", found[0].message)
        self.assertNotIn("unit", [d.kind for d in bramah.look_over(study, log, motion=False)])
        self.assertEqual(bramah.look_over(bramah.Session(study), LOG, end=2.0), [])
        self.assertEqual(bramah.look_over(bramah.Machine(FOUR_BAR / "four-bar.yaml")), [])
        self.assertEqual(bramah.look_over(FOUR_BAR / "four-bar.yaml"), [])
        self.fails(bramah.InputError, "E_ARGUMENT", bramah.look_over, FOUR_BAR / "four-bar.yaml", LOG)

    def test_doubted(self):
        """Nothing contradicts the filter, but a command of 10 kV cannot be right: no verdict in favour."""
        study, log = FOUR_BAR / "sensors-2.yaml", self.scaled("valve.command[V]", 1000.0, 1502)
        r = bramah.replay(study, [log])
        self.assertEqual(([(d.text, d.certain, float(f"{d.value:.12g}")) for d in r.doubts], "doubted"),
                         self.doubts_of_the_program(study, log))
        self.assertTrue(r.doubts[0].certain and r.verdict.doubted and not r.verdict.contradicted)
        self.assertEqual(r.verdict.reason, f"doubted: {r.doubts[0].text}")
        self.assertFalse(r.verdict)
        self.assertEqual(bramah.replay(study, LOG, end=0.5).doubts, ())

    def test_smoothed(self):
        study = self.study(more="filter: {preset: papers, transition: step}\n")
        r = bramah.replay(study, LOG, truth=TRUTH, end=0.3, smooth=True)
        self.assertEqual(r.smoothed["crank.angle"].shape, r["crank.angle"].shape)
        self.assertLess(np.mean(r.smoothed_sigma["crank.angle"]), np.mean(r.sigma("crank.angle")))

    def test_goes_on_from_a_snapshot(self):
        whole = bramah.replay(FOUR_BAR / "sensors-2.yaml", LOG, end=0.2)
        snapshot = self.folder / "state"
        bramah.replay(FOUR_BAR / "sensors-2.yaml", LOG, end=0.1, snapshot=snapshot)
        rest = bramah.replay(FOUR_BAR / "sensors-2.yaml", LOG, end=0.2, resume=snapshot)
        np.testing.assert_array_equal(rest["crank.angle"], whole["crank.angle"][101:])
        self.assertEqual(rest.verdict.reason, whole.verdict.reason)

    def test_two_at_once(self):
        """Two replays take turns under one interpreter: both are under way at the same time, with the bits of one."""
        alone = bramah.replay(FOUR_BAR / "sensors-2.yaml", LOG, end=5.0)["crank.angle"]
        results, both = {}, threading.Barrier(2, timeout=100)

        def run(name):
            met = []

            def meet(_time):
                """The first time each waits for the other, which comes only if it is under way, too."""
                if not met:
                    met.append(both.wait())

            results[name] = bramah.replay(FOUR_BAR / "sensors-2.yaml", LOG, end=5.0, progress=meet)

        threads = [threading.Thread(target=run, args=(n,)) for n in "ab"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertFalse(both.broken)
        for name in "ab":
            np.testing.assert_array_equal(results[name]["crank.angle"], alone)

    def test_others_run_meanwhile(self):
        """A thread that only counts gets on while the library computes."""
        stop, ticks = threading.Event(), []

        def count():
            while not stop.is_set():
                ticks.append(0)
                time.sleep(0.001)

        thread = threading.Thread(target=count)
        thread.start()
        bramah.replay(FOUR_BAR / "sensors-2.yaml", LOG)
        stop.set()
        thread.join()
        self.assertGreater(len(ticks), 20)

    def test_interrupted(self):
        def interrupt(t):
            raise KeyboardInterrupt
        with self.assertRaises(KeyboardInterrupt):
            bramah.replay(FOUR_BAR / "sensors-2.yaml", LOG, progress=interrupt)

    def test_hypotheses(self):
        r = bramah.replay(FOUR_BAR / "hypotheses.yaml", LOG, end=0.5)
        names = [h.name for h in r.hypotheses]
        self.assertGreater(len(names), 1)
        total = sum(r.probability[n] for n in names)
        np.testing.assert_allclose(total, 1.0, atol=1e-9)
        for h in r.hypotheses:
            self.assertAlmostEqual(h.probability, r.probability[h.name][-1], 12)


if __name__ == "__main__":
    unittest.main()
