#!/bin/sh
# Energies add up on every machine: what is stored has come from actuators, motions and loads and went into dampers.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"

data=$source_root/datasets
balance() { sed -n 's/^energy balance: error at most \([^ ]*\) J of \([^ ]*\) J.*/\1 \2/p' out; }

for m in four-bar/four-bar crane/crane lifting-four-bar/lifting-four-bar quick-return/quick-return \
  metered-crane/metered-crane metered-arm/two-arms rotary-actuator/rotary-actuator manipulator/manipulator; do
  run 0 simulate "$data/$m.yaml" --duration 4 --output truth.csv
  balance | awk '!($1 <= 3e-4 * $2 && $2 > 1) { exit 1 }' || fail "energies of $m"
done

# Bodies that touch each other: what touched is told, and their law gives nothing.
run 0 check "$data/crates/crates.yaml"
says out "contact rest: between bed, drum and wedge, with friction"
says out "how: tape of"
run 0 simulate "$data/crates/crates.yaml" --duration 0.3 --output truth.csv
says out "contact bed_crate: touched 1 time, last at 0.001 s"
balance | awk '!($1 <= 3e-4 * $2 && $2 > 1) { exit 1 }' || fail "energies of the crates"

# A loader: a damped boom on a shaken base, a point-to-point damper, a load that turns with the boom, a cylinder between
# boom and base, an end stop and friction. The error is that of the trapezoidal rule: a quarter at half the step.
cat >loader.yaml <<'END'
machine: loader
gravity: [0, -9.81, 0 m/s^2]
bodies:
  base: {mass: 800 kg}
  boom: {mass: 200 kg, centre_of_mass: [1.2, 0, 0 m], inertia: [1, 100, 100 kg*m^2]}
  bucket: {mass: 60 kg, centre_of_mass: [0.3, -0.1, 0 m], inertia: [1, 4, 4 kg*m^2]}
joints:
  base: {type: prismatic, parent: ground, child: base, axis: [1, 0, 0]}
  boom: {type: revolute, parent: base, child: boom, axis: [0, 0, 1], initial: 20 deg}
  bucket: {type: revolute, parent: boom, child: bucket, position: [2.4, 0, 0 m], axis: [0, 0, 1], initial: -30 deg}
motions:
  road: {joint: base, type: harmonic, amplitude: 3 cm, frequency: 2 Hz}
springs:
  shock: {bodies: [base, bucket], points: [[-0.5, 0.5, 0 m], [0.2, 0.2, 0 m]], free_length: 3 m, stiffness: 2 kN/m, damping: 900 N*s/m}
joint_springs:
  pivot: {joint: bucket, free_position: 0 deg, stiffness: 500 N*m/rad, damping: 60 N*m*s/rad}
forces:
  push: {body: bucket, point: [0.5, 0, 0 m], force: [50, 80, 0 N], torque: [0, 0, 20 N*m], axes: body}
  pull: {body: boom, point: [1, 0, 0 m], force: [0, -100, 0 N]}
hydraulics:
  oil: {bulk_modulus: 1500 MPa}
  transition_pressure: 2 bar
  supplies: {pump: {pressure: 14 MPa}, tank: {pressure: 0.1 MPa}}
  volumes:
    head: {pressure: 60 bar, hoses: [{volume: 200 cm^3, bulk_modulus: 550 MPa}]}
    rod: {pressure: 40 bar, hoses: [{volume: 200 cm^3, bulk_modulus: 550 MPa}]}
  valves:
    valve: {pump: pump, tank: tank, a: head, b: rod, flow_coefficient: 2e-8 m^3/s/Pa^0.5/V, time_constant: 10 ms,
            limit: 10 V, spool: 0 V, input: valve}
  cylinders:
    lift: {bodies: [base, boom], points: [[0.3, -0.6, 0 m], [1.0, 0, 0 m]], piston_volume: head, rod_volume: rod,
           bore: 60 mm, rod: 30 mm, bulk_modulus: 30 GPa, reference_stroke: 1.1 m, piston_chamber_length: 200 mm,
           rod_chamber_length: 300 mm, friction: {model: viscous, viscous: 2000 N*s/m},
           end_stop: {stiffness: 5e6 N/m, damping: 2e4 N*s/m}}
