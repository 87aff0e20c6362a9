#!/bin/sh
# Tuning as a user meets it: values found, the same bytes from any number of threads and after any number of kills, journals,
# criteria and methods, validation, mistakes.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"
cp "$source_root"/datasets/four-bar/*.yaml .
cp "$papers"/*.yaml .

cat >true.yaml <<'END'
study: known noise
machine: four-bar.yaml
sensors:
  crank_gyro: {type: gyro, joint: crank, sigma: 0.001 rad/s, rate: 1 kHz}
  p2: {type: pressure, volume: v2, sigma: 0.5 bar, rate: 1 kHz}
  p3: {type: pressure, volume: v3, sigma: 0.5 bar, rate: 1 kHz}
filter: {preset: papers, transition: step}
joints:
  crank: {position: 60 deg, rate: 0 rad/s, position_sigma: 0.5 deg, rate_sigma: 0.1 rad/s, acceleration_noise: 0.1 rad/s^2/Hz^0.5}
volumes:
  v1: {sigma: 1 bar, noise: 3 bar/s^0.5}
  v2: {sigma: 1 bar, noise: 3 bar/s^0.5}
  v3: {sigma: 1 bar, noise: 3 bar/s^0.5}
END
cat >section <<'END'
tune:
  parameters:
    sensors.crank_gyro.sigma: {least: 1e-6 rad/s, most: 1 rad/s}
    sensors.p2.sigma: {least: 1e-3 bar, most: 100 bar, also: [sensors.p3.sigma]}
    joints.crank.acceleration_noise: {least: 1e-4 rad/s^2/Hz^0.5, most: 10 rad/s^2/Hz^0.5}
END
# Two decades off.
sed -e 's/sigma: 0.001/sigma: 0.1/; s/sigma: 0.5 bar/sigma: 0.005 bar/; s/acceleration_noise: 0.1/acceleration_noise: 10/' true.yaml >off.yaml
cat section >>off.yaml
for n in 1 2; do
  run 0 simulate four-bar.yaml --duration 0.4 --step 0.001 --output "truth$n.csv" --noise true.yaml --process-noise --seed "$((n + 3))" --log "log$n.csv"
done
cmp -s truth1.csv truth2.csv && fail 'the plant noise does not depend on the seed'
run 2 simulate four-bar.yaml --duration 1 --output x.csv --process-noise
says err '--process-noise needs --noise'

# What is found: truth within the interval of each value, NIS in its band, the study as it was otherwise.
run 0 tune off.yaml log1.csv log2.csv --threads 1 --output tuned.yaml --evaluations tried.csv
mv out first.out
awk '$1 ~ /^(sensors|joints)/ && $6 == "to" && $5 ~ /^[0-9]/ { t = $1 ~ /gyro/ ? 0.001 : $1 ~ /p2/ ? 0.5 : 0.1; n++
    if ($5 > t || $7 < t) { print "missed: " $0; bad = 1 } }
  END { exit bad || n != 3 }' first.out || fail 'values are not found'
grep -q 'log1.csv *all together.* consistent' first.out || fail 'NIS is out of its band'
grep -q '# tuned: 95 % interval .* to .* bar; was 0.005 bar' tuned.yaml || fail 'no comment on the interval'
grep -q '# tuned together with sensors.p2.sigma' tuned.yaml || fail 'the value that goes along is not named'
sed -e '/^# Tuned by/d; /# tuned/d; s/sigma: [^,]*, rate/sigma: X, rate/; s/acceleration_noise: [^}]*}/acceleration_noise: X}/' tuned.yaml >a
sed -e 's/sigma: [^,]*, rate/sigma: X, rate/; s/acceleration_noise: [^}]*}/acceleration_noise: X}/' off.yaml >b
cmp -s a b || fail 'something else of the study has changed'
run 0 check tuned.yaml log1.csv
says out 'to be tuned: sensors.p2.sigma, now '
says out 'from 0.001 to 100 bar; the same for sensors.p3.sigma'
run 0 replay tuned.yaml log1.csv --output estimate.csv
# In another folder the machine is still found.
mkdir elsewhere
run 0 tune off.yaml log1.csv --budget 3 --output elsewhere/tuned.yaml
run 0 check elsewhere/tuned.yaml

# The NIS of all sensors together is that of a replay: on the grid, and with two corrections in a step.
sed 's/1 kHz/2 kHz/' true.yaml >fast.yaml
run 0 simulate four-bar.yaml --duration 0.2 --step 0.0005 --output x.csv --noise fast.yaml --seed 3 --process-noise --log fast.csv
for log in log1.csv fast.csv; do
  run 0 sweep true.yaml "$log" --vary 'sensors.p2.sigma=0.5 bar' --output one.csv
  run 0 replay true.yaml "$log" --output estimate.csv --json one.json
  near "$(awk -F, 'NR == 2 { print $5 }' one.csv)" "$(sed -n '/"all_sensors"/,/}/s/.*"nis_mean": \([^,]*\),.*/\1/p' one.json)" 1e-7 "NIS of $log"
