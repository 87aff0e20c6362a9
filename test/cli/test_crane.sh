#!/bin/sh
# A machine with two degrees of freedom and sensors at three rates: the estimate beats model and encoders, and the bands hold.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"

crane=$source_root/datasets/crane
run 0 simulate "$crane/crane.yaml" --duration 10 --output truth.csv --noise "$crane/gripper-load.yaml" --seed 3 --log log.csv
run 0 replay "$crane/gripper-load.yaml" log.csv --truth truth.csv --output estimate.csv
# output unit RMSE %ofmax inside alone raw
for joint in boom jib; do
  awk -v name="$joint.angle" '$1 == name { found = 1; if (!($3 < 0.5 * $6 && $3 < 0.5 * $7 && $5 > 85)) exit 1 }
    END { if (!found) exit 1 }' "$work/out" || fail "$joint.angle is not estimated well"
done
awk '$1 ~ /pressure$/ { n++; if (!($3 < $6 && $3 < $7)) exit 1 } END { if (n != 4) exit 1 }' "$work/out" ||
  fail "the pressures are not estimated well"
