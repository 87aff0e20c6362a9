#!/bin/sh
# The example that designs a regulator: with its feedback the linear equations of the metered crane come back to rest, in steps of
# 1 ms with the commands held; left alone they do not.
set -eu
regulator=$1
crane=${BRAMAH_SOURCE_ROOT:?}/datasets/metered-crane/metered-crane.yaml
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$regulator" "$crane" >"$folder/K.csv"
"${BRAMAH_PROGRAM:?}" linearize "$crane" --at rest --discrete '1 ms' --output "$folder/F.csv" >"$folder/out"
awk -F, '
  FNR == NR { K[$1, $2] = $3; next }
  FNR == 1 { for (i = 5; i <= NF; i++) { split($i, part, "["); name[i] = part[1] } columns = NF; next }
  /^y:/ { exit }
  { n++; for (i = 5; i <= columns; i++) F[n, i] = $i }
  END {
    for (fed = 0; fed < 2; fed++) {
      for (i = 1; i <= n; i++) x[i] = i == 1 ? 0.01 : 0
      for (k = 0; k < 10000; k++) {
        for (j = n + 5; j <= columns; j++) {
          u[j] = 0
          for (i = 1; i <= n && fed; i++) u[j] += K[name[j], name[i + 4]] * x[i]
        }
        for (i = 1; i <= n; i++) {
          next_x[i] = 0
          for (j = 1; j <= n; j++) next_x[i] += F[i, j + 4] * x[j]
          for (j = n + 5; j <= columns; j++) next_x[i] += F[i, j] * u[j]
        }
        for (i = 1; i <= n; i++) x[i] = next_x[i]
      }
      left[fed] = sqrt(x[1] * x[1] + x[2] * x[2])
    }
    printf "after 10 s: %g rad off without feedback, %g with it\n", left[0], left[1]
    exit !(n > 4 && left[0] > 1e-3 && left[1] < 1e-4)
  }' "$folder/K.csv" "$folder/F.csv"
! "$regulator" "$folder/K.csv" 2>"$folder/err"
grep -q . "$folder/err"
