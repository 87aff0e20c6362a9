#!/bin/sh
# Two cylinders on a load-sensing pump that cannot always follow. The filter with the right model is contradicted by nothing; one that
# believes in a supply of constant pressure, at its best guess of pressure and valves, is, with the default budget of both.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"

cp "$source_root/test/support/load-sensing-arm.yaml" "$source_root/test/support/load-sensing-study.yaml" .

# The rail becomes a supply of the mean pressure there is in it (165 bar); sections without compensators that pass the same flow
# at the mean pressure difference between rail and loads (20 of 60 bar fall over the edges: 0.52 instead of 0.9).
sed -e '/ rail: {pressure/d; /load_sensing_pumps:/d; / main: /d; /leakages:/d; / wear: /d; s/, compensator: after//' \
  -e 's/supplies: {/supplies: {rail: {pressure: 165 bar}, /; s/0\.9 L/0.52 L/' load-sensing-arm.yaml >constant.yaml
sed '/ rail: /d; s/load-sensing-arm/constant/' load-sensing-study.yaml >constant-study.yaml
run 0 check constant.yaml
run 0 check load-sensing-arm.yaml
says out 'load-sensing pump main: from tank into rail'

for seed in 1 2; do
  run 0 simulate load-sensing-arm.yaml --duration 5 --output truth.csv --noise load-sensing-study.yaml --seed $seed --log log.csv
  run 0 replay load-sensing-study.yaml log.csv --output estimate.csv --truth truth.csv
  says out 'verdict: no contradiction found in'
  last=$(lines estimate.csv)
  near "$(cell estimate.csv "$last" 'dipper.angle[rad]')" "$(cell truth.csv "$last" 'dipper.angle[rad]')" 0.003 'angle'
  near "$(cell estimate.csv "$last" 'rail.pressure[Pa]')" "$(cell truth.csv "$last" 'rail.pressure[Pa]')" 3e5 'pressure of the pump'
  run 3 replay constant-study.yaml log.csv --output estimate.csv
  says out 'verdict: contradicted'
done

# The pump's state has a default, or what a study says.
sed 's/^volumes:/volumes:\n  main: {sigma: 4 L\/min, noise: 4 L\/min\/s^0.5}/' load-sensing-study.yaml >said.yaml
run 0 replay said.yaml log.csv --output estimate.csv
sed 's/^volumes:/volumes:\n  main: {sigma: 4 bar, noise: 4 bar\/s^0.5}/' load-sensing-study.yaml >said.yaml
run 1 check said.yaml
says err "'main' has a flow for a state"
