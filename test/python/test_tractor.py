# SPDX-License-Identifier: GPL-3.0-or-later
"""datasets/tractor: it falls, stands, drives, steers, brakes, and works as publication V prints."""
import os
import sys
import unittest

import numpy as np

import bramah
from common import ROOT, Case

FOLDER = ROOT / "datasets" / "tractor"
sys.path.insert(0, str(FOLDER))
import drive  # noqa: E402

IS_LONG = int(os.environ.get("BRAMAH_SEEDS", "0")) >= 100

WHEELS = ["rear_left", "rear_right", "front_left", "front_right"]
MASS, G, BASE, TRACK = 5622.0, 9.81, 2.5, 1.7  # [kg], [m/s^2], [m]
CLOSED = {"inputs.lift": "[[0 s, 0 V]]", "inputs.tilt": "[[0 s, 0 V]]"}


class Tractor(Case):
    def rolling(self, speed, steering=0.0, brake=0.0, **changes):
        """It rolls on, without a drive, from a speed [m/s] with its wheels steered [deg] and its brakes pressed [V]."""
        rates = {f"joints.wheel_{n}.rate": f"{speed / r} rad/s" for n, r in (("rl", 0.8), ("rr", 0.8), ("fl", 0.55), ("fr", 0.55))}
        return bramah.Machine(FOLDER / "tractor.yaml", step=2e-3, changes={
            **CLOSED, **rates, "joints.frame.rate": f"[{speed} m/s, 0 m/s, 0 m/s, 0 rad/s, 0 rad/s, 0 rad/s]",
            "joints.steering.initial": f"{steering} deg", "inputs.brake": f"[[0 s, {brake} V]]", **changes})

    def test_counts(self):
        """The thirteen printed bodies and their fifteen joints of which three are cut; four wheels and a pivot of the axle that are ours."""
        said = self.program("check", FOLDER / "tractor.yaml")
        self.assertIn("17 bodies", said)
        self.assertIn("17 joints:", said)  # without the cut ones, with the wheels' and the free one of the frame
        self.assertEqual(said.count("\n  loop "), 3)
        self.assertEqual(said.count(", welded"), 2)
        self.assertIn("14 degrees of freedom", said)  # 6 + steering + lift + tilt; axle and wheels
        self.assertIn("how: tape", said)

    def test_modes(self):
        """Bounce, pitch and roll of the standing tractor against those of one body on four springs (mass, centre and moments of inertia of all
        bodies in this pose, wheels free to turn). It rolls about the axle's pivot and where its rear tyres touch."""
        a, b, h, inertia = 1.130, BASE - 1.130, 0.984, 10560.0
        rear, front = 2 * 320e3, 2 * 260e3
        K = np.array([[rear + front, rear * a - front * b], [rear * a - front * b, rear * a**2 + front * b**2]])
        pitch, bounce = np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(np.diag([MASS, inertia]), K)))) / (2 * np.pi)
        pivot = np.array([BASE, 0.0, 0.5528])
        u = pivot / np.linalg.norm(pivot)
        arm = (h - a * pivot[2] / BASE) * u[0]
        about = u[0]**2 * 2782 + u[2]**2 * 10821 + 2 * u[0] * u[2] * 893 + MASS * arm**2
        roll = np.sqrt((rear * (TRACK / 2 * u[0])**2 - MASS * G * arm * u[0]) / about) / (2 * np.pi)
        free = {"inputs.brake": "[[0 s, 0 V]]", **{f"brakes.brake_{side}.command.initial": "0 V" for side in ("left", "right")}}
        modes = bramah.linearize(FOLDER / "tractor.yaml", "start", changes=free).modes()
        found = np.array([m.frequency for m in modes])
        for frequency in (pitch, bounce, roll):
            self.assertLess(np.abs(found / frequency - 1).min(), 0.02, (frequency, found))
        self.assertTrue(all(m.stability != "unstable" for m in modes))

    def test_parameters(self):
        """Stiffness and grip of a tyre and the ground below it, grip of a brake."""
        machine = self.rolling(2.0, 10.0, brake=10.0)
        before = machine["rear_left.normal_force"], machine["rear_left.lateral_force"]
        machine.parameters["rear_left.stiffness"] = "480 kN/m"
        self.assertAlmostEqual(machine["rear_left.normal_force"] / before[0], 1.5, 9)
        machine.parameters["rear_left.stiffness"], machine.parameters["rear_left.ground_height"] = "320 kN/m", "10 mm"
        self.assertAlmostEqual(machine["rear_left.normal_force"], before[0] + 3200.0, 6)
        self.assertAlmostEqual(machine["rear_left.lateral_force"] / machine["rear_left.normal_force"], before[1] / before[0], 9)
        machine.parameters["rear_left.ground_height"] = 0.0
        free = machine.simulate(0.2)
        rolls = {}
        for name, scale in (("brake_left", 0.3), ("rear_left", 0.3)):
            machine = self.rolling(2.0, brake=10.0)
            machine.parameters[f"{name}.friction_scale"] = scale
            rolls[name] = machine.simulate(0.4)
            self.assertGreater(abs(rolls[name]["frame_yaw.rate"][-1]), 0.004, name)
        self.assertLess(rolls["rear_left"]["rear_left.longitudinal_force"].min() / rolls["rear_left"]["rear_right.longitudinal_force"].min(), 0.4)
        self.assertTrue(free.trusted)

    def test_drop(self):
        machine = bramah.Machine(FOLDER / "tractor.yaml", step=2e-3, changes={**CLOSED, **{k: v for k, v in drive.DROP.items() if "frame" in k}})
        motion = machine.simulate(5.0, outputs=[*machine.outputs, "energy.contacts"])
        energy = motion["energy.kinetic"] + motion["energy.potential"]
        self.assertLess(energy.max() - energy[0], 1e-3)
        highest = [energy[(motion.time >= k) & (motion.time <= k + 1)].max() for k in range(5)]
        self.assertLess(np.diff(highest).max(), 0.0)
        self.assertTrue(motion.trusted, motion.doubts)
        load = {w: motion[f"{w}.normal_force"] for w in WHEELS}
        self.assertGreater(sum(load.values()).max(), 3 * MASS * G)
        self.assertEqual(sum(load.values())[50], 0.0)  # in the air
        self.assertLess(abs(sum(load.values())[-1] / (MASS * G) - 1), 1e-3)
        self.assertLess(abs(load["rear_left"][-1] - load["rear_right"][-1]), 1e-3)
        self.assertLess(abs(motion["frame_z.rate"][-1]), 1e-3)

    def test_straight(self):
        motion = self.rolling(2.0).simulate(1.5)
        self.assertGreater(motion["frame_x.position"][-1], 2.4)
        for name in ("frame_y.position", "frame_yaw.angle", "frame_roll.angle"):
            self.assertLess(np.abs(motion[name]).max(), 1e-9, name)

    def test_circle(self):
        """Yaw rate of a bicycle whose tyres slip by the same angle, as both axles have a slip stiffness in proportion to their load: v tan(delta) / L."""
        for angle in (12.0, -12.0):
            motion = self.rolling(2.0, angle).simulate(2.5)
            rows = motion.time > 1.5
            speed = np.hypot(motion["frame_x.rate"], motion["frame_y.rate"])
            steered = 2.0 / (1 / np.tan(motion["steering.angle"]) + 1 / np.tan(motion["steering_right.angle"]))
            self.assertLess(np.abs(motion["frame_yaw.rate"] / (speed * steered / BASE) - 1)[rows].max(), 0.03)
            self.assertGreater(np.sign(angle) * motion["frame_yaw.rate"][-1], 0.1)
            self.assertGreater(-np.sign(angle) * (motion["front_right.normal_force"] + motion["rear_right.normal_force"] - MASS * G / 2)[-1], -1e4)

    def test_brakes(self):
        motion = self.rolling(2.0, brake=10.0).simulate(2.5)
        self.assertLess(np.abs(motion["frame_x.rate"][-1]), 0.03)
        stopped = np.argmax(motion["frame_x.rate"] < 0.1)
        slowing = 1.9 / motion.time[stopped] / G
        share = (motion["rear_left.normal_force"] + motion["rear_right.normal_force"])[50:stopped].mean() / (MASS * G)
        self.assertTrue(0.35 * share < slowing < 0.5 * share, (slowing, share))  # rear tyres slide

    def test_slope(self):
        """A slope of 10 %: brakes hold it; without, it rolls down."""
        slope = {"gravity": "[-0.9762, 0, -9.762 m/s^2]"}
        held = self.rolling(0.0, brake=10.0, **slope).simulate(4.0)
        self.assertLess(np.ptp(held["frame_x.position"][held.time > 3.0]), 5e-3)
        rolls = self.rolling(0.0, **slope).simulate(1.5)
        self.assertLess(rolls["frame_x.rate"][-1], -1.0)

    def test_cycle(self):
        machine = drive.tractor(step=4e-3)
        motion = drive.drive(machine)
        self.assertTrue(motion.trusted, motion.doubts)
        self.assertLess(motion.energy.largest, 1e-3 * motion.energy.turnover)

        def at(name, t):
            return motion[name][round(t / 4e-3)]

        self.assertLess(np.abs(motion["frame_x.rate"][(motion.time > 3) & (motion.time < 4.8)]).max(), 0.02)
        self.assertGreater(at("teeth_height", 2.36), at("teeth_height", 1.52) + 0.1)
        self.assertLess(at("bucket.angle", 4.1), at("bucket.angle", 2.96) - np.radians(8))
        self.assertGreater(at("frame_x.position", 10.12), 5.0)
        self.assertLess(abs(at("frame_x.rate", 14.0)), 0.05)
        self.assertAlmostEqual(at("payload", 20.0), 600.0, 6)
        self.assertLess(at("frame_x.position", 34.6), -10.0)
        self.assertGreater(at("teeth_height", 36.66), 2.0)
        self.assertLess(at("boom.angle", 40.0) + at("bucket.angle", 40.0), np.radians(-30))
        self.assertEqual(at("payload", 43.0), 0.0)
        self.assertTrue(19.5 < at("lift_left.force", 20.0) / 1e3 < 24, at("lift_left.force", 20.0))

    def log(self, seconds, seed):
        """Of a machine drawn from what the study states, by the same steps; its truth."""
        machine, log, study = drive.tractor(True, step=4e-3), self.folder / f"log-{seed}.csv", FOLDER / "sensors.yaml"
        biases = drive.draw(machine, study, seed)
        motion = drive.drive(machine, seconds, study, log, seed, process_noise=True)
        drive.add_biases(log, biases)
        return motion, log

    def test_estimates(self):
        """Payload, roll, pitch and boom in their bands (floating machines have no NEES); in the long run the whole cycle."""
        for seed in (1, 2) if IS_LONG else (1,):
            truth, log = self.log(44.0 if IS_LONG else 2.0, seed)
            shown, rows = self.folder / "truth.csv", slice(None, None, 5)
            bramah.write_log(shown, {"t": truth.time[rows], **{n: truth[n][rows] for n in truth}}, truth.units)
            replay = bramah.replay(FOLDER / "sensors.yaml", log, truth=shown, model_alone=False)

            def error(name):
                return (replay[name] - replay.truth(name))[::5]

            for name in ("payload", "cabin.roll", "cabin.pitch", "boom.angle"):
                self.assertGreater(np.mean(np.abs(error(name)) < 1.96 * replay.sigma(name)[::5]), 0.85, name)
            self.assertLess(np.degrees(np.abs(error("cabin.roll")).max()), 0.2)
            if IS_LONG:
                carried = (replay.time[::5] > 15.2) & (replay.time[::5] < 36.4)
                self.assertLess(np.abs(error("payload")[carried]).max(), 20.0)
            else:
                self.assertLess(np.abs(error("payload")).max(), 10.0)

    def test_formulations(self):
        """The drop by all three: the same motion within what their steps err by."""
        ends = []
        for formulation in ("partitioning", "augmented-lagrangian", "penalty"):
            motion = drive.tractor(step=2e-3, changes={"integrator.formulation": formulation}).simulate(0.6)
            self.assertTrue(motion.trusted, motion.doubts)
            ends.append([motion[n][-1] for n in ("frame_z.position", "frame_pitch.angle", "boom.angle", "bucket.angle", "frame_z.rate")])
        np.testing.assert_allclose(ends[1], ends[0], atol=1e-6)
        np.testing.assert_allclose(ends[2], ends[0], atol=1e-4)


if __name__ == "__main__":
    unittest.main()
