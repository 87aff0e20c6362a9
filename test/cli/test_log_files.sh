#!/bin/sh
# Logs of several devices: folders, files that follow each other, files side by side with clocks and rates of their own.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"
make_log 0.2
run 0 replay "$study" log.csv --output clean.csv

# Every cell within 1e-4 of the largest value of its column: logs have ten digits.
agree() {
  awk -F, 'NR == FNR { for (i = 1; i <= NF; i++) { a[FNR, i] = $i; v = $i < 0 ? -$i : $i + 0
        if (FNR > 1 && v > top[i]) top[i] = v } lines = FNR; next }
    { for (i = 1; i <= NF; i++) { d = a[FNR, i] - $i; if (d < 0) d = -d
        if (FNR == 1 ? a[1, i] != $i : d > 1e-4 * top[i] || (a[FNR, i] == "") != ($i == "")) {
          print "line " FNR ", cell " i ": " a[FNR, i] " is not " $i; bad = 1; exit } } }
    END { if (!bad && FNR != lines) { print lines " lines and " FNR; bad = 1 } exit bad }' "$1" "$2" >difference ||
    fail "$3: $(cat difference)"
}

# A counter in tabs on three files, and a controller 0.5 s ahead whose clock gains 100 ppm, in semicolons and decimal commas.
mkdir run7
for part in 1 2 10; do
  awk -F, -v OFS='\t' -v part=$part 'NR == 1 { print "n", "enc[deg]", "gyro[rad/s]"; next }
    (part == 1 ? NR <= 60 : part == 2 ? NR > 60 && NR <= 140 : NR > 140) {
      printf "%d\t%.17g\t%s\n", 7 + (NR - 2) * 2, $3 / 0.017453292519943295, $4 }' log.csv >run7/imu$part.csv
done
awk -F, 'NR == 1 { print "Zeit[ms];U[V];p1[bar];p2[bar];p3[bar]"; next }
  { s = sprintf("%.7f;%s;%.17g;%.17g;%.17g", ((NR - 2) * 1.0001 + 500), $2, $5 / 1e5, $6 / 1e5, $7 / 1e5)
    gsub(/\./, ",", s); print s }' log.csv >run7/plc.csv
echo 'a good day' >run7/notes.txt
{
  sed -n '/^study/,/^sensors/p' "$study" | sed -e "s|^machine: .*|machine: $machine|" -e '/^sensors/d'
  cat <<'END2'
log:
  files:
    imu: {match: "imu*.csv", delimiter: tab, time: {column: n, rate: 2 kHz, offset: -3.5 ms}}
    plc: {match: plc.csv, time: {column: Zeit, offset: -0.5 s, drift: 100 ppm}}
inputs: {valve: U}
sensors:
  crank_encoder: {type: encoder, joint: crank, sigma: 1 deg, rate: 1 kHz, column: enc, file: imu}
  crank_gyro: {type: gyro, joint: crank, sigma: 9.84e-4 rad/s, rate: 1 kHz, column: gyro}
  p1: {type: pressure, volume: v1, sigma: 0.5 bar, rate: 1 kHz}
  p2: {type: pressure, volume: v2, sigma: 0.5 bar, rate: 1 kHz}
  p3: {type: pressure, volume: v3, sigma: 0.5 bar, rate: 1 kHz}
END2
  sed -n '/^joints/,$p' "$study"
} >devices.yaml
run 0 replay devices.yaml run7 --output estimate.csv --json summary.json
agree clean.csv estimate.csv 'a folder'
says out 'log: run7'
grep -Eq 'imu +files that follow each other +3' out || fail 'the parts are not counted'
grep -Eq 'imu +rows +201' out || fail 'the rows of the first device'
grep -q '"name": "plc"' summary.json || fail 'the JSON does not know the device'
run 0 check devices.yaml run7
says out 'log: run7/imu1.csv, run7/imu2.csv, run7/imu10.csv (log.files.imu)'
says out 'cells between tabs'
says out 'decimal commas'
says out 'n counts samples at 2000 Hz'
says out 'the clock gains 100 ppm'
says out '1 files of the folder are not used'
says out '201 rows from 0 s to 0.2 s'
# The same named one by one, in another order of devices.
run 0 replay devices.yaml run7/plc.csv run7/imu1.csv run7/imu2.csv run7/imu10.csv --output other.csv
cmp estimate.csv other.csv || fail 'the order of devices matters'
# In the wrong order of files: refused.
run 1 replay devices.yaml run7/plc.csv run7/imu2.csv run7/imu1.csv --output other.csv
says err 'bramah: run7/imu1.csv:2: n: time does not go forward: 0 s after'
# A mistake in a later part.
awk 'NR == 9 { $2 = "?" } { print }' OFS='\t' run7/imu2.csv >imu3.csv
run 1 replay devices.yaml run7/plc.csv run7/imu1.csv imu3.csv --output other.csv
says err "bramah: imu3.csv:9:5: enc: '?' is not a number"
# What is missing, or named twice.
run 1 replay devices.yaml run7/plc.csv --output other.csv
says err 'devices.yaml:'
says err 'no file of this log matches log.files.imu'
run 1 replay devices.yaml run7 run7/plc.csv --output other.csv
says err 'run7/plc.csv: this file is named twice'
run 1 replay devices.yaml run7 --output run7/plc.csv
says err 'would be overwritten'
mkdir empty
run 1 replay devices.yaml empty --output other.csv
says err 'no file of this folder matches an entry of log.files'
run 1 replay "$study" empty --output other.csv
says err 'there is no log (*.csv'