done

# Any number of threads gives the same bytes; a journal spares every replay, damaged or cut off too.
run 0 tune off.yaml log1.csv log2.csv --threads 3 --output tuned3.yaml --evaluations tried3.csv --journal j
cmp -s tuned.yaml tuned3.yaml || fail 'three threads find something else'
cmp -s tried.csv tried3.csv || fail 'three threads try something else'
run 0 tune off.yaml log1.csv log2.csv --threads 2 --output again.yaml --evaluations again.csv --journal j
says out 'work: 0 replays'
{ cmp -s tuned.yaml again.yaml && cmp -s tried.csv again.csv; } || fail 'the journal gives something else'
cp j whole
sed -e '5s/.$/x/' whole | head -c "$(($(wc -c <whole) - 300))" >j
run 0 tune off.yaml log1.csv log2.csv --output again.yaml --evaluations again.csv --journal j
says err 'j: 1 damaged lines are left out'
{ cmp -s tuned.yaml again.yaml && cmp -s tried.csv again.csv; } || fail 'a damaged journal gives something else'
# Another study is another matter.
sed 's/position_sigma: 0.5/position_sigma: 0.6/' off.yaml >other.yaml
run 0 tune other.yaml log1.csv --budget 3 --journal j
if grep -q 'work: 0 replays' out; then fail 'the journal of another study is used'; fi

# Killed again and again, at random: the same in the end.
rm -f j
n=0
while [ "$n" -lt 20 ]; do
  n=$((n + 1))
  delay=$(awk -v n="$n" 'BEGIN { srand(n); printf "%.3f", 0.03 + 0.4 * rand() }')
  # shellcheck disable=SC2086
  ${BRAMAH_WRAP:-} "$program" tune off.yaml log1.csv log2.csv --output killed.yaml --evaluations killed.csv --journal j >/dev/null 2>&1 &
  pid=$!
  sleep "$delay"
  kill -9 "$pid" 2>/dev/null || :
  wait "$pid" 2>/dev/null || :
done
run 0 tune off.yaml log1.csv log2.csv --output killed.yaml --evaluations killed.csv --journal j
{ cmp -s tuned.yaml killed.yaml && cmp -s tried.csv killed.csv; } || fail 'kills change what is found'

# A disk that is full, here a limit of the file's size in blocks of 512 bytes: it is said, and nothing that was done is lost.
rm -f j
(ulimit -f 40 && trap '' XFSZ && ${BRAMAH_WRAP:-} "$program" tune off.yaml log1.csv log2.csv --journal j) >out 2>err && fail 'a full disk goes unnoticed'
command='tune with a full disk'
says err 'j: the journal cannot take more'
run 0 tune off.yaml log1.csv log2.csv --output full.yaml --journal j
says err 'results are there already'
if grep -q 'damaged' err; then fail 'a full disk leaves a damaged line'; fi
cmp -s tuned.yaml full.yaml || fail 'a full disk changes what is found'

