"""From filter to controller: linearize, design a regulator, close the loop over the estimates of a live filter, and over raw
samples. The filter starts 3 deg off and believes in 10 % too much friction.

usage: python3 filter_to_controller.py [FOLDER OF THE FOUR-BAR]     writes filter_to_controller.png"""
import pathlib
import sys

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import bramah

here = pathlib.Path(__file__).resolve().parent
data = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here.parent / "four-bar"
plt.style.use(here / "gallery.mplstyle")
NAMES = ["crank.angle", "crank.rate", "v1.pressure", "v2.pressure", "v3.pressure", "valve.spool"]

# The linear equations at rest, for the crank's angle instead of the coordinate that the machine chose. Oil that is shut in keeps
# its pressure whatever the valve does, a mode that nothing moves: costs of the far future count less.
system = bramah.linearize(data / "four-bar.yaml", "rest")
c = system.C[list(system.outputs).index("crank.angle"), 0]
T = np.diag([c, c, 1.0, 1.0, 1.0, 1.0])
A, B = T @ system.A @ np.linalg.inv(T), T @ system.B
K = bramah.lqr(A - 0.25 * np.eye(6), B, [1e4, 0, 0, 0, 0, 0], [0.1])[0][0]
print("poles of the loop [1/s]:", ", ".join(f"{p:.3g}" for p in sorted(np.linalg.eigvals(A - np.outer(B, K)), key=abs)))


def run(feed_back_estimates, duration=6.0, seed=1):
    """Angle, what it shall be, command [n]."""
    rng, u, out = np.random.default_rng(seed), 0.0, []
    machine = bramah.Machine(data / "four-bar.yaml")
    session = bramah.Session(data / "sensors-2.yaml", outputs=NAMES)
    rest = np.array([machine[n] for n in NAMES])
    sigma = [np.radians(1.0), 9.84e-4, 5e4, 5e4, 5e4]
    for k in range(round(duration / 0.001)):
        machine.step([u])
        y = np.array([machine[n] for n in NAMES[:5]]) + sigma * rng.standard_normal(5)
        session.step(None, [u], y)
        x = session.estimate()[0] if feed_back_estimates else np.append(y, u)
        t = 0.001 * (k + 1)
        wanted = np.radians(60.0 + (4.0 if 1.0 <= t < 3.5 else -2.0 if t >= 3.5 else 0.0))
        deviation = x - rest
        deviation[0] = x[0] - wanted
        u = float(np.clip(-K @ deviation, -10.0, 10.0))
        out.append((t, machine["crank.angle"], wanted, u))
    return np.array(out).T


figure, axes = plt.subplots(2, 2, sharex=True, sharey="row", figsize=(7.5, 4))
for column, (estimates, title) in enumerate(((False, "Raw samples fed back"), (True, "Estimates fed back"))):
    t, angle, wanted, u = run(estimates)
    settled = (t > 2.5) & (t < 3.5) | (t > 5.0)
    error, activity = np.degrees(np.std((angle - wanted)[settled])), np.mean(np.abs(np.diff(u))[t[1:] > 1.0])
    print(f"{title}: {error:.4f} deg about where it shall be, the command moves by {activity:.3f} V a step")
    axes[0, column].plot(t, np.degrees(wanted), color="0.5", label="wanted")
    axes[0, column].plot(t, np.degrees(angle), label="true angle")
    axes[0, column].set(title=title)
    axes[1, column].plot(t, u, lw=0.6, color="C1")
    axes[1, column].set(xlabel="time [s]")
axes[0, 0].set(ylabel="crank angle [deg]")
axes[0, 0].legend(loc="lower left")
axes[1, 0].set(ylabel="valve command [V]")
figure.savefig("filter_to_controller.png")
