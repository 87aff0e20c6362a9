#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# to-csv.sh STOP UPPER FILE: a recording as a log for `bramah replay`, from 60 ms on. STOP: counts at the stop the stroke ends
# at; UPPER: 1 if that is the upper one (95 deg), else 0. Scales as assumed in README.md: one turn is 16384 counts, 0.02 bar
# a count, 0 counts at 1.01325 bar. The columns shaft.angle, port_1.pressure and port_2.pressure serve as sensors and, for
# --truth, as what was measured.
set -eu
[ $# -eq 3 ] || {
  echo "usage: to-csv.sh STOP UPPER FILE" >&2
  exit 2
}
awk -F '\t' -v stop="$1" -v upper="$2" '
NR == 1 {
  for (i = 1; i <= NF; i++) column[$i] = i
  angle = column["Angle"]; p1 = column["PG_1"]; p2 = column["PG_2"]
  if (!angle || !p1 || !p2) { print FILENAME ": no columns Angle, PG_1, PG_2" >"/dev/stderr"; exit 1 }
  print "t[s],shaft.angle[deg],port_1.pressure[bar],port_2.pressure[bar]"
  next
}
NR > 61 {
  printf "%.3f,%.5f,%.5f,%.5f\n", (NR - 2) / 1000, ($angle - stop) * 360 / 16384 + 95 * upper, 1.01325 + 0.02 * $p1,
    1.01325 + 0.02 * $p2
}' "$3"
