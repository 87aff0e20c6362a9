#!/bin/sh
# Parameters set from the command line, at the start and during a run.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"

run 0 check "$machine" --parameters
says out 'crank.load: 0 N*m'
says out 'crank.payload: 0 kg, at least -16'
says out 'lift.actuator_load: 0 N'
says out 'lift.friction_scale: 1, at least 0'
says out 'pump.pressure: 7.6e+06 Pa, at least 0'
says out 'oil.bulk_modulus: 1.5e+09 Pa'
says out 'valve.offset: 0 V'
run 0 check "$study" --parameters
says out 'gravity.scale: 1'

# A parameter at the start does what the machine file would have done, but for the order of operations that a tape chooses for the
# numbers of the file; units and numbers in SI.
run 0 simulate "$machine" --duration 0.2 --output set.csv --set 'hydraulics.supplies.pump.pressure=9 MPa'
says out 'energy balance'
run 0 simulate "$machine" --duration 0.2 --output a.csv --parameter 'pump.pressure=9 MPa'
says out 'energy balance'
run 0 simulate "$machine" --duration 0.2 --output b.csv --parameter pump.pressure=9e6
run 0 compare set.csv a.csv --all --relative 1e-9
cmp -s a.csv b.csv || fail 'a number in SI differs from one with a unit'

# Later it leaves what was before; the row of its time shows it.
run 0 simulate "$machine" --duration 0.2 --output plain.csv
run 0 simulate "$machine" --duration 0.2 --output late.csv --parameter 'crank.load=500@100 ms' --parameter coupler.payload='10 kg@0.15'
same "$(head -n 101 late.csv)" "$(head -n 101 plain.csv)" 'rows before the load'
[ "$(cell late.csv 102 'crank.acceleration[rad/s^2]')" != "$(cell plain.csv 102 'crank.acceleration[rad/s^2]')" ] ||
  fail 'the row of 0.1 s does not show the load'
same "$(cell late.csv 102 'crank.angle[rad]')" "$(cell plain.csv 102 'crank.angle[rad]')" 'a load moves nothing at once'

# A payload sits at the payload point of the machine file.
run 0 simulate "$machine" --duration 0.1 --output centre.csv --parameter coupler.payload=10
run 0 simulate "$machine" --duration 0.1 --output given.csv --parameter coupler.payload=10 --set 'bodies.coupler.payload_point=[4, 0, 0 m]'
run 0 simulate "$machine" --duration 0.1 --output end.csv --parameter coupler.payload=10 --set 'bodies.coupler.payload_point=[8, 0, 0 m]'
cmp -s centre.csv given.csv || fail 'the payload does not sit at the centre of mass'
if cmp -s centre.csv end.csv; then fail 'the payload point is not read'; fi

# Tyres and power trains: a parameter does what the key of its name does, and the key takes an uncertainty.
cart=$source_root/datasets/cart/cart.yaml
run 0 simulate "$cart" --duration 2.5 --output set.csv --set 'clutches.drive.damping=100 N*m*s/rad' --set 'clutches.drive.stiffness=20 kN*m/rad' \
  --set 'tyres.rl.patch_length=0.4 m' --set 'engines.diesel.friction=40 N*m' --set 'engines.diesel.idle.speed=95 rad/s'
run 0 simulate "$cart" --duration 2.5 --output a.csv --set 'clutches.drive.damping=100 N*m*s/rad' --set 'clutches.drive.stiffness=30 kN*m/rad' \
  --parameter drive.stiffness=2e4 --parameter rl.patch_length=0.4 --parameter diesel.friction=40 --parameter diesel.idle_speed=95
run 0 compare set.csv a.csv --all --relative 1e-6
sed 's/    torque: 600 N.m/&  ± 10 %/; s/friction: 25 N.m/& ± 5 N*m/; s/idle: {speed: 90 rad.s/& ± 2 rad\/s/
  s/^  rl: {/&patch_length: 33 ± 5 cm, /; s/friction: 25 .*/&\n    stall: 45 rad\/s/' "$cart" >known.yaml
run 0 check known.yaml
says out 'idles at 90 rad/s, stalls below 45 rad/s'

# Mistakes.
run 1 simulate "$machine" --duration 0.1 --output x.csv --parameter crnak.load=5
says err "--parameter: crnak.load: there is no parameter of this name; did you mean 'crank.load'?"
run 1 simulate "$machine" --duration 0.1 --output x.csv --parameter crank.load
says err 'crank.load: is not of the form NAME=VALUE'
run 1 simulate "$machine" --duration 0.1 --output x.csv --parameter 'crank.load=5 kg'
says err 'crank.load=5 kg: '
run 1 simulate "$machine" --duration 0.1 --output x.csv --parameter pump.pressure=-1@0.05
says err 'pump.pressure=-1@0.05: must be at least 0 Pa'
run 1 simulate "$machine" --duration 0.1 --output x.csv --parameter pump.pressure=nan
run 1 simulate "$machine" --duration 0.1 --output x.csv --parameter crank.load=5@never
[ ! -e x.csv ] || fail 'a file was begun in spite of the mistake'
