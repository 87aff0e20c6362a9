#!/bin/sh
# A terminal and a signal: colours and progress on a terminal only, every command ends in order with the same exit codes.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"

log=$source_root/datasets/four-bar/log.csv
escape=$(printf '\033')

# ---- a terminal ----

# on_terminal ARGUMENT...: the program on a pseudo-terminal; `terminal` holds what is seen, line by line.
on_terminal() {
  command="bramah $* (on a terminal)"
  script -qec "'$program' $*" /dev/null </dev/null >raw 2>&1 || :
  tr '\r' '\n' <raw >terminal
  cp terminal out
}

if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
  TERM=xterm
  export TERM
  on_terminal replay nothing.yaml "$log" --output e.csv
  says out "${escape}[1;31mbramah:${escape}[0m nothing.yaml"
  on_terminal replay "$study" "$log" --output e.csv --to 1
  grep -q "$escape\[1m" out || fail 'no title is bold'
  grep -Eq "$escape\[1(;31)?mverdict: .*$escape\[0m" out || fail 'the verdict does not stand out'
  for plain in NO_COLOR=1 TERM=dumb; do
    script -qec "env $plain '$program' replay nothing.yaml '$log' --output e.csv" /dev/null </dev/null >out 2>&1 || :
    says out 'bramah: nothing.yaml'
    if grep -q "$escape" out; then fail "colours with $plain"; fi
  done

  # One style: a line that is written over, of 79 characters at most, and taken away.
  cat >plan.yaml <<END
plan: short
machine: $machine
duration: 0.5 s
seeds: 150
signals: {angle: crank.angle}
studies: {set2: $study}
END
  on_terminal study plan.yaml --threads 1
  grep -Eq '^\[#* *\] +[0-9]+ %  [0-9]+ of 150 runs, [0-9]+ s left *$' out || fail 'no progress of a study'
  on_terminal simulate "$machine" --duration 90 --output truth.csv
  grep -Eq '^\[#* *\] +[0-9]+ %  [0-9.]+ s, [0-9.]+ x real time, [0-9]+ s left *$' out || fail 'no progress of a simulation'
  awk 'length > 79 && /^\[/ { exit 1 }' out || fail 'progress is longer than a line'
else
  echo 'left out: what is seen on a terminal, for there is no script(1) or no pseudo-terminal here'
fi

# ---- signals ----

ready_or_over() {
  [ -s "$ready" ] || ! kill -0 "$stopped" 2>/dev/null
}

# stop SIGNAL CODE ARGUMENT...: the program, stopped once $ready is there.
stop() {
  name=$1 wanted=$2
  shift 2
  command="bramah $* (SIG$name)"
  rm -f "$ready"
  env --default-signal="$name" "$program" "$@" >out 2>err &
  stopped=$!
  wait_for ready_or_over
  kill -s "$name" "$stopped"
  code=0
  wait "$stopped" || code=$?
  same "$code" "$wanted" "$command: exit code"
  says err "stopped by SIG$name"
  same "$(grep -c . err)" 1 "$command: lines on standard error"
}
ready=truth.csv
stop INT 130 simulate "$machine" --duration 100000 --output truth.csv
says err 'the rows up to there are complete'
awk -F, 'NR == 1 { n = NF } NF != n { exit 1 }' truth.csv || fail 'a row of a simulation is cut'
[ "$(tail -c 1 truth.csv | wc -l)" -eq 1 ] || fail 'the last row of a simulation is cut'
stop TERM 143 simulate "$machine" --duration 100000 --output truth.csv

# What is not finished and of no use is taken away.
ready=curves.csv
responses=$(awk 'BEGIN { for (i = 0; i < 4000; i++) print "--response valve:crank.angle" }')
# shellcheck disable=SC2086
stop TERM 143 modes "$machine" --at rest $responses --curves curves.csv
says err 'curves.csv was not finished and is taken away'
[ ! -e curves.csv ] || fail 'half a file of curves is left'

# A sweep keeps its rows, which come by the chunk.
head -n 201 "$log" >short.csv
ready=sweep.csv
stop HUP 129 sweep "$study" short.csv --threads 1 --output sweep.csv --vary 'joints.crank.position_sigma=1 deg .. 3 deg: 9000'

# Commands that write at their end, or nothing: one that waits for a pipe, so that it is there when the signal comes.
for signal in INT:130 TERM:143 HUP:129; do
  for one in compare study check; do
    case $one in
      compare) set -- compare pipe "$log" --json j.json ;;
      study) set -- study pipe --output s.csv ;;
      check) set -- check pipe ;;
    esac
    rm -f pipe
    mkfifo pipe
    command="bramah $* (SIG${signal%:*})"
    env --default-signal="${signal%:*}" "$program" "$@" >out 2>err &
    stopped=$!
    exec 3>pipe # opens once the program has opened it to read
    kill -s "${signal%:*}" "$stopped"
    code=0
    wait "$stopped" || code=$?
    exec 3>&-
    same "$code" "${signal#*:}" "$command: exit code"
    same "$(cat err)" "bramah: stopped by SIG${signal%:*}" "$command: what is said"
  done
done
[ ! -e j.json ] && [ ! -e s.csv ] || fail 'something was written'
