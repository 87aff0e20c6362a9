#!/bin/sh
# A planned study: the shipped plan cut short, the same bytes from any number of threads, errors against a replay, comparisons,
# failures, mistakes in plans.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"
cp "$source_root"/datasets/four-bar/*.yaml .
cp "$papers"/*.yaml .

# cut SCRIPT: the shipped plan, short and with four of its sets, with the changes of a sed script, as plan.yaml.
cut_plan() {
  sed -e 's/^duration: .*/duration: 0.3 s/; s/^  set-[56].*//; s/^settle: .*/settle: 0.1 s/; s/^rates: .*/rates: [1 kHz, 200 Hz]/' -e "$1" \
    estimator-study.yaml >plan.yaml
}

# figure SCENARIO FILTER STUDY RATE SIGNAL COLUMN: a cell of table.csv.
figure() {
  awk -F, -v key="$1,$2,$3,$4,$5" -v column="$6" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) c = i }
    $1 "," $2 "," $3 "," $4 "," $5 == key { print $c }' table.csv
}

# Same bytes whatever the number of threads: five scenarios, two filters, four sets, two rates, two seeds.
cut_plan ''
run 0 study plan.yaml --seeds 2 --threads 1 --output table.csv
quiet err
says out '160 runs of 0.3 s in steps of'
mv table.csv one.csv
mv out one.out
run 0 study plan.yaml --seeds 2 --threads 3 --output table.csv
quiet err
cmp -s one.csv table.csv || fail 'three threads give another table than one'
cmp -s one.out out || fail 'three threads print something else than one'
same "$(lines table.csv)" "$((1 + 5 * 2 * (2 * 4 + 2) * 6))" 'lines of the table'
says out 'scenario E (20 kg at the tip of the crank unknown to the filter), 200 Hz: RMSE in % of the largest magnitude, mean of 2 seeds'
same "$(figure A paper set-1 1000 position seeds)" 2 'seeds of a cell'
same "$(figure A paper set-1 1000 position failed)" 0 'failures of a cell'
near "$(figure A sensor-noise '' 1000 p1 'rmse[%]')" 1.6 0.1 'noise of a pressure sensor'
same "$(figure A sensor-noise '' 1000 acceleration 'rmse[%]')" '' 'noise of a signal without a sensor'
[ -n "$(figure A step set-2 1000 acceleration inside)" ] || fail 'no band of the acceleration'
same "$(figure A paper set-1 1000 velocity largest)" "$(figure D step set-4 200 velocity largest)" 'the truth of A and D'
[ "$(figure A paper set-1 1000 velocity largest)" != "$(figure E paper set-1 1000 velocity largest)" ] || fail 'no payload in the truth of E'
[ "$(figure A model-alone '' 200 p1 'rmse[%]')" != "$(figure D model-alone '' 200 p1 'rmse[%]')" ] || fail 'the scenarios are not applied'

# One scenario gives what it gave among the others.
run 0 study plan.yaml --seeds 2 --scenario D --output table.csv
grep '^[sD]' one.csv | cmp -s - table.csv || fail 'a scenario alone differs'

