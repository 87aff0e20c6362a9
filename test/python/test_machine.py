# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines: what they are made of, simulations as the program's, linear equations, C source, files."""
import unittest
import warnings

import numpy as np

import bramah
from common import FOUR_BAR, ROOT, Case

MACHINE, STUDY = FOUR_BAR / "four-bar.yaml", FOUR_BAR / "sensors-2.yaml"


class Machines(Case):
    def test_what_it_is(self):
        m = bramah.Machine(MACHINE)
        self.assertEqual((m.name, m.inputs, m.step_length), ("hydraulic four-bar", ("valve",), 0.001))
        self.assertEqual(m.outputs["v1.pressure"], "Pa")
        self.assertEqual(len(m.states), 5)
        self.assertEqual(m.parameters["pump.pressure"], 7.6e6)
        self.assertAlmostEqual(m["crank.angle"], bramah.si("60 deg"), 6)
        self.assertIn(("body", "crank"), [(p.kind, p.name) for p in m.skeleton()])
        self.assertEqual(m.skeleton()[0].points.shape, (2, 3))
        other = bramah.Machine(MACHINE, changes={"bodies.crank.mass": "80 kg"}, step=0.0005)
        self.assertEqual(other.step_length, 0.0005)
        e = self.fails(bramah.InputError, "E_UNIT", bramah.Machine, MACHINE, changes={"bodies.crank.mass": "80 bar"})
        self.assertIn("bodies.crank.mass", str(e) + e.thing)

    def test_soil(self):
        path = self.folder / "foot.yaml"
        path.write_text("""
machine: foot
gravity: [0, 0, -9.81 m/s^2]
bodies: {foot: {mass: 500 kg}}
joints: {lift: {type: prismatic, parent: ground, child: foot, axis: [0, 0, 1], initial: 0.3 m}}
terrain: {cells: [20, 16], cell: 0.1 m, level: 0.3 m, pressing: 0.1}
contacts: {sole: {body: foot, points: [[0.05, 0.05, 0 m]], stiffness: 1e7 N/m^1.5, damping: 5 s/m, ground: terrain}}
""")
        m = bramah.Machine(path)
        self.assertEqual(m.soil.shape, (20, 16))
        self.assertTrue((m.soil.heights == 0.3).all())
        snapshot, mass = m.save(), m.soil.report.field_mass
        motion = m.simulate(0.3)
        heights, state = m.soil.heights.copy(), m.save()
        self.assertLess(heights.min(), 0.29)
        self.assertLess(motion["lift.position"][-1], 0.3)
        self.assertAlmostEqual(m.soil.report.field_mass / mass, 1.0, 12)
        m.restore(snapshot)
        self.assertTrue((m.soil.heights == 0.3).all())
        for _ in range(300):
            m.step()
        self.assertEqual(m.save(), state)
        m.reset()
        self.assertTrue((m.soil.heights == 0.3).all())
        self.assertIsNone(bramah.Machine(MACHINE).soil)

    def test_motion_of_the_program(self):
        truth, log, own_log = (self.folder / n for n in ("truth.csv", "log.csv", "own-log.csv"))
        self.program("simulate", MACHINE, "--duration", "1", "--step", "0.001", "--output", truth, "--noise", STUDY,
                     "--seed", "3", "--log", log)
        motion = bramah.Machine(MACHINE).simulate(1.0, study=STUDY, log=own_log, seed=3)
        self.assertEqual(log.read_bytes(), own_log.read_bytes())
        self.assertTrue(motion.trusted)
        self.assertLess(motion.energy.largest, motion.energy.limit)
        file = bramah.read_log(truth)
        np.testing.assert_allclose(motion.time, file.time, atol=1e-12)
        for name in motion:
            np.testing.assert_allclose(motion[name], file[name], rtol=1e-9, atol=1e-300, err_msg=name)
            self.assertEqual(motion.units[name], file.units[name] or "1")

    def test_commands(self):
        m = bramah.Machine(MACHINE)
        planned = m.simulate(0.3)
        m.reset()
        at = m.save()
        still = m.simulate(0.3, lambda t: [0.0])
        m.restore(at)
        held = m.simulate(0.3, {"t": [0.0, 0.1], "valve": [0.0, 2.0]})
        self.assertEqual(still["valve.command"].max(), 0.0)
        np.testing.assert_array_equal(held["valve.command"], np.where(held.time < 0.1 - 1e-9, 0.0, 2.0))
        np.testing.assert_array_equal(held["crank.angle"][:100], still["crank.angle"][:100])
        self.assertGreater(abs(held["crank.angle"][-1] - still["crank.angle"][-1]), 1e-5)
        self.assertEqual(planned["crank.angle"][0], still["crank.angle"][0])
        m.restore(at)
        for _ in range(300):
            m.step([0.0])
        self.assertEqual(m["crank.angle"], still["crank.angle"][-1])

        def bad(t):
            raise ZeroDivisionError("of mine")
        with self.assertRaisesRegex(ZeroDivisionError, "of mine"):
            m.simulate(0.1, bad)
        self.fails(bramah.Error, "E_SYNTAX", m.restore, b"none")

    def test_a_motion_that_no_machine_makes(self):
        text = MACHINE.read_text().replace("7.6 MPa", "0.2 bar")
        self.assertNotEqual(text, MACHINE.read_text())
        path = self.folder / "m.yaml"
        path.write_text(text)
        m = bramah.Machine(path)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            motion = m.simulate(1.0, lambda t: [-10.0 if t < 0.5 else 10.0])
        self.assertEqual(motion.trusted, not caught)
        self.assertEqual(len(caught), len(motion.doubts))
        self.assertTrue(caught, "nothing is beyond its limits here")
        self.assertIs(caught[0].category, bramah.DoubtWarning)

    def test_linear_equations(self):
        system = bramah.linearize(MACHINE, "rest")
        n = len(system.states)
        self.assertEqual(system.A.shape, (n, n))
        self.assertEqual(system.B.shape, (n, 1))
        self.assertEqual(system.C.shape, (len(system.outputs), n))
        self.assertFalse(system.A.flags.writeable)
        modes = system.modes()
        eigenvalues = np.linalg.eigvals(system.A)
        np.testing.assert_allclose(np.sort(np.abs(modes.values))[2:], np.sort(np.abs(eigenvalues))[2:], rtol=1e-9)
        for mode in modes:
            s = complex(mode.re, mode.im)
            if abs(s) < 1.0:
                continue  # nothing moves: all is rounding
            residual = np.abs(system.A @ mode.shape - s * mode.shape)
            self.assertTrue((residual <= 1e-9 * (np.abs(system.A) @ np.abs(mode.shape))).all(), mode)
            self.assertAlmostEqual(mode.participation.sum(), 1.0, 9)
        A = system.A
        del system
        self.assertTrue(np.isfinite(A).all())

        system = bramah.Machine(MACHINE).linearize("rest")
        F, G = system.discretise(1e-3)
        np.testing.assert_allclose(G[-1, 0], 1.0 - F[-1, -1], rtol=1e-9)  # a spool that follows its command
        w = np.array([3.0, 30.0])
        response = system.frequency_response("crank.angle", "valve", w)
        row = list(system.outputs).index("crank.angle")
        for k in range(2):
            x = np.linalg.solve(1j * w[k] * np.eye(n) - system.A, system.B[:, 0])
            np.testing.assert_allclose(response[k], system.C[row] @ x + system.D[row, 0], rtol=1e-6)
        e = self.fails(bramah.NameUnknown, "E_REFERENCE", system.frequency_response, "crank.angel", "valve", w)
        self.assertIn("crank.angle", str(e))

    def test_regulator(self):
        system = bramah.linearize(ROOT / "datasets" / "linearization-four-bar" / "linearization-four-bar.yaml", "start")
        if not system.inputs:
            system = bramah.linearize(MACHINE, "1 s", inputs=["crank.load"])
        n = len(system.states)
        try:
            K, P = system.lqr(np.ones(n), np.ones(len(system.inputs)))
        except bramah.NumericError as e:
            self.assertEqual(e.status, "E_SINGULAR")
            return
        np.testing.assert_allclose(P, P.T, rtol=1e-6)
        self.assertLess(np.linalg.eigvals(system.A - system.B @ K).real.max(), 0)

    def test_c_source(self):
        for path in (MACHINE, STUDY):
            source = bramah.compile_source(path, "own")
            folder = self.folder / path.stem
            source.write(folder)
            self.program("compile", path, "--output", self.folder / "program", "--name", "own")
            for suffix in (".h", ".c"):
                self.assertEqual((folder / f"own{suffix}").read_bytes(),
                                 (self.folder / "program" / f"own{suffix}").read_bytes())
        self.assertEqual(source.info.step, 0.001)
        self.fails(bramah.Error, "E_UNSUPPORTED", bramah.compile_source, FOUR_BAR / "hypotheses.yaml")


