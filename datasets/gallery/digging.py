"""An excavator digs in soil that moves: down, in, curl, lift.

usage: python3 digging.py     writes digging.png (and digging.yaml, the machine with its soil)"""
import pathlib

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import bramah

here = pathlib.Path(__file__).resolve().parent
plt.style.use(here / "gallery.mplstyle")
step, end = 1.5e-3, 6.4  # [s]

# The machine of excavator.yaml is plane, y up: the field's y is its -z. Its bucket, open towards -y, goes through level ground
# 0.3 m above the tracks.
pathlib.Path("digging.yaml").write_text((here / "excavator.yaml").read_text() + """
terrain: {cells: [90, 26], cell: 0.1 m, origin: [0, -1.3 m], level: 0.3 m, particles: {most: 1200}}
tools:
  shell:
    body: bucket
    edge: [[1.4, 0, 0.5 m], [1.4, 0, -0.5 m]]
    profile: [[0.95, 0.5, 0 m], [0.3, 0.55, 0 m], [0, 0.15, 0 m]]
""")
machine = bramah.Machine("digging.yaml", step=step)
soil, profile = machine.soil, [[1.4, 0], [0.95, 0.5], [0.3, 0.55], [0, 0.15]]
start = soil.report.field_mass

# What the operator does [V].
commands = {"boom": [(0, 0), (.2, -4.5), (2, -4.5), (2.3, 0), (2.6, 1.2), (4.2, 1.2), (4.5, 2), (5.2, 5), (7, 5)],
            "arm": [(0, 0), (.2, -3), (1.2, -3), (1.4, 0), (2.2, 0), (2.5, 5), (4.6, 5), (5, 0)],
            "bucket": [(0, 0), (.3, -2), (1.2, -2), (1.5, 0), (3.2, 0), (3.6, 5), (6.2, 5), (6.5, 0)]}
time = np.arange(0.0, end, step)
u = np.stack([np.interp(time, *zip(*commands[name])) for name in machine.inputs], axis=1)

force, cutting, pressure, pictures = [], [], [], []
for k in range(len(time)):
    machine.step(u[k])
    force.append([machine["shell.force_x"], machine["shell.force_y"]])
    cutting.append(machine["shell.cutting_force"])
    pressure.append([machine[f"{name}_piston.pressure"] for name in machine.inputs])
    if any(abs(time[k] - at) < step / 2 for at in (2.7, 3.6, 6.3)):
        angle = np.cumsum([machine[f"{joint}.angle"] for joint in ("boom", "arm", "bucket")])
        pin = np.stack([np.cos(angle), np.sin(angle)])[:, :2] @ [5.7, 2.9] + [0, 1.8]
        c, s = np.cos(angle[2]), np.sin(angle[2])
        shell = np.array(profile) @ [[c, s], [-s, c]] + pin
        pictures.append((time[k], machine.skeleton(), shell, soil.heights[:, 13].copy(), soil.particles))
force, pressure = np.array(force), np.array(pressure)

report = soil.report
drift = abs(report.field_mass + report.particle_mass - start) / start
print(f"{report.failures} wedges failed, {report.starved} times there was no room for their particles")
lifted = (time > 5.6) & (time < 6.1)
high = (soil.particles[:, 2] > 1.0).sum() * report.particle_mass / report.n_particles
print(f"{high:.0f} kg are lifted, the force on the bucket is that of {-force[lifted, 1].mean() / 9.81:.0f} kg; "
      f"mass is off by {drift:.0e}")

figure = plt.figure(figsize=(7.5, 7))
grid = figure.add_gridspec(3, 3, height_ratios=(1.3, 1, 1))
for i, (at, parts, shell, ground, particles) in enumerate(pictures):
    axes = figure.add_subplot(grid[0, i])
    axes.fill_between((np.arange(90) + 0.5) * 0.1, -1.0, ground, color="#c49a6c", lw=0)
    axes.scatter(particles[:, 0], particles[:, 2], s=1.5, color="#7a5230", lw=0)
    for part in parts:
        if part.kind not in ("joint", "ground"):
            axes.plot(part.points[:, 0], part.points[:, 1], color="C0" if part.kind == "body" else "0.5",
                      lw=2 if part.kind == "body" else 1)
    axes.plot(*shell.T, color="C0", lw=2)
    axes.set(aspect="equal", xlim=(0, 8.9), ylim=(-0.6, 6.5), title=f"{at:.1f} s", xlabel="x [m]")
    axes.grid(False)
first = (time > 2.0) & (time < 3.2)
for axes, part in ((figure.add_subplot(grid[1, 0]), first), (figure.add_subplot(grid[1, 1:]), time > 1.5)):
    axes.plot(time[part], force[part, 0] / 1e3, color="C0", lw=0.8, label="on the bucket, ahead")
    axes.plot(time[part], np.array(cutting)[part] / 1e3, color="C1", lw=0.8, label="of wedges before its edge")
    axes.plot(time[part], -force[part, 1] / 1e3, color="C2", lw=0.8, label="downwards")
    axes.set(xlim=(time[part][0], time[part][-1]))
axes.set(ylim=(-2.5, 11))
axes.legend(loc="upper right")
figure.axes[3].set(ylabel="force [kN]", title="wedges fail")
axes = figure.add_subplot(grid[2, 0])
soil.draw(axes)
axes.set(title="from above, in the end")
axes = figure.add_subplot(grid[2, 1:])
for name, values in zip(machine.inputs, pressure.T):
    axes.plot(time, values / 1e5, label=name)
axes.set(xlabel="time [s]", title="pressure on piston sides [bar]", xlim=(0, time[-1]), ylim=(0, 330))
axes.legend(ncols=3, loc="upper right")
figure.savefig("digging.png")
