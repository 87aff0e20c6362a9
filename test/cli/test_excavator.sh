#!/bin/sh
# The excavator: counts as printed, slewing without end with the loop of its bucket, the same whichever way it looks.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"

folder=$source_root/datasets/excavator
run 0 check "$folder/excavator.yaml"
grep -q '9 bodies' "$work/out" && grep -q '9 joints' "$work/out" && grep -q '^  loop lug' "$work/out" &&
  grep -q '5 degrees of freedom' "$work/out" || fail "the counts are not those of the publication"

# Three turns and more, from two sides: the attachment moves alike. A mechanism on a body that turns keeps its equations.
for side in 0 90; do
  run 0 simulate "$folder/excavator.yaml" --duration 24 --set 'inputs.slew=[[0 s, 8 V]]' --set "joints.slew.initial=$side deg" \
    --columns 'slew.angle,*.rate,*.pressure,*.stroke' --output $side.csv
done
awk -F, 'END { exit !($2 > 6.2832 * 3) }' 0.csv || fail "it does not slew three turns"
run 0 compare 0.csv 90.csv --relative 1e-9 --tolerance 'slew.angle=91 deg'

run 0 check "$folder/encoders.yaml"
