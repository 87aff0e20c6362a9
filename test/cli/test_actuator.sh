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

# replay STUDY LOG: the checks of the filter may fail (exit code 3), the run not.
replay() {
  code=0
  # shellcheck disable=SC2086
  ${BRAMAH_WRAP:-} "$program" replay "$1" "$2" --from 0.06 --output estimate.csv >"$work/out" 2>"$work/err" || code=$?
  command="bramah replay $1 $2"
  case $code in 0 | 3) ;; *) fail "$command: exit code $code" ;; esac
}

# held FILE COLUMN: mean of the raw counts after the stop, from 0.8 s to 1.1 s.
held() {
  awk -F '\t' -v column="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) c = i }
    NR > 801 && NR <= 1101 { sum += $c; n++ } END { printf "%.4f", sum / n }' "$1"
}

# ahead RECORDING FROM TO: from row FROM to row TO, RMS of the innovations of both pressures as a part of what the guess "as the row
# before" is off.
ahead() {
  awk -v from="$2" -v to="$3" 'BEGIN { FS = "\t" }
    FNR == 1 { files++; if (files == 2) FS = ","; $0 = $0; for (i = 1; i <= NF; i++) c[$i] = i; next }
    files == 1 { p1[FNR - 2] = $c["PG_1"]; p2[FNR - 2] = $c["PG_2"]; next }
    { k = int(1000 * $1 + 0.5)
      if (k < from || k >= to) next
      e1 += ($c["p1.innovation[Pa]"] / 2000)^2; e2 += ($c["p2.innovation[Pa]"] / 2000)^2
      q1 += (p1[k] - p1[k - 1])^2; q2 += (p2[k] - p2[k - 1])^2 }
    END { printf "%.3f %.3f", sqrt(e1 / q1), sqrt(e2 / q2) }' "$1" estimate.csv
}

# below LIMIT WHAT A B: neither is above.
below() {
  awk -v limit="$1" -v a="$3" -v b="$4" 'BEGIN { exit !(a + 0 > 0 && a <= limit && b + 0 > 0 && b <= limit) }' ||
    fail "$2: $3 and $4, not below $1"
}

# stroke STUDY UPPER FILE: the next row of both pressures is predicted better than "as before" over the whole stroke, and not much
# worse while the shaft moves steadily, where pressures hardly change. While the shaft moves the command is found near its end, and the supply pressure where the
# pressure will stand after the stop, although neither was recorded. UPPER: 1 if it ends at the upper stop, else 0.
stroke() {
  name=$(basename "$3" .tsv)
  replay "$1" "$3"
  says out 'What unknown commands cost'
  wanted=$(held "$3" "PG_$((2 - $2))" | awk '{ print 1.01325 + 0.02 * $1 }')
  found=$(mean estimate.csv 0.15 0.36 'supply[Pa]')
  near "$(awk -v p="$found" 'BEGIN { print p / 1e5 }')" "$wanted" 3 "$name: supply [bar]"
  near "$(mean estimate.csv 0.15 0.36 'valve.command[V]')" "$(($2 * 20 - 10))" 1 "$name: command [V]"
  near "$(mean estimate.csv 2 3 'zero[rad]')" 0 0.01 "$name: zero of the encoder [rad]"
  near "$(mean estimate.csv 0.15 0.36 angle.nis)" 0.7 0.6 "$name: NIS of the angle"
  # shellcheck disable=SC2046
  below 1 "$name: one row ahead" $(ahead "$3" 61 3000)
  # shellcheck disable=SC2046
  below 1.2 "$name: one row ahead in motion" $(ahead "$3" 100 350)
}

recording=$here/act1-base-3.tsv
run 0 check "$here/rotary-actuator.yaml"
run 0 check "$here/act1.yaml" "$recording"
says out 'all rows are on the grid of steps'
says out '3000 rows from 0 s to 2.999 s'
says out 'p1 = 1.01325 bar + 0.02 bar x PG_1'
stroke "$here/act1.yaml" 0 "$recording"
says out 'rows before --from, not used: 60'

awk -F '\t' 'NR == 1 { print "t[s],angle[deg],port_1[bar],port_2[bar]" }
  NR > 61 { printf "%.3f,%.5f,%.5f,%.5f\n", ($1 - 1) / 1000, $2 * 360 / 16384 - 161.8, 1.01325 + 0.02 * $3, 1.01325 + 0.02 * $4 }' \
  "$recording" >log.csv

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
near "$(stop predicted.csv 'shaft.angle[rad]' 57.29578 0.06)" "$(stop log.csv 'angle[deg]' 1 0)" 0.015 'time of the stop'
for port in 1 2; do
  near "$(mean predicted.csv 0.09 0.3 "port_$port.pressure[Pa]")" \
    "$(mean log.csv 0.15 0.36 "port_${port}[bar]" | awk '{ print $1 * 1e5 }')" 2e5 "predicted pressure of port $port"
done

[ -z "${BRAMAH_WRAP:-}" ] || exit 0 # under valgrind this is enough
[ -d "$recordings" ] || {
  echo "skipped: the other strokes, $recordings is not there"
  exit 0
}
for n in 1 2 3 4; do
  stroke "$here/act1.yaml" 0 "$recordings/act1-base-$n.tsv"
  stroke "$here/act2.yaml" 0 "$recordings/act2-base-$n.tsv"
done
# turned STUDY UPPER: it with the machine from here, and a start in that direction.
turned() { sed "s|machine: |machine: $here/|; s|, rate: -*4 rad/s|, rate: $(($2 * 8 - 4)) rad/s|" "$1"; }
for n in 1:0 2:1 3:1 4:0; do
  turned "$here/act3.yaml" "${n#*:}" >act3.yaml
  stroke act3.yaml "${n#*:}" "$recordings/act3-gear-${n%:*}.tsv"
done
# The encoder of actuator 4 has another zero in each stroke.
for n in 1:1:-50.58 2:0:-83.59 3:1:-95.96 4:1:-59.48; do
  rest=${n#*:}
  turned "$here/act4.yaml" "${rest%:*}" | sed "s|offset: -[0-9.]* deg}|offset: ${rest#*:} deg}|" >act4.yaml
  stroke act4.yaml "${rest%:*}" "$recordings/act4-leak-${n%%:*}.tsv"
done

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
