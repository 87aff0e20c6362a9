#!/bin/sh
# A drive on a J1939 bus, as datasets/cart/README.md has it: engine speed and fuel rate from candump, decoded by a DBC.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"
cart=$source_root/datasets/cart

# The drive begins before its truth with 1 rad/s in the engine's speed; what the bus says takes most of it away.
run 0 replay "$cart/can.yaml" "$cart/drive.candump" --to "0.3 s" --output estimate.csv
grep -q 'measurements used: 20' out || fail "not all measurements were used: $(cat out)"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "engine.rate[rad/s]") k = i }
  $1 == 0.04 { first = $k } END { exit !(first > 86.9 && first < 87.1) }' estimate.csv ||
  fail "the engine does not turn as fast as EEC1 says: $(grep '^0.04,' estimate.csv)"

# What the study says of its signals holds for a simulated log, too: litres become kilograms.
run 0 simulate "$cart/cart.yaml" --noise "$cart/can.yaml" --duration 0.02 --output truth.csv --log simulated.csv
grep -q 'EngineFuelRate\[m^3/s\]$' simulated.csv || fail "$(head -n 1 simulated.csv)"
run 0 check "$cart/can.yaml" simulated.csv

# A recording that stops within a line is told, one without its DBC, too.
head -c 1000 "$cart/drive.candump" >cut.candump
run 1 replay "$cart/can.yaml" cut.candump --output cut.csv
grep -q 'bad_rows: skip' err || fail "$(cat err)"
sed '/^log:/d' "$cart/can.yaml" | sed "s,cart.yaml,$cart/cart.yaml," >study.yaml
run 1 replay study.yaml "$cart/drive.candump" --output none.csv
grep -q 'log: {dbc: FILE.dbc}' err || fail "$(cat err)"
