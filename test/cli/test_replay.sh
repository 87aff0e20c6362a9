#!/bin/sh
# A log through the filter: columns, values, summary, comparison, report.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"
make_log 0.5

run 0 replay "$study" log.csv --output estimate.csv --truth truth.csv --report report.html
quiet err
header='t[s]'
for joint in crank coupler rocker; do
  header="$header,$joint.angle[rad],$joint.angle.sigma[rad],$joint.rate[rad/s],$joint.rate.sigma[rad/s]"
  header="$header,$joint.acceleration[rad/s^2],$joint.acceleration.sigma[rad/s^2]"
done
for volume in v1 v2 v3; do header="$header,$volume.pressure[Pa],$volume.pressure.sigma[Pa]"; done
header="$header,valve.spool[V],lift.stroke[m],lift.stroke.sigma[m],lift.velocity[m/s],lift.velocity.sigma[m/s]"
header="$header,lift.force[N],lift.force.sigma[N],lift.friction[N],lift.work[J],valve.command[V],energy.kinetic[J],energy.potential[J]"
header="$header,crank_encoder.innovation[rad],crank_encoder.nis,crank_gyro.innovation[rad/s],crank_gyro.nis"
for sensor in p1 p2 p3; do header="$header,$sensor.innovation[Pa],$sensor.nis"; done
same "$(head -n 1 estimate.csv)" "$header" 'columns of the estimates'
grep -q "^$(wc -c <estimate.csv | tr -d ' ') bytes, no contradiction found" estimate.csv.verdict || fail 'the verdict beside the estimates'
same "$(lines estimate.csv)" 502 'lines'
same "$(cell estimate.csv 502 't[s]')" 0.5 'last time'
near "$(cell estimate.csv 502 'crank.angle[rad]')" "$(cell truth.csv 502 'crank.angle[rad]')" 0.01 'angle found'
near "$(cell estimate.csv 2 'crank.angle[rad]')" 1.05 0.1 'angle at the start'
# The first innovation is measured minus where the study starts: 63 deg.
near "$(cell estimate.csv 2 'crank_encoder.innovation[rad]')" \
  "$(awk -v y="$(cell log.csv 2 'crank_encoder[rad]')" 'BEGIN { print y - 63 * 3.14159265358979 / 180 }')" 1e-6 'first innovation'

says out 'study: four-bar'
says out 'log: log.csv'
says out 'rows: 501 from the log, 501 estimates, 501 written; 0.5 s in steps of 0.001 s'
says out 'measurements used: 2505'
says out 'real time'
says out 'mean NIS'
says out 'all together'
says out 'model alone'
says out 'raw sensor'
grep -Eq '^  crank.angle +deg +[0-9]' out || fail 'no row for crank.angle in deg'
grep -Eq '^  v1.pressure +bar +[0-9]' out || fail 'no row for v1.pressure in bar'
grep -Eq '^  crank_encoder +501 +[0-9.]+ +[0-9.]+ to [0-9.]+ +-?[0-9.]+ +[a-z]' out || fail 'no verdict for the encoder'
grep -qi '</html>' report.html || fail 'the report is not complete'
for title in crank.angle crank.rate v1.pressure 'p1: innovation' 'crank.angle: estimate minus truth'; do
  grep -qF "$title" report.html || fail "'$title' is not in the report"
done

cp log.csv before.csv.verdict
run 1 replay "$study" before.csv.verdict --output before.csv
says err 'would be overwritten'

# The same bytes without the comparison, from standard input, and to standard output; every tenth row.
cp estimate.csv first.csv
run 0 replay "$study" log.csv --output estimate.csv
cmp estimate.csv first.csv || fail 'the comparison changes the estimates'
run 0 replay "$study" - --output - <log.csv
cmp out first.csv || fail 'pipes change the estimates'
says err 'mean NIS'
mkfifo pipe
cat log.csv >pipe &
run 0 replay "$study" pipe --output estimate.csv
wait
cmp estimate.csv first.csv || fail 'a named pipe changes the estimates'
run 0 replay "$study" log.csv --output tenth.csv --every 10
awk 'NR == 1 || NR % 10 == 2' first.csv >wanted.csv
cmp tenth.csv wanted.csv || fail 'every tenth row'
says out '51 written'

# Some columns, in their usual order and with the same bytes; what is not written is computed for the report all the same.
run 0 replay "$study" log.csv --output some.csv --columns 'p?.nis,crank.angle*,v1.pressure' --smooth smooth.csv
chosen='t[s],crank.angle[rad],crank.angle.sigma[rad],v1.pressure[Pa]'
same "$(head -n 1 some.csv)" "$chosen,p1.nis,p2.nis,p3.nis" 'chosen columns'
same "$(head -n 1 smooth.csv)" "$chosen" 'chosen columns of the backward pass'
awk -F, 'NR == 1 { n = split("t[s] crank.angle[rad] crank.angle.sigma[rad] v1.pressure[Pa] p1.nis p2.nis p3.nis", wanted, " ")
                   for (i = 1; i <= NF; i++) at[$i] = i }
         { for (i = 1; i <= n; i++) printf "%s%s", $at[wanted[i]], i < n ? "," : "\n" }' first.csv | cmp -s - some.csv ||
  fail 'other numbers in chosen columns'
