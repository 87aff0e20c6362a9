"""An excavator in twenty minutes: a shipped machine, an operator who digs and swings, the log of its sensors, the filter that finds what
is in the bucket, and a moving picture of it.

usage: python3 working_excavator.py [FOLDER OF THE FILES] [SECONDS]     writes working_excavator.gif; 25 s are a whole cycle"""
import pathlib
import sys

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.animation import FuncAnimation, PillowWriter

import bramah

here = pathlib.Path(__file__).resolve().parent
data = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here.parent / "excavator"
duration = float(sys.argv[2]) if len(sys.argv) > 2 else 14.0
plt.style.use(here / "gallery.mplstyle")
sys.path.insert(0, str(data))
import drive  # noqa: E402: the operator
STUDY = data / "encoders.yaml"

# Minute 1: the machine and what it measures are two files. It stands firm here, as the study says.
for file in (data / "excavator.yaml", STUDY):
    print(file.name, "mistakes:", [str(mistake) for mistake in bramah.check_file(file)])
machine = bramah.Machine(data / "excavator.yaml", changes=drive.FIRM)
print(machine)

# Minute 5: an operator looks at the machine 100 times a second and digs, swings, dumps. Its log is all that the filter gets.
operator = drive.Operator(machine, cycles=1, seed=3)
motion = machine.simulate(duration, operator, study=STUDY, log="excavator-log.csv", seed=3)
print("trusted:", motion.trusted, *motion.doubts)
for t, phase in operator.phases:
    print(f"{t:6.1f} s  {phase}")

# Minute 10: the filter knows the log only. What the bucket holds is one of its outputs, with a standard deviation.
rows = slice(None, None, 10)
bramah.write_log("excavator-truth.csv", {"t": motion.time[rows], **{name: motion[name][rows] for name in motion}}, motion.units)
replay = bramah.replay(STUDY, "excavator-log.csv", truth="excavator-truth.csv", model_alone=False)
print(replay.verdict)
time, load, sigma = replay.time, replay["payload"], replay.sigma("payload")
true = np.interp(time, motion.time, motion["payload"])
inside = np.mean(np.abs(load - true) <= 1.96 * sigma)
print(f"in the bucket at the end: {load[-1]:.0f} +- {sigma[-1]:.0f} kg, true {true[-1]:.0f}; inside +-1.96 sigma {100 * inside:.1f} %")

# Minute 15: the picture. Estimated angles say where the filter believes the teeth to be.
angles = np.array([replay[f"{joint}.angle"] for joint in drive.JOINTS])
reach = np.array([drive.teeth(q) for q in angles[:, ::100].T])
teeth = np.column_stack((reach[:, 0] * np.cos(angles[0, ::100]), reach[:, 0] * np.sin(angles[0, ::100]), reach[:, 1]))


def seen(points):
    """From the front and the right, somewhat above: the picture's x and y of points [n, 3]."""
    x, y, z = np.asarray(points).T
    return 0.5 * x - 0.85 * y, z + 0.25 * x + 0.15 * y


def turned(xz, y, slew):
    """Points [n, 2] of a plane beside that of the attachment, by y, with the upper structure turned [n, 3]."""
    x, z = np.asarray(xz, float).T
    return np.column_stack((x * np.cos(slew) - y * np.sin(slew), x * np.sin(slew) + y * np.cos(slew), z))


def shell(q):
    """The bucket's side [n, 2] where the filter believes it to be."""
    c, s = np.cos(q[1:].sum()), np.sin(q[1:].sum())
    outline = np.array([[0, 0], [-0.08, 0.44], [0.3, 0.75], [0.9, 0.65], [1.45, 0], [0, 0]])
    return drive.teeth(q) + (outline - [1.45, 0]) @ [[c, s], [-s, c]]


# The same operator again, to photograph the machine twice a second.
machine.reset()
operator, photographs = drive.Operator(machine, cycles=1, seed=3), []
for k in range(len(motion.time)):
    if k % 500 == 0:
        photographs.append([(part.kind, part.points) for part in machine.skeleton()])
    machine.step(operator(motion.time[k]))

figure, (left, right) = plt.subplots(1, 2, figsize=(7.5, 3.2), width_ratios=(1.25, 1), dpi=80)
left.set(xlim=(-8.5, 6), ylim=(-2.5, 7.2), aspect="equal")
left.axis("off")
for y in range(-8, 9, 2):
    left.plot(*seen([[-2, y, 0], [9, y, 0]]), color="0.9", lw=0.7, zorder=0)
for x in range(-2, 9, 2):
    left.plot(*seen([[x, -8, 0], [x, 8, 0]]), color="0.9", lw=0.7, zorder=0)
thick = {"body": 5, "barrel": 3, "lug": 1.5}
for y in (1.5, 1.4, 1.3, 1.2, 1.1, 1.0, 0.9, -0.9, -1.0, -1.1, -1.2, -1.3, -1.4, -1.5):
    left.fill(*seen([[-1.9, y, 0], [1.9, y, 0], [2.2, y, 0.45], [1.9, y, 0.9], [-1.9, y, 0.9], [-2.2, y, 0.45]]), color="0.45")
sides = np.linspace(1.3, -1.3, 27)
house = [left.fill([0], [0], color="0.85" if y == sides[-1] else "0.75", zorder=2)[0] for y in sides]
parts = [left.plot([], [], color={"body": "C4", "barrel": "0.35"}.get(kind, "0.55"), lw=thick.get(kind, 1.5), solid_capstyle="round", zorder=3)[0]
         for kind, _ in photographs[0]]
bucket, = left.fill([0], [0], color="C0", alpha=0.6, label="bucket, estimated", zorder=3)
trail, = left.plot([], [], color="C0", lw=1)
left.legend(loc="lower left")
right.set(xlabel="time [s]", ylabel="in the bucket [kg]", xlim=(0, duration), ylim=(-250, 1000))
right.plot(time[::20], true[::20], color="k", lw=1, alpha=0.5, label="true")
estimate, = right.plot([], [], color="C0", label="estimated, ±1.96 σ")
right.legend(loc="upper left")
for t, phase in operator.phases:
    right.axvline(t, color="0.8", lw=0.7, zorder=0)
    right.text(t + 0.1, -235, phase.replace(" ", "\n"), fontsize=6, color="0.4")
bands = []


def draw(frame):
    k = min(500 * frame, len(time) - 1)
    for line, (_, points) in zip(parts, photographs[frame]):
        line.set_data(*seen(points))
    for side, y in zip(house, sides):
        side.set_xy(np.column_stack(seen(turned([[-3, 1.1], [0.6, 1.1], [0.6, 2.7], [-0.6, 2.7], [-0.6, 1.9], [-3, 1.9]], y, angles[0, k]))))
    bucket.set_xy(np.column_stack(seen(turned(shell(angles[:, k]), 0, angles[0, k]))))
    trail.set_data(*seen(teeth[: k // 100 + 1]))
    estimate.set_data(time[: k + 1: 20], load[: k + 1: 20])
    for band in bands:
        band.remove()
    bands[:] = [right.fill_between(time[: k + 1: 20], *(load[: k + 1: 20] + s * sigma[: k + 1: 20] for s in (-1.96, 1.96)),
                                   color="C0", alpha=0.2, lw=0)]
    right.set_title(f"{time[k]:.1f} s: {load[k]:.0f} ± {1.96 * sigma[k]:.0f} kg")


FuncAnimation(figure, draw, len(photographs)).save("working_excavator.gif", PillowWriter(fps=6))