# Pressures ten times slower than the rest: as a log with empty cells.
cut -d, -f1-4 log.csv >fast.csv
awk -F, -v OFS=, 'NR == 1 || NR % 10 == 2 { print $1, $5, $6, $7 }' log.csv >slow.csv
awk -F, -v OFS=, 'NR > 1 && NR % 10 != 2 { $5 = $6 = $7 = "" } { print }' log.csv >sparse.csv
run 0 replay "$study" sparse.csv --output wanted.csv
run 0 replay "$study" fast.csv slow.csv --output estimate.csv
cmp wanted.csv estimate.csv || fail 'two rates'
grep -Eq 'slow.csv +rows +21' out || fail 'the slow rows are not counted'
sed "s|^machine: .*|machine: $machine|; s/^  p1: {/&column: pump, /" "$study" >pump.yaml
run 1 replay pump.yaml fast.csv slow.csv --output estimate.csv
says err "the log has no column 'pump'"
says err 'no other file has it either (wanted for sensor p1)'
# With --from the commands and samples before it are passed over in all files.
run 0 replay "$study" sparse.csv --from 0.105 --output wanted.csv
run 0 replay "$study" slow.csv fast.csv --from 0.105 --output estimate.csv
cmp wanted.csv estimate.csv || fail 'two rates with --from'
run 0 replay "$study" fast.csv slow.csv --output estimate.csv --smooth smooth.csv
same "$(lines smooth.csv)" 202 'smoothed estimates of two files'

# What simulate writes for a study the study reads back.
sed -e "s|^machine: .*|machine: $machine|" \
  -e 's/^  crank_encoder: {/&column: Enc, unit: counts, scale: 0.01 deg, offset: 10 deg, sign: -1, /' \
  -e 's/^  crank_gyro: {/&scale: 10 deg\/s\/mA, /' \
  -e 's/^  p1: {/&scale: 50 bar\/V, unit: V, reference: gauge, /' \
  -e 's/^  p2: {/&unit: bar, /' "$study" >mapped.yaml
run 0 simulate "$machine" --duration 0.2 --output truth.csv --noise mapped.yaml --seed 1 --log mapped.csv
same "$(head -n 1 mapped.csv)" 't[s],valve.command[V],Enc,crank_gyro[A],p1[V],p2[bar],p3[Pa]' 'header of the mapped log'
run 0 replay mapped.yaml mapped.csv --output estimate.csv
agree clean.csv estimate.csv 'a mapped log'
run 0 check mapped.yaml mapped.csv
says out 'crank_encoder = 10 deg - 0.01 deg x Enc'
says out 'p1 = 1.01325 bar + 50 bar x p1'
# Two may use one column, each by its unit.
sed 's/^  p3: {/&column: p2, unit: bar, /' mapped.yaml >two.yaml
run 3 check two.yaml mapped.csv
says err 'p3: does not go with the model at v3'
# Units that contradict each other.
sed 's/scale: 50 bar\/V, unit: V/scale: 50 bar\/V, unit: bar/' mapped.yaml >wrong.yaml
run 1 replay wrong.yaml mapped.csv --output other.csv
says err 'wrong.yaml:'
sed 's/unit: bar, /unit: kPa, /' mapped.yaml >wrong.yaml
run 1 replay wrong.yaml mapped.csv --output other.csv
says err "p2: 'unit' says kPa, but the header of the log says p2[bar]"
sed 's/scale: 0.01 deg/scale: 0.01 V/' mapped.yaml >wrong.yaml
run 1 check wrong.yaml mapped.csv
says err 'crank_encoder.scale: '
printf 'time: {unit: ms}\n' | cat mapped.yaml - >wrong.yaml
run 1 simulate "$machine" --duration 0.2 --output truth.csv --noise wrong.yaml --seed 1 --log other.csv
says err 'simulated logs have plain seconds'

