#!/bin/sh
# Motions that the equations have but no machine: said with their time by simulate and replay, and not trusted.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"

# What the model leaves out, before any run.
run 0 check "$machine"
says out 'left out: cavitation'
says out 'left out: the ends of 1 cylinder'

# Full valve all the time: the rod side is torn open. First and lowest value by hand, from the file.
full='inputs.valve=[[0 s, 10 V]]'
run 3 simulate "$machine" --duration 3 --set "$full" --output truth.csv --noise "$study" --seed 1 --log log.csv
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "v3.pressure[Pa]") c = i; next }
  $c < 0 && first == "" { first = $1 }
  $c < least { least = $c; at = $1 }
  END { printf "%.9g %.4g %.9g\n", first, 1e-5 * least, at }' truth.csv >by-hand
read -r first least at <by-hand
says out "beyond a physical limit from $first s on: oil under tension"
says out "worst: v3.pressure $least bar at $at s"

# A filter of the same model follows into it, with nothing in its innovations.
sed "s|^machine:.*|machine: $machine|" "$study" >study.yaml
run 3 replay study.yaml log.csv --output estimate.csv --json run.json --every 100 --report report.html
says out 'v3.pressure beyond its limit'
says out 'v3.pressure: oil under tension by 2.4'
grep -q 'beyond its limit' report.html || fail 'not in the report'
python3 - "$first" "$at" <<'PYTHON' || fail 'limits in the JSON file'
import json, sys
run = json.load(open("run.json"))
limit, first, at = run["pressure_limit"], float(sys.argv[1]), float(sys.argv[2])
failed = [c["check"] for c in run["checks"] if not c["passed"]]
assert failed == ["oil under tension by"], failed
assert 0 <= limit["first"] - first < 0.01 and abs(limit["worst_at"] - at) < 0.005 and limit["worst"] < -2.4e6, limit
assert run["stroke_limit"]["times"] == 0 and run["exit_code"] == 3
PYTHON

# With air and the guard the same machine cavitates, which the model then has.
run 0 simulate "$machine" --duration 3 --set "$full" --set hydraulics.oil.air_fraction=0.01 \
  --set hydraulics.oil.vapour_pressure='2 kPa' --output air.csv
if grep -q 'physical limit' out; then fail 'a limit with the guard'; fi

# An end stop is a stiff spring. One that gives way by a tenth of the travel is none.
for stiffness in 1e9 1e4; do
  sed 's/^      friction:/      end_stop: {stiffness: '$stiffness' N\/m, damping: 1e3 N*s\/m}\n      friction:/' "$machine" >stop-$stiffness.yaml
done
down='inputs.valve=[[0 s, -4 V]]'
run 3 simulate stop-1e9.yaml --duration 10 --set "$down" --output hard.csv # the blow opens a cavity
says out 'worst: v2.pressure'
if grep -q 'behind the end' out; then fail 'a hard stop'; fi
run 3 simulate stop-1e4.yaml --duration 10 --set "$down" --output soft.csv
says out 'a piston behind the end of its cylinder; worst: lift.stroke'
# Without one the run ends there.
run 1 simulate "$machine" --duration 10 --set "$down" --output none.csv
says err 'the piston has left its cylinder in the step that starts at'

# A parallelogram that lies flat may go on in two ways: refused with the loop and the joint, whatever is asked. A
# little above it is one pendulum that passes the flat pose.
cat >flat.yaml <<'END'
machine: flat
gravity: [0, -9.81, 0 m/s^2]
bodies:
  crank: {mass: 1 kg, centre_of_mass: [0.5, 0, 0 m], inertia: [0, 0.1, 0.1 kg*m^2]}
  coupler: {mass: 1 kg, centre_of_mass: [1, 0, 0 m], inertia: [0, 0.1, 0.1 kg*m^2]}
  rocker: {mass: 1 kg, centre_of_mass: [0.5, 0, 0 m], inertia: [0, 0.1, 0.1 kg*m^2]}
joints:
  crank: {type: revolute, parent: ground, child: crank, axis: [0, 0, 1], initial: 0 deg}
  coupler: {type: revolute, parent: crank, child: coupler, position: [1, 0, 0 m], axis: [0, 0, 1], guess: 0 deg}
  rocker: {type: revolute, parent: coupler, child: rocker, position: [2, 0, 0 m], axis: [0, 0, 1], guess: -180 deg}
loops:
  pivot:
    type: revolute
    bodies: [rocker, ground]
    points: [[1, 0, 0 m], [2, 0, 0 m]]
    axes: [[0, 0, 1], [0, 0, 1]]
END
for command in "check flat.yaml" "modes flat.yaml" "simulate flat.yaml --duration 1 --output flat.csv"; do
  # shellcheck disable=SC2086
  run 1 $command
  says err 'pivot: the machine starts in a singular pose'
  says err 'another initial value of crank'
done
sed 's/initial: 0 deg/initial: 20 deg/; s/guess: 0 deg/guess: -20 deg/; s/guess: -180 deg/guess: -160 deg/' flat.yaml >raised.yaml
run 0 simulate raised.yaml --duration 2 --output raised.csv

# Near the flat pose the other formulations go over to independent coordinates, which is said.
for formulation in partitioning augmented-lagrangian penalty; do
  { cat raised.yaml && echo "integrator: {step: 1 ms, formulation: $formulation}"; } >other.yaml
  run 0 simulate other.yaml --duration 2 --output other.csv
  case $formulation in
  partitioning) if grep -q 'steps in independent coordinates' out; then fail 'partitioning is nothing to be said'; fi ;;
  *) grep -q 'steps in independent coordinates, near singular poses or since they did not converge: [1-9]' out || fail "$formulation" ;;
  esac
done

# A tolerance that 64 parts do not keep.
run 3 simulate "$machine" --duration 1.01 --set integrator.tolerance=1e-15 --output tight.csv
says out 'the error of a step, larger than the tolerance in 64 parts too'
head -31 log.csv >short.csv
sed 's|^changes:|&\n  integrator.tolerance: 1e-18|' study.yaml >tight.yaml
run 3 replay tight.yaml short.csv --output tight.csv --json tight.json
python3 - <<'PYTHON' || fail 'errors of steps in the JSON file'
import json
run = json.load(open("tight.json"))
limit, steps = run["step_limit"], run["plant_steps"]
assert limit["times"] > 0 and limit["worst"] > 1e-18 and limit["first"] <= limit["worst_at"], limit
assert steps["coarse"] > 0 and steps["in_parts"] == steps["made"], steps
PYTHON

# Chambers of metered cylinders: suction valves hold them at the tank, which is below the vapour pressure here.
run 3 simulate "$source_root/datasets/metered-arm/two-arms.yaml" --duration 1 --set hydraulics.supplies.tank.pressure='0.2 bar' \
  --set hydraulics.oil.air_fraction=0.01 --set hydraulics.oil.vapour_pressure='0.5 bar' --output metered.csv
says out 'worst: first_piston.pressure 0.2 bar'