run 0 replay "$study" log.csv --output some.mat --columns crank.rate.sigma
run 0 compare some.mat first.csv --relative 1e-4
run 0 replay "$study" log.csv --output estimate.csv --plot-data all-plots.csv
run 0 replay "$study" log.csv --output some.csv --columns p1.nis --plot-data plots.csv
for plots in all-plots.csv plots.csv; do sed -i '/time/d' $plots; done
cmp all-plots.csv plots.csv || fail 'the plots know only the chosen columns'
echo kept >some.csv
run 1 replay "$study" log.csv --output some.csv --columns 'p1.nis,crank.angel'
same "$(cat some.csv)" kept 'a file was emptied by a mistyped column'
says err "some.csv: crank.angel: there is no such column; did you mean 'crank.angle'?"

# A log that begins at another time and has gaps; a truth that has only every second row.
awk -F, -v OFS=, -v OFMT=%.9g -v CONVFMT=%.9g 'NR == 1 { print; next } { $1 += 1000; if (NR < 100 || NR > 150) print }' log.csv >later.csv
run 0 replay "$study" later.csv --output later-estimate.csv
same "$(lines later-estimate.csv)" 502 'the steps of a gap are estimates too'
same "$(cell later-estimate.csv 2 't[s]')" 1000 'first time of the later log'
same "$(cell later-estimate.csv 120 'p1.nis')" '' 'no NIS in a gap'
awk 'NR == 1 || NR % 2 == 0' truth.csv >half.csv
run 0 replay "$study" log.csv --output estimate.csv --truth half.csv
says out 'estimates without a row of the truth within half a step: 250'
# Rows beside the grid, and more rows than steps.
awk -F, -v OFS=, -v OFMT=%.9g -v CONVFMT=%.9g 'NR > 1 { $1 += 0.0002 * (NR % 3 == 0) } { print }' log.csv >jitter.csv
run 0 replay "$study" jitter.csv --output estimate.csv
says out 'rows off the grid of steps'
awk -F, -v OFS=, -v OFMT=%.9g -v CONVFMT=%.9g '{ print } NR > 1 { $1 += 0.0003; print }' log.csv >fast.csv
run 0 replay "$study" fast.csv --output estimate.csv
says out "measurements used: $(awk -F, 'NR > 1 { for (i = 3; i <= NF; i++) n += $i != "" } END { print n }' fast.csv)"
grep -Eq "^  all together +$(awk '/^measurements used/ { print $3 }' out) " out || fail 'not every innovation is counted'
grep -q 'already written' out && fail 'rows come after their step'

# A machine that slides and has no hydraulics, and nothing to command.
cat >cart.yaml <<'END'
machine: cart
gravity: [0, 0, -9.81 m/s^2]
bodies:
  cart: {mass: 2 kg, centre_of_mass: [0, 0, 0 m], inertia: [1, 1, 1 kg*m^2]}
joints:
  rail: {type: prismatic, parent: ground, child: cart, axis: [0, 0, 1], initial: 0 m}
END
cat >cart-study.yaml <<'END'
study: falling cart
uncertainty: fixed
machine: cart.yaml
sensors:
  ruler: {type: encoder, joint: rail, sigma: 5 mm, rate: 100 Hz}
joints:
  rail: {position: 20 mm, position_sigma: 20 mm, rate_sigma: 10 mm/s, acceleration_noise: 1 mm/s^2/Hz^0.5}
END
run 0 check cart-study.yaml
says out 'joint rail: starts at 20 mm, sigma 20 mm'
run 0 simulate cart.yaml --duration 1 --output truth.csv --noise cart-study.yaml --log log.csv
run 0 replay cart-study.yaml log.csv --output estimate.csv --truth truth.csv --report report.html
header='t[s],rail.position[m],rail.position.sigma[m],rail.rate[m/s],rail.rate.sigma[m/s],rail.acceleration[m/s^2],rail.acceleration.sigma[m/s^2]'
header="$header,energy.kinetic[J],energy.potential[J],ruler.innovation[m],ruler.nis"
same "$(head -n 1 estimate.csv)" "$header" 'columns of the cart'
near "$(cell estimate.csv 1002 'rail.position[m]')" -4.905 0.005 'where the cart is after a second'
grep -Eq '^  rail.position +mm +[0-9]' out || fail 'no row for rail.position in mm'

# A pressure that the study starts with: 1 bar of it and 0.5 bar of the sensor leave a fifth of the distance.
sed -e "s|^machine: .*|machine: $machine|" -e 's/^  v1: {/&pressure: 40 bar, /' "$study" >start.yaml
make_log 0.02
run 0 replay start.yaml log.csv --output estimate.csv
near "$(cell estimate.csv 2 'v1.pressure[Pa]')" "$(awk -v y="$(cell log.csv 2 'p1[Pa]')" 'BEGIN { print 40e5 + 0.8 * (y - 40e5) }')" 100 \
  'the first estimate'
