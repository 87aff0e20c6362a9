#!/bin/sh
# Raw data: logs without commands. The study calls them unknown; what that costs is told.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"

four_bar=$source_root/datasets/four-bar
cp "$four_bar"/*.yaml .
for one in raw raw-angle; do echo 'filter: {preset: papers, transition: step}' >>$one.yaml; done
raw=raw.yaml

# A log made with the study has no column for what nobody recorded.
run 0 simulate "$machine" --duration 3 --output truth.csv --noise "$raw" --seed 1 --log log.csv
head -1 log.csv >header
! grep -q command header || fail "the log has a command: $(cat header)"

# Where the study does not say so the log lacks something, and the message tells the way out.
grep -v unknown: "$raw" | sed "s|^inputs:|#|; s|machine: |machine: $four_bar/|" >known.yaml
run 1 replay known.yaml log.csv --output estimate.csv
says err "(wanted for input valve); if nobody recorded it, say so in the study: inputs: {valve: {unknown: {sigma:"
run 1 check known.yaml log.csv
says err 'if nobody recorded it'

run 0 check "$raw" log.csv
says out 'estimated valve.command: unknown input, parameter valve.offset [V], starts at 0, sigma 2; random walk, noise 5 V/s^0.5'
says out 'time constant 0 ms'
run 0 replay "$raw" log.csv --output estimate.csv --truth truth.csv --report report.html --smooth smooth.csv
says out 'What unknown commands cost'
says out 'Errors against the truth'
grep -q 'What unknown commands cost' report.html || fail 'the report does not tell the cost'
quiet err

# The command has its columns where it always is, and no others.
same "$(head -1 estimate.csv | tr , '\n' | grep -c command)" 2 'columns of the command'
same "$(head -1 smooth.csv | tr , '\n' | grep -c command)" 2 'columns of the smoothed command'
# 10 V from 1 s to 2.5 s, 0 before and after.
for at in 0.9:0 2:10 2.9:0; do
  line=$(awk -F, -v t="${at%:*}" 'NR > 1 && $1 + 1e-9 >= t { print NR; exit }' estimate.csv)
  for file in estimate.csv smooth.csv; do
    near "$(cell $file "$line" 'valve.command[V]')" "${at#*:}" 1 "command at ${at%:*} s in $file"
  done
  awk -v a="$(cell estimate.csv "$line" 'valve.command.sigma[V]')" -v b="$(cell smooth.csv "$line" 'valve.command.sigma[V]')" \
    'BEGIN { exit !(0 < b && b <= a * 1.0001 && a < 2) }' || fail "sigma of the command at ${at%:*} s"
done
# factor NAME: by which unknown commands widen its band.
factor() {
  awk -v name="$1" '/^What unknown/ { on = 1 } /^$/ { on = 0 } on && $1 == name { print $NF }' out
}
run 0 replay "$raw" log.csv --output estimate.csv --json summary.json
for name in crank.angle crank.rate v1.pressure; do
  awk -v f="$(factor $name)" 'BEGIN { exit !(f > 1.1 && f < 5) }' || fail "$name: factor $(factor $name)"
done
tr -d '\n ' <summary.json | sed 's/.*"unknown_commands":\[//; s/\].*//; s/},{/\n/g' >price.txt
ratio=$(sed -n 's/.*"crank.angle".*"sigma":\([^,]*\),"sigma_known":\([^,}]*\).*/\1 \2/p' price.txt | awk '{ print $1 / $2 }')
near "$ratio" "$(factor crank.angle)" 0.001 'price in the summary for programs'
grep -q '"valve.command".*"sigma_known":null' price.txt || fail 'a known command has a sigma'

# In two parts with a snapshot between them: the same estimates and the same price.
price() { awk '/^What unknown/ { on = 1 } /^$/ { on = 0 } on' out; }
price >whole
tail -100 estimate.csv >end_of_whole
run 0 replay "$raw" log.csv --to 1.7 --output first.csv --snapshot state.bin
run 0 replay "$raw" log.csv --output second.csv --resume state.bin
price >parts
[ "$(lines parts)" -gt 10 ] || fail 'there is no table of the price'
cmp whole parts || fail 'what commands cost, in two parts'
tail -100 second.csv | cmp - end_of_whole || fail 'estimates in two parts'
# Less is measured: the price is higher.
run 0 replay raw-angle.yaml log.csv --output estimate.csv
awk -v f="$(factor crank.angle)" 'BEGIN { exit !(f > 4 && f < 15) }' || fail "angle alone: factor $(factor crank.angle)"

# A command that is in the log is believed, even if the study could do without: no table then.
sed "s|machine: |machine: $four_bar/|; s|unknown: .*}|column: u}|" "$raw" >column.yaml
sed '1s/\(t\[s\]\)/\1,u[V]/; 2,$s/,/,0,/' log.csv >with.csv
run 3 replay column.yaml with.csv --output estimate.csv # the filter fails its checks: the command was not 0
! grep -q 'What unknown' "$work/out" || fail 'a known command is called unknown'

# Mistakes.
mistake() {
  sed "s|machine: |machine: $four_bar/|; $1" "$raw" >wrong.yaml
  run 1 check wrong.yaml
  says err "$2"
}
mistake 's/transition: step/transition: paper/' "wrong.yaml:8: valve: an unknown input needs 'filter: {transition: step}'"
mistake 's/valve: {unk/valv: {unk/' "wrong.yaml:8: valv: the machine has no input of this name; did you mean 'valve'?"
mistake 's/sigma: 2 V/sigma: 2 bar/' 'wrong.yaml:8:28: inputs.valve.unknown.sigma: '
mistake 's/noise: 5 V.s^0.5/noise: 5 V/' 'inputs.valve.unknown.noise: '
mistake 's/sigma: 2 V/sigma: 2 V, most: -1 V/' 'inputs.valve.unknown.most: the estimate starts at 0 V, outside these limits'

# Two machines in one: the sensors are on the first only, so the command of the second is named before the run starts.
cat >two.yaml <<'END'
machine: two platforms
gravity: [0, -9.81, 0 m/s^2]
bodies:
  near: {mass: 200 kg, inertia: [0, 80, 0 kg*m^2]}
  far: {mass: 200 kg, inertia: [0, 80, 0 kg*m^2]}
joints:
  left: {type: revolute, parent: ground, child: near, axis: [0, 1, 0], initial: 10 deg}
  right: {type: revolute, parent: ground, child: far, axis: [0, 1, 0], initial: 10 deg}
hydraulics:
  oil: {bulk_modulus: 1500 MPa}
  supplies: {pump: {pressure: 150 bar}, tank: {pressure: 1 bar}}
  volumes:
    a1: {pressure: 40 bar, hoses: [{volume: 0.1 L, bulk_modulus: 550 MPa}]}
    b1: {pressure: 40 bar, hoses: [{volume: 0.1 L, bulk_modulus: 550 MPa}]}
    a2: {pressure: 40 bar, hoses: [{volume: 0.1 L, bulk_modulus: 550 MPa}]}
    b2: {pressure: 40 bar, hoses: [{volume: 0.1 L, bulk_modulus: 550 MPa}]}
  valves:
    first: {pump: pump, tank: tank, a: a1, b: b1, flow_coefficient: 1e-9 m^3/s/Pa^0.5/V, time_constant: 10 ms}
    second: {pump: pump, tank: tank, a: a2, b: b2, flow_coefficient: 1e-9 m^3/s/Pa^0.5/V, time_constant: 10 ms}
  rotary_actuators:
    one: {joint: left, a_volume: a1, b_volume: b1, displacement: 0.06 L/rad, bulk_modulus: 30 GPa, a_angle: 120 deg,
          b_angle: 120 deg, friction: {model: viscous, viscous: 50 N*m*s/rad}}
    other: {joint: right, a_volume: a2, b_volume: b2, displacement: 0.06 L/rad, bulk_modulus: 30 GPa, a_angle: 120 deg,
            b_angle: 120 deg, friction: {model: viscous, viscous: 50 N*m*s/rad}}
inputs:
  first: [[0 s, 0 V], [0.2 s, 5 V], [1 s, 0 V]]
  second: [[0 s, 3 V]]
END
cat >one.yaml <<'END'
study: one of two
machine: two.yaml
inputs:
  first: {unknown: {sigma: 2 V, noise: 10 V/s^0.5}}
  second: {unknown: {sigma: 2 V, noise: 10 V/s^0.5}}
sensors:
  encoder: {type: encoder, joint: left, sigma: 0.1 deg}
  p1: {type: pressure, volume: a1, sigma: 0.5 bar}
filter: {preset: papers, transition: step}
joints:
  left: {position_sigma: 3 deg, rate_sigma: 0.1 rad/s, acceleration_noise: 0.05 rad/s^2/Hz^0.5}
  right: {position_sigma: 3 deg, rate_sigma: 0.1 rad/s, acceleration_noise: 0.05 rad/s^2/Hz^0.5}
volumes:
  a1: {sigma: 1 bar, noise: 2 bar/s^0.5}
  b1: {sigma: 1 bar, noise: 2 bar/s^0.5}
  a2: {sigma: 1 bar, noise: 2 bar/s^0.5}
  b2: {sigma: 1 bar, noise: 2 bar/s^0.5}
END
run 0 check one.yaml
says err 'warning: the sensors do not see'
says err 'second.command'
! grep -q 'first.command' "$work/err" || fail 'a command that is seen is named'
# With delays both filters go back in time together.
sed 's/sigma: 0.1 deg/sigma: 0.1 deg, delay: 5 ms/' one.yaml >late.yaml
run 0 simulate two.yaml --duration 1.2 --step 0.001 --output truth.csv --noise late.yaml --log late.csv
run 0 replay late.yaml late.csv --output estimate.csv --truth truth.csv
says out 'rewinds'
awk -v f="$(factor left.angle)" 'BEGIN { exit !(f > 1 && f < 50) }' || fail "late: factor $(factor left.angle)"
# One of two known.
sed 's/  second: .*/  second: second.command/' one.yaml >mixed.yaml
run 0 simulate two.yaml --duration 1.2 --step 0.001 --output truth.csv --noise mixed.yaml --log mixed.csv
run 0 replay mixed.yaml mixed.csv --output estimate.csv --truth truth.csv
near "$(cell estimate.csv 600 'first.command[V]')" 5 1.5 'unknown command beside a known one'
near "$(cell estimate.csv 600 'second.command[V]')" 3 0 'known command'
same "$(factor right.angle)" 1 'the other machine costs nothing'

# What is believed of an unknown command can be tuned: a walk a tenth as fast as it was is found too slow.
sed "s|noise: 5 V/s^0.5|noise: 0.5 V/s^0.5|; s|machine: |machine: $four_bar/|" "$raw" >slow.yaml
cat >>slow.yaml <<'END'

tune:
  parameters:
    inputs.valve.unknown.noise: {least: 0.05 V/s^0.5, most: 500 V/s^0.5}
END
run 0 tune slow.yaml log.csv --budget 12 --output tuned.yaml
awk '/unknown:/ { sub(/.*noise: /, ""); exit !($1 > 2 && $1 < 50) }' tuned.yaml || fail "tuned: $(grep unknown: tuned.yaml)"
