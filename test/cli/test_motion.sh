#!/bin/sh
# A pendulum on a shaken cart, from the file to the estimate: simulated, the work of the drive balanced, estimated; faults
# told with their places.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"

cat >shaken.yaml <<'END'
machine: shaken
gravity: [0, -9.81, 0 m/s^2]
bodies:
  cart: {mass: 3 kg}
  bob: {mass: 2 kg, centre_of_mass: [0, -0.5, 0 m], inertia: [0.01, 0.01, 0.01 kg*m^2]}
joints:
  cart: {type: prismatic, parent: ground, child: cart, axis: [1, 0, 0]}
  swing: {type: revolute, parent: cart, child: bob, axis: [0, 0, 1], initial: 20 deg}
motions:
  shaker: {joint: cart, type: harmonic, amplitude: 5 cm, frequency: 2 Hz}
END

cat >study.yaml <<'END'
study: shaken
machine: shaken.yaml
sensors:
  encoder: {type: encoder, joint: swing, sigma: 0.5 deg, rate: 100 Hz}
filter: {preset: papers, transition: paper}
joints:
  swing: {position: 30 deg, rate: 0 rad/s, position_sigma: 10 deg, rate_sigma: 0.5 rad/s,
          acceleration_noise: 0.05 rad/s^2/Hz^0.5}
END

run 0 check shaken.yaml
says out 'cart: cart behind ground, slides, starts at 0 mm (from its motion) with 628.319 mm/s'
says out 'motion shaker: moves cart harmonically with 2 Hz'
says out '1 degree of freedom; independent at the start: swing'
run 0 simulate shaken.yaml --duration 3 --step 0.001 --output truth.csv --noise study.yaml --seed 3 --log log.csv
says out 'actuators and motions did'
near "$(sed -n 's/^energy balance: error at most \([^ ]*\) J.*/\1/p' out)" 0 1e-4 'energy balance'
near "$(cell truth.csv 1127 'cart.position[m]')" 0.05 1e-12 'cart after 2.25 periods'
for column in 'shaker.force[N]' 'shaker.work[J]'; do
  cell truth.csv 2 "$column" | grep -q . || fail "no column $column"
done
run 0 replay study.yaml log.csv --output estimate.csv --truth truth.csv
last=$(lines estimate.csv)
near "$(cell estimate.csv "$last" 'swing.angle[rad]')" "$(cell truth.csv "$last" 'swing.angle[rad]')" 0.01 'estimate'

sed 's/joint: cart/joint: crat/' shaken.yaml >wrong.yaml
run 1 check wrong.yaml
says err "wrong.yaml:10:19: motions.shaker.joint: there is no joint coordinate 'crat'; did you mean 'cart'?"
sed 's/axis: \[1, 0, 0\]/axis: [1, 0, 0], initial: 1 cm/' shaken.yaml >wrong.yaml
run 1 check wrong.yaml
says err "wrong.yaml:7: cart: the motion 'shaker' starts this joint elsewhere than 'initial' says, at 0 m"
