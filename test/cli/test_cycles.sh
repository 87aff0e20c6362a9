#!/bin/sh
# Work cycles as a user finds them: five operators with two attachments, of whom one's log is none.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"

# log FILE DIG SWAY BUCKET: three cycles at 10 Hz; DIG s of digging, the arm sways SWAY times meanwhile, BUCKET kg.
log() {
  awk -v dig="$2" -v sway="$3" -v bucket="$4" 'BEGIN {
    print "t[s],load[t],load.sigma[t],turn[deg/s],reach[mm],fuel[L/h],boom.stroke[mm],boom.p1[bar],boom.p2[bar]"
    for (cycle = 0; cycle < 3; cycle++) {
      for (i = 0; i < 10 * dig; i++) put(bucket * i / (10 * dig), 0, 5 + sin(6.2832 * sway * i / (10 * dig)), i / (10 * dig))
      for (i = 0; i < 40; i++) put(bucket, rate(i), 5, 1)
      for (i = 0; i < 20; i++) put(bucket * (1 - i / 20), 0, 6, 1)
      for (i = 0; i < 40; i++) put(0, -rate(i), 5, 1 - i / 40)
    }
  }
  function rate(i) { return 30 * (i < 5 ? i / 5 : i > 35 ? (40 - i) / 5 : 1) }
  function put(load, turn, reach, share) {
    noise = sin(n * n) # of a kind
    printf "%.1f,%.6f,0.02,%.5f,%.3f,18,%.6f,%d,%d\n", n / 10, (load + 10 * noise) / 1000, turn + 0.2 * noise, 1000 * reach,
      100 + 400 * share, 100, 20
    n++
  }' >"$1"
}
log anna-1.csv 6 3 1000
log anna-2.csv 5.5 3 1050
log bert-1.csv 8 2 900
log bert-2.csv 7.5 2 950
log carl-1.csv 10 1 800
log carl-2.csv 9.5 1 850
log dora-1.csv 7 2.5 1000
log dora-2.csv 6.5 2.5 1050
awk 'NR == 1 { print; next } { n++; printf "%.1f,%.4f,0.02,%.3f,5000,18,100,100,20\n", n / 10, sin(n * n), 20 * sin(3 * n * n) }' \
  anna-1.csv >emil-1.csv
cat >work.yaml <<'END'
work: a heap
signals: {payload: load, swing_rate: turn, arm: reach, fuel_rate: fuel}
band: 200 mm
cylinders:
  boom: {stroke: boom.stroke, piston_pressure: boom.p1, rod_pressure: boom.p2, bore: 120 mm, rod: 80 mm, number: 2,
         stall_pressure: 90 bar}
runs:
END
for run in anna-1 bert-1 carl-1 dora-1 anna-2 bert-2 carl-2 dora-2; do
  case $run in *1) what=small ;; *) what=large ;; esac
  echo "  $run: {log: $run.csv, operator: ${run%-?}, attachment: $what, hits: 1}" >>work.yaml
done
cp work.yaml with-emil.yaml
echo '  emil: {log: emil-1.csv}' >>with-emil.yaml

json() {
  python3 -c 'import json, sys; print(json.dumps(eval("d" + sys.argv[1], {"d": json.load(open("result.json"))})))' "$1"
}
# near TEXT VALUE TOLERANCE
near() {
  awk -v x="$1" -v y="$2" -v t="$3" 'BEGIN { exit !(x != "null" && x - y <= t && y - x <= t) }' || fail "$command: $1 is not $2 ± $3"
}

