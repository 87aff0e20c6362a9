#!/bin/sh
# Logs that are wrong: exit code 1, file, line and thing, and the estimates up to there stay written.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"
make_log 0.2
run 0 replay "$study" log.csv --output good.csv

# bad NAME ESTIMATES: replay and check the log of that name; so many lines of estimates remain, those of the good log.
bad() {
  rm -f estimate.csv
  run 1 check "$study" "$1"
  cp err err.check
  run 1 replay "$study" "$1" --output estimate.csv --report report.html --truth truth.csv --json summary.json
  says err "bramah: $1:"
  grep -qF "$(tail -n 1 err)" err.check || fail "$1: check and replay say different things"
  [ "$2" -gt 0 ] || return 0
  head -n "$2" good.csv >wanted.csv
  cmp estimate.csv wanted.csv || fail "$1: the estimates before the mistake are not there"
  says out 'mean NIS'
  # Nothing is called right of a run that was broken off, wherever its verdict is read.
  ! grep -q '^verdict: no contradiction' out || fail "$1: a verdict after a mistake"
  grep -q '"verdict": "\(broken off\|contradicted\)"' summary.json || fail "$1: verdict in JSON"
  grep -q '"exit_code": 1' summary.json || fail "$1: exit code in JSON"
  ! grep -q 'no contradiction found' report.html || fail "$1: a verdict in the report"
  grep -qi '</html>' report.html || fail "$1: no report"
}
# edit NAME LINE CELL TEXT: the log with another text in a cell.
edit() {
  awk -F, -v OFS=, -v line="$2" -v c="$3" -v text="$4" 'NR == line { $c = text } { print }' log.csv >"$1"
}

run 1 replay "$study" none.csv --output estimate.csv
says err 'bramah: none.csv: '
edit column.csv 1 5 'p9[Pa]'
bad column.csv 0
says err "p1"
[ ! -e estimate.csv ] || fail 'a file was written without all columns'
edit command.csv 1 2 'U[V]'
bad command.csv 0
says err 'valve.command'
edit time.csv 1 1 'time[s]'
bad time.csv 0
edit unit.csv 1 3 'crank_encoder[bar]'
bad unit.csv 0
says err 'crank_encoder'
edit no_unit.csv 1 3 'crank_encoder'
bad no_unit.csv 0
edit twice.csv 1 4 'crank_encoder[rad]'
bad twice.csv 0

edit text.csv 50 4 'broken'
bad text.csv 49
says err 'bramah: text.csv:50:'
says err "crank_gyro: 'broken' is not a number"
edit nan.csv 60 5 'nan'
bad nan.csv 59
says err 'bramah: nan.csv:60:'
says err "p1: 'nan' is not a finite number"
edit infinite.csv 60 1 'inf'
bad infinite.csv 59
edit back.csv 70 1 0.01
bad back.csv 69
says err 'bramah: back.csv:70: t: time does not go forward'
edit again.csv 70 1 0.067
bad again.csv 69
edit jump.csv 80 1 99
run 1 replay "$study" jump.csv --output estimate.csv
says err 'bramah: jump.csv:80: t: '
edit no_time.csv 90 1 ''
bad no_time.csv 89
says err 'bramah: no_time.csv:90: t: '
awk 'NR == 40 { print $0 ",1" } NR != 40 { print }' log.csv >cells.csv
bad cells.csv 39
says err 'bramah: cells.csv:40: '

: >empty.csv
bad empty.csv 0
head -n 1 log.csv >header.csv
bad header.csv 0
head -n 100 log.csv >cut.csv
sed -n 101p log.csv | cut -c 1-20 | tr -d '\n' >>cut.csv
bad cut.csv 100
says err 'bramah: cut.csv:101: '
says err 'ends in the middle of line 101'

# Mistakes of the truth are told with its name.
edit_truth() {
  awk -F, -v OFS=, -v line="$2" -v c="$3" -v text="$4" 'NR == line { $c = text } { print }' truth.csv >"$1"
}
run 1 replay "$study" log.csv --output estimate.csv --truth none.csv
says err 'bramah: none.csv: '
edit_truth truth_unit.csv 1 2 'crank.angle[bar]'
run 1 replay "$study" log.csv --output estimate.csv --truth truth_unit.csv
says err 'bramah: truth_unit.csv:'
says err 'crank.angle'
edit_truth truth_text.csv 30 2 'x'
run 1 replay "$study" log.csv --output estimate.csv --truth truth_text.csv
says err "bramah: truth_text.csv:30:"
edit_truth truth_back.csv 30 1 0
run 1 replay "$study" log.csv --output estimate.csv --truth truth_back.csv
says err 'bramah: truth_back.csv:30: t: time does not go forward'
