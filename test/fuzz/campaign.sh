#!/bin/sh
# campaign.sh PROGRAM NAME FOLDER: let libFuzzer try inputs for a harness, from those of corpus/NAME on. BRAMAH_FUZZ_RUNS is how
# many: with it, what tries something new is kept in FOLDER/corpus/NAME for the next campaign. Without it a few seconds, and
# nothing is kept. A finding is written to FOLDER/findings and ends the campaign.
set -eu
program=$1 name=$2 folder=$3
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# What a reader does depends on little; longer inputs only take longer.
case $name in
units) longest=300 ;;
log) longest=600 ;;
can | mat | snapshot) longest=2500 ;;
mdf) longest=4500 ;;
restore) longest=61 ;;
hdf5) longest=400 ;;
*) longest=1500 ;;
esac
if [ -n "${BRAMAH_FUZZ_RUNS:-}" ]; then
  work=$folder/corpus/$name
  set -- -runs="$BRAMAH_FUZZ_RUNS"
else
  work=$scratch/corpus
  set -- -runs=5000 -max_total_time=4
fi
mkdir -p "$work" "$folder/findings"
# Names of files in memory, which a finding leaves behind.
TMPDIR=$scratch
export TMPDIR
sh "$here/dictionary.sh" "$name" >"$scratch/dictionary"
code=0
"$program" "$@" -dict="$scratch/dictionary" -max_len="$longest" -timeout=10 -rss_limit_mb=2000 -print_final_stats=1 \
  -artifact_prefix="$folder/findings/$name-" "$work" "$here/corpus/$name" >"$scratch/log" 2>&1 || code=$?
# Of the lines that tell what is new, the last one will do.
grep -vE '^#[0-9]+.*(NEW|REDUCE|pulse|RELOAD)|^"' "$scratch/log" || true
exit "$code"
