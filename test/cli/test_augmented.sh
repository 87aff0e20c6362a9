#!/bin/sh
# Parameters and biases estimated beside the state: what check says of them, and what replay finds.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"
folder=$source_root/datasets/four-bar
# The study without its wrong friction, and what is appended to it.
sed -e "s|^machine: |machine: $folder/|" -e '/^changes:/d' -e '/^  hydraulics.cylinders/d' -e '/^filter:/,$d' "$study" >exact.yaml
with() {
  cat exact.yaml -
}

# ---- check ----

with >study.yaml <<'END'
filter: {preset: papers, transition: step, noise: published, covariance: square-root, iterations: 2, gate: 4}
augmented:
  load: {parameter: crank.load, sigma: 50 N*m, noise: 20 N*m/s^0.5, most: 1 kN*m}
  drift: {bias_of: crank_gyro, sigma: 1 deg/s, order: 2, time_constant: 3 s, noise: 0.1 deg/s/s^1.5}
  seal: {parameter: lift.friction_scale, sigma: 0.1, time_constant: 2 s, noise: 0.01 Hz^0.5}
parameter_noise:
  pump.pressure: 1 bar/Hz^0.5
END
run 0 check study.yaml
says out 'filter: transition step, noise published, covariance square-root, fusion sequential, 2 iterations'
says out 'estimated load: parameter crank.load [N*m], starts at 0, sigma 50; random walk, noise 20 N*m/s^0.5, at most 1000'
says out 'estimated drift: bias of crank_gyro [deg/s], starts at 0, sigma 1; Gauss-Markov of order 2, time constant 3 s, noise 0.1 deg/s/s^1.5'
says out 'estimated seal: parameter lift.friction_scale [1], starts at 1, sigma 0.1; Gauss-Markov of order 1, time constant 2 s'
says out 'noise on pump.pressure: 1 bar/Hz^0.5'
says out 'p1: pressure at v1, sigma 0.5 bar, 1000 samples per second, gate 4 sigma'

# Every mistake that the machine shows, each with its line and what would be right.
first=$(($(lines exact.yaml) + 1))
with >study.yaml <<'END'
augmented:
  a: {parameter: crnk.load, sigma: 50 N*m}
  b: {parameter: crank.payload, sigma: 20 N}
  c: {bias_of: crank_gyro, sigma: 1 deg}
  d: {parameter: rocker.load, sigma: 1 N*m, noise: 1 N*m/s}
  e: {parameter: coupler.load, sigma: 1 N*m, least: 5 N*m}
  f: {bias_of: p1, sigma: 1 bar, least: 1 bar, most: -1 bar}
  g: {parameter: gravity.scale, sigma: 1 kg}
parameter_noise:
  valve.ofset: 1 V/Hz^0.5
  pump.pressure: 1 bar
END
run 1 check study.yaml
mistake() {
  says err "study.yaml:$((first + $1)):$2"
}
mistake 1 " augmented.a.parameter: there is no parameter of this name; did you mean 'crank.load'?"
mistake 2 "40: augmented.b.sigma: 20 N is a force, a mass is expected, for example '20 kg'"
mistake 3 "35: augmented.c.sigma: 1 deg is an angle, an angular rate is expected"
mistake 4 "52: augmented.d.noise: 1 N*m/s is a power, a value in 'N*m/s^0.5' is expected"
mistake 5 '53: augmented.e.least: the estimate starts at 0 N*m, outside these limits'
mistake 6 "41: augmented.f.least: 'least' must lie below 'most'"
mistake 7 '40: augmented.g.sigma: 1 kg is a mass, a pure number is expected'
mistake 9 " parameter_noise.valve.ofset: there is no parameter of this name; did you mean 'valve.offset'?"
mistake 10 '18: parameter_noise.pump.pressure: 1 bar is a pressure,'
says err '9 mistakes found'
printf '' >empty.csv
run 1 replay study.yaml empty.csv --output estimate.csv
says err "study.yaml:$((first + 1)): augmented.a.parameter: there is no parameter of this name"

# ---- a load on the crank that the model does not know ----

run 0 simulate "$machine" --duration 4 --output truth.csv --parameter crank.load=200 --noise exact.yaml --seed 3 --log log.csv
with >load.yaml <<'END'
filter: {preset: papers, transition: step}
augmented:
  load: {parameter: crank.load, sigma: 100 N*m, noise: 1 N*m/s^0.5}
