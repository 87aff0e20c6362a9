# SPDX-License-Identifier: GPL-3.0-or-later
"""bramah map: which column is which, of logs whose columns have lost names, units, signs and order. With BRAMAH_SEEDS=N: N of
each machine, manipulator and excavator too."""
import csv
import os
import random
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import yaml

import bramah

SOURCE = Path(os.environ["BRAMAH_SOURCE_ROOT"]) / "datasets"
PROGRAM = os.environ["BRAMAH_PROGRAM"]
SEEDS = int(os.environ.get("BRAMAH_SEEDS", "0"))
# Machine, study, duration [s].
MACHINES = [("four-bar/four-bar", "four-bar/sensors-2", 10), ("lifting-four-bar/lifting-four-bar", "lifting-four-bar/sensors", 8),
            ("crane/crane", "crane/gripper-load", 8)]
LARGE = [("manipulator/manipulator", "manipulator/encoders", 17), ("excavator/excavator", "excavator/encoders", 12)]
UNITS = {"rad": {"rad": 1, "deg": 57.29577951308232}, "rad/s": {"rad/s": 1, "deg/s": 57.29577951308232},
         "m": {"m": 1, "mm": 1e3, "cm": 100}, "V": {"V": 1, "mV": 1e3}, "s": {"s": 1, "ms": 1e3},
         "Pa": {"Pa": 1, "bar": 1e-5, "kPa": 1e-3, "MPa": 1e-6, "psi": 1 / 6894.757293168}}
PLACES = ("joint", "volume", "cylinder", "body")


