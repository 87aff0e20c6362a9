"""A first replay: is the estimate near the truth, and as near as it says?

usage: python3 first_replay.py [FOLDER OF THE FOUR-BAR]     writes first_replay.png"""
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

r = bramah.replay(data / "sensors-2.yaml", data / "log.csv", truth=data / "truth.csv")

name = "crank.angle"
value, truth, model, sigma = (np.degrees(x) for x in (r[name], r.truth(name), r.model(name), r.sigma(name)))
error = r.accuracy[name]
print(r.verdict)
print(f"{name}: RMSE {np.degrees(error.estimate.value):.3f} deg, model alone {np.degrees(error.model.value):.3f}, "
      f"raw encoder {np.degrees(error.measured.value):.3f}; inside +-1.96 sigma {100 * error.estimate.inside:.1f} %")

figure, (above, below) = plt.subplots(2, 1, sharex=True, height_ratios=(2, 1.3))
above.plot(r.time[::20], r.measured("crank_encoder", unit="deg")[::20], ".", ms=2, color="0.75", label="encoder")
above.plot(r.time, model, "--", color="C4", label="model alone")
above.plot(r.time, truth, color="k", lw=2.5, alpha=0.35, label="truth")
above.plot(r.time, value, color="C0", label="estimate")
above.set(ylabel="crank angle [deg]", ylim=(35, 82), title=f"Four-bar: {r.verdict}")
above.legend(ncols=4, loc="upper right")
below.fill_between(r.time, -1.96 * sigma, 1.96 * sigma, color="C0", alpha=0.18, lw=0, label="±1.96 σ")
below.plot(r.time, model - truth, "--", color="C4")
below.plot(r.time, value - truth, color="C0", label="estimate less truth")
below.set(xlabel="time [s]", ylabel="error [deg]", ylim=(-4, 4))
below.legend(ncols=2, loc="lower left")
figure.savefig("first_replay.png")
