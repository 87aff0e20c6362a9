"""The work cycle of publication V on the tractor: dropped from 0.3 m, it lifts and tilts its bucket, drives to a heap of sand, fills its bucket,
reverses, raises the bucket and dumps. Its commands are in publication-v.csv; sand and ground are real (SOIL) unless the ground is to be a plane.

usage: python3 drive.py [--duration 44] [--step 0.002] [--plane] [--standing] [--study sensors.yaml] [--draw] [--seed 1]
                [--log log.csv] [--truth truth.csv] [--every 10]
       python3 drive.py --report page.html    the same by `bramah simulate`, as a page that moves, with the ground from above

--standing: it has stood until the soil below it rests, instead of the drop. --draw: machine and sensors differ from the files by what the study says of
its uncertainty. As a module: drive(tractor(), duration=44.0, ...) returns a bramah.Simulation."""
import argparse
import math
import pathlib
import subprocess

import numpy as np

import bramah

here = pathlib.Path(__file__).resolve().parent
CYCLE = here / "publication-v.csv"

# The bucket low; 0.3 m above where it stands.
LOW = {"joints.boom.initial": "-34 deg", "joints.bucket.initial": "38 deg"}
DROP = {"joints.frame.initial": "[0 m, 0 m, 1.1028 m, 0 deg, 0.0164 deg, 0 deg]"}

# Dry sand, into which tyres sink some centimetres, with a heap of 1.4 m^3; tyres of four discs; the bucket cuts, holds and spills.
SOIL = {"terrain": "{cells: [220, 80], cell: 0.1 m, origin: [-7.5, -3 m], pressing: 0.03, heaps: [{at: [11.05, 1.44 m], height: 0.93 m}], "
                   "particles: {most: 1500, radius: 50 mm}}",
        "tools": "{bucket: {body: bucket, edge: [[0.78, 1, -0.15 m], [0.78, -1, -0.15 m]], "
                 "profile: [[0, 0, -0.15 m], [-0.1, 0, 0.1 m], [0, 0, 0.5 m]]}}",
        **{f"tyres.{side}.{key}": value for side in ("rear_left", "rear_right", "front_left", "front_right")
           for key, value in (("ground", "terrain"), ("discs", "4"))}}

# (from, to) [s] as publication V prints them.
PHASES = [("drop", 0.0, 1.52), ("lift", 1.52, 2.36), ("tilt outwards", 2.96, 4.10), ("forward", 4.88, 10.12), ("dig", 10.12, 10.85),
          ("lift and tilt inwards", 10.85, 12.41), ("reverse", 15.09, 34.60), ("raise", 34.88, 36.66), ("dump", 37.20, 40.28),
          ("tilt inwards", 40.78, 42.24)]


def changes_of(standing=False, plane=False):
    return {**LOW, **({} if standing else DROP), **({} if plane else SOIL)}


def tractor(standing=False, plane=False, step=None, changes=None):
    """The machine above the ground, or standing on it (bramah.Machine). step [s]: 2 ms on soil."""
    return bramah.Machine(here / "tractor.yaml", step=step or (None if plane else 2e-3), changes={**changes_of(standing, plane), **(changes or {})})


def draw(machine, study, seed):
    """Set the machine's parameters, each drawn by its name and the seed from what the study says of its uncertainty; biases of its sensors {name: SI}."""
    biases = {}
    for name, of in bramah.Session(study).augmented.items():
        sigma, z = of.sigma, np.random.default_rng([seed, *name.encode()]).standard_normal()
        if name.endswith(".bias"):
            biases[name[:-5]] = sigma * z
        elif name in machine.parameters:
            now = machine.parameters[name]
            machine.parameters[name] = now * math.exp(sigma / now * z) if now else sigma * z
    return biases


def drive(machine, duration=44.0, study=None, log=None, seed=1, settle=0.0, **options):
    """The motion of the cycle (a bramah.Simulation), after the machine has stood for `settle` [s]."""
    cycle = bramah.read_log(CYCLE)
    if settle:
        machine.simulate(settle, {"t": [0.0], **{name: cycle[name][:1] for name in cycle}})
    motion = machine.simulate(duration, cycle, study=study, log=log, seed=seed, **options)
    if "engine.angle" in motion:
        motion["engine.angle"][:] -= motion["engine.angle"][0]
    return motion


