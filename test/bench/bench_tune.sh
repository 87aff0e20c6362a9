#!/bin/sh
# How many evaluations `bramah tune` and `bramah sweep` make in a second on the four-bar log of 10 s at 1 kHz.
set -eu
data=${BRAMAH_SOURCE_ROOT:?}/datasets/four-bar
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp "$data"/*.yaml "$data/log.csv" "$scratch"
cd "$scratch"

# per_second: replays and seconds from the line "work: N replays in S s".
per_second() {
  awk '/^work:/ { printf "%.1f replays of 10 s per second, %.0f x real time\n", $2 / $5, 10 * $2 / $5 }' "$1"
}

for n in 1 2; do
  "$BRAMAH_PROGRAM" sweep tuning.yaml log.csv --vary 'volumes.v1.noise=0.1 .. 1: 24' --output x.csv --threads $n >out
  echo "sweep, threads $n: $(per_second out)"
done
# With one log a slope is one task: its neighbours run along on one thread.
"$BRAMAH_PROGRAM" tune tuning.yaml log.csv --threads 1 >out
echo "tune, 5 figures, 1 thread: $(per_second out); $(grep '^search' out)"
