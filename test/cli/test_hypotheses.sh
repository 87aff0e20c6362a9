#!/bin/sh
# Models that compete: the right one wins, none that is right is contradicted, threads change nothing, mistakes are named.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"

bar=$source_root/datasets/four-bar
shipped=$bar/hypotheses.yaml

# log NAME PARAMETER=VALUE...: 1.15 s of the work cycle of a machine with these parameters.
log() {
  name=$1
  shift
  for one; do set -- "$@" --parameter "$one" && shift; done
  run 0 simulate "$bar/four-bar.yaml" --duration 1.15 --output "$name-truth.csv" --noise "$shipped" --log "$name.csv" "$@"
}

# probability NAME of the last row of estimate.csv
last() {
  awk -F, -v name="probability.$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next } { p = $c } END { print p }' \
    estimate.csv
}

log built valve.offset=0
log loaded coupler.payload=30
log worn valve.flow_coefficient=1.4966e-8
for right in as-built:built loaded:loaded worn-valve:worn; do
  run 0 replay "$shipped" "${right#*:}.csv" --truth "${right#*:}-truth.csv" --output estimate.csv --json run.json --threads 1
  says out "hypothesis: ${right%:*}, probability 1 of 3"
  says out 'no contradiction found'
  for one in as-built loaded worn-valve; do
    p=$(last "$one")
    if [ "$one" = "${right%:*}" ]; then bound='p > 0.999'; else bound='p < 1e-6'; fi
    awk -v p="$p" "BEGIN { exit !($bound) }" || fail "$one has probability $p where ${right%:*} is right"
  done
  grep -A9 "\"name\": \"${right%:*}\"" run.json | grep -q '"probability": 1' || fail 'the JSON does not say who won'
done

# The same bytes with any number of threads, a report of the winner, columns by name.
mv estimate.csv alone.csv
run 0 replay "$shipped" worn.csv --output estimate.csv --threads 3 --report page.html
cmp -s estimate.csv alone.csv || fail 'the number of threads changes the estimates'
grep -q 'worn-valve' page.html || fail 'the report does not name the hypotheses'
run 0 replay "$shipped" worn.csv --output estimate.csv --columns 'crank.angle,probability.*' --to 0.1
[ "$(head -n 1 estimate.csv)" = 't[s],crank.angle[rad],probability.as-built,probability.loaded,probability.worn-valve' ] ||
  fail 'other columns than asked for'

# None is right: the best one is contradicted.
log other coupler.payload=-30 valve.flow_coefficient=1.2e-8
run 3 replay "$shipped" other.csv --output estimate.csv
says out 'verdict: contradicted'

# Two that are the same keep their prior probabilities, and their mixture is the estimate of a single filter.
study=same.yaml
sed "s|^machine: |&$bar/|; /^hypotheses:/,/^\$/d" "$shipped" >one.yaml
echo 'uncertainty: fixed' >>one.yaml
cp one.yaml same.yaml
printf 'hypotheses:\n  a: {prior: 0.25}\n  b:\n' >>same.yaml
run 0 replay one.yaml built.csv --output one.csv --to 0.5
run 0 replay same.yaml built.csv --output estimate.csv --to 0.5
says out 'the log does not tell it from a: '
[ "$(last a)" = 0.25 ] && [ "$(last b)" = 0.75 ] || fail 'equal models change their probabilities'
run 0 compare one.csv estimate.csv

run 0 check "$shipped"
says out 'hypothesis as-built: prior 50 %, the machine as it is stated'
says out 'hypothesis worn-valve: prior 25 %, valve.flow_coefficient -30 %'

# What does not go with them is refused by name.
refused() {
  code=$1 message=$2
  shift 2
  run "$code" "$@"
  says err "$message"
}
refused 1 'hypotheses.yaml:16: hypotheses: --smooth does not go with them' replay "$shipped" built.csv --output e.csv --smooth s.csv
refused 1 '--snapshot does not go with them' replay "$shipped" built.csv --output e.csv --snapshot s
refused 1 'hypotheses need files, no pipe' replay "$shipped" - --output e.csv
sed "s|^machine: |&$bar/|" "$shipped" >mine.yaml
printf 'tune:\n  parameters:\n    volumes.v1.noise: {least: 0.1 bar/s^0.5, most: 2 bar/s^0.5}\n' >>mine.yaml
refused 1 "are for 'bramah replay': tuning goes by one model" tune mine.yaml built.csv --output t.yaml

# mistake MESSAGE LINES: `bramah check` and `replay` find it, with its place, in a study with this section.
mistake() {
  cp one.yaml wrong.yaml
  printf '%b' "$2" >>wrong.yaml
  refused 1 "$1" check wrong.yaml
  refused 1 "$1" replay wrong.yaml built.csv --output e.csv
}
n=$(wc -l <one.yaml)
mistake "wrong.yaml:$((n + 3)): hypotheses.b.coupler.paylod: there is no parameter of this name; did you mean 'coupler.payload'?" \
  'hypotheses:\n  a: {}\n  b: {coupler.paylod: 3 kg}\n'
mistake "wrong.yaml:$((n + 3)):24: hypotheses.b.coupler.payload: 3 m is a length, a mass is expected" 'hypotheses:\n  a: {}\n  b: {coupler.payload: 3 m}\n'
mistake 'the model does not take this value: at least -' 'hypotheses:\n  a: {}\n  b: {coupler.payload: -300 kg}\n'
mistake 'a share of 0: give it with its unit' 'hypotheses:\n  a: {}\n  b: {coupler.payload: 20 %}\n'
mistake 'one hypothesis has nothing to compete with' 'hypotheses:\n  a: {}\n'
mistake 'the prior probabilities leave nothing' 'hypotheses:\n  a: {prior: 1}\n  b: {}\n'
mistake 'the prior probabilities must add up to 1' 'hypotheses:\n  a: {prior: 0.5}\n  b: {prior: 0.6}\n'
mistake "key 'coupler.payload' is given twice, first in line" 'hypotheses:\n  a: {}\n  b: {coupler.payload: 1 kg, coupler.payload: 2 kg}\n'
mistake "do not go with 'adapt'" 'hypotheses:\n  a: {}\n  b: {}\nadapt: {sensors: [0.1, 10]}\n'
mistake 'the study estimates this parameter' \
  'hypotheses:\n  a: {}\n  b: {coupler.payload: 3 kg}\naugmented:\n  load: {parameter: coupler.payload, sigma: 3 kg, noise: 0 kg/s^0.5}\n'