def scramble(source, target, seed):
    """Columns ch01, ch02, ... in another order, unit and sign; returns {column: (name, unit, sign)}."""
    draw = random.Random(seed)
    with open(source, newline="") as file:
        head, *rows = csv.reader(file)
    order, key, factors = list(range(len(head))), {}, []
    draw.shuffle(order)
    for k, i in enumerate(order):
        name, unit = head[i].rstrip("]").split("[")
        other, factor = draw.choice(sorted(UNITS[unit].items()))
        sign = 1 if unit == "s" else draw.choice((1, -1))
        key[f"ch{k + 1:02d}"] = name, other, sign
        factors.append((i, factor * sign))
    with open(target, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(key)
        out.writerows([repr(float(row[i]) * f) if row[i] else "" for i, f in factors] for row in rows)
    return key


def place(sensor):
    return sensor["type"], next(sensor[p] for p in PLACES if p in sensor)


class Map(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def run_map(self, log, machine, *options):
        return subprocess.run([PROGRAM, "map", log, machine, *options], capture_output=True, text=True, cwd=self.folder)

    def columns(self, text):
        """What a proposed study says: {column: (role, what, unit, sign)}, and its doubtful columns."""
        study, found, doubtful, doubt = yaml.safe_load(text), {}, set(), False
        for line in text.splitlines():
            line = line.strip()
            if line.startswith("# left out"):
                doubtful.add(line.split("'")[1])
            elif line.startswith("#"):
                doubt |= line.startswith("# doubtful")
            elif "column: " in line:
                if doubt:
                    doubtful.add(line.split("column: '")[1].split("'")[0])
                doubt = False
        for name, c in {**study.get("inputs", {}), "": study["time"]}.items():
            found[c["column"]] = (name, c.get("unit"), c.get("sign", 1))
        for c in study["sensors"].values():
            found[c["column"]] = (place(c), c.get("unit"), c.get("sign", 1))
        return found, doubtful

    def judge(self, machine, study, duration, seed):
        """(right, all) columns of a drive; those that are wrong must be doubtful."""
        log, lost = self.folder / "log.csv", self.folder / "lost.csv"
        bramah.Machine(SOURCE / f"{machine}.yaml").simulate(duration, study=SOURCE / f"{study}.yaml", log=log, seed=seed)
        key = scramble(log, lost, seed)
        run = self.run_map(lost, SOURCE / f"{machine}.yaml", "--output", "found.yaml")
        self.assertIn(run.returncode, (0, 3), run.stderr)
        text = (self.folder / "found.yaml").read_text()
        found, doubtful = self.columns(text)
        self.assertEqual(run.returncode, 3 if doubtful else 0)
        sensors = yaml.safe_load((SOURCE / f"{study}.yaml").read_text())["sensors"]
        right = 0
        for column, (name, unit, sign) in key.items():
            what = "" if name == "t" else name[:-8] if name.endswith(".command") else place(sensors[name])
            if found.get(column) == (what, unit, sign):
                right += 1
            else:
                self.assertIn(column, doubtful, f"{machine}, seed {seed}: {name} taken for {found.get(column)}\n{text}")
        return right, len(key)

    def judge_all(self, machines, seeds):
        counts = [self.judge(*m, seed) for m in machines for seed in seeds]
        right, n = (sum(c) for c in zip(*counts))
        print(f"{right} of {n} columns right ({100 * right / n:.1f} %)")
        self.assertGreaterEqual(right / n, 0.9)

    def test_scrambled(self):
        self.judge_all(MACHINES, (1, 2))

    @unittest.skipUnless(SEEDS, "BRAMAH_SEEDS=N draws N logs of each machine")
    def test_all_machines(self):
        self.judge_all(MACHINES + LARGE, range(1, SEEDS + 1))

    def test_study_runs(self):
        """The proposal is a study: it is read, its log goes with it, and a replay finds no contradiction."""
        machine, log = SOURCE / "crane" / "crane.yaml", self.folder / "log.csv"
        bramah.Machine(machine).simulate(4, study=SOURCE / "crane" / "gripper-load.yaml", log=log)
        self.assertEqual(self.run_map(log, machine, "--output", self.folder / "study.yaml").returncode, 0)
        sensors = yaml.safe_load((self.folder / "study.yaml").read_text())["sensors"]
        self.assertEqual(sensors["boom_encoder"]["rate"], "100 Hz")
        self.assertAlmostEqual(float(sensors["p_lift_rod"]["sigma"].split()[0]), 0.5, delta=0.05)
        self.assertEqual(bramah.check_file(self.folder / "study.yaml"), [])
        replay = bramah.replay(self.folder / "study.yaml", log)
        self.assertFalse(replay.verdict.contradicted)
        # A sensor that comes late, and a gauge.
        rows = log.read_text().splitlines()
        names = [c.split("[")[0] for c in rows[0].split(",")]
        gyro, gauge = names.index("jib_gyro"), names.index("p_lift_rod")
        cells = [row.split(",") for row in rows]
        lowest = sorted(float(row[gauge]) for row in cells[1:] if row[gauge])[len(cells) // 40]
        for k in range(len(cells) - 1, 0, -1):
            cells[k][gyro] = cells[max(k - 80, 1)][gyro]
            if cells[k][gauge]:
                cells[k][gauge] = repr(float(cells[k][gauge]) - lowest - 1e4)
        log.write_text("\n".join(",".join(row) for row in cells) + "\n")
        run = self.run_map(log, machine)
        late = yaml.safe_load(run.stdout)["sensors"]["jib_gyro"]
        self.assertAlmostEqual(float(late["delay"].split()[0]), 80, delta=15)
        self.assertEqual(yaml.safe_load(run.stdout)["sensors"]["p_lift_rod"].get("reference"), "gauge")

    def test_log_of_can(self):
        """Times at uneven steps, names with dots, and what is in the frames."""
        cart = SOURCE / "cart"
        run = self.run_map(cart / "drive.candump", cart / "cart.yaml", "--dbc", cart / "j1939.dbc", "--output", "study.yaml")
        self.assertEqual(run.returncode, 3, run.stderr)
        sensors = yaml.safe_load((self.folder / "study.yaml").read_text())["sensors"]
        self.assertEqual((sensors["EEC1_EngineSpeed"]["joint"], sensors["EEC1_EngineSpeed"]["rate"]), ("engine", "50 Hz"))
        self.assertEqual(bramah.check_file(self.folder / "study.yaml"), [])

    def test_headers(self):
        """Dates, units that are none, offsets to their last digit, names that no sensor may have, columns that stand still."""
        machine, log = SOURCE / "four-bar" / "four-bar.yaml", self.folder / "log.csv"
        bramah.Machine(machine).simulate(4, study=SOURCE / "four-bar" / "sensors-2.yaml", log=log)
        with open(log, newline="") as file:
            head, *rows = csv.reader(file)
        with open(log, "w", newline="") as file:
            out = csv.writer(file)
            out.writerow(["Time", "valve.command[-]", "angle (deg)", "angle_(deg)[furlong]", "still[Pa]", "off[Pa]", "stamp[ms]"])
            for k, row in enumerate(rows):
                date = f"2024-03-05T12:00:{k // 1000:02d}.{k % 1000:03d}Z"
                out.writerow([date, row[1], repr(float(row[2]) * 57.29577951308232 - 161.8), row[3], 0, 0, 2 * k])
        run = self.run_map(log, machine, "--output", "study.yaml")
        self.assertEqual(run.returncode, 3, run.stderr)
        study = yaml.safe_load((self.folder / "study.yaml").read_text())
        self.assertEqual(study["time"], {"column": "Time"})
        self.assertIn("left out: 'stamp' is another time", (self.folder / "study.yaml").read_text())
        self.assertIn("2 of 7 columns doubtful", run.stdout + run.stderr)
        self.assertEqual(study["inputs"], {"valve": {"column": "valve.command", "unit": "V"}})
        angle, rate = study["sensors"]["angle__deg_"], study["sensors"]["angle__deg__4"]
        self.assertAlmostEqual(float(angle["offset"].split()[0]), 161.8, delta=0.1)
        self.assertEqual((angle["rate"], rate["unit"]), ("1000 Hz", "rad/s"))
        self.assertEqual(bramah.check_file(self.folder / "study.yaml"), [])

    def test_mistakes(self):
        machine = SOURCE / "four-bar" / "four-bar.yaml"
        (self.folder / "no_time.csv").write_text("a,b\n" + "1,2\n" * 200)
        (self.folder / "short.csv").write_text("t[s],b\n" + "".join(f"{k},2\n" for k in range(20)))
        (self.folder / "rare.csv").write_text("t[s],b\n" + "".join(f"{30 * k},{k % 7}\n" for k in range(200)))
        for log, of, text in (("rare.csv", machine, "the first 20 s have 1 rows"), ("no_time.csv", machine, "no column can be the time"), ("short.csv", machine, "too few"),
                              ("none.csv", machine, "none.csv"), ("short.csv", SOURCE / "four-bar" / "sensors-2.yaml", "study"),
                              ("short.csv", "none.yaml", "none.yaml")):
            run = self.run_map(log, of)
            self.assertEqual(run.returncode, 1, run.stdout)
            self.assertIn(text, run.stderr)
            self.assertEqual(run.stdout, "")
        run = self.run_map(machine, "short.csv")
        self.assertEqual(run.returncode, 2)
        self.assertIn("the log comes first", run.stderr)
        run = self.run_map("short.csv", machine, "--output", "short.csv")
        self.assertEqual(run.returncode, 1)
        self.assertTrue((self.folder / "short.csv").read_text().startswith("t[s]"))


if __name__ == "__main__":
    unittest.main()
