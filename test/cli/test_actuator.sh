#!/bin/sh
# Recordings of a real rotary actuator: the excerpt in the tree is always there, the others in ../shared/data if it is.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"

here=$source_root/datasets/rotary-actuator
recordings=$source_root/../shared/data/rotary-actuator

# mean FILE FROM TO COLUMN: of the rows with FROM <= t < TO.
mean() {
  awk -F, -v from="$2" -v to="$3" -v column="$4" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) c = i }
    NR > 1 && $1 >= from && $1 < to { sum += $c; n++ } END { printf "%.6f", sum / n }' "$1"
}

# stroke STUDY STOP UPPER FILE: while the shaft moves the command is found near its end, and the supply pressure where the
# pressure will stand after the stop, although neither was recorded.
stroke() {
  name=$(basename "$4" .tsv)
  "$here/to-csv.sh" "$2" "$3" "$4" >log.csv
  run 0 replay "$here/$1.yaml" log.csv --output estimate.csv
  says out 'What unknown commands cost'
  port=$((2 - $3))
  wanted=$(mean log.csv 0.8 1.1 "port_$port.pressure[bar]")
  found=$(mean estimate.csv 0.15 0.36 'supply[Pa]')
  near "$(awk -v p="$found" 'BEGIN { print p / 1e5 }')" "$wanted" 3 "$name: supply [bar]"
  near "$(mean estimate.csv 0.15 0.36 'valve.command[V]')" "$(($3 * 20 - 10))" 1 "$name: command [V]"
  near "$(mean estimate.csv 2 3 'zero[rad]')" 0 0.01 "$name: zero of the encoder [rad]"
  near "$(mean estimate.csv 0.15 0.36 angle.nis)" 1.5 1 "$name: NIS of the angle"
}

run 0 check "$here/rotary-actuator.yaml"
stroke act1 7363.5 0 "$here/act1-base-3.tsv"
run 0 check "$here/act1.yaml" log.csv
says out 'all rows are on the grid of steps'
says out '2940 rows from 0.06 s to 2.999 s'

# The stroke predicted from its state at 60 ms and its supply pressure; two other strokes told the rest. It comes to the stop
# within 15 ms of the recorded time.
run 0 simulate "$here/rotary-actuator.yaml" --duration 0.95 --output predicted.csv \
  --set 'joints.shaft.initial=85.15 deg' --set 'joints.shaft.rate=-3.59 rad/s' --set 'hydraulics.valves.valve.spool=-10 V' \
  --set 'hydraulics.volumes.port_1.pressure=68.7 bar' --set 'hydraulics.volumes.port_2.pressure=77.4 bar' \
  --set 'hydraulics.supplies.pump.pressure=124.5 bar'
stop() { # FILE COLUMN FACTOR SHIFT: when it is within 0.3 deg of where it stays
  awk -F, -v column="$2" -v factor="$3" -v shift="$4" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) c = i }
    NR > 1 && $c * factor < 0.3 { printf "%.4f", $1 + shift; exit }' "$1"
}
near "$(stop predicted.csv 'shaft.angle[rad]' 57.29578 0.06)" "$(stop log.csv 'shaft.angle[deg]' 1 0)" 0.015 'time of the stop'
for port in 1 2; do
  near "$(mean predicted.csv 0.09 0.3 "port_$port.pressure[Pa]")" \
    "$(mean log.csv 0.15 0.36 "port_$port.pressure[bar]" | awk '{ print $1 * 1e5 }')" 2e5 "predicted pressure of port $port"
done

code=0
"$here/to-csv.sh" 7363 0 >out 2>err || code=$?
same "$code" 2 'exit code without a file'
code=0
sed '1s/PG_1/PG1/' "$here/act1-base-3.tsv" >wrong.tsv
"$here/to-csv.sh" 7363 0 wrong.tsv >out 2>err || code=$?
same "$code" 1 'exit code without a column'
grep -q 'wrong.tsv: no columns' err || fail 'message of a missing column'

[ -z "${BRAMAH_WRAP:-}" ] || exit 0 # under valgrind this is enough
[ -d "$recordings" ] || {
  echo "skipped: the other strokes, $recordings is not there"
  exit 0
}
for n in 1 2 3 4; do
  stroke act1 7363.5 0 "$recordings/act1-base-$n.tsv"
  stroke act2 5586.5 0 "$recordings/act2-base-$n.tsv"
done
stroke act3 4628 0 "$recordings/act3-gear-1.tsv"
stroke act3 8949.5 1 "$recordings/act3-gear-2.tsv"
stroke act3 8949.5 1 "$recordings/act3-gear-3.tsv"
stroke act3 4628 0 "$recordings/act3-gear-4.tsv"
stroke act4 6625.5 1 "$recordings/act4-leak-1.tsv"
stroke act4 3804.5 0 "$recordings/act4-leak-2.tsv"
stroke act4 8691 1 "$recordings/act4-leak-3.tsv"
stroke act4 7030.5 1 "$recordings/act4-leak-4.tsv"

# The fit finds what stands in the study of actuator 3.
if command -v python3 >/dev/null; then
  nice python3 "$here/identify.py" "$recordings" --bramah "$program" --only act3 >fit || fail 'identify.py'
  for line in pump_a:16.79:0.1 b_tank:13.86:0.1 pump_b:15.61:0.1 a_tank:13.56:0.1 coulomb:41.8:2; do
    rest=${line#*:}
    near "$(awk -v n="${line%%:*}" '$1 == n { print $2 }' fit)" "${rest%:*}" "${rest#*:}" "identified ${line%%:*}"
  done
else
  echo 'skipped: identify.py, there is no python3'
fi