# Ctrl-C ends it in order.
rm -f j
# shellcheck disable=SC2086
(trap - INT; exec ${BRAMAH_WRAP:-} "$program" tune off.yaml log1.csv log2.csv --journal j) >out 2>err &
pid=$!
wait_for [ -e j ] # signals are caught by then
kill -TERM "$pid" 2>/dev/null || :
wait "$pid" && code=0 || code=$?
[ "$code" -eq 0 ] || [ "$code" -eq 143 ] || fail "SIGTERM: exit code $code"
[ "$code" -eq 0 ] || says err 'stopped by SIGTERM; what is known so far is in j: the same command goes on with it'

# Not only when a replay is done: of a long log nothing is in the journal by then.
run 0 simulate four-bar.yaml --duration 120 --step 0.001 --output long.csv --noise true.yaml --seed 1 --log minutes.csv
rm -f j long.csv
# shellcheck disable=SC2086
(trap - INT; exec ${BRAMAH_WRAP:-} "$program" tune off.yaml minutes.csv --journal j --threads 2) >out 2>err &
pid=$!
wait_for [ -s j ]
kill -TERM "$pid"
wait "$pid" && code=0 || code=$?
command='tune of a long log'
same "$code" 143 'exit code after SIGTERM'
says err 'stopped by SIGTERM; what is known so far is in j'
same "$(lines j)" 1 'lines of the journal of a replay that did not end'
rm -f j minutes.csv

# Logs held out, folds, profiles, report.
run 0 tune off.yaml log1.csv log2.csv --hold-out log1.csv --folds 2 --profile 1 --report report.html --evaluations folds.csv
awk -F, '$2 == "search" && $4 == "ok" { both = $11 + $12 } $2 == "fold" && $4 == "ok" { n++; if ($11 + $12 > 0.51 * both) bad = 1 }
  END { exit bad || n < 8 }' folds.csv || fail 'a fold is tuned on logs it was to do without'
says out 'logs: 2 tuned on, 1 held out'
says out 'Cross-validation on logs left out'
says out 'Profiles of the likelihood'
same "$(grep -c 'log1.csv *all together' out)" 2 'logs judged'
grep -q 'data-axis="curve"' report.html || fail 'no curves in the report'
grep -q 'best so far' report.html || fail 'no plot of the search'
grep -q 'profile of joints.crank.acceleration_noise' report.html || fail 'no plot of the profiles'

# Where the likelihood is a parabola the interval by the slopes is that by the cost itself, to a tenth of its width.
{
  sed '/^tune:/,$d' true.yaml
  echo 'tune: {parameters: {sensors.p2.sigma: {least: 0.01 bar, most: 10 bar}, joints.crank.acceleration_noise: {least: 1e-4 rad/s^2/Hz^0.5, most: 10 rad/s^2/Hz^0.5}}}'
} >both.yaml
run 0 tune both.yaml log1.csv log2.csv --profile 3
awk '/^Values found/ { table = 1 } /^Profiles/ { table = 2 }
  $1 == "joints.crank.acceleration_noise" && table == 1 && !low { low = $5; high = $7 }
  $1 == "joints.crank.acceleration_noise" && table == 2 { off = $3 - low; beyond = $5 - high; n++ }
  END { width = 0.1 * (high - low); exit !(n == 1 && width > 0 && off * off < width * width && beyond * beyond < width * width) }' out ||
  fail 'intervals by slopes and by the profile differ'

# So is one between two points of a profile, where the cost grows by the square.
run 0 tune both.yaml log1.csv log2.csv --profile 1
awk '/^Values found/ { table = 1 } /^Profiles/ { table = 2 }
  $1 == "joints.crank.acceleration_noise" && table == 1 && !low { low = $5; high = $7 }
  $1 == "joints.crank.acceleration_noise" && table == 2 { off = $3 - low; beyond = $5 - high; n++ }
  END { width = 0.1 * (high - low); exit !(n == 1 && width > 0 && off * off < width * width && beyond * beyond < width * width) }' out ||
  fail 'a profile of three points has other ends than the slopes say'

# The rounding of a device is no part of its sigma, from the start on.
sed -e 's/volume: v2, sigma: 0.5 bar/volume: v2, resolution: 2 bar, sigma: 0.5 bar/' both.yaml >coarse.yaml
run 0 simulate four-bar.yaml --duration 0.4 --step 0.001 --output x.csv --noise coarse.yaml --process-noise --seed 4 --log coarse.csv
run 0 tune coarse.yaml coarse.csv --evaluations coarse-tried.csv
near "$(awk -F, '$2 == "start" && NR > 3 { print $14; exit }' coarse-tried.csv)" 0.5 0.2 'sigma at the start behind a resolution of 2 bar'

