"""Operators of different skill who load gravel with the excavator, three attempts each with another bucket: logs for `bramah cycles`.

usage: python3 operators.py [--operators 16] [--attempts 3] [--cycles 3] [--seed 1] [--study encoders.yaml] [--folder operators]

The operator is that of drive.py. Skill sets five traits, each with luck of its own: pace, pauses, a bucket that goes astray, swings that
go too far, digs that fail. The logs have the true motion and the load with errors as a filter has them: 20 kg that last for a second, and
anything while the bucket is in the ground. With --study all in them is what the study's filter has made of noisy sensors, which takes its time."""
import argparse
import math
import pathlib

import numpy as np

import bramah
from drive import BUCKETS, CYCLE, FIRM, GRAVEL, START, Operator, here

EVERY = 20  # a row of the log, in steps


def traits(skill, random):
    """What an operator is like: skill from 0 to 1, and luck."""
    lack = 1.0 - skill
    return {"pace": (0.75 + 0.4 * skill) * random.normal(1, 0.06), "pause": 1.5 * lack * random.uniform(0.5, 1.5),
            "astray": 0.03 + 0.25 * lack * random.uniform(0.5, 1.5), "too_far": 0.12 * lack * random.uniform(0.0, 1.5),
            "fails": 0.35 * lack * random.uniform(0.0, 1.5)}


class Skilled(Operator):
    """An operator with traits, who goes the ways of drive.py as such a one does; fill [kg]."""

    def __init__(self, machine, cycles, traits, fill, seed):
        super().__init__(machine, cycles, fill=fill, pace=traits["pace"], seed=seed)
        self.traits, self.loads = traits, []  # (time, true load, force of the soil)
        self.ways = [START]
        for way in CYCLE * cycles:
            self.go(*way)

    def go(self, phase, x, z, bucket, slew, duration):
        random, is_last_dig = self.random, phase == "dig" and z > 0
        if is_last_dig and random.random() < self.traits["fails"]:  # comes out with too little: once more
            self.ways += [("dig", 4.9, 0.4, -150, 0, 1.5), ("dig", 6.8, 0.4, -110, 0, 1.8), *CYCLE[:2]]
        if phase != "dig":
            x = min(max(x + self.traits["astray"] * random.normal(), 4.6), 7.3)
            z += self.traits["astray"] * random.normal()
        if phase.startswith("swing") and random.random() < 0.7:
            further = self.traits["too_far"] * (90 if slew else -90)
            self.ways.append((phase, x, z, bucket, slew + further, duration))
            duration = 1.0
        self.ways.append((phase, x, z, bucket, slew, duration))
        if random.random() < 0.4:
            self.ways.append((phase, x, z, bucket, slew, self.traits["pause"] * random.uniform(0.2, 1.5) + 0.05))

    def dig(self, t, q):
        super().dig(t, q)
        self.loads.append((t, self.load, np.hypot(*self.force)))


def load_with_errors(time, operator, random):
    """The load as a filter shows it."""
    loads, sigma, step = np.array(operator.loads), 20.0, time[1] - time[0]
    errors = np.zeros(len(time))
    for i in range(1, len(time)):
        errors[i] = errors[i - 1] * (1 - step) + sigma * math.sqrt(2 * step) * random.standard_normal()
    load, soil = (np.interp(time, loads[:, 0], loads[:, k]) for k in (1, 2))
    return load + errors + 0.03 * soil * np.sin(3 * time), np.full(len(time), sigma)


def attempt(traits, bucket, cycles, seed, study=None, folder=pathlib.Path(".")):
    """One run: the columns of its log, their units, and the operator with the phases commanded (.phases) and the true loads."""
    volume, changes = BUCKETS[bucket]
    machine = bramah.Machine(here / "excavator.yaml", changes={**FIRM, **changes})
    operator = Skilled(machine, cycles, traits, GRAVEL * volume, seed)
    duration = sum(way[-1] for way in operator.ways) / operator.pace + 0.5 * len(operator.ways) + 2.0
    log = folder / "sensors.csv" if study else None
    shown = machine.simulate(duration, operator, study=study, log=log, seed=seed)
    if study:
        shown = bramah.replay(study, log, changes={f"machine.{path}": value for path, value in changes.items()})
        operator.verdict = shown.verdict
        log.unlink()
    rows = slice(0, np.searchsorted(shown.time, operator.began + 1.0 if operator.done else duration), EVERY)
    columns = {"t": shown.time[rows], "arm": shown["arm"][rows]}
    columns.update({o: shown[o][rows] for o in shown if o.endswith((".stroke", ".pressure", ".rate", "power", "fuel_rate"))})
    if study:
        columns["payload"], columns["payload.sigma"] = shown["payload"][rows], shown.sigma("payload")[rows]
    else:
        columns["payload"], columns["payload.sigma"] = load_with_errors(columns["t"], operator, np.random.default_rng(seed))
    return columns, {**shown.units, "t": "s", "payload.sigma": "kg"}, operator


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    for name, number in (("operators", 16), ("attempts", 3), ("cycles", 3), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=number)
    parser.add_argument("--study")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("operators"))
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True)
    random = np.random.default_rng(options.seed)
    work = (here / "work.yaml").read_text() + "\nruns:\n"
    for k in range(options.operators):
        one = traits(random.random(), random)
        for a in range(options.attempts):
            bucket, name = list(BUCKETS)[(k + a) % 3], f"{k + 1:02}-{a + 1}"
            columns, units, operator = attempt(one, bucket, options.cycles, 100 * k + a + options.seed, options.study,
                                               options.folder)
            bramah.write_log(options.folder / f"{name}.csv", columns, {n: units.get(n, "1") for n in columns},
                             verdict=getattr(operator, "verdict", None))
            work += f"  {name}: {{log: {name}.csv, operator: operator {k + 1:02}, attachment: {bucket} bucket}}\n"
            print(f"{name}: {columns['t'][-1]:.1f} s{'' if operator.done else ', not all cycles were done'}", flush=True)
    (options.folder / "work.yaml").write_text(work)


if __name__ == "__main__":
    main()
