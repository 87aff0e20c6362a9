#!/bin/sh
# A planned study: the shipped plan cut short, the same bytes from any number of threads, figures against a replay, claims,
# failures, mistakes in plans.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"
cp "$source_root"/datasets/four-bar/*.yaml .

# cut SCRIPT: the shipped plan, short, with the changes of a sed script, as plan.yaml.
cut_plan() {
  sed -e 's/^duration: .*/duration: 0.3 s/; s/^settle: .*/settle: 0.1 s/; s/^rates: .*/rates: [1 kHz, 200 Hz]/' -e "$1" \
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
says err '160 runs of 0.3 s on 1 thread: about '
mv table.csv one.csv
mv out one.out
run 0 study plan.yaml --seeds 2 --threads 3 --output table.csv
says err '160 runs of 0.3 s on 3 threads: about '
cmp -s one.csv table.csv || fail 'three threads give another table than one'
cmp -s one.out out || fail 'three threads print something else than one'
same "$(lines table.csv)" "$((1 + 5 * 2 * (2 * 4 + 2) * 6))" 'lines of the table'
says out 'scenario E (20 kg at the tip of the crank unknown to the filter), 200 Hz: RMSE in % of the largest magnitude, mean of 2 seeds'
says out 'set-2-is-best, paper: '
says out 'step-better-on-pressures: '
says out '    scenario E: '
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
cut_plan '/^filters:/,/^# What the filter/d; /^scenarios:/,/^# What the publ/d; /^findings:/,/^never/d; /^rates:/d; s/^duration: .*/duration: 0.5 s/; /^changes/,/^$/d'
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

# Claims and their opposites: one of the two holds.
cut_plan '/^findings:/,/^never/d'
cat >>plan.yaml <<'END'
findings:
  right: {type: better-filter, filter: step, reference: paper, rate: 1 kHz, scenarios: [A]}
  wrong: {type: better-filter, filter: paper, reference: step, rate: 1 kHz, scenarios: [A]}
  bad-set: {type: best-study, study: set-1, signals: [velocity]}
  tooth: {type: saw-tooth, rate: 200 Hz, signals: [velocity], least: 1.0001}
  no-tooth: {type: saw-tooth, rate: 200 Hz, signals: [velocity], least: 1000}
  equal: {type: as-good-as, study: set-3, reference: set-3, within: 0}
  falls: {type: falls-with-rate, signals: [position]}
END
run 0 study plan.yaml --seeds 2 --scenario A
says out 'right: holds'
says out 'wrong: does not hold'
says out 'bad-set, paper: does not hold'
says out 'tooth, paper: holds'
says out 'no-tooth, paper: does not hold'
says out 'equal, step: holds'
says out 'error of set-3 relative to set-3: 1, at most 1 wanted; so small in 12 of 12 cases'
says out 'falls, paper: '
run 0 study plan.yaml --seeds 1 --scenario B
says out 'right: no figures'

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

# A study without figures makes no other the best.
cut_plan '/^findings:/,/^never/d; s/set-1: .*/set-1: fails.yaml/'
sed 's/position_sigma: [^,]*/position_sigma: 1e200 deg/' sensors-1.yaml >fails.yaml
echo 'findings: {best: {type: best-study, study: set-3, signals: [velocity]}}' >>plan.yaml
run 0 study plan.yaml --seeds 1 --scenario A
says out '4 of 16 runs failed'
says out 'best, paper: no figures'
says out 'the smallest in 0 of 0 cases'

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
n=$(line_of 'set-2-is-best:')
wrong 's/best-study, study: set-2/best-study, study: set-22/' "$n:44: set-2-is-best:" "no study 'set-22'; did you mean 'set-2'?"
wrong 's/best-study, study: set-2/best, study: set-2/' "$n:25: findings.set-2-is-best.type:" 'possible are best-study, falls-with-rate'
wrong 's/best-study, study: set-2/best-study, study: set-2, within: 1/' "$n:51: findings.set-2-is-best.within:" 'unknown key'
wrong 's/signals: \[p1, p2/signals: [p1, p4/' "$(line_of 'step-better-on'):" "no signal 'p4'"
wrong 's/saw-tooth, rate: 200/saw-tooth, rate: 300/' "$(line_of 'saw-tooth-at'): saw-tooth-at-200-Hz:" "none of the plan's 'rates'"
wrong 's/transition: step/transition: stepp/' "$(line_of 'transition: step'):17: filters.step.transition:" "did you mean 'step'?"
n=$(line_of 'crank.payload: 20')
wrong 's/crank.payload: 20 kg/crank.payload: 20 m/' "$n: " 'kg'
wrong 's/crank.payload: 20 kg/crank.pyload: 20 kg/' "$n: crank.pyload:" "did you mean 'crank.payload'?"
wrong 's/volumes.v1.noise: 6/volumes.v9.noise: 6/' "$(line_of 'v1.noise: 6'): " "no 'v9'"
wrong 's/pump.pressure: 6.84 MPa/pump.pressure: 6.84 m/' "$(line_of '6.84 MPa'):" 'a pressure is expected'
[ ! -e table.csv ] || fail 'a table was begun in spite of the mistake'
cut_plan 's/set-1: sensors-1/set-1: sensors-9/'
run 1 study plan.yaml
says err 'sensors-9.yaml'
sed -i 's/volume: v1, sigma: 0.5 bar,/volume: v1, sigma: 0.5 bar, delay: 5 ms,/' sensors-1.yaml
cut_plan ''
run 1 study plan.yaml
says err 'sensors-1.yaml:14: p1: a study by plan knows no sensors with a delay'
run 1 study plan.yaml --scenario F
says err 'F: the plan has no scenario of this name'
run 1 study plan.yaml --output sensors-2.yaml
run 2 study plan.yaml --threads 0
says err "--threads: '0' is not a whole number from 1 on"
run 1 study nowhere.yaml
