#!/bin/sh
# The backward pass of a replay: its file, its memory, its errors against the truth.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"
make_log 0.5

run 0 replay "$study" log.csv --output plain.csv --truth truth.csv
run 0 replay "$study" log.csv --output estimate.csv --truth truth.csv --smooth smooth.csv --report report.html
quiet err
cmp plain.csv estimate.csv || fail 'smoothing changes the estimates'
says out 'smoothed: smooth.csv, 501 steps kept in '
says out 'Smoothed: errors against the truth'
grep -q 'Smoothed: errors against the truth' report.html || fail 'no table in the report'
same "$(head -n 1 smooth.csv)" "$(head -n 1 estimate.csv | sed 's/,crank_encoder.innovation.*//')" 'columns'
same "$(lines smooth.csv)" 502 'lines'
same "$(cell smooth.csv 502 't[s]')" 0.5 'last time'
# At the end nothing came later: filter and smoother agree. At the start the smoother knows more.
for column in 'crank.angle[rad]' 'crank.angle.sigma[rad]' 'coupler.rate[rad/s]' 'v2.pressure[Pa]' 'lift.force[N]'; do
  near "$(cell smooth.csv 502 "$column")" "$(cell estimate.csv 502 "$column")" 1e-9 "$column at the end"
done
error() {
  awk -v a="$(cell "$1" 2 'crank.angle[rad]')" -v b="$(cell truth.csv 2 'crank.angle[rad]')" 'BEGIN { print a < b ? b - a : a - b }'
}
awk -v s="$(error smooth.csv)" -v f="$(error estimate.csv)" 'BEGIN { exit !(s < 0.5 * f) }' ||
  fail "the first angle errs by $(error smooth.csv), filtered by $(error estimate.csv)"
awk -v s="$(cell smooth.csv 2 'crank.angle.sigma[rad]')" -v f="$(cell estimate.csv 2 'crank.angle.sigma[rad]')" \
  'BEGIN { exit !(s > 0 && s < 0.5 * f) }' || fail 'the sigma of the first angle'
# filtered, smoothed and the table agree on what was filtered
same "$(awk '/^  crank.angle +deg/ { print $3; exit }' out)" \
  "$(awk '/^Smoothed/ { on = 1 } on && /^  crank.angle +deg/ { print $3 }' out)" 'RMSE of the filter in both tables'

run 0 replay "$study" log.csv --output estimate.csv --smooth tenth.csv --every 10
awk 'NR == 1 || NR % 10 == 2' smooth.csv >wanted.csv
cmp tenth.csv wanted.csv || fail 'every tenth row'

# More rows than steps, a later start, a gap: as many steps as estimates, at the same times.
awk -F, -v OFS=, -v OFMT=%.9g -v CONVFMT=%.9g 'NR == 1 { print; next } { $1 += 1000; if (NR < 100 || NR > 150) print; $1 += 0.0003; if (NR > 400) print }' log.csv >odd.csv
run 0 replay "$study" odd.csv --output estimate.csv --smooth smooth.csv
cut -d, -f1 estimate.csv >a
cut -d, -f1 smooth.csv >b
cmp a b || fail 'times of the odd log'

# Late samples: the first step is not delayed, and what comes late is smoothed like the rest.
sed 's/crank_encoder: {/crank_encoder: {delay: 7 ms, /; s|machine: |machine: '"$source_root"'/datasets/four-bar/|' "$study" >late.yaml
run 0 simulate "$machine" --duration 0.5 --output truth.csv --noise late.yaml --log late.csv
run 0 replay late.yaml late.csv --output estimate.csv --smooth smooth.csv --truth truth.csv
same "$(lines smooth.csv)" "$(lines estimate.csv)" 'lines with delays'
awk '/^Smoothed/ { on = 1 } on && /^  crank.angle +deg/ { exit !($4 < $3) }' out || fail 'smoothing does not help with delays'

# A row that cannot be used: everything before it is smoothed.
awk -F, 'NR == 300 { sub(/,[^,]*$/, ",nonsense") } { print }' log.csv >bad.csv
run 1 replay "$study" bad.csv --output estimate.csv --smooth smooth.csv
says err 'bad.csv:300'
cut -d, -f1 estimate.csv >a
cut -d, -f1 smooth.csv >b
cmp a b || fail 'times before the bad row'

run 1 replay "$study" - --output estimate.csv --smooth smooth.csv <log.csv
says err '--smooth needs a file'
run 1 replay "$study" log.csv --output estimate.csv --smooth log.csv
run 1 replay "$study" log.csv --output estimate.csv --smooth estimate.csv
