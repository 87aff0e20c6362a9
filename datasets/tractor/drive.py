"""The work cycle of publication V on the tractor: dropped from 0.3 m, it lifts and tilts its bucket, drives to a heap, digs 600 kg, reverses,
raises the bucket and dumps. Commands and what the soil does are in publication-v.csv.

usage: python3 drive.py [--duration 44] [--step 0.001] [--study sensors.yaml] [--standing] [--draw] [--seed 1]
                [--log log.csv] [--truth truth.csv] [--every 10]

--standing: without the drop. --draw: the machine and its sensors differ from the files by what the study says of its uncertainty, and its
process noise acts.
As a module: drive(tractor(), duration=44.0, ...) returns a bramah.Simulation."""
import argparse
import math
import pathlib

import numpy as np

import bramah

here = pathlib.Path(__file__).resolve().parent

# The bucket low; 0.3 m above where it stands.
LOW = {"joints.boom.initial": "-34 deg", "joints.bucket.initial": "38 deg"}
DROP = {"joints.frame.initial": "[0 m, 0 m, 1.1028 m, 0 deg, 0.0164 deg, 0 deg]"}

# (from, to) [s] as publication V prints them.
PHASES = [("drop", 0.0, 1.52), ("lift", 1.52, 2.36), ("tilt outwards", 2.96, 4.10), ("forward", 4.88, 10.12), ("dig", 10.12, 10.85),
          ("lift and tilt inwards", 10.85, 12.41), ("reverse", 15.09, 34.60), ("raise", 34.88, 36.66), ("dump", 37.20, 40.28),
          ("tilt inwards", 40.78, 42.24)]


def tractor(standing=False, **options):
    """The machine above the ground, or standing on it (bramah.Machine)."""
    return bramah.Machine(here / "tractor.yaml", changes={**LOW, **({} if standing else DROP), **options.pop("changes", {})}, **options)


class Schedule:
    """By the time: commands hold from row to row, payload and soil follow straight lines between their rows."""

    def __init__(self, machine, path=here / "publication-v.csv"):
        self.machine, self.rows = machine, bramah.read_log(path)
        self.loads = [name for name in self.rows if name not in machine.inputs]

    def __call__(self, t):
        rows = self.rows
        for name in self.loads:
            value = np.interp(t, rows.time, rows[name])
            if value != self.machine.parameters[name]:
                self.machine.parameters[name] = value
        row = np.searchsorted(rows.time, t + 1e-9, "right") - 1
        return [rows[name][row] for name in self.machine.inputs]


def draw(machine, study, seed):
    """Set the machine's parameters, drawn from what the study says of its uncertainty; biases of its sensors {name: SI}."""
    random, biases = np.random.default_rng(1000 + seed), {}
    for name, of in bramah.Session(study).augmented.items():
        sigma, z = of.sigma, random.standard_normal()
        if name.endswith(".bias"):
            biases[name[:-5]] = sigma * z
        elif name in machine.parameters:
            now = machine.parameters[name]
            machine.parameters[name] = now * math.exp(sigma / now * z) if now else sigma * z
    return biases


def drive(machine, duration=44.0, study=None, log=None, seed=1, process_noise=False, outputs=None):
    """The motion of the cycle (a bramah.Simulation) from the machine's start."""
    return machine.simulate(duration, Schedule(machine), study=study, log=log, seed=seed, process_noise=process_noise, outputs=outputs)


def add_biases(log, biases):
    columns = bramah.read_log(log)
    bramah.write_log(log, {"t": columns.time, **{n: columns[n] + biases.get(n, 0.0) for n in columns}}, columns.units)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--duration", type=float, default=44.0)
    parser.add_argument("--step", type=float, help="[s]; else that of the machine")
    parser.add_argument("--study")
    parser.add_argument("--standing", action="store_true")
    parser.add_argument("--draw", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", default="log.csv")
    parser.add_argument("--truth", default="truth.csv")
    parser.add_argument("--every", type=int, default=10, help="rows of the truth: each so many steps")
    options = parser.parse_args()
    if options.draw and not options.study:
        parser.error("--draw needs a --study")
    machine = tractor(options.standing, step=options.step)
    biases = draw(machine, options.study, options.seed) if options.draw else {}
    motion = drive(machine, options.duration, options.study, options.log if options.study else None, options.seed, options.draw)
    if biases:
        add_biases(options.log, biases)
    every = slice(None, None, options.every)
    bramah.write_log(options.truth, {"t": motion.time[every], **{name: motion[name][every] for name in motion}}, motion.units)
    for phase, begin, end in PHASES:
        rows = (motion.time >= begin) & (motion.time <= end)
        if rows.any():
            print(f"{begin:6.2f} s  {phase:22} {motion['frame_x.rate'][rows].mean():6.2f} m/s  teeth {motion['teeth_height'][rows][-1]:5.2f} m  "
                  f"lift cylinder {motion['lift_left.force'][rows].max() / 1e3:5.1f} kN at most  payload {motion['payload'][rows][-1]:4.0f} kg")
    print(*motion.doubts, sep="\n", end="")


if __name__ == "__main__":
    main()
