"""Which sensors do I need? Six sensor sets through two filters, by simulation: a plan, run in one call.

usage: python3 which_sensors.py [FOLDER OF THE FOUR-BAR] [SEEDS]     writes which_sensors.png"""
import pathlib
import sys

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import bramah

here = pathlib.Path(__file__).resolve().parent
data = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here.parent / "four-bar"
seeds = int(sys.argv[2]) if len(sys.argv) > 2 else 4
plt.style.use(here / "gallery.mplstyle")

study = bramah.sensor_study(data / "estimator-study.yaml", seeds=seeds, scenarios=["A"])

sets = ["encoder, p1 p2 p3", "and a gyro", "encoder, gyro, p1 p2", "encoder, gyro, p1 p3", "encoder, p1 p2", "encoder, p1 p3"]
signals = ["position", "velocity", "p2"]
figure, axes = plt.subplots(1, len(signals), sharex=True, sharey=True, figsize=(7.5, 3.6))
for axis, signal in zip(axes, signals):
    for k, filter_ in enumerate(study.filters):
        error = study.mean(signal, "rmse", scenario="A", filter=filter_, rate=1000.0)
        axis.barh(np.arange(6) + 0.38 * k, error, 0.36, label=f"filter '{filter_}'")
        print(f"{signal:9} {filter_:6}", *(f"{e:8.3f}" for e in error), "% of the largest value")
    axis.axvline(study.model_alone["A"][signal], color="black", linestyle="--", label="model alone")
    axis.set(title=signal, xlabel="RMSE [% of the largest]", xscale="log", xlim=(0.02, 30), yticks=np.arange(6) + 0.19)
    axis.set_yticklabels(sets)
    axis.invert_yaxis()
axes[0].legend(loc=(0.13, 0.4))
print("failed runs:", len(study.failures))
figure.savefig("which_sensors.png")