# What a gate of two standard deviations leaves has a NIS of 0.774, and is consistent.
sed 's/rate: 1 kHz/rate: 1 kHz, gate: 2/' both.yaml >gated.yaml
run 0 tune gated.yaml log1.csv --start-from-study --budget 2
# (Cube roots of chi-square are nearly normal: Wilson and Hilferty 1931.)
near "$(awk '/all together/ { print (0.5 * ($6 ^ (1 / 3) + $8 ^ (1 / 3))) ^ 3 }' out)" 0.774 0.002 'middle of the band of NIS behind gates'
same "$(grep -c 'log1.csv.* consistent' out)" 4 'verdicts behind gates'

# Other criteria and methods lead near the same values where they can.
run 0 tune off.yaml log1.csv --method simplex --evaluations simplex.csv
run 0 tune off.yaml log1.csv --evaluations scoring.csv
least() {
  awk -F, 'NR > 1 && $4 == "ok" && $2 == "search" && ($6 < least || least == "") { least = $6 } END { print least }' "$1"
}
near "$(least simplex.csv)" "$(least scoring.csv)" 0.5 'least cost of the simplex and of scoring'
run 0 tune off.yaml log1.csv --criterion nis --budget 60
says out 'nis '
run 0 tune off.yaml log1.csv --criterion rmse --truth truth1.csv --budget 40
says out 'rmse 0.'
run 0 tune off.yaml log1.csv --criterion prediction --budget 40
says out 'prediction '
run 0 tune off.yaml log1.csv --method simplex --start-from-study --budget 120 --threads 2 --output s1.yaml
run 0 tune off.yaml log1.csv --method simplex --start-from-study --budget 120 --threads 1 --output s2.yaml --evaluations s.csv
cmp -s s1.yaml s2.yaml || fail 'the simplex finds something else with another number of threads'
grep -q ',given up,' s.csv || fail 'hopeless replays are not given up'
run 0 tune off.yaml log1.csv log2.csv --time 0.01
says out 'search: stopped by its budget'

# A budget counts every evaluation: the first ones are spent on the search itself, and none on intervals that would not be
# those of an optimum.
for budget in 1 2 3 4 40; do
  run 0 tune off.yaml log1.csv --budget "$budget" --evaluations few.csv
  [ "$(($(lines few.csv) - 1))" -le "$budget" ] || fail "$(($(lines few.csv) - 1)) evaluations with a budget of $budget"
  [ "$budget" -gt 4 ] || same "$(lines few.csv)" "$((budget + 1))" "lines of a table of $budget evaluations"
done
run 0 tune off.yaml log1.csv --budget 3
says out 'stopped by its budget after 1 iterations, 3 evaluations'
says out 'warning: no intervals: the search was stopped before it converged'
if grep -q 'Values found' out; then fail 'intervals of a search that was stopped'; fi
run 0 tune off.yaml log1.csv --method simplex --start-from-study --budget 5 --evaluations few.csv
same "$(lines few.csv)" 6 'lines of a table of 5 evaluations by the simplex'
# Each fold has as many.
run 0 tune off.yaml log1.csv log2.csv --budget 2 --folds 2 --evaluations few.csv
same "$(grep -c ',fold,' few.csv)" 10 'evaluations of two folds: two searches of two, two times three judged'

# Logs that cannot be used are named once and left out, however they are bad; --strict refuses them.
sed '100s/.*/garbage,x/' log1.csv >broken.csv
head -n 4 log1.csv >three.csv
awk -F, -v OFS=, 'NR == 50 { $3 = "1e200" } { print }' log1.csv >absurd.csv
printf 't[s],valve.command[V]\n0,0\n' >other.csv
run 0 tune off.yaml broken.csv log1.csv absurd.csv three.csv log2.csv --hold-out other.csv --folds 2 --threads 1 --output kept.yaml
says out 'logs: 2 tuned on, 0 held out, 4 left out'
says err 'broken.csv is left out: line 100: 2 cells where the header has'
says err 'absurd.csv is left out: crank_gyro: '
says err 'three.csv is left out: too short to tune by: 3 rows, and 20 are the least'
for log in broken absurd three other; do
  same "$(cat out err kept.yaml | grep -c "$log.csv")" 1 "times that $log.csv is named"
