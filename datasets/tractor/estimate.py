"""What is in the bucket, how the tractor rolls and how its tyres grip, from a log of sensors.yaml, with bands; the noise of load and soil goes with
what the bucket does, as the filter itself sees it.

usage: python3 estimate.py log.csv [--truth truth.csv] [--study sensors.yaml] [--output estimate.csv] [--end 44]
As a module: estimate(log, study) returns columns with their .sigma, and the session."""
import argparse
import pathlib

import numpy as np

import bramah

here = pathlib.Path(__file__).resolve().parent

OUTPUTS = ["payload", "cabin.roll", "cabin.pitch", "teeth_height", "boom.angle", "bucket.angle", "frame_x.rate", "tip_force.x", "tip_force.z"]
EVERY = 5

# Teeth below SOIL [m] may dig while the tractor moves forward by more than CREEP [m/s]. The load may change until LATER [s] after a force beyond FELT [N] was at
# the teeth, and while a bucket with more than SOME [kg] is tipped below OPEN. Noise of the load then and else [kg/sqrt(s)], of the soil's force along
# and across the teeth and without soil [N/s^1.5].
SOIL, CREEP, FELT, LATER, SOME, OPEN = 0.7, 0.2, 3e3, 2.5, 50.0, np.radians(18)
CHANGES, CARRIED, DIG_X, DIG_Z, AIR = 150.0, 0.5, 160e3, 60e3, 300.0
FULL = 1000.0  # full scale of the payload [kg]


def estimate(log, study=here / "sensors.yaml", end=None):
    columns, session = bramah.read_log(log), bramah.Session(study, alarm=False, outputs=OUTPUTS)
    at = {name: i for i, name in enumerate(OUTPUTS)}
    commands = np.array([columns[f"{name}.command"] for name in session.inputs]).T
    measured = np.array([columns[name] for name in session.sensors]).T
    rows = len(columns.time) if end is None else int(np.searchsorted(columns.time, end + 1e-9))
    felt, before, times, value, sigma = -np.inf, None, [], [], []
    for i in range(rows):
        y, s = session.estimate()
        t = columns.time[i]
        felt = t if abs(y[at["tip_force.x"]]) > FELT else felt
        digs = y[at["teeth_height"]] < SOIL and (y[at["frame_x.rate"]] > CREEP or t < felt + 0.5)
        tipped = y[at["boom.angle"]] + y[at["bucket.angle"]] < OPEN and y[at["payload"]] > SOME
        now = digs, t < felt + LATER or tipped
        if now != before:
            session.set_augmented_noise("dig_x", DIG_X if digs else AIR)
            session.set_augmented_noise("dig_z", DIG_Z if digs else AIR)
            session.set_augmented_noise("load", CHANGES if now[1] else CARRIED)
            before = now
        if i:
            session.step(None, commands[i - 1], measured[i])
        if i % EVERY == 0:
            y, s = session.estimate()
            times.append(t)
            value.append(y.copy())
            sigma.append(s.copy())
    found = {"t": np.array(times)}
    for k, name in enumerate(OUTPUTS):
        found[name], found[f"{name}.sigma"] = np.array(value)[:, k], np.array(sigma)[:, k]
    return found, session


def compare(found, truth, moves=0.05):
    """Errors of the payload at rest and moving with a load of its own [kg], of the roll [deg]; shares inside +-1.96 sigma."""
    def error(name):
        return found[name] - np.interp(found["t"], truth.time, truth[name])

    inside = {name: np.abs(error(name)) < 1.96 * found[f"{name}.sigma"] for name in ("payload", "cabin.roll", "cabin.pitch", "boom.angle", "frame_x.rate")}
    t, load = found["t"], error("payload")
    carries = (t > 14.0) & (t < 36.5)  # the load may change until then
    drives = np.abs(np.interp(t, truth.time, truth["frame_x.rate"])) > moves
    still = carries & ((t < 15.09) | (t > 34.9))
    return {"payload, standing [kg]": np.sqrt(np.mean(load[still]**2)), "payload, largest standing [kg]": np.abs(load[still]).max(),
            "payload, driving [kg]": np.sqrt(np.mean(load[carries & drives]**2)), "payload, largest driving [kg]": np.abs(load[carries & drives]).max(),
            "roll, largest [deg]": np.degrees(np.abs(error("cabin.roll")).max()),
            **{f"{name} in its band [%]": 100 * np.mean(which) for name, which in inside.items()}}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("log")
    parser.add_argument("--truth")
    parser.add_argument("--study", default=here / "sensors.yaml")
    parser.add_argument("--output", default="estimate.csv")
    parser.add_argument("--end", type=float)
    options = parser.parse_args()
    found, session = estimate(options.log, options.study, options.end)
    bramah.write_log(options.output, found)
    print(session.counts)
    for name, of in session.augmented.items():
        print(f"{name:30} {of.value:12.5g} +- {of.sigma:10.3g}")
    if options.truth:
        for name, value in compare(found, bramah.read_log(options.truth)).items():
            print(f"{name:40} {value:8.2f}")


if __name__ == "__main__":
    main()
