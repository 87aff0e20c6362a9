#!/bin/sh
# The example that tunes on logs finds, on ten of them, what the program finds and what they were made with. Argument:
# tune_logs.
set -eu
# shellcheck source=test/support/example.sh
. "$BRAMAH_SOURCE_ROOT/test/support/example.sh"
cp "$data/four-bar.yaml" .
cat >true.yaml <<'END'
study: known noise
machine: four-bar.yaml
sensors:
  gyro: {type: gyro, joint: crank, sigma: 0.001 rad/s, rate: 1 kHz}
  p2: {type: pressure, volume: v2, sigma: 0.5 bar, rate: 1 kHz}
filter: {preset: papers, transition: step}
joints:
  crank: {position: 60 deg, rate: 0 rad/s, position_sigma: 0.5 deg, rate_sigma: 0.1 rad/s, acceleration_noise: 0.1 rad/s^2/Hz^0.5}
volumes:
  v1: {sigma: 1 bar, noise: 3 bar/s^0.5}
  v2: {sigma: 1 bar, noise: 3 bar/s^0.5}
  v3: {sigma: 1 bar, noise: 3 bar/s^0.5}
END
sed -e 's/sigma: 0.001/sigma: 0.01/; s/sigma: 0.5 bar,/sigma: 0.1 bar,/' true.yaml >off.yaml
cat >>off.yaml <<'END'
tune:
  parameters:
    sensors.gyro.sigma: {least: 1e-6 rad/s, most: 1 rad/s}
    sensors.p2.sigma: {least: 1e-3 bar, most: 100 bar}
END
logs=
for n in 1 2 3 4 5 6 7 8 9 10; do
  "$BRAMAH_PROGRAM" simulate four-bar.yaml --duration 0.2 --step 0.001 --output truth.csv --noise true.yaml --process-noise \
    --seed "$n" --log "log$n.csv" >out
  logs="$logs log$n.csv"
done
# shellcheck disable=SC2086
"$example" off.yaml tuned.yaml $logs >said
grep -q '^converged, ' said || fail "not converged: $(cat said)"
awk -F'[ :]+' '/^sensors/ { t = $1 ~ /gyro/ ? 0.001 : 0.5; n++; if ($2 < 0.9 * t || $2 > 1.1 * t) bad = 1 } END { exit bad || n != 2 }' said ||
  fail "not what the logs were made with: $(cat said)"
# shellcheck disable=SC2086
"$BRAMAH_PROGRAM" tune off.yaml $logs --output program.yaml >out
grep -v '^#' program.yaml >a
grep -v '^#' tuned.yaml >b
cmp a b || fail 'the example and the program find different values'
sed 's/least: 1e-6 rad/least: 1e-6 bar/' off.yaml >wrong.yaml
if "$example" wrong.yaml x.yaml log1.csv 2>said; then fail 'a wrong unit is passed over'; fi
grep -q '^wrong.yaml:' said || fail "the place of a mistake is not said: $(cat said)"