inputs: {valve: [[0.5 s, 4 V], [1 s, 0 V]]}
integrator: {step: 1 ms}
END
run 0 simulate loader.yaml --duration 3 --columns '*' --output whole.csv
for part in 'actuators and motions did' 'loads did' 'dampers took' 'friction took'; do says out "$part"; done
balance >whole
run 0 simulate loader.yaml --duration 3 --step '0.5 ms' --output half.csv
balance >half
paste -d' ' whole half | awk '!($1 > 3 * $3 && $1 < 1e-3 * $2) { print; exit 1 }' || fail 'the order of the error'
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
  $c["energy.dampers[J]"] < before - 1e-9 { bad = 1 }
  { before = $c["energy.dampers[J]"] }
  END { exit bad || before < 20 }' whole.csv || fail 'dampers take'
# The load and the mass change on the way.
run 0 simulate loader.yaml --duration 3 --parameter 'bucket.payload=40 kg@1 s' --parameter 'boom.load=200@2 s' \
  --parameter 'lift.actuator_load=500 N@0.5 s' --output changed.csv
balance | awk '!($1 < 1e-3 * $2) { exit 1 }' || fail 'balance with parameters'

# A quarter of a joule in a spring ends in its damper.
cat >slider.yaml <<'END'
machine: slider
gravity: [0, -9.81, 0 m/s^2]
bodies: {cart: {mass: 2 kg}}
joints: {rail: {type: prismatic, parent: ground, child: cart, axis: [1, 0, 0], initial: 0.1 m}}
joint_springs: {spring: {joint: rail, free_position: 0 m, stiffness: 50 N/m, damping: 8 N*s/m}}
END
run 0 simulate slider.yaml --duration 20 --columns '*' --output slider.csv
near "$(cell slider.csv 20002 'energy.dampers[J]')" 0.25 1e-8 'heat of the damper'

# A kite: two pairs of equal adjacent bars. Folded it is singular, and a step across that leaps to where it likes.
cat >kite.yaml <<'END'
machine: kite
gravity: [0, -9.81, 0 m/s^2]
bodies:
  a: {mass: 1 kg, centre_of_mass: [0.5, 0, 0 m], inertia: [0, 0.0833, 0.0833 kg*m^2]}
  b: {mass: 0.1 kg, centre_of_mass: [0.15, 0, 0 m], inertia: [0, 0.00075, 0.00075 kg*m^2]}
  c: {mass: 0.1 kg, centre_of_mass: [0.15, 0, 0 m], inertia: [0, 0.00075, 0.00075 kg*m^2]}
joints:
  a: {type: revolute, parent: ground, child: a, axis: [0, 0, 1], initial: -12.340073042403684 deg, rate: -19.870941729956428 rad/s}
  b: {type: revolute, parent: a, child: b, position: [1, 0, 0 m], axis: [0, 0, 1], guess: -60 deg}
  c: {type: revolute, parent: b, child: c, position: [0.3, 0, 0 m], axis: [0, 0, 1], guess: -120 deg}
loops:
  pivot: {type: revolute, bodies: [c, ground], points: [[0.3, 0, 0 m], [1, 0, 0 m]], axes: [[0, 0, 1], [0, 0, 1]]}
