#!/bin/sh
# Quasistatic machines: closed valves hold to the last digit, arms on one pump slow each other, the crane goes where the lumped one
# goes, and a filter on it estimates a log of that one. Mistakes of the file are told.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"

arm=$source_root/datasets/metered-arm
crane=$source_root/datasets/metered-crane

# at FILE TIME COLUMN: the value in the row of that time.
at() {
  awk -F, -v t="$2" -v name="$3" 'NR == 1 { for (i = 1; i <= NF; i++) { n = $i; sub(/\[.*/, "", n); if (n == name) c = i } next }
    $1 + 0 > t - 1e-6 && $1 + 0 < t + 1e-6 { print $c }' "$1"
}

run 0 check "$arm/metered-arm.yaml"
grep -q 'metered cylinder boom: .* load pressure -38.9' "$work/out" || fail "check does not tell of the cylinder"
run 0 simulate "$arm/metered-arm.yaml" --duration 60 --output arm.csv
[ "$(at arm.csv 20 boom.metered_velocity)" = 0 ] || fail "a closed valve lets the arm creep"
[ "$(at arm.csv 20 arm.angle)" = "$(at arm.csv 60 arm.angle)" ] || fail "the arm moves behind closed valves"

run 0 simulate "$arm/two-arms.yaml" --duration 3 --output two.csv
run 0 simulate "$arm/two-arms.yaml" --duration 3 --output one.csv --set 'inputs.second=[[0 s, 0 V]]'
awk -v a="$(at two.csv 1.5 first.metered_velocity)" -v b="$(at one.csv 1.5 first.metered_velocity)" \
  'BEGIN { exit !(a < 0 && b < 0 && a > 0.5 * b) }' || fail "the second arm takes no oil from the first"
regeneration='{area: 1e-4 m^2, discharge_coefficient: 0.6, opening: 0.5}'
run 0 simulate "$arm/two-arms.yaml" --duration 3 --output quick.csv \
  --set "hydraulics.metered_cylinders.second.regeneration=$regeneration"
awk -v a="$(at quick.csv 1.8 second.velocity)" -v b="$(at two.csv 1.8 second.velocity)" 'BEGIN { exit !(a > 1.5 * b) }' ||
  fail "regeneration does not make the arm quicker"

run 0 simulate "$crane/../crane/crane.yaml" --duration 10 --output truth.csv --noise "$crane/encoders.yaml" --seed 3 --log log.csv
run 0 simulate "$crane/metered-crane.yaml" --duration 10 --output crane.csv
for joint in boom jib; do
  awk -v a="$(at crane.csv 10 $joint.angle)" -v b="$(at truth.csv 10 $joint.angle)" \
    'BEGIN { d = a - b; exit !(d < 0.005 && d > -0.005) }' || fail "$joint: lumped and quasistatic crane part"
done
# The filter of the papers, but for the transition, on sensors without biases.
sed -e "s|^machine: |&$crane/|" -e "/^filter:/d" "$crane/encoders.yaml" >papers.yaml
echo 'filter: {preset: papers, transition: step}' >>papers.yaml
"$program" replay papers.yaml log.csv --truth truth.csv --output estimate.csv >"$work/out" 2>"$work/err" ||
  [ $? -eq 3 ] || fail "the replay fails"
# output unit RMSE %ofmax inside alone raw
for joint in boom jib; do
  awk -v name="$joint.angle" '$1 == name { found = 1; if (!($3 < 0.1 * $6 && $3 < 0.25 * $7)) exit 1 } END { if (!found) exit 1 }' \
    "$work/out" || fail "$joint.angle is not estimated well"
done

# Pressures of the chambers and of the pump line, and a flow, on a log of its own: verdict consistent.
run 0 simulate "$crane/metered-crane.yaml" --duration 10 --output own.csv --noise "$crane/pressures.yaml" --seed 3 --log own-log.csv
run 0 replay "$crane/pressures.yaml" own-log.csv --truth own.csv --output estimate.csv
awk '/^Errors/ { on = 1 } /^$/ { on = 0 } on && $1 ~ /^(lift|jib)_(piston|rod).pressure$/ { n++; if (!($3 < 0.5 && $3 < $7)) exit 1 } END { if (n != 4) exit 1 }' "$work/out" ||
  fail "the chamber pressures are not estimated well"

# mistake TEXT PATH=VALUE: that change is refused with that text.
mistake() {
  run 1 simulate "$crane/metered-crane.yaml" --duration 1 --output x.csv --set "$2"
  cat "$work/out" "$work/err" | grep -q "$1" || fail "not told: $1"
}
C="1e-7 m^3/s/Pa^0.5"
cylinder=hydraulics.metered_cylinders.lift
mistake "there is no pump line 'pumps'" "$cylinder.pump_line=pumps"
mistake "there is no supply 'pump'" hydraulics.pump_lines.pump.tank=pump
mistake "an opening must lie between 0 and 1" "$cylinder.regeneration={flow_coefficient: 1e-7 m^3/s/Pa^0.5, opening: 1.2}"
mistake "must be shut for U <= 0" "$cylinder.characteristic=[[-10 V, -9 V], [10 V, 11 V]]"
mistake "exclude each other" "$cylinder.flow_coefficients={pump_a: $C, b_tank: $C, a_tank: $C, pump_b: $C}"
mistake "does not hold its load at the start" "$cylinder.spool=1 V"
mistake "there is no volume or supply 'lift'" 'hydraulics.orifices={t: {from: lift, to: tank, flow_coefficient: 1e-8 m^3/s/Pa^0.5}}'
