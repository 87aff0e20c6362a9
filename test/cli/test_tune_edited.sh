#!/bin/sh
# A study that is edited while it is tuned: what counts is what was read at the start, in the result and in the journal. The
# log comes through a named pipe, which is opened after the study was read and is written to after the edit.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"
cp "$source_root"/datasets/four-bar/*.yaml .
cp "$papers"/*.yaml .
head -n 1201 "$source_root/datasets/four-bar/log.csv" >log.csv
cp tuning.yaml start.yaml
cp four-bar.yaml machine.yaml
mkfifo log.fifo

# tune_edited FILE SED ARGUMENT...: FILE is edited between the reading of the study and that of the log.
tune_edited() {
  file=$1 edit=$2
  shift 2
  (exec ${BRAMAH_WRAP:-} "$program" tune tuning.yaml log.fifo --threads 1 --budget 12 "$@") >out 2>err &
  pid=$!
  exec 3>log.fifo
  sed "$edit" "$file" >edited
  cmp -s edited "$file" && fail "nothing was edited in $file"
  cp edited "$file"
  cat log.csv >&3
  exec 3>&-
  wait "$pid" || fail 'tune fails'
}

values() { grep -v '^#' "$1" | grep -vE '# tuned'; }

run 0 tune tuning.yaml log.csv --threads 1 --budget 12 --output right.yaml --evaluations right.csv
tune_edited tuning.yaml 's/transition: step/transition: paper/' --output found.yaml --evaluations found.csv
cmp right.csv found.csv || fail 'the edit changes what is tried'
values right.yaml >a
values found.yaml >b
cmp a b || fail 'the edit changes what is found and written'

# The machine as well.
cp start.yaml tuning.yaml
tune_edited four-bar.yaml 's/mass: 16 kg/mass: 30 kg/' --output found.yaml --evaluations found.csv
cmp right.csv found.csv || fail 'an edit of the machine changes what is tried'
cp machine.yaml four-bar.yaml

# The journal holds what was read: an edit during a run does not reach the runs after it, of the study as it was and as it is.
tune_edited tuning.yaml 's/transition: step/transition: paper/' --journal j
run 0 tune tuning.yaml log.csv --threads 1 --budget 12 --evaluations paper.csv
run 0 tune tuning.yaml log.csv --threads 1 --budget 12 --evaluations found.csv --journal j
cmp paper.csv found.csv || fail 'the journal answers for another study'
cp start.yaml tuning.yaml
run 0 tune tuning.yaml log.csv --threads 1 --budget 12 --evaluations found.csv --journal j
cmp right.csv found.csv || fail 'the journal is poisoned'
says out 'work: 0 replays'

# A file of heights counts as what it holds, not by its name.
printf '0 0\n0 0\n' >field.csv
printf 'terrain: {cells: [2, 2], cell: 1 m, heights: field.csv}\n' >>four-bar.yaml
run 0 tune tuning.yaml log.csv --threads 1 --budget 3 --journal k
run 0 tune tuning.yaml log.csv --threads 1 --budget 3 --journal k
says out 'work: 0 replays'
printf '0 0\n0 0.1\n' >field.csv
run 0 tune tuning.yaml log.csv --threads 1 --budget 3 --journal k
if grep -q 'work: 0 replays' out; then fail 'the journal of another field is used'; fi
