#!/bin/sh
# A filter at work, as viewers see it; what serve says of typing mistakes.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"

make_log 1
sed "s,^machine: .*,machine: $machine," "$study" >study.yaml

# Mistakes, as long as nothing is served.
run 2 serve study.yaml
says err "option '--from' is missing"
run 1 serve study.yaml --from nothing.csv
says err 'nothing.csv: cannot open'
run 2 serve study.yaml --from simulater
says err "there is no file 'simulater'; did you mean 'simulator'?"
run 2 serve study.yaml --from can0
says err 'candump -L can0 | bramah serve STUDY --from -'
run 2 serve study.yaml --from upd:9000
says err "there is no file 'upd:9000'; did you mean 'udp:'?"
run 1 serve "$machine" --from log.csv
says err "this is no study file: a machine file has 'bodies'"
run 1 serve nothing.yaml --from log.csv
says err 'nothing.yaml'
run 1 serve study.yaml --from log.csv --display nothing.yaml
says err 'nothing.yaml'
run 2 serve study.yaml --from log.csv --port 70000
says err 'ports go up to 65535'
run 2 serve study.yaml --from udp:x
says err "'udp:x' is not udp: and a port"
printf 't[s],x[m]\n0,1\n' >other.csv
run 1 serve study.yaml --from simulator:other.csv
says err "other.csv"
run 2 serve study.yaml --from simulator:
says err 'names no log'
run 2 serve study.yaml --from log.csv --from -
says err 'only files can be several'
run 2 serve study.yaml --from simulator --stay
says err '--stay is for a log from a file'
run 2 serve study.yaml --from log.csv --drive
says err '--drive is for a simulated machine'
run 2 serve study.yaml --from log.csv --log x.csv
says err '--log is for --from simulator'
run 1 serve study.yaml --from simulator --drive
says err 'the display has no levers'
run 2 simulate study.yaml --log udp:0
says err "'udp:0' is not udp: and a port"
run 2 simulate study.yaml --log x.csv --drive
says err '--drive is for a simulation by the clock'
run 2 simulate study.yaml --noise study.yaml --duration 1 --output x.csv
says err 'a study has its sensors'
run 2 serve study.yaml --form log.csv
says err "did you mean '--from'?"

/usr/bin/python3 "$source_root/test/cli/serve.py" study.yaml log.csv || fail 'serve.py'

# A row that is wrong ends it, with what replay says and its exit code.
sed '100s/,[^,]*$/,x/' log.csv >bad.csv
run 1 serve study.yaml --from bad.csv --port 0
says err 'bad.csv:100'
says out 'verdict: none'