done
same "$(grep -c '^  log[12].csv  *-\{0,1\}[0-9]' out)" 2 'logs that folds are without'
sed '/^# Tuned/d' kept.yaml >a
sed '/^# Tuned/d' tuned.yaml >b
cmp -s a b || fail 'a log left out changes what is found'
for bad in broken absurd three; do
  run 1 tune off.yaml log1.csv "$bad.csv" log2.csv --strict
  says err "$bad.csv"
  run 1 tune off.yaml "$bad.csv"
done
run 1 tune off.yaml log1.csv nowhere.csv # a name that is wrong is no bad log
says err 'nowhere.csv'
run 1 tune off.yaml three.csv --hold-out log1.csv
says err 'three.csv: too short'
# Nine samples of a sensor say nothing of it.
awk -F, -v OFS=, 'NR > 10 { $3 = "" } { print }' log1.csv >rare.csv
run 0 tune off.yaml log1.csv rare.csv --start-from-study --budget 2
grep -q 'rare.csv *crank_gyro .*too few samples to judge$' out || fail 'nine samples are judged'
if grep -q 'nan to nan.*consistent' out; then fail 'what is not known is consistent'; fi

# A folder is one log, or each file in it is one.
mkdir logs
cp log1.csv log2.csv logs
run 0 tune off.yaml --each logs --threads 1 --output each.yaml
says out 'logs: 2 tuned on'
sed '/^# Tuned/d' each.yaml >a
cmp -s a b || fail 'a folder of logs is not its logs'
run 1 tune off.yaml logs
says err 'logs/log2.csv'
mkdir logs/third
head -n 200 log1.csv >logs/third/1.csv
sed '2,200d' log1.csv >logs/third/2.csv
run 0 tune off.yaml --each logs --budget 1
says out 'logs: 3 tuned on'
run 0 sweep true.yaml --each logs --vary 'sensors.p2.sigma=0.5 bar' --output each.csv
same "$(grep -c ',logs/' each.csv)" 3 'logs of a sweep'
run 1 tune off.yaml --each elsewhere
says err 'elsewhere: there is no log (*.csv'
run 2 tune off.yaml
says err 'there is no log'

