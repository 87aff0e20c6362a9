"""An operator on the excavator: digs, swings with a full bucket, dumps and swings back, cycle after cycle, by looking at where the
machine is. Writes the true motion and what the sensors of a study logged.

usage: python3 drive.py [--cycles 10] [--seed 1] [--bucket SIZE] [--dipper SIZE] [--firm] [--draw] [--study encoders.yaml]
                        [--log log.csv] [--truth truth.csv] [--every 10]

SIZE: small, medium, large. --firm: the undercarriage is fixed to the ground instead of standing on its tracks. --draw: the machine
and its sensors differ from the files by what the study says of its uncertainty, and its process noise acts.
As a module: drive(machine, cycles=10, ...) returns a bramah.Simulation with the times at which phases begin."""
import argparse
import math
import pathlib

import numpy as np

import bramah

here = pathlib.Path(__file__).resolve().parent

# Where the teeth are to be, x [m] and z [m] of the upper structure's plane, the bucket's angle against the horizon [deg], the slew
# angle [deg], and how long the way there is meant to take [s]. A phase may have several ways.
CYCLE = [("dig", 6.8, -0.25, -120, 0, 1.4), ("dig", 4.9, -0.55, -160, 0, 2.8), ("dig", 4.4, 0.6, -205, 0, 1.8),
         ("swing loaded", 6.2, 3.2, -165, 90, 5.0), ("dump", 7.3, 3.2, -85, 90, 3.0),
         ("swing empty", 7.4, 0.5, -110, 0, 5.5)]
START = ("swing empty", 7.4, 0.5, -110, 0, 3.0)

# Attachments of publication VI, as changes of the machine file, where they differ from the medium ones. It prints 22.55 m^3 for the
# large bucket, 36 t of gravel: a misprint; 1.01 m^3 is on the power law of the other two. Rods of cylinders are ours; the masses
# of 8, 10 and 12 kg count as added to the dipper. [volume of a bucket, m^3]
FIRM = {"joints.undercarriage.type": "fixed"}
BUCKETS = {
    "small": (0.318, {"bodies.bucket.mass": "315 kg", "bodies.bucket.inertia": "[35, 63, 60 kg*m^2]"}),
    "medium": (0.512, {}),
    "large": (1.01, {"bodies.bucket.mass": "750 kg", "bodies.bucket.inertia": "[200, 150, 270 kg*m^2]"})}
DIPPERS = {
    "small": {"hydraulics.cylinders.dipper.bore": "120 mm", "hydraulics.cylinders.dipper.rod": "85 mm", "bodies.dipper.mass": "828 kg"},
    "medium": {},
    "large": {"hydraulics.cylinders.dipper.bore": "160 mm", "hydraulics.cylinders.dipper.rod": "110 mm", "bodies.dipper.mass": "832 kg"}}
GRAVEL = 1650.0  # [kg/m^3]

FOOT, BOOM, DIPPER, BUCKET = (0.1, 1.93), 5.7, 2.9, 1.45  # pin of the boom, distances of pins and teeth [m]
JOINTS = ["slew", "boom", "dipper", "bucket"]
# Volts for a rate [V s/rad] and for an angle [V/rad]; a piston that extends lowers dipper and bucket.
RATE_GAIN, GAIN = np.array([11.0, 12.0, -9.0, -5.0]), np.array([14.0, 40.0, -40.0, -25.0])


def pose(x, z, bucket, slew):
    """Joint angles [4, rad] for teeth at (x, z) with the bucket at an angle [deg] against the horizon."""
    b = math.radians(bucket)
    px, pz = x - BUCKET * math.cos(b) - FOOT[0], z - BUCKET * math.sin(b) - FOOT[1]
    d = math.hypot(px, pz)
    inner = math.acos((BOOM**2 + d**2 - DIPPER**2) / (2 * BOOM * d))
    knee = math.acos((BOOM**2 + DIPPER**2 - d**2) / (2 * BOOM * DIPPER))
    boom, dipper = math.atan2(pz, px) + inner, knee - math.pi
    return np.array([math.radians(slew), boom, dipper, b - boom - dipper])


def teeth(q):
    """Where they are, x and z [m] in the upper structure's plane, at joint angles [4, rad]."""
    angles, lengths = np.cumsum(q[1:]), np.array([BOOM, DIPPER, BUCKET])
    return np.array([FOOT[0] + lengths @ np.cos(angles), FOOT[1] + lengths @ np.sin(angles)])


