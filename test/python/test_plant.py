# SPDX-License-Identifier: GPL-3.0-or-later
"""Plants and sensors written in Python, against a Kalman filter made by hand."""
import unittest

import numpy as np

import bramah
from common import FOUR_BAR, Case

H, G, SIGMA, DENSITY = 0.002, 9.81, 0.02, 0.3


class Pendulum(bramah.Plant):
    """angle'' = -g / length sin(angle) + torque, semi-implicit Euler, with its derivatives."""
    step_length = H
    n_dof = 1
    states = {"angle": "rad", "rate": "rad/s"}
    inputs = ["torque"]
    outputs = {"height": "m"}
    parameters = {"length": ("m", 1.0, 0.1, 10.0)}
    derivatives = False

    def __init__(self, angle=0.4):
        self.x[0] = angle

    def step(self):
        self.x[1] += H * (-G / self.p[0] * np.sin(self.x[0]) + self.u[0])
        self.x[0] += H * self.x[1]

    def observe(self):
        return [-self.p[0] * np.cos(self.x[0])]


class Derived(Pendulum):
    def step_transition(self, F, N, par, G_):
        stiffness = -H * G / self.p[0] * np.cos(self.x[0])
        F[:] = [[1.0 + H * stiffness, H], [stiffness, 1.0]]
        if N is not None:
            N[:] = [[H / 2], [1.0]]
        for k in range(len(par)):
            b = H * G / self.p[0]**2 * np.sin(self.x[0])
            G_[:, k] = [H * b, b]
        self.step()


def by_hand(samples, transition, x=0.4, gate=None):
    """An extended Kalman filter of the pendulum, with the process noise of bramah/filter.h."""
    x, P, out = np.array([x, 0.0]), np.diag([0.1**2, 0.2**2]), []
    for y in samples:
        a = -H * G * np.cos(x[0])
        F = np.array([[1.0 + H * a, H], [a, 1.0]])
        x[1] += H * -G * np.sin(x[0])
        x[0] += H * x[1]
        P = F @ P @ F.T + transition(F)
        S = P[0, 0] + SIGMA**2
        K = P[:, 0] / S
        x += K * (y - x[0])
        I_KH = np.eye(2) - np.outer(K, [1.0, 0.0])
        P = I_KH @ P @ I_KH.T + SIGMA**2 * np.outer(K, K)
        out.append([x[0], x[1], np.sqrt(P[0, 0]), np.sqrt(P[1, 1])])
    return np.array(out)


