#!/bin/sh
# Part of a log (--from, --to), and going on from a snapshot: the same bytes as a run that was not interrupted.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"
make_log 0.6

# joined: the estimates before and after the snapshot as one file.
joined() {
  cat before.csv
  tail -n +2 after.csv
}
# numbers OUT: the summary without what is told of files and of the clock.
numbers() {
  sed -e '/^log: /d' -e '/^speed: /d' -e '/^gone on /d' -e '/^rows of the log that were used/d' -e '/^estimates: /d' \
    -e '/^snapshot: /d' -e '/^report: /d' "$1"
}

# replayed ARGUMENT...: whether the filter is consistent does not matter here.
replayed() {
  command="bramah replay $*"
  code=0
  # shellcheck disable=SC2086
  ${BRAMAH_WRAP:-} "$program" replay "$@" >out 2>err || code=$?
  [ "$code" -eq 0 ] || [ "$code" -eq 3 ] || fail "$command: exit code $code"
}

# ---- window ----

run 0 replay "$study" log.csv --output whole.csv
run 0 replay "$study" log.csv --output part.csv --to 0.3
head -n 302 whole.csv | cmp - part.csv || fail '--to changes what comes before it'
says out 'rows: 302 from the log, 301 estimates' # one row beyond the end was looked at
run 0 replay "$study" log.csv --output part.csv --to '300.4 ms'
head -n 302 whole.csv | cmp - part.csv || fail '--to between two steps'
run 0 replay "$study" log.csv --output part.csv --from 0.2 --to 0.3
same "$(lines part.csv)" 102 'lines of the window'
same "$(cell part.csv 2 't[s]')" 0.2 'first time of the window'
same "$(cell part.csv 102 't[s]')" 0.3 'last time of the window'
says out 'rows before --from, not used: 200'
# Where the log is cut by hand, the same comes out.
awk -F, 'NR == 1 || $1 >= 0.2' log.csv >cut.csv
run 0 replay "$study" cut.csv --output cut-part.csv --to 0.3
cmp part.csv cut-part.csv || fail 'a window is not what a cut log gives'
# A command that was given before the window is in force in it. (A command the machine never got: exit code 3.)
awk -F, -v OFS=, 'NR > 2 && $1 != 0.15 { $2 = "" } $1 == 0.15 { $2 = 4 } { print }' log.csv >sparse.csv
awk -F, -v OFS=, '$1 == 0.2 { $2 = 4 } { print }' cut.csv | awk -F, -v OFS=, 'NR > 2 { $2 = "" } { print }' >sparse-cut.csv
run 3 replay "$study" sparse.csv --output part.csv --from 0.2
run 3 replay "$study" sparse-cut.csv --output cut-part.csv
cmp part.csv cut-part.csv || fail 'the command from before the window is lost'

run 1 replay "$study" log.csv --output part.csv --from 2
says err 'no row lies in the window: the log ends at 0.6 s, before its begin 2 s'
run 1 replay "$study" cut.csv --output part.csv --to 0.1
says err 'the first row from its begin on is at 0.2 s, after its end 0.1 s'
run 2 replay "$study" log.csv --output part.csv --from 2 --to 1
says err '--from 2 lies behind --to 1'
run 2 replay "$study" log.csv --output part.csv --from soon
run 2 replay "$study" log.csv --output part.csv --to '1 bar'

# ---- snapshots ----

run 0 replay "$study" log.csv --output whole.csv --truth truth.csv
numbers out >whole.txt
for at in 0.25 0.4004; do
  run 0 replay "$study" log.csv --output before.csv --truth truth.csv --to "$at" --snapshot run.snapshot
  says out 'snapshot: run.snapshot'
  run 0 replay "$study" log.csv --output after.csv --truth truth.csv --resume run.snapshot
  joined | cmp - whole.csv || fail "going on from $at changes the estimates"
  numbers out | cmp - whole.txt || fail "going on from $at changes the summary"
done
says out 'gone on from run.snapshot: 401 estimates before it, 200 after'
# The log as it grew, and only its rest, from standard input; a snapshot over the one gone on from.
head -n 301 log.csv >half.csv
awk -F, 'NR == 1 || $1 >= 0.3' log.csv >rest.csv
run 0 replay "$study" half.csv --output before.csv --snapshot run.snapshot
same "$(lines before.csv)" 301 'the estimates of half the log'
run 0 replay "$study" - --output after.csv --resume run.snapshot --snapshot run.snapshot <rest.csv
joined | cmp - whole.csv || fail 'going on with the rest changes the estimates'
run 0 replay "$study" log.csv --output nothing.csv --resume run.snapshot --snapshot again.snapshot
same "$(lines nothing.csv)" 1 'nothing is left, only the header'

