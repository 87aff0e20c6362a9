#!/bin/sh
# The uncertainty budget: what files may say of it, what becomes of it, and that with it no wrong model and no biased sensor
# makes the filter surer than it is right.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"
folder=$source_root/datasets/four-bar
# Sensor set 2 with the machine's own friction and the transition of the step.
sed -e "s|^machine: |machine: $folder/|" -e '/^changes:/d' -e '/^  hydraulics.cylinders/d' \
  -e 's/transition: paper/transition: step/' "$study" >plain.yaml

# ---- what machine files say ----

sed -e 's/bulk_modulus: 1500 MPa,/bulk_modulus: 1500 MPa ± 20 %,/' -e 's/mass: 16 kg/mass: 16 +- 1 kg/' \
  -e 's/area: 28.3 mm^2/area: 28.3 mm^2 ± 2.83/' -e 's/discharge_coefficient: 0.8/discharge_coefficient: 0.8 ± 5 %/' \
  -e 's/coulomb: 210 N/coulomb: 210 N ± 10 %/' -e 's/static: 830 N/static: 830 N ± 83 N/' \
  -e 's/pressure: 7.6 MPa/pressure: 7.6 MPa ± fixed/' "$machine" >uncertain.yaml
run 0 check uncertain.yaml --parameters
says out 'oil.bulk_modulus: 1.5e+09 Pa, at least 1500, uncertain by 3000 bar (20 %)'
says out 'crank.payload: 0 kg, at least -16, uncertain by 1 kg'
says out 'coupler.payload: 0 kg, at least -63.9999, uncertain by 6.4 kg (default)'
says out 'orifice.flow_coefficient: 1.0982e-06 m^3/s/Pa^0.5, at least 1.0982e-12, uncertain by 1.22783e-07 m^3/s/Pa^0.5 (11.2 %)'
says out 'lift.friction_scale: 1, at least 0, uncertain by 0.1'
says out 'tank.pressure: 100000 Pa, at least 0, uncertain by 0.3 bar (30 %) (default)'
grep -q '^  pump.pressure: 7.6e+06 Pa, at least 0$' out || fail 'the pump is fixed'
grep -q '^  valve.offset: 0 V$' out || fail 'an offset is known exactly'

# What is simulated and linearized is the value.
run 0 simulate uncertain.yaml --duration 1.2 --output uncertain.csv
run 0 simulate "$machine" --duration 1.2 --output certain.csv
cmp -s uncertain.csv certain.csv || fail 'an uncertainty changes the motion'

# mistake SED TEXT: the machine with this change
mistake() {
  sed -e "$1" "$machine" >wrong.yaml
  run 1 check wrong.yaml
  says err "$2"
}
mistake 's/bore: 80 mm/bore: 80 mm ± 1 mm/' "cylinders.lift.bore: '± ...' may stand behind masses, "
mistake 's/mass: 16 kg/mass: 16 kg ± 1 m/' "bodies.crank.mass: '1 m' behind '±' is no share"
mistake 's/mass: 16 kg/mass: 16 kg ± many/' "bodies.crank.mass: 'many' behind '±' is no share"
mistake 's/mass: 16 kg/mass: 16 kg ± -5 %/' 'bodies.crank.mass: the uncertainty must not be negative'
mistake 's/-9.81, 0 m/-9.81, 0 ± 5 m/' "gravity.2: '± ...' may stand behind"

# ---- what studies say ----

sed -e "s|^machine: .*|machine: uncertain.yaml|" -e 's/\(crank_encoder: .*\)rate: 1 kHz}/\1rate: 1 kHz, bias: 2 deg}/' \
  -e 's/\(crank_gyro: .*\)rate: 1 kHz}/\1rate: 1 kHz, bias: fixed, gain: 3 %, delay_sigma: 5 ms}/' \
  -e 's/\(p1: .*\)rate: 1 kHz}/\1rate: 1 kHz, bias_drift: 0 bar\/s^0.5, gain: fixed}/' plain.yaml >stated.yaml
cat >>stated.yaml <<'END'
augmented:
  tank: {parameter: tank.pressure, sigma: 0.1 bar}
uncertainty: {rocker.payload: fixed, crank.load: 3 N*m, coupler.payload: 15 %}
END
run 0 check stated.yaml
sed -n '/^  uncertainty/,/known exactly/p' out >budget
cat >expected <<'END'
  uncertainty, one sigma; considered, and estimated once the measurements tell enough:
    crank.load: 3 N*m
    crank.payload: 1 kg
    coupler.payload: 9.6 kg
    lift.friction_scale: 0.1
    oil.bulk_modulus: 3000 bar (20 %)
    orifice.flow_coefficient: 1.22783e-07 m^3/s/Pa^0.5 (11.2 %)
    valve.flow_coefficient: 2.138e-09 m^3/s/Pa^0.5/V (10 %) (default)
    crank_encoder.bias: 2 deg, drifts by 0.2 deg/s^0.5
    crank_encoder.delay: 0.001 s, considered to the end (default)
    crank_gyro.gain: 0.03, considered to the end
    crank_gyro.delay: 0.005 s, considered to the end
    p1.bias: 0.5 bar
    p1.delay: 0.001 s, considered to the end (default)
    p2.bias: 0.5 bar, drifts by 0.1 bar/s^0.5 (default)
    p2.gain: 0.01, considered to the end (default)
    p2.delay: 0.001 s, considered to the end (default)
    p3.bias: 0.5 bar, drifts by 0.1 bar/s^0.5 (default)
    p3.gain: 0.01, considered to the end (default)
    p3.delay: 0.001 s, considered to the end (default)
    known exactly: coupler.load, rocker.load, rocker.payload, lift.actuator_load, pump.pressure, valve.offset, gravity.scale, bias of crank_gyro