class Plants(Case):
    def samples(self, n=400):
        truth, rng, out = Pendulum(0.45), np.random.default_rng(1), []
        for _ in range(n):
            truth.step()
            out.append(truth.x[0] + SIGMA * rng.standard_normal())
        return np.array(out)

    def filter_of(self, kind, **more):
        options = dict(position_sigma=0.1, rate_sigma=0.2, acceleration_noise=DENSITY, gate=0.0, drift_gate=0.0)
        return bramah.Filter(kind(), [bramah.Sensor("angle", SIGMA)], **{**options, **more})

    def run_it(self, f, samples):
        out = []
        for k, y in enumerate(samples):
            f.step(H * (k + 1), [0.0], [y])
            out.append([f["angle"], f["rate"], f.sigma("angle"), f.sigma("rate")])
        return np.array(out)

    def test_a_filter_made_by_hand(self):
        samples = self.samples()
        f = self.filter_of(Derived)
        mine = self.run_it(f, samples)
        # The noise of a step, as the filter makes it: read from its first step, where P is known.
        probe = self.filter_of(Derived)
        probe.step(H, [0.0], None)
        a = -H * G * np.cos(0.4)
        F = np.array([[1.0 + H * a, H], [a, 1.0]])
        Q = probe.covariance - F @ np.diag([0.1**2, 0.2**2]) @ F.T
        np.testing.assert_allclose(Q[1, 1], DENSITY**2 * H, rtol=1e-2)
        hand = by_hand(samples, lambda _: Q)
        np.testing.assert_allclose(mine, hand, rtol=3e-4, atol=3e-6)
        self.assertLess(abs(mine[-1, 0] - hand[-1, 0]), 1e-6)
        self.assertEqual(f.parameters["length"], 1.0)
        self.assertAlmostEqual(f["height"], -np.cos(f["angle"]), 12)
        self.assertAlmostEqual(f.sigma("height"), abs(np.sin(f["angle"])) * f.sigma("angle"), 8)

    def test_derivatives_by_differences(self):
        samples = self.samples(60)
        exact, differences = self.filter_of(Derived), self.filter_of(Pendulum)
        np.testing.assert_allclose(self.run_it(differences, samples), self.run_it(exact, samples), rtol=1e-3, atol=1e-5)

    def test_other_transitions_and_forms(self):
        samples = self.samples(60)
        reference = self.run_it(self.filter_of(Derived), samples)
        root = self.run_it(self.filter_of(Derived, form="square root"), samples)
        np.testing.assert_allclose(root, reference, rtol=1e-7, atol=1e-9)

    def test_parameter_estimated(self):
        truth, rng = Pendulum(0.6), np.random.default_rng(2)
        truth.p[0] = 1.2
        f = bramah.Filter(Derived(0.6), [bramah.Sensor("angle", SIGMA)], position_sigma=0.1, rate_sigma=0.2,
                          acceleration_noise=0.05, augmented=[{"name": "length", "kind": "parameter", "at": "length",
                                                               "sigma": 0.3}])
        for _ in range(3000):
            truth.step()
            f.step(None, [0.0], [truth.x[0] + SIGMA * rng.standard_normal()])
        length = f.augmented["length"]
        self.assertLess(abs(length.value - 1.2), 4 * length.sigma)
        self.assertLess(length.sigma, 0.05)
        snapshot = f.save()
        f.step(None, [0.0], [0.0])
        f.restore(snapshot)
        self.assertEqual(f.save(), snapshot)
        self.assertEqual(f.parameters["length"], length.value)

    def test_own_exceptions(self):
        class Failing(Derived):
            when = ""

            def fail(self, where):
                if self.when == where:
                    raise ZeroDivisionError(f"in {where}")

            def step(self):
                self.x[0] += 1.0
                self.fail("step")
                self.x[0] -= 1.0
                super().step()

            def observe(self):
                self.fail("observe")
                return super().observe()

            def inject(self, dx):
                self.fail("inject")
                super().inject(dx)

        plant = Failing()
        f = bramah.Filter(plant, [bramah.Sensor("height", SIGMA)], position_sigma=0.1, rate_sigma=0.2,
                          acceleration_noise=DENSITY)
        f.step(H, [0.0], [-0.9])
        for where in ("step", "observe", "inject"):
            before = f.save()
            plant.when = where
            with self.assertRaisesRegex(ZeroDivisionError, f"in {where}"):
                f.step(None, [0.0], [-0.9])
            plant.when = ""
            self.assertEqual(f.save(), before, where)
        f.step(None, [0.0], [-0.9])
        plant.when = "observe"
        with self.assertRaises(ZeroDivisionError):
            f["height"]
        self.assertEqual(f.counts.predictions, 2)

    def test_interrupt_comes_out(self):
        class Interrupted(Pendulum):
            def step(self):
                raise KeyboardInterrupt
        with self.assertRaises(KeyboardInterrupt):
            self.filter_of(Interrupted).step(H, [0.0], [0.4])

    def test_not_from_within(self):
        """A callback that asks its own filter gets an Error, not a deadlock."""
        class Asking(Pendulum):
            def step(self):
                self.filter["angle"]
        plant = Asking()
        plant.filter = bramah.Filter(plant, [bramah.Sensor("angle", SIGMA)], position_sigma=0.1, rate_sigma=0.1)
        self.assertIn("in use", str(self.fails(bramah.Error, "E_ARGUMENT", plant.filter.step, H, [0.0], [0.4])))

    def test_mistakes(self):
        class Nothing(bramah.Plant):
            step_length, n_dof, states = 0.01, 1, {"a": "rad", "b": "rad/s"}
        f = bramah.Filter(Nothing(), [], position_sigma=1, rate_sigma=1)
        with self.assertRaises(NotImplementedError):
            f.step()
        self.fails(bramah.InputError, "E_REFERENCE", bramah.Filter, Pendulum(), [bramah.Sensor("angel", 0.1)],
                   position_sigma=1, rate_sigma=1)
        self.fails(bramah.InputError, "E_VALUE", bramah.Filter, Pendulum(), [bramah.Sensor("angle", -0.1)],
                   position_sigma=1, rate_sigma=1)
        self.fails(bramah.NameUnknown, "E_REFERENCE", bramah.Filter, Pendulum(), [bramah.Sensor("angle", 0.1, "gyroo")],
                   position_sigma=1, rate_sigma=1)
        f = bramah.Filter(Pendulum(), [], position_sigma=1, rate_sigma=1)
        self.fails(bramah.InputError, "E_VALUE", f.parameters.__setitem__, "length", 20.0)


