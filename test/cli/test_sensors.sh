#!/bin/sh
# The four-bar with one of each other kind of sensor, from the simulated log to the estimate; rounding and limits; mistakes.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"
cp "$machine" .

cat >study.yaml <<'STUDY'
study: four-bar, other sensors
machine: four-bar.yaml
changes:
  hydraulics.cylinders.lift.friction.viscous: 363 N*s/m
sensors:
  boom: {type: inclinometer, body: crank, axis: [1, 0, 0], about: [0, 0, 1], sigma: 0.2 deg, resolution: 0.1 deg, rate: 200 Hz}
  tilt: {type: inclinometer, body: rocker, axis: [1, 0, 0], sigma: 0.2 deg}
  shake: {type: accelerometer, body: coupler, point: [4, 0, 0 m], axis: [0, 1, 0], sigma: 0.05 m/s^2, range: [-40, 40 m/s^2], rate: 100 Hz}
  rod: {type: stroke, cylinder: lift, sigma: 1 mm, rate: 100 Hz}
  drop: {type: pressure-difference, a: v1, b: v2, sigma: 0.1 bar}
  meter: {type: flow, element: orifice, sigma: 0.5 L/min}
  feed: {type: flow, element: valve, port: a, sigma: 0.5 L/min}
  pin: {type: load-pin, cylinder: lift, sigma: 100 N}
joints:
  crank: {position: 62 deg, position_sigma: 2 deg, rate_sigma: 0.1 rad/s, acceleration_noise: 0.02 rad/s^2/Hz^0.5}
volumes:
  v1: {sigma: 1 bar, noise: 0.5 bar/s^0.5}
  v2: {sigma: 1 bar, noise: 0.5 bar/s^0.5}
  v3: {sigma: 1 bar, noise: 0.5 bar/s^0.5}
filter: {preset: papers}
STUDY

run 0 check study.yaml
says out 'sensor boom: inclinometer at crank, sigma 0.2 deg, in steps of 0.1 deg, 200 samples per second, column boom'
says out 'sensor shake: accelerometer at coupler, sigma 0.05 m/s^2, from -40 to 40 m/s^2, 100 samples per second'
says out 'sensor drop: pressure-difference at v1 less v2, sigma 0.1 bar'
says out 'sensor feed: flow at port a of valve, sigma 0.5 L/min'
run 0 simulate four-bar.yaml --columns '*' --duration 1.4 --step 0.001 --output truth.csv --noise study.yaml --seed 4 --log log.csv
same "$(head -n 1 log.csv)" 't[s],valve.command[V],boom[rad],tilt[rad],shake[m/s^2],rod[m],drop[Pa],meter[m^3/s],feed[m^3/s],pin[N]' \
  'columns of the log'

# Each sensor shows its quantity with noise of its sigma; the boom's angle is that of the crank, rounded too.
noise() { # COLUMN EXPRESSION-OF-COLUMNS SIGMA; v["name"] is a column of the truth
  paste -d, truth.csv log.csv | awk -F, -v column="$1" -v sigma="$3" '
    NR == 1 { for (i = 1; i <= NF; i++) name[i] = $i; next }
    { for (i = 1; i <= NF; i++) v[name[i]] = $i }
    v[column] != "" { e = v[column] - ('"$2"'); s += e * e; n++ }
    END { r = sqrt(s / n) / sigma; if (!(r > 0.85 && r < 1.15)) { print column, r; exit 1 } }' >&2 ||
    fail "noise of $1"
}
noise 'boom[rad]' 'v["crank.angle[rad]"]' 0.0035269
noise 'tilt[rad]' 'atan2(v["rocker.up_x[1]"], sqrt(1 - v["rocker.up_x[1]"] ^ 2))' 0.0034907
noise 'shake[m/s^2]' 'v["coupler.specific_force_y[m/s^2]"] + 4 * v["coupler.angular_acceleration_z[rad/s^2]"] + 4 * v["coupler.body_rate_xy[rad^2/s^2]"]' 0.05
noise 'rod[m]' 'v["lift.stroke[m]"]' 0.001
noise 'drop[Pa]' 'v["v1.pressure[Pa]"] - v["v2.pressure[Pa]"]' 10000
noise 'meter[m^3/s]' 'v["orifice.flow[m^3/s]"]' 8.3333e-6
noise 'feed[m^3/s]' 'v["valve.flow_a[m^3/s]"]' 8.3333e-6
noise 'pin[N]' 'v["lift.force[N]"]' 100
awk -F, 'NR > 1 && $3 != "" { n = $3 / 0.0017453292519943296; e = n - int(n + 0.5); if (e * e > 1e-12) exit 1 }' log.csv ||
  fail 'the boom angle is not rounded'

# They find the machine.
cut -d, -f1-23 truth.csv >visible.csv
# with noise set by hand, too small for the accelerometer
run 3 replay study.yaml log.csv --output estimate.csv --truth visible.csv --report report.html
says err 'do not see v1.pressure, v2.pressure, v3.pressure'
last=$(lines estimate.csv)
near "$(cell estimate.csv "$last" 'crank.angle[rad]')" "$(cell truth.csv "$last" 'crank.angle[rad]')" 0.001 'angle'
near "$(cell estimate.csv "$last" 'v3.pressure[Pa]')" "$(cell truth.csv "$last" 'v3.pressure[Pa]')" 50000 'pressure'
[ -n "$(cell estimate.csv 3 'pin.nis')" ] || fail 'a load pin without NIS'

# A range that is too short: the log stops at its end, and simulate says so.
sed 's/sigma: 100 N/sigma: 100 N, range: [-2, 2 kN]/' study.yaml >short.yaml
run 0 simulate four-bar.yaml --duration 1.4 --step 0.001 --output other.csv --noise short.yaml --seed 4 --log short.csv
grep -q '^pin: [0-9]* of 1401 samples are at the ends of its range$' "$work/out" || fail 'no word of the range'
awk -F, 'NR > 1 && ($10 > 2000 || $10 < -2000) { exit 1 } NR > 1 && $10 == 2000 { n++ } END { exit !n }' short.csv || fail 'the range'
cut -d, -f1-9 log.csv >a.csv
cut -d, -f1-9 short.csv | cmp -s - a.csv || fail 'the range of one sensor changes others'

# bad OLD NEW MESSAGE
bad() {
  sed "s/$1/$2/" study.yaml >wrong.yaml
  ! cmp -s study.yaml wrong.yaml || fail "$1: nothing was changed"
  run 1 check wrong.yaml
  says err "$3"
  run 1 replay wrong.yaml log.csv --output x.csv
  says err "$3"
}
bad 'body: crank' 'body: cranc' "wrong.yaml:6: boom: there is no body 'cranc'; did you mean 'crank'?"
bad 'about: \[0, 0, 1\]' 'about: [1, 0, 0]' "wrong.yaml:6: boom: 'about' must not point along 'axis'"
bad 'stroke, cylinder: lift' 'stroke, cylinder: lfit' "wrong.yaml:9: rod: there is no cylinder 'lfit'; did you mean 'lift'?"
bad 'b: v2' 'b: v7' "wrong.yaml:10: drop: there is no volume 'v7'"
bad 'element: orifice' 'element: orifce' "did you mean 'orifice'?"
bad ', port: a' '' 'wrong.yaml:12: feed: the port of the directional valve, a or b, is missing'
bad 'sigma: 1 mm' 'sigma: 1 deg' 'wrong.yaml:9:'
