#!/bin/sh
# linearize and modes: matrices with names, eigenvalues of the linearization paper, equilibria and what cannot be one.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"
paper=$source_root/datasets/linearization-four-bar/linearization-four-bar.yaml

# --- linearize ---
run 0 linearize "$paper" --input crank.load --output A.csv
quiet err
says out 'order 6: positions 1, velocities 1, pressures 3, spools 1, friction states 0'
says out '(3 coordinates less 2 constraints; the redundant equations would be of order 10)'
same "$(cell A.csv 7 'valve.spool[V]')" "$(awk 'BEGIN { printf "%.17g", -1 / 4.5e-3 }')" 'A of the spool'
same "$(cell A.csv 7 'valve.command[V]')" "$(awk 'BEGIN { printf "%.17g", 1 / 4.5e-3 }')" 'B of the spool'
same "$(cell A.csv 2 'coupler.rate[rad/s]')" 1 'A of the position'
near "$(cell A.csv 4 value)" 2820478.970954171 1e-6 'pressure of v1'
grep -q '^y:crank.angle,rad,' A.csv || fail 'no row of an output'
[ "$(cell A.csv 3 'crank.load[N*m]')" != "" ] || fail "no column of the load: $(head -1 A.csv)"
run 0 linearize "$paper" --output - --at 0.1
head -1 out | grep -q '^row,unit,value,rate,' || fail 'the matrices are not on standard output'
says err 'linearized at 0.1 s'
run 0 linearize "$paper" --at '1.25 ms'
says out 'linearized at 0.001 s'

# zero-order hold of the spool: exp(-h/tau)
run 0 linearize "$paper" --input crank.load --output A.mat
[ "$(head -c 19 A.mat)" = 'MATLAB 5.0 MAT-file' ] || fail 'no MAT file'
run 1 linearize "$paper" --output nowhere/A.mat
says err 'nowhere/A.mat'
run 0 linearize "$paper" --discrete '1 ms' --output F.csv
near "$(cell F.csv 7 'valve.spool[V]')" "$(awk 'BEGIN { printf "%.17g", exp(-1e-3 / 4.5e-3) }')" 1e-15 'F of the spool'

# --- modes: Table 3 of the paper, three scenarios ---
run 0 modes "$paper" --output m.csv
says out 'marginal: of 6 eigenvalues 0 grow, 2 neither grow nor decay'
near "$(cell m.csv 4 're[1/s]')" -214.39106464754279 1e-7 'lambda 3'
near "$(cell m.csv 6 're[1/s]')" -1391.80607456145248 1e-6 'lambda 4'
near "$(cell m.csv 7 're[1/s]')" -23151.79038542678086 1e-6 'lambda 5'
run 0 modes "$paper" --parameter lift.friction_scale=0.01 --output m.csv
near "$(awk -F, 'NR > 1 && $3 > 0 { print $2 }' m.csv)" -8.49229645935075 1e-8 'real part of the pair'
near "$(awk -F, 'NR > 1 && $3 > 0 { print $3 }' m.csv)" 546.184749847040 1e-6 'imaginary part of the pair'
says out 'coupler'

# --- responses ---
run 1 modes "$paper" --parameter lift.friction_scale=-1
says err '--parameter: lift.friction_scale: must be at least 0, not -1'
run 0 modes "$paper" --input crank.load --response crank.load:crank.rate --curves curves.csv
same "$(head -1 curves.csv)" 'response,w[rad/s],re,im' 'header of the responses'
same "$(grep -c '^crank.load:crank.rate,' curves.csv)" 400 'frequencies of the response'

# --- sensors of a study as outputs ---
cp "$source_root"/datasets/four-bar/four-bar.yaml .
sed -e '/^sensors:/,/^$/d' "$source_root"/datasets/four-bar/sensors-1.yaml >study.yaml
cat >>study.yaml <<'END'
sensors:
  boom: {type: inclinometer, body: crank, axis: [1, 0, 0], about: [0, 0, 1], sigma: 0.2 deg}
  tilt: {type: inclinometer, body: rocker, axis: [0, 1, 0], sigma: 0.2 deg}
  drop: {type: pressure-difference, a: v1, b: v2, sigma: 0.1 bar}
  rod: {type: stroke, cylinder: lift, sigma: 1 mm}