class Operator:
    """Commands from what the machine shows, 100 times a second; the load that the bucket gathers and the force of the soil on its teeth
    are put on the machine too. fill [kg]: a full bucket; soil [N/m]: force by depth of the teeth; pace: above 1 is faster."""

    PERIOD = 0.01  # between two looks [s]

    def __init__(self, machine, cycles=10, fill=800.0, soil=45e3, pace=1.0, seed=1):
        self.machine, self.fill, self.soil, self.pace = machine, fill, soil, pace
        self.ways = [START] + CYCLE * cycles
        self.random = np.random.default_rng(seed)
        self.k, self.began, self.next = -1, 0.0, 0.0
        self.u, self.load, self.share, self.tip, self.force = np.zeros(len(machine.inputs)), 0.0, 0.0, None, np.zeros(2)
        self.phases = []  # (time, phase) where one begins
        self.done = False

    def angles(self):
        return np.array([self.machine[f"{j}.angle"] for j in JOINTS])

    def begin(self, t, q):
        self.k, self.began, self.start = self.k + 1, t, q
        if self.k == len(self.ways):
            self.done, self.k = True, self.k - 1
            return
        phase, x, z, bucket, slew, duration = self.ways[self.k]
        self.goal, self.duration = pose(x, z, bucket, slew), duration / self.pace
        if not self.phases or self.phases[-1][1] != phase:
            self.phases.append((t, phase))
            if phase == "dig":
                self.share = self.random.uniform(0.75, 1.0)

    def __call__(self, t):
        """Commands at a time [s], in the order of the machine's inputs."""
        if t < self.next - 1e-9:
            return self.u
        self.next = t + self.PERIOD
        q = self.angles()
        if self.k < 0 or (t - self.began > self.duration and (
                np.abs(q - self.goal).max() < math.radians(6) or t - self.began > self.duration + 1.5)):
            self.begin(t, q)
        s = min((t - self.began) / self.duration, 1.0)
        way = self.goal - self.start
        wanted, rate = self.start + way * (3 - 2 * s) * s * s, way * 6 * s * (1 - s) / self.duration
        volts = dict(zip(JOINTS, np.clip(RATE_GAIN * rate + GAIN * (wanted - q), -10, 10)), engine=10.0)
        self.u = np.array([round(volts.get(name, 0.0), 2) for name in self.machine.inputs])
        self.dig(t, q)
        return self.u

    def dig(self, t, q):
        """What the soil does: the bucket fills as its teeth go through the ground and empties as it opens."""
        p, phase = self.machine.parameters, self.ways[self.k][0]
        tip = teeth(q)
        step = np.zeros(2) if self.tip is None else tip - self.tip
        self.tip = tip
        depth, speed = max(-tip[1], 0.0), np.hypot(*step) / self.PERIOD
        force = np.zeros(2)
        if phase == "dig" and depth > 0:
            self.load = min(self.load + self.fill * depth * speed * self.PERIOD / 0.8, self.fill * self.share)
            force = self.soil * depth * (1 + self.random.standard_normal()) * math.tanh(speed / 0.2) * np.array([0.95, 0.3])
        if phase == "dump" and np.cumsum(q[1:])[2] > math.radians(-160):
            self.load = 0.98 * self.load if self.load > 1.0 else 0.0
        self.force += (force - self.force) * self.PERIOD / 0.15
        force = self.force
        p["bucket.payload"] = self.load
        angle = np.cumsum(q[1:])[2]
        p["dig.x"] = force[0] * math.cos(angle) + force[1] * math.sin(angle)
        p["dig.z"] = force[1] * math.cos(angle) - force[0] * math.sin(angle)


def draw(machine, study, seed):
    """Set the machine's parameters, drawn from what the study says of its uncertainty; biases of its sensors {name: SI}."""
    random, biases = np.random.default_rng(1000 + seed), {}
    for name, of in bramah.Session(study).augmented.items():
        sigma, z = of.sigma, random.standard_normal()
        if name.endswith((".bias", "_bias")):
            biases[name[:-5]] = sigma * z
        elif name in machine.parameters:
            now = machine.parameters[name]
            machine.parameters[name] = now * math.exp(sigma / now * z) if now else sigma * z
    return biases


def drive(machine, cycles=10, study=None, log=None, seed=1, process_noise=False, outputs=None, **operator):
    """The motion of so many cycles (a bramah.Simulation; .phases, .done) from the machine's start."""
    op = Operator(machine, cycles, seed=seed, **operator)
    expected = START[-1] + cycles * sum(way[-1] for way in CYCLE)
    motion = machine.simulate(expected / op.pace + 0.8 * cycles + 2.0, op, study=study, log=log, seed=seed,
                              process_noise=process_noise, outputs=outputs)
    motion.phases, motion.done = op.phases, op.done
    return motion


def add_biases(log, biases):
    columns = bramah.read_log(log)
    bramah.write_log(log, {"t": columns.time, **{n: columns[n] + biases.get(n, 0.0) for n in columns}}, columns.units)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--cycles", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bucket", choices=BUCKETS, default="medium")
    parser.add_argument("--dipper", choices=DIPPERS, default="medium")
    parser.add_argument("--firm", action="store_true")
    parser.add_argument("--draw", action="store_true")
    parser.add_argument("--study", default=here / "encoders.yaml")
    parser.add_argument("--log", default="log.csv")
    parser.add_argument("--truth", default="truth.csv")
    parser.add_argument("--every", type=int, default=10, help="rows of the truth: each so many steps")
    options = parser.parse_args()
    volume, bucket = BUCKETS[options.bucket]
    machine = bramah.Machine(here / "excavator.yaml", changes={**bucket, **DIPPERS[options.dipper], **(FIRM if options.firm else {})})
    biases = draw(machine, options.study, options.seed) if options.draw else {}
    motion = drive(machine, options.cycles, options.study, options.log, options.seed, options.draw, fill=volume * GRAVEL)
    if biases:
        add_biases(options.log, biases)
    every = slice(None, None, options.every)
    bramah.write_log(options.truth, {"t": motion.time[every], **{name: motion[name][every] for name in motion}}, motion.units)
    for t, phase in motion.phases:
        print(f"{t:8.2f} s  {phase}")
    print("all cycles done" if motion.done else "not all cycles were done", *motion.doubts, sep="\n")


if __name__ == "__main__":
    main()