END
# final NAME: value and sigma of an augmented state in the summary
final() {
  awk -v name="$1" '/^Augmented states/ { on = 1 } on && $1 == name { print $(NF - 1), $NF }' out
}
# settled NAME TRUTH SIGMA: within 4 sigma of the truth, sigma at most SIGMA
settled() {
  final "$1" | awk -v truth="$2" -v most="$3" '{ e = ($1 - truth) / $2; found = 1; if (e > 4 || e < -4 || $2 > most) exit 1 }
    END { exit !found }' || fail "$1: $(final "$1") is not $2"
}
rmse() {
  awk -v name="$1" '$1 == name { print $3; exit }' out
}
run 0 replay load.yaml log.csv --output estimate.csv --truth truth.csv --report report.html --smooth smooth.csv
settled load 200 3
estimated=$(rmse crank.angle)
last=$(lines estimate.csv)
near "$(cell estimate.csv "$last" 'load[N*m]')" "$(final load | cut -d' ' -f1)" 0.01 'file and summary'
near "$(cell estimate.csv "$last" 'load.sigma[N*m]')" "$(final load | cut -d' ' -f2)" 0.01 'sigma in file and summary'
near "$(cell estimate.csv 2 'load.sigma[N*m]')" 100 1 'the sigma it starts with'
if grep -q '^Events' out; then fail 'events where nothing happened'; fi
grep -q '<strong>load</strong>' report.html || fail 'no plot of the load'
grep -q 'Augmented states' report.html || fail 'no table of the load'
if head -n 1 smooth.csv | grep -q 'load'; then fail 'the smoothed file has a load'; fi
echo 'filter: {preset: papers, transition: step}' | with >plain.yaml
run 3 replay plain.yaml log.csv --output plain.csv --truth truth.csv
awk -v a="$estimated" -v b="$(rmse crank.angle)" 'BEGIN { exit !(a != "" && 5 * a < b) }' ||
  fail "estimating the load does not help: $estimated and $(rmse crank.angle)"
# A limit it wants to pass.
sed 's/noise: 1 /most: 150 N*m, noise: 1 /' load.yaml >limited.yaml
run 3 replay limited.yaml log.csv --output limited.csv # the load is more than that
grep -Eq '^  estimate held at its limit +[1-9][0-9]* *$' out || fail 'no word of the limit'
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "load[N*m]") c = i } NR > 1 && $c > 150 { exit 1 }' limited.csv ||
  fail 'the limit is passed'

# Late samples: the same load, through the rewind buffer.
sed '/crank_encoder: /s/}/, delay: 5 ms}/' load.yaml >late.yaml
sed '/crank_encoder: /s/}/, delay: 5 ms}/' exact.yaml >late-exact.yaml
run 0 simulate "$machine" --duration 2 --output late-truth.csv --parameter crank.load=200 --noise late-exact.yaml --seed 3 --log late.csv
run 0 replay late.yaml late.csv --output estimate.csv
settled load 200 5

# ---- a gyro with a bias ----

run 0 simulate "$machine" --duration 4 --output truth.csv --noise exact.yaml --seed 4 --log log.csv
awk -F, -v OFS=, 'NR > 1 { $4 = sprintf("%.9e", $4 + 0.02) } { print }' log.csv >biased.csv
with >drift.yaml <<'END'
filter: {preset: papers, transition: step}
augmented:
  drift: {bias_of: crank_gyro, sigma: 2 deg/s, noise: 0}
END
run 0 replay drift.yaml biased.csv --output estimate.csv --truth truth.csv
settled drift 1.1459156 0.1
corrected=$(rmse crank.rate)
near "$(cell estimate.csv "$last" 'drift[rad/s]')" 0.02 0.001 'the bias in the file'
run 3 replay plain.yaml biased.csv --output plain.csv --truth truth.csv
awk -v a="$corrected" -v b="$(rmse crank.rate)" 'BEGIN { exit !(a != "" && 5 * a < b) }' ||
  fail "estimating the bias does not help: $corrected and $(rmse crank.rate)"

# ---- outliers ----

awk -F, -v OFS=, 'NR > 1 && NR % 97 == 0 { $3 = sprintf("%.9e", $3 + 0.5) } { print }' log.csv >spikes.csv
spikes=$(($(lines log.csv) / 97))
echo 'filter: {preset: papers, transition: step, gate: 6}' | with >gated.yaml
run 3 replay plain.yaml spikes.csv --output plain.csv --truth truth.csv
without=$(rmse crank.angle)
says out 'innovations larger than assumed'
run 0 replay gated.yaml spikes.csv --output estimate.csv --truth truth.csv --report report.html
awk -v a="$(rmse crank.angle)" -v b="$without" 'BEGIN { exit !(a != "" && 2 * a < b) }' ||
  fail "the gate does not help: $(rmse crank.angle) and $without"