END
# row FILE NAME: what comes after name, unit, value and rate
row() { sed -n "s/^y:$2,[^,]*,[^,]*,,//p" "$1"; }
value() { awk -F, -v name="$2" '$1 == name { print $3 }' "$1"; }
run 0 linearize four-bar.yaml --sensors study.yaml --output near.csv
same "$(row near.csv rod)" "$(row near.csv lift.stroke)" 'row of the stroke sensor'
same "$(row near.csv drop)" '0,0,1,-1,0,0,0' 'row of the difference'
near "$(row near.csv boom | cut -d, -f1 | tr -d -)" "$(row near.csv crank.angle | cut -d, -f1 | tr -d -)" 1e-12 'slope of the boom'
run 0 linearize four-bar.yaml --sensors study.yaml --set joints.crank.initial='60.002 deg' --output far.csv
x=$(head -1 near.csv | cut -d, -f5 | sed 's/\[.*//')
slope=$(awk -v a="$(value near.csv y:tilt)" -v b="$(value far.csv y:tilt)" -v c="$(value near.csv "$x")" \
  -v d="$(value far.csv "$x")" 'BEGIN { printf "%.9g", (b - a) / (d - c) }')
near "$(row near.csv tilt | cut -d, -f1)" "$slope" 1e-3 'slope of the tilt'
[ "$(awk -v s="$slope" 'BEGIN { print (s > 0.1 || s < -0.1) }')" = 1 ] || fail "the tilt does not change: $slope"
run 0 modes four-bar.yaml --sensors study.yaml --response valve:rod --curves curves.csv
grep -q '^valve:rod,' curves.csv || fail 'no response of a sensor'
run 1 linearize four-bar.yaml --sensors four-bar.yaml

# --- in motion the eigenvalues are those of the moment ---
run 0 modes four-bar.yaml --at '1.2 s'
says err 'the machine is not in equilibrium here'
run 0 modes "$paper"
quiet err

# --- about a row of a log: the state of the simulation itself ---
run 0 simulate four-bar.yaml --duration 1.5 --output truth.csv
run 0 linearize four-bar.yaml --at '1.4 s' --output a.csv
run 0 linearize four-bar.yaml --at 'truth.csv@1400 ms' --output b.csv
says out 'linearized at the row of a log at 1.4 s'
paste -d, a.csv b.csv | awk -F, 'NR > 1 && NR < 8 { for (i = 3; i <= NF / 2; i++) { d = $i - $(i + NF / 2); s = $i < 0 ? -$i : $i
  if (d > 1e-4 * (s + 1e-3) || -d > 1e-4 * (s + 1e-3)) { print $1, i, $i, $(i + NF / 2); bad = 1 } } } END { exit bad }' ||
  fail 'the equations about the row are not those of the simulation'
run 1 linearize four-bar.yaml --at "$source_root/datasets/four-bar/log.csv@1"
says err "the log has no column 'coupler.angle'"
run 1 linearize four-bar.yaml --at truth.csv@1400
says err 'truth.csv: at: 1400 s is not in the log, which goes from 0 s to 1.5 s'
run 0 linearize four-bar.yaml --at 'truth.csv@1.40049 s'
says out 'linearized at the row of a log at 1.4 s'
head -1 truth.csv >empty.csv
run 1 linearize four-bar.yaml --at empty.csv@1
says err 'the log has a header but no rows'
run 1 linearize four-bar.yaml --at nothing.csv@1
run 1 linearize four-bar.yaml --at truth.csv@soon
says err "--at: truth.csv@soon"

# --- three approaches ---
run 0 modes "$paper" --approaches
[ "$(awk '$1 == "redundant" { print $2, $3 }' out)" = '6 4' ] || fail 'redundant: eigenvalues and spurious ones'
near "$(awk '$1 == "redundant" { print $5 }' out)" 0 1e-6 'redundant against the modes'
near "$(awk '$1 == "minimal" { print $5 }' out)" 0 1e-6 'minimal against the modes'

