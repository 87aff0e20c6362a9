# SPDX-License-Identifier: GPL-3.0-or-later
"""A filter step by step: the bits of a replay, snapshots, alarms, mistakes, threads, many at once."""
import ctypes
import threading
import unittest
import xml.etree.ElementTree
import zipfile

import numpy as np

import bramah
from common import FOUR_BAR, Case

STUDY, LOG = FOUR_BAR / "sensors-2.yaml", FOUR_BAR / "log.csv"


def rows(n):
    table = np.genfromtxt(LOG, delimiter=",", skip_header=1, max_rows=n)
    return table[:, 0], table[:, 1:2], table[:, 2:]


class Sessions(Case):
    def test_bits_of_a_replay(self):
        t, u, y = rows(301)
        r = bramah.replay(STUDY, LOG, end=0.3)
        s = bramah.Session(STUDY, outputs=["crank.angle", "v2.pressure"])
        self.assertEqual(s.inputs, ("valve",))
        self.assertEqual(s.sensors, ("crank_encoder", "crank_gyro", "p1", "p2", "p3"))
        self.assertEqual(s.sensor_units["p1"], "Pa")
        self.assertEqual(list(s.states.values()), ["rad", "rad/s", "Pa", "Pa", "Pa"])
        s.step(0.001, u[0], y[1])
        value, sigma = s.estimate()
        self.assertEqual(value.shape, (2,))
        for k in range(2, 301):
            s.step(t[k], u[k - 1], y[k])
        again = s.estimate()
        self.assertIs(again[0], value)
        # A replay corrects at t = 0 as well, the first row: the two have the same information but for that.
        np.testing.assert_allclose(value[0], r["crank.angle"][300], atol=0.2 * sigma[0])
        self.assertEqual(value[0], s["crank.angle"])
        self.assertEqual(sigma[1], s.sigma("v2.pressure"))
        self.assertAlmostEqual(s.time, 0.3, 12)
        self.assertEqual(s.counts.predictions, 300)

    def test_virtual_sensor_everywhere(self):
        """What a machine file defines as an output is the same in a session, a replay, its log and an FMU."""
        n, name = 60, "reach"
        study = self.study(replace={"changes:\n": 'changes:\n  outputs: "{reach: {distance: [crank, rocker]}}"\n'})
        t, u, y = rows(n)
        s, seen = bramah.Session(study, outputs=[name]), []
        for k in range(1, n):
            s.step(t[k], u[k - 1], y[k])
            seen.append([float(v[0]) for v in s.estimate()])
        r = bramah.replay(study, LOG, end=t[-1])
        self.program("replay", study, LOG, "--to", t[-1], "--output", self.folder / "estimate.csv")
        log = bramah.read_log(self.folder / "estimate.csv")
        self.assertEqual(log.units[name], "m")
        for k in range(n):
            self.assertEqual(float(f"{r[name][k]:.10g}"), log[name][k])
            self.assertEqual(float(f"{r.sigma(name)[k]:.6g}"), log[name + ".sigma"][k])
        # It corrects at t = 0 as well, which a session does not.
        np.testing.assert_allclose([v for v, _ in seen][n // 2:], r[name][1 + n // 2:n], rtol=0, atol=r.sigma(name)[-1])
        np.testing.assert_allclose([sigma for _, sigma in seen][n // 2:], r.sigma(name)[1 + n // 2:n], rtol=0.2)
        fmu = self.folder / "reach.fmu"
        try:
            self.program("fmu", study, "--output", fmu)
        except AssertionError as e:
            self.skipTest(str(e))  # built without FMUs, or no compiler
        got = self.run_fmu(fmu, u, y, name)
        np.testing.assert_allclose(got[:, 0], r[name][:n], rtol=1e-9)
        np.testing.assert_allclose(got[:, 1], r.sigma(name)[:n], rtol=1e-6)

    def run_fmu(self, path, u, y, name):
        """An estimator's output and its sigma at every row, by the functions of FMI 2.0."""
        with zipfile.ZipFile(path) as archive:
            archive.extractall(self.folder / "fmu")
        about = xml.etree.ElementTree.parse(self.folder / "fmu" / "modelDescription.xml").getroot()
        of = {v.get("name"): int(v.get("valueReference")) for v in about.iter("ScalarVariable")}
        library = ctypes.CDLL(str(next((self.folder / "fmu" / "binaries").rglob("*.so"))))
        libc = ctypes.CDLL(None)
        for f in ("Instantiate", "SetupExperiment", "EnterInitializationMode", "ExitInitializationMode", "SetReal", "GetReal", "SetBoolean", "DoStep", "FreeInstance"):
            setattr(library, f, getattr(library, "fmi2" + f))
        callbacks = (ctypes.c_void_p * 5)(ctypes.cast(libc.abort, ctypes.c_void_p), ctypes.cast(libc.calloc, ctypes.c_void_p), ctypes.cast(libc.free, ctypes.c_void_p), None, None)
        library.Instantiate.restype = ctypes.c_void_p
        c = ctypes.c_void_p(library.Instantiate(b"a", 1, about.get("guid").encode(), b"", callbacks, 0, 0))
        number, sensors, got = ctypes.c_double, [n for n in of if n.startswith("measured.")], []
        set_real = lambda variable, x: self.assertEqual(library.SetReal(c, ctypes.byref(ctypes.c_uint(of[variable])), ctypes.c_size_t(1), ctypes.byref(number(x))), 0)
        self.assertEqual(library.SetupExperiment(c, 0, number(0), number(0), 0, number(0)), 0)
        self.assertEqual([library.EnterInitializationMode(c), library.ExitInitializationMode(c)], [0, 0])
        for k, row in enumerate(y):
            for sensor, value in zip(sensors, row):
                set_real(sensor, value)
                valid = ctypes.c_uint(of[sensor.replace("measured", "valid")])
                self.assertEqual(library.SetBoolean(c, ctypes.byref(valid), ctypes.c_size_t(1), ctypes.byref(ctypes.c_int(1))), 0)
            set_real("valve", u[k][0])
            both = (ctypes.c_double * 2)()
            self.assertEqual(library.GetReal(c, (ctypes.c_uint * 2)(of[name], of["sigma." + name]), ctypes.c_size_t(2), both), 0)
            got.append(list(both))
            self.assertEqual(library.DoStep(c, number(1e-3 * k), number(1e-3), 1), 0)
        library.FreeInstance(c)
        return np.array(got)

    def test_same_as_the_library_step_by_step(self):
        """Arguments, mappings and the arrays of the session are three ways to the same bits."""
        t, u, y = rows(60)
        one, two, three = (bramah.Session(STUDY) for _ in range(3))
        for k in range(1, 60):
            sample = y[k].copy()
            if k % 7 == 0:
                sample[2] = np.nan
            one.step(t[k], u[k], sample)
            two.step(t[k], {"valve": u[k, 0]}, {n: v for n, v in zip(two.sensors, sample) if v == v})
            three.step(None, list(u[k]), list(sample))
            self.assertEqual(bool(one.innovations["present"][2]), k % 7 != 0)
        self.assertEqual(one.save(), two.save())
        self.assertEqual(one.save(), three.save())
        self.assertEqual(one.nis[1], 5)
        self.assertGreater(one.last.iterations, 0)
        innovation = one.innovations
        np.testing.assert_allclose(innovation["nis"], (innovation["innovation"] / innovation["sigma"])**2)
        self.assertFalse(innovation.flags.writeable)
        covariance = one.covariance
        np.testing.assert_allclose(covariance, covariance.T, rtol=1e-9)
        self.assertGreaterEqual(len(covariance), len(one.states) + len(one.augmented))
        self.assertGreater(one.augmented["pump.pressure"].sigma, 0)
        self.assertTrue(np.isfinite(one.log_likelihood))

    def test_snapshots(self):
        t, u, y = rows(100)
        s = bramah.Session(STUDY)
        for k in range(1, 50):
            s.step(t[k], u[k], y[k])
        middle = s.save()
        for k in range(50, 100):
            s.step(t[k], u[k], y[k])
        end = s.save()
        other = bramah.Session(STUDY)
        other.restore(middle)
        self.assertEqual(other.save(), middle)
        for k in range(50, 100):
            other.step(t[k], u[k], y[k])
        self.assertEqual(other.save(), end)
        broken = bytearray(middle)
        broken[len(broken) // 3] ^= 1
        self.fails(bramah.InputError, "E_VALUE", s.restore, bytes(broken))
        self.assertEqual(s.save(), end)
        for part in (b"", middle[:100], middle[:-10], middle + b"more"):
            with self.assertRaises(bramah.Error):
                s.restore(part)
            self.assertEqual(s.save(), end)
        with self.assertRaises(bramah.Error):
            bramah.Session(FOUR_BAR / "sensors-1.yaml").restore(middle)

    def test_mistakes_change_nothing(self):
        t, u, y = rows(10)
        s = bramah.Session(STUDY)
        s.step(t[1], u[1], y[1])
        before = s.save()
        self.fails(bramah.TimeError, "E_TIME", s.step, 0.0, u[1], y[1])
        self.fails(bramah.Error, "E_ARGUMENT", s.step, t[2], u[1], y[1][:3])
        self.fails(bramah.Error, "E_ARGUMENT", s.step, t[2], [1.0, 2.0], y[1])
        e = self.fails(bramah.InputError, "E_NOT_FINITE", s.step, t[2], u[1], [np.inf, *y[1][1:]])
        self.assertEqual(e.thing, "crank_encoder")
        self.fails(bramah.InputError, "E_NOT_FINITE", s.step, t[2], [np.nan], y[1])
        self.fails(bramah.NameUnknown, "E_REFERENCE", s.step, t[2], {"valves": 1.0}, y[1])
        self.assertEqual(s.save(), before)
        s.step(t[2], u[2], y[2])
        self.assertEqual(s.counts.predictions, 2)

    def test_alarm(self):
        t, u, y = rows(900)
        s = bramah.Session(STUDY)
        for k in range(1, 900):
            sample = y[k].copy()
            sample[3] += 3e5 * (k > 300)
            s.step(t[k], u[k], sample)
            if k == 300:
                self.assertEqual(s.alarms, {})
        self.assertIn("p2", {**s.alarms, **{n: 0 for n in s.faulty}})

    def test_one_thread_at_a_time(self):
        """A second thread in the same object gets an Error, never wrong numbers; clones run side by side."""
        t, u, y = rows(2000)
        alone = bramah.Session(STUDY)
        shared, refused = bramah.Session(STUDY), []
        clones = [shared.clone() for _ in range(2)]

        def work(s):
            for k in range(1, 2000):
                try:
                    s.step(t[k], u[k], y[k])
                except bramah.Error as e:
                    refused.append(e.status)

        threads = [threading.Thread(target=work, args=(s,)) for s in clones]
        for thread in threads:
            thread.start()
        work(alone)
        for thread in threads:
            thread.join()
        self.assertEqual(refused, [])
        self.assertEqual([c.save() for c in clones], 2 * [alone.save()])
        shared._guard.lock.acquire()
        try:
            self.assertIn("another thread", str(self.fails(bramah.Error, "E_ARGUMENT", shared.step)))
            self.fails(bramah.Error, "E_ARGUMENT", shared.save)
        finally:
            shared._guard.lock.release()

    def test_delays_and_late_samples(self):
        study = self.study(replace={"p1: {type: pressure, volume: v1, sigma: 0.5 bar, rate: 1 kHz}":
                                    "p1: {type: pressure, volume: v1, sigma: 0.5 bar, rate: 1 kHz, delay: 5 ms}"})
        t, u, y = rows(100)
        s, prompt = bramah.Session(study), bramah.Session(STUDY)
        for k in range(1, 100):
            sample = y[k].copy()
            sample[2] = y[max(k - 5, 0)][2]
            s.step(t[k], u[k], sample)
            prompt.step(t[k], u[k], y[k])
        s.estimate()
        np.testing.assert_allclose(s["crank.angle"], prompt["crank.angle"], atol=0.1 * prompt.sigma("crank.angle"))
        whole = s.save()
        s.step(0.1, [0.0])
        s.restore(whole)
        self.assertEqual(s.save(), whole)

    def test_parameters(self):
        s = bramah.Session(STUDY)
        self.assertEqual(s.parameters["pump.pressure"], bramah.si("76 bar"))
        s.parameters["pump.pressure"] = "80 bar"
        self.assertAlmostEqual(s.parameters["pump.pressure"], 8e6)
        self.assertEqual(s.parameters.info("pump.pressure").unit, "Pa")
        self.fails(bramah.InputError, "E_UNIT", s.parameters.__setitem__, "pump.pressure", "3 kg")
        self.fails(bramah.NameUnknown, "E_REFERENCE", s.parameters.__getitem__, "pomp.pressure")

    def test_augmented_noise(self):
        load = "augmented:\n  load: {parameter: crank.load, sigma: 50 N*m, noise: 20 N*m/s^0.5}\n"
        path = self.study(more=load)
        told, stated, other = (bramah.Session(path, changes=c) for c in (None, {"augmented.load.noise": "5 N*m/s^0.5"}, None))
        told.set_augmented_noise("load", 5.0)
        for session in (told, stated, other):
            for _ in range(20):
                session.step(inputs=[1.0] * len(session.inputs))
        self.assertEqual(told.covariance.tobytes(), stated.covariance.tobytes())
        self.assertGreater(other.augmented["load"].sigma, told.augmented["load"].sigma)
        told.set_augmented_noise("load", 0.0)
        before = told.augmented["load"].sigma
        told.step()
        self.assertEqual(told.augmented["load"].sigma, before)
        self.fails(bramah.InputError, "E_VALUE", told.set_augmented_noise, "load", -1.0)
        self.fails(bramah.NameUnknown, "E_REFERENCE", told.set_augmented_noise, "lod", 1.0)
        without = next(n for n in told.augmented if n.endswith(".gain"))
        self.assertIn("no noise", self.fails(bramah.InputError, "E_VALUE", told.set_augmented_noise, without, 1.0).args[0])

    def test_phases(self):
        """A phase does what setting the noise by hand does, with its hysteresis; a snapshot taken within it goes on in it."""
        load = "augmented:\n  load: {parameter: crank.load, sigma: 50 N*m, noise: 1 N*m/s^0.5}\n"
        phase = ("phases:\n  moves:\n    begin: {valve.command: {above: 0.5 V}, p1: {measured_within: 2 ms}}\n"
                 "    end: {valve.command: {below: -0.5 V}}\n    augmented: {load: {noise: 20 N*m/s^0.5}}\n")
        own, hand = (bramah.Session(self.study(more=more)) for more in (load + phase, load))
        commands, measured = [0.0] * 5 + [1.0] * 5 + [0.0] * 5 + [-1.0] * 5, [k % 4 == 0 for k in range(20)]
        snapshot, on = None, []
        for k, (u, is_measured) in enumerate(zip(commands, measured)):
            heard = any(measured[max(k - 3, 0):k])
            on.append((u > 0.5 and heard) or (k > 0 and on[-1] and u > -0.5))
            hand.set_augmented_noise("load", 20.0 if on[-1] else 1.0)
            for session in (own, hand):
                session.step(inputs=[u], measurements={"p1": 30e5} if is_measured else None)
            self.assertEqual((own.phases["moves"].is_on != 0, own.phases["moves"].steps), (on[-1], sum(on)), k)
            self.assertEqual(own.covariance.tobytes(), hand.covariance.tobytes(), k)
            if k == 11:
                snapshot = own.save()
        self.assertEqual((sum(on), own.phases["moves"].begun), (10, 1))
        last = own.covariance.tobytes()
        own.restore(snapshot)
        self.assertTrue(own.phases["moves"].is_on)
        for u, is_measured in zip(commands[12:], measured[12:]):
            own.step(inputs=[u], measurements={"p1": 30e5} if is_measured else None)
        self.assertEqual(own.covariance.tobytes(), last)

    def test_study(self):
        study = bramah.Study(STUDY)
        self.assertEqual((study.name, study.machine), ("four-bar, sensor set 2, 1 kHz", str(FOUR_BAR / "four-bar.yaml")))
        self.assertEqual(study.sensors["p1"].kind, "pressure")
        self.assertEqual((study.sensors["p1"].at, study.sensors["p1"].sigma), ("v1", 5e4))
        value = study["sensors.p1.sigma"]
        self.assertEqual((value.text, value.unit, value.si, value.in_machine), ("0.5 bar", "bar", 5e4, False))
        self.assertEqual(study["machine.bodies.crank.mass"].si, 16.0)
        self.assertIn("sigma", str(self.fails(bramah.InputError, "E_KEY", study.__getitem__, "sensors.p1.sigme")))
        self.assertEqual(bramah.Study(FOUR_BAR / "hypotheses.yaml").hypotheses, ("as-built", "loaded", "worn-valve"))

    def test_views_keep_what_they_show(self):
        covariance = bramah.Session(STUDY).covariance
        self.assertTrue(np.isfinite(covariance).all() and (np.diag(covariance) > 0).all())

    def test_many(self):
        t, u, y = rows(50)
        study = self.study(more="uncertainty: fixed\n")
        pressures = np.array([7.0e6, 7.6e6, 8.2e6, 9.0e6])
        batch = bramah.Batch(study, 4, parameters={"pump.pressure": pressures})
        alone = bramah.Session(study)
        alone.parameters["pump.pressure"] = pressures[2]
        for k in range(1, 50):
            self.assertEqual(batch.step(u[k], y[k]), 4)
            alone.step(t[k], u[k], y[k])
        value, sigma = batch.outputs(["crank.angle", "v1.pressure"])
        self.assertEqual(value.shape, (4, 2))
        self.assertEqual(value[2, 0], alone["crank.angle"])
        self.assertEqual(sigma[2, 1], alone.sigma("v1.pressure"))
        self.assertEqual(batch[2].log_likelihood, alone.log_likelihood)
        self.fails(bramah.Error, "E_ARGUMENT", batch.step, u[1], y[1][:2])


if __name__ == "__main__":
    unittest.main()