# ---- one run ----
run 0 check work.yaml
says out 'load: column load; swing rate: column turn'
run 0 cycles work.yaml anna-1.csv --json result.json --output cycles.csv --report page.html
says out 'Cycles of anna-1.csv'
[ "$(json "['runs'][0]['cycles'].__len__()")" = 3 ] || fail 'three cycles were driven'
near "$(json "['runs'][0]['cycles'][1]['begin']")" 16 0.2
near "$(json "['runs'][0]['cycles'][1]['borders'][1]['t']")" 22 0.2
near "$(json "['runs'][0]['cycles'][1]['borders'][2]['t']")" 26 0.2
near "$(json "['runs'][0]['cycles'][1]['borders'][3]['t']")" 28 0.2
near "$(json "['runs'][0]['cycles'][1]['end']")" 32 0.2
near "$(json "['runs'][0]['cycles'][1]['load']")" 1000 15
near "$(json "['runs'][0]['load']")" 3000 30
near "$(json "['runs'][0]['load_sigma']")" 85 5 # 20 kg twice a cycle, three cycles as one
near "$(json "['runs'][0]['fuel']")" 2.4e-4 2e-6 # 18 L/h for 48 s
near "$(json "['runs'][0]['cycles'][1]['arm']['range']")" 2 0.01
# Two cylinders with 100 bar on 113.1 cm^2 against 20 bar on 62.8 cm^2: 100.5 kN each, out by 0.4 m and back.
near "$(json "['runs'][0]['cycles'][1]['positive_work']")" 80400 1600
near "$(json "['runs'][0]['cycles'][1]['near_stalls']")" 1 0 # it rests at 100 bar while it swings and dumps
[ "$(wc -l <cycles.csv)" -eq 4 ] || fail 'a row per cycle'
grep -q '^anna-1.csv,anna-1.csv,,1,2,1,1[56]\.' cycles.csv || fail 'the second cycle begins at 16 s'
grep -q 'Cycles of anna-1.csv' page.html || fail 'the page has the table'

# ---- operators ----
run 0 cycles work.yaml --json result.json
says out 'Leaderboard: mean over the attempts of time/best, fuel/best, 1 + hits'
says out '1  anna'
says out 'time by attachment: no difference is shown by 4 operators'
says out '4 operators do not show whether they go together (rank correlation -1.00, p = 0.48; so few cannot show any'
near "$(json "['comparisons'][0]['statistic']")" -1 1e-9 # who sways more is faster
[ "$(json "['operators'][3]['place']")" = 2 ] || fail 'dora is second'
cp result.json first.json
run 0 cycles work.yaml --json result.json
cmp -s first.json result.json || fail 'twice the same is not the same'

# ---- what is none ----
run 3 cycles with-emil.yaml --json result.json
says out 'emil does not fit the model of work cycles'
[ "$(json "['comparisons'][0]['n']")" = 4 ] || fail 'emil is in no comparison'
[ "$(json "['operators'][4]['place']")" = null ] || fail 'emil has no place'

# ---- the verdict of the replay that wrote a log ----
says out 'verdict of their replay: not known of 9 of 9 logs'
keep() { printf '%d bytes, %s\n' "$(wc -c <"$1")" "$2" >"$1.verdict"; }
keep anna-1.csv 'no contradiction found in 100 tests'
keep bert-1.csv 'doubted: the process noise of a state'
run 3 cycles work.yaml --json result.json
says out 'bert-1 is no better than the verdict of its replay: doubted: the process noise of a state; it is in no comparison'
says out 'not known of 6 of 8 logs'
[ "$(json "['runs'][0]['verdict']")" = '"no contradiction found in 100 tests"' ] || fail 'anna has a verdict'
[ "$(json "['runs'][1]['doubt']")" = '"doubted: the process noise of a state"' ] || fail 'bert has a doubt'
[ "$(json "['comparisons'][0]['n']")" = 4 ] || fail "bert's other run counts"
[ "$(json "['operators'][1]['place']")" = null ] || fail 'bert has no place'
echo >>bert-1.csv # it is another file now
run 0 cycles work.yaml bert-1.csv
says out 'not known of 1 of 1 logs'
rm ./*.verdict
run 1 cycles work.yaml nowhere.csv
says err 'nowhere.csv'
sed 's/payload: load/payload: lod/' work.yaml >wrong.yaml
run 1 cycles wrong.yaml
says err "anna-1.csv:1: lod: "
sed 's/fuel_rate: fuel}/fuel_rate: turn}/' work.yaml >wrong.yaml
run 1 cycles wrong.yaml
says err 'turn: '
sed 's/bore: 120 mm/bore: 70 mm/' work.yaml >wrong.yaml
run 1 check wrong.yaml
says err 'wrong.yaml:5:98: cylinders.boom.rod: the rod must be thinner than the bore'
sed 's/rod_pressure: boom.p2, //' work.yaml >wrong.yaml
run 1 check wrong.yaml
says err "wrong.yaml:5:3: cylinders.boom: required key 'rod_pressure' is missing"
sed '1s/load.sigma.t./load.sigma[bar]/' anna-1.csv >sigma.csv
run 1 cycles work.yaml sigma.csv
says err 'sigma.csv:1:14: load.sigma: the column is in bar'
echo 'work: nobody' >wrong.yaml
run 1 cycles wrong.yaml
says err 'there are no runs here, and no logs were given'
run 1 cycles work.yaml --output anna-1.csv
says err 'would be overwritten'
