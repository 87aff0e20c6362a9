#!/bin/sh
# Help, version, wrong use: exit codes 0 and 2, suggestions.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"

run 0 --version
says out 'bramah '
run 0 --help
for subcommand in check simulate replay serve compare tune sweep study linearize modes cycles compile fmu; do says out "$subcommand"; done
for subcommand in check simulate replay serve compare tune sweep study linearize modes cycles compile; do
  run 0 "$subcommand" --help
  says out "usage: bramah $subcommand"
  says out 'Example:'
  quiet err
  [ "$(wc -l <out)" -le 24 ] || fail "the help of $subcommand is longer than a screen"
done
run 0 replay a b --outptu x --help # help comes before complaints

run 2
says err 'usage: bramah'
quiet out
run 2 simluate
says err "unknown command 'simluate'; did you mean 'simulate'?"
run 2 run study.yaml --from can0
says err "unknown command 'run'; a log is run with 'replay STUDY LOG', live with 'replay STUDY can0 --output -' or udp:PORT for can0"
run 2 replay study.yaml udp:0 --output -
says err "'udp:0' is not udp: and a port from 1 to 65535"
run 2 replay study.yaml udp:9000 log.csv --output -
says err "'udp:9000' goes with no other log"
run 2 replay study.yaml udp:9000 --output - --smooth s.csv
says err "--smooth needs a file: it is read a second time, not 'udp:9000'"
run 2 replay
says err 'an argument is missing: STUDY LOG'
run 2 replay a b
says err "option '--output' is missing"
run 2 simulate a b --output x
says err "'b' is one argument too many"
run 2 replay a b --ouput x
says err "unknown option '--ouput'; did you mean '--output'?"
says err 'usage: bramah replay STUDY LOG... --output FILE'
run 2 replay a b --output=x --tru=y
says err "unknown option '--tru'; did you mean '--truth'?"
run 2 replay a b -o x
says err "unknown option '-o'"
run 2 replay a b --output
says err "option '--output' needs a value"
run 2 replay a b --output --truth t
says err "option '--output' needs a value"
run 2 replay a b --output x --output y
says err 'given twice'
run 2 replay a b --output x --every 0
says err "'0' is not a whole number from 1 on"
run 2 replay a b --output x --every 2x
run 2 check
run 2 study a b --output x
run 2 check --colour a
says err "unknown option '--colour'"
run 2 tune a b --as-it-stands # options of earlier versions
says err "option '--as-it-stands' is '--start-from-study' now"
run 2 simulate m.yaml --output x
says err "option '--duration' is missing"
run 2 simulate m.yaml --output x --duration '1 bar'
says err '--duration: 1 bar is a pressure'
run 2 simulate m.yaml --output x --duration 0
run 2 simulate m.yaml --output x --duration -1
run 2 simulate m.yaml --output x --duration nan
run 2 simulate m.yaml --output x --duration 1 --step 'quick'
run 2 simulate m.yaml --output x --duration 1 --process-noise=yes
says err "option '--process-noise' takes no value"
run 0 simulate --help
says out '  --process-noise  ' # takes no value
says out '--set PATH=VALUE...' # may be repeated
run 2 simulate m.yaml --process-noise --output x --duration 1 --process-noise
says err "option '--process-noise' is given twice"
run 2 simulate --process-noise m.yaml --output x # the operand is not its value
says err "option '--duration' is missing"
run 2 simulate m.yaml --output x --duration 1 --set nothing
says err "'nothing' is not of the form PATH=VALUE"
run 2 simulate m.yaml --output x --duration 1 --noise s.yaml
says err '--noise needs --log'
run 2 simulate m.yaml --output x --duration 1 --log l.csv
says err '--log needs --noise'
run 2 simulate m.yaml --output x --duration 1 --seed 1
says err '--seed means nothing without --noise'
run 2 simulate m.yaml --output x --duration 1 --noise s.yaml --log l.csv --seed -1
says err "'-1' is not a whole number"
[ ! -e x ] || fail 'a file was written in spite of wrong use'