# With delays, on their way at the end of the first half; noise that adapts; augmented states; rows beside the grid.
folder=$source_root/datasets/four-bar
awk -F, -v OFS=, -v OFMT=%.9g -v CONVFMT=%.9g 'NR > 1 { $1 += 0.0002 * (NR % 3 - 1) } { print }' log.csv |
  awk -F, -v OFS=, 'NR > 1 && NR % 5 == 0 { $4 = "" } { print }' >jitter.csv
sed -e "s|^machine: |machine: $folder/|" "$study" >plain.yaml
sed -e '/crank_encoder: /s/}/, delay: 30 ms}/' -e '/crank_gyro: /s/}/, delay: 7 ms}/' plain.yaml >late.yaml
{
  sed -e '/^filter:/,$d' plain.yaml
  echo 'filter: {preset: papers, transition: step, gate: 6, drift_gate: 5}'
  echo 'augmented: {load: {parameter: crank.load, sigma: 100 N*m, noise: 1 N*m/s^0.5}}'
  echo 'adapt: {accelerations: [0.005, 2], window: 100}'
} >rich.yaml
for one in plain late rich; do
  replayed $one.yaml jitter.csv --output whole.csv --truth truth.csv
  numbers out >whole.txt
  for at in 0.0997 0.45; do
    replayed $one.yaml jitter.csv --output before.csv --truth truth.csv --to "$at" --snapshot run.snapshot
    replayed $one.yaml jitter.csv --output after.csv --truth truth.csv --resume run.snapshot
    joined | cmp - whole.csv || fail "$one: going on from $at changes the estimates"
    numbers out | cmp - whole.txt || fail "$one: going on from $at changes the summary"
  done
  # The log ends on a grid point and then goes on.
  awk -F, 'NR == 1 || $1 <= 0.3001' jitter.csv >half.csv
  replayed $one.yaml half.csv --output before.csv --truth truth.csv --snapshot run.snapshot
  # Looked at again before it has grown.
  replayed $one.yaml half.csv --output nothing.csv --truth truth.csv --resume run.snapshot --snapshot run.snapshot
  replayed $one.yaml jitter.csv --output after.csv --truth truth.csv --resume run.snapshot
  joined | cmp - whole.csv || fail "$one: the log that grew changes the estimates"
  numbers out | cmp - whole.txt || fail "$one: the log that grew changes the summary"
done

# ---- snapshots that do not fit ----

run 0 replay plain.yaml log.csv --output before.csv --to 0.3 --snapshot run.snapshot
run 1 replay late.yaml log.csv --output after.csv --resume run.snapshot
says err 'run.snapshot: the snapshot was written with study plain.yaml, which is not what late.yaml says now'
run 1 replay plain.yaml log.csv --output before.csv --resume run.snapshot
says err 'before.csv: this file holds the estimates up to the snapshot and would be overwritten'
same "$(lines before.csv)" 302 'the estimates up to the snapshot are kept'
run 1 replay plain.yaml log.csv --output run.snapshot --resume run.snapshot
says err 'run.snapshot: this file has another part in the same run and would be overwritten'
run 1 replay plain.yaml log.csv --output after.csv --json run.snapshot --resume run.snapshot
says err 'run.snapshot: this file has another part in the same run and would be overwritten'
run 0 replay plain.yaml log.csv --output after.csv --resume run.snapshot
run 1 replay plain.yaml log.csv --output after.csv --resume log.csv
says err 'log.csv: this is no snapshot of bramah replay'
# Of another version, as which it is sealed.
python3 - <<'END' || fail 'the version is not where it was'
import struct
bytes_ = bytearray(open("run.snapshot", "rb").read())
at = bytes_.index(b"identity") + 32
assert 0x30 <= bytes_[at] <= 0x39
bytes_[at] = 0x39
check = 14695981039346656037
for byte in bytes_[:-8]: check = ((check ^ byte) * 1099511628211) % 2**64
bytes_[-8:] = struct.pack("=Q", check)
open("other.snapshot", "wb").write(bytes_)
END
run 1 replay plain.yaml log.csv --output after.csv --resume other.snapshot
says err 'other.snapshot: the snapshot was written by bramah 9'
run 1 replay plain.yaml log.csv --output after.csv --resume /dev/zero
says err '/dev/zero: this is no snapshot of bramah replay'
run 1 replay plain.yaml log.csv --output after.csv --resume missing.snapshot
says err 'missing.snapshot: cannot open the snapshot'
head -c 5000 run.snapshot >short.snapshot
run 1 replay plain.yaml log.csv --output after.csv --resume short.snapshot
says err 'short.snapshot: the snapshot has 5000 bytes, but says it has'
{ head -c 5000 run.snapshot; printf 'x'; tail -c +5002 run.snapshot; } >damaged.snapshot
run 1 replay plain.yaml log.csv --output after.csv --resume damaged.snapshot
says err 'damaged.snapshot: the snapshot is damaged: its check sum is wrong'
run 1 replay plain.yaml log.csv --output after.csv --snapshot plain.yaml
run 1 replay plain.yaml log.csv --output after.csv --snapshot missing/run.snapshot
says err 'missing/run.snapshot: cannot be written'
# No link is followed and no device replaced; nothing is left of what was begun.
ln -s elsewhere link.snapshot
ln -s log.csv to-log.snapshot
for there in link.snapshot to-log.snapshot /dev/null; do
  run 1 replay plain.yaml log.csv --output after.csv --to 0.1 --snapshot $there