# --- valves without lag: no states, their commands act at once ---
arm=$source_root/datasets/metered-arm/metered-arm.yaml
run 0 linearize "$arm" --at '4 s' --output direct.csv
says out 'order 3: positions 1, velocities 1, pressures 1, spools 0, friction states 0'
says out 'without lag, no states: boom.spool'
run 0 simulate "$arm" --duration 4 --output direct-log.csv
run 0 linearize "$arm" --at direct-log.csv@4 --set hydraulics.metered_cylinders.boom.time_constant='1 ms' --output lag.csv
says out 'spools 1,'
near "$(cell direct.csv 3 'boom.command[V]')" "$(cell lag.csv 3 'boom.spool[V]')" 1e-6 'acceleration by the command'
near "$(cell direct.csv 4 'boom.command[V]')" "$(cell lag.csv 4 'boom.spool[V]')" 1 'rate of the load pressure by the command'
same "$(cell lag.csv 3 'boom.command[V]')" 0 'what a command does behind a lag'
same "$(awk -F, '$1 == "y:boom.spool" { print $NF }' direct.csv)" 1 'D of the spool'
same "$(grep -c '^y:boom.valves' direct.csv)" 0 'rows of a set of bits'
run 0 linearize "$arm" --at '4 s' --discrete '1 ms' --output F.csv
same "$(awk -F, '$1 == "y:boom.force" { print $NF }' F.csv)" "$(awk -F, '$1 == "y:boom.force" { print $NF }' direct.csv)" 'D in discrete time'
run 0 modes "$arm" --at '4 s' --approaches --response boom:boom.force --curves curves.csv
near "$(awk '$1 == "redundant" { print $(NF - 1) }' out)" 0 1e-6 'redundant against the modes'
run 0 modes "$arm" --at rest --parameter boom.flow_scale=0.5
# two valves on one input, one of which lags: each column of B has its part
slow='{pump: pump, tank: tank, a: v1, b: v3, flow_coefficient: 2.138e-8 m^3/s/Pa^0.5/V, time_constant: 5 ms, input: valve}'
run 0 linearize four-bar.yaml --set "hydraulics.valves.slow=$slow" --set hydraulics.valves.valve.time_constant='0 s' --output B.csv
says out 'spools 1, friction states 0'
says out 'without lag, no states: valve.spool'
same "$(cell B.csv 7 'valve.command[V]')" 200 'B of the spool that lags'
same "$(cell B.csv 4 'valve.command[V]')" "$(cell B.csv 4 'slow.spool[V]')" 'B of the pressure by the one that does not'

# --- equilibria ---
run 0 linearize "$paper" --hold crank.angle='50 deg' --hold v3.pressure='3 MPa' --output rest.csv
says out 'equilibrium found after'
near "$(awk -F, '$1 == "y:crank.angle" { print $3 }' rest.csv)" 0.87266462599716477 1e-12 'the angle held'
run 1 linearize "$paper" --hold v1.pressure='1 MPa' --hold v2.pressure='3 MPa'
says err 'v1: does not balance: v1.pressure changes by'
run 1 linearize "$paper" --hold crank.angle='60 deg' --hold v2.pressure='1 MPa' --hold v3.pressure='3 MPa'
says err 'coupler: does not balance'
# a free load then holds it
run 0 linearize "$paper" --hold crank.angle='60 deg' --hold v2.pressure='1 MPa' --hold v3.pressure='3 MPa' --free crank.load
run 1 linearize "$paper" --hold crank.angle='60 deg' --free crank.laod
says err "--free: crank.laod: there is no parameter of this name; did you mean 'crank.load'?"
run 1 linearize "$paper" --hold crank.angle='60 deg' --free vlave
says err "--free: vlave: there is no input of this name; did you mean 'valve.command'?"
run 1 linearize "$paper" --command vavle.command=1
says err "--command: vavle.command: there is no input of this name; did you mean 'valve.command'?"
# a leak that an open valve makes good: it is the same command with a lag and without
leak='{seal: {from: v2, to: v3, conductance: 1e-12 m^3/s/Pa}}'
for lag in '4.5 ms' '0 s'; do
  run 0 linearize "$paper" --set hydraulics.leakages="$leak" --set hydraulics.valves.valve.time_constant="$lag" \
    --hold crank.angle='55 deg' --command valve=1 --free valve
  near "$(awk '$1 == "valve.command" { print $3 }' out)" -0.0213158755 1e-6 "command that holds the crank, lag $lag"
done
# by a second valve, whose spool lags, next to a first one whose spool does not
slow='{pump: pump, tank: tank, a: v1, b: v3, flow_coefficient: 2.138e-8 m^3/s/Pa^0.5/V, time_constant: 5 ms}'
run 0 linearize "$paper" --set hydraulics.leakages="$leak" --set hydraulics.valves.valve.time_constant='0 s' \
  --set hydraulics.valves.slow="$slow" --set inputs.slow='[[0 s, 0 V]]' --hold crank.angle='55 deg' --command slow=1 --free slow
near "$(awk '$1 == "slow.command" { print $3 }' out)" -0.0213158755 1e-6 'command of the second valve'
near "$(awk '$1 == "slow.spool" { print $3 }' out)" -0.0213158755 1e-6 'spool of the second valve'
# the payload changes where it rests
run 0 modes "$paper" --at rest --parameter coupler.payload='5 kg'

