#!/bin/sh
# The supervisory controller next to its plant simulator, two processes each, with faults: without a clock, where the outcome is
# the same every time, and by the clock. The program judges itself: estimates track at least twice as well as raw
# sensors, no cycle of the estimator is too long by its own work. What a busy computer misses by the clock fails nothing. BRAMAH_CONTROLLER_SECONDS: by the clock, default 20.
set -eu
supervise=$1
study=${BRAMAH_SOURCE_ROOT:?}/datasets/four-bar/sensors-2.yaml
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  echo "$1" >&2
  cat "$scratch/out" >&2
  exit 1
}

"$supervise" "$study" --duration 20 --lockstep >"$scratch/out" 2>&1 || fail "without a clock: exit code $?"
cat "$scratch/out"
# A controller that takes over goes on from a snapshot at most two intervals old, and has fused late samples.
grep -Eq 'Late samples fused: (19[5-9][0-9]|2000); refused: 0' "$scratch/out" || fail "late samples were not fused"
steps=$(sed -n 's/.* \([0-9]*\) steps behind.*/\1/p' "$scratch/out")
[ "$steps" -le 150 ] || fail "the snapshot was $steps steps old"

# A computer that does not keep the clock is no mistake: the program says so (3).
code=0
"$supervise" "$study" --duration "${BRAMAH_CONTROLLER_SECONDS:-20}" >"$scratch/out" 2>&1 || code=$?
[ "$code" -eq 0 ] || [ "$code" -eq 3 ] || fail "by the clock: exit code $code"
cat "$scratch/out"

code=0
"$supervise" "$study" --duration 1 >"$scratch/out" 2>&1 || code=$?
[ "$code" -eq 2 ] || fail "wrong use: exit code $code"
code=0
"$supervise" no-such.yaml --lockstep >"$scratch/out" 2>&1 || code=$?
[ "$code" -eq 2 ] || fail "no study: exit code $code"
