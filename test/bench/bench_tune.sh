#!/bin/sh
# How many evaluations `bramah tune` and `bramah sweep` make in a second on the four-bar log of 10 s at 1 kHz, and what a second
# thread gives. Runs with one and two threads take turns, since a processor does not keep its speed. Then six values, one of
# them of the machine, on ten logs: by tape and by native code, seconds of the clock and of the processors.
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

now() { date +%s.%N; }

# what log...: seconds of the clock with one and two threads, their ratio, and the medians.
compare_threads() {
  what=$1
  shift
  for turn in 1 2 3 4 5; do
    begin=$(now)
    "$BRAMAH_PROGRAM" tune tuning.yaml "$@" --threads 1 >out
    middle=$(now)
    "$BRAMAH_PROGRAM" tune tuning.yaml "$@" --threads 2 >out2
    echo "$turn $begin $middle $(now)"
  done | awk -v what="$what" '{ one = $3 - $2; two = $4 - $3; printf "%s: 1 thread %.2f s, 2 threads %.2f s, ratio %.2f\n", what, one, two, one / two
      ratio[NR] = one / two; sum1 += one; sum2 += two }
    END { for (i = 1; i <= NR; i++) for (j = i + 1; j <= NR; j++) if (ratio[j] < ratio[i]) { t = ratio[i]; ratio[i] = ratio[j]; ratio[j] = t }
      printf "%s: ratio of the sums %.2f, median %.2f\n", what, sum1 / sum2, ratio[int((NR + 1) / 2)] }'
  echo "$what, 1 thread: $(per_second out); $(grep '^search' out)"
}

# way: the case of six values with native code off, or waited for once and there from then on.
six_values() {
  # shellcheck disable=SC2086
  (
    BRAMAH_NATIVE=$1
    export BRAMAH_NATIVE
    "$BRAMAH_PROGRAM" tune six.yaml $logs --threads 2 >out
    times >used
  )
  awk -v way="$1" 'NR == FNR { if (/^work:/) { replays = $2; clock = $5 } if (/^search:/) search = $0; next }
    FNR == 2 { for (i = 1; i <= 2; i++) { split($i, t, "[ms]"); cpu += 60 * t[1] + t[2] }
      printf "six values, 10 logs, native code %s: %.1f s, %.1f s of processors, %d replays; %s\n", way, clock, cpu, replays, search }' out used
}

for n in 1 2; do
  "$BRAMAH_PROGRAM" sweep tuning.yaml log.csv --vary 'volumes.v1.noise=0.1 .. 1: 24' --output x.csv --threads $n >out
  echo "sweep, threads $n: $(per_second out)"
done
logs=
for i in 1 2 3 4 5 6 7 8 9 10; do
  "$BRAMAH_PROGRAM" simulate four-bar.yaml --duration 10 --step 0.001 --output truth.csv --noise tuning.yaml --process-noise \
    --seed "$i" --log "log$i.csv" >out
  logs="$logs log$i.csv"
done
# One log: two threads share the neighbours of a slope, the rest is one replay after the other.
compare_threads 'tune, 5 values, 1 log' log1.csv
# shellcheck disable=SC2086
compare_threads 'tune, 5 values, 10 logs' $logs
sed 's|^    volumes.v1.noise:.*|&\n    machine.hydraulics.oil.bulk_modulus: {least: 1000 MPa, most: 2000 MPa}|' tuning.yaml >six.yaml
for way in off wait off wait off wait; do six_values "$way"; done