done
says err '/dev/null: is a link, a folder or a device, which no file is to take the place of'
[ ! -e elsewhere ] && [ -c /dev/null ] && [ -L link.snapshot ] || fail 'a link was followed, or replaced'
ls | grep -E 'snapshot\.[0-9a-f]+$' && fail 'an unfinished snapshot was left'
run 2 replay plain.yaml log.csv --output after.csv --snapshot -
run 2 replay plain.yaml log.csv --output after.csv --snapshot-every 1
says err '--snapshot-every needs --snapshot FILE'
run 2 replay plain.yaml log.csv --output after.csv --resume run.snapshot --from 0.1
run 2 replay plain.yaml log.csv --output after.csv --resume run.snapshot --smooth smooth.csv

# ---- progress ----

# On a terminal only: how far, how fast, and how long it will take.
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
  script -qec "'$program' replay late.yaml '$source_root/datasets/four-bar/log.csv' --output after.csv --to 2" /dev/null \
    </dev/null >terminal 2>&1 || [ $? -eq 3 ] || fail 'a replay on a terminal'
  tr '\r' '\n' <terminal | grep -Eq '^\[#+ *\] +[0-9]+ % +[0-9.]+ s, [0-9.]+ x real time, [0-9]+ s left *$' || {
    cp terminal out
    fail 'no progress on a terminal'
  }
else
  echo 'left out: what a replay says on a terminal, for there is no script(1) or no pseudo-terminal here'
fi

# ---- a run that dies, and one that is stopped ----

# A bad row: what was kept on the way leads on once it is mended; the file of estimates reaches at least that far.
awk -F, -v OFS=, 'NR == 502 { $3 = "?" } { print }' log.csv >bad.csv
run 0 replay plain.yaml log.csv --output whole.csv
run 1 replay plain.yaml bad.csv --output before.csv --snapshot run.snapshot --snapshot-every 0.2
says err 'bad.csv:502'
run 0 replay plain.yaml log.csv --output after.csv --resume run.snapshot
says out 'gone on from run.snapshot: 401 estimates before it, 200 after'
mv before.csv longer.csv
head -n 402 longer.csv >before.csv
joined | cmp - whole.csv || fail 'going on from a snapshot on the way'

# stopped SIGNAL CODE ROWS: a run that waits for more than so many rows of the log is stopped. Files are whole, the snapshot leads
# on, and what comes out is that of a run without interruption.
stopped() {
  command="bramah replay (stopped by SIG$1 after $3 rows)"
  rm -f pipe before.csv
  mkfifo pipe
  # A shell has the interrupt ignored in what it starts in the background.
  env --default-signal="$1" "$program" replay plain.yaml - --output before.csv --snapshot run.snapshot --json run.json \
    <pipe >out 2>err &
  replaying=$!
  { head -n $(($3 + 1)) log.csv; exec sleep 3600; } >pipe &
  feeding=$!
  wait_for [ -e before.csv ]
  sleep 0.5
  kill -s "$1" "$replaying"
  code=0
  wait "$replaying" || code=$?
  kill "$feeding" 2>/dev/null || :
  same "$code" "$2" "exit code after SIG$1"
  says err "stopped by SIG$1 after t = "
  says err 'go on with --resume run.snapshot'
  says out 'verdict: '
  grep -q "\"exit_code\": $2" run.json || fail 'the exit code of a run that was stopped'
  run 0 replay plain.yaml log.csv --output after.csv --resume run.snapshot
  joined | cmp - whole.csv || fail "going on after SIG$1 changes the estimates"
}
stopped INT 130 300
stopped TERM 143 301
stopped HUP 129 4

# ---- standard output ----

for other in json smooth report plot-data; do
  run 2 replay plain.yaml log.csv --output - "--$other" -
  says err 'cannot both go to standard output'
  quiet out
done
run 2 replay plain.yaml log.csv --output after.csv --json - --plot-data -
says err '--json and --plot-data cannot both go to standard output'