# Without scenarios, filters and rates the studies hold as they are: as simulate and replay.
cut_plan '/^filters:/,/^# What the filter/d; /^scenarios:/,/^never/d; /^rates:/d; s/^duration: .*/duration: 0.5 s/; /^changes/,/^$/d'
sed -i 's/^studies:/\nstudies:/' plan.yaml
run 0 study plan.yaml --seeds 1 --output table.csv
run 0 simulate four-bar.yaml --duration 0.5 --output truth.csv --noise sensors-2.yaml --seed 1 --log log.csv
run 0 replay sensors-2.yaml log.csv --output estimate.csv
for pair in 'position crank.angle[rad]' 'velocity crank.rate[rad/s]' 'acceleration crank.acceleration[rad/s^2]' 'p3 v3.pressure[Pa]'; do
  percent=$(awk -F, -v name="${pair#* }" 'FNR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next }
    NR == FNR { truth[FNR] = $c; x = $c < 0 ? -$c : $c; if (x > most) most = x; next }
    { sum += ($c - truth[FNR])^2; n++ } END { printf "%.9g", 100 * sqrt(sum / n) / most }' truth.csv estimate.csv)
  mine=$(figure own study set-2 '' "${pair% *}" 'rmse[%]')
  near "$(awk -v a="$mine" -v b="$percent" 'BEGIN { print a / b }')" 1 2e-5 "RMSE of ${pair% *} beside that of a replay"
done
same "$(figure own study set-2 '' position 'rmse_error[%]')" '' 'standard error of one seed'
same "$(figure own study set-2 '' position verdict)" '' 'verdict on half a second'

# Verdict of the first seed's log, as a replay of it says: process noise that is not there is doubted. Shorter runs have none.
printf '%s\n' 'plan: verdicts' 'machine: four-bar.yaml' 'duration: 2.2 s' 'seeds: 2' 'signals: {position: crank.angle}' 'studies: {set-1: noisy.yaml}' \
  'filters: {stated: {}, quiet: {changes: {volumes.v1.noise: 0.5 bar/s^0.5, volumes.v2.noise: 0.5 bar/s^0.5, volumes.v3.noise: 0.5 bar/s^0.5}}}' >verdicts.yaml
sed 's/noise: 0.5 bar/noise: 20 bar/; /^changes/,/^$/d' "$source_root"/datasets/four-bar/sensors-1.yaml >noisy.yaml
run 0 study verdicts.yaml --output table.csv
same "$(figure own stated set-1 '' position verdict)" doubted 'verdict on noise that is not there'
same "$(figure own quiet set-1 '' position verdict)" 'no contradiction' 'verdict on the study as shipped'
grep -q 'quiet .* no contradiction$' out || fail 'the table of errors has no verdict'
doubt=$(sed -n 's/^  scenario own, filter stated, study set-1: //p' out)
run 0 simulate four-bar.yaml --duration 2.2 --output truth.csv --noise noisy.yaml --seed 1 --log log.csv
run 3 replay noisy.yaml log.csv --output estimate.csv
same "$(sed -n 's/^verdict: doubted: //p' out)" "$doubt" 'the doubt of a replay'

# Comparisons are geometric means of ratios of the table's errors.
# ratio FIELD A B KEYS: of the rows that match KEYS ("field=value;..."), errors of value A of FIELD by those of B, the
# geometric mean over all that agree otherwise, with the number of cases and of those below 1.
ratio() {
  awk -F, -v f="$1" -v a="$2" -v b="$3" -v keys="$4" 'NR == 1 || $3 == "" { next }
    { n = split(keys, key, ";"); for (i = 1; i <= n; i++) { split(key[i], p, "="); if ($p[1] != p[2]) next } }
    { at = ""; for (i = 1; i <= 5; i++) if (i != f) at = at "," $i
      if ($f == a) top[at] = $8; if ($f == b) low[at] = $8 }
    END { for (at in top) { r = top[at] / low[at]; sum += log(r); all++; less += r < 1 }
      printf "%.3g %d of %d", exp(sum / all), less, all }' table.csv
}

# compared TITLE FIRST SECOND: the columns "all" and "smaller in" of a row of a comparison.
compared() {
  sed -n "/^$1/,/^$/p" out | awk -v a="$2" -v b="$3" '$1 == a && index($0, " " b " ") { line = $0 }
    END { n = split(line, c, /  +/); for (i = 1; i <= n; i++) if (c[i] ~ / of /) last = c[i]; print c[4], last }'
}

cut_plan ''
run 0 study plan.yaml --seeds 2 --scenario A --scenario D --output table.csv
for filter in paper step; do
  best=$(sed -n '/^sensor sets/,/^$/p' out | awk -v f=$filter '$1 == f && $3 == 1 { print $2 }')
  for set in set-1 set-2 set-3 set-4; do
    same "$(compared 'sensor sets' $filter $set)" "$(ratio 3 $set "$best" "2=$filter")" "$set by $best of $filter"
    awk -v r="$(ratio 3 $set "$best" "2=$filter")" 'BEGIN { split(r, x, " "); exit !(x[1] >= 1) }' || fail "$best is not the best of $filter"
  done
  same "$(compared rates $filter '200 Hz')" "$(ratio 4 200 1000 "2=$filter")" "200 Hz by 1 kHz of $filter"
done
same "$(compared filters step all)" "$(ratio 2 step paper '')" 'step by paper'
same "$(compared filters step D)" "$(ratio 2 step paper '1=D')" 'step by paper in D'
[ "$(compared filters step A)" != "$(compared filters step D)" ] || fail 'scenarios are not compared one by one'
near "$(sed -n '/^rates/,/^$/p' out | awk '$1 == "step" && $2 == 200 { print $NF }')" \
  "$(awk -F, '$2 == "step" && $4 == 200 && $13 > 0 { sum += log($13); n++ } END { print exp(sum / n) }' table.csv)" 0.01 'saw tooth at 200 Hz'

# A run that fails is counted and named, the others go on.
cut_plan 's/changes: {hydraulics.supplies.pump.pressure: 6.84 MPa}/changes: {integrator.max_iterations: 1, integrator.position_tolerance: 1e-16}/'
run 0 study plan.yaml --seeds 1 --scenario A --scenario B --output table.csv
says out '16 of 32 runs failed and are in no mean:'
says out 'scenario B, filter paper, study set-1, 1000 Hz, seed 1: '
says out 'and 6 more'
same "$(figure B paper set-1 1000 p1 seeds)$(figure B paper set-1 1000 p1 failed)" 01 'counts of a cell that failed'
same "$(figure B paper set-1 1000 p1 'rmse[%]')" '' 'figure of a cell that failed'
[ -n "$(figure A paper set-1 1000 p1 'rmse[%]')" ] || fail 'the other scenario has no figures'
run 1 study plan.yaml --seeds 1 --scenario B

# A sensor set whose runs fail is not the best one, and no cell of it is compared.
cut_plan 's/set-1: .*/set-1: fails.yaml/'
sed 's/position_sigma: [^,]*/position_sigma: 1e200 deg/' sensors-1.yaml >fails.yaml
run 0 study plan.yaml --seeds 1 --scenario A
says out '4 of 16 runs failed'
same "$(sed -n '/^sensor sets/,/^$/p' out | awk '$2 == "set-1"' | tr -s ' ')" "$(printf ' paper set-1 0 of 0\n step set-1 0 of 0')" 'a set that fails'

# A study without a sensor, which takes its bias along, is that of a file that has none of it, to the last digit; its sigma is larger.
cut_plan 's#^  set-4: .*#  set-4: {file: biased.yaml, without: [p3]}#'
(cat sensors-2.yaml; echo 'augmented: {p3_bias: {bias_of: p3, sigma: 1 bar}}') >biased.yaml
run 0 study plan.yaml --seeds 1 --scenario A --output table.csv
sed -n 's/^A,\([a-z]*\),set-3/\1/p' table.csv >has-none
sed -n 's/^A,\([a-z]*\),set-4/\1/p' table.csv >without
[ -s without ] && cmp -s has-none without || fail 'a sensor left out differs from one that is not in the file'
awk -v a="$(figure A step set-2 1000 p3 'sigma[%]')" -v b="$(figure A step set-4 1000 p3 'sigma[%]')" 'BEGIN { exit !(a > 0 && b > a) }' ||
  fail 'a pressure that nobody measures is known as well as one that is measured'

# What check makes of a plan.
cut_plan ''
run 0 check plan.yaml
says out 'signal p3: v3.pressure, up to '
says out '4000 runs with 50 seeds each'
says out 'no mistakes found'
sed -i 's/^  set-4: .*/  set-4: nowhere.yaml/' plan.yaml
run 1 check plan.yaml
says err 'nowhere.yaml: cannot be opened'

# Mistakes in plans.
wrong() {
  cut_plan "$1"
  run 1 study plan.yaml --seeds 1 --output table.csv
  says err "plan.yaml:$2"
  says err "$3"
}
rm -f table.csv
line_of() {
  grep -n "$1" estimator-study.yaml | head -n 1 | cut -d: -f1
}
n=$(line_of '^seeds:')
wrong 's/^seeds: 50/seeds: many/' "$n:8: seeds:" "'many' is not a whole number"
wrong 's/^seeds:/sedes:/' "$n:1: sedes:" "did you mean 'seeds'?"
wrong '/^seeds/d' '' "required key 'seeds' is missing"
n=$(line_of '^rates:')
wrong 's/^rates: .*/rates: [200 Hz, 1 kHz]/' "$n:17: rates.1:" 'rates must fall'
wrong 's/^rates: .*/rates: [1 kHz, 200 s]/' "$n:16: rates.1:" 'Hz'
wrong 's/^settle: .*/settle: 4 s/' "$(line_of '^settle:'):9: settle:" 'shorter than the duration'
wrong 's/p1: v1.pressure/p1: v9.pressure/' "$(line_of 'p1: v1'): p1:" "no output 'v9.pressure'"
wrong 's/^scenarios:/findings: {}\n&/' "$(line_of '^scenarios:'):1: findings:" 'unknown key'
wrong 's/transition: step/transition: stepp/' "$(line_of 'transition: step'):17: filters.step.transition:" "did you mean 'step'?"
n=$(line_of 'crank.payload: 20')
wrong 's/crank.payload: 20 kg/crank.payload: 20 m/' "$n: " 'kg'
wrong 's/crank.payload: 20 kg/crank.pyload: 20 kg/' "$n: crank.pyload:" "did you mean 'crank.payload'?"
wrong 's/volumes.v1.noise: 6/volumes.v9.noise: 6/' "$(line_of 'v1.noise: 6'): " "no 'v9'"
wrong 's/pump.pressure: 6.84 MPa/pump.pressure: 6.84 m/' "$(line_of '6.84 MPa'):" 'a pressure is expected'
n=$(line_of 'set-1: ')
wrong 's#set-1: .*#set-1: {file: sensors-1.yaml, without: [p9]}#' "$n: p9:" 'the study has no such sensor'
wrong 's#set-1: .*#set-1: {without: [p1]}#' "$n:" "required key 'file' is missing"
[ ! -e table.csv ] || fail 'a table was begun in spite of the mistake'
cut_plan 's/set-1: sensors-1/set-1: sensors-9/'
run 1 study plan.yaml
says err 'sensors-9.yaml'
sed -i 's/volume: v1, sigma: 0.5 bar,/volume: v1, sigma: 0.5 bar, delay: 5 ms,/' sensors-1.yaml
cut_plan ''
run 1 study plan.yaml
says err 'sensors-1.yaml:14: p1: a study by plan knows no sensors with a delay'
cp "$papers/sensors-1.yaml" .
cut_plan 's/^    transition: step/&\n    changes: {sensors.p1.delay: 5 ms}/; /^    transition: step/,/^$/{/^    changes:$/d; /^      /d}'
run 1 study plan.yaml --seeds 1
says err 'p1: a study by plan knows no sensors with a delay'
echo 'adapt: {pressures: [0.1, 10]}' >>sensors-1.yaml
cut_plan ''
run 1 study plan.yaml --seeds 1
says err "sensors-1.yaml:$(grep -n '^adapt' sensors-1.yaml | cut -d: -f1): adapt: a study by plan knows no noise that adapts by itself"
cp "$papers/sensors-1.yaml" .
run 1 study plan.yaml --scenario F
says err 'F: the plan has no scenario of this name'
run 1 study plan.yaml --output sensors-2.yaml
run 2 study plan.yaml --threads 0
says err "--threads: '0' is not a whole number from 1 on"
run 1 study nowhere.yaml