# an unstable machine: a pendulum held upside down, and what it settles to
cat >pendulum.yaml <<'END'
machine: pendulum
gravity: [0, 0, -9.81 m/s^2]
bodies:
  bob: {mass: 2 kg, centre_of_mass: [0, 0, -0.5 m], inertia: [0.1, 0.1, 0.1 kg*m^2]}
joints:
  hinge: {type: revolute, parent: ground, child: bob, axis: [1, 0, 0], initial: 180 deg}
END
run 0 modes pendulum.yaml
says out 'unstable: of 2 eigenvalues 1 grow'
says out 'bob 100 %'
run 0 modes pendulum.yaml --at rest --set joints.hinge.initial='170 deg'
says out 'marginal: of 2 eigenvalues 0 grow, 2 neither grow nor decay'
# one pair of eigenvalues alone, at 40.4 rad/s: the response goes to a decade on both sides
run 0 modes pendulum.yaml --at rest --set joints.hinge.initial='170 deg' --set gravity='[0, 0, -981 m/s^2]' --input hinge.load \
  --response hinge.load:hinge.angle --curves one.csv
near "$(awk -F, 'NR > 1 { print $2 }' one.csv | sort -g | tail -1)" "$(awk 'BEGIN { printf "%.12g", 10 * sqrt(2 * 981 * 0.5 / 0.6) }')" 1e-9 'end of the response'
# what grows beyond all numbers is no result
run 1 linearize pendulum.yaml --discrete '500 s' --output far.csv
says err 'an unstable mode grows beyond all numbers in this step'
# a body without gravity: two zeros that share a vector
run 0 modes pendulum.yaml --set gravity='[0, 0, 0 m/s^2]'
says out 'drifts: of 2 eigenvalues 0 grow, 2 neither grow nor decay, 2 are defective'
run 1 modes pendulum.yaml --hold hinge.angle='90 deg'
says err 'bob: does not balance: hinge.rate changes by'

# --- rolling: the benchmark bicycle at 5 m/s ---
bicycle=$source_root/datasets/bicycle/bicycle.yaml
run 0 check "$bicycle"
says out 'wheel front: front_wheel rolls with a radius of 0.35 m'
run 0 modes "$bicycle" --input steer.load --response steer.load:frame_roll.angle --curves bicycle.csv --output b.csv
says out 'drifts: of 10 eigenvalues 0 grow, 6 neither grow nor decay'
near "$(awk -F, '$3 > 0 && NR > 1 { print $2 }' b.csv)" -0.77534188219585 1e-9 'weave'
near "$(awk -F, '$3 > 0 && NR > 1 { print $3 }' b.csv)" 4.46486771378823 1e-9 'weave'
near "$(awk -F, 'NR > 1 && $2 < -10 { print $2 }' b.csv)" -14.07838969279822 1e-9 'castering'
run 0 linearize "$bicycle" --output A.csv
says out 'order 10: positions 7, velocities 3,'
run 1 simulate "$bicycle" --duration 1 --output x.csv
says err 'rear: a machine with rolling wheels or knife edges can be linearized, not stepped'
run 1 modes "$bicycle" --set joints.rear_wheel.rate='10 rad/s'
says err 'rear: does not roll; it slips by 2 m/s'
run 1 modes "$bicycle" --set wheels.front.radius='0.36 m'
says err 'front: does not touch the plane; its height is -0.01 m'
run 1 modes "$bicycle" --at rest
says err 'give the steady motion'
sed 's/body: front_wheel, axis/body: front_weel, axis/' "$bicycle" >wrong.yaml
run 1 check wrong.yaml
says err "did you mean 'front_wheel'?"
sed 's/radius: 0.35 m/radius: -0.35 m/' "$bicycle" >wrong.yaml
run 1 check wrong.yaml
says err 'wrong.yaml:'

# --- mistakes ---
run 2 modes
run 2 linearize "$paper" --discrete '1 ms'
run 2 modes "$paper" --curves c.csv
run 2 modes "$paper" --response valve:crank.rate
run 1 linearize "$paper" --at soon
run 1 linearize "$paper" --output "$paper"
says err 'would be overwritten'
run 1 modes "$paper" --response valve:crank.rat --curves c.csv
says err "did you mean 'crank.rate'?"
run 1 modes "$paper" --response crank.load:crank.rate --curves c.csv
says err 'crank.load'
run 1 linearize "$paper" --hold crank.angle=50
run 1 linearize "$paper" --hold crank.angle='50 bar'
run 1 linearize "$paper" --input nothing
