#!/bin/sh
# What a real browser shows of a filter at work. Skipped without Chromium.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"
# shellcheck source=test/cli/browser.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/browser.sh"

make_log 1
sed "s,^machine: .*,machine: $machine," "$study" >study.yaml
HOME=$work /usr/bin/python3 "$source_root/test/cli/browser_live.py" "$browser" study.yaml log.csv "$pictures" || fail 'browser_live.py'