integrator: {step: 2 ms}
END
# Nothing divided: the energy of the kite grows many times within a step, which is said.
code=0
"$program" simulate kite.yaml --duration 1 --set integrator.tolerance=1e9 --output kite.csv >out 2>err || code=$?
[ "$code" -ne 0 ] || fail 'a kite without error control passes'
balance | awk '!($1 > 0.5 * $2 && $2 > 1e3) { exit 1 }' || fail 'a kite without error control'
# A coarse tolerance keeps it from the worst and says that it is not good enough; the default makes it so.
run 3 simulate kite.yaml --duration 1 --set integrator.tolerance=1 --output kite.csv
says out 'the energies do not add up'
says out 'steps made in parts'
run 0 simulate kite.yaml --duration 5 --output kite.csv
balance | awk '!($1 < 4e-3 * $2 && $2 < 100) { exit 1 }' || fail 'a kite by default'
run 0 simulate kite.yaml --duration 1 --set integrator.tolerance=1e-5 --output kite.csv
balance | awk '!($1 < 1e-2 * $2 && $2 < 300) { exit 1 }' || fail 'a kite in parts'
says out ', beyond the tolerance still: 0'

# A filter of it judges its own steps: corrections may leap what is stored, steps may not make it.
cat >kite-study.yaml <<'YAML'
study: kite
machine: kite.yaml
sensors:
  encoder: {type: encoder, joint: a, sigma: 0.5 deg, rate: 500 Hz}
joints:
  a: {position_sigma: 1 deg, rate_sigma: 0.1 rad/s, acceleration_noise: 1 rad/s^2/Hz^0.5}
filter: {preset: papers, transition: step}
YAML
run 0 simulate kite.yaml --duration 1 --set integrator.tolerance=1e-5 --output kite.csv --noise kite-study.yaml --seed 1 --log log.csv
coarsen() { sed "s/^machine: kite.yaml/&\nchanges: {integrator.tolerance: $1}/" kite-study.yaml; }
coarsen 1 >kite-coarse.yaml
run 3 replay kite-coarse.yaml log.csv --output estimate.csv --json coarse.json
says out 'energies that do not add up'
grep -q 'energy from nothing [0-9.]* J, tolerated at most' out || fail 'how much'
says out 'step made in parts: its error exceeds the tolerance'
coarsen 1e-5 >kite-fine.yaml
"$program" replay kite-fine.yaml log.csv --output estimate.csv --json fine.json >out 2>err || [ $? -eq 3 ] || fail 'a replay in parts'
python3 - <<'PYTHON' || fail 'energies in the JSON file'
import json
for name, good in ("coarse", False), ("fine", True):
    run = json.load(open(name + ".json"))
    check = [c for c in run["checks"] if c["check"] == "energy from nothing"]
    energy, steps = run["energy"], run["plant_steps"]
    assert len(check) == 1 and check[0]["passed"] == good and check[0]["value"] == energy["error"], check
    assert (energy["error"] <= energy["limit"]) == good and abs(energy["limit"] / energy["turnover"] - 0.01) < 1e-14, energy
    assert 0 < energy["leap_at"] < 1 and steps["made"] == 500 and steps["unconverged"] < 5, (energy, steps)
    assert 0 < steps["in_parts"] <= 500 and steps["coarse"] == 0, steps
PYTHON

# Of the shipped machine the corrections of a replay cost nothing.
run 0 replay "$data/four-bar/sensors-2.yaml" "$data/four-bar/log.csv" --output estimate.csv --to 3 --json run.json
python3 - <<'PYTHON' || fail 'energies of the four-bar'
import json
energy = json.load(open("run.json"))["energy"]
assert 0 < energy["error"] < 1e-5 * energy["turnover"] and energy["turnover"] > 10, energy
PYTHON

# Too few iterations for some whole steps: made in parts, which is said; too few for any: refused with the time.
run 0 simulate "$machine" --duration 2 --step '4 ms' --set integrator.max_iterations=3 --output parts.csv
grep -q 'of them did not converge whole: [1-9]' out || fail 'steps in parts'
run 1 simulate "$machine" --duration 2 --step '4 ms' --set integrator.max_iterations=1 --output parts.csv
says err 'does not converge in the step that starts at 0 s, one of 64 parts'
