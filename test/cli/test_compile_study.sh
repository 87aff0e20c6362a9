#!/bin/sh
# The filter of a study as C source: a compiler with all its warnings takes the two files, and what they make of a log is what replay
# makes of it, digit by digit. What they do not do is refused by name.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"

example=$source_root/datasets/embedding/compiled
run 0 compile "$example/study.yaml" --name four_bar --output generated
quiet err
says out 'four_bar_predict: 0.001 s; '

# estimate FOLDER [FLAG]: the log through the filter there
estimate() {
  # CC may hold a compiler with a cache before it
  # shellcheck disable=SC2086
  ${BRAMAH_CC:-cc} -std=c11 -O1 -ffp-contract=off -Wall -Wextra -Wpedantic -Wconversion -Wshadow ${2-} -Werror -I "$1" -o main \
    -x c - "$1/four_bar.c" -lm <"$example/main.c" 2>err || fail 'compiler'
  ./main <"$source_root/datasets/four-bar/log.csv" || fail 'the log through the compiled filter'
}
estimate generated >estimates.csv

columns=$(head -n 1 estimates.csv | sed 's/\[[^],]*\]//g; s/^t,//')
run 0 replay "$example/study.yaml" "$source_root/datasets/four-bar/log.csv" --columns "$columns" --output replay.csv
cmp estimates.csv replay.csv || fail 'other estimates than those of replay'

# The same study with its uncertainty budget, as it is by default: what may become known as the log goes on; with phases; and of a
# machine whose valves open and shut in the reach of what is believed of pressures (not that of the log, which replay says).
cat >valves <<'END'
  check_valves: {bypass: {from: v1, to: v2, flow_coefficient: 1e-7 m^3/s/Pa^0.5, cracking_pressure: 0.2 bar}}
  relief_valves: {rod_side: {from: v3, to: tank, flow_coefficient: 2e-9 m^3/s/Pa^0.5, set_pressure: 34 bar, override: 5 bar}}
END
sed '/^hydraulics:/r valves' "$source_root/datasets/four-bar/four-bar.yaml" >kinks.yaml
sed "s|\.\./\.\./four-bar/four-bar.yaml|kinks.yaml|; /^uncertainty/d" "$example/study.yaml" >budget.yaml
cat >>budget.yaml <<'END'
augmented:
  load: {parameter: crank.load, sigma: 50 N*m, noise: 1 N*m/s^0.5}
phases:
  moves:
    begin: {valve.command: {above: 0.5 V}}
    end: {crank.rate: {above: -0.01 rad/s, below: 0.01 rad/s}}
    off_delay: 15 ms
    augmented: {load: {noise: 20 N*m/s^0.5}}
    joints: {crank: {acceleration_noise: 0.01 rad/s^2/Hz^0.5}}
    volumes: {v2: {noise: 2 bar/s^0.5}}
  pushes:
    begin: {lift.force: {above: 10 kN}, p1: {measured_within: 3 ms}}
    augmented: {load: {noise: 2 N*m/s^0.5, time_constant: 0.5 s}}
END
run 0 compile budget.yaml --name four_bar --output budget
estimate budget >estimates-budget.csv
run 3 replay budget.yaml "$source_root/datasets/four-bar/log.csv" --columns "$columns" --output replay.csv
cmp estimates-budget.csv replay.csv || fail 'with a budget other estimates than those of replay'

# Single precision: at most a tenth of a standard deviation, at no row more than a third.
run 0 compile "$example/study.yaml" --name four_bar --precision single --output single
estimate single -Wdouble-promotion >single.csv
same "$(head -n 1 single.csv)" "$(head -n 1 estimates.csv)" 'columns in single precision'
paste -d , estimates.csv single.csv | awk -F, '
  NR == 1 { n = NF / 2; for (i = 2; i < n; i++) if ($(i + 1) ~ /[.]sigma/) value[i] = $i }
  NR > 1 { for (i in value) { apart = ($i - $(n + i)) / $(i + 1); sum[i] += apart * apart
                              if (apart < 0) apart = -apart
                              if (apart > most[i]) most[i] = apart } }
  END { if (NR != 10002) { print NR " rows"; exit 1 }
        for (i in value) if (!(sum[i] <= 0.01 * NR) || !(most[i] <= 0.333)) { print value[i], sqrt(sum[i] / NR), most[i]; bad = 1 }
        exit bad }' >err || fail 'single precision'

# With the budget a step there does not converge as a whole: it is made in parts, and the log is gone through.
run 0 compile budget.yaml --name four_bar --precision single --output single
estimate single -Wdouble-promotion >single.csv
same "$(wc -l <single.csv)" 10002 'rows with a budget in single precision'

# refused CHANGE THING MESSAGE: with this change of the study, for sed
refused() {
  sed "s|\.\./\.\./four-bar|$source_root/datasets/four-bar|; $1" "$example/study.yaml" >study.yaml
  run 1 compile study.yaml --output no
  says err "$2: $3"
}
refused 's|^uncertainty.*|&\nfilter: {transition: paper}|' transition 'only the transition of the step is compiled'
refused 's|^uncertainty.*|&\nfilter: {fusion: block}|' fusion 'only sequential fusion is compiled'
refused 's|^uncertainty.*|&\nfilter: {iterations: 2}|' iterations 'an iterated update is not compiled'
refused 's|^uncertainty.*|&\nadapt: {sensors: [0.5, 2]}|' adapt 'a filter whose noise adapts is not compiled'
refused 's/volume: v1,/& delay: 5.1 ms,/' p1 'a delay is compiled that is a whole number of steps, at most 1000'
run 1 compile "$source_root/datasets/four-bar/hypotheses.yaml" --output no
says err 'hypotheses: one filter is compiled, not several that are weighed'
