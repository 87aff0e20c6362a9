#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# log_formats.sh BENCH_LOG [SECONDS]: what reading costs beside the filter. Ten channels at 1 kHz of two machines, the four-bar and the one
# whose filter is the fastest, from CSV, MDF 4 and MCAP, and the same samples from memory.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"
seconds=${2:-20}
export BRAMAH_NATIVE=wait # the filter as fast as it gets

cp "$source_root/datasets/four-bar/four-bar.yaml" "$source_root/datasets/rotary-actuator/rotary-actuator.yaml" .
sed '/^  p3: /a\
  stroke: {type: stroke, cylinder: lift, sigma: 5 mm, rate: 1 kHz}\
  across: {type: pressure-difference, a: v1, b: v3, sigma: 0.5 bar, rate: 1 kHz}\
  tilt: {type: inclinometer, body: crank, axis: [1, 0, 0], sigma: 1 deg, rate: 1 kHz}' "$study" >four-bar-ten.yaml
cat >rotary-actuator-ten.yaml <<'END'
study: rotary actuator, ten columns
machine: rotary-actuator.yaml
uncertainty: fixed
sensors:
  angle: {type: encoder, joint: shaft, sigma: 0.07 deg, rate: 1 kHz}
  angle_2: {type: encoder, joint: shaft, sigma: 0.07 deg, rate: 1 kHz}
  rate: {type: gyro, joint: shaft, sigma: 0.5 deg/s, rate: 1 kHz}
  p1: {type: pressure, volume: port_1, sigma: 0.5 bar, rate: 1 kHz}
  p2: {type: pressure, volume: port_2, sigma: 0.5 bar, rate: 1 kHz}
  p1_2: {type: pressure, volume: port_1, sigma: 0.5 bar, rate: 1 kHz}
  p2_2: {type: pressure, volume: port_2, sigma: 0.5 bar, rate: 1 kHz}
  across: {type: pressure-difference, a: port_1, b: port_2, sigma: 0.5 bar, rate: 1 kHz}
joints:
  shaft: {position_sigma: 1 deg, rate_sigma: 0.1 rad/s, acceleration_noise: 0.13 rad/s^2/Hz^0.5}
volumes:
  port_1: {sigma: 1 bar, noise: 2.6 bar/s^0.5}
  port_2: {sigma: 1 bar, noise: 2.6 bar/s^0.5}
END
for name in ${3:-rotary-actuator four-bar}; do
  for log in log.mf4 log.mcap log.csv; do
    run 0 simulate "$name.yaml" --duration "$seconds" --output /dev/null --noise "$name-ten.yaml" --seed 1 --log "$log"
  done
  same "$(head -n 1 log.csv | tr , '\n' | wc -l | tr -d ' ')" 10 'columns of the log'
  echo "$name, $seconds s"
  "$1" "$name-ten.yaml" log.mf4 log.mcap log.csv
done
