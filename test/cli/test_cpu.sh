#!/bin/sh
# The same bits on other types of CPU: OpenBLAS has kernels for each, which round otherwise, and estimates go through none.
# (Of the mathematical functions of the C library those with fused multiply-add round otherwise than those without.)
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"

data=$source_root/datasets
core() { OPENBLAS_VERBOSE=2 OPENBLAS_CORETYPE=$1 "$program" --version 2>&1 | grep '^Core: '; }
[ "$(core Prescott)" != "$(core Nehalem)" ] || {
  echo 'skipped: no OpenBLAS that has kernels for several types of CPU'
  exit 77
}
head -501 "$data/four-bar/log.csv" >log.csv
for type in Prescott Nehalem Sandybridge Haswell; do
  OPENBLAS_CORETYPE=$type
  export OPENBLAS_CORETYPE
  mkdir $type
  for m in crane/crane lifting-four-bar/lifting-four-bar metered-arm/two-arms; do
    run 0 simulate "$data/$m.yaml" --duration 0.5 --output $type/"${m##*/}".csv
  done
  "$program" replay "$data/four-bar/sensors-4.yaml" log.csv --output $type/estimate.csv >out 2>err || [ $? -eq 3 ] || fail 'the replay'
  "$program" simulate "$data/crane/crane.yaml" --duration 0.2 --output crane-truth.csv --noise "$data/crane/gripper-load.yaml" --seed 1 --log crane-log.csv >out 2>err
  "$program" replay "$data/crane/gripper-load.yaml" crane-log.csv --output $type/gripper.csv >out 2>err || [ $? -eq 3 ] || fail 'the replay'
  for file in Prescott/*; do
    cmp -s "$file" "$type/${file##*/}" || fail "$type: ${file##*/}"
  done
done
