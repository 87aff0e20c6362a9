#!/bin/sh
# The excavator: counts as printed, on its tracks; slewing without end with the loop of its bucket, the same whichever way it looks;
# its filter, and one that takes the pump for one of constant pressure.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"

folder=$source_root/datasets/excavator
firm=joints.undercarriage.type=fixed
run 0 check "$folder/excavator.yaml"
grep -q '9 bodies' "$work/out" && grep -q '9 joints' "$work/out" && grep -q '^  loop lug' "$work/out" &&
  grep -q '11 degrees of freedom' "$work/out" || fail "the counts are not those of the publication"

# It stands on its tracks, 20,885 kg, while it digs in the air.
run 0 simulate "$folder/excavator.yaml" --duration 2 --columns 'tracks.*,undercarriage_*.position' --output tracks.csv
awk -F, 'END { n = $5 + 0; exit !(n > 0.95 * 20885 * 9.81 && n < 1.05 * 20885 * 9.81) }' tracks.csv || fail "the ground does not carry it"
head -1 tracks.csv | grep -q '^t\[s\],undercarriage_x.position\[m\],undercarriage_y.position\[m\],undercarriage_z.position\[m\],tracks.normal_force' ||
  fail "other columns than expected"

# A turn and a half, from two sides: the attachment moves alike. A mechanism on a body that turns keeps its equations.
for side in 0 90; do
  run 0 simulate "$folder/excavator.yaml" --duration 14 --set $firm --set 'inputs.slew=[[0 s, 10 V]]' --set "joints.slew.initial=$side deg" \
    --columns 'slew.angle,*.rate,*.pressure,*.stroke' --output $side.csv
done
awk -F, 'END { exit !($2 > 6.2832 * 1.5) }' 0.csv || fail "it does not slew a turn and a half"
run 0 compare 0.csv 90.csv --relative 1e-9 --tolerance 'slew.angle=91 deg'

# The pump follows the highest load; who believes in 250 bar is contradicted.
run 0 simulate "$folder/excavator.yaml" --duration 1.8 --set $firm --output truth.csv --noise "$folder/encoders.yaml" --log log.csv
run 0 replay "$folder/encoders.yaml" log.csv --truth truth.csv --output estimate.csv
awk -v dir="$folder" '/^machine:/ { print "machine: " dir "/excavator.yaml"; next }
  { print }
  /^changes:/ {
    print "  hydraulics.load_sensing_pumps.main.margin: 500 bar\n  hydraulics.load_sensing_pumps.main.cut_off: 250 bar"
    print "  hydraulics.load_sensing_pumps.main.torque_limit: 5 kN*m\n  hydraulics.volumes.rail.pressure: 250 bar"
    n = split("boom dipper bucket", valve, " ")
    for (i = 1; i <= n; i++) print "  hydraulics.valves." valve[i] "_valve.compensator: none" }' "$folder/encoders.yaml" >constant.yaml
run 3 replay constant.yaml log.csv --truth truth.csv --output constant.csv
grep -q '^verdict: contradicted' "$work/out" || fail "a constant supply pressure is believed"

# Its other study and the plan have no mistakes, the display they share included.
for file in imus sensors; do run 0 check "$folder/$file.yaml"; done

# On its tracks it runs by tape and is written as C.
run 0 simulate "$folder/excavator.yaml" --duration 0.01 --how --output tracks.csv
says out '10 steps by it, 0 by the interpreter'
run 0 compile "$folder/excavator.yaml" --output generated
says out 'operations a Newton iterate'

# Its filter there: bristles are error states, by tape too, and as C source.
run 0 check "$folder/tracks.yaml"
says out 'contact tracks: bristles estimated, sigma 0.1 mm, noise 0.01 mm/s^0.5; they slide at 0.7 mm'
says err 'tracks.bristle_*'
run 0 simulate "$folder/excavator.yaml" --duration 0.25 --output truth.csv --noise "$folder/tracks.yaml" --process-noise --log log.csv
run 0 replay "$folder/tracks.yaml" log.csv --truth truth.csv --output estimate.csv --how
says out 'verdict: no contradiction'
says out ' steps by it, 0 by the interpreter'
run 0 compile "$folder/tracks.yaml" --output generated
grep -q '^#define TRACKS_BRISTLE_ERRORS 12$' generated/tracks.h || fail 'its source has no bristles'
sed -e "s|^machine: |&$folder/|" -e 's/^  tracks:/  trakcs:/' "$folder/tracks.yaml" >mistake.yaml
run 1 check mistake.yaml
says err ": trakcs: the machine has no contact, tyre, brake or clutch of this name; did you mean 'tracks'"
sed -e "s|^machine: |&$folder/|" -e 's/^  tracks:.*/  tracks: {sigma: 1 deg}/' "$folder/tracks.yaml" >mistake.yaml
run 1 check mistake.yaml
says err "'tracks' has bristles that bend by a length"

# It comes to rest on them, arm and all. It bounces as 20,885 kg do on six Hertzian points, 55 rad/s, or faster by as much as
# the arm, which its oil holds softly, stays behind.
run 0 modes "$folder/excavator.yaml" --at rest
says out 'linearized at rest'
awk '/undercarriage_z.rate [34]/ { w = sqrt($2 * $2 + ($4 + 0) * ($4 + 0)); found += w > 55 && w < 75 } END { exit !found }' "$work/out" || fail "it does not bounce as it should"
