#!/bin/sh
# The noisy log: same seed, same bytes; sensors independent of each other; rates; names of columns.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"
folder=$source_root/datasets/four-bar

simulate() { # LOG STUDY SEED
  run 0 simulate "$machine" --duration 0.2 --output truth.csv --noise "$2" --seed "$3" --log "$1"
}
simulate a.csv "$study" 7
cp truth.csv first.csv
simulate b.csv "$study" 7
cmp a.csv b.csv || fail 'the same seed gives other bytes'
cmp truth.csv first.csv || fail 'the truth is not the same twice'
simulate c.csv "$study" 8
! cmp -s a.csv c.csv || fail 'another seed gives the same bytes'
cmp truth.csv first.csv || fail 'the truth depends on the seed'
same "$(head -n 1 a.csv)" \
  't[s],valve.command[V],crank_encoder[rad],crank_gyro[rad/s],p1[Pa],p2[Pa],p3[Pa]' 'columns of the log'
same "$(lines a.csv)" 202 'lines of the log'

# Sensor set 1 has no gyro: its encoder and pressures make the same noise.
simulate d.csv "$folder/sensors-1.yaml" 7
cut -d, -f1-3,5- a.csv >without.csv
cmp without.csv d.csv || fail 'the noise of a sensor depends on the others'

# The noise is as large as the study says (200 samples: 4 standard errors of the standard deviation are 0.2).
paste -d, truth.csv a.csv | awk -F, -v sigma=0.017453292519943295 '
  NR == 1 { for (i = 1; i <= NF; i++) { if ($i == "crank.angle[rad]") a = i; if ($i == "crank_encoder[rad]") b = i } next }
  { e = $b - $a; s += e * e; n++ } END { r = sqrt(s / n) / sigma; exit !(r > 0.8 && r < 1.2) }' ||
  fail 'standard deviation of the encoder'

# Rates: every second step, and one that is no multiple of the step; columns and time by other names.
sed -e 's/crank_encoder: {type: encoder, joint: crank, sigma: 1 deg, rate: 1 kHz}/crank_encoder: {type: encoder, joint: crank, sigma: 1 deg, rate: 500 Hz, column: angle}/' \
  -e 's/p1: {type: pressure, volume: v1, sigma: 0.5 bar, rate: 1 kHz}/p1: {type: pressure, volume: v1, sigma: 0.5 bar, rate: 300 Hz}/' \
  -e 's/^sensors:/time: time\ninputs: {valve: U}\nsensors:/' \
  "$study" >slow.yaml
cp "$machine" .
simulate slow.csv slow.yaml 7
says err 'p1: sampled every 0.003 s instead of 0.003333333 s'
same "$(head -n 1 slow.csv)" 'time[s],U[V],angle[rad],crank_gyro[rad/s],p1[Pa],p2[Pa],p3[Pa]' 'columns by other names'
same "$(awk -F, 'NR > 1 && $3 != "" { printf "%s ", $1 } NR > 6 { exit }' slow.csv)" '0 0.002 0.004 ' 'samples at 500 Hz'
same "$(awk -F, 'NR > 1 && $5 != "" { printf "%s ", $1 } NR > 8 { exit }' slow.csv)" '0 0.003 0.006 ' 'samples at 300 Hz'
run 0 replay slow.yaml slow.csv --output slow-estimate.csv
same "$(cell slow-estimate.csv 3 'crank_encoder.nis')" '' 'no sample, no NIS'
[ -n "$(cell slow-estimate.csv 4 'crank_encoder.nis')" ] || fail 'a sample, a NIS'

# The changes of a study are errors of the filter's model, not of the truth.
sed 's/^changes:/changes:\n  bodies.crank.mass: 99 kg/' "$study" >changed.yaml
simulate e.csv changed.yaml 7
cmp a.csv e.csv || fail 'the changes of the study were applied to the truth'
