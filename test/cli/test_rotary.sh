#!/bin/sh
# A platform on a rotary actuator, from the file to the estimate: simulated, its energy balanced, estimated with wrong
# friction; mistakes told with their places.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"

cat >platform.yaml <<'END'
machine: platform
gravity: [0, -9.81, 0 m/s^2]
bodies: {platform: {mass: 200 kg, inertia: [0, 80, 0 kg*m^2]}}
joints: {turntable: {type: revolute, parent: ground, child: platform, axis: [0, 1, 0], initial: 10 deg}}
hydraulics:
  oil: {bulk_modulus: 1500 MPa}
  supplies: {pump: {pressure: 150 bar}, tank: {pressure: 1 bar}}
  volumes:
    left: {pressure: 40 bar, hoses: [{volume: 0.1 L, bulk_modulus: 550 MPa}]}
    right: {pressure: 40 bar, hoses: [{volume: 0.1 L, bulk_modulus: 550 MPa}]}
  valves:
    valve: {pump: pump, tank: tank, a: left, b: right, flow_coefficient: 1e-9 m^3/s/Pa^0.5/V, time_constant: 10 ms}
  rotary_actuators:
    slew: {joint: turntable, a_volume: left, b_volume: right, displacement: 0.06 L/rad, bulk_modulus: 30 GPa, a_angle: 120 deg,
           b_angle: 120 deg, friction: {model: viscous, viscous: 50 N*m*s/rad}}
inputs:
  valve: [[0 s, 0 V], [0.2 s, 5 V], [1 s, 0 V]]
END

cat >study.yaml <<'END'
study: platform
machine: platform.yaml
changes: {hydraulics.rotary_actuators.slew.friction.viscous: 60 N*m*s/rad}
sensors:
  encoder: {type: encoder, joint: turntable, sigma: 0.5 deg, rate: 1 kHz}
  p1: {type: pressure, volume: left, sigma: 0.5 bar, rate: 1 kHz}
  p2: {type: pressure, volume: right, sigma: 0.5 bar, rate: 1 kHz}
filter: {preset: papers, transition: paper}
joints:
  turntable: {position: 12 deg, rate: 0 rad/s, position_sigma: 3 deg, rate_sigma: 0.1 rad/s,
              acceleration_noise: 0.05 rad/s^2/Hz^0.5}
volumes:
  left: {sigma: 1 bar, noise: 6 bar/s^0.5}
  right: {sigma: 1 bar, noise: 6 bar/s^0.5}
END

run 0 simulate platform.yaml --duration 1.5 --step 0.001 --output truth.csv --noise study.yaml --seed 3 --log log.csv
says out 'actuators and motions did'
balance=$(sed -n 's/^energy balance: error at most \([^ ]*\) J.*/\1/p' out)
near "$balance" 0 1e-3 'energy balance'
last=$(lines truth.csv)
near "$(cell truth.csv "$last" 'slew.angle[rad]')" "$(cell truth.csv "$last" 'turntable.angle[rad]')" 0 'angle'
run 0 check study.yaml log.csv
says out "the filter's model has hydraulics.rotary_actuators.slew.friction.viscous: 60 N*m*s/rad"
run 0 replay study.yaml log.csv --output estimate.csv --truth truth.csv --report report.html
last=$(lines estimate.csv)
near "$(cell estimate.csv "$last" 'slew.angle[rad]')" "$(cell truth.csv "$last" 'slew.angle[rad]')" 0.005 'estimate'

sed 's/joint: turntable/joint: turntabel/' platform.yaml >wrong.yaml
run 1 check wrong.yaml
says err "wrong.yaml:14:19: hydraulics.rotary_actuators.slew.joint: there is no joint coordinate 'turntabel'; did you mean 'turntable'?"