# Sensors of 4 to 20 mA and of the trade: two points of the line, psi, degrees; nothing but the units differs.
sed -e "s|^machine: .*|machine: $machine|" \
  -e 's/^  crank_encoder: {/&scale: [[1 V, -180 deg], [9 V, 180 deg]], unit: V, /' \
  -e 's/^  p1: {/&scale: [[4 mA, 0 bar], [20 mA, 400 bar]], reference: gauge, /' \
  -e 's/^  p2: {/&scale: [[4 mA, 100 kgf\/cm^2], [20 mA, 0 bar]], /' \
  -e 's/^  p3: {/&unit: psi, /' "$study" >trade.yaml
run 0 simulate "$machine" --duration 0.2 --output truth.csv --noise trade.yaml --seed 1 --log trade.csv
same "$(head -n 1 trade.csv)" \
  't[s],valve.command[V],crank_encoder[V],crank_gyro[rad/s],p1[mA],p2[mA],p3[psi]' 'header of the log of the trade'
run 0 replay trade.yaml trade.csv --output estimate.csv
agree clean.csv estimate.csv 'a log of the trade'
run 0 check trade.yaml trade.csv
says out 'p1 = -98.98675 bar + 25 bar x p1'
says out 'p2 = 122.583125 bar - 6.12915625 bar x p2'
# A command in % of its full scale.
sed 's/^sensors:/inputs: {valve: {column: stick, scale: [[-100 %, -10 V], [100 %, 10 V]]}}\n&/' trade.yaml >stick.yaml
sed '1s/valve.command\[V\]/stick[%]/' trade.csv | awk -F, -v OFS=, 'NR > 1 { $2 *= 10 } { print }' >stick.csv
run 0 replay stick.yaml stick.csv --output estimate.csv
agree clean.csv estimate.csv 'a command in %'
# 0 mA is no -100 bar.
awk -F, -v OFS=, 'NR == 100 { $5 = 0 } { print }' trade.csv >broken.csv
run 1 replay trade.yaml broken.csv --output other.csv
says err 'broken.csv:100: p1: 0 is no measurement: this loop is alive from 3.6 to 21 (a broken wire?)'
echo 'log: {bad_cells: skip}' | cat trade.yaml - >skip.yaml
run 0 replay skip.yaml broken.csv --output other.csv
says out 'bad cells, taken for empty'
sed 's/\[20 mA, 400 bar\]/[20 mA, 0 bar]/' trade.yaml >wrong.yaml
run 1 check wrong.yaml trade.csv
says err 'p1.scale: two different points are expected'
sed 's/\[20 mA, 400 bar\]/[20 V, 400 bar]/' trade.yaml >wrong.yaml
run 1 check wrong.yaml trade.csv
says err 'p1.scale: 20 V is a voltage, a current is expected'
sed 's/, \[20 mA, 400 bar\]//' trade.yaml >wrong.yaml
run 1 check wrong.yaml trade.csv
says err 'a factor or two points are expected, such as [[4 mA, 0 bar], [20 mA, 400 bar]]'

