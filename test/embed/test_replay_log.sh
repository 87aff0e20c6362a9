#!/bin/sh
# The example that replays a log finds what the program finds. Argument: replay_log.
set -eu
# shellcheck source=test/support/example.sh
. "$BRAMAH_SOURCE_ROOT/test/support/example.sh"
# nis NAME: "consistent, mean NIS 1.2" as the program says it of NAME.yaml
nis() {
  code=0
  "$BRAMAH_PROGRAM" replay "$1.yaml" log.csv --output estimate.csv --json run.json >out || code=$?
  [ "$code" = 0 ] || [ "$code" = 3 ] || fail "bramah replay $1.yaml: exit code $code"
  python3 -c 'import json; d = json.load(open("run.json")); print("%s, mean NIS %.15g" % (d["verdict"], d["all_sensors"]["nis_mean"]))'
}
head -n 1001 "$data/log.csv" >log.csv
sed "s|^machine: |machine: $data/|" "$data/sensors-2.yaml" >right.yaml
echo 'filter: {preset: papers}' >>right.yaml
sed '/crank_encoder: /s/sigma: 1 deg/sigma: 0.1 deg/' right.yaml >bold.yaml
"$example" right.yaml log.csv >said
[ "$(cat said)" = "$(nis right)" ] || fail "the example says $(cat said), the program $(nis right)"
"$example" bold.yaml log.csv >said
[ "$(tail -n 1 said)" = "$(nis bold)" ] || fail "the example says $(tail -n 1 said), the program $(nis bold)"
grep -q '^crank_encoder mean NIS: ' said || fail 'the sensor whose sigma is wrong is not named'
sed '500s/,[^,]*$/,nonsense/' log.csv >bad.csv
if "$example" right.yaml bad.csv 2>said; then fail 'a bad row is passed over'; fi
grep -q '^bad.csv:500: ' said || fail 'the line of the bad row is not said'
