"""Logs of an excavator at work with what a real machine has of errors, and the truth apart: the benchmark's data (DATASHEET.md).

usage: python3 make.py [--folder data] [--logs 10] [--cycles 2] [--seed 2]

For each log NAME (tune-1 to tune-5, test-6 to test-10; the second half is for tests), the same bytes for the same seed:
  NAME.csv           commands, sensors, what the operator knows of the load: all that an estimator may look at
  NAME.truth.csv     payload and the soil's force on the teeth, 100 rows a second
  NAME.errors.json   how machine and sensors differ from the files, faults, phases of the work"""
import argparse
import json
import math
import pathlib
import sys

import numpy as np

import bramah

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent))
from drive import BUCKETS, FIRM, GRAVEL, Operator  # noqa: E402

MACHINE, STUDY = here.parent / "excavator.yaml", here.parent / "encoders.yaml"
BUCKET = "medium"
# The shift begins with the bucket clean and with a test weight in it, each lifted as a load is.
LIFT, LOWER = (6.2, 3.2, -165, 90, 5.0), (4.4, 0.6, -205, 0, 4.5)
CALIBRATION = [("lower", *LOWER), ("lift empty", *LIFT), ("lower", *LOWER), ("take the weight", *LOWER[:4], 1.5), ("lift the weight", *LIFT),
               ("lower the weight", *LOWER), ("leave the weight", *LOWER[:4], 1.5), ("swing empty", 7.4, 0.5, -110, 0, 3.5)]
CLEAN, WEIGHED = ("swing empty", "lower", "lift empty"), ("lift the weight", "lower the weight")  # phases of it, by what is in the bucket
WEIGHT, WEIGHT_SIGMA = 500.0, 1.0  # what is written on it, how true that is [kg]
LEFT = 3.0  # at most so much stays in the bucket when it is emptied [kg]
KNOWN = {"reference": "kg", "tare": "kg"}
REFERENCE_EVERY, SAID_AFTER = 500, 1000  # rows

TRUTH = ["payload", "tip_force.x", "tip_force.y", "tip_force.z", "bucket_height"]
EVERY = 10  # a row of the truth, in steps

# How the machine differs from its file: standard deviations, of the value's logarithm, or what is added [SI].
SHARES = {"oil.bulk_modulus": 0.2, "main.displacement": 0.03, "boom_valve.flow_coefficient": 0.05,
          "dipper_valve.flow_coefficient": 0.05, "bucket_valve.flow_coefficient": 0.05, "slew_valve.flow_coefficient": 0.05,
          "boom_left.friction_scale": 0.2, "boom_right.friction_scale": 0.2, "dipper.friction_scale": 0.2,
          "bucket.friction_scale": 0.2, "slew_motor.friction_scale": 0.2}
ADDED = {"carriage.payload": 300.0, "boom.payload": 35.0, "dipper.payload": 17.0, "main.margin": 1e5}

# How sensors differ from the study, whose noise they have: standard deviations of bias and gain, then resolution, delay [s], size of a spike.
SENSORS = {"Pa": (0.3e5, 0.003, 0.1e5, 0.002, 60e5), "rad": (math.radians(0.05), 0.0, 2 * math.pi / 2**14, 0.002, 0.1)}
LOST, SPIKES, OUTAGE, STUCK = 0.001, 2, 0.06, 0.8  # share of samples; of each sensor; of all sensors, of one sensor [s]


class Shift(Operator):
    """Weighs the clean bucket and the test weight before the cycles; a little of each load stays in the bucket."""

    def __init__(self, machine, cycles, seed, random, **options):
        super().__init__(machine, cycles, seed=seed, **options)
        self.weight = random.normal(WEIGHT, WEIGHT_SIGMA)
        self.stuck = random.uniform(0, LEFT, cycles + 1)
        if cycles:
            self.ways[1:1] = CALIBRATION

    def dig(self, t, q):
        phase, before = self.ways[self.k][0], self.load
        super().dig(t, q)
        if phase == "take the weight":
            self.load = min(before + self.weight * self.PERIOD, self.weight)
        elif phase == "leave the weight":
            self.load = max(before - self.weight * self.PERIOD, 0.0)
        elif phase in ("dump", "swing empty"):
            stuck = self.stuck[sum(begun == "dump" for _, begun in self.phases)]
            self.load = max(self.load if phase == "dump" else 0.98 * before, min(before, stuck))
        self.machine.parameters["bucket.payload"] = self.load