def report(page, truth, duration=44.0, standing=False, plane=False, step=2e-3, program="bramah"):
    """The cycle by the program, which writes a page."""
    cycle = bramah.read_log(CYCLE)
    commands = {f"inputs.{n}": "[" + ", ".join(f"[{t:g} s, {u:g} V]" for t, u in zip(cycle.time, cycle[n])) + "]" for n in cycle}
    changes = [text for path, value in {**changes_of(standing, plane), **commands}.items() for text in ("--set", f"{path}={value}")]
    subprocess.run([program, "simulate", here / "tractor.yaml", "--duration", f"{duration:g} s", "--step", f"{step:g}", "--output", truth, "--report", page,
                    *changes], check=True)


def add_biases(log, biases):
    columns = bramah.read_log(log)
    bramah.write_log(log, {"t": columns.time, **{n: columns[n] + biases.get(n, 0.0) for n in columns}}, columns.units)


def write_truth(path, motion, every=1, on_soil=True):
    """On soil without what a filter on a plane means otherwise: forces along and across a ground that it has not (in a rut, whose walls push against each
    other, normal forces add up to 11 % more than what stands on them), the deepest of other discs."""
    others = (".normal_force", ".longitudinal_force", ".lateral_force", ".penetration") if on_soil else ()
    names = [n for n in motion if not n.endswith(others)]
    rows = slice(None, None, every)
    bramah.write_log(path, {"t": motion.time[rows], **{name: motion[name][rows] for name in names}}, motion.units)


def slip(motion, wheel, radius):
    """Of a wheel whose tyre rolls on this radius [m]: 1 - v / (w r); nothing below 0.2 m/s."""
    v = motion["frame_x.rate"] * np.cos(motion["frame_yaw.angle"]) + motion["frame_y.rate"] * np.sin(motion["frame_yaw.angle"])
    rolls = motion[wheel] * radius
    return np.where(np.abs(rolls) > 0.2, 1 - v / np.where(rolls, rolls, 1.0), np.nan)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--duration", type=float, default=44.0)
    parser.add_argument("--step", type=float, help="[s]; else 0.002, on a plane that of the machine")
    parser.add_argument("--plane", action="store_true")
    parser.add_argument("--study")
    parser.add_argument("--standing", action="store_true")
    parser.add_argument("--draw", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", default="log.csv")
    parser.add_argument("--truth", default="truth.csv")
    parser.add_argument("--every", type=int, default=10, help="rows of the truth: each so many steps")
    parser.add_argument("--report", help="an HTML page")
    options = parser.parse_args()
    if options.draw and not options.study:
        parser.error("--draw needs a --study")
    if options.report:
        report(options.report, options.truth, options.duration, options.standing, options.plane, options.step or 2e-3)
        return
    machine = tractor(options.standing, options.plane, options.step)
    biases = draw(machine, options.study, options.seed) if options.draw else {}
    motion = drive(machine, options.duration, options.study, options.log if options.study else None, options.seed,
                   settle=4.0 if options.standing else 0.0)
    if biases:
        add_biases(options.log, biases)
    write_truth(options.truth, motion, options.every, machine.soil is not None)
    for phase, begin, end in PHASES:
        rows = (motion.time >= begin) & (motion.time <= end)
        if rows.any():
            print(f"{begin:6.2f} s  {phase:22} {motion['frame_x.rate'][rows].mean():6.2f} m/s  teeth {motion['teeth_height'][rows][-1]:5.2f} m  "
                  f"lift cylinder {motion['lift_left.force'][rows].max() / 1e3:5.1f} kN at most  payload {motion['payload'][rows][-1]:4.0f} kg")
    print(f"fuel {1e3 * motion['diesel.fuel'][-1]:.1f} g; energy not accounted for {motion.energy.largest:.2g} J of {motion.energy.turnover:.3g} J")
    if machine.soil is not None:
        soil = machine.soil.report
        print(f"soil: {soil.failures} wedges failed, {soil.merged} of their particles are field again, {soil.n_particles} are not yet")
    print(*motion.doubts, sep="\n", end="")


if __name__ == "__main__":
    main()
