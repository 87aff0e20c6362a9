#!/bin/sh
# The estimates of every dataset against those kept here at 10 Hz: a change of behaviour shows as a difference to be looked at.
# What is kept: independent coordinates, their rates, pressures and augmented states, with their standard deviations, to seven
# digits. Tolerated: the fraction below of the largest magnitude of each column, for rounding and compilers.
#
# usage: BRAMAH_PROGRAM=... BRAMAH_SOURCE_ROOT=... sh test/golden/run.sh [--write]
#   --write   keep the estimates of this program instead ('sh test/run.sh --golden'); then look at 'git diff test/golden' and say
#             in the commit why they changed
set -eu
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"
tolerance=1e-5
kept=$source_root/test/golden
datasets=$source_root/datasets
write=
case ${1:-} in
'') ;;
--write) write=1 ;;
*)
  echo "unknown option '$1'; there is --write" >&2
  exit 2
  ;;
esac
differences=0

# keep FILE PATTERN: the time and the columns whose name fits, to seven digits.
keep() {
  awk -F, -v OFS=, -v pattern="$2" 'NR == 1 {
      for (i = 1; i <= NF; i++) { name = $i; sub(/\[.*/, "", name); if (i == 1 || name ~ pattern) c[++n] = i }
      for (k = 1; k <= n; k++) printf "%s%s", $c[k], k < n ? "," : "\n"
      next
    }
    { for (k = 1; k <= n; k++) printf "%s%s", $c[k] == "" ? "" : sprintf("%.7g", $c[k]), k < n ? "," : "\n" }' "$1"
}

# golden NAME STUDY LOG PATTERN [FROM]: replay, and compare what the pattern fits with what is kept.
golden() {
  "$program" replay "$2" "$3" --output "$1.csv" --every 100 --from "${5:-0}" >out 2>err || [ $? -eq 3 ] ||
    fail "$1: the replay fails"
  if [ -n "$write" ]; then
    keep "$1.csv" "^($4)(\\.sigma)?\$" >"$kept/$1.csv"
    echo "written: test/golden/$1.csv"
    return
  fi
  code=0
  "$program" compare "$kept/$1.csv" "$1.csv" --all --relative "$tolerance" >out 2>err || code=$?
  [ "$code" -ne 0 ] || return 0
  echo "$1: the estimates are not those of test/golden/$1.csv (exit code $code)"
  grep -v '^  columns of B alone' out
  cat err
  differences=$((differences + 1))
}

# by_papers FOLDER/STUDY TRANSITION [SCRIPT]: that study with the filter of the papers, as papers.yaml, edited by a script of sed (it wants more
# process noise than the default); its numbers are of arithmetic alone.
by_papers() {
  sed -e "s|^machine: |&$datasets/${1%/*}/|" -e "${3:-}" "$datasets/$1" >papers.yaml
  echo "filter: {preset: papers, transition: $2}" >>papers.yaml
}

# simulated NAME FOLDER MACHINE STUDY PATTERN OPTION...: the same with a log made here, of as many seconds as $duration says.
simulated() {
  name=$1 study=$datasets/$2/$4 pattern=$5
  [ "$4" != papers.yaml ] || study=papers.yaml
  set -- "$datasets/$2/$3" "$@"
  machine=$1
  shift 6
  "$program" simulate "$machine" --duration "$duration" --output truth.csv --noise "$study" --seed 1 --log log.csv "$@" >out 2>err ||
    fail "$name: no log"
  golden "$name" "$study" log.csv "$pattern"
}

four_bar='crank\.(angle|rate)|v[123]\.pressure'
for set in 1 2 3 4; do
  golden four-bar-$set "$datasets/four-bar/sensors-$set.yaml" "$datasets/four-bar/log.csv" "$four_bar"
done
by_papers four-bar/sensors-2.yaml paper
golden four-bar-2-papers papers.yaml "$datasets/four-bar/log.csv" "$four_bar"
by_papers four-bar/raw.yaml step
golden four-bar-raw-papers papers.yaml "$datasets/four-bar/log.csv" "$four_bar"
golden four-bar-raw "$datasets/four-bar/raw.yaml" "$datasets/four-bar/log.csv" "$four_bar"
golden rotary-actuator "$datasets/rotary-actuator/act1.yaml" "$datasets/rotary-actuator/act1-base-3.tsv" \
  'shaft\.(angle|rate)|port_[12]\.pressure' 0.06
crane='(boom|jib)\.(angle|rate)|.*\.pressure'
lifting='boom\.(angle|rate)|v[123]\.pressure'
manipulator='(boom|arm)\.(angle|rate)|telescope\.(position|rate)|.*\.pressure|.*\.payload'
duration=3
simulated manipulator manipulator manipulator.yaml encoders.yaml "$manipulator" --parameter 'load.payload=40 kg'
simulated manipulator-imus manipulator manipulator.yaml imus.yaml "$manipulator" --parameter 'load.payload=40 kg'
duration=5
simulated crane crane crane.yaml gripper-load.yaml "$crane"
simulated metered-crane metered-crane ../crane/crane.yaml encoders.yaml '(boom|jib)\.(angle|rate)|.*\.load_pressure'
simulated lifting-four-bar lifting-four-bar lifting-four-bar.yaml sensors.yaml "$lifting"
simulated quick-return quick-return quick-return.yaml sensors.yaml "$four_bar"
simulated linearization-four-bar linearization-four-bar linearization-four-bar.yaml unknown-torque.yaml "$four_bar|torque" \
  --parameter crank.load=250@1 --parameter crank.load=0@4
duration=10
by_papers crane/gripper-load.yaml paper 's/noise: 0.5 bar/noise: 15 bar/; s/noise: 0.003 /noise: 0.06 /; s/noise: 0.006 /noise: 0.12 /'
simulated crane-papers crane crane.yaml papers.yaml "$crane"
by_papers lifting-four-bar/sensors.yaml step 's/noise: 1 bar/noise: 3 bar/; s/noise: 0.002 /noise: 0.01 /'
simulated lifting-four-bar-papers lifting-four-bar lifting-four-bar.yaml papers.yaml "$lifting"

[ "$differences" -eq 0 ] || {
  echo "FAILED: $differences datasets behave otherwise. If that is meant: sh test/run.sh --golden, and say why in the commit." >&2
  exit 1
}
