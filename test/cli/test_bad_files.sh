#!/bin/sh
# Machine and study files that are wrong: exit code 1 and a message with file, line and the thing at fault.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"
cp "$machine" "$study" .
make_log 0.2

# line_of FILE PATTERN
line_of() {
  awk -v pattern="$2" '$0 ~ pattern { print NR; exit }' "$1"
}

# bad NAME SED-SCRIPT: a copy of the machine with a mistake, as simulate and check see it.
bad() {
  sed -e "$2" four-bar.yaml >"$1"
  ! cmp -s four-bar.yaml "$1" || fail "$1: nothing was changed"
  run 1 check "$1"
  cp err err.check
  rm -f x.csv
  run 1 simulate "$1" --duration 0.01 --output x.csv
  [ ! -e x.csv ] || fail "$1: a file was written"
  [ "$(head -n 1 err)" = "$(head -n 1 err.check)" ] || fail "$1: check and simulate say different things"
}

run 1 simulate nothing.yaml --duration 1 --output x.csv
says err 'bramah: nothing.yaml: '
run 1 check nothing.yaml
run 1 replay nothing.yaml log.csv --output x.csv
says err 'bramah: nothing.yaml: '

bad syntax.yaml 's/mass: 16 kg/mass: [16 kg/'
says err 'bramah: syntax.yaml:'
bad key.yaml 's/mass: 16 kg/mas: 16 kg/'
says err "bramah: key.yaml:$(line_of key.yaml 'mas: 16'):"
says err "'mas'"
says err "did you mean 'mass'?"
bad unit.yaml 's/bore: 80 mm/bore: 80 bar/'
says err "bramah: unit.yaml:$(line_of unit.yaml 'bore: 80'):"
says err 'lift'
says err '80 bar is a pressure, a length is expected'
bad negative.yaml 's/mass: 16 kg/mass: -16 kg/'
says err "bramah: negative.yaml:$(line_of negative.yaml 'mass: -16'):"
says err 'crank'
says err 'negative'
bad open.yaml 's/position: \[8, 0, 0 m\]/position: [80, 0, 0 m]/'
says err "bramah: open.yaml:$(line_of open.yaml '^  pivot:')"
says err 'pivot: the loop cannot be closed'
bad reference.yaml 's/piston_volume: v2/piston_volume: v9/'
says err "bramah: reference.yaml:$(line_of reference.yaml 'v9'):"
says err "'v9'"

# Values from the command line.
run 1 simulate four-bar.yaml --duration 0.01 --output x.csv --set bodies.crank.mass='3 m'
says err '--set: bodies.crank.mass: 3 m is a length, a mass is expected'
run 1 simulate four-bar.yaml --duration 0.01 --output x.csv --set bodies.cranck.mass='3 kg'
says err "'cranck'"

# bad_study NAME SED-SCRIPT: the same for the study.
bad_study() {
  sed -e "$2" sensors-2.yaml >"$1"
  ! cmp -s sensors-2.yaml "$1" || fail "$1: nothing was changed"
  run 1 check "$1" log.csv
  cp err err.check
  rm -f x.csv
  run 1 replay "$1" log.csv --output x.csv
  [ ! -e x.csv ] || fail "$1: a file was written"
  grep -qF "$(head -n 1 err)" err.check || fail "$1: check and replay say different things"
}

bad_study machine.yaml 's/machine: four-bar.yaml/machine: five-bar.yaml/'
says err 'bramah: five-bar.yaml: '
bad_study sensor.yaml 's/type: pressure, volume: v1/type: pressure, volume: v11/'
says err "bramah: sensor.yaml:$(line_of sensor.yaml 'v11')"
says err "p1: there is no volume 'v11'; did you mean 'v1'?"
bad_study change.yaml 's/lift.friction.coulomb: 231 N/lift.friction.coulomb: 231 bar/'
says err "bramah: change.yaml:$(line_of change.yaml '231 bar')"
bad_study joint.yaml '/^joints:/,/^volumes:/s/  crank:/  cranck:/'
says err "bramah: joint.yaml:$(line_of joint.yaml 'cranck:'): cranck: the machine has no joint of this name; did you mean 'crank'?"
bad_study joints.yaml 's/^volumes:/  rocker: {position_sigma: 1 deg, rate_sigma: 1 deg\/s, acceleration_noise: 1 deg\/s^2\/Hz^0.5}\nvolumes:/'
says err 'start values of 2 joints are given, but the machine has 1 degree of freedom; independent at the start:'
bad_study volume.yaml 's/^  v3: .*//'
says err "volumes: volume 'v3' of the machine is missing here"
bad_study volumes.yaml 's/^  v3: /  tank: /'
says err 'tank: the machine has no volume of this name'
bad_study slide.yaml '/^joints:/,/^volumes:/s/deg/mm/; /^joints:/,/^volumes:/s/rad/m/'
says err 'crank: this joint turns'
bad_study input.yaml 's/^sensors:/inputs: {vale: U}\nsensors:/'
says err "vale: the machine has no input of this name; did you mean 'valve'?"
bad_study kind.yaml 's/type: gyro/type: giro/'
says err "did you mean 'gyro'?"