def known_loads(n, phases):
    """What the operator knows to be in the bucket {column: [n, kg; nan: nothing said]}."""
    known = {name: np.full(n, np.nan) for name in KNOWN}
    ends = [t for t, _ in phases[1:]] + [n * 1e-3]
    first = next((k for k, (_, phase) in enumerate(phases) if phase == "leave the weight"), 0)
    for k, (begin, phase) in enumerate(phases):
        rows = slice(round(begin * 1000) + SAID_AFTER, round(ends[k] * 1000), REFERENCE_EVERY)
        if k < first and phase in CLEAN + WEIGHED:
            known["reference"][rows] = WEIGHT if phase in WEIGHED else 0.0
        elif phase == "swing empty" and k > first:
            known["tare"][rows.start] = 0.0
    return known


def differ(machine, random):
    """Draw the machine's errors; {parameter: value}."""
    p = machine.parameters
    for name, share in SHARES.items():
        p[name] = p[name] * math.exp(share * random.standard_normal())
    for name, sigma in ADDED.items():
        p[name] = p[name] + sigma * random.standard_normal()
    return {name: p[name] for name in [*SHARES, *ADDED]}


def measure(values, unit, random):
    """What a sensor makes of noisy values [n, SI; nan: no sample]: late, off, rounded, with spikes; and its errors."""
    bias_sigma, gain_sigma, resolution, delay, spike = SENSORS[unit]
    bias, gain = bias_sigma * random.standard_normal(), gain_sigma * random.standard_normal()
    late = round(delay * 1000)
    shown = np.concatenate([np.full(late, np.nan), values[:len(values) - late]]) * (1 + gain) + bias
    shown[random.random(len(shown)) < LOST] = np.nan
    there = np.flatnonzero(np.isfinite(shown))
    spikes = np.sort(random.choice(there, SPIKES, replace=False))
    shown[spikes] += spike * random.choice([-1, 1], SPIKES)
    return np.round(shown / resolution) * resolution, {"bias": bias, "gain": gain, "resolution": resolution, "delay": delay,
                                                       "spikes": (spikes * 1e-3).tolist()}


def spoil(log, units, random):
    """The log as the real sensors' one, in place; their errors."""
    errors, n = {name: None for name in units}, len(log["t"])
    for name, unit in units.items():
        log[name], errors[name] = measure(log[name], unit, random)
    begin = random.integers(n // 4, n - 2000)
    for name in units:
        log[name][begin:begin + round(OUTAGE * 1000)] = np.nan
    name, at = list(units)[random.integers(len(units))], random.integers(n // 4, n - 2000)
    held = log[name][at:at + round(STUCK * 1000)]
    there = np.isfinite(held)
    held[there] = held[there][0]
    faults = {"no samples": {"at": begin * 1e-3, "for": OUTAGE}, "stuck": {"sensor": name, "at": at * 1e-3, "for": STUCK}}
    return {"sensors": errors, "faults": faults}


def make(folder, name, cycles, seed):
    """One log, its truth and its errors; a summary."""
    random, (volume, changes) = np.random.default_rng(seed), BUCKETS[BUCKET]
    machine = bramah.Machine(MACHINE, changes={**FIRM, **changes}, step=0.001)
    about = {"seed": seed, "full_scale_kg": volume * GRAVEL, "machine": differ(machine, random)}
    operator = Shift(machine, cycles, seed, random, fill=volume * GRAVEL)
    path = folder / f"{name}.csv"
    duration = 1.0 + sum(way[-1] + 0.15 for way in operator.ways)
    motion = machine.simulate(duration, operator, study=STUDY, log=path, seed=seed, outputs=TRUTH)
    clean = bramah.read_log(path)
    log = {"t": clean.time, **{n: clean[n].copy() for n in clean}}
    about.update(spoil(log, bramah.Session(STUDY, alarm=False).sensor_units, random))
    about["weight"] = operator.weight
    about["phases"] = [[round(t, 3), phase] for t, phase in operator.phases]
    log.update(known_loads(len(clean.time), operator.phases))
    bramah.write_log(path, log, {**clean.units, **KNOWN}, digits=7)
    rows = slice(None, None, EVERY)
    bramah.write_log(folder / f"{name}.truth.csv", {"t": motion.time[rows], **{n: motion[n][rows] for n in TRUTH}},
                     {n: motion.units[n] for n in TRUTH})
    (folder / f"{name}.errors.json").write_text(json.dumps(about, indent=1) + "\n")
    done = sum(phase == "dump" for _, phase in operator.phases)
    return f"{name}: {motion.time[-1]:.1f} s, {done} of {cycles} cycles{'' if motion.trusted else ': ' + '; '.join(motion.doubts)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("data"))
    for option, number in (("logs", 10), ("cycles", 2), ("seed", 2)):
        parser.add_argument(f"--{option}", type=int, default=number)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for k in range(options.logs):
        name = f"{'tune' if k < options.logs // 2 else 'test'}-{k + 1}"
        print(make(options.folder, name, options.cycles, 100 * options.seed + k), flush=True)


if __name__ == "__main__":
    main()
