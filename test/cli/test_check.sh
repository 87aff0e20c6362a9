#!/bin/sh
# check explains good files in plain words.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"
make_log 0.2

run 0 check "$machine"
quiet err
says out 'machine: hydraulic four-bar'
says out '3 bodies: crank 16 kg, coupler 64 kg, rocker 40 kg'
says out 'crank: crank behind ground, turns, starts at 60 deg (given) with 0 deg/s'
says out 'rocker: rocker behind coupler, turns, starts at -93.5833 deg (from the loops)'
says out 'loop pivot: joins rocker and ground'
says out '1 degree of freedom; independent at the start:'
says out 'volume v3: starts at 35 bar, 1 hose'
says out 'orifice orifice: from v1 to v2'
says out 'valve valve: U > 0 opens pump to v1 and v3 to tank'
says out 'cylinder lift: from ground to crank'
says out 'how: tape of '
says out 'input valve: 5 values planned, the last from 8 s on'
says out 'step: 1 ms'
says out 'no mistakes found'

elements=$source_root/test/support/every-element.yaml
run 0 check "$elements"
quiet err
says out 'rotary actuator slew: turns platform, chambers left and right, displacement 60 cm^3/rad; angle 0 deg, chambers 90 deg and 90 deg, viscous friction'
run 0 simulate "$elements" --duration 0.1 --step 0.001 --output elements.csv
for column in 'slew.angle[rad]' 'slew.rate[rad/s]' 'slew.torque[N*m]' 'slew.friction[N*m]' 'slew.work[J]'; do
  cell elements.csv 2 "$column" | grep -q . || fail "no column $column"
done
says out 'actuators and motions did'

# a lag too short for the step, which makes the spool leap past its command
run 0 check "$machine"
quiet err
sed 's/time_constant: 4.5 ms/time_constant: 0.4 ms/' "$machine" >hasty.yaml
run 0 check hasty.yaml
says err 'valve: in steps of 1 ms a spool with a time constant of 0.4 ms overshoots'
sed 's/time_constant: 4.5 ms/time_constant: 0 s/' "$machine" >direct.yaml
run 0 check direct.yaml
quiet err

run 0 check "$machine" log.csv
says out 'columns used: t[s], valve.command[V]'
says out 'columns not used: crank_encoder[rad]'

run 0 check "$study" log.csv
quiet err
says out 'study: four-bar'
says out "the filter's model has hydraulics.cylinders.lift.friction.coulomb: 231 N"
says out 'sensor crank_encoder: encoder at crank, sigma 1 deg, 1000 samples per second, column crank_encoder'
says out 'joint crank: starts at 63 deg, sigma 3 deg'
says out 'volume v1: sigma 1 bar'
says out 'columns used: t[s], valve.command[V], crank_encoder[rad]'
says out '201 rows from 0 s to 0.2 s'
says out 'all rows are on the grid of steps'
says out 'p3: 201 samples'

# The rate is what the study says, or the machine's where it says nothing of it.
folder=$source_root/datasets/four-bar
sed 's/axis: \[0, 0, 1\], initial: 60 deg/&, rate: 2 deg\/s/' "$folder/four-bar.yaml" >four-bar.yaml
cp "$folder/sensors-1.yaml" stated.yaml
sed '/rate: 0 rad/d' stated.yaml >silent.yaml
run 0 check stated.yaml
says out '; rate 0 deg/s'
run 0 check silent.yaml
says out '; rate 2 deg/s'

# What is odd but no mistake: rows behind and before the grid, a sensor that was silent.
awk -F, -v OFS=, 'NR > 1 { $1 += 0.0002 * (NR == 9) - 0.0003 * (NR == 12) } NR > 50 && NR <= 60 { $5 = "" } { print }' log.csv >odd.csv
run 0 check "$study" odd.csv
says out '2 rows are off the grid of steps, at most 0.3 ms'
says out 'p1: 191 samples, once 11 ms without a sample where 1 ms were planned'
