"""A machine of my own in twenty minutes: an excavator as two files, checked, simulated, filtered, with the tip of its bucket as
a quantity of one's own that has a standard deviation.

usage: python3 own_machine.py [FOLDER OF THE FILES]     writes own_machine.png"""
import pathlib
import sys

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import bramah

here = pathlib.Path(__file__).resolve().parent
data = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here
plt.style.use(here / "gallery.mplstyle")
JOINTS = ["boom.angle", "arm.angle", "bucket.angle"]

for file in ("excavator.yaml", "excavator-study.yaml"):
    print(file, "mistakes:", [str(mistake) for mistake in bramah.check_file(data / file)])


def tip(v):
    """Where the teeth are [m], from the three joint angles."""
    a = np.cumsum(v)
    return np.array([0.0, 1.8]) + sum(length * np.array([np.cos(x), np.sin(x)]) for length, x in zip((5.7, 2.9, 1.4), a))


# The truth: 9 s of digging, and what the sensors log of it, with 400 kg in the bucket that nobody tells the filter of.
machine = bramah.Machine(data / "excavator.yaml")
machine.parameters["bucket.payload"] = 400.0
motion = machine.simulate(9.0, study=data / "excavator-study.yaml", log="excavator-log.csv", seed=7)
print("trusted:", motion.trusted, *motion.doubts)

replay = bramah.replay(data / "excavator-study.yaml", "excavator-log.csv")
print(replay.verdict)
load, sigma = replay.augmented["bucket.payload"][-1], replay.augmented_sigma("bucket.payload")[-1]
print(f"in the bucket: {load:.0f} +- {sigma:.0f} kg, true 400")

# Live, with two sensors that measure nothing: what they would show is an output with a band.
session = bramah.Session(data / "excavator-study.yaml")
unseen = [bramah.Sensor(f"tip.{axis}", 1.0, function=lambda v, k=k: tip(v)[k], of=JOINTS, unit="m")
          for k, axis in enumerate("xy")]
filter_ = bramah.Filter.of_session(session, unseen, outputs=["tip.x", "tip.y"], alarm=False)
log = bramah.read_log("excavator-log.csv")
u, y = log.matrix(*(f"{n}.command" for n in session.inputs)), log.matrix(*session.sensors)
path = np.array([np.ravel(filter_.estimate()) for k in range(1, len(log.time)) if filter_.step(
    log.time[k], u[k - 1], [*y[k], np.nan, np.nan]) is not None])
true = np.array([tip(v) for v in motion.matrix(*JOINTS)[1:]])
error = 100 * np.hypot(*(path[:, :2] - true).T)
settled = log.time[1:] > 1.0
inside = np.mean((np.abs(path[:, :2] - true) < 1.96 * path[:, 2:])[settled])
print(f"tip: {np.sqrt(np.mean(error[settled]**2)):.1f} cm off (RMS, from 1 s on), inside +-1.96 sigma {100 * inside:.1f} %")

figure, (left, right) = plt.subplots(1, 2, figsize=(7.5, 3.4), width_ratios=(1.25, 1))
replayed = bramah.Machine(data / "excavator.yaml")
commands = {"t": motion.time, **{n: motion[f"{n}.command"] for n in replayed.inputs}}
for k, shade in ((1, "0.8"), (575, "0.65"), (1350, "0.45")):
    replayed.reset()
    replayed.simulate(motion.time[k], commands)
    for part in replayed.skeleton():
        if part.kind not in ("joint", "ground"):
            thick = {"body": 4, "barrel": 3, "lug": 1}.get(part.kind, 1.5)
            left.plot(part.points[:, 0], part.points[:, 1], color=shade, lw=thick, solid_capstyle="round")
left.plot(*true.T, color="k", lw=2.5, alpha=0.35, label="tip, true")
left.plot(*path[:, :2].T, color="C0", label="tip, estimated")
left.set(xlabel="x [m]", ylabel="y [m]", aspect="equal", title="Out, in, up")
left.legend(loc="upper right")
right.fill_between(log.time[1:], 1.96 * 100 * np.hypot(*path[:, 2:].T), color="C0", alpha=0.18, lw=0, label="1.96 σ")
right.plot(log.time[1:], error, label="tip off by")
right.set(xlabel="time [s]", ylabel="[cm]", ylim=(0, 40), title=f"Payload {load:.0f} ± {sigma:.0f} kg, true 400 kg")
right.legend(loc="upper right")
figure.savefig("own_machine.png")
