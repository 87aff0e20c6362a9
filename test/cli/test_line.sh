#!/bin/sh
# Two volumes and a line with the inertia of its oil: simulated, and its flow estimated from one pressure.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"

cp "$source_root/test/support/line.yaml" "$source_root/test/support/line-study.yaml" .
run 0 simulate line.yaml --duration 1 --output truth.csv --noise line-study.yaml --seed 1 --log log.csv
run 0 replay line-study.yaml log.csv --output estimate.csv --truth truth.csv
says out 'verdict: no contradiction found in'
last=$(lines estimate.csv)
near "$(cell estimate.csv "$last" 'hose.flow[m^3/s]')" "$(cell truth.csv "$last" 'hose.flow[m^3/s]')" 2e-6 'flow'

# units of its state
sed 's/hose: {sigma: 5 L\/min, noise: 1e-6 m^3\/s^1.5}/hose: {sigma: 1 bar, noise: 1 bar\/s^0.5}/' line-study.yaml >wrong.yaml
run 1 check wrong.yaml
says err "'hose' has a flow for a state"
sed 's/two: {.*}/two: {sigma: 1 L\/min, noise: 1e-6 m^3\/s^1.5}/' line-study.yaml >wrong.yaml
run 1 check wrong.yaml
says err "'two' has a pressure for a state"