grep -Eq "^  measurement rejected by its gate +$spikes *\$" out || fail "not $spikes measurements rejected"
grep -Eq "^  crank_encoder +$((last - 1 - spikes)) +1\.0[0-9]* +0 .* consistent" out || fail 'the table of the innovations'
says out "measurements used: $((5 * (last - 1) - spikes))"
grep -q 'rejected' report.html || fail 'no word of them in the plots'
grep -q 'Events' report.html || fail 'no table of events'
run 0 replay gated.yaml log.csv --output estimate.csv --truth truth.csv
if grep -q 'gated %' out; then fail 'a share of gated measurements where there is none'; fi

# An encoder that hangs for a second is lost after 25 samples and taken again afterwards; a sensor's own gate.
awk -F, -v OFS=, 'NR > 1002 && NR <= 2002 { $3 = sprintf("%.9e", $3 + 1) } { print }' log.csv >hangs.csv
run 3 replay gated.yaml hangs.csv --output estimate.csv --truth truth.csv
grep -Eq '^  sensor crank_encoder faulty +1  1\.025 to 2\.001$' out || fail 'when the encoder was lost'
sed '/crank_encoder: /s/}/, gate: 0}/' gated.yaml >open.yaml
run 3 replay open.yaml hangs.csv --output plain.csv --truth truth.csv
if grep -q 'crank_encoder lost' out; then fail 'a sensor without a gate is lost'; fi

# Samples at the end of the range.
sed '/p3: /s/}/, range: [0, 40 bar]}/' plain.yaml >range.yaml
awk -F, -v OFS=, 'NR > 1 && $7 > 4e6 { $7 = 4e6; n++ } { print } END { print n > "n" }' log.csv >range.csv
[ "$(cat n)" -gt 20 ] || fail 'the pressure stays within the range'
run 0 replay range.yaml range.csv --output estimate.csv --truth truth.csv
grep -Eq "^  measurement at an end of the sensor's range, not used +$(cat n) *\$" out || fail "not $(cat n) at the range"
grep -Eq "^  p3 +$((last - 1 - $(cat n))) +0 +[1-9][0-9.]* .* consistent" out || fail 'p3 within its range'

# An encoder that creeps away by 0.01 rad/s: single samples pass their gate, the running mean does not.
awk -F, -v OFS=, 'NR > 1 && $1 > 0.5 { $3 = sprintf("%.9e", $3 + 0.01 * ($1 - 0.5)) } { print }' log.csv >creeps.csv
run 3 replay gated.yaml creeps.csv --output plain.csv --truth truth.csv
without=$(rmse crank.angle)
echo 'filter: {preset: papers, transition: step, gate: 6, drift_gate: 5}' | with >drift-gate.yaml
run 0 check drift-gate.yaml
says out 'protection: transition step, gate 6 sigma, drift gate 5 sigma, parameters and sensors taken as exact (preset papers)'
run 3 replay drift-gate.yaml creeps.csv --output estimate.csv --truth truth.csv
grep -Eq '^  sensor crank_encoder faulty +1  [0-9.]* to the end$' out || fail 'the creeping encoder is not lost'
awk -v a="$(rmse crank.angle)" -v b="$without" 'BEGIN { exit !(a != "" && 1.3 * a < b) }' ||
  fail "the drift gate does not help: $(rmse crank.angle) and $without"

# A start that is wrong by far more than it claims: its gate rejects the encoder until the filter is found wrong.
sed -e 's/position: 63 deg/position: 72 deg/' -e 's/sigma: 3 deg/sigma: 1 deg/' -e '/crank_encoder: /s/}/, gate: 4}/' plain.yaml >wrong-start.yaml
run 3 replay wrong-start.yaml log.csv --output estimate.csv --truth truth.csv
grep -E '^  filter found wrong, its covariance reset ' out | grep -q '[0-9]$' || fail 'no word of the recovery'
says out "measurements used: $(awk '/^  measurement rejected/ { held = $NF } END { print '$((5 * (last - 1)))' - held }' out)"

# Adaptive noise: the acceleration's density stated ten times too large comes down, and the table says so.
sed 's/acceleration_noise: [0-9.]* /acceleration_noise: 0.3 /; s/transition: paper/transition: step\n  position_problem: linearised/' \
  "$study" >adapt.yaml
