"""Baselines of the benchmark: estimates by a static balance of moments, and by the filter of a study.

usage: python3 baselines.py static|filter|weighing LOG.csv ESTIMATE.csv [--study FILE]

static: what cylinder pressures and angles say of a machine that stands still and is as its file has it. Payload by the moments about
the pin of the boom alone, mean of the last second; the soil's force by those about the pins of boom, dipper and bucket, mean of the
last 0.1 s. No friction, no acceleration, sensors as they come.
filter: `bramah replay` of the shipped study, which knows nothing of what is wrong with pressure sensors.
weighing: the same with weighing.yaml, which is told what the data sheets of the sensors say and what the operator knows of the load."""
import argparse
import pathlib

import numpy as np
import yaml

import bramah

here = pathlib.Path(__file__).resolve().parent
MACHINE, STUDY, WEIGHING = here.parent / "excavator.yaml", here.parent / "encoders.yaml", here / "weighing.yaml"
GRAVITY, EVERY = 9.81, 10
OUTPUTS = ["payload", "tip_force.x", "tip_force.y", "tip_force.z"]

UNITS = {"m": 1.0, "mm": 1e-3, "kg": 1.0, "deg": np.pi / 180}


def si(value):
    """A number or a list with the unit behind the last one, as machine files have them."""
    values = [str(v).split() for v in (value if isinstance(value, list) else [value])]
    numbers = np.array([float(v[0]) for v in values]) * (UNITS[values[-1][1]] if len(values[-1]) > 1 else 1.0)
    return numbers if isinstance(value, list) else numbers[0]


def along(origin, angle, point):
    """A point [3] of a body in the plane of the boom: x, z [2 x n]; its frame is turned up by `angle` [n]."""
    c, s = np.cos(angle), np.sin(angle)
    return origin + np.array([c * point[0] - s * point[2], s * point[0] + c * point[2]])


class Attachment:
    """Boom, dipper, bucket, rocker and link in their plane at joint angles q [3 x n]."""

    def __init__(self, path):
        file = yaml.safe_load(pathlib.Path(path).read_text(encoding="utf-8"))
        self.bodies, self.joints = file["bodies"], file["joints"]
        self.cylinders, self.loop = file["hydraulics"]["cylinders"], file["loops"]["lug"]

    def frames(self, q):
        """{body: (origin [2 x n], angle [n])}; rocker and link close the loop on the bucket."""
        angle, frames = np.zeros(q.shape[1]), {"carriage": (np.zeros((2, 1)), np.zeros(q.shape[1]))}
        for k, (name, parent) in enumerate((("boom", "carriage"), ("dipper", "boom"), ("bucket", "dipper"))):
            angle = angle + q[k]
            frames[name] = along(*frames[parent], si(self.joints[name]["position"])), angle
        pin = along(*frames["dipper"], si(self.joints["rocker"]["position"]))
        lug = along(*frames["bucket"], si(self.loop["points"][1]))
        rocker, link = si(self.joints["link"]["position"])[0], si(self.loop["points"][0])[0]
        way = lug - pin
        far = np.hypot(*way)
        inner = np.arccos(np.clip((rocker**2 + far**2 - link**2) / (2 * rocker * far), -1, 1))
        turned = np.arctan2(way[1], way[0]) + inner
        knee = along(pin, turned, [rocker, 0, 0])
        frames["rocker"] = pin, turned
        frames["link"] = knee, np.arctan2(*(lug - knee)[::-1])
        return frames

    def geometry(self, q):
        """Strokes {cylinder: [n]}, heights of masses {body: [n]}, heights of payload and teeth, teeth's x."""
        frames = self.frames(q)
        strokes = {}
        for name, cylinder in self.cylinders.items():
            if all(body in frames for body in cylinder["bodies"]):
                a, b = (along(*frames[body], si(point)) for body, point in zip(cylinder["bodies"], cylinder["points"]))
                strokes[name] = np.hypot(*(b - a))
                across = si(cylinder["points"][1])[1] - si(cylinder["points"][0])[1]
                strokes[name] = np.hypot(strokes[name], across)
        weight = sum(si(body["mass"]) * GRAVITY * along(*frames[name], si(body["centre_of_mass"]))[1]
                     for name, body in self.bodies.items() if name in frames and name != "carriage")
        bucket = self.bodies["bucket"]
        load, teeth = (along(*frames["bucket"], si(point)) for point in (bucket["payload_point"], bucket["points"]["tip"]))
        return strokes, weight, load[1], teeth

    def moments(self, q, forces):
        """What cylinders with these forces {name: [n]} carry beyond the attachment's own weight about boom, dipper and bucket pins
        [3 x n]; what 1 kg of payload [3 x n] and 1 N at the teeth along x and z [2 x 3 x n] exert."""
        h, carried, load, teeth = 1e-6, [], [], []
        for k in range(3):
            d = np.zeros((3, 1))
            d[k] = h
            (s1, w1, p1, t1), (s0, w0, p0, t0) = self.geometry(q + d), self.geometry(q - d)
            carried.append((sum(forces[c] * (s1[c] - s0[c]) for c in forces) - (w1 - w0)) / (2 * h))
            load.append(GRAVITY * (p1 - p0) / (2 * h))
            teeth.append((t1 - t0) / (2 * h))
        return np.array(carried), np.array(load), np.array(teeth).transpose(1, 0, 2)


