"""Tune on my logs: the noise that makes the innovations most likely, with intervals, and what the log does not tell.

usage: python3 tune_on_logs.py [FOLDER OF THE FOUR-BAR]     writes tune_on_logs.png and tuned.yaml"""
import pathlib
import sys

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt

import bramah

here = pathlib.Path(__file__).resolve().parent
data = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here.parent / "four-bar"
plt.style.use(here / "gallery.mplstyle")

best = []
tuning = bramah.tune(data / "tuning.yaml", data / "log.csv", progress=lambda p: best.append((p.evaluations, p.best)))
tuning.write("tuned.yaml")

print(tuning.ending, "after", tuning.evaluations, "evaluations; NIS", *(f"{b:.3f} -> {a:.3f}" for b, a in zip(
    tuning.nis_before, tuning.nis_after)))
for path, v in tuning.values.items():
    print(f"{path:32} {v.before:10.4g} -> {v.found:10.4g}  [{v.low:.4g}, {v.high:.4g}] {v.unit}{'  flat' if v.flat else ''}")
print(*tuning.warnings, sep="\n")

figure, (left, right) = plt.subplots(1, 2, figsize=(7.5, 2.9), width_ratios=(1, 1.5))
left.plot([n for n, _ in best], [b - best[-1][1] for _, b in best], ".-")
left.set(xlabel="candidates tried", ylabel="cost above the least", title="Search", yscale="symlog")
for k, (path, v) in enumerate(tuning.values.items()):
    right.errorbar(v.found / v.before, k, xerr=[[(v.found - v.low) / v.before], [(v.high - v.found) / v.before]],
                   fmt="o", color=f"C{k}", capsize=3)
right.axvline(1.0, color="0.5", lw=1)
right.set(yticks=range(len(tuning.values)), xscale="log", xlabel="found by stated", title="Values, 95 % intervals")
right.set_yticklabels([path.removeprefix("sensors.").removeprefix("joints.") for path in tuning.values])
right.invert_yaxis()
figure.savefig("tune_on_logs.png")
