"""How good estimates of payload and force at the bucket's teeth are: errors and bands against the truth of make.py.

usage: python3 score.py TRUTH.csv ESTIMATE.csv [TRUTH.csv ESTIMATE.csv ...] [--full-scale 844.8] [--json FILE]

An estimate has the columns t[s], and one or both of payload[kg] and tip_force.x, .y, .z [N] (what is in the bucket; the soil's force on
the teeth in the axes of the ground), or tip_force[N], tip_force.elevation and tip_force.azimuth[rad]; with a standard deviation
NAME.sigma each, if there is one. At a time its last row counts, as it would on a machine. All pairs are scored as one.

payload: at 2 s after each lifting, that is since when the load stays the same and nothing touches the teeth for 2 s or more, after soil did (a test weight does not count).
force: in all rows of the truth with more than 2 kN at the teeth; as it is there and as a mean over the last 0.5 s."""
import argparse
import json
import sys

import numpy as np

import bramah

AFTER, BEFORE = 2.0, 1.5  # of lifting [s]
SLOW = 0.5  # means of the force [s]
FREE, DIGS, LOADED = 200.0, 2000.0, 0.2  # nothing touches the teeth, they dig [N]; share of full scale that is a load
NORMAL_95 = 1.959964


def read(path):
    """Columns of a file and its time [n]."""
    columns = bramah.read_log(path)
    if len(columns.time) < 2 or not np.all(np.diff(columns.time) > 0):
        raise SystemExit(f"{path}: the times of its column t do not go forward")
    return columns


def force_of(columns):
    """[3 x n] in the axes of the ground, or None."""
    if "tip_force.x" in columns:
        return np.array([columns[f"tip_force.{axis}"] if f"tip_force.{axis}" in columns else 0 * columns.time for axis in "xyz"])
    if "tip_force" not in columns:
        return None
    size, up, about = (columns[n] for n in ("tip_force", "tip_force.elevation", "tip_force.azimuth"))
    return size * np.array([np.cos(up) * np.cos(about), np.cos(up) * np.sin(about), np.sin(up)])


def liftings(truth, full_scale):
    """Times at which loads have been lifted out of the soil [s]."""
    payload, force = truth["payload"], np.linalg.norm(force_of(truth), axis=0)
    same = np.abs(np.diff(payload, prepend=payload[0])) < 0.01
    carried = np.concatenate([[False], same & (force < FREE) & (payload > LOADED * full_scale), [False]])
    begin, end = (np.flatnonzero(np.diff(carried.astype(int)) == k) for k in (1, -1))
    dug = [force[np.searchsorted(truth.time, truth.time[b] - BEFORE):b + 1].max() > FREE for b in begin]
    return [truth.time[b] for b, e, soil in zip(begin, end, dug) if soil and truth.time[e - 1] - truth.time[b] >= AFTER]


def rows_at(estimate, times, path):
    """The last row at or before each of the times."""
    rows = np.searchsorted(estimate.time, np.asarray(times) + 1e-6, side="right") - 1
    if len(rows) and (rows.min() < 0 or np.max(np.asarray(times) - estimate.time[rows]) > 1.0):
        raise SystemExit(f"{path}: no estimate within a second before a time that is scored")
    return rows


def slow(time, values):
    """Means of values [3 x n] over the last SLOW seconds."""
    total = np.concatenate([np.zeros((3, 1)), np.cumsum(values, axis=1)], axis=1)
    end, begin = np.arange(1, len(time) + 1), np.searchsorted(time, time - SLOW + 1e-6)
    return (total[:, end] - total[:, begin]) / (end - begin)


def one(truth_path, path, full_scale):
    """Errors of one file: {"payload": [n], "force", "true_force" and "slow_error": [3 x n], and "inside" bands}."""
    truth, estimate, found = read(truth_path), read(path), {}
    if "payload" in estimate:
        at = np.array(liftings(truth, full_scale)) + AFTER
        rows = rows_at(estimate, at, path)
        found["payload"] = estimate["payload"][rows] - np.interp(at, truth.time, truth["payload"])
        if "payload.sigma" in estimate:
            found["payload_inside"] = np.abs(found["payload"]) < NORMAL_95 * estimate["payload.sigma"][rows]
    force = force_of(estimate)
    if force is not None:
        true = force_of(truth)
        digs = np.linalg.norm(true, axis=0) > DIGS
        rows = rows_at(estimate, truth.time[digs], path)
        found["true_force"], found["force"] = true[:, digs], force[:, rows]
        all_rows = np.clip(np.searchsorted(estimate.time, truth.time + 1e-6, side="right") - 1, 0, None)
        found["slow_error"] = slow(truth.time, force[:, all_rows] - true)[:, digs]
        sigmas = [f"tip_force.{axis}.sigma" for axis in "xz"]
        if all(s in estimate for s in sigmas):
            error = np.abs(found["force"] - found["true_force"])[[0, 2]]
            found["force_inside"] = (error < NORMAL_95 * np.array([estimate[s][rows] for s in sigmas])).ravel()
    for name, values in found.items():
        if not np.all(np.isfinite(values)):
            raise SystemExit(f"{path}: {name}: it has empty or infinite values where it is scored")
    return found


def score(pairs, full_scale):
    """The table: {name: number}, of pairs (truth, estimate) together; what an estimate does not have is not in it."""
    all_found = [one(*pair, full_scale) for pair in pairs]
    joined = {name: np.concatenate([f[name] for f in all_found], axis=-1) for name in all_found[0]}
    table = {}
    if "payload" in joined:
        share = 100 * np.abs(joined["payload"]) / full_scale
        table.update({"liftings": len(share), "payload median error [% of full scale]": np.median(share),
                      "payload 95th percentile [% of full scale]": np.percentile(share, 95),
                      "payload mean error [kg]": joined["payload"].mean()})
    if "payload_inside" in joined:
        table["payload within its 95 % band [%]"] = 100 * joined["payload_inside"].mean()
    if "force" in joined:
        force, true = joined["force"], joined["true_force"]
        size, true_size = np.linalg.norm(force, axis=0), np.linalg.norm(true, axis=0)
        cosine = np.sum(force * true, axis=0) / np.maximum(size * true_size, 1e-300)
        table.update({"rows with digging": len(size), "force error RMS [N]": np.sqrt(np.sum((force - true) ** 2, axis=0).mean()),
                      "force magnitude error RMS [N]": np.sqrt(((size - true_size) ** 2).mean()),
                      "force error RMS of means over 0.5 s [N]": np.sqrt(np.sum(joined["slow_error"] ** 2, axis=0).mean()),
                      "force direction error RMS [deg]": np.sqrt((np.degrees(np.arccos(np.clip(cosine, -1, 1))) ** 2).mean())})
    if "force_inside" in joined:
        table["force within its 95 % band [%]"] = 100 * joined["force_inside"].mean()
    return {name: float(value) for name, value in table.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("files", nargs="+", metavar="TRUTH ESTIMATE")
    parser.add_argument("--full-scale", type=float, default=844.8, help="[kg], a full bucket")
    parser.add_argument("--json")
    options = parser.parse_args()
    if len(options.files) % 2:
        parser.error("each truth needs its estimate")
    table = score(list(zip(options.files[::2], options.files[1::2])), options.full_scale)
    if not table:
        sys.exit(f"{options.files[1]}: neither payload nor tip_force is there")
    for name, value in table.items():
        print(f"{name:45} {value:10.4g}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(table, file, indent=1)


if __name__ == "__main__":
    main()