# A value of the machine: friction that the filter has wrong is found again, as a change of the study.
{
  cat true.yaml
  echo 'changes: {hydraulics.cylinders.lift.friction.viscous: 500 N*s/m}'
  echo 'tune: {parameters: {machine.hydraulics.cylinders.lift.friction.viscous: {least: 100 N*s/m, most: 2000 N*s/m, scale: linear}}}'
} >rubs.yaml
run 0 tune rubs.yaml log1.csv log2.csv --output tuned.yaml
grep -q 'hydraulics.cylinders.lift.friction.viscous: ' tuned.yaml || fail 'the change is not there'
awk '$1 ~ /^machine/ { exit !($5 < 330 && $7 > 330) }' out || fail 'the friction is not found'
# A delay, which need not be a multiple of the step.
sed 's/volume: v2, sigma: 0.5 bar, rate: 1 kHz/volume: v2, sigma: 0.5 bar, rate: 1 kHz, delay: 6 ms/' true.yaml >late.yaml
run 0 simulate four-bar.yaml --duration 2 --step 0.001 --output x.csv --noise late.yaml --seed 9 --process-noise --log late.csv
{
  sed 's/delay: 6 ms/delay: 1 ms/' late.yaml
  echo 'tune: {parameters: {sensors.p2.delay: {least: 0 ms, most: 20 ms, scale: linear}}}'
} >early.yaml
run 0 tune early.yaml late.csv
near "$(awk '$1 == "sensors.p2.delay" { print $4 }' out)" 6 0.2 'delay found'
# An offset of a sensor: the log has none.
{
  sed 's/sigma: 0.001 rad\/s, rate: 1 kHz/sigma: 0.001 rad\/s, rate: 1 kHz, offset: 0.02 rad\/s/' true.yaml
  echo 'tune: {parameters: {sensors.crank_gyro.offset: {least: -0.1 rad/s, most: 0.1 rad/s, scale: linear}}}'
} >offset.yaml
run 0 tune offset.yaml log1.csv --output straight.yaml
near "$(awk '$1 == "sensors.crank_gyro.offset" { print $4 }' out)" 0 0.001 'offset found'
run 0 replay straight.yaml log1.csv --output estimate.csv
grep -q 'crank_gyro.* consistent' out || fail 'a replay does not know the offset found'
# The same with a sensor with a delay.
{
  sed 's/sigma: 0.001 rad\/s, rate: 1 kHz/sigma: 0.001 rad\/s, rate: 1 kHz, offset: 0.02 rad\/s/' late.yaml
  echo 'tune: {parameters: {sensors.crank_gyro.offset: {least: -0.1 rad/s, most: 0.1 rad/s, scale: linear}}}'
} >offset.yaml
run 0 tune offset.yaml late.csv
near "$(awk '$1 == "sensors.crank_gyro.offset" { print $4 }' out)" 0 0.001 'offset found with a delay'
# One the sensors do not see.
sed -e '/^tune:/,$d' true.yaml >flat.yaml
echo 'tune: {parameters: {volumes.v1.noise: {least: 1e-6 bar/s^0.5, most: 1e-2 bar/s^0.5}}}' >>flat.yaml
run 0 tune flat.yaml log1.csv
grep -q '^warning: volumes.v1.noise: ' out || fail 'a value nobody sees goes unnoticed'

# Mistakes.
wrong() {
  run 1 tune wrong.yaml log1.csv
  says err "wrong.yaml:$1"
  says err "$2"
}
line_of() {
  grep -n "$1" wrong.yaml | head -n 1 | cut -d: -f1
}
sed 's/least: 1e-6 rad/least: 2 rad/' off.yaml >wrong.yaml
wrong "$(line_of 'crank_gyro.sigma'):" "the bounds are inverted: 'most' must be larger than 'least'"
sed 's/sensors.crank_gyro.sigma:/sensors.crank_gyro.sgima:/' off.yaml >wrong.yaml
wrong "$(line_of 'sgima')" "did you mean 'sigma'?"
run 1 check wrong.yaml
says err "did you mean 'sigma'?"
sed 's/sensors.crank_gyro.sigma:/sensors.crank_gyr.sigma:/' off.yaml >wrong.yaml
wrong "$(line_of 'gyr.sig')" "did you mean 'crank_gyro'?"
sed 's/least: 1e-6 rad/least: 0 rad/' off.yaml >wrong.yaml
wrong "$(line_of 'crank_gyro.sigma')" 'logarithmic scale bounds must be positive'
sed 's/least: 1e-6 rad/least: 1e-6 bar/' off.yaml >wrong.yaml
wrong "$(line_of 'crank_gyro.sigma')" 'different units'
sed 's/least: 1e-6 rad\/s, most: 1 rad\/s/least: 1e-6 bar, most: 1 bar/' off.yaml >wrong.yaml
wrong "$(line_of 'crank_gyro.sigma')" 'rad'
sed 's/least: 1e-6 rad\/s, most: 1 rad\/s/least: 1 rad\/s, most: 2 rad\/s, step: 0.6 rad\/s/' off.yaml >wrong.yaml
wrong "$(line_of 'step: 0.6')" "not be longer than half the distance from 'least' to 'most'"
# A value a step further that nothing can be made of, next to one that does well.
{
  sed '/^tune:/,$d' true.yaml
  echo 'tune: {parameters: {sensors.p2.sigma: {least: -1 bar, most: 1 bar, step: 0.9 bar, scale: linear}}}'
} >wrong.yaml
run 1 tune wrong.yaml log1.csv
says err 'log1.csv: sensors.p2.sigma: sigma must be positive (at t = 0 s, one value a step further)'
{
  sed '/^tune:/,$d' true.yaml
  echo 'tune: {parameters: {volumes.v2.noise: {least: 1 bar/s^0.5, most: 4e200 bar/s^0.5, step: 1e200 bar/s^0.5, scale: linear}}}'
} >huge.yaml
for threads in 1 3; do
  run 1 tune huge.yaml log1.csv --start-from-study --threads "$threads"
  says err 'the variance of this state is not finite (at t = 0 s, one value a step further)'