class Files(Case):
    def test_written_and_read(self):
        columns = {"t": np.arange(5) * 0.1, "p": np.array([1e5, np.nan, 3e5, 4e5, np.pi * 1e5])}
        for name in ("own.csv", "own.mat"):
            path = self.folder / name
            bramah.write_log(path, columns, {"p": "Pa"}, digits=17)
            log = bramah.read_log(path)
            np.testing.assert_array_equal(log["p"], columns["p"])
            np.testing.assert_allclose(log.time, columns["t"])
            self.assertEqual(log.units, {"p": "Pa"})
        (self.folder / "bar.csv").write_text("t[s],p[bar]\n0,1\n0.1,2\n")
        log = bramah.read_log(self.folder / "bar.csv")
        np.testing.assert_array_equal(log["p"], [1e5, 2e5])
        self.assertEqual(log.units["p"], "Pa")
        (self.folder / "bad.csv").write_text("t[s],p[bar]\n0,1\n0.1,x\n")
        e = self.fails(bramah.InputError, "E_SYNTAX", bramah.read_log, self.folder / "bad.csv")
        self.assertEqual((e.line, e.column > 0), (3, True))

    def test_matrices(self):
        """Column after column, as the format has them; by SciPy too where it is installed."""
        A, path = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), self.folder / "own.mat"
        bramah.write_mat(path, {"A": A, "turned": A.T, "v": [7.0, 8.0], "names": ["x", "größe"]})
        data = path.read_bytes()
        self.assertIn(A.tobytes("F"), data)
        self.assertIn(A.T.tobytes("F"), data)
        self.assertIn("größe".encode("utf-16-le"), data)
        self.fails(bramah.Error, "E_ARGUMENT", bramah.write_mat, self.folder / "bad.mat", {"1": A})
        try:
            from scipy.io import loadmat
        except ImportError:
            return
        read = loadmat(path, uint16_codec="utf_16_le")
        np.testing.assert_array_equal(read["A"], A)
        np.testing.assert_array_equal(read["turned"], A.T)
        np.testing.assert_array_equal(read["v"], [[7.0], [8.0]])
        self.assertEqual([str(cell[0][0]) for cell in read["names"]], ["x", "größe"])

    def test_noise(self):
        """That of a simulated sensor; another seed or name gives another one."""
        log, truth = self.folder / "log.csv", self.folder / "truth.csv"
        bramah.Machine(MACHINE).simulate(0.1, truth=truth, study=STUDY, log=log, seed=3)
        added = bramah.read_log(log)["p1"] - bramah.read_log(truth)["v1.pressure"]
        np.testing.assert_allclose(bramah.noise(3, "p1", len(added), bramah.si("0.5 bar")), added, rtol=0, atol=0.1)
        self.assertFalse((bramah.noise(3, "p2", 9) == bramah.noise(3, "p1", 9)).any())
        self.assertFalse((bramah.noise(4, "p1", 9) == bramah.noise(3, "p1", 9)).any())

    def test_mistakes_of_a_file(self):
        self.assertEqual(bramah.check_file(STUDY), [])
        path = self.study(replace={"sigma: 0.5 bar": "sigma: 0.5 kg", "position: 63 deg": "position: 63 m"})
        mistakes = bramah.check_file(path)
        self.assertEqual(len(mistakes), 2)
        for e in mistakes:
            self.assertIsInstance(e, bramah.InputError)
            self.assertEqual((e.status, e.file), ("E_UNIT", str(path)))
            self.assertGreater(e.line, 10)

    def test_comparison(self):
        a, b = self.folder / "a.csv", self.folder / "b.csv"
        time = np.arange(10) * 0.01
        bramah.write_log(a, {"t": time, "x": np.zeros(10)}, {"x": "m"})
        bramah.write_log(b, {"t": time, "x": np.where(time > 0.045, 0.002, 0.0)}, {"x": "m"})
        found = bramah.compare(a, b, tolerances={"x": "1 mm"})
        self.assertEqual((found.pairs, found.first.name, found.first.beyond), (10, "x", 5))
        self.assertEqual(found.first.first.time_ns, 50_000_000)
        self.assertIsNone(bramah.compare(a, b, tolerances={"x": "3 mm"}).first)

    def test_work_cycles(self):
        t = np.arange(1200) * 0.05
        phase = t % 20  # digs 8 s, swings 4 s, dumps 4 s, swings back
        load = np.interp(phase, [0, 7, 13, 15, 20], [0, 900, 900, 0, 0]) + 5 * np.sin(t * t)
        swing = np.where((phase > 8) & (phase < 12), 0.5, np.where(phase > 16, -0.5, 0.0)) + 0.005 * np.sin(t * t)
        cut = bramah.work_cycles(t, load, swing, np.full(1200, 9.0))
        self.assertEqual((cut.n_cycles, cut.doubt), (3, ""))
        for border, wanted in zip(cut.cycles[1].begin, (20, 28, 32, 36, 40)):
            self.assertAlmostEqual(border.t, wanted, delta=0.2)
        self.assertAlmostEqual(cut.cycles[1].load, 900, delta=5)
        self.assertEqual(cut.phase.shape, (cut.n,))
        self.fails(bramah.TimeError, "E_TIME", bramah.work_cycles, [1, 0], [0, 0], [0, 0])
        self.assertEqual(bramah.movement([0, 1, 2], [0, 1, 0], 0.5).reversals, 1)
        np.testing.assert_allclose(bramah.leaderboard([(0, 10, 2, 0), (1, 20, 1, 1)]), [4 / 3, 5 / 3])
        self.assertEqual(bramah.friedman([[1, 2, 3]] * 6).statistic, 12.0)
        self.assertAlmostEqual(bramah.spearman(range(9), [0, 1, 2, 3, 4, 5, 6, 8, 7]).effect, 1 - 12 / 720)

    def test_units(self):
        self.assertEqual(bramah.si("76 bar"), 7.6e6)
        self.assertEqual(bramah.si("-3e-2 m"), -0.03)
        self.assertEqual(bramah.si("4"), 4.0)
        self.assertAlmostEqual(bramah.convert(np.array([np.pi]), "rad", "deg")[0], 180.0, 12)
        self.assertEqual(bramah.factor("L"), 1e-3)
        self.fails(bramah.InputError, "E_UNIT", bramah.si, "3 bananas")
        self.fails(bramah.InputError, "E_UNIT", bramah.si, "3 bar", "m")
        self.fails(bramah.InputError, "E_UNIT", bramah.convert, 1.0, "bar", "m")


if __name__ == "__main__":
    unittest.main()