# check goes on: two mistakes in the study and one in the log are three messages.
sed -e 's/volume: v1/volume: v11/; s/type: gyro, \([a-z]*\): crank/type: gyro, \1: krank/' sensors-2.yaml >two.yaml
awk -F, -v OFS=, 'NR == 1 { $3 = "encoder[rad]" } { print }' log.csv >renamed.csv
run 1 check two.yaml renamed.csv
says err "'v11'"
says err "'krank'"
says err 'crank_encoder'
says err '3 mistakes found'
! grep -q 'crank_encoder: .* samples$' out || fail 'samples of a column that is not there'

# No writing onto what is read.
cp log.csv copy.csv
run 1 replay sensors-2.yaml log.csv --output log.csv
says err 'would be overwritten'
cmp log.csv copy.csv || fail 'the log was overwritten'
ln -s log.csv link.csv
run 1 replay sensors-2.yaml log.csv --output link.csv
run 1 replay sensors-2.yaml log.csv --output x.csv --report sensors-2.yaml
run 1 simulate four-bar.yaml --duration 0.01 --output four-bar.yaml
run 1 simulate four-bar.yaml --duration 0.01 --output x.csv --noise sensors-2.yaml --log x.csv
run 1 replay sensors-2.yaml log.csv --output no/such/folder/x.csv
says err 'no/such/folder/x.csv'
# A file that never ends.
if [ -e /dev/zero ]; then
  run 1 check /dev/zero
  says err 'too large for a description'
fi
# A full disk.
if [ -e /dev/full ]; then
  run 1 replay sensors-2.yaml log.csv --output /dev/full
  says err '/dev/full'
  run 1 simulate four-bar.yaml --duration 0.2 --output /dev/full
  says err '/dev/full'
fi

# ---- files that are none of ours ----

# Of a file of something else nothing is repeated, whatever it is named as.
printf 'alice: {secret: hunter2}\nbob: {uid: 3}\n' >accounts.yaml
sed 's/^machine:.*/machine: accounts.yaml/' sensors-2.yaml >with-accounts.yaml
run 1 check accounts.yaml
says err 'accounts.yaml:1:1: this is no machine file'
run 1 modes sensors-2.yaml
says err 'sensors-2.yaml:3:1: this is no machine file: its first key is that of a study file'
run 1 check with-accounts.yaml
says err 'accounts.yaml:1:1: this is no machine file'
grep -qE 'alice|bob|hunter2' out err && fail 'the contents of a foreign file are told'
printf 'root:x:0:0:root:/root:/bin/sh\nalice:x:1:1:Alice:/home/alice:/bin/sh\n' >accounts.csv
run 1 replay sensors-2.yaml accounts.csv --output estimate.csv
says err "the log has no column 't'"
grep -qE 'alice|/root' out err && fail 'the contents of a foreign log are told'

# No control character of a file comes to the terminal ("run" looks for the escape), none is taken for a name.
printf 'machine: "a\\e[31mb"\n' >escape.yaml
run 1 check escape.yaml
says err 'escape.yaml:1:10: text contains a control character'
{ printf 't[s],cr\033]0evil\007ank[rad]\n0,1\n'; } >escape.csv
run 1 replay sensors-2.yaml escape.csv --output estimate.csv
says err 'escape.csv:1:6: cr ]0evil ank'

# A file that is not there may be one that is: with another ending, or nearly so called.
run 1 check sensors-2.yml
says err "sensors-2.yml: cannot be opened: No such file or directory; did you mean 'sensors-2.yaml'?"
run 1 check sensors-2.yaml "$papers/../lgo.csv"
says err "lgo.csv: cannot open: No such file or directory; did you mean '$papers/../log.csv'?"
: >"$(printf 'odd\033[31mname.csv')"
run 1 check sensors-2.yaml 'odd[31mname.csv'
says err "did you mean 'odd"

# A named pipe that nobody writes to is given up.
mkfifo silent
run 1 check silent
says err 'silent: cannot be opened: nobody wrote to this pipe for 10 s'

# The tuned study takes the place of nothing that is read.
cp sensors-2.yaml tuned.yaml
cat >>tuned.yaml <<'END'
tune:
  parameters:
    joints.crank.acceleration_noise: {least: 1e-4 rad/s^2/Hz^0.5, most: 10 rad/s^2/Hz^0.5}
END
for there in tuned.yaml four-bar.yaml log.csv; do
  run 1 tune tuned.yaml log.csv --output $there
  says err "$there: this file has another part in the same run and would be overwritten"
done
mkdir logs && cp log.csv logs/monday.csv
run 1 tune tuned.yaml logs --output logs/monday.csv
says err 'would be overwritten'