done
run 0 tune wrong.yaml log1.csv --method simplex
says out 'warning: no intervals: sensors.p2.sigma: sigma must be positive'
sed 's/also: \[sensors.p3.sigma\]/also: [sensors.p4.sigma]/' off.yaml >wrong.yaml
wrong "$(line_of 'p4')" "'p4'"
sed '/^tune:/,$d' off.yaml >wrong.yaml
run 1 tune wrong.yaml log1.csv
says err "give it a section 'tune' with 'parameters'"
sed 's/^  parameters:/  criterion: nis\n  method: scoring\n  parameters:/' off.yaml >wrong.yaml
wrong "$(line_of 'method: scoring')" 'scoring is for the likelihood'
sed 's/rate: 1 kHz/rate: 1 kHz, gate: 1e-9/' off.yaml >wrong.yaml
run 1 tune wrong.yaml log1.csv
says err 'innovations: next to none is left: the gates keep '
says err "take 'gate' out of the study"
sed 's/^  parameters:/  settle: 1 h\n  parameters:/' off.yaml >wrong.yaml
run 1 tune wrong.yaml log1.csv
says err "log1.csv: too short to tune by: 0 rows after 'settle', and 20 are the least"
run 1 tune off.yaml log1.csv --criterion rmse
says err 'give the truth of the logs with --truth'
sed 's/^  parameters:/  parameters:\n    log.longest_gap: {least: 1 s, most: 9 s}/' off.yaml >wrong.yaml
run 1 tune wrong.yaml log1.csv
{
  cat off.yaml
  echo 'log: {longest_gap: 5 s}'
} >gap.yaml
sed 's/^  parameters:/  parameters:\n    log.longest_gap: {least: 1 s, most: 9 s}/' gap.yaml >wrong.yaml
wrong "$(line_of 'log.longest_gap')" 'logs are read once'
sed 's/also: \[sensors.p3.sigma\]/also: [sensors.crank_gyro.sigma]/' off.yaml >wrong.yaml
wrong "$(line_of 'also:')" 'sensors.crank_gyro.sigma: this value is given twice'
run 1 tune off.yaml log1.csv --output nowhere/tuned.yaml
says err 'nowhere/tuned.yaml: cannot be created: '
run 1 tune off.yaml log1.csv --report .
says err '.: cannot be created: it is a folder'
run 2 tune off.yaml log1.csv --criterion likelyhood
says err "did you mean 'likelihood'?"
run 2 tune off.yaml log1.csv --folds 1
run 1 tune off.yaml log1.csv --folds 2 --journal folds.journal
says err 'cross-validation needs two logs or more'
run 1 tune off.yaml log1.csv --criterion nis --profile 2 --journal folds.journal
says err '--profile: it follows the likelihood'
[ ! -e folds.journal ] || fail 'what cannot be is said after the search'
run 1 tune off.yaml nowhere.csv
says err 'nowhere.csv'
run 1 tune off.yaml log1.csv --journal log2.csv
says err 'log2.csv:1: this file is no journal'
run 1 tune off.yaml log1.csv --output log1.csv
# A likelihood that is not finite.
awk -F, -v OFS=, 'NR == 50 { $3 = "1e200" } { print }' log1.csv >huge.csv
run 1 tune off.yaml huge.csv
says err 'huge.csv: crank_gyro: the measurement is absurd, and this sensor has no gate that would reject it (at t = 0.047 s): look at the log there'
# A machine that cannot follow: the model itself fails.
sed 's/^tune:/changes: {integrator.max_iterations: 1, integrator.position_tolerance: 1e-16}\ntune:/' off.yaml >wrong.yaml
run 1 tune wrong.yaml log1.csv
says err 'log1.csv: '
says err 'begin from other values'
