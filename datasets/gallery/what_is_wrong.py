"""What is wrong with my model? The true valve is worn, the filter does not know: the verdict contradicts, the diagnosis names it.

usage: python3 what_is_wrong.py [FOLDER OF THE FOUR-BAR]     writes what_is_wrong.png"""
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

# The machine as it is: what its sensors log.
key, stated = "hydraulics.valves.valve.flow_coefficient", 2.138e-8
worn = bramah.Machine(data / "four-bar.yaml", changes={key: "1.8e-8 m^3/s/Pa^0.5/V"})
worn.simulate(6.0, truth="worn-truth.csv", study=data / "tuning.yaml", log="worn-log.csv", seed=5)

# The filter believes in a new valve. What the diagnosis says is done, and the log is asked again, until nothing contradicts.
runs, values = [], [stated]
for attempt in range(4):
    runs.append(bramah.replay(data / "tuning.yaml", "worn-log.csv", truth="worn-truth.csv",
                              changes={"machine." + key: f"{values[-1]!r} m^3/s/Pa^0.5/V"}))
    print(f"{values[-1]:.4g}:", runs[-1].verdict)
    if runs[-1].verdict:
        break
    cause = runs[-1].diagnosis.cause[0]
    print(f"  {cause.name} {cause.change:+.3g} ± {cause.sigma:.2g} {cause.unit} explains {100 * cause.share:.3g} %")
    values.append(values[-1] + cause.change)
before, after, causes = runs[0], runs[-1], runs[0].diagnosis.cause[:5]
print(f"true 1.8e-08; found {values[-1]:.4g}; RMSE of the angle",
      *(f"{bramah.convert(r.accuracy['crank.angle'].estimate.value, 'rad', 'deg'):.3f} deg" for r in (before, after)))

figure, axes = plt.subplots(1, 3, figsize=(7.5, 2.9), width_ratios=(1.3, 1, 1.3))
for axis, r, title in ((axes[0], before, "Before"), (axes[2], after, "After")):
    axis.plot(r.time, r.innovation("p1", unit="bar"), lw=0.5, color="C0")
    band = 1.96 * r.innovation_sigma("p1", unit="bar")
    axis.fill_between(r.time, -band, band, color="C1", alpha=0.3, lw=0)
    axis.set(title=f"{title}: {'contradicted' if r.verdict.contradicted else 'no contradiction'}", xlabel="time [s]",
             ylabel="innovation of p1 [bar]", ylim=np.array([-1.0, 1.0]) * 1.05 * np.nanmax(np.abs(
                 before.innovation("p1", unit="bar"))))
axes[1].barh([f"{c.name}\n{'' if c.kind == 'parameter' else c.what}" for c in causes], [100 * c.share for c in causes])
axes[1].invert_yaxis()
axes[1].set(title="What would explain it", xlabel="% of the excess")
axes[1].tick_params(axis="y", labelsize=7)
figure.savefig("what_is_wrong.png")