# Going on from a snapshot: wraps and dates count from the first row, so the rest alone is refused; the whole log is not.
sed -e "s|^machine: .*|machine: $machine|" -e 's/^sensors:/time: {unit: iso8601}\nsensors:/' "$study" >dates.yaml
awk -F, -v OFS=, 'NR == 1 { $1 = "t" } NR > 1 { $1 = sprintf("2024-03-05T12:00:%06.3fZ", $1) } { print }' log.csv >dates.csv
run 0 replay dates.yaml dates.csv --output whole.csv
agree clean.csv whole.csv 'dates'
run 0 replay dates.yaml dates.csv --to 0.1 --output first.csv --snapshot half.snapshot
awk 'NR == 1 || NR > 102' dates.csv >rest.csv
run 1 replay dates.yaml rest.csv --resume half.snapshot --output second.csv
says err 'rest.csv: t: this log does not begin where that of the snapshot began'
run 0 replay dates.yaml dates.csv --resume half.snapshot --output second.csv
sed 1d second.csv | cat first.csv - | cmp - whole.csv || fail 'the estimates after a snapshot'

# What an entry does not say of its clock the log has said: a counter with its rate.
awk -F, -v OFS=, 'NR == 1 { $1 = "n" } NR > 1 { $1 = NR - 2 } { print }' log.csv >counter.csv
for clock in 'unit: counts, rate: 1 kHz' 'rate: 1 kHz'; do
  {
    sed "s|^machine: .*|machine: $machine|" "$study"
    echo "time: {column: n, $clock}"
    echo 'log: {files: {a: {match: counter.csv, time: {offset: 0 s}}}}'
  } >counted.yaml
  run 0 replay counted.yaml counter.csv --output estimate.csv
  agree clean.csv estimate.csv "a log with $clock"
done
# A header in one file of a log without.
{
  sed "s|^machine: .*|machine: $machine|" "$study"
  echo 'log: {header: none, files: {a: {match: log.csv, header: yes}}}'
} >header.yaml
run 0 replay header.yaml log.csv --output estimate.csv
agree clean.csv estimate.csv 'a header of its own'

# `origin: first` of the log is the first row of all its files, so that they keep their distance; of a file it is its own.
awk -F, -v OFS=, 'NR > 1 { $1 = sprintf("%.3f", $1 + 10) } { print }' fast.csv >late-fast.csv
awk -F, -v OFS=, 'NR == 1 || NR > 12' slow.csv >later.csv
awk -F, -v OFS=, 'NR > 1 { $1 = sprintf("%.3f", $1 + 10) } { print }' later.csv >late-slow.csv
run 0 replay "$study" fast.csv later.csv --output wanted.csv
for log in '' 'log: {files: {slow: {match: "*slow.csv", time: {offset: 0 s}}}}'; do
  {
    sed "s|^machine: .*|machine: $machine|" "$study"
    echo 'time: {origin: first}'
    echo "$log"
  } >first.yaml
  run 0 replay first.yaml late-slow.csv late-fast.csv --output estimate.csv
  cmp wanted.csv estimate.csv || fail "the first row of all files $log"
done
sed 's/offset: 0 s/origin: first, offset: 110 ms/' first.yaml >own.yaml
run 0 replay own.yaml late-slow.csv late-fast.csv --output estimate.csv
cmp wanted.csv estimate.csv || fail 'the first row of a file'

# A wrap is undone by the shorter way round, over a gap of nearly half of it too, and in both directions.
awk -F, -v OFS=, 'NR == 1 || NR <= 102 || NR >= 162 { print }' log.csv >gap.csv
awk -F, -v OFS=, 'NR == 1 { $1 = "n" } NR > 1 { $1 = int(1000 * $1 + 0.5) % 128 } { print }' gap.csv >wrapped.csv
{
  sed "s|^machine: .*|machine: $machine|" "$study"
  echo 'time: {column: n, rate: 1 kHz, wrap: 128}'
} >wrap.yaml
run 0 replay "$study" gap.csv --output wanted.csv
run 0 replay wrap.yaml wrapped.csv --output estimate.csv
cmp wanted.csv estimate.csv || fail 'a gap of nearly half a wrap'
# The row before the wrap comes after the one behind it.
awk -F, -v OFS=, 'NR == 1 { $1 = "n" } NR > 1 { $1 = int(1000 * $1 + 0.5) % 128 } { line[NR] = $1; for (i = 2; i <= NF; i++) line[NR] = line[NR] "," $i }
  END { for (i = 1; i <= NR; i++) print line[i == 129 ? 130 : i == 130 ? 129 : i] }' log.csv >late.csv
same "$(sed -n '129,130s/,.*//p' late.csv | tr '\n' ' ')" '0 127 ' 'rows in the wrong order'
{
  cat wrap.yaml
  echo 'log: {reorder: 5 ms}'
} >late.yaml
run 0 replay late.yaml late.csv --output estimate.csv
cmp clean.csv estimate.csv || fail 'a row that is late by a wrap'