cp "$BRAMAH_SOURCE_ROOT/datasets/four-bar/four-bar.yaml" .
printf 'adapt: {accelerations: [0.005, 2], window: 300}\n' >>adapt.yaml
run 0 check adapt.yaml
run 0 replay adapt.yaml "$BRAMAH_SOURCE_ROOT/datasets/four-bar/log.csv" --output adapted.csv
says out 'Adapted noise, at the end'
factor=$(awk '$1 == "coupler.rate" || $1 == "crank.rate" { print $2; exit }' "$work/out")
awk -v f="$factor" 'BEGIN { exit !(f > 0.004 && f < 0.5) }' || fail "the noise did not adapt: $factor"
# A crank that is 20 % heavier: adaptation does not hide the bias that makes, nor make the filter surer by it.
{
  sed -e '/^changes:/,/viscous/d' -e 's/transition: paper/transition: step/' "$study"
  echo 'adapt: {accelerations: [0.1, 10], pressures: [0.1, 10]}'
} >right.yaml
sed 's/^filter:/changes: {bodies.crank.mass: 19.2 kg}\nfilter:/' right.yaml >heavy.yaml
run 0 replay right.yaml "$BRAMAH_SOURCE_ROOT/datasets/four-bar/log.csv" --output adapted.csv --json right.json
says out 'noise adapted by 491 of 491 windows'
run 3 replay heavy.yaml "$BRAMAH_SOURCE_ROOT/datasets/four-bar/log.csv" --truth "$BRAMAH_SOURCE_ROOT/datasets/four-bar/truth.csv" --output adapted.csv --json heavy.json
says out 'in the others innovations have a bias, which noise must not hide'
grep -q '^  p[13]: mean while noise adapts [7-9][.0-9]* σ' out || fail 'no sensor with a bias is named'
awk '/mean NEES  / { exit !($3 < 10) }' out || fail 'adapted noise makes the filter surer than it may be'
[ "$(sed -n 's/.*"windows_with_bias": //p' right.json)" = 0 ] || fail 'a bias of a right model'
[ "$(sed -n 's/.*"windows_with_bias": //p' heavy.json)" -gt 100 ] || fail 'windows with a bias are not counted'
run 1 replay adapt.yaml "$BRAMAH_SOURCE_ROOT/datasets/four-bar/log.csv" --output other.csv --smooth smooth.csv
says err 'adapt: the backward pass needs noise that does not adapt'
sed 's/\[0.005, 2\]/[2, 0.5]/' adapt.yaml >wrong.yaml
run 1 check wrong.yaml
says err 'adapt.accelerations: the smaller factor comes first'

# ---- phases ----

with >study.yaml <<'END'
augmented:
  load: {parameter: crank.load, sigma: 50 N*m, noise: 1 N*m/s^0.5}
phases:
  moves:
    begin: {valve.command: {above: 0.5 V}}
    end: {crank.rate: {above: -1 deg/s, below: 1 deg/s}, p1: {measured_within: 3 ms}}
    augmented: {load: {noise: 20 N*m/s^0.5, time_constant: 2 s}}
  high:
    begin: {crank.angle: {above: 70 deg}}
    augmented: {load: {noise: 2 N*m/s^0.5}}