END
cmp -s budget expected || fail "$(diff budget expected)"
says out 'estimated tank: parameter tank.pressure [bar], starts at 1, sigma 0.1; constant'

# Stated, but the study does without.
grep -v '^uncertainty' stated.yaml >off.yaml
run 0 check off.yaml
says err "8 uncertainties are stated, but the study does not reckon with them"

# with LINE: the plain study with this line
with() {
  { cat plain.yaml && echo "$1"; } >study.yaml
  line=$(lines study.yaml)
}
with 'uncertainty: {others: fixed, valve.flow_coefficient: 15 %}'
run 0 check study.yaml
sed -n '/^  uncertainty/,/known exactly/p' out >budget
same "$(lines budget)" 3 'one parameter is uncertain'
with 'uncertainty: fixed'
run 0 check study.yaml
if grep -q 'uncertainty, one sigma' out; then fail 'a budget that is switched off'; fi
# wrong LINE TEXT: where and what
wrong() {
  with "$1"
  run 1 check study.yaml
  says err "study.yaml:$line:$2"
}
wrong 'uncertainty: many' "14: uncertainty: 'many' is not known here; possible are default, fixed"
wrong 'uncertainty: {pmp.pressure: 5 %}' " uncertainty.pmp.pressure: there is no parameter of this name; did you mean 'pump.pressure'?"
wrong 'uncertainty: {pump.pressure: 5 kg}' ' uncertainty.pump.pressure: 5 kg is a mass, a pressure is expected'
wrong 'uncertainty: {crank.load: 5 %}' ' uncertainty.crank.load: a share of 0: give it with its unit'
wrong 'uncertainty: {pump.pressure: -5 %}' '30: uncertainty.pump.pressure: must not be negative'
wrong 'uncertainty: {others: 5 %}' "23: uncertainty.others: 'others' can only be 'fixed'"
sed -e 's/transition: step/transition: paper/' plain.yaml >kinematic.yaml
echo 'uncertainty: default' >>kinematic.yaml
run 1 check kinematic.yaml
says err "uncertainty: needs 'filter: {transition: step}'"
sed -e 's/\(p1: .*\)rate: 1 kHz}/\1rate: 1 kHz, bias: 1 deg}/' plain.yaml >study.yaml
echo 'uncertainty: default' >>study.yaml
run 1 check study.yaml
says err 'sensors.p1.bias: 1 deg is an angle, a pressure is expected'
sed -i -e 's/bias: 1 deg/bias: 5 %/' study.yaml
run 1 check study.yaml
says err 'sensors.p1.bias: a share is for a gain'

# ---- what becomes of it: wrong models and biased sensors, ten seconds each ----

sed -e 's/^  transition: step/  transition: step\n  gate: 4\n  drift_gate: 6/' plain.yaml >budget.yaml
echo 'uncertainty: default' >>budget.yaml
# record NAME OPTION...: a log of another truth
record() {
  name=$1
  shift
  run 0 simulate "$machine" --duration 10 --output "$name.truth.csv" --noise plain.yaml --seed 1 --log "$name.csv" "$@"
}
# biased NAME COLUMN SHIFT: the log of the right model, but a sensor shows so much more
biased() {
  awk -F, -v OFS=, -v column="$2" -v by="$3" 'NR == 1 { for (i = 1; i <= NF; i++) is[i] = $i ~ column }
    NR > 1 { for (i = 1; i <= NF; i++) if (is[i]) $i = sprintf("%.15g", $i + by) } { print }' right.csv >"$1.csv"
  cp right.truth.csv "$1.truth.csv"
}
record right
record valve --parameter 'valve.flow_coefficient=1.7104e-8'
record all --parameter 'valve.flow_coefficient=1.7104e-8' --parameter 'pump.pressure=68.4 bar' \
  --parameter 'oil.bulk_modulus=750 MPa' --parameter crank.payload=3.2 --parameter coupler.payload=12.8 \
  --parameter rocker.payload=8
biased gauge '^p[123]' -101325
biased gyro '^crank_gyro' 0.005
biased encoder '^crank_encoder' 0.0523599

