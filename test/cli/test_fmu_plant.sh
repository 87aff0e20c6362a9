#!/bin/sh
# A machine written as an FMU and read again as the plant of a study: the estimates are those on the machine itself; and what a user may write wrong.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"

cat >rest.yaml <<'EOF'
uncertainty: fixed
filter: {noise: published, gate: off, drift_gate: off}
sensors:
  encoder: {type: output, output: crank.angle, sigma: 1 deg}
  p1: {type: pressure, volume: v1, sigma: 0.5 bar}
EOF
cat >built-in.yaml <<EOF
study: built in
machine: $machine
joints:
  coupler: {position_sigma: 1 deg, rate: 0 rad/s, rate_sigma: 0.1 rad/s, acceleration_noise: 0.002 rad/s^2/Hz^0.5}
volumes: {v1: {sigma: 1 bar, noise: 0.5 bar/s^0.5}, v2: {sigma: 1 bar, noise: 0.5 bar/s^0.5}, v3: {sigma: 1 bar, noise: 0.5 bar/s^0.5}}
EOF
cat >own.yaml <<'EOF'
study: by its FMU
plant:
  fmu: four-bar.fmu
  derivatives: own
  positions:
    coupler: {variable: coupler.angle, position_sigma: 1 deg, rate: 0 rad/s, rate_sigma: 0.1 rad/s, acceleration_noise: 0.002 rad/s^2/Hz^0.5}
  states:
    v1: {variable: v1.pressure, sigma: 1 bar, noise: 0.5 bar/s^0.5}
    v2: {variable: v2.pressure, sigma: 1 bar, noise: 0.5 bar/s^0.5}
    v3: {variable: v3.pressure, sigma: 1 bar, noise: 0.5 bar/s^0.5}
  inputs: {valve: valve}
  outputs: {crank.angle: crank.angle}
EOF
cat rest.yaml >>built-in.yaml
cat rest.yaml >>own.yaml
sed 's/derivatives: own/derivatives: differences/' own.yaml >differences.yaml
sed 's/derivatives: own/isolate: yes/' own.yaml >isolated.yaml
code=0
"$program" fmu "$machine" --output four-bar.fmu --fmi 3 >out 2>err || code=$?
if grep -q 'built without libzip' err; then exit 77; fi
[ "$code" -eq 0 ] || fail 'no FMU'
run 0 simulate "$machine" --duration '0.3 s' --output truth.csv --noise built-in.yaml --log log.csv
run 0 check own.yaml
says out 'saved states: serialized by the FMU'
says out 'directional ones of the FMU, of its steps'
says out 'a step of the filter takes 1 step of the FMU'
run 0 check differences.yaml
says out 'a step of the filter takes 11 steps of the FMU'
run 0 check isolated.yaml
says out 'in a process of its own'
for study in built-in own differences isolated; do run 0 replay $study.yaml log.csv --output $study.csv; done

# The columns that both have, by their largest value and a digit of the file (10 of them).
alike() {
  awk -F, -v most="$3" '
    function digit(size, power) { for (power = 1; power > size; power /= 10); for (; power * 10 <= size; power *= 10); return 1e-9 * power / size }
    FNR == 1 { file++; for (i = 1; i <= NF; i++) { name[file, i] = $i; at[file, $i] = i } if (file == 1) n = NF; next }
    file == 1 { for (i = 1; i <= n; i++) { a[FNR, i] = $i; if ($i * $i > top[i] * top[i]) top[i] = $i } next }
    { for (i = 1; i <= n; i++) if ((2, name[1, i]) in at) { size = top[i] < 0 ? -top[i] : top[i] ? top[i] : 1; d = ($(at[2, name[1, i]]) - a[FNR, i]) / size; seen++; if (d * d > (most + digit(size)) ^ 2) bad = bad " " name[1, i] ":" d } }
    END { if (bad || seen < 1000) { print "off:" substr(bad, 1, 300) " of " seen; exit 1 } }' "$1" "$2" >awk.out || fail "$2: $(cat awk.out)"
}
cmp own.csv isolated.csv || fail 'another process, other bits'
alike built-in.csv own.csv 1e-9
alike built-in.csv differences.csv 1e-6


# Mistakes: wrong SED TEXT
wrong() {
  sed "$1" own.yaml >wrong.yaml
  cmp -s own.yaml wrong.yaml && fail "nothing is wrong by $1"
  run 1 check wrong.yaml
  says err "$2"
}
wrong 's/v2.pressure,/v2.presure,/' "wrong.yaml:9: v2.presure: the FMU has no variable of this name; did you mean 'v2.pressure'?"
wrong 's/^plant:/machine: x.yaml\nplant:/' "of an FMU 'plant' says it"
wrong 's/fmu: four-bar.fmu/fum: four-bar.fmu/' "did you mean 'fmu'"
wrong 's/four-bar.fmu/five-bar.fmu/' 'wrong.yaml:2: five-bar.fmu: cannot be read: No such file'
wrong 's/coupler.angle, /coupler.angle, rate_variable: v1.pressure, /' 'the FMU has this variable in Pa, rad/s is expected'
wrong 's/v3.pressure,/v1.pressure,/' "'v1.pressure' and 'v3.pressure' are the same variable"
wrong 's/valve: valve/valve: crank.angle/' 'wrong.yaml:11: crank.angle: this variable of the FMU is no input'
wrong 's/crank.angle: crank.angle/v1.pressure: crank.angle/' "v1.pressure: the variables 'v1.pressure' and 'crank.angle' are both given this name"
wrong 's/derivatives: own/derivatives: mine/' 'possible are own, differences'
wrong 's/variable: coupler.angle,/variable: crank.angle,/' "name it, 'rate_variable: ...'"
wrong 's/derivatives: own/isolate: ye/' "did you mean 'yes'"
wrong 's/derivatives: own/isolate: yes\n  time_limit: 0 s/' 'time_limit'
wrong 's/derivatives: own/values: {valve: 1}/' "wrong.yaml:4: valve: 'inputs' has this variable"
wrong 's/derivatives: own/step: 1.5 ms/' 'its step must be a multiple of that'
wrong 's/, sigma: 1 bar/, sigma: 1 rad/' 'a pressure is expected'
head -c 3000 four-bar.fmu >cut.fmu
wrong 's/four-bar.fmu/cut.fmu/' 'wrong.yaml:2: cut.fmu: is no FMU: not a zip archive'
printf nothing >empty.fmu
wrong 's/four-bar.fmu/empty.fmu/' 'empty.fmu'

# What needs the machine itself says so.
run 1 simulate own.yaml --duration '0.1 s' --output x.csv
says err 'own.yaml:2: plant: a simulation needs a machine file'
run 1 compile own.yaml --output x.c
says err 'own.yaml:2: plant: an FMU has no equations to compile'
run 1 fmu own.yaml --output x.fmu
says err 'own.yaml:2: plant: the FMU of a filter needs a machine file'
run 1 serve own.yaml --from log.csv
says err 'own.yaml:2: plant: '
for made in x.csv x.c x.fmu; do [ ! -e $made ] || fail "$made in spite of all"; done

# Nothing is left of unpacked archives.
mkdir private
TMPDIR=$work/private
export TMPDIR
run 0 check own.yaml
run 1 check wrong.yaml
[ -z "$(ls private)" ] || fail "left behind: $(ls private)"