class Sensors(Case):
    def test_own_sensor_of_an_own_plant(self):
        """A function of an output is the output that the plant itself would show."""
        samples = -np.cos(np.linspace(0.45, 0.3, 60))
        options = dict(position_sigma=0.1, rate_sigma=0.2, acceleration_noise=DENSITY)
        own = bramah.Filter(Derived(), [bramah.Sensor("own", SIGMA, function=lambda v: -np.cos(v[0]), of=["angle"],
                                                      unit="m")], **options)
        shown = bramah.Filter(Derived(), [bramah.Sensor("height", SIGMA)], **options)
        for y in samples:
            own.step(None, [0.0], [y])
            shown.step(None, [0.0], [y])
        self.assertAlmostEqual(own["angle"], shown["angle"], 9)
        self.assertAlmostEqual(own.sigma("angle"), shown.sigma("angle"), 9)
        self.assertEqual(own["own"], -np.cos(own["angle"]))

    def test_own_sensor_of_a_machine(self):
        """The crank's encoder once more, as a function: the same as a second encoder."""
        table = np.genfromtxt(FOUR_BAR / "log.csv", delimiter=",", skip_header=1, max_rows=60)
        study = self.study(more="uncertainty: fixed\n")
        own = bramah.Filter.of_session(bramah.Session(study), [
            bramah.Sensor("own", 0.01, function=lambda v: 2.0 * v[0] - v[1], of=["crank.angle", "crank.angle"],
                          unit="rad")])
        second = bramah.Filter.of_session(bramah.Session(study), [bramah.Sensor("two", 0.01, "encoder", at="crank")])
        self.assertEqual(own.sensors[-1], "own")
        for row in table[1:]:
            y = [*row[2:], row[2]]
            own.step(row[0], row[1:2], y)
            second.step(row[0], row[1:2], y)
        for name in ("crank.angle", "v1.pressure"):
            np.testing.assert_allclose(own[name], second[name], rtol=1e-7)
            np.testing.assert_allclose(own.sigma(name), second.sigma(name), rtol=1e-6)

        def bad(values):
            raise ZeroDivisionError("of mine")
        with self.assertRaisesRegex(ZeroDivisionError, "of mine"):
            bramah.Filter.of_session(bramah.Session(study), [
                bramah.Sensor("own", 0.01, function=bad, of=["crank.angle"])]).step(0.001, [0.0], [1.0] * 6)
        session = bramah.Session(study)
        bramah.Filter.of_session(session, [])
        self.fails(bramah.Error, "E_ARGUMENT", session.step)


class Soil(Case):
    def test_terrain(self):
        """A blade in a field: heights, forces, particles, a snapshot, mistakes."""
        blade = bramah.Tool([[[0, 0.5, 0], [0, -0.5, 0], [-0.3, -0.5, 0.5], [-0.3, 0.5, 0.5]]],
                            edge=[[0, 0.5, 0], [0, -0.5, 0]], blade=[-0.3, 0, 0.5])
        soil = bramah.Terrain(30, 20, 0.1, tools=[blade], soil={"density": 1500.0}, max_particles=200)
        x = (np.arange(30) + 0.5) * 0.1
        soil.heights = np.broadcast_to(0.1 * x[:, None], (30, 20))
        self.assertAlmostEqual(soil.height(1.23, 0.77), 0.123)
        np.testing.assert_allclose(soil.normal(1.23, 0.77), np.array([-0.1, 0, 1]) / np.hypot(0.1, 1))
        mass = soil.report.field_mass
        self.assertAlmostEqual(mass / (1500.0 * 0.1 * 1.5 * 3.0 * 2.0), 1.0)

        def go(start):
            for k in range(start, start + 60):
                soil.place(0, [0.5 + 6e-4 * k, 1.0, -0.1], velocity=[0.5, 0, 0])
                soil.step(1.2e-3)
        go(0)
        load, state = soil.load(0), soil.save()
        self.assertLess(load.force[0], 0.0)
        self.assertGreater(soil.report.failures, 0)
        self.assertEqual(soil.particles.shape, (soil.report.n_particles, 9))
        self.assertAlmostEqual((soil.report.field_mass + soil.report.particle_mass) / mass, 1.0, 12)
        go(60)
        heights = soil.heights.copy()
        soil.restore(state)
        go(60)
        np.testing.assert_array_equal(soil.heights, heights)
        passive = bramah.cut_force(1.0, 1.0, np.pi / 2, tool_friction=0.0, friction=0.5)
        self.assertAlmostEqual(passive.n_weight, 0.5 * (1 + np.sin(0.5)) / (1 - np.sin(0.5)), 12)
        self.fails(bramah.InputError, "E_VALUE", bramah.Terrain, 30, 20, -0.1)
        self.fails(bramah.NameUnknown, "E_REFERENCE", bramah.Terrain, 30, 20, 0.1, depth=2)
        self.fails(bramah.InputError, "E_VALUE", soil.press, 1.0, 1.0, -5.0)
        self.fails(bramah.Error, "E_ARGUMENT", soil.place, 1)
        self.fails(bramah.InputError, "E_VALUE", soil.restore, state[:2000] + bytes([state[2000] ^ 1]) + state[2001:])


if __name__ == "__main__":
    unittest.main()