END
run 0 check study.yaml
says out 'phase moves: from when valve.command above 0.5 V, until crank.rate above -1 and below 1 deg/s or p1 was measured within 0.003 s; load has noise 20 N*m/s^0.5 and time constant 2 s'
says out 'phase high: while crank.angle above 70 deg; load has noise 2 N*m/s^0.5'
sed 's/valve.command: {above: 0.5 V}/valve.comand: {above: 0.5 V}/' study.yaml >wrong.yaml
run 1 check wrong.yaml
says err "phases.moves.begin.valve.comand: there is no output 'valve.comand'; did you mean 'valve.command'?"
sed 's/p1: {measured/p4: {measured/' study.yaml >wrong.yaml
run 1 check wrong.yaml
says err "phases.moves.end.p4: there is no sensor 'p4'; did you mean 'p1'?"
sed 's/p1: {measured/tilt: {measured/' study.yaml >wrong.yaml
run 1 check wrong.yaml
says err "phases.moves.end.tilt: there is no sensor 'tilt'; there are "
sed 's/above: 0.5 V/above: 0.5 bar/' study.yaml >wrong.yaml
run 1 check wrong.yaml
says err 'phases.moves.begin.valve.command: 0.5 bar is a pressure, a voltage is expected'
sed 's/{load: {noise: 2 N/{laod: {noise: 2 N/' study.yaml >wrong.yaml
run 1 check wrong.yaml
says err "phases.high.augmented.laod: there is no augmented state 'laod'; did you mean 'load'?"
sed 's/above: -1 deg.s, below: 1 deg.s/above: 1 deg\/s, below: -1 deg\/s/' study.yaml >wrong.yaml
run 1 check wrong.yaml
says err 'phases.moves.end.crank.rate: nothing is above the one and below the other value'
sed 's/^    begin: {valve.command: {above: 0.5 V}}/&\n    off_delay: 20 ms\n    joints: {crank: {acceleration_noise: 0.1 rad\/s^2\/Hz^0.5}}\n    volumes: {v1: {noise: 2 bar\/s^0.5}}/; /^    augmented: {load: {noise: 20/d' study.yaml >right.yaml
run 0 check right.yaml
says out 'or p1 was measured within 0.003 s, and 0.02 s longer; crank has acceleration noise 0.1 rad/s^2/Hz^0.5; v1.pressure has noise 2 bar/s^0.5'
sed 's/volumes: {v1:/volumes: {v7:/' right.yaml >wrong.yaml
run 1 check wrong.yaml
says err "phases.moves.volumes.v7: there is no volume 'v7'; did you mean 'v1'?"
sed 's/joints: {crank:/joints: {follower:/' right.yaml >wrong.yaml
run 1 check wrong.yaml
says err "phases.moves.joints.follower: there is no joint 'follower' with a noise in the study; there are crank"
sed 's/noise: 2 bar/noise: 2 N/' right.yaml >wrong.yaml
run 1 check wrong.yaml
says err 'phases.moves.volumes.v1: '
sed 's/^    volumes: .*/    augmentd: {load: {noise: 1 N*m\/s^0.5}}/' right.yaml >wrong.yaml
run 1 check wrong.yaml
says err "augmentd"
sed 's/^    augmented: {load: {noise: 2 .*//' study.yaml >wrong.yaml
run 1 check wrong.yaml
says err "'augmented', 'joints', 'volumes' or 'contacts' is needed: what has another noise in it"
{ cat right.yaml; echo 'adapt: {accelerations: [0.1, 10]}'; } >wrong.yaml
run 1 check wrong.yaml
says err "phases.moves.joints.crank: phases do not set noise that adapts ('adapt')"
sed 's/{above: 70 deg}/{above: 70 deg, measured_within: 1 s}/' study.yaml >wrong.yaml
run 1 check wrong.yaml
says err "'above' and 'below' are of an output, 'measured_within' is of a sensor"

# A gain that is estimated; and one error of a sensor that two places speak of.
with >study.yaml <<'END'
augmented:
  shows: {gain_of: p1, sigma: 0.02, noise: 0.001 Hz^0.5}
END
run 0 check study.yaml
says out 'estimated shows: gain of p1 [1], starts at 0, sigma 0.02; random walk, noise 0.001 1/s^0.5'
sed 's/gain_of: p1/gain_of: p7/' study.yaml >wrong.yaml
run 1 check wrong.yaml
says err "augmented.shows.gain_of: there is no sensor 'p7'"
sed 's/^  p1: {type: pressure,/& gain: 1 %,/' study.yaml >wrong.yaml
run 1 check wrong.yaml
says err "sensors.p1.gain: the study estimates it its own way as augmented.shows: say it in one place, here 'fixed'"
sed 's/^  p1: {type: pressure,/& gain: fixed,/' study.yaml >right.yaml
run 0 check right.yaml
sed 's/^  p1: {type: pressure,/& bias: 0.1 bar,/; s/gain_of: p1, sigma: 0.02, noise: 0.001 Hz^0.5/bias_of: p1, sigma: 0.1 bar/' study.yaml >wrong.yaml
run 1 check wrong.yaml
says err "sensors.p1.bias: the study estimates it its own way as augmented.shows: say it in one place, here 'fixed'"

# Values of phases are tuned by their paths, also where a name has dots.
with >study.yaml <<'END'
augmented:
  load: {parameter: crank.load, sigma: 50 N*m, noise: 1 N*m/s^0.5}
phases:
  high:
    begin: {crank.angle: {above: 70 deg}}
    augmented: {load: {noise: 2 N*m/s^0.5}}
tune:
  parameters:
    phases.high.augmented.load.noise: {least: 1 N*m/s^0.5, most: 200 N*m/s^0.5}
    phases.high.begin.crank.angle.above: {least: 60 deg, most: 80 deg}
END
head -n 200 "$folder/log.csv" >short.csv
run 0 tune study.yaml short.csv --budget 3 --output tuned.yaml
says tuned.yaml 'above: '
says out 'phases.high.begin.crank.angle.above'
sed 's/crank.angle.above/crank.angel.above/' study.yaml >wrong.yaml
run 1 tune wrong.yaml short.csv --budget 3 --output tuned.yaml
says err "the file has no 'crank' there; there are crank.angle"
