#!/bin/sh
# A machine with two degrees of freedom and sensors at three rates: the estimate beats model and encoders, and the bands hold.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"

crane=$source_root/datasets/crane
run 0 simulate "$crane/crane.yaml" --duration 10 --output truth.csv --noise "$crane/gripper-load.yaml" --seed 3 --log log.csv
# What is left of errors by the filter of the papers, which takes the sensors as exact, as those of this log are, and has process noise for the
# mass that is wrong.
sed "s|^machine: |&$crane/|; s/noise: 0.5 bar/noise: 15 bar/; s/noise: 0.003 /noise: 0.06 /; s/noise: 0.006 /noise: 0.12 /" "$crane/gripper-load.yaml" >papers.yaml
echo 'filter: {preset: papers}' >>papers.yaml
run 0 replay papers.yaml log.csv --truth truth.csv --output estimate.csv
# output unit RMSE %ofmax inside alone raw
for joint in boom jib; do
  awk -v name="$joint.angle" '$1 == name { found = 1; if (!($3 < 0.5 * $6 && $3 < 0.5 * $7 && $5 > 85)) exit 1 }
    END { if (!found) exit 1 }' "$work/out" || fail "$joint.angle is not estimated well"
done
awk '$1 ~ /pressure$/ { n++; if (!($3 < $6 && $3 < $7)) exit 1 } END { if (n != 4) exit 1 }' "$work/out" ||
  fail "the pressures are not estimated well"

# The default: every band holds, the gripper's load, which is 20 kg, is found, and nothing is contradicted.
run 0 replay "$crane/gripper-load.yaml" log.csv --truth truth.csv --output estimate.csv
says out 'filter: transition step, gate 4 sigma, drift gate 6 sigma, uncertain values: 9 of the machine, 19 of sensors'
awk '/in ±1.96/ { on = 1; next } on && NF < 5 { on = 0 } on { n++; if ($5 < 90) exit 1 } END { exit n < 10 }' "$work/out" ||
  fail 'the bands do not hold'
