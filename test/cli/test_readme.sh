#!/bin/sh
# The machine file and the study in the README are such that work.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"

sh "$source_root/test/support/fenced.sh" "$source_root/README.md"
run 0 check boom.yaml
run 0 simulate boom.yaml --duration 3 --output boom.csv
[ "$(wc -l <boom.csv)" -eq 3002 ] || fail "boom.csv has $(wc -l <boom.csv) lines"
run 0 check boom-study.yaml
run 0 simulate boom.yaml --duration 3 --output truth.csv --noise boom-study.yaml --seed 1 --log log.csv
run 0 replay boom-study.yaml log.csv --truth truth.csv --output estimate.csv
