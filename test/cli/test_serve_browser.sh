#!/bin/sh
# What a real browser shows of a filter at work, and whether its bands cover the truth at their rate on the excavator: 1.5 s of two runs, or with BRAMAH_SEEDS from
# 100 on whole work cycles of ten machines drawn from their uncertainty (some minutes; needs the Python package). Skipped without Chromium.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"
# shellcheck source=test/cli/browser.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/browser.sh"

make_log 1
sed "s,^machine: .*,machine: $machine," "$study" >study.yaml

folder=$source_root/datasets/excavator
set --
if [ "${BRAMAH_SEEDS:-0}" -ge 100 ] && [ -n "${BRAMAH_PYTHON:-}" ]; then
  least=0.92
  for seed in 100 101 102 103 104 105 106 107 108 109; do
    "$BRAMAH_PYTHON" "$folder/drive.py" --cycles 1 --firm --draw --seed $seed --log drawn.csv --truth truth-$seed.csv --every 1 >out || fail "drive.py: $(cat out)"
    "$program" replay "$folder/encoders.yaml" drawn.csv --output /dev/null --display $seed.html >out 2>&1 || [ $? -eq 3 ] || fail "$(cat out)"
    set -- "$@" $seed.html truth-$seed.csv
  done
else
  least=0.95 # an angle's encoder has its offset in the band, but none here
  for seed in 1 2; do
    run 0 simulate "$folder/encoders.yaml" --process-noise --duration 1.5 --seed $seed --output truth-$seed.csv --log drawn.csv
    run 0 replay "$folder/encoders.yaml" drawn.csv --output /dev/null --display $seed.html
    set -- "$@" $seed.html truth-$seed.csv
  done
fi
HOME=$work /usr/bin/python3 "$source_root/test/cli/browser_live.py" "$browser" study.yaml log.csv "$pictures" $least "$@" || fail 'browser_live.py'
