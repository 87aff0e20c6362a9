#!/bin/sh
# The manipulator with measured parameters: logs of machines drawn from what its studies state, process noise at work; bands hold and
# NEES is what it should be, the load is found, its modes, tuning and reports need nothing special.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"
folder=$source_root/datasets/manipulator
machine=$folder/manipulator.yaml

run 0 check "$machine"
says out 'the loops close to'
says out '3 degrees of freedom; independent at the start: boom, arm, telescope'

# draw STUDY SEED SECONDS LOAD SCALE PUMP: a log of a machine whose uncertain values are off by so much. SCALE: flow, oil.
draw() {
  run 0 simulate "$machine" --duration "$3" --output truth.csv --noise "$folder/$1.yaml" --seed "$2" --log log.csv --process-noise \
    --parameter "load.payload=$4" --parameter "pump.pressure=$6" \
    --parameter "oil.bulk_modulus=$(awk "BEGIN { print 1400 * $5 * $5 * $5 }") MPa" \
    --parameter "lift_valve.flow_coefficient=$(awk "BEGIN { print 6.299e-8 * $5 }")" \
    --parameter "tilt_valve.flow_coefficient=$(awk "BEGIN { print 6.299e-8 / $5 }")" \
    --parameter "extension.friction_scale=$(awk "BEGIN { print $5 * $5 }")"
  run 0 check "$folder/$1.yaml" log.csv
  run 0 replay "$folder/$1.yaml" log.csv --truth truth.csv --output estimate.csv --json run.json
  says out 'no contradiction found'
  python3 - "$4" >>nees <<'PYTHON'
import json, sys
run = json.load(open("run.json"))
load = next(a for a in run["estimated"] if a["name"] == "load.payload")
true = float(sys.argv[1].split()[0])
assert abs(load["value"] - true) < 3.5 * load["sigma"] and load["sigma"] < 10, load
assert all(e["inside"] > 0.85 for e in run["errors"]), [e for e in run["errors"] if e["inside"] <= 0.85]
print(run["nees_mean"])
PYTHON
}
for study in encoders imus; do
  : >nees
  draw $study 1 3 '45 kg' 0.92 '184 bar'
  draw $study 2 3 '-30 kg' 1.07 '193 bar'
  awk '{ s += $1 } END { exit !(NR == 2 && s / NR > 0.6 && s / NR < 1.6) }' nees || fail "$study: NEES $(tr '\n' ' ' <nees)"
done

run 0 replay "$folder/imus.yaml" log.csv --to 0.5 --output estimate.csv --report report.html
grep -q '<svg' report.html || fail 'no report'
run 0 modes "$machine" --at rest
says out '15 eigenvalues 0 grow'
run 0 linearize "$machine" --at rest
says out '7 coordinates less 4 constraints'
cat "$folder/encoders.yaml" - >tuned.yaml <<END
tune:
  parameters:
    volumes.lift_piston_side.noise: {least: 0.5 bar/s^0.5, most: 50 bar/s^0.5}
END
sed -i "s|^machine: |&$folder/|" tuned.yaml
run 0 simulate "$machine" --duration 0.3 --output truth.csv --noise "$folder/encoders.yaml" --seed 3 --log log.csv
run 0 tune tuned.yaml log.csv --budget 4 --output result.yaml
grep -q 'study: manipulator' result.yaml || fail 'nothing tuned'
