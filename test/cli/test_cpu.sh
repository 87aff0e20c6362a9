#!/bin/sh
# The same bits on other types of CPU: glibc has variants of the mathematical functions with and without fused multiply-add,
# which round otherwise; simulations and estimates go through none of them.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"

data=$source_root/datasets
without_fma=glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2
functions() { GLIBC_TUNABLES=$1 awk 'BEGIN { for (i = 1; i < 3000; i++) printf "%.17g %.17g\n", exp(i / 100), sin(i / 100) }'; }

estimate() { # OUTPUT ARGUMENT...
  output=$1
  shift
  "$program" replay "$@" --output "$output" >out 2>err || [ $? -eq 3 ] || fail "replay $*"
}

# Everything into a folder.
make() {
  mkdir "$1"
  for m in four-bar/four-bar crane/crane lifting-four-bar/lifting-four-bar quick-return/quick-return metered-arm/two-arms manipulator/manipulator; do
    run 0 simulate "$data/$m.yaml" --duration 0.5 --output "$1/${m##*/}.csv"
  done
  run 0 simulate "$data/crane/crane.yaml" --duration 0.2 --output "$1/truth.csv" --noise "$data/crane/gripper-load.yaml" --seed 1 --log "$1/log.csv"
  run 0 simulate "$data/crane/crane.yaml" --duration 0.2 --output "$1/metered-truth.csv" \
    --noise "$data/metered-crane/encoders.yaml" --seed 1 --log "$1/metered-log.csv"
  for s in 2 4; do estimate "$1/four-bar-$s.csv" "$data/four-bar/sensors-$s.yaml" four-bar.csv; done
  estimate "$1/four-bar-papers.csv" "$papers/sensors-2.yaml" four-bar.csv
  estimate "$1/gripper.csv" "$data/crane/gripper-load.yaml" "$1/log.csv"
  estimate "$1/metered.csv" "$data/metered-crane/encoders.yaml" "$1/metered-log.csv"
  estimate "$1/rotary.csv" "$data/rotary-actuator/act1.yaml" rotary.tsv
}

head -501 "$data/four-bar/log.csv" >four-bar.csv
head -301 "$data/rotary-actuator/act1-base-3.tsv" >rotary.tsv
make as-is
if [ "$(functions '')" = "$(functions $without_fma)" ]; then
  echo 'skipped: the C library has no variants of mathematical functions to choose from here'
  exit 77
fi
(GLIBC_TUNABLES=$without_fma && export GLIBC_TUNABLES && make without-fma) || exit 1
for file in as-is/*; do
  cmp -s "$file" "without-fma/${file##*/}" || fail "${file##*/}"
done
