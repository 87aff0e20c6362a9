"""Soil that moves: a bucket digs into a heap, lifts what it got and dumps it.

usage: python3 digging.py     writes digging.png"""
import pathlib

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import bramah

plt.style.use(pathlib.Path(__file__).resolve().parent / "gallery.mplstyle")

# A bucket 0.8 m wide in its own frame: x ahead, z up, the edge at the origin; floor, back, rim, two sides.
half, length, height = 0.4, 0.6, 0.6
floor, back = [0, 0], [-length, 0]
profile = [floor, back, [-length - 0.1, 0.25], [-length + 0.05, height]]
strips = [[[a[0], -half, a[1]], [b[0], -half, b[1]], [b[0], half, b[1]], [a[0], half, a[1]]]
          for a, b in zip(profile, profile[1:])]
sides = [[[x, y, z] for x, z in profile] for y in (-half, half)]
bucket = bramah.Tool(strips + sides, edge=[[0, half, 0], [0, -half, 0]], blade=[-length, 0, 0.01])

soil = bramah.Terrain(64, 30, 0.1, tools=[bucket], max_particles=1200)
x, y = (np.arange(64) + 0.5) * 0.1, (np.arange(30) + 0.5) * 0.1
soil.heights = np.clip(1.4 - 0.62 * np.hypot(x[:, None] - 5.4, 0.5 * (y - 1.5)), 0.0, 0.9)  # a heap, flatter than repose
start = soil.report

# Where the edge goes: time [s], x, z [m], tilt back [deg].
path = np.array([[0.0, 3.2, 0.15, -4], [1.2, 4.0, 0.20, -4], [1.8, 4.1, 0.45, 48], [2.6, 3.8, 1.3, 52],
                 [3.6, 1.6, 1.3, 52], [4.4, 1.6, 1.0, -75], [4.8, 1.6, 1.0, -75]])
step = 1.5e-3
time = np.arange(0.0, path[-1, 0], step)
edge = np.stack([np.interp(time, path[:, 0], path[:, k]) for k in (1, 2, 3)], axis=1)
edge = np.stack([np.convolve(np.pad(c, 50, mode="edge"), np.ones(101) / 101, "valid") for c in edge.T], axis=1)
speed = np.gradient(edge, step, axis=0)

force, cutting, carried, pictures = [], [], [], {}
for k, (ahead, up, tilt) in enumerate(edge):
    c, s = np.cos(np.radians(tilt)), np.sin(np.radians(tilt))
    soil.place(0, [ahead, 1.5, up], [[c, 0, -s], [0, 1, 0], [s, 0, c]], [speed[k, 0], 0, speed[k, 1]],
               [0, -np.radians(speed[k, 2]), 0])
    soil.step(step)
    load = soil.load(0)
    force.append(load.force), cutting.append(load.cutting), carried.append(load.carried)
    for name, at in (("digging", 1.1), ("carrying", 3.2), ("dumped", time[-1])):
        if name not in pictures and time[k] >= at - step / 2:
            pictures[name] = soil.save()
force, cutting, carried = np.array(force), np.array(cutting), np.array(carried)

end = soil.report
drift = end.field_mass + end.particle_mass - start.field_mass
away = (time > 2.9) & (time < 3.4)
print(f"{end.failures} wedges failed, {end.merged} particles became field again, {end.starved} times there was no room")
print(f"carried {carried[away].mean():.0f} kg, by the force on the bucket {-force[away, 2].mean() / 9.81:.0f} kg; "
      f"mass is off by {abs(drift) / start.field_mass:.0e}")

figure = plt.figure(figsize=(7.5, 6))
grid = figure.add_gridspec(3, 3, height_ratios=(1.15, 1, 0.8))
for i, (name, state) in enumerate(pictures.items()):
    axes = figure.add_subplot(grid[0, i])
    soil.restore(state)
    soil.draw(axes)
    axes.set_title(name)
first = time < 0.7
for axes, part in ((figure.add_subplot(grid[1, 0]), first), (figure.add_subplot(grid[1, 1:]), time > 0)):
    axes.plot(time[part], -force[part, 0] / 1e3, color="C0", lw=0.8, label="on the bucket, backwards")
    axes.plot(time[part], -cutting[part, 0] / 1e3, color="C1", lw=0.8, label="of wedges before its edge")
    axes.set(xlim=(0.2 if part is first else 0, time[part][-1]))
axes.set(ylim=(-4, 7.5))
axes.legend(loc="upper right")
figure.axes[3].set(ylabel="force [kN]", title="the first wedges fail")
axes = figure.add_subplot(grid[2, :])
axes.plot(time, carried, color="C2")
axes.set(xlabel="time [s]", ylabel="carried [kg]", xlim=(0, time[-1]))
figure.savefig("digging.png")