# A column that jumps goes on in the next file where it was: here one turn below its first row.
awk -F, -v OFS=, 'NR == 1 { $6 = "p2[bar]" } NR > 1 { p = $6 / 1e5 - 28; $6 = sprintf("%.9f", p - 4 * int(p / 4 + 9) + 36) } { print }' log.csv >jumps.csv
awk 'NR < 102' jumps.csv >jumps-1.csv
awk 'NR == 1 || NR >= 102' jumps.csv >jumps-2.csv
same "$(awk -F, 'NR == 102 { print ($6 < 28e5) }' log.csv)" 1 'the pressure is below its first turn'
sed -e "s|^machine: .*|machine: $machine|" -e 's/^  p2: {/&wrap: 4 bar, offset: 28 bar, /' "$study" >jumps.yaml
run 0 replay jumps.yaml jumps.csv --output estimate.csv
agree clean.csv estimate.csv 'a column that jumps'
run 0 replay jumps.yaml jumps-1.csv jumps-2.csv --output estimate.csv
agree clean.csv estimate.csv 'a column that jumps, in two files'

# A date as origin of the log is of no use to a counter beside it, which keeps its own zero.
awk -F, -v OFS=, 'NR == 1 { $1 = "t" } NR > 1 { $1 = sprintf("2024-03-05T12:00:%06.3fZ", $1) } { print }' fast.csv >dated-fast.csv
awk -F, -v OFS=, 'NR == 1 { $1 = "n" } NR > 1 { $1 = int(1000 * $1 + 0.5) } { print }' slow.csv >counted-slow.csv
{
  sed "s|^machine: .*|machine: $machine|" "$study"
  echo 'time: {unit: iso8601, origin: "2024-03-05T12:00:00Z"}'
  echo 'log: {files: {slow: {match: "*slow.csv", time: {column: n, rate: 1 kHz}}}}'
} >both.yaml
run 0 replay "$study" fast.csv slow.csv --output wanted.csv
run 0 replay both.yaml dated-fast.csv counted-slow.csv --output estimate.csv
cmp wanted.csv estimate.csv || fail 'a date and a counter'
sed -e '/^log/d' -e 's/unit: iso8601, //' both.yaml >plain.yaml
run 1 replay plain.yaml fast.csv --output other.csv
says err "time.origin: a date, but the log's times have none"

# An entry that says something of its times takes over all the rest: with and without it the same comes out.
awk -F, -v OFS=, 'NR == 1 { $1 = "n" } NR > 1 { $1 = int(1000 * $1 + 0.5) % 128 } { print }' log.csv >clock.csv
{
  sed "s|^machine: .*|machine: $machine|" "$study"
  echo 'time: {column: n, rate: 1 kHz, wrap: 128, offset: 0.5 s, drift: 200 ppm, origin: 10 ms}'
} >clock.yaml
{
  cat clock.yaml
  echo 'log: {files: {a: {match: clock.csv, time: {column: n}}}}'
} >entry.yaml
run 0 replay clock.yaml clock.csv --output wanted.csv
same "$(sed -n '2s/,.*//p' wanted.csv)" 0.49 'offset and origin of the log'
run 0 replay entry.yaml clock.csv --output estimate.csv
cmp wanted.csv estimate.csv || fail 'what an entry takes over'

# Live: whoever reads a pipe has the estimate of a row as soon as two more are there (else this waits for ever), and all of
# them are those of the file.
mkfifo live.in live.out
"$program" replay "$study" - --output - <live.in >live.out 2>live.err &
exec 3>live.in 4<live.out
head -n 5 "$source_root/datasets/four-bar/log.csv" >&3
{ read -r title && read -r first && read -r second; } <&4
head -n 60 "$source_root/datasets/four-bar/log.csv" | tail -n +6 >&3
exec 3>&-
{ printf '%s\n' "$title" "$first" "$second" && cat <&4; } >live.csv
exec 4<&-
wait $! || fail 'the live run failed'
head -n 60 "$source_root/datasets/four-bar/log.csv" >short.csv
run 0 replay "$study" short.csv --output recorded.csv
cmp live.csv recorded.csv || fail 'other estimates live than from the recorded file'
