#!/bin/sh
# What tuning must show, at full length: takes minutes, so only with BRAMAH_CAMPAIGN=1 (BRAMAH_CAMPAIGN="known friction ..." for
# parts). Prints its values.
[ -n "${BRAMAH_CAMPAIGN:-}" ] || exit 77
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"
cp "$source_root"/datasets/four-bar/*.yaml .
cp "$papers"/*.yaml .
[ "$BRAMAH_CAMPAIGN" != 1 ] || BRAMAH_CAMPAIGN='known friction speed'

wanted() {
  case " $BRAMAH_CAMPAIGN " in *" $1 "*) return 0 ;; *) return 1 ;; esac
}

# The noise that acts, and the values to be found with their bounds.
write_study() {
  cat <<'END'
study: known noise
machine: four-bar.yaml
sensors:
  crank_encoder: {type: encoder, joint: crank, sigma: 1 deg, rate: 1 kHz}
  crank_gyro: {type: gyro, joint: crank, sigma: 9.84e-4 rad/s, rate: 1 kHz}
  p1: {type: pressure, volume: v1, sigma: 0.5 bar, rate: 1 kHz}
  p2: {type: pressure, volume: v2, sigma: 0.5 bar, rate: 1 kHz}
  p3: {type: pressure, volume: v3, sigma: 0.5 bar, rate: 1 kHz}
filter: {preset: papers, transition: step}
joints:
  crank: {position: 60 deg, rate: 0 rad/s, position_sigma: 1 deg, rate_sigma: 0.1 rad/s, acceleration_noise: 0.1 rad/s^2/Hz^0.5}
volumes:
  v1: {sigma: 1 bar, noise: 3 bar/s^0.5}
  v2: {sigma: 1 bar, noise: 3 bar/s^0.5}
  v3: {sigma: 1 bar, noise: 3 bar/s^0.5}
tune:
  parameters:
    sensors.crank_encoder.sigma: {least: 1e-4 deg, most: 1000 deg}
    sensors.crank_gyro.sigma: {least: 1e-7 rad/s, most: 10 rad/s}
    sensors.p1.sigma: {least: 1e-4 bar, most: 1000 bar}
    sensors.p2.sigma: {least: 1e-4 bar, most: 1000 bar}
    sensors.p3.sigma: {least: 1e-4 bar, most: 1000 bar}
    joints.crank.acceleration_noise: {least: 1e-4 rad/s^2/Hz^0.5, most: 100 rad/s^2/Hz^0.5}
    volumes.v1.noise: {least: 1e-3 bar/s^0.5, most: 1e3 bar/s^0.5}
    volumes.v2.noise: {least: 1e-3 bar/s^0.5, most: 1e3 bar/s^0.5}
    volumes.v3.noise: {least: 1e-3 bar/s^0.5, most: 1e3 bar/s^0.5}
END
}

# Two decades off in every value; the direction goes by the digits of the log's number, so that all sides come up.
write_off() {
  awk -v n="$1" 'function off(x, bit) { return int(n / 2^bit) % 2 ? x * 100 : x / 100 }
    /sigma: 1 deg, rate/ { sub(/sigma: 1 deg/, "sigma: " off(1, 0) " deg") }
    /9.84e-4 rad/ { sub(/9.84e-4/, off(9.84e-4, 1)) }
    /sigma: 0.5 bar, rate/ { sub(/0.5 bar/, off(0.5, 2) " bar") }
    /acceleration_noise: 0.1/ { sub(/acceleration_noise: 0.1/, "acceleration_noise: " off(0.1, 3)) }
    /noise: 3 bar/ { sub(/noise: 3 bar/, "noise: " off(3, 4) " bar") }
    { print }' true.yaml
}

# Of every value of the summary: within 15 % of the truth or its interval around it? Prints "values fit misses".
judge() {
  awk 'BEGIN { split("sensors.crank_encoder.sigma 1 sensors.crank_gyro.sigma 9.84e-4 sensors.p1.sigma 0.5 sensors.p2.sigma 0.5 " \
      "sensors.p3.sigma 0.5 joints.crank.acceleration_noise 0.1 volumes.v1.noise 3 volumes.v2.noise 3 volumes.v3.noise 3", a, " ")
      for (i = 1; i in a; i += 2) truth[a[i]] = a[i + 1] }
    /^Innovations before/ { exit }
    $1 in truth { t = truth[$1]; n++
      near = $4 > 0.85 * t && $4 < 1.15 * t; inside = $5 <= t && $7 >= t
      if (near || inside) fit++; else miss = miss " " $1 "=" $4 "[" $5 ".." $7 "]" }
    END { print n + 0, fit + 0, miss }' "$1"
}

write_study >true.yaml

if wanted known; then
  logs=${BRAMAH_CAMPAIGN_LOGS:-20}
  good=0
  band=0
  i=0
  while [ "$i" -lt "$logs" ]; do
    i=$((i + 1))
    run 0 simulate four-bar.yaml --duration 10 --step 0.001 --output truth.csv --noise true.yaml --process-noise --seed "$i" --log log.csv
    write_off "$i" >off.yaml
    run 0 tune off.yaml log.csv --output tuned.yaml
    verdict=$(judge out)
    echo "log $i: values, of them right: $verdict; $(grep -h '^search' out); $(grep -h '^work' out)"
    case $verdict in '9 9 '*) good=$((good + 1)) ;; *) : ;; esac
    if grep -q 'all together.* consistent' out; then band=$((band + 1)); fi
  done
  echo "known noise: $good of $logs logs with all values right, NIS in its band in $band"
  [ "$good" -ge $((logs * 9 / 10)) ] || fail 'too few logs are tuned right'
  [ "$band" -ge $((logs * 9 / 10)) ] || fail 'the NIS is out of its band'
fi

if wanted friction; then
  # The truth rubs as Brown and McPhee say, the filter's model as oil does, and no plant noise to speak of is assumed.
  for pair in a:1 b:2 held:3; do
    run 0 simulate four-bar.yaml --duration 10 --step 0.001 --output truth.csv --noise true.yaml --seed "${pair#*:}" --log "${pair%:*}.csv"
  done
  sed -e 's/acceleration_noise: 0.1 /acceleration_noise: 0.001 /; s/noise: 3 bar/noise: 0.03 bar/' true.yaml >wrong.yaml
  echo 'changes: {hydraulics.cylinders.lift.friction.model: viscous}' >>wrong.yaml
  run 0 tune wrong.yaml a.csv b.csv --hold-out held.csv --output tuned.yaml --report report.html
  cat out
  grep -q '^  held.csv *all together.* consistent' out || fail 'NIS of the log held out is not consistent'
  grep -q '^warning: .*: its innovations remain .*coloured' out || fail 'no sensor that remains coloured is named'
  grep -q 'its innovations remain .*coloured' report.html || fail 'the report does not say which sensor remains coloured'
fi

if wanted speed; then
  i=0
  list=
  while [ "$i" -lt 10 ]; do
    i=$((i + 1))
    run 0 simulate four-bar.yaml --duration 10 --step 0.001 --output truth.csv --noise true.yaml --process-noise --seed "$i" --log "log$i.csv"
    list="$list log$i.csv"
  done
  # Six values: the pressures share theirs.
  write_off 5 | sed -e '/sensors.p3.sigma:/d; /volumes.v[23].noise:/d' \
    -e 's/sensors.p2.sigma: {/sensors.p2.sigma: {also: [sensors.p3.sigma], /; s/volumes.v1.noise: {/volumes.v1.noise: {also: [volumes.v2.noise, volumes.v3.noise], /' >six.yaml
  # In turn, since a processor does not keep its speed.
  for turn in 1 2 3 4 5; do
    for n in 1 2; do
      rm -f "six$n.yaml"
      # shellcheck disable=SC2086
      run 0 tune six.yaml $list --threads "$n" --output "six$n.yaml"
      echo "turn $turn, $n threads: $(grep '^work' out); $(grep '^search' out)"
    done
  done
  cmp six1.yaml six2.yaml || fail 'two threads give another file'
fi
