#!/bin/sh
# A sensor that is taken away makes a state unobservable: it is named before the run starts.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"

cat >carts.yaml <<'END'
machine: two carts
gravity: [0, 0, 0 m/s^2]
bodies:
  near: {mass: 2 kg, centre_of_mass: [0, 0, 0 m], inertia: [1, 1, 1 kg*m^2]}
  far: {mass: 2 kg, centre_of_mass: [0, 0, 0 m], inertia: [1, 1, 1 kg*m^2]}
joints:
  left: {type: prismatic, parent: ground, child: near, axis: [1, 0, 0], initial: 0 m}
  right: {type: prismatic, parent: ground, child: far, axis: [1, 0, 0], initial: 0 m}
END
cat >both.yaml <<'END'
study: two rulers
machine: carts.yaml
sensors:
  left_ruler: {type: encoder, joint: left, sigma: 1 mm, rate: 100 Hz}
  right_ruler: {type: encoder, joint: right, sigma: 1 mm, rate: 100 Hz}
joints:
  left: {position: 0 mm, position_sigma: 20 mm, rate_sigma: 10 mm/s, acceleration_noise: 1 mm/s^2/Hz^0.5}
  right: {position: 0 mm, position_sigma: 20 mm, rate_sigma: 10 mm/s, acceleration_noise: 1 mm/s^2/Hz^0.5}
END
grep -v right_ruler both.yaml >one.yaml
run 0 simulate carts.yaml --duration 0.1 --output truth.csv --noise both.yaml --log log.csv
run 0 check both.yaml
quiet err
run 0 replay both.yaml log.csv --output both.csv
quiet err
run 0 check one.yaml
says err 'warning: the sensors do not see right.position, right.rate'
says out 'no mistakes found'
run 0 replay one.yaml log.csv --output one.csv
says err 'warning: the sensors do not see right.position, right.rate'
# Before the run: a log that cannot be used at its first row comes after it.
sed '2s/^[^,]*/nonsense/' log.csv >bad.csv
run 1 replay one.yaml bad.csv --output one.csv
same "$(grep -n 'warning: the sensors' err | cut -d: -f1)" 1 'the warning comes first'

# The oil of the four-bar is locked in: without pressure sensors nobody knows how much.
sed '/^  p[123]:/d' "$study" | sed "s|machine: |machine: $source_root/datasets/four-bar/|" >oil.yaml
run 0 check oil.yaml
says err 'warning: the sensors do not see v2.pressure, v3.pressure'
