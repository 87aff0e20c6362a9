#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# An hour at 1 kHz: 3.6 million rows of 10 columns through the filter, every estimate written. Memory must stay below 64 MiB, and the
# whole must run at no less than 60 % of the speed of the filter alone. Needs 2.5 GB in the folder for temporary files, and minutes; a
# benchmark, so that only run.sh --long or `meson test --benchmark` runs it. BRAMAH_LONG_SECONDS: another length.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"
seconds=${BRAMAH_LONG_SECONDS:-3600}

# Three sensors more than the study of the dataset, so that the log has ten columns.
sed -e "s|^machine: .*|machine: $machine|" -e '/^  p3: /a\
  stroke: {type: stroke, cylinder: lift, sigma: 5 mm, rate: 1 kHz}\
  across: {type: pressure-difference, a: v1, b: v3, sigma: 0.5 bar, rate: 1 kHz}\
  tilt: {type: inclinometer, body: crank, axis: [1, 0, 0], sigma: 1 deg, rate: 1 kHz}' "$study" >ten.yaml
run 0 simulate "$machine" --duration "$seconds" --output /dev/null --noise ten.yaml --seed 1 --log log.csv
same "$(head -n 1 log.csv | tr , '\n' | wc -l | tr -d ' ')" 10 'columns of the log'

# replay OPTION...: prints speed and the most memory it took, in kB.
replay() {
  # shellcheck disable=SC2094
  "$program" replay ten.yaml log.csv --output estimate.csv "$@" >out 2>err &
  pid=$!
  most=0
  while kill -0 "$pid" 2>/dev/null; do
    now=$(awk '/^VmHWM/ { print $2 }' "/proc/$pid/status" 2>/dev/null) || now=
    [ "${now:-0}" -le "$most" ] || most=$now
    sleep 0.2
  done
  wait "$pid" || [ $? -eq 3 ] || fail 'the replay'
  alone=$(sed -n 's/^speed: filter alone \([0-9]*\) .*/\1/p' out)
  whole=$(sed -n 's/^speed: .*comparisons \([0-9]*\) .*/\1/p' out)
  rows=$(sed -n 's/^rows: \([0-9]*\) from.*/\1/p' out)
  awk -v rows="$rows" -v alone="$alone" -v whole="$whole" -v kb="$most" -v s="$seconds" -v what="$*" 'BEGIN {
    printf "%s: %d rows, %.0f rows/s, %.0f rows/s of the filter alone (%.0f %%), at most %.1f MiB\n",
      what == "" ? "every estimate written" : what, rows, rows / s * whole, rows / s * alone, 100 * whole / alone, kb / 1024 }'
  [ "$most" -gt 0 ] && [ "$most" -lt 65536 ] || fail "memory: $most kB"
  awk -v a="$alone" -v w="$whole" 'BEGIN { exit !(w >= 0.6 * a) }' || fail "$whole of $alone x real time"
}
replay
[ -n "${BRAMAH_LONG_ONCE:-}" ] || replay --every 1000
