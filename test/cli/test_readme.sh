#!/bin/sh
# The machine file in the README is one that works.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"

awk '/^```yaml/{on=1; next} /^```/{on=0} on' "$source_root/README.md" >boom.yaml
run 0 check boom.yaml
run 0 simulate boom.yaml --duration 3 --output boom.csv
[ "$(wc -l <boom.csv)" -eq 3002 ] || fail "boom.csv has $(wc -l <boom.csv) lines"
