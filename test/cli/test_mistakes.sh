#!/bin/sh
# What people do wrong with machines, studies, logs and the command line (mistakes.txt): each is told at its place, with the
# thing and a remedy in one message; at most 2 are silent, and none is called right by a replay.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"
datasets=$source_root/datasets

# base NAME MACHINE STUDY: a folder with machine.yaml, study.yaml, log.csv and truth.csv, the log of 2 s.
base() {
  mkdir "$1"
  cp "$datasets/$2" "$1/machine.yaml"
  sed 's/^machine:.*/machine: machine.yaml/' "$datasets/$3" >"$1/study.yaml"
  [ "$1" != rotary ] || return 0
  run 0 simulate "$1/machine.yaml" --duration 2 --output "$1/truth.csv" --noise "$1/study.yaml" --seed 1 --log "$1/log.csv"
}
base four four-bar/four-bar.yaml four-bar/sensors-2.yaml
base raw four-bar/four-bar.yaml four-bar/raw.yaml
base lifting lifting-four-bar/lifting-four-bar.yaml lifting-four-bar/sensors.yaml
base crane crane/crane.yaml crane/gripper-load.yaml
base rotary rotary-actuator/rotary-actuator.yaml rotary-actuator/act1.yaml
cp "$datasets/rotary-actuator/act1-base-3.tsv" rotary/log.csv

# Edits; each must change something.
edit() {
  ! cmp -s "$1" edited || fail "$name: nothing was changed"
  mv edited "$1"
}
machine() {
  sed "$1" machine.yaml >edited
  edit machine.yaml
}
study() {
  sed "$1" study.yaml >edited
  edit study.yaml
}
log() {
  awk -F, -v OFS=, -v CONVFMT=%.10g "$1 { print }" log.csv >edited
  edit log.csv
}
call() {
  arguments=$1
}

awk -F' [|] ' -v OFS='\037' '!/^#/ && NF { $1 = $1; print }' "$source_root/test/cli/mistakes.txt" >rows
n=0
silent=0
while IFS=$(printf '\037') read -r name of edit wanted place thing remedy; do
  n=$((n + 1))
  rm -rf row
  cp -R "$of" row
  cd row
  arguments='check study.yaml log.csv'
  eval "$edit"
  code=0
  eval "set -- $arguments"
  "$program" "$@" >"$work/out" 2>"$work/err" </dev/null || code=$?
  [ "$code" -eq "${wanted%\*}" ] || fail "$name: exit code $code, not $wanted"
  if [ "$place" = - ]; then
    silent=$((silent + 1))
  else
    grep -E -e "$place" "$work/err" | grep -E -e "$thing" | grep -q -E -e "$remedy" || fail "$name: not told"
  fi
  # With a star, with --long all: a replay may be broken off, contradicted or doubted, but calls nothing right.
  replayed=
  case $wanted in *\*) replayed=1 ;; 3) replayed=${BRAMAH_SEEDS:-} ;; esac
  case $edit in *'1 us'*) replayed= ;; esac # a million steps
  if [ -n "$replayed" ]; then
    "$program" replay study.yaml log.csv --output e.csv --to 1.5 >"$work/out" 2>"$work/err" </dev/null || :
    ! grep -q '^verdict: no contradiction found in [0-9]* tests$' "$work/out" || fail "$name: called right"
  fi
  cd ..
done <rows
echo "$n mistakes, $silent silent"
[ "$n" -ge 80 ] || fail "only $n mistakes"
[ "$silent" -le 2 ] || fail "$silent mistakes are silent"

# What is certain decides over a verdict that found nothing: summary, exit code, report and JSON agree.
rm -rf row
cp -R four row
cd row
name='mV as V'
log 'NR > 1 { $2 *= 1000 }'
run 3 replay study.yaml log.csv --output e.csv --json j.json --report r.html --to 1.5
says out 'verdict: doubted: log.csv:1:6: valve: 1e+04 V at most where the valve is fully open at 10 V'
grep -q '"verdict": "doubted"' j.json || fail 'verdict in JSON'
grep -q '"exit_code": 3' j.json || fail 'exit code in JSON'
grep -q '"certain": true' j.json || fail 'doubts in JSON'
! grep -q 'no contradiction found' r.html || fail 'verdict in the report'