# estimated STUDY NAME CODE: replay it; angle [deg] is the RMSE, nees the mean
estimated() {
  run "$3" replay "$1.yaml" "$2.csv" --truth "$2.truth.csv" --output estimate.csv
  angle=$(awk '$1 == "crank.angle" { print $3; exit }' out)
  nees=$(awk '/^  mean NEES/ { print $3; exit }' out)
}
# bound VALUE LEAST MOST WHAT
bound() {
  awk -v x="$1" -v least="$2" -v most="$3" 'BEGIN { exit !(x >= least && x <= most) }' || fail "$4: $1 is not in [$2, $3]"
}
while read -r name angle_most nees_most; do
  estimated budget "$name" 0
  bound "$angle" 0.01 "$angle_most" "$name: angle"
  bound "$nees" 0.05 "$nees_most" "$name: NEES"
done <<'END'
right   0.3  0.6
valve   0.4  0.8
all     0.35 1
gauge   0.4  2.5
gyro    0.35 0.6
encoder 1.3  1
END

# Without it the same filter is sure of what is wrong.
for name in valve gyro encoder; do
  estimated plain "$name" 3
  bound "$angle" 0.5 20 "$name without a budget: angle"
  bound "$nees" 500 1e7 "$name without a budget: NEES"
done

# Another machine: a crane whose filter knows neither the 20 kg in its gripper nor that a valve is 10 % smaller, with nine
# parameters and seven biases.
crane=$source_root/datasets/crane
sed -e "s|^machine: |machine: $crane/|" -e 's/transition: paper/transition: step\n  gate: 4\n  drift_gate: 6/' \
  -e '/^augmented/,/^$/d' "$crane/gripper-load.yaml" >lift.yaml
echo 'uncertainty: default' >>lift.yaml
run 0 simulate "$crane/crane.yaml" --duration 6 --output lift.truth.csv --noise lift.yaml --seed 1 --log lift.csv \
  --parameter 'lift_valve.flow_coefficient=5.4e-8'
run 0 replay lift.yaml lift.csv --truth lift.truth.csv --output estimate.csv
bound "$(awk '/^  mean NEES/ { print $3; exit }' out)" 0.1 0.6 'crane: NEES'
bound "$(awk '$1 == "boom.angle" { print $3; exit }' out)" 0.05 0.4 'crane: angle'
bound "$(awk '$1 == "jib.payload" { print ($(NF - 1) - 20) / $NF }' out)" -3 3 'crane: the load in standard deviations'

# The valve that is 20 % smaller is found, once it opens at 1 s; what the data cannot tell is considered to the end.
estimated budget valve 0
valve=$(awk '$1 == "valve.flow_coefficient" { print }' out)
bound "$(echo "$valve" | awk '{ print $4 }')" 1 1.1 'the valve is estimated from when it opens on'
bound "$(echo "$valve" | awk '{ print ($(NF - 1) - 1.7104e-8) / $NF }')" -4 4 'the valve in standard deviations'
run 0 replay stated.yaml right.csv --output - --json result.json --to '3 s'
tr -d ' \n' <result.json >flat
grep -q '"name":"crank.load","unit":"N\*m","value":0,"sigma":3,"is_estimated":false,"estimated_from":null' flat ||
  fail 'a load that is considered'
grep -q '"name":"tank","unit":"Pa",[^}]*"is_estimated":true,"estimated_from":null' flat ||
  fail 'what the study lists itself is estimated from the start'

# A run in two parts knows since when.
run 0 replay budget.yaml right.csv --output whole.csv --to '2 s'
sed -n '/^Augmented states/,/^$/p' out >whole
run 0 replay budget.yaml right.csv --output nothing.csv --to '1.5 s' --snapshot half.snapshot
run 0 replay budget.yaml right.csv --output rest.csv --to '2 s' --resume half.snapshot
sed -n '/^Augmented states/,/^$/p' out >rest
cmp -s whole rest || fail "$(diff whole rest)"

# Far outside its budget, a valve wired the wrong way round, the filter throws its measurements away; it is found wrong, and says so.
sed -e "s|^machine: |machine: $folder/|" -e 's/^sensors:/inputs: {valve: {sign: -1}}\n&/' "$folder/sensors-2.yaml" >reversed.yaml
run 3 replay reversed.yaml "$folder/log.csv" --output estimate.csv --to '2 s'
says out 'verdict: contradicted: '
grep -Eq '^  filter found wrong, its covariance reset +[0-9]+ ' out || fail 'gates lock the sensors out'
# An encoder that is 20 deg off is left out and named, and the angle stays within its bands.
sed -e "s|^machine: |machine: $folder/|" -e 's/{type: encoder, /&offset: 20 deg, /' "$folder/sensors-2.yaml" >off.yaml
run 3 replay off.yaml "$folder/log.csv" --truth "$folder/truth.csv" --output estimate.csv --to '2 s'
says out 'crank_encoder: faulty at the end'
awk '$1 == "crank.angle" { exit !($5 > 95) }' out || fail 'the angle is not within its bands'

# Set 1 without a gyro: noise of the pressures that is not there would make the angle drift to one side (72 % within its bands).
run 0 replay "$folder/sensors-1.yaml" "$folder/log.csv" --truth "$folder/truth.csv" --output estimate.csv
awk '$1 == "crank.angle" { exit !($5 > 95) }' out || fail 'the angle of set 1 is not within its bands'
