#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""to_can.py TRUTH.csv DRIVE.candump: what `bramah simulate` wrote as frames of J1939: EEC1 (engine speed) every 20 ms, LFE1 (fuel
rate) every 100 ms from address 0, what the driver does every 20 ms from 0x27 in a message of its own (PGN 65280), as a recorder at the bus would write them from noon of 2 June 2025 on."""
import csv
import sys

STEPS = 10  # of 2 ms, from one EEC1 to the next
DENSITY = 840.0  # of the fuel [kg/m^3]
START = 1748865600


def main(truth, out):
    with open(truth) as file:
        rows = list(csv.DictReader(file))
    with open(out, "w") as file:
        for i, row in enumerate(rows[::STEPS]):
            time = f"({START + float(row['t[s]']):.6f}) can0"
            levers = b"".join(round((float(row[f"{name}.command[V]"]) + 10) / 0.001).to_bytes(2, "little")
                              for name in ("throttle", "clutch", "gear", "pedal"))
            file.write(f"{time} 18FF0027#{levers.hex().upper()}\n")
            speed = round(float(row["engine.rate[rad/s]"]) * 30 / 3.141592653589793 / 0.125)
            file.write(f"{time} 0CF00400#FFFFFF{speed & 255:02X}{speed >> 8:02X}FFFFFF\n")
            if i % 5 == 0:
                fuel = round(float(row["diesel.fuel_rate[kg/s]"]) / DENSITY * 3600e3 / 0.05)
                file.write(f"{time} 18FEF200#{fuel & 255:02X}{fuel >> 8:02X}FFFFFFFFFFFF\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