def held(values):
    """Values with empty cells filled by the last one [n]."""
    there = np.isfinite(values)
    return values[np.maximum.accumulate(np.where(there, np.arange(len(values)), np.argmax(there)))]


def mean_of_last(values, n):
    """Mean of the last n values, of fewer at the start [m]."""
    total = np.cumsum(values)
    rows = np.arange(len(values))
    return (total - np.where(rows >= n, total[rows - n], 0.0)) / np.minimum(rows + 1, n)


def static(log, path=MACHINE, prefix=("{}_encoder", "p_{}")):
    """Columns t, payload, tip_force.x, .y, .z by balance of moments, and their units."""
    columns, attachment = bramah.read_log(log), Attachment(path)
    rows = slice(None, None, EVERY)
    values = {n: held(columns[n])[rows] for n in columns if "." not in n}
    q = np.array([values[prefix[0].format(j)] for j in ("boom", "dipper", "bucket")])
    forces = {}
    for name, of in attachment.cylinders.items():
        pressures = [values.get(prefix[1].format(of[end])) for end in ("piston_volume", "rod_volume")]
        if pressures[0] is not None:
            bore, rod = np.pi / 4 * si(of["bore"]) ** 2, np.pi / 4 * si(of["rod"]) ** 2
            forces[name] = pressures[0] * bore - pressures[1] * (bore - rod)
    carried, load, teeth = attachment.moments(q, forces)
    matrix = np.array([load, -teeth[0], -teeth[1]]).transpose(2, 1, 0)
    soil = np.linalg.solve(matrix, carried.T[:, :, None])[:, 1:, 0].T
    x, z = (mean_of_last(s, 10) for s in soil)
    slew = values[prefix[0].format("slew")]
    shown = {"t": columns.time[rows], "payload": mean_of_last(carried[0] / load[0], 100),
             "tip_force.x": x * np.cos(slew), "tip_force.y": x * np.sin(slew), "tip_force.z": z}
    return shown, {"payload": "kg", **{f"tip_force.{a}": "N" for a in "xyz"}}


def estimates(names, value, sigma):
    """Columns of a file, with their .sigma and units."""
    shown = {name + end: table[:, k] for k, name in enumerate(names) for table, end in ((value, ""), (sigma, ".sigma"))}
    return shown, {c: "kg" if c.startswith("payload") else "N" for c in shown}


def filtered(log, study=STUDY):
    """Columns with their .sigma and units, of a replay with the study; the replay."""
    replay = bramah.replay(study, log)
    value, sigma = (np.array([of(n)[::EVERY] for n in OUTPUTS]).T for of in (replay.get, replay.sigma))
    shown, units = estimates(OUTPUTS, value, sigma)
    return {"t": replay.time[::EVERY], **shown}, units, replay


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("method", choices=("static", "filter", "weighing"))
    parser.add_argument("log")
    parser.add_argument("estimate")
    parser.add_argument("--study")
    options = parser.parse_args()
    if options.method == "static":
        shown, units = static(options.log)
    else:
        shown, units, replay = filtered(options.log, options.study or (WEIGHING if options.method == "weighing" else STUDY))
        print(replay.verdict)
    bramah.write_log(options.estimate, shown, units)


if __name__ == "__main__":
    main()
