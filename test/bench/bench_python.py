# SPDX-License-Identifier: GPL-3.0-or-later
"""A cycle of a filter and a replay in Python beside the same in C. usage: bench_python.py BENCH_PROGRAM"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

import bramah

CYCLES, STRETCHES = 2000, 5
data = pathlib.Path(os.environ["BRAMAH_SOURCE_ROOT"]) / "datasets" / "four-bar"
log = data / "log.csv"


def cycles(study, alarm):
    table = np.genfromtxt(log, delimiter=",", skip_header=1, max_rows=CYCLES + 1)
    rows = [(0.001 * k, table[k, 1:2].copy(), table[k, 2:].copy()) for k in range(1, CYCLES + 1)]
    least = 1e9
    for _ in range(STRETCHES):
        session = bramah.Session(study, alarm=alarm)
        step, begin = session.step, time.process_time()
        for t, u, y in rows:
            step(t, u, y)
        least = min(least, time.process_time() - begin)
    return 1e6 * least / CYCLES


def least_time(call):
    """Processor time [s], children included."""
    times = []
    for _ in range(STRETCHES):
        begin = sum(os.times()[:4])
        call()
        times.append(sum(os.times()[:4]) - begin)
    return min(times)


with tempfile.TemporaryDirectory() as folder:
    fixed = pathlib.Path(folder) / "fixed.yaml"
    text = (data / "sensors-2.yaml").read_text().replace("machine: ", f"machine: {data}/")
    fixed.write_text(text + "uncertainty: fixed\n")
    print("a cycle [us]                      C   Python   less 1.2 x C")
    for name, study in (("default filter", data / "sensors-2.yaml"), ("uncertainty: fixed", fixed)):
        in_c = subprocess.run([sys.argv[1], str(study), str(log)], check=True, capture_output=True, text=True).stdout
        for alarm, c in enumerate(map(float, in_c.split())):
            python = cycles(study, bool(alarm))
            what = name + (" and alarm" if alarm else "")
            print(f"{what:28} {c:8.2f} {python:8.2f} {python - 1.2 * c:8.2f}")
    estimate = pathlib.Path(folder) / "estimate.csv"
    study = str(data / "sensors-2.yaml")
    command = [os.environ["BRAMAH_PROGRAM"], "replay", study, str(log), "--output", str(estimate)]
    print(f"replay of 10 s [s]: program {least_time(lambda: subprocess.run(command, check=True, capture_output=True)):.3f}, "
          f"Python {least_time(lambda: bramah.replay(study, log)):.3f}")
