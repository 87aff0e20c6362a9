#!/bin/sh
# Sweeps: grids and Latin hypercubes over values of studies and machines.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"
cp "$source_root"/datasets/four-bar/*.yaml .
cp "$papers"/*.yaml .
make_log 0.2
cp log.csv log2.csv
cp truth.csv true.csv

run 0 sweep sensors-2.yaml log.csv log2.csv --vary 'volumes.v1.noise=0.1 .. 10 bar/s^0.5: 3 log' --vary 'filter.transition=paper, step' \
  --vary 'machine.hydraulics.cylinders.lift.friction.coulomb=200 N, 231' --truth true.csv --ahead 10 --output grid.csv --threads 1
same "$(lines grid.csv)" "$((1 + 12 * 3))" 'lines of the grid'
says out '3 values vary, 12 points on 2 logs'
same "$(cell grid.csv 2 volumes.v1.noise)" '"0.1 bar/s^0.5"' 'first value'
same "$(cell grid.csv 14 volumes.v1.noise)" '"1 bar/s^0.5"' 'value in the middle of a logarithmic range'
same "$(cell grid.csv 5 machine.hydraulics.cylinders.lift.friction.coulomb)" '"231 N"' 'a number takes the unit of the file'
same "$(cell grid.csv 3 log),$(cell grid.csv 4 log)" log.csv,log2.csv 'logs'
near "$(cell grid.csv 2 cost)" "$(awk -v a="$(cell grid.csv 3 cost)" -v b="$(cell grid.csv 4 cost)" 'BEGIN { printf "%.9g", a + b }')" 1e-3 'cost of all logs'
{ [ -n "$(cell grid.csv 2 rmse)" ] && [ -n "$(cell grid.csv 2 prediction)" ]; } || fail 'no errors against the truth or of predictions'
[ "$(cell grid.csv 2 cost)" != "$(cell grid.csv 5 cost)" ] || fail 'the friction is not changed'
least=$(awk -F, '$2 == "all" && ($4 < least || least == "") { least = $4; point = $1 } END { print least " at point " point }' grid.csv)
says out "least cost: $least: "
[ "${least##* }" != 12 ] || fail 'the last point is the best: this tells nothing of the least'
mv grid.csv one.csv
run 0 sweep sensors-2.yaml log.csv log2.csv --vary 'volumes.v1.noise=0.1 .. 10 bar/s^0.5: 3 log' --vary 'filter.transition=paper, step' \
  --vary 'machine.hydraulics.cylinders.lift.friction.coulomb=200 N, 231' --truth true.csv --ahead 10 --output grid.csv --threads 3
cmp -s one.csv grid.csv || fail 'three threads give another table'

# The study's own values are those of a replay.
run 0 sweep sensors-2.yaml log.csv --vary 'volumes.v1.noise=0.5' --output own.csv
run 0 replay sensors-2.yaml log.csv --output estimate.csv
near "$(cell own.csv 2 nis)" "$(awk '/all together/ { print $4 }' out)" 1e-4 'NIS next to that of a replay'

# A name with a comma is one cell.
cp log.csv 'monday, late.csv'
run 0 sweep sensors-2.yaml 'monday, late.csv' log2.csv --vary 'volumes.v1.noise=0.5' --output comma.csv
says comma.csv '1,"monday, late.csv",ok,'

# Hypercubes: over ranges, over the bounds of the study; each layer once; the seed tells which.
run 0 sweep sensors-2.yaml log.csv --vary 'sensors.p1.sigma=0.1 .. 10 bar: log' --vary 'joints.crank.position=60 .. 66' --latin 8 --output cube.csv
same "$(lines cube.csv)" 9 'points of the cube'
awk -F'"' 'NR > 1 { split($2, a, " "); k = int(8 * (log(a[1]) - log(0.1)) / log(100)); n[k]++; if (a[1] < 0.1 || a[1] > 10) bad = 1 }
  END { for (k = 0; k < 8; k++) if (n[k] != 1) bad = 1; exit bad }' cube.csv || fail 'layers of the cube'
mv cube.csv first.csv
run 0 sweep sensors-2.yaml log.csv --vary 'sensors.p1.sigma=0.1 .. 10 bar: log' --vary 'joints.crank.position=60 .. 66' --latin 8 --output cube.csv
cmp -s first.csv cube.csv || fail 'the same seed gives another cube'
cp sensors-2.yaml bounds.yaml
echo 'tune: {parameters: {sensors.p1.sigma: {least: 0.1 bar, most: 1 bar}}}' >>bounds.yaml
run 0 sweep bounds.yaml log.csv --latin 3 --seed 2 --output -
same "$(lines out)" 4 'points over the bounds of the study'
says err 'least cost: '

# What cannot be replayed is a row, not the end; a journal spares what is known.
run 0 sweep sensors-2.yaml log.csv --vary 'machine.integrator.max_iterations=1, 30' --journal j --output fails.csv
same "$(cell fails.csv 2 outcome)" E_NO_CONVERGENCE 'outcome of a replay that fails'
same "$(cell fails.csv 3 outcome)" ok 'outcome of the next'
says out 'points that failed: 1; point 1: log.csv: '
says out 'iteration'
run 0 sweep sensors-2.yaml log.csv --vary 'machine.integrator.max_iterations=1, 30' --journal j --output again.csv
says out 'work: 0 replays'
cmp -s fails.csv again.csv || fail 'the journal gives another table'

wrong() {
  run 1 sweep sensors-2.yaml log.csv --output x.csv --vary "$1"
  says err "$2"
}
wrong 'volumes.v1.niose=1' "did you mean 'noise'?"
wrong 'machine.hydraulics.cylinders.lift.friction.culomb=1' "did you mean 'coulomb'?"
wrong 'volumes.v1.noise' 'is not of the form NAME=VALUES'
wrong 'volumes.v1.noise=1 .. 2' 'a range needs a number of values'
wrong 'volumes.v1.noise=2 .. 1: 3' 'the range is inverted'
wrong 'volumes.v1.noise=-1 .. 1: 3 log' 'a logarithmic range must be positive'
wrong 'volumes.v1.noise=1 .. 2: 3 lgo' 'is not understood behind the range'
wrong 'volumes.v1.noise=1 m .. 2 m: 3' 'a noise density of pressure is expected'
wrong 'volumes.v1.noise=1,,2' 'is no value'
wrong 'filter.transition=1 .. 2: 3' 'is no number'
run 1 sweep sensors-2.yaml log.csv --output x.csv --vary 'volumes.v1.noise=1' --vary 'volumes.v1.noise=2'
says err '--vary: volumes.v1.noise: this value is given twice'
run 1 sweep sensors-2.yaml log.csv --output x.csv --vary 'volumes.v1.noise=much'
says out "points that failed: 1; point 1: log.csv: volumes.v1.noise: 'much' is not a number with a unit"
run 1 sweep sensors-2.yaml log.csv --output x.csv --latin 3
says err "give it a section 'tune'"
run 2 sweep sensors-2.yaml log.csv --output x.csv
says err 'nothing varies'
run 1 sweep sensors-2.yaml log.csv --output log.csv --vary 'volumes.v1.noise=1'
run 1 sweep sensors-2.yaml log.csv --output four-bar.yaml --vary 'volumes.v1.noise=1'
says err 'four-bar.yaml: this file has another part in the same run'
run 1 sweep sensors-2.yaml log.csv --truth truth.csv --output truth.csv --vary 'volumes.v1.noise=1'
says err 'truth.csv: this file has another part in the same run'
