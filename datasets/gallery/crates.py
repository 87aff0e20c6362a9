"""Loose crates, a drum and a wedge on a truck that goes to and fro: they go along, or slide and hit each other.

usage: python3 crates.py     writes crates.png"""
import pathlib

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Polygon

import bramah

here = pathlib.Path(__file__).resolve().parent
plt.style.use(here / "gallery.mplstyle")
step, end, shots = 2e-3, 6.0, (0.0, 1.3, 4.36)  # [s]
colour = {"crate": "C4", "box": "C1", "drum": "C0", "wedge": "C2"}


def corners(size, centre=(0, 0, 0)):
    return np.array([[x, y, z] for x in (-.5, .5) for y in (-.5, .5) for z in (-.5, .5)]) * size + centre


# Outlines: what crates.yaml has as shapes; of the drum the two ends of its axis.
shape = {"crate": corners([.6, .6, .6]), "box": corners([.6, .4, .3]), "drum": np.array([[0, -.3, 0], [0, .3, 0]]),
         "wedge": np.array([[0, -.2, 0], [.3, -.2, 0], [0, .2, 0], [.3, .2, 0], [.3, -.2, .15], [.3, .2, .15]])}


def placed(machine, body):
    """Corners of a body where it is, seen from the side [n, 2]."""
    w, x, y, z = (machine[f"{body}.q{c}"] for c in "wxyz")
    turn = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])
    at = [machine[f"{body}_{c}.position"] for c in "xyz"]
    return (shape[body] @ turn.T + at)[:, [0, 2]]


def outline(points):
    """Their convex hull, in order (Andrew 1979)."""
    def half(order):
        hull = []
        for p in order:
            while len(hull) > 1 and np.linalg.det([hull[-1] - hull[-2], p - hull[-2]]) <= 0:
                hull.pop()
            hull.append(p)
        return hull[:-1]
    order = sorted(points, key=tuple)
    return half(order) + half(order[::-1])


def run(amplitude):
    """Places relative to the bed, pictures."""
    machine = bramah.Machine(here / "../crates/crates.yaml", step=step, changes={"motions.drive.amplitude": amplitude})
    place, force, pictures = [], [], []
    for k in range(int(end / step) + 1):
        if any(abs(k * step - at) < step / 2 for at in shots):
            pictures.append((machine["track.position"], {body: placed(machine, body) for body in shape}))
        place.append([machine[f"{body}_x.position"] - machine["track.position"] for body in shape])
        force.append(machine["crate_drum.normal_force"])
        machine.step([])
    place = np.array(place)
    print(f"amplitude {amplitude}: the crate has moved by {place[-1, 0] - place[0, 0]:.3f} m on the bed, the box by {place[-1, 1] - place[0, 1]:.3f} m; "
          f"contacts took {machine['energy.contacts']:.0f} J")
    return place, np.array(force), pictures


figure = plt.figure(figsize=(7.5, 4.6))
grid = figure.add_gridspec(4, 6, height_ratios=(0.9, 0.9, 1.2, 0.8))
time = np.arange(int(end / step) + 1) * step
for row, amplitude in enumerate(("0.25 m", "0.5 m")):
    place, force, pictures = run(amplitude)
    for i, (bed, bodies) in enumerate(pictures):
        axes = figure.add_subplot(grid[row, 2 * i:2 * i + 2])
        axes.fill_between([bed - 2, bed + 2], -0.1, 0, color="0.6", lw=0)
        for body, points in bodies.items():
            patch = plt.Circle(points[0], 0.2, color=colour[body]) if body == "drum" else Polygon(outline(points), color=colour[body])
            patch.set(alpha=0.8, lw=0)
            axes.add_patch(patch)
        axes.set(aspect="equal", xlim=(-2.55, 2.55), ylim=(-0.15, 0.95), title=f"{shots[i]:.1f} s" + (f", ±{amplitude}" if i == 0 else ""))
        axes.axis("off")
    axes = figure.add_subplot(grid[2, 3 * row:3 * row + 3])
    for body, line in zip(shape, place.T):
        axes.plot(time, line - line[0], color=colour[body], label=body)
    axes.set(title=f"moved on the bed [m], ±{amplitude}", ylim=(-1.5, 0.5), xlim=(0, end))
    force_axes = figure.add_subplot(grid[3, 3 * row:3 * row + 3])
    force_axes.plot(time, force / 1e3, color="k", lw=0.7)
    force_axes.set(title="crate and drum: normal force [kN]", xlabel="time [s]", xlim=(0, end), ylim=(0, 1.5))
    if row == 0:
        axes.legend(ncols=2, loc="lower left")
figure.savefig("crates.png")
