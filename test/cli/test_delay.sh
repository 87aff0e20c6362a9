#!/bin/sh
# A sensor whose samples arrive late: simulated so, and replayed with the delay known, unknown and wrong.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"
folder=$source_root/datasets/four-bar
# An encoder 30 ms late and a gyro 40 ms late, no pressures.
sed -e "s|^machine: |machine: $folder/|" -e '/^  p[123]:/d' "$study" >prompt.yaml
sed -e '/crank_encoder: /s/}/, delay: 30 ms}/' -e '/crank_gyro: /s/}/, delay: 40 ms}/' prompt.yaml >late.yaml

run 0 check late.yaml
says out 'sensor crank_encoder: encoder at crank, sigma 1 deg, 1000 samples per second, delay 30 ms'
run 0 simulate "$machine" --duration 2.5 --output truth.csv --noise prompt.yaml --seed 1 --log prompt.csv
run 0 simulate "$machine" --duration 2.5 --output truth.csv --noise late.yaml --seed 1 --log late.csv

# The same samples, moved down by the delay.
same "$(cell late.csv 31 'crank_encoder[rad]')" '' 'nothing arrives before the delay is over'
awk -F, 'NR > 1 { print $3 }' prompt.csv | head -n 2471 >measured
awk -F, 'NR > 31 { print $3 }' late.csv >arrived
cmp measured arrived || fail 'the encoder is not the prompt one 30 rows later'
awk -F, 'NR > 1 { print $4 }' prompt.csv | head -n 2461 >measured
awk -F, 'NR > 41 { print $4 }' late.csv >arrived
cmp measured arrived || fail 'the gyro is not the prompt one 40 rows later'

# rmse OUTPUT: of the summary printed last.
rmse() {
  awk -v name="$1" '$1 == name { print $3 }' out
}
run 0 replay late.yaml late.csv --output known.csv --truth truth.csv --report report.html
known=$(rmse crank.angle)
known_rate=$(rmse crank.rate)
says out 'late samples: 4932; 2471 rewinds, the deepest 0.04 s,'
says out 'measurements used: 4932'
# The samples of the rows up to 39 ms were measured before the start; simulate leaves them out.
grep -Eq '^  crank_encoder +2471 .* consistent' out || fail 'the innovations of the encoder are not consistent'
same "$(cell known.csv 31 'crank_encoder.nis')" '' 'no NIS before the first sample arrives'
run 3 replay prompt.yaml late.csv --output ignored.csv --truth truth.csv
if grep -q 'late samples' out; then fail 'late samples without a delay'; fi
awk -v a="$known" -v b="$(rmse crank.angle)" 'BEGIN { exit !(a != "" && 1.5 * a < b) }' ||
  fail "knowing the delays does not help the angle: $known and $(rmse crank.angle)"
awk -v a="$known_rate" -v b="$(rmse crank.rate)" 'BEGIN { exit !(a != "" && 10 * a < b) }' ||
  fail "knowing the delays does not help the rate: $known_rate and $(rmse crank.rate)"
says out 'innovations larger than assumed'

# The estimate of a time shows what was known then: cutting the log changes nothing before the cut.
head -n 1501 late.csv >cut.csv
run 0 replay late.yaml cut.csv --output cut-estimate.csv
head -n 1501 known.csv >wanted.csv
cmp cut-estimate.csv wanted.csv || fail 'an estimate knows the future'
# The gyro alone is late: the other sensors need no delay, and samples from before the start are counted.
sed -e '/crank_gyro: /s/}/, delay: 5.2 ms}/' prompt.yaml >mixed.yaml
run 3 replay mixed.yaml prompt.csv --output mixed.csv
says out 'samples measured before the first row, not used: 5'
run 0 simulate "$machine" --duration 0.02 --output truth.csv --noise mixed.yaml --seed 1 --log mixed-log.csv
says err 'crank_gyro: delayed by 0.005 s instead of 0.0052 s, the nearest multiple of the step'

# Zero is no delay: the same bytes.
sed -e '/crank_encoder: /s/}/, delay: 0 s}/' prompt.yaml >zero.yaml
run 0 replay zero.yaml prompt.csv --output zero-estimate.csv
run 0 replay prompt.yaml prompt.csv --output prompt-estimate.csv
cmp zero-estimate.csv prompt-estimate.csv || fail 'a delay of zero changes the estimates'

for wrong in '-1 ms' '11 s' '3 m'; do
  sed -e "/crank_encoder: /s/}/, delay: $wrong}/" prompt.yaml >wrong.yaml
  run 1 check wrong.yaml
  says err 'delay'
done
